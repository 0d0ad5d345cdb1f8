"""Mechanisms that choose: randomized responses and the exponential mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgumentError
from ._values import WHOLE, as_array, as_words, cut_word, is_array, is_whole, listed, shaped
from .reply import Reply

if TYPE_CHECKING:
    from .._native import Mechanism

__all__ = [
    "ExponentialSampler",
    "LeakyResponseSampler",
    "RandomizedResponseSampler",
    "exponential",
    "leaky_response",
    "randomized_response",
]


class RandomizedResponseSampler:
    """Randomized response: the true one of m answers with probability e^eps/(e^eps + m - 1), else any of the others.

    Parameters
    ----------
    epsilon
        The epsilon of one response.
    buckets
        The number of possible answers.
    """

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, buckets: int = 2) -> None:
        self._native = _native.Response(epsilon, buckets)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, values: Any) -> Reply:
        """Responds to true answers, each a release of its own.

        Parameters
        ----------
        values
            True answers, counted from 0, or bools: one, a list or an array. Values that are no answer count as the last
            one.

        Returns
        -------
        Reply
            The responses.
        """
        from array import array

        if is_array(values):
            given = as_array("values", values, "iub", WHOLE)
            drawn = shaped(self._native.release_packed(as_words(given)), "int64", given.shape)
            return Reply(drawn[()] if given.shape == () else drawn, self._native.charged(given.size), _unknown)
        several = isinstance(values, (list, tuple))
        items = listed("values", values if several else [values], WHOLE, lambda item: isinstance(item, int))
        told = array("q", [cut_word(item) for item in items])
        found = array("q")
        found.frombytes(self._native.release_packed(told.tobytes()))
        value = found.tolist() if several else found[0]
        return Reply(value, self._native.charged(len(items)), _unknown)

    def __repr__(self) -> str:
        return f"RandomizedResponseSampler({self.mechanism!r})"


class LeakyResponseSampler:
    """One bit, leaked with probability delta and else randomized (Murtagh and Vadhan, Definition 3.1).

    This is the worst of all (epsilon, delta) mechanisms.

    Parameters
    ----------
    epsilon
        The epsilon of the randomized bit.
    delta
        The probability of a leak.
    """

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, delta: float) -> None:
        self._native = _native.LeakyResponse(epsilon, delta)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, values: Any) -> Reply:
        """Responds to true bits, each a release of its own.

        Parameters
        ----------
        values
            A bool, or a list or an array of them.

        Returns
        -------
        Reply
            For each bit a pair: true if it leaked, and a bit.
        """
        legal = "a bool, or a list or an array of them"
        if is_array(values):
            given = as_array("values", values, "b", legal)
            import numpy as np

            drawn = np.array(self._native.release(given.ravel().tolist()), dtype=bool).reshape((*given.shape, 2))
            return Reply(drawn, self._native.charged(given.size), _unknown)
        several = isinstance(values, (list, tuple))
        bits = listed("values", values if several else [values], legal, lambda item: isinstance(item, bool))
        pairs = self._native.release(bits)
        return Reply(list(pairs) if several else pairs[0], self._native.charged(len(bits)), _unknown)

    def __repr__(self) -> str:
        return f"LeakyResponseSampler({self.mechanism!r})"


class ExponentialSampler:
    """The exponential mechanism: chooses i with probability proportional to e^(epsilon score_i / (2 sensitivity)).

    Parameters
    ----------
    epsilon
        The epsilon of one choice.
    sensitivity
        The most that one person moves a score, which is a whole number. The caller vouches for it.
    """

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, sensitivity: int = 1) -> None:
        self._native = _native.Exponential(epsilon, sensitivity)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, scores: Any) -> Reply:
        """Chooses one of the scores.

        Parameters
        ----------
        scores
            A list of scores, or an array with a row of scores for each choice along its last axis.

        Returns
        -------
        Reply
            The index of the chosen score, or an array of them.

        Raises
        ------
        counterpoint.InvalidArgumentError
            There is no score.
        """
        from array import array

        if is_array(scores):
            given = as_array("scores", scores, "iu", WHOLE)
            if given.ndim == 0 or given.shape[-1] == 0:
                raise InvalidArgumentError(f"scores has shape {given.shape}; legal: rows of at least one score")
            rows = given.shape[:-1]
            drawn = shaped(self._native.release_packed(as_words(given), given.shape[-1]), "int64", rows)
            return Reply(int(drawn) if rows == () else drawn, self._native.charged(drawn.size), _unknown)
        items = listed("scores", scores, WHOLE, is_whole)
        told = array("q", [cut_word(item) for item in items])
        found = array("q")
        found.frombytes(self._native.release_packed(told.tobytes(), len(items)))
        return Reply(found[0], self._native.charged(1), _unknown)

    def __repr__(self) -> str:
        return f"ExponentialSampler({self.mechanism!r})"


def _unknown(confidence: float) -> None:
    """Returns no half-width: a choice is not off by a distance."""
    return None


def randomized_response(epsilon: float, buckets: int = 2) -> RandomizedResponseSampler:
    """Randomized response among several answers.

    Parameters
    ----------
    epsilon
        The epsilon of one response.
    buckets
        The number of possible answers.

    Returns
    -------
    RandomizedResponseSampler
        The mechanism, which ``release`` runs.
    """
    return RandomizedResponseSampler(epsilon, buckets)


def leaky_response(epsilon: float, delta: float) -> LeakyResponseSampler:
    """One bit, leaked with probability delta and else randomized.

    Parameters
    ----------
    epsilon
        The epsilon of the randomized bit.
    delta
        The probability of a leak.

    Returns
    -------
    LeakyResponseSampler
        The mechanism, which ``release`` runs.
    """
    return LeakyResponseSampler(epsilon, delta)


def exponential(epsilon: float, sensitivity: int = 1) -> ExponentialSampler:
    """The exponential mechanism.

    Parameters
    ----------
    epsilon
        The epsilon of one choice.
    sensitivity
        The most that one person moves a score, which is a whole number.

    Returns
    -------
    ExponentialSampler
        The mechanism, which ``release`` runs.
    """
    return ExponentialSampler(epsilon, sensitivity)

"""Mechanisms that choose: randomized responses and the exponential mechanism."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgument
from ._values import WHOLE, as_array, as_words, cut_word, is_array, is_whole, listed, shaped
from .reply import Reply

if TYPE_CHECKING:
    from .._native import Mechanism

__all__ = ["Exponential", "LeakyResponse", "RandomizedResponse", "exponential", "leaky_response", "randomized_response"]


class RandomizedResponse:
    """The true one of m answers with probability e^eps/(e^eps + m - 1), else any of the others alike."""

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, buckets: int = 2) -> None:
        self._native = _native.Response(epsilon, buckets)

    @property
    def mechanism(self) -> Mechanism:
        """What one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, values: Any) -> Reply:
        """Responses to true answers, which count from 0; truths may be bools. What is not among them is taken as the last."""
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
        return f"RandomizedResponse({self.mechanism!r})"


class LeakyResponse:
    """One bit, leaked with probability delta and else randomized (Murtagh and Vadhan, Definition 3.1): the worst of all
    (epsilon, delta) mechanisms."""

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, delta: float) -> None:
        self._native = _native.LeakyResponse(epsilon, delta)

    @property
    def mechanism(self) -> Mechanism:
        """What one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, values: Any) -> Reply:
        """For each true bit whether it leaked, and a bit: a pair, or a list or an array of pairs."""
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
        return f"LeakyResponse({self.mechanism!r})"


class Exponential:
    """The exponential mechanism: chooses i with probability proportional to e^(epsilon score_i / (2 sensitivity)).

    Scores are whole numbers that one person moves by at most the sensitivity, for which the caller vouches.
    """

    __slots__ = ("_native",)

    def __init__(self, epsilon: float, sensitivity: int = 1) -> None:
        self._native = _native.Exponential(epsilon, sensitivity)

    @property
    def mechanism(self) -> Mechanism:
        """What one release is charged as."""
        return self._native.charged(1)[0]

    def release(self, scores: Any) -> Reply:
        """Where the chosen one of the scores is in the list; of an array, one for each row along its last axis."""
        from array import array

        if is_array(scores):
            given = as_array("scores", scores, "iu", WHOLE)
            if given.ndim == 0 or given.shape[-1] == 0:
                raise InvalidArgument(f"scores has shape {given.shape}; legal: rows of at least one score")
            rows = given.shape[:-1]
            drawn = shaped(self._native.release_packed(as_words(given), given.shape[-1]), "int64", rows)
            return Reply(int(drawn) if rows == () else drawn, self._native.charged(drawn.size), _unknown)
        items = listed("scores", scores, WHOLE, is_whole)
        told = array("q", [cut_word(item) for item in items])
        found = array("q")
        found.frombytes(self._native.release_packed(told.tobytes(), len(items)))
        return Reply(found[0], self._native.charged(1), _unknown)

    def __repr__(self) -> str:
        return f"Exponential({self.mechanism!r})"


def _unknown(confidence: float) -> None:
    """A choice is not off by a distance."""
    return None


def randomized_response(epsilon: float, buckets: int = 2) -> RandomizedResponse:
    """Randomized response among so many answers."""
    return RandomizedResponse(epsilon, buckets)


def leaky_response(epsilon: float, delta: float) -> LeakyResponse:
    """One bit, leaked with probability delta and else randomized."""
    return LeakyResponse(epsilon, delta)


def exponential(epsilon: float, sensitivity: int = 1) -> Exponential:
    """The exponential mechanism, for scores that one person moves by at most the sensitivity."""
    return Exponential(epsilon, sensitivity)

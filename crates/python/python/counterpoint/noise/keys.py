"""Counts by keys that are known only from the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _native
from ._values import named
from .reply import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

    from .._native import Mechanism
    from ..names import Adjacency

__all__ = ["KeyMeasurement", "KeyedData", "key_counts"]


class KeyedData:
    """The keys of people, row by row, with the neighbouring relation that protects them.

    Each person counts with at most ``records`` different keys, once with each. For a person with more keys, a choice by
    the ``secret`` that depends on that person's own keys alone decides. Keys are equal if all of their characters are.

    Parameters
    ----------
    people
        The person of each row.
    keys
        The key of each row.
    secret
        The secret of :func:`secret`.
    adjacency
        The neighbouring relation: "add-remove" or "replace".
    records
        The largest number of keys that are used of a person.
    """

    __slots__ = ("_native",)

    def __init__(
        self, people: Iterable[str] | Iterable[int], keys: Iterable[str] | Iterable[int], *, secret: bytes,
        adjacency: Adjacency, records: int = 1,
    ) -> None:
        who, which = named("people", people), named("keys", keys)
        self._native = _native.KeyedData(who, which, adjacency, records, secret)

    def __repr__(self) -> str:
        return "KeyedData(...)"


class KeyMeasurement:
    """Counts by key with noise, of which only those at a ``threshold`` or above are released. Made by :func:`key_counts`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.KeyMeasurement) -> None:
        self._native = native

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """The releases that one run is charged as."""
        return self._native.releases()

    @property
    def threshold(self) -> int:
        """The least noisy count that is released."""
        return self._native.threshold

    def half_width(self, confidence: float = 0.95) -> float:
        """The half-width of each key's noise, released or not.

        Parameters
        ----------
        confidence
            The probability with which the noise is no larger.

        Returns
        -------
        float
            The half-width.
        """
        return self._native.half_width(confidence)

    def released_from(self, confidence: float = 0.95) -> int:
        """The number of people from which a key is released with at least a probability.

        Parameters
        ----------
        confidence
            The probability.

        Returns
        -------
        int
            The number of people.
        """
        return self._native.released_from(confidence)

    def run(self, data: KeyedData) -> Reply:
        """Runs the measurement once. **Each run is a release of its own.** The running time reveals the number of keys.

        Parameters
        ----------
        data
            The keys of people.

        Returns
        -------
        Reply
            The released keys, each with the noisy number of people who have it.
        """
        counts = dict(self._native.run(data._native))
        return Reply(counts, self.releases, lambda confidence: self.half_width(confidence), lambda confidence: [
            (count - self.half_width(confidence), count + self.half_width(confidence)) for count in counts.values()
        ])


def key_counts(
    noise: Literal["laplace", "gaussian"], amount: float, delta: float, *, adjacency: Adjacency, records: int = 1
) -> KeyMeasurement:
    """Counts by key, with noise and a threshold.

    Parameters
    ----------
    noise
        "laplace" or "gaussian".
    amount
        For Laplace noise the epsilon that all of it costs at most; for Gaussian noise the multiple of what one person
        moves.
    delta
        The largest probability that somebody's keys are revealed by being released at all.
    adjacency
        The neighbouring relation: "add-remove" or "replace".
    records
        The largest number of keys that are used of a person.

    Returns
    -------
    KeyMeasurement
        The measurement, which ``run`` runs.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.

    Examples
    --------
    >>> from counterpoint import noise
    >>> words = noise.KeyedData(["ann", "bob"] * 50, ["rain", "sun"] * 50, secret=noise.secret(), adjacency="add-remove")
    >>> noise.key_counts("laplace", 1.0, 1e-8, adjacency="add-remove").run(words).value   # two people are too few
    {}
    """
    return KeyMeasurement(_native.KeyMeasurement(noise, amount, delta, adjacency, records))

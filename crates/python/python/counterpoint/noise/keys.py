"""Counts by keys that are known from the data alone."""

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

__all__ = ["KeyMeasurement", "Keyed", "key_counts"]


class Keyed:
    """Who has which key, row by row, with the relation they are protected under.

    Each person is counted with at most ``records`` different keys, once with each: of whoever has more, those are used that
    a choice by the ``secret`` (see :func:`counterpoint.noise.secret`) puts first, which depends on that person's own keys
    alone. Keys are the same if all of their characters are.
    """

    __slots__ = ("_native",)

    def __init__(
        self, people: Iterable[str] | Iterable[int], keys: Iterable[str] | Iterable[int], *, secret: bytes,
        adjacency: Adjacency, records: int = 1,
    ) -> None:
        who, which = named("people", people), named("keys", keys)
        self._native = _native.Keyed(who, which, adjacency, records, secret)

    def __repr__(self) -> str:
        return "Keyed(...)"


class KeyMeasurement:
    """Counts by key with noise, of which only those at a ``threshold`` or above are released."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.KeyMeasurement) -> None:
        self._native = native

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What one run is charged as."""
        return self._native.releases()

    @property
    def threshold(self) -> int:
        """The least count, with noise, that is released."""
        return self._native.threshold

    def half_width(self, confidence: float = 0.95) -> float:
        """Each key's noise is at most this with at least this probability, whether the key is released or not."""
        return self._native.half_width(confidence)

    def released_from(self, confidence: float = 0.95) -> int:
        """A key that so many people have, or more, is released with at least this probability."""
        return self._native.released_from(confidence)

    def run(self, data: Keyed) -> Reply:
        """The keys that are released, with about how many people have them. **Each run is a release of its own.**

        How long it takes tells how many keys there are.
        """
        counts = dict(self._native.run(data._native))
        return Reply(counts, self.releases, lambda confidence: self.half_width(confidence), lambda confidence: [
            (count - self.half_width(confidence), count + self.half_width(confidence)) for count in counts.values()
        ])


def key_counts(
    noise: Literal["laplace", "gaussian"], amount: float, delta: float, *, adjacency: Adjacency, records: int = 1
) -> KeyMeasurement:
    """Counts by key: with Laplace noise that costs at most an epsilon in all, or Gaussian noise of so many times what one
    person moves; somebody's keys are given away with a chance of at most ``delta``.

    >>> from counterpoint import noise
    >>> words = noise.Keyed(["ann", "bob"] * 50, ["rain", "sun"] * 50, secret=noise.secret(), adjacency="add-remove")
    >>> noise.key_counts("laplace", 1.0, 1e-8, adjacency="add-remove").run(words).value   # two people are too few
    {}
    """
    return KeyMeasurement(_native.KeyMeasurement(noise, amount, delta, adjacency, records))

"""What may be asked about data, and with which noise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgument
from .reply import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from .._native import Mechanism
    from ..names import Adjacency, Style
    from .data import Data

    Bounds = tuple[float, float]

__all__ = ["Measurement", "Query", "Recipe", "measure"]


def _ratio(share: Any) -> tuple[int, int]:
    from fractions import Fraction

    if isinstance(share, bool) or not hasattr(share, "as_integer_ratio") and not isinstance(share, str):
        raise TypeError(f"share is of type {type(share).__name__}; legal: a number, a Fraction or its text")
    if isinstance(share, float) and not math.isfinite(share):
        raise InvalidArgument(f"share is {share}; legal: strictly between 0 and 1, with a denominator of at most 1000")
    # A float stands for the decimal it is written as.
    ratio = Fraction(repr(float(share)) if isinstance(share, float) else share)
    if not 0 < ratio < 1 or ratio.denominator > 1000:
        raise InvalidArgument(f"share is {share}; legal: strictly between 0 and 1, with a denominator of at most 1000")
    return ratio.numerator, ratio.denominator


class Query:
    """What is asked about :class:`Data`, without noise. Who is whose neighbour is the data's to say.

    Numbers are clamped to ``bounds``, both ends of which are public; what is no number counts as the lower end.

    >>> from counterpoint import noise
    >>> ages = noise.Data([31, 45, 27, 62, 38], adjacency="replace")
    >>> mean = noise.Query.mean((0, 100)).laplace(1.0)
    >>> reply = mean.run(ages)
    >>> 0 <= reply.value <= 100, reply.releases
    (True, (Laplace(scale=..., sensitivity=...),))
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Query) -> None:
        self._native = native

    @classmethod
    def count(cls) -> Query:
        """How many numbers there are."""
        return cls(_native.Query.count())

    @classmethod
    def count_within(cls, bounds: Bounds) -> Query:
        """How many numbers are within bounds, both ends included."""
        return cls(_native.Query.count(bounds))

    @classmethod
    def sum(cls, bounds: Bounds) -> Query:
        """The sum of the numbers, each clamped."""
        return cls(_native.Query.sum(bounds))

    @classmethod
    def mean(cls, bounds: Bounds) -> Query:
        """The mean of the numbers, each clamped; how many there are is estimated too, where it is private."""
        return cls(_native.Query.mean(bounds))

    @classmethod
    def variance(cls, bounds: Bounds) -> Query:
        """The variance of the numbers, each clamped."""
        return cls(_native.Query.variance(bounds))

    @classmethod
    def deviation(cls, bounds: Bounds) -> Query:
        """The standard deviation of the numbers, each clamped."""
        return cls(_native.Query.deviation(bounds))

    @classmethod
    def correlation(cls, x: Bounds, y: Bounds) -> Query:
        """The correlation of two columns, each number clamped; 0 where a column does not vary."""
        return cls(_native.Query.correlation(x, y))

    @classmethod
    def proportion(cls, bounds: Bounds) -> Query:
        """The share of the numbers that is within bounds, both ends included."""
        return cls(_native.Query.proportion(bounds))

    @classmethod
    def histogram(cls, edges: Sequence[float]) -> Query:
        """How many numbers are in each bin: from one edge up to but not including the next."""
        return cls(_native.Query.histogram(list(edges)))

    @classmethod
    def cumulative(cls, edges: Sequence[float]) -> Query:
        """How many numbers are below each edge."""
        return cls(_native.Query.cumulative(list(edges)))

    @classmethod
    def quantile(cls, share: float | str | Fraction, candidates: Sequence[float]) -> Query:
        """The candidate below which about a share of the numbers lies."""
        return cls(_native.Query.quantiles([_ratio(share)], list(candidates)))

    @classmethod
    def quantiles(cls, shares: Iterable[float | str | Fraction], candidates: Sequence[float]) -> Query:
        """The same for several shares, increasing, each at an equal part of the cost."""
        return cls(_native.Query.quantiles([_ratio(share) for share in shares], list(candidates)))

    @classmethod
    def covariance(cls, x: Bounds, y: Bounds) -> Query:
        """The covariance of two columns, each number clamped."""
        return cls(_native.Query.covariance(x, y))

    @classmethod
    def regression(cls, predictors: Sequence[Bounds], outcome: Bounds) -> Query:
        """Least squares: how the last column is explained by those before it. The intercept, and a coefficient each."""
        return cls(_native.Query.regression(list(predictors), outcome))

    def laplace(self, epsilon: float) -> Recipe:
        """With Laplace noise, costing at most epsilon in all; counts get geometric noise."""
        return Recipe(self._native.recipe("laplace", epsilon))

    def gaussian(self, multiplier: float) -> Recipe:
        """With Gaussian noise of so many sensitivities; counts get discrete Gaussian noise."""
        return Recipe(self._native.recipe("gaussian", multiplier))

    def staircase(self, epsilon: float) -> Recipe:
        """With staircase noise, costing at most epsilon in all."""
        return Recipe(self._native.recipe("staircase", epsilon))

    def exponential(self, epsilon: float) -> Recipe:
        """Quantiles, chosen by the exponential mechanism, costing epsilon in all."""
        return Recipe(self._native.recipe("exponential", epsilon))

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Query) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


class Recipe:
    """A query with its noise, relative to what one person can change: all that whoever asks may choose."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Recipe) -> None:
        self._native = native

    def under(self, adjacency: Adjacency, records: int = 1) -> Measurement:
        """Made ready for data of a relation, so that its cost is known before it is run."""
        return Measurement(self._native.under(adjacency, records))

    def run(self, data: Data) -> Reply:
        """Runs it once on data. **Each run is a release of its own.**"""
        return self.under(data.adjacency, data.records).run(data)

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Recipe) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


class Measurement:
    """A recipe under a relation: with its noise, and knowing what it costs."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Measurement) -> None:
        self._native = native

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """What one run is charged as."""
        return self._native.releases()

    def run(self, data: Data) -> Reply:
        """Runs it once. **Each run is a release of its own.** Refused for data of another relation."""
        drawn = self._native.run(data._native)
        numbers = drawn.numbers
        value = numbers if drawn.is_table else numbers[0]

        def width(confidence: float) -> float | None:
            ends = drawn.intervals(confidence)
            return max((max(x - low, high - x) for x, (low, high) in zip(numbers, ends)), default=None)

        return Reply(value, self._native.releases(data.part), width, drawn.intervals)

    def half_width(self, rows: int, confidence: float = 0.95, *, all: bool = False) -> float:
        """An answer about so many rows is within this of that without noise, whatever the data are; in ranks for
        quantiles. With ``all``, all numbers of an answer at once."""
        return self._native.half_width(rows, confidence, all)

    def expected_error(self, rows: int) -> float:
        """The mean distance from the answer without noise, for so many rows and the worst data."""
        return self._native.expected_error(rows)


def measure(data: Data, query: Query, noise: Style, amount: float) -> Reply:
    """One query about data, with one kind of noise: an epsilon, or for "gaussian" a multiplier of the sensitivity.

    >>> from counterpoint import noise
    >>> visits = noise.Data([3, 1, 2], adjacency="add-remove")
    >>> noise.measure(visits, noise.Query.count(), "laplace", 0.5).releases
    (Geometric(scale=2..., sensitivity=1),)
    """
    return Recipe(query._native.recipe(noise, amount)).run(data)

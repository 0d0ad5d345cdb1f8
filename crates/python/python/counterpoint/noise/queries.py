"""Queries about data, and the noise that they are answered with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgumentError
from .reply import Reply

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from .._native import Mechanism
    from ..names import Adjacency, Style
    from .data import Data

    Bounds = tuple[float, float]

__all__ = ["Measurement", "NoisyQuery", "Query", "measure"]


def _ratio(share: Any) -> tuple[int, int]:
    from fractions import Fraction

    if isinstance(share, bool) or not hasattr(share, "as_integer_ratio") and not isinstance(share, str):
        raise TypeError(f"share is of type {type(share).__name__}; legal: a number, a Fraction or its text")
    if isinstance(share, float) and not math.isfinite(share):
        raise InvalidArgumentError(f"share is {share}; legal: strictly between 0 and 1, with a denominator of at most 1000")
    # A float stands for the decimal it is written as.
    ratio = Fraction(repr(float(share)) if isinstance(share, float) else share)
    if not 0 < ratio < 1 or ratio.denominator > 1000:
        raise InvalidArgumentError(f"share is {share}; legal: strictly between 0 and 1, with a denominator of at most 1000")
    return ratio.numerator, ratio.denominator


class Query:
    """A query about :class:`Data`, without noise. Made by its class methods.

    Values are clamped to ``bounds``, both ends of which are public; values that are not numbers count as the lower end.

    Examples
    --------
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
        """The number of records.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.count())

    @classmethod
    def count_within(cls, bounds: Bounds) -> Query:
        """The number of values within bounds.

        Parameters
        ----------
        bounds
            The two public ends, both included.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.count(bounds))

    @classmethod
    def sum(cls, bounds: Bounds) -> Query:
        """The sum of the values, each clamped.

        Parameters
        ----------
        bounds
            The two public ends, both included, to which numbers are clamped.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.sum(bounds))

    @classmethod
    def mean(cls, bounds: Bounds) -> Query:
        """The mean of the values, each clamped; their number is estimated too if it is private.

        Parameters
        ----------
        bounds
            The two public ends, both included, to which numbers are clamped.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.mean(bounds))

    @classmethod
    def variance(cls, bounds: Bounds) -> Query:
        """The variance of the values, each clamped.

        Parameters
        ----------
        bounds
            The two public ends, both included, to which numbers are clamped.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.variance(bounds))

    @classmethod
    def deviation(cls, bounds: Bounds) -> Query:
        """The standard deviation of the values, each clamped.

        Parameters
        ----------
        bounds
            The two public ends, both included, to which numbers are clamped.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.deviation(bounds))

    @classmethod
    def correlation(cls, x: Bounds, y: Bounds) -> Query:
        """The correlation of two columns, each value clamped; 0 if a column does not vary.

        Parameters
        ----------
        x, y
            The bounds of the first and of the second column.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.correlation(x, y))

    @classmethod
    def proportion(cls, bounds: Bounds) -> Query:
        """The share of the values within bounds.

        Parameters
        ----------
        bounds
            The two public ends, both included.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.proportion(bounds))

    @classmethod
    def histogram(cls, edges: Sequence[float]) -> Query:
        """The number of values in each bin, from one edge up to but not including the next.

        Parameters
        ----------
        edges
            The increasing edges.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.histogram(list(edges)))

    @classmethod
    def cumulative(cls, edges: Sequence[float]) -> Query:
        """The number of values below each edge.

        Parameters
        ----------
        edges
            The increasing edges.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.cumulative(list(edges)))

    @classmethod
    def quantile(cls, share: float | str | Fraction, candidates: Sequence[float]) -> Query:
        """The candidate below which about a share of the values lies.

        Parameters
        ----------
        share
            The share, between 0 and 1, with a denominator of at most 1000. A float is the decimal it prints as.
        candidates
            The increasing numbers to choose from.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.quantiles([_ratio(share)], list(candidates)))

    @classmethod
    def quantiles(cls, shares: Iterable[float | str | Fraction], candidates: Sequence[float]) -> Query:
        """The same for several shares, each at an equal part of the cost.

        Parameters
        ----------
        shares
            The increasing shares.
        candidates
            The increasing numbers to choose from.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.quantiles([_ratio(share) for share in shares], list(candidates)))

    @classmethod
    def covariance(cls, x: Bounds, y: Bounds) -> Query:
        """The covariance of two columns, each value clamped.

        Parameters
        ----------
        x, y
            The bounds of the first and of the second column.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.covariance(x, y))

    @classmethod
    def regression(cls, predictors: Sequence[Bounds], outcome: Bounds) -> Query:
        """Least squares: the last column explained by those before it.

        Parameters
        ----------
        predictors
            The bounds of the columns before the last.
        outcome
            The bounds of the last column.

        Returns
        -------
        Query
            The query.
        """
        return cls(_native.Query.regression(list(predictors), outcome))

    def laplace(self, epsilon: float) -> NoisyQuery:
        """Adds Laplace noise; counts get geometric noise.

        Parameters
        ----------
        epsilon
            The most that the answer costs in all.

        Returns
        -------
        NoisyQuery
            The query with its noise.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The amount is outside its range, or the query does not take this noise.
        """
        return NoisyQuery(self._native.with_noise("laplace", epsilon))

    def gaussian(self, multiplier: float) -> NoisyQuery:
        """Adds Gaussian noise; counts get discrete Gaussian noise.

        Parameters
        ----------
        multiplier
            The standard deviation of the noise, in sensitivities.

        Returns
        -------
        NoisyQuery
            The query with its noise.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The amount is outside its range, or the query does not take this noise.
        """
        return NoisyQuery(self._native.with_noise("gaussian", multiplier))

    def staircase(self, epsilon: float) -> NoisyQuery:
        """Adds staircase noise.

        Parameters
        ----------
        epsilon
            The most that the answer costs in all.

        Returns
        -------
        NoisyQuery
            The query with its noise.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The amount is outside its range, or the query does not take this noise.
        """
        return NoisyQuery(self._native.with_noise("staircase", epsilon))

    def exponential(self, epsilon: float) -> NoisyQuery:
        """Chooses quantiles by the exponential mechanism.

        Parameters
        ----------
        epsilon
            The cost of the answer in all.

        Returns
        -------
        NoisyQuery
            The query with its noise.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The amount is outside its range, or the query does not take this noise.
        """
        return NoisyQuery(self._native.with_noise("exponential", epsilon))

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, Query) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


class NoisyQuery:
    """A query with its noise, relative to the most that one person moves it. Made by the methods of :class:`Query`."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.NoisyQuery) -> None:
        self._native = native

    def under(self, adjacency: Adjacency, records: int = 1) -> Measurement:
        """Prepares the query for a neighbouring relation, so that its cost is known before it runs.

        Parameters
        ----------
        adjacency
            The neighbouring relation: "add-remove" or "replace".
        records
            The largest number of a person's records.

        Returns
        -------
        Measurement
            The query with its noise and its cost.
        """
        return Measurement(self._native.under(adjacency, records))

    def run(self, data: Data) -> Reply:
        """Runs the query once. **Each run is a release of its own.**

        Parameters
        ----------
        data
            The data.

        Returns
        -------
        Reply
            The answer.
        """
        return self.under(data.adjacency, data.records).run(data)

    def __eq__(self, other: object) -> bool:
        return self._native == other._native if isinstance(other, NoisyQuery) else NotImplemented

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return repr(self._native)


class Measurement:
    """A query with its noise and its cost under a neighbouring relation. Made by :meth:`NoisyQuery.under`."""

    __slots__ = ("_native",)

    def __init__(self, native: _native.Measurement) -> None:
        self._native = native

    @property
    def releases(self) -> tuple[Mechanism, ...]:
        """The releases that one run is charged as."""
        return self._native.releases()

    def run(self, data: Data) -> Reply:
        """Runs the measurement once. **Each run is a release of its own.**

        Parameters
        ----------
        data
            The data.

        Returns
        -------
        Reply
            The answer.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The data have another neighbouring relation.
        """
        drawn = self._native.run(data._native)
        numbers = drawn.numbers
        value = numbers if drawn.is_table else numbers[0]

        def width(confidence: float) -> float | None:
            ends = drawn.intervals(confidence)
            return max((max(x - low, high - x) for x, (low, high) in zip(numbers, ends)), default=None)

        return Reply(value, self._native.releases(data.part), width, drawn.intervals)

    def half_width(self, rows: int, confidence: float = 0.95, *, all: bool = False) -> float:
        """The half-width of an answer, whatever the data are; in ranks for quantiles.

        Parameters
        ----------
        rows
            The number of rows of the data.
        confidence
            The probability with which the answer is no further from the value without noise.
        all
            Of all numbers of an answer at once, not of each on its own.

        Returns
        -------
        float
            The half-width.
        """
        return self._native.half_width(rows, confidence, all)

    def expected_error(self, rows: int) -> float:
        """The mean distance from the value without noise, for the worst data.

        Parameters
        ----------
        rows
            The number of rows of the data.

        Returns
        -------
        float
            The distance.
        """
        return self._native.expected_error(rows)


def measure(data: Data, query: Query, noise: Style, amount: float) -> Reply:
    """Answers one query about data, with one kind of noise.

    Parameters
    ----------
    data
        The data.
    query
        The query.
    noise
        The kind of noise: "laplace", "gaussian", "staircase" or "exponential".
    amount
        The epsilon; for "gaussian" the standard deviation in sensitivities.

    Returns
    -------
    Reply
        The answer.

    Raises
    ------
    counterpoint.InvalidArgumentError
        The amount is outside its range, or the query does not take this noise.

    Examples
    --------
    >>> from counterpoint import noise
    >>> visits = noise.Data([3, 1, 2], adjacency="add-remove")
    >>> noise.measure(visits, noise.Query.count(), "laplace", 0.5).releases
    (Geometric(scale=2..., sensitivity=1),)
    """
    return NoisyQuery(query._native.with_noise(noise, amount)).run(data)

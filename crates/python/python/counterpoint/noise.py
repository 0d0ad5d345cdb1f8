"""Noise that is drawn, exactly: what runs is what is charged.

Laws (:func:`geometric`, :func:`laplace`, :func:`gaussian`, ...) add noise to numbers, lists and NumPy arrays. The caller
vouches for the sensitivity; a :class:`Query` about :class:`Data` derives it. Either way the answer, how accurate it is
and what it costs come back as one :class:`Reply`:

>>> from counterpoint import compose, noise
>>> reply = noise.geometric(scale=2.0).release([120, 87])
>>> len(reply.value), reply.accuracy(0.95)
(2, 6.0)
>>> reply.releases
(Geometric(scale=2.0, sensitivity=1, count=2),)
>>> float(compose(reply.releases).epsilon(0)) < 1.0000001
True

Samplers compute in whole numbers, with random words of the operating system, asked anew for each draw: there is no seed,
and a forked process draws noise of its own. What is released lies on a grid that does not depend on the data. Nothing is
refused because of what the data are, as that would tell of them: what is no number is zero, and what is too large is cut.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from fractions import Fraction

    from ._native import Mechanism
    from .names import Adjacency, Style

    Bounds = tuple[float, float]

__all__ = [
    "Data",
    "Exponential",
    "Law",
    "LeakyResponse",
    "Measurement",
    "Query",
    "RandomizedResponse",
    "Recipe",
    "Reply",
    "discrete_gaussian",
    "exponential",
    "gaussian",
    "geometric",
    "laplace",
    "leaky_response",
    "measure",
    "randomized_response",
    "secret",
    "staircase",
]

# Whole numbers beyond these are cut.
_LEAST, _MOST = -(2**127), 2**127 - 1
_LEAST_WORD, _MOST_WORD = -(2**63), 2**63 - 1

# Noise of a larger scale, in steps, does not go into an array of 64-bit numbers.
_MOST_SCALE = 2.0**50

_WHOLE = "a whole number, or a list or an array of them, of at most 64 bits"
_NUMBERS = "a number, or a list or an array of numbers, each a float or a whole number of at most 64 bits"


class Reply:
    """An answer that may be published, with how accurate it is and what it costs.

    ``value`` has the shape of what was given; ``releases`` is what a plan or a ledger is charged with.
    """

    __slots__ = ("_intervals", "_width", "releases", "value")

    value: Any
    releases: tuple[Mechanism, ...]

    def __init__(
        self,
        value: Any,
        releases: tuple[Mechanism, ...],
        width: Callable[[float], float | None],
        intervals: Callable[[float], list[tuple[float, float]]] | None = None,
    ) -> None:
        self.value = value
        self.releases = releases
        self._width = width
        self._intervals = intervals

    def accuracy(self, confidence: float = 0.95) -> float | None:
        """Each number is within this of what it were without noise, with at least this probability, whatever the data are.

        It is said from what is released alone. None where nothing is known so: of choices, cumulative counts,
        covariances and regressions (a :class:`Measurement` says what holds for so many rows).
        """
        return self._width(confidence)

    def intervals(self, confidence: float = 0.95) -> list[tuple[float, float]]:
        """For each number where it were without noise; empty where :meth:`accuracy` is None."""
        if self._intervals is not None:
            return self._intervals(confidence)
        width = self._width(confidence)
        return [] if width is None else [(x - width, x + width) for x in _flat(self.value)]

    def __repr__(self) -> str:
        return f"Reply({self.value!r}, releases={list(self.releases)!r})"


def _flat(value: Any) -> list[float]:
    if isinstance(value, (list, tuple)):
        return [x for item in value for x in _flat(item)]
    return [float(x) for x in value.ravel()] if hasattr(value, "ravel") else [float(value)]


def _is_array(values: Any) -> bool:
    return hasattr(values, "__array__") or hasattr(values, "__array_interface__")


def _array(argument: str, values: Any, kinds: str, legal: str) -> Any:
    """An array whose numbers are of these kinds, none wider than is kept exactly."""
    import numpy as np

    given = np.asarray(values)
    wide = given.dtype.itemsize > 8 or given.dtype == np.uint64
    if given.dtype.kind not in kinds or wide:
        raise TypeError(f"{argument} is of type {given.dtype}; legal: {legal}")
    return given


def _words(given: Any) -> bytes:
    import numpy as np

    data: bytes = np.ascontiguousarray(given, dtype=np.int64).tobytes()
    return data


def _shaped(data: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    import numpy as np

    return np.frombuffer(data, dtype=dtype).reshape(shape).copy()


def _listed(argument: str, values: Any, legal: str, is_legal: Callable[[Any], bool]) -> list[Any]:
    """The items of a list, all of legal types."""
    if not isinstance(values, (list, tuple)):
        raise TypeError(f"{argument} is of type {type(values).__name__}; legal: {legal}")
    for index, item in enumerate(values):
        if not is_legal(item):
            raise TypeError(f"{argument}[{index}] is of type {type(item).__name__}; legal: {legal}")
    return list(values)


def _is_whole(item: Any) -> bool:
    return isinstance(item, int) and not isinstance(item, bool)


def _is_number(item: Any) -> bool:
    return _is_whole(item) or isinstance(item, float)


def _cut(item: int) -> int:
    return max(_LEAST, min(int(item), _MOST))


def _cut_word(item: int) -> int:
    return max(_LEAST_WORD, min(int(item), _MOST_WORD))


class Law:
    """Additive noise for numbers that one person moves by at most a sensitivity, for which the caller vouches."""

    __slots__ = ("_native", "_scale", "_whole")

    def __init__(self, native: _native.Noise, whole: bool, scale: float) -> None:
        self._native = native
        self._whole = whole
        self._scale = scale

    @property
    def mechanism(self) -> Mechanism:
        """What one release is charged as."""
        return self._native.charged(1)[0]

    @property
    def grid(self) -> float:
        """The step that answers are multiples of: a power of two."""
        return self._native.step

    @property
    def sensitivity(self) -> int:
        """How many steps of the grid one person may move a number."""
        return self._native.sensitivity

    def half_width(self, confidence: float = 0.95) -> float:
        """The noise is at most this with at least this probability: the least multiple of the grid for which that is so."""
        return self._native.half_width(confidence)

    def expected_error(self) -> float:
        """The mean distance between an answer with noise and without."""
        return self._native.expected_error()

    def release(self, values: Any) -> Reply:
        """Values with fresh noise, **each a release of its own**.

        A number, a list (also of lists) or an array, of any shape. Geometric and discrete Gaussian noise is for whole
        numbers, and gives whole numbers, exactly; in an array of 64-bit ones, which cuts what does not fit. Other noise
        gives floats: values are rounded to the grid first, whole numbers as whole numbers.
        """
        value, count = self._drawn("values", values)
        return Reply(value, self._native.charged(count), lambda confidence: self.half_width(confidence))

    def _drawn(self, argument: str, values: Any) -> tuple[Any, int]:
        legal = _WHOLE if self._whole else _NUMBERS
        if _is_array(values):
            given = _array(argument, values, "iu" if self._whole else "iuf", legal)
            drawn = self._packed(given)
            return (drawn[()] if given.shape == () else drawn), given.size
        if not isinstance(values, (list, tuple)):
            (value,), _ = self._drawn_list(argument, [values])
            return value, 1
        if any(isinstance(item, (list, tuple)) or _is_array(item) for item in values):
            parts = [self._drawn(f"{argument}[{index}]", item) for index, item in enumerate(values)]
            return [value for value, _ in parts], sum(count for _, count in parts)
        return self._drawn_list(argument, values)

    def _drawn_list(self, argument: str, values: Any) -> tuple[list[Any], int]:
        if self._whole:
            items = _listed(argument, values, _WHOLE, _is_whole)
            return list(self._native.add([_cut(item) for item in items])), len(items)
        items = _listed(argument, values, _NUMBERS, _is_number)
        if all(map(_is_whole, items)):
            return list(self._native.release_whole([_cut(item) for item in items])), len(items)
        if any(map(_is_whole, items)):
            # Each in its own way: a whole number need not be a float.
            return [self._one(item) for item in items], len(items)
        from array import array

        drawn = array("d")
        drawn.frombytes(self._native.release_packed(array("d", items).tobytes()))
        return drawn.tolist(), len(items)

    def _one(self, item: int | float) -> float:
        if _is_whole(item):
            return self._native.release_whole([_cut(int(item))])[0]
        from array import array

        return array("d", self._native.release_packed(array("d", [item]).tobytes()))[0]

    def _packed(self, given: Any) -> Any:
        import numpy as np

        if self._whole:
            if self._scale > _MOST_SCALE:
                raise InvalidArgument(f"the noise's scale is {self._scale}; legal: at most 2^50 with an array, or a list")
            return _shaped(self._native.add_packed(_words(given)), "int64", given.shape)
        if given.dtype.kind == "f":
            data = np.ascontiguousarray(given, dtype=np.float64).tobytes()
            return _shaped(self._native.release_packed(data), "float64", given.shape)
        return _shaped(self._native.release_whole_packed(_words(given)), "float64", given.shape)

    def __repr__(self) -> str:
        return f"Law({self.mechanism!r}, grid={self.grid!r})"


def geometric(scale: float, sensitivity: int = 1) -> Law:
    """Geometric noise (discrete Laplace) on whole numbers: masses proportional to e^(-|x| / scale)."""
    return Law(_native.Noise.geometric(scale, sensitivity), True, float(scale))


def discrete_gaussian(sigma: float, sensitivity: int = 1) -> Law:
    """Discrete Gaussian noise on whole numbers: masses proportional to e^(-x^2 / 2 sigma^2)."""
    return Law(_native.Noise.discrete_gaussian(sigma, sensitivity), True, float(sigma))


def _step(sensitivity: Any, grid: Any) -> Any:
    """A thousandth of what one person can change, or so, if no grid is given."""
    if grid is not None:
        return grid
    legal = isinstance(sensitivity, (int, float)) and not isinstance(sensitivity, bool)
    # What is not legal is said of the sensitivity, not of the grid.
    return sensitivity / 1024 if legal and 1e-200 < sensitivity < 1e200 else 1.0


def laplace(scale: float, sensitivity: float = 1.0, grid: float | None = None) -> Law:
    """Laplace noise on a grid: discrete Laplace noise in steps, the sensitivity rounded up to whole steps.

    The grid's step is the largest power of two that is at most ``grid``; a 1024th of the sensitivity if that is not given.
    """
    return Law(_native.Noise.laplace(scale, sensitivity, _step(sensitivity, grid)), False, math.nan)


def gaussian(sigma: float, sensitivity: float = 1.0, grid: float | None = None) -> Law:
    """Gaussian noise on a grid: discrete Gaussian noise in steps, the sensitivity rounded up to whole steps."""
    return Law(_native.Noise.gaussian(sigma, sensitivity, _step(sensitivity, grid)), False, math.nan)


def staircase(
    epsilon: float, gamma: float | None = None, sensitivity: float = 1.0, grid: float | None = None
) -> Law:
    """Staircase noise (Geng and Viswanath) on a grid; ``gamma``, the share of a step that lies higher, is the best there is if not given."""
    return Law(_native.Noise.staircase(epsilon, gamma, sensitivity, _step(sensitivity, grid)), False, math.nan)


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

        if _is_array(values):
            given = _array("values", values, "iub", _WHOLE)
            drawn = _shaped(self._native.release_packed(_words(given)), "int64", given.shape)
            return Reply(drawn[()] if given.shape == () else drawn, self._native.charged(given.size), _unknown)
        several = isinstance(values, (list, tuple))
        items = _listed("values", values if several else [values], _WHOLE, lambda item: isinstance(item, int))
        told = array("q", [_cut_word(item) for item in items])
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
        if _is_array(values):
            given = _array("values", values, "b", legal)
            import numpy as np

            drawn = np.array(self._native.release(given.ravel().tolist()), dtype=bool).reshape((*given.shape, 2))
            return Reply(drawn, self._native.charged(given.size), _unknown)
        several = isinstance(values, (list, tuple))
        bits = _listed("values", values if several else [values], legal, lambda item: isinstance(item, bool))
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

        if _is_array(scores):
            given = _array("scores", scores, "iu", _WHOLE)
            if given.ndim == 0 or given.shape[-1] == 0:
                raise InvalidArgument(f"scores has shape {given.shape}; legal: rows of at least one score")
            rows = given.shape[:-1]
            drawn = _shaped(self._native.release_packed(_words(given), given.shape[-1]), "int64", rows)
            return Reply(int(drawn) if rows == () else drawn, self._native.charged(drawn.size), _unknown)
        items = _listed("scores", scores, _WHOLE, _is_whole)
        told = array("q", [_cut_word(item) for item in items])
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


def _column(argument: str, values: Any) -> bytes:
    """A column's doubles."""
    if _is_array(values):
        import numpy as np

        given = _array(argument, values, "iufb", _NUMBERS)
        if given.ndim != 1:
            raise InvalidArgument(f"{argument} has {given.ndim} dimensions; legal: 1")
        data: bytes = np.ascontiguousarray(given, dtype=np.float64).tobytes()
        return data
    from array import array

    items = _listed(argument, values, _NUMBERS, lambda item: isinstance(item, (int, float)))
    # What no float can hold is as far out as can be: it is clamped.
    return array("d", [_float(item) for item in items]).tobytes()


def _float(item: int | float) -> float:
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf


class Data:
    """A column of numbers, or several of one table, with the relation they are protected under.

    Said once, by whoever holds them: everything asked about them is scaled and charged for that relation. **The custodian
    vouches** that nobody has more than ``records`` of the records; with "replace", that everybody has exactly so many.
    ``part`` names the part of a data set that these are; nobody with records here has any in another part. Numbers cannot
    be read back, and are not shown.
    """

    __slots__ = ("_native",)

    def __init__(
        self, values: Any, *, adjacency: Adjacency, records: int = 1, part: str | None = None
    ) -> None:
        self._native = _native.Data([_column("values", values)], adjacency, records, part)

    @classmethod
    def table(
        cls, columns: Iterable[Any], *, adjacency: Adjacency, records: int = 1, part: str | None = None
    ) -> Data:
        """Several columns, each of which has a number for each record."""
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data(packed, adjacency, records, part))

    @classmethod
    def of_people(
        cls, people: Iterable[str], columns: Iterable[Any], *, key: bytes, adjacency: Adjacency, records: int = 1
    ) -> Data:
        """Columns of a table that says for each row whose it is. Of whoever has more than ``records`` rows only so many
        are used, by a choice that depends on that person's own rows and the ``key`` (see :func:`secret`) alone."""
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data.of_people([str(one) for one in people], packed, adjacency, records, key))

    @classmethod
    def _of(cls, native: _native.Data) -> Data:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def adjacency(self) -> Adjacency:
        """What neighbouring data sets are."""
        return self._native.adjacency

    @property
    def records(self) -> int:
        """How many records a person has at most."""
        return self._native.records

    @property
    def part(self) -> str | None:
        """The part of the data set that this is, or None."""
        return self._native.part

    def __repr__(self) -> str:
        return f"Data(..., adjacency={self.adjacency!r}, records={self.records})"


def secret() -> bytes:
    """A new key for :meth:`Data.of_people`, from the operating system: to be made once, and kept."""
    return _native.secret()


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

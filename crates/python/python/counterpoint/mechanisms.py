"""Descriptions of what is released.

A mechanism is inert data: what was run, on which sample of the data, how many times. ``mechanism * n``
runs it n times; ``replace`` changes any field. Fields, defaults and ranges are those of plan files.

Every mechanism also takes ``count`` (1), ``name`` and ``partition``, the label of the part of the data it
looks at. All but those known by a curve (``ZCDP``, ``TCDP`` and ``RDP``) and those with a sample of their own
(``GaussianSubset``, ``GaussianDraws``, ``GaussianBatch`` and ``GaussianAllocation``) take ``rate``, that of the
Poisson sample they run on; or ``examples`` and ``batch``, and ``epochs`` in place of ``count``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypedDict, TypeVar

from ._native import Blank, Mechanism, kinds

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction
    from inspect import Signature

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self, Unpack

    Numbers = Sequence[float] | NDArray[np.floating]
    Amount = float | str | Fraction | Decimal

__all__ = [
    "AboveThreshold",
    "ApproxDP",
    "Cells",
    "DiscreteGaussian",
    "Exponential",
    "Finite",
    "GDP",
    "Gaussian",
    "GaussianAllocation",
    "GaussianBatch",
    "GaussianDraws",
    "GaussianMixture",
    "GaussianSubset",
    "Geometric",
    "Laplace",
    "Mechanism",
    "NameAndShame",
    "RDP",
    "RandomizedResponse",
    "SparseVector",
    "Staircase",
    "TCDP",
    "UNKNOWN",
    "ZCDP",
]

UNKNOWN = Blank()
"""In the place of a sigma, scale, epsilon or count: what :func:`counterpoint.calibrate` is to find."""


_KINDS = kinds()
_KEYWORDS = {kind["name"]: frozenset(kind["keywords"]) for kind in _KINDS}

M = TypeVar("M", bound=Mechanism)


class _Release(TypedDict, total=False):
    """What every mechanism takes."""

    count: int | Blank | None
    name: str | None
    partition: str | None


class _Sampled(_Release, total=False):
    """What all take that may run on a Poisson sample."""

    rate: float | None
    examples: int | None
    batch: int | None
    epochs: float | None


def _make(cls: type[M], kind: str, release: _Release, **own: object) -> M:
    """A mechanism of its own fields and those of every release."""
    for name in release:
        if name not in _KEYWORDS[kind]:
            raise TypeError(f"{cls.__name__}.__new__() got an unexpected keyword argument {name!r}")
    return Mechanism.__new__(cls, {"mechanism": kind, **own, **release})


class ApproxDP(Mechanism):
    """Any mechanism with an (epsilon, delta) guarantee, of which nothing else is known.

    Its composition is exact: Kairouz, Oh and Viswanath 2017 for equal guarantees, Murtagh and Vadhan
    2018 for different ones, and Lyu 2022 for interleaved queries.

    >>> ApproxDP(0.1) * 100
    ApproxDP(epsilon=0.1, delta=0.0, count=100)

    A text, a Fraction or a Decimal is kept as it is, for questions with ``bits``; other questions are about the double
    next to it.

    >>> ApproxDP("1/3")
    ApproxDP(epsilon=Fraction(1, 3), delta=0.0)
    """

    __slots__ = ()
    epsilon: float
    delta: float

    def __new__(cls, epsilon: Amount | Blank, delta: Amount = 0.0, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "approx-dp", release, epsilon=epsilon, delta=delta)


class Laplace(Mechanism):
    """A number plus Laplace noise: epsilon is sensitivity / scale. ``epsilon`` may stand in the place of ``scale``: the
    least that is certified to have it.

    >>> Laplace(scale=10).sensitivity
    1.0
    >>> round(Laplace(epsilon=0.5, sensitivity=3).scale, 9)
    6.0
    """

    __slots__ = ()
    scale: float
    sensitivity: float

    def __new__(
        cls, scale: float | Blank | None = None, sensitivity: float = 1.0, *, epsilon: float | None = None,
        **release: Unpack[_Sampled],
    ) -> Self:
        return _make(cls, "laplace", release, scale=scale, sensitivity=sensitivity, epsilon=epsilon)


class Geometric(Mechanism):
    """A whole number plus discrete Laplace noise, whose masses fall by e^(-1/scale) a step."""

    __slots__ = ()
    scale: float
    sensitivity: int

    def __new__(cls, scale: Amount | Blank, sensitivity: int = 1, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "geometric", release, scale=scale, sensitivity=sensitivity)


class Gaussian(Mechanism):
    """A number or vector plus Gaussian noise of standard deviation sigma.

    With ``rate`` it runs on a Poisson sample of the data, which is DP-SGD; ``examples``, ``batch`` and
    ``epochs`` say the same in practitioners' terms.

    >>> Gaussian(sigma=1.0, rate=0.01, count=10_000) == Gaussian(sigma=1.0, rate=0.01) * 10_000
    True
    >>> Gaussian(sigma=1.0, examples=60_000, batch=600, epochs=15).count
    1500

    ``epsilon`` and ``delta`` may stand in the place of ``sigma``: the least that is certified to have that guarantee,
    run once and on all of the data (the analytic Gaussian mechanism).

    >>> round(Gaussian(epsilon=1.0, delta=1e-5).sigma, 6)
    3.730632
    """

    __slots__ = ()
    sigma: float
    sensitivity: float

    def __new__(
        cls, sigma: float | Blank | None = None, sensitivity: float = 1.0, *, epsilon: float | None = None,
        delta: float | None = None, **release: Unpack[_Sampled],
    ) -> Self:
        return _make(cls, "gaussian", release, sigma=sigma, sensitivity=sensitivity, epsilon=epsilon, delta=delta)


class GaussianMixture(Mechanism):
    """Gaussian noise on what a person's data move by an amount drawn at random: matrix mechanisms on samples.

    They move it by at most ``sensitivities[i]``, in Euclidean norm, with probability ``probabilities[i]``.

    >>> GaussianMixture(sigma=2.0, sensitivities=[0, 1, 2], probabilities=[0.5, 0.25, 0.25]).sensitivities
    [0.0, 1.0, 2.0]
    """

    __slots__ = ()
    sigma: float
    sensitivities: list[float]
    probabilities: list[float]

    def __new__(
        cls, sigma: float | Blank, sensitivities: Numbers, probabilities: Numbers, **release: Unpack[_Sampled],
    ) -> Self:
        shifts = dict(sensitivities=sensitivities, probabilities=probabilities)
        return _make(cls, "gaussian-mixture", release, sigma=sigma, **shifts)


class GaussianSubset(Mechanism):
    """Gaussian noise on a sample of a fixed size without replacement, which is ``share`` of the data.

    For adjacency "replace": ``sensitivity`` is how far another record in one's place moves the sum, which is twice
    the norm that records are clipped to.

    >>> GaussianSubset(sigma=2.0, share=0.01, count=100).sensitivity
    1.0
    """

    __slots__ = ()
    sigma: float
    share: float
    sensitivity: float

    def __new__(cls, sigma: float | Blank, share: float, sensitivity: float = 1.0, **release: Unpack[_Release]) -> Self:
        return _make(cls, "gaussian-subset", release, sigma=sigma, share=share, sensitivity=sensitivity)


class GaussianDraws(Mechanism):
    """Gaussian noise on a sample of a fixed size with replacement: ``draws`` times one of ``records`` is drawn.

    For adjacency "replace": ``sensitivity`` is how far another record in one's place moves the sum for each time it
    was drawn, which is twice the norm that records are clipped to. ``draws`` is at most ``records``.

    >>> GaussianDraws(sigma=2.0, records=60_000, draws=600, count=100).sensitivity
    1.0
    """

    __slots__ = ()
    sigma: float
    records: int
    draws: int
    sensitivity: float

    def __new__(
        cls, sigma: float | Blank, records: int, draws: int, sensitivity: float = 1.0, **release: Unpack[_Release],
    ) -> Self:
        return _make(cls, "gaussian-draws", release, sigma=sigma, records=records, draws=draws, sensitivity=sensitivity)


class GaussianBatch(Mechanism):
    """Gaussian noise on a sum over a Poisson sample, in which each person is with probability ``share``.

    ``norm`` is the largest one that a person's vector in the sum may have. Under adjacency "add-remove" it is
    ``Gaussian(sigma, norm, rate=share)``; under "replace", one person's vector for another's, at most twice that
    far away. With ``people`` and ``most``, for "add-remove": of at most so many people, including whoever is added, at
    most so many are in the sum, larger samples being cut to that at random.

    >>> from counterpoint import compose
    >>> step = GaussianBatch(sigma=1.0, share=0.01, count=1000)
    >>> compose([step], adjacency="replace").epsilon(1e-6).upper < 3.2143
    True
    >>> GaussianBatch(sigma=1.0, share=0.01, people=60_000, most=700).norm
    1.0
    """

    __slots__ = ()
    sigma: float
    share: float
    norm: float

    def __new__(
        cls, sigma: float | Blank, share: float, norm: float = 1.0, people: int | None = None, most: int | None = None,
        **release: Unpack[_Release],
    ) -> Self:
        return _make(cls, "gaussian-batch", release, sigma=sigma, share=share, norm=norm, people=people, most=most)

    @property
    def people(self) -> int | None:
        """How many people there are at most, or None if batches are not cut."""
        found: int | None = self.parameters.get("people")
        return found

    @property
    def most(self) -> int | None:
        """How many of them are in a batch at most, or None if batches are not cut."""
        found: int | None = self.parameters.get("most")
        return found


class GaussianAllocation(Mechanism):
    """Gaussian noise on each of ``steps`` sums, each person being in ``each`` of them, drawn at random.

    For adjacency "add-remove". All of the steps are one release: ``count`` is how often all of them are run, as epochs
    are. Shuffled batches are not this, as who is in one of them depends on who else there is.

    >>> GaussianAllocation(sigma=2.0, steps=100, count=10).each
    1
    """

    __slots__ = ()
    sigma: float
    steps: int
    sensitivity: float
    each: int

    def __new__(
        cls, sigma: float | Blank, steps: int, sensitivity: float = 1.0, each: int = 1, **release: Unpack[_Release],
    ) -> Self:
        return _make(cls, "gaussian-allocation", release, sigma=sigma, steps=steps, sensitivity=sensitivity, each=each)


class DiscreteGaussian(Mechanism):
    """A whole number plus discrete Gaussian noise, masses proportional to e^(-x^2 / 2 sigma^2)."""

    __slots__ = ()
    sigma: float
    sensitivity: int

    def __new__(cls, sigma: float | Blank, sensitivity: int = 1, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "discrete-gaussian", release, sigma=sigma, sensitivity=sensitivity)


class RandomizedResponse(Mechanism):
    """The true answer with probability e^epsilon / (e^epsilon + buckets - 1), else any of the others."""

    __slots__ = ()
    epsilon: float
    buckets: int

    def __new__(cls, epsilon: Amount | Blank, buckets: int = 2, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "randomized-response", release, epsilon=epsilon, buckets=buckets)


class Exponential(Mechanism):
    """The exponential mechanism, by its guarantee, which is also its range (bounded range)."""

    __slots__ = ()
    epsilon: float

    def __new__(cls, epsilon: float | Blank, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "exponential", release, epsilon=epsilon)


class Staircase(Mechanism):
    """A number plus staircase noise (Geng and Viswanath), cut at gamma or at the best place."""

    __slots__ = ()
    epsilon: float
    gamma: float

    def __new__(cls, epsilon: float | Blank, gamma: float | None = None, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "staircase", release, epsilon=epsilon, gamma=gamma)


class NameAndShame(Mechanism):
    """Everything revealed with probability delta, nothing otherwise."""

    __slots__ = ()
    delta: float

    def __new__(cls, delta: Amount, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "name-and-shame", release, delta=delta)


class ZCDP(Mechanism):
    """Any mechanism with rho-zCDP (Bun and Steinke 2016), but for a leak of delta."""

    __slots__ = ()
    rho: float
    delta: float

    def __new__(cls, rho: float, delta: float = 0.0, **release: Unpack[_Release]) -> Self:
        return _make(cls, "zcdp", release, rho=rho, delta=delta)


class TCDP(Mechanism):
    """Any mechanism with (rho, omega)-tCDP (Bun, Dwork, Rothblum and Steinke 2018)."""

    __slots__ = ()
    rho: float
    omega: float

    def __new__(cls, rho: float, omega: float, **release: Unpack[_Release]) -> Self:
        return _make(cls, "tcdp", release, rho=rho, omega=omega)


class RDP(Mechanism):
    """Any mechanism whose Rényi divergences at these orders are at most these epsilons."""

    __slots__ = ()
    orders: list[float]
    epsilons: list[float]

    def __new__(cls, orders: Numbers, epsilons: Numbers, **release: Unpack[_Release]) -> Self:
        return _make(cls, "rdp", release, orders=orders, epsilons=epsilons)


class GDP(Mechanism):
    """Any mechanism with mu-Gaussian privacy (Dong, Roth and Su 2022)."""

    __slots__ = ()
    mu: float

    def __new__(cls, mu: float, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "gdp", release, mu=mu)


class SparseVector(Mechanism):
    """Sparse vector with one noisy threshold, as pure privacy: it costs the sum of both (Lyu et al. 2017)."""

    __slots__ = ()
    epsilon_threshold: float
    epsilon_queries: float

    def __new__(cls, epsilon_threshold: Amount, epsilon_queries: Amount, **release: Unpack[_Sampled]) -> Self:
        spent = dict(epsilon_threshold=epsilon_threshold, epsilon_queries=epsilon_queries)
        return _make(cls, "sparse-vector", release, **spent)


class AboveThreshold(Mechanism):
    """Sparse vector by a pair of its own, which costs less than the sum: one noisy threshold, stopped at the last of the
    answers above it that were declared. Thresholds drawn anew are a ``count``."""

    __slots__ = ()
    epsilon_threshold: float
    epsilon_queries: float

    def __new__(cls, epsilon_threshold: Amount, epsilon_queries: Amount, **release: Unpack[_Sampled]) -> Self:
        spent = dict(epsilon_threshold=epsilon_threshold, epsilon_queries=epsilon_queries)
        return _make(cls, "above-threshold", release, **spent)


class Finite(Mechanism):
    """Outcomes with known probabilities: p with the person's record, q without it."""

    __slots__ = ()
    p: list[float]
    q: list[float]

    def __new__(cls, p: Numbers, q: Numbers, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "finite", release, p=p, q=q)


class Cells(Mechanism):
    """Your own mechanism, its outcomes cut into cells: p with the person's record and q without it, and in each
    cell a lower and an upper bound on ln p/q. An infinite bound is none: what has no upper bound leaks.

    Answers lie between those of a pair that dominates all mechanisms with these cells and of one that they dominate:
    how wide they are is how fine the cells are, whatever the tolerance.

    >>> Cells(p=[0.6, 0.4], q=[0.4, 0.6], lower=[0.2, -0.6], upper=[0.6, -0.2]).upper
    [0.6, -0.2]
    """

    __slots__ = ()
    p: list[float]
    q: list[float]
    lower: list[float]
    upper: list[float]

    def __new__(cls, p: Numbers, q: Numbers, lower: Numbers, upper: Numbers, **release: Unpack[_Sampled]) -> Self:
        # Bounds beyond 600 say nothing, and these can be written in any format.
        bounds = dict(lower=[max(-1e300, x) for x in lower], upper=[min(1e300, x) for x in upper])
        return _make(cls, "cells", release, p=p, q=q, **bounds)

    @classmethod
    def between(
        cls, edges: Numbers, p: Callable[[float], float], q: Callable[[float], float], loss: Callable[[float], float],
        above: tuple[Callable[[float], float], Callable[[float], float]] | None = None, **release: Unpack[_Sampled],
    ) -> Self:
        """The cells between edges, and those beyond the first and the last, of a mechanism that releases a number.

        ``p`` and ``q`` are its distribution functions, with the person's record and without it, and ``loss`` is
        ln p/q, which has to rise or to fall throughout. Beyond the outer edges nothing bounds it on one side. Masses
        are differences of these functions, taken as they are; ``above``, the probabilities of larger numbers, keeps
        digits where those are small. Towards either end, what is so rare that rounding spoils its ratio is one cell.

        >>> from statistics import NormalDist
        >>> edges = [x / 8 for x in range(-40, 49)]
        >>> noise = Cells.between(edges, NormalDist(1).cdf, NormalDist(0).cdf, lambda x: x - 0.5)
        >>> len(noise.p) > 50
        True
        """
        places = [float(edge) for edge in edges]

        def masses(below: Callable[[float], float], beyond: Callable[[float], float] | None) -> list[float]:
            found = _differences([0.0, *(float(below(place)) for place in places), 1.0])
            if beyond is not None:
                rest = _differences([1.0, *(float(beyond(place)) for place in places), 0.0])
                half = [float(below(place)) > 0.5 for place in places]
                found = [-late if after else early for early, late, after in zip(found, rest, [False, *half])]
            return [mass if mass >= 1e-280 else 0.0 for mass in found]

        losses = [float(loss(place)) for place in places]
        low, high = (-math.inf, math.inf) if losses[0] <= losses[-1] else (math.inf, -math.inf)
        ends = list(zip([low, *losses], [*losses, high]))
        p_above, q_above = above if above is not None else (None, None)
        cells = zip(masses(p, p_above), masses(q, q_above), map(min, ends), map(max, ends))
        return cls(*zip(*_together([*cells])), **release)


def _differences(values: list[float]) -> list[float]:
    return [after - before for before, after in zip(values, values[1:])]


Cell = tuple[float, float, float, float]


def _together(cells: list[Cell]) -> list[Cell]:
    """From the likeliest cell outward, up to the first whose masses do not agree with its bounds: what lies beyond is one."""

    def agrees(cell: Cell) -> bool:
        p, q, lower, upper = cell
        return p > 0 and q > 0 and lower - 1e-9 <= math.log(p) - math.log(q) <= upper + 1e-9

    def one(part: list[Cell]) -> list[Cell]:
        p, q, lower, upper = zip(*part)
        return [(math.fsum(p), math.fsum(q), min(lower), max(upper))]

    first = last = max(range(len(cells)), key=lambda at: cells[at][0] + cells[at][1])
    while first > 1 and agrees(cells[first - 1]):
        first -= 1
    while last < len(cells) - 2 and agrees(cells[last + 1]):
        last += 1
    before, after = cells[:first], cells[last + 1 :]
    return [*(one(before) if before else []), *cells[first : last + 1], *(one(after) if after else [])]


CLASSES: dict[str, type[Mechanism]] = {kind["name"]: globals()[kind["class"]] for kind in _KINDS}
"""The classes by their names in plan files."""


class _Signature:
    """The signature of a class, its keywords spelled out."""

    def __get__(self, _: object, cls: type[Mechanism]) -> Signature:
        from inspect import Parameter, signature

        new = signature(cls.__new__)
        _, *own, release = new.parameters.values()
        kind = next(kind for kind in _KINDS if CLASSES[kind["name"]] in cls.__mro__)
        keyword = release.replace(kind=Parameter.KEYWORD_ONLY, default=None)
        types = _Sampled.__annotations__
        named = [keyword.replace(name=name, annotation=types[name].__forward_arg__) for name in kind["keywords"]]
        return new.replace(parameters=[*own, *named])


for _class in CLASSES.values():
    setattr(_class, "__signature__", _Signature())

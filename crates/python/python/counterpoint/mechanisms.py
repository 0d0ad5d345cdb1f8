"""Descriptions of releases.

A mechanism is inert data: what runs, on which sample of the data, and how often. ``mechanism * n`` runs it n times;
``replace`` changes any field. Fields, defaults and legal ranges are those of plan files.

Every mechanism also takes ``count`` (1), ``name`` and ``partition``, the label of the part of the data that it reads.
All but those given by a curve (``ZCDP``, ``TCDP``, ``RDP``), ``PrivateSelection``, ``ShuffledReports`` and those that draw
their own sample (``GaussianSubset``, ``GaussianDraws``, ``GaussianBatch``, ``GaussianAllocation``) take ``rate``, the rate
of the Poisson sample that they run on; or ``examples`` and ``batch``, and ``epochs`` in place of ``count``. Values outside
their range raise :class:`counterpoint.InvalidArgumentError`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, TypedDict, TypeVar

from ._native import Blank, Mechanism, kinds

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction
    from inspect import Signature

    import numpy as np
    from numpy.typing import NDArray
    from typing import Literal

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
    "PrivateSelection",
    "RDP",
    "RandomizedResponse",
    "ReportNoisyMax",
    "ShuffledReports",
    "SparseVector",
    "Staircase",
    "TCDP",
    "TruncatedLaplace",
    "UNKNOWN",
    "ZCDP",
    "gaussian_matrix",
]

UNKNOWN = Blank()
"""A placeholder for the sigma, scale, epsilon or count that :func:`counterpoint.calibrate` is to find."""


_KINDS = kinds()
_KEYWORDS = {kind["name"]: frozenset(kind["keywords"]) for kind in _KINDS}

M = TypeVar("M", bound=Mechanism)


class _Release(TypedDict, total=False):
    """The keywords of every mechanism."""

    count: int | Blank | None
    name: str | None
    partition: str | None


class _Sampled(_Release, total=False):
    """The keywords of every mechanism that may run on a Poisson sample."""

    rate: float | None
    examples: int | None
    batch: int | None
    epochs: float | None


def _make(cls: type[M], kind: str, release: _Release, **own: object) -> M:
    """Makes a mechanism from its own fields and the keywords of every release."""
    for name in release:
        if name not in _KEYWORDS[kind]:
            raise TypeError(f"{cls.__name__}.__new__() got an unexpected keyword argument {name!r}")
    return Mechanism.__new__(cls, {"mechanism": kind, **own, **release})


class ApproxDP(Mechanism):
    """A mechanism of which only an (epsilon, delta) guarantee is known.

    The composition of such guarantees is exact: Kairouz, Oh and Viswanath 2017 for equal guarantees, Murtagh and Vadhan
    2018 for different ones, and Lyu 2022 for interleaved queries.

    Parameters
    ----------
    epsilon
        The guarantee's epsilon. A text, a Fraction or a Decimal is kept exactly, for questions with ``bits``; other
        questions use the nearest double.
    delta
        The guarantee's delta, kept in the same way.

    Examples
    --------
    >>> ApproxDP(0.1) * 100
    ApproxDP(epsilon=0.1, delta=0.0, count=100)
    >>> ApproxDP("1/3")
    ApproxDP(epsilon=Fraction(1, 3), delta=0.0)
    """

    __slots__ = ()
    epsilon: float
    delta: float

    def __new__(cls, epsilon: Amount | Blank, delta: Amount = 0.0, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "approx-dp", release, epsilon=epsilon, delta=delta)


class Laplace(Mechanism):
    """A number plus Laplace noise. Its epsilon is sensitivity / scale.

    Parameters
    ----------
    scale
        The scale of the noise.
    sensitivity
        The most that one person moves the number.
    epsilon
        In place of ``scale``: the least scale that is certified to cost at most this epsilon.

    Examples
    --------
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


class TruncatedLaplace(Mechanism):
    """A number plus Laplace noise, given that the noise is within bounds.

    No answer is further from the number than ``bound``. In return an answer may be possible on one of two neighbouring
    data sets only, with a probability of about e^(-(bound - sensitivity)/scale)/2.

    Parameters
    ----------
    scale
        The scale of the noise.
    bound
        The largest amount of noise.
    sensitivity
        The most that one person moves the number.

    Examples
    --------
    >>> TruncatedLaplace(scale=2.0, bound=30.0).sensitivity
    1.0
    """

    __slots__ = ()
    scale: float
    bound: float
    sensitivity: float

    def __new__(
        cls, scale: float | Blank, bound: float, sensitivity: float = 1.0, **release: Unpack[_Sampled],
    ) -> Self:
        return _make(cls, "truncated-laplace", release, scale=scale, bound=bound, sensitivity=sensitivity)


class Geometric(Mechanism):
    """A whole number plus geometric (discrete Laplace) noise, whose masses fall by e^(-1/scale) a step.

    Parameters
    ----------
    scale
        The scale of the noise.
    sensitivity
        The most that one person moves the number.
    """

    __slots__ = ()
    scale: float
    sensitivity: int

    def __new__(cls, scale: Amount | Blank, sensitivity: int = 1, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "geometric", release, scale=scale, sensitivity=sensitivity)


class Gaussian(Mechanism):
    """A number or vector plus Gaussian noise.

    With ``rate`` the mechanism runs on a Poisson sample of the data, as DP-SGD does; ``examples``, ``batch`` and
    ``epochs`` say the same in practitioners' terms.

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    sensitivity
        The most that one person moves the vector, in Euclidean norm.
    epsilon, delta
        In place of ``sigma``: the least sigma that is certified to have this guarantee, for one run on all of the data
        (the analytic Gaussian mechanism).

    Examples
    --------
    >>> Gaussian(sigma=1.0, rate=0.01, count=10_000) == Gaussian(sigma=1.0, rate=0.01) * 10_000
    True
    >>> Gaussian(sigma=1.0, examples=60_000, batch=600, epochs=15).count
    1500
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
    """Gaussian noise on a vector that one person moves by a random amount: matrix mechanisms on samples.

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    sensitivities
        The possible amounts, in Euclidean norm.
    probabilities
        The probability of each amount.

    Examples
    --------
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
    """Gaussian noise on a sample of a fixed size without replacement, for adjacency "replace".

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    share
        The sample's share of the data.
    sensitivity
        The most that replacing one record moves the sum: twice the norm that records are clipped to.

    Examples
    --------
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
    """Gaussian noise on a sample of a fixed size with replacement, for adjacency "replace".

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    records
        The number of records in the data.
    draws
        The number of times a record is drawn, at most ``records``.
    sensitivity
        The most that replacing one record moves the sum for each time it is drawn: twice the norm that records are
        clipped to.

    Examples
    --------
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
    """Gaussian noise on a sum over a Poisson sample.

    Under adjacency "add-remove" this is ``Gaussian(sigma, norm, rate=share)``; under "replace", one person's vector
    changes to another, at most twice ``norm`` away. With ``people`` and ``most``, for "add-remove", larger samples are
    cut to ``most`` people at random.

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    share
        The probability with which each person is in the sample.
    norm
        The largest norm of a person's vector in the sum.
    people
        The largest number of people in the data, including one who is added; with ``most``.
    most
        The largest number of people in a batch; with ``people``.

    Examples
    --------
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
        """The largest number of people in the data, or None if batches are not cut."""
        found: int | None = self.parameters.get("people")
        return found

    @property
    def most(self) -> int | None:
        """The largest number of people in a batch, or None if batches are not cut."""
        found: int | None = self.parameters.get("most")
        return found


class GaussianAllocation(Mechanism):
    """Gaussian noise on each of several sums, where each person is in a random choice of the sums; for adjacency "add-remove".

    All of the steps are one release: ``count`` is the number of times that all of them run, as epochs do. Shuffled
    batches are not this mechanism, because who is in one of them depends on who else is in the data.

    Parameters
    ----------
    sigma
        The standard deviation of the noise on each sum.
    steps
        The number of sums.
    sensitivity
        The most that one person moves a sum.
    each
        The number of sums that each person is in.

    Examples
    --------
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


def gaussian_matrix(
    sigma: float | Blank,
    steps: int,
    *,
    factor: Literal["square-root"] | None = None,
    bands: int | None = None,
    coefficients: Numbers | None = None,
    theta: Numbers | None = None,
    omega: Numbers | None = None,
    separation: int | None = None,
    participations: int | None = None,
    rate: float | None = None,
    sensitivity: float = 1.0,
    count: int | None = None,
    name: str | None = None,
    partition: str | None = None,
) -> Gaussian:
    """Gaussian noise on a matrix mechanism (DP-FTRL), with the certified sensitivity of its strategy.

    The strategy is a lower-triangular Toeplitz matrix C. The mechanism releases C x + sigma z, where x are the sums of
    the steps and z is standard normal. One of ``factor``, ``coefficients``, and ``theta`` with ``omega`` gives C.

    Parameters
    ----------
    sigma
        The standard deviation of the noise.
    steps
        The number of steps.
    factor
        "square-root": the coefficients 1, 1/2, 3/8, 5/16, ... of the square root of the matrix of prefix sums.
    bands
        The number of these coefficients; all if None.
    coefficients
        The first column of C; coefficients that are left out are 0.
    theta, omega
        A strategy with a buffered linear inverse (BLT): its coefficients are 1 and the sums of omega theta^(k-1).
    separation
        The least number of steps between two participations of a person.
    participations
        The largest number of participations; as many as the separation permits if None.
    rate
        In place of the last two: each step uses a Poisson sample of one group in turn, with this rate within the group.
        There are as many groups as coefficients.
    sensitivity
        The most, in Euclidean norm, that one person moves a step's sum.
    count, name, partition
        As for every mechanism.

    Returns
    -------
    Gaussian
        Gaussian noise with the sensitivity of the strategy; with a rate, one run on a sample for each turn of the groups.

    Raises
    ------
    counterpoint.InvalidArgumentError
        A number is outside its range, or the strategy is given twice or not at all.

    Examples
    --------
    >>> noise = gaussian_matrix(10.0, steps=8, coefficients=[1.0], separation=4)
    >>> print(f"{noise.sensitivity:.4f}")
    1.4142
    """
    lists = {"coefficients": coefficients, "theta": theta, "omega": omega}
    given: dict[str, object] = {key: [float(x) for x in value] for key, value in lists.items() if value is not None}
    optional = {
        "factor": factor, "bands": bands, "separation": separation, "participations": participations, "rate": rate,
        "count": count, "name": name, "partition": partition,
    }
    given |= {key: value for key, value in optional.items() if value is not None}
    own = {"mechanism": "gaussian-matrix", "sigma": sigma, "steps": steps, "sensitivity": sensitivity}
    return Mechanism.__new__(Gaussian, own | given)


class DiscreteGaussian(Mechanism):
    """A whole number plus discrete Gaussian noise, with masses proportional to e^(-x^2 / 2 sigma^2).

    Parameters
    ----------
    sigma
        The parameter sigma of the noise.
    sensitivity
        The most that one person moves the number.
    """

    __slots__ = ()
    sigma: float
    sensitivity: int

    def __new__(cls, sigma: float | Blank, sensitivity: int = 1, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "discrete-gaussian", release, sigma=sigma, sensitivity=sensitivity)


class RandomizedResponse(Mechanism):
    """The true answer with probability e^epsilon / (e^epsilon + buckets - 1), else one of the others at random.

    Parameters
    ----------
    epsilon
        The epsilon of one response.
    buckets
        The number of possible answers.
    """

    __slots__ = ()
    epsilon: float
    buckets: int

    def __new__(cls, epsilon: Amount | Blank, buckets: int = 2, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "randomized-response", release, epsilon=epsilon, buckets=buckets)


class Exponential(Mechanism):
    """The exponential mechanism, given by its epsilon, which is also its range (bounded range).

    Parameters
    ----------
    epsilon
        The epsilon of one choice.
    """

    __slots__ = ()
    epsilon: float

    def __new__(cls, epsilon: float | Blank, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "exponential", release, epsilon=epsilon)


class Staircase(Mechanism):
    """A number plus staircase noise (Geng and Viswanath).

    Parameters
    ----------
    epsilon
        The epsilon of one release.
    gamma
        The share of each step that lies higher; the best share if None.
    """

    __slots__ = ()
    epsilon: float
    gamma: float

    def __new__(cls, epsilon: float | Blank, gamma: float | None = None, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "staircase", release, epsilon=epsilon, gamma=gamma)


class NameAndShame(Mechanism):
    """Everything revealed with probability delta, nothing otherwise.

    Parameters
    ----------
    delta
        The probability that everything is revealed.
    """

    __slots__ = ()
    delta: float

    def __new__(cls, delta: Amount, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "name-and-shame", release, delta=delta)


class ZCDP(Mechanism):
    """A mechanism of which only rho-zCDP (Bun and Steinke 2016) is known, except for a leak of delta.

    Parameters
    ----------
    rho
        The rho of the guarantee.
    delta
        The probability of a leak.
    """

    __slots__ = ()
    rho: float
    delta: float

    def __new__(cls, rho: float, delta: float = 0.0, **release: Unpack[_Release]) -> Self:
        return _make(cls, "zcdp", release, rho=rho, delta=delta)


class TCDP(Mechanism):
    """A mechanism of which only (rho, omega)-tCDP (Bun, Dwork, Rothblum and Steinke 2018) is known.

    Parameters
    ----------
    rho
        The rho of the guarantee.
    omega
        The order up to which the guarantee holds.
    """

    __slots__ = ()
    rho: float
    omega: float

    def __new__(cls, rho: float, omega: float, **release: Unpack[_Release]) -> Self:
        return _make(cls, "tcdp", release, rho=rho, omega=omega)


class RDP(Mechanism):
    """A mechanism of which only bounds on its Rényi divergences are known.

    Parameters
    ----------
    orders
        The Rényi orders, increasing.
    epsilons
        The bound on the divergence at each order.
    """

    __slots__ = ()
    orders: list[float]
    epsilons: list[float]

    def __new__(cls, orders: Numbers, epsilons: Numbers, **release: Unpack[_Release]) -> Self:
        return _make(cls, "rdp", release, orders=orders, epsilons=epsilons)


class GDP(Mechanism):
    """A mechanism of which only mu-Gaussian privacy (Dong, Roth and Su 2022) is known.

    Parameters
    ----------
    mu
        The mu of the guarantee.
    """

    __slots__ = ()
    mu: float

    def __new__(cls, mu: float, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "gdp", release, mu=mu)


class SparseVector(Mechanism):
    """Sparse vector with one noisy threshold, charged as pure privacy: the sum of both epsilons (Lyu et al. 2017).

    To run one, see :class:`counterpoint.sessions.SparseVectorSpec`.

    Parameters
    ----------
    epsilon_threshold
        The epsilon spent on the threshold.
    epsilon_queries
        The epsilon spent on the queries.
    """

    __slots__ = ()
    epsilon_threshold: float
    epsilon_queries: float

    def __new__(cls, epsilon_threshold: Amount, epsilon_queries: Amount, **release: Unpack[_Sampled]) -> Self:
        spent = dict(epsilon_threshold=epsilon_threshold, epsilon_queries=epsilon_queries)
        return _make(cls, "sparse-vector", release, **spent)


class AboveThreshold(Mechanism):
    """Sparse vector charged by its own dominating pair, which costs less than the sum of both epsilons.

    One noisy threshold, stopped at the last of the declared answers above it. Thresholds that are drawn anew are a
    ``count``.

    Parameters
    ----------
    epsilon_threshold
        The epsilon spent on the threshold.
    epsilon_queries
        The epsilon spent on the queries.
    """

    __slots__ = ()
    epsilon_threshold: float
    epsilon_queries: float

    def __new__(cls, epsilon_threshold: Amount, epsilon_queries: Amount, **release: Unpack[_Sampled]) -> Self:
        spent = dict(epsilon_threshold=epsilon_threshold, epsilon_queries=epsilon_queries)
        return _make(cls, "above-threshold", release, **spent)


class Finite(Mechanism):
    """Outcomes with known probabilities.

    Parameters
    ----------
    p
        The probability of each outcome with the person's record.
    q
        The probability of each outcome without it.
    """

    __slots__ = ()
    p: list[float]
    q: list[float]

    def __new__(cls, p: Numbers, q: Numbers, **release: Unpack[_Sampled]) -> Self:
        return _make(cls, "finite", release, p=p, q=q)


class Cells(Mechanism):
    """A mechanism of your own, with its outcomes cut into cells.

    Answers lie between those of a pair that dominates all mechanisms with these cells and those of a pair that all of
    them dominate. Their width depends on how fine the cells are, whatever the tolerance.

    Parameters
    ----------
    p
        The probability of each cell with the person's record.
    q
        The probability of each cell without it.
    lower
        The lower bound on ln p/q in each cell; minus infinity for none.
    upper
        The upper bound on ln p/q in each cell; infinity for none, which counts as a leak.

    Examples
    --------
    >>> Cells(p=[0.6, 0.4], q=[0.4, 0.6], lower=[0.2, -0.6], upper=[0.6, -0.2]).upper
    [0.6, -0.2]
    """

    __slots__ = ()
    p: list[float]
    q: list[float]
    lower: list[float]
    upper: list[float]

    def __new__(cls, p: Numbers, q: Numbers, lower: Numbers, upper: Numbers, **release: Unpack[_Sampled]) -> Self:
        # Bounds beyond 600 say nothing, and any format can write these.
        bounds = dict(lower=[max(-1e300, x) for x in lower], upper=[min(1e300, x) for x in upper])
        return _make(cls, "cells", release, p=p, q=q, **bounds)

    @classmethod
    def between(
        cls, edges: Numbers, p: Callable[[float], float], q: Callable[[float], float], loss: Callable[[float], float],
        above: tuple[Callable[[float], float], Callable[[float], float]] | None = None, **release: Unpack[_Sampled],
    ) -> Self:
        """Makes the cells of a mechanism that releases a number, between edges and beyond the outer ones.

        Masses are differences of the distribution functions, taken as they are. Towards either end, outcomes that are
        so rare that rounding spoils their ratio become one cell.

        Parameters
        ----------
        edges
            The increasing numbers between which the cells lie.
        p
            The distribution function with the person's record.
        q
            The distribution function without it.
        loss
            The logarithm of p/q at a number. It must rise or fall throughout; beyond the outer edges nothing bounds it
            on one side.
        above
            The probabilities of larger numbers, with the record and without it: these keep digits where they are small.
        **release
            The keywords of every mechanism: ``count``, ``name``, ``partition`` and others.

        Returns
        -------
        Cells
            The mechanism.

        Examples
        --------
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
    """Merges the cells on either side beyond the first one, from the likeliest outward, whose masses contradict its bounds.
    """

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


class ReportNoisyMax(Mechanism):
    """The name of the largest of several scores after noise was added to each score: with Gumbel noise the exponential
    mechanism, with exponential noise permute-and-flip.

    With Gumbel noise, the names of the k largest noisy scores in order cost as much as ``count=k`` (Durfee and Rogers
    2019), and the mechanism composes as one of bounded range. With other noise only its epsilon is used.

    Parameters
    ----------
    noise
        The law of the noise.
    scale
        The scale of the noise.
    sensitivity
        The most that one person moves a score.
    scores
        ``"monotone"`` if adding a person makes no score fall, or no score rise: under "add-remove", half the cost.

    Examples
    --------
    >>> ReportNoisyMax("gumbel", scale=4.0).scores
    'any'
    """

    __slots__ = ()
    noise: str
    scale: float
    sensitivity: float
    scores: str

    def __new__(
        cls, noise: Literal["gumbel", "laplace", "exponential"], scale: float | Blank, sensitivity: float = 1.0,
        scores: Literal["any", "monotone"] = "any", **release: Unpack[_Sampled],
    ) -> Self:
        return _make(cls, "report-noisy-max", release, noise=noise, scale=scale, sensitivity=sensitivity, scores=scores)


class ShuffledReports(Mechanism):
    """Reports of people who run a local randomizer each, in random order, for adjacency "replace".

    The pair that is used dominates all local randomizers of this epsilon (Feldman, McMillan and Talwar 2021). It is not
    known to be attained.

    Parameters
    ----------
    epsilon
        The epsilon of each local randomizer.
    people
        The number of people who report.

    Examples
    --------
    >>> from counterpoint import compose
    >>> compose([ShuffledReports(1.0, 10_000)], adjacency="replace").epsilon(1e-6).upper < 0.2
    True
    """

    __slots__ = ()
    epsilon: float
    people: int

    def __new__(cls, epsilon: float, people: int, **release: Unpack[_Release]) -> Self:
        return _make(cls, "shuffled-reports", release, epsilon=epsilon, people=people)


class PrivateSelection(Mechanism):
    """The best of a random number of runs, as in a search for hyperparameters (Papernot and Steinke 2022).

    Only the outputs of the run with the best score are published, and how often a run is made is drawn at random from a
    law that does not depend on the data. The score may be any function of a run's outputs.

    Parameters
    ----------
    runs
        The law of the number of runs. With ``"poisson"`` there may be no run at all, which is then published.
    mean
        The expected number of runs: at least 1, except with ``"poisson"``.
    inner
        The mechanisms that one run consists of, or their fields as in a plan file.
    eta
        The shape of a ``"negative-binomial"`` law: 1 is geometric, 0 logarithmic.

    Examples
    --------
    >>> from counterpoint import compose
    >>> search = PrivateSelection("geometric", 10, [Gaussian(sigma=4.0)])
    >>> compose([search]).epsilon(1e-6).upper < 1.64
    True
    >>> search.inner
    [Gaussian(sigma=4.0, sensitivity=1.0)]
    """

    __slots__ = ()
    runs: str
    mean: float
    eta: float

    def __new__(
        cls, runs: Literal["geometric", "logarithmic", "negative-binomial", "poisson"], mean: float,
        inner: Sequence[Mechanism | dict[str, object]], eta: float | None = None, **release: Unpack[_Release],
    ) -> Self:
        tables = [_inner_fields(one) for one in inner]
        return _make(cls, "private-selection", release, runs=runs, mean=mean, inner=tables, eta=eta)

    @property
    def inner(self) -> list[Mechanism]:
        """The mechanisms that one run consists of."""
        return [Mechanism.__new__(CLASSES[fields["mechanism"]], fields) for fields in self.parameters["inner"]]


def _inner_fields(one: Mechanism | dict[str, object]) -> dict[str, object]:
    """The fields of a mechanism within a selection: its rate instead of batches."""
    if not isinstance(one, Mechanism):
        return one
    fields = one.fields()
    if fields.pop("examples", None) is not None:
        del fields["batch"]
        fields["rate"] = one.rate
    return fields


CLASSES: dict[str, type[Mechanism]] = {kind["name"]: globals()[kind["class"]] for kind in _KINDS}
"""The classes by the names of their kinds in plan files."""


class _Signature:
    """The signature of a class with its keywords spelled out."""

    def __get__(self, _: object, cls: type[Mechanism]) -> Signature:
        from inspect import Parameter, signature

        new = signature(cls.__new__)
        _, *own, release = new.parameters.values()
        kind = next(kind for kind in _KINDS if CLASSES[kind["name"]] in cls.__mro__)
        keyword = release.replace(kind=Parameter.KEYWORD_ONLY, default=None)
        types = _Sampled.__annotations__
        named = [keyword.replace(name=name, annotation=types[name].__forward_arg__) for name in kind["keywords"]]
        return new.replace(parameters=[*own, *named])


_KEYWORD_DOCS = {
    "rate": "The rate of the Poisson sample that the mechanism runs on; all of the data if None.",
    "examples": "The number of records that batches are drawn from; with ``batch`` in place of ``rate``.",
    "batch": "The expected number of records in a batch.",
    "epochs": "The number of passes over the examples, in place of ``count``.",
    "count": "The number of times the mechanism runs (1).",
    "name": "A name for the release.",
    "partition": "The label of the part of the data that the mechanism reads; all of the data if None.",
}


def _document(cls: type[Mechanism], keywords: Sequence[str]) -> None:
    """Adds the keywords of every release to the parameters in a class's documentation."""
    text = cls.__doc__
    if text is None:  # python -OO
        return
    indent = "    " if "\n    Parameters" in text else ""  # Python 3.13 removes indentation
    parameters, mark, examples = text.partition(f"\n\n{indent}Examples\n")
    lines = [f"\n{indent}{name}\n{indent}    {_KEYWORD_DOCS[name]}" for name in keywords]
    cls.__doc__ = f"{parameters.rstrip()}{''.join(lines)}{mark or chr(10)}{examples}"


for _kind in _KINDS:
    _class = CLASSES[_kind["name"]]
    setattr(_class, "__signature__", _Signature())
    _document(_class, _kind["keywords"])

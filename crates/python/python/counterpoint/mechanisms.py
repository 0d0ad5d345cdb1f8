"""Descriptions of what is released.

A mechanism is inert data: what was run, on which sample of the data, how many times. ``mechanism * n``
runs it n times; ``replace`` changes any field. Fields, defaults and ranges are those of plan files.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._native import Mechanism

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Self

    Numbers = Sequence[float] | NDArray[np.floating]

__all__ = [
    "ApproxDP",
    "DiscreteGaussian",
    "Exponential",
    "Finite",
    "GDP",
    "Gaussian",
    "Geometric",
    "Laplace",
    "Mechanism",
    "NameAndShame",
    "RDP",
    "RandomizedResponse",
    "SparseVector",
    "Staircase",
    "TCDP",
    "ZCDP",
]


class ApproxDP(Mechanism):
    """Any mechanism with an (epsilon, delta) guarantee, of which nothing else is known.

    Its composition is exact: Kairouz, Oh and Viswanath 2017 for equal guarantees, Murtagh and Vadhan
    2018 for different ones, and Lyu 2022 for interleaved queries.

    >>> ApproxDP(0.1) * 100
    ApproxDP(epsilon=0.1, delta=0.0, count=100)
    """

    __slots__ = ()
    epsilon: float
    delta: float

    def __new__(
        cls,
        epsilon: float,
        delta: float = 0.0,
        *,
        rate: float | None = None,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "approx-dp", "epsilon": epsilon, "delta": delta,
            "rate": rate, "count": count, "name": name, "partition": partition,
        })


class Laplace(Mechanism):
    """A number plus Laplace noise: epsilon is sensitivity / scale.

    >>> Laplace(scale=10).sensitivity
    1.0
    """

    __slots__ = ()
    scale: float
    sensitivity: float

    def __new__(
        cls,
        scale: float,
        sensitivity: float = 1.0,
        *,
        rate: float | None = None,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "laplace", "scale": scale, "sensitivity": sensitivity,
            "rate": rate, "count": count, "name": name, "partition": partition,
        })


class Geometric(Mechanism):
    """A whole number plus discrete Laplace noise, whose masses fall by e^(-1/scale) a step."""

    __slots__ = ()
    scale: float
    sensitivity: int

    def __new__(
        cls,
        scale: float,
        sensitivity: int = 1,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "geometric", "scale": scale, "sensitivity": sensitivity,
            "count": count, "name": name, "partition": partition,
        })


class Gaussian(Mechanism):
    """A number or vector plus Gaussian noise of standard deviation sigma.

    With ``rate`` it runs on a Poisson sample of the data, which is DP-SGD; ``examples``, ``batch`` and
    ``epochs`` say the same in practitioners' terms.

    >>> Gaussian(sigma=1.0, rate=0.01, count=10_000) == Gaussian(sigma=1.0, rate=0.01) * 10_000
    True
    >>> Gaussian(sigma=1.0, examples=60_000, batch=600, epochs=15).count
    1500
    """

    __slots__ = ()
    sigma: float
    sensitivity: float

    def __new__(
        cls,
        sigma: float,
        sensitivity: float = 1.0,
        *,
        rate: float | None = None,
        examples: int | None = None,
        batch: int | None = None,
        epochs: float | None = None,
        count: int | None = None,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "gaussian", "sigma": sigma, "sensitivity": sensitivity,
            "rate": rate, "examples": examples, "batch": batch, "epochs": epochs,
            "count": count, "name": name, "partition": partition,
        })


class DiscreteGaussian(Mechanism):
    """A whole number plus discrete Gaussian noise, masses proportional to e^(-x^2 / 2 sigma^2)."""

    __slots__ = ()
    sigma: float
    sensitivity: int

    def __new__(
        cls,
        sigma: float,
        sensitivity: int = 1,
        *,
        rate: float | None = None,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "discrete-gaussian", "sigma": sigma, "sensitivity": sensitivity,
            "rate": rate, "count": count, "name": name, "partition": partition,
        })


class RandomizedResponse(Mechanism):
    """The true answer with probability e^epsilon / (e^epsilon + buckets - 1), else any of the others."""

    __slots__ = ()
    epsilon: float
    buckets: int

    def __new__(
        cls,
        epsilon: float,
        buckets: int = 2,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "randomized-response", "epsilon": epsilon, "buckets": buckets,
            "count": count, "name": name, "partition": partition,
        })


class Exponential(Mechanism):
    """The exponential mechanism, by its guarantee, which is also its range (bounded range)."""

    __slots__ = ()
    epsilon: float

    def __new__(
        cls,
        epsilon: float,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "exponential", "epsilon": epsilon,
            "count": count, "name": name, "partition": partition,
        })


class Staircase(Mechanism):
    """A number plus staircase noise (Geng and Viswanath), cut at gamma or at the best place."""

    __slots__ = ()
    epsilon: float
    gamma: float

    def __new__(
        cls,
        epsilon: float,
        gamma: float | None = None,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "staircase", "epsilon": epsilon, "gamma": gamma,
            "count": count, "name": name, "partition": partition,
        })


class NameAndShame(Mechanism):
    """Everything revealed with probability delta, nothing otherwise."""

    __slots__ = ()
    delta: float

    def __new__(
        cls,
        delta: float,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "name-and-shame", "delta": delta,
            "count": count, "name": name, "partition": partition,
        })


class ZCDP(Mechanism):
    """Any mechanism with rho-zCDP (Bun and Steinke 2016), but for a leak of delta."""

    __slots__ = ()
    rho: float
    delta: float

    def __new__(
        cls,
        rho: float,
        delta: float = 0.0,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "zcdp", "rho": rho, "delta": delta,
            "count": count, "name": name, "partition": partition,
        })


class TCDP(Mechanism):
    """Any mechanism with (rho, omega)-tCDP (Bun, Dwork, Rothblum and Steinke 2018)."""

    __slots__ = ()
    rho: float
    omega: float

    def __new__(
        cls,
        rho: float,
        omega: float,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "tcdp", "rho": rho, "omega": omega,
            "count": count, "name": name, "partition": partition,
        })


class RDP(Mechanism):
    """Any mechanism whose Rényi divergences at these orders are at most these epsilons."""

    __slots__ = ()
    orders: list[float]
    epsilons: list[float]

    def __new__(
        cls,
        orders: Numbers,
        epsilons: Numbers,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "rdp", "orders": orders, "epsilons": epsilons,
            "count": count, "name": name, "partition": partition,
        })


class GDP(Mechanism):
    """Any mechanism with mu-Gaussian privacy (Dong, Roth and Su 2022)."""

    __slots__ = ()
    mu: float

    def __new__(
        cls,
        mu: float,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "gdp", "mu": mu,
            "count": count, "name": name, "partition": partition,
        })


class SparseVector(Mechanism):
    """Sparse vector with one noisy threshold, stopped at the first answer above it (Lyu et al. 2017)."""

    __slots__ = ()
    epsilon_threshold: float
    epsilon_queries: float

    def __new__(
        cls,
        epsilon_threshold: float,
        epsilon_queries: float,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "sparse-vector",
            "epsilon_threshold": epsilon_threshold, "epsilon_queries": epsilon_queries,
            "count": count, "name": name, "partition": partition,
        })


class Finite(Mechanism):
    """Outcomes with known probabilities: p with the person's record, q without it."""

    __slots__ = ()
    p: list[float]
    q: list[float]

    def __new__(
        cls,
        p: Numbers,
        q: Numbers,
        *,
        count: int = 1,
        name: str | None = None,
        partition: str | None = None,
    ) -> Self:
        return Mechanism.__new__(cls, {
            "mechanism": "finite", "p": p, "q": q,
            "count": count, "name": name, "partition": partition,
        })


CLASSES: dict[str, type[Mechanism]] = {
    "approx-dp": ApproxDP,
    "laplace": Laplace,
    "geometric": Geometric,
    "gaussian": Gaussian,
    "discrete-gaussian": DiscreteGaussian,
    "randomized-response": RandomizedResponse,
    "exponential": Exponential,
    "staircase": Staircase,
    "name-and-shame": NameAndShame,
    "zcdp": ZCDP,
    "tcdp": TCDP,
    "rdp": RDP,
    "gdp": GDP,
    "sparse-vector": SparseVector,
    "finite": Finite,
}
"""The classes by their names in plan files."""

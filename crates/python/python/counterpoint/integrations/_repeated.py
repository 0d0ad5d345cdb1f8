"""The best of a random number of runs, as a Rényi curve (Papernot and Steinke 2022)."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING

from ..mechanisms import RDP, ZCDP, ApproxDP, Gaussian, Geometric, Laplace, RandomizedResponse
from ..plan import compose
from ._orders import LARGEST, ORDERS
from ._rounding import down, log_up, up

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._native import Mechanism

    Curve = Callable[[float], Fraction]


def best_of(releases: list[Mechanism], mean: float, shape: float) -> RDP | None:
    """The curve of the best of so many runs on average; None if one run's is not known here.

    With a shape the number of runs has a truncated negative binomial law (theorem 2), with an infinite one
    a Poisson law (theorem 6).
    """
    once = _curve(releases)
    if once is None:
        return None
    runs = Fraction(log_up(Fraction(mean)))
    more = _poisson(releases, mean) if shape == math.inf else _binomial(once, mean, shape)
    points = [(order, once(order) + runs / (Fraction(order) - 1) + more(order)) for order in ORDERS]
    least = Fraction(LARGEST) + 1
    table: list[tuple[float, float]] = []
    # Divergences do not fall with the order.
    for order, found in reversed(points):
        least = min(least, found)
        if least <= LARGEST:
            table.append((order, up(least)))
    table.reverse()
    return RDP([order for order, _ in table], [bound for _, bound in table]) if table else None


def _curve(releases: list[Mechanism]) -> Curve | None:
    """An upper bound on the divergences of releases together: a line, and for what is pure e the lesser of e and
    e^2/2 times the order (Bun and Steinke 2016)."""
    slope, pure = Fraction(0), []
    for one in releases:
        if one.rate is not None:
            return None
        if isinstance(one, Gaussian):
            slope += one.count * (Fraction(one.sensitivity) / Fraction(one.sigma)) ** 2 / 2
        elif isinstance(one, ZCDP) and not one.delta:
            slope += one.count * Fraction(one.rho)
        elif isinstance(one, (Laplace, Geometric)):
            pure.append((one.count, Fraction(one.sensitivity) / Fraction(one.scale)))
        elif isinstance(one, RandomizedResponse) or (isinstance(one, ApproxDP) and not one.delta):
            pure.append((one.count, Fraction(one.epsilon)))
        else:
            return None

    def curve(order: float) -> Fraction:
        at = Fraction(order)
        return slope * at + sum((n * min(e, e * e / 2 * at) for n, e in pure), Fraction(0))

    return curve


def _binomial(once: Curve, mean: float, shape: float) -> Curve:
    """(1 + shape) ((1 - 1/b) D_b + ln(1/gamma)/b), at the best of the orders b, whatever the order asked about."""
    rare = Fraction(log_up(1 / _gamma(mean, shape)))
    costs = [(1 - 1 / Fraction(b)) * once(b) + rare / Fraction(b) for b in (1.0, *ORDERS)]
    least = (1 + Fraction(shape)) * min(costs)
    return lambda order: least


def _poisson(releases: list[Mechanism], mean: float) -> Curve:
    """The mean times the delta of one run at ln(1 + 1/(order - 1)): a certified one, at most one."""
    plan = compose(releases)

    def curve(order: float) -> Fraction:
        # A logarithm is good to a few units in the last place.
        epsilon = Fraction(log_up(Fraction(order) / (Fraction(order) - 1))) * (1 - Fraction(1, 10**14))
        delta = plan.delta(down(epsilon)).upper
        return Fraction(mean) * Fraction(min(1.0, delta))

    return curve


def _gamma(mean: float, shape: float) -> Fraction:
    """A parameter, or one just below, with which the law has this mean: the mean falls as it grows."""
    low, high = 0.0, 1.0
    for _ in range(2000):
        middle = (low + high) / 2 if low > 1e-9 else max(high / 2, 1e-300)
        if middle in (low, high):
            break
        low, high = (middle, high) if _mean(middle, shape) >= Decimal(mean) else (low, middle)
    return Fraction(low)


def _mean(gamma: float, shape: float) -> Decimal:
    """The law's mean, to forty digits but for what cancels near one; from below."""
    with localcontext() as context:
        context.prec = 80
        chance, power = Decimal(gamma), Decimal(shape)
        rest = 1 - chance
        if shape == 0:
            mean = (1 / chance - 1) / -chance.ln()
        else:
            mean = power * rest / (chance * (1 - (power * chance.ln()).exp()))
        return mean * (1 - Decimal(10) ** -40)

"""Numbers as doubles, rounded to the side that is safe."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction


def up(exact: Fraction) -> float:
    """The least double that is not below.

    >>> up(Fraction(1, 10)) == 0.1, up(Fraction(1, 3)) > 1 / 3
    (True, True)
    """
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)


def down(exact: Fraction) -> float:
    """The largest double that is not above."""
    return -up(-exact)


def inverse_down(value: float) -> float:
    """1 / value, or the next double below."""
    return down(1 / Fraction(value))


def root_up(square: Fraction) -> float:
    """The square root, or a double just above.

    >>> root_up(Fraction(4)), root_up(Fraction(2)) ** 2 > 2
    (2.0, True)
    """
    root = math.sqrt(square)
    while Fraction(root) ** 2 < square:
        root = math.nextafter(root, math.inf)
    return root


def log_up(value: Fraction) -> float:
    """The logarithm, at most two units in the last place too large.

    >>> log_up(Fraction(1)), round(log_up(Fraction(3)), 6)
    (0.0, 1.098612)
    """
    with localcontext() as context:
        # A noise parameter's distance from 1 takes up to 16 of these digits away.
        context.prec = 60
        log = (Decimal(value.numerator) / Decimal(value.denominator)).ln()
        return up(Fraction(log) * (1 + Fraction(1, 10**30)))

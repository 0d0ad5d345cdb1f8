"""The orders at which a Rényi curve is written down."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ..errors import NoFiniteEpsilonError
from ..mechanisms import RDP

if TYPE_CHECKING:
    from collections.abc import Callable

# Sixteen an octave: between two of them the curve is known to a part in a thousand or so.
ORDERS = tuple(1.0 + 2.0 ** (step / 16) for step in range(-80, 241))

# The largest epsilon a plan may name.
LARGEST = 1e6


def tabulated(curve: Callable[[float], float], what: str) -> RDP:
    """A curve, already rounded up and not falling, at the orders where it is not too large.

    >>> tabulated(lambda order: order / 2, "a curve").epsilons[0]
    0.515625
    """
    points = list(takewhile(lambda point: point[1] <= LARGEST, ((a, curve(a)) for a in ORDERS)))
    if not points:
        raise NoFiniteEpsilonError(f"{what} has Rényi divergences above {LARGEST:g}; legal: at most that")
    return RDP([order for order, _ in points], [epsilon for _, epsilon in points])

"""The narrowest bracket that can be certified."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ToleranceNotMet

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._native import Bracket

# Legal tolerances go up to this.
WIDEST = 0.1


def narrowest(ask: Callable[..., Bracket]) -> Bracket:
    """What is answered at the usual tolerance, else at wider ones, else by Rényi divergences.

    Any of them is sound: an accountant that has to say something can rely on the upper end.
    """
    try:
        return ask()
    except ToleranceNotMet as short:
        within_reach = 2 * short.achieved if short.achieved else WIDEST
    for tolerance in (within_reach, WIDEST):
        try:
            return ask(tolerance=min(tolerance, WIDEST))
        except ToleranceNotMet:
            pass
    return ask(route="renyi")

"""How much noise, how small a loss or how many releases a target allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Calibration
from .errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._native import Mechanism
    from .names import Adjacency, Unknown

__all__ = ["Calibration", "calibrate"]


def calibrate(
    mechanisms: Iterable[Mechanism] | Mechanism,
    unknown: Unknown | None = None,
    *,
    epsilon: float,
    delta: float,
    varying: str | Sequence[int | str] | None = None,
    adjacency: Adjacency | None = None,
    group: int | None = None,
    tolerance: float | None = None,
    progress: Callable[[float], bool | None] | None = None,
) -> Calibration:
    """The value of ``unknown`` that meets (epsilon, delta) with the least noise or the most use.

    ``unknown`` is "sigma", "scale", "epsilon" or "count", and what has :data:`counterpoint.UNKNOWN` in the place of
    that number varies, its noise in proportion to its sensitivity. Where nothing has, all mechanisms with such a number
    vary, or only those named (or numbered) in ``varying``; they keep the ratios of what they say now. ``value`` is that
    of the first. The cost is the one that composing the found mechanisms gives, to the last bit; it is within
    the target, and that of the next double is not.

    >>> import counterpoint as cp
    >>> found = cp.calibrate(cp.Gaussian(sigma=cp.UNKNOWN) * 10, epsilon=1.0, delta=1e-6)
    >>> round(found.value, 4), found.cost <= 1.0
    (13.3596, True)
    """
    if isinstance(mechanisms, _native.Mechanism):
        mechanisms = [mechanisms]
    listed = list(mechanisms)
    return _native.calibrate(
        listed, unknown, epsilon=epsilon, delta=delta, varying=_places(varying, listed),
        adjacency=adjacency, group=group, tolerance=tolerance, progress=progress,
    )


def _places(varying: Any, mechanisms: list[Mechanism]) -> list[int] | None:
    if varying is None:
        return None
    places: list[int] = []
    for one in [varying] if isinstance(varying, (str, int)) else varying:
        if isinstance(one, str):
            named = [index for index, m in enumerate(mechanisms) if m.name == one]
            if not named:
                raise InvalidArgument(f"varying is {one!r}; legal: the name of a mechanism, or its index")
            places += named
        else:
            places.append(one)
    return places

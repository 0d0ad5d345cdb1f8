"""Calibration: the noise, the epsilon or the number of releases that a target allows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._native import Calibration
from .errors import InvalidArgumentError

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
    """Finds the number that meets (epsilon, delta) with the least noise or the most use.

    The cost equals that of composing the mechanisms found, to the last bit. It is within the target, and the cost at
    the next double is not.

    Parameters
    ----------
    mechanisms
        A mechanism or a list of them. Those with :data:`counterpoint.UNKNOWN` in place of a number vary, with noise in
        proportion to their sensitivity.
    unknown
        The number to find: "sigma", "scale", "epsilon" or "count". It may be omitted if mechanisms have ``UNKNOWN``.
    epsilon, delta
        The target.
    varying
        The names or indices of the mechanisms that vary, in the ratios that they have now; every mechanism with such a
        number if None.
    adjacency
        The neighbouring relation: "add-remove" or "replace". It is needed where it makes a difference.
    group
        The number of people who are protected together; one if None.
    tolerance
        The relative width of the certified costs; 1e-6 is aimed at if None.
    progress
        A function that receives the fraction done. If it returns False, the search stops.

    Returns
    -------
    Calibration
        The ``value`` found (of the first varying mechanism), its certified ``cost`` and the filled-in ``mechanisms``.

    Raises
    ------
    counterpoint.errors.OutOfReachError
        No value in the legal range meets the target.
    counterpoint.InvalidArgumentError
        An argument is outside its range, or nothing varies.

    Examples
    --------
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
                raise InvalidArgumentError(f"varying is {one!r}; legal: the name of a mechanism, or its index")
            places += named
        else:
            places.append(one)
    return places

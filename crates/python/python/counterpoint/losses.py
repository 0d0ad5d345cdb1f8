"""Privacy losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .arrays import Brackets, is_scalar, packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from . import _native
    from ._native import Bracket
    from .names import Direction

    Progress = Callable[[float], bool | None]

__all__ = ["Losses"]


class Losses:
    """The distribution of the privacy loss ln P(x)/Q(x), for x drawn from P.

    In one direction ("remove": P is with the person's data, Q without; "add": the reverse) and on one part of the data.
    Delta at epsilon is the mean of max(0, 1 - e^(epsilon - loss)). Made by :meth:`counterpoint.Plan.losses`.

    Examples
    --------
    >>> import counterpoint as cp
    >>> (loss,) = cp.compose([cp.Gaussian(sigma=2.0)]).losses()
    >>> 0.125 in loss.mean, 0.25 in loss.variance
    (True, True)
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Losses) -> None:
        self._native = native

    @property
    def direction(self) -> Direction:
        """The direction: "remove" or "add"; "remove" where both have the same losses."""
        return self._native.direction

    @property
    def part(self) -> str | None:
        """The part of the data, or None for all of it."""
        return self._native.part

    @property
    def leak(self) -> Bracket:
        """The probability that the loss is infinite."""
        return self._native.leak

    @property
    def mean(self) -> Bracket:
        """The mean, given that the loss is finite."""
        return self._native.mean

    @property
    def variance(self) -> Bracket:
        """The variance, given that the loss is finite."""
        return self._native.variance

    @property
    def atoms(self) -> list[tuple[Bracket, Bracket]] | None:
        """All losses with their probabilities, from the largest down, if they are few; else None."""
        return self._native.atoms

    @overload
    def above(self, loss: float, *, tolerance: float | None = None, progress: Progress | None = None) -> Bracket: ...
    @overload
    def above(
        self, loss: ArrayLike, *, tolerance: float | None = None, progress: Progress | None = None
    ) -> Brackets: ...
    def above(
        self, loss: Any, *, tolerance: float | None = None, progress: Progress | None = None
    ) -> Bracket | Brackets:
        """The probability of a loss above a number, infinite losses included.

        Parameters
        ----------
        loss
            A number, or an array of them.
        tolerance
            The relative width of the bracket; 1e-6 is aimed at if None.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Bracket or Brackets
            The probability; an array of them for an array.

        Raises
        ------
        counterpoint.errors.ToleranceNotMetError
            The given tolerance could not be certified.
        """
        if is_scalar(loss):
            return self._native.above(loss, tolerance=tolerance, progress=progress)
        data, shape = packed("loss", loss)
        return unpacked(self._native.above_each(data, tolerance=tolerance, progress=progress), shape)

    def quantile(self, level: float, *, tolerance: float | None = None, progress: Progress | None = None) -> Bracket:
        """The least loss that is exceeded with probability at most 1 - level.

        Parameters
        ----------
        level
            A number from 0 up to but not including 1.
        tolerance
            The relative width of the bracket; 1e-6 is aimed at if None.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Bracket
            The loss.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The level is outside its range.
        """
        return self._native.quantile(level, tolerance=tolerance, progress=progress)

    def __repr__(self) -> str:
        part = "" if self.part is None else f", part={self.part!r}"
        return f"Losses(direction={self.direction!r}{part}, mean={self.mean}, variance={self.variance})"

"""Error rates of attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from .arrays import Brackets, is_scalar, packed, points, unpacked
from .errors import UndecidedError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from . import _native
    from ._native import Bracket
    from .arrays import Doubles
    from .names import Theorem

__all__ = ["Region", "Verdict"]


class Verdict(str):
    """A text "yes", "no" or "undecided" that is true, false or neither: ``bool()`` of "undecided" raises.

    Made by :meth:`Region.contains` and :meth:`Region.is_within`.

    Examples
    --------
    >>> bool(Verdict("no"))
    False
    >>> if Verdict("undecided"):
    ...     pass
    Traceback (most recent call last):
    ...
    counterpoint.errors.UndecidedError: it is undecided; legal: to look at what it is: "yes", "no" or "undecided"
    """

    __slots__ = ()

    def __bool__(self) -> bool:
        if self == "undecided":
            raise UndecidedError('it is undecided; legal: to look at what it is: "yes", "no" or "undecided"')
        return self == "yes"


class Region:
    """Every pair of false-alarm and miss rates that a test for one person's data can have.

    A polygon that contains every possible pair (``outer``), and one whose pairs are all certainly possible (``inner``).
    Made by :meth:`counterpoint.Plan.region`.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Region) -> None:
        self._native = native

    @property
    def outer(self) -> Doubles:
        """The vertices of the outer polygon: rows of false-alarm and miss rate."""
        return points(self._native.outer_points())

    @property
    def inner(self) -> Doubles:
        """The vertices of the inner polygon: rows of false-alarm and miss rate."""
        return points(self._native.inner_points())

    @overload
    def least_miss(self, false_alarm: float) -> Bracket: ...
    @overload
    def least_miss(self, false_alarm: ArrayLike) -> Brackets: ...
    def least_miss(self, false_alarm: Any) -> Bracket | Brackets:
        """The least miss rate of the tests with a false-alarm rate.

        Parameters
        ----------
        false_alarm
            A rate from 0 to 1, or an array of them.

        Returns
        -------
        Bracket or Brackets
            The miss rate. Its safe side is the lower end, which no attacker can beat.

        Raises
        ------
        counterpoint.InvalidArgumentError
            A rate is outside its range.
        """
        if is_scalar(false_alarm):
            return self._native.least_miss(false_alarm)
        data, shape = packed("false_alarm", false_alarm)
        return unpacked(self._native.least_misses(data), shape, "lower")

    def best_advantage(self, false_alarm: float) -> Bracket:
        """The best advantage, 1 - false alarm - miss, at a false-alarm rate.

        Parameters
        ----------
        false_alarm
            A rate from 0 to 1.

        Returns
        -------
        Bracket
            The advantage.
        """
        return self._native.best_advantage(false_alarm)

    def contains(self, false_alarm: float, miss: float) -> Verdict:
        """Decides if a test with these error rates exists.

        Parameters
        ----------
        false_alarm, miss
            The error rates, from 0 to 1.

        Returns
        -------
        Verdict
            "yes", "no" or "undecided".
        """
        return Verdict(self._native.contains(false_alarm, miss))

    def __contains__(self, rates: object) -> bool:
        """True if a test with these two error rates exists; raises :class:`counterpoint.errors.UndecidedError` if that is not known.
        """
        if not isinstance(rates, (tuple, list)) or len(rates) != 2:
            raise TypeError(f"{rates!r} is looked for in a region; legal: a false-alarm rate and a miss rate")
        return bool(self.contains(*rates))

    def is_within(self, other: Region) -> Verdict:
        """Decides if the other plan dominates this one: if each of this region's tests has its equal in the other region.

        Parameters
        ----------
        other
            The region of the other plan.

        Returns
        -------
        Verdict
            "yes", "no" or "undecided".

        Raises
        ------
        TypeError
            ``other`` is not a region.
        """
        if not isinstance(other, Region):
            raise TypeError(f"other is of type {type(other).__name__}; legal: a region")
        return Verdict(self._native.is_within(other._native))

    @property
    def total_variation(self) -> Bracket:
        """The largest advantage of any test."""
        return self._native.total_variation

    @property
    def area(self) -> Bracket:
        """The area between the trade-off curve and the line of blind guesses."""
        return self._native.area

    @property
    def is_finite(self) -> bool:
        """True if the polygons are the region itself, except for rounding."""
        return self._native.is_finite

    @property
    def theorem(self) -> Theorem:
        """The theorem that the region rests on."""
        return self._native.theorem

    def plot(self, *, ax: Any = None, **style: Any) -> Any:
        """Draws the region with matplotlib.

        Parameters
        ----------
        ax
            The axes to draw on; new ones if None.
        **style
            Keywords of matplotlib's ``plot`` for the curve.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.region(self, ax=ax, **style)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and self._native == other._native

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Region(total_variation={self.total_variation}, vertices={len(self.outer)})"

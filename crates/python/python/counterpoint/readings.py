"""What a plan means for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import _native
    from ._native import Bracket

__all__ = ["Readings"]


class Readings:
    """The success of attacks on a plan, and the plan as Gaussian privacy (GDP).

    The safe side of each bracket is the upper end. Made by :meth:`counterpoint.Plan.readings`.

    Examples
    --------
    >>> import counterpoint as cp
    >>> readings = cp.compose([cp.Gaussian(sigma=2.0) * 4]).readings()
    >>> 1.0 in readings.mu
    True
    >>> print(f"{readings.accuracy.upper:.4f}")
    0.6915
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Readings) -> None:
        self._native = native

    @property
    def advantage(self) -> Bracket:
        """The largest advantage of a test: its rate of true alarms less that of false alarms."""
        return self._native.advantage

    @property
    def accuracy(self) -> Bracket:
        """The largest probability of guessing correctly which of two neighbouring data sets was used."""
        return self._native.accuracy

    @property
    def detection(self) -> list[tuple[float, Bracket]]:
        """False-alarm rates, each with the largest rate of true alarms."""
        return self._native.detection

    @property
    def reconstruction(self) -> Bracket:
        """The largest probability of a successful reconstruction of a person's data."""
        return self._native.reconstruction

    @property
    def mu(self) -> Bracket:
        """The least mu of Gaussian privacy that holds for every delta of at least the floor; infinite if there is none."""
        return self._native.mu

    @property
    def mu_everywhere(self) -> Bracket:
        """The least mu without a floor. The upper end is infinite if there is none, or if none is proved."""
        return self._native.mu_everywhere

    @property
    def regret(self) -> Bracket:
        """The distance between the trade-off curves of mu and of the plan (Gomez and others 2025)."""
        return self._native.regret

    @property
    def prior(self) -> float:
        """The probability of one of the two data sets before the answers are seen."""
        return self._native.assumptions[0]

    @property
    def chance(self) -> float:
        """The probability of a successful reconstruction without the answers."""
        return self._native.assumptions[1]

    @property
    def floor(self) -> float:
        """The least delta for which ``mu`` is meant to hold."""
        return self._native.assumptions[2]

    def __repr__(self) -> str:
        return f"Readings(advantage={self.advantage}, mu={self.mu}, floor={self.floor:g}, regret={self.regret})"

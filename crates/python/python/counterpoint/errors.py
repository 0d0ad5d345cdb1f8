"""What can go wrong.

Everything raised on purpose derives from :class:`CounterpointError`, and from :class:`ValueError` where
an argument is to blame. An argument of the wrong type is a :class:`TypeError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import Answer

__all__ = [
    "Busy",
    "ChargedAndFailed",
    "CounterpointError",
    "IllegalQuestion",
    "InvalidArgument",
    "KeyInUse",
    "LedgerError",
    "NoFiniteEpsilon",
    "NoRandomness",
    "NotAllowed",
    "NotFound",
    "OutOfReach",
    "OverBudget",
    "Refused",
    "Refuted",
    "ServiceError",
    "SessionEnded",
    "SessionOver",
    "Stopped",
    "ToleranceNotMet",
    "Undecided",
    "Unreachable",
    "Unsupported",
]


class CounterpointError(Exception):
    """The root of them all."""


class InvalidArgument(CounterpointError, ValueError):
    """An argument outside of its legal range. The text names it, its value and the range."""


class Unsupported(InvalidArgument, NotImplementedError):
    """Something from another library that has no certified counterpart here. The text says why."""


class NoFiniteEpsilon(CounterpointError, ValueError):
    """No finite epsilon holds at this delta: the releases leak more, or losses are unbounded."""

    least: float | None = None
    """The least delta with a finite epsilon, rounded up, where it is known."""


class OutOfReach(CounterpointError, ValueError):
    """Nothing in the legal range meets the target of a calibration."""


class Refuted(CounterpointError, ValueError):
    """A mechanism or system has not the guarantee that is claimed of it, which an event shows."""

    detail: dict[str, Any] = {}
    """The claim, the ``event``, and its probabilities ``p`` and ``q``."""


class ToleranceNotMet(CounterpointError, ArithmeticError):
    """No bracket as narrow as asked for could be certified."""

    achieved: float | None = None
    """The relative width that was reached."""

    best: Answer | None = None
    """The best answer there is, sound but wider than was asked for."""


class Undecided(CounterpointError, ValueError):
    """Nothing certified says whether it is so. It is neither true nor false, so that it passes for neither."""


class Stopped(CounterpointError):
    """A progress function returned False."""


class LedgerError(CounterpointError):
    """The ledger could not do it; nothing was written, or it stopped for good."""


class Refused(LedgerError):
    """A budget does not allow it. Nothing was debited."""

    detail: dict[str, str] = {}
    """Whose budget (``by``), ``what``, and the amounts ``asked``, ``left`` and ``capacity``."""


class NoRandomness(CounterpointError, OSError):
    """The operating system has no secure randomness. Nothing was drawn; a session that asked has ended."""


class SessionEnded(CounterpointError):
    """The session gives no more answers: it has given all of them, or was closed."""


class ServiceError(CounterpointError):
    """A service did not answer. What it says never depends on the data."""

    def __init__(self, detail: str, code: str = "failed", status: int | None = None) -> None:
        super().__init__(detail, code, status)
        self.detail = detail
        """What exactly, and what would be legal."""
        self.code = code
        """The kind of problem: a name that does not change."""
        self.status = status
        """The status of HTTP; None if nothing came back."""

    def __str__(self) -> str:
        return f"{self.detail} ({self.code})"


class OverBudget(ServiceError):
    """A budget does not allow it. Nothing was charged."""


class IllegalQuestion(ServiceError, ValueError):
    """It cannot be asked. Nothing was charged."""


class NotAllowed(ServiceError):
    """The token is not valid, or for something else."""


class NotFound(ServiceError):
    """It is not there, or not yours: a service does not say which."""


class KeyInUse(ServiceError):
    """The key stands for another question, or another session."""


class SessionOver(ServiceError):
    """The session gives no more answers."""


class Busy(ServiceError):
    """Too much was asked at once, for as long as was waited. Asked again, nothing is charged twice."""


class ChargedAndFailed(ServiceError):
    """It was charged, and could not be answered, however often it was tried. Asked again, it is not charged again."""


class Unreachable(ServiceError, ConnectionError):
    """The service could not be reached, however often it was tried. Asked again, nothing is charged twice."""

"""The exceptions of the package: one tree under :class:`CounterpointError`.

Bad arguments are also a :class:`ValueError`; an argument of the wrong type is a plain :class:`TypeError`. Their
earlier names, without ``Error`` at the end, still work and warn: ``Refused`` is :class:`RefusedError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._deprecated import renamed

if TYPE_CHECKING:
    from ._native import Answer

__all__ = [
    "AnswerError",
    "BusyError",
    "ChargedAndFailedError",
    "CounterpointError",
    "IllegalQuestionError",
    "InvalidArgumentError",
    "KeyInUseError",
    "LedgerError",
    "NoFiniteEpsilonError",
    "NoRandomnessError",
    "NotAllowedError",
    "NotFoundError",
    "OutOfReachError",
    "OverBudgetError",
    "RefusedError",
    "RefutedError",
    "ServiceError",
    "SessionEndedError",
    "SessionOverError",
    "StoppedError",
    "ToleranceNotMetError",
    "UndecidedError",
    "UnreachableError",
    "UnsupportedError",
]


class CounterpointError(Exception):
    """The base class of every exception that the package raises on purpose."""


class InvalidArgumentError(CounterpointError, ValueError):
    """An argument is outside its legal range. The text names the argument, its value and the range."""


class UnsupportedError(InvalidArgumentError, NotImplementedError):
    """An object of another library has no certified counterpart here. The text says why."""


class AnswerError(CounterpointError):
    """A legal question about privacy has no certified answer, or none of the requested kind."""


class NoFiniteEpsilonError(AnswerError, ValueError):
    """No finite epsilon holds at this delta: the releases leak more, or their losses are unbounded."""

    least: float | None = None
    """The least delta with a finite epsilon, rounded up, if it is known."""


class OutOfReachError(AnswerError, ValueError):
    """No value in the legal range meets the target of a calibration or of a study."""


class RefutedError(AnswerError, ValueError):
    """A mechanism or system does not have the guarantee that is claimed of it. An event proves this."""

    detail: dict[str, Any] = {}
    """The claim, the ``event``, and the event's probabilities ``p`` and ``q``."""


class ToleranceNotMetError(AnswerError, ArithmeticError):
    """No bracket as narrow as the requested tolerance could be certified."""

    achieved: float | None = None
    """The relative width that was reached."""

    best: Answer | None = None
    """The narrowest certified answer. It is sound, but wider than requested."""


class UndecidedError(AnswerError, ValueError):
    """The certified bounds do not decide a comparison, so it is neither true nor false."""


class StoppedError(CounterpointError):
    """A progress function returned False, which stopped the computation."""


class NoRandomnessError(CounterpointError, OSError):
    """The operating system has no secure randomness. No noise was drawn. A session that needed it has ended."""


class SessionEndedError(CounterpointError):
    """The session gives no more answers: it has given all of them, or was closed."""


class LedgerError(CounterpointError):
    """The ledger could not do what was requested. Nothing was written, or the ledger handle refuses further calls."""


class RefusedError(LedgerError):
    """A budget does not allow the release. Nothing was debited."""

    detail: dict[str, str] = {}
    """The account or slot that refused (``by``), ``what`` was counted, and the amounts ``asked``, ``left`` and ``capacity``."""


class ServiceError(CounterpointError):
    """A curator service did not answer. The text of the error never depends on the data.

    Parameters
    ----------
    detail
        The problem, and what would be legal.
    code
        The kind of problem: a name that does not change between versions.
    status
        The HTTP status; None if no response was received.
    """

    def __init__(self, detail: str, code: str = "failed", status: int | None = None) -> None:
        super().__init__(detail, code, status)
        self.detail = detail
        """The problem, and what would be legal."""
        self.code = code
        """The kind of problem: a name that does not change between versions."""
        self.status = status
        """The HTTP status; None if no response was received."""

    def __str__(self) -> str:
        return f"{self.detail} ({self.code})"


class OverBudgetError(ServiceError):
    """A budget does not allow the question. Nothing was charged."""


class IllegalQuestionError(ServiceError, ValueError):
    """The question cannot be asked of this table. Nothing was charged."""


class NotAllowedError(ServiceError):
    """The token is not valid, or its role does not allow the request."""


class NotFoundError(ServiceError):
    """The object does not exist or belongs to somebody else. A service does not say which."""


class KeyInUseError(ServiceError):
    """The key stands for another question, or for another session."""


class SessionOverError(ServiceError):
    """The service's session gives no more answers."""


class BusyError(ServiceError):
    """The service was too busy for as long as the client waited. Asking again charges nothing twice."""


class ChargedAndFailedError(ServiceError):
    """The question was charged, but every attempt to answer it failed. Asking again charges nothing."""


class UnreachableError(ServiceError, ConnectionError):
    """No attempt reached the service. Asking again charges nothing twice."""


if not TYPE_CHECKING:
    _KEPT = ("AnswerError", "CounterpointError", "LedgerError", "ServiceError")
    RENAMED = {name.removesuffix("Error"): name for name in __all__ if name not in _KEPT}
    __getattr__ = renamed(__name__, RENAMED)

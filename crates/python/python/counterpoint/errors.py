"""What can go wrong.

Everything raised on purpose derives from :class:`CounterpointError`, and from :class:`ValueError` where
an argument is to blame. An argument of the wrong type is a :class:`TypeError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import Answer

__all__ = [
    "CounterpointError",
    "InvalidArgument",
    "LedgerError",
    "NoFiniteEpsilon",
    "OutOfReach",
    "Refused",
    "Stopped",
    "ToleranceNotMet",
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


class ToleranceNotMet(CounterpointError, ArithmeticError):
    """No bracket as narrow as asked for could be certified."""

    achieved: float | None = None
    """The relative width that was reached."""

    best: Answer | None = None
    """The best answer there is, sound but wider than was asked for."""


class Stopped(CounterpointError):
    """A progress function returned False."""


class LedgerError(CounterpointError):
    """The ledger could not do it; nothing was written, or it stopped for good."""


class Refused(LedgerError):
    """A budget does not allow it. Nothing was debited."""

    detail: dict[str, str] = {}
    """Whose budget (``by``), ``what``, and the amounts ``asked``, ``left`` and ``capacity``."""

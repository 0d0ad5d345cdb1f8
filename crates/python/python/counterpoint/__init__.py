"""Certified composition for differential privacy.

>>> import counterpoint as cp
>>> plan = cp.compose([cp.ApproxDP(0.25, 1e-9) * 12, cp.Laplace(scale=10) * 40])
>>> epsilon = plan.epsilon(1e-6)
>>> epsilon.lower <= float(epsilon) == epsilon.upper < 0.25 * 12 + 0.1 * 40
True

Every number is a bracket that contains the truth, rounding included; as a float it is its safe
side. :func:`compose` makes a :class:`Plan`, which answers questions; :func:`plan_study` makes one from
wanted errors; :func:`release` takes rows to published numbers; :mod:`counterpoint.noise` and :mod:`counterpoint.sessions` draw what is charged; :func:`calibrate`,
:func:`audit` and :class:`Ledger` do what their names say. :func:`connect` asks a curator about tables. ``counterpoint.integrations`` speaks to dp-accounting, Opacus and OpenDP.
"""

from typing import TYPE_CHECKING

from . import noise, sessions
from ._native import Answer, Audit, Bracket, Mechanism, audit
from .arrays import Brackets
from .calibration import Calibration, calibrate
from .errors import (
    Busy,
    ChargedAndFailed,
    CounterpointError,
    IllegalQuestion,
    InvalidArgument,
    KeyInUse,
    LedgerError,
    NoFiniteEpsilon,
    NoRandomness,
    NotAllowed,
    NotFound,
    OutOfReach,
    OverBudget,
    Refused,
    Refuted,
    ServiceError,
    SessionEnded,
    SessionOver,
    Stopped,
    ToleranceNotMet,
    Undecided,
    Unreachable,
    Unsupported,
)
from .ledger import Ledger
from .losses import Losses
from .mechanisms import (
    GDP,
    RDP,
    TCDP,
    UNKNOWN,
    ZCDP,
    AboveThreshold,
    ApproxDP,
    Cells,
    DiscreteGaussian,
    Exponential,
    Finite,
    Gaussian,
    GaussianAllocation,
    GaussianBatch,
    GaussianDraws,
    GaussianMixture,
    GaussianSubset,
    Geometric,
    Laplace,
    NameAndShame,
    RandomizedResponse,
    SparseVector,
    Staircase,
)
from .plan import Comparison, Plan, PreciseAnswer, compose, load
from .publication import Publication, release
from .region import Region, Verdict
from .rules import convert, noise_rules, pairs
from .simulation import simulate, sketch
from .study import Planned, PlannedStatistic, plan_study, study_new

if TYPE_CHECKING:
    from .client import Client, Condition, Question, Session, column, connect
else:

    def __getattr__(name: str) -> object:
        """What asks a curator is imported when it is first needed."""
        from importlib import import_module

        if name not in ("Client", "Condition", "Question", "Session", "client", "column", "connect"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        client = import_module(".client", __name__)
        found = client if name == "client" else getattr(client, name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})


__version__ = "0.1.0"

__all__ = [
    "GDP",
    "RDP",
    "TCDP",
    "UNKNOWN",
    "ZCDP",
    "AboveThreshold",
    "Answer",
    "ApproxDP",
    "Audit",
    "Bracket",
    "Brackets",
    "Busy",
    "Calibration",
    "ChargedAndFailed",
    "Client",
    "Comparison",
    "Condition",
    "CounterpointError",
    "Cells",
    "DiscreteGaussian",
    "Exponential",
    "Finite",
    "Gaussian",
    "GaussianAllocation",
    "GaussianBatch",
    "GaussianDraws",
    "GaussianMixture",
    "GaussianSubset",
    "Geometric",
    "IllegalQuestion",
    "InvalidArgument",
    "KeyInUse",
    "Laplace",
    "Ledger",
    "LedgerError",
    "Losses",
    "Mechanism",
    "NameAndShame",
    "NoFiniteEpsilon",
    "NoRandomness",
    "NotAllowed",
    "NotFound",
    "OutOfReach",
    "OverBudget",
    "Plan",
    "Planned",
    "PlannedStatistic",
    "PreciseAnswer",
    "Publication",
    "Question",
    "RandomizedResponse",
    "Refused",
    "Refuted",
    "Region",
    "ServiceError",
    "Session",
    "SessionEnded",
    "SessionOver",
    "SparseVector",
    "Staircase",
    "Stopped",
    "ToleranceNotMet",
    "Undecided",
    "Unreachable",
    "Unsupported",
    "Verdict",
    "audit",
    "calibrate",
    "column",
    "compose",
    "connect",
    "convert",
    "load",
    "noise",
    "noise_rules",
    "pairs",
    "plan_study",
    "release",
    "sessions",
    "simulate",
    "sketch",
    "study_new",
]

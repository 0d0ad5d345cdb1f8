"""Certified composition for differential privacy.

>>> import counterpoint as cp
>>> plan = cp.compose([cp.ApproxDP(0.25, 1e-9) * 12, cp.Laplace(scale=10) * 40])
>>> epsilon = plan.epsilon(1e-6)
>>> epsilon.lower <= float(epsilon) == epsilon.upper < 0.25 * 12 + 0.1 * 40
True

Every number is a bracket that contains the truth, rounding included; as a float it is its safe
side. :func:`compose` makes a :class:`Plan`, which answers questions; :func:`plan_study` makes one from
wanted errors; :func:`calibrate`, :func:`audit` and :class:`Ledger` do what their names say. :func:`connect` asks a
curator about tables. ``counterpoint.integrations`` speaks to dp-accounting, Opacus and OpenDP.
"""

from ._native import Answer, Audit, Bracket, Mechanism, audit
from .arrays import Brackets
from .calibration import Calibration, calibrate
from .client import Client, Session, connect
from .errors import (
    Busy,
    ChargedAndFailed,
    CounterpointError,
    IllegalQuestion,
    InvalidArgument,
    KeyInUse,
    LedgerError,
    NoFiniteEpsilon,
    NotAllowed,
    NotFound,
    OutOfReach,
    OverBudget,
    Refused,
    ServiceError,
    SessionOver,
    Stopped,
    ToleranceNotMet,
    Unreachable,
    Unsupported,
)
from .ledger import Ledger
from .losses import Losses
from .mechanisms import (
    GDP,
    RDP,
    TCDP,
    ZCDP,
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
from .plan import Comparison, Plan, compose, load
from .question import Condition, Question, column
from .region import Region
from .study import Planned, PlannedStatistic, plan_study

__version__ = "0.1.0"

__all__ = [
    "GDP",
    "RDP",
    "TCDP",
    "ZCDP",
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
    "NotAllowed",
    "NotFound",
    "OutOfReach",
    "OverBudget",
    "Plan",
    "Planned",
    "PlannedStatistic",
    "Question",
    "RandomizedResponse",
    "Refused",
    "Region",
    "ServiceError",
    "Session",
    "SessionOver",
    "SparseVector",
    "Staircase",
    "Stopped",
    "ToleranceNotMet",
    "Unreachable",
    "Unsupported",
    "audit",
    "calibrate",
    "column",
    "compose",
    "connect",
    "load",
    "plan_study",
]

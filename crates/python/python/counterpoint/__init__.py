"""Certified composition for differential privacy.

>>> import counterpoint as cp
>>> plan = cp.compose([cp.ApproxDP(0.25, 1e-9) * 12, cp.Laplace(scale=10) * 40])
>>> epsilon = plan.epsilon(1e-6)
>>> epsilon.lower <= float(epsilon) == epsilon.upper < 0.25 * 12 + 0.1 * 40
True

Every number is a bracket that contains the true value, rounding included; ``float()`` of a bracket is its safe end.

- :func:`compose` makes a :class:`Plan`, which computes epsilon, delta, error rates and losses. :func:`calibrate` finds noise
  for a target, :func:`audit` bounds epsilon from below.
- :func:`plan_study` makes a plan from requested errors; :func:`release` takes rows to published numbers.
- :mod:`counterpoint.noise` and :mod:`counterpoint.sessions` run mechanisms, exactly as they are charged.
- :class:`Ledger` keeps durable budgets; :func:`connect` asks a curator about tables.
- :mod:`counterpoint.recorder` compares a training loop with its plan.
- :mod:`counterpoint.errors` has all exceptions; ``counterpoint.integrations`` adapts dp-accounting, Opacus and OpenDP.
"""

from typing import TYPE_CHECKING

from . import errors as errors, noise as noise, sessions as sessions
from ._native import Answer as Answer, Audit as Audit, Bracket as Bracket, audit as audit
from .arrays import *
from .calibration import *
from .errors import AnswerError as AnswerError, CounterpointError as CounterpointError
from .errors import InvalidArgumentError as InvalidArgumentError, LedgerError as LedgerError
from .errors import NoRandomnessError as NoRandomnessError, ServiceError as ServiceError
from .errors import SessionEndedError as SessionEndedError, StoppedError as StoppedError
from .ledger import Ledger as Ledger
from .losses import *
from .mechanisms import *
from .plan import *
from .publication import *
from .readings import *
from .region import *
from .rules import *
from .simulation import *
from .study import PlannedStatistic as PlannedStatistic, PlannedStudy as PlannedStudy, plan_study as plan_study
from .study import study_new as study_new

if TYPE_CHECKING:
    from .client import Client as Client, Condition as Condition, Question as Question, RemoteSession as RemoteSession
    from .client import column as column, connect as connect
else:
    from ._deprecated import renamed

    _CLIENT = ("Client", "Condition", "Question", "RemoteSession", "column", "connect")
    _ERRORS = ["AnswerError", "CounterpointError", "InvalidArgumentError", "LedgerError", "NoRandomnessError", "ServiceError"]
    _ERRORS += ["SessionEndedError", "StoppedError"]
    _renamed = renamed(__name__, {
        **{old: new if new in _ERRORS else f"errors.{new}" for old, new in errors.RENAMED.items()},
        "Planned": "PlannedStudy",
        "Session": "RemoteSession",
    })

    def __getattr__(name: str) -> object:
        """Imports the curator's client when it is first used; finds names of earlier versions."""
        from importlib import import_module

        if name not in _CLIENT and name != "client":
            return _renamed(name)
        client = import_module(".client", __name__)
        found = client if name == "client" else getattr(client, name)
        globals()[name] = found
        return found

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})

    __all__ = ["Answer", "Audit", "Bracket", "Ledger", "PlannedStatistic", "PlannedStudy", *_CLIENT, *_ERRORS]
    __all__ += ["audit", "errors", "noise", "plan_study", "sessions", "study_new"]
    for _part in (arrays, calibration, losses, mechanisms, plan, publication, readings, region, rules, simulation):
        __all__ += _part.__all__


__version__ = "0.1.0"

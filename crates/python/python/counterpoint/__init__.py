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

from . import noise as noise, sessions as sessions
from ._native import Answer as Answer, Audit as Audit, Bracket as Bracket, audit as audit
from .arrays import *
from .calibration import *
from .errors import *
from .ledger import Ledger as Ledger
from .losses import *
from .mechanisms import *
from .plan import *
from .publication import *
from .region import *
from .rules import *
from .simulation import *
from .study import Planned as Planned, PlannedStatistic as PlannedStatistic, plan_study as plan_study
from .study import study_new as study_new

if TYPE_CHECKING:
    from .client import Client as Client, Condition as Condition, Question as Question, Session as Session
    from .client import column as column, connect as connect
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

    __all__ = ["Answer", "Audit", "Bracket", "Client", "Condition", "Ledger", "Planned", "PlannedStatistic", "Question"]
    __all__ += ["Session", "audit", "column", "connect", "noise", "plan_study", "sessions", "study_new"]
    for _part in (arrays, calibration, errors, losses, mechanisms, plan, publication, region, rules, simulation):
        __all__ += _part.__all__


__version__ = "0.1.0"

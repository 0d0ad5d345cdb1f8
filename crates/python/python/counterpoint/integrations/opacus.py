"""Certified accounting for Opacus, by one argument.

    import counterpoint.integrations.opacus
    engine = opacus.PrivacyEngine(accountant="counterpoint")

Importing this module registers the accountant, for ``PrivacyEngine`` and for
``opacus.accountants.utils.get_noise_multiplier``. It holds for what Opacus does by default: Poisson
samples, and data sets that differ by one example more or less. With ``poisson_sampling=False`` no
number holds, here or in Opacus' own accountants. Opacus 1.4 to 1.6.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import opacus.accountants as accountants
import opacus.accountants.utils
import opacus.privacy_engine  # noqa: F401  both hold a name of their own for create_accountant

from .._native import Bracket
from ..errors import InvalidArgument
from ..mechanisms import Gaussian
from ..plan import Plan, compose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

__all__ = ["NAME", "CounterpointAccountant"]

NAME = "counterpoint"
"""What to call it in Opacus."""


class CounterpointAccountant(accountants.IAccountant):  # type: ignore[misc]
    """Opacus' accountant whose epsilon is the upper end of a certified bracket."""

    history: list[tuple[float, float, int]]
    """Noise multiplier, sample rate and number of steps, as in Opacus' own accountants."""

    def __init__(self) -> None:
        super().__init__()
        self.history = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Takes note of one optimization step."""
        steps = 1
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            steps += self.history.pop()[2]
        self.history.append((noise_multiplier, sample_rate, steps))

    def plan(self) -> Plan:
        """The steps so far as a plan, of which anything can be asked."""
        steps = [Gaussian(sigma, rate=rate, count=count) for sigma, rate, count in self.history]
        return compose(steps, adjacency="add-remove")

    def epsilon_bracket(self, delta: float, *, tolerance: float | None = None) -> Bracket:
        """Two numbers with the exact epsilon between them.

        Their relative width is at most ``tolerance``. Without one it is 1e-6, or as narrow as can be
        certified: a few steps with hardly any noise are the hard case.
        """
        if not self.history:
            return Bracket(0.0, 0.0)
        if any(sigma == 0 for sigma, _, _ in self.history):
            return Bracket(math.inf, math.inf)
        return self.plan().epsilon(delta, tolerance=tolerance)

    def get_epsilon(self, delta: float, *, tolerance: float | None = None, **others: Any) -> float:
        """The epsilon spent so far, from above.

        Opacus hands on the keywords of its other accountants, such as ``alphas``; they mean nothing here.
        """
        return self.epsilon_bracket(delta, tolerance=tolerance).upper

    def __len__(self) -> int:
        """How many steps were taken."""
        return sum(count for _, _, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name it is registered under."""
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """What Opacus calls after each step of its optimizer."""
        step: Callable[[Any], None] = super().get_optimizer_hook_fn(sample_rate)

        def hook(optimizer: Any) -> None:
            # Opacus forbids this with Poisson samples, so these are none.
            if optimizer.accumulated_iterations > 1:
                warnings.warn(
                    "gradients of several batches in one step: not a Poisson sample, so no epsilon holds",
                    stacklevel=2,
                )
            step(optimizer)

        return hook

    def state_dict(self, destination: MutableMapping[str, Any] | None = None) -> MutableMapping[str, Any]:
        """The history and the accountant's name, as plain data."""
        state = OrderedDict[str, Any]() if destination is None else destination
        state["history"] = list(self.history)
        state["mechanism"] = NAME
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Takes a history over, if it is of this accountant and makes sense."""
        name = state_dict.get("mechanism") if state_dict else None
        if name != NAME or "history" not in state_dict:
            raise InvalidArgument(f"state_dict is of mechanism {name!r}; legal: a state of {NAME!r}")
        history = []
        for place, entry in enumerate(state_dict["history"]):
            if len(entry) != 3:
                raise InvalidArgument(f"history[{place}] is {entry!r}; legal: noise multiplier, rate, steps")
            sigma, rate, count = entry
            try:
                Gaussian(sigma or 1.0, rate=rate, count=count)  # no noise at all is legal here
            except (TypeError, ValueError) as error:
                raise InvalidArgument(f"history[{place}] is {entry!r}: {error}") from None
            history.append((sigma, rate, count))
        self.history = history


def _register() -> None:
    if hasattr(accountants, "register_accountant"):
        accountants.register_accountant(NAME, CounterpointAccountant, force=True)
        return
    # Before 1.6 Opacus has no register, but one function that knows them all.
    known = accountants.create_accountant

    def create_accountant(mechanism: str) -> Any:
        return CounterpointAccountant() if mechanism == NAME else known(mechanism)

    for name in ("opacus.accountants", "opacus.accountants.utils", "opacus.privacy_engine"):
        setattr(sys.modules[name], "create_accountant", create_accountant)


_register()

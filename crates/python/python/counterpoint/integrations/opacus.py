"""Adapter for Opacus: certified accounting, by one argument.

    import counterpoint.integrations.opacus
    engine = opacus.PrivacyEngine(accountant="counterpoint")

Importing this module registers the accountant, for ``PrivacyEngine`` and for
``opacus.accountants.utils.get_noise_multiplier``. Its numbers hold for Opacus' defaults: Poisson samples, and data sets
that differ by one example more or less. With ``poisson_sampling=False`` no number holds, here or in Opacus' own
accountants. Opacus 1.4 to 1.6.
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
from ..errors import InvalidArgumentError
from ..mechanisms import Gaussian
from ..plan import Plan, compose

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

__all__ = ["NAME", "CounterpointAccountant"]

NAME = "counterpoint"
"""The accountant's name in Opacus."""


class CounterpointAccountant(accountants.IAccountant):  # type: ignore[misc]
    """Opacus' accountant whose epsilon is the upper end of a certified bracket."""

    history: list[tuple[float, float, int]]
    """Noise multiplier, sample rate and number of steps, as in Opacus' own accountants."""

    def __init__(self) -> None:
        super().__init__()
        self.history = []

    def step(self, *, noise_multiplier: float, sample_rate: float) -> None:
        """Records one optimization step.

        Parameters
        ----------
        noise_multiplier
            The noise multiplier.
        sample_rate
            The sample rate.
        """
        steps = 1
        if self.history and self.history[-1][:2] == (noise_multiplier, sample_rate):
            steps += self.history.pop()[2]
        self.history.append((noise_multiplier, sample_rate, steps))

    def plan(self) -> Plan:
        """The steps so far as a plan.

        Returns
        -------
        Plan
            The plan.
        """
        steps = [Gaussian(sigma, rate=rate, count=count) for sigma, rate, count in self.history]
        return compose(steps, adjacency="add-remove")

    def epsilon_bracket(self, delta: float, *, tolerance: float | None = None) -> Bracket:
        """The bracket of the epsilon spent so far.

        Parameters
        ----------
        delta
            The delta.
        tolerance
            The relative width of the bracket. If None, 1e-6 is aimed at: a few steps with hardly any noise are the hard
            case.

        Returns
        -------
        Bracket
            The epsilon.
        """
        if not self.history:
            return Bracket(0.0, 0.0)
        if any(sigma == 0 for sigma, _, _ in self.history):
            return Bracket(math.inf, math.inf)
        return self.plan().epsilon(delta, tolerance=tolerance)

    def get_epsilon(self, delta: float, *, tolerance: float | None = None, **others: Any) -> float:
        """The upper end of the epsilon spent so far.

        Parameters
        ----------
        delta
            The delta.
        tolerance
            The relative width of the bracket; 1e-6 is aimed at if None.
        **others
            Keywords of Opacus' other accountants, such as ``alphas``, which have no effect.

        Returns
        -------
        float
            The epsilon.
        """
        return self.epsilon_bracket(delta, tolerance=tolerance).upper

    def __len__(self) -> int:
        """The number of steps so far."""
        return sum(count for _, _, count in self.history)

    @classmethod
    def mechanism(cls) -> str:
        """The name that the accountant is registered under.

        Returns
        -------
        str
            "counterpoint".
        """
        return NAME

    def get_optimizer_hook_fn(self, sample_rate: float) -> Callable[[Any], None]:
        """The function that Opacus calls after each step of its optimizer.

        Parameters
        ----------
        sample_rate
            The sample rate.

        Returns
        -------
        callable
            The function.
        """
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
        """The history and the accountant's name, as plain data.

        Parameters
        ----------
        destination
            A mapping to fill; a new one if None.

        Returns
        -------
        dict
            The state.
        """
        state = OrderedDict[str, Any]() if destination is None else destination
        state["history"] = list(self.history)
        state["mechanism"] = NAME
        return state

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Restores a history.

        Parameters
        ----------
        state_dict
            A state of this accountant.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The state is another accountant's, or not legal.
        """
        name = state_dict.get("mechanism") if state_dict else None
        if name != NAME or "history" not in state_dict:
            raise InvalidArgumentError(f"state_dict is of mechanism {name!r}; legal: a state of {NAME!r}")
        history = []
        for place, entry in enumerate(state_dict["history"]):
            if len(entry) != 3:
                raise InvalidArgumentError(f"history[{place}] is {entry!r}; legal: noise multiplier, rate, steps")
            sigma, rate, count = entry
            try:
                Gaussian(sigma or 1.0, rate=rate, count=count)  # no noise at all is legal here
            except (TypeError, ValueError) as error:
                raise InvalidArgumentError(f"history[{place}] is {entry!r}: {error}") from None
            history.append((sigma, rate, count))
        self.history = history


def _register() -> None:
    if hasattr(accountants, "register_accountant"):
        accountants.register_accountant(NAME, CounterpointAccountant, force=True)
        return
    # Before 1.6 Opacus has no register, but one function that makes every accountant.
    known = accountants.create_accountant

    def create_accountant(mechanism: str) -> Any:
        return CounterpointAccountant() if mechanism == NAME else known(mechanism)

    for name in ("opacus.accountants", "opacus.accountants.utils", "opacus.privacy_engine"):
        setattr(sys.modules[name], "create_accountant", create_accountant)


_register()

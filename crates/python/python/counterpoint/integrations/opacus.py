"""Adapter for Opacus: certified accounting, by one argument.

    import counterpoint.integrations.opacus
    engine = opacus.PrivacyEngine(accountant="counterpoint")

Importing this module registers the accountant, for ``PrivacyEngine`` and for
``opacus.accountants.utils.get_noise_multiplier``. Its numbers hold for Opacus' defaults: Poisson samples, and data sets
that differ by one example more or less. With ``poisson_sampling=False`` no number holds, here or in Opacus' own
accountants. Opacus 1.4 to 1.6.

:func:`attach` lets a :class:`counterpoint.recorder.Recorder` observe what the training loop really does.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections import OrderedDict, deque
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import opacus.accountants as accountants
import opacus.accountants.utils
import opacus.privacy_engine  # noqa: F401  both hold a name of their own for create_accountant

from .._native import Bracket
from ..errors import InvalidArgumentError, UnsupportedError
from ..mechanisms import Gaussian
from ..plan import Plan, compose
from ..recorder import Recorder, norm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, MutableMapping

    from numpy.typing import NDArray

    Indices = NDArray[np.int64]

__all__ = ["NAME", "CounterpointAccountant", "attach"]

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


def attach(recorder: Recorder, optimizer: Any, data_loader: Any) -> None:
    """Lets a recorder observe a training loop of Opacus.

    Call this function after ``make_private`` and before the loop; ``BatchMemoryManager`` comes after it. The recorder
    then gets the batches that the data loader draws, the sums of the clipped gradients, the noise that is really added,
    and the number that the sum is really divided by. Data that are read without gradients (``torch.no_grad``) do not
    count as batches. A step keeps two copies of the gradients.

    Parameters
    ----------
    recorder
        The recorder.
    optimizer
        The optimizer of ``make_private``.
    data_loader
        The data loader of ``make_private``.

    Raises
    ------
    counterpoint.errors.UnsupportedError
        The optimizer has no gradients of single examples or is one of several processes, or the data loader has no
        sampler of batches.
    """
    if hasattr(optimizer, "world_size"):
        raise UnsupportedError("optimizer is one of several processes; legal: training in one process")
    if hasattr(optimizer, "accumulate"):
        raise UnsupportedError("optimizer has no gradients of single examples; legal: grad_sample_mode without ghost")
    if getattr(data_loader, "batch_sampler", None) is None:
        raise UnsupportedError("data_loader has no batch_sampler; legal: a data loader that draws batches by index")
    _Observer(recorder, optimizer, data_loader)


class _Observer:
    """The hooks in an optimizer and in a sampler, between two steps."""

    def __init__(self, recorder: Recorder, optimizer: Any, data_loader: Any) -> None:
        self.recorder, self.optimizer = recorder, optimizer
        self.drawn: deque[Indices] = deque()
        self.draws_ahead = data_loader.num_workers > 0
        self.size = 0
        self.before: list[Any] = []
        self.after: list[Any] = []
        self.clip, optimizer.clip_and_accumulate = optimizer.clip_and_accumulate, self.accumulate
        self.add_noise, optimizer.add_noise = optimizer.add_noise, self.noise
        self.hook = optimizer.step_hook
        optimizer.attach_step_hook(self.step)
        sampler = data_loader.batch_sampler
        drawing, draw = type(sampler), self.draw

        class Watched(drawing):  # type: ignore[misc, valid-type]
            def __iter__(self) -> Iterator[Any]:
                return draw(super().__iter__())

        # A data loader forbids another sampler, and libraries look at the class of this one.
        sampler.__class__ = Watched

    def draw(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Keeps the batches of an epoch."""
        torch = import_module("torch")  # it may have no types, or not be there for a type checker
        self.leave()
        for batch in batches:
            if torch.is_grad_enabled():
                self.drawn.append(np.asarray(batch, dtype=np.int64))
            yield batch
        if not self.draws_ahead:
            self.leave()

    def leave(self) -> None:
        """Ends an epoch. Batches without a step were skipped, unless workers drew them ahead for a loop that ended."""
        while self.drawn:
            rows = self.drawn.popleft()
            if not self.draws_ahead:
                self.recorder.skip(rows)

    def accumulate(self) -> None:
        """Clips the gradients of a batch, or of a part of it, and keeps what this adds to the sum."""
        params = self.optimizer.params
        earlier = [None if param.summed_grad is None else param.summed_grad.clone() for param in params]
        self.size += len(self.optimizer.grad_samples[0])
        self.clip()
        added = [
            param.summed_grad.clone() if before is None else param.summed_grad - before
            for param, before in zip(params, earlier, strict=True)
        ]
        self.before = [a + b for a, b in zip(self.before, added, strict=True)] if self.before else added

    def noise(self) -> None:
        """Adds noise, and keeps the sum with noise before it is divided."""
        self.add_noise()
        self.after = [param.grad.detach().clone() for param in self.optimizer.params]

    def step(self, optimizer: Any) -> None:
        """Passes a step on."""
        if self.hook is not None:
            self.hook(optimizer)
        applied = norm([param.grad for param in optimizer.params])
        self.recorder.step(
            self.take(self.size),
            normaliser=float(f"{norm(self.after) / applied:.5g}") if applied else 1.0,
            clip=optimizer.max_grad_norm,
            noise_multiplier=optimizer.noise_multiplier,
            before=self.before,
            after=self.after,
        )
        self.size, self.before, self.after = 0, [], []

    def take(self, size: int) -> Indices:
        """The next batch of a size. Batches before it were skipped; if there is none, steps are not batches."""
        if any(len(rows) == size for rows in self.drawn):
            while len(self.drawn[0]) != size:
                self.recorder.skip(self.drawn.popleft())
            return self.drawn.popleft()
        every = np.concatenate([np.zeros(0, dtype=np.int64), *self.drawn])
        if len(every) < size:
            raise InvalidArgumentError(
                f"a step uses {size} examples, and the data loader drew {len(every)}; legal: the loader of the loop"
            )
        self.drawn = deque([every[size:]] if len(every) > size else [])
        return every[:size]


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

"""The accountant in Opacus' own engine, on models that are really trained."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import opacus
import pytest
import torch
from opacus import accountants
from opacus.accountants import PRVAccountant, RDPAccountant
from opacus.accountants.utils import get_noise_multiplier
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import counterpoint as cp
from counterpoint.integrations.opacus import CounterpointAccountant

EXAMPLES, BATCH, SIGMA, DELTA = 64, 16, 1.1, 1e-5
RATE = BATCH / EXAMPLES


class Training:
    """A model of two layers, some data, and an engine that makes the training private."""

    def __init__(self, accountant: str, **engine: Any) -> None:
        torch.manual_seed(1)
        inputs = torch.randn(EXAMPLES, 5)
        data = TensorDataset(inputs, (inputs.sum(dim=1) > 0).long())
        model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, 2))
        self.engine = opacus.PrivacyEngine(accountant=accountant)
        make = self.engine.make_private
        if "target_epsilon" in engine:
            make = self.engine.make_private_with_epsilon
        else:
            engine = {"noise_multiplier": SIGMA, **engine}
        self.model, self.optimizer, self.loader = make(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=0.2),
            data_loader=DataLoader(data, batch_size=BATCH),
            max_grad_norm=1.0,
            **engine,
        )

    def backward(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        nn.functional.cross_entropy(self.model(inputs), labels).backward()

    def run(self, epochs: int) -> Training:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Using a non-full backward hook")
            for _ in range(epochs):
                for inputs, labels in self.loader:
                    self.optimizer.zero_grad()
                    self.backward(inputs, labels)
                    self.optimizer.step()
        return self

    def weights(self) -> list[Any]:
        return [weight.tolist() for weight in self.model.parameters()]


def steps(count: int, sigma: float = SIGMA) -> cp.Plan:
    return cp.compose([cp.Gaussian(sigma, rate=RATE) * count], adjacency="add-remove")


def certified(count: int, sigma: float = SIGMA) -> cp.Answer:
    return steps(count, sigma).epsilon(DELTA)


def others_agree(accountant: CounterpointAccountant) -> None:
    """Opacus' Rényi accountant charges more, and the bracket of its numerical one contains ours."""
    ours = accountant.epsilon_bracket(DELTA)
    renyi, numerical = RDPAccountant(), PRVAccountant()
    renyi.history = numerical.history = accountant.history
    assert ours.upper < renyi.get_epsilon(DELTA)
    error = 1e-3
    composed = numerical._get_dprv(eps_error=error, delta_error=DELTA / 1000)
    lower, _, upper = composed.compute_epsilon(DELTA, DELTA / 1000, error)
    assert lower <= ours.lower <= ours.upper <= upper < lower + 5 * error


def test_training_is_accounted_for() -> None:
    engine = Training("counterpoint").run(epochs=3).engine
    assert isinstance(engine.accountant, CounterpointAccountant)
    assert engine.accountant.mechanism() == "counterpoint"
    assert engine.accountant.history == [(SIGMA, RATE, 12)] and len(engine.accountant) == 12
    assert engine.get_epsilon(DELTA) == certified(12).upper
    assert engine.accountant.epsilon_bracket(DELTA) == certified(12)
    assert engine.accountant.plan().delta(1.0) == steps(12).delta(1.0)
    others_agree(engine.accountant)


def test_switching_changes_nothing_else() -> None:
    ours, theirs = Training("counterpoint").run(2), Training("prv").run(2)
    assert ours.weights() == theirs.weights() != Training("prv").weights()
    assert ours.engine.accountant.history == theirs.engine.accountant.history


def test_noise_that_changes() -> None:
    training = Training("counterpoint").run(1)
    training.optimizer.noise_multiplier = 2.0
    training.run(2)
    training.optimizer.noise_multiplier = SIGMA
    accountant = training.run(1).engine.accountant
    assert accountant.history == [(SIGMA, RATE, 4), (2.0, RATE, 8), (SIGMA, RATE, 4)]
    assert len(accountant) == 16
    others_agree(accountant)
    # The order in which they were made does not matter.
    assert (steps(8, 2.0) + steps(8)).epsilon(DELTA).overlaps(accountant.epsilon_bracket(DELTA))


def test_checkpoints(tmp_path: Path) -> None:
    before = Training("counterpoint").run(2)
    path = str(tmp_path / "checkpoint")
    before.engine.save_checkpoint(path=path, module=before.model, optimizer=before.optimizer)
    after = Training("counterpoint")
    after.engine.load_checkpoint(path=path, module=after.model, optimizer=after.optimizer)
    assert after.weights() == before.weights()
    assert after.engine.get_epsilon(DELTA) == before.engine.get_epsilon(DELTA) == certified(8).upper
    assert after.run(1).engine.get_epsilon(DELTA) == certified(12).upper
    assert len(before.engine.accountant) == 8


def test_state_is_plain_data() -> None:
    accountant = CounterpointAccountant()
    for sigma in (1.0, 1.0, 0.0):
        accountant.step(noise_multiplier=sigma, sample_rate=0.5)
    state = accountant.state_dict()
    assert json.loads(json.dumps(state)) == {
        "history": [[1.0, 0.5, 2], [0.0, 0.5, 1]], "mechanism": "counterpoint",
    }
    again = CounterpointAccountant()
    again.load_state_dict(json.loads(json.dumps(state)))
    assert again.history == accountant.history
    again.step(noise_multiplier=0.0, sample_rate=0.5)
    assert state["history"] == accountant.history != again.history
    assert accountant.state_dict({"more": 1})["more"] == 1


@pytest.mark.parametrize("state", [
    None, {}, {"mechanism": "counterpoint"}, {"history": []}, RDPAccountant().state_dict(),
    *({"mechanism": "counterpoint", "history": [entry]}
      for entry in [(1.0, 0.5), (-1.0, 0.5, 1), (1.0, 1.5, 1), (1.0, 0.5, -1), (1.0, 0.5, 1.5), ("a", 0.5, 1),
                    (0.0, 1.5, 1), (float("nan"), 0.5, 1)]),
])
def test_states_that_make_no_sense(state: Any) -> None:
    accountant = CounterpointAccountant()
    with pytest.raises(ValueError, match="legal"):
        accountant.load_state_dict(state)
    assert accountant.history == []


def test_noise_for_a_target() -> None:
    question = {"target_epsilon": 2.0, "target_delta": DELTA, "sample_rate": RATE, "steps": 100}
    sigma = get_noise_multiplier(**question, accountant="counterpoint", epsilon_tolerance=1e-4, alphas=[2.0])
    assert 2.0 - 1e-4 <= certified(100, sigma).upper <= 2.0
    least = cp.calibrate(
        cp.Gaussian(1.0, rate=RATE) * 100, "sigma", epsilon=2.0, delta=DELTA, adjacency="add-remove"
    )
    assert least.value <= sigma < 1.0001 * least.value
    assert sigma < get_noise_multiplier(**question, accountant="rdp")


def test_training_for_a_target() -> None:
    training = Training("counterpoint", target_epsilon=3.0, target_delta=DELTA, epochs=2).run(2)
    assert 2.98 < training.engine.get_epsilon(DELTA) <= 3.0
    others_agree(training.engine.accountant)


def test_tolerance() -> None:
    accountant = CounterpointAccountant()
    accountant.history = [(SIGMA, RATE, 12)]
    wide = accountant.epsilon_bracket(DELTA, tolerance=1e-3)
    assert wide.relative_width <= 1e-3 and wide.overlaps(certified(12))
    assert accountant.get_epsilon(DELTA, tolerance=1e-3) == wide.upper
    # A few steps with hardly any noise, where 1e-6 is out of reach.
    accountant.history = [(0.3, 0.01, 5)]
    with pytest.raises(cp.errors.ToleranceNotMetError):
        accountant.epsilon_bracket(DELTA, tolerance=1e-12)
    found = accountant.epsilon_bracket(DELTA)
    assert 0 < found.relative_width < 1e-4
    others_agree(accountant)


def test_nothing_spent_and_everything_spent() -> None:
    accountant = CounterpointAccountant()
    assert accountant.get_epsilon(DELTA) == 0 and len(accountant) == 0
    accountant.step(noise_multiplier=0.0, sample_rate=RATE)
    assert accountant.get_epsilon(DELTA) == float("inf")
    accountant.history = [(SIGMA, RATE, 1)]
    with pytest.raises(cp.errors.NoFiniteEpsilonError):
        accountant.get_epsilon(0.0)
    with pytest.raises(cp.InvalidArgumentError, match="delta"):
        accountant.get_epsilon(-1.0)


def test_steps_of_several_batches_are_warned_of() -> None:
    training = Training("counterpoint", poisson_sampling=False)
    batches = iter(training.loader)
    training.backward(*next(batches))
    training.backward(*next(batches))
    with pytest.warns(UserWarning, match="not a Poisson sample"):
        training.optimizer.step()
    assert training.engine.accountant.history == [(SIGMA, 2 * RATE, 1)]


def test_other_accountants_stay() -> None:
    assert isinstance(accountants.create_accountant("rdp"), RDPAccountant)
    assert isinstance(accountants.create_accountant(mechanism="prv"), PRVAccountant)
    assert isinstance(accountants.create_accountant(mechanism="counterpoint"), CounterpointAccountant)
    with pytest.raises(ValueError):
        accountants.create_accountant("nobody")

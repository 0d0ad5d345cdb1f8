"""The recorder in loops of PyTorch: with Opacus' optimizers and data loaders, and with plain tensors."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import opacus
import pytest
import torch
from opacus.utils.batch_memory_manager import BatchMemoryManager
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import counterpoint as cp
from counterpoint.integrations.opacus import attach
from counterpoint.recorder import Recorder, RunReport

EXAMPLES, BATCH, EPOCHS, SIGMA, CLIP = 400, 40, 6, 1.1, 0.3
STEPS = EPOCHS * EXAMPLES // BATCH


def plan(steps: int = STEPS, rate: float = BATCH / EXAMPLES, sigma: float = SIGMA) -> cp.Plan:
    return cp.compose([cp.Gaussian(sigma, rate=rate, count=steps)], adjacency="add-remove")


class Training:
    """A correct training with Opacus. A mistake is made by a change of the optimizer or of the loop."""

    def __init__(self, batch: int = BATCH, workers: int = 0, drop_last: bool = False, **engine: Any) -> None:
        torch.manual_seed(2)
        inputs = torch.randn(EXAMPLES, 20)
        data = TensorDataset(inputs, (inputs.sum(dim=1) > 0).long())
        model = nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 2))
        self.engine = opacus.PrivacyEngine(accountant="counterpoint")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model, self.optimizer, self.loader = self.engine.make_private(
                module=model,
                optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
                data_loader=DataLoader(data, batch_size=batch, shuffle=True, drop_last=drop_last, num_workers=workers),
                noise_multiplier=SIGMA,
                max_grad_norm=CLIP,
                **engine,
            )

    def watch(self, planned: cp.Plan | None = None) -> Training:
        self.recorder = Recorder(plan() if planned is None else planned, examples=EXAMPLES, clip=CLIP)
        attach(self.recorder, self.optimizer, self.loader)
        return self

    def step(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
        self.optimizer.zero_grad()
        nn.functional.cross_entropy(self.model(inputs), labels).backward()
        self.optimizer.step()

    def epoch(self, loader: Any = None) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for inputs, labels in self.loader if loader is None else loader:
                self.step(inputs, labels)

    def run(self, epochs: int = EPOCHS) -> RunReport:
        for _ in range(epochs):
            self.epoch()
        return self.recorder.report()


def kinds(report: RunReport) -> list[str]:
    return [finding.kind for finding in report.findings]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_correct_training_is_its_plan(workers: int) -> None:
    training = Training(workers=workers).watch()
    report = training.run()
    assert report.matches and report.plan == plan(), str(report)
    assert "normaliser 40" in report.summary and not any("not measured" in one for one in report.assumptions)
    # The accountant has counted the same steps.
    assert training.engine.accountant.plan() == plan()


def test_a_recorder_changes_nothing() -> None:
    plain, watched = Training(), Training().watch()
    for training in (plain, watched):
        torch.manual_seed(4)
        training.epoch()
    for one, other in zip(plain.model.parameters(), watched.model.parameters()):
        assert torch.equal(one, other)
    assert type(watched.loader.batch_sampler).__mro__[1] is type(plain.loader.batch_sampler)


def test_physical_batches_of_one_logical_batch() -> None:
    training = Training().watch()
    for _ in range(EPOCHS):
        with BatchMemoryManager(
            data_loader=training.loader, max_physical_batch_size=12, optimizer=training.optimizer
        ) as loader:
            training.epoch(loader)
    report = training.recorder.report()
    assert report.matches and report.plan == plan(), str(report)


def test_an_evaluation_between_epochs_is_no_training() -> None:
    training = Training().watch()
    for _ in range(EPOCHS):
        training.epoch()
        with torch.no_grad():
            assert sum(len(labels) for _, labels in training.loader) > 0
    assert training.recorder.report().matches


@pytest.mark.parametrize("drop", [False, True])
def test_shuffled_batches(drop: bool) -> None:
    planned = plan(6 * math.ceil(EXAMPLES / 60), rate=60 / EXAMPLES)
    training = Training(60, poisson_sampling=False, drop_last=drop).watch(planned)
    report = training.run()
    assert kinds(report)[:1] == ["batches"] and "Batches are shuffled" in report.findings[0].observed
    assert ("dropped-batch" in kinds(report)) == ("steps" in kinds(report)) == drop
    assert report.plan == cp.compose([cp.Gaussian(SIGMA, sensitivity=2.0, count=6)], adjacency="replace")


@pytest.mark.parametrize("skips", [False, True])
def test_skipped_empty_batches(skips: bool) -> None:
    training = Training(2).watch(plan(600, rate=2 / EXAMPLES))

    class Skipping(Training):
        def step(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
            if len(labels):
                Training.step(self, inputs, labels)

    if skips:
        training.__class__ = Skipping
    report = training.run(3)
    assert kinds(report) == (["skipped-batches", "steps"] if skips else []), str(report)


def mean(optimizer: Any) -> None:
    def scale_grad() -> None:
        for parameter in optimizer.params:
            parameter.grad /= max(1, len(parameter.grad_sample))

    optimizer.scale_grad = scale_grad


def noisier(optimizer: Any) -> None:
    def add_noise() -> None:
        once()
        for _ in range(3):
            for parameter in optimizer.params:
                parameter.grad += SIGMA * CLIP * torch.randn_like(parameter)

    once, optimizer.add_noise = optimizer.add_noise, add_noise


def quieter(optimizer: Any) -> None:
    def add_noise() -> None:
        for parameter in optimizer.params:
            parameter.grad = parameter.summed_grad + SIGMA * CLIP / 4 * torch.randn_like(parameter)

    optimizer.add_noise = add_noise


def early(optimizer: Any) -> None:
    """Noise on each physical batch, and none on their sum."""

    def clip_and_accumulate() -> None:
        if optimizer.params[0].summed_grad is not None:
            for parameter in optimizer.params:
                parameter.summed_grad += SIGMA * CLIP * torch.randn_like(parameter)
        once()

    once, optimizer.clip_and_accumulate = optimizer.clip_and_accumulate, clip_and_accumulate


def unclipped(optimizer: Any) -> None:
    def clip_and_accumulate() -> None:
        for parameter in optimizer.params:
            parameter.summed_grad = 40 * parameter.grad_sample.sum(dim=0)

    optimizer.clip_and_accumulate = clip_and_accumulate


@pytest.mark.parametrize(
    ("mistake", "kind", "text"),
    [
        (mean, "normaliser", "size of the batch in 60 of 60 steps"),
        (noisier, "noise", "added to each of 4 micro-batches"),
        (quieter, "noise", "divided by 4"),
        (unclipped, "clipping", "no epsilon holds"),
    ],
)
def test_mistakes_in_the_optimizer(mistake: Callable[[Any], None], kind: str, text: str) -> None:
    training = Training()
    mistake(training.optimizer)
    report = training.watch().run()
    assert kinds(report) == [kind] and text in str(report), str(report)
    assert (report.plan is None) == (kind == "clipping")


def test_noise_on_each_physical_batch() -> None:
    training = Training().watch()
    early(training.optimizer)
    for _ in range(EPOCHS):
        with BatchMemoryManager(
            data_loader=training.loader, max_physical_batch_size=12, optimizer=training.optimizer
        ) as loader:
            training.epoch(loader)
    report = training.recorder.report()
    assert kinds(report) == ["noise"] and "More noise" in report.findings[0].consequence, str(report)


def test_physical_batches_that_are_steps() -> None:
    training = Training().watch()

    class Split(Training):
        def step(self, inputs: torch.Tensor, labels: torch.Tensor) -> None:
            for part in zip(inputs.split(20), labels.split(20)):
                Training.step(self, *part)

    training.__class__ = Split
    report = training.run()
    assert {"rate", "steps"} <= set(kinds(report)), str(report)


def test_numbers_that_change() -> None:
    training = Training().watch()
    training.run(EPOCHS - 1)
    training.optimizer.noise_multiplier, training.optimizer.max_grad_norm = 0.9, 0.4
    report = training.run(1)
    assert kinds(report) == ["clip", "noise-multiplier"] and "in step 51" in report.findings[0].observed
    parts = [*plan(50).mechanisms, *plan(10, sigma=0.9).mechanisms]
    assert report.plan == cp.compose(parts, adjacency="add-remove")
    assert kinds(Training().watch().run(EPOCHS + 1)) == ["steps"]


def test_other_loaders_and_optimizers_are_refused() -> None:
    training = Training()
    recorder = Recorder(plan(), examples=EXAMPLES)
    training.optimizer.world_size = 2
    with pytest.raises(cp.errors.UnsupportedError, match="one process"):
        attach(recorder, training.optimizer, training.loader)
    del training.optimizer.world_size
    training.optimizer.accumulate = None
    with pytest.raises(cp.errors.UnsupportedError, match="ghost"):
        attach(recorder, training.optimizer, training.loader)
    del training.optimizer.accumulate
    with pytest.raises(cp.errors.UnsupportedError, match="by index"):
        attach(recorder, training.optimizer, DataLoader(training.loader.dataset, batch_size=None))
    attach(recorder, training.optimizer, DataLoader(training.loader.dataset, batch_size=5))
    with pytest.raises(cp.InvalidArgumentError, match="the loader of the loop"):
        training.epoch()


def batches(epochs: int, is_shuffled: bool) -> Iterator[torch.Tensor]:
    for _ in range(epochs):
        if is_shuffled:
            yield from torch.randperm(EXAMPLES).split(BATCH)
        else:
            for _ in range(EXAMPLES // BATCH):
                yield torch.nonzero(torch.rand(EXAMPLES) < BATCH / EXAMPLES).ravel()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("is_shuffled", [False, True])
def test_a_plain_loop_of_pytorch(is_shuffled: bool, dtype: torch.dtype) -> None:
    torch.manual_seed(3)
    inputs, labels = torch.randn(EXAMPLES, 20), torch.randn(EXAMPLES)
    weights = torch.zeros(20, requires_grad=True)
    recorder = Recorder(plan(), examples=EXAMPLES, clip=CLIP)
    for batch in batches(EPOCHS, is_shuffled):
        errors = inputs[batch] @ weights - labels[batch]
        gradients = errors[:, None] * inputs[batch]
        gradients = gradients * (CLIP / gradients.norm(dim=1, keepdim=True)).clamp(max=1)
        before = gradients.sum(dim=0)
        after = before + SIGMA * CLIP * torch.randn(20)
        recorder.step(
            batch, normaliser=BATCH, clip=CLIP, noise_multiplier=SIGMA, norms=gradients.norm(dim=1),
            before=[before.to(dtype)], after=[after],
        )
        weights = (weights - 0.1 * after.detach() / BATCH).detach().requires_grad_()
    assert kinds(recorder.report()) == (["batches"] if is_shuffled else [])

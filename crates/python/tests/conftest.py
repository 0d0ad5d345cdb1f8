"""What the tests share."""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

import counterpoint as cp

FULL = bool(os.environ.get("COUNTERPOINT_FULL"))


@pytest.fixture
def full() -> bool:
    """Whether tests run at full size."""
    return FULL


@pytest.fixture
def ledger(tmp_path: Path) -> cp.Ledger:
    """A ledger in a file, with an account \"team\" of a data set."""
    ledger = cp.Ledger(f"sqlite:{tmp_path}/budget.db", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=10, delta="1e-5")
    ledger.open_filter("team", "census", epsilon=2, delta="1e-6", filter="sums")
    return ledger


def some_mechanism(rng: random.Random) -> cp.Mechanism:
    """A mechanism of any kind, with parameters from all over the useful range."""

    def near(low: float, high: float) -> float:
        return low * (high / low) ** rng.random()

    def finite() -> cp.Mechanism:
        p, q = [rng.random() for _ in range(4)], [rng.random() for _ in range(4)]
        return cp.Finite([x / sum(p) for x in p], [x / sum(q) for x in q])

    def shares(number: int) -> list[float]:
        parts = [near(0.01, 1) for _ in range(number)]
        return [part / sum(parts) for part in parts]

    def cells() -> cp.Mechanism:
        p, q = shares(5), shares(5)
        losses = [math.log(x / y) for x, y in zip(p, q, strict=True)]
        lower, upper = [loss - near(1e-3, 0.1) for loss in losses], [loss + near(1e-3, 0.1) for loss in losses]
        return cp.Cells(p, q, lower, upper)

    def batch() -> cp.Mechanism:
        cut = rng.choice([{}, dict(people=rng.randint(100, 10_000), most=rng.randint(10, 99))])
        return cp.GaussianBatch(near(0.5, 100), near(1e-3, 1), near(0.5, 2), **cut)

    def draws() -> cp.Mechanism:
        records = rng.randint(1, 10_000)
        return cp.GaussianDraws(near(0.5, 100), records, rng.randint(1, records), near(0.5, 2))

    def allocation() -> cp.Mechanism:
        steps = rng.randint(1, 50)
        return cp.GaussianAllocation(near(0.5, 100), steps, near(0.5, 2), each=rng.choice([1, rng.randint(1, steps)]))

    kinds: list[Callable[[], cp.Mechanism]] = [
        lambda: cp.ApproxDP(near(1e-3, 2), rng.choice([0.0, near(1e-12, 1e-7)])),
        lambda: cp.Laplace(near(0.5, 100), near(0.5, 2)),
        lambda: cp.Geometric(near(0.5, 100), rng.randint(1, 3)),
        lambda: cp.Gaussian(near(0.5, 100), near(0.5, 2)),
        lambda: cp.DiscreteGaussian(near(1, 50), rng.randint(1, 3)),
        lambda: cp.RandomizedResponse(near(0.01, 2), rng.randint(2, 50)),
        lambda: cp.Exponential(near(0.01, 1)),
        lambda: cp.Staircase(near(0.1, 2)),
        lambda: cp.NameAndShame(near(1e-12, 1e-8)),
        lambda: cp.ZCDP(near(1e-4, 0.5)),
        lambda: cp.TCDP(near(1e-4, 0.1), near(10, 100)),
        lambda: cp.RDP([2, 8, 32], sorted(near(1e-3, 1) for _ in range(3))),
        lambda: cp.GDP(near(0.01, 1)),
        lambda: cp.SparseVector(near(0.01, 1), near(0.01, 1)),
        lambda: cp.AboveThreshold(near(0.01, 1), near(0.01, 1)),
        finite,
        lambda: cp.GaussianMixture(near(0.5, 100), [0, near(0.1, 1), near(1, 2)], shares(3)),
        cells,
        lambda: cp.GaussianSubset(near(0.5, 100), near(1e-3, 1), near(0.5, 2)),
        batch,
        draws,
        allocation,
    ]
    return rng.choice(kinds)() * rng.choice([1, 1, 2, 10])


# Some have a meaning under one relation only: a pair differs when exchanged, or so their samples are proved.
ADD_REMOVE = (cp.Finite, cp.Cells, cp.GaussianMixture, cp.GaussianAllocation)
REPLACE = (cp.GaussianSubset, cp.GaussianDraws)
# Beside others they take many seconds.
ALONE = (cp.GaussianDraws, cp.GaussianBatch, cp.GaussianAllocation)


def adjacency_of(mechanism: cp.Mechanism) -> str | None:
    """The only relation that it has a meaning under, if there is one."""
    if isinstance(mechanism, ADD_REMOVE) or (isinstance(mechanism, cp.GaussianBatch) and mechanism.people):
        return "add-remove"
    return "replace" if isinstance(mechanism, REPLACE) else None


def some_plan(rng: random.Random) -> cp.Plan:
    """A plan of one to four mechanisms, some on a sample of the data."""
    first, *others = (some_mechanism(rng) for _ in range(rng.randint(1, 4)))
    if rng.random() < 0.25:
        sampled = cp.Gaussian(rng.uniform(0.8, 4), rate=rng.choice([0.01, 0.1])) * rng.choice([100, 1000])
        return cp.compose([sampled], adjacency="add-remove")
    if isinstance(first, ALONE):
        alone = adjacency_of(first) or rng.choice(["add-remove", "replace"])
        return cp.compose([first.replace(count=1)], adjacency=alone)
    mechanisms = [first, *(other for other in others if not isinstance(other, ALONE))]
    adjacency = next(filter(None, map(adjacency_of, mechanisms)), None)
    kept = [one for one in mechanisms if adjacency_of(one) in (None, adjacency)]
    return cp.compose(kept, adjacency=adjacency or rng.choice([None, "replace"]))

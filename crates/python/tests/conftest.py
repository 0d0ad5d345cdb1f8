"""What the tests share."""

from __future__ import annotations

import os
import random
from collections.abc import Callable

import pytest

import counterpoint as cp

FULL = bool(os.environ.get("COUNTERPOINT_FULL"))


@pytest.fixture
def full() -> bool:
    """Whether tests run at full size."""
    return FULL


def some_mechanism(rng: random.Random) -> cp.Mechanism:
    """A mechanism of any kind, with parameters from all over the useful range."""

    def near(low: float, high: float) -> float:
        return low * (high / low) ** rng.random()

    def finite() -> cp.Mechanism:
        p, q = [rng.random() for _ in range(4)], [rng.random() for _ in range(4)]
        return cp.Finite([x / sum(p) for x in p], [x / sum(q) for x in q])

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
        finite,
    ]
    return rng.choice(kinds)() * rng.choice([1, 1, 2, 10])


def some_plan(rng: random.Random) -> cp.Plan:
    """A plan of one to four mechanisms, some on a sample of the data."""
    mechanisms = [some_mechanism(rng) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.25:
        sampled = cp.Gaussian(rng.uniform(0.8, 4), rate=rng.choice([0.01, 0.1])) * rng.choice([100, 1000])
        return cp.compose([sampled], adjacency="add-remove")
    # A pair of outcomes differs when exchanged, which has a meaning under one relation only.
    directed = any(isinstance(mechanism, cp.Finite) for mechanism in mechanisms)
    return cp.compose(mechanisms, adjacency="add-remove" if directed else rng.choice([None, "replace"]))

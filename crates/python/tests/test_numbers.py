"""Every number is the Rust library's, bit for bit.

The Rust side is the example `bits` of the wire crate, named by COUNTERPOINT_BITS: it reads the plans as JSON,
so that plan files are compared on the way. 300 plans in a full run, 6 in a quick one.
"""

from __future__ import annotations

import os
import random
import struct
import subprocess

import numpy as np
from conftest import some_plan

import counterpoint as cp

BITS = os.environ.get("COUNTERPOINT_BITS", "")


def bits(number: float) -> str:
    return struct.pack(">d", number).hex()


def test_every_number_is_the_rust_librarys(full: bool) -> None:
    assert os.path.exists(BITS), "COUNTERPOINT_BITS does not name the Rust program; crates/python/tests/run does"
    rng = random.Random(20260101)
    cases = []
    for _ in range(300 if full else 3):
        plan = some_plan(rng)
        if rng.random() < 0.5:
            delta = 10 ** rng.uniform(-9, -2)
            cases.append((plan.to_json(delta=delta), lambda p=plan, d=delta: p.epsilon(d)))
        else:
            epsilon = rng.uniform(0, 3)
            cases.append((plan.to_json(epsilon=epsilon), lambda p=plan, e=epsilon: p.delta(e)))
    asked = "".join(text + "\n" for text, _ in cases)
    told = subprocess.run([BITS], input=asked, capture_output=True, text=True, check=True)
    lines = told.stdout.splitlines()
    assert len(lines) == len(cases)
    answered = 0
    for (text, ask), line in zip(cases, lines, strict=True):
        try:
            answer = ask()
        except cp.CounterpointError:
            assert line == "error", text
            continue
        assert line == f"{bits(answer.lower)} {bits(answer.upper)}", text
        answered += 1
    assert answered > len(cases) / 2


def test_one_by_one_and_all_at_once_agree(full: bool) -> None:
    rng = random.Random(7)
    deltas = np.geomspace(1e-8, 1e-2, 7)
    for _ in range(50 if full else 1):
        plan = some_plan(rng)
        try:
            many = plan.epsilon(deltas)
        except cp.errors.ToleranceNotMetError:
            continue
        for delta, lower, upper in zip(deltas, many.lower, many.upper, strict=True):
            try:
                one = plan.epsilon(float(delta))
                assert (one.lower, one.upper) == (lower, upper)
            except cp.errors.NoFiniteEpsilonError:
                assert lower == upper == np.inf


def test_closed_forms() -> None:
    # One randomized response: delta(0) is tanh(epsilon / 2).
    delta = cp.compose([cp.RandomizedResponse(1.0)]).delta(0.0)
    assert abs(delta.upper - np.tanh(0.5)) < 1e-15 and np.tanh(0.5) - 1e-15 < delta.upper
    # One Gaussian (Balle and Wang 2018): Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu).
    from math import erfc, exp, sqrt

    def phi(x: float) -> float:
        return 0.5 * erfc(-x / sqrt(2))

    delta = cp.compose([cp.Gaussian(sigma=2.0)]).delta(1.0)
    truth = phi(0.25 - 2.0) - exp(1.0) * phi(-0.25 - 2.0)
    assert abs(float(delta) / truth - 1) < 1e-12
    # 100 x 0.1 at 1e-6 (Kairouz, Oh and Viswanath, exact).
    assert float(cp.compose([cp.ApproxDP(0.1) * 100]).epsilon(1e-6)) <= 4.7746


def test_samples_of_their_own() -> None:
    # Batches under add-remove are Gaussian noise on a Poisson sample, and everybody in all steps is as many releases.
    def epsilon(mechanism: cp.Mechanism) -> cp.Bracket:
        return cp.compose([mechanism], adjacency="add-remove").epsilon(1e-5)

    batch, sampled = epsilon(cp.GaussianBatch(2.0, 0.1, 1.5) * 7), epsilon(cp.Gaussian(2.0, 1.5, rate=0.1) * 7)
    assert (batch.lower, batch.upper) == (sampled.lower, sampled.upper)
    every, all_of_them = epsilon(cp.GaussianAllocation(2.0, 5, each=5)), epsilon(cp.Gaussian(2.0) * 5)
    assert (every.lower, every.upper) == (all_of_them.lower, all_of_them.upper)
    # Each in one of two steps, by their pair: (e^(z - 1/2) + e^(w - 1/2))/2 against 1 where z and w are normal.
    grid = np.linspace(-9, 10, 1901) + 0.005
    density = np.exp(-(grid**2) / 2) / np.sqrt(2 * np.pi) * (grid[1] - grid[0])
    ratio = (np.exp(grid - 0.5)[:, None] + np.exp(grid - 0.5)[None, :]) / 2
    truth = float((np.maximum(0, ratio - np.exp(0.5)) * density[:, None] * density[None, :]).sum())
    found = cp.compose([cp.GaussianAllocation(1.0, 2)], adjacency="add-remove").delta(0.5)
    assert found.lower <= truth * (1 + 1e-4) and truth * (1 - 1e-4) <= found.upper <= truth * 1.001

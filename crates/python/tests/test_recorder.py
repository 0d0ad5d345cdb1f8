"""The recorder: loops with one mistake each, and their correct twins."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import counterpoint as cp
from counterpoint import recorder as module
from counterpoint.recorder import FALSE_ALARM, Recorder, RunReport

EXAMPLES, BATCH, STEPS, SIGMA, DELTA = 1050, 50, 105, 1.2, 1e-5
RATE = BATCH / EXAMPLES
COORDINATES = 400
Batches = Iterator[NDArray[np.int64]]


def plan(steps: int = STEPS, sigma: float = SIGMA, rate: float | None = RATE) -> cp.Plan:
    return cp.compose([cp.Gaussian(sigma, rate=rate, count=steps)], adjacency="add-remove")


def poisson(rng: np.random.Generator, steps: int = STEPS, rate: float = RATE) -> Batches:
    for _ in range(steps):
        yield np.flatnonzero(rng.random(EXAMPLES) < rate)


def shuffled(rng: np.random.Generator, steps: int = STEPS, drop: bool = False, batch: int = BATCH) -> Batches:
    while True:
        order = rng.permutation(EXAMPLES)
        for start in range(0, EXAMPLES - batch + 1 if drop else EXAMPLES, batch):
            if steps == 0:
                return
            steps -= 1
            yield order[start : start + batch]


class Loop:
    """A correct loop of DP-SGD in plain NumPy. A mistake is a method that a subclass defines anew."""

    clip = 0.5
    sigma = SIGMA

    def __init__(self, seed: int = 1) -> None:
        self.rng = np.random.default_rng(seed)
        self.gradients = self.rng.standard_normal((EXAMPLES, COORDINATES)) / 10  # of norm two: clipping matters

    def batches(self) -> Batches:
        return poisson(self.rng)

    def clipped(self, gradients: NDArray[np.float64], clip: float) -> NDArray[np.float64]:
        norms = np.linalg.norm(gradients, axis=1, keepdims=True)
        return gradients * np.minimum(1, clip / norms)

    def noise(self, step: int) -> NDArray[np.float64]:
        return self.rng.normal(scale=self.declared(step) * self.norm(step), size=COORDINATES)

    def declared(self, step: int) -> float:
        return self.sigma

    def norm(self, step: int) -> float:
        return self.clip

    def normaliser(self, batch: NDArray[np.int64]) -> float:
        return BATCH

    def run(self, planned: cp.Plan | None = None, sums: bool = True) -> RunReport:
        recorder = Recorder(plan() if planned is None else planned, examples=EXAMPLES, clip=self.clip)
        for step, batch in enumerate(self.batches(), start=1):
            clipped = self.clipped(self.gradients[batch], self.norm(step))
            before = clipped.sum(axis=0)
            after = before + self.noise(step)
            seen: dict[str, Any] = dict(before=before, after=after) if sums else {}
            recorder.step(
                batch, normaliser=self.normaliser(batch), clip=self.norm(step), noise_multiplier=self.declared(step),
                norms=np.linalg.norm(clipped, axis=1), **seen,
            )
        return recorder.report()


def kinds(report: RunReport) -> list[str]:
    return [finding.kind for finding in report.findings]


@pytest.mark.parametrize("sums", [True, False])
def test_a_correct_loop_is_its_plan(full: bool, sums: bool) -> None:
    for seed in range(200 if full else 10):
        report = Loop(seed).run(sums=sums)
        assert report.matches and report.plan == plan() and report.refusal is None, str(report)
    assert sums == (not any("not measured" in assumption for assumption in report.assumptions))


class Shuffled(Loop):
    def batches(self) -> Batches:
        return shuffled(self.rng)


def test_shuffled_batches() -> None:
    report = Shuffled().run()
    assert kinds(report) == ["batches"] and not report.matches
    assert "in each of 5 epochs 1050 of 1050 examples are used, each of them once" in report.findings[0].observed
    # Five epochs: an example is in five steps, and replacing it moves a sum by two clipping norms.
    assert report.plan == cp.compose([cp.Gaussian(SIGMA, sensitivity=2.0, count=5)], adjacency="replace")
    assert report.plan.epsilon(DELTA) > plan().epsilon(DELTA)


def test_one_shuffled_epoch() -> None:
    class Short(Loop):
        def batches(self) -> Batches:
            return shuffled(self.rng, steps=21)

    report = Short().run(plan(21))
    assert kinds(report) == ["batches"] and "so far 1050 of 1050 examples are used" in report.findings[0].observed
    Poisson = type("Poisson", (Loop,), {"batches": lambda self: poisson(self.rng, 21)})
    assert Poisson().run(plan(21)).matches


def test_a_dropped_last_batch() -> None:
    class Dropped(Loop):
        def batches(self) -> Batches:
            return shuffled(self.rng, 78, drop=True, batch=80)

    report = Dropped().run(plan(84, rate=80 / EXAMPLES))  # 14 batches an epoch are planned, 13 are used
    assert kinds(report) == ["batches", "dropped-batch", "steps"]
    assert "10 examples" in report.findings[1].observed and "78 steps; planned: 84" in report.findings[2].observed
    whole = type("Whole", (Loop,), {"batches": lambda self: shuffled(self.rng, 84, batch=80)})
    assert kinds(whole().run(plan(84, rate=80 / EXAMPLES))) == ["batches"]
    right = type("Right", (Loop,), {"batches": lambda self: poisson(self.rng, 84, 80 / EXAMPLES)})
    assert right().run(plan(84, rate=80 / EXAMPLES)).matches


def test_batches_of_a_fixed_size() -> None:
    class Fixed(Loop):
        def batches(self) -> Batches:
            return (self.rng.choice(EXAMPLES, BATCH, replace=False) for _ in range(STEPS))

    report = Fixed().run()
    assert kinds(report) == ["batches"] and "All batches have 50 examples, drawn anew" in report.findings[0].observed


def test_small_batches_that_are_thrown_away() -> None:
    class Large(Loop):
        def batches(self) -> Batches:
            return (batch for batch in poisson(self.rng, 3 * STEPS) if len(batch) >= BATCH)

    assert {"batches", "rate"} & set(kinds(Large().run()))


def test_batches_that_repeat_in_each_epoch() -> None:
    class Seeded(Loop):
        def batches(self) -> Batches:
            for _ in range(5):
                yield from poisson(np.random.default_rng(7), 21)

    report = Seeded().run()
    assert kinds(report) == ["batches"] and "used more often than others" in report.findings[0].observed


def test_another_rate() -> None:
    class Larger(Loop):
        def batches(self) -> Batches:
            return poisson(self.rng, rate=1.2 * RATE)

    report = Larger().run()
    assert kinds(report) == ["rate"] and report.plan is not None
    found = report.plan.mechanisms[0].rate
    assert found is not None and 1.2 * RATE < found < 1.35 * RATE  # an upper confidence limit
    assert report.plan.epsilon(DELTA) > plan(rate=1.2 * RATE).epsilon(DELTA)


SMALL = 3 / EXAMPLES  # 5 % of such batches are empty


@pytest.mark.parametrize("says", [True, False])
def test_skipped_empty_batches(says: bool) -> None:
    planned = plan(600, rate=SMALL)

    def run(skips: bool) -> RunReport:
        recorder = Recorder(planned, examples=EXAMPLES)
        for batch in poisson(np.random.default_rng(3), 600, SMALL):
            if skips and not len(batch):
                if says:
                    recorder.skip(batch)
                continue
            recorder.step(batch, normaliser=3, clip=1.0, noise_multiplier=SIGMA)
        return recorder.report()

    report = run(skips=True)
    assert kinds(report) == ["skipped-batches", "steps"]
    assert report.plan is not None and report.plan.adjacency == "replace"
    assert run(skips=False).matches


def test_a_smaller_rate_is_not_taken_for_skipping() -> None:
    # Twice the batches have hardly any empty ones, without any being skipped.
    recorder = Recorder(plan(600, rate=SMALL), examples=EXAMPLES)
    for batch in poisson(np.random.default_rng(3), 600, 2 * SMALL):
        recorder.step(batch, normaliser=3, clip=1.0, noise_multiplier=SIGMA)
    assert kinds(recorder.report()) == ["rate"]


def test_division_by_the_size_of_the_batch() -> None:
    class Mean(Loop):
        def normaliser(self, batch: NDArray[np.int64]) -> float:
            return len(batch)

    report = Mean().run()
    assert kinds(report) == ["normaliser"] and "size of the batch in 105 of 105 steps" in report.findings[0].reason
    assert report.plan is not None and report.plan.adjacency == "replace"


PARTS = 4


@pytest.mark.parametrize(
    ("factor", "times", "mistake"),
    [
        (1.0, PARTS, "noise is added to each of 4 micro-batches."),
        (1 / PARTS, 1, "noise is divided by 4, as"),
        (1 / math.sqrt(PARTS), 1, "is divided by the square root of 4, and added once."),
    ],
)
def test_noise_of_micro_batches(factor: float, times: int, mistake: str) -> None:
    class Micro(Loop):
        def noise(self, step: int) -> NDArray[np.float64]:
            return sum((factor * Loop.noise(self, step) for _ in range(times)), np.zeros(COORDINATES))

    report = Micro().run()
    assert kinds(report) == ["noise"] and mistake in report.findings[0].reason
    assert report.plan is not None
    real = SIGMA * factor * math.sqrt(times)
    assert 0.7 * real < report.plan.mechanisms[0].parameters["sigma"] < real
    assert (report.plan.epsilon(DELTA) > plan().epsilon(DELTA)) == (factor < 1)


def test_right_noise_in_parts() -> None:
    class Parts(Loop):
        def noise(self, step: int) -> NDArray[np.float64]:
            return sum((Loop.noise(self, step) / math.sqrt(PARTS) for _ in range(PARTS)), np.zeros(COORDINATES))

    assert Parts().run().matches


def test_micro_batches_that_are_steps() -> None:
    class Split(Loop):
        def batches(self) -> Batches:
            for batch in poisson(self.rng):
                yield from np.array_split(batch, PARTS)

    report = Split().run()
    assert {"rate", "steps"} <= set(kinds(report)) and "420 steps; planned: 105" in str(report)


def test_steps_without_measurement_have_no_more_noise_than_declared() -> None:
    recorder, rng = Recorder(plan(2), examples=EXAMPLES), np.random.default_rng(1)
    after = rng.normal(scale=3 * SIGMA, size=COORDINATES)
    for batch, sums in zip(poisson(rng, 2), [dict(before=np.zeros(COORDINATES), after=after), {}], strict=True):
        recorder.step(batch, normaliser=BATCH, clip=1.0, noise_multiplier=SIGMA, **sums)
    report = recorder.report()
    assert kinds(report) == ["noise"] and "More noise" in report.findings[0].consequence
    assert report.plan == plan(2)


@pytest.mark.parametrize("every", [2, 50])
def test_steps_without_noise(every: int) -> None:
    class Some(Loop):
        def noise(self, step: int) -> NDArray[np.float64]:
            return np.zeros(COORDINATES) if step % every == 0 else super().noise(step)

    report = Some().run()
    assert kinds(report) == ["noise"] and "not the same in all steps" in report.findings[0].observed
    assert report.plan is None and report.refusal == "There are steps without noise."


def test_noise_that_is_one_percent_off() -> None:
    class Less(Loop):
        def noise(self, step: int) -> NDArray[np.float64]:
            return 0.99 * super().noise(step)

        def batches(self) -> Batches:
            return poisson(self.rng, 1000)

    assert kinds(Less().run(plan(1000))) == ["noise"]
    assert kinds(Less().run(plan(1000), sums=False)) == []


@pytest.mark.parametrize("steps", [STEPS - 1, STEPS + 1])
def test_another_number_of_steps(steps: int) -> None:
    class Other(Loop):
        def batches(self) -> Batches:
            return poisson(self.rng, steps)

    report = Other().run()
    assert kinds(report) == ["steps"] and report.plan == plan(steps)
    assert ("Fewer" in report.findings[0].consequence) == (steps < STEPS)


def test_a_clipping_norm_that_changes() -> None:
    class Changed(Loop):
        def norm(self, step: int) -> float:
            return 0.5 if step <= 60 else 0.7

    report = Changed().run()
    assert kinds(report) == ["clip"] and "in step 61" in report.findings[0].observed
    assert report.plan == plan()  # the noise grew with the norm
    other = Recorder(plan(), examples=EXAMPLES, clip=1.0)
    other.step([], normaliser=1, clip=2.0, noise_multiplier=SIGMA)
    assert "clip" in kinds(other.report())


def test_a_clipping_norm_that_changes_without_its_noise() -> None:
    class Changed(Loop):
        def norm(self, step: int) -> float:
            return 0.5 if step <= 60 else 0.7

        def noise(self, step: int) -> NDArray[np.float64]:
            return super().noise(1)

    report = Changed().run()
    assert kinds(report) == ["clip", "noise"]
    assert report.plan is not None and report.plan.mechanisms[0].parameters["sigma"] < SIGMA * 0.5 / 0.7


def test_a_noise_multiplier_that_changes() -> None:
    class Changed(Loop):
        def declared(self, step: int) -> float:
            return SIGMA if step <= 60 else 0.8

    report = Changed().run()
    assert kinds(report) == ["noise-multiplier"] and "0.8 (first in step 61)" in report.findings[0].observed
    phases = plan(60) + plan(45, sigma=0.8)
    assert report.plan == phases
    assert Changed().run(phases).matches
    backwards = cp.compose(phases.mechanisms[::-1], adjacency="add-remove")
    assert kinds(Changed().run(backwards)) == ["noise-multiplier"]


@pytest.mark.parametrize("sums", [True, False])
def test_gradients_that_are_not_clipped(sums: bool) -> None:
    class Raw(Loop):
        def clipped(self, gradients: NDArray[np.float64], clip: float) -> NDArray[np.float64]:
            return gradients

    report = Raw().run(sums=sums)
    assert kinds(report) == ["clipping"] and report.plan is None and "in 105 steps" in report.findings[0].observed
    assert "no epsilon holds" in report.findings[0].consequence and report.refusal is not None


@pytest.mark.parametrize("norm", [1.01, math.inf, math.nan])
def test_one_gradient_that_is_too_long(norm: float) -> None:
    recorder = Recorder(plan(1), examples=EXAMPLES)
    recorder.step(range(50), normaliser=50, clip=1.0, noise_multiplier=SIGMA, norms=[0.5] * 40 + [norm] + [1.0] * 9)
    assert kinds(recorder.report()) == ["clipping"]


def test_a_sum_that_is_too_long() -> None:
    # Without norms the sum is all there is: 51 gradients of norm one cannot come from 50 examples.
    for length, expected in [(50.0, []), (51.0, ["clipping"])]:
        recorder = Recorder(plan(1, rate=None), examples=50)
        before = np.zeros(COORDINATES)
        before[0] = length
        noise = np.random.default_rng(1).normal(scale=SIGMA, size=COORDINATES)
        recorder.step(range(50), normaliser=50, clip=1.0, noise_multiplier=SIGMA, before=before, after=before + noise)
        assert kinds(recorder.report()) == expected
    assert "only the norm of the sum" in str(recorder.report())


def test_examples_that_are_twice_in_a_batch() -> None:
    class Twice(Loop):
        def batches(self) -> Batches:
            return (self.rng.integers(EXAMPLES, size=BATCH) for _ in range(STEPS))

    report = Twice().run()
    assert {"repeats", "batches"} == set(kinds(report)) and report.plan is not None
    assert report.plan.mechanisms[0].parameters["sensitivity"] >= 4


def test_all_data_in_each_step() -> None:
    class All(Loop):
        def batches(self) -> Batches:
            return (np.arange(EXAMPLES) for _ in range(STEPS))

    report = All().run(plan(rate=None))
    assert report.matches and report.plan == cp.compose([cp.Gaussian(SIGMA) * STEPS], adjacency="add-remove")
    assert {"rate", "batches"} == set(kinds(Shuffled().run(plan(rate=None))))


def test_least_noise_counts_first_where_sampling_does_not() -> None:
    recorder = Recorder(plan(3), examples=EXAMPLES)
    for size, sigma in [(2, 3.0), (4, 1.0), (5, 2.0)]:
        recorder.step(np.arange(size), normaliser=size, clip=1.0, noise_multiplier=sigma)
    parts = [cp.Gaussian(sigma, sensitivity=2.0) for sigma in (1.0, 2.0, 3.0)]
    assert recorder.report().plan == cp.compose(parts, adjacency="replace")


class Foreign:
    """An array of another library, as JAX has them."""

    def __init__(self, values: Any, kind: type) -> None:
        self.values = np.asarray(values, dtype=kind)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.values if dtype is None else self.values.astype(dtype)


def test_arrays_of_other_libraries() -> None:
    rng = np.random.default_rng(1)
    recorder = Recorder(plan(), examples=np.int64(EXAMPLES))
    for batch in poisson(rng):
        before = {"w": rng.normal(size=(10, 20)) / 100, "b": [rng.normal(size=7) / 100, np.float32(0.01)]}
        noise = [rng.normal(scale=SIGMA, size=size) for size in ((10, 20), 7, ())]
        after = {
            "b": [before["b"][0] + noise[1], before["b"][1] + noise[2]],
            "w": Foreign(before["w"] + noise[0], np.float32),
        }
        recorder.step(
            Foreign(batch, np.int32), normaliser=np.float32(BATCH), clip=1.0, noise_multiplier=SIGMA, before=before,
            after=after,
        )
    assert recorder.report().matches


def test_memory_does_not_grow_with_steps() -> None:
    rng = np.random.default_rng(1)
    recorder, sizes = Recorder(plan(), examples=100_000), []
    for _ in range(3):
        for _ in range(30):
            recorder.step(rng.permutation(100_000)[:10_000], normaliser=1, clip=1.0, noise_multiplier=SIGMA)
        sizes.append(len(pickle.dumps(recorder)))
    assert max(sizes) - min(sizes) < 100 and sizes[0] < 17 * 100_000
    again = pickle.loads(pickle.dumps(recorder))
    assert str(again.report()) == str(recorder.report())


@pytest.mark.parametrize("wrong", [
    dict(indices=[EXAMPLES]), dict(indices=[-1]), dict(indices=[0.5]), dict(indices=np.ones(EXAMPLES, dtype=bool)),
    dict(normaliser=0), dict(clip=-1.0), dict(clip=math.nan), dict(noise_multiplier=-1.0),
    dict(noise_multiplier=math.inf), dict(before=np.zeros(3)), dict(before=np.zeros(3), after=np.zeros(4)),
    dict(before=np.zeros(1), after=np.array([math.nan])),
])
def test_wrong_steps_are_refused_and_leave_no_trace(wrong: dict[str, Any]) -> None:
    recorder = Recorder(plan(), examples=EXAMPLES)
    before = pickle.dumps(recorder)
    with pytest.raises(cp.InvalidArgumentError, match="legal"):
        recorder.step(**{"indices": [0], "normaliser": 1, "clip": 1.0, "noise_multiplier": 1.0, **wrong})
    assert pickle.dumps(recorder) == before


@pytest.mark.parametrize(("wrong", "examples"), [
    (cp.compose([cp.Laplace(1.0)]), 10),
    (cp.compose([cp.Gaussian(1.0), cp.Gaussian(1.0, rate=0.1)], adjacency="add-remove"), 10),
    (cp.compose([cp.Gaussian(1.0)], adjacency="replace"), 10),
    (cp.compose([cp.Gaussian(1.0)], adjacency="add-remove", group=2), 10),
    (cp.compose([cp.Gaussian(1.0, partition="north")], adjacency="add-remove"), 10),
    (cp.Gaussian(1.0), 0), (cp.Gaussian(1.0), 1.5), (cp.Gaussian(1.0), True),
])
def test_plans_that_no_loop_has(wrong: Any, examples: Any) -> None:
    with pytest.raises(cp.InvalidArgumentError, match="legal"):
        Recorder(wrong, examples=examples)


def test_no_steps() -> None:
    report = Recorder(cp.Gaussian(SIGMA, rate=RATE), examples=EXAMPLES).report()
    assert kinds(report) == ["steps"] and report.plan is None and "none" in str(report)


def test_the_bound_for_counts_against_binomial_sums() -> None:
    for trials, rate in product([1, 7, 40], [0.01, 0.3, 0.9]):
        law = [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
        for count in range(trials + 1):
            tail = sum(law[count:]) if count >= trials * rate else sum(law[: count + 1])
            assert min(1.0, 2 * tail) <= module._chance_of_count(count, trials, rate) * (1 + 1e-9)


def test_the_bound_for_spreads_against_enumeration() -> None:
    for trials, rate, number in [(4, 0.3, 3), (2, 0.5, 5), (6, 0.1, 3)]:
        law = [math.comb(trials, k) * rate**k * (1 - rate) ** (trials - k) for k in range(trials + 1)]
        found: dict[float, tuple[float, float]] = {}
        for values in product(range(trials + 1), repeat=number):
            spread = module._spread(np.array(values), np.ones(number), trials, rate)
            mass = found.get(round(spread.ratio, 9), (0.0, 0.0))[0] + math.prod(law[value] for value in values)
            found[round(spread.ratio, 9)] = mass, spread.chance
        assert sum(mass * ratio for ratio, (mass, _) in found.items()) == pytest.approx(1, abs=1e-6)
        for ratio, (_, chance) in found.items():
            tail = sum(mass for other, (mass, _) in found.items() if (other >= ratio if ratio > 1 else other <= ratio))
            assert min(1.0, 2 * tail) <= chance * (1 + 1e-6)


def test_the_limits_of_noise_against_the_gamma_law() -> None:
    # For an even number D of coordinates: P(sum of squares > x) = exp(-x/2) sum (x/2)^k / k!, k < D/2.
    def above(x: float, coordinates: int) -> float:
        return sum(math.exp(-x / 2 + k * math.log(x / 2) - math.lgamma(k + 1)) for k in range(coordinates // 2))

    for coordinates, chance in product([2, 10, 100, 1000], [1e-2, 1e-6, 1e-9]):
        low, high = module._limits(coordinates, 1.0, chance)
        many, few = above(1 / low**2, coordinates), 1 - above(1 / high**2, coordinates)
        assert many <= chance / 2 and few <= chance / 2 + 1e-13
        # One percent more, and a large sample shows it.
        assert many > chance / 200
    low, high = module._limits(10_000_000, 10_000_000.0, FALSE_ALARM)
    assert 0.997 < low < 1 < high < 1.003


def test_false_alarms_are_rarer_than_stated() -> None:
    rng, alarms, number = np.random.default_rng(1), np.zeros(4), 300
    for _ in range(number):
        people, steps, rate = rng.integers(20, 400), rng.integers(1, 60), rng.choice([0.01, 0.1, 0.5])
        used = rng.random((steps, people)) < rate
        sizes, uses = used.sum(axis=1), used.sum(axis=0)
        low, high = module._limits(50, float((rng.standard_normal(50) ** 2).sum()), 0.05)
        alarms += [
            module._chance_of_count(int(used.sum()), used.size, rate) <= 0.05,
            module._spread(sizes, np.ones(steps), people, rate).chance <= 0.05,
            module._spread(uses, np.ones(people), steps, rate).chance <= 0.05,
            not low <= 1 <= high,
        ]
    assert (alarms <= 0.05 * number).all()


CHECKS: list[Callable[[], RunReport]] = [Loop().run, Shuffled().run]


@pytest.mark.parametrize("check", CHECKS)
def test_reports_are_plain_sentences(check: Callable[[], RunReport]) -> None:
    report = check()
    lines = str(report).splitlines()
    assert lines[0].startswith("The run: 105 steps") and lines[1].startswith("As a plan: Plan(")
    assert len(lines) == 3 + len(report.findings) + len(report.assumptions)
    for finding in report.findings:
        assert all(text.endswith(".") for text in finding[1:]) and str(finding) in str(report)

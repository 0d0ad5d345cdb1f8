"""Noise that is drawn: its laws, through Python; what it is charged as, to the last bit; and what is refused.

The laws are written here once more, by their formulas. Whether draws follow one is judged by Chernoff's bounds, which hold
for any number of draws: a law is falsely rejected at most once in 10^9 runs.
"""

from __future__ import annotations

import json
import math
import os
import random
import struct
import subprocess
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

import counterpoint as cp
from counterpoint import noise, sessions

LEVEL = 1e-9
BITS = os.environ.get("COUNTERPOINT_BITS", "")


class Fit:
    """A law on whole numbers: masses of the cells, and a number ("energy") of which the cumulant is known."""

    def __init__(self, places: Any, masses: Any, energy: Callable[[Any], Any]) -> None:
        self.places = np.asarray(places, dtype=np.int64)
        masses = np.asarray(masses, dtype=np.float64)
        self.masses = masses / math.fsum(masses)
        self.energy = energy
        energies = energy(self.places)
        self.mean = float(np.sum(self.masses * energies))
        self.spread = energies - self.mean
        self.variance = float(np.sum(self.masses * self.spread**2))

    def rejects(self, draws: Any) -> bool:
        draws = np.asarray(draws)
        runs = len(draws)
        cells = np.searchsorted(self.places, draws)
        assert np.all(self.places[np.minimum(cells, len(self.places) - 1)] == draws), "a draw that has no mass"
        counts = np.bincount(cells, minlength=len(self.places))
        most = max(
            np.max(_divergence(counts / runs, self.masses)),
            np.max(_divergence(np.cumsum(counts) / runs, np.cumsum(self.masses))),
        )
        by_cells = 4 * len(self.masses) * math.exp(-runs * most)
        off = float(np.mean(self.energy(draws))) - self.mean
        return min(by_cells, self._off_by(off, runs)) < LEVEL / 2

    def _off_by(self, off: float, runs: int) -> float:
        """P(mean >= m) is at most exp(-n (t m - cumulant(t))) for every t > 0, and likewise below."""

        def rate(share: float) -> float:
            t, some = share * off / self.variance, self.masses > 0
            with np.errstate(over="ignore"):
                cumulant = math.log1p(float(np.sum(self.masses[some] * np.expm1(t * self.spread[some]))))
            return t * off - cumulant

        return 2 * math.exp(-runs * max(0.0, *map(rate, (1.0, 0.5, 0.25, 0.125))))


def _divergence(seen: Any, mass: Any) -> Any:
    """x ln(x/p) + (1-x) ln((1-x)/(1-p)): n times it bounds a binomial tail."""
    seen, mass = np.minimum(seen, 1.0), np.clip(mass, 1e-300, 1.0)

    def part(x: Any, p: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(x > 0, x * np.log(np.where(x > 0, x, 1) / np.maximum(p, 1e-300)), 0.0)

    return np.where(np.abs(seen - mass) < 1e-12, 0.0, part(seen, mass) + part(1 - seen, 1 - mass))


def laplace_law(scale: float) -> Fit:
    places = np.arange(-int(60 * scale) - 60, int(60 * scale) + 61)
    return Fit(places, np.exp(-np.abs(places) / scale), lambda x: np.abs(x) / scale)


def gaussian_law(sigma: float) -> Fit:
    places = np.arange(-int(12 * sigma) - 12, int(12 * sigma) + 13)
    return Fit(places, np.exp(-((places / sigma) ** 2) / 2), lambda x: (x / sigma) ** 2)


def staircase_law(epsilon: float, period: int) -> Fit:
    # The boundary nearest to the best one that lies half a step off the grid.
    best = period / (1 + math.exp(epsilon / 2))
    cut = min(range(1, period + 1), key=lambda cut: abs(cut - 0.5 - best))
    far = int(60 * period / min(epsilon, 1))
    places = np.arange(-far, far + 1)

    def level(x: Any) -> Any:
        n, j = np.divmod(np.abs(x), period)
        return n + (j >= cut)

    return Fit(places, np.exp(-epsilon * level(places)), lambda x: level(x) * epsilon)


def spaced(low: float, high: float, number: int) -> list[float]:
    return [low * (high / low) ** (i / (number - 1)) for i in range(number)]


def draws(law: noise.Law, number: int) -> Any:
    """In steps of the grid, through arrays; a few of them through lists."""
    zeros = [0] * 100
    listed = np.asarray(law.release(zeros).value) / law.grid
    arrayed = law.release(np.zeros(number - 100, dtype=np.int64)).value / law.grid
    found = np.concatenate([listed, arrayed])
    assert np.all(found == np.round(found))
    return found.astype(np.int64)


def laws(number: int) -> Iterable[tuple[str, noise.Law, Fit]]:
    for scale in spaced(0.2, 200.0, number):
        yield f"geometric {scale}", noise.geometric(scale), laplace_law(scale)
    for scale in spaced(1e-3, 1e6, number):
        law = noise.laplace(scale, 1.0, grid=scale / 100)
        yield f"laplace {scale}", law, laplace_law(scale / law.grid)
    for sigma in spaced(0.2, 500.0, number):
        yield f"discrete Gaussian {sigma}", noise.discrete_gaussian(sigma), gaussian_law(sigma)
    for sigma in spaced(1e-3, 1e6, number):
        law = noise.gaussian(sigma, sigma, grid=sigma / 1024)
        yield f"gaussian {sigma}", law, gaussian_law(sigma / law.grid)
    for epsilon, period in zip(spaced(0.1, 4.0, number), [1, 2, 3, 5, 8, 13, 40] * number):
        law = noise.staircase(epsilon, None, float(period), grid=1.0)
        yield f"staircase {epsilon} {period}", law, staircase_law(epsilon, period)


def test_noise_follows_its_law(full: bool) -> None:
    for name, law, fit in laws(10 if full else 4):
        assert not fit.rejects(draws(law, 500_000 if full else 20_000)), name


def test_a_wrong_scale_is_seen(full: bool) -> None:
    number, factors = (1_000_000, (0.98, 1.02)) if full else (40_000, (0.9,))
    for factor in factors:
        for law, fit in [
            (noise.geometric(7.0 * factor), laplace_law(7.0)),
            (noise.laplace(100.0 * factor, 1.0, grid=1.0), laplace_law(100.0)),
            (noise.discrete_gaussian(7.0 * factor), gaussian_law(7.0)),
            (noise.gaussian(1000.0 * factor, 1.0, grid=1.0), gaussian_law(1000.0)),
            (noise.staircase(factor, None, 5.0, grid=1.0), staircase_law(1.0, 5)),
        ]:
            assert fit.rejects(draws(law, number)), law


def response_law(epsilon: float, buckets: int, truth: int) -> Fit:
    places = np.arange(buckets)
    masses = np.where(places == truth, math.exp(epsilon), 1.0)
    return Fit(places, masses, lambda x: (np.asarray(x) == truth).astype(float))


def leaky_law(epsilon: float, delta: float) -> Fit:
    told = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    return Fit(np.arange(4), [1 - delta - told, told, 0.0, delta], lambda x: (np.asarray(x) == 1).astype(float))


def exponential_law(rate: float, scores: list[int]) -> Fit:
    energies = rate * np.asarray(scores, dtype=float)
    return Fit(np.arange(len(scores)), np.exp(energies - energies.max()), lambda x: energies[np.asarray(x)])


def test_choices_follow_their_laws(full: bool) -> None:
    number = 500_000 if full else 20_000

    def responses(epsilon: float, buckets: int) -> Any:
        return noise.randomized_response(epsilon, buckets).release(np.full(number, buckets // 2)).value

    def leaky(epsilon: float, delta: float) -> Any:
        pairs = noise.leaky_response(epsilon, delta).release(np.ones(number, dtype=bool)).value
        return 2 * pairs[:, 0].astype(int) + pairs[:, 1]

    scores = [3, 17, 0, 12, 17, 5, 16, -40]

    def chosen(epsilon: float, sensitivity: int) -> Any:
        return noise.exponential(epsilon, sensitivity).release(np.tile(scores, (number, 1))).value

    for epsilon, buckets in [(0.05, 2), (0.7, 3), (2.0, 4), (4.0, 10), (6.0, 100)]:
        law = response_law(epsilon, buckets, buckets // 2)
        assert not law.rejects(responses(epsilon, buckets)), (epsilon, buckets)
    for epsilon, delta in [(0.05, 1e-3), (1.0, 0.1), (5.0, 0.5)]:
        assert not leaky_law(epsilon, delta).rejects(leaky(epsilon, delta)), (epsilon, delta)
    for epsilon, sensitivity in [(0.05, 1), (1.0, 2), (8.0, 5)]:
        law = exponential_law(epsilon / (2 * sensitivity), scores)
        assert not law.rejects(chosen(epsilon, sensitivity)), (epsilon, sensitivity)
    # A tenth off is seen, as it is of noise.
    assert response_law(2.4, 2, 1).rejects(noise.randomized_response(2.16, 2).release(np.ones(40_000, dtype=int)).value)
    bits = noise.leaky_response(2.16, 0.01).release(np.ones(40_000, dtype=bool)).value
    assert leaky_law(2.4, 0.01).rejects(2 * bits[:, 0].astype(int) + bits[:, 1])
    ten = noise.exponential(0.9).release(np.tile(np.arange(10), (40_000, 1))).value
    assert exponential_law(0.5, list(range(10))).rejects(ten)


def test_accuracy_is_the_laws() -> None:
    for scale, confidence in [(2.0, 0.95), (0.5, 0.5), (30.0, 0.999)]:
        decay = math.exp(-1 / scale)
        # P(|x| > w) = 2 b^(w+1)/(1 + b): the least w that will do.
        width = next(w for w in range(10**4) if 2 * decay ** (w + 1) / (1 + decay) <= 1 - confidence)
        assert noise.geometric(scale).half_width(confidence) == width
        reply = noise.geometric(scale).release(7)
        assert reply.accuracy(confidence) == width
        assert reply.intervals(confidence) == [(reply.value - width, reply.value + width)]
    law = noise.geometric(3.0)
    assert law.expected_error() == pytest.approx(1 / math.sinh(1 / 3), rel=1e-9)
    assert noise.randomized_response(1.0).release(0).accuracy() is None


def line(**fields: Any) -> str:
    return json.dumps({"under": "add-remove", "records": 1, "delta": 1e-6, "count": 1, **fields})


def epsilon_bits(releases: Any, adjacency: Any) -> str:
    answer = cp.compose(list(releases), adjacency=adjacency).epsilon(1e-6)
    return " ".join(struct.pack(">d", end).hex() for end in (answer.lower, answer.upper))


def test_charges_are_the_rust_librarys_to_the_last_bit(full: bool) -> None:
    assert os.path.exists(BITS), "COUNTERPOINT_BITS does not name the Rust program; crates/python/tests/run does"
    rng = random.Random(20261117)
    cases: list[tuple[str, Any, str]] = []

    def add(found: Any, **fields: Any) -> None:
        cases.append((line(**fields), found, fields.get("under", "add-remove")))

    for _ in range(20 if full else 4):
        scale, count = rng.uniform(2, 20), rng.randint(1, 9)
        whole, real = rng.randint(1, 5), rng.uniform(0.1, 3)
        step = real / rng.choice([10, 100, 3000])
        zeros: list[int] = [0] * count
        add(noise.geometric(scale, whole).release(zeros).releases,
            law="geometric", amount=scale, sensitivity=whole, count=count)
        add(noise.discrete_gaussian(scale, whole).release(np.zeros(count, dtype=np.int8)).releases,
            law="discrete-gaussian", amount=scale, sensitivity=whole, count=count)
        add(noise.laplace(scale, real, step).release(np.zeros(count)).releases,
            law="laplace", amount=scale, sensitivity=real, step=step, count=count)
        add(noise.gaussian(scale, real, step).release([0.0] * count).releases,
            law="gaussian", amount=scale, sensitivity=real, step=step, count=count)
        add(noise.staircase(1 / scale, None, real, step).release(zeros).releases,
            law="staircase", amount=1 / scale, sensitivity=real, step=step, count=count)
        add(noise.randomized_response(1 / scale, whole + 1).release(zeros).releases,
            law="randomized-response", amount=1 / scale, sensitivity=whole + 1, count=count)
        add(noise.leaky_response(1 / scale, 1e-8 * real).release([True] * count).releases,
            law="leaky-response", amount=1 / scale, sensitivity=1e-8 * real, count=count)
        add(noise.exponential(1 / scale, whole).release([1, 2, 3]).releases,
            law="exponential", amount=1 / scale, sensitivity=whole)
        adjacency = rng.choice(["add-remove", "replace"])
        ends, edges = [-rng.uniform(0, 5), rng.uniform(1, 90)], sorted(rng.uniform(0, 9) for _ in range(4))
        data = noise.Data([1.0, 2.0, 50.0], adjacency=adjacency, records=whole)
        table = noise.Data.table([[1.0, 2.0], [3.0, 4.0]], adjacency=adjacency, records=whole)
        style = rng.choice(["laplace", "staircase"])
        bounds = (ends[0], ends[1])
        queries = [
            (noise.Query.count(), {"count": None}, data),
            (noise.Query.count_within(bounds), {"count": ends}, data),
            (noise.Query.sum(bounds), {"sum": ends}, data),
            (noise.Query.mean(bounds), {"mean": ends}, data),
            (noise.Query.variance(bounds), {"variance": ends}, data),
            (noise.Query.proportion(bounds), {"proportion": ends}, data),
            (noise.Query.histogram(edges), {"histogram": edges}, data),
            (noise.Query.cumulative(edges), {"cumulative": edges}, data),
            (noise.Query.covariance(bounds, (0, 1)), {"covariance": [ends, [0, 1]]}, table),
            (noise.Query.regression([bounds], (0, 1)), {"regression": {"predictors": [ends], "outcome": [0, 1]}}, table),
        ]
        about = dict(under=adjacency, records=whole)
        for query, written, asked in queries:
            recipe, multiplier = {style: {"epsilon": 1 / scale}}, {"gaussian": {"multiplier": scale}}
            add(noise.measure(asked, query, style, 1 / scale).releases, recipe={"query": written, "style": recipe}, **about)
            add(query.gaussian(scale).run(asked).releases, recipe={"query": written, "style": multiplier}, **about)
        shares = {"shares": [[1, 4], [1, 2]], "candidates": edges}
        add(noise.Query.quantiles([0.25, "1/2"], edges).exponential(1 / scale).run(data).releases,
            recipe={"query": {"quantiles": shares}, "style": {"exponential": {"epsilon": 1 / scale}}}, **about)
        gate = dict(epsilon=1 / scale, answers=whole, threshold=real, reach=1.0, grid=0)
        add(sessions.SparseVectorSpec(1 / scale, answers=whole, threshold=real).open(data).releases,
            interactive={"sparse-vector": {"gate": gate, "values": False}}, **about)
        add(sessions.SparseVectorSpec(1 / scale, answers=whole, threshold=real, values=True, reach=2.5, grid=0.25).open(data).releases,
            interactive={"sparse-vector": {"gate": {**gate, "reach": 2.5, "grid": -2}, "values": True}}, **about)
        add(sessions.GuessAndCheckSpec(1 / scale, corrections=whole, tolerance=real).open(data).releases,
            interactive={"guess-and-check": gate}, **about)
        mean = {"query": {"mean": ends}, "style": {"gaussian": {"multiplier": scale}}}
        add(sessions.SequenceSpec([noise.Query.mean(bounds).gaussian(scale)] * 2).open(data).releases,
            interactive={"sequence": [mean, mean]}, **about)
    asked_text = "".join(text + "\n" for text, _, _ in cases)
    told = subprocess.run([BITS], input=asked_text, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(told) == len(cases)
    for (text, releases, adjacency), bits in zip(cases, told):
        assert bits != "error", text
        assert epsilon_bits(releases, adjacency) == bits, text


# Noise of so small a scale is zero but once in e^1000000.
STILL = 2.0**-20


def test_values_keep_their_shape_and_are_exact() -> None:
    law = noise.geometric(STILL)
    assert law.release(5).value == 5 and type(law.release(5).value) is int
    assert law.release([1, -2, 2**70]).value == [1, -2, 2**70]
    assert law.release([[1, 2], [3]]).value == [[1, 2], [3]]
    assert law.release([]).value == [] and law.release([]).releases == ()
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, ">i4"):
        given = np.arange(24, dtype=dtype).reshape(2, 3, 4)
        found = law.release(given)
        assert found.value.shape == (2, 3, 4) and found.value.dtype == np.int64
        assert np.array_equal(found.value, given)
        assert found.releases == (cp.Geometric(STILL, 1, count=24),)
    assert law.release(given[:, ::2, 1]).value.tolist() == given[:, ::2, 1].tolist()
    scalar = law.release(np.int32(9))
    assert scalar.value == 9 and scalar.releases == (cp.Geometric(STILL, 1),)
    # Narrow dtypes do not wrap around: noise goes into 64 bits, where what does not fit is cut.
    wide = noise.geometric(1000.0).release(np.full(2000, 127, dtype=np.int8)).value
    assert wide.max() > 127 and wide.min() < -128
    edge = noise.geometric(1000.0).release(np.full(2000, 2**63 - 1)).value
    assert edge.max() == 2**63 - 1 and edge.min() > 2**62


def test_numbers_are_put_on_the_grid() -> None:
    law = noise.laplace(STILL / 8, 1.0, grid=0.125)
    assert law.grid == 0.125 and law.sensitivity == 8
    given = [0.3, -0.3, 0.0625, -0.0625, math.nan, -0.0]
    assert law.release(given).value == [0.25, -0.25, 0.125, 0.0, 0.0, 0.0]
    assert law.release(np.array(given)).value.tolist() == [0.25, -0.25, 0.125, 0.0, 0.0, 0.0]
    assert law.release(np.array(given, dtype=np.float32)).value.tolist()[:2] == [0.25, -0.25]
    # What is too large is cut, and never refused: a refusal would tell of the data.
    furthest = 2.0**62 / 8
    assert law.release([math.inf, -math.inf, 1e300]).value == [furthest, -furthest, furthest]
    assert law.release(10**400).value == furthest
    # Whole numbers are rounded as whole numbers. As doubles the last two would be 256 apart, which noise for 1 does not
    # cover; halves go upward, and as doubles the second would go down.
    coarse = noise.laplace(256 * STILL, 1.0, grid=256.0)
    far = [2**60 + 127, 2**60 + 128, 2**60 + 129]
    assert float(far[2]) - float(far[1]) == 256.0
    rounded = [2.0**60, 2.0**60 + 256, 2.0**60 + 256]
    assert coarse.release(far).value == rounded == coarse.release(np.array(far)).value.tolist()
    assert [coarse.release(x).value for x in far] == rounded == coarse.release([*far, 0.0]).value[:3]
    mixed = noise.laplace(STILL, 1.0, grid=1.0).release([1, 2.0, 3])
    assert mixed.value == [1.0, 2.0, 3.0] and mixed.releases[0].count == 3
    # The default grid depends on the sensitivity alone.
    assert noise.laplace(3.0, 2.0).grid == 2.0**-9 and noise.gaussian(3.0, 1.5).grid == 2.0**-10


def test_what_is_not_legal_is_refused() -> None:
    for wrong, text in [
        (lambda: noise.geometric(-1.0), "scale is -1"),
        (lambda: noise.geometric(math.nan), "scale is [nN]a[nN]"),
        (lambda: noise.geometric(math.inf), "scale is inf"),
        (lambda: noise.geometric(1.0, 0), "sensitivity is 0"),
        (lambda: noise.geometric(1.0, -1), "sensitivity is -1"),
        (lambda: noise.geometric(1.0, 2**53 + 1), "sensitivity is"),
        (lambda: noise.discrete_gaussian(2.0**21), "sigma is 2097152; legal"),
        (lambda: noise.laplace(1.0, -1.0), "sensitivity is -1"),
        (lambda: noise.laplace(1.0, 0.0), "sensitivity is 0"),
        (lambda: noise.laplace(1.0, math.inf), "sensitivity is inf"),
        (lambda: noise.laplace(1.0, 1.0, grid=0.0), "grid step is 0"),
        (lambda: noise.laplace(1.0, 1.0, grid=-1.0), "grid step is -1"),
        (lambda: noise.staircase(0.0), "epsilon is 0"),
        (lambda: noise.staircase(1.0, gamma=1.5), "1.5; legal"),
        (lambda: noise.randomized_response(1.0, 1), "buckets is 1; legal"),
        (lambda: noise.leaky_response(1.0, 1.5), "delta is 1.5; legal"),
        (lambda: noise.exponential(1.0).release([]), "scores has 0 entries; legal: at least one"),
        (lambda: noise.exponential(1.0).release(np.zeros((3, 0), dtype=int)), r"shape \(3, 0\)"),
        (lambda: noise.geometric(1.0).half_width(1.0), "confidence is 1; legal"),
        (lambda: noise.geometric(2.0**60).release(np.zeros(3, dtype=int)), "scale is .*legal: at most 2.50 with an array"),
        (lambda: noise.Data([1.0], adjacency="both"), "adjacency is \"both\"; legal"),  # type: ignore[arg-type]
        (lambda: noise.Data([1.0], adjacency="replace", records=0), "records is 0; legal"),
        (lambda: noise.Data([1.0], adjacency="replace", part="north"), "legal: parts under add-remove"),
        (lambda: noise.Data(np.zeros((2, 2)), adjacency="replace"), "values has 2 dimensions; legal: 1"),
        (lambda: noise.Data.table([[1.0], [1.0, 2.0]], adjacency="replace"), "a column has 2 entries"),
        (lambda: noise.Query.sum((1.0, 0.0)), "bounds is 1 to 0; legal"),
        (lambda: noise.Query.sum((0.0, math.inf)), "bounds is 0 to inf; legal"),
        (lambda: noise.Query.histogram([1.0, 1.0]), "edges"),
        (lambda: noise.Query.quantile(1.5, [1.0]), "share is 1.5; legal"),
        (lambda: noise.Query.quantile(0.12345, [1.0]), "share is 0.12345; legal"),
        (lambda: noise.Query.count().laplace(0.0), "epsilon is 0; legal"),
        (lambda: noise.Query.count().laplace(math.nan), "epsilon is [nN]a[nN]; legal"),
        (lambda: noise.Query.count().exponential(1.0), "exponential for a count; legal: a quantile"),
        (lambda: noise.Query.quantile(0.5, [1.0]).laplace(1.0), "laplace for a quantile; legal: exponential"),
        (lambda: noise.measure(noise.Data([1.0], adjacency="replace"), noise.Query.count(), "cauchy", 1.0), "noise is \"cauchy\"; legal"),  # type: ignore[arg-type]
        (lambda: noise.Query.mean((0, 1)).gaussian(2.0).under("replace").run(noise.Data([1.0], adjacency="add-remove")), "the data's relation is"),
        (lambda: noise.Query.covariance((0, 1), (0, 1)).laplace(1.0).run(noise.Data([1.0], adjacency="replace")), "the query is about 2 columns, the data have 1"),
        (lambda: noise.Data.of_people(["a"], [[1.0]], key=b"short", adjacency="replace"), "key has 5 bytes; legal: 32"),
        (lambda: noise.Data.of_people(["a"], [[1.0, 2.0]], key=noise.secret(), adjacency="replace"), "a column has 2 entries"),
    ]:
        with pytest.raises(cp.InvalidArgumentError, match=text):
            wrong()


def test_other_types_are_refused() -> None:
    whole, real = noise.geometric(1.0), noise.laplace(1.0)
    for law, wrong in [
        (whole, 1.0), (whole, [1, 2.0]), (whole, np.zeros(3)), (whole, True), (whole, [True]), (whole, "1"), (whole, None),
        (whole, np.zeros(3, dtype=np.uint64)), (whole, np.zeros(3, dtype=bool)), (whole, np.array([1, 2], dtype=object)),
        (whole, {1: 2}), (whole, np.array(["1"])), (whole, np.array([1], dtype="datetime64[s]")),
        (real, "1"), (real, ["1"]), (real, 1j), (real, np.zeros(2, dtype=complex)), (real, True), (real, [None]),
        (real, np.zeros(2, dtype=np.longdouble)), (real, np.longdouble(1)), (real, np.zeros(2, dtype=np.uint64)),
        (real, np.array([1.0, None], dtype=object)),
    ]:
        with pytest.raises(TypeError, match="legal: "):
            law.release(wrong)
    for call in [
        lambda: noise.randomized_response(1.0).release(0.5), lambda: noise.randomized_response(1.0).release([None]),
        lambda: noise.leaky_response(1.0, 0.1).release(1), lambda: noise.leaky_response(1.0, 0.1).release(np.ones(3)),
        lambda: noise.exponential(1.0).release([0.5]), lambda: noise.exponential(1.0).release(np.ones(3)),
        lambda: noise.exponential(1.0).release(3), lambda: noise.geometric("1"), lambda: noise.geometric(True),  # type: ignore[arg-type]
        lambda: noise.geometric(1.0, 1.5), lambda: noise.Data("abc", adjacency="replace"),  # type: ignore[arg-type]
        lambda: noise.Data([None], adjacency="replace"), lambda: noise.Data(np.array(["a"]), adjacency="replace"),
    ]:
        with pytest.raises(TypeError):
            call()


def test_answers_outside_are_taken_as_the_last() -> None:
    sure = noise.randomized_response(500.0, 4)
    assert sure.release([0, 3, 4, -1, 10**30]).value == [0, 3, 3, 3, 3]
    assert sure.release(True).value == 1 and sure.release(np.array([True, False])).value.tolist() == [1, 0]
    assert sure.release(np.array([[0, 9], [-5, 2]])).value.tolist() == [[0, 3], [3, 2]]
    assert noise.exponential(500.0).release([0, 10**30, 5]).value == 1
    assert noise.leaky_response(500.0, 0.0).release([True, False]).value == [(False, True), (False, False)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_a_fork_draws_noise_of_its_own() -> None:
    law = noise.geometric(2.0**40)
    law.release(0)
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(into, struct.pack("4q", *law.release([0] * 4).value))
        os._exit(0)
    os.waitpid(child, 0)
    theirs = struct.unpack("4q", os.read(out, 32))
    # Equal once in 2^160.
    assert list(theirs) != law.release([0] * 4).value


# At this epsilon noise on a count is zero but once in e^500.
SURE = 500.0


def test_queries_answer_about_the_data() -> None:
    values = [31.0, 45.0, 27.0, 62.0, 38.0, math.nan, 1e9]
    for given in (values, np.array(values), np.array(values, dtype=np.float32)):
        data = noise.Data(given, adjacency="add-remove")
        assert noise.Query.count().laplace(SURE).run(data).value == 7
        assert noise.Query.count_within((30, 50)).laplace(SURE).run(data).value == 3
        assert noise.Query.histogram([0, 30, 40, 70]).laplace(SURE).run(data).value == [1, 2, 2]
        # What is no number counts as the lower end, what is beyond as the upper.
        total = noise.Query.sum((0, 100)).laplace(SURE).run(data)
        assert total.value == pytest.approx(31 + 45 + 27 + 62 + 38 + 0 + 100, abs=10)
        assert noise.Query.quantile(0.5, [10, 20, 40, 80]).exponential(SURE).run(data).value == 40
        assert noise.Query.cumulative([30, 50]).laplace(SURE).run(data).value == [2, 5]
    ints = noise.Data(np.arange(100), adjacency="replace")
    assert noise.Query.mean((0, 99)).laplace(SURE).run(ints).value == pytest.approx(49.5, abs=0.2)
    assert noise.Query.proportion((0, 24)).laplace(SURE).run(ints).value == pytest.approx(0.25, abs=0.02)
    assert noise.Query.variance((0, 99)).laplace(SURE).run(ints).value == pytest.approx(833.25, rel=0.02)
    x = np.linspace(0, 10, 2000)
    table = noise.Data.table([x, 3 + 2 * x], adjacency="replace")
    intercept, slope = noise.Query.regression([(0, 10)], (0, 30)).laplace(SURE).run(table).value
    assert intercept == pytest.approx(3, abs=0.1) and slope == pytest.approx(2, abs=0.02)
    assert noise.Query.covariance((0, 10), (0, 30)).laplace(SURE).run(table).value == pytest.approx(2 * np.var(x), rel=0.01)
    # The data are not shown, nor how many there are.
    assert repr(noise.Data(values, adjacency="add-remove")) == "Data(..., adjacency='add-remove', records=1)"


def test_nobody_has_more_records_than_is_said() -> None:
    key = noise.secret()
    assert len(key) == 32 and key != noise.secret()
    people = ["ann", "bob", "ann", "cleo", "ann"]
    for records, most in [(1, 3), (2, 4), (3, 5)]:
        data = noise.Data.of_people(people, [[1, 1, 1, 1, 1]], key=key, adjacency="add-remove", records=records)
        assert noise.Query.count().laplace(SURE).run(data).value == most
    numbers = noise.Data.of_people(np.array([1, 2, 1]), [np.ones(3)], key=key, adjacency="add-remove")
    assert noise.Query.count().laplace(SURE).run(numbers).value == 2
    # 1 and 1.0 are one person, and would be written as two.
    for wrong in ([1, 1.0, 2], ["1", 1, 2], [1.0, 2.0, 3.0], [None, "a", "b"], [True, False, True]):
        with pytest.raises(TypeError, match="people has items of type .*; legal: all texts, or all whole numbers"):
            noise.Data.of_people(wrong, [[1, 1, 1]], key=key, adjacency="add-remove")  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="people has items of type"):
            noise.KeyedData(wrong, ["a", "b", "c"], secret=key, adjacency="add-remove")  # type: ignore[arg-type]


def test_keys_of_enough_people_are_released() -> None:
    key = noise.secret()
    people = [f"p{i}" for i in range(300)]
    words = ["rain"] * 200 + ["sun"] * 99 + ["secret"]
    data = noise.KeyedData(people, words, secret=key, adjacency="add-remove")
    counts = noise.key_counts("laplace", 20.0, 1e-12, adjacency="add-remove")
    reply = counts.run(data)
    # Noise of scale 1/20 is no more than 2 but once in e^60; what one person has is released once in 10^12.
    assert list(reply.value) == ["rain", "sun"] and abs(reply.value["rain"] - 200) <= 2 >= abs(reply.value["sun"] - 99)
    # 1 + noise reaches T with b^(T-1)/(1+b) at most: the least T for which that is at most delta, and what is charged is that.
    decay = math.exp(-20.0)
    assert counts.threshold == next(t for t in range(1, 99) if decay ** (t - 1) / (1 + decay) <= 1e-12)
    laplace, leak = counts.releases
    assert (laplace.kind, laplace.sensitivity, laplace.count) == ("geometric", 1, 1) and leak.kind == "name-and-shame"
    assert decay ** (counts.threshold - 1) / (1 + decay) <= leak.delta <= 1e-12
    assert counts.half_width(0.95) == reply.accuracy(0.95) and counts.released_from(0.95) >= counts.threshold
    # Whoever has many keys is counted with one.
    many = noise.KeyedData(["ann"] * 3, ["a", "b", "c"], secret=key, adjacency="add-remove", records=1)
    assert noise.key_counts("gaussian", 1.0, 0.4, adjacency="add-remove").run(many).releases
    for wrong, text in [
        (lambda: noise.key_counts("staircase", 1.0, 1e-8, adjacency="replace"), "noise is \"staircase\"; legal"),  # type: ignore[arg-type]
        (lambda: noise.key_counts("laplace", 1.0, 0.0, adjacency="replace"), "delta is 0; legal"),
        (lambda: noise.KeyedData(["a"], ["x", "y"], secret=key, adjacency="replace"), "keys has 2 entries"),
        (lambda: noise.key_counts("laplace", 1.0, 1e-8, adjacency="replace").run(data), "the data's relation is"),
    ]:
        with pytest.raises(cp.InvalidArgumentError, match=text):
            wrong()


def test_the_relation_is_charged() -> None:
    one = noise.Query.count().laplace(0.5).under("add-remove")
    (charged,) = one.releases
    # Rounded up: no more is spent than is asked for.
    assert charged.sensitivity == 1 and 2.0 <= charged.scale == pytest.approx(2.0, rel=1e-14)
    (three,) = noise.Query.count().laplace(0.5).under("add-remove", 3).releases
    assert three.sensitivity == 3 and three.scale == pytest.approx(6.0, rel=1e-12)
    part = noise.Data([1.0], adjacency="add-remove", part="north")
    assert noise.Query.count().laplace(0.5).run(part).releases == (charged.replace(partition="north"),)
    reply = noise.Query.count().laplace(0.5).run(noise.Data([1.0] * 9, adjacency="add-remove"))
    decay = math.exp(-1 / 2.0)
    width = next(w for w in range(10**4) if 2 * decay ** (w + 1) / (1 + decay) <= 0.05)
    assert reply.accuracy(0.95) == width == one.half_width(9, 0.95)
    assert noise.Query.quantile(0.5, [1, 2]).exponential(1.0).run(noise.Data([1.0], adjacency="replace")).accuracy() is None


def test_intervals_hold_the_truth() -> None:
    data = noise.Data(np.arange(200) % 10, adjacency="add-remove")
    mean = noise.Query.mean((0, 9)).laplace(0.5)
    missed = 0
    for _ in range(400):
        reply = mean.run(data)
        ((low, high),) = reply.intervals(0.9)
        missed += not low <= 4.5 <= high
        assert reply.accuracy(0.9) == pytest.approx(max(reply.value - low, high - reply.value))
    # With one in ten, 400 are missed as often as this less than once in 10^9: exp(-400 d(93/400, 1/10)).
    assert missed <= 92 and 400 * float(_divergence(93 / 400, 0.1)) > math.log(1e9)

"""The integration with OpenDP, on measurements that OpenDP makes."""

from __future__ import annotations

import math
from typing import Any

import opendp.prelude as dp
import pytest

import counterpoint as cp
from counterpoint.integrations import opendp

dp.enable_features("contrib", "honest-but-curious", "idealized-numerics")

WHOLE = dp.vector_domain(dp.atom_domain(T=int))
ADDED = (WHOLE, dp.symmetric_distance())
NUMBER = (dp.atom_domain(T=int), dp.absolute_distance(T=int))
SCORES = (WHOLE, dp.linf_distance(T=int))
RISING = (WHOLE, dp.linf_distance(T=int, monotonic=True))


def counting(noise: Any, metric: Any = None) -> Any:
    """A noisy count."""
    return (WHOLE, metric or dp.symmetric_distance()) >> dp.t.then_count() >> noise


def laplace(scale: float = 2.0) -> Any:
    return counting(dp.m.then_laplace(scale=scale))


def gaussian(scale: float = 2.0) -> Any:
    return counting(dp.m.then_gaussian(scale=scale))


def approximate(scale: float = 4.0) -> Any:
    """A Gaussian count by an (epsilon, delta) guarantee."""
    return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(gaussian(scale)), 1e-7)


def user(measure: Any, privacy_map: Any) -> Any:
    return dp.m.make_user_measurement(*NUMBER, measure, lambda x: x, privacy_map, TO="i32")


@pytest.mark.parametrize(("measurement", "epsilon"), [
    (laplace(2.0), 1 / 2),
    (counting(dp.m.then_geometric(scale=4.0)), 1 / 4),
    (dp.m.make_randomized_response_bool(0.75), math.log(3)),
    (dp.m.make_randomized_response([1, 2, 3], 0.75), math.log(6)),
    (dp.m.make_noisy_max(*SCORES, dp.max_divergence(), scale=4.0), 2 / 4),
    (dp.m.make_noisy_max(*RISING, dp.max_divergence(), scale=4.0), 1 / 4),
    (dp.c.make_composition([laplace(2.0), laplace(4.0)]), 3 / 4),
    (dp.c.make_adaptive_composition(*ADDED, dp.max_divergence(), 1, [0.5, 0.25]), 3 / 4),
    (dp.c.make_privacy_filter(
        dp.c.make_fully_adaptive_composition(*ADDED, dp.max_divergence()), d_in=1, d_out=2.0), 2.0),
])
def test_pure(measurement: Any, epsilon: float) -> None:
    charged = opendp.mechanism(measurement, 1)
    assert charged == cp.ApproxDP(measurement.map(1))
    assert charged.epsilon == pytest.approx(epsilon, rel=1e-12) and charged.epsilon >= epsilon * (1 - 1e-15)
    assert cp.compose(charged).epsilon(0.0).upper == measurement.map(1)


@pytest.mark.parametrize(("measurement", "rho"), [
    (gaussian(2.0), 1 / 8),
    (dp.m.make_noisy_max(*SCORES, dp.zero_concentrated_divergence(), scale=2.0), 1 / 8),
    (dp.c.make_pureDP_to_zCDP(laplace(2.0)), 1 / 8),
    (dp.c.make_composition([gaussian(2.0)] * 4), 1 / 2),
    (dp.c.make_adaptive_composition(*ADDED, dp.zero_concentrated_divergence(), 1, [0.5, 0.25]), 3 / 4),
])
def test_zero_concentrated(measurement: Any, rho: float) -> None:
    charged = opendp.mechanism(measurement, 1)
    assert charged == cp.ZCDP(measurement.map(1))
    assert charged.rho == pytest.approx(rho, rel=1e-12) and charged.rho >= rho * (1 - 1e-15)


def test_approximate() -> None:
    epsilon, delta = approximate().map(1)
    assert opendp.mechanism(approximate()) == cp.ApproxDP(epsilon, delta)
    assert delta == 1e-7
    assert opendp.mechanism(dp.c.make_approximate(laplace())) == cp.ApproxDP(0.5)
    filtered = dp.approximate(dp.zero_concentrated_divergence())
    queries = dp.c.make_adaptive_composition(*ADDED, filtered, 1, [(0.5, 1e-7), (0.25, 0.0)])
    assert opendp.mechanism(queries) == cp.ZCDP(0.75, 1e-7)
    fixed = user(dp.fixed_smoothed_max_divergence(), lambda d: (0.5 * d, 1e-6))
    assert opendp.mechanism(fixed, 2) == cp.ApproxDP(1.0, 1e-6)


def test_the_map_is_taken_at_the_distance_given() -> None:
    for distance in (1, 2, 5):
        assert opendp.mechanism(laplace(4.0), distance) == cp.ApproxDP(distance / 4)
        assert opendp.mechanism(gaussian(4.0), distance) == cp.ZCDP(distance**2 / 32)


def test_fields_of_a_release() -> None:
    charged = opendp.mechanism(laplace(), 1, count=7, name="visits", partition="north")
    assert (charged.count, charged.name, charged.partition) == (7, "visits", "north")
    assert opendp.mechanism(laplace()).name is None


def test_a_profile_is_charged_at_one_point() -> None:
    profile = dp.c.make_zCDP_to_approxDP(gaussian(4.0))
    charged = opendp.mechanism(profile, 1, delta=1e-7)
    assert charged == cp.ApproxDP(*approximate(4.0).map(1))
    with pytest.raises(cp.errors.UnsupportedError, match="SmoothedMaxDivergence.*one point.*delta"):
        opendp.mechanism(profile, 1)
    with pytest.raises(cp.InvalidArgumentError, match="MaxDivergence; legal"):
        opendp.mechanism(laplace(), 1, delta=1e-7)


def test_a_renyi_curve_costs_what_it_is_a_curve_of() -> None:
    curve = user(dp.renyi_divergence(), lambda d: lambda order: order * d**2 / 8)
    ours = cp.compose(opendp.mechanism(curve, 1) * 10).epsilon(1e-6).upper
    exact = cp.compose(cp.ZCDP(1 / 8) * 10).epsilon(1e-6).upper
    assert exact * (1 - 1e-6) <= ours <= exact * 1.003
    # A Gaussian release has this curve, and may cost no more.
    assert cp.compose(cp.Gaussian(2.0) * 10).epsilon(1e-6).lower <= ours


def test_what_has_no_counterpart_says_so() -> None:
    own = user(dp.user_divergence("tiers"), lambda d: d)
    with pytest.raises(cp.errors.UnsupportedError, match="ExtrinsicDivergence has no certified counterpart"):
        opendp.mechanism(own, 1)
    odometer = dp.c.make_fully_adaptive_composition(*ADDED, dp.max_divergence())
    with pytest.raises(cp.errors.UnsupportedError, match="Odometer promises nothing.*make_privacy_filter"):
        opendp.mechanism(odometer, 1)
    with pytest.raises(TypeError, match="of type str; legal: an OpenDP Measurement"):
        opendp.mechanism("a count", 1)


def test_not_private() -> None:
    for measurement in (laplace(0.0), gaussian(0.0)):
        with pytest.raises(cp.errors.NoFiniteEpsilonError, match="infinite"):
            opendp.mechanism(measurement, 1)
    revealed = user(dp.fixed_smoothed_max_divergence(), lambda d: (0.5, 1.0))
    with pytest.raises(cp.errors.NoFiniteEpsilonError, match="delta of 1"):
        opendp.mechanism(revealed, 1)


@pytest.mark.parametrize(("metric", "distance", "expected"), [
    (dp.symmetric_distance(), 1, "add-remove"),
    (dp.insert_delete_distance(), 1, "add-remove"),
    (dp.symmetric_distance(), 2, "replace"),
    (dp.change_one_distance(), 1, "replace"),
    (dp.hamming_distance(), 1, "replace"),
    (dp.discrete_distance(), 1, "replace"),
])
def test_adjacency(metric: Any, distance: int, expected: str) -> None:
    made = dp.m.make_user_measurement(
        WHOLE, metric, dp.max_divergence(), lambda x: 0, lambda d: float(d), TO="i32")
    assert opendp.adjacency(made, distance) == expected
    assert opendp.compose([made, made], distance).adjacency == expected


def test_no_adjacency() -> None:
    number = dp.m.make_laplace(*NUMBER, scale=1.0)
    with pytest.raises(cp.errors.UnsupportedError, match="AbsoluteDistance<i32> does not compare data sets"):
        opendp.adjacency(number, 1)
    for distance in (0, 0.5, True, "1", math.nan):
        with pytest.raises(cp.InvalidArgumentError, match="d_in is .*; legal: a number of at least 1"):
            opendp.adjacency(laplace(), distance)
    with pytest.raises(cp.InvalidArgumentError, match="add-remove and replace"):
        opendp.compose([laplace(), dp.m.make_randomized_response_bool(0.75)], 1)


def test_pure_compositions_cost_no_more_than_theirs() -> None:
    parts = [laplace(2.0), laplace(3.0), counting(dp.m.then_geometric(scale=5.0))] * 4
    plan, together = opendp.compose(parts), dp.c.make_composition(parts).map(1)
    # At no delta nothing is better than the sum.
    assert plan.epsilon(0.0).upper == pytest.approx(together, rel=1e-14)
    assert plan.epsilon(0.0).upper <= together * (1 + 1e-15)
    assert plan.epsilon(1e-6).upper < together
    many = opendp.compose([laplace(20.0)] * 100).epsilon(1e-6).upper
    # Dwork, Rothblum and Vadhan 2010; theirs is 5.
    assert many <= 0.05 * math.sqrt(200 * math.log(1e6)) + 100 * 0.05 * math.expm1(0.05)


def test_approximate_compositions_cost_no_more_than_theirs() -> None:
    parts = [approximate(4.0), approximate(6.0)] * 10
    epsilon, delta = dp.c.make_composition(parts).map(1)
    # Twenty leaks together are a little less than their sum, so at that sum there is a little to gain.
    assert opendp.compose(parts).epsilon(delta).upper <= epsilon


def test_concentrated_compositions_cost_no_more_than_theirs() -> None:
    parts = [gaussian(4.0), gaussian(6.0)] * 10
    theirs = dp.c.make_zCDP_to_approxDP(dp.c.make_composition(parts)).map(1)
    for delta in (1e-3, 1e-6, 1e-9):
        ours = opendp.compose(parts).epsilon(delta).upper
        assert ours <= theirs.epsilon(delta) * (1 + 1e-9)
        # The same theorem converts both.
        assert ours >= theirs.epsilon(delta) * 0.98


def test_mixed_compositions() -> None:
    plan = opendp.compose([laplace(10.0), gaussian(5.0), approximate(8.0)])
    assert [one.kind for one in plan] == ["approx-dp", "zcdp", "approx-dp"]
    apart = 0.1 + dp.c.make_zCDP_to_approxDP(gaussian(5.0)).map(1).epsilon(1e-6) + approximate(8.0).map(1)[0]
    assert plan.epsilon(1e-6 + 1e-7).upper <= apart * (1 + 1e-9)


def test_the_noise_itself_costs_less_than_its_map() -> None:
    charged = cp.compose(opendp.mechanism(laplace(10.0)) * 50)
    described = cp.compose(cp.Laplace(10.0) * 50)
    assert described.epsilon(1e-6).upper < charged.epsilon(1e-6).lower

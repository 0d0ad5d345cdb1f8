"""Answers in arbitrary precision, and theorems by name."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction

import pytest

import counterpoint as cp

# Two of three tenths and one of a third, at a seventh: all outcomes in 90 digits, by mpmath.
TRUTH = "0.170473604594495366037961734289468741094950885512831618874534"
# The same of the doubles next to these numbers.
DOUBLES = "0.170473604594495359122629785916168710904736361016245320683314"


def around(answer: cp.PreciseAnswer, truth: str) -> bool:
    lower, upper = answer.fractions
    off = Fraction(1, 10**58)
    return lower <= Fraction(truth) + off and Fraction(truth) - off <= upper and upper - lower < Fraction(1, 10**55)


@pytest.mark.parametrize("tenths", ["0.3", "3/10", Fraction(3, 10), Decimal("0.3")])
@pytest.mark.parametrize("third", ["1/3", Fraction(1, 3)])
def test_amounts_are_what_they_say(tenths: str, third: str) -> None:
    plan = cp.compose([cp.ApproxDP(tenths) * 2, cp.RandomizedResponse(third)])
    for same in (plan, pickle.loads(pickle.dumps(plan)), cp.Plan.from_text(plan.to_toml())):
        answer = same.delta(Fraction(1, 7), bits=200)
        assert around(answer, TRUTH) and answer.theorem == "optimal"
        assert answer == same.delta("1/7", bits=200)
        assert Fraction(float(answer)) >= answer.fractions[1]
    # Other questions are about the doubles next to them.
    doubles = cp.compose([cp.ApproxDP(0.3) * 2, cp.RandomizedResponse(1 / 3)])
    assert plan.delta(0.5) == doubles.delta(0.5)
    assert around(doubles.delta(1 / 7, bits=200), DOUBLES)


def test_a_float_is_its_double() -> None:
    lower, upper = cp.compose([cp.ApproxDP(0.3) * 3]).epsilon(0, bits=200).fractions
    assert lower <= 3 * Fraction(0.3) <= upper < Fraction(9, 10)
    lower, upper = cp.compose([cp.ApproxDP("0.3") * 3]).epsilon(0, bits=200).fractions
    assert 3 * Fraction(0.3) < lower <= Fraction(9, 10) <= upper


def test_plan_files_are_read_either_way() -> None:
    text = "[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.3\ncount = 3\n"
    exact = cp.Plan.from_text(text, exact=True).epsilon(0, bits=200)
    assert exact == cp.compose([cp.ApproxDP("0.3") * 3]).epsilon(0, bits=200)
    assert cp.Plan.from_text(text).epsilon(0, bits=200) != exact
    assert cp.Plan.from_text(text) == cp.compose([cp.ApproxDP(0.3) * 3])


def test_mechanisms_keep_what_they_are_given() -> None:
    third = cp.ApproxDP("1/3", Decimal("0.1"))
    assert (third.epsilon, third.delta) == (Fraction(1, 3), Fraction(1, 10))
    assert pickle.loads(pickle.dumps(third)) == third and (third * 2).epsilon == Fraction(1, 3)
    assert cp.ApproxDP(Fraction(1, 4)) == cp.ApproxDP(0.25) != third
    # Where nothing is made of it a number is its double.
    assert cp.Gaussian(sigma=Fraction(1, 3)).sigma == 1 / 3


def test_what_is_refused() -> None:
    plan = cp.compose([cp.ApproxDP(0.3)])
    for bad in ("x", "1/0", "-1/3", "1"):
        with pytest.raises(cp.InvalidArgumentError, match="legal: "):
            plan.epsilon(bad, bits=100)
    with pytest.raises(cp.InvalidArgumentError, match="bits alone"):
        plan.epsilon(0, bits=100, tolerance=1e-6)  # type: ignore[call-overload]
    with pytest.raises(cp.InvalidArgumentError, match="bits is 7"):
        plan.epsilon(0, bits=7)
    with pytest.raises(cp.InvalidArgumentError, match="guarantees alone"):
        cp.compose([cp.Gaussian(sigma=1.0)]).epsilon("1e-6", bits=100)
    with pytest.raises(cp.errors.NoFiniteEpsilonError):
        cp.compose([cp.ApproxDP(1, "1/3") * 2]).epsilon("0.5555", bits=100)
    assert cp.compose([cp.ApproxDP(1, "1/3") * 2]).epsilon("5/9", bits=100).fractions[1] >= 2


def test_theorems_by_name() -> None:
    plan = cp.compose([cp.ApproxDP(0.1) * 100])
    comparison = plan.compare(delta=1e-6, eta=0.1)
    simplified, within = comparison.others["kov-simplified"], comparison.others["mv-approximation"]
    assert simplified == pytest.approx(1 + math.sqrt(2 * math.log(1e6)), rel=1e-9)
    # The optimum at 1e-6 and, 0.1 less, at e^-0.05 1e-6, by mpmath.
    assert isinstance(within, float) and 4.774567588107 <= within <= 4.781005561 + 0.1
    assert "mv-approximation" not in plan.compare(delta=1e-6).others
    with pytest.raises(cp.InvalidArgumentError, match="eta is given with epsilon"):
        plan.compare(epsilon=1.0, eta=0.1)
    with pytest.raises(cp.InvalidArgumentError, match="eta is 1"):
        plan.compare(delta=1e-6, eta=1)


def test_conversions_rules_and_pairs() -> None:
    # e^epsilon is 3: (3 - 1)/(3 + 1); at ln 2, 1 - 3/4.
    assert cp.convert(math.log(3), 0.1)["total_variation"]["upper"] == pytest.approx(0.55, rel=1e-9)
    assert cp.convert(math.log(3), to_epsilon=math.log(2))["to"]["delta"]["upper"] == pytest.approx(0.25, rel=1e-9)
    assert cp.convert(math.log(3), to_epsilon=math.log(2), to_delta=0.2525)["to"]["implied"]
    assert not cp.convert(math.log(3), to_epsilon=math.log(2), to_delta=0.2475)["to"]["implied"]
    rules = cp.noise_rules(1.0, 1e-5, count=50, sensitivity=2.0)
    assert rules["laplace"]["variance"] == pytest.approx(1600 * math.log(math.e + 1e5), rel=1e-9)
    assert not cp.noise_rules(40.0, 0.1, count=100_000)["per-query"]["holds"]
    assert cp.noise_rules(0.1, 0.5, sensitivity=2.0)["staircase-or-uniform"]["width"] == pytest.approx(4.0)
    (first, leaked), (last, rest) = cp.pairs(math.log(2), 0.25, count=2)
    assert first == pytest.approx(math.log(4)) and last == 0
    assert float(leaked) == pytest.approx(7 / 16, rel=1e-9) and float(rest) == pytest.approx(5 / 8, rel=1e-9)
    with pytest.raises(cp.InvalidArgumentError, match="at most 20000"):
        cp.pairs(0.1, count=10**9)

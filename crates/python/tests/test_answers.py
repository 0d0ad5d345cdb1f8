"""Answers as numbers: what is not certified passes for neither true nor false, and rounding is to the safe side."""

from __future__ import annotations

import math
import operator
import pickle
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import counterpoint as cp

WIDE = cp.Bracket(2.5, 3.5)
LEAST = cp.Bracket(2.5, 3.5, safe="lower")


def exact(number: float) -> Fraction:
    return Fraction(number)


def test_a_budget_guard_never_passes_uncertified() -> None:
    assert (WIDE <= 3.5) is True and (WIDE < 3.6) is True and (WIDE <= 2.4) is False and (WIDE < 2.5) is False
    assert (WIDE > 2.4) is True and (WIDE >= 2.5) is True and (WIDE > 3.5) is False and (WIDE >= 3.6) is False
    assert (3.5 >= WIDE) is True and (2.4 < WIDE) is True and (2.4 > WIDE) is False
    for compare in (operator.lt, operator.le, operator.gt, operator.ge):
        for limit in (2.6, 3.0, 3.4999999, 3, Fraction(3), Decimal(3), np.float64(3), np.float32(3), np.int64(3), np.array(3.0)):
            with pytest.raises(cp.errors.UndecidedError, match="is undecided; legal: a smaller tolerance, or .upper"):
                compare(WIDE, limit)
            with pytest.raises(cp.errors.UndecidedError):
                compare(limit, WIDE)
    # At the very ends: what is decided there is decided by the closed bracket.
    with pytest.raises(cp.errors.UndecidedError):
        bool(WIDE < 3.5)
    with pytest.raises(cp.errors.UndecidedError):
        bool(WIDE <= 2.5)
    answer = cp.compose([cp.ZCDP(0.1)]).epsilon(1e-6)
    between = (answer.lower + answer.upper) / 2
    with pytest.raises(cp.errors.UndecidedError):
        bool(answer <= between)
    assert answer <= answer.upper and answer > math.nextafter(answer.lower, -1)
    assert not answer <= math.nextafter(answer.lower, 0)


def test_comparisons_say_of_the_truth_what_holds_for_all_of_it() -> None:
    rng = random.Random(5)
    for _ in range(2000):
        one, two = (sorted(rng.randint(0, 6) for _ in range(2)) for _ in range(2))
        a, b = cp.Bracket(*one), cp.Bracket(*two)
        for compare in (operator.lt, operator.le, operator.gt, operator.ge):
            # Every pair of truths, at the ends and between them.
            said = {compare(x, y) for x in (*one, sum(one) / 2) for y in (*two, sum(two) / 2)}
            if len(said) == 1:
                assert compare(a, b) is said.pop()
            else:
                with pytest.raises(cp.errors.UndecidedError):
                    compare(a, b)


def test_the_same_number_is_as_large_as_itself() -> None:
    assert WIDE <= WIDE and WIDE >= WIDE and not WIDE < WIDE and not WIDE > WIDE
    # Another with the same ends may be another number.
    with pytest.raises(cp.errors.UndecidedError):
        bool(cp.Bracket(2.5, 3.5) <= WIDE)


def test_numbers_that_are_no_doubles_are_compared_exactly() -> None:
    third = Fraction(1, 3)
    near = float(third)
    assert Fraction(near) < third
    assert cp.Bracket(0, math.nextafter(near, 1)) > -1
    with pytest.raises(cp.errors.UndecidedError):
        bool(cp.Bracket(0, math.nextafter(near, 1)) <= third)
    assert cp.Bracket(0, math.nextafter(near, 0)) <= third
    assert cp.Bracket(0, 2.0**53) <= 2**53
    with pytest.raises(cp.errors.UndecidedError):
        bool(cp.Bracket(0, 2.0**53 + 2) <= 2**53 + 1)
    with pytest.raises(cp.InvalidArgumentError, match="nan"):
        bool(WIDE > math.nan)
    for other in ("3", None, True, [3.0], object(), np.array([3.0])):
        with pytest.raises(TypeError):
            WIDE <= other  # type: ignore[operator]


def test_equality_is_of_what_is_known() -> None:
    assert WIDE == cp.Bracket(2.5, 3.5) and WIDE != cp.Bracket(2.5, 3.6) and WIDE != 3.0 and WIDE != "x"
    point = cp.Bracket(2, 2)
    assert point == 2 == point and hash(point) == hash(2) and len({point, 2.0, cp.Bracket(2, 2)}) == 1
    assert cp.Bracket(3.0, 3.0) == pytest.approx(3.0) and not np.float64(2.5) == WIDE


def test_truth_of_an_answer() -> None:
    assert WIDE and cp.Bracket(-2, -1) and not cp.Bracket(0, 0)
    with pytest.raises(cp.errors.UndecidedError, match="!= 0"):
        bool(cp.Bracket(0, 1e-300))


def test_sums_contain_the_exact_ones() -> None:
    rng = random.Random(6)
    operations: list[Any] = [operator.add, operator.sub, operator.mul, operator.truediv]

    def number() -> float:
        return rng.choice([0.0, 1.0, -3.0, 0.1, rng.uniform(-4, 4), rng.uniform(-1, 1) * 10.0 ** rng.randint(-320, 300)])

    def within(found: cp.Bracket, truth: Fraction) -> bool:
        below = found.lower == -math.inf or exact(found.lower) <= truth
        return below and (found.upper == math.inf or truth <= exact(found.upper))

    for _ in range(4000):
        a, b = (cp.Bracket(*sorted((number(), number()))) for _ in range(2))
        x = number()
        operate = rng.choice(operations)
        for one, two in ((a, b), (a, x), (x, a)):
            ends_one = list(one) if isinstance(one, cp.Bracket) else [one]
            ends_two = list(two) if isinstance(two, cp.Bracket) else [two]
            if operate is operator.truediv and min(ends_two) <= 0 <= max(ends_two):
                with pytest.raises(ZeroDivisionError):
                    operate(one, two)
                continue
            found = operate(one, two)
            truths = [operate(exact(p), exact(q)) for p in ends_one for q in ends_two]
            assert all(within(found, truth) for truth in truths), (operate, one, two, found)
            # No wider than two doubles on each side, but for the smallest.
            least, most = min(truths), max(truths)
            if all(end == 0 or 1e-270 < abs(end) < math.inf for end in found):
                assert least - exact(found.lower) <= abs(least) / 2**51 and exact(found.upper) - most <= abs(most) / 2**51


def test_sums_that_are_exact_stay_so() -> None:
    assert sum([WIDE, WIDE, 1]) == cp.Bracket(6, 8) and WIDE * 2 == cp.Bracket(5, 7) == 2 * WIDE
    assert 10 - WIDE == cp.Bracket(6.5, 7.5) and WIDE / 2 == cp.Bracket(1.25, 1.75) and -WIDE == cp.Bracket(-3.5, -2.5)
    assert abs(-WIDE) == WIDE == +WIDE and abs(cp.Bracket(-1, 3)) == cp.Bracket(0, 3)
    assert sum([cp.Bracket(0.1, 0.1)] * 3).lower <= Fraction(3) * exact(0.1) <= sum([cp.Bracket(0.1, 0.1)] * 3).upper
    one, two = (cp.compose([cp.ApproxDP(epsilon) * 9]).epsilon(1e-6) for epsilon in (0.1, 0.2))
    assert max(one, two) is two and min(one, two) is one and sorted([two, one]) == [one, two]
    with pytest.raises(cp.errors.UndecidedError):
        max(WIDE, cp.Bracket(3, 4))
    assert max([WIDE, cp.Bracket(3, 4)], key=float) == cp.Bracket(3, 4)


def test_the_safe_side_goes_along() -> None:
    assert (WIDE.safe, LEAST.safe, (WIDE + 1).safe, (WIDE + WIDE).safe) == ("upper", "lower", "upper", "upper")
    left = 10 - WIDE
    assert left.safe == "lower" and float(left) == 6.5 and f"{left / 3:.2f}" == "2.16" and left >= 6.5
    assert ((-2) * WIDE).safe == "lower" and float(-2 * WIDE) == -7.0 and (1 / WIDE).safe == "lower"
    assert (WIDE / 4).safe == "upper" and (WIDE / -4).safe == "lower" and (WIDE * 0).safe == "upper"
    # What an answer costs more than another has none.
    more = WIDE - cp.Bracket(1, 2)
    assert more == cp.Bracket(0.5, 2.5) and more.safe is None and (WIDE + LEAST).safe is None
    for refused in (float, round, lambda it: f"{it:.2f}", np.asarray):
        with pytest.raises(TypeError, match="no safe side; legal: .lower or .upper"):
            refused(more)
    for bracket in (WIDE, LEAST, more):
        again = pickle.loads(pickle.dumps(bracket))
        assert (again, again.safe) == (bracket, bracket.safe) and eval(repr(bracket), vars(cp)).safe == bracket.safe
    with pytest.raises(cp.InvalidArgumentError, match="safe is \"both\"; legal: upper, lower"):
        cp.Bracket(1, 2, safe="both")  # type: ignore[arg-type]


def test_rounding_is_to_the_safe_side() -> None:
    rng = random.Random(7)
    for _ in range(2000):
        lower, upper = sorted(rng.uniform(-1, 1) * 10.0 ** rng.randint(-8, 8) for _ in range(2))
        up, down = cp.Bracket(lower, upper), cp.Bracket(lower, upper, safe="lower")
        for digits in (-3, -1, 0, 1, 3, 6):
            unit = Fraction(10) ** -digits
            high, low = round(up, digits), round(down, digits)
            assert isinstance(high, float) and upper <= high and lower >= low
            # The next one of so many digits, to a double.
            assert exact(high) - exact(upper) < unit * Fraction(1000001, 1000000)
            assert exact(lower) - exact(low) < unit * Fraction(1000001, 1000000)
        assert round(up) == math.ceil(upper) and isinstance(round(up), int) and round(down) == math.floor(lower)
        for form in (".0f", ".3f", ".2e", ".4g", ",.2f"):
            shown = float(f"{up:{form}}".replace(",", "")), float(f"{down:{form}}".replace(",", ""))
            assert shown[0] >= upper and shown[1] <= lower, form
    assert f"{cp.Bracket(1, 1.0001):.3f}" == "1.001" and f"{cp.Bracket(1.0009, 2, safe='lower'):.3f}" == "1.000"


def test_numpy_takes_the_safe_side_and_leaves_comparisons_alone() -> None:
    assert np.asarray(WIDE) == 3.5 and np.asarray(WIDE).shape == () and np.asarray(WIDE).dtype == np.float64
    assert np.float64(WIDE) == 3.5 and np.float64(LEAST) == 2.5 and np.array([WIDE, LEAST]).tolist() == [3.5, 2.5]
    assert np.asarray(WIDE, dtype=np.float32).dtype == np.float32 and np.isfinite(WIDE) and math.isfinite(WIDE)
    assert np.sqrt(WIDE) == np.sqrt(3.5)
    assert (np.float64(3.5) >= WIDE) is True and (np.float64(1) + WIDE) == cp.Bracket(3.5, 4.5)
    assert (np.float64(10) - WIDE).safe == "lower" and isinstance(np.float64(2) * WIDE, cp.Bracket)
    with pytest.raises(TypeError):
        np.array([3.0, 4.0]) <= WIDE


def test_many_at_once_are_compared_as_one_is() -> None:
    found = cp.compose([cp.ZCDP(0.1)]).epsilon([1e-6, 1e-3])
    assert (found <= 10).tolist() == [True, True] and (found > 10).tolist() == [False, False]
    assert (found <= found.upper).all() and (found.upper >= found).all()
    between = (found.lower + found.upper) / 2
    for compare in (operator.le, operator.lt, operator.ge, operator.gt):
        with pytest.raises(cp.errors.UndecidedError, match=r"\[1\].*is undecided; legal"):
            compare(found, np.array([10, between[1]]))
        with pytest.raises(cp.errors.UndecidedError):
            compare(between, found)
        with pytest.raises(cp.errors.UndecidedError):
            compare(float(between[0]), found)
    with pytest.raises(cp.InvalidArgumentError, match="nan"):
        found > math.nan
    assert np.less(1, found).all() and np.greater_equal(10, found).all() and not np.less(found, [1, 1]).any()
    with pytest.raises(cp.errors.UndecidedError):
        np.less(between, found)
    # All else is done with the safe side.
    assert (np.array([1.0, 2.0]) + found).tolist() == (np.array([1.0, 2.0]) + found.upper).tolist()
    assert np.log(found).tolist() == np.log(found.upper).tolist() and np.add.reduce(found) == found.upper.sum()
    assert found[0] <= 10 and found[0].safe == "upper"
    misses = cp.compose([cp.Gaussian(2.0)]).tradeoff([0.1, 0.5])
    assert misses[0].safe == "lower" and float(misses[0]) == misses.lower[0]


def test_regions_say_yes_and_no() -> None:
    region = cp.compose([cp.RandomizedResponse(1.0)]).region()
    corner = 1 / (1 + math.e)
    assert region.contains(corner + 1e-6, corner + 1e-6) and not region.contains(corner - 1e-6, corner - 1e-6)
    assert (0.5, 0.5) in region and (0.0, 0.0) not in region
    wider = cp.compose([cp.RandomizedResponse(2.0)]).region()
    assert region.is_within(wider) and not wider.is_within(region)
    # An attacker's least error is safe at its lower end, one as many.
    gaussian = cp.compose([cp.Gaussian(2.0)]).region([0.3])
    miss = gaussian.least_miss(0.3)
    assert float(miss) == miss.lower == np.asarray(gaussian.least_miss([0.3]))[0] and miss.safe == "lower"
    assert float(gaussian.best_advantage(0.3)) == gaussian.best_advantage(0.3).upper
    # Between the two polygons nothing is known, and nothing passes for it.
    between = (miss.lower + miss.upper) / 2
    assert miss.lower < between < miss.upper
    unknown = gaussian.contains(0.3, between)
    assert unknown == "undecided" and repr(unknown) == "'undecided'"
    with pytest.raises(cp.errors.UndecidedError, match="legal"):
        bool(unknown)
    with pytest.raises(cp.errors.UndecidedError):
        not unknown
    with pytest.raises(cp.errors.UndecidedError):
        (0.3, between) in gaussian
    assert pickle.loads(pickle.dumps(unknown)) == unknown
    with pytest.raises(TypeError, match="legal: a false-alarm rate and a miss rate"):
        0.3 in gaussian


def test_answers_are_amounts(tmp_path: Any) -> None:
    plan = cp.compose([cp.ApproxDP(0.1, name="week") * 4])
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'budget.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=plan.epsilon(1e-6), delta="1e-6")
    # Its upper end is enough for the plan itself, and the plan for all of it.
    ledger.open_plan("weekly", "census", plan, delta="1e-6")
    with pytest.raises(cp.errors.RefusedError):
        ledger.open_filter("more", "census", filter="sums", epsilon="0.01", delta=0)


def test_notebooks_show_ledgers(tmp_path: Any) -> None:
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'budget.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=3, delta="1e-6")
    ledger.open_plan("year", "census", cp.compose([cp.ApproxDP(0.2, name="month") * 6]), delta="1e-7")
    ledger.open_filter("june", within="year", slot="month", filter="sums", epsilon="0.2", delta=0)
    ledger.open_filter("team", "census", filter="renyi", epsilon="1", delta="1e-7")
    ledger.reserve("june", cp.Laplace(scale=16), key="a")
    ledger.reserve("team", cp.Gaussian(sigma=20), key="b")
    shown = ledger._repr_html_()
    # Nested as they are paid for, each one step further in.
    places = [shown.index(f"<td>{text}</td>") for text in ("census", "\u2003year", "\u2003\u2003june", "\u2003team")]
    assert places == sorted(places) and "<td>0.0625</td><td>0.2 epsilon</td>" in shown
    # What is spent says an epsilon, too: more than the release's own at that delta, and below the promise.
    spent = ledger.status("team")["accounts"][0]["spent_epsilon"]
    assert float(cp.compose([cp.Gaussian(sigma=20)]).epsilon(1e-7)) < float(spent["epsilon"]) < 1


def test_notebooks_show_answers() -> None:
    answer = cp.compose([cp.ApproxDP(0.1) * 100]).epsilon(1e-6)
    assert answer._repr_html_().startswith("<b>4.77457</b> at most (4.77456 .. 4.77457); optimal")
    assert LEAST._repr_html_() == "<b>2.50000</b> at least (2.50000 .. 3.50000)"
    assert (WIDE - WIDE)._repr_html_() == "-1.00000 .. 1.00000"

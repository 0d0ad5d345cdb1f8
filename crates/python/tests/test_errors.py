"""Bad arguments: an exception that names the argument and the legal range, never a panic."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import counterpoint as cp

PLAN = cp.compose([cp.Gaussian(2.0)])
NAN, INF = float("nan"), float("inf")

VALUES: list[tuple[Callable[[], Any], str]] = [
    (lambda: cp.Gaussian(NAN), "sigma is nan; legal: a number from 1e-100"),
    (lambda: cp.Gaussian(0), "sigma is 0; legal"),
    (lambda: cp.Gaussian(-1.0), "sigma is -1"),
    (lambda: cp.Laplace(INF), "scale is inf; legal"),
    (lambda: cp.Laplace(1.0, sensitivity=0.0), "sensitivity is 0"),
    (lambda: cp.Geometric(1.0, sensitivity=1.5), "sensitivity is 1.5; legal: a whole number"),
    (lambda: cp.ApproxDP(0.1, 1.0), "delta is 1"),
    (lambda: cp.ApproxDP(0.1, count=0), "count is 0; legal: a whole number from 1 to 10"),
    (lambda: cp.ApproxDP(0.1, count=10**30), "count is 10+; legal"),
    (lambda: cp.ApproxDP(10**400), "epsilon is a number of 401 characters"),
    (lambda: cp.ApproxDP("a tenth"), 'epsilon is "a tenth"; legal'),
    (lambda: cp.ApproxDP(True), "epsilon is true; legal"),
    (lambda: cp.ApproxDP([0.1]), "epsilon is a list; legal"),
    (lambda: cp.Gaussian(1.0, rate=1.5), "rate is 1.5; legal: a number from 0 to 1"),
    (lambda: cp.Gaussian(1.0, examples=10, batch=20, epochs=1), "batch is 20; legal"),
    (lambda: cp.GaussianMixture(1.0, [1, 2], [0.5, 0.6]), "probabilities sums to 1.1; legal: 1"),
    (lambda: cp.GaussianBatch(1.0, 0.1, people=10), "most is missing; legal: a whole number"),
    (lambda: cp.compose([cp.GaussianBatch(1.0, 0.1)]), r"adjacency is missing.*legal: add-remove \(one .*more\) or replace \(one"),
    (lambda: cp.compose([cp.GaussianBatch(1.0, 0.1, people=9, most=5)], adjacency="replace"), "most is given.*legal: add-r"),
    (lambda: cp.compose([cp.GaussianDraws(1.0, 10, 11)], adjacency="replace"), "draws is 11; legal: at most 10"),
    (lambda: cp.compose([cp.GaussianDraws(1.0, 10, 2)], adjacency="add-remove"), "draws are given.*legal: replace"),
    (lambda: cp.compose([cp.GaussianAllocation(1.0, 10)], adjacency="replace"), "steps are given.*legal: add-remove"),
    (lambda: cp.compose([cp.GaussianAllocation(1.0, 3, each=4)], adjacency="add-remove"), "each is 4; legal: at most 3"),
    (lambda: cp.RDP([2, 1], [1, 1]), "orders entry 2 is 1.0; legal"),
    (lambda: cp.RDP([2], [1, 1]), "orders has 1 entries"),
    (lambda: cp.Finite([0.5, 0.6], [0.5, 0.5]), "p sums to 1.1"),
    (lambda: cp.compose([]), "mechanisms is empty; legal"),
    (lambda: cp.compose([cp.Gaussian(1.0)], adjacency="both"), 'adjacency is "both"; legal: "add-remove" or'),
    (lambda: cp.compose([cp.Gaussian(1.0)], group=0), "group is 0; legal"),
    (lambda: cp.compose([cp.Gaussian(1.0, rate=0.1)]), r"adjacency is missing.*legal: add-remove \(one .*more\); no bound is proved.*replace"),
    (lambda: PLAN + cp.compose([cp.Gaussian(2.0)], adjacency="replace"), "adjacency is None and 'replace'"),
    (lambda: PLAN.epsilon(NAN), "delta is nan; legal: a number from 0 up to"),
    (lambda: PLAN.epsilon(1.0), "delta is 1; legal"),
    (lambda: PLAN.epsilon(np.array([0.1, NAN])), r"delta\[1\] is nan; legal"),
    (lambda: PLAN.delta(-1), "epsilon is -1; legal"),
    (lambda: PLAN.delta([1, INF]), r"epsilon\[1\] is inf; legal"),
    (lambda: PLAN.epsilon(1e-6, tolerance=0), "tolerance is 0; legal: a number from 1e-15"),
    (lambda: PLAN.epsilon(1e-6, route="fast"), 'route is "fast"; legal: closed, leaks'),
    (lambda: PLAN.epsilon(1e-6, route="equal"), "the equal route does not apply"),
    (lambda: PLAN.compare(), "legal: delta or epsilon"),
    (lambda: PLAN.compare(delta=1e-6, epsilon=1.0), "legal: delta or epsilon"),
    (lambda: PLAN.region([2.0]), r"false_alarms\[0\] is 2; legal"),
    (lambda: PLAN.region().contains(0.5, NAN), "miss.* is nan; legal"),
    (lambda: PLAN.losses()[0].quantile(1.0), "level is 1; legal"),
    (lambda: PLAN.losses()[0].above(NAN), "loss is .*legal"),
    (lambda: PLAN.text("xml"), 'format is "xml"; legal'),
    (lambda: cp.Plan.from_text("version = 2"), "version is 2; legal: 1"),
    (lambda: cp.Plan.from_text(b"\xff"), "not UTF-8"),
    (lambda: cp.calibrate([cp.Gaussian(1.0)], "noise", epsilon=1, delta=1e-6), 'unknown is "noise"; legal: sigma'),
    (lambda: cp.calibrate([cp.Gaussian(1.0)], "scale", epsilon=1, delta=1e-6), "no release has a scale; legal"),
    (lambda: cp.calibrate([cp.Gaussian(1.0)], "sigma", epsilon=1, delta=1e-6, varying=[3]), "varying is 3; legal"),
    (lambda: cp.calibrate([cp.Gaussian(1.0)], "sigma", epsilon=1, delta=1e-6, varying="x"), "varying is 'x'; legal"),
    (lambda: cp.audit([]), "attacks is empty; legal"),
    (lambda: cp.audit([((3, 2), (1, 2))]), r"attacks\[0\].* is 3; legal"),
    (lambda: cp.audit([((1, 2), (1, 2))], confidence=1.0), "confidence is 1; legal"),
    (lambda: cp.Ledger("mysql:x"), "url is .*legal: sqlite"),
]

TYPES: list[tuple[Callable[[], Any], str]] = [
    (lambda: cp.compose(None), "mechanisms is of type NoneType; legal: a list of mechanisms"),
    (lambda: cp.compose([0.1]), r"mechanisms\[0\] is of type float; legal: a mechanism"),
    (lambda: cp.compose([cp.Gaussian(1.0)], adjacency=3), "adjacency is of type int; legal"),
    (lambda: cp.compose([cp.Gaussian(1.0)], group=1.5), "group is of type float; legal: a whole number"),
    (lambda: cp.Gaussian(object()), "sigma is of type object; legal"),
    (lambda: cp.Gaussian(1.0) * 2.5, "of type float; legal: a whole number"),
    (lambda: cp.Laplace(1.0, mechanism="gaussian"), "unexpected keyword argument 'mechanism'"),
    (lambda: cp.ZCDP(1.0, rate=0.1), "unexpected keyword argument 'rate'"),
    (lambda: cp.GaussianDraws(1.0, 10, 2, rate=0.1), "unexpected keyword argument 'rate'"),
    (lambda: PLAN.epsilon("1e-6"), "delta is of type str; legal"),
    (lambda: PLAN.epsilon(None), "delta is of type NoneType; legal: a number"),
    (lambda: PLAN.epsilon(True), "delta is of type bool; legal: a number"),
    (lambda: PLAN.epsilon(np.array(["a"])), "delta is of type ndarray; legal"),
    (lambda: PLAN.epsilon(1e-6, progress=3), "progress is of type int; legal"),
    (lambda: PLAN.region().is_within(3), "other is of type int; legal"),
    (lambda: cp.audit(3), "attacks is of type int; legal"),
    (lambda: cp.audit([(1, 2)]), r"attacks\[0\] is of type tuple; legal"),
    (lambda: PLAN + 3, "unsupported operand"),
]


@pytest.mark.parametrize("number", range(len(VALUES)))
def test_values(number: int) -> None:
    wrong, text = VALUES[number]
    with pytest.raises(cp.InvalidArgumentError, match=text) as raised:
        wrong()
    assert isinstance(raised.value, ValueError) and "\n" not in str(raised.value)


@pytest.mark.parametrize("number", range(len(TYPES)))
def test_types(number: int) -> None:
    wrong, text = TYPES[number]
    with pytest.raises(TypeError, match=text):
        wrong()


def test_no_finite_epsilon() -> None:
    with pytest.raises(cp.errors.NoFiniteEpsilonError, match="unbounded"):
        PLAN.epsilon(0.0)
    with pytest.raises(cp.errors.NoFiniteEpsilonError) as raised:
        cp.compose([cp.ApproxDP(0.1, 1e-3)]).epsilon(1e-6)
    assert raised.value.least is not None and abs(raised.value.least - 1e-3) < 1e-12


def test_tolerances_that_cannot_be_met() -> None:
    plan = cp.compose([cp.Laplace(1 + i / 7) for i in range(40)])
    with pytest.raises(cp.errors.ToleranceNotMetError) as raised:
        plan.epsilon(1e-6, tolerance=1e-15)
    assert raised.value.achieved is not None and raised.value.achieved > 1e-15


def test_a_missed_promise_carries_the_best_answer_and_a_missed_aim_is_marked() -> None:
    plan = cp.compose([cp.ZCDP(0.1)])
    aimed = plan.epsilon(1e-6)
    assert isinstance(aimed, cp.Answer) and aimed.wide and aimed.relative_width > 1e-6
    assert repr(aimed).endswith("wide=True)") and pickle.loads(pickle.dumps(aimed)).wide
    with pytest.raises(cp.errors.ToleranceNotMetError) as raised:
        plan.epsilon(1e-6, tolerance=1e-6)
    assert raised.value.best == aimed and raised.value.best.wide
    both = plan.epsilon([1e-6, 1e-3])
    assert both.wide.tolist() == [True, True] and both.relative_width.shape == (2,)
    narrow = cp.compose([cp.Gaussian(3.0)])
    assert not narrow.epsilon(1e-6).wide and not narrow.epsilon([1e-6, 1e-3]).wide.any()


def test_garbage_never_panics() -> None:
    """Random arguments of every type end in an answer or in an ordinary exception."""
    rng = random.Random(3)
    junk = [None, True, 0, 1, -1, 10**20, 0.0, 0.5, -0.5, 1e-300, 1e300, NAN, INF, "", "x", b"x", [], [1.0], [NAN],
            ["x"], (), {}, {"a": 1}, object(), cp.Gaussian(1.0), [cp.Gaussian(1.0)], np.array([0.1]), np.float32(0.5),
            np.array([[0.1, 0.2]]), np.array(0.5), 1j, range(3), lambda x: x]

    def pick() -> Any:
        return rng.choice(junk)

    calls: list[Callable[[], Any]] = [
        lambda: cp.compose(pick(), adjacency=pick(), group=pick()),
        lambda: cp.ApproxDP(pick(), pick(), rate=pick(), count=pick(), name=pick(), partition=pick()),
        lambda: cp.Gaussian(pick(), pick(), rate=pick(), examples=pick(), batch=pick(), epochs=pick()),
        lambda: cp.RDP(pick(), pick()),
        lambda: cp.Finite(pick(), pick()),
        lambda: cp.Gaussian(1.0) * pick(),
        lambda: cp.Gaussian(1.0).replace(**{rng.choice(["sigma", "count", "rate", "x"]): pick()}),
        lambda: PLAN.epsilon(pick(), tolerance=pick(), route=pick()),
        lambda: PLAN.delta(pick(), tolerance=pick(), progress=pick()),
        lambda: PLAN.region(pick()),
        lambda: PLAN.compare(delta=pick(), epsilon=pick()),
        lambda: PLAN.to_toml(delta=pick(), epsilon=pick()),
        lambda: cp.audit(pick(), delta=pick(), confidence=pick()),
        lambda: cp.audit([((pick(), pick()), (pick(), pick()))]),
        lambda: cp.calibrate(pick(), pick(), epsilon=pick(), delta=pick(), varying=pick()),
        lambda: cp.Plan.from_text(pick()),
        lambda: cp.Bracket(pick(), pick()),
        lambda: cp.Ledger(pick()),
    ]
    for _ in range(3_000):
        try:
            rng.choice(calls)()
        except (cp.CounterpointError, TypeError, ValueError, AttributeError, OverflowError):
            pass

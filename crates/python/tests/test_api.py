"""The face of the package."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import random
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from conftest import some_mechanism, some_plan

import counterpoint as cp
from counterpoint.mechanisms import CLASSES


def test_importing_is_light() -> None:
    code = "import sys, counterpoint; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "matplotlib", "scipy", "pandas", "torch", "dp_accounting", "opacus", "opendp", "json",
             "decimal", "inspect", "dataclasses"}
    assert not heavy & set(loaded.stdout.split())


def test_mechanisms_are_values() -> None:
    rng = random.Random(1)
    for _ in range(200):
        mechanism = some_mechanism(rng)
        assert pickle.loads(pickle.dumps(mechanism)) == mechanism == copy.deepcopy(mechanism)
        assert eval(repr(mechanism), vars(cp)) == mechanism
        assert hash(mechanism) == hash(copy.copy(mechanism))
        assert type(mechanism) is CLASSES[mechanism.kind]
        other = mechanism * 3
        assert other != mechanism and other.count == 3 * mechanism.count and type(other) is type(mechanism)
        assert mechanism.replace(name="x").name == "x"
        for name, value in mechanism.parameters.items():
            assert getattr(mechanism, name) == value


def test_every_kind_has_a_class() -> None:
    assert all(getattr(cp, kind.__name__) is kind for kind in CLASSES.values())


def test_numbers_of_numpy_are_numbers() -> None:
    assert cp.Gaussian(np.float64(2), np.float32(1)) == cp.Gaussian(2.0)
    assert cp.ApproxDP(0.5, count=np.int64(7)).count == 7
    assert cp.RDP(np.array([2.0, 4.0]), np.array([0.1, 0.2])) == cp.RDP([2, 4], (0.1, 0.2))
    assert cp.compose([cp.Gaussian(2)]).epsilon(np.float64(1e-6)) == cp.compose([cp.Gaussian(2)]).epsilon(1e-6)


def test_plans_are_values(tmp_path: Path, full: bool) -> None:
    rng = random.Random(2)
    for number in range(100 if full else 10):
        plan = some_plan(rng)
        assert pickle.loads(pickle.dumps(plan)) == plan and hash(plan) == hash(copy.deepcopy(plan))
        assert eval(repr(plan), vars(cp)) == plan
        for suffix in ("toml", "json"):
            path = tmp_path / f"{number}.{suffix}"
            plan.save(path, delta=1e-6)
            assert cp.load(path) == plan
        assert cp.Plan.from_text(plan.to_toml()) == plan == cp.Plan.from_text(plan.to_json().encode())
        assert list(plan) == list(plan.mechanisms) and len(plan) == len(plan.mechanisms)


def test_the_program_reads_what_python_writes() -> None:
    plan = cp.load(Path(__file__).parents[3] / "examples" / "weekly.toml")
    assert cp.Plan.from_text(plan.to_toml()) == plan


def test_plans_add_up() -> None:
    one, two = cp.compose([cp.ApproxDP(0.1)]), cp.compose([cp.ApproxDP(0.2)])
    assert one + two == cp.compose([cp.ApproxDP(0.1), cp.ApproxDP(0.2)])
    with pytest.raises(cp.InvalidArgumentError, match="adjacency"):
        one + cp.compose([cp.ApproxDP(0.2)], adjacency="replace")


def test_brackets() -> None:
    answer = cp.compose([cp.Gaussian(sigma=2.0)]).epsilon(1e-6)
    assert float(answer) == answer.upper >= answer.lower == list(answer)[0]
    assert answer.upper in answer and -1.0 not in answer and 0 <= answer.relative_width <= 1e-6
    assert answer.theorem == "dominating-pairs" and "Zhu" in answer.source
    assert isinstance(answer, cp.Bracket) and pickle.loads(pickle.dumps(answer)) == answer
    assert f"{answer}" == str(answer)
    for form in (".0f", ".1f", ".3f", ".9f", ".2e", ".1g", ".4g", "10.3f", ",.2f", ".3%"):
        shown = f"{answer:{form}}".strip()
        value = float(shown.rstrip("%")) / (100 if "%" in form else 1)
        assert answer.upper <= value <= answer.upper * 1.5, form
    assert f"{cp.Bracket(8.7, 8.77320158):.3f}" == "8.774" and f"{cp.Bracket(1, 2):.3f}" == "2.000"
    low, _, high = str(answer).partition(" .. ")
    assert float(low) <= answer.lower and answer.upper <= float(high)
    assert eval(repr(answer), vars(cp)) == answer
    assert np.asarray([answer, 2.0], dtype=float)[0] == answer.upper
    with pytest.raises(cp.InvalidArgumentError, match="lower"):
        cp.Bracket(2, 1)


def test_arrays() -> None:
    plan = cp.compose([cp.ApproxDP(0.1, 1e-9) * 100])
    deltas = np.geomspace(1e-12, 1e-3, 6).reshape(2, 3)
    found = plan.epsilon(deltas)
    assert found.shape == (2, 3) and np.isinf(found.upper[0, 0]) and np.isfinite(found.upper[1]).all()
    assert np.array_equal(np.asarray(found), found.upper) and (found.lower <= found.upper).all()
    assert found[1, 2] == plan.epsilon(float(deltas[1, 2])) and len(found[1]) == 3
    assert plan.epsilon([]).shape == (0,)
    assert plan.delta([0, 1, 2]).upper.tolist() == sorted(plan.delta([0, 1, 2]).upper, reverse=True)
    assert plan.epsilon(deltas.T[::-1, :]).upper.tolist() == found.upper.T[::-1, :].tolist()
    tradeoff = plan.tradeoff(np.linspace(0, 1, 11))
    assert np.array_equal(np.asarray(tradeoff), tradeoff.lower)


def test_many_deltas_keep_the_tolerance() -> None:
    plan = cp.compose([cp.Gaussian(sigma=2.0) * 10])
    found = plan.epsilon(np.geomspace(1e-10, 0.1, 100_000))
    assert ((found.upper - found.lower) <= 1e-6 * found.upper).all()
    assert (np.diff(found.lower) <= 1e-9).all()


def test_regions() -> None:
    # One randomized response is the region of Kairouz, Oh and Viswanath's (1).
    region = cp.compose([cp.RandomizedResponse(1.0)]).region()
    corner = 1 / (1 + np.e)
    assert np.abs(region.outer - [corner, corner]).sum(axis=1).min() < 1e-12
    assert region.contains(corner + 1e-6, corner + 1e-6) == "yes"
    assert region.contains(corner - 1e-6, corner - 1e-6) == "no"
    assert abs(float(region.total_variation) - np.tanh(0.5)) < 1e-12
    assert abs(float(region.best_advantage(corner)) - np.tanh(0.5)) < 1e-12
    # A triangle: half of the total variation.
    assert abs(float(region.area) - 0.5 * np.tanh(0.5)) < 1e-12
    wider = cp.compose([cp.RandomizedResponse(2.0)]).region()
    assert region.is_within(wider) == "yes" and wider.is_within(region) == "no"
    # Gaussian: Phi(Phi^-1(1 - a) - 1/sigma) at a = 1/2.
    from math import erfc, sqrt

    miss = cp.compose([cp.Gaussian(sigma=2.0)]).tradeoff([0.5])
    truth = 0.5 * erfc(0.5 / sqrt(2))
    assert miss.lower[0] - 1e-15 <= truth <= miss.upper[0] + 1e-15 and miss.upper[0] - miss.lower[0] < 1e-5


def test_losses() -> None:
    (loss,) = cp.compose([cp.Gaussian(sigma=2.0)]).losses()
    assert 0.125 in loss.mean and 0.25 in loss.variance and loss.atoms is None
    # P(N(1/8, 1/4) > l) at the mean and a standard deviation above it.
    above = loss.above(np.array([0.125, 0.625]))
    assert np.allclose(above.upper, [0.5, 0.158655253931457], rtol=1e-4)
    assert loss.above(0.625).upper == above.upper[1]
    assert loss.quantile(0.5).lower - 1e-6 < 0.125 < loss.quantile(0.5).upper + 1e-6
    (loss,) = cp.compose([cp.ApproxDP(1.0, 0.25)]).losses()
    assert loss.atoms is not None and len(loss.atoms) == 2 and 0.25 in loss.leak
    assert loss.above(2.0).upper >= 0.25 > loss.above(2.0).lower - 1e-12


def test_calibrations() -> None:
    mechanisms = [cp.Gaussian(sigma=1.0, name="noise") * 10, cp.Laplace(scale=100.0)]
    found = cp.calibrate(mechanisms, "sigma", epsilon=1.0, delta=1e-6, varying="noise")
    assert float(found) == found.value and float(found.cost) <= 1.0 and found.unknown == "sigma"
    filled = cp.compose(found.mechanisms)
    assert filled.mechanisms[0].sigma == found.value and filled.mechanisms[0].name == "noise"
    assert filled.epsilon(1e-6).upper <= 1.0
    assert found.beyond is not None and found.beyond[1].upper > 1.0 and found.beyond[0] < found.value
    assert cp.calibrate(mechanisms, "sigma", epsilon=1.0, delta=1e-6, varying=[0]).value == found.value
    with pytest.raises(cp.errors.OutOfReachError):
        cp.calibrate([cp.ApproxDP(2.0), cp.Gaussian(1.0)], "sigma", epsilon=1.0, delta=1e-6)
    # The cost is what composing gives, to the last bit.
    training = cp.Gaussian(sigma=1.0, examples=60_000, batch=256, epochs=20)
    found = cp.calibrate(training, "sigma", epsilon=3.0, delta=1e-5, adjacency="add-remove")
    again = cp.compose(found.mechanisms, adjacency="add-remove").epsilon(1e-5)
    assert (again.lower, again.upper) == (found.cost.lower, found.cost.upper) and again.upper <= 3.0
    # Ratios are kept: 1/s + 200/(50 s) = 1 at s = 5.
    both = [cp.Laplace(scale=1.0), cp.Laplace(scale=50.0, sensitivity=200.0)]
    found = cp.calibrate(both, "scale", epsilon=1.0, delta=0.0)
    assert [round(m.scale, 9) for m in found.mechanisms] == [5.0, 250.0]


def test_noise_by_its_guarantee() -> None:
    laplace = cp.Laplace(epsilon=0.3, sensitivity=2.0)
    assert abs(laplace.scale - 2.0 / 0.3) < 1e-12
    assert cp.compose([laplace]).epsilon(0.0).upper <= 0.3
    # Balle and Wang 2018, Algorithm 1.
    gaussian = cp.Gaussian(epsilon=1.0, delta=1e-6)
    assert abs(gaussian.sigma - 4.2246788893) < 1e-8
    assert cp.compose([gaussian]).epsilon(1e-6).upper <= 1.0
    for wrong in [dict(scale=1.0, epsilon=1.0), dict()]:
        with pytest.raises(cp.InvalidArgumentError, match="legal: .*epsilon"):
            cp.Laplace(**wrong)


def test_audits() -> None:
    from scipy.stats import beta

    audit = cp.audit([((1840, 10_000), (5003, 10_000))], delta=1e-3, confidence=0.95)
    # Clopper and Pearson, the risk halved; then Kairouz, Oh and Viswanath's (1).
    alarm, miss = (float(beta.ppf(1 - 0.025, count + 1, 10_000 - count)) for count in (1840, 5003))
    assert np.allclose(audit.rates, [(alarm, miss)], rtol=1e-9)
    assert np.isclose(float(audit), np.log((1 - 1e-3 - miss) / alarm), rtol=1e-9)
    assert audit.refutes(cp.compose([cp.ApproxDP(0.5)])) and not audit.refutes(cp.compose([cp.ApproxDP(1.0)]))


def test_notebooks_and_pictures() -> None:
    plan = cp.compose([cp.Gaussian(2.0, name="<b>"), cp.ApproxDP(0.1) * 5])
    assert "&lt;b&gt;" in plan._repr_html_() and "<table>" in plan.compare(delta=1e-6)._repr_html_()
    import matplotlib

    matplotlib.use("Agg")
    axes = plan.plot()
    assert axes.get_yscale() == "log" and len(axes.lines[0].get_xdata()) > 100
    assert plan.region().plot().get_xlabel() == "probability of a missed detection"


def test_comparisons() -> None:
    comparison = cp.compose([cp.ApproxDP(0.005) * 100]).compare(delta=2**-25)
    # Murtagh and Vadhan 2018, section 6.
    assert abs(comparison.ratio("advanced") - 1.326) < 5e-4 and abs(comparison.ratio("kov-closed-form") - 1.201) < 5e-4
    assert "optimal" in str(comparison)


def test_slots_hold_accounts_and_are_cut_anew(tmp_path: Path) -> None:
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'slots.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=3, delta="1e-6")
    ledger.open_plan("year", "census", cp.compose([cp.ApproxDP(0.2, name="month") * 6]), delta="1e-7")
    ledger.open_filter("june", within="year", slot="month", filter="sums", epsilon="0.2", delta=0)
    assert ledger.reserve("june", cp.Laplace(scale=5), key="june").outcome == "reserved"
    with pytest.raises(cp.LedgerError):
        ledger.open_filter("july", within="year", slot="month", filter="sums", epsilon="0.3", delta=0)
    with pytest.raises(cp.InvalidArgumentError, match="nothing pays"):
        ledger.open_filter("july", filter="sums", epsilon="0.1", delta=0)
    ledger.recut("year", unused={"month": 2}, into=cp.compose([cp.ApproxDP(0.1, name="half") * 4]))
    with pytest.raises(cp.LedgerError):
        ledger.recut("year", unused={"month": 1}, into=cp.compose([cp.ApproxDP(0.11, name="more") * 2]))
    assert ledger.reserve("year", "half", key="half", count=4).outcome == "reserved"
    # All of it is spent, and not a hundredth more.
    with pytest.raises(cp.errors.RefusedError):
        ledger.reserve("june", cp.ApproxDP(0.002), key="more")


def test_amounts_are_exact() -> None:
    from counterpoint.ledger import _text

    rng = random.Random(3)
    for _ in range(200):
        amount = Fraction(rng.randrange(1, 10**30), 2 ** rng.randrange(60) * 5 ** rng.randrange(60))
        assert Fraction(_text("epsilon", amount)) == amount
    with pytest.raises(cp.InvalidArgumentError, match="finitely many decimals"):
        _text("epsilon", Fraction(1, 3))


def test_the_ledger(tmp_path: Path) -> None:
    from decimal import Decimal

    url = f"sqlite:{tmp_path / 'budget.db'}"
    ledger = cp.Ledger(url, create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=Decimal("3"), delta="1e-6")
    ledger.open_filter("team", "census", filter="sums", epsilon=Fraction(3, 10), delta=0)
    ledger.open_plan("weekly", "census", cp.compose([cp.ApproxDP(0.1, name="week") * 4]), delta="1e-7")
    ledger.quota("team", "eve", epsilon="0.1", delta=0)
    ledger.quota("team", "bob", share=1)
    # 0.1 + 0.2 is 0.3, and nothing is left.
    assert ledger.reserve("team", cp.ApproxDP(0.1), key="a", analyst="eve").outcome == "reserved"
    with pytest.raises(cp.errors.RefusedError) as refused:
        ledger.reserve("team", cp.ApproxDP(0.1), key="b", analyst="eve")
    assert refused.value.detail["left"] == "0"
    assert ledger.reserve("team", cp.ApproxDP(0.2), key="c", analyst="bob").outcome == "reserved"
    with pytest.raises(cp.errors.RefusedError):
        ledger.reserve("team", cp.ApproxDP(1e-9), key="d", analyst="bob")
    assert ledger.reserve("weekly", "week", key="w", count=3, run=cp.Laplace(20)).outcome == "reserved"
    with pytest.raises(cp.LedgerError):
        ledger.reserve("weekly", "week", key="v", run=cp.Laplace(5))
    assert ledger.reserve("weekly", "week", key="v").outcome == "reserved"
    assert ledger.commit("a", "first").response == b"first" == ledger.commit("a", b"second").response
    assert ledger.reserve("team", cp.ApproxDP(0.1), key="a", analyst="eve").response == b"first"
    assert ledger.response("a") == b"first" and ledger.response("c") is None
    # Another handle, as another process would have.
    other = cp.Ledger(url)
    assert other.head == ledger.head == other.verify(ledger.head) and "team" in str(other.status())
    assert len(other.history("team")["entries"]) >= 4 and "census" in other.export()
    with pytest.raises(cp.LedgerError, match="unknown|nobody"):
        ledger.reserve("nobody", cp.ApproxDP(0.1), key="e", analyst="bob")
    with pytest.raises(cp.LedgerError):
        other.verify(f"999:{'0' * 64}")


def test_the_ledger_of_several_people(tmp_path: Path) -> None:
    from decimal import Decimal

    url = f"sqlite:{tmp_path / 'team.db'}"
    ledger = cp.Ledger(url, create=True)
    ledger.dataset("census", adjacency="replace", records=3, epsilon=3, delta="1e-6")
    for account in ("one", "two"):
        ledger.open_filter(account, "census", filter="sums", epsilon="0.3", delta=0)
    assert ledger.status("one")["accounts"][0]["records"] == 3
    # A mean is a sum and a count: charged together, or not at all.
    mean = [cp.Laplace(scale=10), cp.Geometric(scale=10)]
    price = ledger.price("one", mean)
    assert (price.main, price.delta, price.fits) == (Decimal("0.2"), 0, True)
    assert ledger.head == ledger.status()["head"]
    assert ledger.reserve("one", mean, key="mean", analyst="ann").outcome == "reserved"
    assert "left of 0.3" in (ledger.price("one", mean).refusal or "")
    with pytest.raises(cp.errors.RefusedError):
        ledger.reserve("one", mean, key="more")
    with pytest.raises(cp.InvalidArgumentError, match="with several"):
        ledger.reserve("two", mean, key="more", count=2)
    with pytest.raises(TypeError, match="legal: mechanisms"):
        ledger.reserve("two", [1], key="more")  # type: ignore[list-item]
    # Keys belong to their account.
    assert [one["key"] for one in ledger.pending()["pending"]] == ["mean"]
    ledger.commit("mean", "12.5")
    assert ledger.reserve("two", cp.Laplace(scale=10), key="mean").outcome == "reserved"
    with pytest.raises(cp.LedgerError, match="one and two"):
        ledger.commit("mean", "13")
    assert ledger.commit("mean", "13", account="two").response == b"13"
    assert ledger.response("mean", "one") == b"12.5"
    assert [one["account"] for one in ledger.responses(analyst="ann")["responses"]] == ["one"]
    assert len(ledger.history(analyst="ann")["entries"]) == 2
    # A session is debited once.
    sparse = cp.SparseVector(epsilon_threshold=0.125, epsilon_queries=0.0625)
    assert ledger.reserve("two", sparse, key="s", session=True).outcome == "reserved"
    assert ledger.session("two", "s")["begun"] is None
    with pytest.raises(cp.LedgerError, match="session"):
        ledger.commit("s", "1")
    with pytest.raises(cp.LedgerError, match="session"):
        ledger.end("two", "s")
    ledger.close("two")
    with pytest.raises(cp.LedgerError, match="is closed"):
        ledger.reserve("two", cp.ApproxDP(0.01), key="late")
    # An old copy is refused, and readers write nothing.
    saved = ledger.backup(tmp_path / "copy.db")
    assert saved == ledger.head
    head = ledger.close("one")
    with pytest.raises(cp.LedgerError):
        cp.Ledger(f"sqlite:{tmp_path / 'copy.db'}", expect_head=head)
    reader = cp.Ledger(url, expect_head=head, read_only=True)
    assert reader.verify(head) == head
    with pytest.raises(cp.LedgerError):
        reader.close("one")


def test_owners_move_budget_and_accounts_tell_what_fits(tmp_path: Path) -> None:
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'owners.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=2, delta="1e-5")
    for account in ("one", "two"):
        ledger.open_filter(account, "census", filter="renyi", epsilon=1, delta="1e-6")
    room = ledger.status("one")["accounts"][0]["room"]
    assert room["pure"] == "1" and float(room["gaussian"]["sigma"]) > 1 and room["sampled"]["steps"] == 1000
    with pytest.raises(cp.errors.RefusedError) as refused:
        ledger.reserve("one", cp.Gaussian(float(room["gaussian"]["sigma"]) / 2), key="a")
    assert refused.value.detail["noise"] and refused.value.detail["fits"][0] == "a pure release of epsilon 1"
    assert ledger.reserve("one", cp.ApproxDP(0.25), key="a", analyst="ann").outcome == "reserved"
    head = ledger.move("one", "two", "0.125", key="m")
    assert ledger.move("one", "two", "0.125", key="m") == head
    assert ledger.status("two")["accounts"][0]["room"]["pure"] == "1.125"
    ledger.quota("one", "ann", share="0.5")
    ledger.quota("one", "ann", share="0.9", change=True)
    assert ledger.status("one")["accounts"][0]["quotas"][0]["spent"]["pure"] == "0.25"
    ledger.close_dataset("census")
    with pytest.raises(cp.LedgerError, match="is closed"):
        ledger.reserve("two", cp.ApproxDP(0.01), key="late")
    assert ledger.verify() == ledger.head


def test_accounts_promise_what_they_add_up(tmp_path: Path) -> None:
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'curves.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=9, delta="1e-3")
    slots = [cp.ZCDP(0.1, name="rho"), cp.GDP(0.5, name="mu"), cp.RDP([8], [0.3], name="tau")]
    ledger.open_plan("plan", "census", cp.compose(slots), delta="1e-6")
    ledger.open_filter("a", within="plan", slot="rho", filter="zcdp", rho="0.1")
    ledger.open_filter("b", within="plan", slot="mu", filter="gdp", mu="0.5")
    ledger.open_filter("c", within="plan", slot="tau", filter="renyi", order=8, tau="0.3")
    assert ledger.status("a")["accounts"][0]["promise"] == {"rho": "0.1", "delta": "0"}
    with pytest.raises(cp.InvalidArgumentError, match="promises nothing"):
        ledger.open_filter("d", "census", filter="zcdp", epsilon=1)


def test_accounts_without_leaks_refuse_what_leaks(tmp_path: Path) -> None:
    ledger = cp.Ledger(f"sqlite:{tmp_path / 'leaks.db'}", create=True)
    ledger.dataset("census", adjacency="add-remove", epsilon=9, delta="1e-3")
    for name, leaks in (("none", 0), ("half", None)):
        ledger.open_filter(name, "census", epsilon=1, delta="1e-6", leaks=leaks)
    ledger.reserve("none", cp.Gaussian(30.0), key="a")
    with pytest.raises(cp.errors.RefusedError, match="try releases without a delta of their own, or an account that sets some"):
        ledger.reserve("none", cp.ApproxDP(0.01, 1e-12), key="b")
    assert ledger.reserve("half", cp.ApproxDP(0.01, 1e-12), key="b").outcome == "reserved"
    assert "try more noise" in (ledger.price("none", cp.Gaussian(0.1)).refusal or "")
    with pytest.raises(cp.LedgerError, match="legal: leaks with renyi or zcdp"):
        ledger.open_filter("sums", "census", filter="sums", epsilon=1, delta="1e-6", leaks=0)


def test_docstrings_are_there() -> None:
    for name in cp.__all__:
        assert (getattr(cp, name).__doc__ or "").strip(), name


def test_version() -> None:
    cargo = (Path(__file__).parents[3] / "Cargo.toml").read_text()
    assert f'version = "{cp.__version__}"' in cargo
    assert os.path.exists(Path(cp.__file__).parent / "py.typed")


def test_what_the_table_of_reach_names_is_there() -> None:
    """The fourth column of docs/reach.md: names of the package, with the arguments that are written after them."""
    text = (Path(__file__).parents[3] / "docs" / "reach.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|\n").split(" | ")] for line in text.splitlines() if line.startswith("| ")][2:]
    names = {name for row in rows for name in row[3].split("`")[1::2]}
    assert len(rows) > 60 and len(names) > 40 and {row[3] for row in rows if "`" not in row[3]} == {"none"}
    for name in names:
        path, _, argument = name.removesuffix("=)").partition("(")
        found: object = cp
        for part in path.split("."):
            found = getattr(found, part) if hasattr(found, part) else found.__annotations__[part]
        if argument:
            assert callable(found) and argument in inspect.signature(found).parameters, name


def test_what_the_table_of_reach_names_can_be_called() -> None:
    plan = cp.compose([cp.ApproxDP(0.1) * 20])
    compared = plan.compare(delta=1e-6, eta=0.1)
    assert compared.others and plan.epsilon(1e-6).theorem and plan.losses() and plan.region([0.1])
    assert cp.pairs(0.1, 0, count=3) and cp.convert(1.0, 0.0) and cp.noise_rules(1.0, 1e-5, count=100)
    assert cp.compose([cp.Gaussian(2.0)]).epsilon(1e-6, route="renyi").route == "renyi"

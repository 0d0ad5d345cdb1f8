"""What a type checker says: names are checked, and signatures say what can be given."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import counterpoint as cp
from counterpoint import names
from counterpoint.mechanisms import CLASSES

# Each line beside what mypy has to say of it, or nothing.
LINES = [
    ('plan = cp.compose([cp.Gaussian(2.0) * 3], adjacency="replace")', None),
    ('cp.compose([cp.Gaussian(2.0)], adjacency="replce")', "arg-type"),
    ('found = cp.calibrate(cp.Gaussian(cp.UNKNOWN, rate=0.1), "sigma", epsilon=1, delta=1e-6)', None),
    ('cp.calibrate(cp.Gaussian(2.0), "sigam", epsilon=1, delta=1e-6)', "arg-type"),
    ("cp.Gaussian(sigam=2.0)", "call-arg"),
    ("cp.Laplace(scale=2.0, cuont=3)", "call-arg"),
    ("cp.ZCDP(0.1, rate=0.1)", "call-arg"),
    ("cp.ApproxDP(delta=0.1)", "call-arg"),
    ('plan.epsilon(1e-6, route="contour")', None),
    ('plan.epsilon(1e-6, route="fast")', "call-overload"),
    ('plan.compare(delta=1e-6).ratio("advnaced")', "arg-type"),
    ('ledger = cp.Ledger("sqlite:x")', None),
    ('ledger.open_filter("a", "b", filter="renyi", epsilon=plan.epsilon(1e-6), delta=0)', None),
    ('ledger.open_filter("a", "b", filter="reny", epsilon=1, delta=0)', "arg-type"),
    ('ledger.dataset("d", adjacency="add", epsilon=1, delta=0)', "arg-type"),
    ("ok: bool = plan.epsilon(1e-6) <= 1 and 1.0 >= plan.epsilon(1e-6)", None),
    ('plan.epsilon(1e-6) <= "1"', "operator"),
    ("total: cp.Bracket = plan.epsilon(1e-6) + 1 + found.cost", None),
    ("largest: cp.Answer = max(plan.epsilon(1e-6), found.cost)", None),
    ("summed = sum([plan.epsilon(1e-6)])", None),
    ("rounded: float = round(plan.epsilon(1e-6), 3)", None),
    ("if plan.region().contains(0.1, 0.1): pass", None),
    ('data = cp.noise.Data([1.0], adjacency="replace")', None),
    ('cp.noise.Data([1.0], adjacency="rep")', "arg-type"),
    ('reply: cp.noise.Reply = cp.noise.measure(data, cp.noise.Query.count(), "laplace", 0.5)', None),
    ('cp.noise.measure(data, cp.noise.Query.count(), "laplce", 0.5)', "arg-type"),
    ("cp.noise.geometric(scale=2.0, sensitivty=1)", "call-arg"),
    ("gate = cp.sessions.SparseVectorSpec(0.5, answers=2, threshold=1).open(data)", None),
    ("above: bool = gate.ask(cp.noise.Query.count()).above", None),
    ("gate.ask(3)", "arg-type"),
    ("cp.sessions.SparseVectorSpec(0.5, answer=2, threshold=1)", "call-arg"),
]


def test_a_checker_finds_misspelt_names(tmp_path: Path) -> None:
    file = tmp_path / "uses.py"
    file.write_text("import counterpoint as cp\n" + "".join(line + "\n" for line, _ in LINES))
    package = Path(cp.__file__).parents[1]
    environment = dict(os.environ)
    if package.name != "site-packages":
        environment["MYPYPATH"] = str(package)
    command = [sys.executable, "-m", "mypy", "--strict", "--disable-error-code=comparison-overlap", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=Path(__file__).parents[3])
    said = {int(line): code for line, code in re.findall(r"uses.py:(\d+): error: .*\[([\w-]+)\]", done.stdout)}
    expected = {number: code for number, (_, code) in enumerate(LINES, start=2) if code is not None}
    assert said == expected, done.stdout + done.stderr


def test_the_names_are_the_librarys() -> None:
    plan = cp.compose([cp.Gaussian(2.0)])

    def legal(refused: cp.CounterpointError) -> set[str]:
        return set(re.findall(r"[\w-]+", str(refused).partition("legal: ")[2]))

    with pytest.raises(cp.InvalidArgumentError) as route:
        plan.epsilon(1e-6, route="fast")  # type: ignore[call-overload]
    assert set(get_args(names.Route)) == legal(route.value)
    with pytest.raises(cp.InvalidArgumentError) as unknown:
        cp.calibrate(cp.Gaussian(1.0), "noise", epsilon=1, delta=0)  # type: ignore[arg-type]
    assert set(get_args(names.Unknown)) == legal(unknown.value)
    with pytest.raises(cp.InvalidArgumentError) as adjacency:
        cp.compose([cp.Gaussian(1.0)], adjacency="both")  # type: ignore[arg-type]
    assert set(get_args(names.Adjacency)) == legal(adjacency.value) - {"or"}
    # A theorem of ours has a source.
    assert all(cp.Answer(1, 2, "closed", theorem).source for theorem in get_args(names.Theorem))
    assert set(plan.compare(delta=1e-6).others) <= set(get_args(names.Theorem))
    assert {loss.direction for loss in cp.compose([cp.ApproxDP(1.0)]).losses()} <= set(get_args(names.Direction))


def test_signatures_say_everything() -> None:
    sampled = {"rate", "examples", "batch", "epochs"}
    unsampled = {"zcdp", "tcdp", "rdp", "gaussian-subset", "gaussian-draws", "gaussian-batch", "gaussian-allocation"}
    unsampled |= {"private-selection", "shuffled-reports"}
    for kind, made in CLASSES.items():
        parameters = inspect.signature(made).parameters
        assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in parameters.values()), kind
        assert {"count", "name", "partition"} <= set(parameters), kind
        assert bool(sampled & set(parameters)) == (kind not in unsampled), kind
    given = cp.Gaussian(2.0, count=3, name="x", partition="p", examples=100, batch=10)
    assert (given.count, given.name, given.partition, given.rate) == (3, "x", "p", 0.1)
    assert cp.Gaussian(2.0, examples=100, batch=10, epochs=2).count == 20 and cp.Gaussian(2.0, rate=0.5).rate == 0.5
    with pytest.raises(TypeError, match="unexpected keyword argument 'sigam'"):
        cp.Gaussian(sigam=2.0)  # type: ignore[call-arg]


def test_calibrations_need_no_dummy() -> None:
    import copy
    import pickle

    step = cp.Gaussian(sigma=cp.UNKNOWN, rate=0.01) * 100
    assert repr(step) == "Gaussian(sigma=UNKNOWN, sensitivity=1.0, rate=0.01, count=100)" and step.sigma is not None
    assert eval(repr(step), vars(cp)) == step == pickle.loads(pickle.dumps(step)) == copy.deepcopy(step)
    assert step != cp.Gaussian(sigma=1.0, rate=0.01) * 100 and step.replace(sigma=2.0) == cp.Gaussian(2.0, rate=0.01) * 100
    target = dict(epsilon=1.0, delta=1e-5, adjacency="add-remove")
    dummy = cp.calibrate(cp.Gaussian(3.0, rate=0.01) * 100, "sigma", **target)
    for found in (cp.calibrate(step, **target), cp.calibrate([step], "sigma", **target)):
        assert found.value == dummy.value and found.mechanisms == dummy.mechanisms and found.unknown == "sigma"
    # Those without a number vary, the others stay, and noise is in proportion to what it hides: 1/s = 3/(3s) = 0.4.
    parts = [cp.Laplace(cp.UNKNOWN), cp.Laplace(5.0), cp.Laplace(cp.UNKNOWN, sensitivity=3.0)]
    found = cp.calibrate(parts, epsilon=1.0, delta=0.0)
    assert [round(one.scale, 9) for one in found.mechanisms] == [2.5, 5.0, 7.5]
    assert cp.calibrate(cp.Laplace(8, count=cp.UNKNOWN), epsilon=1.05, delta=0).value == 8
    assert round(cp.calibrate(cp.ApproxDP(cp.UNKNOWN) * 2, epsilon=1, delta=0).value, 9) == 0.5
    for wrong, text in [
        (lambda: cp.compose([cp.Laplace(1.0), step], adjacency="add-remove"), r"mechanisms\[1\]: sigma is UNKNOWN; legal: a number; .*calibrate"),
        (lambda: cp.calibrate(step, "count", **target), "sigma is UNKNOWN, and count is to be found; legal"),
        (lambda: cp.calibrate([step, cp.Laplace(cp.UNKNOWN)], **target), "scale is UNKNOWN, and sigma is to be found"),
        (lambda: cp.calibrate([step, cp.Gaussian(1.0)], varying=[1], **target), r"mechanisms\[0\]: sigma is UNKNOWN; legal"),
        (lambda: cp.calibrate(cp.Gaussian(1.0), **target), "unknown is missing; legal: one of sigma, .*UNKNOWN"),
        (lambda: cp.Gaussian(1.0, cp.UNKNOWN), "sensitivity is UNKNOWN; legal: numbers, but for one of sigma"),
        (lambda: cp.Laplace(cp.UNKNOWN, count=cp.UNKNOWN), "UNKNOWN; legal: numbers, but for one"),
        (lambda: cp.Laplace(epsilon=cp.UNKNOWN), "epsilon is UNKNOWN; legal: a number, or the noise itself"),
        (lambda: cp.Laplace(1.0, count=cp.UNKNOWN) * 3, "count is unknown, and is multiplied; legal"),
        (lambda: cp.Plan([step]), "UNKNOWN"),
    ]:
        with pytest.raises(cp.InvalidArgumentError, match=text):
            wrong()
    with pytest.raises(TypeError):
        float(step.sigma)
    assert np.isfinite(float(cp.compose(found.mechanisms).epsilon(0.0)))

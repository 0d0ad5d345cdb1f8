"""Studies: the program's own numbers, plans that cost what was said, and errors that name the field."""

from __future__ import annotations

import copy
import json
import math
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterpoint as cp

EXAMPLE = Path(__file__).parents[3] / "examples" / "study.toml"

STUDY: dict[str, Any] = {
    "epsilon": 0.5,
    "delta": 1e-6,
    "data": {"adjacency": "replace", "people": 5000},
    "statistic": [
        {"name": "mean income", "kind": "mean", "bounds": [0, 200_000], "error": 500},
        {"name": "by region", "kind": "histogram", "categories": ["a", "b", "c"], "error": 30},
        {"name": "later", "kind": "held-back", "epsilon": 0.1},
    ],
}


def changed(*path: str | int, to: Any) -> dict[str, Any]:
    """The study with one thing changed."""
    study = copy.deepcopy(STUDY)
    at: Any = study
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = to
    return study


def program() -> Path | None:
    """The program of the same build, if it is there: beside the examples."""
    bits = os.environ.get("COUNTERPOINT_BITS")
    found = Path(bits).parents[1] / "counterpoint" if bits else None
    return found if found and found.exists() else None


def test_the_same_as_the_program() -> None:
    planned = cp.plan_study(EXAMPLE)
    said = json.loads(planned.to_json())
    assert [planned.epsilon.lower, planned.epsilon.upper] == pytest.approx(
        [said["epsilon"]["lower"], said["epsilon"]["upper"]], rel=1e-12
    )
    # Text is rounded outward.
    assert said["epsilon"]["lower"] <= planned.epsilon.lower <= planned.epsilon.upper <= said["epsilon"]["upper"]
    assert planned.epsilon.upper <= 1.0 and planned.delta == 1e-6 == planned.delta_within
    assert planned.factor is not None and planned.factor.upper == pytest.approx(said["factor"]["upper"], rel=1e-12)
    for mine, theirs in zip(planned.statistics, said["statistics"], strict=True):
        fields = ("name", "error", "wanted", "confidence", "pinned", "epsilon")
        assert [getattr(mine, field) for field in fields] == [theirs[field] for field in fields]
        one = [theirs["mechanism"]] if isinstance(theirs["mechanism"], dict) else theirs["mechanism"]
        own = mine.mechanism if isinstance(mine.mechanism, tuple) else (mine.mechanism,)
        assert [m.kind for m in own] == [m["mechanism"] for m in one]
    others = [(other.theorem, other.epsilon, other.factor) for other in planned.others]
    assert others == [(o["theorem"], o["epsilon"], o["factor"]) for o in said["others"]]
    if (built := program()) is None:
        pytest.skip("the program is not built")
    done = subprocess.run([built, "plan", str(EXAMPLE), "--json"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == planned.to_json()


def test_ways_to_say_a_study() -> None:
    text = EXAMPLE.read_text()
    planned = cp.plan_study(text)
    assert planned == cp.plan_study(str(EXAMPLE)) == cp.plan_study(text.encode())
    as_json = json.dumps(STUDY)
    assert cp.plan_study(STUDY) == cp.plan_study(as_json) != planned
    # numpy's numbers and arrays, tuples, and what is None.
    same = changed("statistic", 0, "bounds", to=np.array([0, 200_000]))
    same["delta"], same["goal"] = np.float64(1e-6), None
    same["data"]["people"] = np.int64(5000)
    same["statistic"] = tuple(same["statistic"])
    assert cp.plan_study(same) == cp.plan_study(STUDY)
    assert "mean income" in repr(planned) and "held back" in str(planned)
    assert planned._repr_html_().count("<tr>") == 6


def test_the_plan_costs_what_was_said() -> None:
    planned = cp.plan_study(STUDY)
    composed = planned.plan.epsilon(planned.delta_within)
    assert (composed.lower, composed.upper) == (planned.epsilon.lower, planned.epsilon.upper)
    assert isinstance(planned.plan, cp.Plan) and planned.plan.adjacency == "replace"
    assert cp.Plan.from_text(planned.plan.to_toml()) == planned.plan
    assert [m.name for m in planned.plan] == ["mean income", "by region", "later"]
    held = planned.statistics[2]
    assert held.noise is None and held.error is None and held.mechanism == cp.ApproxDP(0.1, name="later")
    assert planned.factor is not None
    for statistic in planned.statistics[:2]:
        assert statistic.error is not None and statistic.wanted is not None
        assert statistic.error <= statistic.wanted * planned.factor.upper * (1 + 1e-9)


def test_a_secret_sample() -> None:
    """Balle, Barthe and Gaboardi 2018, Theorem 9."""
    study = changed("data", "sample_of", to=4_000_000)
    planned, share = cp.plan_study(study), 5000 / 4_000_000
    assert planned.delta_within == pytest.approx(1e-6 / share, rel=1e-9)
    within = planned.plan.epsilon(planned.delta_within)
    outside = math.log1p(share * math.expm1(within.upper))
    assert planned.epsilon.upper == pytest.approx(outside, rel=1e-6) and planned.epsilon.upper <= 0.5


def test_weights_and_costs() -> None:
    weighted = copy.deepcopy(STUDY)
    for statistic in weighted["statistic"][:2]:
        del statistic["error"]
    assert cp.plan_study(weighted).least is None
    planned = cp.plan_study(weighted, prove=True)
    assert planned.sum_in_units == pytest.approx(sum(s.error or 0 for s in planned.statistics[:2]), rel=1e-9)
    # Relative to how large answers can be.
    errors = [statistic.error for statistic in planned.statistics[:2]]
    assert planned.factor is None and errors[0] and errors[1]
    assert planned.sum == pytest.approx(errors[0] / 200_000 + errors[1] / 5000, rel=1e-9)
    proved = planned.least
    assert proved is not None and proved.sum is not None and proved.reason is None
    assert 0.9 * planned.sum < proved.sum <= planned.sum and proved.noise in ("any", "these")
    assert json.loads(planned.to_json())["least"] == {"sum": proved.sum, "noise": proved.noise}
    least = copy.deepcopy(STUDY)
    del least["epsilon"]
    planned = cp.plan_study(least)
    assert planned.factor is None and planned.sum is None and planned.least is None
    for statistic in planned.statistics[:2]:
        assert statistic.error is not None and statistic.wanted is not None
        assert statistic.error <= statistic.wanted


SELF: dict[str, Any] = {}
SELF["data"] = SELF

WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: changed("epsilon", to=0), "epsilon is 0; legal: above 0"),
    (lambda: changed("epsilon", to=math.nan), "epsilon is nan; legal"),
    (lambda: changed("delta", to=1.0), "delta is 1.*; legal"),
    (lambda: changed("delta", to="small"), 'delta is "small"; legal'),
    (lambda: changed("data", to=3), "data is 3; legal: a table"),
    (lambda: changed("data", "adjacency", to="both"), 'adjacency is "both"; legal: add-remove, replace'),
    (lambda: changed("data", "sample_of", to=4999), "sample_of is 4999; legal: from people, which is 5000"),
    (lambda: changed("statistic", to=[]), "statistic has 0 entries; legal: 1 to 10"),
    (lambda: changed("statistic", to=[5]), "statistic 1: .*is 5; legal: a table"),
    (lambda: changed("statistic", 0, "error", to=math.inf), r'statistic 1 \("mean income"\): error is inf; legal'),
    (lambda: changed("statistic", 0, "error", to=-1), r'statistic 1 \("mean income"\): error is -1; legal'),
    (lambda: changed("statistic", 0, "bounds", to=[1, 0]), r"bounds is \[1, 0\]; legal"),
    (lambda: changed("statistic", 1, "kind", to="median"), r'statistic 2 \("by region"\): kind is "median"; legal'),
    (lambda: changed("statistic", 0, "eror", to=1), "eror is not a field of mean; legal"),
    (lambda: changed("surprise", to=1), "surprise is not a field of a study; legal"),
    (lambda: {}, "delta is missing"),
    (lambda: SELF, "data is nested too deeply; legal: at most 16"),
    (lambda: "delta = \n", "line 1"),
    (lambda: '{"delta": 1e-6', "column|line|end"),
]


@pytest.mark.parametrize(("study", "words"), WRONG)
def test_what_is_wrong_with_a_study(study: Callable[[], Any], words: str) -> None:
    with pytest.raises(cp.InvalidArgumentError, match=words) as error:
        cp.plan_study(study())
    assert "\n" not in str(error.value)


def test_other_errors() -> None:
    # A budget that is too small is nobody's argument.
    with pytest.raises(cp.errors.OutOfReachError, match="(?s)the budget of epsilon 0.5 is too small.*legal: a larger budget"):
        cp.plan_study(changed("statistic", 2, "epsilon", to=0.9))
    with pytest.raises(TypeError, match="study is of type int; legal: a dict"):
        cp.plan_study(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="people is of type object; legal"):
        cp.plan_study(changed("data", "people", to=object()))
    with pytest.raises(FileNotFoundError):
        cp.plan_study("no-such-study.toml")
    with pytest.raises(TypeError, match="progress"):
        cp.plan_study(STUDY, progress=3)  # type: ignore[arg-type]


def test_a_study_begins_with_a_header(tmp_path: Path) -> None:
    data = tmp_path / "survey.csv"
    data.write_text("respondent,age\n1,44\n")
    text = cp.study_new(data)
    assert '# name = "age"' in text and "44" not in text
    book = tmp_path / "book.json"
    book.write_text('{"fields": [{"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 99}}]}')
    with pytest.warns(UserWarning, match="does not describe these columns of the data file: \"respondent\""):
        assert "\nbounds = [18, 99]\n" in cp.study_new(str(data), codebook=book)
    with pytest.raises(cp.InvalidArgumentError, match="none.csv: cannot be read"):
        cp.study_new(tmp_path / "none.csv")

"""Proofs run forwards: fractions by hand, brute force over all responses, what is refuted and refused."""

from __future__ import annotations

from fractions import Fraction as F
from itertools import product
from pathlib import Path

import pytest

import counterpoint as cp

EXAMPLES = Path(__file__).parents[3] / "examples"


def response(ratio: F, delta: F) -> list[tuple[F, F]]:
    """Leaky randomized response, by its definition."""
    small = (1 - delta) / (1 + ratio)
    return [(delta, F(0)), (ratio * small, small), (small, ratio * small), (F(0), delta)]


def test_the_composed_map_carries_all_responses_onto_all_transcripts() -> None:
    found = cp.simulate(EXAMPLES / "coins.toml", samples=10)
    assert found["parts_agree"] is found["whole_agrees"] is True
    rows = [response(stage["ratio"], stage["delta"]) for stage in found["stages"]]
    for side, name in enumerate(["p", "q"]):
        image = [F(0)] * 4
        for row, masses in zip(found["map"], product(*rows), strict=True):
            assert sum(row) == 1 and min(row) >= 0
            chance = masses[0][side] * masses[1][side]
            image = [sum_ + chance * entry for sum_, entry in zip(image, row, strict=True)]
        assert image == [transcript[name] for transcript in found["transcripts"]]
    # 3/4 * 3/5, 3/4 * 2/5, 1/4 * 7/10, 1/4 * 3/10
    assert [t["p"] for t in found["transcripts"]] == [F(9, 20), F(3, 10), F(7, 40), F(3, 40)]
    assert sum(t["drawn_p"] for t in found["transcripts"]) == 10


def test_dicts_take_floats_fractions_and_texts() -> None:
    lists = ([0.1] * 7 + [0.3], [F(1, 10)] * 7 + [F(3, 10)], ["1/10"] * 7 + ["0.3"])
    found = [cp.simulate({"stage": [{"ratio": F(5, 2), "p": p, "q": p}]}, samples=0) for p in lists]
    assert found[0] == found[1] == found[2]
    assert found[0]["stages"][0]["ratio"] == F(5, 2)


def test_systems_are_answered_for() -> None:
    found = cp.simulate(EXAMPLES / "systems.toml", samples=100, seed=3)
    assert (found["size"], found["whole_agrees"]) == ("41", True)
    for system in found["systems"]:
        rows = response(system["ratio"], system["delta"])
        first = [answer for answer in system["answers"] if not answer["after"]]
        for answer in first:
            voices = [answer[name] for name in ("e0", "n0", "n1", "e1")]
            for side, name in enumerate(["p", "q"]):
                assert sum(row[side] * voice for row, voice in zip(rows, voices, strict=True)) == answer[name]
    assert found == cp.simulate(EXAMPLES / "systems.toml", samples=100, seed=3)


def test_claims_that_are_too_small_are_refuted() -> None:
    coin = {"p": [0.7, 0.3], "q": [0.3, 0.7]}
    assert cp.simulate({"stage": [{"ratio": 2, "delta": 0.1, **coin}]})["parts_agree"]
    with pytest.raises(cp.errors.RefutedError, match="refuted by the event {1}") as caught:
        cp.simulate({"stage": [{"ratio": 2, "delta": 0.099, **coin}]})
    assert caught.value.detail["event"] == [["1"]]
    assert (caught.value.detail["p"], caught.value.detail["q"]) == (F(7, 10), F(3, 10))
    with pytest.raises(cp.errors.RefutedError):
        cp.simulate({"system": [{"ratio": 2, "state": [{"query": [coin]}]}]})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "stage is missing"),
        ({"stage": [{"ratio": 2, "p": [1]}]}, "stage 1: q is missing"),
        ({"stage": [{"ratio": 2, "p": [0.5], "q": [1]}]}, "sum to 1/2"),
        ({"stage": [{"ratio": 2, "p": [1], "q": [1], "r": 1}]}, "r is not a field of a stage"),
        ({"stage": [{"ratio": -2, "p": [1], "q": [1]}]}, "ratio is -2"),
        ({"system": [{"ratio": 2}]}, "system 1: state is missing"),
    ],
)
def test_illegal_dicts_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(cp.InvalidArgumentError, match=message):
        cp.simulate(given)
    with pytest.raises(cp.InvalidArgumentError, match="samples is 1000001"):
        cp.simulate({"stage": [{"ratio": 2, "p": [1], "q": [1]}]}, samples=1_000_001)


def test_least_deltas_are_fractions_where_the_ratio_is(tmp_path: Path) -> None:
    path = tmp_path / "systems.toml"
    path.write_text("ratios = [5]\nepsilons = [0.5]\n" + (EXAMPLES / "systems.toml").read_text(encoding="utf-8"), encoding="utf-8")
    found = cp.simulate(path, samples=0)["profile"]
    assert found[0]["ratio"] == 5 and [delta["exact"] for delta in found[0]["together"]] == [F(11, 120), F(1, 12)]
    assert found[1]["epsilon"] == F(1, 2) and "exact" not in found[1]["together"][0]
    lower, upper = found[1]["together"][0]["lower"], found[1]["together"][0]["upper"]
    assert 0 < upper - lower < 1e-15
    least = cp.simulate({"stage": [{"ratio": 2, "delta": "least", "p": [0.7, 0.3], "q": [0.3, 0.7]}]}, samples=0)
    assert least["stages"][0]["delta"] == F(1, 10)


def test_one_pair_is_made_of_another() -> None:
    coin = {"p": [0.75, 0.25], "q": [0.25, 0.75]}
    three = {"p": ["1/2", "1/3", "1/6"], "q": ["1/6", "1/3", "1/2"]}
    found = cp.simulate({"source": coin, "target": three}, samples=10)
    assert found["map"] == [[F(2, 3), F(1, 3), 0], [0, F(1, 3), F(2, 3)]] and found["parts_agree"]
    with pytest.raises(cp.errors.RefutedError, match="no map makes") as refuted:
        cp.simulate({"source": three, "target": coin})
    assert (refuted.value.detail["ratio"], refuted.value.detail["delta"]) == (1, F(1, 3))


def test_laplace_noise_is_made_of_responses() -> None:
    found = cp.simulate({"laplace": {"epsilon": 1}}, samples=100)
    at_zero = next(row for row in found["laplace"]["rows"] if row["at"] == 0)
    assert found["parts_agree"] and at_zero["mixed"][0] == pytest.approx(0.5, abs=1e-15)


def test_sketches_are_idealised() -> None:
    claim = {"epsilon": 20, "delta": 0.5, "eta": 0.75, "nu": 0.5}
    found = cp.sketch({**claim, "graph": {"nodes": 80, "edges": [[0, 1], [0, 2, 0.5]], "cuts": [[0]]}})
    assert found["idealised"] is True and "nothing is charged" in found["note"] and len(found["answers"]) == 1
    assert "mechanism" not in found
    with pytest.raises(cp.InvalidArgumentError, match="legal: a number from 0.01 to 0.75"):
        cp.sketch({**claim, "eta": 5})

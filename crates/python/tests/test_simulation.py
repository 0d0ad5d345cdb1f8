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
    with pytest.raises(cp.Refuted, match="refuted by the event {1}") as caught:
        cp.simulate({"stage": [{"ratio": 2, "delta": 0.099, **coin}]})
    assert caught.value.detail["event"] == [["1"]]
    assert (caught.value.detail["p"], caught.value.detail["q"]) == (F(7, 10), F(3, 10))
    with pytest.raises(cp.Refuted):
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
    with pytest.raises(cp.InvalidArgument, match=message):
        cp.simulate(given)
    with pytest.raises(cp.InvalidArgument, match="samples is 1000001"):
        cp.simulate({"stage": [{"ratio": 2, "p": [1], "q": [1]}]}, samples=1_000_001)

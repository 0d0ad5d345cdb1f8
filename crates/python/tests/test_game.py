"""The game that can be played: the best player is as good as the theorem says, and people can play it."""

from __future__ import annotations

import importlib.util
import itertools
import math
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np

EXAMPLE = Path(__file__).parents[3] / "examples" / "game.py"


def game() -> ModuleType:
    spec = importlib.util.spec_from_file_location("game", EXAMPLE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def total_variation(declared: list[tuple[float, float]]) -> float:
    """Over all outcomes of all rounds: leaked or not, with or without."""

    def outcomes(epsilon: float, delta: float) -> list[tuple[float, float]]:
        told = (1 - delta) / (1 + math.exp(-epsilon))
        other = (1 - delta) - told
        return [(delta, 0.0), (0.0, delta), (told, other), (other, told)]

    total = 0.0
    for each in itertools.product(*(outcomes(*kind) for kind in declared)):
        with_person, without = math.prod(p for p, _ in each), math.prod(q for _, q in each)
        total += max(0.0, with_person - without)
    return total


def test_the_best_player_is_as_good_as_anybody_can_be(full: bool) -> None:
    played = game()
    games = 4_000_000 if full else 500_000
    truths = np.arange(games) % 2 == 1
    guesses = played.best(truths)
    chance = (1 + total_variation(played.DECLARED)) / 2
    right = float(np.mean(truths == guesses))
    # Seven standard deviations: by chance once in 10^11 runs; an error of one percent is nine.
    assert abs(right - chance) < 7 * math.sqrt(chance * (1 - chance) / games)
    assert f"nobody is in more than {chance:.2%}" in played.told(truths, guesses)


def test_people_can_play() -> None:
    # Always the first that is left, one answer that is not legal, and each guess once.
    typed = "first\n" + "0\n" * 5 + "1\n" + "0\n" * 5 + "0\n"
    command = [sys.executable, str(EXAMPLE), "--games", "2"]
    done = subprocess.run(command, input=typed, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "legal: 0, 1" in done.stdout and done.stdout.count("the evidence: odds of") == 2
    assert "of 2 games; in the long run nobody is in more than" in done.stdout

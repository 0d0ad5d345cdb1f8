"""The composition game of Kairouz, Oh and Viswanath (section II-C), to be played.

A bit is tossed: were the data with the person, or without? In each round you choose which of the declared mechanisms to ask, from what you
have seen so far. Each is the worst of its kind: it leaks the bit with probability delta, and else tells it with odds of
exp(epsilon) to one. At the end you guess. No player, however clever, is right more often in the long run than the certified
composition says; one that weighs the evidence comes up to it.

    python examples/game.py                             you play, ten games
    python examples/game.py --player best --games 1000000
"""

from __future__ import annotations

import argparse
import math
import secrets
from collections.abc import Callable

import counterpoint as cp
import numpy as np
from counterpoint import noise

# What is declared before the first round: three mechanisms of one kind, two of another.
DECLARED = [(0.4, 0.0)] * 3 + [(0.8, 0.05)] * 2


def evidence(epsilon: float, leaked: bool, bit: bool) -> float:
    """How much an answer speaks for the person being there: its privacy loss."""
    return (math.inf if leaked else epsilon) * (1 if bit else -1)


def ask_player(prompt: str, legal: list[str]) -> str:
    while True:
        typed = input(f"{prompt} ({'/'.join(legal)}): ").strip()
        if typed in legal:
            return typed
        print(f"legal: {', '.join(legal)}")


def play(truth: bool) -> bool:
    """One game on the terminal: the player's guess."""
    left, total = list(DECLARED), 0.0
    while left:
        kinds = sorted(set(left))
        shown = ", ".join(f"{n}: {kind} ({left.count(kind)} left)" for n, kind in enumerate(kinds))
        print(f"  {shown}")
        kind = kinds[int(ask_player("  ask which", [str(n) for n in range(len(kinds))]))]
        left.remove(kind)
        leaked, bit = noise.leaky_response(*kind).release(truth).value
        total += evidence(kind[0], leaked, bit)
        said = "with the person" if bit else "without"
        print(f"  answer: {said}{', and that is leaked: it is true' if leaked else ''}")
    print(f"  the evidence: odds of {math.exp(min(total, 700.0)):.3g} to one that the person is there")
    return ask_player("  your guess: with (1) or without (0)", ["0", "1"]) == "1"


def best(truths: np.ndarray) -> np.ndarray:
    """The guesses of the best player: with the evidence, and by a coin where there is none."""
    total = np.zeros(len(truths))
    for epsilon, delta in DECLARED:
        leaked, bit = noise.leaky_response(epsilon, delta).release(truths).value.T
        with np.errstate(invalid="ignore"):
            total += np.where(leaked, np.inf, epsilon) * np.where(bit, 1, -1)
    coins = np.frombuffer(secrets.token_bytes(len(truths)), dtype=np.uint8) & 1
    return np.where(total == 0, coins == 1, total > 0)


def told(truths: np.ndarray, guesses: np.ndarray) -> str:
    """How a player did, beside what nobody can do better."""
    plan = cp.compose([cp.ApproxDP(epsilon, delta) for epsilon, delta in DECLARED])
    region = plan.region()
    right = float(np.mean(truths == guesses))
    alarms = float(np.mean(guesses[~truths])) if (~truths).any() else 0.0
    misses = float(np.mean(~guesses[truths])) if truths.any() else 0.0
    return (
        f"right in {right:.2%} of {len(truths)} games; in the long run nobody is in more than "
        f"{(1 + region.total_variation.upper) / 2:.2%}\n"
        f"false alarms {alarms:.2%}, misses {misses:.2%}; nobody who has so many false alarms misses less than "
        f"{float(region.least_miss(alarms)):.2%} in the long run"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="The composition game of Kairouz, Oh and Viswanath")
    parser.add_argument("--player", choices=["you", "best"], default="you")
    parser.add_argument("--games", type=int, default=10)
    asked = parser.parse_args()
    tossed = np.frombuffer(secrets.token_bytes(max(asked.games, 1)), dtype=np.uint8) & 1
    truths = tossed == 1
    by_hand: Callable[[np.ndarray], np.ndarray] = lambda all_: np.array([by_turns(n, bool(t)) for n, t in enumerate(all_)])
    print(told(truths, (best if asked.player == "best" else by_hand)(truths)))


def by_turns(number: int, truth: bool) -> bool:
    print(f"game {number + 1}")
    guess = play(truth)
    print(f"  {'right' if guess == truth else 'wrong'}: it was {'with' if truth else 'without'}\n")
    return guess


if __name__ == "__main__":
    main()

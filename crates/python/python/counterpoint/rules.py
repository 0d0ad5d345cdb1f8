"""Theorems about single guarantees, about equal ones together, and about noise."""

from __future__ import annotations

from typing import Any

from . import _native
from ._native import Bracket

__all__ = ["convert", "noise_rules", "pairs"]


def convert(
    epsilon: float,
    delta: float = 0.0,
    *,
    to_epsilon: float | None = None,
    to_delta: float | None = None,
) -> dict[str, Any]:
    """What a guarantee is worth in other words (Kairouz, Oh and Viswanath 2017, Remark A.1).

    ``total_variation`` is the largest distance it allows; ``to`` has the least delta at another epsilon, the least epsilon
    at another delta (None if there is none), or whether both are implied. Brackets are dicts with ``lower`` and ``upper``.

    >>> import math
    >>> round(convert(math.log(3), to_epsilon=0.0)["to"]["delta"]["upper"], 9)
    0.5
    >>> convert(math.log(3), to_epsilon=0.1, to_delta=0.4)["to"]["implied"]
    False
    """
    import json

    found: dict[str, Any] = json.loads(_native.convert(epsilon, delta, to_epsilon, to_delta))
    return found


def noise_rules(epsilon: float, delta: float, *, count: int = 1, sensitivity: float = 1.0) -> dict[str, dict[str, Any]]:
    """How much noise published rules ask for, so that ``count`` queries together are (epsilon, delta)-private.

    By the name of the rule: ``per-query``, ``laplace`` and ``gaussian`` (Kairouz, Oh and Viswanath 2017, Corollaries V.1 and
    V.2, Theorem V.3), and for one query ``laplace-once``, ``gaussian-once``, ``staircase`` and ``staircase-or-uniform``. Each
    says whether it ``holds``: published rules fail for a large epsilon, which the exact profile tells.

    >>> noise_rules(1.0, 1e-5, count=50)["gaussian"]["holds"]
    True
    >>> noise_rules(100.0, 0.1, count=50)["gaussian"]["holds"]
    False
    """
    import json

    found = json.loads(_native.noise_rules(epsilon, delta, count, sensitivity))
    return {rule.pop("rule"): rule for rule in found["rules"]}


def pairs(epsilon: float, delta: float = 0.0, *, count: int) -> list[tuple[float, Bracket]]:
    """The (epsilon, delta) pairs that describe ``count`` equal guarantees together, from the largest epsilon down
    (Kairouz, Oh and Viswanath 2017, Theorem III.3).

    >>> import math
    >>> [round(float(delta), 6) for _, delta in pairs(math.log(2), 0.25, count=2)]
    [0.4375, 0.625]
    """
    found = _native.pairs(epsilon, delta, count)
    return [(epsilon, Bracket(lower, upper)) for epsilon, lower, upper in found]

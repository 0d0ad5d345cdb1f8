"""Theorems about single guarantees, about equal guarantees together, and about noise."""

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
    """Converts a guarantee to other terms (Kairouz, Oh and Viswanath 2017, Remark A.1).

    Parameters
    ----------
    epsilon, delta
        The guarantee.
    to_epsilon
        Another epsilon, for which the least delta is computed.
    to_delta
        Another delta, for which the least epsilon is computed. With both, the result says if both are implied.

    Returns
    -------
    dict
        ``total_variation``, the largest distance that the guarantee allows; ``to`` with the least ``delta`` or
        ``epsilon`` (None if there is none), or ``implied``. Brackets are dicts with ``lower`` and ``upper``. The fields
        are those of ``counterpoint convert --json``.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.

    Examples
    --------
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
    """Computes the noise that published rules ask for, so that several queries together are (epsilon, delta)-private.

    Published rules fail for a large epsilon; the exact profile shows where.

    Parameters
    ----------
    epsilon, delta
        The target for all queries together.
    count
        The number of queries.
    sensitivity
        The most that one person moves each query.

    Returns
    -------
    dict
        By name of the rule: ``per-query``, ``laplace`` and ``gaussian`` (Kairouz, Oh and Viswanath 2017, Corollaries
        V.1 and V.2, Theorem V.3), and for one query ``laplace-once``, ``gaussian-once``, ``staircase`` and
        ``staircase-or-uniform``. Each says if it ``holds``.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.

    Examples
    --------
    >>> noise_rules(1.0, 1e-5, count=50)["gaussian"]["holds"]
    True
    >>> noise_rules(100.0, 0.1, count=50)["gaussian"]["holds"]
    False
    """
    import json

    found = json.loads(_native.noise_rules(epsilon, delta, count, sensitivity))
    return {rule.pop("rule"): rule for rule in found["rules"]}


def pairs(epsilon: float, delta: float = 0.0, *, count: int) -> list[tuple[float, Bracket]]:
    """The (epsilon, delta) pairs that describe equal guarantees together (Kairouz, Oh and Viswanath 2017, Theorem III.3).

    Parameters
    ----------
    epsilon, delta
        The guarantee of each release.
    count
        The number of releases.

    Returns
    -------
    list of (float, Bracket)
        Each epsilon with its delta, from the largest epsilon down.

    Raises
    ------
    counterpoint.InvalidArgumentError
        An argument is outside its range.

    Examples
    --------
    >>> import math
    >>> [round(float(delta), 6) for _, delta in pairs(math.log(2), 0.25, count=2)]
    [0.4375, 0.625]
    """
    found = _native.pairs(epsilon, delta, count)
    return [(epsilon, Bracket(lower, upper)) for epsilon, lower, upper in found]

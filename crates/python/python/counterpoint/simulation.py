"""Proofs run forwards: mechanisms and interactive systems made of randomized responses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import Refuted

__all__ = ["simulate"]

_FRACTIONS = frozenset(["ratio", "delta", "p", "q", "e", "f", "e0", "n0", "n1", "e1", "alpha", "beta", "map", "weight", "moment"])


def simulate(
    simulation: Mapping[str, Any] | str | os.PathLike[str],
    *,
    samples: int = 1000,
    seed: int = 1,
    order: float | None = None,
) -> dict[str, Any]:
    """Make finite mechanisms, or interactive systems, of leaky randomized responses, exactly, and draw transcripts from those alone.

    ``simulation`` is a file, or a dict with its fields: ``stage``, a list of stages of an adaptive composition (Murtagh and Vadhan
    2018, Theorem 3.5), or ``system``, a list of interactive systems that are run concurrently (Lyu 2022, Theorem 3). Numbers
    may be fractions, texts such as ``"1/3"``, and floats, which count as the decimals they are printed as.

    The result has the maps and the events of Murtagh and Vadhan's Lemma 3.3 (``stages``), or who answers what (``systems``);
    whether every part is made up exactly (``parts_agree``), and all of it together (``whole_agrees``; None if it is too large);
    and ``transcripts`` with their laws on both data sets (``p``, ``q``) and how often they were drawn. Probabilities are
    fractions. Samples are the same for the same seed, and protect nothing.

    With an ``order`` there are ``divergences`` of systems: the largest Rényi divergence over all adversaries of each, who reaches it, the sum
    (Lyu 2022, Theorem 2) beside what a search of all interleavings finds, and the proof's budget monitor along a transcript.

    Raises :class:`Refuted` with the event that shows it if a mechanism has not the guarantee that is claimed.

    >>> coin = {"ratio": 3, "p": [0.6, 0.4], "q": [0.4, 0.6]}
    >>> found = simulate({"stage": [coin, coin]}, samples=0)
    >>> found["whole_agrees"], found["stages"][0]["mechanisms"][0]["map"][1]
    (True, [Fraction(7, 10), Fraction(3, 10)])
    """
    import json

    if isinstance(simulation, Mapping):
        object_, refuted = _native.simulate(_printed(simulation, 0), None, samples, seed, order)
    else:
        path = os.fspath(simulation)
        with open(path, "rb") as file:
            object_, refuted = _native.simulate(file.read(), path, samples, seed, order)
    found: dict[str, Any] = _exact(json.loads(object_), False)
    if refuted is not None:
        error = Refuted(refuted)
        error.detail = found["refuted"]
        raise error
    return found


def _printed(given: Any, level: int) -> Any:
    """Floats as they are printed; lists and dicts in them, no deeper than they may be."""
    if level > 16:
        return given
    if isinstance(given, float):
        return repr(float(given))
    if isinstance(given, Mapping):
        return {name: _printed(value, level + 1) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [_printed(value, level + 1) for value in given]
    return given


def _exact(found: Any, exact: bool) -> Any:
    """Texts of fractions as fractions."""
    if isinstance(found, dict):
        return {name: _exact(value, name in _FRACTIONS) for name, value in found.items()}
    if isinstance(found, list):
        return [_exact(value, exact) for value in found]
    if not exact or not isinstance(found, str):
        return found
    from fractions import Fraction

    return Fraction(found)

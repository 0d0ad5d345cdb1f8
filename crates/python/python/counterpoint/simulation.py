"""Proofs run forwards: mechanisms and interactive systems made of randomized responses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import Refuted

__all__ = ["simulate", "sketch"]

_FRACTIONS = frozenset(["ratio", "epsilon", "exact", "delta", "p", "q", "e", "f", "e0", "n0", "n1", "e1", "alpha", "beta", "map", "weight", "moment"])


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

    A claim of ``"delta": "least"`` is of the least delta at its ratio. Beside the stages or systems, ``ratios`` and ``epsilons`` list where
    the least deltas are wanted (``profile``): of each part and of all together, in both directions, as fractions where they are known
    and as certified brackets. With ``source`` and ``target``, two pairs with ``p`` and ``q``, the result has Blackwell's ``map`` from the
    one to the other (Kairouz, Oh and Viswanath 2017, Theorem II.5); with ``laplace`` and its ``epsilon``, Laplace noise made of randomized
    response (Smith, Exercise 3.2).

    Raises :class:`Refuted` with the event that shows it if a mechanism has not the guarantee that is claimed, or there is no map.

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


def sketch(sketch: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Answer questions about a graph's cuts or a matrix's variances by the Johnson-Lindenstrauss mechanism: **idealised**.

    What comes of it would be private if doubles were real numbers. It is no release, and no ledger takes it. ``sketch`` is a file, or a
    dict with its fields: the claim, ``epsilon`` and ``delta``; ``eta`` and ``nu``, so that with probability at least 1 - nu an answer
    is off by at most eta times the truth and its ``tau``; and ``graph`` or ``matrix``, or neither for the numbers alone.

    >>> found = sketch({"epsilon": 1, "delta": 1e-6, "eta": 0.5, "nu": 0.05,
    ...                 "matrix": {"rows": [[3, 4], [0, 1]], "directions": [[1, 0]]}})
    >>> found["idealised"], found["directions"], sorted(found["answers"][0])
    (True, 119, ['tau', 'value'])
    """
    import json

    if isinstance(sketch, Mapping):
        object_ = _native.sketch(dict(sketch), None)
    else:
        path = os.fspath(sketch)
        with open(path, "rb") as file:
            object_ = _native.sketch(file.read(), path)
    found: dict[str, Any] = json.loads(object_)
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

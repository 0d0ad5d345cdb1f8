"""Simulations of the proofs: mechanisms and interactive systems made of randomized responses."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _native
from .errors import RefutedError

__all__ = ["simulate", "sketch"]

_FRACTIONS = frozenset(["ratio", "epsilon", "exact", "delta", "p", "q", "e", "f", "e0", "n0", "n1", "e1", "alpha", "beta", "map", "weight", "moment"])


def simulate(
    simulation: Mapping[str, Any] | str | os.PathLike[str],
    *,
    samples: int = 1000,
    seed: int = 1,
    order: float | None = None,
) -> dict[str, Any]:
    """Makes finite mechanisms or interactive systems of leaky randomized responses, exactly, and draws transcripts.

    Samples are the same for the same seed, and protect nothing.

    Parameters
    ----------
    simulation
        A simulation file's path, or a dict with its fields. Either ``stage``, a list of stages of an adaptive
        composition (Murtagh and Vadhan 2018, Theorem 3.5); or ``system``, a list of interactive systems that run
        concurrently (Lyu 2022, Theorem 3); or ``source`` and ``target``, two pairs with ``p`` and ``q`` (Kairouz, Oh
        and Viswanath 2017, Theorem II.5); or ``laplace`` with its ``epsilon`` (Smith, Exercise 3.2). Numbers may be
        fractions, texts such as ``"1/3"``, and floats, which count as the decimals they print as. A ``"delta":
        "least"`` claims the least delta at its ratio; ``ratios`` and ``epsilons`` list points at which least deltas are
        computed.
    samples
        The number of transcripts to draw.
    seed
        The seed of the samples.
    order
        A Rényi order: adds ``divergences`` of systems, the largest over all adversaries of each and who reaches it,
        their sum (Lyu 2022, Theorem 2) beside a search of all interleavings, and the proof's budget monitor along a
        transcript.

    Returns
    -------
    dict
        The maps and events of Murtagh and Vadhan's Lemma 3.3 (``stages``), or the answers of ``systems``;
        ``parts_agree``, true if every part is reproduced exactly; ``whole_agrees``, the same for all together (None if
        that is too large); and ``transcripts`` with their probabilities on both data sets (``p``, ``q``) and the number
        of times each was drawn. ``profile`` has least deltas, as fractions where they are known and as certified
        brackets elsewhere; ``map`` is Blackwell's map from source to target. Probabilities are fractions.

    Raises
    ------
    counterpoint.errors.RefutedError
        A mechanism does not have the guarantee that is claimed of it, or there is no map. ``detail`` has the event that
        proves it.

    Examples
    --------
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
        error = RefutedError(refuted)
        error.detail = found["refuted"]
        raise error
    return found


def sketch(sketch: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Answers questions about a graph's cuts or a matrix's variances by the Johnson-Lindenstrauss mechanism: **idealised**.

    The result would be private if doubles were real numbers. It is no release, and no ledger accepts it.

    Parameters
    ----------
    sketch
        A sketch file's path, or a dict with its fields: the claim, ``epsilon`` and ``delta``; ``eta`` and ``nu``, so
        that with probability at least 1 - nu an answer is off by at most eta times the true value plus its ``tau``; and
        ``graph`` or ``matrix``, or neither for the parameters alone.

    Returns
    -------
    dict
        The parameters and, with data, the ``answers``.

    Raises
    ------
    counterpoint.InvalidArgumentError
        A field is missing or outside its range.

    Examples
    --------
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
    """Replaces floats by the decimals that they print as, in lists and dicts down to the greatest legal depth."""
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
    """Replaces texts of fractions by fractions."""
    if isinstance(found, dict):
        return {name: _exact(value, name in _FRACTIONS) for name, value in found.items()}
    if isinstance(found, list):
        return [_exact(value, exact) for value in found]
    if not exact or not isinstance(found, str):
        return found
    from fractions import Fraction

    return Fraction(found)

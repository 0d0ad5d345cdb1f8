"""Mechanisms known by cells: normal noise, of which everything is known, lies between its cells."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

import counterpoint as cp


def tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2))


@pytest.mark.parametrize("turned", [False, True])
def test_normal_noise_between_its_cells(turned: bool) -> None:
    edges = [x / 32 for x in range(-250, 290)]
    sign = -1 if turned else 1
    noise = cp.Cells.between(
        sorted(sign * x for x in edges),
        lambda x: tail(sign - x), lambda x: tail(-x), lambda x: sign * x - 0.5,
        above=(lambda x: tail(x - sign), tail),
    )
    for plan, exact in [(noise * 1, cp.Gaussian(1.0)), (noise.replace(rate=0.1) * 20, cp.Gaussian(1.0, rate=0.1) * 20)]:
        found = cp.compose([plan], adjacency="add-remove").epsilon(1e-6)
        truth = cp.compose([exact], adjacency="add-remove").epsilon(1e-6)
        assert found.lower <= truth.upper and truth.lower <= found.upper
        assert found.relative_width < 1e-3


def test_what_rounding_spoils_is_one_cell() -> None:
    edges = [x / 8 for x in range(-72, 81)]
    noise = cp.Cells.between(edges, NormalDist(1).cdf, NormalDist(0).cdf, lambda x: x - 0.5)
    assert 50 < len(noise.p) < len(edges)
    truth = cp.compose([cp.Gaussian(1.0)]).epsilon(1e-5)
    found = cp.compose([noise], adjacency="add-remove").epsilon(1e-5)
    assert found.lower <= truth.upper and truth.lower <= found.upper


def test_a_plan_of_cells_is_read_back() -> None:
    cells = cp.Cells([0.6, 0.4], [0.4, 0.6], [0.2, -math.inf], [math.inf, -0.2])
    plan = cp.compose([cells], adjacency="add-remove")
    for form in ("toml", "json"):
        assert cp.Plan.from_text(plan.text(form)) == plan
    with pytest.raises(cp.InvalidArgumentError, match="legal: at most ln p/q"):
        cp.Cells([0.6, 0.4], [0.4, 0.6], [0.5, -1.0], [0.6, -0.2])

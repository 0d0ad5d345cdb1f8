"""What the README shows in Python runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dp_accounting
import pytest
from dp_accounting.pld import pld_privacy_accountant

README = Path(__file__).parents[3] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_there_is_something_to_run() -> None:
    assert BLOCKS


@pytest.mark.parametrize("block", BLOCKS)
def test_the_readme_runs(block: str) -> None:
    names: dict[str, Any] = {}
    exec(compile(block, str(README), "exec"), names)
    # 60,000 examples in batches of 600, a hundred times over, by another library.
    step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
    accountant = pld_privacy_accountant.PLDAccountant().compose(step, 10_000)
    assert float(names["epsilon"]) == pytest.approx(accountant.get_epsilon(1e-5), rel=1e-4)

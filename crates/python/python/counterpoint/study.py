"""Studies: from wanted errors to mechanisms and a certified plan."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from .plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._native import Answer, Bracket, Mechanism

__all__ = ["Least", "Other", "Planned", "PlannedStatistic", "plan_study", "study_new"]


class PlannedStatistic(NamedTuple):
    """One statistic, planned."""

    name: str
    """What people call it."""
    mechanism: Mechanism | tuple[Mechanism, ...]
    """What it is charged as; several where one answer takes several."""
    noise: str | None
    """The kind of noise, or None where a share is held back."""
    error: float | None
    """The half-width of its answer, of all its numbers at once; None where that depends on the data."""
    wanted: float | None
    """The error that was wanted, if one was."""
    confidence: float | None
    """How often the error is kept."""
    pinned: bool
    """Whether its error or its epsilon is pinned."""
    epsilon: float
    """What it would cost alone, at the study's delta."""
    sampling_error: float | None = None
    """How far the sample may be off from its population, with the same confidence, where that is known."""
    warning: str | None = None
    """Why it will be of little use, if it will."""


class Other(NamedTuple):
    """What another theorem makes of the same wishes, with Laplace noise."""

    theorem: str
    """Its name."""
    epsilon: float | None
    """What it says the wanted errors cost, or those of the plan."""
    factor: float | None
    """By how much it would have had to multiply the wanted errors."""


class Least(NamedTuple):
    """What is proved of the smallest weighted sum of errors within the budget."""

    sum: float | None
    """No levels of noise that keep the budget have a smaller sum; None if nothing is proved."""
    noise: str | None
    """``"any"`` if that is so with all kinds of noise, ``"these"`` if with those of the plan."""
    reason: str | None
    """Why nothing is proved, if it is not."""


class Planned:
    """A study, planned: what runs, how far answers are off, and what all of it costs."""

    def __init__(self, native: _native.Planned, /) -> None:
        self._native = native

    @property
    def epsilon(self) -> Answer:
        """What all of it costs, at the study's delta; secrecy of the sample is included."""
        return self._native.epsilon

    @property
    def delta(self) -> float:
        """The study's delta."""
        return self._native.delta

    @property
    def delta_within(self) -> float:
        """The delta at which the plan itself is composed: larger where the data are a secret sample."""
        return self._native.delta_within

    @property
    def factor(self) -> Bracket | None:
        """By how much every wanted error had to be multiplied, or could be.

        With the upper end the budget is kept; with the lower end these kinds of noise are proved to break it.
        """
        return self._native.factor

    @property
    def sum(self) -> float | None:
        """The weighted sum of errors that was made small, where statistics have weights."""
        return self._native.sum

    @property
    def sum_in_units(self) -> float | None:
        """The same sum with errors in the units of each statistic; ``sum`` has them relative to each statistic's scale."""
        return self._native.sum_in_units

    @property
    def free_choice(self) -> float | None:
        """The factor, the sum or, without either, epsilon if the planner chose all noise, where the study prescribes some."""
        return self._native.free_choice

    @property
    def least(self) -> Least | None:
        """How small that sum can be at all, if ``plan_study`` was called with ``prove=True``."""
        least = self._native.least
        return None if least is None else Least(*least)

    @cached_property
    def statistics(self) -> list[PlannedStatistic]:
        """The statistics, in order."""
        return [
            PlannedStatistic(one[0], one[1][0] if len(one[1]) == 1 else one[1], *one[2:])
            for one in self._native.statistics()
        ]

    @cached_property
    def others(self) -> list[Other]:
        """What other theorems make of the same wishes."""
        return [Other(*other) for other in self._native.others()]

    @cached_property
    def plan(self) -> Plan:
        """All releases, as a plan: at ``delta_within`` it costs what the study does, before secrecy of the sample."""
        return Plan(self._native.plan())

    def to_json(self) -> str:
        """The object that ``counterpoint plan --json`` writes."""
        return self._native.to_json()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Planned):
            return NotImplemented
        return self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        parts = [f"epsilon={self.epsilon}", f"delta={self.delta!r}"]
        if self.factor is not None:
            parts.append(f"factor={self.factor}")
        if self.sum is not None:
            parts.append(f"sum={self.sum:.6g}")
        shown = [s.name for s in self.statistics[:8]]
        if len(self.statistics) > 8:
            shown.append(f"... {len(self.statistics) - 8} more")
        return f"Planned({', '.join(parts)}, statistics=[{', '.join(shown)}])"

    _HEAD = ("statistic", "noise", "error", "wanted", "confidence", "epsilon alone")

    def _rows(self, most: int) -> list[tuple[str, ...]]:
        def number(value: float | None) -> str:
            return "-" if value is None else f"{value:.6g}"

        rows: list[tuple[str, ...]] = [
            (s.name, (s.noise or "held back") + (" (pinned)" if s.pinned else ""), number(s.error),
             number(s.wanted), number(s.confidence), number(s.epsilon))
            for s in self.statistics[:most]
        ]
        if len(self.statistics) > most:
            rows.append((f"{len(self.statistics) - most} more", "", "", "", "", ""))
        return rows

    def _title(self) -> str:
        title = f"epsilon {self.epsilon} at delta {self.delta:g}"
        return title if self.factor is None else f"{title}; errors {self.factor} times what was wanted"

    def __str__(self) -> str:
        rows = [self._HEAD, *self._rows(100)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self._HEAD))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, self._title()])

    def _repr_html_(self) -> str:
        from ._html import table

        return table(self._HEAD, self._rows(20), self._title())


def plan_study(
    study: Mapping[str, Any] | str | bytes | os.PathLike[str],
    *,
    prove: bool = False,
    progress: Callable[[float], bool | None] | None = None,
) -> Planned:
    """The plan that keeps to wanted errors, or to a budget as well as it can be done.

    A study is a dict, the text of a study file (TOML or JSON), or the path of one: what is public about the data,
    what may be spent, and which statistics are wanted, each with an error, a pinned share or a weight. Without an epsilon
    the least one is found that meets all errors; with one, the least factor by which all have to be multiplied.

    Where statistics have weights, the weighted sum of their errors is made small, each error relative to its statistic's scale: the
    width of a mean's bounds, the number of rows for a count. With ``goal = "squared"`` it is the sum of their squares.
    ``prove=True`` proves how small that sum can be at all, which may take minutes.

    A string is text if it has several lines or is a JSON object, else a path.

    >>> import counterpoint as cp
    >>> planned = cp.plan_study({
    ...     "epsilon": 0.5, "delta": 1e-6,
    ...     "data": {"adjacency": "replace", "people": 5000},
    ...     "statistic": [
    ...         {"name": "mean income", "kind": "mean", "bounds": [0, 200_000], "error": 500},
    ...         {"name": "employed", "kind": "proportion", "bounds": [1, 1.5], "error": 0.005},
    ...     ],
    ... })
    >>> float(planned.epsilon) <= 0.5, planned.factor.upper < 1
    (True, True)
    >>> [statistic.error <= statistic.wanted for statistic in planned.statistics]
    [True, True]
    """
    return Planned(_native.plan_study(*read_study(study), prove=prove, progress=progress))


def read_study(study: Mapping[str, Any] | str | bytes | os.PathLike[str]) -> tuple[dict[str, Any] | bytes, str | None]:
    """A study as a dict or as the text of a study file, and the file's path."""
    if isinstance(study, Mapping):
        return dict(study), None
    if isinstance(study, bytes):
        return study, None
    if isinstance(study, str) and ("\n" in study or study.lstrip().startswith("{")):
        return study.encode(), None
    if not isinstance(study, (str, os.PathLike)):
        kind = type(study).__name__
        raise TypeError(f"study is of type {kind}; legal: a dict, the text of a study file, or its path")
    with open(study, "rb") as file:
        return file.read(), os.fspath(study)


def study_new(path: str | os.PathLike[str], codebook: str | os.PathLike[str] | None = None) -> str:
    """The text of a study file of a data file (.csv, .jsonl, .parquet), to be completed.

    Only the header of the file is read: no data value is. The text lists every column with what has to be declared of
    it. A codebook (a Frictionless table schema, CSVW metadata or a DDI codebook) gives bounds, categories and missing
    codes; a warning names columns that only one of the two files has.

    >>> import counterpoint as cp, pathlib, tempfile
    >>> data = pathlib.Path(tempfile.mkdtemp()) / "survey.csv"
    >>> _ = data.write_text("respondent,age\\n1,44\\n")
    >>> '# name = "age"' in cp.study_new(data)
    True
    """
    described = None if codebook is None else os.fspath(codebook)
    text, remarks = _native.study_new(os.fspath(path), described)
    for remark in remarks:
        warnings.warn(remark, stacklevel=2)
    return text

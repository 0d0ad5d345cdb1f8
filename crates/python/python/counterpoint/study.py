"""Studies: from requested errors to mechanisms and a certified plan."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._deprecated import renamed
from .plan import Plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._native import Answer, Bracket, Mechanism

__all__ = ["Least", "Other", "PlannedStatistic", "PlannedStudy", "plan_study", "study_new"]


class PlannedStatistic(NamedTuple):
    """One statistic of a planned study. Made by :attr:`PlannedStudy.statistics`."""

    name: str
    """The statistic's name."""
    mechanism: Mechanism | tuple[Mechanism, ...]
    """The mechanism that is charged; several if one answer needs several."""
    noise: str | None
    """The kind of noise, or None if a share is held back."""
    error: float | None
    """The half-width of the answer, of all its numbers at once; None if it depends on the data."""
    wanted: float | None
    """The requested error, if there is one."""
    confidence: float | None
    """The probability with which the error is kept."""
    pinned: bool
    """True if the error or the epsilon is pinned."""
    epsilon: float
    """The epsilon of this statistic alone, at the study's delta."""
    sampling_error: float | None = None
    """The sampling error against the population, with the same confidence, if it is known."""
    warning: str | None = None
    """The reason why the answer will be of little use, if it will."""


class Other(NamedTuple):
    """The charge of another theorem for the same study, with Laplace noise. Made by :attr:`PlannedStudy.others`."""

    theorem: str
    """The theorem's name."""
    epsilon: float | None
    """The epsilon that it charges for the requested errors, or for those of the plan."""
    factor: float | None
    """The factor by which it would have to multiply the requested errors."""


class Least(NamedTuple):
    """The proved lower bound on the weighted sum of errors within the budget. Made by :attr:`PlannedStudy.least`."""

    sum: float | None
    """The lower bound on the sum for all levels of noise that keep the budget; None if nothing is proved."""
    noise: str | None
    """``"any"`` if the bound holds for all kinds of noise, ``"these"`` if for those of the plan."""
    reason: str | None
    """The reason why nothing is proved, if so."""


class PlannedStudy:
    """A planned study: the mechanisms, the errors of the answers, and the certified cost. Made by :func:`plan_study`.
    """

    def __init__(self, native: _native.PlannedStudy, /) -> None:
        self._native = native

    @property
    def epsilon(self) -> Answer:
        """The epsilon of all releases together at the study's delta; secrecy of the sample is included."""
        return self._native.epsilon

    @property
    def delta(self) -> float:
        """The study's delta."""
        return self._native.delta

    @property
    def delta_within(self) -> float:
        """The delta at which the plan itself is composed: larger than the study's where the data are a secret sample.
        """
        return self._native.delta_within

    @property
    def factor(self) -> Bracket | None:
        """The factor by which all requested errors are multiplied; None without a budget.

        With the upper end the budget is kept; with the lower end these kinds of noise provably break it.
        """
        return self._native.factor

    @property
    def sum(self) -> float | None:
        """The weighted sum of errors that was minimised, relative to each statistic's scale; None without weights."""
        return self._native.sum

    @property
    def sum_in_units(self) -> float | None:
        """The same sum with errors in the units of each statistic."""
        return self._native.sum_in_units

    @property
    def free_choice(self) -> float | None:
        """The factor, the sum or (without either) epsilon if the planner chose all noise; None unless the study prescribes some.
        """
        return self._native.free_choice

    @property
    def least(self) -> Least | None:
        """The proved lower bound on the sum, if ``plan_study`` was called with ``prove=True``."""
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
        """The charges of other theorems for the same study."""
        return [Other(*other) for other in self._native.others()]

    @cached_property
    def plan(self) -> Plan:
        """All releases, as a plan: at ``delta_within`` it costs what the study does, before secrecy of the sample."""
        return Plan(self._native.plan())

    def to_json(self) -> str:
        """Writes the object that ``counterpoint plan --json`` prints.

        Returns
        -------
        str
            The JSON text.
        """
        return self._native.to_json()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlannedStudy):
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
        return f"PlannedStudy({', '.join(parts)}, statistics=[{', '.join(shown)}])"

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
        return title if self.factor is None else f"{title}; errors {self.factor} times those requested"

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
) -> PlannedStudy:
    """Plans a study: finds the noise that keeps the requested errors, or that is best within a budget.

    A study says what is public about the data, what may be spent, and which statistics are requested, each with an
    error, a pinned share or a weight. Without an epsilon the least one that meets all errors is found; with one, the
    least factor by which all errors have to be multiplied. Where statistics have weights, the weighted sum of their
    errors is minimised, each relative to its statistic's scale: the width of a mean's bounds, the number of rows for a
    count. With ``goal = "squared"`` it is the sum of their squares.

    Parameters
    ----------
    study
        A dict, the text of a study file (TOML or JSON), or the path of one. A string is text if it has several lines or
        is a JSON object, else a path.
    prove
        Also proves how small the weighted sum can be, which may take minutes.
    progress
        A function that receives the fraction done. If it returns False, the planning stops.

    Returns
    -------
    PlannedStudy
        The plan, its certified cost and the error of each statistic.

    Raises
    ------
    counterpoint.errors.OutOfReachError
        No plan keeps the budget.
    counterpoint.InvalidArgumentError
        The study is not legal. The text names the statistic and the field.

    Examples
    --------
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
    return PlannedStudy(_native.plan_study(*read_study(study), prove=prove, progress=progress))


def read_study(study: Mapping[str, Any] | str | bytes | os.PathLike[str]) -> tuple[dict[str, Any] | bytes, str | None]:
    """Reads a study: a dict or the text of a study file, and the file's path."""
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
    """Begins a study file from the header of a data file. No data value is read.

    The text lists every column with the facts that have to be declared of it. A warning names columns that only one of
    the two files has.

    Parameters
    ----------
    path
        The data file: .csv, .jsonl or .parquet.
    codebook
        A Frictionless table schema, CSVW metadata or a DDI codebook, which gives bounds, categories and missing codes.

    Returns
    -------
    str
        The text of a study file, to be completed.

    Raises
    ------
    counterpoint.InvalidArgumentError
        A file cannot be read.

    Examples
    --------
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


if not TYPE_CHECKING:
    RENAMED = {"Planned": "PlannedStudy"}
    __getattr__ = renamed(__name__, RENAMED)

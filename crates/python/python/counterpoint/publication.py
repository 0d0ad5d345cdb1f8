"""Released studies: from rows to numbers with noise that can be published."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import _native
from .errors import InvalidArgumentError
from .ledger import plan_text
from .study import PlannedStudy, read_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pandas
    import polars

__all__ = ["Publication", "release"]


class Publication:
    """Published numbers, one row each, with the columns of ``release.csv``. Made by :func:`release`.

    Data-frame libraries read it directly (``polars.DataFrame(published)``, ``pyarrow.table(published)``).
    """

    def __init__(self, native: _native.Publication, /) -> None:
        self._native = native

    @property
    def epsilon(self) -> float:
        """An upper bound on epsilon for all statistics together, at :attr:`delta`."""
        return self._native.promise[0]

    @property
    def delta(self) -> float:
        """The delta at which epsilon holds."""
        return self._native.promise[1]

    @property
    def made_up(self) -> bool:
        """True if the numbers were computed from made-up rows, and say nothing about anybody."""
        return self._native.made_up

    @property
    def account(self) -> str | None:
        """The ledger account that paid; None for made-up rows."""
        return None if self._native.ledger is None else self._native.ledger[0]

    @property
    def head(self) -> str | None:
        """The ledger's head after the release, for ``Ledger(expect_head=...)``; None for made-up rows."""
        return None if self._native.ledger is None else self._native.ledger[1]

    @cached_property
    def _files(self) -> dict[str, str]:
        return dict(self._native.files())

    @property
    def csv(self) -> str:
        """The text of ``release.csv``."""
        return self._files["release.csv"]

    @property
    def json(self) -> str:
        """The text of ``release.json``: the numbers, the public facts about the data, the privacy parameters."""
        return self._files["release.json"]

    @property
    def report(self) -> str:
        """The text of ``report.html``, which explains the publication to readers in plain language."""
        return self._files["report.html"]

    @property
    def metadata(self) -> str:
        """The text of ``metadata.json``, for the catalogue where the numbers are deposited."""
        return self._files["metadata.json"]

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``release.csv``, ``release.json``, ``report.html`` and ``metadata.json``.

        Parameters
        ----------
        folder
            The folder to write to, created if missing. Each file is written whole or not at all.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Made-up numbers would replace real ones.
        """
        from pathlib import Path

        there = Path(folder)
        if self.made_up and _is_real(there / "release.json"):
            raise InvalidArgumentError(f"{there / 'release.json'} is of real rows; legal: another folder for a dry run")
        there.mkdir(parents=True, exist_ok=True)
        for name, text in self._files.items():
            _write_whole(there / name, text)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns as lists.

        Returns
        -------
        dict
            The values by column, None where a number has no interval.
        """
        return self._native.columns()

    def to_pandas(self) -> pandas.DataFrame:
        """The numbers as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            One row for each number.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Publication.to_pandas() needs pandas: pip install pandas") from error

        found = pandas.DataFrame(self.to_dict())
        return found.astype({"lower": float, "upper": float})

    def to_polars(self) -> polars.DataFrame:
        """The numbers as a Polars frame.

        Returns
        -------
        polars.DataFrame
            One row for each number.

        Raises
        ------
        ImportError
            Polars is not installed.
        """
        try:
            import polars
        except ImportError as error:
            raise ImportError("Publication.to_polars() needs Polars: pip install polars") from error

        return polars.DataFrame(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._native.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return len(self.to_dict()["value"])

    def __eq__(self, other: object) -> bool:
        return self.json == other.json if isinstance(other, Publication) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        of = ", made_up=True" if self.made_up else ""
        return f"Publication({len(self)} numbers, epsilon={self.epsilon:.6g}, delta={self.delta:g}{of})"

    def _repr_html_(self) -> str:
        from ._html import table

        def shown(value: object) -> str:
            return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

        columns = self.to_dict()
        rows = [tuple(map(shown, row)) for row in list(zip(*columns.values(), strict=True))[:60]]
        if len(self) > len(rows):
            rows.append((f"{len(self) - len(rows)} more", *[""] * (len(columns) - 1)))
        said = f"epsilon {self.epsilon:.6g} at delta {self.delta:g}"
        return table(list(columns), rows, "of MADE-UP rows" if self.made_up else said)


def _is_real(file: Path) -> bool:
    import json

    try:
        return json.loads(file.read_bytes()).get("made_up") is False
    except (OSError, ValueError, AttributeError):
        return False


def _write_whole(path: Path, text: str) -> None:
    """Writes a file so that readers see the old content or the new one, never a part."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(draft, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _described(plan: PlannedStudy | str | os.PathLike[str]) -> tuple[bytes, str | None]:
    """The text of a plan with its question, or of a plan file with its path."""
    if isinstance(plan, PlannedStudy):
        return plan.plan.text("json", delta=plan.delta_within).encode(), None
    return plan_text(plan)


def release(
    study: Mapping[str, Any] | str | bytes | os.PathLike[str],
    data: object = None,
    *,
    plan: PlannedStudy | str | os.PathLike[str] | None = None,
    ledger: _native.Ledger | str | None = None,
    out: str | os.PathLike[str] | None = None,
    changed: bool = False,
    dry_run: bool = False,
    progress: Callable[[float], bool | None] | None = None,
) -> Publication:
    """Releases a study: plans it, charges a ledger, draws and stores every statistic, and returns the publication.

    The same study of the same rows is charged and drawn once: released again, its numbers come from the ledger. An
    exception, a kill or Ctrl-C at any moment leaves nothing half done; released again, it continues.

    Parameters
    ----------
    study
        A dict, the text of a study file (TOML or JSON), or the path of one.
    data
        The rows: a path (.csv, .parquet, .jsonl), a frame of pandas, Polars, Arrow or any library with Arrow's C
        interface (``__arrow_c_stream__``), or a dict of columns. If None, the rows are where the study says
        (``source``). pandas exports its frames through pyarrow. Numbers and texts are read; NaN and None are missing.
    plan
        The plan to release, made by :func:`plan_study`, or the file that ``counterpoint plan --out`` wrote; if None,
        the study is planned.
    ledger
        A :class:`Ledger`, or the URL of one (``sqlite:PATH``, ``postgres://...``); a missing file is created. If None,
        ``ledger.db`` in ``out`` pays. The owner's key, ``secret.db``, is beside a ledger that is a file, else in
        ``out``.
    out
        A folder to write the four files of the release to.
    changed
        Permits rows that differ from those released before. They are charged anew: people who are in both are charged
        twice. A frame and a file of the same rows count as different; frames of all libraries count as equal.
    dry_run
        Makes the same publication of made-up rows: no row is read and nothing is charged.
    progress
        A function that receives the fraction of the planning that is done. If it returns False, the release stops,
        until the ledger is charged.

    Returns
    -------
    Publication
        The numbers with their intervals, as a frame, and the report.

    Raises
    ------
    counterpoint.errors.RefusedError
        The budget does not allow the release, or the rows differ from those released before. Nothing was charged.
    counterpoint.InvalidArgumentError
        The study, the plan or the rows are not legal. Nothing was charged.

    Examples
    --------
    >>> import counterpoint as cp, pathlib, tempfile
    >>> study = {
    ...     "epsilon": 1.0, "delta": 1e-6,
    ...     "data": {"adjacency": "replace", "people": 1000, "column": [{"name": "age", "bounds": [18, 95]}]},
    ...     "statistic": [{"name": "mean age", "kind": "mean", "column": "age", "error": 2}],
    ... }
    >>> rows = {"age": [18 + k % 60 for k in range(1000)]}
    >>> ledger = "sqlite:" + str(pathlib.Path(tempfile.mkdtemp()) / "ledger.db")
    >>> published = cp.release(study, rows, ledger=ledger)
    >>> abs(published.to_dict()["value"][0] - 47.3) < 10, published.epsilon <= 1
    (True, True)
    >>> cp.release(study, rows, ledger=ledger) == published
    True
    """
    if not hasattr(_native, "release"):
        _native.Ledger("")  # Raises: this build has no ledger.
    given = os.fspath(data) if isinstance(data, (str, os.PathLike)) else data
    folder = None if out is None else os.fspath(out)
    described = None if plan is None else _described(plan)
    text, path = read_study(study)
    native = _native.release(text, path, given, described, ledger, folder, changed, dry_run, progress)
    published = Publication(native)
    if folder is not None:
        published.write(folder)
    return published

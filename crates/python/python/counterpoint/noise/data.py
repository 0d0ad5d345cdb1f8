"""Data with their neighbouring relation, which their custodian declares once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgumentError
from ._values import NUMBERS, as_array, is_array, listed, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..names import Adjacency

__all__ = ["Data", "secret"]


def _column(argument: str, values: Any) -> bytes:
    """Packs a column's doubles."""
    if is_array(values):
        import numpy as np

        given = as_array(argument, values, "iufb", NUMBERS)
        if given.ndim != 1:
            raise InvalidArgumentError(f"{argument} has {given.ndim} dimensions; legal: 1")
        data: bytes = np.ascontiguousarray(given, dtype=np.float64).tobytes()
        return data
    from array import array

    items = listed(argument, values, NUMBERS, lambda item: isinstance(item, (int, float)))
    # Numbers beyond every float become infinite, and are clamped later.
    return array("d", [_float(item) for item in items]).tobytes()


def _float(item: int | float) -> float:
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf


class Data:
    """A column of numbers, with the neighbouring relation that protects them.

    Everything asked about the data is scaled and charged for that relation. **The custodian vouches** that nobody has
    more than ``records`` of the records; with "replace", that everybody has exactly that number. Numbers cannot be read
    back, and are not shown.

    Parameters
    ----------
    values
        The numbers. Values that are not numbers count as the lower bound of a query.
    adjacency
        The neighbouring relation: "add-remove" or "replace".
    records
        The largest number of a person's records.
    part
        The name of the part of a data set that these numbers are. Nobody with records here has any in another part.
    """

    __slots__ = ("_native",)

    def __init__(self, values: Any, *, adjacency: Adjacency, records: int = 1, part: str | None = None) -> None:
        self._native = _native.Data([_column("values", values)], adjacency, records, part)

    @classmethod
    def table(cls, columns: Iterable[Any], *, adjacency: Adjacency, records: int = 1, part: str | None = None) -> Data:
        """Data of several columns.

        Parameters
        ----------
        columns
            The columns, each with a number for each record.
        adjacency
            The neighbouring relation: "add-remove" or "replace".
        records
            The largest number of a person's records.
        part
            The name of the part of a data set that these records are.

        Returns
        -------
        Data
            The table.
        """
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data(packed, adjacency, records, part))

    @classmethod
    def of_people(
        cls, people: Iterable[str] | Iterable[int], columns: Iterable[Any], *, key: bytes, adjacency: Adjacency, records: int = 1
    ) -> Data:
        """Data of a table that names the person of each row.

        Of a person with more than ``records`` rows only that number is used, by a choice that depends on that person's
        own rows and the ``key`` alone.

        Parameters
        ----------
        people
            The person of each row.
        columns
            The columns, each with a number for each row.
        key
            The secret of :func:`secret`.
        adjacency
            The neighbouring relation: "add-remove" or "replace".
        records
            The largest number of rows that are used of a person.

        Returns
        -------
        Data
            The table.
        """
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data.of_people(named("people", people), packed, adjacency, records, key))

    @classmethod
    def _of(cls, native: _native.Data) -> Data:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def adjacency(self) -> Adjacency:
        """The neighbouring relation."""
        return self._native.adjacency

    @property
    def records(self) -> int:
        """The largest number of a person's records."""
        return self._native.records

    @property
    def part(self) -> str | None:
        """The part of the data set, or None."""
        return self._native.part

    def __repr__(self) -> str:
        return f"Data(..., adjacency={self.adjacency!r}, records={self.records})"


def secret() -> bytes:
    """Makes a secret key for :meth:`Data.of_people` and :class:`KeyedData`. Make it once, and keep it.

    Returns
    -------
    bytes
        32 random bytes from the operating system.

    Raises
    ------
    counterpoint.NoRandomnessError
        The operating system has no secure randomness.
    """
    return _native.secret()

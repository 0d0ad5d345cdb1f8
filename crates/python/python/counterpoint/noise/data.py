"""The data, and which data sets are their neighbours: said once, by whoever holds them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import InvalidArgument
from ._values import NUMBERS, as_array, is_array, listed, named

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..names import Adjacency

__all__ = ["Data", "secret"]


def _column(argument: str, values: Any) -> bytes:
    """A column's doubles."""
    if is_array(values):
        import numpy as np

        given = as_array(argument, values, "iufb", NUMBERS)
        if given.ndim != 1:
            raise InvalidArgument(f"{argument} has {given.ndim} dimensions; legal: 1")
        data: bytes = np.ascontiguousarray(given, dtype=np.float64).tobytes()
        return data
    from array import array

    items = listed(argument, values, NUMBERS, lambda item: isinstance(item, (int, float)))
    # What no float can hold is as far out as can be: it is clamped.
    return array("d", [_float(item) for item in items]).tobytes()


def _float(item: int | float) -> float:
    try:
        return float(item)
    except OverflowError:
        return math.inf if item > 0 else -math.inf


class Data:
    """A column of numbers, or several of one table, with the relation they are protected under.

    Said once, by whoever holds them: everything asked about them is scaled and charged for that relation. **The custodian
    vouches** that nobody has more than ``records`` of the records; with "replace", that everybody has exactly so many.
    ``part`` names the part of a data set that these are; nobody with records here has any in another part. Numbers cannot
    be read back, and are not shown.
    """

    __slots__ = ("_native",)

    def __init__(self, values: Any, *, adjacency: Adjacency, records: int = 1, part: str | None = None) -> None:
        self._native = _native.Data([_column("values", values)], adjacency, records, part)

    @classmethod
    def table(cls, columns: Iterable[Any], *, adjacency: Adjacency, records: int = 1, part: str | None = None) -> Data:
        """Several columns, each of which has a number for each record."""
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data(packed, adjacency, records, part))

    @classmethod
    def of_people(
        cls, people: Iterable[str] | Iterable[int], columns: Iterable[Any], *, key: bytes, adjacency: Adjacency, records: int = 1
    ) -> Data:
        """Columns of a table that says for each row whose it is. Of whoever has more than ``records`` rows only so many
        are used, by a choice that depends on that person's own rows and the ``key`` (see :func:`secret`) alone."""
        packed = [_column(f"columns[{index}]", column) for index, column in enumerate(columns)]
        return cls._of(_native.Data.of_people(named("people", people), packed, adjacency, records, key))

    @classmethod
    def _of(cls, native: _native.Data) -> Data:
        made = cls.__new__(cls)
        made._native = native
        return made

    @property
    def adjacency(self) -> Adjacency:
        """What neighbouring data sets are."""
        return self._native.adjacency

    @property
    def records(self) -> int:
        """How many records a person has at most."""
        return self._native.records

    @property
    def part(self) -> str | None:
        """The part of the data set that this is, or None."""
        return self._native.part

    def __repr__(self) -> str:
        return f"Data(..., adjacency={self.adjacency!r}, records={self.records})"


def secret() -> bytes:
    """A new key for :meth:`Data.of_people`, from the operating system: to be made once, and kept."""
    return _native.secret()

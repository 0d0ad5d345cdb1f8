"""The objects that a curator's service returns: answers, prices, tables, accounts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from ._deprecated import renamed
from ._html import table as html_table

if TYPE_CHECKING:
    import pandas

    from .question import Key

__all__ = [
    "Account",
    "Charge",
    "Expected",
    "Me",
    "NoisyAnswer",
    "Number",
    "Quote",
    "Remaining",
    "SessionReply",
    "Slot",
    "Table",
    "TableColumn",
]


def _two(ends: Any) -> tuple[float, float] | None:
    if ends is None:
        return None
    low, high = ends
    return float(low), float(high)


def _maybe(number: Any) -> float | None:
    return None if number is None else float(number)


class Number(float):
    """A noisy number: a float with its accuracy.

    Parameters
    ----------
    value
        The number.
    name
        The aggregate's name.
    group
        The group's keys, in the order of the columns that are grouped by.
    half_width
        The number without noise is no further away, with the confidence; None if that is unknown.
    interval
        The number without noise is between these, with the confidence.
    confidence
        The confidence, for each number on its own.
    bin
        The bin that the number counts, from the first up to but not including the second edge.
    share
        The share that the number is the quantile of.

    Examples
    --------
    >>> Number(412.0, name="count", group=("north",), half_width=12.0)
    Number(412.0 ± 12.0, count, north)
    >>> Number(412.0, half_width=12.0) / 2
    206.0
    """

    __slots__ = ("bin", "confidence", "group", "half_width", "interval", "name", "share")

    name: str
    """The aggregate's name."""
    group: tuple[Key, ...]
    """The group's keys, in the order of the columns that are grouped by."""
    half_width: float | None
    """The number without noise is no further away, with the confidence; None if that is unknown."""
    interval: tuple[float, float] | None
    """The number without noise is between these, with the confidence."""
    confidence: float
    """The confidence, for each number on its own."""
    bin: tuple[float, float] | None
    """The bin that the number counts, from the first up to but not including the second edge."""
    share: float | None
    """The share that the number is the quantile of."""

    def __new__(
        cls,
        value: float,
        name: str = "",
        group: Sequence[Key] = (),
        half_width: float | None = None,
        interval: Sequence[float] | None = None,
        confidence: float = 0.95,
        bin: Sequence[float] | None = None,
        share: float | None = None,
    ) -> Number:
        made = super().__new__(cls, value)
        made.name, made.group = name, tuple(group)
        made.half_width, made.interval, made.confidence = _maybe(half_width), _two(interval), float(confidence)
        made.bin, made.share = _two(bin), _maybe(share)
        return made

    @property
    def value(self) -> float:
        """The number as a plain float."""
        return float(self)

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self.name, self.group, self.half_width, self.interval, self.confidence, self.bin, self.share)
        return Number, (self.value, *known)

    def __repr__(self) -> str:
        error = "" if self.half_width is None else f" ± {self.half_width!r}"
        if self.half_width is None and self.interval is not None:
            error = f" in {list(self.interval)}"
        about = [self.name, *map(str, self.group), *_detail(self)]
        return f"Number({', '.join([f'{self.value!r}{error}', *filter(None, about)])})"


def _detail(number: Number) -> list[str]:
    """The bin or the share of a number."""
    if number.bin is not None:
        return [f"[{number.bin[0]:g}, {number.bin[1]:g})"]
    return [] if number.share is None else [f"{number.share:g}"]


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.6g}"


@dataclass(frozen=True, slots=True)
class Charge:
    """A cost. Made by the client.

    Attributes
    ----------
    amount
        The cost in the account's unit.
    unit
        The unit: epsilon, rho, mu, a divergence or openings of slots.
    delta
        The cost in delta.
    """

    amount: float
    unit: str
    delta: float

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> Charge:
        """Reads the object that a service sent."""
        return cls(float(found["amount"]), str(found["unit"]), float(found["delta"]))


@dataclass(frozen=True, slots=True)
class Remaining:
    """A remaining budget. Made by the client.

    Attributes
    ----------
    amount
        The remaining amount.
    of
        The account's capacity.
    unit
        The unit of both.
    delta
        The remaining delta.
    more
        About how many more questions of the same cost fit.
    words
        The same in words.
    """

    amount: float
    of: float
    unit: str
    delta: float
    more: int | None
    """About the number of further questions of the same cost that fit."""
    words: str
    """The same in words."""

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> Remaining:
        """Reads the object that a service sent."""
        more = found["more"]
        amount, of, delta = (float(found[name]) for name in ("amount", "of", "delta"))
        return cls(amount, of, str(found["unit"]), delta, None if more is None else int(more), str(found["words"]))


class NoisyAnswer(Sequence[Number]):
    """The answer to a question: numbers with intervals, one for each group and aggregate, bin or share.

    Made by :meth:`Client.ask`.
    """

    __slots__ = ("_numbers", "columns", "cost", "dummy", "entry", "left", "repeated")

    def __init__(self, found: Mapping[str, Any], columns: Sequence[str] = ()) -> None:
        self._numbers = tuple(_number(one) for one in found["answers"])
        self.cost = Charge._read(found["cost"])
        """The debit of this call: nothing if the question was asked before."""
        self.left = Remaining._read(found["left"])
        """The remaining budget."""
        self.entry: int | None = found["entry"]
        """The number of the ledger's entry, if this call made one."""
        self.repeated: bool = bool(found["repeated"])
        """True if the question was asked before."""
        self.dummy: bool = bool(found.get("dummy", False))
        """True if the answer was computed from made-up rows."""
        length = len(self._numbers[0].group) if self._numbers else 0
        known = tuple(columns) if len(columns) == length else ()
        self.columns: tuple[str, ...] = known or tuple(f"group_{place + 1}" for place in range(length))
        """The columns that are grouped by."""

    @overload
    def __getitem__(self, place: int) -> Number: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Number]: ...
    def __getitem__(self, place: int | slice) -> Number | Sequence[Number]:
        return self._numbers[place]

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[Number]:
        return iter(self._numbers)

    def __float__(self) -> float:
        """The only number."""
        if len(self) != 1:
            raise TypeError(f"an answer has {len(self)} numbers; legal: float() of one")
        return self[0].value

    def frame(self) -> pandas.DataFrame:
        """The answer as a pandas frame.

        Returns
        -------
        pandas.DataFrame
            A row for each number, with the columns of :meth:`rows`.

        Raises
        ------
        ImportError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("NoisyAnswer.frame() needs pandas: pip install pandas") from error

        return pandas.DataFrame(self.rows())

    def rows(self) -> list[dict[str, Any]]:
        """The answer as rows.

        Returns
        -------
        list of dict
            For each number its group's keys under their columns, ``name``, ``value``, ``half_width``, ``low`` and
            ``high``; for histograms also ``bin_from`` and ``bin_to``, for quantiles ``share``.
        """
        bins = any(number.bin is not None for number in self)
        shares = any(number.share is not None for number in self)
        return [self._row(number, bins, shares) for number in self]

    def _row(self, number: Number, bins: bool, shares: bool) -> dict[str, Any]:
        row: dict[str, Any] = {}
        for column, key in zip(self.columns, number.group, strict=True):
            # A column may have the name of one of these fields.
            row[f"{column}_" if column in OURS else column] = key
        row["name"] = number.name
        if bins:
            row["bin_from"], row["bin_to"] = number.bin or (None, None)
        if shares:
            row["share"] = number.share
        low, high = number.interval or (None, None)
        return {**row, "value": number.value, "half_width": number.half_width, "low": low, "high": high}

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self[:6]))
        return f"NoisyAnswer([{shown}{', ...' if len(self) > 6 else ''}]{', dummy=True' if self.dummy else ''})"

    def _repr_html_(self) -> str:
        head = [*self.columns, "aggregate", "value", "±", "from", "to"]
        rows = []
        for number in self:
            low, high = number.interval or (None, None)
            name = " ".join([number.name, *_detail(number)])
            numbers = [_short(number.value), _short(number.half_width), _short(low), _short(high)]
            rows.append([*map(str, number.group), name, *numbers])
        paid = "asked before, for nothing" if self.repeated else f"for {self.cost.amount:g} {self.cost.unit}"
        paid = "of made-up rows" if self.dummy else paid
        sure = f"{100 * self[0].confidence:g} % each; " if self else ""
        return html_table(head, rows, f"{sure}{paid}; left: {self.left.words}")


OURS = {"name", "bin_from", "bin_to", "share", "value", "half_width", "low", "high"}


def _number(found: Mapping[str, Any]) -> Number:
    names = ("name", "group", "half_width", "interval", "confidence", "bin", "share")
    return Number(found["value"], **{name: found[name] for name in names if name in found})


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected accuracy of an aggregate; in ranks for quantiles. Made by the client.

    Attributes
    ----------
    name
        The aggregate's name.
    half_width
        The half-width; None if it depends on data that are not public.
    """

    name: str
    half_width: float | None


@dataclass(frozen=True, slots=True)
class Quote:
    """The price of a question. Made by :meth:`Client.price`."""

    cost: Charge
    left: Remaining
    affordable: bool
    """True if the question would be answered now."""
    refusal: str | None
    """The budget that is too small, if one is."""
    free: bool
    """True if the question was asked before, so that it costs nothing."""
    epsilon: float | None
    """The epsilon of the noise, if it is Laplace noise."""
    rho: float | None
    """The rho of the noise, if it is Gaussian noise."""
    expected: tuple[Expected, ...]
    """The expected accuracy, at the requested confidence."""

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> Quote:
        """Reads the object that a service sent."""
        expected = tuple(Expected(str(one["name"]), _maybe(one["half_width"])) for one in found["expected"])
        cost, left = Charge._read(found["cost"]), Remaining._read(found["left"])
        paid = bool(found["affordable"]), found["refusal"], bool(found["free"])
        return cls(cost, left, *paid, _maybe(found["epsilon"]), _maybe(found["rho"]), expected)


@dataclass(frozen=True, slots=True)
class Me:
    """The holder of a token. Made by the client.

    Attributes
    ----------
    name
        The holder's name.
    role
        "owner", "auditor" or "analyst".
    accounts
        The accounts that the holder may ask.
    """

    name: str
    role: str
    accounts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table: numbers within bounds, or categories. Made by the client.

    Attributes
    ----------
    name
        The column's name.
    bounds
        The bounds of numbers, or None.
    categories
        The categories, or None.
    """

    name: str
    bounds: tuple[float, float] | None
    categories: tuple[Key, ...] | None


@dataclass(frozen=True, slots=True)
class Table:
    """The public description of a table. Made by :meth:`Client.tables`."""

    name: str
    person: str | None
    """The column that names the person of each row; None if each row is a person."""
    rows: int
    """The largest number of a person's rows that are used."""
    groups: int
    """The largest number of groups in which a person's rows are used."""
    adjacency: str
    people: int | None
    """About the number of people, if that is public."""
    columns: tuple[TableColumn, ...]

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> Table:
        """Reads the object that a service sent."""

        def column(one: Mapping[str, Any]) -> TableColumn:
            categories = one.get("categories")
            return TableColumn(one["name"], _two(one.get("bounds")), None if categories is None else tuple(categories))

        names = ("name", "person", "rows", "groups", "adjacency", "people")
        known = {name: found[name] for name in names}
        return cls(**known, columns=tuple(map(column, found["columns"])))

    def _repr_html_(self) -> str:
        def holds(one: TableColumn) -> str:
            if one.bounds is not None:
                return f"{one.bounds[0]:g} to {one.bounds[1]:g}"
            return ", ".join(map(str, one.categories or ()))

        return html_table(["column", "holds"], [[one.name, holds(one)] for one in self.columns], self.name)


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan account. Made by the client.

    Attributes
    ----------
    name
        The slot's name.
    count
        The number of its openings.
    used
        The number of used openings.
    """

    name: str
    count: int
    used: int


@dataclass(frozen=True, slots=True)
class Account:
    """The state of an account. Made by :meth:`Client.accounts`.

    Attributes
    ----------
    name
        The account's name.
    kind
        The kind of account: "dataset", "plan" or "filter".
    parent
        The account that paid for it, or None.
    left
        The remaining budget.
    charges
        The number of debits.
    closed
        True if the account is closed.
    slots
        The slots of a plan account.
    """

    name: str
    kind: str
    parent: str | None
    left: Remaining
    charges: int
    closed: bool
    slots: tuple[Slot, ...]

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> Account:
        """Reads the object that a service sent."""
        slots = tuple(Slot(one["name"], one["count"], one["used"]) for one in found["slots"])
        first = found["name"], found["kind"], found["parent"]
        return cls(*first, Remaining._read(found["left"]), found["charges"], found["closed"], slots)


@dataclass(frozen=True, slots=True)
class SessionReply:
    """A session's reply to a question. Made by :meth:`RemoteSession.ask`."""

    kind: str
    """``"above"`` or ``"below"`` the threshold; ``"pass"`` or ``"wrong"``; ``"number"`` or ``"table"``."""
    value: float | None
    """The number, if there is one."""
    table: tuple[float, ...]
    """The numbers, if there are several."""
    answered: int
    """The number of answers that the session has given."""
    over: bool
    """True if the session gives no more answers."""
    entry: int
    """The number of the ledger's entry that stored the reply."""
    repeated: bool
    """True if the question was asked before."""

    @classmethod
    def _read(cls, found: Mapping[str, Any]) -> SessionReply:
        """Reads the object that a service sent."""
        reply = found["reply"]
        kind, value = (reply, None) if isinstance(reply, str) else next(iter(reply.items()))
        table = tuple(map(float, value)) if isinstance(value, list) else ()
        number = None if isinstance(value, list) else _maybe(value)
        stands = int(found["answered"]), bool(found["over"]), int(found["entry"]), bool(found["repeated"])
        return cls(str(kind), number, table, *stands)


if not TYPE_CHECKING:
    RENAMED = {"Answer": "NoisyAnswer", "ColumnOf": "TableColumn", "Reply": "SessionReply"}
    __getattr__ = renamed(__name__, RENAMED)

"""Questions about tables: filter, group, aggregate."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat, SupportsIndex

from .errors import InvalidArgumentError

__all__ = ["Aggregate", "Column", "Condition", "Question", "column"]

Key = str | int
"""A category: a text or a whole number."""
Real = SupportsFloat | SupportsIndex


def _number(argument: str, value: Any) -> float:
    if isinstance(value, (str, bytes)) or not (hasattr(value, "__float__") or hasattr(value, "__index__")):
        raise TypeError(f"{argument} is of type {type(value).__name__}; legal: a number")
    number = float(value)
    if not math.isfinite(number):
        raise InvalidArgumentError(f"{argument} is {number}; legal: a finite number")
    return number


def _whole(argument: str, value: Any) -> int:
    import operator

    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} is of type {type(value).__name__}; legal: a whole number")
    return operator.index(value)


def _key(argument: str, value: Any) -> Key:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{argument} is of type {type(value).__name__}; legal: a text or a whole number")
    return _whole(argument, value)


def _name(argument: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{argument} is of type {type(value).__name__}; legal: a name")
    return str(value)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on rows. Made by comparisons of :func:`column`; combined with ``&``, ``|`` and ``~``.

    Examples
    --------
    >>> (column("age") >= 65) & ~column("region").isin("north")
    Condition(all(age >= 65.0, not(region in ['north'])))
    """

    kind: str
    parts: tuple[Condition, ...] = ()
    column: str = ""
    numbers: tuple[float | None, ...] = ()
    keys: tuple[Key, ...] = ()

    def __and__(self, other: Condition) -> Condition:
        return self._joined("all", other)

    def __or__(self, other: Condition) -> Condition:
        return self._joined("any", other)

    def __invert__(self) -> Condition:
        return Condition("not", (self,))

    def _joined(self, kind: str, other: Condition) -> Condition:
        if not isinstance(other, Condition):
            return NotImplemented
        # One list for a chain, as a chain of ANDs is read from SQL.
        own = self.parts if self.kind == kind else (self,)
        return Condition(kind, (*own, other))

    def __bool__(self) -> bool:
        raise TypeError(
            "a condition is neither true nor false; legal: &, | and ~, and column.between(low, high) in place of "
            "low <= column <= high"
        )

    def to_dict(self) -> dict[str, Any]:
        """Writes the condition as the service's JSON.

        Returns
        -------
        dict
            The object.
        """
        if self.kind in ("all", "any"):
            return {self.kind: [part.to_dict() for part in self.parts]}
        if self.kind == "not":
            return {"not": self.parts[0].to_dict()}
        if self.kind == "in":
            return {"in": {"column": self.column, "keys": list(self.keys)}}
        if self.kind == "between":
            low, high = self.numbers
            ends = {"from": low, "to": high}
            given = {name: end for name, end in ends.items() if end is not None}
            return {"between": {"column": self.column, **given}}
        return {self.kind: {"column": self.column, "than": self.numbers[0]}}

    def __repr__(self) -> str:
        return f"Condition({self._text()})"

    def _text(self) -> str:
        if self.parts:
            return f"{self.kind}({', '.join(part._text() for part in self.parts)})"
        if self.kind == "in":
            return f"{self.column} in {list(self.keys)}"
        if self.kind == "between":
            low, high = self.numbers
            if high is None:
                return f"{self.column} >= {low}"
            return f"{self.column} <= {high}" if low is None else f"{low} <= {self.column} <= {high}"
        return f"{self.column} {'>' if self.kind == 'above' else '<'} {self.numbers[0]}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column in conditions. Made by :func:`column`; compared with numbers, or with categories by :meth:`isin`."""

    name: str

    def __ge__(self, number: Real) -> Condition:
        return Condition("between", column=self.name, numbers=(_number(self.name, number), None))

    def __le__(self, number: Real) -> Condition:
        return Condition("between", column=self.name, numbers=(None, _number(self.name, number)))

    def __gt__(self, number: Real) -> Condition:
        return Condition("above", column=self.name, numbers=(_number(self.name, number),))

    def __lt__(self, number: Real) -> Condition:
        return Condition("below", column=self.name, numbers=(_number(self.name, number),))

    def between(self, low: Real, high: Real) -> Condition:
        """The condition that the column is from ``low`` to ``high``, both included.

        Parameters
        ----------
        low, high
            The ends.

        Returns
        -------
        Condition
            The condition.
        """
        return (self >= low) & (self <= high)

    def isin(self, *keys: Key) -> Condition:
        """The condition that the column is one of some categories.

        Parameters
        ----------
        *keys
            The categories.

        Returns
        -------
        Condition
            The condition.
        """
        return Condition("in", column=self.name, keys=tuple(_key(self.name, key) for key in keys))


def column(name: str) -> Column:
    """Names a column, for conditions.

    Parameters
    ----------
    name
        The column's name.

    Returns
    -------
    Column
        The column, to be compared.

    Examples
    --------
    >>> column("age").between(18, 64)
    Condition(all(age >= 18.0, age <= 64.0))
    """
    return Column(_name("name", name))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of the rows in each group. Made by the methods of :class:`Question`."""

    kind: str
    column: str | None = None
    bounds: tuple[float, float] | None = None
    numbers: tuple[float, ...] = ()
    candidates: tuple[float, ...] | None = None
    name: str | None = None
    others: tuple[str, ...] = ()
    keys: tuple[str | int, ...] | None = None

    def of(self) -> str | dict[str, Any]:
        """Writes the kind of the aggregate as the service's JSON.

        Returns
        -------
        str or dict
            The object.
        """
        if self.column is None:
            return self.kind
        about: dict[str, Any] = {"column": self.column}
        if self.kind == "quantiles":
            about["shares"] = list(self.numbers)
        if self.kind in ("histogram", "cdf"):
            about["edges"] = list(self.numbers)
        if self.kind in ("covariance", "correlation"):
            about["with"] = self.others[0]
        if self.kind == "regression":
            about["predictors"] = list(self.others)
        if self.keys is not None:
            about["keys"] = list(self.keys)
        if self.candidates is not None:
            about["candidates"] = list(self.candidates)
        if self.bounds is not None:
            about["bounds"] = list(self.bounds)
        return {self.kind: about}

    def to_dict(self) -> dict[str, Any]:
        """Writes the aggregate with its name as the service's JSON.

        Returns
        -------
        dict
            The object.
        """
        named = {} if self.name is None else {"name": self.name}
        return {**named, "of": self.of()}


def _bounds(bounds: tuple[Real, Real] | None) -> tuple[float, float] | None:
    if bounds is None:
        return None
    low, high = bounds
    return _number("bounds", low), _number("bounds", high)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one table. Every method returns another question.

    Parameters
    ----------
    table
        The table's name.
    filter
        The condition on rows; all rows if None.
    group
        The columns to group by.
    aggregates
        The aggregates.
    rows, groups, rows_in_group
        Limits on a person's rows, as for :meth:`at_most`.

    Examples
    --------
    >>> question = Question("visits").where(column("age") >= 65, year=2024).group_by("region").count().mean("cost")
    >>> question.to_dict()["group"]
    ['region']
    >>> question.to_dict()["filter"]["all"][1]
    {'in': {'column': 'year', 'keys': [2024]}}
    """

    table: str
    filter: Condition | None = None
    group: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    rows: int | None = None
    groups: int | None = None
    rows_in_group: int | None = None

    def __post_init__(self) -> None:
        _name("table", self.table)

    def where(self, *conditions: Condition, **categories: Key | Iterable[Key]) -> Question:
        """Keeps the rows for which all conditions hold.

        Parameters
        ----------
        *conditions
            Conditions on columns.
        **categories
            By column the category, or the categories, that it must have.

        Returns
        -------
        Question
            The filtered question.

        Raises
        ------
        TypeError
            A condition is no :class:`Condition`.
        """
        every = list(conditions)
        for name, keys in categories.items():
            several = [keys] if isinstance(keys, str) or not isinstance(keys, Iterable) else keys
            every.append(column(name).isin(*several))
        filter = self.filter
        for condition in every:
            if not isinstance(condition, Condition):
                kind = type(condition).__name__
                raise TypeError(f'a condition is of type {kind}; legal: such as column("age") >= 65, or region="north"')
            filter = condition if filter is None else filter & condition
        return replace(self, filter=filter)

    def group_by(self, *columns: str) -> Question:
        """Asks for an answer in each category of columns.

        Parameters
        ----------
        *columns
            The columns' names.

        Returns
        -------
        Question
            The grouped question.
        """
        return replace(self, group=(*self.group, *(_name("a column", one) for one in columns)))

    def count(self, *, name: str | None = None) -> Question:
        """Adds the number of rows.

        Parameters
        ----------
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("count", name=name))

    def people(self, *, name: str | None = None) -> Question:
        """Adds the number of people.

        Parameters
        ----------
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("people", name=name))

    def sum(self, column: str, *, bounds: tuple[Real, Real] | None = None, name: str | None = None) -> Question:
        """Adds the sum of a column, clamped to its bounds.

        Parameters
        ----------
        column
            The column.
        bounds
            Bounds to clamp the column to; the bounds declared for the column if None.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("sum", _name("column", column), _bounds(bounds), name=name))

    def mean(self, column: str, *, bounds: tuple[Real, Real] | None = None, name: str | None = None) -> Question:
        """Adds the mean of a column, clamped to its bounds.

        Parameters
        ----------
        column
            The column.
        bounds
            Bounds to clamp the column to; the bounds declared for the column if None.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("mean", _name("column", column), _bounds(bounds), name=name))

    def variance(self, column: str, *, bounds: tuple[Real, Real] | None = None, name: str | None = None) -> Question:
        """Adds the variance of a column, clamped to its bounds.

        Parameters
        ----------
        column
            The column.
        bounds
            Bounds to clamp the column to; the bounds declared for the column if None.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("variance", _name("column", column), _bounds(bounds), name=name))

    def deviation(self, column: str, *, bounds: tuple[Real, Real] | None = None, name: str | None = None) -> Question:
        """Adds the standard deviation of a column, clamped to its bounds.

        Parameters
        ----------
        column
            The column.
        bounds
            Bounds to clamp the column to; the bounds declared for the column if None.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        return self._with(Aggregate("deviation", _name("column", column), _bounds(bounds), name=name))

    def proportion(
        self,
        column: str,
        *categories: str | int,
        bounds: tuple[Real, Real] | None = None,
        name: str | None = None,
    ) -> Question:
        """Adds the share of the rows with a value whose value is one of some categories, or within bounds.

        Parameters
        ----------
        column
            The column.
        *categories
            The categories.
        bounds
            The bounds, both included, in place of categories.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Both or neither of categories and bounds are given.
        """
        if bool(categories) == (bounds is not None):
            raise InvalidArgumentError("categories are given with bounds, or neither; legal: one of the two")
        keys = tuple(categories) or None
        return self._with(Aggregate("proportion", _name("column", column), _bounds(bounds), keys=keys, name=name))

    def covariance(self, column: str, other: str, *, name: str | None = None) -> Question:
        """Adds the covariance of two columns, each clamped to its bounds.

        Parameters
        ----------
        column, other
            The columns.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        others = (_name("other", other),)
        return self._with(Aggregate("covariance", _name("column", column), others=others, name=name))

    def correlation(self, column: str, other: str, *, name: str | None = None) -> Question:
        """Adds the correlation of two columns, each clamped to its bounds.

        Parameters
        ----------
        column, other
            The columns.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        others = (_name("other", other),)
        return self._with(Aggregate("correlation", _name("column", column), others=others, name=name))

    def regression(self, column: str, *predictors: str, name: str | None = None) -> Question:
        """Adds a linear regression of a column on predictors: the intercept and one coefficient for each.

        Parameters
        ----------
        column
            The column to explain.
        *predictors
            The columns that explain it.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        others = tuple(_name("a predictor", one) for one in predictors)
        return self._with(Aggregate("regression", _name("column", column), others=others, name=name))

    def cdf(self, column: str, *edges: Real, name: str | None = None) -> Question:
        """Adds the number of rows below each edge.

        Parameters
        ----------
        column
            The column.
        *edges
            The increasing edges.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        numbers = tuple(_number("an edge", edge) for edge in edges)
        return self._with(Aggregate("cdf", _name("column", column), None, numbers, name=name))

    def quantiles(
        self, column: str, *shares: Real, candidates: Iterable[Real] | None = None, name: str | None = None
    ) -> Question:
        """Adds quantiles of a column.

        Parameters
        ----------
        column
            The column.
        *shares
            The increasing shares, between 0 and 1.
        candidates
            The numbers to choose from; evenly spaced numbers within the column's bounds if None.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        kept = None if candidates is None else tuple(_number("candidates", one) for one in candidates)
        numbers = tuple(_number("a share", share) for share in shares)
        return self._with(Aggregate("quantiles", _name("column", column), None, numbers, kept, name))

    def histogram(self, column: str, *edges: Real, name: str | None = None) -> Question:
        """Adds the number of rows in each bin, from one edge up to but not including the next.

        Parameters
        ----------
        column
            The column.
        *edges
            The increasing edges.
        name
            A name for the aggregate in the answer.

        Returns
        -------
        Question
            The question with this aggregate added.
        """
        numbers = tuple(_number("an edge", edge) for edge in edges)
        return self._with(Aggregate("histogram", _name("column", column), None, numbers, name=name))

    def at_most(
        self, *, rows: int | None = None, groups: int | None = None, rows_in_group: int | None = None
    ) -> Question:
        """Uses fewer rows of each person than the table allows, which needs less noise.

        Parameters
        ----------
        rows
            The largest number of a person's rows.
        groups
            The largest number of groups with rows of one person.
        rows_in_group
            The largest number of a person's rows in one group.

        Returns
        -------
        Question
            The limited question.
        """

        def limit(name: str, given: int | None, before: int | None) -> int | None:
            return before if given is None else _whole(name, given)

        return replace(
            self,
            rows=limit("rows", rows, self.rows),
            groups=limit("groups", groups, self.groups),
            rows_in_group=limit("rows_in_group", rows_in_group, self.rows_in_group),
        )

    def _with(self, aggregate: Aggregate) -> Question:
        return replace(self, aggregates=(*self.aggregates, aggregate))

    def to_dict(self) -> dict[str, Any]:
        """Writes the question as the service's JSON.

        Returns
        -------
        dict
            The object.
        """
        text: dict[str, Any] = {"table": self.table}
        if self.filter is not None:
            text["filter"] = self.filter.to_dict()
        if self.group:
            text["group"] = list(self.group)
        text["aggregates"] = [aggregate.to_dict() for aggregate in self.aggregates]
        limits = {"rows": self.rows, "groups": self.groups, "rows_in_group": self.rows_in_group}
        text.update((name, limit) for name, limit in limits.items() if limit is not None)
        return text

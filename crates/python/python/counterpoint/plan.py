"""Plans: releases about the same data, and the computations about them."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, Literal, overload

from . import _native
from .arrays import Brackets, is_scalar, one_question, packed, unpacked
from .errors import InvalidArgumentError
from .losses import Losses
from .readings import Readings
from .region import Region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from decimal import Decimal
    from fractions import Fraction

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ._native import Answer, Mechanism
    from .names import Adjacency, Route, Theorem

    Progress = Callable[[float], bool | None]
    Amount = float | str | Fraction | Decimal


__all__ = ["Comparison", "Plan", "PreciseAnswer", "compose", "load"]


class Plan(_native.Plan):
    """Releases about the same data, composed.

    All bounds hold for mechanisms that are chosen adaptively and for interactive ones run concurrently, with parameters
    fixed in advance (Lyu 2022). They do not hold if the parameters depend on earlier answers: use
    :class:`counterpoint.Ledger` for that.

    Parameters
    ----------
    mechanisms
        A mechanism, a list of them, or another plan.
    adjacency
        The neighbouring relation: "add-remove" or "replace". It is needed where it makes a difference.
    group
        The number of people who are protected together; one if None.
    """

    __slots__ = ()

    @overload
    def epsilon(
        self,
        delta: float,
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        progress: Progress | None = None,
    ) -> Answer: ...
    @overload
    def epsilon(self, delta: Amount, *, bits: int, progress: Progress | None = None) -> PreciseAnswer: ...
    @overload
    def epsilon(
        self,
        delta: NDArray[Any] | list[float],
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        progress: Progress | None = None,
    ) -> Brackets: ...
    def epsilon(
        self,
        delta: Any,
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> Answer | Brackets | PreciseAnswer:
        """The least epsilon at which the plan is (epsilon, delta)-private.

        For guarantees by Murtagh and Vadhan 2018, Theorem 1.5; for other mechanisms by the product of the pairs that
        dominate each (Zhu, Dong and Wang 2022, Theorem 10).

        Parameters
        ----------
        delta
            A number from 0 up to but not including 1, or an array of them.
        tolerance
            The relative width of the bracket, which is then promised; 1e-6 is aimed at if None.
        route
            The method to use, of :data:`counterpoint.names.Route`; the fastest one if None.
        bits
            Computes to a width of 2^-bits, for plans of guarantees. Amounts are then exactly what was given: a float is
            its double, while ``"0.3"``, ``"1/3"``, a Fraction and a Decimal are the numbers they say, here and in the
            mechanisms.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Answer, Brackets or PreciseAnswer
            The epsilon; :class:`Brackets` for an array, where an infinite epsilon stands for a delta below what the
            plan leaks; :class:`PreciseAnswer` with ``bits``.

        Raises
        ------
        counterpoint.errors.NoFiniteEpsilonError
            A single delta is below what the plan leaks, or losses are unbounded at delta 0.
        counterpoint.errors.ToleranceNotMetError
            The given tolerance could not be certified. ``best`` is the best answer.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or the route does not apply.

        Examples
        --------
        >>> import counterpoint as cp
        >>> plan = cp.compose([cp.ApproxDP(0.1) * 100])
        >>> print(plan.epsilon(1e-6))
        4.77456 .. 4.77457
        >>> cp.compose([cp.ApproxDP("0.3") * 3]).epsilon(0, bits=100).upper[:30]
        '0.9000000000000000000000000000'
        """
        if bits is not None:
            _alone(tolerance, route)
            return PreciseAnswer(*super()._epsilon_to_bits(delta, bits, progress))
        if is_scalar(delta):
            return super().epsilon(delta, tolerance=tolerance, route=route, progress=progress)
        data, shape = packed("delta", delta)
        return unpacked(super()._epsilons(data, tolerance, route, progress), shape, tolerance=tolerance)

    @overload
    def delta(
        self,
        epsilon: float,
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        progress: Progress | None = None,
    ) -> Answer: ...
    @overload
    def delta(self, epsilon: Amount, *, bits: int, progress: Progress | None = None) -> PreciseAnswer: ...
    @overload
    def delta(
        self,
        epsilon: NDArray[Any] | list[float],
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        progress: Progress | None = None,
    ) -> Brackets: ...
    def delta(
        self,
        epsilon: Any,
        *,
        tolerance: float | None = None,
        route: Route | None = None,
        bits: int | None = None,
        progress: Progress | None = None,
    ) -> Answer | Brackets | PreciseAnswer:
        """The least delta at which the plan is (epsilon, delta)-private: its privacy profile.

        Parameters
        ----------
        epsilon
            A number from 0, or an array of them.
        tolerance
            The relative width of the bracket, which is then promised; 1e-6 is aimed at if None.
        route
            The method to use, of :data:`counterpoint.names.Route`; the fastest one if None.
        bits
            Computes to a width of 2^-bits times the answer, for plans of guarantees; as for :meth:`epsilon`.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Answer, Brackets or PreciseAnswer
            The delta; :class:`Brackets` for an array, :class:`PreciseAnswer` with ``bits``.

        Raises
        ------
        counterpoint.errors.ToleranceNotMetError
            The given tolerance could not be certified. ``best`` is the best answer.
        counterpoint.InvalidArgumentError
            An argument is outside its range, or the route does not apply.

        Examples
        --------
        >>> import counterpoint as cp
        >>> cp.compose([cp.RandomizedResponse(1.0)]).delta([0.0, 1.0]).upper.round(6).tolist()
        [0.462117, 0.0]
        """
        if bits is not None:
            _alone(tolerance, route)
            return PreciseAnswer(*super()._delta_to_bits(epsilon, bits, progress))
        if is_scalar(epsilon):
            return super().delta(epsilon, tolerance=tolerance, route=route, progress=progress)
        data, shape = packed("epsilon", epsilon)
        return unpacked(super()._deltas(data, tolerance, route, progress), shape, tolerance=tolerance)

    def compare(  # type: ignore[override]
        self,
        *,
        delta: float | None = None,
        epsilon: float | None = None,
        eta: float | None = None,
        tolerance: float | None = None,
        progress: Progress | None = None,
    ) -> Comparison:
        """Compares the certified optimum with the charges of other theorems.

        Parameters
        ----------
        delta
            The delta at which epsilons are compared.
        epsilon
            The epsilon at which deltas are compared, in place of ``delta``.
        eta
            Adds Murtagh and Vadhan's approximation algorithm (Theorem 1.7) with this additive error, at a delta.
        tolerance
            The relative width of the optimum; 1e-6 is aimed at if None.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Comparison
            The optimum and the other charges by name of the theorem.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Both or neither of delta and epsilon are given, or one is outside its range.

        Examples
        --------
        >>> import counterpoint as cp
        >>> comparison = cp.compose([cp.ApproxDP(0.1) * 100]).compare(delta=1e-6)
        >>> comparison.ratio("basic") > 2
        True
        """
        one_question(delta, epsilon)
        found = super().compare(delta=delta, epsilon=epsilon, eta=eta, tolerance=tolerance, progress=progress)
        return Comparison("epsilon" if epsilon is None else "delta", *found)

    def region(  # type: ignore[override]
        self,
        false_alarms: ArrayLike = (),
        *,
        tolerance: float | None = None,
        progress: Progress | None = None,
    ) -> Region:
        """The error rates that tests for one person's data can have (Kairouz, Oh and Viswanath 2017).

        Parameters
        ----------
        false_alarms
            False-alarm rates at which the region is as exact as ``tolerance`` says.
        tolerance
            The relative width of the miss rates there; 1e-6 is aimed at if None.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Region
            The region of error rates.

        Raises
        ------
        counterpoint.InvalidArgumentError
            A rate is not between 0 and 1.

        Examples
        --------
        >>> import counterpoint as cp
        >>> region = cp.compose([cp.RandomizedResponse(1.0)]).region()
        >>> region.contains(0.1, 0.2)
        'no'
        """
        data, _ = packed("false_alarms", false_alarms)
        return Region(super().region(data, tolerance=tolerance, progress=progress))

    def tradeoff(
        self,
        false_alarms: ArrayLike,
        *,
        tolerance: float | None = None,
        progress: Progress | None = None,
    ) -> Brackets:
        """The trade-off curve: the least miss rates of tests with these false-alarm rates.

        Parameters
        ----------
        false_alarms
            The false-alarm rates, from 0 to 1.
        tolerance
            The relative width of the miss rates; 1e-6 is aimed at if None.
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Brackets
            The miss rates. As an array they are their lower ends, which no attacker can beat.

        Raises
        ------
        counterpoint.InvalidArgumentError
            A rate is not between 0 and 1.
        """
        region = self.region(false_alarms, tolerance=tolerance, progress=progress)
        return region.least_miss(false_alarms)

    def readings(  # type: ignore[override]
        self,
        *,
        prior: float | None = None,
        chance: float | None = None,
        floor: float | None = None,
        tolerance: float | None = None,
        progress: Progress | None = None,
    ) -> Readings:
        """The success of attacks on the plan, and mu of Gaussian privacy with its regret.

        Parameters
        ----------
        prior
            The probability of one of two neighbouring data sets before the answers are seen; one half if None.
        chance
            The probability of a successful reconstruction without the answers; 0.001 if None.
        floor
            The least delta for which mu is meant to hold; 1e-10 if None.
        tolerance
            The relative width of the rates; 1e-6 is aimed at if None. (At mu and the regret, 1e-4 is.)
        progress
            A function that receives the fraction done. If it returns False, the computation stops.

        Returns
        -------
        Readings
            The readings.

        Raises
        ------
        counterpoint.InvalidArgumentError
            A number is outside its range.
        """
        return Readings(
            super().readings(prior=prior, chance=chance, floor=floor, tolerance=tolerance, progress=progress)
        )

    def losses(self) -> list[Losses]:  # type: ignore[override]
        """The privacy losses in each direction that differs, on each part of the data.

        Returns
        -------
        list of Losses
            One for each direction and part.
        """
        return [Losses(native) for native in super().losses()]

    def plot(self, *, ax: Any = None, points: int = 200, **style: Any) -> Any:
        """Draws delta against epsilon with matplotlib.

        Parameters
        ----------
        ax
            The axes to draw on; new ones if None.
        points
            The number of points of the curve.
        **style
            Keywords of matplotlib's ``plot`` for the curve.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from . import _plot

        return _plot.profile(self, ax=ax, points=points, **style)

    @classmethod
    def from_text(cls, text: str | bytes, *, exact: bool = False) -> Self:
        """Reads a plan from the text of a plan file.

        Parameters
        ----------
        text
            TOML or JSON.
        exact
            Keeps the numbers of guarantees exactly as written, for questions with ``bits``.

        Returns
        -------
        Plan
            The plan.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The text is no legal plan.
        """
        data = text.encode() if isinstance(text, str) else bytes(text)
        return cls(_native.Plan.parse(data, exact=exact))

    def to_toml(self, *, delta: float | None = None, epsilon: float | None = None) -> str:
        """Writes the plan as the text of a TOML plan file.

        Parameters
        ----------
        delta
            The delta at which the file asks for epsilon.
        epsilon
            The epsilon at which the file asks for delta, in place of ``delta``.

        Returns
        -------
        str
            The text.
        """
        return self.text("toml", delta=delta, epsilon=epsilon)

    def to_json(self, *, delta: float | None = None, epsilon: float | None = None) -> str:
        """Writes the plan as the text of a JSON plan file.

        Parameters
        ----------
        delta
            The delta at which the file asks for epsilon.
        epsilon
            The epsilon at which the file asks for delta, in place of ``delta``.

        Returns
        -------
        str
            The text.
        """
        return self.text("json", delta=delta, epsilon=epsilon)

    def save(self, path: str | os.PathLike[str], *, delta: float | None = None, epsilon: float | None = None) -> None:
        """Writes a plan file.

        Parameters
        ----------
        path
            The file: JSON if the path ends in .json, else TOML.
        delta
            The delta at which the file asks for epsilon.
        epsilon
            The epsilon at which the file asks for delta, in place of ``delta``.
        """
        is_json = os.fspath(path).lower().endswith(".json")
        text = self.text("json" if is_json else "toml", delta=delta, epsilon=epsilon)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def __iter__(self) -> Iterator[Mechanism]:
        return iter(self.mechanisms)

    def __add__(self, other: object) -> Self:
        if not isinstance(other, _native.Plan):
            return NotImplemented
        for what in ("adjacency", "group"):
            mine, theirs = getattr(self, what), getattr(other, what)
            if mine != theirs:
                raise InvalidArgumentError(f"{what} is {mine!r} and {theirs!r}; legal: the same in both plans")
        both = self.mechanisms + other.mechanisms
        return type(self)(both, adjacency=self.adjacency, group=self.group)

    def __repr__(self) -> str:
        shown = [repr(mechanism) for mechanism in self.mechanisms[:8]]
        if len(self) > 8:
            shown.append(f"... {len(self) - 8} more")
        parts = [f"[{', '.join(shown)}]"]
        if self.adjacency is not None:
            parts.append(f"adjacency={self.adjacency!r}")
        if self.group != 1:
            parts.append(f"group={self.group}")
        return f"Plan({', '.join(parts)})"

    def _repr_html_(self) -> str:
        from ._html import table

        rows = [
            (m.name or "", m.kind, ", ".join(f"{k} = {_short(v)}" for k, v in m.parameters.items()),
             "" if m.rate is None else f"{m.rate:g}", str(m.count))
            for m in self.mechanisms[:20]
        ]
        if len(self) > 20:
            rows.append((f"{len(self) - 20} more", "", "", "", ""))
        title = ", ".join(
            part for part in (self.adjacency, f"groups of {self.group}" if self.group != 1 else None) if part
        )
        return table(("name", "mechanism", "parameters", "rate", "count"), rows, title)


def _short(value: object) -> str:
    if isinstance(value, list):
        return f"{len(value)} numbers"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _restore(cls: type[Plan], text: str) -> Plan:
    """Restores a pickled plan."""
    return cls.from_text(text)


def compose(
    mechanisms: Iterable[Mechanism] | Mechanism,
    *,
    adjacency: Adjacency | None = None,
    group: int | None = None,
) -> Plan:
    """Composes mechanisms to a plan.

    Parameters
    ----------
    mechanisms
        A mechanism or a list of them.
    adjacency
        The neighbouring relation: "add-remove" or "replace". It is needed where it makes a difference: for samples of
        the data and parts of it.
    group
        The number of people who are protected together; one if None.

    Returns
    -------
    Plan
        The plan, which computes epsilon, delta, error rates and losses.

    Raises
    ------
    counterpoint.InvalidArgumentError
        There is no mechanism, a needed adjacency is missing, or nothing is proved of a mechanism under the adjacency.

    Examples
    --------
    >>> import counterpoint as cp
    >>> plan = cp.compose([cp.Gaussian(sigma=2.0) * 3, cp.Laplace(scale=5.0)])
    >>> float(plan.epsilon(1e-6)) < 6
    True
    """
    return Plan(mechanisms, adjacency=adjacency, group=group)


def load(path: str | os.PathLike[str], *, exact: bool = False) -> Plan:
    """Reads a plan file, TOML or JSON.

    Parameters
    ----------
    path
        The file.
    exact
        Keeps the numbers of guarantees exactly as written, as the program's ``--bits`` does; else a number is the
        double nearest to its text.

    Returns
    -------
    Plan
        The plan.

    Raises
    ------
    counterpoint.InvalidArgumentError
        The file is no legal plan.
    OSError
        The file cannot be read.
    """
    with open(path, "rb") as file:
        data = file.read()
    return Plan(_native.Plan.parse(data, os.fspath(path), exact=exact))


def _alone(tolerance: float | None, route: str | None) -> None:
    if tolerance is not None or route not in (None, "precise"):
        raise InvalidArgumentError("bits is given with tolerance or route; legal: bits alone")


class PreciseAnswer:
    """An answer in arbitrary precision: the true value lies between the decimals ``lower`` and ``upper``.

    Made by :meth:`Plan.epsilon` and :meth:`Plan.delta` with ``bits``.
    """

    __slots__ = ("lower", "theorem", "upper")

    def __init__(self, lower: str, upper: str, theorem: str) -> None:
        self.lower = lower
        self.upper = upper
        self.theorem = theorem

    @property
    def fractions(self) -> tuple[Fraction, Fraction]:
        """Both ends, as fractions."""
        from fractions import Fraction

        return Fraction(self.lower), Fraction(self.upper)

    def __float__(self) -> float:
        """The safe side: a double that is not below the upper end."""
        from fractions import Fraction

        nearest = float(self.upper)
        return nearest if Fraction(nearest) >= Fraction(self.upper) else math.nextafter(nearest, math.inf)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PreciseAnswer):
            return NotImplemented
        return (self.lower, self.upper, self.theorem) == (other.lower, other.upper, other.theorem)

    def __hash__(self) -> int:
        return hash((self.lower, self.upper, self.theorem))

    def __repr__(self) -> str:
        return f"PreciseAnswer(lower={self.lower!r}, upper={self.upper!r}, theorem={self.theorem!r})"


class Comparison:
    """The certified optimum beside the charges of other theorems. Made by :meth:`Plan.compare`.

    Attributes
    ----------
    of
        The quantity compared: "epsilon" or "delta".
    optimal
        The certified optimum.
    others
        By name of the theorem its charge, or the reason why it has none.
    """

    __slots__ = ("of", "optimal", "others")

    def __init__(self, of: Literal["epsilon", "delta"], optimal: Answer, others: dict[Theorem, float | str]) -> None:
        self.of = of
        self.optimal = optimal
        self.others = others

    def ratio(self, theorem: Theorem) -> float:
        """Divides a theorem's charge by the optimum.

        Parameters
        ----------
        theorem
            The theorem's name.

        Returns
        -------
        float
            The ratio.

        Raises
        ------
        counterpoint.InvalidArgumentError
            The theorem is unknown or has no charge here.
        """
        value = self.others.get(theorem)
        if not isinstance(value, float):
            why = f"{theorem} has no value: {value}" if value else f"theorem is {theorem!r}"
            legal = ", ".join(name for name, value in self.others.items() if isinstance(value, float))
            raise InvalidArgumentError(f"{why}; legal: {legal}")
        return value / self.optimal.upper if self.optimal.upper else float("inf")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return (self.of, self.optimal, self.others) == (other.of, other.optimal, other.others)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Comparison({self.of}={self.optimal}, others={self.others})"

    def _rows(self) -> list[tuple[str, str, str]]:
        rows = [("optimal", str(self.optimal), "1")]
        for name, value in self.others.items():
            if isinstance(value, float):
                rows.append((name, f"{value:.6g}", f"{self.ratio(name):.3f}"))
            else:
                rows.append((name, f"none: {value}", ""))
        return rows

    def __str__(self) -> str:
        lines = [f"{name:<18} {value:<24} {ratio}" for name, value, ratio in self._rows()]
        return "\n".join([f"{'theorem':<18} {self.of:<24} times optimal", *lines])

    def _repr_html_(self) -> str:
        from ._html import table

        return table(("theorem", self.of, "times optimal"), self._rows(), "")

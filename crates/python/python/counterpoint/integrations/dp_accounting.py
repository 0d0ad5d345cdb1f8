"""Adapter for Google's dp-accounting: its events as mechanisms, and an accountant in place of its own.

>>> import dp_accounting
>>> from counterpoint.integrations.dp_accounting import Accountant
>>> step = dp_accounting.PoissonSampledDpEvent(0.01, dp_accounting.GaussianDpEvent(1.0))
>>> accountant = Accountant().compose(step, 1000)
>>> accountant.get_epsilon(1e-6) == accountant.epsilon_bracket(1e-6).upper
True

An event means what its documentation says. In ``GaussianDpEvent``, ``LaplaceDpEvent`` and ``DiscreteLaplaceDpEvent``
one person adds at most 1 to the norm; replacing one person by another (``REPLACE_ONE``) changes the sum by up to twice
that. A person who is replaced by a record that counts for nothing (``REPLACE_SPECIAL``) is like one who is removed,
except in a batch that is cut short, where the record may take a place. The data size of such batches is that of the
larger of two neighbours. A parameter without an exact counterpart is rounded by a unit in the last place, to the side
of more loss; noise on a batch that hides a person more than a thousand times over counts as a thousand times.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from dp_accounting.privacy_accountant import PrivacyAccountant

from .._deprecated import renamed
from .._native import Bracket
from ..errors import InvalidArgumentError, NoFiniteEpsilonError
from ..plan import Plan
from ._dp_events import ADD_OR_REMOVE_ONE, REPLACE_ONE, UnsupportedEventError, mechanisms

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._native import Mechanism
    from ..names import Adjacency, Route

__all__ = ["Accountant", "UnsupportedEventError", "mechanisms"]


class Accountant(PrivacyAccountant):  # type: ignore[misc]
    """A dp-accounting accountant whose numbers are certified upper bounds.

    It takes the place of ``PLDAccountant`` and ``RdpAccountant``, in ``calibrate_dp_mechanism`` too.

    Parameters
    ----------
    neighboring_relation
        The relation, of ``dp_accounting.NeighboringRelation``.

    Examples
    --------
    >>> import dp_accounting
    >>> accountant = Accountant().compose(dp_accounting.LaplaceDpEvent(2.0), 10)
    >>> round(accountant.get_epsilon(1e-6), 3)
    4.999
    >>> accountant.plan
    Plan([Laplace(scale=2.0, sensitivity=1.0, count=10)], adjacency='add-remove')
    """

    def __init__(self, neighboring_relation: Any = ADD_OR_REMOVE_ONE) -> None:
        super().__init__(neighboring_relation)
        self._counts: dict[Mechanism, int] = {}
        self._is_private = True
        self._plan: Plan | None = None

    def _maybe_compose(self, event: Any, count: int, do_compose: bool) -> Any:
        try:
            found = mechanisms(event, self.neighboring_relation)
        except UnsupportedEventError as error:
            return self.CompositionErrorDetails(invalid_event=error.event, error_message=str(error))
        except NoFiniteEpsilonError:
            self._is_private = self._is_private and not do_compose
            return None
        if do_compose:
            self._add(found, count)
        return None

    def _add(self, found: Iterable[Mechanism], count: int) -> None:
        self._plan = None
        for mechanism in found:
            single = mechanism.replace(count=1)
            self._counts[single] = self._counts.get(single, 0) + mechanism.count * count

    @property
    def plan(self) -> Plan | None:
        """The composed mechanisms as a plan; None if they cost nothing.

        Raises :class:`counterpoint.errors.NoFiniteEpsilonError` if an event is not private.

        >>> Accountant().plan is None
        True
        """
        if not self._is_private:
            raise NoFiniteEpsilonError("an event is not private; no finite epsilon holds")
        if self._plan is None and self._counts:
            adjacency: Adjacency = "replace" if self.neighboring_relation is REPLACE_ONE else "add-remove"
            listed = [single.replace(count=count) for single, count in self._counts.items()]
            self._plan = Plan(listed, adjacency=adjacency)
        return self._plan

    def epsilon_bracket(self, delta: float, *, tolerance: float | None = None, route: Route | None = None) -> Bracket:
        """The bracket of the least epsilon at a delta.

        Parameters
        ----------
        delta
            A number from 0 to 1.
        tolerance
            The relative width of the bracket; 1e-6 is aimed at if None.
        route
            The method to use; the fastest one if None.

        Returns
        -------
        Bracket
            The epsilon.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Delta is outside its range.

        Examples
        --------
        >>> import dp_accounting
        >>> print(Accountant().compose(dp_accounting.GaussianDpEvent(1.0)).epsilon_bracket(1e-6))
        4.88655 .. 4.88656
        """
        if not 0 <= delta <= 1:
            raise InvalidArgumentError(f"delta is {delta}; legal: a number from 0 to 1")
        plan = self.plan
        if plan is None or delta == 1:
            return Bracket(0.0, 0.0)
        return plan.epsilon(float(delta), tolerance=tolerance, route=route)

    def delta_bracket(self, epsilon: float, *, tolerance: float | None = None, route: Route | None = None) -> Bracket:
        """The bracket of the least delta at an epsilon.

        Parameters
        ----------
        epsilon
            A number from 0 to 1e6.
        tolerance
            The relative width of the bracket; 1e-6 is aimed at if None.
        route
            The method to use; the fastest one if None.

        Returns
        -------
        Bracket
            The delta.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Epsilon is outside its range.

        Examples
        --------
        >>> import dp_accounting
        >>> accountant = Accountant().compose(dp_accounting.LaplaceDpEvent(1.0))
        >>> 0.0 in accountant.delta_bracket(1.0)
        True
        """
        if not epsilon >= 0:
            raise InvalidArgumentError(f"epsilon is {epsilon}; legal: a number of at least 0")
        plan = self.plan
        if plan is None:
            return Bracket(0.0, 0.0)
        return plan.delta(float(epsilon), tolerance=tolerance, route=route)

    def get_epsilon(self, target_delta: float) -> float:
        """An epsilon that holds at a delta: the upper end of :meth:`epsilon_bracket`, or infinity.

        Parameters
        ----------
        target_delta
            A number from 0 to 1.

        Returns
        -------
        float
            The epsilon; that of a wider bracket if no bracket of the usual width can be certified.
        """
        try:
            return self.epsilon_bracket(target_delta).upper
        except NoFiniteEpsilonError:
            return math.inf

    def get_delta(self, target_epsilon: float) -> float:
        """A delta that holds at an epsilon: the upper end of :meth:`delta_bracket`.

        Parameters
        ----------
        target_epsilon
            A number of at least 0. A delta that holds for one epsilon holds for all larger ones.

        Returns
        -------
        float
            The delta; that of a wider bracket if no bracket of the usual width can be certified.

        Raises
        ------
        counterpoint.InvalidArgumentError
            Epsilon is negative or not a number.
        """
        if not target_epsilon >= 0:
            raise InvalidArgumentError(f"target_epsilon is {target_epsilon}; legal: a number of at least 0")
        smaller = min(target_epsilon, 1e6) if target_epsilon >= 1e-100 else 0.0
        try:
            return self.delta_bracket(smaller).upper
        except NoFiniteEpsilonError:
            return 1.0


if not TYPE_CHECKING:
    RENAMED = {"UnsupportedEvent": "UnsupportedEventError"}
    __getattr__ = renamed(__name__, RENAMED)

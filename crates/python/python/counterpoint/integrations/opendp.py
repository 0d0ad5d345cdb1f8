"""Adapter for OpenDP: charges a measurement by its own privacy map.

>>> import opendp.prelude as dp
>>> dp.enable_features("contrib")
>>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
>>> count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=10.0)
>>> mechanism(count, d_in=1)
ApproxDP(epsilon=0.1, delta=0.0)

Only the promise of a measurement's map at ``d_in`` is used, so every OpenDP measurement has a cost here, interactive
ones included. The map of a noise mechanism says less than its noise: where the noise is known, describe it yourself, as
:class:`counterpoint.Laplace` for example.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..errors import InvalidArgumentError, NoFiniteEpsilonError, UnsupportedError
from ..mechanisms import ZCDP, ApproxDP
from ..plan import Plan
from ._orders import tabulated

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .._native import Mechanism
    from ..names import Adjacency

__all__ = ["adjacency", "compose", "mechanism"]

# How far apart neighbours are in the metrics that compare data sets.
ONE_MORE = ("SymmetricDistance", "InsertDeleteDistance", "SymmetricIdDistance")
ONE_CHANGED = ("ChangeOneDistance", "HammingDistance", "ChangeOneIdDistance", "DiscreteDistance")


def mechanism(
    measurement: Any,
    d_in: Any = 1,
    *,
    delta: float | None = None,
    count: int = 1,
    name: str | None = None,
    partition: str | None = None,
) -> Mechanism:
    """The cost of a measurement between data sets at distance ``d_in``, by its map.

    Parameters
    ----------
    measurement
        An OpenDP measurement.
    d_in
        The distance of neighbouring data sets.
    delta
        The point of a privacy profile (``SmoothedMaxDivergence``) to charge; of no use elsewhere.
    count
        The number of times the measurement runs.
    name
        A name for the release.
    partition
        The label of the part of the data that the measurement reads.

    Returns
    -------
    Mechanism
        The guarantee, as ``ApproxDP``, ``ZCDP`` or ``RDP``.

    Raises
    ------
    counterpoint.errors.UnsupportedError
        The measure has no certified counterpart.
    counterpoint.errors.NoFiniteEpsilonError
        The map's distance is infinite.
    counterpoint.InvalidArgumentError
        ``delta`` is given for a measure that is no profile.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> noise = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=2.0)
    >>> mechanism(noise, d_in=1, count=10, name="ages")
    ZCDP(name='ages', rho=0.125, delta=0.0, count=10)
    """
    _check(measurement)
    measure = str(measurement.output_measure.type)
    if delta is not None and measure != "SmoothedMaxDivergence":
        raise InvalidArgumentError(f"delta is {delta}, the measure {measure}; legal: with privacy profiles alone")
    charged = _charge(measure, measurement.map(d_in), delta)
    return charged.replace(count=count, name=name, partition=partition)


def adjacency(measurement: Any, d_in: Any = 1) -> Adjacency:
    """The neighbouring relation that a measurement's cost at ``d_in`` is for.

    One more person is a distance of 1 in ``SymmetricDistance`` and ``InsertDeleteDistance``; one changed person is 2
    there, and 1 in ``ChangeOneDistance``, ``HammingDistance`` and ``DiscreteDistance``. A larger ``d_in`` protects more
    people, and covers both.

    Parameters
    ----------
    measurement
        An OpenDP measurement.
    d_in
        The distance of neighbouring data sets.

    Returns
    -------
    str
        "add-remove" or "replace".

    Raises
    ------
    counterpoint.errors.UnsupportedError
        The input metric does not compare data sets.
    counterpoint.InvalidArgumentError
        ``d_in`` is no number of at least 1.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> adjacency(dp.m.make_randomized_response_bool(0.75))
    'replace'
    """
    _check(measurement)
    metric = str(measurement.input_metric.type)
    if metric.startswith("FrameDistance<"):
        metric = metric[len("FrameDistance<"):-1]
    if isinstance(d_in, bool) or not isinstance(d_in, (int, float)) or not d_in >= 1:
        raise InvalidArgumentError(f"d_in is {d_in!r}; legal: a number of at least 1")
    if metric in ONE_MORE:
        return "add-remove" if d_in < 2 else "replace"
    if metric in ONE_CHANGED:
        return "replace"
    raise UnsupportedError(f"{metric} does not compare data sets; legal: measurements chained to what does, such "
                      f"as {', '.join(ONE_MORE[:2] + ONE_CHANGED[:3])}")


def compose(measurements: Iterable[Any], d_in: Any = 1, *, delta: float | None = None) -> Plan:
    """The plan of measurements on the same data, all at distance ``d_in``.

    Parameters
    ----------
    measurements
        OpenDP measurements.
    d_in
        The distance of neighbouring data sets.
    delta
        The point of privacy profiles to charge.

    Returns
    -------
    Plan
        The plan.

    Raises
    ------
    counterpoint.InvalidArgumentError
        The measurements are for different neighbouring relations.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> space = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
    >>> count = space >> dp.t.then_count() >> dp.m.then_laplace(scale=10.0)
    >>> plan = compose([count] * 100)
    >>> float(plan.epsilon(1e-6)) < dp.c.make_composition([count] * 100).map(1) / 2
    True
    """
    listed = list(measurements)
    relations = sorted({adjacency(one, d_in) for one in listed})
    if len(relations) > 1:
        raise InvalidArgumentError("measurements are for add-remove and replace; legal: one of them")
    charged = [
        mechanism(one, d_in, delta=delta if str(one.output_measure.type) == "SmoothedMaxDivergence" else None)
        for one in listed
    ]
    return Plan(charged, adjacency=relations[0] if relations else None)


def _check(measurement: Any) -> None:
    from opendp.mod import Measurement, Odometer

    if isinstance(measurement, Odometer):
        raise UnsupportedError("an Odometer promises nothing beforehand; legal: a Measurement, such as the "
                          "make_privacy_filter of it")
    if not isinstance(measurement, Measurement):
        raise TypeError(f"measurement is of type {type(measurement).__name__}; legal: an OpenDP Measurement")


def _charge(measure: str, cost: Any, delta: float | None) -> Mechanism:
    """The guarantee of a distance in a measure."""
    if measure == "MaxDivergence":
        return ApproxDP(_finite(measure, cost))
    if measure == "ZeroConcentratedDivergence":
        return ZCDP(_finite(measure, cost))
    if measure in ("Approximate<MaxDivergence>", "FixedSmoothedMaxDivergence"):
        return ApproxDP(_finite(measure, cost[0]), _leak(measure, cost[1]))
    if measure == "Approximate<ZeroConcentratedDivergence>":
        return ZCDP(_finite(measure, cost[0]), _leak(measure, cost[1]))
    if measure == "SmoothedMaxDivergence":
        return _at_a_point(cost, delta)
    if measure == "RenyiDivergence":
        return tabulated(lambda order: float(cost(order)), measure)
    raise UnsupportedError(f"{measure} has no certified counterpart: what its distances promise is not known here")


def _at_a_point(profile: Any, delta: float | None) -> Mechanism:
    if delta is None:
        raise UnsupportedError("SmoothedMaxDivergence is a profile, of which one point can be charged; legal: "
                          "with delta, or the measurement before it was converted")
    return ApproxDP(_finite("SmoothedMaxDivergence", profile.epsilon(delta)), delta)


def _finite(measure: str, cost: Any) -> float:
    value = float(cost)
    if math.isinf(value):
        raise NoFiniteEpsilonError(f"the map's {measure} is infinite; no finite epsilon holds")
    return value


def _leak(measure: str, delta: Any) -> float:
    value = float(delta)
    if value >= 1:
        raise NoFiniteEpsilonError(f"the map's {measure} has a delta of {value}; no finite epsilon holds")
    return value

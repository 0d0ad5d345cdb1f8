"""The translation of dp-accounting's events to mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import singledispatch
from typing import TYPE_CHECKING, Any, Literal

from dp_accounting import dp_event
from dp_accounting.privacy_accountant import NeighboringRelation

from ..errors import InvalidArgumentError, NoFiniteEpsilonError, UnsupportedError
from ..mechanisms import (
    RDP,
    ZCDP,
    ApproxDP,
    Finite,
    Gaussian,
    GaussianBatch,
    GaussianDraws,
    GaussianMixture,
    GaussianSubset,
    Geometric,
    Laplace,
    PrivateSelection,
    RandomizedResponse,
)
from ._orders import tabulated
from ._rounding import down, inverse_down, log_up, root_up, up

if TYPE_CHECKING:
    from .._native import Mechanism

ADD_OR_REMOVE_ONE = NeighboringRelation.ADD_OR_REMOVE_ONE
REPLACE_ONE = NeighboringRelation.REPLACE_ONE
REPLACE_SPECIAL = NeighboringRelation.REPLACE_SPECIAL


class UnsupportedEventError(UnsupportedError):
    """An event has no certified counterpart.

    Parameters
    ----------
    event
        The event.
    why
        The reason.
    """

    event: Any
    """The event, which may be part of the one that was given."""

    def __init__(self, event: Any, why: str) -> None:
        super().__init__(f"{type(event).__name__} has no certified counterpart: {why}")
        self.event = event


def mechanisms(event: Any, neighboring_relation: Any = ADD_OR_REMOVE_ONE) -> list[Mechanism]:
    """Translates an event to mechanisms; to none if it costs nothing.

    Parameters
    ----------
    event
        An event of dp-accounting.
    neighboring_relation
        The relation, of ``dp_accounting.NeighboringRelation``.

    Returns
    -------
    list of Mechanism
        The mechanisms.

    Raises
    ------
    UnsupportedEventError
        No mechanism here costs as much.
    counterpoint.errors.NoFiniteEpsilonError
        The event is not private.
    TypeError
        ``event`` is no event.

    Examples
    --------
    >>> from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
    >>> mechanisms(SelfComposedDpEvent(PoissonSampledDpEvent(0.01, GaussianDpEvent(1.1)), 1000))
    [Gaussian(sigma=1.1, sensitivity=1.0, rate=0.01, count=1000)]
    """
    if not isinstance(event, dp_event.DpEvent):
        raise TypeError(f"event is of type {type(event).__name__}; legal: a DpEvent")
    return _translate(event, NeighboringRelation(neighboring_relation))


@singledispatch
def _translate(event: Any, relation: Any) -> list[Mechanism]:
    raise UnsupportedEventError(event, "it is not known here")


@_translate.register(dp_event.UnsupportedDpEvent)
def _unsupported(event: Any, relation: Any) -> list[Mechanism]:
    raise UnsupportedEventError(event, "it says nothing of what is released")


@_translate.register(dp_event.NoOpDpEvent)
def _nothing(event: Any, relation: Any) -> list[Mechanism]:
    return []


@_translate.register(dp_event.NonPrivateDpEvent)
def _non_private(event: Any, relation: Any) -> list[Mechanism]:
    raise _no_privacy(event)


@_translate.register(dp_event.ComposedDpEvent)
def _composed(event: Any, relation: Any) -> list[Mechanism]:
    found: list[Mechanism] = []
    leak = None
    for part in event.events:
        try:
            found += _translate(part, relation)
        except NoFiniteEpsilonError as error:
            # An unsupported event further on has precedence.
            leak = error
    if leak is not None:
        raise leak
    return found


@_translate.register(dp_event.SelfComposedDpEvent)
def _self_composed(event: Any, relation: Any) -> list[Mechanism]:
    count = _whole("count", event.count)
    inner = _translate(event.event, relation)
    return [mechanism * count for mechanism in inner] if count else []


@_translate.register(dp_event.GaussianDpEvent)
def _gaussian(event: Any, relation: Any) -> list[Mechanism]:
    return _noisy(Gaussian, event, relation)


@_translate.register(dp_event.LaplaceDpEvent)
def _laplace(event: Any, relation: Any) -> list[Mechanism]:
    return _noisy(Laplace, event, relation)


@_translate.register(dp_event.DiscreteLaplaceDpEvent)
def _discrete_laplace(event: Any, relation: Any) -> list[Mechanism]:
    steps = _whole("sensitivity", event.sensitivity) * _moves(relation)
    if not steps:
        return []
    noise = float(event.noise_parameter)
    # At zero the noise is without bound, but dp-accounting has it for none: the side of more loss.
    if noise in (0, math.inf):
        raise _no_privacy(event)
    if not noise >= 1e-100:
        raise InvalidArgumentError(f"noise_parameter is {noise}; legal: 0, or a number of at least 1e-100")
    return [Geometric(inverse_down(noise), steps)]


@_translate.register(dp_event.RandomizedResponseDpEvent)
def _randomized_response(event: Any, relation: Any) -> list[Mechanism]:
    if relation is ADD_OR_REMOVE_ONE:
        raise UnsupportedEventError(event, "without a person's answer there is no output; REPLACE_ONE and "
                                      "REPLACE_SPECIAL have one")
    buckets = _whole("num_buckets", event.num_buckets)
    noise = _probability("noise_parameter", event.noise_parameter)
    if buckets < 1:
        raise InvalidArgumentError(f"num_buckets is {buckets}; legal: a whole number of at least 1")
    if buckets == 1 or noise == 1:
        return []
    if noise == 0:
        raise _no_privacy(event)
    other = noise / buckets
    if relation is REPLACE_ONE:
        return [RandomizedResponse(log_up((1 - noise + other) / other), buckets)]
    # The special record's answer is uniform. Apart by the roundings, never closer.
    same = 1 - noise + other
    any_one = Fraction(1, buckets)
    return [Finite([up(same), down(1 - same)], [down(any_one), up(1 - any_one)])]


@_translate.register(dp_event.MixtureOfGaussiansDpEvent)
def _mixture(event: Any, relation: Any) -> list[Mechanism]:
    if relation is REPLACE_ONE:
        raise UnsupportedEventError(event, "it has no meaning under REPLACE_ONE")
    weights = _weights(event)
    shifts = sorted(shift for shift in weights if shift)
    if not shifts:
        return []
    if event.standard_deviation == 0:
        raise _no_privacy(event)
    sigma = float(event.standard_deviation)
    if len(shifts) == 1:
        rate = None if len(weights) == 1 else min(1.0, up(weights[shifts[0]]))
        return [Gaussian(sigma, shifts[0], rate=rate)]
    # Larger shifts are likelier by the roundings, never less likely.
    chances = [min(1.0, up(weights[shift])) for shift in shifts]
    still = 1 - sum(map(Fraction, chances), Fraction(0))
    if 0.0 in weights and still > Fraction(1, 10**90):
        shifts, chances = [0.0, *shifts], [down(still), *chances]
    return [GaussianMixture(sigma, shifts, chances)]


@_translate.register(dp_event.PoissonSampledDpEvent)
def _poisson_sampled(event: Any, relation: Any) -> list[Mechanism]:
    return _sampled(event, event.event, relation)


def _sampled(event: Any, inner: Any, relation: Any) -> list[Mechanism]:
    """A Poisson sample that an event draws for an inner one."""
    rate = _probability("sampling_probability", event.sampling_probability)
    try:
        releases = _translate(inner, relation)
    except NoFiniteEpsilonError:
        if rate:
            raise
        return []
    if not rate or not releases:
        return []
    if rate == 1:
        return releases
    if _has_trees(inner):
        raise UnsupportedEventError(event, "who is not in the sample moves all who come later in a tree")
    if relation is REPLACE_ONE:
        return [_batch(event, inner, releases, rate)]
    one = _as_one(releases)
    if one is None:
        raise UnsupportedEventError(event, "on a sample are possible one release, or Gaussian ones")
    # A sample of a sample is a smaller one.
    return [one.replace(rate=min(1.0, up(rate * Fraction(1 if one.rate is None else one.rate))))]


def _batch(event: Any, inner: Any, releases: list[Mechanism], rate: Fraction) -> Mechanism:
    """Sums over a Poisson sample, one person's summands being replaced."""
    one = _as_one(releases)
    if not (isinstance(one, Gaussian) and _is_gaussian(inner)):
        raise UnsupportedEventError(event, "under REPLACE_ONE a Poisson sample is proved for Gaussian releases")
    # Another summand is at most twice the largest norm away.
    return GaussianBatch(one.sigma, min(1.0, up(rate)), _legal(event, Fraction(one.sensitivity) / 2, one.sigma, 30))


@_translate.register(dp_event.SampledWithReplacementDpEvent)
def _with_replacement(event: Any, relation: Any) -> list[Mechanism]:
    if relation is not REPLACE_ONE:
        raise UnsupportedEventError(event, "a sample with replacement is proved for REPLACE_ONE")
    draws, records = _whole("sample_size", event.sample_size), _whole("source_dataset_size", event.source_dataset_size)
    one = _of_a_fixed_size(event, relation)
    if one is None:
        return []
    if not draws or not records:
        raise InvalidArgumentError(f"sample_size is {draws} of {records}; legal: at least 1 each")
    if draws > records:
        raise UnsupportedEventError(event, "a sample with replacement is proved for at most the data's size")
    return [GaussianDraws(one.sigma, records, draws, _legal(event, Fraction(one.sensitivity), one.sigma, 5))]


def _of_a_fixed_size(event: Any, relation: Any) -> Gaussian | None:
    """The release that runs on a sample of a fixed size; None if it costs nothing."""
    inner = _translate(event.event, relation)
    if not inner:
        return None
    one = _as_one(inner)
    if not (isinstance(one, Gaussian) and _is_gaussian(event.event)):
        raise UnsupportedEventError(event, "on a sample of a fixed size Gaussian releases are possible")
    return one


@_translate.register(dp_event.SampledWithoutReplacementDpEvent)
def _without_replacement(event: Any, relation: Any) -> list[Mechanism]:
    inner = _translate(event.event, relation)
    if event.sample_size == event.source_dataset_size and relation is not ADD_OR_REMOVE_ONE:
        return inner
    if relation is not REPLACE_ONE:
        raise UnsupportedEventError(event, "a sample of a fixed size is proved for REPLACE_ONE")
    size, whole = _whole("sample_size", event.sample_size), _whole("source_dataset_size", event.source_dataset_size)
    if not 0 < size <= whole:
        raise InvalidArgumentError(f"sample_size is {size} of {whole}; legal: at least 1, at most the data's size")
    one = _of_a_fixed_size(event, relation)
    if one is None:
        return []
    return [GaussianSubset(one.sigma, min(1.0, up(Fraction(size, whole))), one.sensitivity)]


@_translate.register(dp_event.SingleEpochTreeAggregationDpEvent)
def _tree(event: Any, relation: Any) -> list[Mechanism]:
    if relation is ADD_OR_REMOVE_ONE:
        raise UnsupportedEventError(event, "who is added moves all who come later; REPLACE_ONE and REPLACE_SPECIAL do not")
    try:
        steps = [_whole("step_counts", count) for count in event.step_counts]
    except TypeError:
        steps = [_whole("step_counts", event.step_counts)]
    if not steps:
        raise InvalidArgumentError("step_counts is empty; legal: a whole number or some of them")
    # A record is in one tree, and there in one node a level; another in its place moves each by twice as much.
    levels = max(steps).bit_length()
    return [node * levels for node in _noisy(Gaussian, event, relation)] if levels else []


@_translate.register(dp_event.RepeatAndSelectDpEvent)
def _repeat_and_select(event: Any, relation: Any) -> list[Mechanism]:
    inner = _translate(event.event, relation)
    if not inner:
        return []
    if event.mean == 1 and 0 <= event.shape < math.inf:
        # All but Poisson's laws have no run less than one: one it is.
        return inner
    if not (event.mean >= 1 and event.shape >= 0):
        raise InvalidArgumentError(f"mean is {event.mean} and shape is {event.shape}; legal: at least 1, at least 0")
    shape = None if event.shape == math.inf else float(event.shape)
    runs: Literal["poisson", "negative-binomial"] = "poisson" if shape is None else "negative-binomial"
    if any(isinstance(one, PrivateSelection) for one in inner):
        raise UnsupportedEventError(event, "the runs of a selection may have no selection of their own")
    return [PrivateSelection(runs, float(event.mean), inner, shape)]


@_translate.register(dp_event.ZCDpEvent)
def _zcdp(event: Any, relation: Any) -> list[Mechanism]:
    rho, xi = float(event.rho), float(event.xi)
    if not (rho >= 0 and xi >= 0):
        raise InvalidArgumentError(f"rho is {rho} and xi is {xi}; legal: numbers of at least 0")
    if math.isinf(rho + xi):
        raise _no_privacy(event)
    if not xi:
        return [ZCDP(rho)] if rho else []
    if not rho:
        # All divergences at most xi: so is the largest loss.
        return [ApproxDP(xi)]
    start, slope = Fraction(xi), Fraction(rho)
    return [tabulated(lambda order: up(start + slope * Fraction(order)), type(event).__name__)]


@_translate.register(dp_event.TruncatedSubsampledGaussianDpEvent)
def _truncated(event: Any, relation: Any) -> list[Mechanism]:
    if not (event.sampling_probability and event.truncated_batch_size and event.dataset_size):
        return []
    inner = dp_event.GaussianDpEvent(event.noise_multiplier)
    # As in dp-accounting, the data's size is that of the larger of the two.
    people, most = _whole("dataset_size", event.dataset_size), _whole("truncated_batch_size", event.truncated_batch_size)
    if most >= people:
        return _sampled(event, inner, relation)
    share = _probability("sampling_probability", event.sampling_probability)
    if relation is REPLACE_ONE:
        raise UnsupportedEventError(event, "a batch cut short is proved for ADD_OR_REMOVE_ONE")
    if relation is REPLACE_SPECIAL:
        raise UnsupportedEventError(event, "the special record may take a place in a batch cut short; "
                                      "ADD_OR_REMOVE_ONE has none")
    if not _noisy(Gaussian, inner, relation):
        return []
    sigma = float(event.noise_multiplier)
    return [GaussianBatch(sigma, up(share), _legal(event, Fraction(1), sigma, 30), people, most)]


def _no_privacy(event: Any) -> NoFiniteEpsilonError:
    return NoFiniteEpsilonError(f"{type(event).__name__} is not private; no finite epsilon holds")


def _moves(relation: Any) -> int:
    """The number of times a person's largest value fits into the change of a sum."""
    return 2 if relation is REPLACE_ONE else 1


def _legal(event: Any, shift: Fraction, sigma: float, most: int) -> float:
    """The amount that a person moves a sum, rounded up into the legal range: from a thousandth of the noise to ``most`` times it."""
    if shift > most * Fraction(sigma):
        raise UnsupportedEventError(event, f"on such a sample a person may move a sum by {most} times the noise, no more")
    return up(max(shift, Fraction(1e-3) * Fraction(sigma)))


def _noisy(kind: type[Gaussian] | type[Laplace], event: Any, relation: Any) -> list[Mechanism]:
    noise = float(event.noise_multiplier)
    if noise == 0:
        raise _no_privacy(event)
    return [] if noise == math.inf else [kind(noise, float(_moves(relation)))]


def _weights(event: Any) -> dict[float, Fraction]:
    """A mixture's sensitivities with their probabilities."""
    shifts, chances = list(event.sensitivities), list(event.sampling_probs)
    if len(shifts) != len(chances) or not math.isclose(math.fsum(chances), 1, abs_tol=1e-9):
        raise InvalidArgumentError(f"sampling_probs is {chances}; legal: as many as sensitivities, with sum 1")
    weights: dict[float, Fraction] = {}
    for shift, chance in zip(shifts, chances):
        chance = _probability("sampling_probs", chance)
        if not 0 <= shift < math.inf:
            raise InvalidArgumentError(f"sensitivities has {shift}; legal: finite numbers of at least 0")
        if chance:
            weights[float(shift)] = weights.get(float(shift), Fraction(0)) + chance
    return weights


def _as_one(releases: list[Mechanism]) -> Mechanism | None:
    """Releases on one sample as one release, if they are Gaussian or there is only one that can be on a sample."""
    first = releases[0]
    unsampled = (ZCDP, RDP, GaussianSubset, GaussianDraws, GaussianBatch, PrivateSelection)
    if len(releases) == 1 and first.count == 1 and not isinstance(first, unsampled):
        return first
    gaussians = [one for one in releases if isinstance(one, Gaussian) and one.rate is None]
    if len(gaussians) < len(releases):
        return None
    squares = [one.count * (Fraction(one.sensitivity) / Fraction(one.sigma)) ** 2 for one in gaussians]
    return Gaussian(1.0, root_up(sum(squares, Fraction(0))))


def _is_gaussian(event: Any) -> bool:
    """True if an event is Gaussian noise on sums and nothing else, however composed."""
    if isinstance(event, dp_event.ComposedDpEvent):
        return all(map(_is_gaussian, event.events))
    if isinstance(event, dp_event.SelfComposedDpEvent):
        return _is_gaussian(event.event)
    return isinstance(event, (dp_event.GaussianDpEvent, dp_event.NoOpDpEvent))


def _has_trees(event: Any) -> bool:
    """True if an event depends on the order of its input."""
    if isinstance(event, dp_event.SingleEpochTreeAggregationDpEvent):
        return True
    parts = event.events if isinstance(event, dp_event.ComposedDpEvent) else [getattr(event, "event", None)]
    return any(part is not None and _has_trees(part) for part in parts)


def _whole(field: str, value: Any) -> int:
    number = value.__index__() if hasattr(value, "__index__") else None
    if number is None:
        raise TypeError(f"{field} is of type {type(value).__name__}; legal: a whole number")
    if number < 0:
        raise InvalidArgumentError(f"{field} is {number}; legal: a whole number of at least 0")
    return int(number)


def _probability(field: str, value: Any) -> Fraction:
    if not 0 <= value <= 1:
        raise InvalidArgumentError(f"{field} is {value}; legal: a number from 0 to 1")
    return Fraction(float(value))

"""A recorder for training loops: it observes what DP-SGD really does, and compares this with a plan.

>>> import numpy as np
>>> import counterpoint as cp
>>> from counterpoint.recorder import Recorder
>>> rng = np.random.default_rng(1)
>>> plan = cp.compose([cp.Gaussian(sigma=1.0, rate=0.05) * 100], adjacency="add-remove")
>>> recorder = Recorder(plan, examples=1000)
>>> for _ in range(100):
...     batch = np.flatnonzero(rng.random(1000) < 0.05)
...     recorder.step(batch, normaliser=50, clip=1.0, noise_multiplier=1.0)
>>> report = recorder.report()
>>> report.matches, report.plan == plan
(True, True)

:class:`Recorder` takes NumPy arrays, tensors of PyTorch, arrays of JAX, and whatever else converts to a NumPy array.
:func:`counterpoint.integrations.opacus.attach` calls it for loops of Opacus. A recorder keeps two numbers for each
example and a few for each batch size and noise multiplier, but no batches.

Some differences are found by statistical tests. For a loop that does what its plan says, the probability that a report
has any finding by these tests is at most :data:`FALSE_ALARM`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from .errors import InvalidArgumentError
from .mechanisms import Gaussian, Mechanism
from .plan import Plan, compose

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = ["FALSE_ALARM", "Finding", "Recorder", "RunReport"]

FALSE_ALARM = 1e-6
"""The probability, at most, that the tests of one report find a difference in a loop that does what its plan says."""

_SHARE = FALSE_ALARM / 6  # for each test: rate, batch sizes, uses, empty batches, noise of a step, noise of all steps
_ROUNDING = 1e-3  # the relative difference of norms and of noise that is put down to rounding

Kind = Literal[
    "batches", "clip", "clipping", "dropped-batch", "noise", "noise-multiplier", "normaliser", "rate", "repeats",
    "skipped-batches", "steps",
]


class Finding(NamedTuple):
    """A difference between a run and its plan.

    Attributes
    ----------
    kind
        A short name of the difference.
    observed
        The difference itself.
    reason
        The evidence for the difference.
    consequence
        The meaning of the difference for the privacy of the run.
    """

    kind: Kind
    observed: str
    reason: str
    consequence: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.observed} {self.reason} {self.consequence}"


class RunReport:
    """A recorded run beside its plan. Made by :meth:`Recorder.report`.

    The report describes private data, such as the number of examples: it is for those who see the data.

    Attributes
    ----------
    planned
        The plan.
    plan
        The run as it really was, as a plan, or None if no plan holds.
    refusal
        The reason why no plan holds, or None.
    summary
        The run in one sentence.
    findings
        The differences between run and plan.
    assumptions
        The facts that the result rests on and that the recorder did not observe.
    """

    __slots__ = ("assumptions", "findings", "plan", "planned", "refusal", "summary")

    def __init__(
        self, planned: Plan, plan: Plan | None, refusal: str | None, summary: str, findings: tuple[Finding, ...],
        assumptions: tuple[str, ...],
    ) -> None:
        self.planned = planned
        self.plan = plan
        self.refusal = refusal
        self.summary = summary
        self.findings = findings
        self.assumptions = assumptions

    @property
    def matches(self) -> bool:
        """True if no difference was found."""
        return not self.findings

    def __repr__(self) -> str:
        return f"RunReport(plan={self.plan!r}, findings={[finding.kind for finding in self.findings]})"

    def __str__(self) -> str:
        found = [f"{number}. {finding}" for number, finding in enumerate(self.findings, start=1)]
        return "\n".join([
            self.summary,
            f"As a plan: {self.plan!r}." if self.plan is not None else f"As a plan: none. {self.refusal}",
            f"Differences from the plan: {len(found) or 'none'}.",
            *found,
            *(f"Assumed: {assumption}" for assumption in self.assumptions),
        ])


class Recorder:
    """A record of what a training loop does, step by step.

    A step is one noisy sum that the loop releases, whatever the number of micro-batches that it is computed from. The
    recorder sees one process, and of this process only what the loop passes on.

    Parameters
    ----------
    plan
        The plan, or its only mechanism: ``Gaussian`` alone, with one rate. Several are phases of the run, one after
        another. The neighbouring relation is "add-remove".
    examples
        The number of examples that batches are drawn from. Each is one person's.
    clip
        The planned clipping norm; if None, that of the first step.
    """

    def __init__(self, plan: Plan | Mechanism, *, examples: int, clip: float | None = None) -> None:
        self._plan = plan if isinstance(plan, Plan) else compose([plan], adjacency="add-remove")
        if self._plan.adjacency == "replace" or self._plan.group != 1:
            raise InvalidArgumentError(f"plan is {self._plan!r}; legal: adjacency add-remove, without groups")
        phases = self._plan.mechanisms
        rates = {phase.rate for phase in phases}
        if len(rates) != 1 or not all(phase.kind == "gaussian" and phase.partition is None for phase in phases):
            legal = "releases of kind gaussian, with one rate and no partition"
            raise InvalidArgumentError(f"plan is {self._plan!r}; legal: {legal}")
        if isinstance(examples, bool) or not isinstance(examples, (int, np.integer)) or examples < 1:
            raise InvalidArgumentError(f"examples is {examples!r}; legal: a whole number from 1")
        found = next(iter(rates))
        self._rate = 1.0 if found is None else found
        self._multipliers = [phase.parameters["sigma"] / phase.parameters["sensitivity"] for phase in phases]
        self._ends = np.cumsum([phase.count for phase in phases])
        self._examples = int(examples)
        self._clip = None if clip is None else _number("clip", clip)
        self._steps = 0
        self._sizes: Counter[int] = Counter()
        self._uses = np.zeros(self._examples, dtype=np.int64)
        self._last = np.zeros(self._examples, dtype=np.int64)  # the step in which an example was used last, from 1
        self._epochs = _Epochs()
        self._most_copies = 1
        self._skipped = self._skipped_empty = 0
        self._normalisers = _Changes()
        self._own_size = 0
        self._clips = _Changes()
        self._off_plan = _Changes()
        self._unclipped = 0
        self._excess = 0.0
        self._norms_seen = False
        self._noise: dict[float, _Noise] = {}
        self._measured = 0

    def step(
        self, indices: Any, *, normaliser: float, clip: float, noise_multiplier: float, norms: Any = None,
        before: Any = None, after: Any = None,
    ) -> None:
        """Records one step.

        Parameters
        ----------
        indices
            The examples of the batch, as whole numbers from 0. They may be none.
        normaliser
            The number by which the noisy sum is divided.
        clip
            The clipping norm.
        noise_multiplier
            The standard deviation of the noise on the sum, divided by the clipping norm.
        norms
            The norms of the clipped gradients of each example, if they are known.
        before
            The sum of the clipped gradients without noise: an array, or a list, tuple or mapping of such.
        after
            The same sum with noise, and not divided. The noise is measured if both sums are given.

        Raises
        ------
        counterpoint.InvalidArgumentError
            An argument is outside its range, or the two sums differ in shape.
        """
        rows = self._rows(indices)
        normaliser, clip = _number("normaliser", normaliser), _number("clip", clip)
        multiplier = _number("noise_multiplier", noise_multiplier, least=0.0)
        if (before is None) != (after is None):
            raise InvalidArgumentError("one of before and after is given; legal: both or neither")
        sums = None if before is None else _difference(before, after)
        noise = self._noise.setdefault(multiplier, _Noise())
        noise.count += 1
        self._steps += 1
        excess = 0.0
        if norms is not None:
            self._norms_seen = True
            excess = float(_array(_precise(norms)).max(initial=0.0)) / clip
        if sums is not None:
            coordinates, length, squares = sums
            if length > 0:
                excess = max(excess, length / (len(rows) * clip) if len(rows) else math.inf)
            self._measured += 1
            noise.measure(coordinates, squares / clip**2, _SHARE / (self._measured * (self._measured + 1)))
        if not excess <= 1 + _ROUNDING:
            self._unclipped += 1
            self._excess = max(self._excess, math.inf if math.isnan(excess) else excess)
        self._sizes[len(rows)] += 1
        self._normalisers.add(self._steps, normaliser)
        self._own_size += normaliser == len(rows)
        self._clips.add(self._steps, clip)
        phase = int(np.searchsorted(self._ends, self._steps))
        if phase < len(self._multipliers) and not math.isclose(multiplier, self._multipliers[phase], rel_tol=1e-6):
            self._off_plan.add(self._steps, multiplier)
        self._count(rows)

    def skip(self, indices: Any) -> None:
        """Records a batch that was drawn and then not used.

        Parameters
        ----------
        indices
            The examples of the batch, as for :meth:`step`.

        Raises
        ------
        counterpoint.InvalidArgumentError
            An index is outside its range.
        """
        size = len(self._rows(indices))
        self._sizes[size] += 1
        self._skipped += 1
        self._skipped_empty += size == 0

    def report(self) -> RunReport:
        """Compares the steps so far with the plan.

        Returns
        -------
        RunReport
            The run as a plan, and each difference.
        """
        sampling = self._sampling_findings()
        normaliser = self._normaliser_findings()
        noise, sigmas = self._noise_findings()
        clipping = self._clipping_findings()
        plan, refusal = self._observed(sampling + normaliser, clipping, sigmas)
        findings = [*sampling, *normaliser, *self._clip_findings(), *clipping, *noise, *self._step_findings()]
        return RunReport(
            self._plan, plan, refusal, self._summary(sigmas), tuple(findings), tuple(self._assumptions(plan)),
        )

    def _rows(self, indices: Any) -> NDArray[np.int64]:
        found = _array(indices).ravel()
        if found.size == 0:
            return np.zeros(0, dtype=np.int64)
        if found.dtype.kind not in "iu":
            raise InvalidArgumentError(f"indices has numbers of type {found.dtype}; legal: whole numbers")
        if found.min() < 0 or found.max() >= self._examples:
            legal = f"0 to {self._examples - 1}"
            raise InvalidArgumentError(f"indices has {found.min()} to {found.max()}; legal: {legal}")
        return found.astype(np.int64, copy=False)

    def _count(self, rows: NDArray[np.int64]) -> None:
        distinct, copies = np.unique(rows, return_counts=True)
        self._most_copies = max(self._most_copies, int(copies.max(initial=1)))
        self._epochs.add(self._steps, self._last[distinct])
        self._last[distinct] = self._steps
        self._uses[distinct] += 1

    def _sampling_findings(self) -> list[Finding]:
        """Tests if the batches are Poisson samples with the plan's rate."""
        found = self._repeat_findings() + self._skip_findings()
        if not self._steps:
            return found
        drawn, trials = self._drawn()
        chance = _chance_of_count(drawn, trials, self._rate)
        rate = self._rate if chance > _SHARE else drawn / trials
        often = np.bincount(self._uses)
        sizes = _spread(np.array([*self._sizes]), np.array([*self._sizes.values()]), self._examples, rate)
        uses = _spread(np.arange(len(often)), often, self._steps, rate)
        empty = None if uses.is_small or len(self._sizes) == 1 else self._empty_finding()
        if empty is not None:
            return [*found, empty]  # it explains the rate and the spread
        if chance <= _SHARE:
            found.append(self._rate_finding(chance))
        if sizes.is_off or uses.is_off:
            found += self._batch_findings(sizes, uses)
        return found

    def _drawn(self) -> tuple[int, int]:
        """The number of examples in all batches, and the number of examples that could have been drawn."""
        return sum(size * times for size, times in self._sizes.items()), self._sizes.total() * self._examples

    def _rate_finding(self, chance: float) -> Finding:
        drawn, trials = self._drawn()
        mean, planned = drawn / trials * self._examples, self._rate * self._examples
        return Finding(
            "rate", f"A batch has {mean:.6g} of {self._examples} examples on average; planned: {planned:.6g}.",
            f"With the plan's rate a mean so far off has a probability of {_at_most(chance)}.",
            "The plan's epsilon does not hold." if mean > planned else "Smaller samples cost no more than planned.",
        )

    def _batch_findings(self, sizes: _Spread, uses: _Spread) -> list[Finding]:
        """The findings about batches that are no Poisson samples, and about examples that shuffled epochs leave out."""
        smallest, largest = min(self._sizes), max(self._sizes)
        if uses.is_small:
            observed = f"Batches are shuffled: {self._epoch_text()}"
        elif smallest == largest:
            observed = f"All batches have {smallest} examples, drawn anew in each step."
        elif sizes.is_off:
            compared = "less" if sizes.is_small else "more"
            observed = f"Batch sizes, from {smallest} to {largest}, vary {compared} than those of Poisson samples."
        else:
            observed = "Some examples are used more often than others, as with weights or with batches that repeat."
        found = [Finding(
            "batches", observed,
            f"The spread of the batch sizes is {sizes.ratio:.2g} times that of Poisson samples, and the spread of the "
            f"uses of an example is {uses.ratio:.2g} times that; their probability is "
            f"{_at_most(min(sizes.chance, uses.chance))}.",
            "The plan's epsilon does not hold: it rests on independent samples.",
        )]
        covered = self._epochs.covered
        if uses.is_small and covered is not None and 0 < self._examples - covered <= largest:
            found.append(Finding(
                "dropped-batch", f"The last batch of an epoch is dropped: {self._examples - covered} examples.",
                f"Each epoch uses {covered} of {self._examples} examples, in batches of {largest}.",
                "This alone costs nothing. An epoch has one step less than a plan that counts the last batch.",
            ))
        return found

    def _epoch_text(self) -> str:
        epochs = self._epochs
        if epochs.covered is None:
            return "all examples are used almost equally often."
        whole = epochs.number + (epochs.seen == epochs.covered)
        runs = f"in each of {whole} epochs" if epochs.number else "so far"
        return f"{runs} {epochs.covered} of {self._examples} examples are used, each of them once."

    def _repeat_findings(self) -> list[Finding]:
        if self._most_copies == 1:
            return []
        return [Finding(
            "repeats", f"A batch has the same example {self._most_copies} times.", "The indices say so.",
            f"An example moves the sum by up to {self._most_copies} clipping norms; the plan's epsilon does not hold.",
        )]

    def _skip_findings(self) -> list[Finding]:
        if not self._skipped:
            return []
        return [_skipped(f"{self._skipped} batches ({self._skipped_empty} of them empty)", "They had no step.")]

    def _empty_finding(self) -> Finding | None:
        """Tests if empty batches are missing, while the others have the sizes of Poisson samples that are not empty."""
        if self._rate == 1:
            return None
        share = math.exp(self._examples * math.log1p(-self._rate))
        batches, empty = self._sizes.total(), self._sizes[0]
        chance = _chance_of_count(empty, batches, share)
        others = _chance_of_count(self._drawn()[0], (batches - empty) * self._examples, self._rate / (1 - share))
        if empty >= share * batches or chance > _SHARE or others <= _SHARE:
            return None
        expected = f"Of {batches} Poisson samples {share * batches:.3g} are empty on average"
        return _skipped("Empty batches", f"{expected}, of these batches {empty}: probability {_at_most(chance)}.")

    def _normaliser_findings(self) -> list[Finding]:
        normalisers = self._normalisers
        if not normalisers.change:
            return []
        is_own = self._own_size > self._steps / 2
        return [Finding(
            "normaliser",
            "The sum is divided by the size of the batch itself." if is_own else "The normaliser changes.",
            f"The normaliser is {normalisers.text()}, and the size of the batch in {self._own_size} of "
            f"{self._steps} steps.",
            "The released gradient shows the normaliser. If this depends on the batch, it depends on one person, and "
            "the plan's epsilon does not hold. Divide by the expected size.",
        )]

    def _clip_findings(self) -> list[Finding]:
        clips = self._clips
        wanted = self._clip if self._clip is not None else clips.first
        if wanted is None or (not clips.change and clips.first == wanted):
            return []
        return [Finding(
            "clip", f"The clipping norm is {clips.text()}.",
            f"Planned: {_text(wanted)}.",
            "The cost depends on the noise multiplier alone, unless a norm was chosen by looking at the data: such a "
            "choice is a release of its own.",
        )]

    def _clipping_findings(self) -> list[Finding]:
        if not self._unclipped:
            return []
        return [Finding(
            "clipping", f"Gradients are above the clipping norm in {self._unclipped} steps.",
            f"A norm, or that of a sum by its number of examples, is {_text(self._excess)} times the bound.",
            "Nothing bounds the influence of an example: no epsilon holds.",
        )]

    def _noise_findings(self) -> tuple[list[Finding], list[tuple[float, int]]]:
        """The findings about noise, and the observed noise multipliers with their numbers of steps."""
        found = []
        if self._off_plan.count:
            wanted = ", then ".join(map(_text, self._multipliers))
            found.append(Finding(
                "noise-multiplier", f"The noise multiplier is {self._off_plan.text()}; planned: {wanted}.",
                f"The loop declares it in {self._off_plan.count} of {self._steps} steps.",
                "Less noise costs more than planned, more noise less.",
            ))
        sigmas = []
        for place, (declared, noise) in enumerate(self._noise.items(), start=1):
            low, high = _limits(noise.coordinates, noise.squares, _SHARE / (place * (place + 1)))
            agrees = max(low, noise.low) * (1 - _ROUNDING) <= declared <= min(high, noise.high) * (1 + _ROUNDING)
            if agrees:
                sigmas.append((declared, noise.count))
                continue
            # The mean noise would not do: steps with less than this cost more than the others save.
            sigmas.append((noise.least if noise.measured == noise.count else min(noise.least, declared), noise.count))
            found.append(_noise_finding(declared, noise, low, high))
        return found, sigmas

    def _step_findings(self) -> list[Finding]:
        planned = int(self._ends[-1])
        if self._steps == planned:
            return []
        return [Finding(
            "steps", f"The run has {self._steps} steps; planned: {planned}.", "The recorder counts them.",
            "Fewer steps cost no more than planned." if self._steps < planned else
            "The plan's epsilon does not cover the further steps.",
        )]

    def _observed(
        self, sampling: list[Finding], clipping: list[Finding], sigmas: list[tuple[float, int]]
    ) -> tuple[Plan | None, str | None]:
        """The run as a plan, or the reason why there is none."""
        if not self._steps:
            return None, "There are no steps."
        if clipping:
            return None, "Nothing bounds the influence of an example, because gradients exceed the clipping norm."
        if min(sigma for sigma, _ in sigmas) == 0:
            return None, "There are steps without noise."
        kinds = {finding.kind for finding in sampling}
        if kinds <= {"rate"}:
            rate = self._largest_rate() if kinds else self._rate
            parts = [Gaussian(sigma, count=count, rate=None if rate == 1 else rate) for sigma, count in sigmas]
            return compose(parts, adjacency="add-remove"), None
        # Given the batches, replacing an example changes the law of those steps alone that use it, and moves each of
        # their sums by at most two clipping norms for each copy. Their number is at most the largest number of uses. At
        # worst they are the steps with the least noise, since a Gaussian with less noise dominates one with more.
        left, parts = int(self._uses.max()), []
        for sigma, count in sorted(sigmas):
            if left:
                parts.append(Gaussian(sigma, sensitivity=2.0 * self._most_copies, count=min(count, left)))
                left -= min(count, left)
        if not parts:
            return None, "No example was used."
        return compose(parts, adjacency="replace"), None

    def _largest_rate(self) -> float:
        """An upper confidence limit of the rate of Poisson samples."""
        drawn, trials = self._drawn()
        share, bound = drawn / trials, math.log(2 / _SHARE) / trials
        return _root(lambda rate: _divergence(share, rate) - bound, share, 1.0)

    def _summary(self, sigmas: list[tuple[float, int]]) -> str:
        if not self._steps:
            return "The run: no steps."
        drawn, trials = self._drawn()
        shown = " and ".join(f"{_text(sigma)} ({count} steps)" for sigma, count in sigmas[:3])
        return (
            f"The run: {self._steps} steps, {drawn / trials * self._examples:.6g} of {self._examples} examples in a "
            f"batch on average, normaliser {self._normalisers.text()}, clipping norm {self._clips.text()}, noise "
            f"multiplier {shown}{' and others' if len(sigmas) > 3 else ''}."
        )

    def _assumptions(self, plan: Plan | None) -> Iterator[str]:
        yield "the loop passed on every step and all that it releases"
        yield "each example is one person's, and the random numbers are secret"
        if self._measured < self._steps:
            yield f"noise is as declared in the {self._steps - self._measured} steps in which it was not measured"
        if not self._norms_seen:
            seen = "only the norm of the sum was seen" if self._measured else "no norm was seen"
            yield f"each gradient is clipped ({seen})"
        if len(self._noise) > 1 or self._clips.change:
            yield "noise multipliers and clipping norms were chosen before the run"
        if plan is not None and plan.adjacency == "replace":
            yield "the batches and the number of examples are public, and do not depend on the contents of examples"
        elif plan is not None:
            yield "normaliser and clipping norm are public, and do not depend on the number of examples"


def _skipped(what: str, reason: str) -> Finding:
    return Finding(
        "skipped-batches", f"{what} were skipped.", reason,
        "A missing step shows something of a batch, which depends on one person: the plan's epsilon does not hold. An "
        "empty batch is a step, too: noise on the sum zero.",
    )


def _noise_finding(declared: float, noise: _Noise, low: float, high: float) -> Finding:
    if noise.low * (1 - _ROUNDING) > noise.high * (1 + _ROUNDING):
        observed = f"With the noise multiplier {_text(declared)} the noise is not the same in all steps."
        reason = f"It is below {_text(noise.high)} in one step and above {_text(noise.low)} in another."
    else:
        measured = math.sqrt(noise.squares / noise.coordinates)
        observed = f"The noise multiplier is {_text(measured)}; declared: {_text(declared)}."
        reason = f"This is measured in {noise.coordinates} coordinates.{_mistake(declared, low, high)}"
    is_more = min(low, noise.high) > declared
    return Finding(
        "noise", observed, f"{reason} With the declared noise the probability is at most {FALSE_ALARM:g}.",
        f"{'More noise costs less' if is_more else 'Less noise costs more'} than declared; the run as a plan has a "
        "lower confidence limit of the least noise.",
    )


def _mistake(declared: float, low: float, high: float) -> str:
    """The usual mistakes that explain a noise multiplier between two limits, if they are close."""
    if low * 1.2 < high:
        return ""
    mistakes: dict[str, Callable[[float], float]] = {
        "is added to each of {} micro-batches": math.sqrt,
        "is divided by {}, as the number of micro-batches or processes": lambda parts: 1 / parts,
        "is divided by the square root of {}, and added once": lambda parts: 1 / math.sqrt(parts),
    }
    found = []
    for mistake, scale in mistakes.items():
        parts = next((parts for parts in range(2, 129) if low <= declared * scale(parts) <= high), None)
        if parts is not None:
            found.append(mistake.format(parts))
    return f" It would be so if noise {', or '.join(found)}." if found else ""


class _Changes:
    """A number of each step, of which the first and the range are kept."""

    __slots__ = ("change", "count", "first", "largest", "smallest", "start")

    def __init__(self) -> None:
        self.count = self.start = self.change = 0
        self.first: float | None = None
        self.smallest, self.largest = math.inf, -math.inf

    def add(self, step: int, value: float) -> None:
        if self.first is None:
            self.first, self.start = value, step
        elif not self.change and value != self.first:
            self.change = step
        self.count += 1
        self.smallest, self.largest = min(self.smallest, value), max(self.largest, value)

    def text(self) -> str:
        if self.change:
            return f"from {_text(self.smallest)} to {_text(self.largest)} (it changes in step {self.change})"
        return _text(self.smallest) + (f" (first in step {self.start})" if self.start > 1 else "")


class _Epochs:
    """Runs of steps that end before the first step in which an example is used again."""

    __slots__ = ("number", "range", "seen", "start")

    def __init__(self) -> None:
        self.number = self.seen = 0
        self.start = 1
        self.range = (0, 0)

    def add(self, step: int, last: NDArray[np.int64]) -> None:
        if last.max(initial=0) >= self.start:
            least, most = self.range if self.number else (self.seen, self.seen)
            self.range = (min(least, self.seen), max(most, self.seen))
            self.number, self.start, self.seen = self.number + 1, step, 0
        self.seen += len(last)

    @property
    def covered(self) -> int | None:
        """The number of examples that each epoch uses, or None if the numbers differ."""
        if not self.number:
            return self.seen
        return self.range[0] if self.range[0] == self.range[1] else None


class _Noise:
    """The steps with one declared noise multiplier, and the noise that was measured in them."""

    __slots__ = ("coordinates", "count", "high", "least", "low", "measured", "squares")

    def __init__(self) -> None:
        self.count = self.measured = self.coordinates = 0
        self.squares = self.low = 0.0  # the largest lower limit of a step
        self.least = self.high = math.inf  # the smallest lower limit and the smallest upper limit of a step

    def measure(self, coordinates: int, squares: float, chance: float) -> None:
        low, high = _limits(coordinates, squares, chance)
        self.measured += 1
        self.coordinates += coordinates
        self.squares += squares
        self.low, self.least, self.high = max(self.low, low), min(self.least, low), min(self.high, high)


class _Spread(NamedTuple):
    """A spread, divided by that of binomial counts, and a bound on the probability of one so far from them."""

    ratio: float
    chance: float

    @property
    def is_off(self) -> bool:
        return self.chance <= _SHARE

    @property
    def is_small(self) -> bool:
        return self.is_off and self.ratio < 1


def _limits(coordinates: int, squares: float, chance: float) -> tuple[float, float]:
    """Limits that miss the standard deviation of normal noise with probability at most ``chance``.

    The mean of D squares, divided by the variance, is above t > 1 with probability at most exp(-D (t - 1 - ln t) / 2),
    and below t < 1 with at most the same probability (Chernoff's bound).
    """
    if not coordinates:
        return 0.0, math.inf
    wanted = 2 * math.log(2 / chance) / coordinates

    def gap(t: float) -> float:
        return t - 1 - math.log(t) - wanted

    few = _root(gap, 1.0, math.exp(-1 - wanted))
    many = _root(gap, 1.0, 1 + math.sqrt(2 * wanted) + wanted)
    mean = squares / coordinates
    return math.sqrt(mean / many), math.sqrt(mean / few)


def _root(rising: Callable[[float], float], below: float, above: float) -> float:
    """A place where a function is not negative, next to its root, which lies between two places."""
    for _ in range(100):
        middle = (below + above) / 2
        below, above = (below, middle) if rising(middle) >= 0 else (middle, above)
    return above


def _divergence(share: float, rate: float) -> float:
    """The divergence of a coin of probability ``share`` from one of probability ``rate``."""
    total = 0.0
    for p, q in ((share, rate), (1 - share, 1 - rate)):
        if p > 0:
            total += p * math.log(p / q) if q > 0 else math.inf
    return max(0.0, total)


def _chance_of_count(count: int, trials: int, rate: float) -> float:
    """A bound on the probability that a binomial count is so far from its mean, on either side (Chernoff)."""
    return min(1.0, 2 * math.exp(-trials * _divergence(count / trials, rate)))


def _spread(values: NDArray[Any], times: NDArray[Any], trials: int, rate: float) -> _Spread:
    """Compares the spread of independent counts with that of binomial counts.

    The spread is the sum of z^2, at most 9 each, of the standardized counts z. The bound on its probability is
    Chernoff's, with the mean of exp(t z^2) under the binomial law, for the best of some t; on either side.
    """
    mean, variance = trials * rate, trials * rate * (1 - rate)
    if not variance > 0:
        return _Spread(1.0, 1.0)
    reach = 12 * math.sqrt(variance) + 60
    places = np.arange(max(0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach)) + 1, dtype=float)
    steps = np.log((trials - places[:-1]) / places[1:]) + math.log(rate / (1 - rate))
    logs = np.concatenate([[0.0], np.cumsum(steps)])
    law = np.exp(logs - logs.max())
    law /= law.sum()
    squares = np.minimum((places - mean) ** 2 / variance, 9.0)
    number, seen = float(times.sum()), float(times @ np.minimum((values - mean) ** 2 / variance, 9.0))
    expected = number * float(law @ squares)
    best = 0.0
    for tilt in math.copysign(1, seen - expected) * np.geomspace(1e-5, 1e3, 80):
        exponents = tilt * squares
        largest = exponents.max()
        best = min(best, number * (math.log(law @ np.exp(exponents - largest)) + largest) - tilt * seen)
    return _Spread(seen / expected, min(1.0, 2 * math.exp(best)))


def _array(values: Any) -> NDArray[Any]:
    """An array of NumPy. A tensor is copied from its device."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _leaves(tree: Any) -> Iterator[Any]:
    if isinstance(tree, Mapping):
        tree = [tree[key] for key in sorted(tree)]
    if isinstance(tree, (list, tuple)):
        for part in tree:
            yield from _leaves(part)
    else:
        yield tree


def _precise(leaf: Any) -> Any:
    """Numbers of at least single precision: a tensor on its device, or an array of NumPy."""
    if hasattr(leaf, "detach"):
        leaf = leaf.detach()
        return leaf.float() if leaf.element_size() < 4 else leaf
    return np.asarray(leaf, dtype=np.float64)


def _square(leaf: Any) -> float:
    return float((leaf * leaf).sum())


def norm(tree: Any) -> float:
    """The Euclidean norm of all numbers of an array or tensor, or of a list, tuple or mapping of such.

    Parameters
    ----------
    tree
        The numbers.

    Returns
    -------
    float
        The norm.
    """
    return math.sqrt(sum(_square(_precise(leaf)) for leaf in _leaves(tree)))


def _difference(before: Any, after: Any) -> tuple[int, float, float]:
    """The number of coordinates of two sums, the norm of the first, and the squared distance between the two."""
    first, second = [*map(_precise, _leaves(before))], [*map(_precise, _leaves(after))]
    shapes = [tuple(leaf.shape) for leaf in first], [tuple(leaf.shape) for leaf in second]
    if shapes[0] != shapes[1]:
        raise InvalidArgumentError(f"before and after have shapes {shapes[0]} and {shapes[1]}; legal: the same shapes")
    length = math.sqrt(sum(map(_square, first)))
    squares = sum(_square(b - a) for a, b in zip(first, second, strict=True))
    if not math.isfinite(length + squares):
        raise InvalidArgumentError("before or after has numbers that are not finite; legal: finite numbers")
    return sum(map(math.prod, shapes[0])), length, squares


def _number(name: str, value: float, *, least: float | None = None) -> float:
    number = float(value)
    if not math.isfinite(number) or (number <= 0 if least is None else number < least):
        legal = "a finite number above 0" if least is None else f"a finite number from {least:g}"
        raise InvalidArgumentError(f"{name} is {value}; legal: {legal}")
    return number


def _text(number: float) -> str:
    return f"{number:.4g}"


def _at_most(chance: float) -> str:
    return f"at most {max(chance, 1e-300):.1g}"

//! Questions about plans: epsilon and delta, in doubles or in arbitrary precision.

use super::{
    Answer, AskError, Options, PreciseAnswer, bits, choose, curves, effort, mixed, responses,
    selections,
};
use crate::citation::Theorem;
use crate::composition::leak::{self, Remainder, Target};
use crate::composition::{Composition, Guarantees, Plan, RoundingDirection};
use crate::delta_bounds::DeltaBounds;
use crate::loss::Direction;
use crate::methods::Route;
use crate::methods::contour::Contours;
use crate::methods::largest::largest;
use crate::quantity::{Bits, Delta, Epsilon};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::Wide;

impl Plan {
    /// The least epsilon at which the plan is (epsilon, delta)-private.
    ///
    /// Where all releases have loss distributions, the bracket mostly meets the tolerance. Where some have only Rényi
    /// curves, the upper end is the best bound known and the lower end is the cost of a mechanism with these curves.
    /// Where some are known by cells, the ends belong to a pair that dominates them and to a pair that they dominate. A
    /// bracket wider than the tolerance is marked if the tolerance is an aim, and part of an error if it is a promise.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilon(&self, delta: Delta, options: &Options<'_>) -> Result<Answer, AskError> {
        effort::best_answer(
            options,
            |options| self.epsilon_within_tolerance(delta, options),
            || self.worst_of(options, |one| one.cheap_epsilon(delta)),
        )
    }

    /// The least epsilon, or an error if the tolerance is not met.
    pub(super) fn epsilon_within_tolerance(
        &self,
        delta: Delta,
        options: &Options<'_>,
    ) -> Result<Answer, AskError> {
        let ask = |one: &Composition, options: &Options<'_>| {
            one.epsilon(delta, options, &Contours::default())
        };
        let within = |one: &Composition, epsilon: f64| one.is_within(epsilon, delta.get());
        worst(self.compositions.iter(), options, ask, within)
    }

    /// The least delta at which the plan is (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        let ask = |one: &Composition, options: &Options<'_>| one.delta(epsilon, options);
        let within = |one: &Composition, delta: f64| one.is_within(epsilon.get(), delta);
        let ask = |options: &Options<'_>| worst(self.compositions.iter(), options, ask, within);
        effort::best_answer(options, ask, || self.worst_of(options, |one| one.cheap_delta(epsilon)))
    }

    /// The least delta in one direction: the largest `P(S) - e^epsilon Q(S)` over all events S. P is the output with
    /// the person's data for [`Direction::Remove`] and without it for [`Direction::Add`].
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta_towards(
        &self,
        direction: Direction,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Answer, AskError> {
        let towards: Vec<&Composition> = self
            .parts_by_direction()
            .into_iter()
            .map(|(remove, add)| match direction {
                Direction::Remove => remove,
                Direction::Add => add,
            })
            .collect();
        let ask = |one: &Composition, options: &Options<'_>| one.delta(epsilon, options);
        let ask =
            |options: &Options<'_>| worst(towards.iter().copied(), options, ask, |_, _| false);
        effort::best_answer(options, ask, || self.worst_of(options, |one| one.cheap_delta(epsilon)))
    }

    /// The worst of the answers that need no computation; `None` if a route was requested.
    fn worst_of(
        &self,
        options: &Options<'_>,
        ask: impl Fn(&Composition) -> Option<Answer>,
    ) -> Option<Answer> {
        let mut answers = self.compositions.iter().map(ask);
        let first = answers.next().filter(|_| options.route.is_none())??;
        answers.try_fold(first, |one, answer| Some(worse(Some(one), answer?)))
    }

    /// The least epsilon at a delta in arbitrary precision, to an absolute width of 2^-bits, for
    /// plans of (epsilon, delta) guarantees.
    ///
    /// ```
    /// use counterpoint::ask::Bits;
    /// use counterpoint::watch::Watch;
    /// use counterpoint::{Count, Delta, Guarantee, Plan};
    ///
    /// let plan = Plan::new([(Guarantee::pure(0.5)?, Count::new(30)?)])?;
    /// let answer = plan.epsilon_to_bits(Delta::new(1e-6)?, Bits::new(200)?, Watch::none())?;
    /// assert!(answer.lower.starts_with("13.9520075394744"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`AskError::RouteDoesNotApply`] for other plans; see [`AskError`].
    pub fn epsilon_to_bits(
        &self,
        delta: Delta,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        bits::epsilon_to_bits(&self.guarantees_or_error(Route::Precise)?, delta, bits, watch)
    }

    /// The least delta at an epsilon in arbitrary precision, to a relative width of 2^-bits.
    ///
    /// # Errors
    /// As [`Plan::epsilon_to_bits`].
    pub fn delta_to_bits(
        &self,
        epsilon: Epsilon,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        bits::delta_to_bits(&self.guarantees_or_error(Route::Precise)?, epsilon, bits, watch)
    }

    /// True if the plan consists of (epsilon, delta) guarantees alone, as the precise route requires.
    #[must_use]
    pub fn consists_of_guarantees(&self) -> bool {
        self.guarantees().is_some()
    }

    /// The (epsilon, delta) guarantees of which the plan consists, if doubles represent them exactly.
    pub(crate) fn guarantees(&self) -> Option<Guarantees<'_>> {
        let [one] = self.compositions.as_slice() else { return None };
        let above = one.guarantees(RoundingDirection::Up).filter(|_| one.lower_pair.is_none())?;
        (one.guarantees(RoundingDirection::Down)? == above).then_some(above)
    }

    /// The (epsilon, delta) guarantees of the plan, or an error for a route that needs them.
    pub(crate) fn guarantees_or_error(&self, route: Route) -> Result<Guarantees<'_>, AskError> {
        self.guarantees().ok_or_else(|| choose::guarantees_only(route))
    }
}

impl Composition {
    pub(super) fn epsilon(
        &self,
        delta: Delta,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        if let Some(lower_pair) = &self.lower_pair {
            let most = self.upper_composition().epsilon(delta, options, &Contours::default())?;
            let least = lower_pair.epsilon(delta, options, &Contours::default())?;
            return Ok(between(least, most));
        }
        if selections::has_any(self) {
            let by = |whole: &Self| whole.epsilon_without_pairs(delta, options, contours);
            return selections::lesser(self, options, by);
        }
        self.epsilon_without_pairs(delta, options, contours)
    }

    fn epsilon_without_pairs(
        &self,
        delta: Delta,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        if let Some(answer) =
            self.by_responses(options, |list| responses::epsilon(list, delta, options))
        {
            return answer;
        }
        let target = match self.target(delta)? {
            Some(target) => target,
            None => return self.largest(delta),
        };
        options.until_stopped(|options| {
            if options.route == Some(Route::Renyi) || !self.curves.is_empty() {
                choose::check_curve_route(options.route)?;
                return curves::epsilon(self, &target, options);
            }
            if let Some(answer) = curves::least_epsilon(self, &target, options) {
                return Ok(answer);
            }
            let (bracket, route) = mixed::epsilon(&self.losses, &target, options, contours)?;
            let answer = Answer::new(bracket, route, Theorem::DominatingPairs);
            Ok(curves::better_epsilon(self, &target, answer, options))
        })
    }

    /// The answer for randomized responses alone, by the routes for them: the lower end from epsilons rounded down, the
    /// upper end from epsilons rounded up. `None` if there are other losses, or another route was requested.
    fn by_responses(
        &self,
        options: &Options<'_>,
        ask: impl Fn(&Guarantees<'_>) -> Result<Answer, AskError>,
    ) -> Option<Result<Answer, AskError>> {
        if matches!(options.route, Some(Route::Renyi | Route::Lattice)) {
            return None;
        }
        let above = self.guarantees(RoundingDirection::Up)?;
        let below = self.guarantees(RoundingDirection::Down)?;
        let most = ask(&above);
        if above == below {
            return Some(most);
        }
        Some(most.and_then(|most| Ok(between(ask(&below)?, most))))
    }

    /// The part of delta that the leaks leave; `None` if nothing is left.
    fn target(&self, delta: Delta) -> Result<Option<Target>, AskError> {
        match leak::remainder(&self.leaks.above, delta.get()) {
            Remainder::Negative => Err(AskError::below_leak(delta, &self.leaks.above)),
            Remainder::Zero => Ok(None),
            // The lower end of epsilon depends on the lower bounds of the leaks.
            Remainder::Positive(target) => match leak::remainder(&self.leaks.below, delta.get()) {
                Remainder::Positive(more) => Ok(Some(Target { upper: more.upper, ..target })),
                _ => Ok(Some(target)),
            },
        }
    }

    /// The largest loss, for a delta that the leaks use up.
    fn largest(&self, delta: Delta) -> Result<Answer, AskError> {
        let none = AskError::Unbounded { delta: delta.get() };
        let (largest, error) =
            largest(&self.losses).filter(|_| self.curves.is_empty()).ok_or(none)?;
        let bracket = Bracket {
            lower: (largest - error.into()).lower().max(0.0),
            upper: (largest + error.into()).upper(),
        };
        Ok(Answer::new(bracket, Route::Leaks, Theorem::DominatingPairs))
    }

    /// The least delta in one direction, on one part of the data.
    pub(crate) fn delta(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Answer, AskError> {
        self.delta_with_contours(epsilon, options, &Contours::default())
    }

    /// The least delta, reusing the contours of earlier questions.
    pub(super) fn delta_with_contours(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        if let Some(lower_pair) = &self.lower_pair {
            let most = self.upper_composition().delta(epsilon, options)?;
            return Ok(between(lower_pair.delta(epsilon, options)?, most));
        }
        if selections::has_any(self) {
            let by = |whole: &Self| whole.delta_without_pairs(epsilon, options, contours);
            return selections::lesser(self, options, by);
        }
        self.delta_without_pairs(epsilon, options, contours)
    }

    fn delta_without_pairs(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        if let Some(answer) =
            self.by_responses(options, |list| responses::delta(list, epsilon, options))
        {
            return answer;
        }
        let (ends, route, theorem) = options.until_stopped(|options| {
            if options.route == Some(Route::Renyi) || !self.curves.is_empty() {
                choose::check_curve_route(options.route)?;
                return curves::delta(self, epsilon.get(), options);
            }
            if let Some(answer) = curves::least_delta(self, epsilon.get(), options) {
                return Ok(answer);
            }
            let found = match mixed::delta(&self.losses, epsilon.get(), options, contours) {
                Err(refusal @ AskError::ToleranceNotMet { .. }) => {
                    self.delta_near_zero(epsilon.get(), options).ok_or(refusal)
                }
                found => found,
            };
            Ok(curves::better_delta(self, epsilon.get(), found?, options))
        })?;
        Ok(Answer::new(self.with_leaks(ends), route, theorem))
    }

    /// A delta that is nearly zero; any upper bound that shows this is enough.
    fn delta_near_zero(&self, epsilon: f64, options: &Options<'_>) -> Option<(DeltaBounds, Route)> {
        let nothing = |upper: &Wide| *upper <= Wide::from(mixed::NEAR_ZERO);
        if options.route.is_none()
            && let Some(upper) = curves::renyi_delta(self, epsilon).filter(nothing)
        {
            return Some((DeltaBounds::new(Wide::ZERO, upper), Route::Renyi));
        }
        mixed::delta_near_zero(&self.losses, epsilon, options)
    }

    pub(super) fn with_leaks(&self, ends: DeltaBounds) -> Bracket {
        let lower = leak::with_leaks(&self.leaks.below, ends.lower, ends.lower).lower;
        let upper = leak::with_leaks(&self.leaks.above, ends.upper, ends.upper).upper;
        Bracket { lower: lower.min(upper), upper }
    }

    pub(crate) fn renyi_epsilon(&self, delta: Delta) -> Option<f64> {
        let target = self.target(delta).ok()??;
        curves::renyi_epsilon(&selections::with_deltas(self, Watch::none()), &target)
    }

    /// True if a quick test shows that the composition is (epsilon, delta)-private.
    pub(crate) fn is_within(&self, epsilon: f64, delta: f64) -> bool {
        let target = Delta::new(delta).ok().and_then(|delta| self.target(delta).ok()?);
        target.is_some_and(|target| curves::is_within(self, epsilon, &target))
    }

    /// An upper bound on epsilon, by the largest losses or by Rényi curves.
    fn cheap_epsilon(&self, delta: Delta) -> Option<Answer> {
        let target = self.target(delta).ok()?;
        let by_curves = target
            .and_then(|target| curves::concentrated_epsilon(self, &target))
            .map(|upper| Answer::new(Bracket { lower: 0.0, upper }, Route::Renyi, Theorem::Renyi));
        // The leaks are part of delta; at the largest loss nothing else is left.
        let by_largest = self.largest(delta).ok().map(|answer| {
            let bracket = Bracket { lower: 0.0, ..answer.bracket };
            Answer { bracket, ..answer }
        });
        let both = [by_curves, by_largest].into_iter().flatten();
        both.reduce(|a, b| if b.bracket.upper < a.bracket.upper { b } else { a })
    }

    /// A bracket of delta, between the leaks and the bound by Rényi curves.
    fn cheap_delta(&self, epsilon: Epsilon) -> Option<Answer> {
        let upper = curves::renyi_delta(self, epsilon.get())?;
        let bracket = self.with_leaks(DeltaBounds::new(Wide::ZERO, upper));
        Some(Answer::new(bracket, Route::Renyi, Theorem::Renyi))
    }

    pub(crate) fn renyi_delta(&self, epsilon: Epsilon) -> Option<f64> {
        let whole = selections::with_deltas(self, Watch::none());
        let upper = curves::renyi_delta(&whole, epsilon.get())?;
        Some(self.with_leaks(DeltaBounds::new(Wide::ZERO, upper)).upper)
    }
}

/// The worst of the compositions: each end is the largest of its kind. A requested route may have no answer for some of
/// them, but must give the worst.
pub(super) fn worst<V: Copy>(
    views: impl Iterator<Item = V>,
    options: &Options<'_>,
    ask: impl Fn(V, &Options<'_>) -> Result<Answer, AskError>,
    within: impl Fn(V, f64) -> bool,
) -> Result<Answer, AskError> {
    let (mut worst, mut refused) = (None, Vec::new());
    let mut refusal = AskError::Stopped;
    for view in views {
        // A composition that is no worse than a known answer needs no answer of its own.
        let known = worst.as_ref().filter(|_| options.route.is_none());
        if known.is_some_and(|known: &Answer| within(view, known.bracket.lower)) {
            continue;
        }
        match ask(view, options) {
            Err(
                error @ (AskError::RouteDoesNotApply { .. } | AskError::ToleranceNotMet { .. }),
            ) if options.route.is_some() => {
                refused.push(view);
                refusal = error;
            }
            answer => worst = Some(worse(worst, answer?)),
        }
    }
    let Some(mut worst) = worst else { return Err(refusal) };
    for &view in &refused {
        worst = worse(Some(worst), ask(view, &Options { route: None, ..*options })?);
    }
    if refused.is_empty() || options.route.is_some_and(|route| route.includes(worst.route)) {
        Ok(worst)
    } else {
        Err(refusal)
    }
}

fn worse(one: Option<Answer>, answer: Answer) -> Answer {
    let Some(one) = one else { return answer };
    let above = answer.bracket.upper > one.bracket.upper;
    let (most, least) = if above { (answer, one) } else { (one, answer) };
    let lower = most.bracket.lower.max(least.bracket.lower);
    Answer { bracket: Bracket { lower, ..most.bracket }, ..most }
}

/// The lower end of the dominated pair's answer with the upper end of the dominating pair's.
fn between(below: Answer, above: Answer) -> Answer {
    let lower = below.bracket.lower.min(above.bracket.upper);
    Answer { bracket: Bracket { lower, upper: above.bracket.upper }, ..above }
}

//! Questions about plans of real mechanisms.

use super::{Answer, AskError, Options, PreciseAnswer, bits, choose, curves, pairs};
use crate::bracket::Bracket;
use crate::composition::Composition;
use crate::composition::leak::{self, Remainder, Target};
use crate::composition::{Plan, View};
use crate::loss::Direction;
use crate::quantity::{Bits, Delta, Epsilon};
use crate::rounding::Wide;
use crate::route::mixed::largest::largest;
use crate::route::mixed::smooth::Contours;
use crate::route::{Ends, Route};
use crate::source::Theorem;
use crate::watch::Watch;

impl Plan {
    /// The least epsilon at which the plan is (epsilon, delta)-private.
    ///
    /// Where all releases have loss distributions the bracket keeps the tolerance. Where
    /// some have only Rényi curves the upper end is the best bound known and the lower end
    /// what a mechanism with these curves may cost.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilon(&self, delta: Delta, options: &Options<'_>) -> Result<Answer, AskError> {
        let ask =
            |view: &View, options: &Options<'_>| view.epsilon(delta, options, &Contours::default());
        worst(self.views.iter(), options, ask)
    }

    /// The least delta at which the plan is (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        worst(self.views.iter(), options, |view, options| view.delta(epsilon, options))
    }

    /// The same in one direction: the largest `P(S) - e^epsilon Q(S)` over all events, P being
    /// with the person's data for [`Direction::Remove`] and without for [`Direction::Add`].
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta_towards(
        &self,
        direction: Direction,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Answer, AskError> {
        let views = self.sides().into_iter().map(|(remove, add)| match direction {
            Direction::Remove => remove,
            Direction::Add => add,
        });
        worst(views, options, |view, options| view.delta(epsilon, options))
    }

    /// The least epsilon at a delta in arbitrary precision, for plans of (epsilon, delta)
    /// guarantees.
    ///
    /// # Errors
    /// [`AskError::RouteDoesNotApply`] for other plans; see [`AskError`].
    pub fn epsilon_to_bits(
        &self,
        delta: Delta,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        bits::epsilon_to_bits(self.guaranteed()?, delta, bits, watch)
    }

    /// The least delta at an epsilon in arbitrary precision, likewise.
    ///
    /// # Errors
    /// As [`Plan::epsilon_to_bits`].
    pub fn delta_to_bits(
        &self,
        epsilon: Epsilon,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        bits::delta_to_bits(self.guaranteed()?, epsilon, bits, watch)
    }

    fn guaranteed(&self) -> Result<&Composition, AskError> {
        self.guarantees().ok_or_else(|| choose::for_guarantees(Route::Precise))
    }

    /// The composition of (epsilon, delta) guarantees that the plan is, if it is one.
    #[must_use]
    pub fn guarantees(&self) -> Option<&Composition> {
        match self.views.as_slice() {
            [view] if view.is_responses() && view.above == view.below => Some(&view.above),
            _ => None,
        }
    }
}

impl View {
    pub(super) fn epsilon(
        &self,
        delta: Delta,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        let by_curves = options.route == Some(Route::Renyi);
        if self.is_responses() && !by_curves && options.route != Some(Route::Lattice) {
            let above = super::epsilon(&self.above, delta, options)?;
            if self.above == self.below {
                return Ok(above);
            }
            let below = super::epsilon(&self.below, delta, options)?;
            return Ok(between(below, above));
        }
        let target = match self.target(delta)? {
            Some(target) => target,
            None => return self.largest(delta),
        };
        options.until_stopped(|options| {
            if by_curves || !self.curves.is_empty() {
                choose::for_curves(options.route)?;
                return curves::epsilon(self, &target, options);
            }
            let (bracket, route) = pairs::epsilon(&self.parts, &target, options, contours)?;
            let answer = Answer { bracket, route, theorem: Theorem::DominatingPairs };
            Ok(curves::better_epsilon(self, &target, answer, options))
        })
    }

    /// What the leaks leave of a delta; None if nothing.
    fn target(&self, delta: Delta) -> Result<Option<Target>, AskError> {
        match leak::remainder(&self.above, delta.get()) {
            Remainder::Negative => {
                let least = leak::least_delta(&self.above);
                Err(AskError::BelowLeak { delta: delta.get(), least })
            }
            Remainder::Zero => Ok(None),
            // The lower end has to do with the leaks from below.
            Remainder::Positive(target) => match leak::remainder(&self.below, delta.get()) {
                Remainder::Positive(more) => Ok(Some(Target { upper: more.upper, ..target })),
                _ => Ok(Some(target)),
            },
        }
    }

    /// The largest loss, for a delta that is all leaked.
    fn largest(&self, delta: Delta) -> Result<Answer, AskError> {
        let none = AskError::Unbounded { delta: delta.get() };
        let (largest, error) =
            largest(&self.parts).filter(|_| self.curves.is_empty()).ok_or(none)?;
        let bracket = Bracket {
            lower: (largest - error.into()).lower().max(0.0),
            upper: (largest + error.into()).upper(),
        };
        Ok(Answer { bracket, route: Route::Closed, theorem: Theorem::DominatingPairs })
    }

    /// The least delta in one direction, on one part of the data.
    pub(crate) fn delta(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Answer, AskError> {
        self.delta_near(epsilon, options, &Contours::default())
    }

    /// The same, with the contours of earlier questions at hand.
    pub(super) fn delta_near(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
        contours: &Contours,
    ) -> Result<Answer, AskError> {
        let by_curves = options.route == Some(Route::Renyi);
        if self.is_responses() && !by_curves && options.route != Some(Route::Lattice) {
            let above = super::delta(&self.above, epsilon, options)?;
            if self.above == self.below {
                return Ok(above);
            }
            let below = super::delta(&self.below, epsilon, options)?;
            return Ok(between(below, above));
        }
        let ((lower, upper), route, theorem) = options.until_stopped(|options| {
            if by_curves || !self.curves.is_empty() {
                choose::for_curves(options.route)?;
                return curves::delta(self, epsilon.get(), options);
            }
            let found = match pairs::delta(&self.parts, epsilon.get(), options, contours) {
                Err(refusal @ AskError::ToleranceNotMet { .. }) => {
                    self.delta_near_zero(epsilon.get(), options).ok_or(refusal)
                }
                found => found,
            };
            Ok(curves::better_delta(self, epsilon.get(), found?, options))
        })?;
        Ok(Answer { bracket: self.with_leaks(lower, upper), route, theorem })
    }

    /// A delta that is next to nothing: any bound that says so will do.
    fn delta_near_zero(&self, epsilon: f64, options: &Options<'_>) -> Option<(Ends, Route)> {
        let nothing = |upper: &Wide| *upper <= Wide::from(pairs::NEAR_ZERO);
        if options.route.is_none()
            && let Some(upper) = curves::renyi_delta(self, epsilon).filter(nothing)
        {
            return Some(((Wide::ZERO, upper), Route::Renyi));
        }
        pairs::delta_near_zero(&self.parts, epsilon, options)
    }

    pub(super) fn with_leaks(&self, lower: Wide, upper: Wide) -> Bracket {
        let lower = leak::with_leaks(&self.below, lower, lower).0;
        let upper = leak::with_leaks(&self.above, upper, upper).1;
        Bracket { lower: lower.min(upper), upper }
    }

    pub(crate) fn renyi_epsilon(&self, delta: Delta) -> Option<f64> {
        let target = self.target(delta).ok()??;
        curves::renyi_epsilon(self, &target)
    }

    pub(crate) fn renyi_delta(&self, epsilon: Epsilon) -> Option<f64> {
        let upper = curves::renyi_delta(self, epsilon.get())?;
        Some(self.with_leaks(Wide::ZERO, upper).upper)
    }
}

/// The worst of the views: each end the largest of its kind. A route that was asked for may
/// give none on some of them, but must give the worst.
pub(super) fn worst<V: Copy>(
    views: impl Iterator<Item = V>,
    options: &Options<'_>,
    ask: impl Fn(V, &Options<'_>) -> Result<Answer, AskError>,
) -> Result<Answer, AskError> {
    let (mut worst, mut refused) = (None, Vec::new());
    let mut refusal = AskError::Stopped;
    for view in views {
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
    if refused.is_empty() || options.route == Some(worst.route) { Ok(worst) } else { Err(refusal) }
}

fn worse(one: Option<Answer>, answer: Answer) -> Answer {
    let Some(one) = one else { return answer };
    let above = answer.bracket.upper > one.bracket.upper;
    let (most, least) = if above { (answer, one) } else { (one, answer) };
    let lower = most.bracket.lower.max(least.bracket.lower);
    Answer { bracket: Bracket { lower, ..most.bracket }, ..most }
}

/// Below what dominates, above what is dominated.
fn between(below: Answer, above: Answer) -> Answer {
    let lower = below.bracket.lower.min(above.bracket.upper);
    Answer { bracket: Bracket { lower, upper: above.bracket.upper }, ..above }
}

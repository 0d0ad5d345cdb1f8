//! Questions about plans of real mechanisms.

use super::pairs;
use super::{Answer, AskError, Bound, Comparison, Options, compare, compare_delta, curves};
use crate::bracket::Bracket;
use crate::composition::Composition;
use crate::leak::{self, Room, Target};
use crate::loss::Direction;
use crate::quantity::{Delta, Epsilon};
use crate::rounding::Wide;
use crate::route::sandwich::Ends;
use crate::route::smooth::Contours;
use crate::route::{Route, closed};
use crate::theorem::{Inapplicable, Theorem};
use crate::view::{Plan, View};

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
        worst(&self.views, |view| view.epsilon(delta, options, &Contours::default()))
    }

    /// The least delta at which the plan is (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        worst(&self.views, |view| view.delta(epsilon, options))
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
        worst(views, |view| view.delta(epsilon, options))
    }

    /// Epsilon at a delta, and what other theorems charge.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare(&self, delta: Delta, options: &Options<'_>) -> Result<Comparison, AskError> {
        if let Some(composition) = self.guarantees() {
            return compare(composition, delta, options);
        }
        let optimal = self.epsilon(delta, options)?;
        let formula = |theorem: Theorem, labels: &Composition| theorem.epsilon(labels, delta);
        Ok(Comparison { optimal, others: self.others(formula, |view| view.renyi_epsilon(delta)) })
    }

    /// Delta at an epsilon, and what other theorems charge.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare_delta(
        &self,
        epsilon: Epsilon,
        options: &Options<'_>,
    ) -> Result<Comparison, AskError> {
        if let Some(composition) = self.guarantees() {
            return compare_delta(composition, epsilon, options);
        }
        let optimal = self.delta(epsilon, options)?;
        let formula = |theorem: Theorem, labels: &Composition| theorem.delta(labels, epsilon);
        Ok(Comparison { optimal, others: self.others(formula, |view| view.renyi_delta(epsilon)) })
    }

    /// The composition of (epsilon, delta) guarantees that the plan is, if it is one.
    #[must_use]
    pub fn guarantees(&self) -> Option<&Composition> {
        match self.views.as_slice() {
            [view] if view.is_responses() && view.above == view.below => Some(&view.above),
            _ => None,
        }
    }

    /// The named theorems on the mechanisms' own (epsilon, delta) labels, where they have
    /// such, and the Rényi route.
    fn others(
        &self,
        formula: impl Fn(Theorem, &Composition) -> Result<f64, Inapplicable>,
        renyi: impl Fn(&View) -> Option<f64>,
    ) -> Vec<Bound> {
        let most = |values: Vec<Result<f64, Inapplicable>>| {
            values.into_iter().try_fold(0.0, |most: f64, value| Ok(most.max(value?)))
        };
        let labels: Vec<Option<Composition>> = self.views.iter().map(View::labels).collect();
        let of_labels = |theorem: Theorem| {
            let value = |labels: &Option<Composition>| match labels {
                Some(labels) => formula(theorem, labels),
                None => Err(Inapplicable::because("not every mechanism has an epsilon of its own")),
            };
            Bound { theorem, value: most(labels.iter().map(value).collect()) }
        };
        let none = || Inapplicable::because("a mechanism has no Rényi curve here");
        let renyi = self.views.iter().map(|view| renyi(view).ok_or_else(none)).collect();
        let mut others: Vec<Bound> = Theorem::FORMULAS.map(of_labels).into();
        others.push(Bound { theorem: Theorem::Renyi, value: most(renyi) });
        others
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
        options.obeying(|options| {
            if by_curves || !self.curves.is_empty() {
                return curves::epsilon(self, &target, options);
            }
            let (bracket, route) = pairs::epsilon(&self.parts, &target, options, contours)?;
            let answer = Answer { bracket, route, theorem: Theorem::DominatingPairs };
            Ok(curves::better_epsilon(self, &target, answer, options))
        })
    }

    /// What the leaks leave of a delta; None if nothing.
    fn target(&self, delta: Delta) -> Result<Option<Target>, AskError> {
        match leak::room(&self.above, delta.get()) {
            Room::Negative => {
                let least = leak::least_delta(&self.above);
                Err(AskError::BelowLeak { delta: delta.get(), least })
            }
            Room::Zero => Ok(None),
            // The lower end has to do with the leaks from below.
            Room::Positive(target) => match leak::room(&self.below, delta.get()) {
                Room::Positive(more) => Ok(Some(Target { upper: more.upper, ..target })),
                _ => Ok(Some(target)),
            },
        }
    }

    /// The largest loss, for a delta that is all leaked.
    fn largest(&self, delta: Delta) -> Result<Answer, AskError> {
        let none = AskError::Unbounded { delta: delta.get() };
        let (largest, error) =
            closed::largest(&self.parts).filter(|_| self.curves.is_empty()).ok_or(none)?;
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
        let ((lower, upper), route, theorem) = options.obeying(|options| {
            if by_curves || !self.curves.is_empty() {
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

    fn renyi_epsilon(&self, delta: Delta) -> Option<f64> {
        let target = self.target(delta).ok()??;
        curves::renyi_epsilon(self, &target)
    }

    fn renyi_delta(&self, epsilon: Epsilon) -> Option<f64> {
        let upper = curves::renyi_delta(self, epsilon.get())?;
        Some(self.with_leaks(Wide::ZERO, upper).upper)
    }
}

/// The worst of the views: each end the largest of its kind.
pub(super) fn worst<V>(
    views: impl IntoIterator<Item = V>,
    ask: impl Fn(V) -> Result<Answer, AskError>,
) -> Result<Answer, AskError> {
    let mut worst: Option<Answer> = None;
    for view in views {
        let answer = ask(view)?;
        worst = Some(match worst {
            None => answer,
            Some(other) => {
                let (most, least) = if answer.bracket.upper > other.bracket.upper {
                    (answer, other)
                } else {
                    (other, answer)
                };
                let lower = most.bracket.lower.max(least.bracket.lower);
                Answer { bracket: Bracket { lower, ..most.bracket }, ..most }
            }
        });
    }
    worst.ok_or(AskError::Stopped)
}

/// Below what dominates, above what is dominated.
fn between(below: Answer, above: Answer) -> Answer {
    let lower = below.bracket.lower.min(above.bracket.upper);
    Answer { bracket: Bracket { lower, upper: above.bracket.upper }, ..above }
}

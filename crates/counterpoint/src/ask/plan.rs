//! Questions about plans of real mechanisms.

use super::{Answer, AskError, Bound, Comparison, Options, compare, compare_delta};
use crate::bracket::Bracket;
use crate::leak::{self, Room, Target};
use crate::quantity::{Delta, Epsilon};
use crate::route::sandwich::Failure;
use crate::route::{Route, grid, smooth};
use crate::theorem::Theorem;
use crate::view::{Plan, View};

impl Plan {
    /// The least epsilon at which the plan is (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilon(&self, delta: Delta, options: &Options<'_>) -> Result<Answer, AskError> {
        self.worst(|view| view.epsilon(delta, options))
    }

    /// The least delta at which the plan is (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        self.worst(|view| view.delta(epsilon, options))
    }

    /// Epsilon at a delta, and what other theorems charge.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn compare(&self, delta: Delta, options: &Options<'_>) -> Result<Comparison, AskError> {
        if let Some(composition) = self.guarantees() {
            return compare(composition, delta, options);
        }
        Ok(Comparison { optimal: self.epsilon(delta, options)?, others: self.others() })
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
        Ok(Comparison { optimal: self.delta(epsilon, options)?, others: self.others() })
    }

    /// The composition of (epsilon, delta) guarantees that the plan is, if it is one.
    #[must_use]
    pub fn guarantees(&self) -> Option<&crate::Composition> {
        match self.views.as_slice() {
            [view] if view.is_responses() && view.above == view.below => Some(&view.above),
            _ => None,
        }
    }

    fn others(&self) -> Vec<Bound> {
        Vec::new()
    }

    /// The worst of the views: each end the largest of its kind.
    fn worst(&self, ask: impl Fn(&View) -> Result<Answer, AskError>) -> Result<Answer, AskError> {
        let mut worst: Option<Answer> = None;
        for view in &self.views {
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
}

impl View {
    fn epsilon(&self, delta: Delta, options: &Options<'_>) -> Result<Answer, AskError> {
        if self.is_responses() {
            let above = super::epsilon(&self.above, delta, options)?;
            if self.above == self.below {
                return Ok(above);
            }
            let below = super::epsilon(&self.below, delta, options)?;
            return Ok(between(below, above));
        }
        let target = match leak::room(&self.above, delta.get()) {
            Room::Negative => {
                let least = leak::least_delta(&self.above);
                return Err(AskError::BelowLeak { delta: delta.get(), least });
            }
            Room::Zero => return Err(AskError::Unbounded { delta: delta.get() }),
            Room::Positive(target) => target,
        };
        let tolerance = options.tolerance.get();
        let by = |route: Route| -> Result<Bracket, Failure> {
            match route {
                Route::Lattice => grid::epsilon(&self.parts, &target, tolerance, options.watch),
                _ => smooth::epsilon(&self.parts, &target, tolerance, options.watch),
            }
        };
        let (bracket, route) = first_of(options.route, by, tolerance)?;
        Ok(Answer { bracket, route, theorem: Theorem::Optimal })
    }

    fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        if self.is_responses() {
            let above = super::delta(&self.above, epsilon, options)?;
            if self.above == self.below {
                return Ok(above);
            }
            let below = super::delta(&self.below, epsilon, options)?;
            return Ok(between(below, above));
        }
        let tolerance = options.tolerance.get();
        let by = |route: Route| match route {
            Route::Lattice => grid::delta(&self.parts, epsilon.get(), tolerance, options.watch),
            _ => smooth::delta(&self.parts, epsilon.get(), tolerance, options.watch),
        };
        let ((lower, upper), route) = first_of(options.route, by, tolerance)?;
        let lower = leak::with_leaks(&self.below, lower, lower).0;
        let upper = leak::with_leaks(&self.above, upper, upper).1;
        Ok(Answer { bracket: Bracket { lower, upper }, route, theorem: Theorem::Optimal })
    }
}

/// Below what dominates, above what is dominated.
fn between(below: Answer, above: Answer) -> Answer {
    let lower = below.bracket.lower.min(above.bracket.upper);
    Answer { bracket: Bracket { lower, upper: above.bracket.upper }, ..above }
}

/// The contour where it will do, else the lattice.
fn first_of<T>(
    route: Option<Route>,
    by: impl Fn(Route) -> Result<T, Failure>,
    asked: f64,
) -> Result<(T, Route), AskError> {
    let routes: &[Route] = match route {
        None => &[Route::Contour, Route::Lattice],
        Some(Route::Contour) => &[Route::Contour],
        Some(Route::Lattice) => &[Route::Lattice],
        Some(route) => {
            let reason = "it is for (epsilon, delta) guarantees alone".into();
            return Err(AskError::RouteDoesNotApply { route, reason });
        }
    };
    let mut achieved = f64::INFINITY;
    for &route in routes {
        match by(route) {
            Ok(answer) => return Ok((answer, route)),
            Err(Failure::Stopped) => return Err(AskError::Stopped),
            Err(Failure::TooWide(width)) => achieved = achieved.min(width),
            Err(Failure::TooMuch) => {}
        }
    }
    Err(AskError::ToleranceNotMet { asked, achieved })
}

/// What a delta leaves for the losses themselves.
#[allow(dead_code)]
type Pure = Target;

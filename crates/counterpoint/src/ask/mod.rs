//! Questions about a composition: its epsilon, its delta, its loss distribution, and calibration.

mod account;
mod bits;
mod calibrate;
mod choose;
pub(crate) mod curves;
mod distribution;
mod effort;
mod many;
mod mixed;
mod plan;
mod responses;
mod selections;
pub(crate) mod witness;

pub use crate::methods::precise::PreciseGuarantee;
pub use crate::quantity::Bits;
pub use account::{DirectedLoss, ReleaseLoss};
pub use bits::{PreciseAnswer, PrecisePlan};
pub use calibrate::{CalibrateError, Calibration, Search, Unknown, calibrate};
pub use distribution::{LossAtom, PrivacyLoss};

use crate::citation::Theorem;
use crate::composition::{Leak, leak};
use crate::methods::Route;
use crate::methods::precise::PreciseError;
use crate::quantity::{Delta, Tolerance, format_number};
use crate::watch::{Control, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fractions::ExactError;
use std::cell::Cell;

/// Options that control how a question is answered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The relative width of the bracket; for answers near zero an absolute width of 1e-12. A tolerance that is given
    /// is a promise: if it cannot be met, the error carries the best bracket. The default is an aim: an answer whose
    /// bracket is wider is marked ([`Answer::wide`]).
    pub tolerance: Tolerance,
    /// The route to take; if `None`, the cheapest route that meets the tolerance.
    pub route: Option<Route>,
    /// The callback that observes long computations and may stop them.
    pub watch: Watch<'a>,
    /// The ends of the bracket that the caller needs.
    pub ends: RequestedEnds,
}

/// The ends of a bracket that the caller needs. This matters only for exponential mechanisms composed with others: each
/// end is then computed separately, and one end is faster than both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RequestedEnds {
    /// Both ends.
    #[default]
    Both,
    /// The upper end alone. It may be slightly larger, because Rényi curves are not used; the lower end may be zero.
    Upper,
    /// The lower end alone. The upper end may be infinite, or one for delta. The worst exponential mechanisms are found
    /// by a search. If the answer to a similar question is given, the mechanisms that attained its lower end are used
    /// instead.
    Lower {
        /// The answer to a similar question.
        similar: Option<Answer>,
    },
}

impl Options<'_> {
    /// Asks a question under the same watch. Once the watch says stop, the result is [`AskError::Stopped`], even if
    /// only an optional part of the computation was stopped.
    fn until_stopped<T>(
        &self,
        ask: impl FnOnce(&Options<'_>) -> Result<T, AskError>,
    ) -> Result<T, AskError> {
        let stopped = Cell::new(false);
        let callback = |done: f64| {
            stopped.set(stopped.get() || self.watch.check(done).is_err());
            if stopped.get() { Control::Stop } else { Control::Continue }
        };
        let answer = ask(&Options { watch: Watch::new(&callback), ..*self });
        if stopped.get() { Err(AskError::Stopped) } else { answer }
    }
}

/// A certified answer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The bracket that contains the answer.
    pub bracket: Bracket,
    /// The method that computed the bracket.
    pub route: Route,
    /// The theorem that licenses the answer.
    pub theorem: Theorem,
    /// True if the bracket is wider, relatively, than the tolerance that was promised or aimed at.
    pub wide: bool,
    /// The share that defines the exponential mechanisms from which the lower end of an epsilon is computed, if it is
    /// computed from exponential mechanisms: a mechanism of range eta then has two outcomes, with losses `share` eta
    /// and `share` eta - eta.
    pub share: Option<f64>,
}

impl Answer {
    pub(crate) fn new(bracket: Bracket, route: Route, theorem: Theorem) -> Self {
        Self { bracket, route, theorem, wide: false, share: None }
    }
}

/// Reasons why a question has no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The releases leak more than the given delta, so no finite epsilon exists.
    #[error("delta {} is below the probability of a leak; legal: at least {}", format_number(*.delta), format_number(*.least))]
    BelowLeak {
        /// The given delta.
        delta: f64,
        /// The least delta with a finite epsilon, rounded up.
        least: f64,
    },
    /// The losses are unbounded, and delta leaves no room for their tail.
    #[error(
        "at delta {} no finite epsilon exists, because the losses are unbounded; legal: a larger delta",
        format_number(*.delta)
    )]
    Unbounded {
        /// The given delta.
        delta: f64,
    },
    /// The requested route cannot answer this question.
    #[error("the {route} route does not apply: {reason}")]
    RouteDoesNotApply {
        /// The requested route.
        route: Route,
        /// The reason why it does not apply.
        reason: String,
    },
    /// No route meets the tolerance on this input within its limit on work.
    #[error("no bracket as narrow as {} could be certified; {}", format_number(*.asked), describe_best(*.achieved, .best.as_ref()))]
    ToleranceNotMet {
        /// The requested relative width.
        asked: f64,
        /// The relative width that was reached.
        achieved: f64,
        /// The best answer, if there is one.
        best: Option<Answer>,
    },
    /// A loss distribution is not known.
    #[error(
        "a mechanism is known by its Rényi curve alone, or by cells, and has no loss distribution"
    )]
    NoDistribution,
    /// A loss outside the legal range.
    #[error("loss is {loss:?}; legal: a number from -100000 to 100000")]
    Loss {
        /// The loss.
        loss: f64,
    },
    /// A fraction outside the legal range.
    #[error(transparent)]
    Fraction(#[from] ExactError),
    /// The watch stopped the computation.
    #[error("stopped before an answer was found")]
    Stopped,
}

/// Describes the best result in an error message.
fn describe_best(achieved: f64, best: Option<&Answer>) -> String {
    match best {
        Some(best) => format!("the best is {}, {achieved:.1e} wide", best.bracket),
        None if achieved.is_finite() => format!("the best was {achieved:.1e}"),
        None => "no bracket was found".to_owned(),
    }
}

impl AskError {
    pub(crate) fn below_leak(delta: Delta, leaks: &[Leak]) -> Self {
        Self::BelowLeak { delta: delta.get(), least: leak::least_delta(leaks) }
    }
}

impl From<PreciseError> for AskError {
    fn from(error: PreciseError) -> Self {
        match error {
            PreciseError::BelowLeak { delta, least } => Self::BelowLeak { delta, least },
            PreciseError::TooManyAtoms { .. } => {
                Self::RouteDoesNotApply { route: Route::Precise, reason: error.to_string() }
            }
            PreciseError::TooWide { bits } => {
                let asked = 0.5_f64.powi(bits.get().min(1074) as i32);
                Self::ToleranceNotMet { asked, achieved: f64::INFINITY, best: None }
            }
            PreciseError::Stopped => Self::Stopped,
        }
    }
}

impl From<crate::watch::StopRequest> for AskError {
    fn from(_: crate::watch::StopRequest) -> Self {
        Self::Stopped
    }
}

//! The questions one can ask of a composition.

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
pub(crate) mod witness;

pub use crate::methods::precise::PreciseGuarantee;
pub use crate::quantity::Bits;
pub use account::{DirectedLoss, ReleaseLoss};
pub use bits::{PreciseAnswer, PrecisePlan};
pub use calibrate::{CalibrateError, Calibration, Search, Unknown, calibrate};
pub use distribution::{LossAtom, PrivacyLoss};

use crate::composition::{Leak, leak};
use crate::methods::Route;
use crate::methods::precise::PreciseError;
use crate::quantity::{Delta, Tolerance, plain};
use crate::source::Theorem;
use crate::watch::{Go, Watch};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fractions::ExactError;
use std::cell::Cell;

/// How to answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The relative width of the bracket; absolute 1e-12 for answers near zero. If it was given it
    /// is a promise, kept or an error that carries the best bracket. The default is an aim, and a
    /// bracket that misses it is marked.
    pub tolerance: Tolerance,
    /// The route to take; the cheapest that keeps the tolerance if `None`.
    pub route: Option<Route>,
    /// Who watches long work.
    pub watch: Watch<'a>,
    /// Which ends matter.
    pub ends: Asked,
}

/// Which ends of a bracket matter. It makes a difference for exponential mechanisms among others alone: each end is found by
/// itself there, and one is had sooner than both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Asked {
    /// Both.
    #[default]
    Both,
    /// The upper one alone. It may be a little further up, Rényi curves not being looked at; the lower end may be zero.
    Upper,
    /// The lower one alone. The upper end may be infinite, or one for delta. Which exponential mechanisms are to meet it is
    /// sought for, unless there is an answer to a similar question: then those that met its lower end are taken.
    Lower {
        /// The answer to a similar question.
        like: Option<Answer>,
    },
}

impl Options<'_> {
    /// Asks under the same watch. Once it says stop there is no answer, even if what was stopped
    /// is something one can do without.
    fn until_stopped<T>(
        &self,
        ask: impl FnOnce(&Options<'_>) -> Result<T, AskError>,
    ) -> Result<T, AskError> {
        let stopped = Cell::new(false);
        let callback = |done: f64| {
            stopped.set(stopped.get() || self.watch.at(done).is_err());
            if stopped.get() { Go::Stop } else { Go::On }
        };
        let answer = ask(&Options { watch: Watch::with(&callback), ..*self });
        if stopped.get() { Err(AskError::Stopped) } else { answer }
    }
}

/// A certified answer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The number, as a bracket that contains it.
    pub bracket: Bracket,
    /// How it was computed.
    pub route: Route,
    /// Which theorem licenses it.
    pub theorem: Theorem,
    /// Whether the bracket is wider, relatively, than was promised or aimed at.
    pub wide: bool,
    /// Which exponential mechanisms meet the lower end of an epsilon, where that is theirs: each of range
    /// eta has two outcomes, with losses `share` eta and `share` eta - eta.
    pub share: Option<f64>,
}

impl Answer {
    pub(crate) fn new(bracket: Bracket, route: Route, theorem: Theorem) -> Self {
        Self { bracket, route, theorem, wide: false, share: None }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// The releases leak more than the delta asked about: no finite epsilon does.
    #[error("delta {} is below what the releases leak; the least possible is {}", plain(*.delta), plain(*.least))]
    BelowLeak {
        /// The delta that was asked about.
        delta: f64,
        /// The least delta with a finite epsilon, rounded up.
        least: f64,
    },
    /// The losses have no largest one, and delta leaves no room for their tail.
    #[error(
        "at delta {} no finite epsilon exists: the losses are unbounded; legal: a larger delta",
        plain(*.delta)
    )]
    Unbounded {
        /// The delta that was asked about.
        delta: f64,
    },
    /// A forced route cannot answer this question.
    #[error("the {route} route does not apply: {reason}")]
    RouteDoesNotApply {
        /// The route that was forced.
        route: Route,
        /// Why it does not apply.
        reason: String,
    },
    /// No route keeps the tolerance on this input at a bearable cost.
    #[error("no bracket as narrow as {} could be certified; {}", plain(*.asked), reached(*.achieved, .best.as_ref()))]
    ToleranceNotMet {
        /// The relative width that was asked for.
        asked: f64,
        /// The relative width that was reached.
        achieved: f64,
        /// The best answer, if there is one.
        best: Option<Answer>,
    },
    /// There is no distribution to look at.
    #[error(
        "a mechanism is known by its Rényi curve alone, or by cells, and has no loss distribution"
    )]
    NoDistribution,
    /// A loss that cannot be asked about.
    #[error("loss is {loss:?}; legal: a number from -100000 to 100000")]
    Loss {
        /// The loss.
        loss: f64,
    },
    /// A fraction that cannot be asked about.
    #[error(transparent)]
    Fraction(#[from] ExactError),
    /// The watcher stopped the work.
    #[error("stopped before an answer was found")]
    Stopped,
}

/// What was reached, for people.
fn reached(achieved: f64, best: Option<&Answer>) -> String {
    match best {
        Some(best) => format!("the best is {}, {achieved:.1e} wide", best.bracket),
        None if achieved.is_finite() => format!("the best was {achieved:.1e}"),
        None => "none at all was found".to_owned(),
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

impl From<crate::watch::Stopped> for AskError {
    fn from(_: crate::watch::Stopped) -> Self {
        Self::Stopped
    }
}

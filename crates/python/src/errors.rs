//! The library's errors as exceptions. Their classes are in `counterpoint.errors`.

use counterpoint::OutOfRangeError;
use counterpoint::ask::{AskError, CalibrateError};
#[cfg(feature = "ledger")]
use counterpoint_curator::{AnswerError, ReleaseError};
#[cfg(feature = "ledger")]
use counterpoint_ledger::LedgerError;
use counterpoint_planner::{CostError, PlanningError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
#[cfg(feature = "ledger")]
use pyo3::types::PyDict;
use pyo3::types::PyType;

/// The exception classes that the module raises.
#[derive(Clone, Copy)]
enum ErrorKind {
    InvalidArgument,
    NoFiniteEpsilon,
    ToleranceNotMet,
    OutOfReach,
    Stopped,
    Ledger,
    #[cfg_attr(not(feature = "ledger"), allow(dead_code))]
    Refused,
    Undecided,
    NoRandomness,
    SessionEnded,
}

impl ErrorKind {
    fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "InvalidArgumentError",
            Self::NoFiniteEpsilon => "NoFiniteEpsilonError",
            Self::ToleranceNotMet => "ToleranceNotMetError",
            Self::OutOfReach => "OutOfReachError",
            Self::Stopped => "StoppedError",
            Self::Ledger => "LedgerError",
            Self::Refused => "RefusedError",
            Self::Undecided => "UndecidedError",
            Self::NoRandomness => "NoRandomnessError",
            Self::SessionEnded => "SessionEndedError",
        }
    }

    #[allow(clippy::indexing_slicing, reason = "ten kinds index ten classes")]
    fn class(self, py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
        static CLASSES: [PyOnceLock<Py<PyType>>; 10] = [const { PyOnceLock::new() }; 10];
        CLASSES[self as usize].import(py, "counterpoint.errors", self.name())
    }

    fn error(self, text: String) -> PyErr {
        Python::attach(|py| match self.class(py) {
            Ok(class) => PyErr::from_type(class.clone(), text),
            Err(error) => error,
        })
    }
}

/// An argument outside its range. The text names the argument, its value and the legal range.
pub(crate) fn invalid(text: impl Into<String>) -> PyErr {
    ErrorKind::InvalidArgument.error(text.into())
}

/// A comparison that a bracket does not decide.
pub(crate) fn undecided(comparison: &str) -> PyErr {
    let legal =
        "a smaller tolerance, or .upper (never below the truth) and .lower (never above it)";
    ErrorKind::Undecided.error(format!("{comparison} is undecided; legal: {legal}"))
}

/// An argument of the wrong type.
pub(crate) fn wrong_type(argument: &str, given: &Bound<'_, PyAny>, legal: &str) -> PyErr {
    let kind = given.get_type().name().map_or_else(|_| "an object".to_owned(), |n| n.to_string());
    PyTypeError::new_err(format!("{argument} is of type {kind}; legal: {legal}"))
}

/// A number outside its range, by the argument's name in Python.
pub(crate) fn out_of_range(argument: &str) -> impl Fn(OutOfRangeError) -> PyErr {
    move |error| {
        let OutOfRangeError { value, legal, .. } = error;
        let value = if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
        invalid(format!("{argument} is {value}; legal: {legal}"))
    }
}

pub(crate) fn ask(error: AskError) -> PyErr {
    let text = error.to_string();
    match error {
        AskError::BelowLeak { least, .. } => {
            with_attribute(ErrorKind::NoFiniteEpsilon, text, "least", least)
        }
        AskError::Unbounded { .. } => ErrorKind::NoFiniteEpsilon.error(text),
        AskError::ToleranceNotMet { achieved, best, .. } => {
            let error = with_attribute(ErrorKind::ToleranceNotMet, text, "achieved", achieved);
            match best {
                Some(best) => with_best_answer(&error, &best),
                None => error,
            }
        }
        AskError::Stopped => stopped(),
        _ => invalid(text),
    }
}

/// A progress function stopped the computation.
pub(crate) fn stopped() -> PyErr {
    ErrorKind::Stopped.error(AskError::Stopped.to_string())
}

/// An exception with a number as an attribute.
fn with_attribute(kind: ErrorKind, text: String, name: &str, value: f64) -> PyErr {
    let error = kind.error(text);
    Python::attach(|py| {
        let set = error.value(py).setattr(name, value);
        set.err().unwrap_or(error)
    })
}

/// The exception with the best certified answer as an attribute.
fn with_best_answer(error: &PyErr, best: &counterpoint::Answer) -> PyErr {
    Python::attach(|py| {
        let counterpoint::Bracket { lower, upper } = best.bracket;
        let parts = (lower, upper, best.route.name(), best.theorem.name(), best.wide);
        let answer = py.import("counterpoint._native").and_then(|module| module.getattr("Answer"));
        let answer = answer.and_then(|class| class.call1(parts));
        let set = answer.and_then(|answer| error.value(py).setattr("best", answer));
        set.err().unwrap_or_else(|| error.clone_ref(py))
    })
}

pub(crate) fn calibrate(error: CalibrateError) -> PyErr {
    match error {
        CalibrateError::Ask(error) => ask(error),
        CalibrateError::OutOfReach { .. } => ErrorKind::OutOfReach.error(error.to_string()),
        _ => invalid(error.to_string()),
    }
}

/// An error of planning: a budget that cannot be kept, or an error of composition.
pub(crate) fn planning(error: PlanningError) -> PyErr {
    match error {
        PlanningError::Cost(CostError::Ask(error)) => ask(error),
        PlanningError::OverBudget { .. } => ErrorKind::OutOfReach.error(error.to_string()),
        _ => invalid(error.to_string()),
    }
}

/// The session gives no more answers.
pub(crate) fn session_ended(text: &str) -> PyErr {
    ErrorKind::SessionEnded.error(text.to_owned())
}

/// An error of noise, queries or sessions.
pub(crate) fn mechanisms(error: counterpoint_mechanisms::Error) -> PyErr {
    use counterpoint_mechanisms::Error;

    let text = error.to_string();
    match error {
        Error::Randomness { .. } => ErrorKind::NoRandomness.error(text),
        Error::Exhausted | Error::OtherProcess { .. } => ErrorKind::SessionEnded.error(text),
        Error::Ask(error) => ask(error),
        _ => invalid(text),
    }
}

/// This build has no ledger.
#[cfg(not(feature = "ledger"))]
pub(crate) fn no_ledger() -> PyErr {
    let legal = "a package built without --no-default-features";
    ErrorKind::Ledger.error(format!("this package was built without the ledger; legal: {legal}"))
}

/// An error of a session that is kept in a ledger.
#[cfg(feature = "ledger")]
pub(crate) fn stored(error: counterpoint_curator::Error) -> PyErr {
    use counterpoint_curator::Error;

    let text = error.to_string();
    match error {
        Error::Ledger(error) if matches!(*error, LedgerError::SessionEnded { .. }) => {
            session_ended(&text)
        }
        Error::Ledger(error) => ledger(*error),
        Error::Mechanism(error) => mechanisms(*error),
        Error::Busy { .. } | Error::NotBegun { .. } | Error::Unreadable { .. } => {
            ErrorKind::Ledger.error(text)
        }
        _ => invalid(text),
    }
}

/// An error of a study's release.
#[cfg(feature = "ledger")]
pub(crate) fn release(error: ReleaseError) -> PyErr {
    let text = error.to_string();
    match error {
        ReleaseError::Ledger(error) | ReleaseError::Unanswered(AnswerError::Ledger(error)) => {
            ledger(error)
        }
        ReleaseError::Changed { .. } => {
            ErrorKind::Refused.error(text.replace("with --changed", "with changed=True"))
        }
        refused if refused.is_refusal() => ErrorKind::Refused.error(text),
        ReleaseError::Unanswered(_) => ErrorKind::Ledger.error(text),
        ReleaseError::Stopped => stopped(),
        _ => invalid(text.replace("--data FILE", "data")),
    }
}

#[cfg(feature = "ledger")]
pub(crate) fn ledger(error: LedgerError) -> PyErr {
    let text = error.to_string();
    let LedgerError::Refused(refusal) = error else { return ErrorKind::Ledger.error(text) };
    let error = ErrorKind::Refused.error(text);
    Python::attach(|py| {
        let fill = || -> PyResult<()> {
            let detail = PyDict::new(py);
            detail.set_item("by", &refusal.place)?;
            detail.set_item("what", refusal.what.to_string())?;
            detail.set_item("asked", refusal.asked.to_string())?;
            detail.set_item("left", refusal.left.to_string())?;
            detail.set_item("capacity", refusal.capacity.to_string())?;
            detail.set_item("noise", refusal.noise.as_ref().map(ToString::to_string))?;
            let fits = refusal.room.as_ref().map(counterpoint_wire::ledger::Headroom::phrases);
            detail.set_item("fits", fits)?;
            error.value(py).setattr("detail", detail)
        };
        fill().err().unwrap_or_else(|| error.clone_ref(py))
    })
}

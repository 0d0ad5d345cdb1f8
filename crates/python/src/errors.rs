//! Errors of the library as exceptions. The classes are written in Python, `counterpoint.errors`.

use counterpoint::OutOfRange;
use counterpoint::ask::{AskError, CalibrateError};
#[cfg(feature = "ledger")]
use counterpoint_curator::{ReleaseError, Unanswered};
#[cfg(feature = "ledger")]
use counterpoint_ledger::LedgerError;
use counterpoint_planner::{CostError, PlanningError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
#[cfg(feature = "ledger")]
use pyo3::types::PyDict;
use pyo3::types::PyType;

/// What can go wrong, by the name of the exception that says so.
#[derive(Clone, Copy)]
enum Kind {
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

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::InvalidArgument => "InvalidArgument",
            Self::NoFiniteEpsilon => "NoFiniteEpsilon",
            Self::ToleranceNotMet => "ToleranceNotMet",
            Self::OutOfReach => "OutOfReach",
            Self::Stopped => "Stopped",
            Self::Ledger => "LedgerError",
            Self::Refused => "Refused",
            Self::Undecided => "Undecided",
            Self::NoRandomness => "NoRandomness",
            Self::SessionEnded => "SessionEnded",
        }
    }

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

/// An argument that is not legal; the text names it, its value and the legal range.
pub(crate) fn invalid(text: impl Into<String>) -> PyErr {
    Kind::InvalidArgument.error(text.into())
}

/// A comparison that the ends of a bracket do not decide.
pub(crate) fn undecided(asked: &str) -> PyErr {
    let legal =
        "a smaller tolerance, or .upper (never below the truth) and .lower (never above it)";
    Kind::Undecided.error(format!("{asked} is undecided; legal: {legal}"))
}

/// An argument of the wrong type.
pub(crate) fn wrong_type(argument: &str, given: &Bound<'_, PyAny>, legal: &str) -> PyErr {
    let kind = given.get_type().name().map_or_else(|_| "an object".to_owned(), |n| n.to_string());
    PyTypeError::new_err(format!("{argument} is of type {kind}; legal: {legal}"))
}

/// A number outside of its range, under the name the caller knows it by.
pub(crate) fn out_of_range(argument: &str) -> impl Fn(OutOfRange) -> PyErr {
    move |error| {
        let OutOfRange { value, legal, .. } = error;
        let value = if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
        invalid(format!("{argument} is {value}; legal: {legal}"))
    }
}

pub(crate) fn ask(error: AskError) -> PyErr {
    let text = error.to_string();
    match error {
        AskError::BelowLeak { least, .. } => with(Kind::NoFiniteEpsilon, text, "least", least),
        AskError::Unbounded { .. } => Kind::NoFiniteEpsilon.error(text),
        AskError::ToleranceNotMet { achieved, best, .. } => {
            let error = with(Kind::ToleranceNotMet, text, "achieved", achieved);
            match best {
                Some(best) => carrying(&error, &best),
                None => error,
            }
        }
        AskError::Stopped => stopped(),
        _ => invalid(text),
    }
}

/// A progress function said to stop.
pub(crate) fn stopped() -> PyErr {
    Kind::Stopped.error(AskError::Stopped.to_string())
}

/// The exception with a number beside its text.
fn with(kind: Kind, text: String, name: &str, value: f64) -> PyErr {
    let error = kind.error(text);
    Python::attach(|py| {
        let set = error.value(py).setattr(name, value);
        set.err().unwrap_or(error)
    })
}

/// The exception with the best answer there is.
fn carrying(error: &PyErr, best: &counterpoint::Answer) -> PyErr {
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
        CalibrateError::OutOfReach { .. } => Kind::OutOfReach.error(error.to_string()),
        _ => invalid(error.to_string()),
    }
}

/// Of a study: a budget that cannot be kept, or what certified composition says.
pub(crate) fn planning(error: PlanningError) -> PyErr {
    match error {
        PlanningError::Cost(CostError::Ask(error)) => ask(error),
        PlanningError::OverBudget { .. } => Kind::OutOfReach.error(error.to_string()),
        _ => invalid(error.to_string()),
    }
}

/// A session that gives no more answers.
pub(crate) fn session_ended(text: &str) -> PyErr {
    Kind::SessionEnded.error(text.to_owned())
}

/// Of noise, queries and sessions.
pub(crate) fn mechanisms(error: counterpoint_mechanisms::Error) -> PyErr {
    use counterpoint_mechanisms::Error;

    let text = error.to_string();
    match error {
        Error::Randomness { .. } => Kind::NoRandomness.error(text),
        Error::Exhausted | Error::OtherProcess { .. } => Kind::SessionEnded.error(text),
        Error::Ask(error) => ask(error),
        _ => invalid(text),
    }
}

/// There is none.
#[cfg(not(feature = "ledger"))]
pub(crate) fn no_ledger() -> PyErr {
    let legal = "a package built with it, as it is unless --no-default-features is asked for";
    Kind::Ledger.error(format!("this package was built without the ledger; legal: {legal}"))
}

/// Of sessions that are kept in a ledger.
#[cfg(feature = "ledger")]
pub(crate) fn stored(error: counterpoint_curator::Error) -> PyErr {
    use counterpoint_curator::Error;

    let text = error.to_string();
    match error {
        Error::Ledger(error) if matches!(*error, LedgerError::Over { .. }) => session_ended(&text),
        Error::Ledger(error) => ledger(*error),
        Error::Mechanism(error) => mechanisms(*error),
        Error::Busy { .. } | Error::NotBegun { .. } | Error::Unreadable { .. } => {
            Kind::Ledger.error(text)
        }
        _ => invalid(text),
    }
}

/// Of a release.
#[cfg(feature = "ledger")]
pub(crate) fn release(error: ReleaseError) -> PyErr {
    let text = error.to_string();
    match error {
        ReleaseError::Ledger(error) | ReleaseError::Unanswered(Unanswered::Ledger(error)) => {
            ledger(error)
        }
        ReleaseError::Changed { .. } => {
            Kind::Refused.error(text.replace("with --changed", "with changed=True"))
        }
        refused if refused.is_refusal() => Kind::Refused.error(text),
        ReleaseError::Unanswered(_) => Kind::Ledger.error(text),
        ReleaseError::Stopped => stopped(),
        _ => invalid(text.replace("--data FILE", "data")),
    }
}

#[cfg(feature = "ledger")]
pub(crate) fn ledger(error: LedgerError) -> PyErr {
    let text = error.to_string();
    let LedgerError::Refused(refusal) = error else { return Kind::Ledger.error(text) };
    let error = Kind::Refused.error(text);
    Python::attach(|py| {
        let fill = || -> PyResult<()> {
            let detail = PyDict::new(py);
            detail.set_item("by", &refusal.place)?;
            detail.set_item("what", refusal.what.to_string())?;
            detail.set_item("asked", refusal.asked.to_string())?;
            detail.set_item("left", refusal.left.to_string())?;
            detail.set_item("capacity", refusal.capacity.to_string())?;
            detail.set_item("noise", refusal.noise.as_ref().map(ToString::to_string))?;
            let fits = refusal.room.as_ref().map(counterpoint_wire::ledger::Room::words);
            detail.set_item("fits", fits)?;
            error.value(py).setattr("detail", detail)
        };
        fill().err().unwrap_or_else(|| error.clone_ref(py))
    })
}

//! Code that the soundness tests share: random numbers, inputs, questions, and the checks of an answer against the
//! reference.

pub(crate) mod check;
pub(crate) mod formulas;
pub(crate) mod game;
pub(crate) mod kinds;
pub(crate) mod laws;
pub(crate) mod mechanisms;
pub(crate) mod questions;
pub(crate) mod slots;
pub(crate) mod summary;

pub(crate) use counterpoint_testing::is_full;

use crate::reference::{Losses, Nested, Reference, Staircase};
use counterpoint::Route;
use counterpoint::watch::{Control, Watch};
use counterpoint::{
    Answer, AskError, Count, Delta, Epsilon, Guarantee, Options, Plan, RequestedEnds, Tolerance,
};
use std::cell::Cell;
use std::fmt;

/// (epsilon, delta, count).
pub(crate) type Release = (f64, f64, u64);

/// A question about a composition.
#[derive(Clone, Copy)]
pub(crate) enum Question {
    /// The least epsilon at this delta.
    Epsilon(f64),
    /// The least delta at this epsilon.
    Delta(f64),
}

impl fmt::Debug for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Epsilon(delta) => {
                write!(f, "epsilon at delta {delta:e} ({:#x})", delta.to_bits())
            }
            Self::Delta(epsilon) => {
                write!(f, "delta at epsilon {epsilon:e} ({:#x})", epsilon.to_bits())
            }
        }
    }
}

pub(crate) fn compose(releases: &[Release]) -> Plan {
    let list = releases.iter().map(|&(epsilon, delta, count)| {
        let guarantee = Guarantee::new(epsilon, delta).expect("a legal guarantee");
        (guarantee, Count::new(count).expect("a legal count"))
    });
    Plan::new(list).expect("a legal composition")
}

/// The result of a question.
pub(crate) enum Outcome {
    Answer(Answer),
    Refusal(AskError),
    Panic(String),
}

/// Asks, catching panics; given up when the computation has reported so often how far it is, if that is limited.
pub(crate) fn ask(
    composition: &Plan,
    question: Question,
    route: Option<Route>,
    tolerance: f64,
    limit: Option<u64>,
) -> Outcome {
    let asking = || ask_openly(composition, question, route, tolerance, limit);
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(asking)) {
        Ok(Ok(answer)) => Outcome::Answer(answer),
        Ok(Err(error)) => Outcome::Refusal(error),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let literal = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
            Outcome::Panic(text.or(literal).unwrap_or_default())
        }
    }
}

fn ask_openly(
    composition: &Plan,
    question: Question,
    route: Option<Route>,
    tolerance: f64,
    limit: Option<u64>,
) -> Result<Answer, AskError> {
    let reports = Cell::new(0);
    let count = |_: f64| {
        reports.set(reports.get() + 1);
        if limit.is_some_and(|limit| reports.get() > limit) {
            Control::Stop
        } else {
            Control::Continue
        }
    };
    let watch = Watch::new(&count);
    let tolerance = Tolerance::new(tolerance).expect("a legal tolerance");
    let options = Options { tolerance, route, watch, ends: RequestedEnds::Both };
    match question {
        Question::Epsilon(delta) => {
            composition.epsilon(Delta::new(delta).expect("legal"), &options)
        }
        Question::Delta(epsilon) => {
            composition.delta(Epsilon::new(epsilon).expect("legal"), &options)
        }
    }
}

/// Everything needed to replay a failure.
pub(crate) fn replay(releases: &[Release], question: Question) -> String {
    let shown = releases.iter().take(64).map(|(epsilon, delta, count)| {
        format!(
            "({epsilon:e} {:#x}, {delta:e} {:#x}) x {count}",
            epsilon.to_bits(),
            delta.to_bits()
        )
    });
    let list: Vec<String> = shown.collect();
    format!("{question:?} of {} releases: {}", releases.len(), list.join(", "))
}

/// The epsilons of releases, equal ones together, with how often each occurs.
pub(crate) fn groups(releases: &[Release]) -> Vec<(f64, u64)> {
    let mut list: Vec<(f64, u64)> = Vec::new();
    for &(epsilon, _, count) in releases.iter().filter(|release| release.0 > 0.0) {
        match list.iter_mut().find(|group| group.0.to_bits() == epsilon.to_bits()) {
            Some(group) => group.1 += count,
            None => list.push((epsilon, count)),
        }
    }
    list
}

/// The reference by listing all sign patterns.
pub(crate) fn by_patterns(releases: &[Release]) -> Reference {
    let all = |r: &Release| std::iter::repeat_n(r.0, r.2 as usize);
    let epsilons: Vec<f64> = releases.iter().flat_map(all).collect();
    Reference::new(Losses::Staircase(Staircase::of_patterns(&epsilons)), releases)
}

/// The reference by nested binomial sums.
pub(crate) fn by_counts(releases: &[Release]) -> Reference {
    Reference::new(Losses::Nested(Nested::new(&groups(releases))), releases)
}

/// The reference by dynamic programming over multiples of a step.
pub(crate) fn by_multiples(step: f64, multiples: &[usize], releases: &[Release]) -> Reference {
    Reference::new(Losses::Staircase(Staircase::of_multiples(step, multiples)), releases)
}

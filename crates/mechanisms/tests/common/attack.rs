//! Attacks that were fixed beforehand, as the auditor takes them.

use counterpoint::audit::{Attack, Tally, audit};
use counterpoint::quantity::{Confidence, Delta};

/// Each bound may miss with a chance of 10^-9. A run of a test file makes fewer than a hundred
/// of them: one in ten million that any of them does.
const CONFIDENCE: f64 = 1.0 - 1e-9;

/// Raises an alarm if the event occurs, on each of two neighbours in so many runs.
pub(crate) fn attack(
    runs: u64,
    mut with: impl FnMut() -> bool,
    mut without: impl FnMut() -> bool,
) -> Attack {
    let (mut alarms, mut misses) = (0, 0);
    for _ in 0..runs {
        misses += u64::from(!with());
        alarms += u64::from(without());
    }
    let tally = |count| Tally::new(count, runs).unwrap();
    Attack { false_alarms: tally(alarms), misses: tally(misses) }
}

/// Epsilon is at least this at this delta.
pub(crate) fn epsilon_at_least(attack: Attack, delta: f64) -> f64 {
    let confidence = Confidence::new(CONFIDENCE).unwrap();
    audit(&[attack], Delta::new(delta).unwrap(), confidence).epsilon
}

/// What an attack is worth whose event has these chances on the two neighbours: epsilon, if
/// each chance is moved to its disadvantage by so many standard deviations.
pub(crate) fn worth((with, without): (f64, f64), runs: u64, delta: f64, deviations: f64) -> f64 {
    let moved = |chance: f64, sign: f64| {
        chance + sign * deviations * (chance * (1.0 - chance) / runs as f64).sqrt()
    };
    let (with, without) = (moved(with, -1.0), moved(without, 1.0));
    let alarm = ((with - delta) / without).ln();
    let silence = ((1.0 - without - delta) / (1.0 - with)).ln();
    alarm.max(silence).max(0.0)
}

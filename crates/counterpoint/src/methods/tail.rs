//! Exact methods answer with a tail: the mass of the losses above epsilon under both distributions. The profile is a
//! line in e^epsilon between two atoms, so the inverse question is as exact as the profile.

use super::DeltaBounds;
use crate::composition::leak::Target;
use crate::watch::StopRequest;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, Wide};

/// e^epsilon, its product, a difference and the ends: one good to 2^-98 and five to 2^-102, of p or less.
const DIFFERENCE: f64 = 8.0 * STEP;
/// The error of a line's root: the slack's factors, two products and a difference.
const LINE: f64 = 16.0 * STEP;
/// Two logarithms, each good to 2^-97 of max(1, |ln|), and their difference: a step of |ln| each and these.
const LOGARITHMS: f64 = 4.0;

/// The slack of masses that are bounds already: the products and the difference from which they were computed.
pub(super) const BOUNDS: f64 = 4.0 * STEP;

/// P and Q mass of the losses above an epsilon, each to a relative error of `slack`.
///
/// For any set of outcomes `p - e^eps q` is a lower bound on delta; for this set it is delta itself, or less by at most
/// `slack p`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tail {
    pub(crate) p: Wide,
    pub(crate) q: Wide,
    pub(crate) slack: f64,
}

impl Tail {
    /// The pure delta at the epsilon of this tail: lower and upper end.
    pub(crate) fn delta(&self, epsilon: f64) -> DeltaBounds {
        let scaled = Wide::exp(Dd::from(epsilon)) * self.q;
        // The slack includes the rounding of the difference and of the exponential.
        let error = (self.p + scaled) * Wide::from(2.0 * self.slack + DIFFERENCE);
        let delta = self.p - scaled;
        let lower = delta - error;
        let upper = delta + error;
        DeltaBounds::new(if lower.is_positive() { lower } else { Wide::ZERO }, upper)
    }

    /// Doubles surely below and surely above the epsilon at which the line `p - e^eps q` meets a delta between the ends
    /// of the target; minus infinity if the line never meets it.
    pub(crate) fn root(&self, target: &Target) -> (f64, f64) {
        // Includes the subtraction's rounding, which is relative to p.
        let slack = 2.0 * self.slack + LINE;
        let side = |delta: Wide, slack: f64| {
            let p = self.p * Wide::from(Dd::sum(1.0, slack)) - delta;
            let q = self.q * Wide::from(Dd::sum(1.0, -slack));
            match (p.is_positive(), q.is_positive()) {
                (false, _) => (Dd::from(f64::NEG_INFINITY), 0.0),
                // Without a positive lower bound on the Q mass the line gives no lower bound.
                (true, false) if slack < 0.0 => (Dd::from(f64::NEG_INFINITY), 0.0),
                (true, false) => (Dd::from(f64::INFINITY), 0.0),
                (true, true) => {
                    let (p, q) = (p.ln(), q.ln());
                    (p - q, STEP * (LOGARITHMS + p.hi.abs() + q.hi.abs()))
                }
            }
        };
        let (low, low_error) = side(target.upper, -slack);
        let (high, high_error) = side(target.lower, slack);
        let below = if low.hi.is_finite() { (low - Dd::from(low_error)).lower() } else { low.hi };
        let above =
            if high.hi.is_finite() { (high + Dd::from(high_error)).upper() } else { high.hi };
        (below, above)
    }
}

/// The least epsilon whose pure delta is within the target, given the tail at any epsilon and the largest loss.
///
/// Newton's method in e^eps: the profile is convex there, so every line's root is at or below the answer. The lower end
/// is the last line's root, rounded down; the upper end is checked by the profile itself.
pub(crate) fn solve(
    mut tail: impl FnMut(f64) -> Result<Tail, StopRequest>,
    target: &Target,
    guess: f64,
    largest: Dd,
) -> Result<Bracket, StopRequest> {
    // `high` satisfies the target and `low` is not known to; `lower` is at or below the answer.
    let (mut low, mut high, mut lower) = (f64::NEG_INFINITY, largest.upper(), 0.0_f64);
    let mut at = guess.clamp(0.0, high);
    let mut stride = 0.0_f64;
    for round in 0..200 {
        let line = tail(at)?;
        let (below, above) = line.root(target);
        lower = lower.max(below.min(largest.lower()));
        if line.delta(at).upper <= target.lower {
            high = at;
        } else {
            low = at;
        }
        if high <= above || high <= lower || high <= 0.0 {
            break;
        }
        let middle = 0.5 * low.max(0.0) + 0.5 * high;
        at = if above > low && (round < 8 || round % 2 == 0 || low < 0.0) {
            above.max(0.0)
        } else if above > low {
            // Lines gain little from far away: every other time take a stride, longer each time.
            stride = 2.0 * stride.max(above - low);
            (low + stride).min(middle)
        } else if low < 0.0 {
            // Too far out for a line to help; zero itself may be the answer.
            if round < 4 { middle } else { 0.0 }
        } else {
            // Rounding, or a line from beyond an atom: step out, further each time.
            stride = 2.0 * stride.max(low * f64::EPSILON).max(f64::MIN_POSITIVE);
            (low + stride).min(middle)
        };
        if at <= low || at >= high {
            break;
        }
    }
    Ok(Bracket { lower: lower.min(high), upper: high })
}

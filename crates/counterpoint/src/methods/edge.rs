//! Next to the largest loss: where a target is far below its probability.

use super::largest::{cut, is_far_above, largest, largest_kept};
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::ends::Ends;
use crate::laws::scaled;
use crate::methods::search::both_ends;
use counterpoint_numerics::{Bracket, Dd, STEP, Wide, exp, expm1, rise};

// What the certificates here allow for, each rounded up generously.

/// Four roundings of doubles, twice over: no expression it stands beside has more.
const DOUBLES: f64 = 1e-15;
/// An integral of 128 positive pieces, each of three functions good to 4 u and [`sampled_growth`]'s
/// 64 u in an exponent of at most 50: below 4,000 u.
const INTEGRAL: f64 = 1e-12;
/// For each factor: its mass, good to two steps, and its product in a power.
const FACTOR: f64 = 4.0;
/// A few operations beside those of the factors.
const FEW: f64 = 4.0 * FACTOR;
/// Where the target is so far below the probability of the largest loss that epsilon is next
/// to it: that loss alone makes `delta >= mass (1 - e^(epsilon - largest))`, and losses
/// within the gap make it at most that with their mass.
pub(crate) fn near_the_top(parts: &[Part], target: &Target) -> Option<Bracket> {
    let bracket = next_to_the_top(parts, target)?;
    Some(closer_to_the_top(parts, target, bracket).unwrap_or(bracket))
}

/// The same to first order, which is soon told.
pub(crate) fn next_to_the_top(parts: &[Part], target: &Target) -> Option<Bracket> {
    let (largest, error) = largest(parts)?;
    let (mass, operations) = mass_at_the_top(parts)?;
    let operations = FACTOR + operations;
    let mass = mass * Wide::from((1.0 - operations * STEP).max(0.0));
    if !mass.is_positive() {
        return None;
    }
    let share = (target.upper * mass.recip()).upper(DOUBLES);
    if share >= 0.5 {
        return None;
    }
    let below = Dd::from(-share).ln_1p() * (1.0 + DOUBLES);
    let lower = (largest - Dd::from(error) + below).lower().max(0.0);
    // Above it, delta is at most the mass within the gap times 1 - e^(epsilon - largest).
    let gap = (Dd::from(2.0 * error) - below).upper();
    let within = all_within(parts, gap) * Wide::from(1.0 + operations * STEP);
    let share = (target.lower * within.recip()).lower(DOUBLES).min(share);
    let upper = largest + Dd::from(error) + Dd::from(-share).ln_1p() * (1.0 - DOUBLES);
    Some(Bracket { lower, upper: upper.upper().max(lower) })
}

/// The probability that every loss is its largest, and the operations it took.
fn mass_at_the_top(parts: &[Part]) -> Option<(Wide, f64)> {
    let (mut mass, mut operations) = (Wide::ONE, 0.0);
    for part in parts {
        mass = mass * Wide::from(part.law().top()?.1).powi(part.count);
        operations += FACTOR * part.count as f64;
    }
    Some((mass, operations))
}

/// The probability that every loss is within a gap of its largest, from above but for as many operations.
fn all_within(parts: &[Part], gap: f64) -> Wide {
    let within = |part: &Part| Wide::from(part.law().mass_within(gap)).powi(part.count);
    parts.iter().fold(Wide::ONE, |mass, part| mass * within(part))
}

/// The same bracket, narrowed by [`over_the_top`].
fn closer_to_the_top(parts: &[Part], target: &Target, bracket: Bracket) -> Option<Bracket> {
    both_ends(|epsilon| over_the_top(parts, epsilon).ok_or(()), target, bracket, (60, 1e-13)).ok()
}

/// The pure delta a little below the largest loss, to second order (theory 2.6):
/// with S how far the loss is below the largest, delta is the integral of
/// P(S <= s) e^(s - g) over s up to the gap g, and P(S <= s) lies between the mass at the
/// top times 1 + sum rho(s) and times e^(sum rho(s)).
fn over_the_top(parts: &[Part], epsilon: f64) -> Option<Ends> {
    const PIECES: u32 = 128;
    let (largest, error) = largest_kept(parts)?;
    let gap = largest - Dd::from(epsilon);
    let (short, long) = ((gap - error.into()).lower().max(0.0), (gap + error.into()).upper());
    if !(long > 0.0 && long < 0.1) {
        return None;
    }
    let (mass, operations) = mass_at_the_top(parts)?;
    let excess = |s: f64| -> Option<f64> {
        let of = |part: &Part| Some(part.count as f64 * part.law().growth(s)?);
        let sum = parts.iter().map(of).sum::<Option<f64>>();
        // Beyond, its errors would weigh too much; and nothing would be gained.
        sum.filter(|&sum| sum < 50.0)
    };
    let integral = |gap: f64, at: &dyn Fn(f64, f64) -> Option<f64>| -> Option<f64> {
        let place = |piece: u32| gap * f64::from(piece) / f64::from(PIECES);
        let mut sum = 0.0;
        for piece in 0..PIECES {
            let (from, to) = (place(piece), place(piece + 1));
            sum += at(from, to)? * exp(to - gap) * -expm1(from - to);
        }
        Some(sum)
    };
    let low = integral(short, &|from, _| Some(1.0 + excess(from)?))?;
    let high = integral(long, &|_, to| Some(exp(excess(to)?)))?;
    // Each sum is of positive terms, good to a few units each.
    let slack = INTEGRAL + (FEW + operations) * STEP;
    let cut = Wide::from(cut(parts));
    Some(Ends::new(
        mass * Wide::from(low * (1.0 - slack)),
        mass * Wide::from(high * (1.0 + slack)) + cut,
    ))
}

/// The pure delta a little below the largest loss, by the same two bounds.
pub(crate) fn delta_near_the_top(parts: &[Part], epsilon: f64) -> Option<Ends> {
    if is_far_above(parts, epsilon) {
        return None;
    }
    if let Some(ends) = over_the_top(parts, epsilon) {
        return Some(ends);
    }
    let (largest, error) = largest_kept(parts)?;
    let gap = largest - Dd::from(epsilon);
    if gap.hi > 1e-2 {
        return None;
    }
    let reach = (gap + Dd::from(error)).upper().max(0.0);
    let (least, operations) = mass_at_the_top(parts)?;
    let most = all_within(parts, reach);
    let slack = ((FEW + operations) * STEP).min(0.5);
    let lower = least * scaled(rise(gap - Dd::from(error)), -slack);
    let upper = most * scaled(rise(Dd::from(reach)), slack) + Wide::from(cut(parts));
    Some(Ends { lower, upper })
}

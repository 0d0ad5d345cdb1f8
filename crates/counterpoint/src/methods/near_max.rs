//! Bounds near the largest loss, for targets far below its probability.

use super::largest::{is_far_above, largest, largest_listed, left_out_mass};
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::laws::scaled;
use crate::methods::search::both_ends;
use counterpoint_numerics::{Bracket, Dd, STEP, Wide, exp, expm1, one_minus_exp_neg};

// Allowances of the certificates below, each rounded up generously.

/// Four roundings of doubles, twice over; no expression that it is used for has more.
const DOUBLES: f64 = 1e-15;
/// An integral of 128 positive pieces, each of three functions good to 4 u and [`sampled_growth`]'s
/// 64 u in an exponent of at most 50: below 4,000 u.
const INTEGRAL: f64 = 1e-12;
/// For each factor: its mass, good to two steps, and its product in a power.
const FACTOR: f64 = 4.0;
/// A few operations besides those of the factors.
const FEW: f64 = 4.0 * FACTOR;
/// The least epsilon to second order. If the target is far below the probability of the largest loss, epsilon is next
/// to that loss: the loss alone makes `delta >= mass (1 - e^(epsilon - largest))`, and the losses within the gap make
/// it at most that with their mass.
pub(crate) fn near_max_second_order(parts: &[CountedLoss], target: &Target) -> Option<Bracket> {
    let bracket = near_max_first_order(parts, target)?;
    Some(narrow_near_max(parts, target, bracket).unwrap_or(bracket))
}

/// The least epsilon to first order, which is quickly computed.
pub(crate) fn near_max_first_order(parts: &[CountedLoss], target: &Target) -> Option<Bracket> {
    let (largest, error) = largest(parts)?;
    let (mass, operations) = mass_at_max(parts)?;
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

/// The probability that every loss is its largest, and the number of operations in the product.
fn mass_at_max(parts: &[CountedLoss]) -> Option<(Wide, f64)> {
    let (mut mass, mut operations) = (Wide::ONE, 0.0);
    for part in parts {
        mass = mass * Wide::from(part.law().largest_loss()?.1).powi(part.count);
        operations += FACTOR * part.count as f64;
    }
    Some((mass, operations))
}

/// The probability that every loss is within a gap of its largest, from above except for as many operations.
fn all_within(parts: &[CountedLoss], gap: f64) -> Wide {
    let within = |part: &CountedLoss| Wide::from(part.law().mass_within(gap)).powi(part.count);
    parts.iter().fold(Wide::ONE, |mass, part| mass * within(part))
}

/// Narrows a bracket by [`second_order_delta`].
fn narrow_near_max(parts: &[CountedLoss], target: &Target, bracket: Bracket) -> Option<Bracket> {
    both_ends(|epsilon| second_order_delta(parts, epsilon).ok_or(()), target, bracket, (60, 1e-13))
        .ok()
}

/// The pure delta a little below the largest loss, to second order (theory 2.6). Let S be the distance of the loss from
/// the largest. Then delta is the integral of P(S <= s) e^(s - g) over s up to the gap g, and P(S <= s) lies between
/// the mass at the maximum times 1 + sum rho(s) and times e^(sum rho(s)).
fn second_order_delta(parts: &[CountedLoss], epsilon: f64) -> Option<DeltaBounds> {
    const PIECES: u32 = 128;
    let (largest, error) = largest_listed(parts)?;
    let gap = largest - Dd::from(epsilon);
    let (short, long) = ((gap - error.into()).lower().max(0.0), (gap + error.into()).upper());
    if !(long > 0.0 && long < 0.1) {
        return None;
    }
    let (mass, operations) = mass_at_max(parts)?;
    let excess = |s: f64| -> Option<f64> {
        let of = |part: &CountedLoss| Some(part.count as f64 * part.law().growth(s)?);
        let sum = parts.iter().map(of).sum::<Option<f64>>();
        // Beyond this the errors would weigh too much, and nothing would be gained.
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
    // Each sum has positive terms, each good to a few units.
    let slack = INTEGRAL + (FEW + operations) * STEP;
    let cut = Wide::from(left_out_mass(parts));
    Some(DeltaBounds::new(
        mass * Wide::from(low * (1.0 - slack)),
        mass * Wide::from(high * (1.0 + slack)) + cut,
    ))
}

/// The pure delta a little below the largest loss, by the second-order bounds or else the first-order bounds.
pub(crate) fn delta_near_max(parts: &[CountedLoss], epsilon: f64) -> Option<DeltaBounds> {
    if is_far_above(parts, epsilon) {
        return None;
    }
    if let Some(ends) = second_order_delta(parts, epsilon) {
        return Some(ends);
    }
    let (largest, error) = largest_listed(parts)?;
    let gap = largest - Dd::from(epsilon);
    if gap.hi > 1e-2 {
        return None;
    }
    let reach = (gap + Dd::from(error)).upper().max(0.0);
    let (least, operations) = mass_at_max(parts)?;
    let most = all_within(parts, reach);
    let slack = ((FEW + operations) * STEP).min(0.5);
    let lower = least * scaled(one_minus_exp_neg(gap - Dd::from(error)), -slack);
    let upper =
        most * scaled(one_minus_exp_neg(Dd::from(reach)), slack) + Wide::from(left_out_mass(parts));
    Some(DeltaBounds { lower, upper })
}

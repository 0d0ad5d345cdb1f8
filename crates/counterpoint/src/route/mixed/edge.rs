//! Next to the largest loss: where a target is far below its probability.

use super::closed::scaled;
use super::largest::{cut, is_far_above, largest, largest_kept, top};
use counterpoint_numerics::Bracket;
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::loss::{Atom, Direction, Loss};
use counterpoint_numerics::{Dd, STEP, Wide, exp, exp_rounded, expm1, falling, ln_1p_rounded, rise};
use crate::route::Ends;
use crate::route::search::both_ends;

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
/// Atoms within the rounding of a gap count as within it.
const NEXT_TO: f64 = 1e-9;
const NEXT_TO_ZERO: f64 = 1e-25;

// Not allowances but limits, which must stay below 2 and 1: a gap up to there does not reach the other
// end of the losses (two epsilons below the largest), the next atom, or half of that span.

const SHORT_OF_THE_SPAN: f64 = 1.9;
const SHORT_OF_THE_NEXT: f64 = 0.999;
const SHORT_OF_HALF: f64 = 0.9;

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
        mass = mass * Wide::from(top(&part.each)?.1).powi(part.count);
        operations += FACTOR * part.count as f64;
    }
    Some((mass, operations))
}

/// The probability that every loss is within a gap of its largest, from above but for as many operations.
fn all_within(parts: &[Part], gap: f64) -> Wide {
    let within = |part: &Part| Wide::from(mass_within(&part.each, gap)).powi(part.count);
    parts.iter().fold(Wide::ONE, |mass, part| mass * within(part))
}

/// The same bracket, narrowed by [`over_the_top`].
fn closer_to_the_top(parts: &[Part], target: &Target, bracket: Bracket) -> Option<Bracket> {
    both_ends(|epsilon| over_the_top(parts, epsilon).ok_or(()), target, bracket, (60, 1e-13)).ok()
}

/// The pure delta a little below the largest loss, to second order (theorems.md, near the
/// largest loss): with S how far the loss is below the largest, delta is the integral of
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
        let of = |part: &Part| Some(part.count as f64 * growth(&part.each, s)?);
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

/// By how much the mass within s of the largest loss exceeds the mass at it, relative to that.
fn growth(loss: &Loss, s: f64) -> Option<f64> {
    match loss {
        Loss::Response { epsilon } if s < SHORT_OF_THE_SPAN * epsilon.hi => Some(0.0),
        Loss::Laplace { epsilon } if s < SHORT_OF_THE_SPAN * epsilon.hi => Some(-expm1(-0.5 * s)),
        Loss::Atoms(atoms) => {
            let (first, next) = (atoms.list.first()?, atoms.list.get(1));
            let apart = next.map_or(f64::INFINITY, |next| (first.loss - next.loss).hi);
            (s < SHORT_OF_THE_NEXT * apart).then_some(0.0)
        }
        Loss::SampledLaplace { rate, epsilon, direction } if epsilon.hi < 590.0 => {
            sampled_growth(*rate, *epsilon, *direction, s)
        }
        _ => None,
    }
}

/// The growth of a sampled Laplace loss: losses within s of the largest have a loss before sampling
/// within 2d of its end (theorems.md, near the largest loss). Good to 64 u.
fn sampled_growth(rate: f64, epsilon: Dd, direction: Direction, s: f64) -> Option<f64> {
    let decay = exp_rounded(-epsilon);
    match direction {
        Direction::Remove => {
            let rest = (1.0 - rate) * decay;
            let fall = (rest + rate) / rate * -expm1(-s);
            let d = -0.5 * ln_1p_rounded(-fall.min(0.5));
            let grown = rest * expm1(d) - rate * expm1(-d);
            (fall < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(grown / (rest + rate))
        }
        Direction::Add => {
            let rise = (1.0 - rate + rate * decay) / (rate * decay) * expm1(s);
            let d = 0.5 * ln_1p_rounded(rise.min(0.5));
            (rise < 0.5 && d < SHORT_OF_HALF * epsilon.hi).then_some(-expm1(-d))
        }
    }
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

/// The P mass of losses within a gap of the largest, from above.
fn mass_within(loss: &Loss, gap: f64) -> Dd {
    let side = rise(Dd::from(0.5 * gap)) * (1.0 + DOUBLES);
    let mass = match loss {
        Loss::Response { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => {
            Dd::ONE / (Dd::ONE + falling(*epsilon))
        }
        Loss::Laplace { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => {
            (Dd::ONE + side).scaled(0.5)
        }
        Loss::Range { epsilon } if gap < SHORT_OF_THE_SPAN * epsilon.hi => side / rise(*epsilon),
        Loss::Atoms(atoms) => {
            let Some(first) = atoms.list.first() else { return Dd::ONE };
            let near =
                |atom: &&Atom| (first.loss - atom.loss).hi <= gap * (1.0 + NEXT_TO) + NEXT_TO_ZERO;
            atoms.list.iter().filter(near).fold(Dd::ZERO, |sum, atom| sum + atom.mass)
        }
        _ => Dd::ONE,
    };
    mass * (1.0 + DOUBLES)
}

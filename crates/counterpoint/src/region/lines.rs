//! Lines that bound the boundary, from the profile at a few epsilons.

use super::ErrorRates;
use super::boundary::LEAST;
use counterpoint_numerics::{Dd, STEP, exp, exp_neg};

/// Bounds on the profile at one epsilon.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProfilePoint {
    pub(super) epsilon: f64,
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// The tolerance with which delta was requested.
    pub(super) tolerance: f64,
}

/// A half-plane `miss + e^epsilon false_alarm >= 1 - delta`, or the same with the rates exchanged.
#[derive(Clone, Copy, Debug)]
pub(super) struct HalfPlane {
    pub(super) epsilon: f64,
    pub(super) delta: f64,
    /// For a half-plane of the inner boundary between two known epsilons or beyond the last: the index of the epsilon
    /// before it, and the height that the outer boundary allows above it. `None` at a known epsilon.
    pub(super) between: Option<(usize, f64)>,
}

/// Converts a point of the other direction's profile to this direction: with x = e^-epsilon its value is `1 - x + x
/// delta`, from above. (The second number is an upper bound on the profile.)
pub(super) fn reflected(known: &ProfilePoint) -> (Dd, f64) {
    let x = exp_neg(Dd::from(known.epsilon));
    let value = Dd::ONE - x * Dd::sum(1.0, -known.upper);
    (Dd::from(-known.epsilon), (value + Dd::from(8.0 * STEP)).upper())
}

/// Finds the place between two epsilons at which the profile is least known: an epsilon, a lower bound there, and the
/// height that the outer boundary allows above it.
///
/// To the right of x_j the profile lies above the line from (x_(j-1), u_(j-1)) through (x_j, l_j), and its slope is at
/// least -1/x; to the left of x_(j+1) it lies above the line from (x_(j+2), u_(j+2)) through (x_(j+1), l_(j+1)), and it
/// falls. At any x between them let v be the lesser of the two lines: then the profile is above the chain l_j, v,
/// l_(j+1).
pub(super) fn kink(
    before: Option<(Dd, f64)>,
    left: ProfilePoint,
    right: ProfilePoint,
    after: Option<&ProfilePoint>,
) -> (f64, f64, f64) {
    let width = Dd::sum(right.epsilon, -left.epsilon);
    // In units of x_j: the steepest fall of the profile after x_j. (Rounded up.)
    let steep = before.map_or(Dd::ONE, |(epsilon, upper)| {
        let run = -growth(epsilon - Dd::from(left.epsilon));
        let fall = (Dd::sum(upper, -left.lower) + Dd::from(STEP)) / run;
        let fall = fall + fall * (16.0 * STEP);
        if fall < Dd::ONE { fall } else { Dd::ONE }
    });
    // In units of x_(j+1): the smallest fall before x_(j+1) that is certain. (Rounded down.)
    let gentle = after.map_or(Dd::ZERO, |after| {
        let run = growth(Dd::sum(after.epsilon, -right.epsilon));
        let fall = (Dd::sum(right.lower, -after.upper) - Dd::from(STEP)) / run;
        let fall = fall - fall * (16.0 * STEP);
        if fall.is_positive() { fall } else { Dd::ZERO }
    });
    // The approximate meeting point of the two lines; any epsilon between them is sound.
    let whole = growth(width);
    let shrink = exp_neg(width);
    let fall = left.lower - right.lower - gentle.hi * (1.0 - shrink.hi);
    let meet = (fall / (steep.hi - gentle.hi * shrink.hi)).ln_1p();
    let step = if meet.is_finite() { meet } else { 0.5 * width.hi };
    let step = step.clamp(1e-7 * width.hi, (1.0 - 1e-7) * width.hi).min(500.0);
    let epsilon = left.epsilon + step;
    let from_left = growth(Dd::sum(epsilon, -left.epsilon));
    let to_right = Dd::ONE - exp_neg(Dd::sum(right.epsilon, -epsilon));
    let by_left = Dd::from(left.lower) - steep * from_left;
    let by_right = Dd::from(right.lower) + gentle * to_right;
    let value = if by_left < by_right { by_left } else { by_right };
    let size = 1.0 + (steep * from_left).hi.abs();
    let value = (value - Dd::from(64.0 * STEP * size)).lower();
    let share = from_left.hi / whole.hi;
    let outer = left.upper - (left.upper - right.upper) * share.clamp(0.0, 1.0);
    (epsilon, value, outer - value)
}

/// Returns e^x - 1, or a huge number where a double-double would overflow.
fn growth(x: Dd) -> Dd {
    if x.hi > 590.0 { Dd::from(1e256) } else { x.expm1() }
}

/// Returns the meeting point of the outer lines at two epsilons, rounded down: on `a + e^e b >= 1 - u` `b = (u - u')
/// e^-e / (e^(e'-e) - 1)` and `a = 1 - u - (u - u') / (e^(e'-e) - 1)`.
pub(super) fn outer_vertex(pair: &[ProfilePoint]) -> Option<ErrorRates> {
    let [first, second] = pair else { return None };
    let (rate, miss) = meeting((first.epsilon, first.upper), (second.epsilon, second.upper));
    let rate = (rate - rate * (64.0 * STEP)).lower();
    let miss = (miss - Dd::from(64.0 * STEP)).lower();
    let rate = if rate < LEAST { 0.0 } else { rate };
    if miss >= 0.0 {
        return Some(ErrorRates::raw(rate, miss));
    }
    // The point where the first of the lines meets the axis instead.
    let ends = [first, second].map(|known| {
        let end = Dd::sum(1.0, -known.upper) * exp_neg(Dd::from(known.epsilon));
        (end - end * (64.0 * STEP)).lower()
    });
    let end = ends[0].min(ends[1]);
    Some(ErrorRates::raw(if end < LEAST { 0.0 } else { end }, 0.0))
}

/// Returns the meeting point of the lines `miss + e^e rate = 1 - delta` at two epsilons: the rate to a relative error
/// of 2^-90, the miss to an absolute one.
fn meeting((epsilon, delta): (f64, f64), (next, next_delta): (f64, f64)) -> (Dd, Dd) {
    let share = Dd::sum(delta, -next_delta) / growth(Dd::sum(next, -epsilon));
    (share * exp_neg(Dd::from(epsilon)), Dd::sum(1.0, -delta) - share)
}

/// Returns the vertices of the inner polygon in one half, in its own orientation. Each vertex is moved up until it
/// satisfies every half-plane of both halves. This alone ensures that the vertices and their hull are in the region.
pub(super) fn inner_vertices(own: &[HalfPlane], others: &[HalfPlane]) -> Vec<ErrorRates> {
    let mut chain: Vec<HalfPlane> = Vec::with_capacity(own.len());
    let rate = |a: &HalfPlane, b: &HalfPlane| meeting((a.epsilon, a.delta), (b.epsilon, b.delta)).0;
    for plane in own.iter().filter(|plane| plane.delta.is_finite()) {
        if let Some(last) = chain.last_mut().filter(|last| last.epsilon >= plane.epsilon) {
            last.delta = last.delta.min(plane.delta);
            continue;
        }
        // Drop half-planes that others imply: rates must fall as slopes rise.
        while let [.., before, last] = chain.as_slice() {
            if rate(last, plane) < rate(before, last) {
                break;
            }
            chain.pop();
        }
        chain.push(*plane);
    }
    let mut points: Vec<ErrorRates> = chain
        .windows(2)
        .filter_map(|pair| {
            let [a, b] = pair else { return None };
            let (rate, miss) = meeting((a.epsilon, a.delta), (b.epsilon, b.delta));
            let rate = (rate + rate * (64.0 * STEP)).upper().clamp(LEAST, 1.0);
            Some(ErrorRates::raw(rate, (miss + Dd::from(64.0 * STEP)).upper().clamp(0.0, 1.0)))
        })
        .collect();
    points.push(ErrorRates::raw(0.0, 0.0));
    points.iter().map(|&point| lift(point, own, others)).collect()
}

/// Returns the point with the least miss rate, not below the given one, that satisfies all half-planes.
fn lift(point: ErrorRates, own: &[HalfPlane], others: &[HalfPlane]) -> ErrorRates {
    const MARGIN: f64 = 1e-15;
    let rate = point.false_alarm;
    // If the exponential overflows there are more alarms than one, as rates are not below LEAST.
    let steep = own.iter().map(|plane| {
        let alarms = if rate > 0.0 { exp(plane.epsilon) * rate * (1.0 - MARGIN) } else { 0.0 };
        let miss = 1.0 - plane.delta - alarms;
        miss + MARGIN * alarms.min(2.0)
            + if plane.delta > 0.0 || alarms > 0.0 { MARGIN } else { 0.0 }
    });
    // The exponential may underflow; the maximum keeps it above zero.
    let flat = others.iter().map(|plane| {
        let share = exp(-plane.epsilon).max(LEAST) * (1.0 + MARGIN);
        (1.0 - plane.delta - rate + MARGIN) * share
    });
    let miss = steep.chain(flat).fold(point.miss, f64::max);
    ErrorRates::raw(rate, miss.min(1.0))
}

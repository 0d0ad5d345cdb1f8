//! Polygons: convex chains of vertices that fall from the miss axis to the false-alarm axis.

use super::ErrorRates;
use counterpoint_numerics::{Dd, STEP};

/// A chain of vertices by rising false-alarm rate and falling miss rate. The region lies on and above the chain: it is
/// the hull of the vertices and of all worse points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Boundary(Vec<ErrorRates>);

/// Rates below this are rounded to zero or to this, so that products keep their digits.
pub(super) const LEAST: f64 = 1e-200;

impl Boundary {
    /// Computes the lower hull of points. A point is dropped only if it is certainly not below the line between its
    /// neighbours, or nearer to the line than any rounding here.
    pub(super) fn new(mut points: Vec<ErrorRates>) -> Self {
        points.sort_by(|a, b| {
            a.false_alarm.total_cmp(&b.false_alarm).then(a.miss.total_cmp(&b.miss))
        });
        let mut chain: Vec<ErrorRates> = Vec::with_capacity(points.len());
        for point in points {
            // A point further right that is not lower is no vertex.
            if chain.last().is_some_and(|last| point.miss >= last.miss) {
                continue;
            }
            while let [.., before, last] = chain.as_slice() {
                if is_above(*last, *before, point) {
                    chain.pop();
                } else {
                    break;
                }
            }
            chain.push(point);
        }
        Self(chain)
    }

    pub(super) fn points(&self) -> &[ErrorRates] {
        &self.0
    }

    /// Returns the least miss rate at a false-alarm rate, rounded down and rounded up.
    pub(super) fn miss_at(&self, rate: f64) -> (f64, f64) {
        let after = self.0.partition_point(|point| point.false_alarm <= rate);
        let Some(&left) = after.checked_sub(1).and_then(|at| self.0.get(at)) else {
            return (1.0, 1.0);
        };
        let Some(&right) = self.0.get(after) else { return (left.miss, left.miss) };
        if left.false_alarm >= rate {
            return (left.miss, left.miss);
        }
        let share =
            Dd::sum(rate, -left.false_alarm) / Dd::sum(right.false_alarm, -left.false_alarm);
        let miss = Dd::from(left.miss) - Dd::sum(left.miss, -right.miss) * share;
        let error = Dd::from(16.0 * STEP * left.miss);
        // One more unit in the last place, because the chain is convex only up to rounding.
        let lower = (miss - error).lower().next_down().max(right.miss);
        (lower, (miss + error).upper().next_up().min(left.miss))
    }

    /// True if a point certainly lies on or above the chain.
    pub(super) fn is_above(&self, point: ErrorRates) -> bool {
        let reached = self.0.first().is_some_and(|first| first.false_alarm <= point.false_alarm);
        reached && point.miss >= self.miss_at(point.false_alarm).1
    }

    /// True if a point certainly lies below the chain.
    pub(super) fn is_below(&self, point: ErrorRates) -> bool {
        point.miss < self.miss_at(point.false_alarm).0
    }

    /// Returns bounds on the largest height of this chain above the other at any rate. Both chains are straight between
    /// vertices, so a vertex of either attains the largest height.
    pub(super) fn rise_over(&self, other: &Self) -> (f64, f64) {
        let rates = self.0.iter().chain(&other.0).map(|point| point.false_alarm);
        rates.fold((-1.0, -1.0), |(low, high): (f64, f64), rate| {
            let (mine, others) = (self.miss_at(rate), other.miss_at(rate));
            // Rounding a difference to nearest never changes its sign.
            let lower = (mine.0 - others.1).min((mine.0 - others.1).next_down().max(0.0));
            let upper = mine.1 - others.0;
            (low.max(lower), high.max(if upper > 0.0 { upper.next_up() } else { upper }))
        })
    }

    /// Returns the area between the chain and the line of blind guesses, rounded down and up.
    pub(super) fn area_above(&self) -> (f64, f64) {
        let under = self.0.windows(2).fold(Dd::ZERO, |sum, pair| {
            let [left, right] = pair else { return sum };
            let width = Dd::sum(right.false_alarm, -left.false_alarm);
            sum + width * Dd::sum(left.miss, right.miss).scaled(0.5)
        });
        let area = Dd::from(0.5) - under;
        let error = Dd::from(STEP * (16.0 + self.0.len() as f64));
        ((area - error).lower(), (area + error).upper())
    }
}

/// True if b is on or above the line from a to c, or below it by no more than rounding.
fn is_above(b: ErrorRates, a: ErrorRates, c: ErrorRates) -> bool {
    let down = Dd::sum(a.miss, -b.miss) * Dd::sum(c.false_alarm, -a.false_alarm);
    let line = Dd::sum(a.miss, -c.miss) * Dd::sum(b.false_alarm, -a.false_alarm);
    let error = line.hi.max(down.hi) * STEP;
    (down - line).hi <= error
}

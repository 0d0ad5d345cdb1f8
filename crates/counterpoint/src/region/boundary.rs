//! Polygons: convex chains of vertices, falling from the miss axis to the false-alarm axis.

use super::Point;
use counterpoint_numerics::{Dd, STEP};

/// A chain of vertices by rising false-alarm rate and falling miss rate. The region is what
/// lies on or above it: the hull of the vertices and of all that is worse.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Boundary(Vec<Point>);

/// Rates below this are rounded to zero or to this, so that products keep their digits.
pub(super) const LEAST: f64 = 1e-200;

impl Boundary {
    /// The lower hull of points. A point is left out only if it is surely not below the line
    /// between its neighbours, or nearer to it than any rounding here.
    pub(super) fn new(mut points: Vec<Point>) -> Self {
        points.sort_by(|a, b| {
            a.false_alarm.total_cmp(&b.false_alarm).then(a.miss.total_cmp(&b.miss))
        });
        let mut chain: Vec<Point> = Vec::with_capacity(points.len());
        for point in points {
            // Further right and not lower: no vertex.
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

    pub(super) fn points(&self) -> &[Point] {
        &self.0
    }

    /// The least miss rate at a false-alarm rate, rounded down and rounded up.
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
        // One unit more makes up for a chain that is convex only up to rounding.
        let lower = (miss - error).lower().next_down().max(right.miss);
        (lower, (miss + error).upper().next_up().min(left.miss))
    }

    /// Whether a point surely lies on or above the chain.
    pub(super) fn is_above(&self, point: Point) -> bool {
        let reached = self.0.first().is_some_and(|first| first.false_alarm <= point.false_alarm);
        reached && point.miss >= self.miss_at(point.false_alarm).1
    }

    /// Whether a point surely lies below the chain.
    pub(super) fn is_below(&self, point: Point) -> bool {
        point.miss < self.miss_at(point.false_alarm).0
    }

    /// The most by which this chain is above another at any rate, from below and from above.
    /// Both are lines between vertices, so a vertex of either is where that is most.
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

    /// The area between the chain and the line of blind guesses, rounded down and up.
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

/// Whether b is on or above the line from a to c, or below it by no more than rounding.
fn is_above(b: Point, a: Point, c: Point) -> bool {
    let down = Dd::sum(a.miss, -b.miss) * Dd::sum(c.false_alarm, -a.false_alarm);
    let line = Dd::sum(a.miss, -c.miss) * Dd::sum(b.false_alarm, -a.false_alarm);
    let error = line.hi.max(down.hi) * STEP;
    (down - line).hi <= error
}

//! Rounds masses to points, so that the law spreads or contracts and its mean is preserved.

use super::Domination;
use std::ops::Range;

/// Points in rising order from zero, evenly spaced in the middle and geometric on both sides.
pub(super) struct Grid {
    pub(super) points: Vec<f64>,
    pub(super) even: Range<usize>,
}

/// The number of even steps to a standard deviation.
const FINE: f64 = 256.0;
/// The distance from the centre up to which steps are even, in standard deviations.
const REACH: f64 = 8.0;
/// The relative growth of the other steps.
const GROWTH: f64 = 1.0 / 128.0;

/// The location of a law.
#[derive(Clone, Copy)]
pub(super) struct Location {
    pub(super) centre: f64,
    pub(super) deviation: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Location {
    /// The location of the sum of two independent numbers.
    pub(super) fn plus(self, other: Self) -> Self {
        let squares = self.deviation * self.deviation + other.deviation * other.deviation;
        Self {
            centre: self.centre + other.centre,
            deviation: squares.sqrt(),
            least: self.least + other.least,
            most: self.most.max(other.most),
        }
    }
}

impl Grid {
    pub(super) fn new(place: Location) -> Self {
        let step = place.deviation / FINE;
        let low = (place.centre - REACH * place.deviation).max(step / GROWTH).max(place.least);
        let high = (place.centre + REACH * place.deviation).max(low + step);
        let mut points = Vec::new();
        let mut at = low * (1.0 - GROWTH);
        while at > place.least {
            points.push(at);
            at *= 1.0 - GROWTH;
        }
        points.push(0.0);
        points.reverse();
        let start = points.len();
        let steps = ((high - low) / step).ceil() as usize;
        points.extend((0..=steps).map(|i| low + step * i as f64));
        let even = start..points.len();
        let mut distance = (high - place.centre).max(place.deviation);
        let top = high + 12.0 * place.deviation + 2.0 * place.most;
        while place.centre + distance < top {
            distance *= 1.0 + GROWTH;
            points.push(place.centre + distance);
        }
        // Steps that rounding has reduced to nothing are removed.
        points.dedup_by(|next, last| *next <= *last);
        let even = even.start..even.end.min(points.len());
        Self { points, even }
    }
}

/// The masses between neighbouring points, divided into shares of the lower and of the upper point.
pub(super) struct CellMasses<'a> {
    points: &'a [f64],
    inverse: Vec<f64>,
    down: Vec<f64>,
    up: Vec<f64>,
    terms: Vec<u32>,
    /// The amount by which the mean is too small, since masses beyond the last point were moved to it.
    pub(super) lost: f64,
}

impl<'a> CellMasses<'a> {
    pub(super) fn new(points: &'a [f64]) -> Self {
        let cells = points.len().saturating_sub(1);
        let inverse = points.windows(2).map(|ends| 1.0 / (ends[1] - ends[0])).collect();
        let (down, up, terms) = (vec![0.0; cells], vec![0.0; cells], vec![0; cells]);
        Self { points, inverse, down, up, terms, lost: 0.0 }
    }

    /// Adds known shares to a cell.
    pub(super) fn add(&mut self, cell: usize, down: f64, up: f64) {
        self.down[cell] += down;
        self.up[cell] += up;
        self.terms[cell] += 1;
    }

    /// Adds a law, shifted by `by` and multiplied by `weight`. Masses beyond the last point are moved to it.
    pub(super) fn place(&mut self, points: &[f64], masses: &[f64], by: f64, weight: f64) {
        let (Some(first), Some(last)) = (points.first(), self.down.len().checked_sub(1)) else {
            return;
        };
        let above = self.points.partition_point(|&point| point <= first + by);
        let mut cell = above.saturating_sub(1).min(last);
        for (&point, &mass) in points.iter().zip(masses) {
            if mass <= 0.0 {
                continue;
            }
            let at = point + by;
            while cell < last && at >= self.points[cell + 1] {
                cell += 1;
            }
            let (low, high) = (self.points[cell], self.points[cell + 1]);
            let share = weight * mass * self.inverse[cell];
            if at > high {
                self.lost += 2.0 * weight * mass * (at - high);
            }
            self.down[cell] += share * (high - at).max(0.0);
            self.up[cell] += share * (at.min(high) - low);
            self.terms[cell] = self.terms[cell].saturating_add(1);
        }
    }

    /// Returns the points, their masses, and the relative error of the masses; the law spreads or contracts.
    pub(super) fn rounded(&self, side: Domination) -> (Vec<f64>, Vec<f64>, f64) {
        let terms = self.terms.iter().copied().max().unwrap_or(0);
        let error = (f64::from(terms) + ROUNDINGS) * f64::EPSILON;
        let (points, masses) = match side {
            Domination::Above => (self.points.to_vec(), self.spread()),
            Domination::Below => self.contract(),
        };
        (points, masses, error)
    }

    /// Moves each cell's mass to the cell's ends.
    fn spread(&self) -> Vec<f64> {
        let mut masses = vec![0.0; self.points.len()];
        for (cell, (down, up)) in self.down.iter().zip(&self.up).enumerate() {
            masses[cell] += down;
            masses[cell + 1] += up;
        }
        masses
    }

    /// Merges masses of neighbouring cells, taking from each as much as has its mean at a point. The rest of the last
    /// cell is placed at its own mean.
    fn contract(&self) -> (Vec<f64>, Vec<f64>) {
        let mut masses = vec![0.0; self.points.len()];
        let cells = || (0..self.down.len()).filter(|&k| self.down[k] + self.up[k] > 0.0);
        let mut rest: Option<PendingMass> = None;
        for cell in cells() {
            let (low, high) = (self.points[cell], self.points[cell + 1]);
            let (mass, width) = (self.down[cell] + self.up[cell], high - low);
            let mut kept = 1.0;
            if let Some(group) = rest.as_mut() {
                let gain = self.up[cell] * width + (low - self.points[group.target]) * mass;
                if gain < group.missing {
                    group.mass += mass;
                    group.missing -= gain;
                    continue;
                }
                let share = if gain > 0.0 { group.missing / gain } else { 0.0 };
                masses[group.target] += group.mass + share * mass;
                kept = 1.0 - share;
            }
            rest = Some(PendingMass {
                target: cell + 1,
                mass: kept * mass,
                missing: kept * self.down[cell] * width,
            });
        }
        let mut points = self.points.to_vec();
        if let Some(group) = rest.filter(|group| group.mass > 0.0) {
            points.truncate(group.target);
            masses.truncate(group.target);
            points.push(self.points[group.target] - group.missing / group.mass);
            masses.push(group.mass);
        }
        (points, masses)
    }
}

/// Masses that are being collected for a point above them.
struct PendingMass {
    target: usize,
    mass: f64,
    /// The moment that these masses lack at that point.
    missing: f64,
}

/// The roundings of a share: a product of four numbers and a difference, which is added, and shared once more.
const ROUNDINGS: f64 = 12.0;

/// Rounds part of a law to every `every`th of its points.
pub(super) fn coarse(
    (points, masses): (&[f64], &[f64]),
    every: usize,
    side: Domination,
) -> (Vec<f64>, Vec<f64>, f64) {
    let last = points.len().saturating_sub(1);
    let kept = |&(place, _): &(usize, &f64)| place % every == 0 || place == last;
    let few: Vec<f64> = points.iter().enumerate().filter(kept).map(|(_, &point)| point).collect();
    let mut cells = CellMasses::new(&few);
    cells.place(points, masses, 0.0, 1.0);
    cells.rounded(side)
}

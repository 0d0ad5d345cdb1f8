//! Laws of sums of independent numbers that are at least zero, as masses at points.

use super::Domination;
use super::grid::{CellMasses, Grid, Location, coarse};
use std::ops::Range;

#[derive(Clone)]
pub(super) struct PointMasses {
    pub(super) points: Vec<f64>,
    pub(super) masses: Vec<f64>,
    /// The range of the points that are evenly spaced.
    even: Range<usize>,
    /// The relative error of each mass.
    pub(super) error: f64,
    /// The number of times that points were rounded.
    pub(super) rounds: u32,
    /// The part of the mean that was lost by moving masses beyond the last point to it.
    pub(super) lost: f64,
    place: Location,
}

/// The middle of a law contains all mass but this; beyond are few large summands.
const RARE: f64 = 1e-4;
/// Masses below this are neglected in finding a law's lower end.
const NOTHING: f64 = 1e-34;

impl PointMasses {
    pub(super) fn new(points: Vec<f64>, masses: Vec<f64>, error: f64) -> Self {
        let (place, end) = (placed(&points, &masses), points.len());
        Self { points, masses, even: end..end, error, rounds: 1, lost: 0.0, place }
    }

    /// The points before the evenly spaced ones, these, and the points after them, with their masses.
    fn parts(&self) -> [(&[f64], &[f64]); 3] {
        let part = |range: Range<usize>| (&self.points[range.clone()], &self.masses[range]);
        let (start, end) = (self.even.start, self.even.end);
        [part(0..start), part(start..end), part(end..self.points.len())]
    }

    /// The law of the sum of `count` independent numbers with this law.
    pub(super) fn times(&self, count: u64, side: Domination) -> Self {
        let mut sum = self.clone();
        for bit in (0..count.ilog2()).rev() {
            sum = sum.doubled(side);
            if count >> bit & 1 == 1 {
                sum = sum.plus(self, side);
            }
        }
        sum
    }

    /// The law of the sum of two numbers with this law. Even parts are convolved; for the rare parts, fewer points
    /// suffice.
    fn doubled(&self, side: Domination) -> Self {
        let grid = Grid::new(self.place.plus(self.place));
        let mut cells = CellMasses::new(&grid.points);
        let [small, even, large] = self.parts();
        let sums = convolved(even);
        cells.place(&sums.0, &sums.1, 0.0, 1.0);
        let (few, fewer) = (coarse(even, 8, side), coarse(large, 2, side));
        let places =
            |part: (&[f64], &[f64]), cells: &mut CellMasses<'_>, with: &[(&[f64], &[f64], f64)]| {
                for (&point, &mass) in part.0.iter().zip(part.1).filter(|(_, mass)| **mass > 0.0) {
                    for (points, masses, times) in with {
                        cells.place(points, masses, point, times * mass);
                    }
                }
            };
        let (few_even, few_large) = ((&few.0[..], &few.1[..], 2.0), (&fewer.0[..], &fewer.1[..]));
        let once = |(points, masses)| (points, masses, 1.0);
        places(small, &mut cells, &[once(small), few_even, (few_large.0, few_large.1, 2.0)]);
        places(large, &mut cells, &[few_even, once(few_large)]);
        let more = few.2 + fewer.2 + f64::EPSILON * even.0.len() as f64;
        self.on(self, grid.even, &cells, side, more)
    }

    /// The law of the sum of a number with this law and a number whose law has far fewer summands.
    fn plus(&self, other: &Self, side: Domination) -> Self {
        let Location { centre, least, most, .. } = other.place;
        let deviation = self.place.deviation;
        let thin = Grid::new(Location { centre, deviation, least, most });
        let mut cells = CellMasses::new(&thin.points);
        cells.place(&other.points, &other.masses, 0.0, 1.0);
        let (points, masses, error) = cells.rounded(side);
        let lost_before = cells.lost;
        let grid = Grid::new(self.place.plus(other.place));
        let mut cells = CellMasses::new(&grid.points);
        for (&point, &mass) in points.iter().zip(&masses).filter(|(_, mass)| **mass > 0.0) {
            cells.place(&self.points, &self.masses, point, mass);
        }
        let sum = self.on(other, grid.even, &cells, side, error);
        Self { lost: sum.lost + lost_before, rounds: sum.rounds + 1, ..sum }
    }

    /// The law of the sum with another law, from the cells that hold its masses.
    fn on(
        &self,
        other: &Self,
        even: Range<usize>,
        cells: &CellMasses<'_>,
        side: Domination,
        more: f64,
    ) -> Self {
        let (points, masses, own) = cells.rounded(side);
        let place = Location { most: self.place.most, ..placed(&points, &masses) };
        // Contraction may have placed the last point off the grid.
        let end = even.end.min(points.len().saturating_sub(1));
        let even = even.start.min(end)..end;
        let error = self.error + other.error + more + own;
        let lost = self.lost + other.lost + cells.lost;
        let rounds = self.rounds.max(other.rounds) + 1;
        Self { points, masses, even, error, rounds, lost, place }
    }
}

/// The law of the sum of two numbers with this law, on evenly spaced points.
fn convolved((points, masses): (&[f64], &[f64])) -> (Vec<f64>, Vec<f64>) {
    let (Some(first), Some(last), Some(steps)) =
        (points.first(), points.last(), masses.len().checked_sub(1).filter(|&steps| steps > 0))
    else {
        return Default::default();
    };
    let mut sums = vec![0.0; 2 * steps + 1];
    for (place, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
        for (sum, other) in sums[place..].iter_mut().zip(masses) {
            *sum += mass * other;
        }
    }
    let step = (last - first) / steps as f64;
    ((0..sums.len()).map(|i| 2.0 * first + step * i as f64).collect(), sums)
}

/// Returns a law's location: the centre and the deviation of its middle, and its ends.
fn placed(points: &[f64], masses: &[f64]) -> Location {
    let (mut mass, mut moment, mut square, mut least) = (0.0, 0.0, 0.0, None);
    for (&point, &each) in points.iter().zip(masses) {
        if mass + each > 1.0 - RARE && mass > 0.0 {
            break;
        }
        mass += each;
        moment += each * point;
        square += each * point * point;
        if mass > NOTHING && point > 0.0 {
            least = least.or(Some(point));
        }
    }
    let centre = moment / mass;
    let deviation = (square / mass - centre * centre).max(0.0).sqrt();
    let most = points.last().copied().unwrap_or(0.0);
    let least = least.unwrap_or(most);
    Location { centre, deviation: deviation.max(1e-12 * centre), least, most }
}

//! Direct convolution on a lattice.
//!
//! All products and sums are non-negative, so counting operations bounds the relative error, and there is no noise
//! floor. It is slower than the contour, and independent of it.

use super::lattice::{TiltedLattice, Weight};
use crate::delta_bounds::LEFT_OUT;
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::{UNIT, exp, expm1};

/// The tilted masses of Y = 0, 1, 2, ... up to a limit.
#[derive(Clone, Debug)]
pub(crate) struct Convolution {
    masses: Vec<f64>,
    tilt: f64,
    step: f64,
    weight: Weight,
    /// Relative error of every mass.
    error: f64,
    /// True if no Y lies beyond the limit.
    complete: bool,
}

/// A factor: three products and two sums of masses whose errors the lattice states.
const FACTOR: f64 = 8.0 * UNIT;
/// A term: an exponent of at most 690, and two functions good to 4 u.
const TERM: f64 = 2048.0;

/// The number of masses between two calls of the watch.
const OFTEN: usize = 1 << 20;

/// An error larger than any sum.
const UNKNOWN: f64 = 1e200;

/// The work a convolution takes, in multiplications.
pub(crate) fn work(lattice: &TiltedLattice, limit: f64) -> f64 {
    let count: f64 = lattice.cells.iter().map(|cell| cell.count as f64).sum();
    count * (limit.min(lattice.most_steps) + 1.0)
}

impl Convolution {
    /// Convolves the factors one after the other, keeping Y up to `limit`. Factors only add to Y, so larger values
    /// never return.
    pub(crate) fn new(
        lattice: &TiltedLattice,
        weight: Weight,
        limit: u64,
        watch: &Watch<'_>,
    ) -> Result<Self, StopRequest> {
        let complete = limit as f64 >= lattice.most_steps;
        let limit = (limit as f64).min(lattice.most_steps) as usize;
        let mut masses = vec![0.0; limit + 1];
        masses[0] = 1.0;
        let mut reach = 0_usize;
        let mut factors = 0.0;
        let mut unwatched = OFTEN;
        for (done, cell) in lattice.cells.iter().enumerate() {
            let steps = usize::try_from(cell.steps).unwrap_or(usize::MAX).min(limit + 1);
            for _ in 0..cell.count {
                if unwatched >= OFTEN {
                    watch.check(done as f64 / lattice.cells.len() as f64)?;
                    unwatched = 0;
                }
                unwatched += reach + 64;
                reach = reach.saturating_add(steps + 1).min(limit);
                convolve(&mut masses[..=reach], cell.high, steps);
                factors += 1.0;
            }
        }
        let error = FACTOR * factors;
        Ok(Self { masses, tilt: lattice.tilt, step: lattice.step, weight, error, complete })
    }

    /// The sum that the contour computes, without aliases. Beyond an incomplete limit the sum is unknown, and the error
    /// is larger than any sum.
    pub(crate) fn sum(&self, y0: u64, kappa: f64) -> (f64, f64) {
        let wanted = usize::try_from(y0).unwrap_or(usize::MAX);
        let last = (self.masses.len() - 1).min(wanted);
        if last < wanted && !self.complete {
            return (0.0, UNKNOWN);
        }
        let mut sum = 0.0;
        for (y, &mass) in self.masses[..=last].iter().enumerate().rev() {
            let below = (y0 - y as u64) as f64;
            if self.tilt * below > 690.0 {
                break;
            }
            let gain = match self.weight {
                Weight::Mass => 1.0,
                Weight::Profile => -expm1(-(kappa + self.step * below)),
            };
            sum += mass * exp(-self.tilt * below) * gain;
        }
        let relative = self.error + UNIT * (TERM + last as f64);
        (sum, sum * relative + LEFT_OUT)
    }
}

/// Multiplies by one factor in place: from the top down, every entry is read before it is written.
fn convolve(masses: &mut [f64], [stay, near, far]: [f64; 3], steps: usize) {
    let split = steps.min(masses.len());
    for y in (split..masses.len()).rev() {
        let further = if y > steps { masses[y - steps - 1] } else { 0.0 };
        masses[y] = stay * masses[y] + near * masses[y - steps] + far * further;
    }
    for mass in &mut masses[..split] {
        *mass *= stay;
    }
}

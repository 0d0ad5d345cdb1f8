//! Numbers as whole multiples of a step that does not depend on the data.

use crate::error::{Error, check};
use serde::{Deserialize, Serialize};

/// The power of two of which all answers are whole multiples.
///
/// ```
/// use counterpoint_mechanisms::Grid;
///
/// let eighths = Grid::new(-3)?;
/// assert_eq!(eighths.units(0.3), 2);
/// assert_eq!(eighths.value(2), 0.25);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "i32", try_from = "i32")]
pub struct Grid {
    exponent: i32,
}

/// The largest absolute value in steps: sums of 2^63 such values fit in an `i128`.
const MOST_UNITS: f64 = (1_u64 << 62) as f64;

impl Grid {
    /// Whole numbers.
    pub const WHOLE: Self = Self { exponent: 0 };

    /// Multiples of 2^exponent.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the exponent is from -900 to 900.
    pub fn new(exponent: i32) -> Result<Self, Error> {
        let legal = "a whole number from -900 to 900";
        check((-900..=900).contains(&exponent), "grid exponent", exponent.into(), legal)?;
        Ok(Self { exponent })
    }

    /// The grid with the largest step that is at most `step`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the step is from 2^-900 to 2^900.
    pub fn at_most(step: f64) -> Result<Self, Error> {
        let legal = "a number from 2^-900 to 2^900";
        let ends = 2.0_f64.powi(-900)..=2.0_f64.powi(900);
        check(ends.contains(&step), "grid step", step, legal)?;
        // The exponent of a normal double is its logarithm, rounded down.
        Self::new((step.to_bits() >> 52) as i32 - 1023)
    }

    /// A finer grid, and the number of bits by which it is finer. Numbers of absolute value `size` have at least `bits`
    /// bits on it, unless that takes more than `most` additional bits.
    pub(crate) fn refined(self, size: f64, bits: i32, most: i32) -> (Self, u32) {
        let wanted = Self::at_most(size).map_or(0, |size| size.exponent) - bits;
        let shift = (self.exponent - wanted).clamp(0, most).min(self.exponent + 900);
        (Self { exponent: self.exponent - shift }, shift.unsigned_abs())
    }

    /// The coarser of two grids.
    pub(crate) fn coarser(self, other: Self) -> Self {
        Self { exponent: self.exponent.max(other.exponent) }
    }

    /// The step.
    #[must_use]
    pub fn step(self) -> f64 {
        power(self.exponent)
    }

    /// The nearest multiple of the step, as a number of steps; halves are rounded up. Numbers that are too large become
    /// the furthest multiple, and NaN becomes zero.
    ///
    /// The result is floor(x/step + 1/2), computed exactly, so that numbers at most d apart are at most ceil(d/step)
    /// steps apart. (Rounding halves to even or away from zero would break that.)
    #[must_use]
    pub fn units(self, x: f64) -> i64 {
        if x.is_nan() {
            return 0;
        }
        // The product is exact, or underflows to a number that rounds to zero either way, or is so large that it is
        // clamped.
        let scaled = x * power(-self.exponent);
        let floor = scaled.floor();
        let nearest = if scaled - floor >= 0.5 { floor + 1.0 } else { floor };
        nearest.clamp(-MOST_UNITS, MOST_UNITS) as i64
    }

    /// As [`Grid::units`] for a whole number, exactly: the number need not be a double.
    ///
    /// ```
    /// use counterpoint_mechanisms::Grid;
    ///
    /// let whole = (1_i128 << 60) + 1; // as a double, one less
    /// assert_eq!(Grid::WHOLE.units_of_whole(whole), (1 << 60) + 1);
    /// assert_eq!(Grid::new(2)?.units_of_whole(6), 2); // halves upward
    /// # Ok::<(), counterpoint_mechanisms::Error>(())
    /// ```
    #[must_use]
    pub fn units_of_whole(self, x: i128) -> i64 {
        let most = 1_i128 << 62;
        let units = match u32::try_from(self.exponent) {
            // x is at most 2^126 in absolute value here, less than half a step of the coarsest grid.
            Ok(coarser @ 1..) => {
                let x = x.clamp(-(1 << 126), (1 << 126) - 1);
                let half = 1_i128.checked_shl(coarser - 1).unwrap_or(0);
                if coarser > 126 { 0 } else { (x + half) >> coarser }
            }
            _ => {
                // A shift by 63 bits already clamps every number but zero.
                let finer = self.exponent.unsigned_abs().min(63);
                x.clamp(-most, most) << finer
            }
        };
        units.clamp(-most, most) as i64
    }

    /// The number of steps that cover a distance: rounded up, at least one.
    pub(crate) fn steps(self, distance: f64) -> Result<u64, Error> {
        let steps = (distance * power(-self.exponent)).ceil();
        let legal = "above 0, and at most 2^53 steps of the grid";
        check(distance > 0.0 && steps <= 2.0_f64.powi(53), "sensitivity", distance, legal)?;
        Ok((steps as u64).max(1))
    }

    /// The value of a number of steps. It is finite: values that are too large become the largest double.
    #[must_use]
    pub fn value(self, units: i128) -> f64 {
        (units as f64 * self.step()).clamp(f64::MIN, f64::MAX)
    }
}

/// A grid is serialized as its exponent.
impl From<Grid> for i32 {
    fn from(grid: Grid) -> Self {
        grid.exponent
    }
}

impl TryFrom<i32> for Grid {
    type Error = Error;

    fn try_from(exponent: i32) -> Result<Self, Error> {
        Self::new(exponent)
    }
}

/// 2^exponent, built from its bits, which is faster than `powi` in a loop over records.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_go_upward_everywhere() {
        let units = |x| Grid::WHOLE.units(x);
        assert_eq!([-1.5, -0.5, 0.5, 1.5, 2.5].map(units), [-1, 0, 1, 2, 3]);
        assert_eq!([-0.0, 0.49999999999999994, -1e-300, f64::NAN].map(units), [0; 4]);
        assert_eq!(units(f64::INFINITY), 1 << 62);
        assert_eq!(units(f64::NEG_INFINITY), -(1 << 62));
    }

    /// Where doubles are exact both functions agree; beyond, the result is bounded.
    #[test]
    fn whole_numbers_are_rounded_as_whole_numbers() {
        for exponent in [-900, -70, -63, -62, -3, -1, 0, 1, 2, 5, 40, 62, 100, 126, 127, 900] {
            let grid = Grid::new(exponent).unwrap();
            for x in (-40..=40_i64).chain([1 << 40, -(1 << 52), (1 << 53) - 1, 3 << 50]) {
                assert_eq!(grid.units_of_whole(x.into()), grid.units(x as f64), "{x} {exponent}");
            }
            for x in [i128::MAX, i128::MAX / 2, i128::MIN] {
                assert!(grid.units_of_whole(x).abs() <= 1 << 62, "{x} {exponent}");
            }
        }
        // Neighbours stay neighbours where doubles are 256 apart.
        let far = 1_i128 << 60;
        for x in far..far + 600 {
            assert_eq!(i128::from(Grid::WHOLE.units_of_whole(x)), x);
            let halves = Grid::new(1).unwrap();
            assert_eq!(i128::from(halves.units_of_whole(x)), (x + 1).div_euclid(2));
        }
        assert_eq!(Grid::WHOLE.units_of_whole(i128::MIN), -(1 << 62));
    }

    #[test]
    fn powers_of_two() {
        for exponent in -900..=900 {
            let grid = Grid::new(exponent).unwrap();
            assert_eq!(grid.step().to_bits(), 2.0_f64.powi(exponent).to_bits());
        }
    }

    #[test]
    fn a_finer_grid_for_small_numbers() {
        let refined = |exponent, size, most| {
            let (fine, shift) = Grid::new(exponent).unwrap().refined(size, 40, most);
            (fine.exponent, shift)
        };
        assert_eq!(refined(0, 1.0, 100), (-40, 40));
        assert_eq!(refined(-38, 1.5, 100), (-40, 2));
        assert_eq!(refined(-50, 1.5, 100), (-50, 0));
        assert_eq!(refined(900, 1e-200, 100), (800, 100));
        assert_eq!(refined(-890, 1e-268, 100), (-900, 10));
    }

    #[test]
    fn the_coarsest_grid_below_a_step() {
        for (step, expected) in [(1.0, 1.0), (1.99, 1.0), (2.0, 2.0), (0.3, 0.25)] {
            assert!((Grid::at_most(step).unwrap().step() - expected).abs() < 1e-15);
        }
        assert!(Grid::at_most(f64::NAN).is_err() && Grid::new(901).is_err());
    }
}

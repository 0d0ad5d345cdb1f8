//! Noise that is drawn before there is anything to add it to.

use super::Noise;
use crate::error::Error;
use crate::grid::Grid;
use crate::sample::Whole;
use std::fmt;

/// So many draws of some noise, each of which is used once.
///
/// When they were drawn has nothing to do with when they are used, and so the time of an answer has nothing to
/// do with its noise, whatever the generator or the processor did. A process that was forked off, which has the
/// same draws in its memory, is refused them.
///
/// ```
/// use counterpoint_mechanisms::Noise;
///
/// let mut ahead = Noise::geometric(2.0, 1)?.ahead(2)?;
/// println!("{} and {}", ahead.add(1_024)?, ahead.add(96)?);
/// assert!(ahead.add(5).is_err() && ahead.left() == 0);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
pub struct Ahead {
    drawn: Vec<Whole>,
    grid: Grid,
    process: u32,
}

impl Noise {
    /// Draws so often in advance. What is used later is charged as if it were drawn then.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none to be had.
    pub fn ahead(&self, count: usize) -> Result<Ahead, Error> {
        let drawn = (0..count).map(|_| self.draw()).collect::<Result<_, Error>>()?;
        Ok(Ahead { drawn, grid: self.grid, process: std::process::id() })
    }
}

impl Ahead {
    /// How many draws are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.drawn.len()
    }

    /// A number of grid units with the next noise, which is used up by it.
    ///
    /// # Errors
    /// [`Error::Randomness`] if all of it is used, or it was drawn by another process.
    pub fn add(&mut self, units: i128) -> Result<i128, Error> {
        let failed = |reason: &str| Error::Randomness { reason: reason.into() };
        if self.process != std::process::id() {
            return Err(failed("the noise was drawn ahead by another process"));
        }
        let noise =
            self.drawn.pop().ok_or_else(|| failed("all noise that was drawn ahead is used"))?;
        Ok(noise.added_to(units))
    }

    /// A number, rounded to the grid, with the next noise.
    ///
    /// # Errors
    /// As for [`Ahead::add`].
    pub fn release(&mut self, x: f64) -> Result<f64, Error> {
        Ok(self.grid.value(self.add(self.grid.units(x).into())?))
    }
}

/// Says how many are left, and not what they are.
impl fmt::Debug for Ahead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ahead").field("left", &self.left()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::script;

    #[test]
    fn each_draw_is_used_once_and_none_is_shown() {
        let noise = Noise::geometric(3.0, 1).unwrap();
        let mut ahead = script::with(&[1234, -77], || noise.ahead(2)).unwrap();
        assert_eq!(format!("{ahead:?}"), "Ahead { left: 2, .. }");
        let mut found = [ahead.add(0).unwrap(), ahead.release(0.0).unwrap() as i128];
        found.sort_unstable();
        assert_eq!(found, [-77, 1234]);
        assert!(matches!(ahead.add(0), Err(Error::Randomness { .. })));
        assert!(script::with(&[1], || noise.ahead(2)).is_err());
    }

    #[test]
    fn another_process_is_refused() {
        let mut ahead = Noise::geometric(3.0, 1).unwrap().ahead(1).unwrap();
        ahead.process ^= 1;
        assert!(matches!(ahead.add(0), Err(Error::Randomness { .. })));
        assert_eq!(ahead.left(), 1);
    }
}

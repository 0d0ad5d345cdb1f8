//! Noise that is drawn before there is a number to add it to.

use super::Noise;
use crate::error::Error;
use crate::grid::Grid;
use crate::sample::WholeNumber;
use std::fmt;

/// A supply of draws of one noise, each of which is used once.
///
/// The draws are made before they are used, so the time of an answer is independent of its noise, whatever the
/// generator or the processor did. A forked process, whose memory has the same draws, gets an error instead of a draw.
///
/// ```
/// use counterpoint_mechanisms::Noise;
///
/// let mut ahead = Noise::geometric(2.0, 1)?.predraw(2)?;
/// println!("{} and {}", ahead.add(1_024)?, ahead.add(96)?);
/// assert!(ahead.add(5).is_err() && ahead.remaining() == 0);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
pub struct PredrawnNoise {
    drawn: Vec<WholeNumber>,
    grid: Grid,
    process: u32,
}

impl Noise {
    /// Draws `count` times in advance. Each draw is charged when it is used, as if it were drawn then.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn predraw(&self, count: usize) -> Result<PredrawnNoise, Error> {
        let drawn = (0..count).map(|_| self.draw()).collect::<Result<_, Error>>()?;
        Ok(PredrawnNoise { drawn, grid: self.grid, process: std::process::id() })
    }
}

impl PredrawnNoise {
    /// The number of unused draws.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.drawn.len()
    }

    /// Adds the next draw to a number of grid steps, and uses up the draw.
    ///
    /// # Errors
    /// [`Error::Randomness`] if all draws are used, or if another process made them.
    pub fn add(&mut self, units: i128) -> Result<i128, Error> {
        let failed = |reason: &str| Error::Randomness { reason: reason.into() };
        if self.process != std::process::id() {
            return Err(failed("another process drew this noise in advance"));
        }
        let noise = self
            .drawn
            .pop()
            .ok_or_else(|| failed("all noise that was drawn in advance is used"))?;
        Ok(noise.added_to(units))
    }

    /// Rounds a number to the grid and adds the next draw.
    ///
    /// # Errors
    /// As for [`PredrawnNoise::add`].
    pub fn release(&mut self, x: f64) -> Result<f64, Error> {
        Ok(self.grid.value(self.add(self.grid.units(x).into())?))
    }
}

/// Prints the number of unused draws, not their values.
impl fmt::Debug for PredrawnNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PredrawnNoise")
            .field("remaining", &self.remaining())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::script;

    #[test]
    fn each_draw_is_used_once_and_none_is_shown() {
        let noise = Noise::geometric(3.0, 1).unwrap();
        let mut ahead = script::with(&[1234, -77], || noise.predraw(2)).unwrap();
        assert_eq!(format!("{ahead:?}"), "PredrawnNoise { remaining: 2, .. }");
        let mut found = [ahead.add(0).unwrap(), ahead.release(0.0).unwrap() as i128];
        found.sort_unstable();
        assert_eq!(found, [-77, 1234]);
        assert!(matches!(ahead.add(0), Err(Error::Randomness { .. })));
        assert!(script::with(&[1], || noise.predraw(2)).is_err());
    }

    #[test]
    fn another_process_is_refused() {
        let mut ahead = Noise::geometric(3.0, 1).unwrap().predraw(1).unwrap();
        ahead.process ^= 1;
        assert!(matches!(ahead.add(0), Err(Error::Randomness { .. })));
        assert_eq!(ahead.remaining(), 1);
    }
}

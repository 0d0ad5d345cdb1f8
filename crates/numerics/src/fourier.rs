//! Fourier transforms of doubles.
//!
//! rustfft is generic: each crate that names its planner compiles it again, which takes as long as the rest of the
//! core. This module compiles it once, for doubles, for all crates.

use realfft::RealFftPlanner;

pub use realfft::num_complex::Complex;

/// Fourier transforms of any length; plans are cached.
#[derive(Default)]
pub struct Transforms(RealFftPlanner<f64>);

impl Transforms {
    /// Starts without plans.
    #[must_use]
    #[inline(never)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Computes the unscaled transform of a list at the frequencies 0 to half its length.
    #[inline(never)]
    pub fn forward(&mut self, mut values: Vec<f64>) -> Option<Vec<Complex<f64>>> {
        let plan = self.0.plan_fft_forward(values.len());
        let mut spectrum = plan.make_output_vec();
        plan.process(&mut values, &mut spectrum).ok()?;
        Some(spectrum)
    }

    /// Returns the list of a length whose transform is the spectrum, times that length. `None` if the spectrum has the
    /// wrong length, or a first or last value that is not real.
    #[inline(never)]
    pub fn inverse(&mut self, mut spectrum: Vec<Complex<f64>>, length: usize) -> Option<Vec<f64>> {
        let plan = self.0.plan_fft_inverse(length);
        let mut values = plan.make_output_vec();
        plan.process(&mut spectrum, &mut values).ok()?;
        Some(values)
    }
}

impl std::fmt::Debug for Transforms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Transforms")
    }
}

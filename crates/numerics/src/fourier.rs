//! Fourier transforms of doubles.
//!
//! rustfft is generic: it is compiled wherever its planner is named, and takes as long as the rest of the
//! core. Here it is compiled once, for doubles, however often the crates that use it are.

use realfft::RealFftPlanner;

pub use realfft::num_complex::Complex;

/// Transforms of any lengths, whose plans are used again.
#[derive(Default)]
pub struct Transforms(RealFftPlanner<f64>);

impl Transforms {
    /// No plans yet.
    #[must_use]
    #[inline(never)]
    pub fn new() -> Self {
        Self::default()
    }

    /// The transform of a list at frequencies 0 to half its length, not scaled.
    #[inline(never)]
    pub fn forward(&mut self, mut values: Vec<f64>) -> Option<Vec<Complex<f64>>> {
        let plan = self.0.plan_fft_forward(values.len());
        let mut spectrum = plan.make_output_vec();
        plan.process(&mut values, &mut spectrum).ok()?;
        Some(spectrum)
    }

    /// The list of a length whose transform this is, times that length: none where the spectrum is not as
    /// long as it must be, or has a first or last value that is not real.
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

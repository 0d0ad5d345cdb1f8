//! A confidence interval for a mean with a noisy number of records (theory 11.21).
//!
//! The mean r of N offsets with sum S is S/N. For the noisy numbers N + a and S + b, the difference (S + b) - r (N + a)
//! is b - r a, whatever the data are (Fieller 1954). Let q be the bound on |b - r a| at the confidence: all r for which
//! the difference is at most q form an interval of that confidence, which spends the confidence only once.

use super::mean::RARE;
use crate::noise::{Block, NoiseLaw, SLACK};

/// A noisy number of records and the noisy sum of their offsets, with the laws of their noises.
#[derive(Clone, Copy)]
pub(super) struct Ratio<'a> {
    pub(super) laws: [&'a NoiseLaw; 2],
    pub(super) count: f64,
    pub(super) sum: f64,
}

/// The number of blocks per mean absolute noise.
const FINENESS: f64 = 64.0;
/// The largest number of times that an end is moved inward.
const ROUNDS: u32 = 24;
/// The relative precision of an end, and of a reach.
const WIDTH: f64 = 2e-3;
const REACH: f64 = 2e-3;

impl Ratio<'_> {
    /// An interval that covers the mean with probability at least 1 - alpha, given that the mean's absolute value is at
    /// most `half`.
    pub(super) fn interval(&self, half: f64, alpha: f64) -> (f64, f64) {
        if self.count <= 0.0 {
            return (-half, half);
        }
        let [ones, offsets] = self.laws;
        let blocks = match offsets.needs_blocks(ones) {
            true => ones.blocks(alpha * RARE, FINENESS),
            false => Vec::new(),
        };
        let reach = |far: f64| self.reach(far, alpha, &blocks);
        let middle = (self.sum / self.count).clamp(-half, half);
        let [low, high] = [-1.0, 1.0].map(|side| self.end(side, (middle, half), reach));
        (low, high)
    }

    /// One end of the interval. Of all means between the middle and a known end, none has a larger absolute value than
    /// the larger of these two. Therefore no mean of the interval is beyond the reach of the noise at that value. Every
    /// step is sound by itself.
    fn end(&self, side: f64, (middle, half): (f64, f64), reach: impl Fn(f64) -> f64) -> f64 {
        let mut end = side * half;
        for _ in 0..ROUNDS {
            let far = end.abs().max(middle.abs());
            let next = (self.sum + side * reach(far)) / self.count;
            // Neither beyond the known end, nor on the other side of the middle.
            let next = side * (side * next).min(side * end).max(side * middle);
            let is_close = (next - end).abs() <= WIDTH * (next - middle).abs();
            end = next;
            if is_close {
                break;
            }
        }
        end
    }

    /// A bound on |b - r a| with probability 1 - alpha, for all |r| <= `far`. The sum of continuous symmetric unimodal
    /// noises spreads as r grows. Noise on a grid becomes continuous by adding noise of half a step, which moves the
    /// sum by less than one step.
    fn reach(&self, far: f64, alpha: f64, blocks: &[Block]) -> f64 {
        let [ones, offsets] = self.laws;
        let keeps =
            |x: f64| 2.0 * offsets.both_above(ones, far, x, blocks) <= alpha * (1.0 - SLACK);
        // Exact for two Gaussians; a good start for other noise.
        let about = offsets.furthest(alpha).hypot(far * ones.furthest(alpha));
        let (mut low, mut high) = (0.0, about.max(offsets.step()));
        let mut stride = REACH;
        while !keeps(high) && high < f64::MAX {
            (low, high) = (high, high * (1.0 + stride));
            stride *= 2.0;
        }
        while low <= 0.0 && stride < 1.0 {
            let less = high * (1.0 - stride);
            if keeps(less) {
                high = less
            } else {
                low = less
            }
            stride *= 2.0;
        }
        while high - low > 1.5 * REACH * high {
            let middle = 0.5 * (low + high);
            if keeps(middle) { high = middle } else { low = middle }
        }
        high + offsets.step()
    }
}

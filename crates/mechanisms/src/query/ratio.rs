//! Where a mean is whose number of records has noise too (theory 11.21).
//!
//! The mean r of N offsets that add up to S is S/N, so that of the noisy numbers N + a and S + b the difference
//! (S + b) - r (N + a) is b - r a, whatever the data are (Fieller 1954). All r for which it is no further from zero than b - r a
//! is with the confidence are an interval of that confidence: no more of it is spent than on one number.

use super::mean::RARE;
use crate::noise::{Block, Law, SLACK};

/// A noisy number of records, and the noisy sum of their offsets, with the laws of their noises.
#[derive(Clone, Copy)]
pub(super) struct Ratio<'a> {
    pub(super) laws: [&'a Law; 2],
    pub(super) count: f64,
    pub(super) sum: f64,
}

/// How many blocks an average distance of the noise is cut into.
const FINENESS: f64 = 64.0;
/// How often an end is moved inward at most, each time by what is known of it.
const ROUNDS: u32 = 24;
/// How closely an end and a reach are sought.
const WIDTH: f64 = 2e-3;
const REACH: f64 = 2e-3;

impl Ratio<'_> {
    /// Where the mean is with a chance of at least 1 - alpha, given that it is at most `half` from zero.
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

    /// The end of the interval on one side. Of means between the middle and an end that is known none is further from zero than
    /// the further one of both, and so none that is in the interval is beyond what noise does there. Every step is sound on its own.
    fn end(&self, side: f64, (middle, half): (f64, f64), reach: impl Fn(f64) -> f64) -> f64 {
        let mut end = side * half;
        for _ in 0..ROUNDS {
            let far = end.abs().max(middle.abs());
            let next = (self.sum + side * reach(far)) / self.count;
            // Not beyond what was known, nor on the other side of the middle.
            let next = side * (side * next).min(side * end).max(side * middle);
            let is_close = (next - end).abs() <= WIDTH * (next - middle).abs();
            end = next;
            if is_close {
                break;
            }
        }
        end
    }

    /// How far b - r a is from zero at most with a chance of 1 - alpha, for all r that are at most so far from zero. Continuous
    /// noise that is even and falls outward is spread the further the larger r is. What is on a grid is made such by noise of half a step,
    /// which moves it by less than one.
    fn reach(&self, far: f64, alpha: f64, blocks: &[Block]) -> f64 {
        let [ones, offsets] = self.laws;
        let keeps =
            |x: f64| 2.0 * offsets.both_above(ones, far, x, blocks) <= alpha * (1.0 - SLACK);
        // Of two Gaussians it is this, and of others near it.
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

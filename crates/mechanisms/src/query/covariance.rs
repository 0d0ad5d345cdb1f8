//! The error of a covariance (theory 11.17).
//!
//! Of n records, offsets have means mx and my within X and Y, and a mean product u. With noise a on n, noises sx, sy
//! and q on the sums, N = max(1, n + a) and b = N - n, the error is (q - ub)/N - D, D = tx ty - mx my, where tx is mx +
//! (sx - mx b)/N, clamped.

use super::mean::{COARSE, RARE, RowsBlock, about_least, least_of_three, noisy_rows};
use super::summand::Summand;
use crate::noise::{Block, Noise, NoiseLaw, SLACK};

/// The error of a covariance of `rows` records.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    ones: Option<NoiseLaw>,
    offsets: [NoiseLaw; 2],
    products: NoiseLaw,
    rows: f64,
    /// Half the widths of the bounds.
    halves: [f64; 2],
}

/// The noise in blocks: on the number of records, and on the offsets of both columns.
struct CovarianceBlocks {
    rows: Vec<RowsBlock>,
    offsets: [Vec<Block>; 2],
    /// Bounds on the noise of the offsets, each exceeded with probability at most `rare`.
    far: [f64; 2],
    rare: f64,
}

/// The number of blocks per mean absolute noise where both columns are in blocks.
const MODEST: f64 = 16.0;

/// The number of steps of the integral for a mean error.
const STEPS: i32 = 64;

impl Covariance {
    /// From the noise on ones, unless the number of records is public, on both columns' offsets and on products.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, halves: [f64; 2]) -> Option<Self> {
        let law = |(_, noise): &(Summand, Noise)| NoiseLaw::new(noise);
        let (ones, [x, y, products]) = match sums {
            [x, y, products] => (None, [x, y, products].map(law)),
            [ones, x, y, products] => (Some(law(ones)), [x, y, products].map(law)),
            _ => return None,
        };
        let rows = if ones.is_none() { (rows as f64).max(1.0) } else { rows as f64 };
        Some(Self { ones, offsets: [x, y], products, rows, halves })
    }

    /// Half of the largest difference of two answers.
    fn most(&self) -> f64 {
        self.halves.iter().product()
    }

    /// Blocks up to a probability `beyond` outside, with bounds on the offsets' noise up to a probability `rare`.
    fn blocks(&self, beyond: f64, rare: f64, fineness: f64) -> CovarianceBlocks {
        // Three nested levels of blocks need coarser blocks.
        let in_blocks = self.offsets.iter().any(|law| self.products.needs_blocks(law));
        let fineness = fineness.min(if in_blocks { 0.25 * MODEST } else { MODEST });
        let offsets = self.offsets.each_ref();
        CovarianceBlocks {
            rows: noisy_rows(self.ones.as_ref(), self.rows, beyond, fineness),
            offsets: offsets.map(|law| law.blocks(beyond, fineness)),
            far: offsets.map(|law| law.furthest(rare)),
            rare,
        }
    }

    /// A half-width for all data; a confidence below one half is replaced by one half, as for variances.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        least_of_three(2.0 * self.most(), &[], alpha, |fineness| {
            let blocks = self.blocks(alpha * RARE, alpha / 256.0, fineness);
            move |h| self.fails(&blocks, h)
        })
    }

    /// An estimate of [`Self::half_width`] by coarse blocks.
    pub(super) fn about_half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        let blocks = self.blocks(alpha * RARE, alpha / 256.0, COARSE);
        let guess = self.products.furthest(alpha) / self.rows.max(1.0);
        about_least(guess, 2.0 * self.most(), |h| (self.fails(&blocks, h) / alpha).ln())
    }

    /// True if no data have an error above h with probability above alpha.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        let alpha = alpha.min(0.5);
        self.fails(&self.blocks(alpha * RARE, alpha / 256.0, fineness), h) <= alpha
    }

    /// An upper bound on the mean absolute error: a sum over the probabilities of larger errors, from the left.
    pub(super) fn expected(&self) -> f64 {
        let (blocks, most) = (self.blocks(1e-6, 1e-5, 4.0), 2.0 * self.most());
        let place = |step: i32| most * 1.15_f64.powi(step - STEPS);
        let parts = (0..STEPS).map(|step| {
            let width = place(step + 1) - place(step);
            width * self.fails(&blocks, place(step)).min(1.0)
        });
        (place(0) + parts.sum::<f64>()).min(most)
    }

    /// An upper bound on the probability of an error above h. Both signs have the same bound.
    fn fails(&self, blocks: &CovarianceBlocks, h: f64) -> f64 {
        if h >= 2.0 * self.most() {
            return 0.0;
        }
        let one = |rows: &RowsBlock| rows.chance * (2.0 * self.too_high(blocks, rows, h)).min(1.0);
        let fails: f64 = blocks.rows.iter().map(one).sum();
        (fails + 2.0 * blocks.rare) * (1.0 + SLACK)
    }

    /// An upper bound on the probability that the answer is too high by more than h.
    ///
    /// With sx' = (sx - mx b)/N, and clamping by factors c from 0 to 1, D = cx my sx' + cy mx sy' + cx cy sx' sy'. The
    /// terms of q - N D that contain b are (-u + (cx + cy) mx my) b, of absolute value at most XY |b|, as |u - mx my|
    /// <= sqrt(X^2 - mx^2) sqrt(Y^2 - my^2). The terms with sx and sy are at most Y (s)_+ and X (s)_+ of equally many
    /// other symmetric noises, and the last term is at most (Fx + X|b|)(Fy + Y|b|)/N unless a noise is beyond Fx or Fy.
    fn too_high(&self, blocks: &CovarianceBlocks, rows: &RowsBlock, h: f64) -> f64 {
        if rows.many.is_infinite() {
            return 1.0;
        }
        let [x, y] = self.halves;
        let moved = (rows.few - self.rows).abs().max((rows.many - self.rows).abs());
        let both = (blocks.far[0] + x * moved) * (blocks.far[1] + y * moved) / rows.few;
        let level = h * rows.few - x * y * moved - both;
        if level <= 0.0 { 1.0 } else { self.positive_parts(blocks, level) }
    }

    /// An upper bound on P(q + Y (sx)_+ + X (sy)_+ > level), by cases of the signs of sx and sy.
    fn positive_parts(&self, blocks: &CovarianceBlocks, level: f64) -> f64 {
        let ([x, y], [of_x, of_y]) = (self.halves, &self.offsets);
        let level = level - level.abs() * SLACK;
        let with_x = |level: f64| self.products.both_above(of_x, y, level, &blocks.offsets[0]);
        let with_y = self.products.both_above(of_y, x, level, &blocks.offsets[1]);
        let all = |block: &Block| match block.high.is_infinite() {
            true => block.chance,
            false => block.chance * with_x(level - x * block.high),
        };
        let above_zero = blocks.offsets[1].iter().filter(|block| block.high > 0.0);
        let all: f64 = above_zero.map(all).sum();
        let alone = self.products.above(level - self.products.step());
        let [low_x, low_y] = self.offsets.each_ref().map(|law| 1.0 - law.above(0.0));
        (all + low_y * with_x(level) + low_x * with_y + low_x * low_y * alone).min(1.0)
    }
}

//! How far a covariance is off (theory 11.17).
//!
//! Of n records, offsets have means mx and my within X and Y, and a mean product u. With noise a on n, sx, sy and q on the
//! sums, and N = max(1, n + a), b = N - n, the answer is off by (q - ub)/N - D, D = tx ty - mx my, where tx is mx + (sx - mx
//! b)/N, clamped.

use super::mean::{COARSE, RARE, Rows, about_least, least_of_three, noisy_rows};
use super::summand::Summand;
use crate::noise::{Block, Law, Noise, SLACK};

/// A covariance of so many records.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    ones: Option<Law>,
    offsets: [Law; 2],
    products: Law,
    rows: f64,
    /// Half the widths of the bounds.
    halves: [f64; 2],
}

/// The noise in blocks: the number of records, and the offsets of both columns.
struct Blocks {
    rows: Vec<Rows>,
    offsets: [Vec<Block>; 2],
    /// Offsets are further out than this with a chance of `rare` each.
    far: [f64; 2],
    rare: f64,
}

/// How many blocks an average distance is cut into where there are blocks of both.
const MODEST: f64 = 16.0;

/// How many steps a mean distance is added up in.
const STEPS: i32 = 64;

impl Covariance {
    /// Of the noise on ones, unless their number is public, on both columns' offsets and on products.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, halves: [f64; 2]) -> Option<Self> {
        let law = |(_, noise): &(Summand, Noise)| Law::new(noise);
        let (ones, [x, y, products]) = match sums {
            [x, y, products] => (None, [x, y, products].map(law)),
            [ones, x, y, products] => (Some(law(ones)), [x, y, products].map(law)),
            _ => return None,
        };
        let rows = if ones.is_none() { (rows as f64).max(1.0) } else { rows as f64 };
        Some(Self { ones, offsets: [x, y], products, rows, halves })
    }

    /// Half of what two answers can differ by.
    fn most(&self) -> f64 {
        self.halves.iter().product()
    }

    /// Blocks as far as what is so rare, and offsets as far as what is not quite that.
    fn blocks(&self, beyond: f64, rare: f64, fineness: f64) -> Blocks {
        // Blocks of blocks of blocks are dearer still.
        let in_blocks = self.offsets.iter().any(|law| self.products.needs_blocks(law));
        let fineness = fineness.min(if in_blocks { 0.25 * MODEST } else { MODEST });
        let offsets = self.offsets.each_ref();
        Blocks {
            rows: noisy_rows(self.ones.as_ref(), self.rows, beyond, fineness),
            offsets: offsets.map(|law| law.blocks(beyond, fineness)),
            far: offsets.map(|law| law.furthest(rare)),
            rare,
        }
    }

    /// A half-width for all data; a confidence below one half is taken for that, as for variances.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        least_of_three(2.0 * self.most(), &[], alpha, |fineness| {
            let blocks = self.blocks(alpha * RARE, alpha / 256.0, fineness);
            move |h| self.fails(&blocks, h)
        })
    }

    /// About the same, by coarse blocks.
    pub(super) fn about_half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        let blocks = self.blocks(alpha * RARE, alpha / 256.0, COARSE);
        let guess = self.products.furthest(alpha) / self.rows.max(1.0);
        about_least(guess, 2.0 * self.most(), |h| (self.fails(&blocks, h) / alpha).ln())
    }

    /// Whether no data are off by more than h more often than that.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        let alpha = alpha.min(0.5);
        self.fails(&self.blocks(alpha * RARE, alpha / 256.0, fineness), h) <= alpha
    }

    /// The mean distance, at most: a sum of how often it is larger, from the left.
    pub(super) fn expected(&self) -> f64 {
        let (blocks, most) = (self.blocks(1e-6, 1e-5, 4.0), 2.0 * self.most());
        let place = |step: i32| most * 1.15_f64.powi(step - STEPS);
        let parts = (0..STEPS).map(|step| {
            let width = place(step + 1) - place(step);
            width * self.fails(&blocks, place(step)).min(1.0)
        });
        (place(0) + parts.sum::<f64>()).min(most)
    }

    /// How often answers are off by more than h, at most. Either side is as likely, and bounds for both are the same.
    fn fails(&self, blocks: &Blocks, h: f64) -> f64 {
        if h >= 2.0 * self.most() {
            return 0.0;
        }
        let one = |rows: &Rows| rows.chance * (2.0 * self.too_high(blocks, rows, h)).min(1.0);
        let fails: f64 = blocks.rows.iter().map(one).sum();
        (fails + 2.0 * blocks.rare) * (1.0 + SLACK)
    }

    /// With sx' = (sx - mx b)/N and clamping by factors c from 0 to 1, D = cx my sx' + cy mx sy' + cx cy sx' sy'. What b adds
    /// to q - N D is (-u + (cx + cy) mx my) b, of size at most XY |b|, as |u - mx my| <= sqrt(X^2 - mx^2) sqrt(Y^2 - my^2).
    /// What sx and sy add is at most Y (s)_+ and X (s)_+ of as many other symmetric noises, and the last part is
    /// at most (Fx + X|b|)(Fy + Y|b|)/N, but for noises beyond Fx and Fy.
    fn too_high(&self, blocks: &Blocks, rows: &Rows, h: f64) -> f64 {
        if rows.many.is_infinite() {
            return 1.0;
        }
        let [x, y] = self.halves;
        let moved = (rows.few - self.rows).abs().max((rows.many - self.rows).abs());
        let both = (blocks.far[0] + x * moved) * (blocks.far[1] + y * moved) / rows.few;
        let level = h * rows.few - x * y * moved - both;
        if level <= 0.0 { 1.0 } else { self.positive_parts(blocks, level) }
    }

    /// P(q + Y (sx)_+ + X (sy)_+ > level), at most: by which of sx and sy are above zero.
    fn positive_parts(&self, blocks: &Blocks, level: f64) -> f64 {
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

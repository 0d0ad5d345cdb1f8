//! The error of a variance (theory 11.14).
//!
//! Of n records, offsets have mean m and mean square u, m^2 <= u <= M^2, and v = u - m^2. With noise a on n, noise s on
//! the sum of offsets, noise q on the sum of squares, N = max(1, n + a) and b = N - n, the error is A - D: A = (q - u
//! b)/N, and D = t^2 - m^2, t being m + (s - m b)/N clamped to [-M, M].

use super::mean::{COARSE, RARE, RowsBlock, about_least, least_of_three, noisy_rows};
use super::summand::Summand;
use crate::noise::{Block, Noise, NoiseLaw, SLACK};

/// The error of a variance of `rows` records.
#[derive(Clone, Debug)]
pub(super) struct Variance {
    ones: Option<NoiseLaw>,
    offsets: NoiseLaw,
    squares: NoiseLaw,
    rows: f64,
    /// Half the width of the bounds.
    half: f64,
}

/// Data with means from `m.0` to `m.1` and mean squares from `u.0` to `u.1`; by reflection m >= 0.
#[derive(Clone, Copy, Debug)]
struct MomentCell {
    m: (f64, f64),
    u: (f64, f64),
}

/// The noise in blocks: on the number of records, and on the offsets where that is needed.
struct VarianceBlocks {
    rows: Vec<RowsBlock>,
    offsets: Vec<Block>,
}

/// The largest number of times that a cell is halved, and of cells that are evaluated.
const HALVINGS: u32 = 10;
const MOST_LOOKS: u32 = 250;

/// The number of layers that the data are cut into at first.
const LAYERS: i32 = 24;

/// The number of blocks per mean absolute noise where both the number of records and the offsets are in blocks.
const MODEST: f64 = 8.0;

impl Variance {
    /// From the noise on ones, unless the number of records is public, on offsets and on squares.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, half: f64) -> Option<Self> {
        let rows = rows as f64;
        let law = |(_, noise): &(Summand, Noise)| NoiseLaw::new(noise);
        let (ones, offsets, squares) = match sums {
            [offsets, squares] => (None, law(offsets), law(squares)),
            [ones, offsets, squares] => (Some(law(ones)), law(offsets), law(squares)),
            _ => return None,
        };
        let rows = if ones.is_none() { rows.max(1.0) } else { rows };
        Some(Self { ones, offsets, squares, rows, half })
    }

    fn most(&self) -> f64 {
        self.half * self.half
    }

    fn blocks(&self, alpha: f64, fineness: f64) -> VarianceBlocks {
        // Two nested levels of blocks are expensive.
        let in_blocks = self.squares.needs_blocks(&self.offsets);
        let fineness = if in_blocks { fineness.min(MODEST) } else { fineness };
        let offsets = if in_blocks { self.offsets.blocks(alpha, fineness) } else { Vec::new() };
        VarianceBlocks { rows: noisy_rows(self.ones.as_ref(), self.rows, alpha, fineness), offsets }
    }

    fn all_data(&self) -> MomentCell {
        MomentCell { m: (0.0, self.half), u: (0.0, self.most()) }
    }

    /// A half-width for all data. A confidence below one half is replaced by one half: there the bounds, which add
    /// probabilities, are weak.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        least_of_three(self.most(), &[], alpha, |fineness| {
            let blocks = self.blocks(alpha * RARE, fineness.min(32.0));
            move |h| self.fails_in(&blocks, h, alpha)
        })
    }

    /// An estimate of the half-width: for data that are usually the worst, by coarse blocks.
    pub(super) fn about_half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        let blocks = self.blocks(alpha * RARE, COARSE);
        let guess = self.squares.furthest(alpha) / self.rows.max(1.0);
        about_least(guess, self.most(), |h| (self.fails(&blocks, self.likely(h), h) / alpha).ln())
    }

    /// True if no data have an error above h with probability above alpha.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        let alpha = alpha.min(0.5);
        self.fails_in(&self.blocks(alpha * RARE, fineness), h, alpha) <= alpha
    }

    /// Data on which errors of both signs are possible, with the mean as far out as possible: usually the worst.
    fn likely(&self, h: f64) -> MomentCell {
        let m = (self.most() - h).max(0.0).sqrt();
        MomentCell { m: (m, m), u: (self.most(), self.most()) }
    }

    /// An upper bound on the probability of an error above h on the data that are usually the worst, if the probability
    /// is shown to be at most alpha on all data; otherwise some number above alpha.
    fn fails_in(&self, blocks: &VarianceBlocks, h: f64, alpha: f64) -> f64 {
        if h >= self.most() {
            return 0.0;
        }
        let (likely, mut left) = (self.likely(h), MOST_LOOKS);
        let fails = self.fails(blocks, likely, h);
        let keeps = fails <= alpha
            && self
                .layers(likely.m.0)
                .all(|cell| self.keeps_on(blocks, cell, (h, alpha), HALVINGS, &mut left));
        if keeps || fails > alpha { fails } else { f64::INFINITY }
    }

    /// All data in cells, cut at a mean m and at twice, four times, ... its distance from the end of the bounds.
    fn layers(&self, m: f64) -> impl Iterator<Item = MomentCell> {
        let (half, most) = (self.half, self.most());
        let cuts = (0..LAYERS).map(move |j| (half - (half - m) * 2.0_f64.powi(j)).max(0.0));
        let cuts = [half].into_iter().chain(cuts).chain([0.0]);
        let layers = cuts.clone().zip(cuts.skip(1)).filter(|(above, below)| above > below);
        layers.map(move |(above, below)| MomentCell { m: (below, above), u: (below * below, most) })
    }

    /// True if the probability is shown to be at most alpha on a cell, with the remaining halvings and evaluations.
    fn keeps_on(
        &self,
        blocks: &VarianceBlocks,
        cell: MomentCell,
        (h, alpha): (f64, f64),
        halvings: u32,
        left: &mut u32,
    ) -> bool {
        if *left == 0 {
            return false;
        }
        *left -= 1;
        self.fails(blocks, cell, h) <= alpha
            || halvings > 0
                && (cell.halves(self.half).into_iter())
                    .all(|half| self.keeps_on(blocks, half, (h, alpha), halvings - 1, left))
    }

    /// An upper bound on the probability of an error above h on the data of a cell.
    fn fails(&self, blocks: &VarianceBlocks, cell: MomentCell, h: f64) -> f64 {
        let Some(variances) = cell.variances() else { return 0.0 };
        // Answers are between zero and M^2.
        let is_high = variances.0 + h < self.most();
        let is_low = variances.1 > h;
        let both = |rows: &RowsBlock| {
            if rows.many.is_infinite() {
                return rows.chance;
            }
            let high = if is_high { self.too_high(blocks, rows, cell, h) } else { 0.0 };
            let low = if is_low { self.too_low(blocks, rows, cell, h) } else { 0.0 };
            rows.chance * (high + low).min(1.0)
        };
        blocks.rows.iter().map(both).sum::<f64>() * (1.0 + SLACK)
    }

    /// A - D > h implies A - 2ms' > h, since D >= 2ms' unless t was clamped; if it was, D >= 0.
    fn too_high(&self, blocks: &VarianceBlocks, rows: &RowsBlock, cell: MomentCell, h: f64) -> f64 {
        let MomentCell { m, u } = cell;
        let least = |k: (f64, f64)| self.least(rows, h, k);
        let straight = least((u.0 - 2.0 * m.1 * m.1, u.1 - 2.0 * m.0 * m.0));
        let straight = self.linear(blocks, (2.0 * m.0, 2.0 * m.1), straight);
        // s' > M - m.
        let clamped = self.least(rows, self.half - m.1, m);
        let clamped = above(&self.offsets, clamped) * above(&self.squares, least(u));
        straight + clamped
    }

    /// D - A > h, with D <= (M + m) s' for s' > 0, and D <= (M + m)(-s' - 2m) for s' < 0, where D is positive only for
    /// s' < -2m.
    fn too_low(&self, blocks: &VarianceBlocks, rows: &RowsBlock, cell: MomentCell, h: f64) -> f64 {
        let MomentCell { m, u } = cell;
        let wide = (self.half + m.0, self.half + m.1);
        let slopes = (wide.0 * m.0, wide.1 * m.1);
        let forth = self.least(rows, h, (slopes.0 - u.1, slopes.1 - u.0));
        let back = self.least(rows, h + 2.0 * slopes.0, (-slopes.1 - u.1, -slopes.0 - u.0));
        let beyond = self.least(rows, 2.0 * m.0, (-m.1, -m.0));
        self.linear(blocks, wide, forth)
            + self.linear(blocks, wide, back).min(above(&self.offsets, beyond))
    }

    /// The least h N + k b for these N and k; since it is bilinear, it is reached in a corner.
    fn least(&self, rows: &RowsBlock, h: f64, k: (f64, f64)) -> f64 {
        let ends = [rows.few, rows.many].into_iter();
        let corners = ends.flat_map(|n| [k.0, k.1].map(|k| h * n + k * (n - self.rows)));
        corners.fold(f64::INFINITY, f64::min)
    }

    /// P(q + w s > y) for the worst w: the largest if y > 0, otherwise the least.
    fn linear(&self, blocks: &VarianceBlocks, w: (f64, f64), y: f64) -> f64 {
        let (w, y) = (if y > 0.0 { w.1 } else { w.0 }, y - y.abs() * SLACK);
        self.squares.both_above(&self.offsets, w, y, &blocks.offsets)
    }

    /// An upper bound on the largest mean absolute error over all data: the worst cells are halved repeatedly.
    pub(super) fn expected(&self) -> f64 {
        let blocks = self.blocks(1e-6, 2.0 * MODEST);
        let mut cells = vec![(self.distance(&blocks, self.all_data()), self.all_data())];
        for _ in 0..MOST_CELLS {
            let worst = cells.iter().enumerate().max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
            let Some((place, &(_, cell))) = worst else { break };
            cells.swap_remove(place);
            let halves = cell.halves(self.half);
            cells.extend(halves.map(|half| (self.distance(&blocks, half), half)));
        }
        cells.iter().map(|(distance, _)| *distance).fold(0.0, f64::max).min(self.most())
    }

    /// An upper bound on the mean absolute error for data of a cell: as for failures, with positive parts for each
    /// sign.
    fn distance(&self, blocks: &VarianceBlocks, cell: MomentCell) -> f64 {
        let Some(variances) = cell.variances() else { return 0.0 };
        let MomentCell { m, u } = cell;
        let wide = (self.half + m.0, self.half + m.1);
        let slopes = (wide.0 * m.0, wide.1 * m.1);
        let excess =
            |w: f64, y: f64| self.squares.both_excess(&self.offsets, w, y, &blocks.offsets);
        let both = |rows: &RowsBlock| {
            if rows.many.is_infinite() {
                return rows.chance * self.most();
            }
            let least = |h: f64, k: (f64, f64)| self.least(rows, h, k);
            let straight =
                excess(2.0 * m.1, least(0.0, (u.0 - 2.0 * m.1 * m.1, u.1 - 2.0 * m.0 * m.0)));
            let clamped =
                above(&self.offsets, least(self.half - m.1, m)) * excess(0.0, least(0.0, u));
            let forth = excess(wide.1, least(0.0, (slopes.0 - u.1, slopes.1 - u.0)));
            let back = excess(wide.1, least(2.0 * slopes.0, (-slopes.1 - u.1, -slopes.0 - u.0)));
            let high = (straight + clamped) / rows.few;
            let low = (forth + back) / rows.few;
            rows.chance * (high.min(self.most() - variances.0) + low.min(variances.1))
        };
        blocks.rows.iter().map(both).sum::<f64>() * (1.0 + SLACK)
    }

    /// E (q - x)_+ for any x.
    fn excess(&self, x: f64) -> f64 {
        self.squares.excess(x.abs()) + (-x).max(0.0)
    }

    /// The half-width for data with this mean and mean square of offsets.
    pub(super) fn half_width_on(&self, m: f64, u: f64, alpha: f64) -> f64 {
        let v = u - m * m;
        least_of_three(self.most(), &[v, self.most() - v], alpha, |fineness| {
            let fineness = (0.5 * fineness).min(3.0 * MODEST);
            let rows = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
            let offsets = self.offsets.blocks(alpha * RARE, fineness);
            move |h| match h >= self.most() {
                true => 0.0,
                false => self.fails_on(&rows, &offsets, (m, u), h),
            }
        })
    }

    /// An upper bound on the probability of an error above h on such data: for N and s in their blocks, D is between
    /// two numbers.
    fn fails_on(&self, rows: &[RowsBlock], offsets: &[Block], (m, u): (f64, f64), h: f64) -> f64 {
        let v = u - m * m;
        let (is_high, is_low) = (v + h < self.most(), v > h);
        let fails = |rows: &RowsBlock, block: &Block| {
            let Some((low, high)) = self.moves(rows, block, m) else { return 1.0 };
            // q > N (h + D) + u b, or -q > N (h - D) - u b.
            let up = self.least(rows, h + low, (u, u));
            let down = self.least(rows, h - high, (-u, -u));
            let up = if is_high { above(&self.squares, up) } else { 0.0 };
            let down = if is_low { above(&self.squares, down) } else { 0.0 };
            (up + down).min(1.0)
        };
        let row = |rows: &RowsBlock| {
            let of = |block: &Block| block.chance * fails(rows, block);
            rows.chance * offsets.iter().map(of).sum::<f64>()
        };
        rows.iter().map(row).sum::<f64>() * (1.0 + SLACK)
    }

    /// The least and the largest D; none for infinite blocks.
    fn moves(&self, rows: &RowsBlock, block: &Block, m: f64) -> Option<(f64, f64)> {
        if rows.many.is_infinite() || block.low.is_infinite() || block.high.is_infinite() {
            return None;
        }
        let total = m * self.rows;
        let mean = |s: f64, n: f64| ((total + s) / n).clamp(-self.half, self.half);
        let corners = [block.low, block.high].map(|s| [mean(s, rows.few), mean(s, rows.many)]);
        let ends = corners.iter().flatten();
        let least = ends.clone().fold(f64::INFINITY, |a, &b| a.min(b));
        let most = ends.fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let nearest = if least <= 0.0 && most >= 0.0 { 0.0 } else { least.abs().min(most.abs()) };
        let furthest = least.abs().max(most.abs());
        Some((nearest * nearest - m * m, furthest * furthest - m * m))
    }

    /// An upper bound on the mean absolute error on data with this mean and mean square of offsets.
    pub(super) fn expected_on(&self, m: f64, u: f64) -> f64 {
        let rows = noisy_rows(self.ones.as_ref(), self.rows, 1e-6, 4.0 * MODEST);
        let offsets = self.offsets.blocks(1e-6, 4.0 * MODEST);
        let v = (u - m * m).clamp(0.0, self.most());
        let capped =
            |x: f64, n: f64, cap: f64| ((self.excess(x) - self.excess(x + cap * n)) / n).max(0.0);
        let of = |rows: &RowsBlock, block: &Block| {
            let Some((low, high)) = self.moves(rows, block, m) else { return self.most() };
            let up = self.least(rows, low, (u, u));
            let down = self.least(rows, -high, (-u, -u));
            capped(up, rows.few, self.most() - v) + capped(down, rows.few, v)
        };
        let row = |rows: &RowsBlock| {
            rows.chance * offsets.iter().map(|block| block.chance * of(rows, block)).sum::<f64>()
        };
        rows.iter().map(row).sum::<f64>() * (1.0 + SLACK)
    }
}

/// The number of times that a cell is halved for an expected error.
const MOST_CELLS: usize = 60;

impl MomentCell {
    /// The least and the largest variance, if the cell contains data.
    fn variances(self) -> Option<(f64, f64)> {
        let least = (self.u.0 - self.m.1 * self.m.1).max(0.0);
        let most = self.u.1 - self.m.0 * self.m.0;
        (most >= 0.0).then_some((least, most))
    }

    /// The halves along the wider side, for bounds of this half-width.
    fn halves(self, half: f64) -> [Self; 2] {
        let Self { m, u } = self;
        if (m.1 - m.0) * half >= u.1 - u.0 {
            let middle = 0.5 * (m.0 + m.1);
            return [Self { m: (m.0, middle), u }, Self { m: (middle, m.1), u }];
        }
        let middle = 0.5 * (u.0 + u.1);
        [Self { m, u: (u.0, middle) }, Self { m, u: (middle, u.1) }]
    }
}

/// P(noise > x), with one step less to allow for the grid.
fn above(law: &NoiseLaw, x: f64) -> f64 {
    law.above(x - x.abs() * SLACK - law.step())
}

//! How far a variance is off (theory 11.14).
//!
//! Of n records, offsets have mean m and mean square u, m^2 <= u <= M^2: v = u - m^2. With noise a on n, s
//! on the sum of offsets and q on that of squares, and N = max(1, n + a), b = N - n, the answer is off by
//! A - D: A = (q - u b)/N, and D = t^2 - m^2, t being m + (s - m b)/N clamped to [-M, M].

use super::mean::{COARSE, RARE, Rows, about_least, least_of_three, noisy_rows};
use super::summand::Summand;
use crate::noise::{Block, Law, Noise, SLACK};

/// A variance of so many records.
#[derive(Clone, Debug)]
pub(super) struct Variance {
    ones: Option<Law>,
    offsets: Law,
    squares: Law,
    rows: f64,
    /// Half the width of the bounds.
    half: f64,
}

/// Data with means from `m.0` to `m.1` and mean squares from `u.0` to `u.1`; by reflection m >= 0.
#[derive(Clone, Copy, Debug)]
struct Cell {
    m: (f64, f64),
    u: (f64, f64),
}

/// The noise in blocks: the number of records, and the offsets where they are needed.
struct Blocks {
    rows: Vec<Rows>,
    offsets: Vec<Block>,
}

/// Cells are halved so often, and so many are looked at, at most.
const HALVINGS: u32 = 10;
const MOST_LOOKS: u32 = 250;

/// Data are first cut into so many layers.
const LAYERS: i32 = 24;

/// How many blocks an average distance is cut into where there are blocks of both records and offsets.
const MODEST: f64 = 8.0;

impl Variance {
    /// Of the noise on ones, unless their number is public, on offsets and on squares.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, half: f64) -> Option<Self> {
        let rows = rows as f64;
        let law = |(_, noise): &(Summand, Noise)| Law::new(noise);
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

    fn blocks(&self, alpha: f64, fineness: f64) -> Blocks {
        // Blocks of blocks are dear.
        let in_blocks = self.squares.needs_blocks(&self.offsets);
        let fineness = if in_blocks { fineness.min(MODEST) } else { fineness };
        let offsets = if in_blocks { self.offsets.blocks(alpha, fineness) } else { Vec::new() };
        Blocks { rows: noisy_rows(self.ones.as_ref(), self.rows, alpha, fineness), offsets }
    }

    fn all_data(&self) -> Cell {
        Cell { m: (0.0, self.half), u: (0.0, self.most()) }
    }

    /// A half-width for all data. A confidence below one half is taken for that: bounds on chances of which
    /// several add up say little there.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        least_of_three(self.most(), &[], alpha, |fineness| {
            let blocks = self.blocks(alpha * RARE, fineness.min(32.0));
            move |h| self.fails_in(&blocks, h, alpha)
        })
    }

    /// About the same: for the data that are mostly worst, by coarse blocks.
    pub(super) fn about_half_width(&self, alpha: f64) -> f64 {
        let alpha = alpha.min(0.5);
        let blocks = self.blocks(alpha * RARE, COARSE);
        let guess = self.squares.furthest(alpha) / self.rows.max(1.0);
        about_least(guess, self.most(), |h| (self.fails(&blocks, self.likely(h), h) / alpha).ln())
    }

    /// Whether no data are off by more than h more often than that.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        let alpha = alpha.min(0.5);
        self.fails_in(&self.blocks(alpha * RARE, fineness), h, alpha) <= alpha
    }

    /// Data with both sides open and the mean as far out as it may be: mostly the worst.
    fn likely(&self, h: f64) -> Cell {
        let m = (self.most() - h).max(0.0).sqrt();
        Cell { m: (m, m), u: (self.most(), self.most()) }
    }

    /// How often answers on the data that are mostly worst are off by more than h, at most, where no data are shown to be
    /// more often than alpha; else that it is more.
    fn fails_in(&self, blocks: &Blocks, h: f64, alpha: f64) -> f64 {
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

    /// All data, cut at a mean and at twice, four times, ... its distance from the end of the bounds.
    fn layers(&self, m: f64) -> impl Iterator<Item = Cell> {
        let (half, most) = (self.half, self.most());
        let cuts = (0..LAYERS).map(move |j| (half - (half - m) * 2.0_f64.powi(j)).max(0.0));
        let cuts = [half].into_iter().chain(cuts).chain([0.0]);
        let layers = cuts.clone().zip(cuts.skip(1)).filter(|(above, below)| above > below);
        layers.map(move |(above, below)| Cell { m: (below, above), u: (below * below, most) })
    }

    /// Whether it is shown for a cell, with so many halvings and looks left.
    fn keeps_on(
        &self,
        blocks: &Blocks,
        cell: Cell,
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

    /// How often answers on data of a cell are off by more than h, at most.
    fn fails(&self, blocks: &Blocks, cell: Cell, h: f64) -> f64 {
        let Some(variances) = cell.variances() else { return 0.0 };
        // Answers are between zero and M^2.
        let is_high = variances.0 + h < self.most();
        let is_low = variances.1 > h;
        let both = |rows: &Rows| {
            if rows.many.is_infinite() {
                return rows.chance;
            }
            let high = if is_high { self.too_high(blocks, rows, cell, h) } else { 0.0 };
            let low = if is_low { self.too_low(blocks, rows, cell, h) } else { 0.0 };
            rows.chance * (high + low).min(1.0)
        };
        blocks.rows.iter().map(both).sum::<f64>() * (1.0 + SLACK)
    }

    /// A - D > h: then A - 2ms' > h, as D >= 2ms' unless t was clamped; if it was, D >= 0.
    fn too_high(&self, blocks: &Blocks, rows: &Rows, cell: Cell, h: f64) -> f64 {
        let Cell { m, u } = cell;
        let least = |k: (f64, f64)| self.least(rows, h, k);
        let straight = least((u.0 - 2.0 * m.1 * m.1, u.1 - 2.0 * m.0 * m.0));
        let straight = self.linear(blocks, (2.0 * m.0, 2.0 * m.1), straight);
        // s' > M - m.
        let clamped = self.least(rows, self.half - m.1, m);
        let clamped = above(&self.offsets, clamped) * above(&self.squares, least(u));
        straight + clamped
    }

    /// D - A > h, with D <= (M + m) s' for s' > 0, and D <= (M + m)(-s' - 2m) for s' < 0, where D is
    /// above zero only for s' < -2m.
    fn too_low(&self, blocks: &Blocks, rows: &Rows, cell: Cell, h: f64) -> f64 {
        let Cell { m, u } = cell;
        let wide = (self.half + m.0, self.half + m.1);
        let slopes = (wide.0 * m.0, wide.1 * m.1);
        let forth = self.least(rows, h, (slopes.0 - u.1, slopes.1 - u.0));
        let back = self.least(rows, h + 2.0 * slopes.0, (-slopes.1 - u.1, -slopes.0 - u.0));
        let beyond = self.least(rows, 2.0 * m.0, (-m.1, -m.0));
        self.linear(blocks, wide, forth)
            + self.linear(blocks, wide, back).min(above(&self.offsets, beyond))
    }

    /// The least h N + k b for these N and k. (Bilinear: at a corner.)
    fn least(&self, rows: &Rows, h: f64, k: (f64, f64)) -> f64 {
        let ends = [rows.few, rows.many].into_iter();
        let corners = ends.flat_map(|n| [k.0, k.1].map(|k| h * n + k * (n - self.rows)));
        corners.fold(f64::INFINITY, f64::min)
    }

    /// P(q + w s > y) for the worst w: the largest if y > 0, the least if not.
    fn linear(&self, blocks: &Blocks, w: (f64, f64), y: f64) -> f64 {
        let (w, y) = (if y > 0.0 { w.1 } else { w.0 }, y - y.abs() * SLACK);
        self.squares.both_above(&self.offsets, w, y, &blocks.offsets)
    }

    /// The largest mean distance over all data, at most: cells are halved while that may say more.
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

    /// The mean distance for data of a cell, at most: as for failures, each side being a
    /// positive part.
    fn distance(&self, blocks: &Blocks, cell: Cell) -> f64 {
        let Some(variances) = cell.variances() else { return 0.0 };
        let Cell { m, u } = cell;
        let wide = (self.half + m.0, self.half + m.1);
        let slopes = (wide.0 * m.0, wide.1 * m.1);
        let excess =
            |w: f64, y: f64| self.squares.both_excess(&self.offsets, w, y, &blocks.offsets);
        let both = |rows: &Rows| {
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

    /// How often the answer on such data is off by more than h, at most: for N and s in their blocks
    /// D is between two numbers.
    fn fails_on(&self, rows: &[Rows], offsets: &[Block], (m, u): (f64, f64), h: f64) -> f64 {
        let v = u - m * m;
        let (is_high, is_low) = (v + h < self.most(), v > h);
        let fails = |rows: &Rows, block: &Block| {
            let Some((low, high)) = self.moves(rows, block, m) else { return 1.0 };
            // q > N (h + D) + u b, or -q > N (h - D) - u b.
            let up = self.least(rows, h + low, (u, u));
            let down = self.least(rows, h - high, (-u, -u));
            let up = if is_high { above(&self.squares, up) } else { 0.0 };
            let down = if is_low { above(&self.squares, down) } else { 0.0 };
            (up + down).min(1.0)
        };
        let row = |rows: &Rows| {
            let of = |block: &Block| block.chance * fails(rows, block);
            rows.chance * offsets.iter().map(of).sum::<f64>()
        };
        rows.iter().map(row).sum::<f64>() * (1.0 + SLACK)
    }

    /// The least and the most that D is; nothing for blocks without end.
    fn moves(&self, rows: &Rows, block: &Block, m: f64) -> Option<(f64, f64)> {
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

    /// The mean distance on data with this mean and mean square of offsets, at most.
    pub(super) fn expected_on(&self, m: f64, u: f64) -> f64 {
        let rows = noisy_rows(self.ones.as_ref(), self.rows, 1e-6, 4.0 * MODEST);
        let offsets = self.offsets.blocks(1e-6, 4.0 * MODEST);
        let v = (u - m * m).clamp(0.0, self.most());
        let capped =
            |x: f64, n: f64, cap: f64| ((self.excess(x) - self.excess(x + cap * n)) / n).max(0.0);
        let of = |rows: &Rows, block: &Block| {
            let Some((low, high)) = self.moves(rows, block, m) else { return self.most() };
            let up = self.least(rows, low, (u, u));
            let down = self.least(rows, -high, (-u, -u));
            capped(up, rows.few, self.most() - v) + capped(down, rows.few, v)
        };
        let row = |rows: &Rows| {
            rows.chance * offsets.iter().map(|block| block.chance * of(rows, block)).sum::<f64>()
        };
        rows.iter().map(row).sum::<f64>() * (1.0 + SLACK)
    }
}

/// How often cells are halved for an expected error.
const MOST_CELLS: usize = 60;

impl Cell {
    /// The least and the largest variance, if there are such data.
    fn variances(self) -> Option<(f64, f64)> {
        let least = (self.u.0 - self.m.1 * self.m.1).max(0.0);
        let most = self.u.1 - self.m.0 * self.m.0;
        (most >= 0.0).then_some((least, most))
    }

    /// Halved where it is wider, for bounds with this half.
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

/// P(noise > x), with one step less for the grid.
fn above(law: &Law, x: f64) -> f64 {
    law.above(x - x.abs() * SLACK - law.step())
}

//! The error of a mean (theory 11.13), or of a proportion, the mean of numbers that are plus or minus one half.
//!
//! Of n records, offsets have mean m, |m| <= M. With noise a on n, noise s on the sum of offsets and N = max(1, n + a),
//! the error is (s - m (N - n))/N before the answer is clamped to [-M, M].

use super::summand::Summand;
use crate::noise::{Block, Noise, NoiseLaw, SLACK};

/// The error of a mean of `rows` records.
#[derive(Clone, Debug)]
pub(super) struct Mean {
    /// The noise on the number of records; none if that is public.
    ones: Option<NoiseLaw>,
    offsets: NoiseLaw,
    rows: f64,
    /// Half the width of the bounds.
    half: f64,
}

/// The event that the noisy number of records is from `few` to `many`, and its probability.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowsBlock {
    pub(super) chance: f64,
    pub(super) few: f64,
    pub(super) many: f64,
}

/// The law of the noisy number of records, in blocks.
pub(super) fn noisy_rows(
    ones: Option<&NoiseLaw>,
    rows: f64,
    alpha: f64,
    fineness: f64,
) -> Vec<RowsBlock> {
    let Some(ones) = ones else {
        let rows = rows.max(1.0);
        return vec![RowsBlock { chance: 1.0, few: rows, many: rows }];
    };
    let block = |block: &Block| {
        let [few, many] = [block.low, block.high].map(|a| (rows + a).max(1.0));
        RowsBlock { chance: block.chance, few, many }
    };
    let blocks: Vec<RowsBlock> = ones.blocks(alpha, fineness).iter().map(block).collect();
    // Smaller noisy numbers are replaced by one.
    let (one, more): (Vec<RowsBlock>, Vec<RowsBlock>) =
        blocks.iter().partition(|rows| rows.many <= 1.0);
    let chance = one.iter().map(|rows| rows.chance).sum();
    more.into_iter().chain([RowsBlock { chance, few: 1.0, many: 1.0 }]).collect()
}

/// The number of blocks per mean absolute noise, in successive rounds.
pub(super) const FINENESS: [f64; 3] = [8.0, 64.0, 512.0];

/// The number of blocks per mean absolute noise for estimates.
pub(super) const COARSE: f64 = 4.0;

/// The relative precision of a half-width in the rounds of [`FINENESS`].
const WIDTHS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// Events with this part of the failure probability count as failures.
pub(super) const RARE: f64 = 1.0 / 4096.0;

impl Mean {
    /// From the noise on ones, unless the number of records is public, and on offsets.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, half: f64) -> Option<Self> {
        let rows = rows as f64;
        let law = |(_, noise): &(Summand, Noise)| NoiseLaw::new(noise);
        match sums {
            [offsets] => {
                Some(Self { ones: None, offsets: law(offsets), rows: rows.max(1.0), half })
            }
            [ones, offsets] => {
                Some(Self { ones: Some(law(ones)), offsets: law(offsets), rows, half })
            }
            _ => None,
        }
    }

    /// The least half-width for all data, up to some thousandths that the blocks add.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        if self.ones.is_none() {
            return self.public_half_width(alpha);
        }
        least_of_three(2.0 * self.half, &[self.half], alpha, |fineness| {
            let blocks = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
            move |h| self.fails_in(&blocks, h, alpha)
        })
    }

    /// An estimate of the half-width where the number of records has noise, as if N were never raised to one: on data
    /// with mean m the error is above h if s - (m - h) a, or its opposite, is above hn, a sum of two noises.
    pub(super) fn about_half_width(&self, alpha: f64) -> Option<f64> {
        let ones = self.ones.as_ref()?;
        let rows = self.rows.max(1.0);
        let blocks = match self.offsets.needs_blocks(ones) {
            true => ones.blocks(alpha * RARE, COARSE),
            false => Vec::new(),
        };
        // P(s + m a > x), by the middles of blocks if it has no formula.
        let beyond = |m: f64, x: f64| match blocks.as_slice() {
            [] => self.offsets.both_above(ones, m, x, &[]),
            [inner @ .., _, _] => {
                let one = |block: &Block| 0.5 * m * (block.low + block.high);
                inner.iter().map(|block| block.chance * self.offsets.above(x - one(block))).sum()
            }
            [_] => 0.0,
        };
        let fails = |h: f64| {
            let near = (self.half - 2.0 * h).abs();
            let near = if h < self.half { beyond(near, h * rows) } else { 0.0 };
            beyond(self.half, h * rows) + near
        };
        // Exact for two Gaussians; a good start for other noise.
        let guess = self.offsets.furthest(alpha).hypot(self.half * ones.furthest(alpha)) / rows;
        Some(about_least(guess, 2.0 * self.half, |h| (fails(h) / alpha).ln()))
    }

    /// True if no data have an error above h with probability above alpha.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        if self.ones.is_none() {
            return self.public_half_width(alpha) <= h;
        }
        let blocks = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
        self.fails_in(&blocks, h, alpha) <= alpha
    }

    /// If n has no noise, the worst data allow errors of both signs, |m| <= M - h, as long as h < M. For larger h
    /// errors above h have one sign only, and above 2M none are possible.
    fn public_half_width(&self, alpha: f64) -> f64 {
        let rows = self.rows.max(1.0);
        let both = self.offsets.furthest(alpha) / rows;
        match both < self.half {
            true => both,
            // The mean of no records is the middle of the bounds.
            false if self.rows < 1.0 => self.half,
            false => (self.offsets.reach(alpha) / rows).clamp(self.half, 2.0 * self.half),
        }
    }

    /// An upper bound on the probability of an error above h if that is at most alpha; otherwise some number above
    /// alpha.
    fn fails_in(&self, blocks: &[RowsBlock], h: f64, alpha: f64) -> f64 {
        if h >= 2.0 * self.half {
            return 0.0;
        }
        if self.rows < 1.0 {
            // The mean of no records is the middle of the bounds.
            return if h >= self.half { 0.0 } else { self.both_sides(blocks, 0.0, h) };
        }
        let inner = self.half - h;
        let both = if inner > 0.0 { self.both_sides(blocks, inner, h) } else { 0.0 };
        let keeps =
            both <= alpha && self.keeps_one_sided(blocks, (inner.abs(), self.half), h, alpha, 8);
        if keeps || both > alpha { both } else { f64::INFINITY }
    }

    /// The probability of an error above h for data with mean m: for |m| <= M - h clamping does not reduce it. Given N
    /// it increases with |m (N - n)|, s being symmetric and unimodal.
    fn both_sides(&self, blocks: &[RowsBlock], m: f64, h: f64) -> f64 {
        let fails = |block: &RowsBlock| {
            let ends = [block.few, block.many];
            let low = ends.map(|n| self.reach(n, m, h)).into_iter().fold(f64::INFINITY, f64::min);
            let high = self.reach(block.few, -m, h);
            block.chance * (self.beyond(low) + self.beyond(high)).min(1.0)
        };
        blocks.iter().map(fails).sum::<f64>() * (1.0 + SLACK)
    }

    /// h N - m (N - n): the answer is too low by more than h if the noise on the offsets is below minus this.
    fn reach(&self, noisy: f64, m: f64, h: f64) -> f64 {
        // Infinite N counts as a failure; it is rare.
        if noisy.is_infinite() { f64::NEG_INFINITY } else { h * noisy - m * (noisy - self.rows) }
    }

    /// The probability that the noise on the offsets is above x; one step less allows for the grid.
    fn beyond(&self, x: f64) -> f64 {
        if x.is_infinite() {
            return 1.0;
        }
        self.offsets.above(x - x.abs() * SLACK - self.offsets.step())
    }

    /// True if errors are above h with probability at most alpha for all means m >= M - h. No such answer is too high
    /// by more than h. Given N, the probability that it is too low is largest at one end of the means considered.
    fn keeps_one_sided(
        &self,
        blocks: &[RowsBlock],
        (least, most): (f64, f64),
        h: f64,
        alpha: f64,
        halvings: u32,
    ) -> bool {
        let fails = |block: &RowsBlock| {
            let corners = [(block.few, least), (block.few, most)];
            let corners = corners.into_iter().chain([(block.many, least), (block.many, most)]);
            let reach = corners.map(|(noisy, m)| self.reach(noisy, m, h));
            block.chance * self.beyond(reach.fold(f64::INFINITY, f64::min))
        };
        if blocks.iter().map(fails).sum::<f64>() * (1.0 + SLACK) <= alpha {
            return true;
        }
        let middle = 0.5 * (least + most);
        halvings > 0
            && self.keeps_one_sided(blocks, (least, middle), h, alpha, halvings - 1)
            && self.keeps_one_sided(blocks, (middle, most), h, alpha, halvings - 1)
    }

    /// The largest mean absolute error over all data; the blocks add a little.
    pub(super) fn expected(&self) -> f64 {
        if self.ones.is_none() {
            // E min(s_+, M - m) + E min(s_-, M + m) is concave in m, and largest for m = 0.
            return self.public_expected_on(0.0);
        }
        let blocks = noisy_rows(self.ones.as_ref(), self.rows, 1e-9, 64.0);
        if self.rows < 1.0 {
            return self.expected_within(&blocks, 0.0, 0.0);
        }
        // The cells of means become smaller towards the end of the bounds.
        let ends = (0..=EIGHTHS).map(|j| self.half * 2.0_f64.powf(-0.125 * f64::from(j)));
        let mut most: f64 = 0.0;
        let mut outer = self.half;
        for end in ends.skip(1).chain([0.0]) {
            let cell = (self.half - outer, self.half - end);
            most = most.max(self.expected_within(&blocks, cell.0, cell.1));
            outer = end;
        }
        most
    }

    /// An upper bound on the mean absolute error for means from `least` to `most`.
    fn expected_within(&self, blocks: &[RowsBlock], least: f64, most: f64) -> f64 {
        let (half, rows) = (self.half, self.rows);
        // E min((s - x)_+ / N, c).
        let capped = |x: f64, noisy: f64, cap: f64| {
            ((self.signed_excess(x) - self.signed_excess(x + cap * noisy)) / noisy).max(0.0)
        };
        let one = |block: &RowsBlock| {
            if block.many.is_infinite() {
                return block.chance * 2.0 * half;
            }
            // The smallest value of m (N - n), times the sign that makes answers too high or too low.
            let least_shift = |noisy: f64, sign: f64| {
                let shifts = [least, most].map(|m| sign * m * (noisy - rows));
                shifts.into_iter().fold(f64::INFINITY, f64::min)
            };
            // (s + mn)/N - m falls with N where it is positive. Where it is negative, its absolute value grows with N,
            // except for s < -mn, where the part above m falls.
            let high = capped(least_shift(block.few, 1.0), block.few, half - least);
            let low = capped(least_shift(block.many, -1.0), block.many, half + most);
            let turned = |noisy: f64| capped(least * rows, noisy, half);
            block.chance * (high + low + (turned(block.few) - turned(block.many)).max(0.0))
        };
        blocks.iter().map(one).sum::<f64>() * (1.0 + SLACK)
    }

    /// E (s - x)_+ for any x; s is symmetric.
    fn signed_excess(&self, x: f64) -> f64 {
        self.offsets.excess(x.abs()) + (-x).max(0.0)
    }

    /// An upper bound on the probability of an error above h on data with this mean.
    pub(super) fn fails_on(&self, blocks: &[RowsBlock], m: f64, h: f64) -> f64 {
        let m = m.clamp(-self.half, self.half);
        let (is_high, is_low) = (m + h < self.half, m - h > -self.half);
        let fails = |block: &RowsBlock| {
            let ends = [block.few, block.many];
            let worst = |m: f64| {
                ends.map(|noisy| self.reach(noisy, m, h)).into_iter().fold(f64::INFINITY, f64::min)
            };
            let low = if is_low { self.beyond(worst(m)) } else { 0.0 };
            let high = if is_high { self.beyond(worst(-m)) } else { 0.0 };
            block.chance * (low + high).min(1.0)
        };
        blocks.iter().map(fails).sum::<f64>() * (1.0 + SLACK)
    }

    /// Errors of both signs are possible up to the nearer end of the bounds, and of one sign up to the other end.
    fn public_half_width_on(&self, m: f64, alpha: f64) -> f64 {
        let (rows, m) = (self.rows.max(1.0), m.clamp(-self.half, self.half));
        let (near, far) = ((self.half - m.abs()).max(0.0), self.half + m.abs());
        let both = self.offsets.furthest(alpha) / rows;
        let one = self.offsets.reach(alpha) / rows;
        if both < near { both } else { one.clamp(near, far) }
    }

    /// E min(s_+, M - m) + E min(s_-, M + m).
    fn public_expected_on(&self, m: f64) -> f64 {
        let rows = self.rows.max(1.0);
        let ends = [self.half - m, self.half + m].map(|end| self.offsets.capped(end * rows));
        ends.into_iter().sum::<f64>() / rows
    }

    pub(super) fn half_width_on(&self, m: f64, alpha: f64) -> f64 {
        if self.ones.is_none() {
            return self.public_half_width_on(m, alpha);
        }
        let jumps = [self.half - m, self.half + m];
        least_of_three(2.0 * self.half, &jumps, alpha, |fineness| {
            let blocks = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
            move |h| if h >= 2.0 * self.half { 0.0 } else { self.fails_on(&blocks, m, h) }
        })
    }

    pub(super) fn expected_on(&self, m: f64) -> f64 {
        if self.ones.is_none() {
            return self.public_expected_on(m.clamp(-self.half, self.half));
        }
        let blocks = noisy_rows(self.ones.as_ref(), self.rows, 1e-9, 512.0);
        let m = m.abs().min(self.half);
        self.expected_within(&blocks, m, m)
    }
}

/// The last cell of means is this many eighths of a doubling from the end of the bounds.
const EIGHTHS: u32 = 120;

/// An estimate of the zero of a decreasing function, at most `most`, by secants from a guess.
pub(super) fn about_least(guess: f64, most: f64, excess: impl Fn(f64) -> f64) -> f64 {
    const LOOKS: usize = 40;
    let mut low = (most * 2.0_f64.powi(-60)).ln();
    let (mut place, mut high) = (guess.ln().clamp(low, most.ln()), most.ln());
    let mut before: Option<(f64, f64)> = None;
    for _ in 0..LOOKS {
        let found = excess(place.exp());
        if found > 0.0 {
            low = place
        } else {
            high = place
        }
        // The first step is a tenth.
        let next = match before {
            Some((other, there)) => place - found * (place - other) / (found - there),
            None => place + (0.1_f64).copysign(found),
        };
        let is_inside = next > low && next < high;
        before = Some((place, found));
        let last = std::mem::replace(&mut place, if is_inside { next } else { 0.5 * (low + high) });
        if (place - last).abs() < 1e-6 {
            break;
        }
    }
    place.exp().min(most)
}

/// The least half-width, up to `most`, that is exceeded with probability at most alpha. Blocks become finer in three
/// rounds, each of which starts slightly below the previous result. `most` is never exceeded; the probability may jump
/// at `jumps`.
pub(super) fn least_of_three<C: Fn(f64) -> f64>(
    most: f64,
    jumps: &[f64],
    alpha: f64,
    chance: impl Fn(f64) -> C,
) -> f64 {
    let (mut low, mut high) = (most * 2.0_f64.powi(-60), most);
    let mut known: Option<CrossingPoint> = None;
    for (fineness, width) in FINENESS.into_iter().zip(WIDTHS) {
        let mut looks = ThresholdSearch::new(chance(fineness), alpha);
        if let Some(before) = known {
            looks.near(before, width);
        }
        while high < most && low > most * 1e-30 && looks.keeps(low) {
            (low, high) = (low * (1.0 - 16.0 * width), low);
        }
        while high / low > 1.0 + width {
            let middle = (low * high).sqrt();
            if looks.keeps(middle) { high = middle } else { low = middle }
        }
        let jump = jumps.iter().find(|jump| (low..high).contains(*jump) && looks.keeps(**jump));
        high = jump.copied().unwrap_or(high);
        low = high * (1.0 - 16.0 * width);
        known = looks.crossing(known);
    }
    high
}

/// A search for the point where a decreasing probability crosses alpha. It skips evaluations whose outcome follows from
/// others.
struct ThresholdSearch<C> {
    chance: C,
    alpha: f64,
    /// The largest half-width known to fail, and the least known to hold, each with the logarithm of its probability
    /// over alpha.
    fails: (f64, f64),
    keeps: (f64, f64),
}

/// An estimate of the point where a probability crosses alpha, and the slope of its logarithm in that of the
/// half-width.
#[derive(Clone, Copy)]
struct CrossingPoint {
    place: f64,
    slope: f64,
}

impl<C: Fn(f64) -> f64> ThresholdSearch<C> {
    fn new(chance: C, alpha: f64) -> Self {
        let (fails, keeps) = ((0.0, f64::INFINITY), (f64::INFINITY, f64::NEG_INFINITY));
        Self { chance, alpha, fails, keeps }
    }

    fn keeps(&mut self, h: f64) -> bool {
        h >= self.keeps.0 || (h > self.fails.0 && self.look(h) <= 0.0)
    }

    /// The logarithm of the probability over alpha; not above zero where the half-width holds.
    fn look(&mut self, h: f64) -> f64 {
        let chance = (self.chance)(h);
        let excess = (chance / self.alpha).ln();
        if chance <= self.alpha {
            let excess = excess.min(0.0);
            if h < self.keeps.0 {
                self.keeps = (h, excess);
            }
            return excess;
        }
        if h > self.fails.0 {
            self.fails = (h, excess);
        }
        excess.max(f64::MIN_POSITIVE)
    }

    /// Evaluates closely on both sides of the estimated crossing, starting from the crossing of coarser blocks.
    fn near(&mut self, CrossingPoint { place, slope }: CrossingPoint, width: f64) {
        let place = place * (-self.look(place) / slope).clamp(-0.1, 0.1).exp();
        for side in [1.0, -1.0] {
            self.keeps(place * (1.0 + side * 0.15 * width));
        }
    }

    /// The slope is kept from the first round: finer blocks are evaluated too closely to improve it.
    fn crossing(&self, before: Option<CrossingPoint>) -> Option<CrossingPoint> {
        let ((low, above), (high, below)) = (self.fails, self.keeps);
        let between = (below - above) / (high / low).ln();
        let place = low * (-above / between).exp();
        let slope = before.map_or(between, |before| before.slope);
        (slope < 0.0 && slope.is_finite() && place.is_finite())
            .then_some(CrossingPoint { place, slope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;
    use std::cell::Cell;

    /// The half-width by bisection alone, with an evaluation for every step.
    fn halved(most: f64, jumps: &[f64], alpha: f64, chance: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut low, mut high) = (most * 2.0_f64.powi(-60), most);
        for (fineness, width) in FINENESS.into_iter().zip(WIDTHS) {
            let keeps = |h: f64| chance(fineness, h) <= alpha;
            while high < most && low > most * 1e-30 && keeps(low) {
                (low, high) = (low * (1.0 - 16.0 * width), low);
            }
            while high / low > 1.0 + width {
                let middle = (low * high).sqrt();
                if keeps(middle) { high = middle } else { low = middle }
            }
            let jump = jumps.iter().find(|jump| (low..high).contains(*jump) && keeps(**jump));
            high = jump.copied().unwrap_or(high);
            low = high * (1.0 - 16.0 * width);
        }
        high
    }

    /// For probabilities that fall smoothly, in steps, and with a jump, the half-width equals that of bisection to the
    /// last bit.
    #[test]
    fn looks_that_are_left_out_change_no_half_width() {
        let mut random = Random::new(5);
        for round in 0..600 {
            let (most, alpha) = (random.log_uniform(1e-3, 1e6), random.log_uniform(1e-9, 0.9));
            let (scale, power) =
                (most * random.log_uniform(1e-9, 3.0), random.log_uniform(0.5, 3.0));
            let (step, jump) = (scale * random.log_uniform(1e-9, 0.3), most * random.unit());
            let looks = Cell::new(0);
            let chance = |fineness: f64, h: f64| {
                looks.set(looks.get() + 1);
                let h = if round % 3 == 1 { (h / step).floor() * step } else { h };
                match h >= most || (round % 3 == 2 && h >= jump) {
                    true => 0.0,
                    false => (-(h / scale / (1.0 + 0.3 / fineness)).powf(power)).exp(),
                }
            };
            let chance = &chance;
            let expected = halved(most, &[jump], alpha, chance);
            let before = looks.replace(0);
            let found =
                least_of_three(most, &[jump], alpha, |fineness| move |h| chance(fineness, h));
            assert_eq!(found.to_bits(), expected.to_bits(), "{round}: {found} {expected}");
            assert!(looks.get() <= before + 12, "{round}: {} looks, {before} before", looks.get());
        }
    }
}

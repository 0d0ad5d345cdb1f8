//! How far a mean is off (theory 11.13); or a proportion, the mean of numbers that are
//! plus or minus one half.
//!
//! Of n records, offsets have mean m, |m| <= M. With noise a on n and s on the sum of offsets the answer
//! is off by (s - m (N - n))/N, N = max(1, n + a), before it is clamped to [-M, M].

use super::summand::Summand;
use crate::noise::{Block, Law, Noise, SLACK};

/// A mean of so many records.
#[derive(Clone, Debug)]
pub(super) struct Mean {
    /// The noise on the number of records; none where that is public.
    ones: Option<Law>,
    offsets: Law,
    rows: f64,
    /// Half the width of the bounds.
    half: f64,
}

/// That the number of records with noise is from `few` to `many`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows {
    pub(super) chance: f64,
    pub(super) few: f64,
    pub(super) many: f64,
}

/// The numbers of records that noise makes of so many, in blocks.
pub(super) fn noisy_rows(ones: Option<&Law>, rows: f64, alpha: f64, fineness: f64) -> Vec<Rows> {
    let Some(ones) = ones else {
        let rows = rows.max(1.0);
        return vec![Rows { chance: 1.0, few: rows, many: rows }];
    };
    let block = |block: &Block| {
        let [few, many] = [block.low, block.high].map(|a| (rows + a).max(1.0));
        Rows { chance: block.chance, few, many }
    };
    let blocks: Vec<Rows> = ones.blocks(alpha, fineness).iter().map(block).collect();
    // However many fewer there are, it is one.
    let (one, more): (Vec<Rows>, Vec<Rows>) = blocks.iter().partition(|rows| rows.many <= 1.0);
    let chance = one.iter().map(|rows| rows.chance).sum();
    more.into_iter().chain([Rows { chance, few: 1.0, many: 1.0 }]).collect()
}

/// How many blocks an average distance of the noise is cut into: first, and last.
pub(super) const FINENESS: [f64; 3] = [8.0, 64.0, 512.0];

/// The same for estimates.
pub(super) const COARSE: f64 = 4.0;

/// How closely a half-width is sought with these.
const WIDTHS: [f64; 3] = [1e-2, 1e-3, 1e-4];

/// What is so rare is counted as a failure.
pub(super) const RARE: f64 = 1.0 / 4096.0;

impl Mean {
    /// Of the noise on ones, unless their number is public, and on offsets.
    pub(super) fn new(sums: &[(Summand, Noise)], rows: u64, half: f64) -> Option<Self> {
        let rows = rows as f64;
        let law = |(_, noise): &(Summand, Noise)| Law::new(noise);
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

    /// The least half-width for all data, but for what the blocks leave: some thousandth part.
    pub(super) fn half_width(&self, alpha: f64) -> f64 {
        if self.ones.is_none() {
            return self.public_half_width(alpha);
        }
        least_of_three(2.0 * self.half, &[self.half], alpha, |fineness| {
            let blocks = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
            move |h| self.fails_in(&blocks, h, alpha)
        })
    }

    /// About the same where the number of records has noise, as if N were never cut off at one: on data with a mean of m the
    /// answer is off by more than h where s - (m - h) a or its opposite is above hn, a sum of two noises.
    pub(super) fn about_half_width(&self, alpha: f64) -> Option<f64> {
        let ones = self.ones.as_ref()?;
        let rows = self.rows.max(1.0);
        let blocks = match self.offsets.needs_blocks(ones) {
            true => ones.blocks(alpha * RARE, COARSE),
            false => Vec::new(),
        };
        // P(s + m a > x), by the middles of blocks where it has no formula.
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
        // Of two Gaussians it is this, and of others near it.
        let guess = self.offsets.furthest(alpha).hypot(self.half * ones.furthest(alpha)) / rows;
        Some(about_least(guess, 2.0 * self.half, |h| (fails(h) / alpha).ln()))
    }

    /// Whether no data are off by more than h more often than that.
    pub(super) fn keeps(&self, h: f64, alpha: f64, fineness: f64) -> bool {
        if self.ones.is_none() {
            return self.public_half_width(alpha) <= h;
        }
        let blocks = noisy_rows(self.ones.as_ref(), self.rows, alpha * RARE, fineness);
        self.fails_in(&blocks, h, alpha) <= alpha
    }

    /// Without noise on n the worst data have both sides open, |m| <= M - h, as long as h < M. From
    /// there on answers can be off by h on one side only, and by 2M on none.
    fn public_half_width(&self, alpha: f64) -> f64 {
        let rows = self.rows.max(1.0);
        let both = self.offsets.furthest(alpha) / rows;
        match both < self.half {
            true => both,
            // Of no records the mean is in the middle.
            false if self.rows < 1.0 => self.half,
            false => (self.offsets.reach(alpha) / rows).clamp(self.half, 2.0 * self.half),
        }
    }

    /// How often an answer is off by more than h, at most, as far as that is alpha: else that it is more.
    fn fails_in(&self, blocks: &[Rows], h: f64, alpha: f64) -> f64 {
        if h >= 2.0 * self.half {
            return 0.0;
        }
        if self.rows < 1.0 {
            // Of no records the mean is in the middle.
            return if h >= self.half { 0.0 } else { self.both_sides(blocks, 0.0, h) };
        }
        let inner = self.half - h;
        let both = if inner > 0.0 { self.both_sides(blocks, inner, h) } else { 0.0 };
        let keeps =
            both <= alpha && self.keeps_one_sided(blocks, (inner.abs(), self.half), h, alpha, 8);
        if keeps || both > alpha { both } else { f64::INFINITY }
    }

    /// How often an answer is off by more than h, with a mean of m: for |m| <= M - h clamping does not
    /// help. For given N the chance is the larger the further m (N - n) is from zero, s being
    /// symmetric and unimodal.
    fn both_sides(&self, blocks: &[Rows], m: f64, h: f64) -> f64 {
        let fails = |block: &Rows| {
            let ends = [block.few, block.many];
            let low = ends.map(|n| self.reach(n, m, h)).into_iter().fold(f64::INFINITY, f64::min);
            let high = self.reach(block.few, -m, h);
            block.chance * (self.beyond(low) + self.beyond(high)).min(1.0)
        };
        blocks.iter().map(fails).sum::<f64>() * (1.0 + SLACK)
    }

    /// h N - m (N - n): offsets that are lower by more make the answer too low by more than h.
    fn reach(&self, noisy: f64, m: f64, h: f64) -> f64 {
        // Of infinitely many, what is left is of no account: so rare is that.
        if noisy.is_infinite() { f64::NEG_INFINITY } else { h * noisy - m * (noisy - self.rows) }
    }

    /// The chance that offsets are above this; one step less makes up for the grid.
    fn beyond(&self, x: f64) -> f64 {
        if x.is_infinite() {
            return 1.0;
        }
        self.offsets.above(x - x.abs() * SLACK - self.offsets.step())
    }

    /// Where m >= M - h no answer is too high by more than h. Too low it is with a chance that, for
    /// given N, is largest at one end of the means considered.
    fn keeps_one_sided(
        &self,
        blocks: &[Rows],
        (least, most): (f64, f64),
        h: f64,
        alpha: f64,
        halvings: u32,
    ) -> bool {
        let fails = |block: &Rows| {
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

    /// The largest mean distance over all data; more by at most what the blocks leave.
    pub(super) fn expected(&self) -> f64 {
        if self.ones.is_none() {
            // E min(s_+, M - m) + E min(s_-, M + m) is concave in m, and largest for m = 0.
            return self.public_expected_on(0.0);
        }
        let blocks = noisy_rows(self.ones.as_ref(), self.rows, 1e-9, 64.0);
        if self.rows < 1.0 {
            return self.expected_within(&blocks, 0.0, 0.0);
        }
        // Means come closer and closer to the end of the bounds.
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

    /// The mean distance for means from `least` to `most`, at most.
    fn expected_within(&self, blocks: &[Rows], least: f64, most: f64) -> f64 {
        let (half, rows) = (self.half, self.rows);
        // E min((s - x)_+ / N, c).
        let capped = |x: f64, noisy: f64, cap: f64| {
            ((self.signed_excess(x) - self.signed_excess(x + cap * noisy)) / noisy).max(0.0)
        };
        let one = |block: &Rows| {
            if block.many.is_infinite() {
                return block.chance * 2.0 * half;
            }
            // m (N - n), or less, with the sign that makes answers too high or too low.
            let least_shift = |noisy: f64, sign: f64| {
                let shifts = [least, most].map(|m| sign * m * (noisy - rows));
                shifts.into_iter().fold(f64::INFINITY, f64::min)
            };
            // (s + mn)/N - m falls with N where it is above zero. Where it is below, its distance from
            // zero grows with N, but for s < -mn, where what is above m falls.
            let high = capped(least_shift(block.few, 1.0), block.few, half - least);
            let low = capped(least_shift(block.many, -1.0), block.many, half + most);
            let turned = |noisy: f64| capped(least * rows, noisy, half);
            block.chance * (high + low + (turned(block.few) - turned(block.many)).max(0.0))
        };
        blocks.iter().map(one).sum::<f64>() * (1.0 + SLACK)
    }

    /// E (s - x)_+ for any x: s is symmetric.
    fn signed_excess(&self, x: f64) -> f64 {
        self.offsets.excess(x.abs()) + (-x).max(0.0)
    }

    /// How often the answer on data with this mean is off by more than h.
    pub(super) fn fails_on(&self, blocks: &[Rows], m: f64, h: f64) -> f64 {
        let m = m.clamp(-self.half, self.half);
        let (is_high, is_low) = (m + h < self.half, m - h > -self.half);
        let fails = |block: &Rows| {
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

    /// Both sides are open up to the nearer end of the bounds, and one up to the other.
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

/// The last cell of means is this many eighths of a doubling from the end.
const EIGHTHS: u32 = 120;

/// About where a falling function crosses zero, or `most`, by secants from a guess.
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
        // A first step by a tenth.
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

/// The least half-width up to `most` that is exceeded with at most this chance, by blocks that become finer: each time a
/// little below what was found. `most` always keeps; at some numbers the chance may jump.
pub(super) fn least_of_three<C: Fn(f64) -> f64>(
    most: f64,
    jumps: &[f64],
    alpha: f64,
    chance: impl Fn(f64) -> C,
) -> f64 {
    let (mut low, mut high) = (most * 2.0_f64.powi(-60), most);
    let mut known: Option<Crossing> = None;
    for (fineness, width) in FINENESS.into_iter().zip(WIDTHS) {
        let mut looks = Looks::new(chance(fineness), alpha);
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

/// Looks at a chance that falls: none is made whose outcome follows from others.
struct Looks<C> {
    chance: C,
    alpha: f64,
    /// The largest half-width that was found not to keep, and the least that was, with the logarithms of chances over alpha.
    fails: (f64, f64),
    keeps: (f64, f64),
}

/// Where a chance crosses alpha, about, and how its logarithm falls there with that of the half-width.
#[derive(Clone, Copy)]
struct Crossing {
    place: f64,
    slope: f64,
}

impl<C: Fn(f64) -> f64> Looks<C> {
    fn new(chance: C, alpha: f64) -> Self {
        let (fails, keeps) = ((0.0, f64::INFINITY), (f64::INFINITY, f64::NEG_INFINITY));
        Self { chance, alpha, fails, keeps }
    }

    fn keeps(&mut self, h: f64) -> bool {
        h >= self.keeps.0 || (h > self.fails.0 && self.look(h) <= 0.0)
    }

    /// The logarithm of the chance over alpha; not above zero where it keeps.
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

    /// Looks close on both sides of where the crossing seems to be, next to one that is known.
    fn near(&mut self, Crossing { place, slope }: Crossing, width: f64) {
        let place = place * (-self.look(place) / slope).clamp(-0.1, 0.1).exp();
        for side in [1.0, -1.0] {
            self.keeps(place * (1.0 + side * 0.15 * width));
        }
    }

    /// Of finer blocks the slope is not known better: they are looked at too close by.
    fn crossing(&self, before: Option<Crossing>) -> Option<Crossing> {
        let ((low, above), (high, below)) = (self.fails, self.keeps);
        let between = (below - above) / (high / low).ln();
        let place = low * (-above / between).exp();
        let slope = before.map_or(between, |before| before.slope);
        (slope < 0.0 && slope.is_finite() && place.is_finite()).then_some(Crossing { place, slope })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;
    use std::cell::Cell;

    /// By halving alone, every time with a look.
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

    /// Of chances that fall smoothly, in steps and with a jump the half-width is that of halving, to the last bit.
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

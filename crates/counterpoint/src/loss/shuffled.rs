//! Shuffled reports of local randomizers: theory 6.16.

use super::cells::spread;
use super::lists::outcomes_loss;
use super::{Direction, LossError, PairLoss, check_loss_range};
use crate::laws::sum;
use crate::mechanism::{Adjacency, Cell};
use crate::quantity::{Epsilon, GroupSize};
use counterpoint_numerics::binomial::ln_mass;
use counterpoint_numerics::{Dd, exp_neg, one_minus_exp_neg};

/// The number of outcomes that are listed, about: it limits the number of groups of numbers of clones.
const OUTCOMES: f64 = 4e6;
/// The number of cells around the middle, and between those and each end.
const CELLS: u32 = 4000;
const OUTER: u32 = 40;
/// The cells' ends are whole multiples of 2^-40, so that outcomes are assigned to cells exactly.
const UNIT: f64 = 1_099_511_627_776.0;
/// All masses are reduced by this share of themselves, more than their errors.
const REDUCED: f64 = 1e-24;
/// The amount by which the loss of the mass that is not listed exceeds epsilon: more than the errors relative to
/// [`REDUCED`] can change it.
const EXCESS: f64 = 0.004;

/// The loss of shuffled reports, where one person's report changes.
pub(super) fn shuffled_loss(
    epsilon: Epsilon,
    people: u64,
    adjacency: Option<Adjacency>,
    group: GroupSize,
) -> Result<PairLoss, LossError> {
    match adjacency {
        None => return Err(LossError::no_adjacency("one person's report changes")),
        Some(Adjacency::AddRemove) => return Err(LossError::ShuffleUnderAddRemove),
        Some(Adjacency::Replace) => {}
    }
    if group.get() > 1 {
        let what = "shuffled reports, whose bound is proved for one person";
        return Err(LossError::Group { group: group.get(), what });
    }
    if epsilon.get() <= 0.0 {
        return Ok(PairLoss::default());
    }
    let epsilon = check_loss_range("epsilon", Dd::from(epsilon.get()))?;
    if epsilon.hi > 20.0 || people > 100_000_000 {
        let (what, value, legal) = match epsilon.hi > 20.0 {
            true => ("epsilon", epsilon.hi, "at most 20 for shuffled reports"),
            false => ("people", people as f64, "at most 10^8"),
        };
        return Err(LossError::Range { what, value, legal });
    }
    let groups = groups(epsilon, people - 1);
    let least = groups.first().map_or(0, |group| group.least);
    let mut upper = Grid::new(epsilon, least);
    let mut lower = upper.clone();
    for group in &groups {
        upper.add(group.least, group.chance);
        lower.add(group.most, group.chance);
    }
    let split = upper.cells().flat_map(|(cell, masses)| spread(&cell, masses));
    let (rest, most) = (upper.rest(), epsilon + EXCESS.into());
    let high = rest / (Dd::ONE + exp_neg(most));
    let ends = [(high, high * exp_neg(most)), (high * exp_neg(most), high)];
    let split: Vec<(Dd, Dd)> = split.chain(ends).collect();
    let rest = lower.rest();
    let merged: Vec<(Dd, Dd)> =
        lower.cells().map(|(_, masses)| masses).chain([(rest, rest)]).collect();
    let loss = |outcomes: &[(Dd, Dd)]| outcomes_loss(outcomes, Direction::Remove);
    Ok(loss(&split)?.with_lower_pair(loss(&merged)?))
}

/// Numbers of clones, with the probability that there are so many.
struct Group {
    least: u64,
    most: u64,
    chance: Dd,
}

/// The numbers of clones that are not too rare, in groups.
fn groups(epsilon: Dd, others: u64) -> Vec<Group> {
    let (trials, chance) = (others as f64, exp_neg(epsilon));
    let (mean, rest) = (trials * chance.hi, one_minus_exp_neg(epsilon));
    let reach = 15.0 * (mean * rest.hi).sqrt() + 60.0;
    let least = (mean - reach).max(0.0).floor() as u64;
    let most = ((mean + reach).ceil() as u64).min(others);
    let groups = (OUTCOMES / (20.0 * mean.sqrt() + 60.0)) as u64;
    let width = (most - least + 1).div_ceil(groups.clamp(256, 4096));
    let mass = |clones: u64| match clones {
        0 => (rest.ln() * trials).exp(),
        _ if clones == others => (-epsilon * trials).exp(),
        _ => ln_mass((trials, clones as f64), chance, rest).0.exp(),
    };
    let group = |index: u64| {
        let first = least + index * width;
        let last = (first + width - 1).min(most);
        let masses: Vec<Dd> = (first..=last).map(mass).collect();
        Group { least: first, most: last, chance: sum(&masses) }
    };
    (0..(most - least + 1).div_ceil(width)).map(group).collect()
}

/// The masses of outcomes by the share of ones among the reports of the person and the clones.
#[derive(Clone)]
struct Grid {
    epsilon: Dd,
    /// The cells' ends, in units of 2^-40.
    ends: Vec<u64>,
    masses: Vec<(Dd, Dd)>,
}

impl Grid {
    /// A grid for at least so many clones: fine where the share of ones is likely.
    fn new(epsilon: Dd, least: u64) -> Self {
        let near = (7.0 / (least as f64 + 1.0).sqrt()).min(0.5);
        let inner = (0..=CELLS).map(|i| near * (2.0 * f64::from(i) / f64::from(CELLS) - 1.0));
        let outer = |i: u32| {
            let part = f64::from(i) / f64::from(OUTER);
            near + (0.5 - near) * part * part * part
        };
        let outer = (1..=OUTER).flat_map(|i| [-outer(i), outer(i)]);
        let mut ends: Vec<u64> =
            inner.chain(outer).map(|share| ((0.5 + share) * UNIT).round() as u64).collect();
        ends.sort_unstable();
        ends.dedup();
        let masses = vec![(Dd::ZERO, Dd::ZERO); ends.len()];
        Self { epsilon, ends, masses }
    }

    /// Adds the outcomes for a number of clones, except for rare ones.
    fn add(&mut self, clones: u64, chance: Dd) {
        let halves = halves(clones);
        let reach = halves.len() as u64 - 1;
        let middle = clones.div_ceil(2);
        // The mass of so many ones among the clones; of as many zeros it is the same.
        let mass = |ones: i64| {
            let ones = ones.max(clones as i64 - ones);
            let at = usize::try_from(ones - middle as i64).ok();
            at.and_then(|at| halves.get(at)).copied().unwrap_or(Dd::ZERO)
        };
        let truth = Dd::ONE / (Dd::ONE + exp_neg(self.epsilon));
        let chance = chance * Dd::sum(1.0, -REDUCED);
        let (truth, lie) = (truth * chance, truth * exp_neg(self.epsilon) * chance);
        // Outcomes of which both terms are listed, or the other is zero.
        let all = middle + reach >= clones;
        let (first, last) = match all {
            true => (0, clones + 1),
            false => (clones - middle - reach + 1, middle + reach),
        };
        let mut cell = 0;
        for ones in first..=last {
            let place = u128::from(ones) << 40;
            let is_before = |end: &u64| u128::from(*end) * u128::from(clones + 1) <= place;
            while self.ends.get(cell + 1).is_some_and(is_before) {
                cell += 1;
            }
            let before = if ones == 0 { Dd::ZERO } else { mass(ones as i64 - 1) };
            let same = if ones > clones { Dd::ZERO } else { mass(ones as i64) };
            if let Some((p, q)) = self.masses.get_mut(cell) {
                *p = *p + truth * before + lie * same;
                *q = *q + lie * before + truth * same;
            }
        }
    }

    /// The probability that is not in any cell.
    fn rest(&self) -> Dd {
        let rest = Dd::ONE - sum(&self.masses.iter().map(|masses| masses.0).collect::<Vec<_>>());
        if rest.is_positive() { rest } else { Dd::ZERO }
    }

    /// The cells with their masses.
    fn cells(&self) -> impl Iterator<Item = (Cell, (Dd, Dd))> + '_ {
        let next = self.ends.iter().skip(1).chain(self.ends.last());
        let cells = self.ends.iter().zip(next).zip(&self.masses);
        let one = |((&from, &to), &masses): ((&u64, &u64), &(Dd, Dd))| {
            let lower = self.loss(from).lower().next_down();
            let upper = self.loss(to).upper().next_up();
            (Cell { p: masses.0.hi, q: masses.1.hi, lower, upper }, masses)
        };
        cells.map(one).filter(|(_, (p, q))| p.is_positive() && q.is_positive())
    }

    /// ln (e^eps f + 1 - f)/(f + e^eps (1 - f)) for a share f.
    fn loss(&self, end: u64) -> Dd {
        let ones = Dd::from(end as f64 / UNIT);
        let zeros = Dd::ONE - ones;
        let decay = exp_neg(self.epsilon);
        ((ones + zeros * decay) / (ones * decay + zeros)).ln()
    }
}

/// The masses of at least half of so many fair coins being heads, from the middle up, without rare ones.
fn halves(coins: u64) -> Vec<Dd> {
    let half = Dd::from(0.5);
    let (all, middle) = (coins as f64, coins.div_ceil(2));
    let first = match coins {
        0 => Dd::ONE,
        1 => half,
        _ => ln_mass((all, middle as f64), half, half).0.exp(),
    };
    let reach = ((10.0 * all.sqrt()) as u64 + 30).min(coins - middle);
    let mut list = vec![first];
    let mut mass = first;
    for heads in middle..middle + reach {
        mass = mass * (all - heads as f64) / (heads as f64 + 1.0);
        list.push(mass);
    }
    list
}

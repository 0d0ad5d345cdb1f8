//! Laplace losses of one scale, by the atoms' lattice and splines on it (theory 2.10), beside few outcomes of other
//! losses.
//!
//! The distance below the largest loss is measured in units of 2 epsilon. Each loss is then an atom at zero, an atom at
//! one, and a uniform density between. A sum of c uniform draws is a cardinal spline whose knots are on the atoms'
//! lattice. Every term of every recursion is positive, so nothing cancels, and roundings are counted.

mod table;

use super::contour::{Effort, saddle_at_delta, saddle_at_epsilon};
use super::largest::largest;
use super::outcome_list::OutcomeList;
use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::laws::Atom;
use crate::methods::saddle::Saddle;
use crate::methods::search::solve_epsilon;
use crate::methods::{Failure, within_tolerance};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp, expm1};
use table::{SplineTable, StepWeights, terms};

// Allowances of the certificates below, each rounded up generously.

/// At most twenty roundings for each level, lattice step and weight: nine in a spline, four in a sum of splines, five
/// where atoms are weighted and six where draws are; they do not all occur at once.
const ROUNDINGS: f64 = 32.0 * UNIT;
/// The scale: powers of double-doubles, two operations for each factor.
const FACTOR: f64 = 4.0 * STEP;
/// A place on the lattice: epsilon's own error, a quotient and a difference.
const PLACE: f64 = 8.0 * STEP;
/// The mass of another loss's outcome, and its addition.
const FACTOR_AND_SUM: f64 = 4.0;
/// 1 - e^-x + e^-x y: five operations.
const SIDE: f64 = 16.0 * STEP;
/// Bounds on terms that are left out are rounded, too.
const LEFT_OUT: f64 = 1.01;
/// A bound on the loss of one operation to underflow.
const UNDERFLOW: f64 = 1e-300;

// Choices, not allowances: every value is sound.

/// Terms below this, relative to the largest, are bounded, not computed.
const NEGLIGIBLE: f64 = 1e-20;
/// A fraction's error relative to the fraction, at most a rounding. With a larger error, the places around it are
/// evaluated.
const CLOSE: f64 = 1e-16;
/// With more draws from the density than this, the contour ends by itself.
const FEW_DRAWN: f64 = 30.0;
const MOST_DRAWN: f64 = 120.0;
/// The most lattice steps, and the most of them times levels.
const MOST_STEPS: u64 = 40_000;
const MOST_WORK: u64 = 10_000_000;
/// The largest number of outcomes of other losses.
const FEW_OUTCOMES: f64 = 40.0;
/// The largest exponent of a weight.
const MOST_EXPONENT: f64 = 600.0;

/// Laplace losses of one scale, weighted for questions near one epsilon.
struct Splines {
    count: u64,
    epsilon: Dd,
    /// Every step down the lattice has the weight e^-tilt, less than e^-epsilon.
    tilt: f64,
    step: f64,
    /// Every draw from the density is weighted by the reciprocal of this, which makes its weight about one.
    draw: f64,
    /// The probability of each number of draws relative to no draw, and a bound on the sum of all further ones.
    drawn: Vec<f64>,
    drawn_rest: f64,
    atoms: AtomCounts,
    others: OtherLosses,
}

/// The other losses: all outcomes with their masses.
struct OtherLosses {
    list: Vec<Atom>,
    /// The largest number of operations in a loss or a mass.
    operations: f64,
    /// Mass that may have any loss.
    cut: f64,
}

/// True for Laplace losses of one scale that are run more than once or beside few outcomes of other losses.
pub(crate) fn is_for(parts: &[CountedLoss]) -> bool {
    matches!(parts, [part] if part.count > 1 && part.law().laplace_epsilon().is_some())
        || parts.len() > 1 && split(parts).is_some()
}

/// The part of Laplace losses, and all others if they have few outcomes together.
fn split(parts: &[CountedLoss]) -> Option<(Dd, u64, Vec<CountedLoss>)> {
    let mut found = None;
    let (mut others, mut outcomes) = (Vec::new(), 1.0);
    for part in parts {
        if let (Some(epsilon), None) = (part.law().laplace_epsilon(), found) {
            found = Some((epsilon, part.count));
            continue;
        }
        let atoms = match part.law().listed_count() {
            Some(atoms) => atoms,
            None => part.law().atoms()?.len(),
        };
        // The number of multisets of outcomes.
        for i in 1..atoms as u64 {
            outcomes *= (part.count + i) as f64 / i as f64;
        }
        if outcomes > FEW_OUTCOMES {
            return None;
        }
        others.push(part.clone());
    }
    found.map(|(epsilon, count)| (epsilon, count, others))
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(
    parts: &[CountedLoss],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Bracket, Failure> {
    let ln_target = target.lower.ln_estimate();
    let saddle = saddle_at_delta(parts, ln_target, watch)?;
    let splines = Splines::new(parts, &saddle, effort)?;
    // Trivial bounds where the splines give none.
    let nothing = DeltaBounds::new(Wide::ZERO, Wide::ONE);
    let ends = |e: f64| splines.ends(e).unwrap_or(nothing);
    let Bracket { lower, upper } = solve_epsilon(&ends, target, &saddle, &watch)?;
    let largest = largest(parts).map_or(upper, |(top, error)| (top + Dd::from(error)).upper());
    within_tolerance(Bracket { lower, upper: upper.min(largest).max(lower) }, tolerance)
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[CountedLoss],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<DeltaBounds, Failure> {
    let saddle = saddle_at_epsilon(parts, epsilon, watch)?;
    Splines::new(parts, &saddle, effort)?.ends(epsilon)?.within_tolerance(tolerance)
}

/// The distance of a loss below the largest one, in lattice steps, and its absolute error. `error` is the loss's
/// absolute error.
fn distance(count: u64, epsilon: Dd, (at, error): (Dd, f64)) -> (Dd, f64) {
    let half = Dd::from(count as f64).scaled(0.5);
    let from_middle = at / epsilon.scaled(2.0);
    let exact = error <= 0.0 && !at.is_positive() && !at.is_negative();
    let rounding = if exact { 0.0 } else { PLACE * (from_middle.hi.abs() + half.hi) };
    (half - from_middle, rounding + LEFT_OUT * error / (2.0 * epsilon.hi))
}

/// A distance as a whole number and a fraction of lattice steps.
struct StepDistance {
    whole: u64,
    part: Dd,
}

impl StepDistance {
    /// Returns `None` beyond the largest loss.
    fn new(steps: Dd) -> Option<Self> {
        if steps.is_negative() || steps.hi >= 1e12 {
            return None;
        }
        let floor = steps.hi.floor();
        let floor = if (steps - Dd::from(floor)).is_negative() { floor - 1.0 } else { floor };
        let part = steps - Dd::from(floor);
        (floor >= 0.0).then_some(Self { whole: floor as u64, part })
    }
}

impl Splines {
    fn new(parts: &[CountedLoss], saddle: &Saddle, effort: Effort) -> Result<Self, Failure> {
        let (epsilon, count, others) = split(parts).ok_or(Failure::TooMuch)?;
        let (list, cut, operations) =
            OutcomeList::new(&others).ok_or(Failure::TooMuch)?.into_atoms();
        let others = OtherLosses { list, operations, cut };
        if !(1e-12..200.0).contains(&epsilon.hi) || count > 1 << 40 {
            return Err(Failure::TooMuch);
        }
        // The places that the outcomes of other losses leave, from the nearest to the largest loss on.
        let whole = |loss: Dd| {
            let at = (Dd::from(saddle.epsilon) - loss).abs();
            StepDistance::new(distance(count, epsilon, (at, 0.0)).0).map_or(0, |place| place.whole)
        };
        let wholes = || others.list.iter().map(|atom| whole(atom.loss));
        let (low, high) = (wholes().min().unwrap_or(0), wholes().max().unwrap_or(0));
        // Above epsilon, so that no weighted term grows with its distance.
        let least = epsilon.hi * (1.0 + 2e-3);
        let tilt = (2.0 * epsilon.hi * (saddle.tilt + 0.5)).clamp(least, MOST_EXPONENT);
        let steps = |splines: &Self| (high + 1).saturating_sub(splines.atoms.first) as f64;
        let mut splines = Self::tilted((count, epsilon), (low, high), tilt, effort)?;
        if tilt * steps(&splines) > MOST_EXPONENT {
            let tilt = MOST_EXPONENT / (high + 1) as f64;
            if tilt < least {
                return Err(Failure::TooMuch);
            }
            splines = Self::tilted((count, epsilon), (low, high), tilt, effort)?;
        }
        Ok(Self { others, ..splines })
    }

    fn tilted(
        (count, epsilon): (u64, Dd),
        range: (u64, u64),
        tilt: f64,
        effort: Effort,
    ) -> Result<Self, Failure> {
        let step = exp(-tilt);
        let draw = -expm1(-tilt) / tilt;
        let odds = epsilon.hi * draw / (1.0 + step);
        let most = if effort == Effort::Little { FEW_DRAWN } else { MOST_DRAWN };
        if count as f64 * odds > most * (1.0 + odds) {
            return Err(Failure::TooMuch);
        }
        let (drawn, drawn_rest) = drawn(count, odds);
        let atoms = AtomCounts::new(count, step, range)?;
        let others = OtherLosses { list: Vec::new(), operations: 0.0, cut: 0.0 };
        Ok(Self { count, epsilon, tilt, step, draw, drawn, drawn_rest, atoms, others })
    }

    /// Bounds on the pure delta: the mean, over the other losses' outcomes, of the delta that each outcome leaves.
    fn ends(&self, epsilon: f64) -> Result<DeltaBounds, Failure> {
        let mut sum = DeltaBounds::new(Wide::ZERO, Wide::from(self.others.cut));
        let operations = self.others.operations;
        for atom in &self.others.list {
            let at = Dd::from(epsilon) - atom.loss;
            // A single outcome has loss zero, exactly.
            let size = atom.loss.hi.abs();
            let error = if size > 0.0 { STEP * operations * (1.0 + size) } else { 0.0 };
            let ends = self.either_side(at, error)?;
            let mass = Wide::from(atom.mass);
            sum.lower = sum.lower + ends.lower * mass;
            sum.upper = sum.upper + ends.upper * mass;
        }
        let slack = STEP * (operations + FACTOR_AND_SUM * self.others.list.len() as f64);
        let by = |x: Wide, slack: f64| x * Wide::from(Dd::sum(1.0, slack));
        Ok(DeltaBounds::new(by(sum.lower, -slack), by(sum.upper, slack)))
    }

    /// At an epsilon of either sign: `delta(-e) = 1 - e^-e + e^-e delta(e)` as the pair is symmetric.
    fn either_side(&self, at: Dd, error: f64) -> Result<DeltaBounds, Failure> {
        if !at.is_negative() {
            return self.one_side(at, error);
        }
        let DeltaBounds { lower, upper } = self.one_side(-at, error)?;
        // Both terms decrease as epsilon increases, together by at most epsilon's error.
        let (fall, rest) = (Wide::exp(at), Wide::from(-at.expm1()));
        let both =
            |delta: Wide, slack: f64| (rest + fall * delta) * Wide::from(Dd::sum(1.0, slack));
        let wider = Wide::from(error + SIDE);
        let least = both(lower, -SIDE) - wider;
        let least = if least.is_positive() { least } else { Wide::ZERO };
        Ok(DeltaBounds::new(least, both(upper, SIDE) + wider))
    }

    fn one_side(&self, at: Dd, error: f64) -> Result<DeltaBounds, Failure> {
        let (steps, error) = distance(self.count, self.epsilon, (at, error));
        let near = error / CLOSE;
        if steps.hi < -near {
            return Ok(DeltaBounds::ZERO);
        }
        let is_clear = |place: &StepDistance| place.part.hi > near && place.part.hi < 1.0 - near;
        if let Some(place) =
            StepDistance::new(steps).filter(|place| error <= 0.0 || is_clear(place))
        {
            return self.at(&place);
        }
        // Too close to the lattice; delta increases with the distance.
        let around = Dd::from(2.0 * near);
        let above = if steps.is_negative() { around } else { steps + around };
        let above = self.at(&StepDistance::new(above).ok_or(Failure::TooMuch)?)?;
        let below = StepDistance::new(steps - around).map(|place| self.at(&place)).transpose()?;
        Ok(DeltaBounds::new(below.map_or(Wide::ZERO, |ends| ends.lower), above.upper))
    }

    fn at(&self, place: &StepDistance) -> Result<DeltaBounds, Failure> {
        let steps = (place.whole + 1).saturating_sub(self.atoms.first);
        let (terms, missing) = terms(self.epsilon.hi * (steps + 1) as f64)?;
        let levels = self.drawn.len() + 2 * terms;
        if steps > MOST_STEPS || levels as u64 * steps > MOST_WORK {
            return Err(Failure::TooMuch);
        }
        let weights = StepWeights { epsilon: self.epsilon.hi, step: self.step, draw: self.draw };
        let sizes = (self.drawn.len(), levels, steps as usize);
        let table = SplineTable::new(weights, place.part, sizes);
        let (sum, omitted_mass) = self.sum(place, &table);
        let lost: f64 =
            self.drawn.iter().zip(&table.lost).map(|(weight, lost)| weight * lost).sum();
        // A weighted term is at most one, divided by the weight of the fraction.
        let most = self.draw * exp(self.tilt * place.part.hi);
        let rest = LEFT_OUT * (omitted_mass * most + lost);
        let slack = ROUNDINGS * (64 + levels + steps as usize + self.atoms.list.len()) as f64;
        let upper = sum * (1.0 + slack) * (1.0 + missing) + rest;
        let lower = (sum * (1.0 - slack) - LEFT_OUT * lost).max(0.0);
        if !upper.is_finite() {
            return Err(Failure::TooMuch);
        }
        let (scale, error) = self.scale(place);
        Ok(DeltaBounds::new(
            scale * Wide::from(lower) * Wide::from((1.0 - error).max(0.0)),
            scale * Wide::from(upper) * Wide::from(1.0 + error),
        ))
    }

    /// The factor of all terms, and its relative error.
    fn scale(&self, place: &StepDistance) -> (Wide, f64) {
        let (count, whole) = (self.count, place.whole);
        let atom = (Dd::ONE + Dd::from(self.step)).scaled(0.5);
        let distance = self.epsilon * (Dd::from(whole as f64) + place.part);
        let scale = Wide::exp(-distance)
            * (Wide::from(self.step).powi(whole) * Wide::from(self.draw)).recip()
            * Wide::from(atom).powi(count);
        let factors = count as f64 * (1.0 + self.epsilon.hi) + whole as f64;
        (scale, FACTOR * (64.0 + factors + distance.hi))
    }

    /// The sum over the draws and the atoms, and a bound on the weight of the terms that are left out.
    fn sum(&self, place: &StepDistance, table: &SplineTable) -> (f64, f64) {
        let (mut sum, mut omitted_mass) = (0.0, self.drawn_rest);
        let mut atoms = self.atoms.downwards(place.whole, table.steps);
        // Numbers of atoms above the list; they increase as the number of draws decreases.
        let beyond = if place.whole > self.atoms.last() { self.atoms.beyond } else { 0.0 };
        for (drawn, &weight) in self.drawn.iter().enumerate() {
            let row = &table.rows[drawn * table.steps..][..table.steps];
            sum += weight * atoms.iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
            let count = self.count as f64 - drawn as f64;
            let lowest = atoms.last().copied().unwrap_or(1.0);
            let below = below(lowest, self.atoms.first as f64, count, self.step);
            omitted_mass += weight * (beyond + below);
            // One atom fewer.
            let grow = (1.0 + self.step) / count.max(1.0);
            for (i, atom) in atoms.iter_mut().enumerate() {
                *atom *= (count - (place.whole - i as u64) as f64).max(0.0) * grow;
            }
        }
        (sum, omitted_mass)
    }
}

/// The probability of each number of draws from the density relative to no draw, from the odds of one draw, and a bound
/// on the sum of all further ones.
fn drawn(count: u64, odds: f64) -> (Vec<f64>, f64) {
    let (mut list, mut largest) = (vec![1.0], 1.0_f64);
    loop {
        let drawn = list.len() as f64;
        let Some(left) = count.checked_sub(list.len() as u64 - 1).filter(|left| *left > 0) else {
            return (list, 0.0);
        };
        let ratio = left as f64 / drawn * odds;
        let next = list[list.len() - 1] * ratio;
        if ratio < 0.9 && next < NEGLIGIBLE * largest {
            return (list, next / (1.0 - ratio));
        }
        largest = largest.max(next);
        list.push(next);
    }
}

/// The probabilities of the numbers of atoms that are one step down if nothing is drawn, starting at `first`.
struct AtomCounts {
    list: Vec<f64>,
    first: u64,
    /// A bound on the probability of larger numbers.
    beyond: f64,
}

impl AtomCounts {
    /// Ratios from the most likely number in both directions, until the terms near the given places are negligible,
    /// divided by their sum. The sum is at most the total; the difference is included in the bounds.
    fn new(count: u64, step: f64, (low, high): (u64, u64)) -> Result<Self, Failure> {
        let n = count as f64;
        let mode = ((n + 1.0) * step / (1.0 + step)).floor().clamp(0.0, n) as u64;
        let (mut up, mut down) = (vec![1.0], Vec::new());
        let mut at = mode;
        while at < count && (at <= high || up[up.len() - 1] > NEGLIGIBLE) {
            up.push(up[up.len() - 1] * (step * (count - at) as f64 / (at + 1) as f64));
            at += 1;
            if up.len() as u64 > MOST_STEPS {
                return Err(Failure::TooMuch);
            }
        }
        let ratio = step * (count - at) as f64 / (at + 1) as f64;
        let beyond = up[up.len() - 1] * ratio / (1.0 - ratio).max(1e-300);
        let (mut least, mut last, mut at) = (1.0, 1.0, mode);
        while at > 0 && (at > low || last > NEGLIGIBLE * least) {
            last *= at as f64 / (step * (count - at + 1) as f64);
            at -= 1;
            down.push(last);
            if at >= low {
                least = last;
            }
            if down.len() as u64 > MOST_STEPS || last < 1e-250 {
                return Err(Failure::TooMuch);
            }
        }
        let under = below(last, at as f64, n, step);
        down.reverse();
        down.extend(up);
        let total: f64 = down.iter().sum();
        // The terms outside the sum make each probability a little smaller.
        let is_whole = beyond + under <= 1e-17 * total;
        if !is_whole {
            return Err(Failure::TooMuch);
        }
        down.iter_mut().for_each(|value| *value /= total);
        Ok(Self { list: down, first: at, beyond: beyond / total })
    }

    fn last(&self) -> u64 {
        self.first + self.list.len() as u64 - 1
    }

    /// The probabilities at a place and the `steps - 1` places below it.
    fn downwards(&self, place: u64, steps: usize) -> Vec<f64> {
        let at = |i: u64| self.list.get((place - i - self.first) as usize).copied();
        (0..steps as u64).map(|i| at(i).unwrap_or(0.0)).collect()
    }
}

/// A bound on the sum over all numbers of atoms below one: the ratios decrease.
fn below(value: f64, at: f64, count: f64, step: f64) -> f64 {
    let ratio = at / (step * (count - at + 1.0).max(1e-300));
    if ratio < 1.0 { value * ratio / (1.0 - ratio) } else { 1.0 }
}

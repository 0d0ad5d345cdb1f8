//! Equal Laplace losses, by the atoms' lattice and splines on it (theory 2.10); and among few
//! outcomes of others, one by one.
//!
//! With the distance below the largest loss in units of 2 epsilon, each loss is an atom at zero, one at
//! one, and a uniform density between. A sum of c uniform draws is a cardinal spline whose knots are on the
//! atoms' lattice. Every term of every recursion is positive: nothing cancels, and roundings are counted.

mod table;

use super::contour::{Effort, saddle_at_delta, saddle_at_epsilon};
use super::largest::largest;
use super::listed::Listed;
use crate::composition::Part;
use crate::composition::leak::Target;
use crate::ends::Ends;
use crate::laws::Atom;
use crate::methods::saddle::Saddle;
use crate::methods::search::solved;
use crate::methods::{Failure, kept};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp, expm1};
use table::{Table, Weights, terms};

// What the certificates here allow for, each rounded up generously.

/// For each level, lattice step and weight at most twenty roundings: nine in a spline, four in a sum of splines,
/// five where atoms are weighed and six where draws are, not all of them at once.
const ROUNDINGS: f64 = 32.0 * UNIT;
/// The scale: powers of double-doubles, two operations for each factor.
const FACTOR: f64 = 4.0 * STEP;
/// A place on the lattice: epsilon's own error, a quotient and a difference.
const PLACE: f64 = 8.0 * STEP;
/// The mass of another's outcome, and its addition.
const FACTOR_AND_SUM: f64 = 4.0;
/// 1 - e^-x + e^-x y: five operations.
const SIDE: f64 = 16.0 * STEP;
/// Bounds on what is left out are rounded too.
const LEFT_OUT: f64 = 1.01;
/// What one operation loses to underflow, at most.
const UNDERFLOW: f64 = 1e-300;

// Not allowances but choices: any are sound.

/// Terms below this, relative to the largest, are bounded, not computed.
const NEGLIGIBLE: f64 = 1e-20;
/// A fraction's error relative to the fraction, a rounding at most: beyond it, its neighbours are asked.
const CLOSE: f64 = 1e-16;
/// With more draws from the density than this the contour ends by itself.
const FEW_DRAWN: f64 = 30.0;
const MOST_DRAWN: f64 = 120.0;
/// The most lattice steps, and the most of them times levels.
const MOST_STEPS: u64 = 40_000;
const MOST_WORK: u64 = 10_000_000;
/// The most outcomes of others.
const FEW_OUTCOMES: f64 = 40.0;
/// The largest exponent of a weight.
const MOST_EXPONENT: f64 = 600.0;

/// Equal Laplace losses, weighed for questions near one epsilon.
struct Splines {
    count: u64,
    epsilon: Dd,
    /// Every step down the lattice is weighed by e^-tilt, less than e^-epsilon.
    tilt: f64,
    step: f64,
    /// Every draw from the density is weighed by one over this: what makes its weight one, about.
    draw: f64,
    /// How often so many are drawn, relative to none, and at most what all further ones add up to.
    drawn: Vec<f64>,
    drawn_rest: f64,
    atoms: Atoms,
    others: Others,
}

/// What else there is: the losses of all outcomes with their masses.
struct Others {
    list: Vec<Atom>,
    /// How many operations a loss or a mass may have seen.
    operations: f64,
    /// Mass that may have any loss.
    cut: f64,
}

/// Whether these are Laplace losses of one scale, run more than once or among few outcomes of others.
pub(crate) fn is_for(parts: &[Part]) -> bool {
    matches!(parts, [part] if part.count > 1 && part.law().laplace().is_some())
        || parts.len() > 1 && split(parts).is_some()
}

/// The one part of Laplace losses, and all others, if they have few outcomes together.
fn split(parts: &[Part]) -> Option<(Dd, u64, Vec<Part>)> {
    let mut found = None;
    let (mut others, mut outcomes) = (Vec::new(), 1.0);
    for part in parts {
        if let (Some(epsilon), None) = (part.law().laplace(), found) {
            found = Some((epsilon, part.count));
            continue;
        }
        let atoms = match part.law().listed() {
            Some(atoms) => atoms,
            None => part.law().atoms()?.len(),
        };
        // So many multisets of outcomes there are.
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
    parts: &[Part],
    target: &Target,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Bracket, Failure> {
    let ln_target = target.lower.ln_estimate();
    let saddle = saddle_at_delta(parts, ln_target, watch)?;
    let splines = Splines::new(parts, &saddle, effort)?;
    // What cannot be said is bounded by nothing.
    let nothing = Ends::new(Wide::ZERO, Wide::ONE);
    let ends = |e: f64| splines.ends(e).unwrap_or(nothing);
    let Bracket { lower, upper } = solved(&ends, target, &saddle, &watch)?;
    let largest = largest(parts).map_or(upper, |(top, error)| (top + Dd::from(error)).upper());
    kept(Bracket { lower, upper: upper.min(largest).max(lower) }, tolerance)
}

/// The pure delta at an epsilon.
pub(crate) fn delta(
    parts: &[Part],
    epsilon: f64,
    tolerance: f64,
    (effort, watch): (Effort, Watch<'_>),
) -> Result<Ends, Failure> {
    let saddle = saddle_at_epsilon(parts, epsilon, watch)?;
    Splines::new(parts, &saddle, effort)?.ends(epsilon)?.kept(tolerance)
}

/// How far a loss, good to an absolute error, is below the largest one, in lattice steps; and its absolute error.
fn distance(count: u64, epsilon: Dd, (at, error): (Dd, f64)) -> (Dd, f64) {
    let half = Dd::from(count as f64).scaled(0.5);
    let from_middle = at / epsilon.scaled(2.0);
    let exact = error <= 0.0 && !at.is_positive() && !at.is_negative();
    let rounding = if exact { 0.0 } else { PLACE * (from_middle.hi.abs() + half.hi) };
    (half - from_middle, rounding + LEFT_OUT * error / (2.0 * epsilon.hi))
}

/// The same, as a whole number and a fraction.
struct Place {
    whole: u64,
    part: Dd,
}

impl Place {
    /// None beyond the largest loss.
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
    fn new(parts: &[Part], saddle: &Saddle, effort: Effort) -> Result<Self, Failure> {
        let (epsilon, count, others) = split(parts).ok_or(Failure::TooMuch)?;
        let (list, cut, operations) = Listed::new(&others).ok_or(Failure::TooMuch)?.into_atoms();
        let others = Others { list, operations, cut };
        if !(1e-12..200.0).contains(&epsilon.hi) || count > 1 << 40 {
            return Err(Failure::TooMuch);
        }
        // Where the outcomes leave the others, from the nearest to the largest loss on.
        let whole = |loss: Dd| {
            let at = (Dd::from(saddle.epsilon) - loss).abs();
            Place::new(distance(count, epsilon, (at, 0.0)).0).map_or(0, |place| place.whole)
        };
        let wholes = || others.list.iter().map(|atom| whole(atom.loss));
        let (low, high) = (wholes().min().unwrap_or(0), wholes().max().unwrap_or(0));
        // Above epsilon, so that no weighed term grows with its distance.
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
        let atoms = Atoms::new(count, step, range)?;
        let others = Others { list: Vec::new(), operations: 0.0, cut: 0.0 };
        Ok(Self { count, epsilon, tilt, step, draw, drawn, drawn_rest, atoms, others })
    }

    /// Bounds on the pure delta: the mean over the others' outcomes of what each leaves.
    fn ends(&self, epsilon: f64) -> Result<Ends, Failure> {
        let mut sum = Ends::new(Wide::ZERO, Wide::from(self.others.cut));
        let operations = self.others.operations;
        for atom in &self.others.list {
            let at = Dd::from(epsilon) - atom.loss;
            // A single outcome has no loss.
            let size = atom.loss.hi.abs();
            let error = if size > 0.0 { STEP * operations * (1.0 + size) } else { 0.0 };
            let ends = self.either_side(at, error)?;
            let mass = Wide::from(atom.mass);
            sum.lower = sum.lower + ends.lower * mass;
            sum.upper = sum.upper + ends.upper * mass;
        }
        let slack = STEP * (operations + FACTOR_AND_SUM * self.others.list.len() as f64);
        let by = |x: Wide, slack: f64| x * Wide::from(Dd::sum(1.0, slack));
        Ok(Ends::new(by(sum.lower, -slack), by(sum.upper, slack)))
    }

    /// At an epsilon of either sign: `delta(-e) = 1 - e^-e + e^-e delta(e)` as the pair is symmetric.
    fn either_side(&self, at: Dd, error: f64) -> Result<Ends, Failure> {
        if !at.is_negative() {
            return self.one_side(at, error);
        }
        let Ends { lower, upper } = self.one_side(-at, error)?;
        // Both its terms fall as the epsilon rises, by at most its error in all.
        let (fall, rest) = (Wide::exp(at), Wide::from(-at.expm1()));
        let both =
            |delta: Wide, slack: f64| (rest + fall * delta) * Wide::from(Dd::sum(1.0, slack));
        let wider = Wide::from(error + SIDE);
        let least = both(lower, -SIDE) - wider;
        let least = if least.is_positive() { least } else { Wide::ZERO };
        Ok(Ends::new(least, both(upper, SIDE) + wider))
    }

    fn one_side(&self, at: Dd, error: f64) -> Result<Ends, Failure> {
        let (steps, error) = distance(self.count, self.epsilon, (at, error));
        let near = error / CLOSE;
        if steps.hi < -near {
            return Ok(Ends::ZERO);
        }
        let is_clear = |place: &Place| place.part.hi > near && place.part.hi < 1.0 - near;
        if let Some(place) = Place::new(steps).filter(|place| error <= 0.0 || is_clear(place)) {
            return self.at(&place);
        }
        // Too close to the lattice: delta rises with the distance.
        let around = Dd::from(2.0 * near);
        let above = if steps.is_negative() { around } else { steps + around };
        let above = self.at(&Place::new(above).ok_or(Failure::TooMuch)?)?;
        let below = Place::new(steps - around).map(|place| self.at(&place)).transpose()?;
        Ok(Ends::new(below.map_or(Wide::ZERO, |ends| ends.lower), above.upper))
    }

    fn at(&self, place: &Place) -> Result<Ends, Failure> {
        let steps = (place.whole + 1).saturating_sub(self.atoms.first);
        let (terms, missing) = terms(self.epsilon.hi * (steps + 1) as f64)?;
        let levels = self.drawn.len() + 2 * terms;
        if steps > MOST_STEPS || levels as u64 * steps > MOST_WORK {
            return Err(Failure::TooMuch);
        }
        let weights = Weights { epsilon: self.epsilon.hi, step: self.step, draw: self.draw };
        let sizes = (self.drawn.len(), levels, steps as usize);
        let table = Table::new(weights, place.part, sizes);
        let (sum, left_out) = self.sum(place, &table);
        let lost: f64 =
            self.drawn.iter().zip(&table.lost).map(|(weight, lost)| weight * lost).sum();
        // A weighed term is at most one, over the weight of the fraction.
        let most = self.draw * exp(self.tilt * place.part.hi);
        let rest = LEFT_OUT * (left_out * most + lost);
        let slack = ROUNDINGS * (64 + levels + steps as usize + self.atoms.list.len()) as f64;
        let upper = sum * (1.0 + slack) * (1.0 + missing) + rest;
        let lower = (sum * (1.0 - slack) - LEFT_OUT * lost).max(0.0);
        if !upper.is_finite() {
            return Err(Failure::TooMuch);
        }
        let (scale, error) = self.scale(place);
        Ok(Ends::new(
            scale * Wide::from(lower) * Wide::from((1.0 - error).max(0.0)),
            scale * Wide::from(upper) * Wide::from(1.0 + error),
        ))
    }

    /// What all terms are relative to, and its relative error.
    fn scale(&self, place: &Place) -> (Wide, f64) {
        let (count, whole) = (self.count, place.whole);
        let atom = (Dd::ONE + Dd::from(self.step)).scaled(0.5);
        let distance = self.epsilon * (Dd::from(whole as f64) + place.part);
        let scale = Wide::exp(-distance)
            * (Wide::from(self.step).powi(whole) * Wide::from(self.draw)).recip()
            * Wide::from(atom).powi(count);
        let factors = count as f64 * (1.0 + self.epsilon.hi) + whole as f64;
        (scale, FACTOR * (64.0 + factors + distance.hi))
    }

    /// The sum over the draws and the atoms, and at most the weight of what is not in it.
    fn sum(&self, place: &Place, table: &Table) -> (f64, f64) {
        let (mut sum, mut left_out) = (0.0, self.drawn_rest);
        let mut atoms = self.atoms.downwards(place.whole, table.steps);
        // Those above the list, of which there are the more the fewer are drawn.
        let beyond = if place.whole > self.atoms.last() { self.atoms.beyond } else { 0.0 };
        for (drawn, &weight) in self.drawn.iter().enumerate() {
            let row = &table.rows[drawn * table.steps..][..table.steps];
            sum += weight * atoms.iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
            let count = self.count as f64 - drawn as f64;
            let lowest = atoms.last().copied().unwrap_or(1.0);
            let below = below(lowest, self.atoms.first as f64, count, self.step);
            left_out += weight * (beyond + below);
            // One atom fewer.
            let grow = (1.0 + self.step) / count.max(1.0);
            for (i, atom) in atoms.iter_mut().enumerate() {
                *atom *= (count - (place.whole - i as u64) as f64).max(0.0) * grow;
            }
        }
        (sum, left_out)
    }
}

/// How often so many draws are from the density, relative to none, by the odds of one; and at most what all
/// further ones add up to.
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

/// How many atoms are one step down, if nothing is drawn: probabilities from `first` on.
struct Atoms {
    list: Vec<f64>,
    first: u64,
    /// At most the probability of more.
    beyond: f64,
}

impl Atoms {
    /// Ratios from the most likely number on, both ways, until nothing is left near some places; then divided by
    /// their sum. That is at most what all add up to: what is left out of it is allowed for.
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
        // What is not in the sum makes each a little less.
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

    /// Those from a place down, so many.
    fn downwards(&self, place: u64, steps: usize) -> Vec<f64> {
        let at = |i: u64| self.list.get((place - i - self.first) as usize).copied();
        (0..steps as u64).map(|i| at(i).unwrap_or(0.0)).collect()
    }
}

/// At most what all numbers of atoms below one add up to: ratios fall.
fn below(value: f64, at: f64, count: f64, step: f64) -> f64 {
    let ratio = at / (step * (count - at + 1.0).max(1e-300));
    if ratio < 1.0 { value * ratio / (1.0 - ratio) } else { 1.0 }
}

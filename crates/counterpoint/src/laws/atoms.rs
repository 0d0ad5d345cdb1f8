//! Lists of atoms.

use super::cells::{Cut, Point, Side};
use super::closed_form::{FOUR_ROUNDINGS, LARGE, RELATIVE, SHORT_OF_THE_NEXT, cumulant_of};
use super::gaussian::{normal_cumulant, normal_jet};
use super::transform::{FROM_INTEGRALS, Kind, Tilted};
use super::{Blurring, Direction, Formula, Jet, Law, LeftOut, Moments, mixed};
use crate::ends::{Ends, LOOSE, ROUNDED_UP, UNCOUNTED};
use counterpoint_numerics::{Bracket, Dd, STEP, TWO_PI, Wide, falling, rise};
use std::ops::Deref;
use std::sync::OnceLock;

/// Losses with their P masses, by falling loss; the masses sum to one, but for what was
/// cut off at the ends. Q masses are not kept: they are the P masses times e^-loss, times
/// the share of P that is finite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atoms {
    pub(crate) list: List,
    /// At most this much P mass is not listed.
    pub(crate) cut: f64,
    /// Whether none of that has a loss above the largest one listed, whose mass is so much more that
    /// it might as well be there: the profile is then within the masses' errors.
    pub(crate) capped: bool,
    /// Whether exchanging P and Q makes no difference.
    pub(crate) symmetric: bool,
    /// Its divergences are at most this times the order, if such a line is known.
    pub(crate) rho: Option<f64>,
}

/// A list that is made when it is first looked at, if there is a formula for what it says.
#[derive(Clone, Debug)]
pub(crate) struct List {
    made: OnceLock<Vec<Atom>>,
    whole: Option<WholeGaussian>,
}

/// Discrete Gaussian noise of a parameter so large that [`WholeGaussian::LEAST_SIGMA`] says what its moments are, and
/// by how much it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WholeGaussian {
    pub(crate) sigma: f64,
    pub(crate) steps: f64,
}

impl WholeGaussian {
    /// From here on e^(-2 pi^2 sigma^2), by which sums over whole numbers differ from integrals (Poisson's formula), is
    /// below 10^-34: less than any double-double is good to.
    pub(crate) const LEAST_SIGMA: f64 = 2.0;

    /// (D / sigma)^2.
    pub(crate) fn square(self) -> Dd {
        Dd::product(self.steps, self.steps) / Dd::product(self.sigma, self.sigma)
    }

    /// As many outcomes are listed, or a few less.
    pub(crate) fn outcomes(self) -> f64 {
        2.0 * furthest(self.sigma) + 1.0
    }

    /// A loss that is listed, and near the largest one.
    pub(crate) fn far(self) -> f64 {
        self.steps * (60.0 * self.sigma + self.steps) / (2.0 * self.sigma * self.sigma)
    }
}

impl List {
    /// A list that is made of a formula when it is first looked at.
    pub(crate) fn of_formula(whole: WholeGaussian) -> Self {
        Self { made: OnceLock::new(), whole: Some(whole) }
    }

    /// The formula for what it says, if there is one.
    pub(crate) fn whole(&self) -> Option<WholeGaussian> {
        self.whole
    }

    fn into_made(self) -> Vec<Atom> {
        self.to_vec()
    }
}

impl Deref for List {
    type Target = Vec<Atom>;

    fn deref(&self) -> &Vec<Atom> {
        self.made.get_or_init(|| self.whole.map_or_else(Vec::new, gaussian_atoms))
    }
}

impl From<Vec<Atom>> for List {
    fn from(list: Vec<Atom>) -> Self {
        Self { made: OnceLock::from(list), whole: None }
    }
}

/// What was made of the same formula is the same.
impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        match (self.whole, other.whole) {
            (Some(whole), Some(other)) => whole == other,
            _ => **self == **other,
        }
    }
}

/// A loss and its P mass, with relative errors of at most 2^-90 (absolute below one for the loss, and for
/// what is left in the middle of a staircase, which is less likely than what is above it).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) loss: Dd,
    pub(crate) mass: Dd,
}

impl Atoms {
    /// Sorts by falling loss and leaves out masses that are next to nothing, or that have
    /// underflowed to nothing.
    pub(crate) fn new(list: Vec<Atom>, cut: f64, symmetric: bool) -> Self {
        let all = list.len();
        let list = in_order(list);
        let left_out = (all - list.len()) as f64 * NOTHING;
        Self { list: list.into(), cut: cut + left_out, capped: false, symmetric, rho: None }
    }

    /// Masses that sum to one.
    pub(crate) fn of(list: Vec<Atom>) -> Self {
        Self::new(list, 0.0, false)
    }

    /// The same for a mechanism whose largest loss is the first of the list: what is left out has a lesser
    /// one. Moved up to the largest it would add less than 2^-90 to that one's mass.
    pub(crate) fn capped(list: Vec<Atom>, cut: f64, symmetric: bool) -> Self {
        let largest = list.first().map(|first| first.loss);
        let atoms = Self::new(list, cut, symmetric);
        let capped = atoms.list.first().is_some_and(|first| {
            Some(first.loss) == largest && atoms.cut <= 0.25 * STEP * first.mass.hi
        });
        Self { capped, ..atoms }
    }

    /// Masses that sum to one, of a pair that is its own mirror image, by falling loss.
    pub(crate) fn mirrored(list: Vec<Atom>) -> Self {
        Self::capped(list, 0.0, true).together()
    }

    /// At most this much P mass has a loss above the largest one listed.
    pub(crate) fn above(&self) -> f64 {
        if self.capped { 0.0 } else { self.cut }
    }

    /// Equal losses as one.
    pub(crate) fn together(self) -> Self {
        let mut list = self.list.into_made();
        list.dedup_by(|next, kept| {
            let same = next.loss == kept.loss;
            if same {
                kept.mass = kept.mass + next.mass;
            }
            same
        });
        Self { list: list.into(), ..self }
    }
}

/// Masses up to this are left out.
pub(crate) const NOTHING: f64 = 1e-250;

/// By falling loss, without masses that are next to nothing or have underflowed to nothing.
fn in_order(mut list: Vec<Atom>) -> Vec<Atom> {
    list.retain(|atom| atom.mass.hi > NOTHING);
    largest_first(list)
}

/// By falling loss.
pub(crate) fn largest_first(mut list: Vec<Atom>) -> Vec<Atom> {
    list.sort_by(|a, b| b.loss.hi.total_cmp(&a.loss.hi).then(b.loss.lo.total_cmp(&a.loss.lo)));
    list
}

/// Discrete Gaussians are listed this many standard deviations out.
const REACH: f64 = 34.0;
/// A sum in which each number sees as many additions as their number has bits: below 2^-99 for a million.
pub(crate) fn sum(list: &[Dd]) -> Dd {
    match list {
        [] => Dd::ZERO,
        [one] => *one,
        _ => {
            let (left, right) = list.split_at(list.len() / 2);
            sum(left) + sum(right)
        }
    }
}

/// How far out discrete Gaussians are listed.
fn furthest(sigma: f64) -> f64 {
    (REACH * sigma).ceil() + 1.0
}

/// Masses proportional to e^(-y^2 / 2 sigma^2) at losses D (2 y + D) / (2 sigma^2).
pub(crate) fn gaussian_atoms(WholeGaussian { sigma, steps: distance }: WholeGaussian) -> Vec<Atom> {
    let square = Dd::product(sigma, sigma);
    let furthest = furthest(sigma);
    let weight = |y: f64| falling(Dd::product(y, y) / (square + square));
    let places = || (0..=2 * furthest as u64).map(|place| furthest - place as f64);
    let total = sum(&places().map(weight).collect::<Vec<_>>());
    let atom = |y: f64| Atom {
        loss: Dd::product(distance, 2.0 * y + distance) / (square + square),
        mass: weight(y) / total,
    };
    in_order(places().map(atom).collect())
}

/// Two outcomes, the larger loss being this share of how far they are apart: masses
/// (1 - e^(t-eta))/(1 - e^-eta) at t and e^-eta (e^t - 1)/(1 - e^-eta) at t - eta (theory 5.11).
pub(crate) fn two_outcomes(range: Dd, share: f64) -> Atoms {
    let top = range * share;
    let below = range - top;
    let whole = -(-range).expm1();
    let high = -(-below).expm1() / whole;
    // e^-eta (e^t - 1) is e^(t-eta) (1 - e^-t).
    let low = falling(below) * -(-top).expm1() / whole;
    Atoms::capped(
        vec![Atom { loss: top, mass: high }, Atom { loss: -below, mass: low }],
        0.0,
        false,
    )
}

/// The same pair on a Poisson sample; `None` if an outcome is too rare to be listed.
pub(crate) fn sampled_two_outcomes(
    range: Dd,
    share: f64,
    rate: f64,
    direction: Direction,
) -> Option<Atoms> {
    let pair = two_outcomes(range, share);
    if pair.cut > 0.0 || pair.list.iter().any(|atom| atom.loss.hi.abs() > 500.0) {
        return None;
    }
    let outcome = |atom: &Atom| (atom.mass, atom.mass * (-atom.loss).exp());
    let outcomes: Vec<(Dd, Dd)> = pair.list.iter().map(outcome).collect();
    let (atoms, leak) = sampled_outcomes(&outcomes, rate, direction);
    (leak.upper() < 1.0).then_some(atoms)
}

/// The law of outcomes with their P and Q mass, Q being without the person, on a Poisson sample; and the P mass that leaks.
///
/// Without the person an outcome with q = 0 never happens; one with p = 0 is less likely with the person in
/// the data, by the share of the samples that have it.
pub(crate) fn sampled_outcomes(
    outcomes: &[(Dd, Dd)],
    rate: f64,
    direction: Direction,
) -> (Atoms, Dd) {
    let (rate, rest) = (Dd::from(rate), Dd::ONE - Dd::from(rate));
    let ratio = |p: Dd, q: Dd| match p.is_positive() {
        true => mixed(rate, (p / q).ln()),
        false => (-rate).ln_1p(),
    };
    let common = || outcomes.iter().filter(|(_, q)| q.is_positive());
    if direction == Direction::Add {
        let list = common().map(|&(p, q)| Atom { loss: -ratio(p, q), mass: q });
        return (Atoms::new(list.collect(), 0.0, false).together(), Dd::ZERO);
    }
    let mixtures: Vec<Dd> = common().map(|&(p, q)| rest * q + rate * p).collect();
    let kept = sum(&mixtures);
    let list = common().zip(&mixtures);
    let list = list.map(|(&(p, q), &mass)| Atom { loss: ratio(p, q), mass: mass / kept });
    let only: Vec<Dd> =
        outcomes.iter().filter(|(_, q)| !q.is_positive()).map(|&(p, _)| p).collect();
    (Atoms::new(list.collect(), 0.0, false).together(), rate * sum(&only))
}

impl Law for Atoms {
    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn is_class(&self) -> bool {
        false
    }

    /// The numbers of a formula, if there is one; else those of the list.
    fn numbers(&self) -> Vec<f64> {
        let whole = self.list.whole();
        let list = if whole.is_some() { &[][..] } else { &self.list[..] };
        let of = |atom: &Atom| [atom.loss.hi, atom.mass.hi, atom.loss.lo, atom.mass.lo];
        let whole = whole.into_iter().flat_map(|whole| [f64::INFINITY, whole.sigma, whole.steps]);
        whole.chain(list.iter().flat_map(of)).chain([self.cut]).collect()
    }

    fn concentration(&self) -> Option<f64> {
        self.rho
    }

    fn top(&self) -> Option<(Dd, Dd)> {
        self.list.first().map(|first| (first.loss, first.mass))
    }

    fn growth(&self, s: f64) -> Option<f64> {
        let (first, next) = (self.list.first()?, self.list.get(1));
        let apart = next.map_or(f64::INFINITY, |next| (first.loss - next.loss).hi);
        (s < SHORT_OF_THE_NEXT * apart).then_some(0.0)
    }

    fn mass_within(&self, gap: f64) -> Dd {
        let Some(first) = self.list.first() else { return Dd::ONE };
        let near =
            |atom: &&Atom| (first.loss - atom.loss).hi <= gap * (1.0 + NEXT_TO) + NEXT_TO_ZERO;
        let mass = self.list.iter().filter(near).fold(Dd::ZERO, |sum, atom| sum + atom.mass);
        mass * (1.0 + FOUR_ROUNDINGS)
    }

    fn left_out(&self) -> LeftOut {
        LeftOut { mass: self.cut, above: self.above() }
    }

    fn atoms(&self) -> Option<Vec<Atom>> {
        Some(self.list.to_vec())
    }

    fn listed(&self) -> Option<usize> {
        self.list.whole().is_none().then(|| self.list.len())
    }

    fn formula(&self) -> Option<Formula> {
        self.list.whole().map(|whole| Formula { outcomes: whole.outcomes(), far: whole.far() })
    }

    fn is_list(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        self.cut <= 0.0
    }

    fn profile(&self, epsilon: Dd) -> Option<Ends> {
        Some(self.profile_after(epsilon, UNCOUNTED))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        if let Some(whole) = self.list.whole() {
            // Sums over whole numbers are integrals but for a tiny factor.
            let (value, error) = cumulant_of(normal_cumulant(whole.square(), t))?;
            return Some((value, error + FROM_INTEGRALS));
        }
        let largest = self.list.first()?.loss;
        Some(if largest.hi * t > LARGE { scaled(self, largest, t) } else { rising(self, t) })
    }

    fn jet(&self, t: f64) -> Option<Jet> {
        match self.list.whole() {
            Some(whole) => Some(normal_jet(whole.square().hi, t)),
            None => few(self, t),
        }
    }

    fn own_moments(&self) -> Option<Moments> {
        Some(moments(self))
    }

    fn tilted(&self, t: f64) -> Option<Tilted> {
        match self.list.whole() {
            Some(whole) => Some(whole.tilted(t)),
            None => listed_tilted(&self.list, t),
        }
    }

    fn blurring(&self) -> Blurring {
        if self.list.whole().is_some() { Blurring::Needed } else { Blurring::Possible }
    }

    fn points(
        &self,
        _side: Side,
        _cut: Option<&Cut<'_>>,
        sink: &mut dyn FnMut(Point),
    ) -> Option<Wide> {
        for atom in self.list.iter() {
            let p = atom.mass.hi;
            sink(Point { loss: atom.loss, scale: Dd::ZERO, p, q: p, error: 0.0 });
        }
        Some(Wide::from(self.cut))
    }

    fn offset(&self) -> Dd {
        self.list.first().map_or(Dd::ZERO, |atom| atom.loss)
    }

    fn spacings(&self) -> Option<Vec<f64>> {
        let offset = self.offset();
        Some(self.list.iter().map(|atom| (offset - atom.loss).hi).collect())
    }
}

/// Atoms within the rounding of a gap count as within it.
const NEXT_TO: f64 = 1e-9;
const NEXT_TO_ZERO: f64 = 1e-25;

/// A loss and its distance from an epsilon, for each operation it may have seen.
pub(crate) const LOSS: f64 = 2.0 * STEP;

impl Atoms {
    /// Its profile, atom by atom, if each loss and mass may have seen so many operations.
    pub(crate) fn profile_after(&self, epsilon: Dd, operations: f64) -> Ends {
        let (mut low, mut high) = (Wide::ZERO, Wide::from(self.above()));
        for atom in self.list.iter() {
            let gap = atom.loss - epsilon;
            let size = 1.0 + atom.loss.hi.abs() + epsilon.hi.abs();
            let error = Dd::from(LOSS * operations * size);
            if (gap + error).is_negative() {
                break;
            }
            low = low + Wide::from(atom.mass) * Wide::from(rise(gap - error));
            high = high + Wide::from(atom.mass) * Wide::from(rise(gap + error));
        }
        let slack = STEP * (operations + self.list.len() as f64);
        Ends::new(low * Wide::from(1.0 - slack), high * Wide::from(1.0 + slack))
    }
}

// Its cumulant, where there is no formula.

/// Losses and masses carry 2^-90 each; the masses sum to one but for `cut`.
const ATOM_ERROR: f64 = 16.0 * STEP;
/// A mass, and e^x - 1 or e^x to 2^-95, with their product: twice is enough where the term is near zero, four
/// times where it is near one.
const SMALL_TERM: f64 = 2.0 * ATOM_ERROR;
const TERM: f64 = 4.0 * ATOM_ERROR;
/// An addition of positive numbers: 2^-102.
const ADDED: f64 = 0.01 * STEP;
/// |ln(a + e) - ln a| is at most e/(a - e); rounded up.
const LOGARITHM: f64 = 1.1;
/// The logarithm of a sum whose largest term is a mass above 10^-250, which is at least -576.
const LEAST_LOGARITHM: f64 = 1000.0;

/// ln(1 + sum of mass (e^(t loss) - 1)).
fn rising(atoms: &Atoms, t: f64) -> (Dd, f64) {
    let (mut sum, mut error) = (Dd::ZERO, atoms.cut);
    for atom in atoms.list.iter() {
        let x = atom.loss * t;
        let rise = x.expm1();
        sum = sum + atom.mass * rise;
        let argument = ATOM_ERROR * t * atom.loss.hi.abs().max(1.0);
        let rising = (rise.hi + 1.0) * argument + SMALL_TERM * rise.hi.abs();
        // The partial sum's own rounding is relative to what has been added so far.
        error += atom.mass.hi * rising + STEP * sum.hi.abs();
    }
    let error = ROUNDED_UP * error;
    let value = sum.ln_1p();
    // Where the error is not small beside 1 + sum, it says so itself.
    (value, LOGARITHM * error / (1.0 + sum.hi - error).max(1e-300) + RELATIVE * value.hi.abs())
}

/// t times the largest loss, plus ln of the sum of mass e^(t (loss - largest)).
fn scaled(atoms: &Atoms, largest: Dd, t: f64) -> (Dd, f64) {
    // Beyond this e^-x is nothing beside the least mass that is kept.
    const NOTHING: f64 = 1e5;
    let argument = ATOM_ERROR * t;
    let (mut sum, mut error) = (Wide::ZERO, Wide::ZERO);
    for atom in atoms.list.iter() {
        let x = (atom.loss - largest) * t;
        if x.hi < -NOTHING {
            continue;
        }
        let term = Wide::from(atom.mass) * Wide::exp(x);
        let relative = argument * atom.loss.hi.abs().max(1.0) + TERM;
        sum = sum + term;
        error = error + term * Wide::from(relative) + sum * Wide::from(ADDED);
    }
    let value = largest * t + sum.ln();
    let relative = (error * sum.recip()).upper(LOOSE);
    let shift = argument * largest.hi.abs().max(1.0);
    let sizes = largest.hi * t + value.hi.abs() + LEAST_LOGARITHM;
    (value, LOGARITHM * (relative + shift) + RELATIVE * sizes)
}

/// Of few atoms: moments under the law tilted by t.
#[allow(clippy::disallowed_methods)] // An estimate.
fn few(atoms: &Atoms, t: f64) -> Option<Jet> {
    const MOST: usize = 64;
    let list = Some(&atoms.list).filter(|list| list.len() <= MOST)?;
    let largest = list.first()?.loss.hi;
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for atom in list.iter() {
        let below = atom.loss.hi - largest;
        let weight = atom.mass.hi * (t * below).exp();
        sum += weight;
        first += weight * below;
        second += weight * below * below;
    }
    let mean = first / sum;
    let jet = [t * largest + sum.ln(), largest + mean, second / sum - mean * mean];
    jet.iter().all(|x| x.is_finite()).then_some(jet)
}

/// What was cut off a list has at most this share of a moment, times its mass: see [`moments`].
const CUT_OFF: f64 = 8.0;

/// Sums over a list. What was cut off it, some 1e-250 of the mass, either has a loss below
/// 10^6 or decays so fast that its share of a moment is below eight times its mass times the
/// power of a loss beyond the last one kept.
fn moments(atoms: &Atoms) -> Moments {
    let largest = atoms.list.iter().map(|atom| atom.loss.hi.abs()).fold(1e6, f64::max);
    let operations = UNCOUNTED + atoms.list.len() as f64;
    let sum = |value: &dyn Fn(Dd) -> Dd| {
        atoms.list.iter().fold(Dd::ZERO, |sum, atom| sum + atom.mass * value(atom.loss))
    };
    let size = sum(&|loss| loss.abs()).hi;
    let mean = sum(&|loss| loss);
    let error = operations * STEP * (size + 1.0) + CUT_OFF * atoms.cut * largest;
    let square = sum(&|loss| (loss - mean) * (loss - mean));
    // The mean square about a point is least at the mean, and off by the square of its error.
    let spread = 2.0 * operations * STEP * (square.hi + size + 1.0)
        + error * error
        + CUT_OFF * atoms.cut * (largest + mean.hi.abs()) * (largest + mean.hi.abs());
    let variance = around(square, Dd::from(ROUNDED_UP * spread));
    Moments {
        mean: around(mean, Dd::from(ROUNDED_UP * error)),
        variance: Bracket { lower: variance.lower.max(0.0), ..variance },
    }
}

fn around(value: Dd, error: Dd) -> Bracket {
    Bracket { lower: (value - error).lower(), upper: (value + error).upper() }
}

impl WholeGaussian {
    fn tilted(self, t: f64) -> Tilted {
        let s = Dd::from(t) + Dd::from(0.5);
        let (square, variance) = (self.square(), Dd::product(self.sigma, self.sigma));
        let slope = (TWO_PI * TWO_PI * variance).scaled(0.5);
        let (ratio, tilt) = (Dd::from(self.steps) / variance, Dd::product(t, self.steps));
        Tilted { shift: square * s, variance: square.hi, kind: Kind::Whole { ratio, slope, tilt } }
    }
}

fn listed_tilted(atoms: &[Atom], t: f64) -> Option<Tilted> {
    let largest = atoms.first()?.loss;
    // By exponents: the heaviest may be far from the largest.
    let exponents: Vec<Dd> = atoms.iter().map(|a| a.mass.ln() - (largest - a.loss) * t).collect();
    let heaviest = exponents.iter().fold(f64::NEG_INFINITY, |most, x| most.max(x.hi));
    let weigh = |x: Dd| falling(Dd::from(heaviest) - x);
    let list = atoms.iter().zip(&exponents);
    let mut list: Vec<(Dd, Dd)> = list.map(|(a, x)| (largest - a.loss, weigh(*x))).collect();
    let total = list.iter().fold(Dd::ZERO, |sum, (_, mass)| sum + *mass);
    for (_, mass) in &mut list {
        *mass = *mass / total;
    }
    let mean: f64 = list.iter().map(|(d, m)| d.hi * m.hi).sum();
    let variance: f64 = list.iter().map(|(d, m)| (d.hi - mean) * (d.hi - mean) * m.hi).sum();
    Some(Tilted { shift: largest, variance, kind: Kind::Many(list) })
}

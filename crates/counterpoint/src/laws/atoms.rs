//! Lists of atoms.

use super::cells::{CellAtom, CellFineness, Domination};
use super::closed_form::{FOUR_ROUNDINGS, LARGE, RELATIVE, SHORT_OF_THE_NEXT, cumulant_of};
use super::gaussian::{normal_cumulant, normal_jet};
use super::transform::{FROM_INTEGRALS, TiltedLaw, TransformKind};
use super::{BlurNeed, Direction, Jet, Law, ListFormula, Moments, OmittedMass, log_mixture};
use crate::delta_bounds::{DeltaBounds, LOOSE, ROUNDED_UP, UNCOUNTED};
use counterpoint_numerics::{Bracket, Dd, STEP, TWO_PI, Wide, exp_neg, one_minus_exp_neg};
use std::ops::Deref;
use std::sync::OnceLock;

/// Losses with their masses under P, by falling loss. The masses sum to one, except for the mass that was cut off at
/// the ends. The masses under Q are not stored: they are those under P times e^-loss, times the share of P that is
/// finite.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Atoms {
    pub(crate) list: AtomList,
    /// A bound on the mass under P that is not listed.
    pub(crate) cut: f64,
    /// True if none of that mass has a loss above the largest listed one, whose own mass is so much larger that moving
    /// the cut mass there changes the profile by less than the masses' errors.
    pub(crate) capped: bool,
    /// True if exchanging P and Q does not change the law.
    pub(crate) symmetric: bool,
    /// A rho such that all divergences are at most rho times the order, if one is known.
    pub(crate) rho: Option<f64>,
}

/// A list that is computed on first access if a formula describes it.
#[derive(Clone, Debug)]
pub(crate) struct AtomList {
    made: OnceLock<Vec<Atom>>,
    whole: Option<WholeGaussian>,
}

/// Discrete Gaussian noise whose parameter is at least [`WholeGaussian::LEAST_SIGMA`], so that its moments have a
/// formula, and the sensitivity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WholeGaussian {
    pub(crate) sigma: f64,
    pub(crate) steps: f64,
}

impl WholeGaussian {
    /// From this sigma on, e^(-2 pi^2 sigma^2), by which sums over whole numbers differ from integrals (Poisson's
    /// formula), is below 10^-34, the accuracy of double-doubles.
    pub(crate) const LEAST_SIGMA: f64 = 2.0;

    /// Returns (D / sigma)^2.
    pub(crate) fn square(self) -> Dd {
        Dd::product(self.steps, self.steps) / Dd::product(self.sigma, self.sigma)
    }

    /// The number of listed outcomes, or slightly more.
    pub(crate) fn outcomes(self) -> f64 {
        2.0 * furthest(self.sigma) + 1.0
    }

    /// A loss in the list near the largest one.
    pub(crate) fn far(self) -> f64 {
        self.steps * (60.0 * self.sigma + self.steps) / (2.0 * self.sigma * self.sigma)
    }
}

impl AtomList {
    /// Returns a list that is computed from a formula on first access.
    pub(crate) fn of_formula(whole: WholeGaussian) -> Self {
        Self { made: OnceLock::new(), whole: Some(whole) }
    }

    /// The formula of the list, if it has one.
    pub(crate) fn whole(&self) -> Option<WholeGaussian> {
        self.whole
    }

    fn into_made(self) -> Vec<Atom> {
        self.to_vec()
    }
}

impl Deref for AtomList {
    type Target = Vec<Atom>;

    fn deref(&self) -> &Vec<Atom> {
        self.made.get_or_init(|| self.whole.map_or_else(Vec::new, gaussian_atoms))
    }
}

impl From<Vec<Atom>> for AtomList {
    fn from(list: Vec<Atom>) -> Self {
        Self { made: OnceLock::from(list), whole: None }
    }
}

/// Lists with the same formula are equal.
impl PartialEq for AtomList {
    fn eq(&self, other: &Self) -> bool {
        match (self.whole, other.whole) {
            (Some(whole), Some(other)) => whole == other,
            _ => **self == **other,
        }
    }
}

/// A loss and its mass under P, with relative errors of at most 2^-90. (The error is absolute for losses below one, and
/// for the middle mass of a staircase, which is less likely than the mass above it.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Atom {
    pub(crate) loss: Dd,
    pub(crate) mass: Dd,
}

impl Atoms {
    /// Sorts by falling loss and drops negligible masses and those that have underflowed to zero.
    pub(crate) fn new(list: Vec<Atom>, cut: f64, symmetric: bool) -> Self {
        let all = list.len();
        let list = in_order(list);
        let omitted_mass = (all - list.len()) as f64 * NOTHING;
        Self { list: list.into(), cut: cut + omitted_mass, capped: false, symmetric, rho: None }
    }

    /// Makes a law from masses that sum to one.
    pub(crate) fn of(list: Vec<Atom>) -> Self {
        Self::new(list, 0.0, false)
    }

    /// Makes a law from a list whose first entry is the largest loss of the mechanism, so that the cut mass has smaller
    /// losses. Moved up to the largest loss, the cut mass would add less than 2^-90 to the mass there.
    pub(crate) fn capped(list: Vec<Atom>, cut: f64, symmetric: bool) -> Self {
        let largest = list.first().map(|first| first.loss);
        let atoms = Self::new(list, cut, symmetric);
        let capped = atoms.list.first().is_some_and(|first| {
            Some(first.loss) == largest && atoms.cut <= 0.25 * STEP * first.mass.hi
        });
        Self { capped, ..atoms }
    }

    /// Makes a law from masses that sum to one, by falling loss, for a pair that is its own mirror image.
    pub(crate) fn mirrored(list: Vec<Atom>) -> Self {
        Self::capped(list, 0.0, true).merge_equal_losses()
    }

    /// A bound on the mass under P above the largest listed loss.
    pub(crate) fn above(&self) -> f64 {
        if self.capped { 0.0 } else { self.cut }
    }

    /// Merges equal losses.
    pub(crate) fn merge_equal_losses(self) -> Self {
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

/// The largest mass that is dropped.
pub(crate) const NOTHING: f64 = 1e-250;

/// Sorts by falling loss, without negligible masses and those that have underflowed to zero.
fn in_order(mut list: Vec<Atom>) -> Vec<Atom> {
    list.retain(|atom| atom.mass.hi > NOTHING);
    largest_first(list)
}

/// Sorts by falling loss.
pub(crate) fn largest_first(mut list: Vec<Atom>) -> Vec<Atom> {
    list.sort_by(|a, b| b.loss.hi.total_cmp(&a.loss.hi).then(b.loss.lo.total_cmp(&a.loss.lo)));
    list
}

/// The distance in standard deviations up to which discrete Gaussians are listed.
const REACH: f64 = 34.0;
/// Adds up numbers pairwise: each takes part in log2(n) additions, so the error is below 2^-99 for a million.
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

/// Returns the last listed outcome of a discrete Gaussian.
fn furthest(sigma: f64) -> f64 {
    (REACH * sigma).ceil() + 1.0
}

/// Lists the masses, proportional to e^(-y^2 / 2 sigma^2), at the losses D (2 y + D) / (2 sigma^2).
pub(crate) fn gaussian_atoms(WholeGaussian { sigma, steps: distance }: WholeGaussian) -> Vec<Atom> {
    let square = Dd::product(sigma, sigma);
    let furthest = furthest(sigma);
    let weight = |y: f64| exp_neg(Dd::product(y, y) / (square + square));
    let places = || (0..=2 * furthest as u64).map(|place| furthest - place as f64);
    let total = sum(&places().map(weight).collect::<Vec<_>>());
    let atom = |y: f64| Atom {
        loss: Dd::product(distance, 2.0 * y + distance) / (square + square),
        mass: weight(y) / total,
    };
    in_order(places().map(atom).collect())
}

/// Returns the law with two outcomes at this distance, where the larger loss is a share of the distance: masses (1 -
/// e^(t-eta))/(1 - e^-eta) at t and e^-eta (e^t - 1)/(1 - e^-eta) at t - eta (theory 5.11).
pub(crate) fn two_outcomes(range: Dd, share: f64) -> Atoms {
    let top = range * share;
    let below = range - top;
    let whole = -(-range).expm1();
    let high = -(-below).expm1() / whole;
    // e^-eta (e^t - 1) is e^(t-eta) (1 - e^-t).
    let low = exp_neg(below) * -(-top).expm1() / whole;
    Atoms::capped(
        vec![Atom { loss: top, mass: high }, Atom { loss: -below, mass: low }],
        0.0,
        false,
    )
}

/// Returns the law with two outcomes on a Poisson sample; `None` if an outcome is too rare to be listed.
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

/// Returns the law, on a Poisson sample, of outcomes with their masses under P (with the person) and Q (without); and
/// the mass under P that leaks.
///
/// An outcome with q = 0 never happens without the person. An outcome with p = 0 is less likely if the person is in the
/// data, because the samples with the person never show it.
pub(crate) fn sampled_outcomes(
    outcomes: &[(Dd, Dd)],
    rate: f64,
    direction: Direction,
) -> (Atoms, Dd) {
    let (rate, rest) = (Dd::from(rate), Dd::ONE - Dd::from(rate));
    let ratio = |p: Dd, q: Dd| match p.is_positive() {
        true => log_mixture(rate, (p / q).ln()),
        false => (-rate).ln_1p(),
    };
    let common = || outcomes.iter().filter(|(_, q)| q.is_positive());
    if direction == Direction::Add {
        let list = common().map(|&(p, q)| Atom { loss: -ratio(p, q), mass: q });
        return (Atoms::new(list.collect(), 0.0, false).merge_equal_losses(), Dd::ZERO);
    }
    let mixtures: Vec<Dd> = common().map(|&(p, q)| rest * q + rate * p).collect();
    let kept = sum(&mixtures);
    let list = common().zip(&mixtures);
    let list = list.map(|(&(p, q), &mass)| Atom { loss: ratio(p, q), mass: mass / kept });
    let only: Vec<Dd> =
        outcomes.iter().filter(|(_, q)| !q.is_positive()).map(|&(p, _)| p).collect();
    (Atoms::new(list.collect(), 0.0, false).merge_equal_losses(), rate * sum(&only))
}

impl Law for Atoms {
    fn is_symmetric(&self) -> bool {
        self.symmetric
    }

    fn is_class(&self) -> bool {
        false
    }

    /// The numbers of the formula if there is one, otherwise those of the list.
    fn parameters(&self) -> Vec<f64> {
        let whole = self.list.whole();
        let list = if whole.is_some() { &[][..] } else { &self.list[..] };
        let of = |atom: &Atom| [atom.loss.hi, atom.mass.hi, atom.loss.lo, atom.mass.lo];
        let whole = whole.into_iter().flat_map(|whole| [f64::INFINITY, whole.sigma, whole.steps]);
        whole.chain(list.iter().flat_map(of)).chain([self.cut]).collect()
    }

    fn concentration(&self) -> Option<f64> {
        self.rho
    }

    fn largest_loss(&self) -> Option<(Dd, Dd)> {
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

    fn omitted_mass(&self) -> OmittedMass {
        OmittedMass { mass: self.cut, above: self.above() }
    }

    fn atoms(&self) -> Option<Vec<Atom>> {
        Some(self.list.to_vec())
    }

    fn listed_count(&self) -> Option<usize> {
        self.list.whole().is_none().then(|| self.list.len())
    }

    fn list_formula(&self) -> Option<ListFormula> {
        self.list.whole().map(|whole| ListFormula { outcomes: whole.outcomes(), far: whole.far() })
    }

    fn is_list(&self) -> bool {
        true
    }

    fn is_finite(&self) -> bool {
        self.cut <= 0.0
    }

    fn profile(&self, epsilon: Dd) -> Option<DeltaBounds> {
        Some(self.profile_after(epsilon, UNCOUNTED))
    }

    fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        if let Some(whole) = self.list.whole() {
            // Sums over whole numbers differ from integrals by a tiny factor.
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

    fn tilted(&self, t: f64) -> Option<TiltedLaw> {
        match self.list.whole() {
            Some(whole) => Some(whole.tilted(t)),
            None => listed_tilted(&self.list, t),
        }
    }

    fn blur_need(&self) -> BlurNeed {
        if self.list.whole().is_some() { BlurNeed::Needed } else { BlurNeed::Possible }
    }

    fn points(
        &self,
        _side: Domination,
        _cut: Option<&CellFineness<'_>>,
        sink: &mut dyn FnMut(CellAtom),
    ) -> Option<Wide> {
        for atom in self.list.iter() {
            let p = atom.mass.hi;
            sink(CellAtom { loss: atom.loss, scale: Dd::ZERO, p, q: p, error: 0.0 });
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

/// Atoms within the rounding of a gap count as within the gap.
const NEXT_TO: f64 = 1e-9;
const NEXT_TO_ZERO: f64 = 1e-25;

/// The relative error, for each operation, of a loss and of its distance from an epsilon.
pub(crate) const LOSS: f64 = 2.0 * STEP;

impl Atoms {
    /// Sums the profile atom by atom, if each loss and mass results from at most this number of operations.
    pub(crate) fn profile_after(&self, epsilon: Dd, operations: f64) -> DeltaBounds {
        let (mut low, mut high) = (Wide::ZERO, Wide::from(self.above()));
        for atom in self.list.iter() {
            let gap = atom.loss - epsilon;
            let size = 1.0 + atom.loss.hi.abs() + epsilon.hi.abs();
            let error = Dd::from(LOSS * operations * size);
            if (gap + error).is_negative() {
                break;
            }
            low = low + Wide::from(atom.mass) * Wide::from(one_minus_exp_neg(gap - error));
            high = high + Wide::from(atom.mass) * Wide::from(one_minus_exp_neg(gap + error));
        }
        let slack = STEP * (operations + self.list.len() as f64);
        DeltaBounds::new(low * Wide::from(1.0 - slack), high * Wide::from(1.0 + slack))
    }
}

// The cumulant of lists without a formula.

/// Losses and masses have errors of 2^-90 each; the masses sum to one up to `cut`.
const ATOM_ERROR: f64 = 16.0 * STEP;
/// The product of a mass and of e^x - 1 or e^x, good to 2^-95: a factor of two suffices where the term is near zero,
/// four where it is near one.
const SMALL_TERM: f64 = 2.0 * ATOM_ERROR;
const TERM: f64 = 4.0 * ATOM_ERROR;
/// An addition of positive numbers: 2^-102.
const ADDED: f64 = 0.01 * STEP;
/// |ln(a + e) - ln a| is at most e/(a - e); rounded up.
const LOGARITHM: f64 = 1.1;
/// A bound on the logarithm of a sum whose largest term is a mass above 10^-250; it is at least -576.
const LEAST_LOGARITHM: f64 = 1000.0;

/// Returns ln(1 + sum of mass (e^(t loss) - 1)).
fn rising(atoms: &Atoms, t: f64) -> (Dd, f64) {
    let (mut sum, mut error) = (Dd::ZERO, atoms.cut);
    for atom in atoms.list.iter() {
        let x = atom.loss * t;
        let rise = x.expm1();
        sum = sum + atom.mass * rise;
        let argument = ATOM_ERROR * t * atom.loss.hi.abs().max(1.0);
        let rising = (rise.hi + 1.0) * argument + SMALL_TERM * rise.hi.abs();
        // The partial sum's rounding is relative to the sum so far.
        error += atom.mass.hi * rising + STEP * sum.hi.abs();
    }
    let error = ROUNDED_UP * error;
    let value = sum.ln_1p();
    // An error that is not small beside 1 + sum leads to a large bound.
    (value, LOGARITHM * error / (1.0 + sum.hi - error).max(1e-300) + RELATIVE * value.hi.abs())
}

/// Returns t times the largest loss, plus ln of the sum of mass e^(t (loss - largest)).
fn scaled(atoms: &Atoms, largest: Dd, t: f64) -> (Dd, f64) {
    // Beyond this, e^-x is negligible beside the least mass in the list.
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

/// Estimates K, K' and K'' for few atoms, from the moments under the law tilted by t.
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

/// A bound on the share of a moment that the cut mass has, relative to its mass: see [`moments`].
const CUT_OFF: f64 = 8.0;

/// Sums the moments over a list. The cut mass, some 1e-250, either has losses below 10^6, or decays so fast that its
/// share of a moment is below eight times its mass times the power of a loss beyond the last listed one.
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
    // The mean square about a point is least at the mean; about another point it is larger by the squared distance.
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
    fn tilted(self, t: f64) -> TiltedLaw {
        let s = Dd::from(t) + Dd::from(0.5);
        let (square, variance) = (self.square(), Dd::product(self.sigma, self.sigma));
        let slope = (TWO_PI * TWO_PI * variance).scaled(0.5);
        let (ratio, tilt) = (Dd::from(self.steps) / variance, Dd::product(t, self.steps));
        TiltedLaw {
            shift: square * s,
            variance: square.hi,
            kind: TransformKind::Whole { ratio, slope, tilt },
        }
    }
}

fn listed_tilted(atoms: &[Atom], t: f64) -> Option<TiltedLaw> {
    let largest = atoms.first()?.loss;
    // Exponents are compared, because the heaviest atom may be far from the largest loss.
    let exponents: Vec<Dd> = atoms.iter().map(|a| a.mass.ln() - (largest - a.loss) * t).collect();
    let heaviest = exponents.iter().fold(f64::NEG_INFINITY, |most, x| most.max(x.hi));
    let weigh = |x: Dd| exp_neg(Dd::from(heaviest) - x);
    let list = atoms.iter().zip(&exponents);
    let mut list: Vec<(Dd, Dd)> = list.map(|(a, x)| (largest - a.loss, weigh(*x))).collect();
    let total = list.iter().fold(Dd::ZERO, |sum, (_, mass)| sum + *mass);
    for (_, mass) in &mut list {
        *mass = *mass / total;
    }
    let mean: f64 = list.iter().map(|(d, m)| d.hi * m.hi).sum();
    let variance: f64 = list.iter().map(|(d, m)| (d.hi - mean) * (d.hi - mean) * m.hi).sum();
    Some(TiltedLaw { shift: largest, variance, kind: TransformKind::Many(list) })
}

//! Arbitrary precision: the exact routes in as many bits as are wanted (MV section 2
//! asks for q).
//!
//! The same two lists of atoms as the halves route, in big floating-point numbers. The
//! working precision w grows until the bracket is narrow enough; errors are counted in
//! units of 2^-w. What goes in is exact: fractions, each rounded once to the working precision.

use super::halves;
use crate::composition::Factor;
use crate::composition::leak::{self, Remainder};
use crate::quantity::{Bits, plain};
use crate::watch::{Stopped, Watch};
use counterpoint_numerics::Wide;
use counterpoint_numerics::fractions::{Ratio, nearest};
use dashu_base::BitTest;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::UBig;

/// A binary floating-point number of any precision.
pub(crate) type Big = FBig<HalfEven, 2>;

/// Equal guarantees whose parameters are fractions: of any length, such as a third.
#[derive(Clone, Debug, PartialEq)]
pub struct PreciseGuarantee {
    /// At least zero.
    pub epsilon: Ratio,
    /// At least zero, below one.
    pub delta: Ratio,
    /// At least one.
    pub count: u64,
}

/// Lower and upper end of a number.
pub(crate) type BigBracket = (Big, Big);

/// Why there is no answer in so many bits.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum PreciseError {
    /// The guarantees leak more than the delta asked about.
    #[error("delta {} is below what the releases leak; the least possible is {}", plain(*.delta), plain(*.least))]
    BelowLeak {
        /// The delta that was asked about.
        delta: f64,
        /// The least delta with a finite epsilon, rounded up.
        least: f64,
    },
    /// Too many atoms to list.
    #[error("it would list {atoms:.3e} atoms; at most 2^21")]
    TooManyAtoms {
        /// How many.
        atoms: f64,
    },
    /// No working precision was enough.
    #[error("no bracket as narrow as 2^-{} could be certified", bits.get())]
    TooWide {
        /// The bits that were asked for.
        bits: Bits,
    },
    /// The watcher stopped the work.
    #[error("stopped before an answer was found")]
    Stopped,
}

impl From<Stopped> for PreciseError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

/// The most atoms a list may have.
const MOST_ATOMS: f64 = 2_097_152.0;
// Errors in units of 2^-w, each operation being good to one.

/// The probability that nothing leaks: a difference and a power for each count, twice over in what is made of it.
const KEPT: u128 = 8;
/// A few operations beside those counted: of a mass, of a quotient, of a sum.
const FEW: u128 = 64;
const QUOTIENT: u128 = 16;
const SUM: u128 = 8;
/// A mass: a power, or products and quotients by recursion, for each count, for P and Q.
const MASS: u128 = 16;
/// Sums, for each atom of a list: P's, Q's and as many products.
const ATOM: u128 = 4;
/// Atoms below epsilon may be counted in by three errors of their losses (as `halves`): as a power of two.
const COUNTED_IN: isize = 3;
/// The largest loss is a product and an addition for each guarantee, of which there are not 2^32.
const BEYOND: isize = 32;

/// How often the precision is doubled.
const MOST_TRIES: u32 = 12;

/// The least delta at an epsilon, to a relative width of 2^-bits.
///
/// # Errors
/// [`PreciseError`] if there are too many atoms to list, or the watcher stops the work.
pub(crate) fn delta(
    list: &[PreciseGuarantee],
    epsilon: &Ratio,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<BigBracket, PreciseError> {
    checked(list)?;
    let leaks = list.iter().any(|guarantee| guarantee.delta > Ratio::ZERO);
    let at_the_top = is_at_the_top(list, epsilon);
    refine(bits, |precision| {
        let epsilon = rounded(epsilon, precision);
        let beyond = at_the_top
            || epsilon >= largest(list, precision) * (one(precision) + (unit(precision) << BEYOND));
        if beyond && !leaks {
            return Ok(Some((zero(precision), zero(precision))));
        }
        let halves = BigHalves::new(list, precision, &watch)?;
        let (lower, upper) = if beyond {
            (zero(precision), zero(precision))
        } else {
            halves.tail(&epsilon, &watch)?.delta(&epsilon)
        };
        if !leaks {
            let narrow = &upper - &lower <= upper.clone() >> bits.get() as isize;
            return Ok(narrow.then_some((lower, upper)));
        }
        let kept = kept(list, precision);
        let whole = |pure: &Big| one(precision) - &kept * (one(precision) - pure);
        let error = unit(precision) * integer(KEPT * total(list) + FEW, precision);
        let ends = ((whole(&lower) - &error).max(zero(precision)), whole(&upper) + error);
        let narrow = &ends.1 - &ends.0 <= ends.1.clone() >> bits.get() as isize;
        Ok(narrow.then_some(ends))
    })
}

/// The least epsilon at a delta, to an absolute width of 2^-bits.
///
/// # Errors
/// [`PreciseError::BelowLeak`] if no epsilon is finite; otherwise as [`delta`].
pub(crate) fn epsilon(
    list: &[PreciseGuarantee],
    delta: &Ratio,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<BigBracket, PreciseError> {
    checked(list)?;
    let mut guess: Option<Big> = None;
    let mut leaked: Option<bool> = None;
    refine(bits, |precision| {
        let (room, error) = room(list, delta, precision);
        if room.is_negative_beyond(&error) {
            return Err(below_leak(list, delta, precision));
        }
        if room <= error {
            // Equal as far as can be told: certain only by fractions.
            let exact = *leaked.get_or_insert_with(|| is_all_leaked(list, delta));
            let largest = largest(list, precision);
            let slack = &largest * unit(precision) * integer(total(list) + SUM, precision);
            return Ok(exact.then(|| (&largest - &slack, largest + slack)));
        }
        let target = (&room - &error, &room + &error);
        let halves = BigHalves::new(list, precision, &watch)?;
        let start = guess.clone().unwrap_or_else(|| largest(list, precision) >> 1);
        let ends = halves.solve(&target, start, bits, &watch)?;
        guess = Some(ends.1.clone());
        let narrow = &ends.1 - &ends.0 <= unit(bits.get() as usize);
        Ok(narrow.then_some(ends))
    })
}

trait Signed {
    fn is_negative_beyond(&self, error: &Self) -> bool;
}

impl Signed for Big {
    /// Whether the number is negative for sure.
    fn is_negative_beyond(&self, error: &Self) -> bool {
        self + error < Big::ZERO
    }
}

/// Tries with more and more bits.
fn refine(
    bits: Bits,
    mut attempt: impl FnMut(usize) -> Result<Option<BigBracket>, PreciseError>,
) -> Result<BigBracket, PreciseError> {
    let mut precision = bits.get() as usize + 128;
    for _ in 0..MOST_TRIES {
        if let Some(ends) = attempt(precision)? {
            return Ok(ends);
        }
        precision *= 2;
    }
    Err(PreciseError::TooWide { bits })
}

fn checked(list: &[PreciseGuarantee]) -> Result<(), PreciseError> {
    let (left, right) = balanced(list);
    let atoms = |side: &[PreciseGuarantee]| {
        side.iter().map(|guarantee| guarantee.count as f64 + 1.0).product::<f64>()
    };
    let most = atoms(&left).max(atoms(&right));
    if most <= MOST_ATOMS {
        return Ok(());
    }
    Err(PreciseError::TooManyAtoms { atoms: most })
}

/// The factors with a loss, in two sides of about equally many atoms.
fn balanced(list: &[PreciseGuarantee]) -> (Vec<PreciseGuarantee>, Vec<PreciseGuarantee>) {
    let lossy: Vec<_> = list.iter().filter(|g| g.epsilon > Ratio::ZERO).cloned().collect();
    // The split looks at counts only; the position stands in for epsilon.
    let stand_ins: Vec<Factor> =
        (0..lossy.len()).map(|i| Factor { each: i as f64, count: lossy[i].count }).collect();
    let (left, right) = halves::balanced(&stand_ins);
    let pick = |side: Vec<Factor>| side.iter().map(|f| lossy[f.each as usize].clone()).collect();
    (pick(left), pick(right))
}

fn with(x: &Big, precision: usize) -> Big {
    x.clone().with_precision(precision).value()
}

/// A fraction, rounded to nearest.
fn rounded(x: &Ratio, precision: usize) -> Big {
    with(&x.to_float(precision).value(), precision)
}

fn zero(precision: usize) -> Big {
    with(&Big::ZERO, precision)
}

fn one(precision: usize) -> Big {
    with(&Big::ONE, precision)
}

fn integer(x: impl Into<u128>, precision: usize) -> Big {
    with(&Big::from(x.into()), precision)
}

/// 2^-w.
fn unit(precision: usize) -> Big {
    one(precision) >> precision as isize
}

fn total(list: &[PreciseGuarantee]) -> u128 {
    list.iter().map(|guarantee| u128::from(guarantee.count)).sum()
}

/// The probability that nothing leaks: relative error below 4 total units.
fn kept(list: &[PreciseGuarantee], precision: usize) -> Big {
    list.iter().fold(one(precision), |product, guarantee| {
        let stays = rounded(&(Ratio::ONE - &guarantee.delta), precision);
        product * stays.powi(guarantee.count.into())
    })
}

/// `1 - (1 - delta)/kept` and a bound on its absolute error.
fn room(list: &[PreciseGuarantee], delta: &Ratio, precision: usize) -> (Big, Big) {
    let kept = kept(list, precision);
    let gap = &kept - rounded(&(Ratio::ONE - delta), precision);
    let error = unit(precision) * integer(KEPT * total(list) + QUOTIENT, precision) / &kept;
    (gap / kept, error)
}

/// Bits that tell the least of the leaks from nothing.
fn least_bits(list: &[PreciseGuarantee]) -> usize {
    let leaks = list.iter().filter(|guarantee| !guarantee.delta.is_zero());
    let zeros = |delta: &Ratio| {
        delta.denominator().bit_len().saturating_sub(delta.numerator().bit_len()) + 1
    };
    leaks.map(|guarantee| zeros(&guarantee.delta)).max().unwrap_or(0)
}

/// The probabilities that something leaks and that nothing does: relative errors below 2^-99.
pub(crate) fn leaked(list: &[PreciseGuarantee]) -> (Wide, Wide) {
    let precision = 256 + least_bits(list);
    let kept = kept(list, precision);
    (leak::to_wide(&(one(precision) - &kept)), leak::to_wide(&kept))
}

/// What is left of a delta once the leaks are paid.
pub(crate) fn remainder(list: &[PreciseGuarantee], delta: &Ratio) -> Remainder {
    const TOLD: isize = 80;
    let at_first = 256 + least_bits(list);
    let mut precision = at_first;
    while precision <= at_first << MOST_TRIES {
        let (room, error) = room(list, delta, precision);
        if room.is_negative_beyond(&error) {
            return Remainder::Negative;
        }
        if room > error << TOLD {
            return leak::positive(leak::to_wide(&room), 1e-23);
        }
        if precision == at_first && is_all_leaked(list, delta) {
            return Remainder::Zero;
        }
        precision *= 4;
    }
    // Nearer than any precision worth paying for: refuse, which is safe.
    Remainder::Negative
}

fn below_leak(list: &[PreciseGuarantee], delta: &Ratio, precision: usize) -> PreciseError {
    let least = (one(precision) - kept(list, precision)).to_f64().value().next_up();
    PreciseError::BelowLeak { delta: nearest(delta), least }
}

/// Whether `1 - delta` is the product of all `1 - d_i`, in whole numbers; where those would be too long it is taken for
/// no, and never answered by the largest loss.
fn is_all_leaked(list: &[PreciseGuarantee], delta: &Ratio) -> bool {
    const LONGEST: u128 = 1 << 22;
    let leaks = || list.iter().filter(|guarantee| guarantee.delta > Ratio::ZERO);
    let length = |guarantee: &PreciseGuarantee| {
        (guarantee.delta.denominator().bit_len() as u128).saturating_mul(guarantee.count.into())
    };
    if leaks().map(length).fold(0, u128::saturating_add) > LONGEST {
        return false;
    }
    // Fractions left as they are: reducing them would take longer than all else.
    let power = |of: UBig, count: u64| of.pow(count as usize);
    let kept = |delta: &Ratio| Ratio::ONE - delta;
    let above = |x: &Ratio| x.numerator().clone().into_parts().1;
    let (mut left, mut right) = (kept(delta).denominator().clone(), above(&kept(delta)));
    for guarantee in leaks() {
        let kept = kept(&guarantee.delta);
        left *= power(above(&kept), guarantee.count);
        right *= power(kept.denominator().clone(), guarantee.count);
    }
    left == right
}

fn largest(list: &[PreciseGuarantee], precision: usize) -> Big {
    list.iter().fold(zero(precision), |sum, guarantee| {
        sum + rounded(&guarantee.epsilon, precision) * integer(guarantee.count, precision)
    })
}

/// Whether an epsilon is the largest loss or more: by fractions if it is close.
pub(crate) fn is_at_the_top(list: &[PreciseGuarantee], epsilon: &Ratio) -> bool {
    const PRECISION: usize = 256;
    let (top, at) = (largest(list, PRECISION), rounded(epsilon, PRECISION));
    let margin = &top * (unit(PRECISION) << BEYOND);
    if at > &top + &margin || at < &top - &margin {
        return at > top;
    }
    let sum = list.iter().filter(|guarantee| guarantee.epsilon > Ratio::ZERO);
    let sum = sum.fold(Ratio::ZERO, |sum, guarantee| {
        sum + &guarantee.epsilon * Ratio::from(guarantee.count)
    });
    *epsilon >= sum
}

struct Atom {
    loss: Big,
    p: Big,
    q: Big,
}

struct BigHalves {
    left: Vec<Atom>,
    right: Vec<Atom>,
    /// P and Q mass of the right atoms from each index on.
    suffixes: Vec<(Big, Big)>,
    /// Relative error of masses and absolute error of losses.
    slack: Big,
    /// At or above the largest loss.
    top: Big,
    precision: usize,
}

struct BigTail {
    p: Big,
    q: Big,
    slack: Big,
}

impl BigHalves {
    fn new(
        list: &[PreciseGuarantee],
        precision: usize,
        watch: &Watch<'_>,
    ) -> Result<Self, PreciseError> {
        let (left, right) = balanced(list);
        let left = atoms(&left, precision, watch)?;
        let right = atoms(&right, precision, watch)?;
        let mut suffixes = vec![(zero(precision), zero(precision)); right.len() + 1];
        for (index, atom) in right.iter().enumerate().rev() {
            let (p, q) = &suffixes[index + 1];
            suffixes[index] = (p + &atom.p, q + &atom.q);
        }
        // A loss is wrong by at most a unit of the largest for each addition.
        let atoms = (left.len() + right.len()) as u128;
        let operations = integer(MASS * total(list) + ATOM * atoms + FEW, precision);
        let slack = unit(precision) * operations * (one(precision) + largest(list, precision));
        let top = largest(list, precision) * (one(precision) + &slack);
        Ok(Self { left, right, suffixes, slack, top, precision })
    }

    /// The tail above an epsilon; atoms within the losses' error below it are counted
    /// in, at a cost within the slack.
    fn tail(&self, epsilon: &Big, watch: &Watch<'_>) -> Result<BigTail, PreciseError> {
        let threshold = epsilon - (self.slack.clone() << 1);
        let (mut p, mut q) = (zero(self.precision), zero(self.precision));
        let mut from = self.right.len();
        for (index, atom) in self.left.iter().enumerate() {
            if index % 1024 == 0 {
                watch.at(index as f64 / self.left.len() as f64)?;
            }
            while from > 0 && &atom.loss + &self.right[from - 1].loss > threshold {
                from -= 1;
            }
            let (right_p, right_q) = &self.suffixes[from];
            p += &atom.p * right_p;
            q += &atom.q * right_q;
        }
        Ok(BigTail { p, q, slack: self.slack.clone() << COUNTED_IN })
    }

    /// Newton's method on the lines of the profile, as for the other exact routes, with
    /// bisection in between; the upper end is always one that satisfies the target.
    fn solve(
        &self,
        target: &BigBracket,
        start: Big,
        bits: Bits,
        watch: &Watch<'_>,
    ) -> Result<BigBracket, PreciseError> {
        let zero = zero(self.precision);
        let (mut low, mut high, mut lower) = (None::<Big>, self.top.clone(), zero.clone());
        let mut at = with(&start, self.precision);
        let close = unit(bits.get() as usize + 2);
        for round in 0..200 + 4 * self.precision {
            let tail = self.tail(&at, watch)?;
            let (below, above) = tail.root(target);
            lower = below.map_or(lower.clone(), |below| lower.clone().max(below));
            if tail.delta(&at).1 <= target.0 {
                high = at.clone();
            } else {
                low = Some(at.clone());
            }
            if &high - &lower <= close || high <= zero {
                break;
            }
            let from = low.clone().unwrap_or_else(|| zero.clone());
            let middle = (&from + &high) >> 1;
            at = match above {
                Some(root) if root > from && root < high && (round < 16 || round % 2 == 0) => root,
                _ if low.is_none() && round > 2 => zero.clone(),
                _ => middle,
            };
            if low.as_ref().is_some_and(|low| &at <= low) || at >= high {
                break;
            }
        }
        Ok((lower.min(high.clone()), high))
    }
}

impl BigTail {
    /// The pure delta at the epsilon this is the tail of.
    fn delta(&self, epsilon: &Big) -> BigBracket {
        let scaled = epsilon.exp() * &self.q;
        let error = (&self.p + &scaled) * &self.slack;
        let delta = &self.p - scaled;
        ((&delta - &error).max(Big::ZERO), delta + error)
    }

    /// Where the line meets the target, from below and from above.
    fn root(&self, target: &BigBracket) -> (Option<Big>, Option<Big>) {
        let slack = self.slack.clone() << 1;
        let side = |delta: &Big, slack: Big| {
            let p = &self.p + &self.p * &slack - delta;
            let q = &self.q - &self.q * &slack;
            (p > Big::ZERO && q > Big::ZERO).then(|| p.ln() - q.ln())
        };
        let margin = |root: &Big| (root.clone() * root + Big::ONE) * &slack;
        let below = side(&target.1, -slack.clone()).map(|root| {
            let m = margin(&root);
            root - m
        });
        let above = side(&target.0, slack.clone()).map(|root| {
            let m = margin(&root);
            root + m
        });
        (below, above)
    }
}

/// All atoms of some factors, by increasing loss.
fn atoms(
    list: &[PreciseGuarantee],
    precision: usize,
    watch: &Watch<'_>,
) -> Result<Vec<Atom>, PreciseError> {
    let mut all = vec![Atom { loss: zero(precision), p: one(precision), q: one(precision) }];
    for guarantee in list {
        watch.at(0.0)?;
        let shifts = atoms_of_one(guarantee, precision);
        all = shifts
            .iter()
            .flat_map(|shift| {
                all.iter().map(move |atom| Atom {
                    loss: &atom.loss + &shift.loss,
                    p: &atom.p * &shift.p,
                    q: &atom.q * &shift.q,
                })
            })
            .collect();
        all.sort_by(|a, b| a.loss.cmp(&b.loss));
    }
    Ok(all)
}

/// The atoms of one guarantee's randomized responses: y minuses have P mass
/// C(n, y) p^(n-y) q^y, by recursion.
fn atoms_of_one(guarantee: &PreciseGuarantee, precision: usize) -> Vec<Atom> {
    let (n, epsilon) = (guarantee.count, rounded(&guarantee.epsilon, precision));
    let decay = (-&epsilon).exp();
    let plus = one(precision) / (one(precision) + &decay);
    let mut mass = plus.powi(n.into());
    let mut masses = Vec::with_capacity(n as usize + 1);
    for y in 0..=n {
        masses.push(mass.clone());
        mass = mass * integer(n - y, precision) / integer(y + 1, precision) * &decay;
    }
    let atom = |y: u64| Atom {
        loss: &epsilon * (integer(n - y, precision) - integer(y, precision)),
        p: masses[y as usize].clone(),
        q: masses[(n - y) as usize].clone(),
    };
    (0..=n).rev().map(atom).collect()
}

//! Arbitrary precision: the exact routes with any number of bits (the q of MV section 2).
//!
//! The method uses the two lists of atoms of the halves route, in big floating-point numbers. The working precision w
//! grows until the bracket is narrow enough; errors are counted in units of 2^-w. The inputs are exact fractions, each
//! rounded once to the working precision.

use super::halves;
use crate::composition::Factor;
use crate::composition::leak::{self, Remainder};
use crate::quantity::{Bits, format_number};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::Wide;
use counterpoint_numerics::fractions::{Ratio, nearest};
use dashu_base::BitTest;
use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use dashu_int::UBig;

/// A binary floating-point number of any precision.
pub(crate) type PreciseFloat = FBig<HalfEven, 2>;

/// Equal guarantees whose parameters are fractions of any length, such as a third.
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
pub(crate) type BigBracket = (PreciseFloat, PreciseFloat);

/// Reasons why there is no answer with the requested bits.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub(crate) enum PreciseError {
    /// The guarantees leak more than the given delta.
    #[error("delta {} is below the probability of a leak; legal: at least {}", format_number(*.delta), format_number(*.least))]
    BelowLeak {
        /// The given delta.
        delta: f64,
        /// The least delta with a finite epsilon, rounded up.
        least: f64,
    },
    /// Too many atoms to list.
    #[error("it would list {atoms:.3e} atoms; at most 2^21")]
    TooManyAtoms {
        /// The number of atoms.
        atoms: f64,
    },
    /// No working precision was enough.
    #[error("no bracket as narrow as 2^-{} could be certified", bits.get())]
    TooWide {
        /// The requested bits.
        bits: Bits,
    },
    /// The watch stopped the computation.
    #[error("stopped before an answer was found")]
    Stopped,
}

impl From<StopRequest> for PreciseError {
    fn from(_: StopRequest) -> Self {
        Self::Stopped
    }
}

/// The most atoms a list may have.
const MOST_ATOMS: f64 = 2_097_152.0;
// Errors in units of 2^-w; each operation is good to one unit.

/// The probability that nothing leaks: a difference and a power for each count, twice in results derived from it.
const KEPT: u128 = 8;
/// A few operations besides those counted: of a mass, of a quotient, of a sum.
const FEW: u128 = 64;
const QUOTIENT: u128 = 16;
const SUM: u128 = 8;
/// A mass: a power, or products and quotients by recursion, for each count, for P and Q.
const MASS: u128 = 16;
/// The sums for each atom of a list: P's, Q's and as many products.
const ATOM: u128 = 4;
/// Atoms down to three errors of their losses below epsilon may be included (as in `halves`): as a power of two.
const COUNTED_IN: isize = 3;
/// The largest loss is a product and an addition for each guarantee, of fewer than 2^32 guarantees.
const BEYOND: isize = 32;

/// The largest number of doublings of the precision.
const MOST_TRIES: u32 = 12;

/// The least delta at an epsilon, to a relative width of 2^-bits.
///
/// # Errors
/// [`PreciseError`] if there are too many atoms to list, or the watch stops the computation.
pub(crate) fn delta(
    list: &[PreciseGuarantee],
    epsilon: &Ratio,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<BigBracket, PreciseError> {
    check_atoms(list)?;
    let leaks = list.iter().any(|guarantee| guarantee.delta > Ratio::ZERO);
    let at_max = is_at_max(list, epsilon);
    refine(bits, |precision| {
        let epsilon = round(epsilon, precision);
        let beyond = at_max
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
        let kept = keep_probability(list, precision);
        let whole = |pure: &PreciseFloat| one(precision) - &kept * (one(precision) - pure);
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
    check_atoms(list)?;
    let mut guess: Option<PreciseFloat> = None;
    let mut leaked: Option<bool> = None;
    refine(bits, |precision| {
        let (room, error) = room(list, delta, precision);
        if room.is_negative_beyond(&error) {
            return Err(below_leak(list, delta, precision));
        }
        if room <= error {
            // The leaks may use up all of delta; only fractions can decide that.
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

trait SignTest {
    fn is_negative_beyond(&self, error: &Self) -> bool;
}

impl SignTest for PreciseFloat {
    /// True if the number is surely negative.
    fn is_negative_beyond(&self, error: &Self) -> bool {
        self + error < PreciseFloat::ZERO
    }
}

/// Repeats an attempt with more and more bits.
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

fn check_atoms(list: &[PreciseGuarantee]) -> Result<(), PreciseError> {
    let (left, right) = balance(list);
    let atoms = |side: &[PreciseGuarantee]| {
        side.iter().map(|guarantee| guarantee.count as f64 + 1.0).product::<f64>()
    };
    let most = atoms(&left).max(atoms(&right));
    if most <= MOST_ATOMS {
        return Ok(());
    }
    Err(PreciseError::TooManyAtoms { atoms: most })
}

/// The factors with a positive epsilon, in two sides of about equally many atoms.
fn balance(list: &[PreciseGuarantee]) -> (Vec<PreciseGuarantee>, Vec<PreciseGuarantee>) {
    let lossy: Vec<_> = list.iter().filter(|g| g.epsilon > Ratio::ZERO).cloned().collect();
    // The split uses counts only; the index stands in for epsilon.
    let stand_ins: Vec<Factor> =
        (0..lossy.len()).map(|i| Factor { each: i as f64, count: lossy[i].count }).collect();
    let (left, right) = halves::balance(&stand_ins);
    let pick = |side: Vec<Factor>| side.iter().map(|f| lossy[f.each as usize].clone()).collect();
    (pick(left), pick(right))
}

fn with(x: &PreciseFloat, precision: usize) -> PreciseFloat {
    x.clone().with_precision(precision).value()
}

/// A fraction, rounded to nearest.
fn round(x: &Ratio, precision: usize) -> PreciseFloat {
    with(&x.raw().to_float(precision).value(), precision)
}

fn zero(precision: usize) -> PreciseFloat {
    with(&PreciseFloat::ZERO, precision)
}

fn one(precision: usize) -> PreciseFloat {
    with(&PreciseFloat::ONE, precision)
}

fn integer(x: impl Into<u128>, precision: usize) -> PreciseFloat {
    with(&PreciseFloat::from(x.into()), precision)
}

/// 2^-w.
fn unit(precision: usize) -> PreciseFloat {
    one(precision) >> precision as isize
}

fn total(list: &[PreciseGuarantee]) -> u128 {
    list.iter().map(|guarantee| u128::from(guarantee.count)).sum()
}

/// The probability that nothing leaks; its relative error is below 4 total units.
fn keep_probability(list: &[PreciseGuarantee], precision: usize) -> PreciseFloat {
    list.iter().fold(one(precision), |product, guarantee| {
        let stays = round(&(Ratio::ONE - &guarantee.delta), precision);
        product * stays.powi(guarantee.count.into())
    })
}

/// `1 - (1 - delta)/kept` and a bound on its absolute error.
fn room(
    list: &[PreciseGuarantee],
    delta: &Ratio,
    precision: usize,
) -> (PreciseFloat, PreciseFloat) {
    let kept = keep_probability(list, precision);
    let gap = &kept - round(&(Ratio::ONE - delta), precision);
    let error = unit(precision) * integer(KEPT * total(list) + QUOTIENT, precision) / &kept;
    (gap / kept, error)
}

/// The number of bits that distinguish the least leak from zero.
fn least_bits(list: &[PreciseGuarantee]) -> usize {
    let leaks = list.iter().filter(|guarantee| !guarantee.delta.is_zero());
    let zeros = |delta: &Ratio| {
        delta.raw().denominator().bit_len().saturating_sub(delta.raw().numerator().bit_len()) + 1
    };
    leaks.map(|guarantee| zeros(&guarantee.delta)).max().unwrap_or(0)
}

/// The probability that something leaks, and that nothing leaks; relative errors below 2^-99.
pub(crate) fn leak_probabilities(list: &[PreciseGuarantee]) -> (Wide, Wide) {
    let precision = 256 + least_bits(list);
    let kept = keep_probability(list, precision);
    (leak::to_wide(&(one(precision) - &kept)), leak::to_wide(&kept))
}

/// The remainder of a delta after the leaks.
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
    // Undecided at any acceptable precision: refusing is safe.
    Remainder::Negative
}

fn below_leak(list: &[PreciseGuarantee], delta: &Ratio, precision: usize) -> PreciseError {
    let least = (one(precision) - keep_probability(list, precision)).to_f64().value().next_up();
    PreciseError::BelowLeak { delta: nearest(delta), least }
}

/// True if `1 - delta` equals the product of all `1 - d_i`, decided in whole numbers. If those would be too long the
/// result is false; then the largest loss is never the answer.
fn is_all_leaked(list: &[PreciseGuarantee], delta: &Ratio) -> bool {
    const LONGEST: u128 = 1 << 22;
    let leaks = || list.iter().filter(|guarantee| guarantee.delta > Ratio::ZERO);
    let length = |guarantee: &PreciseGuarantee| {
        (guarantee.delta.raw().denominator().bit_len() as u128)
            .saturating_mul(guarantee.count.into())
    };
    if leaks().map(length).fold(0, u128::saturating_add) > LONGEST {
        return false;
    }
    // The fractions are not reduced, because that would take longer than all the rest.
    let power = |of: UBig, count: u64| of.pow(count as usize);
    let kept = |delta: &Ratio| Ratio::ONE - delta;
    let above = |x: &Ratio| x.raw().numerator().clone().into_parts().1;
    let (mut left, mut right) = (kept(delta).raw().denominator().clone(), above(&kept(delta)));
    for guarantee in leaks() {
        let kept = kept(&guarantee.delta);
        left *= power(above(&kept), guarantee.count);
        right *= power(kept.raw().denominator().clone(), guarantee.count);
    }
    left == right
}

fn largest(list: &[PreciseGuarantee], precision: usize) -> PreciseFloat {
    list.iter().fold(zero(precision), |sum, guarantee| {
        sum + round(&guarantee.epsilon, precision) * integer(guarantee.count, precision)
    })
}

/// True if an epsilon is at or above the largest loss; close cases are decided by fractions.
pub(crate) fn is_at_max(list: &[PreciseGuarantee], epsilon: &Ratio) -> bool {
    const PRECISION: usize = 256;
    let (top, at) = (largest(list, PRECISION), round(epsilon, PRECISION));
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

struct BigAtom {
    loss: PreciseFloat,
    p: PreciseFloat,
    q: PreciseFloat,
}

struct BigHalves {
    left: Vec<BigAtom>,
    right: Vec<BigAtom>,
    /// P and Q mass of the right atoms from each index on.
    suffixes: Vec<(PreciseFloat, PreciseFloat)>,
    /// Relative error of masses and absolute error of losses.
    slack: PreciseFloat,
    /// An upper bound on the largest loss.
    top: PreciseFloat,
    precision: usize,
}

struct BigTail {
    p: PreciseFloat,
    q: PreciseFloat,
    slack: PreciseFloat,
}

impl BigHalves {
    fn new(
        list: &[PreciseGuarantee],
        precision: usize,
        watch: &Watch<'_>,
    ) -> Result<Self, PreciseError> {
        let (left, right) = balance(list);
        let left = atoms(&left, precision, watch)?;
        let right = atoms(&right, precision, watch)?;
        let mut suffixes = vec![(zero(precision), zero(precision)); right.len() + 1];
        for (index, atom) in right.iter().enumerate().rev() {
            let (p, q) = &suffixes[index + 1];
            suffixes[index] = (p + &atom.p, q + &atom.q);
        }
        // The error of a loss is at most a unit of the largest loss for each addition.
        let atoms = (left.len() + right.len()) as u128;
        let operations = integer(MASS * total(list) + ATOM * atoms + FEW, precision);
        let slack = unit(precision) * operations * (one(precision) + largest(list, precision));
        let top = largest(list, precision) * (one(precision) + &slack);
        Ok(Self { left, right, suffixes, slack, top, precision })
    }

    /// The tail above an epsilon. Atoms below epsilon, but within the error of the losses, are included, at a cost
    /// within the slack.
    fn tail(&self, epsilon: &PreciseFloat, watch: &Watch<'_>) -> Result<BigTail, PreciseError> {
        let threshold = epsilon - (self.slack.clone() << 1);
        let (mut p, mut q) = (zero(self.precision), zero(self.precision));
        let mut from = self.right.len();
        for (index, atom) in self.left.iter().enumerate() {
            if index % 1024 == 0 {
                watch.check(index as f64 / self.left.len() as f64)?;
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

    /// Newton's method on the lines of the profile, as in the other exact routes, alternating with bisection. The upper
    /// end always satisfies the target.
    fn solve(
        &self,
        target: &BigBracket,
        start: PreciseFloat,
        bits: Bits,
        watch: &Watch<'_>,
    ) -> Result<BigBracket, PreciseError> {
        let zero = zero(self.precision);
        let (mut low, mut high, mut lower) = (None::<PreciseFloat>, self.top.clone(), zero.clone());
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
    /// The pure delta at the epsilon of this tail.
    fn delta(&self, epsilon: &PreciseFloat) -> BigBracket {
        let scaled = epsilon.exp() * &self.q;
        let error = (&self.p + &scaled) * &self.slack;
        let delta = &self.p - scaled;
        ((&delta - &error).max(PreciseFloat::ZERO), delta + error)
    }

    /// The epsilons at which the line meets the target, from below and from above.
    fn root(&self, target: &BigBracket) -> (Option<PreciseFloat>, Option<PreciseFloat>) {
        let slack = self.slack.clone() << 1;
        let side = |delta: &PreciseFloat, slack: PreciseFloat| {
            let p = &self.p + &self.p * &slack - delta;
            let q = &self.q - &self.q * &slack;
            (p > PreciseFloat::ZERO && q > PreciseFloat::ZERO).then(|| p.ln() - q.ln())
        };
        let margin = |root: &PreciseFloat| (root.clone() * root + PreciseFloat::ONE) * &slack;
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
) -> Result<Vec<BigAtom>, PreciseError> {
    let mut all = vec![BigAtom { loss: zero(precision), p: one(precision), q: one(precision) }];
    for guarantee in list {
        watch.check(0.0)?;
        let shifts = atoms_of_one(guarantee, precision);
        all = shifts
            .iter()
            .flat_map(|shift| {
                all.iter().map(move |atom| BigAtom {
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

/// The atoms of one guarantee's randomized responses. The P mass of y minuses is C(n, y) p^(n-y) q^y, by recursion.
fn atoms_of_one(guarantee: &PreciseGuarantee, precision: usize) -> Vec<BigAtom> {
    let (n, epsilon) = (guarantee.count, round(&guarantee.epsilon, precision));
    let decay = (-&epsilon).exp();
    let plus = one(precision) / (one(precision) + &decay);
    let mut mass = plus.powi(n.into());
    let mut masses = Vec::with_capacity(n as usize + 1);
    for y in 0..=n {
        masses.push(mass.clone());
        mass = mass * integer(n - y, precision) / integer(y + 1, precision) * &decay;
    }
    let atom = |y: u64| BigAtom {
        loss: &epsilon * (integer(n - y, precision) - integer(y, precision)),
        p: masses[y as usize].clone(),
        q: masses[(n - y) as usize].clone(),
    };
    (0..=n).rev().map(atom).collect()
}

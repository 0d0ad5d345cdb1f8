//! Answers in arbitrary precision. A double stands for exactly its value; [`PrecisePlan`] takes fractions, so that 0.3
//! can be three tenths and a third can be a third, like the inputs in MV section 2.

use super::{Answer, AskError};
use crate::citation::Theorem;
use crate::composition::Guarantees;
use crate::methods::Route;
use crate::methods::precise::{self, BigBracket, PreciseGuarantee};
use crate::quantity::{Bits, Delta, Epsilon};
use crate::watch::Watch;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::fractions::{
    ExactError, Ratio, check_size, from_double, is_short, nearest,
};
use dashu_float::FBig;
use dashu_float::round::Round;
use dashu_float::round::mode::{Down, Up};

/// An answer in arbitrary precision, as decimal text rounded outward.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreciseAnswer {
    /// A lower bound on the exact answer.
    pub lower: String,
    /// An upper bound on the exact answer.
    pub upper: String,
    /// The theorem that licenses the answer.
    pub theorem: Theorem,
}

/// (epsilon, delta) guarantees whose numbers are fractions, for answers in arbitrary precision.
///
/// ```
/// use counterpoint::ask::{Bits, PreciseGuarantee, PrecisePlan};
/// use counterpoint::watch::Watch;
///
/// let each = PreciseGuarantee { epsilon: "3/10".parse()?, delta: "0".parse()?, count: 3 };
/// let answer = PrecisePlan::new([each])?.epsilon(&"0".parse()?, Bits::new(200)?, Watch::none())?;
/// // Nine tenths; three times the double nearest to 0.3 is 3.3e-17 less.
/// assert!(answer.upper.starts_with("0.9000000000000000000000000000000000000000"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PrecisePlan {
    /// Losses and leaks in separate entries; equal ones are merged.
    list: Vec<PreciseGuarantee>,
}

/// Twice as long as the longest decimals that are read as amounts, for a quotient of two amounts.
const MOST_BITS: usize = 20_000;
const LEGAL_EPSILON: &str = "a fraction from 0 to 1000000, of at most 20000 bits";
const LEGAL_DELTA: &str = "a fraction from 0 up to but not including 1, of at most 20000 bits";
const MOST_RELEASES: u128 = 1_000_000_000_000_000;
const MOST_EPSILON: f64 = 1e12;

impl PrecisePlan {
    /// Makes a plan of guarantees.
    ///
    /// # Errors
    /// [`ExactError`] if a number is not legal, there are none or too many, or the epsilons add up to more than 10^12.
    pub fn new(guarantees: impl IntoIterator<Item = PreciseGuarantee>) -> Result<Self, ExactError> {
        let (mut losses, mut leaks) = (Vec::new(), Vec::new());
        let (mut count, mut total) = (0_u128, 0.0);
        for PreciseGuarantee { epsilon, delta, count: times } in guarantees {
            Self::check_epsilon(&epsilon)?;
            Self::check_delta(&delta)?;
            check_size("releases", times.into(), (1, MOST_RELEASES))?;
            count += u128::from(times);
            total += nearest(&epsilon) * times as f64;
            losses.push((epsilon, times));
            leaks.push((delta, times));
        }
        check_size("releases", count, (1, MOST_RELEASES))?;
        if total > MOST_EPSILON {
            let (place, value) = ("the sum of the epsilons".into(), from_double(total));
            return Err(ExactError::Number { place, value, legal: "at most 10^12" });
        }
        let zero = Ratio::ZERO;
        let losses = merge_equal(losses).into_iter().map(|(epsilon, count)| PreciseGuarantee {
            epsilon,
            delta: zero.clone(),
            count,
        });
        let leaks = merge_equal(leaks).into_iter().map(|(delta, count)| PreciseGuarantee {
            epsilon: zero.clone(),
            delta,
            count,
        });
        Ok(Self { list: losses.chain(leaks).collect() })
    }

    /// The least epsilon at a delta, to an absolute width of 2^-bits.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilon(
        &self,
        delta: &Ratio,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        Self::check_delta(delta)?;
        Ok(in_decimals(precise::epsilon(&self.list, delta, bits, watch)?, bits))
    }

    /// The least delta at an epsilon, to a relative width of 2^-bits.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(
        &self,
        epsilon: &Ratio,
        bits: Bits,
        watch: Watch<'_>,
    ) -> Result<PreciseAnswer, AskError> {
        Self::check_epsilon(epsilon)?;
        Ok(in_decimals(precise::delta(&self.list, epsilon, bits, watch)?, bits))
    }

    /// Losses and leaks in separate entries; equal ones are merged.
    pub(crate) fn guarantees(&self) -> &[PreciseGuarantee] {
        &self.list
    }

    pub(crate) fn check_epsilon(value: &Ratio) -> Result<(), ExactError> {
        let legal = *value >= Ratio::ZERO && *value <= Ratio::from(1_000_000_u32);
        check("epsilon", value, legal, LEGAL_EPSILON)
    }

    pub(crate) fn check_delta(value: &Ratio) -> Result<(), ExactError> {
        check("delta", value, *value >= Ratio::ZERO && *value < Ratio::ONE, LEGAL_DELTA)
    }
}

fn check(place: &str, value: &Ratio, inside: bool, legal: &'static str) -> Result<(), ExactError> {
    if inside && is_short(value, MOST_BITS) {
        return Ok(());
    }
    Err(ExactError::Number { place: place.to_owned(), value: value.clone(), legal })
}

/// The positive values in order, with the counts of equal values added up.
fn merge_equal(mut list: Vec<(Ratio, u64)>) -> Vec<(Ratio, u64)> {
    list.retain(|(each, _)| *each > Ratio::ZERO);
    list.sort();
    list.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    list
}

pub(super) fn epsilon_to_bits(
    guarantees: &Guarantees<'_>,
    delta: Delta,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    let ends = precise::epsilon(&to_precise(guarantees), &from_double(delta.get()), bits, watch)?;
    Ok(in_decimals(ends, bits))
}

pub(super) fn delta_to_bits(
    guarantees: &Guarantees<'_>,
    epsilon: Epsilon,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    let ends = precise::delta(&to_precise(guarantees), &from_double(epsilon.get()), bits, watch)?;
    Ok(in_decimals(ends, bits))
}

/// The least epsilon at a delta, as a bracket of doubles.
pub(super) fn epsilon_bracket(
    guarantees: &Guarantees<'_>,
    delta: Delta,
    watch: Watch<'_>,
) -> Result<Answer, AskError> {
    let list = to_precise(guarantees);
    Ok(in_doubles(precise::epsilon(&list, &from_double(delta.get()), Bits::DOUBLE, watch)?))
}

/// The least delta at an epsilon, as a bracket of doubles.
pub(super) fn delta_bracket(
    guarantees: &Guarantees<'_>,
    epsilon: Epsilon,
    watch: Watch<'_>,
) -> Result<Answer, AskError> {
    let list = to_precise(guarantees);
    Ok(in_doubles(precise::delta(&list, &from_double(epsilon.get()), Bits::DOUBLE, watch)?))
}

/// Losses and leaks as separate entries; their composition is the same.
fn to_precise(guarantees: &Guarantees<'_>) -> Vec<PreciseGuarantee> {
    let losses = guarantees.factors.iter().map(|factor| PreciseGuarantee {
        epsilon: from_double(factor.each),
        delta: Ratio::ZERO,
        count: factor.count,
    });
    let leaks = guarantees.leaks.iter().map(|leak| PreciseGuarantee {
        epsilon: Ratio::ZERO,
        delta: from_double(leak.each),
        count: leak.count,
    });
    losses.chain(leaks).collect()
}

fn in_doubles((lower, upper): BigBracket) -> Answer {
    let lower = lower.to_f64().value().next_down().max(0.0);
    let upper = upper.to_f64().value().next_up();
    let bracket = Bracket { lower, upper };
    Answer::new(bracket, Route::Precise, Theorem::Optimal)
}

fn in_decimals((lower, upper): BigBracket, bits: Bits) -> PreciseAnswer {
    let digits = (f64::from(bits.get()) * std::f64::consts::LOG10_2) as usize + 16;
    PreciseAnswer {
        lower: decimal(lower.with_rounding::<Down>(), digits),
        upper: decimal(upper.with_rounding::<Up>(), digits),
        theorem: Theorem::Optimal,
    }
}

/// Writes a number as decimal text, rounded in the number's own direction.
fn decimal<R: Round>(x: FBig<R, 2>, digits: usize) -> String {
    x.with_base_and_precision::<10>(digits).value().to_string()
}

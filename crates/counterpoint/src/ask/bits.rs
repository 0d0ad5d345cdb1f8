use super::{Answer, AskError};
use crate::bracket::Bracket;
use crate::composition::Guarantees;
use crate::quantity::{Bits, Delta, Epsilon};
use crate::route::Route;
use crate::route::precise::{self, Big, BigBracket, PreciseGuarantee};
use crate::source::Theorem;
use crate::watch::Watch;
use dashu_float::FBig;
use dashu_float::round::Round;
use dashu_float::round::mode::{Down, Up};

/// An answer in arbitrary precision, as decimal text rounded outward.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PreciseAnswer {
    /// Never above the truth.
    pub lower: String,
    /// Never below the truth.
    pub upper: String,
    /// Which theorem licenses it.
    pub theorem: Theorem,
}

pub(super) fn epsilon_to_bits(
    guarantees: &Guarantees<'_>,
    delta: Delta,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    let ends = precise::epsilon(&precisely(guarantees), &big(delta.get()), bits, watch)?;
    Ok(in_decimals(ends, bits))
}

pub(super) fn delta_to_bits(
    guarantees: &Guarantees<'_>,
    epsilon: Epsilon,
    bits: Bits,
    watch: Watch<'_>,
) -> Result<PreciseAnswer, AskError> {
    let ends = precise::delta(&precisely(guarantees), &big(epsilon.get()), bits, watch)?;
    Ok(in_decimals(ends, bits))
}

/// The least epsilon as a bracket of doubles.
pub(super) fn epsilon_bracket(
    guarantees: &Guarantees<'_>,
    delta: Delta,
    watch: Watch<'_>,
) -> Result<Answer, AskError> {
    let list = precisely(guarantees);
    Ok(in_doubles(precise::epsilon(&list, &big(delta.get()), Bits::DOUBLE, watch)?))
}

/// The least delta as a bracket of doubles.
pub(super) fn delta_bracket(
    guarantees: &Guarantees<'_>,
    epsilon: Epsilon,
    watch: Watch<'_>,
) -> Result<Answer, AskError> {
    let list = precisely(guarantees);
    Ok(in_doubles(precise::delta(&list, &big(epsilon.get()), Bits::DOUBLE, watch)?))
}

/// Losses and leaks apart: together they are the same composition.
fn precisely(guarantees: &Guarantees<'_>) -> Vec<PreciseGuarantee> {
    let losses = guarantees.factors.iter().map(|factor| PreciseGuarantee {
        epsilon: big(factor.each),
        delta: Big::ZERO,
        count: factor.count,
    });
    let leaks = guarantees.leaks.iter().map(|leak| PreciseGuarantee {
        epsilon: Big::ZERO,
        delta: big(leak.each),
        count: leak.count,
    });
    losses.chain(leaks).collect()
}

/// A finite double, exactly.
fn big(x: f64) -> Big {
    Big::try_from(x).unwrap_or(Big::ZERO)
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

/// Decimal text, rounded in the number's own direction.
fn decimal<R: Round>(x: FBig<R, 2>, digits: usize) -> String {
    x.with_base_and_precision::<10>(digits).value().to_string()
}

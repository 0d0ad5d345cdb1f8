//! Arithmetic of brackets: the result contains the results for all numbers in the operands.
//!
//! Each end is one operation of IEEE doubles, moved to the next double outward unless its error, which is computed
//! exactly, is not on that side.

use counterpoint::Bracket;

/// The side of a bracket that is safe to use as the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The upper end, for costs.
    Upper,
    /// The lower end, for remaining budgets and an attacker's least error.
    Lower,
    /// No end: the bracket combines both sides.
    Neither,
    /// Both ends: the bracket is a number.
    Either,
}

impl Side {
    pub(crate) const NAMED: [(&'static str, Self); 2] =
        [("upper", Self::Upper), ("lower", Self::Lower)];

    pub(crate) fn name(self) -> Option<&'static str> {
        Self::NAMED.into_iter().find(|(_, side)| *side == self).map(|(name, _)| name)
    }

    /// The side of a quantity that falls as this one rises.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            other => other,
        }
    }

    /// The side of a quantity that rises with both operands.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Either, side) | (side, Self::Either) => side,
            (one, other) if one == other => one,
            _ => Self::Neither,
        }
    }
}

/// A bracket with its safe side.
pub(crate) type SidedBracket = (Bracket, Side);

pub(crate) fn sum((a, of_a): SidedBracket, (b, of_b): SidedBracket) -> SidedBracket {
    let lower = -sum_up(-a.lower, -b.lower);
    (ordered(lower, sum_up(a.upper, b.upper)), of_a.with(of_b))
}

pub(crate) fn negative((a, side): SidedBracket) -> SidedBracket {
    (Bracket { lower: -a.upper, upper: -a.lower }, side.flipped())
}

pub(crate) fn difference(a: SidedBracket, b: SidedBracket) -> SidedBracket {
    sum(a, negative(b))
}

pub(crate) fn product((a, of_a): SidedBracket, (b, of_b): SidedBracket) -> SidedBracket {
    let pairs = [(a.lower, b.lower), (a.lower, b.upper), (a.upper, b.lower), (a.upper, b.upper)];
    let side = match (sign(a), sign(b)) {
        (Some(true), Some(true)) => of_a.with(of_b),
        // A number that may be negative, which exchanges the ends.
        (_, Some(true)) if of_b == Side::Either => of_a,
        (Some(true), _) if of_a == Side::Either => of_b,
        (_, Some(false)) if of_b == Side::Either => of_a.flipped(),
        (Some(false), _) if of_a == Side::Either => of_b.flipped(),
        _ => Side::Neither,
    };
    let upper = pairs.map(|(x, y)| product_up(x, y));
    let lower = pairs.map(|(x, y)| -product_up(-x, y));
    (hull(lower, upper), side)
}

/// The quotient, or `None` if the divisor may be zero.
pub(crate) fn quotient((a, of_a): SidedBracket, (b, of_b): SidedBracket) -> Option<SidedBracket> {
    let sign_of_b = sign(b).filter(|_| b.lower > 0.0 || b.upper < 0.0)?;
    let pairs = [(a.lower, b.lower), (a.lower, b.upper), (a.upper, b.lower), (a.upper, b.upper)];
    let side = match (sign(a), sign_of_b) {
        (Some(true), true) => of_a.with(of_b.flipped()),
        (_, true) if of_b == Side::Either => of_a,
        (_, false) if of_b == Side::Either => of_a.flipped(),
        _ => Side::Neither,
    };
    let upper = pairs.map(|(x, y)| quotient_up(x, y));
    let lower = pairs.map(|(x, y)| -quotient_up(-x, y));
    Some((hull(lower, upper), side))
}

pub(crate) fn magnitude(a: SidedBracket) -> SidedBracket {
    match sign(a.0) {
        Some(true) => a,
        Some(false) => negative(a),
        None => (Bracket { lower: 0.0, upper: a.0.upper.max(-a.0.lower) }, Side::Neither),
    }
}

/// True if the whole bracket is at least zero, false if at most zero, `None` if neither.
fn sign(a: Bracket) -> Option<bool> {
    if a.lower >= 0.0 { Some(true) } else { (a.upper <= 0.0).then_some(false) }
}

/// The bracket of these ends, unbounded where an end is not a number.
fn ordered(lower: f64, upper: f64) -> Bracket {
    let lower = if lower.is_nan() { f64::NEG_INFINITY } else { lower };
    Bracket { lower, upper: if upper.is_nan() { f64::INFINITY } else { upper } }
}

fn hull(lower: [f64; 4], upper: [f64; 4]) -> Bracket {
    // `min` and `max` would ignore NaN.
    let nothing = lower.iter().chain(&upper).any(|end| end.is_nan());
    if nothing {
        return ordered(f64::NAN, f64::NAN);
    }
    let lower = lower.into_iter().fold(f64::INFINITY, f64::min);
    ordered(lower, upper.into_iter().fold(f64::NEG_INFINITY, f64::max))
}

/// Never below a + b.
fn sum_up(a: f64, b: f64) -> f64 {
    let sum = a + b;
    // Knuth's error of a sum, exact unless it overflows.
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    if error <= 0.0 { sum } else { sum.next_up() }
}

/// Below these the error of a product may itself be rounded.
const SMALL: f64 = 1e-280;

/// Never below a b.
fn product_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if is_zero(a) && b.is_finite() || is_zero(b) && a.is_finite() {
        return 0.0;
    }
    let exact = product.abs() > SMALL && a.mul_add(b, -product) <= 0.0;
    if exact { product } else { product.next_up() }
}

/// Never below a / b.
fn quotient_up(a: f64, b: f64) -> f64 {
    let quotient = a / b;
    if is_zero(a) {
        return 0.0;
    }
    let error = (-quotient).mul_add(b, a) * b.signum();
    let exact = quotient.abs() > SMALL && a.abs() > SMALL && error <= 0.0;
    if exact { quotient } else { quotient.next_up() }
}

fn is_zero(x: f64) -> bool {
    x.abs() <= 0.0
}

/// Decides if `a` is at most `b`, or strictly below; `None` if the brackets do not decide.
pub(crate) fn is_at_most(a: Bracket, b: Bracket, strictly: bool) -> Option<bool> {
    let (yes, no) = match strictly {
        true => (a.upper < b.lower, a.lower >= b.upper),
        false => (a.upper <= b.lower, a.lower > b.upper),
    };
    if yes { Some(true) } else { no.then_some(false) }
}

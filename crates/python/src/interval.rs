//! Arithmetic of brackets: what comes out contains the result for all numbers in what goes in.
//!
//! Each end is one operation of IEEE doubles, moved to the next double outward unless its error, which is computed
//! exactly, is not on that side.

use counterpoint::Bracket;

/// The side of a bracket that is safe to take for the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// For what something costs.
    Upper,
    /// For what is left, or an attacker's least error.
    Lower,
    /// Neither: one was made of both.
    Neither,
    /// Either: it is a number.
    Either,
}

impl Side {
    pub(crate) const NAMED: [(&'static str, Self); 2] =
        [("upper", Self::Upper), ("lower", Self::Lower)];

    pub(crate) fn name(self) -> Option<&'static str> {
        Self::NAMED.into_iter().find(|(_, side)| *side == self).map(|(name, _)| name)
    }

    /// Of what falls as this rises.
    pub(crate) fn flipped(self) -> Self {
        match self {
            Self::Upper => Self::Lower,
            Self::Lower => Self::Upper,
            other => other,
        }
    }

    /// Of what rises with both.
    fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Either, side) | (side, Self::Either) => side,
            (one, other) if one == other => one,
            _ => Self::Neither,
        }
    }
}

/// A bracket with its safe side.
pub(crate) type Sided = (Bracket, Side);

pub(crate) fn sum((a, of_a): Sided, (b, of_b): Sided) -> Sided {
    let lower = -sum_up(-a.lower, -b.lower);
    (ordered(lower, sum_up(a.upper, b.upper)), of_a.with(of_b))
}

pub(crate) fn negative((a, side): Sided) -> Sided {
    (Bracket { lower: -a.upper, upper: -a.lower }, side.flipped())
}

pub(crate) fn difference(a: Sided, b: Sided) -> Sided {
    sum(a, negative(b))
}

pub(crate) fn product((a, of_a): Sided, (b, of_b): Sided) -> Sided {
    let pairs = [(a.lower, b.lower), (a.lower, b.upper), (a.upper, b.lower), (a.upper, b.upper)];
    let side = match (sign(a), sign(b)) {
        (Some(true), Some(true)) => of_a.with(of_b),
        // By a number, which turns it around.
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
pub(crate) fn quotient((a, of_a): Sided, (b, of_b): Sided) -> Option<Sided> {
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

pub(crate) fn magnitude(a: Sided) -> Sided {
    match sign(a.0) {
        Some(true) => a,
        Some(false) => negative(a),
        None => (Bracket { lower: 0.0, upper: a.0.upper.max(-a.0.lower) }, Side::Neither),
    }
}

/// Whether all of it is at least zero, or at most zero; `None` if neither.
fn sign(a: Bracket) -> Option<bool> {
    if a.lower >= 0.0 { Some(true) } else { (a.upper <= 0.0).then_some(false) }
}

/// The bracket of these ends; where infinities say nothing, neither does it.
fn ordered(lower: f64, upper: f64) -> Bracket {
    let lower = if lower.is_nan() { f64::NEG_INFINITY } else { lower };
    Bracket { lower, upper: if upper.is_nan() { f64::INFINITY } else { upper } }
}

fn hull(lower: [f64; 4], upper: [f64; 4]) -> Bracket {
    // `min` and `max` would pass over what is not a number.
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

/// Whether one is at most the other, or below it; `None` if that is not decided.
pub(crate) fn is_at_most(a: Bracket, b: Bracket, strictly: bool) -> Option<bool> {
    let (yes, no) = match strictly {
        true => (a.upper < b.lower, a.lower >= b.upper),
        false => (a.upper <= b.lower, a.lower > b.upper),
    };
    if yes { Some(true) } else { no.then_some(false) }
}

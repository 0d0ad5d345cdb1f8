//! The special functions, each with its error bound derived beside it.

use crate::dd::Dd;
use crate::table::POWERS;

/// ln 2 / 64 in three doubles; the error is below 2^-166.
const LN2_64: [f64; 3] = [0.010830424696249145, 3.623510646634843e-19, 8.91829443502533e-36];
/// 64 / ln 2, roughly: only used to choose an integer.
const PER_LN2_64: f64 = 92.332_482_616_893_66;

const SIXTH: Dd = Dd::literal(0.16666666666666666, 9.25185853854297e-18);
const TWENTY_FOURTH: Dd = Dd::literal(0.041666666666666664, 2.3129646346357427e-18);
const ONE_OVER_120: Dd = Dd::literal(0.008333333333333333, 1.1564823173178714e-19);
const ONE_OVER_720: Dd = Dd::literal(0.001388888888888889, -5.300543954373577e-20);

/// Below this, x is e^x - 1 to a relative 2^-111.
const TINY: f64 = 7.7e-34;

/// 2 pi.
pub const TWO_PI: Dd = Dd::literal(std::f64::consts::TAU, 2.4492935982947064e-16);

impl Dd {
    /// Returns n and s with e^x = 2^(n/64) (1 + s), for |x| < 2^46.
    ///
    /// Write x = n (ln 2)/64 + r with |r| < 0.00542. r is computed with an absolute error below 2^-102: products with
    /// the three parts of (ln 2)/64 are exact or negligible and the partial sums stay below one. For |n| <= 64 its
    /// error is 2^-101 of itself and 2^-150, as subtractions are good relative to their result. The Taylor series to
    /// r^12 leaves out less than 2^-120 of s; from r^7 on, plain doubles contribute at most r^7/5040 times 8 u, below
    /// 2^-106 of s. The Horner steps add at most 20 u^2.
    #[inline]
    fn exp_rest(self) -> (f64, Self) {
        let n = (self.hi * PER_LN2_64).round_ties_even();
        let r = self
            - Self::product(n, LN2_64[0])
            - Self::product(n, LN2_64[1])
            - Self::from(n * LN2_64[2]);
        let x = r.hi;
        let tail = 1.0 / 5040.0
            + x * (1.0 / 40320.0
                + x * (1.0 / 362_880.0
                    + x * (1.0 / 3_628_800.0 + x * (1.0 / 39_916_800.0 + x / 479_001_600.0))));
        let mut series = ONE_OVER_720 + r * tail;
        for coefficient in [ONE_OVER_120, TWENTY_FOURTH, SIXTH, Self::literal(0.5, 0.0), Self::ONE]
        {
            series = coefficient + r * series;
        }
        (n, r * series)
    }

    /// Returns e^x as a mantissa between 1/2 and 4 and a power of two, for |x| < 2^46.
    ///
    /// See [`Dd::exp_rest`]: the table and its product add 8 u^2, and 2^-98 covers all errors.
    #[must_use]
    pub(crate) fn exp_parts(self) -> (Self, i64) {
        let (n, rest) = self.exp_rest();
        let n = n as i64;
        ((Self::ONE + rest) * POWERS[n.rem_euclid(64) as usize], n.div_euclid(64))
    }

    /// Returns e^x for |x| below 600, with a relative error of at most 2^-98.
    #[must_use]
    pub fn exp(self) -> Self {
        let (mantissa, exponent) = self.exp_parts();
        mantissa.scaled(power_of_two(exponent))
    }

    /// Returns e^x - 1 for x below 600, with a relative error of at most 2^-95.
    ///
    /// For |x| <= 1/2 the result is p s + (p - 1), with p = 2^(n/64) from the table and s from `exp_rest`, good to
    /// 2^-98. For n = 0 that is s, and x itself if x is tiny. Otherwise
    /// |p - 1| >= 2^-6.6 is known to 2^-99 of itself, as p is to 2^-106, and p |s| is at most 0.51 |p - 1|: the sum
    /// is at least 0.49 |p - 1|, and both errors come to 2^-96 of it. Beyond, |e^x - 1| >= 0.39 and the subtraction
    /// costs a factor below 4.
    #[must_use]
    pub fn expm1(self) -> Self {
        if self.hi.abs() > 0.5 {
            return if self.hi < -100.0 { -Self::ONE } else { self.exp() - Self::ONE };
        }
        if self.hi.abs() < TINY {
            return self;
        }
        let (n, rest) = self.exp_rest();
        let n = n as i64;
        if n == 0 {
            return rest;
        }
        let power = POWERS[n.rem_euclid(64) as usize].scaled(power_of_two(n.div_euclid(64)));
        power * rest + (power - Self::ONE)
    }

    /// Returns ln x for positive x, with an absolute error of at most 2^-97 max(1, |ln x|).
    ///
    /// y is any guess; x e^-y = 1 + r is then computed, with an absolute error below 2^-97.5, and ln x = y + ln(1 + r).
    /// The guess is repeated until r is small, so no bound rests on its quality.
    #[allow(clippy::disallowed_methods)] // A guess, which is then checked.
    #[must_use]
    pub fn ln(self) -> Self {
        let mut guess = Self::from(self.hi.ln());
        for _ in 0..4 {
            let (mantissa, exponent) = (-guess).exp_parts();
            let r = (self * mantissa).scaled(power_of_two(exponent)) - Self::ONE;
            if r.hi.abs() < 1e-9 {
                return guess + ln_near_one(r);
            }
            guess = guess + Self::from(r.hi.ln_1p());
        }
        guess
    }

    /// Returns ln(1 + x) for x > -1, with a relative error of at most 2^-94.
    ///
    /// As [`Dd::ln`], with r = (x - (e^y - 1)) e^-y, whose error is relative to x.
    #[allow(clippy::disallowed_methods)] // A guess, which is then checked.
    #[must_use]
    pub fn ln_1p(self) -> Self {
        if self.hi.abs() > 0.5 {
            return (Self::ONE + self).ln();
        }
        let guess = Self::from(self.hi.ln_1p());
        let r = (self - guess.expm1()) * (-guess).exp();
        if r.hi.abs() > 1e-9 * self.hi.abs() {
            // The guess is poor, if a platform ever makes such a guess.
            return guess + r.ln_1p();
        }
        guess + ln_near_one(r)
    }
}

impl Dd {
    /// Returns the square root of a positive number, with a relative error of at most 2^-100.
    ///
    /// One step of Newton's method from the rounded root r leaves out `(x - r^2)^2 / 8 r^4`, below 2^-107.
    #[must_use]
    pub fn sqrt(self) -> Self {
        if self.hi <= 0.0 {
            return Self::ZERO;
        }
        let root = self.hi.sqrt();
        let rest = self - Self::product(root, root);
        Self::from(root) + rest / (2.0 * root)
    }
}

/// Returns ln(1 + r) for |r| < 1e-9, leaving out r^4/4: below 2^-120 of one, and for tiny r below 2^-120 of r.
fn ln_near_one(r: Dd) -> Dd {
    let square = r * r;
    r - square.scaled(0.5) + square * r * SIXTH.scaled(2.0)
}

/// Returns 2^n for -1022 <= n <= 1023, and zero or infinity beyond.
#[must_use]
pub(crate) fn power_of_two(n: i64) -> f64 {
    match n {
        ..=-1023 => 0.0,
        1024.. => f64::INFINITY,
        _ => f64::from_bits(((n + 1023) as u64) << 52),
    }
}

/// Returns e^x in double precision, with a relative error of at most 2 u; zero or infinity out of range.
#[must_use]
pub fn exp(x: f64) -> f64 {
    exp_rounded(Dd::from(x))
}

/// Returns e^x - 1 in double precision, with a relative error of at most 4 u.
///
/// For |x| < 1/64 the series to x^9 leaves out less than 2^-75, and Horner's rule adds 3 u.
#[must_use]
pub fn expm1(x: f64) -> f64 {
    if x.abs() < 0.015_625 {
        let series = (2..=9_u32).rev().fold(1.0, |sum, n| 1.0 + x / f64::from(n) * sum);
        return x * series;
    }
    if x > 700.0 { f64::INFINITY } else { Dd::from(x).expm1().hi }
}

/// Returns e^x - 1 for a remainder |x| < 0.0055: the series to x^6 leaves out less than 2^-57 of x, and Horner's rule
/// adds 3 u.
fn expm1_of_rest(x: f64) -> f64 {
    x * (1.0
        + x * (0.5
            + x * (SIXTH.hi
                + x * (TWENTY_FOURTH.hi + x * (ONE_OVER_120.hi + x * ONE_OVER_720.hi)))))
}

/// Returns k, p and c with e^x = 2^k (p + c): p is from the table, and c is small and good to 2^-57.
///
/// As in [`Dd::exp_parts`], but the rest, below 0.0055, is only needed to 2^-59: subtracting the exact product with the
/// leading part of (ln 2)/64 leaves errors of a few u times the rest.
#[inline]
fn exp_split(x: Dd) -> (i64, f64, f64) {
    let n = (x.hi * PER_LN2_64).round_ties_even();
    let product = Dd::product(n, LN2_64[0]);
    let rest = (x.hi - product.hi) - (product.lo + n * LN2_64[1] - x.lo);
    let n = n as i64;
    let power = POWERS[n.rem_euclid(64) as usize];
    (n.div_euclid(64), power.hi, power.lo + power.hi * expm1_of_rest(rest))
}

/// Returns e^x in double precision for x in double-double, with a relative error of at most 2 u; zero or infinity out
/// of range.
#[must_use]
pub fn exp_rounded(x: Dd) -> f64 {
    match x.hi {
        ..-700.0 => 0.0,
        700.0.. => f64::INFINITY,
        _ => {
            let (exponent, power, little) = exp_split(x);
            (power + little) * power_of_two(exponent)
        }
    }
}

/// Returns e^x - 1 in double precision for x in double-double, with a relative error of at most 6 u.
///
/// For |x| < 1/64 the rest is x itself or its table entry cancels; beyond, the parts of e^x are known to 2^-57 of it,
/// and it is at least 1/64 away from one.
#[must_use]
pub fn expm1_rounded(x: Dd) -> f64 {
    if x.hi.abs() < 0.015_625 {
        return expm1(x.hi);
    }
    if x.hi < -50.0 {
        return -1.0;
    }
    if x.hi > 700.0 {
        return f64::INFINITY;
    }
    let (exponent, power, little) = exp_split(x);
    let two = power_of_two(exponent);
    (power * two - 1.0) + little * two
}

/// Returns 1 - e^-x; zero for negative x.
pub fn one_minus_exp_neg(x: Dd) -> Dd {
    match x.hi {
        ..=0.0 => Dd::ZERO,
        590.0.. => Dd::ONE,
        _ => -(-x).expm1(),
    }
}

/// Returns e^-x, or zero where that is below 2^-850: as [`Dd::exp`], up to a mass that is left out.
#[must_use]
pub fn exp_neg(x: Dd) -> Dd {
    if x.hi < 590.0 { (-x).exp() } else { Dd::ZERO }
}

/// Returns ln x in double precision, with an absolute error of at most 4 u + u |ln x|.
///
/// As [`Dd::ln`]: r = x e^-y - 1 is known to 3.5 u, and r^2 is left out.
#[allow(clippy::disallowed_methods)] // A guess, which is then checked.
#[must_use]
pub fn ln_rounded(x: f64) -> f64 {
    let guess = x.ln();
    let r = x * exp_rounded(Dd::from(-guess)) - 1.0;
    if r.abs() < 1e-9 { guess + r } else { Dd::from(x).ln().hi }
}

/// Returns ln(1 + x) in double precision for x >= -1/2, with a relative error of at most 18 u, and 9 u if x >= 0.
///
/// As [`Dd::ln_1p`]: e^y - 1 is known to 6 u of x, which counts x/((1 + x) ln(1 + x)) times in the result, at most 1.5
/// times and at most once if x >= 0. The size of the step shows whether the guess was good enough to leave out the
/// rest.
#[allow(clippy::disallowed_methods)] // A guess, which is then checked.
#[must_use]
pub fn ln_1p_rounded(x: f64) -> f64 {
    let guess = x.ln_1p();
    let r = (x - expm1_rounded(Dd::from(guess))) / (1.0 + x);
    let is_close = r.abs() <= 1e-9 * x.abs().min(1.0);
    if is_close { guess + r } else { Dd::from(x).ln_1p().hi }
}

/// An angle as a fraction of the turn, folded into the first octant.
struct Octant {
    /// The angle within the octant, in units of 2^-bits turns.
    rest: u64,
    /// True if cosine and sine are exchanged.
    swap: bool,
    cosine_sign: f64,
    sine_sign: f64,
}

impl Octant {
    /// Folds numerator / 2^bits of a turn, exactly; 3 <= bits <= 60.
    fn of(numerator: u64, bits: u32) -> Self {
        let turn = 1_u64 << bits;
        let mut at = numerator & (turn - 1);
        let (mut cosine_sign, mut sine_sign) = (1.0, 1.0);
        if at > turn / 2 {
            at = turn - at;
            sine_sign = -1.0;
        }
        if at > turn / 4 {
            at = turn / 2 - at;
            cosine_sign = -1.0;
        }
        let swap = at > turn / 8;
        let rest = if swap { turn / 4 - at } else { at };
        Self { rest, swap, cosine_sign, sine_sign }
    }

    fn place<T: Copy + std::ops::Mul<f64, Output = T>>(&self, cosine: T, sine: T) -> (T, T) {
        let (cosine, sine) = if self.swap { (sine, cosine) } else { (cosine, sine) };
        (cosine * self.cosine_sign, sine * self.sine_sign)
    }
}

/// Returns (-1)^m / (2m + odd)! for m from 8 down to 0, with relative errors of at most 18 u, from dividing step by
/// step.
const fn coefficients(odd: u32) -> [f64; 9] {
    let mut list = [1.0; 9];
    let mut m = 1;
    while m <= 8 {
        let n = 2 * m as u32 + odd;
        list[8 - m] = -list[9 - m] / (n * (n - 1)) as f64;
        m += 1;
    }
    list
}

/// Returns cosine and sine of numerator / 2^bits turns, 3 <= bits <= 60, with absolute errors of at most 16 u each.
///
/// The fold is exact; the angle in [0, pi/4] has a relative error of 3 u; the series to x^17 and x^18 leave out less
/// than 2^-63; Horner's rule in doubles adds a few u.
#[must_use]
pub fn turn(numerator: u64, bits: u32) -> (f64, f64) {
    let octant = Octant::of(numerator, bits);
    let x = octant.rest as f64 * (TWO_PI.hi * power_of_two(-i64::from(bits)));
    let y = x * x;
    // 1/n! with alternating signs, by falling n.
    const SINE: [f64; 9] = coefficients(1);
    const COSINE: [f64; 9] = coefficients(0);
    let sine = SINE.iter().fold(0.0, |sum, c| sum * y + c);
    let cosine = COSINE.iter().fold(0.0, |sum, c| sum * y + c);
    octant.place(cosine, x * sine)
}

/// Returns cosine and sine in double-double precision, for bits <= 50, with absolute errors of at most 2^-96. The
/// series stops when a term is below 2^-112.
#[must_use]
pub fn turn_dd(numerator: u64, bits: u32) -> (Dd, Dd) {
    let octant = Octant::of(numerator, bits);
    let x = (TWO_PI * octant.rest as f64).scaled(power_of_two(-i64::from(bits)));
    let y = x * x;
    let (mut cosine, mut sine) = (Dd::ONE, x);
    let (mut even, mut odd) = (Dd::ONE, x);
    for n in 1..=14_u32 {
        let n = f64::from(n);
        even = -(even * y) / ((2.0 * n - 1.0) * (2.0 * n));
        odd = -(odd * y) / ((2.0 * n) * (2.0 * n + 1.0));
        cosine = cosine + even;
        sine = sine + odd;
        if even.hi.abs() < 1e-34 {
            break;
        }
    }
    octant.place(cosine, sine)
}

/// Returns cosine and sine of x turns, with absolute errors of at most 2^-94 beside 2 pi times that of x.
///
/// The whole turns and 48 bits of the rest go to [`turn_dd`]; the remaining angle is below 2^-45, and its cosine and
/// sine need two terms each.
#[must_use]
pub fn turns(x: Dd) -> (Dd, Dd) {
    const BITS: u32 = 48;
    let fine = power_of_two(i64::from(BITS));
    let rest = x - Dd::from(x.hi.floor());
    let rest = rest - Dd::from(rest.hi.floor());
    let steps = (rest.hi * fine).floor();
    let angle = TWO_PI * (rest - Dd::from(steps / fine));
    let (cosine, sine) = turn_dd(steps as u64, BITS);
    let little = Dd::ONE - (angle * angle).scaled(0.5);
    (cosine * little - sine * angle, sine * little + cosine * angle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the distance to the double-double functions, in units of 2^-53 of the value.
    fn off(rounded: f64, exact: Dd) -> f64 {
        ((Dd::from(rounded) - exact).hi / exact.hi).abs() * 2.0_f64.powi(53)
    }

    #[test]
    fn rounded_functions_keep_their_bounds() {
        for i in 1..40_000_u32 {
            let x = (f64::from(i) * 0.618_033_988_749_894_9).fract() * 2.0 - 1.0;
            for size in [1e-3, 0.1, 1.0, 20.0, 590.0] {
                let y = Dd::from(x * size) + Dd::from(x * size * 1e-17);
                assert!(off(exp_rounded(y), y.exp()) <= 2.0, "exp {x} {size}");
                assert!(off(expm1_rounded(y), y.expm1()) <= 6.0, "expm1 {x} {size}");
            }
            for size in [1e-9, 1e-3, 0.5] {
                let exact = Dd::from(x * size).ln_1p();
                assert!(off(ln_1p_rounded(x * size), exact) <= 18.0, "ln_1p {x} {size}");
            }
            for size in [0.5, 3.0, 1e3, 1e20, 1e130] {
                let large = x.abs() * size;
                let exact = (Dd::ONE + Dd::from(large)).ln();
                // For small numbers the logarithm in double-doubles is not the better one.
                assert!(large < 1e-3 || off(ln_1p_rounded(large), exact) <= 9.0, "ln_1p {large}");
            }
            let exact = Dd::from(1.5 + x).ln();
            let error = (Dd::from(ln_rounded(1.5 + x)) - exact).hi.abs() * 2.0_f64.powi(53);
            assert!(error <= 4.0 + exact.hi.abs(), "ln {x}");
        }
    }
}

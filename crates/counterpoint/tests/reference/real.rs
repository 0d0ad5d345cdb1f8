//! Real numbers to a fixed number of bits, with ordinary operators, on a library that
//! the product does not use.

use astro_float_num::{BigFloat, Consts, RoundingMode};
use std::cell::RefCell;
use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Div, Mul, Sub};

/// A number with a mantissa of `BITS` bits and an exponent of 32 bits; each operation
/// and function is correctly rounded: relative error at most 2^-BITS.
#[derive(Clone)]
pub(crate) struct Real<const BITS: usize>(BigFloat);

const NEAREST: RoundingMode = RoundingMode::ToEven;

thread_local! {
    /// The digits of pi, e and the like that the library has computed so far.
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("memory"));
}

fn with_constants<T>(work: impl FnOnce(&mut Consts) -> T) -> T {
    CONSTANTS.with_borrow_mut(work)
}

impl<const BITS: usize> Real<BITS> {
    /// A result that must be a number.
    fn checked(value: BigFloat) -> Self {
        assert!(!value.is_nan() && !value.is_inf(), "the reference left the numbers");
        Self(value)
    }

    /// A double, exactly. Subnormal ones are scaled first, since the library reads
    /// them wrongly (as half of what they are).
    pub(crate) fn new(x: f64) -> Self {
        if x.is_subnormal() {
            Self::checked(BigFloat::from_f64(x * 2.0_f64.powi(200), BITS)).scaled(-200)
        } else {
            Self::checked(BigFloat::from_f64(x, BITS))
        }
    }

    /// Times 2^n, exactly.
    pub(crate) fn scaled(mut self, n: i32) -> Self {
        if !self.0.is_zero() {
            let exponent = self.0.exponent().expect("a number has one");
            self.0.set_exponent(exponent + n);
        }
        self
    }

    /// The same number with another number of bits.
    pub(crate) fn with_bits<const OTHER: usize>(&self) -> Real<OTHER> {
        let mut value = self.0.clone();
        value.set_precision(OTHER, NEAREST).expect("memory");
        Real(value)
    }

    pub(crate) fn exp(&self) -> Self {
        with_constants(|c| Self::checked(self.0.exp(BITS, NEAREST, c)))
    }

    pub(crate) fn ln(&self) -> Self {
        with_constants(|c| Self::checked(self.0.ln(BITS, NEAREST, c)))
    }

    pub(crate) fn sin(&self) -> Self {
        with_constants(|c| Self::checked(self.0.sin(BITS, NEAREST, c)))
    }

    pub(crate) fn cos(&self) -> Self {
        with_constants(|c| Self::checked(self.0.cos(BITS, NEAREST, c)))
    }

    pub(crate) fn pi() -> Self {
        with_constants(|c| Self::checked(c.pi(BITS, NEAREST)))
    }

    pub(crate) fn abs(&self) -> Self {
        Self(self.0.abs())
    }

    /// The n-th power by repeated squaring: relative error at most 2n 2^-BITS.
    pub(crate) fn powi(&self, mut n: u64) -> Self {
        let (mut base, mut result) = (self.clone(), Self::new(1.0));
        while n > 0 {
            if n % 2 == 1 {
                result = &result * &base;
            }
            base = &base * &base;
            n /= 2;
        }
        result
    }

    /// True if the number is above zero.
    pub(crate) fn is_positive(&self) -> bool {
        self.0.is_positive() && !self.0.is_zero()
    }

    /// A double near it, to about 50 bits; zero or infinity where there is none.
    pub(crate) fn near(&self) -> f64 {
        if self.0.is_zero() {
            return 0.0;
        }
        let leading = *self.0.mantissa_digits().and_then(<[_]>::last).expect("not zero") as f64;
        let exponent = self.0.exponent().expect("a number has one") - 64;
        let size = match exponent {
            ..=-1200 => 0.0,
            1000.. => f64::INFINITY,
            // In two steps, because the power itself may be out of range.
            _ => leading * 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2),
        };
        if self.0.is_negative() { -size } else { size }
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<const BITS: usize> $trait<&Real<BITS>> for &Real<BITS> {
            type Output = Real<BITS>;
            fn $method(self, other: &Real<BITS>) -> Real<BITS> {
                Real::checked(self.0.$method(&other.0, BITS, NEAREST))
            }
        }
    };
}

operator!(Add, add);
operator!(Sub, sub);
operator!(Mul, mul);
operator!(Div, div);

impl<const BITS: usize> PartialEq for Real<BITS> {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(Ordering::Equal)
    }
}

impl<const BITS: usize> PartialOrd for Real<BITS> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.0.cmp(&other.0).map(|sign| sign.cmp(&0))
    }
}

impl<const BITS: usize> fmt::Debug for Real<BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let (mantissa, exponent) = digits.split_once('e').unwrap_or((&digits, "0"));
        write!(f, "{:.30}e{exponent}", mantissa)
    }
}

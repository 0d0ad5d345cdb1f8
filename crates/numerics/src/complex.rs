//! Complex numbers, of doubles or of double-doubles, as pairs of a real and an imaginary part.

use std::ops::{Add, Mul, Sub};

/// A complex number.
pub type Complex<T = f64> = (T, T);

/// A type with the sums, differences and products that [`times`] and [`power`] need.
pub trait Real:
    Copy + From<f64> + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
}

impl<T> Real for T where T: Copy + From<f64> + Add<Output = T> + Sub<Output = T> + Mul<Output = T> {}

/// Adds two complex numbers.
#[inline]
pub fn plus<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    (a.0 + b.0, a.1 + b.1)
}

/// Subtracts two complex numbers.
#[inline]
pub fn minus<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    (a.0 - b.0, a.1 - b.1)
}

/// Multiplies two complex numbers: four products, a difference and a sum.
#[inline]
pub fn times<T: Real>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Computes a power by squaring: at most two products for each bit of the exponent.
#[inline]
pub fn power<T: Real>(mut base: Complex<T>, mut n: u64) -> Complex<T> {
    if n == 1 {
        return base;
    }
    let mut result = (T::from(1.0), T::from(0.0));
    while n > 0 {
        if n & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        n >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Dd;

    #[test]
    fn powers_of_whole_numbers_are_exact() {
        // (2 + i)^4 = (3 + 4i)^2.
        assert_eq!(power((2.0, 1.0), 4), (-7.0, 24.0));
        assert_eq!([power((2.0, 1.0), 0), power((2.0, 1.0), 1)], [(1.0, 0.0), (2.0, 1.0)]);
        let exact = power((Dd::from(2.0), Dd::from(1.0)), 4);
        assert_eq!((exact.0.hi, exact.1.hi), (-7.0, 24.0));
        assert_eq!(minus(plus((1.0, 2.0), (3.0, 5.0)), (4.0, 7.0)), (0.0, 0.0));
    }
}

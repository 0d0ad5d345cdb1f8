//! Lists of complex numbers with separate real and imaginary parts, so that a processor works on several at once.

use super::complex::ZERO;
use counterpoint_numerics::complex::{Complex, plus, times};
use std::ops::Range;

/// The number of terms in a block of a sum.
pub(super) const BLOCK: usize = 64;
/// The number of partial sums of a block that are computed side by side.
const LANES: usize = 4;

/// Complex numbers with separate real and imaginary parts.
#[derive(Default)]
pub(super) struct ComplexList {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl ComplexList {
    pub(super) fn push(&mut self, (re, im): Complex) {
        self.re.push(re);
        self.im.push(im);
    }

    pub(super) fn get(&self, index: usize) -> Complex {
        (self.re[index], self.im[index])
    }

    pub(super) fn set(&mut self, index: usize, (re, im): Complex) {
        (self.re[index], self.im[index]) = (re, im);
    }

    /// Replaces z^j - 1 by (z^j - 1) z + (z - 1), given z - 1, for the first `many` numbers.
    pub(super) fn advance(&mut self, one: &Self, many: usize) {
        let now = self.re[..many].iter_mut().zip(&mut self.im[..many]);
        for ((re, im), (a, b)) in now.zip(one.re[..many].iter().zip(&one.im[..many])) {
            let (now, one) = ((*re, *im), (*a, *b));
            (*re, *im) = plus(plus(now, times(now, one)), one);
        }
    }
}

/// The sum of the first `many` products, block by block.
pub(super) fn product(a: &ComplexList, b: &ComplexList, many: usize) -> Complex {
    let (mut sum, mut from) = (ZERO, 0);
    while from < many {
        let range = from..many.min(from + BLOCK);
        sum = plus(sum, block(a, b, range.clone()));
        from = range.end;
    }
    sum
}

/// The sum of the products of a block: several sums side by side, and the remaining terms.
fn block(a: &ComplexList, b: &ComplexList, range: Range<usize>) -> Complex {
    let (a_re, a_im) =
        (a.re[range.clone()].as_chunks::<LANES>(), a.im[range.clone()].as_chunks::<LANES>());
    let (b_re, b_im) = (b.re[range.clone()].as_chunks::<LANES>(), b.im[range].as_chunks::<LANES>());
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    for ((a, b), (c, d)) in a_re.0.iter().zip(a_im.0).zip(b_re.0.iter().zip(b_im.0)) {
        for lane in 0..LANES {
            let (real, imaginary) = times((a[lane], b[lane]), (c[lane], d[lane]));
            re[lane] += real;
            im[lane] += imaginary;
        }
    }
    let mut sum = (re.iter().sum(), im.iter().sum());
    for ((a, b), (c, d)) in a_re.1.iter().zip(a_im.1).zip(b_re.1.iter().zip(b_im.1)) {
        sum = plus(sum, times((*a, *b), (*c, *d)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of every length, against the sums of whole numbers: nothing is rounded.
    #[test]
    fn products_are_those_of_whole_numbers() {
        let (mut a, mut b, mut exact) = (ComplexList::default(), ComplexList::default(), (0, 0));
        for k in 0..200_i32 {
            let found = product(&a, &b, k as usize);
            assert_eq!((found.0 as i32, found.1 as i32), exact, "{k}");
            let (x, y, v, w) = (k, 3 - k, 7 * k % 11, k % 5);
            a.push((x.into(), y.into()));
            b.push((v.into(), w.into()));
            exact = (exact.0 + x * v - y * w, exact.1 + x * w + y * v);
        }
    }

    #[test]
    fn powers_of_i_come_round() {
        let (mut now, mut one) = (ComplexList::default(), ComplexList::default());
        for _ in 0..7 {
            now.push(ZERO);
            one.push((-1.0, 1.0));
        }
        for power in [(-1.0, 1.0), (-2.0, 0.0), (-1.0, -1.0), ZERO] {
            now.advance(&one, 6);
            assert_eq!((now.get(0), now.get(5), now.get(6)), (power, power, ZERO));
        }
    }
}

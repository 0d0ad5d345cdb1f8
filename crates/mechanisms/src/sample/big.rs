//! Rigorous brackets in numbers of any size. They are slow: coins are built from them, and they decide draws that a
//! coin's first bits leave open.

use dashu_int::UBig;
use dashu_ratio::RBig;

/// A lower and an upper bound, in whole numbers, on a real number.
pub(super) type Bracket = (UBig, UBig);

/// A bracket of e^-x 2^bits, for x >= 0. Halves x until it is below 2^-8, sums the series, and squares as often.
pub(super) fn decay(x: &RBig, bits: usize) -> Bracket {
    if *x >= RBig::from(bits + 1) {
        return (UBig::ZERO, UBig::ONE); // e^-x < 2^-bits
    }
    let halvings = (bits + 1).ilog2() as usize + 9;
    // Each squaring doubles the error of the series.
    let places = bits + halvings + 32;
    let one = UBig::ONE << places;
    let halved = floor(&(x * RBig::from(UBig::ONE << (places - halvings))));
    // Each term is less than two units below x^n / n!, and the halved x less than one unit below its true value.
    let (mut terms, mut sums, mut count) = (one.clone(), [UBig::ZERO, UBig::ZERO], 0_u32);
    while !terms.is_zero() {
        let [even, odd] = &mut sums;
        *(if count % 2 == 0 { even } else { odd }) += &terms;
        count += 1;
        terms = ((terms * &halved) >> places) / UBig::from(count);
    }
    let [even, odd] = sums;
    let (sum, slack) = (even - odd, UBig::from(2 * count + 4));
    let (mut low, mut high) = (&sum - &slack, sum + slack);
    for _ in 0..halvings {
        low = (&low * &low) >> places;
        high = ((&high * &high) >> places) + UBig::ONE;
    }
    narrowed((low, high), places - bits)
}

/// A bracket of the same number with `bits` fewer bits.
pub(super) fn narrowed((low, high): Bracket, bits: usize) -> Bracket {
    (low >> bits, (high >> bits) + UBig::ONE)
}

/// The whole part of a number that is not negative.
pub(super) fn floor(x: &RBig) -> UBig {
    x.floor().into_parts().1
}

/// A bracket of x 2^bits, for x >= 0; both ends are equal if that number is whole.
pub(super) fn around(x: &RBig, bits: usize) -> Bracket {
    let scaled = x * RBig::from(UBig::ONE << bits);
    (floor(&scaled), scaled.ceil().into_parts().1)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use counterpoint_testing::Random;
    use dashu_float::FBig;
    use dashu_float::round::mode::HalfEven;

    /// e^-x 2^bits to the nearest, by the library's own exponential with 200 bits to spare.
    pub(in crate::sample) fn exp(x: &RBig, bits: usize) -> UBig {
        type Float = FBig<HalfEven>;
        let precision = 2 * bits + 200;
        let part = |part: UBig| Float::from(part).with_precision(precision).value();
        let (above, below) = x.clone().into_parts();
        let value = (-(part(above.into_parts().1) / part(below))).exp();
        let scaled = value * part(UBig::ONE << bits);
        scaled.round().to_int().value().into_parts().1
    }

    #[test]
    fn brackets_hold_the_exponential_and_are_narrow() {
        let mut random = Random::new(1);
        for bits in [1, 64, 128, 192, 300, 1000] {
            for _ in 0..40 {
                let x = random.log_uniform(1e-30, 1.2 * bits as f64);
                let x = RBig::try_from(x).unwrap() / RBig::from(random.between(1, 1000));
                let (low, high) = decay(&x, bits + 10);
                assert!(&high - &low <= UBig::from(2_u8), "{x} {bits}");
                let exact = exp(&x, bits + 10);
                assert!(
                    low <= &exact + UBig::ONE && exact <= high,
                    "{x} {bits}: {low} {exact} {high}"
                );
            }
        }
        assert_eq!(decay(&RBig::ZERO, 128).1 >> 128, UBig::ONE);
        assert_eq!(decay(&RBig::from(1_u64 << 40), 128), (UBig::ZERO, UBig::ONE));
    }
}

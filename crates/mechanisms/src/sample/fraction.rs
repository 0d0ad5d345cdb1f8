//! Numbers from zero up to one in 192 bits. Each operation takes the same steps for all numbers: products are rounded
//! down, and no branch and no lookup depends on a number.

use super::big;
use super::words;
use dashu_int::UBig;
use dashu_ratio::RBig;
use std::hint::black_box;

/// A whole multiple of 2^-192 below one, least significant limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fraction([u64; 3]);

/// A whole multiple of 2^-192 below 2^64, least significant limb first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Wide([u64; 4]);

impl Fraction {
    /// The largest number below one.
    const MOST: Self = Self([u64::MAX; 3]);

    /// Rounds down, and clamps to numbers below one.
    pub(super) fn of(x: &RBig) -> Self {
        let scaled = big::floor(&(x * RBig::from(UBig::ONE << 192)));
        let limb = |place: usize| (&scaled >> (64 * place)) & UBig::from(u64::MAX);
        let limbs = [0, 1, 2].map(|place| u64::try_from(limb(place)).unwrap_or(u64::MAX));
        if (&scaled >> 192).is_zero() { Self(limbs) } else { Self::MOST }
    }

    /// The first 192 bits of two words.
    pub(super) fn of_words([first, second]: [u128; 2]) -> Self {
        Self([(second >> 64) as u64, first as u64, (first >> 64) as u64])
    }

    /// n / 2^128.
    pub(super) fn of_word(n: u128) -> Self {
        Self([0, n as u64, (n >> 64) as u64])
    }

    /// The first 128 bits.
    pub(super) fn word(self) -> u128 {
        let [_, middle, high] = self.0;
        (u128::from(high) << 64) + u128::from(middle)
    }

    /// The product.
    #[inline]
    pub(super) fn times(self, other: Self) -> Self {
        Self(high(self.0, other.0))
    }

    /// The product with a whole number, exactly.
    #[inline]
    pub(super) fn by(self, n: u64) -> Wide {
        words::step();
        let [a, b, c] = self.0.map(|limb| u128::from(limb) * u128::from(n));
        let b = b + (a >> 64);
        let c = c + (b >> 64);
        Wide([a as u64, b as u64, c as u64, (c >> 64) as u64])
    }

    /// The difference, and true if it is negative.
    #[inline]
    fn take(self, other: Self) -> (Self, bool) {
        words::step();
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        let (a, borrow) = a.overflowing_sub(x);
        let (b, borrow) = less(b, y, borrow);
        let (c, borrow) = less(c, z, borrow);
        (Self([a, b, c]), borrow)
    }

    /// The absolute difference.
    #[inline]
    pub(super) fn apart(self, other: Self) -> Self {
        let ((one, below), (two, _)) = (self.take(other), other.take(self));
        two.or(one, mask(below.into()))
    }

    /// The product with 2^bits, for 1 to 63 bits: its fraction and its whole part.
    #[inline]
    pub(super) fn raised(self, bits: u32) -> (Self, u64) {
        let [a, b, c] = self.0;
        let rest = 64 - bits;
        (Self([a << bits, (b << bits) | (a >> rest), (c << bits) | (b >> rest)]), c >> rest)
    }

    /// Selects `self` where the mask has ones and `other` where it has zeros.
    #[inline]
    fn or(self, other: Self, mask: u64) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Self([(a & mask) | (x & !mask), (b & mask) | (y & !mask), (c & mask) | (z & !mask)])
    }

    /// The number minus and plus `units` of 2^-192, clamped to the range from zero up to one.
    #[inline]
    pub(super) fn around(self, units: u64) -> (Self, Self) {
        let (less, borrow) = self.take(Self([units, 0, 0]));
        let (more, carry) = self.put(units);
        (Self([0; 3]).or(less, mask(borrow.into())), Self::MOST.or(more, mask(carry.into())))
    }

    /// Adds `units` of 2^-192; true if the sum is one or more.
    #[inline]
    pub(super) fn put(self, units: u64) -> (Self, bool) {
        words::step();
        let [a, b, c] = self.0;
        let (a, carry) = a.overflowing_add(units);
        let (b, carry) = b.overflowing_add(carry.into());
        let (c, carry) = c.overflowing_add(carry.into());
        (Self([a, b, c]), carry)
    }

    /// e^(-128 x), within [`Self::OFF`] units; a `beyond` that is not zero says that x is at least one.
    ///
    /// The first 23 bits of x choose factors; ten terms of the series give the rest, an exponent r < 2^-16.
    #[inline]
    pub(super) fn decay(self, beyond: u64) -> Self {
        let (rest, _) = self.raised(23);
        let mut product = Self([0; 3]);
        for term in TERMS.iter().rev() {
            product = term.take(rest.times(product)).0;
        }
        let [_, _, high] = self.0;
        for (place, factor) in FACTORS.iter().enumerate() {
            let chosen = mask((high >> (63 - place)) & 1);
            product = product.times(factor.or(Self::MOST, chosen));
        }
        Self([0; 3]).or(product, mask(beyond))
    }

    /// Each of 34 products and 34 constants is less than one unit too small, and so is the 1 that stands for no factor.
    /// The rest of the series is less than 2^-9 of a unit. Beyond, e^-128 is less than 2^-184.
    pub(super) const OFF: u64 = 256;
}

impl Wide {
    #[inline]
    pub(super) fn plus(self, other: Fraction) -> Self {
        words::step();
        let ([a, b, c, d], [x, y, z]) = (self.0, other.0);
        let (a, carry) = a.overflowing_add(x);
        let (b, carry) = more(b, y, carry);
        let (c, carry) = more(c, z, carry);
        Self([a, b, c, d.wrapping_add(carry.into())])
    }

    /// The number minus `units` of 2^-192, at least zero, and the number plus `units`.
    pub(super) fn around(self, units: u128) -> (Self, Self) {
        let [a, b, c, d] = self.0;
        let (low, high) = (units as u64, (units >> 64) as u64);
        let (x, borrow) = a.overflowing_sub(low);
        let (y, borrow) = less(b, high, borrow);
        let (z, borrow) = c.overflowing_sub(borrow.into());
        let (w, borrow) = d.overflowing_sub(borrow.into());
        let rest = !mask(borrow.into());
        let below = Self([x & rest, y & rest, z & rest, w & rest]);
        let (x, carry) = a.overflowing_add(low);
        let (y, carry) = more(b, high, carry);
        let (z, carry) = c.overflowing_add(carry.into());
        (below, Self([x, y, z, d.wrapping_add(carry.into())]))
    }

    /// The product with a fraction.
    pub(super) fn times(self, other: Fraction) -> Self {
        Self(high(other.0, self.0))
    }

    /// Returns one if this number is at most the other, else zero.
    #[inline]
    pub(super) fn at_most(self, other: Self) -> u64 {
        words::step();
        let ([a, b, c, d], [x, y, z, w]) = (self.0, other.0);
        let borrow = x.overflowing_sub(a).1;
        let borrow = less(y, b, borrow).1;
        let borrow = less(z, c, borrow).1;
        u64::from(!less(w, d, borrow).1)
    }

    /// The product with 2^-bits, rounded down, for up to 127 bits: its fraction and its whole part.
    #[inline]
    pub(super) fn lowered(self, bits: u32) -> (Fraction, u64) {
        let [a, b, c, d] = self.0;
        // The branch depends on the parameters only.
        let [a, b, c, d] = if bits >= 64 { [b, c, d, 0] } else { [a, b, c, d] };
        let bits = bits % 64;
        let both =
            |low: u64, high: u64| (((u128::from(high) << 64) | u128::from(low)) >> bits) as u64;
        (Fraction([both(a, b), both(b, c), both(c, d)]), d >> bits)
    }

    /// The whole part and the fraction.
    pub(super) fn parts(self) -> (u64, Fraction) {
        let [a, b, c, d] = self.0;
        (d, Fraction([a, b, c]))
    }
}

/// a b / 2^192, rounded down.
#[allow(clippy::indexing_slicing, reason = "the index runs over the length of both arrays")]
#[inline(always)]
fn high<const N: usize>(a: [u64; 3], b: [u64; N]) -> [u64; N] {
    words::step();
    let mut window = [0_u64; N];
    for limb in a {
        let mut carry = 0_u64;
        for place in 0..N {
            let sum = u128::from(limb) * u128::from(b[place])
                + u128::from(window[place])
                + u128::from(carry);
            carry = (sum >> 64) as u64;
            // The lowest limb is dropped; its carry is kept.
            if place > 0 {
                window[place - 1] = sum as u64;
            }
        }
        window[N - 1] = carry;
    }
    window
}

/// a - b - borrow, and true if that borrows.
#[inline(always)]
fn less(a: u64, b: u64, borrow: bool) -> (u64, bool) {
    let (difference, first) = a.overflowing_sub(b);
    let (difference, second) = difference.overflowing_sub(borrow.into());
    (difference, first | second)
}

/// a + b + carry, and true if that carries.
#[inline(always)]
fn more(a: u64, b: u64, carry: bool) -> (u64, bool) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(carry.into());
    (sum, first | second)
}

/// All ones unless the number is zero. `black_box` hides from the compiler that only two masks are possible, as the
/// compiler could replace the selection by a branch.
#[inline(always)]
pub(super) fn mask(x: u64) -> u64 {
    black_box(((x | x.wrapping_neg()) >> 63).wrapping_neg())
}

/// e^(-2^(6-i)), rounded down.
#[rustfmt::skip]
const FACTORS: [Fraction; 23] = [
    Fraction([0xf265_d5f9_6940_384b, 0x0000_000c_b4ea_3990, 0x0000_0000_0000_0000]),
    Fraction([0x2489_0f10_9ac9_23ad, 0x9eec_2c8d_03c5_3340, 0x0000_0000_0003_908c]),
    Fraction([0xfb3c_c629_b709_109f, 0x5cad_a65f_73f3_2e88, 0x0000_01e3_55bb_aee8]),
    Fraction([0xad23_fbcb_7f4a_81e5, 0xbbfc_d467_80fe_e71e, 0x0015_fc21_0410_27ac]),
    Fraction([0x28f9_4353_87c7_dd33, 0xfa2b_c04c_b0ab_88f5, 0x04b0_556e_084f_3d1d]),
    Fraction([0xf0dd_961d_a28a_c995, 0xb6ed_d5c2_5a05_2ae3, 0x22a5_5547_7f03_973f]),
    Fraction([0xda98_05aa_b56c_7733, 0xbade_c782_9054_f90d, 0x5e2d_58d8_b3bc_df1a]),
    Fraction([0xe347_bf8a_d0e8_0abb, 0xd675_a355_30cd_d767, 0x9b45_97e3_7cb0_4ff3]),
    Fraction([0x6071_095a_beaf_430d, 0x415c_bc9d_6368_f3b9, 0xc75f_7cf5_6410_5743]),
    Fraction([0xbd80_29f1_b773_28d9, 0x3eb1_269f_2f5d_4afa, 0xe1eb_5127_6c11_0c3c]),
    Fraction([0xa18e_8167_3270_e30b, 0xf18f_f030_49ac_5d7e, 0xf07d_5fde_3815_1e72]),
    Fraction([0xe068_6ad0_022e_a30a, 0x5805_5fcb_bb13_9ae8, 0xf81f_ab54_45ae_bc8a]),
    Fraction([0x1355_69ad_22bf_c4bf, 0xe885_eeaa_756a_d523, 0xfc07_f55f_f77d_2493]),
    Fraction([0x70d4_017a_ec23_4b1f, 0xfe5f_8999_4c44_216f, 0xfe01_feab_5511_27cb]),
    Fraction([0x39cd_6424_4ca9_510b, 0xd68f_08c2_57e0_ce3f, 0xff00_7fd5_5ffd_de38]),
    Fraction([0x37cd_6eb4_4b09_7ac7, 0xb041_05b0_43e8_f48d, 0xff80_1ffa_ab55_4445]),
    Fraction([0xdd60_a6a1_f224_0f27, 0x7d27_9e7b_87ac_ecdf, 0xffc0_07ff_555f_ff77]),
    Fraction([0x8bc3_e72b_df83_dfc6, 0x1127_d215_22f2_295b, 0xffe0_01ff_eaab_5551]),
    Fraction([0x49cb_030f_de47_80c8, 0xddde_38e2_be2d_82d5, 0xfff0_007f_fd55_5fff]),
    Fraction([0x7e26_1c6d_26b1_524d, 0x5444_45b0_5965_97f9, 0xfff8_001f_ffaa_ab55]),
    Fraction([0x6f56_3c80_83c3_dd14, 0xfff7_777d_27cf_3cf5, 0xfffc_0007_fff5_555f]),
    Fraction([0x6c16_c10f_9f45_5507, 0x5555_1111_27d2_76a7, 0xfffe_0001_fffe_aaab]),
    Fraction([0x3815_2151_e6e5_8f6a, 0x5fff_fddd_de38_e381, 0xffff_0000_7fff_d555]),
];

/// 2^(-16 n) / n!, rounded down.
#[rustfmt::skip]
const TERMS: [Fraction; 11] = [
    Fraction([0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff, 0xffff_ffff_ffff_ffff]),
    Fraction([0x0000_0000_0000_0000, 0x0000_0000_0000_0000, 0x0001_0000_0000_0000]),
    Fraction([0x0000_0000_0000_0000, 0x0000_0000_0000_0000, 0x0000_0000_8000_0000]),
    Fraction([0xaaaa_aaaa_aaaa_aaaa, 0xaaaa_aaaa_aaaa_aaaa, 0x0000_0000_0000_2aaa]),
    Fraction([0xaaaa_aaaa_aaaa_aaaa, 0x0aaa_aaaa_aaaa_aaaa, 0x0000_0000_0000_0000]),
    Fraction([0x2222_2222_2222_2222, 0x0000_0222_2222_2222, 0x0000_0000_0000_0000]),
    Fraction([0x5b05_b05b_05b0_5b05, 0x0000_0000_005b_05b0, 0x0000_0000_0000_0000]),
    Fraction([0x00d0_0d00_d00d_00d0, 0x0000_0000_0000_000d, 0x0000_0000_0000_0000]),
    Fraction([0x0001_a01a_01a0_1a01, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000]),
    Fraction([0x0000_0000_2e3b_c74a, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000]),
    Fraction([0x0000_0000_0000_049f, 0x0000_0000_0000_0000, 0x0000_0000_0000_0000]),
];

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::sample::big::tests::exp;
    use counterpoint_testing::Random;

    /// The number in units of 2^-192.
    pub(in crate::sample) fn units(x: Fraction) -> UBig {
        x.0.into_iter().rev().fold(UBig::ZERO, |sum, limb| (sum << 64) + UBig::from(limb))
    }

    fn whole(x: Wide) -> UBig {
        x.0.into_iter().rev().fold(UBig::ZERO, |sum, limb| (sum << 64) + UBig::from(limb))
    }

    /// Limbs with runs of ones and zeros, which cause carries.
    fn limb(random: &mut Random) -> u64 {
        let any = random.bits();
        let short = any >> random.below(64);
        random.of(&[0, 1, u64::MAX, u64::MAX - 1, any, any, short])
    }

    fn fraction(random: &mut Random) -> Fraction {
        Fraction([limb(random), limb(random), limb(random)])
    }

    fn wide(random: &mut Random) -> Wide {
        Wide([limb(random), limb(random), limb(random), limb(random)])
    }

    #[test]
    fn constants_are_rounded_down() {
        let two = |power: i32| {
            let size = RBig::from(UBig::ONE << power.unsigned_abs() as usize);
            if power < 0 { RBig::ONE / size } else { size }
        };
        for (factor, power) in FACTORS.iter().zip((-16..=6).rev()) {
            assert_eq!(units(*factor), exp(&two(power), 256) >> 64);
        }
        let mut factorial = RBig::ONE;
        for (n, term) in TERMS.iter().enumerate() {
            factorial *= RBig::from(n.max(1));
            assert_eq!(*term, Fraction::of(&(two(-16 * n as i32) / &factorial)));
        }
    }

    #[test]
    fn arithmetic_is_that_of_big_numbers() {
        let mut random = Random::new(2);
        let one = UBig::ONE << 192;
        for _ in 0..3000 {
            let (a, b) = (fraction(&mut random), fraction(&mut random));
            let (x, y) = (units(a), units(b));
            assert_eq!(units(a.times(b)), (&x * &y) >> 192);
            let n = limb(&mut random);
            assert_eq!(whole(a.by(n)), &x * UBig::from(n));
            assert_eq!(units(a.apart(b)), if x > y { &x - &y } else { &y - &x });
            let bits = random.between(1, 63) as u32;
            let (raised, beyond) = a.raised(bits);
            assert_eq!((UBig::from(beyond) << 192) + units(raised), &x << bits as usize);
            let (low, high) = a.around(n);
            assert_eq!(units(low), if x < UBig::from(n) { UBig::ZERO } else { &x - UBig::from(n) });
            assert_eq!(units(high), (&x + UBig::from(n)).min(&one - UBig::ONE));
            let (w, v) = (wide(&mut random), wide(&mut random));
            let (s, r) = (whole(w), whole(v));
            assert_eq!(whole(w.times(a)), (&s * &x) >> 192);
            assert_eq!(whole(w.plus(a)), (&s + &x) % (UBig::ONE << 256));
            assert_eq!(w.at_most(v), u64::from(s <= r));
            assert_eq!(w.at_most(w), 1);
            let far = (u128::from(limb(&mut random)) << 64) + u128::from(limb(&mut random));
            let (low, high) = w.around(far);
            assert_eq!(
                whole(low),
                if s < UBig::from(far) { UBig::ZERO } else { &s - UBig::from(far) }
            );
            assert_eq!(whole(high), (&s + UBig::from(far)) % (UBig::ONE << 256));
            let bits = random.below(128) as u32;
            let (lowered, beyond) = w.lowered(bits);
            assert_eq!((UBig::from(beyond) << 192) + units(lowered), &s >> bits as usize);
        }
    }

    #[test]
    fn the_exponential_is_as_near_as_it_says() {
        let mut random = Random::new(3);
        let mut worst = UBig::ZERO;
        for _ in 0..600 {
            let x = fraction(&mut random);
            let (x, _) = Wide([x.0[0], x.0[1], x.0[2], 0]).lowered(random.below(30) as u32);
            let exact = exp(&(RBig::from(units(x)) / RBig::from(UBig::ONE << 185)), 192);
            let found = units(x.decay(0));
            let off = if found > exact { found - exact } else { exact - found };
            worst = worst.max(off);
        }
        assert!(worst < UBig::from(Fraction::OFF / 2), "{worst}");
        assert!(worst > UBig::from(2_u8), "{worst}: nothing was tested");
        assert_eq!(Fraction::MOST.decay(1), Fraction([0; 3]));
    }
}

//! Every error bound stated in `src/rounding/mod.rs`, against arbitrary precision.
//!
//! Each test draws thousands of arguments, ordinary and awkward, and fails if one result
//! is further from the truth than stated. The worst case seen is printed.

use crate::common;
use crate::reference;

use common::summary::say;
use counterpoint_numerics::{Dd, UNIT, Wide, exp, expm1, turn, turn_dd};
use counterpoint_testing::Random;
use reference::real::Real;

type Big = Real<640>;

/// The largest share of a bound that was used.
struct Worst {
    name: &'static str,
    bits: f64,
    share: f64,
}

impl Worst {
    fn new(name: &'static str, bound: f64) -> Self {
        Self { name, bits: bound, share: 0.0 }
    }

    /// An error of at most the bound times `scale`.
    fn check(&mut self, value: &Big, truth: &Big, scale: &Big, input: impl FnOnce() -> String) {
        let error = (value - truth).abs();
        let allowed = scale.abs();
        let share = if error.is_positive() {
            assert!(allowed.is_positive(), "{}: {} should be exact", self.name, input());
            (&error / &allowed).near() / self.bits
        } else {
            0.0
        };
        assert!(share <= 1.0, "{}: {share} of the bound at {}", self.name, input());
        self.share = self.share.max(share);
    }

    fn relative(&mut self, value: &Big, truth: &Big, input: impl FnOnce() -> String) {
        self.check(value, truth, truth, input);
    }

    fn finish(self) {
        say(&format!("{}: at most {:.3} of the stated bound", self.name, self.share));
    }
}

fn two_to(n: i32) -> f64 {
    2.0_f64.powi(n)
}

fn big(x: f64) -> Big {
    Big::new(x)
}

fn dd(x: Dd) -> Big {
    &big(x.hi) + &big(x.lo)
}

/// The value of a `Wide`, brought into the range of doubles by an exact power of two.
fn wide(x: Wide) -> Big {
    if !x.is_positive() && !(Wide::ZERO - x).is_positive() {
        return big(0.0);
    }
    let size = if x.is_positive() { x } else { Wide::ZERO - x };
    let exponent = (size.ln_estimate() / std::f64::consts::LN_2) as i64;
    let near_one = x * Wide::new(Dd::ONE, -exponent);
    dd(near_one.to_dd()).scaled(exponent as i32)
}

fn show(x: Dd) -> String {
    format!("{:e} + {:e} ({:#x}, {:#x})", x.hi, x.lo, x.hi.to_bits(), x.lo.to_bits())
}

/// Either sign.
fn signed(random: &mut Random, x: f64) -> f64 {
    if random.once_in(2) { x } else { -x }
}

/// A double-double around a size: a full, an empty or an awkward second half.
fn around(random: &mut Random, hi: f64) -> Dd {
    let half_unit = (hi.abs().next_up() - hi.abs()) * 0.5;
    let lo = match random.below(6) {
        0 => 0.0,
        1 => half_unit * (1.0 - UNIT),
        2 => half_unit * two_to(-(random.below(60) as i32)),
        _ => half_unit * random.unit(),
    };
    let lo = signed(random, lo);
    Dd::sum(hi, lo)
}

fn any(random: &mut Random, low: f64, high: f64) -> Dd {
    let hi = random.log_uniform(low, high);
    let hi = match random.below(5) {
        0 => hi.log2().floor().exp2().clamp(low, high),
        1 => f64::from_bits(hi.to_bits() | 0xf_ffff_ffff_ffff).min(high),
        _ => hi,
    };
    let hi = signed(random, hi);
    around(random, hi)
}

/// A number near another, so that their difference cancels.
fn near(random: &mut Random, x: Dd) -> Dd {
    match random.below(4) {
        0 => Dd::sum(x.hi, x.lo * random.uniform(-2.0, 2.0)),
        1 => {
            let hi = random.beside(x.hi.abs()).copysign(x.hi);
            around(random, hi)
        }
        2 => Dd::sum(x.hi, 0.0),
        _ => {
            let hi = x.hi * (1.0 + random.log_uniform(1e-16, 0.5));
            around(random, hi)
        }
    }
}

#[test]
fn the_four_operations_of_double_doubles() {
    let mut random = Random::new(31);
    let names = ["Dd +", "Dd -", "Dd *", "Dd /", "Dd * f64", "Dd / f64"];
    let mut worst = names.map(|name| Worst::new(name, two_to(-102)));
    for round in 0..30_000 {
        let a = any(&mut random, 1e-100, 1e100);
        let b = match round % 3 {
            0 => any(&mut random, 1e-100, 1e100),
            1 => near(&mut random, a),
            _ => any(&mut random, a.hi.abs() * 1e-20, a.hi.abs() * 1e20),
        };
        let (x, y) = (dd(a), dd(b));
        let plain = big(b.hi);
        let input = || format!("{} and {}", show(a), show(b));
        let results = [
            (a + b, &x + &y),
            (a - b, &x - &y),
            (a * b, &x * &y),
            (a / b, &x / &y),
            (a * b.hi, &x * &plain),
            (a / b.hi, &x / &plain),
        ];
        for (worst, (value, truth)) in worst.iter_mut().zip(&results) {
            worst.relative(&dd(*value), truth, input);
        }
        assert!(dd(Dd::sum(a.hi, b.hi)) == &big(a.hi) + &plain, "sum of {}", input());
        assert!(dd(Dd::product(a.hi, b.hi)) == &big(a.hi) * &plain, "product of {}", input());
    }
    worst.into_iter().for_each(Worst::finish);
}

#[test]
fn a_double_beside_a_double_double() {
    let mut random = Random::new(32);
    for _ in 0..5_000 {
        let x = any(&mut random, 1e-100, 1e100);
        assert!(big(x.upper()) >= dd(x) && big(x.lower()) <= dd(x), "{}", show(x));
        assert!(x.upper() <= x.lower().next_up(), "{}", show(x));
    }
}

/// Arguments for exponentials: any size, and near multiples of ln 2 / 64 and of a half
/// of that, where the reduction changes.
fn exponent(random: &mut Random, most: f64) -> Dd {
    match random.below(4) {
        0 => any(random, 1e-30, most),
        1 => {
            let multiple = random.below((most * 180.0) as u64) as f64;
            let hi = signed(random, multiple * std::f64::consts::LN_2 / 128.0);
            let hi = random.beside(hi.abs()).copysign(hi);
            around(random, hi)
        }
        _ => {
            let hi = random.uniform(-most, most);
            around(random, hi)
        }
    }
}

#[test]
fn exponentials() {
    let mut random = Random::new(33);
    let mut narrow = Worst::new("Dd::exp", two_to(-98));
    let mut broad = Worst::new("Wide::exp", two_to(-98));
    for _ in 0..4_000 {
        let x = exponent(&mut random, 599.0);
        let truth = dd(x).exp();
        narrow.relative(&dd(x.exp()), &truth, || show(x));
        broad.relative(&wide(Wide::exp(x)), &truth, || show(x));
        // Beyond: the exponents of the reference end at 2^31.
        let x = any(&mut random, 500.0, 1.4e9);
        broad.relative(&wide(Wide::exp(x)), &dd(x).exp(), || show(x));
    }
    narrow.finish();
    broad.finish();
}

#[test]
fn exponentials_less_one() {
    let mut random = Random::new(34);
    let mut worst = Worst::new("Dd::expm1", two_to(-95));
    for round in 0..6_000 {
        let x = match round % 6 {
            0 => any(&mut random, 1e-200, 0.5),
            1 => any(&mut random, 0.4, 0.6),
            2 => any(&mut random, 50.0, 200.0),
            3 => any(&mut random, 0.004, 0.5),
            // About half a step of the table, where most cancels.
            4 => any(&mut random, 0.005, 0.006),
            _ => exponent(&mut random, 599.0),
        };
        worst.relative(&dd(x.expm1()), &precise_expm1(&dd(x)), || show(x));
    }
    worst.finish();
}

/// e^x - 1; for small x by the first terms of the series, which lose nothing.
fn precise_expm1(x: &Big) -> Big {
    if x.abs().near() > 1e-30 {
        return &x.exp() - &big(1.0);
    }
    let mut sum = big(0.0);
    for n in (1..=12).rev() {
        sum = &(&(&sum + &big(1.0)) * x) / &big(f64::from(n));
    }
    sum
}

#[test]
fn logarithms() {
    let mut random = Random::new(35);
    let mut narrow = Worst::new("Dd::ln", two_to(-97));
    let mut broad = Worst::new("Wide::ln", two_to(-97));
    let scale = |truth: &Big| if truth.abs() > big(1.0) { truth.clone() } else { big(1.0) };
    for round in 0..4_000 {
        let x = match round % 3 {
            0 => near(&mut random, Dd::ONE).abs(),
            1 => any(&mut random, 0.1, 10.0).abs(),
            _ => any(&mut random, 1e-250, 1e250).abs(),
        };
        let truth = dd(x).ln();
        narrow.check(&dd(x.ln()), &truth, &scale(&truth), || show(x));
        let shift = random.below(2_000_000) as i64 - 1_000_000;
        let moved = Wide::new(x, shift);
        let truth = dd(x).scaled(shift as i32).ln();
        broad.check(&dd(moved.ln()), &truth, &scale(&truth), || format!("{} 2^{shift}", show(x)));
    }
    narrow.finish();
    broad.finish();
}

#[test]
fn logarithms_of_one_and_more() {
    let mut random = Random::new(36);
    let mut worst = Worst::new("Dd::ln_1p", two_to(-94));
    for round in 0..5_000 {
        let x = match round % 5 {
            0 => any(&mut random, 1e-200, 1e-8),
            1 => any(&mut random, 1e-8, 0.5),
            2 => any(&mut random, 0.4, 0.6),
            3 => {
                let gap = any(&mut random, 1e-30, 0.5).abs();
                gap - Dd::ONE
            }
            _ => any(&mut random, 0.4, 1e200).abs(),
        };
        let value = dd(x);
        let one_more = &big(1.0) + &value;
        if !one_more.is_positive() {
            continue;
        }
        // Below 1e-40 the first terms of the series are exact enough.
        let truth = if value.abs().near() < 1e-40 {
            let square = &value * &value;
            &(&value - &square.clone().scaled(-1)) + &(&(&square * &value) / &big(3.0))
        } else {
            one_more.ln()
        };
        worst.relative(&dd(x.ln_1p()), &truth, || show(x));
    }
    worst.finish();
}

#[test]
fn wide_operations() {
    let mut random = Random::new(37);
    let [mut times, mut plus, mut minus, mut inverse] =
        ["Wide *", "Wide +", "Wide -", "Wide::recip"].map(|name| Worst::new(name, two_to(-102)));
    for round in 0..20_000 {
        let shift = random.below(200_000) as i64 - 100_000;
        let apart = if round % 2 == 0 { random.below(260) as i64 - 130 } else { 0 };
        let a = any(&mut random, 1e-30, 1e30).abs();
        let b = if round % 3 == 0 { near(&mut random, a) } else { any(&mut random, 1e-30, 1e30) };
        let b = b.abs();
        let (x, y) = (Wide::new(a, shift), Wide::new(b, shift + apart));
        let (p, q) = (dd(a).scaled(shift as i32), dd(b).scaled((shift + apart) as i32));
        let input = || format!("{} and {} 2^{apart}", show(a), show(b));
        times.relative(&wide(x * y), &(&p * &q), input);
        plus.relative(&wide(x + y), &(&p + &q), input);
        let larger = if p > q { &p } else { &q };
        minus.check(&wide(x - y), &(&p - &q), larger, input);
        inverse.relative(&wide(x.recip()), &(&big(1.0) / &p), input);
    }
    for worst in [times, plus, minus, inverse] {
        worst.finish();
    }
}

/// Comparison is by a difference whose rounding must not turn it around.
#[test]
fn wide_comparisons() {
    let mut random = Random::new(38);
    for _ in 0..10_000 {
        let a = any(&mut random, 0.5, 2.0).abs();
        let b = near(&mut random, a).abs();
        let expected = dd(a).partial_cmp(&dd(b));
        assert_eq!(Wide::from(a).partial_cmp(&Wide::from(b)), expected, "{} {}", show(a), show(b));
        assert_eq!(a.partial_cmp(&b), expected, "{} {}", show(a), show(b));
    }
}

#[test]
fn wide_powers() {
    let mut random = Random::new(39);
    let mut worst = Worst::new("Wide::powi", two_to(-102));
    for _ in 0..2_000 {
        let base = any(&mut random, 0.01, 100.0).abs();
        let n = random.log_whole(1, 1_000_000);
        let truth = dd(base).powi(n);
        let allowed = &truth * &big(2.0 * n as f64);
        worst.check(&wide(Wide::from(base).powi(n)), &truth, &allowed, || {
            format!("{} to the {n}", show(base))
        });
    }
    worst.finish();
}

/// From far below the smallest double to near the largest.
#[test]
fn wide_to_double_rounds_outward() {
    let mut random = Random::new(40);
    for round in 0..20_000 {
        let mantissa = any(&mut random, 1.0, 2.0).abs();
        let exponent = match round % 4 {
            0 => random.below(140) as i64 - 1140,
            1 => random.below(30) as i64 - 1085,
            2 => random.below(22) as i64 + 1000,
            _ => random.below(2000) as i64 - 1000,
        };
        let slack = random.of(&[0.0, 1e-30, 1e-15, 1e-3, 0.5]);
        let x = Wide::new(mantissa, exponent);
        let truth = dd(mantissa).scaled(exponent as i32);
        let input = || format!("{} 2^{exponent} with slack {slack:e}", show(mantissa));
        let (upper, lower) = (x.upper(slack), x.lower(slack));
        let more = &truth * &(&big(1.0) + &big(slack));
        let less = &truth * &(&big(1.0) - &big(slack));
        assert!(upper.is_infinite() || big(upper) >= more, "upper: {upper:e} for {}", input());
        assert!(lower >= 0.0 && big(lower) <= less, "lower: {lower:e} for {}", input());
        if (-1000..1000).contains(&exponent) {
            let off = &(&big(upper) - &big(lower)) - &(&more - &less);
            assert!((&off / &truth).near() <= 16.0 * UNIT, "loose: {}", input());
        }
        let near = x.estimate();
        assert!(lower <= near && near <= upper, "estimate: {near:e} for {}", input());
    }
    assert!(Wide::ZERO.upper(0.1) <= 0.0 && Wide::ZERO.lower(0.1) <= 0.0);
}

/// Subnormal doubles are read exactly.
#[test]
fn wide_from_double_is_exact() {
    let mut random = Random::new(41);
    for round in 0..5_000 {
        let x = match round % 3 {
            0 => f64::from_bits(random.bits() >> 12),
            1 => random.log_uniform(1e-300, 1e300),
            _ => f64::from_bits(1 << random.below(52)),
        };
        assert!(wide(Wide::from(x)) == big(x), "{x:e}");
        assert!(Wide::from(x).upper(0.0) >= x && Wide::from(x).lower(0.0) <= x, "{x:e}");
    }
}

#[test]
fn turns() {
    let mut random = Random::new(42);
    let mut plain = Worst::new("turn", 16.0 * UNIT);
    let mut double = Worst::new("turn_dd", two_to(-96));
    let whole = Big::pi().scaled(1);
    for round in 0..6_000 {
        let bits = random.between(3, 60) as u32;
        let numerator = match round % 3 {
            0 => random.bits(),
            1 => random.below(8) * (1 << (bits - 3)) + random.below(5),
            _ => random.below(1 << bits),
        };
        // Reduced exactly, so that a numerator of 64 bits needs no care.
        let at = numerator & ((1 << bits) - 1);
        let angle = &whole
            * &(&big((at >> 30) as f64).scaled(30) + &big((at & 0x3fff_ffff) as f64))
                .scaled(-(bits as i32));
        let (cosine, sine) = (angle.cos(), angle.sin());
        let one = big(1.0);
        let input = || format!("{numerator} / 2^{bits}");
        let (c, s) = turn(numerator, bits);
        plain.check(&big(c), &cosine, &one, input);
        plain.check(&big(s), &sine, &one, input);
        if bits <= 50 {
            let (c, s) = turn_dd(numerator, bits);
            double.check(&dd(c), &cosine, &one, input);
            double.check(&dd(s), &sine, &one, input);
        }
    }
    plain.finish();
    double.finish();
}

#[test]
fn exponentials_in_doubles() {
    let mut random = Random::new(43);
    let mut power = Worst::new("exp", 2.0 * UNIT);
    for _ in 0..6_000 {
        let x = exponent(&mut random, 699.0).hi;
        power.relative(&big(exp(x)), &big(x).exp(), || format!("{x:e}"));
    }
    power.finish();
    assert!(exp(-800.0) <= 0.0 && exp(800.0).is_infinite());
}

#[test]
fn exponentials_less_one_in_doubles() {
    let mut random = Random::new(44);
    let mut less_one = Worst::new("expm1", 2.0 * UNIT);
    for round in 0..40_000 {
        let x = match round % 4 {
            0 => any(&mut random, 1e-300, 0.02).hi,
            1 => any(&mut random, 1e-4, 0.02).hi,
            2 => any(&mut random, 0.0156, 0.0157).hi,
            _ => exponent(&mut random, 699.0).hi,
        };
        less_one.relative(&big(expm1(x)), &precise_expm1(&big(x)), || format!("{x:e}"));
    }
    less_one.finish();
}

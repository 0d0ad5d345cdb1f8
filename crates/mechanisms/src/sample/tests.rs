//! Samplers against the laws they are made of, in numbers of any size; words that leave them open; and
//! what they take, whatever is drawn.

use super::big::tests::exp;
use super::words::script::{self, Cost};
use super::*;
use counterpoint_testing::{Random, tries};
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

fn ratio(x: f64) -> RBig {
    RBig::try_from(x).unwrap()
}

/// Words that are above every probability, and below; or nearly so.
const NEVER: u128 = u128::MAX;
const ALWAYS: u128 = 0;

const SCALES: [f64; 8] = [1e-6, 0.01, 0.3, 1.0, 10.5, 1234.567, 1e9, 1.2e24];
const SIGMAS: [f64; 8] = [1e-6, 0.03, 0.7, 1.0, 10.5, 1_500.123_456_789, 1e6, 3e12];

/// What the sampler's words must be to give these digits, lowest first, and no more.
fn digits(value: u128, count: usize) -> Vec<u128> {
    let mut words: Vec<u128> =
        (0..count).map(|place| if value >> place & 1 == 1 { ALWAYS } else { NEVER }).collect();
    words.push(NEVER);
    words
}

/// Every threshold, found by trying words, against the probability it stands for.
mod laws {
    use super::*;

    /// The first word for which it does not fall.
    fn threshold(toss: impl Fn(u128) -> bool) -> u128 {
        let (mut low, mut high) = (0_u128, u128::MAX);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if toss(middle) { low = middle } else { high = middle }
        }
        high
    }

    /// In units of 2^-128. A word on the threshold itself may be one more off, or two.
    fn near(found: u128, expected: &UBig, what: &str) {
        let found = UBig::from(found);
        let off = if found > *expected { &found - expected } else { expected - &found };
        assert!(off <= UBig::from(4_u8), "{what}: {found} {expected}");
    }

    /// Runs with these words, and halves where more are wanted.
    fn fallen<T>(words: Vec<u128>, run: impl FnOnce() -> T) -> T {
        let mut words = words.into_iter();
        script::with(move || Some(words.next().unwrap_or(1 << 127)), run).0
    }

    fn small(whole: Result<Whole, Error>) -> i128 {
        match whole.unwrap() {
            Whole::Small(x) => x,
            Whole::Large(x) => i128::try_from(x).unwrap(),
        }
    }

    /// The digits' probabilities, as the sampler has them, multiply to the geometric law: p_i/(1 - p_i) =
    /// e^(-2^i/s), and the product of 1 - p_i, with that of the far coin, is 1 - e^(-1/s).
    #[test]
    fn digits_multiply_to_the_geometric_law() {
        for scale in SCALES {
            let scale = ratio(scale);
            let law = Geometric::new(&scale);
            let count = law.count();
            let one = UBig::ONE << 128;
            let mut none = RBig::ONE;
            for place in 0..=count {
                let toss = |word: u128| {
                    let mut words = digits(0, count);
                    words[place] = word;
                    // The second number is zero.
                    words.extend(digits(0, count));
                    small(fallen(words, || laplace(&law))) >= 1 << place
                };
                let found = threshold(toss);
                let exponent = RBig::from(UBig::ONE << place) / &scale;
                let decay = exp(&exponent, 400);
                let digit = (&decay << 128) / ((UBig::ONE << 400) + &decay);
                let expected = if place == count { decay >> 272 } else { digit };
                near(found, &expected, &format!("{scale} {place}"));
                none *= RBig::from(&one - UBig::from(found)) / RBig::from(one.clone());
            }
            let expected = (UBig::ONE << 400) - exp(&(RBig::ONE / &scale), 400);
            let off = none * RBig::from(one) - RBig::from(expected >> 272);
            assert!(off.to_f64().value().abs() < 400.0, "{scale}: {off}");
        }
    }

    #[test]
    fn a_difference_of_two_is_discrete_laplace_noise() {
        // By summing the products of the masses, which the digits were shown to have.
        let decay = |scale: f64| (-1.0 / scale).exp();
        for scale in [0.3, 1.0, 4.0] {
            let mass = |x: i32| (1.0 - decay(scale)) * decay(scale).powi(x);
            for x in 0..20 {
                let found: f64 = (0..2000).map(|y| mass(x + y) * mass(y)).sum();
                let b = decay(scale);
                let expected = (1.0 - b) / (1.0 + b) * b.powi(x);
                assert!((found / expected - 1.0).abs() < 1e-12);
            }
        }
        // And by the words: the first number is counted up, the second one down.
        let law = Geometric::new(&ratio(5.0));
        let mut random = Random::new(4);
        for _ in 0..200 {
            let both = [random.below(500), random.below(500)].map(u128::from);
            let words = both.map(|value| digits(value, law.count())).concat();
            let (found, cost) = script::of(&words, || laplace(&law));
            assert_eq!(found, Ok(Whole::Small(both[0] as i128 - both[1] as i128)));
            assert_eq!((cost.calls, cost.words), (1, words.len() as u64));
        }
    }

    /// What a discrete Gaussian proposal is kept with, as the trial decides it.
    #[test]
    fn proposals_are_kept_as_often_as_they_should_be() {
        let mut random = Random::new(5);
        for sigma in SIGMAS {
            let exact = ratio(sigma);
            let law = Gaussian::new(&exact);
            let t = RBig::from(exact.floor()) + RBig::ONE;
            let proposal = Geometric::new(&t);
            for case in 0..10 {
                let y = match case {
                    0 => 0,
                    1 => 1,
                    2 => (1 << proposal.count()) - 1,
                    _ => random.log_uniform(1.0, 8.0 * sigma.max(1.0)) as u128,
                };
                let toss = |word: u128| {
                    let mut words =
                        [digits(y, proposal.count()), digits(0, proposal.count())].concat();
                    words.push(word);
                    // Where it is not kept the words of the next trial fail to come.
                    let (found, _) = script::of(&words, || gaussian(&law));
                    assert!(found.is_err() || found == Ok(Whole::Small(y as i128)));
                    found.is_ok()
                };
                let square = &exact * &exact;
                let apart = RBig::from(y) - &square / &t;
                let exponent = &apart * &apart / (RBig::from(2) * square);
                near(threshold(toss), &exp(&exponent, 128), &format!("{sigma} {y}"));
            }
        }
    }

    #[test]
    fn a_staircase_is_put_together_from_its_parts() {
        for (epsilon, period, cut) in
            [(1.0, 4, 1), (0.01, 1, 1), (40.0, 100, 3), (500.0, 9, 9), (1e-6, 1 << 53, 1 << 52)]
        {
            let inverse = RBig::ONE / ratio(epsilon);
            let law = Staircase::new(&inverse, period, cut);
            let count = Geometric::new(&inverse).count();
            // Whether it is near zero; which of those; which place on the level; the sign; the level.
            let draw = |core: u128, near: u128, place: u128, sign: u128, level: u128| {
                let mut words = vec![core, near, 0, place, 0, sign];
                words.extend(digits(level, count));
                small(fallen(words, || staircase(&law)))
            };
            let (half, most) = (1_u128 << 127, u128::MAX);
            let (whole_cut, whole_period) = (i128::from(cut), i128::from(period));
            assert_eq!(draw(0, 0, 0, 0, 0), 1 - whole_cut);
            assert_eq!(draw(0, most, 0, 1, 1), whole_cut - 1);
            assert_eq!(draw(0, half, most, 1, 0), 0);
            if epsilon < 80.0 {
                assert_eq!(draw(most, half, 0, 0, 0), whole_cut);
                assert_eq!(draw(most, half, most, 0, 0), whole_cut + whole_period - 1);
                assert_eq!(draw(most, half, 0, 1, 0), -whole_cut);
            }
            if epsilon < 2.0 {
                assert_eq!(
                    draw(most, half, half, 1, 2),
                    -whole_cut - 2 * whole_period - whole_period / 2
                );
            }
            // (2 cut - 1) / (2 cut - 1 + 2 period b / (1 - b)).
            let found = threshold(|word| draw(word, half, 0, 0, 0) == 0);
            let (one, b) = (UBig::ONE << 800, exp(&ratio(epsilon), 800));
            let near_zero = UBig::from(2 * cut - 1) * (one - &b);
            let expected =
                (&near_zero << 128) / (&near_zero + UBig::from(2_u8) * UBig::from(period) * b);
            near(found, &expected, &format!("{epsilon} {period} {cut}"));
        }
    }

    #[test]
    fn the_truth_and_the_leak_are_told_as_often_as_promised() {
        for (epsilon, others) in
            [(1.0, 2), (0.1, 9), (20.0, 999_999_999_999), (500.0, 6), (1e-6, 1)]
        {
            for leak in [0.0, 1e-300, 0.01, 0.75, 1.0 - 2.0_f64.powi(-53)] {
                let law = Response::new(ratio(epsilon), others, ratio(leak));
                let told = |words: [u128; 2]| {
                    fallen(vec![words[0], words[1], 0, 0], || response(&law)).unwrap()
                };
                let found = threshold(|word| told([NEVER, word]).truth == 1);
                let (one, b) = (UBig::ONE << 800, exp(&ratio(epsilon), 800));
                let expected = (&one << 128) / (&one + UBig::from(others) * b);
                near(found, &expected, &format!("{epsilon} {others}"));
                let found = threshold(|word| told([word, NEVER]).leaked == 1);
                near(
                    found,
                    &super::big::floor(&(ratio(leak) * RBig::from(UBig::ONE << 128))),
                    &format!("{leak}"),
                );
            }
        }
    }

    #[test]
    fn each_of_so_many_has_as_many_words() {
        for n in [1_u64, 2, 3, 7, 1 << 53, u64::MAX] {
            let found = |word: u128| fallen(vec![], || uniform::below(n, [word, 0])).unwrap();
            let mut random = Random::new(n);
            for value in [0, n / 3, n - 1, random.below(n)] {
                // The first word whose number is the value or more.
                let first = threshold(|word| found(word) < value);
                near(first, &((UBig::from(value) << 128) / UBig::from(n)), &format!("{n} {value}"));
            }
        }
    }

    /// Where the choice goes from one place to the next, as a share of all weights, to 128 bits.
    #[test]
    fn choices_have_the_weights_of_their_scores() {
        let mut random = Random::new(6);
        for case in 0..12 {
            let (rate, spread) = match case {
                0 => (ratio(250.0), 3),
                1 => (ratio(500.0) / RBig::from(3), 2),
                2 => (ratio(2.0_f64.powi(-20)) / RBig::from(1_u64 << 54), u64::MAX),
                3 => (ratio(1e-6), u64::MAX),
                _ => (ratio(random.log_uniform(1e-3, 3.0)) / RBig::from(random.between(1, 9)), 60),
            };
            let law = Weights::new(rate.clone());
            let scores: Vec<i64> = (0..random.between(1, 12))
                .map(|_| i64::MIN.wrapping_add_unsigned(random.bits() % spread))
                .collect();
            let best = *scores.iter().max().unwrap();
            let weights: Vec<UBig> = scores
                .iter()
                .map(|score| exp(&(RBig::from(best.abs_diff(*score)) * &rate), 400))
                .collect();
            let whole: UBig = weights.iter().sum();
            let mut sum = UBig::ZERO;
            for (place, weight) in weights.iter().enumerate() {
                let choice = |word: u128| fallen(vec![word, 0], || choose(&law, &scores)).unwrap();
                sum += weight;
                if place + 1 < scores.len() {
                    let found = threshold(|word| choice(word) <= place);
                    near(found, &((&sum << 128) / &whole), &format!("{rate} {scores:?} {place}"));
                }
            }
        }
    }
}

/// Words that share all their bits with a probability: the same number goes on.
mod open {
    use super::*;

    /// The first 128 bits of p, and the next.
    fn bits(p: &RBig) -> (u128, u128) {
        let scaled = big::floor(&(p * RBig::from(UBig::ONE << 256)));
        let low = UBig::from(u128::MAX);
        (u128::try_from(&scaled >> 128).unwrap(), u128::try_from(scaled & low).unwrap())
    }

    /// e^-x as a ratio, with more bits than are looked at.
    fn decay(x: &RBig) -> RBig {
        RBig::from(exp(x, 600)) / RBig::from(UBig::ONE << 600)
    }

    /// Runs with an open word and then with words below and above those that p goes on with.
    fn goes_on<T: PartialEq + std::fmt::Debug>(
        before: &[u128],
        p: &RBig,
        after: &[u128],
        run: impl Fn() -> T,
        [below, above]: [T; 2],
    ) {
        let (first, next) = bits(p);
        for (next, expected) in
            [(next - 1, &below), (next.wrapping_add(2), &above), (0, &below), (u128::MAX, &above)]
        {
            let words = [before, &[first], after, &[next]].concat();
            let (found, cost) = script::of(&words, &run);
            assert_eq!(found, *expected, "{p:?}");
            // One call for the draw, and one for one word more.
            assert_eq!((cost.calls, cost.words), (2, words.len() as u64), "{p:?}");
        }
    }

    #[test]
    fn digits() {
        for scale in [0.3, 10.5, 1e9] {
            let scale = ratio(scale);
            let law = Geometric::new(&scale);
            let count = law.count();
            for place in [0, count / 2, count.saturating_sub(6)] {
                let b = decay(&(RBig::from(UBig::ONE << place) / &scale));
                let p = &b / (RBig::ONE + &b);
                let before = vec![NEVER; place];
                let after = vec![NEVER; count - place + count + 1];
                let one = Ok(Whole::Small(1 << place));
                goes_on(&before, &p, &after, || laplace(&law), [one, Ok(Whole::Small(0))]);
            }
        }
    }

    /// There are more digits once in 2^128 times, and then the law starts again.
    #[test]
    fn far_away() {
        let scale = ratio(3.0);
        let law = Geometric::new(&scale);
        let (count, half) = (law.count(), 1_u128 << 127);
        assert_eq!(count, 9);
        let p = decay(&(RBig::from(512) / &scale));
        let (first, second) = bits(&p);
        assert_eq!(first, 0);
        let third = u128::try_from(
            big::floor(&(&p * RBig::from(UBig::ONE << 384))) & UBig::from(u128::MAX),
        )
        .unwrap();
        let words = |more: &[u128]| {
            [&super::digits(5, count)[..count], &[first], &super::digits(1, count), more].concat()
        };
        // Once: 0 below the first 256 bits of p; then a fresh number that is above.
        let once = Ok(Whole::Large(IBig::from(512 + 5 - 1)));
        assert_eq!(script::of(&words(&[second - 1, half]), || laplace(&law)).0, once);
        assert_eq!(script::of(&words(&[second, third - 1, half]), || laplace(&law)).0, once);
        // Twice.
        let twice = Ok(Whole::Large(IBig::from(1024 + 5 - 1)));
        assert_eq!(
            script::of(&words(&[second - 1, first, second - 1, half]), || laplace(&law)).0,
            twice
        );
        // Not at all.
        assert_eq!(script::of(&words(&[second + 1]), || laplace(&law)).0, Ok(Whole::Small(4)));
        assert_eq!(
            script::of(&words(&[second, third + 2]), || laplace(&law)).0,
            Ok(Whole::Small(4))
        );
        // As a proposal for Gaussian noise it is kept with e^-E: here not, and then the next trial is 7.
        let law = Gaussian::new(&ratio(2.5));
        let seven = [super::digits(7, count), super::digits(0, count), vec![0]].concat();
        let mut all = words(&[]);
        all.extend([half, second - 1, half]);
        all.extend(seven);
        assert_eq!(script::of(&all, || gaussian(&law)).0, Ok(Whole::Small(7)));
        // A level that far of a staircase of period 10 counts if it is not the middle that is kept.
        let law = Staircase::new(&scale, 10, 2);
        let parts = |core: u128, sign: u128| {
            let level = [&super::digits(5, count)[..count], &[first, second - 1, half]].concat();
            [&[core, half, 0, 0, 0, sign][..], &level].concat()
        };
        let level = 517 * 10 + 2;
        assert_eq!(
            script::of(&parts(NEVER, 0), || staircase(&law)).0,
            Ok(Whole::Large(IBig::from(level)))
        );
        assert_eq!(
            script::of(&parts(NEVER, 1), || staircase(&law)).0,
            Ok(Whole::Large(IBig::from(-level)))
        );
        assert_eq!(script::of(&parts(ALWAYS, 1), || staircase(&law)).0, Ok(Whole::Small(0)));
    }

    #[test]
    fn proposals() {
        for sigma in [0.7, 10.5, 1e6] {
            let exact = ratio(sigma);
            let t = RBig::from(exact.floor()) + RBig::ONE;
            let (law, count) = (Gaussian::new(&exact), Geometric::new(&t).count());
            let square = &exact * &exact;
            let apart = RBig::from(1) - &square / &t;
            let p = decay(&(&apart * &apart / (RBig::from(2) * square)));
            let before = [super::digits(1, count), super::digits(0, count)].concat();
            let kept = || gaussian(&law).is_ok();
            // What is not kept is tried again, for which there are no words: the third call fails.
            let (first, next) = bits(&p);
            for (next, expected) in
                [(next - 1, true), (0, true), (next + 2, false), (u128::MAX, false)]
            {
                let words = [&before[..], &[first, next]].concat();
                let (found, cost) = script::of(&words, kept);
                assert_eq!((found, cost.calls), (expected, if expected { 2 } else { 3 }));
            }
        }
    }

    #[test]
    fn responses_and_staircases() {
        let (one, epsilon) = (RBig::ONE, ratio(1.5));
        let b = decay(&epsilon);
        let p = &one / (&one + RBig::from(3) * &b);
        let law = Response::new(epsilon.clone(), 3, RBig::ZERO);
        let told = |truth| Ok(Told { leaked: 0, truth, other: 1 });
        let third = (u128::MAX / 3) + 1;
        goes_on(&[0], &p, &[third, 0], || response(&law), [told(1), told(0)]);
        // A leak of 2^-200 has no bits among the first 128.
        let rare = ratio(2.0_f64.powi(-200));
        let law = Response::new(epsilon.clone(), 3, rare);
        let leaked = |next: u128| {
            script::of(&[0, 0, third, 0, next], || response(&law)).0.unwrap().leaked == 1
        };
        assert!(leaked(0) && leaked((1 << 56) - 1) && !leaked(1 << 56));
        let law = Staircase::new(&(&one / &epsilon), 4, 2);
        let p = RBig::from(3) * (&one - &b) / (RBig::from(3) * (&one - &b) + RBig::from(8) * &b);
        let count = Geometric::new(&(&one / &epsilon)).count();
        let after = [&[1 << 127, 0, 0, 0, 0][..], &super::digits(0, count)].concat();
        let draw = || staircase(&law);
        goes_on(&[], &p, &after, draw, [Ok(Whole::Small(0)), Ok(Whole::Small(2))]);
    }

    /// A number just below a third goes on with ones: only its last bits tell.
    #[test]
    fn uniform_numbers() {
        let third = u128::MAX / 3; // 0101...
        for (last, expected) in [(third, 0), (third + 1, 1), (0, 0), (u128::MAX, 1)] {
            let draw = || uniform::below(3, [third, third]);
            let (found, cost) = script::of(&[last, 0], draw);
            // Where it goes on as a third does, one more word is wanted.
            assert_eq!((found, cost.words), (Ok(expected), if last == third { 2 } else { 1 }));
        }
        // The 192 bits that are looked at first leave it open; the words hold 64 more.
        let draw = |last: u128| uniform::below(3, [third, (third >> 64 << 64) + last]);
        assert_eq!(script::of(&[], || draw(0)), (Ok(0), Cost { steps: 2, ..Cost::default() }));
        assert_eq!(script::of(&[], || draw(u64::MAX.into())).0, Ok(1));
        assert_eq!(script::of(&[], || uniform::below(1, [u128::MAX; 2])).0, Ok(0));
    }

    /// The number that is compared with the sums is never drawn again.
    #[test]
    fn choices() {
        let rate = ratio(0.37) / RBig::from(2);
        let law = Weights::new(rate.clone());
        let scores = [5, 9, 7, 9, -100];
        let weights = scores.map(|score| decay(&(RBig::from(9_i64.abs_diff(score)) * &rate)));
        let whole = weights.iter().fold(RBig::ZERO, |sum, weight| sum + weight);
        let mut sum = RBig::ZERO;
        for (place, weight) in weights.iter().enumerate().take(4) {
            sum += weight;
            let p = &sum / &whole;
            let all = big::floor(&(&p * RBig::from(UBig::ONE << 512)));
            let word = |at: usize| {
                u128::try_from((&all >> (384 - 128 * at)) & UBig::from(u128::MAX)).unwrap()
            };
            let chosen = |words: &[u128]| script::of(words, || choose(&law, &scores));
            // The words themselves, a little less and more, by what five weights may be off; and what follows.
            let [first, second, third, fourth] = [0, 1, 2, 3].map(word);
            assert_eq!(chosen(&[first, second - 64]).0, Ok(place));
            assert_eq!(chosen(&[first, second + 64]).0, Ok(place + 1));
            for (next, expected) in
                [(third - 64, place), (third + 64, place + 1), (0, place), (u128::MAX, place + 1)]
            {
                let (found, cost) = chosen(&[first, second, next]);
                assert_eq!((found, cost.words, cost.calls), (Ok(expected), 3, 2));
            }
            let (found, cost) = chosen(&[first, second, third, fourth - 64]);
            assert_eq!((found, cost.words), (Ok(place), 4));
            assert_eq!(chosen(&[first, second, third, fourth + 64]).0, Ok(place + 1));
        }
        // Before the first score's weight, which has no bits among 192, nothing is below it for certain.
        let far = Weights::new(ratio(1.0));
        let weight = decay(&RBig::from(150));
        let p = &weight / (RBig::ONE + &weight);
        let all = big::floor(&(&p * RBig::from(UBig::ONE << 256)));
        let second = u128::try_from(all).unwrap();
        let chosen = |second: u128| script::of(&[0, second], || choose(&far, &[0, 150])).0;
        assert_eq!(
            [chosen(0), chosen(second - 64), chosen(second + 64), chosen(1 << 100)],
            [Ok(0), Ok(0), Ok(1), Ok(1)]
        );
    }
}

/// As many words and steps, whatever is drawn.
mod cost {
    use super::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// What runs with words of every kind take. Words are fair, or all ones or zeros in places, but for
    /// the one bit that keeps them from being on a threshold that is nearly zero or one.
    fn costs<T>(run: impl Fn() -> T) -> BTreeSet<Cost> {
        let fair = (0..tries(20_000, 0.1)).map(|seed| script::seeded(seed, &run).1);
        let steep = (0..tries(2_000, 0.1)).map(|seed| {
            let mut random = Random::new(seed);
            let word = move || {
                let any = (u128::from(random.bits()) << 64) + u128::from(random.bits());
                Some(random.of(&[any, any, (any >> 20) | 1 << 90, !(any >> 20) & !(1 << 90)]))
            };
            script::with(word, &run).1
        });
        fair.chain(steep).collect()
    }

    fn alike(what: &str, words: usize, found: BTreeSet<Cost>) {
        assert_eq!(found.len(), 1, "{what}: {found:?}");
        for cost in found {
            assert_eq!((cost.calls, cost.words), (1, words as u64), "{what}: {cost:?}");
            assert!(cost.steps > 0, "{what}");
        }
    }

    #[test]
    fn laplace_and_staircase_noise() {
        for scale in SCALES {
            let law = Geometric::new(&ratio(scale));
            alike(&format!("{scale}"), 2 * law.words(), costs(|| laplace(&law).unwrap()));
        }
        for epsilon in [2.0_f64.powi(-20), 0.1, 1.0, 500.0] {
            let inverse = RBig::ONE / ratio(epsilon);
            let law = Staircase::new(&inverse, 1000, 200);
            let words = 6 + Geometric::new(&inverse).words();
            alike(&format!("{epsilon}"), words, costs(|| staircase(&law).unwrap()));
        }
    }

    #[test]
    fn responses() {
        for (epsilon, others, leak) in
            [(1.0, 1, 0.0), (0.1, 3, 0.0), (20.0, 99, 0.1), (500.0, 1, 1e-9)]
        {
            let law = Response::new(ratio(epsilon), others, ratio(leak));
            alike(&format!("{epsilon} {others} {leak}"), 4, costs(|| response(&law).unwrap()));
        }
    }

    /// Scores that are all alike, far apart, or at the ends of what there is: the same for all of them.
    #[test]
    fn choices_whatever_the_scores() {
        for rate in [250.0, 1.0, 2.0_f64.powi(-74)] {
            let law = Weights::new(ratio(rate));
            let mut all = BTreeSet::new();
            for scores in [
                [0; 6],
                [0, 1, 2, 3, 4, 5],
                [i64::MIN, i64::MAX, 0, 0, 1, -1],
                [9, -9, 9, -9, 9, i64::MIN],
            ] {
                for seed in 0..tries(2_000, 0.1) {
                    let (place, cost) = script::seeded(seed, || choose(&law, &scores));
                    assert!(place.unwrap() < 6);
                    all.insert(cost);
                }
            }
            alike(&format!("{rate}"), 2, all);
        }
    }

    /// Each trial takes as much, whether it is kept or not.
    #[test]
    fn gaussian_trials() {
        for sigma in SIGMAS {
            let law = Gaussian::new(&ratio(sigma));
            let each: BTreeSet<[u64; 2]> = costs(|| gaussian(&law).unwrap())
                .into_iter()
                .map(|Cost { calls, words, steps }| {
                    assert_eq!((words % calls, steps % calls), (0, 0));
                    [words / calls, steps / calls]
                })
                .collect();
            assert_eq!(each.len(), 1, "{sigma}: {each:?}");
        }
    }

    /// How many trials there were, against what came of them: independent, by chi-square over |noise| below
    /// and above the median and one, two, three or more trials.
    #[test]
    fn the_number_of_trials_tells_nothing() {
        let law = Gaussian::new(&ratio(10.5));
        let mut table: BTreeMap<(bool, u64), f64> = BTreeMap::new();
        let runs = tries(400_000, 0.05);
        for seed in 0..runs {
            let (noise, cost) = script::seeded(seed, || gaussian(&law));
            let Ok(Whole::Small(noise)) = noise else { panic!() };
            *table.entry((noise.abs() < 8, cost.calls.min(3))).or_default() += 1.0;
        }
        let runs = runs as f64;
        let total = |is: &dyn Fn(&(bool, u64)) -> bool| -> f64 {
            table.iter().filter(|(cell, _)| is(cell)).map(|(_, count)| count).sum()
        };
        let part = |(cell, count): (&(bool, u64), &f64)| {
            let expected =
                total(&|other| other.0 == cell.0) * total(&|other| other.1 == cell.1) / runs;
            (count - expected).powi(2) / expected
        };
        let square: f64 = table.iter().map(part).sum();
        // Two degrees of freedom: more than 28 once in 10^6 runs; the words are the same in every run.
        assert!(table.len() == 6 && square < 28.0, "{square}: {table:?}");
    }
}

#[test]
fn ends_of_words_and_of_legal_scales() {
    for scale in [2.0_f64.powi(-20), 2.0_f64.powi(80)] {
        let law = Geometric::new(&ratio(scale));
        assert!(matches!(laplace(&law), Ok(Whole::Small(_))));
        assert!(2 * law.words() < 192);
    }
    for sigma in [2.0_f64.powi(-20), 2.0_f64.powi(79).next_down()] {
        assert!(matches!(gaussian(&Gaussian::new(&ratio(sigma))), Ok(Whole::Small(_))));
    }
    let law = Geometric::new(&ratio(1.0));
    let (failed, _) = script::of(&[0; 3], || laplace(&law));
    assert!(matches!(failed, Err(Error::Randomness { .. })));
}

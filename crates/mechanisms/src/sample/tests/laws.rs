//! Every threshold, found by trying words, against its probability.

use super::*;

/// The first word for which the toss fails.
fn threshold(toss: impl Fn(u128) -> bool) -> u128 {
    let (mut low, mut high) = (0_u128, u128::MAX);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if toss(middle) { low = middle } else { high = middle }
    }
    high
}

/// Compares in units of 2^-128. A word on the threshold itself may add an error of one or two.
fn near(found: u128, expected: &UBig, what: &str) {
    let found = UBig::from(found);
    let off = if found > *expected { &found - expected } else { expected - &found };
    assert!(off <= UBig::from(4_u8), "{what}: {found} {expected}");
}

/// Runs with these words, then with one half if more words are needed.
fn fallen<T>(words: Vec<u128>, run: impl FnOnce() -> T) -> T {
    let mut words = words.into_iter();
    script::with(move || Some(words.next().unwrap_or(1 << 127)), run).0
}

fn small(whole: Result<WholeNumber, Error>) -> i128 {
    match whole.unwrap() {
        WholeNumber::Small(x) => x,
        WholeNumber::Large(x) => i128::try_from(x).unwrap(),
    }
}

/// The digits' probabilities in the sampler multiply to the geometric law: p_i/(1 - p_i) = e^(-2^i/s), and the product
/// of 1 - p_i, with that of the far coin, is 1 - e^(-1/s).
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
    // The same by words: the first number counts up, the second one down.
    let law = Geometric::new(&ratio(5.0));
    let mut random = Random::new(4);
    for _ in 0..200 {
        let both = [random.below(500), random.below(500)].map(u128::from);
        let words = both.map(|value| digits(value, law.count())).concat();
        let (found, cost) = script::of(&words, || laplace(&law));
        assert_eq!(found, Ok(WholeNumber::Small(both[0] as i128 - both[1] as i128)));
        assert_eq!((cost.calls, cost.words), (1, words.len() as u64));
    }
}

/// The probability that a discrete Gaussian proposal is accepted, as the trial decides.
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
                let mut words = [digits(y, proposal.count()), digits(0, proposal.count())].concat();
                words.push(word);
                // If the proposal is rejected, the words for the next trial are missing and the draw fails.
                let (found, _) = script::of(&words, || gaussian(&law));
                assert!(found.is_err() || found == Ok(WholeNumber::Small(y as i128)));
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
        // The words decide: whether the value is in the middle, the position there, the position on the level, the
        // sign, the level.
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
    for (epsilon, others) in [(1.0, 2), (0.1, 9), (20.0, 999_999_999_999), (500.0, 6), (1e-6, 1)] {
        for leak in [0.0, 1e-300, 0.01, 0.75, 1.0 - 2.0_f64.powi(-53)] {
            let law = ResponseSampler::new(ratio(epsilon), others, ratio(leak));
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
            // The first word whose number is at least the value.
            let first = threshold(|word| found(word) < value);
            near(first, &((UBig::from(value) << 128) / UBig::from(n)), &format!("{n} {value}"));
        }
    }
}

/// The boundaries between choices, as a share of all weights, to 128 bits.
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

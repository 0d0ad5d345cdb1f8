//! Words that share all their bits with a probability, so that more bits of the same number are drawn.

use super::*;

/// The first 128 bits of p, and the next 128.
fn bits(p: &RBig) -> (u128, u128) {
    let scaled = big::floor(&(p * RBig::from(UBig::ONE << 256)));
    let low = UBig::from(u128::MAX);
    (u128::try_from(&scaled >> 128).unwrap(), u128::try_from(scaled & low).unwrap())
}

/// e^-x as a ratio, with more bits than the tests use.
fn decay(x: &RBig) -> RBig {
    RBig::from(exp(x, 600)) / RBig::from(UBig::ONE << 600)
}

/// Runs with an undecided word, then with words below and above the next bits of p.
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
        // One call for the draw, and one for one more word.
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
            let one = Ok(WholeNumber::Small(1 << place));
            goes_on(&before, &p, &after, || laplace(&law), [one, Ok(WholeNumber::Small(0))]);
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
    let third =
        u128::try_from(big::floor(&(&p * RBig::from(UBig::ONE << 384))) & UBig::from(u128::MAX))
            .unwrap();
    let words = |more: &[u128]| {
        [&super::digits(5, count)[..count], &[first], &super::digits(1, count), more].concat()
    };
    // One repetition: 0 is below the next 128 bits of p; then a fresh number is above.
    let once = Ok(WholeNumber::Large(IBig::from(512 + 5 - 1)));
    assert_eq!(script::of(&words(&[second - 1, half]), || laplace(&law)).0, once);
    assert_eq!(script::of(&words(&[second, third - 1, half]), || laplace(&law)).0, once);
    // Two repetitions.
    let twice = Ok(WholeNumber::Large(IBig::from(1024 + 5 - 1)));
    assert_eq!(
        script::of(&words(&[second - 1, first, second - 1, half]), || laplace(&law)).0,
        twice
    );
    // No repetition.
    assert_eq!(script::of(&words(&[second + 1]), || laplace(&law)).0, Ok(WholeNumber::Small(4)));
    assert_eq!(
        script::of(&words(&[second, third + 2]), || laplace(&law)).0,
        Ok(WholeNumber::Small(4))
    );
    // As a proposal for Gaussian noise it is accepted with probability e^-E; here it is rejected, and the next trial
    // gives 7.
    let law = Gaussian::new(&ratio(2.5));
    let seven = [super::digits(7, count), super::digits(0, count), vec![0]].concat();
    let mut all = words(&[]);
    all.extend([half, second - 1, half]);
    all.extend(seven);
    assert_eq!(script::of(&all, || gaussian(&law)).0, Ok(WholeNumber::Small(7)));
    // Such a level of a staircase of period 10 counts if the middle is not selected.
    let law = Staircase::new(&scale, 10, 2);
    let parts = |core: u128, sign: u128| {
        let level = [&super::digits(5, count)[..count], &[first, second - 1, half]].concat();
        [&[core, half, 0, 0, 0, sign][..], &level].concat()
    };
    let level = 517 * 10 + 2;
    assert_eq!(
        script::of(&parts(NEVER, 0), || staircase(&law)).0,
        Ok(WholeNumber::Large(IBig::from(level)))
    );
    assert_eq!(
        script::of(&parts(NEVER, 1), || staircase(&law)).0,
        Ok(WholeNumber::Large(IBig::from(-level)))
    );
    assert_eq!(script::of(&parts(ALWAYS, 1), || staircase(&law)).0, Ok(WholeNumber::Small(0)));
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
        // A rejected proposal is followed by another trial, which has no words: the third call fails.
        let (first, next) = bits(&p);
        for (next, expected) in [(next - 1, true), (0, true), (next + 2, false), (u128::MAX, false)]
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
    let law = ResponseSampler::new(epsilon.clone(), 3, RBig::ZERO);
    let told = |truth| Ok(ResponseDraw { leaked: 0, truth, other: 1 });
    let third = (u128::MAX / 3) + 1;
    goes_on(&[0], &p, &[third, 0], || response(&law), [told(1), told(0)]);
    // A leak of 2^-200 has no bits among the first 128.
    let rare = ratio(2.0_f64.powi(-200));
    let law = ResponseSampler::new(epsilon.clone(), 3, rare);
    let leaked =
        |next: u128| script::of(&[0, 0, third, 0, next], || response(&law)).0.unwrap().leaked == 1;
    assert!(leaked(0) && leaked((1 << 56) - 1) && !leaked(1 << 56));
    let law = Staircase::new(&(&one / &epsilon), 4, 2);
    let p = RBig::from(3) * (&one - &b) / (RBig::from(3) * (&one - &b) + RBig::from(8) * &b);
    let count = Geometric::new(&(&one / &epsilon)).count();
    let after = [&[1 << 127, 0, 0, 0, 0][..], &super::digits(0, count)].concat();
    let draw = || staircase(&law);
    goes_on(&[], &p, &after, draw, [Ok(WholeNumber::Small(0)), Ok(WholeNumber::Small(2))]);
}

/// A number just below a third continues with ones: only its last bits decide.
#[test]
fn uniform_numbers() {
    let third = u128::MAX / 3; // 0101...
    for (last, expected) in [(third, 0), (third + 1, 1), (0, 0), (u128::MAX, 1)] {
        let draw = || uniform::below(3, [third, third]);
        let (found, cost) = script::of(&[last, 0], draw);
        // If it continues like a third, one more word is needed.
        assert_eq!((found, cost.words), (Ok(expected), if last == third { 2 } else { 1 }));
    }
    // The first 192 bits leave it undecided; the words hold 64 more.
    let draw = |last: u128| uniform::below(3, [third, (third >> 64 << 64) + last]);
    assert_eq!(script::of(&[], || draw(0)), (Ok(0), Cost { steps: 2, ..Cost::default() }));
    assert_eq!(script::of(&[], || draw(u64::MAX.into())).0, Ok(1));
    assert_eq!(script::of(&[], || uniform::below(1, [u128::MAX; 2])).0, Ok(0));
}

/// The number that is compared with the sums is never redrawn.
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
        let word =
            |at: usize| u128::try_from((&all >> (384 - 128 * at)) & UBig::from(u128::MAX)).unwrap();
        let chosen = |words: &[u128]| script::of(words, || choose(&law, &scores));
        // The words themselves, and slightly smaller and larger ones within the error of five weights; and the next
        // bits.
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
    // For the first score's weight, which is zero in 192 bits, nothing is certainly below.
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

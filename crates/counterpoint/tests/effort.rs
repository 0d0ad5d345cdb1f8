//! Aims and promises: what is wider than the tolerance says so, or is an error that carries the best.

use crate::common::mechanisms::*;
use counterpoint::Route;
use counterpoint::ask::AskError;
use counterpoint::{Answer, Bracket, Delta, Epsilon, Options, Plan, RequestedEnds, Tolerance};

fn promised(tolerance: f64) -> Options<'static> {
    Options { tolerance: Tolerance::new(tolerance).unwrap(), ..Options::default() }
}

fn at(delta: f64) -> Delta {
    Delta::new(delta).unwrap()
}

/// An epsilon of 3e-7 is known to 4e-5 of itself at best; concentrated privacy to a few percent.
#[test]
fn a_missed_aim_is_an_answer_and_a_missed_promise_an_error_that_carries_it() {
    let rare = plan(&[sampled(10_000, gaussian(4.0, 1.0), 1e-6)]);
    let concentrated = plan(&[times(3, zcdp(0.1))]);
    let unknown = plan(&[times(5, exponential(0.3)), times(1, laplace(2.0, 1.0))]);
    for (plan, delta) in [(rare, 1e-5), (concentrated, 1e-6), (unknown, 1e-6)] {
        let aimed = plan.epsilon(at(delta), &Options::default()).unwrap();
        assert!(aimed.wide && aimed.bracket.relative_width() > 1e-6, "{aimed:?}");
        match plan.epsilon(at(delta), &promised(1e-6)) {
            Err(AskError::ToleranceNotMet { asked, achieved, best: Some(best) }) => {
                assert!((asked - 1e-6).abs() < 1e-20 && best == aimed);
                assert!((achieved - aimed.bracket.relative_width()).abs() < 1e-15);
            }
            answer => panic!("{answer:?}"),
        }
        let loose = plan.epsilon(at(delta), &promised(0.1)).unwrap();
        assert!(!loose.wide && loose.bracket.overlaps(&aimed.bracket));
    }
}

#[test]
fn what_keeps_the_tolerance_is_not_marked() {
    let plan = plan(&[times(30, gaussian(5.0, 1.0)), times(20, laplace(10.0, 1.0))]);
    assert!(!plan.epsilon(at(1e-6), &Options::default()).unwrap().wide);
    assert!(!plan.epsilon(at(1e-6), &promised(1e-9)).unwrap().wide);
}

/// Near zero an absolute width of 1e-12 keeps the promise, but is marked where it is wide.
#[test]
fn next_to_nothing_is_narrow() {
    let plan = plan(&[times(2, laplace(1.0, 1.0))]);
    let delta = plan.delta(Epsilon::new(2.0).unwrap(), &promised(1e-6)).unwrap();
    // The width is the rounding of the largest loss, which this epsilon is.
    assert!(delta.bracket.upper <= 1e-25 && !delta.wide);
}

fn delta_of(sigma: f64, epsilon: f64) -> Bracket {
    let plan = plan(&[times(1, gaussian(sigma, 1.0))]);
    plan.delta(Epsilon::new(epsilon).unwrap(), &promised(1e-6)).unwrap().bracket
}

/// Q(e/mu - mu/2) - e^e Q(e/mu + mu/2) in 120 digits.
#[test]
fn faint_gaussians_have_the_formulas_delta() {
    let list = [
        (1e20, 0.0, 3.989_422_804_014_327e-21),
        (1e20, 1e-20, 8.331_547_058_768_63e-22),
        (1e20, 5e-20, 5.346_165_533_832_818e-28),
        (1e50, 1e-50, 8.331_547_058_768_628e-52),
        (3e4, 2e-5, 5.622_480_632_163_186e-6),
        (1e5, 1.2e-4, 1.460_607_750_802_541_7e-39),
        (1e9, 2e-8, 1.370_012_508_429_693_4e-99),
    ];
    for (sigma, epsilon, truth) in list {
        let bracket = delta_of(sigma, epsilon);
        let (low, high) = (truth * (1.0 - 1e-15), truth * (1.0 + 1e-15));
        assert!(bracket.lower <= high && low <= bracket.upper, "{sigma} {epsilon}: {bracket}");
        // Off by 1 % it would be outside.
        assert!(bracket.relative_width() < 1e-6, "{sigma} {epsilon}: {bracket}");
    }
    assert!(delta_of(1e20, 1e-3).upper < 1e-300);
}

/// The roots of the same formula.
#[test]
fn faint_gaussians_have_the_formulas_epsilon() {
    let list = [
        (1e20, 1e-30, 6.070_461_369_085_982e-20),
        (1e50, 1e-53, 2.717_805_515_231_757e-50),
        (1e6, 1e-8, 1.938_356_675_940_721e-6),
        (2e4, 1e-10, 2.139_601_972_399_884_5e-4),
        (1e12, 1e-15, 2.717_805_515_232_170_7e-12),
    ];
    for (sigma, delta, truth) in list {
        // The same noise in four releases.
        for plan in [
            plan(&[times(1, gaussian(sigma, 1.0))]),
            plan(&[times(3, gaussian(2.0 * sigma, 1.0)), times(1, gaussian(2.0 * sigma, 1.0))]),
        ] {
            let answer = plan.epsilon(at(delta), &Options::default()).unwrap();
            let Bracket { lower, upper } = answer.bracket;
            assert!(answer.route == Route::SmallMu && !answer.wide, "{answer:?}");
            assert!(lower <= truth * (1.0 + 1e-15) && truth * (1.0 - 1e-15) <= upper, "{answer:?}");
        }
    }
}

/// A contour shares nothing with the formula but the question.
#[test]
fn faint_gaussians_agree_with_contours_where_both_do() {
    for sigma in [1.1e4, 3e4] {
        let plan = plan(&[times(1, gaussian(sigma, 1.0))]);
        let by = |route| {
            let options = Options { route: Some(route), ..Options::default() };
            plan.delta(Epsilon::new(1e-5).unwrap(), &options).unwrap().bracket
        };
        let (formula, contour) = (by(Route::SmallMu), by(Route::Contour));
        assert!(formula.overlaps(&contour), "{formula} {contour}");
        assert!(formula.relative_width() < 1e-6 && contour.relative_width() < 1e-2);
    }
}

/// Mass that underflows has a loss below the largest loss, which is the answer without a delta.
#[test]
fn pure_mechanisms_have_their_largest_loss_at_delta_zero() {
    let list = [
        (geometric(1e-3, 5), 5000.0),
        (geometric(1e-2, 9), 900.0),
        (staircase(1.0, Some(0.5)), 1.0),
        (staircase(40.0, None), 40.0),
        (response(400.0, 1000), 400.0),
    ];
    for (mechanism, epsilon) in list {
        let plan = plan(&[times(3, mechanism)]);
        let answer = plan.epsilon(at(0.0), &Options::default()).unwrap();
        let truth = 3.0 * epsilon;
        let Bracket { lower, upper } = answer.bracket;
        assert!(lower <= truth && truth <= upper && upper - lower < 1e-12 * truth, "{answer:?}");
    }
}

/// Divergences of the discrete Gaussian are below a Gaussian's; the answer is above the truth, which a
/// Gaussian of the same sigma is near, and has no lower end to be wrong.
#[test]
fn discrete_gaussians_are_answered_where_they_cannot_be_listed() {
    let gaussian_of = |delta: f64, sigma: f64| {
        let plan = plan(&[times(1, gaussian(sigma, 1.0))]);
        plan.epsilon(at(delta), &Options::default()).unwrap().bracket.lower
    };
    for (sigma, delta) in [(2e4, 1e-6), (5.0, 1e-249), (5.0, 1e-300), (1e6, 1e-10)] {
        let plan = plan(&[times(1, discrete_gaussian(sigma, 1))]);
        let answer = plan.epsilon(at(delta), &Options::default()).unwrap();
        let near = gaussian_of(delta, sigma);
        let ratio = answer.bracket.upper / near;
        assert!(answer.wide && answer.bracket.lower <= 0.0, "{answer:?}");
        assert!((1.0..1.5).contains(&ratio), "{sigma} {delta:e}: {ratio}");
    }
}

/// Best of two-outcome mechanisms by brute force over which of them, and over all outcomes: for ten of
/// range 0.1 at 1e-6, 0.62863609 with losses of 0.7535 and -0.2465 of the range.
#[test]
fn exponential_mechanisms_have_a_lower_end_that_is_met() {
    let ten = plan(&[times(10, exponential(0.1))]);
    let answer = ten.epsilon(at(1e-6), &Options::default()).unwrap();
    let share = answer.share.unwrap();
    assert!((share - 0.7535).abs() < 0.02, "{share}");
    let truth = two_outcome_epsilon(10, 0.1, share, 1e-6);
    assert!(answer.bracket.lower <= truth && truth - answer.bracket.lower < 1e-4 * truth);
    assert!((0.628..0.6287).contains(&answer.bracket.lower), "{answer:?}");
    assert!(answer.bracket.upper < 0.69);
}

/// Lower ends alone against the same brute force, for given shares; illegal shares count as the nearest legal one.
#[test]
fn a_lower_end_alone_is_that_of_the_share() {
    let ten = plan(&[times(10, exponential(0.1))]);
    let ask = |ends: RequestedEnds| {
        ten.epsilon(at(1e-6), &Options { ends, ..Options::default() }).unwrap()
    };
    let any = ask(RequestedEnds::Upper);
    for (share, meant) in [(f64::NAN, 0.5), (-1.0, 0.5), (0.5, 0.5), (0.6, 0.6), (0.9, 0.9)] {
        let answer = ask(RequestedEnds::Lower { similar: Some(with_share(any, share)) });
        let (lower, truth) = (answer.bracket.lower, two_outcome_epsilon(10, 0.1, meant, 1e-6));
        // Up to the rounding of the sum of doubles.
        let off = truth - lower;
        assert!(off >= -1e-12 && off < 2e-4 * truth, "{share}: {lower} {truth}");
        assert!(answer.bracket.upper >= 0.6287, "{answer:?}");
    }
    let [both, lower] = [ask(RequestedEnds::Both), ask(RequestedEnds::Lower { similar: None })];
    assert!((0.628..0.6287).contains(&lower.bracket.lower), "{lower:?}");
    let upper = ask(RequestedEnds::Upper).bracket.upper;
    assert!(upper >= both.bracket.upper && upper < 0.69, "{upper} {both:?}");
}

/// Each end alone is no nearer than both together, with other noise beside it, and for delta.
#[test]
fn one_end_alone_is_no_nearer_than_both() {
    let plan = plan(&[
        times(5, exponential(0.1)),
        times(1, exponential(0.3)),
        times(3, gaussian(8.0, 1.0)),
    ]);
    let ask = |ends: RequestedEnds| {
        plan.epsilon(at(1e-6), &Options { ends, ..Options::default() }).unwrap()
    };
    let both = ask(RequestedEnds::Both);
    for similar in [None, Some(both)] {
        let lower = ask(RequestedEnds::Lower { similar }).bracket.lower;
        assert!((lower / both.bracket.lower - 1.0).abs() < 1e-3, "{similar:?}: {lower} {both:?}");
    }
    let other = ask(RequestedEnds::Lower { similar: Some(with_share(both, 0.97)) }).bracket.lower;
    assert!(other > 0.0 && other < both.bracket.lower, "{other} {both:?}");
    let upper = ask(RequestedEnds::Upper).bracket.upper;
    assert!((1.0..1.05).contains(&(upper / both.bracket.upper)), "{upper} {both:?}");
    let epsilon = Epsilon::new(both.bracket.upper).unwrap();
    let ask =
        |ends: RequestedEnds| plan.delta(epsilon, &Options { ends, ..Options::default() }).unwrap();
    let (both, lower) = (ask(RequestedEnds::Both), ask(RequestedEnds::Lower { similar: None }));
    assert!((lower.bracket.lower / both.bracket.lower - 1.0).abs() < 1e-3, "{lower:?} {both:?}");
    assert!(lower.bracket.upper >= both.bracket.upper, "{lower:?} {both:?}");
}

fn with_share(mut answer: Answer, share: f64) -> Answer {
    answer.share = Some(share);
    answer
}

fn two_outcome_epsilon(count: u32, range: f64, share: f64, delta: f64) -> f64 {
    let top = share * range;
    let high = (1.0 - (top - range).exp()) / (1.0 - (-range).exp());
    let at = |epsilon: f64| -> f64 {
        let mut chance = high.powi(count as i32);
        let mut sum = 0.0;
        for low in 0..=count {
            let loss = f64::from(count) * top - f64::from(low) * range;
            sum += chance * (1.0 - (epsilon - loss).exp()).max(0.0);
            chance *= f64::from(count - low) / f64::from(low + 1) * (1.0 - high) / high;
        }
        sum
    };
    let (mut low, mut high) = (0.0, f64::from(count) * range);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at(middle) > delta { low = middle } else { high = middle }
    }
    low
}

/// Exactly the sum of epsilons, to any precision, and one bit less.
#[test]
fn the_sum_of_epsilons_is_soon_told_in_any_precision() {
    use counterpoint::ask::Bits;
    use counterpoint::watch::Watch;
    let plan: Plan = plan(&[times(10, approximate(0.5, 0.0)), times(3, approximate(0.25, 0.0))]);
    let at = |epsilon: f64| {
        let bits = Bits::new(100).unwrap();
        plan.delta_to_bits(Epsilon::new(epsilon).unwrap(), bits, Watch::none()).unwrap()
    };
    assert_eq!(at(5.75).upper, "0");
    let below: f64 = at(5.75_f64.next_down()).lower.parse().unwrap();
    assert!(below > 0.0, "{below}");
}

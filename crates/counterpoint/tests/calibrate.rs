//! The least noise, the largest epsilon and the largest count within a target.

use crate::common;

use common::mechanisms::{self, above_threshold, approximate, response, sparse_vector, times};
use counterpoint::ask::{CalibrateError, Calibration, Search, Unknown, calibrate};
use counterpoint::quantity::{GroupSize, Rate, Rho};
use counterpoint::watch::{Control, Watch};
use counterpoint::{Adjacency, AskError, Delta, Epsilon, Mechanism, Options, Plan, Release};
use std::cell::Cell;

fn approx(epsilon: f64, delta: f64, count: u64) -> Release {
    times(count, approximate(epsilon, delta))
}

fn gaussian(sigma: f64, count: u64) -> Release {
    times(count, mechanisms::gaussian(sigma, 1.0))
}

fn geometric(scale: f64, count: u64) -> Release {
    times(count, mechanisms::geometric(scale, 1))
}

fn search(releases: &[Release], unknown: Unknown) -> Search<'_> {
    let adjacency = Some(Adjacency::AddRemove);
    Search { releases, varying: &[], unknown, adjacency, group: GroupSize::ONE }
}

fn within(
    search: &Search<'_>,
    epsilon: f64,
    delta: f64,
    options: &Options<'_>,
) -> Result<Calibration, CalibrateError> {
    calibrate(search, Epsilon::new(epsilon).unwrap(), Delta::new(delta).unwrap(), options)
}

/// Calibrates and checks what every calibration promises.
fn found(search: &Search<'_>, epsilon: f64, delta: f64) -> Calibration {
    let found = within(search, epsilon, delta, &Options::default()).unwrap();
    assert!(found.cost.bracket.upper <= epsilon, "{found:?}");
    let cost = |releases: &[Release]| {
        let plan = Plan::for_neighbours(releases.to_vec(), search.adjacency, search.group).unwrap();
        plan.epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap().bracket
    };
    assert!(cost(&found.releases).overlaps(&found.cost.bracket), "{found:?}");
    if let Some((value, cost)) = found.beyond {
        assert!(cost.bracket.upper > epsilon, "{found:?}");
        let next = match search.unknown {
            Unknown::Sigma | Unknown::Scale => found.value.next_down(),
            Unknown::Epsilon => found.value.next_up(),
            Unknown::Count => found.value + 1.0,
        };
        assert!(value.to_bits() == next.to_bits(), "{found:?}");
    }
    found
}

/// KOV Theorem III.3 in doubles: the delta of k pure releases at epsilon.
fn kov_delta(each: f64, k: u32, epsilon: f64) -> f64 {
    let mut ln_choose = 0.0;
    let ln_all = f64::from(k) * each.exp().ln_1p();
    let mut delta = 0.0;
    for i in 0..=k {
        // i of the k losses are minus epsilon.
        let loss = f64::from(k - 2 * i.min(k / 2)) * each;
        if 2 * i > k || loss <= epsilon {
            break;
        }
        let ln_p = ln_choose + f64::from(k - i) * each - ln_all;
        delta += ln_p.exp() * -(epsilon - loss).exp_m1();
        ln_choose += (f64::from(k - i) / f64::from(i + 1)).ln();
    }
    delta
}

#[test]
fn equal_epsilons_within_a_budget() {
    for k in [10, 100, 1000] {
        let releases = [approx(0.5, 0.0, k)];
        let found = found(&search(&releases, Unknown::Epsilon), 1.0, 1e-6);
        // By bisection of the closed sum.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if kov_delta(middle, k as u32, 1.0) <= 1e-6 { low = middle } else { high = middle }
        }
        assert!((found.value / low - 1.0).abs() < 1e-10, "{k}: {} {low}", found.value);
        assert!(found.cost.bracket.upper > 1.0 - 1e-12);
    }
}

#[test]
fn a_delta_of_the_release_is_kept() {
    let releases = [approx(0.5, 1e-9, 100), approx(0.01, 0.0, 3)];
    let search = Search { varying: &[0], ..search(&releases, Unknown::Epsilon) };
    let found = found(&search, 1.0, 1e-6);
    assert_eq!(found.releases[0], approx(found.value, 1e-9, 100));
    assert_eq!(found.releases[1], releases[1]);
    let alone = within(&search, 1.0, 1e-6 - 1e-7, &Options::default()).unwrap();
    assert!(alone.value < found.value);
}

#[test]
fn the_largest_count_by_linear_scan() {
    let fixed = approx(0.3, 1e-8, 2);
    for (each, budget, delta) in [(0.1, 2.0, 1e-6), (0.5, 3.0, 1e-6), (0.02, 1.5, 1e-5)] {
        let releases = [fixed.clone(), approx(each, 0.0, 7)];
        let search = Search { varying: &[1], ..search(&releases, Unknown::Count) };
        let found = found(&search, budget, delta);
        let fits = |count: u64| {
            let plan = Plan::new([fixed.clone(), approx(each, 0.0, count)]).unwrap();
            let cost = plan.epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap();
            cost.bracket.upper <= budget
        };
        let scanned = (1..).take_while(|&count| fits(count)).last().unwrap();
        assert_eq!(found.value as u64, scanned);
        let (_, beyond) = found.beyond.unwrap();
        assert!(beyond.bracket.lower > budget, "proved");
    }
}

#[test]
fn a_count_may_run_out_of_delta_first() {
    let releases = [approx(1e-9, 1e-8, 1)];
    let found = found(&search(&releases, Unknown::Count), 1.0, 1.005e-6);
    // 1 - (1 - 1e-8)^k passes 1.005e-6 between 100 and 101.
    assert_eq!(found.value as u64, 100);
    let (_, beyond) = found.beyond.unwrap();
    assert!(beyond.bracket.lower.is_infinite() && beyond.bracket.lower > 0.0);
}

#[test]
fn counts_end_at_a_trillion() {
    let releases = [approx(1e-20, 0.0, 5)];
    let found = found(&search(&releases, Unknown::Count), 1.0, 1e-6);
    assert_eq!(found.value as u64, 1_000_000_000_000);
    assert!(found.beyond.is_none());
}

#[test]
fn scale_of_geometric_noise() {
    // One at delta zero costs 1/scale; the least scale for epsilon 1/8 is 8.
    let one = found(&search(&[geometric(1.0, 1)], Unknown::Scale), 0.125, 0.0);
    assert!((one.value / 8.0 - 1.0).abs() < 1e-14 && one.value >= 8.0, "{}", one.value);
    // Many cost what randomized responses of 1/scale cost.
    let many = found(&search(&[geometric(1.0, 40)], Unknown::Scale), 2.0, 1e-6);
    let each = found(&search(&[approx(1.0, 0.0, 40)], Unknown::Epsilon), 2.0, 1e-6);
    assert!((many.value * each.value - 1.0).abs() < 1e-12);
}

#[test]
fn sparse_vector_is_split_in_its_own_proportion() {
    let releases = [times(20, sparse_vector(0.1, 0.3))];
    let svt = found(&search(&releases, Unknown::Epsilon), 2.0, 1e-6);
    let plain = found(&search(&[approx(0.1, 0.0, 20)], Unknown::Epsilon), 2.0, 1e-6);
    assert!((svt.value / plain.value - 1.0).abs() < 1e-14);
    let Mechanism::SparseVector { threshold, queries } = svt.releases[0].mechanism else {
        panic!("another mechanism")
    };
    assert!((queries.get() / threshold.get() - 3.0).abs() < 1e-12);
    assert!((threshold.get() + queries.get()).to_bits() == svt.value.to_bits());
    // Its own pair is better than randomized response's.
    let releases = [times(20, above_threshold(0.1, 0.3))];
    let own = found(&search(&releases, Unknown::Epsilon), 2.0, 1e-6);
    assert!(own.value > plain.value && own.value < 1.2 * plain.value, "{}", own.value);
    let Mechanism::AboveThreshold { threshold, queries } = own.releases[0].mechanism else {
        panic!("another mechanism")
    };
    assert!((queries.get() / threshold.get() - 3.0).abs() < 1e-12);
    assert!((threshold.get() + queries.get()).to_bits() == own.value.to_bits());
}

#[test]
fn randomized_response_and_samples() {
    let releases = [times(1, response(1.0, 2))];
    let one = found(&search(&releases, Unknown::Epsilon), 5e5, 0.0);
    assert!((one.value / 5e5 - 1.0).abs() < 1e-14);
    // ln(1 + q (e^x - 1)) = 1 at x = ln(1 + (e - 1)/q).
    let rate = Some(Rate::new(0.01).unwrap());
    let releases = [Release { rate, ..approx(1.0, 0.0, 1) }];
    let sampled = found(&search(&releases, Unknown::Epsilon), 1.0, 0.0);
    let expected = (1.0_f64.exp_m1() / 0.01).ln_1p();
    assert!((sampled.value / expected - 1.0).abs() < 1e-13, "{}", sampled.value);
}

#[test]
fn larger_targets_allow_more() {
    let releases = [approx(0.1, 0.0, 50), approx(0.03, 1e-10, 12)];
    let search = Search { varying: &[0], ..search(&releases, Unknown::Epsilon) };
    let mut last = 0.0;
    for target in [0.37, 0.38, 0.5, 1.0, 3.0, 10.0, 1e3, 1e6] {
        let value = found(&search, target, 1e-6).value;
        assert!(value > last, "{target}: {value} {last}");
        last = value;
    }
}

#[test]
fn the_present_value_makes_no_difference_to_speak_of() {
    let values = [1e-90, 1e-3, 0.1, 7.0, 1e5].map(|present| {
        found(&search(&[approx(present, 0.0, 30)], Unknown::Epsilon), 1.0, 1e-6).value
    });
    for value in values {
        assert!((value / values[0] - 1.0).abs() < 1e-13, "{values:?}");
    }
}

#[test]
fn a_target_of_zero() {
    let pure = found_zero(0.0);
    assert!(pure.value.to_bits() == 0 && pure.beyond.unwrap().0.to_bits() == 1e-100_f64.to_bits());
    // tanh(x/2) = 1e-6: the delta of one randomized response at epsilon zero.
    let one = found_zero(1e-6);
    assert!((one.value / (2.0 * 1e-6_f64.atanh()) - 1.0).abs() < 1e-12, "{}", one.value);
}

fn found_zero(delta: f64) -> Calibration {
    let releases = [approx(1.0, 0.0, 1)];
    within(&search(&releases, Unknown::Epsilon), 0.0, delta, &Options::default()).unwrap()
}

#[test]
fn out_of_reach() {
    let releases = [approx(2.0, 0.0, 1), approx(0.1, 0.0, 5)];
    let fixed = Search { varying: &[1], ..search(&releases, Unknown::Epsilon) };
    match within(&fixed, 1.0, 1e-6, &Options::default()) {
        Err(error @ CalibrateError::OutOfReach { unknown: "epsilon", value, cost }) => {
            assert!(value.to_bits() == 0 && cost > 1.9, "{error}");
        }
        other => panic!("{other:?}"),
    }
    let fixed = Search { varying: &[1], ..search(&releases, Unknown::Count) };
    let error = within(&fixed, 1.0, 1e-6, &Options::default()).unwrap_err();
    assert!(matches!(error, CalibrateError::OutOfReach { unknown: "count", .. }), "{error}");
    // A leak above delta has no finite epsilon, whatever is found.
    let releases = [approx(0.1, 1e-5, 1)];
    let error = within(&search(&releases, Unknown::Epsilon), 1.0, 1e-6, &Options::default());
    assert!(matches!(error, Err(CalibrateError::Ask(AskError::BelowLeak { .. }))), "{error:?}");
}

#[test]
fn what_does_not_vary() {
    let releases = [approx(0.1, 0.0, 1), geometric(2.0, 1)];
    let of = |unknown, varying| {
        let search = Search { varying, ..search(&releases, unknown) };
        within(&search, 1.0, 1e-6, &Options::default()).unwrap_err()
    };
    assert!(matches!(of(Unknown::Sigma, &[]), CalibrateError::NothingVaries { .. }));
    assert!(matches!(of(Unknown::Scale, &[0]), CalibrateError::DoesNotVary { index: 0, .. }));
    assert!(matches!(of(Unknown::Count, &[0, 2]), CalibrateError::DoesNotVary { index: 2, .. }));
    assert!(matches!(
        within(&search(&[], Unknown::Count), 1.0, 1e-6, &Options::default()),
        Err(CalibrateError::Plan(_))
    ));
}

#[test]
fn a_watcher_may_stop_the_search() {
    let asked = Cell::new(0);
    let stop = |_| {
        asked.set(asked.get() + 1);
        if asked.get() > 5 { Control::Stop } else { Control::Continue }
    };
    let options = Options { watch: Watch::new(&stop), ..Options::default() };
    let releases = [approx(0.1, 0.0, 100)];
    let stopped = within(&search(&releases, Unknown::Epsilon), 1.0, 1e-6, &options);
    assert!(matches!(stopped, Err(CalibrateError::Ask(AskError::Stopped))), "{stopped:?}");
}

/// Every question of the plan is announced to the watcher before it is asked.
#[test]
fn few_questions_are_asked() {
    for k in [10, 100, 1000, 10_000] {
        let asked = Cell::new(0);
        let count = |done: f64| {
            if done <= 0.0 {
                asked.set(asked.get() + 1);
            }
            Control::Continue
        };
        let options = Options { watch: Watch::new(&count), ..Options::default() };
        let releases = [approx(1.0, 0.0, k)];
        within(&search(&releases, Unknown::Epsilon), 1.0, 1e-6, &options).unwrap();
        assert!(asked.get() <= 25, "{k}: {}", asked.get());
    }
}

/// The upper ends of lattices are not smooth in the last digits that are asked for.
#[test]
fn among_many_different_releases() {
    let mut releases: Vec<Release> =
        (0..40).map(|i| approx(0.01 + 0.000_737 * f64::from(i * i % 41), 0.0, 25)).collect();
    releases.push(approx(0.1, 0.0, 100));
    for (unknown, varying) in [(Unknown::Epsilon, [40]), (Unknown::Count, [40])] {
        let search = Search { varying: &varying, ..search(&releases, unknown) };
        let found = found(&search, 6.0, 1e-6);
        if unknown == Unknown::Count {
            assert!(found.beyond.unwrap().1.bracket.lower > 6.0);
        }
    }
}

#[test]
fn the_search_stays_where_the_plan_is_legal() {
    // 1/scale is at most 10^6, wherever the search starts.
    for present in [1e-10, 1e-6, 1.0, 1e99] {
        let releases = [geometric(present, 1)];
        let search = search(&releases, Unknown::Scale);
        let end = within(&search, 1e6, 0.0, &Options::default()).unwrap();
        assert!((end.value / 1e-6 - 1.0).abs() < 1e-14, "{end:?}");
        found(&search, 0.9e6, 1e-6);
    }
    // The counts add up to at most 10^15: two thousand trillions are too many.
    let releases = vec![approx(0.0, 0.0, 1_000_000_000_000); 2000];
    let found = found(&search(&releases, Unknown::Count), 1.0, 1e-6);
    assert_eq!(found.value as u64, 500_000_000_000);
    assert!(found.beyond.is_none());
}

/// Balle and Wang 2018, Algorithm 1.
#[test]
fn sigma_of_the_analytic_gaussian() {
    for (delta, expected) in [(1e-5, 3.7306316348), (1e-6, 4.2246788893)] {
        let sigma = found(&search(&[gaussian(1.0, 1)], Unknown::Sigma), 1.0, delta).value;
        assert!((sigma / expected - 1.0).abs() < 1e-9, "{sigma} {expected}");
    }
}

#[test]
fn sigma_of_private_training() {
    let rate = Some(Rate::new(0.01).unwrap());
    let releases = [Release { rate, ..gaussian(3.0, 10_000) }];
    let sigma = found(&search(&releases, Unknown::Sigma), 6.187712389972, 1e-5).value;
    assert!((sigma - 1.0).abs() < 1e-6, "{sigma}");
}

#[test]
fn gaussian_noise_never_reaches_delta_zero() {
    let error = within(&search(&[gaussian(1.0, 1)], Unknown::Sigma), 1.0, 0.0, &Options::default())
        .unwrap_err();
    assert!(matches!(error, CalibrateError::Ask(AskError::Unbounded { .. })), "{error}");
}

/// The analytic Gaussian mechanism's sigma (Balle and Wang 2018) lies between what is certified to do and
/// what is proved not to; counts are told apart exactly.
#[test]
fn the_truth_is_between_a_value_that_does_and_one_that_provably_does_not() {
    let found = |release, unknown, delta: f64| {
        let releases = [release];
        let search = Search {
            releases: &releases,
            varying: &[],
            unknown,
            adjacency: None,
            group: GroupSize::ONE,
        };
        let (epsilon, delta) = (Epsilon::new(1.0).unwrap(), Delta::new(delta).unwrap());
        calibrate(&search, epsilon, delta, &Options::default()).unwrap()
    };
    for (delta, truth) in [(1e-5, 3.730_631_634_8), (1e-6, 4.224_678_889_3)] {
        let sigma = found(gaussian(2.0, 1), Unknown::Sigma, delta);
        let (failing, cost) = sigma.failing.unwrap();
        assert!(failing < truth + 5e-11 && truth - 5e-11 < sigma.value, "{sigma:?}");
        assert!(sigma.cost.bracket.upper <= 1.0 && cost.bracket.lower > 1.0, "{sigma:?}");
        assert!(sigma.gap().unwrap() < 1e-8, "{sigma:?}");
    }
    // (20 / 4.2246788893)^2 = 22.41.
    let count = found(gaussian(20.0, 1), Unknown::Count, 1e-6);
    assert_eq!((count.value, count.failing.map(|(value, _)| value)), (22.0, Some(23.0)));
}

/// The certificate of a calibrated value equals the cost of the composition, to the last bit. It is also within the
/// target if the value is read as a decimal and rounded to the safe side, as ledgers do.
#[test]
fn a_certificate_is_that_of_the_composition() {
    use counterpoint_budget::{Amount, PlanAccount, Query, Terms};
    let training =
        Release { rate: Some(Rate::new(256.0 / 60_000.0).unwrap()), ..gaussian(1.0, 4_688) };
    let zcdp = times(
        3,
        Mechanism::Zcdp { rho: Rho::new(0.013).unwrap(), delta: Delta::new(0.0).unwrap() },
    );
    let laplace = |scale: f64, sensitivity: f64| times(7, mechanisms::laplace(scale, sensitivity));
    let cases: [(Vec<Release>, Unknown, f64, f64); 7] = [
        (vec![training], Unknown::Sigma, 3.0, 1e-5),
        (vec![gaussian(1.0, 1)], Unknown::Sigma, 0.1, 1e-5),
        (vec![laplace(1.0, 0.3), laplace(200.0, 60.0)], Unknown::Scale, 0.7, 1e-7),
        (vec![laplace(1.0, 0.1)], Unknown::Scale, 0.3, 0.0),
        (
            vec![gaussian(2.0, 9), laplace(30.0, 0.7), approx(0.01, 1e-9, 4)],
            Unknown::Sigma,
            1.1,
            1e-6,
        ),
        (vec![approx(0.1, 1e-9, 60), gaussian(40.0, 3)], Unknown::Epsilon, 1.7, 1e-6),
        (vec![zcdp, gaussian(3.0, 2)], Unknown::Sigma, 1.3, 1e-6),
    ];
    for (releases, unknown, epsilon, delta) in cases {
        let search = search(&releases, unknown);
        let found = found(&search, epsilon, delta);
        let plan =
            Plan::for_neighbours(found.releases.clone(), search.adjacency, search.group).unwrap();
        let composed = plan.epsilon(Delta::new(delta).unwrap(), &Options::default()).unwrap();
        assert_eq!(composed, found.cost, "{unknown:?} {epsilon}");
        assert!(
            composed.bracket.upper <= epsilon && composed.bracket.upper > epsilon * (1.0 - 1e-5)
        );

        // In both texts that are read as the same doubles.
        for text in [|x: f64| format!("{x:?}"), |x: f64| format!("{x:.16e}")] {
            let amount = |x: f64| text(x).parse::<Amount>().unwrap();
            let read = |release: &Release| {
                let query = match &release.mechanism {
                    Mechanism::Gaussian { sigma, sensitivity } if release.rate.is_none() => {
                        Query::gaussian(amount(sigma.get()), amount(sensitivity.get())).unwrap()
                    }
                    Mechanism::Laplace { scale, sensitivity } => {
                        Query::laplace(amount(scale.get()), amount(sensitivity.get())).unwrap()
                    }
                    Mechanism::ApproxDp(each) => {
                        Query::approx_dp(amount(each.epsilon.get()), amount(each.delta.get()))
                            .unwrap()
                    }
                    Mechanism::Zcdp { rho, delta } => {
                        Query::zcdp(amount(rho.get()), amount(delta.get())).unwrap()
                    }
                    _ => return Query::from(release.clone()),
                };
                query.times(release.count)
            };
            let slots = found.releases.iter().map(read).collect::<Vec<_>>();
            let account = PlanAccount::new(slots, Terms::new(Adjacency::AddRemove)).unwrap();
            let delta = Delta::new(amount(delta).lower()).unwrap();
            let cost = account.epsilon(delta, &Options::default()).unwrap().bracket.upper;
            let (cost, budget) = (Amount::from_f64(cost).unwrap(), amount(epsilon));
            assert!(cost <= budget, "{unknown:?}: {cost} {budget}");
        }
    }
}

/// Several releases keep their ratios; what is unset starts in proportion to sensitivity.
#[test]
fn releases_that_vary_keep_their_ratios() {
    let scale = |release: &Release| match release.mechanism {
        Mechanism::Laplace { scale, .. } => scale.get(),
        _ => f64::NAN,
    };
    let mut releases =
        [times(1, mechanisms::laplace(5.0, 1.0)), times(2, mechanisms::laplace(1.0, 200.0))];
    let kept = found(&search(&releases, Unknown::Scale), 1.0, 0.0);
    // 1/s + 2 * 200/(s/5) = 1 at s = 2001.
    assert!((kept.value / 2001.0 - 1.0).abs() < 1e-12, "{}", kept.value);
    let scales: Vec<f64> = kept.releases.iter().map(scale).collect();
    assert!((scales[0] / scales[1] - 5.0).abs() < 1e-14, "{scales:?}");
    for release in &mut releases {
        Unknown::Scale.fill_default(release).unwrap();
    }
    let even = found(&search(&releases, Unknown::Scale), 1.0, 0.0);
    // Each of three at a third.
    let scales: Vec<f64> = even.releases.iter().map(scale).collect();
    assert!((scales[0] - 3.0).abs() < 1e-12 && (scales[1] - 600.0).abs() < 1e-9, "{scales:?}");
    // Counts keep theirs, rounded down.
    let releases = [approx(0.1, 0.0, 2), approx(0.1, 0.0, 3)];
    let counts = found(&search(&releases, Unknown::Count), 0.85, 0.0);
    let counts: Vec<u64> = counts.releases.iter().map(|release| release.count.get()).collect();
    assert_eq!(counts, [3, 4]);
}

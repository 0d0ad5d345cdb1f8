//! Laplace noise, composed. Of one scale: splines against arbitrary precision, and against contours and lattices,
//! which share nothing with them. Of several: truncated powers and blurred contours against the same.

use crate::common::Question;
use crate::common::mechanisms::*;
use counterpoint::Route;
use counterpoint::{Delta, Epsilon, Options};
use counterpoint_testing::{Random, tries};

/// Count, scale, epsilon and delta: the inverse Laplace transform, term by term, in 230 digits. M is
/// `(1 + E)/2 + (1 - E)/(4 s)` with E = e^(-2 e s), over s^2 - 1/4; its powers of E and of 1/s are listed
/// with their signs, and `1/(s^c (s^2 - 1/4))` is the series of `v^(c+1+2n) 4^-n / (c+1+2n)!`.
#[rustfmt::skip]
const PRECISE: [(u64, f64, f64, f64); 23] = [
    (2, 0.02, 60.0, 0.9999999773273102),
    (2, 1.0, 0.0, 0.4481808382428365),
    (2, 3.0, 0.3, 0.09119774789900041),
    (3, 0.5, 1.75, 0.6347030697154631),
    (3, 1000000.0, 1e-06, 2.500001249999167e-07),
    (5, 3.0, 1.0, 0.030779905164254273),
    (7, 40.0, 0.05, 0.009280522140959362),
    (7, 0.1, 55.0, 0.9168246632154333),
    (12, 2.0, 0.0, 0.5800781572211889),
    (12, 2.0, 3.0, 0.06021221840380981),
    (20, 0.1, 199.0, 1.3594431947352371e-05),
    (20, 3.0, 5.0, 0.0002932524493947173),
    (20, 3.0, 6.5, 3.04829622821004e-07),
    (20, 3.0, 0.0, 0.5222033348596488),
    (20, 1000.0, 0.0125, 2.3884404244796353e-06),
    (33, 0.3, 80.0, 0.39834058781549203),
    (33, 12.0, 1.25, 0.0008998923818078091),
    (60, 7.5, 4.0, 3.806530607013293e-05),
    (60, 7.5, 1.0, 0.13073291391592767),
    (60, 1.0, 40.0, 0.0007621878293500442),
    (100, 20.0, 3.0, 6.141654464229077e-11),
    (100, 5.0, 12.5, 9.15974380370601e-10),
    (100, 5.0, 19.9, 4.987752838737392e-31),
];

#[test]
fn delta_is_what_arbitrary_precision_says() {
    let mut splines = 0;
    for (count, scale, epsilon, delta) in PRECISE {
        let plan = plan(&[times(count, laplace(scale, 1.0))]);
        let answer = ask(&plan, Question::Delta(epsilon), 1e-9).unwrap();
        let (bracket, hair) = (answer.bracket, 1e-15 * delta);
        let holds = bracket.lower <= delta + hair && delta - hair <= bracket.upper;
        assert!(holds, "{count} of {scale} at {epsilon}: {bracket} and not {delta}");
        splines += usize::from(answer.route == Route::Splines);
    }
    assert!(splines >= 20, "{splines}");
}

#[test]
fn epsilon_is_what_arbitrary_precision_says() {
    for (count, scale, epsilon, delta) in PRECISE {
        if epsilon <= 0.0 || delta > 0.99 {
            continue;
        }
        let plan = plan(&[times(count, laplace(scale, 1.0))]);
        let at = |delta: f64| ask(&plan, Question::Epsilon(delta), 1e-6).unwrap().bracket;
        let text = format!("{count} of {scale} at {delta}");
        assert!(at(delta * (1.0 - 1e-14)).upper >= epsilon, "{text}");
        assert!(at(delta * (1.0 + 1e-14)).lower <= epsilon, "{text}");
        // A percent of delta is another epsilon.
        assert!(at(delta * 1.01).upper < epsilon && at(delta * 0.99).lower > epsilon, "{text}");
    }
}

/// Contours certify where enough is drawn from the density, lattices anywhere but not closely.
#[test]
fn splines_agree_with_contours_and_lattices() {
    let mut random = Random::new(0x5b11);
    let (mut close, mut all) = (0, 0);
    for _ in 0..tries(400, 0.02) {
        let (count, scale) = (random.log_whole(2, 3000), random.log_uniform(0.3, 300.0));
        let plan = plan(&[times(count, laplace(scale, 1.0))]);
        let delta = Delta::new(random.log_uniform(1e-12, 0.1)).unwrap();
        let by = |route: Route, tolerance: f64| {
            plan.epsilon(delta, &Options { route: Some(route), ..options(tolerance) })
        };
        let Ok(splines) = by(Route::Splines, 1e-9) else { continue };
        all += 1;
        let other = by(Route::Contour, 1e-6).or_else(|_| by(Route::Lattice, 1e-2));
        let Ok(other) = other else { continue };
        let (a, b) = (splines.bracket, other.bracket);
        assert!(a.overlaps(&b), "{count} of {scale} at {delta:?}: {a} and {b}");
        close += usize::from(b.relative_width() < 1e-4);
    }
    assert!(2 * close >= all && all >= 5, "{close} of {all}");
}

/// Questions that other libraries are asked: no count and no scale is refused, and epsilon and delta agree.
#[test]
fn every_count_and_scale_is_answered() {
    for count in [2, 3, 17, 60, 250, 1000, 20_000, 1_000_000, 1_000_000_000] {
        for scale in [0.02, 0.3, 1.0, 3.0, 12.0, 100.0, 1e4, 1e6] {
            let plan = plan(&[times(count, laplace(scale, 1.0))]);
            for delta in [1e-3, 1e-6, 1e-10, 1e-100] {
                let text = format!("{count} of {scale} at {delta}");
                let epsilon = ask(&plan, Question::Epsilon(delta), 1e-6);
                let epsilon = epsilon.unwrap_or_else(|error| panic!("{text}: {error}")).bracket;
                let most = count as f64 / scale * (1.0 + 1e-15);
                assert!(epsilon.lower >= 0.0 && epsilon.upper <= most, "{text}");
                if epsilon.lower <= 0.0 || epsilon.upper > 1e5 || delta < 1e-50 {
                    continue;
                }
                let at = |epsilon: f64| plan.delta(Epsilon::new(epsilon).unwrap(), &options(1e-5));
                assert!(at(epsilon.upper).unwrap().bracket.lower <= delta, "{text}");
                assert!(at(epsilon.lower).unwrap().bracket.upper >= delta, "{text}");
            }
        }
    }
}

/// On the lattice of the atoms and next to it, up to the largest loss and beyond, delta falls and is found.
#[test]
fn delta_falls_across_the_lattice() {
    for (count, scale) in [(4, 10.0), (9, 3.0), (20, 0.7), (31, 5.5)] {
        let plan = plan(&[times(count, laplace(scale, 1.0))]);
        let mut before = f64::INFINITY;
        for step in 0..=count {
            let at = step as f64 / scale;
            for epsilon in [at - 1e-12, at, at + 1e-13, at + 0.3 / scale] {
                let question = Question::Delta(epsilon.max(0.0));
                let bracket = ask(&plan, question, 1e-6).unwrap().bracket;
                assert!(bracket.lower <= before, "{count} of {scale} at {epsilon}");
                before = bracket.upper;
            }
        }
        assert!(before <= 1e-20, "{count} of {scale}: {before}");
    }
}

type Survey = (&'static [f64], &'static [f64], f64, f64);

/// Scales, epsilons of randomized responses, epsilon and delta: as above in 80 digits, with a power of its own
/// for each scale and a factor `(1 + E)/(1 + e^-e)` for each response.
#[rustfmt::skip]
const SURVEYS: [Survey; 15] = [
    (&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0], &[0.5, 0.5], 1.0, 0.07317732324659329),
    (&[4.0, 4.0, 4.0], &[0.3], 0.7, 0.027085366115215337),
    (&[2.0], &[1.0], 0.2, 0.4025727847851764),
    (&[2.0], &[1.0], 1.45, 0.018049900618816915),
    (&[12.0, 12.0, 12.0, 12.0, 12.0, 12.0, 12.0, 12.0], &[0.25, 0.4, 1.0], 0.0, 0.46335239696463354),
    (&[0.4, 0.4], &[2.0], 3.0, 0.6423912339336473),
    (&[2.0, 3.1], &[], 0.25, 0.141447069210508),
    (&[2.0, 3.1, 4.7, 5.9, 8.3], &[], 0.6, 0.07452869537627493),
    (&[2.0, 3.1, 4.7, 5.9, 8.3], &[], 1.2, 0.004281660242940544),
    (&[2.0, 3.1, 4.7, 5.9, 8.3], &[0.5], 1.0, 0.06100137537474487),
    (&[0.5, 1.25, 7.5], &[0.75], 2.0, 0.25673432652659844),
    (&[3.0, 3.0, 7.3, 7.3, 7.3, 11.9], &[], 0.9, 0.006573586022724208),
    (&[10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 19.0], &[], 0.5, 0.0010945644004903322),
    (&[5.0, 6.5, 8.0, 9.5, 11.0, 12.5, 14.0], &[0.3, 0.45], 1.1, 0.00950299005571749),
    (&[20.0, 50.0], &[2.0], 2.01, 0.017483831788807316),
];

fn survey(scales: &[f64], responses: &[f64]) -> counterpoint::Plan {
    let noise = scales.iter().map(|scale| times(1, laplace(*scale, 1.0)));
    let answers = responses.iter().map(|epsilon| times(1, approximate(*epsilon, 0.0)));
    plan(&noise.chain(answers).collect::<Vec<_>>())
}

#[test]
fn surveys_cost_what_arbitrary_precision_says() {
    let mut contours = 0;
    for (scales, responses, epsilon, delta) in SURVEYS {
        let plan = survey(scales, responses);
        let text = format!("{scales:?} {responses:?} at {epsilon}");
        let bracket = ask(&plan, Question::Delta(epsilon), 1e-6).expect(&text).bracket;
        let hair = 1e-15;
        let holds = |bracket: counterpoint::Bracket| {
            bracket.contains(delta * (1.0 + hair)) || bracket.contains(delta)
        };
        assert!(holds(bracket), "{text}: {bracket}");
        // By the ways that are not the first choice too.
        let contour = Options { route: Some(Route::Contour), ..options(1e-4) };
        if let Ok(contour) = plan.delta(Epsilon::new(epsilon).unwrap(), &contour) {
            assert!(holds(contour.bracket), "{text}: {}", contour.bracket);
            contours += 1;
        }
        let at = |delta: f64| ask(&plan, Question::Epsilon(delta), 1e-6).expect(&text).bracket;
        if epsilon <= 0.0 {
            continue;
        }
        let (more, less) = (at(delta * 1.01), at(delta * 0.99));
        assert!(more.upper < epsilon && epsilon < less.lower, "{text}: {more} {less}");
        let bracket = at(delta);
        let near =
            bracket.lower <= epsilon * (1.0 + 1e-12) && epsilon <= bracket.upper * (1.0 + 1e-12);
        assert!(near, "{text}: {bracket}");
    }
    assert!(contours >= 8, "{contours}");
}

/// Few scales are known to the last digits, by a route that can be asked for.
#[test]
fn few_scales_are_known_closely() {
    let powers = Options { route: Some(Route::TruncatedPowers), ..options(1e-12) };
    for (scales, responses, epsilon, delta) in SURVEYS.into_iter().skip(6) {
        let plan = survey(scales, responses);
        let answer = plan.delta(Epsilon::new(epsilon).unwrap(), &powers).unwrap();
        let hair = 1e-15 * delta;
        let near = answer.bracket.lower <= delta + hair && delta - hair <= answer.bracket.upper;
        assert!(near, "{scales:?} {responses:?} at {epsilon}: {}", answer.bracket);
        assert_eq!(answer.route, Route::TruncatedPowers);
    }
}

/// Any few scales, with responses and noise on a grid, against lattices.
#[test]
fn surveys_and_lattices_agree() {
    let mut random = Random::new(0x5a7e);
    let (all, mut compared, mut close) = (tries(300, 0.01), 0, 0);
    for _ in 0..all {
        let mut list: Vec<_> = (0..random.log_whole(1, 30))
            .map(|_| times(random.log_whole(1, 4), laplace(random.log_uniform(1.0, 100.0), 1.0)))
            .collect();
        if random.below(2) == 0 {
            list.push(times(1, approximate(random.log_uniform(0.1, 1.0), 0.0)));
        }
        if random.below(2) == 0 {
            list.push(times(2, geometric(random.log_uniform(2.0, 20.0), 1)));
        }
        let plan = plan(&list);
        let delta = Delta::new(random.log_uniform(1e-9, 1e-2)).unwrap();
        let free = plan.epsilon(delta, &options(1e-6));
        let free = free.unwrap_or_else(|error| panic!("{list:?} {delta:?}: {error}")).bracket;
        let lattice = Options { route: Some(Route::Lattice), ..options(1e-3) };
        let Ok(lattice) = plan.epsilon(delta, &lattice) else { continue };
        assert!(free.overlaps(&lattice.bracket), "{list:?} {delta:?}: {free} {}", lattice.bracket);
        compared += 1;
        close += u64::from(lattice.bracket.relative_width() < 1e-3);
    }
    assert!(2 * compared >= all && 2 * close >= all, "{close} and {compared} of {all}");
}

/// Many scales: every number of them is answered, and a looser tolerance is not told less.
#[test]
fn any_number_of_scales_is_answered() {
    for many in [7, 40, 100, 200, 400, 700, 1000, 3000] {
        let scale = |i: u32| 1.0 / (0.01 + 0.19 * (0.618_033_988_7 * f64::from(i)).fract());
        let scales: Vec<f64> = (1..=many).map(scale).collect();
        let plan = survey(&scales, &[]);
        let mut before: Option<counterpoint::Bracket> = None;
        for tolerance in [1e-7, 1e-6, 1e-5, 1e-3] {
            let answer = ask(&plan, Question::Epsilon(1e-6), tolerance);
            let bracket = answer.unwrap_or_else(|error| panic!("{many}: {error}")).bracket;
            assert!(before.is_none_or(|before| before.overlaps(&bracket)), "{many}");
            before = Some(bracket);
        }
    }
}

//! Regions against the papers, closed forms and brute force.
//!
//! | family | reference | cases, full | quick |
//! | --- | --- | --- | --- |
//! | equal guarantees | KOV Theorem III.3's list of (epsilon, delta) | 400 | 40 |
//! | finite pairs | every one of the 2^n tests; the profile's tangents | 2,000 | 200 |
//! | Gaussian, Laplace, sampled Gaussian | their trade-off curves in closed form | 60 | 9 |

use crate::common;

use common::is_full;
use counterpoint::loss::Direction;
use counterpoint::mechanism::FinitePair;
use counterpoint::quantity::{GroupSize, NoiseScale, Rate, Rho};
use counterpoint::region::{ErrorRates, Region, Verdict};
use counterpoint::{
    Adjacency, Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan, Release, Sensitivity,
};
use counterpoint_testing::Random;

fn cases(full: usize, quick: usize) -> usize {
    if is_full() { full } else { quick }
}

fn rate(x: f64) -> Rate {
    Rate::new(x).unwrap()
}

fn equal(epsilon: f64, delta: f64, count: u64) -> Plan {
    Plan::new([(Guarantee::new(epsilon, delta).unwrap(), Count::new(count).unwrap())]).unwrap()
}

fn noise(mechanism: Mechanism, count: u64) -> Plan {
    Plan::new([(mechanism, Count::new(count).unwrap())]).unwrap()
}

fn gaussian(sigma: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(1.0).unwrap();
    Mechanism::Gaussian { sigma: NoiseScale::new(sigma).unwrap(), sensitivity }
}

fn laplace(scale: f64) -> Mechanism {
    let sensitivity = Sensitivity::new(1.0).unwrap();
    Mechanism::Laplace { scale: NoiseScale::new(scale).unwrap(), sensitivity }
}

/// KOV Theorem III.3: epsilon_i = (k - 2i) epsilon with its delta_i.
fn kov(epsilon: f64, delta: f64, k: u64) -> Vec<(f64, f64)> {
    let n = k as f64;
    let choose = |l: u64| (0..l).fold(1.0, |c, i| c * (n - i as f64) / (i as f64 + 1.0));
    let base = n * epsilon.exp().ln_1p();
    let one = |i: u64| {
        let terms = (0..i).map(|l| {
            let l_ = l as f64;
            let high = (epsilon * (n - l_) - base).exp();
            let low = (epsilon * (n - 2.0 * i as f64 + l_) - base).exp();
            choose(l) * (high - low)
        });
        let kept = (1.0 - delta).powi(k as i32);
        (epsilon * (n - 2.0 * i as f64), 1.0 - kept + kept * terms.sum::<f64>())
    };
    (0..=k / 2).map(one).collect()
}

/// The least miss rate at a false-alarm rate in an intersection of (epsilon, delta) regions.
fn intersection(list: &[(f64, f64)], rate: f64) -> f64 {
    list.iter().fold(0.0, |most: f64, &(epsilon, delta)| {
        let steep = 1.0 - delta - epsilon.exp() * rate;
        most.max(steep).max((1.0 - delta - rate) * (-epsilon).exp())
    })
}

#[test]
fn equal_guarantees_have_the_region_of_kov() {
    let mut random = Random::new(31);
    for _ in 0..cases(400, 40) {
        let k = random.between(1, 60);
        let epsilon = random.log_uniform(0.01, 2.0);
        let delta = if random.once_in(2) { 0.0 } else { random.log_uniform(1e-9, 0.2) };
        let region = equal(epsilon, delta, k).region(&[], &Options::default()).unwrap();
        assert!(region.is_finite());
        // k + 1 losses, and a test for each number of them: none to all.
        // (Some are too close to a corner to be told from it.)
        if k as f64 * epsilon.exp().ln_1p() < 27.0 {
            assert_eq!(region.inner().len(), k as usize + 2, "{k} x ({epsilon}, {delta})");
        }
        let list = kov(epsilon, delta, k);
        for _ in 0..50 {
            let alarm = random.unit().powi(random.between(1, 9) as i32);
            let expected = intersection(&list, alarm);
            let miss = region.least_miss(rate(alarm));
            assert!((miss.lower - expected).abs() <= 1e-12, "{alarm}: {miss} {expected}");
            assert!((miss.upper - expected).abs() <= 1e-12, "{alarm}: {miss} {expected}");
        }
        // Each vertex lies where lines of the theorem meet.
        for point in region.inner() {
            let expected = intersection(&list, point.false_alarm());
            assert!((point.miss() - expected).abs() <= 1e-12, "{point:?} {expected}");
        }
    }
}

/// Every test of a finite pair, as (false alarms, misses).
fn all_tests(p: &[f64], q: &[f64]) -> Vec<(f64, f64)> {
    let both = || p.iter().zip(q).enumerate();
    let test = |set: u64| {
        both().fold((0.0, 0.0), |(alarms, misses), (outcome, (p, q))| {
            if set >> outcome & 1 == 1 { (alarms + q, misses) } else { (alarms, misses + p) }
        })
    };
    (0..1_u64 << p.len()).map(test).collect()
}

/// The least miss rate on a line between two of the points, at a false-alarm rate.
fn hull(points: &[(f64, f64)], alarm: f64) -> f64 {
    let mut least = 1.0_f64;
    for &(left, high) in points.iter().filter(|point| point.0 <= alarm) {
        least = least.min(high);
        for &(right, low) in points.iter().filter(|point| point.0 > alarm) {
            least = least.min(high + (low - high) * (alarm - left) / (right - left));
        }
    }
    least
}

#[test]
fn finite_pairs_half_planes_hull_and_tangents_agree() {
    let mut random = Random::new(32);
    for _ in 0..cases(2000, 200) {
        let length = random.between(2, 7) as usize;
        let mut vector = || {
            let mut raw: Vec<f64> = (0..length).map(|_| random.log_uniform(1e-3, 1.0)).collect();
            if random.once_in(4) {
                raw[random.below(length as u64) as usize] = 0.0;
            }
            let sum: f64 = raw.iter().sum();
            raw.iter().map(|x| x / sum).collect::<Vec<f64>>()
        };
        let (p, q) = (vector(), vector());
        let pair = Mechanism::Finite(FinitePair::new(&p, &q).unwrap());
        let one = [(pair, Count::ONE)];
        let Ok(plan) = Plan::for_neighbours(one, Some(Adjacency::AddRemove), GroupSize::ONE) else {
            continue;
        };
        let region = plan.region(&[], &Options::default()).unwrap();
        let tests = all_tests(&p, &q);
        // The pair's own sums are one up to rounding.
        for &(alarm, miss) in &tests {
            let inside =
                ErrorRates::new((alarm + 1e-14).min(1.0), (miss + 1e-14).min(1.0)).unwrap();
            assert_eq!(region.contains(inside), Verdict::Yes, "{p:?} {q:?} {inside:?}");
        }
        for _ in 0..20 {
            let alarm = random.unit();
            let (expected, miss) = (hull(&tests, alarm), region.least_miss(rate(alarm)));
            assert!((miss.lower - expected).abs() < 1e-12, "{p:?} {q:?} {alarm} {miss} {expected}");
            assert!((miss.upper - expected).abs() < 1e-12, "{p:?} {q:?} {alarm} {miss} {expected}");
            if miss.lower > 1e-6 {
                let outside = ErrorRates::new(alarm, miss.lower * 0.999).unwrap();
                assert_eq!(region.contains(outside), Verdict::No);
            }
        }
        tangents(&plan, &region, &mut random);
        let best = tests.iter().fold(0.0, |most: f64, (a, m)| most.max(1.0 - a - m));
        assert!((region.total_variation().upper - best).abs() < 1e-12);
    }
}

/// The line of slope -e^epsilon that touches the polygon is the profile at epsilon.
fn tangents(plan: &Plan, region: &Region, random: &mut Random) {
    for direction in [Direction::Remove, Direction::Add] {
        let epsilon = random.uniform(0.0, 4.0);
        let asked = Epsilon::new(epsilon).unwrap();
        let delta = plan.delta_towards(direction, asked, &Options::default()).unwrap().bracket;
        let touching = region.inner().iter().fold(f64::INFINITY, |least, point| {
            let (steep, flat) = match direction {
                Direction::Remove => (point.false_alarm(), point.miss()),
                Direction::Add => (point.miss(), point.false_alarm()),
            };
            least.min(flat + epsilon.exp() * steep)
        });
        assert!((1.0 - touching - delta.upper).abs() < 1e-12 * epsilon.exp(), "{delta}");
    }
}

/// The standard normal distribution, by its series.
fn normal(x: f64) -> f64 {
    let (mut term, mut sum, mut n) = (x, x, 1.0);
    while term.abs() > 1e-18 * sum.abs() && n < 400.0 {
        n += 2.0;
        term *= x * x / n;
        sum += term;
    }
    0.5 + sum * (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// A false-alarm rate of a threshold test with its miss rate must be on the boundary; a
/// hundredth off the advantage must be told.
fn on_the_boundary(region: &Region, (alarm, miss): (f64, f64), width: f64) {
    let found = region.least_miss(rate(alarm));
    assert!(found.lower <= miss + 1e-13 && found.upper >= miss - 1e-13, "{alarm} {miss} {found}");
    assert!(found.width() <= width, "{alarm}: {found}");
    let off = 0.01 * (1.0 - alarm - miss);
    if off > width && miss > off {
        let inside = ErrorRates::new(alarm, miss + off).unwrap();
        assert_eq!(region.contains(inside), Verdict::Yes);
        assert_eq!(region.contains(ErrorRates::new(alarm, miss - off).unwrap()), Verdict::No);
    }
}

/// Rates of false alarms and misses of the test with a threshold.
type Curve = Box<dyn Fn(f64) -> (f64, f64)>;

#[test]
fn trade_off_curves_in_closed_form() {
    let mut random = Random::new(33);
    for case in 0..cases(60, 9) {
        let (plan, curve): (Plan, Curve) = match case % 3 {
            0 => {
                let (sigma, count) = (random.uniform(0.5, 4.0), random.between(1, 9));
                let mu = (count as f64).sqrt() / sigma;
                (noise(gaussian(sigma), count), Box::new(move |t| (normal(-t), normal(t - mu))))
            }
            1 => {
                let scale = random.uniform(0.2, 3.0);
                let tail = |x: f64| if x > 0.0 { 0.5 * (-x).exp() } else { 1.0 - 0.5 * x.exp() };
                let shift = 1.0 / scale;
                (noise(laplace(scale), 1), Box::new(move |t| (tail(t), 1.0 - tail(t - shift))))
            }
            _ => {
                let (sigma, q) = (random.uniform(0.5, 2.0), random.uniform(0.1, 0.9));
                let release = Release {
                    mechanism: gaussian(sigma),
                    rate: Some(rate(q)),
                    count: Count::ONE,
                    part: None,
                };
                let plan =
                    Plan::for_neighbours([release], Some(Adjacency::AddRemove), GroupSize::ONE)
                        .unwrap();
                let mu = 1.0 / sigma;
                let miss = move |t: f64| (1.0 - q) * normal(t) + q * normal(t - mu);
                (plan, Box::new(move |t| (normal(-t), miss(t))))
            }
        };
        let points: Vec<(f64, f64)> = (0..12).map(|_| curve(random.uniform(-2.5, 3.5))).collect();
        let sharp: Vec<Rate> = points[..3].iter().map(|point| rate(point.0)).collect();
        let region = plan.region(&sharp, &Options::default()).unwrap();
        let variation = region.total_variation().upper;
        assert!(region.gap() <= 1.1e-3 * variation, "{}", region.gap());
        for (index, &point) in points.iter().enumerate() {
            let width = if index < 3 { 1.01e-6 * variation } else { 1.1e-3 * variation };
            on_the_boundary(&region, point, width);
        }
    }
}

#[test]
fn no_error_is_ruled_out_without_a_leak() {
    // Without a leak every outcome is possible with and without the person's data: a test that
    // never misses always raises an alarm, and one without false alarms never does.
    let plans = [
        noise(gaussian(0.01), 1),
        noise(gaussian(1.0), 7),
        noise(laplace(0.001), 1),
        noise(laplace(1.0), 3),
        equal(1000.0, 0.0, 1),
        equal(300.0, 0.0, 5),
    ];
    for plan in plans {
        let region = plan.region(&[rate(0.01)], &Options::default()).unwrap();
        for point in region.inner() {
            assert!(point.miss() > 0.0 || point.false_alarm() >= 1.0, "{point:?}");
            assert!(point.false_alarm() > 0.0 || point.miss() >= 1.0, "{point:?}");
        }
        for corner in
            [ErrorRates::new(0.0, 0.999), ErrorRates::new(0.999, 0.0), ErrorRates::new(0.0, 0.0)]
        {
            assert_ne!(region.contains(corner.unwrap()), Verdict::Yes);
        }
        assert!(region.least_miss(rate(0.01)).upper > 0.0);
    }
}

#[test]
fn inclusion_is_domination() {
    let options = Options::default();
    let region = |plan: Plan| plan.region(&[], &options).unwrap();
    let (one, two) = (region(equal(1.0, 0.0, 1)), region(equal(1.0, 0.0, 2)));
    assert_eq!((one.is_within(&two), two.is_within(&one)), (Verdict::Yes, Verdict::No));
    assert_eq!(one.is_within(&one), Verdict::Yes);
    // Laplace noise is a randomized response with more noise added (KOV section II).
    let curve = region(noise(laplace(1.0), 1));
    assert_eq!((curve.is_within(&one), one.is_within(&curve)), (Verdict::Yes, Verdict::No));
    // They touch at both ends, yet more noise is told to be within.
    let (quiet, loud) = (region(noise(gaussian(2.0), 3)), region(noise(gaussian(1.0), 3)));
    assert_eq!((quiet.is_within(&loud), loud.is_within(&quiet)), (Verdict::Yes, Verdict::No));
    // Neither: one is better at few false alarms, the other at many.
    let leaky = region(equal(0.0, 0.05, 1));
    let pure = region(equal(0.3, 0.0, 1));
    assert_eq!((leaky.is_within(&pure), pure.is_within(&leaky)), (Verdict::No, Verdict::No));
    // A finite pair strictly inside, but at the ends, where exact numbers meet.
    let weak = region(equal(0.5, 0.0, 4));
    let strong = region(equal(1.1, 0.0, 2));
    assert_eq!(strong.is_within(&weak), Verdict::No);
    let excess = weak.excess_over(&strong);
    assert!(excess.lower <= excess.upper);
}

/// Two finite pairs, against guarantees of their largest losses and a leak of the larger of both directions: wherever
/// the verdict is yes, no delta is larger. Outcomes that are impossible under P leave less than 1 of Q to the finite
/// losses, and then a randomized response of the largest loss does not dominate them.
#[test]
fn a_verdict_of_inclusion_holds_for_every_epsilon() {
    let mut random = Random::new(2026);
    let (mut seen, wanted) = ([0; 2], cases(2000, 100));
    let (options, next) = (Options::default(), |random: &mut Random| random.below(1 << 20) as f64);
    for number in 0..wanted {
        let (mut guarantees, mut leaks) = (Vec::new(), [1.0; 2]);
        let mut pairs = Vec::new();
        for _ in 0..2 {
            let size = 2 + random.below(2);
            let mut side = || -> Vec<f64> {
                let zeros = number % 2 == 0;
                let weight = |random: &mut Random| match random.below(3) {
                    0 if zeros => 0.0,
                    _ => 1.0 + next(random),
                };
                let list: Vec<f64> = (0..size).map(|_| weight(&mut random)).collect();
                let total: f64 = list.iter().sum();
                if total > 0.0 { list.iter().map(|x| x / total).collect() } else { list }
            };
            let (p, q) = (side(), side());
            let Ok(pair) = FinitePair::new(&p, &q) else { continue };
            let both = || p.iter().zip(&q).filter(|(p, q)| **p > 0.0 && **q > 0.0);
            let largest = both().fold(0.0_f64, |most, (p, q)| most.max((p / q).ln().abs()));
            let lost = |from: &[f64], other: &[f64]| -> f64 {
                from.iter()
                    .zip(other)
                    .filter(|(_, other)| **other <= 0.0)
                    .map(|(from, _)| from)
                    .sum()
            };
            leaks = [leaks[0] * (1.0 - lost(&p, &q)), leaks[1] * (1.0 - lost(&q, &p))];
            // In every other case the guarantee is too small in one direction.
            let one_sided = both().fold(0.0_f64, |most, (p, q)| most.max((p / q).ln()));
            let epsilon = if number % 4 < 2 { largest } else { one_sided };
            guarantees.push(Release::from((
                Mechanism::from(Guarantee::new(epsilon + 1e-9, 0.0).unwrap()),
                Count::ONE,
            )));
            pairs.push(Release::from((Mechanism::Finite(pair), Count::ONE)));
        }
        let leak = 1.0 - leaks[0].min(leaks[1]);
        if leak > 0.0 && leak < 1.0 {
            let delta = Delta::new(leak + 1e-9).unwrap();
            guarantees.push(Release::from((Mechanism::NameAndShame { delta }, Count::ONE)));
        }
        let plan = |list| Plan::for_neighbours(list, Some(Adjacency::AddRemove), GroupSize::ONE);
        let (Ok(inner), Ok(outer)) = (plan(pairs), plan(guarantees)) else { continue };
        let region = |plan: &Plan| plan.region(&[], &options).unwrap();
        if region(&inner).is_within(&region(&outer)) != Verdict::Yes {
            seen[0] += 1;
            continue;
        }
        seen[1] += 1;
        for epsilon in (0..40).map(|tenths| Epsilon::new(0.1 * f64::from(tenths)).unwrap()) {
            let [inner, outer] =
                [&inner, &outer].map(|plan| plan.delta(epsilon, &options).unwrap().bracket);
            assert!(inner.lower <= outer.upper, "{number} at {epsilon:?}: {inner} above {outer}");
        }
    }
    assert!(seen.iter().all(|seen| *seen > wanted / 10), "{seen:?}");
}

#[test]
fn renyi_curves_have_a_region_between_witness_and_bound() {
    let rho = Rho::new(0.5).unwrap();
    let plan = noise(Mechanism::Zcdp { rho, delta: Delta::new(0.0).unwrap() }, 1);
    let region = plan.region(&[], &Options::default()).unwrap();
    // 1/2-zCDP allows a Gaussian with mu = 1, whose curve must be inside the outer polygon.
    for t in [-1.0, 0.0, 0.5, 1.0, 2.0] {
        let point = ErrorRates::new(normal(-t), normal(t - 1.0)).unwrap();
        assert_ne!(region.contains(point), Verdict::No, "{point:?}");
        let worse = ErrorRates::new(normal(-t), normal(t - 1.0) + 0.02).unwrap();
        assert_eq!(region.contains(worse), Verdict::Yes, "{worse:?}");
    }
    assert!(region.gap() > 0.01);
}

#[test]
fn parts_of_the_data_make_the_hull() {
    let part = |name: &str, epsilon: f64, delta: f64| Release {
        mechanism: Guarantee::new(epsilon, delta).unwrap().into(),
        rate: None,
        count: Count::ONE,
        part: Some(name.into()),
    };
    let parts = [part("a", 0.0, 0.2), part("b", 1.0, 0.0)];
    let whole = Plan::for_neighbours(parts, Some(Adjacency::AddRemove), GroupSize::ONE).unwrap();
    let region = whole.region(&[], &Options::default()).unwrap();
    let tests = [(0.0, 0.8), (0.8, 0.0), (1.0 / (1.0 + 1f64.exp()), 1.0 / (1.0 + 1f64.exp()))];
    for alarm in [0.0, 0.1, 0.2, 0.3, 0.5, 0.7] {
        let miss = region.least_miss(rate(alarm));
        assert!((miss.upper - hull(&tests, alarm)).abs() < 1e-12, "{alarm} {miss}");
    }
}

#[test]
fn areas_of_triangles() {
    // Total variation t at delta alone: a triangle cut off each corner. (1 - (1-t)^2)/2.
    let region = equal(0.0, 0.3, 1).region(&[], &Options::default()).unwrap();
    let area = region.area();
    assert!(area.width() < 1e-15 && area.contains(0.5 * (1.0 - 0.49)), "{area}");
    let nothing = equal(0.0, 0.0, 1).region(&[], &Options::default()).unwrap();
    assert!(nothing.area().upper < 1e-15);
}

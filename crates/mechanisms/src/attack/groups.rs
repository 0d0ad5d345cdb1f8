//! Attacks by neighbours whose records are spread over groups as far as allowed: the numbers that noise is added to
//! must not move further than is charged over all groups, and some neighbours must move them that far.

use super::chances;
use crate::data::Data;
use crate::noise::Noise;
use crate::query::{Bounds, GroupLimits, Measurement, Query, Style};
use crate::sample::watch::{self, Observation};
use counterpoint::{Adjacency, Guarantee, Mechanism, Relation, Release};
use counterpoint_testing::{Random, tries};

/// A person's records: a group and a value each.
type Records = Vec<(usize, f64)>;

/// The number of groups in the attacks.
const GROUPS: usize = 6;

/// At most as many records as the limits allow, at the ends of the bounds or between.
fn records(random: &mut Random, limits: GroupLimits, bounds: (f64, f64)) -> Records {
    let (mut list, mut used) = (Records::new(), [0_u64; GROUPS]);
    let alike = random.below(2) == 0;
    let value = |random: &mut Random| match random.below(3) {
        0 => bounds.0,
        1 => bounds.1,
        _ => bounds.0 + random.unit() * (bounds.1 - bounds.0),
    };
    let same = value(random);
    for _ in 0..40 {
        let group = random.below(GROUPS as u64) as usize;
        let groups = used.iter().filter(|used| **used > 0).count() as u64;
        let fits =
            used[group] < limits.rows_per_group() && (used[group] > 0 || groups < limits.groups());
        if fits && (list.len() as u64) < limits.rows() {
            used[group] += 1;
            list.push((group, if alike { same } else { value(random) }));
        }
    }
    list
}

/// The numbers that noise is added to, for each group.
fn tallies(measurement: &Measurement, people: &[&Records]) -> Vec<Vec<i128>> {
    let of = |group: usize| {
        let own = people.iter().flat_map(|records| records.iter()).filter(|one| one.0 == group);
        let values: Vec<f64> = own.map(|one| one.1).collect();
        let tally = measurement.tally(&Data::new(measurement.relation(), values)).unwrap();
        tally.steps()
    };
    (0..GROUPS).map(of).collect()
}

/// The scale of a noise in steps.
fn scale(noise: &Noise) -> f64 {
    match noise.mechanism() {
        Mechanism::Geometric { scale, .. } | Mechanism::Laplace { scale, .. } => scale.get(),
        Mechanism::DiscreteGaussian { sigma, .. } | Mechanism::Gaussian { sigma, .. } => {
            sigma.get()
        }
        other => panic!("{other:?}"),
    }
}

/// The charge for one number of the tally: epsilon, or rho.
fn charged(release: &Release) -> f64 {
    let one = match &release.mechanism {
        Mechanism::Geometric { scale, sensitivity } => sensitivity.get() as f64 / scale.get(),
        Mechanism::Laplace { scale, sensitivity } => sensitivity.get() / scale.get(),
        Mechanism::ApproxDp(Guarantee { epsilon, .. }) => epsilon.get(),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            0.5 * (sensitivity.get() as f64 / sigma.get()).powi(2)
        }
        Mechanism::Gaussian { sigma, sensitivity } => {
            0.5 * (sensitivity.get() / sigma.get()).powi(2)
        }
        Mechanism::Zcdp { rho, .. } => rho.get(),
        other => panic!("{other:?}"),
    };
    one * release.count.get() as f64
}

#[test]
fn groups_together_move_no_further_than_is_charged() {
    let mut random = Random::new(4711);
    for _ in 0..tries(400, 0.1) {
        let adjacency = [Adjacency::AddRemove, Adjacency::Replace][random.below(2) as usize];
        let numbers = [0; 3].map(|_| random.between(1, 4));
        let limits = GroupLimits::new(numbers[0], numbers[1], numbers[2]).unwrap();
        let relation = Relation::new(adjacency, numbers[0]).unwrap();
        let ends = [(0.0, 10.0), (-3.0, 10.0), (-1.0, 1.0), (2.0, 5.0)][random.below(4) as usize];
        let bounds = Bounds::new(ends.0, ends.1).unwrap();
        let query = match random.below(6) {
            0 => Query::count(),
            1 => Query::sum(bounds),
            2 => Query::mean(bounds),
            3 => Query::variance(bounds),
            4 => Query::proportion(Bounds::new(ends.0, 0.5 * (ends.0 + ends.1)).unwrap()),
            _ => Query::histogram(&[ends.0, 0.5 * (ends.0 + ends.1), ends.1 + 1.0]).unwrap(),
        };
        let laplace = random.below(2) == 0;
        let noisy_query = if laplace { query.laplace(0.7) } else { query.gaussian(1.3) }.unwrap();
        let measurement = noisy_query.under_groups(relation, limits).unwrap();
        let releases = measurement.releases();
        let noises = measurement.noises();
        assert_eq!(releases.len(), noises.len());
        let mut most = vec![0.0_f64; releases.len()];
        for _ in 0..400 {
            let others = records(&mut random, limits, ends);
            let (one, other) = match adjacency {
                Adjacency::AddRemove => (records(&mut random, limits, ends), Records::new()),
                Adjacency::Replace => {
                    (records(&mut random, limits, ends), records(&mut random, limits, ends))
                }
            };
            let [one, other] = [one, other].map(|own| tallies(&measurement, &[&others, &own]));
            for (place, (release, noise)) in releases.iter().zip(&noises).enumerate() {
                let bins = noises.len() == 1;
                let moved = one.iter().zip(&other).flat_map(|(one, other)| {
                    let moved = one.iter().zip(other).enumerate();
                    moved
                        .filter(move |(at, _)| bins || *at == place)
                        .map(|(_, (a, b))| (a - b) as f64)
                });
                let moved = moved.map(|steps| steps / scale(noise));
                let cost: f64 = if laplace {
                    moved.map(f64::abs).sum()
                } else {
                    moved.map(|far| 0.5 * far * far).sum()
                };
                let told = charged(release);
                assert!(
                    cost <= told * (1.0 + 1e-12),
                    "{cost} > {told}: {measurement:?} {limits:?}"
                );
                most[place] = most[place].max(cost / told);
            }
        }
        // Random data rarely put four records into three groups, but half of the charge is always reached.
        assert!(most.iter().all(|most| *most > 0.4), "{most:?} of {measurement:?} {limits:?}");
    }
}

/// Neighbours that are known to move furthest reach the charge up to a thousandth.
#[test]
fn what_is_charged_for_groups_can_be_reached() {
    for (adjacency, numbers, one, other) in [
        // Two full groups, and one group with one record.
        (Adjacency::AddRemove, (5, 2, 6), vec![(0, 2), (1, 2), (2, 1)], vec![]),
        (
            Adjacency::AddRemove,
            (8, 1, 8),
            vec![(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 1)],
            vec![],
        ),
        (Adjacency::Replace, (3, 3, 2), vec![(0, 3)], vec![(1, 3)]),
        (Adjacency::Replace, (1, 1, 1), vec![(0, 1)], vec![(1, 1)]),
    ] {
        let rows = if numbers.0 == 8 { 6 } else { numbers.0 };
        let limits = GroupLimits::new(rows, numbers.1, numbers.2).unwrap();
        let relation = Relation::new(adjacency, rows).unwrap();
        let query = Query::sum(Bounds::new(0.0, 10.0).unwrap());
        for noisy_query in [query.laplace(0.5).unwrap(), query.gaussian(2.0).unwrap()] {
            let laplace = matches!(noisy_query.style(), Style::Laplace { .. });
            let measurement = noisy_query.under_groups(relation, limits).unwrap();
            let full = |list: &[(usize, usize)]| -> Records {
                list.iter().flat_map(|&(group, count)| vec![(group, 10.0); count]).collect()
            };
            let [one, other] = [full(&one), full(&other)].map(|own| tallies(&measurement, &[&own]));
            let moved = one.iter().flatten().zip(other.iter().flatten());
            let scale = scale(measurement.noises()[0]);
            let moved = moved.map(|(a, b)| (a - b) as f64 / scale);
            let cost: f64 = if laplace {
                moved.map(f64::abs).sum()
            } else {
                moved.map(|far| 0.5 * far * far).sum()
            };
            let told = charged(&measurement.releases()[0]);
            assert!(cost <= told && cost >= 0.999 * told, "{cost} of {told}: {measurement:?}");
        }
    }
}

/// The sum, over groups and choices, of the ranges of the losses between two sides.
fn range(measurement: &Measurement, sides: [&[&Records]; 2]) -> f64 {
    let chosen = |people: &[&Records], group: usize| {
        let own = people.iter().flat_map(|records| records.iter()).filter(|one| one.0 == group);
        let data = Data::new(measurement.relation(), own.map(|one| one.1).collect::<Vec<_>>());
        let chances = |seen: &Observation| match seen {
            Observation::Chosen(scores, choice) => chances(scores, choice.scale()),
            other => panic!("{other:?}"),
        };
        let seen = watch::with(&[0; 3], || measurement.run(&data).unwrap()).1;
        seen.iter().map(chances).collect::<Vec<_>>()
    };
    let range = |(one, other): (&Vec<f64>, &Vec<f64>)| {
        let losses = one.iter().zip(other).map(|(one, other)| one - other);
        let (low, high) = losses.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), loss| {
            (low.min(loss), high.max(loss))
        });
        high - low
    };
    let of = |group: usize| -> f64 {
        let [one, other] = sides.map(|people| chosen(people, group));
        one.iter().zip(&other).map(range).sum()
    };
    (0..GROUPS).map(of).sum()
}

/// Choices in groups are charged as one choice of range epsilon: their losses lie in ranges whose lengths add up to
/// epsilon.
#[test]
fn choices_in_groups_have_the_range_that_is_charged() {
    let mut random = Random::new(4712);
    let ends = (0.0, 10.0);
    for _ in 0..tries(200, 0.2) {
        let adjacency = [Adjacency::AddRemove, Adjacency::Replace][random.below(2) as usize];
        let numbers = [0; 3].map(|_| random.between(1, 4));
        let limits = GroupLimits::new(numbers[0], numbers[1], numbers[2]).unwrap();
        let relation = Relation::new(adjacency, numbers[0]).unwrap();
        let share = [(1, 2), (1, 4), (9, 10)][random.below(3) as usize];
        let query = Query::quantile(share, &[1.0, 4.0, 9.0]).unwrap();
        let (noisy_query, count) = match random.below(2) {
            0 => (query.exponential(0.7), 1),
            _ => (query.exponential_interval(0.7, 0.95), 3),
        };
        let measurement = noisy_query.unwrap().under_groups(relation, limits).unwrap();
        let [release] = measurement.releases() else { panic!("{measurement:?}") };
        let Mechanism::Exponential { epsilon } = release.mechanism else { panic!("{release:?}") };
        assert_eq!((epsilon.get(), release.count.get()), (0.7 / count as f64, count));
        let mut most = 0.0_f64;
        for _ in 0..100 {
            let others = records(&mut random, limits, ends);
            let one = records(&mut random, limits, ends);
            let other = match adjacency {
                Adjacency::AddRemove => Records::new(),
                Adjacency::Replace => records(&mut random, limits, ends),
            };
            most = most.max(range(&measurement, [&[&others, &one], &[&others, &other]]));
        }
        assert!(most <= 0.7 * (1.0 + 1e-12), "{most} for {measurement:?} {limits:?}");
        assert!(most > 0.2, "{most} for {measurement:?} {limits:?}");
    }
}

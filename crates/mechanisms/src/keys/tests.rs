//! Contribution limits, released keys, and exact privacy losses over all draws.

use super::*;
use crate::data::Person;
use crate::error::Error;
use crate::sample::script;
use counterpoint::quantity::Delta;
use counterpoint::{Adjacency, Epsilon, Mechanism, Options, Plan, Relation, Release};
use counterpoint_testing::{Random, size};
use std::collections::BTreeMap;

type ReleaseOutcome = Vec<KeyCount>;

fn relation(adjacency: Adjacency, records: u64) -> Relation {
    Relation::new(adjacency, records).unwrap()
}

fn add_remove(records: u64) -> Relation {
    relation(Adjacency::AddRemove, records)
}

fn counts(keyed: &KeyedData) -> Vec<(Vec<u8>, u64)> {
    keyed.counts().map(|(key, people)| (key.to_vec(), people)).collect()
}

fn of(rows: &[(u64, &str)], records: u64) -> Vec<(Vec<u8>, u64)> {
    let keys: Vec<&str> = rows.iter().map(|(_, key)| *key).collect();
    let people = rows.iter().map(|(person, _)| person);
    counts(&KeyedData::of_people(add_remove(records), people, &keys, &[7; 32]).unwrap())
}

/// A thousand records with one key count once; of a thousand keys the allowed number counts.
#[test]
fn nobody_counts_more_than_allowed() {
    let mut rows: Vec<(u64, &str)> = vec![(1, "a"); 1000];
    rows.push((2, "a"));
    assert_eq!(of(&rows, 3), [(b"a".to_vec(), 2)]);
    let names: Vec<String> = (0..1000).map(|i| format!("key {i}")).collect();
    let rows: Vec<(u64, &str)> = names.iter().map(|key| (1, key.as_str())).collect();
    for records in [1, 3, 1000, 10_000] {
        let counts = of(&rows, records);
        assert_eq!(counts.len() as u64, records.min(1000));
        assert!(counts.iter().all(|(_, people)| *people == 1));
    }
}

/// Keys that differ in a byte are different, and so are people who are named in different ways.
#[test]
fn keys_are_their_bytes() {
    let keys = ["é", "e\u{301}", "E", "e", " e", "e ", "", "e\0", "ſ", "s"];
    let people = 0..keys.len() as u64;
    let keyed = KeyedData::of_people(add_remove(1), people, &keys, &[0; 32]).unwrap();
    assert_eq!(counts(&keyed).len(), keys.len());
    // One person with all keys is one person.
    let keyed = KeyedData::of_people(add_remove(1), [5; 10], &keys, &[0; 32]).unwrap();
    assert_eq!(counts(&keyed).len(), 1);
    let bytes: [&[u8]; 2] = [&[0xff, 0], &[0xff]];
    let keyed = KeyedData::of_people(add_remove(2), [5; 2], &bytes, &[0; 32]).unwrap();
    assert_eq!(counts(&keyed), [(vec![0xff], 1), (vec![0xff, 0], 1)]);
    let named: [Person<'_>; 3] = [7.into(), "7".into(), (&b"7"[..]).into()];
    let keyed = KeyedData::of_people(add_remove(1), named, &["x"; 3], &[0; 32]).unwrap();
    assert_eq!(counts(&keyed), [(b"x".to_vec(), 3)]);
    let short = KeyedData::of_people(add_remove(1), [1, 2], &["x"], &[0; 32]);
    assert!(matches!(short, Err(Error::Length { length: 1, .. })));
    assert!(!format!("{keyed:?}").contains('x'));
}

/// The choice is a function of a person's own set of keys: it does not depend on the order or number of rows or on
/// others. Neighbouring tables have counts that differ by one in at most the allowed number of keys.
#[test]
fn the_choice_depends_on_a_persons_own_keys_alone() {
    let names = ["a", "b", "c", "d", "e", "f"];
    let mut random = Random::new(20_090_420);
    for _ in 0..2_000 {
        let records = random.between(1, 3);
        let row = |random: &mut Random| (random.below(4), random.of(&names));
        let mut rows: Vec<(u64, &str)> = (0..random.below(25)).map(|_| row(&mut random)).collect();
        let all = of(&rows, records);
        let mut sums = BTreeMap::new();
        for person in 0..4 {
            let own = |rows: &[(u64, &'static str)]| {
                rows.iter().filter(|(owner, _)| *owner == person).copied().collect::<Vec<_>>()
            };
            let own = own(&rows);
            let different: std::collections::BTreeSet<&str> = own.iter().map(|row| row.1).collect();
            let counted = of(&own, records);
            assert_eq!(counted.len(), different.len().min(records as usize));
            for (key, people) in counted {
                assert_eq!(people, 1);
                *sums.entry(key).or_insert(0) += 1;
            }
        }
        // The sum over single people equals the result for all together.
        assert_eq!(all, sums.into_iter().collect::<Vec<_>>());
        let turn = random.below(rows.len().max(1) as u64) as usize;
        rows.rotate_left(turn);
        rows.extend_from_within(..rows.len() / 2);
        assert_eq!(of(&rows, records), all);
    }
    // Another secret gives another choice: no key is preferred.
    let first = |secret: u8| {
        let keyed = KeyedData::of_people(add_remove(1), [1; 6], &names, &[secret; 32]).unwrap();
        counts(&keyed)[0].0.clone()
    };
    let chosen: std::collections::BTreeSet<Vec<u8>> = (0..100).map(first).collect();
    assert_eq!(chosen.len(), names.len());
}

/// Each key that occurs gets noise once; at the threshold it is released and below it is not; in the order of the
/// bytes.
#[test]
fn what_is_at_the_threshold_is_released() {
    let one = add_remove(1);
    let ready = KeyQuery::laplace(1.0, 1e-6).unwrap().under(one).unwrap();
    // e^-k/(1 + 1/e) <= 1e-6 from k = 14 on.
    assert_eq!(ready.threshold(), 15);
    let keyed = KeyedData::from_counts(one, [("z", 20), ("b", 3), ("a", 1), ("z", 1), ("none", 0)]);
    let run = |draws: &[i128]| {
        let released = script::with(draws, || ready.run(&keyed));
        released.map(|list| {
            let text = |key: &[u8]| String::from_utf8(key.to_vec()).unwrap();
            list.iter().map(|(key, people)| (text(key), *people)).collect::<Vec<_>>()
        })
    };
    let is = |key: &str, people: u64| (key.to_owned(), people);
    assert_eq!(run(&[14, 12, -6]), Ok(vec![is("a", 15), is("b", 15), is("z", 15)]));
    assert_eq!(run(&[13, 11, -7]), Ok(vec![]));
    assert_eq!(run(&[-100, 90, i128::MIN]), Ok(vec![is("b", 93)]));
    assert_eq!(run(&[i128::MAX, 0, 0]), Ok(vec![is("a", u64::MAX), is("z", 21)]));
    assert!(matches!(run(&[14, 12]), Err(Error::Randomness { .. })));
    let two = KeyedData::from_counts(add_remove(2), [("z", 20)]);
    assert_eq!(ready.run(&two), Err(Error::Relation { made: one, data: add_remove(2) }));
}

/// The noise's masses by definition, as far as they matter.
fn masses(noise: &Mechanism, far: i32) -> Vec<(i128, f64)> {
    let weight = |x: f64| match noise {
        Mechanism::Geometric { scale, sensitivity } => {
            assert_eq!(sensitivity.get(), 1);
            (-x.abs() / scale.get()).exp()
        }
        Mechanism::DiscreteGaussian { sigma, sensitivity } => {
            assert_eq!(sensitivity.get(), 1);
            (-0.5 * (x / sigma.get()).powi(2)).exp()
        }
        other => panic!("{other:?}"),
    };
    let total: f64 = (-200..=200).map(|x| weight(f64::from(x))).sum();
    (-far..=far).map(|x| (x.into(), weight(f64::from(x)) / total)).collect()
}

/// The probability of each answer, by running on every list of draws.
fn law(
    ready: &KeyMeasurement,
    keyed: &KeyedData,
    masses: &[(i128, f64)],
) -> BTreeMap<ReleaseOutcome, f64> {
    let mut lists: Vec<(Vec<i128>, f64)> = vec![(Vec::new(), 1.0)];
    for _ in keyed.counts() {
        let longer = |(list, chance): &(Vec<i128>, f64)| {
            let next = masses
                .iter()
                .map(|(draw, mass)| (list.iter().copied().chain([*draw]).collect(), chance * mass));
            next.collect::<Vec<(Vec<i128>, f64)>>()
        };
        lists = lists.iter().flat_map(longer).collect();
    }
    let mut law = BTreeMap::new();
    for (draws, chance) in lists {
        let released = script::with(&draws, || ready.run(keyed)).unwrap();
        *law.entry(released).or_insert(0.0) += chance;
    }
    law
}

/// Neighbours, given the number of others who have each key: the first half of the keys belong to one person, the
/// second half to the person who replaces them, or to nobody.
fn neighbours(relation: Relation, others: &[u64]) -> [KeyedData; 2] {
    let key = |place: usize| [b'a' + place as u8];
    let own = relation.records() as usize;
    [0, 1].map(|side| {
        let mine = |place: usize| match relation.adjacency() {
            Adjacency::AddRemove => side == 0,
            Adjacency::Replace => (place < own) == (side == 0),
        };
        let all = others.iter().enumerate();
        let count = |(place, people): (usize, &u64)| (key(place), people + u64::from(mine(place)));
        KeyedData::from_counts(relation, all.map(count))
    })
}

/// The larger hockey-stick divergence of both directions, at each epsilon.
fn profile(ready: &KeyMeasurement, others: &[u64], far: i32, epsilons: &[f64]) -> Vec<f64> {
    let masses = masses(&ready.noise().mechanism(), far);
    let [one, other] =
        neighbours(ready.relation(), others).map(|keyed| law(ready, &keyed, &masses));
    let at =
        |p: &BTreeMap<ReleaseOutcome, f64>, q: &BTreeMap<ReleaseOutcome, f64>, epsilon: f64| {
            let gain = |(answer, chance): (&ReleaseOutcome, &f64)| {
                (chance - epsilon.exp() * q.get(answer).unwrap_or(&0.0)).max(0.0)
            };
            p.iter().map(gain).sum::<f64>()
        };
    epsilons.iter().map(|&e| at(&one, &other, e).max(at(&other, &one, e))).collect()
}

fn charged(releases: &[Release], epsilons: &[f64]) -> Vec<f64> {
    let plan = Plan::new(releases.to_vec()).unwrap();
    let delta = |&epsilon: &f64| {
        let epsilon = Epsilon::new(epsilon).unwrap();
        plan.delta(epsilon, &Options::default()).unwrap().bracket.upper
    };
    epsilons.iter().map(delta).collect()
}

/// The releases with only a share of the leak, or of the noise, charged.
fn short_of(releases: &[Release], leak: f64, noise: f64) -> Vec<Release> {
    let mut short = releases.to_vec();
    for release in &mut short {
        match &mut release.mechanism {
            Mechanism::NameAndShame { delta } => *delta = Delta::new(delta.get() * leak).unwrap(),
            Mechanism::Geometric { scale, .. } => {
                *scale = counterpoint::quantity::NoiseScale::new(scale.get() / noise).unwrap();
            }
            Mechanism::DiscreteGaussian { sigma, .. } => {
                *sigma = counterpoint::quantity::NoiseScale::new(sigma.get() / noise).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    short
}

/// The probability of draws beyond those enumerated.
const BEYOND: f64 = 1e-10;

struct Case {
    relation: Relation,
    query: KeyQuery,
    far: i32,
}

/// Large and tiny leaks; one key and two, for each adjacency.
fn cases() -> Vec<Case> {
    let case = |adjacency, records, style: (bool, f64), delta, far| {
        let query = match style {
            (true, epsilon) => KeyQuery::laplace(epsilon, delta),
            (false, multiplier) => KeyQuery::gaussian(multiplier, delta),
        };
        Case { relation: relation(adjacency, records), query: query.unwrap(), far }
    };
    use Adjacency::{AddRemove, Replace};
    vec![
        case(AddRemove, 1, (true, 1.0), 0.05, 24),
        case(AddRemove, 1, (true, 1.0), 1e-9, 24),
        case(AddRemove, 1, (false, 1.0), 0.05, 8),
        case(AddRemove, 1, (false, 1.0), 1e-9, 8),
        case(AddRemove, 2, (true, 3.0), 0.05, 16),
        case(AddRemove, 2, (false, 0.8), 1e-8, 8),
        case(Replace, 1, (true, 3.0), 0.02, 16),
        case(Replace, 1, (false, 0.8), 1e-8, 8),
        case(Replace, 2, (true, 28.0), 0.05, 4),
    ]
}

/// The numbers of others who have the keys: none, few, and near the threshold.
fn bases(ready: &KeyMeasurement, keys: usize) -> Vec<Vec<u64>> {
    let high = ready.threshold() + 9;
    let several = [0, 1, ready.threshold() - 1, high];
    // All keys equal, and the first key different.
    let mut list: Vec<Vec<u64>> = several.iter().map(|people| vec![*people; keys]).collect();
    if keys <= size(4, 2) as usize {
        list.extend([0, ready.threshold()].map(|first| {
            let rest = if first == 0 { high } else { 0 };
            (0..keys).map(|place| if place == 0 { first } else { rest }).collect()
        }));
    }
    list
}

/// Over every draw, no neighbours are easier to distinguish than is charged, whatever others have; if 1 % of the leak
/// or of the noise is not charged, some are.
#[test]
fn answers_give_away_what_is_charged_and_all_of_it() {
    let (mut leaks, mut noises) = (0, 0);
    for Case { relation, query, far } in cases() {
        let ready = query.under(relation).unwrap();
        let keys = relation.records() as usize
            * if relation.adjacency() == Adjacency::Replace { 2 } else { 1 };
        let epsilons = match query.style() {
            crate::query::Style::Laplace { epsilon } => {
                [0.0, 0.3, 1.0].map(|share| share * epsilon)
            }
            // The noise has hardly any delta left at the last epsilon.
            _ => [0.0, 1.0, 10.0],
        };
        let charge = charged(ready.releases(), &epsilons);
        let [less_leak, less_noise] = [(0.99, 1.0), (1.0, 0.99)]
            .map(|(leak, noise)| charged(&short_of(ready.releases(), leak, noise), &epsilons));
        let mut caught = [false, false];
        for others in bases(&ready, keys) {
            let found = profile(&ready, &others, far, &epsilons);
            for (place, found) in found.into_iter().enumerate() {
                let context = format!("{query:?} {relation} {others:?} {}", epsilons[place]);
                assert!(found <= charge[place] + BEYOND, "{context}: {found} {}", charge[place]);
                caught[0] |= found > less_leak[place] + BEYOND;
                caught[1] |= found > less_noise[place] + BEYOND;
            }
        }
        leaks += u32::from(caught[0]);
        noises += u32::from(caught[1]);
        // The draws left out here hide a leak of 10^-8.
        assert!(caught[0] || query.delta() < 1e-6, "{query:?} {relation}: a leak");
        assert!(caught[1] || query.delta() > 1e-6, "{query:?} {relation}: noise");
    }
    assert!(leaks >= 4 && noises >= 4, "{leaks} {noises}");
}

/// A threshold lower by one reveals more than is charged.
#[test]
fn a_lower_threshold_is_found_out() {
    for delta in [0.05, 1e-5] {
        let query = KeyQuery::laplace(1.0, delta).unwrap();
        let mut ready = query.under(add_remove(1)).unwrap();
        let at = [1.0];
        let charge = charged(ready.releases(), &at)[0];
        let found = profile(&ready, &[0], 24, &at)[0];
        assert!(found <= charge + BEYOND && found > 0.999 * charge, "{found} {charge}");
        ready.threshold -= 1;
        let found = profile(&ready, &[0], 24, &at)[0];
        assert!(found > 2.0 * charge, "{found} {charge}");
    }
}

/// The charge is epsilon and delta in total with the least threshold for that, at every end of the legal range.
#[test]
fn a_charge_is_what_was_asked_for() {
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        for records in [1, 3, 10_000] {
            let keys = records as f64;
            let moved = if adjacency == Adjacency::Replace { 2.0 * keys } else { keys };
            for delta in [1e-100, 1e-8, 0.5] {
                for epsilon in [2.0_f64.powi(-20), 0.7, 500.0] {
                    let query = KeyQuery::laplace(epsilon, delta).unwrap();
                    let ready = query.under(relation(adjacency, records)).unwrap();
                    let [noise, leak] = ready.releases() else { panic!() };
                    let Mechanism::Geometric { scale, .. } = noise.mechanism else { panic!() };
                    let spent = noise.count.get() as f64 / scale.get();
                    assert!(spent <= epsilon && spent > epsilon * (1.0 - 1e-9), "{spent}");
                    assert!((noise.count.get() as f64 - moved).abs() < 0.5);
                    let Mechanism::NameAndShame { delta: each } = leak.mechanism else { panic!() };
                    assert_eq!(leak.count.get(), records);
                    assert!(each.get() * keys <= delta * (1.0 + 1e-12));
                    // With one step less it would be more than delta.
                    let (rate, reach) = (1.0 / scale.get(), ready.threshold() as f64 - 1.0);
                    let chance = |reach: f64| (-rate * reach).exp() / (1.0 + (-rate).exp());
                    assert!(chance(reach) <= each.get() * (1.0 + 1e-9));
                    let next = chance(reach - 1.0);
                    assert!(next > delta / keys * (1.0 - 1e-9) || reach < 1.5, "{next}");
                }
                for multiplier in [0.025, 3.0, 1000.0] {
                    let query = KeyQuery::gaussian(multiplier, delta).unwrap();
                    let ready = query.under(relation(adjacency, records)).unwrap();
                    let [noise, leak] = ready.releases() else { panic!() };
                    let (
                        Mechanism::DiscreteGaussian { sigma, .. },
                        Mechanism::NameAndShame { delta: each },
                    ) = (&noise.mechanism, &leak.mechanism)
                    else {
                        panic!()
                    };
                    let far = (sigma.get() / multiplier).powi(2);
                    assert!((far / moved - 1.0).abs() < 1e-9 && leak.count.get() == records);
                    assert!(each.get() * keys <= delta * (1.0 + 1e-12));
                }
            }
        }
    }
}

#[test]
fn bad_parameters_are_named() {
    let bad = [(0.0, "0"), (-1.0, "-1"), (f64::NAN, "NaN"), (0.51, "0.51"), (1e-101, "1e-101")];
    for (bad, written) in bad {
        let text = KeyQuery::laplace(1.0, bad).unwrap_err().to_string();
        assert_eq!(text, format!("delta is {written}; legal: a number from 1e-100 to 0.5"));
    }
    assert!(KeyQuery::laplace(501.0, 0.1).is_err() && KeyQuery::gaussian(0.0, 0.1).is_err());
    for style in
        [crate::Style::Staircase { epsilon: 1.0 }, crate::Style::Exponential { epsilon: 1.0 }]
    {
        let text = KeyQuery::new(style, 0.1).unwrap_err().to_string();
        assert!(text.ends_with("for counts by key; legal: laplace, gaussian"), "{text}");
    }
    let ready = KeyQuery::laplace(1.0, 0.1).unwrap().under(add_remove(1)).unwrap();
    assert!(ready.half_width(1.0).is_err() && ready.released_from(0.0).is_err());
}

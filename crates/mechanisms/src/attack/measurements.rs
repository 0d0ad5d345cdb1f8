//! Single measurements.

use super::*;
use crate::data::Data;
use crate::query::{Measurement, Style};
use std::collections::BTreeMap;

/// Makes a measurement from a noisy query: under the data's relation, or wrongly.
type Construction = fn(&NoisyQuery, Relation, &mut Random) -> Option<Measurement>;

/// The worst results of a search.
#[derive(Debug, Default)]
struct SearchResult {
    /// The largest share of the charge that was revealed, for each kind of query and relation.
    most: BTreeMap<String, f64>,
    /// A case whose reply shows something that noise was not added to.
    shown: Option<String>,
}

impl SearchResult {
    fn worst(&self) -> f64 {
        self.most.values().copied().fold(0.0, f64::max)
    }
}

/// Runs this many queries, each on this many pairs of neighbours.
fn search(questions: u64, pairs: u64, make: Construction) -> SearchResult {
    let mut asker = Asker::new(20_160_601);
    let mut found = SearchResult::default();
    for _ in 0..questions {
        let (relation, noisy_query) = (asker.relation(), asker.noisy_query());
        let Some(measurement) = make(&noisy_query, relation, &mut asker.random) else { continue };
        let near = turning(noisy_query.query());
        let charge = charged(measurement.releases());
        let mut most: f64 = 0.0;
        for _ in 0..pairs {
            let pair = asker.neighbours(relation, &near);
            let noise = asker.noise();
            let (loss, is_hidden) = attack(&measurement, &pair, &noise);
            most = most.max(loss.share_of(charge));
            if !is_hidden {
                found.shown = Some(format!("{noisy_query:?} of {relation}: {pair:?}"));
            }
        }
        let class = found.most.entry(class(&noisy_query, relation)).or_insert(0.0);
        *class = class.max(most);
    }
    found
}

fn class(noisy_query: &NoisyQuery, relation: Relation) -> String {
    let style = format!("{:?}", noisy_query.style());
    let style = style.split(' ').next().unwrap_or_default().to_owned();
    let records = match relation.records() {
        1 if relation.is_filtered() => "one or none",
        1 => "one",
        _ => "several",
    };
    format!("{} {style} {:?} {records}", noisy_query.query().kind.name(), relation.adjacency())
}

fn attack(measurement: &Measurement, pair: &[Vec<f64>; 2], noise: &[i128]) -> (Loss, bool) {
    let data = pair.clone().map(|values| Data::new(measurement.relation(), values));
    compare(noise, |side| measurement.run(&data[side]).unwrap())
}

fn honest(noisy_query: &NoisyQuery, relation: Relation, _: &mut Random) -> Option<Measurement> {
    noisy_query.under(relation).ok()
}

/// A wrong measurement that ignores the number of records.
fn for_one(noisy_query: &NoisyQuery, relation: Relation, _: &mut Random) -> Option<Measurement> {
    noisy_query.under(Relation::single_record(relation.adjacency())).ok()
}

/// A wrong measurement that takes the relation from the query.
fn as_asked(
    noisy_query: &NoisyQuery,
    relation: Relation,
    random: &mut Random,
) -> Option<Measurement> {
    let records = random.between(1, relation.records());
    let adjacency = random.of(&[Adjacency::AddRemove, Adjacency::Replace]);
    noisy_query.under(Relation::new(adjacency, records).unwrap()).ok()
}

/// 300,000 queries in a full run.
#[test]
fn no_question_gives_away_more_than_it_costs() {
    let found = search(tries(300_000, 0.05), 24, honest);
    assert_eq!(found.shown, None);
    assert!(found.worst() <= ROUNDING, "{:?}", found.most);
    // Every kind, with every noise, for every kind of relation. Quantiles use the exponential mechanism, and staircase
    // noise is not available for bins that several records move.
    assert_eq!(found.most.len(), 5 * (7 * 3 + 2 * 2) - 4, "{:?}", found.most.keys());
    // The whole charge is reached where that is possible.
    for (class, most) in &found.most {
        let reachable = reachable(class);
        // Random search rarely finds the best candidates and the best epsilon.
        let least = match class.contains("quantile") {
            // Three choices must have their worst data at once.
            true if class.contains("Interval") => 0.7,
            true => 0.8,
            false => 0.99,
        };
        assert!(*most > least * reachable, "{class}: {most} of {reachable}");
        assert!(*most < reachable * 1.001, "{class}: {most} of {reachable}");
    }
}

/// A quantile and both ends of its interval reveal more than the cost of two of the three choices.
#[test]
fn an_interval_that_is_charged_as_two_choices_is_found_out() {
    let found = search(tries(60_000, 0.1), 24, |noisy_query, relation, _| {
        let is_interval = matches!(noisy_query.style(), Style::ExponentialInterval { .. });
        noisy_query.under(relation).ok().filter(|_| is_interval)
    });
    assert!(found.worst() <= ROUNDING && found.worst() > 1.1 * 2.0 / 3.0, "{:?}", found.most);
}

/// The share of the charge that neighbours can reach: all of it, unless a person cannot move all sums as far as
/// possible at once. With Laplace noise, each sum having an equal part of epsilon, and b half the width of the bounds:
///
/// - If a person with several records is replaced, the number n moves furthest from k to none; then the offsets move by
///   kb of 2kb, and the squares by all of kb^2. This gives 1/2 + 1/4 for a mean, 1/3 + 1/6 + 1/3 for a variance.
/// - One record that moves from tb to b moves the offsets by (1-t)/2 and the squares by 1-t^2 of their limits: at most
///   (5/8 + 15/16)/2, for t = -1/4.
/// - With Gaussian noise, each sum having an equal part of rho, the shares are squared: 1/2 + 1/8, 1/3 + 1/12 + 1/3,
///   and ((1-t)^2/4 + (1-t^2)^2)/2, which is largest for t = (sqrt(2) - 2)/4.
///
/// The relation with one record or none behaves like several records.
fn reachable(class: &str) -> f64 {
    match class.replace("one or none", "several").as_str() {
        "a mean Laplace Replace several" | "a proportion Laplace Replace several" => 3.0 / 4.0,
        "a variance Laplace Replace several" => 5.0 / 6.0,
        "a variance Laplace Replace one" => 25.0 / 32.0,
        "a mean Gaussian Replace several" | "a proportion Gaussian Replace several" => 5.0 / 8.0,
        "a variance Gaussian Replace several" => 3.0 / 4.0,
        "a variance Gaussian Replace one" => {
            let t = (2.0_f64.sqrt() - 2.0) / 4.0;
            0.5 * (0.25 * (1.0 - t).powi(2) + (1.0 - t * t).powi(2))
        }
        _ => 1.0,
    }
}

#[test]
fn a_relation_that_is_not_the_datas_is_found_out() {
    let found = search(tries(30_000, 0.1), 24, for_one);
    assert!(found.worst() > 9.0 && found.shown.is_some(), "{}", found.worst());
    let found = search(tries(30_000, 0.1), 24, as_asked);
    assert!(found.worst() > 9.0 && found.shown.is_some(), "{}", found.worst());
}

/// Far from zero the number of rows dominates a sum; noise hides it too, unless each person has exactly one row.
#[test]
fn the_number_of_rows_is_not_printed() {
    let sum = Query::sum(Bounds::new(1e12, 1e12 + 2.0).unwrap()).laplace(1.0).unwrap();
    let pair = [vec![1e12 + 1.0; 10], Vec::new()];
    for adjacency in [Adjacency::AddRemove, Adjacency::Replace] {
        let ten = Relation::new(adjacency, 10).unwrap();
        let measurement = sum.under(ten).unwrap();
        let (loss, is_hidden) = attack(&measurement, &pair, &[7]);
        assert!(is_hidden && (0.99..=ROUNDING).contains(&loss.pure), "{loss:?}");
        assert!(measurement.expected_error(0) > 9.9e12);
    }
    let one = sum.under(Relation::single_record(Adjacency::Replace)).unwrap();
    assert!(!attack(&one, &pair, &[7]).1);
}

/// The comparison of relations includes the number of records, not only the adjacency.
#[test]
fn data_of_another_relation_are_refused() {
    let mut asker = Asker::new(1);
    let relations: Vec<Relation> = [Adjacency::AddRemove, Adjacency::Replace]
        .into_iter()
        .flat_map(|adjacency| [1, 2, 10].map(|records| Relation::new(adjacency, records).unwrap()))
        .collect();
    for _ in 0..200 {
        let noisy_query = asker.noisy_query();
        for &made in &relations {
            let Ok(measurement) = noisy_query.under(made) else { continue };
            for &data in relations.iter().filter(|other| **other != made) {
                let refused = Err(crate::Error::Relation { made, data });
                assert_eq!(measurement.run(&Data::new(data, [1.0])), refused);
            }
        }
    }
}

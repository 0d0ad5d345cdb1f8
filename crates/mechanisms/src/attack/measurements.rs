//! Single measurements.

use super::*;
use crate::data::Data;
use crate::query::{Measurement, Style};
use std::collections::BTreeMap;

/// How a measurement is made of what is asked: by the data's relation, or wrongly.
type Making = fn(&Recipe, Relation, &mut Random) -> Option<Measurement>;

/// The worst that was found.
#[derive(Debug, Default)]
struct Found {
    /// The most that was given away of what is charged, for each kind of question and relation.
    most: BTreeMap<String, f64>,
    /// An answer that shows something noise was not added to.
    shown: Option<String>,
}

impl Found {
    fn worst(&self) -> f64 {
        self.most.values().copied().fold(0.0, f64::max)
    }
}

/// So many questions, each on so many pairs of neighbours.
fn search(questions: u64, pairs: u64, make: Making) -> Found {
    let mut asker = Asker::new(20_160_601);
    let mut found = Found::default();
    for _ in 0..questions {
        let (relation, recipe) = (asker.relation(), asker.recipe());
        let Some(measurement) = make(&recipe, relation, &mut asker.random) else { continue };
        let near = turning(recipe.query());
        let charge = charged(measurement.releases());
        let mut most: f64 = 0.0;
        for _ in 0..pairs {
            let pair = asker.neighbours(relation, &near);
            let noise = asker.noise();
            let (loss, is_hidden) = attack(&measurement, &pair, &noise);
            most = most.max(loss.share_of(charge));
            if !is_hidden {
                found.shown = Some(format!("{recipe:?} of {relation}: {pair:?}"));
            }
        }
        let class = found.most.entry(class(&recipe, relation)).or_insert(0.0);
        *class = class.max(most);
    }
    found
}

fn class(recipe: &Recipe, relation: Relation) -> String {
    let style = format!("{:?}", recipe.style());
    let style = style.split(' ').next().unwrap_or_default().to_owned();
    let records = match relation.records() {
        1 if relation.is_of_some() => "one or none",
        1 => "one",
        _ => "several",
    };
    format!("{} {style} {:?} {records}", recipe.query().kind.name(), relation.adjacency())
}

fn attack(measurement: &Measurement, pair: &[Vec<f64>; 2], noise: &[i128]) -> (Loss, bool) {
    let data = pair.clone().map(|values| Data::new(measurement.relation(), values));
    compare(noise, |side| measurement.run(&data[side]).unwrap())
}

fn honest(recipe: &Recipe, relation: Relation, _: &mut Random) -> Option<Measurement> {
    recipe.under(relation).ok()
}

/// Records are ignored.
fn for_one(recipe: &Recipe, relation: Relation, _: &mut Random) -> Option<Measurement> {
    recipe.under(Relation::one(relation.adjacency())).ok()
}

/// The relation is taken from the question.
fn as_asked(recipe: &Recipe, relation: Relation, random: &mut Random) -> Option<Measurement> {
    let records = random.between(1, relation.records());
    let adjacency = random.of(&[Adjacency::AddRemove, Adjacency::Replace]);
    recipe.under(Relation::new(adjacency, records).unwrap()).ok()
}

/// 3 10^5 questions in a full run.
#[test]
fn no_question_gives_away_more_than_it_costs() {
    let found = search(tries(300_000, 0.05), 24, honest);
    assert_eq!(found.shown, None);
    assert!(found.worst() <= ROUNDING, "{:?}", found.most);
    // Every kind, with every noise, for every kind of relation. Quantiles are chosen, and
    // staircase noise is not for bins that several records move.
    assert_eq!(found.most.len(), 5 * (7 * 3 + 2 * 2) - 4, "{:?}", found.most.keys());
    // Nothing is charged in vain.
    for (class, most) in &found.most {
        let reachable = reachable(class);
        // The best choice of candidates and of epsilon is hard to find at random.
        let least = match class.contains("quantile") {
            // Three choices have their worst data at once.
            true if class.contains("Interval") => 0.7,
            true => 0.8,
            false => 0.99,
        };
        assert!(*most > least * reachable, "{class}: {most} of {reachable}");
        assert!(*most < reachable * 1.001, "{class}: {most} of {reachable}");
    }
}

/// Of a quantile and both ends of its interval so much is given away that what two of the three choices cost is too little.
#[test]
fn an_interval_that_is_charged_as_two_choices_is_found_out() {
    let found = search(tries(60_000, 0.1), 24, |recipe, relation, _| {
        let is_interval = matches!(recipe.style(), Style::ExponentialInterval { .. });
        recipe.under(relation).ok().filter(|_| is_interval)
    });
    assert!(found.worst() <= ROUNDING && found.worst() > 1.1 * 2.0 / 3.0, "{:?}", found.most);
}

/// How much of the charge neighbours can reach: all of it, but where the sums that a person moves
/// cannot all move as far as they may at once. With Laplace noise, each sum having an equal part
/// of epsilon, and b half the width of the bounds:
///
/// - Of several records one person replaces, the number n moves furthest from k to none; the
///   offsets then move by kb of 2kb, and the squares by all of kb^2. That makes 1/2 + 1/4 for a
///   mean, 1/3 + 1/6 + 1/3 for a variance.
/// - One record moved from tb to b moves the offsets by (1-t)/2 and the squares by 1-t^2 of what
///   they may: at most (5/8 + 15/16)/2, for t = -1/4.
/// - With Gaussian noise, each sum having an equal part of rho, the shares are squared: 1/2 + 1/8, 1/3 + 1/12 + 1/3,
///   and ((1-t)^2/4 + (1-t^2)^2)/2, which is largest for t = (sqrt(2) - 2)/4.
///
/// One record or none is like several.
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

/// Far from zero the number of rows outweighs everything: it is hidden by noise too, unless each
/// person has one. (A sum that took the asker's word for that printed it.)
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
    let one = sum.under(Relation::one(Adjacency::Replace)).unwrap();
    assert!(!attack(&one, &pair, &[7]).1);
}

/// Records are part of what is compared, not the adjacency alone.
#[test]
fn data_of_another_relation_are_refused() {
    let mut asker = Asker::new(1);
    let relations: Vec<Relation> = [Adjacency::AddRemove, Adjacency::Replace]
        .into_iter()
        .flat_map(|adjacency| [1, 2, 10].map(|records| Relation::new(adjacency, records).unwrap()))
        .collect();
    for _ in 0..200 {
        let recipe = asker.recipe();
        for &made in &relations {
            let Ok(measurement) = recipe.under(made) else { continue };
            for &data in relations.iter().filter(|other| **other != made) {
                let refused = Err(crate::Error::Relation { made, data });
                assert_eq!(measurement.run(&Data::new(data, [1.0])), refused);
            }
        }
    }
}

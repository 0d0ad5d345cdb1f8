//! Measurements that share one noisy count: the numbers that noise is added to must not move further than all
//! measurements are charged together, with the count charged once.

use super::*;
use crate::data::Data;
use crate::query::{Contribution, Measurement};

/// The right charge, and wrong ones.
#[derive(Clone, Copy, PartialEq)]
enum Charge {
    Honest,
    /// The count is not charged.
    WithoutCount,
    /// A hundredth less is charged.
    Less,
}

/// The largest share of the charge that a count and several queries that share it reveal.
fn worst(charge: Charge, pairs: u64) -> f64 {
    let mut asker = Asker::new(38);
    let mut most: f64 = 0.0;
    for round in 0..pairs {
        let (relation, bounds) = (asker.relation(), asker.bounds());
        let contribution = Contribution::Rows(relation);
        let laplace = round % 2 == 0;
        let noisy_query = |query: Query, size: f64| match laplace {
            true => query.laplace(0.3 * size).unwrap(),
            false => query.gaussian(4.0 / size).unwrap(),
        };
        let count = noisy_query(Query::count(), 2.0).bounded(contribution).unwrap();
        let queries = [Query::mean(bounds), Query::variance(bounds), Query::proportion(bounds)];
        let shared: Vec<Measurement> = queries
            .iter()
            .filter_map(|query| {
                noisy_query(query.clone(), 1.0).bounded_with_count(contribution, &count).ok()
            })
            .collect();
        assert_eq!(shared.is_empty(), relation.is_length_public());
        let Some(first) = shared.first() else { continue };
        assert_eq!(first.releases().len(), 1, "the count is charged elsewhere");
        let all = || [&count].into_iter().chain(&shared);
        let releases: Vec<Release> = all().flat_map(|one| one.releases().to_vec()).collect();
        let told = charged(match charge {
            Charge::WithoutCount => &releases[1..],
            _ => &releases,
        });
        let near = turning(&queries[0]);
        let pair = asker.neighbours(relation, &near);
        let data = pair.map(|values| Data::new(relation, values));
        let seen = [0, 1].map(|side: usize| {
            let mut list = Vec::new();
            for one in all() {
                let tally = one.tally(&data[side]).unwrap();
                let (_, seen) = watch::with(&asker.noise(), || match one.has_outside_count() {
                    true => one.draw_with_count(&tally, 7.0).map(drop),
                    false => one.draw(&tally).map(drop),
                });
                list.extend(seen);
            }
            list
        });
        let given = loss(&seen[0], &seen[1]);
        let share = given.share_of(told);
        most = most.max(if charge == Charge::Less { share / 0.99 } else { share });
    }
    most
}

/// An extreme value moves the count and the mean's sum as far as possible: together with a count and a variance nearly
/// the whole charge is revealed.
#[test]
fn a_shared_count_and_all_that_share_it_give_away_no_more_than_they_cost() {
    let most = worst(Charge::Honest, tries(40_000, 0.1));
    assert!(most <= ROUNDING && most > 0.999, "{most}");
    let forgotten = worst(Charge::WithoutCount, tries(40_000, 0.1));
    assert!(forgotten > 1.2, "{forgotten}");
    let less = worst(Charge::Less, tries(40_000, 0.1));
    assert!(less > 1.005, "{less}");
}

//! What does not fit is refused, for reasons that say nothing of the numbers.

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{
    Bounds, Data, Error, KeyQuery, KeyedData, Measurement, NoisyQuery, Query,
};

fn relations() -> Vec<Relation> {
    let both = [Adjacency::AddRemove, Adjacency::Replace];
    both.into_iter().flat_map(|one| [1, 3].map(|n| Relation::new(one, n).unwrap())).collect()
}

/// A recipe of every kind, with how many columns it is about.
fn noisy_queries() -> Vec<(NoisyQuery, usize)> {
    let bounds = Bounds::new(0.0, 8.0).unwrap();
    let edges = [0.0, 2.0, 4.0];
    let noisy = [
        (Query::count(), 1),
        (Query::count_within(bounds), 1),
        (Query::sum(bounds), 1),
        (Query::mean(bounds), 1),
        (Query::proportion(bounds), 1),
        (Query::variance(bounds), 1),
        (Query::histogram(&edges).unwrap(), 1),
        (Query::cumulative(&edges).unwrap(), 1),
        (Query::covariance(bounds, bounds), 2),
        (Query::regression(&[bounds, bounds], bounds).unwrap(), 3),
    ];
    let chosen = [
        Query::quantile((1, 2), &edges).unwrap(),
        Query::quantiles(&[(1, 4), (1, 2)], &edges).unwrap(),
    ];
    let noisy = noisy.into_iter().map(|(query, width)| (query.laplace(1.0).unwrap(), width));
    let chosen = chosen.into_iter().map(|query| (query.exponential(1.0).unwrap(), 1));
    noisy.chain(chosen).collect()
}

/// A table of so many columns, all of one number.
fn table(relation: Relation, width: usize, value: f64) -> Data {
    Data::table(relation, vec![vec![value; 5]; width]).unwrap()
}

/// Everything that looks at data, and whether it refuses them for this reason.
fn refuses(ready: &Measurement, data: &Data, reason: &Error) -> bool {
    let wrong = [
        ready.check_data(data).err(),
        ready.run(data).err(),
        ready.tally(data).err(),
        ready.half_width_on(data, 0.9).err(),
        ready.half_widths_on(data, 0.9).err(),
        ready.expected_error_on(data).err(),
    ];
    wrong.iter().all(|error| error.as_ref() == Some(reason))
}

#[test]
fn data_of_other_columns_or_another_relation_are_refused() {
    for (noisy_query, asked) in noisy_queries() {
        for made in relations() {
            let Ok(ready) = noisy_query.under(made) else { continue };
            // Very different numbers; what is said of them is the same, to the letter.
            for value in [1.5, f64::NAN, -1e300] {
                for data in (1..5).filter(|width| *width != asked) {
                    let reason = Error::Columns { asked, data };
                    assert!(refuses(&ready, &table(made, data, value), &reason), "{noisy_query:?}");
                }
                for data in relations().into_iter().filter(|other| *other != made) {
                    let reason = Error::Relation { made, data };
                    assert!(
                        refuses(&ready, &table(data, asked, value), &reason),
                        "{noisy_query:?}"
                    );
                }
                assert_eq!(ready.check_data(&table(made, asked, value)), Ok(()));
            }
        }
    }
}

/// Columns of one table are equally long; what is wrong is how many there are, not what they are.
#[test]
fn uneven_columns_are_no_table() {
    for relation in relations() {
        let said = |value: f64| {
            Data::table(relation, [vec![value; 4], vec![value; 3]]).unwrap_err().to_string()
        };
        assert_eq!(said(1.5), said(f64::INFINITY));
        assert!(said(1.5).contains("legal: as many as the others"), "{}", said(1.5));
    }
}

/// Of every kind: a tally is released for the relation it was made under, and for no other.
#[test]
fn tallies_of_another_relation_are_refused() {
    for (noisy_query, width) in noisy_queries() {
        for made in relations() {
            let Ok(ready) = noisy_query.under(made) else { continue };
            let tally = ready.tally(&table(made, width, 1.5)).unwrap();
            assert!(ready.release(&tally).is_ok());
            for other in relations().into_iter().filter(|other| *other != made) {
                let Ok(other_ready) = noisy_query.under(other) else { continue };
                let reason = Error::Relation { made: other, data: made };
                assert_eq!(other_ready.release(&tally), Err(reason), "{noisy_query:?}");
            }
        }
    }
}

/// Of every two kinds, and of one kind with other noise on another grid.
#[test]
fn tallies_of_another_question_are_refused() {
    let relation = Relation::single_record(Adjacency::AddRemove);
    let all: Vec<(Measurement, usize)> = noisy_queries()
        .into_iter()
        .map(|(noisy_query, width)| (noisy_query.under(relation).unwrap(), width))
        .collect();
    for (from, (made, width)) in all.iter().enumerate() {
        let tally = made.tally(&table(relation, *width, 1.5)).unwrap();
        for (to, (other, _)) in all.iter().enumerate().filter(|(to, _)| *to != from) {
            let refused = other.release(&tally);
            assert!(matches!(refused, Err(Error::Question { .. })), "{from} {to}: {refused:?}");
        }
    }
}

#[test]
fn keys_of_another_relation_are_refused() {
    for made in relations() {
        let ready = KeyQuery::laplace(1.0, 1e-6).unwrap().under(made).unwrap();
        for data in relations() {
            let refused = ready.run(&KeyedData::from_counts(data, [("Ann's secret", 10_000)]));
            match made == data {
                true => assert!(refused.is_ok()),
                false => assert_eq!(refused, Err(Error::Relation { made, data })),
            }
        }
    }
}

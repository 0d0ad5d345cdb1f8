//! What cannot be planned is refused, with the field's name, its value and what would be legal. Beside each stands a study
//! next to it that is planned, so that nothing is refused for another reason.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    Ask, Budget, Goal, MOST_STATISTICS, Noise, PlanningError, Public, Statistic, Study, Wanted,
    Wish, plan,
};

fn known() -> Public {
    Public { relation: Relation::one(Adjacency::Replace), rows: Some(5000), sample_of: None }
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget { epsilon: Some(Epsilon::new(epsilon).unwrap()), delta: Delta::new(delta).unwrap() }
}

fn one() -> Budget {
    budget(1.0, 1e-6)
}

fn count(wish: Wish) -> Statistic {
    let (query, noise) =
        (Query::count_within(Bounds::new(0.0, 1.0).unwrap()), Some(Noise::Laplace));
    let wanted = Wanted { query, noise, confidence: 0.95, wish, scale: 1.0, population: None };
    Statistic { name: "count".into(), ask: Ask::Query(wanted) }
}

fn with(change: impl FnOnce(&mut Wanted)) -> Vec<Statistic> {
    let mut statistic = count(Wish::Error(50.0));
    if let Ask::Query(wanted) = &mut statistic.ask {
        change(wanted);
    }
    vec![statistic]
}

fn held_back(epsilon: f64, delta: f64) -> Statistic {
    Statistic { name: "later".into(), ask: Ask::HeldBack(Guarantee::new(epsilon, delta).unwrap()) }
}

fn tried(public: Public, budget: Budget, statistics: Vec<Statistic>) -> Result<(), PlanningError> {
    let study = Study::new(public, budget, Goal::Relative, statistics)?;
    plan(&study, &Options::default()).map(|_| ())
}

/// That a study is refused, about this statistic and this field, in these words.
#[track_caller]
fn refused(
    (public, budget, statistics): (Public, Budget, Vec<Statistic>),
    (statistic, field): (Option<usize>, &str),
    words: &str,
) {
    match tried(public, budget, statistics) {
        Err(PlanningError::Study(error)) => {
            assert_eq!((error.statistic, error.field), (statistic, field), "{error}");
            let text = error.to_string();
            assert!(text.contains(words) && text.contains("legal: "), "{text}, not {words}");
        }
        other => panic!("{field}: {other:?}"),
    }
}

const NO_NUMBERS: [(f64, &str); 6] = [
    (f64::NAN, "is NaN"),
    (f64::INFINITY, "is inf"),
    (f64::NEG_INFINITY, "is -inf"),
    (0.0, "is 0"),
    (-0.0, "is -0"),
    (-50.0, "is -50"),
];

#[test]
fn wishes_are_positive_numbers() {
    for (value, words) in NO_NUMBERS {
        for (wish, field) in [
            (Wish::Error(value), "error"),
            (Wish::Kept(value), "error"),
            (Wish::Level(value), "epsilon"),
            (Wish::Weight(value), "weight"),
        ] {
            refused((known(), one(), vec![count(wish)]), (Some(0), field), words);
        }
        let scaled = with(|wanted| wanted.scale = value);
        refused((known(), one(), scaled), (Some(0), "scale"), words);
        let sure = with(|wanted| wanted.confidence = value);
        refused((known(), one(), sure), (Some(0), "confidence"), words);
    }
    for wish in [Wish::Error(50.0), Wish::Kept(50.0), Wish::Level(0.1), Wish::Weight(1.0)] {
        assert_eq!(tried(known(), one(), vec![count(wish)]), Ok(()));
    }
    let certain = with(|wanted| wanted.confidence = 1.0);
    refused((known(), one(), certain), (Some(0), "confidence"), "is 1");
    // The second is named, not the first.
    let two = vec![count(Wish::Error(50.0)), count(Wish::Error(f64::NAN))];
    refused((known(), one(), two), (Some(1), "error"), "statistic 2: error is NaN");
}

/// An epsilon or a delta that is none cannot be made at all; zero can, and buys nothing.
#[test]
fn budgets_are_above_zero() {
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(Epsilon::new(value).is_err() && Delta::new(value).is_err(), "{value}");
    }
    let statistics = vec![count(Wish::Error(50.0))];
    for zero in [0.0, -0.0] {
        refused((known(), budget(zero, 1e-6), statistics.clone()), (None, "epsilon"), "is ");
    }
    assert_eq!(tried(known(), budget(0.1, 0.0), statistics), Ok(()));
    let larger = vec![count(Wish::Error(50.0)), held_back(0.1, 2e-6)];
    refused((known(), one(), larger), (Some(1), "delta"), "is 0.000002");
    let kept = vec![count(Wish::Error(50.0)), held_back(0.1, 1e-7)];
    assert_eq!(tried(known(), one(), kept), Ok(()));
}

#[test]
fn reversed_bounds_are_none() {
    for (low, high) in [(1.0, 0.0), (1.0, 1.0), (f64::NAN, 1.0), (0.0, f64::INFINITY)] {
        assert!(Bounds::new(low, high).is_err(), "{low} {high}");
    }
    for edges in [&[0.0, 2.0, 1.0][..], &[0.0, 0.0], &[0.0, f64::NAN], &[0.0]] {
        assert!(Query::histogram(edges).is_err(), "{edges:?}");
    }
}

/// Secrecy of a sample is proved for one replaced row, of a population that holds the sample.
#[test]
fn samples_are_of_a_population() {
    let statistics = || vec![count(Wish::Error(50.0))];
    let of = |population: u64| Public { sample_of: Some(population), ..known() };
    for population in [5000, 5001, 1_000_000_000_000] {
        assert_eq!(tried(of(population), one(), statistics()), Ok(()));
    }
    for population in [0, 1, 4999, 1_000_000_000_001] {
        let words = format!("is {population}; legal: from people, which is 5000");
        refused((of(population), one(), statistics()), (None, "sample_of"), &words);
    }
    for relation in [
        Relation::one(Adjacency::AddRemove),
        Relation::new(Adjacency::AddRemove, 2).unwrap(),
        Relation::new(Adjacency::Replace, 2).unwrap(),
    ] {
        let other = Public { relation, ..of(10_000) };
        let words = "is given for other neighbours than those of one replaced row";
        refused((other, one(), statistics()), (None, "sample_of"), words);
        assert_eq!(tried(Public { sample_of: None, ..other }, one(), statistics()), Ok(()));
    }
    let unknown = Public { rows: None, ..of(10_000) };
    refused((unknown, one(), statistics()), (None, "sample_of"), "without people");
    let nobody = Public { rows: Some(0), ..known() };
    refused((nobody, one(), statistics()), (None, "people"), "is 0; legal: 1 to 10^12");
}

#[test]
fn statistics_are_one_to_a_hundred_thousand() {
    assert_eq!(MOST_STATISTICS, 100_000);
    let made = |many: usize| {
        Study::new(known(), one(), Goal::Relative, vec![count(Wish::Error(50.0)); many])
    };
    for (many, words) in [(0, "statistic has 0 entries"), (100_001, "statistic has 100001 entries")]
    {
        let text = made(many).unwrap_err().to_string();
        assert!(text.contains(words) && text.contains("legal: 1 to 10^5"), "{text}");
    }
    assert!(made(100_000).is_ok());
}

/// What is pinned and held back is never thinned out: where it costs more than there is, there is no plan, and what is
/// said of the least is true by the sum of pure epsilons, which at delta zero is exact.
#[test]
fn pins_beyond_the_budget_are_refused() {
    let pure = budget(1.0, 0.0);
    for (pins, kept) in [
        (vec![count(Wish::Level(0.6)), count(Wish::Level(0.39))], true),
        (vec![count(Wish::Level(0.6)), count(Wish::Level(0.41))], false),
        (vec![count(Wish::Level(0.6)), held_back(0.39, 0.0)], true),
        (vec![count(Wish::Level(0.6)), held_back(0.41, 0.0)], false),
    ] {
        for free in [None, Some(Wish::Error(50.0)), Some(Wish::Weight(1.0))] {
            let statistics = pins.iter().cloned().chain(free.map(count)).collect();
            match tried(known(), pure, statistics) {
                Ok(()) => assert!(kept, "{free:?}: {pins:?}"),
                Err(PlanningError::OverBudget { budget, least }) => {
                    assert!(!kept && (budget - 1.0).abs() < 1e-12, "{free:?}: {pins:?}");
                    // With a free statistic, that one's least is added.
                    assert!(least > 1.0 && least < 1.0101, "{free:?}: {least}");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }
    // A pinned error is a pin too: noise within 3 at 95 % costs more than 0.5.
    let error = tried(known(), budget(0.5, 0.0), vec![count(Wish::Kept(3.0))]).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the budget of epsilon 0.5 cannot be kept"), "{text}");
    assert!(text.contains("legal: a larger budget, or less that is pinned"), "{text}");
    assert_eq!(tried(known(), budget(1.2, 0.0), vec![count(Wish::Kept(3.0))]), Ok(()));
}

/// At delta zero there is no Gaussian noise: nothing that insists on it is planned.
#[test]
fn gaussian_noise_needs_a_delta() {
    for wish in [Wish::Error(50.0), Wish::Kept(50.0), Wish::Weight(1.0), Wish::Level(0.1)] {
        let only = |noise| {
            with(|wanted| {
                wanted.noise = Some(noise);
                wanted.wish = wish;
            })
        };
        let error = tried(known(), budget(1.0, 0.0), only(Noise::Gaussian));
        assert!(
            error.as_ref().is_err_and(|said| said.to_string().contains("noise is gaussian")),
            "{error:?}"
        );
        assert_eq!(tried(known(), budget(1.0, 0.0), only(Noise::Laplace)), Ok(()), "{wish:?}");
        assert_eq!(tried(known(), one(), only(Noise::Gaussian)), Ok(()), "{wish:?}");
    }
}

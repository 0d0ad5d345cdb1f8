//! What cannot be planned is refused, with the field's name, its value and what would be legal. Beside each stands a study
//! next to it that is planned, so that nothing is refused for another reason.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::{Adjacency, Delta, Epsilon, Guarantee, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, MAX_STATISTICS, Noise, PlanningError, PublicFacts, QueryRequest,
    Statistic, StatisticContent, Study, plan,
};

fn known() -> PublicFacts {
    PublicFacts {
        relation: Relation::single_record(Adjacency::Replace),
        rows: Some(5000),
        sample_of: None,
    }
}

fn budget(epsilon: f64, delta: f64) -> Budget {
    Budget { epsilon: Some(Epsilon::new(epsilon).unwrap()), delta: Delta::new(delta).unwrap() }
}

fn one() -> Budget {
    budget(1.0, 1e-6)
}

fn count(target: AccuracyTarget) -> Statistic {
    let (query, noise) =
        (Query::count_within(Bounds::new(0.0, 1.0).unwrap()), Some(Noise::Laplace));
    let wanted =
        QueryRequest { query, noise, confidence: 0.95, target, scale: 1.0, population: None };
    Statistic { name: "count".into(), content: StatisticContent::Query(wanted) }
}

fn with(change: impl FnOnce(&mut QueryRequest)) -> Vec<Statistic> {
    let mut statistic = count(AccuracyTarget::Error(50.0));
    if let StatisticContent::Query(wanted) = &mut statistic.content {
        change(wanted);
    }
    vec![statistic]
}

fn held_back(epsilon: f64, delta: f64) -> Statistic {
    Statistic {
        name: "later".into(),
        content: StatisticContent::HeldBack(Guarantee::new(epsilon, delta).unwrap()),
    }
}

fn tried(
    public: PublicFacts,
    budget: Budget,
    statistics: Vec<Statistic>,
) -> Result<(), PlanningError> {
    let study = Study::new(public, budget, Goal::Relative, statistics)?;
    plan(&study, &Options::default()).map(|_| ())
}

/// That a study is refused, about this statistic and this field, in these words.
#[track_caller]
fn refused(
    (public, budget, statistics): (PublicFacts, Budget, Vec<Statistic>),
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
        for (target, field) in [
            (AccuracyTarget::Error(value), "error"),
            (AccuracyTarget::PinnedError(value), "error"),
            (AccuracyTarget::PinnedLevel(value), "epsilon"),
            (AccuracyTarget::Weight(value), "weight"),
        ] {
            refused((known(), one(), vec![count(target)]), (Some(0), field), words);
        }
        let scaled = with(|wanted| wanted.scale = value);
        refused((known(), one(), scaled), (Some(0), "scale"), words);
        let sure = with(|wanted| wanted.confidence = value);
        refused((known(), one(), sure), (Some(0), "confidence"), words);
    }
    for target in [
        AccuracyTarget::Error(50.0),
        AccuracyTarget::PinnedError(50.0),
        AccuracyTarget::PinnedLevel(0.1),
        AccuracyTarget::Weight(1.0),
    ] {
        assert_eq!(tried(known(), one(), vec![count(target)]), Ok(()));
    }
    let certain = with(|wanted| wanted.confidence = 1.0);
    refused((known(), one(), certain), (Some(0), "confidence"), "is 1");
    // The second is named, not the first.
    let two = vec![count(AccuracyTarget::Error(50.0)), count(AccuracyTarget::Error(f64::NAN))];
    refused((known(), one(), two), (Some(1), "error"), "statistic 2: error is NaN");
}

/// An epsilon or a delta that is none cannot be made at all; zero can, and buys nothing.
#[test]
fn budgets_are_above_zero() {
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(Epsilon::new(value).is_err() && Delta::new(value).is_err(), "{value}");
    }
    let statistics = vec![count(AccuracyTarget::Error(50.0))];
    for zero in [0.0, -0.0] {
        refused((known(), budget(zero, 1e-6), statistics.clone()), (None, "epsilon"), "is ");
    }
    assert_eq!(tried(known(), budget(0.1, 0.0), statistics), Ok(()));
    let larger = vec![count(AccuracyTarget::Error(50.0)), held_back(0.1, 2e-6)];
    refused((known(), one(), larger), (Some(1), "delta"), "is 0.000002");
    let kept = vec![count(AccuracyTarget::Error(50.0)), held_back(0.1, 1e-7)];
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
    let statistics = || vec![count(AccuracyTarget::Error(50.0))];
    let of = |population: u64| PublicFacts { sample_of: Some(population), ..known() };
    for population in [5000, 5001, 1_000_000_000_000] {
        assert_eq!(tried(of(population), one(), statistics()), Ok(()));
    }
    for population in [0, 1, 4999, 1_000_000_000_001] {
        let words = format!("is {population}; legal: from people, which is 5000");
        refused((of(population), one(), statistics()), (None, "sample_of"), &words);
    }
    for relation in [
        Relation::single_record(Adjacency::AddRemove),
        Relation::new(Adjacency::AddRemove, 2).unwrap(),
        Relation::new(Adjacency::Replace, 2).unwrap(),
    ] {
        let other = PublicFacts { relation, ..of(10_000) };
        let words = "is given, and its effect is proved only if one row of one person is replaced";
        refused((other, one(), statistics()), (None, "sample_of"), words);
        assert_eq!(tried(PublicFacts { sample_of: None, ..other }, one(), statistics()), Ok(()));
    }
    let unknown = PublicFacts { rows: None, ..of(10_000) };
    refused((unknown, one(), statistics()), (None, "sample_of"), "without people");
    let nobody = PublicFacts { rows: Some(0), ..known() };
    refused((nobody, one(), statistics()), (None, "people"), "is 0; legal: 1 to 10^12");
}

#[test]
fn statistics_are_one_to_a_hundred_thousand() {
    assert_eq!(MAX_STATISTICS, 100_000);
    let made = |many: usize| {
        Study::new(known(), one(), Goal::Relative, vec![count(AccuracyTarget::Error(50.0)); many])
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
        (
            vec![count(AccuracyTarget::PinnedLevel(0.6)), count(AccuracyTarget::PinnedLevel(0.39))],
            true,
        ),
        (
            vec![count(AccuracyTarget::PinnedLevel(0.6)), count(AccuracyTarget::PinnedLevel(0.41))],
            false,
        ),
        (vec![count(AccuracyTarget::PinnedLevel(0.6)), held_back(0.39, 0.0)], true),
        (vec![count(AccuracyTarget::PinnedLevel(0.6)), held_back(0.41, 0.0)], false),
    ] {
        for free in [None, Some(AccuracyTarget::Error(50.0)), Some(AccuracyTarget::Weight(1.0))] {
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
    let error = tried(known(), budget(0.5, 0.0), vec![count(AccuracyTarget::PinnedError(3.0))])
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("the budget of epsilon 0.5 is too small"), "{text}");
    assert!(text.contains("legal: a larger budget, or fewer pinned statistics"), "{text}");
    assert_eq!(
        tried(known(), budget(1.2, 0.0), vec![count(AccuracyTarget::PinnedError(3.0))]),
        Ok(())
    );
}

/// At delta zero there is no Gaussian noise: nothing that insists on it is planned.
#[test]
fn gaussian_noise_needs_a_delta() {
    for target in [
        AccuracyTarget::Error(50.0),
        AccuracyTarget::PinnedError(50.0),
        AccuracyTarget::Weight(1.0),
        AccuracyTarget::PinnedLevel(0.1),
    ] {
        let only = |noise| {
            with(|wanted| {
                wanted.noise = Some(noise);
                wanted.target = target;
            })
        };
        let error = tried(known(), budget(1.0, 0.0), only(Noise::Gaussian));
        assert!(
            error.as_ref().is_err_and(|said| said.to_string().contains("noise is gaussian")),
            "{error:?}"
        );
        assert_eq!(tried(known(), budget(1.0, 0.0), only(Noise::Laplace)), Ok(()), "{target:?}");
        assert_eq!(tried(known(), one(), only(Noise::Gaussian)), Ok(()), "{target:?}");
    }
}

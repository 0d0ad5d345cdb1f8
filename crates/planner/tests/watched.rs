//! Planning tells how far it has come, and stops when it is told to.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::watch::{Go, Watch};
use counterpoint::{Adjacency, AskError, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    Ask, Budget, CostError, Goal, Planned, PlanningError, Public, Statistic, Study, Wanted, Wish,
    plan,
};
use std::cell::{Cell, RefCell};

fn study(count: usize, epsilon: Option<f64>, wish: impl Fn(f64) -> Wish) -> Study {
    let statistic = |index: usize| {
        let bounds = Bounds::new(0.0, 1.0 + index as f64).unwrap();
        let (query, error) = match index % 3 {
            0 => (Query::count(), 30.0),
            1 => (Query::mean(bounds), 0.02),
            _ => (Query::quantile((1, 2), &[0.0, 1.0, 2.0, 3.0]).unwrap(), 100.0),
        };
        let wish = wish(error);
        let wanted =
            Wanted { query, noise: None, confidence: 0.9, wish, scale: error, population: None };
        Statistic { name: format!("{index}"), ask: Ask::Query(wanted) }
    };
    let public =
        Public { relation: Relation::one(Adjacency::Replace), rows: Some(10_000), sample_of: None };
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    Study::new(public, budget, Goal::Relative, (0..count).map(statistic).collect()).unwrap()
}

fn studies() -> [Study; 3] {
    [
        study(7, Some(1.0), Wish::Error),
        study(5, None, Wish::Error),
        study(4, Some(1.0), |_| Wish::Weight(1.0)),
    ]
}

fn watched(study: &Study, callback: &dyn Fn(f64) -> Go) -> Result<Planned, PlanningError> {
    plan(study, &Options { watch: Watch::with(callback), ..Options::default() })
}

#[test]
fn a_stop_ends_planning_wherever_it_is() {
    for study in studies() {
        let looks = Cell::new(0);
        let all = watched(&study, &|_| {
            looks.set(looks.get() + 1);
            Go::On
        });
        assert!(all.is_ok());
        let all = looks.get();
        // At once, at the very end, and in between.
        for stop in [1, 2, 5, all / 7, all / 3, all / 2, all - all / 5, all - 1, all] {
            looks.set(0);
            let planned = watched(&study, &|_| {
                looks.set(looks.get() + 1);
                if looks.get() < stop { Go::On } else { Go::Stop }
            });
            let stopped = PlanningError::Cost(CostError::Ask(AskError::Stopped));
            assert_eq!(planned.unwrap_err(), stopped, "{stop} of {all}");
            assert!(looks.get() < stop + 20, "{stop} of {all}: {} looks", looks.get());
        }
    }
}

#[test]
fn fractions_rise_to_nearly_one() {
    for study in studies() {
        let told = RefCell::new(Vec::new());
        let planned = watched(&study, &|done| {
            told.borrow_mut().push(done);
            Go::On
        });
        assert!(planned.is_ok());
        let told = told.into_inner();
        assert!(told.is_sorted(), "{told:?}");
        assert!(told.first().is_some_and(|first| *first < 0.05), "{told:?}");
        assert!(told.last().is_some_and(|last| (0.85..=1.0).contains(last)), "{told:?}");
        assert!(told.iter().any(|done| (0.2..0.7).contains(done)), "{told:?}");
    }
}

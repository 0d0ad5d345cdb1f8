//! Planning tells how far it has come, and stops when it is told to.
#![allow(clippy::unwrap_used, clippy::panic)]

use counterpoint::watch::{Control, Watch};
use counterpoint::{Adjacency, AskError, Delta, Epsilon, Options, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, CostError, Goal, PlanningError, PublicFacts, QueryRequest, Statistic,
    StatisticContent, Study, StudyPlan, plan,
};
use std::cell::{Cell, RefCell};

fn study(count: usize, epsilon: Option<f64>, target: impl Fn(f64) -> AccuracyTarget) -> Study {
    let statistic = |index: usize| {
        let bounds = Bounds::new(0.0, 1.0 + index as f64).unwrap();
        let (query, error) = match index % 3 {
            0 => (Query::count(), 30.0),
            1 => (Query::mean(bounds), 0.02),
            _ => (Query::quantile((1, 2), &[0.0, 1.0, 2.0, 3.0]).unwrap(), 100.0),
        };
        let target = target(error);
        let wanted = QueryRequest {
            query,
            noise: None,
            confidence: 0.9,
            target,
            scale: error,
            population: None,
        };
        Statistic { name: format!("{index}"), content: StatisticContent::Query(wanted) }
    };
    let public = PublicFacts {
        relation: Relation::single_record(Adjacency::Replace),
        rows: Some(10_000),
        sample_of: None,
    };
    let epsilon = epsilon.map(|epsilon| Epsilon::new(epsilon).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(1e-6).unwrap() };
    Study::new(public, budget, Goal::Relative, (0..count).map(statistic).collect()).unwrap()
}

fn studies() -> [Study; 3] {
    [
        study(7, Some(1.0), AccuracyTarget::Error),
        study(5, None, AccuracyTarget::Error),
        study(4, Some(1.0), |_| AccuracyTarget::Weight(1.0)),
    ]
}

fn watched(study: &Study, callback: &dyn Fn(f64) -> Control) -> Result<StudyPlan, PlanningError> {
    plan(study, &Options { watch: Watch::new(callback), ..Options::default() })
}

#[test]
fn a_stop_ends_planning_wherever_it_is() {
    for study in studies() {
        let looks = Cell::new(0);
        let all = watched(&study, &|_| {
            looks.set(looks.get() + 1);
            Control::Continue
        });
        assert!(all.is_ok());
        let all = looks.get();
        // At once, at the very end, and in between.
        for stop in [1, 2, 5, all / 7, all / 3, all / 2, all - all / 5, all - 1, all] {
            looks.set(0);
            let planned = watched(&study, &|_| {
                looks.set(looks.get() + 1);
                if looks.get() < stop { Control::Continue } else { Control::Stop }
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
            Control::Continue
        });
        assert!(planned.is_ok());
        let told = told.into_inner();
        assert!(told.is_sorted(), "{told:?}");
        assert!(told.first().is_some_and(|first| *first < 0.05), "{told:?}");
        assert!(told.last().is_some_and(|last| (0.85..=1.0).contains(last)), "{told:?}");
        assert!(told.iter().any(|done| (0.2..0.7).contains(done)), "{told:?}");
    }
}

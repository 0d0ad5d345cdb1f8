//! Shuffled reports, beside their definition in arbitrary precision (`reference/shuffled.py`).

use crate::common;

use common::Question;
use common::mechanisms::*;
use counterpoint::quantity::GroupSize;
use counterpoint::{Adjacency, Bracket, Count, Epsilon, Mechanism, Plan, Release};

const TABLE: &str = include_str!("reference/shuffled.txt");

fn shuffled(epsilon: f64, people: u64) -> Release {
    let (epsilon, people) = (Epsilon::new(epsilon).unwrap(), Count::new(people).unwrap());
    times(1, Mechanism::ShuffledReports { epsilon, people })
}

fn asked(release: Release, question: Question) -> Bracket {
    let plan = Plan::for_neighbours([release], Some(Adjacency::Replace), GroupSize::ONE).unwrap();
    ask_best(&plan, question, 1e-6).unwrap().bracket
}

#[test]
fn brackets_contain_the_sums_over_all_outcomes() {
    let mut checked = 0;
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let numbers: Vec<f64> = line.split(" | ").map(|text| text.parse().unwrap()).collect();
        let [local, people, epsilon, truth] = numbers[..] else { panic!("{line}") };
        let found = asked(shuffled(local, people as u64), Question::Delta(epsilon));
        let near = 1e-12 * truth;
        assert!(found.lower <= truth + near && truth <= found.upper + near, "{line}: {found}");
        assert!(found.upper <= truth * 1.01 + 1e-20, "{line}: {found}");
        assert!(found.lower >= truth * 0.99 - 1e-20, "{line}: {found}");
        checked += 1;
    }
    assert!(checked >= 60, "{checked}");
}

#[test]
fn more_people_hide_each_report_better() {
    let mut last = f64::INFINITY;
    for people in [1, 10, 1000, 30_000, 1_000_000] {
        let found = asked(shuffled(1.0, people), Question::Epsilon(1e-8));
        assert!(found.upper < last, "{people}: {found}");
        assert!(found.upper - found.lower <= 0.02 * found.upper, "{people}: {found}");
        last = found.upper;
    }
    // Of the order of the square root of ln(1/delta) e^epsilon / people.
    assert!(last > 2e-3 && last < 2e-2, "{last}");
}

#[test]
fn reports_are_shuffled_where_a_person_is_replaced() {
    let one = shuffled(1.0, 100);
    let refused = |adjacency, group: u64| {
        let group = GroupSize::new(group).unwrap();
        Plan::for_neighbours([one.clone()], adjacency, group).unwrap_err().to_string()
    };
    assert!(
        refused(Some(Adjacency::AddRemove), 1)
            .contains("with adjacency add-remove; legal: replace")
    );
    assert!(refused(None, 1).contains("adjacency is missing"));
    assert!(refused(Some(Adjacency::Replace), 2).contains("group is 2 for shuffled reports"));
    let nothing = asked(shuffled(0.0, 100), Question::Epsilon(0.0));
    assert!(nothing.upper <= 0.0, "{nothing}");
}

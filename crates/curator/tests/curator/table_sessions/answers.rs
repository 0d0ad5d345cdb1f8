//! What sessions answer, and how far one person moves it.

use std::time::{Duration, Instant};

use counterpoint_curator::question::{AggregateKind, ClampedColumn, Question};
use counterpoint_curator::table_session::{QuerySpec, SessionSpec};
use counterpoint_curator::{
    AnswerError, CuratorError, Error, MechanismError, OpenTable, Reply, SessionSubmission, Spend,
    Tabulation, TallySpec,
};
use counterpoint_mechanisms::{InteractiveMechanism, RequiredAggregate, SessionQuery as Step};
use counterpoint_testing::{Random, tries};
use rusqlite::types::Value;

use super::{
    NORTH, Place, about, asking, assert_near, assert_sound, is_over, north, opened,
    paid_in_the_north, pay, sparse, sql,
};
use crate::tables;

/// One session below the truth and one above it, of a count and of a sum: every answer is as it should be.
#[test]
fn a_gate_of_a_table_is_near_the_truth() {
    let (place, paid) = (Place::new(), paid_in_the_north());
    let curator = place.curator();
    let pays = || about(AggregateKind::Sum(ClampedColumn::of("pay")), north());
    let counts = || about(AggregateKind::Count, north());
    // A person moves a sum by 15, so that its noise is wider.
    for (key, of, truth, question, wide) in [
        ("count", QuerySpec::default(), NORTH, &counts as &dyn Fn() -> Question, 1.0),
        ("sum", pay(), paid, &pays, 8.0),
    ] {
        let (low, high) = (format!("{key}-low"), format!("{key}-high"));
        opened(&curator, &place.ann, &low, sparse(100.0, 3, truth - 3.0 * wide, of.clone()));
        opened(&curator, &place.ann, &high, sparse(100.0, 3, truth + 3.0 * wide, of.clone()));
        let ask = |key: &str| curator.ask_session(&place.ann, &asking(key, "q", question()));
        assert_near(&ask(&low).unwrap(), truth, wide);
        assert_eq!(*ask(&high).unwrap().reply(), Reply::Below);
        // A guess that is right, and one that is wrong.
        let guess = format!("{key}-guess");
        let declared = SessionSpec::GuessAndCheck {
            epsilon: 100.0,
            corrections: 2,
            tolerance: 5.0 * wide,
            of,
        };
        opened(&curator, &place.ann, &guess, declared);
        let check = |name: &str, number: f64| {
            let asking =
                SessionSubmission { guess: Some(number), ..asking(&guess, name, question()) };
            curator.ask_session(&place.ann, &asking).unwrap()
        };
        assert_eq!(*check("right", truth + wide).reply(), Reply::Pass);
        assert_near(&check("wrong", truth + 30.0 * wide), truth, wide);
    }
    // The same in SQL, of everybody: 200 people and one, two rows of each.
    opened(&curator, &place.ann, "all", sparse(100.0, 1, 300.0, QuerySpec::default()));
    let all = sql("all", "q", "SELECT COUNT(*) FROM visits");
    assert_near(&curator.ask_session(&place.ann, &all).unwrap(), 402.0, 1.0);
    assert_sound(&curator);
}

/// Whatever costs what was declared is answered, in any order, and nothing else.
#[test]
fn a_sequence_of_a_table_answers_what_it_was_declared_for() {
    let place = Place::new();
    let curator = place.curator();
    let quantiles = |candidates: Vec<f64>| AggregateKind::Quantiles {
        column: "age".to_owned(),
        shares: vec![0.5],
        candidates: Some(candidates),
    };
    let bins = AggregateKind::Histogram { column: "age".to_owned(), edges: vec![0.0, 5.0, 10.0] };
    let (eps, mean) = (Spend::Epsilon(40.0), AggregateKind::Mean(ClampedColumn::of("age")));
    let list = vec![
        (mean.clone(), eps),
        (AggregateKind::Variance(ClampedColumn::of("age")), eps),
        (quantiles(vec![0.0, 3.0, 6.0]), eps),
        (bins.clone(), eps),
        (AggregateKind::Count, Spend::Epsilon(30.0)),
    ];
    opened(&curator, &place.ann, "s", SessionSpec::Sequence(list));
    let ask = |name: &str, of: AggregateKind, spend: Spend| {
        let asking = SessionSubmission { spend: Some(spend), ..asking("s", name, about(of, None)) };
        curator.ask_session(&place.ann, &asking)
    };
    // Ages 0 to 9 forty times each, and 9 twice more: a mean of 4.52, a variance of 8.29.
    assert!(matches!(ask("bins", bins, eps).unwrap().reply(),
        Reply::Table(bins) if (bins[0] - 200.0).abs() < 2.0 && (bins[1] - 202.0).abs() < 2.0));
    // Other candidates cost the same.
    let middle = ask("half", quantiles(vec![1.0, 4.5, 8.0]), eps).unwrap();
    assert!(
        matches!(middle.reply(), Reply::Table(list) if (list[0] - 4.5).abs() < 1e-9)
            || middle.reply().number().is_some_and(|number| (number - 4.5).abs() < 1e-9)
    );
    let number = |name: &str, of: AggregateKind, spend: Spend| {
        ask(name, of, spend).unwrap().reply().number()
    };
    assert!(
        (number("count", AggregateKind::Count, Spend::Epsilon(30.0)).unwrap() - 402.0).abs() < 2.0
    );
    let undeclared = ask("again", AggregateKind::Count, Spend::Epsilon(30.0));
    assert!(
        matches!(undeclared, Err(CuratorError::Unanswered(AnswerError::Session(Error::Mechanism(error))))
        if *error == MechanismError::NotDeclared)
    );
    assert!((number("mean", mean.clone(), eps).unwrap() - 4.5224).abs() < 0.05);
    let variance =
        number("spread", AggregateKind::Variance(ClampedColumn::of("age")), eps).unwrap();
    assert!((variance - 8.29).abs() < 0.5, "{variance}");
    assert!(is_over(ask("more", mean.clone(), eps)));
    assert!(ask("mean", mean, eps).unwrap().is_repeated());
    assert_sound(&curator);
}

/// What a gate needs of the table, as it was added up, in the query's own unit.
fn summed(held: &OpenTable, declared: &InteractiveMechanism, question: &Question) -> f64 {
    let protocol = declared.under(held.public.relation().filtered()).unwrap();
    let checked = question.check(&held.public).unwrap();
    let step = Step::Above(checked.aggregates()[0].query.clone());
    let RequiredAggregate::Units(summand) =
        protocol.required_aggregate(&protocol.begin().unwrap(), &step).unwrap()
    else {
        panic!("a gate needs a sum")
    };
    let wanted = [TallySpec::Sums(vec![summand])];
    let tabulation = Tabulation::new(&checked, &wanted).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let counted = held.count(&[&tabulation], deadline).unwrap();
    counted[0][0].numbers[0][0] as f64 * summand.unit()
}

/// Whoever has many rows of whatever values moves no query of a gate further than the gate's noise is for, whichever
/// neighbours there are; and some move it as far.
#[test]
fn one_person_moves_a_gate_no_further_than_declared() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("data");
    let mut random = Random::new(31_415);
    let mut most = [0.0_f64; 2];
    for round in 0..tries(1_500, 0.1) {
        let rows = random.between(1, 4);
        let adjacency = ["add-remove", "replace"][random.below(2) as usize];
        tables::write(&file, &[]);
        let held = tables::held(tables::public(true, rows, rows, adjacency), &file);
        let bounds =
            [(-3.0, 7.5), (0.1, 0.3), (-8.0, -2.0), (-1e-3, 1e3)][random.below(4) as usize];
        let is_sum = random.below(3) > 0;
        let (of, query) = if is_sum {
            let values = ClampedColumn { column: "pay".to_owned(), bounds: Some(bounds) };
            (QuerySpec { column: None, bounds: Some(bounds) }, AggregateKind::Sum(values))
        } else {
            (QuerySpec::default(), AggregateKind::Count)
        };
        let declared = sparse(1.0, 1, 0.0, of).mechanism(&held.public).unwrap();
        let filter = (random.below(3) > 0).then(|| tables::condition(&mut random, 2));
        let question = about(query, filter);
        // By definition: a record's number is added, taken away, or is in another's place, who may have none.
        let (low, high) = if is_sum { bounds } else { (0.0, 1.0) };
        let one = match adjacency {
            "replace" => high.max(0.0) - low.min(0.0),
            _ => low.abs().max(high.abs()),
        };
        let reach = one * rows as f64;
        let own = |random: &mut Random| {
            let mut own = tables::rows(random, 1, 1).remove(0);
            own[0] = Value::Integer(99);
            if random.below(2) == 0 {
                own[2] = Value::Real([1e9, -1e9][random.below(2) as usize]);
            }
            own
        };
        let mut table = tables::rows(&mut random, 20, 6);
        let mut neighbour = table.clone();
        let (one_side, other_side) = (own(&mut random), own(&mut random));
        table.extend((0..random.between(1, 8)).map(|_| one_side.clone()));
        if adjacency == "replace" {
            neighbour.extend((0..random.between(1, 8)).map(|_| other_side.clone()));
        }
        tables::write(&file, &table);
        let here = summed(&held, &declared, &question);
        tables::write(&file, &neighbour);
        let moved = (here - summed(&held, &declared, &question)).abs();
        assert!(moved <= reach * (1.0 + 1e-9), "{round}: {moved} of {reach}, {question:?}");
        let place = usize::from(adjacency == "replace");
        most[place] = most[place].max(moved / reach);
        // A sum that is one in a hundred wider is not of this session.
        if is_sum {
            let wide = |x: f64| x * 1.01;
            let bounds = Some((wide(bounds.0), wide(bounds.1)));
            let values = ClampedColumn { column: "pay".to_owned(), bounds };
            let wider = about(AggregateKind::Sum(values), None).check(&held.public).unwrap();
            let protocol = declared.under(held.public.relation().filtered()).unwrap();
            let step = Step::Above(wider.aggregates()[0].query.clone());
            let refused = protocol.required_aggregate(&protocol.begin().unwrap(), &step);
            assert!(
                matches!(refused, Err(MechanismError::Sensitivity { .. })),
                "{round}: {bounds:?}"
            );
        }
    }
    assert!(most.iter().all(|most| *most > 0.99), "nobody moved as much as they may: {most:?}");
}

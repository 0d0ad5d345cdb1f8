//! Sessions, with the noise scripted.

use super::*;
use crate::query::Bounds;
use crate::sample::script;

const BOTH: Adjacency = Adjacency::AddRemove;
const DATA: [f64; 3] = [1.0, 2.0, 3.0];

fn count() -> Query {
    Query::count(BOTH)
}

/// The draws in order: the threshold once, then one for each query.
#[test]
fn the_threshold_is_drawn_once_and_each_query_gets_noise_of_its_own() {
    let sparse = SparseVector::new(1.0, 2, 5.0, BOTH).unwrap();
    // Threshold 5 + 1; then 3 + 2, 3 + 3, 3 - 9, 3 + 4.
    let replies = script::with(&[1, 2, 3, -9, 4], || {
        let session = Interactive::from(sparse).open(DATA).unwrap();
        (0..5).map(|_| session.ask(Question::Above(&count()))).collect::<Vec<_>>()
    });
    let (below, above) = (Ok(Reply::Below), Ok(Reply::Above(None)));
    assert_eq!(replies, [below.clone(), above.clone(), below, above, Err(Error::Exhausted)]);
}

/// Ten times 0.4 is 4, although each rounds to nothing.
#[test]
fn a_sum_is_rounded_once() {
    let sparse = SparseVector::new(1.0, 1, 4.0, BOTH).unwrap();
    let sum = Query::sum(Bounds::new(0.0, 1.0).unwrap(), BOTH);
    let reply = script::with(&[0, 0], || {
        Interactive::from(sparse).open([0.4; 10]).unwrap().ask(Question::Above(&sum))
    });
    assert_eq!(reply, Ok(Reply::Above(None)));
}

#[test]
fn values_get_fresh_noise() {
    let sparse = SparseVector::new(1.0, 1, 5.0, BOTH).unwrap().with_values();
    let reply = script::with(&[0, 2, -1], || {
        Interactive::from(sparse).open(DATA).unwrap().ask(Question::Above(&count()))
    });
    assert_eq!(reply, Ok(Reply::Above(Some(2.0))));
}

#[test]
fn a_guess_is_passed_or_corrected_by_its_distance() {
    let guess = GuessAndCheck::new(1.0, 1, 4.0, BOTH).unwrap();
    script::with(&[0, 0, 0, 0, 10], || {
        let session = Interactive::from(guess).open(DATA).unwrap();
        assert_eq!(session.ask(Question::Check(&count(), 6.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(Question::Check(&count(), 0.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(Question::Check(&count(), -1.0)), Ok(Reply::Wrong(13.0)));
        assert_eq!(session.ask(Question::Check(&count(), 3.0)), Err(Error::Exhausted));
        assert_eq!((session.answered(), session.is_exhausted()), (3, true));
    });
}

/// If randomness fails after a query was found above, the failure itself tells that it was.
#[test]
fn a_failure_of_randomness_ends_the_session() {
    let sparse = SparseVector::new(1.0, 9, 0.0, BOTH).unwrap().with_values();
    let session = script::with(&[0, 5], || {
        let session = Interactive::from(sparse).open(DATA).unwrap();
        let failed = session.ask(Question::Above(&count()));
        assert!(matches!(failed, Err(Error::Randomness { .. })));
        session
    });
    assert_eq!(session.ask(Question::Above(&count())), Err(Error::Exhausted));
}

#[test]
fn what_was_not_declared_is_refused_before_anything_is_drawn() {
    let session = Interactive::from(SparseVector::new(1.0, 1, 0.0, BOTH).unwrap());
    let session = session.open(DATA).unwrap();
    script::with(&[], || {
        let other = Query::count(Adjacency::Replace);
        let reply = session.ask(Question::Above(&other));
        assert!(matches!(reply, Err(Error::Adjacency { .. })));
        let twice = count().records(2).unwrap();
        let reply = session.ask(Question::Above(&twice));
        assert_eq!(reply, Err(Error::Sensitivity { asked: 2, declared: 1 }));
        let sum = Query::sum(Bounds::new(0.0, 3.0).unwrap(), BOTH);
        assert!(matches!(session.ask(Question::Above(&sum)), Err(Error::Sensitivity { .. })));
        let mean = Query::mean(Bounds::new(0.0, 3.0).unwrap(), BOTH);
        assert!(matches!(session.ask(Question::Above(&mean)), Err(Error::Question { .. })));
        assert!(matches!(session.ask(Question::Check(&sum, 0.0)), Err(Error::Question { .. })));
    });
    assert_eq!((session.answered(), session.is_exhausted()), (0, false));
}

#[test]
fn a_sequence_runs_what_is_on_its_list_and_no_more() {
    let (cheap, dear) = (count().laplace(0.1).unwrap(), count().laplace(0.2).unwrap());
    let session = Interactive::from(Sequence::new([&cheap, &cheap, &dear]).unwrap());
    let session = session.open(DATA).unwrap();
    let ask = |what: &Measurement| session.ask(Question::Measure(what));
    assert!(ask(&dear).is_ok());
    assert_eq!(ask(&dear), Err(Error::NotDeclared));
    // Another question at the same price will do.
    let other = Query::count_within(Bounds::new(0.0, 2.5).unwrap(), BOTH).laplace(0.1).unwrap();
    assert!(ask(&other).is_ok() && ask(&cheap).is_ok());
    assert_eq!(ask(&cheap), Err(Error::Exhausted));
}

#[test]
fn declarations_are_checked_together() {
    let one = || Interactive::from(SparseVector::new(1.0, 1, 0.0, BOTH).unwrap());
    let twice = Concurrent::open(BOTH, DATA, [("a", one()), ("a", one())]);
    assert!(matches!(twice, Err(Error::Name { .. })));
    let mixed = Concurrent::open(Adjacency::Replace, DATA, [("a", one())]);
    assert!(matches!(mixed, Err(Error::Adjacency { .. })));
    let columns: [std::sync::Arc<[f64]>; 2] = [DATA.into(), [1.0].into()];
    let uneven = Concurrent::over(BOTH, columns.map(|column| ("a", one(), column)));
    assert!(matches!(uneven, Err(Error::Length { .. })));
    let none: [(&str, Interactive); 0] = [];
    assert!(matches!(Concurrent::open(BOTH, DATA, none), Err(Error::Plan(_))));
    let all = Concurrent::open(BOTH, DATA, [("a", one()), ("b", one())]).unwrap();
    assert!(all.session("c").is_err());
    // Two of 3 epsilon: 6 at delta 0, by adding up.
    let total = all.epsilon(counterpoint::Delta::new(0.0).unwrap()).unwrap().bracket;
    assert!((total.upper - 6.0).abs() < 1e-9 && total.upper >= 6.0, "{total}");
}

#[test]
fn bad_parameters_are_named() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 101.0] {
        let text = SparseVector::new(bad, 1, 0.0, BOTH).unwrap_err().to_string();
        assert_eq!(text, format!("epsilon is {bad}; legal: a number from 2^-20 to 100"));
        assert!(GuessAndCheck::new(bad, 1, 1.0, BOTH).is_err());
    }
    assert!(SparseVector::new(1.0, 0, 0.0, BOTH).is_err());
    assert!(SparseVector::new(1.0, 1, f64::NAN, BOTH).is_err());
    assert!(GuessAndCheck::new(1.0, 1, 0.0, BOTH).is_err());
    let sparse = SparseVector::new(1.0, 1, 0.0, BOTH).unwrap();
    assert!(sparse.scaled(0.0, crate::Grid::WHOLE).is_err());
    let none: [&Measurement; 0] = [];
    assert!(Sequence::new(none).is_err());
}

#[test]
fn neither_data_nor_the_noisy_threshold_are_printed() {
    let sparse = || Interactive::from(SparseVector::new(1.0, 1, 5.0, BOTH).unwrap());
    let secret = [1234.5; 3];
    script::with(&[6789, 6789], || {
        let session = sparse().open(secret).unwrap();
        let all = Concurrent::open(BOTH, secret, [("a", sparse())]).unwrap();
        for text in [format!("{session:?}"), format!("{all:?}")] {
            assert!(text.contains("SparseVector"), "{text}");
            assert!(!text.contains("1234") && !text.contains("67"), "{text}");
        }
    });
}

//! Sessions, with the noise scripted.

use super::*;
use crate::query::Bounds;
use crate::sample::script;
use crate::{Data, Error, Reply};
use counterpoint::{Adjacency, Relation};

const BOTH: Relation = Relation::single_record(Adjacency::AddRemove);

fn data() -> Data {
    Data::new(BOTH, [1.0, 2.0, 3.0])
}

fn count() -> SessionQuery {
    SessionQuery::Above(Query::count())
}

fn check(guess: f64) -> SessionQuery {
    SessionQuery::Check(Query::count(), guess)
}

/// The draws in order: the threshold once, then one for each query.
#[test]
fn the_threshold_is_drawn_once_and_each_query_gets_noise_of_its_own() {
    let sparse = SparseVector::new(1.0, 2, 5.0).unwrap();
    // Threshold 5 + 1; then 3 + 2, 3 + 3, 3 - 9, 3 + 4.
    let replies = script::with(&[1, 2, 3, -9, 4], || {
        let session = InteractiveMechanism::from(sparse).open(&data()).unwrap();
        (0..5).map(|_| session.ask(&count())).collect::<Vec<_>>()
    });
    let (below, above) = (Ok(Reply::Below), Ok(Reply::Above(None)));
    assert_eq!(replies, [below.clone(), above.clone(), below, above, Err(Error::Exhausted)]);
}

/// The threshold is redrawn at every answer, but only an answer above is followed by the new one.
#[test]
fn the_threshold_is_drawn_anew_after_each_answer_above_if_that_was_declared() {
    let sparse = SparseVector::new(1.0, 3, 5.0).unwrap().redrawn();
    // Threshold 5 + 1, and 3 + 2 is below; the next one, 5 - 9, is not used. 3 + 3 is above, and 5 - 3 comes
    // next: 3 + 0 is above. Then 5 + 7: 3 + 8 is below and 3 + 9 above.
    let draws = [1, 2, -9, 3, -3, 0, 7, 8, -20, 9, 0];
    let replies = script::with(&draws, || {
        let session = InteractiveMechanism::from(sparse).open(&data()).unwrap();
        (0..6).map(|_| session.ask(&count())).collect::<Vec<_>>()
    });
    let (below, above) = (Ok(Reply::Below), Ok(Reply::Above(None)));
    let expected =
        [below.clone(), above.clone(), above.clone(), below, above, Err(Error::Exhausted)];
    assert_eq!(replies, expected);
    // Distances: 2 + 0 is right within 4 + 0; 7 + 0 is not, and is corrected; then the tolerance is 4 + 9.
    let guess = GuessAndCheck::new(1.0, 2, 4.0).unwrap().redrawn();
    script::with(&[0, 0, 5, 1, 0, 10, 9, 0, 11, 1], || {
        let session = InteractiveMechanism::from(guess).open(&data()).unwrap();
        assert_eq!(session.ask(&check(5.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(-4.0)), Ok(Reply::Wrong(13.0)));
        assert_eq!(session.ask(&check(-4.0)), Ok(Reply::Pass));
    });
}

/// Rounds are charged as that many sparse vectors of one answer each, and their values.
#[test]
fn rounds_are_charged_one_by_one_with_the_noise_of_one_answer() {
    use counterpoint::{Epsilon, Mechanism};
    let [one, two] = [0.25, 0.5].map(|epsilon| Epsilon::new(epsilon).unwrap());
    let once = SparseVector::new(0.25, 1, 5.0).unwrap().with_values();
    let once = InteractiveMechanism::from(once).under(BOTH).unwrap().releases().to_vec();
    let rounds = SparseVector::new(0.25, 40, 5.0).unwrap().redrawn();
    let told = InteractiveMechanism::from(rounds.clone()).under(BOTH).unwrap().releases().to_vec();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].mechanism, Mechanism::AboveThreshold { threshold: one, queries: two });
    let declared: [InteractiveMechanism; 2] =
        [rounds.with_values().into(), GuessAndCheck::new(0.25, 40, 5.0).unwrap().redrawn().into()];
    for declared in declared {
        let releases = declared.under(BOTH).unwrap().releases().to_vec();
        assert_eq!(releases.len(), 2);
        assert_eq!(releases[0], told[0]);
        assert!(releases.iter().all(|release| release.count.get() == 40));
        assert!(once.iter().all(|release| release.count.get() == 1));
        assert_eq!(releases[1].mechanism, once[1].mechanism);
    }
    // On one threshold they are charged by the sum of both, as in stored sessions, for any number of answers.
    assert_eq!(once[0].mechanism, Mechanism::SparseVector { threshold: one, queries: two });
    let kept: [InteractiveMechanism; 2] = [
        SparseVector::new(0.25, 40, 5.0).unwrap().into(),
        GuessAndCheck::new(0.25, 40, 5.0).unwrap().into(),
    ];
    for declared in kept {
        assert_eq!(declared.under(BOTH).unwrap().releases()[0], once[0]);
    }
    // One answer is one round, but the declarations differ.
    let single = SparseVector::new(0.25, 1, 5.0).unwrap();
    let [kept, anew] = [single.clone(), single.redrawn()]
        .map(|one| InteractiveMechanism::from(one).under(BOTH).unwrap());
    assert_ne!(kept.releases(), anew.releases());
    let state = script::with(&[0], || kept.begin()).unwrap();
    assert!(matches!(anew.answer(&data(), &state, &count()), Err(Error::State { .. })));
}

/// A session that is serialized and deserialized after every answer continues unchanged.
#[test]
fn a_state_read_back_has_the_same_threshold_and_as_much_left() {
    let declared = InteractiveMechanism::from(SparseVector::new(1.0, 2, 5.0).unwrap());
    let protocol = declared.under(BOTH).unwrap();
    let read = |state: &State| {
        let text = serde_json::to_string(state).unwrap();
        serde_json::from_str::<State>(&text).unwrap()
    };
    // Threshold 5 + 1; then 3 + 2, 3 + 3, 3 - 9, 3 + 4, as above.
    let mut state = script::with(&[1], || protocol.begin()).unwrap();
    for (draw, expected) in
        [(2, Reply::Below), (3, Reply::Above(None)), (-9, Reply::Below), (4, Reply::Above(None))]
    {
        // An answer that nobody saw does not use up the state.
        script::with(&[100], || protocol.answer(&data(), &state, &count())).unwrap();
        let answer = || protocol.answer(&data(), &read(&state), &count()).unwrap();
        let (reply, next) = script::with(&[draw], answer);
        assert_eq!(reply, expected);
        state = read(&next);
    }
    assert_eq!(state.answered(), 4);
    assert_eq!(protocol.answer(&data(), &state, &count()), Err(Error::Exhausted));
}

/// Ten times 0.4 is 4, although each number rounds to zero.
#[test]
fn a_sum_is_rounded_once() {
    let sparse = SparseVector::new(1.0, 1, 4.0).unwrap();
    let sum = SessionQuery::Above(Query::sum(Bounds::new(0.0, 1.0).unwrap()));
    let many = Data::new(BOTH, [0.4; 10]);
    let reply =
        script::with(&[0, 0], || InteractiveMechanism::from(sparse).open(&many).unwrap().ask(&sum));
    assert_eq!(reply, Ok(Reply::Above(None)));
}

#[test]
fn values_get_fresh_noise() {
    let sparse = SparseVector::new(1.0, 1, 5.0).unwrap().with_values();
    let reply = script::with(&[0, 2, -1], || {
        InteractiveMechanism::from(sparse).open(&data()).unwrap().ask(&count())
    });
    assert_eq!(reply, Ok(Reply::Above(Some(2.0))));
}

#[test]
fn a_guess_is_passed_or_corrected_by_its_distance() {
    let guess = GuessAndCheck::new(1.0, 1, 4.0).unwrap();
    script::with(&[0, 0, 5, 0, 5, 0, 10], || {
        let session = InteractiveMechanism::from(guess).open(&data()).unwrap();
        assert_eq!(session.ask(&check(6.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(0.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(-1.0)), Ok(Reply::Wrong(13.0)));
        assert_eq!(session.ask(&check(3.0)), Err(Error::Exhausted));
        assert_eq!((session.answered(), session.is_exhausted()), (3, true));
    });
}

/// A failure of randomness after a query was found above would reveal that.
#[test]
fn a_failure_of_randomness_ends_the_session() {
    let sparse = SparseVector::new(1.0, 9, 0.0).unwrap().with_values();
    let session = script::with(&[0, 5], || {
        let session = InteractiveMechanism::from(sparse).open(&data()).unwrap();
        let failed = session.ask(&count());
        assert!(matches!(failed, Err(Error::Randomness { .. })));
        session
    });
    assert_eq!(session.ask(&count()), Err(Error::Exhausted));
}

#[test]
fn what_was_not_declared_is_refused_before_anything_is_drawn() {
    let session = InteractiveMechanism::from(SparseVector::new(1.0, 1, 0.0).unwrap());
    let session = session.open(&data()).unwrap();
    let bounds = Bounds::new(0.0, 3.0).unwrap();
    script::with(&[], || {
        let reply = session.ask(&SessionQuery::Above(Query::sum(bounds)));
        assert_eq!(reply, Err(Error::Sensitivity { asked: 3, declared: 1 }));
        let reply = session.ask(&SessionQuery::Above(Query::mean(bounds)));
        assert!(matches!(reply, Err(Error::Question { .. })));
        assert!(matches!(session.ask(&check(0.0)), Err(Error::Question { .. })));
    });
    assert_eq!((session.answered(), session.is_exhausted()), (0, false));
    let guesses = InteractiveMechanism::from(GuessAndCheck::new(1.0, 1, 1.0).unwrap());
    let guesses = guesses.open(&data()).unwrap();
    for bad in [f64::NAN, f64::INFINITY, 1e101] {
        assert!(matches!(guesses.ask(&check(bad)), Err(Error::OutOfRange(_))));
    }
}

#[test]
fn a_sequence_runs_what_is_on_its_list_and_no_more() {
    let count = |epsilon| Query::count().laplace(epsilon).unwrap();
    let session = InteractiveMechanism::from(Sequence::new([0.1, 0.1, 0.2].map(count)).unwrap());
    let session = session.open(&data()).unwrap();
    let ask = |what: NoisyQuery| session.ask(&SessionQuery::Measure(what));
    assert!(ask(count(0.2)).is_ok());
    assert_eq!(ask(count(0.2)), Err(Error::NotDeclared));
    // Another query at the same price is legal.
    let other = Query::count_within(Bounds::new(0.0, 2.5).unwrap()).laplace(0.1).unwrap();
    assert!(ask(other).is_ok() && ask(count(0.1)).is_ok());
    assert_eq!(ask(count(0.1)), Err(Error::Exhausted));
}

#[test]
fn declarations_are_checked_together() {
    let one = || InteractiveMechanism::from(SparseVector::new(1.0, 1, 0.0).unwrap());
    let twice = ConcurrentSessions::open(&data(), [("a", one()), ("a", one())]);
    assert!(matches!(twice, Err(Error::Name { .. })));
    // All columns must have one relation, including the number of records, and one length.
    let other = |relation| Data::new(relation, [1.0, 2.0, 3.0]);
    let beside = |other: Data| {
        ConcurrentSessions::open_on_columns([("a", one(), data()), ("b", one(), other)])
    };
    let several = Relation::new(Adjacency::AddRemove, 7).unwrap();
    for relation in [several, Relation::single_record(Adjacency::Replace)] {
        let refused = Error::Relation { made: BOTH, data: relation };
        assert_eq!(beside(other(relation)).unwrap_err(), refused);
    }
    assert!(matches!(beside(Data::new(BOTH, [1.0])), Err(Error::Length { .. })));
    let none: [(&str, InteractiveMechanism); 0] = [];
    assert!(matches!(ConcurrentSessions::open(&data(), none), Err(Error::Plan(_))));
    let all = beside(other(BOTH)).unwrap();
    assert!(all.session("c").is_err());
    // Two sessions of 3 epsilon cost 6 at delta 0.
    let total = all.epsilon(counterpoint::Delta::new(0.0).unwrap()).unwrap().bracket;
    assert!((total.upper - 6.0).abs() < 1e-9 && total.upper >= 6.0, "{total}");
}

#[test]
fn bad_parameters_are_named() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 101.0] {
        let text = SparseVector::new(bad, 1, 0.0).unwrap_err().to_string();
        assert_eq!(text, format!("epsilon is {bad}; legal: a number from 2^-20 to 100"));
        assert!(GuessAndCheck::new(bad, 1, 1.0).is_err());
    }
    assert!(SparseVector::new(1.0, 0, 0.0).is_err());
    assert!(SparseVector::new(1.0, 1, f64::NAN).is_err());
    assert!(GuessAndCheck::new(1.0, 1, 0.0).is_err());
    let sparse = SparseVector::new(1.0, 1, 0.0).unwrap();
    assert!(sparse.scaled(0.0, crate::Grid::WHOLE).is_err());
    assert!(Sequence::new([]).is_err());
}

#[test]
fn neither_data_nor_the_noisy_threshold_are_printed() {
    let sparse = || InteractiveMechanism::from(SparseVector::new(1.0, 1, 5.0).unwrap());
    let secret = Data::new(BOTH, [1234.5; 3]);
    // The data, the noise and the noisy threshold are secret.
    let secrets = ["1234", "6789", "6794"];
    script::with(&[6789, 6789, 6789], || {
        let session = sparse().open(&secret).unwrap();
        let all = ConcurrentSessions::open(&secret, [("a", sparse())]).unwrap();
        for text in [format!("{session:?}"), format!("{all:?}")] {
            assert!(text.contains("SparseVector"), "{text}");
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
        }
        let state = sparse().under(BOTH).unwrap().begin().unwrap();
        for text in [format!("{state:?}"), format!("{secret:?}")] {
            assert!(text.contains("AddRemove"), "{text}");
            assert!(!secrets.iter().any(|secret| text.contains(secret)), "{text}");
        }
    });
}

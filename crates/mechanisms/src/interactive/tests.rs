//! Sessions, with the noise scripted.

use super::*;
use crate::query::Bounds;
use crate::sample::script;
use crate::{Data, Error, Reply};
use counterpoint::{Adjacency, Relation};

const BOTH: Relation = Relation::one(Adjacency::AddRemove);

fn data() -> Data {
    Data::new(BOTH, [1.0, 2.0, 3.0])
}

fn count() -> Question {
    Question::Above(Query::count())
}

fn check(guess: f64) -> Question {
    Question::Check(Query::count(), guess)
}

/// The draws in order: the threshold once, then one for each query.
#[test]
fn the_threshold_is_drawn_once_and_each_query_gets_noise_of_its_own() {
    let sparse = SparseVector::new(1.0, 2, 5.0).unwrap();
    // Threshold 5 + 1; then 3 + 2, 3 + 3, 3 - 9, 3 + 4.
    let replies = script::with(&[1, 2, 3, -9, 4], || {
        let session = Interactive::from(sparse).open(&data()).unwrap();
        (0..5).map(|_| session.ask(&count())).collect::<Vec<_>>()
    });
    let (below, above) = (Ok(Reply::Below), Ok(Reply::Above(None)));
    assert_eq!(replies, [below.clone(), above.clone(), below, above, Err(Error::Exhausted)]);
}

/// Drawn anew, and at every answer: but only one above is followed by the new one.
#[test]
fn the_threshold_is_drawn_anew_after_each_answer_above_if_that_was_declared() {
    let sparse = SparseVector::new(1.0, 3, 5.0).unwrap().redrawn();
    // Threshold 5 + 1, and 3 + 2 is below; the next one, 5 - 9, is not used. 3 + 3 is above, and 5 - 3 comes
    // next: 3 + 0 is above. Then 5 + 7: 3 + 8 is below and 3 + 9 above.
    let draws = [1, 2, -9, 3, -3, 0, 7, 8, -20, 9, 0];
    let replies = script::with(&draws, || {
        let session = Interactive::from(sparse).open(&data()).unwrap();
        (0..6).map(|_| session.ask(&count())).collect::<Vec<_>>()
    });
    let (below, above) = (Ok(Reply::Below), Ok(Reply::Above(None)));
    let expected =
        [below.clone(), above.clone(), above.clone(), below, above, Err(Error::Exhausted)];
    assert_eq!(replies, expected);
    // Distances: 2 + 0 is right within 4 + 0; 7 + 0 is not, and is corrected; then 4 + 9 is the tolerance.
    let guess = GuessAndCheck::new(1.0, 2, 4.0).unwrap().redrawn();
    script::with(&[0, 0, 5, 1, 0, 10, 9, 0, 11, 1], || {
        let session = Interactive::from(guess).open(&data()).unwrap();
        assert_eq!(session.ask(&check(5.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(-4.0)), Ok(Reply::Wrong(13.0)));
        assert_eq!(session.ask(&check(-4.0)), Ok(Reply::Pass));
    });
}

/// Rounds are charged as what they are: so many sparse vectors of one answer each, and their values.
#[test]
fn rounds_are_charged_one_by_one_with_the_noise_of_one_answer() {
    use counterpoint::{Epsilon, Mechanism};
    let [one, two] = [0.25, 0.5].map(|epsilon| Epsilon::new(epsilon).unwrap());
    let once = SparseVector::new(0.25, 1, 5.0).unwrap().with_values();
    let once = Interactive::from(once).under(BOTH).unwrap().releases().to_vec();
    let rounds = SparseVector::new(0.25, 40, 5.0).unwrap().redrawn();
    let told = Interactive::from(rounds.clone()).under(BOTH).unwrap().releases().to_vec();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].mechanism, Mechanism::AboveThreshold { threshold: one, queries: two });
    let declared: [Interactive; 2] =
        [rounds.with_values().into(), GuessAndCheck::new(0.25, 40, 5.0).unwrap().redrawn().into()];
    for declared in declared {
        let releases = declared.under(BOTH).unwrap().releases().to_vec();
        assert_eq!(releases.len(), 2);
        assert_eq!(releases[0], told[0]);
        assert!(releases.iter().all(|release| release.count.get() == 40));
        assert!(once.iter().all(|release| release.count.get() == 1));
        assert_eq!(releases[1].mechanism, once[1].mechanism);
    }
    // On one threshold they are charged as they have always been, by the sum of both, however many answers there are.
    assert_eq!(once[0].mechanism, Mechanism::SparseVector { threshold: one, queries: two });
    let kept: [Interactive; 2] = [
        SparseVector::new(0.25, 40, 5.0).unwrap().into(),
        GuessAndCheck::new(0.25, 40, 5.0).unwrap().into(),
    ];
    for declared in kept {
        assert_eq!(declared.under(BOTH).unwrap().releases()[0], once[0]);
    }
    // One answer is one round, and the declarations differ nevertheless.
    let single = SparseVector::new(0.25, 1, 5.0).unwrap();
    let [kept, anew] =
        [single.clone(), single.redrawn()].map(|one| Interactive::from(one).under(BOTH).unwrap());
    assert_ne!(kept.releases(), anew.releases());
    let state = script::with(&[0], || kept.begin()).unwrap();
    assert!(matches!(anew.answer(&data(), &state, &count()), Err(Error::State { .. })));
}

/// Written down and read back after every answer, it goes on as if nothing had happened.
#[test]
fn a_state_read_back_has_the_same_threshold_and_as_much_left() {
    let declared = Interactive::from(SparseVector::new(1.0, 2, 5.0).unwrap());
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
        // Other draws from the same state: it is not used up by an answer nobody saw.
        script::with(&[100], || protocol.answer(&data(), &state, &count())).unwrap();
        let answer = || protocol.answer(&data(), &read(&state), &count()).unwrap();
        let (reply, next) = script::with(&[draw], answer);
        assert_eq!(reply, expected);
        state = read(&next);
    }
    assert_eq!(state.answered(), 4);
    assert_eq!(protocol.answer(&data(), &state, &count()), Err(Error::Exhausted));
}

/// Ten times 0.4 is 4, although each rounds to nothing.
#[test]
fn a_sum_is_rounded_once() {
    let sparse = SparseVector::new(1.0, 1, 4.0).unwrap();
    let sum = Question::Above(Query::sum(Bounds::new(0.0, 1.0).unwrap()));
    let many = Data::new(BOTH, [0.4; 10]);
    let reply = script::with(&[0, 0], || Interactive::from(sparse).open(&many).unwrap().ask(&sum));
    assert_eq!(reply, Ok(Reply::Above(None)));
}

#[test]
fn values_get_fresh_noise() {
    let sparse = SparseVector::new(1.0, 1, 5.0).unwrap().with_values();
    let reply = script::with(&[0, 2, -1], || {
        Interactive::from(sparse).open(&data()).unwrap().ask(&count())
    });
    assert_eq!(reply, Ok(Reply::Above(Some(2.0))));
}

#[test]
fn a_guess_is_passed_or_corrected_by_its_distance() {
    let guess = GuessAndCheck::new(1.0, 1, 4.0).unwrap();
    script::with(&[0, 0, 5, 0, 5, 0, 10], || {
        let session = Interactive::from(guess).open(&data()).unwrap();
        assert_eq!(session.ask(&check(6.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(0.0)), Ok(Reply::Pass));
        assert_eq!(session.ask(&check(-1.0)), Ok(Reply::Wrong(13.0)));
        assert_eq!(session.ask(&check(3.0)), Err(Error::Exhausted));
        assert_eq!((session.answered(), session.is_exhausted()), (3, true));
    });
}

/// If randomness fails after a query was found above, the failure itself tells that it was.
#[test]
fn a_failure_of_randomness_ends_the_session() {
    let sparse = SparseVector::new(1.0, 9, 0.0).unwrap().with_values();
    let session = script::with(&[0, 5], || {
        let session = Interactive::from(sparse).open(&data()).unwrap();
        let failed = session.ask(&count());
        assert!(matches!(failed, Err(Error::Randomness { .. })));
        session
    });
    assert_eq!(session.ask(&count()), Err(Error::Exhausted));
}

#[test]
fn what_was_not_declared_is_refused_before_anything_is_drawn() {
    let session = Interactive::from(SparseVector::new(1.0, 1, 0.0).unwrap());
    let session = session.open(&data()).unwrap();
    let bounds = Bounds::new(0.0, 3.0).unwrap();
    script::with(&[], || {
        let reply = session.ask(&Question::Above(Query::sum(bounds)));
        assert_eq!(reply, Err(Error::Sensitivity { asked: 3, declared: 1 }));
        let reply = session.ask(&Question::Above(Query::mean(bounds)));
        assert!(matches!(reply, Err(Error::Question { .. })));
        assert!(matches!(session.ask(&check(0.0)), Err(Error::Question { .. })));
    });
    assert_eq!((session.answered(), session.is_exhausted()), (0, false));
    let guesses = Interactive::from(GuessAndCheck::new(1.0, 1, 1.0).unwrap());
    let guesses = guesses.open(&data()).unwrap();
    for bad in [f64::NAN, f64::INFINITY, 1e101] {
        assert!(matches!(guesses.ask(&check(bad)), Err(Error::OutOfRange(_))));
    }
}

#[test]
fn a_sequence_runs_what_is_on_its_list_and_no_more() {
    let count = |epsilon| Query::count().laplace(epsilon).unwrap();
    let session = Interactive::from(Sequence::new([0.1, 0.1, 0.2].map(count)).unwrap());
    let session = session.open(&data()).unwrap();
    let ask = |what: Recipe| session.ask(&Question::Measure(what));
    assert!(ask(count(0.2)).is_ok());
    assert_eq!(ask(count(0.2)), Err(Error::NotDeclared));
    // Another question at the same price will do.
    let other = Query::count_within(Bounds::new(0.0, 2.5).unwrap()).laplace(0.1).unwrap();
    assert!(ask(other).is_ok() && ask(count(0.1)).is_ok());
    assert_eq!(ask(count(0.1)), Err(Error::Exhausted));
}

#[test]
fn declarations_are_checked_together() {
    let one = || Interactive::from(SparseVector::new(1.0, 1, 0.0).unwrap());
    let twice = Concurrent::open(&data(), [("a", one()), ("a", one())]);
    assert!(matches!(twice, Err(Error::Name { .. })));
    // One relation for all, records included, and one length.
    let other = |relation| Data::new(relation, [1.0, 2.0, 3.0]);
    let beside = |other: Data| Concurrent::over([("a", one(), data()), ("b", one(), other)]);
    let several = Relation::new(Adjacency::AddRemove, 7).unwrap();
    for relation in [several, Relation::one(Adjacency::Replace)] {
        let refused = Error::Relation { made: BOTH, data: relation };
        assert_eq!(beside(other(relation)).unwrap_err(), refused);
    }
    assert!(matches!(beside(Data::new(BOTH, [1.0])), Err(Error::Length { .. })));
    let none: [(&str, Interactive); 0] = [];
    assert!(matches!(Concurrent::open(&data(), none), Err(Error::Plan(_))));
    let all = beside(other(BOTH)).unwrap();
    assert!(all.session("c").is_err());
    // Two of 3 epsilon: 6 at delta 0, by adding up.
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
    let sparse = || Interactive::from(SparseVector::new(1.0, 1, 5.0).unwrap());
    let secret = Data::new(BOTH, [1234.5; 3]);
    // The data; the noise, and the threshold with it.
    let secrets = ["1234", "6789", "6794"];
    script::with(&[6789, 6789, 6789], || {
        let session = sparse().open(&secret).unwrap();
        let all = Concurrent::open(&secret, [("a", sparse())]).unwrap();
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

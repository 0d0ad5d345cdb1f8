//! Sessions that outlive their process.

use counterpoint_budget::Amount;
use counterpoint_curator::{Bill, Error, InteractiveMechanism, SessionQuery, ask, close, open};
use counterpoint_ledger::{Ledger, LedgerError, NewAccount};
use counterpoint_mechanisms::{Bounds, Query, Reply, Sequence, SparseVector};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;

use crate::child::{mean, sessions};
use crate::{
    Place, ages, amount, assert_sound, cost, relation, spent, sums, with_account,
    with_account_about,
};

const KEY: (&str, &str) = ("account", "s");

fn bill() -> Bill<'static> {
    Bill::new(KEY.0, KEY.1)
}

/// Two positives, at a threshold far below: every answer is above.
fn two_positives() -> InteractiveMechanism {
    SparseVector::new(10.0, 2, -1000.0).unwrap().into()
}

fn everybody() -> SessionQuery {
    SessionQuery::Above(Query::count())
}

#[test]
fn a_restart_goes_on_from_the_same_state() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "1000");
        let mut total = Amount::ZERO;
        for (key, declared, questions) in sessions() {
            total = &total + &cost(declared.under(relation()).unwrap().releases());
            let bill = Bill::new("account", key);
            assert!(open(&mut ledger, &bill, &declared, &ages()).unwrap().charge.is_some());
            let state =
                |ledger: &mut Ledger| ledger.session("account", key).unwrap().unwrap().state;
            let first = state(&mut ledger);
            let mut other = place.open();
            let again = open(&mut other, &bill, &declared, &ages()).unwrap();
            assert_eq!((again.charge, again.answered), (None, 0));
            assert!(first.is_some() && state(&mut other) == first);
            let shown = ask(&mut other, ("account", key), "q", &questions[0], &ages()).unwrap();
            let again = ask(&mut ledger, ("account", key), "q", &questions[0], &ages()).unwrap();
            assert_eq!(shown.bytes(), again.bytes());
            assert!(again.is_repeated());
            assert_eq!(open(&mut ledger, &bill, &declared, &ages()).unwrap().answered, 1);
        }
        assert_eq!(spent(&mut ledger), total);
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_name_stands_for_one_question_and_a_key_for_one_declaration() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    let declared: InteractiveMechanism = SparseVector::new(1.0, 5, 2.0).unwrap().into();
    open(&mut ledger, &bill(), &declared, &ages()).unwrap();
    ask(&mut ledger, KEY, "q", &everybody(), &ages()).unwrap();
    let other = SessionQuery::Above(Query::count_within(Bounds::new(0.0, 1.0).unwrap()));
    let outcome = ask(&mut ledger, KEY, "q", &other, &ages());
    assert!(
        matches!(outcome, Err(Error::Ledger(error)) if matches!(*error, LedgerError::KeyInUse { .. }))
    );
    // The price is the same, the threshold is not.
    let moved: InteractiveMechanism = SparseVector::new(1.0, 5, 3.0).unwrap().into();
    assert!(open(&mut ledger, &bill(), &moved, &ages()).is_err());
    assert_eq!(spent(&mut ledger), amount("3"));
}

#[test]
fn a_session_ends_with_its_last_answer_and_what_was_answered_stays() {
    for place in Place::all() {
        let mut ledger = with_account(&place, relation(), "1000");
        open(&mut ledger, &bill(), &two_positives(), &ages()).unwrap();
        for name in ["a", "b"] {
            let shown = ask(&mut ledger, KEY, name, &everybody(), &ages()).unwrap();
            assert_eq!(*shown.reply(), Reply::Above(None));
        }
        for name in ["c", "d"] {
            assert!(ask(&mut ledger, KEY, name, &everybody(), &ages()).is_err());
        }
        assert!(ask(&mut ledger, KEY, "a", &everybody(), &ages()).unwrap().is_repeated());
        let opened = open(&mut ledger, &bill(), &two_positives(), &ages()).unwrap();
        assert!(opened.is_over && opened.answered == 2);
        assert_eq!(ledger.session("account", "s").unwrap().unwrap().state, None);
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_closed_session_answers_nothing_more() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    open(&mut ledger, &bill(), &two_positives(), &ages()).unwrap();
    ask(&mut ledger, KEY, "a", &everybody(), &ages()).unwrap();
    close(&mut ledger, KEY).unwrap();
    assert!(ask(&mut ledger, KEY, "b", &everybody(), &ages()).is_err());
    assert!(ask(&mut ledger, KEY, "a", &everybody(), &ages()).is_ok());
    assert_eq!(spent(&mut ledger), amount("30"));
}

/// Eight threads ask one session: exactly as many answers above as were declared.
#[test]
fn many_ask_one_session_at_once() {
    for place in Place::all() {
        drop(with_account(&place, relation(), "1000"));
        let declared: InteractiveMechanism = SparseVector::new(10.0, 7, -1000.0).unwrap().into();
        open(&mut place.open(), &bill(), &declared, &ages()).unwrap();
        let above: usize = std::thread::scope(|scope| {
            let worker = |number: usize| {
                let place = &place;
                scope.spawn(move || {
                    let mut ledger = place.open();
                    let asked = (0..4).map(|index| {
                        let name = format!("w{number}-{index}");
                        ask(&mut ledger, KEY, &name, &everybody(), &ages()).is_ok()
                    });
                    asked.filter(|is_answered| *is_answered).count()
                })
            };
            let workers: Vec<_> = (0..8).map(worker).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).sum()
        });
        assert_eq!(above, 7);
        assert_sound(&mut place.open());
    }
}

#[test]
fn a_slot_pays_for_a_session_it_dominates() {
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", relation(), &sums("10")).unwrap();
    let plan = br#"{"delta":0,"release":[{"name":"three","mechanism":"approx-dp","epsilon":3}]}"#;
    let plan = ExactPlan::parse(plan, Format::Json).unwrap();
    ledger.open_account("account", "data", &NewAccount::Plan(plan, None)).unwrap();
    let within = |key| Bill { slot: Some("three"), ..Bill::new("account", key) };
    let large: InteractiveMechanism = SparseVector::new(1.01, 2, 0.0).unwrap().into();
    assert!(open(&mut ledger, &within("a"), &large, &ages()).is_err());
    let fits: InteractiveMechanism = SparseVector::new(1.0, 2, 0.0).unwrap().into();
    open(&mut ledger, &within("b"), &fits, &ages()).unwrap();
    assert!(open(&mut ledger, &within("c"), &fits, &ages()).is_err());
    assert_sound(&mut ledger);
}

/// What was paid for as a session is not to be had as a single answer, nor the other way round.
#[test]
fn sessions_and_single_answers_do_not_share_keys() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    open(&mut ledger, &bill(), &two_positives(), &ages()).unwrap();
    assert!(counterpoint_curator::answer(&mut ledger, &bill(), &mean(), &ages()).is_err());
    assert!(ledger.commit("account", "s", b"made up").is_err());
    let single = Bill::new("account", "one");
    counterpoint_curator::answer(&mut ledger, &single, &mean(), &ages()).unwrap();
    assert!(open(&mut ledger, &single, &two_positives(), &ages()).is_err());
    assert!(ask(&mut ledger, ("account", "one"), "q", &everybody(), &ages()).is_err());
}

/// The threshold is nowhere that people look.
#[test]
fn what_is_private_is_in_no_report() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    let declared: InteractiveMechanism = SparseVector::new(1e-5, 5, 123_456_789.0).unwrap().into();
    open(&mut ledger, &bill(), &declared, &ages()).unwrap();
    ask(&mut ledger, KEY, "q", &everybody(), &ages()).unwrap();
    let session = ledger.session("account", "s").unwrap().unwrap();
    let state = String::from_utf8(session.state.as_ref().unwrap().bytes().to_vec()).unwrap();
    let threshold = state.split_once("\"threshold\":\"").unwrap().1;
    let threshold = threshold.split_once('"').unwrap().0;
    assert!(threshold.len() > 5 && threshold != "123456789");
    let mut seen = format!("{session:?} {:?}", ledger.status(None).unwrap());
    let exported = ledger.export(|part| {
        seen += &format!("{part:?}");
        Ok::<_, counterpoint_ledger::LedgerError>(())
    });
    exported.unwrap();
    assert!(!seen.contains(threshold));
}

/// A sequence's price does not see how many bins a histogram has.
#[test]
fn what_may_be_too_long_is_refused_before_it_is_drawn() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, relation(), "1000");
    let bins = |n: u32| {
        let edges: Vec<f64> = (0..=n).map(f64::from).collect();
        Query::histogram(&edges).unwrap().laplace(1.0).unwrap()
    };
    let declared: InteractiveMechanism = Sequence::new([bins(1)]).unwrap().into();
    open(&mut ledger, &bill(), &declared, &ages()).unwrap();
    let large = SessionQuery::Measure(bins(300_000));
    assert!(matches!(ask(&mut ledger, KEY, "a", &large, &ages()), Err(Error::Long { .. })));
    ask(&mut ledger, KEY, "b", &SessionQuery::Measure(bins(1)), &ages()).unwrap();
    // A declaration that cannot be stored is not paid for either.
    let before = spent(&mut ledger);
    let long: InteractiveMechanism = Sequence::new([bins(200_000)]).unwrap().into();
    let outcome = open(&mut ledger, &Bill::new("account", "long"), &long, &ages());
    assert!(matches!(outcome, Err(Error::Long { .. })));
    assert_eq!(spent(&mut ledger), before);
}

/// Parts are paid for as if nobody were in two of them: what was charged for one tells nothing
/// about another.
#[test]
fn a_session_about_a_part_answers_about_that_part() {
    for place in Place::all() {
        let mut ledger = with_account_about(&place, "a");
        let (here, there) = (ages().about("a").unwrap(), ages().about("b").unwrap());
        open(&mut ledger, &bill(), &two_positives(), &here).unwrap();
        for (name, other) in [("part \"b\"", &there), ("all of the data", &ages())] {
            let refused = ask(&mut ledger, KEY, "q", &everybody(), other).unwrap_err();
            let told = format!("the session is about part \"a\", and the data are about {name}");
            assert!(refused.to_string().starts_with(&told), "{refused}");
        }
        // The state that follows an answer is about the same part.
        ask(&mut ledger, KEY, "q", &everybody(), &here).unwrap();
        assert!(ask(&mut ledger, KEY, "r", &everybody(), &there).is_err());
        ask(&mut ledger, KEY, "r", &everybody(), &here).unwrap();
        assert_sound(&mut ledger);
    }
}

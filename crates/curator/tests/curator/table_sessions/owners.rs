//! Whose sessions are, where several analysts and threads ask at once.

use counterpoint_curator::question::AggregateKind;
use counterpoint_curator::table_session::{QuerySpec, SessionId};
use counterpoint_curator::{Bearer, Reply};

use super::{
    NORTH, Place, about, asking, assert_near, assert_sound, is_not_yours, north, opened, opening,
    pay, sparse,
};

/// Two analysts with sessions of the same names in one account, interleaved: each has their own, and no other's.
#[test]
fn sessions_of_two_analysts_are_interleaved() {
    let place = Place::new();
    let (curator, other) = (place.curator(), place.curator());
    opened(&curator, &place.ann, "s", sparse(100.0, 3, NORTH - 5.0, QuerySpec::default()));
    opened(&other, &place.ben, "s", sparse(100.0, 3, NORTH + 5.0, QuerySpec::default()));
    opened(&curator, &place.ben, "t", sparse(100.0, 2, 0.0, pay()));
    for round in 0..3 {
        let asking = asking("s", &format!("q{round}"), about(AggregateKind::Count, north()));
        assert_near(&curator.ask_session(&place.ann, &asking).unwrap(), NORTH, 1.0);
        assert_eq!(*other.ask_session(&place.ben, &asking).unwrap().reply(), Reply::Below);
        // The same name and question: the same answer, from whichever process.
        let again = other.ask_session(&place.ann, &asking).unwrap();
        assert!(again.is_repeated());
        assert_near(&again, NORTH, 1.0);
    }
    let told = |bearer: &Bearer| {
        let told = curator.sessions(bearer, 0, 100).unwrap().into_iter();
        told.map(|one| (one.key, one.table, one.answered, one.is_over)).collect::<Vec<_>>()
    };
    let told_of = |key: &str, answered, over| (key.to_owned(), "visits".to_owned(), answered, over);
    assert_eq!(told(&place.ann), [told_of("s", 3, true)]);
    assert_eq!(told(&place.ben), [told_of("s", 3, false), told_of("t", 0, false)]);
    // Not there for anyone else.
    let asking = asking("t", "q", about(AggregateKind::Count, None));
    assert!(is_not_yours(curator.ask_session(&place.ann, &asking)));
    assert!(is_not_yours(curator.session(&place.ann, "both", "t")));
    assert!(is_not_yours(curator.close_session(&place.ann, "both", "t")));
    assert!(is_not_yours(curator.ask_session(&place.cleo, &asking)));
    assert!(is_not_yours(
        curator.open_session(&place.cleo, &opening("u", sparse(1.0, 1, 0.0, pay())))
    ));
    assert!(!curator.session(&place.ben, "both", "t").unwrap().is_over);
    assert_sound(&curator);
}

/// No two analysts' keys are one, whatever they are called, and none is a question's.
#[test]
fn keys_are_their_analysts_own() {
    let names = ["a", "a.b", "a-b", "s-a", "q-a", "b", "a.b.c"];
    let keys = ["b.c", "c", "b", "a", "q-00", "s-a", "-", "."];
    let mut seen = std::collections::BTreeSet::new();
    for analyst in names {
        for key in keys {
            let owner = SessionId { account: "account", analyst, key };
            let made = owner.ledger_key().unwrap();
            assert!(made.starts_with("s-") && made.len() <= 128);
            assert!(seen.insert(made), "{analyst} {key}");
        }
    }
    let long = "k".repeat(125);
    for (analyst, key) in
        [("a/b", "c"), ("a", "b/c"), ("", "c"), ("a", ""), ("a", &long), (&long, "k"), ("a", "ü")]
    {
        assert!(
            SessionId { account: "account", analyst, key }.ledger_key().is_err(),
            "{analyst} {key}"
        );
    }
    assert!(SessionId { account: "account", analyst: "a", key: &long[1..] }.ledger_key().is_ok());
}

/// Four threads ask one session: exactly as many answers above as were declared.
#[test]
fn many_ask_one_session_of_a_table_at_once() {
    let place = Place::new();
    let curator = place.curator();
    opened(&curator, &place.ann, "s", sparse(10.0, 5, -1000.0, QuerySpec::default()));
    let above: usize = std::thread::scope(|scope| {
        let thread = |thread: u64| {
            let (curator, place) = (&curator, &place);
            scope.spawn(move || {
                let ask = |round: u64| {
                    let name = format!("{thread}-{round}");
                    let asking = asking("s", &name, about(AggregateKind::Count, None));
                    curator.ask_session(&place.ann, &asking).is_ok()
                };
                (0..4).filter(|round| ask(*round)).count()
            })
        };
        let threads: Vec<_> = (0..4).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(above, 5);
    assert!(curator.session(&place.ann, "both", "s").unwrap().is_over);
    assert_sound(&curator);
}

//! Analysts' own keys: each stands for one release, for good.

use counterpoint_ledger::{Hash, Head, Ledger, LedgerError, OpenOptions, Pool, Request};

use crate::tamper::forge;
use crate::{Place, amount, assert_sound, refused, release, with_account};

fn spent(ledger: &mut Ledger) -> counterpoint_budget::Amount {
    ledger.status(Some("account")).unwrap().accounts[0].spent.main.clone()
}

/// Refused before anything is debited, by whoever asks: another handle, another process.
#[test]
fn an_alias_stands_for_one_release() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let (tenth, fifth) = (release("0.1"), release("0.2"));
        let (analyst, alias) = (Some("ann"), Some(Hash::of(b"monday")));
        let first = Request { analyst, alias, ..Request::new("account", "first", &tenth) };
        let other = Request { key: "other", asked: &fifth, ..first };
        ledger.reserve(&first).unwrap();
        ledger.commit("account", "first", b"42").unwrap();
        let head = ledger.head().unwrap();
        let mut again = place.open();
        assert_eq!(again.reserve(&other), Err(LedgerError::AliasInUse));
        assert_eq!((again.head().unwrap(), spent(&mut again)), (head, amount("0.1")));
        // A retry is told the same, and writes nothing.
        let retried = again.reserve(&first).unwrap();
        assert_eq!((retried.charge, retried.response), (None, Some(b"42".to_vec())));
        assert_eq!(again.head().unwrap(), head);
        // It is ann's alone.
        ledger.reserve(&Request { analyst: Some("ben"), ..other }).unwrap();
        ledger.reserve(&Request { analyst: None, key: "third", ..other }).unwrap();
        assert_eq!(spent(&mut ledger), amount("0.5"));
        assert_sound(&mut ledger);
    }
}

/// Also of what was reserved or answered before, by anybody.
#[test]
fn an_alias_may_be_given_to_what_is_paid_for() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.3");
        let tenth = release("0.1");
        let plain = Request { analyst: Some("ann"), ..Request::new("account", "first", &tenth) };
        ledger.reserve(&plain).unwrap();
        let (monday, tuesday) = (Hash::of(b"monday"), Hash::of(b"tuesday"));
        let named = ledger.reserve(&Request { alias: Some(monday), ..plain }).unwrap();
        assert_eq!((named.entry, named.charge, named.head.sequence), (4, None, 5));
        // Another analyst of the account asks for the same.
        let ben = Request { analyst: Some("ben"), alias: Some(monday), ..plain };
        assert!(matches!(ledger.reserve(&ben), Err(LedgerError::KeyInUse { .. })));
        let pool = Pool::new(&place.url(), &OpenOptions::default(), 1).unwrap();
        let head = pool.alias("account", Some("ben"), monday, "first").unwrap();
        assert_eq!(head.sequence, 6);
        assert_eq!(pool.alias("account", Some("ben"), monday, "first"), Ok(head));
        let second = Request { analyst: Some("ben"), key: "second", ..ben };
        assert_eq!(ledger.reserve(&second), Err(LedgerError::AliasInUse));
        let nothing = pool.alias("account", Some("ben"), tuesday, "nothing");
        assert!(matches!(nothing, Err(LedgerError::Unknown { .. })), "{nothing:?}");
        // What is refused names nothing.
        let (half, third) = (release("0.5"), Request { alias: Some(tuesday), ..second });
        refused(ledger.reserve(&Request { asked: &half, ..third }));
        ledger.reserve(&Request { key: "third", ..third }).unwrap();
        assert_eq!(spent(&mut ledger), amount("0.2"));
        assert_sound(&mut ledger);
    }
}

/// Threads that come at once with one alias for different releases: one is charged, and the others are told.
#[test]
fn one_alias_for_all() {
    for place in Place::all() {
        drop(with_account(&place, "100"));
        let pool = &Pool::new(&place.url(), &OpenOptions::default(), 4).unwrap();
        let (tenth, alias) = (&release("0.1"), Some(Hash::of(b"monday")));
        let ask = |thread: u64| {
            let key = format!("key-{thread}");
            pool.reserve(&Request { alias, ..Request::new("account", &key, tenth) })
        };
        let charged = std::thread::scope(|scope| {
            let ask = &ask;
            let threads: Vec<_> = (0..32).map(|thread| scope.spawn(move || ask(thread))).collect();
            let outcomes = threads.into_iter().map(|thread| thread.join().unwrap());
            let is_charged = |outcome: Result<_, LedgerError>| match outcome {
                Ok(_) => true,
                Err(LedgerError::AliasInUse) => false,
                Err(error) => panic!("{error}"),
            };
            outcomes.map(is_charged).filter(|charged| *charged).count()
        });
        assert_eq!((charged, spent(&mut place.open())), (1, amount("0.1")));
        assert_sound(&mut place.open());
    }
}

/// Somebody with write access to the database.
#[test]
fn an_alias_that_is_not_what_its_history_says_is_found() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let tenth = release("0.1");
        for key in ["first", "second"] {
            let alias = Some(Hash::of(key.as_bytes()));
            ledger.reserve(&Request { alias, ..Request::new("account", key, &tenth) }).unwrap();
        }
        let found = |ledger: &mut Ledger| ledger.verify(None).unwrap().problem;
        assert_eq!(found(&mut ledger), None);
        let mut database = forge(&place);
        for (change, undo) in [
            ("SET key = 'second' WHERE key = 'first'", "SET key = 'first' WHERE entry = 5"),
            ("SET analyst = 'ann' WHERE key = 'first'", "SET analyst = '' WHERE key = 'first'"),
            ("SET entry = 3 WHERE key = 'first'", "SET entry = 5 WHERE key = 'first'"),
        ] {
            let run = |database: &mut dyn counterpoint_ledger::database::Database, sql: &str| {
                let sql = format!("UPDATE ledger_alias {sql}");
                assert_eq!(database.execute(&sql, &[]).unwrap(), 1, "{sql}");
            };
            run(&mut *database, change);
            let problem = found(&mut ledger).unwrap();
            assert!(problem.contains("is not what its history says"), "{change}: {problem}");
            run(&mut *database, undo);
            assert_eq!(found(&mut ledger), None, "{undo}");
        }
        database.execute("DELETE FROM ledger_alias WHERE key = 'first'", &[]).unwrap();
        assert_eq!(found(&mut ledger).unwrap(), "aliases are missing, or there are too many");
        let head: Head = ledger.head().unwrap();
        assert_eq!(head.sequence, 7);
    }
}

//! Verification that goes on from where an earlier one ended.

use std::sync::{Arc, Mutex};

use counterpoint_ledger::database::{Access, Cell};
use counterpoint_ledger::{Checkpoint, Hash, Head, Ledger, Request};

use crate::tamper::{forge, forge_last, guard, rich, unguard};
use crate::{Place, new_answer, pay, release, watch, with_account};

/// Everything that may follow a checkpoint: an old key is answered, another gets an alias, a session goes on and ends, a
/// new one begins.
fn go_on(ledger: &mut Ledger) {
    ledger.commit("renyi", "renyi-all-first", b"late").unwrap();
    let tenth = release("0.1");
    let alias = Some(Hash::of(b"again"));
    let old =
        Request { analyst: Some("ann"), alias, ..Request::new("sums", "sums-ann-first", &tenth) };
    assert_eq!(ledger.reserve(&old).unwrap().charge, None);
    let answer = |ledger: &mut Ledger, key: &str, ask: &str, after, last| {
        ledger.store_answer("renyi", key, &new_answer(ask, after, "yes", last)).unwrap();
    };
    answer(ledger, "session-second", "three", 2, false);
    ledger.reserve(&Request { session: true, ..Request::new("renyi", "later", &tenth) }).unwrap();
    ledger.begin_session("renyi", "later", b"toy", &[5; 40]).unwrap();
    answer(ledger, "later", "one", 0, true);
    let bob = Some("bob");
    ledger.reserve(&Request { analyst: bob, ..Request::new("sums", "new", &tenth) }).unwrap();
    ledger.commit("sums", "new", b"new answer").unwrap();
    ledger.reserve(&Request { analyst: bob, ..Request::new("sums", "last", &tenth) }).unwrap();
}

#[test]
fn verification_goes_on_from_a_checkpoint() {
    for place in Place::all() {
        let (_, head) = rich(&place);
        let mut ledger = place.open();
        let (_, kept) = ledger.verify_from(None, None).unwrap();
        let kept = kept.unwrap();
        assert_eq!(kept.head(), head);
        assert_eq!(ledger.verify_from(Some(&kept), None).unwrap().1.as_ref(), Some(&kept));
        go_on(&mut ledger);
        let (found, next) = ledger.verify_from(Some(&kept), Some(head)).unwrap();
        assert_eq!((found.problem, found.after), (None, Some(head)));
        // What is kept next is what a whole verification keeps.
        assert_eq!(next, ledger.verify_from(None, None).unwrap().1);
        let next = next.unwrap();
        assert_eq!(Checkpoint::read(&next.text()).as_ref(), Ok(&next));
        assert!(!next.text().contains(&"05".repeat(40)) && !next.text().contains("new answer"));
        ledger.end_session("renyi", "session-second").unwrap();
        assert_eq!(ledger.verify_from(Some(&next), None).unwrap().0.problem, None);
        let expected = Some(Head { hash: Hash([7; 32]), ..head });
        assert!(ledger.verify_from(Some(&next), expected).unwrap().0.problem.is_some());
    }
}

/// What the checkpoint's owner is told after a change, from the checkpoint and from the first entry.
fn problems(ledger: &mut Ledger, kept: &Checkpoint) -> [Option<String>; 2] {
    [Some(kept), None].map(|from| ledger.verify_from(from, None).unwrap().0.problem)
}

#[test]
fn changes_after_a_checkpoint_are_found() {
    for place in Place::all() {
        rich(&place);
        let mut ledger = place.open();
        let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
        go_on(&mut ledger);
        let mut database = forge(&place);
        let mut change = |sql: &str| assert_ne!(database.execute(sql, &[]).unwrap(), 0, "{sql}");
        let at = kept.head().sequence;
        for (table, there, back) in [
            (
                "account",
                "charges = charges + 1 WHERE name = 'sums'",
                "charges = charges - 1 WHERE name = 'sums'",
            ),
            ("slot", "used = used + 1 WHERE name = 'ages'", "used = used - 1 WHERE name = 'ages'"),
            (
                "quota",
                "charges = charges + 1 WHERE analyst = 'ann'",
                "charges = charges - 1 WHERE analyst = 'ann'",
            ),
            ("release", "analyst = 'eve' WHERE key = 'new'", "analyst = 'bob' WHERE key = 'new'"),
            // Not answered by then.
            (
                "release",
                "analyst = 'eve' WHERE key = 'renyi-all-second'",
                "analyst = NULL WHERE key = 'renyi-all-second'",
            ),
            (
                "release",
                "analyst = 'eve' WHERE key = 'renyi-all-first'",
                "analyst = NULL WHERE key = 'renyi-all-first'",
            ),
            // Reserved before, and said to be later.
            (
                "release",
                "reserved = reserved + 9000, committed = committed + 9000 WHERE key = 'sums-ann-first'",
                "reserved = reserved - 9000, committed = committed - 9000 WHERE key = 'sums-ann-first'",
            ),
            (
                "session",
                "answered = answered + 1 WHERE key = 'session-second'",
                "answered = answered - 1 WHERE key = 'session-second'",
            ),
            (
                "session",
                "answered = answered + 1 WHERE key = 'later'",
                "answered = answered - 1 WHERE key = 'later'",
            ),
            (
                "state",
                "key = 'other' WHERE key = 'session-second'",
                "key = 'session-second' WHERE key = 'other'",
            ),
            ("answer", "ask = 'four' WHERE ask = 'three'", "ask = 'three' WHERE ask = 'four'"),
            (
                "answer",
                "entry = entry + 9000 WHERE key = 'session-first' AND number = 1",
                "entry = entry - 9000 WHERE key = 'session-first' AND number = 1",
            ),
            (
                "alias",
                "analyst = 'eve' WHERE key = 'sums-ann-first' AND entry > (SELECT max(reserved) FROM ledger_release WHERE key = 'renyi-all-second')",
                "analyst = 'ann' WHERE analyst = 'eve'",
            ),
            ("head", "sequence = sequence + 1", "sequence = sequence - 1"),
            ("version", "version = 3", "version = 4"),
        ] {
            change(&format!("UPDATE ledger_{table} SET {there}"));
            let found = problems(&mut ledger, &kept);
            assert!(found.iter().all(Option::is_some), "{table} {there}: {found:?}");
            change(&format!("UPDATE ledger_{table} SET {back}"));
            assert_eq!(problems(&mut ledger, &kept), [None, None], "{table} {back}");
        }
        // What was over by then is not read: only a whole verification finds that it was changed.
        change("UPDATE ledger_release SET analyst = 'eve' WHERE key = 'sums-ann-first'");
        let found = problems(&mut ledger, &kept);
        assert!(found[0].is_none() && found[1].is_some(), "{found:?}");
        change("UPDATE ledger_release SET analyst = 'ann' WHERE key = 'sums-ann-first'");
        // But that it is gone is counted.
        change("DELETE FROM ledger_release WHERE key = 'plan-all-first'");
        let found = problems(&mut ledger, &kept);
        assert!(found.iter().all(Option::is_some), "{found:?}");
        assert!(at < ledger.head().unwrap().sequence);
    }
}

#[test]
fn another_history_is_found_from_a_checkpoint() {
    for place in Place::all() {
        rich(&place);
        let mut ledger = place.open();
        let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
        let at = kept.head().sequence;
        let other = place.another().unwrap();
        let theirs = rich(&other).1;
        assert_eq!(theirs.sequence, at);
        let [problem, whole] = problems(&mut other.open(), &kept);
        assert!(problem.unwrap().contains("this is another history") && whole.is_none());
        go_on(&mut ledger);
        // A forged entry after it, to which head and chain fit.
        let whole = forge_last(&place, &|body| body.replace("\"0.1\"", "\"0.05\""));
        assert!(!whole.is_empty());
        assert!(problems(&mut ledger, &kept)[0].is_some());
        // Entries before it are not read; the checkpoint's own is.
        let mut database = forge(&place);
        unguard(&mut *database);
        database.execute(&format!("DELETE FROM ledger_entry WHERE sequence > {at}"), &[]).unwrap();
        let body = format!("UPDATE ledger_entry SET body = body || ' ' WHERE sequence = {at}");
        database.execute(&body, &[]).unwrap();
        guard(&mut *database);
        let problem = problems(&mut ledger, &kept)[0].clone().unwrap();
        assert!(problem.contains("is not the checkpoint's"), "{problem}");
        // Cut off.
        unguard(&mut *database);
        database.execute(&format!("DELETE FROM ledger_entry WHERE sequence >= {at}"), &[]).unwrap();
        guard(&mut *database);
        let problem = problems(&mut ledger, &kept)[0].clone().unwrap();
        assert!(problem.contains("is not the checkpoint's"), "{problem}");
    }
}

/// Nothing of before the checkpoint is read but its own entry, however much there is.
#[test]
fn what_was_verified_is_not_read_again() {
    let place = Place::sqlite();
    let mut owner = with_account(&place, "100");
    for number in 0..50 {
        pay(&mut owner, &format!("key-{number}")).unwrap();
    }
    let reads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&reads);
    let mut ledger = watch::open(&place, move |event| {
        if let watch::Event::Queried(sql, cells) = event {
            seen.lock().unwrap().push((sql.to_owned(), cells.to_vec()));
        }
    });
    let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
    pay(&mut owner, "later").unwrap();
    reads.lock().unwrap().clear();
    assert_eq!(ledger.verify_from(Some(&kept), None).unwrap().0.problem, None);
    let mut pages = 0;
    for (sql, cells) in reads.lock().unwrap().iter() {
        assert!(!sql.contains("integrity_check"), "{sql}");
        if sql.contains(" > $1") {
            let Cell::Whole(after) = cells[0] else { panic!("{sql} {cells:?}") };
            assert!(after >= kept.head().sequence as i64 - 1, "{sql} {cells:?}");
            pages += 1;
        }
    }
    assert!(pages >= 4 && reads.lock().unwrap().len() < 40, "{:?}", reads.lock().unwrap());
}

#[cfg(unix)]
#[test]
fn a_checkpoint_is_its_owners_file() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
    let file = place.file().with_file_name("checkpoint");
    for _ in 0..2 {
        kept.save(&file).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(Checkpoint::load(&file).as_ref(), Ok(&kept));
    }
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("\"format\":4", "\"format\":3")).unwrap();
    let error = Checkpoint::load(&file).unwrap_err().to_string();
    assert!(error.contains("is damaged") && error.contains("legal: a checkpoint"), "{error}");
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o660)).unwrap();
    let error = Checkpoint::load(&file).unwrap_err().to_string();
    assert!(error.contains("others can write to it"), "{error}");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    assert_eq!(Checkpoint::load(&file).as_ref(), Ok(&kept));
    // Only root gives files away.
    if std::os::unix::fs::chown(&file, Some(65_534), None).is_ok() {
        let error = Checkpoint::load(&file).unwrap_err().to_string();
        assert!(error.contains("another user owns it"), "{error}");
    }
}

/// What is filed before all that is read is on no page: that it is missing there is found all the same.
#[test]
fn rows_that_are_filed_too_early_are_found() {
    for place in Place::all() {
        let (_, head) = rich(&place);
        let mut ledger = place.open();
        let kept = ledger.verify_from(None, None).unwrap().1.unwrap();
        go_on(&mut ledger);
        drop(ledger);
        // The first page begins after the least number that there is.
        for entry in [2, i64::MIN] {
            for (change, back) in [
                ("UPDATE ledger_session SET begun = $1 WHERE key = 'later'", "begun"),
                ("UPDATE ledger_answer SET entry = $1 WHERE key = 'later'", "entry"),
            ] {
                let mut database = forge(&place);
                let key = "FROM ledger_session WHERE key = 'later'";
                let table =
                    if back == "begun" { key.to_owned() } else { key.replace("session", "answer") };
                let old = database.query(&format!("SELECT {back} {table}"), &[]).unwrap();
                database.begin(Access::Write).unwrap();
                database.execute(change, &[Cell::Whole(entry)]).unwrap();
                database.commit().unwrap();
                drop(database);
                for from in [None, Some(&kept)] {
                    let found = place.open().verify_from(from, Some(head)).unwrap().0.problem;
                    assert!(found.is_some(), "{change} {entry} {}", from.is_some());
                }
                let mut database = forge(&place);
                database.begin(Access::Write).unwrap();
                database.execute(change, &old[0]).unwrap();
                database.commit().unwrap();
            }
        }
        assert_eq!(place.open().verify(None).unwrap().problem, None);
    }
}

//! Old copies, restored backups, and other histories.

use std::path::{Path, PathBuf};
use std::process::Command;

use counterpoint_ledger::{
    FilterKind, Head, Ledger, LedgerError, NewAccount, NewQuota, OpenOptions, Pool, Request,
};
use counterpoint_wire::ledger::Openings;

use crate::tamper::{forge, guard, unguard};
use crate::{
    Place, Random, add_remove, amount, answer, budget, new_answer, pay, plan, release, shown, size,
    slot, with_account,
};

fn expecting(place: &Place, head: Head) -> Result<Ledger, LedgerError> {
    Ledger::open_with(&place.url(), &OpenOptions { read_only: false, expect: Some(head) })
}

#[track_caller]
fn is_other<T: std::fmt::Debug>(outcome: Result<T, LedgerError>, known: Head) {
    match outcome {
        Err(LedgerError::OtherHistory { expected, .. }) if expected == known => {}
        other => panic!("{other:?}"),
    }
}

/// Copies by another process: to close a file in this one drops its locks.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

fn end(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

fn without_log(file: &Path) {
    for log in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(end(file, log));
    }
}

#[test]
fn only_a_ledger_with_the_expected_entry_is_opened() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let heads = ["a", "b", "c"].map(|key| pay(&mut ledger, key).unwrap());
        for head in heads {
            pay(&mut expecting(&place, head).unwrap(), "c").unwrap();
        }
        let [first, _, last] = heads;
        let wrong = [
            Head { hash: first.hash, ..last },
            Head { sequence: last.sequence + 1, ..last },
            Head { sequence: 0, ..last },
            Head { sequence: u64::MAX, ..last },
        ];
        for head in wrong {
            for read_only in [false, true] {
                let options = OpenOptions { read_only, expect: Some(head) };
                match Ledger::open_with(&place.url(), &options).err() {
                    Some(LedgerError::OtherHistory { expected, head: found }) => {
                        assert_eq!((expected, found), (head, last));
                    }
                    Some(LedgerError::Damaged(_)) if head.sequence == u64::MAX => {}
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!(ledger.head(), Ok(last));
    }
}

/// Every way to write.
fn writes(ledger: &mut Ledger) -> Vec<Result<(), LedgerError>> {
    let sums = || budget(FilterKind::Sums, "0.1", "0");
    let (tenth, slots) = (
        release("0.1"),
        plan(
            r#"{"release": [
        {"name": "new", "mechanism": "approx-dp", "epsilon": 0.1}]}"#,
        ),
    );
    let one = Openings { slot: "s".to_owned(), count: 1 };
    let session = |key| Request { session: true, ..Request::new("account", key, &tenth) };
    vec![
        ledger.add_dataset("more", add_remove(), &sums()).map(drop),
        ledger.open_account("another", "data", &NewAccount::Filter(sums())).map(drop),
        ledger.open_in_slot("inner", "plan", "s", &sums()).map(drop),
        ledger.recut("plan", &[one], &slots).map(drop),
        ledger.reserve(&Request::new("account", "new", &tenth)).map(drop),
        ledger.reserve(&Request::new("account", "paid", &tenth)).map(drop),
        ledger.reserve(&Request::new("plan", "slot", &slot("s", 1))).map(drop),
        ledger.commit("account", "reserved", b"42").map(drop),
        ledger.commit("account", "paid", b"42").map(drop),
        ledger.reserve(&session("session")).map(drop),
        ledger.begin_session("account", "due", b"toy", &[1; 32]).map(drop),
        ledger.begin_session("account", "begun", b"toy", &[1; 32]).map(drop),
        ledger.store_answer("account", "begun", &new_answer("one", 0, "42", false)).map(drop),
        ledger.store_answer("account", "begun", &new_answer("two", 1, "42", false)).map(drop),
        ledger.end_session("account", "begun").map(drop),
        ledger.end_session("account", "ended").map(drop),
        ledger.add_quota("another", "ann", &NewQuota::Share(amount("0.1"))).map(drop),
        ledger.close("another").map(drop),
        ledger.close("closed").map(drop),
    ]
}

/// A ledger in which every way to write is open.
fn ready(place: &Place) -> Ledger {
    let mut ledger = with_account(place, "1");
    let text = r#"{"delta": 1e-7, "release": [
        {"name": "s", "mechanism": "approx-dp", "epsilon": 0.5, "count": 9}]}"#;
    ledger.open_account("plan", "data", &NewAccount::Plan(plan(text), None)).unwrap();
    pay(&mut ledger, "paid").unwrap();
    let tenth = release("0.1");
    ledger.reserve(&Request::new("account", "reserved", &tenth)).unwrap();
    for key in ["due", "begun", "ended"] {
        let session = Request { session: true, ..Request::new("account", key, &tenth) };
        ledger.reserve(&session).unwrap();
        if key != "due" {
            ledger.begin_session("account", key, b"toy", &[1; 32]).unwrap();
            ledger.store_answer("account", key, &new_answer("one", 0, "42", false)).unwrap();
        }
    }
    ledger.end_session("account", "ended").unwrap();
    let sums = NewAccount::Filter(budget(FilterKind::Sums, "0.1", "0"));
    ledger.open_account("closed", "data", &sums).unwrap();
    ledger.close("closed").unwrap();
    ledger
}

#[test]
fn one_who_reads_writes_nothing() {
    for place in Place::all() {
        let head = ready(&place).head().unwrap();
        let options = OpenOptions { read_only: true, expect: Some(head) };
        let mut ledger = Ledger::open_with(&place.url(), &options).unwrap();
        for (index, outcome) in writes(&mut ledger).into_iter().enumerate() {
            assert_eq!(outcome, Err(LedgerError::ReadOnly), "{index}");
        }
        // And reads the rest.
        assert_eq!((ledger.head(), ledger.is_plan("plan")), (Ok(head), Ok(true)));
        assert!(ledger.status(None).is_ok() && ledger.history(None, None, |_| ()).is_ok());
        assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
        assert_eq!(shown(&mut ledger, "reserved"), Ok(None));
        // The same by one who may.
        let mut ledger = place.open();
        for (index, outcome) in writes(&mut ledger).into_iter().enumerate() {
            assert_eq!(outcome, Ok(()), "{index}");
        }
    }
}

/// A server that fell back on a replica without the last entries, a restored dump.
#[test]
fn a_handle_finds_that_what_it_was_told_is_missing() {
    for place in Place::all() {
        let mut ledger = ready(&place);
        let before = ledger.head().unwrap();
        let known = ledger.reserve(&Request::new("account", "last", &release("0.1"))).unwrap().head;
        let mut database = forge(&place);
        unguard(&mut *database);
        for sql in [
            "DELETE FROM ledger_release WHERE key = 'last'",
            "DELETE FROM ledger_entry WHERE sequence = (SELECT sequence FROM ledger_head)",
            "UPDATE ledger_head SET sequence = sequence - 1, hash = \
             (SELECT hash FROM ledger_entry e WHERE e.sequence = ledger_head.sequence - 1)",
        ] {
            assert_eq!(database.execute(sql, &[]), Ok(1), "{sql}");
        }
        guard(&mut *database);
        assert_eq!(ledger.head(), Ok(before));
        for outcome in writes(&mut ledger) {
            is_other(outcome, known);
        }
        assert_eq!(ledger.head(), Ok(before), "nothing was written");
        assert!(!ledger.is_stopped());
    }
}

/// The database without its log is an older ledger, and sound.
#[test]
fn a_copy_without_its_log_is_refused_by_who_expects() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let mut ledger = place.open();
    let head =
        (0..10).map(|index| pay(&mut ledger, &format!("k-{index}")).unwrap()).last().unwrap();
    let copied = Place::sqlite();
    copy(&place.file(), &copied.file());
    is_other(expecting(&copied, head).map(drop), head);
    // Nothing else tells.
    let mut old = copied.open();
    assert_eq!(old.verify(None).unwrap().problem, None);
    assert!(pay(&mut old, "k-0").is_ok(), "drawn again");
}

#[test]
fn a_restored_backup_is_refused_by_who_expects() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("saved");
        let kept = pay(&mut ledger, "before").unwrap();
        assert_eq!(ledger.backup(&file), Ok(kept));
        let last = pay(&mut ledger, "after").unwrap();
        drop(ledger);
        let saved = Place { url: format!("sqlite:{}", file.display()), folder: None };
        is_other(expecting(&saved, last).map(drop), last);
        let mut restored = expecting(&saved, kept).unwrap();
        assert_eq!(shown(&mut restored, "before").unwrap().unwrap(), answer("before").as_bytes());
    }
}

/// A service that keeps the last head it was told elsewhere, and somebody who puts old copies in
/// the ledger's place at any time. Full: 400 seeds. Quick: 12.
#[test]
fn a_service_that_keeps_its_head_is_never_given_more() {
    let (mut fooled, mut refused) = (0, 0);
    for seed in 0..size(400, 12) {
        for expects in [true, false] {
            let (paid, no) = served(seed, expects);
            if expects {
                assert!(paid <= 10, "seed {seed}: {paid} of 10");
                refused += no;
            } else {
                fooled += u64::from(paid > 10);
            }
        }
    }
    // The test would be empty if a service that expects nothing fared as well.
    assert!(fooled >= size(400, 12) / 4 && refused > 0, "{fooled} {refused}");
}

/// How many releases of 0.1 a budget of 1 gave, and how often the ledger was refused.
fn served(seed: u64, expects: bool) -> (u64, u64) {
    let (place, mut random) = (Place::sqlite(), Random::new(seed));
    drop(with_account(&place, "1"));
    let (copies, file) = (tempfile::tempdir().unwrap(), place.file());
    let open = |known: Option<Head>| {
        let expect = known.filter(|_| expects);
        Ledger::open_with(&place.url(), &OpenOptions { read_only: false, expect })
    };
    let (mut known, mut ledger) = (None, open(None).ok());
    let (mut made, mut paid, mut refused) = (0, 0, 0);
    for step in 0..60 {
        match random.below(8) {
            0 => ledger = None,
            1 | 2 if ledger.is_some() => {
                let saved = copies.path().join(made.to_string());
                match random.below(2) {
                    0 => copy(&file, &saved),
                    _ => drop(ledger.as_mut().and_then(|ledger| ledger.backup(&saved).ok())),
                }
                made += u64::from(saved.exists());
            }
            3 if made > 0 => {
                let saved = copies.path().join(random.below(made).to_string());
                // Over a ledger in use, or as one is told to: nobody has it open, the log is gone.
                if random.below(2) == 0 {
                    ledger = None;
                }
                copy(&saved, &end(&file, "-new"));
                std::fs::rename(end(&file, "-new"), &file).unwrap();
                if ledger.is_none() {
                    without_log(&file);
                }
            }
            _ => {
                if ledger.is_none() {
                    let _ = std::fs::remove_file(end(&file, "-stopped"));
                    without_log(&file);
                    ledger = open(known).ok();
                    refused += u64::from(ledger.is_none());
                }
                let key = format!("key-{step}");
                if let Some(head) = ledger.as_mut().and_then(|ledger| pay(ledger, &key).ok()) {
                    known = Some(head);
                    paid += 1;
                }
                ledger = ledger.filter(|ledger| !ledger.is_stopped());
            }
        }
    }
    (paid, refused)
}

/// Handles that replace others expect what those were told.
#[test]
fn a_pool_does_not_go_on_with_an_old_copy() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let old = end(&place.file(), "-old");
    copy(&place.file(), &old);
    let pool = Pool::new(&place.url(), &OpenOptions::default(), 2).unwrap();
    let known = pool.with(|ledger| pay(ledger, "first")).unwrap();
    std::fs::rename(&old, place.file()).unwrap();
    assert!(pool.with(|ledger| pay(ledger, "second")).is_err());
    for name in ["-wal", "-shm", "-stopped"] {
        std::fs::remove_file(end(&place.file(), name)).unwrap();
    }
    is_other(pool.with(|ledger| pay(ledger, "second")), known);
    assert!(pay(&mut place.open(), "second").is_ok(), "who expects nothing is fooled");
}

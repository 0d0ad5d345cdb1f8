//! Copies that are complete.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use counterpoint_ledger::database::DatabaseError;
use counterpoint_ledger::{ExportItem, Ledger, LedgerError, OpenOptions, Url};
use counterpoint_wire::ledger::Status;

use crate::child::say;
use crate::tamper::{forge, rich};
use crate::{Place, assert_sound, exported, pay, with_account};

fn at(file: &Path) -> Url {
    Url::Sqlite(file.to_str().unwrap().to_owned())
}

/// Everything that a ledger tells.
fn told(ledger: &mut Ledger) -> (Vec<ExportItem>, Status) {
    (exported(ledger), ledger.status(None).unwrap())
}

#[test]
fn a_backup_is_the_same_ledger_in_one_file() {
    for place in Place::all() {
        let (_, head) = rich(&place);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("saved.db");
        let mut ledger = place.open();
        assert_eq!(ledger.backup(&file), Ok(head));
        let names: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["saved.db"]);
        let mut copy =
            Ledger::open_with(&at(&file), &OpenOptions { read_only: true, expect: Some(head) })
                .unwrap();
        assert_eq!(copy.verify(Some(head)).unwrap().problem, None);
        drop(copy);
        // It can be gone on with where the other is lost.
        let mut copy = Ledger::open(&at(&file)).unwrap();
        assert_eq!(told(&mut copy), told(&mut ledger));
        assert_sound(&mut copy);
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_backup_is_a_new_file() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.db");
    let refused = |outcome| match outcome {
        Err(LedgerError::Database(DatabaseError::Unusable(problem))) => problem,
        other => panic!("{other:?}"),
    };
    for (taken, wanted) in [("saved.db", &file), ("saved.db-unfinished", &file)] {
        std::fs::write(folder.path().join(taken), b"mine").unwrap();
        let problem = refused(ledger.backup(wanted));
        assert!(problem.ends_with("is there already; legal: a new file"), "{problem}");
        assert_eq!(std::fs::read(folder.path().join(taken)).unwrap(), b"mine");
        std::fs::remove_file(folder.path().join(taken)).unwrap();
    }
    refused(ledger.backup(&place.file()));
    refused(ledger.backup(&folder.path().join("no/saved.db")));
    refused(ledger.backup(Path::new("/dev/null")));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // None of which was a failure of the ledger's.
    pay(&mut ledger, "first").unwrap();
    let head = ledger.backup(&file).unwrap();
    assert_eq!(head, ledger.head().unwrap());
}

/// A backup whose disk is full.
pub(crate) fn back_up(url: &str, file: &str) {
    let mut ledger = Ledger::open(&url.parse().unwrap()).unwrap();
    match ledger.backup(Path::new(file)) {
        Err(LedgerError::Database(DatabaseError::Unusable(problem))) => say(&problem),
        other => say(&format!("{other:?}")),
    }
    say(&format!("paid {}", pay(&mut ledger, "later").is_ok()));
    say(&format!("left {}", std::fs::read_dir(Path::new(file).parent().unwrap()).unwrap().count()));
}

#[test]
fn a_disk_that_is_full_stops_the_backup_alone() {
    if !crate::files::can_mount() {
        return;
    }
    for place in Place::all() {
        let mut ledger = with_account(&place, "1000");
        for index in 0..100 {
            pay(&mut ledger, &format!("k-{index}")).unwrap();
        }
        drop(ledger);
        let folder = tempfile::tempdir().unwrap();
        let script = format!("mount -t tmpfs -o size=64k none '{}'", folder.path().display());
        let file = folder.path().join("saved.db");
        let orders = ["backup", &place.url, file.to_str().unwrap()];
        let said = crate::files::in_namespace(&script, &orders);
        assert!(said[0].contains("full"), "{said:?}");
        assert_eq!(said[1..], ["paid true", "left 0"]);
        assert_sound(&mut place.open());
    }
}

#[test]
fn a_backup_while_others_write_is_of_one_moment() {
    for place in Place::all() {
        drop(with_account(&place, "1000"));
        let folder = tempfile::tempdir().unwrap();
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let writer = |name: &'static str| {
                let (mut ledger, done) = (place.open(), &done);
                scope.spawn(move || {
                    for index in 0.. {
                        pay(&mut ledger, &format!("{name}-{index}")).unwrap();
                        if done.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                })
            };
            let writers = ["a", "b"].map(writer);
            let mut ledger = place.open();
            let mut heads = Vec::new();
            for index in 0..4 {
                let file = folder.path().join(format!("{index}.db"));
                let head = ledger.backup(&file).unwrap();
                let expect = OpenOptions { read_only: false, expect: Some(head) };
                let mut copy = Ledger::open_with(&at(&file), &expect).unwrap();
                assert_eq!(copy.head(), Ok(head));
                assert_sound(&mut copy);
                heads.push(head);
            }
            done.store(true, Ordering::Relaxed);
            for writer in writers {
                writer.join().unwrap();
            }
            for head in heads {
                assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
            }
        });
    }
}

#[test]
fn a_damaged_ledger_is_not_backed_up() {
    for place in Place::all() {
        drop(with_account(&place, "1"));
        forge(&place).execute("UPDATE ledger_account SET charges = charges + 1", &[]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let problem = place.open().backup(&folder.path().join("saved.db")).unwrap_err().to_string();
        assert!(problem.starts_with("the ledger is damaged: the copy: "), "{problem}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

/// Answers and private states are in these files: they are their owner's alone.
#[cfg(unix)]
#[test]
fn nobody_else_can_read_a_ledger_or_its_backup() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let copy = place.file().with_file_name("copy.db");
    ledger.backup(&copy).unwrap();
    for end in ["ledger.db", "ledger.db-wal", "ledger.db-shm", "copy.db"] {
        let mode = place.file().with_file_name(end).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{end}");
    }
}

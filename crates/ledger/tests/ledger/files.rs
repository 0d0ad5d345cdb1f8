//! One file under several names, names that lead to other files, and media that cannot be written.

use std::path::{Path, PathBuf};
use std::process::Command;

use counterpoint_ledger::database::DatabaseError;
use counterpoint_ledger::{Head, Ledger, LedgerError, OpenOptions};

use crate::child::{Running, say, start, start_by};
use crate::{Place, amount, answer, assert_sound, is_full, pay, shown, watch, with_account};

const READING: OpenOptions = OpenOptions { read_only: true, expect: None };

fn url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn open(path: &Path) -> Result<Ledger, LedgerError> {
    Ledger::open(&url(path).parse().unwrap())
}

/// A name beside a ledger's.
fn beside(path: &Path, end: &str) -> PathBuf {
    PathBuf::from(format!("{}{end}", path.display()))
}

/// Copies by another process: to close a file in this one drops its locks.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

#[track_caller]
fn unusable(outcome: Result<Ledger, LedgerError>) -> String {
    match outcome.err() {
        Some(LedgerError::Database(DatabaseError::Unusable(problem))) => problem,
        other => panic!("{other:?}"),
    }
}

/// How many releases of 0.1 workers were told of.
fn acknowledged(workers: Vec<Running>) -> usize {
    let readers: Vec<_> =
        workers.into_iter().map(|mut worker| std::thread::spawn(move || worker.all())).collect();
    let said = readers.into_iter().flat_map(|reader| reader.join().unwrap());
    said.filter(|line| line.starts_with("reserved ")).count()
}

/// Two links to one file have a log each: twenty releases of 0.1 fitted a budget of 1.
#[test]
fn one_file_under_two_names_spends_nothing() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let other = place.file().with_file_name("other.db");
    std::fs::hard_link(place.file(), &other).unwrap();
    let worker = |path: &Path, prefix| start(&["loop", &url(path), prefix, "10"], None);
    assert_eq!(acknowledged(vec![worker(&place.file(), "a-"), worker(&other, "b-")]), 0);
    for path in [place.file(), other.clone()] {
        let problem = unusable(open(&path));
        assert!(problem.contains("has 2 names (hard links); legal: "), "{problem}");
        let reading = Ledger::open_with(&url(&path).parse().unwrap(), &READING);
        assert_eq!(unusable(reading), problem);
        assert_eq!(unusable(Ledger::init(&url(&path).parse().unwrap())), problem);
    }
    // With one name, whichever, it is a ledger again.
    std::fs::remove_file(place.file()).unwrap();
    assert_eq!(acknowledged(vec![worker(&other, "a-")]), 10);
}

/// SQLite resolves symbolic links, so that all have one log.
#[test]
fn symbolic_links_lead_to_one_ledger() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let folder = place.file().parent().unwrap().to_owned();
    std::fs::create_dir(folder.join("far")).unwrap();
    let names = [folder.join("near.db"), folder.join("far").join("ledger.db")];
    for name in &names {
        std::os::unix::fs::symlink(place.file(), name).unwrap();
    }
    std::os::unix::fs::symlink(&folder, folder.join("same")).unwrap();
    let names = [&names[..], &[place.file(), folder.join("same/ledger.db")]].concat();
    let worker = |(index, path): (usize, &PathBuf)| {
        start(&["loop", &url(path), &format!("{index}-"), "10"], None)
    };
    assert_eq!(acknowledged(names.iter().enumerate().map(worker).collect()), 10);
    assert!(!beside(&names[0], "-wal").exists() && !beside(&names[1], "-shm").exists());
    assert_sound(&mut place.open());
}

#[test]
fn what_is_no_file_is_unusable() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let nowhere = folder.path().join("nowhere");
    std::os::unix::fs::symlink(folder.path().join("gone"), &nowhere).unwrap();
    let device = Path::new("/dev/null");
    let regular = "is no regular file; legal: a file on a local disk";
    for (path, problem) in [
        (device, regular),
        (folder.path(), regular),
        (&pipe, regular),
        (&nowhere, "is a symbolic link to nothing"),
        (&folder.path().join("no/ledger.db"), "its folder: No such file"),
        (Path::new("/"), regular),
    ] {
        let url = url(path).parse().unwrap();
        let found = unusable(Ledger::init(&url));
        assert!(found.contains(problem), "{found}");
        let closed = [Ledger::open(&url), Ledger::open_with(&url, &READING)].map(unusable);
        assert!(
            closed.iter().all(|found| found.contains("no regular") || found.contains("No such"))
        );
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

/// Something that happens to a ledger's files while it is in use.
struct Accident {
    name: &'static str,
    happens: fn(&Path),
    /// What is said of it.
    problem: &'static str,
    /// Whether it keeps others from going on.
    stops_others: bool,
    /// What makes everything whole again; `None` if something acknowledged is lost.
    mended: Option<fn(&Path)>,
}

const ACCIDENTS: [Accident; 11] = [
    Accident {
        name: "another name",
        happens: |file| std::fs::hard_link(file, beside(file, "-2")).unwrap(),
        problem: "has 2 names",
        stops_others: false,
        mended: Some(|file| std::fs::remove_file(beside(file, "-2")).unwrap()),
    },
    Accident {
        name: "a copy moved over it",
        happens: |file| {
            copy(file, &beside(file, "-copy"));
            std::fs::hard_link(file, beside(file, "-true")).unwrap();
            std::fs::rename(beside(file, "-copy"), file).unwrap();
        },
        problem: "is no longer the file that was opened",
        stops_others: true,
        mended: Some(|file| std::fs::rename(beside(file, "-true"), file).unwrap()),
    },
    Accident {
        name: "deleted",
        happens: |file| std::fs::remove_file(file).unwrap(),
        problem: "No such file",
        stops_others: true,
        mended: None,
    },
    Accident {
        name: "moved away",
        happens: |file| std::fs::rename(file, beside(file, "-moved")).unwrap(),
        problem: "No such file",
        stops_others: true,
        mended: Some(|file| std::fs::rename(beside(file, "-moved"), file).unwrap()),
    },
    Accident {
        name: "moved, with a link in its place",
        happens: |file| {
            std::fs::rename(file, beside(file, "-moved")).unwrap();
            std::os::unix::fs::symlink(beside(file, "-moved"), file).unwrap();
        },
        problem: "is no longer the file that was opened",
        stops_others: true,
        mended: Some(|file| std::fs::rename(beside(file, "-moved"), file).unwrap()),
    },
    Accident {
        name: "log deleted",
        happens: |file| std::fs::remove_file(beside(file, "-wal")).unwrap(),
        problem: "No such file",
        stops_others: true,
        // Who has it open writes it back.
        mended: Some(|_| ()),
    },
    Accident {
        name: "log moved away",
        happens: |file| std::fs::rename(beside(file, "-wal"), beside(file, "-old")).unwrap(),
        problem: "No such file",
        stops_others: true,
        mended: Some(|_| ()),
    },
    Accident {
        name: "log replaced",
        happens: |file| {
            std::fs::rename(beside(file, "-wal"), beside(file, "-old")).unwrap();
            std::fs::write(beside(file, "-wal"), b"").unwrap();
        },
        problem: "is no longer the file that was opened",
        stops_others: true,
        mended: Some(|file| std::fs::rename(beside(file, "-old"), beside(file, "-wal")).unwrap()),
    },
    Accident {
        name: "index deleted",
        happens: |file| std::fs::remove_file(beside(file, "-shm")).unwrap(),
        problem: "No such file",
        stops_others: true,
        mended: Some(|_| ()),
    },
    Accident {
        name: "index replaced",
        happens: |file| {
            copy(&beside(file, "-shm"), &beside(file, "-new"));
            std::fs::rename(beside(file, "-new"), beside(file, "-shm")).unwrap();
        },
        problem: "is no longer the file that was opened",
        stops_others: true,
        mended: Some(|file| std::fs::remove_file(beside(file, "-shm")).unwrap()),
    },
    Accident {
        name: "another process had to stop",
        happens: |file| std::fs::write(beside(file, "-stopped"), "\n").unwrap(),
        problem: "another process had to stop",
        stops_others: true,
        mended: Some(|_| ()),
    },
];

/// What is acknowledged is in the file that the name leads to.
#[test]
fn what_happens_to_files_in_use_is_found_before_the_next_acknowledgement() {
    for accident in &ACCIDENTS {
        for within in [false, true] {
            let what = format!("{}, {within}", accident.name);
            let place = Place::sqlite();
            drop(with_account(&place, "1"));
            let (file, happens) = (place.file(), accident.happens);
            // Just before a commit.
            let mut victim = within.then(|| file.clone());
            let mut ledger = watch::open(&place, move |event| {
                if let watch::Event::Commit = event {
                    victim.take().iter().for_each(|file| happens(file));
                }
            });
            let head = pay(&mut place.open(), "first").unwrap();
            if !within {
                pay(&mut ledger, "second").unwrap();
                happens(&file);
            }
            // Before anything is written, unless it was looked at just before.
            let problem = match (pay(&mut ledger, "third"), within) {
                (Err(LedgerError::Database(DatabaseError::Failed(problem))), false)
                | (Err(LedgerError::Database(DatabaseError::Uncertain(problem))), _) => problem,
                (other, _) => panic!("{what}: {other:?}"),
            };
            assert!(problem.contains(accident.problem), "{what}: {problem}");
            let stopped = Err(LedgerError::Database(DatabaseError::Stopped));
            assert_eq!(
                (pay(&mut ledger, "fourth"), ledger.is_stopped()),
                (stopped, true),
                "{what}"
            );
            aftermath(accident, &file, ledger, head, within, &what);
        }
    }
}

/// Nobody goes on, until somebody has put everything right: then all is there.
fn aftermath(
    accident: &Accident,
    file: &Path,
    ledger: Ledger,
    head: Head,
    within: bool,
    what: &str,
) {
    let marker = beside(file, "-stopped");
    assert_eq!(marker.exists(), accident.stops_others, "{what}");
    assert!(open(file).is_err(), "{what}");
    drop(ledger);
    assert!(open(file).is_err(), "{what}");
    let _ = std::fs::remove_file(marker);
    let Some(mended) = accident.mended else { return };
    mended(file);
    let mut ledger = open(file).unwrap();
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None, "{what}");
    if !within {
        assert_eq!(shown(&mut ledger, "second").unwrap().unwrap(), answer("second").as_bytes());
    }
    // A transaction of which nobody was told is there or not, and its key is charged once.
    pay(&mut ledger, "third").unwrap();
    assert_sound(&mut ledger);
}

/// A ledger that is opened through a link which then leads elsewhere.
#[test]
fn a_symbolic_link_that_is_turned_stops_the_handle_alone() {
    let (place, other) = (Place::sqlite(), Place::sqlite());
    drop((with_account(&place, "1"), with_account(&other, "1")));
    let link = place.file().with_file_name("current");
    std::os::unix::fs::symlink(place.file(), &link).unwrap();
    let mut ledger = open(&link).unwrap();
    pay(&mut ledger, "first").unwrap();
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(other.file(), &link).unwrap();
    let error = pay(&mut ledger, "second").unwrap_err().to_string();
    assert!(error.contains("current is no longer the file that was opened"), "{error}");
    assert!(pay(&mut place.open(), "second").is_ok(), "the ledger itself goes on");
}

/// Who has it open by its old name has acknowledged what is not in the database yet.
#[test]
fn a_ledger_that_was_renamed_in_use_is_not_opened_by_its_new_name() {
    for carried in [&[""][..], &["", "-wal"]] {
        let place = Place::sqlite();
        drop(with_account(&place, "1"));
        let mut ledger = place.open();
        (0..9).for_each(|index| drop(pay(&mut ledger, &format!("k-{index}"))));
        let new = place.file().with_file_name("new.db");
        for end in carried {
            std::fs::rename(beside(&place.file(), end), beside(&new, end)).unwrap();
        }
        assert_eq!(acknowledged(vec![start(&["loop", &url(&new), "n-", "10"], None)]), 0);
        let problem = unusable(open(&new));
        assert!(problem.contains("is in use under another name, with another log"), "{problem}");
        assert!(pay(&mut ledger, "late").is_err());
    }
}

/// To close a database deletes its log by name, which may be somebody else's by then.
#[test]
fn a_handle_that_lost_its_files_leaves_those_of_others_alone() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let saved = beside(&place.file(), "-saved");
    let mut old = place.open();
    old.backup(&saved).unwrap();
    std::fs::rename(&saved, place.file()).unwrap();
    for end in ["-wal", "-shm"] {
        std::fs::remove_file(beside(&place.file(), end)).unwrap();
    }
    let mut new = place.open();
    pay(&mut new, "first").unwrap();
    drop(old);
    let head = pay(&mut new, "second").unwrap();
    drop(new);
    assert_eq!(place.open().verify(Some(head)).unwrap().problem, None);
}

/// SQLite shares an index among the handles of a process, whatever its name leads to now.
#[test]
fn a_further_handle_does_not_take_anothers_index_for_its_own() {
    let place = Place::sqlite();
    let first = with_account(&place, "1");
    let index = beside(&place.file(), "-shm");
    copy(&index, &beside(&index, "-new"));
    std::fs::rename(beside(&index, "-new"), &index).unwrap();
    let problem = unusable(open(&place.file()));
    assert!(problem.contains("its files were exchanged as they were opened"), "{problem}");
    drop(first);
}

/// A process that was killed leaves database, log and index behind.
#[test]
fn an_index_without_its_log_is_refused() {
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let mut child = start(&["loop", &place.url, "w-", "1000"], None);
    while child.said().unwrap() != "ready" {}
    let said = child.said().unwrap();
    child.kill();
    let (log, kept) = (beside(&place.file(), "-wal"), beside(&place.file(), "-kept"));
    std::fs::rename(&log, &kept).unwrap();
    for reading in [false, true] {
        let options = OpenOptions { read_only: reading, expect: None };
        let problem = unusable(Ledger::open_with(&place.url(), &options));
        assert!(problem.contains("ledger.db-wal is gone, and with it"), "{problem}");
    }
    std::fs::rename(&kept, &log).unwrap();
    let head: Head = said.split(' ').nth(2).unwrap().parse().unwrap();
    assert_eq!(place.open().verify(Some(head)).unwrap().problem, None);
}

/// Starts a child in a namespace of its own, in which a shell first mounts something.
pub(crate) fn in_namespace(script: &str, orders: &[&str]) -> Vec<String> {
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "sh", "-c", &format!("set -e; {script}; exec \"$@\""), "sh"]);
    command.arg(std::env::current_exe().unwrap());
    start_by(command, orders, None).all()
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().unwrap().stdout == b"0\n"
}

/// Whether file systems can be mounted here; the full run insists on it.
pub(crate) fn can_mount() -> bool {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("unshare");
    if !is_root() {
        command.args(["--user", "--map-root-user"]);
    }
    let folder = folder.path().to_str().unwrap();
    let able = command.args(["--mount", "mount", "-t", "tmpfs", "none", folder]).output();
    if able.is_ok_and(|output| output.status.success()) {
        return true;
    }
    assert!(!is_full(), "the full run needs unshare and mount");
    eprintln!("not tested with mounts: neither root nor user namespaces");
    false
}

/// Two containers with the file alone in each have a log each.
#[test]
fn a_file_that_is_mounted_by_itself_spends_nothing() {
    if !can_mount() {
        return;
    }
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let folder = place.file().parent().unwrap().to_owned();
    for name in ["one", "two"] {
        let inside = folder.join(name);
        std::fs::create_dir(&inside).unwrap();
        std::fs::write(inside.join("ledger.db"), b"").unwrap();
    }
    let worker = |name: &str, from: &str| {
        let inside = folder.join(name);
        let (from, to) = (folder.join(from), inside.join(if from == "." { "." } else { from }));
        let script = format!("mount --bind '{}' '{}'", from.display(), to.display());
        let orders = ["loop", &url(&inside.join("ledger.db")), &format!("{name}-"), "10"];
        in_namespace(&script, &orders)
    };
    for name in ["one", "two"] {
        let said = worker(name, "ledger.db");
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].starts_with("closed ") && said[0].contains("is mounted by itself"),
            "{said:?}"
        );
    }
    // A whole folder has the log in it.
    let told = |said: Vec<String>| said.iter().filter(|line| line.starts_with("reserved ")).count();
    let both = std::thread::scope(|scope| {
        let workers = ["one", "two"].map(|name| scope.spawn(move || told(worker(name, "."))));
        workers.map(|worker| worker.join().unwrap())
    });
    assert_eq!(both[0] + both[1], 10);
    let status = place.open().status(Some("account")).unwrap().accounts.remove(0);
    assert_eq!(status.spent.main, amount("1"));
}

/// What can be done with a ledger that is opened to read.
pub(crate) fn look(url: &str) {
    let mut ledger = match Ledger::open_with(&url.parse().unwrap(), &READING) {
        Ok(ledger) => ledger,
        Err(error) => return say(&format!("closed {error}")),
    };
    let spent = ledger.status(Some("account")).unwrap().accounts.remove(0).spent.main;
    say(&format!("spent {spent}"));
    say(&format!("verified {}", ledger.verify(None).unwrap().problem.is_none()));
    say(&format!("shown {:?}", shown(&mut ledger, "first").map(|bytes| bytes.unwrap().len())));
    let told = ledger.responses(None, None).map(|told| told.responses.len());
    say(&format!("exported {told:?}"));
    say(&format!("paid {}", pay(&mut ledger, "later").is_ok()));
    let opened = Ledger::open(&url.parse().unwrap()).map(drop);
    say(&format!("opened {}", opened.is_ok()));
}

/// A disc, and a folder that others write to.
#[test]
fn a_medium_that_cannot_be_written_to_can_be_read() {
    if !can_mount() {
        return;
    }
    let place = Place::sqlite();
    drop(with_account(&place, "1"));
    let mut ledger = place.open();
    pay(&mut ledger, "first").unwrap();
    let folder = place.file().parent().unwrap().to_owned();
    let inside = folder.join("inside #1 100%");
    std::fs::create_dir(&inside).unwrap();
    let (from, to) = (folder.display(), inside.display());
    let at = url(&inside.join("ledger.db"));
    // Others write: what is read is synced by who reads it.
    let live = format!("mount --bind '{from}' '{to}'; mount -o remount,bind,ro '{to}'");
    let all = [
        "spent 0.1",
        "verified true",
        "shown Ok(12)",
        "exported Ok(1)",
        "paid false",
        "opened false",
    ];
    assert_eq!(in_namespace(&live, &["look", &at]), all);
    // Nobody writes to a disc, be there a log or not.
    let disc = |names: &[&str]| {
        let files: Vec<String> = names.iter().map(|name| format!("'{from}/{name}'")).collect();
        let files = files.join(" ");
        format!("mount -t tmpfs none '{to}'; cp {files} '{to}'; mount -o remount,ro '{to}'")
    };
    let (whole, halved) =
        (["ledger.db", "ledger.db-wal", "ledger.db-shm"], ["ledger.db", "ledger.db-wal"]);
    assert_eq!(in_namespace(&disc(&whole), &["look", &at]), all);
    let said = in_namespace(&disc(&halved), &["look", &at]);
    assert!(said.len() == 1 && said[0].contains("a backup does not"), "{said:?}");
    drop(ledger);
    assert_eq!(in_namespace(&disc(&["ledger.db"]), &["look", &at]), all);
    // A folder that only this process cannot write to is no disc.
    let said = in_namespace(&live, &["look", &at]);
    assert!(said.len() == 1 && said[0].contains("a backup does not"), "{said:?}");
    place.open().backup(&folder.join("saved")).unwrap();
    let saved = url(&inside.join("saved"));
    assert_eq!(in_namespace(&live, &["look", &saved]), all);
}

/// Where a process had to stop, others may look.
#[test]
fn a_ledger_that_stopped_can_be_read() {
    let place = Place::sqlite();
    let head = pay(&mut with_account(&place, "1"), "first").unwrap();
    std::fs::write(beside(&place.file(), "-stopped"), "\n").unwrap();
    assert!(unusable(open(&place.file())).contains("a process had to stop here"));
    let mut ledger = Ledger::open_with(&place.url(), &READING).unwrap();
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
    assert_eq!(pay(&mut ledger, "second"), Err(LedgerError::ReadOnly));
}

//! Auditors, who read and do not write.

use std::sync::{Arc, Mutex};

use counterpoint_ledger::database::{Access, Cell, Database, DatabaseError, Dialect, Row};
use counterpoint_ledger::{
    Checkpoint, Exported, Hash, Head, Ledger, LedgerError, NewAnswer, OpenOptions, Request, Url,
};
use counterpoint_testing::run;

use crate::child::{say, start};
use crate::tamper::{forge, forge_last, guard, rich, unguard};
use crate::{Place, exported, pay, release, with_account};

/// Something that happens once.
type Once = Arc<Mutex<Option<Box<dyn FnOnce() + Send>>>>;
/// Statements that were run, and what they were given.
type Reads = Arc<Mutex<Vec<(String, Vec<Cell>)>>>;

const READING: OpenOptions = OpenOptions { read_only: true, expect: None };

/// The place as a new role on the server finds it, which may do what is granted to it; in a file, the same place.
fn as_role(place: &Place, grants: &str) -> Place {
    let url = match place.url.split_once("%3D") {
        None => place.url.clone(),
        Some((_, schema)) => {
            let role = format!("auditor_{schema}");
            let grants = grants.replace("ROLE", &role).replace("PLACE", schema);
            run(&place.url, &format!("CREATE ROLE {role} LOGIN; {grants}"));
            place.url.replace("//ledger@", &format!("//{role}@"))
        }
    };
    Place { url, folder: None }
}

/// Everything may be read.
const SELECT: &str =
    "GRANT USAGE ON SCHEMA PLACE TO ROLE; GRANT SELECT ON ALL TABLES IN SCHEMA PLACE TO ROLE";

#[test]
fn answers_are_told_to_who_only_reads() {
    for place in Place::all() {
        let (_, head) = rich(&place);
        let mut owner = place.open();
        let (parts, responses) = (exported(&mut owner), owner.responses(None, None).unwrap());
        let answers = responses.responses.iter().filter(|one| one.ask.is_some()).count();
        assert!(answers > 0 && responses.responses.len() > answers);
        let reader = as_role(&place, SELECT);
        let mut ledger = Ledger::open_with(&reader.url(), &READING).unwrap();
        assert_eq!(exported(&mut ledger), parts);
        assert_eq!(ledger.responses(None, None), Ok(responses.clone()));
        for one in &responses.responses {
            let shown = match &one.ask {
                None => ledger.response(&one.account, &one.key).unwrap(),
                Some(ask) => {
                    let answer = ledger.answered(&one.account, &one.key, ask).unwrap();
                    answer.map(|answer| answer.response)
                }
            };
            assert_eq!(shown.as_ref(), Some(&one.bytes));
        }
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(ledger.backup(&folder.path().join("saved")), Ok(head));
        // And nothing was written.
        assert_eq!(ledger.close("sums"), Err(LedgerError::ReadOnly));
        assert_eq!((owner.head(), exported(&mut owner)), (Ok(head), parts));
    }
}

/// A role that may only read is no hindrance, and one who may write is not asked to.
#[test]
fn nothing_is_told_that_may_not_be_durable() {
    let place = Place::sqlite();
    let mut owner = with_account(&place, "1");
    pay(&mut owner, "first").unwrap();
    let mut ledger = Ledger::open_with(&place.url(), &READING).unwrap();
    assert_eq!(ledger.responses(None, None).unwrap().responses.len(), 1);
    std::fs::write(format!("{}-stopped", place.file().display()), "\n").unwrap();
    let error = ledger.responses(None, None).unwrap_err();
    assert!(error.to_string().contains("a process had to stop here"), "{error}");
}

/// A database in which others write at one moment: when the reader has made sure that all is durable.
struct Interrupted {
    inner: Box<dyn Database>,
    happens: Once,
    /// How many statements were sent.
    queries: Arc<Mutex<usize>>,
}

impl Database for Interrupted {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.inner.begin(access)
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        *self.queries.lock().unwrap() += 1;
        self.inner.query(sql, parameters)
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.inner.execute(sql, parameters)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.inner.commit()?;
        if let Some(happens) = self.happens.lock().unwrap().take() {
            happens();
        }
        Ok(())
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }

    fn copy(&mut self, file: &str) -> Result<(), DatabaseError> {
        self.inner.copy(file)
    }

    fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }
}

/// What others store after the reader looked for what is durable is not told.
#[test]
fn an_export_ends_at_the_head_that_is_durable() {
    for place in Place::all() {
        let mut owner = with_account(&place, "10");
        let tenth = release("0.1");
        owner.reserve(&Request::new("account", "late", &tenth)).unwrap();
        let head = pay(&mut owner, "first").unwrap();
        let before = exported(&mut owner);
        let happens: Once = Arc::default();
        let (inner, queries) = (place.url().open(false).unwrap(), Arc::default());
        let database = Interrupted { inner, happens: Arc::clone(&happens), queries };
        let mut ledger = Ledger::open_in(Box::new(database)).unwrap();
        let write: Box<dyn FnOnce() + Send> = Box::new(move || {
            owner.commit("account", "late", b"late").unwrap();
            pay(&mut owner, "second").unwrap();
        });
        *happens.lock().unwrap() = Some(write);
        assert_eq!(exported(&mut ledger), before);
        assert!(
            happens.lock().unwrap().is_none() && ledger.head().unwrap().sequence > head.sequence
        );
    }
}

/// A history of so many entries, half of which reserve, with a response each of so many bytes. (No chain.)
fn fill(place: &Place, pairs: u64, bytes: u64) {
    drop(with_account(place, "1"));
    let numbers = format!(
        "WITH RECURSIVE n (i) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT i + 1 FROM n WHERE i < {})",
        2 * pairs
    );
    let mut database = place.url().open(false).unwrap();
    database.begin(Access::Write).unwrap();
    let body = r#"{"event":"reserve","at":1763190000,"account":"account","key":"k","analyst":null,"release":{"described":[{"mechanism":"laplace","scale":"10"}]},"charge":{"main":"0.1","delta":"0"}}"#;
    let zeros = match database.dialect() {
        Dialect::Sqlite => format!("zeroblob({bytes})"),
        Dialect::Postgres => format!("decode(repeat('00', {bytes}), 'hex')"),
    };
    for sql in [
        format!(
            "INSERT INTO ledger_entry (sequence, previous, hash, account, body) {numbers} \
             SELECT h.sequence + i, h.hash, h.hash, 'account', '{body}' FROM n, ledger_head h"
        ),
        format!(
            "INSERT INTO ledger_release (key, account, session, request, reserved, committed, response) {numbers} \
             SELECT 'fill-' || i, 'account', 0, h.hash, h.sequence + 2 * i - 1, h.sequence + 2 * i, {zeros} \
             FROM n, ledger_head h WHERE i <= {pairs}"
        ),
        format!("UPDATE ledger_head SET sequence = sequence + {}", 2 * pairs),
    ] {
        database.execute(&sql, &[]).unwrap();
    }
    database.commit().unwrap();
}

/// The most memory that this process had, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// An export in a process of its own: how much was told, and how much memory it took.
pub(crate) fn export(url: &str) {
    let mut ledger = Ledger::open_with(&url.parse().unwrap(), &READING).unwrap();
    let (before, mut entries, mut bytes) = (peak(), 0, 0);
    ledger
        .export(|part| {
            match part {
                Exported::Entry(_) => entries += 1,
                Exported::Response(response) => bytes += response.bytes.len(),
                _ => {}
            }
            Ok::<_, LedgerError>(())
        })
        .unwrap();
    say(&format!("{entries} {bytes} {}", peak() - before));
}

/// Whoever keeps everything needs 60 MB for 60,000 entries or as many MiB of responses: five times as much.
#[cfg(target_os = "linux")]
#[test]
fn an_export_takes_little_memory() {
    for (pairs, bytes) in [(30_000, 10), (100, 1 << 20)] {
        for place in Place::all() {
            fill(&place, pairs, bytes);
            let said = start(&["export", &place.url], None).all();
            let numbers: Vec<u64> = said[0].split(' ').map(|word| word.parse().unwrap()).collect();
            assert_eq!(numbers[..2], [2 * pairs + 3, pairs * bytes]);
            assert!(numbers[2] < 16 << 10, "{} KiB", numbers[2]);
        }
    }
}

/// Each part is given away before the next page is read.
#[test]
fn parts_are_told_as_they_are_read() {
    let place = Place::sqlite();
    fill(&place, 3_000, 10);
    let (inner, queries) = (place.url().open(false).unwrap(), Arc::new(Mutex::new(0)));
    let database = Interrupted { inner, happens: Arc::default(), queries: Arc::clone(&queries) };
    let mut ledger = Ledger::open_in(Box::new(database)).unwrap();
    let (mut seen, mut told) = (Vec::new(), 0);
    let stopped = ledger.export(|_| {
        let now = *queries.lock().unwrap();
        if seen.last() != Some(&now) {
            seen.push(now);
        }
        told += 1;
        // An error of the reader's own ends it.
        if told == 8_000 { Err(LedgerError::ReadOnly) } else { Ok(()) }
    });
    assert_eq!((stopped, told), (Err(LedgerError::ReadOnly), 8_000));
    assert!(seen.len() >= 8, "{seen:?}");
}

/// What the documentation grants to auditors who may read neither private states nor responses.
fn documented() -> String {
    let text = include_str!("../../../../docs/ledger.md");
    let (_, block) = text.split_once("    CREATE ROLE auditor LOGIN;\n").unwrap();
    let (grants, _) = block.split_once("\n\n").unwrap();
    grants.replace("SCHEMA public", "SCHEMA PLACE").replace("TO auditor", "TO ROLE")
}

/// A session with a state that can be found in a file.
const STATE: &[u8] = b"a noisy threshold: 118.25, and 32 bytes of salt at least";

fn with_secret(place: &Place) -> Ledger {
    let mut ledger = with_account(place, "1");
    pay(&mut ledger, "first").unwrap();
    let tenth = release("0.1");
    let session = Request { session: true, ..Request::new("account", "s", &tenth) };
    ledger.reserve(&session).unwrap();
    ledger.begin("account", "s", b"toy", STATE).unwrap();
    let question = Hash::of(b"q");
    let new =
        NewAnswer { ask: "q", question, after: 0, response: b"below", state: STATE, last: false };
    ledger.answer("account", "s", &new).unwrap();
    ledger
}

#[test]
fn a_role_without_secrets_verifies() {
    let Some(place) = Place::postgres() else { return };
    let head = with_secret(&place).head().unwrap();
    let auditor = as_role(&place, &documented());
    let mut client = postgres::Client::connect(&auditor.url, postgres::NoTls).unwrap();
    for secret in [
        "SELECT state FROM ledger_state",
        "SELECT count(*) FROM ledger_state",
        "SELECT response FROM ledger_release",
        "SELECT response FROM ledger_answer",
        "UPDATE ledger_head SET sequence = sequence",
    ] {
        let error = client.batch_execute(secret).unwrap_err();
        let code = error.code().map(|code| code.code().to_owned());
        assert_eq!(code.as_deref(), Some("42501"), "{secret}: {error}");
    }
    let mut ledger = Ledger::open_with(&auditor.url(), &READING).unwrap();
    let (verification, checkpoint) = ledger.verify_from(None, Some(head)).unwrap();
    assert_eq!((verification.problem, verification.head), (None, head));
    assert_eq!(ledger.verify_from(checkpoint.as_ref(), None).unwrap().0.problem, None);
    assert!(ledger.status(None).is_ok() && ledger.status(Some("account")).is_ok());
    assert_eq!(ledger.pending(None).unwrap().pending.len(), 1);
    assert_eq!(ledger.session_status("account", "s").unwrap().answers, ["q"]);
    let mut entries = 0;
    let exported = ledger.export_entries(|part| {
        entries += u64::from(matches!(part, Exported::Entry(_)));
        Ok::<_, LedgerError>(())
    });
    assert_eq!((exported, entries), (Ok(head), head.sequence));
    // What is withheld is still compared.
    for (change, back) in [
        ("UPDATE ledger_state SET state = state || 'x'", "SET state = substr(state, 1, 56)"),
        ("UPDATE ledger_release SET response = response || 'x'", "SET response = 'first answer'"),
        ("UPDATE ledger_answer SET response = 'above'", "SET response = 'below'"),
    ] {
        let (table, _) = change.split_once(" SET").unwrap();
        let only = if table.ends_with("release") { " WHERE response IS NOT NULL" } else { "" };
        run(&place.url, &format!("{change}{only}"));
        for from in [None, checkpoint.as_ref()] {
            let found = ledger.verify_from(from, None).unwrap().0.problem.is_some();
            // A response and an answer of before the checkpoint are not read again.
            assert_eq!(found, from.is_none() || table.ends_with("state"), "{change}");
        }
        run(&place.url, &format!("{table} {back}{only}"));
        assert_eq!(ledger.verify(None).unwrap().problem, None, "{back}");
    }
}

#[test]
fn a_backup_without_secrets_verifies_and_is_not_gone_on_with() {
    for place in Place::all() {
        let mut ledger = with_secret(&place);
        let head = ledger.head().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [whole, copy] = ["whole", "copy"].map(|name| folder.path().join(name));
        assert_eq!(
            (ledger.backup(&whole), ledger.backup_without_secrets(&copy)),
            (Ok(head), Ok(head))
        );
        let has_secret = |file: &std::path::Path| {
            std::fs::read(file).unwrap().windows(STATE.len()).any(|bytes| bytes == STATE)
        };
        assert!(has_secret(&whole) && !has_secret(&copy));
        let url: Url = format!("sqlite:{}", copy.display()).parse().unwrap();
        let error = Ledger::open(&url).err().unwrap().to_string();
        assert!(error.contains("is a copy for auditors"), "{error}");
        let mut auditor = Ledger::open_with(&url, &READING).unwrap();
        let verification = auditor.verify(Some(head)).unwrap();
        assert_eq!((verification.problem, verification.lacks_secrets), (None, true));
        assert!(!ledger.verify(None).unwrap().lacks_secrets);
        assert_eq!(exported(&mut auditor), exported(&mut ledger));
        assert!(auditor.session("account", "s").is_err());
        drop(auditor);
        // A digest in the place of a state is none where the file does not say so.
        let connection = rusqlite::Connection::open(&copy).unwrap();
        connection.execute_batch("PRAGMA application_id = 0").unwrap();
        let problem = Ledger::open_with(&url, &READING).unwrap().verify(None).unwrap().problem;
        assert!(problem.unwrap().contains("session \"s\""));
        connection.execute_batch("PRAGMA application_id = 1635083380").unwrap();
        connection.execute_batch("UPDATE ledger_state SET state = zeroblob(32)").unwrap();
        let problem = Ledger::open_with(&url, &READING).unwrap().verify(None).unwrap().problem;
        assert!(problem.unwrap().contains("session \"s\""));
    }
}

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
        let question = Hash::of(ask.as_bytes());
        let new = NewAnswer { ask, question, after, response: b"yes", state: &[9; 40], last };
        ledger.answer("renyi", key, &new).unwrap();
    };
    answer(ledger, "session-second", "three", 2, false);
    ledger.reserve(&Request { session: true, ..Request::new("renyi", "later", &tenth) }).unwrap();
    ledger.begin("renyi", "later", b"toy", &[5; 40]).unwrap();
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
        ledger.end("renyi", "session-second").unwrap();
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
        assert!(problem.unwrap().contains("the history is another") && whole.is_none());
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
    let inner = place.url().open(false).unwrap();
    let reads: Reads = Arc::default();
    let database = Reading { inner, reads: Arc::clone(&reads) };
    let mut ledger = Ledger::open_in(Box::new(database)).unwrap();
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

/// A database that keeps what is asked of it.
struct Reading {
    inner: Box<dyn Database>,
    reads: Reads,
}

impl Database for Reading {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.inner.begin(access)
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.reads.lock().unwrap().push((sql.to_owned(), parameters.to_vec()));
        self.inner.query(sql, parameters)
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.inner.execute(sql, parameters)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.inner.commit()
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }

    fn copy(&mut self, file: &str) -> Result<(), DatabaseError> {
        self.inner.copy(file)
    }

    fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }
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
        assert!(error.contains("somebody else owns it"), "{error}");
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

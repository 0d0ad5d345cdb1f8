//! Auditors, who read and do not write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use counterpoint_ledger::database::{Access, Dialect};
use counterpoint_ledger::{ExportItem, Ledger, LedgerError, NewAnswer, OpenOptions, Request, Url};
use counterpoint_testing::run;

use crate::child::{say, start};
use crate::tamper::rich;
use crate::{Place, exported, new_answer, pay, release, watch, with_account};

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
                    let answer = ledger.stored_answer(&one.account, &one.key, ask).unwrap();
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

/// What others store after the reader looked for what is durable is not told.
#[test]
fn an_export_ends_at_the_head_that_is_durable() {
    for place in Place::all() {
        let mut owner = with_account(&place, "10");
        let tenth = release("0.1");
        owner.reserve(&Request::new("account", "late", &tenth)).unwrap();
        let head = pay(&mut owner, "first").unwrap();
        let before = exported(&mut owner);
        // They write once, when the reader has made sure that all is durable.
        let mut writer = Some(owner);
        let mut ledger = watch::open(&place, move |event| {
            if let watch::Event::Committed = event
                && let Some(mut owner) = writer.take()
            {
                owner.commit("account", "late", b"late").unwrap();
                pay(&mut owner, "second").unwrap();
            }
        });
        assert_eq!(exported(&mut ledger), before);
        assert!(ledger.head().unwrap().sequence > head.sequence);
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
                ExportItem::Entry(_) => entries += 1,
                ExportItem::Response(response) => bytes += response.bytes.len(),
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
    let queries = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&queries);
    let mut ledger = watch::open(&place, move |event| {
        if let watch::Event::Queried(..) = event {
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    let (mut seen, mut told) = (Vec::new(), 0);
    let stopped = ledger.export(|_| {
        let now = queries.load(Ordering::Relaxed);
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
    ledger.begin_session("account", "s", b"toy", STATE).unwrap();
    let new = NewAnswer { state: STATE, ..new_answer("q", 0, "below", false) };
    ledger.store_answer("account", "s", &new).unwrap();
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
        entries += u64::from(matches!(part, ExportItem::Entry(_)));
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

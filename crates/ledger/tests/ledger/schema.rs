//! What a database has beside rows: compared at opening and by verification, and found by no other name.

use counterpoint_ledger::database::{Access, Cell};
use counterpoint_ledger::{Ledger, LedgerError};
use counterpoint_testing::{Random, new_schema, run, server, size};
use counterpoint_wire::ledger::Event;

use crate::{Place, assert_sound, pay, with_account};

/// Found by a handle that was open before, and by one that is opened.
#[track_caller]
fn is_found(place: &Place, mut ledger: Ledger, what: &str, named: &str) {
    let problem = ledger.verify(None).unwrap().problem.unwrap_or_default();
    assert!(problem.contains(named), "{what}: {problem}");
    match Ledger::open(&place.url()).err() {
        Some(LedgerError::Damaged(problem)) => {
            assert!(problem.contains(named), "{what}: {problem}")
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn planted_in_a_file() {
    for (sql, named) in [
        (
            "CREATE TRIGGER undo AFTER UPDATE ON ledger_account WHEN NEW.spent_main > OLD.spent_main BEGIN \
             UPDATE ledger_account SET spent_main = OLD.spent_main WHERE name = NEW.name; END",
            "trigger undo ledger_account",
        ),
        ("CREATE VIEW mine AS SELECT * FROM ledger_account", "view mine"),
        ("CREATE INDEX mine ON ledger_account (rule)", "index mine"),
        ("CREATE TABLE mine (a)", "table mine"),
        ("DROP TRIGGER ledger_entry_kept", "lacks: trigger ledger_entry_kept"),
        ("DROP INDEX ledger_entry_account", "lacks: index ledger_entry_account"),
        ("ALTER TABLE ledger_quota ADD COLUMN mine TEXT", "table ledger_quota"),
        (
            "PRAGMA writable_schema = ON; \
             UPDATE sqlite_schema SET sql = replace(sql, 'spent_main <=', 'spent_main >=') WHERE name = 'ledger_account'",
            "table ledger_account",
        ),
    ] {
        let place = Place::sqlite();
        let mut ledger = with_account(&place, "1");
        pay(&mut ledger, "a").unwrap();
        let connection = rusqlite::Connection::open(place.file()).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        is_found(&place, ledger, sql, named);
    }
}

#[test]
fn planted_on_a_server() {
    for (sql, named) in [
        (
            "CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.spent_main = OLD.spent_main; RETURN NEW; END'; \
             CREATE TRIGGER undo BEFORE UPDATE ON ledger_account FOR EACH ROW EXECUTE FUNCTION undo()",
            "trigger ledger_account O CREATE TRIGGER undo",
        ),
        (
            "CREATE RULE undo AS ON UPDATE TO ledger_account WHERE false DO INSTEAD NOTHING",
            "rule ledger_account undo",
        ),
        ("ALTER TABLE ledger_account ENABLE ROW LEVEL SECURITY", "relation ledger_account r p t"),
        ("CREATE POLICY mine ON ledger_account USING (false)", "policy ledger_account mine"),
        ("ALTER TABLE ledger_state SET UNLOGGED", "relation ledger_state r u"),
        (
            "CREATE INDEX mine ON ledger_account (rule)",
            "index ledger_account t t CREATE INDEX mine",
        ),
        ("CREATE VIEW ledger_mine AS SELECT 1 AS one", "ledger_mine"),
        ("CREATE TABLE mine () INHERITS (ledger_account)", "ledger_account"),
        ("ALTER TABLE ledger_entry DISABLE TRIGGER ledger_entry_guard", "trigger ledger_entry D"),
        ("DROP TRIGGER ledger_entry_guard ON ledger_entry", "lacks: trigger ledger_entry"),
        (
            "ALTER TABLE ledger_account DROP CONSTRAINT ledger_account_check",
            "lacks: constraint ledger_account ledger_account_check",
        ),
        (
            "ALTER TABLE ledger_account ALTER COLUMN charges SET DEFAULT 7",
            "column ledger_account 15",
        ),
        (
            "ALTER TABLE ledger_quota ALTER COLUMN spent_main TYPE TEXT COLLATE \"POSIX\"",
            "ledger_quota",
        ),
        (
            "CREATE OR REPLACE FUNCTION ledger_entry_guard() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
            "function ledger_entry_guard",
        ),
    ] {
        let Some(place) = Place::postgres() else { return };
        let mut ledger = with_account(&place, "1");
        pay(&mut ledger, "a").unwrap();
        run(&place.url, sql);
        is_found(&place, ledger, sql, named);
    }
}

/// Somebody's own function, found before the server's by whoever looks for it by name alone.
#[test]
fn functions_of_another_schema_are_not_called() {
    let Some(server) = server() else { return };
    let (own, other) = (new_schema(&server), new_schema(&server));
    run(
        &server,
        &format!(
            "CREATE FUNCTION {other}.starts_with(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT false'"
        ),
    );
    let url = format!("{server}?schema={own}&options=-csearch_path%3D{other}%2Cpg_catalog");
    let place = Place { url, folder: None };
    let mut ledger = with_account(&place, "1");
    pay(&mut ledger, "a").unwrap();
    assert_sound(&mut place.open());
}

/// Somebody's own tables, found first by whoever looks for them by name alone.
#[test]
fn another_schema_is_not_believed() {
    let Some(server) = server() else { return };
    let (own, other) = (new_schema(&server), new_schema(&server));
    let place = |url: String| Place { url, folder: None };
    let mut forged = with_account(&place(format!("{server}?schema={other}")), "1000");
    pay(&mut forged, "forged").unwrap();
    let url = format!("{server}?schema={own}&options=-csearch_path%3D{other}%2C{own}");
    let place = place(url);
    let mut ledger = with_account(&place, "1");
    pay(&mut ledger, "a").unwrap();
    let mut ledger = place.open();
    assert!(matches!(ledger.response("account", "forged"), Err(LedgerError::Unknown { .. })));
    assert!(ledger.response("account", "a").unwrap().is_some());
    assert_ne!(ledger.head().unwrap(), forged.head().unwrap());
    assert_sound(&mut ledger);
    for bad in ["Public", "a.b", "a%22b", "1a", ""] {
        let error = Ledger::open(&format!("{server}?schema={bad}").parse().unwrap()).err().unwrap();
        assert!(error.to_string().contains("legal: 1 to 63 of a-z"), "{bad}: {error}");
    }
}

/// Two ledgers have no head in common, not even their first.
#[test]
fn every_ledger_has_an_identity() {
    for place in Place::all() {
        let mut heads = Vec::new();
        let another = place.another().unwrap();
        for place in [&place, &another] {
            let mut ledger = Ledger::init(&place.url()).unwrap();
            heads.push(ledger.head().unwrap());
            let mut first = None;
            ledger.history(None, None, |entry| first = Some(entry.event.clone())).unwrap();
            let Some(Event::Init { format: 4, identity: Some(identity), .. }) = first else {
                panic!("{first:?}")
            };
            assert_eq!(identity.len(), 64);
        }
        assert_eq!((heads[0].sequence, heads[1].sequence), (1, 1));
        assert_ne!(heads[0], heads[1]);
    }
}

/// A pooler gives each transaction another session: nothing is left in one that the next would need.
#[test]
fn nothing_is_left_in_a_session() {
    let Some(place) = Place::postgres() else { return };
    drop(with_account(&place, "1"));
    let mut database = place.url().open(false).unwrap();
    for access in [Access::Read, Access::Write, Access::Write] {
        database.begin(access).unwrap();
        database.query("SELECT id, sequence FROM ledger_head", &[]).unwrap();
        database.commit().unwrap();
    }
    database.begin(Access::Read).unwrap();
    let sql = "SELECT count(*) FROM pg_prepared_statements";
    assert_eq!(database.query(sql, &[]).unwrap(), [[Cell::Whole(0)]]);
    database.rollback();
}

/// Everything that can be read of a file, if it can be.
fn contents(file: &std::path::Path) -> Option<Vec<String>> {
    let connection = rusqlite::Connection::open(file).ok()?;
    let tables: Vec<String> = {
        let sql = "SELECT type || name || tbl_name || coalesce(sql, '') FROM sqlite_schema ORDER BY rowid";
        let mut statement = connection.prepare(sql).ok()?;
        statement.query_map([], |row| row.get(0)).ok()?.collect::<Result<_, _>>().ok()?
    };
    let names: Vec<String> = {
        let mut statement =
            connection.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").ok()?;
        statement.query_map([], |row| row.get(0)).ok()?.collect::<Result<_, _>>().ok()?
    };
    let mut all = tables;
    for name in names {
        let mut statement = connection.prepare(&format!("SELECT * FROM {name}")).ok()?;
        let width = statement.column_count();
        let mut rows = statement.query([]).ok()?;
        while let Some(row) = rows.next().ok()? {
            let cells = (0..width).map(|at| row.get_ref(at).map(|cell| format!("{cell:?}")));
            all.push(cells.collect::<Result<Vec<_>, _>>().ok()?.join(","));
        }
    }
    Some(all)
}

/// Every bit that changes anything that can be read is found, in whatever page it is.
#[test]
fn bits_that_flip_are_found() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "100");
    for number in 0..40 {
        pay(&mut ledger, &format!("key-{number}")).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy.db");
    ledger.backup(&file).unwrap();
    let head = ledger.head().unwrap();
    let (whole, before) = (std::fs::read(&file).unwrap(), contents(&file).unwrap());
    let url = format!("sqlite:{}", file.display()).parse().unwrap();
    let (mut random, mut changed) = (Random::new(55), 0);
    for round in 0..size(6_000, 200) {
        // Half of them in the pages of the schema, which are the first.
        let within = if round % 2 == 0 { whole.len().min(4 * 4096) } else { whole.len() };
        let at = random.below(within as u64 * 8) as usize;
        let mut bytes = whole.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        std::fs::write(&file, &bytes).unwrap();
        for end in ["-wal", "-shm", "-journal", "-stopped"] {
            let _ = std::fs::remove_file(format!("{}{end}", file.display()));
        }
        let is_changed = contents(&file).as_ref() != Some(&before);
        std::fs::write(&file, &bytes).unwrap();
        let problem = match Ledger::open(&url) {
            Ok(mut ledger) => ledger
                .verify(Some(head))
                .map_or_else(|error| Some(error.to_string()), |found| found.problem),
            Err(error) => Some(error.to_string()),
        };
        changed += usize::from(is_changed);
        assert!(!is_changed || problem.is_some(), "bit {at} changes something and is not found");
    }
    assert!(changed as u64 > size(600, 20), "{changed}");
}

//! Ledgers of an earlier format: refused, and upgraded after a backup.

use counterpoint_ledger::database::Cell;
use counterpoint_ledger::{
    DatabaseError, Hash, Head, Ledger, LedgerError, OpenOptions, Pool, Request, Url,
};
use counterpoint_testing::run;
use counterpoint_wire::ledger::{Event, ReleaseRecord, ReleaseRequest};

use crate::{Place, amount, new_answer, release};

/// A ledger with something of everything, as the earlier program made it: its tables and its rows.
const SQLITE: &str = include_str!("format2.sqlite.sql");
const POSTGRES: &str = include_str!("format2.postgres.sql");

/// A ledger with releases that later formats read otherwise, price otherwise or refuse, as the program of its time charged
/// them; and its last head.
const FORMAT3: &str = include_str!("format3.sqlite.sql");
const HEAD3: &str = "77:1e7ec41db8eb7f01d7e27719a7ec01befc1ec1325b95d56ed6e632adae0f5e6f";

/// Its last head.
const HEAD: &str = include_str!("format2.head");

fn older(place: &Place) {
    match place.folder {
        Some(_) => {
            let connection = rusqlite::Connection::open(place.file()).unwrap();
            connection.execute_batch(SQLITE).unwrap();
        }
        None => run(&place.url, POSTGRES),
    }
}

fn head() -> Head {
    HEAD.trim().parse().unwrap()
}

fn version(place: &Place) -> Cell {
    let mut database = place.url().open(false).unwrap();
    database.query("SELECT version FROM ledger_version", &[]).unwrap().remove(0).remove(0)
}

/// A new file.
fn file() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("backup.db");
    (folder, file)
}

#[test]
fn an_earlier_format_is_refused_in_words_that_name_the_command() {
    for place in Place::all() {
        older(&place);
        let reading = OpenOptions { read_only: true, expect: None };
        let errors = [
            Ledger::open(&place.url()).err(),
            Ledger::open_with(&place.url(), &reading).err(),
            Pool::new(&place.url(), &OpenOptions::default(), 1).err(),
        ];
        for error in errors {
            assert_eq!(
                error.unwrap().to_string(),
                "the ledger's format is version 2; legal: 4; counterpoint ledger --url URL upgrade --backup FILE \
                 brings it there"
            );
        }
        assert_eq!(version(&place), Cell::Whole(2));
    }
}

#[test]
fn an_upgrade_keeps_everything_and_a_backup_of_it() {
    for place in Place::all() {
        older(&place);
        let (_folder, file) = file();
        let upgraded = Ledger::upgrade(&place.url(), &file, Some(head())).unwrap();
        assert_eq!(upgraded.sequence, head().sequence + 1);
        let mut ledger = place.open();
        assert_eq!(ledger.verify(Some(head())).unwrap().problem, None);
        let mut last = String::new();
        ledger.history(None, None, |entry| last = entry.event.name().to_owned()).unwrap();
        assert_eq!(last, "upgrade");
        let spent = |ledger: &mut Ledger| {
            ledger.status(Some("sums")).unwrap().accounts[0].spent.main.clone()
        };
        let before = spent(&mut ledger);
        assert_eq!(before, amount("0.4"));
        // Answers are told again, sessions go on from their state, and what is new works.
        let key = "sums-ann-first";
        assert_eq!(ledger.response("sums", key).unwrap().unwrap(), key.repeat(3).as_bytes());
        let session = ledger.session("renyi", "session-second").unwrap().unwrap();
        assert_eq!((session.answered, session.state.unwrap().bytes()), (2, &[1; 40][..]));
        let new = new_answer("three", 2, "3", true);
        ledger.store_answer("renyi", "session-second", &new).unwrap();
        let (alias, tenth) = (Some(Hash::of(b"mine")), release("0.1"));
        let analyst = Some("ann");
        let request = Request { analyst, alias, ..Request::new("sums", "sums-ann-first", &tenth) };
        assert_eq!(ledger.reserve(&request).unwrap().charge, None);
        let other = Request { key: "other", ..request };
        assert_eq!(ledger.reserve(&other), Err(LedgerError::AliasInUse));
        assert_eq!(spent(&mut ledger), before);
        let head = ledger.head().unwrap();
        assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
        drop(ledger);
        // There is nothing more to do.
        let (_other, unused) = self::file();
        let error = Ledger::upgrade(&place.url(), &unused, None).unwrap_err();
        assert_eq!(error, LedgerError::Version { found: 4 });
        assert!(error.to_string().ends_with("there is nothing to upgrade") && !unused.exists());
        // The backup is the ledger as it was.
        let backup: Url = format!("sqlite:{}", file.display()).parse().unwrap();
        assert_eq!(Ledger::open(&backup).err(), Some(LedgerError::Version { found: 2 }));
        Ledger::upgrade(&backup, &unused, Some(self::head())).unwrap();
        let mut copy = Ledger::open(&backup).unwrap();
        assert_eq!((spent(&mut copy), copy.head().unwrap().sequence), (before, upgraded.sequence));
    }
}

/// Without a backup, with a history that is not the expected one, or with rows that are not what it says.
#[test]
fn what_is_not_sound_is_left_as_it_is() {
    for place in Place::all() {
        older(&place);
        let (_folder, file) = file();
        std::fs::write(&file, b"mine").unwrap();
        let error = Ledger::upgrade(&place.url(), &file, None).unwrap_err();
        assert!(matches!(error, LedgerError::Database(DatabaseError::Unusable(_))), "{error}");
        assert_eq!(
            (version(&place), std::fs::read(&file).unwrap()),
            (Cell::Whole(2), b"mine".into())
        );
        std::fs::remove_file(&file).unwrap();
        let other = Head { hash: Hash([7; 32]), ..head() };
        let error = Ledger::upgrade(&place.url(), &file, Some(other)).unwrap_err();
        assert!(matches!(error, LedgerError::OtherHistory { .. }), "{error}");
        assert!(version(&place) == Cell::Whole(2) && !file.exists());
        let mut database = place.url().open(false).unwrap();
        let sql = "UPDATE ledger_account SET charges = charges + 1 WHERE name = 'sums'";
        assert_eq!(database.execute(sql, &[]).unwrap(), 1);
        drop(database);
        let error = Ledger::upgrade(&place.url(), &file, None).unwrap_err();
        assert!(matches!(error, LedgerError::Damaged(_)), "{error}");
        assert!(version(&place) == Cell::Whole(2) && !file.exists());
    }
}

/// What was charged is verified as it was charged then; what is asked now is charged as it is now.
#[test]
fn what_was_charged_keeps_its_price() {
    let (_folder, file) = file();
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection.execute_batch(FORMAT3).unwrap();
    drop(connection);
    let url: Url = format!("sqlite:{}", file.display()).parse().unwrap();
    let before: Head = HEAD3.parse().unwrap();
    let (_other, backup) = self::file();
    Ledger::upgrade(&url, &backup, Some(before)).unwrap();
    let mut ledger = Ledger::open(&url).unwrap();
    // The same twice, before the upgrade and after it: in divergences a guarantee on a sample now costs less.
    let text = r#"{"epsilon":"2","mechanism":"approx-dp","rate":"0.1"}"#;
    let asked = ReleaseRequest::Described(vec![ReleaseRecord::read(text).unwrap()]);
    let mut charged = Vec::new();
    let mut note = |ledger: &mut Ledger| {
        ledger
            .history(Some("renyi"), None, |entry| match &entry.event {
                Event::Reserve { release, charge, .. } if *release == asked => {
                    charged.push(charge.main.clone());
                }
                _ => {}
            })
            .unwrap();
    };
    ledger.reserve(&Request::new("renyi", "again", &asked)).unwrap();
    note(&mut ledger);
    let [then, now] = charged.as_slice() else { panic!("{charged:?}") };
    assert!(now < then, "{now} {then}");
    // Slots have the pairs that were paid for.
    let paid = r#"{"epsilon":"0.49","mechanism":"approx-dp"}"#;
    let run = vec![ReleaseRecord::read(paid).unwrap()];
    let opening = ReleaseRequest::Slot { name: "sampled".to_owned(), count: 1, run };
    ledger.reserve(&Request::new("plan", "opened", &opening)).unwrap();
    let head = ledger.head().unwrap();
    assert_eq!(ledger.verify(Some(before)).unwrap().problem, None);
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
    for account in ["sums", "renyi", "zcdp", "persons"] {
        ledger.status(Some(account)).unwrap();
    }
}

//! Bad input: a typed error, and nothing written.

use counterpoint_ledger::{
    FilterKind, Ledger, LedgerError, MAX_RESPONSE_BYTES, NewAccount, NewFilter, NewQuota, Request,
    Url,
};
use counterpoint_wire::ledger::ReleaseRequest;

use crate::{
    Place, amount, assert_sound, budget, described, plan, release, replace, slot, with_account,
};

const HOSTILE: [&str; 12] = [
    "",
    " ",
    "a b",
    "-x",
    "a\0b",
    "a\nb",
    "é",
    "'; DROP TABLE ledger_entry; --",
    "\u{202e}evil",
    "a\u{301}",
    "$1",
    "%s%n",
];

#[test]
fn names_that_are_none() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let head = ledger.head().unwrap();
        let long = "x".repeat(129);
        let (asked, sums) = (release("0.1"), budget(FilterKind::Sums, "1", "0"));
        let account = NewAccount::Filter(sums.clone());
        for name in HOSTILE.into_iter().chain([long.as_str()]) {
            let errors = [
                ledger.add_dataset(name, replace(), &sums).unwrap_err(),
                ledger.open_account(name, "data", &account).unwrap_err(),
                ledger.add_quota("account", name, &NewQuota::Releases(1)).unwrap_err(),
                ledger.reserve(&Request::new("account", name, &asked)).unwrap_err(),
                ledger
                    .reserve(&Request {
                        analyst: Some(name),
                        ..Request::new("account", "k", &asked)
                    })
                    .unwrap_err(),
                ledger.commit("account", name, b"").unwrap_err(),
            ];
            for error in errors {
                assert!(matches!(error, LedgerError::Name { .. }), "{name:?}: {error}");
                assert!(error.to_string().contains("legal: 1 to 128"), "{error}");
            }
            for error in [
                ledger.reserve(&Request::new(name, "k", &asked)).unwrap_err(),
                ledger.open_account("x", name, &account).unwrap_err(),
                ledger.status(Some(name)).unwrap_err(),
                ledger.history(Some(name), None, |_| ()).unwrap_err(),
            ] {
                assert!(matches!(error, LedgerError::Unknown { .. }), "{name:?}: {error}");
            }
        }
        assert_eq!(ledger.head().unwrap(), head);
    }
}

#[test]
fn names_that_are_taken_or_belong_to_something_else() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let head = ledger.head().unwrap();
    let sums = budget(FilterKind::Sums, "1", "0");
    let account = NewAccount::Filter(sums.clone());
    for name in ["data", "account"] {
        let error = ledger.add_dataset(name, replace(), &sums).unwrap_err();
        assert!(matches!(error, LedgerError::Exists { .. }), "{error}");
        let error = ledger.open_account(name, "data", &account).unwrap_err();
        assert!(matches!(error, LedgerError::Exists { .. }), "{error}");
    }
    let error = ledger.open_account("x", "account", &account).unwrap_err();
    assert!(matches!(error, LedgerError::Unknown { .. }), "{error}");
    let error = ledger.reserve(&Request::new("data", "k", &release("0.1"))).unwrap_err();
    assert!(error.to_string().contains("\"data\" is a data set; legal: an account"), "{error}");
    let error = ledger.reserve(&Request::new("account", "k", &slot("x", 1))).unwrap_err();
    assert!(
        error.to_string().contains("is an open account; legal: a file with releases"),
        "{error}"
    );
    let error = ledger.commit("account", "unknown", b"").unwrap_err();
    assert!(error.to_string().starts_with("there is no key \"unknown\""), "{error}");
    assert_eq!(ledger.head().unwrap(), head);
}

#[test]
fn amounts_and_plans_that_are_none() {
    for bad in ["-1", "nan", "inf", "1e41", "0x10", "", "1e-3000", "1,5"] {
        assert!(bad.parse::<counterpoint_budget::Amount>().is_err(), "{bad}");
    }
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let head = ledger.head().unwrap();
    let delta_one = NewFilter::new(FilterKind::Sums, amount("1"), amount("1"));
    assert!(matches!(ledger.add_dataset("x", replace(), &delta_one), Err(LedgerError::Rule(_))));
    let none_left = budget(FilterKind::Renyi, "1", "0");
    let opened = ledger.open_account("x", "data", &NewAccount::Filter(none_left));
    assert!(matches!(opened, Err(LedgerError::Rule(_))));
    for (text, problem) in [
        (r#"{"release":[{"mechanism":"approx-dp","epsilon":1}]}"#, "asks no question"),
        (
            r#"{"delta":0,"release":[{"name":"a","mechanism":"approx-dp","epsilon":1},{"name":"a","mechanism":"approx-dp","epsilon":1}]}"#,
            "names two releases \"a\"",
        ),
        (
            r#"{"delta":0,"release":[{"name":"a\u0000","mechanism":"approx-dp","epsilon":1}]}"#,
            "legal: 1 to 200 characters",
        ),
        (
            r#"{"delta":0,"release":[{"mechanism":"approx-dp","epsilon":1,"delta":0.1}]}"#,
            "cannot be certified",
        ),
    ] {
        let error = ledger.open_account("x", "data", &NewAccount::Plan(plan(text), None));
        let error = error.unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
    let zero = ReleaseRequest::Slot { name: "a".into(), count: 0, run: Vec::new() };
    assert!(ledger.reserve(&Request::new("account", "k", &zero)).is_err());
    assert_eq!(ledger.head().unwrap(), head);
}

/// Numbers with as many digits as can be read: all that follows from them can be read too.
#[test]
fn long_numbers_do_no_damage() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let long = format!("0.1{}7", "3".repeat(2498));
        let gdp = NewAccount::Filter(budget(FilterKind::Gdp, "5", "1e-6"));
        ledger.open_account("gdp", "data", &gdp).unwrap();
        let sums = NewFilter::new(FilterKind::Sums, amount(&long), amount("0"));
        ledger.open_account("sums", "data", &NewAccount::Filter(sums)).unwrap();
        ledger.add_quota("sums", "ann", &NewQuota::Share(amount(&long))).unwrap();
        let mu = described(&format!(r#"{{"mechanism":"gdp","mu":{long}}}"#));
        ledger.reserve(&Request::new("gdp", "a", &mu)).unwrap();
        let tiny = release("1e-99");
        let request = Request { analyst: Some("ann"), ..Request::new("sums", "b", &tiny) };
        ledger.reserve(&request).unwrap();
        assert_sound(&mut place.open());
    }
}

#[test]
fn a_response_that_is_too_long_is_not_stored() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        ledger.reserve(&Request::new("account", "k", &release("0.1"))).unwrap();
        let error = ledger.commit("account", "k", &vec![0; MAX_RESPONSE_BYTES + 1]).unwrap_err();
        assert!(matches!(error, LedgerError::Length { .. }), "{error}");
        ledger.commit("account", "k", &vec![7; MAX_RESPONSE_BYTES]).unwrap();
        assert_eq!(ledger.response("account", "k").unwrap().unwrap().len(), MAX_RESPONSE_BYTES);
    }
}

#[test]
fn places_without_a_ledger_or_with_another_version() {
    for text in ["", "sqlite:", "mysql://x", "/tmp/x", "postgres:x"] {
        assert!(text.parse::<Url>().is_err(), "{text}");
    }
    let place = Place::sqlite();
    let error = Ledger::open(&place.url()).err().unwrap();
    assert!(matches!(error, LedgerError::Database(_)), "{error}");
    assert!(!place.file().exists(), "opening makes no file");
    std::fs::write(place.file(), b"this is no database, but it is long enough to be read").unwrap();
    assert!(Ledger::open(&place.url()).is_err());
    std::fs::remove_file(place.file()).unwrap();
    drop(rusqlite::Connection::open(place.file()).unwrap().execute_batch("CREATE TABLE t (x)"));
    let before = std::fs::read(place.file()).unwrap();
    for outcome in [Ledger::open(&place.url()), Ledger::init(&place.url())] {
        let error = outcome.err().unwrap().to_string();
        assert!(
            error.ends_with("there is no ledger in it; legal: init with a new file"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(place.file()).unwrap(), before, "another's database is left alone");
    if let Some(place) = Place::postgres() {
        assert_eq!(Ledger::open(&place.url()).err().unwrap(), LedgerError::NotLedger);
    }
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        assert_eq!(Ledger::init(&place.url()).err().unwrap(), LedgerError::Initialised);
        let head = ledger.head().unwrap();
        let mut database = place.url().open(false).unwrap();
        database.begin(counterpoint_ledger::database::Access::Write).unwrap();
        database.execute("UPDATE ledger_version SET version = 7", &[]).unwrap();
        database.commit().unwrap();
        let error = Ledger::open(&place.url()).err().unwrap();
        assert_eq!(error, LedgerError::Version { found: 7 });
        assert_eq!(ledger.head().unwrap(), head);
    }
}

//! What is asked of an account: prices, several releases at once, keys, analysts, the end.

use counterpoint::{Adjacency, Relation};
use counterpoint_ledger::{
    ExportItem, FilterKind, Ledger, LedgerError, NewAccount, NewFilter, NewQuota, Request,
};
use counterpoint_wire::ledger::{Event, PromiseRecord, ReleaseRequest};

use crate::tamper::forge_last;
use crate::{
    Place, Random, add_remove, amount, assert_sound, budget, described, exported, new_answer, plan,
    refused, release, slot, with_account,
};

/// A mean under add-remove is a sum and a count: both are paid for, or neither is.
#[test]
fn several_releases_under_one_key_are_charged_together_or_not_at_all() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.3");
        let both = r#"{"mechanism":"laplace","scale":10},{"mechanism":"geometric","scale":10}"#;
        let both = described(both);
        let charge = ledger.reserve(&Request::new("account", "mean", &both)).unwrap().charge;
        assert_eq!(charge.unwrap().main, amount("0.2"));
        let head = ledger.head().unwrap();
        // The first alone would fit.
        refused(ledger.reserve(&Request::new("account", "more", &both)));
        let wrong = r#"{"mechanism":"laplace","scale":100},{"mechanism":"gaussian","sigma":9}"#;
        let error = ledger.reserve(&Request::new("account", "more", &described(wrong)));
        assert!(matches!(error, Err(LedgerError::Rule(_))), "{error:?}");
        let error =
            ledger.reserve(&Request::new("account", "more", &ReleaseRequest::Described(vec![])));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("is asked for no releases; legal: 1 to 1000"), "{error}");
        let many = vec!["{\"mechanism\":\"approx-dp\",\"epsilon\":0}"; 1001].join(",");
        assert!(ledger.reserve(&Request::new("account", "more", &described(&many))).is_err());
        assert_eq!(ledger.head().unwrap(), head);
        let stored = ledger.commit("account", "mean", b"12.5").unwrap();
        assert_eq!(stored.response, b"12.5");
        let status = ledger.status(Some("account")).unwrap().accounts.remove(0);
        assert_eq!((status.charges, status.spent.main), (1, amount("0.2")));
        assert_sound(&mut ledger);
        drop(ledger);
        let mut ledger = place.open();
        ledger.reserve(&Request::new("account", "two", &described(
            r#"{"mechanism":"approx-dp","epsilon":0.01},{"mechanism":"approx-dp","epsilon":0.02}"#,
        ))).unwrap();
        if place.folder.is_some() {
            let problem = forge_last(&place, &|body: &str| {
                body.replace(r#""charge":{"main":"0.03""#, r#""charge":{"main":"0.02""#)
            });
            assert!(problem.contains("the charge is not what the release costs"), "{problem}");
        }
    }
}

/// Requests at random, of accounts of every kind. Quick and full: 60.
#[test]
fn a_price_is_what_a_reservation_then_costs_and_writes_nothing() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "0.1")).unwrap();
        for kind in FilterKind::ALL {
            let account = NewAccount::Filter(budget(kind, "1.5", "1e-6"));
            ledger.open_account(kind.name(), "d", &account).unwrap();
        }
        let slots =
            r#"{"delta":1e-6,"release":[{"name":"s","mechanism":"laplace","scale":10,"count":9}]}"#;
        ledger.open_account("plan", "d", &NewAccount::Plan(plan(slots), None)).unwrap();
        ledger.add_quota("plan", "ann", &NewQuota::Releases(5)).unwrap();
        let mut random = Random::new(3);
        let (mut made, mut short) = (0, 0);
        for round in 0..60 {
            let scale = 1 + random.below(30);
            let laplace = format!(r#"{{"mechanism":"laplace","scale":{scale}}}"#);
            let (account, asked) = match FilterKind::ALL.get(round % 5) {
                Some(kind) if round % 2 == 0 => (kind.name(), described(&laplace)),
                Some(kind) => (kind.name(), described(&format!("{laplace},{laplace}"))),
                None => ("plan", slot("s", 1 + random.below(3))),
            };
            let (key, analyst) = (format!("k{round}"), (account == "plan").then_some("ann"));
            let request = Request { analyst, ..Request::new(account, &key, &asked) };
            let head = ledger.head().unwrap();
            let price = ledger.price(&request).unwrap();
            assert_eq!((ledger.head().unwrap(), price.head), (head, head));
            match ledger.reserve(&request) {
                Ok(reservation) => {
                    assert_eq!((reservation.charge, price.refusal), (Some(price.charge), None));
                    made += 1;
                }
                Err(LedgerError::Refused(refusal)) => {
                    assert_eq!(Some(*refusal), price.refusal);
                    short += 1;
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(made > 10 && short > 10, "{made} {short}");
        // What is no request has no price: the same error.
        let (one, unknown) = (slot("s", 1), slot("t", 1));
        for (analyst, asked) in [("bob", &one), ("ann", &unknown), ("ann", &release("0.1"))] {
            let no = Request { analyst: Some(analyst), ..Request::new("plan", "x", asked) };
            assert_eq!(ledger.price(&no).unwrap_err(), ledger.reserve(&no).unwrap_err());
        }
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_retry_may_spell_out_what_goes_without_saying() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        for (key, short, long) in [
            (
                "laplace",
                r#"{"mechanism":"laplace","scale":10}"#,
                r#"{"mechanism":"laplace","scale":10.0,"sensitivity":1,"count":1,"rate":1}"#,
            ),
            (
                "guarantee",
                r#"{"mechanism":"approx-dp","epsilon":0.1}"#,
                r#"{"mechanism":"approx-dp","epsilon":1e-1,"delta":0,"count":1}"#,
            ),
            (
                "response",
                r#"{"mechanism":"randomized-response","epsilon":0.1}"#,
                r#"{"mechanism":"randomized-response","epsilon":0.1,"buckets":2}"#,
            ),
        ] {
            let [short, long] = [short, long].map(described);
            for (key, first, second) in
                [(key.to_owned(), &short, &long), (format!("{key}-long"), &long, &short)]
            {
                let entry = ledger.reserve(&Request::new("account", &key, first)).unwrap().entry;
                let again = ledger.reserve(&Request::new("account", &key, second)).unwrap();
                assert_eq!((again.entry, again.charge), (entry, None));
            }
        }
        let other = described(r#"{"mechanism":"laplace","scale":10,"sensitivity":0.5}"#);
        let error = ledger.reserve(&Request::new("account", "laplace", &other)).unwrap_err();
        assert!(matches!(error, LedgerError::KeyInUse { .. }), "{error}");
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_key_belongs_to_its_account() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let other = NewAccount::Filter(budget(FilterKind::Sums, "1", "0"));
        ledger.open_account("other", "data", &other).unwrap();
        let (tenth, fifth) = (release("0.1"), release("0.2"));
        ledger.reserve(&Request::new("account", "monday", &tenth)).unwrap();
        assert_eq!(ledger.account_of("monday").unwrap(), "account");
        let error = ledger.commit("other", "monday", b"2").unwrap_err();
        assert!(matches!(error, LedgerError::Unknown { what: "key", .. }), "{error}");
        assert!(ledger.response("other", "monday").is_err());
        // Another's key is no obstacle, and says nothing about what another asked.
        let charge = ledger.reserve(&Request::new("other", "monday", &fifth)).unwrap().charge;
        assert_eq!(charge.unwrap().main, amount("0.2"));
        ledger.commit("other", "monday", b"2").unwrap();
        assert_eq!(ledger.response("account", "monday").unwrap(), None);
        ledger.commit("account", "monday", b"1").unwrap();
        for (account, bytes) in [("account", b"1"), ("other", b"2")] {
            assert_eq!(ledger.response(account, "monday").unwrap().unwrap(), bytes);
        }
        let error = ledger.account_of("monday").unwrap_err().to_string();
        let expected = "key \"monday\" is in account and other; legal: the account's name with it";
        assert_eq!(error, expected);
        let error = ledger.account_of("tuesday").unwrap_err();
        assert!(matches!(error, LedgerError::Unknown { .. }), "{error}");
        assert_sound(&mut ledger);
    }
}

#[test]
fn what_is_pending_is_listed_until_it_is_over() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let tenth = release("0.1");
        for (key, session) in [("a", false), ("b", false), ("s", true), ("t", true)] {
            ledger.reserve(&Request { session, ..Request::new("account", key, &tenth) }).unwrap();
        }
        ledger.commit("account", "a", b"42").unwrap();
        ledger.begin_session("account", "t", b"toy", &[1; 32]).unwrap();
        let list = |ledger: &mut Ledger| -> Vec<(String, bool, Option<u64>)> {
            let pending = ledger.pending(Some("account")).unwrap().pending;
            assert_eq!(pending, ledger.pending(None).unwrap().pending);
            pending.into_iter().map(|one| (one.key, one.session, one.answered)).collect()
        };
        let expected = [("b", false, None), ("s", true, None), ("t", true, Some(0))];
        let expected = expected.map(|(key, session, answered)| (key.to_owned(), session, answered));
        assert_eq!(list(&mut ledger), expected);
        ledger.commit("account", "b", b"42").unwrap();
        ledger.begin_session("account", "s", b"toy", &[1; 32]).unwrap();
        ledger.end_session("account", "s").unwrap();
        ledger.end_session("account", "t").unwrap();
        assert_eq!(list(&mut ledger), []);
        assert!(matches!(ledger.pending(Some("nobody")), Err(LedgerError::Unknown { .. })));
    }
}

#[test]
fn a_closed_account_finishes_what_was_paid_for_and_begins_nothing() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "0")).unwrap();
        let slots =
            r#"{"delta":0,"release":[{"name":"s","mechanism":"approx-dp","epsilon":1,"count":9}]}"#;
        ledger.open_account("plan", "d", &NewAccount::Plan(plan(slots), None)).unwrap();
        ledger.open_in_slot("inner", "plan", "s", &budget(FilterKind::Sums, "1", "0")).unwrap();
        let (one, tenth) = (slot("s", 1), release("0.1"));
        for (key, session) in [("k", false), ("t", true), ("u", true)] {
            ledger.reserve(&Request { session, ..Request::new("plan", key, &one) }).unwrap();
        }
        ledger.begin_session("plan", "t", b"toy", &[1; 32]).unwrap();
        let before = ledger.head().unwrap();
        let error = ledger.close("d").unwrap_err();
        assert!(error.to_string().contains("\"d\" is a data set"), "{error}");
        assert!(matches!(ledger.close("nobody"), Err(LedgerError::Unknown { .. })));
        assert_eq!(ledger.head().unwrap(), before);
        let head = ledger.close("plan").unwrap();
        assert_eq!((ledger.close("plan").unwrap(), head.sequence), (head, before.sequence + 1));
        assert!(ledger.status(Some("plan")).unwrap().accounts[0].closed);
        let small = plan(r#"{"release":[{"name":"x","mechanism":"approx-dp","epsilon":1}]}"#);
        let openings = [counterpoint_wire::ledger::Openings { slot: "s".to_owned(), count: 1 }];
        let errors = [
            ledger.reserve(&Request::new("plan", "new", &one)).unwrap_err(),
            ledger.price(&Request::new("plan", "new", &one)).unwrap_err(),
            ledger.open_in_slot("x", "plan", "s", &budget(FilterKind::Sums, "1", "0")).unwrap_err(),
            ledger.recut("plan", &openings, &small).unwrap_err(),
            ledger.add_quota("plan", "ann", &NewQuota::Releases(1)).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.to_string(), "\"plan\" is closed; legal: an open account");
        }
        assert_eq!(ledger.head().unwrap(), head);
        // What was reserved before goes on, by another handle too.
        let mut ledger = place.open();
        assert_eq!(ledger.reserve(&Request::new("plan", "k", &one)).unwrap().charge, None);
        ledger.commit("plan", "k", b"42").unwrap();
        ledger.begin_session("plan", "u", b"toy", &[1; 32]).unwrap();
        ledger.store_answer("plan", "t", &new_answer("q", 0, "yes", true)).unwrap();
        ledger.reserve(&Request::new("inner", "k", &tenth)).unwrap();
        assert_sound(&mut ledger);
        drop(ledger);
        if place.folder.is_some() {
            // A reservation in a closed account is no history of this ledger.
            let problem = forge_last(&place, &|body: &str| {
                body.replace(r#""account":"inner""#, r#""account":"plan""#)
            });
            assert!(problem.contains("filed under another account"), "{problem}");
        }
    }
}

#[test]
fn a_history_with_a_charge_to_a_closed_account_is_found() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    ledger.close("account").unwrap();
    let event = Event::Reserve {
        at: 0,
        account: "account".to_owned(),
        key: "k".to_owned(),
        analyst: None,
        session: false,
        question: None,
        own: None,
        release: release("0.1"),
        charge: counterpoint_wire::ledger::Cost { main: amount("0.1"), ..Default::default() },
    };
    let other = NewAccount::Filter(budget(FilterKind::Sums, "1", "0"));
    ledger.open_account("other", "data", &other).unwrap();
    ledger.reserve(&Request::new("other", "k", &release("0.1"))).unwrap();
    drop(ledger);
    let connection = rusqlite::Connection::open(place.file()).unwrap();
    let sql = "DROP TRIGGER ledger_entry_fixed; \
               UPDATE ledger_entry SET account = 'account' \
               WHERE sequence = (SELECT max(sequence) FROM ledger_entry); \
               CREATE TRIGGER ledger_entry_fixed BEFORE UPDATE ON ledger_entry \
               BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END";
    connection.execute_batch(sql).unwrap();
    drop(connection);
    let problem = forge_last(&place, &|_: &str| event.body().unwrap());
    assert!(problem.contains("\"account\" is closed"), "{problem}");
}

#[test]
fn an_analyst_has_a_history_and_responses_of_their_own() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        let other = NewAccount::Filter(budget(FilterKind::Sums, "1", "0"));
        ledger.open_account("other", "data", &other).unwrap();
        ledger.add_quota("account", "ann", &NewQuota::Share(amount("0.5"))).unwrap();
        ledger.add_quota("account", "bob", &NewQuota::Share(amount("0.5"))).unwrap();
        let tenth = release("0.1");
        for (account, key, analyst) in [
            ("account", "k", Some("ann")),
            ("account", "l", Some("bob")),
            // The same key in another account is somebody else's.
            ("other", "k", Some("bob")),
            ("other", "l", None),
        ] {
            let request = Request { analyst, ..Request::new(account, key, &tenth) };
            ledger.reserve(&request).unwrap();
            let bytes = format!("{account} {key}");
            ledger.commit(account, key, bytes.as_bytes()).unwrap();
        }
        let session =
            Request { analyst: Some("ann"), session: true, ..Request::new("other", "s", &tenth) };
        ledger.reserve(&session).unwrap();
        ledger.begin_session("other", "s", b"toy", &[1; 32]).unwrap();
        ledger.store_answer("other", "s", &new_answer("q", 0, "yes", true)).unwrap();
        let mut history = |account: Option<&str>, analyst: Option<&str>| -> Vec<String> {
            let mut names = Vec::new();
            let each = |entry: counterpoint_wire::ledger::HistoryEntry| {
                let place = entry.event.account().unwrap_or_default().to_owned();
                names.push(format!("{} {place}", entry.event.name()));
            };
            ledger.history(account, analyst, each).unwrap();
            names
        };
        let own = ["quota account", "reserve account", "commit account"];
        let session = ["reserve other", "begin other", "answer other"];
        assert_eq!(history(None, Some("ann")), [&own[..], &session[..]].concat());
        assert_eq!(history(Some("account"), Some("ann")), own);
        assert_eq!(history(Some("other"), Some("ann")), session);
        assert_eq!(history(None, Some("bob")).len(), 5);
        assert_eq!(history(None, Some("eve")).len(), 0);
        assert_eq!(history(Some("account"), None).len(), 7);
        let mut responses = |account: Option<&str>, analyst: Option<&str>| -> Vec<String> {
            let list = ledger.responses(account, analyst).unwrap().responses;
            list.into_iter().map(|one| String::from_utf8(one.bytes).unwrap()).collect()
        };
        assert_eq!(responses(None, Some("ann")), ["account k", "yes"]);
        assert_eq!(responses(Some("other"), Some("bob")), ["other k"]);
        assert_eq!(responses(Some("other"), None), ["other k", "other l", "yes"]);
        assert_eq!(responses(None, None).len(), 5);
        assert!(responses(None, Some("eve")).is_empty());
        assert!(ledger.responses(Some("nobody"), None).is_err());
        let mut parts = exported(&mut ledger).into_iter();
        let head = ledger.head().unwrap();
        assert_eq!(parts.next(), Some(ExportItem::Head(head)));
        let entries = parts.by_ref().take(head.sequence as usize);
        assert!(entries.enumerate().all(|(index, part)| matches!(
            part, ExportItem::Entry(entry) if entry.sequence == index as u64 + 1)));
        let responses = ledger.responses(None, None).unwrap();
        assert_eq!(responses.head, head.to_string());
        assert!(parts.eq(responses.responses.into_iter().map(ExportItem::Response)));
    }
}

#[test]
fn the_relation_is_the_data_sets_adjacency_and_records() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        let three = Relation::new(Adjacency::Replace, 3).unwrap();
        ledger.add_dataset("d", three, &budget(FilterKind::Sums, "9", "0")).unwrap();
        ledger
            .open_account("a", "d", &NewAccount::Filter(budget(FilterKind::Sums, "1", "0")))
            .unwrap();
        assert_eq!(ledger.relation("a").unwrap(), three);
        assert_eq!(ledger.status(Some("a")).unwrap().accounts[0].records, 3);
        let tenth = release("0.1");
        let request = Request::new("a", "k", &tenth);
        for (adjacency, records) in
            [(Adjacency::Replace, 1), (Adjacency::Replace, 4), (Adjacency::AddRemove, 3)]
        {
            let other = Relation::new(adjacency, records).unwrap();
            let error = ledger.reserve(&request.with_relation(other)).unwrap_err().to_string();
            assert!(error.ends_with("legal: that of the data set, or none"), "{error}");
            assert!(ledger.price(&request.with_relation(other)).is_err());
        }
        ledger.reserve(&request.with_relation(three)).unwrap();
        for records in [0, 10_001] {
            assert!(Relation::new(Adjacency::Replace, records).is_err());
        }
        assert_sound(&mut ledger);
    }
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "0")).unwrap();
    let problem =
        forge_last(&place, &|body: &str| body.replace(r#""records":1"#, r#""records":0"#));
    assert!(problem.contains("records is 0"), "{problem}");
}

/// Budgets that are themselves in what is added up: they fit slots that are known by such a
/// curve, where an (epsilon, delta) does not.
#[test]
fn accounts_promise_what_they_add_up() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "0.01")).unwrap();
        let slots = r#"{"delta":1e-6,"release":[{"name":"curve","mechanism":"zcdp","rho":0.1,"count":3},
            {"name":"normal","mechanism":"gdp","mu":0.5,"count":3},
            {"name":"order","mechanism":"rdp","orders":[8],"epsilons":[0.3],"count":3}]}"#;
        ledger.open_account("plan", "d", &NewAccount::Plan(plan(slots), None)).unwrap();
        let zcdp = |rho: &str| {
            NewFilter::with_promise(
                FilterKind::Zcdp,
                PromiseRecord::Zcdp { rho: amount(rho), delta: amount("0") },
            )
        };
        let gdp = |mu: &str| {
            NewFilter::with_promise(FilterKind::Gdp, PromiseRecord::Gdp { mu: amount(mu) })
        };
        let renyi = |tau: &str| {
            let promise = PromiseRecord::Renyi { order: amount("8"), tau: amount(tau) };
            NewFilter::with_promise(FilterKind::Renyi, promise)
        };
        ledger.open_in_slot("z", "plan", "curve", &zcdp("0.1")).unwrap();
        ledger.open_in_slot("g", "plan", "normal", &gdp("0.5")).unwrap();
        ledger.open_in_slot("r", "plan", "order", &renyi("0.3")).unwrap();
        for (slot, filter) in
            [("curve", zcdp("0.1001")), ("normal", gdp("0.5001")), ("order", renyi("0.3001"))]
        {
            let error = ledger.open_in_slot("x", "plan", slot, &filter).unwrap_err();
            assert!(matches!(error, LedgerError::Uncovered { .. }), "{error}");
        }
        // rho = 1/(2 sigma^2), mu = 1/sigma.
        let gaussian =
            |sigma: &str| described(&format!(r#"{{"mechanism":"gaussian","sigma":{sigma}}}"#));
        ledger.reserve(&Request::new("z", "a", &gaussian("2.5"))).unwrap();
        ledger.reserve(&Request::new("z", "b", &gaussian("10"))).unwrap();
        refused(ledger.reserve(&Request::new("z", "c", &gaussian("5"))));
        ledger.reserve(&Request::new("g", "a", &gaussian("2"))).unwrap();
        refused(ledger.reserve(&Request::new("g", "b", &gaussian("1000"))));
        // A Gaussian's divergence at order 8 is 8 / (2 sigma^2).
        ledger.reserve(&Request::new("r", "a", &gaussian("4"))).unwrap();
        refused(ledger.reserve(&Request::new("r", "b", &gaussian("8"))));
        let status = ledger.status(Some("z")).unwrap().accounts.remove(0);
        assert_eq!(status.promise, PromiseRecord::Zcdp { rho: amount("0.1"), delta: amount("0") });
        let error = NewFilter::with_promise(FilterKind::Sums, zcdp("0.1").promise);
        let error = ledger.open_in_slot("x", "plan", "curve", &error).unwrap_err().to_string();
        assert!(error.starts_with("\"the filter\" of kind sums cannot promise rho"), "{error}");
        assert_sound(&mut ledger);
    }
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    let rho = PromiseRecord::Zcdp { rho: amount("1"), delta: amount("0") };
    ledger.add_dataset("d", add_remove(), &NewFilter::with_promise(FilterKind::Zcdp, rho)).unwrap();
    // A data set may have such a budget too, which accounts pay into with their own.
    let tenth = PromiseRecord::Zcdp { rho: amount("0.1"), delta: amount("0") };
    let account = NewAccount::Filter(NewFilter::with_promise(FilterKind::Zcdp, tenth));
    ledger.open_account("a", "d", &account).unwrap();
    assert_eq!(ledger.status(Some("d")).unwrap().accounts[0].spent.main, amount("0.1"));
    let problem = forge_last(&place, &|body: &str| {
        body.replace(r#""capacity":{"main":"0.1""#, r#""capacity":{"main":"0.2""#)
    });
    assert!(problem.contains("its rule costs more than it promises"), "{problem}");
}

#[test]
fn slots_and_parts_have_names_that_can_be_seen() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let head = ledger.head().unwrap();
    for unseen in ["a\u{200b}", "\u{feff}a", "a\u{202e}b", "a\u{a0}b", "a\u{ad}", "a\u{3164}"] {
        for field in ["name", "partition"] {
            let text = format!(
                r#"{{"delta":0,"release":[{{"{field}":"{unseen}","mechanism":"approx-dp","epsilon":1}}]}}"#
            );
            let error = ledger.open_account("p", "data", &NewAccount::Plan(plan(&text), None));
            let error = error.unwrap_err();
            assert!(matches!(error, LedgerError::Name { .. }), "{unseen:?}: {error}");
        }
        let asked = described(&format!(
            r#"{{"mechanism":"approx-dp","epsilon":0.1,"partition":"{unseen}"}}"#
        ));
        let error = ledger.reserve(&Request::new("account", "k", &asked)).unwrap_err();
        assert!(matches!(error, LedgerError::Name { .. }), "{unseen:?}: {error}");
    }
    assert_eq!(ledger.head().unwrap(), head);
}

/// A ledger of the first format: nothing is read into it.
#[test]
fn a_ledger_of_an_older_format_says_what_to_do() {
    for place in Place::all() {
        drop(with_account(&place, "1"));
        let mut database = place.url().open(false).unwrap();
        database.begin(counterpoint_ledger::database::Access::Write).unwrap();
        database.execute("UPDATE ledger_version SET version = 1", &[]).unwrap();
        database.commit().unwrap();
        let error = Ledger::open(&place.url()).err().unwrap().to_string();
        let expected = "the ledger's format is version 1; legal: 4; keep this one as a record, \
                        with the program that wrote it, and start a new ledger whose data sets \
                        have the old budgets less the spent amounts";
        assert_eq!(error, expected);
    }
}

/// An account by a curve also admits what the plain sum of epsilons allows, as long as all is
/// pure; once it is not, by the curve alone.
#[test]
fn pure_releases_may_be_added_up_in_an_account_by_a_curve() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
        let eighth = described(r#"{"mechanism":"laplace","scale":8}"#);
        let gaussian = described(r#"{"mechanism":"gaussian","sigma":1000}"#);
        for kind in [FilterKind::Gdp, FilterKind::Zcdp, FilterKind::Renyi] {
            let name = kind.name();
            let account = NewAccount::Filter(budget(kind, "1", "1e-6"));
            ledger.open_account(name, "d", &account).unwrap();
            ledger.add_quota(name, "ann", &NewQuota::Share(amount("1"))).unwrap();
            let by = |key| Request { analyst: Some("ann"), ..Request::new(name, key, &eighth) };
            for key in ["1", "2", "3", "4", "5", "6", "7", "8"] {
                ledger.reserve(&by(key)).unwrap();
            }
            let status = ledger.status(Some(name)).unwrap().accounts.remove(0);
            assert_eq!(
                (status.spent.pure, status.capacity.pure),
                (Some(amount("1")), Some(amount("1")))
            );
            assert!(status.spent.main > status.capacity.main, "{name}: by the sum alone");
            refused(ledger.reserve(&by("one-too-many")));
            let mixed = Request { asked: &gaussian, ..by("mixed") };
            refused(ledger.reserve(&mixed));
        }
        // What is not pure ends it, though the sum would have had room.
        let account = NewAccount::Filter(budget(FilterKind::Gdp, "1", "1e-6"));
        ledger.open_account("mixed", "d", &account).unwrap();
        ledger.reserve(&Request::new("mixed", "g", &gaussian)).unwrap();
        ledger.reserve(&Request::new("mixed", "a", &eighth)).unwrap();
        let both =
            described(r#"{"mechanism":"laplace","scale":8},{"mechanism":"laplace","scale":8}"#);
        refused(ledger.reserve(&Request::new("mixed", "b", &both)));
        assert_eq!(ledger.status(Some("mixed")).unwrap().accounts[0].spent.pure, None);
        assert_sound(&mut ledger);
        drop(ledger);
        // The database itself holds it: neither rule is kept.
        let mut database = place.url().open(false).unwrap();
        database.begin(counterpoint_ledger::database::Access::Write).unwrap();
        let sql = "UPDATE ledger_account SET spent_pure = NULL WHERE name = 'gdp'";
        assert!(database.execute(sql, &[]).is_err());
    }
}

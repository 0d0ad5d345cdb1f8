//! What the rules say, kept by the ledger.

use std::sync::{Arc, Mutex};

use counterpoint::quantity::Order;
use counterpoint::{Adjacency, Relation};
use counterpoint_ledger::{
    ExportItem, FilterKind, Ledger, LedgerError, NewAccount, NewQuota, Request,
};
use counterpoint_wire::ledger::{Event, PromiseRecord};

use crate::{
    Place, add_remove, amount, assert_sound, budget, described, exported, plan, refused, release,
    replace, slot, watch, with_account,
};

#[test]
fn a_tenth_and_two_tenths_are_three_tenths() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.3");
        for (key, epsilon) in [("a", "0.1"), ("b", "0.2")] {
            ledger.reserve(&Request::new("account", key, &release(epsilon))).unwrap();
        }
        let refusal = refused(ledger.reserve(&Request::new("account", "c", &release("1e-99"))));
        let start = "refused by account \"account\": 0.0000";
        assert!(
            refusal.starts_with(start) && refusal.contains("0 is left of 0.3; legal: "),
            "{refusal}"
        );
        let spent = &ledger.status(Some("account")).unwrap().accounts[0].spent;
        assert_eq!(spent.main, amount("0.3"));
        assert_sound(&mut ledger);
    }
}

#[test]
fn laplace_of_scale_ten_costs_a_tenth_and_gaussians_nothing_that_sums_know() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "0.3");
    let laplace = described(r#"{"mechanism":"laplace","scale":10,"count":3}"#);
    let charge = ledger.reserve(&Request::new("account", "a", &laplace)).unwrap().charge.unwrap();
    assert_eq!(charge.main, amount("0.3"));
    let gaussian = described(r#"{"mechanism":"gaussian","sigma":10}"#);
    let error = ledger.reserve(&Request::new("account", "b", &gaussian)).unwrap_err();
    assert!(matches!(error, LedgerError::Rule(_)), "{error}");
    assert_sound(&mut ledger);
}

#[test]
fn opening_an_account_costs_the_data_set_all_of_it() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", replace(), &budget(FilterKind::Sums, "1", "1e-6")).unwrap();
        let open = |kind, epsilon, delta| NewAccount::Filter(budget(kind, epsilon, delta));
        ledger.open_account("a", "d", &open(FilterKind::Renyi, "0.7", "5e-7")).unwrap();
        let refusal = refused(ledger.open_account("b", "d", &open(FilterKind::Sums, "0.31", "0")));
        let expected = "refused by data set \"d\": 0.31 of epsilon is asked for and 0.3 is left of 1; legal: at most what is \
             left; try an account that promises less, or a plan with more noise: calibrate finds it, and a study \
             has a smaller epsilon or larger errors";
        assert_eq!(refusal, expected);
        refused(ledger.open_account("b", "d", &open(FilterKind::Sums, "0.3", "6e-7")));
        ledger.open_account("b", "d", &open(FilterKind::Sums, "0.3", "5e-7")).unwrap();
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_hundred_tenths_fit_a_renyi_account_of_5_08() {
    // Theory: the filter at the best order certifies 5.0731 for them.
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "6", "1e-6")).unwrap();
    let mut filter = budget(FilterKind::Renyi, "5.08", "1e-6");
    let hundred = r#"{"release":[{"mechanism":"approx-dp","epsilon":0.1,"count":100}]}"#;
    filter.expected = plan(hundred).releases;
    ledger.open_account("a", "d", &NewAccount::Filter(filter)).unwrap();
    let asked = release("0.1");
    for key in 0..100 {
        ledger.reserve(&Request::new("a", &format!("k{key}"), &asked)).unwrap();
    }
    refused(ledger.reserve(&Request::new("a", "one-too-many", &asked)));
    assert_sound(&mut ledger);
}

const PLAN: &str = r#"{"delta": 1e-6, "release": [
    {"name": "ages", "mechanism": "laplace", "scale": 10, "count": 3},
    {"name": "mean income", "mechanism": "gaussian", "sigma": 20},
    {"mechanism": "approx-dp", "epsilon": 0.1, "count": 96}]}"#;

#[test]
fn slots_open_in_any_order_and_no_more_often_than_declared() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "5", "1e-6")).unwrap();
        ledger.open_account("a", "d", &NewAccount::Plan(plan(PLAN), None)).unwrap();
        let promise = ledger.status(Some("a")).unwrap().accounts[0].promise.clone();
        let PromiseRecord::ApproxDp { epsilon, .. } = promise else { panic!("{promise:?}") };
        let promised = epsilon.upper();
        // Optimal composition of 100 tenths costs 4.7746; of 99 and a little less.
        assert!(promised < 4.774_567_588_108 && promised > 4.5, "{promised}");
        for (key, asked) in
            [("1", slot("3", 90)), ("2", slot("ages", 1)), ("3", slot("mean income", 1))]
        {
            ledger.reserve(&Request::new("a", key, &asked)).unwrap();
        }
        let refusal = refused(ledger.reserve(&Request::new("a", "4", &slot("3", 7))));
        let expected = "refused by slot \"3\" of account \"a\": 7 of uses is asked for and 6 is left of 96; legal: at most what \
             is left; try another slot, or exchange unused ones (recut)";
        assert_eq!(refusal, expected);
        refused(ledger.reserve(&Request::new("a", "5", &slot("mean income", 1))));
        ledger.reserve(&Request::new("a", "6", &slot("3", 6))).unwrap();
        let unknown = ledger.reserve(&Request::new("a", "7", &slot("wages", 1))).unwrap_err();
        assert!(unknown.to_string().starts_with("there is no slot \"wages\""), "{unknown}");
        assert_sound(&mut ledger);
    }
}

#[test]
fn quotas_share_out_and_colluding_analysts_still_meet_the_account() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        for who in ["ann", "bob", "cleo"] {
            let share = NewQuota::Cost { epsilon: amount("0.5"), delta: amount("0") };
            ledger.add_quota("account", who, &share).unwrap();
        }
        let half = release("0.5");
        let by = |who, key| Request { analyst: Some(who), ..Request::new("account", key, &half) };
        ledger.reserve(&by("ann", "1")).unwrap();
        let refusal = refused(ledger.reserve(&by("ann", "2")));
        assert!(refusal.starts_with("refused by the quota of \"ann\" in account"), "{refusal}");
        ledger.reserve(&by("bob", "3")).unwrap();
        // The quota would allow it; all together would be above the account.
        let refusal = refused(ledger.reserve(&by("cleo", "4")));
        assert!(refusal.starts_with("refused by account \"account\""), "{refusal}");
        let error = ledger.reserve(&by("dan", "5")).unwrap_err().to_string();
        assert!(error.starts_with("there is no quota of analyst \"dan\""), "{error}");
        let error = ledger.reserve(&Request::new("account", "6", &half)).unwrap_err().to_string();
        assert!(error.contains("has quotas and no analyst is named"), "{error}");
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_share_of_any_account_is_that_part_of_what_it_has_to_spend() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let account = NewAccount::Filter(budget(FilterKind::Renyi, "2", "1e-6"));
    ledger.open_account("renyi", "data", &account).unwrap();
    for name in ["account", "renyi"] {
        ledger.add_quota(name, "ann", &NewQuota::Share(amount("0.25"))).unwrap();
        let status = ledger.status(Some(name)).unwrap().accounts.remove(0);
        let quarter = status.quotas[0].capacity.clone();
        assert_eq!(
            (quarter.main.times(4), quarter.delta.times(4)),
            (status.capacity.main, status.capacity.delta)
        );
    }
    for bad in ["0", "1.01"] {
        let error = ledger.add_quota("renyi", "bob", &NewQuota::Share(amount(bad))).unwrap_err();
        assert!(error.to_string().contains("legal: above 0, at most 1"), "{error}");
    }
    let cost = NewQuota::Cost { epsilon: amount("1"), delta: amount("0") };
    let error = ledger.add_quota("renyi", "bob", &cost).unwrap_err().to_string();
    assert!(error.contains("not epsilons; legal: --share"), "{error}");
    assert_sound(&mut ledger);
}

#[test]
fn quotas_are_given_once() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let share = NewQuota::Cost { epsilon: amount("0.5"), delta: amount("0") };
    ledger.add_quota("account", "ann", &share).unwrap();
    let error = ledger.add_quota("account", "ann", &share).unwrap_err();
    assert!(matches!(error, LedgerError::Exists { .. }), "{error}");
    assert_sound(&mut ledger);
}

#[test]
fn a_key_is_charged_once_and_its_first_response_stays() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.1");
        let tenth = release("0.1");
        let request = Request::new("account", "key", &tenth);
        let first = ledger.reserve(&request).unwrap();
        assert_eq!(first.charge.as_ref().unwrap().main, amount("0.1"));
        let again = ledger.reserve(&request).unwrap();
        assert_eq!((again.entry, again.charge, again.response), (first.entry, None, None));
        let bytes = [0, 255, 10, 13, 0];
        let stored = ledger.commit("account", "key", &bytes).unwrap();
        assert_eq!((stored.response.as_slice(), stored.repeated), (&bytes[..], false));
        let other = ledger.commit("account", "key", b"another draw").unwrap();
        assert_eq!((other.response.as_slice(), other.repeated), (&bytes[..], true));
        let replay = ledger.reserve(&request).unwrap();
        assert_eq!((replay.response.unwrap(), replay.head), (bytes.to_vec(), stored.head));
        for other in [release("0.2"), release("0.05")] {
            let error = ledger.reserve(&Request::new("account", "key", &other)).unwrap_err();
            assert!(matches!(error, LedgerError::KeyInUse { .. }), "{error}");
        }
        let someone = Request { analyst: Some("ann"), ..request };
        assert!(matches!(ledger.reserve(&someone), Err(LedgerError::KeyInUse { .. })));
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_refusal_says_the_same_whatever_was_answered() {
    let refusal = |response: &[u8]| {
        let place = Place::sqlite();
        let mut ledger = with_account(&place, "0.1");
        ledger.reserve(&Request::new("account", "a", &release("0.1"))).unwrap();
        ledger.commit("account", "a", response).unwrap();
        refused(ledger.reserve(&Request::new("account", "b", &release("0.1"))))
    };
    assert_eq!(refusal(b"0"), refusal(&[255; 100_000]));
}

#[test]
fn a_refusal_writes_nothing() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.1");
        let head = ledger.head().unwrap();
        refused(ledger.reserve(&Request::new("account", "a", &release("0.2"))));
        assert_eq!(ledger.head().unwrap(), head);
        ledger.reserve(&Request::new("account", "a", &release("0.1"))).unwrap();
        assert_sound(&mut ledger);
    }
}

#[test]
fn another_adjacency_is_not_mixed_in() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    let asked = release("0.1");
    let adjacency = Some(Adjacency::Replace);
    let request = Request { adjacency, ..Request::new("account", "a", &asked) };
    let error = ledger.reserve(&request).unwrap_err().to_string();
    assert!(
        error.contains(
            "has adjacency replace, and the data set has add-remove; legal: that of the data set"
        ),
        "{error}"
    );
    let other = PLAN.replace("\"delta\"", "\"adjacency\": \"replace\", \"delta\"");
    let error = ledger.open_account("p", "data", &NewAccount::Plan(plan(&other), None));
    assert!(error.unwrap_err().to_string().contains("has adjacency replace"));
    let groups = PLAN.replace("\"delta\"", "\"group\": 2, \"delta\"");
    let error = ledger.open_account("p", "data", &NewAccount::Plan(plan(&groups), None));
    assert!(error.unwrap_err().to_string().contains("has group 2; legal: group 1"));
}

#[test]
fn the_history_tells_everything_in_order() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        ledger.reserve(&Request::new("account", "k", &release("0.1"))).unwrap();
        let head = ledger.commit("account", "k", b"42").unwrap().head;
        let mut names = Vec::new();
        let last = ledger.history(None, None, |entry| names.push(entry.event.name())).unwrap();
        assert_eq!(names, ["init", "dataset", "open", "reserve", "commit"]);
        assert_eq!((last, last.sequence), (head, 5));
        let mut of_account = Vec::new();
        ledger.history(Some("account"), None, |entry| of_account.push(entry)).unwrap();
        assert_eq!(of_account.len(), 3);
        let Event::Commit { length: 2, sha256, .. } = &of_account[2].event else { panic!() };
        // printf 42 | sha256sum
        assert_eq!(sha256, "73475cb40a568e8da8a045ced110137e159f890ac4da883b6b17dc651b3a8049");
        let parts = exported(&mut ledger);
        let Some(ExportItem::Response(response)) = parts.last() else { panic!("{parts:?}") };
        assert_eq!((&parts[0], response.bytes.as_slice()), (&ExportItem::Head(head), &b"42"[..]));
    }
}

/// Every statement of a release finds its rows by an index, and there are as many statements
/// late as early: what a decision costs does not grow with the history.
#[test]
fn a_release_looks_at_a_few_rows_however_long_the_history() {
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-6")).unwrap();
    ledger.open_account("plan", "d", &NewAccount::Plan(plan(PLAN), None)).unwrap();
    ledger
        .open_account("sums", "d", &NewAccount::Filter(budget(FilterKind::Sums, "1", "0")))
        .unwrap();
    for account in ["plan", "sums"] {
        ledger.add_quota(account, "ann", &NewQuota::Share(amount("1"))).unwrap();
    }
    drop(ledger);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let statements = Arc::clone(&seen);
    let mut ledger = watch::open(&place, move |event| {
        if let watch::Event::Queried(sql, _) | watch::Event::Executed(sql) = event {
            statements.lock().unwrap().push(sql.to_owned());
        }
    });
    let mut release = |key: &str, account: &str| {
        let asked = if account == "plan" { slot("3", 1) } else { release("0.001") };
        let request = Request { analyst: Some("ann"), ..Request::new(account, key, &asked) };
        seen.lock().unwrap().clear();
        ledger.reserve(&request).unwrap();
        ledger.commit(account, key, b"42").unwrap();
        seen.lock().unwrap().clone()
    };
    // The first of an account reads its rule.
    release("p0", "plan");
    release("s0", "sums");
    let early = [release("p1", "plan"), release("s1", "sums")];
    (2..90).for_each(|index| drop(release(&format!("p{index}"), "plan")));
    let late = [release("p90", "plan"), release("s90", "sums")];
    assert_eq!(early, late);
    let connection = rusqlite::Connection::open(place.file()).unwrap();
    for sql in late.iter().flatten() {
        let sql = format!("EXPLAIN QUERY PLAN {}", sql.replace('$', "?"));
        let mut statement = connection.prepare(&sql).unwrap();
        let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3));
        for step in steps {
            let step = step.unwrap();
            assert!(!step.starts_with("SCAN") || step == "SCAN ledger_head", "{sql}: {step}");
        }
    }
}

/// Where a person may have several records, whatever says what chance does with a record is refused, and nothing else is.
#[test]
fn records_that_chance_picks_are_refused_where_a_person_has_several() {
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    for (name, records) in [("one", 1), ("many", 5)] {
        let relation = Relation::new(Adjacency::AddRemove, records).unwrap();
        ledger.add_dataset(name, relation, &budget(FilterKind::Sums, "1000000", "0.5")).unwrap();
        let mut filter = budget(FilterKind::Renyi, "100", "0.001");
        filter.order = Some(Order::new(4.0).unwrap());
        let account = format!("{name}-account");
        ledger.open_account(&account, name, &NewAccount::Filter(filter)).unwrap();
    }
    let kinds: [(&str, Option<&str>); 27] = [
        (r#""approx-dp","epsilon":0.3"#, None),
        (r#""laplace","scale":3"#, None),
        (r#""geometric","scale":3"#, None),
        (r#""gaussian","sigma":3"#, None),
        (r#""discrete-gaussian","sigma":3"#, None),
        (r#""randomized-response","epsilon":0.3"#, None),
        (r#""exponential","epsilon":0.3"#, None),
        (r#""staircase","epsilon":0.3"#, None),
        (r#""name-and-shame","delta":1e-9"#, None),
        (r#""zcdp","rho":0.01"#, None),
        (r#""tcdp","rho":0.01,"omega":30"#, None),
        (r#""rdp","orders":[4],"epsilons":[0.1]"#, None),
        (r#""gdp","mu":0.1"#, None),
        (r#""sparse-vector","epsilon_threshold":0.1,"epsilon_queries":0.1"#, None),
        (r#""above-threshold","epsilon_threshold":0.1,"epsilon_queries":0.1"#, None),
        (r#""finite","p":[0.75,0.25],"q":[0.25,0.75]"#, None),
        (r#""gaussian-mixture","sigma":3,"sensitivities":[1],"probabilities":[1]"#, None),
        (r#""approx-dp","epsilon":0.3,"rate":0.01"#, Some("rate")),
        (r#""gaussian","sigma":3,"rate":0.01"#, Some("rate")),
        (r#""gaussian","sigma":3,"examples":100,"batch":1,"count":1"#, Some("rate")),
        (r#""gaussian","sigma":3,"partition":"north""#, Some("partition")),
        // The same as a Gaussian on a sample of rate 0.01.
        (
            r#""gaussian-mixture","sigma":3,"sensitivities":[0,1],"probabilities":[0.99,0.01]"#,
            Some("probabilities"),
        ),
        (
            r#""gaussian-mixture","sigma":3,"sensitivities":[1,2],"probabilities":[0.99,0.01]"#,
            Some("probabilities"),
        ),
        (r#""gaussian-subset","sigma":3,"share":0.01"#, Some("share")),
        (r#""gaussian-batch","sigma":3,"share":0.01"#, Some("share")),
        (r#""gaussian-allocation","sigma":3,"steps":9"#, Some("steps")),
        (r#""gaussian-draws","sigma":3,"records":99,"draws":1"#, Some("draws")),
    ];
    for (fields, field) in kinds {
        let asked = described(&format!("{{\"mechanism\":{fields}}}"));
        let one = ledger.price(&Request::new("one-account", "k", &asked));
        assert!(!matches!(one, Err(LedgerError::SeveralRecords { .. })), "{fields}: {one:?}");
        let many = ledger.price(&Request::new("many-account", "k", &asked));
        match field {
            None => assert_eq!(many.unwrap().charge, one.unwrap().charge, "{fields}"),
            Some(field) => {
                let expected = LedgerError::SeveralRecords { field, records: 5 };
                assert_eq!(many.err(), Some(expected), "{fields}");
            }
        }
    }
}

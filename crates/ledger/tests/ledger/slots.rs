//! Plan accounts: what runs in a slot, accounts within one, slots cut anew.

use counterpoint::{Adjacency, Relation};
use counterpoint_budget::FilterError;
use counterpoint_ledger::{FilterKind, Ledger, LedgerError, NewAccount, NewQuota, Request};
use counterpoint_wire::ledger::{Openings, ReleaseRequest};

use crate::tamper::forge_last;
use crate::{
    Place, add_remove, amount, assert_sound, budget, described, plan, refused, release, slot,
};

const PLAN: &str = r#"{"delta": 1e-6, "release": [
    {"name": "ages", "mechanism": "laplace", "scale": 10, "count": 5},
    {"name": "pay", "mechanism": "approx-dp", "epsilon": 0.5, "count": 2},
    {"name": "sample", "mechanism": "gaussian", "sigma": 2, "rate": 0.1}]}"#;

fn with_plan(place: &Place) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
    ledger.open_account("plan", "d", &NewAccount::Plan(plan(PLAN), None)).unwrap();
    ledger
}

/// A slot, and what is run in it.
fn runs(name: &str, count: u64, text: &str) -> ReleaseRequest {
    let ReleaseRequest::Described(run) = described(text) else { panic!() };
    ReleaseRequest::Slot { name: name.to_owned(), count, run }
}

fn openings(list: &[(&str, u64)]) -> Vec<Openings> {
    let one = |(slot, count): &(&str, u64)| Openings { slot: (*slot).to_owned(), count: *count };
    list.iter().map(one).collect()
}

#[track_caller]
fn uncovered<T: std::fmt::Debug>(outcome: Result<T, LedgerError>) {
    let error = outcome.unwrap_err();
    assert!(matches!(error, LedgerError::Uncovered { .. }), "{error}");
    assert!(error.to_string().contains("is not shown to be covered by"), "{error}");
}

fn used(ledger: &mut Ledger, name: &str) -> (u64, u64) {
    let slots = ledger.status(Some("plan")).unwrap().accounts.remove(0).slots;
    let slot = slots.into_iter().find(|slot| slot.name == name).unwrap();
    (slot.used, slot.count)
}

#[test]
fn a_slot_runs_what_it_dominates_and_nothing_else() {
    for place in Place::all() {
        let mut ledger = with_plan(&place);
        for (key, name, count, run) in [
            ("a", "ages", 1, r#"{"mechanism":"laplace","scale":10}"#),
            ("b", "ages", 2, r#"{"mechanism":"laplace","scale":20,"sensitivity":2}"#),
            ("c", "pay", 1, r#"{"mechanism":"randomized-response","epsilon":0.5,"buckets":2}"#),
            ("d", "sample", 1, r#"{"mechanism":"gaussian","sigma":2.5,"rate":0.05}"#),
        ] {
            let asked = runs(name, count, run);
            let done = ledger.reserve(&Request::new("plan", key, &asked)).unwrap();
            assert_eq!(done.charge.unwrap().main, count.into());
        }
        let head = ledger.head().unwrap();
        for (name, run) in [
            ("ages", r#"{"mechanism":"laplace","scale":9.99}"#),
            // Randomized response of the same epsilon is further apart than Laplace noise.
            ("ages", r#"{"mechanism":"approx-dp","epsilon":0.1}"#),
            ("pay", r#"{"mechanism":"approx-dp","epsilon":0.501}"#),
            ("pay", r#"{"mechanism":"gaussian","sigma":1000}"#),
            ("sample", r#"{"mechanism":"gaussian","sigma":2,"rate":0.101}"#),
        ] {
            uncovered(ledger.reserve(&Request::new("plan", "x", &runs(name, 1, run))));
        }
        // Several in one opening, or one in each of several.
        let two = r#"{"mechanism":"laplace","scale":10,"count":2}"#;
        uncovered(ledger.reserve(&Request::new("plan", "x", &runs("ages", 1, two))));
        let error = ledger.reserve(&Request::new("plan", "x", &runs("ages", 2, two))).unwrap_err();
        let problem = "would run several releases in each of 2 openings; legal: one release each";
        assert!(error.to_string().contains(problem), "{error}");
        let unknown = runs("wages", 1, r#"{"mechanism":"laplace","scale":10}"#);
        let error = ledger.reserve(&Request::new("plan", "x", &unknown)).unwrap_err();
        assert!(matches!(error, LedgerError::Unknown { .. }), "{error}");
        // As often as declared, and a key stands for what was run too.
        let three = runs("ages", 3, r#"{"mechanism":"laplace","scale":10}"#);
        refused(ledger.reserve(&Request::new("plan", "x", &three)));
        let other = runs("ages", 1, r#"{"mechanism":"laplace","scale":11}"#);
        let error = ledger.reserve(&Request::new("plan", "a", &other)).unwrap_err();
        assert!(matches!(error, LedgerError::KeyInUse { .. }), "{error}");
        assert_eq!((ledger.head().unwrap(), used(&mut ledger, "ages")), (head, (3, 5)));
        assert_sound(&mut ledger);
    }
}

/// What is found wrong once some text of the newest entry is another.
fn forged(place: &Place, from: &str, to: &str) -> String {
    forge_last(place, &|body: &str| body.replace(from, to))
}

/// A whole history made up by somebody who can write: what breaks a rule is found without a
/// head to compare with.
#[test]
fn a_history_that_breaks_the_rules_of_slots_is_found() {
    let place = Place::sqlite();
    let mut ledger = with_plan(&place);
    let asked = runs("ages", 1, r#"{"mechanism":"laplace","scale":10}"#);
    ledger.reserve(&Request::new("plan", "a", &asked)).unwrap();
    let problem = forged(&place, r#""scale":"10""#, r#""scale":"9.9""#);
    assert!(problem.contains("is not shown to be covered by"), "{problem}");

    let place = Place::sqlite();
    let mut ledger = with_plan(&place);
    ledger.open_in_slot("inner", "plan", "pay", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
    let problem = forged(&place, r#""0.5""#, r#""0.501""#);
    assert!(problem.contains("is not shown to be covered by"), "{problem}");

    let place = Place::sqlite();
    let mut ledger = with_plan(&place);
    let into =
        plan(r#"{"release":[{"name":"x","mechanism":"approx-dp","epsilon":0.25,"count":2}]}"#);
    ledger.recut("plan", &openings(&[("pay", 1)]), &into).unwrap();
    let problem = forged(&place, r#""0.25""#, r#""0.251""#);
    assert!(problem.contains("is not shown to be covered by"), "{problem}");
    // More openings than were declared.
    let place = Place::sqlite();
    with_plan(&place);
    let problem = forged(&place, r#""name":"ages","count":5"#, r#""name":"ages","count":6"#);
    assert!(problem.contains("opens more often than was declared"), "{problem}");
}

#[test]
fn an_account_within_a_slot_promises_no_more_than_the_slot() {
    for place in Place::all() {
        let mut ledger = with_plan(&place);
        let spent = ledger.status(Some("d")).unwrap().accounts[0].spent.clone();
        // tanh(e/2) is at most 1 - exp(-1/20), the total variation of the Laplace pair, up to
        // e = 0.09762.
        uncovered(ledger.open_in_slot(
            "a",
            "plan",
            "ages",
            &budget(FilterKind::Sums, "0.0977", "0"),
        ));
        ledger.open_in_slot("a", "plan", "ages", &budget(FilterKind::Sums, "0.0976", "0")).unwrap();
        uncovered(ledger.open_in_slot(
            "b",
            "plan",
            "pay",
            &budget(FilterKind::Sums, "0.5", "1e-9"),
        ));
        ledger.open_in_slot("b", "plan", "pay", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
        assert_eq!((used(&mut ledger, "ages"), used(&mut ledger, "pay")), ((1, 5), (1, 2)));
        // What is asked there is adaptive, and costs neither the plan nor the data set.
        for (key, epsilon) in [("1", "0.3"), ("2", "0.2")] {
            ledger.reserve(&Request::new("b", key, &release(epsilon))).unwrap();
        }
        refused(ledger.reserve(&Request::new("b", "3", &release("0.0001"))));
        assert_eq!(ledger.status(Some("d")).unwrap().accounts[0].spent, spent);
        ledger.open_in_slot("c", "plan", "pay", &budget(FilterKind::Sums, "0.1", "0")).unwrap();
        refused(ledger.open_in_slot("e", "plan", "pay", &budget(FilterKind::Sums, "0.1", "0")));
        let head = ledger.head().unwrap();
        let small = budget(FilterKind::Sums, "0.01", "0");
        for (account, within, name, start) in [
            ("c", "plan", "ages", "account \"c\" exists already"),
            ("f", "plan", "wages", "there is no slot \"wages\""),
            ("f", "d", "ages", "\"d\" is a data set"),
            ("f", "b", "ages", "\"b\" is an open account; legal: a plan account"),
        ] {
            let error = ledger.open_in_slot(account, within, name, &small).unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
        // Only data sets and slots pay for accounts.
        let error = ledger.open_account("f", "b", &NewAccount::Filter(small)).unwrap_err();
        assert!(matches!(error, LedgerError::Unknown { .. }), "{error}");
        assert_eq!(ledger.head().unwrap(), head);
        assert_sound(&mut ledger);
    }
}

#[test]
fn slots_are_cut_anew_only_where_the_old_dominate() {
    for place in Place::all() {
        let mut ledger = with_plan(&place);
        let parts = |a: &str, b: &str| {
            plan(&format!(
                r#"{{"release":[{{"name":"x","mechanism":"approx-dp","epsilon":{a},"count":2}},
                    {{"name":"y","mechanism":"approx-dp","epsilon":{b}}}]}}"#
            ))
        };
        let one = openings(&[("pay", 1)]);
        // Twice 0.2 and 0.1 are 0.5; with 0.101 there is a loss beyond it.
        uncovered(ledger.recut("plan", &one, &parts("0.2", "0.101")));
        let promised = ledger.status(Some("plan")).unwrap().accounts[0].promise.clone();
        ledger.recut("plan", &one, &parts("0.2", "0.1")).unwrap();
        let status = ledger.status(Some("plan")).unwrap().accounts.remove(0);
        assert_eq!(status.promise, promised);
        assert_eq!((status.capacity.main, status.spent.main), (amount("11"), amount("1")));
        assert_eq!((used(&mut ledger, "pay"), used(&mut ledger, "x")), ((1, 2), (0, 2)));
        ledger.reserve(&Request::new("plan", "k", &slot("x", 2))).unwrap();
        ledger.reserve(&Request::new("plan", "l", &slot("pay", 1))).unwrap();
        let head = ledger.head().unwrap();
        // Used openings are gone, and names are given once.
        refused(ledger.recut("plan", &one, &parts("0.1", "0.1")));
        let error = ledger.recut("plan", &openings(&[("ages", 3)]), &parts("0.01", "0.01"));
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("slot \"x\" exists already"), "{error}");
        for bad in [vec![], openings(&[("ages", 0)]), openings(&[("ages", 1), ("ages", 1)])] {
            let error = ledger.recut("plan", &bad, &parts("0.01", "0.01")).unwrap_err();
            assert!(error.to_string().ends_with("each with a count from 1"), "{error}");
        }
        assert_eq!(ledger.head().unwrap(), head);
        assert_sound(&mut ledger);
    }
}

#[test]
fn slots_that_are_shared_out_are_left_as_they_are() {
    let place = Place::sqlite();
    let mut ledger = with_plan(&place);
    ledger.add_quota("plan", "ann", &NewQuota::Releases(3)).unwrap();
    let into = plan(r#"{"release":[{"mechanism":"approx-dp","epsilon":0.1}]}"#);
    let small = budget(FilterKind::Sums, "0.01", "0");
    for error in [
        ledger.recut("plan", &openings(&[("pay", 1)]), &into).unwrap_err(),
        ledger.open_in_slot("a", "plan", "pay", &small).unwrap_err(),
    ] {
        let expected = "\"plan\" has quotas; legal: a plan account without quotas";
        assert_eq!(error.to_string(), expected);
    }
    assert_sound(&mut ledger);
}

const PARTS: &str = r#"{"delta": 0, "release": [
    {"name": "a", "mechanism": "approx-dp", "epsilon": 1, "partition": "a", "count": 2},
    {"name": "b", "mechanism": "approx-dp", "epsilon": 1, "partition": "b", "count": 2},
    {"name": "all", "mechanism": "approx-dp", "epsilon": 0.5, "count": 2}]}"#;

/// Slots about two parts of the data, and about all of it.
fn with_parts(place: &Place) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "3.1", "0")).unwrap();
    ledger.open_account("plan", "d", &NewAccount::Plan(plan(PARTS), None)).unwrap();
    ledger
}

/// A release about a part of the data, or about all of it.
fn about(part: Option<&str>, epsilon: &str) -> String {
    let part = part.map(|part| format!(r#","partition":"{part}""#)).unwrap_or_default();
    format!(r#"{{"mechanism":"approx-dp","epsilon":{epsilon}{part}}}"#)
}

/// Each part has a budget of its own: what is about another part, or about all of the data,
/// would not be paid for.
#[test]
fn an_account_within_a_slot_is_about_the_slots_part_of_the_data() {
    for place in Place::all() {
        let mut ledger = with_parts(&place);
        let one = budget(FilterKind::Sums, "1", "0");
        for part in ["a", "b"] {
            ledger.open_in_slot(&format!("in-{part}"), "plan", part, &one).unwrap();
        }
        let head = ledger.head().unwrap();
        for (account, part) in [
            ("in-a", Some("b")),
            ("in-a", None),
            ("in-a", Some("a ")),
            ("in-a", Some("A")),
            ("in-b", Some("a")),
        ] {
            let asked = described(&about(part, "0.1"));
            let error = ledger.reserve(&Request::new(account, "k", &asked)).unwrap_err();
            let is_part = matches!(&error, LedgerError::Rule(error)
                if matches!(**error, FilterError::OtherPart { .. }));
            assert!(is_part || part == Some("a "), "{error}");
            assert_eq!(ledger.price(&Request::new(account, "k", &asked)).unwrap_err(), error);
            // One of several is enough to refuse all.
            let own = about(Some(&account[3..]), "0.1");
            let both = described(&format!("{own},{}", about(part, "0.1")));
            assert_eq!(ledger.reserve(&Request::new(account, "k", &both)).unwrap_err(), error);
        }
        assert_eq!(ledger.head().unwrap(), head);
        for part in ["a", "b"] {
            let asked = described(&about(Some(part), "1"));
            let account = format!("in-{part}");
            ledger.reserve(&Request::new(&account, "k", &asked)).unwrap();
            let status = ledger.status(Some(&account)).unwrap().accounts.remove(0);
            assert_eq!((status.part.as_deref(), status.slot.as_deref()), (Some(part), Some(part)));
        }
        // An account about all of the data is charged for any part as for all of it.
        ledger
            .open_in_slot("in-all", "plan", "all", &budget(FilterKind::Sums, "0.5", "0"))
            .unwrap();
        for (key, part) in [("1", Some("a")), ("2", Some("b")), ("3", None)] {
            let asked = described(&about(part, "0.1"));
            ledger.reserve(&Request::new("in-all", key, &asked)).unwrap();
        }
        let spent = ledger.status(Some("in-all")).unwrap().accounts[0].spent.main.clone();
        assert_eq!(spent, amount("0.3"));
        assert_sound(&mut ledger);
    }
}

#[test]
fn what_runs_in_a_slot_or_is_cut_from_it_is_about_its_part() {
    for place in Place::all() {
        let mut ledger = with_parts(&place);
        for (slot, part) in [("a", Some("b")), ("a", None), ("b", Some("a"))] {
            let asked = runs(slot, 1, &about(part, "0.5"));
            uncovered(ledger.reserve(&Request::new("plan", "k", &asked)));
            let into = plan(&format!(r#"{{"release":[{}]}}"#, about(part, "0.5")));
            uncovered(ledger.recut("plan", &openings(&[(slot, 1)]), &into));
        }
        ledger.reserve(&Request::new("plan", "a", &runs("a", 1, &about(Some("a"), "1")))).unwrap();
        let all = runs("all", 1, &about(Some("a"), "0.5"));
        ledger.reserve(&Request::new("plan", "all", &all)).unwrap();
        let into = about(Some("b"), "0.5").replace('{', r#"{"name":"half","count":2,"#);
        let into = plan(&format!(r#"{{"release":[{into}]}}"#));
        ledger.recut("plan", &openings(&[("b", 1)]), &into).unwrap();
        ledger.open_in_slot("in", "plan", "half", &budget(FilterKind::Sums, "0.5", "0")).unwrap();
        let other = described(&about(Some("a"), "0.1"));
        assert!(ledger.reserve(&Request::new("in", "k", &other)).is_err());
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_history_that_mixes_up_parts_is_found() {
    let one = || budget(FilterKind::Sums, "1", "0");
    let place = Place::sqlite();
    let mut ledger = with_parts(&place);
    ledger.open_in_slot("in", "plan", "a", &one()).unwrap();
    drop(ledger);
    for to in [r#""part":"b","#, ""] {
        let copy = Place::sqlite();
        std::fs::copy(place.file(), copy.file()).unwrap();
        let problem = forged(&copy, r#""part":"a","#, to);
        assert!(problem.contains("about another part of the data than its slot"), "{problem}");
    }
    let mut ledger = place.open();
    let asked = described(&about(Some("a"), "0.1"));
    ledger.reserve(&Request::new("in", "k", &asked)).unwrap();
    drop(ledger);
    let problem = forged(&place, r#""partition":"a""#, r#""partition":"b""#);
    assert!(problem.contains("the account is about"), "{problem}");
}

#[test]
fn several_releases_run_together_in_one_opening() {
    for place in Place::all() {
        let mut ledger = with_plan(&place);
        let quarter = r#"{"mechanism":"laplace","scale":4}"#;
        let three = format!("{quarter},{quarter},{quarter}");
        uncovered(ledger.reserve(&Request::new("plan", "x", &runs("pay", 1, &three))));
        let two = runs("pay", 1, &format!("{quarter},{quarter}"));
        assert_eq!(
            ledger.reserve(&Request::new("plan", "x", &two)).unwrap().charge.unwrap().main,
            amount("1")
        );
        let counted = runs("pay", 1, r#"{"mechanism":"laplace","scale":4,"count":2}"#);
        ledger.reserve(&Request::new("plan", "y", &counted)).unwrap();
        assert_eq!(used(&mut ledger, "pay"), (2, 2));
        assert_sound(&mut ledger);
    }
}

/// A Rényi curve bounds no leak of probability, however small the curve.
#[test]
fn a_slot_known_by_a_curve_covers_no_leak() {
    for place in Place::all() {
        for (curve, leak) in [("0.5", "0.38"), ("0.001", "0.01")] {
            for slot in [
                format!(r#""mechanism":"zcdp","rho":{curve}"#),
                format!(r#""mechanism":"tcdp","rho":{curve},"omega":100"#),
                format!(r#""mechanism":"rdp","orders":[2,32],"epsilons":[{curve},{curve}]"#),
            ] {
                let Some(place) = place.another() else { return };
                let mut ledger = Ledger::init(&place.url()).unwrap();
                ledger
                    .add_dataset("d", add_remove(), &budget(FilterKind::Sums, "99", "0.1"))
                    .unwrap();
                let slots =
                    format!(r#"{{"delta":1e-6,"release":[{{"name":"s",{slot},"count":9}}]}}"#);
                ledger.open_account("plan", "d", &NewAccount::Plan(plan(&slots), None)).unwrap();
                let head = ledger.head().unwrap();
                let shame = format!(r#"{{"mechanism":"name-and-shame","delta":{leak}}}"#);
                let asked = runs("s", 1, &shame);
                uncovered(ledger.reserve(&Request::new("plan", "k", &asked)));
                let sums = budget(FilterKind::Sums, "0", leak);
                uncovered(ledger.open_in_slot("in", "plan", "s", &sums));
                let into = plan(&format!(
                    r#"{{"release":[{{"mechanism":"approx-dp","epsilon":0.01,"delta":{leak}}}]}}"#
                ));
                uncovered(ledger.recut("plan", &openings(&[("s", 1)]), &into));
                assert_eq!(ledger.head().unwrap(), head);
            }
        }
    }
}

/// A sample of a fixed size has any of a person's records: its charge is for one.
#[test]
fn samples_of_a_fixed_size_are_refused_where_people_have_several_records() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        let subset = r#"{"mechanism":"gaussian-subset","sigma":2,"share":0.001}"#;
        let alone = format!(r#"{{"delta":1e-6,"adjacency":"replace","release":[{subset}]}}"#);
        let slot = r#"{"delta":1e-3,"adjacency":"replace","release":[
            {"name":"s","mechanism":"approx-dp","epsilon":0.2,"delta":1e-4}]}"#;
        for records in [1, 2, 5] {
            let relation = Relation::new(Adjacency::Replace, records).unwrap();
            let name = format!("data{records}");
            ledger.add_dataset(&name, relation, &budget(FilterKind::Sums, "9", "0.5")).unwrap();
            let mut open = |account: &str, text: &str| {
                let new = NewAccount::Plan(plan(text), None);
                ledger.open_account(&format!("{account}{records}"), &name, &new)
            };
            let outcome = open("alone", &alone);
            assert_eq!(outcome.is_ok(), records == 1, "{outcome:?}");
            if let Err(error) = outcome {
                assert!(error.to_string().starts_with("share is given"), "{error}");
            }
            open("slot", slot).unwrap();
            // Nor by a run in the place of a guarantee.
            let ReleaseRequest::Described(run) = described(subset) else { panic!() };
            let asked = ReleaseRequest::Slot { name: "s".to_owned(), count: 1, run };
            let account = format!("slot{records}");
            let outcome = ledger.reserve(&Request::new(&account, "k", &asked));
            assert_eq!(outcome.is_ok(), records == 1, "{outcome:?}");
        }
        assert_sound(&mut ledger);
    }
}

/// A person with several records may be in several parts, and in a sample by any of them.
#[test]
fn parts_and_samples_are_refused_where_people_have_several_records() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        let (one, ten) = (
            Relation::new(Adjacency::AddRemove, 1).unwrap(),
            Relation::new(Adjacency::AddRemove, 10).unwrap(),
        );
        ledger.add_dataset("one", one, &budget(FilterKind::Sums, "5", "0.5")).unwrap();
        ledger.add_dataset("ten", ten, &budget(FilterKind::Sums, "5", "0.5")).unwrap();
        let parts = r#"{"delta":0,"release":[
            {"mechanism":"approx-dp","epsilon":1,"partition":"a"},
            {"mechanism":"approx-dp","epsilon":1,"partition":"b"}]}"#;
        let rate = r#"{"mechanism":"approx-dp","epsilon":1,"rate":0.01}"#;
        let sampled = format!(r#"{{"delta":0,"release":[{rate}]}}"#);
        let whole = r#"{"delta":0,"release":[{"name":"w","mechanism":"approx-dp","epsilon":1}]}"#;
        for dataset in ["one", "ten"] {
            for (index, text) in [parts, sampled.as_str(), whole].into_iter().enumerate() {
                let new = NewAccount::Plan(plan(text), None);
                let outcome = ledger.open_account(&format!("{dataset}{index}"), dataset, &new);
                assert_eq!(outcome.is_ok(), dataset == "one" || index == 2, "{dataset} {text}");
            }
            let open = NewAccount::Filter(budget(FilterKind::Sums, "1", "0"));
            ledger.open_account(&format!("{dataset}-open"), dataset, &open).unwrap();
            let account = format!("{dataset}-open");
            for (key, text) in
                [("p", r#"{"mechanism":"laplace","scale":9,"partition":"a"}"#), ("r", rate)]
            {
                let asked = described(text);
                let outcome = ledger.reserve(&Request::new(&account, key, &asked));
                assert_eq!(outcome.is_ok(), dataset == "one", "{dataset} {text}");
            }
            // Nor by a run, or by cutting anew.
            let account = format!("{dataset}2");
            let into =
                r#"{"release":[{"name":"r","mechanism":"approx-dp","epsilon":1,"rate":0.5}]}"#;
            let openings = [Openings { slot: "w".to_owned(), count: 1 }];
            let outcome = ledger.recut(&account, &openings, &plan(into));
            assert_eq!(outcome.is_ok(), dataset == "one", "{dataset}: {outcome:?}");
        }
        assert_sound(&mut ledger);
    }
}

/// A slot of several releases that are made together: each opening runs all of them, and nothing that is a hundredth more.
#[test]
fn a_slot_may_consist_of_several_releases() {
    const TOGETHER: &str = r#"{"delta": 1e-6, "release": [
        {"name": "mean", "mechanism": "geometric", "scale": 20, "count": 3,
         "also": [{"mechanism": "laplace", "scale": 300, "sensitivity": 20}]},
        {"name": "regions", "mechanism": "discrete-gaussian", "sigma": 10,
         "also": [{"mechanism": "discrete-gaussian", "sigma": 10}]}]}"#;
    const ONE_BY_ONE: &str = r#"{"delta": 1e-6, "release": [
        {"name": "a", "mechanism": "geometric", "scale": 20, "count": 3},
        {"name": "b", "mechanism": "laplace", "scale": 300, "sensitivity": 20, "count": 3},
        {"name": "c", "mechanism": "discrete-gaussian", "sigma": 10, "count": 2}]}"#;
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
        ledger.open_account("plan", "d", &NewAccount::Plan(plan(TOGETHER), None)).unwrap();
        ledger.open_account("same", "d", &NewAccount::Plan(plan(ONE_BY_ONE), None)).unwrap();
        // What is made together costs what it costs one by one.
        let promise = |ledger: &mut Ledger, account: &str| {
            ledger.status(Some(account)).unwrap().accounts.remove(0).promise
        };
        assert_eq!(promise(&mut ledger, "plan"), promise(&mut ledger, "same"));
        let run = |name: &str, count: u64, list: &[&str]| {
            let one = |text: &&str| match described(text) {
                ReleaseRequest::Described(run) => run,
                other => panic!("{other:?}"),
            };
            let run = list.iter().flat_map(one).collect();
            ReleaseRequest::Slot { name: name.to_owned(), count, run }
        };
        let (count, sum) = (
            r#"{"mechanism":"geometric","scale":20}"#,
            r#"{"mechanism":"laplace","scale":600,"sensitivity":40}"#,
        );
        let two = r#"{"mechanism":"discrete-gaussian","sigma":10,"count":2}"#;
        for (key, asked) in [
            ("a", run("mean", 1, &[count, sum])),
            ("b", run("mean", 1, &[sum])),
            ("c", run("regions", 1, &[two])),
        ] {
            ledger.reserve(&Request::new("plan", key, &asked)).unwrap();
        }
        assert_eq!((used(&mut ledger, "mean"), used(&mut ledger, "regions")), ((2, 3), (1, 1)));
        let more = r#"{"mechanism":"laplace","scale":594,"sensitivity":40}"#;
        let noise = r#"{"mechanism":"geometric","scale":19.8}"#;
        for list in [&[count, more][..], &[noise, sum], &[count, sum, sum], &[count; 3]] {
            uncovered(ledger.reserve(&Request::new("plan", "x", &run("mean", 1, list))));
        }
        refused(ledger.reserve(&Request::new("plan", "x", &run("regions", 1, &[two]))));
        // No account is opened in it, and it is cut anew as a whole.
        let filter = budget(FilterKind::Sums, "0.01", "0");
        let error = ledger.open_in_slot("within", "plan", "mean", &filter).unwrap_err();
        assert!(error.to_string().contains("several releases in the slot"), "{error}");
        let into = r#"{"release": [{"name": "new", "mechanism": "geometric", "scale": 20},
            {"name": "sum", "mechanism": "laplace", "scale": 300, "sensitivity": 20}]}"#;
        ledger.recut("plan", &openings(&[("mean", 1)]), &plan(into)).unwrap();
        assert_eq!(used(&mut ledger, "mean"), (3, 3));
        assert_sound(&mut ledger);
        // A described release is one.
        let asked = plan(TOGETHER).releases;
        let error = ledger
            .reserve(&Request::new("plan", "y", &ReleaseRequest::Described(asked)))
            .unwrap_err();
        assert!(!matches!(error, LedgerError::Refused(_)), "{error}");
    }
}

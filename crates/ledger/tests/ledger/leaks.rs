//! Accounts for releases without deltas of their own: all of delta is there for what is added up, and one that leaks
//! is refused, now, after reopening, and in a history that somebody made up.

use std::cell::RefCell;

use counterpoint_ledger::{FilterKind, Ledger, NewAccount, Request};

use crate::tamper::forge_last;
use crate::{Place, add_remove, amount, assert_sound, budget, described, refused};

fn with_account(place: &Place, kind: FilterKind) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
    let account = NewAccount::Filter(budget(kind, "1", "1e-6").without_leaks());
    ledger.open_account("a", "d", &account).unwrap();
    ledger
}

const LEAKS: [&str; 3] = [
    r#"{"mechanism":"approx-dp","epsilon":0.01,"delta":1e-30}"#,
    r#"{"mechanism":"name-and-shame","delta":1e-12}"#,
    r#"{"mechanism":"approx-dp","epsilon":0,"delta":1e-9}"#,
];
const NONE: [&str; 3] = [
    r#"{"mechanism":"gaussian","sigma":40}"#,
    r#"{"mechanism":"laplace","scale":50}"#,
    r#"{"mechanism":"approx-dp","epsilon":0.01}"#,
];

#[test]
fn what_leaks_is_refused_and_told_what_would_help() {
    for (kind, place) in [FilterKind::Renyi, FilterKind::Zcdp]
        .into_iter()
        .flat_map(|kind| Place::all().map(move |place| (kind, place)))
    {
        let mut ledger = with_account(&place, kind);
        for (number, text) in NONE.into_iter().enumerate() {
            let key = format!("none {number}").replace(' ', "-");
            ledger.reserve(&Request::new("a", &key, &described(text))).unwrap();
        }
        for again in 0..2 {
            for text in LEAKS {
                let asked = described(text);
                let refusal = refused(ledger.reserve(&Request::new("a", "leak", &asked)));
                let problem = "of delta is asked for and 0 is left of 0; legal: at most what is left; one of these still \
                               fits: a pure release of epsilon ";
                let remedy = "; try releases without a delta of their own, or an account that sets some of its delta aside for \
                              them";
                assert!(
                    refusal.contains(problem) && refusal.contains(remedy),
                    "{again}: {refusal}"
                );
                let price = ledger.price(&Request::new("a", "leak", &asked)).unwrap();
                assert_eq!(price.refusal.map(|refusal| refusal.to_string()), Some(refusal));
            }
            assert_sound(&mut ledger);
            // Another process, later.
            drop(ledger);
            ledger = place.open();
        }
        let status = &ledger.status(Some("a")).unwrap().accounts[0];
        assert!(status.capacity.delta.is_zero() && status.spent.delta.is_zero());
        assert_eq!(status.charges, 3);
    }
}

/// Canonne, Kamath and Steinke 2020, Proposition 12, solved for the divergence.
fn divergence(epsilon: f64, delta: f64, order: f64) -> f64 {
    epsilon - (1.0 / (order * delta)).ln() / (order - 1.0) - (-1.0 / order).ln_1p()
}

#[test]
fn all_of_delta_is_there_for_divergences() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, FilterKind::Renyi);
    let half = NewAccount::Filter(budget(FilterKind::Renyi, "1", "1e-6"));
    ledger.open_account("half", "d", &half).unwrap();
    let mut told = |name: &str| {
        let status = ledger.status(Some(name)).unwrap().accounts.remove(0);
        (status.order.unwrap().lower(), status.capacity.main.lower())
    };
    for (name, delta) in [("a", 1e-6), ("half", 5e-7)] {
        let (order, main) = told(name);
        let truth = divergence(1.0, delta, order);
        assert!((main / truth - 1.0).abs() < 1e-9, "{name}: {main} {truth}");
        // No more than the delta that is left allows, to a hundredth of it.
        assert!(main < divergence(1.0, 1.01 * delta, order), "{name}: {main}");
        // At the order at which most small releases fit.
        for other in [0.98 * order, 1.02 * order] {
            assert!(main / order >= divergence(1.0, delta, other) / other, "{name}: {order}");
        }
    }
    let ((order, main), (half_order, half)) = (told("a"), told("half"));
    assert!(main / order > 1.02 * half / half_order, "{main} {half}");
}

#[test]
fn a_history_in_which_something_leaked_is_found() {
    // How an account that sets delta aside writes a leak.
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
    let half = NewAccount::Filter(budget(FilterKind::Zcdp, "1", "1e-6"));
    ledger.open_account("a", "d", &half).unwrap();
    ledger.reserve(&Request::new("a", "k", &described(LEAKS[2]))).unwrap();
    drop(ledger);
    let written = RefCell::new(String::new());
    forge_last(&place, &|body| {
        body.clone_into(&mut written.borrow_mut());
        format!("{body} ")
    });
    // The same in one that does not: at its price, and for no delta.
    let leaked = |change: &dyn Fn(&str) -> String| {
        let place = Place::sqlite();
        let mut ledger = with_account(&place, FilterKind::Zcdp);
        ledger.reserve(&Request::new("a", "k", &described(NONE[2]))).unwrap();
        assert_sound(&mut ledger);
        drop(ledger);
        forge_last(&place, &|_| change(&written.borrow()))
    };
    let problem = leaked(&str::to_owned);
    assert!(problem.contains("of delta is asked for and 0 is left of 0"), "{problem}");
    let problem = leaked(&|body| {
        let at = body.find(r#""charge":{"#).unwrap();
        let (before, after) = body.split_at(at);
        let free = after.replace("0.000000001", "0");
        assert_ne!(free, after);
        format!("{before}{free}")
    });
    assert!(problem.contains("charge"), "{problem}");
    // An account that has all of delta for what is added up, and some of it for leaks.
    for kind in [FilterKind::Zcdp, FilterKind::Renyi] {
        let place = Place::sqlite();
        drop(with_account(&place, kind));
        let problem = forge_last(&place, &|body| {
            let at = body.find(r#""capacity":{"#).unwrap();
            let (before, after) = body.split_at(at);
            format!("{before}{}", after.replacen(r#""delta":"0""#, r#""delta":"0.00000001""#, 1))
        });
        assert!(problem.contains("more to spend") || problem.contains("promise"), "{problem}");
    }
}

#[test]
fn leaks_are_for_what_is_converted() {
    let place = Place::sqlite();
    let mut ledger = with_account(&place, FilterKind::Renyi);
    for kind in [FilterKind::Sums, FilterKind::Gdp] {
        let account = NewAccount::Filter(budget(kind, "1", "1e-6").without_leaks());
        let error = ledger.open_account("b", "d", &account).unwrap_err().to_string();
        let expected = format!(
            "of kind {} cannot set delta aside for leaks; legal: leaks with renyi",
            kind.name()
        );
        assert!(error.contains(&expected), "{error}");
    }
    let mut all = budget(FilterKind::Renyi, "1", "1e-6");
    all.leaks = Some(amount("1e-6"));
    let error = ledger.open_account("b", "d", &NewAccount::Filter(all)).unwrap_err().to_string();
    assert!(
        error.contains("leaks is 0.000001; legal: from 0 up to but not including delta"),
        "{error}"
    );
}

//! Balances that people understand: what is said to fit is admitted, and a little more is not.

use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewQuota, Pool, Request};
use counterpoint_wire::ledger::{Headroom, PromiseRecord};

use crate::{Place, add_remove, amount, assert_sound, budget, described, refused, release};
use counterpoint_ledger::{LedgerError, NewFilter, OpenOptions, Refusal};

/// A ledger with one account of a kind.
fn with(place: &Place, filter: NewFilter) -> Ledger {
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", add_remove(), &budget(FilterKind::Sums, "9", "0.001")).unwrap();
    ledger.open_account("account", "data", &NewAccount::Filter(filter)).unwrap();
    ledger
}

fn room(ledger: &mut Ledger) -> Headroom {
    ledger.room("account", None).unwrap().unwrap()
}

fn refusal<T: std::fmt::Debug>(outcome: Result<T, LedgerError>) -> Refusal {
    match outcome {
        Err(LedgerError::Refused(refusal)) => *refusal,
        other => panic!("not refused: {other:?}"),
    }
}

/// Whether a release would be made.
fn fits(ledger: &mut Ledger, text: &str) -> bool {
    let asked = described(text);
    ledger.price(&Request::new("account", "", &asked)).unwrap().refusal.is_none()
}

/// One percent more of something that fits.
fn more(text: &str) -> String {
    (&amount(text) * &amount("1.01")).to_string()
}

fn less(text: &str) -> String {
    (&amount(text) * &amount("0.99")).to_string()
}

/// What is told fits, and one percent more does not.
fn check(ledger: &mut Ledger) -> Headroom {
    let room = room(ledger);
    if let Some(epsilon) = &room.pure {
        let pure = |epsilon: &str| format!(r#"{{"mechanism":"approx-dp","epsilon":{epsilon}}}"#);
        assert!(fits(ledger, &pure(&epsilon.to_string())), "{room:?}");
        assert!(!fits(ledger, &pure(&more(&epsilon.to_string()))), "{room:?}");
    }
    if let Some(gaussian) = &room.gaussian {
        let noise = |sigma: &str| format!(r#"{{"mechanism":"gaussian","sigma":{sigma}}}"#);
        assert!(fits(ledger, &noise(&gaussian.sigma.to_string())), "{room:?}");
        assert!(!fits(ledger, &noise(&less(&gaussian.sigma.to_string()))), "{room:?}");
        if let (Some(epsilon), Some(delta)) = (&gaussian.epsilon, &gaussian.delta) {
            let noise = |epsilon: &str| {
                format!(r#"{{"mechanism":"gaussian","epsilon":{epsilon},"delta":{delta}}}"#)
            };
            assert!(fits(ledger, &noise(&epsilon.to_string())), "{room:?}");
            assert!(!fits(ledger, &noise(&more(&epsilon.to_string()))), "{room:?}");
        }
    }
    if let Some(sampled) = &room.sampled {
        let (rate, sigma, steps) = (&sampled.rate, sampled.sigma.to_string(), sampled.steps);
        let training = |sigma: &str| {
            format!(r#"{{"mechanism":"gaussian","sigma":{sigma},"rate":{rate},"count":{steps}}}"#)
        };
        assert!(fits(ledger, &training(&sigma)), "{room:?}");
        assert!(!fits(ledger, &training(&less(&sigma))), "{room:?}");
    }
    room
}

#[test]
fn what_is_told_fits_and_one_percent_more_does_not() {
    let promises = [
        budget(FilterKind::Sums, "1", "1e-6"),
        budget(FilterKind::Renyi, "2", "1e-6"),
        budget(FilterKind::Renyi, "0.5", "1e-9").without_leaks(),
        budget(FilterKind::Zcdp, "2", "1e-6"),
        budget(FilterKind::Gdp, "2", "1e-6"),
    ];
    for filter in promises {
        for place in Place::all() {
            let mut ledger = with(&place, filter.clone());
            let full = check(&mut ledger);
            assert!(full.pure.is_some(), "{full:?}");
            assert_eq!(full.gaussian.is_some(), filter.kind != FilterKind::Sums, "{full:?}");
            assert_eq!(full.sampled.is_some(), filter.kind == FilterKind::Renyi, "{full:?}");
            let tenth = release("0.1");
            ledger.reserve(&Request::new("account", "a", &tenth)).unwrap();
            let left = check(&mut ledger);
            assert!(left.pure < full.pure, "{left:?}");
            // All of it: nothing is left but what is too small to tell.
            let all = release(&left.pure.unwrap().to_string());
            ledger.reserve(&Request::new("account", "b", &all)).unwrap();
            check(&mut ledger);
            assert_sound(&mut ledger);
        }
    }
}

/// An account that promises a curve has no epsilon; an exact balance is told exactly.
#[test]
fn curves_and_sums_are_told_in_their_own_terms() {
    let place = Place::sqlite();
    let mut ledger = with(&place, budget(FilterKind::Sums, "0.3", "0"));
    ledger.reserve(&Request::new("account", "a", &release("0.1"))).unwrap();
    assert_eq!(room(&mut ledger).pure, Some(amount("0.2")));
    let place = Place::sqlite();
    let mut ledger = Ledger::init(&place.url()).unwrap();
    ledger.add_dataset("data", add_remove(), &budget(FilterKind::Zcdp, "3", "1e-6")).unwrap();
    let rho = PromiseRecord::Zcdp { rho: amount("0.02"), delta: amount("0") };
    let curve = NewAccount::Filter(NewFilter::with_promise(FilterKind::Zcdp, rho));
    ledger.open_account("account", "data", &curve).unwrap();
    let gaussian = check(&mut ledger).gaussian.unwrap();
    // rho = 1/(2 sigma^2).
    assert_eq!((gaussian.sigma, gaussian.epsilon), (amount("5"), None));
    assert_eq!(ledger.room("data", None).unwrap(), None);
    ledger.close("account").unwrap();
    assert_eq!(ledger.room("account", None).unwrap(), None);
}

/// The divergence of pure releases may be above what there is of it, and 0 left, while more fits; and four of them lock
/// every Gaussian out. Both are told.
#[test]
fn four_laplace_releases_lock_out_gaussians_and_status_tells() {
    let place = Place::sqlite();
    let mut ledger = with(&place, budget(FilterKind::Renyi, "1", "1e-6"));
    let laplace = described(r#"{"mechanism":"laplace","scale":5}"#);
    for key in ["a", "b", "c", "d"] {
        ledger.reserve(&Request::new("account", key, &laplace)).unwrap();
    }
    let status = ledger.status(Some("account")).unwrap().accounts.remove(0);
    assert!(status.spent.main > status.capacity.main, "{status:?}");
    let left = check(&mut ledger);
    assert_eq!((left.pure, left.gaussian, left.sampled), (Some(amount("0.2")), None, None));
    let gaussian = described(r#"{"mechanism":"gaussian","sigma":1000}"#);
    let refusal = refusal(ledger.reserve(&Request::new("account", "e", &gaussian)));
    let order = status.order.unwrap().upper();
    assert_eq!(refusal.what, format!("Rényi divergence at order {order}"));
    assert_eq!(refusal.noise, None);
    let text = refusal.to_string();
    assert!(
        text.contains("; one of these still fits: a pure release of epsilon 0.2; try"),
        "{text}"
    );
    ledger.reserve(&Request::new("account", "e", &release("0.2"))).unwrap();
    let text = refused(ledger.reserve(&Request::new("account", "f", &release("1e-13"))));
    assert!(text.contains("; nothing more fits; try"), "{text}");
}

/// A refusal tells how much more noise makes what was asked for fit.
#[test]
fn refusals_tell_what_of_the_same_kind_fits() {
    for place in Place::all() {
        let mut ledger = with(&place, budget(FilterKind::Renyi, "1", "1e-6"));
        let noise = |factor: &str| {
            let sigma = &amount("1.5") * &amount(factor);
            let scale = &amount("2") * &amount(factor);
            let text = format!(
                r#"{{"mechanism":"gaussian","sigma":{sigma}}},{{"mechanism":"laplace","scale":{scale}}}"#
            );
            described(&text)
        };
        let refusal = refusal(ledger.reserve(&Request::new("account", "a", &noise("1"))));
        let factor = refusal.noise.clone().unwrap();
        let text = refusal.to_string();
        assert!(
            text.contains(&format!("the same with {factor} times the noise, a pure")),
            "{text}"
        );
        refused(ledger.reserve(&Request::new("account", "a", &noise(&less(&factor.to_string())))));
        let enough = noise(&factor.to_string());
        ledger.reserve(&Request::new("account", "a", &enough)).unwrap();
        // Through a pool, too.
        let pool = Pool::new(&place.url(), &OpenOptions::default(), 2).unwrap();
        let much = release("0.9");
        let refusal = self::refusal(pool.reserve(&Request::new("account", "b", &much)));
        let factor = refusal.noise.unwrap();
        let part = amount("0.9").div_down(&factor).unwrap();
        pool.reserve(&Request::new("account", "b", &release(&part.to_string()))).unwrap();
        assert_sound(&mut ledger);
    }
}

/// A quota that binds is named, and what fits fits it too.
#[test]
fn quotas_bind_and_what_fits_fits_them() {
    let place = Place::sqlite();
    let mut ledger = with(&place, budget(FilterKind::Renyi, "1", "1e-6"));
    for (who, share) in [("ann", "0.25"), ("bob", "0.75")] {
        ledger.add_quota("account", who, &NewQuota::Share(amount(share))).unwrap();
    }
    let much = release("0.8");
    let by = |analyst| Request { analyst: Some(analyst), ..Request::new("account", "a", &much) };
    let refusal = refusal(ledger.reserve(&by("ann")));
    assert_eq!(refusal.place, "the quota of \"ann\" in account \"account\"");
    assert!(refusal.what.starts_with("Rényi divergence at order "), "{refusal}");
    let mine = ledger.room("account", Some("ann")).unwrap().unwrap();
    assert_eq!(refusal.room.unwrap().pure, mine.pure);
    let theirs = ledger.room("account", Some("bob")).unwrap().unwrap();
    assert!(mine.pure < theirs.pure && ledger.room("account", Some("cleo")).unwrap().is_none());
    let fits = release(&mine.pure.unwrap().to_string());
    let request = Request { analyst: Some("ann"), ..Request::new("account", "a", &fits) };
    ledger.reserve(&request).unwrap();
}

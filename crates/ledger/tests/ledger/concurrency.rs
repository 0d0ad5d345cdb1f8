//! Sixty-four clients, and a budget for exactly n of them.

use std::io::Write;
use std::sync::Barrier;

use counterpoint_ledger::{FilterKind, Ledger, LedgerError, NewAccount, Request};

use crate::child::{Running, start};
use crate::{Place, Random, amount, assert_sound, budget, release, replace, size, with_account};

const CLIENTS: u64 = 64;

/// How many releases a seed's budget allows, and the budget.
fn budget_for(seed: u64) -> (u64, String) {
    let n = 1 + Random::new(seed).below(24);
    (n, amount("0.1").times(n).to_string())
}

/// Exactly n were admitted, no more and no fewer, and the ledger knows.
fn check(place: &Place, n: u64, admitted: u64) {
    assert_eq!(admitted, n);
    let mut ledger = place.open();
    let status = ledger.status(Some("account")).unwrap().accounts.remove(0);
    assert_eq!((status.charges, status.spent.main), (n, status.capacity.main));
    assert_sound(&mut ledger);
}

fn threads(place: &Place, seed: u64) {
    let (n, budget) = budget_for(seed);
    drop(with_account(place, &budget));
    let barrier = Barrier::new(CLIENTS as usize);
    let client = |index: u64| {
        let mut ledger = place.open();
        let (key, tenth) = (format!("client-{index}"), release("0.1"));
        barrier.wait();
        match ledger.reserve(&Request::new("account", &key, &tenth)) {
            Ok(_) => {
                ledger.commit("account", &key, b"answer").unwrap();
                1
            }
            Err(LedgerError::Refused(_)) => 0,
            Err(error) => panic!("{error}"),
        }
    };
    let admitted = std::thread::scope(|scope| {
        let handles: Vec<_> =
            (0..CLIENTS).map(|index| scope.spawn(move || client(index))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).sum()
    });
    check(place, n, admitted);
}

/// Full: 200 seeds. Quick: 3.
#[test]
fn threads_on_sqlite() {
    (0..size(200, 3)).for_each(|seed| threads(&Place::sqlite(), seed));
}

/// Full: 200 seeds. Quick: 3.
#[test]
fn threads_on_postgres() {
    for seed in 0..size(200, 3) {
        let Some(place) = Place::postgres() else { return };
        threads(&place, seed);
    }
}

/// Full: 200 seeds. Quick: 1.
#[test]
fn processes_on_sqlite() {
    (0..size(200, 1)).for_each(|seed| processes(&Place::sqlite(), 1000 + seed));
}

/// Full: 200 seeds. Quick: 1.
#[test]
fn processes_on_postgres() {
    for seed in 0..size(200, 1) {
        let Some(place) = Place::postgres() else { return };
        processes(&place, 1000 + seed);
    }
}

fn processes(place: &Place, seed: u64) {
    let (n, budget) = budget_for(seed);
    drop(with_account(place, &budget));
    let mut clients: Vec<Running> = (0..CLIENTS)
        .map(|index| start(&["once", &place.url, &format!("client-{index}")], None))
        .collect();
    for client in &mut clients {
        assert_eq!(client.said().as_deref(), Some("ready"));
    }
    for client in &mut clients {
        client.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut admitted = 0;
    for client in &mut clients {
        match client.said().as_deref() {
            Some("yes true") => admitted += 1,
            Some("no") => {}
            other => panic!("{other:?}"),
        }
    }
    check(place, n, admitted);
}

/// Accounts opened all at once, and a data set's budget for exactly n of them. Full: 50 seeds.
/// Quick: 2.
#[test]
fn accounts_that_are_opened_all_at_once() {
    for seed in 0..size(50, 2) {
        for place in Place::all() {
            let n = 1 + Random::new(seed).below(12);
            let mut ledger = Ledger::init(&place.url()).unwrap();
            let most = amount("0.1").times(n).to_string();
            ledger.add_dataset("data", replace(), &budget(FilterKind::Sums, &most, "0")).unwrap();
            let barrier = Barrier::new(16);
            let client = |index: u64| {
                let mut ledger = place.open();
                let account = NewAccount::Filter(budget(FilterKind::Sums, "0.1", "0"));
                barrier.wait();
                match ledger.open_account(&format!("account-{index}"), "data", &account) {
                    Ok(_) => 1,
                    Err(LedgerError::Refused(_)) => 0,
                    Err(error) => panic!("{error}"),
                }
            };
            let opened: u64 = std::thread::scope(|scope| {
                let client = &client;
                let handles: Vec<_> =
                    (0..16).map(|index| scope.spawn(move || client(index))).collect();
                handles.into_iter().map(|handle| handle.join().unwrap()).sum()
            });
            assert_eq!(opened, n);
            assert_sound(&mut ledger);
        }
    }
}

/// Clients that all use one key are charged once and show one response. Full: 50 seeds.
/// Quick: 2.
#[test]
fn one_key_for_all() {
    for seed in 0..size(50, 2) {
        for place in Place::all() {
            drop(with_account(&place, "0.1"));
            let client = |index: u64| {
                let mut ledger = place.open();
                let tenth = release("0.1");
                let reserved = ledger.reserve(&Request::new("account", "key", &tenth)).unwrap();
                let own = format!("draw {seed} of {index}");
                match reserved.response {
                    Some(response) => response,
                    None => ledger.commit("account", "key", own.as_bytes()).unwrap().response,
                }
            };
            let shown: Vec<Vec<u8>> = std::thread::scope(|scope| {
                let client = &client;
                let handles: Vec<_> =
                    (0..16).map(|index| scope.spawn(move || client(index))).collect();
                handles.into_iter().map(|handle| handle.join().unwrap()).collect()
            });
            assert!(shown.iter().all(|response| *response == shown[0]));
            assert_eq!(place.open().head().unwrap().sequence, 5);
        }
    }
}

/// Many who make one ledger at once: one makes it, and the others find it. Full: 300 rounds. Quick: 30.
#[test]
fn one_ledger_is_made_by_many_at_once() {
    for _ in 0..size(300, 30) {
        for place in Place::all() {
            let barrier = Barrier::new(8);
            let init = || {
                barrier.wait();
                match Ledger::init(&place.url()) {
                    Ok(_) => true,
                    Err(LedgerError::Initialised) => false,
                    Err(error) => panic!("{error}"),
                }
            };
            let made = std::thread::scope(|scope| {
                let handles: Vec<_> = (0..8).map(|_| scope.spawn(init)).collect();
                handles
                    .into_iter()
                    .map(|handle| handle.join().unwrap())
                    .filter(|made| *made)
                    .count()
            });
            assert_eq!(made, 1);
            drop(place.open());
        }
    }
}

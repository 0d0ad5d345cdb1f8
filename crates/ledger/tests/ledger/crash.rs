//! kill -9 at every point of a release.

use std::collections::BTreeMap;

use counterpoint_ledger::{Head, Ledger, Request};
use counterpoint_testing::{cluster, has_own_server, on_own_server};
use counterpoint_wire::ledger::Event;

use crate::child::{POINTS, SESSION_POINTS, THREADS, hex, said_around, start};
use crate::sessions::{ASKS, play};
use crate::{Place, Random, amount, release, size, with_account};

/// Full: 200 seeds at each point. Quick: 1.
#[test]
fn killed_at_any_point_on_sqlite() {
    killed_at_any_point(Place::sqlite);
}

#[test]
fn killed_at_any_point_on_postgres() {
    if Place::postgres().is_some() {
        killed_at_any_point(|| Place::postgres().unwrap());
    }
}

fn killed_at_any_point(place: impl Fn() -> Place) {
    for seed in 0..size(200, 1) {
        let place = place();
        drop(with_account(&place, "1000"));
        for (index, point) in POINTS.split(", ").enumerate() {
            let key = format!("key-{index}");
            let noise = format!("{:x}", Random::new(seed * 1000 + index as u64).bits());
            let said = killed(&["release", &place.url, &key, point, &noise], point);
            check(&place, &key, &said, index as u64 + 1, point);
        }
    }
}

/// What a child said before it was killed at a point.
fn killed(orders: &[&str], point: &str) -> Vec<String> {
    let mut child = start(orders, None);
    let mut said = Vec::new();
    loop {
        let line = child.said().unwrap_or_else(|| panic!("{point}: never reached"));
        if line == format!("at {point}") {
            child.kill();
            return said;
        }
        said.push(line);
    }
}

/// Full: 200 seeds at each point of a session. Quick: 1.
#[test]
fn sessions_killed_at_any_point_on_sqlite() {
    sessions_killed_at_any_point(Place::sqlite);
}

#[test]
fn sessions_killed_at_any_point_on_postgres() {
    if Place::postgres().is_some() {
        sessions_killed_at_any_point(|| Place::postgres().unwrap());
    }
}

fn sessions_killed_at_any_point(place: impl Fn() -> Place) {
    for seed in 0..size(200, 1) {
        let place = place();
        drop(with_account(&place, "1000"));
        for (index, point) in SESSION_POINTS.split(", ").enumerate() {
            let (key, draw) = (format!("key-{index}"), (seed * 1000 + index as u64).to_string());
            let said = killed(&["session", &place.url, &key, point, &draw], point);
            check_session(&place, &key, &said, index as u64 + 1, point);
        }
    }
}

/// What must hold of a session after a crash, before and after a retry.
fn check_session(place: &Place, key: &str, said: &[String], sessions: u64, point: &str) {
    let mut ledger = place.open();
    let told = |name: &str| said.iter().filter_map(move |line| line.strip_prefix(name)).next_back();
    let heads = ["stored ", "begun ", "reserved "].into_iter().find_map(told);
    let acknowledged: Option<Head> = heads.map(|head| head.parse().unwrap());
    assert_eq!(ledger.verify(acknowledged).unwrap().problem, None, "{point}");
    let shown: Vec<(&str, &str)> =
        said.iter().filter_map(|line| line.strip_prefix("shown ")?.split_once(' ')).collect();
    for (ask, bytes) in &shown {
        let stored = ledger.stored_answer("account", key, ask).unwrap().unwrap();
        assert_eq!(hex(&stored.response), *bytes, "{point}");
    }
    // What the dead one stored, if it came so far, is what the next goes on from.
    let kept = match ledger.session("account", key) {
        Ok(Some(session)) => session.state.map(|state| state.bytes()[32..].to_vec()),
        _ => None,
    };
    assert!(told("begun ").is_none() || ledger.session("account", key).unwrap().is_some());
    let transcript = play(&mut ledger, key, 999_999, &mut |_, _| ());
    for (ask, bytes) in shown {
        let index = ASKS.iter().position(|known| *known == ask).unwrap();
        assert_eq!(hex(&transcript[index]), bytes, "{point}");
    }
    // One threshold for all answers, and the one that was stored: nothing was drawn again.
    assert_eq!(transcript[0][..16], transcript[1][..16], "{point}");
    if let Some(threshold) = kept {
        assert_eq!(transcript[0][..16], *hex(&threshold).as_bytes(), "{point}");
    }
    assert_eq!(play(&mut ledger, key, 7, &mut |_, _| ()), transcript, "{point}");
    let mut events = Vec::new();
    let mut note = |event: &Event| events.push(event.name());
    ledger
        .history(Some("account"), None, |entry| {
            if entry.event.key() == Some(key) {
                note(&entry.event);
            }
        })
        .unwrap();
    assert_eq!(events, ["reserve", "begin", "answer", "answer"], "{point}");
    let spent = ledger.status(Some("account")).unwrap().accounts[0].spent.main.clone();
    assert_eq!(spent, amount("0.1").times(sessions), "{point}");
    let head = ledger.head().unwrap();
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None, "{point}");
}

/// What must hold of a key after a crash, before and after a retry.
fn check(place: &Place, key: &str, said: &[String], releases: u64, point: &str) {
    let mut ledger = place.open();
    let word = |name: &str| {
        let line = said.iter().rev().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(str::to_owned)
    };
    let acknowledged = word("stored").or(word("reserved"));
    let acknowledged: Option<Head> = acknowledged.map(|head| head.parse().unwrap());
    let verification = ledger.verify(acknowledged).unwrap();
    assert_eq!(verification.problem, None, "{point}");
    let [debits, commits] = events(&mut ledger, key);
    assert!(debits <= 1 && commits <= 1, "{point}");
    // Every acknowledged debit survives; every answer shown was debited and stored.
    assert!(debits == 1 || word("reserved").is_none(), "{point}");
    assert!(commits == 1 || word("stored").is_none(), "{point}");
    let shown = word("shown");
    if let Some(shown) = &shown {
        assert_eq!(hex(&ledger.response("account", key).unwrap().unwrap()), *shown, "{point}");
    }
    // The retry.
    let tenth = release("0.1");
    let request = Request::new("account", key, &tenth);
    let reservation = ledger.reserve(&request).unwrap();
    let first = match reservation.response {
        Some(stored) => stored,
        None => ledger.commit("account", key, b"a new draw").unwrap().response,
    };
    assert!(shown.is_none_or(|shown| shown == hex(&first)), "{point}");
    assert_eq!(ledger.commit("account", key, b"and another").unwrap().response, first, "{point}");
    assert_eq!(ledger.reserve(&request).unwrap().response, Some(first), "{point}");
    assert_eq!(events(&mut ledger, key), [1, 1], "{point}");
    let spent = ledger.status(Some("account")).unwrap().accounts[0].spent.main.clone();
    assert_eq!(spent, amount("0.1").times(releases), "{point}");
    let head = ledger.head().unwrap();
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None, "{point}");
}

/// How often a key was debited and committed.
fn events(ledger: &mut Ledger, key: &str) -> [usize; 2] {
    let mut counts = [0, 0];
    let count = |entry: counterpoint_wire::ledger::HistoryEntry| match entry.event {
        Event::Reserve { key: k, .. } if k == key => counts[0] += 1,
        Event::Commit { key: k, .. } if k == key => counts[1] += 1,
        _ => {}
    };
    ledger.history(None, None, count).unwrap();
    counts
}

/// Workers that share a ledger are killed, each after a line of its own, wherever it is by then. Full: 200 seeds. Quick: 5.
#[test]
fn killed_after_any_line() {
    for (number, place) in Place::all().enumerate() {
        drop(with_account(&place, "1000000"));
        for seed in 0..size(200, 5) {
            let mut random = Random::new(seed * 2 + number as u64);
            let prefix = format!("s{seed}-");
            let readers: Vec<_> = (0..3)
                .map(|worker| {
                    let prefix = format!("{prefix}{worker}-");
                    let order = if worker == 0 { "pool" } else { "loop" };
                    let mut worker = start(&[order, &place.url, &prefix, "1000"], None);
                    // It says that it is ready, and two lines for each release.
                    let lines = 1 + random.below(40) as usize;
                    std::thread::spawn(move || {
                        let said = worker.killed_after(lines);
                        assert!(said.len() >= lines && said[0] == "ready", "{said:?}");
                        said
                    })
                })
                .collect();
            let said = readers.into_iter().flat_map(|reader| reader.join().unwrap());
            kept(&place, &said.collect::<Vec<_>>());
        }
    }
}

/// The server itself stopped in mid-flight, in a run of its own with a server of its own. Full:
/// 50 crashes. Quick: 2.
#[test]
fn the_server_is_killed() {
    on_own_server("crash::killing_the_server");
}

#[test]
#[ignore = "is started by another test"]
fn killing_the_server() {
    if !has_own_server() {
        return;
    }
    let place = Place::postgres().unwrap();
    drop(with_account(&place, "1000000"));
    for seed in 0..size(50, 2) {
        let said =
            under_load(&place.url, &format!("s{seed}-"), Random::new(seed).below(200), || {
                cluster(&["stop", "data"]);
                cluster(&["start", "data"]);
            });
        kept(&place, &said);
    }
}

/// What workers say. Something that stops them happens after so many lines, of which some are answers.
pub(crate) fn under_load(url: &str, prefix: &str, lines: u64, stops: impl FnOnce()) -> Vec<String> {
    // The pool may go on once there is a server, and does so much at most.
    let workers = [("loop", "100000000"), ("loop", "100000000"), ("pool", "100")];
    let worker = |(number, (order, most)): (usize, (&str, &str))| {
        let mut worker = start(&[order, url, &format!("{prefix}{number}-"), most], None);
        assert_eq!(worker.said().as_deref(), Some("ready"));
        worker
    };
    let workers = workers.into_iter().enumerate().map(worker).collect();
    // Each says in turn that it reserved something and that it shows the answer, but for the threads of the pool, which
    // do so one by one: of so many lines one at least is an answer.
    let lines = 3 + THREADS as usize + lines as usize;
    let said = said_around(workers, lines, stops);
    assert!(said[..lines].iter().any(|line| line.starts_with("shown ")), "{said:?}");
    assert_eq!(said.iter().filter(|line| line.starts_with("after ")).count(), 2, "{said:?}");
    said
}

/// Everything that workers were told is there.
pub(crate) fn kept(place: &Place, said: &[String]) {
    let mut ledger = place.open();
    let (mut hashes, mut keys) = (BTreeMap::new(), BTreeMap::<String, usize>::new());
    let (head, spent) = loop {
        hashes.clear();
        keys.clear();
        let head = ledger.history(None, None, |entry| {
            hashes.insert(entry.sequence, entry.hash);
            if let Event::Reserve { key, .. } = entry.event {
                *keys.entry(key).or_default() += 1;
            }
        });
        let (head, status) = (head.unwrap(), ledger.status(Some("account")).unwrap());
        if status.head == head.to_string() {
            break (head, status.accounts[0].spent.main.clone());
        }
        // What a killed client last said to a server may still be on its way.
        assert!(place.folder.is_none(), "a file is written by the living alone");
    };
    assert_eq!(ledger.verify(Some(head)).unwrap().problem, None);
    assert!(keys.values().all(|debits| *debits == 1), "a key is debited once");
    for line in said {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["reserved" | "shown", key, head, ..] = words[..] {
            let head: Head = head.parse().unwrap();
            assert_eq!(hashes.get(&head.sequence), Some(&head.hash.to_string()), "{line}");
            assert!(keys.contains_key(key), "{line}");
        }
        if let ["shown", key, _, bytes] = words[..] {
            assert_eq!(hex(&ledger.response("account", key).unwrap().unwrap()), bytes);
        }
    }
    assert_eq!(spent, amount("0.1").times(keys.len() as u64));
}

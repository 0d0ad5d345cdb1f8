//! kill -9 before every step in the database of one answer and of three sessions.

use std::collections::BTreeMap;

use counterpoint_ledger::Ledger;
use counterpoint_mechanisms::InteractiveMechanism;
use counterpoint_wire::ledger::Event;

use crate::child::{mean, run_until, sessions};
use crate::{Place, assert_sound, cost, due, relation, size, spent, with_account};

/// Full: 200 seeds, each with a ledger of its own that is killed again and again until all is
/// done, at steps that differ from seed to seed; and every single step once. Quick: every 19th
/// step, and 2 seeds.
#[test]
fn killed_at_any_step_on_sqlite() {
    killed_at_any_step(Place::sqlite);
}

#[test]
fn killed_at_any_step_on_postgres() {
    if Place::postgres().is_some() {
        killed_at_any_step(|| Place::postgres().unwrap());
    }
}

fn killed_at_any_step(place: impl Fn() -> Place) {
    let stride = size(1, 19);
    for step in (1..).step_by(stride as usize) {
        if killed_once(&place(), step) {
            break;
        }
    }
    for seed in 0..size(200, 2) {
        killed_until_done(&place(), 3 + seed % 41);
    }
}

/// Whether the child was done before it could be killed.
fn killed_once(place: &Place, step: u64) -> bool {
    drop(with_account(place, relation(), "1000"));
    let mut seen = Seen::default();
    let first = run_until(&place.url, step);
    seen.check(place, &first.lines);
    let second = run_until(&place.url, u64::MAX);
    assert!(second.is_done, "step {step}: {:?}", second.lines);
    seen.check(place, &second.lines);
    finished(place);
    first.is_done
}

/// Killed every so many steps, each time a little later, since what is done is passed quickly.
fn killed_until_done(place: &Place, stride: u64) {
    drop(with_account(place, relation(), "1000"));
    let (mut seen, mut step) = (Seen::default(), stride);
    loop {
        let told = run_until(&place.url, step);
        seen.check(place, &told.lines);
        if told.is_done {
            break;
        }
        step += stride;
    }
    finished(place);
}

/// What was ever seen: answers, by name, and the thresholds of sessions.
#[derive(Default)]
struct Seen {
    answers: BTreeMap<String, String>,
    thresholds: BTreeMap<String, String>,
}

impl Seen {
    /// No answer was shown that is not stored, none was redrawn, and no threshold either.
    fn check(&mut self, place: &Place, lines: &[String]) {
        let mut ledger = place.open();
        assert_sound(&mut ledger);
        for line in lines {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            if let ["shown", name, bytes] = words[..] {
                let first = self.answers.entry(name.to_owned()).or_insert(bytes.to_owned());
                assert_eq!(first, bytes, "{name} was redrawn");
            }
        }
        for (name, bytes) in &self.answers {
            assert_eq!(stored(&mut ledger, name).as_ref(), Some(bytes), "{name} is not stored");
        }
        for key in ["sparse", "guess"] {
            if let Some(now) = threshold(&mut ledger, key) {
                let first = self.thresholds.entry(key.to_owned()).or_insert(now.clone());
                assert_eq!(*first, now, "the threshold of {key} was redrawn");
            }
        }
    }
}

fn stored(ledger: &mut Ledger, name: &str) -> Option<String> {
    let bytes = match name.split_once('/') {
        None => ledger.response("account", name).unwrap()?,
        Some((key, ask)) => ledger.stored_answer("account", key, ask).unwrap()?.response,
    };
    Some(String::from_utf8(bytes).unwrap())
}

/// The noisy threshold that a session goes on from.
fn threshold(ledger: &mut Ledger, key: &str) -> Option<String> {
    let state = ledger.session("account", key).ok()??.state?;
    let text = String::from_utf8(state.bytes().to_vec()).unwrap();
    let after = text.split_once("\"threshold\":\"").unwrap().1;
    Some(after.split_once('"').unwrap().0.to_owned())
}

/// Everything was charged, once.
fn finished(place: &Place) {
    let mut ledger = place.open();
    let session = |(_, declared, _): &(_, InteractiveMechanism, _)| {
        cost(declared.under(relation()).unwrap().releases())
    };
    let total = sessions().iter().map(session).fold(due(&mean()), |sum, one| &sum + &one);
    assert_eq!(spent(&mut ledger), total);
    let mut debits = BTreeMap::<String, u64>::new();
    let count = |entry: counterpoint_wire::ledger::HistoryEntry| {
        if let Event::Reserve { key, .. } = entry.event {
            *debits.entry(key).or_default() += 1;
        }
    };
    ledger.history(None, None, count).unwrap();
    let keys = sessions().into_iter().map(|(key, _, _)| key).chain(["one"]);
    assert!(keys.clone().all(|key| debits.get(key) == Some(&1)), "{debits:?}");
    assert_eq!(debits.len(), keys.count());
}

//! Mechanisms that answer one by one: debited once, every answer durable before it is shown.

use std::io::Write;

use counterpoint_ledger::database::Cell;
use counterpoint_ledger::{
    Hash, Ledger, LedgerError, MAX_RESPONSE_BYTES, NewAccount, NewAnswer, NewQuota, Request,
    SessionAnswer,
};
use counterpoint_wire::ledger::Event;

use crate::child::{hex, start};
use crate::tamper::{forge, forge_last};
use crate::{
    FilterKind, Place, Random, add_remove, amount, assert_sound, budget, exported, new_answer,
    plan, refused, release, size, slot, with_account,
};

/// The questions of a whole session; the last ends it.
pub(crate) const ASKS: [&str; 2] = ["first", "second"];

/// A private state: 32 bytes of salt, and a threshold that is drawn once.
fn state(threshold: u64, random: &mut Random) -> Vec<u8> {
    let salt = [(); 4].map(|()| random.bits().to_be_bytes());
    [salt.as_flattened(), &threshold.to_be_bytes()].concat()
}

/// A session from its debit to its last answer, resumed wherever it is, as a curator does it:
/// what was answered is shown again, and the threshold is the one that was stored. Each answer
/// tells its threshold and noise of its own. `at` learns of every step.
pub(crate) fn play(
    ledger: &mut Ledger,
    key: &str,
    seed: u64,
    at: &mut dyn FnMut(&'static str, String),
) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    at("reserve", String::new());
    let head = reserve(ledger, key).unwrap().head;
    at("reserved", head.to_string());
    let drawn = state(random.bits(), &mut random);
    at("drawn", String::new());
    at("begin", String::new());
    let head = ledger.begin_session("account", key, b"toy", &drawn).unwrap().head;
    at("begun", head.to_string());
    let mut shown = Vec::new();
    for ask in ASKS {
        at(ask, String::new());
        let response = match ledger.stored_answer("account", key, ask).unwrap() {
            Some(answer) => answer.response,
            None => ask_once(ledger, key, ask, ask == ASKS[1], &mut random).unwrap().response,
        };
        at("stored", ledger.head().unwrap().to_string());
        at("shown", format!("{ask} {}", hex(&response)));
        shown.push(response);
    }
    shown
}

fn reserve(
    ledger: &mut Ledger,
    key: &str,
) -> Result<counterpoint_ledger::Reservation, LedgerError> {
    let tenth = release("0.1");
    ledger.reserve(&Request { session: true, ..Request::new("account", key, &tenth) })
}

/// One answer from the state as it is now.
fn ask_once(
    ledger: &mut Ledger,
    key: &str,
    ask: &str,
    last: bool,
    random: &mut Random,
) -> Result<SessionAnswer, LedgerError> {
    let session = ledger.session("account", key)?.unwrap();
    let Some(secret) = &session.state else { panic!("the session is over") };
    let threshold = u64::from_be_bytes(secret.bytes()[32..].try_into().unwrap());
    let response = format!("{threshold:016x} {ask} {:016x}", random.bits());
    let state = &state(threshold, random);
    let new = NewAnswer { state, ..new_answer(ask, session.answered, &response, last) };
    Ok(ledger.store_answer("account", key, &new)?.answer)
}

/// A ledger with a session that has begun.
fn begun(place: &Place) -> Ledger {
    let mut ledger = with_account(place, "1");
    reserve(&mut ledger, "s").unwrap();
    ledger.begin_session("account", "s", b"toy", &[1; 32]).unwrap();
    ledger
}

#[test]
fn one_debit_pays_for_all_answers_and_each_is_shown_as_it_was_stored() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "0.1");
        let first = reserve(&mut ledger, "s").unwrap();
        assert_eq!(first.charge.unwrap().main, amount("0.1"));
        assert_eq!(ledger.session("account", "s").unwrap(), None);
        let session = ledger.begin_session("account", "s", b"toy", &[1; 32]).unwrap();
        assert_eq!((session.answered, session.ended), (0, None));
        // Nothing is drawn twice: what was stored first stays.
        let again = ledger.begin_session("account", "s", b"toy", &[2; 32]).unwrap();
        assert_eq!((again.state.unwrap().bytes(), again.begun), (&[1; 32][..], session.begun));
        for (index, text) in ["one", "two", "three"].into_iter().enumerate() {
            let new = new_answer(text, index as u64, text, text == "three");
            let stored = ledger.store_answer("account", "s", &new).unwrap();
            assert_eq!(
                (stored.answer.response.as_slice(), stored.repeated),
                (text.as_bytes(), false)
            );
            assert_eq!(stored.answer.number, index as u64 + 1);
        }
        let over = ledger.session("account", "s").unwrap().unwrap();
        assert_eq!((over.answered, over.state, over.ended.is_some()), (3, None, true));
        // A retry gets the same bytes, over or not.
        let head = ledger.head().unwrap();
        let again = ledger
            .store_answer("account", "s", &new_answer("one", 0, "another draw", false))
            .unwrap();
        assert_eq!((again.answer.response.as_slice(), again.repeated), (&b"one"[..], true));
        let shown = ledger.stored_answer("account", "s", "two").unwrap().unwrap();
        assert_eq!((shown.response.as_slice(), shown.number), (&b"two"[..], 2));
        assert_eq!(ledger.stored_answer("account", "s", "four").unwrap(), None);
        assert_eq!(reserve(&mut ledger, "s").unwrap().charge, None);
        assert_eq!(ledger.head().unwrap(), head);
        assert_eq!(ledger.status(Some("account")).unwrap().accounts[0].charges, 1);
        refused(reserve(&mut ledger, "t"));
        assert_sound(&mut ledger);
    }
}

#[test]
fn what_does_not_follow_is_not_stored() {
    for place in Place::all() {
        let mut ledger = begun(&place);
        ledger.store_answer("account", "s", &new_answer("one", 0, "one", false)).unwrap();
        let head = ledger.head().unwrap();
        let mut no = |new: &NewAnswer<'_>| ledger.store_answer("account", "s", new).unwrap_err();
        // From a state that is not the newest: somebody else answered in between.
        for after in [0, 2, u64::MAX] {
            let moved = LedgerError::SessionAdvanced { key: "s".to_owned(), answered: 1 };
            assert_eq!(no(&new_answer("two", after, "two", false)), moved);
        }
        // The name of a question stands for that question.
        let question = Hash::of(b"another");
        let other = NewAnswer { question, ..new_answer("one", 1, "one", false) };
        assert_eq!(no(&other), LedgerError::KeyInUse { key: "one".to_owned() });
        let short = NewAnswer { state: &[7; 31], ..new_answer("two", 1, "two", false) };
        assert_eq!(no(&short).to_string(), "the state has 31 bytes; legal: 32 to 1048576");
        let long = vec![0; MAX_RESPONSE_BYTES + 1];
        let long = NewAnswer { response: &long, ..new_answer("two", 1, "two", false) };
        assert!(matches!(no(&long), LedgerError::Length { what: "response", .. }));
        assert!(matches!(no(&new_answer("", 1, "two", false)), LedgerError::Name { .. }));
        let error = ledger.begin_session("account", "s", b"another toy", &[1; 32]).unwrap_err();
        assert_eq!(error, LedgerError::KeyInUse { key: "s".to_owned() });
        assert_eq!(ledger.head().unwrap(), head);
        ledger.end_session("account", "s").unwrap();
        let head = ledger.end_session("account", "s").unwrap();
        let over =
            ledger.store_answer("account", "s", &new_answer("two", 1, "two", false)).unwrap_err();
        assert_eq!(over, LedgerError::SessionEnded { key: "s".to_owned() });
        assert_eq!(ledger.begin_session("account", "s", b"toy", &[1; 32]).unwrap().state, None);
        assert_eq!(ledger.head().unwrap(), head);
        assert_sound(&mut ledger);
    }
}

#[test]
fn a_session_is_no_single_release_and_a_release_no_session() {
    for place in Place::all() {
        let mut ledger = begun(&place);
        let tenth = release("0.1");
        ledger.reserve(&Request::new("account", "r", &tenth)).unwrap();
        let head = ledger.head().unwrap();
        let errors = [
            ledger.reserve(&Request::new("account", "s", &tenth)).unwrap_err(),
            reserve(&mut ledger, "r").unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, LedgerError::KeyInUse { .. }), "{error}");
        }
        let errors = [
            ledger.commit("account", "s", b"42").unwrap_err(),
            ledger.begin_session("account", "r", b"toy", &[1; 32]).unwrap_err(),
            ledger.session("account", "r").unwrap_err(),
            ledger.session_status("account", "r").unwrap_err(),
        ];
        for error in errors {
            assert!(matches!(error, LedgerError::UnfitKey { .. }), "{error}");
        }
        reserve(&mut ledger, "unbegun").unwrap();
        for key in ["r", "unbegun", "nobody"] {
            let errors = [
                ledger
                    .store_answer("account", key, &new_answer("one", 0, "one", false))
                    .unwrap_err(),
                ledger.stored_answer("account", key, "one").unwrap_err(),
                ledger.end_session("account", key).unwrap_err(),
            ];
            for error in errors {
                assert!(error.to_string().starts_with("there is no session"), "{error}");
            }
        }
        assert_eq!(ledger.head().unwrap().sequence, head.sequence + 1);
        ledger.commit("account", "r", b"42").unwrap();
        assert_sound(&mut ledger);
    }
}

#[test]
fn sessions_are_paid_for_by_slots_and_quotas_like_releases() {
    for place in Place::all() {
        let mut ledger = Ledger::init(&place.url()).unwrap();
        ledger.add_dataset("d", add_remove(), &budget(FilterKind::Sums, "9", "1e-3")).unwrap();
        let slots = plan(
            r#"{"delta":0,"release":[{"name":"gate","mechanism":"sparse-vector",
                "epsilon_threshold":0.5,"epsilon_queries":0.5,"count":3}]}"#,
        );
        ledger.open_account("plan", "d", &NewAccount::Plan(slots, None)).unwrap();
        ledger.add_quota("plan", "ann", &NewQuota::Releases(1)).unwrap();
        let gate = slot("gate", 1);
        let by = |key, analyst| Request {
            analyst: Some(analyst),
            session: true,
            ..Request::new("plan", key, &gate)
        };
        ledger.reserve(&by("a", "ann")).unwrap();
        let refusal = refused(ledger.reserve(&by("b", "ann")));
        assert!(refusal.starts_with("refused by the quota of \"ann\""), "{refusal}");
        ledger.begin_session("plan", "a", b"gate", &[1; 32]).unwrap();
        ledger.store_answer("plan", "a", &new_answer("one", 0, "below", false)).unwrap();
        ledger.store_answer("plan", "a", &new_answer("two", 1, "above", true)).unwrap();
        let status = ledger.status(Some("plan")).unwrap().accounts.remove(0);
        assert_eq!((status.slots[0].used, status.quotas[0].releases), (1, 1));
        assert_sound(&mut ledger);
    }
}

/// Everything that is told, and everything that can be printed, once a state has gone in.
#[test]
fn a_state_is_told_to_nobody() {
    for place in Place::all() {
        let mut ledger = with_account(&place, "1");
        reserve(&mut ledger, "s").unwrap();
        let [first, second] = ["first secret ", "second secret "].map(|text| text.repeat(4));
        let session = ledger.begin_session("account", "s", b"toy", first.as_bytes()).unwrap();
        let new = NewAnswer { state: second.as_bytes(), ..new_answer("one", 0, "plain", false) };
        let answered = ledger.store_answer("account", "s", &new).unwrap();
        let mut told = vec![
            format!("{session:?} {session:#?} {:?}", ledger.session("account", "s").unwrap()),
            format!("{new:?} {new:#?} {answered:?}"),
            format!("{:?}", ledger.stored_answer("account", "s", "one").unwrap()),
        ];
        ledger.history(None, None, |entry| told.push(format!("{entry:?}"))).unwrap();
        told.extend(exported(&mut ledger).iter().map(|part| format!("{part:?}")));
        told.push(ledger.status(None).unwrap().json().unwrap());
        told.push(ledger.status(Some("account")).unwrap().json().unwrap());
        told.push(ledger.pending(None).unwrap().json().unwrap());
        told.push(ledger.responses(None, None).unwrap().json().unwrap());
        told.push(ledger.session_status("account", "s").unwrap().json().unwrap());
        // Errors too: a state in the place of the session's own, and one that does not follow.
        let moved =
            ledger.store_answer("account", "s", &NewAnswer { ask: "two", ..new }).unwrap_err();
        let other = ledger.begin_session("account", "s", b"other", first.as_bytes()).unwrap_err();
        told.push(format!("{moved} {moved:?} {other} {other:?}"));
        // Every table but that of the secrets.
        let mut database = place.url().open(false).unwrap();
        for table in ["entry", "account", "release", "session", "answer"] {
            let rows = database.query(&format!("SELECT * FROM ledger_{table}"), &[]).unwrap();
            for cell in rows.into_iter().flatten() {
                if let Cell::Bytes(bytes) = &cell {
                    told.push(String::from_utf8_lossy(bytes).into_owned());
                }
                told.push(format!("{cell:?}"));
            }
        }
        // As text, in hexadecimal, as a list of bytes, in Base64.
        let list = format!("{:?}", b"secret ");
        for text in &told {
            for form in ["secret", &hex(b"secret"), list.trim_matches(['[', ']']), "c2VjcmV0"] {
                assert!(!text.contains(form), "{form}: {text}");
            }
        }
        // The test can see: the secret is where it should be.
        let rows = database.query("SELECT state FROM ledger_state", &[]).unwrap();
        assert_eq!(rows, [[Cell::from(second.as_bytes())]]);
        ledger.end_session("account", "s").unwrap();
        assert!(database.query("SELECT state FROM ledger_state", &[]).unwrap().is_empty());
    }
}

/// A history that somebody with write access made up: what could not have happened is found
/// without a head to compare with.
#[test]
fn a_history_that_breaks_the_rules_of_sessions_is_found() {
    type Work = fn(&mut Ledger);
    let plain: Work = |ledger| {
        ledger.reserve(&Request::new("account", "r", &release("0.1"))).unwrap();
        ledger.commit("account", "r", b"42").unwrap();
    };
    let ended: Work = |ledger| {
        ledger.store_answer("account", "s", &new_answer("one", 0, "one", true)).unwrap();
        ledger.reserve(&Request::new("account", "r", &release("0.1"))).unwrap();
    };
    let two: Work = |ledger| {
        ledger.store_answer("account", "s", &new_answer("one", 0, "one", false)).unwrap();
        ledger.store_answer("account", "s", &new_answer("two", 1, "two", false)).unwrap();
    };
    let one: Work = |ledger| {
        ledger.store_answer("account", "s", &new_answer("one", 0, "one", false)).unwrap();
    };
    let ends: Work = |ledger| {
        ledger.end_session("account", "s").unwrap();
    };
    let body = |event: Event| event.body().unwrap();
    let (account, key) = (|| "account".to_owned(), || "s".to_owned());
    let late = body(Event::Answer {
        at: 0,
        account: account(),
        key: key(),
        ask: "late".to_owned(),
        number: 2,
        question: Hash::of(b"late").to_string(),
        sha256: Hash::of(b"late").to_string(),
        length: 4,
        state: Some(Hash::of(b"state").to_string()),
    });
    let begin = body(Event::Begin {
        at: 0,
        account: account(),
        key: key(),
        declaration: Hash::of(b"toy").to_string(),
        state: Hash::of(b"state").to_string(),
    });
    let end = body(Event::End { at: 0, account: account(), key: key() });
    let change = |from: &'static str, to: &'static str| {
        Box::new(move |body: &str| body.replace(from, to)) as Box<dyn Fn(&str) -> String>
    };
    let put = |text: &str| {
        let text = text.to_owned();
        Box::new(move |_: &str| text.clone()) as Box<dyn Fn(&str) -> String>
    };
    let mut unbegun = begin.replace("\"key\":\"s\"", "\"key\":\"r\"");
    for (work, forged, expected) in [
        (
            plain,
            change("\"key\":\"r\"", "\"key\":\"s\""),
            "the key of a session was used for a single release",
        ),
        (plain, put(&unbegun), "the key of a session was used for a single release"),
        (plain, put(&begin), "the session was begun before"),
        (ended, put(&late), "the session had ended"),
        (ended, put(&end), "the session had ended"),
        (one, change("\"number\":1", "\"number\":2"), "answer 2 follows 0"),
        (two, change("\"number\":2", "\"number\":1"), "answer 1 follows 1"),
        (two, change("\"ask\":\"two\"", "\"ask\":\"one\""), "the question was answered before"),
        (two, change("\"ask\":\"two\"", "\"ask\":\"\""), "ask is \"\""),
        (two, change("\"question\":\"", "\"question\":\"x"), "the question's digest is not a hash"),
        (ends, change("\"key\":\"s\"", "\"key\":\"t\""), "the key was not reserved"),
    ] {
        let place = Place::sqlite();
        let mut ledger = begun(&place);
        work(&mut ledger);
        let problem = forge_last(&place, &*forged);
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    let place = Place::sqlite();
    let mut ledger = with_account(&place, "1");
    reserve(&mut ledger, "s").unwrap();
    reserve(&mut ledger, "u").unwrap();
    unbegun = late.replace("\"number\":2", "\"number\":1");
    let problem = forge_last(&place, &|_: &str| unbegun.clone());
    assert!(problem.contains("the session was not begun"), "{problem}");
}

/// Rows that somebody with write access changed, one at a time, each found without a head.
#[test]
fn every_change_to_a_stored_session_is_found() {
    for place in Place::all() {
        let mut ledger = begun(&place);
        ledger.store_answer("account", "s", &new_answer("one", 0, "one", false)).unwrap();
        ledger.store_answer("account", "s", &new_answer("two", 1, "two", false)).unwrap();
        reserve(&mut ledger, "over").unwrap();
        ledger.begin_session("account", "over", b"toy", &[1; 32]).unwrap();
        ledger.store_answer("account", "over", &new_answer("one", 0, "one", true)).unwrap();
        assert_sound(&mut ledger);
        let mut database = forge(&place);
        let copy = "(key, account, number, ask, question, entry, response) \
                    SELECT key, account, 3, 'three', question, 1, response FROM ledger_answer \
                    WHERE key = 's' AND number = 2";
        let secret = "(key, account, state) \
                      SELECT 'over', account, state FROM ledger_state WHERE key = 's'";
        for what in [
            // An answer.
            "UPDATE ledger_answer SET response = question WHERE key = 's' AND number = 1",
            "UPDATE ledger_answer SET ask = 'three' WHERE key = 's' AND number = 1",
            "UPDATE ledger_answer SET question = previous FROM ledger_entry WHERE sequence = 2",
            "DELETE FROM ledger_answer WHERE key = 's' AND number = 1",
            // One more.
            &*format!("INSERT INTO ledger_answer {copy}"),
            // Their order.
            "UPDATE ledger_answer SET number = number + 1 WHERE key = 's' AND number = 2",
            // The state, and one after the end.
            "UPDATE ledger_state SET state = previous FROM ledger_entry WHERE sequence = 2",
            "DELETE FROM ledger_state",
            &*format!("INSERT INTO ledger_state {secret}"),
            // The session.
            "UPDATE ledger_session SET answered = answered - 1 WHERE key = 's'",
            "UPDATE ledger_session SET ended = NULL WHERE key = 'over'",
            "UPDATE ledger_session SET ended = begun WHERE key = 's'",
            "UPDATE ledger_session SET declaration = previous FROM ledger_entry WHERE sequence = 2",
            "UPDATE ledger_release SET session = 0 WHERE key = 's'",
        ] {
            let before = snapshot(&mut *database);
            database.begin(counterpoint_ledger::database::Access::Write).unwrap();
            let Ok(changed) = database.execute(what, &[]) else {
                // The server's own checks refuse it.
                database = forge(&place);
                continue;
            };
            assert!(changed > 0, "{what}");
            database.commit().unwrap();
            let problem = place.open().verify(None).unwrap().problem;
            assert!(problem.is_some(), "{what}");
            restore(&mut *database, &before);
            assert_eq!(place.open().verify(None).unwrap().problem, None, "{what}");
        }
    }
}

const SESSION_TABLES: [(&str, &str); 4] = [
    ("ledger_state", "key, account, state"),
    ("ledger_answer", "key, account, number, ask, question, entry, response"),
    ("ledger_session", "key, account, begun, answered, ended, declaration"),
    ("ledger_release", "key, account, analyst, session, request, reserved, committed, response"),
];

type Tables = Vec<Vec<counterpoint_ledger::database::Row>>;

fn snapshot(database: &mut dyn counterpoint_ledger::database::Database) -> Tables {
    let read = |(table, columns): (&str, &str)| {
        database.query(&format!("SELECT {columns} FROM {table}"), &[]).unwrap()
    };
    SESSION_TABLES.into_iter().map(read).collect()
}

fn restore(database: &mut dyn counterpoint_ledger::database::Database, rows: &Tables) {
    database.begin(counterpoint_ledger::database::Access::Write).unwrap();
    for ((table, columns), rows) in SESSION_TABLES.into_iter().zip(rows) {
        database.execute(&format!("DELETE FROM {table}"), &[]).unwrap();
        let marks: Vec<String> =
            (1..=columns.split(',').count()).map(|mark| format!("${mark}")).collect();
        let sql = format!("INSERT INTO {table} ({columns}) VALUES ({})", marks.join(", "));
        for row in rows {
            database.execute(&sql, row).unwrap();
        }
    }
    database.commit().unwrap();
}

/// Processes that hold one session and answer in it, one of them killed after one of its answers: numbers
/// without gaps, every answer shown is the one that is stored. Full: 50 seeds. Quick: 2.
#[test]
fn many_processes_hold_one_session() {
    for seed in 0..size(50, 2) {
        for place in Place::all() {
            drop(begun(&place));
            let mut clients: Vec<_> = (0..4)
                .map(|index| start(&["asks", &place.url, "s", &format!("c{index}-"), "10"], None))
                .collect();
            for client in &mut clients {
                assert_eq!(client.said().as_deref(), Some("ready"));
            }
            for client in &mut clients {
                client.child.stdin.take().unwrap().write_all(b"go\n").unwrap();
            }
            let lines = Random::new(seed).below(10) as usize;
            let mut said = vec![clients[0].killed_after(lines)];
            assert!(said[0].len() >= lines, "{said:?}");
            said.extend(clients[1..].iter_mut().map(|client| client.all()));
            assert!(said[1..].iter().all(|lines| lines.last().unwrap() == "done"), "{said:?}");
            let mut ledger = place.open();
            for line in said.iter().flatten().filter(|line| *line != "done") {
                let [ask, bytes] = line.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{line}")
                };
                let stored = ledger.stored_answer("account", "s", ask).unwrap().unwrap();
                assert_eq!(hex(&stored.response), bytes);
            }
            let answered = ledger.session("account", "s").unwrap().unwrap().answered;
            assert!((28 + lines as u64..=37).contains(&answered), "{answered}");
            assert_sound(&mut ledger);
        }
    }
}

/// What one of these processes does: its own questions, and one that all of them ask.
pub(crate) fn ask_many(
    ledger: &mut Ledger,
    key: &str,
    prefix: &str,
    most: u64,
    say: impl Fn(&str),
) {
    let mut random = Random::new(prefix.bytes().fold(1, |sum, byte| sum * 31 + u64::from(byte)));
    let asks = (0..most - 1).map(|index| format!("{prefix}{index}"));
    for ask in asks.chain(["everybody".to_owned()]) {
        let response = loop {
            let session = ledger.session("account", key).unwrap().unwrap();
            let own = format!("{ask} {:x}", random.bits());
            match ledger.store_answer(
                "account",
                key,
                &new_answer(&ask, session.answered, &own, false),
            ) {
                Ok(stored) => break stored.answer.response,
                Err(LedgerError::SessionAdvanced { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        };
        say(&format!("{ask} {}", hex(&response)));
    }
    say("done");
}

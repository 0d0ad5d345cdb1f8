//! Several services on one ledger. Each answers all clients, from one budget.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{new_schema, server, tries, within};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};

const ACCOUNTS: [(&str, &str); 2] = [("team", "4"), ("lab", "50")];

/// A ledger on SQLite, and several on PostgreSQL if there is a server.
fn places(on_server: usize) -> Vec<Place> {
    let new = |ledger: &str| Place::on(ledger, &people(100), (0.0, 30.0), "100", &ACCOUNTS);
    let shared = |server: String| {
        (0..on_server).map(move |_| new(&within(&server, &new_schema(&server)))).collect::<Vec<_>>()
    };
    [new("sqlite:ledger.db")].into_iter().chain(server().map(shared).unwrap_or_default()).collect()
}

/// Services, killed when dropped.
struct Services(Vec<(Child, SocketAddr)>);

impl Services {
    fn start(place: &Place, count: usize) -> Self {
        Self((0..count).map(|_| place.start()).collect())
    }

    /// The address of one of the services.
    fn address(&self, number: usize) -> SocketAddr {
        self.0[number % self.0.len()].1
    }

    fn kill(&mut self, number: usize) {
        let (mut child, _) = self.0.remove(number);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        for (child, _) in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Asks again after a temporary failure.
fn settled(ask: impl Fn() -> Answer) -> Answer {
    loop {
        match ask() {
            (429 | 503, _) => std::thread::sleep(std::time::Duration::from_millis(20)),
            answer @ (200 | 402, _) => return answer,
            (status, text) => panic!("{status} {text}"),
        }
    }
}

/// Forty questions that cost 1/4 each (two hundred in a full run), each asked at every process at once. Sixteen are
/// charged, once each, and each has one answer.
#[test]
fn processes_share_a_budget_and_its_answers() {
    let questions = tries(200, 0.2) as usize;
    for (place, count) in places(2).iter().zip([2, 2, 4]) {
        let tokens: Vec<String> = (0..4)
            .map(|number| place.token(Role::Analyst, &format!("a{number}"), &["team"]))
            .collect();
        let services = Services::start(place, count);
        let ask = |thread: usize, number: usize| {
            let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {number}");
            let body = json!({"account": "team", "sql": sql, "epsilon": 0.25});
            let token = &tokens[thread % tokens.len()];
            settled(|| post(services.address(thread), "/v1/questions", token, &body))
        };
        let asked = |thread: usize| {
            // Each client in its own order.
            let numbers = (0..questions).map(|turn| (turn * 7 + thread * 11) % questions);
            let mut list: Vec<_> = numbers.map(|number| (number, ask(thread, number))).collect();
            list.sort_by_key(|(number, _)| *number);
            list.into_iter().map(|(_, answer)| answer).collect()
        };
        let answers: Vec<Vec<Answer>> = std::thread::scope(|scope| {
            let asked = &asked;
            let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || asked(thread))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut paid = 0;
        for number in 0..questions {
            let told = answers.iter().map(|list| &list[number]).filter(|answer| answer.0 == 200);
            let told: Vec<Value> = told.map(read).collect();
            assert!(told.windows(2).all(|two| two[0]["answers"] == two[1]["answers"]), "{told:?}");
            let charged = told.iter().filter(|answer| answer["cost"]["amount"] != 0.0).count();
            // The process that debited the question may have asked again, because another debit was running.
            assert!(charged <= 1, "{number}: {told:?}");
            paid += usize::from(!told.is_empty());
            // All processes now give the same answer.
            for service in 0..if told.is_empty() { 0 } else { count } {
                assert_eq!(read(&ask(service, number))["answers"], told[0]["answers"], "{number}");
            }
        }
        assert_eq!(paid, 16);
        assert_eq!(place.debits("team").len(), 16);
        // The noise is rounded up, and its cost is rounded down.
        let spent: f64 = place.spent("team").parse().unwrap();
        assert!(spent <= 4.0 && spent > 4.0 - 1e-12, "{spent}");
        drop(services);
        assert!(place.verified());
    }
}

/// A session is asked at all processes in turn. The process that opened it is killed, and so are others. The remaining
/// processes continue.
#[test]
fn a_session_outlives_the_process_that_opened_it() {
    let rounds = tries(40, 0.3) as usize;
    for place in &places(1) {
        let token = place.token(Role::Analyst, "ann", &["lab"]);
        let mut services = Services::start(place, 4);
        let gate = json!({"epsilon": 0.01, "answers": 1000, "threshold": 50});
        let opening =
            json!({"account": "lab", "table": "visits", "key": "gate", "sparse_vector": gate});
        assert_eq!(post(services.address(0), "/v1/sessions", &token, &opening).0, 200);
        let spent = place.spent("lab");
        let mut shown: Vec<(Value, Value)> = Vec::new();
        for round in 0..rounds {
            if round > 0 && round % (rounds / 4 + 1) == 0 {
                services.kill(0);
            }
            let address = services.address(round);
            let path = "/v1/sessions/lab/gate/questions";
            let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {round}");
            let asked = json!({"name": format!("q{round}"), "sql": sql});
            let reply = read(&settled(|| post(address, path, &token, &asked)))["reply"].clone();
            assert!(!reply.is_null(), "{round}");
            shown.push((asked, reply));
            for (asked, reply) in &shown {
                let again = read(&settled(|| post(address, path, &token, asked)));
                assert_eq!(again["reply"], *reply, "{asked} {again}");
            }
            let opened = read(&settled(|| post(address, "/v1/sessions", &token, &opening)));
            assert_eq!(opened["cost"]["amount"], 0.0, "{opened}");
        }
        assert_eq!(place.spent("lab"), spent);
        drop(services);
        assert!(place.verified());
    }
}

/// One session is asked the same questions at all processes at once, while some of them are killed. Each question has
/// one answer, and there are no more answers than declared.
#[test]
fn a_session_that_all_ask_at_once_answers_each_question_once() {
    let questions = tries(100, 0.15);
    for place in &places(1) {
        let token = place.token(Role::Analyst, "ann", &["lab"]);
        let mut services = Services::start(place, 4);
        let gate = json!({"epsilon": 0.5, "answers": 3, "threshold": 50.0, "values": true});
        let opening =
            json!({"account": "lab", "table": "visits", "key": "gate", "sparse_vector": gate});
        assert_eq!(post(services.address(0), "/v1/sessions", &token, &opening).0, 200);
        let spent = place.spent("lab");
        let path = "/v1/sessions/lab/gate/questions";
        let seen = AtomicU64::new(0);
        let ask = |address: SocketAddr, number: u64| {
            // All counts are far below the threshold, except every fourth.
            let age = if number % 4 == 3 { 0 } else { 69 };
            let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {age}");
            let asked = json!({"name": format!("q{number}"), "sql": sql});
            loop {
                let answer = post(address, path, &token, &asked);
                seen.fetch_add(1, Ordering::SeqCst);
                match answer {
                    (429 | 503, _) => std::thread::sleep(std::time::Duration::from_millis(20)),
                    (0, _) => return None,
                    answer @ (200, _) => return Some(read(&answer)["reply"].clone()),
                    answer @ (409, _) => return assert_problem_over(&answer),
                    (status, text) => panic!("{status} {text}"),
                }
            }
        };
        let all = |address: SocketAddr| (0..questions).map(|number| ask(address, number)).collect();
        let told: Vec<Vec<Option<Value>>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|thread| services.address(thread))
                .map(|address| scope.spawn(move || all(address)))
                .collect();
            // Some questions were answered, and most were not.
            wait_for(|| seen.load(Ordering::SeqCst) >= 2 * questions);
            services.kill(0);
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let last = all(services.address(0));
        for number in 0..questions as usize {
            let known = told.iter().filter_map(|list| list[number].as_ref());
            assert!(known.clone().all(|reply| Some(reply) == last[number].as_ref()), "{number}");
        }
        let above = last.iter().flatten().filter(|reply| reply.get("above").is_some()).count();
        assert!((1..=3).contains(&above), "{last:?}");
        assert_eq!(place.spent("lab"), spent);
        drop(services);
        assert!(place.verified());
    }
}

/// Checks that the session is over and answers nothing more.
fn assert_problem_over(answer: &Answer) -> Option<Value> {
    assert_problem(answer, 409, "session-over");
    None
}

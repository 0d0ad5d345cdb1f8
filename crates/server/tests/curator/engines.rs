//! The database server or the curator is stopped while questions run. No answer is lost, no question has two different
//! answers, and no answer is free.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{
    Random, cluster, has_own_server, new_schema, on_own_server, run, server, tries, within,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The number of questions: a hundred for each case in a full run.
#[test]
fn questions_outlive_the_table_s_server_and_the_curator() {
    on_own_server("engines::stopping_servers");
}

#[test]
#[ignore = "is started by another test"]
fn stopping_servers() {
    if !has_own_server() {
        return;
    }
    let server = server().unwrap();
    let shared = within(&server, &new_schema(&server));
    // The ledger is a file of the curator, or it is on the server that is stopped.
    for ledger in ["sqlite:ledger.db", &shared] {
        let place = Place::on(ledger, &[], (0.0, 30.0), "1000", &[("team", "900")]);
        let schema = new_schema(&server);
        run(&server, &gated_table(&schema));
        place.move_table(&server, &format!("{schema}.seen"));
        let mut asked = Asked::new(&place, Some(&server));
        // Questions that run during a stop fail.
        for stopped in [Stopped::Server, Stopped::Curator] {
            let rounds = tries(25, 0.12);
            assert!(asked.while_stopped(stopped, rounds) >= rounds);
        }
        asked.all_again();
    }
}

/// The same on Spark. First one of two workers is killed, and the other repeats its work. Then the server is killed
/// with all its work, and then the curator.
#[test]
#[cfg(feature = "spark")]
fn questions_outlive_spark() {
    counterpoint_testing::on_own_spark("engines::stopping_spark");
}

#[test]
#[cfg(feature = "spark")]
#[ignore = "is started by another test"]
fn stopping_spark() {
    if !has_own_server() {
        return;
    }
    let server = std::env::var("COUNTERPOINT_SPARK").unwrap();
    let folder = tempfile::Builder::new().prefix("visits").tempdir().unwrap();
    let row = |number: u64| {
        let (nr, age) = (number / 2, 20 + number % 50);
        format!("{{\"nr\": {nr}, \"age\": {age}, \"pay\": 1.5, \"region\": \"north\"}}\n")
    };
    let rows: String = (0..1000).map(row).collect();
    std::fs::write(folder.path().join("rows"), rows).unwrap();
    let place = Place::on("sqlite:ledger.db", &[], (0.0, 300.0), "1000", &[("team", "900")]);
    place.move_table(&server, &format!("json.{}", folder.path().display()));
    let mut asked = Asked::new(&place, None);
    asked.while_stopped(Stopped::Spark("executor"), tries(25, 0.04));
    asked.while_stopped(Stopped::Spark("server"), tries(25, 0.04));
    asked.while_stopped(Stopped::Curator, tries(25, 0.04));
    asked.all_again();
}

/// A table whose rows cannot be read while the gate is shut, so that questions stay running.
fn gated_table(schema: &str) -> String {
    format!(
        "CREATE TABLE {schema}.kept (nr bigint, age int, pay numeric, region text); \
         INSERT INTO {schema}.kept SELECT i / 2, 20 + i % 50, 1.5, 'north' FROM generate_series(0, 999) i; \
         CREATE VIEW {schema}.seen AS WITH gate AS MATERIALIZED (SELECT pg_advisory_xact_lock_shared({GATE})) \
         SELECT nr, age, pay, region FROM {schema}.kept, gate"
    )
}

/// The lock that implements the gate.
const GATE: u32 = 36;

/// Shuts the gate until the connection is dropped.
fn shut(server: &str) -> postgres::Client {
    let mut connection = postgres::Client::connect(server, postgres::NoTls).unwrap();
    connection.execute(&format!("SELECT pg_advisory_lock({GATE})"), &[]).unwrap();
    connection
}

#[derive(Clone, Copy, PartialEq)]
enum Stopped {
    Server,
    #[cfg(feature = "spark")]
    Spark(&'static str),
    Curator,
}

/// The questions and their answers.
struct Asked<'a> {
    place: &'a Place,
    /// The server with the gate, if there is one.
    server: Option<&'a str>,
    tokens: Vec<String>,
    random: Random,
    /// The number of questions asked; their numbers are below this.
    count: u64,
    /// The number of questions that were certainly debited.
    charged: u64,
    shown: BTreeMap<u64, Value>,
}

impl<'a> Asked<'a> {
    fn new(place: &'a Place, server: Option<&'a str>) -> Self {
        let token = |number| place.token(Role::Analyst, &format!("a{number}"), &["team"]);
        let tokens = (0..4).map(token).collect();
        let (random, shown) = (Random::new(41), BTreeMap::new());
        Self { place, server, tokens, random, count: 0, charged: 0, shown }
    }

    /// Asks four questions at a time. Stops something when the first or second is debited and none can be answered.
    /// Then asks one question undisturbed. Returns the number of failures.
    fn while_stopped(&mut self, stopped: Stopped, rounds: u64) -> u64 {
        let (mut child, mut address) = self.place.start_when_ready();
        let mut failed = 0;
        for _ in 0..rounds {
            let numbers = self.count..self.count + 4;
            self.count += 4;
            let debited = self.place.debits("team").len() as u64 + self.random.between(1, 2);
            let (tokens, clients) = (&self.tokens, numbers.clone());
            let gate = self.server.map(shut);
            let told: Vec<Answer> = std::thread::scope(|scope| {
                let ask = |number| scope.spawn(move || ask_one(address, tokens, number));
                let clients: Vec<_> = clients.map(ask).collect();
                wait_for(|| self.place.debits("team").len() as u64 >= debited);
                match stopped {
                    Stopped::Server => {
                        cluster(&["stop", "data"]);
                        cluster(&["start", "data"]);
                    }
                    #[cfg(feature = "spark")]
                    Stopped::Spark(part) => {
                        let kill = std::env::var("COUNTERPOINT_SPARK_KILL").unwrap();
                        let status = std::process::Command::new(kill).arg(part).status().unwrap();
                        assert!(status.success());
                    }
                    Stopped::Curator => child.kill().unwrap(),
                }
                drop(gate);
                clients.into_iter().map(|client| client.join().unwrap()).collect()
            });
            if stopped == Stopped::Curator {
                child.wait().unwrap();
                (child, address) = self.place.start_when_ready();
            }
            for (number, answer) in numbers.zip(told) {
                failed += u64::from(answer.0 != 200);
                self.note(number, &answer, stopped);
            }
            // A restarted server answers as before: lost connections cost nothing.
            let answer = ask_one(address, &self.tokens, self.count);
            assert_eq!(answer.0, 200, "{}", answer.1);
            self.note(self.count, &answer, stopped);
            self.count += 1;
            // Every returned answer and every failure was debited, and no question was debited twice.
            let debits = self.place.debits("team").len() as u64;
            assert!((self.charged..=self.count).contains(&debits), "{debits} of {}", self.charged);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        failed
    }

    fn note(&mut self, number: u64, answer: &Answer, stopped: Stopped) {
        match answer.0 {
            200 => drop(self.shown.insert(number, read(answer)["answers"].clone())),
            // The error reveals nothing else.
            502 => {
                let detail =
                    "the question was charged, and failed; asked again it costs nothing more";
                assert_eq!(read(answer)["detail"], detail);
                assert_problem(answer, 502, "charged-and-failed");
            }
            // The curator stopped before the client learned if the question was debited.
            0 if stopped == Stopped::Curator => return,
            other => panic!("{other} {}", answer.1),
        }
        self.charged += 1;
    }

    /// Asks every question once more. Returned answers are repeated, and each question is debited once.
    fn all_again(&self) {
        let (mut child, address) = self.place.start_when_ready();
        for number in 0..self.count {
            let answer = ask_one(address, &self.tokens, number);
            assert_eq!(answer.0, 200, "{}", answer.1);
            let answers = &read(&answer)["answers"];
            assert!(self.shown.get(&number).is_none_or(|shown| shown == answers), "{number}");
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let debits = self.place.debits("team");
        let keys: std::collections::BTreeSet<_> = debits.iter().collect();
        assert_eq!((debits.len(), keys.len()), (self.count as usize, self.count as usize));
        let (spent, due) = (self.place.spent("team"), 0.25 * self.count as f64);
        let spent: f64 = spent.parse().unwrap();
        assert!(spent <= due && spent > due - 1e-9, "{spent} of {due}");
        assert!(self.place.verified());
    }
}

fn ask_one(address: SocketAddr, tokens: &[String], number: u64) -> Answer {
    let sql = format!("SELECT COUNT(*) FROM visits WHERE age > {}", number as f64 / 8.0);
    let body = json!({"account": "team", "sql": sql, "epsilon": 0.25});
    let token = &tokens[number as usize % tokens.len()];
    loop {
        match post(address, "/v1/questions", token, &body) {
            (429 | 503, _) => std::thread::sleep(Duration::from_millis(20)),
            answer => return answer,
        }
    }
}

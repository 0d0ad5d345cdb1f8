//! Sessions over HTTP: interleaved, ended, continued by another process, failed and misused. The whole session is paid
//! for when it is opened. Nothing more is charged later, and nothing is refunded.

mod life;
mod odd;
mod own;

use crate::service::*;
use counterpoint_curator::Role;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The number of people with a row. Every fifth of them has two rows.
const PEOPLE: i64 = 300;
const ROWS: f64 = 360.0;

/// The rows in the north: those of every third person, and the second rows of every fifteenth.
const NORTH: f64 = 120.0;

const ALL: &str = "SELECT COUNT(*) FROM visits";
const IN_THE_NORTH: &str = "SELECT COUNT(*) FROM visits WHERE region = 'north'";

/// A service with one account of this budget.
fn place(budget: &str) -> Place {
    Place::new(&people(PEOPLE), (0.0, 30.0), "100000", &[("team", budget)])
}

/// An analyst of a service.
#[derive(Clone)]
struct Analyst {
    address: SocketAddr,
    token: String,
}

impl Analyst {
    fn new(place: &Place, address: SocketAddr, name: &str) -> Self {
        Self { address, token: place.token(Role::Analyst, name, &["team"]) }
    }

    /// The same analyst at another process.
    fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        post(self.address, path, &self.token, body)
    }

    fn tries(&self, key: &str, declared: &Value) -> Answer {
        let mut body = declared.clone();
        body["account"] = json!("team");
        body["key"] = json!(key);
        body["table"] = json!("visits");
        self.post("/v1/sessions", &body)
    }

    /// Opens a session and returns its cost.
    #[track_caller]
    fn opens(&self, key: &str, declared: &Value) -> f64 {
        let opened = self.tries(key, declared);
        assert_eq!(opened.0, 200, "{opened:?}");
        read(&opened)["cost"]["amount"].as_f64().unwrap()
    }

    fn asks(&self, key: &str, body: &Value) -> Answer {
        self.post(&format!("/v1/sessions/team/{key}/questions"), body)
    }

    /// Asks a session and returns its reply.
    #[track_caller]
    fn hears(&self, key: &str, body: &Value) -> Value {
        let answer = self.asks(key, body);
        assert_eq!(answer.0, 200, "{answer:?}");
        read(&answer)["reply"].clone()
    }

    fn sees(&self, key: &str) -> Answer {
        get(self.address, &format!("/v1/sessions/team/{key}"), &self.token)
    }

    fn closes(&self, key: &str) -> Answer {
        request(self.address, &format!("DELETE /v1/sessions/team/{key}"), &self.token, None)
    }

    /// The analyst's sessions: their keys, the numbers of their answers, and true for those that are over.
    fn sessions(&self) -> Vec<(String, u64, bool)> {
        let told = read(&get(self.address, "/v1/sessions", &self.token));
        let one = |one: &Value| {
            let answered = one["answered"].as_u64().unwrap();
            (one["key"].as_str().unwrap().to_owned(), answered, one["over"].as_bool().unwrap())
        };
        told["sessions"].as_array().unwrap().iter().map(one).collect()
    }
}

fn gate(epsilon: f64, answers: u64, threshold: f64) -> Value {
    json!({"sparse_vector": {"epsilon": epsilon, "answers": answers, "threshold": threshold}})
}

fn guesses(epsilon: f64, corrections: u64) -> Value {
    json!({"guess_and_check": {"epsilon": epsilon, "corrections": corrections, "tolerance": 20}})
}

/// A sequence of a count at epsilon/2 and a mean at epsilon.
fn sequence(epsilon: f64) -> Value {
    let mean = json!({"of": {"mean": {"column": "age"}}, "epsilon": epsilon});
    json!({"sequence": [{"of": "count", "epsilon": epsilon / 2.0}, mean]})
}

fn named(name: &str, sql: &str) -> Value {
    json!({"name": name, "sql": sql})
}

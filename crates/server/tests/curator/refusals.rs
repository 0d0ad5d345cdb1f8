//! Refusals by accounts, slots, quotas and parent accounts. Each has a stable code, a text that does not depend on the
//! table, and no debit.

use crate::service::*;
use counterpoint::{Adjacency, Relation};
use counterpoint_budget::Amount;
use counterpoint_curator::Role;
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter, NewQuota};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use serde_json::{Value, json};
use std::net::SocketAddr;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

/// Tables of ordinary people, without rows, and with extreme numbers.
fn contents() -> [Vec<Row>; 3] {
    let big = rusqlite::types::Value::Real(f64::INFINITY);
    let extreme = vec![(7, big.clone(), big, "south"), row(7, i64::MIN, -1e300, "north")];
    [people(40), Vec::new(), extreme]
}

/// A service on a table with one content, and its refusals.
struct Service {
    place: Place,
    address: SocketAddr,
    told: Vec<Answer>,
}

impl Service {
    /// Starts the service with a data set of budget 100, accounts under it, and a table of another data set in which a
    /// person has one row.
    fn new(rows: &[Row], accounts: &[(&str, &str)], set_up: impl Fn(&mut Ledger)) -> Self {
        let place = Place::new(rows, (0.0, 30.0), "100", accounts);
        let others = "[[table]]\nname = \"others\"\nsource = \"sqlite:data.db\"\nfrom = \"visits\"\n\
                      adjacency = \"add-remove\"\ncolumn = [{ name = \"age\", bounds = [0, 100] }]\n";
        let config = std::fs::read_to_string(place.path("config.toml")).unwrap();
        std::fs::write(place.path("config.toml"), config + others).unwrap();
        let mut ledger = place.ledger();
        let some =
            NewFilter::new(FilterKind::Sums, "100".parse().unwrap(), "0.001".parse().unwrap());
        ledger.add_dataset("others", Relation::single_record(Adjacency::AddRemove), &some).unwrap();
        set_up(&mut ledger);
        let address = place.serve();
        Self { place, address, told: Vec::new() }
    }

    fn token(&self, name: &str, accounts: &[&str]) -> String {
        self.place.token(Role::Analyst, name, accounts)
    }

    /// Checks that the question is answered at this cost. About 10^-7 may be left over.
    #[track_caller]
    fn answered(&self, token: &str, body: &Value, cost: f64) -> Value {
        let answer = post(self.address, "/v1/questions", token, body);
        let told = read(&answer);
        assert_eq!(answer.0, 200, "{told}");
        let paid = told["cost"]["amount"].as_f64().unwrap();
        assert!((paid - cost).abs() < 1e-7, "{told}");
        told
    }

    /// Checks that the request is refused, that nothing is written, and that the price of a question says the same.
    #[track_caller]
    fn refused(&mut self, token: &str, body: &Value, problem: (u16, &str), words: &str) {
        let path = if body.get("table").is_some() { "/v1/sessions" } else { "/v1/questions" };
        let before = self.place.head();
        let answer = post(self.address, path, token, body);
        assert_problem(&answer, problem.0, problem.1);
        assert!(answer.1.contains(words), "{}", answer.1);
        if path == "/v1/questions" {
            let price = post(self.address, "/v1/prices", token, body);
            match problem.0 {
                402 => assert_eq!(read(&price)["affordable"], false, "{price:?}"),
                _ => assert_eq!(price, answer),
            }
            self.told.push(price);
        }
        assert_eq!(self.place.head(), before, "{body}");
        self.told.push(answer);
    }

    /// Verifies the ledger and returns the refusals.
    fn end(self) -> Vec<Answer> {
        assert!(self.place.verified());
        assert!(!self.told.is_empty());
        self.told
    }
}

/// Checks that the answers are the same for all tables.
fn on_all_tables(test: impl Fn(&[Row]) -> Vec<Answer>) {
    let [plain, empty, extreme] = contents().map(|rows| test(&rows));
    assert_eq!(plain, empty);
    assert_eq!(plain, extreme);
}

fn asking(account: &str, sql: &str, epsilon: f64) -> Value {
    json!({"account": account, "sql": sql, "epsilon": epsilon})
}

fn in_slot(account: &str, sql: &str, slot: &str) -> Value {
    json!({"account": account, "sql": sql, "slot": slot})
}

/// A session with this epsilon, which costs three times as much.
fn session(account: &str, key: &str, table: &str, epsilon: f64) -> Value {
    let declared = json!({"epsilon": epsilon, "answers": 1, "threshold": 0});
    json!({"account": account, "key": key, "table": table, "sparse_vector": declared})
}

/// A count that no other question asks for.
fn older(age: u32) -> String {
    format!("SELECT COUNT(*) FROM visits WHERE age > {age}")
}

fn plan(delta: f64, releases: &Value) -> NewAccount {
    let text = json!({"delta": delta, "release": releases}).to_string();
    NewAccount::Plan(ExactPlan::parse(text.as_bytes(), Format::Json).unwrap(), None)
}

const ILLEGAL: (u16, &str) = (422, "illegal");
const OVER_BUDGET: (u16, &str) = (402, "over-budget");
const NOT_FOUND: (u16, &str) = (404, "not-found");

/// An account pays for the tables of its own data set only, and only if it is about the whole data set.
#[test]
fn an_account_of_another_data_set_or_of_a_part_does_not_pay() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[("team", "1")], |ledger| {
            ledger.open_account("other", "others", &NewAccount::Filter(pure("1"))).unwrap();
            let part = |part: &str| json!({"name": part, "mechanism": "approx-dp", "epsilon": 5, "partition": part});
            let sample =
                json!({"name": "sample", "mechanism": "approx-dp", "epsilon": 1, "rate": 0.1});
            let all = json!({"name": "all", "mechanism": "approx-dp", "epsilon": 1});
            let releases = json!([part("north"), part("south"), sample, all]);
            ledger.open_account("parts", "others", &plan(1e-6, &releases)).unwrap();
            ledger.open_in_slot("north", "parts", "north", &pure("5")).unwrap();
        });
        let accounts = ["team", "other", "parts", "north"];
        let ann = service.token("ann", &accounts);
        let others = "SELECT COUNT(*) FROM others";
        let not_paid = "does not pay for questions about all of table";
        for (account, sql, table) in [
            ("team", others, "others"),
            ("other", COUNT, "visits"),
            ("parts", COUNT, "visits"),
            ("north", COUNT, "visits"),
            // People in the north are in the table, and so are others.
            ("north", others, "others"),
        ] {
            service.refused(&ann, &asking(account, sql, 0.1), ILLEGAL, not_paid);
            let error = json!({"account": account, "sql": sql, "error": 100});
            service.refused(&ann, &error, ILLEGAL, not_paid);
            service.refused(&ann, &session(account, "s", table, 0.01), ILLEGAL, not_paid);
        }
        // A slot about a part of the data pays for no question about the whole table. A slot about a sample of a tenth,
        // with ln(1 + (e - 1)/10) = 0.159, does not pay for three tenths.
        for slot in ["south", "sample"] {
            service.refused(&ann, &in_slot("parts", others, slot), ILLEGAL, "cover");
            let mut opening = session("parts", "s", "others", 0.1);
            opening["slot"] = json!(slot);
            service.refused(&ann, &opening, ILLEGAL, "cover");
        }
        let spent = |account| service.place.spent(account);
        assert_eq!(accounts.map(spent), ["0", "0", "1", "0"]);
        // The questions that each of them pays for.
        service.answered(&ann, &asking("team", COUNT, 0.25), 0.25);
        service.answered(&ann, &asking("other", others, 0.25), 0.25);
        service.answered(&ann, &in_slot("parts", others, "all"), 1.0);
        service.end()
    });
}

/// A slot pays for questions that it dominates, as often as it was declared, and for nothing else.
#[test]
fn a_slot_pays_for_what_it_covers_as_often_as_it_was_declared() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[], |ledger| {
            let releases = json!([
                {"name": "pure", "mechanism": "approx-dp", "epsilon": 0.5, "count": 2},
                {"name": "laplace", "mechanism": "laplace", "scale": 2},
                {"name": "gaussian", "mechanism": "gaussian", "sigma": 5},
                {"name": "answer", "mechanism": "randomized-response", "epsilon": 1},
                {"name": "leak", "mechanism": "name-and-shame", "delta": 1e-9},
                {"name": "curve", "mechanism": "rdp", "orders": [2, 4], "epsilons": [0.1, 0.2]},
            ]);
            ledger.open_account("plan", "others", &plan(1e-6, &releases)).unwrap();
        });
        let ann = service.token("ann", &["plan"]);
        let count = "SELECT COUNT(*) FROM others";
        for slot in ["answer", "leak", "curve"] {
            let nothing = "declares nothing that a question could be answered with";
            service.refused(&ann, &in_slot("plan", count, slot), ILLEGAL, nothing);
        }
        // A count's whole-number noise can distinguish more than Laplace noise of the same epsilon: tanh(1/4) > 1 -
        // e^(-1/4). Two halves of Laplace noise are not Laplace noise, and a choice by the exponential mechanism is not
        // Gaussian noise.
        let two = "SELECT COUNT(*), SUM(age) FROM others";
        for (slot, sql) in [
            ("laplace", count),
            ("laplace", two),
            ("laplace", "SELECT AVG(age) FROM others"),
            ("gaussian", "SELECT MEDIAN(age) FROM others"),
        ] {
            service.refused(&ann, &in_slot("plan", sql, slot), ILLEGAL, "cover");
        }
        // A slot of 1/2 covers three releases of 1/6, but not three releases of 1/5.
        let opening = |key: &str, epsilon: f64| {
            let mut opening = session("plan", key, "others", epsilon);
            opening["slot"] = json!("pure");
            opening
        };
        service.refused(&ann, &opening("s", 0.2), ILLEGAL, "cover");
        service.refused(&ann, &session("plan", "s", "others", 0.1), ILLEGAL, "is a plan account");
        service.refused(&ann, &asking("plan", count, 0.1), ILLEGAL, "is a plan account");
        service.refused(&ann, &in_slot("plan", count, "none"), NOT_FOUND, "there is no slot");
        assert_eq!(service.place.spent("plan"), "0");
        // One opening pays for a question of two numbers and one for a session. There is no third opening.
        service.answered(&ann, &in_slot("plan", two, "pure"), 1.0);
        let opened = post(service.address, "/v1/sessions", &ann, &opening("t", 0.16));
        assert_eq!(opened.0, 200, "{opened:?}");
        for sql in [count, "SELECT AVG(age) FROM others"] {
            service.refused(&ann, &in_slot("plan", sql, "pure"), OVER_BUDGET, "slot \\\"pure\\\"");
        }
        service.refused(&ann, &opening("u", 0.1), OVER_BUDGET, "slot \\\"pure\\\"");
        assert_eq!(service.place.spent("plan"), "2");
        // Both can be repeated free of charge, and the other slots are unchanged.
        service.answered(&ann, &in_slot("plan", two, "pure"), 0.0);
        assert_eq!(post(service.address, "/v1/sessions", &ann, &opening("t", 0.16)).0, 200);
        for slot in ["laplace", "gaussian"] {
            service.answered(&ann, &in_slot("plan", "SELECT SUM(age) FROM others", slot), 1.0);
        }
        assert_eq!(service.place.spent("plan"), "4");
        service.end()
    });
}

fn half() -> NewQuota {
    NewQuota::Cost { epsilon: "0.5".parse().unwrap(), delta: Amount::ZERO }
}

/// An analyst's quota is used up before the account is.
#[test]
fn a_quota_ends_before_the_account_does() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[("team", "2")], |ledger| {
            ledger.add_quota("team", "ann", &half()).unwrap();
            ledger.add_quota("team", "ben", &half()).unwrap();
        });
        let [ann, ben, cleo] = ["ann", "ben", "cleo"].map(|name| service.token(name, &["team"]));
        service.answered(&ann, &asking("team", &older(30), 0.375), 0.375);
        let own = "the quota of \\\"ann\\\" in account \\\"team\\\"";
        service.refused(&ann, &asking("team", &older(31), 0.25), OVER_BUDGET, own);
        service.refused(&ann, &session("team", "s", "visits", 0.05), OVER_BUDGET, own);
        // Questions that fit are answered until the quota is spent exactly. Then no question fits.
        service.answered(&ann, &asking("team", &older(32), 0.125), 0.125);
        service.refused(&ann, &asking("team", &older(33), 0.001), OVER_BUDGET, own);
        // The same question is free, because it is paid for. So is another analyst's question.
        service.answered(&ann, &asking("team", &older(30), 0.375), 0.0);
        service.answered(&ben, &asking("team", &older(34), 0.5), 0.5);
        service.answered(&ann, &asking("team", &older(34), 0.5), 0.0);
        // In an account with quotas, an analyst without a quota cannot ask.
        service.refused(&cleo, &asking("team", &older(35), 0.1), NOT_FOUND, "quota of analyst");
        service.refused(&cleo, &session("team", "s", "visits", 0.1), NOT_FOUND, "quota of analyst");
        assert!((service.place.spent("team").parse::<f64>().unwrap() - 1.0).abs() < 1e-7);
        service.end()
    });
}

/// Ten tokens of one analyst share one quota. Ten analysts with a quota each share one account.
#[test]
fn ten_tokens_have_one_quota_and_ten_names_one_account() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[("team", "2"), ("crowd", "1")], |ledger| {
            ledger.add_quota("team", "ann", &half()).unwrap();
            for name in 0..10 {
                ledger.add_quota("crowd", &format!("eve{name}"), &half()).unwrap();
            }
        });
        // The tokens ask for 1/8 each. Four questions fit the quota of 1/2.
        for token in 0..10 {
            let ann = service.token("ann", &["team"]);
            let body = asking("team", &older(token), 0.125);
            match token {
                0..4 => drop(service.answered(&ann, &body, 0.125)),
                _ => service.refused(&ann, &body, OVER_BUDGET, "the quota of"),
            }
        }
        // The analysts ask for 1/4 each, from quotas of 1/2. Four questions fit the account.
        for name in 0..10 {
            let eve = service.token(&format!("eve{name}"), &["crowd"]);
            let body = asking("crowd", &older(name), 0.25);
            match name {
                0..4 => drop(service.answered(&eve, &body, 0.25)),
                _ => service.refused(&eve, &body, OVER_BUDGET, "refused by account"),
            }
        }
        for (account, most) in [("team", 0.5), ("crowd", 1.0)] {
            let spent: f64 = service.place.spent(account).parse().unwrap();
            assert!(spent <= most && spent > most - 1e-7, "{account}: {spent}");
        }
        service.end()
    });
}

/// A closed account pays for nothing new. Everything that was paid for remains available: stored answers, failed
/// questions and sessions.
#[test]
fn a_closed_account_pays_for_nothing_new() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[("team", "10")], |_| {});
        let (ann, ben) = (service.token("ann", &["team"]), service.token("ben", &["team"]));
        let first = service.answered(&ann, &asking("team", COUNT, 0.5), 0.5);
        let opening = session("team", "s", "visits", 0.5);
        assert_eq!(post(service.address, "/v1/sessions", &ann, &opening).0, 200);
        // A question that was debited but not answered.
        let table = |sql: &str| {
            let connection = rusqlite::Connection::open(service.place.path("data.db")).unwrap();
            connection.execute_batch(sql).unwrap();
        };
        table("ALTER TABLE visits RENAME TO gone");
        let failed = asking("team", &older(50), 1.0);
        let answer = post(service.address, "/v1/questions", &ann, &failed);
        assert_problem(&answer, 502, "charged-and-failed");
        service.told.push(answer);
        table("ALTER TABLE gone RENAME TO visits");
        service.place.ledger().close("team").unwrap();
        let spent = service.place.spent("team");
        for token in [&ann, &ben] {
            service.refused(token, &asking("team", &older(20), 0.1), ILLEGAL, "is closed");
            service.refused(token, &session("team", "t", "visits", 0.1), ILLEGAL, "is closed");
        }
        let again = service.answered(&ben, &asking("team", COUNT, 0.5), 0.0);
        assert_eq!((&again["answers"], &again["repeated"]), (&first["answers"], &json!(true)));
        service.answered(&ann, &failed, 0.0);
        assert_eq!(post(service.address, "/v1/sessions", &ann, &opening).0, 200);
        let question = json!({"name": "q", "sql": COUNT});
        let path = "/v1/sessions/team/s/questions";
        assert_eq!(post(service.address, path, &ann, &question).0, 200);
        assert_eq!(service.place.spent("team"), spent);
        service.end()
    });
}

/// An account within a slot of another account. The parent has paid for the whole account, once, and pays for no second
/// account. Questions are charged to the child alone.
#[test]
fn an_account_within_an_account_is_paid_for_by_its_parent() {
    on_all_tables(|rows| {
        let mut service = Service::new(rows, &[], |ledger| {
            let slot = json!({"name": "one", "mechanism": "approx-dp", "epsilon": 1, "count": 2});
            ledger.open_account("parent", "visits", &plan(0.0, &json!([slot]))).unwrap();
            // The account cannot promise more than the slot.
            assert!(ledger.open_in_slot("child", "parent", "one", &pure("1.01")).is_err());
            ledger.open_in_slot("child", "parent", "one", &pure("1")).unwrap();
        });
        // The data set paid for both openings when the parent account was opened.
        let dataset = service.place.spent("visits");
        assert!((dataset.parse::<f64>().unwrap() - 2.0).abs() < 1e-3, "{dataset}");
        let ann = service.token("ann", &["parent", "child"]);
        let ben = service.token("ben", &["child"]);
        assert_eq!(["parent", "child"].map(|name| service.place.spent(name)), ["1", "0"]);
        service.answered(&ann, &asking("child", &older(30), 0.5), 0.5);
        service.refused(&ben, &asking("parent", &older(30), 0.5), NOT_FOUND, "not yours");
        service.refused(
            &ben,
            &asking("child", &older(31), 0.75),
            OVER_BUDGET,
            "account \\\"child\\\"",
        );
        service.refused(&ben, &in_slot("child", &older(31), "one"), NOT_FOUND, "there is no slot");
        assert_eq!(service.place.spent("parent"), "1");
        // The second opening pays for a question. Then the parent account has nothing left.
        service.answered(&ann, &in_slot("parent", &older(32), "one"), 1.0);
        let used_up = "slot \\\"one\\\" of account \\\"parent\\\"";
        service.refused(&ann, &in_slot("parent", &older(33), "one"), OVER_BUDGET, used_up);
        let mut ledger = service.place.ledger();
        assert!(ledger.open_in_slot("second", "parent", "one", &pure("0.1")).is_err());
        assert!(ledger.open_account("deeper", "child", &NewAccount::Filter(pure("0.1"))).is_err());
        // Even if the parent is closed, the child's budget was paid for and can be spent exactly.
        ledger.close("parent").unwrap();
        service.answered(&ben, &asking("child", &older(34), 0.5), 0.5);
        for token in [&ann, &ben] {
            let child = "account \\\"child\\\"";
            service.refused(token, &asking("child", &older(35), 0.001), OVER_BUDGET, child);
            service.refused(token, &session("child", "s", "visits", 0.001), OVER_BUDGET, child);
        }
        assert_eq!(service.place.spent("parent"), "2");
        let child: f64 = service.place.spent("child").parse().unwrap();
        assert!(child <= 1.0 && child > 1.0 - 1e-7, "{child}");
        assert_eq!(service.place.spent("visits"), dataset);
        service.end()
    });
}

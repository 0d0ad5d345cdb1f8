//! Answers: their numbers, their repetition and their charges.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{new_schema, server};
use serde_json::{Value, json};

#[test]
fn answers_are_accurate_charged_once_and_repeated_free() {
    let place = Place::new(&people(500), (0.0, 30.0), "1000", &[("team", "900")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let sql = "SELECT region, COUNT(*), COUNT(DISTINCT nr), AVG(age) AS age, SUM(CLAMP(pay, 0, 5)), VARIANCE(pay), \
               QUANTILE(age, 0.25, 0.5), HISTOGRAM(age, 0, 30, 50, 100) FROM visits WHERE age < 60 GROUP BY region";
    let first = ask(address, &token, "team", sql, 400.0);
    let answer = read(&first);
    assert_eq!(first.0, 200, "{answer}");
    assert_eq!(
        answer["cost"]["amount"].as_f64().map(|cost| (cost - 400.0).abs() < 1e-9),
        Some(true)
    );
    let numbers = answer["answers"].as_array().unwrap();
    // Three groups, one of which is empty in the table; five numbers, two quantiles and three bins each.
    assert_eq!(numbers.len(), 3 * (5 + 2 + 3));
    let rows: Vec<Row> = people(500);
    for number in numbers {
        let region = number["group"][0].as_str().unwrap();
        let own: Vec<(i64, i64, f64)> = rows
            .iter()
            .filter_map(|row| match (&row.1, &row.2) {
                (rusqlite::types::Value::Integer(age), rusqlite::types::Value::Real(pay)) => {
                    (row.3 == region && *age < 60).then_some((row.0, *age, *pay))
                }
                _ => None,
            })
            .collect();
        let count = own.len() as f64;
        let mean =
            |of: &dyn Fn(&(i64, i64, f64)) -> f64| own.iter().map(of).sum::<f64>() / count.max(1.0);
        let value = number["value"].as_f64().unwrap();
        let truth = match number["name"].as_str().unwrap() {
            "COUNT(*)" => count,
            "COUNT(DISTINCT nr)" => {
                own.iter().map(|one| one.0).collect::<std::collections::BTreeSet<_>>().len() as f64
            }
            "age" if region != "nowhere" => mean(&|one| one.1 as f64),
            "SUM(CLAMP(pay, 0, 5))" => own.iter().map(|one| one.2.clamp(0.0, 5.0)).sum(),
            "VARIANCE(pay)" if region != "nowhere" => {
                mean(&|one| one.2 * one.2) - mean(&|one| one.2).powi(2)
            }
            "HISTOGRAM(age, 0, 30, 50, 100)" => {
                let bin = |at: usize| number["bin"][at].as_f64().unwrap() as i64;
                own.iter().filter(|one| bin(0) <= one.1 && one.1 < bin(1)).count() as f64
            }
            "QUANTILE(age, 0.25, 0.5)" if region != "nowhere" => {
                let share = number["share"].as_f64().unwrap();
                let below = own.iter().filter(|one| (one.1 as f64) < value).count() as f64;
                assert!((below / count - share).abs() < 0.05, "{number}");
                continue;
            }
            _ => continue,
        };
        let half = number["half_width"].as_f64().unwrap();
        assert!((value - truth).abs() <= 3.0 * half + 1e-6, "{number}: {truth}");
        assert!(half < 5.0, "{number}");
    }
    let spent = place.spent("team");
    let again = ask(address, &token, "team", sql, 400.0);
    assert_eq!(read(&again)["answers"], answer["answers"]);
    assert_eq!(read(&again)["repeated"], true);
    // The same question as JSON, written differently.
    let question = json!({"table": "VISITS", "aggregates": [{"name": "COUNT(*)", "of": "count"}]});
    let one = json!({"account": "team", "question": question, "epsilon": 1.5, "key": "monday"});
    let counted = read(&post(address, "/v1/questions", &token, &one));
    let same = read(&ask(address, &token, "team", "select count ( * ) from visits", 1.5));
    assert_eq!(same["answers"][0]["value"], counted["answers"][0]["value"]);
    assert_eq!(
        (&same["answers"][0]["name"], &same["repeated"]),
        (&json!("count(*)"), &json!(true))
    );
    // A list of keys makes the same question, too.
    let filter = json!({"in": {"column": "region", "keys": ["south", "north"]}});
    let listed = json!({"table": "visits", "filter": filter, "aggregates": [{"of": "count"}]});
    let one = json!({"account": "team", "question": listed, "epsilon": 1.5});
    let counted = read(&post(address, "/v1/questions", &token, &one));
    let list = "SELECT COUNT(*) FROM visits WHERE region IN ('north', 'south')";
    let same = read(&ask(address, &token, "team", list, 1.5));
    assert_eq!(same["answers"][0]["value"], counted["answers"][0]["value"]);
    assert_eq!((&counted["repeated"], &same["repeated"]), (&json!(false), &json!(true)));
    // A key belongs to one question.
    let other = json!({"account": "team", "question": question, "epsilon": 1.25, "key": "monday"});
    assert_eq!(post(address, "/v1/questions", &token, &other).0, 409);
    assert_ne!(place.spent("team"), spent);
    // Another process gives the same answer.
    let restarted = place.serve();
    let again = ask(restarted, &token, "team", sql, 400.0);
    assert_eq!(read(&again)["answers"], answer["answers"]);
    // Another analyst of the same account gets the answer for free.
    let ben = place.token(Role::Analyst, "ben", &["team"]);
    let told = read(&ask(restarted, &ben, "team", sql, 400.0));
    assert_eq!((&told["answers"], &told["repeated"]), (&answer["answers"], &json!(true)));
    assert!(place.verified());
}

/// Keys are stored in the ledger and survive the service. Only a debit or an answer takes a key.
#[test]
fn a_key_stands_for_one_question_for_good() {
    let place = Place::new(&people(100), (0.0, 30.0), "10", &[("team", "2")]);
    let [ann, ben] = ["ann", "ben"].map(|name| place.token(Role::Analyst, name, &["team"]));
    let address = place.serve();
    let ask = |address, token: &str, key: &str, sql: &str, epsilon: f64| {
        let asked = json!({"account": "team", "sql": sql, "epsilon": epsilon, "key": key});
        post(address, "/v1/questions", token, &asked)
    };
    let (count, sum) = ("SELECT COUNT(*) FROM visits", "SELECT SUM(age) FROM visits");
    // Illegal and over-budget questions take no key.
    assert_eq!(ask(address, &ann, "k", "SELECT COUNT(*) FROM nowhere", 0.5).0, 422);
    assert_eq!(ask(address, &ann, "k", sum, 3.0).0, 402);
    let first = read(&ask(address, &ann, "k", count, 0.5));
    let spent = place.spent("team");
    let refused = |answer: (u16, String)| {
        assert_problem(&answer, 409, "key-in-use");
        assert_eq!(place.spent("team"), spent);
    };
    refused(ask(address, &ann, "k", sum, 0.5));
    refused(ask(address, &ann, "k", count, 0.25));
    // Each question of a list has its own key.
    let one =
        |key: &str, sql: &str| json!({"account": "team", "sql": sql, "epsilon": 0.5, "key": key});
    let list = json!([one("k", sum), one("k", count)]);
    let outcomes = read(&post(address, "/v1/questions", &ann, &list));
    assert_eq!(outcomes[0]["code"], "key-in-use");
    assert_eq!(outcomes[1]["answers"], first["answers"]);
    let restarted = place.serve();
    refused(ask(restarted, &ann, "k", sum, 0.5));
    assert_eq!(read(&ask(restarted, &ann, "k", count, 0.5))["answers"], first["answers"]);
    // Another analyst's key for an answered question, and a second key of the first analyst.
    for (token, key) in [(&ben, "k"), (&ann, "l")] {
        let told = read(&ask(restarted, token, key, count, 0.5));
        assert_eq!((&told["answers"], &told["repeated"]), (&first["answers"], &json!(true)));
        refused(ask(address, token, key, sum, 0.5));
    }
    assert_eq!(ask(restarted, &ben, "m", sum, 0.5).0, 200);
    assert!(place.verified());
}

#[test]
fn prices_debit_nothing_and_hold() {
    let place = Place::new(&people(100), (0.0, 30.0), "10", &[("team", "1")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let asking =
        |sql: &str, epsilon: f64| json!({"account": "team", "sql": sql, "epsilon": epsilon});
    let one = asking("SELECT COUNT(*) FROM visits", 0.25);
    let quote = read(&post(address, "/v1/prices", &token, &one));
    assert_eq!(quote["left"]["more"], 4, "{quote}");
    // Geometric noise of scale 2/0.25 = 8: P(|x| > w) = 2 a^(w+1)/(1+a) <= 0.05 with a = e^(-1/8) from w = 24 on.
    assert_eq!(quote["expected"][0]["half_width"], 24.0, "{quote}");
    let list = json!([
        one,
        asking("SELECT SUM(pay) FROM visits", 2.0),
        asking("SELECT 1 FROM visits", 1.0)
    ]);
    let quotes = read(&post(address, "/v1/prices", &token, &list));
    assert_eq!(quotes[0], quote);
    assert_eq!((&quotes[1]["affordable"], &quotes[2]["code"]), (&json!(false), &json!("illegal")));
    assert_eq!(place.spent("team"), "0");
    // A target error of 24 costs the same quarter, to a thousandth.
    let error = json!({"account": "team", "sql": "SELECT COUNT(*) FROM visits", "error": 24});
    let quote = read(&post(address, "/v1/prices", &token, &error));
    let epsilon = quote["epsilon"].as_f64().unwrap();
    assert!(epsilon <= 0.2501 && epsilon > 0.24, "{quote}");
    let told = read(&post(address, "/v1/questions", &token, &error));
    assert!(told["answers"][0]["half_width"].as_f64().unwrap() <= 24.0, "{told}");
    assert_eq!(told["cost"], quote["cost"]);
}

/// Each question of a list is answered on its own, in order: illegal and over-budget questions do not affect the
/// others.
#[test]
fn lists_are_answered_one_by_one() {
    let place = Place::new(&people(100), (0.0, 30.0), "1000", &[("team", "900")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let asking =
        |sql: &str, epsilon: f64| json!({"account": "team", "sql": sql, "epsilon": epsilon});
    // With almost no noise.
    let count = asking("SELECT COUNT(*) FROM visits", 400.0);
    let list = json!([
        count,
        asking("SELECT 1 FROM visits", 1.0),
        asking("SELECT region, COUNT(*), COUNT(DISTINCT nr) FROM visits GROUP BY region", 401.0),
        asking("SELECT SUM(pay) FROM visits", 400.0),
        json!({"account": "team", "sql": "SELECT COUNT(*) FROM visits"}),
        json!({"account": "other", "sql": "SELECT COUNT(*) FROM visits", "epsilon": 1}),
        count,
        asking("SELECT MEDIAN(age) FROM visits WHERE age < 0", 99.0),
    ]);
    let told = read(&post(address, "/v1/questions", &token, &list));
    let told = told.as_array().unwrap();
    let codes = told.iter().map(|one| one["code"].as_str().unwrap_or("answered"));
    let expected = [
        "answered",
        "illegal",
        "answered",
        "over-budget",
        "illegal",
        "not-found",
        "answered",
        "answered",
    ];
    assert_eq!(codes.collect::<Vec<_>>(), expected, "{told:?}");
    let spent = place.spent("team").parse::<f64>().unwrap();
    assert!((899.999..=900.0).contains(&spent), "{spent}");
    // The same charge as for the question alone on a ledger of its own.
    let alone = Place::new(&people(100), (0.0, 30.0), "1000", &[("team", "900")]);
    let other = alone.serve();
    let ann = alone.token(Role::Analyst, "ann", &["team"]);
    let value = |answer: &Value, place: usize| answer["answers"][place]["value"].as_f64().unwrap();
    for (asked, answer) in [(&list[0], &told[0]), (&list[2], &told[2])] {
        let one = read(&post(other, "/v1/questions", &ann, asked));
        for place in 0..one["answers"].as_array().unwrap().len() {
            assert!((value(&one, place) - value(answer, place)).abs() < 0.5, "{one} {answer}");
        }
    }
    // The second time, nothing is charged and the answer is the same.
    assert_eq!(told[6]["answers"], told[0]["answers"]);
    assert_eq!(told[6]["cost"]["amount"], 0.0);
    let again = read(&post(address, "/v1/questions", &token, &list));
    for place in [0, 2, 6, 7] {
        assert_eq!(again[place]["answers"], told[place]["answers"]);
        assert_eq!(
            (&again[place]["repeated"], &again[place]["cost"]["amount"]),
            (&json!(true), &json!(0.0))
        );
    }
    assert!((place.spent("team").parse::<f64>().unwrap() - spent).abs() < 1e-9);
    let many = Value::Array(vec![count; 101]);
    assert_eq!(read(&post(address, "/v1/questions", &token, &many))["code"], "illegal");
    assert_eq!(read(&post(address, "/v1/questions", &token, &json!([]))), json!([]));
    assert!(place.verified());
}

#[test]
fn rehearsals_are_free_and_reveal_nothing_about_the_table() {
    let place = Place::new(&people(100), (0.0, 30.0), "10", &[("team", "1"), ("other", "1")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let sql = "SELECT region, COUNT(*), AVG(age) FROM visits GROUP BY region";
    let asking = |account: &str, sql: &str| {
        // The budget is so large that there is almost no noise.
        json!({"account": account, "sql": sql, "epsilon": 400})
    };
    let rehearse =
        |account: &str, sql: &str| post(address, "/v1/rehearsals", &token, &asking(account, sql));
    let first = read(&rehearse("team", sql));
    assert_eq!((&first["dummy"], &first["entry"]), (&json!(true), &json!(null)), "{first}");
    assert_eq!((place.spent("team").as_str(), &first["cost"]["amount"]), ("0", &json!(0.0)));
    let value = |answer: &Value, place: usize| answer["answers"][place]["value"].as_f64().unwrap();
    // Five hundred people of one or two rows in three regions, ages all over from 0 to 100.
    let rows: f64 = [0, 2, 4].map(|place| value(&first, place)).iter().sum();
    assert!((600.0..900.0).contains(&rows), "{first}");
    assert!(
        [1, 3, 5].map(|place| value(&first, place)).iter().all(|age| (40.0..60.0).contains(age))
    );
    // A rehearsal does not depend on the table's rows, or on whether the table exists.
    place.write(&people(7));
    let values = |answer: &Value| [0, 2, 4].map(|place| answer["answers"][place]["value"].clone());
    assert_eq!(values(&read(&rehearse("team", sql))), values(&first));
    std::fs::remove_file(place.path("data.db")).unwrap();
    assert_eq!(values(&read(&rehearse("team", sql))), values(&first));
    for (account, sql, code) in [
        ("other", sql, "not-found"),
        ("team", "SELECT COUNT(*) FROM visits LIMIT 3", "illegal"),
        ("team", "SELECT COUNT(*) FROM elsewhere", "illegal"),
    ] {
        assert_eq!(read(&rehearse(account, sql))["code"], code);
    }
    let auditor = place.token(Role::Auditor, "otto", &[]);
    let told = post(address, "/v1/rehearsals", &auditor, &asking("team", sql));
    assert_eq!(read(&told)["code"], "forbidden");
    assert!(place.verified());
}

/// Answers from a table on a server are about as accurate as those from a file. A failure after the debit is charged
/// and reveals nothing.
#[test]
fn tables_on_a_server_are_answered_accurately() {
    let Some(server) = server() else { return };
    let schema = new_schema(&server);
    let mut client = postgres::Client::connect(&server, postgres::NoTls).unwrap();
    let table = format!(
        "CREATE TABLE {schema}.seen (nr bigint, age int, pay numeric, region text); \
         INSERT INTO {schema}.seen SELECT i / 2, 20 + i % 50, 1.5, 'north' FROM generate_series(0, 999) i"
    );
    client.batch_execute(&table).unwrap();
    let place = Place::new(&[], (0.0, 30.0), "1000", &[("team", "900")]);
    place.move_table(&server, &format!("{schema}.seen"));
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let sql = "SELECT COUNT(*), COUNT(DISTINCT nr), SUM(pay), AVG(age) FROM visits WHERE region = 'north'";
    let answer = read(&ask(address, &token, "team", sql, 400.0));
    // A quarter of the epsilon each: noise of scales 0.02, 0.01, 0.2 and about 0.003, and forty times as much.
    let expected = [(1000.0, 1.0), (500.0, 1.0), (1500.0, 8.0), (44.5, 0.2)];
    for (place, (expected, within)) in expected.into_iter().enumerate() {
        let value = answer["answers"][place]["value"].as_f64().unwrap();
        assert!((value - expected).abs() < within, "{answer}");
    }
    client.batch_execute(&format!("DROP TABLE {schema}.seen")).unwrap();
    let failed = ask(address, &token, "team", "SELECT COUNT(*) FROM visits", 1.0);
    assert_eq!((failed.0, &read(&failed)["code"]), (502, &json!("charged-and-failed")));
    assert!(!failed.1.contains("seen"), "{}", failed.1);
    let spent: f64 = place.spent("team").parse().unwrap();
    assert!((spent - 401.0).abs() < 1e-9, "{spent}");
    assert!(place.verified());
}

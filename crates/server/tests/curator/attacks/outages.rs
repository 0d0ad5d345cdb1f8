//! Parts of the service that are unreachable, full, slow or at a wrong time.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::{
    cluster, has_own_server, new_schema, on_own_server, run, server, within,
};
use serde_json::json;
use std::path::Path;
use std::process::Command;

const COUNT: &str = "SELECT COUNT(*) FROM visits";

fn older(age: u32) -> String {
    format!("SELECT COUNT(*) FROM visits WHERE age > {age}")
}

/// The readiness that the service reports.
fn ready(address: std::net::SocketAddr) -> (u16, [bool; 3]) {
    let answer = get(address, "/v1/ready", "");
    let parts = read(&answer);
    (answer.0, ["ledger", "state", "engines"].map(|part| parts[part].as_bool().unwrap()))
}

/// The operator's steps after the ledger's files have been repaired (docs/ledger.md).
fn go_on(place: &Place) {
    let _ = std::fs::remove_file(place.path("ledger.db-stopped"));
}

/// An unreachable engine costs nothing. Stored answers are still returned, and a session waits for the engine.
#[test]
fn an_unreachable_engine_costs_nothing() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    assert_eq!(ready(address), (200, [true; 3]));
    let before = read(&ask(address, &token, "team", COUNT, 0.5));
    let gate = json!({"epsilon": 0.1, "answers": 1, "threshold": 1000});
    let opening = json!({"account": "team", "table": "visits", "key": "s", "sparse_vector": gate});
    assert_eq!(post(address, "/v1/sessions", &token, &opening).0, 200);
    let (spent, data, away) = (place.spent("team"), place.path("data.db"), place.path("away"));
    std::fs::rename(&data, &away).unwrap();
    let asked = json!({"name": "q", "sql": COUNT});
    for _ in 0..2 {
        assert_problem(&ask(address, &token, "team", &older(1), 0.5), 503, "unavailable");
        let session = post(address, "/v1/sessions/team/s/questions", &token, &asked);
        assert_problem(&session, 503, "unavailable");
        let list = json!([
            {"account": "team", "sql": COUNT, "epsilon": 0.5},
            {"account": "team", "sql": older(2), "epsilon": 0.5},
        ]);
        let list = read(&post(address, "/v1/questions", &token, &list));
        assert_eq!(list[0]["answers"], before["answers"], "{list}");
        assert_eq!(list[1]["code"], "unavailable", "{list}");
    }
    assert_eq!(read(&ask(address, &token, "team", COUNT, 0.5))["answers"], before["answers"]);
    assert_eq!(place.spent("team"), spent);
    assert_eq!(get(address, "/v1/health", "").0, 200);
    wait_for(|| ready(address) == (503, [true, true, false]));
    std::fs::rename(&away, &data).unwrap();
    assert_eq!(ask(address, &token, "team", &older(1), 0.5).0, 200);
    assert_eq!(post(address, "/v1/sessions/team/s/questions", &token, &asked).0, 200);
    wait_for(|| ready(address) == (200, [true; 3]));
    assert!(place.verified());
}

/// An unreachable ledger is a temporary fault for all callers and paths. A question that failed is asked again and
/// charged once.
#[test]
fn an_unreachable_ledger_is_a_temporary_fault() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "5")]);
    let tokens = ["ann", "ben"].map(|name| place.token(Role::Analyst, name, &["team"]));
    let owner = place.token(Role::Owner, "olga", &[]);
    let (child, address) = place.start();
    assert_eq!(ask(address, &tokens[0], "team", COUNT, 0.5).0, 200);
    let files = ["ledger.db", "ledger.db-wal", "ledger.db-shm"];
    let there = |file: &&str| place.path(file).exists();
    let files: Vec<&str> = files.into_iter().filter(there).collect();
    let moved = |from: &str, to: &str| {
        for file in &files {
            let names = [from, to].map(|end| place.path(&format!("{file}{end}")));
            std::fs::rename(&names[0], &names[1]).unwrap();
        }
    };
    moved("", ".away");
    for both in [false, true] {
        if both {
            std::fs::rename(place.path("data.db"), place.path("away")).unwrap();
        }
        for token in &tokens {
            for number in 0..3 {
                assert_problem(
                    &ask(address, token, "team", &older(number), 0.5),
                    503,
                    "unavailable",
                );
            }
            assert_eq!(get(address, "/v1/accounts", token).0, 503);
            assert_eq!(get(address, "/v1/me", token).0, 200);
        }
        assert_eq!(get(address, "/v1/status", &owner).0, 503);
        assert_eq!(get(address, "/v1/health", "").0, 200);
        wait_for(|| ready(address) == (503, [false, true, !both]));
        let metrics = get(address, "/v1/metrics", &owner);
        assert!(metrics.1.contains("counterpoint_ledger_up 0\n"), "{}", metrics.1);
    }
    // Every failure is in the log, with its request and its cause.
    wait_for(|| place.logged("/v1/questions").len() == 13);
    let failed = place.logged("/v1/questions");
    assert_eq!(failed.iter().filter(|line| line["status"] == 503).count(), 12);
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    assert!(log.matches("the ledger failed").count() >= 12, "{log}");
    std::fs::rename(place.path("away"), place.path("data.db")).unwrap();
    moved(".away", "");
    go_on(&place);
    for token in &tokens {
        for number in 0..3 {
            assert_eq!(ask(address, token, "team", &older(number), 0.5).0, 200);
        }
    }
    wait_for(|| ready(address) == (200, [true; 3]));
    end(child);
    assert_eq!(place.debits("team").len(), 4);
    assert!(place.verified());
}

/// PostgreSQL stops, and with it the ledger, the table or both. Failed questions cost nothing, and nothing is charged
/// twice.
#[test]
fn unreachable_servers_cost_nothing() {
    on_own_server("attacks::outages::stopped_servers");
}

#[test]
#[ignore = "is started by another test"]
fn stopped_servers() {
    if !has_own_server() {
        return;
    }
    let server = server().unwrap();
    for (ledger_there, table_there) in [(true, false), (false, true), (true, true)] {
        let shared = within(&server, &new_schema(&server));
        let ledger = if ledger_there { shared.as_str() } else { "sqlite:ledger.db" };
        let place = Place::on(ledger, &people(50), (0.0, 30.0), "10", &[("team", "5")]);
        if table_there {
            let schema = new_schema(&server);
            run(
                &server,
                &format!(
                    "CREATE TABLE {schema}.kept (nr bigint, age int, pay numeric, region text); \
                 INSERT INTO {schema}.kept SELECT i / 2, 20 + i % 50, 1.5, 'north' FROM generate_series(0, 99) i"
                ),
            );
            place.move_table(&server, &format!("{schema}.kept"));
        }
        let tokens = ["ann", "ben"].map(|name| place.token(Role::Analyst, name, &["team"]));
        let address = place.serve();
        assert_eq!(ask(address, &tokens[0], "team", COUNT, 0.5).0, 200);
        cluster(&["stop", "data"]);
        for (number, token) in tokens.iter().cycle().take(6).enumerate() {
            let answer = ask(address, token, "team", &older(number as u32 / 2), 0.5);
            assert_problem(&answer, 503, "unavailable");
        }
        wait_for(|| ready(address) == (503, [!ledger_there, true, !table_there]));
        assert_eq!(get(address, "/v1/health", "").0, 200);
        cluster(&["start", "data"]);
        assert_eq!(place.debits("team").len(), 1);
        for token in &tokens {
            for number in 0..3 {
                assert_eq!(ask(address, token, "team", &older(number), 0.5).0, 200);
            }
        }
        wait_for(|| ready(address) == (200, [true; 3]));
        assert_eq!(place.debits("team").len(), 4);
        assert!(place.verified());
    }
}

/// A full disk is a temporary fault. When there is space again, nothing is charged twice.
#[test]
fn a_full_disk_is_a_temporary_fault() {
    let place = Place::new(&people(50), (0.0, 30.0), "100", &[("team", "50")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    // The largest size of a file, in blocks of 512 bytes.
    let blocks = std::fs::metadata(place.path("ledger.db")).unwrap().len() / 512 + 160;
    let exe = std::env::current_exe().unwrap();
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\" 2>/dev/null");
    let (child, address) = place.start_by(Command::new("sh").args(["-c", &script]).arg(exe));
    let mut answers = Vec::new();
    while answers.len() < 400 && answers.last() != Some(&503) {
        let answer = ask(address, &token, "team", &older(answers.len() as u32), 0.125);
        // If the commit fails, the question was charged.
        assert!(matches!(answer.0, 200 | 502 | 503), "{answer:?}");
        answers.push(answer.0);
    }
    assert_eq!(answers.last(), Some(&503), "the disk is not full");
    assert_eq!(get(address, "/v1/health", "").0, 200);
    end(child);
    go_on(&place);
    let (child, address) = place.start();
    for number in 0..answers.len() as u32 {
        assert_eq!(ask(address, &token, "team", &older(number), 0.125).0, 200);
    }
    end(child);
    assert_eq!(place.debits("team").len(), answers.len());
    assert!(place.verified());
}

/// A token is revoked while its question runs. The question is paid for, so it is answered. No further question is
/// answered.
#[test]
fn a_token_revoked_during_a_question_asks_nothing_more() {
    let place = Place::new(&people(50), (1.0, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let address = place.serve();
    let id = place.tokens().list().unwrap()[0].id;
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(address, &token, "team", COUNT, 0.5));
        wait_for(|| place.debits("team").len() == 1);
        assert!(place.tokens().revoke(id).unwrap());
        assert_eq!(get(address, "/v1/me", &token).0, 401);
        assert_eq!(ask(address, &token, "team", &older(1), 0.5).0, 401);
        assert_eq!(asked.join().unwrap().0, 200);
    });
    assert_eq!(place.debits("team").len(), 1);
}

/// Changes the system clock for one program.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int outcome = real(id, now);
    const char *name = getenv("CLOCK_OFFSET");
    FILE *file = id == CLOCK_REALTIME && name ? fopen(name, "r") : 0;
    long offset = 0;
    if (file) {
        if (fscanf(file, "%ld", &offset) == 1) now->tv_sec += offset;
        fclose(file);
    }
    return outcome;
}
"#;

fn clock(folder: &Path) -> Option<std::path::PathBuf> {
    let (source, library) = (folder.join("clock.c"), folder.join("clock.so"));
    std::fs::write(&source, CLOCK).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .arg("-ldl")
        .status();
    built.is_ok_and(|status| status.success()).then_some(library)
}

/// A clock that jumps by years, forward and back, changes neither answers, tokens, the times of answers nor the ledger.
#[test]
fn a_clock_that_jumps_changes_nothing() {
    let place = Place::new(&people(50), (0.2, 30.0), "10", &[("team", "5")]);
    let Some(library) = clock(place.folder()) else {
        return eprintln!("not tested: there is no C compiler");
    };
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let gone = place.token(Role::Analyst, "gone", &["team"]);
    let offset = place.path("offset");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env("LD_PRELOAD", library).env("CLOCK_OFFSET", &offset);
    let jump = |seconds: i64| std::fs::write(&offset, seconds.to_string()).unwrap();
    jump(0);
    let (child, address) = place.start_by(&mut command);
    let id = place.tokens().list().unwrap()[1].id;
    for (number, seconds) in [0, 400_000_000, -400_000_000, 100_000, -1].into_iter().enumerate() {
        jump(seconds);
        let start = std::time::Instant::now();
        let first = read(&ask(address, &token, "team", &older(number as u32), 0.5));
        assert!(start.elapsed() >= std::time::Duration::from_millis(200));
        assert_eq!(first["cost"]["amount"].as_f64().map(|cost| cost > 0.4), Some(true), "{first}");
        jump(-seconds);
        let again = read(&ask(address, &token, "team", &older(number as u32), 0.5));
        assert_eq!((&again["answers"], &again["repeated"]), (&first["answers"], &json!(true)));
        assert_eq!(get(address, "/v1/me", &gone).0, if number == 0 { 200 } else { 401 });
        place.tokens().revoke(id).unwrap();
    }
    end(child);
    assert_eq!(place.debits("team").len(), 5);
    assert!(place.verified());
}

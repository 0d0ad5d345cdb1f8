//! Requests that are answered.

use super::*;
use counterpoint::Options;
use counterpoint_studies::{PlannedStudy, read_study};
use counterpoint_wire::Format;

#[test]
fn a_study_is_planned_as_by_the_program() {
    let answer = post("/plan", STUDY);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.head.contains("content-type: application/json"));
    let study = read_study(STUDY.as_bytes(), Format::Json).unwrap();
    let planned = counterpoint_planner::plan(&study, &Options::default()).unwrap();
    assert_eq!(answer.body, PlannedStudy::new(&study, planned).json().unwrap());
}

/// The lower bound on a weighted sum is requested separately.
#[test]
fn the_lower_bound_of_a_sum_is_requested_separately() {
    let weighted =
        STUDY.replace("\"error\": 500", "\"weight\": 2").replacen('{', "{\"epsilon\": 1, ", 1);
    let planned = post("/plan", &weighted).json();
    let bounded = post("/least", &weighted).json();
    assert!(planned["least"].is_null() && planned["sum"] == bounded["sum"], "{planned} {bounded}");
    let (sum, least) =
        (bounded["sum"].as_f64().unwrap(), bounded["least"]["sum"].as_f64().unwrap());
    assert!((0.9 * sum..=sum).contains(&least), "{bounded}");
    assert!(post("/least", STUDY).json()["least"].is_null());
    assert_eq!(post("/least", "{}").status, 422);
}

#[test]
fn study_problems_name_the_statistic_and_the_field() {
    let about = |body: &str| {
        let answer = post("/plan", body);
        assert_eq!(answer.status, 422, "{}", answer.body);
        let object = answer.json();
        assert!(object["problem"].as_str().is_some_and(|problem| !problem.is_empty()));
        (object["statistic"].as_u64(), object["field"].as_str().map(str::to_owned))
    };
    let field = |name: &str| Some(name.to_owned());
    assert_eq!(about(&STUDY.replace("500}", "-1}")), (Some(1), field("error")));
    assert_eq!(about(&STUDY.replace("[0,", "[\"x\",")), (Some(1), field("bounds")));
    assert_eq!(about(&STUDY.replace("\"replace\"", "\"x\"")), (None, field("adjacency")));
    assert_eq!(about(&STUDY.replace(", \"people\": 5000", "")), (Some(1), field("people")));
    assert_eq!(about("{"), (None, None));
    let held = r#"{"delta": 0, "epsilon": 1, "data": {"adjacency": "replace"},
        "statistic": [{"kind": "held-back", "epsilon": 2}, {"kind": "count", "error": 5}]}"#;
    assert_eq!(about(held), (None, field("epsilon")));
}

#[test]
fn study_files_of_both_formats_become_json() {
    let toml = include_str!("../../../../examples/study.toml");
    let answer = post("/study", &serde_json::json!({ "text": toml }).to_string());
    assert_eq!(answer.status, 200, "{}", answer.body);
    let expected: serde_json::Value = toml::from_str(toml).unwrap();
    assert_eq!(answer.json(), expected);
    let again = post("/study", &serde_json::json!({ "text": answer.body }).to_string());
    assert_eq!(again.json(), expected);
    let planned = post("/plan", &answer.body);
    assert_eq!(planned.json()["statistics"].as_array().unwrap().len(), 5);
    for bad in ["", "delta = 2", "{\"delta\": 1e-6}"] {
        let answer = post("/study", &serde_json::json!({ "text": bad }).to_string());
        assert_eq!(answer.status, 422, "{bad}");
    }
    assert_eq!(post("/study", "{\"toml\": 1}").status, 422);
}

/// Every file that the pages name exists, and the pages name every file that exists.
#[test]
fn pages_are_complete_and_load_nothing_from_other_servers() {
    let mut open = vec!["/".to_owned()];
    let mut seen = Vec::new();
    while let Some(path) = open.pop() {
        if seen.contains(&path) {
            continue;
        }
        let answer = get(&path);
        assert_eq!(answer.status, 200, "{path}");
        for header in [
            "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
             img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
        ] {
            assert!(answer.head.contains(header), "{path}: {}", answer.head);
        }
        assert!(!answer.head.contains("access-control"), "{path}");
        let named = |start: &str, to: &str| -> Vec<String> {
            let parts = answer.body.split(start).skip(1);
            let names = parts.filter_map(|part| part.split(to).next());
            names.map(|name| format!("/{}", name.trim_start_matches(['.', '/']))).collect()
        };
        if path == "/" || path.ends_with(".html") {
            let linked = [named("href=\"/", "\""), named("src=\"/", "\"")].concat();
            open.extend(linked);
        } else if path.ends_with(".js") {
            open.extend(named("from './", "'"));
        }
        let elsewhere = answer.body.replace("http://www.w3.org/2000/svg", "");
        assert!(!elsewhere.contains("http://") && !elsewhere.contains("https://"), "{path}");
        seen.push(path);
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let index = std::fs::read_to_string(folder.join("index.html")).unwrap();
    let console = std::fs::read_to_string(folder.join("console.html")).unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        // Parts of pages are included, not linked.
        if (index.clone() + &console).contains(&format!("<!-- {name} -->")) {
            continue;
        }
        let path = if name == "index.html" { "/".to_owned() } else { format!("/{name}") };
        assert!(seen.contains(&path), "nothing leads to {path}");
    }
}

#[test]
fn a_head_alone_is_answered_without_a_body() {
    let answer = request("HEAD /", &[&host()], "");
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
}

/// A study of 100,000 statistics fits. The test is quick because the last statistic is wrong.
#[test]
fn a_study_of_the_largest_size_is_read() {
    let one = |at: u32| {
        format!(
            r#"{{"name": "those who are in it, {at}", "kind": "count", "error": 50, "confidence": 0.95}},"#
        )
    };
    let last = r#"{"kind": "count", "error": 0}"#;
    let list = (1..100_000).map(one).collect::<String>() + last;
    let study = format!(
        "{{\"delta\": 1e-6, \"data\": {{\"adjacency\": \"replace\"}}, \"statistic\": [{list}]}}"
    );
    let answer = post("/plan", &study);
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert_eq!(answer.json()["statistic"], 100_000);
}

/// A client that sends an edited study does not wait for the plan of the earlier version.
#[test]
fn disconnected_clients_free_their_places() {
    // Planning each of these studies takes minutes.
    let mean = |at: u32| {
        let high = 100.0 + f64::from(at) * 0.37;
        format!(r#"{{"kind": "mean", "bounds": [0, {high}], "error": {}}}"#, high / 9.0)
    };
    let slow = (0..4000).map(mean).collect::<Vec<_>>().join(",");
    let data = r#""data": {"adjacency": "add-remove", "people": 5000}"#;
    let study = format!(r#"{{"delta": 1e-6, "epsilon": 1, {data}, "statistic": [{slow}]}}"#);
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2);
    let kind = "Content-Type: application/json";
    let head = format!(
        "POST /plan HTTP/1.1\r\n{}\r\n{kind}\r\nContent-Length: {}\r\n\r\n",
        host(),
        study.len()
    );
    let mut clients: Vec<TcpStream> = (0..cores).map(|_| connect()).collect();
    for client in &mut clients {
        client.write_all(head.as_bytes()).unwrap();
        client.write_all(study.as_bytes()).unwrap();
    }
    // The slow studies are being planned by the time that these requests are answered.
    for _ in 0..100 {
        assert_eq!(get("/").status, 200);
    }
    drop(clients);
    assert_eq!(post("/plan", STUDY).status, 200);
}

#[test]
fn other_machines_cannot_be_served() {
    for address in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let error = Server::bind(address.parse().unwrap()).unwrap_err().to_string();
        assert!(error.contains("legal: a loopback address"), "{error}");
    }
    let taken = Server::bind(address()).unwrap_err().to_string();
    assert!(taken.starts_with(&format!("cannot listen on {}", address())), "{taken}");
}

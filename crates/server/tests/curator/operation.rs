//! The operator's view: logs, metrics and signals.

use crate::service::*;
use counterpoint_curator::Role;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use tokio_rustls::rustls;

const COUNT: &str = "SELECT COUNT(*) FROM visits WHERE region = 'north' AND age > 31";

/// After SIGTERM, the service delivers the answers that are being computed and then stops.
#[test]
fn a_stopping_service_delivers_pending_answers() {
    for signal_name in ["-TERM", "-INT"] {
        let place = Place::new(&people(50), (1.0, 30.0), "100", &[("team", "50")]);
        let token = place.token(Role::Analyst, "ann", &["team"]);
        let (mut child, address) = place.start();
        let list = json!([
            {"account": "team", "sql": COUNT, "epsilon": 0.5},
            {"account": "team", "sql": "SELECT AVG(age) FROM visits", "epsilon": 0.5},
        ]);
        let gate = json!({"epsilon": 0.1, "answers": 1, "threshold": 1000});
        let opening =
            json!({"account": "team", "table": "visits", "key": "s", "sparse_vector": gate});
        assert_eq!(post(address, "/v1/sessions", &token, &opening).0, 200);
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| post(address, "/v1/questions", &token, &list));
            wait_for(|| place.debits("team").len() == 3);
            signal(&child, signal_name);
            let answer = asked.join().unwrap();
            assert_eq!(answer.0, 200, "{signal_name}: {}", answer.1);
            let answers = read(&answer);
            assert!(
                answers[0]["answers"].is_array() && answers[1]["answers"].is_array(),
                "{answers}"
            );
        });
        assert_eq!(child.wait().unwrap().code(), Some(0));
        assert!(place.verified());
    }
}

/// Each request has one log line: the caller, the path, the cost and the times of its stages. It never contains the
/// question or the answer.
#[test]
fn the_log_has_a_line_for_each_request_and_no_data() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "1")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let (child, address) = place.start();
    let answer = ask(address, &token, "team", COUNT, 0.5);
    assert_eq!(answer.0, 200);
    assert_eq!(ask(address, &token, "team", COUNT, 0.75).0, 402);
    assert_eq!(ask(address, "cpt_none", "team", COUNT, 0.5).0, 401);
    assert_eq!(get(address, "/v1/accounts/secret-name", &token).0, 404);
    assert_eq!(get(address, "/v1/health", "").0, 200);
    let connection = rusqlite::Connection::open(place.path("data.db")).unwrap();
    connection.execute_batch("ALTER TABLE visits DROP COLUMN region").unwrap();
    assert_eq!(ask(address, &token, "team", COUNT, 0.25).0, 502);
    wait_for(|| place.logged("/v1/questions").len() == 4 && place.logged("/v1/health").len() == 1);
    let lines = place.logged("/v1/questions");
    let fields =
        |line: &Value| (line["status"].clone(), line["principal"].clone(), line["role"].clone());
    assert_eq!(fields(&lines[0]), (json!(200), json!("ann"), json!("analyst")));
    assert_eq!(fields(&lines[1]), (json!(402), json!("ann"), json!("analyst")));
    assert_eq!(fields(&lines[2]), (json!(401), json!(""), json!("")));
    assert_eq!(lines[3]["status"], 502);
    let cost: f64 = lines[0]["cost"].as_str().unwrap().parse().unwrap();
    assert!((cost - 0.5).abs() < 1e-6 && lines[1]["cost"] == "", "{lines:?}");
    for part in ["seconds", "queue", "ledger", "engine", "noise"] {
        assert!(lines[0][part].as_f64().is_some_and(|time| time >= 0.0), "{part}: {:?}", lines[0]);
    }
    assert!(lines[0]["engine"].as_f64().unwrap() > 0.0 && lines[1]["engine"] == 0.0);
    let ids: std::collections::BTreeSet<u64> =
        lines.iter().map(|line| line["id"].as_u64().unwrap()).collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(place.logged("/v1/accounts/{account}").len(), 1);
    let log = std::fs::read_to_string(place.path("log")).unwrap();
    let value = read(&answer)["answers"][0]["value"].to_string();
    for secret in ["SELECT", "north", "region", "no such column", "secret-name", &token, &value] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
    end(child);
}

/// Metrics for alarms. Only owners see the engines' times.
#[test]
fn metrics_tell_stages_queues_failures_and_budgets() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "4")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let [owner, auditor] = [Role::Owner, Role::Auditor].map(|role| place.token(role, "olga", &[]));
    let (child, address) = place.start();
    assert_eq!(ask(address, &token, "team", COUNT, 0.5).0, 200);
    wait_for(|| place.logged("/v1/questions").len() == 1);
    let metrics = get(address, "/v1/metrics", &owner);
    for line in [
        "counterpoint_requests_total{status=\"2xx\"} 1\n",
        "counterpoint_charged_and_failed_total 0\n",
        "counterpoint_questions_running 0\n",
        "counterpoint_questions_waiting 0\n",
        "counterpoint_ledger_up 1\n",
        "counterpoint_stage_seconds_bucket{stage=\"engine\",le=\"+Inf\"} 1\n",
        "counterpoint_stage_seconds_count{stage=\"queue\"} 1\n",
        "counterpoint_stage_seconds_count{stage=\"ledger\"} 1\n",
        "counterpoint_stage_seconds_count{stage=\"noise\"} 1\n",
        "counterpoint_budget_left{dataset=\"visits\",unit=\"epsilon\"} 6\n",
    ] {
        assert!(metrics.1.contains(line), "{line}{}", metrics.1);
    }
    let others = get(address, "/v1/metrics", &auditor).1;
    assert!(
        others.contains("stage=\"ledger\"") && !others.contains("stage=\"engine\""),
        "{others}"
    );
    assert_eq!(get(address, "/v1/metrics", &token).0, 403);
    end(child);
}

/// The configuration is read again at SIGHUP. A configuration that cannot be used changes nothing.
#[test]
fn the_configuration_is_read_again() {
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "5")]);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let (child, address) = place.start();
    let tables = || read(&get(address, "/v1/tables", &token))["tables"].as_array().unwrap().len();
    let answer = read(&ask(address, &token, "team", COUNT, 0.5));
    let old = std::fs::read_to_string(place.path("config.toml")).unwrap();
    let again = "\n[[table]]\nname = \"again\"\ndataset = \"visits\"\nsource = \"sqlite:data.db\"\nfrom = \"visits\"\n\
                 person = \"nr\"\nrows = 2\nadjacency = \"add-remove\"\ncolumn = [{ name = \"age\", bounds = [0, 100] }]\n";
    std::fs::write(place.path("config.toml"), format!("{old}{again}")).unwrap();
    signal(&child, "-HUP");
    wait_for(|| tables() == 2);
    let more = "SELECT COUNT(*) FROM again";
    assert_eq!(ask(address, &token, "team", more, 0.5).0, 200);
    for broken in ["nonsense", &format!("{old}{}", again.replace("visits", "nowhere"))] {
        let said = || {
            let log = std::fs::read_to_string(place.path("log")).unwrap();
            log.matches("the configuration cannot be read; the old one stays in use").count()
        };
        let before = said();
        std::fs::write(place.path("config.toml"), broken).unwrap();
        signal(&child, "-HUP");
        wait_for(|| said() > before);
        assert_eq!(tables(), 2);
    }
    assert_eq!(read(&ask(address, &token, "team", COUNT, 0.5))["answers"], answer["answers"]);
    std::fs::write(place.path("config.toml"), old).unwrap();
    signal(&child, "-HUP");
    wait_for(|| tables() == 1);
    end(child);
}

/// Makes a certificate authority, or a certificate that it issued for this machine.
fn certificate(folder: &Path, script: &str) {
    let made = Command::new("sh").args(["-ec", script]).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}

const AUTHORITY: &str = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem";
const CERTIFICATE: &str = "echo subjectAltName=IP:127.0.0.1 >names; \
    openssl req -newkey rsa:2048 -nodes -subj /CN=server -keyout key.pem -out csr; \
    openssl x509 -req -days 2 -in csr -CA ca.pem -CAkey ca.key -CAcreateserial -extfile names -out chain.pem";

/// Sends a request by TLS. Returns the server's certificate and the answer.
fn by_tls(address: SocketAddr, authority: &Path, line: &str, body: &str) -> (Vec<u8>, String) {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(authority).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from("127.0.0.1").unwrap();
    let mut connection = rustls::ClientConnection::new(Arc::new(config), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    let mut stream = rustls::Stream::new(&mut connection, &mut socket);
    let length = body.len();
    let text = format!(
        "{line}\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let own = connection.peer_certificates().unwrap()[0].to_vec();
    (own, String::from_utf8_lossy(&answer).into_owned())
}

/// For clients on other machines, planning requires a token, as questions do. A new certificate is used after a reload.
#[test]
fn certificates_are_read_again_and_planning_needs_a_token() {
    if Command::new("openssl").arg("version").output().is_err() {
        return eprintln!("not tested: there is no openssl");
    }
    let place = Place::new(&people(50), (0.0, 30.0), "10", &[("team", "5")]);
    place.configure("[tls]\ncertificate = \"chain.pem\"\nkey = \"key.pem\"");
    certificate(place.folder(), AUTHORITY);
    certificate(place.folder(), CERTIFICATE);
    let token = place.token(Role::Analyst, "ann", &["team"]);
    let (child, address) = place.start();
    let authority = place.path("ca.pem");
    let status = |line: &str, token: &str, body: &str| {
        let line = format!("{line} HTTP/1.1\r\nAuthorization: Bearer {token}");
        let (_, answer) = by_tls(address, &authority, &line, body);
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let study = r#"{"delta": 0, "data": {"adjacency": "replace"}, "statistic": [{"kind": "count", "error": 9}]}"#;
    for line in ["POST /plan", "POST /least", "POST /study", "GET /progress"] {
        assert_eq!(status(line, "", study), "401", "{line}");
        assert_ne!(status(line, &token, study), "401", "{line}");
    }
    assert_eq!(status("POST /plan", &token, study), "200");
    assert_eq!(status("GET /", "", ""), "200");
    assert_eq!(status("GET /v1/health", "", ""), "200");
    let used = || by_tls(address, &authority, "GET /v1/health HTTP/1.1", "").0;
    let first = used();
    std::fs::write(place.path("chain.pem"), "nonsense").unwrap();
    signal(&child, "-HUP");
    wait_for(|| {
        let log = std::fs::read_to_string(place.path("log")).unwrap();
        log.contains("the configuration cannot be read; the old one stays in use")
    });
    assert_eq!(used(), first);
    certificate(place.folder(), CERTIFICATE);
    signal(&child, "-HUP");
    wait_for(|| used() != first);
    end(child);
}

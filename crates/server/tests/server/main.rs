//! The server over plain TCP: the answers and refusals that clients receive. No request ends the server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod malformed;
mod refusals;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::OnceLock;
use std::time::Duration;

use counterpoint_server::Server;

const STUDY: &str = r#"{"delta": 1e-6, "data": {"adjacency": "replace", "people": 5000},
    "statistic": [{"name": "income", "kind": "mean", "bounds": [0, 200000], "error": 500}]}"#;

/// One server for all tests, which lives as long as they do.
fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let server = Server::bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = server.address();
        std::thread::spawn(move || server.run().unwrap());
        address
    })
}

fn connect() -> TcpStream {
    let stream = TcpStream::connect(address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream
}

/// An answer: its status, its head and its body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// Sends bytes and reads the answer until the server closes the connection.
fn send(bytes: &[u8]) -> Answer {
    let mut stream = connect();
    // The server may answer and close the connection before it has read all bytes.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
}

/// Sends a request with these lines in its header.
fn request(line: &str, head: &[&str], body: &str) -> Answer {
    let mut text = format!("{line} HTTP/1.1\r\nConnection: close\r\n");
    for line in head {
        text += &format!("{line}\r\n");
    }
    send(format!("{text}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes())
}

fn host() -> String {
    format!("Host: {}", address())
}

fn get(path: &str) -> Answer {
    request(&format!("GET {path}"), &[&host()], "")
}

/// Posts a JSON body with the headers that the page sends.
fn post(path: &str, body: &str) -> Answer {
    let origin = format!("Origin: http://{}", address());
    let head = [&host(), &origin, "Content-Type: application/json"];
    request(&format!("POST {path}"), &head, body)
}

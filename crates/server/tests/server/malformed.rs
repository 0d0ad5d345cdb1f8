//! A million malformed or nearly malformed requests. Each is answered or its connection is closed, and the server
//! continues.

use super::*;
use counterpoint_testing::{Random, tries};

/// The number of requests on one connection. The last one may be malformed. The others end where their header says,
/// whatever their content.
const TOGETHER: u64 = 50;

/// Quick to plan.
const SMALL: &str = r#"{"delta": 0, "data": {"adjacency": "replace"}, "statistic": [{"kind": "count", "error": 9}]}"#;

#[test]
fn the_server_survives_malformed_requests() {
    let mut random = Random::new(20);
    let mut left = tries(1_000_000, 0.006);
    while left > 0 {
        let many = left.min(TOGETHER);
        left -= many;
        let mut requests: Vec<Vec<u8>> = (1..many).map(|_| framed(&mut random)).collect();
        let last = framed(&mut random);
        requests.push(broken(&mut random, last));
        // A server may close the connection after an answer if it has not read the whole request. Then the remaining
        // requests are sent again.
        let mut rest = requests.as_slice();
        while rest.len() > 1 {
            let mut answered = survive(&rest.concat());
            if answered == 0 {
                // Answers are lost if the server closes the connection with unread requests, or if the client closes
                // its side. A request that is sent alone is answered.
                let (mut stream, mut start) = (connect(), [0; 9]);
                stream.write_all(&rest[0]).unwrap();
                stream.read_exact(&mut start).unwrap();
                assert_eq!(&start, b"HTTP/1.1 ", "{:?}", String::from_utf8_lossy(&rest[0]));
                answered = 1;
            }
            rest = rest.get(answered..).unwrap_or_default();
        }
    }
    assert_eq!(get("/").status, 200);
    assert_eq!(post("/plan", STUDY).status, 200);
}

/// Headers of the greatest legal length, and longer ones.
#[test]
fn endless_headers_are_refused() {
    let long = request("GET /", &[&host(), &format!("X: {}", "x".repeat(1 << 20))], "");
    assert!(matches!(long.status, 0 | 431), "{}", long.status);
    let many: Vec<String> = (0..1000).map(|at| format!("X{at}: x")).chain([host()]).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!(matches!(request("GET /", &many, "").status, 0 | 431));
    let path = request(&format!("GET /{}", "x".repeat(1 << 20)), &[&host()], "");
    assert!(matches!(path.status, 0 | 400 | 414 | 431), "{}", path.status);
    assert_eq!(get("/").status, 200);
}

/// A request whose body has the declared length. The body is anything, and the header has odd words.
fn framed(random: &mut Random) -> Vec<u8> {
    let line = random.of(&[
        "GET /",
        "GET /planner_page.js",
        "POST /plan",
        "POST /plan",
        "POST /study",
        "PUT /plan",
        "GET /%00%ff",
        "X /",
    ]);
    let body = match random.below(4) {
        0 => (0..random.below(300)).map(|_| random.below(256) as u8).collect(),
        1 => broken(
            random,
            b"{\"text\": \"delta = 1e-6\\n[data]\\nadjacency = 'replace'\"}".to_vec(),
        ),
        _ => broken(random, SMALL.as_bytes().to_vec()),
    };
    let kind = random.of(&[
        "application/json",
        "application/json",
        "application/json;x",
        "text/html",
        "\x01\x02",
        "",
    ]);
    let host = if random.once_in(8) { "Host: x".to_owned() } else { host() };
    let own: String =
        (0..random.below(20)).map(|_| char::from(random.between(33, 126) as u8)).collect();
    let kind = kind.replace(|c: char| c.is_control(), "\t");
    let head = format!(
        "{line} HTTP/1.1\r\n{host}\r\nContent-Type: {kind}\r\nX-Own: {own}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.into_bytes(), body].concat()
}

/// Random bytes, or bytes of which some are changed, left out, inserted, repeated or cut off.
fn broken(random: &mut Random, mut bytes: Vec<u8>) -> Vec<u8> {
    if random.once_in(8) {
        return (0..random.below(200)).map(|_| random.below(256) as u8).collect();
    }
    for _ in 0..random.below(4) {
        let at = random.below(bytes.len().max(1) as u64) as usize;
        if bytes.is_empty() {
            break;
        }
        match random.below(5) {
            0 => bytes[at] = random.below(256) as u8,
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, random.of(b"\r\n :;,{}[]\"0\xff\0")),
            3 => {
                let end = (at + random.below(20) as usize).min(bytes.len());
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at.max(1)),
        }
    }
    bytes
}

/// Sends all bytes and reads until the server closes. Returns the number of answers, none of which is a failure of the
/// server.
fn survive(bytes: &[u8]) -> usize {
    let mut stream = connect();
    let mut writer = stream.try_clone().unwrap();
    let mut answers = Vec::new();
    std::thread::scope(|scope| {
        // The server closes the connection at the first bytes that are not a request.
        scope.spawn(move || {
            let _ = writer.write_all(bytes);
            let _ = writer.shutdown(std::net::Shutdown::Write);
        });
        let _ = stream.read_to_end(&mut answers);
    });
    let text = String::from_utf8_lossy(&answers);
    assert!(!text.contains("HTTP/1.1 500"), "{:?}", String::from_utf8_lossy(bytes));
    text.matches("HTTP/1.1 ").count()
}

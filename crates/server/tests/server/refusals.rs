//! Requests that are refused.

use super::*;

#[test]
fn other_hosts_are_refused() {
    let port = address().port();
    let good =
        [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("LocalHost:{port}")];
    for host in good.iter().chain([&format!("[::1]:{port}")]) {
        assert_eq!(request("GET /", &[&format!("Host: {host}")], "").status, 200, "{host}");
    }
    let bad = [
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:{port}.evil.example"),
        format!("127.0.0.2:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1:{port} "),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ];
    for host in bad.iter().filter(|host| !host.ends_with(' ')) {
        for line in ["GET /", "POST /plan", "GET /nothing"] {
            let head = [format!("Host: {host}"), "Content-Type: application/json".to_owned()];
            let answer = request(line, &head.each_ref().map(String::as_str), STUDY);
            assert!(matches!(answer.status, 400 | 403), "{host}: {}", answer.status);
        }
    }
    assert_eq!(request("GET /", &[], "").status, 403, "no host");
    let twice = [host(), "Host: evil.example".to_owned()];
    assert!(matches!(
        request("GET /", &twice.each_ref().map(String::as_str), "").status,
        400 | 403
    ));
    let elsewhere = request("GET http://evil.example/", &[&host()], "");
    assert!(matches!(elsewhere.status, 400 | 403), "{}", elsewhere.status);
}

#[test]
fn other_origins_are_refused() {
    let port = address().port();
    for origin in [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        "http://127.0.0.1:1".to_owned(),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.0.0.1:{port}, http://evil.example"),
        String::new(),
    ] {
        let head =
            [host(), format!("Origin: {origin}"), "Content-Type: application/json".to_owned()];
        let answer = request("POST /plan", &head.each_ref().map(String::as_str), STUDY);
        assert_eq!(answer.status, 403, "{origin}");
        assert!(!answer.head.contains("access-control"));
    }
    let head = [host(), format!("Origin: http://127.0.0.1:{port}")];
    let asked = request("OPTIONS /plan", &head.each_ref().map(String::as_str), "");
    assert_eq!(asked.status, 405, "no other page is let in");
}

#[test]
fn other_bodies_are_refused() {
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""] {
        let head = [host(), format!("Content-Type: {kind}")];
        let answer = request("POST /plan", &head.each_ref().map(String::as_str), STUDY);
        assert_eq!(answer.status, 415, "{kind}");
    }
    assert_eq!(request("POST /plan", &[&host()], STUDY).status, 415);
    let head = [host(), "Content-Type: application/json; charset=utf-8".to_owned()];
    assert_eq!(request("POST /plan", &head.each_ref().map(String::as_str), STUDY).status, 200);
}

#[test]
fn bodies_that_are_too_long_are_refused_before_they_are_read() {
    let head = format!("POST /plan HTTP/1.1\r\n{}\r\nContent-Type: application/json\r\n", host());
    let announced = send(
        format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n", (32 << 20) + 1).as_bytes(),
    );
    assert_eq!(announced.status, 413);
    // A body without a declared length is cut off at the same limit.
    let mut stream = connect();
    stream
        .write_all(
            format!("{head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes(),
        )
        .unwrap();
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, " ".repeat(1 << 20));
    for _ in 0..40 {
        if stream.write_all(chunk.as_bytes()).is_err() {
            break;
        }
    }
    let mut start = [0; 12];
    stream.read_exact(&mut start).unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
}

#[test]
fn other_methods_and_paths_are_refused() {
    for line in [
        "POST /",
        "DELETE /",
        "PUT /plan",
        "GET /plan",
        "GET /study",
        "POST /progress",
        "POST /planner_page.js",
    ] {
        let head = [host(), "Content-Type: application/json".to_owned()];
        let answer = request(line, &head.each_ref().map(String::as_str), "");
        assert_eq!(answer.status, 405, "{line}");
    }
    for path in [
        "/index",
        "/../Cargo.toml",
        "/web/planner_page.js",
        "//",
        "/plan/",
        "/%2e%2e/",
        "/planner_page.js/x",
        "/etc/passwd",
    ] {
        assert_eq!(get(path).status, 404, "{path}");
    }
    assert_eq!(get("/?x=1").status, 200);
}

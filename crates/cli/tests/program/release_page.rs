//! `serve --data`: the page releases one file, for whoever has the key. What it looks like is tested in a browser.

use super::release::{Place, STUDY, people};
use super::*;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;

/// The program, serving a file until it is dropped.
struct Page {
    child: std::process::Child,
    address: String,
    key: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Reply {
    status: u16,
    head: String,
    body: String,
}

impl Reply {
    fn json(&self) -> serde_json::Value {
        assert_eq!(self.status, 200, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// A file of what was published.
    fn file(&self, name: &str) -> String {
        self.json()["files"][name].as_str().unwrap().to_owned()
    }

    /// The one sentence of a refusal.
    fn refusal(&self) -> String {
        assert_eq!(self.status, 422, "{}", self.body);
        let problem: serde_json::Value = serde_json::from_str(&self.body).unwrap();
        let problem = problem["problem"].as_str().unwrap().to_owned();
        assert_eq!(problem.lines().count(), 1, "{problem}");
        problem
    }
}

impl Page {
    fn of(place: &Place) -> Self {
        let (data, out) = (place.path("people.csv"), place.path("out"));
        let mut child = command(&["serve", "--data", &data, "--out", &out])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let place = line.trim_end().strip_prefix("listening on http://").expect("where it listens");
        let (address, key) = place.split_once("/#key=").expect("the key is behind the #");
        Self { child, address: address.to_owned(), key: key.to_owned() }
    }

    /// A request with these lines in its head, and Host if they have none.
    fn request(&self, line: &str, head: &[String], body: &str) -> Reply {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut text =
            format!("{line} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        if !head.iter().any(|line| line.starts_with("Host")) {
            text += &format!("Host: {}\r\n", self.address);
        }
        head.iter().for_each(|line| text += &format!("{line}\r\n"));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        let mut reply = String::new();
        stream.read_to_string(&mut reply).unwrap();
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// As the page asks.
    fn post(&self, path: &str, study: &str) -> Reply {
        let head =
            ["Content-Type: application/json".to_owned(), format!("Release-Key: {}", self.key)];
        self.request(&format!("POST {path}"), &head, &json(study))
    }
}

/// A study as the page sends it.
fn json(study: &str) -> String {
    toml::from_str::<serde_json::Value>(study).unwrap().to_string()
}

/// The page and the command have the same numbers, whichever comes first, and one debit.
#[test]
fn the_page_releases_what_the_command_does() {
    let place = Place::new(STUDY, people().as_bytes());
    let page = Page::of(&place);
    let known = page.request("GET /release", &[format!("Release-Key: {}", page.key)], "").json();
    assert_eq!(known["columns"], serde_json::json!(["id", "income", "region"]));
    assert_eq!(known["name"], "people.csv");
    let first = page.post("/release", STUDY);
    assert_eq!(first.json()["made_up"], false);
    assert_eq!(first.file("release.csv"), place.published("release.csv"));
    assert_eq!(page.post("/release", STUDY).file("release.csv"), first.file("release.csv"));
    place.assert_charged(0.9);
    drop(page);
    // Another process, another key, and the command.
    let page = Page::of(&place);
    assert_eq!(page.post("/release", STUDY).file("release.csv"), first.file("release.csv"));
    place.release(&[]).answer();
    assert_eq!(place.published("release.csv"), first.file("release.csv"));
    place.assert_charged(0.9);
}

/// Only who has the key is heard, and only by our own page: of all others nothing is read, made or charged.
#[test]
fn without_the_key_nothing_is_released() {
    let place = Place::new(STUDY, people().as_bytes());
    let page = Page::of(&place);
    let (key, kind) =
        (format!("Release-Key: {}", page.key), "Content-Type: application/json".to_owned());
    let other: String = page.key.chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    let own = format!("Origin: http://{}", page.address);
    for (head, status) in [
        (vec![kind.clone()], 401),
        (vec![kind.clone(), own.clone()], 401),
        (vec![kind.clone(), "Release-Key: ".to_owned()], 401),
        (vec![kind.clone(), format!("Release-Key: {other}")], 401),
        (vec![kind.clone(), format!("Release-Key: {}", &page.key[1..])], 401),
        (vec![kind.clone(), key.clone(), key.clone()], 401),
        (vec![kind.clone(), format!("Authorization: Bearer {}", page.key)], 401),
        (vec![kind.clone(), format!("Cookie: Release-Key={}", page.key)], 401),
        // Another page, a name that was made to lead here, and a form.
        (vec![kind.clone(), key.clone(), "Origin: http://evil.example".to_owned()], 403),
        (vec![kind.clone(), key.clone(), "Origin: null".to_owned()], 403),
        (vec![kind.clone(), key.clone(), "Host: evil.example".to_owned()], 403),
        (vec![key.clone(), "Content-Type: text/plain".to_owned()], 415),
    ] {
        for path in ["/release", "/rehearsal"] {
            let reply = page.request(&format!("POST {path}"), &head, &json(STUDY));
            assert_eq!(reply.status, status, "{path} {head:?}: {}", reply.body);
            assert!(!reply.head.contains("access-control"), "{}", reply.head);
        }
        if status != 415 {
            assert_eq!(page.request("GET /release", &head, "").status, status, "{head:?}");
        }
    }
    let in_query = format!("POST /release?key={}", page.key);
    assert_eq!(page.request(&in_query, &[kind], &json(STUDY)).status, 401);
    // What another page asks first, before it may send the head.
    let asked = page.request("OPTIONS /release", &[own], "");
    assert_eq!(asked.status, 405);
    assert!(!asked.head.contains("access-control"), "{}", asked.head);
    assert!(!Path::new(&place.path("out")).exists(), "nothing was made");
    assert!(
        !page.request("GET /", &[], "").body.contains(&page.key),
        "the page itself does not tell it"
    );
}

/// The page names no file: whatever source a study has, the rows are those of --data.
#[test]
fn the_page_cannot_name_another_source() {
    let place = Place::new(STUDY, people().as_bytes());
    fs::write(place.path("secret.csv"), "id,income,region\n1,5,north\n").unwrap();
    let page = Page::of(&place);
    let first = page.post("/release", STUDY).file("release.csv");
    for source in
        [place.path("secret.csv"), "/etc/passwd".to_owned(), "sqlite:secret.db".to_owned()]
    {
        let study = STUDY.replace("people.csv", &source);
        let reply = page.post("/release", &study);
        assert_eq!(reply.file("release.csv"), first, "{source}");
        assert!(
            reply.file("release.json").contains("\"source\": \"people.csv\""),
            "{}",
            reply.body
        );
    }
    place.assert_charged(0.9);
}

#[test]
fn a_rehearsal_is_marked_and_leaves_nothing_behind() {
    let place = Place::new(STUDY, people().as_bytes());
    let page = Page::of(&place);
    let made_up = page.post("/rehearsal", STUDY);
    assert_eq!(made_up.json()["made_up"], true);
    assert!(made_up.file("report.html").contains("MADE-UP DATA"));
    assert!(!Path::new(&place.path("out")).exists());
    // After a release it takes the place of nothing.
    let csv = page.post("/release", STUDY).file("release.csv");
    page.post("/rehearsal", STUDY).json();
    assert_eq!((place.published("release.csv"), &place.json()["made_up"]), (csv, &false.into()));
}

#[test]
fn refusals_are_one_sentence_and_charge_nothing() {
    let place = Place::new(STUDY, people().as_bytes());
    let page = Page::of(&place);
    assert!(
        page.post("/release", &STUDY.replace("\"income\"", "\"wages\""))
            .refusal()
            .contains("income")
    );
    assert!(!Path::new(&place.path("out")).exists());
    page.post("/release", STUDY).json();
    // The same data set has 0.1 left.
    let over = page.post("/release", &STUDY.replace("300", "400")).refusal();
    assert!(over.contains("data set \"data\""), "{over}");
    fs::write(place.path("people.csv"), people().replace("20,", "21,")).unwrap();
    let changed = page.post("/release", STUDY).refusal();
    assert!(
        changed.starts_with("people.csv differs from the file that was released before"),
        "{changed}"
    );
    place.assert_charged(0.9);
}

/// The report is shown under a name that nobody can guess, and may run nothing.
#[test]
fn reports_are_shown_to_those_who_know_their_names() {
    let place = Place::new(STUDY, people().as_bytes());
    let page = Page::of(&place);
    let released = page.post("/release", STUDY);
    let path = released.json()["report"].as_str().unwrap().to_owned();
    let shown = page.request(&format!("GET {path}"), &[], "");
    assert_eq!((shown.status, &shown.body), (200, &released.file("report.html")));
    let policy = "content-security-policy: default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action \
                  'none'; frame-ancestors 'none'";
    assert!(shown.head.contains(policy), "{}", shown.head);
    assert!(!path.contains(&page.key) && path.len() > 64, "{path}");
    let flip = if path.as_bytes()[9] == b'0' { "1" } else { "0" };
    for other in [
        format!("/release/{flip}{}", &path[10..]),
        "/release//report.html".to_owned(),
        "/release/x/report.html".to_owned(),
    ] {
        assert_eq!(page.request(&format!("GET {other}"), &[], "").status, 404, "{other}");
    }
}

#[test]
fn the_arguments_belong_together_and_to_this_machine() {
    let place = Place::new(STUDY, people().as_bytes());
    let (data, out) = (place.path("people.csv"), place.path("out"));
    let serve = |more: &[&str]| run(&[&["serve"], more].concat());
    for more in [
        &["--data", &data][..],
        &["--out", &out],
        &["--ledger", "sqlite:x.db"],
        &["--data", &data, "--out", &out, "--demo"],
        &["--data", &data, "--out", &out, "--config", "x"],
        &["--data", &data, "--out", &out, "--open"],
        &["--data", &data, "--out", &out, "--listen", "0.0.0.0:0"],
        &["--data", &place.path("nobody.csv"), "--out", &out],
        &["--data", &place.path("study.toml"), "--out", &out],
    ] {
        let refused = serve(more);
        assert_eq!((refused.status, refused.stdout.as_str()), (2, ""), "{more:?}");
    }
    assert!(!Path::new(&out).exists());
}

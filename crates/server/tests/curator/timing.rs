//! The time of an answer reveals nothing about the table or the noise. This holds for all kinds of questions, all ways
//! of sending them, and any other load.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::size;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The number of questions that each of two services is asked, in turn.
fn often() -> usize {
    size(400, 24) as usize
}

/// The largest distance between two empirical distributions (Kolmogorov and Smirnov).
fn distance(one: &[Duration], other: &[Duration]) -> f64 {
    let below = |list: &[Duration], time: Duration| {
        list.iter().filter(|each| **each <= time).count() as f64 / list.len() as f64
    };
    let times = one.iter().chain(other);
    times.map(|time| (below(one, *time) - below(other, *time)).abs()).fold(0.0, f64::max)
}

/// A distance that two samples of one distribution reach with probability at most 10^-5. The distance reaches k / n
/// with probability at most 2 C(2n, n - k) / C(2n, n) (Gnedenko and Korolyuk 1951).
fn limit() -> f64 {
    let n = often() as f64;
    let (mut chance, mut k) = (2.0, 0.0);
    while chance > 1e-5 {
        chance *= (n - k) / (n + k + 1.0);
        k += 1.0;
    }
    k / n
}

/// The slot and the durations of scans, in seconds. The scan of the second table takes three times as long. A lock on
/// the table sets the duration, even on a busy machine.
const SLOT: f64 = 1.0;
const SCANS: [u64; 2] = [200, 600];

fn place(slot: f64) -> Place {
    Place::new(&people(50), (slot, 30.0), "100000", &[("team", "90000")])
}

/// The lock of the table. Questions wait for it.
fn lock(place: &Place) -> rusqlite::Connection {
    let table = rusqlite::Connection::open(place.path("data.db")).unwrap();
    table.busy_timeout(Duration::from_secs(60)).unwrap();
    table.execute_batch("BEGIN EXCLUSIVE").unwrap();
    table
}

/// The kind of question.
#[derive(Clone, Copy, Debug)]
enum Kind {
    One,
    /// A list of this many questions, which are answered in one pass.
    List(usize),
    /// A step of a session.
    Step,
}

/// The way of sending.
#[derive(Clone, Copy, Debug)]
enum Sent {
    AtOnce,
    /// The last byte is sent when this many milliseconds of a slot are left.
    HeldBack(u64),
    /// In pieces.
    Slowly,
}

/// A service whose times are measured.
struct Measured {
    address: SocketAddr,
    token: String,
}

impl Measured {
    fn new(place: &Place) -> Self {
        let token = place.token(Role::Analyst, "ann", &["team"]);
        let address = place.serve();
        let gate = json!({"epsilon": 0.01, "answers": 1000, "threshold": 1e9});
        let opening =
            json!({"account": "team", "table": "visits", "key": "s", "sparse_vector": gate});
        assert_eq!(post(address, "/v1/sessions", &token, &opening).0, 200);
        Self { address, token }
    }

    /// Asks a new question and returns the time from the last byte to the answer. `on_sent` is called when the last byte was
    /// sent.
    fn time(
        &self,
        (kind, sent): (Kind, Sent),
        number: usize,
        epsilon: f64,
        on_sent: impl FnOnce(Instant),
    ) -> Duration {
        let sql = |part: usize| {
            format!("SELECT COUNT(*), AVG(age) FROM visits WHERE pay > -{number}.{part}")
        };
        let one = |part| json!({"account": "team", "sql": sql(part), "epsilon": epsilon});
        let (path, body) = match kind {
            Kind::One => ("/v1/questions", one(0)),
            Kind::List(count) => ("/v1/questions", (0..count).map(one).collect::<Value>()),
            Kind::Step => {
                let sql = format!("SELECT COUNT(*) FROM visits WHERE pay > -{number}");
                ("/v1/sessions/team/s/questions", json!({"name": format!("q{number}"), "sql": sql}))
            }
        };
        let (address, token, body) = (self.address, &self.token, body.to_string());
        let text = format!(
            "POST {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let (most, last) = text.as_bytes().split_at(text.len() - 1);
        match sent {
            Sent::AtOnce => stream.write_all(most).unwrap(),
            Sent::HeldBack(milliseconds) => {
                stream.write_all(most).unwrap();
                let slot = Duration::from_secs_f64(SLOT);
                std::thread::sleep(slot - Duration::from_millis(milliseconds));
            }
            Sent::Slowly => {
                for piece in most.chunks(100) {
                    stream.write_all(piece).unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
        let start = Instant::now();
        stream.write_all(last).unwrap();
        on_sent(start);
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let time = start.elapsed();
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("\"code\""), "{answer}");
        time
    }
}

/// The times of two services whose scans have these durations.
fn latencies(
    slot: f64,
    asked: (Kind, Sent),
    scans: [u64; 2],
    epsilons: [f64; 2],
) -> [Vec<Duration>; 2] {
    let places = [place(slot), place(slot)];
    let both = [0, 1].map(|side| Measured::new(&places[side]));
    let one = |side: usize, number: usize| {
        std::thread::scope(|scope| {
            let (on_sent, start) = std::sync::mpsc::channel::<Instant>();
            if scans[side] > 0 {
                let table = lock(&places[side]);
                scope.spawn(move || {
                    let until = start.recv().unwrap() + Duration::from_millis(scans[side]);
                    std::thread::sleep(until.saturating_duration_since(Instant::now()));
                    table.execute_batch("COMMIT").unwrap();
                });
            }
            both[side].time(asked, number, epsilons[side], |sent| {
                let _ = on_sent.send(sent);
            })
        })
    };
    let one = &one;
    let all = |side: usize| (0..often()).map(|number| one(side, number)).collect();
    std::thread::scope(|scope| {
        let other = scope.spawn(move || all(1));
        [all(0), other.join().unwrap()]
    })
}

/// Compares the distributions of times on neighbouring tables whose scans differ threefold.
fn apart(kind: Kind, sent: Sent, scans: [u64; 2]) -> (f64, String) {
    let [few, many] = latencies(SLOT, (kind, sent), scans, [1.0; 2]);
    (distance(&few, &many), format!("{kind:?} {sent:?}: {few:?} {many:?}"))
}

#[track_caller]
fn assert_alike((apart, times): (f64, String)) {
    assert!(apart < limit(), "{apart}: {times}");
}

#[test]
fn latencies_on_neighbouring_tables_cannot_be_told_apart() {
    assert_alike(apart(Kind::One, Sent::AtOnce, SCANS));
}

/// A list takes the total time of its questions, even if they run together.
#[test]
fn latencies_of_lists_cannot_be_told_apart() {
    assert_alike(apart(Kind::List(2), Sent::AtOnce, [500, 1500]));
}

#[test]
fn latencies_of_sessions_cannot_be_told_apart() {
    assert_alike(apart(Kind::Step, Sent::AtOnce, SCANS));
}

/// Time starts when the request is complete. A client can delay its last byte so that only the faster scan fits into
/// the rest of a slot. This reveals no more than other requests.
#[test]
fn a_last_byte_that_is_held_back_tells_nothing() {
    assert_alike(apart(Kind::One, Sent::HeldBack(400), SCANS));
}

#[test]
fn a_last_byte_of_a_session_s_question_tells_nothing() {
    assert_alike(apart(Kind::Step, Sent::HeldBack(400), SCANS));
}

#[test]
fn requests_that_come_slowly_tell_nothing() {
    assert_alike(apart(Kind::One, Sent::Slowly, SCANS));
}

#[test]
fn latencies_do_not_tell_how_much_noise_there_is() {
    let [loud, quiet] = latencies(0.3, (Kind::One, Sent::AtOnce), [0; 2], [0.01, 100.0]);
    let apart = distance(&loud, &quiet);
    assert!(apart < limit(), "{apart}: {loud:?} {quiet:?}");
}

/// Other clients ask all the time, so that every question waits. The waiting time reveals nothing either.
#[test]
fn latencies_under_load_cannot_be_told_apart() {
    // Scans take a small part of the slot, so that no scan exceeds it even on a busy machine.
    let places = [place(0.5), place(0.5)];
    places[0].slow_down(10_000);
    places[1].slow_down(30_000);
    let both = [0, 1].map(|side| Measured::new(&places[side]));
    let is_over = AtomicBool::new(false);
    let mut times = [Vec::new(), Vec::new()];
    let both = &both;
    std::thread::scope(|scope| {
        for (side, other) in [0, 0, 0, 1, 1, 1].into_iter().enumerate().map(|(o, s)| (s, o)) {
            let (token, address) =
                (places[side].token(Role::Analyst, "ben", &["team"]), both[side].address);
            let is_over = &is_over;
            scope.spawn(move || {
                for number in 0.. {
                    let sql = format!("SELECT COUNT(*) FROM visits WHERE age > -{number}.{other}1");
                    assert!(matches!(ask(address, &token, "team", &sql, 1.0).0, 200 | 503));
                    if is_over.load(Ordering::Relaxed) {
                        return;
                    }
                }
            });
        }
        let asked = (Kind::One, Sent::AtOnce);
        let time = move |side: usize, number| both[side].time(asked, number, 1.0, |_| ());
        let all = move |side| (0..often()).map(|number| time(side, number)).collect::<Vec<_>>();
        let other = scope.spawn(move || all(1));
        times = [all(0), other.join().unwrap()];
        is_over.store(true, Ordering::Relaxed);
    });
    let apart = distance(&times[0], &times[1]);
    assert!(apart < limit(), "{apart}: {times:?}");
}

/// Without slots, the same comparison distinguishes the tables. So it can detect a difference.
#[test]
fn without_slots_latencies_tell_tables_apart() {
    let [few, many] = latencies(0.0, (Kind::One, Sent::AtOnce), SCANS, [1.0; 2]);
    let apart = distance(&few, &many);
    assert!(apart > limit(), "{apart}: {few:?} {many:?}");
}

//! When answers leave tells nothing about the table or the noise, whatever is asked, however it is sent, and whoever asks besides.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::size;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often each of two is asked, in turns.
fn often() -> usize {
    size(400, 24) as usize
}

/// The greatest distance of two empirical distributions (Kolmogorov and Smirnov).
fn distance(one: &[Duration], other: &[Duration]) -> f64 {
    let below = |list: &[Duration], time: Duration| {
        list.iter().filter(|each| **each <= time).count() as f64 / list.len() as f64
    };
    let times = one.iter().chain(other);
    times.map(|time| (below(one, *time) - below(other, *time)).abs()).fold(0.0, f64::max)
}

/// A distance that two samples of one distribution reach with probability 10^-5 at most: that of k / n is at most
/// 2 C(2n, n - k) / C(2n, n) (Gnedenko and Korolyuk 1951).
fn limit() -> f64 {
    let n = often() as f64;
    let (mut chance, mut k) = (2.0, 0.0);
    while chance > 1e-5 {
        chance *= (n - k) / (n + k + 1.0);
        k += 1.0;
    }
    k / n
}

/// Other rows of one person make a scan take three times as long.
const FEW: u64 = 60_000;
const MANY: u64 = 3 * FEW;

fn place(slot: f64, steps: u64) -> Place {
    let place = Place::new(&people(50), (slot, 30.0), "100000", &[("team", "90000")]);
    place.slow_down(steps);
    place
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
enum Kind {
    One,
    /// So many in a list, which are one pass.
    List(usize),
    /// A step of a session.
    Step,
}

/// How it is sent.
#[derive(Clone, Copy, Debug)]
enum Sent {
    AtOnce,
    /// The last byte comes a whole number of slots after the others, but for so many milliseconds.
    HeldBack(u64),
    /// In pieces.
    Slowly,
}

/// A service that is measured.
struct Measured {
    address: SocketAddr,
    token: String,
    slot: f64,
}

impl Measured {
    fn new(place: &Place, slot: f64) -> Self {
        let token = place.token(Role::Analyst, "ann", &["team"]);
        let address = place.serve();
        let gate = json!({"epsilon": 0.01, "answers": 1000, "threshold": 1e9});
        let opening =
            json!({"account": "team", "table": "visits", "key": "s", "sparse_vector": gate});
        assert_eq!(post(address, "/v1/sessions", &token, &opening).0, 200);
        Self { address, token, slot }
    }

    /// Asks what nobody asked before, and tells how long the answer took from the last byte.
    fn time(&self, kind: Kind, sent: Sent, number: usize, epsilon: f64) -> Duration {
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
                let slot = Duration::from_secs_f64(self.slot);
                std::thread::sleep(slot - Duration::from_millis(milliseconds));
            }
            Sent::Slowly => {
                for piece in most.chunks(100) {
                    stream.write_all(piece).unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
        stream.write_all(last).unwrap();
        let start = Instant::now();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let time = start.elapsed();
        assert!(answer.starts_with("HTTP/1.1 200") && !answer.contains("\"code\""), "{answer}");
        time
    }
}

/// How long two services take, in turns.
fn latencies(
    places: [&Place; 2],
    slot: f64,
    kind: Kind,
    sent: Sent,
    epsilons: [f64; 2],
) -> [Vec<Duration>; 2] {
    let both = places.map(|place| Measured::new(place, slot));
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..often() {
        for side in [0, 1] {
            times[side].push(both[side].time(kind, sent, number, epsilons[side]));
        }
    }
    times
}

/// Distributions on neighbouring tables whose scans differ threefold.
fn apart(slot: f64, kind: Kind, sent: Sent) -> (f64, String) {
    let places = [place(slot, FEW), place(slot, MANY)];
    let [few, many] = latencies([&places[0], &places[1]], slot, kind, sent, [1.0; 2]);
    (distance(&few, &many), format!("{kind:?} {sent:?}: {few:?} {many:?}"))
}

#[track_caller]
fn assert_alike((apart, times): (f64, String)) {
    assert!(apart < limit(), "{apart}: {times}");
}

#[test]
fn latencies_on_neighbouring_tables_cannot_be_told_apart() {
    assert_alike(apart(0.3, Kind::One, Sent::AtOnce));
}

/// The time of a list is that of its questions one by one, whatever they are run together with.
#[test]
fn latencies_of_lists_cannot_be_told_apart() {
    assert_alike(apart(0.15, Kind::List(6), Sent::AtOnce));
}

#[test]
fn latencies_of_sessions_cannot_be_told_apart() {
    assert_alike(apart(0.3, Kind::Step, Sent::AtOnce));
}

/// Time begins when the request is there: a last byte that comes so late that only the quicker scan would fit what is left of
/// a slot tells no more than others.
#[test]
fn a_last_byte_that_is_held_back_tells_nothing() {
    assert_alike(apart(0.3, Kind::One, Sent::HeldBack(60)));
    assert_alike(apart(0.3, Kind::Step, Sent::HeldBack(60)));
}

#[test]
fn requests_that_come_slowly_tell_nothing() {
    assert_alike(apart(0.3, Kind::One, Sent::Slowly));
}

#[test]
fn latencies_do_not_tell_how_much_noise_there_is() {
    let places = [place(0.2, 1), place(0.2, 1)];
    let both = [&places[0], &places[1]];
    let [loud, quiet] = latencies(both, 0.2, Kind::One, Sent::AtOnce, [0.01, 100.0]);
    let apart = distance(&loud, &quiet);
    assert!(apart < limit(), "{apart}: {loud:?} {quiet:?}");
}

/// Others ask all the time, and all have to wait: the waiting tells nothing either.
#[test]
fn latencies_under_load_cannot_be_told_apart() {
    let slot = 0.3;
    let places = [place(slot, FEW), place(slot, MANY)];
    let both = [0, 1].map(|side| Measured::new(&places[side], slot));
    let is_over = AtomicBool::new(false);
    let mut times = [Vec::new(), Vec::new()];
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
        for number in 0..often() {
            for side in [0, 1] {
                times[side].push(both[side].time(Kind::One, Sent::AtOnce, number, 1.0));
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let apart = distance(&times[0], &times[1]);
    assert!(apart < limit(), "{apart}: {times:?}");
}

/// Without slots the same comparison tells tables apart: it would see what is to be seen.
#[test]
fn without_slots_latencies_tell_tables_apart() {
    let places = [place(0.0, 1), place(0.0, MANY)];
    let both = [&places[0], &places[1]];
    let [few, many] = latencies(both, 0.0, Kind::One, Sent::AtOnce, [1.0; 2]);
    let apart = distance(&few, &many);
    assert!(apart > limit(), "{apart}: {few:?} {many:?}");
}

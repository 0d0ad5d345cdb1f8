//! When answers leave tells nothing about the table or the noise.

use crate::service::*;
use counterpoint_curator::Role;
use counterpoint_testing::size;
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

/// People, and one of them with very many rows.
fn crowded() -> Vec<Row> {
    let many = (0..2_000).map(|place| row(7, place % 90, (place % 9) as f64, "north"));
    people(50).into_iter().chain(many).collect()
}

/// How long questions take that nobody asked before, of two services in turns.
fn latencies(places: [&Place; 2], epsilons: [f64; 2]) -> [Vec<Duration>; 2] {
    let tokens = places.map(|place| place.token(Role::Analyst, "ann", &["team"]));
    let addresses = places.map(Place::serve);
    let mut times = [Vec::new(), Vec::new()];
    for number in 0..often() {
        for side in [0, 1] {
            let sql = format!("SELECT COUNT(*), AVG(age) FROM visits WHERE pay > -{number}.{side}");
            let start = Instant::now();
            let answer = ask(addresses[side], &tokens[side], "team", &sql, epsilons[side]);
            times[side].push(start.elapsed());
            assert_eq!(answer.0, 200, "{}", answer.1);
        }
    }
    times
}

fn place(rows: &[Row], slot: f64) -> Place {
    Place::new(rows, (slot, 30.0), "100000", &[("team", "90000")])
}

#[test]
fn latencies_on_neighbouring_tables_cannot_be_told_apart() {
    let [few, many] = latencies([&place(&people(50), 0.4), &place(&crowded(), 0.4)], [1.0; 2]);
    let apart = distance(&few, &many);
    assert!(apart < limit(), "{apart}: {few:?} {many:?}");
}

#[test]
fn latencies_do_not_tell_how_much_noise_there_is() {
    let rows = people(50);
    let [loud, quiet] = latencies([&place(&rows, 0.2), &place(&rows, 0.2)], [0.01, 100.0]);
    let apart = distance(&loud, &quiet);
    assert!(apart < limit(), "{apart}: {loud:?} {quiet:?}");
}

/// Without slots the same comparison tells the tables apart: it would see what is to be seen.
#[test]
fn without_slots_latencies_tell_tables_apart() {
    let [few, many] = latencies([&place(&people(50), 0.0), &place(&crowded(), 0.0)], [1.0; 2]);
    let apart = distance(&few, &many);
    assert!(apart > limit(), "{apart}: {few:?} {many:?}");
}

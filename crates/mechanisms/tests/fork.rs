//! A forked process does not repeat its parent's noise, nor do two processes share any; one
//! whose generator is merely inherited would, and is found out.
//! Without the test harness: a process with threads should not fork.

#![allow(clippy::expect_used)]

use counterpoint::{Adjacency, Relation};
use counterpoint_mechanisms::{Data, InteractiveMechanism, Noise, Query, Sequence, SessionQuery};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use std::fs;
use std::process::Command;

const DRAWS: usize = 40;

/// One draw a line.
fn lines(draw: impl FnMut() -> String) -> String {
    std::iter::repeat_with(draw).take(DRAWS).collect::<Vec<_>>().join("\n")
}

/// Draws at a scale at which two alike by chance are unheard of.
fn draws() -> String {
    let noise = Noise::geometric(1e15, 1).expect("legal");
    lines(|| noise.add(0).expect("randomness").to_string())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--draws") {
        println!("{}", draws());
        return;
    }
    // Listing tests is what a runner may ask of any test binary.
    if arguments.iter().any(|argument| argument == "--list") {
        return;
    }
    // The generator is seeded before the fork, so that the child inherits its state.
    let _ = draws();
    let (own, other) = forked(draws);
    assert_eq!(repeated(&own, &other), 0, "noise repeated after a fork");
    let mut ahead =
        Noise::geometric(1e15, 1).and_then(|noise| noise.predraw(DRAWS)).expect("randomness");
    let (own, other) =
        forked(|| lines(|| ahead.add(0).map_or_else(|_| "refused".into(), |x| x.to_string())));
    assert!(
        other.lines().all(|line| line == "refused"),
        "noise drawn ahead is used after a fork: {other}"
    );
    assert!(own.lines().all(|line| line != "refused"), "noise drawn ahead is refused: {own}");
    let data = Data::new(Relation::single_record(Adjacency::AddRemove), [1.0]);
    let noisy_query = Query::count().laplace(1e-6).expect("legal");
    let declared = Sequence::new(std::iter::repeat_n(noisy_query.clone(), DRAWS)).expect("legal");
    let session = InteractiveMechanism::from(declared).open(&data).expect("randomness");
    let ask = || session.ask(&SessionQuery::Measure(noisy_query.clone()));
    let (own, other) =
        forked(|| lines(|| ask().map_or_else(|_| "refused".into(), |reply| format!("{reply:?}"))));
    assert!(other.lines().all(|line| line == "refused"), "a fork answers from a session: {other}");
    assert!(own.lines().all(|line| line != "refused"), "a session refuses its own process: {own}");
    let (one, other) = separate();
    assert_eq!(repeated(&one, &other), 0, "noise repeated in another process");
    // The bug this looks for: a good generator that does not notice the fork.
    let mut inherited = ChaCha20Rng::seed_from_u64(1);
    let (own, other) = forked(|| lines(|| inherited.next_u64().to_string()));
    assert_eq!(repeated(&own, &other), DRAWS, "an inherited generator goes unnoticed");
    println!("forked and separate processes draw noise of their own");
}

/// What this process draws after a fork, and what its child does.
fn forked(draws: impl FnOnce() -> String) -> (String, String) {
    let path = std::env::temp_dir().join(format!("counterpoint-fork-{}", std::process::id()));
    match fork::fork().expect("a fork") {
        fork::Fork::Child => {
            let written = fs::write(&path, draws());
            std::process::exit(i32::from(written.is_err()));
        }
        fork::Fork::Parent(child) => {
            let own = draws();
            fork::waitpid(child).expect("the child ends");
            let other = fs::read_to_string(&path).expect("the child's draws");
            let _ = fs::remove_file(&path);
            (own, other)
        }
    }
}

fn separate() -> (String, String) {
    let run = || {
        let this = std::env::current_exe().expect("this program");
        let output = Command::new(this).arg("--draws").output().expect("a process");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    (run(), run())
}

/// How many of one's draws are among the other's.
fn repeated(one: &str, other: &str) -> usize {
    assert_eq!((one.lines().count(), other.lines().count()), (DRAWS, DRAWS));
    one.lines().filter(|line| other.lines().any(|seen| seen == *line)).count()
}

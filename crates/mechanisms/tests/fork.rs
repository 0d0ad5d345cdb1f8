//! A forked process does not repeat its parent's noise, nor do two processes share any.
//! Without the test harness: a process with threads should not fork.

#![allow(clippy::expect_used)]

use counterpoint_mechanisms::Noise;
use std::fs;
use std::process::Command;

/// Forty draws at a scale at which two lists alike by chance are unheard of.
fn draws() -> String {
    let noise = Noise::geometric(1e15, 1).expect("legal");
    let draw = |_| noise.add(0).expect("randomness").to_string();
    (0..40).map(draw).collect::<Vec<_>>().join("\n")
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
    forked();
    separate();
    println!("forked and separate processes draw noise of their own");
}

fn forked() {
    // The generator is seeded before the fork, so that the child inherits its state.
    let _ = draws();
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
            different(&own, &other);
        }
    }
}

fn separate() {
    let run = || {
        let this = std::env::current_exe().expect("this program");
        let output = Command::new(this).arg("--draws").output().expect("a process");
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    };
    different(&run(), &run());
}

fn different(one: &str, other: &str) {
    assert_eq!((one.lines().count(), other.lines().count()), (40, 40));
    let repeated = one.lines().filter(|line| other.lines().any(|seen| seen == *line)).count();
    assert_eq!(repeated, 0, "noise repeated");
}

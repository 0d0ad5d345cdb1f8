//! Long files: 10^7 lines with `COUNTERPOINT_FULL=1`, 10^5 otherwise.

use std::fmt::Write;

use counterpoint_testing::size;

use crate::{Folder, run};

fn lines() -> usize {
    size(10_000_000, 100_000) as usize
}

/// So many releases in TOML, four lines each.
fn toml(releases: usize) -> String {
    let mut text = String::from("delta = 1e-6\n");
    for index in 0..releases {
        let _ = write!(text, "[[release]]\nname = \"r{index}\"\n");
        text.push_str("mechanism = \"approx-dp\"\nepsilon = 1e-6\n");
    }
    text
}

/// So many releases in JSON, a line each.
fn json(releases: usize) -> String {
    let release = "{\"mechanism\":\"approx-dp\",\"epsilon\":1e-6},\n";
    let text = release.repeat(releases);
    format!("{{\"delta\":1e-6,\"release\":[{}]}}", text.trim_end_matches(",\n"))
}

#[test]
fn long_files_are_answered() {
    let folder = Folder::new();
    let toml = folder.file("plan.toml", toml(lines() / 4));
    let upper = |path: &str| {
        let object = run(&["compose", path, "--json"]).object();
        object["epsilon"]["upper"].as_f64().unwrap()
    };
    // No more than the epsilons' sum, and not nothing.
    let sum = (lines() / 4) as f64 * 1e-6;
    assert!((1e-6..=sum * 1.001).contains(&upper(&toml)));
    let json = folder.file("plan.json", json(lines()));
    assert!((1e-6..=4.0 * sum * 1.001).contains(&upper(&json)));
}

#[test]
fn a_mistake_at_the_end_of_a_long_file_is_placed() {
    let folder = Folder::new();
    let bad = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = -1\n";
    let releases = lines() / 4;
    let path = folder.file("plan.toml", toml(releases) + bad);
    let expected = format!("{path}: release {}: epsilon is -1; legal: ", releases + 1);
    let run = run(&["compose", &path]);
    assert!(run.error().starts_with(&expected), "{}", run.error());
}

#[test]
fn a_long_file_of_nothing_is_refused() {
    let folder = Folder::new();
    let path = folder.file("plan.toml", "x = [\n".repeat(lines()));
    let run = run(&["compose", &path]);
    assert!(run.error().starts_with(&format!("{path}: ")));
}

#[test]
fn more_releases_than_fit_are_refused() {
    if lines() < 10_000_000 {
        return;
    }
    let folder = Folder::new();
    let path = folder.file("plan.json", json(10_000_001));
    let run = run(&["compose", &path]);
    assert!(run.error().starts_with(&format!("{path}: release has more than 10^7 entries")));
}

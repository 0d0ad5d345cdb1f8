//! The program as its users meet it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod audits;
mod bad_input;
mod big;
mod calibrate;
mod citations;
mod documents;
mod figures;
#[cfg(feature = "serve")]
mod json_fields;
mod layers;
mod ledger;
mod losses;
mod mechanisms;
mod plans;
mod reach;
mod readings;
mod regions;
#[cfg(feature = "serve")]
mod release;
#[cfg(feature = "serve")]
mod release_page;
mod rules;
mod serve;
mod simulations;
mod streams;
mod studies;
mod usage;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// 100 releases of (0.1, 0) at delta 1e-6: KOV Theorem III.3, computed apart from
/// this project.
const HUNDRED: f64 = 4.774_567_588_108;

/// What a run left behind.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    status: i32,
    stdout: String,
    stderr: String,
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_counterpoint"));
    command.args(args).env("RUST_BACKTRACE", "1");
    command
}

/// Runs the program with nothing on standard input.
fn run(args: &[&str]) -> Run {
    run_with(args, b"")
}

/// Runs the program with this on standard input.
fn run_with(args: &[&str], stdin: &[u8]) -> Run {
    let mut command = command(args);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The program may be done before it has read everything.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    let output = child.wait_with_output().unwrap();
    Run {
        status: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

impl Run {
    /// The answer of a run that must have succeeded.
    #[track_caller]
    fn answer(&self) -> &str {
        assert_eq!((self.status, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        &self.stdout
    }

    /// The JSON object of a run that must have succeeded.
    #[track_caller]
    fn object(&self) -> serde_json::Value {
        let answer = self.answer();
        assert_eq!(answer.lines().count(), 1, "{answer}");
        serde_json::from_str(answer).unwrap()
    }

    /// The one warning of a run that must have succeeded all the same.
    #[track_caller]
    fn warning(&self) -> &str {
        assert_eq!(self.status, 0, "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("the line ends");
        assert!(!line.contains(char::is_control), "{line:?}");
        line.strip_prefix("warning: ").unwrap_or_else(|| panic!("{line}"))
    }

    /// The one line of a run that must have failed.
    #[track_caller]
    fn error(&self) -> &str {
        assert_eq!((self.status, self.stdout.as_str()), (2, ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').expect("the line ends");
        assert!(!line.contains(char::is_control), "{line:?}");
        line.strip_prefix("error: ").unwrap_or_else(|| panic!("{line}"))
    }
}

/// A file that comes with the project.
fn example(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name);
    path.to_str().unwrap().to_owned()
}

/// A folder of plan files, gone when dropped.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file; its path.
    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

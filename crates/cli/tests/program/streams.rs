//! Standard output that closes early or is full.

use std::io::Write;
use std::process::Stdio;

use crate::{command, example, run};

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let plan = std::fs::read(example("minimal.toml")).unwrap();
    for args in [&["compose", "-"][..], &["--help"], &["completions", "bash"]] {
        let mut command = command(args);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let _ = child.stdin.take().unwrap().write_all(&plan);
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert_eq!(output.status.code(), Some(0), "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = command(&["completions", "bash"]).stdout(full).output().unwrap();
    let line = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(line.starts_with("error: standard output cannot be written: "), "{line}");
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn nothing_but_the_answer_is_written_when_nobody_watches() {
    let run = run(&["compose", &example("survey.toml")]);
    assert_eq!(run.stderr, "");
    assert!(!run.answer().contains('\u{1b}'));
}

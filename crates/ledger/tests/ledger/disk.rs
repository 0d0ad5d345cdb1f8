//! Disks that fail, fill up, tear and lie.

use std::path::{Path, PathBuf};
use std::process::Command;

use counterpoint_ledger::{Head, Ledger};

use crate::child::{hex, start};
use crate::crash::kept;
use crate::{Place, Random, size, with_account};

/// The preloaded library, built with the C compiler that built SQLite.
fn library(folder: &Path) -> PathBuf {
    let path = folder.join("faults.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ledger/faults.c");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let built = Command::new(compiler)
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&path)
        .args([source, "-ldl"])
        .status()
        .expect("a C compiler");
    assert!(built.success());
    path
}

/// What the library is told.
fn faults(kind: &str, at: u64) -> [(&'static str, String); 3] {
    let path = "ledger.db".to_owned();
    [("FAULT_PATH", path), ("FAULT_KIND", kind.to_owned()), ("FAULT_AT", at.to_string())]
}

/// A worker on a disk that fails; what it said.
fn worker(place: &Place, library: &Path, kind: &str, at: u64) -> Vec<String> {
    let settings = faults(kind, at);
    let library = library.to_str().unwrap();
    start(&["loop", &place.url, "w-", "12"], Some((library, &settings))).all()
}

/// Full: 200 seeds each. Quick: 8.
#[test]
fn after_a_failed_write_or_sync_nothing_more_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    let mut stopped = 0;
    for kind in ["eio", "enospc", "sync"] {
        for seed in 0..size(200, 8) {
            let place = Place::sqlite();
            drop(with_account(&place, "1000"));
            // The child opens the log anew, so that some calls come before its first release.
            let said = worker(&place, &library, kind, 1 + Random::new(seed).below(60));
            if said.iter().any(|line| line.starts_with("error ")) {
                stopped += 1;
                assert_eq!(said.last().unwrap(), "after [false, false, false]", "{kind} {seed}");
            }
            let mut marker = place.file().into_os_string();
            marker.push("-stopped");
            let failed = |line: &String| line.starts_with("error ") && line.contains("I/O error");
            if kind != "enospc" && said.iter().any(failed) {
                assert!(Ledger::open(&place.url()).is_err(), "{kind} {seed}: others stop too");
            }
            let _ = std::fs::remove_file(marker);
            kept(&place, &said);
        }
    }
    // The test would be empty if the faults came too late.
    assert!(stopped >= size(200, 8), "{stopped}");
}

/// Who reserved it may have died between its write and its sync: a retry that finds the
/// reservation, or the response, has to wait for a sync of its own.
#[test]
fn a_retry_is_not_acknowledged_by_a_disk_that_does_not_sync() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    for committed in [false, true] {
        let place = Place::sqlite();
        let mut ledger = with_account(&place, "1000");
        let tenth = crate::release("0.1");
        ledger.reserve(&counterpoint_ledger::Request::new("account", "w-0", &tenth)).unwrap();
        if committed {
            ledger.commit("account", "w-0", b"w-0 answer").unwrap();
        }
        // The log stays: nothing is synced for any other reason.
        let said = worker(&place, &library, "sync", 1);
        assert_eq!(said[0], "ready");
        assert!(said[1].starts_with("error "), "{said:?}");
        // Nor is the response shown by anybody who only reads.
        if committed {
            for what in ["response", "export", "only response", "only export"] {
                let settings = faults("sync", 1);
                let library = library.to_str().unwrap();
                let _ = std::fs::remove_file(format!("{}-stopped", place.file().display()));
                let mut child =
                    start(&["show", &place.url, "w-0", what], Some((library, &settings)));
                assert_eq!(child.all(), ["ready", "error"], "{what}");
            }
        }
        drop(ledger);
    }
}

/// Full: 200 seeds each. Quick: 8.
#[test]
fn killed_within_a_write_or_a_sync() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    for kind in ["kill", "torn"] {
        for seed in 0..size(200, 8) {
            let place = Place::sqlite();
            drop(with_account(&place, "1000"));
            let said = worker(&place, &library, kind, 1 + Random::new(seed).below(60));
            kept(&place, &said);
        }
    }
}

/// A disk that says it wrote and did not: whatever was acknowledged is there, or the expected
/// head shows that it is not. Full: 400 seeds. Quick: 16.
#[test]
fn lost_writes_are_found_by_the_expected_head() {
    let folder = tempfile::tempdir().unwrap();
    let library = library(folder.path());
    for seed in 0..size(400, 16) {
        let place = Place::sqlite();
        drop(with_account(&place, "1000"));
        let said = worker(&place, &library, "lost", 1 + Random::new(seed).below(60));
        let _ = std::fs::remove_file(format!("{}-stopped", place.file().display()));
        found_or_kept(&place, &said, &format!("lost {seed}"));
    }
}

/// Either verification with the last acknowledged head fails, and this is true, or all that
/// was acknowledged is there.
fn found_or_kept(place: &Place, said: &[String], what: &str) -> bool {
    let acknowledged = |line: &String| -> Option<Head> {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["reserved" | "shown", _, head, ..] => head.parse().ok(),
            _ => None,
        }
    };
    let Some(last) = said.iter().rev().find_map(acknowledged) else { return false };
    let Ok(mut ledger) = Ledger::open(&place.url()) else { return true };
    match ledger.verify(Some(last)) {
        Ok(verification) if verification.problem.is_none() => {}
        _ => return true,
    }
    for line in said {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["shown", key, _, bytes] = words[..] {
            assert_eq!(hex(&ledger.response("account", key).unwrap().unwrap()), bytes, "{what}");
        }
    }
    false
}

/// Copies of database and log taken when a worker was killed, cut or changed anywhere. Full:
/// 1000. Quick: 40.
#[test]
fn damaged_copies_are_found_or_hold_everything() {
    let mut found = 0;
    let per_run = 20;
    for run in 0..size(50, 2) {
        let place = Place::sqlite();
        drop(with_account(&place, "1000"));
        let mut random = Random::new(run);
        let mut child = start(&["loop", &place.url, "w-", "1000"], None);
        let mut said = vec![child.said().unwrap()];
        for _ in 0..3 + random.below(40) {
            said.extend(child.said());
        }
        child.kill();
        said.extend(child.all());
        let log = PathBuf::from(format!("{}-wal", place.file().display()));
        let files = [std::fs::read(place.file()).unwrap(), std::fs::read(log).unwrap_or_default()];
        for case in 0..per_run {
            let copy = Place::sqlite();
            let mut damaged = files.clone();
            damage(&mut damaged, &mut random);
            std::fs::write(copy.file(), &damaged[0]).unwrap();
            std::fs::write(format!("{}-wal", copy.file().display()), &damaged[1]).unwrap();
            found += u64::from(found_or_kept(&copy, &said, &format!("copy {run} {case}")));
        }
    }
    // The test would be empty if the damage did nothing.
    assert!(found >= size(50, 2) * per_run / 5, "{found}");
}

/// Cuts a file, or changes bytes in it.
fn damage(files: &mut [Vec<u8>; 2], random: &mut Random) {
    let file = &mut files[random.below(2) as usize];
    if file.is_empty() {
        return;
    }
    let at = random.below(file.len() as u64) as usize;
    match random.below(3) {
        0 => file.truncate(at),
        1 => file[at] ^= 1 << random.below(8),
        _ => {
            let end = (at + random.below(4096) as usize).min(file.len());
            file[at..end].fill(random.below(256) as u8);
        }
    }
}

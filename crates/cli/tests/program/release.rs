//! `release`: from a file to published numbers.

use super::*;
use counterpoint_testing::tries;
use std::fs;
use std::time::{Duration, Instant};

pub(super) const STUDY: &str = r#"
    delta = 1e-6
    epsilon = 1.0
    [data]
    source = "people.csv"
    adjacency = "replace"
    people = 40
    [[data.column]]
    name = "income"
    bounds = [0, 1000]
    [[data.column]]
    name = "region"
    categories = ["north", "south"]
    [[statistic]]
    name = "mean income"
    kind = "mean"
    column = "income"
    by = ["region"]
    pin = true
    epsilon = 0.5
    [[statistic]]
    name = "poor"
    kind = "count"
    where = "income < 300"
    pin = true
    epsilon = 0.4
"#;

/// Forty people, the last of whom did not tell their income.
pub(super) fn people() -> String {
    let row = |i: usize| match i {
        39 => format!("{i},,south\n"),
        _ => format!("{i},{},{}\n", i * 20, ["north", "south"][i % 2]),
    };
    "id,income,region\n".to_owned() + &(0..40).map(row).collect::<String>()
}

/// A folder with a study and its rows.
pub(super) struct Place(tempfile::TempDir);

impl Place {
    pub(super) fn new(study: &str, rows: &[u8]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.path("study.toml"), study).unwrap();
        fs::write(place.path("people.csv"), rows).unwrap();
        place
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(super) fn release(&self, more: &[&str]) -> Run {
        let (study, out) = (self.path("study.toml"), self.path("out"));
        run(&[&["release", &study, "--out", &out], more].concat())
    }

    pub(super) fn published(&self, name: &str) -> String {
        fs::read_to_string(self.path(&format!("out/{name}"))).unwrap()
    }

    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.published("release.json")).unwrap()
    }

    /// The ledger is as it says, and the data set paid once.
    pub(super) fn assert_charged(&self, epsilon: f64) {
        let url = format!("sqlite:{}", self.path("out/ledger.db"));
        let head = self.json()["ledger"]["head"].as_str().unwrap().to_owned();
        run(&["ledger", "--url", &url, "verify", "--expect-head", &head]).answer();
        let status = run(&["ledger", "--url", &url, "status", "--json"]).object();
        let spent: f64 = status["accounts"][0]["spent"]["main"].as_str().unwrap().parse().unwrap();
        assert!(spent <= epsilon && spent > 0.99 * epsilon, "{status}");
    }
}

#[test]
fn a_study_is_released_once() {
    let place = Place::new(STUDY, people().as_bytes());
    place.release(&[]).answer();
    let csv = place.published("release.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines[0], "statistic,group,part,value,lower,upper,confidence");
    assert_eq!(lines.len(), 4, "{csv}");
    assert!(lines[1].starts_with("mean income,region=north,,"), "{csv}");
    assert!(lines[3].starts_with("poor,,,") && lines[3].ends_with(",0.95"), "{csv}");
    place.assert_charged(0.9);
    for name in ["report.html", "metadata.json"] {
        assert!(place.published(name).contains("mean income"), "{name}");
    }
    let report = place.published("report.html");
    // Again, also after what was published is gone.
    fs::remove_file(place.path("out/release.csv")).unwrap();
    place.release(&[]).answer();
    assert_eq!((place.published("release.csv"), place.published("report.html")), (csv, report));
    place.assert_charged(0.9);
}

/// What was planned is what is drawn: a plan that was written first is released as it stands.
#[test]
fn a_plan_that_was_written_is_released() {
    let place = Place::new(STUDY, people().as_bytes());
    let (study, plan) = (place.path("study.toml"), place.path("plan.toml"));
    assert_eq!(run(&["plan", &study, "--out", &plan]).status, 0);
    place.release(&["--plan", &plan]).answer();
    let csv = place.published("release.csv");
    place.release(&[]).answer();
    assert_eq!(place.published("release.csv"), csv);
    // A plan of another study is none of this one.
    let text = fs::read_to_string(&plan).unwrap().replace("\"poor\"", "\"rich\"");
    fs::write(&plan, text).unwrap();
    let refused = place.release(&["--plan", &plan]);
    assert_eq!(refused.status, 2, "{}", refused.stderr);
    assert!(refused.stderr.contains("statistic 2 (\"poor\")"), "{}", refused.stderr);
}

#[test]
fn other_studies_and_changed_files_are_charged_or_refused() {
    let place = Place::new(STUDY, people().as_bytes());
    place.release(&[]).answer();
    let csv = place.published("release.csv");
    // The same data set has 0.1 left.
    fs::write(place.path("study.toml"), STUDY.replace("300", "400")).unwrap();
    let refused = place.release(&[]);
    assert_eq!((refused.status, refused.stdout.as_str()), (1, ""), "{}", refused.stderr);
    assert!(refused.stderr.contains("data set \"data\""), "{}", refused.stderr);
    fs::write(place.path("study.toml"), STUDY).unwrap();
    fs::write(place.path("people.csv"), people().replace("20,", "21,")).unwrap();
    let refused = place.release(&[]);
    assert_eq!(refused.status, 1);
    assert!(refused.stderr.contains("--changed"), "{}", refused.stderr);
    let refused = place.release(&["--changed"]);
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    // The file as it was is told again.
    fs::write(place.path("people.csv"), people()).unwrap();
    place.release(&[]).answer();
    assert_eq!(place.published("release.csv"), csv);
    place.assert_charged(0.9);
}

#[test]
fn a_dry_run_reads_and_charges_nothing() {
    let place = Place::new(STUDY, people().as_bytes());
    fs::remove_file(place.path("people.csv")).unwrap();
    let made_up = place.release(&["--dry-run"]);
    assert!(made_up.answer().contains("MADE-UP"), "{}", made_up.stdout);
    assert!(!Path::new(&place.path("out/ledger.db")).exists());
    assert_eq!(place.json()["made_up"], true);
    assert!(place.published("report.html").contains("MADE-UP DATA"));
    // It does not take the place of a release.
    fs::write(place.path("people.csv"), people()).unwrap();
    place.release(&[]).answer();
    let refused = place.release(&["--dry-run"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("real rows"), "{}", refused.stderr);
    assert_eq!(place.json()["made_up"], false);
}

/// One clear line, and nothing is charged: there is not even a ledger.
#[test]
fn bad_input_is_named_before_anything_is_charged() {
    let rows = people();
    let study = |from: &str, to: &str| STUDY.replace(from, to);
    let bytes = |text: &str| text.as_bytes().to_vec();
    for (study, rows, message) in [
        (STUDY.to_owned(), bytes(&rows.replace("region", "place")), "region"),
        (STUDY.to_owned(), bytes("id,income,region\n"), "no rows"),
        (STUDY.to_owned(), bytes("\n1,2,north\n"), "header"),
        (STUDY.to_owned(), Vec::new(), "people.csv"),
        (STUDY.to_owned(), bytes(&(rows.clone() + "1,2\n")), "line 42"),
        (STUDY.to_owned(), bytes(&(rows.clone() + "1,2,north,4\n")), "line 42"),
        (STUDY.to_owned(), bytes(&(rows.clone() + "1,\"2,north\n")), "line 42"),
        (STUDY.to_owned(), [rows.as_bytes(), b"1,2,n\xffrth\n"].concat(), "line 42"),
        (study("people.csv", "nobody.csv"), bytes(&rows), "nobody.csv"),
        (study("people.csv", "people.txt"), bytes(&rows), "people.txt"),
        (study("people.csv", "."), bytes(&rows), "source"),
        (study("column = \"income\"", "column = \"wages\""), bytes(&rows), "wages"),
        (study("column = \"income\"", "bounds = [0, 1]"), bytes(&rows), "statistic 1"),
        (study("source = \"people.csv\"", ""), bytes(&rows), "source"),
        (study("income < 300", "region = 'west'"), bytes(&rows), "declared categories"),
    ] {
        let place = Place::new(&study, &rows);
        let wrong = place.release(&[]);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{message}: {}", wrong.stderr);
        assert_eq!(wrong.stderr.lines().count(), 1, "{}", wrong.stderr);
        assert!(wrong.stderr.contains(message), "{message}: {}", wrong.stderr);
        assert!(!Path::new(&place.path("out/ledger.db")).exists(), "{message}");
    }
}

/// A byte-order mark, CRLF, quoted line breaks and nearly 10^4 other columns change nothing.
#[test]
fn odd_files_are_read() {
    let odd = |rows: String| {
        let place = Place::new(STUDY, rows.as_bytes());
        place.release(&[]).answer();
    };
    odd("\u{feff}".to_owned() + &people());
    odd(people().replace('\n', "\r\n"));
    odd(people().replace("\n7,", "\n\"a \"\"quoted\"\"\nline\","));
    let more: String = (0..9_990).map(|i| format!(",c{i}")).collect();
    odd(people().lines().map(|line| format!("{line}{more}\n")).collect());
}

/// Killed at any moment: never two answers, never an answer without its debit, and the next run ends what was begun.
#[test]
fn a_killed_release_is_continued() {
    killed(STUDY, 0.9);
    // Two statistics that share a count, which is drawn before them.
    let more = STUDY.replace("epsilon = 1.0", "epsilon = 1.5") + SHARING;
    killed(&more, 1.5);
}

/// Of the incomes of everybody who told theirs.
const SHARING: &str = r#"
    [[statistic]]
    name = "income"
    kind = "mean"
    column = "income"
    error = 100
    [[statistic]]
    name = "rich"
    kind = "proportion"
    column = "income"
    bounds = [500, 1000]
    error = 0.1
"#;

fn killed(study_text: &str, epsilon: f64) {
    let place = Place::new(study_text, people().as_bytes());
    let start = Instant::now();
    place.release(&[]).answer();
    let whole = start.elapsed();
    let shares = place.published("release.csv").contains("rows (income IS NOT NULL)");
    assert_eq!(shares, study_text.contains(SHARING));
    let kills = tries(50, 0.12) as u32;
    for kill in 0..kills {
        let place = Place::new(study_text, people().as_bytes());
        let (study, out) = (place.path("study.toml"), place.path("out"));
        let mut child = command(&["release", &study, "--out", &out])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Wherever that is: what must be true is true after every kill.
        std::thread::sleep(whole * kill / kills + Duration::from_millis(1));
        let _ = child.kill();
        child.wait().unwrap();
        let seen = fs::read_to_string(place.path("out/release.csv")).ok();
        place.release(&[]).answer();
        let csv = place.published("release.csv");
        assert!(seen.is_none_or(|seen| seen == csv), "kill {kill}");
        place.release(&[]).answer();
        assert_eq!(place.published("release.csv"), csv, "kill {kill}");
        place.assert_charged(epsilon);
    }
}

/// The commands of the README, on the survey of the examples.
#[test]
fn the_survey_of_the_examples_is_released() {
    let place = Place::new("", b"");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/survey");
    for name in ["make.py", "study.toml"] {
        fs::copy(examples.join(name), place.path(name)).unwrap();
    }
    let mut make = Command::new("python3");
    make.arg(place.path("make.py")).current_dir(place.0.path());
    assert!(make.status().unwrap().success());
    place.release(&[]).answer();
    let published = place.json();
    assert_eq!(published["statistics"].as_array().unwrap().len(), 30);
    assert!(published["privacy"]["epsilon"].as_f64().unwrap() <= 2.0);
}

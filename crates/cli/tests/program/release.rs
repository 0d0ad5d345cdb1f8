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

    /// What the data set paid.
    fn spent(&self) -> f64 {
        let url = format!("sqlite:{}", self.path("out/ledger.db"));
        let status = run(&["ledger", "--url", &url, "status", "--json"]).object();
        status["accounts"][0]["spent"]["main"].as_str().unwrap().parse().unwrap()
    }

    /// The ledger is as it says, and the data set paid once.
    pub(super) fn assert_charged(&self, epsilon: f64) {
        let url = format!("sqlite:{}", self.path("out/ledger.db"));
        let head = self.json()["ledger"]["head"].as_str().unwrap().to_owned();
        run(&["ledger", "--url", &url, "verify", "--expect-head", &head]).answer();
        let spent = self.spent();
        assert!(spent <= epsilon && spent > 0.99 * epsilon, "{spent}");
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

/// Without a stated budget the data set gets exactly what the plan costs, of which no digit may be missing.
#[test]
fn a_study_without_a_budget_is_charged_what_it_costs() {
    for error in [3, 7, 8, 15, 20, 40] {
        let study = format!(
            "delta = 1e-6\n[data]\nsource = \"people.csv\"\nadjacency = \"replace\"\npeople = 40\n\
             column = [{{ name = \"id\", bounds = [0, 100] }}]\n\
             [[statistic]]\nkind = \"mean\"\ncolumn = \"id\"\nerror = {error}\n"
        );
        let place = Place::new(&study, people().as_bytes());
        place.release(&[]).answer();
        place.assert_charged(place.json()["privacy"]["epsilon"].as_f64().unwrap() * (1.0 + 1e-12));
    }
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
    assert!(refused.stderr.contains("no release \"poor\""), "{}", refused.stderr);
}

/// A plan that charges less than its recipe's noise costs is refused before anything is charged; one that draws more noise than it says
/// draws that.
#[test]
fn an_edited_plan_is_not_charged() {
    let place = Place::new(STUDY, people().as_bytes());
    let (study, plan) = (place.path("study.toml"), place.path("plan.toml"));
    assert_eq!(run(&["plan", &study, "--out", &plan]).status, 0);
    let text = fs::read_to_string(&plan).unwrap();
    for (from, to) in [
        ("scale = 2.5", "scale = 2.6"),
        ("epsilon = 0.25\n", "epsilon = 0.24\n"),
        ("laplace]\nepsilon = 0.4", "laplace]\nepsilon = 0.41"),
        ("mean = [0.0, 1000.0]", "mean = [0.0, 1001.0]"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        fs::write(&plan, text.replace(from, to)).unwrap();
        let refused = place.release(&["--plan", &plan]);
        assert!(refused.error().contains("statistic"), "{from}: {}", refused.stderr);
        assert!(!Path::new(&place.path("out/ledger.db")).exists(), "{from}");
    }
    fs::write(&plan, text.replace("laplace]\nepsilon = 0.4", "laplace]\nepsilon = 0.3")).unwrap();
    place.release(&["--plan", &plan]).answer();
    place.assert_charged(0.9);
}

/// Of an older copy of the ledger, or of none, numbers would be drawn again: another answer to the same question.
#[test]
fn a_ledger_that_lost_a_release_is_refused() {
    let place = Place::new(STUDY, people().as_bytes());
    let first = STUDY.replace("0.4", "0.1").replace("0.5", "0.2");
    let budget = "[data]\n    budget = { epsilon = 1, delta = 3e-6 }\n";
    let first = first.replace("[data]\n", budget);
    fs::write(place.path("study.toml"), &first).unwrap();
    place.release(&[]).answer();
    fs::copy(place.path("out/ledger.db"), place.path("old.db")).unwrap();
    fs::write(place.path("study.toml"), first.replace("300", "400")).unwrap();
    place.release(&[]).answer();
    let csv = place.published("release.csv");
    fs::rename(place.path("out/ledger.db"), place.path("new.db")).unwrap();
    let refused = place.release(&[]);
    assert!(refused.error().contains("another ledger"), "{}", refused.stderr);
    fs::copy(place.path("old.db"), place.path("out/ledger.db")).unwrap();
    let refused = place.release(&[]);
    assert!(refused.error().contains("older"), "{}", refused.stderr);
    assert_eq!(place.published("release.csv"), csv);
    fs::rename(place.path("new.db"), place.path("out/ledger.db")).unwrap();
    place.release(&[]).answer();
    assert_eq!(place.published("release.csv"), csv);
    // Without the key nobody knows which rows were released.
    fs::remove_file(place.path("out/secret.db")).unwrap();
    let refused = place.release(&[]);
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("secret.db"), "{}", refused.stderr);
}

/// The same rows have one budget, whatever their data set is called; so they have through a link to the folder.
#[test]
fn another_name_is_no_other_budget() {
    let place = Place::new(STUDY, people().as_bytes());
    place.release(&[]).answer();
    let csv = place.published("release.csv");
    let named = STUDY.replace("[data]\n", "[data]\n    name = \"fresh\"\n");
    fs::write(place.path("study.toml"), named).unwrap();
    let refused = place.release(&[]);
    assert_eq!(refused.status, 1, "{}", refused.stderr);
    assert!(refused.stderr.contains("have one budget"), "{}", refused.stderr);
    fs::write(place.path("study.toml"), STUDY).unwrap();
    std::os::unix::fs::symlink(place.path("out"), place.path("link")).unwrap();
    run(&["release", &place.path("study.toml"), "--out", &place.path("link")]).answer();
    assert_eq!(place.published("release.csv"), csv);
    place.assert_charged(0.9);
}

/// A file that is written to while it is released: either nothing is charged, or nothing is written, or it was not noticed that it was
/// written to after it was read.
#[test]
fn a_file_that_grows_is_not_published() {
    let rows = people() + &"40,500,north\n".repeat(200_000);
    let place = Place::new(STUDY, rows.as_bytes());
    let path = place.path("people.csv");
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let writer = std::thread::spawn(move || {
        let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
        while stopped.try_recv().is_err() {
            file.write_all(b"41,10,south\n").unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    let wrong = place.release(&[]);
    stop.send(()).unwrap();
    writer.join().unwrap();
    assert!(wrong.error().contains("changed while it was read"), "{}", wrong.stderr);
    assert!(!Path::new(&place.path("out/release.csv")).exists());
    assert!(!Path::new(&place.path("out/ledger.db")).exists());
    place.release(&[]).answer();
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
    let wide = (0..100_000).map(|i| format!("c{i},")).collect::<String>() + "\n";
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
        (STUDY.to_owned(), bytes(&rows.replace("5,100,south", "5,100,west")), "row 6: \"west\""),
        (STUDY.to_owned(), bytes(&rows.replace("5,100,", "5,n/a,")), "row 6: \"n/a\""),
        (STUDY.to_owned(), bytes(&rows.replace(',', ";")), "it has \"id;income;region\""),
        (STUDY.to_owned(), bytes(&rows.replace('\n', "\r")), "no column \"region\""),
        (STUDY.to_owned(), bytes(&rows.replace("id,", "income,")), "\"income\" twice"),
        (STUDY.to_owned(), bytes(&wide), "100001 columns"),
        (STUDY.to_owned(), b"\x1f\x8b\x08\0\0".to_vec(), "gzip"),
        (STUDY.to_owned(), b"\xff\xfei\0d\0".to_vec(), "UTF-16"),
        (STUDY.to_owned(), vec![0; 5_000], "no column"),
        (study("people.csv", "people.csv.gz"), bytes(&rows), "legal: a file (.csv"),
        (
            study("people.csv", "postgres://nobody@127.0.0.1:9/none"),
            bytes(&rows),
            "connecting to server",
        ),
    ] {
        let place = Place::new(&study, &rows);
        let wrong = place.release(&[]);
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{message}: {}", wrong.stderr);
        assert_eq!(wrong.stderr.lines().count(), 1, "{}", wrong.stderr);
        assert!(wrong.stderr.contains(message), "{message}: {}", wrong.stderr);
        assert!(!Path::new(&place.path("out/ledger.db")).exists(), "{message}");
    }
}

/// What is no file, or cannot be read: one line, at once, and nothing is charged.
#[test]
fn what_is_no_file_is_named() {
    let place = Place::new(STUDY, people().as_bytes());
    let refused = |source: &str, more: &[&str], message: &str| {
        let path = place.path(source);
        let wrong = place.release(&[&["--data", &path], more].concat());
        assert_eq!((wrong.status, wrong.stdout.as_str()), (2, ""), "{source}: {}", wrong.stderr);
        assert_eq!(wrong.stderr.lines().count(), 1, "{}", wrong.stderr);
        assert!(wrong.stderr.contains(message), "{source}: {}", wrong.stderr);
        assert!(!Path::new(&place.path("out/ledger.db")).exists(), "{source}");
    };
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, place.path(name)).unwrap();
    link("loop.csv", "loop.csv");
    link("/dev/zero", "endless.csv");
    link("nowhere", "dangling.csv");
    fs::create_dir(place.path("folder.csv")).unwrap();
    assert!(Command::new("mkfifo").arg(place.path("pipe.csv")).status().unwrap().success());
    refused("loop.csv", &[], "symbolic links");
    refused("endless.csv", &[], "a pipe or a device");
    refused("dangling.csv", &[], "No such file");
    refused("folder.csv", &[], "is a folder");
    refused("pipe.csv", &[], "a pipe or a device");
    // Whoever may read everything has no such file.
    use std::os::unix::fs::PermissionsExt;
    fs::write(place.path("secret.csv"), people()).unwrap();
    fs::set_permissions(place.path("secret.csv"), fs::Permissions::from_mode(0o0)).unwrap();
    if fs::read(place.path("secret.csv")).is_err() {
        refused("secret.csv", &[], "ermission denied");
    }
    // A folder that is a file, or a ledger that is none.
    fs::write(place.path("file"), "").unwrap();
    let (study, file) = (place.path("study.toml"), place.path("file"));
    let wrong = run(&["release", &study, "--out", &file]);
    assert!(wrong.error().contains("cannot be created"), "{}", wrong.stderr);
    refused("people.csv", &["--ledger", "sqlite:/dev/full"], "/dev/full is no regular file");
}

/// A full disk is found out before anything is charged. (A file may have so many bytes, as if there were no more.)
#[test]
fn a_full_disk_charges_nothing() {
    let place = Place::new(STUDY, people().as_bytes());
    let (study, out) = (place.path("study.toml"), place.path("out"));
    for blocks in ["0", "8", "100", "2000"] {
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\" 2>&1 | cat");
        let program = env!("CARGO_BIN_EXE_counterpoint");
        let mut shell = Command::new("bash");
        shell.args(["-c", &script, "bash", program, "release", &study, "--out", &out]);
        let text = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        assert!(text.contains("has no room") && text.lines().count() == 1, "{blocks}: {text}");
        assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "{blocks}");
    }
    place.release(&[]).answer();
    place.assert_charged(0.9);
}

/// Values that are neither declared nor missing stop a release unless the study says what they are.
#[test]
fn undeclared_values_are_skipped_where_the_study_says_so() {
    let rows = people().replace("5,100,south", "5,refused,west");
    let declare = |column: &str, field: &str| STUDY.replace(column, &format!("{column}\n{field}"));
    let income = declare("bounds = [0, 1000]", "missing_codes = [\"refused\", -99]");
    let place = Place::new(&income, rows.as_bytes());
    assert!(place.release(&[]).error().contains("west"));
    let region = "categories = [\"north\", \"south\"]";
    let both = income.replace(region, &format!("{region}\nothers = \"skip\""));
    fs::write(place.path("study.toml"), both).unwrap();
    place.release(&[]).answer();
    let wrong = declare(region, "others = \"keep\"");
    let place = Place::new(&wrong, rows.as_bytes());
    assert!(place.release(&[]).error().contains("others is \"keep\""));
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
        if seen.is_some() {
            // An answer that is there was debited before.
            place.spent();
        }
        place.release(&[]).answer();
        let csv = place.published("release.csv");
        assert!(seen.is_none_or(|seen| seen == csv), "kill {kill}");
        place.release(&[]).answer();
        assert_eq!(place.published("release.csv"), csv, "kill {kill}");
        place.assert_charged(epsilon);
    }
}

/// Several processes release into one folder at once, some of which are killed: all that end publish the same numbers, which were
/// paid once.
#[test]
fn releases_at_once_publish_the_same() {
    for round in 0..tries(20, 0.15) {
        let place = Place::new(STUDY, people().as_bytes());
        let (study, out) = (place.path("study.toml"), place.path("out"));
        let start = |_| {
            let mut command = command(&["release", &study, "--out", &out]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        };
        let mut all: Vec<_> = (0..4).map(start).collect();
        std::thread::sleep(Duration::from_millis(25 * round));
        let mut killed = all.remove(0);
        let _ = killed.kill();
        killed.wait().unwrap();
        for one in all {
            let output = one.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        let csv = place.published("release.csv");
        place.release(&[]).answer();
        assert_eq!(place.published("release.csv"), csv, "round {round}");
        place.assert_charged(0.9);
    }
}

/// Killed while files are written: each is the old one or the new one, whole.
#[test]
fn files_are_old_or_new() {
    let place = Place::new(STUDY, people().as_bytes());
    let (study, out) = (place.path("study.toml"), place.path("out"));
    let start = Instant::now();
    place.release(&[]).answer();
    place.release(&[]).answer();
    let (whole, names) = (start.elapsed() / 2, ["release.csv", "report.html", "metadata.json"]);
    let new = names.map(|name| place.published(name));
    let kills = tries(60, 0.15) as u32;
    for kill in 0..kills {
        for name in names {
            fs::write(place.path(&format!("out/{name}")), "old").unwrap();
        }
        let mut command = command(&["release", &study, "--out", &out]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Once the first file is new, or later.
        let begin = Instant::now();
        while place.published(names[0]) == "old"
            && begin.elapsed() < 3 * whole
            && child.try_wait().unwrap().is_none()
        {
            std::thread::sleep(Duration::from_micros(200));
        }
        std::thread::sleep(Duration::from_micros(u64::from(kill) * 500));
        let _ = child.kill();
        child.wait().unwrap();
        for (name, new) in names.iter().zip(&new) {
            let text = place.published(name);
            assert!(text == "old" || text == *new, "kill {kill}: {name}: {text}");
        }
    }
}

/// The three commands of the README, as they are written there, on the survey of the examples; and the numbers are near the true ones.
#[test]
fn the_commands_of_the_readme_publish_the_survey() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let section = readme.split("## I publish statistics").nth(1).unwrap();
    let block = section.split("```console\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<&str> = block.lines().map(|line| line.trim_start_matches("$ ")).collect();
    assert_eq!(commands.len(), 3, "{block}");
    let place = Place::new("", b"");
    let survey = place.0.path().join("examples/survey");
    fs::create_dir_all(&survey).unwrap();
    for name in ["make.py", "study.toml"] {
        fs::copy(root.join("examples/survey").join(name), survey.join(name)).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_counterpoint")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    for line in commands {
        let mut shell = Command::new("bash");
        let output =
            shell.args(["-c", line]).current_dir(place.0.path()).env("PATH", &path).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let published = place.0.path().join("published");
    assert!(published.join("report.html").exists());
    let csv = fs::read_to_string(published.join("release.csv")).unwrap();
    let json = fs::read(published.join("release.json")).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["statistics"].as_array().unwrap().len(), 30);
    assert!(json["privacy"]["epsilon"].as_f64().unwrap() <= 2.0);
    are_plausible(&csv, &fs::read_to_string(survey.join("survey.csv")).unwrap());
}

/// Numbers are within three half-widths of what the rows say: no further off than once in 10^8 releases, Gaussian or not quite.
fn are_plausible(csv: &str, rows: &str) {
    let mut lines = rows.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let column = |name: &str| header.iter().position(|one| *one == name).unwrap();
    let [region, sex, age, employment, income, hours] =
        ["region", "sex", "age", "employment", "income", "hours"].map(column);
    let clamped = |row: &[&str], place: usize, low: f64, high: f64| {
        row[place].parse::<f64>().ok().map(|number| number.clamp(low, high))
    };
    let mean = |list: Vec<f64>| list.iter().sum::<f64>() / list.len() as f64;
    let count =
        |is_one: &dyn Fn(&[&str]) -> bool| rows.iter().filter(|row| is_one(row)).count() as f64;
    let works = |row: &[&str]| ["employed", "self-employed"].contains(&row[employment]);
    let incomes = |is_one: &dyn Fn(&[&str]) -> bool| {
        let own = rows.iter().filter(|row| is_one(row));
        mean(own.filter_map(|row| clamped(row, income, 0.0, 100_000.0)).collect())
    };
    let at_work = |row: &[&str]| clamped(row, age, 18.0, 95.0).is_some_and(|age| age <= 64.0);
    let mut truths = vec![
        ("people who work,,".to_owned(), count(&works)),
        ("people at working age,,".to_owned(), count(&at_work)),
        ("mean income,,".to_owned(), incomes(&|_| true)),
        (
            "mean age,,".to_owned(),
            mean(rows.iter().filter_map(|row| clamped(row, age, 18.0, 95.0)).collect()),
        ),
        (
            "\"hours worked in a week, all together\",,".to_owned(),
            rows.iter().filter_map(|row| clamped(row, hours, 0.0, 80.0)).sum(),
        ),
    ];
    for name in ["north", "east", "south", "west"] {
        let own = |row: &[&str]| row[region] == name;
        truths.push((format!("people by region,,{name}"), count(&own)));
        truths.push((format!("mean income by region,region={name},"), incomes(&own)));
        for one in ["female", "male"] {
            let line = format!("people by region and sex,\"region={name},sex={one}\",");
            truths.push((line, count(&|row| own(row) && row[sex] == one)));
        }
    }
    for (name, truth) in truths {
        let line = csv.lines().find_map(|line| line.strip_prefix(&format!("{name},")));
        let line = line.unwrap_or_else(|| panic!("{name}: {csv}"));
        let numbers: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [value, lower, upper, confidence] = numbers[..] else { panic!("{line}") };
        assert!(lower <= value && value <= upper && confidence > 0.9, "{name}: {line}");
        let half = (value - lower).max(upper - value);
        assert!((value - truth).abs() <= 3.0 * half, "{name}: {truth}, {line}");
    }
}

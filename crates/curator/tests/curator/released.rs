//! Studies, released: what was planned is what is drawn, once, and what is published is what the ledger stored.

use counterpoint_curator::engine::Sqlite;
use counterpoint_curator::{
    OpenTable, ReleaseError, ReleasePayer, StudyRelease, rehearse_release, release,
};
use counterpoint_ledger::{Hash, Ledger, LedgerError, OpenOptions, Pool, Url};
use counterpoint_planner::plan;
use counterpoint_studies::{PlannedStudy, StudyFile, read_study_file};
use counterpoint_testing::tries;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::publication::{Publication, PublishedNumber};
use std::path::Path;
use std::sync::Arc;

/// A study of a table of 300 rows, by people who have up to three or by rows.
fn study(adjacency: &str, person: bool, statistics: &str) -> StudyFile {
    let person = if person { "person = \"nr\"\nrows = 3\n" } else { "" };
    let text = format!(
        r#"
        delta = 1e-6
        epsilon = 2.0
        [data]
        name = "survey"
        adjacency = "{adjacency}"
        people = 300
        budget = {{ epsilon = 2.0, delta = 5e-6 }}
        {person}
        [[data.column]]
        name = "income"
        bounds = [0, 1000]
        [[data.column]]
        name = "age"
        bounds = [0, 100]
        missing = 40
        [[data.column]]
        name = "region"
        categories = ["north", "east", "south"]
        [[data.column]]
        name = "sex"
        categories = ["f", "m"]
        {statistics}
        "#
    );
    read_study_file(text.as_bytes(), Format::Toml).unwrap()
}

const STATISTICS: &str = r#"
    [[statistic]]
    name = "adults"
    kind = "count"
    where = "age >= 18"
    [[statistic]]
    name = "mean income"
    kind = "mean"
    column = "income"
    by = ["region"]
    [[statistic]]
    name = "total age"
    kind = "sum"
    column = "age"
    [[statistic]]
    name = "spread"
    kind = "variance"
    column = "income"
    where = "region = 'north'"
    [[statistic]]
    name = "regions"
    kind = "histogram"
    column = "region"
    by = ["sex"]
    [[statistic]]
    name = "ages"
    kind = "histogram"
    column = "age"
    bins = [0, 18, 65, 100]
    [[statistic]]
    name = "quartiles"
    kind = "quantiles"
    column = "age"
    shares = [0.25, 0.5, 0.75]
    [[statistic]]
    name = "later"
    kind = "held-back"
    epsilon = 0.1
"#;

pub(crate) fn planned(study: &StudyFile) -> ExactPlan {
    let planned = plan(&study.study, &counterpoint::Options::default()).unwrap();
    let text = PlannedStudy::new(&study.study, planned).plan().to_toml().unwrap();
    ExactPlan::parse(text.as_bytes(), Format::Toml).unwrap()
}

/// Rows in a database, and a ledger; gone when dropped.
struct Place {
    folder: tempfile::TempDir,
    pool: Pool,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
        data.execute_batch(
            "CREATE TABLE survey (nr, income, age, region, sex);
             WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 299)
             INSERT INTO survey SELECT i / 3, CASE WHEN i % 7 THEN i * 3.0 END, CASE WHEN i % 5 THEN i % 90 END,
                 CASE i % 4 WHEN 0 THEN 'north' WHEN 1 THEN 'east' WHEN 2 THEN 'south' END,
                 CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END FROM row;",
        )
        .unwrap();
        let ledger = Url::Sqlite(folder.path().join("ledger.db").display().to_string());
        Ledger::init(&ledger).unwrap();
        let pool = Pool::new(&ledger, &OpenOptions::default(), 2).unwrap();
        Self { folder, pool }
    }

    fn held(&self, study: &StudyFile) -> OpenTable {
        held(study, &self.folder.path().join("data.db"))
    }

    fn release(&self, study: &StudyFile, rows: &[u8]) -> Result<Publication, ReleaseError> {
        self.release_changed(study, rows, false)
    }

    fn release_changed(
        &self,
        study: &StudyFile,
        rows: &[u8],
        changed: bool,
    ) -> Result<Publication, ReleaseError> {
        let plan = planned(study);
        let asked = StudyRelease { study, plan: &plan, title: "a survey", source: "data.db" };
        let charged = ReleasePayer { dataset: "survey", fingerprint: Hash::of(rows), changed };
        release(&asked, &charged, &self.pool, &self.held(study))
    }

    fn spent(&self) -> f64 {
        let status = self.pool.with(|ledger| ledger.status(Some("survey"))).unwrap();
        status.accounts[0].spent.main.upper()
    }

    /// So much is spent, but for what a delta saves.
    #[track_caller]
    fn assert_spent(&self, epsilon: f64) {
        let spent = self.spent();
        assert!(spent <= epsilon && spent > 0.999 * epsilon, "{spent}");
    }
}

fn held(study: &StudyFile, file: &Path) -> OpenTable {
    let table = study.data.as_ref().unwrap().table.clone();
    let engine = Sqlite::open(file).unwrap();
    OpenTable::new(table, "survey", Arc::new(engine), [7; 32]).unwrap()
}

/// Every statistic is released, with and without people, under both relations; again it is the same, for nothing.
#[test]
fn a_study_is_released_once() {
    // Each with an epsilon of its own, so that planning takes no time; and as the planner shares a budget out.
    let pinned = |line: &str| match line.trim().starts_with("kind") && !line.contains("held") {
        true => format!("{line}\npin = true\nepsilon = 0.25\n"),
        false => format!("{line}\n"),
    };
    let pinned: String = STATISTICS.lines().map(pinned).collect();
    for adjacency in ["add-remove", "replace"] {
        for person in [false, true] {
            let place = Place::new();
            let weighted = adjacency == "replace" && !person;
            let study = study(adjacency, person, if weighted { STATISTICS } else { &pinned });
            let first = place.release(&study, b"rows").unwrap();
            let names: Vec<&str> = first.statistics.iter().map(|one| one.name.as_str()).collect();
            let all =
                ["adults", "mean income", "total age", "spread", "regions", "ages", "quartiles"];
            assert_eq!(names, all);
            let numbers: Vec<usize> =
                first.statistics.iter().map(|one| one.numbers.len()).collect();
            assert_eq!(numbers, [1, 3, 1, 1, 6, 3, 3]);
            let regions = &first.statistics[4];
            assert_eq!(regions.group(&regions.numbers[1]), "sex=f");
            assert_eq!(regions.numbers[1].part, "east");
            assert!(first.privacy.epsilon <= 2.0, "{:?}", first.privacy);
            let spent = place.spent();
            let again = place.release(&study, b"rows").unwrap();
            assert_eq!((again.statistics, place.spent()), (first.statistics, spent));
            place
                .pool
                .with(|ledger| -> Result<(), LedgerError> {
                    crate::assert_sound(ledger);
                    Ok(())
                })
                .unwrap();
        }
    }
}

/// Another study adds to the budget or is refused, and so do other rows, which are refused unless they are said to be others.
#[test]
fn another_study_and_other_rows_are_charged_or_refused() {
    let place = Place::new();
    let count = |name: &str, epsilon: f64| {
        let text = format!(
            "[[statistic]]\nname = \"{name}\"\nkind = \"count\"\npin = true\nepsilon = {epsilon}\n"
        );
        study("add-remove", false, &text)
    };
    place.release(&count("one", 0.5), b"rows").unwrap();
    place.assert_spent(0.5);
    place.release(&count("two", 0.75), b"rows").unwrap();
    place.assert_spent(1.25);
    let refused = place.release(&count("three", 1.0), b"rows").unwrap_err();
    assert!(refused.is_refusal(), "{refused}");
    place.assert_spent(1.25);
    // Other rows.
    let refused = place.release(&count("one", 0.5), b"other rows").unwrap_err();
    assert!(matches!(refused, ReleaseError::Changed { .. }), "{refused}");
    place.release_changed(&count("one", 0.5), b"other rows", true).unwrap();
    place.assert_spent(1.75);
    // Both are told again for nothing.
    for rows in [&b"rows"[..], b"other rows"] {
        place.release(&count("one", 0.5), rows).unwrap();
    }
    place.assert_spent(1.75);
}

/// The whole road, from a study to a publication: how often its intervals hold the true values. Each release is of another
/// fingerprint, and so drawn anew.
#[test]
fn published_intervals_hold_the_truth() {
    let place = Place::new();
    let kinds = [
        ("adults", "kind = \"count\"\nwhere = \"age >= 18\""),
        ("total", "kind = \"sum\"\ncolumn = \"income\""),
        ("mean", "kind = \"mean\"\ncolumn = \"income\"\nby = [\"sex\"]"),
        ("north", "kind = \"proportion\"\ncolumn = \"region\"\ncategories = [\"north\"]"),
    ];
    let statistic = |(name, rest): (&str, &str)| {
        format!("[[statistic]]\nname = \"{name}\"\n{rest}\npin = true\nepsilon = 0.3\n")
    };
    let text: String = kinds.map(statistic).concat();
    let mut study = study("add-remove", false, &text);
    // All of it is charged.
    let budget = counterpoint::Guarantee {
        epsilon: counterpoint::Epsilon::new(1e4).unwrap(),
        delta: counterpoint::Delta::new(0.1).unwrap(),
    };
    study.data.as_mut().unwrap().budget = Some(budget);
    let rows = 0..300_u32;
    let income = |i: &u32| (!i.is_multiple_of(7)).then(|| f64::from(i * 3));
    let age = |i: &u32| if !i.is_multiple_of(5) { i % 90 } else { 40 };
    let mean = |sex: u32| {
        let own: Vec<f64> =
            rows.clone().filter(|i| i % 2 == sex).filter_map(|i| income(&i)).collect();
        own.iter().sum::<f64>() / own.len() as f64
    };
    let known = rows.clone().filter(|i| i % 4 != 3).count() as f64;
    let truths = [
        rows.clone().filter(|i| age(i) >= 18).count() as f64,
        rows.clone().filter_map(|i| income(&i)).sum(),
        mean(0),
        mean(1),
        75.0 / known,
    ];
    let releases = tries(150, 0.04);
    let mut held = 0;
    for release in 0..releases {
        let published = place.release_changed(&study, &release.to_be_bytes(), true).unwrap();
        let numbers = published.statistics.iter().flat_map(|one| &one.numbers);
        let numbers: Vec<_> = numbers.collect();
        assert_eq!(numbers.len(), truths.len());
        let holds = |(number, truth): (&&PublishedNumber, &f64)| {
            number.lower.unwrap() <= truth + 1e-6 && truth - 1e-6 <= number.upper.unwrap()
        };
        held += numbers.iter().zip(&truths).filter(|pair| holds((pair.0, pair.1))).count();
    }
    // Of 30 numbers 13 are missed with a chance of 10^-9, and of 750 at 95 % 72 with one of 10^-7.
    let all = releases as usize * truths.len();
    let missed = all - held;
    assert!(missed <= tries(72, 0.18) as usize, "{missed} of {all}");
    assert!(releases < 100 || missed >= 5, "{missed} of {all}");
}

/// Made-up rows charge nothing, and no rows are looked at.
#[test]
fn a_rehearsal_is_free() {
    let study = study("replace", false, STATISTICS);
    let plan = planned(&study);
    let asked = StudyRelease { study: &study, plan: &plan, title: "a survey", source: "nothing" };
    let published = rehearse_release(&asked).unwrap();
    assert!(published.made_up && published.ledger.is_none());
    assert_eq!(published.statistics.len(), 7);
}

/// Counts that statistics share are published with them, once, and again the same; so are those of made-up rows.
#[test]
fn shared_counts_are_released_once() {
    for adjacency in ["add-remove", "replace"] {
        let study = crate::shared_counts::study(adjacency);
        let place = Place::new();
        let first = place.release(&study, b"rows").unwrap();
        let counts: Vec<(&str, usize)> = first.statistics[5..]
            .iter()
            .map(|one| (one.name.as_str(), one.numbers.len()))
            .collect();
        let adults = ("rows ((age BETWEEN 18 AND 80) AND income IS NOT NULL; by region)", 2);
        // How many people there are is public where they are replaced.
        let all = [adults, ("rows", 1)];
        assert_eq!(counts, all[..if adjacency == "replace" { 1 } else { 2 }]);
        let noisy = first.statistics.iter().filter(|one| one.noise != "none");
        let mut numbers = noisy.flat_map(|one| &one.numbers);
        assert!(numbers.all(|number| number.lower < number.upper));
        // A public number has no noise, no slot and no cost.
        let people = &first.statistics[3];
        let is_public = people.noise == "none";
        assert_eq!(is_public, adjacency == "replace");
        assert_eq!(
            is_public,
            planned(&study).releases.iter().all(|one| one.name() != Some("people"))
        );
        assert_eq!(
            is_public,
            people.numbers[0].value.to_bits() == 300.0_f64.to_bits()
                && people.epsilon.to_bits() == 0
        );
        let spent = place.spent();
        let again = place.release(&study, b"rows").unwrap();
        assert_eq!((&again.statistics, place.spent()), (&first.statistics, spent));
        let plan = planned(&study);
        let asked =
            StudyRelease { study: &study, plan: &plan, title: "a survey", source: "nothing" };
        assert_eq!(rehearse_release(&asked).unwrap().statistics.len(), 5 + counts.len());
        // A plan whose count is another's, or none, is refused before anything is charged.
        let other = crate::shared_counts::planned_with(&study, adults.0, "no such rows");
        let asked =
            StudyRelease { study: &study, plan: &other, title: "a survey", source: "data.db" };
        let refused = rehearse_release(&asked).unwrap_err().to_string();
        assert!(refused.contains("no such rows"), "{refused}");
    }
}

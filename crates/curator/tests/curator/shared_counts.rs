//! Slots of a plan whose answers are computed with the noisy count of another slot.

use counterpoint::Options;
use counterpoint_curator::{
    Bearer, Config, CostTarget, Curator, CuratorError, QuestionText, Role, Submission, Tokens,
};
use counterpoint_ledger::{Head, Ledger, NewAccount};
use counterpoint_planner::plan;
use counterpoint_studies::{PlannedStudy, StudyFile, read_study_file};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;

const ROWS: &str = "CREATE TABLE survey (income, age, region);
    WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 299)
    INSERT INTO survey SELECT CASE WHEN i % 7 THEN i * 3.0 END, i % 90,
        CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END FROM row;";

const COLUMNS: &str = r#"
    { name = "income", bounds = [0, 1000] },
    { name = "age", bounds = [0, 100], missing = 40 },
    { name = "region", categories = ["north", "south"] },
"#;

/// Two statistics of income by region among adults, which leave missing incomes out, and two of the ages of everybody.
pub(crate) fn study(adjacency: &str) -> StudyFile {
    study_at(adjacency, 5.0)
}

fn study_at(adjacency: &str, epsilon: f64) -> StudyFile {
    let text = format!(
        r#"
        delta = 1e-6
        epsilon = {epsilon}
        [data]
        name = "survey"
        adjacency = "{adjacency}"
        people = 300
        column = [{COLUMNS}]
        [[statistic]]
        name = "mean income"
        kind = "mean"
        column = "income"
        where = "age BETWEEN 18 AND 80"
        by = ["region"]
        [[statistic]]
        name = "poor"
        kind = "proportion"
        column = "income"
        bounds = [0, 300]
        where = "age BETWEEN 18 AND 80"
        by = ["region"]
        [[statistic]]
        name = "mean age"
        kind = "mean"
        column = "age"
        [[statistic]]
        name = "people"
        kind = "count"
        [[statistic]]
        name = "old"
        kind = "proportion"
        column = "age"
        bounds = [65, 100]
        "#
    );
    read_study_file(text.as_bytes(), Format::Toml).unwrap()
}

pub(crate) fn planned(study: &StudyFile) -> ExactPlan {
    let planned = plan(&study.study, &Options::default()).unwrap();
    let text = PlannedStudy::new(&study.study, planned).plan().to_toml().unwrap();
    ExactPlan::parse(text.as_bytes(), Format::Toml).unwrap()
}

/// The plan with another name in the place of a count's, wherever it is shared.
pub(crate) fn planned_with(study: &StudyFile, count: &str, other: &str) -> ExactPlan {
    let planned = plan(&study.study, &Options::default()).unwrap();
    let text = PlannedStudy::new(&study.study, planned).plan().to_toml().unwrap();
    let [count, other] = [count, other].map(|name| format!("count = \"{name}\""));
    assert!(text.contains(&count), "{text}");
    ExactPlan::parse(text.replace(&count, &other).as_bytes(), Format::Toml).unwrap()
}

/// What is asked in each slot. The condition of a count has those of its statistics, in parentheses.
const ADULTS: &str = "rows ((age BETWEEN 18 AND 80) AND income IS NOT NULL; by region)";
const QUESTIONS: [(&str, &str); 6] = [
    (
        ADULTS,
        "SELECT region, COUNT(*) FROM survey WHERE (age BETWEEN 18 AND 80) AND income IS NOT NULL GROUP BY region",
    ),
    ("rows", "SELECT COUNT(*) FROM survey"),
    (
        "mean income",
        "SELECT region, AVG(income) FROM survey WHERE age BETWEEN 18 AND 80 GROUP BY region",
    ),
    (
        "poor",
        "SELECT region, PROPORTION(income, 0, 300) FROM survey WHERE age BETWEEN 18 AND 80 GROUP BY region",
    ),
    ("mean age", "SELECT AVG(age) FROM survey"),
    ("old", "SELECT PROPORTION(age, 65, 100) FROM survey"),
];

struct Place {
    folder: tempfile::TempDir,
    curator: Curator,
    ann: Bearer,
}

impl Place {
    fn new(study: &StudyFile) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let data = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
        data.execute_batch(ROWS).unwrap();
        let config = format!(
            "version = 1\nledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n[timing]\nslot = 0\nlimit = 60\n\
             [[table]]\nname = \"survey\"\nsource = \"sqlite:data.db\"\nfrom = \"survey\"\nadjacency = \"add-remove\"\n\
             people = 300\ncolumn = [{COLUMNS}]\n"
        );
        let config = Config::parse(&config, folder.path()).unwrap();
        let mut ledger = Ledger::init(&config.ledger).unwrap();
        let relation = study.study.public().relation;
        ledger.add_dataset("survey", relation, &crate::sums("10000")).unwrap();
        let plan = NewAccount::Plan(planned(study), None);
        ledger.open_account("ours", "survey", &plan).unwrap();
        let tokens = Tokens::open(&config.state).unwrap();
        let token = tokens.create(Role::Analyst, "ann", &["ours".to_owned()]).unwrap();
        let ann = tokens.find(&token).unwrap().unwrap();
        Self { curator: Curator::open(&config).unwrap(), folder, ann }
    }

    fn ask(&self, slot: &str) -> Result<Vec<f64>, CuratorError> {
        let (_, text) = QUESTIONS.iter().find(|(name, _)| *name == slot).unwrap();
        let ask = Submission {
            account: "ours".to_owned(),
            question: QuestionText::Sql((*text).to_owned()),
            cost: CostTarget::Slot(slot.to_owned()),
            confidence: 0.95,
            key: None,
        };
        let made_up = self.curator.rehearse(&self.ann, &ask).unwrap();
        let answer = self.curator.ask(&self.ann, &ask)?;
        assert_eq!(made_up.len(), answer.numbers.len());
        let inside = |number: &counterpoint_curator::Number| {
            number.interval.is_some_and(|(low, high)| low <= number.value && number.value <= high)
        };
        assert!(answer.numbers.iter().all(inside), "{answer:?}");
        Ok(answer.numbers.iter().map(|number| number.value).collect())
    }

    fn head(&self) -> Head {
        self.curator.pool().with(Ledger::head).unwrap()
    }

    /// The first sum of each group that is stored for a slot's answer.
    fn stored(&self) -> Vec<Vec<f64>> {
        let all = self.curator.pool().with(|ledger| ledger.responses(Some("ours"), None)).unwrap();
        let first = |bytes: &[u8]| {
            let stored: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            let cells = stored["drawn"].as_array().unwrap().clone();
            cells.iter().map(|cell| cell[0]["sums"][0][0].as_f64().unwrap()).collect()
        };
        all.responses.iter().map(|one| first(&one.bytes)).collect()
    }
}

/// A slot whose count was not answered is refused before any debit, and says which slot to ask first; once it was, the answer
/// is computed with the stored count.
#[test]
fn a_count_is_asked_before_what_is_computed_with_it() {
    let place = Place::new(&study("add-remove"));
    let before = place.head();
    for (slot, count) in [("mean income", ADULTS), ("poor", ADULTS), ("old", "rows")] {
        let refused = place.ask(slot).unwrap_err().to_string();
        let named = format!("slot {count:?} asked first");
        assert!(refused.contains(&named), "{refused}");
    }
    assert_eq!(place.head(), before);
    // The other count is of no use.
    let everybody = place.ask("rows").unwrap();
    assert!(place.ask("poor").is_err());
    let adults = place.ask(ADULTS).unwrap();
    assert_eq!((everybody.len(), adults.len()), (1, 2));
    for (slot, count) in
        [("mean income", &adults), ("poor", &adults), ("mean age", &everybody), ("old", &everybody)]
    {
        let told = place.ask(slot).unwrap();
        assert_eq!(place.stored().last().unwrap(), count, "{slot}");
        // Asked again it is the same, and nothing is charged.
        let head = place.head();
        assert_eq!(place.ask(slot).unwrap(), told);
        assert_eq!(place.head(), head);
    }
}

/// With hardly any noise the answers are those of the rows themselves: the count is of the rows that the sums are of.
#[test]
fn the_count_is_of_the_same_rows() {
    let place = Place::new(&study_at("add-remove", 300.0));
    let data = rusqlite::Connection::open(place.folder.path().join("data.db")).unwrap();
    let exact = |text: &str| -> Vec<f64> {
        let sql = format!(
            "SELECT {text} FROM survey WHERE age BETWEEN 18 AND 80 AND income IS NOT NULL GROUP BY region ORDER BY region"
        );
        let mut statement = data.prepare(&sql).unwrap();
        let rows = statement.query_map([], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    };
    for (slot, truth, off) in [
        (ADULTS, "1.0 * COUNT(income)", 2.0),
        ("mean income", "AVG(income)", 10.0),
        ("poor", "AVG(income <= 300)", 0.02),
    ] {
        let (told, truth) = (place.ask(slot).unwrap(), exact(truth));
        assert_eq!(told.len(), 2);
        let near = |(told, truth): (&f64, &f64)| (told - truth).abs() <= off;
        assert!(told.iter().zip(&truth).all(near), "{slot}: {told:?} {truth:?}");
    }
}

//! Which slots of a plan pay for which questions: for what they dominate, and for nothing that is a hundredth larger.

use counterpoint::{Adjacency, Relation};
use counterpoint_curator::question::sql;
use counterpoint_curator::{
    AnswerError, Bearer, Config, CostTarget, Curator, Payer, PreparedQuestion, QuestionText, Role,
    Spend, Submission, Tokens, answer_question,
};
use counterpoint_ledger::{Head, Ledger, LedgerError, NewAccount};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// Tables of one row and of three rows a person, under both relations.
const TABLES: [(&str, &str, u64); 4] =
    [("a1", "add-remove", 1), ("a3", "add-remove", 3), ("r1", "replace", 1), ("r3", "replace", 3)];

/// No size is a sum of few powers of two: doubles are above or below it.
const SLOTS: [(&str, &str); 13] = [
    ("approx-dp", r#""mechanism":"approx-dp","epsilon":0.1"#),
    ("with-delta", r#""mechanism":"approx-dp","epsilon":0.7,"delta":1e-9"#),
    ("zcdp", r#""mechanism":"zcdp","rho":0.013"#),
    ("geometric", r#""mechanism":"geometric","scale":9.7"#),
    ("geometric-3", r#""mechanism":"geometric","scale":29.3,"sensitivity":3"#),
    ("discrete", r#""mechanism":"discrete-gaussian","sigma":4.7"#),
    ("discrete-3", r#""mechanism":"discrete-gaussian","sigma":14.3,"sensitivity":3"#),
    ("laplace", r#""mechanism":"laplace","scale":7.3"#),
    ("gaussian", r#""mechanism":"gaussian","sigma":5.3"#),
    ("gdp", r#""mechanism":"gdp","mu":0.3"#),
    ("exponential", r#""mechanism":"exponential","epsilon":0.1"#),
    ("staircase", r#""mechanism":"staircase","epsilon":0.1"#),
    ("response", r#""mechanism":"randomized-response","epsilon":0.1"#),
];

const QUESTIONS: [&str; 10] = [
    "COUNT(*)",
    "COUNT(DISTINCT nr)",
    "region, COUNT(*)",
    "HISTOGRAM(age, 0, 30, 100)",
    "MEDIAN(age)",
    "QUANTILE(age, 0.25, 0.5, 0.75)",
    "region, MEDIAN(age)",
    "SUM(age)",
    "AVG(age)",
    "COUNT(*), SUM(age), MEDIAN(age)",
];

fn asked(question: &str, table: &str) -> String {
    let group = if question.starts_with("region") { " GROUP BY region" } else { "" };
    format!("SELECT {question} FROM {table}{group}")
}

fn ask(slot: &str, table: &str, question: &str) -> Submission {
    Submission {
        account: format!("{slot}-{table}"),
        question: QuestionText::Sql(asked(question, table)),
        cost: CostTarget::Slot(slot.to_owned()),
        confidence: 0.95,
        key: None,
    }
}

/// A curator's files, gone when dropped.
struct Place {
    folder: tempfile::TempDir,
    curator: Curator,
    ann: Bearer,
}

impl Place {
    fn new() -> Self {
        Self::with(&SLOTS)
    }

    /// With an account for each slot and table, `SLOT-TABLE`.
    fn with(slots: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let rows = "CREATE TABLE visits (nr, age, region);
            WITH RECURSIVE row(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM row WHERE i < 59)
            INSERT INTO visits SELECT i % 20, i, CASE i % 2 WHEN 0 THEN 'north' ELSE 'south' END FROM row;";
        let data = rusqlite::Connection::open(folder.path().join("data.db")).unwrap();
        data.execute_batch(rows).unwrap();
        let config = Config::parse(&config(), folder.path()).unwrap();
        let mut ledger = Ledger::init(&config.ledger).unwrap();
        let mut accounts = Vec::new();
        for (table, adjacency, rows) in TABLES {
            let adjacency = match adjacency {
                "replace" => Adjacency::Replace,
                _ => Adjacency::AddRemove,
            };
            let relation = Relation::new(adjacency, rows).unwrap();
            ledger.add_dataset(table, relation, &crate::sums("10000")).unwrap();
            for (slot, fields) in slots {
                let count = QUESTIONS.len();
                let plan = format!(
                    r#"{{"delta":1e-6,"release":[{{"name":"{slot}",{fields},"count":{count}}}]}}"#
                );
                let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
                let account = format!("{slot}-{table}");
                ledger.open_account(&account, table, &NewAccount::Plan(plan, None)).unwrap();
                accounts.push(account);
            }
        }
        let tokens = Tokens::open(&config.state).unwrap();
        let token = tokens.create(Role::Analyst, "ann", &accounts).unwrap();
        let ann = tokens.find(&token).unwrap().unwrap();
        Self { curator: Curator::open(&config).unwrap(), folder, ann }
    }

    fn head(&self) -> Head {
        self.curator.pool().with(Ledger::head).unwrap()
    }

    fn spent(&self, account: &str) -> String {
        let status = self.curator.pool().with(|ledger| ledger.status(Some(account))).unwrap();
        status.accounts[0].spent.main.to_string()
    }

    /// A question with noise that the asker chose, booked on a slot.
    fn forced(
        &self,
        slot: &str,
        table: &str,
        question: &str,
        spend: Spend,
    ) -> Result<(), AnswerError> {
        let held = &self.curator.table(table).unwrap().table;
        let question = sql::read(&asked(question, table), |_| Some(&held.public)).unwrap();
        let ready = PreparedQuestion::new(held, &question, spend, Some(slot))?;
        let account = format!("{slot}-{table}");
        let payer = Payer { account: &account, analyst: Some("ann"), alias: None };
        let deadline = Instant::now() + Duration::from_secs(60);
        answer_question(self.curator.pool(), held, &ready, &payer, deadline).map(drop)
    }
}

fn config() -> String {
    let mut text = "version = 1\nledger = \"sqlite:ledger.db\"\nstate = \"sqlite:state.db\"\n\
                    [timing]\nslot = 0\nlimit = 60\n"
        .to_owned();
    for (table, adjacency, rows) in TABLES {
        write!(
            text,
            "[[table]]\nname = \"{table}\"\nsource = \"sqlite:data.db\"\nfrom = \"visits\"\nperson = \"nr\"\n\
             rows = {rows}\nadjacency = \"{adjacency}\"\ncolumn = [{{ name = \"age\", bounds = [0, 100] }}, \
             {{ name = \"region\", categories = [\"north\", \"south\"] }}]\n"
        )
        .unwrap();
    }
    text
}

/// What becomes of a question, as in the table.
fn letter(place: &Place, ask: &Submission) -> char {
    let before = place.head();
    match place.curator.ask(&place.ann, ask) {
        Ok(answer) => {
            assert_eq!(answer.charge.unwrap().main.to_string(), "1", "{ask:?}");
            '+'
        }
        Err(denied) => {
            assert_eq!(place.head(), before, "{ask:?}");
            let text = denied.to_string();
            match () {
                () if text.contains("is not shown to be covered by") => '.',
                () if text.contains("declares nothing that a question could be") => '-',
                () => panic!("{ask:?}: {text}"),
            }
        }
    }
}

/// Columns are in the order of the questions, for each table: answered (+), not covered (.), or not to be answered with what the
/// slot declares (-).
///
/// A slot of a guarantee pays for everything of its size, and so does geometric noise of sensitivity one, which is randomized
/// response. Noise of three steps pays for counts of three rows a person, and for what is finer. Discrete Gaussian noise pays
/// for counts with its own sigma. Continuous noise pays for sums, a range for one choice.
const TABLE: &str = "
    approx-dp   ++++++++++ ++++++++++ ++++++++++ ++++++++++
    with-delta  ++++++++++ ++++++++++ ++++++++++ ++++++++++
    zcdp        ++++++++++ ++++++++++ ++++++++++ ++++++++++
    geometric   ++++++++++ ++++++++++ ++++++++++ ++++++++++
    geometric-3 ....++++++ +...++++++ ..++++++++ +...++++++
    discrete    ++++...... .+........ ++........ .+........
    discrete-3  ++++...... ++........ ++........ ++........
    laplace     .......+.. .......+.. .......+.. .......+..
    gaussian    .......+.. .......+.. .......+.. .......+..
    gdp         .......+.. .......+.. .......+.. .......+..
    exponential ....+.+... ....+.+... ....+.+... ....+.+...
    staircase   ....++++++ +...++++++ ..++++++++ +...++++++
    response    ---------- ---------- ---------- ----------
";

/// An answer takes one opening of the slot, and a refusal writes nothing.
#[test]
fn slots_pay_for_what_they_cover() {
    let place = Place::new();
    let mut found = "\n".to_owned();
    for (slot, _) in SLOTS {
        let cells = TABLES.map(|(table, ..)| {
            let asks = QUESTIONS.iter().map(|question| ask(slot, table, question));
            let cells: String = asks.map(|ask| letter(&place, &ask)).collect();
            let answered = cells.chars().filter(|cell| *cell == '+').count();
            assert_eq!(place.spent(&format!("{slot}-{table}")), answered.to_string());
            cells
        });
        writeln!(found, "    {slot:<11} {}", cells.join(" ")).unwrap();
    }
    assert_eq!(found, TABLE, "{found}");
    let verified = |ledger: &mut Ledger| -> Result<(), LedgerError> {
        crate::assert_sound(ledger);
        Ok(())
    };
    place.curator.pool().with(verified).unwrap();
}

/// A hundredth less noise.
fn larger(spend: Spend) -> Spend {
    match spend {
        Spend::Epsilon(epsilon) => Spend::Epsilon(epsilon * 1.01),
        Spend::Rho(rho) => Spend::Rho(rho * 1.01 * 1.01),
        Spend::Sigma(sigma) => Spend::Sigma(sigma / 1.01),
        Spend::Style(_) => panic!("no slot here was planned"),
    }
}

/// Noise that somebody got wrong is refused before it is debited, and before the engine is asked: there are no rows to be had. Noise
/// that fits is debited, and fails there.
#[test]
fn a_hundredth_too_much_for_a_slot_is_refused_before_anything_is_drawn() {
    let place = Place::new();
    let data = rusqlite::Connection::open(place.folder.path().join("data.db")).unwrap();
    data.execute_batch("ALTER TABLE visits RENAME TO gone").unwrap();
    let mut tried = 0;
    for line in TABLE.lines().skip(1) {
        let (slot, cells) = line.trim().split_once(' ').unwrap();
        let cells = cells.split_whitespace().zip(TABLES);
        for (question, (table, ..), cell) in cells.flat_map(|(cells, table)| {
            QUESTIONS.iter().zip(cells.chars()).map(move |(question, cell)| (question, table, cell))
        }) {
            // Several choices have less than their rho: each is a range of its own.
            let is_within = slot == "zcdp" && question.starts_with("QUANTILE");
            // With a leak the profiles of three aggregates are computed, for seconds.
            let is_slow = slot == "with-delta" && question.ends_with("SUM(age), MEDIAN(age)");
            if cell != '+' || is_within || is_slow {
                continue;
            }
            let spend = place.curator.price(&place.ann, &ask(slot, table, question)).unwrap().spend;
            let before = place.head();
            let refused = place.forced(slot, table, question, larger(spend)).unwrap_err();
            let is_uncovered =
                matches!(&refused, AnswerError::Ledger(LedgerError::Uncovered { .. }));
            assert!(is_uncovered, "{slot} {table} {question}: {refused:?}");
            assert_eq!(place.head(), before);
            if tried % 20 == 0 {
                let failed = place.forced(slot, table, question, spend).unwrap_err();
                assert!(matches!(failed, AnswerError::Charged(_)), "{failed:?}");
                assert_ne!(place.head(), before);
            }
            tried += 1;
        }
    }
    assert!(tried > 200, "{tried}");
}

/// A slot that is a hundredth smaller does not pay for what the larger one pays for.
#[test]
fn a_slot_that_is_a_hundredth_too_small_is_refused() {
    let smaller = [
        ("approx-dp", r#""mechanism":"approx-dp","epsilon":0.099"#),
        ("zcdp", r#""mechanism":"zcdp","rho":0.01274"#),
        ("geometric", r#""mechanism":"geometric","scale":9.8"#),
        ("discrete", r#""mechanism":"discrete-gaussian","sigma":4.75"#),
    ];
    let (large, small) = (Place::new(), Place::with(&smaller));
    for ((slot, _), question) in smaller.iter().flat_map(|slot| QUESTIONS.map(|one| (slot, one))) {
        let priced = large.curator.price(&large.ann, &ask(slot, "a1", question));
        let Ok(priced) = priced else { continue };
        if *slot == "zcdp" && question.starts_with("QUANTILE") {
            continue;
        }
        let before = small.head();
        let refused = small.forced(slot, "a1", question, priced.spend).unwrap_err();
        assert!(
            matches!(refused, AnswerError::Ledger(LedgerError::Uncovered { .. })),
            "{refused:?}"
        );
        assert_eq!(small.head(), before);
    }
}

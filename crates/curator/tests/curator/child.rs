//! A process that tests start and kill: this test program once more.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use counterpoint_curator::{Bill, StoredReply, answer, ask, close, open};
use counterpoint_ledger::Ledger;
use counterpoint_ledger::database::{Access, Cell, Database, DatabaseError, Dialect, Row};
use counterpoint_mechanisms::{
    Bounds, GuessAndCheck, InteractiveMechanism, NoisyQuery, Query, Sequence, SessionQuery,
    SparseVector,
};

use crate::ages;

/// What a child said, and whether it got to the end.
pub(crate) struct ChildOutput {
    pub(crate) lines: Vec<String>,
    pub(crate) is_done: bool,
}

/// Runs a child until it is done, or killed before its so many-th step in the database.
pub(crate) fn run_until(url: &str, step: u64) -> ChildOutput {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child::run", "--ignored", "--nocapture", "--test-threads=1"])
        .env("CURATOR_CHILD", format!("{url}\n{step}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = ChildOutput { lines: Vec::new(), is_done: false };
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let Ok(line) = line else { break };
        // The test harness may have begun the line.
        let Some(at) = line.find('@') else { continue };
        match &line[at + 1..] {
            "step" => break,
            "done" => told.is_done = true,
            said => told.lines.push(said.to_owned()),
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    told
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@{text}").and_then(|()| out.flush()).unwrap();
}

pub(crate) fn mean() -> NoisyQuery {
    Query::mean(Bounds::new(0.0, 100.0).unwrap()).laplace(0.5).unwrap()
}

pub(crate) fn count() -> NoisyQuery {
    Query::count().laplace(0.25).unwrap()
}

/// The sessions of a child, and what it asks them.
pub(crate) fn sessions() -> Vec<(&'static str, InteractiveMechanism, Vec<SessionQuery>)> {
    let above = |low: f64| Query::count_within(Bounds::new(low, 200.0).unwrap());
    let check = |guess| SessionQuery::Check(above(18.0), guess);
    vec![
        (
            "sparse",
            SparseVector::new(1.0, 2, 2.5).unwrap().with_values().into(),
            [60.0, 150.0, 30.0, 0.0].map(|low| SessionQuery::Above(above(low))).to_vec(),
        ),
        (
            "guess",
            GuessAndCheck::new(1.0, 2, 2.0).unwrap().into(),
            [5.0, 500.0, 4.0].map(check).to_vec(),
        ),
        (
            "sequence",
            Sequence::new([count(), count(), mean()]).unwrap().into(),
            vec![SessionQuery::Measure(mean()), SessionQuery::Measure(count())],
        ),
    ]
}

/// One answer and three sessions; whatever was done before is found again.
#[test]
#[ignore = "is started by other tests"]
fn run() {
    let Ok(orders) = std::env::var("CURATOR_CHILD") else { return };
    let (url, step) = orders.split_once('\n').unwrap();
    let url: counterpoint_ledger::Url = url.parse().unwrap();
    let left = step.parse().unwrap();
    let inner = url.open(false).unwrap();
    let mut ledger = Ledger::open_in(Box::new(Stopping { inner, left })).unwrap();
    let ages = ages();
    let told = |name: &str, shown: StoredReply| {
        say(&format!("shown {name} {}", String::from_utf8(shown.bytes().to_vec()).unwrap()));
    };
    told("one", answer(&mut ledger, &Bill::new("account", "one"), &mean(), &ages).unwrap());
    for (key, declared, questions) in sessions() {
        let opened = open(&mut ledger, &Bill::new("account", key), &declared, &ages).unwrap();
        say(&format!("opened {key} {}", opened.answered));
        for (index, question) in questions.iter().enumerate() {
            let name = format!("q{index}");
            match ask(&mut ledger, ("account", key), &name, question, &ages) {
                Ok(shown) => told(&format!("{key}/{name}"), shown),
                Err(error) => say(&format!("over {key}/{name} {error}")),
            }
        }
        close(&mut ledger, ("account", key)).unwrap();
        say(&format!("closed {key}"));
    }
    say("done");
}

/// A database that stops before its so many-th step, and just after a commit.
struct Stopping {
    inner: Box<dyn Database>,
    left: u64,
}

impl Stopping {
    fn step(&mut self) {
        self.left = self.left.wrapping_sub(1);
        if self.left == 0 {
            say("step");
            loop {
                std::thread::park();
            }
        }
    }
}

impl Database for Stopping {
    fn begin(&mut self, access: Access) -> Result<(), DatabaseError> {
        self.step();
        self.inner.begin(access)
    }

    fn query(&mut self, sql: &str, parameters: &[Cell]) -> Result<Vec<Row>, DatabaseError> {
        self.step();
        self.inner.query(sql, parameters)
    }

    fn execute(&mut self, sql: &str, parameters: &[Cell]) -> Result<u64, DatabaseError> {
        self.step();
        self.inner.execute(sql, parameters)
    }

    fn commit(&mut self) -> Result<(), DatabaseError> {
        self.step();
        self.inner.commit()?;
        self.step();
        Ok(())
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }

    fn copy(&mut self, path: &str, secrets: bool) -> Result<(), DatabaseError> {
        self.inner.copy(path, secrets)
    }

    fn wait_until_durable(&mut self) -> Result<(), DatabaseError> {
        self.inner.wait_until_durable()
    }

    fn is_stopped(&self) -> bool {
        self.inner.is_stopped()
    }

    fn dialect(&self) -> Dialect {
        self.inner.dialect()
    }
}

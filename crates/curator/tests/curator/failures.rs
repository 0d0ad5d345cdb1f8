//! What fails after its debit stays charged. Whether a question fails may depend on the data (a scan that is cut off), so
//! that a failure is an answer like any other: whoever got failures back would have as many of them as they like.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use counterpoint_budget::Amount;
use counterpoint_curator::engine::{
    Dialect, Engine, EngineError, Rows, SourceColumn, Sqlite, Statement,
};
use counterpoint_curator::question::{Aggregate, AggregateKind, Condition, Question};
use counterpoint_curator::{
    AnswerError, OpenTable, Payer, PreparedQuestion, Spend, StoredAnswer, answer_question,
};
use counterpoint_ledger::{
    FilterKind, Ledger, LedgerError, NewAccount, NewFilter, OpenOptions, Pool,
};
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::tables::{Row, public, write};
use crate::{amount, assert_sound};

/// How an engine fails.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// It says so.
    Error,
    /// It says nothing.
    Missing,
    /// The ledger cannot store what was drawn.
    Store,
    /// It fails where somebody's rows are.
    AtPerson,
    /// It fails every other time.
    ByTurns,
}

/// SQLite, with a fault that can be put in and taken out.
struct Faulty {
    engine: Sqlite,
    ledger: PathBuf,
    fault: Arc<Mutex<(Fault, u64)>>,
}

const BREAK: &str = "CREATE TRIGGER broken BEFORE UPDATE ON ledger_release \
                     BEGIN SELECT RAISE(ABORT, 'no space on the disk'); END";

impl Engine for Faulty {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        let answer = self.engine.run(statement, deadline)?;
        let (fault, turn) = {
            let mut fault = self.fault.lock().unwrap();
            fault.1 += 1;
            *fault
        };
        let failed = || EngineError { why: "planted".to_owned() };
        match fault {
            Fault::None => Ok(answer),
            Fault::Error => Err(failed()),
            Fault::Missing => Ok(vec![vec![0]]),
            Fault::Store => {
                Connection::open(&self.ledger).unwrap().execute_batch(BREAK).unwrap();
                Ok(answer)
            }
            Fault::AtPerson if answer.iter().any(|row| row[3] > 5) => Err(failed()),
            Fault::ByTurns if turn % 2 == 1 => Err(failed()),
            Fault::AtPerson | Fault::ByTurns => Ok(answer),
        }
    }

    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError> {
        self.engine.columns(table)
    }

    fn dialect(&self) -> Dialect {
        self.engine.dialect()
    }
}

/// A ledger with one account, and a table behind an engine that fails.
struct Service {
    folder: tempfile::TempDir,
    pool: Pool,
    held: OpenTable,
    fault: Arc<Mutex<(Fault, u64)>>,
}

/// Five people, and one more or not.
fn people(with: bool) -> Vec<Row> {
    let row = |person: i64| -> Row {
        let region = Value::Text("north".to_owned());
        [person.into(), 5.0.into(), 7.5.into(), region, 1981.into()]
    };
    (0..5).chain(with.then_some(99)).map(row).collect()
}

impl Service {
    fn new(budget: &str, rows: &[Row]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ledger, file) = (folder.path().join("ledger.db"), folder.path().join("data"));
        let url = format!("sqlite:{}", ledger.display()).parse().unwrap();
        let public = public(true, 1, 1, "add-remove");
        let mut first = Ledger::init(&url).unwrap();
        let pure = |epsilon| NewFilter::new(FilterKind::Sums, amount(epsilon), amount("0"));
        first.add_dataset("visits", public.relation(), &pure("1000")).unwrap();
        first.open_account("team", "visits", &NewAccount::Filter(pure(budget))).unwrap();
        write(&file, rows);
        let fault = Arc::new(Mutex::new((Fault::None, 0)));
        let engine = Sqlite::open(&file).unwrap();
        let engine = Arc::new(Faulty { engine, ledger, fault: Arc::clone(&fault) });
        let held = OpenTable::new(public, "visits", engine, [7; 32]).unwrap();
        let pool = Pool::new(&url, &OpenOptions::default(), 8).unwrap();
        Self { folder, pool, held, fault }
    }

    fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = (fault, 0);
    }

    fn ledger(&self) -> PathBuf {
        self.folder.path().join("ledger.db")
    }

    /// A count for an eighth of an epsilon, another one for each number.
    fn ready(&self, number: u64) -> PreparedQuestion {
        let filter = Condition::Above { column: "pay".to_owned(), than: -1.0 - number as f64 };
        let question = Question {
            table: "visits".to_owned(),
            filter: Some(filter),
            group: Vec::new(),
            aggregates: vec![Aggregate { name: None, of: AggregateKind::Count }],
            rows: None,
            groups: None,
            rows_in_group: None,
        };
        PreparedQuestion::new(&self.held, &question, Spend::Epsilon(0.125), None).unwrap()
    }

    fn ask(&self, number: u64) -> Result<StoredAnswer, AnswerError> {
        let payer = Payer { account: "team", analyst: Some("ann"), alias: None };
        let deadline = Instant::now() + Duration::from_secs(60);
        answer_question(&self.pool, &self.held, &self.ready(number), &payer, deadline)
    }

    fn spent(&self) -> Amount {
        let status = self.pool.with(|ledger| ledger.status(Some("team"))).unwrap();
        status.accounts[0].spent.main.clone()
    }

    /// The debits and the answers that the history tells of.
    fn history(&self) -> (usize, usize) {
        let mut bodies = Vec::new();
        let each = |entry: counterpoint_wire::ledger::HistoryEntry| {
            bodies.push(entry.event.body().unwrap());
        };
        self.pool.with(|ledger| ledger.history(None, None, each)).unwrap();
        let of = |event: &str| {
            let event = format!("\"{event}\"");
            bodies.iter().filter(|body| body.contains(&event)).count()
        };
        (of("reserve"), of("commit"))
    }

    #[track_caller]
    fn assert_sound(&self) {
        assert_sound(&mut Ledger::open(&url(&self.ledger())).unwrap());
    }
}

fn url(file: &Path) -> counterpoint_ledger::Url {
    format!("sqlite:{}", file.display()).parse().unwrap()
}

fn is_charged<T>(outcome: &Result<T, AnswerError>) -> bool {
    matches!(outcome, Err(AnswerError::Charged(_)))
}

fn is_refused<T>(outcome: &Result<T, AnswerError>) -> bool {
    matches!(outcome, Err(AnswerError::Ledger(LedgerError::Refused(_))))
}

/// Whatever fails after the debit: it is charged once, however often it fails, and answered for that when it does not.
#[test]
fn a_failure_after_the_debit_is_charged_once_and_for_good() {
    for fault in [Fault::Error, Fault::Missing, Fault::Store] {
        let service = Service::new("1", &people(true));
        // What one costs, where nothing fails.
        let price = service.ask(0).unwrap().charge.unwrap().main;
        assert!(price > amount("0.1249999") && price <= amount("0.125"), "{price}");
        let (mut words, double) = (Vec::new(), &price + &price);
        for _ in 0..3 {
            service.set(fault);
            let failed = service.ask(1);
            assert!(is_charged(&failed), "{fault:?}: {failed:?}");
            words.push(failed.unwrap_err().to_string());
            if fault == Fault::Store {
                let connection = Connection::open(service.ledger()).unwrap();
                connection.execute_batch("DROP TRIGGER broken").unwrap();
            }
            assert_eq!((service.spent(), service.history()), (double.clone(), (2, 1)), "{fault:?}");
        }
        service.set(Fault::None);
        words.dedup();
        assert_eq!(
            words,
            ["the question was charged, and failed; asked again it costs nothing more"]
        );
        let told = service.ask(1).unwrap();
        assert!(told.charge.is_none() && !told.is_repeated && told.engine_ran);
        assert!(service.ask(1).unwrap().is_repeated);
        assert_eq!((service.spent(), service.history()), (double, (2, 2)), "{fault:?}");
        service.assert_sound();
    }
}

/// Which of many questions are refused: those after the first eight, for which the budget is. What became of those, and
/// so the table, does not change it, nor how often each is asked again.
#[test]
fn asking_until_it_fails_ends_with_the_budget() {
    for (fault, with) in [
        (Fault::None, true),
        (Fault::Error, true),
        (Fault::ByTurns, true),
        (Fault::AtPerson, true),
        (Fault::AtPerson, false),
    ] {
        let service = Service::new("1", &people(with));
        service.set(fault);
        let mut outcomes = Vec::new();
        for number in 0..40 {
            let first = service.ask(number);
            outcomes.push(is_refused(&first));
            for _ in 0..2 {
                let again = service.ask(number);
                assert_eq!(is_refused(&again), is_refused(&first), "{fault:?}: {again:?}");
                let is_fixed = is_charged(&first) && fault == Fault::ByTurns;
                assert!(is_charged(&again) == is_charged(&first) || is_fixed, "{fault:?}");
            }
        }
        let expected: Vec<bool> = (0..40).map(|number| number >= 8).collect();
        assert_eq!(outcomes, expected, "{fault:?}");
        let spent = service.spent();
        assert!(spent > amount("0.9999999") && spent <= amount("1"), "{fault:?}: {spent}");
        let answered = match (fault, with) {
            (Fault::Error, _) | (Fault::AtPerson, true) => 0,
            _ => 8,
        };
        assert_eq!(service.history(), (8, answered), "{fault:?}");
        service.assert_sound();
    }
}

/// The same of many who ask at once.
#[test]
fn many_who_ask_until_it_fails_share_the_budget() {
    for fault in [Fault::Error, Fault::ByTurns] {
        let service = Service::new("1", &people(true));
        service.set(fault);
        let had: usize = std::thread::scope(|scope| {
            let asker = |asker: u64| {
                let service = &service;
                let ask = move |number: u64| !is_refused(&service.ask(asker * 100 + number));
                scope.spawn(move || (0..8).filter(|number| ask(*number)).count())
            };
            let askers: Vec<_> = (0..4).map(asker).collect();
            askers.into_iter().map(|asker| asker.join().unwrap()).sum()
        });
        assert_eq!((had, service.history().0), (8, 8), "{fault:?}");
        assert!(service.spent() <= amount("1"));
        service.assert_sound();
    }
}

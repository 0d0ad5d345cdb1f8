//! What sessions are charged, and what stays charged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use counterpoint_curator::engine::{
    Dialect, Engine, EngineError, Rows, SourceColumn, Sqlite, Statement,
};
use counterpoint_curator::question::AggregateKind;
use counterpoint_curator::table_session::{self, QuerySpec, SessionId, SessionQuestion};
use counterpoint_curator::{AnswerError, Config, CuratorError, NewSession, OpenTable, StageTimes};
use counterpoint_ledger::{Ledger, LedgerError, OpenOptions, Pool};

use super::{
    CONFIG, Place, about, asking, assert_near, assert_sound, is_not_yours, is_over, opened,
    opening, pay, sparse, spent,
};
use crate::{amount, cost};

/// All of it is charged when it is opened, once, to the unit; and never refunded.
#[test]
fn a_session_is_charged_once_and_ends_with_its_last_answer() {
    let place = Place::new();
    let curator = place.curator();
    let declared = sparse(100.0, 2, -1000.0, QuerySpec::default());
    let table = curator.table("visits").unwrap().table.public.clone();
    let relation = table.relation();
    let due = cost(declared.mechanism(&table).unwrap().under(relation).unwrap().releases());
    // Three epsilons for telling, and the values: each person moves them by two rows.
    assert!(due > amount("399.9") && due <= amount("400"), "{due}");
    let first = opened(&curator, &place.ann, "s", declared.clone());
    assert_eq!(first.charge.unwrap().main, due);
    assert_eq!(spent(&curator), due);
    assert_eq!(opened(&place.curator(), &place.ann, "s", declared.clone()).charge, None);
    let ask = |name: &str| {
        curator.ask_session(&place.ann, &asking("s", name, about(AggregateKind::Count, None)))
    };
    for name in ["a", "b"] {
        assert_near(&ask(name).unwrap(), 402.0, 1.0);
    }
    for name in ["c", "d"] {
        assert!(is_over(ask(name)));
    }
    assert!(ask("a").unwrap().is_repeated());
    let again = opened(&curator, &place.ann, "s", declared.clone());
    assert!(again.is_over && again.answered == 2 && again.charge.is_none());
    assert_eq!(spent(&curator), due);
    // Another declaration under the key.
    let moved = curator
        .open_session(&place.ann, &opening("s", sparse(100.0, 2, -1001.0, QuerySpec::default())));
    assert!(matches!(
        moved,
        Err(CuratorError::Unanswered(AnswerError::Ledger(LedgerError::KeyInUse { .. })))
    ));
    // Closed before it was asked anything.
    opened(&curator, &place.ann, "t", declared);
    for _ in 0..2 {
        assert!(curator.close_session(&place.ann, "both", "t").unwrap().is_over);
    }
    assert!(is_over(
        curator.ask_session(&place.ann, &asking("t", "q", about(AggregateKind::Count, None)))
    ));
    assert_eq!(spent(&curator), &due + &due);
    // What a budget does not allow.
    let costly =
        NewSession { account: "small".to_owned(), ..opening("u", sparse(1.0, 1, 0.0, pay())) };
    let refused = curator.open_session(&place.ann, &costly);
    assert!(matches!(
        refused,
        Err(CuratorError::Unanswered(AnswerError::Ledger(LedgerError::Refused(_))))
    ));
    assert!(is_not_yours(curator.session(&place.ann, "small", "u")));
    assert_sound(&curator);
}

/// An engine that needs the ledger's only handle while it runs.
struct Jealous(Sqlite, Arc<Pool>);

impl Engine for Jealous {
    fn run(&self, statement: &Statement, deadline: Instant) -> Result<Rows, EngineError> {
        self.1.with(Ledger::head).unwrap();
        self.0.run(statement, deadline)
    }

    fn columns(&self, table: &str) -> Result<Vec<SourceColumn>, EngineError> {
        self.0.columns(table)
    }

    fn dialect(&self) -> Dialect {
        self.0.dialect()
    }
}

#[test]
fn no_handle_is_held_while_the_engine_runs() {
    let place = Place::new();
    let config = Config::parse(CONFIG, place.folder.path()).unwrap();
    let pool = Arc::new(Pool::new(&config.ledger, &OpenOptions::default(), 1).unwrap());
    let file = place.folder.path().join("visits.db");
    let engine = Jealous(Sqlite::open(&file).unwrap(), Arc::clone(&pool));
    let public = config.tables[0].public.clone();
    let held = OpenTable::new(public, "visits", Arc::new(engine), [7; 32]).unwrap();
    let owner = SessionId { account: "both", analyst: "ann", key: "s" };
    let declared = sparse(10.0, 1, 0.0, QuerySpec::default());
    let open = |owner: &SessionId<'_>| table_session::open(&pool, &held, owner, None, &declared);
    let asked =
        SessionQuestion { question: about(AggregateKind::Count, None), guess: None, spend: None };
    let ask = |owner: &SessionId<'_>, deadline: Instant| {
        table_session::ask(&pool, &held, owner, ("q", &asked), deadline, &StageTimes::default())
    };
    let deadline = Instant::now() + Duration::from_secs(60);
    open(&owner).unwrap();
    ask(&owner, deadline).unwrap();
    // An engine that fails draws nothing: the session is as it was, and goes on.
    let other = SessionId { key: "t", ..owner };
    open(&other).unwrap();
    let late = ask(&other, Instant::now());
    assert!(matches!(late, Err(AnswerError::Charged(_))), "{late:?}");
    let session = pool.with(|ledger| ledger.session("both", "s-ann/t")).unwrap().unwrap();
    assert!(session.answered == 0 && session.ended.is_none());
    ask(&other, deadline).unwrap();
    table_session::close(&pool, &owner).unwrap();
}

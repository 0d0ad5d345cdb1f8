//! What sessions refuse, and what they do not.

use counterpoint_curator::question::{AggregateKind, ClampedColumn, Condition, Question};
use counterpoint_curator::table_session::{QuerySpec, SessionSpec};
use counterpoint_curator::{
    AnswerError, Bearer, CostTarget, CuratorError, NewSession, QuestionText, Reply,
    SessionSubmission, Spend, Submission,
};
use counterpoint_ledger::{Ledger, LedgerError, NewAccount};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;

use super::{
    Place, about, asking, assert_refused, assert_sound, is_not_yours, north, opened, opening, pay,
    pure, sparse, spent, sql,
};

#[test]
fn what_a_session_of_a_table_refuses() {
    let place = Place::new();
    let curator = place.curator();
    opened(&curator, &place.ann, "count", sparse(1.0, 5, 1e9, QuerySpec::default()));
    opened(&curator, &place.ann, "sum", sparse(1.0, 5, 1e9, pay()));
    let before = (spent(&curator), curator.pool().with(Ledger::head).unwrap());
    let ask = |asking: SessionSubmission| curator.ask_session(&place.ann, &asking);
    let sum = |bounds| AggregateKind::Sum(ClampedColumn { column: "pay".to_owned(), bounds });
    // Another table, of the same data set and of another.
    assert_refused(
        ask(sql("count", "q", "SELECT COUNT(*) FROM wards")),
        "is not the table of the session",
    );
    assert_refused(ask(sql("count", "q", "SELECT COUNT(*) FROM others")), "does not pay");
    assert_refused(ask(sql("count", "q", "SELECT COUNT(*) FROM nowhere")), "nowhere");
    let grouped =
        Question { group: vec!["region".to_owned()], ..about(AggregateKind::Count, None) };
    assert_refused(ask(asking("count", "q", grouped)), "no group in a session");
    let two = "SELECT COUNT(*), SUM(age) FROM visits";
    assert_refused(ask(sql("count", "q", two)), "one, in a session");
    assert_refused(ask(asking("count", "q", about(AggregateKind::People, None))), "counts people");
    // Wider than declared, by one in a thousand; as wide is no problem.
    let wider = asking("sum", "q", about(sum(Some((-3.0, 7.5075))), None));
    assert_refused(ask(wider), "sensitivity");
    assert_refused(ask(asking("count", "q", about(sum(Some((0.0, 1.001))), None))), "sensitivity");
    assert_refused(
        ask(asking("sum", "q", about(AggregateKind::Mean(ClampedColumn::of("pay")), None))),
        "counts and sums",
    );
    let guessed = SessionSubmission {
        guess: Some(1.0),
        ..asking("count", "q", about(AggregateKind::Count, None))
    };
    assert_refused(ask(guessed), "does not fit the kind of session");
    let priced = asking("count", "q", about(AggregateKind::Count, None));
    assert_refused(
        ask(SessionSubmission { spend: Some(Spend::Rho(1.0)), ..priced }),
        "does not fit the kind of session",
    );
    assert_refused(
        ask(asking("count", "bad name", about(AggregateKind::Count, None))),
        "legal: 1 to 128",
    );
    assert_eq!((spent(&curator), curator.pool().with(Ledger::head).unwrap()), before);
    // A name stands for one question.
    assert_eq!(*ask(asking("sum", "q", about(sum(None), None))).unwrap().reply(), Reply::Below);
    let conflict = ask(asking("sum", "q", about(sum(None), north())));
    assert!(matches!(
        conflict,
        Err(CuratorError::Unanswered(AnswerError::Ledger(LedgerError::KeyInUse { .. })))
    ));
    // Declarations.
    let open = |opening: NewSession| curator.open_session(&place.ann, &opening);
    let plain = || opening("new", sparse(1.0, 5, 0.0, QuerySpec::default()));
    assert_refused(open(NewSession { account: "other".to_owned(), ..plain() }), "does not pay");
    assert_refused(open(NewSession { table: "nowhere".to_owned(), ..plain() }), "does not exist");
    assert_refused(open(opening("new", sparse(1000.0, 5, 0.0, QuerySpec::default()))), "epsilon");
    let column = |name: &str| QuerySpec { column: Some(name.to_owned()), bounds: None };
    assert_refused(open(opening("new", sparse(1.0, 5, 0.0, column("region")))), "has categories");
    assert_refused(
        open(opening("new", sparse(1.0, 5, 0.0, column("nothing")))),
        "not a declared column",
    );
    let bounds = QuerySpec { column: None, bounds: Some((1.0, 0.0)) };
    assert_refused(open(opening("new", sparse(1.0, 5, 0.0, bounds))), "bounds");
    assert_refused(open(opening("new", SessionSpec::Sequence(Vec::new()))), "1 to 10^6");
    let people = SessionSpec::Sequence(vec![(AggregateKind::People, Spend::Epsilon(1.0))]);
    assert_refused(open(opening("new", people)), "counts people");
    assert_refused(open(opening("a/b", sparse(1.0, 5, 0.0, pay()))), "is not legal");
    assert_eq!(curator.sessions(&place.ann, 0, 100).unwrap().len(), 2);
    // A question's key is no session's.
    let question = QuestionText::Sql("SELECT COUNT(*) FROM visits".to_owned());
    let submission = Submission {
        account: "both".to_owned(),
        question,
        cost: CostTarget::Epsilon(1.0),
        confidence: 0.95,
        key: None,
    };
    curator.ask(&place.ann, &submission).unwrap();
    let mut keys = Vec::new();
    let history = curator.pool().with(|ledger| {
        ledger
            .history(Some("both"), None, |entry| keys.extend(entry.event.key().map(str::to_owned)))
    });
    history.unwrap();
    let key = keys.into_iter().find(|key| key.starts_with("q-")).unwrap();
    assert!(is_not_yours(ask(asking(&key, "q", about(AggregateKind::Count, None)))));
    assert!(is_not_yours(curator.close_session(&place.ann, "both", &key)));
    assert!(curator.ask(&place.ann, &submission).unwrap().is_repeated);
    assert_sound(&curator);
}

/// An account about a part of the data pays for no session, since a table is about all of it.
#[test]
fn an_account_about_a_part_pays_for_no_session() {
    let place = Place::new();
    let curator = place.curator();
    let slot = r#"{"name":"a","mechanism":"approx-dp","epsilon":50,"partition":"a"}"#;
    let plan = format!(r#"{{"delta":0,"release":[{slot}]}}"#);
    let plan = ExactPlan::parse(plan.as_bytes(), Format::Json).unwrap();
    let made = curator.pool().with(|ledger| {
        ledger.open_account("parts", "others", &NewAccount::Plan(plan, None))?;
        ledger.open_in_slot("part", "parts", "a", &pure("50")).map(|_| ())
    });
    made.unwrap();
    let ann = Bearer { accounts: vec!["part".to_owned(), "other".to_owned()], ..place.ann.clone() };
    let declared = sparse(1.0, 1, 0.0, QuerySpec::default());
    let opening = NewSession { table: "others".to_owned(), ..opening("s", declared) };
    let at = |account: &str| {
        curator.open_session(&ann, &NewSession { account: account.to_owned(), ..opening.clone() })
    };
    assert_refused(at("part"), "does not pay");
    assert!(at("other").is_ok());
}

/// Where one row is replaced by one, a filter may let one of them pass and not the other: what a row adds counts, not how
/// far two rows are apart.
#[test]
fn a_filter_leaves_some_rows_where_one_is_replaced() {
    let place = Place::new();
    let curator = place.curator();
    let declared = sparse(100.0, 1, 1e9, QuerySpec { column: None, bounds: Some((0.0, 2.0)) });
    let plain = opening("s", declared);
    let (account, table) = ("shop".to_owned(), "shops".to_owned());
    let opening = NewSession { account: account.clone(), table: table.clone(), ..plain };
    curator.open_session(&place.ann, &opening).unwrap();
    let filter = Some(Condition::Above { column: "age".to_owned(), than: 5.0 });
    let ask = |name: &str, bounds: (f64, f64)| {
        let values = ClampedColumn { column: "age".to_owned(), bounds: Some(bounds) };
        let question =
            Question { table: table.clone(), ..about(AggregateKind::Sum(values), filter.clone()) };
        let asking = SessionSubmission { account: account.clone(), ..asking("s", name, question) };
        curator.ask_session(&place.ann, &asking)
    };
    assert_refused(ask("a", (6.0, 7.0)), "sensitivity");
    assert_refused(ask("b", (0.0, 2.02)), "sensitivity");
    assert_refused(ask("c", (-0.5, 1.75)), "sensitivity");
    assert!(ask("d", (-0.25, 1.75)).is_ok() && ask("e", (1.0, 2.0)).is_ok());
}

//! The subset of SQL: what it is in the algebra, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use counterpoint_questions::Question;
use counterpoint_questions::public::{ColumnText, Key, Table, TableText};
use counterpoint_questions::question::{
    Aggregate, AggregateKind, ClampedColumn, Condition, Share, sql,
};

fn table() -> Table {
    let number = ColumnText { bounds: Some((0.0, 100.0)), ..ColumnText::named("age") };
    let keys = Some(vec![Key::Text("north".to_owned()), Key::Whole(7)]);
    let category = ColumnText { categories: keys, ..ColumnText::named("region") };
    let text = TableText {
        name: "visits".to_owned(),
        person: Some("nr".to_owned()),
        rows: 3,
        row_number: None,
        groups: None,
        adjacency: "add-remove".to_owned(),
        people: None,
        columns: vec![number, category],
    };
    Table::new(text).unwrap()
}

fn read(text: &str) -> Result<Question, String> {
    let table = table();
    sql::read(text, |name| (name == "visits").then_some(&table)).map_err(|error| error.to_string())
}

/// The one aggregate of a text.
fn of(select: &str) -> AggregateKind {
    let question = read(&format!("SELECT {select} FROM visits")).unwrap();
    let [Aggregate { of, .. }] = question.aggregates.as_slice() else { panic!("{question:?}") };
    of.clone()
}

fn age() -> String {
    "age".to_owned()
}

#[test]
fn every_aggregate_is_read() {
    let values = || ClampedColumn::of("age");
    let quantiles = |shares: &[f64]| AggregateKind::Quantiles {
        column: age(),
        shares: shares.to_vec(),
        candidates: None,
    };
    let clamped = ClampedColumn { column: age(), bounds: Some((-1.0, 5.5)) };
    let within = Share { column: age(), bounds: Some((1.0, 2.0)), keys: None };
    let keys = vec![Key::Whole(7), Key::Text("north".to_owned())];
    let chosen = Share { column: "region".to_owned(), bounds: None, keys: Some(keys) };
    for (text, wanted) in [
        ("COUNT(*)", AggregateKind::Count),
        ("COUNT(DISTINCT nr)", AggregateKind::People),
        ("sum(age)", AggregateKind::Sum(values())),
        ("AVG(CLAMP(age, -1, 5.5))", AggregateKind::Mean(clamped)),
        ("mean((age))", AggregateKind::Mean(values())),
        ("VAR_POP(age)", AggregateKind::Variance(values())),
        ("STDDEV(age)", AggregateKind::Deviation(values())),
        ("MEDIAN(age)", quantiles(&[0.5])),
        ("QUANTILES(age, 0.1, 0.9)", quantiles(&[0.1, 0.9])),
        ("PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY age)", quantiles(&[0.25])),
        (
            "HISTOGRAM(age, 0, 50, +100)",
            AggregateKind::Histogram { column: age(), edges: vec![0.0, 50.0, 100.0] },
        ),
        ("CDF(age, 18)", AggregateKind::Cdf { column: age(), edges: vec![18.0] }),
        ("PROPORTION(age, 1, 2)", AggregateKind::Proportion(within)),
        ("PROPORTION(region, 7, 'north')", AggregateKind::Proportion(chosen)),
        ("CORR(age, age)", AggregateKind::Correlation { column: age(), with: age() }),
        (
            "REGRESSION(age, age)",
            AggregateKind::Regression { column: age(), predictors: vec![age()] },
        ),
    ] {
        assert_eq!(of(text), wanted, "{text}");
    }
}

#[test]
fn conditions_are_those_of_the_algebra() {
    let filter = |text: &str| read(&format!("SELECT COUNT(*) FROM visits WHERE {text}")).unwrap();
    let between = |from, to| Condition::Between { column: age(), from, to };
    let north =
        || Condition::In { column: "region".to_owned(), keys: vec![Key::Text("north".to_owned())] };
    for (text, wanted) in [
        (
            "age >= 18 AND region = 'north'",
            Condition::All(vec![between(Some(18.0), None), north()]),
        ),
        ("18 <= age", between(Some(18.0), None)),
        ("age <> 7", Condition::Not(Box::new(between(Some(7.0), Some(7.0))))),
        ("region IS NULL", Condition::Missing { column: "region".to_owned() }),
        (
            "NOT (age < 5 OR age > 6)",
            Condition::Not(Box::new(Condition::Any(vec![
                Condition::Below { column: age(), than: 5.0 },
                Condition::Above { column: age(), than: 6.0 },
            ]))),
        ),
        (
            "region IN ('north', 7)",
            Condition::In {
                column: "region".to_owned(),
                keys: vec![Key::Text("north".to_owned()), Key::Whole(7)],
            },
        ),
    ] {
        assert_eq!(filter(text).filter, Some(wanted), "{text}");
    }
}

/// Whatever would change what is computed, and is not in the algebra, is refused by its name: nothing is passed over.
#[test]
fn what_is_not_understood_is_refused() {
    for (text, word) in [
        ("SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", "2 statements"),
        ("DELETE FROM visits", "DELETE"),
        ("SELECT COUNT(*) FROM visits LIMIT 1", "LIMIT"),
        ("SELECT COUNT(*) FROM visits HAVING COUNT(*) > 1", "HAVING"),
        ("SELECT DISTINCT COUNT(*) FROM visits", "DISTINCT"),
        ("SELECT COUNT(*) FROM visits JOIN visits ON 1 = 1", "JOIN"),
        ("SELECT COUNT(*) FROM visits UNION SELECT COUNT(*) FROM visits", "UNION"),
        ("SELECT COUNT(*) FROM others", "others"),
        ("SELECT age FROM visits", "neither an aggregate nor in GROUP BY"),
        ("SELECT COUNT(DISTINCT age) FROM visits", "COUNT(DISTINCT age)"),
        ("SELECT AVG(DISTINCT age) FROM visits", "DISTINCT"),
        ("SELECT COUNT(*) FILTER (WHERE age > 1) FROM visits", "FILTER"),
        ("SELECT SUM(age) OVER () FROM visits", "OVER"),
        ("SELECT SUM(*) FROM visits", "SUM(*)"),
        ("SELECT SUM(CLAMP(age, 0, 1) OVER ()) FROM visits", "OVER"),
        ("SELECT SUM(CLAMP(age, 0, 1) FILTER (WHERE age > 1)) FROM visits", "FILTER"),
        ("SELECT SUM(CLAMP(DISTINCT age, 0, 1)) FROM visits", "CLAMP"),
        ("SELECT SUM(CLAMP(age, 0)) FROM visits", "CLAMP"),
        ("SELECT SUM(ABS(age)) FROM visits", "ABS"),
        ("SELECT SUM(age + 1) FROM visits", "age + 1"),
        ("SELECT PERCENTILE_CONT(0.5) FROM visits", "WITHIN GROUP"),
        ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM visits", "Desc"),
        ("SELECT AVG(age) WITHIN GROUP (ORDER BY age) FROM visits", "WITHIN GROUP"),
        ("SELECT PROPORTION(age, 1) FROM visits", "PROPORTION"),
        ("SELECT COUNT(*) FROM visits WHERE region < 'south'", "region <"),
        ("SELECT COUNT(*) FROM visits WHERE age = 'old'", "a text"),
        ("SELECT COUNT(*) FROM visits WHERE age IN (SELECT 1)", "SELECT 1"),
    ] {
        let refused = read(text).expect_err(text);
        assert!(refused.contains(word), "{text}: {refused}");
    }
}

//! Studies that describe their data, and the plans that are made of them.

use counterpoint_planner::{Ask, plan};
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::{Format, Plan, Planned, read_study_file};

const DATA: &str = r#"
delta = 1e-6
epsilon = 1.0
[data]
adjacency = "replace"
people = 5000
source = "survey.csv"
[[data.column]]
name = "income"
bounds = [0, 200000]
missing_codes = [-99, "NA"]
[[data.column]]
name = "age"
bounds = [0, 100]
missing = 40
[[data.column]]
name = "region"
from = "Region of residence"
categories = ["north", "south", 3]
"#;

fn read(statistics: &str) -> Result<counterpoint_wire::StudyFile, String> {
    let text = format!("{DATA}{statistics}");
    read_study_file(text.as_bytes(), Format::Toml).map_err(|error| error.to_string())
}

#[test]
fn statistics_are_questions_about_columns() {
    let study = read(
        r#"
        [[statistic]]
        name = "mean income"
        kind = "mean"
        column = "income"
        where = "age BETWEEN 18 AND 65 AND region <> 'north'"
        by = ["region"]
        error = 5000
        [[statistic]]
        kind = "histogram"
        column = "region"
        error = 40
        [[statistic]]
        kind = "proportion"
        column = "region"
        categories = ["north", 3]
        error = 0.1
        [[statistic]]
        kind = "sum"
        column = "age"
        error = 9000
        "#,
    )
    .unwrap();
    let data = study.data.as_ref().unwrap();
    assert_eq!(data.source.as_deref(), Some("survey.csv"));
    let columns = data.table.columns();
    assert_eq!((columns[0].codes.as_slice(), columns[0].instead), (&[-99.0][..], None));
    assert_eq!((columns[1].instead, columns[1].complete), (Some(40.0), true));
    assert_eq!(columns[2].from, "Region of residence");
    assert_eq!(columns[0].value(Some(-99.0)), None);
    assert_eq!(columns[1].value(None), Some(40.0));
    let questions: Vec<_> = study.questions.iter().map(|one| one.as_ref().unwrap()).collect();
    assert_eq!(questions.iter().map(|one| one.by).collect::<Vec<_>>(), [1, 0, 0, 0]);
    assert_eq!(questions[1].checked.groupings().len(), 1);
    let population = |index: usize| match &study.study.statistics()[index].ask {
        Ask::Query(wanted) => wanted.population.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    // A third of the people in each region, as far as anybody knows; all of them where nobody is left out.
    assert_eq!((population(0).rows, population(0).groups), (Some(1666), 3));
    assert_eq!((population(3).rows, population(3).groups), (Some(5000), 1));
}

/// A plan that is written and read is the same plan, in both formats; it costs what the planner says, and its slots are the
/// doubles that run.
#[test]
fn plans_keep_their_recipes() {
    let study = read(
        r#"
        [[statistic]]
        name = "mean income"
        kind = "mean"
        column = "income"
        error = 5000
        [[statistic]]
        name = "rows"
        kind = "count"
        where = "age < 30"
        error = 50
        [[statistic]]
        name = "quartiles"
        kind = "quantiles"
        column = "age"
        shares = [0.25, 0.5, 0.75]
        error = 300
        [[statistic]]
        name = "later"
        kind = "held-back"
        epsilon = 0.1
        "#,
    )
    .unwrap();
    let planned = plan(&study.study, &counterpoint::Options::default()).unwrap();
    let cost = planned.cost.bracket;
    let planned = Planned::new(&study.study, planned);
    let made = planned.plan();
    assert_eq!(made.releases.len(), 4);
    for (text, format) in
        [(made.to_json().unwrap(), Format::Json), (made.to_toml().unwrap(), Format::Toml)]
    {
        let read = Plan::parse(text.as_bytes(), format).unwrap();
        assert_eq!(read, made, "{text}");
        let composed = read.prepare().unwrap();
        let answer =
            composed.epsilon(study.study.budget().delta, &counterpoint::Options::default());
        assert_eq!(answer.unwrap().bracket, cost);
        let exact = ExactPlan::parse(text.as_bytes(), format).unwrap();
        for (slot, line) in exact.releases.iter().zip(&planned.planned.statistics) {
            assert_eq!(slot.name(), Some(line.name.as_str()));
            let recipe = line.runs.as_ref().map(|runs| runs.measurement.recipe().clone());
            assert_eq!(slot.recipe(), recipe);
            let releases: u64 = line.releases.iter().map(|one| one.count.get()).sum();
            let opening = slot.opening_in(1000).unwrap();
            assert_eq!(opening.iter().map(|one| one.count().get()).sum::<u64>(), releases);
        }
        // The mean's noise is in the units of the income, not of a grid.
        let fields = exact.releases[0].text().unwrap();
        assert!(fields.contains("\"sensitivity\":\"20000"), "{fields}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (statistic, message) in [
        (
            "kind = \"mean\"\ncolumn = \"incom\"",
            "column is not legal: \"incom\" is no declared column",
        ),
        ("kind = \"mean\"\ncolumn = \"region\"", "has categories; legal: a column with bounds"),
        ("kind = \"count\"\nby = [\"age\"]", "has bounds; legal: a column with categories"),
        ("kind = \"count\"\nwhere = \"age >\"", "where is not legal: the condition is no SQL"),
        ("kind = \"count\"\nwhere = \"age > 3; DROP TABLE x\"", "where is not legal"),
        ("kind = \"count\"\nwhere = \"region = 'west'\"", "its declared categories"),
        ("kind = \"proportion\"\ncolumn = \"region\"", "categories is missing"),
        ("kind = \"covariance\"\ncolumn = \"age\"", "with is missing"),
        ("kind = \"mean\"\ncolumn = \"age\"\nexpected = 0", "expected is 0"),
        ("kind = \"mean\"\ncolumn = \"age\"\ncolumns = 1", "columns is not a field of mean"),
    ] {
        let text = format!("[[statistic]]\n{statistic}\nerror = 5\n");
        let error = read(&text).unwrap_err();
        assert!(error.contains(message) && error.starts_with("statistic 1"), "{error}");
    }
    let wrong = |from: &str, to: &str| {
        let text =
            format!("{}[[statistic]]\nkind = \"count\"\nerror = 5\n", DATA.replace(from, to));
        read_study_file(text.as_bytes(), Format::Toml).unwrap_err().to_string()
    };
    for (from, to, message) in [
        ("missing = 40", "missing = 400", "missing is 400; legal: \"skip\", or a number"),
        ("missing = 40", "missing = \"mean\"", "missing is \"mean\""),
        ("missing = 40", "mising = 40", "mising is not a field of a column"),
        ("\"NA\"]", "\"NA\", [1]]", "missing_codes"),
        ("\"south\", 3]", "\"south\", 3.5]", "categories is 3.5"),
        ("name = \"age\"", "name = \"the age\"", "a name is \"the age\""),
        ("bounds = [0, 100]", "bounds = [100, 0]", "bounds is [100, 0]"),
        ("bounds = [0, 100]", "categories = []", "it has 0 categories"),
    ] {
        let error = wrong(from, to);
        assert!(error.contains(message), "{error}");
    }
}

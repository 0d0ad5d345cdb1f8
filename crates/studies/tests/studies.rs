//! Studies that describe their data, and the plans that are made of them.

use counterpoint_planner::{Statistic, StatisticContent, plan};
use counterpoint_studies::{PlannedStudy, StudyFile, read_study_file};
use counterpoint_wire::ledger::ExactPlan;
use counterpoint_wire::{Format, Plan};

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

fn read(statistics: &str) -> Result<counterpoint_studies::StudyFile, String> {
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
    assert_eq!(questions[1].checked.group_columns().len(), 1);
    let population = |index: usize| match &study.study.statistics()[index].content {
        StatisticContent::Query(wanted) => wanted.population.clone().unwrap(),
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
    let planned = PlannedStudy::new(&study.study, planned);
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
            let recipe = line.answer.as_ref().map(|runs| runs.measurement.noisy_query().clone());
            assert_eq!(slot.recipe(), recipe);
            let releases: u64 = line.releases.iter().map(|one| one.count.get()).sum();
            let opening = slot.opening_queries(1000).unwrap();
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
            "column is not legal: \"incom\" is not a declared column",
        ),
        ("kind = \"mean\"\ncolumn = \"region\"", "has categories; legal: a column with bounds"),
        ("kind = \"count\"\nby = [\"age\"]", "has bounds; legal: a column with categories"),
        ("kind = \"count\"\nwhere = \"age >\"", "where is not legal: the condition is not SQL"),
        ("kind = \"count\"\nwhere = \"age > 3; DROP TABLE x\"", "where is not legal"),
        ("kind = \"count\"\nwhere = \"region = 'west'\"", "the declared categories of this column"),
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
        ("name = \"age\"", "name = \"the age\"", "the name \"the age\" is not legal"),
        ("bounds = [0, 100]", "bounds = [100, 0]", "bounds is [100, 0]"),
        ("bounds = [0, 100]", "categories = []", "it has 0 categories"),
    ] {
        let error = wrong(from, to);
        assert!(error.contains(message), "{error}");
    }
}

const SHARING: &str = r#"
    delta = 1e-6
    epsilon = 1.0
    [data]
    adjacency = "add-remove"
    people = 1000
    [[data.column]]
    name = "age"
    bounds = [0, 100]
    missing = 40
    [[data.column]]
    name = "income"
    bounds = [0, 1000]
    [[data.column]]
    name = "region"
    categories = ["north", "south"]
    [[statistic]]
    name = "rows (income IS NOT NULL)"
    kind = "mean"
    column = "income"
    error = 50
    [[statistic]]
    name = "rich"
    kind = "proportion"
    column = "income"
    bounds = [500, 1000]
    error = 0.05
    [[statistic]]
    name = "age"
    kind = "mean"
    column = "age"
    error = 5
    [[statistic]]
    name = "age by region"
    kind = "mean"
    column = "age"
    by = "region"
    error = 5
"#;

/// The statistics, with the names of the counts that they may share.
fn named(study: &StudyFile) -> Vec<Option<&str>> {
    fn count(statistic: &Statistic) -> Option<&str> {
        match &statistic.content {
            StatisticContent::Query(wanted) => wanted.population.as_ref()?.count.as_deref(),
            _ => None,
        }
    }
    let list: Vec<Option<&str>> = study.study.statistics().iter().map(count).collect();
    let known = |name: &str| study.counts.iter().any(|(count, _)| count == name);
    assert!(list.iter().flatten().all(|name| known(name)));
    list
}

/// Statistics about the same rows name the same count, by a name that no statistic has; the recipes of those that share one say so,
/// and are read again. The count is a release of its own.
#[test]
fn statistics_of_the_same_rows_share_a_count() {
    let study = read_study_file(SHARING.as_bytes(), Format::Toml).unwrap();
    let income = Some("rows (income IS NOT NULL) (2)");
    assert_eq!(named(&study), [income, income, Some("rows"), Some("rows (by region)")]);
    let planned = plan(&study.study, &counterpoint::Options::default()).unwrap();
    let planned = PlannedStudy::new(&study.study, planned);
    let made = planned.plan();
    for (text, format) in
        [(made.to_json().unwrap(), Format::Json), (made.to_toml().unwrap(), Format::Toml)]
    {
        assert_eq!(Plan::parse(text.as_bytes(), format).unwrap(), made, "{text}");
        let exact = ExactPlan::parse(text.as_bytes(), format).unwrap();
        let shared: Vec<Option<String>> =
            exact.releases.iter().map(|slot| slot.shared_count()).collect();
        let income = income.map(str::to_owned);
        assert_eq!(shared, [income.clone(), income.clone(), None, None, None]);
        assert_eq!(exact.releases[4].name(), income.as_deref());
    }
    let json: serde_json::Value = serde_json::from_str(&planned.json().unwrap()).unwrap();
    assert_eq!(json["statistics"][4]["name"], "rows (income IS NOT NULL) (2)");
    assert_eq!(
        json["statistics"][0]["mechanism"]["recipe"]["count"],
        json["statistics"][4]["name"]
    );
    let wrong = made.to_json().unwrap().replace("\"count\":\"rows (income", "\"count\":7,\"x\":\"");
    assert!(Plan::parse(wrong.as_bytes(), Format::Json).is_err());
}

/// Where a person may have more rows than are used, each question chooses its own: only of all rows the number is the same.
#[test]
fn rows_that_questions_choose_differently_are_counted_one_by_one() {
    let people = SHARING.replace("people = 1000", "people = 1000\nperson = \"id\"\nrows = 2");
    let study = read_study_file(people.as_bytes(), Format::Toml).unwrap();
    assert_eq!(named(&study), [None, None, Some("rows"), None]);
    // The number of rows is public, but for missing values and groups.
    let replaced = SHARING.replace("add-remove", "replace");
    let study = read_study_file(replaced.as_bytes(), Format::Toml).unwrap();
    let income = Some("rows (income IS NOT NULL) (2)");
    assert_eq!(named(&study), [income, income, None, Some("rows (by region)")]);
}

/// How many people there are is public where they are replaced: nothing is planned or released for it.
#[test]
fn a_public_number_costs_nothing() {
    let count = "[[statistic]]\nname = \"people\"\nkind = \"count\"\nerror = 1\n";
    let text = SHARING.replace("add-remove", "replace") + count;
    let of = |text: &str| {
        let study = read_study_file(text.as_bytes(), Format::Toml).unwrap();
        let planned = plan(&study.study, &counterpoint::Options::default()).unwrap();
        (
            study.study.statistics().last().unwrap().content.clone(),
            PlannedStudy::new(&study.study, planned),
        )
    };
    let (ask, with) = of(&text);
    assert_eq!(ask, StatisticContent::Public(1000.0));
    let without = of(&SHARING.replace("add-remove", "replace")).1;
    assert_eq!(with.planned.factor, without.planned.factor);
    assert_eq!(with.plan().releases.len(), without.plan().releases.len());
    let json: serde_json::Value = serde_json::from_str(&with.json().unwrap()).unwrap();
    let people = &json["statistics"][4];
    assert_eq!((people["name"].as_str(), people["error"].as_f64()), (Some("people"), Some(0.0)));
    assert!(people["mechanism"].is_null() && people["epsilon"].as_f64() == Some(0.0));
    // Not under add-remove, of some rows, or where nobody says how many people there are.
    for text in [
        SHARING.to_owned() + count,
        text.replace("kind = \"count\"", "kind = \"count\"\nwhere = \"age > 3\""),
        text.replace("kind = \"count\"", "kind = \"count\"\nby = \"region\""),
        text.replace("people = 1000", "").replace("error", "expected = 1000\nerror"),
    ] {
        let study = read_study_file(text.as_bytes(), Format::Toml).unwrap();
        let last = study.study.statistics().last().unwrap();
        assert!(matches!(last.content, StatisticContent::Query(_)), "{text}");
    }
    let alone = text[..text.find("[[statistic]]").unwrap()].to_owned() + count;
    let error = read_study_file(alone.as_bytes(), Format::Toml).unwrap_err().to_string();
    assert!(error.contains("only numbers that are public already"), "{error}");
}

//! The table of kinds and interfaces in docs/release.md: every cell is asked, and all cells of a row are the same question.

use counterpoint_curator::question::{Question, sql};
use counterpoint_curator::{CheckedQuestion, OpenTable, PreparedQuestion, RowSource, Spend};
use counterpoint_mechanisms::Style;
use counterpoint_studies::read_study_file;
use counterpoint_wire::Format;
use std::time::{Duration, Instant};

const DATA: &str = r#"
    delta = 1e-6
    epsilon = 100
    [data]
    name = "survey"
    adjacency = "replace"
    people = 200
    [[data.column]]
    name = "income"
    bounds = [0, 300]
    [[data.column]]
    name = "age"
    bounds = [0, 100]
    [[data.column]]
    name = "region"
    categories = ["north", "south"]
"#;

/// The rows of the table, cell by cell, without the backquotes.
fn table() -> Vec<[String; 5]> {
    let text = include_str!("../../../../docs/release.md");
    let section = text.split("## Kinds of statistics").nth(1).unwrap();
    let lines = section.lines().skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|')).skip(2);
    let cells = |line: &str| -> [String; 5] {
        let cells =
            line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
        cells.collect::<Vec<_>>().try_into().unwrap()
    };
    lines.map(cells).collect()
}

/// The fields that make a study's statistic of a kind the question that its row has in SQL, and the same in JSON.
fn fields(kind: &str) -> (&'static str, &'static str) {
    let values = r#"{"column": "income"}"#;
    let two = r#"{"column": "income", "with": "age"}"#;
    match kind {
        "count" => ("", ""),
        "proportion" => (
            "column = \"region\"\ncategories = [\"north\"]",
            r#"{"column": "region", "keys": ["north"]}"#,
        ),
        "quantiles" => (
            "column = \"income\"\nshares = [0.25, 0.5]",
            r#"{"column": "income", "shares": [0.25, 0.5]}"#,
        ),
        "histogram" => (
            "column = \"income\"\nbins = [0, 100, 200]",
            r#"{"column": "income", "edges": [0, 100, 200]}"#,
        ),
        "cdf" => (
            "column = \"income\"\nbins = [100, 200]",
            r#"{"column": "income", "edges": [100, 200]}"#,
        ),
        "covariance" | "correlation" => ("column = \"income\"\nwith = \"age\"", two),
        "regression" => (
            "column = \"income\"\npredictors = [\"age\"]",
            r#"{"column": "income", "predictors": ["age"]}"#,
        ),
        _ => ("column = \"income\"", values),
    }
}

/// Asked, it is drawn with an interval for each number.
fn draw(held: &OpenTable, question: &Question) -> CheckedQuestion {
    let ready = PreparedQuestion::new(held, question, Spend::Epsilon(1.0), None).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let counted = held.count(&[ready.tabulation()], deadline).unwrap().remove(0);
    for group in counted {
        let tally = ready.measurements()[0]
            .tally_from_numbers(group.rows, group.numbers[0].clone())
            .unwrap();
        let drawn = ready.measurements()[0].draw(&tally).unwrap();
        let within = ready.measurements()[0].with_intervals(&drawn, 0.95).unwrap();
        assert_eq!(
            within.intervals.len(),
            ready.measurements()[0].noisy_query().query().answer_length()
        );
    }
    ready.checked().clone()
}

#[test]
fn every_kind_is_asked_in_every_interface() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("survey.csv");
    let row = |i: usize| format!("{},{},{}\n", i * 7 % 301, i % 90, ["north", "south", ""][i % 3]);
    let rows = "income,age,region\n".to_owned() + &(0..200).map(row).collect::<String>();
    std::fs::write(&file, rows).unwrap();
    let python = include_str!("../../../python/python/counterpoint/question.py");
    let table = table();
    assert_eq!(table.len(), 12);
    for [name, kind, in_sql, in_json, in_python] in &table {
        let (study_fields, json_fields) = fields(kind);
        for by in ["", "by = [\"region\"]\n"] {
            if kind == "cdf" && !by.is_empty() {
                continue;
            }
            let filter = "where = \"age >= 18\"\n";
            let study = format!(
                "{DATA}[[statistic]]\nname = \"{name}\"\nkind = \"{kind}\"\npin = true\nepsilon = 1\n{study_fields}\n{by}{filter}"
            );
            let study = read_study_file(study.as_bytes(), Format::Toml).unwrap();
            let table = study.data.as_ref().unwrap().table.clone();
            let held =
                OpenTable::of_rows(table.clone(), RowSource::of_file(&file).unwrap(), [7; 32])
                    .unwrap();
            let own = study.questions[0].as_ref().unwrap().checked.clone();
            // What is planned is what is asked.
            let plan = crate::released::planned(&study);
            let recipe = plan.releases[0].recipe().unwrap();
            assert_eq!(recipe.query(), &own.aggregates()[0].query, "{name}");
            let has_ends = matches!(recipe.style(), Style::ExponentialInterval { .. });
            assert_eq!(has_ends, kind == "quantiles", "{name}");
            let (group, ends) =
                if by.is_empty() { ("", "") } else { ("region, ", " GROUP BY region") };
            let text = format!("SELECT {group}{in_sql} FROM survey WHERE age >= 18{ends}");
            let question = sql::read(&text, |_| Some(&table)).unwrap();
            let of_sql = draw(&held, &question);
            let tag = in_json.trim_matches('"');
            let of = if json_fields.is_empty() {
                format!("\"{tag}\"")
            } else {
                format!("{{\"{tag}\": {json_fields}}}")
            };
            let group = if by.is_empty() { "[]" } else { "[\"region\"]" };
            let text = format!(
                r#"{{"table": "survey", "filter": {{"between": {{"column": "age", "from": 18}}}}, "group": {group},
                    "aggregates": [{{"of": {of}}}]}}"#
            );
            let of_json = draw(&held, &serde_json::from_str(&text).unwrap());
            // Quantiles choose among as many candidates as the interface says, if nothing else is asked for.
            let shares = |checked: &CheckedQuestion| checked.aggregates()[0].query.shares();
            assert_eq!(shares(&own), shares(&of_sql), "{name}");
            assert_eq!(of_sql.aggregates()[0].query, of_json.aggregates()[0].query, "{name}");
            if kind != "quantiles" {
                assert_eq!(own.aggregates()[0].query, of_sql.aggregates()[0].query, "{name}");
            }
            assert_eq!(own.relation(), of_sql.relation(), "{name}");
        }
        let method = in_python.trim_start_matches('.').split('(').next().unwrap();
        assert!(python.contains(&format!("\n    def {method}(")), "{in_python}");
    }
}

//! docs/json.md names every field of the program's JSON: every command with `--json` runs, and its objects are compared
//! with the tables of the page.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use super::*;

/// The fields that no command prints here: their section, their names, and the reason.
const NOT_PRINTED: [(&str, &[&str], &str); 3] = [
    (
        "metadata-file",
        &["dateModified", "license", "creator"],
        "only the Python package asks for them: they are facts that the depositor knows",
    ),
    ("organisation", &["@type", "name"], "the object of `creator`"),
    (
        "entry",
        &["own", "alias"],
        "only a curator writes them: for a mechanism of the owner, and for an analyst's key",
    ),
];

/// A row of a table.
struct Field {
    types: String,
    is_always_present: bool,
}

/// The tables of the page by the links to their sections.
type Sections = BTreeMap<String, BTreeMap<String, Field>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sections() -> Sections {
    let page = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let (mut sections, mut section) = (Sections::new(), String::new());
    for line in page.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            section = heading.to_lowercase().replace(' ', "-");
        } else if line.starts_with("| `") {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let [names, types, _, presence] = cells[..] else { panic!("not four cells: {line}") };
            let fields = sections.entry(section.clone()).or_default();
            for name in names.split('`').skip(1).step_by(2) {
                let field =
                    Field { types: types.to_owned(), is_always_present: presence == "always" };
                assert!(fields.insert(name.to_owned(), field).is_none(), "{section}: {name} twice");
            }
        }
    }
    sections
}

/// The types that a cell of the column *type* allows.
fn alternatives(types: &str) -> Vec<String> {
    let list = types.replace(", or ", " or ");
    let list = list.split(" or ").map(|one| match one.strip_prefix("of ") {
        Some(items) => format!("list of {items}"),
        None => one.to_owned(),
    });
    list.collect()
}

/// The type of a list's items, and the list's length if the type gives it.
fn items(one: &str) -> Option<(&str, Option<usize>)> {
    let items = one.strip_prefix("list of ").or_else(|| one.strip_prefix("lists of "))?;
    let with_length =
        items.split_once(' ').and_then(|(first, rest)| Some((first.parse().ok()?, rest)));
    Some(with_length.map_or((items, None), |(length, items)| (items, Some(length))))
}

/// The section that a type links to.
fn link(one: &str) -> Option<&str> {
    one.split_once("](#")?.1.strip_suffix(')')
}

fn is_decimal(text: &str) -> bool {
    text.parse::<f64>().is_ok() && !text.contains(|sign: char| sign.is_alphabetic())
}

/// True if a value is of a type, but for what is in its objects.
fn fits(one: &str, value: &Value) -> bool {
    let is_text = |fits: fn(&str) -> bool| value.as_str().is_some_and(fits);
    match one {
        "number" | "numbers" => value.is_number(),
        "text" => value.is_string(),
        "decimal text" => is_text(is_decimal),
        "fraction text" => {
            is_text(|text| text.split('/').count() < 3 && text.split('/').all(is_decimal))
        }
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "map" => value.is_object(),
        _ => match (items(one), link(one)) {
            (Some((items, length)), _) => value.as_array().is_some_and(|list| {
                length.is_none_or(|length| length == list.len())
                    && list.iter().all(|item| fits(items, item))
            }),
            (None, Some(_)) => value.is_object(),
            (None, None) => panic!("the page explains no type {one:?}"),
        },
    }
}

/// The page, and what was printed so far.
struct Page {
    sections: Sections,
    folder: Folder,
    commands: BTreeSet<String>,
    fields: BTreeSet<(String, String)>,
    wrong: BTreeSet<String>,
}

impl Page {
    fn new() -> Self {
        let folder = Folder::new();
        std::os::unix::fs::symlink(root().join("examples"), folder.path("examples")).unwrap();
        Self {
            sections: sections(),
            folder,
            commands: BTreeSet::new(),
            fields: BTreeSet::new(),
            wrong: BTreeSet::new(),
        }
    }

    /// Runs a command in the folder, with this on standard input and this exit status; what it prints.
    #[track_caller]
    fn run(&self, line: &str, stdin: &str, status: i32) -> String {
        let args: Vec<&str> = line.split_whitespace().collect();
        let input = self.folder.file("stdin", stdin);
        let mut command = command(&args);
        let command =
            command.current_dir(self.folder.path(".")).stdin(std::fs::File::open(input).unwrap());
        let output = command.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(status), "{line}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command with `--json`, which has to print one object of a section.
    #[track_caller]
    fn json(&mut self, section: &str, line: &str, stdin: &str, status: i32) {
        let printed = self.run(&format!("{line} --json"), stdin, status);
        assert_eq!(printed.lines().count(), 1, "{line}: {printed}");
        let mut words =
            line.split(' ').filter(|word| !word.starts_with("--") && !word.contains(':'));
        let name = match (words.next().unwrap(), words.next()) {
            (group @ ("ledger" | "token"), Some(command)) => format!("{group} {command}"),
            (command, _) => command.to_owned(),
        };
        self.commands.insert(name);
        self.object(section, &serde_json::from_str(&printed).unwrap());
    }

    #[track_caller]
    fn prints(&mut self, section: &str, line: &str, stdin: &str) {
        self.json(section, line, stdin, 0);
    }

    /// As [`Page::prints`], with a definite no.
    #[track_caller]
    fn refuses(&mut self, section: &str, line: &str, stdin: &str) {
        self.json(section, line, stdin, 1);
    }

    /// A file that a command wrote is an object of a section.
    #[track_caller]
    fn file(&mut self, section: &str, name: &str) {
        let text = std::fs::read_to_string(self.folder.path(name)).unwrap();
        self.object(section, &serde_json::from_str(&text).unwrap());
    }

    /// Compares an object with its section, and all objects in it with theirs.
    fn object(&mut self, section: &str, object: &Value) {
        let object = object.as_object().unwrap();
        let Some(fields) = self.sections.get(section) else {
            self.wrong.insert(format!("{section} is no section"));
            return;
        };
        let is_missing = |(name, field): &(&String, &Field)| {
            field.is_always_present && !object.contains_key(*name)
        };
        let missing = fields.iter().filter(is_missing);
        self.wrong.extend(
            missing.map(|(name, _)| format!("{section}: {name} is always present, and is missing")),
        );
        for (name, value) in object {
            let Some(field) = self.sections[section].get(name) else {
                self.wrong.insert(format!("{section}: {name} is not on the page"));
                continue;
            };
            self.fields.insert((section.to_owned(), name.clone()));
            let types = alternatives(&field.types);
            let Some(one) = types.iter().find(|one| fits(one, value)) else {
                let shown: String = value.to_string().chars().take(80).collect();
                self.wrong.insert(format!("{section}: {name} is none of {types:?}: {shown}"));
                continue;
            };
            self.objects(one, value);
        }
    }

    /// Compares the objects in a value of a type.
    fn objects(&mut self, one: &str, value: &Value) {
        if let (Some((items, _)), Some(list)) = (items(one), value.as_array()) {
            list.iter().for_each(|item| self.objects(items, item));
        } else if let Some(section) = link(one) {
            self.object(section, value);
        }
    }

    /// Finds the fields of the page that were not printed, and those of [`NOT_PRINTED`] that were.
    fn compare_fields(&mut self) {
        type Names = BTreeSet<(String, String)>;
        let named = |section: &str, name: &str| (section.to_owned(), name.to_owned());
        let of_section = |(section, fields): (&String, &BTreeMap<String, Field>)| {
            fields.keys().map(|name| named(section, name)).collect::<Names>()
        };
        let on_page: Names = self.sections.iter().flat_map(of_section).collect();
        let exempt = NOT_PRINTED.iter().flat_map(|(section, names, _)| {
            names.iter().map(|name| named(section, name)).collect::<Names>()
        });
        let exempt: Names = exempt.collect();
        let expected: Names = on_page.difference(&exempt).cloned().collect();
        let mut tell = |fields: Vec<&(String, String)>, what: &str| {
            let line = |(section, name): &(String, String)| format!("{section}: {name} {what}");
            self.wrong.extend(fields.into_iter().map(line));
        };
        tell(expected.difference(&self.fields).collect(), "was not printed");
        tell(exempt.intersection(&self.fields).collect(), "was printed after all");
        tell(exempt.difference(&on_page).collect(), "is not on the page");
    }

    /// The commands with `--json` that did not run.
    fn compare_commands(&mut self) {
        let commands = |group: &str| -> Vec<String> {
            let help = self.run(&format!("{group} --help"), "", 0);
            let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
            let lines = lines.take_while(|line| !line.is_empty());
            let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
            let names = names.filter(|name| !name.is_empty() && *name != "help");
            names.map(|name| format!("{group} {name}").trim_start().to_owned()).collect()
        };
        let all: Vec<String> = commands("").into_iter().filter(|name| name != "ledger").collect();
        let groups = all.iter().flat_map(|name| commands(name));
        // All commands of the ledger have the option.
        let mut with_json: BTreeSet<String> = commands("ledger --url sqlite:l.db")
            .into_iter()
            .map(|name| name.replace(" --url sqlite:l.db", ""))
            .collect();
        let has_json =
            |name: &String| self.run(&format!("{name} --help"), "", 0).contains("--json");
        with_json.extend(groups.chain(all.iter().cloned()).filter(has_json));
        assert!(with_json.len() > 30, "{with_json:?}");
        self.wrong
            .extend(with_json.difference(&self.commands).map(|name| format!("{name} did not run")));
    }
}

/// A plan about one neighbouring relation.
fn plan(adjacency: &str, releases: &str) -> String {
    format!("{{\"adjacency\": \"{adjacency}\", \"release\": [{releases}]}}")
}

/// The steps of a training.
const STEPS: &str =
    r#"{"mechanism": "approx-dp", "epsilon": 0.01, "examples": 9, "batch": 3, "epochs": 1}"#;

fn costs(page: &mut Page) {
    page.prints("composition", "compose examples/minimal.toml", "");
    page.prints("composition", "compose examples/training.toml --epsilon 1", "");
    page.prints("composition", "compare --epsilon 0.1 --count 3 --delta 0 --pairs", "");
    let choices = plan("replace", r#"{"mechanism": "exponential", "epsilon": 1, "count": 3}"#);
    page.prints("composition", "compose - --delta 1e-3", &choices);

    let part = plan("add-remove", r#"{"mechanism": "approx-dp", "epsilon": 1, "partition": "x"}"#);
    page.prints("readings", "compose - --readings", &plan("add-remove", STEPS));
    page.prints("losses", "compose - --losses", &part);
    page.prints("losses", "compose - --losses", &plan("add-remove", STEPS));

    page.prints("conversion", "convert --epsilon 1 --to-delta 0.1", "");
    page.refuses("conversion", "convert --epsilon 1 --to-epsilon 0.5 --to-delta 0.1", "");
    page.prints("regions", "region examples/minimal.toml examples/training.toml", "");
    let attack = "audit --false-alarms 1/1000 --misses 1/1000 --delta 1e-6 --claim";
    page.refuses("audit", &format!("{attack} examples/training.toml"), "");
}

/// `calibrate` writes the plan with all mechanisms in it.
fn calibrations(page: &mut Page) {
    let mut find = |what: &str, plan: &str| {
        let line = format!("calibrate - --out found.json --for {what}");
        page.prints("calibration", &line, plan);
        page.file("plan", "found.json");
    };
    let training = std::fs::read_to_string(root().join("examples/training.toml")).unwrap();
    find("sigma --epsilon 2", &training);
    let minimal = std::fs::read_to_string(root().join("examples/minimal.toml")).unwrap();
    find("epsilon --epsilon 1", &minimal.replace("delta = ", "group = 2\ndelta = "));
    let sampled = plan("add-remove", r#"{"mechanism": "gaussian", "sigma": 1, "rate": 0.5}"#);
    find("sigma --epsilon 1 --delta 0.1", &sampled);
    // The release whose epsilon is looked for, beside others.
    let beside = |adjacency: &str, others: &str| {
        plan(adjacency, &format!("{others}, {{\"mechanism\": \"approx-dp\"}}"))
    };
    let guarantees = r#"{"mechanism": "randomized-response", "epsilon": 0.01, "buckets": 3},
        {"mechanism": "staircase", "epsilon": 0.01, "gamma": 0.3},
        {"mechanism": "sparse-vector", "epsilon_threshold": 0.01, "epsilon_queries": 0.01},
        {"mechanism": "finite", "p": [0.51, 0.49], "q": [0.49, 0.51]}"#;
    find("epsilon --epsilon 3 --delta 1e-3", &beside("replace", guarantees));
    let styles = r#"
        {"mechanism": "laplace", "scale": 9,
            "recipe": {"query": {"count": "all"}, "style": {"staircase": {"epsilon": 1}}}},
        {"mechanism": "laplace", "scale": 9,
            "recipe": {"query": {"count": "all"}, "style": {"discrete-gaussian": {"sigma": 1}}}},
        {"mechanism": "laplace", "scale": 9,
            "recipe": {"query": {"quantiles": {"shares": [[1, 2]], "candidates": [1, 2]}},
                "style": {"exponential": {"epsilon": 1}}}}"#;
    find("epsilon --epsilon 3 --delta 1e-3", &beside("replace", styles));
    find(
        "epsilon --epsilon 3 --delta 1e-3",
        &beside("replace", r#"{"mechanism": "gdp", "mu": 0.01}"#),
    );
    let cells = r#"{"mechanism": "cells", "p": [0.51, 0.49], "q": [0.49, 0.51],
        "lower": [0.04, -0.041], "upper": [0.041, -0.04]}"#;
    find("epsilon --epsilon 3 --delta 1e-3", &beside("add-remove", cells));
    let curves = r#"{"mechanism": "rdp", "orders": [2, 4], "epsilons": [0.001, 0.002]},
        {"mechanism": "tcdp", "rho": 0.0001, "omega": 20}"#;
    find("epsilon --epsilon 3 --delta 1e-3", &beside("replace", curves));
    let mixture = r#"{"mechanism": "gaussian-mixture",
        "sensitivities": [0, 1], "probabilities": [0.5, 0.5]}"#;
    find("sigma --epsilon 3 --delta 1e-3", &plan("add-remove", mixture));
    // These draw people themselves. One run is within the budget, and two are not.
    let batch =
        r#"{"mechanism": "gaussian-batch", "sigma": 2, "share": 0.5, "people": 10, "most": 8}"#;
    find("count --epsilon 1 --delta 1e-3", &plan("add-remove", batch));
    let draws = r#"{"mechanism": "gaussian-draws", "sigma": 2, "records": 100, "draws": 3}"#;
    find("count --epsilon 0.03 --delta 1e-3", &plan("replace", draws));
    let allocation = r#"{"mechanism": "gaussian-allocation", "sigma": 2, "steps": 5, "each": 2}"#;
    find("count --epsilon 1.7 --delta 1e-3", &plan("add-remove", allocation));

    let leaky = plan("add-remove", r#"{"mechanism": "approx-dp", "delta": 0.1, "partition": "x"}"#);
    page.refuses("unreachable-target", "calibrate - --for epsilon --epsilon 1 --delta 0", &leaky);
}

/// Statistics of all kinds but those of two columns, in two studies of the same rows.
const STUDY: &str = r#"delta = 1e-6
epsilon = 20

[data]
source = "rows.csv"
adjacency = "replace"
people = 200
sample_of = 5000
budget = { epsilon = 99, delta = 1e-3 }
column = [
    { name = "age", bounds = [0, 100], missing = 50 },
    { name = "region", categories = ["north", "south"] },
]

[[statistic]]
kind = "proportion"
column = "region"
categories = ["north"]
where = "age > 20"
noise = "laplace"
error = 0.5

[[statistic]]
kind = "sum"
column = "age"
by = ["region"]
error = 900
"#;

/// Statistics of two columns, on data that hide their number of people.
const OPEN: &str = r#"delta = 1e-6

[data]
adjacency = "add-remove"
column = [{ name = "a", bounds = [0, 9] }, { name = "b", bounds = [0, 9] }]
"#;

const WEIGHTS: &str = r#"delta = 1e-6
epsilon = 1
data = { adjacency = "replace", people = 500 }
statistic = [
    { kind = "mean", bounds = [0, 1], weight = 1 },
    { kind = "count", bounds = [0, 1], weight = 1 },
]
"#;

/// A study of all statistics of one column.
fn study() -> String {
    let kinds = ["mean", "variance", "standard-deviation", "quantiles", "cdf", "histogram"];
    let statistics = kinds.map(|kind| {
        let more = match kind {
            "quantiles" | "cdf" => "points = 3\n",
            "histogram" => "bins = [0, 50, 100]\n",
            _ => "",
        };
        format!("[[statistic]]\nkind = \"{kind}\"\ncolumn = \"age\"\nerror = 300\n{more}")
    });
    STUDY.to_owned() + &statistics.concat()
}

fn studies(page: &mut Page) {
    let two = |kind: &str, more: &str| {
        format!("[[statistic]]\nkind = \"{kind}\"\ncolumn = \"a\"\nexpected = 999\n{more}\n")
    };
    let pinned = "pin = true\nepsilon = 0.5";
    let open = OPEN.to_owned()
        + &two("covariance", "with = \"b\"\nerror = 30")
        + &two("correlation", &format!("with = \"b\"\n{pinned}"))
        + &two("regression", &format!("predictors = [\"b\"]\n{pinned}"));
    page.prints("study-plan", "plan examples/study.toml --out found.json", "");
    page.file("plan", "found.json");
    page.prints("study-plan", "plan -", &study());
    page.prints("study-plan", "plan -", &open);
    page.prints("study-plan", "plan - --prove", WEIGHTS);
    // Statistics share a count, so there is no proof.
    let column = "column = \"a\"\nexpected = 999\nweight = 1\n";
    let shared =
        ["mean", "variance"].map(|kind| format!("[[statistic]]\nkind = \"{kind}\"\n{column}"));
    let shared = OPEN.replace("[data]", "epsilon = 1\n[data]") + &shared.concat();
    page.prints("study-plan", "plan - --prove", &shared);
    page.refuses("no-plan", "plan -", &WEIGHTS.replace("weight = 1", "error = 1e-3, pin = true"));
}

fn papers(page: &mut Page) {
    page.prints("noise-rules", "noise --epsilon 1 --delta 1e-6", "");
    page.prints("noise-rules", "noise --epsilon 12 --delta 0.5", "");
    page.prints("noise-rules", "noise --epsilon 0.001 --delta 0.99", "");
    page.prints("simulation", "simulate examples/coins.toml --ratio 2", "");
    page.prints(
        "simulation",
        "simulate examples/systems.toml --order 2 --epsilon 1 --samples 9",
        "",
    );
    let pairs = "[source]\np = [1, 0]\nq = [0, 1]\n[target]\np = [0.6, 0.4]\nq = [0.4, 0.6]\n";
    page.prints("simulation", "simulate -", pairs);
    page.prints("simulation", "simulate -", "[laplace]\nepsilon = 1\n");
    let coins = std::fs::read_to_string(root().join("examples/coins.toml")).unwrap();
    page.refuses("refutation", "simulate -", &coins.replace("\"1/10\"", "\"1/11\""));
    let sketch = r#"{"epsilon": 1, "delta": 1e-6, "eta": 0.5, "nu": 0.05,
        "matrix": {"rows": [[3, 4]], "directions": [[1, 0]]}}"#;
    page.prints("sketch", "sketch -", sketch);
}

fn releases(page: &mut Page) {
    let rows = (1..=200).map(|i| format!("{i},{},north\n", i % 90)).collect::<String>();
    page.folder.file("rows.csv", format!("id,age,region\n{rows}"));
    page.folder.file("study.toml", study());
    page.folder.file("people.toml", study().replace("people = ", "person = \"id\"\npeople = "));
    page.run("release study.toml --dry-run --out tried", "", 0);
    page.run("release people.toml --out done", "", 0);
    for folder in ["tried", "done"] {
        page.file("release-file", &format!("{folder}/release.json"));
        page.file("metadata-file", &format!("{folder}/metadata.json"));
    }
    page.prints("history", "ledger --url sqlite:done/ledger.db history", "");
}

fn tokens(page: &mut Page) {
    page.folder.file(
        "curator.toml",
        r#"version = 1
ledger = "sqlite:curator.db"
state = "sqlite:state.db"
timing = { slot = 1, limit = 9 }
[[table]]
name = "t"
source = "rows.csv"
adjacency = "replace"
column = [{ name = "a", bounds = [0, 9] }]
"#,
    );
    page.run("token --config curator.toml new owner ann", "", 0);
    page.run("token --config curator.toml new analyst ben --account team", "", 0);
    page.run("token --config curator.toml revoke 1", "", 0);
    page.prints("token-list", "token --config=curator.toml list", "");
}

fn ledger(page: &mut Page) {
    fn at(line: &str) -> String {
        format!("ledger --url sqlite:l.db {line}")
    }
    let mut does = |line: &str, stdin: &str| page.prints("completion", &at(line), stdin);
    does("init", "");
    for kind in ["sums", "renyi"] {
        does(
            &format!(
                "dataset {kind} --adjacency add-remove --epsilon 99 --delta 1e-3 --filter {kind}"
            ),
            "",
        );
    }
    does("open team --dataset sums --filter renyi --epsilon 1 --delta 1e-6", "");
    does("open more --dataset sums --filter sums --epsilon 1 --delta 0", "");
    does("open weekly --dataset sums --plan examples/minimal.toml", "");
    does("open steps --dataset sums --plan examples/training.toml", "");
    let parts = r#"{"name": "of-x", "mechanism": "approx-dp", "epsilon": 1, "partition": "x"}"#;
    does("open parts --dataset sums --plan - --delta 1e-6", &plan("add-remove", parts));
    does("open part --within parts --slot of-x --filter sums --epsilon 1 --delta 0", "");
    does("open within --within weekly --slot 1 --filter sums --epsilon 0.05 --delta 0", "");
    does("open r --dataset renyi --filter zcdp --rho 0.1", "");
    does("open m --dataset renyi --filter gdp --mu 0.1", "");
    does("open t --dataset renyi --filter renyi --order 8 --tau 0.1", "");
    let half = r#"release = [{ name = "half", mechanism = "approx-dp", epsilon = 0.05 }]"#;
    does("recut weekly --unused 1:1 --into -", half);
    does("quota more ann --share 0.5", "");
    does("quota more ann --share 1 --change", "");
    does("move team more --amount 0.01 --key m", "");

    let laplace = r#"{"mechanism":"laplace","scale":99}"#;
    let steps = STEPS.replace("\"epochs\": 1", "\"count\": 9999");
    page.prints("price", &at("price team -"), &plan("add-remove", &steps));
    page.prints("price", &at(&format!("price team {laplace}")), "");
    page.prints("reservation", &at("reserve team - --key k"), &plan("add-remove", STEPS));
    page.prints("reservation", &at("reserve team - --key k"), &plan("add-remove", STEPS));
    page.prints("reservation", &at(&format!("reserve weekly 1 --run {laplace} --key w")), "");
    page.prints("reservation", &at(&format!("reserve more {laplace} --key o --analyst ann")), "");
    page.prints("reservation", &at(&format!("reserve team {laplace} --key s --session")), "");
    let many = r#"{"mechanism":"gaussian","sigma":1}"#;
    page.refuses("failure", &at(&format!("reserve team {many} --key f")), "");
    page.prints("commit", &at("commit k --response -"), "42");
    page.prints("reservation", &at("reserve team - --key k"), &plan("add-remove", STEPS));
    page.prints("response", &at("response k"), "");
    page.prints("responses", &at("responses"), "");
    page.prints("pending", &at("pending"), "");
    page.prints("session", &at("session team s"), "");
    page.prints("status", &at("status"), "");
    for account in ["team", "more", "weekly", "parts", "part"] {
        page.prints("status", &at(&format!("status {account}")), "");
    }
    page.prints("odometer", &at("odometer team"), "");
    page.prints("verification", &at("verify --checkpoint checkpoint.json"), "");
    page.prints("completion", &at("close more"), "");
    page.prints("verification", &at("verify --checkpoint checkpoint.json"), "");
    let nowhere = format!("1:{}", "0".repeat(64));
    page.refuses("failure", &at(&format!("verify --expect-head {nowhere}")), "");
    page.prints("history", &at("history"), "");
    page.prints("export", &at("export"), "");
    page.prints("completion", &at("backup copy.db"), "");
    page.prints("completion", &at("close-dataset renyi"), "");
}

/// A ledger of an earlier format has sessions that began.
fn upgraded_ledger(page: &mut Page) {
    let rows = root().join("crates/ledger/tests/ledger/format2.sqlite.sql");
    let load =
        "import sqlite3, sys; sqlite3.connect('old.db').executescript(open(sys.argv[1]).read())";
    let mut python = Command::new("python3");
    let python = python.args(["-c", load]).arg(rows).current_dir(page.folder.path("."));
    assert!(python.stdin(Stdio::null()).status().unwrap().success());
    let at = |line: &str| format!("ledger --url sqlite:old.db {line}");
    page.prints("completion", &at("upgrade --backup older.db"), "");
    page.prints("pending", &at("pending"), "");
    page.prints("completion", &at("end renyi session-second"), "");
    page.prints("session", &at("session renyi session-second"), "");
    page.prints("status", &at("status"), "");
    page.prints("history", &at("history"), "");
    page.prints("export", &at("export"), "");
}

#[test]
fn every_field_of_the_json_is_on_the_page_and_every_field_of_the_page_is_printed() {
    let mut page = Page::new();
    for part in [costs, calibrations, studies, papers, releases, tokens, ledger, upgraded_ledger] {
        part(&mut page);
    }
    page.compare_fields();
    page.compare_commands();
    let wrong: Vec<String> = page.wrong.into_iter().collect();
    assert!(wrong.is_empty(), "docs/json.md:\n{}", wrong.join("\n"));
}

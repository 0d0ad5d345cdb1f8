//! Every bad plan: exit status 2, one line that names file, release and field,
//! and nothing on standard output.

use counterpoint::{Count, Delta, Epsilon};

use crate::{Folder, example, run, run_with};

/// One release with these fields, in both formats.
fn error_of(folder: &Folder, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = folder.file(name, content);
    let run = run(&["compose", &path, "--json"]);
    let error = run.error();
    let place = format!("{path}: ");
    error.strip_prefix(&place).unwrap_or_else(|| panic!("{place} in {error}")).to_owned()
}

#[test]
fn bad_values_are_named_with_release_field_and_legal_range() {
    let folder = Folder::new();
    let (epsilon, delta, count) = (Epsilon::LEGAL, Delta::LEGAL, Count::LEGAL);
    #[rustfmt::skip]
    let cases = [
        ("epsilon = nan", "epsilon is nan", epsilon), ("epsilon = inf", "epsilon is inf", epsilon),
        ("epsilon = -inf", "epsilon is -inf", epsilon), ("epsilon = -0.5", "epsilon is -0.5", epsilon),
        ("epsilon = 1e400", "epsilon is 1e400", epsilon),
        ("epsilon = \"one\"", "epsilon is \"one\"", epsilon),
        ("epsilon = 1\ndelta = 1", "delta is 1", delta),
        ("epsilon = 1\ndelta = 1.5", "delta is 1.5", delta),
        ("epsilon = 1\ndelta = -1e-9", "delta is -1e-9", delta),
        ("epsilon = 1\ndelta = nan", "delta is nan", delta),
        ("epsilon = 1\ncount = 0", "count is 0", count),
        ("epsilon = 1\ncount = -1", "count is -1", count),
        ("epsilon = 1\ncount = 3.5", "count is 3.5", count),
        ("epsilon = 1\ncount = 10000000000000", "count is 10000000000000", count),
        ("epsilon = 1\ncount = 1e30", "count is 1e30", count),
        ("epsilon = 1\nsigma = 1", "sigma is not a field of approx-dp", "name, mechanism"),
    ];
    let good = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\n";
    for (fields, problem, legal) in cases {
        let bad = format!("[[release]]\nmechanism = \"approx-dp\"\n{fields}\nname = \"age\"\n");
        let error = error_of(&folder, "plan.toml", format!("delta = 1e-6\n{good}{bad}{good}"));
        let start = format!("release 2 (\"age\"): {problem}; legal: {legal}");
        assert!(error.starts_with(&start), "{start}: {error}");
    }
}

#[test]
fn json_says_the_same_of_the_same_mistakes() {
    let folder = Folder::new();
    let cases = [
        ("\"epsilon\": -1", "epsilon is -1; legal: "),
        ("\"epsilon\": 1e400", "epsilon is 1e400, too large for a number"),
        ("\"epsilon\": null", "epsilon is null; legal"),
        ("\"epsilon\": 1, \"count\": 1e30", "count is 1e30; legal: a whole number"),
        ("\"epsilon\": 1, \"count\": 10000000000000", "count is 10000000000000; legal"),
        ("\"epsilon\": 1, \"epsilon\": 1", "\"epsilon\" is given twice; legal: once"),
        ("\"epsilon\": 1, \"x\": 1", "x is not a field of approx-dp; legal: name"),
    ];
    for (fields, problem) in cases {
        let release = format!("{{\"name\": \"age\", \"mechanism\": \"approx-dp\", {fields}}}");
        let plan = format!("{{\"delta\": 1e-6, \"release\": [{release}]}}");
        let error = error_of(&folder, "plan.json", plan);
        assert!(error.starts_with(&format!("release 1 (\"age\"): {problem}")), "{error}");
    }
}

#[test]
fn plans_that_are_no_plans() {
    let folder = Folder::new();
    let survey = std::fs::read_to_string(example("survey.json")).unwrap();
    let garbage: Vec<u8> =
        (0..5000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let mut valid_garbage = b"\0\x01\x02PNG".to_vec();
    valid_garbage.extend([b'\n'; 10]);
    let cases: [(&str, &[u8], &str); 12] = [
        ("empty.toml", b"", "the plan is empty; legal: "),
        ("empty.json", b"", "the plan is empty; legal: "),
        ("blank", b" \n\t\n", "the plan is empty; legal: "),
        ("none.toml", b"delta = 1e-6\n", "there are no releases; legal: 1 to 10^7"),
        ("none.json", b"{\"release\": []}", "there are no releases; legal: 1 to 10^7"),
        ("cut.json", &survey.as_bytes()[..700], "release "),
        ("cut.toml", b"delta = 1e-6\n[[release", "cannot be read as TOML: "),
        ("list.json", b"[]", "cannot be read as JSON: "),
        ("garbage", &garbage, "byte "),
        ("garbage.json", &valid_garbage, "cannot be read as JSON: "),
        ("garbage.toml", &valid_garbage, "cannot be read as TOML: "),
        ("both.toml", b"delta = 0\nepsilon = 0\n", "there are no releases"),
    ];
    for (name, content, start) in cases {
        let error = error_of(&folder, name, content);
        assert!(error.starts_with(start), "{name}: {error}");
    }
    let error = error_of(&folder, "cut.json", &survey.as_bytes()[..700]);
    assert!(error.contains("EOF while parsing") && error.contains(" line "), "{error}");
}

#[test]
fn unknown_words_are_answered_with_the_known_ones() {
    let folder = Folder::new();
    let release = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\n";
    let cases = [
        ("dleta = 1\n", release, "dleta is not a field of a plan; legal: version, delta, epsilon"),
        ("version = 2\n", release, "version is 2; legal: 1"),
        ("delta = \"x\"\n", release, "delta is \"x\"; legal: "),
        ("delta = 0\nepsilon = 1\n", release, "delta and epsilon are both given; legal: one"),
        ("adjacency = 1\n", release, "adjacency is 1; legal: add-remove, replace"),
        (
            "",
            "[[release]]\nmechanism = \"laplase\"\n",
            "release 1: mechanism is \"laplase\"; legal: approx-dp",
        ),
        ("", "[[release]]\nepsilon = 1\n", "release 1: mechanism is missing; legal: approx-dp"),
        (
            "",
            release,
            "neither delta nor epsilon is given; legal: delta or epsilon in the plan, or --delta",
        ),
    ];
    for (top, rest, start) in cases {
        let error = error_of(&folder, "plan.toml", format!("{top}{rest}"));
        assert!(error.starts_with(start), "{error}");
    }
}

#[test]
fn files_that_are_no_files() {
    let folder = Folder::new();
    let missing = folder.path("missing.toml").to_str().unwrap().to_owned();
    let error = run(&["compose", &missing]).error().to_owned();
    assert!(error.starts_with(&format!("{missing}: cannot be read: ")), "{error}");
    let directory = folder.path("").to_str().unwrap().to_owned();
    let error = run(&["compose", &directory]).error().to_owned();
    assert!(error.starts_with(&format!("{directory}: is a directory; legal: ")), "{error}");
    let error = run(&["compare", &missing, "--delta", "0"]).error().to_owned();
    assert!(error.starts_with(&format!("{missing}: cannot be read: ")), "{error}");
    let error = run(&["compose", ""]).error().to_owned();
    assert!(error.contains("cannot be read"), "{error}");
}

#[test]
fn standard_input_is_named_as_such() {
    let error = run_with(&["compose", "-"], b"{\"delta\": 2}").error().to_owned();
    assert!(error.starts_with("standard input: delta is 2; legal: "), "{error}");
    let error = run(&["compose", "-"]).error().to_owned();
    assert!(error.starts_with("standard input: the plan is empty"), "{error}");
}

#[test]
fn text_from_a_file_cannot_break_the_line() {
    let folder = Folder::new();
    let name = "x\\n\\u001b[31m".repeat(100);
    let release = format!("{{\"name\": \"{name}\", \"mechanism\": \"a\\nb\"}}");
    let error = error_of(&folder, "plan.json", format!("{{\"release\": [{release}]}}"));
    assert!(error.contains("mechanism is \"a\\nb\"; legal: approx-dp, "), "{error}");
    assert!(error.len() < 600, "{error}");
}

#[test]
fn counts_and_epsilons_that_add_up_to_too_much() {
    let folder = Folder::new();
    let release = "{ mechanism = \"approx-dp\", epsilon = 1e6, count = 1000000000000 }";
    let error = error_of(&folder, "plan.toml", format!("delta = 0\nrelease = [{release}]\n"));
    assert!(error.starts_with("the epsilons add up to 1e18; legal: "), "{error}");
    let release = release.replace("1e6", "0");
    let releases = vec![release; 1001].join(", ");
    let error = error_of(&folder, "plan.toml", format!("delta = 0\nrelease = [{releases}]\n"));
    assert!(error.starts_with("the counts add up to "), "{error}");
}

#[test]
fn a_delta_below_the_leaks_names_the_least_possible() {
    let folder = Folder::new();
    let release = "{ mechanism = \"approx-dp\", epsilon = 0.1, delta = 1e-6, count = 10 }";
    let error = error_of(&folder, "plan.toml", format!("delta = 1e-7\nrelease = [{release}]\n"));
    assert!(error.starts_with("delta 1e-7 is below the probability of a leak"), "{error}");
    // 1 - (1 - 1e-6)^10
    assert!(error.contains("legal: at least 9.99995500012"), "{error}");
}

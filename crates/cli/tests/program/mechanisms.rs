//! Plans of real mechanisms.

use serde_json::Value;

use crate::{Folder, example, run};

fn ends(object: &Value) -> (f64, f64) {
    let end = |name: &str| object["epsilon"][name].as_f64().unwrap();
    (end("lower"), end("upper"))
}

/// A plan of one release with these lines.
fn plan(folder: &Folder, top: &str, lines: &str) -> String {
    folder.file("plan.toml", format!("delta = 1e-6\n{top}[[release]]\nmechanism = {lines}\n"))
}

#[test]
fn mechanisms_that_are_randomized_responses_cost_what_those_do() {
    let folder = Folder::new();
    let answer = |lines: &str| run(&["compose", &plan(&folder, "", lines), "--json"]);
    let response = answer("'approx-dp'\nepsilon = 0.5\ncount = 20");
    response.object();
    assert_eq!(response, answer("'randomized-response'\nepsilon = 0.5\ncount = 20"));
    assert_eq!(response, answer("'geometric'\nscale = 2\ncount = 20"));
    let sparse = "'sparse-vector'\nepsilon_threshold = 0.25\nepsilon_queries = 0.25\ncount = 20";
    assert_eq!(response, answer(sparse));
    let sparse = "'above-threshold'\nepsilon_threshold = 0.5\nepsilon_queries = 0\ncount = 20";
    assert_eq!(response, answer(sparse));
    // By its own pair, with a threshold and queries, it costs less.
    let sparse = "'above-threshold'\nepsilon_threshold = 0.25\nepsilon_queries = 0.25\ncount = 20";
    assert!(ends(&answer(sparse).object()).1 < ends(&response.object()).0);
}

#[test]
fn a_sample_costs_less_and_a_group_more() {
    let folder = Folder::new();
    let lines = "'approx-dp'\nepsilon = 0.5\ncount = 20";
    let upper = |top: &str, lines: &str| {
        ends(&run(&["compose", &plan(&folder, top, lines), "--json"]).object()).1
    };
    let whole = upper("", lines);
    let adjacency = "adjacency = 'add-remove'\n";
    assert!(upper(adjacency, &format!("{lines}\nrate = 0.5")) < whole);
    assert!(upper("group = 2\n", lines) > whole);
}

#[test]
fn parts_of_the_data_cost_no_more_than_the_worst_of_them() {
    let folder = Folder::new();
    let release = |part: &str, count: u64| {
        format!("[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.1\ncount = {count}\n{part}\n")
    };
    let top = "delta = 1e-6\nadjacency = 'add-remove'\n";
    let (north, south) = ("partition = 'north'", "partition = 'south'");
    let parts = format!("{top}{}{}", release(north, 10), release(south, 30));
    let parts = folder.file("parts.toml", parts);
    let worst = folder.file("worst.toml", format!("{top}{}", release("", 30)));
    let of = |path: &str| ends(&run(&["compose", path, "--json"]).object());
    assert_eq!(of(&parts), of(&worst));
}

/// A file beside the plan says what lists in it would.
#[test]
fn cells_come_from_a_file_beside_the_plan() {
    let folder = Folder::new();
    let top = "adjacency = 'add-remove'\n";
    let lists =
        "'cells'\np = [0.5, 0.5]\nq = [0.25, 0.75]\nlower = [0.6, -0.5]\nupper = [0.75, -0.3]";
    let listed = run(&["compose", &plan(&folder, top, lists), "--json"]);
    listed.object();
    folder.file("own.csv", "upper,p,q,lower\n0.75,0.5,0.25,0.6\n-0.3,0.5,0.75,-0.5\n");
    let named = run(&["compose", &plan(&folder, top, "'cells'\ncsv = 'own.csv'"), "--json"]);
    assert_eq!(named, listed);
    folder.file("own.csv", "p,q,lower\n0.5,0.25,0.6\n");
    for (lines, problem) in [
        ("'cells'\ncsv = 'own.csv'", "csv \"own.csv\" has 3 columns; legal: p,q,lower,upper"),
        ("'cells'\ncsv = 'none.csv'", "csv \"none.csv\" cannot be read"),
        ("'cells'\ncsv = 'own.csv'\np = [1]", "csv is given with p; legal: one of the two"),
        ("'cells'\ncsv = 3", "csv is 3; legal: a string"),
        (
            "'cells'\ncsv = '/etc/passwd'",
            "csv \"/etc/passwd\" is elsewhere; legal: a CSV file beside",
        ),
        ("'cells'\ncsv = '../own.csv'", "csv \"../own.csv\" is elsewhere"),
        ("'cells'\ncsv = 'below/../../own.csv'", "is elsewhere"),
        ("'cells'\ncsv = '.'", "csv \".\" is no file"),
        ("'gdp'\nmu = 1\ncsv = 'own.csv'", "csv is not a field of gdp"),
    ] {
        let outcome = run(&["compose", &plan(&folder, top, lines)]);
        assert_eq!(outcome.status, 2, "{lines}");
        assert!(outcome.stderr.contains(problem), "{lines}: {}", outcome.stderr);
    }
}

/// Links that lead out of the plan's folder, to a file or by way of a folder, are not followed; others are.
#[cfg(unix)]
#[test]
fn links_to_cells_elsewhere_are_refused() {
    use std::os::unix::fs::symlink;
    let (folder, other) = (Folder::new(), Folder::new());
    let text = "p,q,lower,upper\n0.5,0.25,0.6,0.75\n0.5,0.75,-0.5,-0.3\n";
    let (mine, theirs) = (folder.file("own.csv", text), other.file("theirs.csv", text));
    let top = "adjacency = 'add-remove'\n";
    let composed = |csv: &str| {
        let lines = format!("'cells'\ncsv = '{csv}'");
        run(&["compose", &plan(&folder, top, &lines), "--json"])
    };
    let direct = composed("own.csv");
    direct.object();
    let link = |to: &str, name: &str| {
        let beside = std::path::Path::new(&mine).with_file_name(name);
        symlink(to, beside).unwrap();
    };
    link(&mine, "inside.csv");
    assert_eq!(composed("inside.csv"), direct);
    link(&theirs, "outside.csv");
    link(std::path::Path::new(&theirs).parent().unwrap().to_str().unwrap(), "folder");
    for csv in ["outside.csv", "folder/theirs.csv"] {
        let outcome = composed(csv);
        let problem = format!("csv \"{csv}\" is elsewhere; legal: a CSV file beside the plan");
        assert!(outcome.status == 2 && outcome.stderr.contains(&problem), "{}", outcome.stderr);
    }
}

#[test]
fn batches_are_warned_about_in_both_forms() {
    let folder = Folder::new();
    let lines = "'approx-dp'\nepsilon = 0.5\nexamples = 60000\nbatch = 600\nepochs = 1";
    let batches = plan(&folder, "adjacency = 'add-remove'\n", lines);
    for command in ["compose", "compare"] {
        let text = run(&[command, &batches]);
        for words in ["release 1: ", "not Poisson samples", "probability batch/examples"] {
            assert!(text.warning().contains(words), "{}", text.stderr);
        }
        let object = run(&[command, &batches, "--json"]).object();
        let warnings = object["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 1);
        assert_eq!(warnings[0].as_str().unwrap(), text.warning());
    }
    let text = std::fs::read_to_string(&batches).unwrap();
    let text =
        text.replace("examples = 60000\nbatch = 600\nepochs = 1", "rate = 0.01\ncount = 100");
    let rate = folder.file("rate.toml", text);
    let rate = run(&["compose", &rate, "--json"]).object();
    assert!(rate.get("warnings").is_none());
    assert_eq!(ends(&rate), ends(&run(&["compose", &batches, "--json"]).object()));
}

#[test]
fn routes_for_guarantees_say_that_they_are() {
    let folder = Folder::new();
    let gaussian = plan(&folder, "", "'gaussian'\nsigma = 2");
    let forced: [&[&str]; 4] = [
        &["--route", "equal"],
        &["--route", "halves"],
        &["--route", "convolution"],
        &["--route", "precise"],
    ];
    for options in forced {
        let run = run(&[&["compose", gaussian.as_str()], options].concat());
        let error = run.error();
        assert!(error.contains("route does not apply: "), "{error}");
        assert!(error.contains("(epsilon, delta) guarantees"), "{error}");
        let legal = "legal: closed, leaks, near-largest-loss, small-mu, splines, truncated-powers, outcomes, contour, \
                     blurred-contour, layered-contour, graded-lists, lattice, renyi";
        assert!(error.contains(legal), "{error}");
    }
    let bits = run(&["compose", &gaussian, "--bits", "64"]);
    let error = bits.error();
    assert!(
        error.contains("other mechanisms than (epsilon, delta) guarantees; legal: no --bits"),
        "{error}"
    );
}

#[test]
fn what_has_no_meaning_names_file_release_and_field() {
    let folder = Folder::new();
    let path = plan(&folder, "", "'gaussian'\nname = \"noise\"\nsigma = 2\nrate = 0.5");
    let run = run(&["compose", &path]);
    let start = format!("{path}: release 1 (\"noise\"): adjacency is missing; ");
    assert!(run.error().starts_with(&start), "{}", run.error());
}

#[test]
fn the_examples_are_answered() {
    let mixed = run(&["compose", &example("mixed.toml"), "--json"]).object();
    let (lower, upper) = ends(&mixed);
    assert!(0.0 < lower && lower <= upper && upper - lower <= 1e-6 * upper, "{mixed}");
    let training = run(&["compose", &example("training.toml"), "--json"]).object();
    let (lower, upper) = ends(&training);
    assert!(0.0 < lower && lower <= upper && upper - lower <= 1e-6 * upper, "{training}");
    assert_eq!(training["warnings"].as_array().map(Vec::len), Some(1));
}

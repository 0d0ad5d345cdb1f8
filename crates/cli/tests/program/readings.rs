//! `counterpoint compose --readings`, and matrix mechanisms.

use serde_json::Value;

use crate::{Folder, example, run};

/// A narrow bracket around a number that was computed apart from this project.
#[track_caller]
fn about(bracket: &Value, truth: f64, width: f64) {
    let (lower, upper) = (bracket["lower"].as_f64().unwrap(), bracket["upper"].as_f64().unwrap());
    assert!(lower <= truth + 1e-14 && truth - 1e-14 <= upper, "{truth} in {bracket}");
    assert!(upper - lower <= width, "{bracket}");
}

/// Four times sigma 2 is mu 1; the numbers are those of mpmath.
#[test]
fn gaussian_noise_has_the_readings_of_its_mu() {
    let folder = Folder::new();
    let plan = "[[release]]\nmechanism = \"gaussian\"\nsigma = 2\ncount = 4\n";
    let plan = folder.file("plan.toml", plan);
    let asked = ["--prior", "0.2", "--chance", "0.05", "--json"];
    let object = run(&[&["compose", &plan, "--readings"], &asked[..]].concat()).object();
    about(&object["advantage"], 0.382_924_922_548_026_2, 1e-6);
    about(&object["guess"]["accuracy"], 0.813_843_773_191_684_6, 1e-6);
    let detection = object["detection"].as_array().unwrap();
    about(&detection[0]["true_alarm"], 0.092_362_248_073_693_94, 1e-6);
    about(&detection[1]["true_alarm"], 0.018_298_468_405_656_598, 1e-6);
    about(&object["reconstruction"]["success"], 0.259_511_022_841_444_07, 1e-6);
    about(&object["gdp"]["mu"], 1.0, 1e-14);
    about(&object["gdp"]["everywhere"], 1.0, 1e-14);
    about(&object["gdp"]["regret"], 0.0, 1e-14);
    let text = run(&["compose", &plan, "--readings"]);
    for part in ["correct with probability at most 69.15 %", "mu 1", "regret", "theorem"] {
        assert!(text.answer().contains(part), "{part}: {}", text.stdout);
    }
}

#[test]
fn a_leak_has_no_mu_and_the_floor_decides() {
    let folder = Folder::new();
    let plan = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\ndelta = 1e-6\n";
    let plan = folder.file("plan.toml", plan);
    let gdp = run(&["compose", &plan, "--readings", "--json"]).object()["gdp"].clone();
    assert!(gdp["mu"]["lower"].is_null() && gdp["everywhere"]["upper"].is_null(), "{gdp}");
    let text = run(&["compose", &plan, "--readings"]);
    assert!(text.answer().contains("no mu: the plan leaks"), "{}", text.stdout);
    let above = ["compose", &plan, "--readings", "--floor", "1e-5", "--json"];
    let gdp = run(&above).object()["gdp"].clone();
    assert!(gdp["mu"]["upper"].as_f64().unwrap() < 1.24, "{gdp}");
    assert!(gdp["everywhere"]["lower"].is_null(), "{gdp}");
}

#[test]
fn readings_ask_nothing_else() {
    let plan = example("minimal.toml");
    for other in [["--delta", "1e-6"], ["--epsilon", "1"], ["--bits", "64"], ["--route", "equal"]] {
        let refused = run(&["compose", &plan, "--readings", other[0], other[1]]);
        assert!(refused.error().contains("cannot be used with"), "{}", refused.stderr);
    }
    let alone = run(&["compose", &plan, "--floor", "1e-6"]);
    assert!(alone.error().contains("--readings"), "{}", alone.stderr);
    let refused = run(&["compose", &plan, "--readings", "--floor", "0"]);
    assert!(refused.error().contains("a number from 1e-30 to 0.01"), "{}", refused.stderr);
}

/// The sensitivity of four columns that do not overlap is twice the norm of one.
#[test]
fn a_matrix_mechanism_costs_what_its_gaussian_costs() {
    let folder = Folder::new();
    let head = "delta = 1e-6\n[[release]]\nsigma = 20\n";
    let matrix =
        "mechanism = \"gaussian-matrix\"\nsteps = 40\ncoefficients = [3, 4]\nseparation = 10\n";
    let matrix = folder.file("matrix.toml", format!("{head}{matrix}"));
    let gaussian =
        folder.file("gaussian.toml", format!("{head}mechanism = \"gaussian\"\nsensitivity = 10\n"));
    let [matrix_cost, gaussian_cost] = [&matrix, &gaussian].map(|plan| {
        run(&["compose", plan, "--json"]).object()["epsilon"]["upper"].as_f64().unwrap()
    });
    assert!((matrix_cost / gaussian_cost - 1.0).abs() < 1e-9, "{matrix_cost} {gaussian_cost}");
    let found = folder.path("found.toml").display().to_string();
    let calibrated = run(&[
        "calibrate",
        &matrix,
        "--for",
        "sigma",
        "--epsilon",
        "1",
        "--delta",
        "1e-6",
        "--out",
        &found,
    ]);
    assert!(calibrated.stdout.starts_with("sigma  "), "{}", calibrated.stderr);
    let written = std::fs::read_to_string(&found).unwrap();
    assert!(written.contains("mechanism = \"gaussian\""), "{written}");
}

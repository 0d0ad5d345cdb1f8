//! `counterpoint compose --losses`.

use serde_json::Value;

use crate::{Folder, example, run};

fn ends(bracket: &Value) -> (f64, f64) {
    (bracket["lower"].as_f64().unwrap(), bracket["upper"].as_f64().unwrap())
}

/// A narrow bracket around a number that was computed apart from this project.
#[track_caller]
fn about(bracket: &Value, truth: f64, width: f64) {
    let (lower, upper) = ends(bracket);
    assert!(lower <= truth + 1e-14 && truth - 1e-14 <= upper, "{truth} in {bracket}");
    assert!(upper - lower <= width, "{bracket}");
}

#[test]
fn a_gaussian_loss_is_normal() {
    let folder = Folder::new();
    let plan = "[[release]]\nmechanism = \"gaussian\"\nsigma = 2\n";
    let object = run(&["compose", &folder.file("plan.toml", plan), "--losses", "--json"]).object();
    let [loss] = object["losses"].as_array().unwrap().as_slice() else { panic!("{object}") };
    // Mean s^2/2 and variance s^2, s = 1/2.
    about(&loss["mean"], 0.125, 1e-12);
    about(&loss["variance"], 0.25, 1e-12);
    assert_eq!(ends(&loss["leak"]), (0.0, 0.0));
    // Quantiles of the normal law, from tables.
    let normal = [
        0.0,
        1.281_551_565_544_600_5,
        2.326_347_874_040_840_8,
        3.090_232_306_167_813,
        3.719_016_485_455_709,
        4.753_424_308_822_9,
    ];
    let quantiles = loss["quantiles"].as_array().unwrap();
    let levels: Vec<f64> = quantiles.iter().map(|at| at["level"].as_f64().unwrap()).collect();
    assert!((levels[1] - 0.9).abs() < 1e-15 && (levels[5] - 0.999_999).abs() < 1e-15);
    assert_eq!(quantiles.len(), normal.len());
    for (at, z) in quantiles.iter().zip(normal) {
        about(&at["loss"], 0.125 + 0.5 * z, 1e-3);
    }
    // Of 11 points the middle one is the mean, and the first and the last five deviations off.
    let above = loss["above"].as_array().unwrap();
    about(&above[5]["probability"], 0.5, 1e-4);
    about(&above[10]["probability"], 2.866_515_718_791_939e-7, 1e-9);
    about(&above[0]["probability"], 1.0 - 2.866_515_718_791_939e-7, 1e-4);
    assert!((above[10]["loss"].as_f64().unwrap() - 2.625).abs() < 1e-9);
    assert!(object["theorem"].as_str().unwrap().contains("Zhu, Dong and Wang"), "{object}");
    assert_eq!(object["setting"]["parameters"], "fixed");
}

#[test]
fn few_losses_are_listed_and_infinite_ones_said() {
    let folder = Folder::new();
    let plan = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\ndelta = 0.01\ncount = 2\n";
    let plan = folder.file("plan.toml", plan);
    let loss = run(&["compose", &plan, "--losses", "--json"]).object()["losses"][0].clone();
    let kept = 0.99_f64 * 0.99;
    about(&loss["leak"], 1.0 - kept, 1e-12);
    let p = 1.0 / (1.0 + (-1.0_f64).exp());
    let masses = [p * p, 2.0 * p * (1.0 - p), (1.0 - p) * (1.0 - p)];
    let atoms = loss["atoms"].as_array().unwrap();
    assert_eq!(atoms.len(), 3);
    for ((atom, mass), at) in atoms.iter().zip(masses).zip([2.0, 0.0, -2.0]) {
        about(&atom["loss"], at, 1e-12);
        about(&atom["probability"], kept * mass, 1e-12);
    }
    // One in a hundred is passed by no finite loss, as two in a hundred are infinite.
    let infinite: Vec<_> = loss["quantiles"].as_array().unwrap()[2..].to_vec();
    assert!(infinite.iter().all(|at| at["loss"]["upper"].is_null()), "{infinite:?}");
    let text = run(&["compose", &plan, "--losses"]);
    for part in ["mean", "every loss, about", "0.99 infinite infinite", "0.0199", "theorem"] {
        let words: Vec<&str> = text.answer().split_whitespace().collect();
        assert!(words.join(" ").contains(part), "{part}: {}", text.stdout);
    }
}

/// What is asked about is shown as it is: numbers of few digits.
#[test]
fn places_are_numbers_of_few_digits() {
    let folder = Folder::new();
    let places = |name: &str, plan: &str| -> Vec<String> {
        let file = folder.file(name, plan);
        let loss = run(&["compose", &file, "--losses", "--json"]).object()["losses"][0].clone();
        loss["above"].as_array().unwrap().iter().map(|at| at["loss"].to_string()).collect()
    };
    let pure = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.3\ncount = 7\n";
    let pure = places("pure.toml", pure);
    assert!(pure.iter().all(|place| place.len() <= 7), "{pure:?}");
    assert!(pure.len() == 11 && pure.windows(2).all(|two| two[0] != two[1]), "{pure:?}");
    // Of a leak alone the loss is zero or infinite.
    let leak = "[[release]]\nmechanism = \"name-and-shame\"\ndelta = 0.25\n";
    let leak = places("leak.toml", leak);
    assert!(leak.iter().all(|place| place.parse::<f64>().unwrap().abs() < 1e-100), "{leak:?}");
    let text = run(&["compose", &folder.path("leak.toml").display().to_string(), "--losses"]);
    assert!(text.answer().contains("with probability at most 0.25"), "{}", text.stdout);
}

#[test]
fn directions_are_told_apart_and_examples_have_losses() {
    let object = run(&["compose", &example("training.toml"), "--losses", "--json"]);
    let object: Value = serde_json::from_str(&object.stdout).unwrap();
    let directions: Vec<_> =
        object["losses"].as_array().unwrap().iter().map(|one| one["direction"].clone()).collect();
    assert_eq!(directions, ["remove", "add"]);
    // Shuffled batches are warned of here, too.
    assert_eq!(object["warnings"].as_array().unwrap().len(), 1);
}

#[test]
fn what_has_no_loss_or_asks_something_else_is_refused() {
    let folder = Folder::new();
    let curve = folder.file("curve.toml", "[[release]]\nmechanism = \"zcdp\"\nrho = 0.1\n");
    let refused = run(&["compose", &curve, "--losses"]);
    assert!(refused.error().starts_with(&format!("{curve}: ")), "{}", refused.stderr);
    let plan = example("minimal.toml");
    for other in [["--delta", "1e-6"], ["--epsilon", "1"], ["--bits", "64"], ["--route", "equal"]] {
        let refused = run(&["compose", &plan, "--losses", other[0], other[1]]);
        assert!(refused.error().contains("cannot be used with"), "{}", refused.stderr);
    }
}

//! `counterpoint region`.

use crate::{Folder, example, run, run_with};

const PURE: &str = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\n";
const TWICE: &str = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = 1\ncount = 2\n";
const LAPLACE: &str = "[[release]]\nmechanism = \"laplace\"\nscale = 1\n";

#[test]
fn a_guarantee_has_the_region_of_the_paper() {
    let folder = Folder::new();
    let plan = folder.file("plan.toml", PURE);
    let object = run(&["region", &plan, "--json"]).object();
    let region = &object["regions"][0];
    // KOV Figure 1: the corner is at 1/(1 + e) in both rates.
    let corner = 1.0 / (1.0 + 1f64.exp());
    for side in ["outer", "inner"] {
        let vertices = region[side].as_array().unwrap();
        assert_eq!(vertices.len(), 3);
        for rate in [&vertices[1][0], &vertices[1][1]] {
            assert!((rate.as_f64().unwrap() - corner).abs() < 1e-15, "{rate}");
        }
    }
    let variation = region["total_variation"]["upper"].as_f64().unwrap();
    assert!((variation - 0.5_f64.tanh()).abs() < 1e-15);
    let at = &region["rates"][3];
    assert!((at["false_alarm"].as_f64().unwrap() - 0.1).abs() < 1e-300);
    let miss = 1.0 - 0.1 * 1f64.exp();
    assert!(at["miss"]["lower"].as_f64().unwrap() <= miss + 1e-16);
    assert!((at["miss"]["upper"].as_f64().unwrap() - miss).abs() < 1e-14);
    assert!((at["advantage"]["upper"].as_f64().unwrap() - (0.9 - miss)).abs() < 1e-14);
    assert_eq!((&region["exact"], &object["inclusions"]), (&true.into(), &serde_json::json!([])));
}

#[test]
fn plans_are_compared_with_each_other() {
    let folder = Folder::new();
    let [one, two, noise] = [("one.toml", PURE), ("two.toml", TWICE), ("laplace.toml", LAPLACE)]
        .map(|(name, text)| folder.file(name, text));
    let args = ["region", &one, &two, &noise, "--json"];
    let object = run(&args).object();
    let verdict = |plan: &str, within: &str| {
        let all = object["inclusions"].as_array().unwrap();
        let found = all.iter().find(|i| i["plan"] == plan && i["within"] == within).unwrap();
        found["verdict"].as_str().unwrap().to_owned()
    };
    assert_eq!((&*verdict(&one, &two), &*verdict(&two, &one)), ("yes", "no"));
    assert_eq!((&*verdict(&noise, &one), &*verdict(&one, &noise)), ("yes", "no"));
    let text = run(&["region", &one, &two]);
    let text = text.answer();
    assert!(text.contains("false alarms  misses, at least"), "{text}");
    assert!(text.contains(&format!("{one}  {two}  yes")), "{text}");
}

#[test]
fn the_picture_is_an_svg_that_names_the_plans() {
    let folder = Folder::new();
    let (plan, noise) = (folder.file("plan.toml", TWICE), folder.file("noise.toml", LAPLACE));
    let picture = folder.path("region.svg");
    run(&["region", &plan, &noise, "--svg", picture.to_str().unwrap()]).answer();
    let svg = std::fs::read_to_string(&picture).unwrap();
    assert!(svg.trim_start().starts_with("<svg ") && svg.trim_end().ends_with("</svg>"));
    // By their names, on the axes of Kairouz, Oh and Viswanath.
    assert!(svg.contains(">plan<") && svg.contains(">noise<") && !svg.contains(".toml"));
    let (misses, alarms) = ("probability of a missed detection", "probability of a false alarm");
    assert!(svg.find(misses) < svg.find(alarms));
    // Without title and paragraph it is less high.
    run(&["region", &plan, &noise, "--plain", "--svg", picture.to_str().unwrap()]).answer();
    assert!(std::fs::read_to_string(&picture).unwrap().len() < svg.len());
    let document = folder.path("region.pdf");
    run(&["region", &plan, &noise, "--pdf", document.to_str().unwrap()]).answer();
    assert!(std::fs::read(&document).unwrap().starts_with(b"%PDF-"));
    // Nothing else is left in the folder.
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 4);
}

#[test]
fn what_cannot_be_done_is_one_line() {
    let folder = Folder::new();
    let plan = folder.file("plan.toml", PURE);
    let bad = folder.file("bad.toml", "[[release]]\nmechanism = \"approx-dp\"\nepsilon = -1\n");
    let run_bad = run(&["region", &plan, &bad]);
    assert!(run_bad.error().starts_with(&format!("{bad}: release 1: epsilon is -1; legal: ")));
    let nowhere = folder.path("missing/region.svg").to_str().unwrap().to_owned();
    let unwritable = run(&["region", &plan, "--svg", &nowhere, "--json"]);
    assert!(unwritable.error().starts_with(&format!("{nowhere}: cannot be written: ")));
    let directory = folder.path("").to_str().unwrap().to_owned();
    let unwritable = run(&["region", &plan, "--svg", &directory]);
    assert!(unwritable.error().ends_with("is a directory; legal: a file to write"));
    assert!(run_with(&["region", "-"], b"").error().contains("the plan is empty"));
}

#[test]
fn every_example_has_a_region() {
    for name in ["minimal.toml", "survey.toml", "weekly.toml", "training.toml"] {
        let object = run(&["region", &example(name), "--json"]).object();
        let gap = object["regions"][0]["gap"].as_f64().unwrap();
        assert!(gap <= 1.1e-3, "{name}: {gap}");
    }
}

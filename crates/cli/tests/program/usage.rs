//! The command line itself.

use counterpoint::ask::Bits;
use counterpoint::{Count, Delta, Epsilon, Tolerance};

use crate::{Folder, example, run};

#[test]
fn wrong_usage_is_one_line_that_says_what_is_legal() {
    let plan = example("minimal.toml");
    let plan = plan.as_str();
    #[rustfmt::skip]
    let cases: [(&[&str], &str); 36] = [
        (&[], "legal: compose, compare, calibrate, plan, release, study, serve, token, region, audit, convert, noise, simulate, sketch, figures, ledger, completions"),
        (&["decompose"], "unrecognized subcommand 'decompose'"),
        (&["compose"], "<PLAN>"),
        (&["compose", plan, "--what"], "unexpected argument '--what'"),
        (&["compose", plan, plan], "unexpected argument"),
        (&["compose", plan, "--delta", "0", "--epsilon", "1"], "cannot be used with"),
        (&["compose", plan, "--delta", "1"], Delta::LEGAL),
        (&["compose", plan, "--delta", "-1e-9"], Delta::LEGAL),
        (&["compose", plan, "--delta", "nan"], Delta::LEGAL),
        (&["compose", plan, "--delta", "x\ny"], Delta::LEGAL),
        (&["compose", plan, "--delta"], "a value is required for '--delta <D>'"),
        (&["compose", plan, "--epsilon", "inf"], Epsilon::LEGAL),
        (&["compose", plan, "--epsilon=-inf"], Epsilon::LEGAL),
        (&["compose", plan, "--tolerance", "0"], Tolerance::LEGAL),
        (&["compose", plan, "--route", "fast"],
            "closed, leaks, near-largest-loss, small-mu, splines, truncated-powers, equal, outcomes, halves, contour, blurred-contour, "),
        (&["compose", plan, "--bits", "7"], Bits::LEGAL),
        (&["compose", plan, "--bits", "64.5"], Bits::LEGAL),
        (&["compose", plan, "--bits", "64", "--route", "equal"], "legal: --route precise"),
        (&["compose", plan, "--bits", "64", "--tolerance", "1e-3"], "cannot be used with"),
        (&["compare"], "legal: PLAN, or --epsilon, --count and --delta"),
        (&["compare", "--count", "3"], "legal: PLAN, or --epsilon, --count and --delta"),
        (&["compare", "--epsilon", "1", "--delta", "0"], "--count <K>"),
        (&["compare", "--epsilon", "1", "--count", "3"], "--delta <D>"),
        (&["compare", "--epsilon", "1", "--count", "0", "--delta", "0"],
            Count::LEGAL),
        (&["compare", "--epsilon", "1", "--count", "1e30", "--delta", "0"],
            Count::LEGAL),
        (&["compare", plan, "--epsilon", "1"], "cannot be used with"),
        (&["compare", plan, "--count", "1"], "cannot be used with"),
        (&["calibrate"], "<PLAN>"),
        (&["calibrate", plan, "--epsilon", "1"], "--for <WHAT>"),
        (&["calibrate", plan, "--for", "noise"], "possible values: sigma, scale, epsilon, count"),
        (&["calibrate", plan, "--for", "count"], "the target has no epsilon; legal: epsilon in"),
        (&["calibrate", plan, "--for", "count", "--epsilon", "nan"], Epsilon::LEGAL),
        (&["calibrate", plan, "--for", "count", "--epsilon", "1", "--delta", "1"], Delta::LEGAL),
        (&["calibrate", plan, "--for", "count", "--epsilon", "1", "--release", "x"],
            "no release is named \"x\"; legal: the name of a release in the plan"),
        (&["region"], "<PLAN>"),
        (&["completions", "tcsh"], "possible values: bash"),
    ];
    for (args, expected) in cases {
        let run = run(args);
        let error = run.error();
        assert!(error.contains(expected), "{args:?}: {error}");
    }
}

#[test]
fn comparing_a_plan_that_asks_no_delta() {
    let folder = Folder::new();
    let release = "release = [{ mechanism = \"approx-dp\", epsilon = 0.1 }]\n";
    let plan = folder.file("plan.toml", format!("epsilon = 1\n{release}"));
    let run = run(&["compare", &plan]);
    assert!(
        run.error().starts_with(&format!("{plan}: delta is missing; legal: delta in the plan"))
    );
    assert!(run.error().ends_with("legal: delta in the plan, or --delta"));
}

#[test]
fn help_and_version_are_answers() {
    for args in
        [&["--help"][..], &["compose", "--help"], &["compare", "-h"], &["help", "calibrate"]]
    {
        assert!(run(args).answer().contains("Usage: counterpoint"), "{args:?}");
    }
    assert!(run(&["--version"]).answer().starts_with("counterpoint "));
}

#[test]
fn every_shell_gets_its_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = run(&["completions", shell]);
        for word in ["compose", "tolerance", "calibrate", "sigma"] {
            assert!(run.answer().contains(word), "{word} for {shell}");
        }
    }
}

//! `counterpoint audit`.

use counterpoint::Delta;
use counterpoint::audit::Tally;
use counterpoint::quantity::Confidence;

use crate::{Folder, run};

/// Laplace noise of scale 1 claims epsilon 1.
const CLAIM: &str = "[[release]]\nmechanism = \"laplace\"\nscale = 1\n";

#[test]
fn the_bound_on_epsilon_rests_on_both_rates() {
    let args = ["audit", "--false-alarms", "10/100", "--misses", "50/100", "--delta", "0"];
    let object = run(&[&args[..], &["--json"]].concat()).object();
    // Clopper and Pearson's table for 10 and 50 out of 100: 0.1762 and 0.6017.
    let attack = &object["attacks"][0];
    let (alarms, misses) = (&attack["false_alarms"], &attack["misses"]);
    assert_eq!((&alarms["count"], &alarms["trials"]), (&10.into(), &100.into()));
    let rates = [alarms, misses].map(|side| side["rate"]["upper"].as_f64().unwrap());
    assert!((rates[0] - 0.1762).abs() < 5e-5 && (rates[1] - 0.6017).abs() < 5e-5, "{rates:?}");
    let expected = ((1.0 - rates[1]) / rates[0]).ln();
    let epsilon = object["epsilon"]["lower"].as_f64().unwrap();
    assert!(epsilon <= expected && epsilon > expected - 1e-14, "{epsilon} {expected}");
    assert_eq!(object["confidence"].as_f64().unwrap().to_bits(), 0.95_f64.to_bits());
    let text = run(&args);
    assert!(text.answer().starts_with("epsilon     at least 0.815"), "{}", text.answer());
}

#[test]
fn a_refuted_claim_is_a_definite_no() {
    let folder = Folder::new();
    let claim = folder.file("claim.toml", CLAIM);
    // What noise of half the scale shows: alarms above 1 with probability e^-2/2 and 1/2.
    let broken = ["audit", "--false-alarms", "6767/100000", "--misses", "50000/100000"];
    let refuted = run(&[&broken[..], &["--delta", "1e-6", "--claim", &claim]].concat());
    assert_eq!((refuted.status, refuted.stderr.as_str()), (1, ""));
    assert!(refuted.stdout.contains(&format!("refuted: {claim}")), "{}", refuted.stdout);
    // The bound on epsilon says it by itself; of a hundred small losses it does not, and the region does.
    assert!(!refuted.stdout.contains("see region"), "{}", refuted.stdout);
    let hundred = "[[release]]\nmechanism = 'approx-dp'\nepsilon = 0.1\ncount = 100\n";
    let hundred = folder.file("hundred.toml", hundred);
    let text = run(&[&broken[..], &["--delta", "1e-6", "--claim", &hundred]].concat());
    assert!(
        text.status == 1 && text.stdout.contains("both error rates so low at once: see region")
    );
    let json = run(&[&broken[..], &["--delta", "1e-6", "--claim", &claim, "--json"]].concat());
    assert_eq!((json.status, json.stderr.as_str()), (1, ""));
    let object: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(object["claim"]["refuted"], true);
    assert!(object["claim"]["epsilon"]["upper"].as_f64().unwrap() <= 1.0);
    // What noise of the right scale shows: e^-1/2 and 1/2.
    let sound = ["audit", "--false-alarms", "18394/100000", "--misses", "50000/100000"];
    let kept = run(&[&sound[..], &["--delta", "1e-6", "--claim", &claim, "--json"]].concat());
    assert_eq!(kept.object()["claim"]["refuted"], false);
}

#[test]
fn several_attacks_share_the_risk() {
    let bound = |args: &[&str]| {
        let args = [&["audit", "--delta", "0", "--json"], args].concat();
        run(&args).object()["epsilon"]["lower"].as_f64().unwrap()
    };
    let one = ["--false-alarms", "10/100", "--misses", "50/100"];
    let two = ["--false-alarms", "90/100", "--misses", "90/100"];
    let both = [&one[..], &two[..]].concat();
    let stricter = [&one[..], &["--confidence", "0.975"]].concat();
    assert!(bound(&both) < bound(&one));
    assert!((bound(&both) - bound(&stricter)).abs() < 1e-12);
}

#[test]
fn what_cannot_be_is_one_line() {
    let folder = Folder::new();
    let claim = folder.file("claim.toml", "[[release]]\nmechanism = \"laplace\"\nscale = 0\n");
    let base = |alarms, misses, delta| {
        ["audit", "--false-alarms", alarms, "--misses", misses, "--delta", delta].to_vec()
    };
    let more = |extra: &[&'static str]| [&base("1/10", "1/10", "0")[..], extra].concat();
    let cases = [
        (base("0/0", "1/10", "0"), Tally::LEGAL),
        (base("1/0", "1/10", "0"), Tally::LEGAL),
        (base("11/10", "1/10", "0"), Tally::LEGAL),
        (base("-1/10", "1/10", "0"), Tally::LEGAL),
        (base("1.5/10", "1/10", "0"), Tally::LEGAL),
        (base("1/10", "10", "0"), Tally::LEGAL),
        (base("1/10", "1/1e6", "0"), Tally::LEGAL),
        (base("1/10", "1/9999999999999999", "0"), Tally::LEGAL),
        (base("1/10", "1/10", "1"), Delta::LEGAL),
        (base("1/10", "1/10", "-1e-9"), Delta::LEGAL),
        (more(&["--confidence", "0"]), Confidence::LEGAL),
        (more(&["--confidence", "1"]), Confidence::LEGAL),
        (more(&["--confidence", "nan"]), Confidence::LEGAL),
        (
            more(&["--misses", "2/10"]),
            "given 1 times and --misses 2 times; legal: the same number of times",
        ),
        (vec!["audit", "--delta", "0"], "--false-alarms <A/N>"),
        (vec!["audit", "--false-alarms", "1/2", "--misses", "1/2"], "--delta <D>"),
    ];
    for (args, expected) in cases {
        let run = run(&args);
        assert!(run.error().contains(expected), "{args:?}: {}", run.error());
    }
    let args = [&base("1/10", "1/10", "0")[..], &["--claim", &claim]].concat();
    assert!(run(&args).error().starts_with(&format!("{claim}: release 1: scale is 0; legal: ")));
}

//! Releases with exact amounts: the text counts, not the nearest double.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use counterpoint::filter::{Amount, Description};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{Asked, Cost, Described, Event, ExactPlan};

fn read(text: &str, format: Format) -> ExactPlan {
    ExactPlan::parse(text.as_bytes(), format).unwrap()
}

/// The release as it is written into a history.
fn stored(release: &Described) -> String {
    let event = Event::Reserve {
        at: 0,
        account: "a".into(),
        key: "k".into(),
        analyst: None,
        release: Asked::Described(release.clone()),
        charge: Cost::default(),
    };
    let body = event.body().unwrap();
    assert_eq!(Event::read(&body).unwrap(), event);
    let start = body.find("\"described\":").unwrap() + "\"described\":".len();
    body[start..body.rfind("},\"charge\"").unwrap()].to_owned()
}

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

#[test]
fn both_formats_and_every_spelling_of_a_number_are_stored_alike() {
    let toml = "[[release]]\nmechanism = \"approx-dp\"\nepsilon = +1_0.50e-1\ndelta = -0.0\n\
                count = 0x10\nname = \"a \\\"b\\\"\"\n";
    let json = r#"{"release":[{"count":16,"delta":0,"epsilon":1.05,"mechanism":"approx-dp",
                "name":"a \"b\""}]}"#;
    let [a, b] = [read(toml, Format::Toml), read(json, Format::Json)];
    assert_eq!(a.releases, b.releases);
    let expected =
        r#"{"count":"16","delta":"0","epsilon":"1.05","mechanism":"approx-dp","name":"a \"b\""}"#;
    assert_eq!(stored(&a.releases[0]), expected);
}

#[test]
fn a_tenth_is_a_tenth() {
    let text = r#"{"delta":1e-6,"release":[
        {"mechanism":"approx-dp","epsilon":0.1,"delta":1e-300},
        {"mechanism":"laplace","scale":0.3,"count":2},
        {"mechanism":"gaussian","sigma":0.1,"sensitivity":0.7},
        {"mechanism":"zcdp","rho":0.1}, {"mechanism":"gdp","mu":0.1}]}"#;
    let plan = read(text, Format::Json);
    assert_eq!(plan.question.as_ref().unwrap().1, amount("0.000001"));
    let queries: Vec<_> = plan.releases.iter().map(|release| release.query().unwrap()).collect();
    let (tenth, zero) = (amount("0.1"), Amount::ZERO);
    let expected = [
        Description::ApproxDp { epsilon: tenth.clone(), delta: amount("1e-300") },
        Description::Laplace { scale: amount("0.3"), sensitivity: amount("1") },
        Description::Gaussian { sigma: tenth.clone(), sensitivity: amount("0.7") },
        Description::Zcdp { rho: tenth.clone(), delta: zero },
        Description::Gdp { mu: tenth },
    ];
    for (query, expected) in queries.iter().zip(&expected) {
        assert_eq!(query.description(), expected);
    }
    assert_eq!(queries[1].count().get(), 2);
}

#[test]
fn doubles_stand_where_no_exact_amount_does() {
    let text = r#"{"release":[{"mechanism":"gaussian","sigma":1.1,"rate":0.01,"count":10},
        {"mechanism":"rdp","orders":[2,3.5],"epsilons":[0.1,0.2]}]}"#;
    for release in read(text, Format::Json).releases {
        assert!(matches!(release.query().unwrap().description(), Description::Other(_)));
    }
}

#[test]
fn what_is_no_amount_is_an_error_that_says_where() {
    let text = "[[release]]\nname = \"x\"\nmechanism = \"laplace\"\nscale = 1e90\n";
    let error = ExactPlan::parse(text.as_bytes(), Format::Toml).unwrap_err().to_string();
    assert!(error.starts_with("release 1 (\"x\"): scale is 1e90; legal: a decimal"), "{error}");
    assert!(ExactPlan::parse(b"{}", Format::Json).is_err());
}

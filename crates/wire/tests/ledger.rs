//! Releases with exact amounts: the text counts, not the nearest double.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::BTreeSet;

use counterpoint::mechanism::{
    BatchCap, CellPair, FinitePair, MaxNoise, RenyiCurve, ScoreChanges, Shifts,
};
use counterpoint::quantity::{
    Buckets, Count, Gamma, Mu, NoiseScale, Order, Rate, Rho, Sensitivity, StepCount,
    WholeSensitivity,
};
use counterpoint::{Delta, Epsilon, Guarantee, Mechanism, Release};
use counterpoint_budget::{Amount, Description, Query};
use counterpoint_testing::{Random, size};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{Cost, Event, ExactPlan, ReleaseRecord, ReleaseRequest};

fn read(text: &str, format: Format) -> ExactPlan {
    ExactPlan::parse(text.as_bytes(), format).unwrap()
}

/// The release as it is written into a history.
fn stored(release: &ReleaseRecord) -> String {
    let event = Event::Reserve {
        at: 0,
        account: "a".into(),
        key: "k".into(),
        analyst: None,
        session: false,
        question: None,
        own: None,
        release: ReleaseRequest::Described(vec![release.clone()]),
        charge: Cost::default(),
    };
    let body = event.body().unwrap();
    assert_eq!(Event::read(&body).unwrap(), event);
    let start = body.find("\"described\":[").unwrap() + "\"described\":[".len();
    body[start..body.rfind("]},\"charge\"").unwrap()].to_owned()
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

/// The kinds of mechanism that a plan can name, as the error for another one lists them, without those that no ledger
/// charges.
fn kinds() -> BTreeSet<String> {
    let mut kinds = legal(r#"{"mechanism":"x"}"#);
    for uncharged in ["private-selection", "truncated-laplace", "shuffled-reports"] {
        assert!(kinds.remove(uncharged));
    }
    kinds
}

#[test]
fn a_selection_is_stored_in_no_ledger() {
    let text = r#"{"release":[{"mechanism":"private-selection","runs":"poisson","mean":3,
        "inner":[{"mechanism":"gdp","mu":1}]}]}"#;
    let error = ExactPlan::parse(text.as_bytes(), Format::Json).unwrap_err().to_string();
    assert!(error.contains("is private-selection, which a ledger has no charge for"), "{error}");
}

/// What an error says is legal.
fn legal(release: &str) -> BTreeSet<String> {
    let text = format!(r#"{{"release":[{release}]}}"#);
    let error = ExactPlan::parse(text.as_bytes(), Format::Json).unwrap_err().to_string();
    let (_, list) = error.split_once("legal: ").unwrap();
    list.split(", ").map(str::to_owned).collect()
}

/// A double of any length between two others of the same order.
fn double(random: &mut Random, from: f64, to: f64) -> f64 {
    let share = random.unit();
    match random.below(3) {
        0 => from + (to - from) * share,
        // Far apart in scale, and short ones.
        1 => from.max(1e-90) * (to / from.max(1e-90)).powf(share),
        _ => ((from + (to - from) * share) * 16.0).ceil() / 16.0,
    }
    .clamp(from, to)
}

/// One of each kind, its numbers drawn.
fn mechanisms(random: &mut Random) -> Vec<Mechanism> {
    let mut epsilon = || Epsilon::new(double(random, 1e-90, 20.0)).unwrap();
    let [a, b, c, d, e, f] = [(); 6].map(|()| epsilon());
    let mut delta = || Delta::new(double(random, 0.0, 0.9)).unwrap();
    let [leak, small, tiny] = [(); 3].map(|()| delta());
    let mut noise = || NoiseScale::new(double(random, 1e-90, 1e39)).unwrap();
    let [scale, sigma, steep, narrow] = [(); 4].map(|()| noise());
    let mut sensitivity = || Sensitivity::new(double(random, 1e-90, 1e39)).unwrap();
    let [far, wide] = [(); 2].map(|()| sensitivity());
    let mut steps = || WholeSensitivity::new(random.between(1, 99_999)).unwrap();
    let [near, some] = [(); 2].map(|()| steps());
    let p = double(random, 0.01, 0.5);
    let pair = FinitePair::new(&[p, 1.0 - p], &[1.0 - p, p]).unwrap();
    let curve = RenyiCurve::new(&[1.5, 2.0 + p, 7.0], &[p, 2.0 * p, 3.0]).unwrap();
    let rho = Rho::new(double(random, 1e-90, 10.0)).unwrap();
    let shifts = Shifts::new(&[0.0, 1.0 + p], &[1.0 - p, p]).unwrap();
    let (low, high) = ((p / (1.0 - p)).ln(), ((1.0 - p) / p).ln());
    let [lower, upper] = [[low - 0.5, high - 0.5], [low + 0.5, high + 0.5]];
    let cells = CellPair::new(&[p, 1.0 - p], &[1.0 - p, p], &lower, &upper).unwrap();
    let [steps, each] =
        [1000, 1].map(|least| StepCount::new(random.between(least, 10 * least)).unwrap());
    let [people, most] =
        [1000, 1].map(|least| Count::new(random.between(least, 10 * least)).unwrap());
    let cap = BatchCap { people, most };
    vec![
        Mechanism::ApproxDp(Guarantee { epsilon: a, delta: leak }),
        Mechanism::Laplace { scale, sensitivity: far },
        Mechanism::Geometric { scale: steep, sensitivity: near },
        Mechanism::Gaussian { sigma, sensitivity: wide },
        Mechanism::DiscreteGaussian { sigma: narrow, sensitivity: some },
        Mechanism::RandomizedResponse {
            epsilon: b,
            buckets: Buckets::new(random.between(2, (1 << 39) - 1)).unwrap(),
        },
        Mechanism::Exponential { epsilon: c },
        Mechanism::NoisyMax {
            noise: MaxNoise::Laplace,
            scale,
            sensitivity: far,
            scores: ScoreChanges::Monotone,
        },
        Mechanism::Staircase { epsilon: d, gamma: Some(Gamma::new(p).unwrap()) },
        Mechanism::Staircase { epsilon: d, gamma: None },
        Mechanism::NameAndShame { delta: small },
        Mechanism::Zcdp { rho, delta: tiny },
        Mechanism::Tcdp { rho, omega: Order::new(1.0 + p).unwrap() },
        Mechanism::Rdp(curve),
        Mechanism::Gdp { mu: Mu::new(double(random, 1e-90, 9.0)).unwrap() },
        Mechanism::SparseVector { threshold: e, queries: f },
        Mechanism::AboveThreshold { threshold: f, queries: e },
        Mechanism::Finite(pair),
        Mechanism::GaussianMixture { sigma, shifts },
        Mechanism::Cells(cells),
        Mechanism::GaussianSubset { sigma, sensitivity: wide, share: Rate::new(p).unwrap() },
        Mechanism::GaussianAllocation { sigma, sensitivity: wide, steps, each },
        Mechanism::GaussianDraws { sigma, sensitivity: wide, records: people, draws: most },
        Mechanism::GaussianBatch { sigma, norm: wide, share: Rate::new(p).unwrap(), cap: None },
        Mechanism::GaussianBatch {
            sigma,
            norm: wide,
            share: Rate::new(p).unwrap(),
            cap: Some(cap),
        },
    ]
}

/// Full: 2000 of each kind. Quick: 50.
#[test]
fn a_release_described_is_the_query_that_it_is() {
    let (mut random, mut seen) = (Random::new(7), BTreeSet::new());
    for round in 0..size(2000, 50) as usize {
        for mechanism in mechanisms(&mut random) {
            let part = (round % 3 == 1).then(|| "north".into());
            let count = Count::new([1, random.between(1, (1 << 39) - 1)][round % 2]).unwrap();
            let curved = matches!(
                mechanism,
                Mechanism::Zcdp { .. }
                    | Mechanism::Tcdp { .. }
                    | Mechanism::Rdp(_)
                    | Mechanism::GaussianSubset { .. }
                    | Mechanism::GaussianAllocation { .. }
                    | Mechanism::GaussianBatch { .. }
                    | Mechanism::GaussianDraws { .. }
            );
            let rate = Rate::new(double(&mut random, 0.0, 0.999)).unwrap();
            let rate = (!curved && round % 4 == 3).then_some(rate);
            let release = Release { mechanism, rate, count, part };
            if matches!(release.mechanism, Mechanism::Cells(_)) {
                let error = ReleaseRecord::from_release(&release).unwrap_err().to_string();
                assert!(error.contains("is cells, which a ledger has no charge for"), "{error}");
                seen.insert("cells".to_owned());
                continue;
            }
            let described = ReleaseRecord::from_release(&release).unwrap();
            assert_eq!(described.query().unwrap(), Query::from(release.clone()), "{release:?}");
            assert_eq!(ReleaseRecord::read(&described.text().unwrap()), Ok(described.clone()));
            assert_eq!(described.without_defaults(), described);
            seen.insert(described.mechanism().to_owned());
        }
    }
    assert_eq!(seen, kinds());
}

/// The way through shortest decimals: 0.1 is less than the double that is read as it, so that
/// noise of that scale would be charged for more of it than there is.
#[test]
fn a_scale_is_the_double_that_is_run_not_its_shortest_text() {
    let scale = NoiseScale::new(0.3).unwrap();
    let sensitivity = Sensitivity::new(1.0).unwrap();
    let release = Release::from((Mechanism::Laplace { scale, sensitivity }, Count::ONE));
    let text = ReleaseRecord::from_release(&release).unwrap().text().unwrap();
    // The exact value of the double, below 0.3.
    let exact = "0.299999999999999988897769753748434595763683319091796875";
    assert_eq!(text, format!(r#"{{"mechanism":"laplace","scale":"{exact}"}}"#));
}

#[test]
fn what_the_format_has_no_number_for_is_an_error() {
    let scale = NoiseScale::new(1e50).unwrap();
    let sensitivity = Sensitivity::new(1.0).unwrap();
    let release = Release::from((Mechanism::Laplace { scale, sensitivity }, Count::ONE));
    let error = ReleaseRecord::from_release(&release).unwrap_err().to_string();
    assert!(error.starts_with("scale is a number of 51 characters; legal: a decimal"), "{error}");
    let mechanism =
        Mechanism::Tcdp { rho: Rho::new(1.0).unwrap(), omega: Order::new(2.0).unwrap() };
    let rate = Some(Rate::new(0.5).unwrap());
    let release = Release { rate, ..Release::from((mechanism, Count::ONE)) };
    let error = ReleaseRecord::from_release(&release).unwrap_err().to_string();
    assert!(error.contains("rate is not a field of tcdp"), "{error}");
}

/// A release of each kind with all of its own fields.
const WHOLE: [&str; 23] = [
    r#"{"mechanism":"approx-dp","epsilon":1,"delta":0.5}"#,
    r#"{"mechanism":"laplace","scale":3,"sensitivity":2}"#,
    r#"{"mechanism":"geometric","scale":3,"sensitivity":2}"#,
    r#"{"mechanism":"gaussian","sigma":3,"sensitivity":2}"#,
    r#"{"mechanism":"discrete-gaussian","sigma":3,"sensitivity":2}"#,
    r#"{"mechanism":"randomized-response","epsilon":1,"buckets":5}"#,
    r#"{"mechanism":"exponential","epsilon":1}"#,
    r#"{"mechanism":"report-noisy-max","noise":"gumbel","scale":3,"sensitivity":2,"scores":"any"}"#,
    r#"{"mechanism":"staircase","epsilon":1,"sensitivity":2,"gamma":0.5}"#,
    r#"{"mechanism":"name-and-shame","delta":0.5}"#,
    r#"{"mechanism":"zcdp","rho":1,"delta":0.5}"#,
    r#"{"mechanism":"tcdp","rho":1,"omega":3}"#,
    r#"{"mechanism":"rdp","orders":[2],"epsilons":[1]}"#,
    r#"{"mechanism":"gdp","mu":1}"#,
    r#"{"mechanism":"sparse-vector","epsilon_threshold":1,"epsilon_queries":1}"#,
    r#"{"mechanism":"above-threshold","epsilon_threshold":1,"epsilon_queries":1}"#,
    r#"{"mechanism":"finite","p":[1],"q":[1]}"#,
    r#"{"mechanism":"gaussian-mixture","sigma":1,"sensitivities":[1],"probabilities":[1]}"#,
    r#"{"mechanism":"cells","p":[1],"q":[1],"lower":[-1],"upper":[1]}"#,
    r#"{"mechanism":"gaussian-subset","sigma":1,"sensitivity":2,"share":0.5}"#,
    r#"{"mechanism":"gaussian-allocation","sigma":1,"sensitivity":2,"steps":9,"each":2}"#,
    r#"{"mechanism":"gaussian-draws","sigma":1,"sensitivity":2,"records":9,"draws":2}"#,
    r#"{"mechanism":"gaussian-batch","sigma":1,"norm":2,"share":0.5}"#,
];

/// What fields stand for if they are left out, as the plan format has it; `None` where leaving
/// one out says something that no value of it does.
const DEFAULTS: [(&str, Option<&str>); 19] = [
    ("count", Some("1")),
    ("rate", Some("1")),
    ("delta", Some("0")),
    ("sensitivity", Some("1")),
    ("scores", Some("\"any\"")),
    ("buckets", Some("2")),
    ("gamma", None),
    ("name", None),
    ("partition", None),
    ("examples", None),
    ("batch", None),
    ("epochs", None),
    ("norm", Some("1")),
    ("each", Some("1")),
    ("people", None),
    ("csv", None),
    ("most", None),
    ("also", None),
    ("recipe", None),
];

#[test]
fn every_default_that_is_spelled_out_makes_the_same_request() {
    let mut seen = BTreeSet::new();
    for whole in WHOLE {
        let fields: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(whole).unwrap();
        seen.insert(fields["mechanism"].as_str().unwrap().to_owned());
        let mut wrong = fields.clone();
        wrong.insert("no such field".into(), 1.into());
        for name in legal(&serde_json::to_string(&wrong).unwrap()) {
            let mut without = fields.clone();
            without.remove(&name);
            // A guarantee in the place of noise is no default.
            let noisy = ["laplace", "gaussian"].contains(&fields["mechanism"].as_str().unwrap());
            if noisy && ["epsilon", "delta"].contains(&name.as_str()) {
                continue;
            }
            let one = |fields: &serde_json::Map<_, _>| {
                let text = format!(r#"{{"release":[{}]}}"#, serde_json::to_string(fields).unwrap());
                ExactPlan::parse(text.as_bytes(), Format::Json)
                    .map(|mut plan| plan.releases.remove(0))
            };
            // What may not be left out has no default.
            let Ok(silent) = one(&without) else { continue };
            let default = DEFAULTS.iter().find(|(field, _)| *field == name);
            let (_, default) = default.unwrap_or_else(|| panic!("{whole}: {name} has a default"));
            let Some(default) = default else { continue };
            without.insert(name.clone(), serde_json::from_str(default).unwrap());
            let spelled = one(&without).unwrap();
            assert_ne!(spelled, silent, "{whole} {name}");
            assert_eq!(spelled.without_defaults(), silent.without_defaults(), "{whole} {name}");
            assert_eq!(spelled.query().unwrap(), silent.query().unwrap(), "{whole} {name}");
            without.insert(name.clone(), 3.into());
            if let Ok(other) = one(&without) {
                assert_ne!(other.without_defaults(), silent.without_defaults(), "{whole} {name}");
            }
        }
    }
    assert_eq!(seen, kinds());
}

/// A guarantee in the place of noise is stored as the noise that was found for it, exactly; powers are exact, too.
#[test]
fn guarantees_of_noise_and_powers_are_stored_as_amounts() {
    let text = r#"{"delta": "2^-25", "release": [{"mechanism": "laplace", "epsilon": 0.1, "sensitivity": 3},
        {"mechanism": "gaussian", "epsilon": 1, "delta": "10^-5", "count": 1e3},
        {"mechanism": "approx-dp", "epsilon": "2^-3", "delta": "10^-9"}]}"#;
    let plan = ExactPlan::parse(text.as_bytes(), Format::Json).unwrap();
    assert_eq!(plan.question.unwrap().1.to_string(), "0.0000000298023223876953125");
    let doubles = counterpoint_wire::Plan::parse(text.as_bytes(), Format::Json).unwrap();
    for (described, release) in plan.releases.iter().zip(&doubles.releases) {
        let text = described.text().unwrap();
        let noisy = described.mechanism() != "approx-dp";
        assert!(noisy != text.contains("epsilon") && noisy != text.contains("delta"), "{text}");
        let query = described.query().unwrap();
        assert_eq!(query.release().count, release.count);
        if noisy {
            assert_eq!(query.release().mechanism, release.mechanism, "{text}");
        }
    }
    assert!(
        plan.releases[2].text().unwrap().contains(r#""delta":"0.000000001","epsilon":"0.125""#)
    );
    // Of a target the delta is a question.
    let text = "[target]\nepsilon = 1\ndelta = 1e-7\n[[release]]\nmechanism = 'gdp'\nmu = 0.1\n";
    let plan = ExactPlan::parse(text.as_bytes(), Format::Toml).unwrap();
    assert_eq!(plan.question.unwrap().1.to_string(), "0.0000001");
}

/// The fields of a release in doubles, by name.
type Numbers = std::collections::BTreeMap<String, serde_json::Value>;

/// Each kind with its numbers: those of which more costs more are `+`, of which less costs more `-`, whole ones `#`, and
/// lists of probabilities `%`.
const ROUNDED: [(&str, &[(&str, &str)]); 21] = [
    ("approx-dp", &[("epsilon", "+0.7"), ("delta", "+0.001"), ("rate", "+0.3"), ("count", "#3")]),
    ("laplace", &[("scale", "-3.3"), ("sensitivity", "+1.1"), ("rate", "+0.3")]),
    ("geometric", &[("scale", "-3.3"), ("sensitivity", "#2")]),
    ("gaussian", &[("sigma", "-3.3"), ("sensitivity", "+1.1"), ("rate", "+0.3")]),
    ("discrete-gaussian", &[("sigma", "-3.3"), ("sensitivity", "#2")]),
    ("randomized-response", &[("epsilon", "+0.7"), ("buckets", "#4")]),
    ("exponential", &[("epsilon", "+0.7")]),
    ("staircase", &[("epsilon", "+0.7"), ("gamma", "+0.3")]),
    ("staircase", &[("epsilon", "+0.7"), ("gamma", "-0.7")]),
    ("name-and-shame", &[("delta", "+0.001")]),
    ("tcdp", &[("rho", "+0.01"), ("omega", "-30.3")]),
    ("rdp", &[("orders", "-2.3,-8.1"), ("epsilons", "+0.1,+0.3")]),
    ("gdp", &[("mu", "+0.3"), ("rate", "+0.3")]),
    ("sparse-vector", &[("epsilon_threshold", "+0.3"), ("epsilon_queries", "+0.7")]),
    ("above-threshold", &[("epsilon_threshold", "+0.3"), ("epsilon_queries", "+0.7")]),
    ("finite", &[("p", "%0.6,%0.2,%0.1"), ("q", "%0.1,%0.3,%0.6")]),
    (
        "gaussian-mixture",
        &[
            ("sigma", "-3.3"),
            ("sensitivities", "+0.3,+1.1,+2.3"),
            ("probabilities", "%0.2,%0.6,%0.1"),
        ],
    ),
    ("gaussian-subset", &[("sigma", "-3.3"), ("sensitivity", "+1.1"), ("share", "+0.3")]),
    (
        "gaussian-allocation",
        &[("sigma", "-3.3"), ("sensitivity", "+1.1"), ("steps", "#9"), ("each", "#2")],
    ),
    ("gaussian-batch", &[("sigma", "-3.3"), ("norm", "+1.1"), ("share", "+0.3")]),
    (
        "gaussian-draws",
        &[("sigma", "-3.3"), ("sensitivity", "+1.1"), ("records", "#9"), ("draws", "#2")],
    ),
];

/// Every number of every kind, with more digits than doubles have, from both formats and from a history: what is charged is
/// no less than what is written, and next to it.
#[test]
fn decimals_are_exact_or_rounded_to_the_safe_side() {
    let mut random = Random::new(37);
    for round in 0..size(15, 2000) {
        for (kind, fields) in ROUNDED {
            let mut written = Vec::new();
            for (name, spec) in fields {
                let digits = |random: &mut Random| {
                    format!(
                        "{:09}{:012}",
                        random.below(10_u64.pow(9)),
                        random.below(10_u64.pow(12))
                    )
                };
                // Next to a double, or anywhere.
                let tail = |random: &mut Random, one: &str| match (one.as_bytes()[0], round % 2) {
                    (b'#', _) => one[1..].to_owned(),
                    (_, 0) => format!("{}00000000000000{}", &one[1..], digits(random)),
                    _ => format!("{}{}", &one[1..], digits(random)),
                };
                let texts: Vec<String> =
                    spec.split(',').map(|one| tail(&mut random, one)).collect();
                written.push((*name, *spec, texts));
            }
            let value = |texts: &[String], spec: &str| match spec.contains(',') {
                true => format!("[{}]", to_one(texts, spec).join(",")),
                false => texts[0].clone(),
            };
            let json: Vec<String> = written
                .iter()
                .map(|(name, spec, texts)| format!("\"{name}\":{}", value(texts, spec)))
                .collect();
            let toml: Vec<String> = written
                .iter()
                .map(|(name, spec, texts)| format!("{name} = {}", value(texts, spec)))
                .collect();
            let json = format!("{{\"release\":[{{\"mechanism\":\"{kind}\",{}}}]}}", json.join(","));
            let toml = format!("[[release]]\nmechanism = \"{kind}\"\n{}\n", toml.join("\n"));
            let [one, other] = [read(&json, Format::Json), read(&toml, Format::Toml)];
            let kept = ReleaseRecord::read(&stored(&one.releases[0])).unwrap();
            assert_eq!((&kept, &kept), (&one.releases[0], &other.releases[0]));
            let query = kept.query().unwrap();
            let doubles = ReleaseRecord::from_release(query.release()).unwrap().text().unwrap();
            let doubles: Numbers = serde_json::from_str(&doubles).unwrap();
            for (name, spec, texts) in &written {
                let what = format!("{kind} {name} {json}");
                is_safe(&doubles, name, &to_one(texts, spec), spec, &what);
            }
        }
    }
}

/// Probabilities with the last being what the others leave.
fn to_one(texts: &[String], spec: &str) -> Vec<String> {
    let mut list = texts.to_vec();
    if spec.starts_with('%') {
        let last = list.len() - 1;
        let sum = list[..last].iter().fold(Amount::ZERO, |sum, text| &sum + &amount(text));
        list[last] = amount("1").checked_sub(&sum).unwrap().to_string();
    }
    list
}

fn is_safe(doubles: &Numbers, name: &str, texts: &[String], spec: &str, what: &str) {
    let found: Vec<Amount> = match &doubles.get(name) {
        Some(serde_json::Value::Array(list)) => {
            list.iter().map(|one| amount(one.as_str().unwrap())).collect()
        }
        Some(one) => vec![amount(one.as_str().unwrap())],
        None => panic!("{what}"),
    };
    assert_eq!(found.len(), texts.len(), "{what}");
    for ((found, text), side) in found.iter().zip(texts).zip(spec.split(',')) {
        let exact = amount(text);
        let slack = exact.div_up(&amount("1000000000000000")).unwrap();
        match side.as_bytes()[0] {
            b'+' => assert!(exact <= *found && *found <= &exact + &slack, "{what}: {found}"),
            b'-' => assert!(*found <= exact && exact <= found + &slack, "{what}: {found}"),
            b'#' => assert_eq!(*found, exact, "{what}"),
            _ => {}
        }
    }
    // Outcomes and shifts are listed with those first, or last, that show most.
    let sums = |list: &[Amount]| -> Vec<Amount> {
        let total = list.iter().fold(Amount::ZERO, |sum, one| &sum + one);
        let mut first = Amount::ZERO;
        let next = list.iter().map(|one| {
            first = &first + one;
            first.div_up(&total).unwrap()
        });
        next.collect()
    };
    if spec.starts_with('%') {
        let exact: Vec<Amount> = texts.iter().map(|text| amount(text)).collect();
        for (found, exact) in sums(&found).iter().zip(sums(&exact)) {
            let slack = amount("0.000000000000001");
            match name {
                "p" => {
                    assert!(exact <= *found && *found <= &exact + &slack, "{what}: {found} {exact}")
                }
                _ => assert!(*found <= exact && exact <= found + &slack, "{what}: {found} {exact}"),
            }
        }
    }
}

/// What is not whole is not taken for it.
#[test]
fn whole_numbers_are_whole() {
    for (kind, fields) in [
        ("geometric", "\"scale\":1,\"sensitivity\":1.00000000000000000001"),
        ("discrete-gaussian", "\"sigma\":1,\"sensitivity\":1.00000000000000000001"),
        ("randomized-response", "\"epsilon\":1,\"buckets\":2.00000000000000000001"),
        ("approx-dp", "\"epsilon\":1,\"count\":1.00000000000000000001"),
        ("gaussian-draws", "\"sigma\":1,\"records\":9.00000000000000000001,\"draws\":2"),
    ] {
        let json = format!("{{\"release\":[{{\"mechanism\":\"{kind}\",{fields}}}]}}");
        let release = &read(&json, Format::Json).releases[0];
        let error = release.query().unwrap_err().to_string();
        assert!(error.ends_with("legal: a whole number"), "{error}");
        assert!(release.query_in(3).is_ok());
    }
}

/// Epochs are read as they are written.
#[test]
fn epochs_are_exact() {
    let steps = |epochs: &str| {
        let fields = "\"mechanism\":\"gaussian\",\"sigma\":1,\"examples\":1000,\"batch\":10";
        let json = format!("{{\"release\":[{{{fields},\"epochs\":{epochs}}}]}}");
        read(&json, Format::Json).releases[0].query().unwrap().count().get()
    };
    assert_eq!((steps("0.3"), steps("1.1")), (30, 110));
    assert_eq!((steps("0.30000000000000000001"), steps("1.00000000000000000001")), (31, 101));
}

//! Mutated plans. Reading one never panics, an error is one line, and an accepted plan can be written and read again.
//! Runs for `COUNTERPOINT_FUZZ_SECONDS`, 5 if unset.

use std::panic::catch_unwind;
use std::time::{Duration, Instant};

use counterpoint::Mechanism;

use crate::plan::{Builder, read_in_pieces};
use crate::{Format, Plan};

const TOML: [&str; 7] = [
    "delta = 1e-6\n[[release]]\nmechanism = \"approx-dp\"\nepsilon = 0.1\ncount = 100\n",
    "version = 1\nepsilon = 2\nadjacency = \"replace\"\n\n[[release]] # first\nname = \"age\"\n\
     mechanism = 'approx-dp'\nepsilon = 1\ndelta = 1e-9\n\n[[ release ]]\nname = \"\"\"\n\
     [[release]]\n\"\"\"\nmechanism = \"approx-dp\"\nepsilon = 0x10\n\n[[release]]\n\
     mechanism = \"approx-dp\"\nepsilon = 1_0.5\ncount = 3\n",
    "release = [\n  { mechanism = \"approx-dp\", epsilon = 0.5 },\n  \
     { name = \"b\", mechanism = \"approx-dp\", epsilon = 1e-3, count = 7 },\n]\ndelta = 0.0\n",
    "[[\"release\"]]\nmechanism = \"approx-dp\"\nepsilon = 0\n[[release]]\nepsilon = 800.0\n\
     mechanism = \"approx-dp\"\n",
    "adjacency = \"add-remove\"\ngroup = 2\n[[release]]\nmechanism = \"gaussian\"\nsigma = 1.5\n\
     sensitivity = 2\nrate = 0.25\ncount = 9\n[[release]]\nmechanism = \"laplace\"\nscale = 3\n\
     examples = 60000\nbatch = 256\nepochs = 1.5\npartition = \"a\"\n[[release]]\n\
     mechanism = \"discrete-gaussian\"\nsigma = 2\nrate = 1\n[[release]]\n\
     mechanism = \"geometric\"\nscale = 0.5\nsensitivity = 3\npartition = \"b\"\n",
    "[[release]]\nmechanism = \"randomized-response\"\nepsilon = 1\nbuckets = 3\n[[release]]\n\
     mechanism = \"exponential\"\nepsilon = 0.5\n[[release]]\nmechanism = \"staircase\"\n\
     epsilon = 1\nsensitivity = 2\ngamma = 0.25\n[[release]]\nmechanism = \"name-and-shame\"\n\
     delta = 1e-9\n[[release]]\nmechanism = \"sparse-vector\"\nepsilon_threshold = 0.1\n\
     epsilon_queries = 0.2\n[[release]]\nmechanism = \"above-threshold\"\n\
     epsilon_threshold = 0.1\nepsilon_queries = 0.2\n",
    "[[release]]\nmechanism = \"zcdp\"\nrho = 0.5\ndelta = 1e-9\n[[release]]\n\
     mechanism = \"tcdp\"\nrho = 1\nomega = 8\n[[release]]\nmechanism = \"rdp\"\n\
     orders = [1.5, 2, 32]\nepsilons = [0.1, 0.2, 3]\n[[release]]\nmechanism = \"gdp\"\nmu = 1\n\
     [[release]]\nmechanism = \"finite\"\np = [0.5, 0.5, 0]\nq = [0.25, 0.5, 0.25]\n\
     [[release]]\nmechanism = \"gaussian-mixture\"\nsigma = 1\n\
     sensitivities = [0, 1]\nprobabilities = [0.5, 0.5]\n",
];

const JSON: [&str; 4] = [
    r#"{"delta": 1e-6, "release": [{"mechanism": "approx-dp", "epsilon": 0.1, "count": 100}]}"#,
    r#"{"version": 1, "release": [
        {"name": "a\n\u00e9", "mechanism": "approx-dp", "epsilon": 1, "delta": 1e-9},
        {"mechanism": "approx-dp", "epsilon": 0.30000000000000004, "name": ""}
       ], "adjacency": "add-remove", "epsilon": 3}"#,
    r#"{"release": [{"count": 1000000000000, "epsilon": 1e-12, "mechanism": "approx-dp"}]}"#,
    r#"{"adjacency": "add-remove", "group": 1, "release": [
        {"mechanism": "gaussian", "sigma": 1, "examples": 9, "batch": 3, "epochs": 2},
        {"mechanism": "rdp", "orders": [2, 3], "epsilons": [0.1, 0.2], "partition": "x"},
        {"mechanism": "finite", "p": [0.5, 0.5], "q": [0.25, 0.75], "count": 3}]}"#,
];

#[rustfmt::skip]
const FRAGMENTS: [&str; 76] = [
    "nan", "-inf", "inf", "-1", "0", "-0", "-0.0", "1.0", "1e400", "-1e400", "1e-400", "5e-324",
    "9007199254740993", "18446744073709551616", "340282366920938463463374607431768211456",
    "0.1", "1e6", "1000001", "1e30", "0x10", "0b1", "1_000", "1979-05-27", "07:32:00", "true",
    "null", "\"", "\"\"\"", "'", "'''", "\\", "\\u0000", "\\ud800", "\u{feff}", "\r", "\r\n", "\n",
    "\t", "#", "# c\n", "{", "}", "[", "]", "[[", "]]", ",", "=", ":", ".", " ", "[[release]]\n",
    "[release]\n", "[[\"release\"]]\n", "[[release.x]]\n", "[release.x]\n", "[delta]\n",
    "release = []\n", "release.x = 1\n", "epsilon = 1\n", "delta = 0.5\n", "count = 2\n",
    "\"epsilon\": 1,", "\"name\": \"x\",", "name = \"y\"\n", "mechanism = \"approx-dp\"\n",
    "rate = 0.5\n", "group = 2\n", "sigma = 1\n", "[1.5, 2]", "epochs = 3\n", "batch = 7\n",
    "examples = 70\n", "partition = \"p\"\n", "\"rate\": 1,", "orders = [2]\n",
];

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end.max(1) as u64) as usize
    }

    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        let longest = if self.below(4) == 0 { length } else { 12 };
        start..(start + self.below(longest)).min(length)
    }
}

fn mutate(text: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let range = random.range(text.len());
    let fragment = FRAGMENTS[random.below(FRAGMENTS.len())].bytes();
    match random.below(8) {
        0 => drop(text.drain(range)),
        1 => text.truncate(range.start),
        2 => {
            let copy = text[range.clone()].to_vec();
            let at = random.below(text.len() + 1);
            text.splice(at..at, copy);
        }
        3 => {
            let from = random.range(other.len());
            text.splice(range, other[from].iter().copied());
        }
        4 if !text.is_empty() => {
            let at = random.below(text.len());
            text[at] ^= 1 << random.below(8);
        }
        5 => drop(text.splice(range, fragment)),
        _ => drop(text.splice(range.start..range.start, fragment)),
    }
}

/// True if preparing the plan is fast: wide discrete noise has many atoms.
fn is_small(plan: &Plan) -> bool {
    plan.releases.len() < 10
        && plan.releases.iter().all(|release| match &release.mechanism {
            Mechanism::Geometric { scale, sensitivity } => {
                scale.get() < 100.0 && sensitivity.get() < 100
            }
            Mechanism::DiscreteGaussian { sigma, sensitivity } => {
                sigma.get() < 100.0 && sensitivity.get() < 100
            }
            _ => true,
        })
        && plan.group.get() < 10
}

/// Checks the properties that hold for any bytes; true if the bytes are a plan.
fn check(bytes: &[u8], format: Format) -> bool {
    match Plan::parse(bytes, format) {
        Ok(plan) => {
            if is_small(&plan)
                && let Err(error) = plan.prepare()
            {
                assert!(!error.to_string().contains(char::is_control), "{error}");
            }
            let toml = plan.to_toml().unwrap();
            let json = plan.to_json().unwrap();
            assert_eq!(Plan::parse(toml.as_bytes(), Format::Toml).as_ref(), Ok(&plan));
            assert_eq!(Plan::parse(json.as_bytes(), Format::Json).as_ref(), Ok(&plan));
            true
        }
        Err(error) => {
            let line = error.to_string();
            assert!(!line.is_empty() && line.len() < 1000, "{line}");
            assert!(!line.contains(char::is_control), "{line:?}");
            false
        }
    }
}

/// Checks that a TOML plan reads the same in pieces and whole, and that it is TOML (whose integers may be longer than
/// the 64 bits that every reader must understand).
fn check_pieces(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let text = text.trim_start_matches('\u{feff}');
    let whole = read_in_pieces(text, usize::MAX, Builder::default());
    let pieces = read_in_pieces(text, 1, Builder::default());
    assert_eq!(whole.is_ok(), pieces.is_ok(), "{whole:?}\n{pieces:?}");
    if let (Ok(whole), Ok(pieces)) = (whole, pieces) {
        assert_eq!(whole, pieces);
        assert!(toml::de::DeTable::parse(text).is_ok(), "as one document it is no TOML");
    }
}

fn fuzz(seeds: &[&str], format: Format, random: &mut Random, until: Instant) -> usize {
    let mut corpus: Vec<Vec<u8>> = seeds.iter().map(|seed| seed.as_bytes().to_vec()).collect();
    let mut tried = 0;
    while Instant::now() < until {
        let mut text = corpus[random.below(corpus.len())].clone();
        let other = corpus[random.below(corpus.len())].clone();
        for _ in 0..=random.below(5) {
            mutate(&mut text, &other, random);
        }
        text.truncate(4000);
        let outcome = catch_unwind(|| {
            if format == Format::Toml {
                check_pieces(&text);
            }
            check(&text, format)
        });
        let shown = String::from_utf8_lossy(&text);
        let accepted = outcome.unwrap_or_else(|_| panic!("as {format:?}: {shown:?}"));
        if accepted && corpus.len() < 300 {
            corpus.push(text);
        }
        tried += 1;
    }
    tried
}

#[test]
fn mutated_plans_never_panic_and_round_trip() {
    let seconds = std::env::var("COUNTERPOINT_FUZZ_SECONDS").ok();
    let seconds = seconds.and_then(|text| text.parse().ok()).unwrap_or(5.0);
    let half = Duration::from_secs_f64(seconds / 2.0);
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let toml = fuzz(&TOML, Format::Toml, &mut random, Instant::now() + half);
    let json = fuzz(&JSON, Format::Json, &mut random, Instant::now() + half);
    println!("{toml} mutated TOML plans, {json} JSON");
}

#[test]
fn the_seeds_are_plans() {
    for seed in TOML {
        assert!(check(seed.as_bytes(), Format::Toml), "{seed}");
        check_pieces(seed.as_bytes());
    }
    for seed in JSON {
        assert!(check(seed.as_bytes(), Format::Json), "{seed}");
    }
}

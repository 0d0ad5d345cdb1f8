//! Every mechanism a plan may name, and every way to describe one wrongly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use counterpoint::ask::Unknown;
use counterpoint::mechanism::{
    BatchCap, CellPair, FinitePair, MaxNoise, PrivateSelection, RenyiCurve, RunLaw, ScoreChanges,
    Shifts,
};
use counterpoint::quantity::{
    Buckets, Gamma, GroupSize, MeanRuns, Mu, NoiseBound, NoiseScale, Order, Rate, Rho, RunShape,
    Sensitivity, StepCount, WholeSensitivity,
};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism};
use counterpoint_wire::{Blank, Format, Plan, PlanError};

fn toml(text: &str) -> Result<Plan, PlanError> {
    Plan::parse(text.as_bytes(), Format::Toml)
}

/// A TOML plan of one release with these lines.
fn release(lines: &str) -> Result<Plan, PlanError> {
    toml(&format!("[[release]]\n{lines}\n"))
}

fn noise(value: f64) -> NoiseScale {
    NoiseScale::new(value).unwrap()
}

fn sensitivity(value: f64) -> Sensitivity {
    Sensitivity::new(value).unwrap()
}

fn steps(value: u64) -> WholeSensitivity {
    WholeSensitivity::new(value).unwrap()
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).unwrap()
}

fn delta(value: f64) -> Delta {
    Delta::new(value).unwrap()
}

#[test]
fn every_mechanism_is_read_with_its_defaults_and_written_back() {
    let guarantee = |epsilon, delta| Guarantee::new(epsilon, delta).unwrap().into();
    let (one, three) = (sensitivity(1.0), sensitivity(3.0));
    let response = |buckets| Mechanism::RandomizedResponse {
        epsilon: epsilon(0.5),
        buckets: Buckets::new(buckets).unwrap(),
    };
    let staircase = |gamma: Option<f64>| Mechanism::Staircase {
        epsilon: epsilon(1.0),
        gamma: gamma.map(|gamma| Gamma::new(gamma).unwrap()),
    };
    let rho = Rho::new(0.25).unwrap();
    let cases = [
        ("'approx-dp'\nepsilon = 0.5", guarantee(0.5, 0.0)),
        ("'approx-dp'\nepsilon = 0.5\ndelta = 1e-9", guarantee(0.5, 1e-9)),
        ("'laplace'\nscale = 10", Mechanism::Laplace { scale: noise(10.0), sensitivity: one }),
        (
            "'laplace'\nscale = 10.0\nsensitivity = 3",
            Mechanism::Laplace { scale: noise(10.0), sensitivity: three },
        ),
        (
            "'geometric'\nscale = 0.5",
            Mechanism::Geometric { scale: noise(0.5), sensitivity: steps(1) },
        ),
        (
            "'geometric'\nscale = 0.5\nsensitivity = 3",
            Mechanism::Geometric { scale: noise(0.5), sensitivity: steps(3) },
        ),
        ("'gaussian'\nsigma = 2", Mechanism::Gaussian { sigma: noise(2.0), sensitivity: one }),
        (
            "'gaussian'\nsigma = 2\nsensitivity = 3.0",
            Mechanism::Gaussian { sigma: noise(2.0), sensitivity: three },
        ),
        (
            "'discrete-gaussian'\nsigma = 2",
            Mechanism::DiscreteGaussian { sigma: noise(2.0), sensitivity: steps(1) },
        ),
        (
            "'discrete-gaussian'\nsigma = 2\nsensitivity = 7",
            Mechanism::DiscreteGaussian { sigma: noise(2.0), sensitivity: steps(7) },
        ),
        ("'randomized-response'\nepsilon = 0.5", response(2)),
        ("'randomized-response'\nepsilon = 0.5\nbuckets = 5", response(5)),
        ("'exponential'\nepsilon = 0.5", Mechanism::Exponential { epsilon: epsilon(0.5) }),
        ("'staircase'\nepsilon = 1", staircase(None)),
        ("'staircase'\nepsilon = 1\nsensitivity = 4\ngamma = 0.25", staircase(Some(0.25))),
        ("'name-and-shame'\ndelta = 1e-9", Mechanism::NameAndShame { delta: delta(1e-9) }),
        ("'zcdp'\nrho = 0.25", Mechanism::Zcdp { rho, delta: delta(0.0) }),
        ("'zcdp'\nrho = 0.25\ndelta = 1e-9", Mechanism::Zcdp { rho, delta: delta(1e-9) }),
        ("'tcdp'\nrho = 0.25\nomega = 8", Mechanism::Tcdp { rho, omega: Order::new(8.0).unwrap() }),
        (
            "'rdp'\norders = [1.5, 2, 32]\nepsilons = [0.1, 0.2, 3]",
            Mechanism::Rdp(RenyiCurve::new(&[1.5, 2.0, 32.0], &[0.1, 0.2, 3.0]).unwrap()),
        ),
        ("'gdp'\nmu = 0.5", Mechanism::Gdp { mu: Mu::new(0.5).unwrap() }),
        (
            "'sparse-vector'\nepsilon_threshold = 0.1\nepsilon_queries = 0.2",
            Mechanism::SparseVector { threshold: epsilon(0.1), queries: epsilon(0.2) },
        ),
        (
            "'above-threshold'\nepsilon_threshold = 0.1\nepsilon_queries = 0.2",
            Mechanism::AboveThreshold { threshold: epsilon(0.1), queries: epsilon(0.2) },
        ),
        (
            "'finite'\np = [0.5, 0.5, 0]\nq = [0.25, 0.5, 0.25]",
            Mechanism::Finite(FinitePair::new(&[0.5, 0.5, 0.0], &[0.25, 0.5, 0.25]).unwrap()),
        ),
        (
            "'gaussian-draws'\nsigma = 2\nrecords = 100\ndraws = 10",
            Mechanism::GaussianDraws {
                sigma: noise(2.0),
                sensitivity: Sensitivity::new(1.0).unwrap(),
                records: Count::new(100).unwrap(),
                draws: Count::new(10).unwrap(),
            },
        ),
        (
            "'gaussian-allocation'\nsigma = 2\nsteps = 100",
            Mechanism::GaussianAllocation {
                sigma: noise(2.0),
                sensitivity: Sensitivity::new(1.0).unwrap(),
                steps: StepCount::new(100).unwrap(),
                each: StepCount::new(1).unwrap(),
            },
        ),
        (
            "'gaussian-batch'\nsigma = 2\nshare = 0.25",
            Mechanism::GaussianBatch {
                sigma: noise(2.0),
                norm: Sensitivity::new(1.0).unwrap(),
                share: Rate::new(0.25).unwrap(),
                cap: None,
            },
        ),
        (
            "'gaussian-batch'\nsigma = 2\nnorm = 3\nshare = 0.25\npeople = 1000\nmost = 300",
            Mechanism::GaussianBatch {
                sigma: noise(2.0),
                norm: Sensitivity::new(3.0).unwrap(),
                share: Rate::new(0.25).unwrap(),
                cap: Some(BatchCap {
                    people: Count::new(1000).unwrap(),
                    most: Count::new(300).unwrap(),
                }),
            },
        ),
        (
            "'gaussian-subset'\nsigma = 2\nshare = 0.25",
            Mechanism::GaussianSubset {
                sigma: noise(2.0),
                sensitivity: Sensitivity::new(1.0).unwrap(),
                share: Rate::new(0.25).unwrap(),
            },
        ),
        (
            "'cells'\np = [0.5, 0.5]\nq = [0.25, 0.75]\nlower = [0.5, -1e300]\nupper = [0.75, -0.25]",
            Mechanism::Cells(
                CellPair::new(&[0.5, 0.5], &[0.25, 0.75], &[0.5, -1e300], &[0.75, -0.25]).unwrap(),
            ),
        ),
        (
            "'gaussian-mixture'\nsigma = 2\nsensitivities = [1, 0, 3]\nprobabilities = [0.5, 0.5, 0]",
            Mechanism::GaussianMixture {
                sigma: noise(2.0),
                shifts: Shifts::new(&[0.0, 1.0], &[0.5, 0.5]).unwrap(),
            },
        ),
        (
            "'report-noisy-max'\nnoise = 'gumbel'\nscale = 2",
            Mechanism::NoisyMax {
                noise: MaxNoise::Gumbel,
                scale: noise(2.0),
                sensitivity: one,
                scores: ScoreChanges::Any,
            },
        ),
        (
            "'report-noisy-max'\nnoise = 'exponential'\nscale = 2\nsensitivity = 3\nscores = 'monotone'",
            Mechanism::NoisyMax {
                noise: MaxNoise::Exponential,
                scale: noise(2.0),
                sensitivity: three,
                scores: ScoreChanges::Monotone,
            },
        ),
        (
            "'truncated-laplace'\nscale = 2\nbound = 30",
            Mechanism::TruncatedLaplace {
                scale: noise(2.0),
                sensitivity: one,
                bound: NoiseBound::new(30.0).unwrap(),
            },
        ),
        (
            "'shuffled-reports'\nepsilon = 0.5\npeople = 1e3",
            Mechanism::ShuffledReports { epsilon: epsilon(0.5), people: Count::new(1000).unwrap() },
        ),
        (
            "'private-selection'\nruns = 'poisson'\nmean = 0.5\n\
             inner = [{ mechanism = 'gaussian', sigma = 2, rate = 0.25, count = 3 }, { mechanism = 'gdp', mu = 1 }]",
            best_of(RunLaw::Poisson, 0.5),
        ),
        (
            "'private-selection'\nruns = 'negative-binomial'\neta = 0.5\nmean = 10\n\
             inner = [{ mechanism = 'gaussian', sigma = 2, rate = 0.25, count = 3 }, { mechanism = 'gdp', mu = 1 }]",
            best_of(RunLaw::NegativeBinomial(RunShape::new(0.5).unwrap()), 10.0),
        ),
        (
            "'private-selection'\nruns = 'geometric'\nmean = 10\n\
             inner = [{ mechanism = 'gaussian', sigma = 2, rate = 0.25, count = 3 }, { mechanism = 'gdp', mu = 1 }]",
            best_of(RunLaw::NegativeBinomial(RunShape::new(1.0).unwrap()), 10.0),
        ),
        (
            "'private-selection'\nruns = 'logarithmic'\nmean = 10\n\
             inner = [{ mechanism = 'gaussian', sigma = 2, rate = 0.25, count = 3 }, { mechanism = 'gdp', mu = 1 }]",
            best_of(RunLaw::NegativeBinomial(RunShape::new(0.0).unwrap()), 10.0),
        ),
    ];
    for (lines, expected) in cases {
        let plan = release(&format!("mechanism = {lines}")).unwrap();
        assert_eq!(plan.releases[0].mechanism, expected, "{lines}");
        assert_eq!((plan.releases[0].count, plan.releases[0].sample.as_ref()), (Count::ONE, None));
        assert_round_trip(&plan);
    }
}

/// A selection of runs that consist of three Gaussian releases on a sample and one of mu 1.
fn best_of(runs: RunLaw, mean: f64) -> Mechanism {
    let gaussian = Mechanism::Gaussian { sigma: noise(2.0), sensitivity: sensitivity(1.0) };
    let sampled = counterpoint::Release {
        rate: Some(Rate::new(0.25).unwrap()),
        ..(gaussian, Count::new(3).unwrap()).into()
    };
    let other = (Mechanism::Gdp { mu: Mu::new(1.0).unwrap() }, Count::ONE).into();
    let selection = PrivateSelection::new(runs, MeanRuns::new(mean).unwrap(), vec![sampled, other]);
    Mechanism::PrivateSelection(selection.unwrap())
}

#[test]
fn selections_are_refused_with_the_field_and_the_entry() {
    let one = "{ mechanism = 'gdp', mu = 1 }";
    let cases = [
        ("runs = 'binomial'\nmean = 2", one, "runs is \"binomial\"; legal: \"geometric\""),
        ("mean = 2", one, "runs is missing"),
        ("runs = 'poisson'\nmean = 2\neta = 1", one, "eta is given with another law"),
        ("runs = 'negative-binomial'\nmean = 2", one, "eta is missing"),
        ("runs = 'negative-binomial'\neta = -1\nmean = 2", one, "eta is -1"),
        ("runs = 'geometric'\nmean = 0.5", one, "mean is 0.5; legal: a number from 1"),
        ("runs = 'geometric'", one, "mean is missing"),
        ("runs = 'geometric'\nmean = 2", "", "inner is empty"),
        ("runs = 'geometric'\nmean = 2", "1", "inner is 1; legal: a list of tables"),
        (
            "runs = 'geometric'\nmean = 2",
            "{ mechanism = 'gdp', mu = 1 }, { mechanism = 'zcdp', rho = 1, rate = 0.5 }",
            "inner is a list; entry 2: rate is not a field of zcdp",
        ),
        (
            "runs = 'geometric'\nmean = 2",
            "{ mechanism = 'laplace', scale = -1 }",
            "inner is a list; entry 1: scale is -1; legal",
        ),
    ];
    for (lines, inner, problem) in cases {
        let text = format!("mechanism = 'private-selection'\n{lines}\ninner = [{inner}]");
        let error = release(&text).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[track_caller]
fn assert_round_trip(plan: &Plan) {
    let (toml, json) = (plan.to_toml().unwrap(), plan.to_json().unwrap());
    assert_eq!(Plan::parse(toml.as_bytes(), Format::Toml).as_ref(), Ok(plan), "{toml}");
    assert_eq!(Plan::parse(json.as_bytes(), Format::Json).as_ref(), Ok(plan), "{json}");
}

#[test]
fn samples_parts_and_groups_are_read_and_written_back() {
    let sampled = [
        "approx-dp'\nepsilon = 1",
        "laplace'\nscale = 1",
        "gaussian'\nsigma = 1",
        "discrete-gaussian'\nsigma = 1",
        "geometric'\nscale = 1",
        "randomized-response'\nepsilon = 1",
        "exponential'\nepsilon = 1",
        "staircase'\nepsilon = 1",
        "name-and-shame'\ndelta = 0.1",
        "gdp'\nmu = 1",
        "sparse-vector'\nepsilon_threshold = 1\nepsilon_queries = 1",
        "above-threshold'\nepsilon_threshold = 1\nepsilon_queries = 1",
        "finite'\np = [0.5, 0.5]\nq = [0.25, 0.75]",
        "gaussian-mixture'\nsigma = 1\nsensitivities = [1, 2]\nprobabilities = [0.5, 0.5]",
        "cells'\np = [0.5, 0.5]\nq = [0.5, 0.5]\nlower = [0, -1]\nupper = [1, 0]",
    ];
    for lines in sampled {
        let text = format!(
            "adjacency = 'add-remove'\ngroup = 3\n[[release]]\nmechanism = '{lines}\nrate = 0.25\n\
             partition = 'north'\n[[release]]\nmechanism = '{lines}\nrate = 1\npartition = 'north'\n"
        );
        let plan = toml(&text).unwrap();
        assert_eq!(plan.group, GroupSize::new(3).unwrap());
        let rate = plan.releases[0].sample.as_ref().map(|sample| sample.rate);
        assert_eq!(rate, Some(Rate::new(0.25).unwrap()));
        assert_eq!(plan.releases[1].partition.as_deref(), Some("north"));
        assert!(plan.warnings().is_empty());
        assert_round_trip(&plan);
    }
}

#[test]
fn batches_and_epochs_are_a_rate_and_a_count_and_a_warning() {
    let lines = "name = \"training\"\nmechanism = 'gaussian'\nsigma = 1\nexamples = 60000\n\
                 batch = 600";
    let plan = release(&format!("{lines}\nepochs = 100")).unwrap();
    assert_eq!(plan.releases[0].count, Count::new(10_000).unwrap());
    let rate = plan.releases[0].sample.as_ref().unwrap().rate;
    assert_eq!(rate.get().to_bits(), 0.01_f64.to_bits());
    let warnings = plan.warnings();
    assert_eq!(warnings.len(), 1);
    for words in ["release 1 (\"training\")", "not Poisson samples", "independently", "batch/exam"]
    {
        assert!(warnings[0].contains(words), "{words} in {warnings:?}");
    }
    assert_round_trip(&plan);
    // The batches may be counted, too.
    assert_eq!(release(&format!("{lines}\ncount = 10000")).unwrap(), plan);
    // A batch of everything is no sample.
    let all = release("mechanism = 'gaussian'\nsigma = 1\nexamples = 9\nbatch = 9\nepochs = 2");
    assert!(all.unwrap().warnings().is_empty());
}

/// What is wrong with a release: the field, and the message from there on.
#[track_caller]
fn assert_wrong(outcome: Result<Plan, PlanError>, field: &str, message: &str) {
    let error = outcome.and_then(|plan| plan.prepare()).expect_err(message);
    assert_eq!(error.field.as_deref(), Some(field), "{error}");
    assert_eq!(error.index, Some(1), "{error}");
    let line = error.to_string();
    assert!(!line.contains(char::is_control), "{line:?}");
    let rest = line.strip_prefix("release 1: ").unwrap_or_else(|| panic!("{line}"));
    assert!(rest.starts_with(message), "{message}: {line}");
}

#[test]
fn numbers_that_are_not_legal_are_named_with_the_range() {
    let (noise, order) = (NoiseScale::LEGAL, Order::LEGAL);
    let written = "a whole number from 1 to 100000";
    #[rustfmt::skip]
    let cases = [
        ("gaussian'\nsigma = 0", "sigma is 0", noise),
        ("gaussian'\nsigma = -1", "sigma is -1", noise),
        ("gaussian'\nsigma = nan", "sigma is nan", noise),
        ("gaussian'\nsigma = 1e400", "sigma is 1e400", noise),
        ("gaussian'", "sigma is missing", noise),
        ("gaussian'\nsigma = 1\nsensitivity = 0", "sensitivity is 0", Sensitivity::LEGAL),
        ("gaussian'\nsigma = 1\nsensitivity = -2.5", "sensitivity is -2.5", Sensitivity::LEGAL),
        ("discrete-gaussian'\nsigma = 0.0", "sigma is 0.0", noise),
        ("discrete-gaussian'\nsigma = 1\nsensitivity = 1.5", "sensitivity is 1.5", written),
        ("laplace'\nscale = 0", "scale is 0", noise),
        ("laplace'\nscale = -3", "scale is -3", noise),
        ("geometric'\nscale = 0", "scale is 0", noise),
        ("geometric'\nscale = 1\nsensitivity = 1.5", "sensitivity is 1.5", written),
        ("geometric'\nscale = 1\nsensitivity = 0", "sensitivity is 0", WholeSensitivity::LEGAL),
        ("geometric'\nscale = 1\nsensitivity = 100001", "sensitivity is 100001", WholeSensitivity::LEGAL),
        ("gaussian'\nsigma = 1\nrate = 1.5", "rate is 1.5", Rate::LEGAL),
        ("gaussian'\nsigma = 1\nrate = -0.1", "rate is -0.1", Rate::LEGAL),
        ("laplace'\nscale = 1\nrate = nan", "rate is nan", Rate::LEGAL),
        ("laplace'\nscale = 1\nrate = 'often'", "rate is \"often\"", Rate::LEGAL),
        ("randomized-response'\nepsilon = -1", "epsilon is -1", Epsilon::LEGAL),
        ("randomized-response'\nepsilon = 1\nbuckets = 1", "buckets is 1", Buckets::LEGAL),
        ("randomized-response'\nepsilon = 1\nbuckets = 0", "buckets is 0", Buckets::LEGAL),
        ("exponential'\nepsilon = inf", "epsilon is inf", Epsilon::LEGAL),
        ("exponential'", "epsilon is missing", Epsilon::LEGAL),
        ("staircase'\nepsilon = 1\ngamma = 1.5", "gamma is 1.5", Gamma::LEGAL),
        ("staircase'\nepsilon = 1\nsensitivity = 0", "sensitivity is 0", Sensitivity::LEGAL),
        ("name-and-shame'\ndelta = 1", "delta is 1", Delta::LEGAL),
        ("name-and-shame'", "delta is missing", Delta::LEGAL),
        ("zcdp'\nrho = -1", "rho is -1", Rho::LEGAL),
        ("zcdp'\nrho = 1\ndelta = 1", "delta is 1", Delta::LEGAL),
        ("tcdp'\nrho = 1\nomega = 1", "omega is 1", order),
        ("tcdp'\nrho = 1\nomega = 0.5", "omega is 0.5", order),
        ("tcdp'\nrho = 1", "omega is missing", order),
        ("gdp'\nmu = -1", "mu is -1", Mu::LEGAL),
        ("sparse-vector'\nepsilon_threshold = 1", "epsilon_queries is missing", Epsilon::LEGAL),
        ("sparse-vector'\nepsilon_threshold = -1\nepsilon_queries = 1", "epsilon_threshold is -1",
            Epsilon::LEGAL),
        ("above-threshold'\nepsilon_threshold = 1", "epsilon_queries is missing", Epsilon::LEGAL),
        ("above-threshold'\nepsilon_threshold = 1\nepsilon_queries = -1", "epsilon_queries is -1",
            Epsilon::LEGAL),
        ("gaussian-subset'\nsigma = 1", "share is missing", Rate::LEGAL),
        ("gaussian-subset'\nsigma = 1\nshare = 2", "share is 2", Rate::LEGAL),
        ("gaussian-allocation'\nsigma = 1", "steps is missing", StepCount::LEGAL),
        ("gaussian-allocation'\nsigma = 1\nsteps = 0", "steps is 0", StepCount::LEGAL),
        ("gaussian-allocation'\nsigma = 1\nsteps = 9\neach = 0", "each is 0", StepCount::LEGAL),
        ("gaussian-draws'\nsigma = 1\nrecords = 9", "draws is missing", Count::LEGAL),
        ("gaussian-draws'\nsigma = 1\nrecords = 0\ndraws = 1", "records is 0", Count::LEGAL),
        ("gaussian-batch'\nsigma = 1", "share is missing", Rate::LEGAL),
        ("gaussian-batch'\nsigma = 1\nshare = 0.1\nmost = 3", "people is missing", Count::LEGAL),
        ("gaussian-batch'\nsigma = 1\nshare = 0.1\npeople = 3", "most is missing", Count::LEGAL),
        ("gaussian'\nsigma = 1\npartition = 3", "partition is 3", "a string"),
    ];
    for (lines, problem, legal) in cases {
        let field = problem.split(' ').next().unwrap();
        let outcome = release(&format!("mechanism = '{lines}"));
        assert_wrong(outcome, field, &format!("{problem}; legal: {legal}"));
    }
}

#[test]
fn lists_that_are_not_legal_are_named_with_the_entry() {
    let orders = "numbers above 1, at most 1e12, increasing";
    let rdp =
        |orders: &str, epsilons: &str| format!("rdp'\norders = {orders}\nepsilons = {epsilons}");
    let finite = |p: &str, q: &str| format!("finite'\np = {p}\nq = {q}");
    let cells = |lower: &str, upper: &str| {
        format!("cells'\np = [0.5, 0.5]\nq = [0.25, 0.75]\nlower = {lower}\nupper = {upper}")
    };
    let mixed = |sensitivities: &str, probabilities: &str| {
        format!(
            "gaussian-mixture'\nsigma = 1\nsensitivities = {sensitivities}\nprobabilities = {probabilities}"
        )
    };
    #[rustfmt::skip]
    let cases = [
        (rdp("[2, 1.5]", "[1, 1]"), "orders", format!("orders entry 2 is 1.5; legal: {orders}")),
        (rdp("[2, 2]", "[1, 1]"), "orders", format!("orders entry 2 is 2.0; legal: {orders}")),
        (rdp("[1, 2]", "[1, 1]"), "orders", format!("orders entry 1 is 1.0; legal: {orders}")),
        (rdp("[0.5]", "[1]"), "orders", format!("orders entry 1 is 0.5; legal: {orders}")),
        (rdp("[2, inf]", "[1, 1]"), "orders", format!("orders entry 2 is inf; legal: {orders}")),
        (rdp("[2]", "[-1]"), "epsilons", format!("epsilons entry 1 is -1.0; legal: {}", Epsilon::LEGAL)),
        (rdp("[2, 3]", "[1]"), "orders", "orders has 2 entries and epsilons has 1; legal: equally".into()),
        (rdp("[]", "[]"), "orders", "orders has 0 entries and epsilons has 0; legal: equally".into()),
        (rdp("[2]", "1"), "epsilons", "epsilons is 1; legal: a list of numbers".into()),
        (rdp("[2]", "['x']"), "epsilons", "epsilons entry 1 is \"x\"; legal: a number".into()),
        ("rdp'\norders = [2]".into(), "epsilons", "epsilons is missing; legal: a list of numbers".into()),
        (finite("[0.5, 0.4]", "[0.5, 0.5]"), "p", "p sums to 0.9; legal: 1".into()),
        (finite("[0.5, 0.5]", "[0.5, 0.6]"), "q", "q sums to 1.1; legal: 1".into()),
        (finite("[0.5, 0.5]", "[1]"), "p", "p has 2 entries and q has 1; legal: equally many".into()),
        (finite("[-0.5, 1.5]", "[0.5, 0.5]"), "p", "p entry 1 is -0.5; legal: 0, or a number".into()),
        (finite("[1]", "[nan]"), "q", "q entry 1 is nan; legal: 0, or a number".into()),
        (finite("[1, true]", "[0, 1]"), "p", "p entry 2 is true; legal: a number".into()),
        (mixed("[1, 2]", "[0.5, 0.4]"), "probabilities", "probabilities sums to 0.9; legal: 1".into()),
        (mixed("[-1]", "[1]"), "sensitivities", "sensitivities entry 1 is -1.0; legal: 0, or a positive".into()),
        (mixed("[1]", "[2]"), "probabilities", "probabilities entry 1 is 2.0; legal: 0, or a number".into()),
        (mixed("[1, 2]", "[1]"), "sensitivities", "sensitivities has 2 entries and probabilities has 1".into()),
        (cells("[0, 0]", "[1, 1]"), "lower", "lower entry 2 is 0.0; legal: at most ln p/q".into()),
        (cells("[0, -1]", "[0.5, 0]"), "upper", "upper entry 1 is 0.5; legal: at least ln p/q".into()),
        (cells("[0, -1]", "[1, -2]"), "upper", "upper entry 2 is -2.0; legal: a number of at least".into()),
        (cells("[0]", "[1, 0]"), "p", "p has 2 entries and lower has 1; legal: equally many".into()),
        (finite("[1, 0]", "[0, 1]"), "p", "p and q have no outcome in common; legal: at least".into()),
    ];
    for (lines, field, message) in cases {
        let top = "adjacency = 'add-remove'\n[[release]]\nmechanism = '";
        assert_wrong(toml(&format!("{top}{lines}\n")), field, &message.replace("nan", "NaN"));
    }
}

#[test]
fn fields_in_the_wrong_place() {
    let legal_batches = "rate, or examples and batch";
    let count = Count::LEGAL;
    #[rustfmt::skip]
    let cases = [
        ("zcdp'\nrho = 1\nrate = 0.5", "rate", "is not a field of zcdp; legal: name"),
        ("rdp'\norders = [2]\nepsilons = [1]\nrate = 0.5", "rate", "is not a field of rdp; legal"),
        ("tcdp'\nrho = 1\nomega = 4\nepochs = 3", "epochs", "is not a field of tcdp; legal: name, mechanism"),
        ("gaussian'\nsigma = 1\nepsilon = 1", "epsilon", "is given with sigma; legal: sigma, or epsilon and delta"),
        ("gaussian'\nsigma = 1\ndelta = 1e-6", "delta", "is given with sigma; legal: sigma, or epsilon and delta"),
        ("gaussian'\nepsilon = 1", "delta", "is missing; legal: "),
        ("laplace'\nepsilon = 1\nscale = 1", "epsilon", "is given with scale; legal: scale, or epsilon"),
        ("laplace'\nepsilon = 1\ndelta = 1e-6", "delta", "is not a field of laplace; legal: name"),
        ("laplace'\nepsilon = 0", "epsilon", "is 0 and no scale is found for it: "),
        ("gaussian'\nepsilon = 1\ndelta = 0", "epsilon", "is 1 and no sigma is found for it: at delta 0 no finite"),
        ("laplace'\nscale = 1\nsigma = 1", "sigma", "is not a field of laplace; legal: name"),
        ("gaussian'\nsigma = 1\nepochs = 1", "examples", &format!("is missing beside epochs; legal: {count}")),
        ("gaussian'\nsigma = 1\nexamples = 9\nepochs = 1", "batch", &format!("is missing beside examples; legal: {count}")),
        ("gaussian'\nsigma = 1\nbatch = 9\nepochs = 1", "examples", "is missing beside batch"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3", "epochs", "is missing; legal: epochs, or count"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 10\nepochs = 1", "batch", "is 10; legal: a whole number from 1 to 9"),
        ("gaussian'\nsigma = 1\nexamples = 0\nbatch = 1\nepochs = 1", "examples", &format!("is 0; legal: {count}")),
        ("gaussian'\nsigma = 1\nexamples = 9.5\nbatch = 1\nepochs = 1", "examples", "is 9.5; legal: a whole"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\nepochs = 0", "epochs", "is 0; legal: a number above 0"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\nepochs = 1e300", "epochs", "is 1e300; legal: a number"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\nepochs = 'x'", "epochs", "is \"x\"; legal: a number"),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\nepochs = 1\nrate = 0.1", "rate", &format!("is given with examples; legal: {legal_batches}")),
        ("gaussian'\nsigma = 1\nepochs = 1\nrate = 0.1", "rate", &format!("is given with epochs; legal: {legal_batches}")),
        ("gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\nepochs = 1\ncount = 3", "count", "is given with epochs; legal: epochs, or count"),
    ];
    for (lines, field, problem) in cases {
        let outcome = release(&format!("mechanism = '{lines}"));
        assert_wrong(outcome, field, &format!("{field} {problem}"));
    }
}

#[test]
fn adjacency_where_it_matters_and_groups() {
    let gaussian = "mechanism = 'gaussian'\nsigma = 1\n";
    let finite = "mechanism = 'finite'\np = [0.5, 0.5]\nq = [0.25, 0.75]\n";
    let tcdp = "mechanism = 'tcdp'\nrho = 1\nomega = 4\n";
    #[rustfmt::skip]
    let cases = [
        ("", gaussian, "rate = 0.5", "adjacency", "adjacency is missing; the guarantee of a Poisson sample depends on it; legal: add-remove (one data set has one person more); no bound is proved under replace"),
        ("", finite, "", "adjacency", "adjacency is missing; "),
        ("", "mechanism = 'gaussian-batch'\nsigma = 1\nshare = 0.1", "", "adjacency", "adjacency is missing; "),
        ("", gaussian, "partition = 'a'", "partition", "partition is given with adjacency missing; legal: add-remove"),
        ("adjacency = 'replace'\n", gaussian, "rate = 0.5", "rate", "rate is given with adjacency replace; legal: add-remove"),
        ("adjacency = 'replace'\n", gaussian, "partition = 'a'", "partition", "partition is given with adjacency replace; legal: add-remove"),
        ("adjacency = 'replace'\n", finite, "", "p", "p and q differ when exchanged; legal"),
        ("group = 4\n", tcdp, "", "group", "group is 4 for a tcdp release whose omega is not above that; legal: 1"),
        ("group = 2\nadjacency = 'add-remove'\n", gaussian, "rate = 0.5", "group", "group is 2 for a release on a Poisson sample, whose bound is proved for one person; legal: 1"),
        ("", gaussian, "sensitivity = 1e7", "sensitivity", "sensitivity / sigma is 10000000; legal: "),
    ];
    for (top, lines, more, field, message) in cases {
        assert_wrong(toml(&format!("{top}[[release]]\n{lines}{more}\n")), field, message);
    }
    for (given, shown) in [("0", "0"), ("-1", "-1"), ("1000001", "1000001"), ("1.5", "1.5")] {
        let error = toml(&format!("group = {given}\n[[release]]\n{gaussian}")).unwrap_err();
        let start = format!("group is {shown}; legal: {}", GroupSize::LEGAL);
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    let error = toml(&format!(
        "[[release]]\n{gaussian}[[release]]\nname = 'second'\n{gaussian}rate = 0.5\n"
    ));
    let error = error.unwrap().prepare().unwrap_err().to_string();
    assert!(error.starts_with("release 2 (\"second\"): adjacency is missing; "), "{error}");
}

#[test]
fn what_is_to_be_found_may_be_left_out_where_it_is() {
    let text = "[[release]]\nname = 'a'\nmechanism = 'gaussian'\n\
                [[release]]\nname = 'b'\nmechanism = 'gaussian'\nsigma = 2\n\
                [[release]]\nmechanism = 'laplace'\nscale = 3\n";
    assert!(toml(text).unwrap_err().to_string().contains("sigma is missing; legal: "));
    let blank = |text: &str, unknown, release| {
        Plan::parse_with_blank(text.as_bytes(), Format::Toml, Blank { unknown, release })
    };
    assert_eq!(blank(text, Unknown::Sigma, None).unwrap().blanks, [0]);
    assert_eq!(blank(text, Unknown::Sigma, Some("a")).unwrap().blanks, [0]);
    let error = blank(text, Unknown::Sigma, Some("b")).unwrap_err().to_string();
    assert!(error.starts_with("release 1 (\"a\"): sigma is missing; "), "{error}");
    let error = blank(text, Unknown::Scale, None).unwrap_err().to_string();
    assert!(error.starts_with("release 1 (\"a\"): sigma is missing; "), "{error}");
    // A value that is there is still checked, and a field that has no place stays out of place.
    let error = blank("[[release]]\nmechanism = 'gaussian'\nsigma = 0", Unknown::Sigma, None);
    assert!(error.unwrap_err().to_string().contains("sigma is 0; legal: "));
    let batches = "[[release]]\nmechanism = 'gaussian'\nsigma = 1\nexamples = 9\nbatch = 3\n";
    assert_eq!(blank(batches, Unknown::Count, None).unwrap().blanks, [0]);
    assert!(blank(batches, Unknown::Sigma, None).is_err());
}

/// Whoever reads a plan without saying where its files are has none read: services, ledgers, the Python package.
#[test]
fn files_are_read_only_where_there_is_a_folder_for_them() {
    let text = "[[release]]\nmechanism = 'cells'\ncsv = 'mechanisms.rs'";
    let problem = "csv is given where no files are read; legal: p, q, lower and upper";
    let error = toml(text).unwrap_err().to_string();
    assert!(error.contains(problem), "{error}");
    let exact = counterpoint_wire::ledger::ExactPlan::parse(text.as_bytes(), Format::Toml);
    let error = exact.unwrap_err().to_string();
    assert!(error.contains(problem), "{error}");
}

/// Laplace noise by epsilon has the scale sensitivity/epsilon, and Gaussian noise by epsilon and delta the sigma of
/// the analytic Gaussian mechanism (Balle and Wang 2018, Algorithm 1): 3.7306316348 at (1, 1e-5).
#[test]
fn noise_by_the_guarantee_it_is_to_have() {
    let scale = |lines: &str| match release(lines).unwrap().releases[0].mechanism {
        Mechanism::Laplace { scale, .. } => scale.get(),
        Mechanism::Gaussian { sigma, .. } => sigma.get(),
        _ => f64::NAN,
    };
    for (epsilon, sensitivity) in [(0.1, 1.0), (0.5, 3.0), (0.3, 200.0), (7.0, 0.01)] {
        let lines =
            format!("mechanism = 'laplace'\nepsilon = {epsilon}\nsensitivity = {sensitivity}");
        let quotient: f64 = sensitivity / epsilon;
        let scale = scale(&lines);
        assert!(scale >= quotient.next_down() && scale <= quotient * (1.0 + 1e-15), "{scale}");
        let cost = release(&lines).unwrap().prepare().unwrap();
        let cost = cost.epsilon(Delta::new(0.0).unwrap(), &Default::default()).unwrap();
        assert!(cost.bracket.upper <= epsilon, "{} {epsilon}", cost.bracket);
    }
    let lines = "mechanism = 'gaussian'\nepsilon = 1\ndelta = 1e-5\nsensitivity = 2";
    let sigma = scale(lines);
    assert!((sigma / 7.461_263_269_6 - 1.0).abs() < 1e-8 && sigma > 7.461_263_269, "{sigma}");
    let cost = release(lines).unwrap().prepare().unwrap();
    let cost = cost.epsilon(Delta::new(1e-5).unwrap(), &Default::default()).unwrap();
    assert!(cost.bracket.upper <= 1.0, "{}", cost.bracket);
    // Equal ones are equal, and what only looks alike is not.
    let twice = toml(&format!(
        "[[release]]\n{lines}\n[[release]]\n{lines}\n[[release]]\nmechanism = 'gaussian'\nepsilon = 1\n\
         delta = 1e-5\n[[release]]\nmechanism = 'laplace'\nepsilon = 1\nsensitivity = 2\n[[release]]\n\
         mechanism = 'laplace'\nepsilon = 1\nsensitivity = 2\n"
    ));
    let twice = twice.unwrap().releases;
    assert!(twice[0] == twice[1] && twice[0] != twice[2] && twice[3] == twice[4]);
    assert_eq!(
        twice[2].mechanism,
        release("mechanism = 'gaussian'\nepsilon = 1\ndelta = 1e-5").unwrap().releases[0].mechanism
    );
    // What is asked to be found is another thing.
    let blank = Blank { unknown: Unknown::Sigma, release: None };
    let text = format!("[[release]]\n{lines}\n");
    let plan = Plan::parse_with_blank(text.as_bytes(), Format::Toml, blank).unwrap();
    assert!(plan.blanks.is_empty() && plan == release(lines).unwrap());
}

/// What leaves noise out gets it in proportion to its sensitivity.
#[test]
fn what_is_left_out_is_in_proportion_to_sensitivity() {
    let text = "[[release]]\nmechanism = 'laplace'\n\
                [[release]]\nmechanism = 'laplace'\nsensitivity = 200\n\
                [[release]]\nmechanism = 'geometric'\nsensitivity = 3\n";
    let blank = Blank { unknown: Unknown::Scale, release: None };
    let plan = Plan::parse_with_blank(text.as_bytes(), Format::Toml, blank).unwrap();
    let scales: Vec<f64> = plan
        .releases
        .iter()
        .map(|release| Unknown::Scale.value(&release.without_bundle()).unwrap())
        .collect();
    assert_eq!(scales, [1.0, 200.0, 3.0]);
}

/// A matrix mechanism is read as Gaussian noise with its strategy's sensitivity.
#[test]
fn matrix_mechanisms_are_gaussians_of_their_sensitivity() {
    // By hand: two columns of (1, 1/2, 3/8, 5/16) that do not overlap, cut at the end; 4 columns of the identity; the
    // sum of both columns; and the largest column beside 2 = ceil(5/3) runs.
    let root = 1.0 + 0.25 + 0.140_625 + 0.097_656_25;
    let cases: [(&str, f64, u64, Option<f64>); 6] = [
        ("steps = 8\nfactor = 'square-root'\nbands = 4\nseparation = 4", 2.0 * root, 1, None),
        (
            "steps = 8\nfactor = 'square-root'\nbands = 4\nseparation = 4\nparticipations = 1",
            root,
            1,
            None,
        ),
        ("steps = 8\ncoefficients = [3]\nseparation = 2\ncount = 7", 36.0, 7, None),
        ("steps = 2\ncoefficients = [1, 1]\nseparation = 1", 5.0, 1, None),
        (
            "steps = 3\ntheta = [0.5]\nomega = [0.5]\nseparation = 3\nsensitivity = 2",
            4.0 * 1.3125,
            1,
            None,
        ),
        ("steps = 5\ncoefficients = [1, -2, 2]\nrate = 0.25\ncount = 3", 9.0, 6, Some(0.25)),
    ];
    for (lines, square, count, rate) in cases {
        let plan = release(&format!("mechanism = 'gaussian-matrix'\nsigma = 2\n{lines}")).unwrap();
        let found = &plan.releases[0];
        let Mechanism::Gaussian { sigma, sensitivity } = &found.mechanism else {
            panic!("{lines}")
        };
        assert!((sigma.get() - 2.0).abs() < 1e-15, "{lines}");
        let size = sensitivity.get() / square.sqrt();
        assert!((1.0..1.0 + 1e-14).contains(&size), "{lines}: {}", sensitivity.get());
        assert_eq!(found.count.get(), count, "{lines}");
        assert_eq!(found.sample.as_ref().map(|sample| sample.rate.get()), rate, "{lines}");
    }
}

#[test]
fn matrix_mechanisms_that_are_not_legal_are_refused() {
    let cases = [
        ("steps = 0\ncoefficients = [1]", "steps", "steps is 0; legal: a whole number"),
        ("coefficients = [1]", "steps", "steps is missing"),
        ("steps = 4\nseparation = 1", "factor", "factor is missing; legal: \"square-root\""),
        ("steps = 4\nfactor = 'cube'", "factor", "factor is \"cube\"; legal: \"square-root\""),
        ("steps = 4\nfactor = 'square-root'", "separation", "separation is missing"),
        ("steps = 4\nfactor = 'square-root'\nbands = 5", "bands", "bands is 5; legal: at most 4"),
        (
            "steps = 4\nfactor = 'square-root'\ncoefficients = [1]",
            "coefficients",
            "coefficients is given with factor; legal: one of the two",
        ),
        (
            "steps = 4\ntheta = [2]\nomega = [1]",
            "theta",
            "theta entry 1 is 2.0; legal: a number from 0 to 1",
        ),
        (
            "steps = 2\ncoefficients = [1, 1, 1]",
            "coefficients",
            "coefficients has 3 entries; legal: 1 to 2",
        ),
        (
            "steps = 4\ncoefficients = [1]\nrate = 0.1\nseparation = 1",
            "separation",
            "separation is given with rate",
        ),
        (
            "steps = 4\ncoefficients = [1]\nseparation = 1\nexamples = 9\nbatch = 1\nepochs = 1",
            "examples",
            "examples is given for a matrix mechanism; legal: rate",
        ),
    ];
    for (lines, field, problem) in cases {
        let outcome = release(&format!("mechanism = 'gaussian-matrix'\nsigma = 2\n{lines}"));
        assert_wrong(outcome, field, problem);
    }
}

//! The entries of the catalogue, one for each kind of mechanism.

use std::marker::PhantomData;

use counterpoint::mechanism::{
    BatchCap, Cell, CellPair, FinitePair, ListError, MaxNoise, PrivateSelection, RenyiCurve,
    ScoreChanges, Shifts,
};
use counterpoint::quantity::{
    Buckets, Gamma, MeanRuns, Mu, NoiseBound, NoiseScale, Order, Rate, Rho, RunShape, Sensitivity,
    StepCount, WholeSensitivity,
};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism};

use super::inner::InnerReleases;
use super::types::{Bounds, Distances, Divergences, IgnoredNumber, Number, Orders, Probabilities};
use super::words::RunLawName;
use super::{Field, FieldType, MechanismKind, Role, RoundingSide, ValueShape};
use crate::text::error::PlanError;
use crate::text::fields::missing;

/// Describes a field by the type of its number, which knows the legal range.
macro_rules! field {
    ($name:ident, $type:ty, $about:literal $(, $default:literal)?) => {
        Field {
            name: stringify!($name),
            field_type: <$type as Number>::TYPE,
            default: field!(@default $($default)?),
            meaning: $about,
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

/// An entry: the name of the kind, its class in Python, `sampled` if it may run on samples, its meaning; its fields,
/// and the fields that may replace them; and the mechanism that is made of the fields. If the mechanism does not hold
/// its fields as they are, `made` makes it, and the statements after its pattern compute the fields from it.
macro_rules! kind {
    (@sampled sampled) => { true };
    (@sampled whole) => { false };
    (
        $name:literal, $class:ident, $sampled:ident, $meaning:literal,
        $($field:ident: $type:ty $(= $default:literal)?, $about:literal;)*
        $([$($instead:expr),*])?
        => made $made:block, $shape:pat => { $($found:tt)* }
    ) => {
        MechanismKind {
            name: $name,
            class: stringify!($class),
            meaning: $meaning,
            is_sampled: kind!(@sampled $sampled),
            fields: &[$(field!($field, $type, $about $(, $default)?)),*],
            alternatives: &[$($($instead),*)?],
            read: |from| {
                $(let $field: $type = Number::read(from, &field!($field, $type, $about $(, $default)?))?;)*
                $made
            },
            write: |mechanism| match mechanism {
                $shape => {
                    $($found)*
                    Some(vec![$((stringify!($field), $field.value())),*])
                }
                _ => None,
            },
        }
    };
    (
        $name:literal, $class:ident, $sampled:ident, $meaning:literal,
        $($field:ident: $type:ty $(= $default:literal)?, $about:literal;)*
        $([$($instead:expr),*])?
        => $($shape:tt)*
    ) => {
        kind! {
            $name, $class, $sampled, $meaning,
            $($field: $type $(= $default)?, $about;)*
            $([$($instead),*])?
            => made { Ok(Mechanism::$($shape)*) }, Mechanism::$($shape)* => {}
        }
    };
}

/// The epsilon of a guarantee that replaces the noise.
const EPSILON: Field =
    field!(epsilon, Epsilon, "the guarantee; the release gets the least noise that meets it");
const DELTA: Field = field!(delta, Delta, "the additive part of that guarantee");

/// The file that replaces the lists of cells.
const CSV: Field = Field {
    name: "csv",
    field_type: FieldType::new(
        ValueShape::File,
        "the name of a file",
        RoundingSide::Together,
        Role::Other,
    ),
    default: None,
    meaning: "a file beside the plan with these columns",
};

/// The numeric fields of every release and of releases on samples.
pub(super) const NUMBERS: &[Field] = &[
    field!(count, Count, "how many times it is run", "1"),
    field!(rate, Rate, "the rate of the Poisson sample it is run on", "1"),
    field!(examples, Option<Count>, "how many examples there are, in the place of a rate"),
    field!(batch, Option<Count>, "how many of them a batch has on average"),
    Field {
        name: "epochs",
        field_type: FieldType::new(
            ValueShape::Real,
            "a number above 0",
            RoundingSide::Decimal,
            Role::Other,
        ),
        default: None,
        meaning: "how often each example is in a batch on average, in the place of a count",
    },
];

/// All kinds, in the order in which errors name them.
pub const KINDS: &[MechanismKind] = &[
    kind! {
        "approx-dp", ApproxDP, sampled,
        "A mechanism of which only an (epsilon, delta) guarantee is known",
        epsilon: Epsilon, "the multiplicative part";
        delta: Delta = "0", "the additive part";
        => ApproxDp(Guarantee { epsilon, delta })
    },
    kind! {
        "laplace", Laplace, sampled,
        "A number plus Laplace noise. Its epsilon is sensitivity / scale",
        scale: NoiseScale, "the noise's scale";
        sensitivity: Sensitivity = "1", "how far one person can move the number";
        [EPSILON]
        => Laplace { scale, sensitivity }
    },
    kind! {
        "truncated-laplace", TruncatedLaplace, sampled,
        "A number plus Laplace noise, given that the noise is within bounds",
        scale: NoiseScale, "the noise's scale";
        sensitivity: Sensitivity = "1", "how far one person can move the number";
        bound: NoiseBound, "the largest amount of noise";
        => TruncatedLaplace { scale, sensitivity, bound }
    },
    kind! {
        "geometric", Geometric, sampled,
        "A whole number plus geometric (discrete Laplace) noise, whose masses fall by e^(-1/scale) a step",
        scale: NoiseScale, "the noise's scale";
        sensitivity: WholeSensitivity = "1", "how far one person can move the number";
        => Geometric { scale, sensitivity }
    },
    kind! {
        "gaussian", Gaussian, sampled,
        "A number or vector plus Gaussian noise",
        sigma: NoiseScale, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one person can move it";
        [EPSILON, DELTA]
        => Gaussian { sigma, sensitivity }
    },
    kind! {
        "discrete-gaussian", DiscreteGaussian, sampled,
        "A whole number plus discrete Gaussian noise, with masses proportional to e^(-x^2 / 2 sigma^2)",
        sigma: NoiseScale, "the noise's parameter";
        sensitivity: WholeSensitivity = "1", "how far one person can move the number";
        => DiscreteGaussian { sigma, sensitivity }
    },
    kind! {
        "randomized-response", RandomizedResponse, sampled,
        "The true answer with probability e^epsilon / (e^epsilon + buckets - 1), else one of the others at random",
        epsilon: Epsilon, "its guarantee";
        buckets: Buckets = "2", "how many answers there are";
        => RandomizedResponse { epsilon, buckets }
    },
    kind! {
        "exponential", Exponential, sampled,
        "The exponential mechanism, given by its epsilon, which is also its range (bounded range)",
        epsilon: Epsilon, "its guarantee";
        => Exponential { epsilon }
    },
    kind! {
        "report-noisy-max", ReportNoisyMax, sampled,
        "The name of the largest of several scores after noise was added to each score: with Gumbel noise the exponential \
         mechanism, with exponential noise permute-and-flip",
        noise: MaxNoise, "the law of the noise";
        scale: NoiseScale, "the noise's scale";
        sensitivity: Sensitivity = "1", "how far one person can move a score";
        scores: ScoreChanges = "any", "\"monotone\" if adding a person makes no score fall, or no score rise";
        => NoisyMax { noise, scale, sensitivity, scores }
    },
    kind! {
        "staircase", Staircase, sampled,
        "A number plus staircase noise (Geng and Viswanath)",
        epsilon: Epsilon, "its guarantee";
        // The noise is scaled by the sensitivity, so the loss does not depend on it.
        sensitivity: IgnoredNumber<Sensitivity> = "1", "changes nothing";
        gamma: Option<Gamma> = "1/(1+e^(epsilon/2))", "where a step is cut";
        => made {
            let IgnoredNumber(PhantomData) = sensitivity;
            Ok(Mechanism::Staircase { epsilon, gamma })
        },
        Mechanism::Staircase { epsilon, gamma } => {
            let sensitivity = IgnoredNumber::<Sensitivity>(PhantomData);
        }
    },
    kind! {
        "name-and-shame", NameAndShame, sampled,
        "Everything revealed with probability delta, nothing otherwise",
        delta: Delta, "that probability";
        => NameAndShame { delta }
    },
    kind! {
        "zcdp", ZCDP, whole,
        "A mechanism of which only rho-zCDP (Bun and Steinke 2016) is known, except for a leak of delta",
        rho: Rho, "the slope of its Rényi curve";
        delta: Delta = "0", "the leak";
        => Zcdp { rho, delta }
    },
    kind! {
        "tcdp", TCDP, whole,
        "A mechanism of which only (rho, omega)-tCDP (Bun, Dwork, Rothblum and Steinke 2018) is known",
        rho: Rho, "the slope of its Rényi curve";
        omega: Order, "the order up to which the curve holds";
        => Tcdp { rho, omega }
    },
    kind! {
        "rdp", RDP, whole,
        "A mechanism of which only bounds on its Rényi divergences are known",
        orders: Orders, "orders above 1, rising";
        epsilons: Divergences, "the divergence at each order";
        => made { RenyiCurve::new(&orders.0, &epsilons.0).map(Mechanism::Rdp).map_err(list) },
        Mechanism::Rdp(curve) => {
            let (orders, epsilons) = curve.points().iter().copied().unzip();
            let (orders, epsilons) = (Orders(orders), Divergences(epsilons));
        }
    },
    kind! {
        "gdp", GDP, sampled,
        "A mechanism of which only mu-Gaussian privacy (Dong, Roth and Su 2022) is known",
        mu: Mu, "it is no easier to attack than N(0, 1) against N(mu, 1)";
        => Gdp { mu }
    },
    kind! {
        "sparse-vector", SparseVector, sampled,
        "Sparse vector with one noisy threshold, charged as pure privacy: the sum of both epsilons (Lyu et al. 2017)",
        epsilon_threshold: Epsilon, "what the threshold's noise spends";
        epsilon_queries: Epsilon, "what the queries' noise spends";
        => SparseVector { threshold: epsilon_threshold, queries: epsilon_queries }
    },
    kind! {
        "above-threshold", AboveThreshold, sampled,
        "Sparse vector charged by its own dominating pair, which costs less than the sum of both epsilons",
        epsilon_threshold: Epsilon, "what the threshold's noise spends";
        epsilon_queries: Epsilon, "what the queries' noise spends, for all answers above";
        => AboveThreshold { threshold: epsilon_threshold, queries: epsilon_queries }
    },
    kind! {
        "finite", Finite, sampled,
        "Outcomes with known probabilities",
        p: Probabilities, "the outcomes' probabilities with the record";
        q: Probabilities, "and without it";
        => made { FinitePair::new(&p.0, &q.0).map(Mechanism::Finite).map_err(list) },
        Mechanism::Finite(pair) => {
            let (p, q) = pair.outcomes().iter().copied().unzip();
            let (p, q) = (Probabilities(p), Probabilities(q));
        }
    },
    kind! {
        "gaussian-mixture", GaussianMixture, sampled,
        "Gaussian noise on a vector that one person moves by a random amount: matrix mechanisms on samples",
        sigma: NoiseScale, "the noise's standard deviation";
        sensitivities: Distances, "how far, in Euclidean norm, one person can move it";
        probabilities: Probabilities, "with which probability";
        => made {
            let shifts = Shifts::new(&sensitivities.0, &probabilities.0).map_err(list)?;
            Ok(Mechanism::GaussianMixture { sigma, shifts })
        },
        Mechanism::GaussianMixture { sigma, shifts } => {
            let (sensitivities, probabilities) = shifts.points().iter().copied().unzip();
            let (sensitivities, probabilities) = (Distances(sensitivities), Probabilities(probabilities));
        }
    },
    kind! {
        "cells", Cells, sampled,
        "A mechanism of your own, with its outcomes cut into cells",
        p: Probabilities, "the cells' probabilities with the record";
        q: Probabilities, "and without it";
        lower: Bounds, "the least of ln p/q in each cell";
        upper: Bounds, "the largest";
        [CSV]
        => made { CellPair::new(&p.0, &q.0, &lower.0, &upper.0).map(Mechanism::Cells).map_err(list) },
        Mechanism::Cells(pair) => {
            let column = |number: fn(&Cell) -> f64| pair.cells().iter().map(number).collect();
            let (p, q) = (Probabilities(column(|cell| cell.p)), Probabilities(column(|cell| cell.q)));
            let (lower, upper) = (Bounds(column(|cell| cell.lower)), Bounds(column(|cell| cell.upper)));
        }
    },
    kind! {
        "gaussian-allocation", GaussianAllocation, whole,
        "Gaussian noise on each of several sums, where each person is in a random choice of the sums; for \
         adjacency \"add-remove\"",
        sigma: NoiseScale, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one person can move a step's sum";
        steps: StepCount, "how many steps there are";
        each: StepCount = "1", "in how many of them a person is";
        => GaussianAllocation { sigma, sensitivity, steps, each }
    },
    kind! {
        "gaussian-batch", GaussianBatch, whole,
        "Gaussian noise on a sum over a Poisson sample",
        sigma: NoiseScale, "the noise's standard deviation";
        norm: Sensitivity = "1", "the largest norm of one person's vector";
        share: Rate, "the probability with which each person is in the sample";
        people: Option<Count>, "as many people as the data may have, if larger samples are cut at random";
        most: Option<Count>, "as many of them as a sample may then have";
        => made {
            let cap = match (people, most) {
                (None, None) => None,
                (Some(people), Some(most)) => Some(BatchCap { people, most }),
                (None, _) => return Err(missing("people", Count::LEGAL)),
                (_, None) => return Err(missing("most", Count::LEGAL)),
            };
            Ok(Mechanism::GaussianBatch { sigma, norm, share, cap })
        },
        Mechanism::GaussianBatch { sigma, norm, share, cap } => {
            let (people, most) = (cap.map(|cap| cap.people), cap.map(|cap| cap.most));
        }
    },
    kind! {
        "gaussian-draws", GaussianDraws, whole,
        "Gaussian noise on a sample of a fixed size with replacement, for adjacency \"replace\"",
        sigma: NoiseScale, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one record in another's place can move it";
        records: Count, "how many records there are";
        draws: Count, "how many times one of them is drawn";
        => GaussianDraws { sigma, sensitivity, records, draws }
    },
    kind! {
        "gaussian-subset", GaussianSubset, whole,
        "Gaussian noise on a sample of a fixed size without replacement, for adjacency \"replace\"",
        sigma: NoiseScale, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, another record in one's place can move it";
        share: Rate, "the sample's share of the data";
        => GaussianSubset { sigma, sensitivity, share }
    },
    kind! {
        "shuffled-reports", ShuffledReports, whole,
        "Reports of people who run a local randomizer each, in random order, for adjacency \"replace\"",
        epsilon: Epsilon, "the guarantee of each local randomizer";
        people: Count, "how many people report";
        => ShuffledReports { epsilon, people }
    },
    kind! {
        "private-selection", PrivateSelection, whole,
        "The best of a random number of runs, as in a search for hyperparameters (Papernot and Steinke 2022)",
        runs: RunLawName, "the law of the number of runs";
        mean: MeanRuns, "how many runs are expected; at least 1, except with \"poisson\"";
        eta: Option<RunShape>, "the shape of a negative binomial law: 1 is geometric, 0 logarithmic";
        inner: InnerReleases, "the releases that one run makes, as tables with a mechanism, its fields, and a rate and a count";
        => made {
            let selection = PrivateSelection::new(runs.law(eta)?, mean, inner.0);
            selection
                .map(Mechanism::PrivateSelection)
                .map_err(|error| PlanError::from_text(error.field(), &error.to_string()))
        },
        Mechanism::PrivateSelection(selection) => {
            let (runs, eta) = RunLawName::of(selection.runs());
            let (mean, inner) = (selection.mean(), InnerReleases(selection.inner().to_vec()));
        }
    },
];

/// Places an error about lists in the field that it is about.
fn list(error: ListError) -> PlanError {
    match error {
        ListError::Number { field, index, value, legal } => {
            PlanError::field(field, format!("entry {} is {value:?}; legal: {legal}", index + 1))
        }
        ListError::Lengths { first, .. } => PlanError::from_text(first, &error.to_string()),
        ListError::Sum { field, .. } => PlanError::from_text(field, &error.to_string()),
        ListError::Shifts { .. } => PlanError::from_text("sensitivities", &error.to_string()),
        _ => PlanError::plan(error.to_string()),
    }
}

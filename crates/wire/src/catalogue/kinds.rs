//! The kinds, an entry each.

use std::marker::PhantomData;

use counterpoint::mechanism::{Cap, Cell, CellPair, FinitePair, ListError, RenyiCurve, Shifts};
use counterpoint::quantity::{
    Buckets, Mu, Noise, Order, Rate, Rho, Rounds, Sensitivity, Share, Steps,
};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism};

use super::types::{Bounds, Distances, Divergences, Ignored, Number, Orders, Probabilities};
use super::{Field, Kind, Role, Shape, Side, Type};
use crate::text::error::PlanError;
use crate::text::fields::missing;

/// Describes a field by its type, which knows the legal range.
macro_rules! field {
    ($name:ident, $type:ty, $about:literal $(, $default:literal)?) => {
        Field {
            name: stringify!($name),
            of: <$type as Number>::TYPE,
            default: field!(@default $($default)?),
            meaning: $about,
        }
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

/// An entry: the kind's name, its class in Python, whether it may be `sampled`, what it means; its fields, and what may stand in
/// their place; and the mechanism, made of them. Where a mechanism is not its fields, `made` makes it, and after a pattern of
/// it come the statements that find its fields again.
macro_rules! kind {
    (@sampled sampled) => { true };
    (@sampled whole) => { false };
    (
        $name:literal, $class:ident, $sampled:ident, $meaning:literal,
        $($field:ident: $type:ty $(= $default:literal)?, $about:literal;)*
        $([$($instead:expr),*])?
        => made $made:block, $shape:pat => { $($found:tt)* }
    ) => {
        Kind {
            name: $name,
            class: stringify!($class),
            meaning: $meaning,
            is_sampled: kind!(@sampled $sampled),
            fields: &[$(field!($field, $type, $about $(, $default)?)),*],
            instead: &[$($($instead),*)?],
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

/// The guarantee that noise may be given by, in its place.
const EPSILON: Field = field!(epsilon, Epsilon, "the guarantee, of which the least noise is found");
const DELTA: Field = field!(delta, Delta, "the additive part of that guarantee");

/// The file that cells may be given in.
const CSV: Field = Field {
    name: "csv",
    of: Type::new(Shape::File, "the name of a file", Side::Together, Role::Other),
    default: None,
    meaning: "a file beside the plan with these columns",
};

/// The fields with numbers that releases of every kind have, or those on samples.
pub(super) const NUMBERS: &[Field] = &[
    field!(count, Count, "how many times it is run", "1"),
    field!(rate, Rate, "the rate of the Poisson sample it is run on", "1"),
    field!(examples, Option<Count>, "how many examples there are, in the place of a rate"),
    field!(batch, Option<Count>, "how many of them a batch has on average"),
    Field {
        name: "epochs",
        of: Type::new(Shape::Real, "a number above 0", Side::Decimal, Role::Other),
        default: None,
        meaning: "how often each example is in a batch on average, in the place of a count",
    },
];

/// All kinds, in the order in which errors name them.
pub const KINDS: &[Kind] = &[
    kind! {
        "approx-dp", ApproxDP, sampled,
        "Any mechanism with an (epsilon, delta) guarantee, of which nothing else is known",
        epsilon: Epsilon, "the multiplicative part";
        delta: Delta = "0", "the additive part";
        => ApproxDp(Guarantee { epsilon, delta })
    },
    kind! {
        "laplace", Laplace, sampled,
        "A number plus Laplace noise: epsilon is sensitivity / scale",
        scale: Noise, "the noise's scale";
        sensitivity: Sensitivity = "1", "how far one person can move the number";
        [EPSILON]
        => Laplace { scale, sensitivity }
    },
    kind! {
        "geometric", Geometric, sampled,
        "A whole number plus discrete Laplace noise, whose masses fall by e^(-1/scale) a step",
        scale: Noise, "the noise's scale";
        sensitivity: Steps = "1", "how far one person can move the number";
        => Geometric { scale, sensitivity }
    },
    kind! {
        "gaussian", Gaussian, sampled,
        "A number or vector plus Gaussian noise of standard deviation sigma",
        sigma: Noise, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one person can move it";
        [EPSILON, DELTA]
        => Gaussian { sigma, sensitivity }
    },
    kind! {
        "discrete-gaussian", DiscreteGaussian, sampled,
        "A whole number plus discrete Gaussian noise, masses proportional to e^(-x^2 / 2 sigma^2)",
        sigma: Noise, "the noise's parameter";
        sensitivity: Steps = "1", "how far one person can move the number";
        => DiscreteGaussian { sigma, sensitivity }
    },
    kind! {
        "randomized-response", RandomizedResponse, sampled,
        "The true answer with probability e^epsilon / (e^epsilon + buckets - 1), else any of the others",
        epsilon: Epsilon, "its guarantee";
        buckets: Buckets = "2", "how many answers there are";
        => RandomizedResponse { epsilon, buckets }
    },
    kind! {
        "exponential", Exponential, sampled,
        "The exponential mechanism, by its guarantee, which is also its range (bounded range)",
        epsilon: Epsilon, "its guarantee";
        => Exponential { epsilon }
    },
    kind! {
        "staircase", Staircase, sampled,
        "A number plus staircase noise (Geng and Viswanath), cut at gamma or at the best place",
        epsilon: Epsilon, "its guarantee";
        // The noise is scaled by it, so the loss does not depend on it.
        sensitivity: Ignored<Sensitivity> = "1", "changes nothing";
        gamma: Option<Share> = "1/(1+e^(epsilon/2))", "where a step is cut";
        => made {
            let Ignored(PhantomData) = sensitivity;
            Ok(Mechanism::Staircase { epsilon, gamma })
        },
        Mechanism::Staircase { epsilon, gamma } => {
            let sensitivity = Ignored::<Sensitivity>(PhantomData);
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
        "Any mechanism with rho-zCDP (Bun and Steinke 2016), but for a leak of delta",
        rho: Rho, "the slope of its Rényi curve";
        delta: Delta = "0", "the leak";
        => Zcdp { rho, delta }
    },
    kind! {
        "tcdp", TCDP, whole,
        "Any mechanism with (rho, omega)-tCDP (Bun, Dwork, Rothblum and Steinke 2018)",
        rho: Rho, "the slope of its Rényi curve";
        omega: Order, "the order up to which the curve holds";
        => Tcdp { rho, omega }
    },
    kind! {
        "rdp", RDP, whole,
        "Any mechanism whose Rényi divergences at these orders are at most these epsilons",
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
        "Any mechanism with mu-Gaussian privacy (Dong, Roth and Su 2022)",
        mu: Mu, "it is no easier to attack than N(0, 1) against N(mu, 1)";
        => Gdp { mu }
    },
    kind! {
        "sparse-vector", SparseVector, sampled,
        "Sparse vector with one noisy threshold, as pure privacy: it costs the sum of both (Lyu et al. 2017)",
        epsilon_threshold: Epsilon, "what the threshold's noise spends";
        epsilon_queries: Epsilon, "what the queries' noise spends";
        => SparseVector { threshold: epsilon_threshold, queries: epsilon_queries }
    },
    kind! {
        "above-threshold", AboveThreshold, sampled,
        "Sparse vector by a pair of its own, which costs less than the sum: one noisy threshold, stopped at the last of the \
         answers above it that were declared. Thresholds drawn anew are a `count`",
        epsilon_threshold: Epsilon, "what the threshold's noise spends";
        epsilon_queries: Epsilon, "what the queries' noise spends, for all answers above";
        => AboveThreshold { threshold: epsilon_threshold, queries: epsilon_queries }
    },
    kind! {
        "finite", Finite, sampled,
        "Outcomes with known probabilities: p with the person's record, q without it",
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
        "Gaussian noise on what a person's data move by an amount drawn at random: matrix mechanisms on samples",
        sigma: Noise, "the noise's standard deviation";
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
        "Your own mechanism, its outcomes cut into cells: p with the person's record and q without it, and in each cell a \
         lower and an upper bound on ln p/q",
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
        "Gaussian noise on each of `steps` sums, each person being in `each` of them, drawn at random",
        sigma: Noise, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one person can move a step's sum";
        steps: Rounds, "how many steps there are";
        each: Rounds = "1", "in how many of them a person is";
        => GaussianAllocation { sigma, sensitivity, steps, each }
    },
    kind! {
        "gaussian-batch", GaussianBatch, whole,
        "Gaussian noise on a sum over a Poisson sample, in which each person is with probability `share`",
        sigma: Noise, "the noise's standard deviation";
        norm: Sensitivity = "1", "the largest norm of one person's vector";
        share: Rate, "the probability with which each person is in the sample";
        people: Option<Count>, "as many people as the data may have, if larger samples are cut at random";
        most: Option<Count>, "as many of them as a sample may then have";
        => made {
            let cap = match (people, most) {
                (None, None) => None,
                (Some(people), Some(most)) => Some(Cap { people, most }),
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
        "Gaussian noise on a sample of a fixed size with replacement: `draws` times one of `records` is drawn",
        sigma: Noise, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, one record in another's place can move it";
        records: Count, "how many records there are";
        draws: Count, "how many times one of them is drawn";
        => GaussianDraws { sigma, sensitivity, records, draws }
    },
    kind! {
        "gaussian-subset", GaussianSubset, whole,
        "Gaussian noise on a sample of a fixed size without replacement, which is `share` of the data",
        sigma: Noise, "the noise's standard deviation";
        sensitivity: Sensitivity = "1", "how far, in Euclidean norm, another record in one's place can move it";
        share: Rate, "the sample's share of the data";
        => GaussianSubset { sigma, sensitivity, share }
    },
];

/// What is wrong with lists, placed in the field it is about.
fn list(error: ListError) -> PlanError {
    match error {
        ListError::Number { field, index, value, legal } => {
            PlanError::field(field, format!("entry {} is {value:?}; legal: {legal}", index + 1))
        }
        ListError::Lengths { first, .. } => PlanError::starting(first, &error.to_string()),
        ListError::Sum { field, .. } => PlanError::starting(field, &error.to_string()),
        ListError::Shifts { .. } => PlanError::starting("sensitivities", &error.to_string()),
        _ => PlanError::plan(error.to_string()),
    }
}

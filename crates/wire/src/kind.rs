//! The kinds of mechanism a plan can name: one entry in [`KINDS`] and one arm in
//! [`describe`] each.

use counterpoint::ask::{CalibrateError, Options, Search, Unknown, calibrate};
use counterpoint::mechanism::{Cap, CellPair, FinitePair, ListError, RenyiCurve, Shifts};
use counterpoint::quantity::{
    Buckets, Group, Mu, Noise, Order, Rate, Rho, Rounds, Sensitivity, Share, Steps, plain,
};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism, Release};

use crate::error::PlanError;
use crate::fields::{Fields, illegal, missing, number};
use crate::value::{Table, Value};

/// How one kind is read.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// Its own fields, besides those every release has.
    fields: &'static [&'static str],
    /// Whether it may run on a Poisson sample of the data.
    pub(crate) sampled: bool,
    read: fn(&mut Fields<'_>) -> Result<Mechanism, PlanError>,
}

/// Takes a number of a validated type, with a default or without.
macro_rules! take {
    ($fields:ident, $name:literal, $type:ident) => {
        $fields.number($name, None, ($type::new, $type::LEGAL))?
    };
    ($fields:ident, $name:literal, $type:ident, $default:expr) => {
        $fields.number($name, Some($default), ($type::new, $type::LEGAL))?
    };
}

/// Takes a whole number of a validated type, with a default.
macro_rules! whole {
    ($fields:ident, $name:literal, $type:ident, $default:literal) => {
        match $fields.whole($name, ($type::new, $type::LEGAL))? {
            Some(number) => number,
            None => $type::new($default).map_err(|_| missing($name, $type::LEGAL))?,
        }
    };
}

const KINDS: [Kind; 22] = [
    Kind {
        name: "approx-dp",
        fields: &["epsilon", "delta"],
        sampled: true,
        read: |from| {
            let epsilon = take!(from, "epsilon", Epsilon);
            Ok(Guarantee { epsilon, delta: take!(from, "delta", Delta, 0.0) }.into())
        },
    },
    Kind {
        name: "laplace",
        fields: &["scale", "sensitivity"],
        sampled: true,
        read: |from| {
            let sensitivity = take!(from, "sensitivity", Sensitivity, 1.0);
            let laplace = |scale| Mechanism::Laplace { scale, sensitivity };
            noisy(from, Unknown::Scale, laplace)
        },
    },
    Kind {
        name: "geometric",
        fields: &["scale", "sensitivity"],
        sampled: true,
        read: |from| {
            let scale = take!(from, "scale", Noise);
            let sensitivity = whole!(from, "sensitivity", Steps, 1);
            Ok(Mechanism::Geometric { scale, sensitivity })
        },
    },
    Kind {
        name: "gaussian",
        fields: &["sigma", "sensitivity"],
        sampled: true,
        read: |from| {
            let sensitivity = take!(from, "sensitivity", Sensitivity, 1.0);
            let gaussian = |sigma| Mechanism::Gaussian { sigma, sensitivity };
            noisy(from, Unknown::Sigma, gaussian)
        },
    },
    Kind {
        name: "discrete-gaussian",
        fields: &["sigma", "sensitivity"],
        sampled: true,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let sensitivity = whole!(from, "sensitivity", Steps, 1);
            Ok(Mechanism::DiscreteGaussian { sigma, sensitivity })
        },
    },
    Kind {
        name: "randomized-response",
        fields: &["epsilon", "buckets"],
        sampled: true,
        read: |from| {
            let epsilon = take!(from, "epsilon", Epsilon);
            let buckets = whole!(from, "buckets", Buckets, 2);
            Ok(Mechanism::RandomizedResponse { epsilon, buckets })
        },
    },
    Kind {
        name: "exponential",
        fields: &["epsilon"],
        sampled: true,
        read: |from| Ok(Mechanism::Exponential { epsilon: take!(from, "epsilon", Epsilon) }),
    },
    Kind {
        name: "staircase",
        fields: &["epsilon", "sensitivity", "gamma"],
        sampled: true,
        read: |from| {
            let epsilon = take!(from, "epsilon", Epsilon);
            // The noise is scaled by it, so the loss does not depend on it: checked, not kept.
            let _ = take!(from, "sensitivity", Sensitivity, 1.0);
            let gamma = match from.has("gamma") {
                true => Some(take!(from, "gamma", Share)),
                false => None,
            };
            Ok(Mechanism::Staircase { epsilon, gamma })
        },
    },
    Kind {
        name: "name-and-shame",
        fields: &["delta"],
        sampled: true,
        read: |from| Ok(Mechanism::NameAndShame { delta: take!(from, "delta", Delta) }),
    },
    Kind {
        name: "zcdp",
        fields: &["rho", "delta"],
        sampled: false,
        read: |from| {
            let rho = take!(from, "rho", Rho);
            Ok(Mechanism::Zcdp { rho, delta: take!(from, "delta", Delta, 0.0) })
        },
    },
    Kind {
        name: "tcdp",
        fields: &["rho", "omega"],
        sampled: false,
        read: |from| {
            let rho = take!(from, "rho", Rho);
            Ok(Mechanism::Tcdp { rho, omega: take!(from, "omega", Order) })
        },
    },
    Kind {
        name: "rdp",
        fields: &["orders", "epsilons"],
        sampled: false,
        read: |from| {
            let (orders, epsilons) = (from.numbers("orders")?, from.numbers("epsilons")?);
            RenyiCurve::new(&orders, &epsilons).map(Mechanism::Rdp).map_err(list)
        },
    },
    Kind {
        name: "gdp",
        fields: &["mu"],
        sampled: true,
        read: |from| Ok(Mechanism::Gdp { mu: take!(from, "mu", Mu) }),
    },
    Kind {
        name: "sparse-vector",
        fields: &["epsilon_threshold", "epsilon_queries"],
        sampled: true,
        read: |from| {
            let threshold = take!(from, "epsilon_threshold", Epsilon);
            let queries = take!(from, "epsilon_queries", Epsilon);
            Ok(Mechanism::SparseVector { threshold, queries })
        },
    },
    Kind {
        name: "above-threshold",
        fields: &["epsilon_threshold", "epsilon_queries"],
        sampled: true,
        read: |from| {
            let threshold = take!(from, "epsilon_threshold", Epsilon);
            let queries = take!(from, "epsilon_queries", Epsilon);
            Ok(Mechanism::AboveThreshold { threshold, queries })
        },
    },
    Kind {
        name: "finite",
        fields: &["p", "q"],
        sampled: true,
        read: |from| {
            let (p, q) = (from.numbers("p")?, from.numbers("q")?);
            FinitePair::new(&p, &q).map(Mechanism::Finite).map_err(list)
        },
    },
    Kind {
        name: "gaussian-mixture",
        fields: &["sigma", "sensitivities", "probabilities"],
        sampled: true,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let shifts = (from.numbers("sensitivities")?, from.numbers("probabilities")?);
            let shifts = Shifts::new(&shifts.0, &shifts.1).map_err(list)?;
            Ok(Mechanism::GaussianMixture { sigma, shifts })
        },
    },
    Kind {
        name: "cells",
        fields: &["p", "q", "lower", "upper", "csv"],
        sampled: true,
        read: |from| {
            let (p, q) = (from.numbers("p")?, from.numbers("q")?);
            let (lower, upper) = (from.numbers("lower")?, from.numbers("upper")?);
            CellPair::new(&p, &q, &lower, &upper).map(Mechanism::Cells).map_err(list)
        },
    },
    Kind {
        name: "gaussian-allocation",
        fields: &["sigma", "sensitivity", "steps", "each"],
        sampled: false,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let sensitivity = take!(from, "sensitivity", Sensitivity, 1.0);
            let steps = from.whole("steps", (Rounds::new, Rounds::LEGAL))?;
            let steps = steps.ok_or_else(|| missing("steps", Rounds::LEGAL))?;
            let each = whole!(from, "each", Rounds, 1);
            Ok(Mechanism::GaussianAllocation { sigma, sensitivity, steps, each })
        },
    },
    Kind {
        name: "gaussian-batch",
        fields: &["sigma", "norm", "share", "people", "most"],
        sampled: false,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let norm = take!(from, "norm", Sensitivity, 1.0);
            let share = take!(from, "share", Rate);
            let people = from.whole("people", (Count::new, Count::LEGAL))?;
            let most = from.whole("most", (Count::new, Count::LEGAL))?;
            let cap = match (people, most) {
                (None, None) => None,
                (Some(people), Some(most)) => Some(Cap { people, most }),
                (None, _) => return Err(missing("people", Count::LEGAL)),
                (_, None) => return Err(missing("most", Count::LEGAL)),
            };
            Ok(Mechanism::GaussianBatch { sigma, norm, share, cap })
        },
    },
    Kind {
        name: "gaussian-draws",
        fields: &["sigma", "sensitivity", "records", "draws"],
        sampled: false,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let sensitivity = take!(from, "sensitivity", Sensitivity, 1.0);
            let [records, draws] = ["records", "draws"].map(|name| {
                let number = from.whole(name, (Count::new, Count::LEGAL))?;
                number.ok_or_else(|| missing(name, Count::LEGAL))
            });
            let (records, draws) = (records?, draws?);
            Ok(Mechanism::GaussianDraws { sigma, sensitivity, records, draws })
        },
    },
    Kind {
        name: "gaussian-subset",
        fields: &["sigma", "sensitivity", "share"],
        sampled: false,
        read: |from| {
            let sigma = take!(from, "sigma", Noise);
            let sensitivity = take!(from, "sensitivity", Sensitivity, 1.0);
            Ok(Mechanism::GaussianSubset { sigma, sensitivity, share: take!(from, "share", Rate) })
        },
    },
];

/// The fields every release has.
const COMMON: [&str; 4] = ["name", "mechanism", "count", "partition"];

/// The fields a planned release may have.
const PLANNED: [&str; 2] = ["also", "recipe"];

/// The fields a release on a Poisson sample has.
const SAMPLED: [&str; 4] = ["rate", "examples", "batch", "epochs"];

/// The kind a release names.
pub(crate) fn of(fields: &mut Fields<'_>) -> Result<&'static Kind, PlanError> {
    let known = || KINDS.each_ref().map(|kind| kind.name).join(", ");
    let value = fields.take("mechanism").ok_or_else(|| missing("mechanism", &known()))?;
    let kind = match &value {
        Value::Text(text) => KINDS.iter().find(|kind| kind.name == text),
        _ => None,
    };
    kind.ok_or_else(|| illegal("mechanism", &value, &known()))
}

impl Kind {
    /// Takes the mechanism out of the fields of a release.
    pub(crate) fn read(&self, fields: &mut Fields<'_>) -> Result<Mechanism, PlanError> {
        (self.read)(fields)
    }

    /// Whether it has a field of this name of its own.
    pub(crate) fn has(&self, field: &str) -> bool {
        self.fields.contains(&field)
    }

    /// What may stand in the place of a field: the guarantee that noise is to have by itself.
    pub(crate) fn in_place_of(&self, field: &str) -> &'static [&'static str] {
        match (self.name, field) {
            ("laplace", "scale") => &["epsilon"],
            ("gaussian", "sigma") => &["epsilon", "delta"],
            _ => &[],
        }
    }

    /// The field that a guarantee stands in the place of, and all that the noise depends on, as text; `None` where noise
    /// itself is written.
    pub(crate) fn guarantee(&self, fields: &Fields<'_>) -> Option<(&'static str, String)> {
        let noise = match self.name {
            "laplace" => "scale",
            "gaussian" => "sigma",
            _ => return None,
        };
        let epsilon = fields.peek("epsilon").filter(|_| !fields.has(noise))?;
        let shown = |name: &str| fields.peek(name).map(Value::to_string).unwrap_or_default();
        Some((noise, format!("{noise} {epsilon} {} {}", shown("delta"), shown("sensitivity"))))
    }

    /// Every field a release of this kind may have.
    pub(crate) fn legal_fields(&self) -> Vec<&'static str> {
        let sampled = if self.sampled { &SAMPLED[..] } else { &[] };
        let instead = self.fields.iter().flat_map(|field| self.in_place_of(field));
        let own = COMMON.iter().chain(self.fields).chain(instead);
        own.chain(sampled).chain(&PLANNED).copied().collect()
    }
}

/// A mechanism with noise: as much as is written, or the least that is certified to have the guarantee that stands in its
/// place. The guarantee is that of the mechanism alone, run once, on all of the data.
fn noisy(
    from: &mut Fields<'_>,
    unknown: Unknown,
    with: impl Fn(Noise) -> Mechanism,
) -> Result<Mechanism, PlanError> {
    let name = unknown.name();
    let words: &[&str] =
        if unknown == Unknown::Sigma { &["epsilon", "delta"] } else { &["epsilon"] };
    let instead = words.join(" and ");
    let Some(given) = words.iter().find(|word| from.has(word)) else {
        let value = from.take(name).ok_or_else(|| {
            missing(name, &format!("{}; or {instead} in its place", Noise::LEGAL))
        })?;
        return number(name, &value, Noise::new, Noise::LEGAL).map(with);
    };
    if from.has(name) {
        let problem = format!("is given with {name}; legal: {name}, or {instead}");
        return Err(PlanError::field(given, problem));
    }
    let epsilon = take!(from, "epsilon", Epsilon);
    let delta = match unknown {
        Unknown::Sigma => take!(from, "delta", Delta),
        _ => Delta::new(0.0).map_err(|error| PlanError::field("epsilon", error.to_string()))?,
    };
    let any = Noise::new(1.0).map_err(|error| PlanError::field(name, error.to_string()))?;
    least_noise(with(any), unknown, (epsilon, delta)).map_err(|error| {
        let epsilon = plain(epsilon.get());
        PlanError::field("epsilon", format!("is {epsilon} and no {name} is found for it: {error}"))
    })
}

/// The mechanism with the least noise that is certified to be within a guarantee.
fn least_noise(
    mechanism: Mechanism,
    unknown: Unknown,
    (epsilon, delta): (Epsilon, Delta),
) -> Result<Mechanism, CalibrateError> {
    let mut release = Release { mechanism, rate: None, count: Count::ONE, part: None };
    // A start; where it is not legal the search finds another.
    let _ = unknown.clear(&mut release);
    let releases = [release];
    let (adjacency, group) = (None, Group::ONE);
    let search = Search { releases: &releases, varying: &[], unknown, adjacency, group };
    let found = calibrate(&search, epsilon, delta, &Options::default())?;
    let [release] = releases;
    Ok(found.releases.into_iter().next().unwrap_or(release).mechanism)
}

/// From here on a staircase counts as randomized response (docs/theorems.md).
const LONGEST_STAIRCASE: f64 = 500.0;

/// Whether a mechanism is a randomized response, a leak or both, so that its numbers are kept as they are written.
pub(crate) fn is_guarantee(mechanism: &Mechanism) -> bool {
    match mechanism {
        Mechanism::ApproxDp(_) | Mechanism::NameAndShame { .. } => true,
        Mechanism::SparseVector { .. } => true,
        Mechanism::AboveThreshold { threshold, queries } => {
            threshold.get() <= 0.0 || queries.get() <= 0.0
        }
        Mechanism::RandomizedResponse { buckets, .. } => buckets.get() == 2,
        Mechanism::Geometric { sensitivity, .. } => sensitivity.get() == 1,
        Mechanism::Staircase { epsilon, .. } => epsilon.get() >= LONGEST_STAIRCASE,
        _ => false,
    }
}

/// The fields that describe a mechanism, or `None` if the format has no word for it.
pub(crate) fn describe(mechanism: &Mechanism) -> Option<Table<'static>> {
    use Value::Real;
    let whole = |number: u64| Value::Whole(number.into());
    let (kind, own) = match mechanism {
        Mechanism::ApproxDp(guarantee) => (
            "approx-dp",
            vec![
                ("epsilon", Real(guarantee.epsilon.get())),
                ("delta", Real(guarantee.delta.get())),
            ],
        ),
        Mechanism::Laplace { scale, sensitivity } => (
            "laplace",
            vec![("scale", Real(scale.get())), ("sensitivity", Real(sensitivity.get()))],
        ),
        Mechanism::Geometric { scale, sensitivity } => (
            "geometric",
            vec![("scale", Real(scale.get())), ("sensitivity", whole(sensitivity.get()))],
        ),
        Mechanism::Gaussian { sigma, sensitivity } => (
            "gaussian",
            vec![("sigma", Real(sigma.get())), ("sensitivity", Real(sensitivity.get()))],
        ),
        Mechanism::DiscreteGaussian { sigma, sensitivity } => (
            "discrete-gaussian",
            vec![("sigma", Real(sigma.get())), ("sensitivity", whole(sensitivity.get()))],
        ),
        Mechanism::RandomizedResponse { epsilon, buckets } => (
            "randomized-response",
            vec![("epsilon", Real(epsilon.get())), ("buckets", whole(buckets.get()))],
        ),
        Mechanism::Exponential { epsilon } => {
            ("exponential", vec![("epsilon", Real(epsilon.get()))])
        }
        Mechanism::Staircase { epsilon, gamma } => {
            let gamma = gamma.map(|gamma| ("gamma", Real(gamma.get())));
            let epsilon = [("epsilon", Real(epsilon.get()))];
            ("staircase", epsilon.into_iter().chain(gamma).collect())
        }
        Mechanism::NameAndShame { delta } => ("name-and-shame", vec![("delta", Real(delta.get()))]),
        Mechanism::Zcdp { rho, delta } => {
            ("zcdp", vec![("rho", Real(rho.get())), ("delta", Real(delta.get()))])
        }
        Mechanism::Tcdp { rho, omega } => {
            ("tcdp", vec![("rho", Real(rho.get())), ("omega", Real(omega.get()))])
        }
        Mechanism::Rdp(curve) => ("rdp", lists(["orders", "epsilons"], curve.points())),
        Mechanism::Gdp { mu } => ("gdp", vec![("mu", Real(mu.get()))]),
        Mechanism::SparseVector { threshold, queries } => {
            ("sparse-vector", threshold_and_queries(threshold, queries))
        }
        Mechanism::AboveThreshold { threshold, queries } => {
            ("above-threshold", threshold_and_queries(threshold, queries))
        }
        Mechanism::Finite(pair) => ("finite", lists(["p", "q"], pair.outcomes())),
        Mechanism::GaussianMixture { sigma, shifts } => {
            let sigma = [("sigma", Real(sigma.get()))];
            let shifts = lists(["sensitivities", "probabilities"], shifts.points());
            ("gaussian-mixture", sigma.into_iter().chain(shifts).collect())
        }
        Mechanism::GaussianSubset { sigma, sensitivity, share } => (
            "gaussian-subset",
            vec![
                ("sigma", Real(sigma.get())),
                ("sensitivity", Real(sensitivity.get())),
                ("share", Real(share.get())),
            ],
        ),
        Mechanism::GaussianAllocation { sigma, sensitivity, steps, each } => (
            "gaussian-allocation",
            vec![
                ("sigma", Real(sigma.get())),
                ("sensitivity", Real(sensitivity.get())),
                ("steps", whole(steps.get())),
                ("each", whole(each.get())),
            ],
        ),
        Mechanism::GaussianDraws { sigma, sensitivity, records, draws } => (
            "gaussian-draws",
            vec![
                ("sigma", Real(sigma.get())),
                ("sensitivity", Real(sensitivity.get())),
                ("records", whole(records.get())),
                ("draws", whole(draws.get())),
            ],
        ),
        Mechanism::GaussianBatch { sigma, norm, share, cap } => {
            let own = [
                ("sigma", Real(sigma.get())),
                ("norm", Real(norm.get())),
                ("share", Real(share.get())),
            ];
            let cap = cap
                .map(|cap| [("people", whole(cap.people.get())), ("most", whole(cap.most.get()))]);
            ("gaussian-batch", own.into_iter().chain(cap.into_iter().flatten()).collect())
        }
        Mechanism::Cells(pair) => {
            let masses: Vec<_> = pair.cells().iter().map(|cell| (cell.p, cell.q)).collect();
            let bounds: Vec<_> = pair.cells().iter().map(|cell| (cell.lower, cell.upper)).collect();
            let lists = [lists(["p", "q"], &masses), lists(["lower", "upper"], &bounds)];
            ("cells", lists.concat())
        }
        _ => return None,
    };
    let kind = ("mechanism".into(), Value::Text(kind.into()));
    let own = own.into_iter().map(|(name, value)| (name.into(), value));
    Some(std::iter::once(kind).chain(own).collect())
}

fn threshold_and_queries(
    threshold: &Epsilon,
    queries: &Epsilon,
) -> Vec<(&'static str, Value<'static>)> {
    let (threshold, queries) = (Value::Real(threshold.get()), Value::Real(queries.get()));
    vec![("epsilon_threshold", threshold), ("epsilon_queries", queries)]
}

fn lists(names: [&'static str; 2], pairs: &[(f64, f64)]) -> Vec<(&'static str, Value<'static>)> {
    let first = pairs.iter().map(|pair| Value::Real(pair.0)).collect();
    let second = pairs.iter().map(|pair| Value::Real(pair.1)).collect();
    names.into_iter().zip([Value::List(first), Value::List(second)]).collect()
}

/// What is wrong with two lists, placed in the field it is about.
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

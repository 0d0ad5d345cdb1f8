//! The privacy loss of a plan, and the JSON object that carries it.

use counterpoint::Bracket;
use counterpoint::ask::{AskError, Options, PrivacyLoss};
use counterpoint::loss::Direction;
use counterpoint::quantity::Level;
use counterpoint::theorem::Theorem;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::{Ends, InSetting, number, setting};
use crate::decimal::{self, FULL_DIGITS};

/// The levels at which a report tells the loss that is rarely passed.
const LEVELS: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_999];

/// No loss that is asked about is larger.
const MOST_LOSS: f64 = 1e5;

/// At how many losses a report tells the probability of more.
const POINTS: usize = 11;

/// The distributions of the privacy loss of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses {
    /// One for each direction that differs and each part of the data.
    pub losses: Vec<Loss>,
    /// What one should know before relying on them.
    pub warnings: Vec<String>,
}

/// The privacy loss in one direction on one part of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// `remove` or `add`; `remove` where they are the same.
    pub direction: &'static str,
    /// The part of the data, if the plan speaks of parts.
    pub part: Option<String>,
    /// The probability that the loss is infinite.
    pub leak: Bracket,
    /// The mean, given that it is finite.
    pub mean: Bracket,
    /// The variance, given that it is finite.
    pub variance: Bracket,
    /// Levels with the least loss that is passed with probability at most one minus that; perhaps infinite.
    pub quantiles: Vec<(f64, Bracket)>,
    /// Losses with the probability of a larger one, infinite ones included.
    pub above: Vec<(f64, Bracket)>,
    /// All losses with their probabilities, from the largest down, where they are few.
    pub atoms: Option<Vec<(Bracket, Bracket)>>,
}

impl Losses {
    /// Of a plan.
    ///
    /// # Errors
    /// As [`counterpoint::Plan::losses`], and [`PrivacyLoss::above`].
    pub fn of(plan: &counterpoint::Plan, options: &Options<'_>) -> Result<Self, AskError> {
        let losses = plan.losses()?;
        let losses = losses.iter().map(|loss| Loss::of(loss, options)).collect::<Result<_, _>>()?;
        Ok(Self { losses, warnings: Vec::new() })
    }

    /// What licenses them: they are the losses of the pairs that dominate what is released.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        Theorem::DominatingPairs
    }

    /// The `compose --losses --json` object. An end of a bracket that is infinite is `null`.
    ///
    /// # Errors
    /// If a probability is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let theorem = self.theorem();
        serde_json::to_string(&Object {
            losses: self.losses.iter().map(one).collect::<Result<_, _>>()?,
            theorem: theorem.source(),
            setting: setting(theorem.setting()),
            warnings: &self.warnings,
        })
    }
}

impl Loss {
    fn of(loss: &PrivacyLoss<'_>, options: &Options<'_>) -> Result<Self, AskError> {
        let at = |level: Level| Ok((level.get(), loss.quantile(level, options)?));
        let levels = LEVELS.into_iter().filter_map(|level| Level::new(level).ok());
        let atoms = loss.atoms();
        Ok(Self {
            direction: match loss.direction() {
                Direction::Remove => "remove",
                Direction::Add => "add",
            },
            part: loss.part().map(str::to_owned),
            leak: loss.leak(),
            mean: loss.mean(),
            variance: loss.variance(),
            quantiles: levels.map(at).collect::<Result<_, AskError>>()?,
            above: places(loss)
                .map(|place| Ok((place, loss.above(place, options)?)))
                .collect::<Result<_, AskError>>()?,
            atoms: atoms.map(|atoms| atoms.iter().map(|atom| (atom.loss, atom.mass)).collect()),
        })
    }
}

/// Evenly from about five standard deviations below the mean to five above: numbers of few digits, so that what is shown is what
/// was asked.
fn places(loss: &PrivacyLoss<'_>) -> impl Iterator<Item = f64> {
    let centre = 0.5 * (loss.mean().lower + loss.mean().upper);
    let reach = 5.0 * loss.variance().upper.sqrt();
    (0..POINTS).map(move |i| {
        let place = centre + reach * (2.0 * i as f64 / (POINTS - 1) as f64 - 1.0);
        // No reach at all gives the most.
        let more = (place.abs() / reach).clamp(1.0, 1e13).log10().ceil();
        let short = decimal::nearest(place, 4 + more as usize).parse().unwrap_or(place);
        short.clamp(-MOST_LOSS, MOST_LOSS)
    })
}

fn one(loss: &Loss) -> Result<One<'_>, serde_json::Error> {
    let quantile = |&(level, loss): &(f64, Bracket)| {
        let (lower, upper) = (end(loss.lower, decimal::down)?, end(loss.upper, decimal::up)?);
        Ok(Quantile { level: number(decimal::shortest(level))?, loss: Open { lower, upper } })
    };
    let above = |&(loss, probability): &(f64, Bracket)| {
        let loss = number(decimal::shortest(loss))?;
        Ok(Above { loss, probability: Ends::of(probability)? })
    };
    let atom = |&(loss, probability): &(Bracket, Bracket)| {
        Ok(Atom { loss: Ends::of(loss)?, probability: Ends::of(probability)? })
    };
    let atoms = loss.atoms.as_ref().map(|atoms| atoms.iter().map(atom).collect());
    Ok(One {
        direction: loss.direction,
        part: loss.part.as_deref(),
        leak: Ends::of(loss.leak)?,
        mean: Ends::of(loss.mean)?,
        variance: Ends::of(loss.variance)?,
        quantiles: loss.quantiles.iter().map(quantile).collect::<Result<_, serde_json::Error>>()?,
        above: loss.above.iter().map(above).collect::<Result<_, serde_json::Error>>()?,
        atoms: atoms.transpose()?,
    })
}

/// A number, or nothing where it is infinite.
fn end(
    value: f64,
    rounded: fn(f64, usize) -> String,
) -> Result<Option<Box<RawValue>>, serde_json::Error> {
    value.is_finite().then(|| number(rounded(value, FULL_DIGITS))).transpose()
}

/// The object, its fields in the order they are written.
#[derive(Serialize)]
struct Object<'a> {
    losses: Vec<One<'a>>,
    theorem: &'a str,
    setting: InSetting,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct One<'a> {
    direction: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'a str>,
    leak: Ends,
    mean: Ends,
    variance: Ends,
    quantiles: Vec<Quantile>,
    above: Vec<Above>,
    #[serde(skip_serializing_if = "Option::is_none")]
    atoms: Option<Vec<Atom>>,
}

#[derive(Serialize)]
struct Quantile {
    level: Box<RawValue>,
    loss: Open,
}

#[derive(Serialize)]
struct Open {
    lower: Option<Box<RawValue>>,
    upper: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Above {
    loss: Box<RawValue>,
    probability: Ends,
}

#[derive(Serialize)]
struct Atom {
    loss: Ends,
    probability: Ends,
}

//! The privacy loss of a plan, as JSON.

use counterpoint::Bracket;
use counterpoint::ask::{AskError, Options, PrivacyLoss};
use counterpoint::loss::Direction;
use counterpoint::quantity::Level;
use counterpoint::theorem::Theorem;

use crate::text::decimal;
use crate::text::object::{Decimal, Object, SpentSetting, bounds_object, bracket_object};

/// The levels for which reports give the loss that is exceeded with probability 1 - level at most.
const LEVELS: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.999_999];

/// The largest loss for which a report gives a probability.
const MOST_LOSS: f64 = 1e5;

/// The number of losses for which a report gives the probability of a larger loss.
const POINTS: usize = 11;

/// The distributions of the privacy loss of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Losses {
    /// One loss for each direction that differs and each part of the data.
    pub losses: Vec<Loss>,
    /// Warnings that belong to the losses.
    pub warnings: Vec<String>,
}

/// The privacy loss in one direction on one part of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// `remove` or `add`; `remove` if both directions are the same.
    pub direction: &'static str,
    /// The part of the data, if the plan has parts.
    pub part: Option<String>,
    /// The probability that the loss is infinite.
    pub leak: Bracket,
    /// The mean of the finite loss.
    pub mean: Bracket,
    /// The variance of the finite loss.
    pub variance: Bracket,
    /// Levels, each with the least loss that is exceeded with probability 1 - level at most; this loss may be infinite.
    pub quantiles: Vec<(f64, Bracket)>,
    /// Losses, each with the probability of a larger loss, infinite losses included.
    pub above: Vec<(f64, Bracket)>,
    /// All losses with their probabilities, the largest first, if they are few.
    pub atoms: Option<Vec<(Bracket, Bracket)>>,
}

impl Losses {
    /// The losses of a plan.
    ///
    /// # Errors
    /// As [`counterpoint::Plan::losses`], and [`PrivacyLoss::above`].
    pub fn of(plan: &counterpoint::Plan, options: &Options<'_>) -> Result<Self, AskError> {
        let losses = plan.losses()?;
        let losses = losses.iter().map(|loss| Loss::of(loss, options)).collect::<Result<_, _>>()?;
        Ok(Self { losses, warnings: Vec::new() })
    }

    /// The theorem that licenses the losses: they are those of the pairs that dominate the releases.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        Theorem::DominatingPairs
    }

    /// The `compose --losses --json` object. An infinite end of a bracket is `null`.
    ///
    /// # Errors
    /// If a probability is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let theorem = self.theorem();
        Object::new()
            .field("losses", self.losses.iter().map(one).collect::<Vec<_>>())
            .field("theorem", theorem.source())
            .field("setting", SpentSetting::from(theorem.setting()))
            .list("warnings", &self.warnings)
            .json()
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

/// Returns evenly spaced losses from about five standard deviations below the mean to five above. They have few digits,
/// so that reports show exactly the losses that the probabilities are about.
fn places(loss: &PrivacyLoss<'_>) -> impl Iterator<Item = f64> {
    let centre = 0.5 * (loss.mean().lower + loss.mean().upper);
    let reach = 5.0 * loss.variance().upper.sqrt();
    (0..POINTS).map(move |i| {
        let place = centre + reach * (2.0 * i as f64 / (POINTS - 1) as f64 - 1.0);
        // Without a spread the quotient is infinite, and the clamp applies.
        let more = (place.abs() / reach).clamp(1.0, 1e13).log10().ceil();
        let short = decimal::nearest(place, 4 + more as usize).parse().unwrap_or(place);
        short.clamp(-MOST_LOSS, MOST_LOSS)
    })
}

fn one(loss: &Loss) -> Object {
    let quantile = |&(level, loss): &(f64, Bracket)| {
        // An infinite end is `None`.
        let lower = loss.lower.is_finite().then(|| Decimal::down(loss.lower));
        let upper = loss.upper.is_finite().then(|| Decimal::up(loss.upper));
        Object::new()
            .field("level", Decimal::shortest(level))
            .field("loss", bounds_object(lower, upper))
    };
    let above = |&(loss, probability): &(f64, Bracket)| {
        Object::new()
            .field("loss", Decimal::shortest(loss))
            .field("probability", bracket_object(probability))
    };
    let atom = |&(loss, probability): &(Bracket, Bracket)| {
        Object::new()
            .field("loss", bracket_object(loss))
            .field("probability", bracket_object(probability))
    };
    let atoms = loss.atoms.as_ref().map(|atoms| atoms.iter().map(atom).collect::<Vec<_>>());
    Object::new()
        .field("direction", loss.direction)
        .some("part", loss.part.as_deref())
        .field("leak", bracket_object(loss.leak))
        .field("mean", bracket_object(loss.mean))
        .field("variance", bracket_object(loss.variance))
        .field("quantiles", loss.quantiles.iter().map(quantile).collect::<Vec<_>>())
        .field("above", loss.above.iter().map(above).collect::<Vec<_>>())
        .some("atoms", atoms)
}

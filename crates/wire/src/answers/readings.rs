//! What a plan means for people, as JSON.

use counterpoint::Bracket;
use counterpoint::region::Readings;
use counterpoint::theorem::Theorem;

use crate::text::object::{Decimal, Object, SpentSetting, bounds_object, bracket_object};

/// The readings of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanReadings {
    /// The readings.
    pub readings: Readings,
    /// Warnings that belong to the readings.
    pub warnings: Vec<String>,
}

impl PlanReadings {
    /// The theorem that licenses the readings: they are those of the pairs that dominate the releases.
    #[must_use]
    pub fn theorem(&self) -> Theorem {
        Theorem::DominatingPairs
    }

    /// The `compose --readings --json` object. An infinite end of a bracket is `null`.
    ///
    /// # Errors
    /// If a probability is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let Readings { assumptions, advantage, accuracy, detection, reconstruction, gdp } =
            &self.readings;
        let theorem = self.theorem();
        let guess = Object::new()
            .field("prior", Decimal::shortest(assumptions.prior.get()))
            .field("accuracy", bracket_object(*accuracy));
        let detection = detection.iter().map(|&(rate, alarms)| {
            Object::new()
                .field("false_alarm", Decimal::shortest(rate.get()))
                .field("true_alarm", bracket_object(alarms))
        });
        let reconstruction = Object::new()
            .field("chance", Decimal::shortest(assumptions.chance.get()))
            .field("success", bracket_object(*reconstruction));
        let gdp = Object::new()
            .field("mu", open_bracket(gdp.mu))
            .field("floor", Decimal::shortest(gdp.floor.get()))
            .field("regret", bracket_object(gdp.regret))
            .field("everywhere", open_bracket(gdp.everywhere));
        Object::new()
            .field("advantage", bracket_object(*advantage))
            .field("guess", guess)
            .field("detection", detection.collect::<Vec<_>>())
            .field("reconstruction", reconstruction)
            .field("gdp", gdp)
            .field("theorem", theorem.source())
            .field("setting", SpentSetting::from(theorem.setting()))
            .list("warnings", &self.warnings)
            .json()
    }
}

/// A bracket with an infinite end as null.
fn open_bracket(Bracket { lower, upper }: Bracket) -> Object {
    bounds_object(
        lower.is_finite().then(|| Decimal::down(lower)),
        upper.is_finite().then(|| Decimal::up(upper)),
    )
}

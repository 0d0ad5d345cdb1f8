//! What an answer may cost, and what it is measured with for that.

use super::{Checked, Part};
use crate::illegal::Illegal;
use counterpoint::Relation;
use counterpoint_mechanisms::{Contribution, Error as Refusal, Measurement, Recipe, Spread, Style};
use serde::Serialize;

/// The confidence of the intervals that are drawn with quantiles, unless something else is said.
const CONFIDENCE: f64 = 0.95;

/// What an answer may cost.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spend {
    /// In pure differential privacy: Laplace noise.
    Epsilon(f64),
    /// In zero-concentrated differential privacy: Gaussian noise.
    Rho(f64),
    /// What discrete Gaussian noise of this very sigma costs: counts alone.
    Sigma(f64),
    /// What this very noise costs, for a question of one aggregate: what was planned.
    Style(Style),
}

impl Checked {
    /// What each aggregate is measured with, all groups together, if the answer may cost so much: equal parts of it for each.
    ///
    /// # Errors
    /// [`Illegal`] if no noise can be had for that.
    pub fn measured(&self, spend: Spend) -> Result<Vec<Measurement>, Illegal> {
        self.measured_at(spend, CONFIDENCE)
    }

    /// The same with another confidence of the intervals that are drawn with quantiles. It costs the same.
    ///
    /// # Errors
    /// As for [`Checked::measured`], and unless the confidence is strictly between 0 and 1.
    pub fn measured_at(&self, spend: Spend, confidence: f64) -> Result<Vec<Measurement>, Illegal> {
        self.measured_by(|part, parts| {
            let plain = recipe(part, spend, parts)?;
            match (spend, plain.style()) {
                (Spend::Epsilon(_) | Spend::Rho(_), Style::Exponential { epsilon }) => {
                    part.query.exponential_interval(epsilon, confidence)
                }
                // What was planned is as it was planned.
                _ => Ok(plain),
            }
        })
    }

    /// The same with no intervals for quantiles but those that were planned: a slot without a recipe was declared for these.
    ///
    /// # Errors
    /// As for [`Checked::measured`].
    pub fn measured_in_slot(&self, spend: Spend) -> Result<Vec<Measurement>, Illegal> {
        self.measured_by(|part, parts| recipe(part, spend, parts))
    }

    fn measured_by(
        &self,
        recipe: impl Fn(&Part, f64) -> Result<Recipe, Refusal>,
    ) -> Result<Vec<Measurement>, Illegal> {
        let measurement = |part: &Part| {
            let recipe = recipe(part, self.parts.len() as f64);
            let made = recipe.and_then(|recipe| recipe.bounded(self.contribution_to(part)?));
            made.map_err(|error| cannot_be_measured(part, &error))
        };
        self.parts.iter().map(measurement).collect()
    }

    /// The bound on what one person contributes to a part's answer.
    ///
    /// # Errors
    /// [`Refusal`] for more rows of a person than can be bounded.
    pub fn contribution_to(&self, part: &Part) -> Result<Contribution, Refusal> {
        if self.groupings.is_empty() {
            let rows = if part.people { 1 } else { self.rows };
            return Ok(Contribution::Rows(self.within(rows, part)?));
        }
        let (rows, each) =
            if part.people { (self.rows.min(self.groups), 1) } else { (self.rows, self.each) };
        Ok(Contribution::Groups(self.relation, Spread::new(rows, each, self.groups)?))
    }

    /// The relation of the rows that a part uses, of which a person has so many: at most, unless every row is used.
    fn within(&self, rows: u64, part: &Part) -> Result<Relation, Refusal> {
        let relation = Relation::new(self.relation.adjacency(), rows)?;
        let all = self.whole && !part.skips_missing;
        Ok(if all { relation } else { relation.of_some() })
    }
}

/// A recipe for an aggregate that may cost so much, shared equally by so many parts: for quantiles without intervals.
///
/// # Errors
/// [`Refusal`] if no noise can be had for that.
pub fn recipe(part: &Part, spend: Spend, parts: f64) -> Result<Recipe, Refusal> {
    let chosen = part.query.exponential(1.0).is_ok();
    match spend {
        Spend::Epsilon(epsilon) if chosen => part.query.exponential(epsilon / parts),
        Spend::Epsilon(epsilon) => part.query.laplace(epsilon / parts),
        // A choice of range eta is eta^2/8 concentrated (Cesar and Rogers 2021); those of several shares add up to less.
        Spend::Rho(rho) if chosen => part.query.exponential((8.0 * rho / parts).sqrt()),
        Spend::Rho(rho) => part.query.gaussian((0.5 * parts / rho).sqrt()),
        Spend::Sigma(sigma) => part.query.discrete_gaussian(sigma),
        Spend::Style(style) => Recipe::new(part.query.clone(), style),
    }
}

pub(super) fn cannot_be_measured(part: &Part, error: &Refusal) -> Illegal {
    Illegal::new(&part.name, format!("cannot be measured: {error}"), "other costs")
}

//! Measurements chosen from earlier answers, at prices fixed before the first.

use super::state::Left;
use crate::error::Error;
use crate::query::{Measurement, Recipe};
use counterpoint::{Relation, Release};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A declared list of measurements, for their prices. Any measurement may be run whose cost is
/// on the list and not yet paid: which one, and when, may depend on all earlier answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Arc<[Recipe]>", try_from = "Vec<Recipe>")]
pub struct Sequence {
    pub(crate) recipes: Arc<[Recipe]>,
}

impl From<Sequence> for Arc<[Recipe]> {
    fn from(sequence: Sequence) -> Self {
        sequence.recipes
    }
}

impl TryFrom<Vec<Recipe>> for Sequence {
    type Error = Error;

    fn try_from(recipes: Vec<Recipe>) -> Result<Self, Error> {
        Self::new(recipes)
    }
}

impl Sequence {
    /// At the prices of these.
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 1 to 10^6.
    pub fn new(recipes: impl IntoIterator<Item = Recipe>) -> Result<Self, Error> {
        let recipes: Arc<[Recipe]> = recipes.into_iter().collect();
        let (what, length, legal) = ("the sequence", recipes.len(), "1 to 10^6");
        if !(1..=1_000_000).contains(&length) {
            return Err(Error::Length { what, length, legal });
        }
        Ok(Self { recipes })
    }
}

/// What each measurement of a sequence costs under one relation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prices {
    relation: Relation,
    prices: Vec<Vec<Release>>,
}

impl Prices {
    pub(super) fn new(sequence: &Sequence, relation: Relation) -> Result<Self, Error> {
        let price = |recipe: &Recipe| Ok(recipe.under(relation)?.releases().to_vec());
        let prices = sequence.recipes.iter().map(price).collect::<Result<_, Error>>()?;
        Ok(Self { relation, prices })
    }

    pub(super) fn releases(&self) -> Vec<Release> {
        self.prices.concat()
    }

    /// All of them, by their places.
    pub(super) fn slots(&self) -> Vec<usize> {
        (0..self.prices.len()).collect()
    }

    /// Whether these places are on the list, none of them twice.
    pub(super) fn include(&self, left: &[usize]) -> bool {
        left.is_sorted_by(|one, next| one < next)
            && left.last().is_none_or(|last| *last < self.prices.len())
    }

    /// What a measurement is, if its price is on the list and not yet paid; and what is left without it: the first price
    /// that is its own is struck off.
    pub(super) fn paid(
        &self,
        recipe: &Recipe,
        left: &[usize],
    ) -> Result<(Measurement, Left), Error> {
        let measurement = recipe.under(self.relation)?;
        let is_price = |slot: &usize| {
            self.prices.get(*slot).is_some_and(|price| price == measurement.releases())
        };
        let paid = *left.iter().find(|slot| is_price(slot)).ok_or(Error::NotDeclared)?;
        let rest = left.iter().copied().filter(|slot| *slot != paid).collect();
        Ok((measurement, Left::Slots(rest)))
    }
}

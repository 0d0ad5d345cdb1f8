//! Measurements chosen from earlier answers, at prices fixed before the first.

use crate::error::Error;
use crate::query::Measurement;
use crate::reply::Reply;
use counterpoint::{Adjacency, Release};

/// A declared list of prices. Any measurement may be run whose cost is on the list and not yet
/// paid: which one, and when, may depend on all earlier answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    adjacency: Adjacency,
    slots: Vec<Vec<Release>>,
}

impl Sequence {
    /// The prices of these measurements.
    ///
    /// # Errors
    /// [`Error::Length`] if there are none, [`Error::Adjacency`] if they differ in it.
    pub fn new<'a>(measurements: impl IntoIterator<Item = &'a Measurement>) -> Result<Self, Error> {
        let mut measurements = measurements.into_iter().peekable();
        let (what, length, legal) = ("measurements", 0, "at least one");
        let first = measurements.peek().ok_or(Error::Length { what, length, legal })?;
        let declared = first.query().adjacency();
        let mut slots = Vec::new();
        for measurement in measurements {
            same(measurement.query().adjacency(), declared)?;
            slots.push(measurement.releases().to_vec());
        }
        Ok(Self { adjacency: declared, slots })
    }

    pub(super) fn adjacency(&self) -> Adjacency {
        self.adjacency
    }

    pub(super) fn slots(&self) -> &[Vec<Release>] {
        &self.slots
    }

    pub(super) fn releases(&self) -> Vec<Release> {
        self.slots.concat()
    }

    /// The price is struck off before any noise is drawn.
    pub(super) fn answer(
        &self,
        measurement: &Measurement,
        data: &[f64],
        slots: &mut Vec<Vec<Release>>,
    ) -> Result<Reply, Error> {
        same(measurement.query().adjacency(), self.adjacency)?;
        let price = slots.iter().position(|slot| slot.as_slice() == measurement.releases());
        slots.swap_remove(price.ok_or(Error::NotDeclared)?);
        measurement.run(data)
    }
}

pub(super) fn same(asked: Adjacency, declared: Adjacency) -> Result<(), Error> {
    if asked == declared { Ok(()) } else { Err(Error::Adjacency { asked, declared }) }
}

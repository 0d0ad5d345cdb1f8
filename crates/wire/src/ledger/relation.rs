//! Which data sets are neighbours.

use counterpoint::{Adjacency, OutOfRange};
use std::fmt;

use crate::plan::adjacency_name;

/// Which data sets are neighbours: those in which one person's records, at most so many, are
/// added or removed, or replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    adjacency: Adjacency,
    records: u64,
}

impl Relation {
    /// What is legal, in words.
    pub const LEGAL: &'static str = "a whole number from 1 to 10000";

    /// Checks the records.
    ///
    /// # Errors
    /// [`OutOfRange`] if there are none, or more than 10,000.
    pub fn new(adjacency: Adjacency, records: u64) -> Result<Self, OutOfRange> {
        if (1..=10_000).contains(&records) {
            return Ok(Self { adjacency, records });
        }
        let (quantity, value, legal) = ("records", records as f64, Self::LEGAL);
        Err(OutOfRange { quantity, value, legal })
    }

    /// Whether a person is added or removed, or replaced.
    #[must_use]
    pub fn adjacency(self) -> Adjacency {
        self.adjacency
    }

    /// How many records a person has at most.
    #[must_use]
    pub fn records(self) -> u64 {
        self.records
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = if self.records == 1 { "record" } else { "records" };
        write!(f, "{}, {} {records} a person", adjacency_name(self.adjacency), self.records)
    }
}

//! Sums of whole numbers, one for each record.

use super::{Bounds, Kind, Query};
use crate::error::Error;
use crate::grid::Grid;
use counterpoint::{Adjacency, Relation};

/// A sum over records of whole numbers, each from `low` to `high`, of a unit that is a 2^shift-th
/// part of a grid step; the sum is rounded to the grid once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tally {
    of: Of,
    grid: Grid,
    fine: Grid,
    shift: u32,
    low: i64,
    high: i64,
}

/// What one record adds has this many bits: rounding a million of them is not felt.
const BITS: i32 = 40;

/// A grid step is at most 2^100 units, so that half of one can be added to any sum.
const MOST_SHIFT: i32 = 100;

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Of {
    /// One for each number within bounds, or for each.
    Ones(Option<Bounds>),
    /// The clamped number.
    Values(Bounds),
    /// Its distance from the middle of the bounds.
    Offsets(Bounds),
    /// The square of that.
    Squares(Bounds),
}

impl Of {
    /// The least and the greatest number that can be added.
    pub(crate) fn range(self) -> (f64, f64) {
        match self {
            Self::Ones(_) => (0.0, 1.0),
            Self::Values(bounds) => (bounds.low, bounds.high),
            Self::Offsets(bounds) => (-bounds.half(), bounds.half()),
            Self::Squares(bounds) => (0.0, bounds.half() * bounds.half()),
        }
    }

    /// How far one person's records move the sum; see [`Tally::sensitivity`].
    pub(crate) fn reach(self, relation: Relation) -> f64 {
        let (low, high) = self.range();
        let one = match relation.adjacency() {
            Adjacency::AddRemove => low.abs().max(high.abs()),
            Adjacency::Replace if relation.is_length_public() => high - low,
            Adjacency::Replace => high.max(0.0) - low.min(0.0),
        };
        one * relation.records() as f64
    }
}

impl Tally {
    pub(crate) fn new(of: Of, grid: Grid) -> Self {
        let (low, high) = of.range();
        let (fine, shift) = grid.refined(low.abs().max(high.abs()), BITS, MOST_SHIFT);
        Self { of, grid, fine, shift, low: fine.units(low), high: fine.units(high) }
    }

    /// A count's or a sum's.
    pub(crate) fn of_query(query: &Query, grid: Grid) -> Result<Self, Error> {
        match query.kind {
            Kind::Count(within) => Ok(Self::new(Of::Ones(within), grid)),
            Kind::Sum(bounds) => Ok(Self::new(Of::Values(bounds), grid)),
            _ => Err(Error::Question { legal: "counts and sums" }),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    /// How many grid steps one person moves the rounded sum, at least one: as many as cover the
    /// units that the sum moves by. Who has several records may be replaced by someone with
    /// fewer: what one of them adds, another need not take away.
    pub(crate) fn sensitivity(&self, relation: Relation) -> u64 {
        let one = match relation.adjacency() {
            Adjacency::AddRemove => self.low.unsigned_abs().max(self.high.unsigned_abs()),
            Adjacency::Replace if relation.is_length_public() => self.high.abs_diff(self.low),
            Adjacency::Replace => self.high.max(0).abs_diff(self.low.min(0)),
        };
        let units = u128::from(one) * u128::from(relation.records());
        let steps = units.div_ceil(1 << self.shift);
        u64::try_from(steps).unwrap_or(u64::MAX).max(1)
    }

    /// The sum in grid steps, rounded as [`Grid::units`] rounds: at most 2^63 records of at most
    /// 2^62 units.
    pub(crate) fn sum(&self, data: &[f64]) -> i128 {
        let sum: i128 = data.iter().map(|&x| i128::from(self.units(x))).sum();
        let half = (1_i128 << self.shift) >> 1;
        (sum + half) >> self.shift
    }

    /// What one record adds. The last clamp is what bounds it: the arithmetic before may
    /// round.
    fn units(&self, x: f64) -> i64 {
        let value = match self.of {
            Of::Ones(None) => 1.0,
            Of::Ones(Some(bounds)) => f64::from(u8::from(bounds.low <= x && x <= bounds.high)),
            Of::Values(bounds) => bounds.clamp(x),
            Of::Offsets(bounds) => bounds.clamp(x) - bounds.center(),
            Of::Squares(bounds) => {
                let offset = bounds.clamp(x) - bounds.center();
                offset * offset
            }
        };
        self.fine.units(value).clamp(self.low, self.high)
    }
}

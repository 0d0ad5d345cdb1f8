//! Pairs that are known by cells of outcomes.

use super::{ListError, same_length};
use std::sync::Arc;

/// The outcomes of a mechanism, partitioned into cells: the probability of each cell with a person's data and without,
/// and bounds on the privacy loss within the cell.
#[derive(Clone, Debug, PartialEq)]
pub struct CellPair(Arc<[Cell]>);

/// A cell of outcomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// Its probability with the person's data.
    pub p: f64,
    /// Its probability without the person's data.
    pub q: f64,
    /// The lower bound on ln p/q at the outcomes of the cell.
    pub lower: f64,
    /// The upper bound on ln p/q at the outcomes of the cell.
    pub upper: f64,
}

/// A bound larger than this is treated as infinite.
pub(crate) const FURTHEST: f64 = 600.0;

/// The rounding by which ln p/q of a cell's probabilities may be outside its bounds, which are then widened.
const ROUNDING: f64 = 1e-9;

impl CellPair {
    /// Checks the probabilities, at least zero and summing to one, and the bounds, which must contain ln p/q of the
    /// cell's probabilities. A bound larger than 600 in size, or infinite, says nothing.
    ///
    /// # Errors
    /// [`ListError`] naming what is not legal.
    pub fn new(p: &[f64], q: &[f64], lower: &[f64], upper: &[f64]) -> Result<Self, ListError> {
        for (field, list) in [("q", q), ("lower", lower), ("upper", upper)] {
            same_length(("p", p.len()), (field, list.len()))?;
        }
        super::probabilities("p", p)?;
        super::probabilities("q", q)?;
        let mut cells = Vec::with_capacity(p.len());
        for (index, (((&p, &q), &lower), &upper)) in
            p.iter().zip(q).zip(lower).zip(upper).enumerate()
        {
            cells.push(checked(Cell { p, q, lower, upper }, index)?);
        }
        Ok(Self(cells.into()))
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.0
    }
}

/// Checks that the bounds are numbers, in order, with ln p/q of the cell between them.
fn checked(cell: Cell, index: usize) -> Result<Cell, ListError> {
    let Cell { p, q, lower, upper } = cell;
    let wrong = |field, value, legal| Err(ListError::Number { field, index, value, legal });
    if lower.is_nan() {
        return wrong("lower", lower, "a number");
    }
    if upper.is_nan() || upper < lower {
        return wrong("upper", upper, "a number of at least lower");
    }
    let ratio = match (p > 0.0, q > 0.0) {
        (true, true) => p.ln() - q.ln(),
        (true, false) => f64::INFINITY,
        (false, true) => f64::NEG_INFINITY,
        (false, false) => return Ok(Cell { p, q, lower: 0.0, upper: 0.0 }),
    };
    let beyond = |bound: f64| bound.abs() > FURTHEST && (bound > 0.0) == (ratio > 0.0);
    if ratio < lower - ROUNDING && !beyond(lower) {
        return wrong("lower", lower, "at most ln p/q of the cell");
    }
    if ratio > upper + ROUNDING && !beyond(upper) {
        return wrong("upper", upper, "at least ln p/q of the cell");
    }
    // Any format can write finite bounds.
    let finite = |bound: f64| bound.clamp(-f64::MAX, f64::MAX);
    Ok(Cell { p, q, lower: finite(lower), upper: finite(upper) })
}

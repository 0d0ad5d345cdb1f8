//! Numbers of other types, as values.

use super::columns::Cell;

/// A whole number; a double where it is too large for one.
pub(super) fn unsigned(value: u64) -> Cell<'static> {
    i64::try_from(value).map_or(Cell::Real(value as f64), Cell::Whole)
}

/// The double that is nearest to a decimal; a whole number where it is one.
pub(super) fn decimal(value: i128, scale: i32) -> Cell<'static> {
    match (scale, i64::try_from(value)) {
        (0, Ok(whole)) => Cell::Whole(whole),
        _ => format!("{value}e{}", -scale).parse().map_or(Cell::Missing, Cell::Real),
    }
}

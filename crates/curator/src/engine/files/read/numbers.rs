//! Converts other types of numbers to values.

use super::columns::Cell;

/// A whole number of any size, exactly: two people with adjacent numbers stay two people.
pub(super) fn unsigned(value: u64) -> Cell<'static> {
    i64::try_from(value).map_or(Cell::Decimal(value.into(), 0), Cell::Whole)
}

/// A decimal, exactly, without trailing zeros; a whole number if it is one.
pub(super) fn decimal(mut value: i128, mut scale: i32) -> Cell<'static> {
    while scale > 0 && value % 10 == 0 {
        (value, scale) = (value / 10, scale - 1);
    }
    let power = scale.checked_neg().and_then(|power| u32::try_from(power).ok());
    let whole = power.and_then(|power| value.checked_mul(10_i128.checked_pow(power)?));
    match (whole.map(i64::try_from), whole) {
        (Some(Ok(whole)), _) => Cell::Whole(whole),
        (_, Some(whole)) => Cell::Decimal(whole, 0),
        _ => Cell::Decimal(value, scale),
    }
}

//! Reads Arrow record batches: data frames in memory.

use super::block::Block;
use super::columns::Cell;
use super::numbers::{decimal, unsigned};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal128Type, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayAccessor, RecordBatch};
use arrow_schema::DataType;
use sha2::{Digest, Sha256};

/// True if a column of this type holds numbers or texts.
pub(super) fn is_read(kind: &DataType) -> bool {
    use DataType as D;
    match kind {
        D::Dictionary(_, values) => !matches!(**values, D::Dictionary(..)) && is_read(values),
        D::Null | D::Boolean | D::Decimal128(..) => true,
        D::Utf8 | D::LargeUtf8 | D::Utf8View | D::Binary | D::LargeBinary | D::BinaryView => true,
        other => other.is_integer() || other.is_floating(),
    }
}

/// Reads a column of a batch into a column of a block.
pub(super) fn read(batch: &RecordBatch, column: usize, place: usize, block: &mut Block<'_>) {
    if let Some(array) = batch.columns().get(column) {
        each(array, &mut |cell| block.push(place, cell));
    }
}

/// Passes every value of a column to `put`, in order.
fn each(array: &dyn Array, put: &mut dyn FnMut(Cell<'_>)) {
    use DataType as D;
    let whole = |value: i64| Cell::Whole(value);
    match array.data_type() {
        D::Boolean => all(array.as_boolean(), put, |value| whole(value.into())),
        D::Int8 => primitive::<Int8Type>(array, put, |value| whole(value.into())),
        D::Int16 => primitive::<Int16Type>(array, put, |value| whole(value.into())),
        D::Int32 => primitive::<Int32Type>(array, put, |value| whole(value.into())),
        D::Int64 => primitive::<Int64Type>(array, put, whole),
        D::UInt8 => primitive::<UInt8Type>(array, put, |value| whole(value.into())),
        D::UInt16 => primitive::<UInt16Type>(array, put, |value| whole(value.into())),
        D::UInt32 => primitive::<UInt32Type>(array, put, |value| whole(value.into())),
        D::UInt64 => primitive::<UInt64Type>(array, put, unsigned),
        D::Float16 => primitive::<Float16Type>(array, put, |value| Cell::Real(value.into())),
        D::Float32 => primitive::<Float32Type>(array, put, |value| Cell::Real(value.into())),
        D::Float64 => primitive::<Float64Type>(array, put, Cell::Real),
        D::Decimal128(_, scale) => {
            let scale = i32::from(*scale);
            primitive::<Decimal128Type>(array, put, |value| decimal(value, scale));
        }
        D::Utf8 => all(array.as_string::<i32>(), put, |text| Cell::Text(text.as_bytes())),
        D::LargeUtf8 => all(array.as_string::<i64>(), put, |text| Cell::Text(text.as_bytes())),
        D::Utf8View => all(array.as_string_view(), put, |text| Cell::Text(text.as_bytes())),
        D::Binary => all(array.as_binary::<i32>(), put, Cell::Text),
        D::LargeBinary => all(array.as_binary::<i64>(), put, Cell::Text),
        D::BinaryView => all(array.as_binary_view(), put, Cell::Text),
        D::Dictionary(..) => {
            let Some(dictionary) = array.as_any_dictionary_opt() else { return };
            let values = dictionary.values();
            if values.is_empty() {
                return (0..array.len()).for_each(|_| put(Cell::Missing));
            }
            let keys = dictionary.normalized_keys();
            let texts = texts(values);
            for (row, key) in keys.into_iter().enumerate() {
                match &texts {
                    _ if dictionary.keys().is_null(row) || key >= values.len() => {
                        put(Cell::Missing)
                    }
                    Some(texts) => {
                        put(texts.get(key).copied().flatten().map_or(Cell::Missing, Cell::Text))
                    }
                    None => each(&values.slice(key, 1), put),
                }
            }
        }
        _ => (0..array.len()).for_each(|_| put(Cell::Missing)),
    }
}

/// The texts of an array of texts.
fn texts(array: &dyn Array) -> Option<Vec<Option<&[u8]>>> {
    match array.data_type() {
        DataType::Utf8 => Some(array.as_string::<i32>().iter().map(bytes).collect()),
        DataType::LargeUtf8 => Some(array.as_string::<i64>().iter().map(bytes).collect()),
        DataType::Utf8View => Some(array.as_string_view().iter().map(bytes).collect()),
        _ => None,
    }
}

fn bytes(text: Option<&str>) -> Option<&[u8]> {
    text.map(str::as_bytes)
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    put: &mut dyn FnMut(Cell<'_>),
    cell: impl Fn(T::Native) -> Cell<'static>,
) {
    all(array.as_primitive::<T>(), put, cell);
}

fn all<'a, A: ArrayAccessor>(
    array: A,
    put: &mut dyn FnMut(Cell<'_>),
    cell: impl Fn(A::Item) -> Cell<'a>,
) {
    for row in 0..array.len() {
        put(if array.is_null(row) { Cell::Missing } else { cell(array.value(row)) });
    }
}

/// The SHA-256 of the values of batches. It does not depend on how batches are cut and encoded, on the order of
/// columns, on the types of equal numbers, or on values that cannot be read and so are never counted.
pub(crate) fn fingerprint(batches: &[RecordBatch]) -> [u8; 32] {
    let Some(first) = batches.first() else { return Sha256::digest(b"nothing").into() };
    let fields = first.schema_ref().fields().iter().enumerate();
    let used =
        fields.filter(|(_, field)| is_read(field.data_type()) && !is_row_number(field.name()));
    let mut columns: Vec<(&str, usize)> =
        used.map(|(at, field)| (field.name().as_str(), at)).collect();
    columns.sort_unstable();
    let (mut sum, mut bytes) = (Sha256::new(), Vec::with_capacity(2 * PIECE));
    for (name, column) in columns {
        write(&mut bytes, b'c', name.as_bytes());
        for array in batches.iter().filter_map(|batch| batch.columns().get(column)) {
            each(array, &mut |cell| {
                match cell.normal() {
                    Cell::Missing => bytes.push(b'0'),
                    Cell::Whole(whole) => write(&mut bytes, b'1', &whole.to_be_bytes()),
                    Cell::Real(real) => write(&mut bytes, b'2', &real.to_bits().to_be_bytes()),
                    Cell::Decimal(value, scale) => {
                        write(&mut bytes, b'4', format!("{value}e{}", -scale).as_bytes());
                    }
                    Cell::Text(text) | Cell::Written(text) => write(&mut bytes, b'3', text),
                }
                if bytes.len() > PIECE {
                    sum.update(&bytes);
                    bytes.clear();
                }
            });
        }
    }
    sum.update(&bytes);
    sum.finalize().into()
}

/// The number of bytes hashed at a time.
const PIECE: usize = 1 << 16;

/// Writes a value's kind, length and bytes, so that different lists of values have different bytes.
fn write(bytes: &mut Vec<u8>, kind: u8, value: &[u8]) {
    bytes.push(kind);
    bytes.extend((value.len() as u64).to_be_bytes());
    bytes.extend(value);
}

/// True if a column is the unnamed index of a pandas frame: the rows' places in an earlier frame.
fn is_row_number(name: &str) -> bool {
    name.starts_with("__index_level_") && name.ends_with("__")
}

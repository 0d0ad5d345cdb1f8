//! Reads Parquet files, column by column. Texts are read as bytes, so that none is refused for its content.

use super::block::{Block, Inspector};
use super::columns::{Cell, ColumnValues, Layout};
use super::numbers::{decimal, unsigned};
use crate::engine::error::{EngineError, SourceColumn};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use std::fs::File;
use std::path::Path;

/// The number of rows read at a time.
const ROWS: usize = 1 << 16;

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ParquetKind {
    Truth,
    Signed,
    Unsigned,
    /// Whole numbers, to be divided by this power of ten.
    Decimal(i32),
    Real,
    Text,
}

impl ParquetKind {
    /// The type of a column; `None` if it is neither a number nor a text, or is a list.
    fn of(column: &ColumnDescriptor) -> Option<Self> {
        use ConvertedType as C;
        use LogicalType as L;
        if column.max_rep_level() > 0 || column.path().parts().len() != 1 {
            return None;
        }
        let (logical, converted) = (column.logical_type_ref(), column.converted_type());
        let decimal = match (logical, converted) {
            (Some(L::Decimal(decimal)), _) => Some(decimal.scale),
            (None, C::DECIMAL) => Some(column.type_scale()),
            _ => None,
        };
        match (column.physical_type(), logical, converted) {
            (Type::BOOLEAN, ..) => Some(Self::Truth),
            (Type::FLOAT | Type::DOUBLE, ..) => Some(Self::Real),
            (Type::INT32 | Type::INT64 | Type::FIXED_LEN_BYTE_ARRAY, ..) if decimal.is_some() => {
                decimal.map(Self::Decimal)
            }
            (Type::INT32 | Type::INT64, Some(L::Integer(integer)), _) => {
                Some(if integer.is_signed { Self::Signed } else { Self::Unsigned })
            }
            (Type::INT32 | Type::INT64, None, C::UINT_8 | C::UINT_16 | C::UINT_32 | C::UINT_64) => {
                Some(Self::Unsigned)
            }
            (
                Type::INT32 | Type::INT64,
                None,
                C::NONE | C::INT_8 | C::INT_16 | C::INT_32 | C::INT_64,
            ) => Some(Self::Signed),
            (Type::BYTE_ARRAY, Some(L::String | L::Enum | L::Json), _) => Some(Self::Text),
            (Type::BYTE_ARRAY, None, C::NONE | C::UTF8 | C::ENUM | C::JSON) => Some(Self::Text),
            _ => None,
        }
    }

    /// The type, in words.
    fn name(self) -> &'static str {
        match self {
            Self::Truth => "boolean",
            Self::Signed | Self::Unsigned => "integer",
            Self::Decimal(_) => "decimal",
            Self::Real => "double",
            Self::Text => "text",
        }
    }
}

/// An open file.
pub(super) struct ParquetReader {
    file: SerializedFileReader<File>,
}

impl ParquetReader {
    pub(super) fn open(path: &Path) -> Result<Self, EngineError> {
        let file = File::open(path).map_err(EngineError::new)?;
        Ok(Self { file: SerializedFileReader::new(file).map_err(EngineError::new)? })
    }

    /// The columns and their types. A type that is not supported is named as the file names it.
    pub(super) fn columns(&self) -> Vec<SourceColumn> {
        let schema = self.file.metadata().file_metadata().schema_descr();
        let found = |column: &std::sync::Arc<ColumnDescriptor>| {
            let kind = ParquetKind::of(column).map(ParquetKind::name);
            let kind = kind.map_or_else(
                || {
                    let logical = column.logical_type_ref().map(|kind| format!("{kind:?}"));
                    logical.unwrap_or_else(|| column.physical_type().to_string())
                },
                str::to_owned,
            );
            let name = column.path().parts().first().cloned().unwrap_or_default();
            SourceColumn { name, kind }
        };
        schema.columns().iter().map(found).collect()
    }

    /// The number of groups of rows.
    pub(super) fn groups(&self) -> usize {
        self.file.num_row_groups()
    }

    /// Reads a group of rows, block by block. `places` maps each column of a block to its column in the file.
    pub(super) fn read(
        &self,
        group: usize,
        layout: &Layout,
        places: &[usize],
        mut watch: Option<&mut Inspector>,
        each: &mut dyn FnMut(Vec<ColumnValues>) -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let schema = self.file.metadata().file_metadata().schema_descr();
        let rows = self.file.get_row_group(group).map_err(EngineError::new)?;
        let column = |place: &usize| {
            let reader = rows.get_column_reader(*place).map_err(EngineError::new)?;
            let column = schema
                .columns()
                .get(*place)
                .and_then(|column| Some((ParquetKind::of(column)?, column.max_def_level())));
            let (stored, most) = column.ok_or_else(|| EngineError::new("a column has changed"))?;
            Ok((reader, stored, most))
        };
        let mut columns = places.iter().map(column).collect::<Result<Vec<_>, EngineError>>()?;
        let mut left = usize::try_from(rows.metadata().num_rows()).unwrap_or_default();
        while left > 0 {
            let some = left.min(ROWS);
            let mut block = Block::new(layout, watch.as_deref_mut());
            for (place, (reader, stored, most)) in columns.iter_mut().enumerate() {
                let mut put = |cell: Cell<'_>| block.push(place, cell);
                read_column(reader, *stored, (*most, some), &mut put)?;
            }
            if block.columns.iter().any(|column| column.len() != some) {
                return Err(EngineError::new("the columns have different numbers of rows"));
            }
            each(block.finish())?;
            left -= some;
        }
        Ok(())
    }
}

fn read_column(
    reader: &mut ColumnReader,
    stored: ParquetKind,
    size: (i16, usize),
    put: &mut impl FnMut(Cell<'_>),
) -> Result<(), EngineError> {
    use ColumnReader as R;
    match (reader, stored) {
        (R::BoolColumnReader(reader), _) => {
            values(reader, size, put, |value| Cell::Whole((*value).into()))
        }
        (R::Int32ColumnReader(reader), ParquetKind::Unsigned) => {
            values(reader, size, put, |value| Cell::Whole((*value as u32).into()))
        }
        (R::Int64ColumnReader(reader), ParquetKind::Unsigned) => {
            values(reader, size, put, |value| unsigned(*value as u64))
        }
        (R::Int32ColumnReader(reader), ParquetKind::Decimal(scale)) => {
            values(reader, size, put, |value| decimal((*value).into(), scale))
        }
        (R::Int64ColumnReader(reader), ParquetKind::Decimal(scale)) => {
            values(reader, size, put, |value| decimal((*value).into(), scale))
        }
        (R::FixedLenByteArrayColumnReader(reader), ParquetKind::Decimal(scale)) => {
            values(reader, size, put, |value| wide(value.data(), scale))
        }
        (R::Int32ColumnReader(reader), _) => {
            values(reader, size, put, |value| Cell::Whole((*value).into()))
        }
        (R::Int64ColumnReader(reader), _) => values(reader, size, put, |value| Cell::Whole(*value)),
        (R::FloatColumnReader(reader), _) => {
            values(reader, size, put, |value| Cell::Real((*value).into()))
        }
        (R::DoubleColumnReader(reader), _) => values(reader, size, put, |value| Cell::Real(*value)),
        (R::ByteArrayColumnReader(reader), _) => {
            values(reader, size, put, |value| Cell::Text(value.data()))
        }
        _ => Err(EngineError::new("a column has changed")),
    }
}

fn values<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    (most, rows): (i16, usize),
    put: &mut impl FnMut(Cell<'_>),
    cell: impl Fn(&T::T) -> Cell<'_>,
) -> Result<(), EngineError> {
    let (mut levels, mut values) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    reader.read_records(rows, Some(&mut levels), None, &mut values).map_err(EngineError::new)?;
    let mut present = values.iter();
    if most == 0 {
        present.for_each(|value| put(cell(value)));
        return Ok(());
    }
    for level in levels {
        let value = if level == most { present.next() } else { None };
        put(value.map_or(Cell::Missing, &cell));
    }
    Ok(())
}

/// A decimal of up to 128 bits, most significant byte first. A longer one counts as missing.
fn wide(bytes: &[u8], scale: i32) -> Cell<'static> {
    if bytes.is_empty() || bytes.len() > size_of::<i128>() {
        return Cell::Missing;
    }
    let start = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    decimal(bytes.iter().fold(start, |value: i128, byte| (value << 8) | i128::from(*byte)), scale)
}

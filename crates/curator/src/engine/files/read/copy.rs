//! Copies Arrow record batches. Another program may write to a data frame's memory while it is read; then the counted
//! numbers would not be the fingerprinted ones, and the lengths of texts could change during a read.

use super::batches::is_read;
use crate::engine::error::EngineError;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer};
use arrow_data::{ArrayData, ArrayDataBuilder};
use arrow_schema::{ArrowError, SchemaRef};
use std::collections::HashMap;
use std::sync::Arc;

/// Copies of buffers, by address and length: batches that are slices of one share its buffers. The originals live until
/// the last one is copied, so addresses are unique.
type Copies = HashMap<(usize, usize), Buffer>;

/// Copies the readable columns of batches, each buffer once, and validates the copy: texts are UTF-8, lengths and
/// offsets are in bounds.
pub(crate) fn copied(
    batches: &[RecordBatch],
    schema: &SchemaRef,
) -> Result<Arc<[RecordBatch]>, EngineError> {
    if batches.is_empty() {
        return Ok([RecordBatch::new_empty(Arc::clone(schema))].into());
    }
    let mut copies = Copies::new();
    let copy = |batch: &RecordBatch| {
        let named = batch.columns().iter().zip(schema.fields());
        let columns = named.map(|(array, field)| {
            let failed = |error| EngineError::new(format!("column {:?}: {error}", field.name()));
            copied_column(array, &mut copies).map_err(failed)
        });
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &rows)
            .map_err(EngineError::new)
    };
    batches.iter().map(copy).collect()
}

fn copied_column(array: &ArrayRef, copies: &mut Copies) -> Result<ArrayRef, ArrowError> {
    match is_read(array.data_type()) {
        true => Ok(make_array(copied_data(&array.to_data(), copies)?)),
        // A column of another type is refused when it is used.
        false => Ok(Arc::clone(array)),
    }
}

fn copied_data(data: &ArrayData, copies: &mut Copies) -> Result<ArrayData, ArrowError> {
    let mut copy = |buffer: &Buffer| {
        let place = (buffer.as_ptr() as usize, buffer.len());
        copies.entry(place).or_insert_with(|| Buffer::from_slice_ref(buffer.as_slice())).clone()
    };
    let buffers = data.buffers().iter().map(&mut copy).collect();
    let nulls = data.nulls().map(|nulls| {
        NullBuffer::new(BooleanBuffer::new(copy(nulls.buffer()), nulls.offset(), nulls.len()))
    });
    let children = data.child_data().iter().map(|child| copied_data(child, copies));
    let children = children.collect::<Result<_, _>>()?;
    // `build` validates the data.
    let copy = ArrayDataBuilder::new(data.data_type().clone()).len(data.len());
    copy.offset(data.offset()).nulls(nulls).buffers(buffers).child_data(children).build()
}

//! Reads the wanted columns of a source, block by block, on all processors.

mod batches;
mod block;
mod columns;
mod copy;
mod csv;
mod json;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;

pub(super) use batches::fingerprint;
pub use block::{ColumnInspection, Inspection};
pub(super) use columns::{ColumnValues, FIRST, Layout, MISSING, OTHER};
pub(super) use copy::copied;

use super::row_source::RowSource;
use crate::engine::error::{EngineError, SourceColumn};
use arrow_array::RecordBatch;
use block::{Block, Inspector};
use columns::ReadRule;
use counterpoint_wire::DataFormat;
use csv::CsvReader;
use json::LineReader;
#[cfg(feature = "parquet")]
use parquet::ParquetReader;
use std::collections::BTreeSet;
use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// The number of rows made up at a time.
const MADE_UP: u64 = 1 << 14;

/// A source that is being read.
enum Reader {
    Csv {
        file: Mutex<CsvReader>,
        /// For each field of the file, its index among the wanted fields; then for each column, the index of its field
        /// among these.
        wanted: Vec<Option<usize>>,
        places: Vec<usize>,
        many: usize,
    },
    JsonLines(Mutex<LineReader>),
    #[cfg(feature = "parquet")]
    Parquet {
        path: std::path::PathBuf,
        groups: usize,
        next: AtomicUsize,
        places: Vec<usize>,
    },
    Batches {
        batches: Arc<[RecordBatch]>,
        next: AtomicUsize,
        places: Vec<usize>,
    },
    MadeUp {
        rows: u64,
        next: AtomicU64,
    },
}

/// Opens a file. Every error names the file.
fn open(path: &Path) -> Result<File, EngineError> {
    let wrong = |problem: String| EngineError::new(format!("{}: {problem}", path.display()));
    let found = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if found.is_dir() {
        return Err(wrong("is a folder; legal: a file".to_owned()));
    }
    // A pipe is empty on a second read, and a device may never end.
    if !found.is_file() {
        return Err(wrong("is a pipe or a device; legal: a file".to_owned()));
    }
    File::open(path).map_err(|error| wrong(error.to_string()))
}

fn named(path: &Path) -> impl Fn(std::io::Error) -> EngineError {
    move |error| EngineError::new(format!("{}: {error}", path.display()))
}

#[cfg(feature = "parquet")]
fn open_parquet(path: &Path) -> Result<ParquetReader, EngineError> {
    open(path)?;
    let named =
        |failed: EngineError| EngineError::new(format!("{}: {}", path.display(), failed.why));
    ParquetReader::open(path).map_err(named)
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(path: &Path) -> EngineError {
    let why = "this program was built without Parquet; build it with --features parquet";
    EngineError::new(format!("{}: {why}", path.display()))
}

/// The columns of a source and their types.
pub(super) fn columns(source: &RowSource) -> Result<Vec<SourceColumn>, EngineError> {
    let all = |names: Vec<String>, kind: &str| {
        names.into_iter().map(|name| SourceColumn { name, kind: kind.to_owned() }).collect()
    };
    match source {
        RowSource::File(path, DataFormat::Csv) => {
            let (_, names) = CsvReader::open(open(path)?).map_err(named(path))?;
            Ok(all(names, "text"))
        }
        RowSource::File(path, DataFormat::JsonLines) => {
            let names = LineReader::open(open(path)?).columns().map_err(named(path))?;
            Ok(all(names, "json"))
        }
        #[cfg(feature = "parquet")]
        RowSource::File(path, DataFormat::Parquet) => Ok(open_parquet(path)?.columns()),
        #[cfg(not(feature = "parquet"))]
        RowSource::File(path, DataFormat::Parquet) => Err(without_parquet(path)),
        RowSource::Batches(batches) => {
            let fields = batches.first().map(|batch| batch.schema().fields().clone());
            let found = |field: &arrow_schema::FieldRef| SourceColumn {
                name: field.name().clone(),
                kind: field.data_type().to_string(),
            };
            Ok(fields.iter().flat_map(|fields| fields.iter()).map(found).collect())
        }
        RowSource::MadeUp(_) => Ok(Vec::new()),
    }
}

/// The places of a layout's columns in a source. The error lists all columns that are absent or have another type.
pub(super) fn places(source: &RowSource, layout: &Layout) -> Result<Vec<usize>, EngineError> {
    let found = columns(source)?;
    let (mut problems, mut is_lacking) = (Vec::new(), false);
    let mut place = |(name, reading): &(String, ReadRule)| {
        let is_it = |(_, found): &(usize, &SourceColumn)| found.name.eq_ignore_ascii_case(name);
        let mut own = found.iter().enumerate().filter(is_it);
        let Some((place, column)) = own.next() else {
            problems.push(format!("the source has no column {name:?}"));
            is_lacking = true;
            return 0;
        };
        if own.next().is_some() {
            problems.push(format!("the source has the column {name:?} twice"));
        }
        if !is_read(source, place, &column.kind) {
            let kind = &column.kind;
            let wanted = reading.name();
            problems.push(format!(
                "column {name:?} of the source is of type {kind}, which is not {wanted}"
            ));
        }
        place
    };
    let places = layout.columns.iter().map(&mut place).collect();
    if is_lacking {
        problems.push(format!("it has {}", shown(&found)));
    }
    match (source, problems.is_empty()) {
        (_, true) => Ok(places),
        (RowSource::File(path, _), false) => {
            Err(EngineError::new(format!("{}: {}", path.display(), problems.join("; "))))
        }
        _ => Err(EngineError::new(problems.join("; "))),
    }
}

/// Some column names, for an error message.
fn shown(found: &[SourceColumn]) -> String {
    let name =
        |found: &SourceColumn| format!("{:?}", found.name.chars().take(40).collect::<String>());
    let names: Vec<String> = found.iter().take(12).map(name).collect();
    let more = if found.len() > names.len() {
        format!(" and {} more", found.len() - names.len())
    } else {
        String::new()
    };
    names.join(", ") + &more
}

/// True if a column holds numbers or texts.
fn is_read(source: &RowSource, place: usize, kind: &str) -> bool {
    match source {
        RowSource::Batches(batches) => batches.iter().all(|batch| {
            batch.columns().get(place).is_some_and(|array| batches::is_read(array.data_type()))
        }),
        RowSource::File(_, DataFormat::Parquet) => {
            ["boolean", "integer", "decimal", "double", "text"].contains(&kind)
        }
        _ => true,
    }
}

impl Reader {
    fn open(source: &RowSource, layout: &Layout) -> Result<Self, EngineError> {
        let places = match source {
            RowSource::MadeUp(rows) => {
                return Ok(Self::MadeUp { rows: *rows, next: AtomicU64::new(0) });
            }
            other => places(other, layout)?,
        };
        Ok(match source {
            RowSource::File(path, DataFormat::Csv) => {
                let (file, header) = CsvReader::open(open(path)?).map_err(named(path))?;
                let mut distinct = places.clone();
                distinct.sort_unstable();
                distinct.dedup();
                let own = |field| distinct.binary_search(&field).ok();
                let wanted = (0..header.len()).map(own).collect();
                let places = places.iter().filter_map(|field| own(*field)).collect();
                Self::Csv { file: Mutex::new(file), wanted, places, many: distinct.len() }
            }
            RowSource::File(path, DataFormat::JsonLines) => {
                Self::JsonLines(Mutex::new(LineReader::open(open(path)?)))
            }
            #[cfg(feature = "parquet")]
            RowSource::File(path, DataFormat::Parquet) => {
                let groups = open_parquet(path)?.groups();
                let next = AtomicUsize::new(0);
                Self::Parquet { path: path.clone(), groups, next, places }
            }
            #[cfg(not(feature = "parquet"))]
            RowSource::File(path, DataFormat::Parquet) => return Err(without_parquet(path)),
            RowSource::Batches(batches) => {
                let (batches, next) = (Arc::clone(batches), AtomicUsize::new(0));
                Self::Batches { batches, next, places }
            }
            RowSource::MadeUp(rows) => Self::MadeUp { rows: *rows, next: AtomicU64::new(0) },
        })
    }

    /// Reads the next blocks. Returns false at the end.
    fn next(
        &self,
        layout: &Layout,
        mut watch: Option<&mut Inspector>,
        each: &mut dyn FnMut(Vec<ColumnValues>) -> Result<(), EngineError>,
    ) -> Result<bool, EngineError> {
        let mut block = Block::new(layout, watch.as_deref_mut());
        match self {
            Self::Csv { file, wanted, places, many } => {
                let next = lock(file).next(wanted, *many).map_err(EngineError::new)?;
                let Some(records) = next else { return Ok(false) };
                records.read(places, *many, &mut block);
            }
            Self::JsonLines(file) => {
                let next = lock(file).next().map_err(EngineError::new)?;
                let Some(lines) = next else { return Ok(false) };
                lines.read(layout, &mut block);
            }
            #[cfg(feature = "parquet")]
            Self::Parquet { path, groups, next, places } => {
                let group = next.fetch_add(1, Ordering::Relaxed);
                if group >= *groups {
                    return Ok(false);
                }
                drop(block);
                // Each group of rows is read through its own handle, as clones of a handle share its position in the
                // file.
                open_parquet(path)?.read(group, layout, places, watch, each)?;
                return Ok(true);
            }
            Self::Batches { batches, next, places } => {
                let Some(batch) = batches.get(next.fetch_add(1, Ordering::Relaxed)) else {
                    return Ok(false);
                };
                for (place, column) in places.iter().enumerate() {
                    batches::read(batch, *column, place, &mut block);
                }
            }
            Self::MadeUp { rows, next } => {
                let first = next.fetch_add(MADE_UP, Ordering::Relaxed);
                if first >= *rows {
                    return Ok(false);
                }
                for (column, (_, reading)) in block.columns.iter_mut().zip(&layout.columns) {
                    let rows = first..(*rows).min(first + MADE_UP);
                    rows.for_each(|row| column.push_made_up(reading, row));
                }
            }
        }
        each(block.finish())?;
        Ok(true)
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn late() -> EngineError {
    EngineError::new("the time is up")
}

/// Returns an error if the time is up.
pub(super) fn in_time(deadline: Instant) -> Result<(), EngineError> {
    if Instant::now() < deadline { Ok(()) } else { Err(late()) }
}

/// Repeats `step` on all processors until nothing is left to do. Each thread has its own state; returns the states. All
/// stop once one fails.
pub(super) fn in_parallel<S: Send>(
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S) -> Result<bool, EngineError> + Sync,
) -> Result<Vec<S>, EngineError> {
    let stop = AtomicBool::new(false);
    let work = || {
        let mut state = start();
        while !stop.load(Ordering::Relaxed) {
            match step(&mut state) {
                Ok(true) => (),
                Ok(false) => break,
                Err(failed) => {
                    stop.store(true, Ordering::Relaxed);
                    return Err(failed);
                }
            }
        }
        Ok(state)
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let own = work();
        let panicked = |_| Err(EngineError::new("a thread panicked"));
        let others = others.into_iter().map(|one| one.join().unwrap_or_else(panicked));
        std::iter::once(own).chain(others).collect()
    })
}

/// Reads all blocks of a source on all processors. Each thread has its own state; returns the states.
pub(super) fn read_all<S: Send>(
    source: &RowSource,
    layout: &Layout,
    deadline: Instant,
    start: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, Vec<ColumnValues>) -> Result<(), EngineError> + Sync,
) -> Result<Vec<S>, EngineError> {
    let reader = Reader::open(source, layout)?;
    in_parallel(start, |state| {
        in_time(deadline)?;
        reader.next(layout, None, &mut |columns| {
            in_time(deadline)?;
            each(state, columns)
        })
    })
}

/// Inspects all rows of a source in order, for values that cannot be read and are not codes of missing values.
pub(super) fn watch(
    source: &RowSource,
    layout: &Layout,
    codes: Vec<BTreeSet<String>>,
    deadline: Instant,
) -> Result<Inspector, EngineError> {
    let reader = Reader::open(source, layout)?;
    let mut watch = Inspector::new(layout, codes);
    while watch.problem.is_none() && reader.next(layout, Some(&mut watch), &mut |_| Ok(()))? {
        in_time(deadline)?;
    }
    Ok(watch)
}

//! Reading the wanted columns of a source, block by block, on all processors.

mod batches;
mod block;
mod columns;
mod copied;
mod csv;
mod json;
mod numbers;
#[cfg(feature = "parquet")]
mod parquet;

pub(super) use batches::fingerprint;
pub use block::{Inspection, Values};
pub(super) use columns::{Column, FIRST, Layout, MISSING, OTHER};
pub(super) use copied::copied;

use super::row_source::RowSource;
use crate::engine::failed::{Failed, Found};
use arrow_array::RecordBatch;
use block::{Block, Watch};
use columns::Reading;
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

/// So many rows are made up at a time.
const MADE_UP: u64 = 1 << 14;

/// A source that is being read.
enum Reader {
    Csv {
        file: Mutex<CsvReader>,
        /// For each field of the file its place among those that are wanted, and for each column which of these it is.
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

/// Opens a file. Every error names it.
fn open(path: &Path) -> Result<File, Failed> {
    let wrong = |problem: String| Failed::new(format!("{}: {problem}", path.display()));
    let found = std::fs::metadata(path).map_err(|error| wrong(error.to_string()))?;
    if found.is_dir() {
        return Err(wrong("is a folder; legal: a file".to_owned()));
    }
    // A pipe is empty when it is read for the second time, and a device may never end.
    if !found.is_file() {
        return Err(wrong("is a pipe or a device; legal: a file".to_owned()));
    }
    File::open(path).map_err(|error| wrong(error.to_string()))
}

fn named(path: &Path) -> impl Fn(std::io::Error) -> Failed {
    move |error| Failed::new(format!("{}: {error}", path.display()))
}

#[cfg(feature = "parquet")]
fn open_parquet(path: &Path) -> Result<ParquetReader, Failed> {
    open(path)?;
    let named = |failed: Failed| Failed::new(format!("{}: {}", path.display(), failed.why));
    ParquetReader::open(path).map_err(named)
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(path: &Path) -> Failed {
    let why = "this program was built without Parquet; build it with --features parquet";
    Failed::new(format!("{}: {why}", path.display()))
}

/// The columns of a source, and what each holds.
pub(super) fn columns(source: &RowSource) -> Result<Vec<Found>, Failed> {
    let all = |names: Vec<String>, kind: &str| {
        names.into_iter().map(|name| Found { name, kind: kind.to_owned() }).collect()
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
            let found = |field: &arrow_schema::FieldRef| Found {
                name: field.name().clone(),
                kind: field.data_type().to_string(),
            };
            Ok(fields.iter().flat_map(|fields| fields.iter()).map(found).collect())
        }
        RowSource::MadeUp(_) => Ok(Vec::new()),
    }
}

/// Where the columns of a layout are in a source. All that are not there, or hold something else, are told.
pub(super) fn places(source: &RowSource, layout: &Layout) -> Result<Vec<usize>, Failed> {
    let found = columns(source)?;
    let (mut problems, mut is_lacking) = (Vec::new(), false);
    let mut place = |(name, reading): &(String, Reading)| {
        let is_it = |(_, found): &(usize, &Found)| found.name.eq_ignore_ascii_case(name);
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
            Err(Failed::new(format!("{}: {}", path.display(), problems.join("; "))))
        }
        _ => Err(Failed::new(problems.join("; "))),
    }
}

/// Some names of columns, in one line.
fn shown(found: &[Found]) -> String {
    let name = |found: &Found| format!("{:?}", found.name.chars().take(40).collect::<String>());
    let names: Vec<String> = found.iter().take(12).map(name).collect();
    let more = if found.len() > names.len() {
        format!(" and {} more", found.len() - names.len())
    } else {
        String::new()
    };
    names.join(", ") + &more
}

/// Whether a column holds numbers or texts.
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
    fn open(source: &RowSource, layout: &Layout) -> Result<Self, Failed> {
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

    /// Reads the next blocks. Says whether there were any.
    fn next(
        &self,
        layout: &Layout,
        mut watch: Option<&mut Watch>,
        each: &mut dyn FnMut(Vec<Column>) -> Result<(), Failed>,
    ) -> Result<bool, Failed> {
        let mut block = Block::new(layout, watch.as_deref_mut());
        match self {
            Self::Csv { file, wanted, places, many } => {
                let next = lock(file).next(wanted, *many).map_err(Failed::new)?;
                let Some(records) = next else { return Ok(false) };
                records.read(places, *many, &mut block);
            }
            Self::JsonLines(file) => {
                let next = lock(file).next().map_err(Failed::new)?;
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
                // Each group with a handle of its own: handles that share a place in the file cannot be read side by side.
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

fn late() -> Failed {
    Failed::new("the time is up")
}

/// An error once the time is up.
pub(super) fn in_time(deadline: Instant) -> Result<(), Failed> {
    if Instant::now() < deadline { Ok(()) } else { Err(late()) }
}

/// Works until there is nothing left to do, on all processors, each with a state of its own; returns these. Once one fails, all
/// stop.
pub(super) fn in_parallel<S: Send>(
    start: impl Fn() -> S + Sync,
    step: impl Fn(&mut S) -> Result<bool, Failed> + Sync,
) -> Result<Vec<S>, Failed> {
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
        let panicked = |_| Err(Failed::new("a thread panicked"));
        let others = others.into_iter().map(|one| one.join().unwrap_or_else(panicked));
        std::iter::once(own).chain(others).collect()
    })
}

/// Reads all blocks of a source, on all processors, each with a state of its own; returns these.
pub(super) fn read_all<S: Send>(
    source: &RowSource,
    layout: &Layout,
    deadline: Instant,
    start: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, Vec<Column>) -> Result<(), Failed> + Sync,
) -> Result<Vec<S>, Failed> {
    let reader = Reader::open(source, layout)?;
    in_parallel(start, |state| {
        in_time(deadline)?;
        reader.next(layout, None, &mut |columns| {
            in_time(deadline)?;
            each(state, columns)
        })
    })
}

/// Looks at all rows of a source in turn, for what cannot be read and stands for no missing value.
pub(super) fn watch(
    source: &RowSource,
    layout: &Layout,
    codes: Vec<BTreeSet<String>>,
    deadline: Instant,
) -> Result<Watch, Failed> {
    let reader = Reader::open(source, layout)?;
    let mut watch = Watch::new(layout, codes);
    while watch.problem.is_none() && reader.next(layout, Some(&mut watch), &mut |_| Ok(()))? {
        in_time(deadline)?;
    }
    Ok(watch)
}

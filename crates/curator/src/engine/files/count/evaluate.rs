//! Computes each row's group, units and gaps for a question. The arithmetic repeats that of the SQL statement operation
//! by operation, so that the numbers are the same.

use crate::engine::files::read::{ColumnValues, FIRST, Layout, MISSING, OTHER};
use crate::engine::tabulation::{BinCounts, Tabulation, UnitSum, tiny_factors};
use counterpoint_mechanisms::{Bounds, Summand, Term};
use counterpoint_questions::public::{ColumnKind, Key, Table};
use counterpoint_questions::question::Condition;

/// A question with the places of its columns.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedQuestion<'a> {
    pub tabulation: &'a Tabulation,
    filter: Option<Filter>,
    /// The places of the columns grouped by, with their numbers of categories.
    group_columns: Vec<(usize, u32)>,
    units: Vec<ResolvedSum<'a>>,
    pub counts: Vec<(usize, &'a BinCounts)>,
}

/// A sum of units with the places of its columns.
#[derive(Clone, Debug)]
struct ResolvedSum<'a> {
    added: &'a UnitSum,
    columns: [usize; 2],
    required: Vec<usize>,
    indicator: Option<Filter>,
}

impl<'a> ResolvedSum<'a> {
    fn new(added: &'a UnitSum, table: &Table, layout: &Layout) -> Option<Self> {
        let [first, second] = &added.columns;
        let required = added.required.iter().map(|column| layout.place(column));
        let indicator = match &added.indicator {
            Some(condition) => Some(Filter::new(condition, table, layout)?),
            None => None,
        };
        Some(Self {
            added,
            columns: [layout.place(first)?, layout.place(second)?],
            required: required.collect::<Option<_>>()?,
            indicator,
        })
    }

    /// The units of each row; 0 if a required value is missing.
    fn of_rows(&self, columns: &[ColumnValues], rows: usize) -> Vec<i64> {
        let (low, high) = self.added.summand.ends();
        let mut units = match (self.added.summand.term(), &self.indicator) {
            (Term::Ones(None), _) => vec![high; rows],
            (_, Some(filter)) => {
                let holds = filter.holds(columns, rows).into_iter();
                holds.map(|holds| if holds { high } else { low }).collect()
            }
            _ => {
                let [first, second] = self.columns.map(|column| match columns.get(column) {
                    Some(ColumnValues::Numbers(numbers)) => numbers.as_slice(),
                    _ => &[],
                });
                rounded(&self.added.summand, first, second)
            }
        };
        for column in &self.required {
            let mut leave_out = |row: usize| {
                if let Some(units) = units.get_mut(row) {
                    *units = 0;
                }
            };
            match columns.get(*column) {
                Some(ColumnValues::Numbers(numbers)) => {
                    let missing = numbers.iter().enumerate().filter(|(_, number)| number.is_nan());
                    missing.for_each(|(row, _)| leave_out(row));
                }
                Some(ColumnValues::Codes(codes)) => {
                    let missing = codes.iter().enumerate().filter(|(_, code)| **code == MISSING);
                    missing.for_each(|(row, _)| leave_out(row));
                }
                _ => (),
            }
        }
        units
    }
}

/// A condition on the columns of a block.
#[derive(Clone, Debug)]
enum Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    /// True if a number is between two ends. Each end states whether it is included.
    Within {
        column: usize,
        above: (f64, bool),
        below: (f64, bool),
    },
    /// True if the code of a category is marked.
    OneOf {
        column: usize,
        codes: Vec<bool>,
    },
    MissingNumber {
        column: usize,
    },
}

/// The group of a row that is not used.
pub(super) const NO_CELL: u32 = u32::MAX;

/// The group, units and gaps of each row of a block.
#[derive(Debug, Default)]
pub(super) struct BlockValues {
    /// The group of each row.
    pub cells: Vec<u32>,
    /// For each sum, the units of each row.
    pub units: Vec<Vec<i64>>,
    /// For each binned column, the gap of each row.
    pub gaps: Vec<Vec<u32>>,
}

impl<'a> ResolvedQuestion<'a> {
    /// Finds the columns of a question. `None` if a column is missing; checked questions about the table have none.
    pub(crate) fn new(tabulation: &'a Tabulation, table: &Table, layout: &Layout) -> Option<Self> {
        let checked = &tabulation.checked;
        let filter = checked.filter().map(|filter| Filter::new(filter, table, layout));
        let group_columns = checked.group_columns().iter().map(|group_column| {
            Some((
                layout.place(&group_column.column)?,
                u32::try_from(group_column.keys.len()).ok()?,
            ))
        });
        let units = tabulation.units().map(|added| ResolvedSum::new(added, table, layout));
        let counts = tabulation.counts.iter();
        let counts = counts.map(|bins| Some((layout.place(&bins.column)?, bins)));
        Some(Self {
            tabulation,
            filter: match filter {
                Some(filter) => Some(filter?),
                None => None,
            },
            group_columns: group_columns.collect::<Option<_>>()?,
            units: units.collect::<Option<_>>()?,
            counts: counts.collect::<Option<_>>()?,
        })
    }

    /// The number of numbers to count: the sums and gaps of each group.
    pub(crate) fn size(&self) -> usize {
        let gaps: usize = self.counts.iter().map(|(_, bins)| bins.edges.len() + 1).sum();
        let each = self.tabulation.sums.len() + gaps;
        self.tabulation.checked.group_count().saturating_mul(each)
    }

    /// Computes the group, units and gaps of each row.
    pub(super) fn evaluate(&self, columns: &[ColumnValues], rows: usize) -> BlockValues {
        let mut cells = vec![0; rows];
        for (column, many) in &self.group_columns {
            let Some(ColumnValues::Codes(codes)) = columns.get(*column) else { continue };
            for (cell, code) in cells.iter_mut().zip(codes) {
                *cell = match code.checked_sub(FIRST) {
                    Some(key) if *cell != NO_CELL => *cell * many + key,
                    _ => NO_CELL,
                };
            }
        }
        if let Some(filter) = &self.filter {
            let holds = filter.holds(columns, rows);
            for (cell, holds) in cells.iter_mut().zip(holds) {
                if !holds {
                    *cell = NO_CELL;
                }
            }
        }
        let numbers = |column: &usize| match columns.get(*column) {
            Some(ColumnValues::Numbers(numbers)) => numbers.as_slice(),
            _ => &[],
        };
        let units = self.units.iter().map(|units| units.of_rows(columns, rows));
        let gaps = self.counts.iter().map(|(column, bins)| gaps_of(bins, numbers(column)));
        BlockValues { cells, units: units.collect(), gaps: gaps.collect() }
    }
}

impl Filter {
    fn new(condition: &Condition, table: &Table, layout: &Layout) -> Option<Self> {
        let all = |list: &[Condition]| {
            list.iter().map(|one| Self::new(one, table, layout)).collect::<Option<Vec<_>>>()
        };
        let within = |column: &str, above: (f64, bool), below: (f64, bool)| {
            Some(Self::Within { column: layout.place(column)?, above, below })
        };
        const LEAST: (f64, bool) = (f64::NEG_INFINITY, true);
        const MOST: (f64, bool) = (f64::INFINITY, true);
        match condition {
            Condition::All(list) => Some(Self::All(all(list)?)),
            Condition::Any(list) => Some(Self::Any(all(list)?)),
            Condition::Between { column, from, to } => {
                let (from, to) = (from.map(|from| (from, true)), to.map(|to| (to, true)));
                within(column, from.unwrap_or(LEAST), to.unwrap_or(MOST))
            }
            Condition::Above { column, than } => within(column, (*than, false), MOST),
            Condition::Below { column, than } => within(column, LEAST, (*than, false)),
            Condition::In { column, keys } => {
                Self::one_of(column, (table, layout), [], |key| keys.contains(key))
            }
            Condition::Missing { column } => match table.column(column)?.kind {
                ColumnKind::Number(_) => {
                    Some(Self::MissingNumber { column: layout.place(column)? })
                }
                ColumnKind::Category(_) => {
                    Self::one_of(column, (table, layout), [MISSING], |_| false)
                }
            },
            Condition::Not(one) => match &**one {
                // A missing value is not another category.
                Condition::In { column, keys } => {
                    Self::one_of(column, (table, layout), [OTHER], |key| !keys.contains(key))
                }
                other => Some(Self::Not(Box::new(Self::new(other, table, layout)?))),
            },
        }
    }

    /// A filter for some declared categories and some of the undeclared codes.
    fn one_of<const N: usize>(
        column: &str,
        (table, layout): (&Table, &Layout),
        undeclared: [u32; N],
        is_chosen: impl Fn(&Key) -> bool,
    ) -> Option<Self> {
        let ColumnKind::Category(keys) = &table.column(column)?.kind else { return None };
        let undeclared = (0..FIRST).map(|code| undeclared.contains(&code));
        let codes = undeclared.chain(keys.iter().map(is_chosen));
        Some(Self::OneOf { column: layout.place(column)?, codes: codes.collect() })
    }

    /// Evaluates the condition for each row. For a missing value every condition but `Missing` is false.
    fn holds(&self, columns: &[ColumnValues], rows: usize) -> Vec<bool> {
        let joined = |list: &[Self], start: bool, join: fn(bool, bool) -> bool| {
            let mut all = vec![start; rows];
            for one in list {
                let one = one.holds(columns, rows);
                all.iter_mut().zip(one).for_each(|(all, one)| *all = join(*all, one));
            }
            all
        };
        match self {
            Self::All(list) => joined(list, true, |all, one| all && one),
            Self::Any(list) => joined(list, false, |all, one| all || one),
            Self::Not(one) => one.holds(columns, rows).into_iter().map(|holds| !holds).collect(),
            Self::Within { column, above: (from, with_from), below: (to, with_to) } => {
                holds_of(columns.get(*column), rows, |number| {
                    (if *with_from { number >= *from } else { number > *from })
                        && (if *with_to { number <= *to } else { number < *to })
                })
            }
            Self::OneOf { column, codes: chosen } => match columns.get(*column) {
                Some(ColumnValues::Codes(codes)) => {
                    let is_chosen = |code: &u32| chosen.get(*code as usize) == Some(&true);
                    codes.iter().map(is_chosen).collect()
                }
                _ => vec![false; rows],
            },
            Self::MissingNumber { column } => holds_of(columns.get(*column), rows, f64::is_nan),
        }
    }
}

/// Evaluates a predicate on each number of a column.
fn holds_of(column: Option<&ColumnValues>, rows: usize, holds: impl Fn(f64) -> bool) -> Vec<bool> {
    match column {
        Some(ColumnValues::Numbers(numbers)) => {
            numbers.iter().map(|number| holds(*number)).collect()
        }
        _ => vec![false; rows],
    }
}

/// A number within bounds: the lower bound if it is missing.
fn clamped(number: f64, bounds: Bounds) -> f64 {
    let (low, high) = (bounds.low(), bounds.high());
    if number > low { if number < high { number } else { high } } else { low }
}

/// The whole number of units that each row adds to a sum.
fn rounded(summand: &Summand, numbers: &[f64], others: &[f64]) -> Vec<i64> {
    let one = Rounder::of(summand);
    // A value below this many units is lost in rounding, as it is added to at least a half: see the statement's writer.
    let lost = 1e-20 * summand.unit();
    let unless_tiny =
        |value: f64, tiny: f64, then: f64| if value.abs() < tiny { 0.0 } else { then };
    let each = |unit: &dyn Fn(f64) -> i64| numbers.iter().map(|x| unit(*x)).collect();
    match summand.term() {
        Term::Values(bounds) => each(&|x| {
            let value = clamped(x, bounds);
            one.units(unless_tiny(value, lost, value))
        }),
        Term::Offsets(bounds) => each(&|x| {
            let offset = clamped(x, bounds) - bounds.center();
            one.units(unless_tiny(offset, lost, offset))
        }),
        Term::Squares(bounds) => each(&|x| {
            let offset = clamped(x, bounds) - bounds.center();
            one.units(unless_tiny(offset, lost.sqrt(), offset * offset))
        }),
        Term::Products(x, y) => {
            let [tiny, small] = tiny_factors(lost, x, y);
            let product = |(first, second): (&f64, &f64)| {
                let first = clamped(*first, x) - x.center();
                let second = clamped(*second, y) - y.center();
                let product = unless_tiny(second, small, first * second);
                one.units(unless_tiny(first, tiny, product))
            };
            numbers.iter().zip(others).map(product).collect()
        }
        // The other terms have an indicator.
        _ => vec![0; numbers.len()],
    }
}

/// Computes floor(value/unit + 1/2), clamped to the summand's ends.
#[derive(Clone, Copy)]
struct Rounder {
    scale: f64,
    shift: f64,
    low: i64,
    high: i64,
}

impl Rounder {
    fn of(summand: &Summand) -> Self {
        let (low, high) = summand.ends();
        Self { scale: 1.0 / summand.unit(), shift: 1.5 - low as f64, low, high }
    }

    fn units(&self, value: f64) -> i64 {
        let whole = (value * self.scale + self.shift) as i64;
        whole.saturating_add(self.low - 1).min(self.high).max(self.low)
    }
}

/// The number of edges that are at most each number. A missing value gets one more than the number of edges if such
/// rows are left out, else 0.
fn gaps_of(bins: &BinCounts, numbers: &[f64]) -> Vec<u32> {
    let edges = &bins.edges;
    let missing = if bins.skips_missing { edges.len() as u32 + 1 } else { 0 };
    let gap = |number: &f64| match number.is_nan() {
        true => missing,
        false => edges.partition_point(|edge| edge <= number) as u32,
    };
    numbers.iter().map(gap).collect()
}

//! What each row of a block counts for in a question: its group, its units and its places. The arithmetic is that of the SQL that
//! engines are given, operation by operation, so that the numbers are the same.

use crate::engine::files::read::{Column, FIRST, Layout, MISSING, OTHER};
use crate::engine::tabulation::{Added, Places, Tabulation, tiny_factors};
use counterpoint_mechanisms::{Bounds, Of, Summand};
use counterpoint_questions::public::{Key, Kind, Table};
use counterpoint_questions::question::Condition;

/// A question whose columns have been found.
#[derive(Clone, Debug)]
pub(crate) struct Question<'a> {
    pub tabulation: &'a Tabulation,
    filter: Option<Filter>,
    /// The columns that are grouped by, and how many categories each has.
    groupings: Vec<(usize, u32)>,
    units: Vec<Units<'a>>,
    pub counts: Vec<(usize, &'a Places)>,
}

/// A sum of units whose columns have been found.
#[derive(Clone, Debug)]
struct Units<'a> {
    added: &'a Added,
    columns: [usize; 2],
    required: Vec<usize>,
    indicator: Option<Filter>,
}

impl<'a> Units<'a> {
    fn new(added: &'a Added, table: &Table, layout: &Layout) -> Option<Self> {
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

    /// What each row adds; nothing where a value is missing and such rows are left out.
    fn of_rows(&self, columns: &[Column], rows: usize) -> Vec<i64> {
        let (low, high) = self.added.summand.ends();
        let mut units = match (self.added.summand.of(), &self.indicator) {
            (Of::Ones(None), _) => vec![high; rows],
            (_, Some(filter)) => {
                let holds = filter.holds(columns, rows).into_iter();
                holds.map(|holds| if holds { high } else { low }).collect()
            }
            _ => {
                let [first, second] = self.columns.map(|column| match columns.get(column) {
                    Some(Column::Numbers(numbers)) => numbers.as_slice(),
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
                Some(Column::Numbers(numbers)) => {
                    let missing = numbers.iter().enumerate().filter(|(_, number)| number.is_nan());
                    missing.for_each(|(row, _)| leave_out(row));
                }
                Some(Column::Codes(codes)) => {
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
    /// Whether a number is within these, each of which belongs to them or does not.
    Within {
        column: usize,
        above: (f64, bool),
        below: (f64, bool),
    },
    /// Whether the category with this code is one of these.
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

/// What each row of a block counts for.
#[derive(Debug, Default)]
pub(super) struct Evaluated {
    /// The group of each row.
    pub cells: Vec<u32>,
    /// For each sum of units what each row adds.
    pub units: Vec<Vec<i64>>,
    /// For each column that is counted between places, the place of each row.
    pub places: Vec<Vec<u32>>,
}

impl<'a> Question<'a> {
    /// Finds the columns of a question. `None` if one is not there, which checked questions see to.
    pub(crate) fn new(tabulation: &'a Tabulation, table: &Table, layout: &Layout) -> Option<Self> {
        let checked = &tabulation.checked;
        let filter = checked.filter().map(|filter| Filter::new(filter, table, layout));
        let groupings = checked.groupings().iter().map(|grouping| {
            Some((layout.place(&grouping.column)?, u32::try_from(grouping.keys.len()).ok()?))
        });
        let units = tabulation.units().map(|added| Units::new(added, table, layout));
        let counts = tabulation.counts.iter();
        let counts = counts.map(|places| Some((layout.place(&places.column)?, places)));
        Some(Self {
            tabulation,
            filter: match filter {
                Some(filter) => Some(filter?),
                None => None,
            },
            groupings: groupings.collect::<Option<_>>()?,
            units: units.collect::<Option<_>>()?,
            counts: counts.collect::<Option<_>>()?,
        })
    }

    /// How many numbers are counted: for each group its sums and places.
    pub(crate) fn size(&self) -> usize {
        let places: usize = self.counts.iter().map(|(_, places)| places.places.len() + 1).sum();
        let each = self.tabulation.sums.len() + places;
        self.tabulation.checked.cells().saturating_mul(each)
    }

    /// What each of so many rows counts for.
    pub(super) fn evaluate(&self, columns: &[Column], rows: usize) -> Evaluated {
        let mut cells = vec![0; rows];
        for (column, many) in &self.groupings {
            let Some(Column::Codes(codes)) = columns.get(*column) else { continue };
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
            Some(Column::Numbers(numbers)) => numbers.as_slice(),
            _ => &[],
        };
        let units = self.units.iter().map(|units| units.of_rows(columns, rows));
        let places = self.counts.iter().map(|(column, counted)| places(counted, numbers(column)));
        Evaluated { cells, units: units.collect(), places: places.collect() }
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
                Kind::Number(_) => Some(Self::MissingNumber { column: layout.place(column)? }),
                Kind::Category(_) => Self::one_of(column, (table, layout), [MISSING], |_| false),
            },
            Condition::Not(one) => match &**one {
                // What is missing is not another category.
                Condition::In { column, keys } => {
                    Self::one_of(column, (table, layout), [OTHER], |key| !keys.contains(key))
                }
                other => Some(Self::Not(Box::new(Self::new(other, table, layout)?))),
            },
        }
    }

    /// Whether a category is one of some, or none that is declared with one of these codes.
    fn one_of<const N: usize>(
        column: &str,
        (table, layout): (&Table, &Layout),
        undeclared: [u32; N],
        is_chosen: impl Fn(&Key) -> bool,
    ) -> Option<Self> {
        let Kind::Category(keys) = &table.column(column)?.kind else { return None };
        let undeclared = (0..FIRST).map(|code| undeclared.contains(&code));
        let codes = undeclared.chain(keys.iter().map(is_chosen));
        Some(Self::OneOf { column: layout.place(column)?, codes: codes.collect() })
    }

    /// Whether it holds of each row. Of what is missing nothing holds but that it is missing.
    fn holds(&self, columns: &[Column], rows: usize) -> Vec<bool> {
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
                Some(Column::Codes(codes)) => {
                    let is_chosen = |code: &u32| chosen.get(*code as usize) == Some(&true);
                    codes.iter().map(is_chosen).collect()
                }
                _ => vec![false; rows],
            },
            Self::MissingNumber { column } => holds_of(columns.get(*column), rows, f64::is_nan),
        }
    }
}

/// Whether something holds of each number of a column.
fn holds_of(column: Option<&Column>, rows: usize, holds: impl Fn(f64) -> bool) -> Vec<bool> {
    match column {
        Some(Column::Numbers(numbers)) => numbers.iter().map(|number| holds(*number)).collect(),
        _ => vec![false; rows],
    }
}

/// A number within bounds: the lower one if it is missing.
fn clamped(number: f64, bounds: Bounds) -> f64 {
    let (low, high) = (bounds.low(), bounds.high());
    if number > low { if number < high { number } else { high } } else { low }
}

/// What each row adds to a sum, in whole units.
fn rounded(summand: &Summand, numbers: &[f64], others: &[f64]) -> Vec<i64> {
    let one = Rounding::of(summand);
    // Added to a half or more, what is below this many units is lost in rounding: see the statement's writer.
    let lost = 1e-20 * summand.unit();
    let unless_tiny =
        |value: f64, tiny: f64, then: f64| if value.abs() < tiny { 0.0 } else { then };
    let each = |unit: &dyn Fn(f64) -> i64| numbers.iter().map(|x| unit(*x)).collect();
    match summand.of() {
        Of::Values(bounds) => each(&|x| {
            let value = clamped(x, bounds);
            one.units(unless_tiny(value, lost, value))
        }),
        Of::Offsets(bounds) => each(&|x| {
            let offset = clamped(x, bounds) - bounds.center();
            one.units(unless_tiny(offset, lost, offset))
        }),
        Of::Squares(bounds) => each(&|x| {
            let offset = clamped(x, bounds) - bounds.center();
            one.units(unless_tiny(offset, lost.sqrt(), offset * offset))
        }),
        Of::Products(x, y) => {
            let [tiny, small] = tiny_factors(lost, x, y);
            let product = |(first, second): (&f64, &f64)| {
                let first = clamped(*first, x) - x.center();
                let second = clamped(*second, y) - y.center();
                let product = unless_tiny(second, small, first * second);
                one.units(unless_tiny(first, tiny, product))
            };
            numbers.iter().zip(others).map(product).collect()
        }
        // No other is added up without an indicator.
        _ => vec![0; numbers.len()],
    }
}

/// floor(value/unit + 1/2), cut to the summand's ends.
#[derive(Clone, Copy)]
struct Rounding {
    scale: f64,
    shift: f64,
    low: i64,
    high: i64,
}

impl Rounding {
    fn of(summand: &Summand) -> Self {
        let (low, high) = summand.ends();
        Self { scale: 1.0 / summand.unit(), shift: 1.5 - low as f64, low, high }
    }

    fn units(&self, value: f64) -> i64 {
        let whole = (value * self.scale + self.shift) as i64;
        whole.saturating_add(self.low - 1).min(self.high).max(self.low)
    }
}

/// How many places are at most each number. Where it is missing, one more than there are if such rows are left out, and none if
/// not.
fn places(counted: &Places, numbers: &[f64]) -> Vec<u32> {
    let places = &counted.places;
    let missing = if counted.skips_missing { places.len() as u32 + 1 } else { 0 };
    let place = |number: &f64| match number.is_nan() {
        true => missing,
        false => places.partition_point(|place| place <= number) as u32,
    };
    numbers.iter().map(place).collect()
}

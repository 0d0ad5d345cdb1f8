//! From the algebra to SQL over whole numbers. Rows are filtered, then at most so many of a person are kept, then every
//! number is clamped and becomes a whole number of units; those are added up.

use crate::checked::{Checked, Grouping, Part};
use crate::engine::{Dialect, Rows, Statement, Value};
use crate::public::{Key, Table};
use crate::question::Condition;
use crate::source::{PERSON, quoted, texts, wholes};
use counterpoint_mechanisms::{Bounds, Measurement, Of, Summand, Tally};
use std::collections::BTreeMap;

/// A question as a statement, and what its rows mean: the number of what is told, a group, a place, and the sums. What is
/// told first is the sums of a group; then, for each aggregate that wants them, how many rows are at a place.
#[derive(Clone, Debug)]
pub struct Compiled {
    statement: Statement,
    /// What is added up, in order.
    sums: Vec<Sum>,
    /// How each aggregate's tally is made.
    tallies: Vec<Made>,
    cells: usize,
    /// Whether sums of units are in two columns.
    has_parts: bool,
}

/// What is added up.
#[derive(Clone, Debug, PartialEq)]
enum Sum {
    /// How many rows.
    Rows,
    /// How many people.
    People,
    /// Of units.
    Units(String, Summand),
}

/// What has to be known of a group's rows, for one aggregate.
#[derive(Clone, Debug, PartialEq)]
pub enum Wanted {
    /// These, added up over the rows.
    Sums(Vec<Summand>),
    /// How many rows are between these numbers, and whether those below the first and from the last count too.
    Places(Vec<f64>, bool),
}

impl Wanted {
    /// What a measurement's tally is made of; `None` if of something else.
    #[must_use]
    pub fn of(measurement: &Measurement) -> Option<Self> {
        let summands = measurement.summands();
        if !summands.is_empty() {
            return Some(Self::Sums(summands));
        }
        measurement.places().map(|(places, ends)| Self::Places(places.to_vec(), ends))
    }
}

/// What was found of a group: how many rows, and for each aggregate its numbers. **It is as secret as the data.**
#[derive(Clone, PartialEq)]
pub struct Counted {
    /// How many rows.
    pub rows: u64,
    /// For each aggregate a number for each summand, or place.
    pub numbers: Vec<Vec<i128>>,
}

/// Without the numbers: what is printed may end up in a log.
impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted").finish_non_exhaustive()
    }
}

#[derive(Clone, Debug)]
enum Made {
    /// Of these sums, and what a row or person counts where they are counted.
    Sums(Vec<(usize, i64)>),
    /// Of what is told under this number. So many places, the first and the last left out or not.
    Places { told: usize, places: usize, ends: bool },
}

/// Units are added up in two parts, so that no sum of 64 bits overflows: the lower bits, and what is above them.
const LOWER_BITS: u32 = 21;
/// Larger units would overflow all the same, in tables of 2^33 rows. No noise that can be asked for needs them.
const MOST_UNIT: u64 = 1 << 50;

// Names of our own, which no declared column can have.
const CELL: &str = "\"~cell\"";
const TOLD: &str = "\"~told\"";
const PLACE: &str = "\"~place\"";
const ORDER: &str = "\"~order\"";
const GROUP: &str = "\"~group\"";
const GROUP_RANK: &str = "\"~group rank\"";
const RANK_WITHIN: &str = "\"~rank within\"";
const RANK: &str = "\"~rank\"";

/// Text and values, as they are written.
struct Writer {
    dialect: Dialect,
    values: Vec<Value>,
}

impl Writer {
    fn value(&mut self, value: Value) -> String {
        let text = (self.dialect.parameter)(self.values.len() + 1, &value);
        self.values.push(value);
        text
    }

    fn real(&mut self, real: f64) -> String {
        self.value(Value::Real(real))
    }

    /// Whether a column has a key: never unknown.
    fn has(&mut self, column: &str, key: &Key) -> String {
        let (column, key) = match key {
            Key::Whole(whole) => (wholes(column), self.value(Value::Whole(*whole))),
            Key::Text(text) => (texts(column), self.value(Value::Text(text.clone()))),
        };
        format!("({column} IS NOT NULL AND {column} = {key})")
    }

    fn condition(&mut self, condition: &Condition) -> String {
        let compared = |writer: &mut Self, column: &str, relations: &[(&str, f64)]| {
            let column = quoted(column);
            let mut text = format!("{column} IS NOT NULL");
            for (relation, number) in relations {
                let number = writer.real(*number);
                text += &format!(" AND {column} {relation} {number}");
            }
            format!("({text})")
        };
        match condition {
            Condition::All(list) => self.joined(list, " AND "),
            Condition::Any(list) => self.joined(list, " OR "),
            // None is left: see `checked`.
            Condition::Not(one) => format!("(NOT {})", self.condition(one)),
            Condition::Between { column, from, to } => {
                let from = from.map(|from| (">=", from));
                let to = to.map(|to| ("<=", to));
                let both: Vec<(&str, f64)> = [from, to].into_iter().flatten().collect();
                compared(self, column, &both)
            }
            Condition::Above { column, than } => compared(self, column, &[(">", *than)]),
            Condition::Below { column, than } => compared(self, column, &[("<", *than)]),
            Condition::In { column, keys } => {
                let keys: Vec<String> = keys.iter().map(|key| self.has(column, key)).collect();
                if keys.is_empty() {
                    "(1 = 0)".to_owned()
                } else {
                    format!("({})", keys.join(" OR "))
                }
            }
        }
    }

    fn joined(&mut self, list: &[Condition], with: &str) -> String {
        let list: Vec<String> = list.iter().map(|one| self.condition(one)).collect();
        format!("({})", list.join(with))
    }

    /// The number of a row's group; unknown if it is in none.
    fn cell(&mut self, groupings: &[Grouping]) -> String {
        let mut text = "0".to_owned();
        for grouping in groupings {
            let cases = grouping.keys.iter().enumerate();
            let cases: Vec<String> = cases
                .map(|(place, key)| {
                    format!("WHEN {} THEN {place}", self.has(&grouping.column, key))
                })
                .collect();
            text = format!("({text} * {} + CASE {} END)", grouping.keys.len(), cases.join(" "));
        }
        text
    }

    /// A number within bounds: the lower one if it cannot be read.
    fn clamped(&mut self, column: &str, low: f64, high: f64) -> String {
        let (floor, above) = (self.real(low), self.real(low));
        let (ceiling, below) = (self.real(high), self.real(high));
        format!(
            "(CASE WHEN {column} > {above} \
             THEN CASE WHEN {column} < {below} THEN {column} ELSE {ceiling} END ELSE {floor} END)"
        )
    }

    /// A row's whole number of units: floor(value/unit + 1/2), cut to the summand's ends.
    fn units(&mut self, column: &str, summand: &Summand) -> Option<String> {
        let (low, high) = summand.ends();
        let offset = |writer: &mut Self, bounds: &Bounds| {
            let clamped = writer.clamped(column, bounds.low(), bounds.high());
            let center = writer.real(bounds.center());
            format!("({clamped} - {center})")
        };
        // Added to a half or more, what is below this many units is lost in rounding. Some engines fail where a product is
        // rounded to 0, so that it is not made.
        let lost = 1e-20 * summand.unit();
        let value = match summand.of() {
            Of::Values(bounds) => {
                let value = self.clamped(column, bounds.low(), bounds.high());
                self.unless_tiny(&value, lost, &value)
            }
            Of::Offsets(bounds) => {
                let value = offset(self, &bounds);
                self.unless_tiny(&value, lost, &value)
            }
            Of::Squares(bounds) => {
                let (one, other) = (offset(self, &bounds), offset(self, &bounds));
                self.unless_tiny(&one, lost.sqrt(), &format!("{one} * {other}"))
            }
            _ => return None,
        };
        // The whole part of what is not negative: every engine has that. One unit below the end is never negative.
        let (scale, shift) = (self.real(1.0 / summand.unit()), self.real(1.5 - low as f64));
        let whole = (self.dialect.whole)(&format!("{value} * {scale} + {shift}"));
        let (back, least, most) = (low - 1, low, high);
        let (min, max) = (self.dialect.least, self.dialect.greatest);
        Some(format!("{max}({least}, {min}({most}, {whole} + {back}))"))
    }

    fn unless_tiny(&mut self, value: &str, tiny: f64, then: &str) -> String {
        let (tiny, zero) = (self.real(tiny), self.real(0.0));
        format!("(CASE WHEN ABS({value}) < {tiny} THEN {zero} ELSE {then} END)")
    }

    /// How many places are at most a column's number; none if it cannot be read.
    fn place(&mut self, column: &str, places: &[f64]) -> String {
        let tree = self.tree(column, places, 0);
        format!("CASE WHEN {column} IS NOT NULL THEN {tree} ELSE 0 END")
    }

    fn tree(&mut self, column: &str, places: &[f64], before: usize) -> String {
        let middle = places.len() / 2;
        let Some(place) = places.get(middle) else { return before.to_string() };
        let (lower, upper) = (places.get(..middle), places.get(middle + 1..));
        let place = self.real(*place);
        let above = self.tree(column, upper.unwrap_or_default(), before + middle + 1);
        let below = self.tree(column, lower.unwrap_or_default(), before);
        format!("CASE WHEN {column} >= {place} THEN {above} ELSE {below} END")
    }
}

/// The statement that finds out what is wanted for each aggregate of a question, of a table as [`crate::Held::place`] has it.
/// It goes through the table once.
///
/// `None` if it is not made of sums and counts of one column; no legal question is.
#[must_use]
pub fn compile(
    checked: &Checked,
    wanted: &[Wanted],
    table: &Table,
    (from, dialect): (&str, Dialect),
) -> Option<Compiled> {
    let mut sums: Vec<Sum> = vec![Sum::Rows];
    let mut counts: Vec<(&str, &[f64])> = Vec::new();
    let mut tallies = Vec::new();
    for (part, wanted) in checked.parts().iter().zip(wanted) {
        match wanted {
            Wanted::Places(places, ends) => {
                counts.push((part.column.as_deref()?, places));
                let (told, ends) = (counts.len(), *ends);
                tallies.push(Made::Places { told, places: places.len() + 1, ends });
            }
            Wanted::Sums(summands) => {
                let places = summands.iter().map(|summand| placed(&mut sums, part, summand));
                tallies.push(Made::Sums(places.collect::<Option<Vec<_>>>()?));
            }
        }
    }
    let statement = Source { checked, table, from, dialect }.statement(&sums, &counts)?;
    let (cells, has_parts) = (checked.cells(), dialect.exact.is_none());
    Some(Compiled { statement, sums, tallies, cells, has_parts })
}

/// Where a summand's sum is found, and what one row counts for.
fn placed(sums: &mut Vec<Sum>, part: &Part, summand: &Summand) -> Option<(usize, i64)> {
    let (low, high) = summand.ends();
    if low.unsigned_abs().max(high.unsigned_abs()) > MOST_UNIT {
        return None;
    }
    let (sum, each) = match (summand.of(), part.people) {
        (Of::Ones(None), true) => (Sum::People, high),
        (Of::Ones(None), false) => (Sum::Rows, high),
        _ => (Sum::Units(part.column.clone()?, *summand), 1),
    };
    let place = sums.iter().position(|other| *other == sum).unwrap_or_else(|| {
        sums.push(sum);
        sums.len() - 1
    });
    Some((place, each))
}

struct Source<'a> {
    checked: &'a Checked,
    table: &'a Table,
    from: &'a str,
    dialect: Dialect,
}

impl Source<'_> {
    /// For each group every sum; and for each of the columns how many rows there are between its places.
    fn statement(&self, sums: &[Sum], counts: &[(&str, &[f64])]) -> Option<Statement> {
        let mut writer = Writer { dialect: self.dialect, values: Vec::new() };
        let (mut columns, mut units) = (Vec::new(), Vec::new());
        for sum in sums {
            match sum {
                Sum::Rows => columns.push("COUNT(*)".to_owned()),
                Sum::People => columns.push(self.people()),
                Sum::Units(column, summand) => {
                    let name = format!("\"~units {}\"", units.len());
                    columns.extend(self.summed(&name));
                    units.push((writer.units(&quoted(column), summand)?, name));
                }
            }
        }
        for (number, (column, places)) in counts.iter().enumerate() {
            units.push((writer.place(&quoted(column), places), at(number + 1)));
        }
        let rows = spread(&self.rows(&mut writer, &units), counts.len());
        let keys = format!("{TOLD}, {CELL}, {PLACE}");
        let sql = format!("SELECT {keys}, {} FROM {rows} GROUP BY {keys}", columns.join(", "));
        Some(Statement { sql, values: writer.values })
    }

    /// The sum of whole numbers, exactly: in one part or in two.
    fn summed(&self, units: &str) -> Vec<String> {
        let units = sums_alone(units);
        match self.dialect.exact {
            Some(exact) => vec![format!("SUM(CAST({units} AS {exact}))")],
            None => {
                let lower = (1 << LOWER_BITS) - 1;
                vec![format!("SUM({units} >> {LOWER_BITS})"), format!("SUM({units} & {lower})")]
            }
        }
    }

    fn people(&self) -> String {
        match self.table.person() {
            Some(_) => format!("COUNT(DISTINCT {})", sums_alone(PERSON)),
            None => "COUNT(*)".to_owned(),
        }
    }

    /// The rows that are used, with their group and units: those that pass the filter and have a group and a person, and of each
    /// person no more than is allowed.
    ///
    /// Which ones are is decided by a keyed hash of the person, the group and the units, so that it depends on that person's own
    /// rows alone, and so that rows with the same hash are the same to the question: every engine adds up the same.
    fn rows(&self, writer: &mut Writer, units: &[(String, String)]) -> String {
        let cell = writer.cell(self.checked.groupings());
        let filter = self.checked.filter().map(|filter| writer.condition(filter));
        let filter = filter.map(|filter| format!(" WHERE {filter}")).unwrap_or_default();
        let mut chosen = format!("SELECT {cell} AS {CELL}");
        for (text, name) in units {
            chosen += &format!(", {text} AS {name}");
        }
        let from = self.from;
        if self.table.person().is_none() {
            let rows = format!("({chosen} FROM {from}{filter})");
            return format!("(SELECT * FROM {rows} AS chosen WHERE {CELL} IS NOT NULL) AS used");
        }
        let chosen = format!("({chosen}, {PERSON} FROM {from}{filter})");
        let names = units.iter().map(|(_, name)| name.as_str());
        let order = self.order(writer, [CELL].into_iter().chain(names));
        let known = format!("{CELL} IS NOT NULL AND {PERSON} IS NOT NULL");
        let rows = format!("(SELECT *, {order} AS {ORDER} FROM {chosen} AS chosen WHERE {known})");
        self.bounded(writer, &rows)
    }

    /// A keyed hash of whole numbers and the person, who comes last, as any text may.
    fn order<'b>(&self, writer: &mut Writer, numbers: impl Iterator<Item = &'b str>) -> String {
        let secret = writer.value(Value::Text(self.dialect.secret.text()));
        let numbers = numbers.map(|number| format!("{} || '/'", (self.dialect.text)(number)));
        let parts: Vec<String> = [secret].into_iter().chain(numbers).collect();
        (self.dialect.hash)(&format!("{} || {PERSON}", parts.join(" || ")))
    }

    /// Of each person no more rows than are allowed.
    fn bounded(&self, writer: &mut Writer, rows: &str) -> String {
        let (most, groups, each) = self.checked.contribution();
        let mut rows = rows.to_owned();
        if !self.checked.groupings().is_empty() && (groups < most || each < most) {
            let group = self.order(writer, [CELL].into_iter());
            rows = format!(
                "(SELECT *, DENSE_RANK() OVER (PARTITION BY {PERSON} ORDER BY {GROUP}) AS {GROUP_RANK}, \
                 ROW_NUMBER() OVER (PARTITION BY {PERSON}, {CELL} ORDER BY {ORDER}) AS {RANK_WITHIN} \
                 FROM (SELECT *, {group} AS {GROUP} FROM {rows} AS known) AS placed)"
            );
            rows = format!(
                "(SELECT * FROM {rows} AS ranked WHERE {GROUP_RANK} <= {groups} AND {RANK_WITHIN} <= {each})"
            );
        }
        format!(
            "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY {PERSON} ORDER BY {ORDER}) AS {RANK} \
             FROM {rows} AS grouped) AS ordered WHERE {RANK} <= {most}) AS used"
        )
    }
}

/// The place of a row in what is told under a number.
fn at(told: usize) -> String {
    format!("\"~place {told}\"")
}

/// A column where sums are told, and nothing where rows are counted.
fn sums_alone(column: &str) -> String {
    format!("CASE WHEN {TOLD} = 0 THEN {column} END")
}

/// Every row once for the sums, and once for each column whose places are counted.
fn spread(rows: &str, counts: usize) -> String {
    if counts == 0 {
        return format!("(SELECT *, 0 AS {TOLD}, 0 AS {PLACE} FROM {rows}) AS spread");
    }
    let each: Vec<String> = (1..=counts).map(|told| format!(" UNION ALL SELECT {told}")).collect();
    let cases = (1..=counts).map(|told| format!("WHEN {told} THEN {}", at(told)));
    let cases = cases.collect::<Vec<_>>().join(" ");
    format!(
        "(SELECT *, CASE {TOLD} {cases} ELSE 0 END AS {PLACE} FROM {rows} \
         CROSS JOIN (SELECT 0 AS {TOLD}{}) AS told) AS spread",
        each.concat()
    )
}

impl Compiled {
    /// What the engine is asked.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }

    /// For each group the tallies of all aggregates. Groups of which the engine said nothing have no rows.
    #[must_use]
    pub fn tallies(&self, measured: &[Measurement], answer: &Rows) -> Option<Vec<Vec<Tally>>> {
        let cell = |Counted { rows, numbers }: Counted| {
            let tally = |(measurement, numbers): (&Measurement, Vec<i128>)| {
                measurement.tallied(rows, numbers).ok()
            };
            measured.iter().zip(numbers).map(tally).collect::<Option<Vec<Tally>>>()
        };
        self.counted(answer)?.into_iter().map(cell).collect()
    }

    /// For each group the numbers of all aggregates, likewise.
    #[must_use]
    pub fn counted(&self, answer: &Rows) -> Option<Vec<Counted>> {
        let told: BTreeMap<[usize; 3], Vec<i128>> = answer
            .iter()
            .map(|row| match row.as_slice() {
                [told, cell, place, sums @ ..] => {
                    Some(([index(*told)?, index(*cell)?, index(*place)?], self.whole(sums)))
                }
                _ => None,
            })
            .collect::<Option<_>>()?;
        let nothing = vec![0; self.sums.len()];
        let cell = |cell: usize| {
            let sums = told.get(&[0, cell, 0]).unwrap_or(&nothing);
            let rows = sums.first().copied().unwrap_or_default();
            let numbers = |made: &Made| match made {
                Made::Sums(places) => {
                    let one = |(place, each): &(usize, i64)| {
                        Some(sums.get(*place)?.saturating_mul(i128::from(*each)))
                    };
                    places.iter().map(one).collect::<Option<Vec<i128>>>()
                }
                Made::Places { told: number, places, ends } => {
                    let inner = if *ends { 0..*places } else { 1..places.saturating_sub(1) };
                    let found = |place| told.get(&[*number, cell, place])?.first().copied();
                    let count = |place| found(place).unwrap_or_default();
                    Some(inner.map(count).collect())
                }
            };
            let numbers = self.tallies.iter().map(numbers).collect::<Option<Vec<_>>>()?;
            Some(Counted { rows: u64::try_from(rows).unwrap_or_default(), numbers })
        };
        (0..self.cells).map(cell).collect()
    }

    /// The sums of a row, the two parts of each together.
    fn whole(&self, sums: &[i128]) -> Vec<i128> {
        let mut numbers = sums.iter().copied();
        let mut next = || numbers.next().unwrap_or_default();
        let sum = |sum: &Sum| match sum {
            Sum::Rows | Sum::People => next(),
            Sum::Units(..) if self.has_parts => (next() << LOWER_BITS) + next(),
            Sum::Units(..) => next(),
        };
        self.sums.iter().map(sum).collect()
    }
}

fn index(number: i128) -> Option<usize> {
    usize::try_from(number).ok()
}

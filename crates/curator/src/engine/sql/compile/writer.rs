//! Expressions about one row, in an engine's SQL.

use super::guess::Guess;
use crate::engine::sql::Value;
use crate::engine::sql::dialect::Dialect;
use crate::engine::sql::view::{quoted, texts, wholes};
use crate::engine::tabulation::{Added, Places, tiny_factors};
use counterpoint_mechanisms::{Bounds, Of, Summand};
use counterpoint_questions::Grouping;
use counterpoint_questions::public::{Key, Kind, Table};
use counterpoint_questions::question::Condition;

/// Fewer places or keys are compared one by one. A longer list is one value, so that no statement is planned for longer than it
/// runs.
const FEW: usize = 16;

/// Keys as lists of one kind, each with the column that holds such values.
fn lists(column: &str, keys: &[Key]) -> Vec<(String, Value)> {
    let whole = |key: &Key| match key {
        Key::Whole(whole) => Some(*whole),
        Key::Text(_) => None,
    };
    let text = |key: &Key| match key {
        Key::Text(text) => Some(text.clone()),
        Key::Whole(_) => None,
    };
    let whole: Vec<i64> = keys.iter().filter_map(whole).collect();
    let text: Vec<String> = keys.iter().filter_map(text).collect();
    let whole = (!whole.is_empty()).then(|| (wholes(column), Value::Wholes(whole)));
    let text = (!text.is_empty()).then(|| (texts(column), Value::Texts(text)));
    whole.into_iter().chain(text).collect()
}

/// Text and values, as they are written.
pub(super) struct Writer<'a> {
    pub dialect: Dialect,
    pub table: &'a Table,
    pub values: Vec<Value>,
}

impl Writer<'_> {
    pub(super) fn value(&mut self, value: Value) -> String {
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

    /// Whether a column has a value that can be read: never unknown.
    fn present(&self, column: &str) -> String {
        let kind = self.table.column(column).map(|column| &column.kind);
        let Some(Kind::Category(keys)) = kind else {
            return format!("({} IS NOT NULL)", quoted(column));
        };
        let is_whole = |key: &Key| matches!(key, Key::Whole(_));
        let whole = keys.iter().any(is_whole).then(|| wholes(column));
        let text = (!keys.iter().all(is_whole)).then(|| texts(column));
        let parts = whole.into_iter().chain(text).map(|part| format!("{part} IS NOT NULL"));
        format!("({})", parts.collect::<Vec<_>>().join(" OR "))
    }

    /// A condition as [`crate::Checked`] has it: never unknown.
    pub(super) fn condition(&mut self, condition: &Condition) -> String {
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
            Condition::Not(one) => match &**one {
                Condition::Missing { column } => self.present(column),
                // What is missing is not another category.
                Condition::In { column, .. } => {
                    format!("({} AND NOT {})", self.present(column), self.condition(one))
                }
                // No other is left: see `checked`.
                other => format!("(NOT {})", self.condition(other)),
            },
            Condition::Missing { column } => format!("(NOT {})", self.present(column)),
            Condition::Between { column, from, to } => {
                let from = from.map(|from| (">=", from));
                let to = to.map(|to| ("<=", to));
                let both: Vec<(&str, f64)> = [from, to].into_iter().flatten().collect();
                compared(self, column, &both)
            }
            Condition::Above { column, than } => compared(self, column, &[(">", *than)]),
            Condition::Below { column, than } => compared(self, column, &[("<", *than)]),
            Condition::In { column, keys } => self.one_of(column, keys),
        }
    }

    /// Whether a column has one of some keys: never unknown.
    fn one_of(&mut self, column: &str, keys: &[Key]) -> String {
        if keys.is_empty() {
            return "(1 = 0)".to_owned();
        }
        if keys.len() < FEW {
            let keys: Vec<String> = keys.iter().map(|key| self.has(column, key)).collect();
            return format!("({})", keys.join(" OR "));
        }
        let lists = lists(column, keys).into_iter();
        let found = lists.map(|(column, list)| {
            let list = self.value(list);
            format!("COALESCE({}, 0) > 0", (self.dialect.position)(&list, &column))
        });
        format!("({})", found.collect::<Vec<_>>().join(" OR "))
    }

    fn joined(&mut self, list: &[Condition], with: &str) -> String {
        let list: Vec<String> = list.iter().map(|one| self.condition(one)).collect();
        format!("({})", list.join(with))
    }

    /// The number of a row's group; unknown if it is in none.
    pub(super) fn cell(&mut self, groupings: &[Grouping]) -> String {
        let mut text = "0".to_owned();
        for grouping in groupings {
            if let (many, [(column, list)]) =
                (grouping.keys.len(), lists(&grouping.column, &grouping.keys).as_slice())
                && many >= FEW
            {
                let list = self.value(list.clone());
                let position = (self.dialect.position)(&list, column);
                text = format!("({text} * {many} + NULLIF(COALESCE({position}, 0), 0) - 1)");
                continue;
            }
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

    /// A number within bounds: the lower one if it is missing.
    fn clamped(&mut self, column: &str, low: f64, high: f64) -> String {
        let (floor, above) = (self.real(low), self.real(low));
        let (ceiling, below) = (self.real(high), self.real(high));
        format!(
            "(CASE WHEN {column} > {above} \
             THEN CASE WHEN {column} < {below} THEN {column} ELSE {ceiling} END ELSE {floor} END)"
        )
    }

    /// A row's whole number of units; nothing is added where a value is missing and such rows are left out.
    pub(super) fn units(&mut self, added: &Added) -> Option<String> {
        let (low, high) = added.summand.ends();
        let units = match (added.summand.of(), &added.indicator) {
            (Of::Ones(None), _) => high.to_string(),
            (_, Some(condition)) => {
                format!("CASE WHEN {} THEN {high} ELSE {low} END", self.condition(condition))
            }
            _ => self.rounded(&added.columns, &added.summand)?,
        };
        let required: Vec<String> =
            added.required.iter().map(|column| self.present(column)).collect();
        Some(match required.is_empty() {
            true => units,
            false => format!("CASE WHEN {} THEN {units} ELSE 0 END", required.join(" AND ")),
        })
    }

    /// A column's distance from the middle of its bounds.
    fn offset(&mut self, column: &str, bounds: Bounds) -> String {
        let clamped = self.clamped(&quoted(column), bounds.low(), bounds.high());
        let center = self.real(bounds.center());
        format!("({clamped} - {center})")
    }

    /// floor(value/unit + 1/2), cut to the summand's ends.
    fn rounded(&mut self, [column, other]: &[String; 2], summand: &Summand) -> Option<String> {
        let (low, high) = summand.ends();
        // Added to a half or more, what is below this many units is lost in rounding. Some engines fail where a product is
        // rounded to 0, so that it is not made.
        let lost = 1e-20 * summand.unit();
        let value = match summand.of() {
            Of::Values(bounds) => {
                let value = self.clamped(&quoted(column), bounds.low(), bounds.high());
                self.unless_tiny(&value, lost, &value)
            }
            Of::Offsets(bounds) => {
                let value = self.offset(column, bounds);
                self.unless_tiny(&value, lost, &value)
            }
            Of::Squares(bounds) => {
                let (one, two) = (self.offset(column, bounds), self.offset(column, bounds));
                self.unless_tiny(&one, lost.sqrt(), &format!("{one} * {two}"))
            }
            Of::Products(x, y) => {
                let (one, two) = (self.offset(column, x), self.offset(other, y));
                let [tiny, small] = tiny_factors(lost, x, y);
                let product = self.unless_tiny(&two, small, &format!("{one} * {two}"));
                self.unless_tiny(&one, tiny, &product)
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

    /// How many places are at most a column's number. Where it is missing, one more than there are if such rows are left out,
    /// and none if not.
    pub(super) fn place(&mut self, counted: &Places) -> String {
        let (column, places) = (quoted(&counted.column), &counted.places);
        let listed = self.dialect.listed.zip(Guess::of(places));
        let count = match listed {
            Some((listed, guess)) => self.guessed(&column, places, &guess, listed),
            None if places.len() < FEW => self.tree(&column, places, 0),
            None => {
                let list = self.value(Value::Reals(places.clone()));
                (self.dialect.at_most)(&list, &column)
            }
        };
        let missing = if counted.skips_missing { places.len() + 1 } else { 0 };
        format!("CASE WHEN {column} IS NOT NULL THEN {count} ELSE {missing} END")
    }

    /// A guess, put right by the two places next to it: see [`Guess`].
    fn guessed(
        &mut self,
        column: &str,
        places: &[f64],
        guess: &Guess,
        listed: fn(&str, &str) -> String,
    ) -> String {
        let ends = places.iter().copied().chain([f64::INFINITY]).collect();
        let list = self.value(Value::Reals(ends));
        let (first, last) = (self.real(guess.first), self.real(guess.last));
        let (scale, least, greatest) =
            (self.real(guess.scale), self.dialect.least, self.dialect.greatest);
        let value = format!("{least}({column}, {last})");
        let whole =
            (self.dialect.whole)(&format!("({greatest}({value}, {first}) - {first}) * {scale}"));
        let reached = |more: u8| {
            let place = listed(&list, &format!("CAST({whole} AS INT) + {more}"));
            format!("CASE WHEN {value} >= {place} THEN 1 ELSE 0 END")
        };
        format!("({whole} + {} + {})", reached(1), reached(2))
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

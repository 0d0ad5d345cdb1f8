//! Writes SQL expressions about one row.

use super::guess::Guess;
use crate::engine::sql::SqlValue;
use crate::engine::sql::dialect::Dialect;
use crate::engine::sql::view::{quoted, texts, wholes};
use crate::engine::tabulation::{BinCounts, UnitSum, tiny_factors};
use counterpoint_mechanisms::{Bounds, Summand, Term};
use counterpoint_questions::GroupColumn;
use counterpoint_questions::public::{ColumnKind, Key, Table};
use counterpoint_questions::question::Condition;

/// Shorter lists of edges or keys are compared one by one. A longer list is passed as one value, since planning many
/// comparisons takes longer than running them.
const FEW: usize = 16;

/// Splits keys into a list of whole numbers and a list of texts, each with the column that holds them.
fn lists(column: &str, keys: &[Key]) -> Vec<(String, SqlValue)> {
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
    let whole = (!whole.is_empty()).then(|| (wholes(column), SqlValue::Wholes(whole)));
    let text = (!text.is_empty()).then(|| (texts(column), SqlValue::Texts(text)));
    whole.into_iter().chain(text).collect()
}

/// Writes SQL text and collects its parameter values.
pub(super) struct Writer<'a> {
    pub dialect: Dialect,
    pub table: &'a Table,
    pub values: Vec<SqlValue>,
}

impl Writer<'_> {
    pub(super) fn value(&mut self, value: SqlValue) -> String {
        let text = (self.dialect.parameter)(self.values.len() + 1, &value);
        self.values.push(value);
        text
    }

    fn real(&mut self, real: f64) -> String {
        self.value(SqlValue::Real(real))
    }

    /// An expression that is true if the column has the key, and else false: never NULL.
    fn has(&mut self, column: &str, key: &Key) -> String {
        let (column, key) = match key {
            Key::Whole(whole) => (wholes(column), self.value(SqlValue::Whole(*whole))),
            Key::Text(text) => (texts(column), self.value(SqlValue::Text(text.clone()))),
        };
        format!("({column} IS NOT NULL AND {column} = {key})")
    }

    /// An expression that is true if the column has a readable value, and else false: never NULL.
    fn present(&self, column: &str) -> String {
        let kind = self.table.column(column).map(|column| &column.kind);
        let Some(ColumnKind::Category(keys)) = kind else {
            return format!("({} IS NOT NULL)", quoted(column));
        };
        let is_whole = |key: &Key| matches!(key, Key::Whole(_));
        let whole = keys.iter().any(is_whole).then(|| wholes(column));
        let text = (!keys.iter().all(is_whole)).then(|| texts(column));
        let parts = whole.into_iter().chain(text).map(|part| format!("{part} IS NOT NULL"));
        format!("({})", parts.collect::<Vec<_>>().join(" OR "))
    }

    /// An expression for a condition of a [`crate::CheckedQuestion`]: never NULL.
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
                // A missing value is not another category.
                Condition::In { column, .. } => {
                    format!("({} AND NOT {})", self.present(column), self.condition(one))
                }
                // Checking leaves no other negation: see `counterpoint_questions`.
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

    /// An expression that is true if the column has one of the keys, and else false: never NULL.
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

    /// The index of a row's group; NULL if the row is in none.
    pub(super) fn cell(&mut self, group_columns: &[GroupColumn]) -> String {
        let mut text = "0".to_owned();
        for group_column in group_columns {
            if let (many, [(column, list)]) = (
                group_column.keys.len(),
                lists(&group_column.column, &group_column.keys).as_slice(),
            ) && many >= FEW
            {
                let list = self.value(list.clone());
                let position = (self.dialect.position)(&list, column);
                text = format!("({text} * {many} + NULLIF(COALESCE({position}, 0), 0) - 1)");
                continue;
            }
            let cases = group_column.keys.iter().enumerate();
            let cases: Vec<String> = cases
                .map(|(index, key)| {
                    format!("WHEN {} THEN {index}", self.has(&group_column.column, key))
                })
                .collect();
            text = format!("({text} * {} + CASE {} END)", group_column.keys.len(), cases.join(" "));
        }
        text
    }

    /// The column's number within bounds: the lower bound if it is missing.
    fn clamped(&mut self, column: &str, low: f64, high: f64) -> String {
        let (floor, above) = (self.real(low), self.real(low));
        let (ceiling, below) = (self.real(high), self.real(high));
        format!(
            "(CASE WHEN {column} > {above} \
             THEN CASE WHEN {column} < {below} THEN {column} ELSE {ceiling} END ELSE {floor} END)"
        )
    }

    /// The units of a row; 0 if a required value is missing.
    pub(super) fn units(&mut self, added: &UnitSum) -> Option<String> {
        let (low, high) = added.summand.ends();
        let units = match (added.summand.term(), &added.indicator) {
            (Term::Ones(None), _) => high.to_string(),
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

    /// The distance of a column's clamped number from the middle of its bounds.
    fn offset(&mut self, column: &str, bounds: Bounds) -> String {
        let clamped = self.clamped(&quoted(column), bounds.low(), bounds.high());
        let center = self.real(bounds.center());
        format!("({clamped} - {center})")
    }

    /// floor(value/unit + 1/2), clamped to the summand's ends.
    fn rounded(&mut self, [column, other]: &[String; 2], summand: &Summand) -> Option<String> {
        let (low, high) = summand.ends();
        // A value below this many units is lost in rounding, as it is added to at least a half. Some engines fail when
        // a product is rounded to 0, so such products are not computed.
        let lost = 1e-20 * summand.unit();
        let value = match summand.term() {
            Term::Values(bounds) => {
                let value = self.clamped(&quoted(column), bounds.low(), bounds.high());
                self.unless_tiny(&value, lost, &value)
            }
            Term::Offsets(bounds) => {
                let value = self.offset(column, bounds);
                self.unless_tiny(&value, lost, &value)
            }
            Term::Squares(bounds) => {
                let (one, two) = (self.offset(column, bounds), self.offset(column, bounds));
                self.unless_tiny(&one, lost.sqrt(), &format!("{one} * {two}"))
            }
            Term::Products(x, y) => {
                let (one, two) = (self.offset(column, x), self.offset(other, y));
                let [tiny, small] = tiny_factors(lost, x, y);
                let product = self.unless_tiny(&two, small, &format!("{one} * {two}"));
                self.unless_tiny(&one, tiny, &product)
            }
            _ => return None,
        };
        // Every engine can take the whole part of a nonnegative number. Counted from one unit below the lower end, the
        // number is never negative.
        // it is never negative.
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

    /// The number of edges that are at most the column's number. A missing value gets one more than the number of edges
    /// if such rows are left out, else 0.
    pub(super) fn gap(&mut self, bins: &BinCounts) -> String {
        let (column, edges) = (quoted(&bins.column), &bins.edges);
        let element_at = self.dialect.element_at.zip(Guess::of(edges));
        let count = match element_at {
            Some((element_at, guess)) => self.guessed(&column, edges, &guess, element_at),
            None if edges.len() < FEW => self.tree(&column, edges, 0),
            None => {
                let list = self.value(SqlValue::Reals(edges.clone()));
                (self.dialect.at_most)(&list, &column)
            }
        };
        let missing = if bins.skips_missing { edges.len() + 1 } else { 0 };
        format!("CASE WHEN {column} IS NOT NULL THEN {count} ELSE {missing} END")
    }

    /// The guess, corrected by comparing with the two edges next to it: see [`Guess`].
    fn guessed(
        &mut self,
        column: &str,
        edges: &[f64],
        guess: &Guess,
        element_at: fn(&str, &str) -> String,
    ) -> String {
        let ends = edges.iter().copied().chain([f64::INFINITY]).collect();
        let list = self.value(SqlValue::Reals(ends));
        let (first, last) = (self.real(guess.first), self.real(guess.last));
        let (scale, least, greatest) =
            (self.real(guess.scale), self.dialect.least, self.dialect.greatest);
        let value = format!("{least}({column}, {last})");
        let whole =
            (self.dialect.whole)(&format!("({greatest}({value}, {first}) - {first}) * {scale}"));
        let reached = |more: u8| {
            let edge = element_at(&list, &format!("CAST({whole} AS INT) + {more}"));
            format!("CASE WHEN {value} >= {edge} THEN 1 ELSE 0 END")
        };
        format!("({whole} + {} + {})", reached(1), reached(2))
    }

    fn tree(&mut self, column: &str, edges: &[f64], before: usize) -> String {
        let middle = edges.len() / 2;
        let Some(edge) = edges.get(middle) else { return before.to_string() };
        let (lower, upper) = (edges.get(..middle), edges.get(middle + 1..));
        let edge = self.real(*edge);
        let above = self.tree(column, upper.unwrap_or_default(), before + middle + 1);
        let below = self.tree(column, lower.unwrap_or_default(), before);
        format!("CASE WHEN {column} >= {edge} THEN {above} ELSE {below} END")
    }
}

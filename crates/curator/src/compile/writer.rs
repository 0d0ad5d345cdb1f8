//! Expressions about one row, in an engine's SQL.

use super::guess::Guess;
use crate::checked::Grouping;
use crate::engine::{Dialect, Value};
use crate::public::Key;
use crate::question::Condition;
use crate::source::{quoted, texts, wholes};
use counterpoint_mechanisms::{Bounds, Of, Summand};

/// Text and values, as they are written.
pub(super) struct Writer {
    pub dialect: Dialect,
    pub values: Vec<Value>,
}

impl Writer {
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
    pub(super) fn cell(&mut self, groupings: &[Grouping]) -> String {
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
    pub(super) fn units(&mut self, column: &str, summand: &Summand) -> Option<String> {
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
    pub(super) fn place(&mut self, column: &str, places: &[f64]) -> String {
        let listed = self.dialect.listed.zip(Guess::of(places));
        let count = match listed {
            Some((listed, guess)) => self.guessed(column, places, &guess, listed),
            None => self.tree(column, places, 0),
        };
        format!("CASE WHEN {column} IS NOT NULL THEN {count} ELSE 0 END")
    }

    /// A guess, put right by the two places next to it: see [`Guess`].
    fn guessed(
        &mut self,
        column: &str,
        places: &[f64],
        guess: &Guess,
        listed: fn(&str, &str) -> String,
    ) -> String {
        let ends = places.iter().copied().chain([f64::INFINITY]).map(|place| format!("{place:?}"));
        let list = ends.collect::<Vec<_>>().join(",").replace("inf", "Infinity");
        let list = self.value(Value::Text(list));
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

//! The fields of one table, taken out one by one; what is left over is an error.

use std::borrow::Cow;

use counterpoint::{Count, OutOfRange};

use crate::error::PlanError;
use crate::value::{Table, Value};

/// The fields not yet taken.
#[derive(Debug)]
pub(crate) struct Fields<'a>(Table<'a>);

impl<'a> Fields<'a> {
    pub(crate) fn new(table: Table<'a>) -> Self {
        Self(table)
    }

    /// Looks at a text without taking it.
    pub(crate) fn peek_text(&self, name: &str) -> Option<&str> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((_, Value::Text(text))) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// A text field.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, PlanError> {
        self.take(name).map(|value| text(name, value)).transpose()
    }

    /// A checked number; an error if it is not there.
    pub(crate) fn number<T>(
        &mut self,
        name: &str,
        check: Check<T>,
        legal: &str,
    ) -> Result<T, PlanError> {
        match self.take(name) {
            Some(value) => number(name, &value, check, legal),
            None => Err(missing(name, legal)),
        }
    }

    /// A checked number, or a default if it is not there.
    pub(crate) fn number_or<T>(
        &mut self,
        name: &str,
        default: f64,
        check: Check<T>,
        legal: &str,
    ) -> Result<T, PlanError> {
        let value = self.take(name).unwrap_or(Value::Real(default));
        number(name, &value, check, legal)
    }

    /// A count, one if it is not there.
    pub(crate) fn count(&mut self, name: &str) -> Result<Count, PlanError> {
        let value = self.take(name).unwrap_or(Value::Whole(1));
        let legal = match value {
            Value::Real(_) => format!("{}, without point or exponent", Count::LEGAL),
            _ => Count::LEGAL.to_owned(),
        };
        let error = || illegal(name, &value, &legal);
        let Value::Whole(number) = value else { return Err(error()) };
        let number = u64::try_from(number).map_err(|_| error())?;
        Count::new(number).map_err(|_| error())
    }

    /// Nothing may be left.
    pub(crate) fn finish(self, of: &str, legal: &[&str]) -> Result<(), PlanError> {
        match self.0.first() {
            None => Ok(()),
            Some((key, _)) => Err(unknown(key, of, legal)),
        }
    }
}

/// The constructor of a validated quantity.
pub(crate) type Check<T> = fn(f64) -> Result<T, OutOfRange>;

/// A checked number.
pub(crate) fn number<T>(
    name: &str,
    value: &Value<'_>,
    check: Check<T>,
    legal: &str,
) -> Result<T, PlanError> {
    let number = match *value {
        Value::Real(number) => number,
        // Rounds to nearest, as reading the text as an f64 would.
        Value::Whole(number) => number as f64,
        _ => return Err(illegal(name, value, legal)),
    };
    check(number).map_err(|_| illegal(name, value, legal))
}

/// A text.
pub(crate) fn text<'a>(name: &str, value: Value<'a>) -> Result<Cow<'a, str>, PlanError> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(illegal(name, &other, "a string")),
    }
}

/// A field with a value it may not have.
pub(crate) fn illegal(name: &str, value: &Value<'_>, legal: &str) -> PlanError {
    PlanError::field(name, format!("is {value}; legal: {legal}"))
}

/// A field that should be there.
pub(crate) fn missing(name: &str, legal: &str) -> PlanError {
    PlanError::field(name, format!("is missing; legal: {legal}"))
}

/// A field that should not be there.
pub(crate) fn unknown(name: &str, of: &str, legal: &[&str]) -> PlanError {
    PlanError::field(name, format!("is not a field of {of}; legal: {}", legal.join(", ")))
}

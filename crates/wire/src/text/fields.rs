//! The fields of one table, taken out one by one; what is left over is an error.

use std::borrow::Cow;

use counterpoint::OutOfRange;

use super::error::PlanError;
use super::value::{Table, Value};
use super::written::{Written, power, quoted};

/// The fields not yet taken, and the numbers taken that no double is.
#[derive(Debug)]
pub(crate) struct Fields<'a>(Table<'a>, Vec<(Box<str>, Written)>);

impl<'a> Fields<'a> {
    /// What a list of numbers is, in words.
    pub(crate) const LIST: &'static str = "a list of numbers";

    pub(crate) fn new(table: Table<'a>) -> Self {
        Self(table, Vec::new())
    }

    /// The numbers that were taken so far and are no doubles, as they are written.
    pub(crate) fn written(&mut self) -> Vec<(Box<str>, Written)> {
        std::mem::take(&mut self.1)
    }

    /// Looks at a text without taking it.
    pub(crate) fn peek_text(&self, name: &str) -> Option<&str> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((_, Value::Text(text))) => Some(text),
            _ => None,
        }
    }

    /// Looks at a value without taking it.
    pub(crate) fn peek(&self, name: &str) -> Option<&Value<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Fills in a field that is not there.
    pub(crate) fn fill(&mut self, name: &'static str, value: Value<'a>) {
        self.0.push((name.into(), value));
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// A text field.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, PlanError> {
        self.take(name).map(|value| text(name, value)).transpose()
    }

    /// A checked number, or a default; an error if there is neither.
    pub(crate) fn number<T>(
        &mut self,
        name: &str,
        default: Option<f64>,
        (check, legal): (Check<f64, T>, &str),
    ) -> Result<T, PlanError> {
        match self.take(name).or(default.map(Value::Real)) {
            Some(value) => {
                let number = number(name, &value, check, legal)?;
                self.1.extend(written(&value).map(|written| (name.into(), written)));
                Ok(number)
            }
            None => Err(missing(name, legal)),
        }
    }

    /// A checked whole number, if it is there.
    pub(crate) fn whole<T>(
        &mut self,
        name: &str,
        (check, legal): (Check<u64, T>, &str),
    ) -> Result<Option<T>, PlanError> {
        self.take(name).map(|value| whole(name, &value, check, legal)).transpose()
    }

    /// Whether a field is true; false if it is not there.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, PlanError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(illegal(name, &other, "true, false")),
        }
    }

    /// A list of numbers.
    pub(crate) fn numbers(&mut self, name: &str) -> Result<Vec<f64>, PlanError> {
        let legal = Self::LIST;
        let value = self.take(name).ok_or_else(|| missing(name, legal))?;
        let Value::List(items) = &value else { return Err(illegal(name, &value, legal)) };
        let number = |(at, item): (usize, &Value<'_>)| {
            real(item).ok_or_else(|| {
                PlanError::field(name, format!("entry {} is {item}; legal: a number", at + 1))
            })
        };
        items.iter().enumerate().map(number).collect()
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
pub(crate) type Check<N, T> = fn(N) -> Result<T, OutOfRange>;

/// A checked number.
pub(crate) fn number<T>(
    name: &str,
    value: &Value<'_>,
    check: Check<f64, T>,
    legal: &str,
) -> Result<T, PlanError> {
    let checked = real(value).and_then(|number| check(number).ok());
    checked.ok_or_else(|| illegal(name, value, legal))
}

/// A checked whole number.
pub(crate) fn whole<T>(
    name: &str,
    value: &Value<'_>,
    check: Check<u64, T>,
    legal: &str,
) -> Result<T, PlanError> {
    let checked = match *value {
        Value::Whole(number) => u64::try_from(number).ok().and_then(|number| check(number).ok()),
        // A number with an exponent, such as 1e3, that is whole; beyond 2^53 doubles leave whole numbers out.
        Value::Real(number) => whole_of(number, check),
        Value::Written(ref number) => whole_of(number.nearest, check),
        Value::Text(ref text) => power(text).and_then(|number| whole_of(number, check)),
        _ => None,
    };
    checked.ok_or_else(|| illegal(name, value, legal))
}

pub(crate) fn real(value: &Value<'_>) -> Option<f64> {
    match *value {
        Value::Real(number) => Some(number),
        // Rounds to nearest, as reading the text as an f64 would.
        Value::Whole(number) => Some(number as f64),
        Value::Written(ref number) => Some(number.nearest),
        Value::Text(ref text) => quoted(text).map(|(nearest, _)| nearest),
        _ => None,
    }
}

/// The number as it is written, if that is no double.
pub(crate) fn written(value: &Value<'_>) -> Option<Written> {
    match value {
        Value::Written(number) => Some((**number).clone()),
        Value::Text(text) => {
            let (nearest, exact) = quoted(text)?;
            Written::beside(nearest, exact)
        }
        _ => None,
    }
}

fn whole_of<T>(number: f64, check: Check<u64, T>) -> Option<T> {
    let whole = (0.0..=9e15).contains(&number) && number.fract().abs() < f64::MIN_POSITIVE;
    check(number as u64).ok().filter(|_| whole)
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

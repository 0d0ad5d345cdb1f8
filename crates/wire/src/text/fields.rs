//! The fields of a table. A reader takes the fields that it knows; fields that remain are an error.

use std::borrow::Cow;

use counterpoint::OutOfRangeError;

use super::error::PlanError;
use super::value::{Table, Value};
use super::written::{ExactNumber, power, quoted_number};

/// The fields that were not taken yet, and the numbers among the taken ones that no double equals.
#[derive(Debug)]
pub struct Fields<'a>(Table<'a>, Vec<(Box<str>, ExactNumber)>);

impl<'a> Fields<'a> {
    /// The description of a list of numbers in error messages.
    pub const LIST: &'static str = "a list of numbers";

    /// The fields of a table, none of them taken.
    pub fn new(table: Table<'a>) -> Self {
        Self(table, Vec::new())
    }

    /// Returns the taken numbers that no double equals, by their fields, and forgets them.
    pub fn take_exact_numbers(&mut self) -> Vec<(Box<str>, ExactNumber)> {
        std::mem::take(&mut self.1)
    }

    /// Returns a text field without taking it.
    pub fn peek_text(&self, name: &str) -> Option<&str> {
        match self.0.iter().find(|(key, _)| key == name) {
            Some((_, Value::Text(text))) => Some(text),
            _ => None,
        }
    }

    /// Returns a value without taking it.
    pub fn peek(&self, name: &str) -> Option<&Value<'a>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// True if a field is present and not taken yet.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Adds a field that is absent.
    pub fn fill(&mut self, name: &'static str, value: Value<'a>) {
        self.0.push((name.into(), value));
    }

    /// Takes the value of a field.
    pub fn take(&mut self, name: &str) -> Option<Value<'a>> {
        let at = self.0.iter().position(|(key, _)| key == name)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Takes a text field.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn text(&mut self, name: &str) -> Result<Option<Cow<'a, str>>, PlanError> {
        self.take(name).map(|value| text(name, value)).transpose()
    }

    /// Takes a number and checks it; an absent field has the default value, or is an error without one.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn number<T>(
        &mut self,
        name: &str,
        default: Option<f64>,
        (check, legal): (Check<f64, T>, &str),
    ) -> Result<T, PlanError> {
        match self.take(name).or(default.map(Value::Real)) {
            Some(value) => {
                let number = number(name, &value, check, legal)?;
                self.1.extend(exact_number(&value).map(|written| (name.into(), written)));
                Ok(number)
            }
            None => Err(missing(name, legal)),
        }
    }

    /// Takes a whole number and checks it, if the field is present.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn whole<T>(
        &mut self,
        name: &str,
        (check, legal): (Check<u64, T>, &str),
    ) -> Result<Option<T>, PlanError> {
        self.take(name).map(|value| whole(name, &value, check, legal)).transpose()
    }

    /// Takes a truth value; an absent field is false.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn flag(&mut self, name: &str) -> Result<bool, PlanError> {
        match self.take(name) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(flag),
            Some(other) => Err(illegal(name, &other, "true, false")),
        }
    }

    /// Takes a list of numbers.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn numbers(&mut self, name: &str) -> Result<Vec<f64>, PlanError> {
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

    /// Returns an error if a field was not taken.
    ///
    /// # Errors
    /// [`PlanError`] that names the field and its legal values.
    pub fn finish(self, of: &str, legal: &[&str]) -> Result<(), PlanError> {
        match self.0.first() {
            None => Ok(()),
            Some((key, _)) => Err(unknown(key, of, legal)),
        }
    }
}

/// The constructor of a validated quantity: it returns the quantity, or the reason why the number is out of range.
pub type Check<N, T> = fn(N) -> Result<T, OutOfRangeError>;

/// Reads a number and checks it.
///
/// # Errors
/// [`PlanError`] that names the field and its legal values.
pub fn number<T>(
    name: &str,
    value: &Value<'_>,
    check: Check<f64, T>,
    legal: &str,
) -> Result<T, PlanError> {
    let checked = real(value).and_then(|number| check(number).ok());
    checked.ok_or_else(|| illegal(name, value, legal))
}

/// Reads a whole number and checks it.
pub(crate) fn whole<T>(
    name: &str,
    value: &Value<'_>,
    check: Check<u64, T>,
    legal: &str,
) -> Result<T, PlanError> {
    let checked = match *value {
        Value::Whole(number) => u64::try_from(number).ok().and_then(|number| check(number).ok()),
        // A whole number with an exponent, such as 1e3. Beyond 2^53 not every whole number is a double.
        Value::Real(number) => whole_of(number, check),
        Value::Exact(ref number) => whole_of(number.nearest, check),
        Value::Text(ref text) => power(text).and_then(|number| whole_of(number, check)),
        _ => None,
    };
    checked.ok_or_else(|| illegal(name, value, legal))
}

/// The double of a number, whichever way it is written.
pub fn real(value: &Value<'_>) -> Option<f64> {
    match *value {
        Value::Real(number) => Some(number),
        // Rounds to the nearest double, as parsing the text would.
        Value::Whole(number) => Some(number as f64),
        Value::Exact(ref number) => Some(number.nearest),
        Value::Text(ref text) => quoted_number(text).map(|(nearest, _)| nearest),
        _ => None,
    }
}

/// Returns the exact number of a value that no double equals.
pub(crate) fn exact_number(value: &Value<'_>) -> Option<ExactNumber> {
    match value {
        Value::Exact(number) => Some((**number).clone()),
        Value::Text(text) => {
            let (nearest, exact) = quoted_number(text)?;
            ExactNumber::with_nearest(nearest, exact)
        }
        _ => None,
    }
}

fn whole_of<T>(number: f64, check: Check<u64, T>) -> Option<T> {
    let whole = (0.0..=9e15).contains(&number) && number.fract().abs() < f64::MIN_POSITIVE;
    check(number as u64).ok().filter(|_| whole)
}

/// Reads a text.
///
/// # Errors
/// [`PlanError`] that names the field and its legal values.
pub fn text<'a>(name: &str, value: Value<'a>) -> Result<Cow<'a, str>, PlanError> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(illegal(name, &other, "a string")),
    }
}

/// The error of a field whose value is not legal.
pub fn illegal(name: &str, value: &Value<'_>, legal: &str) -> PlanError {
    PlanError::field(name, format!("is {value}; legal: {legal}"))
}

/// The error of a field that is required and absent.
pub fn missing(name: &str, legal: &str) -> PlanError {
    PlanError::field(name, format!("is missing; legal: {legal}"))
}

/// The error of a field that no reader knows.
pub(crate) fn unknown(name: &str, of: &str, legal: &[&str]) -> PlanError {
    PlanError::field(name, format!("is not a field of {of}; legal: {}", legal.join(", ")))
}

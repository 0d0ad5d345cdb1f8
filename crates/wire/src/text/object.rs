//! JSON objects that carry answers, and numbers in them: decimal text that is still a bound.

use std::fmt::Write;

use counterpoint::Bracket;
use counterpoint::theorem::{Parameters, Setting};
use serde::Serialize;
use serde::ser::{Error, Serializer};
use serde_json::value::RawValue;

use super::decimal::{self, FULL_DIGITS};

/// A JSON object in the making, its fields in the order they are added.
#[derive(Debug)]
pub(crate) struct Object(Result<String, serde_json::Error>);

impl Object {
    pub(crate) fn new() -> Self {
        Self(Ok(String::new()))
    }

    /// Adds a field, whose name is a plain word.
    pub(crate) fn field(self, name: &str, value: impl Serialize) -> Self {
        Self(self.0.and_then(|mut text| {
            let comma = if text.is_empty() { "" } else { "," };
            let value = serde_json::to_string(&value)?;
            let _ = write!(text, "{comma}\"{name}\":{value}");
            Ok(text)
        }))
    }

    /// Adds a field if there is a value for it.
    pub(crate) fn some(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    /// Adds a list unless it is empty.
    pub(crate) fn list(self, name: &str, list: &[impl Serialize]) -> Self {
        if list.is_empty() { self } else { self.field(name, list) }
    }

    /// The object as text; an error if one of its numbers is not finite.
    pub(crate) fn json(self) -> Result<String, serde_json::Error> {
        self.0.map(|fields| format!("{{{fields}}}"))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_ref().map_err(S::Error::custom)?;
        raw(format!("{{{fields}}}"), serializer)
    }
}

/// A decimal number as it stands.
#[derive(Debug)]
pub(crate) struct Decimal(pub(crate) String);

impl Decimal {
    /// Never below a number.
    pub(crate) fn up(number: f64) -> Self {
        Self(decimal::up(number, FULL_DIGITS))
    }

    /// Never above a number.
    pub(crate) fn down(number: f64) -> Self {
        Self(decimal::down(number, FULL_DIGITS))
    }

    /// The shortest that is read as a number.
    pub(crate) fn shortest(number: f64) -> Self {
        Self(decimal::shortest(number))
    }

    /// The same number with no zeros at its end.
    pub(crate) fn trimmed(self) -> Self {
        Self(decimal::trimmed(&self.0))
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A number's text is a number's JSON, unless it is `inf` or `NaN`.
        serde_json::from_str::<f64>(&self.0).map_err(S::Error::custom)?;
        raw(self.0.clone(), serializer)
    }
}

fn raw<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

/// A bracket, rounded outward.
pub(crate) fn ends(bracket: Bracket) -> Object {
    between(Decimal::down(bracket.lower), Decimal::up(bracket.upper))
}

/// What lies between two numbers.
pub(crate) fn between(lower: impl Serialize, upper: impl Serialize) -> Object {
    Object::new().field("lower", lower).field("upper", upper)
}

/// A number that was given.
pub(crate) fn exactly(number: f64) -> Object {
    between(Decimal::shortest(number), Decimal::shortest(number))
}

/// What may be chosen, and whether mechanisms may be interleaved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpentSetting {
    /// `fixed` or `adaptive`.
    pub parameters: &'static str,
    /// Whether interactive mechanisms may be run side by side.
    pub concurrent: bool,
}

impl From<Setting> for SpentSetting {
    fn from(setting: Setting) -> Self {
        let parameters = match setting.parameters {
            Parameters::Adaptive => "adaptive",
            // Promising less than is true is safe.
            _ => "fixed",
        };
        Self { parameters, concurrent: setting.concurrent }
    }
}

//! JSON objects that carry answers, and numbers in them: decimal text that is still a bound.

use std::fmt::Write;

use counterpoint::theorem::{ParameterChoice, Setting};
use counterpoint::{Bracket, Guarantee};
use serde::Serialize;
use serde::ser::{Error, Serializer};
use serde_json::value::RawValue;

use super::decimal::{self, FULL_DIGITS};

/// A JSON object that is being built; its fields keep the order in which they are added.
#[derive(Debug)]
pub struct Object(Result<String, serde_json::Error>);

impl Default for Object {
    fn default() -> Self {
        Self(Ok(String::new()))
    }
}

impl Object {
    /// An object without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field, whose name is a plain word.
    pub fn field(self, name: &str, value: impl Serialize) -> Self {
        Self(self.0.and_then(|mut text| {
            let comma = if text.is_empty() { "" } else { "," };
            let value = serde_json::to_string(&value)?;
            let _ = write!(text, "{comma}\"{name}\":{value}");
            Ok(text)
        }))
    }

    /// Adds a field if it has a value.
    pub fn some(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.field(name, value),
            None => self,
        }
    }

    /// Adds a list unless it is empty.
    pub fn list(self, name: &str, list: &[impl Serialize]) -> Self {
        if list.is_empty() { self } else { self.field(name, list) }
    }

    /// Returns the object as text, or an error if one of its numbers is not finite.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn json(self) -> Result<String, serde_json::Error> {
        self.0.map(|fields| format!("{{{fields}}}"))
    }
}

impl Serialize for Object {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.0.as_ref().map_err(S::Error::custom)?;
        raw(format!("{{{fields}}}"), serializer)
    }
}

/// A number as decimal text.
#[derive(Debug)]
pub struct Decimal(pub String);

impl Decimal {
    /// The decimal next to a number that is not below it.
    pub fn up(number: f64) -> Self {
        Self(decimal::up(number, FULL_DIGITS))
    }

    /// The decimal next to a number that is not above it.
    pub fn down(number: f64) -> Self {
        Self(decimal::down(number, FULL_DIGITS))
    }

    /// The shortest decimal that is read as this number.
    pub fn shortest(number: f64) -> Self {
        Self(decimal::shortest(number))
    }

    /// The same number without zeros at its end.
    pub fn trimmed(self) -> Self {
        Self(decimal::trimmed(&self.0))
    }
}

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The decimal text of a number is legal JSON, unless it is `inf` or `NaN`.
        serde_json::from_str::<f64>(&self.0).map_err(S::Error::custom)?;
        raw(self.0.clone(), serializer)
    }
}

fn raw<S: Serializer>(text: String, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(text).map_err(S::Error::custom)?.serialize(serializer)
}

/// A bracket as `{lower, upper}`, rounded outward.
pub fn bracket_object(bracket: Bracket) -> Object {
    bounds_object(Decimal::down(bracket.lower), Decimal::up(bracket.upper))
}

/// Two numbers as `{lower, upper}`.
pub fn bounds_object(lower: impl Serialize, upper: impl Serialize) -> Object {
    Object::new().field("lower", lower).field("upper", upper)
}

/// A number that is known exactly, as `{lower, upper}`.
pub fn exact_object(number: f64) -> Object {
    bounds_object(Decimal::shortest(number), Decimal::shortest(number))
}

/// A guarantee as `{epsilon, delta}`.
pub fn guarantee_object(guarantee: Guarantee) -> Object {
    Object::new()
        .field("epsilon", Decimal::shortest(guarantee.epsilon.get()))
        .field("delta", Decimal::shortest(guarantee.delta.get()))
}

/// The freedom that an answer's theorem allows: adaptive parameters, and mechanisms that run concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SpentSetting {
    /// `fixed` or `adaptive`.
    pub parameters: &'static str,
    /// True if interactive mechanisms may run concurrently.
    pub concurrent: bool,
}

impl From<Setting> for SpentSetting {
    fn from(setting: Setting) -> Self {
        let parameters = match setting.parameters {
            ParameterChoice::Adaptive => "adaptive",
            // A setting unknown here is reported as `fixed`: that claims less than the theorem may allow.
            _ => "fixed",
        };
        Self { parameters, concurrent: setting.concurrent }
    }
}

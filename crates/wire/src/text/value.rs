//! Values of TOML and JSON, before they are interpreted.

use std::borrow::Cow;
use std::fmt;

use counterpoint_numerics::fractions::Ratio;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::error::{PlanError, quoted};
use super::written::{ExactNumber, amount};

/// A value of TOML or JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number written without point or exponent.
    Whole(i128),
    /// Any other number: the f64 nearest to its text.
    Real(f64),
    /// A number that is read exactly and that no double equals.
    Exact(Box<ExactNumber>),
    /// The text of a number that is too large for the other variants.
    TooLarge(String),
    /// A string.
    Text(Cow<'a, str>),
    /// True or false.
    Bool(bool),
    /// A list.
    List(Vec<Value<'a>>),
    /// A table of TOML or an object of JSON; its keys are distinct.
    Table(Table<'a>),
    /// A date or time, which only TOML has.
    Date,
    /// Null, which only JSON has.
    Null,
}

impl Value<'_> {
    /// Returns the exact number of a text, if this value is the double next to it.
    pub(crate) fn with_exact_text(self, text: &str) -> Self {
        let Self::Real(double) = self else { return self };
        match amount(text) {
            Ok(amount) => match ExactNumber::with_nearest(double, Ratio::from(&amount)) {
                Some(written) => Self::Exact(Box::new(written)),
                None => Self::Real(double),
            },
            // The number is negative, or too large to be an amount.
            Err(_) if text.starts_with('-') || !(0.0..1e40).contains(&double) => Self::Real(double),
            Err(_) => Self::TooLarge(text.to_owned()),
        }
    }
}

/// The keys and values of a table.
pub type Table<'a> = Vec<(Cow<'a, str>, Value<'a>)>;

/// More fields than any table of a plan has. Keys are compared pair by pair, so the number must stay small.
const MOST_FIELDS: usize = 64;

/// More items than any list of a release has.
const MOST_ITEMS: usize = 1_000_000;

/// Adds a field to a table, or returns the reason why it cannot be added.
pub(crate) fn push_field<'a>(
    table: &mut Table<'a>,
    key: Cow<'a, str>,
    value: Value<'a>,
) -> Result<(), PlanError> {
    if table.iter().any(|(earlier, _)| *earlier == key) {
        return Err(PlanError::plan(format!("{} is given twice; legal: once", quoted(&key))));
    }
    if table.len() == MOST_FIELDS {
        let problem = format!("a table has more than {MOST_FIELDS} fields; legal: at most that");
        return Err(PlanError::plan(problem));
    }
    table.push((key, value));
    Ok(())
}

impl fmt::Display for Value<'_> {
    /// Writes the value as an error message shows it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => write!(f, "{number}"),
            Self::Real(number) if number.is_nan() => f.write_str("nan"),
            Self::Real(number) => write!(f, "{number:?}"),
            Self::Exact(number) => write!(f, "{number}"),
            Self::TooLarge(text) if text.len() <= 40 => f.write_str(text),
            Self::TooLarge(text) => write!(f, "a number of {} characters", text.len()),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::Bool(truth) => write!(f, "{truth}"),
            Self::List(_) => f.write_str("a list"),
            Self::Table(_) => f.write_str("a table"),
            Self::Date => f.write_str("a date"),
            Self::Null => f.write_str("null"),
        }
    }
}

impl<'de> Deserialize<'de> for Value<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, truth: bool) -> Result<Self::Value, E> {
        Ok(Value::Bool(truth))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Value::Whole(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Value::Real(number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Value::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == MOST_ITEMS {
                let problem = format!("a list has more than {MOST_ITEMS} items");
                return Err(de::Error::custom(problem));
            }
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let mut table = Table::new();
        while let Some(Key(key)) = entries.next_key()? {
            let value = entries.next_value()?;
            push_field(&mut table, key, value).map_err(de::Error::custom)?;
        }
        Ok(Value::Table(table))
    }
}

/// A key, borrowed from the file where possible.
pub(crate) struct Key<'a>(pub(crate) Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::Text(text) => Ok(Self(text)),
            other => Err(de::Error::custom(format!("a key is {other}; legal: a string"))),
        }
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Whole(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.serialize_i128(*number),
            },
            Self::Real(number) => serializer.serialize_f64(*number),
            // In quotes: a number in quotes is read exactly.
            Self::Exact(number) => serializer.collect_str(number),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bool(truth) => serializer.serialize_bool(*truth),
            Self::List(list) => list.serialize(serializer),
            Self::Table(table) => {
                let mut map = serializer.serialize_map(Some(table.len()))?;
                for (key, value) in table {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
            Self::TooLarge(_) | Self::Date | Self::Null => {
                Err(serde::ser::Error::custom(format!("{self} has no place in a plan")))
            }
        }
    }
}

//! Fields that are words.

use counterpoint::mechanism::{MaxNoise, ScoreChanges};

use super::types::Number;
use super::{Field, FieldType, Role, RoundingSide, ValueShape};
use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing};
use crate::text::value::Value;

/// Reads and writes values that have names, the legal ones being described by a text.
macro_rules! words {
    ($($type:ident $legal:literal { $($variant:ident => $name:literal,)* })*) => {$(
        impl Number for $type {
            const TYPE: FieldType =
                FieldType::new(ValueShape::Word, $legal, RoundingSide::Together, Role::Other);

            fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
                let default = field.default.map(|name| Value::Text(name.into()));
                let value = from.take(field.name).or(default);
                let value = value.ok_or_else(|| missing(field.name, $legal))?;
                match &value {
                    $(Value::Text(text) if text == $name => Ok(Self::$variant),)*
                    _ => Err(illegal(field.name, &value, $legal)),
                }
            }

            fn value(&self) -> Option<Value<'static>> {
                Some(Value::Text(match self { $(Self::$variant => $name,)* }.into()))
            }
        }
    )*};
}

/// The name of the law of a number of runs.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RunLawName {
    Geometric,
    Logarithmic,
    NegativeBinomial,
    Poisson,
}

words! {
    MaxNoise "\"gumbel\", \"laplace\" or \"exponential\"" {
        Gumbel => "gumbel",
        Laplace => "laplace",
        Exponential => "exponential",
    }
    ScoreChanges "\"any\" or \"monotone\"" {
        Any => "any",
        Monotone => "monotone",
    }
    RunLawName "\"geometric\", \"logarithmic\", \"negative-binomial\" or \"poisson\"" {
        Geometric => "geometric",
        Logarithmic => "logarithmic",
        NegativeBinomial => "negative-binomial",
        Poisson => "poisson",
    }
}

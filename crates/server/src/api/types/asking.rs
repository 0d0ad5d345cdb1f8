//! Questions, as they are asked and priced.

use counterpoint_curator::question::Question;
use counterpoint_curator::{Ask, Pay, Written};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::api::problem::{ILLEGAL, Problem};

/// A question, and what it may cost: one of `sql` and `question`, and one of `epsilon`, `rho`, `slot` and `error`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asking {
    /// The account that pays.
    pub(crate) account: String,
    /// The caller's own name for the question: asked again under it, it has to be the same.
    #[serde(default)]
    key: Option<String>,
    /// As SQL.
    #[serde(default)]
    sql: Option<String>,
    /// As JSON: `table`, `filter`, `group`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// In pure differential privacy.
    #[serde(default)]
    epsilon: Option<f64>,
    /// In zero-concentrated differential privacy.
    #[serde(default)]
    rho: Option<f64>,
    /// A slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    /// As little as gives every number this half-width.
    #[serde(default)]
    error: Option<f64>,
    /// The confidence of intervals; 0.95 if nothing is said.
    #[serde(default)]
    confidence: Option<f64>,
}

/// The longest key, in bytes.
const MOST_KEY: usize = 200;

impl Asking {
    pub(crate) fn ask(self) -> Result<Ask, Problem> {
        let written = written(self.sql, self.question)?;
        let pay = match (self.epsilon, self.rho, self.slot, self.error) {
            (Some(epsilon), None, None, None) => Pay::Epsilon(epsilon),
            (None, Some(rho), None, None) => Pay::Rho(rho),
            (None, None, Some(slot), None) => Pay::Slot(slot),
            (None, None, None, Some(error)) => Pay::Error(error),
            _ => return Err(ILLEGAL.of("legal: exactly one of epsilon, rho, slot and error")),
        };
        if self.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MOST_KEY) {
            return Err(ILLEGAL.of("key is too long or empty; legal: 1 to 200 bytes"));
        }
        let (confidence, key) = (self.confidence.unwrap_or(0.95), self.key);
        Ok(Ask { account: self.account, written, pay, confidence, key })
    }
}

pub(crate) fn written(sql: Option<String>, question: Option<Question>) -> Result<Written, Problem> {
    match (sql, question) {
        (Some(sql), None) => Ok(Written::Sql(sql)),
        (None, Some(question)) => Ok(Written::Question(Box::new(question))),
        _ => Err(ILLEGAL.of("legal: exactly one of sql and question")),
    }
}

/// One question, or a list of them.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Askings {
    /// A list.
    Many(Vec<Asking>),
    /// One.
    One(Box<Asking>),
}

/// The most questions that are priced or asked together.
const MOST_TOGETHER: usize = 100;

impl Askings {
    /// Them, unless they are too many.
    pub(crate) fn bounded(self) -> Result<Self, Problem> {
        match self {
            Self::Many(list) if list.len() > MOST_TOGETHER => {
                let number = list.len();
                Err(ILLEGAL.of(format!("{number} questions; legal: at most {MOST_TOGETHER}")))
            }
            askings => Ok(askings),
        }
    }
}

/// By whether it is a list: what is wrong is said of the field that is wrong.
impl<'de> Deserialize<'de> for Askings {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Askings;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a question or a list of questions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Askings, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Askings::Many)
            }

            fn visit_map<A: MapAccess<'de>>(self, one: A) -> Result<Askings, A::Error> {
                Box::deserialize(MapAccessDeserializer::new(one)).map(Askings::One)
            }
        }
        text.deserialize_any(Either)
    }
}

//! Questions, prices and answers.

use counterpoint_curator::public::Key;
use counterpoint_curator::question::Question;
use counterpoint_curator::{Ask, Number, Pay, Priced, Spend, Written};
use counterpoint_wire::ledger::{AccountStatus, Cost};
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

pub(super) fn written(sql: Option<String>, question: Option<Question>) -> Result<Written, Problem> {
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

/// What something costs, in an account's currency.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Charge {
    /// How much.
    pub(crate) amount: f64,
    /// Of what.
    pub(crate) unit: String,
    /// Deltas beside it.
    pub(crate) delta: f64,
}

impl Charge {
    pub(crate) fn of(cost: &Cost, unit: &str) -> Self {
        Self { amount: cost.main.upper(), unit: unit.to_owned(), delta: cost.delta.upper() }
    }
}

/// What is left to spend.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Remaining {
    /// How much.
    pub(crate) amount: f64,
    /// Of how much at first.
    pub(crate) of: f64,
    /// Of what.
    pub(crate) unit: String,
    /// Deltas that are left beside it.
    pub(crate) delta: f64,
    /// About how many more questions of the same cost.
    pub(crate) more: Option<u64>,
    /// The same in words.
    pub(crate) words: String,
}

impl Remaining {
    pub(crate) fn of(status: &AccountStatus, more: Option<u64>) -> Self {
        let balances = status
            .quotas
            .first()
            .map_or((&status.capacity, &status.spent), |quota| (&quota.capacity, &quota.spent));
        let (capacity, spent) = balances;
        let left = |capacity: f64, spent: f64| (capacity - spent).max(0.0);
        let words = match more {
            Some(0) => "not enough for another question like this one".to_owned(),
            Some(1) => "enough for one more question like this one".to_owned(),
            Some(more) if more > 1_000_000 => {
                "more than a million questions like this one".to_owned()
            }
            Some(more) => format!("about {more} more questions like this one"),
            None => format!(
                "{} of {} {}",
                left(capacity.main.lower(), spent.main.upper()),
                capacity.main,
                status.unit
            ),
        };
        Self {
            amount: left(capacity.main.lower(), spent.main.upper()),
            of: capacity.main.lower(),
            unit: status.unit.to_owned(),
            delta: left(capacity.delta.lower(), spent.delta.upper()),
            more,
            words,
        }
    }
}

/// A key of a group: a text or a whole number.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum GroupKey {
    /// A whole number.
    Whole(i64),
    /// A text.
    Text(String),
}

/// One number of an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct One {
    /// The group's keys, in the order of the columns grouped by.
    group: Vec<GroupKey>,
    /// Which aggregate it is of.
    name: String,
    /// The bin that it counts, from the first up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    bin: Option<Vec<f64>>,
    /// The share that it is the quantile of.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    /// The edge that it counts the rows below of.
    #[serde(skip_serializing_if = "Option::is_none")]
    edge: Option<f64>,
    /// The coefficient of a regression that it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    coefficient: Option<String>,
    /// The number, with noise.
    value: f64,
    /// The number without noise is no further from it, with the confidence; null if nothing is known.
    half_width: Option<f64>,
    /// Within these.
    interval: Option<Vec<f64>>,
    /// With so much probability, for each number on its own.
    confidence: f64,
}

impl From<Number> for One {
    fn from(number: Number) -> Self {
        let key = |key: Key| match key {
            Key::Whole(whole) => GroupKey::Whole(whole),
            Key::Text(text) => GroupKey::Text(text),
        };
        let two = |(one, other): (f64, f64)| vec![one, other];
        Self {
            group: number.group.into_iter().map(key).collect(),
            name: number.name,
            bin: number.bin.map(two),
            share: number.share,
            edge: number.edge,
            coefficient: number.coefficient,
            value: number.value,
            half_width: number.half_width,
            interval: number.interval.map(two),
            confidence: number.confidence,
        }
    }
}

/// An answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Answered {
    /// One for each group and aggregate, bin or share.
    pub(crate) answers: Vec<One>,
    /// What this call debited: nothing if it had been asked before.
    pub(crate) cost: Charge,
    /// What is left.
    pub(crate) left: Remaining,
    /// The ledger's entry, if this call made one.
    pub(crate) entry: Option<u64>,
    /// Whether the answer had been stored before.
    pub(crate) repeated: bool,
    /// Whether it is of made-up rows.
    pub(crate) dummy: bool,
}

/// What became of one of several questions.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Outcome {
    /// It was answered.
    Answered(Box<Answered>),
    /// It was not.
    Problem(Problem),
}

/// An answer to one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Outcomes {
    /// To one.
    One(Box<Answered>),
    /// To several, in their order.
    Many(Vec<Outcome>),
}

/// A half-width that is known in advance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Expected {
    /// Which aggregate.
    name: String,
    /// No further from the number without noise, whatever the data are; in ranks for quantiles. Null where it depends on how
    /// many rows there are, and that is not public.
    half_width: Option<f64>,
}

/// What a question would cost.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Quote {
    /// What it would cost.
    pub(crate) cost: Charge,
    /// What is left now.
    pub(crate) left: Remaining,
    /// Whether it would be answered now.
    pub(crate) affordable: bool,
    /// Whose budget is too short, if one is.
    pub(crate) refusal: Option<String>,
    /// Whether it was answered before, so that it costs nothing.
    pub(crate) free: bool,
    /// The epsilon that noise is drawn for, if it is Laplace noise.
    pub(crate) epsilon: Option<f64>,
    /// The rho that noise is drawn for, if it is Gaussian noise.
    pub(crate) rho: Option<f64>,
    /// How far answers will be off, at the confidence asked for.
    pub(crate) expected: Vec<Expected>,
}

impl Quote {
    pub(crate) fn of(priced: Priced, unit: &str, left: Remaining) -> Self {
        let (epsilon, rho) = match priced.spend {
            Spend::Epsilon(epsilon) => (Some(epsilon), None),
            Spend::Rho(rho) => (None, Some(rho)),
            Spend::Sigma(_) | Spend::Style(_) => (None, None),
        };
        let expected = priced.half_widths.into_iter();
        Self {
            cost: Charge::of(&priced.charge, unit),
            left,
            affordable: priced.refusal.is_none() || priced.is_free,
            refusal: priced.refusal.map(|refusal| refusal.to_string()),
            free: priced.is_free,
            epsilon,
            rho,
            expected: expected.map(|(name, half_width)| Expected { name, half_width }).collect(),
        }
    }
}

/// What one of several questions would cost, or why it cannot be asked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Offer {
    /// What it would cost.
    Quote(Box<Quote>),
    /// Why it cannot be asked.
    Problem(Problem),
}

/// A quote for one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum Offers {
    /// For one.
    One(Box<Quote>),
    /// For several, in their order.
    Many(Vec<Offer>),
}

//! Questions that are asked or priced.

use counterpoint_curator::question::Question;
use counterpoint_curator::{CostTarget, QuestionText, Submission};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use crate::api::problem::{ILLEGAL, Problem};

/// A question and its payment: one of `sql` and `question`, and one of `epsilon`, `rho`, `slot` and `error`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionRequest {
    /// The account that pays.
    pub(crate) account: String,
    /// The caller's own name for the question. A key belongs to one question: asking another question under the same
    /// key is an error.
    #[serde(default)]
    key: Option<String>,
    /// The question as SQL.
    #[serde(default)]
    sql: Option<String>,
    /// The question as JSON: `table`, `filter`, `group`, `aggregates`.
    #[serde(default)]
    #[schema(value_type = Option<Object>)]
    question: Option<Question>,
    /// Pays this epsilon of pure differential privacy.
    #[serde(default)]
    epsilon: Option<f64>,
    /// Pays this rho of zero-concentrated differential privacy.
    #[serde(default)]
    rho: Option<f64>,
    /// Pays with a slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    /// Pays the smallest amount that gives every number this half-width.
    #[serde(default)]
    error: Option<f64>,
    /// The confidence of intervals; 0.95 by default.
    #[serde(default)]
    confidence: Option<f64>,
}

/// The longest key, in bytes.
const MAX_KEY_BYTES: usize = 200;

impl QuestionRequest {
    pub(crate) fn submission(self) -> Result<Submission, Problem> {
        let question = question_text(self.sql, self.question)?;
        let cost = match (self.epsilon, self.rho, self.slot, self.error) {
            (Some(epsilon), None, None, None) => CostTarget::Epsilon(epsilon),
            (None, Some(rho), None, None) => CostTarget::Rho(rho),
            (None, None, Some(slot), None) => CostTarget::Slot(slot),
            (None, None, None, Some(error)) => CostTarget::Error(error),
            _ => return Err(ILLEGAL.problem("the question has no payment, or several; legal: exactly one of epsilon, rho, slot and error")),
        };
        if self.key.as_ref().is_some_and(|key| key.is_empty() || key.len() > MAX_KEY_BYTES) {
            return Err(ILLEGAL.problem("key is too long or empty; legal: 1 to 200 bytes"));
        }
        let (confidence, key) = (self.confidence.unwrap_or(0.95), self.key);
        Ok(Submission { account: self.account, question, cost, confidence, key })
    }
}

pub(crate) fn question_text(
    sql: Option<String>,
    question: Option<Question>,
) -> Result<QuestionText, Problem> {
    match (sql, question) {
        (Some(sql), None) => Ok(QuestionText::Sql(sql)),
        (None, Some(question)) => Ok(QuestionText::Question(Box::new(question))),
        _ => Err(ILLEGAL.problem(
            "the question is missing or given twice; legal: exactly one of sql and question",
        )),
    }
}

/// One question, or a list of them.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(crate) enum QuestionsRequest {
    /// Several questions.
    Many(Vec<QuestionRequest>),
    /// One question.
    One(Box<QuestionRequest>),
}

/// The most questions of one request.
const MAX_QUESTIONS: usize = 100;

impl QuestionsRequest {
    /// Refuses a list that is too long.
    pub(crate) fn bounded(self) -> Result<Self, Problem> {
        match self {
            Self::Many(list) if list.len() > MAX_QUESTIONS => {
                let number = list.len();
                Err(ILLEGAL.problem(format!("{number} questions; legal: at most {MAX_QUESTIONS}")))
            }
            request => Ok(request),
        }
    }
}

/// Deserializes by the JSON type, list or object, so that an error names the field that is wrong.
impl<'de> Deserialize<'de> for QuestionsRequest {
    fn deserialize<D: Deserializer<'de>>(text: D) -> Result<Self, D::Error> {
        struct QuestionsVisitor;
        impl<'de> Visitor<'de> for QuestionsVisitor {
            type Value = QuestionsRequest;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a question or a list of questions")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<QuestionsRequest, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(QuestionsRequest::Many)
            }

            fn visit_map<A: MapAccess<'de>>(self, one: A) -> Result<QuestionsRequest, A::Error> {
                Box::deserialize(MapAccessDeserializer::new(one)).map(QuestionsRequest::One)
            }
        }
        text.deserialize_any(QuestionsVisitor)
    }
}

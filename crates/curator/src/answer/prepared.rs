//! A question prepared for its debit.

use super::numbers::half_widths;
use crate::charge::text;
use crate::engine::{OpenTable, Tabulation, TallySpec, not_countable};
use counterpoint_ledger::{Hash, Request};
use counterpoint_mechanisms::Measurement;
use counterpoint_questions::QuestionError;
use counterpoint_questions::public::Table;
use counterpoint_questions::question::Question;
use counterpoint_questions::{CheckedQuestion, Spend};
use counterpoint_wire::ledger::{ReleaseRecord, ReleaseRequest};
use serde::Serialize;

/// A legal question with its measurements, the description of its charge, and its key in the ledger.
#[derive(Clone, Debug)]
pub struct PreparedQuestion {
    checked: CheckedQuestion,
    measurements: Vec<Measurement>,
    tabulation: Tabulation,
    spend: Spend,
    charge: ReleaseRequest,
    key: String,
    digest: Hash,
    /// The question of the shared count that the answer is computed with, if that is a release of its own.
    shared_count: Option<Box<PreparedQuestion>>,
}

/// The content that identifies a question: two questions with equal content are the same question.
#[derive(Serialize)]
struct QuestionIdentity<'a> {
    version: u64,
    checked: &'a CheckedQuestion,
    spend: Spend,
    slot: Option<&'a str>,
    /// The key of the shared count.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<&'a str>,
    public: &'a counterpoint_questions::public::TableText,
}

impl PreparedQuestion {
    /// Prepares a question. Reads no data.
    ///
    /// # Errors
    /// [`QuestionError`] unless the question is legal by the table's public description.
    pub fn new(
        table: &OpenTable,
        question: &Question,
        spend: Spend,
        slot: Option<&str>,
    ) -> Result<Self, QuestionError> {
        Self::from_checked(table, question.check(&table.public)?, spend, slot)
    }

    /// Prepares a question that was checked against the table's description.
    ///
    /// # Errors
    /// [`QuestionError`] if no noise has the cost.
    pub(crate) fn from_checked(
        table: &OpenTable,
        checked: CheckedQuestion,
        spend: Spend,
        slot: Option<&str>,
    ) -> Result<Self, QuestionError> {
        let measurements = match slot {
            Some(_) => checked.measurements_in_slot(spend)?,
            None => checked.measurements(spend)?,
        };
        Self::build(table, (checked, spend), slot, (measurements, None))
    }

    /// Prepares a question in a slot of a plan: with the count of another slot, if the slot's description names one.
    ///
    /// # Errors
    /// [`QuestionError`] as for [`PreparedQuestion::from_checked`], and if the question cannot share that count.
    pub(crate) fn in_slot(
        table: &OpenTable,
        (checked, spend): (CheckedQuestion, Spend),
        slot: &str,
        shared: Option<(&str, &ReleaseRecord)>,
    ) -> Result<Self, QuestionError> {
        let Some((count_slot, declared)) = shared else {
            return Self::from_checked(table, checked, spend, Some(slot));
        };
        let cannot = || {
            let problem =
                format!("shares the count of slot {count_slot:?}, which is of other rows");
            QuestionError::new(format!("slot {slot:?}"), problem, "a plan of this question")
        };
        let [aggregate] = checked.aggregates() else { return Err(cannot()) };
        let rows = checked.row_count_question(aggregate).ok_or_else(cannot)?;
        let query = rows.aggregates().first().map(|aggregate| &aggregate.query);
        let recipe = declared.recipe().filter(|recipe| Some(recipe.query()) == query);
        let style = Spend::Style(recipe.ok_or_else(cannot)?.style());
        let count = Self::from_checked(table, rows, style, Some(count_slot))?;
        let (Spend::Style(style), [noise]) = (spend, count.measurements.as_slice()) else {
            return Err(cannot());
        };
        let measurements = vec![checked.measurement_with_count(style, noise)?];
        let count = Some(Box::new(count));
        Self::build(table, (checked, spend), Some(slot), (measurements, count))
    }

    fn build(
        table: &OpenTable,
        (checked, spend): (CheckedQuestion, Spend),
        slot: Option<&str>,
        (measurements, count): (Vec<Measurement>, Option<Box<Self>>),
    ) -> Result<Self, QuestionError> {
        let public = &table.public;
        let tallies = measurements.iter().map(TallySpec::of).collect::<Option<Vec<_>>>();
        let tabulation = Tabulation::new(&checked, &tallies.ok_or_else(not_countable)?)?;
        table.compile(&[&tabulation])?;
        let unwritable = |error: String| QuestionError::new("the question", error, "other costs");
        let described =
            measurements.iter().flat_map(Measurement::releases).map(ReleaseRecord::from_release);
        let described = described.collect::<Result<Vec<_>, _>>();
        let described = described.map_err(|error| unwritable(error.to_string()))?;
        let charge = match slot {
            Some(name) => ReleaseRequest::Slot { name: name.to_owned(), count: 1, run: described },
            None => ReleaseRequest::Described(described),
        };
        let count_key = count.as_ref().map(|count| count.key());
        let (checked_of, public) = (&checked, public.text());
        let identity = QuestionIdentity {
            version: 1,
            checked: checked_of,
            spend,
            slot,
            count: count_key,
            public,
        };
        let digest = text::digest(&identity).map_err(|error| unwritable(error.to_string()))?;
        let key = format!("q-{digest}");
        Ok(Self {
            checked,
            measurements,
            tabulation,
            spend,
            charge,
            key,
            digest,
            shared_count: count,
        })
    }

    /// Sets the confidence of the intervals that are drawn together with quantiles, unless a slot pays. The question
    /// stays the same and costs the same.
    ///
    /// # Errors
    /// [`QuestionError`] unless the confidence is strictly between 0 and 1.
    pub(crate) fn at_confidence(mut self, confidence: f64) -> Result<Self, QuestionError> {
        if !matches!(self.charge, ReleaseRequest::Slot { .. }) {
            self.measurements = self.checked.measurements_at(self.spend, confidence)?;
        }
        Ok(self)
    }

    /// The checked question.
    #[must_use]
    pub fn checked(&self) -> &CheckedQuestion {
        &self.checked
    }

    /// The privacy loss that the answer may spend.
    #[must_use]
    pub fn spend(&self) -> Spend {
        self.spend
    }

    /// The key under which the question is charged, once in each account.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The question of the shared count that the answer is computed with, if that is a release of its own.
    #[must_use]
    pub fn shared_count(&self) -> Option<&Self> {
        self.shared_count.as_deref()
    }

    /// The slot that pays; empty if none does.
    pub(super) fn slot(&self) -> &str {
        match &self.charge {
            ReleaseRequest::Slot { name, .. } => name,
            _ => "",
        }
    }

    /// The measurement of each aggregate.
    #[must_use]
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// The name and half-width of each aggregate on the worst data, as far as it is public. For quantiles it is in
    /// ranks.
    ///
    /// # Errors
    /// [`QuestionError`] unless the confidence is strictly between 0 and 1.
    pub fn half_widths(
        &self,
        confidence: f64,
    ) -> Result<Vec<(String, Option<f64>)>, QuestionError> {
        half_widths(&self.checked, &self.measurements, confidence)
    }

    /// The whole numbers that the engine counts for the question.
    #[must_use]
    pub fn tabulation(&self) -> &Tabulation {
        &self.tabulation
    }

    /// The ledger's request to reserve the question's charge in an account.
    pub(super) fn request<'a>(&'a self, account: &'a str, table: &Table) -> Request<'a> {
        let request =
            Request::new(account, &self.key, &self.charge).with_relation(table.relation());
        Request { question: Some(self.digest), ..request }
    }
}

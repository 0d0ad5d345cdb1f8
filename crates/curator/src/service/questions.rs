//! Questions to the curator: priced, prepared, answered or rehearsed.

use super::accounts::check_may_use;
use super::curator::{Curator, RegisteredTable};
use super::request::{Answer, CostTarget, CuratorError, Quote, Submission};
use crate::answer::{
    self, AnswerError, BatchItem, Number, Payer, PreparedQuestion, StageTimes, StoredAnswer,
    least_spend, spend_in_slot,
};
use crate::engine::{DummyTable, EngineError, Location, OpenTable};
use crate::state::Bearer;
use counterpoint_ledger::Hash;
use counterpoint_questions::Spend;
use counterpoint_questions::question::Question;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Submissions that were read and checked. Nothing is charged yet, and no data were read.
#[derive(Clone, Debug)]
pub struct PreparedBatch {
    submissions: Vec<Submission>,
    /// For each submission its table's name and the prepared question, or the error.
    questions: Vec<Result<(String, PreparedQuestion), CuratorError>>,
}

impl Curator {
    /// The price of a question, and whether the account can pay it now. Writes nothing and reads no data.
    ///
    /// # Errors
    /// [`CuratorError`] if the question could not be asked.
    pub fn price(&self, asker: &Bearer, submission: &Submission) -> Result<Quote, CuratorError> {
        let (registered, prepared) = self.prepare_one(asker, submission)?;
        let payer = payer(asker, submission);
        let price = answer::price_question(&self.pool, &registered.table, &prepared, &payer)?;
        let answered = answer::stored_response(&self.pool, &submission.account, prepared.key())?;
        let half_widths = prepared.half_widths(submission.confidence)?;
        let (charge, refusal, spend) = (price.charge, price.refusal, prepared.spend());
        Ok(Quote { charge, refusal, spend, is_free: answered.is_some(), half_widths })
    }

    /// Reads and checks questions. Charges nothing and reads no data.
    #[must_use]
    pub fn prepare(&self, asker: &Bearer, submissions: Vec<Submission>) -> PreparedBatch {
        let questions = submissions.iter().map(|submission| {
            let (registered, prepared) = self.prepare_one(asker, submission)?;
            // Every check that could fail after the debit runs before it.
            prepared.half_widths(submission.confidence)?;
            Ok((registered.table.public.name().to_owned(), prepared))
        });
        PreparedBatch { questions: questions.collect(), submissions }
    }

    /// The locations of the tables that a batch is about.
    #[must_use]
    pub fn engines(&self, batch: &PreparedBatch) -> BTreeSet<Location> {
        let tables = batch.questions.iter().filter_map(|prepared| prepared.as_ref().ok());
        let registered = tables.filter_map(|(table, _)| self.table(table));
        registered.map(|registered| registered.location.clone()).collect()
    }

    /// The answers to a batch if it needs no engine: every question has a stored answer or is refused. Otherwise
    /// `None`.
    #[must_use]
    pub fn stored_answers(
        &self,
        asker: &Bearer,
        batch: &PreparedBatch,
    ) -> Option<Vec<Result<Answer, CuratorError>>> {
        let items = self.batch_items(asker, batch);
        let answers = items.iter().map(|item| answer::stored_answer(&self.pool, item).transpose());
        let answers = answers.collect::<Option<Vec<_>>>()?;
        Some(answers_in_order(batch, answers))
    }

    /// Answers a batch as if each question were asked alone, in this order. Questions without a stored answer are
    /// debited, counted, drawn and stored; those about one table are counted together.
    ///
    /// The outcome of each question never depends on the data, except for the numbers of an answer.
    #[must_use]
    pub fn answer(
        &self,
        asker: &Bearer,
        batch: &PreparedBatch,
        stages: &StageTimes,
    ) -> Vec<Result<Answer, CuratorError>> {
        let items = self.batch_items(asker, batch);
        let answers = answer::answer_batch(&self.pool, &items, self.timing.limit, stages);
        let submissions =
            batch.submissions.iter().zip(&batch.questions).filter(|(_, prepared)| prepared.is_ok());
        for (((submission, _), item), answer) in submissions.zip(&items).zip(&answers) {
            if answer.as_ref().is_ok_and(|answer| !answer.is_repeated) {
                self.texts.note(item.question.key(), &submission.question.text());
            }
        }
        answers_in_order(batch, answers)
    }

    /// Prepares and answers one question.
    ///
    /// # Errors
    /// [`CuratorError`]. Its content never depends on the data.
    pub fn ask(&self, asker: &Bearer, submission: &Submission) -> Result<Answer, CuratorError> {
        let batch = self.prepare(asker, vec![submission.clone()]);
        let answered = self.answer(asker, &batch, &StageTimes::default());
        answered
            .into_iter()
            .next()
            .unwrap_or_else(|| Err(CuratorError::not_yours("account", &submission.account)))
    }

    /// The legal questions of a batch, with their tables and payers.
    fn batch_items<'a>(
        &'a self,
        asker: &'a Bearer,
        batch: &'a PreparedBatch,
    ) -> Vec<BatchItem<'a>> {
        let both = batch.submissions.iter().zip(&batch.questions);
        let legal = both.filter_map(|(submission, prepared)| {
            let (table, prepared) = prepared.as_ref().ok()?;
            Some(BatchItem {
                table: &self.table(table)?.table,
                question: prepared,
                payer: payer(asker, submission),
            })
        });
        legal.collect()
    }

    /// Answers a question from made-up rows. Charges and stores nothing, and reads no data; the noise is drawn as in an
    /// answer.
    ///
    /// # Errors
    /// [`CuratorError`] if the question is not legal about the table itself either.
    pub fn rehearse(
        &self,
        asker: &Bearer,
        submission: &Submission,
    ) -> Result<Vec<Number>, CuratorError> {
        let (registered, question, spend) = self.resolve_cost(asker, submission)?;
        let failed = |error| CuratorError::from(AnswerError::Dummy(error));
        let dummy = self.dummy(&registered.table).map_err(failed)?;
        let prepared = self.prepare_for(submission, (&dummy.table, &question, spend))?;
        let deadline = Instant::now() + self.timing.limit;
        let drawn =
            answer::draw_without_charge(&dummy.table, &prepared, deadline).map_err(failed)?;
        let measurements = (prepared.checked(), prepared.measurements());
        Ok(answer::numbers(&drawn, measurements, submission.confidence)?)
    }

    fn dummy(&self, table: &OpenTable) -> Result<Arc<DummyTable>, EngineError> {
        let mut dummies = self.dummies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = dummies.get(table.public.name()) {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(DummyTable::of(&table.public)?);
        dummies.insert(table.public.name().to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// Prepares one question and returns it with its table.
    fn prepare_one(
        &self,
        asker: &Bearer,
        submission: &Submission,
    ) -> Result<(&RegisteredTable, PreparedQuestion), CuratorError> {
        let (registered, question, spend) = self.resolve_cost(asker, submission)?;
        let prepared = self.prepare_for(submission, (&registered.table, &question, spend))?;
        Ok((registered, prepared))
    }

    /// Prepares a question for a table. If its slot shares the count of another slot, the count is prepared too.
    fn prepare_for(
        &self,
        submission: &Submission,
        (table, question, spend): (&OpenTable, &Question, Spend),
    ) -> Result<PreparedQuestion, CuratorError> {
        let (CostTarget::Slot(slot), Spend::Style(_)) = (&submission.cost, spend) else {
            return Ok(PreparedQuestion::new(table, question, spend, slot(&submission.cost))?
                .at_confidence(submission.confidence)?);
        };
        let declared =
            |slot: &str| self.pool.with(|ledger| ledger.slot_release(&submission.account, slot));
        let shared = match declared(slot)?.shared_count() {
            Some(count) => Some((declared(&count)?, count)),
            None => None,
        };
        let shared = shared.as_ref().map(|(declared, count)| (count.as_str(), declared));
        Ok(PreparedQuestion::in_slot(table, (question.check(&table.public)?, spend), slot, shared)?)
    }

    /// The table of a question, the question in the algebra, and the privacy loss that it may spend.
    fn resolve_cost(
        &self,
        asker: &Bearer,
        submission: &Submission,
    ) -> Result<(&RegisteredTable, Question, Spend), CuratorError> {
        check_may_use(asker, &submission.account)?;
        let question = self.read(&submission.question)?;
        let registered = self.registered_table(&question.table)?;
        self.check_pays(&submission.account, registered)?;
        let spend = match &submission.cost {
            CostTarget::Epsilon(epsilon) => Spend::Epsilon(*epsilon),
            CostTarget::Rho(rho) => Spend::Rho(*rho),
            CostTarget::Slot(slot) => {
                let declared =
                    self.pool.with(|ledger| ledger.slot_release(&submission.account, slot))?;
                spend_in_slot(slot, &declared, &question.check(&registered.table.public)?)?
            }
            CostTarget::Error(error) => {
                let concentrated = self.uses_rho(&submission.account)?;
                least_spend(
                    &registered.table,
                    &question,
                    (*error, submission.confidence),
                    concentrated,
                )?
            }
        };
        Ok((registered, question, spend))
    }
}

/// The answer or error of each submission, in order. `answers` has one element for each legal question.
fn answers_in_order(
    batch: &PreparedBatch,
    answers: Vec<Result<StoredAnswer, AnswerError>>,
) -> Vec<Result<Answer, CuratorError>> {
    let mut answers = answers.into_iter();
    let one = |(submission, prepared): (
        &Submission,
        &Result<(String, PreparedQuestion), CuratorError>,
    )| {
        let (_, prepared) = prepared.as_ref().map_err(CuratorError::clone)?;
        answer_of(
            &answers
                .next()
                .ok_or_else(|| CuratorError::not_yours("table", &submission.account))??,
            prepared,
            submission,
        )
    };
    batch.submissions.iter().zip(&batch.questions).map(one).collect()
}

fn answer_of(
    stored: &StoredAnswer,
    prepared: &PreparedQuestion,
    submission: &Submission,
) -> Result<Answer, CuratorError> {
    let numbers = stored.numbers(prepared, submission.confidence)?;
    let (charge, entry) = (stored.charge.clone(), stored.entry);
    Ok(Answer {
        numbers,
        charge,
        entry,
        is_repeated: stored.is_repeated,
        engine_ran: stored.engine_ran,
    })
}

fn slot(cost: &CostTarget) -> Option<&str> {
    match cost {
        CostTarget::Slot(slot) => Some(slot),
        _ => None,
    }
}

fn payer<'a>(asker: &'a Bearer, submission: &'a Submission) -> Payer<'a> {
    let alias = submission.key.as_ref().map(|key| Hash::of(key.as_bytes()));
    Payer { account: &submission.account, analyst: Some(&asker.name), alias }
}

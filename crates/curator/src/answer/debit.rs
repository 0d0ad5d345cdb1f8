//! Debits questions, and stores and reads their answers in the ledger.

use super::draw::noisy_counts;
use super::error::AnswerError;
use super::numbers::{Number, numbers};
use super::prepared::PreparedQuestion;
use crate::charge::{Error, text};
use crate::engine::{EngineError, OpenTable};
use counterpoint_ledger::{Hash, Head, Ledger, LedgerError, Pool, Price, Request};
use counterpoint_mechanisms::NoisyAnswer;
use counterpoint_questions::QuestionError;
use counterpoint_wire::ledger::Cost;
use serde::{Deserialize, Serialize};

/// The account that pays and the analyst who asks.
#[derive(Clone, Copy, Debug)]
pub struct Payer<'a> {
    /// The account that pays.
    pub account: &'a str,
    /// The analyst who asks.
    pub analyst: Option<&'a str>,
    /// The digest of the analyst's own key for the question.
    pub alias: Option<Hash>,
}

/// A question of a batch, with its table and payer.
#[derive(Clone, Copy, Debug)]
pub struct BatchItem<'a> {
    /// The table that the question is about.
    pub table: &'a OpenTable,
    /// The question.
    pub question: &'a PreparedQuestion,
    /// The account that pays and the analyst who asks.
    pub payer: Payer<'a>,
}

/// A noisy answer that was charged and is stored in the ledger.
#[derive(Clone, Debug)]
pub struct StoredAnswer {
    drawn: Vec<Vec<NoisyAnswer>>,
    /// The cost that this call debited; `None` if it debited nothing.
    pub charge: Option<Cost>,
    /// The ledger's entry that stored the answer or, if an earlier call stored it, that charged it.
    pub entry: Option<u64>,
    /// True if an earlier call stored the answer.
    pub is_repeated: bool,
    /// True if this call ran the engine. Its running time is secret.
    pub engine_ran: bool,
    /// The ledger's head.
    pub head: Head,
}

impl StoredAnswer {
    /// The answer's numbers, with intervals of this confidence. Intervals cost nothing.
    ///
    /// # Errors
    /// [`QuestionError`] unless the confidence is strictly between 0 and 1.
    pub fn numbers(
        &self,
        question: &PreparedQuestion,
        confidence: f64,
    ) -> Result<Vec<Number>, QuestionError> {
        numbers(&self.drawn, (question.checked(), question.measurements()), confidence)
    }
}

/// The stored form of an answer: for each group, the noisy answer of each aggregate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerRecord {
    version: u64,
    drawn: Vec<Vec<NoisyAnswer>>,
}

/// The cost of a question, and whether the account can pay it now. Writes nothing.
///
/// # Errors
/// [`LedgerError`] if the account does not exist or the ledger fails.
pub fn price_question(
    pool: &Pool,
    table: &OpenTable,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
) -> Result<Price, LedgerError> {
    pool.with(|ledger| ledger.price(&request(table, question, payer)))
}

fn request<'a>(
    table: &OpenTable,
    question: &'a PreparedQuestion,
    payer: &Payer<'a>,
) -> Request<'a> {
    let (analyst, alias) = (payer.analyst, payer.alias);
    Request { analyst, alias, ..question.request(payer.account, &table.public) }
}

/// Reads a question's stored answer from the ledger, if there is one. Debits nothing.
///
/// # Errors
/// [`AnswerError`] if the ledger fails.
pub(crate) fn stored_answer(
    pool: &Pool,
    item: &BatchItem<'_>,
) -> Result<Option<StoredAnswer>, AnswerError> {
    let BatchItem { table, question, payer } = item;
    match stored_response(pool, payer.account, question.key())? {
        None => Ok(None),
        // The reservation of a question with a stored answer debits nothing.
        Some(_) => match debit(pool, table, question, payer)? {
            DebitOutcome::Stored(answer) => Ok(Some(answer)),
            DebitOutcome::Paid(_) => Ok(None),
        },
    }
}

/// The outcome of a debit.
pub(super) enum DebitOutcome {
    /// The question has a stored answer.
    Stored(StoredAnswer),
    /// The question is paid for but has no stored answer. The cost is `None` if an earlier call debited it.
    Paid(Option<Cost>),
}

pub(super) fn debit(
    pool: &Pool,
    table: &OpenTable,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
) -> Result<DebitOutcome, AnswerError> {
    let debited = match pool.reserve(&request(table, question, payer)) {
        Ok(debit) => (debit.response, debit.charge, Some(debit.entry), debit.head),
        Err(error @ LedgerError::AliasInUse) => return Err(error.into()),
        Err(error) => earlier_payment(pool, question, payer, error)?,
    };
    let (response, charge, entry, head) = debited;
    let Some(bytes) = response else { return Ok(DebitOutcome::Paid(charge)) };
    let drawn = read(&bytes, question)?;
    Ok(DebitOutcome::Stored(StoredAnswer {
        drawn,
        charge,
        entry,
        is_repeated: true,
        engine_ran: false,
        head,
    }))
}

/// A stored response, the debited cost, the entry and the ledger's head.
type PastReservation = (Option<Vec<u8>>, Option<Cost>, Option<u64>, Head);

/// Reads a question that was paid for earlier: it costs nothing more, even if the account has been closed since or
/// another of its analysts asked first. The key identifies the question, not who asked.
fn earlier_payment(
    pool: &Pool,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
    error: LedgerError,
) -> Result<PastReservation, LedgerError> {
    let response = free_response(error, stored_response(pool, payer.account, question.key()))?;
    let head = match payer.alias {
        Some(alias) => pool.alias(payer.account, payer.analyst, alias, question.key())?,
        None => pool.with(Ledger::head)?,
    };
    Ok((response, None, None, head))
}

/// Returns the response of a request that the ledger refused, if the question was paid for earlier. `KeyInUse` means
/// that another analyst reserved the key of this question. A ledger that fails now does not show that the question is
/// unpaid.
fn free_response(
    error: LedgerError,
    stored: Result<Option<Vec<u8>>, LedgerError>,
) -> Result<Option<Vec<u8>>, LedgerError> {
    let is_taken = matches!(error, LedgerError::KeyInUse { .. });
    match stored {
        Ok(Some(bytes)) => Ok(Some(bytes)),
        Ok(None) if is_taken => Ok(None),
        Err(failed) if is_taken => Err(failed),
        _ => Err(error),
    }
}

/// Reads the stored noisy counts, one for each group, that a question shares; `None` if the count has not been
/// answered.
pub(super) fn stored_counts(
    pool: &Pool,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
) -> Result<Option<Vec<f64>>, AnswerError> {
    let Some(count) = question.shared_count() else { return Ok(None) };
    match stored_response(pool, payer.account, count.key())? {
        Some(bytes) => {
            let found = noisy_counts(&read(&bytes, count)?);
            found.map(Some).map_err(|_| Error::Unreadable { what: "a count" }.into())
        }
        None => Ok(None),
    }
}

/// The error for a question whose shared count has not been answered.
pub(super) fn missing_count_error(
    question: &PreparedQuestion,
    count: &PreparedQuestion,
) -> AnswerError {
    let (slot, other) = (question.slot(), count.slot());
    let place = format!("slot {slot:?}");
    let problem =
        format!("is computed with the noisy count of slot {other:?}, which was not answered yet");
    let legal = format!(
        "slot {other:?} asked first: COUNT(*) by the same columns, with (the same condition) AND column IS NOT NULL for every \
         column that may be missing"
    );
    QuestionError::new(place, problem, legal).into()
}

/// Stores an answer unless one is stored already, and returns the one that is stored.
pub(super) fn store(
    pool: &Pool,
    question: &PreparedQuestion,
    payer: &Payer<'_>,
    charge: Option<Cost>,
    drawn: Vec<Vec<NoisyAnswer>>,
) -> Result<StoredAnswer, AnswerError> {
    let bytes = text::write(&AnswerRecord { version: 1, drawn })?;
    let stored = pool.commit(payer.account, question.key(), &bytes);
    // The question is charged, even if the ledger fails now.
    let stored = stored.map_err(|error| AnswerError::Charged(EngineError::new(error)))?;
    // The stored bytes decide: an earlier call may have stored another draw.
    let drawn = read(&stored.response, question)?;
    let (entry, head) = (Some(stored.entry), stored.head);
    Ok(StoredAnswer { drawn, charge, entry, is_repeated: stored.repeated, engine_ran: true, head })
}

/// The response stored under a key; `None` if there is none or the key was never reserved.
pub(crate) fn stored_response(
    pool: &Pool,
    account: &str,
    key: &str,
) -> Result<Option<Vec<u8>>, LedgerError> {
    match pool.with(|ledger| ledger.response(account, key)) {
        Err(LedgerError::Unknown { .. }) => Ok(None),
        other => other,
    }
}

fn read(bytes: &[u8], question: &PreparedQuestion) -> Result<Vec<Vec<NoisyAnswer>>, Error> {
    let AnswerRecord { drawn, .. } = text::read("an answer", bytes)?;
    let fits = drawn.len() == question.checked().group_count()
        && drawn.iter().all(|parts| parts.len() == question.measurements().len());
    if fits { Ok(drawn) } else { Err(Error::Unreadable { what: "an answer" }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_ledger::DatabaseError;

    /// A ledger that is busy or out of reach is a temporary fault and does not show that the key is taken.
    #[test]
    fn a_key_that_is_merely_busy_is_not_taken() {
        let taken = || LedgerError::KeyInUse { key: "q".to_owned() };
        let busy = || LedgerError::from(DatabaseError::Busy);
        assert_eq!(free_response(taken(), Ok(Some(vec![1]))).unwrap(), Some(vec![1]));
        assert_eq!(free_response(taken(), Ok(None)).unwrap(), None);
        let failed = free_response(taken(), Err(busy())).unwrap_err();
        assert!(matches!(failed, LedgerError::Database(DatabaseError::Busy)), "{failed:?}");
        // A stored answer is returned even if the ledger fails now; otherwise the first error is reported.
        assert_eq!(free_response(busy(), Ok(Some(vec![1]))).unwrap(), Some(vec![1]));
        for stored in [Ok(None), Err(taken())] {
            let failed = free_response(busy(), stored).unwrap_err();
            assert!(matches!(failed, LedgerError::Database(DatabaseError::Busy)), "{failed:?}");
        }
    }
}

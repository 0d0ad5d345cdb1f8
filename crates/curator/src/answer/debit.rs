//! What a question's account pays, and what the ledger keeps for it.

use super::draw::counts;
use super::numbers::{Number, numbers};
use super::ready::Ready;
use super::unanswered::Unanswered;
use crate::charge::{Error, text};
use crate::engine::{Failed, Held};
use counterpoint_ledger::{Hash, Head, Ledger, LedgerError, Pool, Price, Request};
use counterpoint_mechanisms::Drawn;
use counterpoint_questions::Illegal;
use counterpoint_wire::ledger::Cost;
use serde::{Deserialize, Serialize};

/// Who pays.
#[derive(Clone, Copy, Debug)]
pub struct Payer<'a> {
    /// The account.
    pub account: &'a str,
    /// Who asks.
    pub analyst: Option<&'a str>,
    /// The digest of the asker's own key for the question.
    pub alias: Option<Hash>,
}

/// A question, the table that it is about, and who pays.
#[derive(Clone, Copy, Debug)]
pub struct Due<'a> {
    /// The table.
    pub held: &'a Held,
    /// The question.
    pub ready: &'a Ready,
    /// Who pays.
    pub payer: Payer<'a>,
}

/// An answer that was charged and is stored.
#[derive(Clone, Debug)]
pub struct Told {
    drawn: Vec<Vec<Drawn>>,
    /// What this call debited; `None` if nothing.
    pub charge: Option<Cost>,
    /// The entry of the ledger that stored it, if this call did, or that charged it.
    pub entry: Option<u64>,
    /// Whether it had been stored before.
    pub is_repeated: bool,
    /// Whether the engine was asked: how long that took is nobody's business.
    pub ran: bool,
    /// The ledger's head.
    pub head: Head,
}

impl Told {
    /// The answer with intervals of this confidence, which cost nothing.
    ///
    /// # Errors
    /// [`Illegal`] unless the confidence is strictly between 0 and 1.
    pub fn numbers(&self, ready: &Ready, confidence: f64) -> Result<Vec<Number>, Illegal> {
        numbers(&self.drawn, (ready.checked(), ready.measured()), confidence)
    }
}

/// What is stored: all that is drawn, for each group and aggregate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u64,
    drawn: Vec<Vec<Drawn>>,
}

/// What a question would cost, and whether the account would pay for it now.
///
/// # Errors
/// [`LedgerError`] if the account cannot be asked.
pub fn price_of(
    pool: &Pool,
    held: &Held,
    ready: &Ready,
    payer: &Payer<'_>,
) -> Result<Price, LedgerError> {
    pool.with(|ledger| ledger.price(&request(held, ready, payer)))
}

fn request<'a>(held: &Held, ready: &'a Ready, payer: &Payer<'a>) -> Request<'a> {
    let (analyst, alias) = (payer.analyst, payer.alias);
    Request { analyst, alias, ..ready.request(payer.account, &held.public) }
}

/// What the ledger has stored for a question, if anything. Nothing is debited.
///
/// # Errors
/// [`Unanswered`] if the ledger fails.
pub(crate) fn remembered(pool: &Pool, due: &Due<'_>) -> Result<Option<Told>, Unanswered> {
    let Due { held, ready, payer } = due;
    match response(pool, payer.account, ready.key())? {
        None => Ok(None),
        // What is stored is not debited again.
        Some(_) => match debit(pool, held, ready, payer)? {
            Debited::Stored(told) => Ok(Some(told)),
            Debited::Paid(_) => Ok(None),
        },
    }
}

/// What became of a debit.
pub(super) enum Debited {
    /// It was answered before.
    Stored(Told),
    /// It is paid for, by this call or an earlier one, and not answered.
    Paid(Option<Cost>),
}

pub(super) fn debit(
    pool: &Pool,
    held: &Held,
    ready: &Ready,
    payer: &Payer<'_>,
) -> Result<Debited, Unanswered> {
    let debited = match pool.reserve(&request(held, ready, payer)) {
        Ok(debit) => (debit.response, debit.charge, Some(debit.entry), debit.head),
        Err(error @ LedgerError::AliasInUse) => return Err(error.into()),
        Err(error) => paid_before(pool, ready, payer, error)?,
    };
    let (response, charge, entry, head) = debited;
    let Some(bytes) = response else { return Ok(Debited::Paid(charge)) };
    let drawn = read(&bytes, ready)?;
    Ok(Debited::Stored(Told { drawn, charge, entry, is_repeated: true, ran: false, head }))
}

/// A response, a charge, an entry and the head.
type Found = (Option<Vec<u8>>, Option<Cost>, Option<u64>, Head);

/// What is paid for is told for nothing, whatever became of the account since, and whoever of its analysts asked first: the
/// key is the question.
fn paid_before(
    pool: &Pool,
    ready: &Ready,
    payer: &Payer<'_>,
    error: LedgerError,
) -> Result<Found, LedgerError> {
    let response = told_for_nothing(error, response(pool, payer.account, ready.key()))?;
    let head = match payer.alias {
        Some(alias) => pool.alias(payer.account, payer.analyst, alias, ready.key())?,
        None => pool.with(Ledger::head)?,
    };
    Ok((response, None, None, head))
}

/// What is told of a request that the ledger did not take, if it was paid for. A key that stands for another request is this
/// question's, asked by somebody else; a ledger that fails now says nothing about it.
fn told_for_nothing(
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

/// The noisy counts that a question shares, of each group, as they are stored; `None` if its count was not answered.
pub(super) fn stored_counts(
    pool: &Pool,
    ready: &Ready,
    payer: &Payer<'_>,
) -> Result<Option<Vec<f64>>, Unanswered> {
    let Some(count) = ready.count() else { return Ok(None) };
    match response(pool, payer.account, count.key())? {
        Some(bytes) => {
            let found = counts(&read(&bytes, count)?);
            found.map(Some).map_err(|_| Error::Unreadable { what: "a count" }.into())
        }
        None => Ok(None),
    }
}

/// What is said of a question whose count was not answered.
pub(super) fn without_count(ready: &Ready, count: &Ready) -> Unanswered {
    let (slot, other) = (ready.slot(), count.slot());
    let place = format!("slot {slot:?}");
    let problem =
        format!("is computed with the noisy count of slot {other:?}, which was not answered yet");
    let legal = format!(
        "slot {other:?} asked first: COUNT(*) by the same columns, with (the same condition) AND column IS NOT NULL for every \
         column that may be missing"
    );
    Illegal::new(place, problem, legal).into()
}

/// Stores what was drawn, unless something is stored already; what is stored is told.
pub(super) fn keep(
    pool: &Pool,
    ready: &Ready,
    payer: &Payer<'_>,
    charge: Option<Cost>,
    drawn: Vec<Vec<Drawn>>,
) -> Result<Told, Unanswered> {
    let bytes = text::write(&Stored { version: 1, drawn })?;
    let stored = pool.commit(payer.account, ready.key(), &bytes);
    // It is charged, whatever the ledger says now.
    let stored = stored.map_err(|error| Unanswered::Charged(Failed::new(error)))?;
    // Only what is stored may be shown.
    let drawn = read(&stored.response, ready)?;
    let (entry, head) = (Some(stored.entry), stored.head);
    Ok(Told { drawn, charge, entry, is_repeated: stored.repeated, ran: true, head })
}

/// What is stored under a key, if it was ever reserved.
pub(crate) fn response(
    pool: &Pool,
    account: &str,
    key: &str,
) -> Result<Option<Vec<u8>>, LedgerError> {
    match pool.with(|ledger| ledger.response(account, key)) {
        Err(LedgerError::Unknown { .. }) => Ok(None),
        other => other,
    }
}

fn read(bytes: &[u8], ready: &Ready) -> Result<Vec<Vec<Drawn>>, Error> {
    let Stored { drawn, .. } = text::read("an answer", bytes)?;
    let fits = drawn.len() == ready.checked().cells()
        && drawn.iter().all(|parts| parts.len() == ready.measured().len());
    if fits { Ok(drawn) } else { Err(Error::Unreadable { what: "an answer" }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_ledger::DatabaseError;

    /// A ledger that is busy, or out of reach, is a fault that passes, and no verdict on the key.
    #[test]
    fn a_key_that_is_merely_busy_is_not_taken() {
        let taken = || LedgerError::KeyInUse { key: "q".to_owned() };
        let busy = || LedgerError::from(DatabaseError::Busy);
        assert_eq!(told_for_nothing(taken(), Ok(Some(vec![1]))).unwrap(), Some(vec![1]));
        assert_eq!(told_for_nothing(taken(), Ok(None)).unwrap(), None);
        let failed = told_for_nothing(taken(), Err(busy())).unwrap_err();
        assert!(matches!(failed, LedgerError::Database(DatabaseError::Busy)), "{failed:?}");
        // What was paid for is told, whatever the ledger says now; else its first word stands.
        assert_eq!(told_for_nothing(busy(), Ok(Some(vec![1]))).unwrap(), Some(vec![1]));
        for stored in [Ok(None), Err(taken())] {
            let failed = told_for_nothing(busy(), stored).unwrap_err();
            assert!(matches!(failed, LedgerError::Database(DatabaseError::Busy)), "{failed:?}");
        }
    }
}

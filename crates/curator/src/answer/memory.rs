//! Questions about data in memory: debit, draw, store, show.

use crate::charge::{Bill, Error, Shown, Stored, text};
use counterpoint_ledger::{Hash, Ledger, Price};
use counterpoint_mechanisms::{Data, Measurement, Recipe};
use counterpoint_wire::ledger::Asked;

/// Answers a question once. If the bill's key was answered before, that answer is shown again
/// and nothing is charged; a key stands for one question, one price and one payer.
///
/// What fails after the debit stays charged, and may be tried again under the same key.
///
/// # Errors
/// [`Error`]; nothing was shown, and nothing drawn was stored.
pub fn answer(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    recipe: &Recipe,
    data: &Data,
) -> Result<Shown, Error> {
    let (measurement, asked, digest) = asked(bill, recipe, data)?;
    let debit = ledger.reserve(&bill.request(&asked, data.relation(), digest, false))?;
    if let Some(bytes) = debit.response {
        let stored = Stored { bytes, entry: debit.entry, is_repeated: true, head: debit.head };
        return Shown::of(stored, None);
    }
    let drawn = text::write(&measurement.run(data)?)?;
    let stored = ledger.commit(bill.account, bill.key, &drawn)?;
    Shown::of(stored.into(), debit.charge)
}

/// What an answer would cost, and whether the account would pay for it now. Nothing is written,
/// and the data are not looked at: their relation is.
///
/// # Errors
/// [`Error`] if the question could not be asked at all.
pub fn price(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    recipe: &Recipe,
    data: &Data,
) -> Result<Price, Error> {
    let (_, asked, digest) = asked(bill, recipe, data)?;
    Ok(ledger.price(&bill.request(&asked, data.relation(), digest, false))?)
}

/// What is run, what the ledger is asked for it, and the question's digest. What could not be answered is not charged.
fn asked(
    bill: &Bill<'_>,
    recipe: &Recipe,
    data: &Data,
) -> Result<(Measurement, Asked, Hash), Error> {
    text::fits(recipe)?;
    let measurement = recipe.under(data.relation())?;
    measurement.suits(data)?;
    let asked = bill.asked(measurement.releases(), data.part())?;
    Ok((measurement, asked, text::digest(recipe)?))
}

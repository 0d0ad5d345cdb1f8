//! Debit, draw, store, show.

use crate::bill::Bill;
use crate::error::Error;
use crate::shown::{Shown, Stored};
use crate::text;
use counterpoint_ledger::{Ledger, Price};
use counterpoint_mechanisms::{Data, Recipe};

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
    text::fits(recipe)?;
    let measurement = recipe.under(data.relation())?;
    // What could not be answered is not charged.
    measurement.suits(data)?;
    let asked = bill.asked(measurement.releases(), data.part())?;
    let request = bill.request(&asked, data.relation(), text::digest(recipe)?, false);
    let debit = ledger.reserve(&request)?;
    if let Some(stored) = debit.response {
        return Shown::stored(Stored {
            bytes: stored,
            entry: debit.entry,
            is_repeated: true,
            head: debit.head,
        });
    }
    let drawn = text::write(&measurement.run(data)?)?;
    let stored = ledger.commit(bill.account, bill.key, &drawn)?;
    Ok(Shown::committed(stored)?.charged(debit.charge))
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
    text::fits(recipe)?;
    let measurement = recipe.under(data.relation())?;
    measurement.suits(data)?;
    let asked = bill.asked(measurement.releases(), data.part())?;
    let request = bill.request(&asked, data.relation(), text::digest(recipe)?, false);
    Ok(ledger.price(&request)?)
}

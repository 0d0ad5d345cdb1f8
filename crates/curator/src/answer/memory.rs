//! Questions about data in memory: debit, draw, store, show.

use crate::charge::{Bill, Error, StoredBytes, StoredReply, text};
use counterpoint_ledger::{Hash, Ledger, Price};
use counterpoint_mechanisms::{Data, Measurement, NoisyQuery};
use counterpoint_wire::ledger::ReleaseRequest;

/// Answers a question once. If the bill's key has a stored answer, that answer is returned and nothing is charged. A
/// key stands for one question, one price and one payer.
///
/// A failure after the debit leaves the question charged; it may be asked again under the same key.
///
/// # Errors
/// [`Error`]; nothing is shown, and nothing that was drawn is stored.
pub fn answer(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    recipe: &NoisyQuery,
    data: &Data,
) -> Result<StoredReply, Error> {
    let (measurement, charge, digest) = charge_for(bill, recipe, data)?;
    let debit = ledger.reserve(&bill.request(&charge, data.relation(), digest, false))?;
    if let Some(bytes) = debit.response {
        let stored = StoredBytes { bytes, entry: debit.entry, is_repeated: true, head: debit.head };
        return StoredReply::of(stored, None);
    }
    let drawn = text::write(&measurement.run(data)?)?;
    let stored = ledger.commit(bill.account, bill.key, &drawn)?;
    StoredReply::of(stored.into(), debit.charge)
}

/// The cost of an answer, and whether the account can pay it now. Writes nothing and does not read the data's
/// values.
///
/// # Errors
/// [`Error`] if the question cannot be asked.
pub fn price(
    ledger: &mut Ledger,
    bill: &Bill<'_>,
    recipe: &NoisyQuery,
    data: &Data,
) -> Result<Price, Error> {
    let (_, charge, digest) = charge_for(bill, recipe, data)?;
    Ok(ledger.price(&bill.request(&charge, data.relation(), digest, false))?)
}

/// The measurement, the charge and the digest of a question. A question that cannot be answered is an error here,
/// before the debit.
fn charge_for(
    bill: &Bill<'_>,
    recipe: &NoisyQuery,
    data: &Data,
) -> Result<(Measurement, ReleaseRequest, Hash), Error> {
    text::check_answer_fits(recipe)?;
    let measurement = recipe.under(data.relation())?;
    measurement.check_data(data)?;
    let charge = bill.charge_for(measurement.releases(), data.part())?;
    Ok((measurement, charge, text::digest(recipe)?))
}

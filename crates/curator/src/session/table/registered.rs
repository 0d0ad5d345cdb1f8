//! Sessions of mechanisms that the owner registered.

use super::declared::{Declaration, Runs};
use super::owner::Owner;
use super::program::{Fault, Registered, step};
use crate::answer::Unanswered;
use crate::charge::Stored;
use crate::engine::{Failed, Held};
use crate::session::own::{About, Step, ask_own, declared_own};
use crate::session::steps::{Opened, Unfinished, stored};
use counterpoint_ledger::{Hash, Pool};
use std::time::{Duration, Instant};

/// Opens a session of a mechanism that the owner registered, and debits all of it. The program is not run.
///
/// # Errors
/// [`Unanswered`]; it does not depend on the data.
pub fn open_registered(
    pool: &Pool,
    held: &Held,
    owner: &Owner<'_>,
    slot: Option<&str>,
    registered: &Registered,
) -> Result<Opened, Unanswered> {
    let (key, own) = (owner.ledger_key()?, &registered.own);
    let declared = Runs::Own(own.clone());
    let declaration = Declaration::of(owner.key, &registered.table, declared).written()?;
    let about = About { relation: Some(held.public.relation()), part: None };
    Ok(declared_own(&mut &*pool, &owner.bill(&key, slot), own, &about, &declaration)?)
}

/// Asks an open session of a mechanism that the owner registered a question, as JSON. Each time that the program is run it has so
/// long.
///
/// # Errors
/// [`Unanswered`]: [`Unanswered::Ended`] if the program fails.
pub fn ask_registered(
    pool: &Pool,
    owner: &Owner<'_>,
    (name, question): (&str, &str),
    registered: &Registered,
    limit: Duration,
) -> Result<Stored, Unanswered> {
    let key = owner.ledger_key()?;
    let (place, about) = ((owner.account, key.as_str()), About::default());
    ask_own(&mut &*pool, place, (name, question), &about, |state, question| {
        // How long a reply is may tell of the data, and is for the operator alone.
        let fits =
            |step: Step| step.fits().map(|()| step).map_err(|error| Failed::new(error).into());
        let deadline = Instant::now() + limit;
        let made = step(registered, state, question, deadline).and_then(fits);
        made.map_err(|fault| match fault {
            Fault::NotStarted(failed) => Unfinished::Stopped(Unanswered::Unreachable(failed)),
            Fault::Failed(failed) => Unfinished::Failed(Unanswered::Ended(failed)),
        })
    })
}

/// The answer that is stored under a name of a registered mechanism's session, if there is one.
///
/// # Errors
/// [`Unanswered`] if it is stored for another question, or the ledger fails.
pub fn remembered_registered(
    pool: &Pool,
    owner: &Owner<'_>,
    (name, question): (&str, &str),
) -> Result<Option<Stored>, Unanswered> {
    let key = owner.ledger_key()?;
    let asked = (name, Hash::of(question.as_bytes()));
    Ok(stored(&mut &*pool, (owner.account, &key), asked)?)
}

//! Sessions about tables: gates and sequences whose questions are filters and aggregates. Charged in full when they are
//! opened; each answer is stored, with the state after it, before it is shown. No handle of the ledger is held while the
//! engine runs.

mod declared;
mod owner;
mod program;
mod registered;

pub use declared::{Asked, Declaration, Declared, Runs, Summed};
pub use owner::Owner;
pub use program::Registered;
pub use registered::{ask_registered, open_registered, remembered_registered};

use super::steps::{Opened, answered, drawn_by_ours, opened, stored};
use crate::answer::{Stage, Stages, Unanswered};
use crate::charge::{Error, Shown, text};
use crate::engine::{Counted, Failed, Held, Tabulation, Wanted, not_whole};
use counterpoint_ledger::{Hash, Head, Pool};
use counterpoint_mechanisms::{Found, Needed, Question as Put, State};
use counterpoint_questions::public::{Table, TableText};
use counterpoint_questions::{Checked, Spend};
use declared::{cannot_be_had, relation};
use serde::Serialize;
use std::time::Instant;

/// What makes two questions to a session the same.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    checked: &'a Checked,
    guess: Option<f64>,
    spend: Option<Spend>,
    public: &'a TableText,
}

/// Opens a session about a table, and debits all of it. If the key was opened before with the same declaration it is
/// that session, as it is now.
///
/// # Errors
/// [`Unanswered`]; it does not depend on the data, which are not looked at.
pub fn open(
    pool: &Pool,
    held: &Held,
    owner: &Owner<'_>,
    slot: Option<&str>,
    declared: &Declared,
) -> Result<Opened, Unanswered> {
    let (key, table) = (owner.ledger_key()?, &held.public);
    let declared = declared.made(table)?;
    let protocol = declared.under(relation(table));
    let protocol = protocol.map_err(|error| cannot_be_had("the session", &error))?;
    let declaration = Declaration::of(owner.key, table.name(), Runs::Ours(declared)).written()?;
    let bill = owner.bill(&key, slot);
    Ok(pool.with(|ledger| opened(ledger, &bill, &protocol, &declaration, None))?)
}

/// Asks an open session, until the deadline, and says how long each stage takes. `name` is the analyst's for this question, in
/// the session: asked again under it, the same question has the same answer.
///
/// # Errors
/// [`Unanswered`]; what it says depends on the question, on what is public and on the ledger, never on the data.
pub fn ask(
    pool: &Pool,
    held: &Held,
    owner: &Owner<'_>,
    (name, asked): (&str, &Asked),
    deadline: Instant,
    stages: &Stages,
) -> Result<Shown, Unanswered> {
    let (key, table) = (owner.ledger_key()?, &held.public);
    let checked = asked.question.check(table)?;
    let digest = digest(&checked, asked, table)?;
    // Added up once, however often others come first.
    let mut found: Option<Found> = None;
    let place = (owner.account, key.as_str());
    let mut draw = |declaration: &[u8], state: &State| {
        let declaration = Declaration::read(declaration)?;
        let step = declaration.step(&checked, asked)?;
        if let Put::Measure(recipe) = &step {
            text::fits(recipe)?;
        }
        let protocol = declaration.declared.ours()?.under(relation(table)).map_err(Error::from)?;
        let needed = protocol.needs(state, &step).map_err(Error::from)?;
        let found = match &mut found {
            Some(found) => &*found,
            none => none.insert(found_out(held, &checked, &needed, deadline, stages)?),
        };
        Ok(stages.time(Stage::Noise, || protocol.answer_from(state, &step, found)))
    };
    let stored = answered(&mut &*pool, place, (name, digest), None, |declaration, state| {
        drawn_by_ours::<Unanswered>(draw(declaration, state))
    });
    Ok(Shown::of(stored?, None)?)
}

fn digest(checked: &Checked, asked: &Asked, table: &Table) -> Result<Hash, Error> {
    let Asked { guess, spend, .. } = *asked;
    text::digest(&Same { version: 1, checked, guess, spend, public: table.text() })
}

/// What a question needs to know, added up by the engine: **as secret as the data**.
fn found_out(
    held: &Held,
    checked: &Checked,
    needed: &Needed,
    deadline: Instant,
    stages: &Stages,
) -> Result<Found, Unanswered> {
    let wanted = match needed {
        Needed::Units(summand) => Some(Wanted::Sums(vec![*summand])),
        Needed::Tally(measurement) => Wanted::of(measurement),
        _ => None,
    };
    let wanted = wanted.ok_or_else(not_whole)?;
    let tabulation = Tabulation::new(checked, &[wanted])?;
    held.compiled(&[&tabulation])?;
    let failed = || Unanswered::Charged(Failed::unlike());
    held.reach(deadline).map_err(Unanswered::Unreachable)?;
    stages.count_runs(1);
    let count = || held.count(&[&tabulation], deadline);
    let counted = stages.time(Stage::Engine, count).map_err(Unanswered::Charged)?;
    let counted = counted.into_iter().flatten().next_back();
    let Counted { rows, mut numbers } = counted.ok_or_else(failed)?;
    let numbers = numbers.pop().ok_or_else(failed)?;
    match needed {
        Needed::Tally(measurement) => {
            let tally = measurement.tallied(rows, numbers).map_err(|_| failed())?;
            Ok(Found::Tally(Box::new(tally)))
        }
        _ => numbers.first().map(|units| Found::Units(*units)).ok_or_else(failed),
    }
}

/// The answer that is stored under a name, if there is one.
///
/// # Errors
/// [`Unanswered`] if it is stored for another question, or the ledger fails.
pub fn remembered(
    pool: &Pool,
    held: &Held,
    owner: &Owner<'_>,
    name: &str,
    asked: &Asked,
) -> Result<Option<Shown>, Unanswered> {
    let (key, table) = (owner.ledger_key()?, &held.public);
    let digest = digest(&asked.question.check(table)?, asked, table)?;
    let found = stored(&mut &*pool, (owner.account, &key), (name, digest))?;
    Ok(found.map(|stored| Shown::of(stored, None)).transpose()?)
}

/// Ends a session for good. It is not refunded.
///
/// # Errors
/// [`Unanswered::Ledger`] if there is no such session.
pub fn close(pool: &Pool, owner: &Owner<'_>) -> Result<Head, Unanswered> {
    let key = owner.ledger_key()?;
    Ok(pool.with(|ledger| ledger.end(owner.account, &key))?)
}

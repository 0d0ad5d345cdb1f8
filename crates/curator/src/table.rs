//! The way of a question about a table: check, price, *debit*, run, draw, *store*, show.

use crate::checked::{Checked, Spend};
use crate::compile::{Compiled, Wanted, compile, together};
use crate::engine::{Dialect, Engine, Failed, Rows};
use crate::error::Error;
use crate::illegal::Illegal;
use crate::public::{Key, Table};
use crate::question::Question;
use crate::source::{made_up, normal};
use crate::text;
use counterpoint_ledger::{Hash, Head, Ledger, LedgerError, Pool, Price, Request};
use counterpoint_mechanisms::{Drawn, Measurement, Reply, Within};
use counterpoint_wire::ledger::{Asked, Cost, Described};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A table that is held: what is public about it, and where its rows are.
#[derive(Clone)]
pub struct Held {
    /// What is public.
    pub public: Table,
    /// Its rows as all engines see them, in SQL.
    source: String,
    /// Where its rows are.
    pub engine: Arc<dyn Engine>,
}

impl Held {
    /// A table that the engine calls `from`. Its columns have to be there, of types that fit.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the operator alone.
    pub fn new(public: Table, from: &str, engine: Arc<dyn Engine>) -> Result<Self, Failed> {
        let source = normal(&public, from, &engine.columns(from)?, &engine.dialect())?;
        Ok(Self { public, source, engine })
    }

    /// The same with so many rows that the engine makes up: none of the table's is looked at.
    pub(crate) fn made_up(public: Table, rows: u64, engine: Arc<dyn Engine>) -> Self {
        let source = made_up(&public, rows, &engine.dialect());
        Self { public, source, engine }
    }

    /// Its rows as all engines see them, in SQL, and how that is written.
    #[must_use]
    pub fn place(&self) -> (&str, Dialect) {
        (&self.source, self.engine.dialect())
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("public", &self.public).finish_non_exhaustive()
    }
}

/// Why a question about a table was not answered.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// It is not legal. Nothing was charged.
    #[error(transparent)]
    Illegal(#[from] Illegal),
    /// The ledger said no, or failed. Nothing was charged, unless it says that this is uncertain.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// What came after the debit failed: it stays charged, and may be asked again. Why is for the operator alone.
    #[error("the question was charged, and failed; asked again it costs nothing more")]
    Charged(#[source] Failed),
    /// Rows could not be made up, or asked. Nothing was charged.
    #[error("the made-up rows gave no answer; nothing was charged")]
    Dummy(#[source] Failed),
    /// A session does not answer it, or is over.
    #[error(transparent)]
    Session(Error),
    /// What was stored cannot be read.
    #[error(transparent)]
    Stored(Error),
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        match error {
            Error::Ledger(error) => Self::Ledger(*error),
            Error::Unreadable { .. } | Error::Unwritable(_) => Self::Stored(error),
            other => Self::Session(other),
        }
    }
}

/// A question that is ready to be asked: legal, measured, and with its price described.
#[derive(Clone, Debug)]
pub struct Ready {
    checked: Checked,
    measured: Vec<Measurement>,
    compiled: Compiled,
    spend: Spend,
    asked: Asked,
    key: String,
    digest: Hash,
}

/// What makes two questions the same: the question, what it may cost, and what is public about the table.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    checked: &'a Checked,
    spend: Spend,
    slot: Option<&'a str>,
    public: &'a crate::public::TableText,
}

/// What is stored: all that is drawn, for each group and aggregate.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u64,
    drawn: Vec<Vec<Drawn>>,
}

impl Ready {
    /// Makes a question ready. The data are not looked at.
    ///
    /// # Errors
    /// [`Illegal`] unless it is legal, by what is public.
    pub fn new(
        held: &Held,
        question: &Question,
        spend: Spend,
        slot: Option<&str>,
    ) -> Result<Self, Illegal> {
        let table = &held.public;
        let checked = question.check(table)?;
        let measured = checked.measured(spend)?;
        let wanted = measured.iter().map(Wanted::of).collect::<Option<Vec<_>>>();
        let compiled = wanted.and_then(|wanted| compile(&checked, &wanted, table, held.place()));
        let compiled = compiled.ok_or_else(not_whole)?;
        let unwritable = |error: String| Illegal::new("the question", error, "other costs");
        let described = measured.iter().flat_map(Measurement::releases).map(Described::of);
        let described = described.collect::<Result<Vec<_>, _>>();
        let described = described.map_err(|error| unwritable(error.to_string()))?;
        let asked = match slot {
            Some(name) => Asked::Slot { name: name.to_owned(), count: 1, run: described },
            None => Asked::Described(described),
        };
        let same = Same { version: 1, checked: &checked, spend, slot, public: table.text() };
        let digest = text::digest(&same).map_err(|error| unwritable(error.to_string()))?;
        let key = format!("q-{digest}");
        Ok(Self { checked, measured, compiled, spend, asked, key, digest })
    }

    /// The question.
    #[must_use]
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// What it may cost.
    #[must_use]
    pub fn spend(&self) -> Spend {
        self.spend
    }

    /// The key under which it is charged, once for each account.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What each aggregate is measured with.
    #[must_use]
    pub fn measured(&self) -> &[Measurement] {
        &self.measured
    }

    /// For each aggregate its name, and its half-width on the worst data, as far as that is public; in ranks for
    /// quantiles.
    ///
    /// # Errors
    /// [`Illegal`] unless the confidence is strictly between 0 and 1.
    pub fn half_widths(&self, confidence: f64) -> Result<Vec<(String, Option<f64>)>, Illegal> {
        half_widths(&self.checked, &self.measured, confidence)
    }

    /// What the engine is asked.
    #[must_use]
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    fn request<'a>(&'a self, payer: &Payer<'a>, table: &Table) -> Request<'a> {
        let request = Request::new(payer.account, &self.key, &self.asked).under(table.relation());
        let (analyst, alias) = (payer.analyst, payer.alias);
        Request { analyst, question: Some(self.digest), alias, ..request }
    }
}

/// What no engine is asked.
pub(crate) fn not_whole() -> Illegal {
    Illegal::new("the question", "cannot be added up in whole numbers", "other costs or bounds")
}

/// The half-widths of what is measured; none where they depend on how many rows there are, and that is not public.
pub(crate) fn half_widths(
    checked: &Checked,
    measured: &[Measurement],
    confidence: f64,
) -> Result<Vec<(String, Option<f64>)>, Illegal> {
    let width = |(part, measurement): (&crate::checked::Part, &Measurement)| {
        // Counts, sums and bins have the same whatever their number.
        let plain = measurement.summands().len() == 1 || measurement.noises().len() == 1;
        let grouped = !checked.groupings().is_empty() || checked.filter().is_some();
        let rows = match checked.public_rows().filter(|_| !grouped) {
            Some(rows) => Some(rows),
            None if plain && !measurement.relation().is_length_public() => Some(0),
            None => None,
        };
        let width = rows.map(|rows| measurement.half_width(rows, confidence)).transpose();
        width.map(|width| (part.name.clone(), width)).map_err(|error| {
            Illegal::new("confidence", error.to_string(), "a number strictly between 0 and 1")
        })
    };
    if !(confidence > 0.0 && confidence < 1.0) {
        let problem = format!("is {confidence}");
        return Err(Illegal::new("confidence", problem, "a number strictly between 0 and 1"));
    }
    checked.parts().iter().zip(measured).map(width).collect()
}

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
    pool.with(|ledger| ledger.price(&ready.request(payer, &held.public)))
}

/// Answers a question: from what is stored, or else debited, run until the deadline, drawn, stored.
///
/// # Errors
/// [`Unanswered`]; what it says depends on the question, on what is public and on the ledger, never on the data.
pub fn tell(
    pool: &Pool,
    held: &Held,
    ready: &Ready,
    payer: &Payer<'_>,
    deadline: Instant,
) -> Result<Told, Unanswered> {
    match debit(pool, held, ready, payer)? {
        Debited::Stored(told) => Ok(told),
        Debited::Paid(charge) => {
            let drawn = draw(held, ready, deadline).map_err(Unanswered::Charged)?;
            keep(pool, ready, payer, charge, drawn)
        }
    }
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

/// Answers questions: each is debited on its own, in the order in which they are given, and what is not stored is run
/// together with others about the same table, in as few passes as the engine allows; a pass may take as long as its questions one by one.
pub fn tell_all(
    pool: &Pool,
    questions: &[Due<'_>],
    limit: Duration,
) -> Vec<Result<Told, Unanswered>> {
    let debited = questions.iter().map(|due| debit(pool, due.held, due.ready, &due.payer));
    let debited: Vec<Result<Debited, Unanswered>> = debited.collect();
    let is_paid = |debited: &Result<Debited, _>| matches!(debited, Ok(Debited::Paid(_)));
    let paid = questions.iter().zip(&debited).enumerate().filter(|(_, (_, one))| is_paid(one));
    let mut waiting: Vec<(usize, &Due<'_>)> = paid.map(|(place, (due, _))| (place, due)).collect();
    let mut drawn = BTreeMap::new();
    while let Some((_, first)) = waiting.first().copied() {
        let (mut some, rest): (Vec<_>, Vec<_>) =
            waiting.into_iter().partition(|(_, due)| std::ptr::eq(due.held, first.held));
        waiting = some.split_off(some.len().min(TOGETHER)).into_iter().chain(rest).collect();
        let ready: Vec<&Ready> = some.iter().map(|(_, due)| due.ready).collect();
        let deadline = Instant::now() + limit * ready.len() as u32;
        let places = some.into_iter().map(|(place, _)| place);
        drawn.extend(places.zip(draw_all(first.held, &ready, deadline)));
    }
    let told = |(place, (due, debited)): (usize, (&Due<'_>, Result<Debited, Unanswered>))| {
        match debited? {
            Debited::Stored(told) => Ok(told),
            Debited::Paid(charge) => {
                let drawn = drawn.remove(&place).unwrap_or_else(|| Err(unlike()));
                let drawn = drawn.map_err(Unanswered::Charged)?;
                keep(pool, due.ready, &due.payer, charge, drawn)
            }
        }
    };
    questions.iter().zip(debited).enumerate().map(told).collect()
}

/// So many questions are run together at most.
const TOGETHER: usize = 16;

/// What became of a debit.
enum Debited {
    /// It was answered before.
    Stored(Told),
    /// It is paid for, by this call or an earlier one, and not answered.
    Paid(Option<Cost>),
}

fn debit(
    pool: &Pool,
    held: &Held,
    ready: &Ready,
    payer: &Payer<'_>,
) -> Result<Debited, Unanswered> {
    let debited = match pool.reserve(&ready.request(payer, &held.public)) {
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
    let response = pool.with(|ledger| ledger.response(payer.account, &ready.key));
    let response = match stored(response) {
        Ok(Some(bytes)) => Some(bytes),
        Ok(None) if matches!(error, LedgerError::KeyInUse { .. }) => None,
        _ => return Err(error),
    };
    let head = match payer.alias {
        Some(alias) => pool.alias(payer.account, payer.analyst, alias, &ready.key)?,
        None => pool.with(Ledger::head)?,
    };
    Ok((response, None, None, head))
}

/// Stores what was drawn, unless something is stored already; what is stored is told.
fn keep(
    pool: &Pool,
    ready: &Ready,
    payer: &Payer<'_>,
    charge: Option<Cost>,
    drawn: Vec<Vec<Drawn>>,
) -> Result<Told, Unanswered> {
    let bytes = text::write(&Stored { version: 1, drawn })?;
    let stored = pool.commit(payer.account, &ready.key, &bytes);
    // It is charged, whatever the ledger says now.
    let stored = stored.map_err(|error| Unanswered::Charged(Failed::new(error)))?;
    // Only what is stored may be shown.
    let drawn = read(&stored.response, ready)?;
    let (entry, head) = (Some(stored.entry), stored.head);
    Ok(Told { drawn, charge, entry, is_repeated: stored.repeated, ran: true, head })
}

/// What is stored under a key, if it was ever reserved.
fn stored(response: Result<Option<Vec<u8>>, LedgerError>) -> Result<Option<Vec<u8>>, LedgerError> {
    match response {
        Err(LedgerError::Unknown { .. }) => Ok(None),
        other => other,
    }
}

fn read(bytes: &[u8], ready: &Ready) -> Result<Vec<Vec<Drawn>>, Error> {
    let Stored { drawn, .. } = text::read("an answer", bytes)?;
    let fits = drawn.len() == ready.checked.cells()
        && drawn.iter().all(|parts| parts.len() == ready.measured.len());
    if fits { Ok(drawn) } else { Err(Error::Unreadable { what: "an answer" }) }
}

/// Runs a question and draws its answer, **which is to be charged first**.
pub(crate) fn draw(
    held: &Held,
    ready: &Ready,
    deadline: Instant,
) -> Result<Vec<Vec<Drawn>>, Failed> {
    let rows = held.engine.run(ready.compiled.statement(), deadline)?;
    drawn(ready, &rows)
}

/// The same for several questions, **each of which is to be charged first**.
fn draw_all(
    held: &Held,
    questions: &[&Ready],
    deadline: Instant,
) -> Vec<Result<Vec<Vec<Drawn>>, Failed>> {
    let list: Vec<_> = questions.iter().map(|ready| (&ready.checked, &ready.compiled)).collect();
    let Some(one) = together(&list, &held.public, held.place()) else {
        return questions.iter().map(|ready| draw(held, ready, deadline)).collect();
    };
    let rows = held.engine.run(one.statement(), deadline);
    let rows = rows.and_then(|rows| one.split(&rows).ok_or_else(unlike));
    match rows {
        Ok(rows) => questions.iter().zip(&rows).map(|(ready, rows)| drawn(ready, rows)).collect(),
        Err(failed) => questions.iter().map(|_| Err(failed.clone())).collect(),
    }
}

fn unlike() -> Failed {
    Failed::new("the engine's rows are not what was asked")
}

/// An answer, drawn from what the engine added up.
fn drawn(ready: &Ready, rows: &Rows) -> Result<Vec<Vec<Drawn>>, Failed> {
    let tallies = ready.compiled.tallies(&ready.measured, rows).ok_or_else(unlike)?;
    let cell = |tallies: &Vec<_>| {
        let drawn =
            ready.measured.iter().zip(tallies).map(|(measurement, tally)| measurement.draw(tally));
        drawn.collect::<Result<Vec<_>, _>>().map_err(Failed::new)
    };
    tallies.iter().map(cell).collect()
}

/// One number of an answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Number {
    /// The group's keys, in the order of the columns grouped by.
    pub group: Vec<Key>,
    /// Which aggregate it is of.
    pub name: String,
    /// The bin that it counts, from the first up to but not including the second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin: Option<(f64, f64)>,
    /// The share that it is the quantile of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The number, with noise.
    pub value: f64,
    /// The number without noise is no further from it, with the confidence; unknown for quantiles.
    pub half_width: Option<f64>,
    /// It is within these.
    pub interval: Option<(f64, f64)>,
    /// With so much probability, for each number on its own.
    pub confidence: f64,
}

impl Told {
    /// The answer with intervals of this confidence, which cost nothing.
    ///
    /// # Errors
    /// [`Illegal`] unless the confidence is strictly between 0 and 1.
    pub fn numbers(&self, ready: &Ready, confidence: f64) -> Result<Vec<Number>, Illegal> {
        numbers(&self.drawn, ready, confidence)
    }
}

pub(crate) fn numbers(
    drawn: &[Vec<Drawn>],
    ready: &Ready,
    confidence: f64,
) -> Result<Vec<Number>, Illegal> {
    let mut list = Vec::new();
    for (cell, drawn) in drawn.iter().enumerate() {
        let group: Vec<Key> = ready.checked.keys(cell).into_iter().cloned().collect();
        for ((part, measurement), drawn) in
            ready.checked.parts().iter().zip(&ready.measured).zip(drawn)
        {
            let within = measurement.within(drawn, confidence).map_err(|error| {
                Illegal::new("confidence", error.to_string(), "a number strictly between 0 and 1")
            })?;
            let (group, name) = (group.clone(), part.name.clone());
            let first = Number {
                group,
                name,
                bin: None,
                share: None,
                value: 0.0,
                half_width: None,
                interval: None,
                confidence,
            };
            list.extend(of_part(&within, measurement, &first));
        }
    }
    Ok(list)
}

/// The numbers of one aggregate.
fn of_part(within: &Within, measurement: &Measurement, like: &Number) -> Vec<Number> {
    let values = match &within.reply {
        Reply::Table(values) => values.clone(),
        other => other.number().into_iter().collect(),
    };
    let bins = match measurement.places() {
        Some((edges, false)) => edges,
        _ => &[],
    };
    let shares = measurement.recipe().query().shares();
    let number = |(place, value): (usize, &f64)| {
        let interval = within.intervals.get(place).map(|interval| (interval.low, interval.high));
        let half_width = interval.map(|(low, high)| (value - low).max(high - value));
        let bin = bins.get(place).copied().zip(bins.get(place + 1).copied());
        let share = shares.get(place).copied();
        Number { bin, share, value: *value, half_width, interval, ..like.clone() }
    };
    values.iter().enumerate().map(number).collect()
}

//! Sessions about tables: gates and sequences whose questions are filters and aggregates. Charged in full when they are
//! opened; each answer is stored, with the state after it, before it is shown. No handle of the ledger is held while the
//! engine runs.

use crate::bill::Bill;
use crate::engine::Failed;
use crate::error::Error;
use crate::own::{About, Own, Registered, Step, ask_own, declared_own};
use crate::program::{self, Fault};
use crate::session::{Opened, Unfinished, answered, drawn_by_ours, opened, stored};
use crate::shown::{Shown, Stored};
use crate::stages::{Stage, Stages};
use crate::table::{Held, Unanswered, unlike};
use crate::tabulation::{Counted, Tabulation, Wanted, not_whole};
use crate::text;
use counterpoint::{Adjacency, Relation};
use counterpoint_ledger::{Hash, Head, Pool};
use counterpoint_mechanisms::{
    Bounds, Found, Grid, GuessAndCheck, Interactive, Needed, Question as Put, Sequence,
    SparseVector, State,
};
use counterpoint_questions::Illegal;
use counterpoint_questions::public::{Table, TableText};
use counterpoint_questions::question::{Aggregate, Of, Question};
use counterpoint_questions::{Checked, Spend};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// What a gate's queries are: sums of numbers within bounds, a column's own or these; counts, if neither is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summed {
    /// The column whose bounds they are.
    pub column: Option<String>,
    /// The bounds, if not a column's own.
    pub bounds: Option<(f64, f64)>,
}

/// What is declared: what will be asked, and how much of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Declared {
    /// Which queries are above a threshold. Costs 3 epsilon, and a fourth with values.
    SparseVector {
        /// The epsilon.
        epsilon: f64,
        /// It ends with so many answers above.
        answers: u64,
        /// The threshold.
        threshold: f64,
        /// Whether answers above have a value.
        values: bool,
        /// What the queries are.
        of: Summed,
    },
    /// Which guesses are wrong, and what would be right. Costs 4 epsilon.
    GuessAndCheck {
        /// The epsilon.
        epsilon: f64,
        /// It ends with so many corrections.
        corrections: u64,
        /// Guesses that are off by about this are wrong.
        tolerance: f64,
        /// What the queries are.
        of: Summed,
    },
    /// Aggregates at these costs. Others may be asked in their place that cost the same.
    Sequence(Vec<(Of, Spend)>),
}

/// Whose session it is. A key is its analyst's own, in the account.
#[derive(Clone, Copy, Debug)]
pub struct Owner<'a> {
    /// The account that pays.
    pub account: &'a str,
    /// Whose it is.
    pub analyst: &'a str,
    /// What the analyst calls it.
    pub key: &'a str,
}

/// A question to a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// A filter and one aggregate.
    pub question: Question,
    /// The guess that is checked.
    pub guess: Option<f64>,
    /// What it costs of a sequence.
    pub spend: Option<Spend>,
}

/// What is stored of a session when it is opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    version: u64,
    /// What its analyst calls it.
    pub key: String,
    /// The table that it is about.
    pub table: String,
    /// What was declared.
    pub declared: Runs,
}

/// What a session runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Runs {
    /// A mechanism that the owner registered.
    Own(Own),
    /// One of ours.
    Ours(Interactive),
}

impl Runs {
    /// The mechanism, if it is one of ours.
    pub(crate) fn ours(&self) -> Result<&Interactive, Illegal> {
        match self {
            Self::Ours(declared) => Ok(declared),
            Self::Own(own) => {
                let legal = format!("own: what mechanism {:?} is to be asked", own.own);
                Err(Illegal::new("the question", "is about a table", legal))
            }
        }
    }
}

/// What makes two questions to a session the same.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    checked: &'a Checked,
    guess: Option<f64>,
    spend: Option<Spend>,
    public: &'a TableText,
}

/// So many grid steps at least are what a person moves a sum by: rounding is not felt, and 2^32 are far.
const STEPS: f64 = (1_u64 << 22) as f64;

/// The longest key of the ledger, and what stands before and between an analyst's name and key in it.
const MOST_KEY: usize = 128;
const BEFORE: &str = "s-";
/// No analyst has this in their name, so that no two of them share a key.
const BETWEEN: char = '/';

impl Summed {
    /// How far a record moves a query, and the grid that they are on; `None` for counts.
    fn reach(&self, table: &Table) -> Result<Option<(f64, Grid)>, Illegal> {
        let column =
            self.column.as_deref().map(|column| counterpoint_questions::number(column, table));
        let own = column.transpose()?.map(|(_, bounds)| bounds);
        let bounds = match self.bounds {
            Some((low, high)) => {
                Some(Bounds::new(low, high).map_err(|error| told("bounds", &error))?)
            }
            None => own,
        };
        let Some(bounds) = bounds else { return Ok(None) };
        let (low, high) = (bounds.low(), bounds.high());
        let reach = match table.relation().adjacency() {
            Adjacency::AddRemove => low.abs().max(high.abs()),
            // Whoever is replaced may have passed the filter, and whoever comes may not.
            Adjacency::Replace if low < 0.0 && high > 0.0 => (high - low).next_up(),
            Adjacency::Replace => low.abs().max(high.abs()),
        };
        let step = reach * table.relation().records() as f64 / STEPS;
        let grid = Grid::at_most(step).map_err(|error| told("bounds", &error))?;
        Ok(Some((reach, grid)))
    }
}

impl Declared {
    /// What is declared of a table.
    ///
    /// # Errors
    /// [`Illegal`] unless every number is legal, by what is public.
    pub fn made(&self, table: &Table) -> Result<Interactive, Illegal> {
        let wrong = |error: counterpoint_mechanisms::Error| told("the session", &error);
        match self {
            Self::SparseVector { epsilon, answers, threshold, values, of } => {
                let mut made = SparseVector::new(*epsilon, *answers, *threshold).map_err(wrong)?;
                if let Some((reach, grid)) = of.reach(table)? {
                    made = made.scaled(reach, grid).map_err(wrong)?;
                }
                Ok(if *values { made.with_values() } else { made }.into())
            }
            Self::GuessAndCheck { epsilon, corrections, tolerance, of } => {
                let made = GuessAndCheck::new(*epsilon, *corrections, *tolerance).map_err(wrong)?;
                match of.reach(table)? {
                    Some((reach, grid)) => Ok(made.scaled(reach, grid).map_err(wrong)?.into()),
                    None => Ok(made.into()),
                }
            }
            Self::Sequence(list) => {
                let recipe = |(of, spend): &(Of, Spend)| {
                    let part = counterpoint_questions::part(
                        &Aggregate { name: None, of: of.clone() },
                        table,
                    )?;
                    rows_only(&part)?;
                    counterpoint_questions::recipe(&part, *spend, 1.0).map_err(wrong)
                };
                let recipes = list.iter().map(recipe).collect::<Result<Vec<_>, _>>()?;
                Ok(Sequence::new(recipes).map_err(wrong)?.into())
            }
        }
    }
}

fn told(place: &str, error: &counterpoint_mechanisms::Error) -> Illegal {
    Illegal::new(place, format!("cannot be had: {error}"), "what the message says")
}

/// People are counted once whatever they have; a session's noise is for all their rows.
fn rows_only(part: &counterpoint_questions::Part) -> Result<(), Illegal> {
    if part.people {
        let legal = "a count of rows, or a question of its own";
        return Err(Illegal::new(&part.name, "counts people, in a session", legal));
    }
    Ok(())
}

/// What a session's questions are about: a filter leaves some of the rows.
fn relation(table: &Table) -> Relation {
    table.relation().of_some()
}

impl Owner<'_> {
    /// The key in the ledger. No question has one like it, and no other analyst this one.
    ///
    /// # Errors
    /// [`Illegal`] if a name has a separator in it, or is too long.
    pub fn ledger_key(&self) -> Result<String, Illegal> {
        let most = MOST_KEY - BEFORE.len() - 1;
        let left = most.saturating_sub(self.analyst.len());
        if self.analyst.is_empty() || self.analyst.contains(BETWEEN) || left == 0 {
            let legal = "1 to 124 letters, digits and . _ -";
            return Err(Illegal::new("the analyst's name", "cannot be part of a key", legal));
        }
        let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=left).contains(&self.key.len()) || !self.key.bytes().all(part) {
            let legal = format!("1 to {left} letters, digits and . _ -");
            return Err(Illegal::new("the session's key", "cannot be one", legal));
        }
        Ok(format!("{}{}", Self::prefix(self.analyst), self.key))
    }

    /// What an analyst's keys begin with.
    #[must_use]
    pub fn prefix(analyst: &str) -> String {
        format!("{BEFORE}{analyst}{BETWEEN}")
    }
}

impl Declaration {
    /// What was stored.
    ///
    /// # Errors
    /// [`Error::Unreadable`] if it was not stored here.
    pub fn read(bytes: &[u8]) -> Result<Self, Error> {
        text::read("a session's declaration", bytes)
    }

    /// The question that a question about the table is to this session, if it is about its table.
    fn step(&self, checked: &Checked, asked: &Asked) -> Result<Put, Illegal> {
        if checked.table() != self.table {
            let place = format!("table {:?}", checked.table());
            let legal = format!("questions about {:?}", self.table);
            return Err(Illegal::new(place, "is not what the session is about", legal));
        }
        let [part] = checked.parts() else {
            let problem = format!("are {}", checked.parts().len());
            return Err(Illegal::new("aggregates", problem, "one, in a session"));
        };
        if !checked.groupings().is_empty() {
            return Err(Illegal::new("group", "is there", "none, in a session: a filter"));
        }
        rows_only(part)?;
        let query = part.query.clone();
        match (self.declared.ours()?, asked.guess, asked.spend) {
            (Interactive::SparseVector(_), None, None) => Ok(Put::Above(query)),
            (Interactive::GuessAndCheck(_), Some(guess), None) => Ok(Put::Check(query, guess)),
            (Interactive::Sequence(_), None, Some(spend)) => {
                let wrong = |error| told(&part.name, &error);
                Ok(Put::Measure(counterpoint_questions::recipe(part, spend, 1.0).map_err(wrong)?))
            }
            _ => {
                let legal = "a guess for guess-and-check, an epsilon or rho for a sequence, neither for sparse vector";
                Err(Illegal::new("the question", "is of another kind of session", legal))
            }
        }
    }
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
    let protocol = declared.under(relation(table)).map_err(|error| told("the session", &error))?;
    let (own, name) = (owner.key.to_owned(), table.name().to_owned());
    let declared = Runs::Ours(declared);
    let declaration = text::write(&Declaration { version: 1, key: own, table: name, declared })?;
    let bill = Bill { account: owner.account, key: &key, analyst: Some(owner.analyst), slot };
    Ok(pool.with(|ledger| opened(ledger, &bill, &protocol, &declaration, None))?)
}

/// Asks an open session, until the deadline. `name` is the analyst's for this question, in the session: asked again under
/// it, the same question has the same answer.
///
/// # Errors
/// [`Unanswered`]; what it says depends on the question, on what is public and on the ledger, never on the data.
pub fn ask(
    pool: &Pool,
    held: &Held,
    owner: &Owner<'_>,
    name: &str,
    asked: &Asked,
    deadline: Instant,
) -> Result<Shown, Unanswered> {
    timed(pool, held, owner, (name, asked), deadline, &Stages::default())
}

/// The same, and how long each stage of it takes.
///
/// # Errors
/// [`Unanswered`], as [`ask`].
pub fn timed(
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
    Ok(Shown::stored(stored?)?)
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
    let failed = || Unanswered::Charged(unlike());
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
    Ok(found.map(Shown::stored).transpose()?)
}

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
    let (name, table) = (owner.key.to_owned(), registered.table.clone());
    let declaration = text::write(&Declaration { version: 1, key: name, table, declared })?;
    let bill = Bill { account: owner.account, key: &key, analyst: Some(owner.analyst), slot };
    let about = About { relation: Some(held.public.relation()), part: None };
    Ok(declared_own(&mut &*pool, &bill, own, &about, &declaration)?)
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
        let step = program::step(registered, state, question, deadline).and_then(fits);
        step.map_err(|fault| match fault {
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

/// Ends a session for good. It is not refunded.
///
/// # Errors
/// [`Unanswered::Ledger`] if there is no such session.
pub fn close(pool: &Pool, owner: &Owner<'_>) -> Result<Head, Unanswered> {
    let key = owner.ledger_key()?;
    Ok(pool.with(|ledger| ledger.end(owner.account, &key))?)
}

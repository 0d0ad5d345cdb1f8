//! A declaration made ready for data of one relation, and asked step by step.

use super::gate::OpenGate;
use super::sequence::Prices;
use super::state::{GateLeft, Left, State};
use super::{Interactive, Question};
use crate::data::{Data, same};
use crate::error::Error;
use crate::query::{Measurement, Summand, Tally};
use crate::reply::Reply;
use counterpoint::{Relation, Release};

/// A declaration made ready for data of one relation: with its noise, and knowing what all of it
/// costs.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Data, Interactive, Query, Question, SparseVector};
///
/// let visits = Data::new(Relation::new(Adjacency::AddRemove, 3)?, [1.0, 1.0, 2.0, 5.0]);
/// let declared = Interactive::from(SparseVector::new(0.5, 2, 100.0)?);
/// let protocol = declared.under(visits.relation())?;
/// println!("charged as {:?}", protocol.releases());
/// let start = protocol.begin()?; // to be kept, and kept secret
/// let question = Question::Above(Query::count());
/// let (reply, next) = protocol.answer(&visits, &start, &question)?;
/// println!("{reply:?}"); // once `next` is kept in the place of `start`
/// # assert_eq!(next.answered(), 1);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    declared: Interactive,
    relation: Relation,
    fingerprint: [u8; 32],
    releases: Vec<Release>,
    body: Body,
}

#[derive(Clone, Debug, PartialEq)]
enum Body {
    Sequence(Prices),
    SparseVector { gate: OpenGate, values: bool },
    GuessAndCheck(OpenGate),
}

/// What a question to a session needs to know of the data.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Needed {
    /// The sum of this over all records, in its units.
    Units(Summand),
    /// This measurement's tally.
    Tally(Measurement),
}

/// What was found out about the data, for a question to a session. It is as secret as they are.
#[derive(Clone, PartialEq)]
pub enum Found {
    /// A sum, in units.
    Units(i128),
    /// A tally.
    Tally(Box<Tally>),
}

/// Without the numbers: what is printed may end up in a log.
impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").finish_non_exhaustive()
    }
}

/// A question that may be asked.
struct Step<'a> {
    needed: Needed,
    asked: Asked<'a>,
}

/// How it is answered, and what is left.
enum Asked<'a> {
    Measure(Left),
    Above(&'a OpenGate, bool, &'a GateLeft),
    Check(&'a OpenGate, f64, &'a GateLeft),
}

impl Interactive {
    /// Made ready for data of this relation: noise is scaled, and charged, for what one person
    /// with as many records can change.
    ///
    /// # Errors
    /// As [`Recipe::under`](crate::Recipe::under) for what a sequence declares;
    /// [`Error::OutOfRange`] if a person moves a gate's queries by more than 2^32 grid steps.
    pub fn under(&self, relation: Relation) -> Result<Protocol, Error> {
        let (body, releases) = match self {
            Self::Sequence(sequence) => {
                let prices = Prices::new(sequence, relation)?;
                let releases = prices.releases();
                (Body::Sequence(prices), releases)
            }
            Self::SparseVector(sparse) => {
                let (gate, values) = (sparse.gate.under(relation)?, sparse.values);
                let releases = gate.releases(values)?;
                (Body::SparseVector { gate, values }, releases)
            }
            Self::GuessAndCheck(guess) => {
                let gate = guess.gate.under(relation)?;
                let releases = gate.releases(true)?;
                (Body::GuessAndCheck(gate), releases)
            }
        };
        let fingerprint = super::fingerprint::of(self);
        Ok(Protocol { declared: self.clone(), relation, fingerprint, releases, body })
    }
}

impl Protocol {
    /// What the whole session is charged as, however much of it is used.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// What was declared.
    #[must_use]
    pub fn declared(&self) -> &Interactive {
        &self.declared
    }

    /// The relation it was made for.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The state before the first question, with all that is drawn once and for all. **Each state
    /// begun is a session of its own**, to be charged again.
    ///
    /// # Errors
    /// [`Error::Randomness`] if there is none to be had.
    pub fn begin(&self) -> Result<State, Error> {
        let left = match &self.body {
            Body::Sequence(prices) => Left::Slots(prices.slots()),
            Body::SparseVector { gate, .. } | Body::GuessAndCheck(gate) => gate.begin()?,
        };
        Ok(State { relation: self.relation, declared: self.fingerprint, answered: 0, left })
    }

    /// The reply to a question, and the state after it. The question is checked before the data
    /// are looked at, so that a refusal tells nothing about them.
    ///
    /// **A state is to be answered from once.** Whoever shows a reply must from then on ask with
    /// the state that came with it. After [`Error::Randomness`] the session is over: an answer that
    /// was begun is not begun again.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data or the state are of another relation; [`Error::State`] if
    /// the state is of another declaration; [`Error::Exhausted`] once all answers have been given;
    /// [`Error::Question`], [`Error::Sensitivity`], [`Error::NotDeclared`], [`Error::Unsuited`], [`Error::Columns`] or
    /// [`Error::OutOfRange`] if the question does not fit the declaration; [`Error::Randomness`].
    pub fn answer(
        &self,
        data: &Data,
        state: &State,
        question: &Question,
    ) -> Result<(Reply, State), Error> {
        data.is_under(self.relation)?;
        let found = match self.needs(state, question)? {
            Needed::Units(summand) => {
                data.is_of(1)?;
                Found::Units(summand.sum(data.values()))
            }
            Needed::Tally(measurement) => Found::Tally(Box::new(measurement.tally(data)?)),
        };
        self.answer_from(state, question, &found)
    }

    /// What a question needs to know of the data, if it may be asked. They are not looked at.
    ///
    /// # Errors
    /// As for [`Protocol::answer`], but for the data's.
    pub fn needs(&self, state: &State, question: &Question) -> Result<Needed, Error> {
        Ok(self.step(state, question)?.needed)
    }

    /// The same as [`Protocol::answer`], of what was added up elsewhere: **whoever adds up vouches** for it, as in
    /// [`Measurement::tallied`].
    ///
    /// # Errors
    /// As for [`Protocol::answer`]; [`Error::Question`] if something else was found than the question needs.
    pub fn answer_from(
        &self,
        state: &State,
        question: &Question,
        found: &Found,
    ) -> Result<(Reply, State), Error> {
        let Step { needed, asked } = self.step(state, question)?;
        let (reply, left) = match (asked, needed, found) {
            (Asked::Measure(left), Needed::Tally(measurement), Found::Tally(tally)) => {
                (measurement.release(tally)?, left)
            }
            (Asked::Above(gate, values, left), Needed::Units(summand), Found::Units(units)) => {
                gate.above(values, summand.rounded(*units), left)?
            }
            (Asked::Check(gate, guess, left), Needed::Units(summand), Found::Units(units)) => {
                gate.check(guess, summand.rounded(*units), left)?
            }
            _ => return Err(Error::Question { legal: "what the question needs" }),
        };
        Ok((reply, State { answered: state.answered.saturating_add(1), left, ..*state }))
    }

    /// What a question comes to, if it may be asked.
    fn step<'a>(&'a self, state: &'a State, question: &Question) -> Result<Step<'a>, Error> {
        self.owns(state)?;
        if state.is_exhausted() {
            return Err(Error::Exhausted);
        }
        let (needed, asked) = match (&self.body, question, &state.left) {
            (Body::Sequence(prices), Question::Measure(recipe), Left::Slots(left)) => {
                let (measurement, rest) = prices.paid(recipe, left)?;
                (Needed::Tally(measurement), Asked::Measure(rest))
            }
            (Body::SparseVector { gate, values }, Question::Above(query), Left::Gate(left)) => {
                (Needed::Units(gate.summand(query)?), Asked::Above(gate, *values, left))
            }
            (Body::GuessAndCheck(gate), Question::Check(query, guess), Left::Gate(left)) => {
                OpenGate::can_be(*guess)?;
                (Needed::Units(gate.summand(query)?), Asked::Check(gate, *guess, left))
            }
            _ => return Err(Error::Question { legal: self.answers() }),
        };
        Ok(Step { needed, asked })
    }

    fn answers(&self) -> &'static str {
        match &self.body {
            Body::Sequence(_) => "Measure",
            Body::SparseVector { .. } => "Above",
            Body::GuessAndCheck(_) => "Check",
        }
    }

    /// An error unless the state can have been reached from [`Protocol::begin`].
    fn owns(&self, state: &State) -> Result<(), Error> {
        same(self.relation, state.relation)?;
        if state.declared != self.fingerprint {
            return Err(Error::State { problem: "another one was declared" });
        }
        let is_within = match (&self.body, &state.left) {
            (Body::Sequence(prices), Left::Slots(left)) => prices.include(left),
            (Body::SparseVector { gate, .. } | Body::GuessAndCheck(gate), Left::Gate(left)) => {
                gate.includes(left)
            }
            _ => false,
        };
        if is_within {
            Ok(())
        } else {
            Err(Error::State { problem: "more is left than there was" })
        }
    }
}

//! A declaration under one neighbouring relation, answered step by step.

use super::sequence::Prices;
use super::state::{Progress, State, ThresholdState};
use super::threshold::NoisyThreshold;
use super::{InteractiveMechanism, SessionQuery};
use crate::data::{Data, same};
use crate::error::Error;
use crate::query::{Measurement, Summand, Tally};
use crate::reply::Reply;
use counterpoint::{Relation, Release};

/// A declaration under one neighbouring relation, with its scaled noise and its total cost.
///
/// ```
/// use counterpoint::{Adjacency, Relation};
/// use counterpoint_mechanisms::{Data, InteractiveMechanism, Query, SessionQuery, SparseVector};
///
/// let visits = Data::new(Relation::new(Adjacency::AddRemove, 3)?, [1.0, 1.0, 2.0, 5.0]);
/// let declared = InteractiveMechanism::from(SparseVector::new(0.5, 2, 100.0)?);
/// let protocol = declared.under(visits.relation())?;
/// println!("charged as {:?}", protocol.releases());
/// let start = protocol.begin()?; // to be kept, and kept secret
/// let question = SessionQuery::Above(Query::count());
/// let (reply, next) = protocol.answer(&visits, &start, &question)?;
/// println!("{reply:?}"); // once `next` is kept in the place of `start`
/// # assert_eq!(next.answered(), 1);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    declared: InteractiveMechanism,
    relation: Relation,
    fingerprint: [u8; 32],
    releases: Vec<Release>,
    body: ProtocolBody,
}

#[derive(Clone, Debug, PartialEq)]
enum ProtocolBody {
    Sequence(Prices),
    SparseVector { threshold: NoisyThreshold, values: bool },
    GuessAndCheck(NoisyThreshold),
}

/// The aggregate of the data that a query to a session needs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RequiredAggregate {
    /// The sum of this summand over all records, in its units.
    Units(Summand),
    /// The tally of this measurement.
    Tally(Measurement),
}

/// The aggregate of the data for a query to a session. It is as secret as the data.
#[derive(Clone, PartialEq)]
pub enum RawAggregate {
    /// A sum, in units.
    Units(i128),
    /// A tally.
    Tally(Box<Tally>),
}

/// Omits the numbers, since output may end up in a log.
impl std::fmt::Debug for RawAggregate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").finish_non_exhaustive()
    }
}

/// A legal query to a session, with the aggregate that it needs.
struct Step<'a> {
    required: RequiredAggregate,
    kind: StepKind<'a>,
}

/// The kind of a step, with the progress that its answer depends on or leads to.
enum StepKind<'a> {
    Measure(Progress),
    Above(&'a NoisyThreshold, bool, &'a ThresholdState),
    Check(&'a NoisyThreshold, f64, &'a ThresholdState),
}

impl InteractiveMechanism {
    /// Scales and charges the noise for the neighbouring relation of the data.
    ///
    /// # Errors
    /// As for [`NoisyQuery::under`](crate::NoisyQuery::under) for the queries of a sequence; [`Error::OutOfRange`] if a
    /// person moves the queries of the others by more than 2^32 grid steps.
    pub fn under(&self, relation: Relation) -> Result<Protocol, Error> {
        let (body, releases) = match self {
            Self::Sequence(sequence) => {
                let prices = Prices::new(sequence, relation)?;
                let releases = prices.releases();
                (ProtocolBody::Sequence(prices), releases)
            }
            Self::SparseVector(sparse) => {
                let (threshold, values) = (sparse.parameters.under(relation)?, sparse.values);
                let releases = threshold.releases(values)?;
                (ProtocolBody::SparseVector { threshold, values }, releases)
            }
            Self::GuessAndCheck(guess) => {
                let threshold = guess.parameters.under(relation)?;
                let releases = threshold.releases(true)?;
                (ProtocolBody::GuessAndCheck(threshold), releases)
            }
        };
        let fingerprint = super::fingerprint::of(self);
        Ok(Protocol { declared: self.clone(), relation, fingerprint, releases, body })
    }
}

impl Protocol {
    /// The releases that the whole session is charged as, however much of it is used.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The declaration.
    #[must_use]
    pub fn declared(&self) -> &InteractiveMechanism {
        &self.declared
    }

    /// The neighbouring relation.
    #[must_use]
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// The state before the first query, with all noise that is drawn at the start. **Each call begins a separate
    /// session**, which must be charged.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn begin(&self) -> Result<State, Error> {
        let progress = match &self.body {
            ProtocolBody::Sequence(prices) => Progress::Slots(prices.slots()),
            ProtocolBody::SparseVector { threshold, .. }
            | ProtocolBody::GuessAndCheck(threshold) => threshold.begin()?,
        };
        Ok(State { relation: self.relation, declared: self.fingerprint, answered: 0, progress })
    }

    /// The reply to a query, and the next state. The query is checked before the data are read, so that a refusal
    /// reveals nothing about the data.
    ///
    /// **Answer once from each state.** After showing a reply, continue from the state that came with it. After
    /// [`Error::Randomness`] the session is over: do not repeat the failed answer.
    ///
    /// # Errors
    /// [`Error::Relation`] if the data or the state have another relation; [`Error::State`] if the state belongs to
    /// another declaration; [`Error::Exhausted`] after the last answer; [`Error::Question`], [`Error::Sensitivity`],
    /// [`Error::NotDeclared`], [`Error::Unsuited`], [`Error::Columns`] or [`Error::OutOfRange`] if the query does not
    /// fit the declaration; [`Error::Randomness`] if the source of randomness fails.
    pub fn answer(
        &self,
        data: &Data,
        state: &State,
        question: &SessionQuery,
    ) -> Result<(Reply, State), Error> {
        data.check_relation(self.relation)?;
        let aggregate = match self.required_aggregate(state, question)? {
            RequiredAggregate::Units(summand) => {
                data.check_columns(1)?;
                RawAggregate::Units(summand.sum(data.values()))
            }
            RequiredAggregate::Tally(measurement) => {
                RawAggregate::Tally(Box::new(measurement.tally(data)?))
            }
        };
        self.answer_from_aggregate(state, question, &aggregate)
    }

    /// The aggregate of the data that a query needs, if the query is legal. The data are not read.
    ///
    /// # Errors
    /// As for [`Protocol::answer`], except errors about the data.
    pub fn required_aggregate(
        &self,
        state: &State,
        question: &SessionQuery,
    ) -> Result<RequiredAggregate, Error> {
        Ok(self.step(state, question)?.required)
    }

    /// As [`Protocol::answer`], from an aggregate that was computed elsewhere: **whoever computes it vouches** for it,
    /// as in [`Measurement::tally_from_numbers`].
    ///
    /// # Errors
    /// As for [`Protocol::answer`]; [`Error::Question`] if the aggregate is not the one that the query needs.
    pub fn answer_from_aggregate(
        &self,
        state: &State,
        question: &SessionQuery,
        aggregate: &RawAggregate,
    ) -> Result<(Reply, State), Error> {
        let Step { required, kind } = self.step(state, question)?;
        let (reply, progress) = match (kind, required, aggregate) {
            (
                StepKind::Measure(progress),
                RequiredAggregate::Tally(measurement),
                RawAggregate::Tally(tally),
            ) => (measurement.release(tally)?, progress),
            (
                StepKind::Above(threshold, values, progress),
                RequiredAggregate::Units(summand),
                RawAggregate::Units(units),
            ) => threshold.above(values, summand.rounded(*units), progress)?,
            (
                StepKind::Check(threshold, guess, progress),
                RequiredAggregate::Units(summand),
                RawAggregate::Units(units),
            ) => threshold.check(guess, summand.rounded(*units), progress)?,
            _ => return Err(Error::Question { legal: "the aggregate that the query needs" }),
        };
        Ok((reply, State { answered: state.answered.saturating_add(1), progress, ..*state }))
    }

    /// The step for a query, if the query is legal.
    fn step<'a>(&'a self, state: &'a State, question: &SessionQuery) -> Result<Step<'a>, Error> {
        self.check_state(state)?;
        if state.is_exhausted() {
            return Err(Error::Exhausted);
        }
        let (required, kind) = match (&self.body, question, &state.progress) {
            (
                ProtocolBody::Sequence(prices),
                SessionQuery::Measure(noisy_query),
                Progress::Slots(progress),
            ) => {
                let (measurement, rest) = prices.pay(noisy_query, progress)?;
                (RequiredAggregate::Tally(measurement), StepKind::Measure(rest))
            }
            (
                ProtocolBody::SparseVector { threshold, values },
                SessionQuery::Above(query),
                Progress::Threshold(progress),
            ) => (
                RequiredAggregate::Units(threshold.summand(query)?),
                StepKind::Above(threshold, *values, progress),
            ),
            (
                ProtocolBody::GuessAndCheck(threshold),
                SessionQuery::Check(query, guess),
                Progress::Threshold(progress),
            ) => {
                NoisyThreshold::check_guess(*guess)?;
                (
                    RequiredAggregate::Units(threshold.summand(query)?),
                    StepKind::Check(threshold, *guess, progress),
                )
            }
            _ => return Err(Error::Question { legal: self.answers() }),
        };
        Ok(Step { required, kind })
    }

    fn answers(&self) -> &'static str {
        match &self.body {
            ProtocolBody::Sequence(_) => "Measure",
            ProtocolBody::SparseVector { .. } => "Above",
            ProtocolBody::GuessAndCheck(_) => "Check",
        }
    }

    /// Returns an error unless the state can have been reached from [`Protocol::begin`].
    fn check_state(&self, state: &State) -> Result<(), Error> {
        same(self.relation, state.relation)?;
        if state.declared != self.fingerprint {
            return Err(Error::State { problem: "it belongs to another declaration" });
        }
        let is_within = match (&self.body, &state.progress) {
            (ProtocolBody::Sequence(prices), Progress::Slots(progress)) => {
                prices.include_slots(progress)
            }
            (
                ProtocolBody::SparseVector { threshold, .. }
                | ProtocolBody::GuessAndCheck(threshold),
                Progress::Threshold(progress),
            ) => threshold.includes(progress),
            _ => false,
        };
        if is_within {
            Ok(())
        } else {
            Err(Error::State { problem: "it has more answers left than were declared" })
        }
    }
}

//! Declared plans: slots are fixed first and opened in any order.
//!
//! Every mechanism that a slot dominates is a randomized function of the slot's pair. All pairs could have been drawn
//! before the first question; everything after that is post-processing, in whatever order the slots are opened and
//! whatever that order depends on. So the *optimal* composition of all declared slots bounds the privacy loss of the
//! account.

use crate::amount::Amount;
use crate::charge;
use crate::cover::{Basis, CoverError, covers};
use crate::error::FilterError;
use crate::filter::Filter;
use crate::query::Query;
use crate::terms::{Concurrency, Terms};
use counterpoint::ask::{Answer, AskError, Options};
use counterpoint::quantity::{Count, Delta, Epsilon, GroupSize};
use counterpoint::theorem::{ParameterChoice, Setting};
use counterpoint::{Plan, PlanError};

/// A slot of a plan: a number of openings for mechanisms that it dominates.
#[derive(Clone, Debug, PartialEq)]
pub struct Slot {
    /// The declared query; its count is the total number of openings.
    pub declared: Query,
    /// The number of openings that have been used.
    pub used: u64,
}

impl Slot {
    /// The part of the data that the slot, and every account opened in it, is about.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.declared.part().map(|part| &**part)
    }

    /// The number of openings that are left.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.declared.count().get().saturating_sub(self.used)
    }
}

/// An account whose slots were declared before it was opened.
///
/// ```
/// use counterpoint::{Adjacency, Count, Delta, Options};
/// use counterpoint_budget::{PlanAccount, Query, Terms};
///
/// let tenth = Query::approx_dp("0.1".parse()?, "0".parse()?)?;
/// let declared = vec![tenth.clone().times(Count::new(100)?)];
/// let mut account = PlanAccount::new(declared, Terms::new(Adjacency::AddRemove))?;
/// let answer = account.epsilon(Delta::new(1e-6)?, &Options::default())?;
/// assert!(answer.bracket.upper < 4.7746);
///
/// // Laplace noise of scale 20 costs epsilon 0.05, less than was declared; scale 5 costs 0.2, which is more.
/// account.open(0, &Query::laplace("20".parse()?, "1".parse()?)?)?;
/// assert!(account.open(0, &Query::laplace("5".parse()?, "1".parse()?)?).is_err());
/// assert_eq!(account.slots()[0].left(), 99);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct PlanAccount {
    terms: Terms,
    plan: Plan,
    declared: Vec<Query>,
    slots: Vec<Slot>,
}

/// Reasons why a plan account refuses to open a slot.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// Too few openings are left.
    #[error("slot {}: {asked} openings are asked for and {left} are left", .slot + 1)]
    NoneLeft {
        /// The slot's index, from 0.
        slot: usize,
        /// The number of openings requested.
        asked: u64,
        /// The number of openings left.
        left: u64,
    },
    /// There is no such slot.
    #[error("slot {} is asked for; legal: 1 to {slots}", .slot + 1)]
    NoSuchSlot {
        /// The slot's index, from 0.
        slot: usize,
        /// The number of slots.
        slots: usize,
    },
    /// A filter whose terms differ from the plan's, or terms that protect a group of several people. (A slot describes
    /// the loss of one person, so it is not compared with a promise about a group.)
    #[error("the filter's terms differ from the plan's; legal: the same terms, with group 1")]
    OtherTerms,
    /// The query is not covered by the slot, or has no meaning.
    #[error(transparent)]
    Cover(#[from] CoverError),
}

impl From<FilterError> for OpenError {
    fn from(error: FilterError) -> Self {
        Self::Cover(error.into())
    }
}

/// Reasons why slots do not form a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// The slots cannot be composed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A slot has no meaning under the terms, or no theorem covers it.
    #[error("slot {}: {error}", .slot + 1)]
    Slot {
        /// The slot's index, from 0.
        slot: usize,
        /// The reason.
        error: FilterError,
    },
}

impl PlanAccount {
    /// Declares all slots; a query's count is its number of openings.
    ///
    /// # Errors
    /// [`DeclareError`] naming the slot that has no meaning, or that no theorem covers.
    pub fn new(declared: Vec<Query>, terms: Terms) -> Result<Self, DeclareError> {
        for (slot, query) in declared.iter().enumerate() {
            charge::losses(query, terms).map_err(|error| DeclareError::Slot { slot, error })?;
        }
        let releases = declared.iter().map(|query| query.release().clone());
        let plan = Plan::for_neighbours(releases, Some(terms.adjacency), terms.group)?;
        let slots = declared.iter().map(|query| Slot { declared: query.clone(), used: 0 });
        Ok(Self { terms, plan, slots: slots.collect(), declared })
    }

    /// Rebuilds an account from its stored declaration and the current state of its slots.
    ///
    /// # Errors
    /// As [`PlanAccount::new`].
    pub fn from_stored(
        declared: Vec<Query>,
        slots: Vec<Slot>,
        terms: Terms,
    ) -> Result<Self, DeclareError> {
        Ok(Self { slots, ..Self::new(declared, terms)? })
    }

    /// The least epsilon at which the whole declaration is private: the guarantee of the account from the day it is
    /// opened. Slots that are never opened are not refunded.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilon(&self, delta: Delta, options: &Options<'_>) -> Result<Answer, AskError> {
        self.plan.epsilon(delta, options)
    }

    /// The least delta at which the whole declaration is private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        self.plan.delta(epsilon, options)
    }

    /// True if the whole declaration is certified to be (epsilon, delta)-private.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn satisfies(
        &self,
        epsilon: &Amount,
        delta: &Amount,
        options: &Options<'_>,
    ) -> Result<bool, AskError> {
        let Ok(epsilon) = Epsilon::new(epsilon.lower()) else { return Ok(false) };
        let answer = self.plan.delta(epsilon, options)?;
        Ok(answer.bracket.upper <= delta.lower())
    }

    /// Uses openings of a slot for a query, as many as its count.
    ///
    /// # Errors
    /// [`OpenError`]; the account is then unchanged.
    pub fn open(&mut self, slot: usize, query: &Query) -> Result<Basis, OpenError> {
        let asked = query.count().get();
        let declared = self.available(slot, asked)?.declared.clone();
        let basis =
            covers(&[declared.times(query.count())], std::slice::from_ref(query), self.terms)?;
        self.take(slot, asked);
        Ok(basis)
    }

    /// Uses one opening of a slot for a filter account, whose queries are then chosen one after the other. The slot
    /// must cover the account's promise. The account is then about the slot's part of the data ([`Slot::part`]): check
    /// each of its queries with [`super::is_within_part`].
    ///
    /// # Errors
    /// [`OpenError`]; the account is then unchanged.
    pub fn open_filter(&mut self, slot: usize, filter: &Filter) -> Result<Basis, OpenError> {
        let own = filter.terms();
        let sequential = own.concurrency == Concurrency::Sequential
            && self.terms.concurrency == Concurrency::Concurrent;
        let alone = own.group == GroupSize::ONE && self.terms.group == GroupSize::ONE;
        if own.adjacency != self.terms.adjacency || sequential || !alone {
            return Err(OpenError::OtherTerms);
        }
        let promise = filter.promise().query()?;
        let declared = self.available(slot, 1)?.declared.clone().times(Count::ONE);
        let promise = promise.about(declared.part().cloned());
        let basis = covers(&[declared], &[promise], self.terms)?;
        self.take(slot, 1);
        Ok(basis)
    }

    /// Exchanges unused openings, given as (slot, number), for new slots about the same part of the data, if the unused
    /// openings cover the new slots. The guarantee remains that of the first declaration.
    ///
    /// # Errors
    /// [`OpenError`], also if no rule decides whether the openings cover the new slots; the account is then unchanged.
    pub fn recut(&mut self, unused: &[(usize, u64)], into: Vec<Query>) -> Result<Basis, OpenError> {
        let mut given = Vec::new();
        for (place, &(slot, asked)) in unused.iter().enumerate() {
            let earlier = unused.iter().take(place).filter(|other| other.0 == slot);
            let all = earlier.fold(asked, |sum, other| sum.saturating_add(other.1));
            let declared = self.available(slot, all)?.declared.clone();
            if let Ok(count) = Count::new(asked) {
                given.push(declared.times(count));
            }
        }
        let basis = covers(&given, &into, self.terms)?;
        for &(slot, asked) in unused {
            self.take(slot, asked);
        }
        self.slots.extend(into.into_iter().map(|declared| Slot { declared, used: 0 }));
        Ok(basis)
    }

    fn available(&self, slot: usize, asked: u64) -> Result<&Slot, OpenError> {
        let slots = self.slots.len();
        let found = self.slots.get(slot).ok_or(OpenError::NoSuchSlot { slot, slots })?;
        let left = found.left();
        if asked <= left { Ok(found) } else { Err(OpenError::NoneLeft { slot, asked, left }) }
    }

    fn take(&mut self, slot: usize, asked: u64) {
        if let Some(slot) = self.slots.get_mut(slot) {
            slot.used = slot.used.saturating_add(asked);
        }
    }

    /// The first declaration.
    #[must_use]
    pub fn declared(&self) -> &[Query] {
        &self.declared
    }

    /// The current slots: those declared first, and those exchanged for them since.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The terms that all queries share.
    #[must_use]
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The setting in which the guarantee holds: slots are fixed first; their order and the mechanisms in them are
    /// chosen later.
    #[must_use]
    pub fn setting(&self) -> Setting {
        let concurrent = self.terms.concurrency == Concurrency::Concurrent;
        Setting { parameters: ParameterChoice::Fixed, concurrent }
    }
}

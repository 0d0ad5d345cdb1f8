//! What is spent of an open account so far, as an epsilon.
//!
//! The account's own currency says what is left; what has been spent of a Rényi divergence or of rho says little to
//! people. The core's odometer, whose levels depend on nothing but what the account was opened with, makes it an epsilon.

use std::collections::BTreeMap;

use counterpoint::filter::{Amount, Odometer, Query, Terms};
use counterpoint::quantity::Count;
use counterpoint_wire::ledger::{Asked, Event, Promised, Rule, SpentEpsilon};

use crate::error::LedgerError;
use crate::query::query;
use crate::rows::Account;

/// More different releases than these are not looked at: each is priced at every level.
const MOST: usize = 1000;

/// An odometer, and the releases that it is to be read for.
pub(crate) struct Spent {
    odometer: Odometer,
    promised: Amount,
    /// Equal ones together, by their text.
    releases: BTreeMap<String, (Query, u64)>,
    /// How many charges there are, and how many of them were seen.
    charges: u64,
    seen: u64,
}

impl Spent {
    /// Of an open account that promises an epsilon in another currency.
    pub(crate) fn of(account: &Account) -> Result<Option<Self>, LedgerError> {
        let Rule::Filter(record) = &account.rule else { return Ok(None) };
        let Promised::ApproxDp { epsilon, delta } = &record.promise else { return Ok(None) };
        // A data set is charged with what its accounts promise, which no release says.
        if account.parent.is_none() || record.kind == "sums" || delta.is_zero() {
            return Ok(None);
        }
        let (leaks, terms) = (&record.capacity.delta, Terms::new(account.relation.adjacency()));
        // Where no level leaves anything to spend there is nothing to be read.
        let odometer = Odometer::new(delta.clone(), leaks.clone(), terms).ok();
        let charges = account.balance.charges;
        Ok(odometer.map(|odometer| Self {
            odometer,
            promised: epsilon.clone(),
            releases: BTreeMap::new(),
            charges,
            seen: 0,
        }))
    }

    /// Takes a debit into account, whether or not its response was stored.
    pub(crate) fn add(&mut self, account: &Account, event: &Event) -> Result<(), LedgerError> {
        let Event::Reserve { release: Asked::Described(list), .. } = event else { return Ok(()) };
        self.seen += 1;
        for described in list {
            let text = format!("{:?}", described.normal());
            if let Some((_, times)) = self.releases.get_mut(&text) {
                *times += 1;
            } else if self.releases.len() <= MOST {
                self.releases.insert(text, (query(account.relation, described)?, 1));
            }
        }
        Ok(())
    }

    /// What the odometer says, where that is less than what the account promises as a whole.
    pub(crate) fn bound(&self) -> Option<SpentEpsilon> {
        if self.releases.len() > MOST || self.seen != self.charges {
            return None;
        }
        let mut spent = self.odometer.start();
        for (query, times) in self.releases.values() {
            let count = query.count().get().checked_mul(*times)?;
            let query = query.clone().times(Count::new(count).ok()?);
            spent = spent.plus(&self.odometer.charge(&query).ok()?);
        }
        let epsilon = self.odometer.bound(&spent)?;
        (epsilon < self.promised).then(|| SpentEpsilon {
            epsilon,
            delta: self.odometer.delta().clone(),
            theorem: self.odometer.theorem().source(),
            setting: self.odometer.setting().into(),
        })
    }
}

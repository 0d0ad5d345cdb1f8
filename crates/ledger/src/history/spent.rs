//! The budget that is spent so far, as an epsilon.
//!
//! An account's own currency says what is left, but an amount of Rényi divergence or of rho means little to most
//! people. The odometer of `counterpoint-budget` converts the spent amount to an epsilon; its levels depend only on the
//! parameters that the account was opened with. For an account the odometer adds up releases; for a data set, the
//! promises of its accounts, for which the data set is charged.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint::quantity::Count;
use counterpoint_budget::{Amount, Level, Odometer, OdometerTotals, Query, Terms};
use counterpoint_wire::ledger::{
    Event, LevelStatus, OdometerStatus, PromiseRecord, ReleaseRequest, Rule, SpentEpsilon,
};

use crate::rules::debit;
use crate::rules::error::{Result, damaged};
use crate::rules::limits::OLDEST_FORMAT;
use crate::rules::rows::Account;

/// The most different releases that are added up, because each is priced at every level.
const MAX_DIFFERENT_RELEASES: usize = 1000;

/// An odometer of an account or a data set, and the releases that it adds up.
pub(crate) struct AccountOdometer {
    odometer: Odometer,
    promised: Amount,
    /// The different releases with their numbers, by their text.
    releases: BTreeMap<String, (Query, u64)>,
    /// The number of charges of the account, and the number of charges that were added here.
    charges: u64,
    seen: u64,
    /// The accounts of a data set, and whether budget was moved between them. After a transfer the accounts' promises
    /// are not those they were opened with, and the divergences of the promises have another sum.
    accounts: BTreeSet<String>,
    is_moved: bool,
}

impl AccountOdometer {
    /// The odometer of an open account that promises an epsilon in another currency. `status` shows it.
    pub(crate) fn for_status(account: &Account) -> Option<Self> {
        let Rule::Filter(record) = &account.rule else { return None };
        // A data set is charged with its accounts' promises, not with releases.
        if account.parent.is_none() || record.kind == "sums" {
            return None;
        }
        // If no level leaves anything to spend, there is no reading.
        Self::new(account).ok()
    }

    /// The odometer of an open account or a data set. Its levels, its delta and the part set aside for leaks follow
    /// from the parameters that the account was opened with, so no choice depends on answers.
    pub(crate) fn new(account: &Account) -> Result<Self> {
        let legal = "an open account or a data set that promises an epsilon at a delta above 0";
        let Rule::Filter(record) = &account.rule else {
            return Err(account.unfit("is a plan account, certified as a whole", legal));
        };
        let PromiseRecord::ApproxDp { epsilon, delta } = &record.promise else {
            return Err(account.unfit("promises no epsilon", legal));
        };
        if delta.is_zero() {
            return Err(account.unfit("promises delta 0", legal));
        }
        // If all of delta is set aside for leaks, the odometer sets half of it aside.
        let aside = &record.capacity.delta;
        let leaks = if aside < delta { aside.clone() } else { delta.half() };
        let terms = Terms::new(account.relation.adjacency());
        Ok(Self {
            odometer: Odometer::new(delta.clone(), leaks, terms)?,
            promised: epsilon.clone(),
            releases: BTreeMap::new(),
            charges: account.balance.charges,
            seen: 0,
            accounts: BTreeSet::new(),
            is_moved: false,
        })
    }

    /// Adds a debit. It counts even if no response was stored.
    pub(crate) fn add(&mut self, account: &Account, event: &Event) -> Result<()> {
        match event {
            Event::Reserve { account: of, release: ReleaseRequest::Described(list), .. }
                if *of == account.name =>
            {
                self.seen += 1;
                for described in list {
                    let text = format!("{:?}", described.without_defaults());
                    // The release was charged, so it counts even if today's rules would refuse it.
                    let query = || described.query().or_else(|_| described.query_in(OLDEST_FORMAT));
                    self.add_release(text, || Ok(query()?))?;
                }
            }
            Event::Move { account: from, .. } if self.accounts.contains(from) => {
                self.is_moved = true;
            }
            Event::Open { account: opened, parent, slot: None, rule, .. }
                if *parent == account.name =>
            {
                self.seen += 1;
                self.accounts.insert(opened.clone());
                let Some(promised) = debit::promise_of_rule(rule) else { return Ok(()) };
                let nothing = || damaged("a rule has no promise");
                self.add_release(format!("{promised:?}"), || {
                    Ok(promised.promise().ok_or_else(nothing)?.query()?)
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Adds one release.
    fn add_release(&mut self, text: String, query: impl FnOnce() -> Result<Query>) -> Result<()> {
        if let Some((_, times)) = self.releases.get_mut(&text) {
            *times += 1;
        } else if self.releases.len() <= MAX_DIFFERENT_RELEASES {
            self.releases.insert(text, (query()?, 1));
        }
        Ok(())
    }

    /// The cost of all charges at every level; `None` if not all of them are known.
    fn totals(&self) -> Option<OdometerTotals> {
        if self.releases.len() > MAX_DIFFERENT_RELEASES
            || self.seen != self.charges
            || self.is_moved
        {
            return None;
        }
        let mut spent = self.odometer.start();
        for (query, times) in self.releases.values() {
            let count = query.count().get().checked_mul(*times)?;
            let query = query.clone().times(Count::new(count).ok()?);
            spent = spent.plus(&self.odometer.charge(&query).ok()?);
        }
        Some(spent)
    }

    /// The odometer's bound, if it is below the account's promise.
    pub(crate) fn bound(&self) -> Option<SpentEpsilon> {
        let epsilon = self.odometer.bound(&self.totals()?)?;
        (epsilon < self.promised).then(|| SpentEpsilon {
            epsilon,
            delta: self.odometer.delta().clone(),
            theorem: self.odometer.theorem().source(),
            setting: self.odometer.setting().into(),
        })
    }

    /// The odometer's reading, level by level.
    pub(crate) fn read(&self, account: &Account, head: String) -> Result<OdometerStatus> {
        if self.is_moved {
            let legal = "a data set whose accounts have what they were opened with";
            return Err(account.unfit("has accounts between which budget was moved", legal));
        }
        let legal =
            "an account with at most 1000 different releases, each of which is known at some level";
        let spent = self.totals();
        let spent =
            spent.ok_or_else(|| account.unfit("has releases that no level can charge", legal))?;
        let level = |(level, total): (&Level, &Option<Amount>)| LevelStatus {
            epsilon: level.epsilon.clone(),
            order: Amount::from_f64(level.order.get()).unwrap_or_default(),
            capacity: level.capacity.clone(),
            spent: total.clone(),
            holds: total.as_ref().is_some_and(|total| total <= &level.capacity),
        };
        Ok(OdometerStatus {
            account: account.name.clone(),
            epsilon: self.odometer.bound(&spent),
            delta: self.odometer.delta().clone(),
            sum: spent.epsilon.clone(),
            leaks: self.odometer.leaks().clone(),
            leaked: spent.delta.clone(),
            charges: self.charges,
            levels: self.odometer.levels().iter().zip(&spent.divergences).map(level).collect(),
            theorem: self.odometer.theorem().source(),
            setting: self.odometer.setting().into(),
            head,
        })
    }
}

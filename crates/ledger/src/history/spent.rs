//! What is spent so far, as an epsilon.
//!
//! The account's own currency says what is left; what has been spent of a Rényi divergence or of rho says little to
//! people. The core's odometer, whose levels depend on nothing but what the account was opened with, makes it an epsilon.
//! An account is read for its releases, a data set for what its accounts promise, which is what it is charged with.

use std::collections::{BTreeMap, BTreeSet};

use counterpoint::quantity::Count;
use counterpoint_budget::{Amount, Level, Mileage, Odometer, Query, Terms};
use counterpoint_wire::ledger::{
    Asked, Event, LevelRead, OdometerRead, Promised, Rule, SpentEpsilon,
};

use crate::rules::debit;
use crate::rules::error::{Result, damaged};
use crate::rules::limits::OLDEST_FORMAT;
use crate::rules::rows::Account;

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
    /// The accounts of a data set, and whether budget was moved between them: what they promise is then no longer what
    /// each was opened with, and divergences of promises do not add up to the same.
    accounts: BTreeSet<String>,
    is_moved: bool,
}

impl Spent {
    /// Of an open account that promises an epsilon in another currency: what `status` tells.
    pub(crate) fn of(account: &Account) -> Option<Self> {
        let Rule::Filter(record) = &account.rule else { return None };
        // A data set is charged with what its accounts promise, which no release says.
        if account.parent.is_none() || record.kind == "sums" {
            return None;
        }
        // Where no level leaves anything to spend there is nothing to be read.
        Self::new(account).ok()
    }

    /// Of an open account or a data set. Levels, delta and what is set aside for leaks are fixed by what it was opened
    /// with: nothing is chosen that could have been chosen from answers.
    pub(crate) fn new(account: &Account) -> Result<Self> {
        let legal = "an open account or a data set that promises an epsilon at a delta above 0";
        let Rule::Filter(record) = &account.rule else {
            return Err(account.unfit("is a plan account, certified as a whole", legal));
        };
        let Promised::ApproxDp { epsilon, delta } = &record.promise else {
            return Err(account.unfit("promises no epsilon", legal));
        };
        if delta.is_zero() {
            return Err(account.unfit("promises delta 0", legal));
        }
        // Where all of delta is for leaks, an odometer sets half of it aside.
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

    /// Takes a debit into account, whether or not its response was stored.
    pub(crate) fn add(&mut self, account: &Account, event: &Event) -> Result<()> {
        match event {
            Event::Reserve { account: of, release: Asked::Described(list), .. }
                if *of == account.name =>
            {
                self.seen += 1;
                for described in list {
                    let text = format!("{:?}", described.normal());
                    // It was charged, whatever would be charged now.
                    let query = || described.query().or_else(|_| described.query_in(OLDEST_FORMAT));
                    self.put(text, || Ok(query()?))?;
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
                let Some(promised) = debit::promise(rule) else { return Ok(()) };
                let nothing = || damaged("a rule promises nothing");
                self.put(format!("{promised:?}"), || {
                    Ok(promised.promise().ok_or_else(nothing)?.query()?)
                })?;
            }
            _ => {}
        }
        Ok(())
    }

    /// One release more.
    fn put(&mut self, text: String, query: impl FnOnce() -> Result<Query>) -> Result<()> {
        if let Some((_, times)) = self.releases.get_mut(&text) {
            *times += 1;
        } else if self.releases.len() <= MOST {
            self.releases.insert(text, (query()?, 1));
        }
        Ok(())
    }

    /// What all of it costs at every level; `None` if not all of it is known.
    fn mileage(&self) -> Option<Mileage> {
        if self.releases.len() > MOST || self.seen != self.charges || self.is_moved {
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

    /// What the odometer says, where that is less than what the account promises as a whole.
    pub(crate) fn bound(&self) -> Option<SpentEpsilon> {
        let epsilon = self.odometer.bound(&self.mileage()?)?;
        (epsilon < self.promised).then(|| SpentEpsilon {
            epsilon,
            delta: self.odometer.delta().clone(),
            theorem: self.odometer.theorem().source(),
            setting: self.odometer.setting().into(),
        })
    }

    /// What the odometer says, level by level.
    pub(crate) fn read(&self, account: &Account, head: String) -> Result<OdometerRead> {
        if self.is_moved {
            let legal = "a data set whose accounts have what they were opened with";
            return Err(account.unfit("has accounts between which budget was moved", legal));
        }
        let legal =
            "an account with at most 1000 different releases, each of which is known at some level";
        let spent = self.mileage();
        let spent =
            spent.ok_or_else(|| account.unfit("has releases that no level prices", legal))?;
        let level = |(level, total): (&Level, &Option<Amount>)| LevelRead {
            epsilon: level.epsilon.clone(),
            order: Amount::from_f64(level.order.get()).unwrap_or_default(),
            capacity: level.capacity.clone(),
            spent: total.clone(),
            holds: total.as_ref().is_some_and(|total| total <= &level.capacity),
        };
        Ok(OdometerRead {
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

//! The filters of data sets and open accounts: the parameters of a new filter, and its record.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{Amount, Filter, Query, Terms};
use counterpoint_wire::ledger::{FilterRecord, PromiseRecord, ReleaseRecord};

use super::error::{LedgerError, Result};

/// The parameters of a new filter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewFilter {
    /// The quantity that the filter adds up.
    pub kind: FilterKind,
    /// The guarantee of the account as a whole: an (epsilon, delta), or a budget in the added quantity itself.
    pub promise: PromiseRecord,
    /// The Rényi order; the best one for the expected releases if `None`.
    pub order: Option<Order>,
    /// The share of delta that is set aside for the releases' own deltas. If `None`: the share that the expected
    /// releases need, or half. If zero: all of delta is used to convert the total to an epsilon, and a release with a
    /// delta of its own is refused.
    pub leaks: Option<Amount>,
    /// The releases that are expected, as far as they are known.
    pub expected: Vec<ReleaseRecord>,
}

/// The quantity that an open account adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilterKind {
    /// Epsilons and deltas.
    Sums,
    /// Rényi divergences at one order.
    Renyi,
    /// The rho of zero-concentrated differential privacy.
    Zcdp,
    /// The squared mu of Gaussian differential privacy.
    Gdp,
}

impl FilterKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Sums, Self::Renyi, Self::Zcdp, Self::Gdp];

    /// The kind's name in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sums => "sums",
            Self::Renyi => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gdp => "gdp",
        }
    }

    /// True if an account of this kind converts its total to an epsilon at one part of delta, and sets the other part
    /// aside for leaks.
    fn converts(self) -> bool {
        matches!(self, Self::Renyi | Self::Zcdp)
    }
}

impl NewFilter {
    /// A filter that promises (epsilon, delta)-privacy, with its order and its shares chosen for it.
    #[must_use]
    pub fn new(kind: FilterKind, epsilon: Amount, delta: Amount) -> Self {
        Self::with_promise(kind, PromiseRecord::ApproxDp { epsilon, delta })
    }

    /// A filter of a kind with any promise.
    #[must_use]
    pub fn with_promise(kind: FilterKind, promise: PromiseRecord) -> Self {
        Self { kind, promise, order: None, leaks: None, expected: Vec::new() }
    }

    /// Sets no delta aside: for releases without deltas of their own.
    #[must_use]
    pub fn without_leaks(self) -> Self {
        Self { leaks: Some(Amount::ZERO), ..self }
    }

    pub(crate) fn record(&self, adjacency: Adjacency) -> Result<FilterRecord> {
        let terms = Terms::new(adjacency);
        let filter = match (self.kind, self.promise.clone()) {
            (_, PromiseRecord::ApproxDp { epsilon, delta }) => {
                self.filter(epsilon, delta, terms)?
            }
            (FilterKind::Zcdp, PromiseRecord::Zcdp { rho, delta }) => {
                Filter::zcdp_budget(rho, delta, terms)?
            }
            (FilterKind::Gdp, PromiseRecord::Gdp { mu }) => Filter::gdp_budget(mu, terms)?,
            (FilterKind::Renyi, PromiseRecord::Renyi { order, tau }) => {
                Filter::renyi_budget(Order::new(order.lower())?, tau, terms)?
            }
            _ => {
                let (account, problem) = ("the filter".to_owned(), self.mismatch());
                let legal = "epsilon and delta with any kind, rho with zcdp, mu with gdp, order \
                             and tau with renyi";
                return Err(LedgerError::Unfit { account, problem, legal });
            }
        };
        FilterRecord::from_filter(&filter)
            .ok_or_else(|| LedgerError::Uncertified("the promise cannot be written".to_owned()))
    }

    fn mismatch(&self) -> String {
        let promised = match self.promise {
            PromiseRecord::Zcdp { .. } => "rho",
            PromiseRecord::Gdp { .. } => "mu",
            PromiseRecord::Renyi { .. } => "order and tau",
            _ => "epsilon",
        };
        format!("of kind {} cannot promise {promised}", self.kind.name())
    }

    fn filter(&self, epsilon: Amount, delta: Amount, terms: Terms) -> Result<Filter> {
        let leaks = || self.leaks.clone().unwrap_or_else(|| delta.half());
        if self.leaks.is_some() && !self.kind.converts() {
            let problem = format!("of kind {} cannot set delta aside for leaks", self.kind.name());
            let legal = "leaks with renyi or zcdp, whose epsilon is computed at the rest of delta";
            return Err(LedgerError::Unfit { account: "the filter".to_owned(), problem, legal });
        }
        Ok(match (self.kind, self.order) {
            (FilterKind::Sums, _) => Filter::sums(epsilon, delta, terms)?,
            (FilterKind::Renyi, Some(order)) => {
                Filter::renyi(epsilon, delta.clone(), leaks(), order, terms)?
            }
            (FilterKind::Renyi, None) => {
                let expected: Result<Vec<Query>, _> =
                    self.expected.iter().map(ReleaseRecord::query).collect();
                match self.leaks.clone() {
                    None => Filter::renyi_for(epsilon, delta, &expected?, terms)?,
                    Some(leaks) => {
                        Filter::renyi_with_leaks(epsilon, delta, leaks, &expected?, terms)?
                    }
                }
            }
            (FilterKind::Zcdp, _) => Filter::zcdp(epsilon, delta.clone(), leaks(), terms)?,
            (FilterKind::Gdp, _) => Filter::gdp(epsilon, delta, terms)?,
        })
    }
}

/// True if a stored filter has more capacity than its promise allows. A later version may derive a slightly larger
/// capacity than the stored one; it may derive a smaller one by rounding alone.
pub(crate) fn is_overstated(record: &FilterRecord, adjacency: Adjacency) -> Result<bool> {
    let kind = FilterKind::ALL.into_iter().find(|kind| kind.name() == record.kind);
    let Some(kind) = kind else { return Ok(true) };
    let order = record.order.as_ref().and_then(|order| Order::new(order.lower()).ok());
    let new = NewFilter {
        order,
        leaks: kind.converts().then(|| record.capacity.delta.clone()),
        ..NewFilter::with_promise(kind, record.promise.clone())
    };
    let most = new.record(adjacency)?;
    let derived =
        matches!(record.promise, PromiseRecord::ApproxDp { .. }) && kind != FilterKind::Sums;
    if !derived {
        return Ok(*record != most);
    }
    let (stored, most) = (&record.capacity, &most.capacity);
    let slack = most.main.div_up(&Amount::from(1_000_000_000_000)).unwrap_or_default();
    Ok(stored.main > &most.main + &slack || stored.delta > most.delta || stored.pure != most.pure)
}

//! The filters of data sets and open accounts: what is asked for, and what is recorded of it.

use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::{Amount, Filter, Query, Terms};
use counterpoint_wire::ledger::{Described, FilterRecord, Promised};

use super::error::{LedgerError, Result};

/// Which filter, and what it is to promise.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NewFilter {
    /// What is added up.
    pub kind: Kind,
    /// What the account as a whole may cost: an (epsilon, delta), or a budget in what is added
    /// up itself.
    pub promise: Promised,
    /// The Rényi order; the best for the expected use if `None`.
    pub order: Option<Order>,
    /// The share of delta set aside for the releases' own deltas; what the expected use needs, or half, if `None`. With
    /// zero all of delta goes to what is added up, and a release with a delta of its own is refused.
    pub leaks: Option<Amount>,
    /// What will be asked, as far as one knows.
    pub expected: Vec<Described>,
}

/// What an open account adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Epsilons and deltas.
    Sums,
    /// Rényi divergences at one order.
    Renyi,
    /// The rho of concentrated privacy.
    Zcdp,
    /// The squares of Gaussian privacy's mu.
    Gdp,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sums, Self::Renyi, Self::Zcdp, Self::Gdp];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Sums => "sums",
            Self::Renyi => "renyi",
            Self::Zcdp => "zcdp",
            Self::Gdp => "gdp",
        }
    }

    /// Whether what it adds up is converted at a delta, of which a share is set aside for leaks.
    fn converts(self) -> bool {
        matches!(self, Self::Renyi | Self::Zcdp)
    }
}

impl NewFilter {
    /// A filter of a kind that promises (epsilon, delta)-privacy, its order and its shares
    /// chosen for it.
    #[must_use]
    pub fn new(kind: Kind, epsilon: Amount, delta: Amount) -> Self {
        Self::promising(kind, Promised::ApproxDp { epsilon, delta })
    }

    /// A filter of a kind that keeps a promise.
    #[must_use]
    pub fn promising(kind: Kind, promise: Promised) -> Self {
        Self { kind, promise, order: None, leaks: None, expected: Vec::new() }
    }

    /// The same for releases without deltas of their own.
    #[must_use]
    pub fn without_leaks(self) -> Self {
        Self { leaks: Some(Amount::ZERO), ..self }
    }

    pub(crate) fn record(&self, adjacency: Adjacency) -> Result<FilterRecord> {
        let terms = Terms::new(adjacency);
        let filter = match (self.kind, self.promise.clone()) {
            (_, Promised::ApproxDp { epsilon, delta }) => self.filter(epsilon, delta, terms)?,
            (Kind::Zcdp, Promised::Zcdp { rho, delta }) => Filter::zcdp_budget(rho, delta, terms)?,
            (Kind::Gdp, Promised::Gdp { mu }) => Filter::gdp_budget(mu, terms)?,
            (Kind::Renyi, Promised::Renyi { order, tau }) => {
                Filter::renyi_budget(Order::new(order.lower())?, tau, terms)?
            }
            _ => {
                let (account, problem) = ("the filter".to_owned(), self.mismatch());
                let legal = "epsilon and delta with any, rho with zcdp, mu with gdp, order and \
                             tau with renyi";
                return Err(LedgerError::Unfit { account, problem, legal });
            }
        };
        FilterRecord::of(&filter)
            .ok_or_else(|| LedgerError::Uncertified("the promise cannot be written".to_owned()))
    }

    fn mismatch(&self) -> String {
        let promised = match self.promise {
            Promised::Zcdp { .. } => "rho",
            Promised::Gdp { .. } => "mu",
            Promised::Renyi { .. } => "order and tau",
            _ => "epsilon",
        };
        format!("of kind {} is to promise {promised}", self.kind.name())
    }

    fn filter(&self, epsilon: Amount, delta: Amount, terms: Terms) -> Result<Filter> {
        let leaks = || self.leaks.clone().unwrap_or_else(|| delta.half());
        if self.leaks.is_some() && !self.kind.converts() {
            let problem = format!("of kind {} is to set delta aside for leaks", self.kind.name());
            let legal = "leaks with renyi and zcdp, whose delta is there for other things too";
            return Err(LedgerError::Unfit { account: "the filter".to_owned(), problem, legal });
        }
        Ok(match (self.kind, self.order) {
            (Kind::Sums, _) => Filter::sums(epsilon, delta, terms)?,
            (Kind::Renyi, Some(order)) => {
                Filter::renyi(epsilon, delta.clone(), leaks(), order, terms)?
            }
            (Kind::Renyi, None) => {
                let expected: Result<Vec<Query>, _> =
                    self.expected.iter().map(Described::query).collect();
                match self.leaks.clone() {
                    None => Filter::renyi_for(epsilon, delta, &expected?, terms)?,
                    Some(leaks) => Filter::renyi_leaking(epsilon, delta, leaks, &expected?, terms)?,
                }
            }
            (Kind::Zcdp, _) => Filter::zcdp(epsilon, delta.clone(), leaks(), terms)?,
            (Kind::Gdp, _) => Filter::gdp(epsilon, delta, terms)?,
        })
    }
}

/// Whether a stored filter has more to spend than its promise allows. What is derived may
/// come out a little larger in a later version, and smaller by rounding alone.
pub(crate) fn overstated(record: &FilterRecord, adjacency: Adjacency) -> Result<bool> {
    let kind = Kind::ALL.into_iter().find(|kind| kind.name() == record.kind);
    let Some(kind) = kind else { return Ok(true) };
    let order = record.order.as_ref().and_then(|order| Order::new(order.lower()).ok());
    let new = NewFilter {
        order,
        leaks: kind.converts().then(|| record.capacity.delta.clone()),
        ..NewFilter::promising(kind, record.promise.clone())
    };
    let most = new.record(adjacency)?;
    let derived = matches!(record.promise, Promised::ApproxDp { .. }) && kind != Kind::Sums;
    if !derived {
        return Ok(*record != most);
    }
    let (stored, most) = (&record.capacity, &most.capacity);
    let slack = most.main.over(&Amount::from(1_000_000_000_000)).unwrap_or_default();
    Ok(stored.main > &most.main + &slack || stored.delta > most.delta || stored.pure != most.pure)
}

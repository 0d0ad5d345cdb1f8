//! The rows that are derived from the history.

use counterpoint::Adjacency;
use counterpoint::filter::{Amount, Filter};
use counterpoint_wire::ledger::{Cost, Described, Rule};

use crate::chain::Hash;

/// A data set (which has no parent) or an account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Account {
    pub(crate) name: String,
    pub(crate) parent: Option<String>,
    pub(crate) opened: u64,
    pub(crate) adjacency: Adjacency,
    /// A plan is kept without its slots.
    pub(crate) rule: Rule,
    pub(crate) balance: Balance,
    /// How many quotas were given.
    pub(crate) quotas: u64,
}

/// What there is, what is spent, and by how many charges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Balance {
    pub(crate) capacity: Cost,
    pub(crate) spent: Cost,
    pub(crate) charges: u64,
}

/// A slot of a plan account.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    pub(crate) name: String,
    pub(crate) total: u64,
    pub(crate) used: u64,
    /// What was declared, count included.
    pub(crate) release: Described,
}

/// An analyst's share.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) analyst: String,
    pub(crate) balance: Balance,
}

/// A key and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Release {
    pub(crate) key: String,
    pub(crate) account: String,
    pub(crate) request: Hash,
    pub(crate) reserved: u64,
    pub(crate) committed: Option<u64>,
    pub(crate) response: Option<Vec<u8>>,
}

impl Balance {
    pub(crate) fn new(capacity: Cost) -> Self {
        Self { capacity, ..Self::default() }
    }

    /// One more charge.
    pub(crate) fn charged(&self, spent: Cost) -> Self {
        Self { capacity: self.capacity.clone(), spent, charges: self.charges + 1 }
    }
}

impl Account {
    /// The filter of a data set or an open account.
    pub(crate) fn filter(&self) -> Option<Filter> {
        match &self.rule {
            Rule::Filter(record) => record.filter(self.adjacency),
            _ => None,
        }
    }

    /// What its first total is a total of.
    pub(crate) fn unit(&self) -> &'static str {
        self.filter().map_or("releases", |filter| filter.currency().unit())
    }
}

/// An amount as text whose order, byte by byte, is the order of the amounts.
pub(crate) fn sortable(amount: &Amount) -> String {
    let text = amount.to_string();
    let whole = text.find('.').unwrap_or(text.len());
    format!("{}{text}", "0".repeat(40_usize.saturating_sub(whole)))
}

/// Reads what [`sortable`] wrote, and nothing else.
pub(crate) fn amount(text: &str) -> Option<Amount> {
    let amount: Amount = text.parse().ok()?;
    (sortable(&amount) == text).then_some(amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_text_is_the_order_of_the_amounts() {
        let texts =
            ["0", "1e-300", "0.1", "0.10000001", "0.2", "1", "1.5", "2", "10", "10.25", "9e39"];
        let amounts: Vec<Amount> = texts.iter().map(|text| text.parse().unwrap()).collect();
        for pair in amounts.windows(2) {
            assert!(pair[0] < pair[1] && sortable(&pair[0]) < sortable(&pair[1]), "{pair:?}");
        }
        for exact in &amounts {
            assert_eq!(amount(&sortable(exact)).as_ref(), Some(exact));
        }
        assert_eq!((amount("0.1"), amount(&format!("{}0", sortable(&amounts[2])))), (None, None));
    }
}

//! What is to be done in one transaction, and what came of it.

use std::sync::Arc;

use counterpoint_wire::ledger::{Asked, Cost};

use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::MOST_RESPONSE;
use crate::rules::name;
use crate::store::tables::cells::Known;

/// A debit that is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The entry that made it.
    pub entry: u64,
    /// What it cost; `None` if it was made by an earlier call.
    pub charge: Option<Cost>,
    /// The stored response, if it was committed: to be shown again, without new noise.
    pub response: Option<Vec<u8>>,
    /// The ledger's head.
    pub head: Head,
}

/// A response that is durable, and may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Committed {
    /// The entry that stored it.
    pub entry: u64,
    /// The stored bytes, which need not be the ones offered: only these may be shown.
    pub response: Vec<u8>,
    /// Whether an earlier call stored them.
    pub repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

/// A release that is to be reserved: a request whose price is known.
#[derive(Debug)]
pub(crate) struct NewRelease {
    pub(crate) account: String,
    pub(crate) key: String,
    pub(crate) analyst: Option<String>,
    pub(crate) session: bool,
    pub(crate) question: Option<Hash>,
    pub(crate) own: Option<String>,
    pub(crate) asked: Asked,
    /// The digest of the analyst's own key, if there is one.
    pub(crate) alias: Option<Hash>,
    /// What makes two requests the same.
    pub(crate) digest: Hash,
    /// The account with the rule by which it was priced.
    pub(crate) known: Arc<Known>,
    pub(crate) charge: Cost,
}

/// One of several things that are done in a transaction.
#[derive(Debug)]
pub(crate) enum Step {
    Reserve(Box<NewRelease>),
    /// An analyst's own key is to stand for a release which is there.
    Alias {
        account: String,
        analyst: Option<String>,
        alias: Hash,
        key: String,
    },
    /// A response is to be stored.
    Commit {
        account: String,
        key: String,
        response: Vec<u8>,
    },
}

/// What became of it.
#[derive(Clone, Debug)]
pub(crate) enum Done {
    Reserved(Reservation),
    Named(Head),
    Committed(Committed),
}

impl Done {
    pub(crate) fn reserved(self) -> Result<Reservation> {
        match self {
            Self::Reserved(reservation) => Ok(reservation),
            _ => Err(damaged("a reservation was taken for something else")),
        }
    }

    pub(crate) fn named(self) -> Result<Head> {
        match self {
            Self::Named(head) => Ok(head),
            _ => Err(damaged("a key was taken for something else")),
        }
    }

    pub(crate) fn committed(self) -> Result<Committed> {
        match self {
            Self::Committed(committed) => Ok(committed),
            _ => Err(damaged("a response was taken for something else")),
        }
    }
}

impl Step {
    /// An analyst's own key that is ready to stand for a release.
    pub(crate) fn alias(
        account: &str,
        analyst: Option<&str>,
        alias: Hash,
        key: &str,
    ) -> Result<Self> {
        name::place(account, key)?;
        name::optional_word("analyst", analyst)?;
        let (account, analyst) = (account.to_owned(), analyst.map(str::to_owned));
        Ok(Self::Alias { account, analyst, alias, key: key.to_owned() })
    }

    /// A response that is ready to be stored.
    pub(crate) fn commit(account: &str, key: &str, response: &[u8]) -> Result<Self> {
        name::place(account, key)?;
        fits("response", response, 0)?;
        let (account, key) = (account.to_owned(), key.to_owned());
        Ok(Self::Commit { account, key, response: response.to_vec() })
    }
}

/// Bytes that can be stored.
pub(crate) fn fits(what: &'static str, bytes: &[u8], least: usize) -> Result<()> {
    match bytes.len() {
        length if (least..=MOST_RESPONSE).contains(&length) => Ok(()),
        length => Err(LedgerError::Length { what, length, least }),
    }
}

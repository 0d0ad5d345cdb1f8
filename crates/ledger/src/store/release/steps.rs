//! The steps of a transaction, and their outcomes.

use std::sync::Arc;

use counterpoint_wire::ledger::{Cost, ReleaseRequest};

use crate::rules::chain::{Hash, Head};
use crate::rules::error::{LedgerError, Result, damaged};
use crate::rules::limits::MAX_RESPONSE_BYTES;
use crate::rules::name;
use crate::store::tables::cells::AccountRow;

/// A debit for a release, which is durable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reservation {
    /// The entry of the debit.
    pub entry: u64,
    /// The charge; `None` if an earlier call made the debit.
    pub charge: Option<Cost>,
    /// The stored response, if the key was committed. It is to be shown again, without new noise.
    pub response: Option<Vec<u8>>,
    /// The ledger's head.
    pub head: Head,
}

/// A stored response. It is durable and may be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredResponse {
    /// The entry that stored the response.
    pub entry: u64,
    /// The stored bytes. They may be those of an earlier call instead of the given ones; only these may be shown.
    pub response: Vec<u8>,
    /// True if an earlier call stored the response.
    pub repeated: bool,
    /// The ledger's head.
    pub head: Head,
}

/// A release to be reserved: a request with its charge.
#[derive(Debug)]
pub(crate) struct NewRelease {
    pub(crate) account: String,
    pub(crate) key: String,
    pub(crate) analyst: Option<String>,
    pub(crate) session: bool,
    pub(crate) question: Option<Hash>,
    pub(crate) owner_mechanism: Option<String>,
    pub(crate) asked: ReleaseRequest,
    /// The digest of the analyst's own key, if there is one.
    pub(crate) alias: Option<Hash>,
    /// The digest of the request: two requests are the same if their digests are.
    pub(crate) digest: Hash,
    /// The account with the rule that the charge was computed by.
    pub(crate) known: Arc<AccountRow>,
    pub(crate) charge: Cost,
}

/// One of several steps of a transaction.
#[derive(Debug)]
pub(crate) enum Step {
    Reserve(Box<NewRelease>),
    /// Lets an analyst's own key stand for an existing release.
    Alias {
        account: String,
        analyst: Option<String>,
        alias: Hash,
        key: String,
    },
    /// Stores a response.
    Commit {
        account: String,
        key: String,
        response: Vec<u8>,
    },
}

/// The outcome of a step.
#[derive(Clone, Debug)]
pub(crate) enum StepOutcome {
    Reserved(Reservation),
    Aliased(Head),
    Committed(StoredResponse),
}

impl StepOutcome {
    pub(crate) fn reserved(self) -> Result<Reservation> {
        match self {
            Self::Reserved(reservation) => Ok(reservation),
            _ => Err(damaged("a step that reserves gave another outcome")),
        }
    }

    pub(crate) fn aliased(self) -> Result<Head> {
        match self {
            Self::Aliased(head) => Ok(head),
            _ => Err(damaged("a step that adds an alias gave another outcome")),
        }
    }

    pub(crate) fn committed(self) -> Result<StoredResponse> {
        match self {
            Self::Committed(committed) => Ok(committed),
            _ => Err(damaged("a step that commits gave another outcome")),
        }
    }
}

impl Step {
    /// A step that lets an analyst's own key stand for a release, with its names checked.
    pub(crate) fn alias(
        account: &str,
        analyst: Option<&str>,
        alias: Hash,
        key: &str,
    ) -> Result<Self> {
        name::check_account_and_key(account, key)?;
        name::check_optional_name("analyst", analyst)?;
        let (account, analyst) = (account.to_owned(), analyst.map(str::to_owned));
        Ok(Self::Alias { account, analyst, alias, key: key.to_owned() })
    }

    /// A step that stores a response, with its names and its length checked.
    pub(crate) fn commit(account: &str, key: &str, response: &[u8]) -> Result<Self> {
        name::check_account_and_key(account, key)?;
        check_length("response", response, 0)?;
        let (account, key) = (account.to_owned(), key.to_owned());
        Ok(Self::Commit { account, key, response: response.to_vec() })
    }
}

/// Checks the length of bytes that are to be stored.
pub(crate) fn check_length(what: &'static str, bytes: &[u8], least: usize) -> Result<()> {
    match bytes.len() {
        length if (least..=MAX_RESPONSE_BYTES).contains(&length) => Ok(()),
        length => Err(LedgerError::Length { what, length, least }),
    }
}

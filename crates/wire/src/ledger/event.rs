//! The events of a ledger's history, in canonical form.

use counterpoint::Adjacency;
use serde::{Deserialize, Serialize};

use super::canonical::{CanonicalError, canonical};
use super::record::{Cost, FilterRecord, PlanRecord, Slot, neighbours};
use super::release_record::ReleaseRecord;

/// An event. `at` is the writer's clock in Unix seconds; nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are those of docs/ledger.md.
pub enum Event {
    /// The ledger was created.
    Init {
        at: u64,
        format: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        identity: Option<String>,
    },
    /// The ledger was given a later format.
    Upgrade {
        at: u64,
        format: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        identity: Option<String>,
    },
    /// A data set was declared, with its relation and its budget.
    Dataset {
        at: u64,
        name: String,
        #[serde(with = "neighbours")]
        adjacency: Adjacency,
        records: u64,
        filter: FilterRecord,
    },
    /// An account was opened and charged to its parent: a data set, or a slot of a plan account.
    Open {
        at: u64,
        account: String,
        parent: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<String>,
        rule: Rule,
        charge: Cost,
    },
    /// Unused openings of a plan account were exchanged for slots that they dominate.
    Recut { at: u64, account: String, unused: Vec<Openings>, into: Vec<Slot> },
    /// An analyst's quota of an account was set or changed.
    Quota {
        at: u64,
        account: String,
        analyst: String,
        capacity: Cost,
        #[serde(default, skip_serializing_if = "is_false")]
        changed: bool,
    },
    /// Unspent budget was moved to another account of the same data set.
    Move { at: u64, account: String, to: String, key: String, amount: Cost },
    /// A release or a whole session was debited.
    Reserve {
        at: u64,
        account: String,
        key: String,
        analyst: Option<String>,
        #[serde(default, skip_serializing_if = "is_false")]
        session: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        own: Option<String>,
        release: ReleaseRequest,
        charge: Cost,
    },
    /// An analyst's own key, given by its SHA-256, was made to stand for a release.
    Alias { at: u64, account: String, analyst: Option<String>, alias: String, key: String },
    /// The response of a release was stored.
    Commit { at: u64, account: String, key: String, sha256: String, length: u64 },
    /// A session's declaration and its first private state, given by their SHA-256, were stored.
    Begin { at: u64, account: String, key: String, declaration: String, state: String },
    /// An answer of a session was stored, with the private state after it; the last answer has no state.
    Answer {
        at: u64,
        account: String,
        key: String,
        ask: String,
        number: u64,
        question: String,
        sha256: String,
        length: u64,
        state: Option<String>,
    },
    /// A session was ended.
    End { at: u64, account: String, key: String },
    /// An account was closed for good, or a data set whose accounts are all closed.
    Close { at: u64, account: String },
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The rule of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Rule {
    /// Slots that were declared in advance.
    Plan(PlanRecord),
    /// A filter for releases that are chosen adaptively.
    Filter(FilterRecord),
}

/// A request to an account: to open a slot, or to run releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum ReleaseRequest {
    /// Opens a declared slot.
    Slot {
        /// The name of the slot.
        name: String,
        /// The number of openings.
        count: u64,
        /// The releases that run together in each opening, if they are named; the slot must cover them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        run: Vec<ReleaseRecord>,
    },
    /// Runs these releases, which are charged together.
    Described(Vec<ReleaseRecord>),
}

/// Openings of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Openings {
    /// The name of the slot.
    pub slot: String,
    /// The number of openings.
    pub count: u64,
}

impl ReleaseRequest {
    /// The request as text; equal requests have equal texts.
    ///
    /// # Errors
    /// None in practice: every request can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The same request without fields that have their default values.
    #[must_use]
    pub fn without_defaults(&self) -> Self {
        let normal =
            |list: &[ReleaseRecord]| list.iter().map(ReleaseRecord::without_defaults).collect();
        match self {
            Self::Slot { name, count, run } => {
                Self::Slot { name: name.clone(), count: *count, run: normal(run) }
            }
            Self::Described(list) => Self::Described(normal(list)),
        }
    }

    /// The releases that the request names.
    #[must_use]
    pub fn releases(&self) -> &[ReleaseRecord] {
        match self {
            Self::Slot { run, .. } => run,
            Self::Described(list) => list,
        }
    }
}

impl Rule {
    /// The rule as text.
    ///
    /// # Errors
    /// None in practice: every rule can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a text that [`Rule::text`] wrote.
    ///
    /// # Errors
    /// [`CanonicalError`] for any other text.
    pub fn read(text: &str) -> Result<Self, CanonicalError> {
        canonical(text)
    }
}

impl Event {
    /// The event as the body of an entry.
    ///
    /// # Errors
    /// None in practice: every event can be written.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a body, which must equal the text that [`Event::body`] writes.
    ///
    /// # Errors
    /// [`CanonicalError`] if it does not.
    pub fn read(body: &str) -> Result<Self, CanonicalError> {
        canonical(body)
    }

    /// The time of the event by the writer's clock, in Unix seconds.
    #[must_use]
    pub fn at(&self) -> u64 {
        match self {
            Self::Init { at, .. }
            | Self::Upgrade { at, .. }
            | Self::Alias { at, .. }
            | Self::Dataset { at, .. }
            | Self::Open { at, .. }
            | Self::Recut { at, .. }
            | Self::Quota { at, .. }
            | Self::Move { at, .. }
            | Self::Reserve { at, .. }
            | Self::Commit { at, .. }
            | Self::Begin { at, .. }
            | Self::Answer { at, .. }
            | Self::End { at, .. }
            | Self::Close { at, .. } => *at,
        }
    }

    /// The data set or account that the event is about.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        match self {
            Self::Init { .. } | Self::Upgrade { .. } => None,
            Self::Dataset { name, .. } => Some(name),
            Self::Open { account, .. }
            | Self::Recut { account, .. }
            | Self::Quota { account, .. }
            | Self::Move { account, .. }
            | Self::Reserve { account, .. }
            | Self::Alias { account, .. }
            | Self::Commit { account, .. }
            | Self::Begin { account, .. }
            | Self::Answer { account, .. }
            | Self::End { account, .. }
            | Self::Close { account, .. } => Some(account),
        }
    }

    /// The key that the event is about.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Reserve { key, .. }
            | Self::Alias { key, .. }
            | Self::Commit { key, .. }
            | Self::Begin { key, .. }
            | Self::Answer { key, .. }
            | Self::End { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The analyst whom the event names.
    #[must_use]
    pub fn analyst(&self) -> Option<&str> {
        match self {
            Self::Quota { analyst, .. } => Some(analyst),
            Self::Reserve { analyst, .. } | Self::Alias { analyst, .. } => analyst.as_deref(),
            _ => None,
        }
    }

    /// The name of the kind of event.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init { .. } => "init",
            Self::Upgrade { .. } => "upgrade",
            Self::Dataset { .. } => "dataset",
            Self::Open { .. } => "open",
            Self::Recut { .. } => "recut",
            Self::Quota { .. } => "quota",
            Self::Move { .. } => "move",
            Self::Reserve { .. } => "reserve",
            Self::Alias { .. } => "alias",
            Self::Commit { .. } => "commit",
            Self::Begin { .. } => "begin",
            Self::Answer { .. } => "answer",
            Self::End { .. } => "end",
            Self::Close { .. } => "close",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_read_back_and_nothing_else_is() {
        let event = Event::Commit {
            at: 1,
            account: "a".into(),
            key: "k\"\u{1}é".into(),
            sha256: "00".into(),
            length: 3,
        };
        let body = event.body().unwrap();
        let expected = "{\"event\":\"commit\",\"at\":1,\"account\":\"a\",\"key\":\"k\\\"\\u0001é\",\"sha256\":\"00\",\"length\":3}";
        assert_eq!(body, expected);
        assert_eq!(Event::read(&body).unwrap(), event);
        for (from, to) in [
            (",\"at\"", ", \"at\""),
            ("\"at\":1", "\"at\":1,\"at\":1"),
            ("}", ",\"x\":1}"),
            ("é", "\\u00e9"),
            ("\"at\":1", "\"at\":1.0"),
        ] {
            assert!(Event::read(&body.replacen(from, to, 1)).is_err(), "{from}");
        }
    }
}

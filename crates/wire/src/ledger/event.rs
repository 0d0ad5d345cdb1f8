//! The events of a history, in canonical form.

use counterpoint::Adjacency;
use serde::{Deserialize, Serialize};

use super::canonical::{NotCanonical, canonical};
use super::described::Described;
use super::record::{Cost, FilterRecord, PlanRecord, Slot, neighbours};

/// One thing that happened. `at` is the writer's clock in Unix seconds; nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are those of docs/ledger.md.
pub enum Event {
    /// The ledger began.
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
    /// A data set got its relation and its budget.
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
    /// An analyst got a share of an account, or from here on another one.
    Quota {
        at: u64,
        account: String,
        analyst: String,
        capacity: Cost,
        #[serde(default, skip_serializing_if = "is_false")]
        changed: bool,
    },
    /// Unspent budget went from an account to another of the same data set.
    Move { at: u64, account: String, to: String, key: String, amount: Cost },
    /// A release was debited, or a whole session.
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
        release: Asked,
        charge: Cost,
    },
    /// An analyst's own key was said to stand for a release: its SHA-256.
    Alias { at: u64, account: String, analyst: Option<String>, alias: String, key: String },
    /// Its response was stored.
    Commit { at: u64, account: String, key: String, sha256: String, length: u64 },
    /// A session's declaration and its first private state were stored: their SHA-256.
    Begin { at: u64, account: String, key: String, declaration: String, state: String },
    /// An answer of a session was stored with the private state after it; there is none after
    /// the last.
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
    /// An account was closed for good, or a data set, all of whose accounts are closed.
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
    /// Slots declared up front.
    Plan(PlanRecord),
    /// Releases chosen as one goes.
    Filter(FilterRecord),
}

/// What was asked of an account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Asked {
    /// To open a declared slot.
    Slot {
        /// Its name.
        name: String,
        /// So many times.
        count: u64,
        /// What is run in it each time, if that is said: something the slot dominates. Several
        /// are run together in one opening.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        run: Vec<Described>,
    },
    /// Releases described on the spot, charged together.
    Described(Vec<Described>),
}

/// So many openings of a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Openings {
    /// The slot.
    pub slot: String,
    /// How many.
    pub count: u64,
}

impl Asked {
    /// What is asked as text: the same text for the same thing.
    ///
    /// # Errors
    /// None that can be named: everything that is asked can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// The same thing with nothing said that goes without saying.
    #[must_use]
    pub fn normal(&self) -> Self {
        let normal = |list: &[Described]| list.iter().map(Described::normal).collect();
        match self {
            Self::Slot { name, count, run } => {
                Self::Slot { name: name.clone(), count: *count, run: normal(run) }
            }
            Self::Described(list) => Self::Described(normal(list)),
        }
    }

    /// The releases that are described, if any are.
    #[must_use]
    pub fn described(&self) -> &[Described] {
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
    /// None that can be named: every rule can be written.
    pub fn text(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads what [`Rule::text`] wrote.
    ///
    /// # Errors
    /// [`NotCanonical`] if it is not that.
    pub fn read(text: &str) -> Result<Self, NotCanonical> {
        canonical(text)
    }
}

impl Event {
    /// The body of an entry.
    ///
    /// # Errors
    /// None that can be named: every event can be written.
    pub fn body(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Reads a body; it must be what [`Event::body`] writes, to the byte.
    ///
    /// # Errors
    /// [`NotCanonical`] if it is not.
    pub fn read(body: &str) -> Result<Self, NotCanonical> {
        canonical(body)
    }

    /// When it was written, by the writer's clock.
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

    /// The data set or account it is about.
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

    /// The key it is about.
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

    /// The analyst it names.
    #[must_use]
    pub fn analyst(&self) -> Option<&str> {
        match self {
            Self::Quota { analyst, .. } => Some(analyst),
            Self::Reserve { analyst, .. } | Self::Alias { analyst, .. } => analyst.as_deref(),
            _ => None,
        }
    }

    /// Its kind, in a word.
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

//! The events of a history, in canonical form.

use counterpoint::Adjacency;
use serde::{Deserialize, Serialize};

use super::described::Described;
use super::record::{Cost, FilterRecord, PlanRecord, Slot, relation};

/// One thing that happened. `at` is the writer's clock in Unix seconds; nothing depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
#[allow(missing_docs)] // The fields are those of docs/ledger.md.
pub enum Event {
    /// The ledger began.
    Init { at: u64, format: u64 },
    /// A data set got its relation and its budget.
    Dataset {
        at: u64,
        name: String,
        #[serde(with = "relation")]
        adjacency: Adjacency,
        filter: FilterRecord,
    },
    /// An account was opened and charged to its data set, or to a slot of a plan account.
    Open {
        at: u64,
        account: String,
        dataset: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slot: Option<String>,
        rule: Rule,
        charge: Cost,
    },
    /// Unused openings of a plan account were exchanged for slots that they dominate.
    Recut { at: u64, account: String, unused: Vec<Openings>, into: Vec<Slot> },
    /// An analyst got a share of an account.
    Quota { at: u64, account: String, analyst: String, capacity: Cost },
    /// A release was debited.
    Reserve {
        at: u64,
        account: String,
        key: String,
        analyst: Option<String>,
        release: Asked,
        charge: Cost,
    },
    /// Its response was stored.
    Commit { at: u64, account: String, key: String, sha256: String, length: u64 },
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
        /// What is run in it each time, if that is said: something the slot dominates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<Described>,
    },
    /// A release described on the spot.
    Described(Described),
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

/// Reads a text that must be what writing the value gives, to the byte.
pub(super) fn canonical<T: Serialize + serde::de::DeserializeOwned>(
    text: &str,
) -> Result<T, NotCanonical> {
    let wrong = |error: serde_json::Error| NotCanonical { problem: error.to_string() };
    let value: T = serde_json::from_str(text).map_err(wrong)?;
    if serde_json::to_string(&value).map_err(wrong)? == text {
        return Ok(value);
    }
    Err(NotCanonical { problem: "the text is not in canonical form".to_owned() })
}

/// A body that no event is written as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCanonical {
    /// Why, in one line.
    pub problem: String,
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
            | Self::Dataset { at, .. }
            | Self::Open { at, .. }
            | Self::Recut { at, .. }
            | Self::Quota { at, .. }
            | Self::Reserve { at, .. }
            | Self::Commit { at, .. } => *at,
        }
    }

    /// The data set or account it is about.
    #[must_use]
    pub fn account(&self) -> Option<&str> {
        match self {
            Self::Init { .. } => None,
            Self::Dataset { name, .. } => Some(name),
            Self::Open { account, .. }
            | Self::Recut { account, .. }
            | Self::Quota { account, .. }
            | Self::Reserve { account, .. }
            | Self::Commit { account, .. } => Some(account),
        }
    }

    /// Its kind, in a word.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Init { .. } => "init",
            Self::Dataset { .. } => "dataset",
            Self::Open { .. } => "open",
            Self::Recut { .. } => "recut",
            Self::Quota { .. } => "quota",
            Self::Reserve { .. } => "reserve",
            Self::Commit { .. } => "commit",
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

//! Why a release has no loss.

use crate::mechanism::Adjacency;
use crate::quantity::plain;

/// Why a release has no loss.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// A loss beyond what can be certified.
    #[error("{what} is {}; legal: {legal}", plain(*.value))]
    Range {
        /// What is out of range.
        what: &'static str,
        /// Its value, about.
        value: f64,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// Poisson sampling together with replacing a person's data.
    #[error("rate is given with adjacency replace; legal: add-remove, for which it is proved")]
    RateUnderReplace,
    /// A shift drawn at random together with replacing a person's data.
    #[error(
        "sensitivities differ, with adjacency replace; legal: add-remove, for which it is proved"
    )]
    MixtureUnderReplace,
    /// A sample of a fixed size together with adding or removing a person.
    #[error("share is given with adjacency add-remove; legal: replace, for which it is proved")]
    SubsetUnderAddRemove,
    /// A sample drawn with replacement together with adding or removing a person.
    #[error("draws are given with adjacency add-remove; legal: replace, for which it is proved")]
    DrawsUnderAddRemove,
    /// More draws than records.
    #[error("draws are {draws} of {records} records; legal: at most as many as there are")]
    MoreThanRecords {
        /// How often a record is drawn.
        draws: u64,
        /// From how many.
        records: u64,
    },
    /// Random allocation together with replacing a person's data.
    #[error("steps are given with adjacency replace; legal: add-remove, for which it is proved")]
    AllocationUnderReplace,
    /// A person in more steps than there are.
    #[error("each is {each} of {steps} steps; legal: at most as many as there are")]
    MoreThanSteps {
        /// In how many a person is.
        each: u64,
        /// How many there are.
        steps: u64,
    },
    /// What draws a sample on a Poisson sample.
    #[error("rate is given for {mechanism}, which draws people itself; legal: none")]
    RateOnSamples {
        /// The mechanism.
        mechanism: &'static str,
    },
    /// Batches cut at a size together with replacing a person's data.
    #[error("most is given with adjacency replace; legal: add-remove, for which it is proved")]
    CapUnderReplace,
    /// Adjacency matters and is not given.
    #[error("adjacency is missing; {why}; legal: {}", relations(.legal))]
    NoAdjacency {
        /// Why it matters.
        why: &'static str,
        /// Those for which something is proved of the release, or of the plan it is in.
        legal: Vec<Adjacency>,
    },
    /// Sampling a mechanism for which nothing is proved.
    #[error(
        "rate is given for {mechanism}, of which only a Rényi curve is known; legal: mechanisms with a pair"
    )]
    Rate {
        /// The mechanism.
        mechanism: &'static str,
    },
    /// An asymmetric pair where a person's data are replaced.
    #[error("p and q differ when exchanged; legal with adjacency replace: a symmetric pair")]
    Asymmetric,
    /// Two vectors without a common outcome.
    #[error("p and q have no outcome in common; legal: at least one")]
    NoCommonOutcome,
    /// A group for which nothing is proved.
    #[error("group is {group} for {what}; legal: 1")]
    Group {
        /// How many people.
        group: u64,
        /// What it is given for.
        what: &'static str,
    },
    /// Parts of the data without the relation that makes them independent.
    #[error("partition is given with adjacency {}; legal: add-remove", if *.replace { "replace" } else { "missing" })]
    Parts {
        /// Whether adjacency is replace, rather than missing.
        replace: bool,
    },
    /// A group may be spread over the parts.
    #[error("partition is given with group {group}; legal: group 1")]
    GroupOverParts {
        /// How many people.
        group: u64,
    },
}

/// The relations, each with what it means.
fn relations(legal: &[Adjacency]) -> String {
    const ADD_REMOVE: &str = "add-remove (one data set has one person more)";
    const REPLACE: &str = "replace (one person's data differ)";
    match legal {
        [Adjacency::AddRemove] => {
            format!("{ADD_REMOVE}; nothing is proved of this under {REPLACE}")
        }
        [Adjacency::Replace] => format!("{REPLACE}; nothing is proved of this under {ADD_REMOVE}"),
        [] => format!("none; nothing is proved of this under {ADD_REMOVE} or {REPLACE}"),
        _ => format!("{ADD_REMOVE} or {REPLACE}"),
    }
}

impl LossError {
    /// Adjacency matters, and either would do.
    pub(crate) fn no_adjacency(why: &'static str) -> Self {
        Self::NoAdjacency { why, legal: vec![Adjacency::AddRemove, Adjacency::Replace] }
    }

    /// The field of the release or the plan it is about, with which its text begins.
    #[must_use]
    pub fn field(&self) -> &'static str {
        match self {
            // A quotient is about its numerator.
            Self::Range { what, .. } => what.split_once(" / ").map_or(what, |(field, _)| field),
            Self::RateUnderReplace | Self::Rate { .. } | Self::RateOnSamples { .. } => "rate",
            Self::MixtureUnderReplace => "sensitivities",
            Self::SubsetUnderAddRemove => "share",
            Self::AllocationUnderReplace => "steps",
            Self::MoreThanSteps { .. } => "each",
            Self::DrawsUnderAddRemove | Self::MoreThanRecords { .. } => "draws",
            Self::CapUnderReplace => "most",
            Self::NoAdjacency { .. } => "adjacency",
            Self::Asymmetric | Self::NoCommonOutcome => "p",
            Self::Group { .. } => "group",
            Self::Parts { .. } | Self::GroupOverParts { .. } => "partition",
        }
    }
}

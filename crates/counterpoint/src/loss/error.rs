//! The error of a release without a certified loss.

use crate::mechanism::Adjacency;
use crate::quantity::format_number;

/// The reason why a release has no certified loss.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// A parameter outside the range in which losses are certified.
    #[error("{what} is {}; legal: {legal}", format_number(*.value))]
    Range {
        /// The parameter or the quotient of parameters.
        what: &'static str,
        /// Its approximate value.
        value: f64,
        /// The legal range, in words.
        legal: &'static str,
    },
    /// Poisson sampling under the adjacency replace.
    #[error("rate is given with adjacency replace; legal: add-remove, for which a bound is proved")]
    RateUnderReplace,
    /// A random shift under the adjacency replace.
    #[error(
        "sensitivities differ, with adjacency replace; legal: add-remove, for which a bound is proved"
    )]
    MixtureUnderReplace,
    /// A sample of a fixed size under the adjacency add-remove.
    #[error(
        "share is given with adjacency add-remove; legal: replace, for which a bound is proved"
    )]
    SubsetUnderAddRemove,
    /// A sample drawn with replacement under the adjacency add-remove.
    #[error(
        "draws are given with adjacency add-remove; legal: replace, for which a bound is proved"
    )]
    DrawsUnderAddRemove,
    /// More draws than records.
    #[error("draws is {draws}; legal: at most {records}, the number of records")]
    MoreThanRecords {
        /// The number of draws.
        draws: u64,
        /// The number of records.
        records: u64,
    },
    /// Random allocation under the adjacency replace.
    #[error(
        "steps are given with adjacency replace; legal: add-remove, for which a bound is proved"
    )]
    AllocationUnderReplace,
    /// More steps for each person than there are.
    #[error("each is {each}; legal: at most {steps}, the number of steps")]
    MoreThanSteps {
        /// The number of steps for each person.
        each: u64,
        /// The number of all steps.
        steps: u64,
    },
    /// A sampling rate for a mechanism that draws a sample itself.
    #[error("rate is given for {mechanism}, which draws a sample itself; legal: no rate")]
    RateOnSamples {
        /// The mechanism.
        mechanism: &'static str,
    },
    /// Batches that are cut to a size under the adjacency replace.
    #[error("most is given with adjacency replace; legal: add-remove, for which a bound is proved")]
    CapUnderReplace,
    /// Shuffled reports under the adjacency add-remove.
    #[error(
        "epsilon is given for shuffled-reports with adjacency add-remove; legal: replace, for which a bound is proved"
    )]
    ShuffleUnderAddRemove,
    /// Monotone scores under the adjacency replace.
    #[error(
        "scores is monotone with adjacency replace; legal: add-remove, or any, with which a bound is proved"
    )]
    MonotoneUnderReplace,
    /// A missing adjacency where the bound depends on it.
    #[error("adjacency is missing; {why}; legal: {}", relations(.legal))]
    NoAdjacency {
        /// The reason why it matters.
        why: &'static str,
        /// The adjacencies under which a bound is proved for the release, or for its plan.
        legal: Vec<Adjacency>,
    },
    /// A sampling rate for a mechanism for which no bound on samples is proved.
    #[error(
        "rate is given for {mechanism}, for which only a Rényi curve is known; legal: mechanisms with a dominating pair"
    )]
    Rate {
        /// The mechanism.
        mechanism: &'static str,
    },
    /// An asymmetric pair under the adjacency replace.
    #[error("p and q differ when exchanged; legal with adjacency replace: a symmetric pair")]
    Asymmetric,
    /// Two vectors without a common outcome.
    #[error("p and q have no outcome in common; legal: at least one")]
    NoCommonOutcome,
    /// A group size for which no bound is proved.
    #[error("group is {group} for {what}; legal: 1")]
    Group {
        /// The number of people.
        group: u64,
        /// The release that the group size is given for.
        what: &'static str,
    },
    /// Parts of the data without the adjacency that makes them independent.
    #[error("partition is given with adjacency {}; legal: add-remove", if *.replace { "replace" } else { "missing" })]
    Parts {
        /// True if the adjacency is replace, false if it is missing.
        replace: bool,
    },
    /// Parts of the data together with a group, whose people may be in different parts.
    #[error("partition is given with group {group}; legal: group 1")]
    GroupOverParts {
        /// The number of people.
        group: u64,
    },
}

/// Names the legal adjacencies and explains them.
fn relations(legal: &[Adjacency]) -> String {
    const ADD_REMOVE: &str = "add-remove (one data set has one person more)";
    const REPLACE: &str = "replace (one person's data differ)";
    match legal {
        [Adjacency::AddRemove] => {
            format!("{ADD_REMOVE}; no bound is proved under {REPLACE}")
        }
        [Adjacency::Replace] => format!("{REPLACE}; no bound is proved under {ADD_REMOVE}"),
        [] => format!("none; no bound is proved under {ADD_REMOVE} or {REPLACE}"),
        _ => format!("{ADD_REMOVE} or {REPLACE}"),
    }
}

impl LossError {
    /// The error of a missing adjacency where both adjacencies are legal.
    pub(crate) fn no_adjacency(why: &'static str) -> Self {
        Self::NoAdjacency { why, legal: vec![Adjacency::AddRemove, Adjacency::Replace] }
    }

    /// The field of the release or the plan that the error is about; the message begins with it.
    #[must_use]
    pub fn field(&self) -> &'static str {
        match self {
            // An error about a quotient is reported for its numerator.
            Self::Range { what, .. } => what.split_once(" / ").map_or(what, |(field, _)| field),
            Self::RateUnderReplace | Self::Rate { .. } | Self::RateOnSamples { .. } => "rate",
            Self::MixtureUnderReplace => "sensitivities",
            Self::SubsetUnderAddRemove => "share",
            Self::AllocationUnderReplace => "steps",
            Self::MoreThanSteps { .. } => "each",
            Self::DrawsUnderAddRemove | Self::MoreThanRecords { .. } => "draws",
            Self::CapUnderReplace => "most",
            Self::MonotoneUnderReplace => "scores",
            Self::ShuffleUnderAddRemove => "epsilon",
            Self::NoAdjacency { .. } => "adjacency",
            Self::Asymmetric | Self::NoCommonOutcome => "p",
            Self::Group { .. } => "group",
            Self::Parts { .. } | Self::GroupOverParts { .. } => "partition",
        }
    }
}

//! Published statistics: what `release` writes as `release.json` and `release.csv`, and reports are made of.

use serde::{Deserialize, Serialize};

/// Statistics that were released together, and all that their readers should know about them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The version of the format: 1.
    pub version: u64,
    /// Whether the numbers were computed from made-up rows: then they say nothing about anybody.
    pub made_up: bool,
    /// What the study is called.
    pub title: String,
    /// What is public about the data.
    pub data: PublishedData,
    /// What the people in the data are promised.
    pub privacy: Promise,
    /// Where the ledger recorded it; nothing if the numbers were made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerPlace>,
    /// The statistics, in the order of the study.
    pub statistics: Vec<PublishedStatistic>,
}

/// What is public about the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedData {
    /// The name of the data set.
    pub name: String,
    /// The name of the file, or the kind of database, that the rows were read from.
    pub source: String,
    /// `add-remove` or `replace`.
    pub adjacency: String,
    /// The column that says whose a row is; nothing if every row is a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The rows of a person that are used, at most.
    pub rows: u64,
    /// The number of people, if that is public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<u64>,
    /// The number of people of whom these are a secret simple random sample, if they are one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_of: Option<u64>,
    /// The columns that statistics are about.
    pub columns: Vec<PublishedColumn>,
}

/// A column, as it was declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// Its name.
    pub name: String,
    /// The bounds that its numbers are clamped to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// Its categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// The number that is used where a value is missing; rows without a value are left out if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
}

/// What the people in the data are promised: differential privacy with these parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// An upper bound on epsilon for all statistics together.
    pub epsilon: f64,
    /// At this delta.
    pub delta: f64,
    /// The theorem by which all statistics were composed.
    pub theorem: String,
    /// The budget of the data set, for this and all other releases.
    pub budget: Budget,
}

/// The budget of a data set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// The epsilon that all releases may cost together.
    pub epsilon: f64,
    /// The delta that all releases may cost together.
    pub delta: f64,
    /// The epsilon that is spent, this release included.
    pub epsilon_spent: f64,
    /// The delta that is spent, this release included.
    pub delta_spent: f64,
}

/// Where the ledger recorded a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerPlace {
    /// The account that the release was charged to.
    pub account: String,
    /// The ledger's head after it, as `SEQUENCE:HASH`: `counterpoint ledger verify --expect-head` takes it.
    pub head: String,
}

/// A statistic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedStatistic {
    /// Its name.
    pub name: String,
    /// Its kind, as in the study: `count`, `mean`, `quantiles`, ...
    pub kind: String,
    /// The columns that it is computed from.
    pub columns: Vec<String>,
    /// The condition that its rows meet.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The columns that it is grouped by.
    pub by: Vec<String>,
    /// The values whose share a proportion is, as a condition on its column: `status IN ('employed')`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// The noise that was added, in words: `laplace`, `gaussian`, `exponential`; `none` for a public number.
    pub noise: String,
    /// An upper bound on the epsilon of this statistic alone, at the delta of the release.
    pub epsilon: f64,
    /// The half-width that was planned for, whatever the data are, at the confidence of its numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_error: Option<f64>,
    /// How far the sample may be off from the population it was drawn from, whatever the data are, at the same confidence, where the
    /// people are a sample and that is known. It comes on top of the intervals, which are about the sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_error: Option<f64>,
    /// The numbers.
    pub numbers: Vec<PublishedNumber>,
}

/// A number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedNumber {
    /// The group that it is about: a category for each column of `by`.
    pub group: Vec<String>,
    /// The bin, the share of a quantile or the coefficient that it is; empty if the statistic is one number.
    pub part: String,
    /// The number, with noise.
    pub value: f64,
    /// The lower end of its interval, if there is one.
    pub lower: Option<f64>,
    /// The upper end of its interval, if there is one.
    pub upper: Option<f64>,
    /// The probability with which the interval holds the number without noise.
    pub confidence: f64,
}

impl PublishedStatistic {
    /// A number's group as `region=north,sex=f`; empty if it is about all rows.
    #[must_use]
    pub fn group(&self, number: &PublishedNumber) -> String {
        let pairs = self.by.iter().zip(&number.group);
        pairs.map(|(column, key)| format!("{column}={key}")).collect::<Vec<_>>().join(",")
    }
}

impl Publication {
    /// The numbers as a table in CSV, one line each.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut text = "statistic,group,part,value,lower,upper,confidence\n".to_owned();
        for statistic in &self.statistics {
            for number in &statistic.numbers {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                let fields = [
                    quoted(&statistic.name),
                    quoted(&statistic.group(number)),
                    quoted(&number.part),
                    number.value.to_string(),
                    end(number.lower),
                    end(number.upper),
                    number.confidence.to_string(),
                ];
                text += &fields.join(",");
                text.push('\n');
            }
        }
        text
    }

    /// The publication as JSON.
    ///
    /// # Errors
    /// [`serde_json::Error`] if a number is not finite.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// A field of a CSV file, in quotes where RFC 4180 wants them.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

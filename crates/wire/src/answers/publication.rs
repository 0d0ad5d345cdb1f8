//! Published statistics. `release` writes them as `release.json` and `release.csv`, and reports are made from them.

use serde::{Deserialize, Serialize};

/// Statistics that were released together, with everything that their readers should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Publication {
    /// The version of the format: 1.
    pub version: u64,
    /// True if the numbers were computed from made-up rows: then they say nothing about anybody.
    pub made_up: bool,
    /// The title of the study.
    pub title: String,
    /// The public description of the data.
    pub data: PublishedData,
    /// The privacy guarantee of the people in the data.
    pub privacy: Promise,
    /// The place of the release in the ledger; `None` if the numbers are made up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ledger: Option<LedgerLocation>,
    /// The statistics, in the order of the study.
    pub statistics: Vec<PublishedStatistic>,
}

/// The public description of the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedData {
    /// The name of the data set.
    pub name: String,
    /// The name of the file, or the kind of database, that the rows were read from.
    pub source: String,
    /// `add-remove` or `replace`.
    pub adjacency: String,
    /// The column that identifies the person of a row; `None` if every row is a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The largest number of rows of a person that are used.
    pub rows: u64,
    /// The number of people, if that is public.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub people: Option<u64>,
    /// The size of the population, if the people are a secret simple random sample of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_of: Option<u64>,
    /// The columns that statistics are about.
    pub columns: Vec<PublishedColumn>,
}

/// A column as it was declared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedColumn {
    /// The name of the column.
    pub name: String,
    /// The bounds that its numbers are clamped to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// The categories of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<String>>,
    /// The number that replaces a missing value; `None` if rows without a value are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<f64>,
}

/// The guarantee of differential privacy for the people in the data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Promise {
    /// An upper bound on epsilon for all statistics together.
    pub epsilon: f64,
    /// The delta at which epsilon is measured.
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

/// The place of a release in the ledger.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LedgerLocation {
    /// The account that the release was charged to.
    pub account: String,
    /// The ledger's head after the release, as `SEQUENCE:HASH`, for `counterpoint ledger verify --expect-head`.
    pub head: String,
}

/// A statistic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedStatistic {
    /// The name of the statistic.
    pub name: String,
    /// The kind of the statistic, as in the study: `count`, `mean`, `quantiles`, ...
    pub kind: String,
    /// The columns that it is computed from.
    pub columns: Vec<String>,
    /// The condition on the rows that are used.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// The columns that it is grouped by.
    pub by: Vec<String>,
    /// The values that a proportion counts, as a condition on its column: `status IN ('employed')`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<String>,
    /// The noise that was added, in words: `laplace`, `gaussian`, `exponential`; `none` for a public number.
    pub noise: String,
    /// An upper bound on the epsilon of this statistic alone, at the delta of the release.
    pub epsilon: f64,
    /// The planned half-width, which holds for all data, at the confidence of the numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_error: Option<f64>,
    /// A bound on the distance between the sample and its population, for all data and at the same confidence, if the
    /// people are a sample and the bound is known. The intervals are about the sample and do not include it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling_error: Option<f64>,
    /// The numbers of the statistic.
    pub numbers: Vec<PublishedNumber>,
}

/// A number of a statistic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedNumber {
    /// The group that the number is about: a category for each column of `by`.
    pub group: Vec<String>,
    /// The bin, the share of a quantile or the coefficient that the number belongs to; empty if the statistic is one
    /// number.
    pub part: String,
    /// The number, with noise.
    pub value: f64,
    /// The lower end of the number's interval, if there is an interval.
    pub lower: Option<f64>,
    /// The upper end of the number's interval, if there is an interval.
    pub upper: Option<f64>,
    /// The probability with which the interval contains the number without noise.
    pub confidence: f64,
}

impl PublishedStatistic {
    /// Writes a number's group as `region=north,sex=f`; empty if the number is about all rows.
    #[must_use]
    pub fn group(&self, number: &PublishedNumber) -> String {
        let pairs = self.by.iter().zip(&number.group);
        pairs.map(|(column, key)| format!("{column}={key}")).collect::<Vec<_>>().join(",")
    }
}

impl Publication {
    /// Writes the numbers as a table in CSV, one line each.
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

    /// Writes the publication as JSON.
    ///
    /// # Errors
    /// [`serde_json::Error`] if a number is not finite.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self)
    }
}

/// Writes a field of a CSV file, in quotes where RFC 4180 requires them.
fn quoted(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

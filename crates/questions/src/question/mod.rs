//! The algebra of questions: filter, group, aggregate. A question is written as JSON or as a subset of SQL.

pub mod sql;

use crate::public::Key;
use serde::{Deserialize, Serialize};

/// A question about one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The table's name.
    pub table: String,
    /// The condition that a row must meet to be used; `None` uses all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Condition>,
    /// The category columns to group by: each combination of their keys gets an answer. Empty: one answer for all rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// The aggregates to compute.
    pub aggregates: Vec<Aggregate>,
    /// The largest number of rows of a person that are used, if it is lower than the table's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// The largest number of groups of a person that are used, if it is lower than the table's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// The largest number of rows of a person in one group that are used, if it is lower than the table's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_in_group: Option<u64>,
}

/// A condition on rows: the rows for which it is true are used, as in SQL. A comparison with a missing value is neither
/// true nor false, and neither is its negation. A value that does not fit its column's declaration counts as missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// All conditions of the list hold.
    All(Vec<Condition>),
    /// At least one condition of the list holds.
    Any(Vec<Condition>),
    /// The condition does not hold.
    Not(Box<Condition>),
    /// A number column's value is within a closed interval.
    Between {
        /// The column's name.
        column: String,
        /// The lower end; `None` for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        /// The upper end; `None` for none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    /// A number column's value is above a number.
    Above {
        /// The column's name.
        column: String,
        /// The number.
        than: f64,
    },
    /// A number column's value is below a number.
    Below {
        /// The column's name.
        column: String,
        /// The number.
        than: f64,
    },
    /// A category column's value is one of the keys.
    In {
        /// The column's name.
        column: String,
        /// The categories.
        keys: Vec<Key>,
    },
    /// The column's value is missing or cannot be read: `IS NULL`.
    Missing {
        /// The column's name.
        column: String,
    },
}

/// An aggregate of the rows of each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// The aggregate's name in the answer; `None` for a name made of its kind and columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of aggregate, with its columns.
    pub of: AggregateKind,
}

/// The kinds of aggregates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum AggregateKind {
    /// The number of rows.
    Count,
    /// The number of people.
    People,
    /// The sum of a clamped column.
    Sum(ClampedColumn),
    /// The mean of a clamped column.
    Mean(ClampedColumn),
    /// The variance of a clamped column.
    Variance(ClampedColumn),
    /// The standard deviation of a clamped column.
    Deviation(ClampedColumn),
    /// Of the rows with a value, the share whose value meets a condition.
    Proportion(Share),
    /// Quantiles of a column.
    Quantiles {
        /// The column's name.
        column: String,
        /// The shares, increasing, strictly between 0 and 1.
        shares: Vec<f64>,
        /// The numbers that a quantile is chosen from, increasing. Default: evenly spaced over the column's bounds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        candidates: Option<Vec<f64>>,
    },
    /// The number of rows in each bin.
    Histogram {
        /// The column's name.
        column: String,
        /// The edges of the bins, increasing.
        edges: Vec<f64>,
    },
    /// The number of rows below each edge.
    Cdf {
        /// The column's name.
        column: String,
        /// The edges, increasing.
        edges: Vec<f64>,
    },
    /// The covariance of two clamped columns.
    Covariance {
        /// The first column's name.
        column: String,
        /// The second column's name.
        with: String,
    },
    /// The correlation of two clamped columns.
    Correlation {
        /// The first column's name.
        column: String,
        /// The second column's name.
        with: String,
    },
    /// The coefficients of a linear regression by least squares. All columns are clamped.
    Regression {
        /// The outcome's column.
        column: String,
        /// The predictors' columns.
        predictors: Vec<String>,
    },
}

/// The values whose share of a column is computed: an interval or a list of categories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The column's name.
    pub column: String,
    /// The closed interval of a number column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// The categories of a category column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<Key>>,
}

/// A number column that is clamped and then aggregated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClampedColumn {
    /// The column's name.
    pub column: String,
    /// The bounds to clamp to; `None` for the column's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
}

impl ClampedColumn {
    /// A column with its own bounds.
    #[must_use]
    pub fn of(column: &str) -> Self {
        Self { column: column.to_owned(), bounds: None }
    }
}

impl AggregateKind {
    /// The aggregate's default name in the answer.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Count => "count".to_owned(),
            Self::People => "people".to_owned(),
            Self::Sum(values) => format!("sum of {}", values.column),
            Self::Mean(values) => format!("mean of {}", values.column),
            Self::Variance(values) => format!("variance of {}", values.column),
            Self::Deviation(values) => format!("standard deviation of {}", values.column),
            Self::Proportion(share) => format!("proportion of {}", share.column),
            Self::Quantiles { column, .. } => format!("quantiles of {column}"),
            Self::Histogram { column, .. } => format!("histogram of {column}"),
            Self::Cdf { column, .. } => format!("cdf of {column}"),
            Self::Covariance { column, with } => format!("covariance of {column} and {with}"),
            Self::Correlation { column, with } => format!("correlation of {column} and {with}"),
            Self::Regression { column, .. } => format!("regression of {column}"),
        }
    }
}

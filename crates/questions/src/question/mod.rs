//! What may be asked of a table: filter, group, aggregate. One small algebra, written as JSON or as a subset of SQL.

pub mod sql;

use crate::public::Key;
use serde::{Deserialize, Serialize};

/// A question about one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// The table.
    pub table: String,
    /// Which rows are used; all of them if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Condition>,
    /// The columns of categories that answers are given for, each key of them; all rows together if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub group: Vec<String>,
    /// What is computed.
    pub aggregates: Vec<Aggregate>,
    /// At most so many rows of a person are used, if fewer than the table says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// At most so many groups of a person, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub groups: Option<u64>,
    /// At most so many rows of a person in one group, likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_in_group: Option<u64>,
}

/// Which rows are used: those of which the condition is true, as in SQL. A comparison with a missing value is neither true
/// nor false, and neither is its opposite. A value that cannot be read as what its column was declared to hold is missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Condition {
    /// All of these hold.
    All(Vec<Condition>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// A column of numbers is within these, both included.
    Between {
        /// The column.
        column: String,
        /// From this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<f64>,
        /// To this number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<f64>,
    },
    /// A column of numbers is above this.
    Above {
        /// The column.
        column: String,
        /// The number.
        than: f64,
    },
    /// A column of numbers is below this.
    Below {
        /// The column.
        column: String,
        /// The number.
        than: f64,
    },
    /// A column of categories has one of these.
    In {
        /// The column.
        column: String,
        /// The categories.
        keys: Vec<Key>,
    },
    /// A column has no value, or none that can be read: `IS NULL`.
    Missing {
        /// The column.
        column: String,
    },
}

/// What is computed of the rows, in each group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// What it is called in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What it is.
    pub of: Of,
}

/// The kinds of aggregates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Of {
    /// How many rows.
    Count,
    /// How many people.
    People,
    /// The sum of a column, clamped.
    Sum(Values),
    /// The mean of a column, clamped.
    Mean(Values),
    /// The variance of a column, clamped.
    Variance(Values),
    /// The standard deviation of a column, clamped.
    Deviation(Values),
    /// The share of the rows with a value for which a condition on that column holds.
    Proportion(Share),
    /// Shares of a column.
    Quantiles {
        /// The column.
        column: String,
        /// The shares, increasing, strictly between 0 and 1.
        shares: Vec<f64>,
        /// What is chosen from, increasing; evenly spaced over the column's bounds if nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        candidates: Option<Vec<f64>>,
    },
    /// How many rows are in each bin.
    Histogram {
        /// The column.
        column: String,
        /// The edges of the bins, increasing.
        edges: Vec<f64>,
    },
    /// How many rows are below each edge.
    Cdf {
        /// The column.
        column: String,
        /// The edges, increasing.
        edges: Vec<f64>,
    },
    /// The covariance of two columns, clamped.
    Covariance {
        /// One column.
        column: String,
        /// The other.
        with: String,
    },
    /// The correlation of two columns, clamped.
    Correlation {
        /// One column.
        column: String,
        /// The other.
        with: String,
    },
    /// The coefficients of a linear regression by least squares, all columns clamped.
    Regression {
        /// The outcome.
        column: String,
        /// The predictors.
        predictors: Vec<String>,
    },
}

/// The values of a column whose share is asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The column.
    pub column: String,
    /// Numbers from the first to the second, both included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
    /// These categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keys: Option<Vec<Key>>,
}

/// A column of numbers that are added up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Values {
    /// The column.
    pub column: String,
    /// What it is clamped to, if not its bounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bounds: Option<(f64, f64)>,
}

impl Values {
    /// A column within its own bounds.
    #[must_use]
    pub fn of(column: &str) -> Self {
        Self { column: column.to_owned(), bounds: None }
    }
}

impl Of {
    /// What it is called if nothing else is said.
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

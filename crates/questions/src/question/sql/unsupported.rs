//! Errors for SQL that is not supported, with the legal forms.

use crate::error::QuestionError;

pub(super) const SHAPE: &str =
    "SELECT columns and aggregates FROM one table [WHERE conditions] [GROUP BY columns]";
pub(super) const AGGREGATES: &str = "COUNT(*), COUNT(DISTINCT person), SUM(column), AVG(column), VARIANCE(column), STDDEV(column), MEDIAN(column), \
                          QUANTILE(column, share), HISTOGRAM(column, edge, edge, ...), CDF(column, edge, ...), PROPORTION(column, category, ...), \
                          PROPORTION(column, low, high), COVAR_POP(column, column), CORR(column, column), REGRESSION(outcome, predictor, ...); \
                          AVG, SUM, VARIANCE and STDDEV also of CLAMP(column, low, high)";
pub(super) const CONDITIONS: &str =
    "comparisons of a column with a constant, BETWEEN, IN, IS NULL, IS NOT NULL, AND, OR, NOT";

pub(super) fn unsupported(what: impl Into<String>, legal: &str) -> QuestionError {
    QuestionError::new(what, "is not understood", legal)
}

/// A clause's name, and true if the clause is present.
type Clause = (&'static str, bool);

pub(super) fn none_of(clauses: &[Clause]) -> Result<(), QuestionError> {
    match clauses.iter().find(|(_, there)| *there) {
        Some((name, _)) => Err(unsupported(*name, SHAPE)),
        None => Ok(()),
    }
}

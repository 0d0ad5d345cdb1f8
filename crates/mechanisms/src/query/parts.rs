//! What is added up for a query.

use super::Kind;
use super::moments;
use super::summand::Of;
use counterpoint::Relation;

/// What is added up here: all but the number of records, which is the first, if that is released elsewhere.
pub(super) fn own_parts(
    mut parts: Vec<(Of, [usize; 2])>,
    has_outside_count: bool,
) -> Vec<(Of, [usize; 2])> {
    if has_outside_count && !parts.is_empty() {
        parts.remove(0);
    }
    parts
}

/// What is added up for a query. The number of records is among it unless it is public.
pub(super) fn parts(kind: &Kind, relation: Relation) -> Vec<Of> {
    let public = relation.is_length_public();
    match kind {
        Kind::Count(within) => vec![Of::Ones(*within)],
        Kind::Sum(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Sum(bounds) => vec![Of::Values(*bounds)],
        Kind::Mean(bounds) if public => vec![Of::Offsets(*bounds)],
        Kind::Mean(bounds) => vec![Of::Ones(None), Of::Offsets(*bounds)],
        Kind::Variance(bounds) | Kind::Deviation(bounds) if public => {
            vec![Of::Offsets(*bounds), Of::Squares(*bounds)]
        }
        Kind::Variance(bounds) | Kind::Deviation(bounds) => {
            vec![Of::Ones(None), Of::Offsets(*bounds), Of::Squares(*bounds)]
        }
        Kind::Proportion(bounds) if public => vec![Of::Ones(Some(*bounds))],
        Kind::Proportion(bounds) => vec![Of::Ones(None), Of::Sides(*bounds)],
        // These are no sums.
        Kind::Histogram(_) | Kind::Quantile { .. } => Vec::new(),
        Kind::Cumulative(_) | Kind::Quantiles { .. } => Vec::new(),
        // These are of several columns.
        Kind::Covariance(..) | Kind::Correlation(..) | Kind::Regression { .. } => Vec::new(),
    }
}

/// The same with the columns that each is of.
pub(super) fn placed(kind: &Kind, relation: Relation) -> Vec<(Of, [usize; 2])> {
    match kind {
        Kind::Covariance(x, y) => moments::of_two(*x, *y, relation.is_length_public()),
        Kind::Correlation(x, y) => moments::of_correlation(*x, *y, relation.is_length_public()),
        Kind::Regression { predictors, outcome } => {
            moments::of_line(predictors, *outcome, relation.is_length_public())
        }
        other => parts(other, relation).into_iter().map(|of| (of, [0, 0])).collect(),
    }
}

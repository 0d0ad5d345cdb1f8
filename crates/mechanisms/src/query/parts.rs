//! The terms whose sums answer a query.

use super::QueryKind;
use super::moments;
use super::summand::Term;
use counterpoint::Relation;

/// The terms that the measurement sums itself: all but the number of records, which is the first, if another
/// measurement releases that.
pub(super) fn own_parts(
    mut parts: Vec<(Term, [usize; 2])>,
    has_outside_count: bool,
) -> Vec<(Term, [usize; 2])> {
    if has_outside_count && !parts.is_empty() {
        parts.remove(0);
    }
    parts
}

/// The terms of a query of one column. The number of records is among them unless it is public.
pub(super) fn parts(kind: &QueryKind, relation: Relation) -> Vec<Term> {
    let public = relation.is_length_public();
    match kind {
        QueryKind::Count(within) => vec![Term::Ones(*within)],
        QueryKind::Sum(bounds) if public => vec![Term::Offsets(*bounds)],
        QueryKind::Sum(bounds) => vec![Term::Values(*bounds)],
        QueryKind::Mean(bounds) if public => vec![Term::Offsets(*bounds)],
        QueryKind::Mean(bounds) => vec![Term::Ones(None), Term::Offsets(*bounds)],
        QueryKind::Variance(bounds) | QueryKind::Deviation(bounds) if public => {
            vec![Term::Offsets(*bounds), Term::Squares(*bounds)]
        }
        QueryKind::Variance(bounds) | QueryKind::Deviation(bounds) => {
            vec![Term::Ones(None), Term::Offsets(*bounds), Term::Squares(*bounds)]
        }
        QueryKind::Proportion(bounds) if public => vec![Term::Ones(Some(*bounds))],
        QueryKind::Proportion(bounds) => vec![Term::Ones(None), Term::Sides(*bounds)],
        // These are counted, not summed.
        QueryKind::Histogram(_) | QueryKind::Quantile { .. } => Vec::new(),
        QueryKind::Cumulative(_) | QueryKind::Quantiles { .. } => Vec::new(),
        // These have several columns.
        QueryKind::Covariance(..) | QueryKind::Correlation(..) | QueryKind::Regression { .. } => {
            Vec::new()
        }
    }
}

/// The terms of a query, each with its columns.
pub(super) fn placed(kind: &QueryKind, relation: Relation) -> Vec<(Term, [usize; 2])> {
    match kind {
        QueryKind::Covariance(x, y) => moments::of_two(*x, *y, relation.is_length_public()),
        QueryKind::Correlation(x, y) => {
            moments::of_correlation(*x, *y, relation.is_length_public())
        }
        QueryKind::Regression { predictors, outcome } => {
            moments::of_line(predictors, *outcome, relation.is_length_public())
        }
        other => parts(other, relation).into_iter().map(|term| (term, [0, 0])).collect(),
    }
}

//! What a release asks for, of data in which a person may have several records.

use counterpoint::{Count, Mechanism, Relation};
use counterpoint_budget::Query;
use counterpoint_wire::ledger::Described;

use super::error::{LedgerError, Result};

/// What a release asks for in a ledger of a format. A person with several records may be in several parts of the data,
/// and in a sample by any of their records: what is proved of parts and of samples is about
/// people with one.
pub(crate) fn query(relation: Relation, described: &Described, format: u64) -> Result<Query> {
    legal(relation, described.query_in(format)?, format)
}

/// What one opening of a slot asks for: all that is run in it together.
pub(crate) fn opening(
    relation: Relation,
    described: &Described,
    format: u64,
) -> Result<Vec<Query>> {
    let opening = described.opening_in(format)?.into_iter();
    opening.map(|query| legal(relation, query, format)).collect()
}

/// So many openings: each of their queries so many times as often.
pub(crate) fn times(opening: Vec<Query>, count: Count) -> Result<Vec<Query>> {
    let times = |query: Query| {
        let all = Count::new(query.count().get().saturating_mul(count.get()))?;
        Ok(query.times(all))
    };
    opening.into_iter().map(times).collect()
}

fn legal(relation: Relation, query: Query, format: u64) -> Result<Query> {
    let is_sampled = query.release().rate.is_some_and(|rate| rate.get() < 1.0);
    let mechanism = &query.release().mechanism;
    // Before 4 a shift that is drawn was taken for a person's.
    let is_shift = matches!(mechanism, Mechanism::GaussianMixture { .. });
    let drawn_by = mechanism.drawn_by().filter(|_| format >= 4 || !is_shift);
    let field = match query.part() {
        Some(_) => Some("partition"),
        None if is_sampled => Some("rate"),
        None => drawn_by,
    };
    match field {
        Some(field) if relation.records() > 1 => {
            Err(LedgerError::SeveralRecords { field, records: relation.records() })
        }
        _ => Ok(query),
    }
}

//! Converts releases to queries. Refuses releases whose theorem is about people with one record, if a person may have
//! several.

use counterpoint::{Count, Mechanism, Relation};
use counterpoint_budget::Query;
use counterpoint_wire::ledger::ReleaseRecord;

use super::error::{LedgerError, Result};

/// The query of a release under a version of the format. A person with several records may be in several parts of the
/// data, and in a sample by any of their records. The theorems about parts and samples hold for people with one record.
pub(crate) fn query(relation: Relation, described: &ReleaseRecord, format: u64) -> Result<Query> {
    check_records(relation, described.query_in(format)?, format)
}

/// The queries of one opening of a slot, which run together.
pub(crate) fn opening(
    relation: Relation,
    described: &ReleaseRecord,
    format: u64,
) -> Result<Vec<Query>> {
    let opening = described.opening_queries(format)?.into_iter();
    opening.map(|query| check_records(relation, query, format)).collect()
}

/// The queries of several openings: each query is repeated once per opening.
pub(crate) fn times(opening: Vec<Query>, count: Count) -> Result<Vec<Query>> {
    let times = |query: Query| {
        let all = Count::new(query.count().get().saturating_mul(count.get()))?;
        Ok(query.times(all))
    };
    opening.into_iter().map(times).collect()
}

fn check_records(relation: Relation, query: Query, format: u64) -> Result<Query> {
    let is_sampled = query.release().rate.is_some_and(|rate| rate.get() < 1.0);
    let mechanism = &query.release().mechanism;
    // Before version 4, random shifts were accepted with several records per person.
    let is_shift = matches!(mechanism, Mechanism::GaussianMixture { .. });
    let sampling_field = mechanism.sampling_field().filter(|_| format >= 4 || !is_shift);
    let field = match query.part() {
        Some(_) => Some("partition"),
        None if is_sampled => Some("rate"),
        None => sampling_field,
    };
    match field {
        Some(field) if relation.records() > 1 => {
            Err(LedgerError::SeveralRecords { field, records: relation.records() })
        }
        _ => Ok(query),
    }
}

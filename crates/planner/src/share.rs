//! Counts of rows that several statistics share.

use crate::family::Family;
use crate::study::{
    AccuracyTarget, Noise, Population, PublicFacts, QueryRequest, StatisticContent, Study,
    StudyError,
};
use counterpoint_mechanisms::Query;

/// A count of rows that is released once and used by all statistics that name it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SharedCount {
    pub(crate) name: String,
    pub(crate) population: Population,
    pub(crate) noise: Noise,
    pub(crate) level: f64,
}

/// The confidence of the half-width of a shared count.
pub(crate) const CONFIDENCE: f64 = 0.95;

impl SharedCount {
    /// The family of the count.
    pub(crate) fn family(&self, public: &PublicFacts) -> Result<Family, StudyError> {
        let wanted = QueryRequest {
            query: Query::count(),
            noise: Some(self.noise),
            confidence: CONFIDENCE,
            target: AccuracyTarget::PinnedLevel(self.level),
            scale: 1.0,
            population: Some(self.population.clone()),
        };
        let families = Family::all(&wanted, public)?;
        let none = || StudyError::new("kind", "has no noise for a count of its rows");
        families.into_iter().next().ok_or_else(none)
    }

    /// The query of a statistic that names this count.
    pub(crate) fn is_named_by<'a>(
        &self,
        study: &'a Study,
        place: usize,
    ) -> Option<&'a QueryRequest> {
        let wanted = asked(study, place)?;
        (count_of(wanted) == Some(self.name.as_str())).then_some(wanted)
    }
}

/// The query of a statistic, if it has one.
pub(crate) fn asked(study: &Study, place: usize) -> Option<&QueryRequest> {
    match &study.statistics().get(place)?.content {
        StatisticContent::Query(wanted) => Some(wanted),
        StatisticContent::HeldBack(_) | StatisticContent::Public(_) => None,
    }
}

/// The name of the count of the query's rows.
pub(crate) fn count_of(wanted: &QueryRequest) -> Option<&str> {
    wanted.population.as_ref()?.count.as_deref()
}

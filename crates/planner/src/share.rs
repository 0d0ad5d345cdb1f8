//! A count of rows that several statistics share.

use crate::family::Family;
use crate::study::{Ask, Noise, Population, Public, Study, StudyError, Wanted, Wish};
use counterpoint_mechanisms::Query;

/// A count of rows that is released once, and used by all statistics that name it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    pub(crate) name: String,
    pub(crate) population: Population,
    pub(crate) noise: Noise,
    pub(crate) level: f64,
}

/// How often the half-width of a shared count is kept.
pub(crate) const CONFIDENCE: f64 = 0.95;

impl Share {
    /// The count, at every level of noise.
    pub(crate) fn family(&self, public: &Public) -> Result<Family, StudyError> {
        let wanted = Wanted {
            query: Query::count(),
            noise: Some(self.noise),
            confidence: CONFIDENCE,
            wish: Wish::Level(self.level),
            scale: 1.0,
            population: Some(self.population.clone()),
        };
        let families = Family::all(&wanted, public)?;
        let none = || StudyError::new("kind", "has no noise for a count of its rows");
        families.into_iter().next().ok_or_else(none)
    }

    /// What is wanted of a statistic, if it names this count.
    pub(crate) fn is_named_by<'a>(&self, study: &'a Study, place: usize) -> Option<&'a Wanted> {
        let wanted = asked(study, place)?;
        (count_of(wanted) == Some(self.name.as_str())).then_some(wanted)
    }
}

/// What is wanted of a statistic, if it is a question.
pub(crate) fn asked(study: &Study, place: usize) -> Option<&Wanted> {
    match &study.statistics().get(place)?.ask {
        Ask::Query(wanted) => Some(wanted),
        Ask::HeldBack(_) | Ask::Public(_) => None,
    }
}

/// The name of the count of its rows.
pub(crate) fn count_of(wanted: &Wanted) -> Option<&str> {
    wanted.population.as_ref()?.count.as_deref()
}

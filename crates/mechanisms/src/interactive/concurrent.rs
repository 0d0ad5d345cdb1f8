//! Many sessions about the same data, side by side, under one plan.

use super::{InteractiveMechanism, Session};
use crate::data::Data;
use crate::error::Error;
use counterpoint::quantity::GroupSize;
use counterpoint::{Answer, Delta, Epsilon, Options, Plan, Release};
use std::collections::BTreeMap;

/// Sessions that were all declared before any was opened. Their questions may be interleaved in any way, by any number
/// of analysts, who may exchange answers: the total cost is the composition of the declarations (Lyu 2022, Theorem 1;
/// Vadhan and Zhang 2023).
///
/// ```
/// use counterpoint::{Adjacency, Delta, Relation};
/// use counterpoint_mechanisms::{ConcurrentSessions, Data, GuessAndCheck, Query, SessionQuery, Sequence};
///
/// let ages = Data::new(Relation::single_record(Adjacency::AddRemove), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// let by_decade: Vec<f64> = (0..=10).map(|decade| 10.0 * f64::from(decade)).collect();
/// let histogram = Query::histogram(&by_decade)?.laplace(0.5)?;
/// let all = ConcurrentSessions::open(&ages, [
///     ("ann", GuessAndCheck::new(0.25, 3, 10.0)?.into()),
///     ("bob", Sequence::new([histogram.clone()])?.into()),
/// ])?;
/// println!("{:?}", all.session("bob")?.ask(&SessionQuery::Measure(histogram))?);
/// let total = all.epsilon(Delta::new(1e-6)?)?;
/// assert!(total.bracket.upper <= 4.0 * 0.25 + 0.5 + 1e-9);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Debug)]
pub struct ConcurrentSessions {
    plan: Plan,
    releases: Vec<Release>,
    sessions: BTreeMap<String, Session>,
}

impl ConcurrentSessions {
    /// Declares the plan, then opens every session on the same data.
    ///
    /// # Errors
    /// [`Error::Name`] if two have the same name, [`Error::Plan`] if they cannot be composed; otherwise as for
    /// [`InteractiveMechanism::open`].
    pub fn open<'a>(
        data: &Data,
        declared: impl IntoIterator<Item = (&'a str, InteractiveMechanism)>,
    ) -> Result<Self, Error> {
        Self::open_on_columns(declared.into_iter().map(|(name, one)| (name, one, data.clone())))
    }

    /// As [`ConcurrentSessions::open`], with a column for each session. **Columns are of the same people, row by row**:
    /// neighbours differ in the same rows of all columns.
    ///
    /// # Errors
    /// As for [`ConcurrentSessions::open`]; [`Error::Relation`] unless all columns have one relation, [`Error::Length`]
    /// unless they have equal lengths.
    pub fn open_on_columns<'a>(
        declared: impl IntoIterator<Item = (&'a str, InteractiveMechanism, Data)>,
    ) -> Result<Self, Error> {
        let protocol = |(name, one, data): (&'a str, InteractiveMechanism, Data)| {
            Ok((name, one.under(data.relation())?, data))
        };
        let declared = declared.into_iter().map(protocol).collect::<Result<Vec<_>, Error>>()?;
        let first = declared.first().map(|(.., data)| data.clone());
        if let Some(first) = &first {
            declared.iter().try_for_each(|(.., data)| data.check_alignment(first))?;
        }
        let releases: Vec<Release> =
            declared.iter().flat_map(|(_, one, _)| one.releases().to_vec()).collect();
        let adjacency = first.map(|first| first.relation().adjacency());
        let plan = Plan::for_neighbours(releases.iter().cloned(), adjacency, GroupSize::ONE)?;
        let mut sessions = BTreeMap::new();
        for (name, protocol, data) in declared {
            if sessions.insert(name.to_owned(), Session::begin(protocol, data)?).is_some() {
                return Err(Error::Name { name: name.to_owned(), problem: "declared twice" });
            }
        }
        Ok(Self { plan, releases, sessions })
    }

    /// Returns the session with this name.
    ///
    /// # Errors
    /// [`Error::Name`] if there is no such session.
    pub fn session(&self, name: &str) -> Result<&Session, Error> {
        let problem = "not among those declared";
        self.sessions.get(name).ok_or_else(|| Error::Name { name: name.to_owned(), problem })
    }

    /// The sessions with their names.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &Session)> {
        self.sessions.iter().map(|(name, session)| (name.as_str(), session))
    }

    /// The releases of all declarations.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The plan of all declarations.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The certified total cost, epsilon at a delta, whatever is asked and answered.
    ///
    /// # Errors
    /// [`Error::Ask`] if there is no answer at this delta.
    pub fn epsilon(&self, delta: Delta) -> Result<Answer, Error> {
        Ok(self.plan.epsilon(delta, &Options::default())?)
    }

    /// The certified total cost, delta at an epsilon, whatever is asked and answered.
    ///
    /// # Errors
    /// [`Error::Ask`] if there is no answer.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Answer, Error> {
        Ok(self.plan.delta(epsilon, &Options::default())?)
    }
}

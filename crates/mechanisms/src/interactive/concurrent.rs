//! Many sessions about the same data, side by side, under one plan.

use super::{Interactive, Session};
use crate::data::Data;
use crate::error::Error;
use counterpoint::quantity::Group;
use counterpoint::{Answer, Delta, Epsilon, Options, Plan, Release};
use std::collections::BTreeMap;

/// Sessions that were all declared before any was opened. Their questions may be interleaved
/// in any way, by any number of analysts who may talk to each other: what everything costs
/// together is the composition of the declarations (Lyu 2022, Theorem 1; Vadhan and Zhang
/// 2023).
///
/// ```
/// use counterpoint::{Adjacency, Delta, Relation};
/// use counterpoint_mechanisms::{Concurrent, Data, GuessAndCheck, Query, Question, Sequence};
///
/// let ages = Data::new(Relation::one(Adjacency::AddRemove), [31.0, 45.0, 27.0, 62.0, 38.0]);
/// let by_decade: Vec<f64> = (0..=10).map(|decade| 10.0 * f64::from(decade)).collect();
/// let histogram = Query::histogram(&by_decade)?.laplace(0.5)?;
/// let all = Concurrent::open(&ages, [
///     ("ann", GuessAndCheck::new(0.25, 3, 10.0)?.into()),
///     ("bob", Sequence::new([histogram.clone()])?.into()),
/// ])?;
/// println!("{:?}", all.session("bob")?.ask(&Question::Measure(histogram))?);
/// let total = all.epsilon(Delta::new(1e-6)?)?;
/// assert!(total.bracket.upper <= 4.0 * 0.25 + 0.5 + 1e-9);
/// # Ok::<(), counterpoint_mechanisms::Error>(())
/// ```
#[derive(Debug)]
pub struct Concurrent {
    plan: Plan,
    releases: Vec<Release>,
    sessions: BTreeMap<String, Session>,
}

impl Concurrent {
    /// Declares the plan, then opens every session on the same data.
    ///
    /// # Errors
    /// [`Error::Name`] if two have the same name, [`Error::Plan`] if they cannot be composed;
    /// otherwise as [`Interactive::open`].
    pub fn open<'a>(
        data: &Data,
        declared: impl IntoIterator<Item = (&'a str, Interactive)>,
    ) -> Result<Self, Error> {
        Self::over(declared.into_iter().map(|(name, one)| (name, one, data.clone())))
    }

    /// The same where each session sees a column of its own. **Columns are of the same people,
    /// row by row**: a neighbour differs in the same rows of all of them.
    ///
    /// # Errors
    /// As [`Concurrent::open`]; [`Error::Relation`] unless all columns are of one relation,
    /// [`Error::Length`] unless they are equally long.
    pub fn over<'a>(
        declared: impl IntoIterator<Item = (&'a str, Interactive, Data)>,
    ) -> Result<Self, Error> {
        let protocol = |(name, one, data): (&'a str, Interactive, Data)| {
            Ok((name, one.under(data.relation())?, data))
        };
        let declared = declared.into_iter().map(protocol).collect::<Result<Vec<_>, Error>>()?;
        let first = declared.first().map(|(.., data)| data.clone());
        if let Some(first) = &first {
            declared.iter().try_for_each(|(.., data)| data.is_beside(first))?;
        }
        let releases: Vec<Release> =
            declared.iter().flat_map(|(_, one, _)| one.releases().to_vec()).collect();
        let adjacency = first.map(|first| first.relation().adjacency());
        let plan = Plan::with(releases.iter().cloned(), adjacency, Group::ONE)?;
        let mut sessions = BTreeMap::new();
        for (name, protocol, data) in declared {
            if sessions.insert(name.to_owned(), Session::begin(protocol, data)?).is_some() {
                return Err(Error::Name { name: name.to_owned(), problem: "declared twice" });
            }
        }
        Ok(Self { plan, releases, sessions })
    }

    /// A session by its name.
    ///
    /// # Errors
    /// [`Error::Name`] if none has it.
    pub fn session(&self, name: &str) -> Result<&Session, Error> {
        let problem = "not among those declared";
        self.sessions.get(name).ok_or_else(|| Error::Name { name: name.to_owned(), problem })
    }

    /// The names with their sessions.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, &Session)> {
        self.sessions.iter().map(|(name, session)| (name.as_str(), session))
    }

    /// All that was declared.
    #[must_use]
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// The plan made of it.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The certified total: epsilon at a delta, whatever was asked and answered.
    ///
    /// # Errors
    /// [`Error::Ask`] if there is no answer at this delta.
    pub fn epsilon(&self, delta: Delta) -> Result<Answer, Error> {
        Ok(self.plan.epsilon(delta, &Options::default())?)
    }

    /// The certified total: delta at an epsilon.
    ///
    /// # Errors
    /// [`Error::Ask`] if there is no answer.
    pub fn delta(&self, epsilon: Epsilon) -> Result<Answer, Error> {
        Ok(self.plan.delta(epsilon, &Options::default())?)
    }
}

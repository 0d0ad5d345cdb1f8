//! One query answered for each of several groups of records: how far one person moves all answers together, and the
//! charge for that (theory 11.10).

use super::ends::CHOICES;
use super::measurement::{Measurement, MeasurementBody};
use super::noises::rounded_up;
use super::noisy_query::{NoisyQuery, Style};
use super::parts::{own_parts, placed};
use super::summand::{Summand, Term};
use super::{QueryKind, score_sensitivity};
use crate::choice::Exponential;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{MOST_SIGMA, Noise};
use counterpoint::quantity::{Delta, Rho};
use counterpoint::{Adjacency, Count, Guarantee, Mechanism, Relation, Release};

/// Limits on the spread of a person's records over groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupLimits {
    /// The largest number of a person's records that are used.
    rows: u64,
    /// The largest number of these records in one group.
    rows_per_group: u64,
    /// The largest number of groups that contain these records.
    groups: u64,
}

impl GroupLimits {
    /// At most `rows` records of a person, at most `each` of them in one group, in at most `groups` groups.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless all are from 1 to 10,000.
    pub fn new(rows: u64, each: u64, groups: u64) -> Result<Self, Error> {
        let legal = "a whole number from 1 to 10000";
        for (what, number) in [("rows", rows), ("rows in a group", each), ("groups", groups)] {
            check((1..=10_000).contains(&number), what, number as f64, legal)?;
        }
        let each = each.min(rows);
        let rows = rows.min(each.saturating_mul(groups));
        Ok(Self { rows, rows_per_group: each, groups: groups.min(rows) })
    }

    /// The largest number of a person's records that are used.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The largest number of these records in one group.
    #[must_use]
    pub fn rows_per_group(&self) -> u64 {
        self.rows_per_group
    }

    /// The largest number of groups that contain these records.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// The largest sum of squares of a person's counts in the groups: as many groups as possible are full, and one has
    /// the rest. (Moving a record to a fuller group increases the sum.)
    fn squares(&self) -> u64 {
        let (full, rest) = (self.rows / self.rows_per_group, self.rows % self.rows_per_group);
        full * self.rows_per_group * self.rows_per_group + rest * rest
    }

    /// The number of records that are added or removed: if people are replaced, those of both people.
    fn moves(&self, relation: Relation) -> u64 {
        match relation.adjacency() {
            Adjacency::AddRemove => self.rows,
            Adjacency::Replace => 2 * self.rows,
        }
    }

    /// An upper bound on the change of all groups' numbers in Euclidean norm, if a record moves one number up by at
    /// most `up` or down by at most `down`.
    ///
    /// If people are replaced, n records come to a group and m leave it: its number moves by at most an + bm or am +
    /// bn, a being the larger of the two limits and b the smaller; the square of that is at most (a^2 + b^2)(n^2 +
    /// m^2).
    fn far(&self, relation: Relation, ends: [f64; 2]) -> f64 {
        let [up, down] = ends;
        let square = match relation.adjacency() {
            Adjacency::AddRemove => up.max(down).powi(2),
            Adjacency::Replace => 2.0 * (up * up + down * down),
        };
        // There are at most seven roundings; the root halves the effect of those before it.
        (self.squares() as f64 * square).sqrt() * (1.0 + 8.0 * f64::EPSILON)
    }
}

/// The contribution bound for the rows that a query is answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contribution {
    /// One answer from rows under this relation.
    Rows(Relation),
    /// One answer for each of several groups of rows.
    Groups(Relation, GroupLimits),
}

impl Contribution {
    /// The relation of the records of one answer.
    pub(super) fn within(self) -> Result<Relation, Error> {
        match self {
            Self::Rows(relation) => Ok(relation),
            // The records of one group, for the size and the accuracy of its answer.
            Self::Groups(relation, limits) => {
                Ok(Relation::new(Adjacency::AddRemove, limits.moves(relation))?)
            }
        }
    }
}

impl NoisyQuery {
    /// The measurement under a contribution bound.
    ///
    /// # Errors
    /// As for [`NoisyQuery::under`] and [`NoisyQuery::under_groups`].
    pub fn bounded(&self, contribution: Contribution) -> Result<Measurement, Error> {
        match contribution {
            Contribution::Rows(relation) => self.under(relation),
            Contribution::Groups(relation, limits) => self.under_groups(relation, limits),
        }
    }

    /// The measurement that answers for each of several groups of records under this relation, with *all groups charged
    /// together*: [`Measurement::releases`] is the cost of all groups' answers. No record is in two groups.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for staircase noise if a person moves several records, and for cumulative counts.
    /// [`Error::OutOfRange`] for Gaussian noise above 2^20 grid steps, and if two people have more than 10,000 records.
    pub fn under_groups(
        &self,
        relation: Relation,
        limits: GroupLimits,
    ) -> Result<Measurement, Error> {
        self.under_groups_with(relation, limits, None)
    }

    /// As [`NoisyQuery::under_groups`], with a count of each group that another measurement releases.
    pub(super) fn under_groups_with(
        &self,
        relation: Relation,
        limits: GroupLimits,
        count: Option<&Measurement>,
    ) -> Result<Measurement, Error> {
        let moves = limits.moves(relation);
        let moved = GroupChange { relation, limits, moves };
        let within = Contribution::Groups(relation, limits).within()?;
        let (body, releases) = match (&self.query.kind, self.style) {
            (QueryKind::Quantile { share, .. }, Style::Exponential { epsilon }) => {
                let (choice, release) = moved.choice(epsilon, *share)?;
                (MeasurementBody::Choice(choice), vec![release])
            }
            (QueryKind::Quantiles { shares, .. }, Style::Exponential { epsilon }) => {
                let each = epsilon / shares.len() as f64;
                let choices = shares.iter().map(|share| moved.choice(each, *share));
                let choices = choices.collect::<Result<Vec<_>, Error>>()?;
                let (choices, releases) = choices.into_iter().unzip();
                (MeasurementBody::Choices(choices), releases)
            }
            (_, Style::ExponentialInterval { epsilon, confidence }) => {
                let (shares, _) = self.query.choice().unwrap_or_default();
                let each = epsilon / (CHOICES * shares.len() as u64) as f64;
                let choice = |share: &(u32, u32)| {
                    let (choice, release) = moved.choice(each, *share)?;
                    Ok((choice, Release { count: Count::new(CHOICES)?, ..release }))
                };
                let choices = shares.iter().map(choice).collect::<Result<Vec<_>, Error>>()?;
                let (choices, releases) = choices.into_iter().unzip();
                (MeasurementBody::Intervals(choices, confidence), releases)
            }
            (QueryKind::Histogram(_), style) => {
                let (noise, release) = moved.noise(style, [1, 0], Grid::WHOLE)?;
                (MeasurementBody::Bins(noise), vec![release])
            }
            (
                QueryKind::Count(_)
                | QueryKind::Sum(_)
                | QueryKind::Mean(_)
                | QueryKind::Variance(_)
                | QueryKind::Deviation(_)
                | QueryKind::Proportion(_)
                | QueryKind::Covariance(..)
                | QueryKind::Correlation(..)
                | QueryKind::Regression { .. },
                style,
            ) => {
                let list = own_parts(placed(&self.query.kind, within), count.is_some());
                let style = style.shared(list.len() as f64);
                let sums = list.into_iter().map(|(term, columns)| moved.sum(style, term, columns));
                let sums = sums.collect::<Result<Vec<_>, Error>>()?;
                let (sums, releases) = sums.into_iter().unzip();
                (MeasurementBody::Sums(sums), releases)
            }
            (_, style) => {
                let legal = "counts, proportions, sums, means, variances, histograms and quantiles";
                return Err(style.unsuited("a query about groups", legal));
            }
        };
        Ok(Measurement::made(self.clone(), within, body, releases).with_outside_count(count))
    }
}

/// The change between neighbouring data sets.
#[derive(Clone, Copy)]
struct GroupChange {
    relation: Relation,
    limits: GroupLimits,
    /// The number of records that are added or removed.
    moves: u64,
}

impl GroupChange {
    fn sum(
        &self,
        style: Style,
        term: Term,
        columns: [usize; 2],
    ) -> Result<((Summand, Noise), Release), Error> {
        let (low, high) = term.range();
        let reach = match style {
            Style::Gaussian { .. } => {
                self.limits.far(self.relation, [high.max(0.0), (-low).max(0.0)])
            }
            _ => self.moves as f64 * high.abs().max(low.abs()),
        };
        let grid = match (term, style) {
            (Term::Ones(_), Style::Gaussian { .. }) => style.grid(reach)?.coarser(Grid::WHOLE),
            (Term::Ones(_), _) => Grid::WHOLE,
            _ => style.grid(reach)?,
        };
        let summand = Summand::at(term, columns, grid);
        // Each group's sum is rounded separately, so a record counts as whole steps.
        let (noise, release) = self.noise(style, summand.steps_of_one(), grid)?;
        Ok(((summand, noise), release))
    }

    /// The noise for numbers of which a record moves one by at most `ends` steps up or down, and the cost of all of
    /// them. If one record moves, one number moves, and the noise is charged as it is. If one record replaces another
    /// and records only move numbers upward, then two numbers move by at most that many steps, or one number by no
    /// more: two releases, as for the bins of a histogram. (If records moved numbers both ways, one number could move
    /// by twice as many steps.)
    fn noise(&self, style: Style, ends: [u64; 2], grid: Grid) -> Result<(Noise, Release), Error> {
        let [up, down] = ends;
        let steps = up.max(down).max(1);
        if self.moves == 1 {
            let noise = style.noise(steps, grid)?;
            let release = Release::from((noise.mechanism(), Count::ONE));
            return Ok((noise, release));
        }
        if self.moves == 2 && self.limits.rows == 1 && up.min(down) == 0 {
            let noise = style.shared(2.0).noise(steps, grid)?;
            let release = Release::from((noise.mechanism(), Count::new(2)?));
            return Ok((noise, release));
        }
        let all = self.moves.saturating_mul(steps);
        match style {
            Style::Laplace { epsilon } => {
                let noise = style.noise(all, grid)?;
                Ok((noise, (Mechanism::from(Guarantee::pure(epsilon)?), Count::ONE).into()))
            }
            Style::Gaussian { multiplier } => {
                let far = self.limits.far(self.relation, ends.map(|steps| steps as f64)).max(1.0);
                let sigma = rounded_up(far, multiplier);
                let legal = "at most 2^20 grid steps divided by the sensitivity of all answers";
                check(sigma <= MOST_SIGMA, "multiplier", multiplier, legal)?;
                let noise = Noise::gaussian(sigma * grid.step(), all as f64 * grid.step(), grid)?;
                // rho = |shift|^2 / (2 sigma^2), number by number (Canonne, Kamath and Steinke 2020).
                let rho = 0.5 * (far / sigma) * (far / sigma);
                let rho = rho.next_up().next_up().next_up().next_up();
                let mechanism = Mechanism::Zcdp { rho: Rho::new(rho)?, delta: Delta::new(0.0)? };
                Ok((noise, (mechanism, Count::ONE).into()))
            }
            _ => Err(style.unsuited("groups of several records a person", "laplace, gaussian")),
        }
    }

    /// A choice in each group. If k of a person's records move in a group, the losses of its choice lie in a range of
    /// epsilon times k divided by the number of all moving records. The ranges add up: all choices together have the
    /// range epsilon.
    fn choice(&self, epsilon: f64, share: (u32, u32)) -> Result<(Exponential, Release), Error> {
        let one = score_sensitivity(share, Relation::single_record(Adjacency::AddRemove));
        let choice = Exponential::new(epsilon, one * self.moves)?;
        let release = Release::from((choice.mechanism(), Count::ONE));
        Ok((choice, release))
    }
}

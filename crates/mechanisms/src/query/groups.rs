//! One question answered for each of several groups of the records: how far one person moves all answers together, and
//! what that is charged as (theory 11.10).

use super::ends::CHOICES;
use super::measurement::{Body, Measurement};
use super::noises::rounded_up;
use super::parts::{own_parts, placed};
use super::recipe::{Recipe, Style};
use super::summand::{Of, Summand};
use super::{Kind, score_sensitivity};
use crate::choice::Exponential;
use crate::error::{Error, check};
use crate::grid::Grid;
use crate::noise::{MOST_SIGMA, Noise};
use counterpoint::quantity::{Delta, Rho};
use counterpoint::{Adjacency, Count, Guarantee, Mechanism, Relation, Release};

/// How a person's records are spread over groups at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spread {
    /// All records of a person that are used.
    rows: u64,
    /// Those in one group.
    each: u64,
    /// Groups that they are in.
    groups: u64,
}

impl Spread {
    /// At most so many records of a person, so many of them in one group, in so many groups.
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
        Ok(Self { rows, each, groups: groups.min(rows) })
    }

    /// All records of a person that are used.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Those in one group.
    #[must_use]
    pub fn each(&self) -> u64 {
        self.each
    }

    /// Groups that they are in.
    #[must_use]
    pub fn groups(&self) -> u64 {
        self.groups
    }

    /// The largest sum of squares of how many there are in each group: as many groups as can be are full, one has the
    /// rest. (Moving a record to a fuller group makes it larger.)
    fn squares(&self) -> u64 {
        let (full, rest) = (self.rows / self.each, self.rows % self.each);
        full * self.each * self.each + rest * rest
    }

    /// How many records come and go: where people are replaced, somebody's and somebody else's.
    fn moves(&self, relation: Relation) -> u64 {
        match relation.adjacency() {
            Adjacency::AddRemove => self.rows,
            Adjacency::Replace => 2 * self.rows,
        }
    }

    /// How far the numbers of all groups move in Euclidean norm, if a record moves one of them at most so far up or down.
    ///
    /// Where people are replaced, n records come to a group of which m go: it moves by at most an + bm or am + bn, a being
    /// the larger of the two and b the smaller, and the square of that is at most (a^2 + b^2)(n^2 + m^2).
    fn far(&self, relation: Relation, ends: [f64; 2]) -> f64 {
        let [up, down] = ends;
        let square = match relation.adjacency() {
            Adjacency::AddRemove => up.max(down).powi(2),
            Adjacency::Replace => 2.0 * (up * up + down * down),
        };
        // Seven roundings at most, of which the root halves those before it.
        (self.squares() as f64 * square).sqrt() * (1.0 + 8.0 * f64::EPSILON)
    }
}

/// The bound on what one person contributes to the rows that a question is answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contribution {
    /// One answer from rows of this relation.
    Rows(Relation),
    /// An answer for each of several groups of the rows.
    Groups(Relation, Spread),
}

impl Contribution {
    /// The relation of the records that one answer is made of.
    pub(super) fn within(self) -> Result<Relation, Error> {
        match self {
            Self::Rows(relation) => Ok(relation),
            // One group's records, as far as its size and its answer's accuracy go.
            Self::Groups(relation, spread) => {
                Ok(Relation::new(Adjacency::AddRemove, spread.moves(relation))?)
            }
        }
    }
}

impl Recipe {
    /// The measurement under a contribution bound.
    ///
    /// # Errors
    /// As for [`Recipe::under`] and [`Recipe::under_groups`].
    pub fn bounded(&self, contribution: Contribution) -> Result<Measurement, Error> {
        match contribution {
            Contribution::Rows(relation) => self.under(relation),
            Contribution::Groups(relation, spread) => self.under_groups(relation, spread),
        }
    }

    /// Made ready to be answered for each of several groups of the records of data of this relation, *all of them
    /// charged together*: [`Measurement::releases`] is what all groups' answers cost. No record is in two groups.
    ///
    /// # Errors
    /// [`Error::Unsuited`] for staircase noise where several records move, and for cumulative counts; [`Error::OutOfRange`] for Gaussian noise that would be beyond 2^20
    /// grid steps, and where a person and another have more than 10,000 records.
    pub fn under_groups(&self, relation: Relation, spread: Spread) -> Result<Measurement, Error> {
        self.under_groups_with(relation, spread, None)
    }

    /// The same, with a count of each group that is released elsewhere.
    pub(super) fn under_groups_with(
        &self,
        relation: Relation,
        spread: Spread,
        count: Option<&Measurement>,
    ) -> Result<Measurement, Error> {
        let moves = spread.moves(relation);
        let moved = Moved { relation, spread, moves };
        let within = Contribution::Groups(relation, spread).within()?;
        let (body, releases) = match (&self.query.kind, self.style) {
            (Kind::Quantile { share, .. }, Style::Exponential { epsilon }) => {
                let (choice, release) = moved.choice(epsilon, *share)?;
                (Body::Choice(choice), vec![release])
            }
            (Kind::Quantiles { shares, .. }, Style::Exponential { epsilon }) => {
                let each = epsilon / shares.len() as f64;
                let choices = shares.iter().map(|share| moved.choice(each, *share));
                let choices = choices.collect::<Result<Vec<_>, Error>>()?;
                let (choices, releases) = choices.into_iter().unzip();
                (Body::Choices(choices), releases)
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
                (Body::Intervals(choices, confidence), releases)
            }
            (Kind::Histogram(_), style) => {
                let (noise, release) = moved.noise(style, [1, 0], Grid::WHOLE)?;
                (Body::Bins(noise), vec![release])
            }
            (
                Kind::Count(_)
                | Kind::Sum(_)
                | Kind::Mean(_)
                | Kind::Variance(_)
                | Kind::Deviation(_)
                | Kind::Proportion(_)
                | Kind::Covariance(..)
                | Kind::Correlation(..)
                | Kind::Regression { .. },
                style,
            ) => {
                let list = own_parts(placed(&self.query.kind, within), count.is_some());
                let style = style.shared(list.len() as f64);
                let sums = list.into_iter().map(|(of, columns)| moved.sum(style, of, columns));
                let sums = sums.collect::<Result<Vec<_>, Error>>()?;
                let (sums, releases) = sums.into_iter().unzip();
                (Body::Sums(sums), releases)
            }
            (_, style) => {
                let legal = "counts, proportions, sums, means, variances, histograms and quantiles";
                return Err(style.unsuited("a question about groups", legal));
            }
        };
        Ok(Measurement::made(self.clone(), within, body, releases).with_outside_count(count))
    }
}

/// What moves.
#[derive(Clone, Copy)]
struct Moved {
    relation: Relation,
    spread: Spread,
    /// How many records.
    moves: u64,
}

impl Moved {
    fn sum(
        &self,
        style: Style,
        of: Of,
        columns: [usize; 2],
    ) -> Result<((Summand, Noise), Release), Error> {
        let (low, high) = of.range();
        let reach = match style {
            Style::Gaussian { .. } => {
                self.spread.far(self.relation, [high.max(0.0), (-low).max(0.0)])
            }
            _ => self.moves as f64 * high.abs().max(low.abs()),
        };
        let grid = match (of, style) {
            (Of::Ones(_), Style::Gaussian { .. }) => style.grid(reach)?.coarser(Grid::WHOLE),
            (Of::Ones(_), _) => Grid::WHOLE,
            _ => style.grid(reach)?,
        };
        let summand = Summand::at(of, columns, grid);
        // Each group's sum is rounded on its own: a record counts as whole steps.
        let (noise, release) = self.noise(style, summand.steps_of_one(), grid)?;
        Ok(((summand, noise), release))
    }

    /// The noise for numbers of which one record moves one by so many steps up or down, and what all of them cost. Where one
    /// record moves, one number does, and is charged as it is. Where one record is replaced by another and records only move
    /// numbers upward, two numbers move by so many steps, or one by no more than that: two releases, as for the bins of a
    /// histogram. (If records moved numbers both ways, one number could move by twice as many steps.)
    fn noise(&self, style: Style, ends: [u64; 2], grid: Grid) -> Result<(Noise, Release), Error> {
        let [up, down] = ends;
        let steps = up.max(down).max(1);
        if self.moves == 1 {
            let noise = style.noise(steps, grid)?;
            let release = Release::from((noise.mechanism(), Count::ONE));
            return Ok((noise, release));
        }
        if self.moves == 2 && self.spread.rows == 1 && up.min(down) == 0 {
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
                let far = self.spread.far(self.relation, ends.map(|steps| steps as f64)).max(1.0);
                let sigma = rounded_up(far, multiplier);
                let legal =
                    "at most 2^20 steps of the grid over how far one person moves the answers";
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

    /// A choice in each group. One in which so many records move has losses in a range that is as large a part of epsilon as
    /// they are of all, and ranges add up: all choices together have the range epsilon.
    fn choice(&self, epsilon: f64, share: (u32, u32)) -> Result<(Exponential, Release), Error> {
        let one = score_sensitivity(share, Relation::one(Adjacency::AddRemove));
        let choice = Exponential::new(epsilon, one * self.moves)?;
        let release = Release::from((choice.mechanism(), Count::ONE));
        Ok((choice, release))
    }
}

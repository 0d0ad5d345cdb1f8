//! Fits a study to its budget: all requested errors are multiplied by one factor.

use crate::cost::{Composer, CostError};
use crate::family::{Family, Interpolation};
use crate::price;
use crate::root::{RootBracket, Search, search};
use crate::share::SharedCount;
use crate::study::{AccuracyTarget, QueryRequest, StatisticContent, Study, StudyError};
use counterpoint::{Answer, AskError, Bracket, Count, Release};
use counterpoint_mechanisms::Error;
use std::rc::Rc;

/// An error in planning a study.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanningError {
    /// The study is not legal.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The statistics cost more than the budget even with the most noise.
    #[error(
        "the budget of epsilon {budget} is too small: the pinned and held-back statistics cost at least {least}, even \
         if all others get the most noise; legal: a larger budget, or fewer pinned statistics"
    )]
    OverBudget {
        /// The budget.
        budget: f64,
        /// The least cost of the study.
        least: f64,
    },
    /// The cost of the planned releases cannot be certified.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A mechanism cannot be constructed.
    #[error(transparent)]
    Mechanism(#[from] Error),
}

impl From<AskError> for PlanningError {
    fn from(error: AskError) -> Self {
        Self::Cost(error.into())
    }
}

/// A statistic of the problem: the ways to answer it, and its target.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) families: Rc<Vec<Family>>,
    pub(crate) target: AccuracyTarget,
    /// The name of the shared count that the statistic uses.
    pub(crate) count: Option<String>,
}

/// The family of each row, and its level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Allocation {
    pub(crate) choice: Vec<usize>,
    pub(crate) levels: Vec<f64>,
}

/// The rows that share out the budget, and the releases that do not.
pub(crate) struct Problem<'a> {
    pub(crate) rows: Vec<Row>,
    /// The statistic of each row, by index. The rows of shared counts follow those of all statistics.
    pub(crate) places: Vec<usize>,
    /// The shared counts. Their rows are the last, in the same order.
    pub(crate) shares: Vec<SharedCount>,
    pub(crate) held_back: Vec<Release>,
    pub(crate) composer: Composer<'a>,
}

/// The side of the least level that keeps to an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// A level whose error is small enough.
    Keeps,
    /// A level below which no error is small enough.
    Misses,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(study: &Study, composer: Composer<'a>) -> Result<Self, PlanningError> {
        let (mut rows, mut places, mut held_back) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: Vec<(&QueryRequest, Rc<Vec<Family>>)> = Vec::new();
        for (place, statistic) in study.statistics().iter().enumerate() {
            composer.progress().part(place, study.statistics().len())?;
            match &statistic.content {
                StatisticContent::Public(_) => {}
                StatisticContent::HeldBack(guarantee) => {
                    held_back.push(Release::from((*guarantee, Count::ONE)))
                }
                StatisticContent::Query(wanted) => {
                    let same =
                        |(other, _): &&(&QueryRequest, Rc<Vec<Family>>)| other.is_same(wanted);
                    let families = match known.iter().rev().take(RECENT).find(same) {
                        Some((_, families)) => Rc::clone(families),
                        None => {
                            let made = families(wanted, study).map_err(|error| error.of(place))?;
                            known.push((wanted, Rc::clone(&made)));
                            made
                        }
                    };
                    rows.push(Row::new(families, wanted.target).map_err(|error| error.of(place))?);
                    places.push(place);
                }
            }
        }
        Ok(Self { rows, places, shares: Vec::new(), held_back, composer })
    }

    /// Adds a shared count. The statistics that name it are then answered with it.
    pub(crate) fn sharing(
        &self,
        study: &Study,
        share: &SharedCount,
    ) -> Result<Self, PlanningError> {
        let count = Rc::new(share.family(study.public())?.measurement(share.level)?);
        let mut known: Vec<(&QueryRequest, Rc<Vec<Family>>)> = Vec::new();
        let mut rows = Vec::with_capacity(self.rows.len() + 1);
        for (row, place) in self.rows.iter().zip(&self.places) {
            self.composer.progress().look()?;
            let Some(wanted) = share.is_named_by(study, *place) else {
                rows.push(row.clone());
                continue;
            };
            let same = |(other, _): &&(&QueryRequest, Rc<Vec<Family>>)| other.is_same(wanted);
            let families = match known.iter().rev().take(RECENT).find(same) {
                Some((_, families)) => Rc::clone(families),
                None => {
                    let Ok(mut made) = Family::all_with(wanted, study.public(), Some(&count))
                    else {
                        // The query cannot use a count.
                        rows.push(row.clone());
                        continue;
                    };
                    made.retain(|family| study.budget().allows(family.noise));
                    let made = Rc::new(made);
                    known.push((wanted, Rc::clone(&made)));
                    made
                }
            };
            let mut row = Row::new(families, row.target).map_err(|error| error.of(*place))?;
            row.count = Some(share.name.clone());
            rows.push(row);
        }
        let (target, families) =
            (AccuracyTarget::PinnedLevel(share.level), vec![share.family(study.public())?]);
        rows.push(Row { families: Rc::new(families), target, count: None });
        let mut places = self.places.clone();
        places.push(study.statistics().len() + self.shares.len());
        let shares = [self.shares.as_slice(), std::slice::from_ref(share)].concat();
        Ok(Self { rows, places, shares, held_back: self.held_back.clone(), ..*self })
    }

    /// The releases of an allocation, row by row.
    pub(crate) fn releases(&self, allocation: &Allocation) -> Result<Vec<Vec<Release>>, Error> {
        let of = |((row, choice), level): ((&Row, &usize), &f64)| match row.families.get(*choice) {
            Some(family) => family.releases(*level),
            None => Ok(Vec::new()),
        };
        self.rows.iter().zip(&allocation.choice).zip(&allocation.levels).map(of).collect()
    }

    /// The certified cost of an allocation, with all that is held back.
    pub(crate) fn cost(&self, allocation: &Allocation) -> Result<Answer, PlanningError> {
        Ok(self.composer.epsilon(&self.all(allocation)?)?)
    }

    /// A certified upper bound on the cost of an allocation.
    pub(crate) fn at_most(&self, allocation: &Allocation) -> Result<f64, PlanningError> {
        self.composer.progress().trial()?;
        Ok(self.composer.at_most(&self.all(allocation)?)?)
    }

    /// A certified lower bound on the cost of an allocation.
    fn at_least(
        &self,
        allocation: &Allocation,
        like: Option<Answer>,
    ) -> Result<f64, PlanningError> {
        Ok(self.composer.at_least(&self.all(allocation)?, like)?)
    }

    /// All releases of an allocation, with those that are held back.
    pub(crate) fn all(&self, allocation: &Allocation) -> Result<Vec<Release>, Error> {
        let mut releases = self.releases(allocation)?.concat();
        releases.extend(self.held_back.iter().cloned());
        Ok(releases)
    }

    /// The levels at which every error is `factor` times the requested one; `None` if a level is out of range.
    fn levels(
        &self,
        choice: &[usize],
        factor: f64,
        side: Side,
    ) -> Result<Option<Vec<f64>>, PlanningError> {
        let of = |(row, choice): (&Row, &usize)| {
            self.composer.progress().look()?;
            match row.families.get(*choice) {
                Some(family) => Ok(row.level(family, factor, side)?),
                None => Ok(None),
            }
        };
        self.rows.iter().zip(choice).map(of).collect()
    }

    fn allocation(
        &self,
        choice: &[usize],
        factor: f64,
        side: Side,
    ) -> Result<Option<Allocation>, PlanningError> {
        let levels = self.levels(choice, factor, side)?;
        Ok(levels.map(|levels| Allocation { choice: choice.to_vec(), levels }))
    }

    /// An upper bound on the cost of errors of `factor` times the requested ones; infinite if they cannot be reached.
    fn most(&self, choice: &[usize], factor: f64) -> Result<f64, PlanningError> {
        match self.allocation(choice, factor, Side::Keeps)? {
            Some(allocation) => self.at_most(&allocation),
            None => Ok(f64::INFINITY),
        }
    }

    /// A lower bound on this cost, by the route of a similar answer if there is one; infinite if the errors cannot be
    /// reached.
    fn least(
        &self,
        choice: &[usize],
        (factor, side): (f64, Side),
        like: Option<Answer>,
    ) -> Result<f64, PlanningError> {
        match self.allocation(choice, factor, side)? {
            Some(allocation) => self.at_least(&allocation, like),
            None => Ok(f64::INFINITY),
        }
    }

    /// Estimates the cost of errors of `factor` times the requested ones, and the order of its saddle point.
    fn about(
        &self,
        choice: &[usize],
        factor: f64,
        start: f64,
    ) -> Result<(f64, f64), PlanningError> {
        let allocation = self.about_allocation(choice, factor)?;
        self.composer.progress().look()?;
        self.price(&allocation, start)
    }

    /// Estimates the allocation whose errors are `factor` times the requested ones.
    fn about_allocation(&self, choice: &[usize], factor: f64) -> Result<Allocation, Error> {
        let level = |(row, choice): (&Row, &usize)| match (row.families.get(*choice), row.target) {
            (Some(family), AccuracyTarget::Error(error)) => family.about(error * factor),
            (Some(family), AccuracyTarget::PinnedError(error)) => family.about(error),
            (_, AccuracyTarget::PinnedLevel(level)) => Ok(level),
            _ => Ok(0.0),
        };
        let levels = self.rows.iter().zip(choice).map(level).collect::<Result<Vec<_>, Error>>()?;
        Ok(Allocation { choice: choice.to_vec(), levels })
    }

    /// Estimates the cost of an allocation, and the order of its saddle point.
    pub(crate) fn price(
        &self,
        allocation: &Allocation,
        start: f64,
    ) -> Result<(f64, f64), PlanningError> {
        self.composer.progress().look()?;
        let rows = self.rows.iter().zip(&allocation.choice).zip(&allocation.levels);
        let priced = rows
            .filter_map(|((row, choice), level)| Some(row.families.get(*choice)?.between(*level)))
            .collect::<Result<Vec<Interpolation>, Error>>()?;
        let cumulant = |t: f64| {
            let sum: f64 = priced.iter().map(|between| between.cumulant(t)).sum();
            sum + price::cumulant(&self.held_back, t)
        };
        let (within, t) = price::epsilon(self.composer.delta().get(), start, cumulant);
        Ok((self.composer.outside(within), t))
    }

    /// The kinds of noise that cost least together when every error is `factor` times the requested one. Estimates
    /// propose the choices: the cheapest kind row by row at several orders, with single exchanges if there are few
    /// rows. Certified costs then decide between the best of these and the choices of one kind for all rows.
    pub(crate) fn choose(&self, factor: f64) -> Result<Vec<usize>, PlanningError> {
        let mut best: Option<(Vec<usize>, f64)> = None;
        let mut look = |choice: Vec<usize>| {
            let cost = self.about(&choice, factor, START)?.0;
            let better = best.as_ref().is_none_or(|(_, least)| cost < *least);
            if better {
                best = Some((choice, cost));
            }
            Ok::<bool, PlanningError>(better)
        };
        for t in [0.5, 2.0, 6.0, 20.0, 100.0, 1e3] {
            look(self.cheapest(factor, t)?)?;
        }
        if self.rows.len() <= FEW {
            let mut choice = self.cheapest(factor, START)?;
            for row in 0..self.rows.len() {
                for other in 0..self.rows.get(row).map_or(0, |row| row.families.len()) {
                    let mut exchanged = choice.clone();
                    if let Some(slot) = exchanged.get_mut(row).filter(|slot| **slot != other) {
                        *slot = other;
                        if look(exchanged.clone())? {
                            choice = exchanged;
                        }
                    }
                }
            }
        }
        let (best, about) = best.unwrap_or_default();
        let mut choices = vec![best];
        for choice in self.of_one_kind() {
            let near = self.about(&choice, factor, START)?.0 < self.doubt() * about;
            if near && !choices.contains(&choice) {
                choices.push(choice);
            }
        }
        if let [choice] = choices.as_slice() {
            return Ok(choice.clone());
        }
        let mut least: Option<(Vec<usize>, f64)> = None;
        for choice in choices {
            let cost = self.most(&choice, factor)?;
            if least.as_ref().is_none_or(|(_, least)| cost < *least) {
                least = Some((choice, cost));
            }
        }
        Ok(least.map_or_else(Vec::new, |(choice, _)| choice))
    }

    /// The ratio by which estimates may mislead in comparisons: large if there are few releases.
    pub(crate) fn doubt(&self) -> f64 {
        1.05 + 2.0 / self.rows.len() as f64
    }

    /// The first kind of noise for all rows, and the last kind for all rows.
    pub(crate) fn of_one_kind(&self) -> [Vec<usize>; 2] {
        let last = self.rows.iter().map(|row| row.families.len().saturating_sub(1)).collect();
        [vec![0; self.rows.len()], last]
    }

    /// The family of each row with the least cumulant at an order, where every error is `factor` times the requested
    /// one.
    fn cheapest(&self, factor: f64, t: f64) -> Result<Vec<usize>, Error> {
        let of = |row: &Row| {
            let mut best = (0, f64::INFINITY);
            for (index, family) in row.families.iter().enumerate() {
                let level = match row.target {
                    AccuracyTarget::Error(error) => family.about(error * factor)?,
                    AccuracyTarget::PinnedError(error) => family.about(error)?,
                    AccuracyTarget::PinnedLevel(level) => level,
                    AccuracyTarget::Weight(_) => return Ok(0),
                };
                let price = family.cumulant(level, t)?;
                if price < best.1 {
                    best = (index, price);
                }
            }
            Ok(best.0)
        };
        self.rows.iter().map(of).collect()
    }

    /// Estimates the least factor that keeps the budget, and its allocation; infinite if there is none.
    pub(crate) fn about_factor(&self, budget: f64) -> Result<(f64, Allocation), PlanningError> {
        let mut best = (f64::INFINITY, Allocation { choice: Vec::new(), levels: Vec::new() });
        let [first, last] = self.of_one_kind();
        for choice in [self.cheapest(1.0, START)?, first, last] {
            let mut order = START;
            let range = (LEAST_FACTOR, MOST_FACTOR);
            let place = Search { guess: 1.0, stride: 1.1, range, power: 1.0, near: 1e-4 };
            let found = search(place, |factor| {
                let (cost, t) = self.about(&choice, factor, order)?;
                order = t;
                Ok::<f64, PlanningError>((cost / budget).ln())
            })?;
            if let RootBracket::Between(_, factor) = found
                && factor < best.0
            {
                best = (factor, self.about_allocation(&choice, factor)?);
            }
        }
        Ok(best)
    }

    /// Estimates the cost of the requested errors, and its allocation.
    pub(crate) fn about_cost(&self) -> Result<(f64, Allocation), PlanningError> {
        let mut best = (f64::INFINITY, Allocation { choice: Vec::new(), levels: Vec::new() });
        let [first, last] = self.of_one_kind();
        for choice in [self.cheapest(1.0, START)?, first, last] {
            let cost = self.about(&choice, 1.0, START)?.0;
            if cost < best.0 {
                best = (cost, self.about_allocation(&choice, 1.0)?);
            }
        }
        Ok(best)
    }

    /// An allocation that meets all requested errors, with its cost. The upper end of the bracket is the cost of this
    /// allocation; the lower end is a lower bound for every allocation with these kinds of noise.
    pub(crate) fn meet(&self) -> Result<(Allocation, Answer), PlanningError> {
        let choice = self.choose(1.0)?;
        if let Some(allocation) = self.allocation(&choice, 1.0, Side::Keeps)? {
            let mut answer = self.cost(&allocation)?;
            let below = self.least(&choice, (1.0, Side::Misses), Some(answer))?;
            answer.bracket.lower = answer.bracket.lower.min(below);
            return Ok((allocation, answer));
        }
        Err(self.unreachable(&choice)?.into())
    }

    /// The error for a statistic whose requested error cannot be reached.
    fn unreachable(&self, choice: &[usize]) -> Result<StudyError, Error> {
        for ((row, place), choice) in self.rows.iter().zip(&self.places).zip(choice) {
            let Some(family) = row.families.get(*choice) else { continue };
            if row.level(family, 1.0, Side::Keeps)?.is_none() {
                let least = family.error(family.range().1)?;
                let problem = format!(
                    "cannot be reached; legal: at least {least}, the error with the least noise"
                );
                return Ok(StudyError::new("error", problem).of(*place));
            }
        }
        Ok(StudyError::new("error", "cannot be reached"))
    }

    /// The least factor that keeps the budget, as a bracket. The upper end keeps the budget; below the lower end, these
    /// kinds of noise are proved to exceed it.
    pub(crate) fn fit(&self, budget: f64) -> Result<(Allocation, Answer, Bracket), PlanningError> {
        let about = self.about_factor(budget)?.0;
        let mut choice = self.choose(if about.is_finite() { about } else { 1.0 })?;
        let (mut factor, mut allocation) = self.search(&choice, budget)?;
        for _ in 0..2 {
            let better = self.choose(factor)?;
            if better == choice {
                break;
            }
            let (smaller, other) = self.search(&better, budget)?;
            if smaller >= factor {
                break;
            }
            (choice, factor, allocation) = (better, smaller, other);
        }
        let mut answer = self.cost(&allocation)?;
        // The search found an upper bound within the budget, even if this bracket is wider.
        answer.bracket.upper = answer.bracket.upper.min(budget);
        let lower = self.proved(&choice, factor, (budget, &answer))?;
        Ok((allocation, answer, Bracket { lower, upper: factor }))
    }

    /// A factor that keeps the budget, with its allocation: the least such factor, to about 10^-6 for few rows.
    fn search(&self, choice: &[usize], budget: f64) -> Result<(f64, Allocation), PlanningError> {
        let mut kept: Option<(f64, Allocation)> = None;
        let excess = |factor: f64| {
            let allocation = self.allocation(choice, factor, Side::Keeps)?;
            let cost = match &allocation {
                Some(allocation) => self.at_most(allocation)?,
                None => f64::INFINITY,
            };
            if let Some(allocation) = allocation
                && cost <= budget
                && kept.as_ref().is_none_or(|(least, _)| factor < *least)
            {
                kept = Some((factor, allocation));
            }
            Ok::<f64, PlanningError>((cost / budget).ln())
        };
        let range = (LEAST_FACTOR, MOST_FACTOR);
        // Costs are nearly inverse to errors.
        let mut order = START;
        let place = Search { guess: 1.0, stride: 1.1, range, power: 1.0, near: 1e-4 };
        let guess = search(place, |factor| {
            let (cost, t) = self.about(choice, factor, order)?;
            order = t;
            Ok::<f64, PlanningError>((cost / budget).ln())
        })?;
        let guess = if let RootBracket::Between(_, factor) = guess { factor } else { 1.0 };
        let near = if self.rows.len() <= FEW { NEAR_FACTOR } else { NEAR_ENOUGH };
        let place = Search { guess, stride: 1.003, range, power: 1.0, near };
        if search(place, excess)? == RootBracket::Above {
            let least = self.least(choice, (MOST_FACTOR, Side::Keeps), None)?;
            return Err(PlanningError::OverBudget { budget, least });
        }
        kept.ok_or(PlanningError::OverBudget { budget, least: f64::INFINITY })
    }

    /// A factor a little below, at which the budget is proved to be exceeded; zero if none was found.
    fn proved(
        &self,
        choice: &[usize],
        factor: f64,
        (budget, known): (f64, &Answer),
    ) -> Result<f64, PlanningError> {
        let Bracket { lower, upper } = known.bracket;
        // The first step is tiny, or as large as the unevenness of half-widths plus the relative width of the cost's
        // bracket.
        let uneven =
            self.rows.iter().zip(choice).filter_map(|(row, choice)| row.families.get(*choice));
        let uneven = uneven.map(Family::slack).fold(0.0, f64::max);
        let beside = 1.05 * uneven + 1.02 * (upper / lower).ln().max(0.0);
        let near = self.rows.len() <= FEW && known.bracket.relative_width() < 1e-4;
        let mut less = if near { NEAR_FACTOR } else { beside };
        while less < 0.5 {
            self.composer.progress().trial()?;
            let trial = factor * (1.0 - less);
            if self.least(choice, (trial, Side::Misses), Some(*known))? > budget {
                return Ok(trial);
            }
            let more = if near { 3.0 * less } else { 1.1 * less };
            less = if less < uneven { beside } else { more };
        }
        Ok(0.0)
    }
}

/// All ways to answer a query in a study.
fn families(wanted: &QueryRequest, study: &Study) -> Result<Rc<Vec<Family>>, StudyError> {
    let mut families = Family::all(wanted, study.public())?;
    // Gaussian noise needs a delta above zero.
    families.retain(|family| study.budget().allows(family.noise));
    if families.is_empty() {
        let problem = "is gaussian, and the study's delta is 0; legal: laplace, or a delta above 0";
        return Err(StudyError::new("noise", problem));
    }
    Ok(Rc::new(families))
}

/// The number of recent queries among which an equal one is searched for.
const RECENT: usize = 64;
/// The most rows for which single exchanges are tried.
const FEW: usize = 12;
/// The order at which searches start: about that of epsilon 1 at delta 10^-6.
pub(crate) const START: f64 = 20.0;
/// The relative accuracy of the least factor: for few rows, and for many, whose costs are not known as accurately.
const NEAR_FACTOR: f64 = 1e-6;
const NEAR_ENOUGH: f64 = 1e-5;
const LEAST_FACTOR: f64 = 1e-100;
const MOST_FACTOR: f64 = 1e100;

impl Row {
    /// A row with the families that can meet its pinned error or level; an error if there are none.
    fn new(families: Rc<Vec<Family>>, target: AccuracyTarget) -> Result<Self, StudyError> {
        let mut row = Self { families, target, count: None };
        let field = match target {
            AccuracyTarget::PinnedError(_) => "error",
            AccuracyTarget::PinnedLevel(_) => "epsilon",
            AccuracyTarget::Error(_) | AccuracyTarget::Weight(_) => return Ok(row),
        };
        let within = |family: &Family| match target {
            AccuracyTarget::PinnedLevel(level) => {
                (family.range().0..=family.range().1).contains(&level)
            }
            _ => matches!(row.level(family, 1.0, Side::Keeps), Ok(Some(_))),
        };
        let can: Vec<bool> = row.families.iter().map(within).collect();
        if !can.contains(&true) {
            let problem =
                "cannot be reached with any noise; legal: a larger error, or another epsilon";
            return Err(StudyError::new(field, problem));
        }
        if can.contains(&false) {
            let kept = row.families.iter().zip(can).filter(|(_, can)| *can);
            row.families = Rc::new(kept.map(|(family, _)| family.clone()).collect());
        }
        Ok(row)
    }

    /// The level of a family at a factor. Pinned errors and levels do not depend on the factor.
    fn level(&self, family: &Family, factor: f64, side: Side) -> Result<Option<f64>, Error> {
        let error = match self.target {
            AccuracyTarget::Error(error) => error * factor,
            AccuracyTarget::PinnedError(error) => error,
            AccuracyTarget::PinnedLevel(level) => return Ok(Some(level)),
            AccuracyTarget::Weight(_) => return Ok(None),
        };
        match side {
            Side::Keeps => family.level(error),
            Side::Misses => family.level_below(error),
        }
    }
}

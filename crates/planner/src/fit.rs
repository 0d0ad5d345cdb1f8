//! Sharing a budget out: every wanted error as many times as large as what was wanted.

use crate::cost::{Composer, CostError};
use crate::family::{Between, Family};
use crate::price;
use crate::root::{Crossing, Search, search};
use crate::share::Share;
use crate::study::{Ask, Study, StudyError, Wanted, Wish};
use counterpoint::{Answer, AskError, Bracket, Count, Release};
use counterpoint_mechanisms::Error;
use std::rc::Rc;

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanningError {
    /// The study says something that cannot be.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// Even with the most noise the statistics cost more than the budget.
    #[error(
        "the budget of epsilon {budget} cannot be kept: what is pinned and held back costs {least} at least, the rest \
         having as much noise as it may; legal: a larger budget, or less that is pinned"
    )]
    OverBudget {
        /// What there is.
        budget: f64,
        /// What it would cost at least.
        least: f64,
    },
    /// What was planned has no certified cost.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A mechanism cannot be made.
    #[error(transparent)]
    Mechanism(#[from] Error),
}

impl From<AskError> for PlanningError {
    fn from(error: AskError) -> Self {
        Self::Cost(error.into())
    }
}

/// A statistic as it is planned: the ways it can be answered, and what is wanted.
#[derive(Clone)]
pub(crate) struct Row {
    pub(crate) families: Rc<Vec<Family>>,
    pub(crate) wish: Wish,
    /// The name of the count that it shares.
    pub(crate) count: Option<String>,
}

/// Which family each row takes, and at which level.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    pub(crate) choice: Vec<usize>,
    pub(crate) levels: Vec<f64>,
}

/// All that is shared out, and what is not.
pub(crate) struct Problem<'a> {
    pub(crate) rows: Vec<Row>,
    /// Which statistic each row is; counts that are shared come after all statistics.
    pub(crate) places: Vec<usize>,
    /// The counts that are shared, in the order of their rows, which are the last.
    pub(crate) shares: Vec<Share>,
    pub(crate) held_back: Vec<Release>,
    pub(crate) composer: Composer<'a>,
}

/// On which side of the least level that keeps to an error.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// A level that keeps to it.
    Keeps,
    /// A level below which none does.
    Misses,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(study: &Study, composer: Composer<'a>) -> Result<Self, PlanningError> {
        let (mut rows, mut places, mut held_back) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: Vec<(&Wanted, Rc<Vec<Family>>)> = Vec::new();
        for (place, statistic) in study.statistics().iter().enumerate() {
            composer.pace().part(place, study.statistics().len())?;
            match &statistic.ask {
                Ask::Public(_) => {}
                Ask::HeldBack(guarantee) => held_back.push(Release::from((*guarantee, Count::ONE))),
                Ask::Query(wanted) => {
                    let same = |(other, _): &&(&Wanted, Rc<Vec<Family>>)| other.is_same(wanted);
                    let families = match known.iter().rev().take(RECENT).find(same) {
                        Some((_, families)) => Rc::clone(families),
                        None => {
                            let made = families(wanted, study).map_err(|error| error.of(place))?;
                            known.push((wanted, Rc::clone(&made)));
                            made
                        }
                    };
                    rows.push(Row::new(families, wanted.wish).map_err(|error| error.of(place))?);
                    places.push(place);
                }
            }
        }
        Ok(Self { rows, places, shares: Vec::new(), held_back, composer })
    }

    /// The same problem with one more count that is shared: those that name it are answered with it.
    pub(crate) fn sharing(&self, study: &Study, share: &Share) -> Result<Self, PlanningError> {
        let count = Rc::new(share.family(study.public())?.measurement(share.level)?);
        let mut known: Vec<(&Wanted, Rc<Vec<Family>>)> = Vec::new();
        let mut rows = Vec::with_capacity(self.rows.len() + 1);
        for (row, place) in self.rows.iter().zip(&self.places) {
            self.composer.pace().look()?;
            let Some(wanted) = share.is_named_by(study, *place) else {
                rows.push(row.clone());
                continue;
            };
            let same = |(other, _): &&(&Wanted, Rc<Vec<Family>>)| other.is_same(wanted);
            let families = match known.iter().rev().take(RECENT).find(same) {
                Some((_, families)) => Rc::clone(families),
                None => {
                    let Ok(mut made) = Family::all_with(wanted, study.public(), Some(&count))
                    else {
                        // It has no use for a count.
                        rows.push(row.clone());
                        continue;
                    };
                    made.retain(|family| study.budget().allows(family.noise));
                    let made = Rc::new(made);
                    known.push((wanted, Rc::clone(&made)));
                    made
                }
            };
            let mut row = Row::new(families, row.wish).map_err(|error| error.of(*place))?;
            row.count = Some(share.name.clone());
            rows.push(row);
        }
        let (wish, families) = (Wish::Level(share.level), vec![share.family(study.public())?]);
        rows.push(Row { families: Rc::new(families), wish, count: None });
        let mut places = self.places.clone();
        places.push(study.statistics().len() + self.shares.len());
        let shares = [self.shares.as_slice(), std::slice::from_ref(share)].concat();
        Ok(Self { rows, places, shares, held_back: self.held_back.clone(), ..*self })
    }

    /// The releases of a setting, row by row.
    pub(crate) fn releases(&self, setting: &Setting) -> Result<Vec<Vec<Release>>, Error> {
        let of = |((row, choice), level): ((&Row, &usize), &f64)| match row.families.get(*choice) {
            Some(family) => family.releases(*level),
            None => Ok(Vec::new()),
        };
        self.rows.iter().zip(&setting.choice).zip(&setting.levels).map(of).collect()
    }

    /// What a setting costs, with all that is held back.
    pub(crate) fn cost(&self, setting: &Setting) -> Result<Answer, PlanningError> {
        Ok(self.composer.epsilon(&self.all(setting)?)?)
    }

    /// The same from above.
    pub(crate) fn at_most(&self, setting: &Setting) -> Result<f64, PlanningError> {
        self.composer.pace().trial()?;
        Ok(self.composer.at_most(&self.all(setting)?)?)
    }

    /// The same from below.
    fn at_least(&self, setting: &Setting, like: Option<Answer>) -> Result<f64, PlanningError> {
        Ok(self.composer.at_least(&self.all(setting)?, like)?)
    }

    /// All releases of a setting, and those that are held back.
    pub(crate) fn all(&self, setting: &Setting) -> Result<Vec<Release>, Error> {
        let mut releases = self.releases(setting)?.concat();
        releases.extend(self.held_back.iter().cloned());
        Ok(releases)
    }

    /// The levels at which every error is so many times what was wanted; `None` where a level is out of range.
    fn levels(
        &self,
        choice: &[usize],
        factor: f64,
        side: Side,
    ) -> Result<Option<Vec<f64>>, PlanningError> {
        let of = |(row, choice): (&Row, &usize)| {
            self.composer.pace().look()?;
            match row.families.get(*choice) {
                Some(family) => Ok(row.level(family, factor, side)?),
                None => Ok(None),
            }
        };
        self.rows.iter().zip(choice).map(of).collect()
    }

    fn setting(
        &self,
        choice: &[usize],
        factor: f64,
        side: Side,
    ) -> Result<Option<Setting>, PlanningError> {
        let levels = self.levels(choice, factor, side)?;
        Ok(levels.map(|levels| Setting { choice: choice.to_vec(), levels }))
    }

    /// What it costs at most to have every error so many times what was wanted; infinitely much where that cannot be.
    fn most(&self, choice: &[usize], factor: f64) -> Result<f64, PlanningError> {
        match self.setting(choice, factor, Side::Keeps)? {
            Some(setting) => self.at_most(&setting),
            None => Ok(f64::INFINITY),
        }
    }

    /// What it costs at least; infinitely much where that cannot be. As in a similar answer, if there is one.
    fn least(
        &self,
        choice: &[usize],
        (factor, side): (f64, Side),
        like: Option<Answer>,
    ) -> Result<f64, PlanningError> {
        match self.setting(choice, factor, side)? {
            Some(setting) => self.at_least(&setting, like),
            None => Ok(f64::INFINITY),
        }
    }

    /// About what it costs to have every error so many times what was wanted, and the order that tells.
    fn about(
        &self,
        choice: &[usize],
        factor: f64,
        start: f64,
    ) -> Result<(f64, f64), PlanningError> {
        let setting = self.about_setting(choice, factor)?;
        self.composer.pace().look()?;
        self.price(&setting, start)
    }

    /// About the setting in which every error is so many times what was wanted.
    fn about_setting(&self, choice: &[usize], factor: f64) -> Result<Setting, Error> {
        let level = |(row, choice): (&Row, &usize)| match (row.families.get(*choice), row.wish) {
            (Some(family), Wish::Error(error)) => family.about(error * factor),
            (Some(family), Wish::Kept(error)) => family.about(error),
            (_, Wish::Level(level)) => Ok(level),
            _ => Ok(0.0),
        };
        let levels = self.rows.iter().zip(choice).map(level).collect::<Result<Vec<_>, Error>>()?;
        Ok(Setting { choice: choice.to_vec(), levels })
    }

    /// About what a setting costs, and the order that tells.
    pub(crate) fn price(&self, setting: &Setting, start: f64) -> Result<(f64, f64), PlanningError> {
        self.composer.pace().look()?;
        let rows = self.rows.iter().zip(&setting.choice).zip(&setting.levels);
        let priced = rows
            .filter_map(|((row, choice), level)| Some(row.families.get(*choice)?.between(*level)))
            .collect::<Result<Vec<Between>, Error>>()?;
        let cumulant = |t: f64| {
            let sum: f64 = priced.iter().map(|between| between.cumulant(t)).sum();
            sum + price::cumulant(&self.held_back, t)
        };
        let (within, t) = price::epsilon(self.composer.delta().get(), start, cumulant);
        Ok((self.composer.outside(within), t))
    }

    /// The kinds of noise that cost least together when every error is so many times what was wanted: by estimates those
    /// that are cheapest one by one at some order, with single exchanges where there are few; then by certified costs
    /// the best of these and those of one kind.
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

    /// By how much estimates may mislead when they are compared: much where there are few releases.
    pub(crate) fn doubt(&self) -> f64 {
        1.05 + 2.0 / self.rows.len() as f64
    }

    /// All rows with their first kind of noise, and all with their last.
    pub(crate) fn of_one_kind(&self) -> [Vec<usize>; 2] {
        let last = self.rows.iter().map(|row| row.families.len().saturating_sub(1)).collect();
        [vec![0; self.rows.len()], last]
    }

    /// The family of each row with the least cumulant at an order, all errors being so many times what was wanted.
    fn cheapest(&self, factor: f64, t: f64) -> Result<Vec<usize>, Error> {
        let of = |row: &Row| {
            let mut best = (0, f64::INFINITY);
            for (index, family) in row.families.iter().enumerate() {
                let level = match row.wish {
                    Wish::Error(error) => family.about(error * factor)?,
                    Wish::Kept(error) => family.about(error)?,
                    Wish::Level(level) => level,
                    Wish::Weight(_) => return Ok(0),
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

    /// About the least factor for which the budget is kept, and how; infinitely much where none is.
    pub(crate) fn about_factor(&self, budget: f64) -> Result<(f64, Setting), PlanningError> {
        let mut best = (f64::INFINITY, Setting { choice: Vec::new(), levels: Vec::new() });
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
            if let Crossing::Between(_, factor) = found
                && factor < best.0
            {
                best = (factor, self.about_setting(&choice, factor)?);
            }
        }
        Ok(best)
    }

    /// About what the wanted errors cost, and how.
    pub(crate) fn about_cost(&self) -> Result<(f64, Setting), PlanningError> {
        let mut best = (f64::INFINITY, Setting { choice: Vec::new(), levels: Vec::new() });
        let [first, last] = self.of_one_kind();
        for choice in [self.cheapest(1.0, START)?, first, last] {
            let cost = self.about(&choice, 1.0, START)?.0;
            if cost < best.0 {
                best = (cost, self.about_setting(&choice, 1.0)?);
            }
        }
        Ok(best)
    }

    /// The least that meets all wanted errors: it is at most the upper end, and at least the lower.
    pub(crate) fn meet(&self) -> Result<(Setting, Answer), PlanningError> {
        let choice = self.choose(1.0)?;
        if let Some(setting) = self.setting(&choice, 1.0, Side::Keeps)? {
            let mut answer = self.cost(&setting)?;
            let below = self.least(&choice, (1.0, Side::Misses), Some(answer))?;
            answer.bracket.lower = answer.bracket.lower.min(below);
            return Ok((setting, answer));
        }
        Err(self.unreachable(&choice)?.into())
    }

    /// Which statistic's error cannot be had.
    fn unreachable(&self, choice: &[usize]) -> Result<StudyError, Error> {
        for ((row, place), choice) in self.rows.iter().zip(&self.places).zip(choice) {
            let Some(family) = row.families.get(*choice) else { continue };
            if row.level(family, 1.0, Side::Keeps)?.is_none() {
                let least = family.error(family.range().1)?;
                let problem = format!(
                    "cannot be reached; legal: at least {least}, what the least noise gives"
                );
                return Ok(StudyError::new("error", problem).of(*place));
            }
        }
        Ok(StudyError::new("error", "cannot be reached"))
    }

    /// The least factor for which the budget is kept, bracketed: at the upper end it is kept, below the lower end it
    /// is proved to be broken by these kinds of noise.
    pub(crate) fn fit(&self, budget: f64) -> Result<(Setting, Answer, Bracket), PlanningError> {
        let about = self.about_factor(budget)?.0;
        let mut choice = self.choose(if about.is_finite() { about } else { 1.0 })?;
        let (mut factor, mut setting) = self.search(&choice, budget)?;
        for _ in 0..2 {
            let better = self.choose(factor)?;
            if better == choice {
                break;
            }
            let (smaller, other) = self.search(&better, budget)?;
            if smaller >= factor {
                break;
            }
            (choice, factor, setting) = (better, smaller, other);
        }
        let mut answer = self.cost(&setting)?;
        // The search has an upper end within the budget, whatever this one says.
        answer.bracket.upper = answer.bracket.upper.min(budget);
        let lower = self.proved(&choice, factor, (budget, &answer))?;
        Ok((setting, answer, Bracket { lower, upper: factor }))
    }

    /// A factor that keeps the budget, the least such within a millionth part or so of few rows, and how.
    fn search(&self, choice: &[usize], budget: f64) -> Result<(f64, Setting), PlanningError> {
        let mut kept: Option<(f64, Setting)> = None;
        let excess = |factor: f64| {
            let setting = self.setting(choice, factor, Side::Keeps)?;
            let cost = match &setting {
                Some(setting) => self.at_most(setting)?,
                None => f64::INFINITY,
            };
            if let Some(setting) = setting
                && cost <= budget
                && kept.as_ref().is_none_or(|(least, _)| factor < *least)
            {
                kept = Some((factor, setting));
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
        let guess = if let Crossing::Between(_, factor) = guess { factor } else { 1.0 };
        let near = if self.rows.len() <= FEW { NEAR_FACTOR } else { NEAR_ENOUGH };
        let place = Search { guess, stride: 1.003, range, power: 1.0, near };
        if search(place, excess)? == Crossing::Above {
            let least = self.least(choice, (MOST_FACTOR, Side::Keeps), None)?;
            return Err(PlanningError::OverBudget { budget, least });
        }
        kept.ok_or(PlanningError::OverBudget { budget, least: f64::INFINITY })
    }

    /// A factor a little below, at which the budget is proved to be broken; zero if none was found.
    fn proved(
        &self,
        choice: &[usize],
        factor: f64,
        (budget, known): (f64, &Answer),
    ) -> Result<f64, PlanningError> {
        let Bracket { lower, upper } = known.bracket;
        // Hardly less, or less by what half-widths are uneven by and what the lower end of costs is short of them.
        let uneven =
            self.rows.iter().zip(choice).filter_map(|(row, choice)| row.families.get(*choice));
        let uneven = uneven.map(Family::slack).fold(0.0, f64::max);
        let beside = 1.05 * uneven + 1.02 * (upper / lower).ln().max(0.0);
        let near = self.rows.len() <= FEW && known.bracket.relative_width() < 1e-4;
        let mut less = if near { NEAR_FACTOR } else { beside };
        while less < 0.5 {
            self.composer.pace().trial()?;
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

/// The ways in which a question can be answered in a study.
fn families(wanted: &Wanted, study: &Study) -> Result<Rc<Vec<Family>>, StudyError> {
    let mut families = Family::all(wanted, study.public())?;
    // At delta zero there is no Gaussian noise.
    families.retain(|family| study.budget().allows(family.noise));
    if families.is_empty() {
        let problem = "is gaussian, and the study's delta is 0; legal: laplace, or a delta above 0";
        return Err(StudyError::new("noise", problem));
    }
    Ok(Rc::new(families))
}

/// Questions asked again are looked for among so many.
const RECENT: usize = 64;
/// Single exchanges are tried among so many rows.
const FEW: usize = 12;
/// An order to begin with: about that of epsilon 1 at delta 10^-6.
pub(crate) const START: f64 = 20.0;
/// How near to the least factor the search comes: of few rows, and of many, whose factor is not known as well.
const NEAR_FACTOR: f64 = 1e-6;
const NEAR_ENOUGH: f64 = 1e-5;
const LEAST_FACTOR: f64 = 1e-100;
const MOST_FACTOR: f64 = 1e100;

impl Row {
    /// A row with the families that can keep to what is pinned: one at least.
    fn new(families: Rc<Vec<Family>>, wish: Wish) -> Result<Self, StudyError> {
        let mut row = Self { families, wish, count: None };
        let field = match wish {
            Wish::Kept(_) => "error",
            Wish::Level(_) => "epsilon",
            Wish::Error(_) | Wish::Weight(_) => return Ok(row),
        };
        let within = |family: &Family| match wish {
            Wish::Level(level) => (family.range().0..=family.range().1).contains(&level),
            _ => matches!(row.level(family, 1.0, Side::Keeps), Ok(Some(_))),
        };
        let can: Vec<bool> = row.families.iter().map(within).collect();
        if !can.contains(&true) {
            let problem = "cannot be had with any noise; legal: a larger error, or another epsilon";
            return Err(StudyError::new(field, problem));
        }
        if can.contains(&false) {
            let kept = row.families.iter().zip(can).filter(|(_, can)| *can);
            row.families = Rc::new(kept.map(|(family, _)| family.clone()).collect());
        }
        Ok(row)
    }

    /// The level of a family at a factor. What is pinned does not move.
    fn level(&self, family: &Family, factor: f64, side: Side) -> Result<Option<f64>, Error> {
        let error = match self.wish {
            Wish::Error(error) => error * factor,
            Wish::Kept(error) => error,
            Wish::Level(level) => return Ok(Some(level)),
            Wish::Weight(_) => return Ok(None),
        };
        match side {
            Side::Keeps => family.level(error),
            Side::Misses => family.level_below(error),
        }
    }
}

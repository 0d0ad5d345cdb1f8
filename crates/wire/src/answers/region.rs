//! Regions of error rates as JSON.

use counterpoint::Bracket;
use counterpoint::quantity::Rate;
use counterpoint::region::{ErrorRates, Region, Verdict};

use crate::text::object::{Decimal, Object, SpentSetting, bracket_object};

/// The false-alarm rates for which reports give the least miss rate.
pub const FALSE_ALARMS: [f64; 6] = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5];

/// The regions of several plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// The plans, in the order in which they were given.
    pub plans: Vec<PlanRegion>,
    /// Warnings that belong to the regions.
    pub warnings: Vec<String>,
}

/// A plan's region.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRegion {
    /// The name of the plan.
    pub name: String,
    /// The region of the plan.
    pub region: Region,
}

/// The best that a test of a plan's output can do at a false-alarm rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtRate {
    /// The false-alarm rate.
    pub false_alarm: f64,
    /// The least miss rate.
    pub miss: Bracket,
    /// The best advantage, `1 - false_alarm - miss`.
    pub advantage: Bracket,
}

/// A comparison of the regions of two plans.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inclusion {
    /// The index of the plan, from 0.
    pub plan: usize,
    /// The index of the plan whose region may include the first one's, from 0.
    pub within: usize,
    /// The answer: inside, not inside, or not decided.
    pub verdict: Verdict,
    /// The largest amount by which the first plan's miss rate is below the other's.
    pub excess: Bracket,
}

/// The name of a verdict.
#[must_use]
pub fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes => "yes",
        Verdict::No => "no",
        Verdict::Undecided => "undecided",
    }
}

impl PlanRegion {
    /// Returns the best that tests can do at each of [`FALSE_ALARMS`].
    #[must_use]
    pub fn at_rates(&self) -> Vec<AtRate> {
        let rates = FALSE_ALARMS.into_iter().filter_map(|rate| Rate::new(rate).ok());
        let at = |rate: Rate| AtRate {
            false_alarm: rate.get(),
            miss: self.region.least_miss(rate),
            advantage: self.region.best_advantage(rate),
        };
        rates.map(at).collect()
    }
}

impl Regions {
    /// Compares every plan with every other.
    #[must_use]
    pub fn inclusions(&self) -> Vec<Inclusion> {
        let pairs = (0..self.plans.len())
            .flat_map(|plan| (0..self.plans.len()).map(move |within| (plan, within)));
        let compared =
            pairs.filter(|(plan, within)| plan != within).filter_map(|(plan, within)| {
                let (one, other) = (&self.plans.get(plan)?.region, &self.plans.get(within)?.region);
                let (verdict, excess) = (one.is_within(other), one.excess_over(other));
                Some(Inclusion { plan, within, verdict, excess })
            });
        compared.collect()
    }

    /// The `region --json` object. Outer vertices are rounded down, inner ones up.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let inclusions = self.inclusions();
        let inclusions = inclusions.iter().map(|inclusion| self.compared(inclusion));
        Object::new()
            .field("regions", self.plans.iter().map(one).collect::<Vec<_>>())
            .field("inclusions", inclusions.collect::<Vec<_>>())
            .list("warnings", &self.warnings)
            .json()
    }

    fn compared(&self, inclusion: &Inclusion) -> Object {
        let name = |at: usize| self.plans.get(at).map_or("", |plan| &plan.name);
        Object::new()
            .field("plan", name(inclusion.plan))
            .field("within", name(inclusion.within))
            .field("verdict", verdict_name(inclusion.verdict))
            .field("excess", bracket_object(inclusion.excess))
    }
}

fn one(plan: &PlanRegion) -> Object {
    let region = &plan.region;
    let theorem = region.theorem();
    let at = |at: AtRate| {
        Object::new()
            .field("false_alarm", Decimal::shortest(at.false_alarm))
            .field("miss", bracket_object(at.miss))
            .field("advantage", bracket_object(at.advantage))
    };
    Object::new()
        .field("plan", &plan.name)
        .field("total_variation", bracket_object(region.total_variation()))
        .field("area", bracket_object(region.area()))
        .field("rates", plan.at_rates().into_iter().map(at).collect::<Vec<_>>())
        .field("exact", region.is_finite())
        .field("gap", Decimal::up(region.gap()))
        .field("outer", vertices(region.outer(), Decimal::down))
        .field("inner", vertices(region.inner(), Decimal::up))
        .field("theorem", theorem.source())
        .field("setting", SpentSetting::from(theorem.setting()))
}

fn vertices(points: &[ErrorRates], rounded: fn(f64) -> Decimal) -> Vec<[Decimal; 2]> {
    let vertex =
        |point: &ErrorRates| [point.false_alarm(), point.miss()].map(|x| rounded(x).trimmed());
    points.iter().map(vertex).collect()
}

//! Regions of error rates, and the JSON object that carries them.

use counterpoint::Bracket;
use counterpoint::quantity::Rate;
use counterpoint::region::{Point, Region, Verdict};

use crate::text::object::{Decimal, Object, SpentSetting, ends};

/// The false-alarm rates at which a report tells the least miss rate.
pub const FALSE_ALARMS: [f64; 6] = [0.001, 0.01, 0.05, 0.1, 0.25, 0.5];

/// The regions of some plans.
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    /// In the order they were given.
    pub plans: Vec<PlanRegion>,
    /// What one should know before relying on them.
    pub warnings: Vec<String>,
}

/// A plan's region.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanRegion {
    /// What the plan is called.
    pub name: String,
    /// Its region.
    pub region: Region,
}

/// What a plan's tests can do at a false-alarm rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AtRate {
    /// That rate.
    pub false_alarm: f64,
    /// The least miss rate.
    pub miss: Bracket,
    /// The best advantage, `1 - false_alarm - miss`.
    pub advantage: Bracket,
}

/// Whether one plan's region is within another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inclusion {
    /// Which plan, from 0.
    pub plan: usize,
    /// In which, from 0.
    pub within: usize,
    /// Whether it is.
    pub verdict: Verdict,
    /// By how much its miss rate can be less.
    pub excess: Bracket,
}

/// The name of a verdict.
#[must_use]
pub fn name_of_verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Yes => "yes",
        Verdict::No => "no",
        Verdict::Undecided => "undecided",
    }
}

impl PlanRegion {
    /// What tests can do at the rates of a report.
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
    /// Every plan against every other.
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
            .field("verdict", name_of_verdict(inclusion.verdict))
            .field("excess", ends(inclusion.excess))
    }
}

fn one(plan: &PlanRegion) -> Object {
    let region = &plan.region;
    let theorem = region.theorem();
    let at = |at: AtRate| {
        Object::new()
            .field("false_alarm", Decimal::shortest(at.false_alarm))
            .field("miss", ends(at.miss))
            .field("advantage", ends(at.advantage))
    };
    Object::new()
        .field("plan", &plan.name)
        .field("total_variation", ends(region.total_variation()))
        .field("area", ends(region.area()))
        .field("rates", plan.at_rates().into_iter().map(at).collect::<Vec<_>>())
        .field("exact", region.is_finite())
        .field("gap", Decimal::up(region.gap()))
        .field("outer", vertices(region.outer(), Decimal::down))
        .field("inner", vertices(region.inner(), Decimal::up))
        .field("theorem", theorem.source())
        .field("setting", SpentSetting::from(theorem.setting()))
}

fn vertices(points: &[Point], rounded: fn(f64) -> Decimal) -> Vec<[Decimal; 2]> {
    let vertex = |point: &Point| [point.false_alarm(), point.miss()].map(|x| rounded(x).trimmed());
    points.iter().map(vertex).collect()
}

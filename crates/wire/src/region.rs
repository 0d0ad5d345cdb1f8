//! Regions of error rates, and the JSON object that carries them.

use counterpoint::Bracket;
use counterpoint::quantity::Rate;
use counterpoint::region::{Point, Region, Verdict};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::answer::{Ends, InSetting, number, setting};
use crate::decimal::{self, FULL_DIGITS};

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
        serde_json::to_string(&Object {
            regions: self.plans.iter().map(one).collect::<Result<_, _>>()?,
            inclusions: inclusions.iter().map(|i| self.compared(i)).collect::<Result<_, _>>()?,
            warnings: &self.warnings,
        })
    }

    fn compared(&self, inclusion: &Inclusion) -> Result<Compared<'_>, serde_json::Error> {
        let name = |at: usize| self.plans.get(at).map_or("", |plan| &plan.name);
        Ok(Compared {
            plan: name(inclusion.plan),
            within: name(inclusion.within),
            verdict: name_of_verdict(inclusion.verdict),
            excess: Ends::of(inclusion.excess)?,
        })
    }
}

fn one(plan: &PlanRegion) -> Result<One<'_>, serde_json::Error> {
    let region = &plan.region;
    let theorem = region.theorem();
    let at = |at: AtRate| {
        Ok(At {
            false_alarm: number(decimal::shortest(at.false_alarm))?,
            miss: Ends::of(at.miss)?,
            advantage: Ends::of(at.advantage)?,
        })
    };
    Ok(One {
        plan: &plan.name,
        total_variation: Ends::of(region.total_variation())?,
        area: Ends::of(region.area())?,
        rates: plan.at_rates().into_iter().map(at).collect::<Result<_, _>>()?,
        exact: region.is_finite(),
        gap: number(decimal::up(region.gap(), FULL_DIGITS))?,
        outer: vertices(region.outer(), decimal::down)?,
        inner: vertices(region.inner(), decimal::up)?,
        theorem: theorem.source(),
        setting: setting(theorem.setting()),
    })
}

type Vertices = Vec<[Box<RawValue>; 2]>;

fn vertices(
    points: &[Point],
    rounded: fn(f64, usize) -> String,
) -> Result<Vertices, serde_json::Error> {
    let text = |x: f64| number(decimal::trimmed(&rounded(x, FULL_DIGITS)));
    let vertex = |point: &Point| Ok([text(point.false_alarm())?, text(point.miss())?]);
    points.iter().map(vertex).collect()
}

/// The object, its fields in the order they are written.
#[derive(Serialize)]
struct Object<'a> {
    regions: Vec<One<'a>>,
    inclusions: Vec<Compared<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

#[derive(Serialize)]
struct One<'a> {
    plan: &'a str,
    total_variation: Ends,
    area: Ends,
    rates: Vec<At>,
    exact: bool,
    gap: Box<RawValue>,
    outer: Vertices,
    inner: Vertices,
    theorem: &'a str,
    setting: InSetting,
}

#[derive(Serialize)]
struct At {
    false_alarm: Box<RawValue>,
    miss: Ends,
    advantage: Ends,
}

#[derive(Serialize)]
struct Compared<'a> {
    plan: &'a str,
    within: &'a str,
    verdict: &'a str,
    excess: Ends,
}

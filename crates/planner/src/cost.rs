//! The cost of releases together, and how a secret sample reduces it.

use crate::progress::Progress;
use crate::study::{Budget, PublicFacts};
use counterpoint::quantity::{Delta, Epsilon, GroupSize, Tolerance};
use counterpoint::watch::Watch;
use counterpoint::{Answer, AskError, Bracket, Options, Plan, PlanError, Release, RequestedEnds};
use counterpoint_numerics::Dd;

/// An error in computing the cost of releases.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// The releases are not a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No cost of the releases can be certified.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// The share of the population that is in the data; `None` if the data are not a secret sample.
///
/// A simple random sample of n of N people, where neighbours differ in one replaced record, turns the cost (e, d) of
/// the whole composition into (ln(1 + (n/N)(e^e - 1)), (n/N) d), once (Balle, Barthe and Gaboardi 2018, Theorem 9).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleSecrecy {
    share: Option<Dd>,
}

/// A bound, with a wide margin, on the relative rounding error of a few double-double operations.
const ROUNDED: f64 = 1e-26;

/// The relative width of brackets of delta whose differences are computed.
const NEAR: f64 = 1e-5;

impl SampleSecrecy {
    pub(crate) fn of(public: &PublicFacts) -> Self {
        let share =
            public.rows.zip(public.sample_of).filter(|(rows, population)| rows < population);
        Self { share: share.map(|(rows, population)| Dd::from(rows as f64) / population as f64) }
    }

    /// The delta at which the releases themselves are composed, rounded down.
    pub(crate) fn delta_within(self, delta: Delta) -> Delta {
        let Some(share) = self.share else { return delta };
        let within = (Dd::from(delta.get()) / share * (1.0 - ROUNDED)).lower();
        Delta::new(within.min(1.0_f64.next_down())).unwrap_or(delta)
    }

    /// An upper bound on the (epsilon, delta) of the releases themselves that keep to these values for the population;
    /// `None` if all releases keep to them.
    fn most_within(self, epsilon: f64, delta: Delta) -> Option<(f64, f64)> {
        let Some(share) = self.share else { return Some((epsilon, delta.get())) };
        let delta = (Dd::from(delta.get()) / share * (1.0 + ROUNDED)).upper();
        // Beyond 500 the value is less than e - ln(n/N).
        let within = match epsilon {
            500.0.. => Dd::from(epsilon) - share.ln(),
            _ => (Dd::from(epsilon).expm1() / share).ln_1p(),
        };
        (delta < 1.0).then(|| ((within * (1.0 + ROUNDED)).upper(), delta))
    }

    /// Converts an epsilon of the releases themselves to the epsilon for the population.
    pub(crate) fn outside(self, within: Bracket) -> Bracket {
        let Some(share) = self.share else { return within };
        let of = |epsilon: f64, slack: f64| {
            // Beyond 500 the value is e + ln(n/N) to double precision, and less than e.
            let value = match epsilon {
                500.0.. => Dd::from(epsilon) + share.ln(),
                _ => (share * Dd::from(epsilon).expm1()).ln_1p(),
            };
            value * (1.0 + slack)
        };
        let lower = of(within.lower, -ROUNDED).lower().max(0.0);
        let upper =
            if within.upper < 500.0 { of(within.upper, ROUNDED).upper() } else { within.upper };
        Bracket { lower, upper }
    }
}

/// Composes the releases of one study.
#[derive(Clone, Copy)]
pub(crate) struct Composer<'a> {
    public: PublicFacts,
    allowed: Delta,
    delta: Delta,
    options: Options<'a>,
    secrecy: SampleSecrecy,
    progress: &'a Progress<'a>,
}

impl<'a> Composer<'a> {
    /// Creates a composer. It reports progress to the options' watcher through `progress`.
    pub(crate) fn new(
        public: &PublicFacts,
        budget: Budget,
        options: Options<'a>,
        progress: &'a Progress<'a>,
    ) -> Self {
        let secrecy = SampleSecrecy::of(public);
        let (allowed, delta) = (budget.delta, secrecy.delta_within(budget.delta));
        Self { public: *public, allowed, delta, options, secrecy, progress }
    }

    /// The progress of the planning.
    pub(crate) fn progress(&self) -> &Progress<'a> {
        self.progress
    }

    /// The delta at which releases are composed.
    pub(crate) fn delta(&self) -> Delta {
        self.delta
    }

    /// An upper bound on the (epsilon, delta) of releases that keep to the study's delta and to this epsilon; `None` if
    /// all releases keep to them.
    pub(crate) fn most_within(&self, epsilon: f64) -> Option<(f64, f64)> {
        self.secrecy.most_within(epsilon, self.allowed)
    }

    /// The certified delta of releases at an epsilon, without the effect of a secret sample.
    pub(crate) fn delta_at(
        &self,
        releases: &[Release],
        epsilon: Epsilon,
    ) -> Result<Bracket, CostError> {
        let tolerance = Tolerance::new(NEAR).map_or(self.options.tolerance, Tolerance::as_aim);
        let options = Options { tolerance, ..self.options };
        Ok(self.plan(releases)?.delta(epsilon, &options)?.bracket)
    }

    /// Estimates the epsilon for the population from an epsilon of the releases themselves.
    pub(crate) fn outside(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon.max(0.0);
        self.secrecy.outside(Bracket { lower: epsilon, upper: epsilon }).upper
    }

    pub(crate) fn plan(&self, releases: &[Release]) -> Result<Plan, PlanError> {
        let releases = releases.iter().cloned();
        Plan::for_neighbours(releases, Some(self.public.relation.adjacency()), GroupSize::ONE)
    }

    /// The certified epsilon of releases, with the effect of a secret sample.
    pub(crate) fn epsilon(&self, releases: &[Release]) -> Result<Answer, CostError> {
        self.asked(releases, self.options)
    }

    /// A certified upper bound on the epsilon of releases.
    pub(crate) fn at_most(&self, releases: &[Release]) -> Result<f64, CostError> {
        let answer =
            self.asked(releases, Options { ends: RequestedEnds::Upper, ..self.options })?;
        Ok(answer.bracket.upper)
    }

    /// A certified lower bound on the epsilon of releases, as tight as possible, by the route of a similar answer if
    /// there is one.
    pub(crate) fn at_least(
        &self,
        releases: &[Release],
        like: Option<Answer>,
    ) -> Result<f64, CostError> {
        let tolerance = self.options.tolerance.as_aim();
        let options =
            Options { ends: RequestedEnds::Lower { similar: like }, tolerance, ..self.options };
        Ok(self.asked(releases, options)?.bracket.lower)
    }

    fn asked(&self, releases: &[Release], options: Options<'_>) -> Result<Answer, CostError> {
        let go = |_| self.progress.go();
        let options = Options { watch: Watch::new(&go), ..options };
        let answer = self.plan(releases)?.epsilon(self.delta, &options)?;
        let mut outside = answer;
        outside.bracket = self.secrecy.outside(answer.bracket);
        Ok(outside)
    }
}

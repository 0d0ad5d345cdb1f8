//! What releases cost together, and what secrecy of a sample makes of it.

use crate::pace::Pace;
use crate::study::{Budget, Public};
use counterpoint::quantity::{Delta, Epsilon, Group, Tolerance};
use counterpoint::watch::Watch;
use counterpoint::{Answer, AskError, Asked, Bracket, Options, Plan, PlanError, Release};
use counterpoint_numerics::Dd;

/// Why releases have no cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CostError {
    /// They are no plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Nothing can be certified of them.
    #[error(transparent)]
    Ask(#[from] AskError),
}

/// Which share of a population is in the data, at least and at most: one if they are no secret sample.
///
/// A simple random sample of n of N, neighbours differing in one replaced record, turns (e, d) into
/// (ln(1 + (n/N)(e^e - 1)), (n/N) d), once, for the whole composition (Balle, Barthe and Gaboardi 2018, Theorem 9).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Secrecy {
    share: Option<Dd>,
}

/// What a few operations in double-doubles may have lost, and far more.
const ROUNDED: f64 = 1e-26;

/// How narrow brackets of delta are to be of which differences are taken.
const NEAR: f64 = 1e-5;

impl Secrecy {
    pub(crate) fn of(public: &Public) -> Self {
        let share =
            public.rows.zip(public.sample_of).filter(|(rows, population)| rows < population);
        Self { share: share.map(|(rows, population)| Dd::from(rows as f64) / population as f64) }
    }

    /// The delta at which the releases themselves are to be composed: no more than allowed.
    pub(crate) fn delta_within(self, delta: Delta) -> Delta {
        let Some(share) = self.share else { return delta };
        let within = (Dd::from(delta.get()) / share * (1.0 - ROUNDED)).lower();
        Delta::new(within.min(1.0_f64.next_down())).unwrap_or(delta)
    }

    /// No less than any (epsilon, delta) of the releases themselves that keeps to these outside; nothing where all do.
    fn most_within(self, epsilon: f64, delta: Delta) -> Option<(f64, f64)> {
        let Some(share) = self.share else { return Some((epsilon, delta.get())) };
        let delta = (Dd::from(delta.get()) / share * (1.0 + ROUNDED)).upper();
        // Beyond 500 it is less than e - ln(n/N).
        let within = match epsilon {
            500.0.. => Dd::from(epsilon) - share.ln(),
            _ => (Dd::from(epsilon).expm1() / share).ln_1p(),
        };
        (delta < 1.0).then(|| ((within * (1.0 + ROUNDED)).upper(), delta))
    }

    /// What an epsilon of the releases themselves is of the population.
    pub(crate) fn outside(self, within: Bracket) -> Bracket {
        let Some(share) = self.share else { return within };
        let of = |epsilon: f64, slack: f64| {
            // Beyond 500 it is e + ln(n/N), as nearly as can be told, and less than e.
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

/// Composes releases within one study.
#[derive(Clone, Copy)]
pub(crate) struct Composer<'a> {
    public: Public,
    allowed: Delta,
    delta: Delta,
    options: Options<'a>,
    secrecy: Secrecy,
    pace: &'a Pace<'a>,
}

impl<'a> Composer<'a> {
    /// The pace tells the options' watcher.
    pub(crate) fn new(
        public: &Public,
        budget: Budget,
        options: Options<'a>,
        pace: &'a Pace<'a>,
    ) -> Self {
        let secrecy = Secrecy::of(public);
        let (allowed, delta) = (budget.delta, secrecy.delta_within(budget.delta));
        Self { public: *public, allowed, delta, options, secrecy, pace }
    }

    /// How far planning has come.
    pub(crate) fn pace(&self) -> &Pace<'a> {
        self.pace
    }

    /// The delta at which releases are composed.
    pub(crate) fn delta(&self) -> Delta {
        self.delta
    }

    /// The largest (epsilon, delta) that releases may have to keep to the study's delta and to this epsilon: no less than
    /// it is, and nothing where all are within them.
    pub(crate) fn most_within(&self, epsilon: f64) -> Option<(f64, f64)> {
        self.secrecy.most_within(epsilon, self.allowed)
    }

    /// The certified delta of releases at an epsilon, secrecy of the sample left aside.
    pub(crate) fn delta_at(
        &self,
        releases: &[Release],
        epsilon: Epsilon,
    ) -> Result<Bracket, CostError> {
        let tolerance = Tolerance::new(NEAR).map_or(self.options.tolerance, Tolerance::aimed_at);
        let options = Options { tolerance, ..self.options };
        Ok(self.plan(releases)?.delta(epsilon, &options)?.bracket)
    }

    /// About what an epsilon of the releases themselves is of the population.
    pub(crate) fn outside(&self, epsilon: f64) -> f64 {
        let epsilon = epsilon.max(0.0);
        self.secrecy.outside(Bracket { lower: epsilon, upper: epsilon }).upper
    }

    pub(crate) fn plan(&self, releases: &[Release]) -> Result<Plan, PlanError> {
        let releases = releases.iter().cloned();
        Plan::with(releases, Some(self.public.relation.adjacency()), Group::ONE)
    }

    /// The certified epsilon of releases, secrecy of the sample included.
    pub(crate) fn epsilon(&self, releases: &[Release]) -> Result<Answer, CostError> {
        self.asked(releases, self.options)
    }

    /// The same where its upper end alone matters.
    pub(crate) fn at_most(&self, releases: &[Release]) -> Result<f64, CostError> {
        let answer = self.asked(releases, Options { ends: Asked::Upper, ..self.options })?;
        Ok(answer.bracket.upper)
    }

    /// The same where its lower end alone matters, as near as it may be; as in a similar answer.
    pub(crate) fn at_least(
        &self,
        releases: &[Release],
        like: Option<Answer>,
    ) -> Result<f64, CostError> {
        let tolerance = self.options.tolerance.aimed_at();
        let options = Options { ends: Asked::Lower { like }, tolerance, ..self.options };
        Ok(self.asked(releases, options)?.bracket.lower)
    }

    fn asked(&self, releases: &[Release], options: Options<'_>) -> Result<Answer, CostError> {
        let go = |_| self.pace.go();
        let options = Options { watch: Watch::with(&go), ..options };
        let answer = self.plan(releases)?.epsilon(self.delta, &options)?;
        let mut outside = answer;
        outside.bracket = self.secrecy.outside(answer.bracket);
        Ok(outside)
    }
}

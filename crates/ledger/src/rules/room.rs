//! What still fits an open account, in terms that people use: found by asking the account's own rule.

use counterpoint::quantity::Noise;
use counterpoint::{Count, Delta, Mechanism, Options, Plan, Sensitivity};
use counterpoint_budget::Amount;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{
    Asked, Described, ExactPlan, GaussianRoom, Promised, Room, Rule, SampledRoom,
};

use super::debit;
use super::error::Result;
use super::limits::FORMAT;
use super::rows::{Account, Share};

/// The training that room is told for: so many steps on Poisson samples of this rate.
const STEPS: u64 = 1000;
const RATE: &str = "0.01";

/// Numbers of so many significant digits, from a power of ten on: 100000e-17, 100001e-17, ...
#[derive(Clone, Copy)]
struct Grid {
    digits: u32,
    /// The exponent of the first number's last digit.
    least: i32,
    decades: u32,
}

const EPSILONS: Grid = Grid { digits: 6, least: -17, decades: 18 };
const SIGMAS: Grid = Grid { digits: 6, least: -11, decades: 18 };
const STEP_SIGMAS: Grid = Grid { digits: 6, least: -7, decades: 8 };
const FACTORS: Grid = Grid { digits: 4, least: -3, decades: 6 };

impl Grid {
    fn len(self) -> u32 {
        9 * 10_u32.pow(self.digits - 1) * self.decades
    }

    fn at(self, step: u32) -> Amount {
        let first = 10_u32.pow(self.digits - 1);
        let (decade, step) = (step / (9 * first), step % (9 * first));
        let exponent = self.least + i32::try_from(decade).unwrap_or_default();
        format!("{}e{exponent}", first + step).parse().unwrap_or_default()
    }

    /// The first number that a test finds true, which is true of all that come after.
    fn first(self, test: impl Fn(&Amount) -> bool) -> Option<Amount> {
        first(self.len(), |step| test(&self.at(step))).map(|step| self.at(step))
    }

    /// The last number that a test finds true, which is true of all that come before.
    fn last(self, test: impl Fn(&Amount) -> bool) -> Option<Amount> {
        let end = first(self.len(), |step| !test(&self.at(step))).unwrap_or(self.len());
        end.checked_sub(1).map(|step| self.at(step))
    }
}

/// The first number below an end that a test finds true.
fn first(end: u32, test: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if test(middle) { high = middle } else { low = middle + 1 }
    }
    (low < end).then_some(low)
}

/// An open account, or an analyst's share of it.
#[derive(Clone, Copy)]
pub(crate) struct Gauge<'a> {
    account: &'a Account,
    share: Option<&'a Share>,
}

impl<'a> Gauge<'a> {
    /// `None` where nothing can be reserved, whatever is asked, and for plan accounts.
    pub(crate) fn new(
        account: &'a Account,
        analyst: Option<&str>,
        share: Option<&'a Share>,
    ) -> Option<Self> {
        let is_open = matches!(account.rule, Rule::Filter(_)) && account.closed.is_none();
        let is_without = account.quotas > 0 && analyst.is_some() && share.is_none();
        let is_asked = is_open && account.parent.is_some() && !is_without;
        is_asked.then_some(Self { account, share })
    }

    /// What fits now. With `told` the Gaussian one is also told as an epsilon.
    pub(crate) fn room(self, told: bool) -> Room {
        let pure = |epsilon: &Amount| format!(r#""mechanism":"approx-dp","epsilon":{epsilon}"#);
        let pure = EPSILONS.last(|epsilon| self.admits(&pure(epsilon)));
        Room { pure, gaussian: self.gaussian(told), sampled: self.sampled() }
    }

    fn gaussian(self, told: bool) -> Option<GaussianRoom> {
        let fields = |sigma: &Amount| format!(r#""mechanism":"gaussian","sigma":{sigma}"#);
        // What the account cannot charge at all is not searched for.
        if !self.charges(&fields(&Amount::from(1))) {
            return None;
        }
        let sigma = SIGMAS.first(|sigma| self.admits(&fields(sigma)))?;
        let delta = match debit::promise_of(self.account) {
            Some(Promised::ApproxDp { delta, .. }) if told && !delta.is_zero() => Some(delta),
            _ => None,
        };
        let epsilon = delta.as_ref().and_then(|delta| self.epsilon(&sigma, delta));
        Some(GaussianRoom { delta: delta.filter(|_| epsilon.is_some()), sigma, epsilon })
    }

    /// The epsilon of Gaussian noise, rounded down until noise that is found from it fits.
    fn epsilon(self, sigma: &Amount, delta: &Amount) -> Option<Amount> {
        let sensitivity = Sensitivity::new(1.0).ok()?;
        let mechanism = Mechanism::Gaussian { sigma: Noise::new(sigma.upper()).ok()?, sensitivity };
        let plan = Plan::new([(mechanism, Count::ONE)]).ok()?;
        let found = plan.epsilon(Delta::new(delta.lower()).ok()?, &Options::default()).ok()?;
        let below = [1e-6, 1e-5, 1e-4, 1e-3].into_iter().filter_map(|slack| {
            format!("{:.6e}", found.bracket.lower * (1.0 - slack)).parse::<Amount>().ok()
        });
        let fits = |epsilon: &Amount| {
            self.admits(&format!(r#""mechanism":"gaussian","epsilon":{epsilon},"delta":{delta}"#))
        };
        below.into_iter().find(|epsilon| !epsilon.is_zero() && fits(epsilon))
    }

    fn sampled(self) -> Option<SampledRoom> {
        let fields = |sigma: &Amount| {
            format!(r#""mechanism":"gaussian","sigma":{sigma},"rate":{RATE},"count":{STEPS}"#)
        };
        if !self.charges(&fields(&Amount::from(10))) {
            return None;
        }
        let sigma = STEP_SIGMAS.first(|sigma| self.admits(&fields(sigma)))?;
        Some(SampledRoom { rate: RATE.parse().ok()?, steps: STEPS, sigma })
    }

    /// The least factor of noise with which releases that were refused would fit.
    pub(crate) fn noise(self, asked: &Asked) -> Option<Amount> {
        let Asked::Described(list) = asked else { return None };
        let noisier = |factor: &Amount| {
            let list: Option<Vec<Described>> =
                list.iter().map(|described| described.noisier(factor)).collect();
            list.map(Asked::Described)
        };
        noisier(&Amount::from(2))?;
        FACTORS.first(|factor| noisier(factor).is_some_and(|asked| self.fits(&asked).is_ok()))
    }

    fn admits(self, fields: &str) -> bool {
        self.asked(fields).and_then(|asked| self.fits(&asked)).is_ok()
    }

    fn fits(self, asked: &Asked) -> Result<()> {
        let charge = debit::price(self.account, None, asked, FORMAT)?;
        debit::reserve(self.account, None, self.share, asked, charge).map(drop)
    }

    /// Whether the account can charge it at all.
    fn charges(self, fields: &str) -> bool {
        let price = |asked| debit::price(self.account, None, &asked, FORMAT);
        self.asked(fields).and_then(price).is_ok()
    }

    /// A release about the account's part of the data.
    fn asked(self, fields: &str) -> Result<Asked> {
        // Names of parts have no character that JSON writes otherwise but these two.
        let quoted = |part: &str| part.replace('\\', "\\\\").replace('"', "\\\"");
        let part = self.account.part.as_deref().map(quoted);
        let part = part.map(|part| format!(r#","partition":"{part}""#)).unwrap_or_default();
        let text = format!(r#"{{"release":[{{{fields}{part}}}]}}"#);
        Ok(Asked::Described(ExactPlan::parse(text.as_bytes(), Format::Json)?.releases))
    }
}

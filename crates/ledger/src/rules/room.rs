//! The largest releases that still fit an open account, as an epsilon or a noise level. The search asks the account's
//! own rule.

use counterpoint::quantity::NoiseScale;
use counterpoint::{Count, Delta, Mechanism, Options, Plan, Sensitivity};
use counterpoint_budget::Amount;
use counterpoint_wire::Format;
use counterpoint_wire::ledger::{
    ExactPlan, GaussianHeadroom, Headroom, PromiseRecord, ReleaseRecord, ReleaseRequest, Rule,
    SampledHeadroom,
};

use super::debit;
use super::error::Result;
use super::limits::FORMAT;
use super::rows::{Account, QuotaRow};

/// The training that room is computed for: this number of steps on Poisson samples of this rate.
const STEPS: u64 = 1000;
const RATE: &str = "0.01";

/// Decimal numbers with a fixed number of significant digits, in ascending order: 100000e-17, 100001e-17, ...
#[derive(Clone, Copy)]
struct SearchGrid {
    digits: u32,
    /// The exponent of the first number's last digit.
    least: i32,
    decades: u32,
}

const EPSILONS: SearchGrid = SearchGrid { digits: 6, least: -17, decades: 18 };
const SIGMAS: SearchGrid = SearchGrid { digits: 6, least: -11, decades: 18 };
const STEP_SIGMAS: SearchGrid = SearchGrid { digits: 6, least: -7, decades: 8 };
const FACTORS: SearchGrid = SearchGrid { digits: 4, least: -3, decades: 6 };

impl SearchGrid {
    fn len(self) -> u32 {
        9 * 10_u32.pow(self.digits - 1) * self.decades
    }

    fn at(self, step: u32) -> Amount {
        let first = 10_u32.pow(self.digits - 1);
        let (decade, step) = (step / (9 * first), step % (9 * first));
        let exponent = self.least + i32::try_from(decade).unwrap_or_default();
        format!("{}e{exponent}", first + step).parse().unwrap_or_default()
    }

    /// The first number that passes a test. All numbers after it must pass too.
    fn first(self, test: impl Fn(&Amount) -> bool) -> Option<Amount> {
        first(self.len(), |step| test(&self.at(step))).map(|step| self.at(step))
    }

    /// The last number that passes a test. All numbers before it must pass too.
    fn last(self, test: impl Fn(&Amount) -> bool) -> Option<Amount> {
        let end = first(self.len(), |step| !test(&self.at(step))).unwrap_or(self.len());
        end.checked_sub(1).map(|step| self.at(step))
    }
}

/// The first number below `end` that passes a test, by bisection.
fn first(end: u32, test: impl Fn(u32) -> bool) -> Option<u32> {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if test(middle) { high = middle } else { low = middle + 1 }
    }
    (low < end).then_some(low)
}

/// Searches for the largest releases that fit an open account, and an analyst's quota of it.
#[derive(Clone, Copy)]
pub(crate) struct RoomSearch<'a> {
    account: &'a Account,
    quota: Option<&'a QuotaRow>,
}

impl<'a> RoomSearch<'a> {
    /// `None` for plan accounts, and where nothing can be reserved at all.
    pub(crate) fn new(
        account: &'a Account,
        analyst: Option<&str>,
        quota: Option<&'a QuotaRow>,
    ) -> Option<Self> {
        let is_open = matches!(account.rule, Rule::Filter(_)) && account.closed.is_none();
        let lacks_quota = account.quotas > 0 && analyst.is_some() && quota.is_none();
        let can_reserve = is_open && account.parent.is_some() && !lacks_quota;
        can_reserve.then_some(Self { account, quota })
    }

    /// The largest releases that fit now. With `with_epsilon`, the Gaussian one is also given as an epsilon.
    pub(crate) fn room(self, with_epsilon: bool) -> Headroom {
        let pure = |epsilon: &Amount| format!(r#""mechanism":"approx-dp","epsilon":{epsilon}"#);
        let pure = EPSILONS.last(|epsilon| self.admits(&pure(epsilon)));
        Headroom { pure, gaussian: self.gaussian(with_epsilon), sampled: self.sampled() }
    }

    fn gaussian(self, with_epsilon: bool) -> Option<GaussianHeadroom> {
        let fields = |sigma: &Amount| format!(r#""mechanism":"gaussian","sigma":{sigma}"#);
        // There is nothing to search for if the account cannot charge such releases at all.
        if !self.charges(&fields(&Amount::from(1))) {
            return None;
        }
        let sigma = SIGMAS.first(|sigma| self.admits(&fields(sigma)))?;
        let delta = match debit::current_promise(self.account) {
            Some(PromiseRecord::ApproxDp { delta, .. }) if with_epsilon && !delta.is_zero() => {
                Some(delta)
            }
            _ => None,
        };
        let epsilon = delta.as_ref().and_then(|delta| self.epsilon(&sigma, delta));
        Some(GaussianHeadroom { delta: delta.filter(|_| epsilon.is_some()), sigma, epsilon })
    }

    /// The epsilon of Gaussian noise, rounded down until the noise that is calibrated to it fits.
    fn epsilon(self, sigma: &Amount, delta: &Amount) -> Option<Amount> {
        let sensitivity = Sensitivity::new(1.0).ok()?;
        let mechanism =
            Mechanism::Gaussian { sigma: NoiseScale::new(sigma.upper()).ok()?, sensitivity };
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

    fn sampled(self) -> Option<SampledHeadroom> {
        let fields = |sigma: &Amount| {
            format!(r#""mechanism":"gaussian","sigma":{sigma},"rate":{RATE},"count":{STEPS}"#)
        };
        if !self.charges(&fields(&Amount::from(10))) {
            return None;
        }
        let sigma = STEP_SIGMAS.first(|sigma| self.admits(&fields(sigma)))?;
        Some(SampledHeadroom { rate: RATE.parse().ok()?, steps: STEPS, sigma })
    }

    /// The least factor of noise with which refused releases would fit.
    pub(crate) fn noise(self, asked: &ReleaseRequest) -> Option<Amount> {
        let ReleaseRequest::Described(list) = asked else { return None };
        let noisier = |factor: &Amount| {
            let list: Option<Vec<ReleaseRecord>> =
                list.iter().map(|described| described.noisier(factor)).collect();
            list.map(ReleaseRequest::Described)
        };
        noisier(&Amount::from(2))?;
        FACTORS.first(|factor| noisier(factor).is_some_and(|asked| self.fits(&asked).is_ok()))
    }

    fn admits(self, fields: &str) -> bool {
        self.request_of(fields).and_then(|asked| self.fits(&asked)).is_ok()
    }

    fn fits(self, asked: &ReleaseRequest) -> Result<()> {
        let charge = debit::price(self.account, None, asked, FORMAT)?;
        debit::reserve(self.account, None, self.quota, asked, charge).map(drop)
    }

    /// True if the account can charge the release at all.
    fn charges(self, fields: &str) -> bool {
        let price = |asked| debit::price(self.account, None, &asked, FORMAT);
        self.request_of(fields).and_then(price).is_ok()
    }

    /// A request for a release with these fields, about the account's part of the data.
    fn request_of(self, fields: &str) -> Result<ReleaseRequest> {
        // Of the characters in names of parts, JSON escapes only these two.
        let quoted = |part: &str| part.replace('\\', "\\\\").replace('"', "\\\"");
        let part = self.account.part.as_deref().map(quoted);
        let part = part.map(|part| format!(r#","partition":"{part}""#)).unwrap_or_default();
        let text = format!(r#"{{"release":[{{{fields}{part}}}]}}"#);
        Ok(ReleaseRequest::Described(ExactPlan::parse(text.as_bytes(), Format::Json)?.releases))
    }
}

//! Audits: lower bounds on epsilon from the observed errors of attacks.
//!
//! An attack guesses whether a person's data were used. In trials without the data its errors are false alarms, in
//! trials with the data they are misses. If the mechanism is (epsilon, delta)-private the true rates of both satisfy
//! KOV (1), so upper confidence bounds on both rates give a lower confidence bound on epsilon.

use crate::ask::{AskError, Options};
use crate::composition::Plan;
use crate::quantity::{Confidence, Count, Delta, OutOfRangeError, Rate};
use crate::region::{ErrorRates, Verdict};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::binomial::{self, rough_series, series};
use counterpoint_numerics::{Dd, STEP, Wide};

/// The number of independent trials in which an event happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tally {
    count: u64,
    trials: u64,
}

impl Tally {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "two whole numbers a/n, a at most n, n from 1 to 10^12";

    /// Checks that there are trials, and no more events than trials.
    ///
    /// # Errors
    /// [`OutOfRangeError`] naming the number that is not legal.
    pub fn new(count: u64, trials: u64) -> Result<Self, OutOfRangeError> {
        let out =
            |quantity, value: u64, legal| OutOfRangeError { quantity, value: value as f64, legal };
        if Count::new(trials).is_err() {
            return Err(out("the number of trials", trials, Count::LEGAL));
        }
        if count > trials {
            return Err(out("a tally", count, "at most the number of trials"));
        }
        Ok(Self { count, trials })
    }

    /// The number of trials in which the event happened.
    #[must_use]
    pub fn count(self) -> u64 {
        self.count
    }

    /// The number of trials.
    #[must_use]
    pub fn trials(self) -> u64 {
        self.trials
    }

    /// An upper confidence bound on the probability of the event. With probability at most `risk` the true probability
    /// exceeds it (Clopper and Pearson 1934), because no larger p explains so few events.
    ///
    /// The bound is the least p with P(Bin(n, p) <= a) <= risk, rounded up. The returned p is checked by a tail whose
    /// roundings are all bounded. The bound is one if risk is not between 0 and 1/2.
    #[must_use]
    pub fn upper_rate(self, risk: f64) -> f64 {
        if self.count >= self.trials || !(risk > 0.0 && risk < 0.5) {
            return 1.0;
        }
        let guess = self.search(risk);
        let mut step = 1e-13;
        while step < 0.1 {
            // Increase p by a share of p or of 1 - p, whichever is less.
            let p = guess + step * guess.min(1.0 - guess);
            if p < 1.0 && self.tail(p).1 <= Wide::from(risk) {
                return p;
            }
            step *= 4.0;
        }
        1.0
    }

    /// Returns approximately the least p whose tail is within the risk. That p is at least a/n, where the tail is at
    /// least 1/2: the median of a binomial whose mean is whole is that mean.
    fn search(self, risk: f64) -> f64 {
        let (a, n) = (self.count as f64, self.trials as f64);
        let target = risk.ln();
        // Bisects ln p where p is small, otherwise p.
        let (mut low, mut high) = (a / n, 1.0);
        if a < 1.0 {
            return -(target / n).exp_m1();
        }
        for _ in 0..200 {
            let middle = if high > 2.0 * low { (low * high).sqrt() } else { 0.5 * (low + high) };
            if middle <= low || middle >= high || high - low <= 1e-15 * low.min(1.0 - high) {
                break;
            }
            if self.rough_ln_tail(middle) > target { low = middle } else { high = middle }
        }
        high
    }

    /// The approximate ln P(Bin(n, p) <= a) for p above a/n.
    fn rough_ln_tail(self, p: f64) -> f64 {
        let (ln_mass, _) = self.ln_mass(p);
        ln_mass.hi + self.falling(p, rough_series).0.hi.ln()
    }

    /// P(Bin(n, p) <= a) for p above a/n, from below and from above.
    pub(crate) fn tail(self, p: f64) -> (Wide, Wide) {
        let (ln_mass, ln_error) = self.ln_mass(p);
        let (sum, error) = self.falling(p, series);
        let slack = error + 2.0 * ln_error + 8.0 * STEP;
        let tail = Wide::exp(ln_mass) * Wide::from(sum);
        (tail * Wide::from(Dd::sum(1.0, -slack)), tail * Wide::from(Dd::sum(1.0, slack)))
    }

    /// ln P(Bin(n, p) = a), and a bound on its error; a is less than n.
    fn ln_mass(self, p: f64) -> (Dd, f64) {
        let (a, n) = (self.count as f64, self.trials as f64);
        let rest = Dd::sum(1.0, -p);
        if self.count == 0 {
            // n ln(1 - p), without rounding 1 - p first.
            let ln = if p < 0.5 { Dd::from(-p).ln_1p() } else { rest.ln() } * n;
            return (ln, 8.0 * STEP * (8.0 + ln.hi.abs()));
        }
        binomial::ln_mass((n, a), Dd::from(p), rest)
    }

    /// The sum of P(Bin = a), P(Bin = a - 1), ... relative to the first, with its relative error. Neighbours have the
    /// ratio (a - l)/(n - a + l + 1) times (1 - p)/p.
    fn falling(self, p: f64, series: binomial::Series) -> (Dd, f64) {
        let (a, n) = (self.count as f64, self.trials as f64);
        let odds = Dd::sum(1.0, -p) / p;
        let sum = series(odds, a, &|l| (a - l, n - a + l + 1.0));
        (sum.sum, sum.error)
    }
}

/// The observed errors of one attack, which was fixed before the trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attack {
    /// Alarms in trials without the person's data.
    pub false_alarms: Tally,
    /// Missing alarms in trials with the person's data.
    pub misses: Tally,
}

/// The lower bound on epsilon that attacks prove.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Audit {
    /// With the requested confidence, no (epsilon, delta)-private mechanism with these rates has a smaller epsilon;
    /// rounded down.
    pub epsilon: f64,
    /// The delta of that guarantee.
    pub delta: Delta,
    /// The probability, before the trials, that the bound would hold.
    pub confidence: Confidence,
    /// Each attack's upper confidence bounds; with the same confidence all of them hold at once.
    pub rates: Vec<ErrorRates>,
}

/// The result of comparing an audit with a claimed plan.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Refutation {
    /// True if no mechanism as claimed allows the attacks' error rates.
    pub refuted: bool,
    /// The claimed epsilon at the audit's delta; `None` if no finite epsilon is claimed there.
    pub epsilon: Option<Bracket>,
}

/// Computes a lower confidence bound on epsilon from the errors of attacks.
///
/// Each attack has two rates, each of which is bounded from above with an equal share of the risk (Bonferroni). Both
/// inequalities of KOV (1) are then applied to these bounds.
///
/// ```
/// use counterpoint::audit::{Attack, Tally, audit};
/// use counterpoint::quantity::{Confidence, Delta};
///
/// let attack = Attack {
///     false_alarms: Tally::new(1_840, 10_000)?,
///     misses: Tally::new(5_003, 10_000)?,
/// };
/// let found = audit(&[attack], Delta::new(0.0)?, Confidence::new(0.95)?);
/// assert!(found.epsilon > 0.93 && found.epsilon < 0.96);
/// # Ok::<(), counterpoint::OutOfRangeError>(())
/// ```
#[must_use]
pub fn audit(attacks: &[Attack], delta: Delta, confidence: Confidence) -> Audit {
    // 1 - confidence is exact, or nearly so; the next double below its share is safe.
    let risk = Dd::sum(1.0, -confidence.get()) / (2.0 * attacks.len() as f64);
    let risk = risk.lower().next_down();
    let rates: Vec<ErrorRates> = attacks
        .iter()
        .map(|attack| {
            ErrorRates::raw(attack.false_alarms.upper_rate(risk), attack.misses.upper_rate(risk))
        })
        .collect();
    let epsilon = rates.iter().fold(0.0, |most: f64, rate| {
        let (alarm, miss) = (rate.false_alarm(), rate.miss());
        most.max(least_epsilon(alarm, miss, delta)).max(least_epsilon(miss, alarm, delta))
    });
    Audit { epsilon, delta, confidence, rates }
}

/// Returns the least epsilon with `a + e^epsilon b >= 1 - delta`, rounded down.
fn least_epsilon(a: f64, b: f64, delta: Delta) -> f64 {
    let rest = Dd::sum(1.0, -delta.get()) - Dd::from(a);
    let rest = rest - Dd::from(4.0 * STEP);
    if !rest.is_positive() || b <= 0.0 {
        return 0.0;
    }
    let ln = (rest / b).ln();
    (ln - Dd::from(16.0 * STEP * (1.0 + ln.hi.abs()))).lower().max(0.0)
}

impl Audit {
    /// Checks whether the attacks refute the claim that the attacked mechanism is the plan.
    ///
    /// The claim is refuted if the audit's epsilon exceeds the plan's epsilon at this delta. It is also refuted if the
    /// bounds on some attack's rates lie outside the plan's region, whichever of the two errors is called the false
    /// alarm; this tests every delta at once.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn refutes(&self, plan: &Plan, options: &Options<'_>) -> Result<Refutation, AskError> {
        let claimed = match plan.epsilon(self.delta, options) {
            Ok(answer) => Some(answer.bracket),
            Err(AskError::BelowLeak { .. } | AskError::Unbounded { .. }) => None,
            Err(error) => return Err(error),
        };
        let by_epsilon = claimed.is_some_and(|claimed| self.epsilon > claimed.upper);
        let refuted = by_epsilon || self.is_outside(plan, options)?;
        Ok(Refutation { refuted, epsilon: claimed })
    }

    fn is_outside(&self, plan: &Plan, options: &Options<'_>) -> Result<bool, AskError> {
        let likely = |rate: &&ErrorRates| rate.false_alarm() + rate.miss() < 1.0;
        let likely: Vec<ErrorRates> = self.rates.iter().filter(likely).copied().collect();
        if likely.is_empty() {
            return Ok(false);
        }
        let rates: Vec<Rate> = likely
            .iter()
            .flat_map(|rate| [rate.false_alarm(), rate.miss()])
            .filter_map(|rate| Rate::new(rate).ok())
            .collect();
        let region = plan.region(&rates, options)?;
        let outside = |point: ErrorRates| region.contains(point) == Verdict::No;
        Ok(likely.iter().any(|&point| outside(point) && outside(point.mirrored())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_errors_at_all_is_a_power() {
        // P(Bin(n, p) = 0) = (1 - p)^n.
        for (n, risk) in [(1, 0.1), (10, 0.025), (1000, 0.025), (1_000_000_000, 1e-3)] {
            let exact = -(f64::ln(risk) / n as f64).exp_m1();
            let bound = Tally::new(0, n).unwrap().upper_rate(risk);
            assert!(bound >= exact * (1.0 - 1e-15), "{n}");
            assert!(bound <= exact * (1.0 + 1e-12), "{n}: {bound:e} {exact:e}");
        }
    }

    #[test]
    fn tallies_that_cannot_be() {
        assert!(Tally::new(0, 0).is_err() && Tally::new(2, 1).is_err());
        assert!(Tally::new(1, u64::MAX).is_err());
        let error = Tally::new(5, 3).unwrap_err().to_string();
        assert_eq!(error, "a tally is 5; legal: at most the number of trials");
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let none = audit(&[], Delta::new(0.0).unwrap(), Confidence::new(0.95).unwrap());
        assert!(none.epsilon.abs() < 1e-300 && none.rates.is_empty());
        let all = Tally::new(7, 7).unwrap();
        let attack = Attack { false_alarms: all, misses: all };
        let useless = audit(&[attack], Delta::new(0.0).unwrap(), Confidence::new(0.95).unwrap());
        assert!(useless.epsilon.abs() < 1e-300);
    }
}

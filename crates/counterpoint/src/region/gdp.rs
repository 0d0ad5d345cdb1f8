//! A plan as Gaussian privacy: the least mu whose trade-off curve lies below that of the plan, and how much is lost by
//! reporting mu alone (theory 9.11 and theory 9.12).

use super::lines::{ProfilePoint, kink, reflected};
use super::normal::{necessary_mu, place_above, place_below, profile, sufficient_mu};
use crate::ask::{AskError, Options};
use crate::composition::{Composition, Plan, leak};
use crate::methods::largest::largest;
use crate::quantity::{Delta, Epsilon, Floor, Tolerance};
use counterpoint_numerics::{Bracket, Dd, STEP, Wide, exp, exp_neg};

/// The relative width of mu that is aimed at.
pub const MU_TOLERANCE: f64 = 1e-4;
/// The width of the regret that is aimed at.
pub const REGRET_TOLERANCE: f64 = 1e-4;

/// The number of epsilons at which the profile is computed first.
const FIRST: usize = 17;
/// The largest number of epsilons.
const MOST: usize = 600;
/// The relative width to which each delta is computed.
const DELTA_WIDTH: f64 = 1e-8;
/// An interval is not cut if it is narrower than this share of all epsilons.
const NARROWEST: f64 = 1e-7;
/// The errors of a few operations on probabilities, in doubles.
const ROUNDINGS: f64 = 1e-14;
/// 1/sqrt(2 pi), rounded up: the largest density, and the fastest growth of a profile with mu.
const LARGEST_DENSITY: f64 = 0.4;

/// A plan as Gaussian privacy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GaussianPrivacy {
    /// The least mu with `delta(e) <= max(delta_mu(e), floor)` at every epsilon e: any (epsilon, delta) of mu holds for
    /// the plan too if its delta is at least the floor. Both ends are infinite if the plan leaks more than the floor.
    pub mu: Bracket,
    /// The floor.
    pub floor: Floor,
    /// The least mu without a floor. The upper end is infinite if there is none, or if none is proved.
    pub everywhere: Bracket,
    /// The distance of the trade-off curve of mu from that of the plan: the least k such that the plan's curve, moved by
    /// k to the left and by k down, is nowhere above that of mu, and the other way around.
    pub regret: Bracket,
}

impl Plan {
    /// Computes the least mu of Gaussian privacy, and its regret.
    ///
    /// The relative width of mu is at most [`MU_TOLERANCE`] and the width of the regret at most [`REGRET_TOLERANCE`],
    /// unless the profile itself is known less well.
    ///
    /// ```
    /// use counterpoint::quantity::{Floor, NoiseScale};
    /// use counterpoint::{Count, Mechanism, Options, Plan, Sensitivity};
    ///
    /// let noise = Mechanism::Laplace { scale: NoiseScale::new(2.0)?, sensitivity: Sensitivity::new(1.0)? };
    /// let plan = Plan::new([(noise, Count::new(20)?)])?;
    /// let gdp = plan.gaussian_privacy(Floor::default(), &Options::default())?;
    /// assert!(gdp.mu.relative_width() < 1e-4 && gdp.regret.upper < 0.02);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn gaussian_privacy(
        &self,
        floor: Floor,
        options: &Options<'_>,
    ) -> Result<GaussianPrivacy, AskError> {
        if let Some(mu) = self.own_mu() {
            let regret = Bracket { lower: 0.0, upper: (LARGEST_DENSITY * mu.width()).next_up() };
            return Ok(GaussianPrivacy { mu, floor, everywhere: mu, regret });
        }
        let mut samples = match ProfileSamples::new(self, floor, options) {
            Err(AskError::BelowLeak { .. }) => return self.leaking(floor, options),
            samples => samples?,
        };
        let mu = samples.bracket_mu()?;
        let regret = samples.bracket_regret(mu)?;
        let everywhere = self.mu_everywhere(mu.lower);
        // Without a floor mu may be no less, so its upper bound holds for mu with one, too.
        let mu = Bracket { upper: mu.upper.min(everywhere.upper), ..mu };
        Ok(GaussianPrivacy { mu, floor, everywhere, regret })
    }

    /// Returns mu if the plan consists of Gaussian noise alone.
    fn own_mu(&self) -> Option<Bracket> {
        let mus: Option<Vec<Bracket>> = self.compositions.iter().map(own_mu).collect();
        mus?.into_iter().reduce(|a, b| if b.upper > a.upper { b } else { a })
    }

    /// Answers for a plan that may leak more than the floor: if it certainly does, only an infinite mu would do.
    fn leaking(&self, floor: Floor, options: &Options<'_>) -> Result<GaussianPrivacy, AskError> {
        let zero = Epsilon::new(0.0).map_err(|_| AskError::Stopped)?;
        let advantage = self.delta(zero, &narrow(options))?.bracket.upper;
        let leak = self.certain_leak();
        let at_least = |is_infinite: bool| Bracket {
            lower: if is_infinite { f64::INFINITY } else { 0.0 },
            upper: f64::INFINITY,
        };
        let (mu, everywhere) = (at_least(leak > floor.get()), at_least(leak > 0.0));
        let least = if mu.lower > 0.0 { 0.5 * (1.0 - advantage) - ROUNDINGS } else { 0.0 };
        let regret = Bracket { lower: least.max(0.0), upper: 0.5 };
        Ok(GaussianPrivacy { mu, floor, everywhere, regret })
    }

    /// Returns a lower bound on the largest leak of the parts and directions.
    fn certain_leak(&self) -> f64 {
        let leaks = self.compositions.iter().map(|whole| &whole.lower_composition().leaks.below);
        let bounds = leaks.map(|leaks| leak::with_leaks(leaks, Wide::ZERO, Wide::ZERO).lower);
        bounds.fold(0.0, f64::max)
    }

    /// Bounds the least mu without a floor, which is at least the given mu.
    fn mu_everywhere(&self, least: f64) -> Bracket {
        if self.certain_leak() > 0.0 {
            return Bracket::exact(f64::INFINITY);
        }
        let by_noise: Option<Vec<Bracket>> = self.compositions.iter().map(mu_of_noise).collect();
        if let Some(mu) = by_noise
            .and_then(|all| all.into_iter().reduce(|a, b| if b.upper > a.upper { b } else { a }))
        {
            return mu;
        }
        let largest = self.compositions.iter().map(largest_loss);
        let largest = largest.reduce(|a, b| Some(a?.max(b?))).flatten();
        Bracket { lower: least, upper: largest.map_or(f64::INFINITY, mu_of_pure) }
    }
}

/// Returns mu of a composition that consists of Gaussian noise alone.
fn own_mu(whole: &Composition) -> Option<Bracket> {
    whole.losses.iter().all(|part| part.law().normal_square().is_some()).then_some(())?;
    mu_of_noise(whole)
}

/// Returns the least mu without a floor of Gaussian noise, on samples or on all data: that of the noise on all data
/// (theory 9.11).
fn mu_of_noise(whole: &Composition) -> Option<Bracket> {
    let plain = whole.curves.is_empty() && whole.lower_pair.is_none();
    let known = plain && whole.leaks.above.is_empty() && !whole.losses.is_empty();
    let square = whole.losses.iter().filter(|_| known).try_fold(Dd::ZERO, |sum, part| {
        let law = part.law();
        let sampled = || law.sampled_normal().map(|sample| sample.mu * sample.mu);
        Some(sum + law.normal_square().or_else(sampled)? * part.count as f64)
    })?;
    let (mu, error) = (square.sqrt(), square.sqrt().hi * STEP * (16.0 + whole.losses.len() as f64));
    known.then(|| Bracket {
        lower: (mu - Dd::from(error)).lower(),
        upper: (mu + Dd::from(error)).upper(),
    })
}

/// Returns an upper bound on the largest loss of a composition without leaks.
fn largest_loss(whole: &Composition) -> Option<f64> {
    let bounded = whole.curves.is_empty() && whole.leaks.above.is_empty();
    let (largest, error) = largest(&whole.losses).filter(|_| bounded)?;
    Some((largest + error.into()).upper())
}

/// Returns the mu of every (epsilon, 0)-private mechanism: that of randomized response, whose error rates are both
/// `1/(1 + exp(epsilon))`.
fn mu_of_pure(epsilon: f64) -> f64 {
    let odds = exp_neg(Dd::from(epsilon));
    let rate = odds / (Dd::ONE + odds);
    2.0 * place_above((rate - rate * (64.0 * STEP)).lower())
}

/// Returns options for the deltas of a profile.
fn narrow<'a>(options: &Options<'a>) -> Options<'a> {
    let tolerance = Tolerance::new(DELTA_WIDTH).unwrap_or(options.tolerance);
    Options { tolerance: tolerance.as_aim(), ..*options }
}

/// The profile at finitely many epsilons, from 0 to where it falls to the floor.
struct ProfileSamples<'a> {
    plan: &'a Plan,
    options: Options<'a>,
    /// By rising epsilon.
    known: Vec<ProfilePoint>,
    /// The epsilon at the floor: the profile is at least the floor up to the lower end, and at most the floor from the
    /// upper end on.
    end: Bracket,
    floor: f64,
}

impl<'a> ProfileSamples<'a> {
    fn new(plan: &'a Plan, floor: Floor, options: &Options<'a>) -> Result<Self, AskError> {
        let options = narrow(options);
        let delta = Delta::new(floor.get()).map_err(|_| AskError::Stopped)?;
        let end = plan.epsilon(delta, &options)?.bracket;
        let mut samples = Self { plan, options, known: Vec::new(), end, floor: floor.get() };
        for index in 0..FIRST {
            samples.sample(end.upper * (index as f64 / (FIRST - 1) as f64))?;
        }
        Ok(samples)
    }

    /// Computes the profile at an epsilon; returns false if the epsilon is known already.
    fn sample(&mut self, epsilon: f64) -> Result<bool, AskError> {
        let at = self.known.partition_point(|known| known.epsilon < epsilon);
        if self.known.get(at).is_some_and(|known| known.epsilon <= epsilon) {
            return Ok(false);
        }
        let legal = Epsilon::new(epsilon).map_err(|_| AskError::Stopped)?;
        let Bracket { lower, upper } = self.plan.delta(legal, &self.options)?.bracket;
        let below = at.checked_sub(1).and_then(|before| self.known.get(before));
        // The profile falls, and is at least the floor up to the end.
        let upper = below.map_or(upper, |before| upper.min(before.upper));
        let lower = if self.is_above_floor(epsilon) { lower.max(self.floor) } else { lower };
        let tolerance = self.options.tolerance.get();
        let point = ProfilePoint { epsilon, lower: lower.min(upper), upper, tolerance };
        self.known.insert(at, point);
        self.options.watch.check(self.known.len() as f64 / (self.known.len() as f64 + 100.0))?;
        Ok(true)
    }

    /// Brackets the least mu whose profile is not below this one, up to the floor (theory 9.11).
    fn bracket_mu(&mut self) -> Result<Bracket, AskError> {
        if self.end.upper <= 0.0 {
            return Ok(Bracket::exact(0.0));
        }
        let mut lower = match self.is_above_floor(self.end.lower) {
            true => necessary_mu(self.end.lower, self.floor),
            false => 0.0,
        };
        // The largest mu that the upper ends demand: an upper bound cannot fall below it.
        let mut demanded = 0.0;
        for point in &self.known {
            lower = self.raised_lower(lower, point);
            demanded = raised_demand(demanded, point);
        }
        let mut bounds: Vec<VertexBound> =
            (0..self.known.len().saturating_sub(1)).map(|index| self.vertex(index)).collect();
        loop {
            let highest = bounds.iter().enumerate().max_by(|a, b| a.1.mu.total_cmp(&b.1.mu));
            let Some((index, &VertexBound { mu: upper, split })) = highest else {
                return Ok(Bracket { lower, upper: demanded });
            };
            let close = upper <= lower * (1.0 + MU_TOLERANCE);
            let hopeless = upper <= demanded * (1.0 + MU_TOLERANCE);
            if close || hopeless || self.known.len() >= MOST || !self.can_split(index) {
                return Ok(Bracket { lower, upper });
            }
            if !self.sample(split)? {
                return Ok(Bracket { lower, upper });
            }
            if let Some(point) = self.known.get(index + 1) {
                lower = self.raised_lower(lower, point);
                demanded = raised_demand(demanded, point);
            }
            bounds.splice(index..=index, [self.vertex(index), self.vertex(index + 1)]);
        }
    }

    /// Raises a lower bound on mu if a point of the profile above the floor demands it.
    fn raised_lower(&self, lower: f64, point: &ProfilePoint) -> f64 {
        let above_floor = self.is_above_floor(point.epsilon) || point.lower > self.floor;
        if above_floor && (lower <= 0.0 || profile(lower, point.epsilon).upper < point.lower) {
            return lower.max(necessary_mu(point.epsilon, point.lower));
        }
        lower
    }

    /// True if the profile certainly is above the floor at smaller epsilons, and so at least the floor here.
    fn is_above_floor(&self, epsilon: f64) -> bool {
        self.end.lower > 0.0 && epsilon <= self.end.lower
    }

    fn can_split(&self, index: usize) -> bool {
        self.known.get(index..index + 2).is_some_and(|pair| {
            pair.iter().rev().map(|known| known.epsilon).reduce(|right, left| right - left)
                > Some(NARROWEST * self.end.upper)
        })
    }

    /// Returns a mu that suffices between two neighbouring epsilons, and where to cut the interval.
    ///
    /// In between the profile is at most its chord, whose line is the test with these rates of false alarms a and of
    /// alarms c. Any of three conditions suffices: the curve of mu is not above this point; or the profile of mu at the
    /// right end is at least that at the left; or the profile of mu reaches the chord at one end, and towards the other
    /// end the chord falls below it.
    fn vertex(&self, index: usize) -> VertexBound {
        let Some(&[left, right]) = self.known.get(index..index + 2) else {
            return VertexBound { mu: 0.0, split: 0.0 };
        };
        let width = Dd::sum(right.epsilon, -left.epsilon);
        let middle = left.epsilon + 0.5 * width.hi;
        if width.hi > 500.0 {
            return VertexBound { mu: sufficient_mu(right.epsilon, left.upper), split: middle };
        }
        let share = Dd::sum(left.upper, -right.upper) / width.expm1();
        let share = if share.is_positive() { share } else { Dd::ZERO };
        let error = Dd::from(64.0 * STEP);
        let false_alarm = share * exp_neg(Dd::from(left.epsilon));
        let [least, most] = [-error, error].map(|error| false_alarm * (Dd::ONE + error));
        let alarm = (share * (Dd::ONE + error) + Dd::from(left.upper)) * (Dd::ONE + error);
        let (place, other) = (place_above(least.lower()), place_of_alarm(alarm));
        let mut mu = if other.is_finite() { (place + other).next_up() } else { f64::INFINITY };
        // Where the profile of mu touches the chord.
        let touch = mu * (place - 0.5 * mu);
        let margin = 0.1 * width.hi;
        let inside = touch > left.epsilon + margin && touch < right.epsilon - margin;
        let split = if inside { touch } else { middle };
        if touch <= left.epsilon {
            let at_end = sufficient_mu(left.epsilon, left.upper);
            if falling(at_end, left.epsilon) * (1.0 - ROUNDINGS) > place {
                mu = mu.min(at_end);
            }
        } else if touch >= right.epsilon {
            let at_end = sufficient_mu(right.epsilon, right.upper);
            if falling(at_end, right.epsilon) * (1.0 + ROUNDINGS) < place_below(most.upper()) {
                mu = mu.min(at_end);
            }
        }
        if !mu.is_finite() {
            mu = sufficient_mu(right.epsilon, left.upper);
        }
        VertexBound { mu, split }
    }

    /// Brackets the regret of a mu in a bracket (theory 9.12).
    fn bracket_regret(&mut self, mu: Bracket) -> Result<Bracket, AskError> {
        if !mu.upper.is_finite() {
            return Ok(Bracket { lower: 0.0, upper: 0.5 });
        }
        if mu.upper <= 0.0 {
            return Ok(Bracket { lower: 0.0, upper: self.floor });
        }
        // Regret that certainly is there, and what no further epsilon can exclude.
        let ends = |point: &ProfilePoint| {
            let weight = 1.0 + exp(point.epsilon);
            let least = profile(mu.lower.max(f64::MIN_POSITIVE), point.epsilon).lower;
            let most = profile(mu.upper, point.epsilon).upper;
            ((least - point.upper) / weight - ROUNDINGS, (most - point.lower) / weight)
        };
        let raise = |(least, most): (f64, f64), point: &ProfilePoint| {
            let (low, high) = ends(point);
            (least.max(low), most.max(high))
        };
        let mut known = self.known.iter().fold((0.0, 0.0), raise);
        let mut bounds: Vec<f64> =
            (0..self.known.len()).map(|index| self.regret_after(index, mu.upper)).collect();
        loop {
            let highest = bounds.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            let (index, upper) = highest.map_or((0, 0.5), |(index, &upper)| (index, upper));
            // Beyond the floor the plan's curve may be below that of mu, by no more than the floor.
            let upper = upper.max(self.floor).min(0.5);
            let found = Bracket { lower: known.0.min(upper), upper };
            let close = found.width() <= REGRET_TOLERANCE || upper <= known.1 + REGRET_TOLERANCE;
            if close || self.known.len() >= MOST || !self.can_split(index) {
                return Ok(found);
            }
            let Some(&[left, right]) = self.known.get(index..index + 2) else { return Ok(found) };
            if !self.sample(left.epsilon + 0.5 * (right.epsilon - left.epsilon))? {
                return Ok(found);
            }
            known = self.known.get(index + 1).map_or(known, |point| raise(known, point));
            bounds.insert(index + 1, 0.0);
            // The bounds beside the new epsilon use it, too.
            for (at, bound) in bounds.iter_mut().enumerate() {
                if (index.saturating_sub(1)..=index + 2).contains(&at) {
                    *bound = self.regret_after(at, mu.upper);
                }
            }
        }
    }

    /// Returns an upper bound on `(delta_mu - delta)/(1 + x)` from one epsilon to the next, x = exp(epsilon), and from
    /// the last one on: the profile of mu lies below its chord, and the plan's above the chain of [`kink`].
    fn regret_after(&self, index: usize, mu: f64) -> f64 {
        let Some(&left) = self.known.get(index) else { return 0.0 };
        let regret = |epsilon: f64, upper: f64, lower: f64| {
            ((upper - lower).max(0.0) + ROUNDINGS) / (1.0 + exp(epsilon)) * (1.0 + ROUNDINGS)
        };
        let at_left = profile(mu, left.epsilon).upper;
        let Some(&right) = self.known.get(index + 1) else {
            return regret(left.epsilon, at_left, 0.0);
        };
        let at_right = profile(mu, right.epsilon).upper;
        let before = match index.checked_sub(1).and_then(|before| self.known.get(before)) {
            Some(before) => Some((Dd::from(before.epsilon), before.upper)),
            None => self.known.get(1).map(reflected),
        };
        let (epsilon, value, _) = kink(before, left, right, self.known.get(index + 2));
        let (part, whole) =
            (Dd::sum(epsilon, -left.epsilon), Dd::sum(right.epsilon, -left.epsilon));
        let share = if whole.hi > 500.0 { 0.0 } else { (part.expm1() / whole.expm1()).lower() };
        let chord = at_left - (at_left - at_right) * share;
        let ends = [(left.epsilon, at_left, left.lower), (right.epsilon, at_right, right.lower)];
        let ends = ends.map(|(epsilon, upper, lower)| regret(epsilon, upper, lower));
        ends.into_iter().fold(regret(epsilon, chord, value), f64::max)
    }
}

/// Returns the place whose tail is the slope, in x = exp(epsilon), at which the profile of mu falls.
fn falling(mu: f64, epsilon: f64) -> f64 {
    0.5 * mu + epsilon / mu
}

/// Raises the mu that upper ends demand.
fn raised_demand(demanded: f64, point: &ProfilePoint) -> f64 {
    if demanded <= 0.0 || profile(demanded, point.epsilon).lower < point.upper {
        return demanded.max(sufficient_mu(point.epsilon, point.upper));
    }
    demanded
}

/// A mu that suffices in an interval of epsilons, and the epsilon to cut it at.
#[derive(Clone, Copy)]
struct VertexBound {
    mu: f64,
    split: f64,
}

/// Returns the place below which a standard normal lies with at least this probability.
fn place_of_alarm(alarm: Dd) -> f64 {
    if alarm.hi < 0.5 {
        return -place_below(alarm.upper());
    }
    let miss = (Dd::ONE - alarm) - Dd::from(64.0 * STEP);
    if miss.is_positive() { place_above(miss.lower()) } else { f64::INFINITY }
}

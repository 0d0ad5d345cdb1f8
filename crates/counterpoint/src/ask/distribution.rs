//! The distribution of the privacy loss: its mean, variance, quantiles and tail probabilities.
//!
//! With x = e^l the profile is delta(x) = E[(1 - x e^-L)+]. It is convex, and its slope is minus the Q mass of {L > l}.
//! Secants on either side of l bracket the slope, and with it P(L > l) = delta(x) - x delta'(x). Only certified deltas
//! are used.

use super::{AskError, Options, mixed};
use crate::composition::{Composition, Plan};
use crate::delta_bounds::DeltaBounds;
use crate::laws;
use crate::loss::Direction;
use crate::methods::Route;
use crate::methods::contour::Contours;
use crate::methods::largest;
use crate::methods::outcome_list::OutcomeList;
use crate::quantity::{Epsilon, Level, Tolerance};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, Wide, down, up};
use std::cell::RefCell;
use std::rc::Rc;

/// The privacy loss ln P/Q, under P, of a plan in one direction on one part of the data.
///
/// P and Q are the pairs that dominate the plan's mechanisms (theory 5.1).
///
/// ```
/// use counterpoint::{Count, Guarantee, Options, Plan};
///
/// let plan = Plan::new([(Guarantee::pure(0.5)?.into(), Count::new(30)?)] as [(counterpoint::Mechanism, Count); 1])?;
/// let loss = &plan.losses()?[0];
/// // Thirty times eps tanh(eps/2): the square of eps, not eps.
/// assert!(loss.mean().contains(30.0 * 0.5 * 0.25_f64.tanh()));
/// assert!(loss.above(14.6, &Options::default())?.upper < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PrivacyLoss<'a> {
    whole: &'a Composition,
    /// The composition with P and Q exchanged.
    mirror: &'a Composition,
    mean: Bracket,
    variance: Bracket,
    atoms: Option<Vec<LossAtom>>,
}

/// A single value of the loss that has positive probability.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LossAtom {
    /// The loss.
    pub loss: Bracket,
    /// Its probability under P.
    pub mass: Bracket,
}

impl Plan {
    /// The privacy loss, for each direction that differs and each part of the data.
    ///
    /// # Errors
    /// [`AskError::NoDistribution`] if a mechanism is known by its Rényi curve alone or by cells, and
    /// [`AskError::ToleranceNotMet`] where a moment cannot be certified.
    pub fn losses(&self) -> Result<Vec<PrivacyLoss<'_>>, AskError> {
        let unknown = |whole: &Composition| !whole.curves.is_empty() || whole.lower_pair.is_some();
        if self.compositions.iter().any(unknown) {
            return Err(AskError::NoDistribution);
        }
        self.compositions.iter().map(|whole| PrivacyLoss::new(whole, self.mirror(whole))).collect()
    }
}

impl Plan {
    /// The composition with P and Q exchanged: the same one, if the exchange makes no difference.
    fn mirror<'a>(&'a self, whole: &'a Composition) -> &'a Composition {
        let is_mirror = |other: &&Composition| {
            other.partition == whole.partition && other.direction != whole.direction
        };
        self.compositions.iter().find(is_mirror).unwrap_or(whole)
    }
}

impl<'a> PrivacyLoss<'a> {
    fn new(whole: &'a Composition, mirror: &'a Composition) -> Result<Self, AskError> {
        let (mean, variance) = moments(whole)?;
        let leak = whole.with_leaks(DeltaBounds::ZERO);
        Ok(Self { whole, mirror, mean, variance, atoms: atoms(whole, leak) })
    }

    /// The data set that P is about. A loss that is the same in both directions returns `Remove`.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.whole.direction
    }

    /// The part of the data that the loss is about, if the plan names parts.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        self.whole.partition.as_deref()
    }

    /// The probability that the loss is infinite.
    #[must_use]
    pub fn leak(&self) -> Bracket {
        self.whole.with_leaks(DeltaBounds::ZERO)
    }

    /// The mean of the finite loss.
    #[must_use]
    pub fn mean(&self) -> Bracket {
        self.mean
    }

    /// The variance of the finite loss.
    #[must_use]
    pub fn variance(&self) -> Bracket {
        self.variance
    }

    /// All finite losses and their probabilities, from the largest down, if none has a density and there are at most
    /// some thousands.
    #[must_use]
    pub fn atoms(&self) -> Option<&[LossAtom]> {
        self.atoms.as_deref()
    }

    /// The probability of a loss above `loss`, infinite ones included.
    ///
    /// The bracket is narrow where the distribution is smooth, and spans the jump where
    /// `loss` is within rounding of an atom.
    ///
    /// # Errors
    /// See [`AskError`]; a loss that is not a number is [`AskError::Loss`].
    pub fn above(&self, loss: f64, options: &Options<'_>) -> Result<Bracket, AskError> {
        self.above_by(loss, &self.profiles(options))
    }

    fn above_by(&self, loss: f64, profiles: &Profiles<'_>) -> Result<Bracket, AskError> {
        if !(-MOST_LOSS..=MOST_LOSS).contains(&loss) {
            return Err(AskError::Loss { loss });
        }
        if loss < 0.0 {
            return Ok(complement(self.at_most_by(loss, profiles)?));
        }
        if let Some(atoms) = &self.atoms {
            let high = atoms.iter().filter(|atom| atom.loss.upper > loss);
            let (finite, leak) = (add_up(high, |atom| atom.loss.lower > loss), self.leak());
            let (lower, upper) = (down(finite.lower + leak.lower), up(finite.upper + leak.upper));
            return Ok(within_one(Bracket { lower, upper }));
        }
        if is_beyond(self.whole, loss) {
            return Ok(self.leak());
        }
        Ok(Stencil::new(profiles, loss, self.scale())?.above())
    }

    /// The probability of a loss of at most `loss`.
    ///
    /// # Errors
    /// As for [`PrivacyLoss::above`].
    pub fn at_most(&self, loss: f64, options: &Options<'_>) -> Result<Bracket, AskError> {
        self.at_most_by(loss, &self.profiles(options))
    }

    fn at_most_by(&self, loss: f64, profiles: &Profiles<'_>) -> Result<Bracket, AskError> {
        if !(-MOST_LOSS..0.0).contains(&loss) {
            return Ok(complement(self.above_by(loss, profiles)?));
        }
        if let Some(atoms) = &self.atoms {
            let low = atoms.iter().filter(|atom| atom.loss.lower <= loss);
            return Ok(add_up(low, |atom| atom.loss.upper <= loss));
        }
        // Under P, which is the mirror's Q, the mirrored loss is at least -loss.
        if is_beyond(self.mirror, -loss) {
            return Ok(Bracket::exact(0.0));
        }
        Ok(Stencil::new(&profiles.mirrored(), -loss, self.scale())?.at_least_under_q())
    }

    fn profiles<'b>(&'b self, options: &'b Options<'b>) -> Profiles<'b> {
        let both = Rc::new([
            SideProfile::new(self.whole, options),
            SideProfile::new(self.mirror, options),
        ]);
        Profiles { both, first: 0 }
    }

    /// The least loss that is exceeded with probability at most one minus `level`; infinite if the leak alone is more
    /// likely.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn quantile(&self, level: Level, options: &Options<'_>) -> Result<Bracket, AskError> {
        let rest = Dd::sum(1.0, -level.get());
        let leak = self.leak();
        if Dd::from(leak.lower) > rest {
            return Ok(Bracket::exact(f64::INFINITY));
        }
        let profiles = self.profiles(options);
        // True if the quantile is surely at most, or surely above, a loss.
        let at_most = |loss: f64| Ok(Dd::from(self.above_by(loss, &profiles)?.upper) <= rest);
        let exceeds = |loss: f64| Ok(Dd::from(self.above_by(loss, &profiles)?.lower) > rest);
        let (centre, scale) = (self.centre(), self.scale());
        let upper = self.reach(centre, scale, &at_most)?;
        let lower = self.reach(centre, -scale, &exceeds)?;
        let upper_end = bisect_place(lower.unwrap_or(-MOST_LOSS), upper, scale, &at_most)?;
        let lower_end = bisect_place(upper.unwrap_or(MOST_LOSS), lower, scale, &exceeds)?;
        Ok(Bracket {
            lower: lower_end.unwrap_or(f64::NEG_INFINITY),
            upper: upper_end.unwrap_or(f64::INFINITY),
        })
    }

    /// The first of centre, centre + step, centre + 3 step, ... that passes.
    fn reach(
        &self,
        centre: f64,
        step: f64,
        passes: &dyn Fn(f64) -> Result<bool, AskError>,
    ) -> Result<Option<f64>, AskError> {
        let mut place = centre;
        let mut step = step;
        while place.abs() <= MOST_LOSS {
            if passes(place)? {
                return Ok(Some(place));
            }
            place += step;
            step *= 2.0;
        }
        Ok(None)
    }

    /// P(L > l) at evenly spaced losses from about five standard deviations below the mean to
    /// five above.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn distribution(
        &self,
        points: usize,
        options: &Options<'_>,
    ) -> Result<Vec<(f64, Bracket)>, AskError> {
        let (centre, reach) = (self.centre(), 5.0 * self.scale());
        let last = points.saturating_sub(1).max(1) as f64;
        let place = |i: usize| (centre - reach + 2.0 * reach * (i as f64 / last)).max(-MOST_LOSS);
        let profiles = self.profiles(options);
        (0..points).map(|i| Ok((place(i), self.above_by(place(i), &profiles)?))).collect()
    }

    /// An estimate of the mean, for choosing places.
    fn centre(&self) -> f64 {
        0.5 * (self.mean.lower + self.mean.upper)
    }

    /// An estimate of the standard deviation.
    fn scale(&self) -> f64 {
        self.variance.upper.sqrt().clamp(1e-90, 1e9)
    }
}

/// The mean and variance of the finite loss, which add up over releases.
fn moments(whole: &Composition) -> Result<(Bracket, Bracket), AskError> {
    let none = AskError::ToleranceNotMet { asked: 1e-6, achieved: f64::INFINITY, best: None };
    let (mut mean, mut variance) = (BracketSum::ZERO, BracketSum::ZERO);
    for part in &whole.losses {
        let moments = laws::moments(part.law()).ok_or_else(|| none.clone())?;
        mean.add(moments.mean, part.count);
        variance.add(moments.variance, part.count);
    }
    Ok((mean.bracket(), variance.bracket()))
}

fn atoms(whole: &Composition, leak: Bracket) -> Option<Vec<LossAtom>> {
    let listed = OutcomeList::new(&whole.losses)?;
    let kept = complement(leak);
    let atom = |(loss, mass): (Bracket, Bracket)| {
        let mass =
            Bracket { lower: down(mass.lower * kept.lower), upper: up(mass.upper * kept.upper) };
        LossAtom { loss, mass: within_one(mass) }
    };
    Some(listed.brackets().into_iter().map(atom).collect())
}

/// The probability of some atoms; the lower end counts only those that surely belong.
fn add_up<'a>(
    atoms: impl Iterator<Item = &'a LossAtom>,
    is_sure: impl Fn(&LossAtom) -> bool,
) -> Bracket {
    let mut sum = BracketSum::ZERO;
    for atom in atoms {
        let lower = if is_sure(atom) { atom.mass.lower } else { 0.0 };
        sum.add(Bracket { lower, ..atom.mass }, 1);
    }
    within_one(sum.bracket())
}

/// True if every finite loss is below `loss`.
fn is_beyond(whole: &Composition, loss: f64) -> bool {
    largest::largest(&whole.losses)
        .is_some_and(|(largest, error)| (largest + Dd::from(error)).upper() < loss)
}

/// The probability of the opposite event.
fn complement(probability: Bracket) -> Bracket {
    let rest = |x: f64| Dd::sum(1.0, -x);
    let (lower, upper) = (rest(probability.upper).lower(), rest(probability.lower).upper());
    within_one(Bracket { lower, upper })
}

/// The largest absolute loss that can be asked about.
const MOST_LOSS: f64 = 1e5;

/// Halves the interval between a place that does not pass and one that does; returns a place close to the least that
/// passes.
fn bisect_place(
    from: f64,
    to: Option<f64>,
    scale: f64,
    passes: &dyn Fn(f64) -> Result<bool, AskError>,
) -> Result<Option<f64>, AskError> {
    let Some(mut to) = to else { return Ok(None) };
    let mut from = from;
    while (to - from).abs() > 1e-7 * scale {
        let middle = 0.5 * (from + to);
        if passes(middle)? {
            to = middle;
        } else {
            from = middle;
        }
        if (0.5 * (from + to) - middle).abs() <= f64::EPSILON * middle.abs() {
            break;
        }
    }
    Ok(Some(to))
}

/// A sum of brackets with counts.
struct BracketSum {
    lower: Dd,
    upper: Dd,
}

impl BracketSum {
    const ZERO: Self = Self { lower: Dd::ZERO, upper: Dd::ZERO };

    fn add(&mut self, bracket: Bracket, count: u64) {
        self.lower = self.lower + Dd::product(bracket.lower, count as f64);
        self.upper = self.upper + Dd::product(bracket.upper, count as f64);
    }

    fn bracket(&self) -> Bracket {
        Bracket { lower: down(self.lower.lower()), upper: up(self.upper.upper()) }
    }
}

fn within_one(bracket: Bracket) -> Bracket {
    Bracket { lower: bracket.lower.max(0.0), upper: bracket.upper.clamp(0.0, 1.0) }
}

/// The profile at a loss and a step to either side.
struct Stencil {
    loss: f64,
    before: Bracket,
    here: Bracket,
    after: Bracket,
    /// The exact steps to either side.
    back: Dd,
    ahead: Dd,
}

impl Stencil {
    /// The step balances the secant's error, which grows with it, against the profile's own error.
    fn new(profiles: &Profiles<'_>, loss: f64, scale: f64) -> Result<Self, AskError> {
        let here = profiles.at(loss)?;
        let width = here.relative_width().max(f64::EPSILON);
        let step = (scale * width.sqrt()).clamp(1e-12 * loss.max(scale), 0.5);
        let (previous, next) = (loss - step, loss + step);
        Ok(Self {
            loss,
            before: profiles.at(previous)?,
            here,
            after: profiles.at(next)?,
            back: Dd::sum(loss, -previous),
            ahead: Dd::sum(next, -loss),
        })
    }

    /// P(L > l) = delta(l) + x Q(L > l).
    fn above(&self) -> Bracket {
        let mass = self.q_mass();
        let lower = Dd::from(mass.lower) + Dd::from(self.here.lower);
        let upper = Dd::from(mass.upper) + Dd::from(self.here.upper);
        // A probability is at least its own delta, and at most one.
        within_one(Bracket { lower: lower.lower().max(self.here.lower), upper: upper.upper() })
    }

    /// A bracket of x Q(L > l) and x Q(L >= l), between the slopes of the secants after and before.
    fn q_mass(&self) -> Bracket {
        let rise = self.ahead.expm1();
        let fall = -(-self.back).expm1();
        let lower = (Dd::from(self.here.lower) - Dd::from(self.after.upper)) / rise;
        let upper = (Dd::from(self.before.upper) - Dd::from(self.here.lower)) / fall;
        Bracket { lower: down(lower.lower()).max(0.0), upper: up(upper.upper()) }
    }

    /// Q(L >= l).
    fn at_least_under_q(&self) -> Bracket {
        let mass = self.q_mass();
        let x = Wide::exp(Dd::from(-self.loss));
        let lower = (Wide::from(mass.lower) * x).lower(1e-25);
        let upper = (Wide::from(mass.upper) * x).upper(1e-25);
        within_one(Bracket { lower, upper })
    }
}

/// The profiles of a composition and of its mirror.
struct Profiles<'a> {
    both: Rc<[SideProfile<'a>; 2]>,
    /// The index of the composition that P and Q are about.
    first: usize,
}

/// The profile of one composition, with the contours of earlier questions and the routes that had no answer.
struct SideProfile<'a> {
    whole: &'a Composition,
    options: &'a Options<'a>,
    contours: Contours,
    refused: RefCell<Vec<Route>>,
}

impl Profiles<'_> {
    fn mirrored(&self) -> Self {
        Self { both: self.both.clone(), first: 1 - self.first }
    }

    /// The profile at any real epsilon: delta(-e) = 1 - e^-e (1 - the mirror's delta(e)).
    fn at(&self, epsilon: f64) -> Result<Bracket, AskError> {
        let [one, other] = self.both.as_ref();
        let (whole, mirror) = if self.first == 0 { (one, other) } else { (other, one) };
        if epsilon >= 0.0 {
            return whole.at(epsilon);
        }
        let other = mirror.at(-epsilon)?;
        let decay = Dd::from(epsilon).exp();
        let turned = |delta: f64| Dd::ONE - decay * Dd::sum(1.0, -delta);
        Ok(within_one(Bracket {
            lower: down(turned(other.lower).lower()),
            upper: up(turned(other.upper).upper()),
        }))
    }
}

/// The tolerance of the deltas in secants, where it is cheap.
const FINE: f64 = 1e-10;

impl<'a> SideProfile<'a> {
    fn new(whole: &'a Composition, options: &'a Options<'a>) -> Self {
        Self { whole, options, contours: Contours::default(), refused: RefCell::default() }
    }

    /// The profile at an epsilon of at least zero. A fine route that has no answer once is not tried again.
    fn at(&self, epsilon: f64) -> Result<Bracket, AskError> {
        let Ok(epsilon) = Epsilon::new(epsilon) else {
            return Err(AskError::Loss { loss: epsilon });
        };
        let Self { whole, options, .. } = *self;
        if whole.is_responses() {
            return Ok(whole.delta(epsilon, options)?.bracket);
        }
        let by = |route: Option<Route>, tolerance: Tolerance| {
            let options = Options { tolerance, route, ..*options };
            mixed::delta(&whole.losses, epsilon.get(), &options, &self.contours)
        };
        let fine = Tolerance::new(FINE).unwrap_or(options.tolerance);
        for route in [Route::Closed, Route::Outcomes, Route::Contour] {
            if self.refused.borrow().contains(&route) {
                continue;
            }
            match by(Some(route), fine) {
                Ok((ends, _)) => return Ok(whole.with_leaks(ends)),
                Err(AskError::Stopped) => return Err(AskError::Stopped),
                Err(_) => self.refused.borrow_mut().push(route),
            }
        }
        let (ends, _) = by(None, options.tolerance)?;
        Ok(whole.with_leaks(ends))
    }
}

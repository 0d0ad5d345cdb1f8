//! Private selections: pairs that dominate them (theory 7.3), and the deltas of one run that their Rényi curves need.

use super::{Answer, AskError, Options, RequestedEnds};
use crate::composition::{Composition, Plan, WithCount};
use crate::laws::{Atom, Atoms, Direction};
use crate::loss::{BestOf, Curve, PairLoss, Runs};
use crate::methods::Route;
use crate::quantity::{Delta, Epsilon, Tolerance};
use crate::watch::Watch;
use counterpoint_numerics::{Bracket, Dd};
use std::borrow::Cow;

/// True if a curve is that of a private selection.
pub(super) fn has_any(whole: &Composition) -> bool {
    whole.curves.iter().any(|curve| matches!(curve.each, Curve::BestOf(_)))
}

/// The lesser upper end of two answers: by Rényi curves, and by pairs that dominate the selections.
pub(super) fn lesser(
    whole: &Composition,
    options: &Options<'_>,
    ask: impl Fn(&Composition) -> Result<Answer, AskError>,
) -> Result<Answer, AskError> {
    options.watch.check(0.0)?;
    let whole = with_deltas(whole, options.watch);
    let by_curves = match options.route {
        None | Some(Route::Renyi) => Some(ask(&whole)),
        Some(_) => None,
    };
    let by_pairs = match options.route {
        Some(Route::Renyi) => None,
        _ => with_pairs(&whole, options.watch).map(|pairs| ask(&pairs)),
    };
    let answer = match (by_curves, by_pairs) {
        (Some(Ok(curves)), Some(Ok(pairs))) => {
            if pairs.bracket.upper < curves.bracket.upper {
                pairs
            } else {
                curves
            }
        }
        (Some(Ok(answer)), _) | (_, Some(Ok(answer))) => answer,
        (_, Some(Err(error))) | (Some(Err(error)), None) => return Err(error),
        (None, None) => {
            let asked = options.tolerance.get();
            return Err(AskError::ToleranceNotMet { asked, achieved: f64::INFINITY, best: None });
        }
    };
    // Neither bound is attained.
    Ok(Answer { bracket: Bracket { lower: 0.0, ..answer.bracket }, ..answer })
}

/// The composition with what the curves of selections need to know of the deltas of one run.
pub(super) fn with_deltas<'a>(whole: &'a Composition, watch: Watch<'_>) -> Cow<'a, Composition> {
    if !has_any(whole) {
        return Cow::Borrowed(whole);
    }
    let mut whole = whole.clone();
    for curve in &mut whole.curves {
        let Curve::BestOf(best) = &mut curve.each else { continue };
        let Some(back) = SingleRun::new(whole.direction, &best.back, watch) else { continue };
        let ratio = ln_ratio(&back, &best.runs);
        match &mut best.runs {
            Runs::NegativeBinomial { ln_ratio, .. } => *ln_ratio = ratio,
            Runs::Poisson { deltas, .. } => *deltas = tabulate(&back),
        }
    }
    Cow::Owned(whole)
}

/// The delta of one run at ln(1 + 1/t), for rising t from 2^-4 to 2^12, and for the largest t at which it is zero.
fn tabulate(run: &SingleRun<'_>) -> Vec<(f64, f64)> {
    const BETWEEN: [f64; 8] = [1.0, 1.09, 1.19, 1.3, 1.41, 1.54, 1.68, 1.83];
    let ts = (-4..12).flat_map(|power| BETWEEN.map(|t| t * 2.0_f64.powi(power)));
    let largest = run.epsilon(0.0).filter(|&largest| largest > 1e-6);
    let last = largest.map(|largest| (1.0 - 1e-9) / Dd::from(largest).expm1().upper());
    let mut ts: Vec<f64> = ts.chain(last).collect();
    ts.sort_by(f64::total_cmp);
    let below = |t: &f64| (Dd::ONE / *t).ln_1p().lower().next_down();
    let deltas = run.deltas(&ts.iter().map(below).collect::<Vec<_>>());
    ts.into_iter().zip(deltas).collect()
}

/// One run of a selection, whose cost is asked for in one direction.
struct SingleRun<'a> {
    plan: Plan,
    watch: Watch<'a>,
}

impl<'a> SingleRun<'a> {
    fn new(direction: Direction, losses: &[(PairLoss, u64)], watch: Watch<'a>) -> Option<Self> {
        let whole = Composition::of_losses(direction, None, losses.iter().cloned()).ok()?;
        Some(Self { plan: Plan { compositions: vec![whole] }, watch })
    }

    fn options(&self) -> Options<'a> {
        Options { watch: self.watch, ends: RequestedEnds::Upper, ..Options::default() }
    }

    /// An upper bound on the delta at an epsilon.
    fn delta(&self, epsilon: f64) -> f64 {
        let answer = Epsilon::new(epsilon).ok().map(|at| self.plan.delta(at, &self.options()));
        answer.and_then(Result::ok).map_or(1.0, |answer| answer.bracket.upper.min(1.0))
    }

    /// Upper bounds on the deltas at many epsilons.
    fn deltas(&self, epsilons: &[f64]) -> Vec<f64> {
        let Ok(tolerance) = Tolerance::new(1e-4) else { return Vec::new() };
        let places: Result<Vec<_>, _> = epsilons.iter().map(|&at| Epsilon::new(at)).collect();
        let options = Options { tolerance: tolerance.as_aim(), ..self.options() };
        let found = places.ok().and_then(|places| self.plan.deltas(&places, &options).ok());
        match found {
            Some(list) => list.iter().map(|bracket| bracket.upper.min(1.0)).collect(),
            None => epsilons.iter().map(|&at| self.delta(at)).collect(),
        }
    }

    /// An epsilon from which on the delta hardly falls.
    fn last_epsilon(&self) -> Option<f64> {
        let leak = self.delta(1e6);
        Some(self.epsilon(leak * (1.0 + 1e-9) + HARDLY)?.max(1e-9))
    }

    /// An upper bound on the epsilon at a delta, if it is small enough for the exponentials here.
    fn epsilon(&self, delta: f64) -> Option<f64> {
        const MOST: f64 = 300.0;
        let answer = self.plan.epsilon(Delta::new(delta).ok()?, &self.options());
        answer.ok().map(|answer| answer.bracket.upper).filter(|&upper| upper <= MOST)
    }
}

/// A delta that no question is about.
const HARDLY: f64 = 1e-40;

/// The number of epsilons at which the profile of one run is computed.
const PLACES: u32 = 192;

/// The composition with a dominating pair in place of each selection; `None` if one has no such pair within reach.
fn with_pairs(whole: &Composition, watch: Watch<'_>) -> Option<Composition> {
    let mut list = Vec::new();
    for WithCount { each, count } in &whole.curves {
        let loss = match each {
            Curve::BestOf(best) => dominating_pair(best, whole.direction, watch)?,
            curve => PairLoss { curve: Some(curve.clone()), ..PairLoss::default() },
        };
        list.push((loss, *count));
    }
    list.extend(whole.losses.iter().map(|part| (part.each.clone().into(), part.count)));
    let leaks = whole.leaks.above.iter();
    list.extend(leaks.map(|leak| (leaky(leak.each), leak.count)));
    Composition::of_losses(whole.direction, whole.partition.clone(), list).ok()
}

fn leaky(delta: f64) -> PairLoss {
    PairLoss { leak: (delta, delta), ..PairLoss::default() }
}

/// A pair that dominates the best of a random number of runs.
fn dominating_pair(best: &BestOf, direction: Direction, watch: Watch<'_>) -> Option<PairLoss> {
    let toward = SingleRun::new(direction, &best.toward, watch)?;
    let back = SingleRun::new(direction, &best.back, watch)?;
    let forward = profile(&toward, &back, &best.runs)?;
    let mirrored = match best.toward == best.back {
        true => forward.clone(),
        false => profile(&back, &toward, &best.runs)?,
    };
    pair_of_profile(&forward, &mirrored)
}

/// Bounds on the profile of the best run at rising epsilons above zero, the last of which holds from there on.
///
/// No output is more than r times as likely to be selected on one data set as on the other. So the delta at ln r + e is
/// at most m times that of one run at e.
fn profile(toward: &SingleRun<'_>, back: &SingleRun<'_>, runs: &Runs) -> Option<Vec<(Dd, f64)>> {
    let (Runs::Poisson { mean, .. } | Runs::NegativeBinomial { mean, .. }) = runs;
    let ln_ratio = ln_ratio(back, runs)?;
    let last = toward.last_epsilon()?;
    let places = (0..=PLACES).map(|step| last * f64::from(step) / f64::from(PLACES));
    // A bounded loss has no delta at its largest value.
    let largest = toward.epsilon(0.0).filter(|&largest| largest > last);
    let places: Vec<f64> = places.chain(largest).collect();
    let deltas = toward.deltas(&places);
    let raised = |delta: f64| mean * delta * (1.0 + SLACK);
    let bounds = places.into_iter().zip(deltas);
    let list: Vec<(Dd, f64)> =
        bounds.map(|(at, delta)| (Dd::sum(ln_ratio, at), raised(delta))).collect();
    list.last().is_some_and(|&(at, delta)| at.hi < 600.0 && delta < 1.0).then_some(list)
}

/// The amount by which a profile is raised, relatively: more than the errors of the masses in it.
const SLACK: f64 = 1e-12;

/// A bound on the logarithm of the factor by which the rank of an output makes its selection likelier.
fn ln_ratio(back: &SingleRun<'_>, runs: &Runs) -> Option<f64> {
    match runs {
        Runs::Poisson { mean, .. } => Some(Dd::product(*mean, back.delta(0.0)).upper()),
        Runs::NegativeBinomial { shape, ln_inverse, .. } => {
            Some((*shape * ln_of_fixed_point(back, *ln_inverse)?).upper().next_up())
        }
    }
}

/// An epsilon with (1 - gamma) delta(epsilon) <= gamma (e^epsilon - 1), nearly the least.
fn ln_of_fixed_point(run: &SingleRun<'_>, ln_inverse: f64) -> Option<f64> {
    // 1/gamma - 1, up to an error that the slack covers.
    let odds = Dd::from(ln_inverse).expm1();
    let holds =
        |epsilon: f64| odds * run.delta(epsilon) * (1.0 + SLACK) <= Dd::from(epsilon).expm1();
    let (mut low, mut high) = (0.0, run.last_epsilon()?);
    if ln_inverse <= 0.0 || !holds(high) {
        return (ln_inverse <= 0.0).then_some(0.0);
    }
    for _ in 0..26 {
        let middle = 0.5 * (low + high);
        if holds(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The pair whose profile is the lower convex hull, in e^epsilon, of bounds on a profile.
///
/// Below zero, delta(e) is 1 - e^e + e^e delta'(-e), where delta' belongs to the other direction.
fn pair_of_profile(forward: &[(Dd, f64)], mirrored: &[(Dd, f64)]) -> Option<PairLoss> {
    let below = mirrored.iter().rev().filter(|point| point.1 < 1.0).map(|&(at, delta)| {
        let x = (-at).exp();
        let value = Dd::ONE - x + x * delta;
        Point { loss: -at, x, value: Dd::from(value.upper().next_up().next_up()) }
    });
    let above = forward.iter().filter(|point| point.1 < 1.0);
    let above = above.map(|&(at, delta)| Point { loss: at, x: at.exp(), value: delta.into() });
    let start = Point { loss: Dd::ZERO, x: Dd::ZERO, value: Dd::ONE };
    let mut hull = vec![start];
    for point in below.chain(above) {
        // A profile does not rise.
        let falls = |last: &Point| point.x > last.x && point.value < last.value;
        if !hull.last().is_some_and(falls) {
            continue;
        }
        while let [.., before, last] = hull.as_slice()
            && !is_convex(before, last, &point)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let leak = hull.last()?.value;
    let slopes = hull.windows(2).filter_map(|pair| match pair {
        [a, b] => Some(slope(a, b)),
        _ => None,
    });
    let slopes: Vec<Dd> = slopes.chain([Dd::ZERO]).collect();
    let masses = slopes.windows(2).map(|pair| match pair {
        [a, b] => *b - *a,
        _ => Dd::ZERO,
    });
    let list = hull.iter().skip(1).zip(masses);
    let list = list.map(|(point, mass)| Atom { loss: point.loss, mass: mass * point.x });
    let kept = Dd::ONE - leak;
    let list: Vec<Atom> = list.map(|atom| Atom { mass: atom.mass / kept, ..atom }).collect();
    let leak = if leak.is_positive() { leak.upper().next_up() } else { 0.0 };
    (!list.is_empty()).then(|| PairLoss { leak: (leak, leak), ..Atoms::of(list).into() })
}

/// A point of a profile: e^epsilon, and delta.
#[derive(Clone, Copy)]
struct Point {
    loss: Dd,
    x: Dd,
    value: Dd,
}

fn slope(a: &Point, b: &Point) -> Dd {
    (b.value - a.value) / (b.x - a.x)
}

/// True if the slope rises at the middle point, and by so much that the difference has many correct digits.
fn is_convex(a: &Point, b: &Point, c: &Point) -> bool {
    let (before, after) = (slope(a, b), slope(b, c));
    after - before > -before * 1e-9
}

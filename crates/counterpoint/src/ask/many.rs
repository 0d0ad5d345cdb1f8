//! One question at many places at once.
//!
//! A plan's delta is convex in e^epsilon, because it is the largest `P(S) - e^epsilon Q(S)` over events S; so e^epsilon
//! is convex in delta. Between two places a convex function lies below its chord, and elsewhere it lies above the line
//! through the two places (a secant). So a long list needs few answers: places are computed until chord and secants are
//! as close as the tolerance demands.

use super::plan::worst;
use super::{Answer, AskError, Options};
use crate::composition::{Composition, Plan};
use crate::methods::contour::Contours;
use crate::quantity::{Delta, Epsilon, Tolerance};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{UNIT, expm1, ln_1p_rounded};
use std::collections::BTreeMap;

/// Lists up to this length are answered one by one, with the answers of single questions.
const FEW: usize = 64;

impl Plan {
    /// [`Plan::epsilon`] at each of many deltas. Where no finite epsilon exists, both ends are infinite.
    ///
    /// ```
    /// use counterpoint::{Count, Delta, Guarantee, Options, Plan};
    ///
    /// let plan = Plan::new([(Guarantee::pure(0.1)?, Count::new(100)?)])?;
    /// let deltas: Result<Vec<_>, _> = (1..=10_000).map(|i| Delta::new(f64::from(i) * 1e-8)).collect();
    /// let list = plan.epsilons(&deltas?, &Options::default())?;
    /// assert!(list.windows(2).all(|pair| pair[0].upper >= pair[1].lower));
    /// assert!(list.iter().all(|bracket| bracket.relative_width() <= 1e-6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn epsilons(
        &self,
        deltas: &[Delta],
        options: &Options<'_>,
    ) -> Result<Vec<Bracket>, AskError> {
        if deltas.len() <= FEW {
            let one = |&delta: &Delta| or_infinite(self.epsilon(delta, options));
            return deltas.iter().map(one).collect();
        }
        let places: Vec<f64> = deltas.iter().map(|delta| delta.get()).collect();
        let contours: Vec<Contours> =
            self.compositions.iter().map(|_| Contours::default()).collect();
        let ask = |place: f64, options: &Options<'_>| {
            let delta = Delta::new(place).map_err(|_| AskError::Stopped)?;
            let both = self.compositions.iter().zip(&contours);
            or_infinite(worst(
                both,
                options,
                |(whole, near), options| whole.epsilon(delta, options, near),
                |(whole, _), epsilon| whole.is_within(epsilon, delta.get()),
            ))
        };
        let best = |place: f64| {
            let delta = Delta::new(place).map_err(|_| AskError::Stopped)?;
            or_infinite(self.epsilon(delta, options))
        };
        let (across, along) = (Scale::Plain, Scale::Logarithm);
        let curve = ConvexCurve { across, along, ask: &ask, best: &best, options };
        curve.fill(&places)
    }

    /// [`Plan::delta`] at each of many epsilons.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn deltas(
        &self,
        epsilons: &[Epsilon],
        options: &Options<'_>,
    ) -> Result<Vec<Bracket>, AskError> {
        if epsilons.len() <= FEW {
            let one = |&epsilon: &Epsilon| Ok(self.delta(epsilon, options)?.bracket);
            return epsilons.iter().map(one).collect();
        }
        let contours: Vec<Contours> =
            self.compositions.iter().map(|_| Contours::default()).collect();
        let places: Vec<f64> = epsilons.iter().map(|epsilon| epsilon.get()).collect();
        let ask = |place: f64, options: &Options<'_>| {
            let epsilon = Epsilon::new(place).map_err(|_| AskError::Stopped)?;
            let both = self.compositions.iter().zip(&contours);
            let ask = |(whole, near): (&Composition, &Contours), options: &Options<'_>| {
                whole.delta_with_contours(epsilon, options, near)
            };
            let within = |(whole, _): (&Composition, &Contours), delta: f64| {
                whole.is_within(epsilon.get(), delta)
            };
            Ok(worst(both, options, ask, within)?.bracket)
        };
        let best = |place: f64| {
            let epsilon = Epsilon::new(place).map_err(|_| AskError::Stopped)?;
            Ok(self.delta(epsilon, options)?.bracket)
        };
        let (across, along) = (Scale::Logarithm, Scale::Plain);
        let curve = ConvexCurve { across, along, ask: &ask, best: &best, options };
        curve.fill(&places)
    }
}

/// The bracket of an epsilon; infinite where no finite epsilon exists.
fn or_infinite(answer: Result<Answer, AskError>) -> Result<Bracket, AskError> {
    match answer {
        Err(AskError::BelowLeak { .. } | AskError::Unbounded { .. }) => {
            Ok(Bracket::exact(f64::INFINITY))
        }
        answer => Ok(answer?.bracket),
    }
}

/// The coordinate for which a number stands; the curve is convex in its coordinates.
#[derive(Clone, Copy)]
enum Scale {
    /// The number is the coordinate.
    Plain,
    /// The number is the coordinate's logarithm.
    Logarithm,
}

/// A line through a point with a slope, in the coordinates of two scales.
#[derive(Clone, Copy)]
struct CurveLine {
    across: Scale,
    along: Scale,
    from: (f64, f64),
    slope: f64,
}

impl CurveLine {
    /// The line through two points; `None` where doubles cannot represent it.
    ///
    /// Each difference is known to 6 u, so the slope is known to 13 u.
    fn through((across, along): (Scale, Scale), a: (f64, f64), b: (f64, f64)) -> Option<Self> {
        let slope = along.way(a.1, b.1)? / across.way(a.0, b.0)?;
        // Neither the slope nor a product with it may come near underflow.
        let bearable = slope.is_finite() && is_bearable(slope) && is_bearable(a.1);
        bearable.then_some(Self { across, along, from: a, slope })
    }

    /// The line's value at a place, and a bound on its error: the step is known to 20 u, its logarithm to 18 u and one
    /// and a half times that, and the sum to u.
    fn at(&self, place: f64) -> Option<(f64, f64)> {
        let step = self.across.way(self.from.0, place)? * self.slope;
        let step = match self.along {
            Scale::Plain => step,
            Scale::Logarithm => (step.abs() <= 0.5).then(|| ln_1p_rounded(step))?,
        };
        let value = self.from.1 + step;
        is_bearable(step).then(|| (value, UNIT * (64.0 * step.abs() + 2.0 * value.abs())))
    }
}

impl Scale {
    /// The difference of two coordinates, relative to the first one if the number is a logarithm; `None` for logarithms
    /// more than 1 apart. It is known to 6 u: the numbers' difference is known to u, which weighs less than twice as
    /// much in e^x - 1 for |x| <= 1.
    fn way(self, from: f64, to: f64) -> Option<f64> {
        let way = to - from;
        match self {
            Self::Plain => Some(way),
            Self::Logarithm => (way.abs() <= 1.0).then(|| expm1(way)),
        }
    }
}

/// True for zero and for numbers far from underflow.
fn is_bearable(x: f64) -> bool {
    x.abs() > 1e-200 || x.abs() < f64::from_bits(1)
}

/// A decreasing curve, convex in the coordinates of its scales, that can be evaluated at places.
struct ConvexCurve<'a> {
    across: Scale,
    along: Scale,
    ask: &'a dyn Fn(f64, &Options<'_>) -> Result<Bracket, AskError>,
    /// The answer of a single question.
    best: &'a dyn Fn(f64) -> Result<Bracket, AskError>,
    options: &'a Options<'a>,
}

/// Answers by the index of their place.
type KnownBrackets = BTreeMap<usize, Bracket>;

impl ConvexCurve<'_> {
    /// Brackets at all places, in the order given.
    fn fill(&self, places: &[f64]) -> Result<Vec<Bracket>, AskError> {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
        let mut distinct: Vec<f64> = order.iter().map(|&index| places[index]).collect();
        distinct.dedup_by(|a, b| a.to_bits() == b.to_bits());
        let answers = self.table(&distinct)?;
        let mut list = vec![Bracket::exact(0.0); places.len()];
        let mut at = 0;
        for index in order {
            if distinct[at].to_bits() != places[index].to_bits() {
                at += 1;
            }
            list[index] = answers[at];
        }
        Ok(list)
    }

    /// Brackets at increasing places.
    fn table(&self, places: &[f64]) -> Result<Vec<Bracket>, AskError> {
        let last = places.len() - 1;
        let mut list = vec![Bracket::exact(0.0); places.len()];
        let mut known = KnownBrackets::new();
        let mut middles = vec![0, last / 2, last];
        let mut open = vec![(0, last / 2), (last / 2, last)];
        while !open.is_empty() {
            for &middle in &middles {
                self.options.watch.check(known.len() as f64 / (known.len() + 1000) as f64)?;
                let answer = self.closely(places[middle])?;
                list[middle] = answer;
                known.insert(middle, answer);
            }
            open.retain(|&gap| !self.closes(gap, places, &known, &mut list));
            middles = open.iter().map(|&(left, right)| left + (right - left) / 2).collect();
            open = open
                .iter()
                .zip(&middles)
                .flat_map(|(&(left, right), &middle)| [(left, middle), (middle, right)])
                .collect();
        }
        Ok(list)
    }

    /// An answer with room for the error of chords; the answer of a single question if that is too narrow.
    fn closely(&self, place: f64) -> Result<Bracket, AskError> {
        let finer = Tolerance::new((self.options.tolerance.get() / 16.0).max(1e-14));
        let finer = finer.unwrap_or(self.options.tolerance);
        match (self.ask)(place, &Options { tolerance: finer, ..*self.options }) {
            Err(AskError::ToleranceNotMet { .. }) => (self.best)(place),
            answer => answer,
        }
    }

    /// Fills a gap if chord and secants are close enough everywhere in it; returns true if so.
    fn closes(
        &self,
        (left, right): (usize, usize),
        places: &[f64],
        known: &KnownBrackets,
        list: &mut [Bracket],
    ) -> bool {
        if right - left < 2 {
            return true;
        }
        let node = |index: usize| known.get(&index).map(|&bracket| (places[index], bracket));
        let before = known.range(..left).next_back().and_then(|(&index, _)| node(index));
        let after = known.range(right + 1..).next().and_then(|(&index, _)| node(index));
        let (Some(first), Some(last)) = (node(left), node(right)) else { return false };
        let gap = Gap::new(self, first, last, before, after);
        // The middle first, because it fails most easily.
        gap.bracket(places[left + (right - left) / 2]).is_some()
            && (left + 1..right).all(|index| match gap.bracket(places[index]) {
                Some(bracket) => {
                    list[index] = bracket;
                    true
                }
                None => false,
            })
    }
}

/// The curve between two neighbouring places with known answers.
struct Gap {
    left: Bracket,
    right: Bracket,
    chord: Option<CurveLine>,
    /// Secants through the place before and the place after; they are below the curve.
    secants: [Option<CurveLine>; 2],
    /// Secants through upper ends, if these are far from the lower ends, as bounds from Rényi curves are. They show how
    /// far the chord is above the curve.
    upper_secants: Option<[Option<CurveLine>; 2]>,
    tolerance: f64,
}

/// A place and its answer.
type CurvePoint = (f64, Bracket);

impl Gap {
    fn new(
        curve: &ConvexCurve<'_>,
        (x, left): CurvePoint,
        (y, right): CurvePoint,
        before: Option<CurvePoint>,
        after: Option<CurvePoint>,
    ) -> Self {
        let line = |a, b| CurveLine::through((curve.across, curve.along), a, b);
        let finite = |node: &CurvePoint| node.1.upper.is_finite();
        let secants = |low: f64, high: f64| {
            [
                before.filter(finite).and_then(|(at, node)| line((x, low), (at, node.upper))),
                after.filter(finite).and_then(|(at, node)| line((y, high), (at, node.upper))),
            ]
        };
        let tolerance = curve.options.tolerance.get();
        let narrow = left.is_within_tolerance(tolerance) && right.is_within_tolerance(tolerance);
        Self {
            left,
            right,
            chord: line((x, left.upper), (y, right.upper)),
            secants: secants(left.lower, right.lower),
            upper_secants: (!narrow).then(|| secants(left.upper, right.upper)),
            tolerance,
        }
    }

    /// The bracket between the chord and the secants; `None` if they are not close enough.
    fn bracket(&self, place: f64) -> Option<Bracket> {
        if self.right.lower.is_infinite() {
            return Some(Bracket::exact(f64::INFINITY));
        }
        if self.left.upper.is_infinite() {
            return None;
        }
        let (value, error) = self.chord?.at(place)?;
        let upper = (value + error).next_up().min(self.left.upper);
        let lower = highest(&self.secants, place).max(self.right.lower).min(upper);
        let least = self.upper_secants.map_or(lower, |secants| highest(&secants, place));
        let close = Bracket { lower: least, upper }.is_within_tolerance(self.tolerance);
        close.then_some(Bracket { lower, upper })
    }
}

/// The largest value of the lines at a place, rounded down.
fn highest(lines: &[Option<CurveLine>; 2], place: f64) -> f64 {
    let values = lines.iter().flatten().filter_map(|line| line.at(place));
    values.fold(0.0, |most: f64, (value, error)| most.max((value - error).next_down()))
}

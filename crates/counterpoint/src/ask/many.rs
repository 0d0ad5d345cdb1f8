//! The same question at many places at once.
//!
//! A plan's delta is convex in e^epsilon: it is a largest `P(S) - e^epsilon Q(S)`, and so e^epsilon is
//! convex in delta. Between two places a convex function lies below its chord and, beyond
//! either, above the secant through the place and its next neighbour. So long lists need few answers:
//! places are asked until chord and secants are as close as the tolerance demands.

use super::plan::worst;
use super::{Answer, AskError, Options};
use crate::composition::{Composition, Plan};
use crate::methods::contour::Contours;
use crate::quantity::{Delta, Epsilon, Tolerance};
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{UNIT, expm1, ln_1p_rounded};
use std::collections::BTreeMap;

/// Lists up to this long are asked one by one, which is what a single question would answer.
const FEW: usize = 64;

impl Plan {
    /// [`Plan::epsilon`] at each of many deltas. Where no finite epsilon does, both ends are
    /// infinite.
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
        let curve = Curve { across, along, ask: &ask, best: &best, options };
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
                whole.delta_near(epsilon, options, near)
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
        let curve = Curve { across, along, ask: &ask, best: &best, options };
        curve.fill(&places)
    }
}

/// An epsilon, infinite where no finite one does.
fn or_infinite(answer: Result<Answer, AskError>) -> Result<Bracket, AskError> {
    match answer {
        Err(AskError::BelowLeak { .. } | AskError::Unbounded { .. }) => {
            Ok(Bracket::exact(f64::INFINITY))
        }
        answer => Ok(answer?.bracket),
    }
}

/// How a number stands for a coordinate in which the curve is convex.
#[derive(Clone, Copy)]
enum Scale {
    /// As itself.
    Plain,
    /// As the coordinate's logarithm.
    Logarithm,
}

/// A line in the coordinates two scales say, through a point and with a slope.
#[derive(Clone, Copy)]
struct Line {
    across: Scale,
    along: Scale,
    from: (f64, f64),
    slope: f64,
}

impl Line {
    /// The line through two points; `None` where doubles cannot bear it.
    ///
    /// Either way is known to 6 u, so the slope is to 13 u.
    fn through((across, along): (Scale, Scale), a: (f64, f64), b: (f64, f64)) -> Option<Self> {
        let slope = along.way(a.1, b.1)? / across.way(a.0, b.0)?;
        // So that neither it nor a product with it comes near underflow.
        let bearable = slope.is_finite() && is_bearable(slope) && is_bearable(a.1);
        bearable.then_some(Self { across, along, from: a, slope })
    }

    /// Where it is at a place, and an error that this does not reach: the step is known to
    /// 20 u, its logarithm to 18 u and one and a half times that, and the sum to u.
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
    /// From one number to another, relative to the first where it is a logarithm: to 6 u, as the
    /// difference is to u, which weighs less than twice as much in e^x - 1 for |x| <= 1. No farther
    /// than that.
    fn way(self, from: f64, to: f64) -> Option<f64> {
        let way = to - from;
        match self {
            Self::Plain => Some(way),
            Self::Logarithm => (way.abs() <= 1.0).then(|| expm1(way)),
        }
    }
}

/// Zero, or far from underflow.
fn is_bearable(x: f64) -> bool {
    x.abs() > 1e-200 || x.abs() < f64::from_bits(1)
}

/// A falling curve, convex in the coordinates its scales say, that can be asked at places.
struct Curve<'a> {
    across: Scale,
    along: Scale,
    ask: &'a dyn Fn(f64, &Options<'_>) -> Result<Bracket, AskError>,
    /// What a single question would answer.
    best: &'a dyn Fn(f64) -> Result<Bracket, AskError>,
    options: &'a Options<'a>,
}

/// Answers, by the index of their place.
type Known = BTreeMap<usize, Bracket>;

impl Curve<'_> {
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

    /// Brackets at many rising places.
    fn table(&self, places: &[f64]) -> Result<Vec<Bracket>, AskError> {
        let last = places.len() - 1;
        let mut list = vec![Bracket::exact(0.0); places.len()];
        let mut known = Known::new();
        let mut middles = vec![0, last / 2, last];
        let mut open = vec![(0, last / 2), (last / 2, last)];
        while !open.is_empty() {
            for &middle in &middles {
                self.options.watch.at(known.len() as f64 / (known.len() + 1000) as f64)?;
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

    /// An answer with room for what chords add; as good as a single question's if that is too
    /// much to ask.
    fn closely(&self, place: f64) -> Result<Bracket, AskError> {
        let finer = Tolerance::new((self.options.tolerance.get() / 16.0).max(1e-14));
        let finer = finer.unwrap_or(self.options.tolerance);
        match (self.ask)(place, &Options { tolerance: finer, ..*self.options }) {
            Err(AskError::ToleranceNotMet { .. }) => (self.best)(place),
            answer => answer,
        }
    }

    /// Fills a gap if chord and secants are close enough everywhere in it.
    fn closes(
        &self,
        (left, right): (usize, usize),
        places: &[f64],
        known: &Known,
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
        // The middle first: it fails where others would.
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

/// What lies between two neighbouring places that were asked.
struct Gap {
    left: Bracket,
    right: Bracket,
    chord: Option<Line>,
    /// From the place before and from the place after; below the curve.
    secants: [Option<Line>; 2],
    /// The same through upper ends, where these are far from the lower ones, as bounds from Rényi
    /// curves are: they say how far the chord is off, as nothing else does.
    upper_secants: Option<[Option<Line>; 2]>,
    tolerance: f64,
}

/// A place and its answer.
type Node = (f64, Bracket);

impl Gap {
    fn new(
        curve: &Curve<'_>,
        (x, left): Node,
        (y, right): Node,
        before: Option<Node>,
        after: Option<Node>,
    ) -> Self {
        let line = |a, b| Line::through((curve.across, curve.along), a, b);
        let finite = |node: &Node| node.1.upper.is_finite();
        let secants = |low: f64, high: f64| {
            [
                before.filter(finite).and_then(|(at, node)| line((x, low), (at, node.upper))),
                after.filter(finite).and_then(|(at, node)| line((y, high), (at, node.upper))),
            ]
        };
        let tolerance = curve.options.tolerance.get();
        let narrow = left.keeps(tolerance) && right.keeps(tolerance);
        Self {
            left,
            right,
            chord: line((x, left.upper), (y, right.upper)),
            secants: secants(left.lower, right.lower),
            upper_secants: (!narrow).then(|| secants(left.upper, right.upper)),
            tolerance,
        }
    }

    /// Between the chord and the secants; `None` where that is not close enough.
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
        let close = Bracket { lower: least, upper }.keeps(self.tolerance);
        close.then_some(Bracket { lower, upper })
    }
}

/// The highest of lines at a place, rounded down.
fn highest(lines: &[Option<Line>; 2], place: f64) -> f64 {
    let values = lines.iter().flatten().filter_map(|line| line.at(place));
    values.fold(0.0, |most: f64, (value, error)| most.max((value - error).next_down()))
}

//! The costs of k equal releases, by theorem: the curves of most figures.

use counterpoint::theorem::Comparison;
use counterpoint::theorem::Theorem;
use counterpoint::{Count, Delta, Guarantee, Options, Plan};

use super::FigureError;
use crate::plot::{Color, Line, Marker, Series, Style};

/// Explains why optimal curves are not smooth.
pub(super) const WAVES: &str = "The optimum is wavy and no less exact for it: k equal releases lose a whole number of steps of \
                               2ε, and whether the budget falls on a step or between two changes with every k.";

/// Total epsilons for several counts.
pub(super) struct Costs(Vec<(u64, Comparison)>);

impl Costs {
    /// Composes releases of (epsilon, 0) at a total delta.
    pub(super) fn new(
        epsilon: f64,
        delta: f64,
        counts: impl IntoIterator<Item = u64>,
    ) -> Result<Self, FigureError> {
        let guarantee = Guarantee::pure(epsilon)?;
        let delta = Delta::new(delta)?;
        let cost = |count| {
            let plan = Plan::new([(guarantee, Count::new(count)?)])?;
            Ok((count, plan.compare(delta, &Options::default())?))
        };
        counts.into_iter().map(cost).collect::<Result<_, FigureError>>().map(Self)
    }

    /// The epsilons that a theorem certifies.
    pub(super) fn curve(&self, theorem: Theorem) -> Vec<(f64, f64)> {
        self.points(|comparison| charge(comparison, theorem))
    }

    /// The epsilons of a theorem as multiples of the optimum.
    pub(super) fn ratio(&self, theorem: Theorem) -> Vec<(f64, f64)> {
        self.points(|comparison| {
            Some(charge(comparison, theorem)? / comparison.optimal.bracket.upper)
        })
    }

    /// The curve of a theorem. A formula certifies one number; the optimum has a lower and an upper bound.
    pub(super) fn series(&self, theorem: Theorem) -> Series {
        let curve = drawn(theorem, self.curve(theorem));
        if theorem != Theorem::Optimal {
            return curve;
        }
        let ends = self.0.iter().map(|(_, comparison)| comparison.optimal.bracket);
        curve.bounds(ends.map(|ends| (ends.lower, ends.upper)))
    }

    /// The curve of a theorem as multiples of the optimum; the other panel shows the bounds of the optimum itself.
    pub(super) fn ratios(&self, theorem: Theorem) -> Series {
        drawn(theorem, self.ratio(theorem))
    }

    fn points(&self, value: impl Fn(&Comparison) -> Option<f64>) -> Vec<(f64, f64)> {
        let point =
            |(count, comparison): &(u64, Comparison)| Some((*count as f64, value(comparison)?));
        self.0.iter().filter_map(point).collect()
    }
}

fn charge(comparison: &Comparison, theorem: Theorem) -> Option<f64> {
    if theorem == Theorem::Optimal {
        return Some(comparison.optimal.bracket.upper);
    }
    let bound = comparison.others.iter().find(|bound| bound.theorem == theorem)?;
    bound.value.as_ref().ok().copied()
}

/// The curve of a theorem in its style, which is the same in every figure.
pub(super) fn drawn(theorem: Theorem, points: Vec<(f64, f64)>) -> Series {
    let (name, style) = match theorem {
        Theorem::Basic => ("basic (summing)", look(Color::Black, Line::Dotted, Marker::None)),
        Theorem::Advanced => {
            ("advanced (DRV)", look(Color::Green, Line::DashDot, Marker::Triangle))
        }
        Theorem::Strong => ("strong", look(Color::Purple, Line::LongDash, Marker::Square)),
        Theorem::KovClosedForm => {
            ("KOV closed form", look(Color::Vermillion, Line::Dashed, Marker::Circle))
        }
        _ => ("optimal", look(Color::Blue, Line::Solid, Marker::None).width(2.4)),
    };
    Series::new(name, points).style(style)
}

fn look(color: Color, line: Line, marker: Marker) -> Style {
    Style::new(color, line).marker(marker)
}

/// The y of the point at this x.
pub(super) fn at(points: &[(f64, f64)], x: f64) -> f64 {
    points.iter().find(|point| (point.0 - x).abs() < 0.5).map_or(f64::NAN, |point| point.1)
}

/// The range of x in which a property holds, from the first point that has it to the first that has not.
pub(super) fn stretch(points: &[(f64, f64)], property: impl Fn(f64) -> bool) -> Option<(f64, f64)> {
    let mut run = points.iter().skip_while(|point| !property(point.1));
    let first = run.next()?.0;
    let last = run.take_while(|point| property(point.1)).last().map_or(first, |point| point.0);
    Some((first, last))
}

/// The excess of a ratio over one, as a percentage.
pub(super) fn more(ratio: f64) -> String {
    format!("{:.1} %", 100.0 * (ratio - 1.0))
}

/// The saving that a ratio above one describes, as a percentage.
pub(super) fn less(ratio: f64) -> String {
    format!("{:.1} %", 100.0 * (1.0 - 1.0 / ratio))
}

use counterpoint::Route;
use counterpoint::ask::AskError;
use counterpoint::{Count, Delta, Guarantee, Options, Plan, Tolerance};

use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Color, Figure, Line, Marker, Series, Style, scientific};

const RELEASES: u32 = 200;
const DELTA: f64 = 1e-6;

/// Draws the width of brackets for several tolerances.
pub(super) fn figure(_: &Parameters) -> Result<Figure, FigureError> {
    let plan = different(RELEASES)?;
    let style = |color, line, marker| Style::new(color, line).marker(marker);
    let routes = [
        (Route::Contour, -10, style(Color::Blue, Line::Solid, Marker::Circle)),
        (Route::Convolution, -6, style(Color::Vermillion, Line::Dashed, Marker::Triangle)),
    ];
    let tolerances: Vec<f64> = (-10..=-1).rev().map(|n| 10_f64.powi(n)).collect();
    let axis = |label: &str| Axis::new(label).log();
    let mut chart =
        Chart::new(axis("tolerance asked for, relative"), axis("width of the bracket, relative"));
    let promise = tolerances.iter().map(|t| (*t, *t));
    chart
        .series
        .push(Series::new("promise", promise).style(Style::new(Color::Grey, Line::LongDash)));
    let mut narrowest = Vec::new();
    for (route, least, style) in routes {
        let mut points = Vec::new();
        for &tolerance in tolerances.iter().filter(|t| **t > 0.5 * 10_f64.powi(least)) {
            if let Some(width) = bracket_width(&plan, route, tolerance)? {
                points.push((tolerance, width));
            }
        }
        narrowest.push(points.iter().map(|point| point.1).fold(f64::INFINITY, f64::min));
        chart.series.push(Series::new(format!("{route} route"), points).style(style));
    }
    let delta = scientific(DELTA);
    let caption = format!(
        "Claim: a tolerance is a promise: the certified bracket around ε at δ = {delta}, rounding included, \
         is never wider than asked for. {RELEASES} releases with different ε between 0.01 and 0.2. The lattice \
         step is refined until the promise is kept, so the width falls in jumps. Where it ends: a promise \
         that cannot be kept is refused with an error, and such points are missing; the narrowest bracket \
         here is {} wide.",
        scientific(narrowest.first().copied().unwrap_or(f64::NAN)),
    );
    Ok(Figure::new("How narrow a certified bracket is", caption, [chart]))
}

/// Releases that all differ: the fractional parts of multiples of the golden ratio are spread evenly.
pub(super) fn different(releases: u32) -> Result<Plan, FigureError> {
    let release = |i: u32| {
        let epsilon = 0.01 + 0.19 * (f64::from(i) * 0.618_033_988_7).fract();
        Ok((Guarantee::pure(epsilon)?, Count::ONE))
    };
    let releases = (1..=releases).map(release).collect::<Result<Vec<_>, FigureError>>()?;
    Ok(Plan::new(releases)?)
}

/// The relative width; `None` if the tolerance cannot be met.
fn bracket_width(plan: &Plan, route: Route, tolerance: f64) -> Result<Option<f64>, FigureError> {
    let options =
        Options { tolerance: Tolerance::new(tolerance)?, route: Some(route), ..Options::default() };
    match plan.epsilon(Delta::new(DELTA)?, &options) {
        Ok(answer) => Ok(Some(answer.bracket.relative_width())),
        Err(AskError::ToleranceNotMet { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

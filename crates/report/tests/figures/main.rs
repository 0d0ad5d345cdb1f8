//! The figures: what they claim, and what they look like.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod claims;
mod documents;
mod events;
mod looks;
mod regions;
mod uses;

use std::sync::OnceLock;

use counterpoint_report::figures::{FigureSpec, Parameters};
use counterpoint_report::plot::{Chart, Figure};

/// All figures with their names, made once.
fn figures() -> &'static [(&'static str, Figure)] {
    static FIGURES: OnceLock<Vec<(&'static str, Figure)>> = OnceLock::new();
    FIGURES.get_or_init(|| {
        FigureSpec::ALL
            .iter()
            .map(|recipe| (recipe.name, recipe.make(&Parameters::default()).unwrap()))
            .collect()
    })
}

fn figure(name: &str) -> &'static Figure {
    &figures().iter().find(|(own, _)| *own == name).unwrap().1
}

/// The points of the curves of a name in a chart, curve by curve.
fn curves<'a>(chart: &'a Chart, name: &str) -> Vec<&'a [(f64, f64)]> {
    let own = chart.series.iter().filter(|series| series.name == name);
    own.map(|series| series.points.as_slice()).collect()
}

/// The only curve of a name in a chart.
fn curve<'a>(chart: &'a Chart, name: &str) -> &'a [(f64, f64)] {
    let own = curves(chart, name);
    assert_eq!(own.len(), 1, "{name}");
    own[0]
}

/// The value of a curve at one of its points.
fn at(points: &[(f64, f64)], x: f64) -> f64 {
    points.iter().find(|point| (point.0 - x).abs() < 1e-9).unwrap().1
}

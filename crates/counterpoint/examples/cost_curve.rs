//! Draws what k weekly releases of epsilon 0.05 cost at delta 1e-6, by theorem, as an SVG
//! on standard output: `cargo run --release -p counterpoint --example cost_curve`.

use counterpoint::theorem::Theorem;
use counterpoint::{Composition, Count, Delta, Guarantee, Options, compare};
use std::error::Error;
use std::fmt::Write;

const WEEKS: u64 = 156;
const MOST_EPSILON: f64 = 8.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 48.0;
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 300.0;

fn main() -> Result<(), Box<dyn Error>> {
    // Name, colour (Okabe and Ito's palette) and dashes.
    let styles = [
        ("basic", "#D55E00", "2 3"),
        ("advanced", "#E69F00", "8 4"),
        ("strong", "#009E73", "8 3 2 3"),
        ("KOV closed form", "#0072B2", "14 4"),
        ("optimal, certified", "#000000", "none"),
    ];
    let mut curves = vec![Vec::new(); styles.len()];
    for week in 1..=WEEKS {
        for (curve, epsilon) in curves.iter_mut().zip(costs(week)?) {
            curve.push((week as f64, epsilon));
        }
    }
    let mut svg = frame();
    for ((name, colour, dashes), curve) in styles.iter().zip(&curves) {
        let points: Vec<String> = curve
            .iter()
            .filter(|(_, epsilon)| *epsilon <= MOST_EPSILON)
            .map(|&(week, epsilon)| format!("{:.2},{:.2}", x(week), y(epsilon)))
            .collect();
        let width = if *dashes == "none" { 3.0 } else { 2.0 };
        writeln!(
            svg,
            r#"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="{width}" stroke-dasharray="{dashes}"/>"#,
            points.join(" ")
        )?;
        let (_, last) = curve[curve.len() - 1];
        writeln!(
            svg,
            r#"<text x="{:.1}" y="{:.1}" fill="{colour}">{name} {last:.2}</text>"#,
            x(WEEKS as f64) + 8.0,
            label_height(name, last),
        )?;
    }
    println!("{svg}</svg>");
    Ok(())
}

/// What the theorems charge for some weeks, the optimum last.
fn costs(weeks: u64) -> Result<Vec<f64>, Box<dyn Error>> {
    let plan = Composition::new([(Guarantee::pure(0.05)?, Count::new(weeks)?)])?;
    let comparison = compare(&plan, Delta::new(1e-6)?, &Options::default())?;
    let charged = |theorem: Theorem| {
        let bound = comparison.others.iter().find(|bound| bound.theorem == theorem);
        bound.and_then(|bound| bound.value.clone().ok()).unwrap_or(f64::INFINITY)
    };
    let mut costs: Vec<f64> = Theorem::FORMULAS.into_iter().map(charged).collect();
    costs.push(comparison.optimal.bracket.upper);
    Ok(costs)
}

fn x(week: f64) -> f64 {
    LEFT + WIDTH * week / WEEKS as f64
}

fn y(epsilon: f64) -> f64 {
    TOP + HEIGHT * (1.0 - epsilon / MOST_EPSILON)
}

/// Labels of curves that end close together are kept apart.
fn label_height(name: &str, last: f64) -> f64 {
    let nudge = match name {
        "advanced" => -12.0,
        "strong" => 1.0,
        "KOV closed form" => 16.0,
        "optimal, certified" => 14.0,
        _ => 5.0,
    };
    y(last) + nudge
}

/// Axes, grid and titles.
fn frame() -> String {
    let mut svg = String::from(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 820 410" font-family="DejaVu Sans, Helvetica, Arial, sans-serif" font-size="14">
<rect width="820" height="410" fill="#ffffff"/>
<text x="64" y="28" font-size="16">Total epsilon at delta = 1e-6 of one statistic released weekly at epsilon 0.05</text>
"##,
    );
    for tick in 0..=4 {
        let epsilon = 2.0 * f64::from(tick);
        svg += &format!(
            r##"<line x1="{LEFT}" x2="{}" y1="{1:.1}" y2="{1:.1}" stroke="#dddddd"/><text x="{2}" y="{3:.1}" text-anchor="end">{epsilon}</text>
"##,
            LEFT + WIDTH,
            y(epsilon),
            LEFT - 8.0,
            y(epsilon) + 5.0
        );
    }
    for week in [0, 52, 104, 156] {
        svg += &format!(
            r#"<text x="{:.1}" y="{}" text-anchor="middle">{week}</text>
"#,
            x(f64::from(week)),
            TOP + HEIGHT + 20.0
        );
    }
    svg += &format!(
        r#"<text x="{}" y="{}" text-anchor="middle">weeks</text>
"#,
        LEFT + WIDTH / 2.0,
        TOP + HEIGHT + 42.0
    );
    svg
}

use counterpoint::theorem::Theorem;

use super::FigureError;
use super::costs::{Costs, at, series};
use crate::plot::{Axis, Chart, Figure, scientific};

const EPSILON: f64 = 0.01;
const DELTA: f64 = 1e-6;

/// Smith's lecture, Figure 1: basic and strong composition; the optimum is ours.
pub(super) fn figure_1() -> Result<Figure, FigureError> {
    let costs = Costs::new(EPSILON, DELTA, (1..100).chain((100..=1000).step_by(10)))?;
    let chart = |most: f64, y: Axis| {
        let mut chart = Chart::new(Axis::new("number of releases k").range(0.0, most), y);
        for theorem in [Theorem::Basic, Theorem::Strong, Theorem::Optimal] {
            chart.series.push(series(theorem, costs.curve(theorem)));
        }
        chart
    };
    let far = chart(1000.0, Axis::new("total ε")).title("(a) k up to 1000");
    let near = chart(60.0, Axis::new("total ε").range(0.0, 0.6)).title("(b) the same, k up to 60");
    let (basic, strong) = (costs.curve(Theorem::Basic), costs.curve(Theorem::Strong));
    let below = |((k, basic), (_, strong)): ((f64, f64), (f64, f64))| (strong < basic).then_some(k);
    let first = std::iter::zip(basic.clone(), strong.clone()).find_map(below).unwrap_or(f64::NAN);
    let delta = scientific(DELTA);
    let caption = format!(
        "Claim: strong composition is much tighter than summing once k > ln(1/δ). Each release is \
         ({EPSILON}, 0)-private and δ = {delta}, so ln(1/δ) = {:.1}; strong composition is below summing \
         from k = {first} on, about twice that, and above it before. At k = 1000 it charges {:.2} where \
         summing charges {:.2} and the optimum is {:.2}.",
        -DELTA.ln(),
        at(&strong, 1e3),
        at(&basic, 1e3),
        at(&costs.curve(Theorem::Optimal), 1e3),
    );
    let title = "Basic and strong composition (Smith's lecture, Figure 1), and the optimum";
    Ok(Figure::new(title, caption, [far, near]))
}

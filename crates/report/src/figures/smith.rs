use counterpoint::theorem::Theorem;

use super::costs::{Costs, at};
use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Figure, scientific};

const EPSILON: f64 = 0.01;
const DELTA: f64 = 1e-6;
const RELEASES: u64 = 1000;
/// The largest number of releases in the second panel.
const NEAR: f64 = 60.0;

/// Smith's lecture, Figure 1: basic and strong composition, with our optimum.
pub(super) fn figure_1(given: &Parameters) -> Result<Figure, FigureError> {
    let (epsilon, delta, most) =
        (given.epsilon(EPSILON), given.delta(DELTA), given.releases(RELEASES));
    let costs = Costs::new(epsilon, delta, counts(most))?;
    let chart = |most: f64, y: Axis| {
        let mut chart = Chart::new(Axis::new("number of releases k").range(0.0, most), y);
        for theorem in [Theorem::Basic, Theorem::Strong, Theorem::Optimal] {
            chart.series.push(costs.series(theorem).label_by_name());
        }
        chart
    };
    let far = chart(most as f64, Axis::new("total ε")).title(format!("(a) k up to {most}"));
    let near = Axis::new("total ε").range(0.0, NEAR * epsilon);
    let near = chart(NEAR, near).title(format!("(b) the same, k up to {NEAR}"));
    let caption = if given.is_papers() {
        claim(&costs)
    } else {
        let delta = scientific(delta);
        format!(
            "Claim: strong composition is tighter than summing once there are many releases, and the optimum is below \
             both. Each is ({epsilon}, 0)-private, δ = {delta}."
        )
    };
    let title = "Basic and strong composition (Smith's lecture, Figure 1), and the optimum";
    Ok(Figure::new(title, caption, [far, near]))
}

/// Every count up to a hundred, then about ninety counts up to `most`.
fn counts(most: u64) -> impl Iterator<Item = u64> {
    let step = (most.saturating_sub(100) / 90).max(1);
    (1..100).chain((100..most).step_by(usize::try_from(step).unwrap_or(usize::MAX))).chain([most])
}

fn claim(costs: &Costs) -> String {
    let (basic, strong) = (costs.curve(Theorem::Basic), costs.curve(Theorem::Strong));
    let below = |((k, basic), (_, strong)): ((f64, f64), (f64, f64))| (strong < basic).then_some(k);
    let first = std::iter::zip(basic.clone(), strong.clone()).find_map(below).unwrap_or(f64::NAN);
    let delta = scientific(DELTA);
    format!(
        "Claim: strong composition is much tighter than summing once k > ln(1/δ). Each release is \
         ({EPSILON}, 0)-private and δ = {delta}, so ln(1/δ) = {:.1}; strong composition is below summing \
         from k = {first} on, about twice that, and above it before. At k = 1000 it charges {:.2} where \
         summing charges {:.2} and the optimum is {:.2}.",
        -DELTA.ln(),
        at(&strong, 1e3),
        at(&basic, 1e3),
        at(&costs.curve(Theorem::Optimal), 1e3),
    )
}

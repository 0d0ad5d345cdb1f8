use counterpoint::theorem::Theorem;

use super::costs::{Costs, WAVES, at, more};
use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Figure, scientific};

const EPSILON: f64 = 0.01;
const DELTA: f64 = 1e-6;
const RELEASES: u64 = 1_000_000;
const THEOREMS: [Theorem; 4] =
    [Theorem::Basic, Theorem::Advanced, Theorem::KovClosedForm, Theorem::Optimal];

/// Draws the cost of up to a million releases, by theorem.
pub(super) fn figure(given: &Parameters) -> Result<Figure, FigureError> {
    let (epsilon, delta, most) =
        (given.epsilon(EPSILON), given.delta(DELTA), given.releases(RELEASES));
    let costs = Costs::new(epsilon, delta, counts(most))?;
    let k = || Axis::new("number of releases k").log();
    let mut cost = Chart::new(k(), Axis::new("total ε").log()).title("(a) total ε");
    let mut ratio = Chart::new(k(), Axis::new("total ε ÷ optimal total ε").range(0.9, 2.0))
        .title("(b) relative to the optimum");
    for theorem in THEOREMS {
        cost.series.push(costs.series(theorem).label_by_name());
        ratio.series.push(costs.ratios(theorem).label_by_name());
    }
    let caption = if given.is_papers() { claim(&costs)? } else { drawn(epsilon, most) };
    let delta = scientific(delta);
    let title = format!("What k releases of (ε, δ) = ({epsilon}, 0) cost together at δ = {delta}");
    Ok(Figure::new(title, caption, [cost, ratio]))
}

fn claim(costs: &Costs) -> Result<String, FigureError> {
    let [kov, drv] = [Theorem::KovClosedForm, Theorem::Advanced].map(|t| costs.ratio(t));
    let beyond = Costs::new(EPSILON, DELTA, [1_000_000_000])?;
    let far = |theorem| more(at(&beyond.ratio(theorem), 1e9));
    let (fewest, least) = drv
        .iter()
        .copied()
        .fold((0.0, f64::INFINITY), |best, p| if p.1 < best.1 { p } else { best });
    Ok(format!(
        "Claim: the optimum is below every formula, and no formula keeps its \
         distance. KOV's closed form is summing until its square root is smaller; it costs {} more at \
         k = 100, {} at k = 10⁴, {} at k = 10⁶ and {} at k = 10⁹. Advanced composition comes closest at \
         k = {fewest:.0} ({} more), costs {} more at k = 10⁶ and in the end twice as much ({} more at k = 10⁹). \
         {WAVES} Where the claim ends: all this is for ε fixed beforehand.",
        more(at(&kov, 1e2)),
        more(at(&kov, 1e4)),
        more(at(&kov, 1e6)),
        far(Theorem::KovClosedForm),
        more(least),
        more(at(&drv, 1e6)),
        far(Theorem::Advanced),
    ))
}

fn drawn(epsilon: f64, most: u64) -> String {
    format!(
        "Claim: the optimum is below every formula. Up to {most} releases of ε = {epsilon} each. {WAVES}"
    )
}

/// Sixteen counts per decade, from 1 to `most`.
fn counts(most: u64) -> Vec<u64> {
    let counts = (0..).map(|n| 10_f64.powf(f64::from(n) / 16.0).round() as u64);
    let mut counts: Vec<u64> = counts.take_while(|count| *count < most).collect();
    counts.push(most);
    counts.dedup();
    counts
}

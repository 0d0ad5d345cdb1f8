use counterpoint::theorem::Theorem;

use super::FigureError;
use super::costs::{Costs, at, more, series};
use crate::plot::{Axis, Chart, Figure, scientific};

const EPSILON: f64 = 0.01;
const DELTA: f64 = 1e-6;
const THEOREMS: [Theorem; 4] =
    [Theorem::Basic, Theorem::Advanced, Theorem::KovClosedForm, Theorem::Optimal];

/// What up to a million releases cost, by theorem.
pub(super) fn figure() -> Result<Figure, FigureError> {
    let costs = Costs::new(EPSILON, DELTA, counts())?;
    let k = || Axis::new("number of releases k").log();
    let mut cost =
        Chart::new(k(), Axis::new("total ε").log().range(0.01, 1e4)).title("(a) total ε");
    let mut ratio = Chart::new(k(), Axis::new("total ε ÷ optimal total ε").range(0.9, 2.0))
        .title("(b) relative to the optimum");
    for theorem in THEOREMS {
        cost.series.push(series(theorem, costs.curve(theorem)));
        ratio.series.push(series(theorem, costs.ratio(theorem)));
    }
    let [kov, drv] = [Theorem::KovClosedForm, Theorem::Advanced].map(|t| costs.ratio(t));
    let beyond = Costs::new(EPSILON, DELTA, [1_000_000_000])?;
    let far = |theorem| more(at(&beyond.ratio(theorem), 1e9));
    let (fewest, least) = drv
        .iter()
        .copied()
        .fold((0.0, f64::INFINITY), |best, p| if p.1 < best.1 { p } else { best });
    let delta = scientific(DELTA);
    let title = format!("What k releases of (ε, δ) = ({EPSILON}, 0) cost together at δ = {delta}");
    let caption = format!(
        "Claim: the optimum is below every formula, and no formula keeps its \
         distance. KOV's closed form is summing until its square root is smaller; it costs {} more at \
         k = 100, {} at k = 10⁴, {} at k = 10⁶ and {} at k = 10⁹. Advanced composition comes closest at \
         k = {fewest:.0} ({} more), costs {} more at k = 10⁶ and in the end twice as much ({} more at k = 10⁹). \
         Where the claim ends: all this is for ε fixed beforehand.",
        more(at(&kov, 1e2)),
        more(at(&kov, 1e4)),
        more(at(&kov, 1e6)),
        far(Theorem::KovClosedForm),
        more(least),
        more(at(&drv, 1e6)),
        far(Theorem::Advanced),
    );
    Ok(Figure::new(title, caption, [cost, ratio]))
}

/// Sixteen to a decade, from 1 to 10^6.
fn counts() -> Vec<u64> {
    let mut counts: Vec<u64> =
        (0..=96).map(|n| 10_f64.powf(f64::from(n) / 16.0).round() as u64).collect();
    counts.dedup();
    counts
}

use counterpoint::theorem::Theorem;

use super::FigureError;
use super::costs::{Costs, at, more, series, stretch};
use crate::plot::{Axis, Chart, Figure, superscript};

const THEOREMS: [Theorem; 4] =
    [Theorem::Basic, Theorem::Advanced, Theorem::KovClosedForm, Theorem::Optimal];

/// The epsilons of the upper panels. The paper's text does not say which it took; the lower
/// panels are for the middle one, as it says.
const EPSILONS: [f64; 3] = [0.001, 0.005, 0.01];
const EPSILON: f64 = 0.005;
/// The powers of two of the lower left panel; the others are for the middle one, as the paper
/// says.
const POWERS: [i32; 3] = [-10, -25, -40];
const POWER: i32 = -25;

/// Murtagh and Vadhan, Figure 2: four theorems, many releases.
pub(super) fn figure_2() -> Result<Figure, FigureError> {
    let to_1000 = || std::iter::once(1).chain((10..=1000).step_by(10));
    let delta = 2_f64.powi(POWER);
    let costs = |counts: &dyn Fn() -> Vec<u64>| -> Result<Vec<(f64, Costs)>, FigureError> {
        EPSILONS.into_iter().map(|e| Ok((e, Costs::new(e, delta, counts())?))).collect()
    };
    let far = costs(&|| to_1000().collect())?;
    let near = costs(&|| (1..=100).collect())?;
    let by_delta = POWERS
        .into_iter()
        .map(|power| Ok((power, Costs::new(EPSILON, 2_f64.powi(power), to_1000())?)))
        .collect::<Result<Vec<_>, FigureError>>()?;

    let charts = [
        by_epsilon(&far, "(a) three ε", (1000.0, 2.0)),
        by_epsilon(&near, "(b) the same, k up to 100", (100.0, 1.0)),
        three_deltas(&by_delta),
        relative(&far),
    ];
    let million = Costs::new(EPSILON, delta, [1_000_000])?;
    let ratios = |theorem| {
        let own = far.iter().find(|(epsilon, _)| (epsilon - EPSILON).abs() < 1e-12);
        let mut ratios = own.map(|(_, costs)| costs.ratio(theorem)).unwrap_or_default();
        ratios.extend(million.ratio(theorem));
        ratios
    };
    let caption = caption(&ratios(Theorem::KovClosedForm), &ratios(Theorem::Advanced), &near);
    Ok(Figure::new(
        "Four composition theorems (Murtagh and Vadhan 2018, Figure 2)",
        caption,
        charts,
    ))
}

fn axes(k: f64, y: Axis) -> Chart {
    Chart::new(Axis::new("number of releases k").range(0.0, k), y)
}

fn by_epsilon(costs: &[(f64, Costs)], title: &str, (k, most): (f64, f64)) -> Chart {
    let y = Axis::new("total ε").range(0.0, most);
    let mut chart = axes(k, y).title(format!("{title}, δ = 2{}", superscript(POWER)));
    for (epsilon, costs) in costs {
        for theorem in THEOREMS {
            // One label for the three curves that stay together, one for the straight line.
            let labelled = matches!(theorem, Theorem::Basic | Theorem::KovClosedForm);
            let label = if labelled { format!("ε = {epsilon}") } else { String::new() };
            chart.series.push(series(theorem, costs.curve(theorem)).label(label));
        }
    }
    chart
}

fn three_deltas(costs: &[(i32, Costs)]) -> Chart {
    let y = Axis::new("total ε").range(0.0, 1.4);
    let mut chart = axes(1000.0, y).title(format!("(c) three δ, ε = {EPSILON}"));
    for (power, costs) in costs {
        for theorem in THEOREMS {
            // Summing does not depend on delta.
            if theorem == Theorem::Basic && *power != POWER {
                continue;
            }
            let label = match theorem {
                Theorem::KovClosedForm => format!("δ = 2{}", superscript(*power)),
                Theorem::Basic => "any δ".to_owned(),
                _ => String::new(),
            };
            chart.series.push(series(theorem, costs.curve(theorem)).label(label));
        }
    }
    chart
}

fn relative(costs: &[(f64, Costs)]) -> Chart {
    let y = Axis::new("total ε ÷ optimal total ε").range(0.9, 1.8);
    let mut chart =
        axes(1000.0, y).title(format!("(d) relative to the optimum, δ = 2{}", superscript(POWER)));
    for (epsilon, costs) in costs {
        for theorem in THEOREMS {
            let label = match theorem {
                Theorem::Basic | Theorem::Optimal => String::new(),
                _ => format!("ε = {epsilon}"),
            };
            chart.series.push(series(theorem, costs.ratio(theorem)).label(label));
        }
    }
    chart
}

fn caption(kov: &[(f64, f64)], drv: &[(f64, f64)], near: &[(f64, Costs)]) -> String {
    let said = stretch(drv, |ratio| (1.295..1.405).contains(&ratio));
    let said = said.map_or("nowhere".into(), |(from, to)| format!("for k from {from} to {to}"));
    let worse = near.iter().filter_map(|(_, costs)| {
        let ratios = std::iter::zip(costs.curve(Theorem::Advanced), costs.curve(Theorem::Basic));
        ratios.take_while(|(drv, basic)| drv.1 > basic.1).last().map(|(drv, _)| drv.0)
    });
    let worse = worse.fold(0.0, f64::max);
    format!(
        "Claim: the optimum saves much even at moderate k. KOV's closed form costs about 20 % more and \
         advanced composition about 30–40 % more. At ε = {EPSILON} the former is {} more at k = 100, \
         but {} at k = 1000 and {} at k = 10⁶; the latter is within 30–40 % {said}, {} at k = 1000 \
         and {} again at k = 10⁶: neither tends to the constant the paper suspects. \
         Up to k = {worse} advanced composition is worse than summing. (The paper's text does not say \
         which ε it took in (a), (b) and (d), nor which δ in (c); these are ours.)",
        more(at(kov, 100.0)),
        more(at(kov, 1e3)),
        more(at(kov, 1e6)),
        more(at(drv, 1e3)),
        more(at(drv, 1e6)),
    )
}

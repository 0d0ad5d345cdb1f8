use counterpoint::theorem::Theorem;

use super::costs::{Costs, WAVES, at, less, more, stretch};
use super::{FigureError, Parameters};
use crate::plot::{Axis, Chart, Figure, scientific, superscript};

const THEOREMS: [Theorem; 4] =
    [Theorem::Basic, Theorem::Advanced, Theorem::KovClosedForm, Theorem::Optimal];

/// The epsilons of the upper panels, which the paper's text does not give. The lower panels use the middle one, as the
/// paper says.
const EPSILONS: [f64; 3] = [0.001, 0.005, 0.01];
const EPSILON: f64 = 0.005;
/// The powers of two of the lower left panel; the other panels use the middle one, as the paper says.
const POWERS: [i32; 3] = [-10, -25, -40];
const POWER: i32 = -25;
const RELEASES: u64 = 1000;

/// Murtagh and Vadhan, Figure 2: four theorems, many releases.
pub(super) fn figure_2(given: &Parameters) -> Result<Figure, FigureError> {
    let asked = PanelParameters::new(given);
    let costs = |counts: &dyn Fn() -> Vec<u64>| -> Result<Vec<(f64, Costs)>, FigureError> {
        let cost = |epsilon| Ok((epsilon, Costs::new(epsilon, asked.delta, counts())?));
        asked.epsilons.into_iter().map(cost).collect()
    };
    let far = costs(&|| asked.counts())?;
    let near = costs(&|| (1..=100).collect())?;
    let by_delta = asked
        .deltas()
        .into_iter()
        .map(|(name, delta)| Ok((name, Costs::new(asked.epsilon, delta, asked.counts())?)))
        .collect::<Result<Vec<_>, FigureError>>()?;

    let charts = [
        by_epsilon(&asked, &far, "(a) three ε", asked.most as f64),
        by_epsilon(&asked, &near, "(b) the same, k up to 100", 100.0),
        three_deltas(&asked, &by_delta),
        relative(&asked, &far),
    ];
    let caption = if given.is_papers() { claim(&asked, &far, &near)? } else { drawn(&asked) };
    Ok(Figure::new(
        "Four composition theorems (Murtagh and Vadhan 2018, Figure 2)",
        caption,
        charts,
    ))
}

/// The parameters of the panels.
struct PanelParameters {
    epsilon: f64,
    epsilons: [f64; 3],
    delta: f64,
    /// The delta as the titles write it.
    delta_name: String,
    most: u64,
    is_papers: bool,
}

impl PanelParameters {
    /// The paper's parameters, or a given epsilon with a fifth and twice of it.
    fn new(given: &Parameters) -> Self {
        let epsilon = given.epsilon(EPSILON);
        let epsilons =
            if given.epsilon.is_some() { [0.2, 1.0, 2.0].map(|f| f * epsilon) } else { EPSILONS };
        let delta = given.delta(2_f64.powi(POWER));
        let power = format!("2{}", superscript(POWER));
        let delta_name = if given.delta.is_some() { scientific(delta) } else { power };
        let most = given.releases(RELEASES);
        Self { epsilon, epsilons, delta, delta_name, most, is_papers: given.is_papers() }
    }

    fn counts(&self) -> Vec<u64> {
        let step = (self.most / 100).max(1);
        let whole = (1..=self.most / step).map(|n| n * step);
        let mut counts: Vec<u64> = std::iter::once(1).chain(whole).collect();
        counts.dedup();
        counts
    }

    /// The paper's three deltas, or the given one with its root and its square.
    fn deltas(&self) -> [(String, f64); 3] {
        if self.is_papers {
            return POWERS.map(|n| (format!("2{}", superscript(n)), 2_f64.powi(n)));
        }
        [self.delta.sqrt(), self.delta, self.delta * self.delta].map(|d| (scientific(d), d))
    }

    /// An axis that ends where the paper's does, if it is the paper's.
    fn axis(&self, label: &str, most: f64) -> Axis {
        let axis = Axis::new(label);
        if self.is_papers { axis.range(0.0, most) } else { axis }
    }
}

fn axes(k: f64, y: Axis) -> Chart {
    Chart::new(Axis::new("number of releases k").range(0.0, k), y)
}

fn by_epsilon(asked: &PanelParameters, costs: &[(f64, Costs)], title: &str, k: f64) -> Chart {
    let y = asked.axis("total ε", if k > 100.0 { 2.0 } else { 1.0 });
    let mut chart = axes(k, y).title(format!("{title}, δ = {}", asked.delta_name));
    for (epsilon, costs) in costs {
        for theorem in THEOREMS {
            // The three curves that stay together share one label; the straight line has its own.
            let labelled = matches!(theorem, Theorem::Basic | Theorem::KovClosedForm);
            let of = format!("ε = {epsilon}");
            let label = if labelled { of.clone() } else { String::new() };
            chart.series.push(costs.series(theorem).variant(of).label(label));
        }
    }
    chart
}

fn three_deltas(asked: &PanelParameters, costs: &[(String, Costs)]) -> Chart {
    let y = asked.axis("total ε", 1.4);
    let title = format!("(c) three δ, ε = {}", asked.epsilon);
    let mut chart = axes(asked.most as f64, y).title(title);
    for (n, (delta, costs)) in costs.iter().enumerate() {
        for theorem in THEOREMS {
            // Summing does not depend on delta.
            if theorem == Theorem::Basic && n != 1 {
                continue;
            }
            let label = match theorem {
                Theorem::KovClosedForm => format!("δ = {delta}"),
                Theorem::Basic => "any δ".to_owned(),
                _ => String::new(),
            };
            let of = if theorem == Theorem::Basic { &label } else { &format!("δ = {delta}") };
            chart.series.push(costs.series(theorem).variant(of).label(&label));
        }
    }
    chart
}

fn relative(asked: &PanelParameters, costs: &[(f64, Costs)]) -> Chart {
    let y = Axis::new("total ε ÷ optimal total ε").range(0.9, 1.8);
    let title = format!("(d) relative to the optimum, δ = {}", asked.delta_name);
    let mut chart = axes(asked.most as f64, y).title(title);
    for (epsilon, costs) in costs {
        for theorem in THEOREMS {
            let of = format!("ε = {epsilon}");
            let label = match theorem {
                Theorem::Basic | Theorem::Optimal => String::new(),
                _ => of.clone(),
            };
            chart.series.push(costs.ratios(theorem).variant(of).label(label));
        }
    }
    chart
}

fn drawn(asked: &PanelParameters) -> String {
    format!(
        "Claim: the optimum is below every formula. The paper's panels, for ε = {} and about it, δ = {} and up to {} \
         releases. {WAVES}",
        asked.epsilon, asked.delta_name, asked.most
    )
}

fn claim(
    asked: &PanelParameters,
    far: &[(f64, Costs)],
    near: &[(f64, Costs)],
) -> Result<String, FigureError> {
    let million = Costs::new(asked.epsilon, asked.delta, [1_000_000])?;
    let ratios = |theorem| {
        let own = far.iter().find(|(epsilon, _)| (epsilon - EPSILON).abs() < 1e-12);
        let mut ratios = own.map(|(_, costs)| costs.ratio(theorem)).unwrap_or_default();
        ratios.extend(million.ratio(theorem));
        ratios
    };
    let (kov, drv) = (ratios(Theorem::KovClosedForm), ratios(Theorem::Advanced));
    let said = stretch(&drv, |ratio| (1.3..=1.4).contains(&ratio));
    let said = said.map_or("nowhere".into(), |(from, to)| format!("for k from {from} to {to}"));
    let worse = near.iter().filter_map(|(_, costs)| {
        let ratios = std::iter::zip(costs.curve(Theorem::Advanced), costs.curve(Theorem::Basic));
        ratios.take_while(|(drv, basic)| drv.1 > basic.1).last().map(|(drv, _)| drv.0)
    });
    let worse = worse.fold(0.0, f64::max);
    Ok(format!(
        "Claim: the optimum saves much even at moderate k. KOV's closed form costs about 20 % more and \
         advanced composition about 30–40 % more. At ε = {EPSILON} the former is {} more at k = 100, \
         but {} at k = 1000 and {} at k = 10⁶; the latter is within 30–40 % {said}, {} at k = 1000 \
         and {} again at k = 10⁶: neither tends to the constant the paper suspects. The paper speaks of savings of 30–40 % over \
         advanced composition: as a share of what that charges they are {} at k = 100, and {} of what \
         KOV's closed form charges. \
         Up to k = {worse} advanced composition is worse than summing. {WAVES} (The paper's text does not say \
         which ε it took in (a), (b) and (d), nor which δ in (c); these are ours.)",
        more(at(&kov, 100.0)),
        more(at(&kov, 1e3)),
        more(at(&kov, 1e6)),
        more(at(&drv, 1e3)),
        more(at(&drv, 1e6)),
        less(at(&drv, 100.0)),
        less(at(&kov, 100.0)),
    ))
}

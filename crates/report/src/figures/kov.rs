use counterpoint::quantity::{NoiseScale, Sensitivity};
use counterpoint::theorem::{Theorem, lattice};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism, Options, Plan};

use super::costs::drawn;
use super::region::{Pair, area, balanced, boundary, certified, chart};
use super::{FigureError, Parameters};
use crate::plot::{Chart, Color, Figure, Line, Note, Series, Style};

/// Kairouz, Oh and Viswanath, Figure 1: the region of one (epsilon, delta).
pub(super) fn figure_1(given: &Parameters) -> Result<Figure, FigureError> {
    let (epsilon, delta) = (given.epsilon(1.0), given.delta(0.1));
    let edge = boundary(&[(epsilon, delta)]);
    let corner = balanced(&edge);
    let mut chart = chart("");
    chart.areas.push(area("within reach", &edge, Color::Blue));
    chart.series.push(guessing());
    chart.series.push(Series::new("boundary", edge).style(Style::nth(0).width(2.4)));
    let line = [(0.0, 2.0 * corner), (2.0 * corner, 0.0)];
    let dotted = Style::new(Color::Vermillion, Line::Dotted);
    chart.series.push(Series::new("least sum of errors, problem (20)", line).style(dotted));
    let caption = format!(
        "Claim: (ε, δ)-privacy keeps both errors of an adversary from being small at once. Its lines \
         have slopes −exp(ε) and −exp(−ε) and meet the axes at 1 − δ; drawn for ε = {epsilon}, δ = {delta}. The \
         least sum of errors is 2(1 − δ)/(1 + exp(ε)) = {:.4}, so total variation is at most {:.4}. The part \
         above guessing, its mirror image, is left out. Where the claim ends: with probability δ an \
         adversary may err on neither side.",
        2.0 * corner,
        1.0 - 2.0 * corner
    );
    let title = "The region of (ε, δ)-differential privacy (Kairouz et al. 2017, Figure 1)";
    Ok(Figure::new(title, caption, [chart]))
}

fn guessing() -> Series {
    Series::new("guessing", [(0.0, 1.0), (1.0, 0.0)]).style(Style::new(Color::Grey, Line::LongDash))
}

/// Figure 2: how the region grows with the number of releases.
pub(super) fn figure_2(given: &Parameters) -> Result<Figure, FigureError> {
    let (epsilon, most) = (given.epsilon(0.4), given.releases(5));
    let mut charts = Vec::new();
    let mut falls = Vec::new();
    for (letter, delta) in std::iter::zip(["a", "b"], [0.0, given.delta(0.1)]) {
        let mut chart = chart(format!("({letter}) ε = {epsilon}, δ = {delta}"));
        chart.series.push(guessing());
        let (mut first, mut last, mut leak) = (f64::NAN, f64::NAN, f64::NAN);
        for (n, count) in (1..=most).enumerate() {
            let pairs = composed(Guarantee::new(epsilon, delta)?, count)?;
            let edge = boundary(&pairs);
            last = balanced(&edge);
            if count == 1 {
                first = last;
            }
            if count == most {
                chart.areas.push(area("", &edge, Color::Blue).opacity(0.08));
                // At the largest epsilon, only the leak remains.
                leak = pairs.first().map_or(f64::NAN, |pair| pair.1);
            }
            chart.series.push(Series::new(format!("k = {count}"), edge).style(Style::nth(n)));
        }
        chart.notes.push(Note::new((first, first), "k = 1"));
        chart.notes.push(Note::new((last, last), format!("k = {most}")).left());
        falls.push(format!(
            "from {first:.3} at k = 1 to {last:.3} at k = {most} where δ = {delta} (leak {leak:.3})"
        ));
        charts.push(chart);
    }
    let caption = format!(
        "Claim: each release lets an adversary reach more, and Theorem III.3 says exactly what. The error \
         that can be had on both sides at once falls {}. What leaks cuts the axes too, and no ε describes \
         it. Where the claim ends: with ε chosen from earlier answers the regions may be exceeded.",
        falls.join(", and "),
    );
    let title = "The region of k releases (Kairouz et al. 2017, Figure 2)";
    Ok(Figure::new(title, caption, charts))
}

/// The pairs of Theorem III.3.
fn composed(guarantee: Guarantee, count: u64) -> Result<Vec<Pair>, FigureError> {
    let pairs = lattice::guarantees(guarantee, Count::new(count)?);
    Ok(pairs.map(|pair| (pair.epsilon, pair.delta.upper)).collect())
}

/// Figure 3: the regions of three theorems, and a region as an intersection of half-planes.
pub(super) fn figure_3(given: &Parameters) -> Result<Figure, FigureError> {
    let guarantee = Guarantee::new(given.epsilon(0.1), given.delta(0.001))?;
    let (epsilon, delta) = (guarantee.epsilon.get(), guarantee.delta.get());
    let count = given.releases(30);
    let plan = Plan::new([(guarantee, Count::new(count)?)])?;
    let least = count as f64 * delta;
    if least * (1.0 + 1e-12) >= 1.0 {
        return Err(FigureError::Leaks { leaks: least });
    }
    // Without a leak, summing needs no delta.
    let basic = Theorem::Basic.epsilon(&plan, Delta::new(least * (1.0 + 1e-12))?)?;
    let edges = [
        (Theorem::Basic, boundary(&[(basic, least)])),
        (Theorem::Advanced, boundary(&certified(Theorem::Advanced, &plan, least))),
        (Theorem::Optimal, boundary(&composed(guarantee, count)?)),
    ];
    let errors = edges.clone().map(|(_, edge)| balanced(&edge));
    let mut theorems = chart(format!("(a) {count} releases of ({epsilon}, {delta})"));
    theorems.series.push(guessing());
    for (theorem, edge) in edges {
        if theorem == Theorem::Optimal {
            theorems.areas.push(area("", &edge, Color::Blue).opacity(0.08));
        }
        theorems.series.push(drawn(theorem, edge));
    }
    theorems.notes.push(Note::new((errors[2], errors[2]), "optimal"));
    let caption = format!(
        "Claim: (a) Theorem III.3 gives the smallest region, inside those of summing (III.1) and of \
         advanced composition (III.2): balanced errors are at least {:.3}, and not only {:.3} or {:.3}. \
         (b) A region is what its tangents leave, lines of slope −exp(ε) that meet the vertical axis at 1 − δ(ε); here of the Gaussian \
         mechanism with σ equal to the sensitivity. Where the claim ends: III.3 is exact for the worst \
         mechanisms with these guarantees; those really used may show less.",
        errors[2], errors[0], errors[1]
    );
    let title = "Regions by theorem and by tangents (Kairouz et al. 2017, Figure 3)";
    Ok(Figure::new(title, caption, [theorems, tangents()?]))
}

/// The Gaussian mechanism's region, by its certified profile.
fn tangents() -> Result<Chart, FigureError> {
    let (sigma, sensitivity) = (NoiseScale::new(1.0)?, Sensitivity::new(1.0)?);
    let plan = Plan::new([(Mechanism::Gaussian { sigma, sensitivity }, Count::ONE)])?;
    let pair = |epsilon: f64| -> Result<Pair, FigureError> {
        let answer = plan.delta(Epsilon::new(epsilon)?, &Options::default())?;
        Ok((epsilon, answer.bracket.upper))
    };
    let pairs = (0..=200).map(|n| pair(0.03 * f64::from(n))).collect::<Result<Vec<_>, _>>()?;
    let edge = boundary(&pairs);
    let mut chart = chart("(b) the Gaussian mechanism");
    chart.areas.push(area("", &edge, Color::Orange));
    chart.series.push(guessing());
    let lines = [Line::Dashed, Line::Dotted, Line::DashDot];
    let colors = [Color::Green, Color::Purple, Color::Vermillion];
    for (epsilon, look) in std::iter::zip([0.0, 0.75, 1.5], std::iter::zip(colors, lines)) {
        let (_, delta) = pair(epsilon)?;
        let line = [(0.0, 1.0 - delta), ((1.0 - delta) * (-epsilon).exp(), 0.0)];
        let foot = ((0.95 - delta) * (-epsilon).exp(), 0.05);
        chart.notes.push(Note::new(foot, format!("ε = {epsilon}")).left());
        let style = Style::new(look.0, look.1).width(1.4);
        chart.series.push(Series::new(format!("tangent at ε = {epsilon}"), line).style(style));
    }
    let solid = Style::new(Color::Orange, Line::Solid).width(2.4);
    chart.series.push(Series::new("Gaussian mechanism", edge).style(solid));
    Ok(chart)
}

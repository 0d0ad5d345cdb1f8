//! The papers' drawings of a guarantee: the parts of two distributions within a factor, and the parts that are cut off.

use counterpoint_numerics::fractions::{ExactError, Ratio, nearest};
use counterpoint_papers::pair::{Events, Map, Pair, events, from_response};

use super::{FigureError, Parameters};
use crate::plot::{Area, Axis, Chart, Color, Figure, Line, Note, Series, Style};

/// The coin tosses in Murtagh and Vadhan's figure and in Smith's; the papers draw curves without numbers.
const MV_TOSSES: u64 = 24;
const SMITH_TOSSES: u64 = 20;

/// Murtagh and Vadhan, Figure 1: the functions e and f of Lemma 3.3.
pub(super) fn mv_figure_1(_: &Parameters) -> Result<Figure, FigureError> {
    let x =
        mixed(&[binomial(MV_TOSSES, 3, 8), binomial(MV_TOSSES, 4, 8), binomial(MV_TOSSES, 5, 8)]);
    let pair = Pair::new(x, binomial(MV_TOSSES, 5, 8))?;
    let ratio = Ratio::from(2_u32);
    let (alpha, beta) = (pair.delta(&ratio), pair.swapped().delta(&ratio));
    let final_events = events(&pair, &ratio, &alpha)?;
    let kept = first_kept(&pair, &ratio);

    let [p, q] = [0, 1].map(|side| heights(&pair, side));
    let [e, f] =
        [0, 1].map(|side| kept.iter().map(|kept| nearest(&kept[side])).collect::<Vec<_>>());
    let double = |list: &[f64]| list.iter().map(|y| 2.0 * y).collect::<Vec<_>>();
    let mut first = chart(MV_TOSSES, "(a) what is within a factor of exp(ε) = 2");
    first.areas.push(between("α: X above e", &e, &p, Color::Vermillion));
    first.areas.push(between("β: Y above f", &f, &q, Color::Green));
    first.areas.push(between("f above e", &e, &f, Color::SkyBlue));
    first.series.push(steps("P[X = x], P[Y = x]", &p, black(Line::Solid)));
    first.series.push(steps("P[X = x], P[Y = x]", &q, black(Line::Solid)));
    first.series.push(steps("exp(ε) times these", &double(&p), black(Line::Dashed)));
    first.series.push(steps("exp(ε) times these", &double(&q), black(Line::Dashed)));
    first.series.push(steps("e", &e, red()));
    first.series.push(steps("f", &f, green()));
    first.notes.extend(sets(&pair, &ratio));

    let [e, f] = [0, 1].map(|side| {
        final_events.outcomes.iter().map(|part| nearest(&part.kept[side])).collect::<Vec<_>>()
    });
    let mut second = chart(MV_TOSSES, "(b) both of mass 1 − δ, for δ = α");
    second.areas.push(between("given up by Y", &f, &q, Color::Yellow));
    second.series.push(steps("P[X = x], P[Y = x]", &p, black(Line::Solid)));
    second.series.push(steps("P[X = x], P[Y = x]", &q, black(Line::Solid)));
    second.series.push(steps("e", &e, red()));
    second.series.push(steps("f", &f, green()));

    let caption = format!(
        "Claim: what is (ε, δ)-private is (ε, 0)-private but for events of probability δ. (a) e is X cut to \
         exp(ε) times Y and f is Y cut to exp(ε) times X; the areas cut off are α = {:.4} (on S) and β = {:.4} (on \
         T), the two deltas at ε = ln 2. (b) f is lowered on T', towards e exp(−ε), until it has the mass of e: there is \
         room, as f exceeds e by {:.4} in all and {:.4} is needed. Where the claim ends: δ below α is no guarantee \
         of this pair. (The paper names no distributions; these are sums of {MV_TOSSES} tosses, in exact fractions.)",
        nearest(&alpha),
        nearest(&beta),
        room(&kept),
        nearest(&(&alpha - &beta)),
    );
    let title = "The events of Lemma 3.3 (Murtagh and Vadhan 2018, Figure 1)";
    Ok(Figure::new(title, caption, [first, second]))
}

/// Smith's lecture, Figure 2: the areas A and B of Lemma 3.1, and the image of leaky randomized response under the map.
pub(super) fn smith_figure_2(_: &Parameters) -> Result<Figure, FigureError> {
    let pair = Pair::new(binomial(SMITH_TOSSES, 2, 5), binomial(SMITH_TOSSES, 3, 5))?;
    let ratio = Ratio::from(3_u32);
    let delta = pair.delta(&ratio);
    let map = from_response(&pair, &ratio, &delta)?;
    let kept = events(&pair, &ratio, &delta)?;
    let [p, q] = [0, 1].map(|side| heights(&pair, side));
    let [e, f] = [0, 1].map(|side| masses(&kept, side));
    let mut first = chart(SMITH_TOSSES, "(a) the areas A and B, both δ");
    first.areas.push(between("A: X above exp(ε) Y", &e, &p, Color::Vermillion));
    first.areas.push(between("B: Y above exp(ε) X", &f, &q, Color::Green));
    first.series.push(steps("P of X", &p, red()));
    first.series.push(steps("P of Y", &q, green()));
    let tops = [&p, &q].map(|list| list.iter().copied().fold(0.0, f64::max));
    first.notes.push(Note::new((4.6, 0.35 * tops[0]), "A"));
    first.notes.push(Note::new((14.8, 0.35 * tops[1]), "B"));

    let response = Pair::response(&ratio, &delta)?;
    let layers = stacked(&map, &response);
    let mut second = chart(SMITH_TOSSES, "(b) X, made of a response U");
    let names = ["from “I am U”", "from 0", "from 1"];
    let colors = [Color::Vermillion, Color::Blue, Color::Yellow];
    for (n, (name, color)) in std::iter::zip(names, colors).enumerate() {
        if let [below, above] = &layers[n..=n + 1] {
            second.areas.push(between(name, below, above, color).opacity(0.4));
        }
    }
    second.series.push(steps("P of X", &p, red()));

    let [_, plus, minus, _] =
        [0, 1, 2, 3].map(|at| response.outcomes().get(at).map(|m| nearest(&m[0])));
    let caption = format!(
        "Claim: any two (ε, δ)-indistinguishable variables X and Y are a response (U or V) in disguise. (a) X exceeds exp(ε) \
         times Y, exp(ε) = 3, by the area A = δ = {:.4}, and Y exceeds X so by B, here the same. (b) The map F, in exact fractions: \
         U says “I am U” with probability δ, and F then draws from A; else it says 0 ({:.4}) or 1 ({:.4}), of which \
         F makes the rest; the layers add up to X, exactly, and from V to Y. Where the claim ends: with \
         a smaller δ there is no such F. (The lecture names no distributions; these are sums of {SMITH_TOSSES} tosses.)",
        nearest(&delta),
        plus.unwrap_or(f64::NAN),
        minus.unwrap_or(f64::NAN),
    );
    let title = "Every private pair from leaky randomized response (Smith's lecture, Figure 2)";
    Ok(Figure::new(title, caption, [first, second]))
}

/// The probabilities of the number of heads, in exact fractions.
fn binomial(tosses: u64, up: u64, down: u64) -> Vec<Ratio> {
    let odds = Ratio::from(up) / Ratio::from(down - up);
    let tails = Ratio::ONE - Ratio::from(up) / Ratio::from(down);
    let start = (0..tosses).fold(Ratio::ONE, |product, _| product * &tails);
    let rest = (1..=tosses).scan(start.clone(), |mass, k| {
        *mass *= &odds * Ratio::from(tosses + 1 - k) / Ratio::from(k);
        Some(mass.clone())
    });
    std::iter::once(start.clone()).chain(rest).collect()
}

/// The mean of several lists.
fn mixed(lists: &[Vec<Ratio>]) -> Vec<Ratio> {
    let count = Ratio::from(lists.len() as u64);
    let places = lists.first().map_or(0, Vec::len);
    let sum =
        |at: usize| lists.iter().filter_map(|list| list.get(at)).fold(Ratio::ZERO, |s, x| s + x);
    (0..places).map(|at| sum(at) / &count).collect()
}

/// MV's first e and f, before they are balanced.
fn first_kept(pair: &Pair, ratio: &Ratio) -> Vec<[Ratio; 2]> {
    let least = |a: &Ratio, b: Ratio| if *a < b { a.clone() } else { b };
    pair.outcomes().iter().map(|[p, q]| [least(p, ratio * q), least(q, ratio * p)]).collect()
}

/// The amount by which f exceeds e, summed where it does.
fn room(kept: &[[Ratio; 2]]) -> f64 {
    let above = kept.iter().filter(|[e, f]| f > e).map(|[e, f]| f - e);
    nearest(&above.fold(Ratio::ZERO, |sum, x| sum + x))
}

fn heights(pair: &Pair, side: usize) -> Vec<f64> {
    pair.outcomes().iter().map(|masses| nearest(&masses[side])).collect()
}

fn masses(events: &Events, side: usize) -> Vec<f64> {
    events.outcomes.iter().map(|part| nearest(&part.kept[side])).collect()
}

/// For each position, the cumulative contributions of the response's outcomes under U.
fn stacked(map: &Map, response: &Pair) -> Vec<Vec<f64>> {
    let places = map.rows().first().map_or(0, Vec::len);
    let mut sums = vec![Ratio::ZERO; places];
    let mut layers = vec![vec![0.0; places]];
    for (row, [under_u, _]) in map.rows().iter().zip(response.outcomes()) {
        sums.iter_mut().zip(row).for_each(|(sum, entry)| *sum += under_u * entry);
        layers.push(sums.iter().map(nearest).collect());
    }
    layers
}

/// Draws a list as steps of width one, so that areas are sums.
fn corners(heights: &[f64]) -> Vec<(f64, f64)> {
    let step = |(at, &y): (usize, &f64)| [(at as f64 - 0.5, y), (at as f64 + 0.5, y)];
    heights.iter().enumerate().flat_map(step).collect()
}

fn steps(name: &str, heights: &[f64], style: Style) -> Series {
    Series::new(name, corners(heights)).style(style)
}

/// The area above one list and below another, where the second is larger.
fn between(name: &str, low: &[f64], high: &[f64], color: Color) -> Area {
    let upper: Vec<f64> = low.iter().zip(high).map(|(low, high)| low.max(*high)).collect();
    let back = corners(low).into_iter().rev();
    Area::new(name, corners(&upper).into_iter().chain(back), color).opacity(0.3)
}

fn chart(tosses: u64, title: &str) -> Chart {
    let y = Axis::new("probability").range(0.0, 0.2);
    Chart::new(Axis::new("outcome x").range(-0.5, tosses as f64 + 0.5), y).title(title)
}

fn black(line: Line) -> Style {
    Style::new(Color::Black, line).width(1.0)
}

fn red() -> Style {
    Style::new(Color::Vermillion, Line::Solid).width(2.2)
}

fn green() -> Style {
    Style::new(Color::Green, Line::DashDot).width(2.2)
}

/// Labels of MV's sets, below the top of the chart.
fn sets(pair: &Pair, ratio: &Ratio) -> Vec<Note> {
    let span = |is: &dyn Fn(&[Ratio; 2]) -> bool| {
        let inside = pair.outcomes().iter().enumerate().filter(|(_, masses)| is(masses));
        let places: Vec<usize> = inside.map(|(at, _)| at).collect();
        Some((*places.first()?, *places.last()?))
    };
    let note = |name: &str, span: Option<(usize, usize)>, y: f64| {
        span.map(|(from, to)| Note::new((from as f64 - 0.4, y), format!("{name}: {from} to {to}")))
    };
    let s = span(&|[p, q]| *p > ratio * q);
    let t = span(&|[p, q]| *q > ratio * p);
    let larger = span(&|[p, q]| q > p);
    [note("S", s, 0.19), note("T", t, 0.176), note("T'", larger, 0.19)]
        .into_iter()
        .flatten()
        .collect()
}

impl From<ExactError> for FigureError {
    fn from(error: ExactError) -> Self {
        Self::Map(error.into())
    }
}

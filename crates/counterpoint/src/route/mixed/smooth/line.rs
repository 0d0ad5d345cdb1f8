//! Where to draw the line: saddle points, tilts and periods. Estimates all, on which no bound
//! rests.
#![allow(clippy::disallowed_methods)]

use super::{quick_cumulant, sampled};
use crate::composition::Part;
use crate::loss::{Atoms, Loss};
use crate::route::Failure;
use crate::route::mixed::cumulant::cumulant;
use crate::route::saddle::Saddle;
use crate::watch::Watch;

const MOST_TILT: f64 = 1e9;

/// Estimates of K, K' and K''.
fn jet(parts: &[Part], t: f64) -> Option<(f64, f64, f64)> {
    let mut sum = (0.0, 0.0, 1e-300);
    for part in parts {
        let [value, slope, curvature] = match &part.each {
            Loss::SampledGaussian { rate, mu, direction } => {
                sampled::quick::jet(*rate, mu.hi, *direction, t)?
            }
            loss => match plain(loss, t) {
                Some(jet) => jet,
                None => differences(loss, t)?,
            },
        };
        let count = part.count as f64;
        sum.0 += count * value;
        sum.1 += count * slope;
        sum.2 += count * curvature.max(0.0);
    }
    Some(sum)
}

/// K, K' and K'' in plain doubles, where these say enough.
fn plain(loss: &Loss, t: f64) -> Option<[f64; 3]> {
    if !(1e-3..=1e6).contains(&t) {
        return None;
    }
    match loss {
        Loss::Gaussian { square } => Some(gaussian(square.hi, t)),
        Loss::Laplace { epsilon } if epsilon.hi > 1e-4 => Some(laplace(epsilon.hi, t)),
        Loss::Response { epsilon } if epsilon.hi > 1e-4 => Some(response(epsilon.hi, t)),
        Loss::Range { epsilon } if epsilon.hi > 1e-4 => Some(range(epsilon.hi, t)),
        Loss::Atoms(atoms) => match atoms.list.whole() {
            Some(whole) => Some(gaussian(whole.square().hi, t)),
            None => few(atoms, t),
        },
        _ => None,
    }
}

fn gaussian(square: f64, t: f64) -> [f64; 3] {
    [0.5 * square * t * (1.0 + t), 0.5 * square * (1.0 + 2.0 * t), square]
}

/// ln(p e^(te) + q e^(-te)), p being e^e times q: w is what the second term is of the sum.
fn response(e: f64, t: f64) -> [f64; 3] {
    let p = 1.0 / (1.0 + (-e).exp());
    let fall = (1.0 - p) * (-2.0 * t * e).exp();
    let w = fall / (p + fall);
    [t * e + (p + fall).ln(), e * (1.0 - 2.0 * w), 4.0 * e * e * w * (1.0 - w)]
}

/// f((t + 1/2) e) - f(e/2) with f(x) = ln(sinh x / x).
fn range(e: f64, t: f64) -> [f64; 3] {
    let f = |x: f64| {
        if x < 0.03 {
            let xx = x * x;
            let value = xx / 6.0 - xx * xx / 180.0 + xx * xx * xx / 2835.0;
            let slope = x / 3.0 - x * xx / 45.0 + 2.0 * x * xx * xx / 945.0;
            return [value, slope, 1.0 / 3.0 - xx / 15.0 + 2.0 * xx * xx / 189.0];
        }
        let fall = (-2.0 * x).exp();
        let rest = 1.0 - fall;
        let sinh_squared = rest * rest / (4.0 * fall.max(1e-300));
        let slope = (1.0 + fall) / rest - 1.0 / x;
        [x + (rest / (2.0 * x)).ln(), slope, 1.0 / (x * x) - 1.0 / sinh_squared]
    };
    let ([value, slope, curvature], [before, ..]) = (f((t + 0.5) * e), f(0.5 * e));
    [value - before, e * slope, e * e * curvature]
}

/// Of few atoms: moments under the law tilted by t.
fn few(atoms: &Atoms, t: f64) -> Option<[f64; 3]> {
    const MOST: usize = 64;
    let list = Some(&atoms.list).filter(|list| list.len() <= MOST)?;
    let largest = list.first()?.loss.hi;
    let (mut sum, mut first, mut second) = (0.0, 0.0, 0.0);
    for atom in list.iter() {
        let below = atom.loss.hi - largest;
        let weight = atom.mass.hi * (t * below).exp();
        sum += weight;
        first += weight * below;
        second += weight * below * below;
    }
    let mean = first / sum;
    let jet = [t * largest + sum.ln(), largest + mean, second / sum - mean * mean];
    jet.iter().all(|x| x.is_finite()).then_some(jet)
}

/// K, K' and K'' of Laplace noise: ln((1+t) e^(te) + t e^(-(1+t)e)) - ln(1+2t), as it is.
fn laplace(e: f64, t: f64) -> [f64; 3] {
    let fall = (-(1.0 + 2.0 * t) * e).exp();
    // Over e^(te): the sum, and its two derivatives.
    let sum = 1.0 + t + t * fall;
    let first = (1.0 + t) * e + 1.0 + (1.0 - t * e) * fall;
    let second = (1.0 + t) * e * e + 2.0 * e + (t * e - 2.0) * e * fall;
    let (slope, over) = (first / sum, 1.0 + 2.0 * t);
    let value = t * e + (sum / over).ln();
    [value, slope - 2.0 / over, second / sum - slope * slope + 4.0 / (over * over)]
}

/// K, K' and K'' from three values.
fn differences(loss: &Loss, t: f64) -> Option<[f64; 3]> {
    let step = 1e-3 * t;
    let at = |t: f64| cumulant(loss, t).map(|k| k.0);
    let (low, middle, high) = (at(t - step)?, at(t)?, at(t + step)?);
    let slope = (high - low).hi / (2.0 * step);
    let curvature = ((high - middle) - (middle - low)).hi / (step * step);
    Some([middle.hi, slope, curvature])
}

/// The saddle point of a delta.
pub(in crate::route::mixed) fn saddle_at_delta(
    parts: &[Part],
    ln_delta: f64,
    watch: Watch<'_>,
) -> Result<Saddle, Failure> {
    let saddle = saddle_where(parts, watch, |saddle| ln_delta - saddle.ln_delta)?;
    Ok(Saddle { epsilon: saddle.epsilon.max(0.0), ln_delta, ..saddle })
}

/// The saddle point of an epsilon.
pub(in crate::route::mixed) fn saddle_at_epsilon(
    parts: &[Part],
    epsilon: f64,
    watch: Watch<'_>,
) -> Result<Saddle, Failure> {
    let saddle = saddle_where(parts, watch, |saddle| (saddle.epsilon - epsilon) * saddle.tilt)?;
    Ok(Saddle { epsilon, ..saddle })
}

/// The saddle point at which a quantity that rises with t vanishes; none if no contour would
/// follow ([`Transform::new`]), before much is spent on dear cumulants.
fn saddle_where(
    parts: &[Part],
    watch: Watch<'_>,
    goal: impl Fn(&Saddle) -> f64,
) -> Result<Saddle, Failure> {
    if parts.iter().any(has_no_transform) {
        return Err(Failure::TooMuch);
    }
    let (mut low, mut high) = (MOST_TILT.recip(), MOST_TILT);
    let mut t: f64 = 1.0;
    let mut last: Option<(f64, f64)> = None;
    let mut found = None;
    for _ in 0..60 {
        watch.at(0.1)?;
        let Some(saddle) = jet(parts, t).map(|k| Saddle::at(t, k)) else {
            // Too far out to be computed.
            high = t;
            t = (low * high).sqrt().max(0.25 * t);
            continue;
        };
        let height = goal(&saddle);
        found = Some(saddle);
        if height.abs() < 1e-2 || high / low < 1.0 + 1e-6 {
            return Ok(saddle);
        }
        if height < 0.0 {
            low = t;
        } else {
            high = t;
        }
        // The secant in ln t, kept within the bracket.
        let next = last.map(|(x, y)| t.ln() - height * (t.ln() - x) / (height - y));
        last = Some((t.ln(), height));
        let bold = t * if height < 0.0 { 8.0 } else { 0.125 };
        t = match next.map(f64::exp) {
            Some(next) if next > low && next < high && next.is_finite() => {
                next.clamp(t * 0.05, t * 20.0)
            }
            _ if bold > low && bold < high => bold,
            _ => (low * high).sqrt(),
        };
        if t <= low || t >= high {
            t = (low * high).sqrt();
        }
    }
    found.ok_or(Failure::TooMuch)
}

/// Whether only its values on the axis are known.
fn has_no_transform(part: &Part) -> bool {
    use Loss::{Mixture, SampledLaplace, SampledRange, Subset};
    matches!(part.each, SampledLaplace { .. } | SampledRange { .. } | Mixture(_) | Subset { .. })
}

/// An estimate of K.
fn value(parts: &[Part], t: f64) -> Option<f64> {
    let of = |part: &Part| {
        let value = match plain(&part.each, t) {
            Some([value, ..]) => value,
            None => quick_cumulant(&part.each, t)?.0.hi,
        };
        Some(part.count as f64 * value)
    };
    parts.iter().map(of).sum()
}

/// Where to draw the line, and what shows that its aliases are negligible; estimates.
pub(super) struct Line {
    pub(super) t: f64,
    pub(super) period: f64,
    /// Tilts above and below t.
    pub(super) others: [f64; 2],
}

/// Tilts to choose from, relative to the saddle point.
const TILTS: [f64; 30] = [
    0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.95, 1.0, 1.005, 1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0,
];

/// The line with the shortest period, at or below the saddle point.
///
/// Rare large losses make K a cliff: at the saddle point both they and the many small ones
/// count, and the period must span the two. A line a little below it loses some digits to
/// cancellation and needs a period no longer than what it is about.
pub(super) fn line(
    parts: &[Part],
    saddle: &Saddle,
    negligible: f64,
    watch: &Watch<'_>,
) -> Result<Line, Failure> {
    let goal = saddle.ln_delta + (0.01 * negligible).ln();
    let mut rates: Vec<(f64, f64)> = Vec::with_capacity(TILTS.len());
    for c in TILTS {
        watch.at(0.2)?;
        let t = c * saddle.tilt;
        rates.extend(value(parts, t).map(|k| (t, k - t * saddle.epsilon)));
    }
    // Not more should cancel: each factor's rounding counts.
    let many: f64 =
        parts.iter().filter(|part| is_sampled(part)).map(|part| part.count as f64).sum();
    let most = saddle.ln_delta + (negligible.ln() + 31.0 - 0.5 * (1.0 + many).ln()).max(1.0);
    let mut best: Option<(f64, Line)> = None;
    for &(t, rate) in &rates {
        if t > saddle.tilt * (1.0 + 1e-9) {
            continue;
        }
        let Some((period, others)) = period_of(&rates, t, saddle, goal) else { continue };
        let lost = (rate - t.ln() - t.ln_1p() - most).max(0.0);
        let cost = period.ln() + 2.0 * lost;
        if best.as_ref().is_none_or(|(least, _)| cost <= *least) {
            best = Some((cost, Line { t, period, others }));
        }
    }
    best.map(|(_, line)| line).ok_or(Failure::TooMuch)
}

fn is_sampled(part: &Part) -> bool {
    matches!(part.each, Loss::SampledGaussian { .. })
}

/// The least power of two that makes the aliases negligible.
pub(super) fn period_of(
    rates: &[(f64, f64)],
    t: f64,
    saddle: &Saddle,
    goal: f64,
) -> Option<(f64, [f64; 2])> {
    let best = |length: f64, above: bool| {
        let side = rates.iter().filter(|(other, _)| if above { *other > t } else { *other < t });
        let rated =
            side.map(|&(other, rate)| (rate - other.ln_1p() - (other - t).abs() * length, other));
        rated.fold((f64::INFINITY, t), |a, b| if b.0 < a.0 { b } else { a })
    };
    let start = 4.0 / saddle.tilt;
    let mut length = 2.0_f64.powi(start.log2().ceil().clamp(-400.0, 400.0) as i32);
    for _ in 0..60 {
        let (high, low) = (best(length, true), best(length, false));
        if high.0 < goal && low.0 < goal {
            return Some((length, [high.1, low.1]));
        }
        length *= 2.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss::two_outcomes;
    use counterpoint_numerics::Dd;
    use std::sync::Arc;

    /// Plain doubles against differences of double-doubles.
    #[test]
    fn plain_jets_are_those_of_the_cumulants() {
        for e in [2e-4, 0.01, 0.05, 0.3, 1.0, 4.0] {
            let epsilon = Dd::from(e);
            let losses = [
                Loss::Gaussian { square: epsilon },
                Loss::Laplace { epsilon },
                Loss::Response { epsilon },
                Loss::Range { epsilon },
                Loss::Atoms(Arc::new(two_outcomes(epsilon, 0.7))),
            ];
            for loss in losses {
                for t in [1e-3, 0.02, 0.4, 3.0, 25.0, 200.0] {
                    let (found, truth) = (plain(&loss, t).unwrap(), differences(&loss, t).unwrap());
                    let near = |k: usize, slack: f64, least: f64| {
                        let off = (found[k] - truth[k]).abs();
                        assert!(
                            off <= slack * truth[k].abs() + least,
                            "{loss:?} {t}: {found:?} {truth:?}"
                        );
                    };
                    near(0, 1e-12, 1e-14);
                    near(1, 1e-4, 1e-12);
                    near(2, 1e-3, 1e-7 * e * e);
                }
            }
        }
    }
}

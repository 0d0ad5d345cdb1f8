//! Chooses the line of integration: saddle points, tilts and periods. All of these are estimates, on which no bound
//! rests.
#![allow(clippy::disallowed_methods)]

use crate::composition::CountedLoss;
use crate::laws::{Jet, Law, cumulant, quick_cumulant};
use crate::methods::Failure;
use crate::methods::saddle::Saddle;
use crate::watch::Watch;

const MOST_TILT: f64 = 1e9;

/// Estimates of K, K' and K''.
fn jet(parts: &[CountedLoss], t: f64) -> Option<(f64, f64, f64)> {
    let mut sum = (0.0, 0.0, 1e-300);
    for part in parts {
        let law = part.law();
        let jet = match law.own_jet(t) {
            Some(jet) => jet,
            None => plain(law, t).or_else(|| differences(law, t)),
        };
        let [value, slope, curvature] = jet?;
        let count = part.count as f64;
        sum.0 += count * value;
        sum.1 += count * slope;
        sum.2 += count * curvature.max(0.0);
    }
    Some(sum)
}

/// K, K' and K'' in plain doubles, where these are precise enough.
fn plain(law: &dyn Law, t: f64) -> Option<Jet> {
    if (1e-3..=1e6).contains(&t) { law.jet(t) } else { None }
}

/// K, K' and K'' from three values.
fn differences(law: &dyn Law, t: f64) -> Option<Jet> {
    let step = 1e-3 * t;
    let at = |t: f64| cumulant(law, t).map(|k| k.0);
    let (low, middle, high) = (at(t - step)?, at(t)?, at(t + step)?);
    let slope = (high - low).hi / (2.0 * step);
    let curvature = ((high - middle) - (middle - low)).hi / (step * step);
    Some([middle.hi, slope, curvature])
}

/// The saddle point of a delta.
pub(crate) fn saddle_at_delta(
    parts: &[CountedLoss],
    ln_delta: f64,
    watch: Watch<'_>,
) -> Result<Saddle, Failure> {
    let saddle = saddle_where(parts, watch, |saddle| ln_delta - saddle.ln_delta)?;
    Ok(Saddle { epsilon: saddle.epsilon.max(0.0), ln_delta, ..saddle })
}

/// The saddle point of an epsilon.
pub(crate) fn saddle_at_epsilon(
    parts: &[CountedLoss],
    epsilon: f64,
    watch: Watch<'_>,
) -> Result<Saddle, Failure> {
    let saddle = saddle_where(parts, watch, |saddle| (saddle.epsilon - epsilon) * saddle.tilt)?;
    Ok(Saddle { epsilon, ..saddle })
}

/// The saddle point at which a quantity that increases with t vanishes. Fails early if no contour would follow
/// ([`Transform::new`]), before much is spent on expensive cumulants.
fn saddle_where(
    parts: &[CountedLoss],
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
        watch.check(0.1)?;
        let Some(saddle) = jet(parts, t).map(|k| Saddle::at(t, k)) else {
            // Too large to be computed.
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

/// True if the law's transform is known on the axis only.
fn has_no_transform(part: &CountedLoss) -> bool {
    !part.law().has_transform()
}

/// An estimate of K.
fn value(parts: &[CountedLoss], t: f64) -> Option<f64> {
    let of = |part: &CountedLoss| {
        let value = match plain(part.law(), t) {
            Some([value, ..]) => value,
            None => quick_cumulant(part.law(), t)?.0.hi,
        };
        Some(part.count as f64 * value)
    };
    parts.iter().map(of).sum()
}

/// The line of integration, and the tilts that show that its aliases are negligible; estimates.
pub(super) struct ContourLine {
    pub(super) t: f64,
    pub(super) period: f64,
    /// Tilts above and below t.
    pub(super) others: [f64; 2],
}

/// The tilts to choose from, relative to the saddle point.
const TILTS: [f64; 30] = [
    0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8,
    0.85, 0.9, 0.95, 1.0, 1.005, 1.02, 1.05, 1.1, 1.2, 1.4, 2.0, 3.0, 5.0,
];

/// The line with the shortest period, at or below the saddle point.
///
/// Rare large losses make K a cliff: at the saddle point both they and the many small losses count, and the period must
/// span both. A line slightly below the saddle point loses some digits to cancellation, and needs a period that spans
/// only the losses around epsilon.
pub(super) fn line(
    parts: &[CountedLoss],
    saddle: &Saddle,
    negligible: f64,
    watch: &Watch<'_>,
) -> Result<ContourLine, Failure> {
    let goal = saddle.ln_delta + (0.01 * negligible).ln();
    let mut rates: Vec<(f64, f64)> = Vec::with_capacity(TILTS.len());
    for c in TILTS {
        watch.check(0.2)?;
        let t = c * saddle.tilt;
        rates.extend(value(parts, t).map(|k| (t, k - t * saddle.epsilon)));
    }
    // A bound on the cancellation: each factor's rounding counts.
    let many: f64 =
        parts.iter().filter(|part| is_sampled(part)).map(|part| part.count as f64).sum();
    let most = saddle.ln_delta + (negligible.ln() + 31.0 - 0.5 * (1.0 + many).ln()).max(1.0);
    let mut best: Option<(f64, ContourLine)> = None;
    for &(t, rate) in &rates {
        if t > saddle.tilt * (1.0 + 1e-9) {
            continue;
        }
        let Some((period, others)) = period_of(&rates, t, saddle, goal) else { continue };
        let lost = (rate - t.ln() - t.ln_1p() - most).max(0.0);
        let cost = period.ln() + 2.0 * lost;
        if best.as_ref().is_none_or(|(least, _)| cost <= *least) {
            best = Some((cost, ContourLine { t, period, others }));
        }
    }
    best.map(|(_, line)| line).ok_or(Failure::TooMuch)
}

fn is_sampled(part: &CountedLoss) -> bool {
    part.law().sampled_normal().is_some()
}

/// The least period, a power of two, that makes the aliases negligible.
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
    use crate::laws::{Gaussian, Laplace, Loss, Range, Response, two_outcomes};
    use counterpoint_numerics::Dd;
    use std::sync::Arc;

    /// Plain doubles against differences of double-doubles.
    #[test]
    fn plain_jets_are_those_of_the_cumulants() {
        for e in [2e-4, 0.01, 0.05, 0.3, 1.0, 4.0] {
            let epsilon = Dd::from(e);
            let losses: [Loss; 5] = [
                Gaussian { square: epsilon }.into(),
                Laplace { epsilon }.into(),
                Response { epsilon }.into(),
                Range { epsilon }.into(),
                Arc::new(two_outcomes(epsilon, 0.7)).into(),
            ];
            for loss in losses {
                for t in [1e-3, 0.02, 0.4, 3.0, 25.0, 200.0] {
                    let (found, truth) =
                        (plain(loss.law(), t).unwrap(), differences(loss.law(), t).unwrap());
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

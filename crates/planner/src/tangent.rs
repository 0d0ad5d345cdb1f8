//! Tangent planes above the privacy of Laplace and Gaussian noise.
//!
//! F = ln(1 - delta(epsilon)) is concave in the levels (Prékopa), so F is at most its value at a point plus a
//! supergradient there times the distance from the point. In each direction, a supergradient lies between the
//! difference quotients of the two sides.

use crate::cost::CostError;
use crate::shadow::{Shadow, ShadowKind};
use counterpoint::Bracket;

/// Noises, each with a kind, a level and a count.
type Noises = Vec<Shadow>;

/// Computes a certified delta of noises at the epsilon of the budget.
pub(crate) trait DeltaOracle {
    fn delta(&self, noises: &[Shadow]) -> Result<Bracket, CostError>;
}

impl<A: Fn(&[Shadow]) -> Result<Bracket, CostError>> DeltaOracle for A {
    fn delta(&self, noises: &[Shadow]) -> Result<Bracket, CostError> {
        self(noises)
    }
}

/// A plane above F: F is at most `here` plus, for each noise, the larger of its two slopes times the distance from its
/// level.
#[derive(Clone, Debug)]
pub(crate) struct Tangent {
    /// F at the point, rounded up.
    pub(crate) here: f64,
    /// For each noise, in the given order, the least and the largest slope of one of its copies.
    pub(crate) slopes: Vec<(f64, f64)>,
}

/// The directions of a tangent. All Laplace noise of one level is one direction, since F has a supergradient with equal
/// components for all of it. All Gaussian noise away from zero is one direction, since F depends on mu, the root of the
/// sum of its squared levels, and has a supergradient whose components are proportional to the levels.
struct Groups {
    laplace: Vec<(f64, u64)>,
    mu: f64,
}

impl Groups {
    fn of(noises: &[Shadow]) -> Self {
        let mut laplace: Vec<(f64, u64)> = Vec::new();
        let mut square = 0.0;
        for noise in noises.iter().filter(|noise| noise.level > 0.0) {
            match noise.kind {
                ShadowKind::Gaussian => square += noise.count as f64 * noise.level * noise.level,
                ShadowKind::Laplace => {
                    let same = laplace.iter_mut().find(|(level, _)| is_same(*level, noise.level));
                    match same {
                        Some((_, count)) => *count = count.saturating_add(noise.count),
                        None => laplace.push((noise.level, noise.count)),
                    }
                }
            }
        }
        Self { laplace, mu: square.sqrt() }
    }

    /// All noises, with another level for one of the directions.
    fn with(&self, moved: Option<(ShadowKind, f64, f64)>) -> Noises {
        let level = |kind: ShadowKind, level: f64| match moved {
            Some((of, from, to)) if of == kind && is_same(from, level) => to,
            _ => level,
        };
        let shadow = |kind, level, count| Shadow { kind, level, count, smoothed: false };
        let laplace = self.laplace.iter();
        let mut all: Noises = laplace
            .map(|(own, count)| {
                shadow(ShadowKind::Laplace, level(ShadowKind::Laplace, *own), *count)
            })
            .collect();
        if self.mu > 0.0 {
            all.push(shadow(ShadowKind::Gaussian, level(ShadowKind::Gaussian, self.mu), 1));
        }
        all
    }
}

fn is_same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits()
}

/// The number of directions of noises.
pub(crate) fn directions(noises: &[Shadow]) -> usize {
    let groups = Groups::of(noises);
    groups.laplace.len() + usize::from(groups.mu > 0.0)
}

/// The noises with those of equal kind and level combined.
pub(crate) fn together(noises: &[Shadow]) -> Noises {
    Groups::of(noises).with(None)
}

/// A plane that touches F at these noises, up to rounding.
pub(crate) fn tangent(noises: &[Shadow], oracle: &impl DeltaOracle) -> Result<Tangent, CostError> {
    let groups = Groups::of(noises);
    let here = oracle.delta(&groups.with(None))?;
    let laplace =
        groups.laplace.iter().map(|&(level, count)| (ShadowKind::Laplace, level, count as f64));
    let gaussian = (groups.mu > 0.0).then_some((ShadowKind::Gaussian, groups.mu, 1.0));
    let mut found: Vec<(ShadowKind, f64, (f64, f64))> = Vec::new();
    for (kind, level, count) in laplace.chain(gaussian) {
        let (least, most) = slopes(&groups, (kind, level), here, oracle)?;
        found.push((kind, level, (least / count, most / count)));
    }
    let slope = |noise: &Shadow| {
        if noise.level <= 0.0 {
            // F is even in each level, so it has a supergradient that is zero here.
            return (0.0, 0.0);
        }
        let is_own = |(kind, level, _): &&(ShadowKind, f64, (f64, f64))| {
            *kind == noise.kind
                && (noise.kind == ShadowKind::Gaussian || is_same(*level, noise.level))
        };
        let (least, most) = found.iter().find(is_own).map_or((0.0, 0.0), |(.., slope)| *slope);
        match noise.kind {
            ShadowKind::Laplace => (least, most),
            ShadowKind::Gaussian => {
                (least * noise.level / groups.mu, most * noise.level / groups.mu)
            }
        }
    };
    let slopes = noises.iter().map(slope).collect();
    Ok(Tangent { here: most_of(here), slopes })
}

/// The least and the largest component of a supergradient in a direction: the difference quotients of both sides,
/// rounded outward.
fn slopes(
    groups: &Groups,
    (kind, level): (ShadowKind, f64),
    here: Bracket,
    oracle: &impl DeltaOracle,
) -> Result<(f64, f64), CostError> {
    let at = |to: f64| oracle.delta(&groups.with(Some((kind, level, to))));
    // The step changes delta by a few percent: by far more than the width of brackets, and F is still nearly linear.
    let mut step = 1e-3 * level;
    let mut above = at(level + step)?;
    for _ in 0..4 {
        let grown = (above.upper / here.upper).ln();
        if (0.01..0.05).contains(&grown) || !grown.is_finite() {
            break;
        }
        let next = (step * (0.025 / grown.max(1e-6)).clamp(1e-3, 1e3)).min(0.3 * level);
        let is_near = (next / step - 1.0).abs() < 0.1;
        step = next;
        above = at(level + step)?;
        if is_near {
            break;
        }
    }
    let (up, down) = (level + step, level - step);
    let below = at(down)?;
    let least = (least_of(above) - most_of(here)) / (up - level);
    let most = (most_of(here) - least_of(below)) / (level - down);
    Ok((least.min(0.0) * (1.0 + 1e-12), most.min(0.0) * (1.0 - 1e-12)))
}

/// An upper bound on ln(1 - delta).
fn most_of(delta: Bracket) -> f64 {
    (-delta.lower).ln_1p() * (1.0 - 1e-14)
}

/// A lower bound on ln(1 - delta).
fn least_of(delta: Bracket) -> f64 {
    (-delta.upper).ln_1p() * (1.0 + 1e-14)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Bracket, CostError, Shadow, ShadowKind, tangent};
    use counterpoint_testing::{Random, tries};

    /// A known -ln(1 - delta): convex, even in each level, and a function of mu for Gaussian noise.
    fn spent(noises: &[Shadow], size: f64) -> f64 {
        let (mut all, mut square) = (0.0, 0.0);
        for noise in noises {
            match noise.kind {
                ShadowKind::Laplace => {
                    all += noise.count as f64 * (noise.level * noise.level + noise.level.powi(4))
                }
                ShadowKind::Gaussian => square += noise.count as f64 * noise.level * noise.level,
            }
        }
        size * (all + square + square * square + all * all)
    }

    /// The plane is above a known function near the point and far from it, and touches it at the point.
    #[test]
    fn planes_are_above_and_touch() {
        let mut random = Random::new(75);
        for round in 0..tries(2000, 0.1) {
            let size = random.log_uniform(1e-9, 1e-2);
            let noise = |random: &mut Random| Shadow {
                kind: if random.once_in(2) { ShadowKind::Laplace } else { ShadowKind::Gaussian },
                level: random.of(&[0.1, 0.2, 0.31]),
                count: random.between(1, 3),
                smoothed: false,
            };
            let many = random.between(1, 5);
            let point: Vec<Shadow> = (0..many).map(|_| noise(&mut random)).collect();
            let oracle = |noises: &[Shadow]| {
                let delta = -(-spent(noises, size)).exp_m1();
                Ok::<Bracket, CostError>(Bracket {
                    lower: delta * (1.0 - 1e-7),
                    upper: delta * (1.0 + 1e-7),
                })
            };
            let plane = tangent(&point, &oracle).unwrap();
            let far = random.log_uniform(1e-4, 3.0);
            let moved: Vec<Shadow> = point
                .iter()
                .map(|at| Shadow {
                    level: at.level * (far * (2.0 * random.unit() - 1.0)).exp(),
                    ..*at
                })
                .collect();
            let above = |moved: &[Shadow]| {
                let of = |((at, to), slope): ((&Shadow, &Shadow), &(f64, f64))| {
                    let way = to.level - at.level;
                    (slope.0 * way).max(slope.1 * way) * at.count as f64
                };
                plane.here + point.iter().zip(moved).zip(&plane.slopes).map(of).sum::<f64>()
            };
            let (real, bound) = (-spent(&moved, size), above(&moved));
            assert!(bound >= real, "{round}: {far} {bound} {real}");
            // Twice the curvature's part, with a margin for the step.
            let most = 0.02 * (1.0 - (-far).exp()) + 40.0 * far * far;
            let rest = (bound - real) / spent(&point, size);
            assert!(far > 0.1 || rest < 20.0 * most + 1e-6, "{round}: {far} {rest} {most}");
            assert!((above(&point) + spent(&point, size)).abs() < 3e-7 * spent(&point, size));
        }
    }

    /// One Laplace noise of level x above epsilon = 1 has 1 - delta = e^((1 - x)/2), so F falls with slope 1/2
    /// everywhere. However wide the brackets are, the least and the largest slope enclose this slope.
    #[test]
    fn slopes_are_rounded_outward() {
        for width in [0.0, 1e-4, 1e-3] {
            let wide = |noises: &[Shadow]| {
                let delta = -((1.0 - noises[0].level) / 2.0).exp_m1();
                let (lower, upper) = (delta * (1.0 - width), delta * (1.0 + width));
                Ok(Bracket { lower, upper })
            };
            let noise = Shadow { kind: ShadowKind::Laplace, level: 1.5, count: 1, smoothed: false };
            let (least, most) = tangent(&[noise], &wide).unwrap().slopes[0];
            assert!(least <= -0.5 + 1e-9 && most >= -0.5 - 1e-9, "{width}: {least} {most}");
            // A bracket of this width, for a delta that changes by about a fortieth, leaves about eighty times the
            // width.
            assert!(most - least >= 20.0 * width, "{width}: {least} {most}");
        }
    }
}

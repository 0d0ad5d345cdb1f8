//! A plane above the remaining budget, and the facets of the plane for single rows.

use crate::shadow::Shadow;

/// An upper bound on the remaining budget, linear in each noise's level on either side of a point: `left` at the point,
/// plus, for each noise, the larger of its two slopes times the distance of its level from that at the point.
pub(crate) struct Plane {
    pub(crate) left: f64,
    pub(crate) noises: Vec<Shadow>,
    pub(crate) slopes: Vec<(f64, f64)>,
}

/// The part of a plane for one of `many` equal rows.
pub(crate) struct Facet<'a> {
    many: u64,
    noises: &'a [Shadow],
    slopes: &'a [(f64, f64)],
}

impl Plane {
    pub(crate) fn facet(&self, from: usize, width: usize, many: u64) -> Facet<'_> {
        let of = from..from + width;
        Facet {
            many,
            noises: self.noises.get(of.clone()).unwrap_or_default(),
            slopes: self.slopes.get(of).unwrap_or_default(),
        }
    }
}

impl Facet<'_> {
    /// A lower bound on the budget that this noise takes beyond that at the point.
    pub(crate) fn taken(&self, shadows: &[Shadow]) -> f64 {
        let of = |(place, (noise, slope)): (usize, (&Shadow, &(f64, f64)))| {
            let count = noise.count / self.many.max(1);
            let is_same = |own: &&Shadow| {
                (own.kind, own.smoothed, own.count) == (noise.kind, noise.smoothed, count)
            };
            // Noise of another kind gives no bound, so it counts as level 0.
            let level = shadows.get(place).filter(is_same).map_or(0.0, |own| own.level);
            let way = level - noise.level;
            -(slope.0 * way).max(slope.1 * way) * count as f64
        };
        self.noises.iter().zip(self.slopes).enumerate().map(of).sum()
    }

    /// The size of the terms, for rounding.
    pub(crate) fn size(&self) -> f64 {
        let of =
            |(noise, slope): (&Shadow, &(f64, f64))| -slope.0 * noise.level * noise.count as f64;
        self.noises.iter().zip(self.slopes).map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Plane;
    use crate::shadow::{Shadow, ShadowKind};

    /// Of two slopes, the bound uses the one that takes less in either direction: with slopes from -3 to -2, a level
    /// from 1 up to 2 takes at least 2, and a level from 1 down to 0 gives back at most 3.
    #[test]
    fn less_is_never_taken_for_more() {
        let noise =
            |level: f64| Shadow { kind: ShadowKind::Laplace, level, count: 5, smoothed: false };
        for slopes in [(-3.0, -2.0), (-2.0, -3.0)] {
            let plane = Plane { left: 0.0, noises: vec![noise(1.0)], slopes: vec![slopes] };
            let facet = plane.facet(0, 1, 5);
            let taken = |level: f64| {
                let own = Shadow { count: 1, ..noise(level) };
                facet.taken(&[own])
            };
            assert!((taken(2.0) - 2.0).abs() < 1e-12 && (taken(0.0) + 3.0).abs() < 1e-12);
            // Noise of another kind gives no bound.
            let other = Shadow { kind: ShadowKind::Gaussian, count: 1, ..noise(2.0) };
            assert!((facet.taken(&[other]) + 3.0).abs() < 1e-12);
        }
    }
}

//! The sampled person's share of the law, and its effect on a moved line.

use counterpoint_numerics::exp;

/// Bounds the mass that the nodes leave out beyond the right end, beside [`CUT`].
const UNSEEN: f64 = 1e-20;

/// The weights by share, by falling share.
pub(super) struct Shares(Vec<ShareBin>);

#[derive(Clone, Copy, Default)]
struct ShareBin {
    /// The largest share in the bin.
    share: f64,
    weight: f64,
    /// The sum of the weights of all larger shares.
    above: f64,
}

impl Shares {
    /// The number of bins: four for each octave, down to 2^-40.
    pub(super) const BINS: usize = 160;

    /// Collects nodes by rising share. The bin of a node is estimated, and never below an earlier node's.
    #[allow(clippy::disallowed_methods)]
    pub(super) fn new(nodes: impl Iterator<Item = (f64, f64)>) -> Self {
        let mut bins = vec![ShareBin::default(); Self::BINS + 1];
        let mut last = Self::BINS as f64;
        for (share, weight) in nodes {
            last = (-4.0 * share.log2()).floor().clamp(0.0, last);
            let bin = &mut bins[last as usize];
            (bin.share, bin.weight) = (bin.share.max(share), bin.weight + weight);
        }
        bins.retain(|bin| bin.weight > 0.0);
        let mut above = 0.0;
        for bin in &mut bins {
            bin.above = above;
            above += bin.weight;
        }
        Self(bins)
    }

    /// Returns the least, over the place of the cut, of a times E[e^(x arg)] below the cut plus c times the mass above
    /// it. Here arg, the argument of r on the moved line over beta, is at most the share if that is at most one half,
    /// and at most one. Cuts are at shares up to `most`.
    pub(super) fn least(&self, x: f64, a: f64, c: f64, most: f64) -> f64 {
        let term = |bin: &ShareBin| {
            let arg = if bin.share <= 0.5 { bin.share } else { 1.0 };
            if x * arg > 650.0 { f64::INFINITY } else { bin.weight * exp(x * arg) }
        };
        let (mut sum, mut least) = (0.0, f64::INFINITY);
        // The smallest share comes first.
        for bin in self.0.iter().rev() {
            sum += term(bin);
            if bin.share <= most {
                least = least.min(a * sum + c * (bin.above + UNSEEN));
            }
        }
        least.min(a * sum)
    }
}

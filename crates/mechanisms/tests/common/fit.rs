//! Whether draws follow a law. Two statistics, which between them see a scale that is wrong by
//! 2 %: how many draws are in each cell and up to it, and the mean of one number.
//!
//! Their p-values are Chernoff's bounds, which hold for any number of draws and any law: no
//! normal or chi-square approximation, of which little is known as far out as 10^-9.

/// What the test of one law may falsely reject. A run tests 160 laws, so that all of them
/// together falsely reject less often than twice in ten million runs; one in a million is
/// allowed.
const LEVEL: f64 = 1e-9;

/// A law on whole numbers: masses of the cells, in order, and a number ("energy") of which the
/// law is known well enough.
pub(crate) struct Law {
    /// The last whole number of each cell but the last, increasing.
    ends: Vec<i128>,
    masses: Vec<f64>,
    energy: Box<dyn Fn(i128) -> f64>,
    mean: f64,
    variance: f64,
    /// ln E exp(t (energy - mean)).
    cumulant: Box<dyn Fn(f64) -> f64>,
}

/// Bounds on how likely what was seen is, or anything further off.
#[derive(Debug)]
pub(crate) struct Verdict {
    cells: f64,
    mean: f64,
}

impl Verdict {
    pub(crate) fn rejects(&self) -> bool {
        self.cells < LEVEL / 2.0 || self.mean < LEVEL / 2.0
    }
}

impl Law {
    /// From masses listed one by one, which need not sum to one.
    pub(crate) fn listed(
        list: impl Iterator<Item = (i128, f64)>,
        energy: impl Fn(i128) -> f64 + 'static,
    ) -> Self {
        let list: Vec<(i128, f64)> = list.collect();
        let total: f64 = list.iter().map(|(_, mass)| mass).sum();
        let ends = list.iter().map(|&(x, _)| x).take(list.len() - 1).collect();
        let masses: Vec<f64> = list.iter().map(|(_, mass)| mass / total).collect();
        let mut spread: Vec<(f64, f64)> =
            list.iter().zip(&masses).map(|(&(x, _), &mass)| (energy(x), mass)).collect();
        let mean = spread.iter().map(|(energy, mass)| mass * energy).sum();
        spread.iter_mut().for_each(|(energy, _)| *energy -= mean);
        let variance = spread.iter().map(|(energy, mass)| mass * energy * energy).sum();
        let cumulant = move |t: f64| {
            spread.iter().map(|(energy, mass)| mass * (t * energy).exp_m1()).sum::<f64>().ln_1p()
        };
        let (energy, cumulant) = (Box::new(energy), Box::new(cumulant));
        Self { ends, masses, energy, mean, variance, cumulant }
    }

    /// Cells of the discrete Laplace law from its distribution function, for scales at which
    /// listing would be long. P(x <= k) is 1 - e^(-(k+1)/s)/(1 + e^(-1/s)) for k >= 0.
    pub(crate) fn laplace(scale: f64) -> Self {
        let rest = 1.0 / (1.0 + (-1.0 / scale).exp());
        let up_to = |k: i128| {
            let k = k as f64;
            if k >= 0.0 {
                1.0 - rest * (-(k + 1.0) / scale).exp()
            } else {
                rest * (k / scale).exp()
            }
        };
        let width = (scale / 8.0).ceil() as i128;
        let ends: Vec<i128> = (-100..=100).map(|cell| cell * width).collect();
        let mut below = 0.0;
        let mut masses: Vec<f64> = Vec::new();
        for &end in &ends {
            masses.push(up_to(end) - below);
            below = up_to(end);
        }
        masses.push(1.0 - below);
        // |x| / s, with a = 1/s: E|x| = 1/sinh(a), E x^2 = 1/(2 sinh^2(a/2)), and E exp(t|x|/s)
        // = tanh(a/2) / tanh((1-t) a/2).
        let a = 1.0 / scale;
        let (mean, square) = (a / a.sinh(), 0.5 * (a / (0.5 * a).sinh()).powi(2));
        let energy = Box::new(move |x: i128| (x as f64 / scale).abs());
        let cumulant = Box::new(move |t: f64| {
            ((0.5 * a).tanh() / (0.5 * (1.0 - t) * a).tanh()).ln() - t * mean
        });
        Self { ends, masses, energy, mean, variance: square - mean * mean, cumulant }
    }

    pub(crate) fn verdict(&self, runs: u64, mut draw: impl FnMut() -> i128) -> Verdict {
        let mut counts = vec![0_u64; self.masses.len()];
        let mut sum = 0.0;
        for _ in 0..runs {
            let x = draw();
            counts[self.ends.partition_point(|&end| end < x)] += 1;
            sum += (self.energy)(x) - self.mean;
        }
        let runs = runs as f64;
        Verdict { cells: self.cells(&counts, runs), mean: self.off_by(sum / runs, runs) }
    }

    /// P(N >= a) and P(N <= a) are at most exp(-n d(a/n, p)), on their side of np, for a
    /// binomial N: twice that for each cell, and for all cells up to it.
    fn cells(&self, counts: &[u64], runs: f64) -> f64 {
        let (mut mass_so_far, mut seen_so_far, mut most) = (0.0, 0.0, 0.0_f64);
        for (mass, &count) in self.masses.iter().zip(counts) {
            let seen = count as f64 / runs;
            mass_so_far += mass;
            seen_so_far += seen;
            most = most.max(divergence(seen, *mass)).max(divergence(seen_so_far, mass_so_far));
        }
        4.0 * counts.len() as f64 * (-runs * most).exp()
    }

    /// P(mean >= m) is at most exp(-n (t m - cumulant(t))) for every t > 0, and likewise below.
    /// The best t is about m / variance, or less.
    fn off_by(&self, m: f64, runs: f64) -> f64 {
        let rate = |share: f64| {
            let t = share * m / self.variance;
            t * m - (self.cumulant)(t)
        };
        let best = [1.0, 0.5, 0.25, 0.125].map(rate).into_iter().fold(0.0, f64::max);
        2.0 * (-runs * best).exp()
    }
}

/// x ln(x/p) + (1-x) ln((1-x)/(1-p)), with sums of masses that may round beyond one.
fn divergence(x: f64, p: f64) -> f64 {
    let part = |x: f64, p: f64| if x > 0.0 { x * (x / p).ln() } else { 0.0 };
    let (x, p) = (x.min(1.0), p.min(1.0));
    // What is seen where nearly all or nothing is expected counts only beyond rounding.
    if (x - p).abs() < 1e-12 { 0.0 } else { part(x, p) + part(1.0 - x, 1.0 - p) }
}

#[test]
fn bounds_bound_binomial_tails() {
    // P(N >= a) of 30 draws, mass by mass.
    let (runs, p) = (30, 0.2_f64);
    let mut mass = (1.0 - p).powi(runs);
    let mut masses = vec![mass];
    for a in 0..runs {
        mass *= f64::from(runs - a) / f64::from(a + 1) * p / (1.0 - p);
        masses.push(mass);
    }
    let law = Law::listed([(0, 1.0 - p), (1, p)].into_iter(), |x| x as f64);
    for a in 7..=30_u16 {
        let tail: f64 = masses[a.into()..].iter().sum();
        let share = f64::from(a) / f64::from(runs);
        let best = (-f64::from(runs) * divergence(share, p)).exp();
        let found = 0.5 * law.off_by(share - p, f64::from(runs));
        // Each t gives a bound, and the best of all t gives the divergence.
        assert!(tail <= best * (1.0 + 1e-12), "{a}: {tail} {best}");
        assert!(best <= found * (1.0 + 1e-12), "{a}: {best} {found}");
        assert!(found.ln() <= 0.8 * best.ln(), "{a}: {best} {found}");
    }
}

#[test]
fn laplace_cumulants_are_those_of_the_masses() {
    let scale = 3.0;
    let mass = |x: i128| (x, (-(x as f64 / scale).abs()).exp());
    let listed = Law::listed((-300..=300).map(mass), move |x| (x as f64 / scale).abs());
    let closed = Law::laplace(scale);
    assert!((listed.mean - closed.mean).abs() < 1e-12);
    assert!((listed.variance - closed.variance).abs() < 1e-12);
    for t in [-2.0, -0.1, 0.01, 0.3] {
        assert!(((listed.cumulant)(t) - (closed.cumulant)(t)).abs() < 1e-12, "{t}");
    }
}

//! Whether draws follow a law: a chi-square test over cells and a test of one mean, which
//! between them see a scale that is wrong by 2 %.

use super::ln_gamma;

/// What one test may falsely reject: over all tests of a run less than one in a million.
const LEVEL: f64 = 1e-9;

/// A law on whole numbers: masses of the cells, in order, and a number whose mean and
/// variance are known.
pub(crate) struct Law {
    /// The last number of each cell but the last, increasing.
    pub(crate) ends: Vec<i128>,
    pub(crate) masses: Vec<f64>,
    pub(crate) energy: Box<dyn Fn(i128) -> f64>,
    pub(crate) mean: f64,
    pub(crate) variance: f64,
}

/// The verdict on draws.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) chi_square: f64,
    pub(crate) mean: f64,
}

impl Verdict {
    pub(crate) fn rejects(&self) -> bool {
        self.chi_square < LEVEL || self.mean < LEVEL
    }
}

impl Law {
    /// From masses listed one by one.
    pub(crate) fn listed(
        list: impl Iterator<Item = (i128, f64)>,
        energy: impl Fn(i128) -> f64 + 'static,
    ) -> Self {
        let list: Vec<(i128, f64)> = list.collect();
        let total: f64 = list.iter().map(|(_, mass)| mass).sum();
        let moment = |power: i32| {
            list.iter().map(|&(x, mass)| mass * energy(x).powi(power)).sum::<f64>() / total
        };
        let (mean, square) = (moment(1), moment(2));
        let ends = list.iter().map(|&(x, _)| x).take(list.len() - 1).collect();
        let masses = list.iter().map(|(_, mass)| mass / total).collect();
        Self { ends, masses, energy: Box::new(energy), mean, variance: square - mean * mean }
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
        // |x| / s: E|x| = 1/sinh(a), E x^2 = 1/(2 sinh^2(a/2)).
        let a = 1.0 / scale;
        let (mean, square) = (a / a.sinh(), 0.5 * (a / (0.5 * a).sinh()).powi(2));
        let energy = Box::new(move |x: i128| (x as f64 / scale).abs());
        Self { ends, masses, energy, mean, variance: square - mean * mean }
    }

    pub(crate) fn verdict(&self, runs: u64, mut draw: impl FnMut() -> i128) -> Verdict {
        let mut counts = vec![0_u64; self.masses.len()];
        let mut sum = 0.0;
        for _ in 0..runs {
            let x = draw();
            counts[self.ends.partition_point(|&end| end < x)] += 1;
            sum += (self.energy)(x);
        }
        let z = (sum / runs as f64 - self.mean) / (self.variance / runs as f64).sqrt();
        Verdict { chi_square: self.chi_square(&counts, runs as f64), mean: two_sided(z) }
    }

    /// Neighbouring cells are put together until each expects 50.
    fn chi_square(&self, counts: &[u64], runs: f64) -> f64 {
        let (mut statistic, mut cells) = (0.0, 0.0);
        let (mut expected, mut seen, mut left) = (0.0, 0.0, runs);
        for (mass, &count) in self.masses.iter().zip(counts) {
            expected += mass * runs;
            seen += count as f64;
            if expected >= 50.0 && left - expected >= 50.0 {
                statistic += (seen - expected).powi(2) / expected;
                cells += 1.0;
                left -= expected;
                (expected, seen) = (0.0, 0.0);
            }
        }
        statistic += (seen - expected).powi(2) / expected.max(1e-300);
        gamma_above(cells / 2.0, statistic / 2.0)
    }
}

/// P(|N(0,1)| > |z|), which is P(chi-square with one degree > z^2).
fn two_sided(z: f64) -> f64 {
    gamma_above(0.5, 0.5 * z * z)
}

/// The regularised upper incomplete gamma function Q(a, x).
fn gamma_above(a: f64, x: f64) -> f64 {
    if a <= 0.0 || x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        let (mut term, mut sum, mut n) = (1.0 / a, 1.0 / a, a);
        while term > 1e-16 * sum {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    let mut b = x + 1.0 - a;
    let (mut c, mut d) = (1e300, 1.0 / b);
    let mut value = d;
    for i in 1..100_000 {
        let i = f64::from(i);
        let step = -i * (i - a);
        b += 2.0;
        d = 1.0 / (step * d + b);
        c = b + step / c;
        value *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * value
}

#[test]
fn tails_against_closed_forms() {
    // Two degrees of freedom: e^(-x/2). P(|N| > 1.959963984540054) = 0.05.
    assert!((gamma_above(1.0, 9.0) / (-9.0_f64).exp() - 1.0).abs() < 1e-12);
    assert!((two_sided(1.959_963_984_540_054) - 0.05).abs() < 1e-12);
    assert!((two_sided(6.0) / 1.973_175_290_075_396_7e-9 - 1.0).abs() < 1e-9);
}

//! Sketches are as accurate as stated, and not by accident: a raw answer is the quadratic form Q
//! it stands for times chi-square / r, with r degrees of freedom, and what is allowed is eta Q.
//! 40,000 sketches of each kind in a full run, a tenth of that in a quick one.

use counterpoint_mechanisms::sketch::{Graph, SketchParameters};
use counterpoint_testing::tries;

/// Twenty directions: 8 ln(2/nu) / eta^2 is 19.7.
const DIRECTIONS: u32 = 20;

fn sketching() -> SketchParameters {
    let sketching = SketchParameters::new(20.0, 0.5, 0.75, 0.5).unwrap();
    assert_eq!(sketching.directions(), u64::from(DIRECTIONS));
    sketching
}

/// P(chi-square with this even number of degrees > x): a Poisson sum.
fn beyond(degrees: u32, x: f64) -> f64 {
    let mut term = (-0.5 * x).exp();
    let mut sum = term;
    for i in 1..degrees / 2 {
        term *= 0.5 * x / f64::from(i);
        sum += term;
    }
    sum
}

/// How often an answer is off by more than eta Q.
fn failing(degrees: u32, eta: f64) -> f64 {
    let r = f64::from(degrees);
    beyond(degrees, r * (1.0 + eta)) + 1.0 - beyond(degrees, r * (1.0 - eta))
}

#[test]
fn failures_are_within_what_is_stated() {
    // 2 degrees: e^(-x/2).
    assert!((beyond(2, 3.0) - (-1.5_f64).exp()).abs() < 1e-15);
    // 8 ln(2/nu) / eta^2, rounded up, is even for these.
    let cases = [(0.75, 0.5, 20), (0.75, 0.02, 66), (0.5, 0.1, 96), (0.3, 0.05, 328)];
    for (eta, nu, directions) in cases {
        let found = SketchParameters::new(1.0, 1e-3, eta, nu).unwrap().directions();
        assert_eq!(found, u64::from(directions));
        let failing = failing(directions, eta);
        assert!(failing <= nu, "{eta} {nu}: {failing}");
    }
}

/// What sketches did: raw answers over Q, and how many were off by more than is allowed.
struct Seen {
    sum: f64,
    squares: f64,
    off: f64,
    runs: f64,
}

fn see(mut one: impl FnMut() -> (f64, bool)) -> Seen {
    let runs = tries(40_000, 0.1);
    let mut seen = Seen { sum: 0.0, squares: 0.0, off: 0.0, runs: runs as f64 };
    for _ in 0..runs {
        let (ratio, off) = one();
        seen.sum += ratio;
        seen.squares += (ratio - 1.0).powi(2);
        seen.off += f64::from(u8::from(off));
    }
    seen
}

impl Seen {
    /// Whether the mean ratio is this, to six standard deviations of chi-square / r.
    fn has_mean(&self, mean: f64) -> bool {
        let deviation = (2.0 / f64::from(DIRECTIONS) / self.runs).sqrt();
        (self.sum / self.runs - mean).abs() <= 6.0 * deviation
    }

    fn agrees(&self, eta: f64) {
        assert!(self.has_mean(1.0), "mean {}", self.sum / self.runs);
        // 2 % would have been seen, and 10 % in a quick run.
        let wrong = if counterpoint_testing::is_full() { 0.02 } else { 0.1 };
        assert!(!self.has_mean(1.0 - wrong) && !self.has_mean(1.0 + wrong));
        // (chi-square/r - 1)^2 has mean 2/r and variance 8/r^2 + 48/r^3.
        let r = f64::from(DIRECTIONS);
        let deviation = ((8.0 / (r * r) + 48.0 / r.powi(3)) / self.runs).sqrt();
        let square = self.squares / self.runs;
        assert!((square - 2.0 / r).abs() <= 8.0 * deviation, "square {square}, not {}", 2.0 / r);
        let expected = failing(DIRECTIONS, eta) * self.runs;
        assert!((self.off - expected).abs() <= 7.0 * expected.sqrt(), "{} {expected}", self.off);
    }
}

#[test]
fn cuts_are_as_accurate_as_stated() {
    let sketching = sketching();
    let weight = sketching.cut_weight();
    let nodes = 2 * weight.ceil() as usize;
    let edges = (0..nodes).flat_map(|i| (1..4).map(move |d| (i, (i + d) % nodes, 0.8)));
    let graph = Graph::new(nodes, edges).unwrap();
    let set: Vec<usize> = (0..nodes / 3).collect();
    // Of the edges of length d, d leave the set at each of its two ends.
    let truth = 2.0 * (1.0 + 2.0 + 3.0) * 0.8;
    assert!(set.len() >= 3 && (graph.cut(&set) - truth).abs() < 1e-9);
    let (n, s) = (nodes as f64, set.len() as f64);
    let padding = weight * s * (n - s) / n;
    let form = (1.0 - weight / n) * truth + padding;
    let seen = see(|| {
        let sketch = sketching.cuts(&graph).unwrap();
        let sketch = sketch.accepting_real_arithmetic();
        let answer = sketch.cut(&set).unwrap();
        let allowed = sketching.eta() * truth + sketch.tau(&set).unwrap();
        (((1.0 - weight / n) * answer + padding) / form, (answer - truth).abs() > allowed)
    });
    seen.agrees(sketching.eta());
}

#[test]
fn variances_are_as_accurate_as_stated() {
    let sketching = sketching();
    let weight = sketching.variance_weight();
    let row = |i: u8| vec![f64::from(i), weight - f64::from(i), 1.0];
    let matrix: Vec<Vec<f64>> = (0..5).map(row).collect();
    let x = [0.6, 0.8, 0.0];
    let along = |row: &Vec<f64>| 0.6 * row[0] + 0.8 * row[1];
    let truth: f64 = matrix.iter().map(|row| along(row).powi(2)).sum();
    let form = truth + weight * weight;
    let seen = see(|| {
        let sketch = sketching.variances(&matrix).unwrap();
        let sketch = sketch.accepting_real_arithmetic();
        let answer = sketch.variance(&x).unwrap();
        let allowed = sketching.eta() * truth + sketch.tau();
        ((answer + weight * weight) / form, (answer - truth).abs() > allowed)
    });
    seen.agrees(sketching.eta());
}

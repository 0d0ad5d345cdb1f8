//! Bounds on the contour's points that are not evaluated.

use super::lattice::{LatticeCell, TiltedLattice, Weight};
use crate::delta_bounds::DOUBLES;
use counterpoint_numerics::fourier::{Complex as FftComplex, Transforms};
use counterpoint_numerics::{UNIT, expm1, turn};

/// Bounds on |phi| everywhere.
///
/// A factor with masses p_x has `|phi|^2 = 1 - 2 sum p_x p_y (1 - cos(theta (x - y)))`, over unordered pairs, some of
/// which may be left out. The pairs used here are (plus, minus), with weights c that add up to C. The logarithm is
/// concave in the cosines, so its tangent at cosine 0 bounds it: `ln |phi| <= ln(1 - 2C)/2 + sum c/(1 - 2C) cos(theta
/// d)`. Over all factors that is a constant and one cosine sum F over a histogram of spacings.
#[derive(Clone, Debug)]
pub(crate) struct Decay {
    /// F is evaluated at 2^coarse_bits points a turn, and the first half of them is kept.
    coarse_bits: u32,
    pub(super) bits: u32,
    /// A lower bound on -ln |phi| around each coarse point.
    exponents: Vec<f64>,
    /// sum c d^2 / 2 and sum c d^4, rounded down and up.
    second: f64,
    fourth: f64,
    /// The spacings and their weights, if they are few enough to evaluate one by one.
    spacings: Vec<(u64, f64)>,
    /// sqrt(sum c d^2 / 2), from above.
    steepest: f64,
}

// Allowances of the certificates below, each rounded up generously.

/// A series of eight positive terms in doubles.
const SERIES: f64 = 1e-14;
/// Angles and the kernel's size: ten roundings.
const ANGLE: f64 = 1e-12;
/// The fourth-order term, made of angles and sums good to [`DOUBLES`], to the second power.
const FOURTH: f64 = 1e-8;
/// x log2(e): three roundings.
const LOGARITHM: f64 = 1e-15;
/// Units of a transform, eightfold: for each of its stages, its twiddle factors and the terms' own few.
const STAGE: f64 = 16.0;
const TERMS: f64 = 512.0;
const EIGHTFOLD: f64 = 8.0 * UNIT;
/// The error of sums of weights that are off by a factor e^x, and of their squares and tangents: see [`Decay::nearby`].
const MOVED: f64 = 2.0;

/// From this sum of weights on the simpler bound is used.
const MANY: f64 = 1000.0;

/// A block of points, from `first` to `last`, at which |phi| is at most `bound`.
pub(super) struct BoundedBlock {
    pub(super) first: u64,
    pub(super) last: u64,
    bound: f64,
}

impl BoundedBlock {
    /// A bound on the sum over the block and its mirror image; the kernel decreases from 0 to N/2.
    fn total(&self, kernel_bound: &KernelBound) -> f64 {
        2.0 * (self.last - self.first + 1) as f64 * self.bound * kernel_bound.at(self.first)
    }
}

/// The sums that describe a lattice's decay.
#[derive(Default)]
struct DecaySums {
    /// sum c, sum c d^2 / 2, sum c d^4.
    zeroth: f64,
    second: f64,
    fourth: f64,
    /// -sum ln(1 - 2C)/2, from below.
    constant: f64,
    /// sum b and sum b d^2 for the coefficients b of F.
    total: f64,
    curvature: f64,
}

impl DecaySums {
    fn new(lattice: &TiltedLattice) -> Self {
        let mut moments = Self::default();
        for cell in &lattice.cells {
            let (count, pairs) = (cell.count as f64, cell.pairs());
            moments.constant += count * half_ln_floor(2.0 * pairs);
            for (distance, weight) in cell.spacings() {
                let square = distance * distance;
                let tangent = weight / (1.0 - 2.0 * pairs);
                moments.zeroth += weight;
                moments.second += 0.5 * weight * square;
                moments.fourth += weight * square * square;
                moments.total += tangent;
                moments.curvature += tangent * square;
            }
        }
        moments
    }
}

/// A lower bound on -ln(1 - x)/2 for 0 <= x <= 1/2: its truncated series.
fn half_ln_floor(x: f64) -> f64 {
    let series = (1..=8_u32).rev().fold(0.0, |sum, n| x * (1.0 / f64::from(n) + sum));
    0.5 * series * (1.0 - SERIES)
}

impl LatticeCell {
    /// The probability weight of the pairs (plus, minus), for one factor.
    fn pairs(&self) -> f64 {
        self.high[0] * (self.high[1] + self.high[2])
    }

    /// The distances of the pairs, and their weights, for all factors of the cell.
    fn spacings(&self) -> [(f64, f64); 2] {
        let (near, weight) = (self.steps as f64, self.count as f64 * self.high[0]);
        [(near, weight * self.high[1]), (near + 1.0, weight * self.high[2])]
    }
}

impl Decay {
    pub(crate) fn new(lattice: &TiltedLattice, bits: u32, transforms: &mut Transforms) -> Self {
        let moments = DecaySums::new(lattice);
        // About ten coarse points to the turn of a typical spacing, so that the tangents follow F closely. An estimate:
        // any number will do.
        #[allow(clippy::disallowed_methods)]
        let wanted = (10.0 * (2.0 * moments.second / moments.zeroth).sqrt()).log2();
        let coarse_bits = (wanted.ceil().clamp(4.0, 22.0) as u32).min(bits);
        let bound = if moments.zeroth > MANY { chord_exponents } else { exponents };
        let exponents = bound(lattice, &moments, coarse_bits, bits, transforms);
        Self {
            coarse_bits,
            bits,
            exponents,
            second: moments.second * (1.0 - DOUBLES),
            fourth: moments.fourth * (1.0 + DOUBLES),
            spacings: few_spacings(lattice),
            steepest: moments.second.sqrt() * (1.0 + DOUBLES),
        }
    }

    /// The bounds for a lattice whose cells have the same spacings, and weights within a factor e^(+-slack). C changes
    /// as little, and the bounds on ln |phi| move by at most `4 slack sum(b)`, where `sum(b) <= 2 sum(c)` and `sum(c)
    /// <= count / 4`.
    pub(crate) fn nearby(&self, slack: f64, count: f64) -> Self {
        let moved = MOVED * slack * count;
        Self {
            exponents: self.exponents.iter().map(|exponent| exponent - moved).collect(),
            second: self.second * (1.0 - MOVED * slack),
            fourth: self.fourth * (1.0 + MOVED * slack),
            spacings: self.spacings.iter().map(|&(d, c)| (d, c * (1.0 - MOVED * slack))).collect(),
            steepest: self.steepest * (1.0 + MOVED * slack),
            ..*self
        }
    }

    /// The blocks around the coarse points; together they contain all points from 0 to N/2.
    pub(super) fn blocks(&self) -> impl Iterator<Item = BoundedBlock> {
        let each = 1_u64 << (self.bits - self.coarse_bits);
        let half = 1_u64 << (self.bits - 1);
        self.exponents.iter().enumerate().map(move |(index, &exponent)| {
            let centre = index as u64 * each;
            let first = if index == 0 { 0 } else { centre - each / 2 + u64::from(each > 1) };
            let last = if each == 1 { centre } else { (centre + each / 2).min(half) };
            BoundedBlock { first, last, bound: exp_ceiling(exponent.max(0.0)) }
        })
    }

    /// The blocks' totals, and a threshold: the totals below it add up to at most half the allowance. The totals are
    /// sorted into powers of two.
    pub(super) fn totals(&self, allowance: f64, kernel_bound: &KernelBound) -> (Vec<f64>, f64) {
        const CLASSES: usize = 100;
        let mut sums = [0.0; CLASSES];
        let totals: Vec<f64> = self.blocks().map(|block| block.total(kernel_bound)).collect();
        for &total in totals.iter().skip(1) {
            sums[halvings(allowance / total).min(CLASSES - 1)] += total;
        }
        let mut sum = 0.0;
        for class in (1..CLASSES).rev() {
            sum += sums[class];
            if sum > 0.5 * allowance {
                return (totals, allowance / (1_u128 << (class + 1)) as f64);
            }
        }
        (totals, 0.5 * allowance)
    }

    /// The angle between neighbouring points, from above.
    fn unit(&self) -> f64 {
        std::f64::consts::TAU / (1_u64 << self.bits) as f64 * (1.0 + ANGLE)
    }

    /// A lower bound on sqrt(g) at a point, from every spacing.
    fn root(&self, index: u64) -> f64 {
        let g: f64 = self
            .spacings
            .iter()
            .map(|&(distance, weight)| {
                let (_, sine) = turn(index.wrapping_mul(distance), self.bits + 1);
                2.0 * weight * sine * sine
            })
            .sum();
        g.sqrt() * (1.0 - DOUBLES) - DOUBLES * self.steepest
    }

    /// A bound on |phi| over a part, from `1 - cos x >= x^2/2 - x^4/24`, which is good near zero. It decreases until
    /// theta^2 is twelve times the ratio of the sums, and gives nothing beyond.
    fn near_zero(&self, part: &PointRange) -> f64 {
        let angle = |index: u64| index as f64 * self.unit();
        let square = |index: u64| angle(index) * angle(index);
        if square(part.last) * self.fourth > 12.0 * self.second * (1.0 - DOUBLES) {
            return 1.0;
        }
        let square = square(part.first) * (1.0 - DOUBLES);
        let g = self.second * square - self.fourth * square * square / 24.0 * (1.0 + FOURTH);
        exp_ceiling(g.max(0.0))
    }
}

/// Separates the points to evaluate from those whose bounds are small enough.
pub(super) struct Sieve<'a> {
    decay: &'a Decay,
    kernel_bound: &'a KernelBound,
    /// The largest sum of all bounds, and the largest sum in one block.
    allowance: f64,
    threshold: f64,
    /// The points to evaluate.
    pub(super) wanted: Vec<u64>,
    /// The sum of the bounds of the other points, without the profile's numerator.
    pub(super) rest: f64,
    /// The number of bounds computed at the middle of a part.
    looks: f64,
}

impl<'a> Sieve<'a> {
    pub(super) fn new(
        decay: &'a Decay,
        kernel_bound: &'a KernelBound,
        allowance: f64,
        threshold: f64,
    ) -> Self {
        let (wanted, rest, looks) = (Vec::new(), 0.0, 0.0);
        Self { decay, kernel_bound, allowance, threshold, wanted, rest, looks }
    }

    /// The work so far plus that of evaluating the points, given the work of one point.
    pub(super) fn work(&self, point: f64) -> f64 {
        self.wanted.len() as f64 * point + self.looks * self.decay.spacings.len() as f64
    }

    /// Sorts a part's points, calling `go_on` now and then. A part is bounded by its middle: sqrt(g) is the norm of a
    /// vector, `g = sum 2 c sin^2(theta d / 2)`, so it changes at most as fast as the norm of the vector's derivative,
    /// sqrt(sum c d^2 / 2).
    pub(super) fn sort<E>(
        &mut self,
        whole: PointRange,
        go_on: impl Fn(&Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let decay = self.decay;
        let share = self.threshold / (whole.last - whole.first + 1) as f64;
        let mut parts = vec![whole];
        let mut steps = 0_u64;
        while let Some(part) = parts.pop() {
            if steps & 127 == 0 {
                go_on(self)?;
            }
            steps += 1;
            let many = (part.last - part.first + 1) as f64;
            let most = 2.0 * many * self.kernel_bound.at(part.first);
            let near_zero = most * decay.near_zero(&part);
            if part.first > 0 && near_zero <= 1e-2 * self.allowance {
                self.rest += near_zero;
                continue;
            }
            if many < 2.0 {
                self.wanted.push(part.first);
                continue;
            }
            let middle = part.first + (part.last - part.first) / 2;
            // Such a bound costs about as much as evaluating a point.
            if part.first > 0 && many > 4.0 && !decay.spacings.is_empty() {
                self.looks += 1.0;
                let reach = (part.last - middle) as f64 * decay.unit();
                let root = decay.root(middle) - decay.steepest * reach;
                let bound = most * exp_ceiling(root.max(0.0) * root.max(0.0));
                if bound <= share * many {
                    self.rest += bound;
                    continue;
                }
            }
            parts.push(PointRange { first: middle + 1, last: part.last });
            parts.push(PointRange { first: part.first, last: middle });
        }
        Ok(())
    }
}

/// A run of points.
pub(super) struct PointRange {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// The spacings of a lattice, with equal ones merged, if they are few; else an empty list.
fn few_spacings(lattice: &TiltedLattice) -> Vec<(u64, f64)> {
    let mut list: Vec<(u64, f64)> = Vec::new();
    for which in [0, 1] {
        // Cells are sorted by their spacing.
        let first = list.len();
        for (distance, weight) in lattice.cells.iter().map(|cell| cell.spacings()[which]) {
            match list[first..].last_mut() {
                Some(last) if last.0 == distance as u64 => last.1 += weight,
                _ if weight > 0.0 => list.push((distance as u64, weight)),
                _ => {}
            }
            if list.len() > 4096 {
                return Vec::new();
            }
        }
    }
    list
}

/// The power of two below a number, as an exponent; zero for numbers below two.
fn halvings(x: f64) -> usize {
    ((x.to_bits() >> 52) as usize & 0x7ff).saturating_sub(1023)
}

/// Lower bounds on -ln |phi| around each point of the coarse grid: within half an interval, F increases at most by its
/// slope there and half its largest curvature.
///
/// Each output of a transform is a sum along a tree of at most log2(points) butterflies, which bounds its rounding
/// relative to the sum of all magnitudes; the rounding of the histograms is at most one u an entry.
fn exponents(
    lattice: &TiltedLattice,
    moments: &DecaySums,
    coarse_bits: u32,
    bits: u32,
    transforms: &mut Transforms,
) -> Vec<f64> {
    let reach = reach(coarse_bits, bits);
    let spacings = lattice.cells.iter().flat_map(|cell| {
        let steepness = 1.0 / (1.0 - 2.0 * cell.pairs());
        cell.spacings().map(|(distance, weight)| {
            let weight = weight * steepness;
            (distance, [weight, weight * distance * reach])
        })
    });
    let histograms = histograms(spacings, coarse_bits);
    let rounding = rounding(lattice, coarse_bits);
    let steepest = (2.0 * moments.total * moments.curvature).sqrt() * reach;
    let lost = (moments.total + steepest) * rounding
        + 0.5 * moments.curvature * reach * reach * (1.0 + DOUBLES);
    let constant = moments.constant * (1.0 - rounding) - lost;
    let [values, slopes] = spectra(histograms, transforms);
    let both = values.into_iter().zip(slopes);
    both.map(|(value, slope)| constant - value.re - slope.im.abs()).collect()
}

/// The same bounds for very many factors, from the tangent at cosine 1: `ln |phi| <= -g`, and sqrt(g) changes at most
/// as fast as its norm allows.
fn chord_exponents(
    lattice: &TiltedLattice,
    moments: &DecaySums,
    coarse_bits: u32,
    bits: u32,
    transforms: &mut Transforms,
) -> Vec<f64> {
    let spacings = lattice.cells.iter().flat_map(LatticeCell::spacings);
    let histograms =
        histograms(spacings.map(|(distance, weight)| (distance, [weight])), coarse_bits);
    let slack = moments.second.sqrt() * reach(coarse_bits, bits) * (1.0 + DOUBLES);
    let total = moments.zeroth * (1.0 - rounding(lattice, coarse_bits));
    let [values] = spectra(histograms, transforms);
    values
        .into_iter()
        .map(|value| {
            let root = (total - value.re).max(0.0).sqrt() - slack;
            root.max(0.0) * root.max(0.0)
        })
        .collect()
}

/// Half the angle between coarse points; zero if no other points lie between them.
fn reach(coarse_bits: u32, bits: u32) -> f64 {
    if coarse_bits == bits { 0.0 } else { std::f64::consts::PI / (1_u64 << coarse_bits) as f64 }
}

/// Weights by spacing, modulo the number of coarse points.
fn histograms<const N: usize>(
    spacings: impl Iterator<Item = (f64, [f64; N])>,
    coarse_bits: u32,
) -> [Vec<f64>; N] {
    let points = 1_u64 << coarse_bits;
    let mut histograms = [(); N].map(|()| vec![0.0; points as usize]);
    for (distance, weights) in spacings {
        let at = (distance as u64 & (points - 1)) as usize;
        for (histogram, weight) in histograms.iter_mut().zip(weights) {
            histogram[at] += weight;
        }
    }
    histograms
}

/// A bound on the rounding of a transform and its histogram, relative to the sum of all magnitudes.
fn rounding(lattice: &TiltedLattice, coarse_bits: u32) -> f64 {
    (STAGE * f64::from(coarse_bits) + TERMS + lattice.cells.len() as f64) * EIGHTFOLD
}

/// The Fourier transforms at frequencies 0 to half the length.
fn spectra<const N: usize>(
    histograms: [Vec<f64>; N],
    transforms: &mut Transforms,
) -> [Vec<FftComplex<f64>>; N] {
    histograms.map(|histogram| {
        let frequencies = histogram.len() / 2 + 1;
        // The transform exists by construction. Without it, infinities would bound nothing, which is safe.
        let unbounded = || vec![FftComplex::new(f64::INFINITY, 0.0); frequencies];
        transforms.forward(histogram).unwrap_or_else(unbounded)
    })
}

/// A quick upper bound on the kernel's size, without the profile's numerator: `|1 - a e^(-i theta)|^2 = (1 - a)^2 + 4 a
/// sin^2(theta/2)`, and `sin(theta/2) >= theta/pi` up to pi.
pub(super) struct KernelBound {
    /// (1 - a)^2 and 4 a (2/N)^2 for a = e^-th and a = e^-(t+1)h.
    lower: (f64, f64),
    upper: (f64, f64),
    weight: Weight,
}

impl KernelBound {
    pub(super) fn new(lattice: &TiltedLattice, weight: Weight, bits: u32) -> Self {
        let turn = 2.0 / (1_u64 << bits) as f64;
        let parts = |exponent: f64| {
            let fall = -expm1(-exponent);
            (fall * fall, 4.0 * (1.0 - fall) * turn * turn)
        };
        Self { lower: parts(lattice.tilt), upper: parts(lattice.tilt + lattice.step), weight }
    }

    pub(super) fn at(&self, index: u64) -> f64 {
        let square = index as f64 * index as f64;
        let lower = self.lower.0 + self.lower.1 * square;
        let size = match self.weight {
            Weight::Mass => lower,
            Weight::Profile => lower * (self.upper.0 + self.upper.1 * square),
        };
        (1.0 + ANGLE) / size.sqrt()
    }
}

/// A power of two that is at least e^-x, for x of at least zero, and at most twice that.
fn exp_ceiling(x: f64) -> f64 {
    use std::f64::consts::LOG2_E;
    let halvings = (x * LOG2_E * (1.0 - LOGARITHM)).floor();
    if halvings < 1000.0 { f64::from_bits((1023 - halvings as u64) << 52) } else { 1e-300 }
}

//! The saddle-point contour on a lattice.
//!
//! With `phi(theta) = E~[e^(-i theta Y)]` under the tilted law and N = 2^bits points theta_j = 2 pi j / N,
//!
//! `S = (1/N) sum_j phi(theta_j) e^(i theta_j y0) kernel(theta_j)`
//!
//! equals the required sum over Y <= y0 plus non-negative terms from Y shifted by whole periods (theory 3.3). Few
//! points matter. The others are bounded without being evaluated, all at once, by one Fourier transform.

use super::lattice::{LatticeCell, TiltedLattice, Weight};
use super::skipped::{Decay, KernelBound, PointRange, Sieve};
use crate::delta_bounds::{DOUBLES, LEFT_OUT};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::complex::{Complex, power, times};
use counterpoint_numerics::{UNIT, expm1, turn, turn_dd};

/// The kernel's two or three factors, 32 u each, a turn of 16 u, and their products.
const KERNEL: f64 = 256.0 * UNIT;
/// A sum's last roundings, the scale's among them.
const SUM: f64 = 4.0 * UNIT;
/// A light factor: two phases, good to 48 u each, of which the second has at most all of the mass. They were found to
/// be good to 35 u; products and the power use the rest.
const LIGHT: f64 = 96.0 * UNIT;
/// A heavy factor's base: turns to 2^-96 and nine operations, 2^-88; and the rounding of its power to doubles.
const HEAVY: f64 = 3.3e-27;
const HEAVY_ROUNDED: f64 = 8.0 * UNIT;
/// The product's own size and that of its smallest factor.
const SIZES: f64 = 1e-14;
/// e^x - 1 is at most 1.2 x for x up to 0.1.
const FIRST_ORDER: f64 = 1.2;

const ONE: Complex = (1.0, 0.0);

fn norm_squared(z: Complex) -> f64 {
    z.0 * z.0 + z.1 * z.1
}

fn norm(z: Complex) -> f64 {
    norm_squared(z).sqrt()
}

fn reciprocal(z: Complex) -> Complex {
    let n = norm_squared(z);
    (z.0 / n, -z.1 / n)
}

/// One point of the contour. Its weight is 1 for j = 0 and N/2, which stand alone, and 2 for the others, which also
/// stand for their conjugates.
#[derive(Clone, Copy, Debug)]
struct LatticePoint {
    index: u64,
    weight: f64,
    phi: Complex,
    /// Absolute error of phi.
    error: f64,
}

/// The contour for one tilted lattice: the evaluated points, and a bound on the rest.
#[derive(Clone, Debug)]
pub(crate) struct LatticeContour {
    bits: u32,
    tilt: f64,
    step: f64,
    weight: Weight,
    points: Vec<LatticePoint>,
    /// A bound on the sum of the other points, without the profile's numerator.
    rest: f64,
}

/// Reasons why there is no contour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ContourError {
    Stopped,
    /// Too many points matter.
    TooMuch,
}

impl From<StopRequest> for ContourError {
    fn from(_: StopRequest) -> Self {
        Self::Stopped
    }
}

impl LatticeContour {
    /// Evaluates the points that matter; the sum of the rest is at most about `negligible` times the first point.
    pub(crate) fn new(
        lattice: &TiltedLattice,
        decay: &Decay,
        weight: Weight,
        negligible: f64,
        most_work: f64,
        watch: &Watch<'_>,
    ) -> Result<Self, ContourError> {
        let bits = decay.bits;
        let kernel_bound = KernelBound::new(lattice, weight, bits);
        let allowance = negligible * kernel_bound.at(0);
        let (totals, threshold) = decay.totals(allowance, &kernel_bound);
        let point_work = lattice.point_work();
        let mut sieve = Sieve::new(decay, &kernel_bound, allowance, threshold);
        let go_on = |sieve: &Sieve<'_>| {
            watch.check(0.0)?;
            if sieve.work(point_work) > most_work { Err(ContourError::TooMuch) } else { Ok(()) }
        };
        for (block, total) in decay.blocks().zip(totals) {
            if total <= threshold && block.first > 0 {
                sieve.rest += total;
            } else {
                sieve.sort(PointRange { first: block.first, last: block.last }, go_on)?;
            }
        }
        go_on(&sieve)?;
        let Sieve { wanted, rest, .. } = sieve;
        let half = 1_u64 << (bits - 1);
        let mut points = Vec::with_capacity(wanted.len());
        for (done, chunk) in wanted.chunks(CHUNK).enumerate() {
            watch.check((done * CHUNK) as f64 / wanted.len() as f64)?;
            let values = Characteristic::new(lattice, chunk, bits, watch)?;
            for (at, &index) in chunk.iter().enumerate() {
                let (phi, error) = values.at(at);
                let weight = if index == 0 || index == half { 1.0 } else { 2.0 };
                points.push(LatticePoint { index, weight, phi, error });
            }
        }
        // The bounds were rounded a few times each.
        let rest = rest * (1.0 + DOUBLES);
        Ok(Self { bits, tilt: lattice.tilt, step: lattice.step, weight, points, rest })
    }

    /// `sum over Y <= y0 of the mass times e^(-tilt (y0 - Y))`, aliases included, and a bound on its absolute error. If
    /// the weight is the profile's, each term is multiplied by `1 - e^(-(kappa + h (y0 - Y)))`, where 0 <= kappa <= h.
    pub(crate) fn sum(&self, y0: u64, kappa: f64) -> (f64, f64) {
        match self.weight {
            Weight::Mass => self.add_up(y0, self.rest, |kernel| {
                let inverse = reciprocal(kernel.lower);
                (inverse, norm(inverse))
            }),
            Weight::Profile => {
                let flat = -expm1(-kappa);
                let turning = (1.0 - flat) * -expm1(-(self.step - kappa));
                // The numerator is largest at theta = 0.
                let most = flat + (1.0 + expm1(-self.tilt)) * turning;
                self.add_up(y0, self.rest * most, |kernel| {
                    let numerator = (flat + kernel.decay.0 * turning, kernel.decay.1 * turning);
                    let inverse = reciprocal(times(kernel.lower, kernel.upper));
                    (times(numerator, inverse), most * norm(inverse))
                })
            }
        }
    }

    /// `value` returns the kernel and the size to which its rounding is relative.
    fn add_up(&self, y0: u64, rest: f64, value: impl Fn(&Kernel) -> (Complex, f64)) -> (f64, f64) {
        let scale = 1.0 / (1_u64 << self.bits) as f64;
        let (mut sum, mut error) = (0.0, rest);
        for point in &self.points {
            let kernel = Kernel::new(self.tilt, self.step, point.index, self.bits);
            let turned = turn(point.index.wrapping_mul(y0), self.bits);
            let (at, size) = value(&kernel);
            let term = times(times(point.phi, turned), at).0;
            sum += point.weight * term;
            error += UNIT * sum.abs();
            error += point.weight * size * (point.error + KERNEL * norm(point.phi));
        }
        error += SUM * sum.abs();
        (sum * scale, error * scale * (1.0 + DOUBLES))
    }
}

/// The factors of the kernel at one point, each to a relative error of about 32 u.
struct Kernel {
    /// e^-zh.
    decay: Complex,
    /// 1 - e^-zh.
    lower: Complex,
    /// 1 - e^-(z+1)h.
    upper: Complex,
}

impl Kernel {
    fn new(tilt: f64, step: f64, index: u64, bits: u32) -> Self {
        let (cosine, sine) = turn(index, bits);
        let (_, half_sine) = turn(index, bits + 1);
        let versine = 2.0 * half_sine * half_sine;
        // 1 - a e^(-i theta) = (1 - a) + a (1 - cos) + i a sin: nothing cancels.
        let gap = |exponent: f64| {
            let fall = -expm1(-exponent);
            let size = 1.0 - fall;
            (fall + size * versine, size * sine)
        };
        let size = 1.0 + expm1(-tilt);
        Self { decay: (size * cosine, -size * sine), lower: gap(tilt), upper: gap(tilt + step) }
    }
}

/// phi at many points, computed cell by cell.
struct Characteristic {
    /// The product of the factors so far, at each point.
    product: Vec<Complex>,
    /// The square of the smallest factor's size, at each point.
    smallest: Vec<f64>,
    /// The sum of the factors' absolute errors.
    errors: f64,
}

impl Characteristic {
    /// Each light factor is a convex combination of points of the unit circle, computed to an absolute error of
    /// [`LIGHT`].
    fn new(
        lattice: &TiltedLattice,
        indices: &[u64],
        bits: u32,
        watch: &Watch<'_>,
    ) -> Result<Self, StopRequest> {
        let mut phases = Phases::new(indices, bits);
        let next = phases.at(1).to_vec();
        let mut all = Self {
            product: vec![ONE; indices.len()],
            smallest: vec![1.0; indices.len()],
            errors: 0.0,
        };
        for (done, cell) in lattice.cells.iter().enumerate() {
            if done & 15 == 0 {
                watch.check(done as f64 / lattice.cells.len() as f64)?;
            }
            if cell.is_heavy() {
                all.take_heavy(cell, indices, bits);
            } else {
                all.take_light(cell, phases.at(cell.steps), &next);
            }
        }
        Ok(all)
    }

    fn take_light(&mut self, cell: &LatticeCell, phases: &[Complex], next: &[Complex]) {
        let [stay, near, far] = cell.high;
        self.errors += LIGHT * cell.count as f64;
        let points = self.product.iter_mut().zip(&mut self.smallest);
        for ((product, smallest), (phase, next)) in points.zip(phases.iter().zip(next)) {
            let minus = times(*phase, (near + far * next.0, far * next.1));
            let factor = (stay + minus.0, minus.1);
            let size = norm_squared(factor);
            *smallest = if size < *smallest { size } else { *smallest };
            *product = times(*product, power(factor, cell.count));
        }
    }

    fn take_heavy(&mut self, cell: &LatticeCell, indices: &[u64], bits: u32) {
        for (at, &index) in indices.iter().enumerate() {
            let (factor, size) = heavy(cell, index, bits);
            self.product[at] = times(self.product[at], factor);
            self.smallest[at] = self.smallest[at].min(size);
        }
        self.errors += cell.count as f64 * HEAVY + HEAVY_ROUNDED;
    }

    /// The value at a point, with a bound on its absolute error. Relative to the product, an error is at most the error
    /// divided by the smallest factor's size.
    fn at(&self, point: usize) -> (Complex, f64) {
        let product = self.product[point];
        let (size, smallest) = (norm(product), self.smallest[point].sqrt());
        let relative = (self.errors + SIZES) / smallest.max(1e-300);
        // A factor that nearly vanishes makes the relative bound useless. The product is then below that factor, and so
        // is its error.
        let error = if relative < 0.1 {
            FIRST_ORDER * relative * size
        } else {
            size + smallest + 2.0 * self.errors
        };
        (product, error + LEFT_OUT)
    }
}

/// e^(-i theta m) at the points, reused while m stays the same; cells are sorted.
struct Phases<'a> {
    indices: &'a [u64],
    bits: u32,
    steps: u64,
    values: Vec<Complex>,
}

/// The number of points that are evaluated together, few enough that the work can be stopped soon.
const CHUNK: usize = 1024;

/// The number of points in a row that share one turn.
const RUN: usize = 8;

impl<'a> Phases<'a> {
    fn new(indices: &'a [u64], bits: u32) -> Self {
        Self { indices, bits, steps: 0, values: vec![ONE; indices.len()] }
    }

    /// The phases for a number of steps, to an absolute error of 48 u: the product of a run's first turn and one of the
    /// few turns from there.
    fn at(&mut self, steps: u64) -> &[Complex] {
        if steps == self.steps {
            return &self.values;
        }
        self.steps = steps;
        let bits = self.bits;
        let turned = |index: u64| {
            let (re, im) = turn(index.wrapping_mul(steps), bits);
            (re, -im)
        };
        if self.indices.len() < 2 * RUN {
            for (value, &index) in self.values.iter_mut().zip(self.indices) {
                *value = turned(index);
            }
            return &self.values;
        }
        let near: [Complex; RUN] = std::array::from_fn(|ahead| turned(ahead as u64));
        let mut first = (self.indices[0], turned(self.indices[0]));
        for (value, &index) in self.values.iter_mut().zip(self.indices) {
            if index < first.0 || index - first.0 >= RUN as u64 {
                first = (index, turned(index));
            }
            *value = times(first.1, near[(index - first.0) as usize]);
        }
        &self.values
    }
}

/// The power of a heavy cell in double-doubles, and the square of the base's size.
fn heavy(cell: &LatticeCell, index: u64, bits: u32) -> (Complex, f64) {
    let (cosine, sine) = turn_dd(index, bits);
    let (near_cosine, near_sine) = turn_dd(index.wrapping_mul(cell.steps), bits);
    let inner = (cell.mass(1) + cell.mass(2) * cosine, -(cell.mass(2) * sine));
    let turned = times((near_cosine, -near_sine), inner);
    let base = (cell.mass(0) + turned.0, turned.1);
    let size = base.0.hi * base.0.hi + base.1.hi * base.1.hi;
    let power = power(base, cell.count);
    ((power.0.hi, power.1.hi), size)
}

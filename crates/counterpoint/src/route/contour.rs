//! The saddle-point contour on a lattice.
//!
//! With `phi(theta) = E~[e^(-i theta Y)]` under the tilted law and N = 2^bits points
//! theta_j = 2 pi j / N,
//!
//! `S = (1/N) sum_j phi(theta_j) e^(i theta_j y0) kernel(theta_j)`
//!
//! equals the wanted sum over Y <= y0 plus non-negative terms from Y shifted by whole
//! periods (theorems.md, contour). Few points matter. The others are bounded without
//! being evaluated, all at once, by one Fourier transform.

use super::lattice::{Cell, Tilted};
use crate::rounding::{Dd, UNIT, expm1, turn, turn_dd};
use crate::watch::{Stopped, Watch};
use realfft::RealFftPlanner;

#[derive(Clone, Copy, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

impl Complex {
    fn times(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.re * other.im + self.im * other.re,
        }
    }

    fn norm_squared(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    fn norm(self) -> f64 {
        self.norm_squared().sqrt()
    }

    fn recip(self) -> Self {
        let n = self.norm_squared();
        Self { re: self.re / n, im: -self.im / n }
    }

    fn powi(self, mut n: u64) -> Self {
        let (mut base, mut result) = (self, Self { re: 1.0, im: 0.0 });
        while n > 0 {
            if n & 1 == 1 {
                result = result.times(base);
            }
            base = base.times(base);
            n >>= 1;
        }
        result
    }
}

/// One point of the contour: 1 for j = 0 and N/2, which stand alone, 2 for the others,
/// which stand for their conjugates too.
#[derive(Clone, Copy, Debug)]
struct Point {
    index: u64,
    weight: f64,
    phi: Complex,
    /// Absolute error of phi.
    error: f64,
}

/// The contour for one tilted lattice: what was evaluated, and the bounds of the rest.
#[derive(Clone, Debug)]
pub(crate) struct Contour {
    bits: u32,
    tilt: f64,
    step: f64,
    weight: Weight,
    points: Vec<Point>,
    /// What the other points can add up to, but for the profile's numerator.
    rest: f64,
}

/// What is summed up over the tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// The mass itself.
    Mass,
    /// The mass times 1 - e^(eps - loss).
    Profile,
}

/// How many points may be evaluated at most, counted in factors.
const MOST_WORK: f64 = 4e9;

/// Why there is no contour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum NoContour {
    Stopped,
    /// Too many points matter; the work it would take.
    TooMuch(f64),
}

impl From<Stopped> for NoContour {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}

impl Contour {
    /// Evaluates the points that matter: the rest adds up to at most about
    /// `negligible` of the first point.
    pub(crate) fn new(
        lattice: &Tilted,
        weight: Weight,
        bits: u32,
        negligible: f64,
        most_work: f64,
        watch: &Watch<'_>,
    ) -> Result<Self, NoContour> {
        let decay = Decay::new(lattice, bits);
        let size = |index: u64| {
            Kernel::new(lattice.tilt, lattice.step, index, bits).size(weight)
        };
        let blocks = decay.blocks();
        let allowance = negligible * size(0) / blocks.len() as f64;
        let mut contour = Self {
            bits,
            tilt: lattice.tilt,
            step: lattice.step,
            weight,
            points: Vec::new(),
            rest: 0.0,
        };
        let mut wanted = Vec::new();
        let per_point = lattice.cells.len() as f64;
        for block in &blocks {
            let many = 2.0 * (block.last - block.first + 1) as f64;
            // The kernel falls from 0 to N/2.
            let bound = many * block.bound * size(block.first);
            if bound <= allowance && block.first > 0 {
                contour.rest += bound;
                continue;
            }
            for index in block.first..=block.last {
                let bound = 2.0 * decay.near_zero(index, bits) * size(index);
                if index > 0 && bound * many <= allowance {
                    contour.rest += bound;
                } else {
                    wanted.push(index);
                }
            }
            let work = wanted.len() as f64 * per_point;
            if work > most_work.min(MOST_WORK) {
                return Err(NoContour::TooMuch(work));
            }
        }
        let half = 1_u64 << (bits - 1);
        for (done, &index) in wanted.iter().enumerate() {
            if done & 15 == 0 {
                watch.at(done as f64 / wanted.len() as f64)?;
            }
            let (phi, error) = characteristic(lattice, index, bits);
            let weight = if index == 0 || index == half { 1.0 } else { 2.0 };
            contour.points.push(Point { index, weight, phi, error });
        }
        // The bounds were rounded a few times each.
        contour.rest *= 1.0 + 1e-9;
        Ok(contour)
    }

    /// `sum over Y <= y0 of the mass times e^(-tilt (y0 - Y))`, aliases included, times
    /// `1 - e^(-(kappa + h (y0 - Y)))` if the weight is the profile's, 0 <= kappa <= h;
    /// and a bound on its absolute error.
    pub(crate) fn sum(&self, y0: u64, kappa: f64) -> (f64, f64) {
        match self.weight {
            Weight::Mass => self.add_up(y0, self.rest, |kernel| kernel.lower.recip()),
            Weight::Profile => {
                let flat = -expm1(-kappa);
                let turning = (1.0 - flat) * -expm1(-(self.step - kappa));
                // The numerator is largest at theta = 0.
                let most = flat + (1.0 + expm1(-self.tilt)) * turning;
                self.add_up(y0, self.rest * most, |kernel| {
                    let numerator = Complex {
                        re: flat + kernel.decay.re * turning,
                        im: kernel.decay.im * turning,
                    };
                    numerator.times(kernel.lower.times(kernel.upper).recip())
                })
            }
        }
    }

    fn add_up(&self, y0: u64, rest: f64, value: impl Fn(&Kernel) -> Complex) -> (f64, f64) {
        let scale = 1.0 / (1_u64 << self.bits) as f64;
        let (mut sum, mut error) = (0.0, rest);
        for point in &self.points {
            let kernel = Kernel::new(self.tilt, self.step, point.index, self.bits);
            let (re, im) = turn(point.index.wrapping_mul(y0), self.bits);
            let at = value(&kernel);
            let term = point.phi.times(Complex { re, im }).times(at).re;
            let size = at.norm();
            sum += point.weight * term;
            error += point.weight * size * (point.error + 256.0 * UNIT * point.phi.norm());
        }
        error += 2.0 * UNIT * self.points.len() as f64 * sum.abs();
        (sum * scale, error * scale * (1.0 + 1e-12))
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
            Complex { re: fall + size * versine, im: size * sine }
        };
        let size = 1.0 + expm1(-tilt);
        Self {
            decay: Complex { re: size * cosine, im: -size * sine },
            lower: gap(tilt),
            upper: gap(tilt + step),
        }
    }

    /// The size of the kernel, without the profile's numerator.
    fn size(&self, weight: Weight) -> f64 {
        match weight {
            Weight::Mass => self.lower.recip().norm(),
            Weight::Profile => self.lower.times(self.upper).recip().norm(),
        }
    }
}

/// phi at one point, with a bound on its absolute error.
///
/// Each light factor is a convex combination of points of the unit circle, computed to
/// an absolute error of 64 u; relative to the product that is at most 64 u over the
/// smallest factor's size.
fn characteristic(lattice: &Tilted, index: u64, bits: u32) -> (Complex, f64) {
    let (cosine, sine) = turn(index, bits);
    let next = Complex { re: cosine, im: -sine };
    let mut product = Complex { re: 1.0, im: 0.0 };
    let (mut smallest, mut errors) = (1.0_f64, 0.0_f64);
    let mut last = (u64::MAX, Complex { re: 1.0, im: 0.0 });
    for cell in &lattice.cells {
        if cell.is_heavy() {
            let (factor, error, base) = heavy(cell, index, bits);
            product = product.times(factor);
            smallest = smallest.min(base);
            errors += error;
            continue;
        }
        if cell.steps != last.0 {
            let (re, im) = turn(index.wrapping_mul(cell.steps), bits);
            last = (cell.steps, Complex { re, im: -im });
        }
        let [stay, near, far] = cell.high;
        let minus = last.1.times(Complex { re: near + far * next.re, im: far * next.im });
        let factor = Complex { re: stay + minus.re, im: minus.im };
        smallest = smallest.min(factor.norm_squared());
        errors += 64.0 * UNIT * cell.count as f64;
        product = product.times(if cell.count == 1 { factor } else { factor.powi(cell.count) });
    }
    let relative = (errors + 1e-14) / smallest.sqrt().max(1e-300);
    // A factor that nearly vanishes spoils the relative bound; the product is then
    // below that factor, and so is its error.
    let size = product.norm();
    let error = if relative < 0.1 { 1.2 * relative * size } else { size + smallest.sqrt() + 2.0 * errors };
    (product, error + 1e-280)
}

/// The power of a heavy cell in double-doubles, its error in units of a relative error
/// times the base's size, and the square of the base's size.
fn heavy(cell: &Cell, index: u64, bits: u32) -> (Complex, f64, f64) {
    let (cosine, sine) = turn_dd(index, bits);
    let (near_cosine, near_sine) = turn_dd(index.wrapping_mul(cell.steps), bits);
    let inner = (cell.mass(1) + cell.mass(2) * cosine, -(cell.mass(2) * sine));
    let turned = times_dd((near_cosine, -near_sine), inner);
    let mut base = (cell.mass(0) + turned.0, turned.1);
    let size = base.0.hi * base.0.hi + base.1.hi * base.1.hi;
    let mut result = (Dd::ONE, Dd::ZERO);
    let mut n = cell.count;
    while n > 0 {
        if n & 1 == 1 {
            result = times_dd(result, base);
        }
        base = times_dd(base, base);
        n >>= 1;
    }
    // 2^-88 for each base, by counting.
    let error = cell.count as f64 * 3.3e-27 + 8.0 * UNIT;
    (Complex { re: result.0.hi, im: result.1.hi }, error, size)
}

fn times_dd(a: (Dd, Dd), b: (Dd, Dd)) -> (Dd, Dd) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// Bounds on |phi| everywhere.
///
/// For a factor with masses p_x, `ln |phi| <= -sum p_x p_y (1 - cos(theta (x - y)))`
/// over any pairs. The pairs are (plus, minus); `g` is the sum over all factors.
struct Decay {
    /// Where g was evaluated: 2^coarse_bits points a turn, of which the first half.
    coarse_bits: u32,
    bits: u32,
    /// A lower bound on sqrt(g) at each coarse point.
    roots: Vec<f64>,
    /// sqrt(g) moves at most this much within half a coarse interval.
    slack: f64,
    /// sum c d^2 / 2 and sum c d^4, rounded down and up.
    second: f64,
    fourth: f64,
}

/// Points from `first` to `last` have |phi| at most `bound`.
struct Block {
    first: u64,
    last: u64,
    bound: f64,
}

impl Decay {
    fn new(lattice: &Tilted, bits: u32) -> Self {
        let pairs = || {
            lattice.cells.iter().flat_map(|cell| {
                let weight = |index: usize| cell.count as f64 * cell.high[0] * cell.high[index];
                [(cell.steps, weight(1)), (cell.steps + 1, weight(2))]
            })
        };
        let (mut zeroth, mut second, mut fourth) = (0.0, 0.0, 0.0);
        for (steps, weight) in pairs() {
            let square = (steps as f64) * (steps as f64);
            zeroth += weight;
            second += 0.5 * weight * square;
            fourth += weight * square * square;
        }
        // A coarse grid on which sqrt(g), which is near sqrt(zeroth), moves by a
        // fraction of itself.
        let wanted = 8.0 * std::f64::consts::PI * (second / zeroth).sqrt();
        let coarse_bits = (wanted.log2().ceil().clamp(4.0, 22.0) as u32).min(bits);
        let points = 1_u64 << coarse_bits;
        let mut histogram = vec![0.0; points as usize];
        for (steps, weight) in pairs() {
            histogram[(steps & (points - 1)) as usize] += weight;
        }
        let roots = transform(&mut histogram)
            .map(|cosines| {
                // Each output of the transform is a sum along a tree of at most
                // log2(points) butterflies, hence this bound on its rounding.
                let rounding = (16.0 * f64::from(coarse_bits) + 8.0 * 24.0 + lattice.cells.len() as f64) * UNIT * 2.0 * zeroth;
                (zeroth - cosines - rounding).max(0.0).sqrt()
            })
            .collect();
        let slack = if coarse_bits == bits {
            0.0
        } else {
            second.sqrt() * std::f64::consts::PI / points as f64 * (1.0 + 1e-9)
        };
        Self { coarse_bits, bits, roots, slack, second: second * (1.0 - 1e-9), fourth: fourth * (1.0 + 1e-9) }
    }

    /// The blocks around the coarse points, together all points from 0 to N/2.
    ///
    /// g is a sum of squares `2c sin^2(theta d / 2)`, so sqrt(g) is a norm and moves no
    /// faster than the norm of the derivatives, sqrt(second).
    fn blocks(&self) -> Vec<Block> {
        let each = 1_u64 << (self.bits - self.coarse_bits);
        let half = 1_u64 << (self.bits - 1);
        self.roots
            .iter()
            .enumerate()
            .map(|(index, &root)| {
                let centre = index as u64 * each;
                let first = if index == 0 { 0 } else { centre - each / 2 + u64::from(each > 1) };
                let last = if each == 1 { centre } else { (centre + each / 2).min(half) };
                let root = (root - self.slack).max(0.0);
                Block { first, last, bound: (-root * root).exp() * (1.0 + 1e-9) }
            })
            .collect()
    }

    /// A bound on |phi| from `1 - cos x >= x^2/2 - x^4/24`: good near zero.
    fn near_zero(&self, index: u64, bits: u32) -> f64 {
        let theta = std::f64::consts::TAU * index as f64 / (1_u64 << bits) as f64;
        let square = theta * theta;
        let g = (self.second - self.fourth * square / 24.0) * square * (1.0 - 1e-9);
        (-g.max(0.0)).exp() * (1.0 + 1e-9)
    }
}

/// The cosine transform at frequencies 0 to half the length.
fn transform(histogram: &mut [f64]) -> impl Iterator<Item = f64> + use<> {
    let plan = RealFftPlanner::<f64>::new().plan_fft_forward(histogram.len());
    let mut spectrum = plan.make_output_vec();
    // The lengths match by construction; a failure would leave zeros, which bound
    // nothing and are therefore safe.
    if plan.process(histogram, &mut spectrum).is_err() {
        spectrum.fill(Default::default());
        spectrum.iter_mut().for_each(|value| value.re = f64::INFINITY);
    }
    spectrum.into_iter().map(|value| value.re)
}

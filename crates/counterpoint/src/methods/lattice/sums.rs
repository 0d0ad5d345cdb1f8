//! The sum of many losses on a lattice: one Fourier transform each, a power, and one transform back.

use super::placement::{PlacedWeights, TOTALS};
use crate::delta_bounds::{ROUNDED_UP, UNCOUNTED};
use crate::watch::{StopRequest, Watch};
use counterpoint_numerics::fourier::{Complex, Transforms};
use counterpoint_numerics::{Dd, STEP, UNIT, Wide, exp, expm1};

/// The tilted law of the sum Y, folded to a period. The law itself has masses `scale e^(-tilt y)` times these.
pub(super) struct ComposedLaw {
    masses: Vec<f64>,
    /// Bounds on the masses' errors from the transforms: on each error, and on the root of the sum of their squares.
    error: f64,
    error_in_square: f64,
    /// A bound on the sum of all masses.
    whole: f64,
    scale: Wide,
    /// A bound on the relative error of scale and weights.
    relative: f64,
    tilt: f64,
    step: f64,
    /// The lowest and the highest possible sum.
    pub(super) first: f64,
    pub(super) last: f64,
}

/// The value of an unknown transform.
const UNBOUNDED: Complex<f64> = Complex::new(f64::INFINITY, 0.0);

/// The product of the characteristic functions so far, and bounds on its true size.
struct Product {
    values: Vec<Complex<f64>>,
    ceilings: Vec<f64>,
    /// Relative errors: of the powers, and of scale and weights.
    powers: f64,
    relative: f64,
    /// The effect of the transforms' errors on the masses, as a root of a sum of squares, added up over all losses; and
    /// the number of losses.
    forward: f64,
    count: f64,
    scale: Wide,
    first: f64,
    last: f64,
}

/// Terms smaller than e^-40 of the first are bounded together.
pub(super) const FAR: f64 = 40.0;
/// A power below this is not computed further, because it stays below. The ceilings of all other factors multiply to
/// less than e^6 if the errors are below 0.01, which is checked.
const NOTHING: f64 = 1e-40;
/// The allowance at each point for powers below [`NOTHING`].
const ALLOWED: f64 = 1e-36;
/// The number of terms that are computed by recursion from the first.
const RUN: usize = 128;

/// The growth of powers of numbers of at most 1 + [`TOTALS`], and of their errors, for each factor.
const GROWTH: f64 = 3e-8;
/// The terms of later periods, e^-x/(1 - e^-x): four roundings.
const AGAIN: f64 = 1.0001;
/// A product of complex doubles is good to sqrt(5) u; one for each factor of a power, and two.
const POWER: f64 = 16.0 * UNIT;
/// Powers and their ceilings each have the error [`POWER`]; the ceilings are in the bound.
const POWERS: f64 = 3.0;
/// Division by the norm: a rounding for each weight.
const NORM: f64 = 4.0 * UNIT;
/// A term of a run: decay, gain and their factors, good to 2 u and rounded once each time; the ends of a run.
const RECURRENCE: f64 = 8.0 * UNIT;
const ENDS_OF_A_RUN: f64 = 512.0 * UNIT;

/// The number of powers between two calls of the watch.
const OFTEN: usize = 1 << 16;

/// A bound on a transform's rounding, relative to the sum of all magnitudes: each output is a sum along a tree of
/// butterflies, one for each bit, that loses about 5 u at each. The same holds for the roots of the sums of squares, as
/// every stage is a multiple of an isometry (Higham, Accuracy and Stability of Numerical Algorithms, theorem 24.2).
fn transform_error(bits: u32) -> f64 {
    32.0 * f64::from(bits + 4) * UNIT
}

impl Product {
    fn new(bits: u32) -> Self {
        let points = (1_usize << bits) / 2 + 1;
        Self {
            values: vec![Complex::new(1.0, 0.0); points],
            ceilings: vec![1.0; points],
            powers: 0.0,
            relative: 0.0,
            forward: 0.0,
            count: 0.0,
            scale: Wide::ONE,
            first: 0.0,
            last: 0.0,
        }
    }

    /// Multiplies by the power of one factor. If the transform's error is at most e, the power's error is at most
    /// (|phi| + e)^n - |phi|^n; the ceilings are the products of (|phi| + e)^n.
    fn multiply(
        &mut self,
        weights: PlacedWeights,
        bits: u32,
        transforms: &mut Transforms,
        watch: &Watch<'_>,
    ) -> Result<(), StopRequest> {
        watch.check(0.5)?;
        let squares: f64 = weights.list.iter().map(|weight| weight * weight).sum();
        let spectrum = transforms.forward(weights.list);
        // The transform exists by construction; infinities would bound nothing, which is safe.
        let spectrum = spectrum.unwrap_or_else(|| vec![UNBOUNDED; self.values.len()]);
        let error = transform_error(bits);
        let both = self.values.iter_mut().zip(&mut self.ceilings);
        for (done, ((value, ceiling), phi)) in both.zip(spectrum).enumerate() {
            if done % OFTEN == 0 {
                watch.check(0.5)?;
            }
            let (power, most) = powers(phi, size(phi) + error, weights.count);
            *value *= power;
            *ceiling *= most;
        }
        let count = weights.count as f64;
        self.count += count;
        self.forward += count * error * squares.sqrt();
        self.powers += (count + 2.0) * POWER;
        self.relative += count * (weights.error + NORM) + UNCOUNTED * STEP;
        let reference = Dd::product(weights.reference, count);
        self.relative += STEP * reference.hi.abs();
        self.scale =
            self.scale * Wide::from(weights.norm).powi(weights.count) * Wide::exp(reference);
        self.first += count * weights.first;
        self.last += count * weights.last;
        Ok(())
    }
}

/// |z| to a few u and 1e-150, which is less than an error of a transform.
fn size(z: Complex<f64>) -> f64 {
    z.norm_sqr().sqrt()
}

/// z^n and x^n by squaring.
fn powers(z: Complex<f64>, x: f64, mut n: u64) -> (Complex<f64>, f64) {
    let (mut base, mut size) = (z, x);
    let (mut power, mut most) = (Complex::new(1.0, 0.0), 1.0);
    loop {
        if n & 1 == 1 {
            power *= base;
            most *= size;
        }
        n >>= 1;
        if n == 0 || most < NOTHING {
            return (power, most);
        }
        base = base * base;
        size *= size;
        if size < NOTHING {
            return (Complex::new(0.0, 0.0), NOTHING);
        }
    }
}

impl ComposedLaw {
    pub(super) fn new(
        factors: impl Iterator<Item = Option<PlacedWeights>>,
        (tilt, step, bits): (f64, f64, u32),
        transforms: &mut Transforms,
        watch: &Watch<'_>,
    ) -> Result<Option<Self>, StopRequest> {
        // Stops before much memory is filled.
        watch.check(0.5)?;
        let mut product = Product::new(bits);
        for weights in factors {
            // Weights are also `None` if the watch stopped.
            watch.check(0.5)?;
            let Some(weights) = weights else { return Ok(None) };
            product.multiply(weights, bits, transforms, watch)?;
        }
        let Product { mut values, ceilings, powers, relative, scale, first, last, forward, count } =
            product;
        let points = (1_u64 << bits) as f64;
        // Every point except the first and the last stands for two.
        let (mut error, mut off_squares, mut squares) = (0.0, 0.0, 0.0);
        let mut ceiling_squares = 0.0;
        for (&value, ceiling) in values.iter().zip(&ceilings) {
            let size = size(value);
            let off = (ceiling * (1.0 + powers) - size * (1.0 - powers)).max(0.0) + ALLOWED;
            error += off + transform_error(bits) * size;
            off_squares += off * off;
            squares += size * size;
            ceiling_squares += ceiling * ceiling;
        }
        let mean = |sum: f64| 2.0 * sum * (1.0 + TOTALS) / points;
        let error = mean(error);
        // At zero a characteristic function is the sum of the masses.
        let whole = ceilings.first().map_or(f64::INFINITY, |all| all * (1.0 + powers));
        // Powers of characteristic functions, at most 1 + 1e-8, differ by at most the sum of the functions'
        // differences, up to a growth of the latter.
        let growth = exp(GROWTH * count);
        let together = growth * forward + POWERS * powers * mean(ceiling_squares).sqrt();
        let off = mean(off_squares).sqrt().min(together + 2.0 * ALLOWED);
        let error_in_square = off + transform_error(bits) * mean(squares).sqrt();
        watch.check(0.5)?;
        if let Some(value) = values.first_mut() {
            value.im = 0.0;
        }
        if let Some(value) = values.last_mut() {
            value.im = 0.0;
        }
        let masses = transforms.inverse(values, 1 << bits);
        let is_sound = masses.is_some() && relative + powers < 0.01;
        let error = if is_sound { error } else { f64::INFINITY };
        let mut masses = masses.unwrap_or_else(|| vec![0.0; 1 << bits]);
        for mass in &mut masses {
            *mass /= points;
        }
        Ok(Some(Self {
            masses,
            error,
            error_in_square,
            whole,
            scale,
            relative,
            tilt,
            step,
            first,
            last,
        }))
    }

    /// The number of places in a period.
    pub(super) fn period(&self) -> f64 {
        self.masses.len() as f64
    }

    /// An upper bound on the mass of all Y from `from` on, each y weighted with `1 - e^-(kappa + h (y - from))` if a
    /// kappa is given.
    ///
    /// A folded mass is the sum of the masses of all y a period apart, each at least zero. With weights e^(-tilt y)
    /// times at most one, all of these y from `from` on have together at most the folded mass times the sum of their
    /// weights.
    pub(super) fn above(&self, from: f64, kappa: Option<f64>) -> Wide {
        if from > self.last {
            return Wide::ZERO;
        }
        let (terms, rest) = self.reach(from, self.period());
        let (sum, noise) = self.sum(from, terms, kappa);
        // The same place, one or more periods later.
        let fall = exp(-self.tilt * self.period());
        let again = if self.is_one_period(from) {
            0.0
        } else {
            AGAIN.max(self.whole) * fall / -expm1(-self.tilt * self.period())
        };
        let total = sum + noise + rest + again;
        self.times_scale(from, total, 1.0)
    }

    /// A lower bound on the mass of all Y from `from` on, given a bound on the tilted mass below [`Self::lowest_alias`]
    /// or a period and more above.
    pub(super) fn below(&self, from: f64, aliases: f64) -> Wide {
        let (terms, _) = self.reach(from, self.period());
        let (sum, noise) = self.sum(from, terms, None);
        self.times_scale(from, sum - noise - aliases, -1.0)
    }

    /// A place above all mass from below `from` that folding adds to the sum.
    pub(super) fn lowest_alias(&self, from: f64) -> f64 {
        let (terms, _) = self.reach(from, self.period());
        from + terms as f64 - self.period()
    }

    /// True if the period is longer than the range of the sums, so that nothing is folded.
    fn is_one_period(&self, from: f64) -> bool {
        from >= self.first && self.last - self.first < self.period()
    }

    /// The number of terms to add up, at most `most`, and a bound on the others.
    fn reach(&self, from: f64, most: f64) -> (usize, f64) {
        let most = if self.is_one_period(from) { most.min(self.last - from + 1.0) } else { most };
        let far = (FAR / self.tilt).ceil();
        if far < most {
            (far as usize, ROUNDED_UP.max(self.whole) * exp(-FAR))
        } else {
            (most.max(0.0) as usize, 0.0)
        }
    }

    /// The weighted sum, and a bound on its error from the masses' errors: the sum of the weights times the error of
    /// each, or by Cauchy and Schwarz the product of the roots of sums of squares.
    fn sum(&self, from: f64, terms: usize, kappa: Option<f64>) -> (f64, f64) {
        // A power of two.
        let period = self.masses.len();
        let mask = period - 1;
        let start = (from as i64).rem_euclid(period as i64) as usize;
        let (fall, sink, rise) = (exp(-self.tilt), exp(-self.step), -expm1(-self.step));
        let (mut sum, mut weights, mut squares) = (0.0, 0.0, 0.0);
        let mut done = 0;
        while done < terms {
            let many = RUN.min(terms - done);
            let mut decay = exp(-self.tilt * done as f64);
            let mut loss = kappa.map_or(0.0, |kappa| exp(-(kappa + self.step * done as f64)));
            let mut gain = kappa.map_or(1.0, |kappa| -expm1(-(kappa + self.step * done as f64)));
            let (mut part, mut part_weights, mut part_squares) = (0.0, 0.0, 0.0);
            for y in done..done + many {
                let mass = self.masses.get((start + y) & mask).copied().unwrap_or(0.0);
                let weight = decay * gain;
                part += mass * weight;
                part_weights += weight;
                part_squares += weight * weight;
                decay *= fall;
                // 1 - a e^-h = (1 - a) + a (1 - e^-h).
                gain += loss * rise;
                loss *= sink;
            }
            sum += part;
            weights += part_weights;
            squares += part_squares;
            done += many;
        }
        let noise = (weights * self.error).min(squares.sqrt() * self.error_in_square);
        (sum, noise * (1.0 + TOTALS))
    }

    /// Multiplies by the scale at `from`, with the relative error in the given direction.
    fn times_scale(&self, from: f64, sum: f64, direction: f64) -> Wide {
        if !sum.is_finite() {
            return if direction > 0.0 { Wide::ONE } else { Wide::ZERO };
        }
        let exponent = -Dd::product(self.tilt, from);
        // The sum's rounding: a run's recurrences and the sums of runs.
        let runs = self.masses.len() as f64 / RUN as f64;
        let rounding = RECURRENCE * RUN as f64 + ENDS_OF_A_RUN + UNIT * runs;
        let relative = self.relative + rounding + STEP * (UNCOUNTED + exponent.hi.abs());
        let sum = sum.max(0.0) * (1.0 + direction * ROUNDED_UP * relative);
        self.scale * Wide::exp(exponent) * Wide::from(sum)
    }
}

//! Gaussians with a small mu: their sum is N(mu^2/2, mu^2), and contours would have to resolve losses of size mu over a
//! line of length one.
//!
//! With a = e/mu - mu/2 the profile is the integral of (1 - e^(-mu (x-a))) phi(x) over x > a, and y - y^2/2 <= 1 - e^-y
//! <= y - y^2/2 + y^3/6 bounds it by a few moments of the normal law above a.

use crate::composition::CountedLoss;
use crate::composition::leak::Target;
use crate::delta_bounds::DeltaBounds;
use crate::methods::Failure;
use crate::methods::search::bisect;
use counterpoint_numerics::Bracket;
use counterpoint_numerics::{Dd, LN_SQRT_TAU, Wide, normal_tail};

/// The largest mu. Above it contours are as good, and the two bounds are too far apart for the usual tolerance.
const MOST_MU: f64 = 1e-4;

/// The error of a moment above a, which is a difference of terms about a^3 (or 3) times as large as the result. Each
/// term is good to 2^-78: phi, from a square and an exponential, and the tail.
const MOMENT: f64 = 1e-23;

/// Beyond this, phi is below 10^-345 and the bounds on its moments lose their digits.
const FURTHEST: f64 = 40.0;

/// The mu of the composition, if all losses are Gaussian and mu is small.
pub(crate) fn mu(parts: &[CountedLoss]) -> Option<Dd> {
    let mut sum = Dd::ZERO;
    for part in parts {
        sum = sum + part.law().normal_square()? * part.count as f64;
    }
    let is_small = sum.is_positive() && sum.hi <= MOST_MU * MOST_MU && parts.len() <= 1_000_000;
    is_small.then(|| sum.sqrt())
}

/// The pure delta; `None` where epsilon over mu is not a number.
pub(crate) fn delta(mu: Dd, epsilon: f64) -> Option<DeltaBounds> {
    let ratio = Dd::from(epsilon) / mu;
    let a = ratio - mu.scaled(0.5);
    let error = MU * (ratio.hi + mu.hi);
    let (low, high) = ((a.lower() - error).next_down(), (a.upper() + error).next_up());
    if high > FURTHEST {
        // The profile decreases, and beyond this place it is negligible.
        let most = NormalMoments::at(FURTHEST).first.upper * Wide::from(mu);
        return Some(DeltaBounds::new(Wide::ZERO, most * Wide::from(1.0 + MU)));
    }
    let within = high <= FURTHEST;
    if !within {
        return None;
    }
    let moments = [NormalMoments::at(low), NormalMoments::at(high)];
    let [mu_low, mu_high] = [-MU, MU].map(|slack| Wide::from(mu) * Wide::from(1.0 + slack));
    let (half, sixth) = (Wide::from(0.5), Wide::from(Dd::ONE / 6.0));
    // The first moment less half mu times the second, both at the same a in either bound.
    let least = moments[1].first.lower - mu_high * half * moments[1].second.upper;
    let most = moments[0].first.upper - mu_low * half * moments[0].second.lower
        + mu_high * mu_high * sixth * moments[0].third.upper;
    let (lower, upper) = (mu_low * least, mu_high * most * Wide::from(1.0 + MU));
    let lower = if lower.is_positive() { lower * Wide::from(1.0 - MU) } else { Wide::ZERO };
    Some(DeltaBounds::new(lower, upper))
}

/// The relative error of mu, a root of a million sums, and of a few operations: below 10^-24.
const MU: f64 = 1e-18;

/// E[(X - a)_+^n] for n = 1, 2, 3.
struct NormalMoments {
    first: DeltaBounds,
    second: DeltaBounds,
    third: DeltaBounds,
}

impl NormalMoments {
    /// phi - a Q, (1 + a^2) Q - a phi, (2 + a^2) phi - a (3 + a^2) Q.
    fn at(a: f64) -> Self {
        let (low, high) = normal_tail(a);
        let square = Dd::product(a, a);
        let phi = Wide::exp(-square.scaled(0.5) - LN_SQRT_TAU);
        let size = Wide::from(3.0 + a.abs());
        let error = phi * size * size * size * Wide::from(MOMENT);
        let (a, q) = (Wide::from(a), low);
        let width = (high - low) * size * size * size;
        let square = Wide::from(square);
        let ends = |value: Wide| {
            let lower = value - error - width;
            let lower = if lower.is_positive() { lower } else { Wide::ZERO };
            DeltaBounds::new(lower, value + error + width)
        };
        let (one, two, three) = (Wide::ONE, Wide::from(2.0), Wide::from(3.0));
        Self {
            first: ends(phi - a * q),
            second: ends((one + square) * q - a * phi),
            third: ends((two + square) * phi - a * (three + square) * q),
        }
    }
}

/// The least epsilon whose pure delta is within the target.
pub(crate) fn epsilon(mu: Dd, target: &Target, tolerance: f64) -> Result<Bracket, Failure> {
    let at = |epsilon: f64| delta(mu, epsilon).ok_or(Failure::TooMuch);
    if at(0.0)?.upper <= target.lower {
        return Ok(Bracket::exact(0.0));
    }
    let furthest = mu.hi * (FURTHEST - 1.0);
    if at(furthest)?.upper > target.lower {
        return Err(Failure::TooMuch);
    }
    let whole = Bracket { lower: 0.0, upper: furthest };
    let upper = bisect(whole, HALVINGS, |e| Ok::<_, Failure>(at(e)?.upper <= target.lower))?.upper;
    let lower = bisect(whole, HALVINGS, |e| Ok::<_, Failure>(at(e)?.lower <= target.upper))?.lower;
    let bracket = Bracket { lower: lower.min(upper), upper };
    match bracket.relative_width() <= tolerance {
        true => Ok(bracket),
        false => Err(Failure::TooWide(bracket.relative_width())),
    }
}

/// From 40 mu down to mu times 10^-20, and to ten digits.
const HALVINGS: (u32, f64) = (110, 1e-11);

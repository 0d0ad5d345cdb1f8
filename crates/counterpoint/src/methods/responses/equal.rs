//! Equal parameters: one binomial tail.
//!
//! Of k randomized responses y come out "minus" with P-probability
//! C(k, y) e^((k-y) eps) / (1 + e^eps)^k; the loss is then (k - 2y) eps, and Q is P
//! with y and k - y exchanged (KOV Theorem III.3, MV Theorem 1.4).

use crate::composition::Factor;
use crate::methods::tail::Tail;
use counterpoint_numerics::binomial::{self, Series, ln_factorial, rough_series, series};
use counterpoint_numerics::{Dd, STEP, Wide, exp_neg};

/// The error of a sum of a few logarithms, each good to 2^-97 of max(1, |ln|), for each unit of 8 and of their sizes.
const LOGARITHM: f64 = 8.0 * STEP;

/// k equal randomized responses, with precomputed logarithms.
#[derive(Clone, Debug)]
pub(crate) struct EqualResponses {
    epsilon: f64,
    count: f64,
    /// e^-eps; zero where that is below 2^-860.
    decay: Dd,
    /// -ln(1 + e^-eps): ln of the probability of a plus.
    ln_plus: Dd,
    last: Option<(f64, Tail)>,
}

impl EqualResponses {
    pub(crate) fn new(factor: Factor) -> Self {
        let decay = exp_neg(Dd::from(factor.each));
        let ln_plus = -decay.ln_1p();
        Self { epsilon: factor.each, count: factor.count as f64, decay, ln_plus, last: None }
    }

    /// True if a tail takes many terms.
    pub(crate) fn is_large(&self) -> bool {
        self.count > 1e6
    }

    /// The largest loss, k eps.
    pub(crate) fn largest(&self) -> Dd {
        Dd::product(self.count, self.epsilon)
    }

    /// The exact loss with y minuses.
    pub(crate) fn loss(&self, y: f64) -> Dd {
        Dd::product(self.count - 2.0 * y, self.epsilon)
    }

    /// ln of the P-probability of y minuses, and a bound on its absolute error.
    pub(crate) fn ln_mass(&self, y: f64) -> (Dd, f64) {
        let k = self.count;
        if y < 1.0 || k - y < 1.0 || self.decay.hi <= 0.0 {
            let (minuses, pluses) = (Dd::product(y, self.epsilon), self.ln_plus * k);
            let choose = ln_factorial(k) - ln_factorial(y) - ln_factorial(k - y);
            let size =
                minuses.hi + pluses.hi.abs() + 2.0 * ln_factorial(k).hi * y.min(k - y).min(1.0);
            return (choose - minuses + pluses, LOGARITHM * (8.0 + size));
        }
        let plus = Dd::ONE / (Dd::ONE + self.decay);
        binomial::ln_mass((k, y), self.decay * plus, plus)
    }

    /// The tail above an epsilon of at least zero. The last tail is kept, since a search ends within one step of the
    /// staircase.
    pub(crate) fn tail(&mut self, epsilon: f64) -> Tail {
        let y = self.most_minuses(epsilon);
        match self.last {
            Some((last, tail)) if last.to_bits() == y.to_bits() => tail,
            _ => {
                let tail = self.tail_of(y, series);
                self.last = Some((y, tail));
                tail
            }
        }
    }

    /// The tail in plain doubles, for a first guess at very large counts.
    pub(crate) fn rough_tail(&self, epsilon: f64) -> Tail {
        let y = self.most_minuses(epsilon);
        self.tail_of(y, rough_series)
    }

    /// The largest y whose loss is at least epsilon, or -1. (An atom at epsilon itself adds nothing.)
    fn most_minuses(&self, epsilon: f64) -> f64 {
        let guess = (0.5 * (self.count - epsilon / self.epsilon)).floor();
        let mut y = (guess + 2.0).clamp(-1.0, self.count);
        while y >= 0.0 && self.loss(y) < Dd::from(epsilon) {
            y -= 1.0;
        }
        y
    }

    /// P and Q mass of at most y minuses.
    fn tail_of(&self, y: f64, series: Series) -> Tail {
        if y < 0.0 {
            return Tail { p: Wide::ZERO, q: Wide::ZERO, slack: 0.0 };
        }
        let k = self.count;
        let minus = self.decay / (Dd::ONE + self.decay);
        let mode = (minus.hi * (k + 1.0)).floor().min(k);
        let start = y.min(mode);
        let (ln_p, ln_error) = self.ln_mass(start);
        // Terms at start, start - 1, ... and at start, start + 1, ..., y.
        let growth = if start >= 1.0 { Dd::ONE / self.decay } else { Dd::ZERO };
        let falling = series(growth, start, &|l| (start - l, k - start + l + 1.0));
        let rising = series(self.decay, y - start, &|l| (k - start - l, start + l + 1.0));
        let p = falling.joined(&rising);
        let q = series(self.decay, y, &|l| (y - l, k - y + l + 1.0));
        let (ln_q, q_error) = self.ln_mass(y);
        let ln_q = ln_q - self.loss(y);
        let slack = p.error.max(q.error)
            + 2.0 * ln_error.max(q_error)
            + LOGARITHM * (8.0 + self.loss(y).hi.abs());
        Tail {
            p: Wide::exp(ln_p) * Wide::from(p.sum),
            q: Wide::exp(ln_q) * Wide::from(q.sum),
            slack,
        }
    }
}

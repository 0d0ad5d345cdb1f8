//! The laws of descriptions, written out: profiles and Rényi divergences by closed forms and plain sums in doubles.
//! Nothing here uses the tested code.

use super::formulas::{gaussian_delta, gaussian_divergence, laplace_divergence};

/// Outcomes (P mass with the person's data, Q mass without), beside at most one smooth law.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    pub(crate) atoms: Vec<(f64, f64)>,
    pub(crate) smooth: Smooth,
}

/// A law with a density.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Smooth {
    Nothing,
    /// mu apart, on a Poisson sample of this rate.
    Gaussian {
        mu: f64,
        rate: f64,
    },
    /// epsilon apart, on a Poisson sample of this rate.
    Laplace {
        epsilon: f64,
        rate: f64,
    },
}

/// Orders at which curves are looked at.
pub(crate) const ORDERS: [f64; 15] =
    [1.001, 1.1, 1.3, 1.499, 1.5, 1.7, 2.0, 2.5, 3.999, 4.0, 8.0, 29.9, 32.0, 100.0, 500.0];

impl Law {
    pub(crate) fn of(atoms: Vec<(f64, f64)>) -> Self {
        Self { atoms, smooth: Smooth::Nothing }
    }

    pub(crate) fn smooth(smooth: Smooth) -> Self {
        Self { atoms: vec![(1.0, 1.0)], smooth }
    }

    /// On a Poisson sample, if there are outcomes only.
    pub(crate) fn sampled(&self, rate: f64) -> Self {
        Self::of(self.atoms.iter().map(|&(p, q)| (rate * p + (1.0 - rate) * q, q)).collect())
    }

    /// Both, independently; `None` for two smooth laws that are not of one kind.
    pub(crate) fn and(&self, other: &Self) -> Option<Self> {
        let pairs = self.atoms.iter().flat_map(|&(p, q)| {
            other.atoms.iter().map(move |&(a, b)| (p * a, q * b)).collect::<Vec<_>>()
        });
        let smooth = match (self.smooth, other.smooth) {
            (Smooth::Nothing, smooth) | (smooth, Smooth::Nothing) => smooth,
            (Smooth::Gaussian { mu, rate }, Smooth::Gaussian { mu: more, rate: full })
                if rate >= 1.0 && full >= 1.0 =>
            {
                Smooth::Gaussian { mu: mu.hypot(more), rate: 1.0 }
            }
            _ => return None,
        };
        Some(Self { atoms: pairs.collect(), smooth })
    }

    /// The largest P(S) - e^epsilon Q(S), the two exchanged if `turned`, at any real epsilon.
    pub(crate) fn delta(&self, turned: bool, epsilon: f64) -> f64 {
        let atoms = self.atoms.iter().map(|&(p, q)| if turned { (q, p) } else { (p, q) });
        let one = |(p, q): (f64, f64)| match (p > 0.0, q > 0.0) {
            (false, _) => 0.0,
            (true, false) => p,
            (true, true) => p * self.smooth.delta(turned, epsilon - (p / q).ln()),
        };
        atoms.map(one).sum()
    }

    /// The Rényi divergence of what does not leak, on either side.
    pub(crate) fn divergence(&self, turned: bool, order: f64) -> f64 {
        let kept = |turned: bool| (-self.leak(turned)).ln_1p();
        let (p_kept, q_kept) = (kept(turned), kept(!turned));
        let atoms = self.atoms.iter().map(|&(p, q)| if turned { (q, p) } else { (p, q) });
        let common = atoms.filter(|&(p, q)| p > 0.0 && q > 0.0);
        let exponents =
            common.map(|(p, q)| order * (p.ln() - p_kept) + (1.0 - order) * (q.ln() - q_kept));
        log_sum(exponents) / (order - 1.0) + self.smooth.divergence(turned, order)
    }

    /// The probability of an outcome that the other never has.
    pub(crate) fn leak(&self, turned: bool) -> f64 {
        let atoms = self.atoms.iter().map(|&(p, q)| if turned { (q, p) } else { (p, q) });
        atoms.filter(|&(_, q)| q <= 0.0).map(|(p, _)| p).sum()
    }

    /// The finite losses of its outcomes.
    pub(crate) fn losses(&self) -> Vec<f64> {
        let finite = self.atoms.iter().filter(|&&(p, q)| p > 0.0 && q > 0.0);
        finite.map(|&(p, q)| (p / q).ln()).collect()
    }
}

fn log_sum(exponents: impl Iterator<Item = f64>) -> f64 {
    let list: Vec<f64> = exponents.collect();
    let most = list.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most + list.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

impl Smooth {
    fn delta(self, turned: bool, epsilon: f64) -> f64 {
        match self {
            Self::Nothing => (1.0 - epsilon.exp()).max(0.0),
            Self::Gaussian { mu, rate } => {
                sampled(rate, turned, epsilon, |e| gaussian_at(mu, e).max(0.0))
            }
            Self::Laplace { epsilon: top, rate } => {
                sampled(rate, turned, epsilon, |e| laplace_at(top, e))
            }
        }
    }

    fn divergence(self, turned: bool, order: f64) -> f64 {
        match self {
            Self::Nothing => 0.0,
            Self::Gaussian { mu, rate } if rate >= 1.0 => gaussian_divergence(mu, order),
            Self::Laplace { epsilon, rate } if rate >= 1.0 => laplace_divergence(epsilon, order),
            Self::Gaussian { mu, rate } => {
                let reach = 12.0 + mu * (order + 1.0);
                let density = move |x: f64| -0.5 * x * x - 0.5 * std::f64::consts::TAU.ln();
                let loss = move |x: f64| mu * x - 0.5 * mu * mu;
                mixed_divergence((rate, turned, order), (-reach, reach), density, loss)
            }
            Self::Laplace { epsilon, rate } => laplace_on_a_sample((rate, turned, order), epsilon),
        }
    }
}

/// ln of the integral of q r^order (or, turned, of q r^(1-order)) over order - 1, where
/// r = 1 - rate + rate e^loss, by the midpoint rule.
fn mixed_divergence(
    (rate, turned, order): (f64, bool, f64),
    (from, to): (f64, f64),
    density: impl Fn(f64) -> f64,
    loss: impl Fn(f64) -> f64,
) -> f64 {
    const PIECES: u32 = 4000;
    let width = (to - from) / f64::from(PIECES);
    let places = (0..PIECES).map(|i| from + width * (f64::from(i) + 0.5));
    let power = if turned { 1.0 - order } else { order };
    let mixed = |x: f64| (1.0 - rate + rate * loss(x).exp()).ln();
    let exponents = places.map(|x| density(x) + power * mixed(x));
    (log_sum(exponents) + width.ln()) / (order - 1.0)
}

/// The same for Laplace noise, Q at zero and P at epsilon: two atoms of the loss, and between them Gauss's rule of two nodes in
/// each of many pieces. (At an order of 1.001 an integral that is off by 10^-5 would say nothing.)
fn laplace_on_a_sample((rate, turned, order): (f64, bool, f64), epsilon: f64) -> f64 {
    const PIECES: u32 = 1000;
    let power = if turned { 1.0 - order } else { order };
    let mixed = |loss: f64| power * (rate * loss.exp_m1()).ln_1p();
    let half = 0.5 * epsilon / f64::from(PIECES);
    let nodes = (0..PIECES).flat_map(|i| {
        let middle = half * (2.0 * f64::from(i) + 1.0);
        [-1.0, 1.0].map(|side| middle + side * half / 3.0_f64.sqrt())
    });
    let between = nodes.map(|x| half.ln() - x + mixed(2.0 * x - epsilon));
    let exponents = between.chain([mixed(-epsilon), mixed(epsilon) - epsilon]);
    (log_sum(exponents) - std::f64::consts::LN_2) / (order - 1.0)
}

/// The profile on a Poisson sample, from the profile of a symmetric pair at any real epsilon:
/// P is the mixture, or Q is if `turned`.
fn sampled(rate: f64, turned: bool, epsilon: f64, whole: impl Fn(f64) -> f64) -> f64 {
    if rate >= 1.0 {
        return whole(epsilon);
    }
    let x = epsilon.exp();
    if turned {
        // Q - x ((1-r) Q + r P).
        let kept = 1.0 - x * (1.0 - rate);
        return if kept > 0.0 { kept * whole((x * rate / kept).ln()) } else { 0.0 };
    }
    // (1-r) Q + r P - x Q.
    let asked = x - 1.0 + rate;
    if asked > 0.0 { rate * whole((asked / rate).ln()) } else { 1.0 - x }
}

/// Below zero by the other direction, which is the same: 1 - x + x delta(1/x).
fn gaussian_at(mu: f64, epsilon: f64) -> f64 {
    if mu <= 0.0 {
        return (1.0 - epsilon.exp()).max(0.0);
    }
    if epsilon >= 0.0 {
        return gaussian_delta(mu, epsilon);
    }
    let x = epsilon.exp();
    1.0 - x + x * gaussian_delta(mu, -epsilon)
}

fn laplace_at(top: f64, epsilon: f64) -> f64 {
    if epsilon >= top {
        0.0
    } else if epsilon <= -top {
        1.0 - epsilon.exp()
    } else {
        -(0.5 * (epsilon - top)).exp_m1()
    }
}

/// Leaky randomized response.
pub(crate) fn response(epsilon: f64, delta: f64) -> Law {
    let (up, down) = (1.0 / (1.0 + (-epsilon).exp()), 1.0 / (1.0 + epsilon.exp()));
    let keep = 1.0 - delta;
    let all = [(delta, 0.0), (keep * up, keep * down), (keep * down, keep * up), (0.0, delta)];
    Law::of(all.into_iter().filter(|&(p, q)| p + q > 0.0).collect())
}

/// Sparse vector by its own pair: Q masses are the changes of the slopes of its profile over e^epsilon, which are 1, 1/(1+b),
/// 1/(a+b), 1/(a(1+b)) and 0 between 1/(ab), b/a, a/b and ab, b being the lesser of e^e1 and e^e2 and a the other.
pub(crate) fn sparse(threshold: f64, queries: f64) -> Law {
    let (b, a) = (threshold.min(queries).exp(), threshold.max(queries).exp());
    let slopes = [1.0, 1.0 / (1.0 + b), 1.0 / (a + b), 1.0 / (a * (1.0 + b)), 0.0];
    let ratios = [1.0 / (a * b), b / a, a / b, a * b];
    let mass = |place: usize| slopes[place] - slopes[place + 1];
    Law::of((0..4).map(|place| (ratios[place] * mass(place), mass(place))).collect())
}

/// The true one of some buckets, or another.
pub(crate) fn buckets(epsilon: f64, count: u64) -> Law {
    let all = epsilon.exp() + count as f64 - 1.0;
    let mut atoms = vec![(epsilon.exp() / all, 1.0 / all), (1.0 / all, epsilon.exp() / all)];
    if count > 2 {
        let rest = (count as f64 - 2.0) / all;
        atoms.push((rest, rest));
    }
    Law::of(atoms)
}

/// Whole-numbered noise with these weights, moved by some steps. Weights are looked at up to
/// `reach` steps from the middle.
pub(crate) fn lattice(reach: i64, steps: u64, weight: impl Fn(i64) -> f64) -> Law {
    let total: f64 = (-reach..=reach).map(&weight).sum();
    let steps = steps as i64;
    let places = -reach..=reach + steps;
    let mass = |x: i64| if x.abs() <= reach { weight(x) / total } else { 0.0 };
    let joined = places.map(|x| (mass(x - steps), mass(x)));
    // Outcomes that are cut off on one side only are no leak.
    Law::of(joined.filter(|&(p, q)| p > 0.0 && q > 0.0).collect())
}

pub(crate) fn geometric(scale: f64, steps: u64) -> Law {
    let reach = (40.0 * scale).ceil() as i64 + steps as i64;
    lattice(reach, steps, |x| (-(x.abs() as f64) / scale).exp())
}

pub(crate) fn discrete_gaussian(sigma: f64, steps: u64) -> Law {
    let reach = (10.0 * sigma).ceil() as i64 + steps as i64;
    lattice(reach, steps, |x| (-0.5 * (x as f64 / sigma).powi(2)).exp())
}

/// Staircase noise moved by a shift of at most one: its steps and the moved ones, piece by
/// piece.
pub(crate) fn staircase(epsilon: f64, gamma: f64, shift: f64) -> Law {
    // Beyond the last of these steps, on either side, each step repeats the one before it, lower by a factor of e^-epsilon.
    const STEPS: u32 = 3;
    let level = |x: f64| if x.abs() < gamma { 0.0 } else { (x.abs() - gamma).floor() + 1.0 };
    let height = |x: f64| (-epsilon * level(x)).exp();
    let last = f64::from(STEPS) + gamma;
    let own = (0..=STEPS + 1).flat_map(|n| [f64::from(n) + gamma, -f64::from(n) - gamma]);
    let moved = own.clone().map(|x| x + shift).filter(|x| x.abs() <= last + 1.0);
    let mut ends: Vec<f64> = own.chain(moved).collect();
    ends.sort_by(f64::total_cmp);
    // The losses are -epsilon, 0 and epsilon: pieces with one are one outcome.
    let mut sums = [(0.0, 0.0); 3];
    for piece in ends.windows(2) {
        let (middle, width) = (0.5 * (piece[0] + piece[1]), piece[1] - piece[0]);
        let moved = level(middle) - level(middle - shift);
        let repeated = if middle.abs() > last { width / -(-epsilon).exp_m1() } else { width };
        let sum = &mut sums[(moved + 1.0).clamp(0.0, 2.0) as usize];
        *sum = (sum.0 + repeated * height(middle - shift), sum.1 + repeated * height(middle));
    }
    let all = sums.iter().fold((0.0, 0.0), |all, sum| (all.0 + sum.0, all.1 + sum.1));
    Law::of(sums.iter().map(|&(p, q)| (p / all.0, q / all.1)).filter(|o| o.0 > 0.0).collect())
}

/// Two losses a range apart, the upper one a share of it: what an exponential mechanism may be.
pub(crate) fn two_apart(range: f64, share: f64) -> Law {
    let top = share * range;
    let p = (range.exp() - top.exp()) / range.exp_m1();
    let q = p * (-top).exp();
    Law::of(vec![(p, q), (1.0 - p, 1.0 - q)])
}

/// Loss l with probability p, the rest of the mass at the loss that balances Q.
pub(crate) fn two_points(l: f64, p: f64) -> Law {
    let q = p * (-l).exp();
    Law::of(vec![(p, q), (1.0 - p, 1.0 - q)])
}

/// The most that mechanisms of a range show at an epsilon: two losses, the upper one in the
/// middle between epsilon and the range.
pub(crate) fn range_delta(range: f64, epsilon: f64) -> f64 {
    if epsilon >= range {
        0.0
    } else if epsilon <= -range {
        1.0 - epsilon.exp()
    } else {
        two_apart(range, 0.5 * (1.0 + epsilon / range)).delta(false, epsilon)
    }
}

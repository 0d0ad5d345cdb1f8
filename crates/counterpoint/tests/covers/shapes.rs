//! Kinds of slots and releases, of any size: as they are described, and as laws.

use super::judge::{Curve, Slot};
use crate::common::laws::{self, Law, Smooth};
use counterpoint::mechanism::{FinitePair, RenyiCurve};
use counterpoint::quantity::{Buckets, Gamma, Mu, NoiseScale, Order, Rate, Rho, WholeSensitivity};
use counterpoint::{Count, Delta, Epsilon, Guarantee, Mechanism, Release, Sensitivity};
use counterpoint_budget::{Amount, Filter, Terms};
use counterpoint_testing::Random;

/// A kind of description, everything about it fixed but its size.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    ApproxDp {
        leak: f64,
    },
    Leak,
    Laplace {
        sensitivity: f64,
    },
    Geometric {
        steps: u64,
    },
    Gaussian {
        sensitivity: f64,
    },
    DiscreteGaussian {
        steps: u64,
    },
    Buckets {
        count: u64,
    },
    Exponential,
    Staircase {
        gamma: Option<f64>,
    },
    Zcdp {
        leak: f64,
    },
    Tcdp {
        omega: f64,
    },
    /// Orders, and shares of the size.
    Rdp {
        points: Vec<(f64, f64)>,
    },
    Gdp,
    /// As the sum, or by its own pair.
    SparseVector {
        share: f64,
        is_own: bool,
    },
    /// Q masses and how fast the losses grow with the size; what leaks on either side.
    Finite {
        outcomes: Vec<(f64, f64)>,
        leaks: (f64, f64),
    },
    Sampled(Box<Shape>, f64),
}

/// The number of kinds, counting samples three times; the first kinds have few outcomes, are smooth, or are curves.
pub(super) const KINDS: u64 = 19;
pub(super) const FEW: u64 = 13;

/// The same once more, the same kind, or any.
pub(super) fn some_candidate(random: &mut Random, shape: &Shape) -> Shape {
    let kind = random.below(3);
    loop {
        let other = some_shape(random, KINDS);
        match kind {
            0 => return shape.clone(),
            1 if !are_alike(&other, shape) => {}
            _ => return other,
        }
    }
}

pub(super) fn are_alike(shape: &Shape, other: &Shape) -> bool {
    match (shape, other) {
        (Shape::Sampled(shape, _), Shape::Sampled(other, _)) => are_alike(shape, other),
        _ => std::mem::discriminant(shape) == std::mem::discriminant(other),
    }
}

pub(super) fn some_shape(random: &mut Random, kinds: u64) -> Shape {
    let kind = random.below(kinds);
    shape_of(random, kind)
}

pub(super) fn shape_of(random: &mut Random, kind: u64) -> Shape {
    let leak = |random: &mut Random| {
        if random.once_in(2) { 0.0 } else { random.log_uniform(1e-4, 0.2) }
    };
    match kind {
        0 => Shape::ApproxDp { leak: leak(random) },
        1 => Shape::Leak,
        2 => Shape::Laplace { sensitivity: random.log_uniform(0.1, 10.0) },
        3 => Shape::Gaussian { sensitivity: random.log_uniform(0.1, 10.0) },
        4 => Shape::Buckets { count: random.between(2, 6) },
        5 => Shape::Exponential,
        6 => Shape::Staircase { gamma: [None, Some(random.unit())][random.below(2) as usize] },
        7 => Shape::Zcdp { leak: 0.0 },
        8 => Shape::Tcdp { omega: random.of(&[1.5, 4.0, 30.0]) },
        9 => some_table(random),
        10 => Shape::Gdp,
        11 => {
            let share = random.uniform(0.1, 0.9);
            Shape::SparseVector { share, is_own: share > 0.5 }
        }
        12 => some_finite(random),
        13 => Shape::Geometric { steps: random.between(1, 4) },
        14 => Shape::DiscreteGaussian { steps: random.between(1, 3) },
        15 => Shape::Zcdp { leak: random.log_uniform(1e-4, 0.1) },
        _ => {
            let rate = random.log_uniform(0.01, 0.99);
            let inner = match random.below(4) {
                0 => Shape::ApproxDp { leak: leak(random) },
                1 => Shape::Laplace { sensitivity: 1.0 },
                2 => Shape::Gaussian { sensitivity: 1.0 },
                _ => Shape::DiscreteGaussian { steps: random.between(1, 2) },
            };
            Shape::Sampled(Box::new(inner), rate)
        }
    }
}

/// One, two or three orders; mostly rising, as divergences do.
pub(super) fn some_table(random: &mut Random) -> Shape {
    let all = [1.1, 1.5, 2.0, 4.0, 8.0, 32.0];
    let first = random.below(4) as usize;
    let last = first + random.below(3) as usize;
    let falls = random.once_in(6);
    let share = |order: f64| if falls { 3.0 / order } else { order };
    Shape::Rdp { points: all[first..=last].iter().map(|&order| (order, share(order))).collect() }
}

/// Some with outcomes that never happen, and some with leaks.
pub(super) fn some_finite(random: &mut Random) -> Shape {
    let size = random.between(2, 4);
    let mut outcomes: Vec<(f64, f64)> =
        (0..size).map(|_| (random.uniform(0.05, 1.0), random.uniform(-1.0, 1.0))).collect();
    if random.once_in(3) {
        let at = random.below(size) as usize;
        outcomes.insert(at, (0.0, 0.0));
    }
    let mut leak = || if random.once_in(3) { random.log_uniform(1e-4, 0.2) } else { 0.0 };
    Shape::Finite { outcomes, leaks: (leak(), leak()) }
}

impl Shape {
    pub(super) fn release(&self, size: f64) -> Option<Release> {
        let epsilon = Epsilon::new(size).ok()?;
        let noise = |sensitivity: f64| NoiseScale::new(sensitivity / size).ok();
        // So that sums over the noise stay short.
        let few_steps = |steps: u64| noise(steps as f64).filter(|noise| noise.get() < 40.0);
        let mechanism = match self {
            Self::ApproxDp { leak } => Guarantee::new(size, *leak).ok()?.into(),
            Self::Leak => Mechanism::NameAndShame { delta: Delta::new(0.1 * size).ok()? },
            Self::Laplace { sensitivity } => Mechanism::Laplace {
                scale: noise(*sensitivity)?,
                sensitivity: Sensitivity::new(*sensitivity).ok()?,
            },
            Self::Geometric { steps } => Mechanism::Geometric {
                scale: few_steps(*steps)?,
                sensitivity: WholeSensitivity::new(*steps).ok()?,
            },
            Self::Gaussian { sensitivity } => Mechanism::Gaussian {
                sigma: noise(*sensitivity)?,
                sensitivity: Sensitivity::new(*sensitivity).ok()?,
            },
            Self::DiscreteGaussian { steps } => Mechanism::DiscreteGaussian {
                sigma: few_steps(*steps)?,
                sensitivity: WholeSensitivity::new(*steps).ok()?,
            },
            Self::Buckets { count } => {
                Mechanism::RandomizedResponse { epsilon, buckets: Buckets::new(*count).ok()? }
            }
            Self::Exponential => Mechanism::Exponential { epsilon },
            Self::Staircase { gamma } => {
                let gamma = gamma.map(|gamma| Gamma::new(gamma).unwrap());
                Mechanism::Staircase { epsilon, gamma }
            }
            Self::Zcdp { leak } => {
                let (rho, delta) = (Rho::new(0.5 * size * size).ok()?, Delta::new(*leak).ok()?);
                Mechanism::Zcdp { rho, delta }
            }
            Self::Tcdp { omega } => {
                let (rho, omega) = (Rho::new(0.5 * size * size).ok()?, Order::new(*omega).ok()?);
                Mechanism::Tcdp { rho, omega }
            }
            Self::Rdp { points } => {
                let (orders, taus): (Vec<f64>, Vec<f64>) =
                    points.iter().map(|&(a, share)| (a, 0.5 * share * size * size)).unzip();
                Mechanism::Rdp(RenyiCurve::new(&orders, &taus).ok()?)
            }
            Self::Gdp => Mechanism::Gdp { mu: Mu::new(size).ok()? },
            Self::SparseVector { share, is_own } => {
                let threshold = Epsilon::new(share * size).ok()?;
                let queries = Epsilon::new((1.0 - share) * size).ok()?;
                match is_own {
                    true => Mechanism::AboveThreshold { threshold, queries },
                    false => Mechanism::SparseVector { threshold, queries },
                }
            }
            Self::Finite { .. } => {
                let (p, q): (Vec<f64>, Vec<f64>) = self.outcomes(size).into_iter().unzip();
                Mechanism::Finite(FinitePair::new(&p, &q).ok()?)
            }
            Self::Sampled(inner, rate) => {
                let rate = Some(Rate::new(*rate).ok()?);
                return Some(Release { rate, ..inner.release(size)? });
            }
        };
        Some(Release::from((mechanism, Count::ONE)))
    }

    /// The masses of a finite pair.
    pub(super) fn outcomes(&self, size: f64) -> Vec<(f64, f64)> {
        let Self::Finite { outcomes, leaks } = self else { return Vec::new() };
        let weights = outcomes.iter().map(|&(q, slope)| (q * (size * slope).exp(), q));
        let weights: Vec<(f64, f64)> = weights.collect();
        let all = weights.iter().fold((0.0, 0.0), |all, o| (all.0 + o.0, all.1 + o.1));
        let share =
            |(p, q): &(f64, f64)| ((1.0 - leaks.0) * p / all.0, (1.0 - leaks.1) * q / all.1);
        let mut list: Vec<(f64, f64)> = weights.iter().map(share).collect();
        if leaks.0 > 0.0 {
            list.insert(0, (leaks.0, 0.0));
        }
        if leaks.1 > 0.0 {
            list.push((0.0, leaks.1));
        }
        list
    }

    /// The laws that neighbours can have for a group of people: the law, or some of the laws that fit if there are
    /// many. `None` if no group is possible.
    pub(super) fn laws(&self, size: f64, group: u64) -> Option<Vec<Law>> {
        let people = group as f64;
        let all = people * size;
        let single = group == 1;
        Some(match self {
            Self::Zcdp { .. } | Self::Tcdp { .. } | Self::Rdp { .. } => {
                self.curve(size, group)?.witnesses()
            }
            Self::Exponential => {
                [0.2, 0.4, 0.5, 0.6, 0.8].map(|share| laws::two_apart(all, share)).into()
            }
            Self::Staircase { gamma } if single => {
                let cut = gamma.unwrap_or(1.0 / (1.0 + (0.5 * size).exp()));
                [0.4, 0.9, 1.0].map(|shift| laws::staircase(size, cut, shift)).into()
            }
            Self::Sampled(inner, rate) if single => match &**inner {
                Self::Laplace { .. } => {
                    vec![Law::smooth(Smooth::Laplace { epsilon: size, rate: *rate })]
                }
                Self::Gaussian { .. } => {
                    vec![Law::smooth(Smooth::Gaussian { mu: size, rate: *rate })]
                }
                inner => inner.laws(size, 1)?.iter().map(|law| law.sampled(*rate)).collect(),
            },
            _ => vec![self.pair(size, group)?],
        })
    }

    /// The pair of a description that is one: what its cost is made of.
    pub(super) fn pair(&self, size: f64, group: u64) -> Option<Law> {
        let people = group as f64;
        let all = people * size;
        let single = group == 1;
        Some(match self {
            Self::ApproxDp { leak } => {
                let chain = (0..group).map(|step| (size * step as f64).exp()).sum::<f64>();
                let leak = leak * chain;
                if leak >= 1.0 {
                    return None;
                }
                laws::response(all, leak)
            }
            Self::Leak => laws::response(0.0, Some(0.1 * all).filter(|&leak| leak < 1.0)?),
            Self::Laplace { .. } => Law::smooth(Smooth::Laplace { epsilon: all, rate: 1.0 }),
            Self::Gaussian { .. } | Self::Gdp => {
                Law::smooth(Smooth::Gaussian { mu: all, rate: 1.0 })
            }
            Self::Geometric { steps } => laws::geometric(*steps as f64 / size, steps * group),
            Self::DiscreteGaussian { steps } => {
                laws::discrete_gaussian(*steps as f64 / size, steps * group)
            }
            Self::Buckets { count } if single => laws::buckets(size, *count),
            Self::Staircase { gamma } if single => {
                let cut = gamma.unwrap_or(1.0 / (1.0 + (0.5 * size).exp()));
                laws::staircase(size, cut, 1.0)
            }
            Self::SparseVector { share, is_own: true } => {
                laws::sparse(share * all, (1.0 - share) * all)
            }
            Self::Buckets { .. } | Self::Staircase { .. } | Self::SparseVector { .. } => {
                laws::response(all, 0.0)
            }
            Self::Finite { .. } if single => Law::of(self.outcomes(size)),
            Self::Sampled(inner, rate) if single => match &**inner {
                Self::ApproxDp { leak } => {
                    laws::response((rate * size.exp_m1()).ln_1p(), rate * leak)
                }
                _ => self.laws(size, 1)?.pop()?,
            },
            // The guarantee of one person's sample, along a chain of neighbours.
            Self::Sampled(inner, rate) => {
                let leak = match &**inner {
                    Self::ApproxDp { leak } => *leak,
                    Self::Buckets { .. } | Self::SparseVector { .. } => 0.0,
                    _ => return None,
                };
                Self::ApproxDp { leak: rate * leak }.pair((rate * size.exp_m1()).ln_1p(), group)?
            }
            _ => return None,
        })
    }

    pub(super) fn curve(&self, size: f64, group: u64) -> Option<Curve> {
        let rho = 0.5 * size * size * (group * group) as f64;
        let line = |omega, leak| Curve { line: Some((rho, omega)), points: Vec::new(), leak };
        match self {
            Self::Zcdp { leak } if group == 1 || *leak <= 0.0 => Some(line(f64::INFINITY, *leak)),
            // Along a chain of neighbours orders shrink as the group grows.
            Self::Tcdp { omega } if *omega > group as f64 => Some(line(*omega / group as f64, 0.0)),
            Self::Rdp { points } if group == 1 => {
                let points = points.iter().map(|&(a, share)| (a, share * rho)).collect();
                Some(Curve { line: None, points, leak: 0.0 })
            }
            _ => None,
        }
    }

    /// The promise of the mechanism as a slot.
    pub(super) fn slot(&self, size: f64, group: u64) -> Option<Slot> {
        match self {
            Self::Exponential => Some(Slot::Range(group as f64 * size)),
            Self::Zcdp { .. } | Self::Tcdp { .. } | Self::Rdp { .. } => {
                self.curve(size, group).map(Slot::Curve)
            }
            _ => self.pair(size, group).map(Slot::Pair),
        }
    }

    /// The promise of an account of this kind.
    pub(super) fn promise(&self, size: f64, terms: Terms) -> Option<Filter> {
        let exact = |value: f64| Amount::from_f64(value).unwrap();
        let filter = match self {
            Self::ApproxDp { leak } => Filter::sums(exact(size), exact(*leak), terms),
            Self::Leak => Filter::sums(Amount::ZERO, exact(0.1 * size), terms),
            Self::Zcdp { leak } => {
                Filter::zcdp_budget(exact(0.5 * size * size), exact(*leak), terms)
            }
            Self::Gdp => Filter::gdp_budget(exact(size), terms),
            Self::Rdp { points } => {
                let &[(order, share)] = points.as_slice() else { return None };
                let tau = exact(0.5 * share * size * size);
                Filter::renyi_budget(Order::new(order).ok()?, tau, terms)
            }
            _ => return None,
        };
        filter.ok()
    }
}

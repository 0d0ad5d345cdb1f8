//! The judge: whether laws are within what slots promise, by profiles and divergences computed here.

use crate::common::laws::{self, Law, ORDERS, Smooth};

/// Divergences of at most so much.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    /// rho, and the order where it ends.
    pub(super) line: Option<(f64, f64)>,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) leak: f64,
}

impl Curve {
    /// The orders that it names, or enough of them.
    pub(super) fn named(&self) -> Vec<(f64, f64)> {
        match self.line {
            Some((rho, omega)) => {
                ORDERS.into_iter().filter(|&a| a < omega).map(|a| (a, rho * a)).collect()
            }
            None => self.points.clone(),
        }
    }

    /// True if a law is within the slot: at most its divergence at each order, and no larger leak; or below a leaky
    /// response that is within it, whose leak pays for any losses.
    pub(super) fn holds(&self, law: &Law) -> bool {
        self.is_kept_by(law) || (self.leak > 0.0 && self.is_kept_below_a_response(law))
    }

    fn is_kept_below_a_response(&self, law: &Law) -> bool {
        let (mut low, mut high) = (0.0_f64, 20.0_f64);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.is_kept_by(&laws::response(middle, self.leak)) {
                low = middle
            } else {
                high = middle
            }
        }
        let response = laws::response(low, self.leak);
        is_below(law, &response.losses(), |turned, e| response.delta(turned, e))
    }

    /// The orders at which it binds: a line at all of them, here next to each other. A law of two losses that is within a line
    /// at orders far apart may be a tenth above it between them.
    fn binding(&self) -> Vec<(f64, f64)> {
        let Some((rho, omega)) = self.line else { return self.points.clone() };
        let even = (0..70).map(|i| 1.0 + 0.01 * 1.17_f64.powi(i));
        let orders = even.chain(ORDERS).filter(|&a| a < omega && a <= 500.0);
        orders.map(|a| (a, rho * a)).collect()
    }

    fn is_kept_by(&self, law: &Law) -> bool {
        self.is_kept_at(&self.named(), law)
    }

    fn is_kept_at(&self, orders: &[(f64, f64)], law: &Law) -> bool {
        [false, true].iter().all(|&turned| {
            law.leak(turned) <= self.leak * (1.0 + 1e-12)
                && orders
                    .iter()
                    .all(|&(a, most)| law.divergence(turned, a) <= most * (1.0 + 1e-9) + 1e-13)
        })
    }

    /// Laws that are within, as far apart as can be: a Gaussian, and outcomes of which one has
    /// a large loss.
    pub(super) fn witnesses(&self) -> Vec<Law> {
        let leaky = laws::response(0.0, self.leak);
        let strict = Self { leak: 0.0, ..self.clone() };
        let slope = self.named().iter().map(|&(a, most)| most / a).fold(f64::INFINITY, f64::min);
        let gaussian = Law::smooth(Smooth::Gaussian { mu: (2.0 * slope).sqrt(), rate: 1.0 });
        let orders = strict.binding();
        let rare = [0.5, 2.0, 8.0].map(|times| {
            let loss = times * (2.0 * slope).sqrt().max(0.05);
            let rare = |p: f64| laws::two_points(loss, p);
            let (mut low, mut high) = (0.0_f64, 1.0_f64);
            for _ in 0..20 {
                let middle = 0.5 * (low + high);
                if strict.is_kept_at(&orders, &rare(middle)) { low = middle } else { high = middle }
            }
            rare(low)
        });
        [gaussian].into_iter().chain(rare).filter_map(|law| law.and(&leaky)).collect()
    }
}

/// The promise of a slot.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    Pair(Law),
    /// Of all mechanisms with a range: their profile and their line.
    Range(f64),
    Curve(Curve),
}

impl Slot {
    pub(super) fn holds(&self, law: &Law) -> bool {
        match self {
            Self::Curve(curve) => curve.holds(law),
            Self::Pair(above) => {
                let losses = above.losses();
                is_below(law, &losses, |turned, e| above.delta(turned, e))
            }
            Self::Range(range) => {
                let line = Curve {
                    line: Some((range * range / 8.0, f64::INFINITY)),
                    points: Vec::new(),
                    leak: 0.0,
                };
                is_below(law, &[*range], |_, e| laws::range_delta(*range, e)) && line.holds(law)
            }
        }
    }
}

/// True if a law's profile is nowhere above another: at the losses of both, if these are few, and between them.
pub(super) fn is_below(law: &Law, losses: &[f64], above: impl Fn(bool, f64) -> f64) -> bool {
    let own = law.losses();
    let some = |list: &[f64]| -> Vec<f64> {
        list.iter().step_by(list.len().div_ceil(16).max(1)).map(|loss| loss.abs()).collect()
    };
    let even = (0..40).map(|i| 0.004 * f64::from(i * i));
    let places: Vec<f64> = even.chain(some(losses)).chain(some(&own)).collect();
    [false, true].iter().all(|&turned| {
        places
            .iter()
            .filter(|&&e| e < 25.0)
            .all(|&e| law.delta(turned, e) <= above(turned, e) * (1.0 + 1e-9) + 1e-12)
    })
}

/// Slots and what is cut from them, all together: pairs by their product, curves by their sum,
/// ranges one by one.
pub(super) fn lists_hold(slots: &[Slot], opened: &[Vec<Law>]) -> bool {
    let pairs = slots.iter().filter_map(|slot| match slot {
        Slot::Pair(law) => Some(law.clone()),
        _ => None,
    });
    let pairs: Vec<Law> = pairs.collect();
    let curves: Vec<&Curve> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::Curve(curve) => Some(curve),
            _ => None,
        })
        .collect();
    let orders = |curve: &Curve| curve.points.iter().map(|point| point.0).collect::<Vec<_>>();
    let mut groups: Vec<Slot> = Vec::new();
    groups.extend(product(pairs).map(Slot::Pair));
    for curve in &curves {
        let alike = curves.iter().filter(|other| orders(other) == orders(curve));
        groups.push(Slot::Curve(alike.skip(1).fold((**curve).clone(), |sum, next| Curve {
            line: sum.line.zip(next.line).map(|(a, b)| (a.0 + b.0, a.1.min(b.1))),
            points: sum.points.iter().zip(&next.points).map(|(a, b)| (a.0, a.1 + b.1)).collect(),
            leak: 0.0,
        })));
    }
    // Each of what is opened goes to one of the groups: the sets that are within each.
    let sets = 1_usize << opened.len();
    let holds = |group: &Slot, set: usize| {
        let members = (0..opened.len()).filter(|at| set >> at & 1 == 1).map(|at| &opened[at]);
        let members: Vec<&Vec<Law>> = members.collect();
        let most = members.iter().map(|laws| laws.len()).max().unwrap_or(0);
        (0..most).all(|turn| {
            let chosen = members.iter().map(|laws| laws[turn % laws.len()].clone()).collect();
            product(chosen).is_none_or(|law| group.holds(&law))
        })
    };
    let mut reached = vec![0];
    for group in &groups {
        let within: Vec<usize> = (0..sets).filter(|&set| holds(group, set)).collect();
        let next = reached.iter().flat_map(|&done: &usize| {
            within.iter().filter(move |&&set| done & set == 0).map(move |&set| done | set)
        });
        reached = next.collect();
        reached.sort_unstable();
        reached.dedup();
    }
    reached.contains(&(sets - 1))
}

pub(super) fn product(laws: Vec<Law>) -> Option<Law> {
    laws.into_iter().map(Some).reduce(|a, b| a?.and(&b?)).flatten()
}

//! Losses that are lists of atoms.

use super::{Curve, Direction, LossError, PairLoss, check_loss_range, enclosing_doubles, response};
use crate::laws::{
    self, Atom, AtomList, Atoms, NOTHING, WholeGaussian, gaussian_atoms, largest_first,
    log_mixture, sum,
};
use crate::mechanism::{Adjacency, FinitePair};
use counterpoint_numerics::{Dd, STEP, exp_neg};

/// The loss of discrete Laplace noise. With a sensitivity of one step the mechanism is randomized response.
pub(super) fn geometric(a: Dd, steps: u64) -> Result<PairLoss, LossError> {
    match steps {
        1 => response(check_loss_range("sensitivity / scale", a)?),
        _ => Ok(geometric_atoms(a, steps)?.into()),
    }
}

/// The atoms of discrete Laplace noise, whose masses fall by e^-a at each step, shifted by `steps`.
pub(super) fn geometric_atoms(a: Dd, steps: u64) -> Result<Atoms, LossError> {
    check_loss_range("sensitivity / scale", a * steps as f64)?;
    if steps > MOST_ATOMS {
        let (what, value, legal) = ("sensitivity", steps as f64, "at most 10^6");
        return Err(LossError::Range { what, value, legal });
    }
    let decay = exp_neg(a);
    let end = Dd::ONE / (Dd::ONE + decay);
    // tanh(a/2).
    let middle = -(-a).expm1() * end;
    let atom = |y: u64| {
        let weight = exp_neg(a * y as f64);
        let mass = match y {
            0 => end,
            _ if y == steps => end * weight,
            _ => middle * weight,
        };
        Atom { loss: a * (steps as f64 - 2.0 * y as f64), mass }
    };
    Ok(Atoms::capped((0..=steps).map(atom).collect(), 0.0, true))
}

/// The approximate length of the longest list of atoms.
const MOST_ATOMS: u64 = 1_000_000;

/// Bounds the mass beyond the reach. There each mass is less than e^(-reach/sigma) of the one before: both sides are
/// below 2 e^(-34^2/2) (1 + sigma/34), and e^(-34^2/2) is below 10^-251.
const BEYOND_REACH: f64 = 1e-250;

/// True if the outcomes of discrete Gaussian noise are few enough for a list.
fn is_listable(sigma: f64, steps: u64) -> bool {
    sigma <= 1e4 && steps <= MOST_ATOMS
}

/// The loss of discrete Gaussian noise: the list of its outcomes or, if there are too many, the line that bounds its
/// divergences.
pub(super) fn discrete_gaussian(sigma: f64, steps: u64) -> Result<PairLoss, LossError> {
    if is_listable(sigma, steps) {
        return Ok(discrete_gaussian_atoms(sigma, steps)?.into());
    }
    let curve = Curve::Below { rho: concentration(sigma, steps)? };
    Ok(PairLoss { curve: Some(curve), ..PairLoss::default() })
}

/// Returns D^2 / (2 sigma^2). The divergence of discrete Gaussian noise is at most that times the order (Canonne,
/// Kamath and Steinke 2020, Theorem 4).
fn concentration(sigma: f64, steps: u64) -> Result<f64, LossError> {
    let distance = steps as f64;
    let ratio = Dd::product(distance, distance) / Dd::product(sigma, sigma);
    let ratio = check_loss_range("sensitivity^2 / sigma^2", ratio)?;
    Ok((ratio + ratio * STEP).scaled(0.5).upper())
}

/// The atoms of discrete Gaussian noise: masses proportional to e^(-y^2 / 2 sigma^2) at losses D (2 y + D) / (2
/// sigma^2).
pub(crate) fn discrete_gaussian_atoms(sigma: f64, steps: u64) -> Result<Atoms, LossError> {
    if !is_listable(sigma, steps) {
        let (what, value) =
            if sigma > 1e4 { ("sigma", sigma) } else { ("sensitivity", steps as f64) };
        let legal = "sigma up to 10^4 and sensitivity up to 10^6 on a sample; gaussian beyond";
        return Err(LossError::Range { what, value, legal });
    }
    let whole = WholeGaussian { sigma, steps: steps as f64 };
    let made = if sigma < WholeGaussian::LEAST_SIGMA {
        AtomList::from(gaussian_atoms(whole))
    } else {
        AtomList::of_formula(whole)
    };
    // The mass beyond the reach, and the mass that is left out within it.
    let cut = BEYOND_REACH * (1.0 + sigma) + NOTHING * whole.outcomes();
    let rho = Some(concentration(sigma, steps)?);
    Ok(Atoms { list: made, cut, capped: false, symmetric: true, rho })
}

/// The atoms of randomized response among m answers: the true answer and m - 1 others.
pub(super) fn bucket_response_atoms(epsilon: f64, buckets: u64) -> Atoms {
    let decay = exp_neg(Dd::from(epsilon));
    let truth = Dd::ONE / (Dd::ONE + decay * (buckets - 1) as f64);
    let lie = decay * truth;
    Atoms::capped(
        vec![
            Atom { loss: Dd::from(epsilon), mass: truth },
            Atom { loss: Dd::ZERO, mass: lie * (buckets - 2) as f64 },
            Atom { loss: Dd::from(-epsilon), mass: lie },
        ],
        0.0,
        true,
    )
}

/// The atoms of randomized response between two answers.
pub(super) fn randomized_response_atoms(epsilon: Dd) -> Result<Atoms, LossError> {
    let epsilon = check_loss_range("epsilon", epsilon)?;
    let decay = exp_neg(epsilon);
    let truth = Dd::ONE / (Dd::ONE + decay);
    let list =
        vec![Atom { loss: epsilon, mass: truth }, Atom { loss: -epsilon, mass: decay * truth }];
    Ok(Atoms::new(list, 0.0, true))
}

/// The atoms of staircase noise at the full shift, which dominates smaller shifts (theory 5.7). With b = e^-eps, the
/// mass at +eps is `1/2 + (1 - b) min(gamma, 1 - gamma) / (2 (gamma + b (1 - gamma)))`.
pub(super) fn staircase(epsilon: f64, gamma: Option<f64>) -> Atoms {
    let decay = exp_neg(Dd::from(epsilon));
    let gamma = gamma.map_or_else(
        || {
            let half = exp_neg(Dd::from(0.5 * epsilon));
            half / (Dd::ONE + half)
        },
        Dd::from,
    );
    let rest = Dd::ONE - gamma;
    let least = if gamma < rest { gamma } else { rest };
    let high = (Dd::ONE - decay) * least / (gamma + decay * rest);
    let high = (Dd::ONE + high).scaled(0.5);
    let low = high * decay;
    let middle = Dd::ONE - high - low;
    let mut list = vec![
        Atom { loss: Dd::from(epsilon), mass: high },
        Atom { loss: Dd::ZERO, mass: middle },
        Atom { loss: Dd::from(-epsilon), mass: low },
    ];
    // With gamma = 1/2 the middle atom has no mass. It is no outcome, rather than one that was cut off.
    list.retain(|atom| atom.mass.is_positive());
    Atoms::capped(list, 0.0, true)
}

pub(super) fn finite(
    pair: &FinitePair,
    direction: Direction,
    adjacency: Option<Adjacency>,
) -> Result<PairLoss, LossError> {
    let symmetric = is_mirrored(pair.outcomes());
    match adjacency {
        _ if symmetric => {}
        None => {
            let why = "exchanging p and q changes the pair";
            return Err(LossError::no_adjacency(why));
        }
        Some(Adjacency::Replace) => return Err(LossError::Asymmetric),
        Some(Adjacency::AddRemove) => {}
    }
    let outcomes: Vec<(f64, f64)> = match direction {
        Direction::Remove => pair.outcomes().to_vec(),
        Direction::Add => pair.outcomes().iter().map(|&(p, q)| (q, p)).collect(),
    };
    let sum = |list: &mut dyn Iterator<Item = f64>| sum(&list.map(Dd::from).collect::<Vec<_>>());
    let finite: Vec<(f64, f64)> =
        outcomes.iter().copied().filter(|&(p, q)| p > 0.0 && q > 0.0).collect();
    let all_p = sum(&mut outcomes.iter().map(|&(p, _)| p));
    let all_q = sum(&mut outcomes.iter().map(|&(_, q)| q));
    let kept = sum(&mut finite.iter().map(|&(p, _)| p));
    if !kept.is_positive() {
        return Err(LossError::NoCommonOutcome);
    }
    let leaked = sum(&mut outcomes.iter().filter(|&&(_, q)| q <= 0.0).map(|&(p, _)| p));
    let shift = (all_q / all_p).ln();
    let list = finite
        .iter()
        .map(|&(p, q)| Atom { loss: (Dd::from(p) / q).ln() + shift, mass: Dd::from(p) / kept });
    let atoms = Atoms::new(list.collect(), 0.0, symmetric);
    let leak = enclosing_doubles(leaked / all_p);
    if leak.1 < 1.0 {
        Ok(PairLoss { leak, ..atoms.into() })
    } else {
        Err(LossError::NoCommonOutcome)
    }
}

/// True if exchanging p and q only reorders the outcomes.
fn is_mirrored(outcomes: &[(f64, f64)]) -> bool {
    let bits = |&(p, q): &(f64, f64)| (p.to_bits(), q.to_bits());
    let mut ahead: Vec<_> = outcomes.iter().map(bits).collect();
    let mut back: Vec<_> = ahead.iter().map(|&(p, q)| (q, p)).collect();
    ahead.sort_unstable();
    back.sort_unstable();
    ahead == back
}

/// The atoms, on a Poisson sample, of a pair that is its own mirror image.
pub(super) fn sampled(whole: &Atoms, rate: f64, direction: Direction) -> Atoms {
    let rate = Dd::from(rate);
    let list: Vec<Atom> = match direction {
        Direction::Add => {
            let turned =
                |atom: &Atom| Atom { loss: -log_mixture(rate, -atom.loss), mass: atom.mass };
            whole.list.iter().map(turned).collect()
        }
        Direction::Remove => {
            // First P, then its mirror image Q, each at the outcomes where it has mass.
            let p = whole.list.iter().map(|atom| (atom.loss, rate * atom.mass));
            let q = whole.list.iter().map(|atom| (-atom.loss, (Dd::ONE - rate) * atom.mass));
            p.chain(q).map(|(loss, mass)| Atom { loss: log_mixture(rate, loss), mass }).collect()
        }
    };
    // Sampling preserves the order of losses.
    let atoms = match whole.above() > 0.0 {
        true => Atoms::new(list, whole.cut, false),
        false => Atoms::capped(list, whole.cut, false),
    };
    atoms.merge_equal_losses()
}

/// The loss, on a Poisson sample, of a pair with a leak in each direction: the outcomes (delta, 0), (0, delta), and 1 -
/// delta times those of a pair that is its own mirror image (or, without a pair, of a constant). With a leaky
/// randomized response this is the worst case of its guarantee.
pub(super) fn sampled_leaky(
    whole: Option<&Atoms>,
    delta: f64,
    rate: f64,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    let pair = whole.map(|whole| sampled(whole, rate, direction));
    if delta <= 0.0 {
        return Ok(pair.map_or_else(PairLoss::default, PairLoss::from));
    }
    let shown = Dd::product(rate, delta);
    let (delta, rest) = (Dd::from(delta), Dd::ONE - Dd::from(rate));
    let missed = (-Dd::from(rate)).ln_1p();
    // The mass that P leaks, the mass that it keeps, and the outcome that is possible only under Q on all of the data.
    let (leak, kept, only) = match direction {
        Direction::Remove => (shown, Dd::ONE - shown, Atom { loss: missed, mass: rest * delta }),
        Direction::Add => (Dd::ZERO, Dd::ONE, Atom { loss: -missed, mass: delta }),
    };
    let nothing = [Atom { loss: Dd::ZERO, mass: Dd::ONE }];
    let pair_list = pair.as_ref().map_or(&nothing[..], |pair| &pair.list[..]);
    let scale = (Dd::ONE - delta) / kept;
    let scaled = pair_list.iter().map(|atom| Atom { mass: atom.mass * scale, ..*atom });
    let only = Atom { mass: only.mass / kept, ..only };
    let list = largest_first(scaled.chain([only]).collect());
    let atoms = Atoms::capped(list, pair.map_or(0.0, |pair| pair.cut), false).merge_equal_losses();
    Ok(PairLoss { leak: enclosing_doubles(leak), ..atoms.into() })
}

/// The loss, on a Poisson sample, of outcomes with their masses under P (with the person) and Q (without).
///
/// An outcome with q = 0 never happens without the person. An outcome with p = 0 is less likely if the person is in the
/// data, because the samples with the person never show it.
pub(super) fn sampled_outcomes(
    outcomes: &[(Dd, Dd)],
    rate: f64,
    direction: Direction,
) -> Result<PairLoss, LossError> {
    let (atoms, leaked) = laws::sampled_outcomes(outcomes, rate, direction);
    let leak = enclosing_doubles(leaked);
    if leak.1 >= 1.0 {
        return Err(LossError::NoCommonOutcome);
    }
    Ok(PairLoss { leak, ..atoms.into() })
}

/// The loss of outcomes with their masses under P and Q.
pub(super) fn outcomes_loss(
    outcomes: &[(Dd, Dd)],
    direction: Direction,
) -> Result<PairLoss, LossError> {
    let turned = |&(p, q): &(Dd, Dd)| if direction == Direction::Add { (q, p) } else { (p, q) };
    let outcomes: Vec<(Dd, Dd)> =
        outcomes.iter().map(turned).filter(|(p, _)| p.is_positive()).collect();
    let (common, only): (Vec<_>, Vec<_>) = outcomes.iter().partition(|(_, q)| q.is_positive());
    let mass = |list: &[(Dd, Dd)]| sum(&list.iter().map(|&(p, _)| p).collect::<Vec<_>>());
    let (kept, leak) = (mass(&common), enclosing_doubles(mass(&only)));
    if leak.1 >= 1.0 || !kept.is_positive() {
        return Err(LossError::NoCommonOutcome);
    }
    let list = common.iter().map(|&(p, q)| Atom { loss: (p / q).ln(), mass: p / kept });
    Ok(PairLoss { leak, ..Atoms::new(list.collect(), 0.0, false).merge_equal_losses().into() })
}

/// Returns a pair's probabilities, each list divided by its sum.
pub(super) fn outcomes(pair: &FinitePair) -> Vec<(Dd, Dd)> {
    let all = |end: fn(&(f64, f64)) -> f64| {
        sum(&pair.outcomes().iter().map(|pair| Dd::from(end(pair))).collect::<Vec<_>>())
    };
    let (all_p, all_q) = (all(|pair| pair.0), all(|pair| pair.1));
    pair.outcomes().iter().map(|&(p, q)| (Dd::from(p) / all_p, Dd::from(q) / all_q)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_numerics::Wide;

    /// The masses are compared with the heaviest atom, whose weight is one.
    #[test]
    fn what_a_discrete_gaussian_leaves_out_is_within_its_cut() {
        for (sigma, steps) in [(0.4, 1), (1.0, 1), (7.5, 2), (300.0, 5)] {
            let atoms = discrete_gaussian_atoms(sigma, steps).unwrap();
            let (square, distance) = (sigma * sigma, steps as f64);
            let last = (atoms.list[0].loss.hi * square / distance - 0.5 * distance).round();
            let weight = |y: f64| Wide::exp(-Dd::product(y, y) / (2.0 * square));
            let beyond = (1..4000).fold(Wide::ZERO, |sum, i| sum + weight(last + f64::from(i)));
            let heaviest = atoms.list.iter().map(|atom| atom.mass.hi).fold(0.0, f64::max);
            let beyond = beyond * Wide::from(2.0 * heaviest);
            assert!(beyond <= Wide::from(atoms.cut), "{sigma}: {:e}", atoms.cut);
        }
    }
}

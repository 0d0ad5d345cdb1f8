//! Pairs that are known by cells: a pair that dominates them, and a pair that they dominate.
//!
//! Within a cell the likelihood ratio lies between its bounds. Moving the cell's mass to the bounds, with the masses
//! under P and Q unchanged, is a mean-preserving spread; treating the cell as one outcome is a post-processing.

use super::lists::{outcomes_loss, sampled_outcomes};
use super::{Direction, LossError, PairLoss};
use crate::laws::sum;
use crate::mechanism::{Adjacency, Cell, CellPair, FURTHEST};
use counterpoint_numerics::{Dd, STEP, exp_neg};

/// The amount by which bounds are widened, relative to max(1, |ln p/q|): 2^-84, so that a cell's own ln p/q, good to
/// 2^-94 of that, lies between them.
const WIDENED: f64 = 1024.0 * STEP;

pub(super) fn cells_loss(
    pair: &CellPair,
    rate: f64,
    direction: Direction,
    adjacency: Option<Adjacency>,
) -> Result<PairLoss, LossError> {
    match adjacency {
        None => {
            let why = "exchanging p and q changes the pair";
            return Err(LossError::no_adjacency(why));
        }
        Some(Adjacency::Replace) => return Err(LossError::Asymmetric),
        Some(Adjacency::AddRemove) => {}
    }
    let all = |end: fn(&Cell) -> f64| {
        sum(&pair.cells().iter().map(|cell| Dd::from(end(cell))).collect::<Vec<_>>())
    };
    let (all_p, all_q) = (all(|cell| cell.p), all(|cell| cell.q));
    let masses = |cell: &Cell| (Dd::from(cell.p) / all_p, Dd::from(cell.q) / all_q);
    let merged: Vec<(Dd, Dd)> = pair.cells().iter().map(masses).collect();
    let split = pair.cells().iter().zip(&merged).flat_map(|(cell, &masses)| spread(cell, masses));
    let split: Vec<(Dd, Dd)> = split.filter(|(p, q)| p.is_positive() || q.is_positive()).collect();
    let pair_loss = |outcomes: &[(Dd, Dd)]| match rate < 1.0 {
        true => sampled_outcomes(outcomes, rate, direction),
        false => outcomes_loss(outcomes, direction),
    };
    let lower_pair = Some(Box::new(pair_loss(&merged)?));
    Ok(PairLoss { lower_pair, ..pair_loss(&split)? })
}

/// Splits a cell's mass between its upper bound and its lower bound.
///
/// With r = ln p/q the share of P at the upper bound is (1 - e^(l - r))/(1 - e^(l - u)), which is one without a lower
/// bound. Without an upper bound, that share leaks.
pub(super) fn spread(cell: &Cell, (p, q): (Dd, Dd)) -> [(Dd, Dd); 2] {
    let one = [(p, q), (Dd::ZERO, Dd::ZERO)];
    if !(p.is_positive() && q.is_positive()) || cell.upper <= cell.lower {
        return one;
    }
    let ratio = (p / q).ln();
    let little = Dd::from(WIDENED * ratio.hi.abs().max(1.0));
    let low = least(Dd::from(cell.lower), ratio) - little;
    let high = -least(-Dd::from(cell.upper), -ratio) + little;
    match (cell.lower > -FURTHEST, cell.upper < FURTHEST) {
        (false, false) => [(p, Dd::ZERO), (Dd::ZERO, q)],
        (false, true) => {
            let up = p * exponential(-high);
            [(p, up), (Dd::ZERO, q - up)]
        }
        (true, false) => {
            let stays = p * exp_neg(ratio - low);
            [(p * one_minus_decay(ratio - low), Dd::ZERO), (stays, stays * exponential(-low))]
        }
        (true, true) => {
            let whole = one_minus_decay(high - low);
            let up = p * (one_minus_decay(ratio - low) / whole);
            let stays = p * (one_minus_decay(high - ratio) * exp_neg(ratio - low) / whole);
            [(up, up * exponential(-high)), (stays, stays * exponential(-low))]
        }
    }
}

/// 1 - e^-x.
fn one_minus_decay(x: Dd) -> Dd {
    -(-x).expm1()
}

fn least(a: Dd, b: Dd) -> Dd {
    if a < b { a } else { b }
}

fn exponential(x: Dd) -> Dd {
    if x.is_positive() { x.exp() } else { exp_neg(-x) }
}

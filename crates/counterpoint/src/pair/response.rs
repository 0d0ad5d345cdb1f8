//! The simulation lemma: every (epsilon, delta) pair from leaky randomized response
//! (MV Lemmas 3.2 and 3.3, S Lemma 3.1).

use super::{Map, MapError, Pair, SLACK, Violation};
use crate::exact::{self, Ratio};
use crate::mechanism::{FinitePair, Guarantee};

/// MV Lemma 3.2's map T from [`Pair::response`] at x = e^epsilon and delta onto a pair.
///
/// ```
/// use counterpoint::exact::Ratio;
/// use counterpoint::pair::{Pair, from_response};
///
/// let half: Ratio = "1/2".parse()?;
/// let (x, delta): (Ratio, Ratio) = ("2".parse()?, "1/4".parse()?);
/// let pair = Pair::new(vec![half.clone(), half], vec!["1/8".parse()?, "7/8".parse()?])?;
/// let map = from_response(&pair, &x, &delta)?;
/// assert!(map.carries(&Pair::response(&x, &delta)?, &pair));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MapError::Violated`] if the pair is not that private; [`MapError::Input`] unless x is
/// at least 1 and delta from 0 up to but not including 1.
pub fn from_response(target: &Pair, ratio: &Ratio, delta: &Ratio) -> Result<Map, MapError> {
    let source = Pair::response(ratio, delta)?;
    let entries = 4 * target.outcomes().len() as u128;
    exact::check_bits("bits of the map's entries", entries, 4 * target.bits())?;
    let kept = Kept::new(target, ratio);
    // MV (1), (2): alpha and beta are the profile's two directions at epsilon.
    let [alpha, beta] = [0, 1].map(|side| Ratio::ONE - kept.mass(side));
    for (at, excess) in [(ratio.clone(), alpha > *delta), (Ratio::ONE / ratio, beta > *delta)] {
        if excess {
            let (source, target) = (source.delta(&at), target.delta(&at));
            let violation = Violation { ratio: at, source, target };
            return Err(MapError::Violated(Box::new(violation)));
        }
    }
    Ok(rows(target, &kept.evened(ratio).scaled(delta), ratio, delta))
}

/// The same for doubles. Where they are at most [`SLACK`] less private than claimed, which
/// rounding may make them, the map is that for the delta they do have, and carries the
/// response to within that of them.
///
/// # Errors
/// As [`from_response`], and [`MapError::Epsilon`] if epsilon is above 500.
pub fn from_response_doubles(target: &FinitePair, claim: Guarantee) -> Result<Map, MapError> {
    let (_, ratio) = exact::exponential(claim.epsilon)?;
    let target = Pair::from(target);
    let least = exact::larger(target.delta(&ratio), target.swapped().delta(&ratio));
    let claimed = exact::of_double(claim.delta.get());
    let near = least <= &claimed + exact::of_double(SLACK) && least < Ratio::ONE;
    let delta = if near { exact::larger(claimed, least) } else { claimed };
    from_response(&target, &ratio, &delta)
}

/// The masses e and f of MV Lemma 3.3: what of each outcome's P and Q is kept when the bad
/// events are cut away. Within a factor x of each other.
struct Kept(Vec<[Ratio; 2]>);

impl Kept {
    /// e = min(P, xQ) and f = min(Q, xP).
    fn new(pair: &Pair, ratio: &Ratio) -> Self {
        let cut = |[p, q]: &[Ratio; 2]| {
            [exact::smaller(p.clone(), ratio * q), exact::smaller(q.clone(), ratio * p)]
        };
        Self(pair.outcomes().iter().map(cut).collect())
    }

    fn mass(&self, side: usize) -> Ratio {
        exact::sum(self.0.iter().map(|kept| &kept[side]))
    }

    /// Reduces the larger of the two until both have the same mass. If f is the larger, it
    /// moves, wherever it exceeds e, towards e/x, as far as it must: the lemma shows that
    /// there is room.
    fn evened(mut self, ratio: &Ratio) -> Self {
        let masses = [self.mass(0), self.mass(1)];
        let large = usize::from(masses[1] > masses[0]);
        let small = 1 - large;
        let surplus = &masses[large] - &masses[small];
        if surplus.is_zero() {
            return self;
        }
        let room = |kept: &[Ratio; 2]| {
            let above = kept[large] > kept[small];
            if above { &kept[large] - &kept[small] / ratio } else { Ratio::ZERO }
        };
        let share = surplus / exact::sum(self.0.iter().map(room));
        for kept in &mut self.0 {
            let less = room(kept) * &share;
            kept[large] -= less;
        }
        self
    }

    /// Scales both to mass 1 - delta: by (1 - delta)/(1 - delta0), delta0 being what was cut.
    fn scaled(mut self, delta: &Ratio) -> Self {
        let factor = (Ratio::ONE - delta) / self.mass(0);
        for mass in self.0.iter_mut().flatten() {
            *mass *= &factor;
        }
        self
    }
}

/// MV Lemma 3.2: T(0) and T(3) are what was cut, T(1) and T(2) solve for what was kept.
fn rows(target: &Pair, kept: &Kept, ratio: &Ratio, delta: &Ratio) -> Map {
    let rest = Ratio::ONE - delta;
    let solved = |side: usize| -> Vec<Ratio> {
        let one = |kept: &[Ratio; 2]| {
            if ratio.is_one() {
                // Epsilon 0: both sides kept the same.
                &kept[side] / &rest
            } else {
                (ratio * &kept[side] - &kept[1 - side]) / (&rest * (ratio - Ratio::ONE))
            }
        };
        kept.0.iter().map(one).collect()
    };
    let (plus, minus) = (solved(0), solved(1));
    let cut = |side: usize, unused: &Vec<Ratio>| -> Vec<Ratio> {
        if delta.is_zero() {
            // The leak never happens: any row will do.
            return unused.clone();
        }
        let both = target.outcomes().iter().zip(&kept.0);
        both.map(|(mass, kept)| (&mass[side] - &kept[side]) / delta).collect()
    };
    let (first, last) = (cut(0, &plus), cut(1, &minus));
    Map::of_rows(vec![first, plus, minus, last])
}

//! The simulation lemma: leaky randomized response simulates every (epsilon, delta) pair (MV Lemmas 3.2 and 3.3, S
//! Lemma 3.1).

use super::events::EventOutcome;
use super::{Events, Map, MapError, Pair, events};
use counterpoint_numerics::fractions::Ratio;

/// Computes the map T of MV Lemma 3.2 from [`Pair::response`] at x = e^epsilon and delta onto a pair.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// use counterpoint_papers::pair::{Pair, from_response};
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
/// [`MapError::Violated`] if the pair does not have the guarantee; [`MapError::Input`] unless x is at least 1 and delta
/// is at least 0 and less than 1.
pub fn from_response(target: &Pair, ratio: &Ratio, delta: &Ratio) -> Result<Map, MapError> {
    Ok(rows(&events(target, ratio, delta)?))
}

/// MV Lemma 3.2: T(0) and T(3) are the masses that were cut. T(1) and T(2) solve the equations for the masses that were
/// kept.
fn rows(events: &Events) -> Map {
    let Events { ratio, delta, outcomes, .. } = events;
    let rest = Ratio::ONE - delta;
    let solved = |side: usize| -> Vec<Ratio> {
        let one = |EventOutcome { kept, .. }: &EventOutcome| {
            if ratio.is_one() {
                // At epsilon 0 both sides have the same kept masses.
                &kept[side] / &rest
            } else {
                (ratio * &kept[side] - &kept[1 - side]) / (&rest * (ratio - Ratio::ONE))
            }
        };
        outcomes.iter().map(one).collect()
    };
    let (plus, minus) = (solved(0), solved(1));
    let cut = |side: usize, unused: &Vec<Ratio>| -> Vec<Ratio> {
        if delta.is_zero() {
            // The leak is impossible, so any row is right.
            return unused.clone();
        }
        outcomes.iter().map(|part| (&part.masses[side] - &part.kept[side]) / delta).collect()
    };
    let (first, last) = (cut(0, &plus), cut(1, &minus));
    Map::of_rows(vec![first, plus, minus, last])
}

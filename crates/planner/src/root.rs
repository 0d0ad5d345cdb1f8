//! Finds where a decreasing function crosses zero.

/// The start, the range and the accuracy of a search.
pub(crate) struct Search {
    pub(crate) guess: f64,
    /// The ratio of the first step from the guess, above one. It is squared from step to step.
    pub(crate) stride: f64,
    /// The range that is searched.
    pub(crate) range: (f64, f64),
    /// The guessed relation of value and place: the crossing is at the place times e^(power * value).
    pub(crate) power: f64,
    /// The relative distance of the two ends at which the search stops.
    pub(crate) near: f64,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RootBracket {
    /// The value is above zero at the first place, and not above zero at the second.
    Between(f64, f64),
    /// The value is above zero nowhere.
    Below,
    /// The value is above zero everywhere.
    Above,
}

/// Brackets the crossing of a decreasing function: outward from the guess until the crossing is between two places,
/// then inward. The function was evaluated at both ends.
pub(crate) fn search<E>(
    Search { guess, mut stride, range: (least, most), power, near }: Search,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<RootBracket, E> {
    let guess = guess.clamp(least, most);
    let first = value(guess)?;
    let (mut low, mut high) = ((guess, first), (guess, first));
    while low.1 <= 0.0 {
        if low.0 <= least {
            return Ok(RootBracket::Below);
        }
        let next = (low.0 * (power * low.1.max(-3.0)).exp() / stride).max(least);
        (high, low) = (low, (next, value(next)?));
        stride = (stride * stride).min(64.0);
    }
    while high.1 > 0.0 {
        if high.0 >= most {
            return Ok(RootBracket::Above);
        }
        let next = (high.0 * (power * high.1.min(3.0)).exp() * stride).min(most);
        (low, high) = (high, (next, value(next)?));
        stride = (stride * stride).min(64.0);
    }
    inward(low, high, (near, FunctionShape::Any), value)
}

/// The shape of a function between two places.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FunctionShape {
    /// The function may jump, so both ends are moved from the first step on.
    Any,
    /// The function is nearly linear, or a step.
    Straight,
}

/// Narrows a bracket by bisection and the Illinois method, in the logarithm of the place. The values at both ends are
/// known.
pub(crate) fn inward<E>(
    (mut low, mut above): (f64, f64),
    (mut high, mut below): (f64, f64),
    (near, kind): (f64, FunctionShape),
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<RootBracket, E> {
    const MOST_LOOKS: usize = 200;
    let mut stalled = 0;
    let mut before = None;
    for _ in 0..MOST_LOOKS {
        if high <= low * (1.0 + near) {
            break;
        }
        let (from, to) = (low.ln(), high.ln());
        let share = above / (above - below);
        let straight = stalled < 2 && share.is_finite();
        let place = match kind {
            _ if !straight => 0.5 * (from + to),
            FunctionShape::Any => from + share.clamp(1e-4, 1.0 - 1e-4) * (to - from),
            FunctionShape::Straight => closing(from + share * (to - from), (from, to), near),
        };
        let place = place.exp().clamp(low, high);
        let found = value(place)?;
        let is_above = found > 0.0;
        // The value at an end that stays is halved; for nearly linear functions only when the end stays for the second
        // time.
        let stays = kind == FunctionShape::Any || before == Some(is_above);
        let kept = if straight && stays { 0.5 } else { 1.0 };
        let same = if is_above { above } else { below };
        if is_above {
            (low, above, below) = (place, found, kept * below);
        } else {
            (high, below, above) = (place, found, kept * above);
        }
        before = Some(is_above);
        // A step function has the same value up to the step.
        let flat = (found - same).abs() <= 1e-12 * same.abs();
        stalled = match (high / low).ln() > 0.5 * (to - from) {
            true if flat => 2,
            true => stalled + 1,
            false => 0,
        };
    }
    Ok(RootBracket::Between(low, high))
}

/// A place slightly beyond the apparent crossing, as seen from the nearer end, so that the crossing is enclosed.
fn closing(place: f64, (from, to): (f64, f64), near: f64) -> f64 {
    let (before, after) = (place - from, to - place);
    let place = match before <= after {
        true if before <= 0.5 * near => from + 0.9 * near,
        true => place + 0.4 * near,
        false if after <= 0.5 * near => to - 0.9 * near,
        false => place - 0.4 * near,
    };
    place.clamp(from + 0.1 * near.min(to - from), to - 0.1 * near.min(to - from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn crossing(kind: FunctionShape, near: f64, of: impl Fn(f64) -> f64) -> (f64, f64, usize) {
        let mut looks = 0;
        let place = Search { guess: 1.0, stride: 1.1, range: (1e-9, 1e9), power: 1.0, near: 0.3 };
        let mut look = |x| {
            looks += 1;
            Ok::<f64, Infallible>(of(x))
        };
        let found = match search(place, &mut look) {
            Ok(RootBracket::Between(low, high)) => {
                inward((low, of(low)), (high, of(high)), (near, kind), look)
            }
            found => found,
        };
        let Ok(RootBracket::Between(low, high)) = found else { panic!("{found:?}") };
        assert!(of(low) > 0.0 && of(high) <= 0.0, "{low} {high}");
        assert!(high <= low * (1.0 + near), "{low} {high}");
        (low, high, looks)
    }

    /// Smooth functions with different slopes, and step functions: the crossing is enclosed after few evaluations.
    #[test]
    fn crossings_are_between_near_ends_and_found_soon() {
        for root in [0.003, 0.97, 1.0, 1.4, 250.0] {
            for (near, kind) in [1e-3, 1e-7]
                .into_iter()
                .flat_map(|near| [(near, FunctionShape::Any), (near, FunctionShape::Straight)])
            {
                // At most twice the number of steps of bisection; fewer for nearly linear functions.
                let check = |most: usize, of: &dyn Fn(f64) -> f64| {
                    let (low, high, looks) = crossing(kind, near, of);
                    assert!(low <= root && root <= high, "{root}: {low} {high}");
                    let most = if kind == FunctionShape::Any { 60 } else { most };
                    assert!(looks <= most, "{root} {near}: {looks} looks, {most} at most");
                };
                check(10, &|x| (root / x).ln());
                check(16, &|x| (root / x).ln() * 2.3);
                check(20, &|x| (root / x).ln() + 0.3 * (root / x - 1.0));
                check(22, &|x| (root / x).powi(2) - 1.0);
                check(60, &|x| if x < root { 0.1 } else { -0.05 });
                check(60, &|x| if x < root { 3.0 } else { -1e-3 });
            }
        }
    }
}

//! Where a falling function crosses zero.

/// Where to look, and how closely.
pub(crate) struct Search {
    pub(crate) guess: f64,
    /// The first stride from the guess, a factor above one: it is squared from step to step.
    pub(crate) stride: f64,
    /// Nothing is looked at outside of this.
    pub(crate) range: (f64, f64),
    /// About how the place depends on the value: with the exponential of so many times it.
    pub(crate) power: f64,
    /// How near to each other the two ends are to be, relatively.
    pub(crate) near: f64,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Crossing {
    /// Above zero at the first place, and not at the second.
    Between(f64, f64),
    /// Not above zero anywhere.
    Below,
    /// Above zero everywhere.
    Above,
}

/// The crossing of a falling function: outward from the guess until it is between two places, then inward. Both ends
/// were looked at.
pub(crate) fn search<E>(
    Search { guess, mut stride, range: (least, most), power, near }: Search,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<Crossing, E> {
    let guess = guess.clamp(least, most);
    let first = value(guess)?;
    let (mut low, mut high) = ((guess, first), (guess, first));
    while low.1 <= 0.0 {
        if low.0 <= least {
            return Ok(Crossing::Below);
        }
        let next = (low.0 * (power * low.1.max(-3.0)).exp() / stride).max(least);
        (high, low) = (low, (next, value(next)?));
        stride = (stride * stride).min(64.0);
    }
    while high.1 > 0.0 {
        if high.0 >= most {
            return Ok(Crossing::Above);
        }
        let next = (high.0 * (power * high.1.min(3.0)).exp() * stride).min(most);
        (low, high) = (high, (next, value(next)?));
        stride = (stride * stride).min(64.0);
    }
    inward(low, high, near, value)
}

/// Halving and Illinois' method in logarithms of the place, until both ends are near.
fn inward<E>(
    (mut low, mut above): (f64, f64),
    (mut high, mut below): (f64, f64),
    near: f64,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<Crossing, E> {
    const MOST_LOOKS: usize = 200;
    let mut stalled = 0;
    for _ in 0..MOST_LOOKS {
        if high <= low * (1.0 + near) {
            break;
        }
        let (from, to) = (low.ln(), high.ln());
        let share = above / (above - below);
        let straight = stalled < 2 && share.is_finite();
        let share = if straight { share.clamp(1e-4, 1.0 - 1e-4) } else { 0.5 };
        let place = (from + share * (to - from)).exp().clamp(low, high);
        let found = value(place)?;
        if found > 0.0 {
            (low, above, below) = (place, found, if straight { 0.5 * below } else { below });
        } else {
            (high, below, above) = (place, found, if straight { 0.5 * above } else { above });
        }
        stalled = if (high / low).ln() > 0.5 * (to - from) { stalled + 1 } else { 0 };
    }
    Ok(Crossing::Between(low, high))
}

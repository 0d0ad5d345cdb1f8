//! Where a falling function crosses zero.

/// Between two places with values above and not above zero, the least interval found around the crossing: halving and
/// Illinois' method in logarithms of the place, until both are within a relative distance, or so many looks were
/// taken. Both ends were looked at.
pub(crate) fn crossing<E>(
    (mut low, mut above): (f64, f64),
    (mut high, mut below): (f64, f64),
    (near, most): (f64, usize),
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<(f64, f64), E> {
    let mut stalled = 0;
    for _ in 0..most {
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
    Ok((low, high))
}

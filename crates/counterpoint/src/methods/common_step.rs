//! Finds a step of which all distances on a lattice are multiples.

/// Returns a step of at least the given size of which every distance is a multiple, except for rounding, if there is
/// one: 0.1, 0.2 and 0.5 are multiples of 0.1 up to 2^-55. Euclid's algorithm. Every step is sound; with this one next
/// to nothing is split or merged.
pub(super) fn common_step(distances: &[f64], least: f64) -> Option<f64> {
    let largest = distances.iter().copied().reduce(f64::max)?;
    let noise = 1e-13 * largest;
    let least = least.max(1e3 * noise);
    let mut divisor = largest;
    for &distance in distances {
        let mut rest = distance;
        while rest > noise {
            (divisor, rest) = (rest, divisor % rest);
            if divisor - rest <= noise {
                rest = 0.0;
            }
            if divisor < least {
                return None;
            }
        }
    }
    let divisor = largest / (largest / divisor).round();
    let off = |distance: &f64| {
        let multiple = distance / divisor;
        (multiple - multiple.round()).abs() * divisor
    };
    distances.iter().all(|distance| off(distance) <= 1e-14 * largest).then_some(divisor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_have_one_and_square_roots_have_none() {
        let found = common_step(&[0.1, 0.2, 0.5, 0.7], 1e-3).unwrap();
        assert!((found - 0.1).abs() < 1e-16, "{found}");
        let found = common_step(&[0.6, 0.0, 1.5], 1e-3).unwrap();
        assert!((found - 0.3).abs() < 1e-16, "{found}");
        assert_eq!(common_step(&[0.6, 1.5], 0.4), None);
        assert_eq!(common_step(&[1.0, 2.0_f64.sqrt()], 1e-3), None);
        assert_eq!(common_step(&[], 1e-3), None);
        assert_eq!(common_step(&[0.0], 1e-3), None);
    }
}

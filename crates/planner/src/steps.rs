//! Errors that come in steps, because answers are whole numbers.

use crate::family::Family;
use counterpoint_mechanisms::Error;

/// The cheapest level of the error at `level` and of `count` errors on either side of it; empty if errors do not come
/// in distinguishable steps.
pub(crate) fn ladder(family: &Family, level: f64, count: usize) -> Result<Vec<f64>, Error> {
    /// Steps must be at least this far apart: levels that differ by 2^9 millionths.
    const CLOSE: i32 = 9;
    let next = |level: f64, direction: f64| {
        let error = family.seen(level)?;
        // The distance doubles until the error differs.
        for k in 0..20 {
            let other = family.seen(level * (direction * 1e-6 * 2.0_f64.powi(k)).exp())?;
            if (other / error - 1.0).abs() > 1e-12 {
                return Ok(Some((k, other)));
            }
        }
        Ok::<Option<(i32, f64)>, Error>(None)
    };
    let near = |step: Option<(i32, f64)>| step.map_or(CLOSE, |(k, _)| k);
    if near(next(level, -1.0)?).max(near(next(level, 1.0)?)) < CLOSE {
        return Ok(Vec::new());
    }
    let mut levels: Vec<f64> = family.level(family.seen(level)?)?.into_iter().collect();
    for direction in [-1.0, 1.0] {
        let mut here = level;
        for _ in 0..count {
            let Some((_, error)) = next(here, direction)? else { break };
            let Some(found) = family.level(error)? else { break };
            levels.push(found);
            here = found;
        }
    }
    Ok(levels)
}

/// All combinations of one level per row, for the rows that have levels.
pub(crate) fn combinations(steps: &[Vec<f64>]) -> Vec<Vec<Option<f64>>> {
    let mut all = vec![Vec::new()];
    for levels in steps {
        let next = |before: Vec<Option<f64>>| {
            let with = |level: Option<f64>| [before.as_slice(), &[level]].concat();
            match levels.is_empty() {
                true => vec![with(None)],
                false => levels.iter().map(|level| with(Some(*level))).collect(),
            }
        };
        all = all.into_iter().flat_map(next).collect();
    }
    all
}

//! Decimals as doubles that cost at least as much.

use counterpoint_budget::Amount;

use crate::catalogue::Side;

/// The number as it is charged; `None` if it should be whole and is not.
pub(super) fn rounded(side: Side, number: &Amount) -> Option<Amount> {
    match side {
        Side::Up => Amount::from_f64(number.upper()),
        Side::Down => Amount::from_f64(number.lower()),
        Side::Half if number.times(2) < Amount::from(1) => Amount::from_f64(number.upper()),
        Side::Half => Amount::from_f64(number.lower()),
        Side::Whole => is_whole(number).then(|| number.clone()),
        Side::Decimal if is_shortest(number) => Some(number.clone()),
        // Its decimal is above the double below it.
        Side::Decimal => Amount::from_f64(number.upper().next_up()),
        Side::Together => Some(number.clone()),
    }
}

/// Whether a number is the shortest decimal of the double next to it.
fn is_shortest(number: &Amount) -> bool {
    let nearest = number.to_string().parse::<f64>().ok();
    nearest.and_then(|nearest| nearest.to_string().parse().ok()).as_ref() == Some(number)
}

fn is_whole(number: &Amount) -> bool {
    !number.to_string().contains('.')
}

/// Two probability vectors as doubles that dominate them: each entry is rounded down, and what that leaves of P goes to the
/// outcome with the largest ratio p/q, what it leaves of Q to the one with the least. Outcomes in the order of falling ratios, every sum
/// of first entries is then at least as large for P, and at most as large for Q: the best tests are no worse.
pub(super) fn pair(p: &[Amount], q: &[Amount]) -> Option<(Vec<Amount>, Vec<Amount>)> {
    if p.len() != q.len() || are_doubles(p) && are_doubles(q) {
        return Some((p.to_vec(), q.to_vec()));
    }
    let occurs = |&at: &usize| !(p[at].is_zero() && q[at].is_zero());
    let by_ratio = |&a: &usize, &b: &usize| (&p[a] * &q[b]).cmp(&(&p[b] * &q[a]));
    // Of equal ratios the last is the largest, and the first the least.
    let top = (0..p.len()).filter(occurs).max_by(by_ratio)?;
    let bottom = (0..p.len()).filter(occurs).min_by(by_ratio)?;
    Some((all_but(p, top, &sum(p))?, all_but(q, bottom, &sum(q))?))
}

/// The probabilities of shifts as doubles of shifts that are no less likely to be large: each is rounded down, and what
/// that leaves goes to the largest.
pub(super) fn shifts(sensitivities: &[Amount], probabilities: &[Amount]) -> Option<Vec<Amount>> {
    if sensitivities.len() != probabilities.len() || are_doubles(probabilities) {
        return Some(probabilities.to_vec());
    }
    let largest =
        (0..sensitivities.len()).max_by(|&a, &b| sensitivities[a].cmp(&sensitivities[b]))?;
    all_but(probabilities, largest, &sum(probabilities).max(Amount::from(1)))
}

fn are_doubles(list: &[Amount]) -> bool {
    list.iter().all(|number| Amount::from_f64(number.upper()).as_ref() == Some(number))
}

fn sum(list: &[Amount]) -> Amount {
    list.iter().fold(Amount::ZERO, |sum, number| &sum + number)
}

/// All but one rounded down; that one is what they leave of the total, rounded up.
fn all_but(list: &[Amount], taker: usize, total: &Amount) -> Option<Vec<Amount>> {
    let lower = |number: &Amount| Amount::from_f64(number.lower());
    let mut rounded: Vec<Amount> = list.iter().map(lower).collect::<Option<_>>()?;
    rounded[taker] = Amount::ZERO;
    rounded[taker] = Amount::from_f64(total.less(&sum(&rounded))?.upper())?;
    Some(rounded)
}

//! Rounding of decimals to doubles that cost at least as much.

use counterpoint_budget::Amount;

use crate::catalogue::RoundingSide;

/// Returns the number that is charged for a decimal; `None` if it must be a whole number and is not.
pub(super) fn rounded(side: RoundingSide, number: &Amount) -> Option<Amount> {
    match side {
        RoundingSide::Up => Amount::from_f64(number.upper()),
        RoundingSide::Down => Amount::from_f64(number.lower()),
        RoundingSide::Half if number.times(2) < Amount::from(1) => Amount::from_f64(number.upper()),
        RoundingSide::Half => Amount::from_f64(number.lower()),
        RoundingSide::Whole => is_whole(number).then(|| number.clone()),
        RoundingSide::Decimal if is_shortest(number) => Some(number.clone()),
        // The shortest decimal of the double above is above the number.
        RoundingSide::Decimal => Amount::from_f64(number.upper().next_up()),
        RoundingSide::Together => Some(number.clone()),
    }
}

/// True if a number is the shortest decimal of the double nearest to it.
fn is_shortest(number: &Amount) -> bool {
    let nearest = number.to_string().parse::<f64>().ok();
    nearest.and_then(|nearest| nearest.to_string().parse().ok()).as_ref() == Some(number)
}

fn is_whole(number: &Amount) -> bool {
    !number.to_string().contains('.')
}

/// Rounds two probability vectors to doubles that dominate them. Each entry is rounded down; the rest of P goes to the
/// outcome with the largest ratio p/q, the rest of Q to the outcome with the least. In the order of falling ratios
/// every sum of first entries is then at least as large for P, and at most as large for Q: the best tests are no worse.
pub(super) fn pair(p: &[Amount], q: &[Amount]) -> Option<(Vec<Amount>, Vec<Amount>)> {
    if p.len() != q.len() || are_doubles(p) && are_doubles(q) {
        return Some((p.to_vec(), q.to_vec()));
    }
    let outcomes =
        || p.iter().zip(q).enumerate().filter(|(_, (p, q))| !(p.is_zero() && q.is_zero()));
    type Outcome<'a> = (usize, (&'a Amount, &'a Amount));
    let by_ratio = |(_, (p, q)): &Outcome<'_>, (_, (r, s)): &Outcome<'_>| (*p * *s).cmp(&(*r * *q));
    // Of equal ratios, `max_by` takes the last and `min_by` the first.
    let (top, _) = outcomes().max_by(by_ratio)?;
    let (bottom, _) = outcomes().min_by(by_ratio)?;
    Some((all_but(p, top, &sum(p))?, all_but(q, bottom, &sum(q))?))
}

/// Rounds the probabilities of shifts to doubles with which large shifts are no less likely: each is rounded down, and
/// the rest goes to the largest shift.
pub(super) fn shifts(sensitivities: &[Amount], probabilities: &[Amount]) -> Option<Vec<Amount>> {
    if sensitivities.len() != probabilities.len() || are_doubles(probabilities) {
        return Some(probabilities.to_vec());
    }
    let (largest, _) = sensitivities.iter().enumerate().max_by(|(_, a), (_, b)| a.cmp(b))?;
    all_but(probabilities, largest, &sum(probabilities).max(Amount::from(1)))
}

fn are_doubles(list: &[Amount]) -> bool {
    list.iter().all(|number| Amount::from_f64(number.upper()).as_ref() == Some(number))
}

fn sum(list: &[Amount]) -> Amount {
    list.iter().fold(Amount::ZERO, |sum, number| &sum + number)
}

/// Rounds all entries down but one, which gets the rest of the total, rounded up.
fn all_but(list: &[Amount], taker: usize, total: &Amount) -> Option<Vec<Amount>> {
    let lower = |number: &Amount| Amount::from_f64(number.lower());
    let mut rounded: Vec<Amount> = list.iter().map(lower).collect::<Option<_>>()?;
    *rounded.get_mut(taker)? = Amount::ZERO;
    *rounded.get_mut(taker)? = Amount::from_f64(total.checked_sub(&sum(&rounded))?.upper())?;
    Some(rounded)
}

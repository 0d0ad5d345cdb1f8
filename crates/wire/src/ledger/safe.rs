//! Decimals as doubles that cost at least as much.

use counterpoint_budget::Amount;

/// How a number of a release is turned into a double.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// More of it costs more.
    Up,
    /// Less of it costs more.
    Down,
    /// Nearer to one half it costs more: where a staircase's steps are cut (docs/theorems.md, staircase).
    Half,
    /// It is a whole number, or refused.
    Whole,
    /// More of it costs more, and it is read as the shortest decimal of a double: epochs.
    Decimal,
    /// It is rounded together with others.
    Together,
}

/// Which way a number is rounded; `None` for a field that is no number, or not known.
pub(super) fn side(kind: &str, field: &str) -> Option<Side> {
    Some(match field {
        "sensitivity" if ["geometric", "discrete-gaussian"].contains(&kind) => Side::Whole,
        "epsilon" | "delta" | "rho" | "mu" | "epsilon_threshold" | "epsilon_queries" => Side::Up,
        "sensitivity" | "sensitivities" | "norm" | "rate" | "share" | "epsilons" => Side::Up,
        "scale" | "sigma" | "omega" | "orders" => Side::Down,
        "gamma" => Side::Half,
        "count" | "buckets" | "steps" | "each" | "records" | "draws" => Side::Whole,
        "people" | "most" | "examples" | "batch" => Side::Whole,
        "epochs" => Side::Decimal,
        "p" | "q" | "probabilities" => Side::Together,
        _ => return None,
    })
}

impl Side {
    /// The number as it is charged; `None` if it should be whole and is not.
    pub(super) fn of(self, number: &Amount) -> Option<Amount> {
        match self {
            Self::Up => Amount::from_f64(number.upper()),
            Self::Down => Amount::from_f64(number.lower()),
            Self::Half if number.times(2) < Amount::from(1) => Amount::from_f64(number.upper()),
            Self::Half => Amount::from_f64(number.lower()),
            Self::Whole => is_whole(number).then(|| number.clone()),
            Self::Decimal if is_shortest(number) => Some(number.clone()),
            // Its decimal is above the double below it.
            Self::Decimal => Amount::from_f64(number.upper().next_up()),
            Self::Together => Some(number.clone()),
        }
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
    Some((rounded(p, top, &sum(p))?, rounded(q, bottom, &sum(q))?))
}

/// The probabilities of shifts as doubles of shifts that are no less likely to be large: each is rounded down, and what
/// that leaves goes to the largest.
pub(super) fn shifts(sensitivities: &[Amount], probabilities: &[Amount]) -> Option<Vec<Amount>> {
    if sensitivities.len() != probabilities.len() || are_doubles(probabilities) {
        return Some(probabilities.to_vec());
    }
    let largest =
        (0..sensitivities.len()).max_by(|&a, &b| sensitivities[a].cmp(&sensitivities[b]))?;
    rounded(probabilities, largest, &sum(probabilities).max(Amount::from(1)))
}

fn are_doubles(list: &[Amount]) -> bool {
    list.iter().all(|number| Amount::from_f64(number.upper()).as_ref() == Some(number))
}

fn sum(list: &[Amount]) -> Amount {
    list.iter().fold(Amount::ZERO, |sum, number| &sum + number)
}

/// All but one rounded down; that one is what they leave of the total, rounded up.
fn rounded(list: &[Amount], taker: usize, total: &Amount) -> Option<Vec<Amount>> {
    let lower = |number: &Amount| Amount::from_f64(number.lower());
    let mut rounded: Vec<Amount> = list.iter().map(lower).collect::<Option<_>>()?;
    rounded[taker] = Amount::ZERO;
    rounded[taker] = Amount::from_f64(total.less(&sum(&rounded))?.upper())?;
    Some(rounded)
}

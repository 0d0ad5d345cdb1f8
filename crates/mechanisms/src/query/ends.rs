//! The ends of a quantile's interval, each a separate choice from the same tally (theory 11.24 and theory 11.25).

use super::Share;
use crate::choice::Exponential;
use crate::error::Error;
use crate::noise::SLACK;

/// The number of choices for each share: the quantile, the lower end and the upper end.
pub(super) const CHOICES: u64 = 3;

/// Draws a candidate by these scores.
pub(super) fn chosen(
    choice: &Exponential,
    candidates: &[f64],
    scores: &[i64],
) -> Result<f64, Error> {
    Ok(candidates.get(choice.release(scores)?).copied().unwrap_or_default())
}

/// The distance between the requested rank and the rank that an end aims at, in units of the scores. It is public: it
/// depends only on the number of candidates, the noise and the confidence.
///
/// An end is on the wrong side of the quantile only if its score is lower than the target candidate's, which is zero,
/// by more than this distance less one row. No candidate is on the wrong side for both ends. Of k candidates the two
/// choices are least reliable if each has k/2 wrong candidates: both are right with probability at least (1 + k w /
/// 2)^-2, w being the weight of such a score.
pub(super) fn aim(
    choice: &Exponential,
    (_, whole): Share,
    candidates: usize,
    confidence: f64,
) -> i128 {
    let odds = 2.0 * (-0.5 * confidence.ln()).exp_m1();
    let lacks = (candidates as f64 / odds).ln().max(0.0) * choice.scale() * (1.0 + SLACK);
    // One more row covers every definition of a quantile between the rows next to its rank.
    i128::from(whole) - 1 + lacks.ceil() as i128
}

/// For each candidate, whole * (rows below it) - part * (all rows): its rank minus the requested rank.
fn ranks((part, whole): Share, gaps: &[i128]) -> Vec<i128> {
    let wanted = i128::from(part) * gaps.iter().sum::<i128>();
    let mut below = 0;
    let rank = |count: &i128| {
        below += count;
        i128::from(whole) * below - wanted
    };
    gaps.iter().take(gaps.len().saturating_sub(1)).map(rank).collect()
}

/// Scores of the candidates as lower ends: the distance between the target rank and the ranks from each candidate up to
/// the next. The lowest candidate counts as below all ranks, and is the target if there are too few rows.
fn lower(share: Share, gaps: &[i128], aim: i128) -> Vec<i64> {
    let ranks = ranks(share, gaps);
    let score = |place: usize| {
        let from = if place == 0 { None } else { ranks.get(place) };
        miss(from, ranks.get(place + 1), -aim)
    };
    (0..ranks.len()).map(score).collect()
}

/// Scores of the candidates as upper ends: the distance from the ranks between the previous candidate and each. The
/// highest candidate counts as above all ranks.
fn upper(share: Share, gaps: &[i128], aim: i128) -> Vec<i64> {
    let ranks = ranks(share, gaps);
    let score = |place: usize| {
        let to = if place + 1 == ranks.len() { None } else { ranks.get(place) };
        miss(place.checked_sub(1).and_then(|before| ranks.get(before)), to, aim)
    };
    (0..ranks.len()).map(score).collect()
}

/// The score of an interval of ranks: minus its distance from a rank.
fn miss(from: Option<&i128>, to: Option<&i128>, rank: i128) -> i64 {
    let below = from.map_or(0, |from| from - rank);
    let above = to.map_or(0, |to| rank - to);
    -(below.max(above).clamp(0, i64::MAX.into()) as i64)
}

/// Chooses both ends of a share's interval.
pub(super) fn draw(
    (choice, confidence): (&Exponential, f64),
    share: Share,
    candidates: &[f64],
    gaps: &[i128],
) -> Result<[f64; 2], Error> {
    let aim = aim(choice, share, candidates.len(), confidence);
    let low = chosen(choice, candidates, &lower(share, gaps, aim))?;
    let high = chosen(choice, candidates, &upper(share, gaps, aim))?;
    Ok([low, high])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::measurement::MeasurementBody;
    use crate::query::{Measurement, Query, tally};
    use counterpoint::{Adjacency, Relation};

    const CONFIDENCE: f64 = 0.9;

    fn measurement(share: Share, candidates: &[f64], epsilon: f64, to: Relation) -> Measurement {
        let query = Query::quantile(share, candidates).unwrap();
        query.exponential_interval(epsilon, CONFIDENCE).unwrap().under(to).unwrap()
    }

    fn choice(measurement: &Measurement) -> &Exponential {
        let MeasurementBody::Intervals(choices, _) = &measurement.body else {
            panic!("{measurement:?}")
        };
        &choices[0]
    }

    /// The probability of each candidate.
    fn law(scores: &[i64], scale: f64) -> Vec<f64> {
        let weights: Vec<f64> = scores.iter().map(|score| (*score as f64 / scale).exp()).collect();
        let total: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / total).collect()
    }

    /// The probability that the ends enclose a number, if they aim at this distance from the requested rank.
    fn held(
        measurement: &Measurement,
        data: &[f64],
        number: f64,
        aims: impl Fn(i128) -> i128,
    ) -> f64 {
        let (shares, candidates) = measurement.query().choice().unwrap();
        let (share, choice) = (shares[0], choice(measurement));
        let aim = aims(aim(choice, share, candidates.len(), CONFIDENCE));
        let gaps = tally::gaps(candidates, data);
        let (low, high) = (lower(share, &gaps, aim), upper(share, &gaps, aim));
        let sure = |scores: &[i64], is_right: &dyn Fn(f64) -> bool| -> f64 {
            let law = law(scores, choice.scale());
            law.iter().zip(candidates).filter(|(_, end)| is_right(**end)).map(|(p, _)| p).sum()
        };
        sure(&low, &|end| end <= number) * sure(&high, &|end| end >= number)
    }

    /// Quantiles by all nine definitions of Hyndman and Fan 1996, of the clamped numbers.
    fn definitions(data: &[f64], share: Share, [low, high]: [f64; 2]) -> Vec<f64> {
        let mut sorted: Vec<f64> = data.iter().map(|x| x.clamp(low, high)).collect();
        sorted.sort_by(f64::total_cmp);
        let (n, p) = (sorted.len() as f64, f64::from(share.0) / f64::from(share.1));
        let at = |place: f64| sorted[place.clamp(1.0, n) as usize - 1];
        let between = |place: f64| {
            let place = place.clamp(1.0, n);
            let part = place - place.floor();
            (1.0 - part) * at(place.floor()) + part * at(place.ceil())
        };
        // Corrects whole numbers that the double misses.
        let rank = (n * p * 1e9).round() / 1e9;
        let is_whole = rank.fract().abs() < 1e-9;
        let second = if is_whole { 0.5 * (at(rank) + at(rank + 1.0)) } else { at(rank.ceil()) };
        let third = (rank - 0.5).ceil();
        let is_odd_half = (third - (rank - 0.5)).abs() < 1e-9 && (third % 2.0).abs() > 0.5;
        let third = if is_odd_half { third + 1.0 } else { third };
        vec![
            at(rank.ceil()),
            second,
            at(third),
            between(rank),
            between(rank + 0.5),
            between((n + 1.0) * p),
            between(1.0 + (n - 1.0) * p),
            between((n + 1.0 / 3.0) * p + 1.0 / 3.0),
            between((n + 0.25) * p + 0.375),
        ]
    }

    /// All increasing lists of up to five of the numbers.
    fn lists(numbers: &[f64]) -> Vec<Vec<f64>> {
        let mut lists: Vec<Vec<f64>> = vec![Vec::new()];
        for round in 0..5 {
            let longer = |list: &Vec<f64>| {
                let from = list.last().copied().unwrap_or(f64::NEG_INFINITY);
                let next = numbers.iter().filter(|x| **x >= from);
                next.map(|x| [list.clone(), vec![*x]].concat()).collect::<Vec<_>>()
            };
            let longest = lists.iter().filter(|list| list.len() == round).flat_map(longer);
            let longest: Vec<_> = longest.collect();
            lists.extend(longest);
        }
        lists.remove(0);
        lists
    }

    fn relations() -> Vec<Relation> {
        let both = [Adjacency::AddRemove, Adjacency::Replace];
        both.iter().flat_map(|a| [1, 3].map(|rows| Relation::new(*a, rows).unwrap())).collect()
    }

    /// For every list of up to five numbers on, between and beyond four candidates, by the probabilities of all
    /// choices.
    #[test]
    fn intervals_hold_the_quantiles_of_all_small_data() {
        let candidates = [1.0, 2.0, 3.0, 4.0];
        let lists = lists(&[0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 4.5]);
        let mut least = 1.0_f64;
        for share in [(1, 2), (1, 4), (1, 100), (9, 10)] {
            for relation in relations() {
                for epsilon in [0.3, 3.0, 60.0] {
                    let measurement = measurement(share, &candidates, epsilon, relation);
                    for data in &lists {
                        for truth in definitions(data, share, [1.0, 4.0]) {
                            let held = held(&measurement, data, truth, |aim| aim);
                            least = least.min(held);
                            assert!(
                                held >= CONFIDENCE,
                                "{share:?} {relation} {epsilon} {data:?} {truth}: {held}"
                            );
                        }
                    }
                }
            }
        }
        assert!(least < 0.99, "{least}");
    }

    /// The rows are at the lowest candidate and above the highest, so that all other candidates have the requested
    /// rank. Nine tenths of the allowed failures occur, and ends that aim a hundredth less far fail more often than
    /// allowed.
    #[test]
    fn the_worst_data_have_the_chance_that_is_claimed() {
        let candidates: Vec<f64> = (0..1001).map(f64::from).collect();
        for relation in relations() {
            for (share, upper_half) in [((1, 2), 40_000), ((1, 4), 120_000), ((9, 10), 4_445)] {
                let data = [vec![0.0; 40_000], vec![2_000.0; upper_half]].concat();
                let measurement = measurement(share, &candidates, 0.3, relation);
                let by = |times: f64| {
                    let aims = |aim: i128| (aim as f64 * times) as i128;
                    let truth = [0.0, 1_000.0];
                    truth
                        .map(|truth| held(&measurement, &data, truth, aims))
                        .into_iter()
                        .fold(1.0, f64::min)
                };
                let [whole, less, half, none] = [1.0, 0.99, 0.5, 0.0].map(by);
                let context = format!("{share:?} {relation}: {whole} {less} {half} {none}");
                assert!((CONFIDENCE..CONFIDENCE + 0.01).contains(&whole), "{context}");
                assert!(less < CONFIDENCE && half < 0.1 && none < 0.1, "{context}");
            }
        }
    }

    /// Some candidate is always on target.
    #[test]
    fn ends_aim_within_the_candidates_whatever_the_rows_are() {
        for aim in [0, 1, 7, 1 << 100] {
            for gaps in [&[0, 0, 0][..], &[5, 0, 0, 0], &[0, 0, 9], &[1, 2, 3, 4, 5]] {
                for share in [(1, 2), (1, 1000), (999, 1000)] {
                    for scores in [lower(share, gaps, aim), upper(share, gaps, aim)] {
                        assert_eq!(scores.len(), gaps.len() - 1);
                        assert_eq!(scores.iter().max(), Some(&0), "{share:?} {gaps:?} {aim}");
                    }
                }
            }
        }
        // Far below all ranks, and far above.
        assert_eq!(lower((1, 2), &[3, 4, 5, 6], 1 << 100)[0], 0);
        assert_eq!(upper((1, 2), &[3, 4, 5, 6], 1 << 100)[2], 0);
        // Ranks are -12, -4 and 6: from -4 up to 6 is the second, and from the second up to the third.
        assert_eq!(lower((1, 2), &[3, 4, 5, 6], 2), [-2, 0, -8]);
        assert_eq!(upper((1, 2), &[3, 4, 5, 6], 2), [-14, -6, 0]);
    }
}

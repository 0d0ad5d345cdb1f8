//! Finds a number among many edges without comparing it with each: planning a statement with a thousand comparisons
//! takes longer than running it.

/// With fewer edges, comparing one by one is faster.
const MANY: usize = 32;

/// A linear guess of the number of edges that are at most a number. It is off by at most one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    /// The first edge.
    pub first: f64,
    /// The last edge.
    pub last: f64,
    /// Edges per unit of distance.
    pub scale: f64,
}

impl Guess {
    /// Returns `None` if there are too few edges, or if they are too uneven.
    ///
    /// A guess never falls as the number grows. So it is off by at most one between two edges if it is so for the first
    /// number and for the last number between them.
    pub(super) fn of(edges: &[f64]) -> Option<Self> {
        let (first, last) = (*edges.first()?, *edges.last()?);
        let guess = Self { first, last, scale: (edges.len() - 1) as f64 / (last - first) };
        let ends = edges.windows(2).map(|pair| match pair {
            [from, to] => (*from, to.next_down()),
            _ => (last, last),
        });
        let is_near = |(before, (from, to)): (usize, (f64, f64))| {
            from <= to
                && guess.whole(from) >= before.saturating_sub(1)
                && guess.whole(to) <= before + 1
        };
        let all = ends.chain([(last, last)]).enumerate().all(is_near);
        let is_within = guess.whole(last) < edges.len();
        (edges.len() >= MANY && guess.scale.is_normal() && all && is_within).then_some(guess)
    }

    /// One less than the guess, computed as the engine computes it.
    fn whole(&self, number: f64) -> usize {
        ((number.max(self.first).min(self.last) - self.first) * self.scale).floor() as usize
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// Counts as an engine does: from the guess, and from comparisons with the two edges next to it.
    fn counted(guess: &Guess, edges: &[f64], number: f64) -> usize {
        let (number, whole) = (number.min(guess.last), guess.whole(number));
        let edge = |index: usize| edges.get(index).copied().unwrap_or(f64::INFINITY);
        whole + usize::from(number >= edge(whole)) + usize::from(number >= edge(whole + 1))
    }

    #[test]
    fn guesses_are_put_right() {
        let even = |low: f64, high: f64, steps: usize| -> Vec<f64> {
            (0..=steps).map(|step| low + (high - low) * step as f64 / steps as f64).collect()
        };
        let uneven = |shift: f64| -> Vec<f64> {
            (0..100).map(|step| f64::from(step) + shift * f64::from(step % 2)).collect()
        };
        let lists = [
            even(0.0, 10.0, 1000),
            even(-1e300, 1e300, 77),
            even(0.1, 0.3, 4999),
            even(-5e-324 * 1000.0, 5e-324 * 1000.0, 40),
            even(1e15, 1e15 + 1000.0, 999),
            uneven(0.9),
            uneven(-0.9),
        ];
        for edges in lists {
            let Some(guess) = Guess::of(&edges) else { continue };
            let near = |edge: &f64| [edge.next_down(), *edge, edge.next_up(), edge + 0.3];
            let far = [f64::NEG_INFINITY, f64::MIN, -0.0, f64::MAX, f64::INFINITY];
            for number in edges.iter().flat_map(near).chain(far) {
                let count = edges.partition_point(|edge| *edge <= number);
                assert_eq!(counted(&guess, &edges, number), count, "{number:e} {guess:?}");
            }
        }
    }

    /// Usual lists of edges have a guess; lists that are short, or for which it would be wrong, have none.
    #[test]
    fn uneven_lists_are_not_guessed() {
        let even: Vec<f64> = (0..=1000).map(|step| f64::from(step) / 100.0).collect();
        assert!(Guess::of(&even).is_some());
        let squares: Vec<f64> = (0..=1000).map(|step| f64::from(step * step)).collect();
        let twice: Vec<f64> = even.iter().flat_map(|edge| [*edge, *edge]).collect();
        let moved: Vec<f64> =
            even.iter().map(|edge| if *edge > 5.0 { edge + 0.05 } else { *edge }).collect();
        let endless: Vec<f64> = even.iter().map(|edge| (edge - 5.0) * 3e307).collect();
        for list in [&squares, &twice, &moved, &endless, &even[..20].to_vec(), &Vec::new()] {
            assert!(Guess::of(list).is_none());
        }
    }
}

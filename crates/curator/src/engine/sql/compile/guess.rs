//! Where among many places a number is, found without comparing it with each: a statement with a thousand comparisons is
//! planned for longer than it runs.

/// Fewer places are compared one by one.
const MANY: usize = 32;

/// How many of many places are at most a number, but for one: by its share of the way from the first to the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guess {
    /// The first place.
    pub first: f64,
    /// The last one.
    pub last: f64,
    /// Places for each unit of the way.
    pub scale: f64,
}

impl Guess {
    /// `None` if places are too few, or too uneven for it.
    ///
    /// A guess never falls where the number grows. So it is right but for one between two places if it is at the first
    /// number and at the last one there.
    pub(super) fn of(places: &[f64]) -> Option<Self> {
        let (first, last) = (*places.first()?, *places.last()?);
        let guess = Self { first, last, scale: (places.len() - 1) as f64 / (last - first) };
        let ends = places.windows(2).map(|pair| match pair {
            [from, to] => (*from, to.next_down()),
            _ => (last, last),
        });
        let is_near = |(before, (from, to)): (usize, (f64, f64))| {
            from <= to
                && guess.whole(from) >= before.saturating_sub(1)
                && guess.whole(to) <= before + 1
        };
        let all = ends.chain([(last, last)]).enumerate().all(is_near);
        let is_within = guess.whole(last) < places.len();
        (places.len() >= MANY && guess.scale.is_normal() && all && is_within).then_some(guess)
    }

    /// One less than the guess, as the engine has it.
    fn whole(&self, number: f64) -> usize {
        ((number.max(self.first).min(self.last) - self.first) * self.scale).floor() as usize
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use super::*;

    /// As an engine does: the guess, and whether the two places next to it are reached.
    fn counted(guess: &Guess, places: &[f64], number: f64) -> usize {
        let (number, whole) = (number.min(guess.last), guess.whole(number));
        let place = |index: usize| places.get(index).copied().unwrap_or(f64::INFINITY);
        whole + usize::from(number >= place(whole)) + usize::from(number >= place(whole + 1))
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
        for places in lists {
            let Some(guess) = Guess::of(&places) else { continue };
            let near = |place: &f64| [place.next_down(), *place, place.next_up(), place + 0.3];
            let far = [f64::NEG_INFINITY, f64::MIN, -0.0, f64::MAX, f64::INFINITY];
            for number in places.iter().flat_map(near).chain(far) {
                let count = places.partition_point(|place| *place <= number);
                assert_eq!(counted(&guess, &places, number), count, "{number:e} {guess:?}");
            }
        }
    }

    /// The lists that people ask with have a guess; lists that it would be wrong for, or that are short, have none.
    #[test]
    fn uneven_lists_are_not_guessed() {
        let even: Vec<f64> = (0..=1000).map(|step| f64::from(step) / 100.0).collect();
        assert!(Guess::of(&even).is_some());
        let squares: Vec<f64> = (0..=1000).map(|step| f64::from(step * step)).collect();
        let twice: Vec<f64> = even.iter().flat_map(|place| [*place, *place]).collect();
        let moved: Vec<f64> =
            even.iter().map(|place| if *place > 5.0 { place + 0.05 } else { *place }).collect();
        let endless: Vec<f64> = even.iter().map(|place| (place - 5.0) * 3e307).collect();
        for list in [&squares, &twice, &moved, &endless, &even[..20].to_vec(), &Vec::new()] {
            assert!(Guess::of(list).is_none());
        }
    }
}

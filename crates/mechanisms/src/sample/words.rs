//! Fair random words from the operating system.

use crate::error::Error;
use std::slice::Iter;

/// Sixteen fair bytes.
type Word = [u8; 16];

/// More words than any sampler takes at once: two whole numbers of 88 digits, and a few more.
const MOST: usize = 192;

/// The words of one draw, in order.
#[derive(Clone)]
pub(super) struct RandomWords<'a>(Iter<'a, Word>);

impl RandomWords<'_> {
    pub(super) fn next(&mut self) -> Result<u128, Error> {
        let word =
            self.0.next().ok_or_else(|| failed("a sampler took more words than it asked for"))?;
        Ok(u128::from_le_bytes(*word))
    }

    pub(super) fn pair(&mut self) -> Result<[u128; 2], Error> {
        Ok([self.next()?, self.next()?])
    }
}

/// Draws `count` words with one call to the generator, and passes them to `run`.
pub(super) fn with<T>(
    count: usize,
    run: impl FnOnce(RandomWords<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut words = [[0; 16]; MOST];
    let words =
        words.get_mut(..count).ok_or_else(|| failed("a sampler asked for too many words"))?;
    fill(words)?;
    run(RandomWords(words.iter()))
}

/// One more word, to decide a draw that the first words left open.
pub(super) fn more() -> Result<u128, Error> {
    with(1, |mut words| words.next())
}

/// Fills the words from the operating system's generator, whose state a forked process does not share.
fn fill(words: &mut [Word]) -> Result<(), Error> {
    #[cfg(test)]
    if let Some(result) = script::fill(words) {
        return result;
    }
    getrandom::fill(words.as_flattened_mut()).map_err(|error| failed(&error.to_string()))
}

fn failed(reason: &str) -> Error {
    Error::Randomness { reason: reason.into() }
}

/// Counts a multiplication, a comparison or a selection, in tests.
#[inline(always)]
pub(super) fn step() {
    #[cfg(test)]
    script::step();
}

/// Scripted words for tests, and a count of the words used.
#[cfg(test)]
pub(crate) mod script {
    use super::{Word, failed};
    use crate::error::Error;
    use std::cell::{Cell, RefCell};
    use std::collections::VecDeque;

    /// The cost of a run.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) struct Cost {
        pub(crate) calls: u64,
        pub(crate) words: u64,
        pub(crate) steps: u64,
    }

    type Source = Box<dyn FnMut() -> Option<u128>>;

    thread_local! {
        static SOURCE: RefCell<Option<Source>> = const { RefCell::new(None) };
        static COST: Cell<Cost> = const { Cell::new(Cost { calls: 0, words: 0, steps: 0 }) };
    }

    /// Runs with words from this source and returns their cost; when the source is empty, randomness fails.
    pub(crate) fn with<T>(
        source: impl FnMut() -> Option<u128> + 'static,
        run: impl FnOnce() -> T,
    ) -> (T, Cost) {
        SOURCE.set(Some(Box::new(source)));
        COST.set(Cost::default());
        let result = run();
        SOURCE.set(None);
        (result, COST.get())
    }

    /// Runs with exactly these words.
    pub(crate) fn of<T>(words: &[u128], run: impl FnOnce() -> T) -> (T, Cost) {
        let mut words: VecDeque<u128> = words.iter().copied().collect();
        with(move || words.pop_front(), run)
    }

    /// Runs with pseudorandom words that depend on the seed only.
    pub(crate) fn seeded<T>(seed: u64, run: impl FnOnce() -> T) -> (T, Cost) {
        let mut random = counterpoint_testing::Random::new(seed);
        with(move || Some((u128::from(random.bits()) << 64) + u128::from(random.bits())), run)
    }

    pub(super) fn fill(words: &mut [Word]) -> Option<Result<(), Error>> {
        let mut cost = COST.get();
        cost.calls += 1;
        cost.words += words.len() as u64;
        COST.set(cost);
        SOURCE.with_borrow_mut(|source| {
            let source = source.as_mut()?;
            Some(words.iter_mut().try_for_each(|place| {
                *place = source().ok_or_else(|| failed("the words have ended"))?.to_le_bytes();
                Ok(())
            }))
        })
    }

    pub(super) fn step() {
        let mut cost = COST.get();
        cost.steps += 1;
        COST.set(cost);
    }
}

//! The one place where chance enters: exact samplers over fair words, which take the same number of
//! words and of steps whatever they draw. What a sampler decides it decides by comparing a uniform number
//! with a real one, of which it has a bracket. Once in 2^100 draws, or less often, the bits drawn so far
//! leave that open; then more bits of the same number are drawn.

mod words;
mod whole;
mod big;
mod coin;
mod fraction;
mod uniform;
mod geometric;
mod gaussian;
mod staircase;
mod response;
mod weights;

#[cfg(test)]
mod tests;

pub(crate) use gaussian::Gaussian;
pub(crate) use geometric::Geometric;
pub(crate) use response::{Response, Told};
pub(crate) use staircase::Staircase;
pub(crate) use weights::Weights;
pub(crate) use whole::Whole;

use crate::error::Error;

/// Masses proportional to e^(-|x| / scale) on the whole numbers.
pub(crate) fn laplace(law: &Geometric) -> Result<Whole, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(Whole::Small);
    }
    words::with(2 * law.words(), |mut words| geometric::laplace(law, &mut words))
}

/// Masses proportional to e^(-x^2 / 2 sigma^2) on the whole numbers.
pub(crate) fn gaussian(law: &Gaussian) -> Result<Whole, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(Whole::Small);
    }
    law.draw()
}

/// Masses proportional to e^(-epsilon level) on the whole numbers.
pub(crate) fn staircase(law: &Staircase) -> Result<Whole, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(Whole::Small);
    }
    law.draw()
}

/// Whether to tell the truth, and what else to say.
pub(crate) fn response(law: &Response) -> Result<Told, Error> {
    #[cfg(test)]
    if let Some(leaked) = script::next() {
        let next = || script::next().unwrap_or(Ok(0));
        return Ok(Told { leaked: leaked? as u64, truth: next()? as u64, other: next()? as u64 });
    }
    law.draw()
}

/// A place in the list, with the weight of its score.
pub(crate) fn choose(law: &Weights, scores: &[i64]) -> Result<usize, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(|next| next as usize);
    }
    law.draw(scores)
}

/// 128 fair bits.
pub(crate) fn bits() -> Result<u128, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(|next| next as u128);
    }
    words::more()
}

/// Thirty-two secret bytes, from the same source as all noise: a key for
/// [`Data::of_people`](crate::Data::of_people), or what makes the hash of a secret useless for
/// guessing it.
///
/// # Errors
/// [`Error::Randomness`] if there is none to be had.
pub fn secret() -> Result<[u8; 32], Error> {
    let (mut secret, halves) = ([0; 32], [bits()?, bits()?]);
    let bytes = halves.into_iter().flat_map(u128::to_be_bytes);
    secret.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    Ok(secret)
}

/// What the tests make the samplers return, thread by thread.
#[cfg(test)]
pub(crate) mod script {
    use crate::error::Error;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    thread_local! {
        static SCRIPT: RefCell<Option<VecDeque<i128>>> = const { RefCell::new(None) };
    }

    /// Runs with these draws in place of chance; when they run out, randomness fails.
    pub(crate) fn with<T>(draws: &[i128], run: impl FnOnce() -> T) -> T {
        SCRIPT.with(|script| *script.borrow_mut() = Some(draws.iter().copied().collect()));
        let result = run();
        SCRIPT.with(|script| *script.borrow_mut() = None);
        result
    }

    pub(super) fn next() -> Option<Result<i128, Error>> {
        let failure = || Error::Randomness { reason: "the script has ended".into() };
        SCRIPT.with(|script| {
            script.borrow_mut().as_mut().map(|draws| draws.pop_front().ok_or_else(failure))
        })
    }
}

/// Where data meet chance, as the tests see it: one draw for each number that noise is added to,
/// and for each choice.
#[cfg(test)]
pub(crate) mod watch {
    use crate::choice::Exponential;
    use crate::noise::Noise;
    use std::cell::RefCell;

    #[derive(Clone, Debug)]
    pub(crate) enum Seen {
        /// Noise is added to so many units.
        Added(i128, Noise),
        /// One of so many scores is chosen.
        Chosen(Vec<i64>, Exponential),
    }

    thread_local! {
        static WATCHED: RefCell<Option<(Vec<i128>, Vec<Seen>)>> = const { RefCell::new(None) };
    }

    /// Runs with these draws in place of noise and choices, over and over: the result, and all
    /// that was seen.
    pub(crate) fn with<T>(draws: &[i128], run: impl FnOnce() -> T) -> (T, Vec<Seen>) {
        WATCHED.replace(Some((draws.to_vec(), Vec::new())));
        let result = run();
        let seen = WATCHED.take().map(|(_, seen)| seen);
        (result, seen.unwrap_or_default())
    }

    /// Notes down what is seen, and says what is drawn.
    pub(crate) fn draw(seen: impl FnOnce() -> Seen) -> Option<i128> {
        WATCHED.with_borrow_mut(|watched| {
            let (draws, all) = watched.as_mut()?;
            let draw = draws.get(all.len() % draws.len()).copied();
            all.push(seen());
            draw
        })
    }
}

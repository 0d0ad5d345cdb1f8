//! Exact samplers over fair words, the only place where randomness enters. Each uses a number of words and steps that
//! does not depend on the result. A sampler decides by comparing a uniform number with a real number that it has a
//! bracket of. Once in 2^100 draws, or less often, the bits drawn so far leave the comparison open; then more bits of
//! the uniform number are drawn.

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
pub(crate) use response::{ResponseDraw, ResponseSampler};
pub(crate) use staircase::Staircase;
pub(crate) use weights::Weights;
pub(crate) use whole::WholeNumber;

use crate::error::Error;

/// Draws a whole number with mass proportional to e^(-|x| / scale).
pub(crate) fn laplace(law: &Geometric) -> Result<WholeNumber, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(WholeNumber::Small);
    }
    words::with(2 * law.words(), |mut words| geometric::laplace(law, &mut words))
}

/// Draws a whole number with mass proportional to e^(-x^2 / 2 sigma^2).
pub(crate) fn gaussian(law: &Gaussian) -> Result<WholeNumber, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(WholeNumber::Small);
    }
    law.draw()
}

/// Draws a whole number with mass proportional to e^(-epsilon level).
pub(crate) fn staircase(law: &Staircase) -> Result<WholeNumber, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(WholeNumber::Small);
    }
    law.draw()
}

/// Draws the random choices of a randomized response.
pub(crate) fn response(law: &ResponseSampler) -> Result<ResponseDraw, Error> {
    #[cfg(test)]
    if let Some(leaked) = script::next() {
        let next = || script::next().unwrap_or(Ok(0));
        return Ok(ResponseDraw {
            leaked: leaked? as u64,
            truth: next()? as u64,
            other: next()? as u64,
        });
    }
    law.draw()
}

/// Draws an index of the list, with the weight of its score.
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

/// Draws thirty-two secret bytes from the source of all noise: a key for [`Data::of_people`](crate::Data::of_people),
/// or a salt that makes the hash of a secret useless for guessing the secret.
///
/// # Errors
/// [`Error::Randomness`] if the source of randomness fails.
pub fn secret() -> Result<[u8; 32], Error> {
    let (mut secret, halves) = ([0; 32], [bits()?, bits()?]);
    let bytes = halves.into_iter().flat_map(u128::to_be_bytes);
    secret.iter_mut().zip(bytes).for_each(|(place, byte)| *place = byte);
    Ok(secret)
}

/// Scripted results of the samplers, for tests, per thread.
#[cfg(test)]
pub(crate) mod script {
    use crate::error::Error;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    thread_local! {
        static SCRIPT: RefCell<Option<VecDeque<i128>>> = const { RefCell::new(None) };
    }

    /// Runs with these draws instead of random ones; when the draws run out, randomness fails.
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

/// Recorded draws, for tests: one for each number that noise is added to, and one for each choice.
#[cfg(test)]
pub(crate) mod watch {
    use crate::choice::Exponential;
    use crate::noise::Noise;
    use std::cell::RefCell;

    #[derive(Clone, Debug)]
    pub(crate) enum Observation {
        /// Noise is added to a number of units.
        Added(i128, Noise),
        /// One of the scores is chosen.
        Chosen(Vec<i64>, Exponential),
    }

    thread_local! {
        static WATCHED: RefCell<Option<(Vec<i128>, Vec<Observation>)>> = const { RefCell::new(None) };
    }

    /// Runs with these draws, repeated, instead of noise and choices: returns the result and all observations.
    pub(crate) fn with<T>(draws: &[i128], run: impl FnOnce() -> T) -> (T, Vec<Observation>) {
        WATCHED.replace(Some((draws.to_vec(), Vec::new())));
        let result = run();
        let seen = WATCHED.take().map(|(_, seen)| seen);
        (result, seen.unwrap_or_default())
    }

    /// Records an observation and returns the next scripted draw.
    pub(crate) fn draw(seen: impl FnOnce() -> Observation) -> Option<i128> {
        WATCHED.with_borrow_mut(|watched| {
            let (draws, all) = watched.as_mut()?;
            let draw = draws.get(all.len() % draws.len()).copied();
            all.push(seen());
            draw
        })
    }
}

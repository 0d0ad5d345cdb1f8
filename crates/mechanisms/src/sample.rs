//! The one place where chance enters: exact samplers of the `opendp` crate, fed by OpenSSL's
//! generator for private values. The samplers take no generator, so tests script this seam.

use crate::error::Error;
use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;
use opendp::traits::samplers;

fn failed(error: opendp::error::Error) -> Error {
    Error::Randomness {
        reason: format!("{:?}: {}", error.variant, error.message.unwrap_or_default()),
    }
}

/// Masses proportional to e^(-|x| / scale) on the whole numbers.
pub(crate) fn laplace(scale: &RBig) -> Result<IBig, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(IBig::from);
    }
    samplers::sample_discrete_laplace(scale.clone()).map_err(failed)
}

/// Masses proportional to e^(-x^2 / 2 sigma^2) on the whole numbers.
pub(crate) fn gaussian(sigma: &RBig) -> Result<IBig, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(IBig::from);
    }
    samplers::sample_discrete_gaussian(sigma.clone()).map_err(failed)
}

/// Each of 0 to n-1 alike.
pub(crate) fn below(n: u64) -> Result<u64, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(|next| next as u64);
    }
    samplers::sample_uniform_uint_below::<u64, 8>(n.max(1)).map_err(failed)
}

/// True with a probability that is a ratio.
pub(crate) fn coin(probability: &RBig) -> Result<bool, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(|next| next != 0);
    }
    samplers::sample_bernoulli_rational(probability.clone()).map_err(failed)
}

/// 128 fair bits.
pub(crate) fn bits() -> Result<u128, Error> {
    #[cfg(test)]
    if let Some(next) = script::next() {
        return next.map(|next| next as u128);
    }
    samplers::sample_from_uniform_bytes::<u128, 16>().map_err(failed)
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

/// Masses proportional to e^(-x / scale) on 0, 1, 2, ...: that is what discrete Laplace noise
/// is where it is at least zero, and what -1 - noise is where it is not.
pub(crate) fn geometric(scale: &RBig) -> Result<IBig, Error> {
    let draw = laplace(scale)?;
    Ok(if draw < IBig::ZERO { -IBig::ONE - draw } else { draw })
}

/// True with probability p, where `bracket(n)` gives whole numbers around p 2^n. Compares p
/// with a uniform number, of which as many bits are drawn as it takes.
pub(crate) fn lazy(bracket: impl Fn(usize) -> Result<(UBig, UBig), Error>) -> Result<bool, Error> {
    let (mut drawn, mut length) = (UBig::ZERO, 0);
    loop {
        drawn = (drawn << 128) + UBig::from(bits()?);
        length += 128;
        let (low, high) = bracket(length)?;
        if drawn < low {
            return Ok(true);
        }
        if drawn >= high {
            return Ok(false);
        }
    }
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

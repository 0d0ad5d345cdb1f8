//! Random words for samples, which are shown and protect nothing, and the choices of a random adversary.

use counterpoint_papers::interactive::Turn;

/// Steele, Lea and Flood's generator. No secret rests on it, and the same seed gives the same samples.
pub(super) struct SampleWords(pub(super) u64);

impl SampleWords {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.0)
    }
}

fn mixed(word: u64) -> u64 {
    let z = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the next query of an adversary, which is given by a number: a system and a query. It depends on the history
/// and on nothing else.
pub(super) fn ask(number: u64, turns: &[Turn], open: &[usize]) -> Option<(usize, usize)> {
    let all = || {
        let each = open.iter().enumerate();
        each.flat_map(|(system, &queries)| (0..queries).map(move |query| (system, query)))
    };
    let word = turns.iter().fold(mixed(number), |word, turn| {
        let parts = [turn.system, turn.query, turn.answer];
        parts.into_iter().fold(word, |word, part| mixed(word ^ (part as u64).wrapping_add(1)))
    });
    let count = all().count() as u64;
    (count > 0).then(|| all().nth((word % count) as usize)).flatten()
}

//! Words for samples that are shown and protect nothing, and who asks.

use counterpoint_papers::interactive::Turn;

/// Steele, Lea and Flood's generator: no secret rests on it, and the same seed gives the same samples.
pub(super) struct Words(pub(super) u64);

impl Words {
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

/// An adversary by number: which system is asked what next depends on all that was said, and on nothing else.
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

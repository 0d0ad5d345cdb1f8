//! Draws from distributions whose probabilities are exact fractions. The caller supplies the random words.

use counterpoint_numerics::fractions::Ratio;

/// The largest number of words. If these do not decide, the number is taken to end with their bits; this happens with a
/// chance of about 1 in 2^4096.
const MOST_WORDS: usize = 64;

/// Draws an index with these probabilities. The probabilities divide the range from 0 to 1 into intervals, and the
/// index is that of the interval that contains a uniform number. The bits of this number come in words, as many as are
/// needed to decide; one word is nearly always enough. With uniformly random words, the indices have exactly these
/// probabilities.
///
/// ```
/// use counterpoint_papers::pair::draw;
///
/// let thirds = ["1/3".parse()?, "2/3".parse()?];
/// // In binary, a third is 0.0101..., so the first word does not decide and the second does.
/// let mut words = [0x5555_5555_5555_5555, u64::MAX].into_iter();
/// assert_eq!(draw(&thirds, &mut || words.next().unwrap_or(0)), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn draw(row: &[Ratio], words: &mut dyn FnMut() -> u64) -> usize {
    let step = Ratio::ONE / Ratio::from(1_u128 << 64);
    let (mut low, mut width, mut place) = (Ratio::ZERO, Ratio::ONE, 0);
    for _ in 0..MOST_WORDS {
        width *= &step;
        low += &width * Ratio::from(words());
        let end;
        (place, end) = at(row, &low);
        if &low + &width <= end {
            break;
        }
    }
    place
}

/// Returns the index of the interval that contains a number, and the interval's end.
fn at(row: &[Ratio], number: &Ratio) -> (usize, Ratio) {
    let mut end = Ratio::ZERO;
    for (place, probability) in row.iter().enumerate() {
        end += probability;
        if *number < end {
            return (place, end);
        }
    }
    (row.len().saturating_sub(1), Ratio::ONE)
}

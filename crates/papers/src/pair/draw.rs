//! Drawing from probabilities that are fractions, with words that somebody else draws.

use counterpoint_numerics::fractions::Ratio;

/// After so many words the place is taken that the number's first bits are in: a chance in 2^4096.
const MOST_WORDS: usize = 64;

/// Which of a list of probabilities a uniform number between 0 and 1 falls to. Its bits come in words, as many as it
/// takes to tell: one is nearly always enough. With fair words the places have these very probabilities.
///
/// ```
/// use counterpoint_papers::pair::draw;
///
/// let thirds = ["1/3".parse()?, "2/3".parse()?];
/// // A third begins with 0101...: the second word tells.
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

/// The place that a number is in, and where that ends.
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

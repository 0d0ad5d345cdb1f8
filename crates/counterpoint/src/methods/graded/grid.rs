//! Grids that are uniform in each of many blocks.

use counterpoint_numerics::UNIT;

/// The number of blocks, of equally many outcomes.
const BLOCKS: usize = 256;
/// The part of a grid that a block needs to be significant.
const SIGNIFICANT: f64 = 1e-6;
/// The part of all cells that is shared out evenly to the significant blocks.
const EVEN: f64 = 0.3;
/// The largest number of cells of a block.
const MOST_PIECES: f64 = 65_536.0;
/// The width of a block must exceed this, so that its reciprocal is finite. Outcomes between two blocks go to the upper
/// one, which raises them.
const NARROWEST: f64 = 1e-250;
/// The bound on the rounding of a place, relative to the ends of its block: the reciprocal of a step, and the place.
const PLACE: f64 = 16.0 * UNIT;

/// Cells of equal widths.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) from: f64,
    pub(super) to: f64,
    /// The number of cells divided by the width of the block.
    pub(super) inverse: f64,
    pub(super) cells: f64,
    /// The index of the last cell in the block, and of the first cell in the grid.
    pub(super) most: usize,
    pub(super) first: usize,
}

/// Cells that cover a range of likelihood ratios, less one.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) blocks: Vec<Block>,
    pub(super) cells: usize,
}

impl Grid {
    /// A grid over sorted ratios, each with a weight. A block has cells in proportion to the cube root of its weight times
    /// the square of its width in loss: the error of a cell is its weight times the square of its width.
    #[allow(clippy::disallowed_methods)]
    pub(super) fn new(points: &[(f64, f64)], cells: f64) -> Self {
        let size = points.len().div_ceil(BLOCKS).max(1);
        let blocks = points.chunks(size).enumerate().filter_map(|(index, chunk)| {
            let from = chunk.first()?.0;
            let to = points.get((index + 1) * size).or(points.last())?.0;
            let weight: f64 = chunk.iter().map(|(_, weight)| weight).sum();
            let width = ((to - from) / (1.0 + from).max(1e-300)).ln_1p();
            (to - from > NARROWEST).then_some((from, to, (weight * width * width).cbrt()))
        });
        let blocks: Vec<(f64, f64, f64)> = blocks.collect();
        let sum: f64 = blocks.iter().map(|(_, _, share)| share).sum();
        let significant = |share: f64| if share > SIGNIFICANT * sum { 1.0 } else { 0.0 };
        let even: f64 = blocks.iter().map(|(_, _, share)| significant(*share)).sum();
        let mut grid = Self { blocks: Vec::with_capacity(blocks.len()), cells: 0 };
        for (from, to, share) in blocks {
            let share = (1.0 - EVEN) * share / sum + EVEN * significant(share) / even;
            // Without weights the shares are no numbers, and each block has one cell.
            let pieces = if share > 0.0 { (cells * share).ceil() } else { 1.0 }.min(MOST_PIECES);
            let inverse = pieces / (to - from);
            let most = pieces as usize - 1;
            grid.blocks.push(Block { from, to, inverse, cells: pieces, most, first: grid.cells });
            grid.cells += most + 1;
        }
        grid
    }

    /// The ends of all cells, rounded up so far that an outcome between two of them has, spread over both, at least its
    /// own ratio.
    pub(super) fn places(&self) -> Vec<f64> {
        let mut places = Vec::with_capacity(self.cells + 1);
        for block in &self.blocks {
            let step = (block.to - block.from) / block.cells;
            let slack = PLACE * block.from.abs().max(block.to.abs());
            places.extend((0..=block.most).map(|cell| block.from + step * cell as f64 + slack));
        }
        places.extend(self.blocks.last().map(|block| block.to + PLACE * block.to.abs()));
        places
    }
}

//! What is added up for a sum: a whole number for each record.

use super::{Bounds, Kind, Query, cut};
use crate::error::Error;
use crate::grid::Grid;
use counterpoint::{Adjacency, Relation};
use std::ops::Range;
use std::sync::Arc;

/// A whole number for each record, from one fixed number to another, of a unit that is a 2^shift-th part of a grid
/// step; their sum is rounded to the grid once.
///
/// Whoever adds up elsewhere, in a database say, adds for each record [`Summand::of`] it, as a number of
/// [`Summand::unit`]s rounded to a whole one, cut to [`Summand::ends`]. How it is rounded is no matter of privacy,
/// the cut is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summand {
    of: Of,
    /// One column for each of the bounds; that of ones is no matter.
    columns: [usize; 2],
    grid: Grid,
    fine: Grid,
    shift: u32,
    low: i64,
    high: i64,
}

/// What one record adds has this many bits, unless it is one: rounding a million of them is not felt.
const BITS: i32 = 40;

/// A grid step is at most 2^100 units, so that half of one can be added to any sum.
const MOST_SHIFT: i32 = 100;

/// What is added up.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Of {
    /// One for each number within bounds, or for each.
    Ones(Option<Bounds>),
    /// The clamped number.
    Values(Bounds),
    /// Its distance from the middle of the bounds.
    Offsets(Bounds),
    /// The square of that.
    Squares(Bounds),
    /// One half for each number within bounds, and minus one half for each other.
    Sides(Bounds),
    /// The product of the distances of two columns' numbers.
    Products(Bounds, Bounds),
}

impl Of {
    /// The least and the greatest number that can be added.
    pub(crate) fn range(self) -> (f64, f64) {
        match self {
            Self::Ones(_) => (0.0, 1.0),
            Self::Values(bounds) => (bounds.low, bounds.high),
            Self::Offsets(bounds) => (-bounds.half(), bounds.half()),
            Self::Squares(bounds) => (0.0, bounds.half() * bounds.half()),
            Self::Sides(_) => (-0.5, 0.5),
            Self::Products(x, y) => (-x.half() * y.half(), x.half() * y.half()),
        }
    }

    /// How far one person's records move the sum; see [`Summand::sensitivity`].
    pub(crate) fn reach(self, relation: Relation) -> f64 {
        let (low, high) = self.range();
        let one = match relation.adjacency() {
            Adjacency::AddRemove => low.abs().max(high.abs()),
            Adjacency::Replace if relation.is_length_public() => high - low,
            Adjacency::Replace => high.max(0.0) - low.min(0.0),
        };
        one * relation.records() as f64
    }
}

impl Summand {
    /// Of the first column.
    pub(crate) fn new(of: Of, grid: Grid) -> Self {
        Self::at(of, [0, 0], grid)
    }

    /// Of one column, named twice, or of two.
    pub(crate) fn at(of: Of, columns: [usize; 2], grid: Grid) -> Self {
        let (low, high) = of.range();
        let bits = if matches!(of, Of::Ones(_) | Of::Sides(_)) { 0 } else { BITS };
        let (fine, shift) = grid.refined(low.abs().max(high.abs()), bits, MOST_SHIFT);
        Self { of, columns, grid, fine, shift, low: fine.units(low), high: fine.units(high) }
    }

    /// A count's or a sum's.
    pub(crate) fn of_query(query: &Query, grid: Grid) -> Result<Self, Error> {
        match query.kind {
            Kind::Count(within) => Ok(Self::new(Of::Ones(within), grid)),
            Kind::Sum(bounds) => Ok(Self::new(Of::Values(bounds), grid)),
            _ => Err(Error::Question { legal: "counts and sums" }),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    /// How many grid steps one person moves the rounded sum, at least one: as many as cover the
    /// units that the sum moves by. Who has several records may be replaced by someone with
    /// fewer: what one of them adds, another need not take away.
    pub(crate) fn sensitivity(&self, relation: Relation) -> u64 {
        let one = match relation.adjacency() {
            Adjacency::AddRemove => self.low.unsigned_abs().max(self.high.unsigned_abs()),
            Adjacency::Replace if relation.is_length_public() => self.high.abs_diff(self.low),
            Adjacency::Replace => self.high.max(0).abs_diff(self.low.min(0)),
        };
        let units = u128::from(one) * u128::from(relation.records());
        let steps = units.div_ceil(1 << self.shift);
        u64::try_from(steps).unwrap_or(u64::MAX).max(1)
    }

    /// How many grid steps cover what one record adds, upward and downward.
    pub(crate) fn steps_of_one(&self) -> [u64; 2] {
        [self.high, self.low.saturating_neg()].map(|units| {
            let units = u128::from(units.max(0).unsigned_abs());
            u64::try_from(units.div_ceil(1 << self.shift)).unwrap_or(u64::MAX)
        })
    }

    /// What is added up.
    #[must_use]
    pub fn of(&self) -> Of {
        self.of
    }

    /// The columns that it is of, from 0: for products the first and the second factor's, else the same twice.
    #[must_use]
    pub fn columns(&self) -> [usize; 2] {
        self.columns
    }

    /// What a whole number is one of.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.fine.step()
    }

    /// The least and the greatest whole number that a record adds.
    #[must_use]
    pub fn ends(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// A sum of units in grid steps, rounded as [`Grid::units`] rounds: at most 2^63 records of at most 2^62 units.
    pub(crate) fn rounded(&self, units: i128) -> i128 {
        let half = (1_i128 << self.shift) >> 1;
        units.saturating_add(half) >> self.shift
    }

    /// The sum over records, in grid steps.
    pub(crate) fn steps(&self, data: &[f64]) -> i128 {
        self.rounded(self.sum(data))
    }

    /// The sum over records, in units: exact, and so whatever their order.
    pub(crate) fn sum(&self, data: &[f64]) -> i128 {
        match self.of {
            Of::Ones(None) => data.len() as i128 * i128::from(self.high),
            Of::Ones(Some(bounds)) => within(bounds, data) * i128::from(self.high),
            Of::Sides(bounds) => {
                let within = within(bounds, data);
                let others = data.len() as i128 - within;
                within * i128::from(self.high) + others * i128::from(self.low)
            }
            Of::Values(bounds) => self.sum_of(data, |x| bounds.clamp(x)),
            Of::Offsets(bounds) => {
                let center = bounds.center();
                self.sum_of(data, |x| bounds.clamp(x) - center)
            }
            Of::Squares(bounds) => {
                let center = bounds.center();
                self.sum_of(data, |x| (bounds.clamp(x) - center) * (bounds.clamp(x) - center))
            }
            // Of one column twice.
            Of::Products(..) => self.sum_of_products(data, data),
        }
    }

    /// The same over some rows of the columns that it is of. Nothing for columns that there are none of.
    pub(crate) fn sum_in(&self, columns: &[Arc<[f64]>], rows: Range<usize>) -> i128 {
        let column = |place: usize| columns.get(place).and_then(|column| column.get(rows.clone()));
        let [first, second] = self.columns.map(|place| column(place).unwrap_or_default());
        match self.of {
            Of::Products(..) => self.sum_of_products(first, second),
            _ => self.sum(first),
        }
    }

    fn sum_of_products(&self, first: &[f64], second: &[f64]) -> i128 {
        let Of::Products(x, y) = self.of else { return 0 };
        let centers = (x.center(), y.center());
        let product = |(&a, &b): (&f64, &f64)| (x.clamp(a) - centers.0) * (y.clamp(b) - centers.1);
        let products: Vec<f64> = first.iter().zip(second).map(product).collect();
        self.sum_of(&products, |product| product)
    }

    /// Whole numbers add up exactly in doubles as long as no sum is beyond 2^53: so many records at a time, and
    /// several sums side by side.
    fn sum_of(&self, data: &[f64], value: impl Fn(f64) -> f64) -> i128 {
        const LANES: usize = 8;
        let most = self.low.unsigned_abs().max(self.high.unsigned_abs()).max(1);
        let (scale, low, high) = (1.0 / self.unit(), self.low as f64, self.high as f64);
        if most > SMALL {
            let whole = |&x: &f64| i128::from(self.fine.units(value(x)).clamp(self.low, self.high));
            return data.iter().map(whole).sum();
        }
        let whole = |x: f64| half_up(cut(value(x) * scale, low, high));
        let block = |block: &[f64]| {
            let (lanes, rest) = block.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for lane in lanes {
                sums.iter_mut().zip(lane).for_each(|(sum, &x)| *sum += whole(x));
            }
            let rest = rest.iter().map(|&x| whole(x));
            sums.into_iter().chain(rest).map(|sum| i128::from(sum as i64)).sum::<i128>()
        };
        data.chunks(((1 << 53) / most) as usize).map(block).sum()
    }
}

/// How many numbers are within bounds.
fn within(Bounds { low, high }: Bounds, data: &[f64]) -> i128 {
    data.iter().map(|&x| u64::from((low <= x) & (x <= high))).sum::<u64>().into()
}

/// The largest whole numbers that are added in doubles.
const SMALL: u64 = 1 << 42;

/// floor(x + 1/2) of numbers up to 2^51: to the nearest whole number, halves to an even one, by adding so much that
/// there is no place for more; then half-way upward. Every step but the first is exact.
fn half_up(x: f64) -> f64 {
    const MUCH: f64 = 1.5 * (1_u64 << 52) as f64;
    let near = (x + MUCH) - MUCH;
    near + if x - near >= 0.5 { 1.0 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;

    /// Numbers at and next to halves, of every size.
    fn awkward(random: &mut Random) -> f64 {
        let size = 2.0_f64.powi(random.between(0, 60) as i32 - 15);
        let whole = (random.unit() * size).floor() + [0.0, 0.5, 0.25][random.below(3) as usize];
        let next = [whole, whole.next_up(), whole.next_down()][random.below(3) as usize];
        if random.below(2) == 0 { next } else { -next }
    }

    #[test]
    fn halves_go_upward() {
        let mut random = Random::new(7);
        for _ in 0..100_000 {
            let x = cut(awkward(&mut random), -(2.0_f64.powi(42)), 2.0_f64.powi(42));
            assert_eq!(half_up(x) as i64, Grid::WHOLE.units(x), "{x:e}");
        }
        assert_eq!(
            [-1.5, -0.5, 0.5, 1.5, 0.499_999_999_999_999_94].map(|x| half_up(x) as i64),
            [-1, 0, 1, 2, 0]
        );
    }

    /// Record by record in whole numbers, as the unit and the ends say.
    #[test]
    fn sums_are_those_of_the_units() {
        let mut random = Random::new(11);
        for round in 0..200 {
            let low = awkward(&mut random);
            let Ok(bounds) = Bounds::new(low, low + 1.0 + awkward(&mut random).abs()) else {
                continue;
            };
            let length = random.below(3_000) as usize;
            let mut data: Vec<f64> =
                (0..length).map(|_| low - 1.0 + 2.5 * random.unit() * bounds.half()).collect();
            data.extend([f64::NAN, f64::INFINITY, f64::NEG_INFINITY, bounds.low, bounds.high]);
            let grid = Grid::new(random.between(0, 60) as i32 - 50).unwrap();
            for of in [
                Of::Values(bounds),
                Of::Offsets(bounds),
                Of::Squares(bounds),
                Of::Ones(Some(bounds)),
                Of::Sides(bounds),
            ] {
                let summand = Summand::new(of, grid);
                let one = |&x: &f64| {
                    let x = if x.is_nan() { bounds.low } else { x.clamp(bounds.low, bounds.high) };
                    let offset = x - bounds.center();
                    let value = match of {
                        Of::Values(_) => x,
                        Of::Offsets(_) => offset,
                        _ => offset * offset,
                    };
                    let units =
                        (value / summand.unit()).clamp(-(2.0_f64.powi(62)), 2.0_f64.powi(62));
                    let floor = units.floor();
                    let near = floor as i64 + i64::from(units - floor >= 0.5);
                    i128::from(near.clamp(summand.low, summand.high))
                };
                let expected = match of {
                    Of::Ones(_) => {
                        let within = data.iter().filter(|&&x| bounds.low <= x && x <= bounds.high);
                        within.count() as i128 * i128::from(summand.high)
                    }
                    Of::Sides(_) => {
                        let inside = |x: &f64| bounds.low <= *x && *x <= bounds.high;
                        let side = |x| if inside(x) { summand.high } else { summand.low };
                        data.iter().map(|x| i128::from(side(x))).sum()
                    }
                    _ => data.iter().map(one).sum(),
                };
                assert_eq!(summand.sum(&data), expected, "{round}: {summand:?}");
                data.reverse();
                assert_eq!(summand.sum(&data), expected, "{round}: backwards");
            }
        }
    }
}

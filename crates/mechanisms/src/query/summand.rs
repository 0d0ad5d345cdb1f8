//! The whole number that a record adds to a sum.

use super::{Bounds, Query, QueryKind, cut};
use crate::error::Error;
use crate::grid::Grid;
use counterpoint::{Adjacency, Relation};
use std::ops::Range;
use std::sync::Arc;

/// A whole number for each record, between two fixed bounds, in units of 2^-shift grid steps. The sum of these numbers
/// is rounded to the grid once.
///
/// Code that adds up elsewhere, such as in a database, adds the [`Summand::term`] of each record, as a number of
/// [`Summand::unit`]s rounded to a whole number and clamped to [`Summand::ends`]. Privacy does not depend on the
/// rounding, but on the clamping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summand {
    term: Term,
    /// One column for each of the bounds; ignored for ones.
    columns: [usize; 2],
    grid: Grid,
    fine: Grid,
    shift: u32,
    low: i64,
    high: i64,
}

/// The number of bits of a record's summand, unless it is one: rounding a million of them is negligible.
const BITS: i32 = 40;

/// A grid step is at most 2^100 units, so that half a step can be added to any sum.
const MOST_SHIFT: i32 = 100;

/// The term that a record contributes to a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Term {
    /// One for each number within bounds, or for each number.
    Ones(Option<Bounds>),
    /// The clamped number.
    Values(Bounds),
    /// The clamped number's distance from the middle of the bounds.
    Offsets(Bounds),
    /// The square of that distance.
    Squares(Bounds),
    /// One half for each number within bounds, and minus one half for each other number.
    Sides(Bounds),
    /// The product of the distances of two columns' numbers from the middle of their bounds.
    Products(Bounds, Bounds),
}

impl Term {
    /// The least and the greatest value of the term.
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

    /// The sensitivity of the sum, before rounding; see [`Summand::sensitivity`].
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
    /// A summand of the first column.
    pub(crate) fn new(term: Term, grid: Grid) -> Self {
        Self::at(term, [0, 0], grid)
    }

    /// A summand of one column, given twice, or of two.
    pub(crate) fn at(term: Term, columns: [usize; 2], grid: Grid) -> Self {
        let (low, high) = term.range();
        let bits = if matches!(term, Term::Ones(_) | Term::Sides(_)) { 0 } else { BITS };
        let (fine, shift) = grid.refined(low.abs().max(high.abs()), bits, MOST_SHIFT);
        Self { term, columns, grid, fine, shift, low: fine.units(low), high: fine.units(high) }
    }

    /// The summand of a count or a sum.
    pub(crate) fn of_query(query: &Query, grid: Grid) -> Result<Self, Error> {
        match query.kind {
            QueryKind::Count(within) => Ok(Self::new(Term::Ones(within), grid)),
            QueryKind::Sum(bounds) => Ok(Self::new(Term::Values(bounds), grid)),
            _ => Err(Error::Question { legal: "counts and sums" }),
        }
    }

    pub(crate) fn grid(&self) -> Grid {
        self.grid
    }

    /// The sensitivity of the rounded sum in grid steps, at least one: the steps that cover the units by which the sum
    /// moves. A person with several records may be replaced by a person with fewer: a removed record need not be
    /// balanced by an added one.
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

    /// The grid steps that cover a record's summand, upward and downward.
    pub(crate) fn steps_of_one(&self) -> [u64; 2] {
        [self.high, self.low.saturating_neg()].map(|units| {
            let units = u128::from(units.max(0).unsigned_abs());
            u64::try_from(units.div_ceil(1 << self.shift)).unwrap_or(u64::MAX)
        })
    }

    /// The term that is added up.
    #[must_use]
    pub fn term(&self) -> Term {
        self.term
    }

    /// The columns, from 0: those of the first and the second factor for products, otherwise the same column twice.
    #[must_use]
    pub fn columns(&self) -> [usize; 2] {
        self.columns
    }

    /// The value of one unit.
    #[must_use]
    pub fn unit(&self) -> f64 {
        self.fine.step()
    }

    /// The least and the greatest whole number that a record adds.
    #[must_use]
    pub fn ends(&self) -> (i64, i64) {
        (self.low, self.high)
    }

    /// A sum of units in grid steps, rounded as [`Grid::units`] rounds, for at most 2^63 records of at most 2^62 units.
    pub(crate) fn rounded(&self, units: i128) -> i128 {
        let half = (1_i128 << self.shift) >> 1;
        units.saturating_add(half) >> self.shift
    }

    /// The sum over records, in grid steps.
    pub(crate) fn steps(&self, data: &[f64]) -> i128 {
        self.rounded(self.sum(data))
    }

    /// The sum over records, in units: exact, and therefore independent of their order.
    pub(crate) fn sum(&self, data: &[f64]) -> i128 {
        match self.term {
            Term::Ones(None) => data.len() as i128 * i128::from(self.high),
            Term::Ones(Some(bounds)) => within(bounds, data) * i128::from(self.high),
            Term::Sides(bounds) => {
                let within = within(bounds, data);
                let others = data.len() as i128 - within;
                within * i128::from(self.high) + others * i128::from(self.low)
            }
            Term::Values(bounds) => self.sum_of(data, |x| bounds.clamp(x)),
            Term::Offsets(bounds) => {
                let center = bounds.center();
                self.sum_of(data, |x| bounds.clamp(x) - center)
            }
            Term::Squares(bounds) => {
                let center = bounds.center();
                self.sum_of(data, |x| (bounds.clamp(x) - center) * (bounds.clamp(x) - center))
            }
            // A product needs two columns; with one column both factors are that column.
            Term::Products(..) => self.sum_of_products(data, data),
        }
    }

    /// The sum over some rows of this summand's columns; missing columns count as empty.
    pub(crate) fn sum_in(&self, columns: &[Arc<[f64]>], rows: Range<usize>) -> i128 {
        let column = |place: usize| columns.get(place).and_then(|column| column.get(rows.clone()));
        let [first, second] = self.columns.map(|place| column(place).unwrap_or_default());
        match self.term {
            Term::Products(..) => self.sum_of_products(first, second),
            _ => self.sum(first),
        }
    }

    fn sum_of_products(&self, first: &[f64], second: &[f64]) -> i128 {
        let Term::Products(x, y) = self.term else { return 0 };
        let centers = (x.center(), y.center());
        let product = |(&a, &b): (&f64, &f64)| (x.clamp(a) - centers.0) * (y.clamp(b) - centers.1);
        let products: Vec<f64> = first.iter().zip(second).map(product).collect();
        self.sum_of(&products, |product| product)
    }

    /// Whole numbers add up exactly in doubles while no sum exceeds 2^53. Adds blocks of that many records, in several
    /// parallel sums.
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

/// The number of values within bounds.
fn within(Bounds { low, high }: Bounds, data: &[f64]) -> i128 {
    data.iter().map(|&x| u64::from((low <= x) & (x <= high))).sum::<u64>().into()
}

/// The largest whole numbers that are added in doubles.
const SMALL: u64 = 1 << 42;

/// floor(x + 1/2) for numbers up to 2^51. Adding a large number rounds to the nearest whole number, halves to even;
/// then halves are corrected upward. Every step except the first is exact.
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

    /// Compared with whole numbers record by record, by the unit and the ends.
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
            for term in [
                Term::Values(bounds),
                Term::Offsets(bounds),
                Term::Squares(bounds),
                Term::Ones(Some(bounds)),
                Term::Sides(bounds),
            ] {
                let summand = Summand::new(term, grid);
                let one = |&x: &f64| {
                    let x = if x.is_nan() { bounds.low } else { x.clamp(bounds.low, bounds.high) };
                    let offset = x - bounds.center();
                    let value = match term {
                        Term::Values(_) => x,
                        Term::Offsets(_) => offset,
                        _ => offset * offset,
                    };
                    let units =
                        (value / summand.unit()).clamp(-(2.0_f64.powi(62)), 2.0_f64.powi(62));
                    let floor = units.floor();
                    let near = floor as i64 + i64::from(units - floor >= 0.5);
                    i128::from(near.clamp(summand.low, summand.high))
                };
                let expected = match term {
                    Term::Ones(_) => {
                        let within = data.iter().filter(|&&x| bounds.low <= x && x <= bounds.high);
                        within.count() as i128 * i128::from(summand.high)
                    }
                    Term::Sides(_) => {
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

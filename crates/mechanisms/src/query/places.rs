//! The position of numbers among sorted places.

/// Sorted places, with a table of equal cells over them: a number's cell determines the few places that it may lie
/// among.
pub(super) struct SortedPlaces<'a> {
    list: &'a [f64],
    first: f64,
    /// Cells per unit.
    scale: f64,
    /// For each cell, the number of places in earlier cells; finally, the number of all places.
    before: Vec<usize>,
}

/// The number of cells per place; most cells then have no place.
const CELLS: usize = 4;

impl<'a> SortedPlaces<'a> {
    /// Prepares to locate `numbers` numbers; there are no more cells than numbers.
    pub(super) fn new(list: &'a [f64], numbers: usize) -> Self {
        let first = list.first().copied().unwrap_or(0.0);
        let width = list.last().copied().unwrap_or(0.0) - first;
        let cells = (CELLS * list.len()).min(numbers).max(1);
        let scale = cells as f64 / width;
        // One cell for all places if the scale is not finite.
        let scale = if scale.is_finite() && width.is_finite() { scale } else { 0.0 };
        let mut places = Self { list, first, scale, before: vec![0; cells + 1] };
        for place in list {
            let cell = places.cell(*place);
            if let Some(count) = places.before.get_mut(cell + 1) {
                *count += 1;
            }
        }
        let mut sum = 0;
        places.before.iter_mut().for_each(|count| {
            sum += *count;
            *count = sum;
        });
        places
    }

    /// The cell of a number; the first cell for NaN. It is monotone despite rounding: a place in an earlier cell is
    /// below the number, a place in a later cell above it.
    fn cell(&self, x: f64) -> usize {
        (((x - self.first) * self.scale) as usize).min(self.before.len() - 2)
    }

    /// The number of places that are at most x; none if x is NaN.
    pub(super) fn at_most(&self, x: f64) -> usize {
        let cell = self.cell(x);
        let (from, to) = match self.before.get(cell..cell + 2) {
            Some(&[from, to]) => (from, to),
            _ => (0, self.list.len()),
        };
        let near = self.list.get(from..to).unwrap_or_default();
        from + near.partition_point(|place| *place <= x)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;

    /// Compared with counting one by one: equal and unequal distances, numbers next to places, and NaN.
    #[test]
    fn as_many_as_there_are() {
        let mut random = Random::new(3);
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MIN, f64::MAX];
        for round in 0..300 {
            let length = 1 + random.below(40) as usize;
            let mut list: Vec<f64> = match round % 4 {
                0 => (0..length).map(|k| 0.1 * k as f64 - 1.0).collect(),
                1 => (0..length).map(|k| (k as f64 - 9.0).exp()).collect(),
                2 => (0..length).map(|_| random.unit()).collect(),
                _ => vec![f64::MIN, -1e-300, 0.0, 5e-324, 1.0, f64::MAX],
            };
            list.sort_by(f64::total_cmp);
            list.dedup();
            let places = SortedPlaces::new(&list, [0, 1, 7, 1000][random.below(4) as usize]);
            let near = list.iter().flat_map(|x| [*x, x.next_up(), x.next_down()]);
            let some: Vec<f64> = (0..50).map(|_| 4.0 * random.unit() - 2.0).collect();
            for x in near.chain(some).chain(odd) {
                let expected = list.iter().filter(|place| **place <= x).count();
                assert_eq!(places.at_most(x), expected, "{x} among {list:?}");
            }
        }
    }
}

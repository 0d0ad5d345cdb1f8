//! Counts below many edges, each from few noisy counts: the tree of Dwork, Naor, Pitassi and Rothblum (2010) and Chan,
//! Shi and Song (2011), without the nodes that no prefix needs.
//!
//! Gaps are numbered from 1, gap i being the one that ends at edge i. Node i is the count of the 2^z gaps that end with
//! gap i, 2^z being the largest power of two that divides i: one node for each edge, which is a left child of the
//! binary tree over the gaps (or its root). The prefix up to edge i is node i and the prefix before it, up to edge i -
//! 2^z: as many nodes as i has ones in binary. (This is Fenwick's tree.)

use counterpoint::Adjacency;

/// The largest power of two that divides a place.
fn width(place: usize) -> usize {
    place & place.wrapping_neg()
}

/// The largest number of nodes that one record moves, each by one, for k edges.
///
/// *Add/remove.* A record is in at most one node of each width 2^z, and such a node lies within the gaps only if 2^z <=
/// k: in at most l nodes, l being the number of binary digits of k. A record in the first gap is in all of them.
///
/// *Replace.* Let P = 2^(l-1) be the width of the widest node, which covers the first P gaps, and r the number of
/// binary digits of k - P. A node that contains the record both before and after does not move.
///
/// - From the first P gaps to the others, or back: at most l nodes on the one side and, by the same argument, r on the
///   other. Both are reached, in the first gaps of both.
/// - Within the first P gaps the widest node does not move. The same argument applies to its two halves of P/2 gaps: at
///   most l - 1 nodes in the first half, and l - 2 in the second, which is not a left child. The sum is 2l - 3, if l >=
///   2; within one half it is less.
/// - Within the others, of which there are fewer than P: at most 2r - 1 by the first two cases, less than l + r.
pub(super) fn moved(edges: u64, adjacency: Adjacency) -> u64 {
    let digits = |k: u64| u64::from(u64::BITS - k.leading_zeros());
    let all = digits(edges);
    match adjacency {
        Adjacency::AddRemove => all,
        Adjacency::Replace => {
            let others = digits(edges - (1 << all.saturating_sub(1)).min(edges));
            (all + others).max((2 * all).saturating_sub(3))
        }
    }
}

/// The largest number of nodes in a prefix: l if k is 2^l - 1, else one less, l being the number of binary digits of k.
pub(super) fn deepest(edges: u64) -> u32 {
    (edges + 1).ilog2()
}

/// The nodes' counts, from the gaps' counts.
pub(super) fn nodes(gaps: &[i128]) -> Vec<i128> {
    let mut nodes = gaps.to_vec();
    for place in 1..=nodes.len() {
        let count = nodes.get(place - 1).copied().unwrap_or_default();
        if let Some(wider) = nodes.get_mut(place + width(place) - 1) {
            *wider += count;
        }
    }
    nodes
}

/// The prefixes' counts, from the nodes' counts.
pub(super) fn sums(nodes: &[i128]) -> Vec<i128> {
    let mut sums: Vec<i128> = Vec::with_capacity(nodes.len());
    for (place, node) in (1..).zip(nodes) {
        let before = (place - width(place)).checked_sub(1).and_then(|before| sums.get(before));
        sums.push(node.saturating_add(before.copied().unwrap_or_default()));
    }
    sums
}

/// The nearest increasing list of numbers, in least squares: isotonic regression, by pooling adjacent violators.
///
/// It costs no privacy, since it uses the answers alone, and **never enlarges the greatest error**: it leaves
/// increasing lists unchanged, and does not enlarge the greatest difference of two lists. (Each number is the maximum,
/// over places up to it, of the minimum, over places from it on, of the means between the two; Robertson, Wright and
/// Dykstra 1988, Theorem 1.4.4. Means, maxima and minima do not enlarge the greatest difference.)
///
/// ```
/// use counterpoint_mechanisms::monotone;
///
/// assert_eq!(monotone(&[1.0, 4.0, 2.0, 7.0]), [1.0, 3.0, 3.0, 7.0]);
/// ```
#[must_use]
pub fn monotone(numbers: &[f64]) -> Vec<f64> {
    // Each pool's mean and number of numbers.
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &number in numbers {
        let mut last = (number, 1);
        while let Some(&(mean, count)) = pools.last().filter(|(mean, _)| *mean > last.0) {
            let share = last.1 as f64 / (count + last.1) as f64;
            last = (mean * (1.0 - share) + last.0 * share, count + last.1);
            pools.pop();
        }
        pools.push(last);
    }
    pools.into_iter().flat_map(|(mean, count)| std::iter::repeat_n(mean, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use counterpoint_testing::Random;

    /// The nodes that contain a gap, by checking all nodes.
    fn nodes_of(gap: usize, edges: usize) -> Vec<usize> {
        (1..=edges).filter(|i| (i - width(*i) + 1..=*i).contains(&gap)).collect()
    }

    /// For every pair of gaps, including the gap beyond the last edge.
    #[test]
    fn records_move_as_many_nodes_as_is_charged() {
        for edges in 1..=70_usize {
            let all: Vec<Vec<usize>> = (1..=edges + 1).map(|gap| nodes_of(gap, edges)).collect();
            let most = all.iter().map(Vec::len).max().unwrap() as u64;
            assert_eq!(moved(edges as u64, Adjacency::AddRemove), most, "{edges}");
            let differ = |one: &[usize], other: &[usize]| {
                let not_in =
                    |a: &[usize], b: &[usize]| a.iter().filter(|node| !b.contains(node)).count();
                (not_in(one, other) + not_in(other, one)) as u64
            };
            let pairs = all.iter().flat_map(|one| all.iter().map(move |other| differ(one, other)));
            let most = pairs.max().unwrap();
            assert_eq!(moved(edges as u64, Adjacency::Replace), most, "{edges}");
        }
        assert_eq!(moved(1_000_000, Adjacency::AddRemove), 20);
        assert_eq!(moved(1_000_000, Adjacency::Replace), 39);
    }

    #[test]
    fn prefixes_are_those_of_the_gaps() {
        let mut random = Random::new(5);
        for edges in 0..=70 {
            let gaps: Vec<i128> = (0..edges).map(|_| i128::from(random.below(100))).collect();
            let mut sum = 0;
            let plain: Vec<i128> = gaps
                .iter()
                .map(|gap| {
                    sum += gap;
                    sum
                })
                .collect();
            assert_eq!(sums(&nodes(&gaps)), plain);
            let ones = (1..=edges as u32).map(u32::count_ones).max().unwrap_or(0);
            assert_eq!(deepest(edges as u64), ones, "{edges}");
        }
        let odd = [i128::MAX, 1 << 64, 5];
        assert_eq!(sums(&odd).len(), 3);
    }

    /// Compared with the formula of maxima and minima of means, on short lists.
    #[test]
    fn nearest_numbers_that_do_not_fall() {
        let mut random = Random::new(6);
        for _ in 0..300 {
            let length = random.below(12) as usize;
            let list: Vec<f64> = (0..length).map(|_| (random.unit() * 8.0).floor()).collect();
            let mean = |a: usize, b: usize| list[a..=b].iter().sum::<f64>() / (b - a + 1) as f64;
            let found = monotone(&list);
            assert_eq!(found.len(), length);
            for i in 0..length {
                let least =
                    |a: usize| (i..length).map(|b| mean(a, b)).fold(f64::INFINITY, f64::min);
                let truth = (0..=i).map(least).fold(f64::NEG_INFINITY, f64::max);
                assert!((found[i] - truth).abs() < 1e-9, "{list:?}: {found:?}");
            }
            // The distance to an increasing list does not grow.
            let mut truth: Vec<f64> = (0..length).map(|_| random.unit() * 8.0).collect();
            truth.sort_by(f64::total_cmp);
            let off = |list: &[f64]| {
                list.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            assert!(off(&found) <= off(&list) + 1e-9);
            assert!(found.is_sorted() && monotone(&found) == found);
        }
        assert!(monotone(&[]).is_empty());
        assert_eq!(monotone(&[1.0, f64::INFINITY]).len(), 2);
    }
}

//! The pair that dominates the views of all adversaries of a system.

use super::System;
use crate::pair::{Pair, cross};
use counterpoint_numerics::fractions::Ratio;

/// A concave curve from (0, 0): its edges (p, q) in the order of falling ratios p/q.
type Curve = Vec<[Ratio; 2]>;

impl System {
    /// The pair whose profile is the largest that any adversary reaches, at every ratio and in both directions. It
    /// dominates the view of every adversary.
    ///
    /// The construction is L (19) at all ratios at once. A transcript is one edge (q, p) of a test curve. At a query,
    /// the edges of all answers' curves are joined end to end, in order. At a state, the result is the least concave
    /// curve above the curves of all queries.
    ///
    /// Interactive systems that run concurrently are dominated by the product of these pairs (Vadhan and Zhang 2023),
    /// which is never worse than optimal composition of the systems' (epsilon, delta) guarantees.
    ///
    /// ```
    /// use counterpoint_numerics::fractions::Ratio;
    /// use counterpoint_papers::interactive::{Answer, System};
    ///
    /// let ratio = |text: &str| text.parse::<Ratio>();
    /// let system = System::new(vec![
    ///     vec![Answer::last(ratio("1/2")?, ratio("1/4")?), Answer::last(ratio("1/2")?, ratio("3/4")?)],
    ///     vec![Answer::last(ratio("1/9")?, ratio("0")?), Answer::last(ratio("8/9")?, ratio("1")?)],
    /// ])?;
    /// let pair = system.dominating_pair();
    /// for x in ["1/2", "1", "3/2", "2", "5"] {
    ///     assert_eq!(pair.delta(&ratio(x)?), system.attack(&ratio(x)?).delta);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dominating_pair(&self) -> Pair {
        let masses = self.masses();
        let mut curves: Vec<Curve> = vec![Vec::new(); self.states.len()];
        for (index, state) in self.states.iter().enumerate().rev() {
            let asked = state.queries.iter().map(|query| {
                let edges =
                    query.iter().flat_map(|branch| std::mem::take(&mut curves[branch.next]));
                sort_edges(edges.collect())
            });
            let asked: Vec<Curve> = asked.collect();
            curves[index] =
                if asked.is_empty() { vec![masses[index].clone()] } else { envelope(&asked) };
        }
        Pair::of_outcomes(curves.swap_remove(0))
    }
}

/// Sorts the edges of all answers' curves by falling ratio. Joined end to end in this order, they are the curve of the
/// query.
fn sort_edges(edges: Vec<[Ratio; 2]>) -> Curve {
    let occurs = |[p, q]: &[Ratio; 2]| !(p.is_zero() && q.is_zero());
    let mut edges: Curve = edges.into_iter().filter(occurs).collect();
    edges.sort_by(|a, b| cross(b, a).cmp(&Ratio::ZERO));
    edges
}

/// Returns the least concave curve above curves with the same ends (Andrew's monotone chain).
fn envelope(curves: &[Curve]) -> Curve {
    let mut corners: Vec<[Ratio; 2]> = curves.iter().flat_map(corners).collect();
    corners.sort_by(|[p, q], [other_p, other_q]| q.cmp(other_q).then(p.cmp(other_p)));
    corners.dedup();
    let mut last = [Ratio::ZERO, Ratio::ZERO];
    let mut edges: Curve = Vec::new();
    for corner in corners {
        let mut edge = minus(&corner, &last);
        // An edge that is at least as steep as the edge before it is joined to that edge.
        while let Some(before) = edges.pop_if(|before| cross(before, &edge) <= Ratio::ZERO) {
            edge = [before[0].clone() + &edge[0], before[1].clone() + &edge[1]];
        }
        edges.push(edge);
        last = corner;
    }
    edges
}

/// The corners of a curve without its start.
fn corners(curve: &Curve) -> Vec<[Ratio; 2]> {
    let step = |at: &mut [Ratio; 2], [p, q]: &[Ratio; 2]| {
        *at = [&at[0] + p, &at[1] + q];
        Some(at.clone())
    };
    curve.iter().scan([Ratio::ZERO, Ratio::ZERO], step).collect()
}

fn minus(a: &[Ratio; 2], b: &[Ratio; 2]) -> [Ratio; 2] {
    [&a[0] - &b[0], &a[1] - &b[1]]
}

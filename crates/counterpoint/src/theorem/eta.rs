//! Murtagh and Vadhan's own approximation algorithm (MV Theorem 1.7), for comparison and
//! teaching.
//!
//! Every epsilon is rounded up to a multiple of eps_0 = ln(1 + beta). A dynamic program composes the multiples exactly
//! (Lemmas 5.1 and 5.2). The answer is the least multiple of eps_0 that satisfies the target. The code differs from the
//! paper in two ways: it fills the program's table once, not at every step of the binary search; and since the loss of
//! a subset is a function of its sum, one table of P masses serves for Q too.

use crate::ask::AskError;
use crate::composition::leak::{self, Remainder};
use crate::composition::{Factor, Plan};
use crate::methods::Route;
use crate::methods::responses::convolution::{self, Convolution};
use crate::methods::responses::lattice::{TiltedLattice, Weight};
use crate::methods::saddle::Cumulant;
use crate::quantity::{Delta, OutOfRangeError};
use crate::watch::Watch;
use counterpoint_numerics::{Dd, STEP, Wide};

/// The parameter of the algorithm: the additive error in epsilon, and twice the relative error in delta.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Eta(f64);

impl Eta {
    /// The legal range, in words.
    pub const LEGAL: &'static str = "a number above 0 and below 1";

    /// Checks the range.
    ///
    /// # Errors
    /// [`OutOfRangeError`] unless the number is strictly between 0 and 1.
    pub fn new(value: f64) -> Result<Self, OutOfRangeError> {
        if value > 0.0 && value < 1.0 {
            Ok(Self(value))
        } else {
            Err(OutOfRangeError { quantity: "eta", value, legal: Self::LEGAL })
        }
    }

    /// The number itself.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }
}

/// The largest number of multiplications of the dynamic program.
const MOST_WORK: f64 = 2e10;

/// Computes an epsilon between the optimum at delta and the optimum at `e^(-eta/2) delta` plus eta.
///
/// # Errors
/// [`AskError::RouteDoesNotApply`] unless the plan consists of (epsilon, delta) guarantees; [`AskError::BelowLeak`] if
/// no epsilon is finite; [`AskError::ToleranceNotMet`] if the table would be too large; [`AskError::Stopped`].
pub fn epsilon(plan: &Plan, delta: Delta, eta: Eta, watch: Watch<'_>) -> Result<f64, AskError> {
    let guarantees = plan.guarantees_or_error(Route::Convolution)?;
    let target = match leak::remainder(guarantees.leaks, delta.get()) {
        Remainder::Negative => return Err(AskError::below_leak(delta, guarantees.leaks)),
        Remainder::Zero => Wide::ZERO,
        Remainder::Positive(target) => target.lower,
    };
    let multiples = Multiples::new(&guarantees.factors, eta.0);
    let refusal = AskError::ToleranceNotMet { asked: eta.0, achieved: f64::INFINITY, best: None };
    if multiples.total > 1e9 {
        return Err(refusal);
    }
    let table = multiples.table(&target, watch, refusal)?;
    // Finds the least a with delta(a eps_0) within the target; the largest loss always satisfies it.
    let (mut low, mut high) = (-1_i64, multiples.total as i64);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if multiples.delta(&table, middle as f64) <= target {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok((multiples.unit * high as f64).upper())
}

/// The epsilons as multiples of a unit.
struct Multiples {
    /// eps_0 = ln(1 + beta), rounded up.
    unit: Dd,
    /// Each multiple and its count, by increasing multiple.
    list: Vec<(u64, u64)>,
    /// The sum of all multiples.
    total: f64,
}

struct MassTable {
    lattice: TiltedLattice,
    masses: Convolution,
}

impl Multiples {
    fn new(factors: &[Factor], eta: f64) -> Self {
        let count: f64 = factors.iter().map(|f| f.count as f64).sum();
        let sum: f64 = factors.iter().map(|f| f.count as f64 * f.each).sum();
        let beta = eta / (count + sum + 1.0);
        let unit = Dd::from(beta).ln_1p();
        let unit = unit + unit * (4.0 * STEP);
        let list: Vec<_> = factors
            .iter()
            .map(|f| ((f.each * (1.0 / beta + 1.0)).next_up().ceil() as u64, f.count))
            .collect();
        let total = list.iter().map(|&(a, n)| a as f64 * n as f64).sum();
        Self { unit, list, total }
    }

    /// Runs the dynamic program of Lemma 5.1 on masses that are tilted so that none underflows.
    fn table(
        &self,
        target: &Wide,
        watch: Watch<'_>,
        refusal: AskError,
    ) -> Result<MassTable, AskError> {
        let factors: Vec<Factor> = self
            .list
            .iter()
            .map(|&(a, count)| Factor { each: a as f64 * self.unit.hi, count })
            .collect();
        let ln_target = if target.is_positive() { target.ln_estimate() } else { -1e3 };
        let tilt = Cumulant::new(&factors).at_ln_delta(ln_target).tilt.min(1e3);
        let lattice = TiltedLattice::on_multiples(&self.list, self.unit, tilt * 2.0 * self.unit.hi);
        let most = (0.5 * self.total).floor();
        if convolution::work(&lattice, most) > MOST_WORK {
            return Err(refusal);
        }
        let masses = Convolution::new(&lattice, Weight::Profile, most as u64, &watch)?;
        Ok(MassTable { lattice, masses })
    }

    /// Returns an upper bound on the pure delta at a multiple of the unit (Lemma 5.2): only subsets T with a sum of at
    /// most B = floor((total - a)/2) contribute, and the loss is (total - 2 sum) eps_0.
    fn delta(&self, table: &MassTable, a: f64) -> Wide {
        let most = ((self.total - a) / 2.0).floor();
        if most < 0.0 {
            return Wide::ZERO;
        }
        let over = self.unit * (self.total - a - 2.0 * most);
        let (value, error) = table.masses.sum(most as u64, over.upper());
        let scale = table.lattice.scale * Wide::exp(Dd::product(table.lattice.tilt, most));
        let relative = table.lattice.error + STEP * (64.0 + table.lattice.tilt * most);
        scale * Wide::from(((value + error) * (1.0 + relative)).next_up().next_up())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Options;
    use crate::mechanism::Guarantee;
    use crate::quantity::Count;

    #[test]
    fn the_answer_lies_where_the_theorem_puts_it() {
        let releases = [(0.1, 0.0), (0.25, 1e-9), (0.03, 0.0), (0.5, 1e-8), (0.11, 0.0)];
        let plan = Plan::new(
            releases.map(|(e, d)| (Guarantee::new(e, d).unwrap(), Count::new(4).unwrap())),
        )
        .unwrap();
        for eta in [0.5, 0.1, 0.01] {
            for delta in [1e-2, 1e-6] {
                let at = |d: f64| plan.epsilon(Delta::new(d).unwrap(), &Options::default());
                let star = epsilon(
                    &plan,
                    Delta::new(delta).unwrap(),
                    Eta::new(eta).unwrap(),
                    Watch::none(),
                )
                .unwrap();
                let least = at(delta).unwrap().bracket.lower;
                let most = at((-eta / 2.0).exp() * delta).unwrap().bracket.upper + eta;
                assert!(least <= star && star <= most, "{least} {star} {most}");
            }
        }
    }
}

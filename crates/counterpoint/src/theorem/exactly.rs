//! The named theorems for guarantees in exact fractions: three tenths are at most 0.3.

use super::sums::{self, DeltaQuery, GuaranteeSums, SpareDelta};
use super::{Bound, InapplicableError, Theorem};
use crate::ask::PrecisePlan;
use crate::composition::leak::Remainder;
use crate::methods::precise::{self, PreciseGuarantee};
use counterpoint_numerics::fractions::{ExactError, Ratio, common_bits, to_wide};
use counterpoint_numerics::{Dd, Wide};

/// Deltas are added up exactly if their common denominator has at most this many bits.
const LONGEST: u128 = 1 << 20;
/// The least positive epsilon, as for doubles; smaller ones are rounded up to it.
const LEAST: f64 = 1e-100;

impl PrecisePlan {
    /// Returns the epsilons that theorems certify at a delta, rounded up.
    ///
    /// ```
    /// use counterpoint::ask::{PreciseGuarantee, PrecisePlan};
    /// use counterpoint::theorem::Theorem;
    ///
    /// let each = PreciseGuarantee { epsilon: "1".parse()?, delta: "1/10".parse()?, count: 3 };
    /// // Three tenths are within three tenths; three times the double next to 0.1 is more than the one next to 0.3.
    /// let bounds = PrecisePlan::new([each])?.compare(&"3/10".parse()?, &[Theorem::Basic])?;
    /// assert!(bounds[0].value.as_ref().is_ok_and(|epsilon| (3.0..3.0 + 1e-15).contains(epsilon)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExactError`] if the delta is not legal.
    pub fn compare(&self, delta: &Ratio, theorems: &[Theorem]) -> Result<Vec<Bound>, ExactError> {
        Self::check_delta(delta)?;
        let (list, sums) = (self.guarantees(), sums(self.guarantees()));
        let spare_delta =
            SpareDelta { spare: spare(list, &sums, delta), slack: slack(list, delta) };
        let bound =
            |&theorem| Bound { theorem, value: sums::epsilon(theorem, &sums, &spare_delta) };
        Ok(theorems.iter().map(bound).collect())
    }

    /// Returns the deltas that theorems certify at an epsilon, rounded up.
    ///
    /// # Errors
    /// [`ExactError`] if the epsilon is not legal.
    pub fn compare_delta(
        &self,
        epsilon: &Ratio,
        theorems: &[Theorem],
    ) -> Result<Vec<Bound>, ExactError> {
        Self::check_epsilon(epsilon)?;
        let (list, sums) = (self.guarantees(), &sums(self.guarantees()));
        let (leak, kept) = precise::leak_probabilities(list);
        let whole = |slack: Wide| (leak + kept * slack).upper(1e-20).min(1.0);
        let covers = precise::is_at_max(list, epsilon);
        let query = DeltaQuery { sums, epsilon: to_wide(epsilon).to_dd(), covers, whole: &whole };
        let bound = |&theorem| Bound { theorem, value: sums::delta(theorem, &query) };
        Ok(theorems.iter().map(bound).collect())
    }
}

/// Returns the sums, of numbers with 100 bits.
fn sums(list: &[PreciseGuarantee]) -> GuaranteeSums {
    let losses = list.iter().filter(|each| !each.epsilon.is_zero());
    let leaks = list.iter().filter(|each| !each.delta.is_zero());
    GuaranteeSums::of(
        losses.map(|each| {
            let epsilon = to_wide(&each.epsilon);
            let is_tiny = epsilon < Wide::from(LEAST);
            (if is_tiny { Dd::from(LEAST) } else { epsilon.to_dd() }, each.count)
        }),
        leaks.map(|each| (to_wide(&each.delta), each.count)),
    )
}

/// Returns the excess of a delta over the sum of the deltas, rounded down.
fn spare(
    list: &[PreciseGuarantee],
    sums: &GuaranteeSums,
    delta: &Ratio,
) -> Result<Wide, InapplicableError> {
    if common_bits(list.iter().map(|each| &each.delta), LONGEST) > LONGEST {
        return sums.spare(from_below(delta));
    }
    let sum =
        list.iter().fold(Ratio::ZERO, |sum, each| sum + &each.delta * Ratio::from(each.count));
    if sum > *delta { Err(sums.sum_error()) } else { Ok(from_below(&(delta - sum))) }
}

/// Returns the part of a delta that the leaks leave, rounded down; `None` if it is zero.
fn slack(list: &[PreciseGuarantee], delta: &Ratio) -> Result<Option<Wide>, InapplicableError> {
    match precise::remainder(list, delta) {
        Remainder::Negative => {
            Err(sums::leak_error(precise::leak_probabilities(list).0.upper(1e-20)))
        }
        Remainder::Zero => Ok(None),
        Remainder::Positive(target) => Ok(Some(target.lower)),
    }
}

fn from_below(number: &Ratio) -> Wide {
    if number.is_zero() { Wide::ZERO } else { to_wide(number) * Wide::from(Dd::sum(1.0, -1e-29)) }
}

//! The named theorems on guarantees whose numbers are fractions: three tenths are within 0.3.

use super::sums::{self, Asked, Room, Sums};
use super::{Bound, Inapplicable, Theorem};
use crate::ask::PrecisePlan;
use crate::composition::leak::Remainder;
use crate::methods::precise::{self, PreciseGuarantee};
use counterpoint_numerics::fractions::{ExactError, Ratio, common_bits, wide};
use counterpoint_numerics::{Dd, Wide};

/// Deltas with a longer common denominator are not added up exactly.
const LONGEST: u128 = 1 << 20;
/// The least epsilon that is told from zero, as it is of doubles.
const LEAST: f64 = 1e-100;

impl PrecisePlan {
    /// The epsilons that theorems certify at a delta, rounded up.
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
        let room = Room { spare: spare(list, &sums, delta), slack: slack(list, delta) };
        let bound = |&theorem| Bound { theorem, value: sums::epsilon(theorem, &sums, &room) };
        Ok(theorems.iter().map(bound).collect())
    }

    /// The deltas that theorems certify at an epsilon, rounded up.
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
        let (leak, kept) = precise::leaked(list);
        let whole = |slack: Wide| (leak + kept * slack).upper(1e-20).min(1.0);
        let covers = precise::is_at_the_top(list, epsilon);
        let asked = Asked { sums, epsilon: wide(epsilon).to_dd(), covers, whole: &whole };
        let bound = |&theorem| Bound { theorem, value: sums::delta(theorem, &asked) };
        Ok(theorems.iter().map(bound).collect())
    }
}

/// Of numbers to 100 bits.
fn sums(list: &[PreciseGuarantee]) -> Sums {
    let losses = list.iter().filter(|each| !each.epsilon.is_zero());
    let leaks = list.iter().filter(|each| !each.delta.is_zero());
    Sums::of(
        losses.map(|each| {
            let epsilon = wide(&each.epsilon);
            let is_tiny = epsilon < Wide::from(LEAST);
            (if is_tiny { Dd::from(LEAST) } else { epsilon.to_dd() }, each.count)
        }),
        leaks.map(|each| (wide(&each.delta), each.count)),
    )
}

/// What a delta leaves above the sum of the deltas, from below.
fn spare(list: &[PreciseGuarantee], sums: &Sums, delta: &Ratio) -> Result<Wide, Inapplicable> {
    if common_bits(list.iter().map(|each| &each.delta), LONGEST) > LONGEST {
        return sums.spare(from_below(delta));
    }
    let sum =
        list.iter().fold(Ratio::ZERO, |sum, each| sum + &each.delta * Ratio::from(each.count));
    if sum > *delta { Err(sums.add_up()) } else { Ok(from_below(&(delta - sum))) }
}

/// What a delta leaves once the leaks are paid, from below; `None` if nothing.
fn slack(list: &[PreciseGuarantee], delta: &Ratio) -> Result<Option<Wide>, Inapplicable> {
    match precise::remainder(list, delta) {
        Remainder::Negative => Err(sums::leaks_more(precise::leaked(list).0.upper(1e-20))),
        Remainder::Zero => Ok(None),
        Remainder::Positive(target) => Ok(Some(target.lower)),
    }
}

fn from_below(number: &Ratio) -> Wide {
    if number.is_zero() { Wide::ZERO } else { wide(number) * Wide::from(Dd::sum(1.0, -1e-29)) }
}

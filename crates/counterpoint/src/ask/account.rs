//! The losses of releases and plans as accounts use them: through bounds, never through their laws.

use super::Options;
use super::{Answer, AskError};
use crate::composition::{Composition, CountedLoss, Plan};
use crate::laws::{Direction, Law, Loss, quick_cumulant};
use crate::loss::{self, LossError, PairLoss};
use crate::mechanism::{Adjacency, Release};
use crate::methods::largest;
use crate::quantity::{Epsilon, GroupSize};
use counterpoint_numerics::Dd;

/// The privacy loss of one release, run once, in one direction.
#[derive(Clone, Debug)]
pub struct ReleaseLoss {
    pair_loss: PairLoss,
}

impl ReleaseLoss {
    /// The loss of a release for a group, ignoring its count.
    ///
    /// # Errors
    /// [`LossError`] if the release has no loss under the relation.
    pub fn new(
        release: &Release,
        direction: Direction,
        adjacency: Adjacency,
        group: GroupSize,
    ) -> Result<Self, LossError> {
        Ok(Self { pair_loss: loss::release_loss(release, direction, Some(adjacency), group)? })
    }

    fn law(&self) -> Option<&dyn Law> {
        self.pair_loss.loss.as_ref().map(Loss::law)
    }

    /// The probability of an infinite loss, rounded up.
    #[must_use]
    pub fn leak(&self) -> f64 {
        self.pair_loss.leak.1
    }

    /// True if the finite loss is known by its Rényi curve alone.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.pair_loss.curve.is_some()
    }

    /// True if the loss belongs to a sample of a fixed size, which has neither a largest loss nor a curve.
    #[must_use]
    pub fn is_of_fixed_sample(&self) -> bool {
        self.law().is_some_and(|law| !law.has_cumulant())
    }

    /// True if the finite loss is a list of atoms.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.law().is_some_and(Law::is_list)
    }

    /// True if the loss takes finitely many values and all of them are listed.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        !self.is_curve() && self.law().is_none_or(Law::is_finite)
    }

    /// True if the loss belongs to one pair of distributions. (A bounded range stands for all mechanisms within it.)
    #[must_use]
    pub fn is_of_one_pair(&self) -> bool {
        !self.is_curve() && !self.law().is_some_and(Law::is_class)
    }

    /// An upper bound on the finite loss; `None` if it is unbounded.
    #[must_use]
    pub fn largest(&self) -> Option<Dd> {
        match (&self.pair_loss.loss, &self.pair_loss.curve) {
            (_, Some(_)) => None,
            (None, None) => Some(Dd::ZERO),
            (Some(loss), None) => {
                let (value, error) =
                    largest::largest(&[CountedLoss { each: loss.clone(), count: 1 }])?;
                Some(value + error.into())
            }
        }
    }

    /// ln E[e^(t L)] of the finite loss, or the bound on it from the curve, with its absolute error: t times the Rényi
    /// divergence of order 1 + t. `None` where it is not known.
    #[must_use]
    pub fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        match (&self.pair_loss.loss, &self.pair_loss.curve) {
            (Some(loss), None) => quick_cumulant(loss.law(), t),
            (None, Some(curve)) => curve.bound(t),
            (None, None) => Some((Dd::ZERO, 0.0)),
            (Some(_), Some(_)) => None,
        }
    }

    /// The probability that [`ReleaseLoss::cumulant`] leaves out.
    #[must_use]
    pub fn omitted_mass(&self) -> f64 {
        self.law().map_or(0.0, |law| law.omitted_mass().mass)
    }
}

/// The privacy loss of a plan in one direction.
#[derive(Clone, Copy, Debug)]
pub struct DirectedLoss<'a> {
    whole: &'a Composition,
}

impl Plan {
    /// The loss in a direction. A plan whose two directions are equal has one loss for both.
    #[must_use]
    pub fn directed_loss(&self, direction: Direction) -> Option<DirectedLoss<'_>> {
        let found = self.compositions.iter().find(|whole| whole.direction == direction);
        found.or(self.compositions.first()).map(|whole| DirectedLoss { whole })
    }

    /// True if one loss stands for both directions and all parts of the data.
    #[must_use]
    pub fn has_one_loss(&self) -> bool {
        self.compositions.len() == 1
    }
}

impl DirectedLoss<'_> {
    /// Delta at an epsilon, in this direction.
    ///
    /// # Errors
    /// See [`AskError`].
    pub fn delta(&self, epsilon: Epsilon, options: &Options<'_>) -> Result<Answer, AskError> {
        self.whole.delta(epsilon, options)
    }

    /// True if a release has an infinite loss with positive probability.
    #[must_use]
    pub fn has_leak(&self) -> bool {
        !self.whole.leaks.below.is_empty()
    }

    /// True if the finite losses are bounded.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        largest::largest(&self.whole.losses).is_some()
    }

    /// All values of the finite loss, or `None` if there are more than `most`. Equal sums are not merged.
    #[must_use]
    pub fn values(&self, most: usize) -> Option<Vec<Dd>> {
        let mut sums = vec![Dd::ZERO];
        for part in &self.whole.losses {
            let count = usize::try_from(part.count).ok().filter(|&n| n < most)?;
            if let Some(epsilon) = part.law().response_epsilon() {
                let shift = |y: usize| epsilon * (count as f64 - 2.0 * y as f64);
                sums = all_sums(&sums, &(0..=count).map(shift).collect::<Vec<_>>(), most)?;
                continue;
            }
            let losses: Vec<Dd> = part.law().atoms()?.iter().map(|atom| atom.loss).collect();
            for _ in 0..count {
                sums = all_sums(&sums, &losses, most)?;
            }
        }
        Some(sums)
    }
}

fn all_sums(sums: &[Dd], losses: &[Dd], most: usize) -> Option<Vec<Dd>> {
    if sums.len() * losses.len() > most || losses.is_empty() {
        return None;
    }
    Some(sums.iter().flat_map(|&sum| losses.iter().map(move |&loss| sum + loss)).collect())
}

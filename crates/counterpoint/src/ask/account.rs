//! The losses of releases and plans as accounts look at them: by their bounds, never by their law.

use super::Options;
use super::{Answer, AskError};
use crate::composition::{Composition, Part, Plan};
use crate::laws::{Direction, Law, Loss, quick_cumulant};
use crate::loss::{self, LossError, Meaning};
use crate::mechanism::{Adjacency, Release};
use crate::methods::{largest, renyi};
use crate::quantity::{Epsilon, Group};
use counterpoint_numerics::Dd;

/// The privacy loss of one release, run once, in one direction.
#[derive(Clone, Debug)]
pub struct ReleaseLoss {
    meaning: Meaning,
}

impl ReleaseLoss {
    /// The loss of a release for a group, its count left aside.
    ///
    /// # Errors
    /// [`LossError`] if the release has no loss under the relation.
    pub fn new(
        release: &Release,
        direction: Direction,
        adjacency: Adjacency,
        group: Group,
    ) -> Result<Self, LossError> {
        Ok(Self { meaning: loss::of(release, direction, Some(adjacency), group)? })
    }

    fn law(&self) -> Option<&dyn Law> {
        self.meaning.loss.as_ref().map(Loss::law)
    }

    /// The probability of an infinite loss, rounded up.
    #[must_use]
    pub fn leak(&self) -> f64 {
        self.meaning.leak.1
    }

    /// True if nothing but a Rényi curve is known of the finite loss.
    #[must_use]
    pub fn is_curve(&self) -> bool {
        self.meaning.curve.is_some()
    }

    /// True if the loss is that of a sample of a fixed size, which has neither a largest loss nor a curve.
    #[must_use]
    pub fn is_of_fixed_sample(&self) -> bool {
        self.law().is_some_and(|law| !law.has_cumulant())
    }

    /// True if the finite loss is a list of atoms.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.law().is_some_and(Law::is_list)
    }

    /// True if the loss takes finitely many values, none of which is left out.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        !self.is_curve() && self.law().is_none_or(Law::is_finite)
    }

    /// True if the loss is that of one pair of distributions. (A bounded range stands for all mechanisms that have it.)
    #[must_use]
    pub fn is_of_one_pair(&self) -> bool {
        !self.is_curve() && !self.law().is_some_and(Law::is_class)
    }

    /// A bound on the finite loss; `None` if there is none.
    #[must_use]
    pub fn largest(&self) -> Option<Dd> {
        match (&self.meaning.loss, &self.meaning.curve) {
            (_, Some(_)) => None,
            (None, None) => Some(Dd::ZERO),
            (Some(loss), None) => {
                let (value, error) = largest::largest(&[Part { each: loss.clone(), count: 1 }])?;
                Some(value + error.into())
            }
        }
    }

    /// ln E[e^(t L)] of the finite loss, or what the curve says of it, with its absolute error: t times the Rényi
    /// divergence of order 1 + t. `None` where it is not known.
    #[must_use]
    pub fn cumulant(&self, t: f64) -> Option<(Dd, f64)> {
        match (&self.meaning.loss, &self.meaning.curve) {
            (Some(loss), None) => quick_cumulant(loss.law(), t),
            (None, Some(curve)) => renyi::bound(curve, t),
            (None, None) => Some((Dd::ZERO, 0.0)),
            (Some(_), Some(_)) => None,
        }
    }

    /// The probability that [`ReleaseLoss::cumulant`] leaves out.
    #[must_use]
    pub fn left_out(&self) -> f64 {
        self.law().map_or(0.0, |law| law.left_out().mass)
    }
}

/// The privacy loss of a plan in one direction.
#[derive(Clone, Copy, Debug)]
pub struct DirectedLoss<'a> {
    whole: &'a Composition,
}

impl Plan {
    /// The loss in a direction; of a plan that is the same in both, that one.
    #[must_use]
    pub fn directed(&self, direction: Direction) -> Option<DirectedLoss<'_>> {
        let found = self.compositions.iter().find(|whole| whole.direction == direction);
        found.or(self.compositions.first()).map(|whole| DirectedLoss { whole })
    }

    /// True if both directions, all parts of the data included, have one loss.
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

    /// True if some release has an infinite loss.
    #[must_use]
    pub fn has_leak(&self) -> bool {
        !self.whole.leaks.below.is_empty()
    }

    /// True if the finite losses are bounded.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        largest::largest(&self.whole.losses).is_some()
    }

    /// All values of the finite loss, if they are at most so many; sums are not merged.
    #[must_use]
    pub fn values(&self, most: usize) -> Option<Vec<Dd>> {
        let mut sums = vec![Dd::ZERO];
        for part in &self.whole.losses {
            let count = usize::try_from(part.count).ok().filter(|&n| n < most)?;
            if let Some(epsilon) = part.law().guarantee() {
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

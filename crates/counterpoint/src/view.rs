//! What one person's presence shows: a plan's losses, direction by direction and part by
//! part. Counts are applied here and in [`crate::composition`], and nowhere else.

use crate::composition::{Composition, CompositionError};
use crate::loss::{self, Curve, Direction, Loss, LossError, Meaning};
use crate::mechanism::{Adjacency, Guarantee, Release};
use crate::quantity::{Count, Delta, Epsilon, Group};
use crate::rounding::Dd;
use crate::route::closed;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Releases about the same data, ready for questions.
///
/// ```
/// use counterpoint::{Adjacency, Count, Delta, Mechanism, Options, Plan};
/// use counterpoint::quantity::{Noise, Sensitivity};
///
/// let noise = |sigma| -> Result<Mechanism, counterpoint::OutOfRange> {
///     Ok(Mechanism::Gaussian { sigma: Noise::new(sigma)?, sensitivity: Sensitivity::new(1.0)? })
/// };
/// let plan = Plan::new([(noise(2.0)?, Count::new(10)?), (noise(4.0)?, Count::new(40)?)])?;
/// let answer = plan.epsilon(Delta::new(1e-6)?, &Options::default())?;
/// assert!(answer.bracket.relative_width() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub(crate) views: Vec<View>,
}

/// Equal losses.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) loss: Loss,
    pub(crate) count: u64,
}

/// The losses in one direction on one part of the data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) direction: Direction,
    pub(crate) part: Option<Arc<str>>,
    /// All finite losses, in canonical order, equal ones together; Gaussians as one.
    pub(crate) parts: Vec<Part>,
    /// Those without a loss distribution.
    pub(crate) curves: Vec<(Curve, u64)>,
    /// The randomized responses and the leaks, rounded up and rounded down.
    pub(crate) above: Composition,
    pub(crate) below: Composition,
}

/// Why releases do not make a plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A release has no meaning.
    #[error("release {}: {error}", .index + 1)]
    Release {
        /// Which one, from 0.
        index: usize,
        /// Why.
        error: LossError,
    },
    /// Parts of the data without the relation that makes them independent.
    #[error("release {}: partition is given with adjacency {}; legal: add-remove", .index + 1, if *.replace { "replace" } else { "missing" })]
    Parts {
        /// Which release, from 0.
        index: usize,
        /// Whether adjacency is replace, rather than missing.
        replace: bool,
    },
    /// The releases cannot be put together.
    #[error(transparent)]
    Composition(#[from] CompositionError),
}

impl Plan {
    /// A plan about one person, where adjacency makes no difference.
    ///
    /// # Errors
    /// [`PlanError`] if adjacency would make a difference, or the plan is empty or absurd.
    pub fn new<R: Into<Release>>(releases: impl IntoIterator<Item = R>) -> Result<Self, PlanError> {
        Self::with(releases, None, Group::ONE)
    }

    /// A plan for a neighbouring relation and a group of people.
    ///
    /// # Errors
    /// [`PlanError`] naming the release that has no meaning under these.
    pub fn with<R: Into<Release>>(
        releases: impl IntoIterator<Item = R>,
        adjacency: Option<Adjacency>,
        group: Group,
    ) -> Result<Self, PlanError> {
        let releases: Vec<Release> = releases.into_iter().map(Into::into).collect();
        if releases.is_empty() {
            return Err(CompositionError::Empty.into());
        }
        let labels = labels(&releases, adjacency)?;
        let mut views = Vec::new();
        for direction in [Direction::Remove, Direction::Add] {
            let meanings = meanings(&releases, direction, adjacency, group)?;
            let losses = meanings.iter().filter_map(|meaning| meaning.loss.as_ref());
            let symmetric = { losses }.all(Loss::is_symmetric);
            for label in &labels {
                views.push(View::new(&releases, &meanings, direction, label.clone())?);
            }
            if symmetric {
                break;
            }
        }
        Ok(Self { views })
    }
}

/// The parts of the data; one without a name if there are none.
fn labels(
    releases: &[Release],
    adjacency: Option<Adjacency>,
) -> Result<Vec<Option<Arc<str>>>, PlanError> {
    let mut labels: Vec<Arc<str>> = Vec::new();
    for (index, release) in releases.iter().enumerate() {
        if let Some(label) = &release.part {
            if adjacency != Some(Adjacency::AddRemove) {
                let replace = adjacency == Some(Adjacency::Replace);
                return Err(PlanError::Parts { index, replace });
            }
            labels.push(label.clone());
        }
    }
    labels.sort();
    labels.dedup();
    Ok(if labels.is_empty() { vec![None] } else { labels.into_iter().map(Some).collect() })
}

fn meanings(
    releases: &[Release],
    direction: Direction,
    adjacency: Option<Adjacency>,
    group: Group,
) -> Result<Vec<Meaning>, PlanError> {
    let of = |(index, release): (usize, &Release)| {
        loss::of(release, direction, adjacency, group)
            .map_err(|error| PlanError::Release { index, error })
    };
    releases.iter().enumerate().map(of).collect()
}

impl View {
    /// What the releases about all of the data and about this part show.
    fn new(
        releases: &[Release],
        meanings: &[Meaning],
        direction: Direction,
        label: Option<Arc<str>>,
    ) -> Result<Self, PlanError> {
        let mut gathered = Gathered::default();
        for (release, meaning) in releases.iter().zip(meanings) {
            if release.part.is_none() || release.part == label {
                gathered.add(meaning, release.count);
            }
        }
        let [above, below] = [true, false].map(|up| gathered.responses(up));
        let (above, below) = (above?, below?);
        let curves = gathered.curves;
        Ok(Self { direction, part: label, parts: gathered.parts.finish(), curves, above, below })
    }

    /// The composition of every mechanism's own (epsilon, delta) guarantee, if each has one:
    /// its largest loss, rounded up, and its leak.
    pub(crate) fn labels(&self) -> Option<Composition> {
        if !self.curves.is_empty() {
            return None;
        }
        let mut list = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            let one = Part { loss: part.loss.clone(), count: 1 };
            let (largest, error) = closed::largest(&[one])?;
            let epsilon = (largest + error.into()).upper();
            list.push((Guarantee::pure(epsilon).ok()?, Count::new(part.count).ok()?));
        }
        for leak in self.above.leaks() {
            let count = Count::new(leak.count).ok()?;
            list.push((Guarantee::new(0.0, leak.delta).ok()?, count));
        }
        Composition::of(list).ok()
    }

    /// Whether there is nothing but randomized responses and leaks.
    pub(crate) fn is_responses(&self) -> bool {
        let responses = |part: &Part| matches!(part.loss, Loss::Response { .. });
        self.curves.is_empty() && self.parts.iter().all(responses)
    }
}

/// A view in the making.
#[derive(Default)]
struct Gathered {
    parts: Parts,
    curves: Vec<(Curve, u64)>,
    /// Bounds on epsilon and on delta, with the count.
    guarantees: Vec<((f64, f64), (f64, f64), Count)>,
}

impl Gathered {
    fn add(&mut self, meaning: &Meaning, count: Count) {
        let mut epsilon = (0.0, 0.0);
        if let Some(loss) = &meaning.loss {
            if let Loss::Response { epsilon: exact } = loss {
                epsilon = loss::bracketed(*exact);
            }
            self.parts.add(loss, count.get());
        }
        if let Some(curve) = &meaning.curve {
            self.curves.push((curve.clone(), count.get()));
        }
        self.guarantees.push((epsilon, meaning.leak, count));
    }

    fn responses(&self, up: bool) -> Result<Composition, CompositionError> {
        let pick = |(low, high): (f64, f64)| if up { high } else { low };
        let mut list = Vec::with_capacity(self.guarantees.len());
        for &(epsilon, delta, count) in &self.guarantees {
            let (epsilon, delta) = (pick(epsilon), pick(delta));
            let legal = Epsilon::new(epsilon).ok().zip(Delta::new(delta).ok());
            let (epsilon, delta) = legal.ok_or(CompositionError::TooLarge { total: epsilon })?;
            list.push((Guarantee { epsilon, delta }, count));
        }
        Composition::of(list)
    }
}

/// Losses by their description, so that the order of releases makes no difference.
#[derive(Default)]
struct Parts {
    simple: BTreeMap<(u8, [u64; 3]), Part>,
    atoms: Vec<Part>,
}

impl Parts {
    fn add(&mut self, loss: &Loss, count: u64) {
        let bits = |x: Dd| [x.hi.to_bits(), x.lo.to_bits()];
        let (kind, [hi, lo], rate) = match loss {
            Loss::Atoms(_) => {
                match self.atoms.iter_mut().find(|part| part.loss == *loss) {
                    Some(part) => part.count += count,
                    None => self.atoms.push(Part { loss: loss.clone(), count }),
                }
                return;
            }
            Loss::Response { epsilon } => (0, bits(*epsilon), 0.0),
            Loss::Gaussian { square } => (5, bits(*square), 0.0),
            Loss::Laplace { epsilon } => (1, bits(*epsilon), 0.0),
            Loss::Range { epsilon } => (2, bits(*epsilon), 0.0),
            Loss::SampledGaussian { rate, mu, .. } => (3, bits(*mu), *rate),
            Loss::SampledLaplace { rate, epsilon, .. } => (4, bits(*epsilon), *rate),
        };
        let new = || Part { loss: loss.clone(), count: 0 };
        self.simple.entry((kind, [hi, lo, rate.to_bits()])).or_insert_with(new).count += count;
    }

    fn finish(self) -> Vec<Part> {
        let mut simple = Vec::with_capacity(self.simple.len() + 1);
        let mut sum = Dd::ZERO;
        for part in self.simple.into_values() {
            match part.loss {
                // Gaussians add up to one, exactly.
                Loss::Gaussian { square } => sum = sum + square * part.count as f64,
                _ => simple.push(part),
            }
        }
        if sum.is_positive() {
            simple.push(Part { loss: Loss::Gaussian { square: sum }, count: 1 });
        }
        let mut atoms = self.atoms;
        atoms.sort_by_cached_key(|part| match &part.loss {
            Loss::Atoms(atoms) => {
                atoms.list.iter().map(|a| (a.loss.hi.to_bits(), a.mass.hi.to_bits())).collect()
            }
            _ => Vec::new(),
        });
        simple.into_iter().chain(atoms).collect()
    }
}

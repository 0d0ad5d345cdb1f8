//! What one person's presence shows: a plan's losses, direction by direction and part by
//! part. Counts are applied here and in [`super::guarantees`], and nowhere else.

use super::guarantees::{Composition, CompositionError};
use crate::loss::{self, Curve, Direction, Loss, LossError, Meaning};
use crate::mechanism::{Adjacency, Guarantee, Release};
use crate::quantity::{Count, Delta, Epsilon, Group};
use crate::rounding::Dd;
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
    pub(crate) partition: Option<Arc<str>>,
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
        let mut everywhere = Gathered::default();
        let mut parts: BTreeMap<Arc<str>, Gathered> = BTreeMap::new();
        let mut empty = true;
        for (index, release) in releases.into_iter().enumerate() {
            let release = release.into();
            let gathered = match &release.part {
                None => &mut everywhere,
                Some(_) if adjacency != Some(Adjacency::AddRemove) => {
                    let replace = adjacency == Some(Adjacency::Replace);
                    let error = LossError::Parts { replace };
                    return Err(PlanError::Release { index, error });
                }
                Some(_) if group.get() > 1 => {
                    let error = LossError::GroupOverParts { group: group.get() };
                    return Err(PlanError::Release { index, error });
                }
                Some(label) => parts.entry(label.clone()).or_default(),
            };
            let added = gathered.add(&release, adjacency, group);
            added.map_err(|error| PlanError::Release { index, error })?;
            empty = false;
        }
        if empty {
            return Err(CompositionError::Empty.into());
        }
        Self::of_views(&everywhere, &parts)
    }

    fn of_views(
        everywhere: &Gathered,
        parts: &BTreeMap<Arc<str>, Gathered>,
    ) -> Result<Self, PlanError> {
        let nothing = Gathered::default();
        let labels: Vec<(Option<&Arc<str>>, &Gathered)> = if parts.is_empty() {
            vec![(None, &nothing)]
        } else {
            parts.iter().map(|(label, gathered)| (Some(label), gathered)).collect()
        };
        let mut views = Vec::new();
        for (label, own) in labels {
            let directions: &[Direction] = if everywhere.is_symmetric() && own.is_symmetric() {
                &[Direction::Remove]
            } else {
                &[Direction::Remove, Direction::Add]
            };
            for &direction in directions {
                views.push(View::new(everywhere, own, direction, label.cloned())?);
            }
        }
        Ok(Self { views })
    }
}

impl View {
    /// What the releases about all of the data and about one part show.
    fn new(
        everywhere: &Gathered,
        own: &Gathered,
        direction: Direction,
        partition: Option<Arc<str>>,
    ) -> Result<Self, PlanError> {
        let sides = [everywhere.sides(direction), own.sides(direction)].concat();
        let mut curves: Vec<(Curve, u64)> = Vec::new();
        for side in &sides {
            curves.extend(side.curves.iter().cloned());
        }
        let [above, below] = [true, false].map(|up| responses(&sides, up));
        Ok(Self {
            direction,
            partition,
            parts: parts(&sides),
            curves,
            above: above?,
            below: below?,
        })
    }

    /// Whether there is nothing but randomized responses and leaks.
    pub(crate) fn is_responses(&self) -> bool {
        let responses = |part: &Part| matches!(part.loss, Loss::Response { .. });
        self.curves.is_empty() && self.parts.iter().all(responses)
    }
}

/// Losses in the making: those that are the same in both directions, and the others by
/// direction.
#[derive(Default)]
struct Gathered {
    both: Side,
    remove: Side,
    add: Side,
}

/// Losses of one direction.
#[derive(Default)]
struct Side {
    guarantees: Vec<Response>,
    /// By description, so that the order of releases makes no difference.
    simple: BTreeMap<(u8, [u64; 3]), Part>,
    atoms: Vec<Part>,
    curves: Vec<(Curve, u64)>,
}

/// A randomized response and its leak, from below and from above.
#[derive(Clone, Copy)]
struct Response {
    epsilon: Dd,
    leak: (f64, f64),
    count: Count,
}

impl Gathered {
    fn add(
        &mut self,
        release: &Release,
        adjacency: Option<Adjacency>,
        group: Group,
    ) -> Result<(), LossError> {
        let meaning = loss::of(release, Direction::Remove, adjacency, group)?;
        if meaning.loss.as_ref().is_none_or(Loss::is_symmetric) {
            self.both.add(meaning, release.count);
        } else {
            let mirrored = loss::of(release, Direction::Add, adjacency, group)?;
            self.remove.add(meaning, release.count);
            self.add.add(mirrored, release.count);
        }
        Ok(())
    }

    fn is_symmetric(&self) -> bool {
        self.remove.guarantees.is_empty()
    }

    fn sides(&self, direction: Direction) -> Vec<&Side> {
        match direction {
            Direction::Remove => vec![&self.both, &self.remove],
            Direction::Add => vec![&self.both, &self.add],
        }
    }
}

impl Side {
    fn add(&mut self, meaning: Meaning, count: Count) {
        let mut epsilon = Dd::ZERO;
        match meaning.loss {
            Some(Loss::Response { epsilon: exact }) => epsilon = exact,
            Some(loss) => self.add_loss(loss, count.get()),
            None => {}
        }
        if let Some(curve) = meaning.curve {
            self.curves.push((curve, count.get()));
        }
        self.guarantees.push(Response { epsilon, leak: meaning.leak, count });
    }

    fn add_loss(&mut self, loss: Loss, count: u64) {
        let bits = |x: Dd| [x.hi.to_bits(), x.lo.to_bits()];
        let (kind, [hi, lo], rate) = match &loss {
            Loss::Atoms(_) => {
                match self.atoms.iter_mut().find(|part| part.loss == loss) {
                    Some(part) => part.count += count,
                    None => self.atoms.push(Part { loss, count }),
                }
                return;
            }
            Loss::Response { epsilon } => (0, bits(*epsilon), 0.0),
            Loss::Laplace { epsilon } => (1, bits(*epsilon), 0.0),
            Loss::Range { epsilon } => (2, bits(*epsilon), 0.0),
            Loss::SampledGaussian { rate, mu, .. } => (3, bits(*mu), *rate),
            Loss::SampledLaplace { rate, epsilon, .. } => (4, bits(*epsilon), *rate),
            Loss::Gaussian { square } => (5, bits(*square), 0.0),
        };
        let key = (kind, [hi, lo, rate.to_bits()]);
        self.simple.entry(key).or_insert(Part { loss, count: 0 }).count += count;
    }
}

/// The randomized responses and the leaks, rounded up or down.
fn responses(sides: &[&Side], up: bool) -> Result<Composition, CompositionError> {
    let pick = |(low, high): (f64, f64)| if up { high } else { low };
    let mut problem = None;
    let all = sides.iter().flat_map(|side| &side.guarantees);
    let list = all.map_while(|response| {
        let (epsilon, delta) = (pick(loss::bracketed(response.epsilon)), pick(response.leak));
        match (Epsilon::new(epsilon), Delta::new(delta)) {
            (Ok(epsilon), Ok(delta)) => Some((Guarantee { epsilon, delta }, response.count)),
            _ => {
                problem = Some(CompositionError::TooLarge { total: epsilon });
                None
            }
        }
    });
    let composition = Composition::of(list);
    problem.map_or(composition, Err)
}

/// All finite losses, in canonical order: responses, the others, one Gaussian, atoms.
fn parts(sides: &[&Side]) -> Vec<Part> {
    let mut responses: Vec<(Dd, u64)> = sides
        .iter()
        .flat_map(|side| &side.guarantees)
        .filter(|response| response.epsilon.is_positive())
        .map(|response| (response.epsilon, response.count.get()))
        .collect();
    responses.sort_by(|a, b| a.0.hi.total_cmp(&b.0.hi).then(a.0.lo.total_cmp(&b.0.lo)));
    responses.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    let response = |(epsilon, count)| Part { loss: Loss::Response { epsilon }, count };
    let mut list: Vec<Part> = responses.into_iter().map(response).collect();
    let mut simple: BTreeMap<(u8, [u64; 3]), Part> = BTreeMap::new();
    for (key, part) in sides.iter().flat_map(|side| &side.simple) {
        let same = simple.entry(*key).or_insert_with(|| Part { count: 0, ..part.clone() });
        same.count += part.count;
    }
    let mut square = Dd::ZERO;
    for part in simple.into_values() {
        match part.loss {
            // Gaussians add up to one, exactly.
            Loss::Gaussian { square: one } => square = square + one * part.count as f64,
            _ => list.push(part),
        }
    }
    if square.is_positive() {
        list.push(Part { loss: Loss::Gaussian { square }, count: 1 });
    }
    list.extend(atoms(sides));
    list
}

fn atoms(sides: &[&Side]) -> Vec<Part> {
    let mut list: Vec<Part> = Vec::new();
    for part in sides.iter().flat_map(|side| &side.atoms) {
        match list.iter_mut().find(|other| other.loss == part.loss) {
            Some(other) => other.count += part.count,
            None => list.push(part.clone()),
        }
    }
    list.sort_by_cached_key(|part| match &part.loss {
        Loss::Atoms(atoms) => {
            atoms.list.iter().map(|a| (a.loss.hi.to_bits(), a.mass.hi.to_bits())).collect()
        }
        _ => Vec::new(),
    });
    list
}

//! The composed map, which simulates a whole adaptive composition by leaky randomized responses (MV Theorem 3.5, S
//! Claim 3.3).
//!
//! The guarantees are fixed in advance, one for each stage. The mechanism that runs at a stage depends on the outcomes
//! so far. Each mechanism has the map of MV Lemma 3.2 from the response of its stage. The composed map takes the
//! responses one by one: the outcomes so far determine the next mechanism, and so the map that is applied to the next
//! response.

use super::{Breach, Map, MapError, Pair, breach, from_response};
use counterpoint_numerics::fractions::{self, ExactError, Ratio};

/// The largest number of stages.
const MOST_STAGES: u128 = 1000;
/// The largest number of transcripts that are listed.
const MOST_TRANSCRIPTS: u128 = 250_000;

/// A stage: its guarantee, and the mechanisms that may run at it. All of them are claimed to have the guarantee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The guarantee's likelihood ratio, e^epsilon.
    pub ratio: Ratio,
    /// The guarantee's delta.
    pub delta: Ratio,
    /// The mechanisms; the first stage has one.
    pub mechanisms: Vec<Mechanism>,
}

/// A finite mechanism on two neighbouring data sets, and the mechanism that follows each of its outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mechanism {
    /// The probabilities of the outcomes.
    pub pair: Pair,
    /// For each outcome, the index of the mechanism that runs at the next stage. Empty at the last stage, or if the
    /// next stage has one mechanism.
    pub then: Vec<usize>,
}

impl Stage {
    /// A stage with one mechanism, which runs after every outcome of the stage before.
    #[must_use]
    pub fn single(pair: Pair, ratio: Ratio, delta: Ratio) -> Self {
        Self { ratio, delta, mechanisms: vec![Mechanism { pair, then: Vec::new() }] }
    }
}

/// The reason why there is no composed map.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ComposeError {
    /// A mechanism does not have the claimed guarantee.
    #[error("stage {}, mechanism {}: {breach}", .stage + 1, .mechanism + 1)]
    Refuted {
        /// The number of the stage, from 0.
        stage: usize,
        /// The number of the mechanism, from 0.
        mechanism: usize,
        /// The event that refutes the claim.
        breach: Box<Breach>,
    },
    /// A stage is not legal.
    #[error("stage {}: {error}", .stage + 1)]
    Stage {
        /// The number of the stage, from 0.
        stage: usize,
        /// The reason.
        error: MapError,
    },
    /// There are no stages, or too many.
    #[error(transparent)]
    Input(#[from] ExactError),
}

/// The stages of a composition with their maps, made by [`compose`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedMaps {
    stages: Vec<Stage>,
    /// The maps of each stage's mechanisms.
    maps: Vec<Vec<Map>>,
}

/// All transcripts, and their probabilities on both data sets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Transcripts {
    /// The outcomes of each transcript, stage by stage, in lexicographic order.
    pub outcomes: Vec<Vec<usize>>,
    /// The probabilities of the transcripts, in the same order.
    pub pair: Pair,
}

/// Composes stages: computes the map of every mechanism.
///
/// ```
/// use counterpoint_numerics::fractions::Ratio;
/// use counterpoint_papers::pair::{Mechanism, Pair, Stage, compose};
///
/// let ratio = |text: &str| text.parse::<Ratio>();
/// let coin = |p: &str, q: &str| -> Result<Pair, Box<dyn std::error::Error>> {
///     let (p, q) = (ratio(p)?, ratio(q)?);
///     Ok(Pair::new(vec![p.clone(), Ratio::ONE - p], vec![q.clone(), Ratio::ONE - q])?)
/// };
/// // Heads of the first coin leads to a milder second one.
/// let first = Mechanism { pair: coin("3/4", "1/4")?, then: vec![0, 1] };
/// let [mild, same] = [coin("3/5", "2/5")?, coin("2/3", "1/3")?];
/// let last = [mild, same].map(|pair| Mechanism { pair, then: vec![] }).to_vec();
/// let (three, two) = (ratio("3")?, ratio("2")?);
/// let composed = compose(vec![
///     Stage { ratio: three, delta: Ratio::ZERO, mechanisms: vec![first] },
///     Stage { ratio: two, delta: Ratio::ZERO, mechanisms: last },
/// ])?;
/// let map = composed.map()?;
/// assert!(map.carries(&composed.responses()?, &composed.transcripts()?.pair));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ComposeError::Refuted`], with an event, if a mechanism does not have the guarantee of its stage. Other errors name
/// the part that is not legal.
pub fn compose(stages: Vec<Stage>) -> Result<ComposedMaps, ComposeError> {
    fractions::check_size("stages", stages.len() as u128, (1, MOST_STAGES))?;
    let mut maps = Vec::with_capacity(stages.len());
    for (at, stage) in stages.iter().enumerate() {
        let placed = |error| ComposeError::Stage { stage: at, error: MapError::Input(error) };
        let next = stages.get(at + 1).map_or(0, |stage| stage.mechanisms.len());
        check(stage, at == 0, next).map_err(placed)?;
        let each = stage.mechanisms.iter().enumerate();
        let each = each.map(|(which, mechanism)| mechanism_map(stage, mechanism, (at, which)));
        maps.push(each.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(ComposedMaps { stages, maps })
}

/// Refuses a stage whose outcomes lead to mechanisms that do not exist.
fn check(stage: &Stage, first: bool, next: usize) -> Result<(), ExactError> {
    let most = if first { 1 } else { MOST_TRANSCRIPTS };
    fractions::check_size("mechanisms", stage.mechanisms.len() as u128, (1, most))?;
    for mechanism in &stage.mechanisms {
        let (then, outcomes) = (mechanism.then.len(), mechanism.pair.outcomes().len() as u128);
        if then == 0 && next <= 1 {
            continue;
        }
        let legal = if next == 0 { 0 } else { outcomes };
        fractions::check_size("entries of then", then as u128, (legal, legal))?;
        for &to in &mechanism.then {
            fractions::check_size("the next mechanism is", to as u128, (0, next as u128 - 1))?;
        }
    }
    Ok(())
}

fn mechanism_map(
    stage: &Stage,
    mechanism: &Mechanism,
    (at, which): (usize, usize),
) -> Result<Map, ComposeError> {
    from_response(&mechanism.pair, &stage.ratio, &stage.delta).map_err(|error| {
        let refuted = matches!(error, MapError::Violated(_));
        let breach = breach(&mechanism.pair, &stage.ratio, &stage.delta).filter(|_| refuted);
        match breach.map(Box::new) {
            Some(breach) => ComposeError::Refuted { stage: at, mechanism: which, breach },
            None => ComposeError::Stage { stage: at, error },
        }
    })
}

/// The position of a run: the next stage, and its mechanism.
type StagePosition = (usize, usize);

impl ComposedMaps {
    /// The stages.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The maps of each stage's mechanisms, from the four outcomes of the stage's response.
    #[must_use]
    pub fn maps(&self) -> &[Vec<Map>] {
        &self.maps
    }

    /// True if every map carries the response of its stage onto its mechanism, exactly. Then the composed map carries
    /// the responses onto the transcripts, stage by stage, for any number of transcripts.
    #[must_use]
    pub fn carries(&self) -> bool {
        self.stages.iter().zip(&self.maps).all(|(stage, maps)| {
            let response = Pair::response(&stage.ratio, &stage.delta);
            let each = stage.mechanisms.iter().zip(maps);
            response.is_ok_and(|response| {
                each.into_iter().all(|(mechanism, map)| map.carries(&response, &mechanism.pair))
            })
        })
    }

    /// The responses of all stages together; the outcomes of the first stage vary slowest.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a million.
    pub fn responses(&self) -> Result<Pair, ExactError> {
        let one = Pair::of_outcomes(vec![[Ratio::ONE, Ratio::ONE]]);
        self.stages
            .iter()
            .try_fold(one, |all, stage| all.product(&Pair::response(&stage.ratio, &stage.delta)?))
    }

    /// The position after an outcome.
    fn after(&self, (at, which): StagePosition, outcome: usize) -> StagePosition {
        let mechanism = self.stages.get(at).and_then(|stage| stage.mechanisms.get(which));
        let then = mechanism.and_then(|mechanism| mechanism.then.get(outcome));
        (at + 1, then.copied().unwrap_or(0))
    }

    /// The number of transcripts.
    #[must_use]
    pub fn count(&self) -> u128 {
        let mut counts: Vec<u128> = Vec::new();
        for stage in self.stages.iter().rev() {
            let follow = |mechanism: &Mechanism| {
                let outcomes = mechanism.pair.outcomes().len();
                let to = |outcome| mechanism.then.get(outcome).copied().unwrap_or(0);
                let each = (0..outcomes).map(|outcome| counts.get(to(outcome)).map_or(1, |n| *n));
                each.fold(0, u128::saturating_add)
            };
            counts = stage.mechanisms.iter().map(follow).collect();
        }
        counts.first().copied().unwrap_or(0)
    }

    /// All transcripts.
    ///
    /// # Errors
    /// [`ExactError::Size`] if there are more than a quarter of a million, or their numbers are too long.
    pub fn transcripts(&self) -> Result<Transcripts, ExactError> {
        let count = self.count();
        fractions::check_size("transcripts", count, (1, MOST_TRANSCRIPTS))?;
        let pairs = |stage: &Stage| {
            let pairs = stage.mechanisms.iter().flat_map(|mechanism| mechanism.pair.outcomes());
            fractions::common_bits(pairs.flatten(), u128::MAX)
        };
        let bits = self.stages.iter().map(pairs).sum();
        fractions::check_bits("bits of the transcripts", count, bits)?;
        let start = (Vec::new(), (0, 0), [Ratio::ONE, Ratio::ONE]);
        let all = self.runs(start, |state, masses, outcome| {
            let own = self.mechanism(state)?.pair.outcomes().get(outcome)?;
            Some([&masses[0] * &own[0], &masses[1] * &own[1]])
        });
        let (outcomes, pair): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        Ok(Transcripts { outcomes, pair: Pair::of_outcomes(pair) })
    }

    fn mechanism(&self, (at, which): StagePosition) -> Option<&Mechanism> {
        self.stages.get(at)?.mechanisms.get(which)
    }

    /// Returns every transcript, with the value that results from `step` at each of its outcomes.
    fn runs<T>(
        &self,
        start: (Vec<usize>, StagePosition, T),
        step: impl Fn(StagePosition, &T, usize) -> Option<T>,
    ) -> Vec<(Vec<usize>, T)> {
        let (mut found, mut open) = (Vec::new(), vec![start]);
        while let Some((outcomes, state, value)) = open.pop() {
            let Some(mechanism) = self.mechanism(state) else {
                found.push((outcomes, value));
                continue;
            };
            for outcome in (0..mechanism.pair.outcomes().len()).rev() {
                if let Some(next) = step(state, &value, outcome) {
                    let outcomes = outcomes.iter().copied().chain([outcome]).collect();
                    open.push((outcomes, self.after(state, outcome), next));
                }
            }
        }
        found
    }

    /// The map from the responses of all stages together to the transcripts, both in their order.
    ///
    /// # Errors
    /// [`ExactError::Size`] if it has more than a quarter of a million entries, or entries that are too long. Sampling
    /// does not need this map.
    pub fn map(&self) -> Result<Map, ExactError> {
        let stages = u32::try_from(self.stages.len()).unwrap_or(u32::MAX);
        let inputs = 4_u128.checked_pow(stages).unwrap_or(u128::MAX);
        let size = Map::check(inputs, self.count())?;
        let bits = |maps: &Vec<Map>| {
            let entries = maps.iter().flat_map(Map::rows).flatten();
            fractions::common_bits(entries, u128::MAX)
        };
        fractions::check_bits("bits of the map's entries", size, self.maps.iter().map(bits).sum())?;
        let row = |input: u128| {
            let digit = |at: usize| (input >> (2 * (self.stages.len() - 1 - at))) as usize & 3;
            let all = self.runs((Vec::new(), (0, 0), Ratio::ONE), |state, chance, outcome| {
                Some(chance * self.row(state, digit(state.0))?.get(outcome)?)
            });
            all.into_iter().map(|(_, chance)| chance).collect()
        };
        Ok(Map::of_rows((0..inputs).map(row).collect()))
    }

    /// The probabilities of the outcomes after a response at a position.
    fn row(&self, (at, which): StagePosition, response: usize) -> Option<&Vec<Ratio>> {
        self.maps.get(at)?.get(which)?.rows().get(response)
    }

    /// Draws a transcript from the outcomes of the stages' responses and uniformly random words. Each response is from
    /// 0 to 3, in the order of [`Pair::response`]. If the responses are drawn for one of the data sets, the transcript
    /// has its law on that data set.
    ///
    /// # Errors
    /// [`ExactError::Size`] unless there is a response for each stage, from 0 to 3.
    pub fn sample(
        &self,
        responses: &[usize],
        words: &mut dyn FnMut() -> u64,
    ) -> Result<Vec<usize>, ExactError> {
        let stages = self.stages.len() as u128;
        fractions::check_size("responses", responses.len() as u128, (stages, stages))?;
        let (mut state, mut outcomes) = ((0, 0), Vec::with_capacity(responses.len()));
        for &response in responses {
            fractions::check_size("a response is", response as u128, (0, 3))?;
            let outcome = self.row(state, response).map_or(0, |row| super::draw(row, words));
            outcomes.push(outcome);
            state = self.after(state, outcome);
        }
        Ok(outcomes)
    }
}

//! The least deltas of each part and of their composition, exactly (L (19)).

use counterpoint_numerics::fractions::{ExactError, Ratio, enclose, exponential};
use counterpoint_papers::interactive::{System, concurrent_deltas};
use counterpoint_papers::pair::compose;
use counterpoint_wire::PlanError;

use super::file::{DeltaPoint, FileStage, Simulation, Subject};
use super::result::{LeastDelta, LeastDeltas, SimulationError, input};
use super::stages::mechanism_name;

/// Parts with their names, and the systems that together are the composition.
type PartsAndWhole = (Vec<(String, System)>, Vec<System>);

pub(super) fn profile(simulation: &Simulation) -> Result<Vec<LeastDeltas>, SimulationError> {
    if simulation.points.is_empty() {
        return Ok(Vec::new());
    }
    let (parts, whole) = parts_and_whole(&simulation.subject)?;
    let at = |point: &DeltaPoint| {
        let ends = point.ratio_bounds().map_err(SimulationError::Input)?;
        let part = |(name, system): &(String, System)| {
            (name.clone(), between(ends.each_ref().map(|ratio| system.deltas(ratio))))
        };
        let together = ends.each_ref().map(|ratio| concurrent_deltas(&whole, ratio).ok());
        let [below, above] = together;
        Ok(LeastDeltas {
            point: point.clone(),
            parts: parts.iter().map(part).collect(),
            composition: below.zip(above).map(|(below, above)| between([below, above])),
        })
    };
    simulation.points.iter().map(at).collect()
}

fn parts_and_whole(of: &Subject) -> Result<PartsAndWhole, SimulationError> {
    let is_whole = |count: usize| count > 1;
    match of {
        Subject::Stages(file) => {
            let mechanisms = file.iter().flat_map(|stage| {
                let each = stage.mechanisms.iter();
                each.map(|own| (mechanism_name(Some(stage), Some(own)), System::from(&own.pair)))
            });
            let composed = compose(file.iter().map(FileStage::stage).collect()).map_err(input)?;
            let transcripts = composed.transcripts().ok().filter(|_| is_whole(file.len()));
            let whole = transcripts.map(|all| System::from(&all.pair));
            Ok((mechanisms.collect(), whole.into_iter().collect()))
        }
        Subject::Systems(file) => {
            let systems: Result<Vec<System>, ExactError> =
                file.iter().map(|own| own.system()).collect();
            let systems = systems.map_err(input)?;
            let names = file.iter().map(|own| own.name.clone());
            let parts = names.zip(systems.iter().cloned()).collect();
            Ok((parts, if is_whole(file.len()) { systems } else { Vec::new() }))
        }
        Subject::Pairs(pairs) => {
            let part = |own: &super::FilePair| (own.name.clone(), System::from(&own.pair));
            Ok((pairs.iter().map(part).collect(), Vec::new()))
        }
        Subject::Laplace(_) => {
            let problem = "are for mechanisms, systems and pairs; legal: none with [laplace]";
            Err(SimulationError::Input(PlanError::field("ratios and epsilons", problem)))
        }
    }
}

/// Pairs the deltas at a ratio below with those at a ratio above, in each direction.
fn between([above, below]: [[Ratio; 2]; 2]) -> [LeastDelta; 2] {
    let [[p, q], [less_p, less_q]] = [above, below];
    [LeastDelta { lower: less_p, upper: p }, LeastDelta { lower: less_q, upper: q }]
}

impl DeltaPoint {
    /// Returns fractions below and above the likelihood ratio; they are equal if the ratio is a fraction.
    fn ratio_bounds(&self) -> Result<[Ratio; 2], PlanError> {
        let epsilon = match self {
            Self::Ratio(ratio) => return Ok([ratio.clone(), ratio.clone()]),
            Self::Epsilon(epsilon) if epsilon.is_zero() => return Ok([Ratio::ONE, Ratio::ONE]),
            Self::Epsilon(epsilon) => enclose(epsilon, epsilon),
        };
        let (below, above) = (exponential(epsilon.lower), exponential(epsilon.upper));
        let ends = below.zip(above).map(|((below, _), (_, above))| [below, above]);
        ends.ok_or_else(|| PlanError::field("epsilons", "has one above 500; legal: 0 to 500"))
    }
}

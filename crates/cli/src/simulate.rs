//! `counterpoint simulate`: mechanisms made of randomized responses.

use anyhow::{Context, Result};
use counterpoint_studies::{SimulationError, SimulationResult};

use crate::args::SimulateArgs;
use crate::input;
use crate::output::Outcome;

/// Prints maps, checks and samples. A refuted claim is a definite no.
pub(crate) fn run(args: &SimulateArgs) -> Result<Outcome> {
    let mut simulation =
        input::simulation(&args.file).with_context(|| input::input_name(&args.file))?;
    simulation.points.extend(args.ratio.iter().chain(&args.epsilon).cloned());
    let simulated = SimulationResult::new(&simulation, args.samples, args.seed)
        .and_then(|simulated| simulated.with_order(&simulation, args.order));
    match simulated {
        Ok(simulated) if args.json => Ok(Outcome::json(simulated.json()?)),
        Ok(simulated) => Ok(Outcome::text(counterpoint_report::simulate(&simulated), Vec::new())),
        Err(SimulationError::Refuted(refuted)) => {
            let object = args.json.then(|| refuted.json()).transpose()?;
            Ok(Outcome::definite_no(
                format!("{}: {refuted}", input::input_name(&args.file)),
                object,
            ))
        }
        Err(SimulationError::Input(error)) => {
            Err(error).with_context(|| input::input_name(&args.file))
        }
    }
}

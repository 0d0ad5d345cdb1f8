//! `counterpoint simulate`: proofs run forwards.

use anyhow::{Context, Result};
use counterpoint_wire::{NotSimulated, Simulated};

use crate::args::SimulateArgs;
use crate::input;
use crate::output::Outcome;

/// Maps, checks and samples; a claim that an event refutes is a definite no.
pub(crate) fn run(args: &SimulateArgs) -> Result<Outcome> {
    let mut simulation = input::simulation(&args.file).with_context(|| input::shown(&args.file))?;
    simulation.places.extend(args.ratio.iter().chain(&args.epsilon).cloned());
    let simulated = Simulated::new(&simulation, args.samples, args.seed)
        .and_then(|simulated| simulated.with_order(&simulation, args.order));
    match simulated {
        Ok(simulated) if args.json => Ok(Outcome::json(simulated.json()?)),
        Ok(simulated) => Ok(Outcome::text(counterpoint_report::simulate(&simulated), Vec::new())),
        Err(NotSimulated::Refuted(refuted)) => {
            let object = args.json.then(|| refuted.json()).transpose()?;
            Ok(Outcome::no(format!("{}: {refuted}", input::shown(&args.file)), object))
        }
        Err(NotSimulated::Input(error)) => Err(error).with_context(|| input::shown(&args.file)),
    }
}

//! `counterpoint convert`.

use anyhow::Result;
use counterpoint::{Delta, Guarantee};
use counterpoint_wire::GuaranteeConversion;

use crate::args::ConvertArgs;
use crate::output::Outcome;

/// Converts a guarantee. If the target is not implied, that is a definite no.
pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome> {
    let delta = args.delta.map_or(Delta::new(0.0), Ok)?;
    let from = Guarantee { epsilon: args.epsilon, delta };
    let converted = GuaranteeConversion::new(from, args.to_epsilon, args.to_delta)?;
    let refused = matches!(converted.implied, Some((_, false)));
    let outcome = if args.json {
        Outcome::json(converted.json()?)
    } else {
        Outcome::text(counterpoint_report::convert(&converted), Vec::new())
    };
    Ok(if refused { outcome.into_no() } else { outcome })
}

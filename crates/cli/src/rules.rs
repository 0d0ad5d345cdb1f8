//! `counterpoint convert` and `counterpoint noise`: theorems about single guarantees, and about noise.

use anyhow::Result;
use counterpoint::{Count, Delta, Guarantee, Sensitivity};
use counterpoint_wire::{Converted, NoiseRules};

use crate::args::{ConvertArgs, NoiseArgs};
use crate::output::Outcome;

/// A guarantee in other words; whether it implies another is a yes or a definite no.
pub(crate) fn convert(args: &ConvertArgs) -> Result<Outcome> {
    let delta = args.delta.map_or(Delta::new(0.0), Ok)?;
    let from = Guarantee { epsilon: args.epsilon, delta };
    let converted = Converted::new(from, args.to_epsilon, args.to_delta)?;
    let refused = matches!(converted.implied, Some((_, false)));
    let outcome = if args.json {
        Outcome::json(converted.json()?)
    } else {
        Outcome::text(counterpoint_report::convert(&converted), Vec::new())
    };
    Ok(if refused { outcome.refused() } else { outcome })
}

pub(crate) fn noise(args: &NoiseArgs) -> Result<Outcome> {
    let target = Guarantee { epsilon: args.epsilon, delta: args.delta };
    let sensitivity = args.sensitivity.map_or(Sensitivity::new(1.0), Ok)?;
    let rules = NoiseRules::new(target, args.count.unwrap_or(Count::ONE), sensitivity);
    if args.json {
        Ok(Outcome::json(rules.json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::noise(&rules), Vec::new()))
    }
}

//! `counterpoint noise`.

use anyhow::Result;
use counterpoint::{Count, Guarantee, Sensitivity};
use counterpoint_studies::NoiseRules;

use crate::args::NoiseArgs;
use crate::output::Outcome;

pub(crate) fn run(args: &NoiseArgs) -> Result<Outcome> {
    let target = Guarantee { epsilon: args.epsilon, delta: args.delta };
    let sensitivity = args.sensitivity.map_or(Sensitivity::new(1.0), Ok)?;
    let rules = NoiseRules::new(target, args.count.unwrap_or(Count::ONE), sensitivity);
    if args.json {
        Ok(Outcome::json(rules.json()?))
    } else {
        Ok(Outcome::text(counterpoint_report::noise(&rules), Vec::new()))
    }
}

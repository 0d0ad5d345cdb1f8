//! Matrix mechanisms in plans. A release `gaussian-matrix` is read as Gaussian noise with the sensitivity of its strategy
//! (theory 6.17), or, on a Poisson sample, as one run of it for each block of steps (theory 6.18).

use counterpoint::Count;
use counterpoint::mechanism::{Participation, Strategy, StrategyError};
use counterpoint::quantity::{Sensitivity, StepCount};

use crate::text::error::PlanError;
use crate::text::fields::{Fields, missing};
use crate::text::value::Value;

/// The name of these mechanisms in plan files, and of the mechanism that they are read as.
const MATRIX: &str = "gaussian-matrix";
const GAUSSIAN: &str = "gaussian";

const STEPS: (crate::text::fields::Check<u64, StepCount>, &str) =
    (StepCount::new, StepCount::LEGAL);
const LEGAL_FACTOR: &str = "\"square-root\", or in its place coefficients, or theta and omega";

/// Replaces the fields of a matrix mechanism by those of Gaussian noise. Returns the number of its runs, if the release
/// is a matrix mechanism.
pub(super) fn resolve(fields: &mut Fields<'_>) -> Result<Option<Count>, PlanError> {
    if fields.peek_text("mechanism") != Some(MATRIX) {
        return Ok(None);
    }
    fields.take("mechanism");
    let needed = || missing("steps", StepCount::LEGAL);
    let steps = fields.whole("steps", STEPS)?.ok_or_else(needed)?;
    let strategy = strategy(fields, steps)?;
    let norm = fields.number("sensitivity", Some(1.0), (Sensitivity::new, Sensitivity::LEGAL))?;
    let (size, runs) = match fields.has("rate") {
        true => (strategy.column_norm(), runs_on_samples(fields, &strategy, steps)?),
        false => {
            let participation = participation(fields, steps)?;
            (strategy.sensitivity(participation).map_err(place)?, Count::ONE)
        }
    };
    if let Some(given) = ["examples", "batch", "epochs"].into_iter().find(|name| fields.has(name)) {
        let problem =
            "is given for a matrix mechanism; legal: rate, the probability within a group";
        return Err(PlanError::field(given, problem));
    }
    let sensitivity = (norm.get() * size.upper).next_up();
    let sensitivity = Sensitivity::new(sensitivity)
        .map_err(|error| PlanError::field("sensitivity", format!("is too large: {error}")))?;
    fields.fill("mechanism", Value::Text(GAUSSIAN.into()));
    fields.fill("sensitivity", Value::Real(sensitivity.get()));
    Ok(Some(runs))
}

/// Reads the strategy: exactly one of its three descriptions must be given.
fn strategy(fields: &mut Fields<'_>, steps: StepCount) -> Result<Strategy, PlanError> {
    let given: Vec<&str> =
        ["factor", "coefficients", "theta"].into_iter().filter(|name| fields.has(name)).collect();
    let &[name] = given.as_slice() else {
        return Err(match given.as_slice() {
            [first, second, ..] => {
                PlanError::field(second, format!("is given with {first}; legal: one of the two"))
            }
            _ => missing("factor", LEGAL_FACTOR),
        });
    };
    let strategy = match name {
        "factor" => match fields.text("factor")?.as_deref() {
            Some("square-root") => Strategy::square_root(steps, fields.whole("bands", STEPS)?),
            other => {
                let problem = format!("is {:?}; legal: {LEGAL_FACTOR}", other.unwrap_or_default());
                return Err(PlanError::field("factor", problem));
            }
        },
        "coefficients" => Strategy::new(steps, &fields.numbers("coefficients")?),
        _ => Strategy::blt(steps, &fields.numbers("theta")?, &fields.numbers("omega")?),
    };
    strategy.map_err(place)
}

/// Reads when a person takes part. Without `participations` it is as often as the separation permits.
fn participation(fields: &mut Fields<'_>, steps: StepCount) -> Result<Participation, PlanError> {
    let legal = "a whole number from 1 to 10^6, or rate for batches that are sampled";
    let separation = fields.whole("separation", STEPS)?;
    let separation = separation.ok_or_else(|| missing("separation", legal))?;
    let most = fields.whole("participations", STEPS)?.unwrap_or(steps);
    Ok(Participation { most, separation })
}

/// Returns the number of blocks of steps, each of which uses one sample of a group.
fn runs_on_samples(
    fields: &Fields<'_>,
    strategy: &Strategy,
    steps: StepCount,
) -> Result<Count, PlanError> {
    for name in ["participations", "separation"] {
        if fields.has(name) {
            let problem =
                "is given with rate; legal: rate alone, where the bands are the separation";
            return Err(PlanError::field(name, problem));
        }
    }
    let runs = steps.get().div_ceil(strategy.bands() as u64);
    Count::new(runs).map_err(|error| PlanError::field("steps", error.to_string()))
}

/// Places an error about a strategy in the field that it is about.
fn place(error: StrategyError) -> PlanError {
    match &error {
        StrategyError::Number { field, index, value, legal } => {
            PlanError::field(field, format!("entry {} is {value:?}; legal: {legal}", index + 1))
        }
        StrategyError::Length { field, entries, legal } => {
            PlanError::field(field, format!("has {entries} entries; legal: {legal}"))
        }
        StrategyError::Bands { .. } => PlanError::from_text("bands", &error.to_string()),
        _ => PlanError::from_text("steps", &error.to_string()),
    }
}

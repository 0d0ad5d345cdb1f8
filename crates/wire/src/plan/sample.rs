//! Poisson samples, given by their rate or by the batches of a training.

use counterpoint::Count;
use counterpoint::quantity::Rate;

use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing};
use crate::text::value::Value;

/// The Poisson sample of the data that a release runs on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The probability with which an example enters the sample.
    pub rate: Rate,
    /// The numbers from which the rate was computed, if the rate itself was not given.
    pub batches: Option<Batches>,
}

/// The numbers that make a rate: batch / examples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batches {
    /// The number of examples.
    pub examples: Count,
    /// The mean number of examples in a batch.
    pub batch: Count,
}

const COUNT: (crate::text::fields::Check<u64, Count>, &str) = (Count::new, Count::LEGAL);
const LEGAL_EPOCHS: &str = "a number above 0, coming to at most 10^12 batches";

/// Takes the sample, if there is one, and the count.
pub(crate) fn read(
    fields: &mut Fields<'_>,
    sampled: bool,
) -> Result<(Option<Sample>, Count), PlanError> {
    let batches = if sampled { batches(fields)? } else { None };
    let count = match batches {
        Some(batches) => Some(steps(fields, batches)?),
        None => fields.whole("count", COUNT)?,
    };
    let sample = match batches {
        Some(batches) => Some(Sample { rate: batches.rate()?, batches: Some(batches) }),
        None if sampled && fields.has("rate") => {
            let rate = fields.number("rate", None, (Rate::new, Rate::LEGAL))?;
            Some(Sample { rate, batches: None })
        }
        None => None,
    };
    Ok((sample, count.unwrap_or(Count::ONE)))
}

/// Takes the examples and the batch. Either both are present, or neither of them nor the epochs.
fn batches(fields: &mut Fields<'_>) -> Result<Option<Batches>, PlanError> {
    let Some(given) = ["examples", "batch", "epochs"].into_iter().find(|name| fields.has(name))
    else {
        return Ok(None);
    };
    if fields.has("rate") {
        let problem = format!("is given with {given}; legal: rate, or examples and batch");
        return Err(PlanError::field("rate", problem));
    }
    let needed = |name| {
        move || PlanError::field(name, format!("is missing beside {given}; legal: {}", COUNT.1))
    };
    let examples = fields.whole("examples", COUNT)?.ok_or_else(needed("examples"))?;
    let batch = fields.whole("batch", COUNT)?.ok_or_else(needed("batch"))?;
    if batch > examples {
        let value = Value::Whole(batch.get().into());
        let legal = format!("a whole number from 1 to {}, the examples", examples.get());
        return Err(illegal("batch", &value, &legal));
    }
    Ok(Some(Batches { examples, batch }))
}

impl Batches {
    /// Returns batch / examples as the least double that is not below it: a larger sample is never more private.
    fn rate(self) -> Result<Rate, PlanError> {
        let (batch, examples) = (self.batch.get() as f64, self.examples.get() as f64);
        let nearest = batch / examples;
        // The product is rounded once, so the sign is right.
        let below = nearest.mul_add(examples, -batch) < 0.0;
        let rate = if below { nearest.next_up() } else { nearest };
        Rate::new(rate).map_err(|error| PlanError::field("batch", error.to_string()))
    }
}

/// Takes the number of batches: the count, or the number that the epochs need.
fn steps(fields: &mut Fields<'_>, batches: Batches) -> Result<Count, PlanError> {
    let legal = "epochs, or count";
    match (fields.take("epochs"), fields.whole("count", COUNT)?) {
        (None, Some(count)) => Ok(count),
        (None, None) => Err(missing("epochs", legal)),
        (Some(_), Some(_)) => {
            Err(PlanError::field("count", format!("is given with epochs; legal: {legal}")))
        }
        (Some(epochs), None) => {
            let count = decimal(&epochs).and_then(|decimal| passes(decimal, batches));
            count.ok_or_else(|| illegal("epochs", &epochs, LEGAL_EPOCHS))
        }
    }
}

/// Returns a positive number as its digits and the number of digits after the point. A double stands for the shortest
/// decimal that is read as that double, so 1.1 is eleven tenths.
fn decimal(value: &Value<'_>) -> Option<(u128, u32)> {
    let text = match *value {
        Value::Whole(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Exact(ref number) => number.to_string(),
        _ => return None,
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let places = u32::try_from(fraction.len()).ok()?;
    (digits > 0).then_some((digits, places))
}

/// Returns the least count that is not below epochs * examples / batch.
fn passes((digits, places): (u128, u32), batches: Batches) -> Option<Count> {
    let (examples, batch) = (batches.examples.get().into(), u128::from(batches.batch.get()));
    let scaled = digits.checked_mul(examples)?.div_ceil(batch);
    // If the power of ten is too large, the quotient is below one.
    let count = 10_u128.checked_pow(places).map_or(1, |power| scaled.div_ceil(power));
    Count::new(u64::try_from(count).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batches(examples: u64, batch: u64) -> Batches {
        Batches { examples: Count::new(examples).unwrap(), batch: Count::new(batch).unwrap() }
    }

    #[test]
    fn the_rate_is_the_least_double_not_below_the_ratio() {
        assert_eq!(batches(60_000, 600).rate().unwrap().get().to_bits(), 0.01_f64.to_bits());
        assert_eq!(batches(7, 7).rate().unwrap().get().to_bits(), 1.0_f64.to_bits());
        for (examples, batch) in [(3, 1), (10, 3), (10, 7), (60_000, 256), (999_999_999_989, 2)] {
            let rate = batches(examples, batch).rate().unwrap().get();
            let (examples, batch) = (examples as f64, batch as f64);
            assert!(rate.mul_add(examples, -batch) >= 0.0, "{rate}");
            assert!(rate.next_down().mul_add(examples, -batch) < 0.0, "{rate}");
        }
    }

    #[test]
    fn epochs_are_counted_in_whole_batches() {
        let cases = [
            (Value::Whole(100), 60_000, 600, Some(10_000)),
            (Value::Whole(1), 60_000, 256, Some(235)),
            (Value::Whole(3), 10, 3, Some(10)),
            (Value::Real(1.1), 60_000, 600, Some(110)),
            (Value::Real(0.1), 1000, 100, Some(1)),
            (Value::Real(0.1), 1001, 100, Some(2)),
            (Value::Real(1e-300), 1_000_000_000_000, 1, Some(1)),
            (Value::Whole(1), 1_000_000_000_000, 1, Some(1_000_000_000_000)),
            (Value::Whole(2), 1_000_000_000_000, 1, None),
            (Value::Real(1e300), 1, 1, None),
            (Value::Whole(i128::MAX), 1_000_000_000_000, 1, None),
            (Value::Whole(0), 1, 1, None),
            (Value::Real(0.0), 1, 1, None),
            (Value::Real(-1.0), 1, 1, None),
            (Value::Real(f64::NAN), 1, 1, None),
            (Value::Real(f64::INFINITY), 1, 1, None),
        ];
        for (epochs, examples, batch, expected) in cases {
            let count = decimal(&epochs).and_then(|it| passes(it, batches(examples, batch)));
            assert_eq!(count.map(Count::get), expected, "{epochs} {examples} {batch}");
        }
    }
}

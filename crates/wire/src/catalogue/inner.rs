//! The fields of private selections: the law of the number of runs, and the releases that one run makes.

use counterpoint::mechanism::RunLaw;
use counterpoint::quantity::{Rate, RunShape};
use counterpoint::{Count, Release};

use super::types::Number;
use super::words::RunLawName;
use super::{Field, FieldType, Role, RoundingSide, ValueShape, describe, take_kind};
use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing};
use crate::text::value::{Table, Value};

impl RunLawName {
    /// The law, whose shape is given if the name does not determine it.
    pub(super) fn law(self, eta: Option<RunShape>) -> Result<RunLaw, PlanError> {
        let known = match self {
            Self::Geometric => 1.0,
            Self::Logarithmic => 0.0,
            Self::NegativeBinomial => {
                let eta = eta.ok_or_else(|| missing("eta", RunShape::LEGAL))?;
                return Ok(RunLaw::NegativeBinomial(eta));
            }
            Self::Poisson if eta.is_none() => return Ok(RunLaw::Poisson),
            Self::Poisson => 0.0,
        };
        if eta.is_some() {
            let problem = "is given with another law than negative-binomial; legal: with that only";
            return Err(PlanError::field("eta", problem));
        }
        let shape = RunShape::new(known);
        shape
            .map(RunLaw::NegativeBinomial)
            .map_err(|error| PlanError::from_text("eta", &error.to_string()))
    }

    /// The name of a law, and its shape if the name does not determine it.
    pub(super) fn of(law: RunLaw) -> (Self, Option<RunShape>) {
        let RunLaw::NegativeBinomial(eta) = law else { return (Self::Poisson, None) };
        match eta.get().to_bits() {
            bits if bits == 1.0_f64.to_bits() => (Self::Geometric, None),
            0 => (Self::Logarithmic, None),
            _ => (Self::NegativeBinomial, Some(eta)),
        }
    }
}

/// The releases that one run makes.
pub(super) struct InnerReleases(pub(super) Vec<Release>);

impl InnerReleases {
    const LEGAL: &'static str = "a list of tables, each with a mechanism";
}

impl Number for InnerReleases {
    const TYPE: FieldType =
        FieldType::new(ValueShape::Releases, Self::LEGAL, RoundingSide::Together, Role::Other);

    fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
        let value = from.take(field.name).ok_or_else(|| missing(field.name, Self::LEGAL))?;
        let Value::List(items) = value else {
            return Err(illegal(field.name, &value, Self::LEGAL));
        };
        let one = |(index, item): (usize, Value<'_>)| {
            let Value::Table(table) = item else {
                return Err(illegal(field.name, &item, Self::LEGAL));
            };
            read(table).map_err(|error| {
                PlanError::field(field.name, format!("is a list; entry {}: {error}", index + 1))
            })
        };
        items.into_iter().enumerate().map(one).collect::<Result<_, _>>().map(Self)
    }

    fn value(&self) -> Option<Value<'static>> {
        self.0.iter().map(write).collect::<Option<_>>().map(Value::List)
    }
}

fn read(table: Table<'_>) -> Result<Release, PlanError> {
    let mut fields = Fields::new(table);
    let kind = take_kind(&mut fields)?;
    let mechanism = kind.read(&mut fields)?;
    let rate = match kind.is_sampled && fields.has("rate") {
        true => Some(fields.number("rate", None, (Rate::new, Rate::LEGAL))?),
        false => None,
    };
    let count = fields.whole("count", (Count::new, Count::LEGAL))?.unwrap_or(Count::ONE);
    let own = kind.fields.iter().map(|field| field.name);
    let sampled = if kind.is_sampled { &["rate"][..] } else { &[] };
    let legal: Vec<&str> =
        ["mechanism", "count"].into_iter().chain(own).chain(sampled.iter().copied()).collect();
    fields.finish(kind.name, &legal)?;
    Ok(Release { rate, ..Release::from((mechanism, count)) })
}

fn write(release: &Release) -> Option<Value<'static>> {
    let mut table = describe(&release.mechanism)?;
    table.extend(release.rate.map(|rate| ("rate".into(), Value::Real(rate.get()))));
    table.push(("count".into(), Value::Whole(release.count.get().into())));
    Some(Value::Table(table))
}

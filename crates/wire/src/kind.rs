//! The kinds of mechanism a plan can name: one entry in [`KINDS`] and one arm in
//! [`describe`] each.

use counterpoint::{Delta, Epsilon, Guarantee, Mechanism};

use crate::error::PlanError;
use crate::fields::{Fields, illegal, missing};
use crate::value::{Table, Value};

/// How one kind is read.
struct Kind {
    name: &'static str,
    /// Its own fields, besides those every release has.
    fields: &'static [&'static str],
    read: fn(&mut Fields<'_>) -> Result<Mechanism, PlanError>,
}

const KINDS: [Kind; 1] =
    [Kind { name: "approx-dp", fields: &["epsilon", "delta"], read: approx_dp }];

/// The fields every release has.
const COMMON: [&str; 3] = ["name", "mechanism", "count"];

/// Takes a mechanism out of the fields of a release.
pub(crate) fn read(fields: &mut Fields<'_>) -> Result<(Mechanism, &'static str), PlanError> {
    let known = || KINDS.map(|kind| kind.name).join(", ");
    let value = fields.take("mechanism").ok_or_else(|| missing("mechanism", &known()))?;
    let kind = match &value {
        Value::Text(text) => KINDS.iter().find(|kind| kind.name == text),
        _ => None,
    };
    let kind = kind.ok_or_else(|| illegal("mechanism", &value, &known()))?;
    Ok(((kind.read)(fields)?, kind.name))
}

/// Every field a release of this kind may have.
pub(crate) fn legal_fields(name: &str) -> Vec<&'static str> {
    let own = KINDS.iter().find(|kind| kind.name == name).map_or(&[][..], |kind| kind.fields);
    COMMON.iter().chain(own).copied().collect()
}

/// The fields that describe a mechanism, or `None` if the format has no word for it.
pub(crate) fn describe(mechanism: &Mechanism) -> Option<Table<'static>> {
    let (kind, own) = match mechanism {
        Mechanism::ApproxDp(guarantee) => (
            "approx-dp",
            vec![("epsilon", guarantee.epsilon.get()), ("delta", guarantee.delta.get())],
        ),
        _ => return None,
    };
    let kind = ("mechanism".into(), Value::Text(kind.into()));
    let own = own.into_iter().map(|(name, number)| (name.into(), Value::Real(number)));
    Some(std::iter::once(kind).chain(own).collect())
}

fn approx_dp(fields: &mut Fields<'_>) -> Result<Mechanism, PlanError> {
    let epsilon = fields.number("epsilon", Epsilon::new, Epsilon::LEGAL)?;
    let delta = fields.number_or("delta", 0.0, Delta::new, Delta::LEGAL)?;
    Ok(Guarantee { epsilon, delta }.into())
}

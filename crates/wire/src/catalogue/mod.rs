//! The catalogue of mechanisms: the name and the meaning of each kind, its fields with their types, legal ranges and
//! defaults, and its conversion to and from a [`Mechanism`].
//!
//! Plan files, records of ledgers, the classes of the Python package and the tables of the documentation are made from
//! the catalogue or tested against it. A new kind is an entry in `kinds.rs`. A published entry never changes: the
//! records of ledgers have the meaning that it gives them, and omit fields with its default values.

mod inner;
mod kinds;
mod words;
mod types;
mod page;

use counterpoint::quantity::NoiseScale;
use counterpoint::{Delta, Epsilon, Guarantee, Mechanism};

use crate::text::error::PlanError;
use crate::text::fields::{Fields, illegal, missing, number};
use crate::text::value::{Table, Value};

pub use kinds::KINDS;
use kinds::NUMBERS;
pub use page::table;

/// A kind of mechanism.
#[derive(Debug)]
#[non_exhaustive]
pub struct MechanismKind {
    /// The name of the kind in plan files.
    pub name: &'static str,
    /// The name of the class in Python.
    pub class: &'static str,
    /// The behaviour of mechanisms of this kind, in one or two sentences.
    pub meaning: &'static str,
    /// True if mechanisms of this kind may run on a Poisson sample of the data.
    pub is_sampled: bool,
    /// The fields of this kind, besides those of every release.
    pub fields: &'static [Field],
    /// Fields that may replace others: a guarantee replaces noise, a file replaces lists.
    pub alternatives: &'static [Field],
    read: fn(&mut Fields<'_>) -> Result<Mechanism, PlanError>,
    write: fn(&Mechanism) -> Option<FieldValues>,
}

/// Fields with the values that are written for them, if any are written.
type FieldValues = Vec<(&'static str, Option<Value<'static>>)>;

/// A field of a kind of mechanism.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// The name of the field.
    pub name: &'static str,
    /// The type of the values.
    pub field_type: FieldType,
    /// The default: a number or, if no number expresses it, words.
    pub default: Option<&'static str>,
    /// The meaning of the field.
    pub meaning: &'static str,
}

/// The type of a field's values.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FieldType {
    /// One number, a list of them, or something else.
    pub shape: ValueShape,
    /// The legal range, in words.
    pub legal: &'static str,
    /// Tells if the field is required, optional or ignored.
    pub presence: Presence,
    pub(crate) side: RoundingSide,
    pub(crate) role: Role,
}

/// The form of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ValueShape {
    /// A real number.
    Real,
    /// A whole number.
    Whole,
    /// A list of real numbers.
    List,
    /// The name of a file.
    File,
    /// A word.
    Word,
    /// A list of releases.
    Releases,
}

/// The need to give a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// The field is required, unless it has a default.
    Needed,
    /// The field may be left out: its absence has a meaning that no value has.
    Optional,
    /// The field is checked, and changes nothing.
    Ignored,
}

/// The direction in which a number is rounded if a double is charged for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RoundingSide {
    /// Up, as a larger number costs more.
    Up,
    /// Down, as a smaller number costs more.
    Down,
    /// Towards one half, where the cost is largest: the place in a staircase's steps (theory 10.4).
    Half,
    /// Not at all: other numbers than whole ones are refused.
    Whole,
    /// Up, to the shortest decimal of a double, as which the number is read: epochs.
    Decimal,
    /// Together with the other numbers of its list.
    Together,
}

/// The meaning of a number for the cost of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The amount of noise.
    Noise,
    /// The loss, if no field gives the amount of noise.
    Loss,
    /// Any other meaning.
    Other,
}

impl FieldType {
    const fn new(shape: ValueShape, legal: &'static str, side: RoundingSide, role: Role) -> Self {
        Self { shape, legal, presence: Presence::Needed, side, role }
    }
}

/// The fields of every release.
const COMMON: [&str; 4] = ["name", "mechanism", "count", "partition"];

/// The fields of planned releases.
const PLANNED: [&str; 2] = ["also", "recipe"];

/// The fields of releases on Poisson samples.
const SAMPLED: [&str; 4] = ["rate", "examples", "batch", "epochs"];

/// Returns a numeric field of a kind or of every release.
pub(crate) fn field(of: &str, name: &str) -> Option<&'static Field> {
    let own = || kind(of)?.field(name);
    NUMBERS.iter().find(|field| field.name == name).or_else(own)
}

/// Returns the kind with this name.
#[must_use]
pub fn kind(name: &str) -> Option<&'static MechanismKind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// Takes the kind that a release names.
pub(crate) fn take_kind(fields: &mut Fields<'_>) -> Result<&'static MechanismKind, PlanError> {
    let known = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let value = fields.take("mechanism").ok_or_else(|| missing("mechanism", &known()))?;
    let found = match &value {
        Value::Text(text) => kind(text),
        _ => None,
    };
    found.ok_or_else(|| illegal("mechanism", &value, &known()))
}

/// Returns the fields that describe a mechanism, or `None` if the format cannot describe it.
pub(crate) fn describe(mechanism: &Mechanism) -> Option<Table<'static>> {
    let own = (kind(mechanism.kind())?.write)(mechanism)?;
    let own = own.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    let kind = ("mechanism".into(), Value::Text(mechanism.kind().into()));
    Some(std::iter::once(kind).chain(own).collect())
}

impl MechanismKind {
    /// Takes the mechanism out of the fields of a release.
    pub(crate) fn read(&self, from: &mut Fields<'_>) -> Result<Mechanism, PlanError> {
        (self.read)(from)
    }

    /// Returns the kind's own field with this name, or a field that may replace others.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().chain(self.alternatives).find(|field| field.name == name)
    }

    /// True if the kind has a field of this name of its own.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// Returns the field with the amount of noise, if a guarantee may replace it.
    pub(crate) fn noise_field(&self) -> Option<&'static str> {
        let is_guarantee =
            self.alternatives.iter().any(|field| field.field_type.role == Role::Loss);
        let noise = self.fields.iter().find(|field| field.field_type.role == Role::Noise);
        noise.filter(|_| is_guarantee).map(|field| field.name)
    }

    /// Takes the guarantee that replaces the noise, if one is given.
    pub(crate) fn guarantee(&self, from: &mut Fields<'_>) -> Result<Option<Guarantee>, PlanError> {
        let Some(noise) = self.noise_field() else { return Ok(None) };
        let mut words = self.alternatives.iter().map(|field| field.name);
        let instead = || words.clone().collect::<Vec<_>>().join(" and ");
        let Some(given) = words.clone().find(|word| from.has(word)) else {
            let legal = || format!("{}; or {} in its place", NoiseScale::LEGAL, instead());
            return if from.has(noise) { Ok(None) } else { Err(missing(noise, &legal())) };
        };
        if from.has(noise) {
            let problem = format!("is given with {noise}; legal: {noise}, or {}", instead());
            return Err(PlanError::field(given, problem));
        }
        let epsilon = from.number("epsilon", None, (Epsilon::new, Epsilon::LEGAL))?;
        let delta = match words.any(|word| word == "delta") {
            true => from.number("delta", None, (Delta::new, Delta::LEGAL))?,
            false => number("delta", &Value::Real(0.0), Delta::new, Delta::LEGAL)?,
        };
        Ok(Some(Guarantee { epsilon, delta }))
    }

    /// Returns the names of all fields that a release of this kind may have.
    pub(crate) fn legal_fields(&self) -> Vec<&'static str> {
        let sampled = if self.is_sampled { &SAMPLED[..] } else { &[] };
        let own = self.fields.iter().chain(self.alternatives).map(|field| field.name);
        let common = COMMON.into_iter().chain(own);
        common.chain(sampled.iter().copied()).chain(PLANNED).collect()
    }
}

//! The catalogue of mechanisms: what each kind is called and means, its fields with their types, legal ranges and
//! defaults, and its way to and from a [`Mechanism`].
//!
//! Plan files, records of ledgers, the classes of the Python package and the tables of the documentation are made of it or
//! tested against it. A new kind is an entry in `kinds.rs`. An entry that a version has had stays as it is: histories of
//! ledgers mean what it says, and leave out what it has a default for.

mod kinds;
mod types;
mod page;

use counterpoint::quantity::Noise;
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
pub struct Kind {
    /// Its name in plan files.
    pub name: &'static str,
    /// The name of its class in Python.
    pub class: &'static str,
    /// What a mechanism of the kind does, in one or two sentences.
    pub meaning: &'static str,
    /// Whether it may run on a Poisson sample of the data.
    pub is_sampled: bool,
    /// Its own fields, besides those that every release has.
    pub fields: &'static [Field],
    /// Fields that may stand in the place of others: a guarantee in the place of noise, a file in the place of lists.
    pub instead: &'static [Field],
    read: fn(&mut Fields<'_>) -> Result<Mechanism, PlanError>,
    write: fn(&Mechanism) -> Option<FieldValues>,
}

/// Fields with the values that are written for them, if any are.
type FieldValues = Vec<(&'static str, Option<Value<'static>>)>;

/// A field of a kind of mechanism.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Field {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub of: Type,
    /// What it stands for if it is left out: a number or, where no number says it, words.
    pub default: Option<&'static str>,
    /// What it means.
    pub meaning: &'static str,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Type {
    /// One number, a list of them, or something else.
    pub shape: Shape,
    /// The legal range, in words.
    pub legal: &'static str,
    /// Whether it may be left out, or changes nothing.
    pub presence: Presence,
    pub(crate) side: Side,
    pub(crate) role: Role,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A real number.
    Real,
    /// A whole number.
    Whole,
    /// A list of real numbers.
    List,
    /// The name of a file.
    File,
}

/// Whether a field has to be given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Presence {
    /// It has to be, but for a default.
    Needed,
    /// It may be left out, which says what no value does.
    Optional,
    /// It is checked, and changes nothing.
    Ignored,
}

/// The side to which a number is rounded where a double is charged in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// More of it costs more.
    Up,
    /// Less of it costs more.
    Down,
    /// Nearer to one half it costs more: where a staircase's steps are cut (theory 10.4).
    Half,
    /// It is a whole number, or refused.
    Whole,
    /// More of it costs more, and it is read as the shortest decimal of a double: epochs.
    Decimal,
    /// It is rounded together with others.
    Together,
}

/// What a number says of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// How much noise there is.
    Noise,
    /// How much is lost, where no field says how much noise there is.
    Loss,
    /// Something else.
    Other,
}

impl Type {
    const fn new(shape: Shape, legal: &'static str, side: Side, role: Role) -> Self {
        Self { shape, legal, presence: Presence::Needed, side, role }
    }
}

/// The fields every release has.
const COMMON: [&str; 4] = ["name", "mechanism", "count", "partition"];

/// The fields a planned release may have.
const PLANNED: [&str; 2] = ["also", "recipe"];

/// The fields a release on a Poisson sample has.
const SAMPLED: [&str; 4] = ["rate", "examples", "batch", "epochs"];

/// A field of a kind that holds numbers, or one that all releases have.
pub(crate) fn field(of: &str, name: &str) -> Option<&'static Field> {
    let own = || kind(of)?.field(name);
    NUMBERS.iter().find(|field| field.name == name).or_else(own)
}

/// The kind of a name.
#[must_use]
pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.name == name)
}

/// The kind that a release names.
pub(crate) fn named(fields: &mut Fields<'_>) -> Result<&'static Kind, PlanError> {
    let known = || KINDS.iter().map(|kind| kind.name).collect::<Vec<_>>().join(", ");
    let value = fields.take("mechanism").ok_or_else(|| missing("mechanism", &known()))?;
    let found = match &value {
        Value::Text(text) => kind(text),
        _ => None,
    };
    found.ok_or_else(|| illegal("mechanism", &value, &known()))
}

/// The fields that describe a mechanism, or `None` if the format has no word for it.
pub(crate) fn describe(mechanism: &Mechanism) -> Option<Table<'static>> {
    let own = (kind(mechanism.kind())?.write)(mechanism)?;
    let own = own.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
    let kind = ("mechanism".into(), Value::Text(mechanism.kind().into()));
    Some(std::iter::once(kind).chain(own).collect())
}

impl Kind {
    /// Takes the mechanism out of the fields of a release.
    pub(crate) fn read(&self, from: &mut Fields<'_>) -> Result<Mechanism, PlanError> {
        (self.read)(from)
    }

    /// Its own field of this name, or one that may stand in the place of others.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().chain(self.instead).find(|field| field.name == name)
    }

    /// Whether it has a field of this name of its own.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|field| field.name == name)
    }

    /// The field that says how much noise there is, if a guarantee may stand in its place.
    pub(crate) fn noise(&self) -> Option<&'static str> {
        let is_guarantee = self.instead.iter().any(|field| field.of.role == Role::Loss);
        let noise = self.fields.iter().find(|field| field.of.role == Role::Noise);
        noise.filter(|_| is_guarantee).map(|field| field.name)
    }

    /// Takes the guarantee that stands in the place of noise, if one does.
    pub(crate) fn guarantee(&self, from: &mut Fields<'_>) -> Result<Option<Guarantee>, PlanError> {
        let Some(noise) = self.noise() else { return Ok(None) };
        let mut words = self.instead.iter().map(|field| field.name);
        let instead = || words.clone().collect::<Vec<_>>().join(" and ");
        let Some(given) = words.clone().find(|word| from.has(word)) else {
            let legal = || format!("{}; or {} in its place", Noise::LEGAL, instead());
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

    /// Every field a release of this kind may have.
    pub(crate) fn legal_fields(&self) -> Vec<&'static str> {
        let sampled = if self.is_sampled { &SAMPLED[..] } else { &[] };
        let own = self.fields.iter().chain(self.instead).map(|field| field.name);
        let common = COMMON.into_iter().chain(own);
        common.chain(sampled.iter().copied()).chain(PLANNED).collect()
    }
}

//! The types of the numbers of fields.

use std::marker::PhantomData;

use counterpoint::Count;
use counterpoint::quantity::{
    Buckets, Delta, Epsilon, Gamma, MeanRuns, Mu, NoiseBound, NoiseScale, Order, Rate, Rho,
    RunShape, Sensitivity, StepCount, WholeSensitivity,
};

use super::{Field, FieldType, Presence, Role, RoundingSide, ValueShape};
use crate::text::error::PlanError;
use crate::text::fields::{Fields, missing};
use crate::text::value::Value;

/// A number, or list of numbers, in a field.
pub(super) trait Number: Sized {
    const TYPE: FieldType;

    /// Takes the number out of the fields of a release.
    fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError>;

    /// The value that is written for the number, if one is written.
    fn value(&self) -> Option<Value<'static>>;
}

macro_rules! reals {
    ($($type:ident $side:ident $role:ident,)*) => {$(
        impl Number for $type {
            const TYPE: FieldType = FieldType::new(ValueShape::Real, Self::LEGAL, RoundingSide::$side, Role::$role);

            fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
                let default = field.default.and_then(|text| text.parse().ok());
                from.number(field.name, default, (Self::new, Self::LEGAL))
            }

            fn value(&self) -> Option<Value<'static>> {
                Some(Value::Real(self.get()))
            }
        }
    )*};
}

macro_rules! wholes {
    ($($type:ident,)*) => {$(
        impl Number for $type {
            const TYPE: FieldType = FieldType::new(ValueShape::Whole, Self::LEGAL, RoundingSide::Whole, Role::Other);

            fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
                let default = || Self::new(field.default?.parse().ok()?).ok();
                let found = from.whole(field.name, (Self::new, Self::LEGAL))?.or_else(default);
                found.ok_or_else(|| missing(field.name, Self::LEGAL))
            }

            fn value(&self) -> Option<Value<'static>> {
                Some(Value::Whole(self.get().into()))
            }
        }
    )*};
}

macro_rules! lists {
    ($($(#[$doc:meta])* $type:ident $side:ident,)*) => {$(
        $(#[$doc])*
        pub(super) struct $type(pub(super) Vec<f64>);

        impl Number for $type {
            const TYPE: FieldType = FieldType::new(ValueShape::List, Fields::LIST, RoundingSide::$side, Role::Other);

            fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
                from.numbers(field.name).map(Self)
            }

            fn value(&self) -> Option<Value<'static>> {
                Some(Value::List(self.0.iter().copied().map(Value::Real).collect()))
            }
        }
    )*};
}

reals! {
    Delta Up Other,
    Epsilon Up Loss,
    Mu Up Loss,
    NoiseBound Down Other,
    NoiseScale Down Noise,
    Order Down Other,
    Rate Up Other,
    Rho Up Loss,
    Sensitivity Up Other,
    Gamma Half Other,
    MeanRuns Up Other,
    RunShape Up Other,
}

wholes! { Buckets, Count, StepCount, WholeSensitivity, }

lists! {
    /// Bounds on privacy losses, which ledgers cannot charge.
    Bounds Together,
    /// Distances between the values on neighbouring data sets.
    Distances Up,
    /// Rényi divergences.
    Divergences Up,
    /// Orders of Rényi divergences.
    Orders Down,
    /// Probabilities that sum to one.
    Probabilities Together,
}

/// A number that may be left out: its absence has a meaning that no value has.
impl<N: Number> Number for Option<N> {
    const TYPE: FieldType = FieldType { presence: Presence::Optional, ..N::TYPE };

    fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
        from.has(field.name).then(|| N::read(from, field)).transpose()
    }

    fn value(&self) -> Option<Value<'static>> {
        self.as_ref().and_then(N::value)
    }
}

/// A number that changes nothing: it is checked and dropped.
pub(super) struct IgnoredNumber<N>(pub(super) PhantomData<N>);

impl<N: Number> Number for IgnoredNumber<N> {
    const TYPE: FieldType = FieldType { presence: Presence::Ignored, ..N::TYPE };

    fn read(from: &mut Fields<'_>, field: &Field) -> Result<Self, PlanError> {
        N::read(from, field).map(|_| Self(PhantomData))
    }

    fn value(&self) -> Option<Value<'static>> {
        None
    }
}

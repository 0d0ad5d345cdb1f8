//! Conversions of a guarantee, as JSON.

use counterpoint::ask::{AskError, Options};
use counterpoint::theorem::convert;
use counterpoint::{Bracket, Count, Delta, Epsilon, Guarantee, Plan};

use crate::text::object::{Object, bracket_object, guarantee_object};

/// A guarantee expressed by another epsilon, by another delta and by a distance (KOV Remark A.1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuaranteeConversion {
    /// The guarantee.
    pub from: Guarantee,
    /// The largest total variation distance that the guarantee allows.
    pub total_variation: Bracket,
    /// The least delta at another epsilon, if an epsilon is given alone.
    pub delta: Option<(Epsilon, Bracket)>,
    /// The least epsilon at another delta, if a delta is given alone; `None` inside if the delta is below the
    /// guarantee's own, so that no epsilon holds.
    pub epsilon: Option<(Delta, Option<Bracket>)>,
    /// True if every mechanism with the guarantee has the other guarantee, if an epsilon and a delta are given.
    pub implied: Option<(Guarantee, bool)>,
}

impl GuaranteeConversion {
    /// Converts a guarantee to an epsilon or to a delta. With both, finds out if the guarantee implies the other one.
    ///
    /// # Errors
    /// [`AskError`] if the least epsilon cannot be computed.
    pub fn new(
        from: Guarantee,
        epsilon: Option<Epsilon>,
        delta: Option<Delta>,
    ) -> Result<Self, AskError> {
        let total_variation = convert::total_variation(from);
        let mut converted =
            Self { from, total_variation, delta: None, epsilon: None, implied: None };
        match (epsilon, delta) {
            (None, None) => {}
            (Some(at), None) => converted.delta = Some((at, convert::delta_at(from, at))),
            (None, Some(at)) => converted.epsilon = Some((at, epsilon_at(from, at)?)),
            (Some(epsilon), Some(delta)) => {
                let to = Guarantee { epsilon, delta };
                converted.implied = Some((to, convert::implies(from, to)));
            }
        }
        Ok(converted)
    }

    /// The `convert --json` object.
    ///
    /// # Errors
    /// If a bound is not a finite number.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let at = |epsilon: Option<Object>, delta: Object| {
            Object::new().field("epsilon", epsilon).field("delta", delta)
        };
        let point = |number: f64| bracket_object(Bracket::exact(number));
        let to = match (self.delta, self.epsilon, self.implied) {
            (Some((epsilon, delta)), ..) => {
                Some(at(Some(point(epsilon.get())), bracket_object(delta)))
            }
            (_, Some((delta, epsilon)), _) => {
                Some(at(epsilon.map(bracket_object), point(delta.get())))
            }
            (_, _, Some((Guarantee { epsilon, delta }, implied))) => {
                let to = at(Some(point(epsilon.get())), point(delta.get()));
                Some(to.field("implied", implied))
            }
            _ => None,
        };
        guarantee_object(self.from)
            .field("total_variation", bracket_object(self.total_variation))
            .some("to", to)
            .field("theorem", Self::SOURCE)
            .json()
    }

    /// The source of the conversions.
    pub const SOURCE: &'static str = "Kairouz, Oh and Viswanath 2017, Remark A.1";
}

/// Returns the least epsilon at a delta. The worst mechanism with the guarantee is the corner of its region, so this is
/// the epsilon of composing the guarantee once.
fn epsilon_at(from: Guarantee, delta: Delta) -> Result<Option<Bracket>, AskError> {
    let Ok(one) = Plan::new([(from, Count::ONE)]) else { return Ok(None) };
    match one.epsilon(delta, &Options::default()) {
        Ok(answer) => Ok(Some(answer.bracket)),
        Err(AskError::BelowLeak { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

//! Authentication. A handler's state is a [`Gate`], which has no curator; the curator comes with a [`Known`] caller alone.

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use counterpoint_curator::{Bearer, Role};

use super::problem::{FAILED, FORBIDDEN, NOT_KNOWN, Problem, TOO_MANY};
use super::state::{Readiness, Shared};
use crate::body::Room;
use crate::record::Record;
use crate::seats::Seat;

/// The state of every handler: what may be had before a token is checked.
#[derive(Clone, Debug)]
pub(crate) struct Gate(Shared);

impl Gate {
    pub(crate) fn new(shared: Shared) -> Self {
        Self(shared)
    }

    /// The room for bodies.
    pub(crate) fn room(&self) -> &Room {
        &self.0.room
    }

    /// What can be reached.
    pub(crate) async fn readiness(&self) -> Readiness {
        self.0.readiness().await
    }
}

/// The roles that may use a path.
pub(crate) trait Roles: Send + Sync + 'static {
    /// The roles.
    const ROLES: &'static [Role];
}

/// Whoever has a token.
pub(crate) struct Anybody;
/// Those who ask.
pub(crate) struct Analyst;
/// The owner alone.
pub(crate) struct Owner;
/// Those who look after it.
pub(crate) struct Overseer;

impl Roles for Anybody {
    const ROLES: &'static [Role] = &[Role::Owner, Role::Analyst, Role::Auditor];
}
impl Roles for Analyst {
    const ROLES: &'static [Role] = &[Role::Analyst];
}
impl Roles for Owner {
    const ROLES: &'static [Role] = &[Role::Owner];
}
impl Roles for Overseer {
    const ROLES: &'static [Role] = &[Role::Owner, Role::Auditor];
}

/// A caller whose token is valid, has one of the roles, and does not ask too often. Handlers take it first: what else is
/// wrong with a request is said to such callers alone.
pub(crate) struct Known<R> {
    pub(crate) bearer: Bearer,
    pub(crate) shared: Shared,
    pub(crate) record: Arc<Record>,
    roles: PhantomData<R>,
}

impl<R: Roles> FromRequestParts<Gate> for Known<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, Gate(shared): &Gate) -> Result<Self, Problem> {
        let bug = || FAILED.of("this is a bug");
        let record = parts.extensions.get::<Arc<Record>>().cloned().ok_or_else(bug)?;
        let token = token(&parts.headers).ok_or_else(unknown)?;
        let bearer = shared.find(token).await?.ok_or_else(unknown)?;
        let _ = record.principal.set((bearer.name.clone(), bearer.role.name()));
        let seat = parts.extensions.get::<Arc<Seat>>();
        if !shared.is_within_rate(bearer.id) || !seat.is_none_or(|seat| seat.keep_for(bearer.id)) {
            let legal = "legal: 200 requests a second and 128 connections for each token";
            return Err(TOO_MANY.of(legal));
        }
        if !R::ROLES.contains(&bearer.role) {
            let roles: Vec<&str> = R::ROLES.iter().map(|role| role.name()).collect();
            let (role, roles) = (bearer.role.name(), roles.join(", "));
            return Err(FORBIDDEN.of(format!("the token is {role}'s; legal: {roles}")));
        }
        Ok(Self { bearer, shared: shared.clone(), record, roles: PhantomData })
    }
}

fn unknown() -> Problem {
    NOT_KNOWN.of("legal: Authorization: Bearer and a token that is not revoked")
}

/// The token of a head that has exactly one.
fn token(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let token = value.strip_prefix("Bearer ").filter(|_| values.next().is_none())?;
    Some(token.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Gate, Shared};
    use axum::extract::{FromRequestParts, State};

    /// Does not compile if handlers can be given what they share without a caller who is known: `found` is ambiguous then.
    #[test]
    fn handlers_are_given_the_curator_with_a_caller_alone() {
        trait Given<Whether> {
            fn found() {}
        }
        struct Always;
        struct Extracted;
        impl<T> Given<Always> for T {}
        impl<T: FromRequestParts<Gate>> Given<Extracted> for T {}
        <State<Shared> as Given<_>>::found();
    }
}

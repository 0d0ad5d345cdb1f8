//! Authentication. The state of a handler is an [`Authenticator`], which gives no access to the curator. A handler gets
//! the curator from a [`Caller`].

use std::marker::PhantomData;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use counterpoint_curator::{Bearer, Role};

use super::problem::{FAILED, FORBIDDEN, Problem, TOO_MANY, UNAUTHORIZED};
use super::state::{ReadinessResponse, SharedState};
use crate::body::BodyMemory;
use crate::connection_limits::ConnectionPermit;
use crate::record::RequestRecord;

/// The state of every handler: it authenticates callers. Handlers cannot reach the curator through it.
#[derive(Clone, Debug)]
pub(crate) struct Authenticator(SharedState);

impl Authenticator {
    pub(crate) fn new(shared: SharedState) -> Self {
        Self(shared)
    }

    /// The memory for request bodies.
    pub(crate) fn body_memory(&self) -> &BodyMemory {
        &self.0.body_memory
    }

    /// The parts of the service that can be reached.
    pub(crate) async fn readiness(&self) -> ReadinessResponse {
        self.0.readiness().await
    }
}

/// The roles that may use a path.
pub(crate) trait Roles: Send + Sync + 'static {
    /// The roles.
    const ROLES: &'static [Role];
}

/// Every role.
pub(crate) struct AnyRole;
/// Analysts only.
pub(crate) struct Analyst;
/// Owners only.
pub(crate) struct Owner;
/// Owners and auditors.
pub(crate) struct Overseer;

impl Roles for AnyRole {
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

/// An authenticated caller: the token is valid, has one of the roles and is within its rate limit. Handlers extract the
/// caller first, so other callers do not learn what else is wrong with a request.
pub(crate) struct Caller<R> {
    pub(crate) bearer: Bearer,
    pub(crate) shared: SharedState,
    pub(crate) record: Arc<RequestRecord>,
    roles: PhantomData<R>,
}

impl<R: Roles> FromRequestParts<Authenticator> for Caller<R> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut Parts,
        Authenticator(shared): &Authenticator,
    ) -> Result<Self, Problem> {
        let bug = || FAILED.problem("the request has no record, which is a bug");
        let record = parts.extensions.get::<Arc<RequestRecord>>().cloned().ok_or_else(bug)?;
        let token = token(&parts.headers).ok_or_else(no_valid_token)?;
        let bearer = shared.find(token).await?.ok_or_else(no_valid_token)?;
        let _ = record.principal.set((bearer.name.clone(), bearer.role.name()));
        let permit = parts.extensions.get::<Arc<ConnectionPermit>>();
        if !shared.is_within_rate_limit(bearer.id)
            || !permit.is_none_or(|permit| permit.authenticate(bearer.id))
        {
            let legal = "the token makes too many requests; legal: 200 requests a second and 128 connections for each token";
            return Err(TOO_MANY.problem(legal));
        }
        if !R::ROLES.contains(&bearer.role) {
            let roles: Vec<&str> = R::ROLES.iter().map(|role| role.name()).collect();
            let (role, roles) = (bearer.role.name(), roles.join(", "));
            return Err(FORBIDDEN.problem(format!("the token's role is {role}; legal: {roles}")));
        }
        Ok(Self { bearer, shared: shared.clone(), record, roles: PhantomData })
    }
}

fn no_valid_token() -> Problem {
    UNAUTHORIZED.problem("the token is missing, unknown or revoked; legal: the header Authorization: Bearer with a valid token")
}

/// Returns the bearer token if there is exactly one `Authorization` header.
fn token(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    let token = value.strip_prefix("Bearer ").filter(|_| values.next().is_none())?;
    Some(token.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::{Authenticator, SharedState};
    use axum::extract::{FromRequestParts, State};

    /// Does not compile (`is_extractable` becomes ambiguous) if a handler can extract the shared state without a
    /// caller.
    #[test]
    fn handlers_get_the_curator_only_with_a_caller() {
        trait Extraction<Marker> {
            fn is_extractable() {}
        }
        struct Always;
        struct FromRequest;
        impl<T> Extraction<Always> for T {}
        impl<T: FromRequestParts<Authenticator>> Extraction<FromRequest> for T {}
        <State<SharedState> as Extraction<_>>::is_extractable();
    }
}

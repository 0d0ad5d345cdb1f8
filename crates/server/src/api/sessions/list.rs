//! The token's own sessions: all of them, one, and the end of one.

use axum::extract::Path;
use counterpoint_curator::Standing;
use counterpoint_curator::table_session::Runs;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::json::JsonResponse;
use crate::api::known::{Analyst, Known};
use crate::api::page::Page;
use crate::api::problem::Problem;

/// A session, as it stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionShown {
    account: String,
    key: String,
    table: String,
    /// What was declared.
    #[schema(value_type = Object)]
    declared: Runs,
    /// How many answers it has given.
    answered: u64,
    /// Whether it gives no more.
    over: bool,
}

impl From<Standing> for SessionShown {
    fn from(standing: Standing) -> Self {
        let Standing { account, key, table, declared, answered, is_over: over, .. } = standing;
        Self { account, key, table, declared, answered, over }
    }
}

/// A page of sessions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Sessions {
    sessions: Vec<SessionShown>,
    /// What the next page begins after; null if there is none.
    next: Option<u64>,
}

/// The token's own sessions, in the order they began.
#[utoipa::path(get, path = "/v1/sessions", security(("token" = [])), params(Page<u64>),
    responses((status = 200, body = Sessions), Problem))]
pub(crate) async fn sessions(
    Known { bearer, shared, .. }: Known<Analyst>,
    page: Page<u64>,
) -> Result<JsonResponse<Sessions>, Problem> {
    let sessions = shared.work(move |curator| {
        let read = curator.sessions(&bearer, page.after, page.read_limit())?;
        let (sessions, next) = page.cut(read, |standing| standing.begun);
        Ok(Sessions { sessions: sessions.into_iter().map(SessionShown::from).collect(), next })
    });
    Ok(JsonResponse(sessions.await?))
}

/// One session of the token's own.
#[utoipa::path(get, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), Problem))]
pub(crate) async fn session(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<JsonResponse<SessionShown>, Problem> {
    let found = shared.work(move |curator| Ok(curator.session(&bearer, &account, &key)?)).await?;
    Ok(JsonResponse(SessionShown::from(found)))
}

/// Ends a session for good. It is not refunded.
#[utoipa::path(delete, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionShown), Problem))]
pub(crate) async fn close_session(
    Known { bearer, shared, .. }: Known<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<JsonResponse<SessionShown>, Problem> {
    let closed = shared.work(move |curator| Ok(curator.close_session(&bearer, &account, &key)?));
    Ok(JsonResponse(SessionShown::from(closed.await?)))
}

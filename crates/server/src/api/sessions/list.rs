//! Lists, shows and closes the sessions of a token.

use axum::extract::Path;
use counterpoint_curator::SessionInfo;
use counterpoint_curator::table_session::SessionMechanism;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::caller::{Analyst, Caller};
use crate::api::json::JsonResponse;
use crate::api::pagination::PageRequest;
use crate::api::problem::Problem;

/// A session and its state.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionView {
    account: String,
    key: String,
    table: String,
    /// The declared mechanism.
    #[schema(value_type = Object)]
    declared: SessionMechanism,
    /// The number of answers that the session has given.
    answered: u64,
    /// True if the session gives no more answers.
    over: bool,
}

impl From<SessionInfo> for SessionView {
    fn from(info: SessionInfo) -> Self {
        let SessionInfo {
            account, key, table, mechanism: declared, answered, is_over: over, ..
        } = info;
        Self { account, key, table, declared, answered, over }
    }
}

/// A page of sessions.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionsResponse {
    sessions: Vec<SessionView>,
    /// The `after` of the next page; null if this is the last page.
    next: Option<u64>,
}

/// The token's own sessions, in the order they were opened.
#[utoipa::path(get, path = "/v1/sessions", security(("token" = [])), params(PageRequest<u64>),
    responses((status = 200, body = SessionsResponse), Problem))]
pub(crate) async fn sessions(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    page: PageRequest<u64>,
) -> Result<JsonResponse<SessionsResponse>, Problem> {
    let sessions = shared.work(move |curator| {
        let read = curator.sessions(&bearer, page.after, page.read_limit())?;
        let (sessions, next) = page.cut(read, |info| info.begun);
        Ok(SessionsResponse {
            sessions: sessions.into_iter().map(SessionView::from).collect(),
            next,
        })
    });
    Ok(JsonResponse(sessions.await?))
}

/// One of the token's own sessions.
#[utoipa::path(get, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionView), Problem))]
pub(crate) async fn session(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<JsonResponse<SessionView>, Problem> {
    let found = shared.work(move |curator| Ok(curator.session(&bearer, &account, &key)?)).await?;
    Ok(JsonResponse(SessionView::from(found)))
}

/// Closes a session for good, without a refund.
#[utoipa::path(delete, path = "/v1/sessions/{account}/{key}", security(("token" = [])),
    params(("account" = String, Path, description = "The account that paid"), ("key" = String, Path, description = "Its key")),
    responses((status = 200, body = SessionView), Problem))]
pub(crate) async fn close_session(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    Path((account, key)): Path<(String, String)>,
) -> Result<JsonResponse<SessionView>, Problem> {
    let closed = shared.work(move |curator| Ok(curator.close_session(&bearer, &account, &key)?));
    Ok(JsonResponse(SessionView::from(closed.await?)))
}

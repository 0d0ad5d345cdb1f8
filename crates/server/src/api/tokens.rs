//! `/v1/tokens`. An owner's token can only be created by the program, on the machine of the service.

use axum::extract::Path;
use counterpoint_curator::{Bearer, Curator, Role};
use counterpoint_ledger::{Ledger, LedgerError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::caller::{Caller, Owner};
use super::json::{Json, JsonResponse};
use super::pagination::PageRequest;
use super::problem::{FORBIDDEN, ILLEGAL, NOT_FOUND, Problem};

/// A token, without its secret text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenView {
    id: i64,
    name: String,
    role: String,
    /// The accounts that the token may ask.
    accounts: Vec<String>,
    /// The time of creation, in Unix seconds.
    created: i64,
    /// The time of revocation, in Unix seconds.
    revoked: Option<i64>,
}

impl From<Bearer> for TokenView {
    fn from(bearer: Bearer) -> Self {
        let Bearer { id, role, name, accounts, created, revoked } = bearer;
        Self { id, name, role: role.name().to_owned(), accounts, created, revoked }
    }
}

/// A page of tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokensResponse {
    tokens: Vec<TokenView>,
    /// The `after` of the next page; null if this is the last page.
    next: Option<u64>,
}

impl TokensResponse {
    fn read(curator: &Curator, page: &PageRequest<u64>) -> Result<Self, Problem> {
        let read = curator.tokens().page(page.after, page.read_limit())?;
        let (tokens, next) = page.cut(read, |token| token.id.unsigned_abs());
        Ok(Self { tokens: tokens.into_iter().map(TokenView::from).collect(), next })
    }
}

/// The token to create.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenRequest {
    /// The name of its holder.
    name: String,
    /// `analyst` or `auditor`.
    role: String,
    /// The accounts that an analyst may ask.
    #[serde(default)]
    accounts: Vec<String>,
}

/// A created token.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenResponse {
    name: String,
    role: String,
    /// The secret text, which is shown only once.
    token: String,
}

/// All tokens, without their secret texts, in the order of creation.
#[utoipa::path(get, path = "/v1/tokens", security(("token" = [])), params(PageRequest<u64>),
    responses((status = 200, body = TokensResponse), Problem))]
pub(super) async fn tokens(
    Caller { shared, .. }: Caller<Owner>,
    page: PageRequest<u64>,
) -> Result<JsonResponse<TokensResponse>, Problem> {
    Ok(JsonResponse(shared.work(move |curator| TokensResponse::read(curator, &page)).await?))
}

/// Creates a token for an analyst or an auditor. Its secret text is shown only once.
#[utoipa::path(post, path = "/v1/tokens", security(("token" = [])), request_body = TokenRequest,
    responses((status = 200, body = TokenResponse), Problem))]
pub(super) async fn make_token(
    Caller { shared, .. }: Caller<Owner>,
    Json(request, _memory): Json<TokenRequest>,
) -> Result<JsonResponse<TokenResponse>, Problem> {
    let role = Role::named(&request.role).ok_or_else(|| {
        ILLEGAL.problem(format!("role is {:?}; legal: analyst, auditor", request.role))
    })?;
    if role == Role::Owner {
        return Err(owner_token_problem());
    }
    let made = shared.work(move |curator| {
        for account in &request.accounts {
            curator.pool().with(|ledger| check_account(ledger, account))?;
        }
        let token = curator.tokens().create(role, &request.name, &request.accounts)?;
        Ok(TokenResponse { name: request.name, role: role.name().to_owned(), token })
    });
    Ok(JsonResponse(made.await?))
}

/// Refuses names that are not accounts, data sets included.
fn check_account(ledger: &mut Ledger, account: &str) -> Result<(), Problem> {
    let none =
        || NOT_FOUND.problem(format!("account {account:?} does not exist; legal: an open account"));
    let status = match ledger.status(Some(account)) {
        Err(LedgerError::Unknown { .. }) => return Err(none()),
        status => status?,
    };
    let found = status.accounts.first().filter(|found| found.parent.is_some());
    found.map(|_| ()).ok_or_else(none)
}

fn owner_token_problem() -> Problem {
    FORBIDDEN.problem(
        "an owner's token is created and revoked on the machine of the service; legal: counterpoint token",
    )
}

/// Revokes the token of an analyst or an auditor, at once and for good. Returns the first page of tokens.
#[utoipa::path(delete, path = "/v1/tokens/{id}", security(("token" = [])), params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = TokensResponse), Problem))]
pub(super) async fn revoke_token(
    Caller { shared, .. }: Caller<Owner>,
    Path(id): Path<String>,
) -> Result<JsonResponse<TokensResponse>, Problem> {
    let list = shared.work(move |curator| {
        let found = id.parse().map(|id| curator.tokens().get(id)).unwrap_or(Ok(None))?;
        match found.filter(|bearer| bearer.revoked.is_none()) {
            None => {
                return Err(
                    NOT_FOUND.problem(format!("token {id} does not exist or is revoked already"))
                );
            }
            Some(bearer) if bearer.role == Role::Owner => return Err(owner_token_problem()),
            Some(bearer) => curator.tokens().revoke(bearer.id)?,
        };
        TokensResponse::read(curator, &PageRequest::first())
    });
    Ok(JsonResponse(list.await?))
}

//! `/v1/tokens`. An owner's own token is made where the service runs, and nowhere else.

use axum::extract::Path;
use counterpoint_curator::{Bearer, Curator, Role};
use counterpoint_ledger::{Ledger, LedgerError};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::json::{Json, JsonResponse};
use super::known::{Known, Owner};
use super::page::Page;
use super::problem::{FORBIDDEN, ILLEGAL, NOT_FOUND, Problem};

/// A token, without its text.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenShown {
    id: i64,
    name: String,
    role: String,
    /// The accounts that may be asked.
    accounts: Vec<String>,
    /// When it was made, in Unix seconds.
    created: i64,
    /// When it was revoked.
    revoked: Option<i64>,
}

impl From<Bearer> for TokenShown {
    fn from(bearer: Bearer) -> Self {
        let Bearer { id, role, name, accounts, created, revoked } = bearer;
        Self { id, name, role: role.name().to_owned(), accounts, created, revoked }
    }
}

/// A page of tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenList {
    tokens: Vec<TokenShown>,
    /// What the next page begins after; null if there is none.
    next: Option<u64>,
}

impl TokenList {
    fn read(curator: &Curator, page: &Page<u64>) -> Result<Self, Problem> {
        let read = curator.tokens().page(page.after, page.read_limit())?;
        let (tokens, next) = page.cut(read, |token| token.id.unsigned_abs());
        Ok(Self { tokens: tokens.into_iter().map(TokenShown::from).collect(), next })
    }
}

/// A token that is to be made.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenAsked {
    /// Whose it is.
    name: String,
    /// `analyst` or `auditor`.
    role: String,
    /// The accounts that an analyst may ask.
    #[serde(default)]
    accounts: Vec<String>,
}

/// A token that was made.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenMade {
    name: String,
    role: String,
    /// Its text, this once.
    token: String,
}

/// Every token, without their texts, in the order they were made.
#[utoipa::path(get, path = "/v1/tokens", security(("token" = [])), params(Page<u64>),
    responses((status = 200, body = TokenList), Problem))]
pub(super) async fn tokens(
    Known { shared, .. }: Known<Owner>,
    page: Page<u64>,
) -> Result<JsonResponse<TokenList>, Problem> {
    Ok(JsonResponse(shared.work(move |curator| TokenList::read(curator, &page)).await?))
}

/// Makes a token of an analyst or an auditor. Its text is told this once.
#[utoipa::path(post, path = "/v1/tokens", security(("token" = [])), request_body = TokenAsked,
    responses((status = 200, body = TokenMade), Problem))]
pub(super) async fn make_token(
    Known { shared, .. }: Known<Owner>,
    Json(asked, _room): Json<TokenAsked>,
) -> Result<JsonResponse<TokenMade>, Problem> {
    let role = Role::named(&asked.role)
        .ok_or_else(|| ILLEGAL.of(format!("role is {:?}; legal: analyst, auditor", asked.role)))?;
    if role == Role::Owner {
        return Err(not_here());
    }
    let made = shared.work(move |curator| {
        for account in &asked.accounts {
            curator.pool().with(|ledger| pays(ledger, account))?;
        }
        let token = curator.tokens().create(role, &asked.name, &asked.accounts)?;
        Ok(TokenMade { name: asked.name, role: role.name().to_owned(), token })
    });
    Ok(JsonResponse(made.await?))
}

/// An error unless there is an account of that name. A data set is none.
fn pays(ledger: &mut Ledger, account: &str) -> Result<(), Problem> {
    let none =
        || NOT_FOUND.of(format!("account {account:?} is not there; legal: one that is open"));
    let status = match ledger.status(Some(account)) {
        Err(LedgerError::Unknown { .. }) => return Err(none()),
        status => status?,
    };
    let found = status.accounts.first().filter(|found| found.parent.is_some());
    found.map(|_| ()).ok_or_else(none)
}

fn not_here() -> Problem {
    FORBIDDEN.of(
        "an owner's token is made and revoked where the service runs; legal: counterpoint token",
    )
}

/// Revokes a token of an analyst or an auditor, at once and for good. Answers the first page of tokens.
#[utoipa::path(delete, path = "/v1/tokens/{id}", security(("token" = [])), params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = TokenList), Problem))]
pub(super) async fn revoke_token(
    Known { shared, .. }: Known<Owner>,
    Path(id): Path<String>,
) -> Result<JsonResponse<TokenList>, Problem> {
    let list = shared.work(move |curator| {
        let found = id.parse().map(|id| curator.tokens().get(id)).unwrap_or(Ok(None))?;
        match found.filter(|bearer| bearer.revoked.is_none()) {
            None => {
                return Err(
                    NOT_FOUND.of(format!("there is no token {id} that is not revoked already"))
                );
            }
            Some(bearer) if bearer.role == Role::Owner => return Err(not_here()),
            Some(bearer) => curator.tokens().revoke(bearer.id)?,
        };
        TokenList::read(curator, &Page::first())
    });
    Ok(JsonResponse(list.await?))
}

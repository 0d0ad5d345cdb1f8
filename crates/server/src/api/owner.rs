//! What owners do besides looking: accounts and tokens. An owner's own token is made where the service runs, and nowhere else.

use axum::extract::Path;
use axum::response::Response;
use counterpoint_budget::Amount;
use counterpoint_curator::{Bearer, Role, TokenError};
use counterpoint_ledger::{Kind, Ledger, LedgerError, NewAccount, NewFilter};
use counterpoint_wire::Format;
use counterpoint_wire::ledger::ExactPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

use super::json::{Json, json as answer};
use super::known::{Known, Overseer, Owner};
use super::problem::{FORBIDDEN, ILLEGAL, NOT_FOUND, Problem, UNAVAILABLE};
use super::types::standing::AccountShown;

/// An account that is to be opened under a data set: with a `plan`, or with an `epsilon` and a `delta`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountAsked {
    /// Its name.
    name: String,
    /// The data set that pays.
    dataset: String,
    /// What it adds up: `sums` if nothing is said.
    #[serde(default)]
    kind: Option<String>,
    /// What it promises.
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    epsilon: Option<Decimal>,
    /// What it promises; 0 if nothing is said.
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    delta: Option<Decimal>,
    /// The text of a plan file: its releases are the slots.
    #[serde(default)]
    plan: Option<String>,
}

/// An amount, as a number or as text.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Decimal {
    Number(f64),
    Text(String),
}

impl Decimal {
    fn amount(&self, name: &str) -> Result<Amount, Problem> {
        let text = match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        };
        text.parse().map_err(|error| ILLEGAL.of(format!("{name}: {error}")))
    }
}

/// Reads a plan from the text of its file.
pub(super) fn plan(text: &str) -> Result<ExactPlan, Problem> {
    let format = Format::detect(None, text.as_bytes());
    ExactPlan::parse(text.as_bytes(), format).map_err(|error| ILLEGAL.of(error.to_string()))
}

impl AccountAsked {
    fn account(&self) -> Result<NewAccount, Problem> {
        match (&self.plan, &self.epsilon) {
            (Some(text), None) if self.delta.is_none() && self.kind.is_none() => {
                Ok(NewAccount::Plan(plan(text)?, None))
            }
            (None, Some(epsilon)) => {
                let named = self.kind.as_deref().unwrap_or(Kind::Sums.name());
                let kind = Kind::ALL.into_iter().find(|kind| kind.name() == named);
                let names = Kind::ALL.map(Kind::name).join(", ");
                let kind =
                    kind.ok_or_else(|| ILLEGAL.of(format!("kind is {named:?}; legal: {names}")))?;
                let delta = self
                    .delta
                    .as_ref()
                    .map_or(Ok(Amount::default()), |delta| delta.amount("delta"))?;
                Ok(NewAccount::Filter(NewFilter::new(kind, epsilon.amount("epsilon")?, delta)))
            }
            _ => Err(ILLEGAL.of("legal: a plan alone, or an epsilon with a delta")),
        }
    }
}

/// Opens an account under a data set, which is charged for all of it.
#[utoipa::path(post, path = "/v1/accounts", security(("token" = [])), request_body = AccountAsked,
    responses((status = 200, body = AccountShown), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn open_account(
    Known { shared, .. }: Known<Owner>,
    Json(asked, _room): Json<AccountAsked>,
) -> Result<Response, Problem> {
    let new = asked.account()?;
    let opened = shared.work(move |curator| {
        curator.pool().with(|ledger| {
            ledger.open_account(&asked.name, &asked.dataset, &new)?;
            shown(ledger, &asked.name)
        })
    });
    Ok(answer(&opened.await?))
}

/// How an account stands.
fn shown(ledger: &mut Ledger, name: &str) -> Result<AccountShown, Problem> {
    let status = ledger.status(Some(name))?;
    let account =
        status.accounts.first().ok_or_else(|| NOT_FOUND.of("the account is not there"))?;
    Ok(AccountShown::of(account))
}

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

/// A list of tokens.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TokenList {
    tokens: Vec<TokenShown>,
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

impl From<TokenError> for Problem {
    fn from(error: TokenError) -> Self {
        match error {
            TokenError::Value { .. } => ILLEGAL.of(error.to_string()),
            failed => {
                tracing::warn!(why = failed.to_string(), "tokens failed");
                UNAVAILABLE.of("tokens cannot be read or made now")
            }
        }
    }
}

/// Every token, without their texts.
#[utoipa::path(get, path = "/v1/tokens", security(("token" = [])),
    responses((status = 200, body = TokenList), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn tokens(Known { shared, .. }: Known<Owner>) -> Result<Response, Problem> {
    let list = shared.work(|curator| Ok(curator.tokens().list()?)).await?;
    Ok(answer(&TokenList { tokens: list.into_iter().map(TokenShown::from).collect() }))
}

/// Makes a token of an analyst or an auditor. Its text is told this once.
#[utoipa::path(post, path = "/v1/tokens", security(("token" = [])), request_body = TokenAsked,
    responses((status = 200, body = TokenMade), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn make_token(
    Known { shared, .. }: Known<Owner>,
    Json(asked, _room): Json<TokenAsked>,
) -> Result<Response, Problem> {
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
    Ok(answer(&made.await?))
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

/// Revokes a token of an analyst or an auditor, at once and for good.
#[utoipa::path(delete, path = "/v1/tokens/{id}", security(("token" = [])), params(("id" = i64, Path, description = "Its number")),
    responses((status = 200, body = TokenList), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn revoke_token(
    Known { shared, .. }: Known<Owner>,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let list = shared.work(move |curator| {
        let list = curator.tokens().list()?;
        let number = id.parse().ok();
        let is_it = |bearer: &&Bearer| Some(bearer.id) == number && bearer.revoked.is_none();
        match list.iter().find(is_it) {
            None => {
                return Err(
                    NOT_FOUND.of(format!("there is no token {id} that is not revoked already"))
                );
            }
            Some(bearer) if bearer.role == Role::Owner => return Err(not_here()),
            Some(bearer) => curator.tokens().revoke(bearer.id)?,
        };
        Ok(curator.tokens().list()?)
    });
    Ok(answer(&TokenList { tokens: list.await?.into_iter().map(TokenShown::from).collect() }))
}

/// The texts of questions, by the keys that the history has them under.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct QuestionTexts {
    questions: BTreeMap<String, String>,
}

/// The texts of the questions that were answered, by their keys in the history.
#[utoipa::path(get, path = "/v1/questions", security(("token" = [])),
    responses((status = 200, body = QuestionTexts), (status = "default", body = Problem, content_type = "application/problem+json")))]
pub(super) async fn questions(Known { shared, .. }: Known<Overseer>) -> Result<Response, Problem> {
    let questions = shared.work(|curator| Ok(curator.questions()?)).await?;
    Ok(answer(&QuestionTexts { questions }))
}

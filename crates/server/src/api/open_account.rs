//! `POST /v1/accounts`.

use counterpoint_budget::Amount;
use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter};
use serde::Deserialize;
use utoipa::ToSchema;

use super::caller::{Caller, Owner};
use super::json::{Json, JsonResponse};
use super::problem::{ILLEGAL, NOT_FOUND, Problem};
use super::types::account::{AccountView, parse_plan};

/// A new account under a data set: a `plan`, or an `epsilon` and a `delta`.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AccountRequest {
    /// The name of the account.
    name: String,
    /// The data set that is charged for the account.
    dataset: String,
    /// The currency that the account adds up; `sums` by default.
    #[serde(default)]
    kind: Option<String>,
    /// The epsilon that the account promises.
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    epsilon: Option<Decimal>,
    /// The delta that the account promises; 0 by default.
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    delta: Option<Decimal>,
    /// The text of a plan file; its releases become slots.
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
        text.parse().map_err(|error| ILLEGAL.problem(format!("{name}: {error}")))
    }
}

impl AccountRequest {
    fn account(&self) -> Result<NewAccount, Problem> {
        match (&self.plan, &self.epsilon) {
            (Some(text), None) if self.delta.is_none() && self.kind.is_none() => {
                Ok(NewAccount::Plan(parse_plan(text)?, None))
            }
            (None, Some(epsilon)) => {
                let named = self.kind.as_deref().unwrap_or(FilterKind::Sums.name());
                let kind = FilterKind::ALL.into_iter().find(|kind| kind.name() == named);
                let names = FilterKind::ALL.map(FilterKind::name).join(", ");
                let kind =
                    kind.ok_or_else(|| ILLEGAL.problem(format!("kind is {named:?}; legal: {names}")))?;
                let delta = self
                    .delta
                    .as_ref()
                    .map_or(Ok(Amount::default()), |delta| delta.amount("delta"))?;
                Ok(NewAccount::Filter(NewFilter::new(kind, epsilon.amount("epsilon")?, delta)))
            }
            _ => Err(ILLEGAL.problem("the account has neither plan nor epsilon, or both; legal: a plan alone, or an epsilon with a delta")),
        }
    }
}

/// Opens an account under a data set. The data set is charged for the whole account.
#[utoipa::path(post, path = "/v1/accounts", security(("token" = [])), request_body = AccountRequest,
    responses((status = 200, body = AccountView), Problem))]
pub(super) async fn open_account(
    Caller { shared, .. }: Caller<Owner>,
    Json(request, _memory): Json<AccountRequest>,
) -> Result<JsonResponse<AccountView>, Problem> {
    let new = request.account()?;
    let opened = shared.work(move |curator| {
        curator.pool().with(|ledger| {
            ledger.open_account(&request.name, &request.dataset, &new)?;
            read_account(ledger, &request.name)
        })
    });
    Ok(JsonResponse(opened.await?))
}

/// Returns the account's budget and slots.
fn read_account(ledger: &mut Ledger, name: &str) -> Result<AccountView, Problem> {
    let status = ledger.status(Some(name))?;
    let account =
        status.accounts.first().ok_or_else(|| NOT_FOUND.problem("the account does not exist"))?;
    Ok(AccountView::of(account))
}

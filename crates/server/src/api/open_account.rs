//! `POST /v1/accounts`.

use counterpoint_budget::Amount;
use counterpoint_ledger::{Kind, Ledger, NewAccount, NewFilter};
use serde::Deserialize;
use utoipa::ToSchema;

use super::json::{Json, JsonResponse};
use super::known::{Known, Owner};
use super::problem::{ILLEGAL, NOT_FOUND, Problem};
use super::types::account::{AccountShown, plan};

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
    responses((status = 200, body = AccountShown), Problem))]
pub(super) async fn open_account(
    Known { shared, .. }: Known<Owner>,
    Json(asked, _room): Json<AccountAsked>,
) -> Result<JsonResponse<AccountShown>, Problem> {
    let new = asked.account()?;
    let opened = shared.work(move |curator| {
        curator.pool().with(|ledger| {
            ledger.open_account(&asked.name, &asked.dataset, &new)?;
            shown(ledger, &asked.name)
        })
    });
    Ok(JsonResponse(opened.await?))
}

/// How an account stands.
fn shown(ledger: &mut Ledger, name: &str) -> Result<AccountShown, Problem> {
    let status = ledger.status(Some(name))?;
    let account =
        status.accounts.first().ok_or_else(|| NOT_FOUND.of("the account is not there"))?;
    Ok(AccountShown::of(account))
}

//! `POST /v1/sessions`.

use counterpoint_curator::question::AggregateKind;
use counterpoint_curator::table_session::{QuerySpec, SessionSpec};
use counterpoint_curator::{NewCustomSession, NewSession};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::spend;
use crate::api::caller::{Analyst, Caller};
use crate::api::json::{Json, JsonResponse};
use crate::api::problem::{ILLEGAL, Problem};
use crate::api::types::balance::{BalanceView, ChargeView};

/// The session to open: one of `sparse_vector`, `guess_and_check`, `sequence` and `own`. The whole session is charged
/// now.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpenSessionRequest {
    /// The account that pays.
    account: String,
    /// The caller's own name for the session: letters, digits and . _ -. A key belongs to one declaration: declaring
    /// another session under the same key is an error.
    key: String,
    /// The table that its questions are about.
    table: String,
    /// A slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    #[serde(default)]
    sparse_vector: Option<SparseVectorRequest>,
    #[serde(default)]
    guess_and_check: Option<GuessAndCheckRequest>,
    #[serde(default)]
    sequence: Option<Vec<StepRequest>>,
    /// The name of a mechanism that the owner registered. Its privacy cost is the owner's claim, not proved.
    #[serde(default)]
    own: Option<String>,
}

/// The session to open: a built-in mechanism, or one that the owner registered.
enum SessionDeclaration {
    BuiltIn(NewSession),
    Custom(NewCustomSession),
}

/// Tells which counts, or sums, are above a threshold. Costs 3 times epsilon, or 4 times epsilon with values.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SparseVectorRequest {
    epsilon: f64,
    /// The session ends after this many answers above the threshold.
    answers: u64,
    threshold: f64,
    /// True if an answer above the threshold comes with a value.
    #[serde(default)]
    values: bool,
    /// For sums: the column whose bounds limit the change by one row.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not the column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// Tells which guesses of counts, or sums, are wrong, and corrects them. Costs 4 times epsilon.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GuessAndCheckRequest {
    epsilon: f64,
    /// The session ends after this many corrections.
    corrections: u64,
    /// A guess is wrong if its error is about this or more.
    tolerance: f64,
    /// For sums: the column whose bounds limit the change by one row.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not the column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// A step of a sequence: an aggregate and its cost. Another aggregate of the same cost may be asked instead.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StepRequest {
    /// The aggregate, as in a question.
    #[schema(value_type = Object)]
    of: AggregateKind,
    #[serde(default)]
    epsilon: Option<f64>,
    #[serde(default)]
    rho: Option<f64>,
}

impl OpenSessionRequest {
    fn declaration(self) -> Result<SessionDeclaration, Problem> {
        let one = "the session has no mechanism, or several; legal: exactly one of sparse_vector, guess_and_check, sequence and own";
        let is_built_in = self.sparse_vector.is_some() || self.guess_and_check.is_some();
        if let Some(mechanism) = self.own {
            if is_built_in || self.sequence.is_some() {
                return Err(ILLEGAL.problem(one));
            }
            let Self { account, key, table, slot, .. } = self;
            return Ok(SessionDeclaration::Custom(NewCustomSession {
                account,
                key,
                table,
                mechanism,
                slot,
            }));
        }
        let declared = match (self.sparse_vector, self.guess_and_check, self.sequence) {
            (Some(request), None, None) => {
                let SparseVectorRequest { epsilon, answers, threshold, values, column, bounds } =
                    request;
                let of = QuerySpec { column, bounds };
                SessionSpec::SparseVector { epsilon, answers, threshold, values, of }
            }
            (None, Some(request), None) => {
                let GuessAndCheckRequest { epsilon, corrections, tolerance, column, bounds } =
                    request;
                let of = QuerySpec { column, bounds };
                SessionSpec::GuessAndCheck { epsilon, corrections, tolerance, of }
            }
            (None, None, Some(list)) => {
                let step = |step: StepRequest| {
                    let spend = spend(step.epsilon, step.rho)?;
                    let spend = spend.ok_or_else(|| {
                        ILLEGAL.problem("a step has no cost; legal: an epsilon or a rho")
                    })?;
                    Ok::<_, Problem>((step.of, spend))
                };
                SessionSpec::Sequence(list.into_iter().map(step).collect::<Result<_, _>>()?)
            }
            _ => return Err(ILLEGAL.problem(one)),
        };
        let Self { account, key, table, slot, .. } = self;
        Ok(SessionDeclaration::BuiltIn(NewSession { account, key, table, spec: declared, slot }))
    }
}

/// An opened session.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct OpenSessionResponse {
    key: String,
    /// The charge of this call: zero if the session was open already.
    cost: ChargeView,
    /// The remaining budget.
    left: BalanceView,
    /// The number of answers that the session has given.
    answered: u64,
    /// True if the session gives no more answers.
    over: bool,
}

/// Opens a session. The whole session is charged now, used or not. Opening it again under its key with the same
/// declaration returns the same session and costs nothing.
#[utoipa::path(post, path = "/v1/sessions", security(("token" = [])), request_body = OpenSessionRequest,
    responses((status = 200, body = OpenSessionResponse), Problem))]
pub(crate) async fn open_session(
    Caller { bearer, shared, record, .. }: Caller<Analyst>,
    Json(request, _memory): Json<OpenSessionRequest>,
) -> Result<JsonResponse<OpenSessionResponse>, Problem> {
    let declaration = request.declaration()?;
    let opened = shared.work(move |curator| {
        let (opened, account, key) = match declaration {
            SessionDeclaration::BuiltIn(one) => {
                (curator.open_session(&bearer, &one)?, one.account, one.key)
            }
            SessionDeclaration::Custom(one) => {
                (curator.open_custom_session(&bearer, &one)?, one.account, one.key)
            }
        };
        let left = curator.balance(&bearer, &account, opened.charge.as_ref())?;
        let cost = opened.charge.unwrap_or_default();
        let _ = record.cost.set(cost.main.to_string());
        Ok(OpenSessionResponse {
            key,
            cost: ChargeView::of(&cost, left.status.unit),
            left: BalanceView::of(&left.status, left.more),
            answered: opened.answered,
            over: opened.is_over,
        })
    });
    Ok(JsonResponse(opened.await?))
}

//! `POST /v1/sessions`.

use counterpoint_curator::question::Of;
use counterpoint_curator::table_session::{Declared, Summed};
use counterpoint_curator::{Opening, OwnOpening};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::spend;
use crate::api::json::{Json, JsonResponse};
use crate::api::known::{Analyst, Known};
use crate::api::problem::{ILLEGAL, Problem};
use crate::api::types::balance::{Charge, Remaining};

/// A session that is to be opened: one of `sparse_vector`, `guess_and_check`, `sequence` and `own`. All of it is charged now.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionAsked {
    /// The account that pays.
    account: String,
    /// The caller's own name for the session: letters, digits and . _ -. Opened again under it, it has to be the same.
    key: String,
    /// The table that its questions are about.
    table: String,
    /// A slot of the account's plan.
    #[serde(default)]
    slot: Option<String>,
    #[serde(default)]
    sparse_vector: Option<SparseVectorAsked>,
    #[serde(default)]
    guess_and_check: Option<GuessAndCheckAsked>,
    #[serde(default)]
    sequence: Option<Vec<StepAsked>>,
    /// A mechanism that the owner registered, by its name. What it costs, and that it costs no more, is the owner's word.
    #[serde(default)]
    own: Option<String>,
}

/// What is to be opened.
enum Opens {
    Ours(Opening),
    Own(OwnOpening),
}

/// Which counts, or sums, are above a threshold. Costs 3 epsilon, and a fourth with values.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SparseVectorAsked {
    epsilon: f64,
    /// It ends with so many answers above.
    answers: u64,
    threshold: f64,
    /// Whether answers above have a value.
    #[serde(default)]
    values: bool,
    /// For sums: the column whose bounds say how far a row moves one.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not a column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// Which guesses of counts, or sums, are wrong, and what would be right. Costs 4 epsilon.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct GuessAndCheckAsked {
    epsilon: f64,
    /// It ends with so many corrections.
    corrections: u64,
    /// Guesses that are off by about this are wrong.
    tolerance: f64,
    /// For sums: the column whose bounds say how far a row moves one.
    #[serde(default)]
    column: Option<String>,
    /// For sums: bounds, if not a column's own.
    #[serde(default)]
    #[schema(value_type = Option<Vec<f64>>)]
    bounds: Option<(f64, f64)>,
}

/// An aggregate, at a cost. Another may be asked in its place that costs the same.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct StepAsked {
    /// The aggregate, as in a question.
    #[schema(value_type = Object)]
    of: Of,
    #[serde(default)]
    epsilon: Option<f64>,
    #[serde(default)]
    rho: Option<f64>,
}

impl SessionAsked {
    fn opening(self) -> Result<Opens, Problem> {
        let one = "legal: exactly one of sparse_vector, guess_and_check, sequence and own";
        let is_ours = self.sparse_vector.is_some() || self.guess_and_check.is_some();
        if let Some(mechanism) = self.own {
            if is_ours || self.sequence.is_some() {
                return Err(ILLEGAL.of(one));
            }
            let Self { account, key, table, slot, .. } = self;
            return Ok(Opens::Own(OwnOpening { account, key, table, mechanism, slot }));
        }
        let declared = match (self.sparse_vector, self.guess_and_check, self.sequence) {
            (Some(asked), None, None) => {
                let SparseVectorAsked { epsilon, answers, threshold, values, column, bounds } =
                    asked;
                let of = Summed { column, bounds };
                Declared::SparseVector { epsilon, answers, threshold, values, of }
            }
            (None, Some(asked), None) => {
                let GuessAndCheckAsked { epsilon, corrections, tolerance, column, bounds } = asked;
                let of = Summed { column, bounds };
                Declared::GuessAndCheck { epsilon, corrections, tolerance, of }
            }
            (None, None, Some(list)) => {
                let step = |step: StepAsked| {
                    let spend = spend(step.epsilon, step.rho)?;
                    let spend = spend.ok_or_else(|| ILLEGAL.of("legal: an epsilon or a rho"))?;
                    Ok::<_, Problem>((step.of, spend))
                };
                Declared::Sequence(list.into_iter().map(step).collect::<Result<_, _>>()?)
            }
            _ => return Err(ILLEGAL.of(one)),
        };
        let Self { account, key, table, slot, .. } = self;
        Ok(Opens::Ours(Opening { account, key, table, declared, slot }))
    }
}

/// A session that was opened.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SessionOpened {
    key: String,
    /// What this call debited: nothing if it had been opened before.
    cost: Charge,
    /// What is left.
    left: Remaining,
    /// How many answers it has given.
    answered: u64,
    /// Whether it gives no more.
    over: bool,
}

/// Opens a session: all of it is charged now, however much of it is used. Opened again under its key with the same
/// declaration, it is the same session, and costs nothing.
#[utoipa::path(post, path = "/v1/sessions", security(("token" = [])), request_body = SessionAsked,
    responses((status = 200, body = SessionOpened), Problem))]
pub(crate) async fn open_session(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Json(asked, _room): Json<SessionAsked>,
) -> Result<JsonResponse<SessionOpened>, Problem> {
    let opening = asked.opening()?;
    let opened = shared.work(move |curator| {
        let (opened, account, key) = match opening {
            Opens::Ours(one) => (curator.open_session(&bearer, &one)?, one.account, one.key),
            Opens::Own(one) => (curator.open_own_session(&bearer, &one)?, one.account, one.key),
        };
        let left = curator.left(&bearer, &account, opened.charge.as_ref())?;
        let cost = opened.charge.unwrap_or_default();
        let _ = record.cost.set(cost.main.to_string());
        Ok(SessionOpened {
            key,
            cost: Charge::of(&cost, left.status.unit),
            left: Remaining::of(&left.status, left.more),
            answered: opened.answered,
            over: opened.is_over,
        })
    });
    Ok(JsonResponse(opened.await?))
}

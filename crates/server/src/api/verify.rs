//! `GET /v1/verify`.

use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Known, Overseer};
use super::problem::Problem;

/// Whether the history is whole, and agrees with what is stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Verified {
    /// The last entry's number and hash.
    head: String,
    verified: bool,
    /// What is wrong, if something is.
    problem: Option<String>,
}

/// Recomputes every balance from the history.
#[utoipa::path(get, path = "/v1/verify", security(("token" = [])),
    responses((status = 200, body = Verified), Problem))]
pub(super) async fn verify(
    Known { shared, .. }: Known<Overseer>,
) -> Result<JsonResponse<Verified>, Problem> {
    let verified = shared.work(|curator| {
        let found = curator.pool().with(|ledger| ledger.verify(None))?;
        let (head, problem) = (found.head.to_string(), found.problem);
        Ok(Verified { head, verified: problem.is_none(), problem })
    });
    Ok(JsonResponse(verified.await?))
}

//! `GET /v1/verify`.

use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Caller, Overseer};
use super::json::JsonResponse;
use super::problem::Problem;

/// The result of verifying the ledger's history.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct VerifyResponse {
    /// The last entry's number and hash.
    head: String,
    verified: bool,
    /// The first error, if there is one.
    problem: Option<String>,
}

/// Recomputes every balance from the history.
#[utoipa::path(get, path = "/v1/verify", security(("token" = [])),
    responses((status = 200, body = VerifyResponse), Problem))]
pub(super) async fn verify(
    Caller { shared, .. }: Caller<Overseer>,
) -> Result<JsonResponse<VerifyResponse>, Problem> {
    let verified = shared.work(|curator| {
        let found = curator.pool().with(|ledger| ledger.verify(None))?;
        let (head, problem) = (found.head.to_string(), found.problem);
        Ok(VerifyResponse { head, verified: problem.is_none(), problem })
    });
    Ok(JsonResponse(verified.await?))
}

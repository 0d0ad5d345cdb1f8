//! `POST /v1/rehearsals`.

use counterpoint_wire::ledger::Cost;

use super::json::{Json, JsonResponse};
use super::known::{Analyst, Known};
use super::problem::Problem;
use super::types::answer::{Answered, One};
use super::types::asking::Asking;
use super::types::balance::{Charge, Remaining};

/// Answers a question from rows that are made up from what is public, so that programs can be written first. Nothing is
/// charged or stored, and no data are looked at.
#[utoipa::path(post, path = "/v1/rehearsals", security(("token" = [])), request_body = Asking,
    responses((status = 200, body = Answered), Problem))]
pub(super) async fn rehearse(
    Known { bearer, shared, record, .. }: Known<Analyst>,
    Json(asking, _room): Json<Asking>,
) -> Result<JsonResponse<Answered>, Problem> {
    let ask = asking.ask()?;
    // Made-up rows have a queue of their own.
    let places = shared.place(None, &record).await?;
    let answered = shared.work(move |curator| {
        let _places = places;
        let numbers = curator.rehearse(&bearer, &ask)?;
        let charge = curator.price(&bearer, &ask)?.charge;
        let left = curator.left(&bearer, &ask.account, Some(&charge))?;
        Ok(Answered {
            answers: numbers.into_iter().map(One::from).collect(),
            cost: Charge::of(&Cost::default(), left.status.unit),
            left: Remaining::of(&left.status, left.more),
            entry: None,
            repeated: false,
            dummy: true,
        })
    });
    Ok(JsonResponse(answered.await?))
}

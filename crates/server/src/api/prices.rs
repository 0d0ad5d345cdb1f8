//! `POST /v1/prices`.

use counterpoint_curator::{Bearer, Curator, Quote, Spend, Submission};
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{Analyst, Caller};
use super::json::{Json, JsonResponse};
use super::problem::Problem;
use super::types::balance::{BalanceView, ChargeView};
use super::types::question::{QuestionRequest, QuestionsRequest};

/// A half-width that is known before the answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HalfWidthView {
    /// The name of the aggregate.
    name: String,
    /// The largest distance to the number without noise, whatever the data are; in ranks for quantiles. Null where it
    /// depends on a secret number of rows.
    half_width: Option<f64>,
}

/// The price of a question and the expected accuracy of its answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct PriceResponse {
    /// The price.
    cost: ChargeView,
    /// The budget that is left now.
    left: BalanceView,
    /// True if the budget suffices, or the question is free.
    affordable: bool,
    /// The budget that does not suffice, if any.
    refusal: Option<String>,
    /// True if the question was answered before, so that it costs nothing.
    free: bool,
    /// The epsilon of Laplace noise.
    epsilon: Option<f64>,
    /// The rho of Gaussian noise.
    rho: Option<f64>,
    /// The half-widths of the answers, at the requested confidence.
    expected: Vec<HalfWidthView>,
}

impl PriceResponse {
    fn of(priced: Quote, unit: &str, left: BalanceView) -> Self {
        let (epsilon, rho) = match priced.spend {
            Spend::Epsilon(epsilon) => (Some(epsilon), None),
            Spend::Rho(rho) => (None, Some(rho)),
            Spend::Sigma(_) | Spend::Style(_) => (None, None),
        };
        let expected = priced.half_widths.into_iter();
        Self {
            cost: ChargeView::of(&priced.charge, unit),
            left,
            affordable: priced.refusal.is_none() || priced.is_free,
            refusal: priced.refusal.map(|refusal| refusal.to_string()),
            free: priced.is_free,
            epsilon,
            rho,
            expected: expected
                .map(|(name, half_width)| HalfWidthView { name, half_width })
                .collect(),
        }
    }
}

/// The price of one of several questions, or the reason why it cannot be asked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum PriceOutcome {
    /// The price.
    Price(Box<PriceResponse>),
    /// The reason why the question cannot be asked.
    Problem(Problem),
}

/// The price of one question, or a list of prices for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum PricesResponse {
    /// The price of one question.
    One(Box<PriceResponse>),
    /// The prices of several questions, in their order.
    Many(Vec<PriceOutcome>),
}

/// Prices questions. Charges nothing and reads no data.
#[utoipa::path(post, path = "/v1/prices", security(("token" = [])), request_body = QuestionsRequest,
    responses((status = 200, body = PricesResponse, description = "A price, or a list of prices and problems if a list was given"),
        Problem))]
pub(super) async fn prices(
    Caller { bearer, shared, .. }: Caller<Analyst>,
    Json(request, _memory): Json<QuestionsRequest>,
) -> Result<JsonResponse<PricesResponse>, Problem> {
    match request.bounded()? {
        QuestionsRequest::One(question) => {
            let submission = question.submission()?;
            let price = shared.work(move |curator| price(curator, &bearer, &submission)).await?;
            Ok(JsonResponse(PricesResponse::One(Box::new(price))))
        }
        QuestionsRequest::Many(list) => {
            let outcomes = shared.work(move |curator| {
                let outcome = |question: QuestionRequest| match question
                    .submission()
                    .and_then(|submission| price(curator, &bearer, &submission))
                {
                    Ok(price) => PriceOutcome::Price(Box::new(price)),
                    Err(problem) => PriceOutcome::Problem(problem),
                };
                Ok(PricesResponse::Many(list.into_iter().map(outcome).collect()))
            });
            Ok(JsonResponse(outcomes.await?))
        }
    }
}

fn price(
    curator: &Curator,
    bearer: &Bearer,
    submission: &Submission,
) -> Result<PriceResponse, Problem> {
    let priced = curator.price(bearer, submission)?;
    let left = curator.balance(bearer, &submission.account, Some(&priced.charge))?;
    let unit = left.status.unit;
    Ok(PriceResponse::of(priced, unit, BalanceView::of(&left.status, left.more)))
}

//! `POST /v1/prices`.

use counterpoint_curator::{Ask, Bearer, Curator, Priced, Spend};
use serde::Serialize;
use utoipa::ToSchema;

use super::json::{Json, JsonResponse};
use super::known::{Analyst, Known};
use super::problem::Problem;
use super::types::asking::{Asking, Askings};
use super::types::balance::{Charge, Remaining};

/// A half-width that is known in advance.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Expected {
    /// Which aggregate.
    name: String,
    /// No further from the number without noise, whatever the data are; in ranks for quantiles. Null where it depends on how
    /// many rows there are, and that is not public.
    half_width: Option<f64>,
}

/// What a question would cost.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Quote {
    /// What it would cost.
    cost: Charge,
    /// What is left now.
    left: Remaining,
    /// Whether it would be answered now.
    affordable: bool,
    /// Whose budget is too short, if one is.
    refusal: Option<String>,
    /// Whether it was answered before, so that it costs nothing.
    free: bool,
    /// The epsilon that noise is drawn for, if it is Laplace noise.
    epsilon: Option<f64>,
    /// The rho that noise is drawn for, if it is Gaussian noise.
    rho: Option<f64>,
    /// How far answers will be off, at the confidence asked for.
    expected: Vec<Expected>,
}

impl Quote {
    fn of(priced: Priced, unit: &str, left: Remaining) -> Self {
        let (epsilon, rho) = match priced.spend {
            Spend::Epsilon(epsilon) => (Some(epsilon), None),
            Spend::Rho(rho) => (None, Some(rho)),
            Spend::Sigma(_) | Spend::Style(_) => (None, None),
        };
        let expected = priced.half_widths.into_iter();
        Self {
            cost: Charge::of(&priced.charge, unit),
            left,
            affordable: priced.refusal.is_none() || priced.is_free,
            refusal: priced.refusal.map(|refusal| refusal.to_string()),
            free: priced.is_free,
            epsilon,
            rho,
            expected: expected.map(|(name, half_width)| Expected { name, half_width }).collect(),
        }
    }
}

/// What one of several questions would cost, or why it cannot be asked.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Offer {
    /// What it would cost.
    Quote(Box<Quote>),
    /// Why it cannot be asked.
    Problem(Problem),
}

/// A quote for one question, or a list for several.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum Offers {
    /// For one.
    One(Box<Quote>),
    /// For several, in their order.
    Many(Vec<Offer>),
}

/// What questions would cost. Nothing is charged, and no data are looked at.
#[utoipa::path(post, path = "/v1/prices", security(("token" = [])), request_body = Askings,
    responses((status = 200, body = Offers, description = "A quote, or a list of quotes and problems if a list was given"),
        Problem))]
pub(super) async fn prices(
    Known { bearer, shared, .. }: Known<Analyst>,
    Json(askings, _room): Json<Askings>,
) -> Result<JsonResponse<Offers>, Problem> {
    match askings.bounded()? {
        Askings::One(asking) => {
            let ask = asking.ask()?;
            let quote = shared.work(move |curator| quoted(curator, &bearer, &ask)).await?;
            Ok(JsonResponse(Offers::One(Box::new(quote))))
        }
        Askings::Many(list) => {
            let quotes = shared.work(move |curator| {
                let offer = |asking: Asking| match asking
                    .ask()
                    .and_then(|ask| quoted(curator, &bearer, &ask))
                {
                    Ok(quote) => Offer::Quote(Box::new(quote)),
                    Err(problem) => Offer::Problem(problem),
                };
                Ok(Offers::Many(list.into_iter().map(offer).collect()))
            });
            Ok(JsonResponse(quotes.await?))
        }
    }
}

fn quoted(curator: &Curator, bearer: &Bearer, ask: &Ask) -> Result<Quote, Problem> {
    let priced = curator.price(bearer, ask)?;
    let left = curator.left(bearer, &ask.account, Some(&priced.charge))?;
    let unit = left.status.unit;
    Ok(Quote::of(priced, unit, Remaining::of(&left.status, left.more)))
}

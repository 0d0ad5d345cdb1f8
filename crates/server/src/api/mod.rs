//! The curator's interface, version 1: JSON over HTTP, described by `/v1/openapi.json`.

mod accounts;
mod caller;
mod document;
mod health;
mod history;
mod json;
mod me;
mod metrics;
mod open_account;
mod pagination;
mod prices;
mod problem;
mod questions;
mod queue;
mod ready;
mod recut;
mod rehearsals;
mod sessions;
mod state;
mod status;
mod tables;
mod tokens;
mod types;
mod verify;

use std::sync::Arc;

use axum::routing::any;
use axum::{Extension, Router};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use caller::{AnyRole, Authenticator, Caller};
use problem::{NOT_FOUND, Problem, WRONG_METHOD};
pub(crate) use state::SharedState;

/// The OpenAPI document without its paths, which the router adds.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Counterpoint curator",
        version = "1.0.0",
        description = "Questions about tables, answered with differential privacy and charged to a ledger."
    ),
    components(schemas(Problem)),
    modifiers(&BearerScheme)
)]
struct Document;

/// Adds the bearer token to the document's security schemes.
struct BearerScheme;

impl Modify for BearerScheme {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        document.components.get_or_insert_default().add_security_scheme("token", scheme);
    }
}

/// All paths under `/v1`.
pub(crate) fn router(authenticator: Authenticator) -> Router {
    let (router, document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::health))
        .routes(routes!(ready::ready))
        .routes(routes!(metrics::metrics))
        .routes(routes!(document::document))
        .routes(routes!(me::me))
        .routes(routes!(tables::tables))
        .routes(routes!(questions::questions, questions::ask))
        .routes(routes!(rehearsals::rehearse))
        .routes(routes!(prices::prices))
        .routes(routes!(accounts::accounts, open_account::open_account))
        .routes(routes!(accounts::account))
        .routes(routes!(recut::recut))
        .routes(routes!(recut::rehearse_recut))
        .routes(routes!(tokens::tokens, tokens::make_token))
        .routes(routes!(tokens::revoke_token))
        .routes(routes!(sessions::list::sessions, sessions::open::open_session))
        .routes(routes!(sessions::list::session, sessions::list::close_session))
        .routes(routes!(sessions::ask::ask_session))
        .routes(routes!(status::owned))
        .routes(routes!(history::history))
        .routes(routes!(verify::verify))
        .split_for_parts();
    router
        .method_not_allowed_fallback(wrong_method)
        .route("/v1/", any(not_found))
        .route("/v1/{*rest}", any(not_found))
        .layer(Extension(Arc::new(document)))
        .with_state(authenticator)
}

async fn wrong_method() -> Problem {
    WRONG_METHOD.problem("the path does not support this method; legal: see /v1/openapi.json")
}

async fn not_found() -> Problem {
    NOT_FOUND.problem("there is no such path; legal: see /v1/openapi.json")
}

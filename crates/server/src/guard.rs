//! Who may ask: this machine, and of the pages in its browsers our own.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// What the page may do: load its own files, and ask its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Whom the server is open to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Open {
    /// This machine, on this port.
    Here(u16),
    /// All who can reach it, by TLS and whatever name it has.
    ToAll,
}

/// Refuses requests that were meant for another host (a name that was made to lead here) or come from another page, and
/// says with every answer what the page may do.
pub(crate) async fn guard(State(open): State<Open>, request: Request, next: Next) -> Response {
    let found = match open {
        Open::Here(port) => stranger(&request, port),
        Open::ToAll => other_page(&request),
    };
    let mut response = match found {
        Some(problem) => refusal(StatusCode::FORBIDDEN, problem),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        // A report has a policy of its own.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// One line, for whoever is not the page.
pub(crate) fn refusal(status: StatusCode, problem: &'static str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{problem}\n")).into_response()
}

fn stranger(request: &Request, port: u16) -> Option<&'static str> {
    let host = only(request.headers(), &HOST);
    let named = request.uri().authority().map(|authority| authority.as_str());
    if !host.is_some_and(|host| is_ours(host, port))
        || named.is_some_and(|named| !is_ours(named, port))
    {
        return Some("Host is not this server; legal: the address it printed");
    }
    if !request.headers().contains_key(ORIGIN) {
        return None;
    }
    let origin = only(request.headers(), &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
    match origin {
        Some(origin) if is_ours(origin, port) => None,
        _ => Some("Origin is another page; legal: the page of this server"),
    }
}

/// Pages of other hosts, where ours may have any name: the browser says which page asks, and whom.
fn other_page(request: &Request) -> Option<&'static str> {
    let Some(host) = only(request.headers(), &HOST) else { return Some("Host is not there once") };
    if !request.headers().contains_key(ORIGIN) {
        return None;
    }
    let origin =
        only(request.headers(), &ORIGIN).and_then(|origin| origin.strip_prefix("https://"));
    match origin {
        Some(origin) if origin.eq_ignore_ascii_case(host) => None,
        _ => Some("Origin is another page; legal: the page of this server"),
    }
}

/// A header's value, if it is there once.
fn only<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// A loopback host with our port.
fn is_ours(host: &str, port: u16) -> bool {
    let name = host.strip_suffix(&format!(":{port}"));
    // Without a port it is that of HTTP.
    let name = name.or_else(|| (port == 80).then_some(host));
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
    })
}

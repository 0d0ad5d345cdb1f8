//! Refuses requests to other hosts and from other pages, and adds the security headers.

use axum::extract::{Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

/// The content security policy of the pages: they load their own files and call their own server.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// The clients that the server accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// This machine, on this port.
    Loopback(u16),
    /// Everybody who can reach the server, by TLS and under any host name.
    Network,
}

/// Refuses requests for another host name (as in DNS rebinding) and requests from other pages. Adds the security
/// headers to every response.
pub(crate) async fn guard(State(access): State<Access>, request: Request, next: Next) -> Response {
    let found = match access {
        Access::Loopback(port) => loopback_problem(&request, port),
        Access::Network => cross_origin_problem(&request),
    };
    let mut response = match found {
        Some(problem) => refusal(StatusCode::FORBIDDEN, problem),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, CONTENT_POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (CACHE_CONTROL, "no-store"),
    ] {
        // A released report has its own policy.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// A refusal as one line of text.
pub(crate) fn refusal(status: StatusCode, problem: &'static str) -> Response {
    (status, [(CONTENT_TYPE, "text/plain; charset=utf-8")], format!("{problem}\n")).into_response()
}

fn loopback_problem(request: &Request, port: u16) -> Option<&'static str> {
    let host = single_header(request.headers(), &HOST);
    let named = request.uri().authority().map(|authority| authority.as_str());
    if !host.is_some_and(|host| is_this_server(host, port))
        || named.is_some_and(|named| !is_this_server(named, port))
    {
        return Some("Host is another server; legal: the address that this server printed");
    }
    if !request.headers().contains_key(ORIGIN) {
        return None;
    }
    let origin =
        single_header(request.headers(), &ORIGIN).and_then(|origin| origin.strip_prefix("http://"));
    match origin {
        Some(origin) if is_this_server(origin, port) => None,
        _ => Some("Origin is another site; legal: the pages of this server"),
    }
}

/// Finds requests from pages of other hosts. The server's own name is unknown, so `Origin` is compared with `Host`.
fn cross_origin_problem(request: &Request) -> Option<&'static str> {
    let Some(host) = single_header(request.headers(), &HOST) else {
        return Some("Host is missing or repeated; legal: exactly one Host header");
    };
    if !request.headers().contains_key(ORIGIN) {
        return None;
    }
    let origin = single_header(request.headers(), &ORIGIN)
        .and_then(|origin| origin.strip_prefix("https://"));
    match origin {
        Some(origin) if origin.eq_ignore_ascii_case(host) => None,
        _ => Some("Origin is another site; legal: the pages of this server"),
    }
}

/// The value of a header that occurs exactly once.
fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// True for a loopback host with this port.
fn is_this_server(host: &str, port: u16) -> bool {
    let name = host.strip_suffix(&format!(":{port}"));
    // A host without a port means port 80.
    let name = name.or_else(|| (port == 80).then_some(host));
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || matches!(name, "127.0.0.1" | "[::1]")
    })
}

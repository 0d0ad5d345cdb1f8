//! The page's files, in the program itself.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// A file of the page.
pub(crate) struct File {
    /// Where it is asked for.
    pub(crate) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! file {
    ($path:literal, $kind:ident) => {
        File {
            path: concat!("/", $path),
            kind: $kind,
            text: include_str!(concat!("../web/", $path)),
        }
    };
}

/// All of them.
pub(crate) const FILES: [File; 37] = [
    File { path: "/", kind: HTML, text: include_str!("../web/index.html") },
    file!("style.css", STYLE),
    file!("icon.svg", PICTURE),
    file!("dom.js", SCRIPT),
    file!("kinds.js", SCRIPT),
    file!("texts.js", SCRIPT),
    file!("study.js", SCRIPT),
    file!("file.js", SCRIPT),
    file!("words.js", SCRIPT),
    file!("history.js", SCRIPT),
    file!("planner.js", SCRIPT),
    file!("pictures.js", SCRIPT),
    file!("copies.js", SCRIPT),
    file!("row.js", SCRIPT),
    file!("cost.js", SCRIPT),
    file!("header.js", SCRIPT),
    file!("columns.js", SCRIPT),
    file!("release.js", SCRIPT),
    file!("main.js", SCRIPT),
    file!("console.html", HTML),
    file!("owner.html", HTML),
    file!("curator.js", SCRIPT),
    file!("door.js", SCRIPT),
    file!("charts.js", SCRIPT),
    file!("tables.js", SCRIPT),
    file!("results.js", SCRIPT),
    file!("builder.js", SCRIPT),
    file!("completion.js", SCRIPT),
    file!("amounts.js", SCRIPT),
    file!("answered.js", SCRIPT),
    file!("asked.js", SCRIPT),
    file!("recut.js", SCRIPT),
    file!("sessions.js", SCRIPT),
    file!("console.js", SCRIPT),
    file!("tokens.js", SCRIPT),
    file!("entries.js", SCRIPT),
    file!("owner.js", SCRIPT),
];

impl File {
    pub(crate) fn answer(&self) -> Response {
        ([(CONTENT_TYPE, self.kind)], self.text).into_response()
    }
}

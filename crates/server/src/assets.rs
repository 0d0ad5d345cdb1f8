//! The files of the pages, embedded in the program.

use std::borrow::Cow;

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// A file of the pages.
pub(crate) struct Asset {
    /// The path of its URL.
    pub(crate) path: &'static str,
    kind: &'static str,
    text: &'static str,
}

const HTML: &str = "text/html; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const PICTURE: &str = "image/svg+xml";

macro_rules! asset {
    ($path:literal, $kind:ident) => {
        Asset {
            path: concat!("/", $path),
            kind: $kind,
            text: include_str!(concat!("../web/", $path)),
        }
    };
}

/// All files of the pages.
pub(crate) const ASSETS: [Asset; 37] = [
    Asset { path: "/", kind: HTML, text: include_str!("../web/index.html") },
    asset!("style.css", STYLE),
    asset!("icon.svg", PICTURE),
    asset!("dom.js", SCRIPT),
    asset!("statistic_kinds.js", SCRIPT),
    asset!("typed_values.js", SCRIPT),
    asset!("study.js", SCRIPT),
    asset!("study_file.js", SCRIPT),
    asset!("descriptions.js", SCRIPT),
    asset!("study_history.js", SCRIPT),
    asset!("planner_client.js", SCRIPT),
    asset!("planner_charts.js", SCRIPT),
    asset!("study_export.js", SCRIPT),
    asset!("statistic_row.js", SCRIPT),
    asset!("plan_cost.js", SCRIPT),
    asset!("csv_header.js", SCRIPT),
    asset!("data_columns.js", SCRIPT),
    asset!("release.js", SCRIPT),
    asset!("planner_page.js", SCRIPT),
    asset!("console.html", HTML),
    asset!("owner.html", HTML),
    asset!("curator_client.js", SCRIPT),
    asset!("login.js", SCRIPT),
    asset!("charts.js", SCRIPT),
    asset!("table_list.js", SCRIPT),
    asset!("answer_table.js", SCRIPT),
    asset!("question_form.js", SCRIPT),
    asset!("completion.js", SCRIPT),
    asset!("charge_text.js", SCRIPT),
    asset!("answer_view.js", SCRIPT),
    asset!("question_log.js", SCRIPT),
    asset!("recut.js", SCRIPT),
    asset!("sessions.js", SCRIPT),
    asset!("console_page.js", SCRIPT),
    asset!("tokens.js", SCRIPT),
    asset!("ledger_view.js", SCRIPT),
    asset!("owner_page.js", SCRIPT),
];

/// Parts that several pages share. A page includes a part by a comment with the name of its file.
const PARTS: [(&str, &str); 3] = [
    ("<!-- page_head.html -->", include_str!("../web/page_head.html")),
    ("<!-- page_navigation.html -->", include_str!("../web/page_navigation.html")),
    ("<!-- login_form.html -->", include_str!("../web/login_form.html")),
];

impl Asset {
    pub(crate) fn response(&self) -> Response {
        ([(CONTENT_TYPE, self.kind)], self.text()).into_response()
    }

    /// Returns the text; in a page, the shared parts are included and the link to the page itself is marked.
    fn text(&self) -> Cow<'static, str> {
        if self.kind != HTML {
            return Cow::Borrowed(self.text);
        }
        let mut page = self.text.to_owned();
        for (comment, part) in PARTS {
            page = page.replace(comment, part.trim_end());
        }
        let link = format!("href=\"{}\"", self.path);
        Cow::Owned(page.replace(&link, &format!("{link} aria-current=\"page\"")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_include_the_shared_parts_and_mark_their_own_link() {
        for page in ASSETS.iter().filter(|asset| asset.kind == HTML) {
            let text = page.text();
            assert!(!text.contains("<!--"), "{}", page.path);
            assert_eq!(text.matches("aria-current").count(), 1, "{}", page.path);
            assert!(text.contains("<nav") && text.contains("charset"), "{}", page.path);
        }
    }
}

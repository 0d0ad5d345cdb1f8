//! The catalogue as a table of the documentation.

use super::{Field, KINDS, Kind, Presence};

/// All kinds as a table in Markdown, a line each, as docs/program.md has it.
#[must_use]
pub fn table() -> String {
    let head = "| mechanism | what it is | fields | on samples |\n| --- | --- | --- | --- |\n";
    KINDS.iter().map(row).fold(head.to_owned(), |table, row| table + &row)
}

fn row(kind: &Kind) -> String {
    let own = kind.fields.iter().map(line);
    let instead = kind.instead.iter().map(|field| {
        let of = kind.noise().map_or("all of these".to_owned(), |noise| format!("`{noise}`"));
        format!("in the place of {of}, {}", line(field))
    });
    let fields: Vec<String> = own.chain(instead).collect();
    let sampled = if kind.is_sampled { "yes" } else { "no" };
    format!("| `{}` | {} | {} | {sampled} |\n", kind.name, kind.meaning, fields.join("<br>"))
}

/// A field with what is said of it.
fn line(field: &Field) -> String {
    let Field { name, of, default, meaning } = field;
    let aside = match (of.presence, default) {
        (Presence::Ignored, _) => return format!("`{name}`, which {meaning}"),
        (_, Some(default)) => format!(" (default {default})"),
        (Presence::Optional, None) => " (optional)".to_owned(),
        (Presence::Needed, None) => String::new(),
    };
    format!("`{name}`{aside}: {meaning}; {}", of.legal)
}

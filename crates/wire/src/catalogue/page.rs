//! The catalogue as a table in the documentation.

use super::{Field, KINDS, MechanismKind, Presence};

/// Writes all kinds as a table in Markdown, a line each, as docs/program.md has it.
#[must_use]
pub fn table() -> String {
    let head = "| mechanism | what it is | fields | on samples |\n| --- | --- | --- | --- |\n";
    KINDS.iter().map(row).fold(head.to_owned(), |table, row| table + &row)
}

fn row(kind: &MechanismKind) -> String {
    let own = kind.fields.iter().map(line);
    let instead = kind.alternatives.iter().map(|field| {
        let of = kind.noise_field().map_or("all of these".to_owned(), |noise| format!("`{noise}`"));
        format!("in the place of {of}, {}", line(field))
    });
    let fields: Vec<String> = own.chain(instead).collect();
    let sampled = if kind.is_sampled { "yes" } else { "no" };
    format!("| `{}` | {} | {} | {sampled} |\n", kind.name, kind.meaning, fields.join("<br>"))
}

/// Writes a field with its meaning and its default.
fn line(field: &Field) -> String {
    let Field { name, field_type, default, meaning } = field;
    let aside = match (field_type.presence, default) {
        (Presence::Ignored, _) => return format!("`{name}`, which {meaning}"),
        (_, Some(default)) => format!(" (default {default})"),
        (Presence::Optional, None) => " (optional)".to_owned(),
        (Presence::Needed, None) => String::new(),
    };
    format!("`{name}`{aside}: {meaning}; {}", field_type.legal)
}

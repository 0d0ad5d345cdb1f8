//! The ledger's names, qualified with their schema.

/// Puts the schema before every name of a ledger's table or function: before every word that begins with `ledger_`,
/// except the names of new indexes and triggers, which belong to their table's schema.
pub(super) fn qualified(sql: &str, schema: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut text = String::with_capacity(sql.len() + 64);
    let (mut rest, mut last) = (sql, "");
    while let Some(letter) = rest.chars().next() {
        let end = rest.find(|next| is_word(next) != is_word(letter)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        if is_word(letter) {
            if piece.starts_with("ledger_") && !["INDEX", "TRIGGER"].contains(&last) {
                text.push_str(schema);
                text.push('.');
            }
            last = piece;
        }
        text.push_str(piece);
        rest = after;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_ledger_are_sent_with_their_schema() {
        for (sql, sent) in [
            ("SELECT 1 FROM ledger_head", "SELECT 1 FROM \"s\".ledger_head"),
            ("to_regclass('ledger_version')", "to_regclass('\"s\".ledger_version')"),
            (
                "CREATE INDEX ledger_a ON ledger_b (x)",
                "CREATE INDEX ledger_a ON \"s\".ledger_b (x)",
            ),
            (
                "CREATE TRIGGER ledger_a BEFORE UPDATE ON ledger_b EXECUTE FUNCTION ledger_a()",
                "CREATE TRIGGER ledger_a BEFORE UPDATE ON \"s\".ledger_b EXECUTE FUNCTION \"s\".ledger_a()",
            ),
            ("DECLARE all_ledger_a CURSOR", "DECLARE all_ledger_a CURSOR"),
        ] {
            assert_eq!(qualified(sql, "\"s\""), sent);
        }
    }
}

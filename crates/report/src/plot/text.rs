//! How wide a text is, without asking a font.

/// A font whose letters are at least as wide as those of the fonts a figure names: a layout that
/// has room for it has room for all of them. Widths are DejaVu Sans's, in ems.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance).sum::<f64>()
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' => 0.28,
        ' ' | '.' | ',' => 0.32,
        ':' | ';' | '/' | '|' | '-' => 0.37,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | 'I' | 'J' => 0.42,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' | '⁻' => 0.45,
        's' | 'c' | 'k' | 'v' | 'x' | 'y' | 'z' | 'L' | '"' | 'ε' => 0.60,
        'a' | 'b' | 'd' | 'e' | 'g' | 'h' | 'n'..='q' | 'u' | '0'..='9' | 'δ' | 'η' => 0.64,
        'm' | 'M' | 'W' | '%' | '…' | '—' => 1.0,
        _ => 0.84,
    }
}

/// Breaks a text into lines no wider than this, between words.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// With the characters that mean something to XML written so that they do not, and without
/// those it does not allow.
pub(super) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            _ if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words_and_fit() {
        let text = "every word is kept, in order, and no line is too wide";
        let lines = wrapped(text, 10.0, 90.0);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 10.0) <= 90.0));
        assert_eq!(wrapped("unbreakable", 10.0, 1.0), ["unbreakable"]);
    }

    #[test]
    fn no_text_breaks_the_document() {
        assert_eq!(escaped("a<b & \"c\"\u{0}\n>"), "a&lt;b &amp; &quot;c&quot;  &gt;");
    }
}

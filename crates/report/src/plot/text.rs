//! Estimates the width of texts without reading a font.

/// An upper bound on the width of a text in any of the fonts that a figure names, from the widths of DejaVu Sans in
/// ems.
pub(super) fn width(text: &str, size: f64) -> f64 {
    size * text.chars().map(advance).sum::<f64>()
}

/// The same for bold text.
pub(super) fn bold_width(text: &str, size: f64) -> f64 {
    1.24 * width(text, size)
}

fn advance(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '\'' => 0.28,
        ' ' | '\u{a0}' | '\u{2009}' | '.' | ',' => 0.32,
        ':' | ';' | '/' | '|' | '-' => 0.37,
        '⁻' => 0.53,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | 'I' | 'J' => 0.42,
        '⁰' | '¹' | '²' | '³' | '⁴'..='⁹' => 0.45,
        's' | 'c' | 'k' | 'v' | 'x' | 'y' | 'z' | 'L' | '"' | 'ε' => 0.60,
        'a' | 'b' | 'd' | 'e' | 'g' | 'h' | 'n'..='q' | 'u' | '0'..='9' | 'δ' | 'η' => 0.64,
        'm' | 'M' | 'W' | '%' | '@' | '…' | '—' => 1.0,
        _ => 0.84,
    }
}

/// Breaks a text between words into lines of at most this width; formulas are not broken.
pub(super) fn wrapped(text: &str, most: f64, width: impl Fn(&str) -> f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let text = tied(text);
    for word in text.split([' ', '\n']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Puts non-breaking spaces around the signs of a formula.
fn tied(text: &str) -> String {
    let signs = ["=", "−", "+", "÷", ">"];
    let tie = |text: String, sign: &&str| {
        text.replace(&format!(" {sign} "), &format!("\u{a0}{sign}\u{a0}"))
    };
    signs.iter().fold(text.replace(" %", "\u{a0}%"), tie)
}

/// Escapes the special characters of XML and removes illegal ones.
pub(crate) fn escaped(text: &str) -> String {
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
        let ten = |text: &str| width(text, 10.0);
        let lines = wrapped(text, 90.0, ten);
        assert_eq!(lines.join(" "), text);
        assert!(lines.len() > 2 && lines.iter().all(|line| width(line, 10.0) <= 90.0));
        assert_eq!(wrapped("unbreakable", 1.0, ten), ["unbreakable"]);
        assert_eq!(wrapped("of k = 2 or", 1.0, ten), ["of", "k\u{a0}=\u{a0}2", "or"]);
    }

    #[test]
    fn no_text_breaks_the_document() {
        assert_eq!(escaped("a<b & \"c\"\u{0}\n>"), "a&lt;b &amp; &quot;c&quot;  &gt;");
    }
}

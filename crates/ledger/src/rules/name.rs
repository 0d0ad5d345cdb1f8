//! Names of data sets, accounts, analysts, keys, slots and parts of the data.

use std::ops::RangeInclusive;

use unicode_normalization::is_nfc;

use super::error::{LedgerError, Result};

/// The name of an account, and a name within it: of a key, a slot or an analyst.
pub(crate) type NameInAccount = (String, String);

const LEGAL_NAME: &str = "1 to 128 of the letters a-z and A-Z, digits and . _ - : @ / +, \
                     the first a letter or digit";
const LEGAL_LABEL: &str = "1 to 200 characters that can be seen, no space at either end, \
                           in Unicode's normal form C (a letter and its accent are one character)";

/// Characters that are invisible or change how others are shown, besides control characters and whitespace: those that
/// Unicode lets every program ignore (DerivedCoreProperties, Default_Ignorable_Code_Point), marks around annotations,
/// and blanks that do not count as whitespace.
const INVISIBLE: [RangeInclusive<char>; 19] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// Checks the name of a data set, an account, an analyst or a key. Such names are ASCII, so different names look
/// different.
pub(crate) fn check_name(what: &'static str, text: &str) -> Result<()> {
    let part = |byte: u8| byte.is_ascii_alphanumeric() || b"._-:@/+".contains(&byte);
    let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
    if starts && text.len() <= 128 && text.bytes().all(part) {
        return Ok(());
    }
    Err(LedgerError::Name { what, value: shortened(text), legal: LEGAL_NAME })
}

/// Checks the names of an account and of a key in it.
pub(crate) fn check_account_and_key(account: &str, key: &str) -> Result<()> {
    check_name("account", account)?;
    check_name("key", key)
}

/// Checks a name that may be absent.
pub(crate) fn check_optional_name(what: &'static str, text: Option<&str>) -> Result<()> {
    text.map_or(Ok(()), |text| check_name(what, text))
}

/// Checks a label: the name of a slot or of a part of the data. Labels come from plans and may be any text, but two
/// labels never differ by an invisible character alone, and each has one spelling. (Two spellings of one part would be
/// two parts, and a plan would pay for only one of them.)
pub(crate) fn check_label(what: &'static str, text: &str) -> Result<()> {
    let fits = (1..=200).contains(&text.chars().count());
    if fits && text.chars().all(is_visible) && text.trim() == text && is_nfc(text) {
        return Ok(());
    }
    Err(LedgerError::Name { what, value: shortened(text), legal: LEGAL_LABEL })
}

/// True if a character is visible. A space is visible between two words; other blanks look like a space.
fn is_visible(character: char) -> bool {
    let blank = character.is_control() || (character.is_whitespace() && character != ' ');
    !blank && !INVISIBLE.iter().any(|range| range.contains(&character))
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_language_and_nothing_that_is_not_seen() {
        for text in
            ["a", "mean income", "ages (5 bins)", "Größe", "収入", "आय", "доход", "q\u{301}", "각"]
        {
            assert!(check_label("slot", text).is_ok(), "{text}");
        }
        for text in [
            "",
            " a",
            "a ",
            "a\tb",
            "a\nb",
            "a\0",
            "a\u{85}",
            "a\u{a0}b",
            "a\u{200b}",
            "\u{feff}a",
            "a\u{202e}b",
            "a\u{2066}b",
            "a\u{ad}b",
            "a\u{3164}b",
            "a\u{fe0f}",
            "a\u{e0041}",
            "a\u{2028}b",
            "a\u{3000}b",
            "a\u{2800}b",
            "Gro\u{308}ße",
            "\u{1100}\u{1161}\u{11a8}",
            "q\u{301}\u{323}",
            "\u{212b}",
        ] {
            let error = check_label("slot", text).unwrap_err().to_string();
            assert!(error.contains("legal: 1 to 200 characters that can be seen"), "{error}");
        }
        assert!(
            check_label("slot", &"é".repeat(200)).is_ok()
                && check_label("slot", &"é".repeat(201)).is_err()
        );
    }
}

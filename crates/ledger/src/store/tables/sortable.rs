//! Amounts as the tables hold them.

use counterpoint_budget::Amount;

/// Writes an amount as text. Byte by byte, the order of such texts is the order of the amounts.
pub(crate) fn sortable(amount: &Amount) -> String {
    let mut text = amount.to_string();
    let whole = text.find('.').unwrap_or(text.len());
    text.insert_str(0, &ZEROS[whole.min(WHOLE)..]);
    text
}

/// The number of digits before the point: that of the largest amount. `ZEROS` has the same length.
const WHOLE: usize = 40;
const ZEROS: &str = "0000000000000000000000000000000000000000";

/// Reads text that [`sortable`] wrote, and no other text.
pub(crate) fn amount(text: &str) -> Option<Amount> {
    let (whole, rest) = text.split_at_checked(WHOLE)?;
    let has_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let is_fraction = |rest: &str| {
        rest.strip_prefix('.')
            .is_some_and(|digits| has_digits(digits) && !rest.ends_with(['0', '.']))
    };
    let written = has_digits(whole) && (rest.is_empty() || is_fraction(rest));
    written.then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_text_is_the_order_of_the_amounts() {
        let texts =
            ["0", "1e-300", "0.1", "0.10000001", "0.2", "1", "1.5", "2", "10", "10.25", "9e39"];
        let amounts: Vec<Amount> = texts.iter().map(|text| text.parse().unwrap()).collect();
        for pair in amounts.windows(2) {
            assert!(pair[0] < pair[1] && sortable(&pair[0]) < sortable(&pair[1]), "{pair:?}");
        }
        for exact in &amounts {
            assert_eq!(amount(&sortable(exact)).as_ref(), Some(exact));
        }
        let tenth = sortable(&amounts[2]);
        let (whole, fraction) = tenth.split_at(40);
        let longer =
            [format!("{tenth}0"), format!("{whole}."), format!("{whole}.0"), format!("0{tenth}")];
        let odd = [
            format!("{tenth}e1"),
            format!("+{}", &tenth[1..]),
            format!("{whole}.\u{661}"),
            whole[1..].to_owned(),
        ];
        let more = [
            "0.1".to_owned(),
            String::new(),
            fraction.to_owned(),
            format!("{whole}.1.1"),
            format!("{whole}5"),
        ];
        for text in longer.iter().chain(&odd).chain(&more) {
            assert_eq!(amount(text), None, "{text}");
        }
    }
}

use counterpoint::Bracket;
use counterpoint::quantity::format_number;
use counterpoint_wire::{Loss, Losses, decimal};

use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;
use crate::wording::{self, TABLE_DIGITS};

/// Tables of more atoms are shown by `--json` only.
const MAX_ATOMS: usize = 12;

/// Shows the privacy loss of a plan: moments, quantiles and distribution, and the theorem that licenses them.
#[must_use]
pub fn losses(losses: &Losses) -> String {
    let theorem = losses.theorem();
    let mut blocks: Vec<String> = losses.losses.iter().map(one).collect();
    blocks.push(aligned_rows([
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", wording::setting(theorem.setting())),
    ]));
    blocks.join("\n")
}

fn one(loss: &Loss) -> String {
    let part = loss.part.as_ref().map(|part| ("part", format!("{part:?}")));
    let rows = [
        ("mean", between(loss.mean)),
        ("variance", between(loss.variance)),
        ("infinite", format!("with probability at most {}", shown(loss.leak.upper, decimal::up))),
    ];
    let head = [("direction", direction(loss))].into_iter().chain(part).chain(rows);
    let quantiles = table(
        ["level", "loss, at least", "at most"],
        loss.quantiles.iter().map(|(level, loss)| (format_number(*level), *loss)),
    );
    let above = table(
        ["loss", "more with probability at least", "at most"],
        loss.above.iter().map(|(loss, mass)| (format_number(*loss), *mass)),
    );
    let mut text = format!("{}\n{quantiles}\n{above}", aligned_rows(head));
    if let Some(atoms) = loss.atoms.as_ref().filter(|atoms| atoms.len() <= MAX_ATOMS) {
        let rows = atoms.iter().map(|(loss, mass)| (about(*loss), *mass));
        let rows = table(["every loss, about", "probability, at least", "at most"], rows);
        text += &format!("\n{rows}");
    }
    text
}

fn direction(loss: &Loss) -> String {
    let words = match loss.direction {
        "add" => "add (drawn without the person's data, against with)",
        _ => "remove (drawn with the person's data, against without)",
    };
    words.to_owned()
}

/// A number with a narrow bracket.
fn about(bracket: Bracket) -> String {
    if bracket.lower <= 0.0 && 0.0 <= bracket.upper {
        return "0".to_owned();
    }
    wording::trimmed(&decimal::nearest(0.5 * (bracket.lower + bracket.upper), TABLE_DIGITS))
}

/// Both ends of a bracket.
fn between(bracket: Bracket) -> String {
    let (lower, upper) = (shown(bracket.lower, decimal::down), shown(bracket.upper, decimal::up));
    if lower == upper { lower } else { format!("{lower} to {upper}") }
}

/// A number rounded outward, or a word for infinity.
fn shown(value: f64, rounded: fn(f64, usize) -> String) -> String {
    if value.is_finite() {
        wording::trimmed(&rounded(value, TABLE_DIGITS))
    } else if value > 0.0 {
        "infinite".to_owned()
    } else {
        "-".to_owned()
    }
}

fn table(heading: [&str; 3], rows: impl Iterator<Item = (String, Bracket)>) -> String {
    let row = |(name, bracket): (String, Bracket)| {
        [name, shown(bracket.lower, decimal::down), shown(bracket.upper, decimal::up)]
    };
    let rows: Vec<_> = std::iter::once(heading.map(str::to_owned)).chain(rows.map(row)).collect();
    columns([Left, Right, Right], &rows)
}

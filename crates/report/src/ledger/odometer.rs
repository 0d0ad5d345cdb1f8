//! Shows an odometer.

use counterpoint_wire::ledger::{LevelStatus, OdometerStatus};

use super::{down, setting, up};
use crate::columns::Align::{Left, Right};
use crate::columns::columns;
use crate::compose::aligned_rows;

/// The number of levels shown above and below the lowest level that holds.
const SHOWN: usize = 5;

/// Shows the bound, the theorem and the neighbouring levels.
#[must_use]
pub fn odometer(read: &OdometerStatus) -> String {
    let bound = match &read.epsilon {
        Some(epsilon) => format!("at most {} (certified at all times at once)", up(epsilon)),
        None if read.leaked > read.leaks => {
            "no bound: more has leaked than is set aside for it".to_owned()
        }
        None => "no bound: every level is passed".to_owned(),
    };
    let sum = match &read.sum {
        Some(sum) => up(sum),
        None => "none: not every release has an epsilon".to_owned(),
    };
    let head = aligned_rows([
        ("account", read.account.clone()),
        ("epsilon", bound),
        ("delta", format!("{} (the chance with which it ever fails)", up(&read.delta))),
        ("sum of epsilons", sum),
        ("leaked", format!("{} of {} set aside", up(&read.leaked), down(&read.leaks))),
        ("charges", read.charges.to_string()),
        ("theorem", read.theorem.to_owned()),
        ("setting", setting(read.setting)),
    ]);
    let first = read.levels.iter().position(|level| level.holds).unwrap_or(read.levels.len());
    let from = first.saturating_sub(SHOWN);
    let near = read.levels.iter().skip(from).take(2 * SHOWN).map(row);
    let heading = ["level", "order", "spent", "of", ""].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(near).collect();
    let levels = columns([Right, Right, Right, Right, Left], &rows);
    let all = format!("{} levels, {} of them passed\n", read.levels.len(), passed(read));
    format!("{head}\n{levels}{all}\n{}", aligned_rows([("head", read.head.clone())]))
}

fn passed(read: &OdometerStatus) -> usize {
    read.levels.iter().filter(|level| !level.holds).count()
}

fn row(level: &LevelStatus) -> [String; 5] {
    let spent = level.spent.as_ref().map_or_else(|| "-".to_owned(), up);
    let holds = if level.holds { "holds" } else { "passed" };
    [up(&level.epsilon), up(&level.order), spent, down(&level.capacity), holds.to_owned()]
}

use counterpoint::Bracket;
use counterpoint::quantity::format_number;
use counterpoint::region::Readings;
use counterpoint_wire::{PlanReadings, decimal};

use crate::compose::aligned_rows;
use crate::wording;

/// The digits of a probability in a sentence.
const DIGITS: usize = 4;

/// Shows what a plan means for people: the success of attacks, in percent, and mu of Gaussian privacy.
#[must_use]
pub fn readings(all: &PlanReadings) -> String {
    let Readings { assumptions, advantage, accuracy, detection, reconstruction, gdp } =
        &all.readings;
    let alarms = detection.iter().map(|(rate, alarms)| {
        format!(
            "with {} false alarms, at most {} of the people whose data were used are found\n",
            share(rate.get()),
            percent(alarms.upper)
        )
    });
    let prior = assumptions.prior.get();
    let theorem = all.theorem();
    aligned_rows([
        (
            "advantage",
            format!(
                "at most {}: true alarms less false alarms of any test",
                percent(advantage.upper)
            ),
        ),
        (
            "guess",
            format!(
                "correct with probability at most {}; without the answers {}",
                percent(accuracy.upper),
                share(prior.max(1.0 - prior))
            ),
        ),
        ("detection", alarms.collect()),
        (
            "reconstruction",
            format!(
                "succeeds with probability at most {}; without the answers {}",
                percent(reconstruction.upper),
                share(assumptions.chance.get())
            ),
        ),
        ("gaussian privacy", mu(gdp.mu, gdp.floor.get())),
        ("regret", format!("at most {}", decimal::up(gdp.regret.upper, 3))),
        ("without a floor", everywhere(gdp.everywhere)),
        ("theorem", format!("{}\n({})", theorem.name(), theorem.source())),
        ("setting", wording::setting(theorem.setting())),
    ])
}

fn mu(mu: Bracket, floor: f64) -> String {
    let floor = format_number(floor);
    if mu.lower.is_infinite() {
        return format!("no mu: the plan leaks with a probability of at least {floor}");
    }
    let found = match mu.upper.is_finite() {
        true => format!("mu {}", wording::certified(mu)),
        false => format!("mu at least {}; no upper bound is certified", decimal::down(mu.lower, 6)),
    };
    format!("{found},\nfor every delta of at least {floor}")
}

fn everywhere(mu: Bracket) -> String {
    match (mu.lower.is_finite(), mu.upper.is_finite()) {
        (false, _) => "no mu, because the plan can leak everything".to_owned(),
        (true, true) => format!("mu {}", wording::certified(mu)),
        (true, false) => {
            format!("mu at least {}; no upper bound is known", decimal::down(mu.lower, 6))
        }
    }
}

/// A probability in percent, rounded up.
fn percent(probability: f64) -> String {
    let hundred = (100.0 * probability).next_up().min(100.0);
    format!("{} %", wording::trimmed(&decimal::up(hundred, DIGITS)))
}

/// A given probability in percent.
fn share(probability: f64) -> String {
    format!("{} %", wording::trimmed(&decimal::nearest(100.0 * probability, 12)))
}

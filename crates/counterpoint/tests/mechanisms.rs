//! Plans of real mechanisms against a table that shares nothing with the product:
//! `reference/mechanisms.txt`, every line at tolerances 1e-6 and, in the full run, 1e-9.

use crate::common;
use crate::reference;

use common::mechanisms::{ask, ask_best, is_narrow};
use common::{Question, is_full};
use counterpoint::theorem::Theorem;
use counterpoint::{Answer, AskError, Bracket};
use reference::Wide;
use reference::table::{LAST_DIGIT, Line, decimal, lines};
use std::time::Instant;

/// True if a value with a relative error lies in the bracket.
fn contains(bracket: &Bracket, value: &Wide, error: f64) -> bool {
    let error = value * &Wide::new(error);
    Wide::new(bracket.lower) <= value + &error && Wide::new(bracket.upper) >= value - &error
}

fn judge(line: &Line, bracket: &Bracket, tolerance: f64) -> Result<(), String> {
    if !contains(bracket, &line.value, LAST_DIGIT) {
        return Err("does not contain the reference".into());
    }
    if !is_narrow(bracket, tolerance) {
        return Err(format!("is wider than {tolerance:e}"));
    }
    // A reference that is off by a percent must be noticed, unless it may be lost in 1e-12.
    let toothless = line.value < Wide::new(1e-9);
    for factor in [0.99, 1.01] {
        if !toothless && contains(bracket, &(&line.value * &Wide::new(factor)), LAST_DIGIT) {
            return Err(format!("contains {factor} of the reference as well"));
        }
    }
    Ok(())
}

#[test]
fn the_table_is_large_and_varied() {
    let lines = lines();
    assert!(lines.len() >= 150, "{} lines", lines.len());
    let tiny = lines.iter().filter(|l| matches!(l.question, Question::Epsilon(d) if d < 1e-20));
    assert!(tiny.count() >= 15);
    let asymmetric = lines.iter().filter(|line| line.text.contains("| add "));
    assert!(asymmetric.count() >= 30);
}

/// The larger of the two directions is what the table asks for.
#[test]
fn the_value_is_that_of_the_worse_direction() {
    for line in lines() {
        let columns: Vec<&str> = line.text.split(" | ").collect();
        let Some([remove, add]) = columns.get(3..5) else { continue };
        let of = |text: &str| decimal(text.rsplit_once(' ').unwrap().1);
        let (remove, add) = (of(remove), of(add));
        let worse = if remove > add { remove } else { add };
        assert!(worse == line.value, "{}", line.text);
    }
}

#[test]
fn decimals_are_read_exactly() {
    assert!(decimal("0.25") == Wide::new(0.25));
    assert!(decimal("1.5e3") == Wide::new(1500.0));
    let tenth = decimal("1.00000000000000000000000e-1");
    assert!((&(&tenth * &Wide::new(10.0)) - &Wide::new(1.0)).abs() < Wide::new(1e-90));
    assert!(!contains(&Bracket::exact(0.1), &tenth, 1e-18), "the double 0.1 is not a tenth");
}

/// A range beside other mechanisms: the table holds what its worst profile composes to, which
/// bounds the truth from above.
fn is_upper_bound_only(line: &Line) -> bool {
    line.text.contains("exponential") && !line.text.starts_with("1 exponential(0.8)")
}

fn judge_upper(line: &Line, answer: &Answer, tolerance: f64) -> Result<(), String> {
    let Bracket { lower, upper } = answer.bracket;
    let value = line.value.near();
    let near = upper >= value * (1.0 - 1e-12) && upper <= value * (1.0 + tolerance);
    let right = if answer.theorem == Theorem::DominatingPairs { near } else { upper <= value };
    let lower_right = lower <= upper && lower <= value;
    if right && lower_right { Ok(()) } else { Err(format!("{}", answer.bracket)) }
}

#[test]
fn brackets_contain_the_tables_values() {
    let mut failures = Vec::new();
    let mut refused = Vec::new();
    let lines = lines();
    let tolerances: &[f64] = if is_full() { &[1e-6, 1e-9] } else { &[1e-6] };
    for line in &lines {
        for &tolerance in tolerances {
            let start = Instant::now();
            let ask = if is_upper_bound_only(line) { ask_best } else { ask };
            let verdict = match ask(&line.plan, line.question, tolerance) {
                Ok(answer) if is_upper_bound_only(line) => judge_upper(line, &answer, tolerance),
                Ok(answer) => judge(line, &answer.bracket, tolerance)
                    .map_err(|reason| format!("{} by {} {reason}", answer.bracket, answer.route)),
                // Nine digits are not promised of everything.
                Err(AskError::ToleranceNotMet { .. }) if tolerance < 1e-8 => {
                    refused.push(line.text);
                    Ok(())
                }
                Err(error) => Err(error.to_string()),
            };
            let time = start.elapsed();
            if time.as_secs() >= 10 {
                common::summary::say(&format!("{time:?} for {}", line.text));
            }
            if let Err(reason) = verdict {
                failures.push(format!("{} at {tolerance:e}: {reason}", line.text));
            }
        }
    }
    for failure in failures.iter().take(20) {
        common::summary::say(failure);
    }
    assert!(failures.is_empty(), "{} failures; first: {}", failures.len(), failures[0]);
    assert!(refused.len() * 10 <= lines.len(), "refused at 1e-9: {refused:#?}");
}

//! Composed profiles of real mechanisms to 24 digits, by definitions, closed forms and
//! quadrature (`mechanisms.py`).

use super::Wide;
use crate::common::Question;
use crate::common::mechanisms::*;
use counterpoint::{Mechanism, Plan, Release};

const TABLE: &str = include_str!("mechanisms.txt");

/// The table has 24 digits, the last of them rounded.
pub(crate) const LAST_DIGIT: f64 = 1e-23;

pub(crate) struct Line {
    pub(crate) text: &'static str,
    pub(crate) releases: Vec<Release>,
    pub(crate) plan: Plan,
    pub(crate) question: Question,
    pub(crate) value: Wide,
}

pub(crate) fn lines() -> Vec<Line> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(line).collect()
}

/// `plan | question | value`, and the directions, of which the value is the larger.
fn line(text: &'static str) -> Line {
    let columns: Vec<&str> = text.split(" | ").collect();
    let question = match columns[1].rsplit_once(' ').unwrap() {
        ("delta at", epsilon) => Question::Delta(epsilon.parse().unwrap()),
        ("epsilon at", delta) => Question::Epsilon(delta.parse().unwrap()),
        _ => panic!("{text}"),
    };
    let releases = releases(columns[0]);
    Line { text, plan: plan(&releases), releases, question, value: decimal(columns[2]) }
}

/// `count mechanism(parameters)@rate`, added up.
fn releases(text: &str) -> Vec<Release> {
    text.split(" + ").map(release).collect()
}

fn release(text: &str) -> Release {
    let (count, rest) = text.split_once(' ').unwrap();
    let (name, rest) = rest.split_once('(').unwrap();
    let (parameters, rate) = rest.split_once(')').unwrap();
    let (count, mechanism) = (count.parse().unwrap(), mechanism(name, parameters));
    match rate.strip_prefix('@') {
        Some(rate) => sampled(count, mechanism, rate.parse().unwrap()),
        None => times(count, mechanism),
    }
}

fn mechanism(name: &str, parameters: &str) -> Mechanism {
    let words: Vec<&str> = parameters.split(' ').collect();
    let number = |i: usize| words[i].parse::<f64>().unwrap();
    let whole = |i: usize| words[i].parse::<u64>().unwrap();
    match name {
        "approx-dp" => approximate(number(0), number(1)),
        "laplace" => laplace(number(0), number(1)),
        "geometric" => geometric(number(0), whole(1)),
        "gaussian" => gaussian(number(0), number(1)),
        "discrete-gaussian" => discrete_gaussian(number(0), whole(1)),
        "randomized-response" => response(number(0), whole(1)),
        "exponential" => exponential(number(0)),
        "staircase" => staircase(number(0), (words[1] != "-").then(|| number(1))),
        "name-and-shame" => name_and_shame(number(0)),
        "gdp" => gdp(number(0)),
        "sparse-vector" => sparse_vector(number(0), number(1)),
        "above-threshold" => above_threshold(number(0), number(1)),
        "finite" => {
            let (p, q) = parameters.split_once(" / ").unwrap();
            let list =
                |text: &str| text.split(' ').map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
            finite(&list(p), &list(q))
        }
        _ => panic!("no mechanism {name}"),
    }
}

/// A decimal number to 320 bits.
pub(crate) fn decimal(text: &str) -> Wide {
    let (digits, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    let exponent = exponent.parse::<i64>().unwrap() - fraction as i64;
    let ten = Wide::new(10.0);
    let append = |value: Wide, digit: char| {
        &(&value * &ten) + &Wide::new(f64::from(digit.to_digit(10).unwrap()))
    };
    let mantissa = digits.chars().filter(|c| *c != '.').fold(Wide::new(0.0), append);
    let power = ten.powi(exponent.unsigned_abs());
    if exponent < 0 { &mantissa / &power } else { &mantissa * &power }
}

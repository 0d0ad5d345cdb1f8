//! Measures the processor time of each route to an answer, and the width of its bracket: one line for each plan,
//! question and method. `bench/methods` puts the lines of two programs side by side, or makes a table of them.
//!
//!     cargo run --release -p counterpoint --example methods -- laplace|guarantees|all|all/17... [--methods free,contour]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs, dead_code)]

use counterpoint::watch::{Control, Watch};
use counterpoint::{Answer, AskError, Bracket, Options, Release, Route, Tolerance};
use counterpoint_testing::Random;
use kinds::Example;
use mechanisms::*;
use std::time::Instant;

#[path = "../tests/common/kinds.rs"]
mod kinds;
#[path = "../tests/common/mechanisms.rs"]
mod mechanisms;

/// A number given, as tests ask.
#[derive(Clone, Copy, Debug)]
enum Question {
    Epsilon(f64),
    Delta(f64),
}

/// A method that takes longer is stopped.
const LONGEST_MS: f64 = 1000.0;
/// Below it a delta is nothing, and need not be known any closer.
const NOTHING: f64 = 1e-12;
/// The plans of `all`.
const ALL: u64 = 300;

fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let only =
        args.iter().position(|arg| arg == "--methods").map(|at| args.drain(at..).nth(1).unwrap());
    let only: Option<Vec<&str>> = only.as_deref().map(|text| text.split(',').collect());
    let only = only.as_deref();
    let number = |arg: &str| arg.rsplit('/').next().and_then(|number| number.parse().ok());
    println!(
        "set\tplan\tkind\tasked\tgiven\ttolerance\tmethod\treported\twidth\tkept\tms\tlower\tupper\treleases"
    );
    for arg in args {
        let (set, one) = (arg.split('/').next().unwrap_or_default(), number(&arg));
        let list = match set {
            "laplace" => laplace_plans(),
            "guarantees" => guarantee_plans(),
            "all" => (0..ALL).map(kinds::example).collect(),
            set => panic!(
                "{set}; legal: laplace, guarantees, all, or one plan of them, such as all/17"
            ),
        };
        examples(set, &list, one, only);
    }
}

fn examples(set: &str, list: &[Example], one: Option<usize>, only: Option<&[&str]>) {
    for (number, example) in
        list.iter().enumerate().filter(|(number, _)| one.is_none_or(|one| one == *number))
    {
        let plan = plan(&example.releases);
        let ask = |question: Question, kind: &str| {
            let (asked, given) = match question {
                Question::Epsilon(delta) => ("epsilon", delta),
                Question::Delta(epsilon) => ("delta", epsilon),
            };
            let (mut found, mut least) = (None, f64::INFINITY);
            for route in std::iter::once(None).chain(Route::ALL.map(Some)) {
                let method = route.map_or("free", Route::name);
                if only.is_some_and(|only| !only.contains(&method)) {
                    continue;
                }
                let tolerance = Tolerance::new(example.tolerance).unwrap();
                let (answer, ms) = timed(
                    |watch| {
                        ask_with(
                            &plan,
                            question,
                            &Options { tolerance, route, watch, ..Options::default() },
                        )
                    },
                    least,
                );
                let best = best(&answer);
                if best.is_none() && matches!(answer, Err(AskError::RouteDoesNotApply { .. })) {
                    continue;
                }
                least = least.min(if answer.is_ok() { ms } else { f64::INFINITY });
                let bracket =
                    best.map_or(Bracket { lower: 0.0, upper: f64::INFINITY }, |best| best.bracket);
                let reported = best.map_or("none", |best| best.route.name());
                let width = bracket.relative_width();
                let kept = u8::from(
                    answer.is_ok() && (width <= example.tolerance || bracket.upper <= NOTHING),
                );
                let tolerance = example.tolerance;
                println!(
                    "{set}\t{number}\t{kind}\t{asked}\t{given:e}\t{tolerance:e}\t{method}\t{reported}\t{width:.1e}\t{kept}\t{ms:.3}\t{:e}\t{:e}\t{}",
                    bracket.lower,
                    bracket.upper,
                    brief(&example.releases),
                );
                found = found.or(best.map(|best| best.bracket));
            }
            found
        };
        if let Some(bracket) = ask(Question::Epsilon(example.delta), example.kind)
            && bracket.upper < 1e5
            && bracket.lower > 0.0
        {
            ask(Question::Delta(bracket.upper), example.kind);
        }
    }
}

fn best(answer: &Result<Answer, AskError>) -> Option<Answer> {
    match answer {
        Ok(answer) => Some(*answer),
        Err(AskError::ToleranceNotMet { best, .. }) => *best,
        Err(_) => None,
    }
}

fn brief(releases: &[Release]) -> String {
    let text: Vec<String> = releases
        .iter()
        .take(3)
        .map(|release| format!("{}x{:?}", release.count.get(), release.mechanism))
        .collect();
    format!("{} of {}", releases.len(), text.join(" ")).chars().take(200).collect()
}

/// The least of a few runs, in milliseconds of processor time. What takes far longer than another method is stopped, and asked once.
fn timed<T>(ask: impl Fn(Watch<'_>) -> T, least: f64) -> (T, f64) {
    let longest = LONGEST_MS.min(4.0 * least + 10.0);
    let run = || {
        let start = Clock::start();
        let watch = |_| if start.ms() > longest { Control::Stop } else { Control::Continue };
        let answer = ask(Watch::new(&watch));
        (answer, start.ms())
    };
    let (mut answer, mut ms) = run();
    let mut spent = ms;
    for _ in 0..5 {
        if spent > 20.0 || ms > 1.5 * least {
            break;
        }
        let (next, again) = run();
        (answer, ms, spent) = (next, ms.min(again), spent + again);
    }
    (answer, ms)
}

/// The unit in which the system counts processor time.
const TICK_MS: f64 = 4.0;

/// Time since a start, but no more than a tick longer than what this thread has spent, where the system says so.
struct Clock {
    start: Instant,
    spent: f64,
}

impl Clock {
    fn start() -> Self {
        Self { spent: spent_ms(), start: Instant::now() }
    }

    fn ms(&self) -> f64 {
        let passed = 1e3 * self.start.elapsed().as_secs_f64();
        if passed < TICK_MS { passed } else { passed.min(spent_ms() - self.spent + TICK_MS) }
    }
}

fn spent_ms() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = text.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    spent.map_or(f64::INFINITY, |nanoseconds| 1e-6 * nanoseconds)
}

/// 120 plans at 1e-6, 50 at 1e-9, and the corners: sparse vectors, large counts, epsilons next to the largest loss, tiny deltas.
fn laplace_plans() -> Vec<Example> {
    let random = &mut Random::new(0x006c_6170_6c61_6365);
    let mut list = Vec::new();
    let mut random_plan = |tolerance: f64| {
        let delta = random.log_uniform(1e-12, 1e-2);
        let one = |random: &mut Random, most: u64| {
            times(random.log_whole(1, most), laplace(random.log_uniform(0.7, 100.0), 1.0))
        };
        let (kind, releases): (_, Vec<Release>) = match random.below(5) {
            0 => ("one scale", vec![one(random, 3000)]),
            1 => ("few scales", (0..random.between(2, 6)).map(|_| one(random, 20)).collect()),
            2 => ("scales and responses", {
                let mut list: Vec<_> = (0..random.between(1, 4)).map(|_| one(random, 5)).collect();
                list.push(times(
                    random.between(1, 3),
                    approximate(random.log_uniform(0.1, 1.0), 0.0),
                ));
                list
            }),
            3 => (
                "one scale and outcomes",
                vec![
                    one(random, 50),
                    times(random.between(1, 2), geometric(random.log_uniform(2.0, 20.0), 1)),
                ],
            ),
            _ => ("many scales", (0..random.log_whole(7, 300)).map(|_| one(random, 2)).collect()),
        };
        Example { kind, releases, delta, tolerance }
    };
    list.extend((0..120).map(|_| random_plan(1e-6)));
    list.extend((0..50).map(|_| random_plan(1e-9)));
    for count in [2, 5, 20, 60, 250, 1000, 10_000, 100_000, 1_000_000] {
        for scale in [0.1, 1.0, 12.0, 1e3, 1e6] {
            for delta in [1e-3, 1e-6, 1e-20, 1e-100, 1e-300] {
                let releases = vec![times(count, laplace(scale, 1.0))];
                list.push(Example {
                    kind: "counts of one scale",
                    releases,
                    delta,
                    tolerance: 1e-6,
                });
            }
        }
    }
    for count in [2_u64, 3, 7, 15, 30] {
        // Half of what the largest loss has, and far less.
        for share in [0.9, 0.5, 0.1, 1e-3, 1e-9] {
            let delta = share * 0.5_f64.powi(count as i32);
            for list_of in [
                vec![times(count, laplace(4.0, 1.0))],
                (0..count).map(|i| times(1, laplace(3.0 + i as f64, 1.0))).collect(),
            ] {
                list.push(Example {
                    kind: "next to the largest loss",
                    releases: list_of,
                    delta,
                    tolerance: 1e-6,
                });
            }
        }
    }
    for count in [1, 3, 10, 100] {
        for queries in [0.1, 1.0] {
            let vectors = times(count, sparse_vector(0.5 * queries, queries));
            let above = times(count, above_threshold(0.5 * queries, queries));
            for (kind, releases) in [
                ("sparse vectors", vec![vectors.clone(), times(count, laplace(5.0, 1.0))]),
                ("above threshold", vec![above.clone()]),
                ("above threshold and laplace", vec![above, times(2, laplace(5.0, 1.0))]),
            ] {
                list.push(Example { kind, releases, delta: 1e-6, tolerance: 1e-6 });
            }
        }
    }
    list
}

/// Guarantees: few epsilons many times, many once, in between; with tolerances and tiny deltas.
fn guarantee_plans() -> Vec<Example> {
    let random = &mut Random::new(0x6775_6172);
    let mut list = Vec::new();
    for distinct in [2_u64, 3, 4, 6, 10, 20, 30, 40, 60, 100, 400] {
        for count in [1_u64, 2, 5, 30, 300, 1000, 100_000] {
            if distinct * count > 400_000 {
                continue;
            }
            for (delta, tolerance) in [(1e-6, 1e-6), (1e-6, 1e-9), (1e-100, 1e-6)] {
                let one = |random: &mut Random| {
                    times(count, approximate(random.log_uniform(0.01, 1.0), 0.0))
                };
                let releases = (0..distinct).map(|_| one(random)).collect();
                let kind = "distinct epsilons, each as often";
                list.push(Example { kind, releases, delta, tolerance });
            }
        }
    }
    for releases in [
        vec![times(1_000_000, approximate(0.01, 0.0)), times(1, approximate(0.3, 0.0))],
        vec![
            times(1_000_000, approximate(0.01, 0.0)),
            times(3, approximate(0.3, 0.0)),
            times(2, approximate(0.7, 0.0)),
        ],
        vec![times(2000, approximate(0.1, 0.0)), times(50, approximate(0.3, 0.0))],
        vec![
            times(1000, approximate(0.1, 0.0)),
            times(1000, approximate(0.2, 0.0)),
            times(1000, approximate(0.5, 0.0)),
        ],
    ] {
        list.push(Example {
            kind: "one often, few others",
            releases,
            delta: 1e-6,
            tolerance: 1e-6,
        });
    }
    list
}

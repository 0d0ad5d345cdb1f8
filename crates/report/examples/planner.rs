//! Five studies, planned, beside an equal split of the same budget: the section *Beside an equal split* of
//! docs/planner.md, and docs/planner.svg.
//!
//!     cargo run --release -p counterpoint-report --example planner [-- --check]
//!
//! With `--check` nothing is written; it fails if the documents say something else.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::fmt::Write;
use std::path::{Path, PathBuf};

use counterpoint::theorem::Theorem;
use counterpoint::{Adjacency, Count, Delta, Epsilon, Guarantee, Options, Plan, Relation};
use counterpoint_mechanisms::{Bounds, Query};
use counterpoint_planner::{
    AccuracyTarget, Budget, Goal, Noise, PublicFacts, QueryRequest, Statistic, StatisticContent,
    Study, StudyPlan, plan,
};
use counterpoint_report::plot::{Axis, Chart, Color, Figure, Line, Marker, Series, Style};

const EPSILON: f64 = 1.0;
const DELTA: f64 = 1e-6;
/// The text says so too.
const PEOPLE: u64 = 50_000;
const CONFIDENCE: f64 = 0.95;
/// A theorem by its name and curve.
type Named = (&'static str, Theorem, Color, Line);
const THEOREMS: [Named; 3] = [
    ("basic", Theorem::Basic, Color::Vermillion, Line::Solid),
    ("advanced", Theorem::Advanced, Color::Orange, Line::Dashed),
    ("KOV's closed form", Theorem::KovClosedForm, Color::Blue, Line::Dotted),
];

/// What is wanted: a query, and an error.
type Wished = (Query, f64);

fn mean(error: f64) -> Wished {
    (Query::mean(Bounds::new(0.0, 100.0).unwrap()), error)
}

fn proportion(error: f64) -> Wished {
    (Query::proportion(Bounds::new(0.5, 1.5).unwrap()), error)
}

fn count(error: f64) -> Wished {
    (Query::count_within(Bounds::new(0.5, 1.5).unwrap()), error)
}

fn histogram(error: f64) -> Wished {
    (Query::histogram(&[0.0, 1.0, 2.0, 3.0, 4.0]).unwrap(), error)
}

fn quartiles(error: f64) -> Wished {
    let candidates: Vec<f64> = (0..=100).map(f64::from).collect();
    (Query::quantiles(&[(1, 4), (1, 2), (3, 4)], &candidates).unwrap(), error)
}

/// So many of each, in turn: errors of one per mille of what answers can be, or three.
fn mixed(many: usize) -> Vec<Wished> {
    let kinds = [mean(0.1), count(50.0), proportion(0.003), mean(0.3)];
    kinds.into_iter().cycle().take(many).collect()
}

fn studies() -> Vec<(&'static str, Vec<Wished>)> {
    let five = vec![mean(0.1), proportion(0.001), histogram(50.0), quartiles(500.0), count(50.0)];
    let uneven = [vec![mean(0.1); 3], vec![count(2_000.0); 200]].concat();
    vec![
        ("5 of five kinds", five),
        ("20 means, counts and proportions", mixed(20)),
        ("100 of those", mixed(100)),
        ("1,000 of those", mixed(1_000)),
        ("3 exact means among 200 rough counts", uneven),
    ]
}

fn relation() -> Relation {
    Relation::single_record(Adjacency::Replace)
}

fn planned(wishes: &[Wished]) -> StudyPlan {
    let statistic = |(query, error): &Wished| Statistic {
        name: String::new(),
        content: StatisticContent::Query(QueryRequest {
            query: query.clone(),
            noise: None,
            confidence: CONFIDENCE,
            target: AccuracyTarget::Error(*error),
            scale: 1.0,
            population: None,
        }),
    };
    let public = PublicFacts { relation: relation(), rows: Some(PEOPLE), sample_of: None };
    let epsilon = Some(Epsilon::new(EPSILON).unwrap());
    let budget = Budget { epsilon, delta: Delta::new(DELTA).unwrap() };
    let statistics = wishes.iter().map(statistic).collect();
    let study = Study::new(public, budget, Goal::Relative, statistics).unwrap();
    plan(&study, &Options::default()).unwrap()
}

/// The largest epsilon that so many may have each for a theorem to charge the budget at most.
fn equal(theorem: Theorem, many: u64) -> f64 {
    let charge = |each: f64| {
        let plan = Plan::new([(Guarantee::pure(each).unwrap(), Count::new(many).unwrap())]);
        theorem.epsilon(&plan.unwrap(), Delta::new(DELTA).unwrap()).unwrap()
    };
    let (mut low, mut high) = (EPSILON / many as f64 / 4.0, EPSILON);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if charge(middle) <= EPSILON { low = middle } else { high = middle }
    }
    low
}

/// The error with pure noise of this epsilon.
fn error(query: &Query, epsilon: f64) -> f64 {
    let recipe = query.laplace(epsilon).or_else(|_| query.exponential(epsilon)).unwrap();
    recipe.under(relation()).unwrap().half_width_all(PEOPLE, CONFIDENCE).unwrap()
}

/// Errors of an equal split over what was wanted, statistic by statistic.
fn split(wishes: &[Wished], theorem: Theorem) -> Vec<f64> {
    let each = equal(theorem, wishes.len() as u64);
    // Most are asked more than once.
    let mut known: Vec<(&Wished, f64)> = Vec::new();
    for wished in wishes {
        if !known.iter().any(|(seen, _)| *seen == wished) {
            known.push((wished, error(&wished.0, each) / wished.1));
        }
    }
    let over = |wished: &Wished| known.iter().find(|(seen, _)| *seen == wished).unwrap().1;
    wishes.iter().map(over).collect()
}

fn worst(list: &[f64]) -> f64 {
    list.iter().copied().fold(0.0, f64::max)
}

/// One study, and errors over what was wanted: as planned, and split by each theorem.
struct Compared {
    name: &'static str,
    many: usize,
    gaussians: usize,
    planned: Vec<f64>,
    split: Vec<Vec<f64>>,
}

impl Compared {
    fn of((name, wishes): (&'static str, Vec<Wished>)) -> Self {
        let planned = planned(&wishes);
        let runs = || planned.statistics.iter().map(|line| line.answer.as_ref().unwrap());
        Self {
            name,
            many: wishes.len(),
            gaussians: runs().filter(|runs| runs.noise == Noise::Gaussian).count(),
            planned: runs().map(|runs| runs.error / runs.wanted.unwrap()).collect(),
            split: THEOREMS.iter().map(|(_, theorem, ..)| split(&wishes, *theorem)).collect(),
        }
    }

    /// How many times the largest error over what was wanted is as large as planned.
    fn times(&self) -> Vec<f64> {
        self.split.iter().map(|list| worst(list) / worst(&self.planned)).collect()
    }
}

/// Three digits.
fn short(number: f64) -> String {
    let digits = (2 - number.log10().floor() as i32).clamp(0, 6) as usize;
    format!("{number:.digits$}")
}

const BEGIN: &str =
    "<!-- Made by crates/report/examples/planner.rs, to the end of this section. -->";
const END: &str = "<!-- The end of what is made. -->";

fn section(all: &[Compared]) -> String {
    let mut text = format!(
        "{BEGIN}\n## Beside an equal split\n\n\
         How much a plan gains over an equal split, in five studies of 50,000 people (adjacency replace) at epsilon {EPSILON} \
         and\ndelta {DELTA:e}. Each statistic has a requested error at {} % confidence. The planner multiplies all requested \
         errors\nby one factor, the smallest that it finds. In an equal split every statistic gets the same epsilon, as much as \
         the\nnamed theorem allows, with Laplace noise (quantiles: the exponential mechanism). Each number is the largest \
         error\ndivided by its requested error. In brackets: how many times the plan's number this is.\n\n\
         | study | planned | basic | advanced | KOV's closed form |\n| --- | ---: | ---: | ---: | ---: |\n",
        100.0 * CONFIDENCE,
    );
    for one in all {
        let noise = match one.gaussians {
            0 => "",
            some if some == one.many => ", Gaussian noise",
            _ => ", some Gaussian noise",
        };
        write!(text, "| {}{noise} | {} |", one.name, short(worst(&one.planned))).unwrap();
        for (list, times) in one.split.iter().zip(one.times()) {
            write!(text, " {} ({}×) |", short(worst(list)), short(times)).unwrap();
        }
        text.push('\n');
    }
    text + "\nIn the plan every error is the same multiple of its requested error. An equal split gives statistics with large \
            requested\nerrors more epsilon than they need, and statistics with small requested errors less. The right half of the \
            figure shows\nthe last study, statistic by statistic.\n\n\
            ![Errors of an equal split, relative to those of the plan](planner.svg)\n"
        + END
        + "\n"
}

fn figure(all: &[Compared]) -> Figure {
    let growing: Vec<&Compared> = all.iter().take(4).collect();
    let uneven = all.last().unwrap();
    let axis = |label: &str| Axis::new(label).log();
    let mut left = Chart::new(axis("statistics"), axis("largest error, times the plan's"))
        .title("mixed statistics");
    let mut right = Chart::new(axis("statistic"), axis("error over what was wanted"))
        .title("3 exact means among 200 rough counts");
    let flat = Style::new(Color::Black, Line::Solid).width(2.5);
    left.series
        .push(Series::new("planned", growing.iter().map(|one| (one.many as f64, 1.0))).style(flat));
    let places = |list: &[f64]| {
        let point = |(place, value): (usize, &f64)| (place as f64 + 1.0, *value);
        list.iter().enumerate().map(point).collect::<Vec<_>>()
    };
    right.series.push(Series::new("planned", places(&uneven.planned)).style(flat));
    for (index, (name, _, color, line)) in THEOREMS.into_iter().enumerate() {
        let style = Style::new(color, line);
        let points = growing.iter().map(|one| (one.many as f64, one.times()[index]));
        left.series.push(Series::new(name, points).style(style.marker(Marker::Circle)));
        right.series.push(Series::new(name, places(&uneven.split[index])).style(style));
    }
    let times =
        all.iter().take(4).map(|one| short(one.times().into_iter().fold(f64::MAX, f64::min)));
    let times: Vec<String> = times.collect();
    let caption = format!(
        "Claim: relative to what was wanted, the largest error of an equal split is larger than the plan's by any of three \
         theorems; by the best of them {} times with 5, 20, 100 and 1,000 statistics. Where it ends: what is wanted \
         roughly may have a smaller error in an equal split (right), at the expense of the others. An equal split has \
         Laplace noise; a plan has what is best.",
        times.join(", ")
    );
    Figure::new("What a plan is worth beside an equal split", caption, [left, right])
}

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The document with its section replaced, or added at its end.
fn merged(before: &str, section: &str) -> String {
    match (before.find(BEGIN), before.find(END)) {
        (Some(begin), Some(end)) if begin < end => {
            let after = before[end + END.len()..].trim_start_matches('\n');
            let rest = if after.is_empty() { String::new() } else { format!("\n{after}") };
            format!("{}{section}{rest}", &before[..begin])
        }
        _ if before.is_empty() => format!("# Planning a study\n\n{section}"),
        _ => format!("{}\n\n{section}", before.trim_end()),
    }
}

fn main() {
    let all: Vec<Compared> = studies().into_iter().map(Compared::of).collect();
    let (page, drawing) = (docs().join("planner.md"), docs().join("planner.svg"));
    let before = std::fs::read_to_string(&page).unwrap_or_default();
    let (text, svg) = (merged(&before, &section(&all)), figure(&all).svg());
    if std::env::args().any(|word| word == "--check") {
        assert!(before == text, "docs/planner.md is not what this program writes");
        assert!(std::fs::read_to_string(&drawing).is_ok_and(|old| old == svg), "docs/planner.svg");
        return;
    }
    std::fs::write(&page, text).unwrap();
    std::fs::write(&drawing, svg).unwrap();
    println!("{}", section(&all));
}

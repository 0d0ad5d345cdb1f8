//! Every bracket against an independent reference in arbitrary precision.
//!
//! A case is one question about one composition: the automatic route must answer it
//! rightly and within the tolerance, and so must every route that applies when forced.
//! A forced lattice route may refuse, but not be wrong. Inputs are random, with a fixed
//! seed, and adversarial on purpose: see `counterpoint_testing::Random` and `common/questions.rs`.
//!
//! | family | reference | cases, full | quick |
//! | --- | --- | --- | --- |
//! | patterns | k <= 20 releases, all 2^k sign patterns | 56,500 | 3,000 |
//! | counts | up to four epsilons, k to 10^4, nested binomial sums | 30,000 | 800 |
//! | multiples | multiples of one step, k to 10^3, dynamic program | 13,000 | 600 |
//! | routes | k from 24 to 10^6, independent routes must overlap | 500 | 24 |
//!
//! `COUNTERPOINT_FULL=1 cargo test --profile full soundness` runs all 100,000.

use crate::common;
use crate::reference;

use common::summary::Summary;
use common::{Outcome, Question, Release, ask, check, compose, groups, is_full, questions, replay};
use counterpoint::Route;
use counterpoint::{Answer, AskError, Bracket, Plan};
use counterpoint_testing::Random;
use reference::Reference;
use std::time::Instant;

/// A forced lattice route may be a bad idea: it is given up after so many reports of how far it is, which is about a tenth
/// of a second; contours take time in proportion to the number of releases. The exact routes are not given up.
fn most_reports(route: Option<Route>, releases: &[Release]) -> Option<u64> {
    match route {
        Some(Route::Contour) => Some(5_000.min(200_000 / releases.len().max(1) as u64).max(10)),
        Some(Route::Convolution) => Some(16),
        _ => None,
    }
}

const DEFAULT_TOLERANCE: f64 = 1e-6;
/// The number of questions about one composition.
const QUESTIONS: u64 = 8;

/// One composition with its judge.
struct Subject<'a> {
    releases: &'a [Release],
    composition: Plan,
    reference: &'a Reference,
}

impl<'a> Subject<'a> {
    fn new(releases: &'a [Release], reference: &'a Reference) -> Self {
        Self { releases, composition: compose(releases), reference }
    }

    /// One case: the automatic route and all that can be forced.
    fn examine(&self, question: Question, random: &mut Random, summary: &mut Summary) {
        summary.cases += 1;
        self.examine_route(question, None, DEFAULT_TOLERANCE, summary);
        for route in exact_routes(self.releases) {
            self.examine_route(question, Some(route), DEFAULT_TOLERANCE, summary);
        }
        for route in [Route::Contour, Route::Convolution] {
            if random.once_in(4) {
                let tolerance = random.of(&[1e-2, 1e-3, 1e-4, 1e-6]);
                self.examine_route(question, Some(route), tolerance, summary);
            }
        }
    }

    fn examine_route(
        &self,
        question: Question,
        route: Option<Route>,
        tolerance: f64,
        summary: &mut Summary,
    ) {
        let limit = most_reports(route, self.releases);
        let describe = || {
            let how = route.map_or("automatic".into(), |route| format!("{route}"));
            format!("{how} route, tolerance {tolerance:e}, {}", replay(self.releases, question))
        };
        let start = Instant::now();
        let outcome = ask(&self.composition, question, route, tolerance, limit);
        summary.took(start.elapsed(), describe);
        let verdict = match &outcome {
            Outcome::Answer(answer) => self
                .judge(question, answer, tolerance, summary)
                .map_err(|reason| format!("{reason}: {} by {}", answer.bracket, answer.route)),
            Outcome::Refusal(error) => self.judge_refusal(question, route, error, summary),
            Outcome::Panic(text) => Err(format!("panic: {text}")),
        };
        if let Err(reason) = verdict {
            summary.failure(format!("{reason}\n  {}", describe()));
        }
    }

    fn judge(
        &self,
        question: Question,
        answer: &Answer,
        tolerance: f64,
        summary: &mut Summary,
    ) -> Result<(), String> {
        summary.answers += 1;
        check::bracket(self.reference, question, &answer.bracket)?;
        let route = answer.route.name();
        let slack = check::slack(self.reference, question, &answer.bracket);
        summary.slack(route, slack);
        if is_exact(answer.route) {
            summary.loosest(slack, || replay(self.releases, question));
        }
        if answer.bracket.width() <= 1e-12 {
            return Ok(());
        }
        let width = answer.bracket.relative_width();
        let is_epsilon = matches!(question, Question::Epsilon(_));
        if is_epsilon {
            summary.width(route, width);
        }
        let promised = if is_epsilon && is_exact(answer.route) { 1e-12 } else { tolerance };
        if width > promised { Err(format!("relative width {width:e}")) } else { Ok(()) }
    }

    /// Refusals for a delta below the leak are right or wrong. Otherwise only a forced
    /// lattice route may refuse, and the automatic one for a delta near one.
    fn judge_refusal(
        &self,
        question: Question,
        route: Option<Route>,
        error: &AskError,
        summary: &mut Summary,
    ) -> Result<(), String> {
        if let AskError::BelowLeak { .. } = error {
            summary.refusal("below the leak");
            return check::below_leak(self.reference, question, error);
        }
        match route {
            Some(route) if !is_exact(route) => summary.refusal(route.name()),
            None if matches!(question, Question::Epsilon(delta) if delta > 0.9) => {
                summary.refusal("delta above 0.9");
            }
            _ => return Err(format!("refused: {error}")),
        }
        Ok(())
    }
}

fn is_exact(route: Route) -> bool {
    !matches!(route, Route::Contour | Route::Convolution)
}

/// The exact routes that are quick on these releases.
fn exact_routes(releases: &[Release]) -> Vec<Route> {
    let groups = groups(releases);
    let atoms: f64 = groups.iter().map(|group| group.1 as f64 + 1.0).product();
    let most = groups.iter().map(|group| group.1).max().unwrap_or(0);
    let mut routes = Vec::new();
    if groups.len() == 1 {
        routes.push(Route::Equal);
    }
    if atoms <= 4e6 && most <= 2000 {
        routes.push(Route::Halves);
    }
    routes
}

fn ask_about(
    releases: &[Release],
    reference: &Reference,
    random: &mut Random,
    summary: &mut Summary,
    questions: u64,
) {
    let subject = Subject::new(releases, reference);
    let before = summary.failures();
    for _ in 0..questions {
        // One failure says enough about a composition.
        if summary.failures() > before {
            break;
        }
        let question = questions::question(random, releases, reference);
        subject.examine(question, random, summary);
    }
}

/// Epsilons with counts get deltas; now and then a release with a delta only is added.
fn releases(random: &mut Random, epsilons: &[(f64, u64)]) -> Vec<Release> {
    let leaks = random.leaks(epsilons.len());
    let mut list: Vec<Release> = epsilons
        .iter()
        .zip(leaks)
        .map(|(&(epsilon, count), leak)| (epsilon, leak, count))
        .collect();
    if random.once_in(20) {
        list.push((0.0, random.leak(), 1));
    }
    list
}

/// The number of cases in the full and in the quick run.
fn cases(full: u64, quick: u64) -> u64 {
    if is_full() { full } else { quick }
}

#[test]
fn patterns() {
    let mut summary = Summary::new("patterns");
    let mut random = Random::new(1);
    let all = cases(56_500, 1_000);
    while summary.cases < all && !summary.is_hopeless() {
        let k = match random.below(1000) {
            0 if is_full() => random.between(16, 20),
            0 => 15,
            1..50 => random.between(10, 13),
            _ => random.between(1, 9),
        };
        let epsilons: Vec<(f64, u64)> =
            random.epsilons(k as usize).into_iter().map(|epsilon| (epsilon, 1)).collect();
        let releases = releases(&mut random, &epsilons);
        let reference = common::by_patterns(&releases);
        let questions = QUESTIONS.min(all - summary.cases);
        ask_about(&releases, &reference, &mut random, &mut summary, questions);
    }
    summary.finish();
}

#[test]
fn counts() {
    let mut summary = Summary::new("counts");
    let mut random = Random::new(2);
    let all = cases(30_000, 800);
    while summary.cases < all && !summary.is_hopeless() {
        let most: &[u64] = match random.below(8) {
            0 => &[10_000],
            1 => &[1000],
            2 => &[10_000, 50],
            3 => &[300, 200],
            4 => &[2000, 8, 8],
            5 => &[1000, 5, 5, 5],
            6 => &[50, 5, 2, 2],
            _ => &[30, 10, 5],
        };
        let epsilons: Vec<(f64, u64)> = random
            .epsilons(most.len())
            .into_iter()
            .zip(most)
            .map(|(epsilon, &most)| (epsilon, random.log_whole(1, most)))
            .collect();
        let releases = releases(&mut random, &epsilons);
        let reference = common::by_counts(&releases);
        let questions = QUESTIONS.min(all - summary.cases);
        ask_about(&releases, &reference, &mut random, &mut summary, questions);
    }
    summary.finish();
}

#[test]
fn multiples() {
    let mut summary = Summary::new("multiples");
    let mut random = Random::new(3);
    let all = cases(13_000, 600);
    while summary.cases < all && !summary.is_hopeless() {
        let (most_k, most_multiple) = match random.below(100) {
            0 if is_full() => (1000, 5),
            0..10 => (300, 8),
            _ => (80, 20),
        };
        let k = random.log_whole(2, most_k);
        let scale = random.of(&[1.0, 1.0 / k as f64, 1.0 / (k as f64).sqrt()]);
        let step = exact_step(&mut random, scale);
        let multiples: Vec<usize> =
            (0..k).map(|_| random.between(1, most_multiple) as usize).collect();
        let epsilons: Vec<(f64, u64)> =
            multiples.iter().map(|&multiple| (multiple as f64 * step, 1)).collect();
        let mut releases = releases(&mut random, &epsilons);
        // The reference wants exactly the multiples.
        releases.truncate(epsilons.len());
        let reference = common::by_multiples(step, &multiples, &releases);
        let questions = QUESTIONS.min(all - summary.cases);
        ask_about(&releases, &reference, &mut random, &mut summary, questions);
    }
    summary.finish();
}

/// A step with so many low bits clear that small multiples are exact: a power of two, a
/// small fraction of one, or any number of 40 bits.
fn exact_step(random: &mut Random, scale: f64) -> f64 {
    match random.below(3) {
        0 => 2.0_f64.powi(-(random.between(2, 12) as i32)),
        1 => random.between(1, 31) as f64 * 2.0_f64.powi(-10),
        _ => {
            let step = scale * random.log_uniform(1e-3, 2.0);
            f64::from_bits(step.to_bits() & !((1 << 12) - 1))
        }
    }
}

/// Too large for a reference: what independent routes and different tolerances say must
/// have a point in common.
#[test]
fn routes() {
    let mut summary = Summary::new("routes");
    let mut random = Random::new(4);
    let all = cases(500, 12);
    while summary.cases < all && !summary.is_hopeless() {
        let k = match random.below(100) {
            0 if is_full() => random.log_whole(100_000, 1_000_000),
            0..10 => random.log_whole(2_000, 20_000),
            10..50 => random.between(24, 34),
            _ => random.log_whole(35, 2000),
        };
        let releases = many(&mut random, k);
        let question = distant_question(&mut random, &releases);
        summary.cases += 1;
        compare_routes(&releases, question, &mut summary);
    }
    summary.finish();
}

/// Many distinct epsilons of about one size.
fn many(random: &mut Random, k: u64) -> Vec<Release> {
    let size = (k as f64).sqrt().recip() * random.log_uniform(0.01, 20.0);
    let spread = random.of(&[1.01, 2.0, 20.0, 1000.0]);
    let size = size.clamp(1e-8 * spread, 50.0);
    let list: Vec<(f64, u64)> =
        (0..k).map(|_| (random.log_uniform(size / spread, size), 1)).collect();
    releases(random, &list)
}

fn distant_question(random: &mut Random, releases: &[Release]) -> Question {
    let leak: f64 = releases.iter().map(|release| release.1).sum();
    if random.once_in(2) {
        Question::Epsilon((leak + random.log_uniform(1e-300, 0.5)).min(0.9))
    } else {
        let sum: f64 = releases.iter().map(|release| release.0).sum();
        let variance: f64 = releases.iter().map(|release| release.0 * release.0).sum();
        let typical = 0.5 * variance + variance.sqrt() * random.uniform(-1.0, 12.0);
        Question::Delta(typical.clamp(0.0, sum * random.of(&[1.0, 0.5])))
    }
}

fn compare_routes(releases: &[Release], question: Question, summary: &mut Summary) {
    let composition = compose(releases);
    let k = releases.len();
    let mut tries = vec![(None, 1e-6), (None, 1e-3), (Some(Route::Contour), 1e-5)];
    if k <= 20_000 {
        tries.push((Some(Route::Contour), 1e-9));
        tries.push((Some(Route::Convolution), 1e-3));
    }
    if k <= 34 {
        tries.push((Some(Route::Halves), 1e-6));
    }
    let mut seen: Vec<(String, Bracket)> = Vec::new();
    for (route, tolerance) in tries {
        let name = format!("{} at {tolerance:e}", route.map_or("auto", Route::name));
        let start = Instant::now();
        let forced_lattice = route.is_some_and(|route| !is_exact(route));
        let limit = most_reports(route, releases);
        let outcome = ask(&composition, question, route, tolerance, limit);
        summary.took(start.elapsed(), || format!("{name}, {}", replay(releases, question)));
        match outcome {
            Outcome::Answer(answer) => {
                summary.answers += 1;
                let width = answer.bracket.relative_width();
                if answer.bracket.width() > 1e-12 {
                    summary.width(answer.route.name(), width);
                    if width > tolerance {
                        summary
                            .failure(format!("{name}: {answer:?} {}", replay(releases, question)));
                    }
                }
                seen.push((name, answer.bracket));
            }
            Outcome::Refusal(AskError::BelowLeak { .. }) => summary.refusal("below the leak"),
            Outcome::Refusal(_) if forced_lattice => summary.refusal(&name),
            Outcome::Refusal(error) => {
                summary.failure(format!("{name}: {error} {}", replay(releases, question)));
            }
            Outcome::Panic(text) => {
                summary.failure(format!("{name}: panic: {text} {}", replay(releases, question)));
            }
        }
    }
    for (index, (name, bracket)) in seen.iter().enumerate() {
        let contradicted = seen[..index].iter().find(|(_, other)| !other.overlaps(bracket));
        let is_bracket = bracket.lower <= bracket.upper;
        if !is_bracket || contradicted.is_some() {
            let text = replay(releases, question);
            summary.failure(format!("{name}: {bracket} against {contradicted:?}, {text}"));
        }
    }
}

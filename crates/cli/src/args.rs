//! What can be said on the command line. Numbers are checked here, once.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use counterpoint::Route;
use counterpoint::ask::Unknown;
use counterpoint::audit::Tally;
use counterpoint::quantity::{Bits, Confidence, plain};
use counterpoint::theorem::eta::Eta;
use counterpoint::{Count, Delta, Epsilon, Sensitivity, Tolerance};
use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_report::figures::Recipe;
use counterpoint_wire::{MOST_SAMPLES, Place, fraction, name_of, power};

#[cfg(feature = "ledger")]
use crate::ledger::LedgerArgs;
use crate::legal::NotLegal;
#[cfg(feature = "serve")]
use crate::{release::ReleaseArgs, serve::ServeArgs, token::TokenArgs};

/// What many private releases cost together, as a certified bracket.
#[derive(Debug, clap::Parser)]
#[command(name = "counterpoint", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Certify what the releases of a plan cost together
    Compose(ComposeArgs),
    /// Put the optimum beside what the named theorems charge
    Compare(CompareArgs),
    /// Find how much noise, how large an epsilon or how many releases a budget allows
    Calibrate(CalibrateArgs),
    /// Plan a study: from wanted errors, or a budget, to mechanisms that keep to them
    Plan(PlanArgs),
    /// Release a study: from its rows to published numbers, each charged, drawn and stored once
    #[cfg(feature = "serve")]
    Release(ReleaseArgs),
    /// Begin a study of a data file
    #[command(arg_required_else_help = false)]
    Study(StudyArgs),
    /// Serve the planner page, and a curator of tables if one is configured
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Make, list and revoke the tokens by which a curator knows people
    #[cfg(feature = "serve")]
    Token(TokenArgs),
    /// Show what an attacker can do: the error rates that tests of a plan can reach
    Region(RegionArgs),
    /// Bound epsilon from below by what attacks did, and test a claim
    Audit(AuditArgs),
    /// Say what a guarantee is worth in other words: another epsilon or delta, a total variation distance
    Convert(ConvertArgs),
    /// Say how much noise published rules ask for, and where they fail
    Noise(NoiseArgs),
    /// Run the proofs forwards: make mechanisms of randomized responses, check the maps exactly, draw samples
    Simulate(SimulateArgs),
    /// Sketch a graph's cuts or a matrix's variances: idealised, private only if doubles were real numbers
    Sketch(SketchArgs),
    /// Draw the figures of the papers, and our own, as SVG, PDF and CSV
    Figures(FiguresArgs),
    /// Keep budgets that are spent as one goes, durably
    #[cfg(feature = "ledger")]
    #[command(arg_required_else_help = false)]
    Ledger(Box<LedgerArgs>),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct ComposeArgs {
    /// Plan file in TOML or JSON; - for standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,

    /// Ask for epsilon at this delta, whatever the plan asks
    #[arg(long, value_name = "D", value_parser = given_delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Given<Delta>>,

    /// Ask for delta at this epsilon, whatever the plan asks
    #[arg(long, value_name = "E", value_parser = given_epsilon, allow_hyphen_values = true)]
    #[arg(conflicts_with = "delta")]
    pub(crate) epsilon: Option<Given<Epsilon>>,

    /// Relative width of the bracket [default: 1e-6]
    #[arg(long, value_name = "T", value_parser = tolerance, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<Tolerance>,

    #[arg(long, value_name = "R", value_parser = route, help = route_help())]
    pub(crate) route: Option<Route>,

    /// Compute to so many bits, by the precise route. Numbers then are what is written, not the doubles next to them: 0.3 is
    /// three tenths, "1/3" a third
    #[arg(long, value_name = "Q", value_parser = bits, allow_hyphen_values = true)]
    #[arg(conflicts_with = "tolerance")]
    pub(crate) bits: Option<Bits>,

    /// Tell the privacy loss itself, in place of epsilon and delta: its mean, variance, quantiles and distribution
    #[arg(long, conflicts_with_all = ["delta", "epsilon", "route", "bits"])]
    pub(crate) losses: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Plan file in TOML or JSON; - for standard input
    #[arg(value_name = "PLAN")]
    pub(crate) plan: Option<String>,

    /// Without a plan: the epsilon of each release
    #[arg(long, value_name = "E", value_parser = given_epsilon, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan", requires = "count", requires = "delta")]
    pub(crate) epsilon: Option<Given<Epsilon>>,

    /// Without a plan: the delta of each release [default: 0]
    #[arg(long, value_name = "d", value_parser = given_delta, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) release_delta: Option<Given<Delta>>,

    /// Without a plan: how many releases
    #[arg(long, value_name = "K", value_parser = count, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) count: Option<Count>,

    /// Ask for epsilon at this delta, whatever the plan asks
    #[arg(long, value_name = "D", value_parser = given_delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Given<Delta>>,

    /// Run Murtagh and Vadhan's approximation algorithm, too, with this additive error in epsilon
    #[arg(long, value_name = "ETA", value_parser = eta, allow_hyphen_values = true)]
    pub(crate) eta: Option<Eta>,

    /// List the (epsilon, delta) pairs that describe equal guarantees together, too
    #[arg(long)]
    pub(crate) pairs: bool,

    /// Compute to so many bits, and the theorems' charges, from the numbers as they are written
    #[arg(long, value_name = "Q", value_parser = bits, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["eta", "pairs"])]
    pub(crate) bits: Option<Bits>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ConvertArgs {
    /// The epsilon of the guarantee
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,

    /// Its delta [default: 0]
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Another epsilon, for its least delta; with --to-delta, whether both are implied
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) to_epsilon: Option<Epsilon>,

    /// Another delta, for its least epsilon
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) to_delta: Option<Delta>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NoiseArgs {
    /// What all queries together may cost
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,

    /// At this delta
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Delta,

    /// How many queries there are; of a single one more rules speak [default: 1]
    #[arg(long, value_name = "K", value_parser = count, allow_hyphen_values = true)]
    pub(crate) count: Option<Count>,

    /// How far one person moves each answer [default: 1]
    #[arg(long, value_name = "S", value_parser = sensitivity, allow_hyphen_values = true)]
    pub(crate) sensitivity: Option<Sensitivity>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// Plan file in TOML or JSON; - for standard input. What is to be found may be left out
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,

    /// What to find: the least sigma or scale, or the largest epsilon or count, that will do
    #[arg(long = "for", value_name = "WHAT", value_parser = unknown_values())]
    pub(crate) unknown: Unknown,

    /// Vary the releases of this name alone [default: those that leave it out, or else all]. Those that vary keep their
    /// ratios; where they leave noise out it is in proportion to sensitivity
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) release: Option<String>,

    /// What all releases together may cost [default: epsilon of the plan's target, or the plan's epsilon]
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// At this delta [default: delta of the plan's target, or the plan's delta]
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Write the finished plan, as compose and ledger open take it, to this file; JSON if that is its extension
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// Study file in TOML or JSON; - for standard input
    #[arg(value_name = "STUDY")]
    pub(crate) study: String,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the plan, as compose and ledger open take it, to this file; JSON if that is its extension
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,

    /// Draw the plan beside other theorems, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Prove how far a weighted sum of errors is from the smallest there is: this may take minutes
    #[arg(long)]
    pub(crate) prove: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StudyArgs {
    #[command(subcommand)]
    pub(crate) command: StudyCommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum StudyCommand {
    /// Print a study file with every column of a data file and what has to be declared of it. Only the header is read
    New(StudyNewArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct StudyNewArgs {
    /// Data file: .csv, .jsonl or .parquet
    #[arg(value_name = "FILE")]
    pub(crate) data: String,

    /// Take bounds, categories and missing codes from a Frictionless table schema, CSVW metadata or a DDI codebook
    #[arg(long, value_name = "FILE")]
    pub(crate) codebook: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RegionArgs {
    /// Plan files in TOML or JSON; - for standard input
    #[arg(value_name = "PLAN", required = true)]
    pub(crate) plans: Vec<String>,

    /// Draw the regions over each other, as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// The same picture, as PDF with its fonts inside
    #[arg(long, value_name = "FILE")]
    pub(crate) pdf: Option<PathBuf>,

    /// Leave the picture's title and paragraph to your own text
    #[arg(long)]
    pub(crate) plain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// An attack's false alarms and the trials without the person's data; once for each attack
    #[arg(long, value_name = "A/N", value_parser = tally, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(crate) false_alarms: Vec<Tally>,

    /// The same attack's misses and the trials with the person's data; in the same order
    #[arg(long, value_name = "B/M", value_parser = tally, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(crate) misses: Vec<Tally>,

    /// Bound epsilon at this delta
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Delta,

    /// The probability with which the bound holds
    #[arg(long, value_name = "C", value_parser = confidence, allow_hyphen_values = true)]
    #[arg(default_value = "0.95")]
    pub(crate) confidence: Confidence,

    /// A plan that is claimed to be what was attacked; - for standard input
    #[arg(long, value_name = "PLAN")]
    pub(crate) claim: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    /// Simulation file in TOML or JSON: stages of finite mechanisms, interactive systems, a source and a target, or Laplace
    /// noise; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// How many transcripts to draw for each of the two data sets
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    #[arg(default_value = "1000")]
    pub(crate) samples: u64,

    /// The same seed draws the same samples, and makes the same adversary of interactive systems. They protect nothing
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// The largest Rényi divergence of this order over all adversaries, for systems
    #[arg(long, value_name = "A")]
    pub(crate) order: Option<f64>,

    /// The least deltas at these epsilons, of each part and of all together, in both directions
    #[arg(long, value_name = "E,E", value_parser = at_epsilon, value_delimiter = ',')]
    pub(crate) epsilon: Vec<Place>,

    /// The same at these values of e^epsilon, as fractions
    #[arg(long, value_name = "X,X", value_parser = at_ratio, value_delimiter = ',')]
    pub(crate) ratio: Vec<Place>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SketchArgs {
    /// Sketch file in TOML or JSON; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct FiguresArgs {
    /// Directory to write to; made if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Only this figure; may be given several times. width, time and mv-theorem-1.7 are made only so
    #[arg(long, value_name = "NAME", value_parser = figure_names())]
    pub(crate) only: Vec<String>,

    /// Leave the title and the paragraph to your own text
    #[arg(long)]
    pub(crate) plain: bool,

    /// Draw for this epsilon of each release, not the paper's; with --only
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// Draw for this delta: the total, or where leaks are composed, of each release
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Draw for up to this many releases
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) releases: Option<Count>,
}

fn figure_names() -> PossibleValuesParser {
    Recipe::ALL.map(|recipe| recipe.name).into()
}

/// What can be found, as values that completions know.
fn unknown_values() -> impl TypedValueParser<Value = Unknown> {
    const UNKNOWNS: [Unknown; 4] =
        [Unknown::Sigma, Unknown::Scale, Unknown::Epsilon, Unknown::Count];
    PossibleValuesParser::new(UNKNOWNS.map(name_of)).try_map(|name| {
        let found = UNKNOWNS.into_iter().find(|unknown| name_of(*unknown) == name);
        found.ok_or("legal: sigma, scale, epsilon, count")
    })
}

/// A number, and what is written for it, if that is an amount.
#[derive(Clone, Debug)]
pub(crate) struct Given<T> {
    pub(crate) value: T,
    pub(crate) exact: Option<Ratio>,
}

fn given_delta(text: &str) -> Result<Given<Delta>, NotLegal> {
    Ok(Given { value: delta(text)?, exact: fraction(text).ok() })
}

fn given_epsilon(text: &str) -> Result<Given<Epsilon>, NotLegal> {
    Ok(Given { value: epsilon(text)?, exact: fraction(text).ok() })
}

fn delta(text: &str) -> Result<Delta, NotLegal> {
    number(text, Delta::new, Delta::LEGAL)
}

fn epsilon(text: &str) -> Result<Epsilon, NotLegal> {
    number(text, Epsilon::new, Epsilon::LEGAL)
}

fn eta(text: &str) -> Result<Eta, NotLegal> {
    number(text, Eta::new, Eta::LEGAL)
}

fn sensitivity(text: &str) -> Result<Sensitivity, NotLegal> {
    number(text, Sensitivity::new, Sensitivity::LEGAL)
}

fn tolerance(text: &str) -> Result<Tolerance, NotLegal> {
    number(text, Tolerance::new, Tolerance::LEGAL)
}

fn count(text: &str) -> Result<Count, NotLegal> {
    number(text, Count::new, Count::LEGAL)
}

fn confidence(text: &str) -> Result<Confidence, NotLegal> {
    number(text, Confidence::new, Confidence::LEGAL)
}

fn samples(text: &str) -> Result<u64, NotLegal> {
    let samples = text.parse().ok().filter(|samples| *samples <= MOST_SAMPLES);
    samples.ok_or_else(|| NotLegal(format!("a whole number from 0 to {MOST_SAMPLES}")))
}

fn at_epsilon(text: &str) -> Result<Place, NotLegal> {
    let place = fraction(text).ok().and_then(Place::epsilon);
    place.ok_or_else(|| NotLegal::unless("numbers from 0 to 500, such as 0.5,1"))
}

fn at_ratio(text: &str) -> Result<Place, NotLegal> {
    let place = fraction(text).ok().and_then(Place::ratio);
    place.ok_or_else(|| NotLegal::unless("numbers of at least 1, such as 2,5/2"))
}

/// Two whole numbers with a stroke between them.
fn tally(text: &str) -> Result<Tally, NotLegal> {
    let numbers = text.split_once('/').and_then(|(count, trials)| {
        Tally::new(count.trim().parse().ok()?, trials.trim().parse().ok()?).ok()
    });
    numbers.ok_or_else(|| NotLegal::unless(Tally::LEGAL))
}

fn bits(text: &str) -> Result<Bits, NotLegal> {
    number(text, Bits::new, Bits::LEGAL)
}

/// A checked number, which may be a power such as 2^-25, a fraction such as 1/3, or a count such as 1e3; the error says only
/// what is legal, as the value stands beside it.
fn number<N: std::str::FromStr, T, E>(
    text: &str,
    check: fn(N) -> Result<T, E>,
    legal: &str,
) -> Result<T, NotLegal> {
    let divided = || fraction(text).ok().map(|exact| nearest(&exact));
    let words = || power(text).or_else(|| text.parse().ok()).or_else(divided).map(plain);
    let parsed = text.parse().ok().or_else(|| words()?.parse().ok());
    let number = parsed.and_then(|number| check(number).ok());
    number.ok_or_else(|| NotLegal::unless(legal))
}

fn route(text: &str) -> Result<Route, NotLegal> {
    Route::named(text).ok_or_else(|| NotLegal(Route::names(Route::ALL)))
}

fn route_help() -> String {
    let names = Route::names(Route::ALL);
    format!(
        "How to compute, where it applies: {names} [default: the cheapest that keeps the tolerance]"
    )
}

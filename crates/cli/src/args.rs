//! The command line: its options, and the checks of its numbers.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use counterpoint::Route;
use counterpoint::ask::Unknown;
use counterpoint::audit::Tally;
use counterpoint::quantity::{Bits, Confidence, Floor, Prior, format_number};
use counterpoint::theorem::eta::Eta;
use counterpoint::{Count, Delta, Epsilon, Sensitivity, Tolerance};
use counterpoint_numerics::fractions::{Ratio, nearest};
use counterpoint_report::figures::FigureSpec;
use counterpoint_studies::{DeltaPoint, MOST_SAMPLES};
use counterpoint_wire::{fraction, power, unknown_field_name};

use crate::illegal_value::IllegalValueError;
#[cfg(feature = "ledger")]
use crate::ledger::LedgerArgs;
#[cfg(feature = "serve")]
use crate::{release::ReleaseArgs, serve::ServeArgs, token::TokenArgs};

/// Compute, plan and keep the total privacy cost of many releases, with certified bounds
#[derive(Debug, clap::Parser)]
#[command(name = "counterpoint", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Compute the total privacy cost of a plan, as a certified bracket
    Compose(ComposeArgs),
    /// Compare the optimal cost of a plan with the costs by named theorems
    Compare(CompareArgs),
    /// Find the least noise, the largest epsilon or the largest number of releases within a budget
    Calibrate(CalibrateArgs),
    /// Plan a study: choose mechanisms that reach the requested errors, or that have the smallest errors within a budget
    Plan(PlanArgs),
    /// Release a study: compute its statistics from the rows, charge a ledger, add noise and publish
    #[cfg(feature = "serve")]
    Release(ReleaseArgs),
    /// Print a draft of a study file for a data file
    #[command(arg_required_else_help = false)]
    Study(StudyArgs),
    /// Serve the planner page, and a curator if one is configured
    #[cfg(feature = "serve")]
    Serve(ServeArgs),
    /// Create, list and revoke tokens for the users of a curator
    #[cfg(feature = "serve")]
    Token(TokenArgs),
    /// Compute the error rates of an attacker who tests whether a person's data were used
    Region(RegionArgs),
    /// Compute a lower bound on epsilon from the results of attacks, and test a claimed plan
    Audit(AuditArgs),
    /// Convert a guarantee: to another epsilon or delta, or a total variation distance
    Convert(ConvertArgs),
    /// Compare the noise that published rules require, and show which rules fail
    Noise(NoiseArgs),
    /// Simulate mechanisms by randomized responses: check the maps of the proofs exactly and draw samples
    Simulate(SimulateArgs),
    /// Sketch a graph's cuts or a matrix's variances; idealised: not private with floating-point numbers
    Sketch(SketchArgs),
    /// Draw the figures of the papers, and further ones, as SVG, PDF and CSV
    Figures(FiguresArgs),
    /// Keep durable privacy budgets: accounts, charges and responses
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

    /// Compute epsilon at this delta, instead of the delta or epsilon in the plan
    #[arg(long, value_name = "D", value_parser = written_delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<WrittenNumber<Delta>>,

    /// Compute delta at this epsilon, instead of the delta or epsilon in the plan
    #[arg(long, value_name = "E", value_parser = written_epsilon, allow_hyphen_values = true)]
    #[arg(conflicts_with = "delta")]
    pub(crate) epsilon: Option<WrittenNumber<Epsilon>>,

    /// Largest relative width of the bracket [default: 1e-6]
    #[arg(long, value_name = "T", value_parser = tolerance, allow_hyphen_values = true)]
    pub(crate) tolerance: Option<Tolerance>,

    #[arg(long, value_name = "R", value_parser = route, help = route_help())]
    pub(crate) route: Option<Route>,

    /// Compute this many bits, by the precise route. Numbers then have their written values, not the nearest doubles:
    /// 0.3 is three tenths, "1/3" a third
    #[arg(long, value_name = "Q", value_parser = bits, allow_hyphen_values = true)]
    #[arg(conflicts_with = "tolerance")]
    pub(crate) bits: Option<Bits>,

    /// Print the distribution of the privacy loss instead of epsilon and delta: mean, variance, quantiles and deltas
    #[arg(long, conflicts_with_all = ["delta", "epsilon", "route", "bits"])]
    pub(crate) losses: bool,

    /// Print what the plan means for people instead of epsilon and delta: the success of attacks, and mu of Gaussian
    /// privacy with its regret
    #[arg(long, conflicts_with_all = ["delta", "epsilon", "route", "bits", "losses"])]
    pub(crate) readings: bool,

    /// With --readings: the probability of one of two neighbouring data sets before the answers [default: 0.5]
    #[arg(long, value_name = "P", value_parser = prior, allow_hyphen_values = true, requires = "readings")]
    pub(crate) prior: Option<Prior>,

    /// With --readings: the probability of a successful reconstruction without the answers [default: 0.001]
    #[arg(long, value_name = "K", value_parser = prior, allow_hyphen_values = true, requires = "readings")]
    pub(crate) chance: Option<Prior>,

    /// With --readings: the least delta for which mu is meant to hold [default: 1e-10]
    #[arg(long, value_name = "D", value_parser = floor, allow_hyphen_values = true, requires = "readings")]
    pub(crate) floor: Option<Floor>,

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
    #[arg(long, value_name = "E", value_parser = written_epsilon, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan", requires = "count", requires = "delta")]
    pub(crate) epsilon: Option<WrittenNumber<Epsilon>>,

    /// Without a plan: the delta of each release [default: 0]
    #[arg(long, value_name = "d", value_parser = written_delta, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) release_delta: Option<WrittenNumber<Delta>>,

    /// Without a plan: the number of releases
    #[arg(long, value_name = "K", value_parser = count, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) count: Option<Count>,

    /// Compute epsilon at this delta, instead of the delta or epsilon in the plan
    #[arg(long, value_name = "D", value_parser = written_delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<WrittenNumber<Delta>>,

    /// Also run Murtagh and Vadhan's approximation algorithm with this additive error in epsilon
    #[arg(long, value_name = "ETA", value_parser = eta, allow_hyphen_values = true)]
    pub(crate) eta: Option<Eta>,

    /// For equal guarantees: also list the (epsilon, delta) pairs that all releases together satisfy
    #[arg(long)]
    pub(crate) pairs: bool,

    /// Compute the optimum and the theorems' costs to this many bits, from the numbers as written
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

    /// The delta of the guarantee [default: 0]
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Compute the least delta at this epsilon; with --to-delta, test if this guarantee is implied
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) to_epsilon: Option<Epsilon>,

    /// Compute the least epsilon at this delta
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) to_delta: Option<Delta>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NoiseArgs {
    /// The epsilon of all queries together
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Epsilon,

    /// The delta of all queries together
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Delta,

    /// The number of queries; more rules apply to a single query [default: 1]
    #[arg(long, value_name = "K", value_parser = count, allow_hyphen_values = true)]
    pub(crate) count: Option<Count>,

    /// The largest change of an answer by one person [default: 1]
    #[arg(long, value_name = "S", value_parser = sensitivity, allow_hyphen_values = true)]
    pub(crate) sensitivity: Option<Sensitivity>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// Plan file in TOML or JSON; - for standard input. The plan may leave out the parameter to find
    #[arg(value_name = "PLAN")]
    pub(crate) plan: String,

    /// The parameter to find: the least sigma or scale, or the largest epsilon or count
    #[arg(long = "for", value_name = "WHAT", value_parser = unknown_values())]
    pub(crate) unknown: Unknown,

    /// Vary only the releases of this name [default: the releases that leave out the parameter, or else all]. Varying
    /// releases keep their ratios; releases without noise get noise in proportion to their sensitivity
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub(crate) release: Option<String>,

    /// The largest epsilon of all releases together [default: epsilon of the plan's target, or the plan's epsilon]
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// The delta of all releases together [default: delta of the plan's target, or the plan's delta]
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Write the completed plan to this file, for compose and ledger open; JSON for the extension .json, otherwise TOML
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

    /// Write the plan to this file, for compose and ledger open; JSON for the extension .json, otherwise TOML
    #[arg(long, value_name = "PLAN")]
    pub(crate) out: Option<PathBuf>,

    /// Draw the plan's cost and the costs by other theorems to this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Prove how close the weighted sum of errors is to the smallest possible sum; may take minutes
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
    /// Print a study file with all columns of a data file and the declarations to fill in. Reads only the header
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

    /// Draw all regions in one SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,

    /// Draw the same picture as PDF with embedded fonts
    #[arg(long, value_name = "FILE")]
    pub(crate) pdf: Option<PathBuf>,

    /// Draw without title and explanation
    #[arg(long)]
    pub(crate) plain: bool,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// The numbers of false alarms and of trials without the person's data; once for each attack
    #[arg(long, value_name = "A/N", value_parser = tally, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(crate) false_alarms: Vec<Tally>,

    /// The numbers of misses and of trials with the person's data; once for each attack, in the same order
    #[arg(long, value_name = "B/M", value_parser = tally, allow_hyphen_values = true)]
    #[arg(required = true)]
    pub(crate) misses: Vec<Tally>,

    /// The delta at which epsilon is bounded
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Delta,

    /// The probability with which the bound holds
    #[arg(long, value_name = "C", value_parser = confidence, allow_hyphen_values = true)]
    #[arg(default_value = "0.95")]
    pub(crate) confidence: Confidence,

    /// Test the claim that this plan describes the attacked mechanism; - for standard input
    #[arg(long, value_name = "PLAN")]
    pub(crate) claim: Option<String>,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SimulateArgs {
    /// Simulation file in TOML or JSON: stages of finite mechanisms, interactive systems, a source and a target, or
    /// Laplace noise; - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: String,

    /// The number of transcripts to draw for each of the two data sets
    #[arg(long, value_name = "N", value_parser = samples, allow_hyphen_values = true)]
    #[arg(default_value = "1000")]
    pub(crate) samples: u64,

    /// Seed of the samples, and of the adversary of interactive systems. The samples protect no data
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,

    /// For interactive systems: compute the largest Rényi divergence of this order over all adversaries
    #[arg(long, value_name = "A")]
    pub(crate) order: Option<f64>,

    /// Compute the least deltas at these epsilons, of each part and of all together, in both directions
    #[arg(long, value_name = "E,E", value_parser = at_epsilon, value_delimiter = ',')]
    pub(crate) epsilon: Vec<DeltaPoint>,

    /// Compute the least deltas at these values of e^epsilon, as fractions
    #[arg(long, value_name = "X,X", value_parser = at_ratio, value_delimiter = ',')]
    pub(crate) ratio: Vec<DeltaPoint>,

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
    /// Directory to write to; created if it does not exist
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,

    /// Draw only this figure; may be given several times. width, time and mv-theorem-1.7 are drawn only if named
    #[arg(long, value_name = "NAME", value_parser = figure_names())]
    pub(crate) only: Vec<String>,

    /// Draw without title and explanation
    #[arg(long)]
    pub(crate) plain: bool,

    /// Draw for this epsilon of each release instead of the paper's; with --only
    #[arg(long, value_name = "E", value_parser = epsilon, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Epsilon>,

    /// Draw for this delta instead of the paper's: the total, or of each release in figures of composed leaks; with
    /// --only
    #[arg(long, value_name = "D", value_parser = delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,

    /// Draw for up to this many releases; with --only
    #[arg(long, value_name = "K", value_parser = count)]
    pub(crate) releases: Option<Count>,
}

fn figure_names() -> PossibleValuesParser {
    FigureSpec::ALL.map(|recipe| recipe.name).into()
}

/// The parser of unknowns, with values that shell completion offers.
fn unknown_values() -> impl TypedValueParser<Value = Unknown> {
    const UNKNOWNS: [Unknown; 4] =
        [Unknown::Sigma, Unknown::Scale, Unknown::Epsilon, Unknown::Count];
    PossibleValuesParser::new(UNKNOWNS.map(unknown_field_name)).try_map(|name| {
        let found = UNKNOWNS.into_iter().find(|unknown| unknown_field_name(*unknown) == name);
        found.ok_or("legal: sigma, scale, epsilon, count")
    })
}

/// A checked number, and its exact written value if it is an amount.
#[derive(Clone, Debug)]
pub(crate) struct WrittenNumber<T> {
    pub(crate) value: T,
    pub(crate) exact: Option<Ratio>,
}

fn written_delta(text: &str) -> Result<WrittenNumber<Delta>, IllegalValueError> {
    Ok(WrittenNumber { value: delta(text)?, exact: fraction(text).ok() })
}

fn written_epsilon(text: &str) -> Result<WrittenNumber<Epsilon>, IllegalValueError> {
    Ok(WrittenNumber { value: epsilon(text)?, exact: fraction(text).ok() })
}

fn delta(text: &str) -> Result<Delta, IllegalValueError> {
    number(text, Delta::new, Delta::LEGAL)
}

fn epsilon(text: &str) -> Result<Epsilon, IllegalValueError> {
    number(text, Epsilon::new, Epsilon::LEGAL)
}

fn eta(text: &str) -> Result<Eta, IllegalValueError> {
    number(text, Eta::new, Eta::LEGAL)
}

fn sensitivity(text: &str) -> Result<Sensitivity, IllegalValueError> {
    number(text, Sensitivity::new, Sensitivity::LEGAL)
}

fn tolerance(text: &str) -> Result<Tolerance, IllegalValueError> {
    number(text, Tolerance::new, Tolerance::LEGAL)
}

fn count(text: &str) -> Result<Count, IllegalValueError> {
    number(text, Count::new, Count::LEGAL)
}

fn confidence(text: &str) -> Result<Confidence, IllegalValueError> {
    number(text, Confidence::new, Confidence::LEGAL)
}

fn prior(text: &str) -> Result<Prior, IllegalValueError> {
    number(text, Prior::new, Prior::LEGAL)
}

fn floor(text: &str) -> Result<Floor, IllegalValueError> {
    number(text, Floor::new, Floor::LEGAL)
}

fn samples(text: &str) -> Result<u64, IllegalValueError> {
    let samples = text.parse().ok().filter(|samples| *samples <= MOST_SAMPLES);
    samples.ok_or_else(|| IllegalValueError(format!("a whole number from 0 to {MOST_SAMPLES}")))
}

fn at_epsilon(text: &str) -> Result<DeltaPoint, IllegalValueError> {
    let place = fraction(text).ok().and_then(DeltaPoint::epsilon);
    place.ok_or_else(|| IllegalValueError::new("numbers from 0 to 500, such as 0.5,1"))
}

fn at_ratio(text: &str) -> Result<DeltaPoint, IllegalValueError> {
    let place = fraction(text).ok().and_then(DeltaPoint::ratio);
    place.ok_or_else(|| IllegalValueError::new("numbers of at least 1, such as 2,5/2"))
}

/// Parses two whole numbers with a slash between them.
fn tally(text: &str) -> Result<Tally, IllegalValueError> {
    let numbers = text.split_once('/').and_then(|(count, trials)| {
        Tally::new(count.trim().parse().ok()?, trials.trim().parse().ok()?).ok()
    });
    numbers.ok_or_else(|| IllegalValueError::new(Tally::LEGAL))
}

fn bits(text: &str) -> Result<Bits, IllegalValueError> {
    number(text, Bits::new, Bits::LEGAL)
}

/// Parses and checks a number: a decimal, a power such as 2^-25, a fraction such as 1/3, or a count such as 1e3. The
/// error only says what is legal, because clap shows the value beside it.
fn number<N: std::str::FromStr, T, E>(
    text: &str,
    check: fn(N) -> Result<T, E>,
    legal: &str,
) -> Result<T, IllegalValueError> {
    let divided = || fraction(text).ok().map(|exact| nearest(&exact));
    let words = || power(text).or_else(|| text.parse().ok()).or_else(divided).map(format_number);
    let parsed = text.parse().ok().or_else(|| words()?.parse().ok());
    let number = parsed.and_then(|number| check(number).ok());
    number.ok_or_else(|| IllegalValueError::new(legal))
}

fn route(text: &str) -> Result<Route, IllegalValueError> {
    Route::named(text).ok_or_else(|| IllegalValueError(Route::names(Route::ALL)))
}

fn route_help() -> String {
    let names = Route::names(Route::ALL);
    format!(
        "How to compute, where it applies: {names} [default: the cheapest that keeps the tolerance]"
    )
}

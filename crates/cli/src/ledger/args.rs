//! The options of `counterpoint ledger`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::Amount;
use counterpoint_ledger::{FilterKind, Head};
use counterpoint_wire::adjacency_from_name;
use counterpoint_wire::ledger::Openings;

use crate::illegal_value::IllegalValueError;

#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// The ledger: sqlite:PATH, or postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,

    /// Stop unless the history contains this head, which you got from an earlier command and kept outside the ledger
    #[arg(long, global = true, value_name = "SEQ:HASH")]
    pub(crate) expect_head: Option<Head>,

    /// Write nothing; works with ledgers on read-only media
    #[arg(long, global = true)]
    pub(crate) read_only: bool,

    /// Print one JSON object
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: LedgerCommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum LedgerCommand {
    /// Create a new ledger
    Init,
    /// Add a data set with its neighbouring relation and its budget
    Dataset(DatasetArgs),
    /// Open an account and charge the data set for the whole account
    Open(OpenArgs),
    /// Exchange unused openings of a plan account for slots that they dominate
    Recut(RecutArgs),
    /// Limit an analyst to a part of an account
    Quota(QuotaArgs),
    /// Debit a release, before its noise is drawn
    Reserve(ReserveArgs),
    /// Store a release's response, before anybody sees it
    Commit(CommitArgs),
    /// Print a stored response
    Response(ResponseArgs),
    /// Compute the charge of a release, and test if it would be allowed now
    Price(PriceArgs),
    /// List debited releases without a response, and open sessions
    Pending {
        /// A data set or an account [default: all]
        #[arg(value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// Show the state of a session
    Session(SessionArgs),
    /// End a session: it accepts no more answers
    End(SessionArgs),
    /// Close an account for good; debited releases can still be committed
    Close {
        /// The account
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },
    /// Close a data set and all its accounts for good; debited releases can still be committed
    CloseDataset {
        /// The data set
        #[arg(value_name = "NAME")]
        dataset: String,
    },
    /// Move unspent budget to another account of the same data set
    Move(MoveArgs),
    /// Show promised, spent and remaining budgets
    Status {
        /// A data set or an account [default: all]
        #[arg(value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// Show the odometer: an epsilon that bounds the loss so far and holds at all times at once, with its levels
    Odometer {
        /// An open account, for its releases, or a data set, for its accounts' promises
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },
    /// List the history's entries
    History(HistorySelectionArgs),
    /// List stored responses
    Responses(HistorySelectionArgs),
    /// Recompute every balance from the history and compare it with the stored one
    Verify {
        /// Start at the checkpoint in this file, if it exists, and write a new checkpoint to it
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<String>,
    },
    /// Print the history and all responses as one JSON object
    Export {
        /// Print only the history, which holds digests of the responses; for database roles that may not read responses
        #[arg(long)]
        without_responses: bool,
    },
    /// Copy the ledger to a new SQLite file, verify the copy and print its head
    Backup {
        /// The new file
        #[arg(value_name = "FILE")]
        file: String,

        /// For auditors: replace the private states of sessions by digests. The copy can be verified, but not written
        /// to
        #[arg(long)]
        without_secrets: bool,
    },
    /// Convert a ledger of an earlier format to the current one, after a backup
    Upgrade {
        /// New file for the backup
        #[arg(long, value_name = "FILE")]
        backup: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DatasetArgs {
    /// The data set's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// How neighbouring data sets differ: one has one person more (add-remove), or one person's data differ (replace)
    #[arg(long, value_name = "A", value_parser = adjacency_values())]
    pub(crate) adjacency: Adjacency,

    /// The largest number of records of a person that are used
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) records: u64,

    #[command(flatten)]
    pub(crate) budget: BudgetArgs,

    /// What the data set adds up: epsilons (sums), Rényi divergences (renyi), rho (zcdp) or mu^2 (gdp)
    #[arg(long, value_name = "KIND", value_parser = kind_values(), default_value = "sums")]
    pub(crate) filter: FilterKind,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The epsilon that is never exceeded, at --delta
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) epsilon: Amount,

    /// The delta of the budget
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Amount,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    /// The account's name
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// The data set that is charged for the account
    #[arg(long, value_name = "NAME", required_unless_present = "within")]
    #[arg(conflicts_with = "within")]
    pub(crate) dataset: Option<String>,

    /// Charge an opening of a slot (--slot) of this plan account, instead of a data set
    #[arg(long, value_name = "ACCOUNT", requires = "slot", conflicts_with = "plan")]
    pub(crate) within: Option<String>,

    /// The slot, which must dominate the new account's promise
    #[arg(long, value_name = "SLOT", requires = "within")]
    pub(crate) slot: Option<String>,

    /// A plan whose releases are the account's slots; - for standard input
    #[arg(long, value_name = "PLAN", required_unless_present = "filter")]
    #[arg(conflicts_with = "filter")]
    pub(crate) plan: Option<String>,

    /// What an open account adds up: epsilons (sums), Rényi divergences (renyi), rho (zcdp) or mu^2 (gdp)
    #[arg(long, value_name = "KIND", value_parser = kind_values())]
    pub(crate) filter: Option<FilterKind>,

    /// The epsilon that the account may cost; with a plan, the epsilon at which delta is certified
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Amount>,

    /// The delta that the account may cost; with a plan, the delta at which epsilon is certified
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Option<Amount>,

    /// The rho of a zcdp account, instead of epsilon
    #[arg(long, value_name = "R", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "mu", "tau"])]
    pub(crate) rho: Option<Amount>,

    /// The mu of a gdp account, instead of epsilon and delta
    #[arg(long, value_name = "M", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "delta", "tau"])]
    pub(crate) mu: Option<Amount>,

    /// The divergence of a renyi account at --order, instead of epsilon and delta
    #[arg(long, value_name = "T", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "delta"], requires = "order")]
    pub(crate) tau: Option<Amount>,

    /// The Rényi order [default: the best order for the releases of --expect]
    #[arg(long, value_name = "A", value_parser = order, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan", conflicts_with = "expect")]
    pub(crate) order: Option<Order>,

    /// The part of delta that is set aside for the releases' own deltas [default: half]
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) leaks: Option<Amount>,

    /// Set nothing aside for the releases' own deltas; releases with a delta are refused
    #[arg(long, conflicts_with = "plan", conflicts_with = "leaks")]
    pub(crate) no_leaks: bool,

    /// Plan of the expected releases, for choosing the Rényi order
    #[arg(long, value_name = "PLAN", conflicts_with = "plan")]
    pub(crate) expect: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecutArgs {
    /// The plan account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// Give up this many unused openings of a slot; may be given for several slots
    #[arg(long, value_name = "N:SLOT", value_parser = openings, required = true)]
    pub(crate) unused: Vec<Openings>,

    /// Plan whose releases are the new slots; - for standard input
    #[arg(long, value_name = "PLAN")]
    pub(crate) into: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct QuotaArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// The analyst
    #[arg(value_name = "WHO")]
    pub(crate) analyst: String,

    /// The analyst's part of the account's capacity: above 0, at most 1
    #[arg(long, value_name = "F", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with = "epsilon", conflicts_with = "releases")]
    pub(crate) share: Option<Amount>,

    /// For a sums account: the epsilon that the analyst's releases together may cost
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    #[arg(requires = "delta")]
    pub(crate) epsilon: Option<Amount>,

    /// For a sums account: the delta that the analyst's releases together may cost
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    #[arg(requires = "epsilon")]
    pub(crate) delta: Option<Amount>,

    /// For a plan account: the number of releases
    #[arg(long, value_name = "N", conflicts_with = "epsilon")]
    pub(crate) releases: Option<u64>,

    /// Replace the analyst's present quota
    #[arg(long)]
    pub(crate) change: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MoveArgs {
    /// The account that gives budget
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// The account that receives budget
    #[arg(value_name = "TO")]
    pub(crate) to: String,

    /// The amount to move, in the unit that status shows
    #[arg(long, value_name = "X", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) amount: Amount,

    /// The amount to move of the delta that is set aside for the releases' own deltas [default: 0]
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Option<Amount>,

    /// Your name for this move, unique in the giving account; repeating a key moves nothing again
    #[arg(long, value_name = "K")]
    pub(crate) key: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReserveArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    #[command(flatten)]
    pub(crate) request: ReleaseRequestArgs,

    /// Your name for this release, unique in the account; repeating a key charges nothing again
    #[arg(long, value_name = "K")]
    pub(crate) key: String,

    /// Reserve a session: one charge pays for all of its answers
    #[arg(long)]
    pub(crate) session: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    #[command(flatten)]
    pub(crate) request: ReleaseRequestArgs,
}

/// A release to price or reserve.
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseRequestArgs {
    /// In a plan account: the name of a slot. In an open account: a plan file, whose releases are charged together (-
    /// for standard input), or one release as a JSON object
    #[arg(value_name = "RELEASE")]
    pub(crate) release: String,

    /// The analyst who asks
    #[arg(long, value_name = "WHO")]
    pub(crate) analyst: Option<String>,

    /// In a plan account: the number of openings of the slot [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,

    /// In a plan account: the release that runs in each opening, as a plan file or a JSON object; refused unless the
    /// slot dominates it
    #[arg(long, value_name = "RELEASE")]
    pub(crate) run: Option<String>,
}

/// A key, and its account if several accounts have it.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The release's key
    #[arg(value_name = "KEY")]
    pub(crate) key: String,

    /// The account [default: the only one with this key]
    #[arg(long, value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SessionArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// The session's key
    #[arg(value_name = "KEY")]
    pub(crate) key: String,
}

/// A selection of the history.
#[derive(Debug, clap::Args)]
pub(crate) struct HistorySelectionArgs {
    /// A data set or an account [default: all]
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,

    /// Only the releases of this analyst, and their responses
    #[arg(long, value_name = "WHO")]
    pub(crate) analyst: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CommitArgs {
    #[command(flatten)]
    pub(crate) place: KeyArgs,

    /// The response, at most 1 MiB; - for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) response: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ResponseArgs {
    #[command(flatten)]
    pub(crate) place: KeyArgs,

    /// For a session: the answer to the question with this key
    #[arg(long, value_name = "ASK")]
    pub(crate) ask: Option<String>,

    /// Write the bytes to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
}

fn adjacency_values() -> impl TypedValueParser<Value = Adjacency> {
    PossibleValuesParser::new(["add-remove", "replace"])
        .try_map(|name| adjacency_from_name(&name).ok_or("legal: add-remove, replace"))
}

fn kind_values() -> impl TypedValueParser<Value = FilterKind> {
    PossibleValuesParser::new(FilterKind::ALL.map(FilterKind::name)).try_map(|name| {
        let found = FilterKind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or("legal: sums, renyi, zcdp, gdp")
    })
}

fn openings(text: &str) -> Result<Openings, IllegalValueError> {
    let openings = text.split_once(':').and_then(|(count, slot)| {
        let count = count.parse().ok().filter(|count| *count > 0)?;
        Some(Openings { slot: slot.to_owned(), count })
    });
    openings.ok_or_else(|| IllegalValueError::new("a count from 1, a colon, the slot's name"))
}

fn amount(text: &str) -> Result<Amount, IllegalValueError> {
    text.parse().map_err(|_| IllegalValueError::new(Amount::LEGAL))
}

fn order(text: &str) -> Result<Order, IllegalValueError> {
    let order = text.parse().ok().and_then(|order| Order::new(order).ok());
    order.ok_or_else(|| IllegalValueError::new(Order::LEGAL))
}

//! What can be said after `counterpoint ledger`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use counterpoint::Adjacency;
use counterpoint::quantity::Order;
use counterpoint_budget::Amount;
use counterpoint_ledger::{Head, Kind};
use counterpoint_wire::adjacency_named;
use counterpoint_wire::ledger::Openings;

use crate::legal::NotLegal;

#[derive(Debug, clap::Args)]
pub(crate) struct LedgerArgs {
    /// Where the ledger is: sqlite:PATH, or postgres://USER@HOST:PORT/DATABASE
    #[arg(long, value_name = "URL")]
    pub(crate) url: String,

    /// A head printed earlier and kept elsewhere: nothing is written unless its entry is there
    #[arg(long, global = true, value_name = "SEQ:HASH")]
    pub(crate) expect_head: Option<Head>,

    /// Write nothing; a ledger on a read-only medium can be read
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
    /// Make a new ledger
    Init,
    /// Add a data set with its neighbouring relation and its budget
    Dataset(DatasetArgs),
    /// Open an account and charge its data set for all of it
    Open(OpenArgs),
    /// Exchange unused openings of a plan account for slots that they dominate
    Recut(RecutArgs),
    /// Give an analyst a share of an account
    Quota(QuotaArgs),
    /// Debit a release, before any noise is drawn
    Reserve(ReserveArgs),
    /// Store a release's response, before anybody sees it
    Commit(CommitArgs),
    /// Print a stored response
    Response(ResponseArgs),
    /// Tell what a release would cost, and whether it would be allowed now
    Price(PriceArgs),
    /// List what is debited and not over
    Pending {
        /// A data set or an account [default: all]
        #[arg(value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// Tell how far a session is
    Session(SessionArgs),
    /// End a session: there are no more answers
    End(SessionArgs),
    /// Close an account for good; what was reserved goes on
    Close {
        /// The account
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },
    /// Close a data set for good, with all of its accounts; what was reserved goes on
    CloseDataset {
        /// The data set
        #[arg(value_name = "NAME")]
        dataset: String,
    },
    /// Move unspent budget from an account to another of the same data set
    Move(MoveArgs),
    /// Tell what is promised, spent and left
    Status {
        /// A data set or an account [default: all]
        #[arg(value_name = "ACCOUNT")]
        account: Option<String>,
    },
    /// Tell what is spent so far as an epsilon that holds at all times at once, and the levels it is read from
    Odometer {
        /// An open account, for its releases, or a data set, for what its accounts promise
        #[arg(value_name = "ACCOUNT")]
        account: String,
    },
    /// List what happened
    History(PartArgs),
    /// List stored responses
    Responses(PartArgs),
    /// Derive everything from the history again and compare
    Verify {
        /// Begin at the checkpoint in this file if it is there, and keep a new one in it
        #[arg(long, value_name = "FILE")]
        checkpoint: Option<String>,
    },
    /// Print the history with all responses as one JSON object
    Export {
        /// The history alone, which has the responses' digests: for a role that may not read responses
        #[arg(long)]
        without_responses: bool,
    },
    /// Copy the ledger to a new SQLite file, verified and durable, and print the copy's head
    Backup {
        /// The new file
        #[arg(value_name = "FILE")]
        file: String,

        /// For auditors: digests in the place of sessions' private states; the copy verifies and cannot be written to
        #[arg(long)]
        without_secrets: bool,
    },
    /// Bring a ledger of an earlier format to this one, after a backup of it as it is
    Upgrade {
        /// The backup, a new file
        #[arg(long, value_name = "FILE")]
        backup: String,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct DatasetArgs {
    /// The data set's name
    #[arg(value_name = "NAME")]
    pub(crate) name: String,

    /// What neighbouring data sets are: add-remove or replace
    #[arg(long, value_name = "A", value_parser = adjacency_values())]
    pub(crate) adjacency: Adjacency,

    /// How many records a person has at most
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) records: u64,

    #[command(flatten)]
    pub(crate) budget: BudgetArgs,

    /// What is added up: sums, renyi, zcdp or gdp
    #[arg(long, value_name = "KIND", value_parser = kind_values(), default_value = "sums")]
    pub(crate) filter: Kind,
}

#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The epsilon that is never exceeded
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) epsilon: Amount,

    /// At this delta
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Amount,
}

#[derive(Debug, clap::Args)]
pub(crate) struct OpenArgs {
    /// The account's name
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// The data set it is opened under
    #[arg(long, value_name = "NAME", required_unless_present = "within")]
    #[arg(conflicts_with = "within")]
    pub(crate) dataset: Option<String>,

    /// A plan account instead: an opening of its --slot pays for this one
    #[arg(long, value_name = "ACCOUNT", requires = "slot", conflicts_with = "plan")]
    pub(crate) within: Option<String>,

    /// The slot, which has to dominate what is promised
    #[arg(long, value_name = "SLOT", requires = "within")]
    pub(crate) slot: Option<String>,

    /// A plan whose releases are the account's slots; - for standard input
    #[arg(long, value_name = "PLAN", required_unless_present = "filter")]
    #[arg(conflicts_with = "filter")]
    pub(crate) plan: Option<String>,

    /// What an open account adds up: sums, renyi, zcdp or gdp
    #[arg(long, value_name = "KIND", value_parser = kind_values())]
    pub(crate) filter: Option<Kind>,

    /// What the account may cost; with a plan, the epsilon to certify a delta at
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) epsilon: Option<Amount>,

    /// At this delta; with a plan, the delta to certify an epsilon at
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Option<Amount>,

    /// In place of epsilon: the rho of a zcdp account
    #[arg(long, value_name = "R", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "mu", "tau"])]
    pub(crate) rho: Option<Amount>,

    /// In place of epsilon and delta: the mu of a gdp account
    #[arg(long, value_name = "M", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "delta", "tau"])]
    pub(crate) mu: Option<Amount>,

    /// In place of epsilon and delta: the divergence of a renyi account at --order
    #[arg(long, value_name = "T", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["plan", "epsilon", "delta"], requires = "order")]
    pub(crate) tau: Option<Amount>,

    /// The Rényi order [default: the best for what is expected]
    #[arg(long, value_name = "A", value_parser = order, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan", conflicts_with = "expect")]
    pub(crate) order: Option<Order>,

    /// The share of delta set aside for the releases' own deltas [default: half]
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with = "plan")]
    pub(crate) leaks: Option<Amount>,

    /// The releases have no deltas of their own: nothing is set aside for them, and one that has is refused
    #[arg(long, conflicts_with = "plan", conflicts_with = "leaks")]
    pub(crate) no_leaks: bool,

    /// A plan of what will be asked, to choose the Rényi order by
    #[arg(long, value_name = "PLAN", conflicts_with = "plan")]
    pub(crate) expect: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RecutArgs {
    /// The plan account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    /// So many unused openings of a slot; may be given for several slots
    #[arg(long, value_name = "N:SLOT", value_parser = openings, required = true)]
    pub(crate) unused: Vec<Openings>,

    /// A plan whose releases are the new slots; - for standard input
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

    /// This part of what the account has to spend: above 0, at most 1
    #[arg(long, value_name = "F", value_parser = amount, allow_hyphen_values = true)]
    #[arg(conflicts_with = "epsilon", conflicts_with = "releases")]
    pub(crate) share: Option<Amount>,

    /// In a sums account: what the analyst's releases together may cost
    #[arg(long, value_name = "E", value_parser = amount, allow_hyphen_values = true)]
    #[arg(requires = "delta")]
    pub(crate) epsilon: Option<Amount>,

    /// At this delta
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    #[arg(requires = "epsilon")]
    pub(crate) delta: Option<Amount>,

    /// In a plan account: how many releases
    #[arg(long, value_name = "N", conflicts_with = "epsilon")]
    pub(crate) releases: Option<u64>,

    /// Change the quota that the analyst has, from now on
    #[arg(long)]
    pub(crate) change: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MoveArgs {
    /// The account that gives
    #[arg(value_name = "FROM")]
    pub(crate) from: String,

    /// The account that gets
    #[arg(value_name = "TO")]
    pub(crate) to: String,

    /// How much, in the unit that status shows
    #[arg(long, value_name = "X", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) amount: Amount,

    /// How much of the delta for the releases' own [default: 0]
    #[arg(long, value_name = "D", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) delta: Option<Amount>,

    /// Your name for this move, in the account that gives; the same key is moved once
    #[arg(long, value_name = "K")]
    pub(crate) key: String,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReserveArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    #[command(flatten)]
    pub(crate) asked: AskedArgs,

    /// Your name for this release, in the account; the same key is charged once
    #[arg(long, value_name = "K")]
    pub(crate) key: String,

    /// Answers are given one by one: this pays for all of them
    #[arg(long)]
    pub(crate) session: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct PriceArgs {
    /// The account
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,

    #[command(flatten)]
    pub(crate) asked: AskedArgs,
}

/// What is asked of an account.
#[derive(Debug, clap::Args)]
pub(crate) struct AskedArgs {
    /// In a plan account a slot's name; in an open one a file in the plan format, all of whose
    /// releases are charged together, - for standard input, or one release as a JSON object
    #[arg(value_name = "RELEASE")]
    pub(crate) release: String,

    /// Who asks
    #[arg(long, value_name = "WHO")]
    pub(crate) analyst: Option<String>,

    /// In a plan account: how often to open the slot [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,

    /// In a plan account: what is run in the slot each time, given like RELEASE in an open one; it
    /// is refused unless the slot dominates it
    #[arg(long, value_name = "RELEASE")]
    pub(crate) run: Option<String>,
}

/// A key, and its account where two have it.
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

/// A part of a ledger.
#[derive(Debug, clap::Args)]
pub(crate) struct PartArgs {
    /// A data set or an account [default: all]
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: Option<String>,

    /// Only what this analyst asked, and what became of it
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

    /// Of a session: the answer to the question of this key
    #[arg(long, value_name = "ASK")]
    pub(crate) ask: Option<String>,

    /// Write the bytes to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<String>,
}

fn adjacency_values() -> impl TypedValueParser<Value = Adjacency> {
    PossibleValuesParser::new(["add-remove", "replace"])
        .try_map(|name| adjacency_named(&name).ok_or("legal: add-remove, replace"))
}

fn kind_values() -> impl TypedValueParser<Value = Kind> {
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).try_map(|name| {
        let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or("legal: sums, renyi, zcdp, gdp")
    })
}

fn openings(text: &str) -> Result<Openings, NotLegal> {
    let openings = text.split_once(':').and_then(|(count, slot)| {
        let count = count.parse().ok().filter(|count| *count > 0)?;
        Some(Openings { slot: slot.to_owned(), count })
    });
    openings.ok_or_else(|| NotLegal::unless("a count from 1, a colon, the slot's name"))
}

fn amount(text: &str) -> Result<Amount, NotLegal> {
    text.parse().map_err(|_| NotLegal::unless(Amount::LEGAL))
}

fn order(text: &str) -> Result<Order, NotLegal> {
    let order = text.parse().ok().and_then(|order| Order::new(order).ok());
    order.ok_or_else(|| NotLegal::unless(Order::LEGAL))
}

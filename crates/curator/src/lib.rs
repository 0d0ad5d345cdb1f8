//! The one way from a debit to an answer.
//!
//! A [`Recipe`] (what an analyst asks) meets [`Data`] (what a custodian holds) here and nowhere
//! else: it is priced, *debited*, drawn, *stored*, and only then shown. [`answer`] does all of
//! it for one question; [`open`], [`ask`] and [`close`] for mechanisms that are held open. What
//! they return, a [`Shown`], is made of what the ledger stored: there is no other way to get one.
//!
//! ```
//! use counterpoint::{Adjacency, Relation};
//! use counterpoint_curator::{Bill, answer};
//! use counterpoint_ledger::{Kind, Ledger, NewAccount, NewFilter, Url};
//! use counterpoint_mechanisms::{Bounds, Data, Query};
//!
//! let folder = tempfile::tempdir()?;
//! let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
//! let mut ledger = Ledger::init(&url)?;
//! let relation = Relation::one(Adjacency::AddRemove);
//! let budget = NewFilter::new(Kind::Sums, "1".parse()?, "0".parse()?);
//! ledger.dataset("ages", relation, &budget)?;
//! ledger.open_account("team", "ages", &NewAccount::Filter(budget))?;
//!
//! let ages = Data::new(relation, [31.0, 45.0, 27.0, 62.0, 38.0]);
//! let mean = Query::mean(Bounds::new(0.0, 100.0)?).laplace(0.5)?;
//! let shown = answer(&mut ledger, &Bill::new("team", "monday"), &mean, &ages)?;
//! // A retry is answered with the same bytes, for nothing.
//! let again = answer(&mut ledger, &Bill::new("team", "monday"), &mean, &ages)?;
//! assert_eq!(shown.bytes(), again.bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod answer;
mod asked;
mod bill;
mod compile;
mod config;
mod curator;
pub mod demo;
mod dummy;
pub mod engine;
mod error;
mod examine;
mod files;
mod format;
mod own;
mod program;
mod publish;
mod recut;
mod release;
mod release_checks;
mod release_source;
mod session;
mod shown;
mod source;
mod spend;
mod stages;
mod table;
mod tabulation;
pub mod table_session;
mod text;
mod texts;
mod tokens;

pub use answer::{answer, price};
pub use asked::{
    Answer, Ask, Asking, Denied, Left, Opening, OwnAsking, OwnOpening, Pay, Priced, Standing,
    Written,
};
pub use bill::Bill;
pub use compile::{Compiled, PersonRows};
pub use config::{Config, ConfigError, Location, QueueSizes, Source, Timing, Tls};
pub use curator::{Curator, Kept, Prepared, SetupError};
pub use error::Error;
pub use examine::{Examined, Pace, examine};
pub use files::{Inspection, RowSource, Values};
pub use format::Format;
pub use own::{About, Own, Registered, Step, ask_own, open_own};
pub use release::{
    Charged, Job, Release, ReleaseError, ReleaseRows, check_release, rehearse_release, release,
    run_release, table_of,
};
pub use release_source::release_ledger;
pub use session::{Opened, Reach, Unfinished, ask, close, open};
pub use shown::{Shown, Stored};
pub use stages::{Stage, Stages};
pub use table::{Due, Held, Number, Payer, Ready, Told, Unanswered, price_of, tell, tell_all};

pub use tabulation::{Counted, Tabulation, Wanted};

pub use counterpoint_mechanisms::Error as Refusal;
pub use counterpoint_mechanisms::{Data, Interactive, Question, Recipe, Reply};
pub use counterpoint_questions::{Checked, Grouping, Illegal, Part, Spend, public, question};
pub use tokens::{Bearer, Role, TokenError, Tokens};

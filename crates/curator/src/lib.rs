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
//!
//! Each folder uses only those before it: `engine` (where rows are, and what is counted in them), `charge` (what is charged,
//! stored and shown) and `state` (tokens and secrets); `answer` (one question); `session` (mechanisms that are held open) and
//! `release` (a planned study); `service` (a configured curator, which analysts ask).

mod answer;
mod charge;
pub mod engine;
mod release;
mod service;
mod session;
mod state;

pub use answer::{
    Due, Number, Payer, Ready, Stage, Stages, Told, Unanswered, answer, price, price_of, tell,
    tell_all,
};
pub use charge::{Bill, Error, Shown, Stored};
pub use counterpoint_mechanisms::Error as Refusal;
pub use counterpoint_mechanisms::{Data, Interactive, Question, Recipe, Reply};
pub use counterpoint_questions::{Checked, Grouping, Illegal, Part, Spend, public, question};
pub use counterpoint_wire::DataFormat as Format;
pub use engine::{
    Compiled, Counted, Held, Inspection, Location, PersonRows, RowSource, Source, Tabulation,
    Values, Wanted,
};
pub use release::{
    Charged, Job, Release, ReleaseError, ReleaseRows, check_release, rehearse_release, release,
    release_ledger, run_release, table_of,
};
pub use service::{
    Answer, Ask, Asking, Config, ConfigError, Curator, Denied, Examined, Kept, Left, Opening,
    OwnAsking, OwnOpening, Pace, Pay, Prepared, Priced, QueueSizes, SetupError, Standing, Timing,
    Tls, Written, demo, examine,
};
pub use session::table as table_session;
pub use session::{
    About, Opened, Own, Reach, Registered, Step, Unfinished, ask, ask_own, close, open, open_own,
};
pub use state::{Bearer, Role, TokenError, Tokens};

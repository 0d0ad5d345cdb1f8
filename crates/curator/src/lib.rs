//! The curator: the only way from a question to an answer about sensitive data.
//!
//! Every answer is priced, *debited*, drawn, *stored*, and only then shown. A question passes these stages:
//!
//! | stage | type | made by | holds |
//! | --- | --- | --- | --- |
//! | request | `QuestionRequest` | the server's `api/types` | the JSON body |
//! | submission | [`Submission`] | `QuestionRequest::submission` | account, question text, requested cost or error, confidence, key |
//! | question | [`question::Question`], [`CheckedQuestion`] | [`Curator::read`], `Question::check` | the algebra; then declared columns and contribution limits |
//! | prepared question | [`PreparedQuestion`] | [`Curator::prepare`] | measurements, tabulation, charge, key in the ledger |
//! | reservation | `Reservation` | the ledger's `Pool::reserve` | the debited cost, or an earlier answer |
//! | statement | [`BatchStatement`] | [`OpenTable::compile`] | SQL for up to 16 questions about one table |
//! | raw group | [`RawGroup`] | [`OpenTable::count`] | a group's whole numbers, as secret as the data |
//! | noisy answer | `NoisyAnswer` | `Measurement::draw` | an aggregate's numbers with noise, not shown yet |
//! | stored answer | [`StoredAnswer`] | [`answer_batch`] | the noisy answers that the ledger stored |
//! | answer, response | [`Answer`], `AnswerResponse` | [`Curator::answer`], the server | numbers with intervals, and the cost |
//!
//! Data in memory take a shorter way: [`answer`] takes a [`NoisyQuery`] and [`Data`], and [`open`], [`ask`] and [`close`] do the same for
//! sessions. They return a [`StoredReply`], which is read from the ledger's bytes and cannot be made in any other way.
//!
//! ```
//! use counterpoint::{Adjacency, Relation};
//! use counterpoint_curator::{Bill, answer};
//! use counterpoint_ledger::{FilterKind, Ledger, NewAccount, NewFilter, Url};
//! use counterpoint_mechanisms::{Bounds, Data, Query};
//!
//! let folder = tempfile::tempdir()?;
//! let url: Url = format!("sqlite:{}", folder.path().join("ledger").display()).parse()?;
//! let mut ledger = Ledger::init(&url)?;
//! let relation = Relation::single_record(Adjacency::AddRemove);
//! let budget = NewFilter::new(FilterKind::Sums, "1".parse()?, "0".parse()?);
//! ledger.add_dataset("ages", relation, &budget)?;
//! ledger.open_account("team", "ages", &NewAccount::Filter(budget))?;
//!
//! let ages = Data::new(relation, [31.0, 45.0, 27.0, 62.0, 38.0]);
//! let mean = Query::mean(Bounds::new(0.0, 100.0)?).laplace(0.5)?;
//! let reply = answer(&mut ledger, &Bill::new("team", "monday"), &mean, &ages)?;
//! // A retry returns the same bytes and costs nothing.
//! let again = answer(&mut ledger, &Bill::new("team", "monday"), &mean, &ages)?;
//! assert_eq!(reply.bytes(), again.bytes());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Each folder uses only those before it: `engine` (rows, and counting them), `charge` (bills, stored bytes and replies) and `state` (tokens
//! and secrets); `answer` (questions); `session` (interactive mechanisms) and `release` (planned studies); `service` (the configured curator).

// Input reaches this crate: an index out of range must be an error.
#![warn(clippy::indexing_slicing)]

mod answer;
mod charge;
pub mod engine;
mod release;
mod service;
mod session;
mod state;

pub use answer::{
    AnswerError, BatchItem, Number, Payer, PreparedQuestion, Stage, StageTimes, StoredAnswer,
    answer, answer_batch, answer_question, price, price_question,
};
pub use charge::{Bill, Error, StoredBytes, StoredReply};
pub use counterpoint_mechanisms::Error as MechanismError;
pub use counterpoint_mechanisms::{Data, InteractiveMechanism, NoisyQuery, Reply, SessionQuery};
pub use counterpoint_questions::{
    CheckedAggregate, CheckedQuestion, GroupColumn, QuestionError, Spend, public, question,
};
pub use counterpoint_wire::DataFormat as Format;
pub use engine::{
    BatchStatement, ColumnInspection, Inspection, Location, OpenTable, PersonRows, RawGroup,
    RowSource, TableConfig, Tabulation, TallySpec,
};
pub use release::{
    ReleaseError, ReleaseJob, ReleasePayer, ReleaseRows, StudyRelease, check_release,
    rehearse_release, release, release_ledger, run_release, table_of,
};
pub use service::{
    AccountBalance, Answer, Config, ConfigError, CostTarget, Curator, CuratorError,
    CustomSubmission, NewCustomSession, NewSession, Pace, PreparedBatch, QuestionText, QueueSizes,
    Quote, RegisteredTable, SessionInfo, SessionSubmission, SetupError, Submission, TableReport,
    TimeLimits, Tls, demo, examine,
};
pub use session::table as table_session;
pub use session::{
    CustomMechanism, DataScope, LedgerAccess, RegisteredMechanism, SessionReceipt, Step, StepError,
    ask, ask_custom, close, open, open_custom,
};
pub use state::{Bearer, Role, TokenError, Tokens};

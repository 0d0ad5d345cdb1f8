//! The records of a ledger: events, releases with exact amounts, and the objects that its commands print as JSON.

mod canonical;
mod release_record;
mod event;
mod exact_plan;
mod record;
mod safe;
mod stream;
mod output;

pub use canonical::CanonicalError;
pub use event::{Event, Openings, ReleaseRequest, Rule};
pub use exact_plan::ExactPlan;
pub use output::{
    AccountStatus, CommitResult, Completion, Failure, GaussianHeadroom, Headroom, History,
    HistoryEntry, LevelStatus, OdometerStatus, PendingKey, PendingList, Price, QuotaStatus,
    ReserveResult, Response, Responses, SampledHeadroom, SessionStatus, Shortfall, SlotStatus,
    SpentEpsilon, Status, VerifyResult,
};
pub use record::{Cost, FilterRecord, PlanRecord, PromiseRecord, Slot};
pub use release_record::ReleaseRecord;
pub use stream::ExportWriter;

pub use crate::text::object::SpentSetting;

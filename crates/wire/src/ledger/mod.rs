//! What a ledger writes down: events, releases with exact amounts, and the objects that tell
//! programs about them.

mod canonical;
mod described;
mod event;
mod exact_plan;
mod record;
mod safe;
mod stream;
mod told;

pub use canonical::NotCanonical;
pub use described::Described;
pub use event::{Asked, Event, Openings, Rule};
pub use exact_plan::ExactPlan;
pub use record::{Cost, FilterRecord, PlanRecord, Promised, Slot};
pub use stream::ExportWriter;
pub use told::{
    AccountStatus, Committed, Done, GaussianRoom, History, HistoryEntry, LevelRead, No,
    OdometerRead, Pending, PendingKey, Price, QuotaStatus, Reserved, Response, Responses, Room,
    SampledRoom, SessionStatus, Short, SlotStatus, SpentEpsilon, Status, Verified,
};

pub use crate::text::object::SpentSetting;

//! Tables, accounts and how they stand.

use counterpoint_curator::public::{Key, TableText};
use counterpoint_wire::ledger::{AccountStatus, Described};
use serde::Serialize;
use utoipa::ToSchema;

use super::question::{GroupKey, Remaining};

/// A column, as it is declared.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct ColumnShown {
    name: String,
    /// The bounds of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<f64>>,
    /// The categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<GroupKey>>,
}

/// What is public about a table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct TableShown {
    name: String,
    /// The column that says whose a row is; a row is a person if there is none.
    person: Option<String>,
    /// How many rows of a person are used at most.
    rows: u64,
    /// The column that numbers each person's rows, if those with the first numbers are used, whatever the filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    row_number: Option<String>,
    /// How many groups of a person are used at most.
    groups: u64,
    /// Which tables are neighbours.
    adjacency: String,
    /// About how many people there are, if that is public.
    people: Option<u64>,
    columns: Vec<ColumnShown>,
}

impl From<&TableText> for TableShown {
    fn from(text: &TableText) -> Self {
        let key = |key: &Key| match key {
            Key::Whole(whole) => GroupKey::Whole(*whole),
            Key::Text(text) => GroupKey::Text(text.clone()),
        };
        let column = |column: &counterpoint_curator::public::ColumnText| ColumnShown {
            name: column.name.clone(),
            bounds: column.bounds.map(|(low, high)| vec![low, high]),
            categories: column.categories.as_ref().map(|keys| keys.iter().map(key).collect()),
        };
        Self {
            name: text.name.clone(),
            person: text.person.clone(),
            rows: text.rows,
            row_number: text.row_number.clone(),
            groups: text.groups.unwrap_or(text.rows).min(text.rows),
            adjacency: text.adjacency.clone(),
            people: text.people,
            columns: text.columns.iter().map(column).collect(),
        }
    }
}

/// A list of tables.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Tables {
    pub(crate) tables: Vec<TableShown>,
}

/// Whose token it is.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Me {
    pub(crate) name: String,
    /// `owner`, `analyst` or `auditor`.
    pub(crate) role: String,
    /// The accounts that may be asked.
    pub(crate) accounts: Vec<String>,
}

/// How an account stands.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct AccountShown {
    pub(crate) name: String,
    /// `plan`, or what the account adds up.
    pub(crate) kind: String,
    /// The data set or account that it is under.
    pub(crate) parent: Option<String>,
    /// What is left of it, for the asker.
    pub(crate) left: Remaining,
    /// How many charges there were.
    pub(crate) charges: u64,
    pub(crate) closed: bool,
    /// The slots of a plan.
    pub(crate) slots: Vec<SlotShown>,
}

/// A slot of a plan.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct SlotShown {
    pub(crate) name: String,
    count: u64,
    used: u64,
    /// What it declares, as a plan has it; told to those who may ask it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) declares: Option<Described>,
}

impl AccountShown {
    pub(crate) fn of(status: &AccountStatus) -> Self {
        let slot = |slot: &counterpoint_wire::ledger::SlotStatus| SlotShown {
            name: slot.name.clone(),
            count: slot.count,
            used: slot.used,
            declares: None,
        };
        Self {
            name: status.name.clone(),
            kind: status.kind.clone(),
            parent: status.parent.clone(),
            left: Remaining::of(status, None),
            charges: status.charges,
            closed: status.closed,
            slots: status.slots.iter().map(slot).collect(),
        }
    }
}

/// A list of accounts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Accounts {
    pub(crate) accounts: Vec<AccountShown>,
}

/// Whether the history is whole, and agrees with what is stored.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Verified {
    /// The last entry's number and hash.
    pub(crate) head: String,
    pub(crate) verified: bool,
    /// What is wrong, if something is.
    pub(crate) problem: Option<String>,
}

/// What can be reached now.
#[derive(Clone, Copy, Debug, Default, Serialize, ToSchema)]
pub(crate) struct Readiness {
    /// The ledger.
    pub(crate) ledger: bool,
    /// The tokens.
    pub(crate) state: bool,
    /// Every table's engine.
    pub(crate) engines: bool,
}

/// That the service is there.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    pub(crate) status: &'static str,
}

//! `GET /v1/tables`.

use counterpoint_curator::public::{ColumnText, TableText};
use serde::Serialize;
use utoipa::ToSchema;

use super::caller::{AnyRole, Caller};
use super::json::JsonResponse;
use super::problem::Problem;
use super::types::answer::GroupKey;

/// The public description of a column.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ColumnView {
    name: String,
    /// The bounds of a column of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    bounds: Option<Vec<f64>>,
    /// The categories of the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    categories: Option<Vec<GroupKey>>,
}

/// The public description of a table.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TableView {
    name: String,
    /// The column that identifies the person of a row; without it, each row is a person.
    person: Option<String>,
    /// The largest number of rows of a person that are used.
    rows: u64,
    /// The column that numbers each person's rows; if given, the rows with the first numbers are used, whatever the
    /// filter.
    #[serde(skip_serializing_if = "Option::is_none")]
    row_number: Option<String>,
    /// The largest number of groups of a person that are used.
    groups: u64,
    /// The adjacency: `add-remove` or `replace`.
    adjacency: String,
    /// The approximate number of people, if it is public.
    people: Option<u64>,
    columns: Vec<ColumnView>,
}

impl From<&TableText> for TableView {
    fn from(text: &TableText) -> Self {
        let column = |column: &ColumnText| ColumnView {
            name: column.name.clone(),
            bounds: column.bounds.map(|(low, high)| vec![low, high]),
            categories: column
                .categories
                .as_ref()
                .map(|keys| keys.iter().cloned().map(GroupKey::from).collect()),
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

/// The tables that questions can be about.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct TablesResponse {
    tables: Vec<TableView>,
}

/// The public descriptions of the tables.
#[utoipa::path(get, path = "/v1/tables", security(("token" = [])), responses((status = 200, body = TablesResponse), Problem))]
pub(super) async fn tables(Caller { shared, .. }: Caller<AnyRole>) -> JsonResponse<TablesResponse> {
    let curator = shared.curator();
    let tables = curator.tables().map(|registered| registered.table.public.text().into()).collect();
    JsonResponse(TablesResponse { tables })
}

//! `GET /v1/tables`.

use counterpoint_curator::public::{ColumnText, TableText};
use serde::Serialize;
use utoipa::ToSchema;

use super::json::JsonResponse;
use super::known::{Anybody, Known};
use super::problem::Problem;
use super::types::answer::GroupKey;

/// A column, as it is declared.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct ColumnShown {
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
pub(super) struct TableShown {
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
        let column = |column: &ColumnText| ColumnShown {
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

/// A list of tables.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct Tables {
    tables: Vec<TableShown>,
}

/// What is public about the tables.
#[utoipa::path(get, path = "/v1/tables", security(("token" = [])), responses((status = 200, body = Tables), Problem))]
pub(super) async fn tables(Known { shared, .. }: Known<Anybody>) -> JsonResponse<Tables> {
    let curator = shared.curator();
    let tables = curator.tables().map(|kept| kept.held.public.text().into()).collect();
    JsonResponse(Tables { tables })
}

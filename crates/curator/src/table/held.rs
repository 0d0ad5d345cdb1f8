//! A table that is held: what is public about it, and where its rows are.

use crate::compile::{Origin, PersonRows};
use crate::engine::{Engine, Failed, Found};
use crate::source::{find, made_up, normal};
use counterpoint_questions::public::Table;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that an engine is waited for before anything is debited.
pub(super) const REACH: Duration = Duration::from_secs(5);

/// A table that is held: what is public about it, and where its rows are.
#[derive(Clone)]
pub struct Held {
    /// What is public.
    pub public: Table,
    /// Its rows as all engines see them, in SQL.
    source: String,
    /// What its engine knows of a person's rows.
    rows: PersonRows,
    /// Where its rows are.
    pub engine: Arc<dyn Engine>,
}

impl Held {
    /// A table that the engine calls `from`. Its columns have to be there, of types that fit.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the operator alone.
    pub fn new(public: Table, from: &str, engine: Arc<dyn Engine>) -> Result<Self, Failed> {
        let found = engine.columns(from)?;
        let (rows, condition) = person_rows(&public, from, &found, &*engine)?;
        let source = normal(&public, (from, condition.as_deref()), &found, &engine.dialect())?;
        Ok(Self { public, source, rows, engine })
    }

    /// The same with so many rows that the engine makes up: none of the table's is looked at.
    pub(crate) fn made_up(public: Table, rows: u64, engine: Arc<dyn Engine>) -> Self {
        let source = made_up(&public, rows, &engine.dialect());
        Self { public, source, rows: PersonRows::Any, engine }
    }

    /// Whether its engine can be reached now.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.engine.reach(Instant::now() + REACH).is_ok()
    }

    /// Its rows as all engines see them, in SQL, and how that is written.
    #[must_use]
    pub fn place(&self) -> Origin<'_> {
        let (from, dialect) = (&self.source, self.engine.dialect());
        Origin { from, dialect, rows: self.rows }
    }
}

/// What an engine sees to about each person's rows, and the condition under which it still does.
fn person_rows(
    public: &Table,
    from: &str,
    found: &[Found],
    engine: &dyn Engine,
) -> Result<(PersonRows, Option<String>), Failed> {
    let own = |name| find(found, name).map(|column| column.name.as_str());
    let Some(person) = public.person().and_then(own) else { return Ok((PersonRows::Any, None)) };
    if let Some(condition) = engine.unique(from, &[person])? {
        return Ok((PersonRows::One, Some(condition)));
    }
    let Some(row_number) = public.row_number().and_then(own) else {
        return Ok((PersonRows::Any, None));
    };
    let condition = engine.unique(from, &[person, row_number])?.ok_or_else(|| {
        Failed::new(format!(
            "row_number is {row_number:?}, and no unique index on {person:?} and {row_number:?} keeps a person's rows apart; \
             legal: a PostgreSQL table that has one"
        ))
    })?;
    Ok((PersonRows::Numbered, Some(condition)))
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("public", &self.public).finish_non_exhaustive()
    }
}

//! A table that is held: what is public about it, and where its rows are.

use crate::compile::Origin;
use crate::engine::{Engine, Failed};
use crate::public::Table;
use crate::source::{find, made_up, normal};
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
    /// Whether no two of them are of the same person.
    is_unique: bool,
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
        let own = public.person().and_then(|person| find(&found, person));
        let unique = own.map(|own| engine.unique(from, &own.name)).transpose()?.flatten();
        let source = normal(&public, (from, unique.as_deref()), &found, &engine.dialect())?;
        Ok(Self { public, source, is_unique: unique.is_some(), engine })
    }

    /// The same with so many rows that the engine makes up: none of the table's is looked at.
    pub(crate) fn made_up(public: Table, rows: u64, engine: Arc<dyn Engine>) -> Self {
        let source = made_up(&public, rows, &engine.dialect());
        Self { public, source, is_unique: false, engine }
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
        Origin { from, dialect, is_unique: self.is_unique }
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("public", &self.public).finish_non_exhaustive()
    }
}

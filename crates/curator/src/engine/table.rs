//! An open table: its public description and the engine or file that holds its rows.

use super::choice::ChoiceKey;
use super::error::{EngineError, SourceColumn};
use super::files::{self, Inspection, RowSource};
use super::location::{Location, TableConfig};
use super::sql::{
    self, BatchStatement, CatalogueInfo, Engine, Origin, PersonRows, compile_batch, made_up_rows,
    normal_rows,
};
use super::tabulation::{RawGroup, Tabulation};
use counterpoint_questions::QuestionError;
use counterpoint_questions::public::Table;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for an engine before a debit.
pub(crate) const REACH: Duration = Duration::from_secs(5);

/// An open table: its public description and its rows.
#[derive(Clone)]
pub struct OpenTable {
    /// The public description.
    pub public: Table,
    store: RowStore,
    key: ChoiceKey,
}

/// The place of a table's rows, with the code that counts them.
#[derive(Clone)]
enum RowStore {
    /// An SQL engine. `from` is an SQL expression for the rows in the form that all engines share.
    Sql { engine: Arc<dyn Engine>, from: String, rows: PersonRows },
    /// A file or memory, counted by this program.
    Direct(RowSource),
}

impl OpenTable {
    /// Opens a configured table. The secret decides which rows of people with too many rows are used.
    ///
    /// # Errors
    /// [`EngineError`] for the operator alone, naming the problem.
    pub fn open(source: &TableConfig, secret: [u8; 32]) -> Result<Self, EngineError> {
        let public = source.public.clone();
        match &source.location {
            Location::File(path) => Self::of_rows(public, RowSource::of_file(path)?, secret),
            other => Self::new(public, &source.from, sql::open(other)?, secret),
        }
    }

    /// Opens a table that an SQL engine calls `from`. The table must have the declared columns, with types that fit.
    /// The secret decides which rows of people with too many rows are used.
    ///
    /// # Errors
    /// [`EngineError`] for the operator alone, naming the problem.
    pub fn new(
        public: Table,
        from: &str,
        engine: Arc<dyn Engine>,
        secret: [u8; 32],
    ) -> Result<Self, EngineError> {
        let found = engine.columns(from)?;
        let (rows, condition) = person_rows(&public, from, &found, &*engine)?;
        let from = normal_rows(&public, (from, condition.as_deref()), &found, &engine.dialect())?;
        Ok(Self { public, store: RowStore::Sql { engine, from, rows }, key: ChoiceKey::of(secret) })
    }

    /// Opens a table whose rows are in a file or in memory. It must have the declared columns, with types that fit. The
    /// secret decides which rows of people with too many rows are used.
    ///
    /// # Errors
    /// [`EngineError`] for the owner alone, naming the problem.
    pub fn of_rows(
        public: Table,
        source: RowSource,
        secret: [u8; 32],
    ) -> Result<Self, EngineError> {
        if let Some(row_number) = public.row_number() {
            return Err(no_row_number_index(row_number, public.person().unwrap_or_default()));
        }
        files::fits(&public, &source)?;
        Ok(Self { public, store: RowStore::Direct(source), key: ChoiceKey::of(secret) })
    }

    /// The table with this many rows that the engine makes up instead of its own.
    pub(crate) fn with_made_up_rows(&self, rows: u64) -> Self {
        let store = match &self.store {
            RowStore::Sql { engine, .. } => {
                let (engine, from) =
                    (Arc::clone(engine), made_up_rows(&self.public, rows, &engine.dialect()));
                RowStore::Sql { engine, from, rows: PersonRows::Any }
            }
            RowStore::Direct(_) => RowStore::Direct(RowSource::MadeUp(rows)),
        };
        Self { public: self.public.clone(), store, key: self.key }
    }

    /// Checks that every row of a file or frame can be read, and describes its rows and columns; `None` for a table in
    /// an SQL engine. **The inspection is as secret as the data.**
    ///
    /// # Errors
    /// [`EngineError`] for the owner alone, naming the first row that cannot be read.
    pub fn check(&self, deadline: Instant) -> Result<Option<Inspection>, EngineError> {
        match &self.store {
            RowStore::Sql { .. } => Ok(None),
            RowStore::Direct(source) => files::inspect(&self.public, source, deadline).map(Some),
        }
    }

    /// The columns of the source, and its catalogue's information about the table.
    pub(crate) fn source_info(
        &self,
        from: &str,
    ) -> Result<(Vec<SourceColumn>, CatalogueInfo), EngineError> {
        match &self.store {
            RowStore::Sql { engine, .. } => {
                Ok((engine.columns(from)?, engine.catalogue_info(from, self.public.person())?))
            }
            RowStore::Direct(source) => Ok((source.columns()?, CatalogueInfo::default())),
        }
    }

    /// Checks that the rows can be reached now.
    ///
    /// # Errors
    /// [`EngineError`] if they cannot be reached before the deadline.
    pub(crate) fn check_reachable(&self, deadline: Instant) -> Result<(), EngineError> {
        match &self.store {
            RowStore::Sql { engine, .. } => engine.check_reachable(deadline),
            RowStore::Direct(source) => files::fits(&self.public, source),
        }
    }

    /// True if the rows can be reached now.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.check_reachable(Instant::now() + REACH).is_ok()
    }

    /// The engine's guarantee about each person's rows.
    #[must_use]
    pub fn person_rows(&self) -> PersonRows {
        match &self.store {
            RowStore::Sql { rows, .. } => *rows,
            RowStore::Direct(_) => PersonRows::Any,
        }
    }

    /// Compiles questions into one statement; `None` if no SQL engine holds the table.
    ///
    /// # Errors
    /// [`QuestionError`] if the statement would be too long.
    pub fn compile<'a>(
        &self,
        questions: &'a [&'a Tabulation],
    ) -> Result<Option<BatchStatement<'a>>, QuestionError> {
        let RowStore::Sql { engine, from, rows } = &self.store else { return Ok(None) };
        let origin = Origin { from, dialect: engine.dialect(), rows: *rows, key: self.key };
        compile_batch(questions, &self.public, origin).map(Some)
    }

    /// Counts for questions in as few passes through the table as the engine allows. Returns the raw groups of each
    /// question. **They are as secret as the data.**
    ///
    /// # Errors
    /// [`EngineError`] for the operator alone, whatever failed.
    pub fn count(
        &self,
        questions: &[&Tabulation],
        deadline: Instant,
    ) -> Result<Vec<Vec<RawGroup>>, EngineError> {
        let engine = match &self.store {
            RowStore::Sql { engine, .. } => engine,
            RowStore::Direct(source) => {
                return files::count(&self.public, source, self.key, questions, deadline);
            }
        };
        match self.compile(questions) {
            Ok(Some(compiled)) => {
                let rows = engine.run(compiled.statement(), deadline)?;
                compiled.raw_groups(&rows).ok_or_else(EngineError::unexpected_rows)
            }
            // One statement for all questions would be too long.
            Err(_) if questions.len() > 1 => {
                let one = |question: &&Tabulation| self.count(&[*question], deadline);
                Ok(questions.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat())
            }
            Err(illegal) => Err(EngineError::new(illegal)),
            Ok(None) => Err(EngineError::unexpected_rows()),
        }
    }

    /// Plans a question without running it.
    ///
    /// # Errors
    /// [`EngineError`] if the engine cannot run the question.
    pub(crate) fn plan(&self, question: &Tabulation) -> Result<(), EngineError> {
        let questions = [question];
        let compiled = self.compile(&questions).map_err(EngineError::new)?;
        let (RowStore::Sql { engine, .. }, Some(compiled)) = (&self.store, compiled) else {
            return Ok(());
        };
        engine.plan(compiled.statement())
    }
}

fn no_row_number_index(row_number: &str, person: &str) -> EngineError {
    EngineError::new(format!(
        "row_number is {row_number:?}, and no unique index on {person:?} and {row_number:?} keeps a person's rows apart; \
         legal: a PostgreSQL table that has one"
    ))
}

/// The engine's guarantee about each person's rows, and the SQL condition under which the guarantee still holds.
fn person_rows(
    public: &Table,
    from: &str,
    found: &[SourceColumn],
    engine: &dyn Engine,
) -> Result<(PersonRows, Option<String>), EngineError> {
    let own = |name| SourceColumn::named(found, name).map(|column| column.name.as_str());
    let Some(person) = public.person().and_then(own) else { return Ok((PersonRows::Any, None)) };
    if let Some(condition) = engine.unique_condition(from, &[person])? {
        return Ok((PersonRows::One, Some(condition)));
    }
    let Some(row_number) = public.row_number().and_then(own) else {
        return Ok((PersonRows::Any, None));
    };
    let condition = engine.unique_condition(from, &[person, row_number])?;
    let condition = condition.ok_or_else(|| no_row_number_index(row_number, person))?;
    Ok((PersonRows::Numbered, Some(condition)))
}

impl std::fmt::Debug for OpenTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenTable").field("public", &self.public).finish_non_exhaustive()
    }
}

//! A table that is held: what is public about it, and where its rows are.

use super::choice::ChoiceKey;
use super::failed::{Failed, Found};
use super::files::{self, Inspection, RowSource};
use super::location::{Location, Source};
use super::sql::{self, About, Compiled, Engine, Origin, PersonRows, compile, made_up, normal};
use super::tabulation::{Counted, Tabulation};
use counterpoint_questions::Illegal;
use counterpoint_questions::public::Table;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest that an engine is waited for before anything is debited.
pub(crate) const REACH: Duration = Duration::from_secs(5);

/// A table that is held: what is public about it, and where its rows are.
#[derive(Clone)]
pub struct Held {
    /// What is public.
    pub public: Table,
    place: Place,
    key: ChoiceKey,
}

/// Where a table's rows are.
#[derive(Clone)]
enum Place {
    /// In an SQL engine. `from` are its rows as all engines see them, in SQL.
    Sql { engine: Arc<dyn Engine>, from: String, rows: PersonRows },
    /// In a file or in memory.
    Rows(RowSource),
}

impl Held {
    /// A configured table. The secret decides which rows are used of people who have too many.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the operator alone.
    pub fn open(source: &Source, secret: [u8; 32]) -> Result<Self, Failed> {
        let public = source.public.clone();
        match &source.location {
            Location::File(path) => Self::of_rows(public, RowSource::of_file(path)?, secret),
            other => Self::new(public, &source.from, sql::open(other)?, secret),
        }
    }

    /// A table that an SQL engine calls `from`. Its columns have to be there, of types that fit. The secret decides which rows
    /// are used of people who have too many.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the operator alone.
    pub fn new(
        public: Table,
        from: &str,
        engine: Arc<dyn Engine>,
        secret: [u8; 32],
    ) -> Result<Self, Failed> {
        let found = engine.columns(from)?;
        let (rows, condition) = person_rows(&public, from, &found, &*engine)?;
        let from = normal(&public, (from, condition.as_deref()), &found, &engine.dialect())?;
        Ok(Self { public, place: Place::Sql { engine, from, rows }, key: ChoiceKey::of(secret) })
    }

    /// A table whose rows are in a file or in memory. Its columns have to be there, of types that fit. The secret decides which
    /// rows are used of people who have too many.
    ///
    /// # Errors
    /// [`Failed`], naming what is wrong, for the owner alone.
    pub fn of_rows(public: Table, source: RowSource, secret: [u8; 32]) -> Result<Self, Failed> {
        if let Some(row_number) = public.row_number() {
            return Err(unnumbered(row_number, public.person().unwrap_or_default()));
        }
        files::fits(&public, &source)?;
        Ok(Self { public, place: Place::Rows(source), key: ChoiceKey::of(secret) })
    }

    /// The same with so many rows that the engine makes up: none of the table's is looked at.
    pub(crate) fn made_up(&self, rows: u64) -> Self {
        let place = match &self.place {
            Place::Sql { engine, .. } => {
                let (engine, from) =
                    (Arc::clone(engine), made_up(&self.public, rows, &engine.dialect()));
                Place::Sql { engine, from, rows: PersonRows::Any }
            }
            Place::Rows(_) => Place::Rows(RowSource::MadeUp(rows)),
        };
        Self { public: self.public.clone(), place, key: self.key }
    }

    /// Checks that every row of a file can be read, and says how many there are and what was found in the columns; nothing of a
    /// table in an SQL engine. **What it says is as secret as the data.**
    ///
    /// # Errors
    /// [`Failed`], naming the first row that cannot be read, for the owner alone.
    pub fn check(&self, deadline: Instant) -> Result<Option<Inspection>, Failed> {
        match &self.place {
            Place::Sql { .. } => Ok(None),
            Place::Rows(source) => files::inspect(&self.public, source, deadline).map(Some),
        }
    }

    /// The columns of the source, and what its catalogue says.
    pub(crate) fn about(&self, from: &str) -> Result<(Vec<Found>, About), Failed> {
        match &self.place {
            Place::Sql { engine, .. } => {
                Ok((engine.columns(from)?, engine.about(from, self.public.person())?))
            }
            Place::Rows(source) => Ok((source.columns()?, About::default())),
        }
    }

    /// Finds out whether the rows can be reached now.
    ///
    /// # Errors
    /// [`Failed`] if they cannot be until the deadline.
    pub(crate) fn reach(&self, deadline: Instant) -> Result<(), Failed> {
        match &self.place {
            Place::Sql { engine, .. } => engine.reach(deadline),
            Place::Rows(source) => files::fits(&self.public, source),
        }
    }

    /// Whether its rows can be reached now.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.reach(Instant::now() + REACH).is_ok()
    }

    /// What the engine knows of a person's rows.
    #[must_use]
    pub fn person_rows(&self) -> PersonRows {
        match &self.place {
            Place::Sql { rows, .. } => *rows,
            Place::Rows(_) => PersonRows::Any,
        }
    }

    /// The statement that counts for questions; none where no SQL engine does.
    ///
    /// # Errors
    /// [`Illegal`] if it would be too long.
    pub fn compiled<'a>(
        &self,
        questions: &'a [&'a Tabulation],
    ) -> Result<Option<Compiled<'a>>, Illegal> {
        let Place::Sql { engine, from, rows } = &self.place else { return Ok(None) };
        let origin = Origin { from, dialect: engine.dialect(), rows: *rows, key: self.key };
        compile(questions, &self.public, origin).map(Some)
    }

    /// What is counted for questions, for each its groups, in as few passes through the table as the engine allows. **It is as
    /// secret as the data.**
    ///
    /// # Errors
    /// [`Failed`], whatever went wrong, for the operator alone.
    pub fn count(
        &self,
        questions: &[&Tabulation],
        deadline: Instant,
    ) -> Result<Vec<Vec<Counted>>, Failed> {
        let engine = match &self.place {
            Place::Sql { engine, .. } => engine,
            Place::Rows(source) => {
                return files::count(&self.public, source, self.key, questions, deadline);
            }
        };
        match self.compiled(questions) {
            Ok(Some(compiled)) => {
                let rows = engine.run(compiled.statement(), deadline)?;
                compiled.counted(&rows).ok_or_else(Failed::unlike)
            }
            // All of them would be too long a statement.
            Err(_) if questions.len() > 1 => {
                let one = |question: &&Tabulation| self.count(&[*question], deadline);
                Ok(questions.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat())
            }
            Err(illegal) => Err(Failed::new(illegal)),
            Ok(None) => Err(Failed::unlike()),
        }
    }

    /// Plans a question without running it.
    ///
    /// # Errors
    /// [`Failed`] if it could not be run.
    pub(crate) fn plan(&self, question: &Tabulation) -> Result<(), Failed> {
        let questions = [question];
        let compiled = self.compiled(&questions).map_err(Failed::new)?;
        let (Place::Sql { engine, .. }, Some(compiled)) = (&self.place, compiled) else {
            return Ok(());
        };
        engine.plan(compiled.statement())
    }
}

fn unnumbered(row_number: &str, person: &str) -> Failed {
    Failed::new(format!(
        "row_number is {row_number:?}, and no unique index on {person:?} and {row_number:?} keeps a person's rows apart; \
         legal: a PostgreSQL table that has one"
    ))
}

/// What an engine sees to about each person's rows, and the condition under which it still does.
fn person_rows(
    public: &Table,
    from: &str,
    found: &[Found],
    engine: &dyn Engine,
) -> Result<(PersonRows, Option<String>), Failed> {
    let own = |name| Found::named(found, name).map(|column| column.name.as_str());
    let Some(person) = public.person().and_then(own) else { return Ok((PersonRows::Any, None)) };
    if let Some(condition) = engine.unique(from, &[person])? {
        return Ok((PersonRows::One, Some(condition)));
    }
    let Some(row_number) = public.row_number().and_then(own) else {
        return Ok((PersonRows::Any, None));
    };
    let condition = engine.unique(from, &[person, row_number])?;
    let condition = condition.ok_or_else(|| unnumbered(row_number, person))?;
    Ok((PersonRows::Numbered, Some(condition)))
}

impl std::fmt::Debug for Held {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Held").field("public", &self.public).finish_non_exhaustive()
    }
}

//! Checkpoints: an auditor keeps the checkpoint of a verified ledger, so that the next verification begins where the
//! last one ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::replay::{Books, ReleaseRecord, SessionRecord, Sessions, UnstoredState};
use crate::rules::chain::{Hash, Head, from_hex, hex};
use crate::rules::error::{DatabaseError, LedgerError, Result, damaged};
use crate::rules::name::NameInAccount;
use crate::store::database::{Cell, Row, beside, make_private, sync_folder};
use crate::store::tables::cells::{RowReader, account, balance_cells, quota, release, slot};
use crate::store::tables::{ACCOUNTS, OPEN_RELEASES, OPEN_SESSIONS, QUOTAS, SLOTS, Tables};

/// The state of a ledger at a verified head. Later entries are checked against it. It holds no secrets and no
/// responses. Whoever can change a checkpoint can forge the result of the next verification, so the auditor keeps it,
/// apart from the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub(super) head: Head,
    format: u64,
    /// The numbers of releases, aliases, sessions and answers.
    pub(super) counts: [usize; 4],
    /// The rows as they were stored: accounts, slots, quotas, releases and sessions that have not ended, and the
    /// sessions' questions. Then the state that no table holds: the amounts spent without a quota, and the transfers of
    /// budget.
    rows: [Vec<Row>; 8],
}

/// The version of the checkpoint's file format.
const VERSION: u64 = 1;

const COUNTED: [&str; 4] = ["ledger_release", "ledger_alias", "ledger_session", "ledger_answer"];

impl Checkpoint {
    /// The last verified entry.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// Takes a checkpoint of the stored rows, right after they were verified.
    pub(super) fn take(
        tables: &mut Tables<'_>,
        head: Head,
        unstored: &UnstoredState,
    ) -> Result<Self> {
        let [accounts, slots, quotas, releases] =
            [ACCOUNTS, SLOTS, QUOTAS, OPEN_RELEASES].map(|sql| tables.rows(sql, &[]));
        let mut asked = Vec::new();
        let mut sessions = tables.rows(OPEN_SESSIONS, &[])?;
        for row in &mut sessions {
            let (key, account) = (RowReader(row).text(0)?, RowReader(row).text(1)?);
            for ask in tables.asks(&account, &key)? {
                asked.push(vec![key.as_str().into(), account.as_str().into(), ask.as_str().into()]);
            }
            let state = tables.state_digest(&account, &key)?;
            let state = state.ok_or_else(|| damaged("a session has no state"))?;
            let declaration = Hash::of(&RowReader(row).bytes(4)?);
            row.truncate(4);
            row.extend([declaration, state].map(|hash| Cell::Text(hash.to_string())));
        }
        let format = tables.version()?.unsigned_abs();
        let UnstoredState { spent_without_quota, moves } = unstored;
        let name =
            |(account, key): &NameInAccount| vec![account.as_str().into(), key.as_str().into()];
        let spent_without_quota = spent_without_quota.iter().map(|(place, balance)| {
            Ok(name(place).into_iter().chain(balance_cells(balance)?).collect())
        });
        let spent_without_quota = spent_without_quota.collect::<Result<Vec<Row>>>()?;
        let moves = moves.iter().map(name).collect();
        let rows =
            [accounts?, slots?, quotas?, releases?, sessions, asked, spent_without_quota, moves];
        Ok(Self { head, format, counts: tables.counts(COUNTED)?, rows })
    }

    /// The books at the checkpoint's head, without releases and sessions that had ended.
    pub(super) fn books(&self) -> Result<Books> {
        let [accounts, slots, quotas, releases, sessions, asked, spent_without_quota, moves] =
            &self.rows;
        let place =
            |row: &[Cell]| Ok::<_, LedgerError>((RowReader(row).text(1)?, RowReader(row).text(0)?));
        let mut books = Books::after(self.head.sequence, self.format);
        for row in accounts {
            let found = account(row)?;
            books.accounts.insert(found.name.clone(), found);
        }
        for row in slots {
            let found = slot(row.get(1..).unwrap_or_default())?;
            books.slots.insert((RowReader(row).text(0)?, found.name.clone()), found);
        }
        for row in quotas {
            let found = quota(row.get(1..).unwrap_or_default())?;
            books.quotas.insert((RowReader(row).text(0)?, found.analyst.clone()), found);
        }
        for row in releases {
            let found = release(row)?;
            let kept = ReleaseRecord {
                analyst: found.analyst,
                session: found.session,
                request: found.request,
                reserved: found.reserved,
                committed: None,
            };
            books.releases.insert((found.account, found.key), kept);
        }
        let mut open_sessions = BTreeMap::new();
        for row in sessions {
            let cells = RowReader(row);
            let kept = SessionRecord {
                begun: cells.count(2)?,
                answered: cells.count(3)?,
                declaration: cells.text(4)?,
                state: Some(cells.text(5)?),
                ended: None,
            };
            open_sessions.insert(place(row)?, kept);
        }
        let asked = asked.iter().map(|row| Ok((place(row)?, RowReader(row).text(2)?)));
        books.sessions = Sessions::resumed(open_sessions, asked.collect::<Result<BTreeSet<_>>>()?);
        let named =
            |row: &Row| Ok::<_, LedgerError>((RowReader(row).text(0)?, RowReader(row).text(1)?));
        let balances =
            spent_without_quota.iter().map(|row| Ok((named(row)?, RowReader(row).balance(2)?)));
        books.unstored = UnstoredState {
            spent_without_quota: balances.collect::<Result<_>>()?,
            moves: moves.iter().map(named).collect::<Result<_>>()?,
        };
        Ok(books)
    }

    /// The checkpoint as text: a digest that detects accidental changes, and one JSON object.
    #[must_use]
    pub fn text(&self) -> String {
        let rows = |rows: &Vec<Row>| -> Value {
            rows.iter().map(|row| row.iter().map(value).collect::<Value>()).collect()
        };
        let rows: Vec<Value> = self.rows.iter().map(rows).collect();
        let object = json!({
            "checkpoint": VERSION,
            "head": self.head.to_string(),
            "format": self.format,
            "counts": self.counts,
            "rows": rows,
        });
        let body = object.to_string();
        format!("{}\n{body}\n", Hash::of(body.as_bytes()))
    }

    /// Reads the text that [`Checkpoint::text`] wrote.
    ///
    /// # Errors
    /// [`LedgerError::Checkpoint`] if the text is not a checkpoint.
    pub fn read(text: &str) -> Result<Self> {
        let wrong = |problem: &str| LedgerError::Checkpoint(problem.to_owned());
        let (digest, body) =
            text.split_once('\n').ok_or_else(|| wrong("the file is not a checkpoint"))?;
        let body = body.trim_end();
        if Hash::read(digest) != Some(Hash::of(body.as_bytes())) {
            return Err(wrong("the checkpoint is damaged: its digest differs"));
        }
        let object: Value =
            serde_json::from_str(body).map_err(|error| wrong(&error.to_string()))?;
        let field = |name| object.get(name).unwrap_or(&Value::Null);
        if field("checkpoint") != VERSION {
            return Err(wrong("the checkpoint is of another version"));
        }
        let read = || {
            let counts = field("counts").as_array()?.iter().map(|count| count.as_u64());
            let counts: Vec<usize> =
                counts.map(|count| usize::try_from(count?).ok()).collect::<Option<_>>()?;
            let rows = field("rows").as_array()?.iter().map(table);
            Some(Self {
                head: field("head").as_str()?.parse().ok()?,
                format: field("format").as_u64()?,
                counts: counts.try_into().ok()?,
                rows: rows.collect::<Option<Vec<_>>>()?.try_into().ok()?,
            })
        };
        read().ok_or_else(|| wrong("the checkpoint lacks fields"))
    }

    /// Reads a checkpoint from a file that this user owns and nobody else can write to.
    ///
    /// # Errors
    /// [`LedgerError::Checkpoint`] if others can write to the file, or it is not a checkpoint.
    pub fn load(file: &Path) -> Result<Self> {
        let wrong = |problem: &dyn Display| {
            LedgerError::Checkpoint(format!("{}: {problem}", file.display()))
        };
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, PermissionsExt};
            let metadata = file.metadata().map_err(|error| wrong(&error))?;
            if metadata.permissions().mode() & 0o022 != 0 {
                return Err(wrong(&"others can write to it; legal: mode 600"));
            }
            // On Linux this folder belongs to the process's user. On other systems only the mode is checked.
            let own = Path::new("/proc/self").metadata().map(|process| process.uid());
            if own.is_ok_and(|own| metadata.uid() != own) {
                return Err(wrong(&"another user owns it; legal: a file of your own"));
            }
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
        Self::read(&text).map_err(|error| wrong(&error))
    }

    /// Writes the checkpoint durably to a file that only its owner can read, and replaces an earlier one.
    ///
    /// # Errors
    /// [`DatabaseError::Unusable`] if the file cannot be written.
    pub fn save(&self, file: &Path) -> Result<()> {
        let new = beside(file, "-new");
        let _ = std::fs::remove_file(&new);
        let written = make_private(&new).and_then(|()| {
            let mut out = std::fs::OpenOptions::new().write(true).open(&new)?;
            out.write_all(self.text().as_bytes())?;
            out.sync_all()?;
            std::fs::rename(&new, file)?;
            sync_folder(file)
        });
        Ok(written.map_err(|error| DatabaseError::unusable(file.display(), error))?)
    }
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Whole(number) => json!(number),
        Cell::Text(text) => json!(text),
        Cell::Bytes(bytes) => json!([hex(bytes)]),
    }
}

fn table(value: &Value) -> Option<Vec<Row>> {
    let row = |row: &Value| row.as_array()?.iter().map(cell).collect();
    value.as_array()?.iter().map(row).collect()
}

fn cell(value: &Value) -> Option<Cell> {
    Some(match value {
        Value::Null => Cell::Null,
        Value::Number(number) => Cell::Whole(number.as_i64()?),
        Value::String(text) => Cell::Text(text.clone()),
        Value::Array(bytes) => Cell::Bytes(from_hex(bytes.first()?.as_str()?)?),
        _ => return None,
    })
}

//! What an auditor keeps of a verified ledger, so that the next verification begins where this one ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::replay::{Books, Kept, KeptSession, Sessions, Unstored};
use crate::rules::chain::{Hash, Head, from_hex, hex};
use crate::rules::error::{DatabaseError, LedgerError, Result, damaged};
use crate::rules::name::Place;
use crate::store::database::{Cell, Row, beside, make_private, sync_folder};
use crate::store::tables::cells::{Reader, account, balance_cells, release, share, slot};
use crate::store::tables::{ACCOUNTS, OPEN_RELEASES, OPEN_SESSIONS, QUOTAS, SLOTS, Tables};

/// The state of a ledger at a head that was verified: what later entries are checked against. It holds no secrets and no
/// responses. Whoever can change it can make up what was verified: it belongs to the auditor, apart from the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub(super) head: Head,
    format: u64,
    /// How many releases, aliases, sessions and answers there were.
    pub(super) counts: [usize; 4],
    /// Rows as they were stored: accounts, slots, quotas, releases and sessions that are not over, and the latter's questions;
    /// then what no table has: what was spent without a quota, and the moves of budget.
    rows: [Vec<Row>; 8],
}

/// The version of the file.
const VERSION: u64 = 1;

const COUNTED: [&str; 4] = ["ledger_release", "ledger_alias", "ledger_session", "ledger_answer"];

impl Checkpoint {
    /// The last entry that was verified.
    #[must_use]
    pub fn head(&self) -> Head {
        self.head
    }

    /// What is stored, right after it was verified.
    pub(super) fn take(tables: &mut Tables<'_>, head: Head, unstored: &Unstored) -> Result<Self> {
        let [accounts, slots, quotas, releases] =
            [ACCOUNTS, SLOTS, QUOTAS, OPEN_RELEASES].map(|sql| tables.rows(sql, &[]));
        let mut asked = Vec::new();
        let mut sessions = tables.rows(OPEN_SESSIONS, &[])?;
        for row in &mut sessions {
            let (key, account) = (Reader(row).text(0)?, Reader(row).text(1)?);
            for ask in tables.asks(&account, &key)? {
                asked.push(vec![key.as_str().into(), account.as_str().into(), ask.as_str().into()]);
            }
            let state = tables.state_digest(&account, &key)?;
            let state = state.ok_or_else(|| damaged("a session has no state"))?;
            let declaration = Hash::of(&Reader(row).bytes(4)?);
            row.truncate(4);
            row.extend([declaration, state].map(|hash| Cell::Text(hash.to_string())));
        }
        let format = tables.version()?.unsigned_abs();
        let Unstored { unshared, moves } = unstored;
        let name = |(account, key): &Place| vec![account.as_str().into(), key.as_str().into()];
        let unshared = unshared.iter().map(|(place, balance)| {
            Ok(name(place).into_iter().chain(balance_cells(balance)?).collect())
        });
        let unshared = unshared.collect::<Result<Vec<Row>>>()?;
        let moves = moves.iter().map(name).collect();
        let rows = [accounts?, slots?, quotas?, releases?, sessions, asked, unshared, moves];
        Ok(Self { head, format, counts: tables.counts(COUNTED)?, rows })
    }

    /// The books as they were at the head, but for what is over.
    pub(super) fn books(&self) -> Result<Books> {
        let [accounts, slots, quotas, releases, sessions, asked, unshared, moves] = &self.rows;
        let place =
            |row: &[Cell]| Ok::<_, LedgerError>((Reader(row).text(1)?, Reader(row).text(0)?));
        let mut books = Books::after(self.head.sequence, self.format);
        for row in accounts {
            let found = account(row)?;
            books.accounts.insert(found.name.clone(), found);
        }
        for row in slots {
            let found = slot(row.get(1..).unwrap_or_default())?;
            books.slots.insert((Reader(row).text(0)?, found.name.clone()), found);
        }
        for row in quotas {
            let found = share(row.get(1..).unwrap_or_default())?;
            books.shares.insert((Reader(row).text(0)?, found.analyst.clone()), found);
        }
        for row in releases {
            let found = release(row)?;
            let kept = Kept {
                analyst: found.analyst,
                session: found.session,
                request: found.request,
                reserved: found.reserved,
                committed: None,
            };
            books.releases.insert((found.account, found.key), kept);
        }
        let mut going = BTreeMap::new();
        for row in sessions {
            let cells = Reader(row);
            let kept = KeptSession {
                begun: cells.count(2)?,
                answered: cells.count(3)?,
                declaration: cells.text(4)?,
                state: Some(cells.text(5)?),
                ended: None,
            };
            going.insert(place(row)?, kept);
        }
        let asked = asked.iter().map(|row| Ok((place(row)?, Reader(row).text(2)?)));
        books.sessions = Sessions::resumed(going, asked.collect::<Result<BTreeSet<_>>>()?);
        let named = |row: &Row| Ok::<_, LedgerError>((Reader(row).text(0)?, Reader(row).text(1)?));
        let balances = unshared.iter().map(|row| Ok((named(row)?, Reader(row).balance(2)?)));
        books.unstored = Unstored {
            unshared: balances.collect::<Result<_>>()?,
            moves: moves.iter().map(named).collect::<Result<_>>()?,
        };
        Ok(books)
    }

    /// The checkpoint as text: a digest against accidents, and one JSON object.
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

    /// Reads what [`Checkpoint::text`] wrote.
    ///
    /// # Errors
    /// [`LedgerError::Checkpoint`] if it is not that.
    pub fn read(text: &str) -> Result<Self> {
        let wrong = |problem: &str| LedgerError::Checkpoint(problem.to_owned());
        let (digest, body) = text.split_once('\n').ok_or_else(|| wrong("is no checkpoint"))?;
        let body = body.trim_end();
        if Hash::read(digest) != Some(Hash::of(body.as_bytes())) {
            return Err(wrong("is damaged: its digest is another"));
        }
        let object: Value =
            serde_json::from_str(body).map_err(|error| wrong(&error.to_string()))?;
        if object["checkpoint"] != VERSION {
            return Err(wrong("is of another version"));
        }
        let read = || {
            let counts = object["counts"].as_array()?.iter().map(|count| count.as_u64());
            let counts: Vec<usize> =
                counts.map(|count| usize::try_from(count?).ok()).collect::<Option<_>>()?;
            let rows = object["rows"].as_array()?.iter().map(table);
            Some(Self {
                head: object["head"].as_str()?.parse().ok()?,
                format: object["format"].as_u64()?,
                counts: counts.try_into().ok()?,
                rows: rows.collect::<Option<Vec<_>>>()?.try_into().ok()?,
            })
        };
        read().ok_or_else(|| wrong("has not the fields of one"))
    }

    /// Reads a checkpoint from a file of one's own that nobody else can write to.
    ///
    /// # Errors
    /// [`LedgerError::Checkpoint`] if others can, or it is no checkpoint.
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
            // A process owns its own entry there; where there is none, the mode has to do.
            let own = Path::new("/proc/self").metadata().map(|process| process.uid());
            if own.is_ok_and(|own| metadata.uid() != own) {
                return Err(wrong(&"somebody else owns it; legal: a file of one's own"));
            }
        }
        let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
        Self::read(&text).map_err(|error| wrong(&error))
    }

    /// Writes it to a file that its owner alone can read, durably, in the place of an earlier one.
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

//! Every statement about sessions.

use crate::cells::{Reader, answer, damaged, session, whole};
use crate::chain::Hash;
use crate::database::{Cell, Row};
use crate::error::LedgerError;
use crate::rows::{Answer, Session};
use crate::tables::{Digested, Tables};

type Outcome<T> = Result<T, LedgerError>;

impl Tables<'_> {
    pub(crate) fn session(&mut self, account: &str, key: &str) -> Outcome<Option<Session>> {
        let sql = "SELECT key, account, begun, answered, ended, declaration \
                   FROM ledger_session WHERE key = $1 AND account = $2";
        let rows = self.rows(sql, &[key.into(), account.into()])?;
        rows.first().map(|row| session(row)).transpose()
    }

    /// Sessions begun after an entry, in order, at most so many.
    pub(crate) fn sessions(&mut self, after: i64, most: u64) -> Outcome<Vec<Session>> {
        let sql = "SELECT key, account, begun, answered, ended, declaration \
                   FROM ledger_session WHERE begun > $1 ORDER BY begun LIMIT $2";
        self.rows(sql, &[after.into(), whole(most)?])?.iter().map(|row| session(row)).collect()
    }

    /// An analyst's sessions in an account that began after an entry, in order, at most so many.
    pub(crate) fn sessions_of(
        &mut self,
        account: &str,
        analyst: &str,
        after: u64,
        most: u64,
    ) -> Outcome<Vec<Session>> {
        let sql = "SELECT s.key, s.account, s.begun, s.answered, s.ended, s.declaration \
                   FROM ledger_session s \
                   JOIN ledger_release r ON r.key = s.key AND r.account = s.account \
                   WHERE s.account = $1 AND r.analyst = $2 AND s.begun > $3 \
                   ORDER BY s.begun LIMIT $4";
        let cells = [account.into(), analyst.into(), whole(after)?, whole(most)?];
        let rows = self.rows(sql, &cells)?;
        rows.iter().map(|row| session(row)).collect()
    }

    pub(crate) fn add_session(&mut self, session: &Session, state: &[u8]) -> Outcome<()> {
        let place = [Cell::from(session.key.as_str()), session.account.as_str().into()];
        let [key, account] = place.clone();
        let sql = "INSERT INTO ledger_session (key, account, begun, answered, declaration) \
                   VALUES ($1, $2, $3, 0, $4)";
        let declaration = Cell::from(session.declaration.as_slice());
        self.one(sql, vec![key, account, whole(session.begun)?, declaration])?;
        let [key, account] = place;
        let sql = "INSERT INTO ledger_state (key, account, state) VALUES ($1, $2, $3)";
        self.one(sql, vec![key, account, state.into()])
    }

    /// The digest of that state.
    pub(crate) fn state_digest(&mut self, account: &str, key: &str) -> Outcome<Option<Hash>> {
        let sql = if self.has_digests()? {
            "SELECT state FROM ledger_state_digest WHERE key = $1 AND account = $2"
        } else {
            "SELECT state FROM ledger_state WHERE key = $1 AND account = $2"
        };
        let rows = self.rows(sql, &[key.into(), account.into()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        if self.has_digests()? || self.lacks_secrets()? {
            return Reader(row).hash(0).map(Some);
        }
        Ok(Some(Hash::of(&Reader(row).bytes(0)?)))
    }

    /// How many states there are.
    pub(crate) fn states(&mut self) -> Outcome<usize> {
        let table = if self.has_digests()? { "ledger_state_digest" } else { "ledger_state" };
        Ok(self.counts([table])?[0])
    }

    /// The private state of a session that is not over.
    pub(crate) fn state(&mut self, account: &str, key: &str) -> Outcome<Option<Vec<u8>>> {
        if self.lacks_secrets()? {
            return Err(damaged("it is a copy for auditors, without private states"));
        }
        let sql = "SELECT state FROM ledger_state WHERE key = $1 AND account = $2";
        let rows = self.rows(sql, &[key.into(), account.into()])?;
        rows.first().map(|row| Reader(row).bytes(0)).transpose()
    }

    /// Adds an answer, if the session has as many as it would follow and is not over.
    pub(crate) fn add_answer(&mut self, answer: &Answer) -> Outcome<()> {
        let sql = "UPDATE ledger_session SET answered = answered + 1 \
                   WHERE key = $1 AND account = $2 AND answered = $3 AND ended IS NULL";
        let place = [Cell::from(answer.key.as_str()), answer.account.as_str().into()];
        let [key, account] = place.clone();
        self.one(sql, vec![key, account, whole(answer.number.saturating_sub(1))?])?;
        let sql = "INSERT INTO ledger_answer (key, account, number, ask, question, entry, \
                   response) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let [key, account] = place;
        let cells = [
            key,
            account,
            whole(answer.number)?,
            answer.ask.as_str().into(),
            Cell::from(&answer.question.0[..]),
            whole(answer.entry)?,
            Cell::from(answer.response.as_slice()),
        ];
        self.one(sql, cells.into())
    }

    /// Puts a new state in the place of the old.
    pub(crate) fn set_state(&mut self, account: &str, key: &str, state: &[u8]) -> Outcome<()> {
        let sql = "UPDATE ledger_state SET state = $1 WHERE key = $2 AND account = $3";
        self.one(sql, vec![state.into(), key.into(), account.into()])
    }

    /// Ends a session and forgets its state.
    pub(crate) fn end(&mut self, account: &str, key: &str, entry: u64) -> Outcome<()> {
        let sql = "UPDATE ledger_session SET ended = $1 \
                   WHERE key = $2 AND account = $3 AND ended IS NULL";
        self.one(sql, vec![whole(entry)?, key.into(), account.into()])?;
        let sql = "DELETE FROM ledger_state WHERE key = $1 AND account = $2";
        self.one(sql, vec![key.into(), account.into()])
    }

    /// An answer by its own key.
    pub(crate) fn answer(
        &mut self,
        account: &str,
        key: &str,
        ask: &str,
    ) -> Outcome<Option<Answer>> {
        let sql = "SELECT key, account, number, ask, question, entry, response \
                   FROM ledger_answer WHERE key = $1 AND account = $2 AND ask = $3";
        let rows = self.rows(sql, &[key.into(), account.into(), ask.into()])?;
        rows.first().map(|row| answer(row)).transpose()
    }

    /// The names of the questions that a session answered, in order.
    pub(crate) fn asks(&mut self, account: &str, key: &str) -> Outcome<Vec<String>> {
        let sql = "SELECT ask FROM ledger_answer WHERE key = $1 AND account = $2 ORDER BY number";
        let rows = self.rows(sql, &[key.into(), account.into()])?;
        rows.iter().map(|row| Reader(row).text(0)).collect()
    }

    /// The answers of a session after one, in order, at most so many.
    pub(crate) fn answers_after(
        &mut self,
        account: &str,
        key: &str,
        after: u64,
        most: u64,
    ) -> Outcome<Vec<Answer>> {
        let sql = "SELECT key, account, number, ask, question, entry, response FROM ledger_answer \
                   WHERE key = $1 AND account = $2 AND number > $3 ORDER BY number LIMIT $4";
        let cells = [key.into(), account.into(), whole(after)?, whole(most)?];
        self.rows(sql, &cells)?.iter().map(|row| answer(row)).collect()
    }

    /// Answers stored after an entry, in order, at most so many, with their responses' digests and lengths alone.
    pub(crate) fn answers(&mut self, after: i64, most: u64) -> Outcome<Vec<Digested<Answer>>> {
        let cells = [after.into(), whole(most)?];
        if self.has_digests()? {
            let sql = "SELECT key, account, number, ask, question, entry, response, length \
                       FROM ledger_answer_digest WHERE entry > $1 ORDER BY entry LIMIT $2";
            let digested = |row: &Row| {
                let digest = (Reader(row).hash(6)?, Reader(row).count(7)?);
                Ok((Answer { response: Vec::new(), ..answer(row)? }, Some(digest)))
            };
            return self.rows(sql, &cells)?.iter().map(digested).collect();
        }
        let sql = "SELECT key, account, number, ask, question, entry, response \
                   FROM ledger_answer WHERE entry > $1 ORDER BY entry LIMIT $2";
        let digested = |row: &Row| {
            let mut answer = answer(row)?;
            let response = std::mem::take(&mut answer.response);
            Ok((answer, Some((Hash::of(&response), response.len() as u64))))
        };
        self.rows(sql, &cells)?.iter().map(digested).collect()
    }
}

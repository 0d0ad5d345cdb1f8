//! Every statement about sessions.

use super::cells::{RowReader, answer, session, whole};
use super::{DigestRow, Tables};
use crate::rules::chain::Hash;
use crate::rules::error::{Result, damaged};
use crate::rules::rows::{AnswerRow, SessionRow};
use crate::store::database::{Cell, Statement};

/// Sessions that have not ended.
pub(crate) const OPEN_SESSIONS: &str = "SELECT key, account, begun, answered, declaration FROM ledger_session \
     WHERE ended IS NULL ORDER BY begun";

impl Tables<'_> {
    pub(crate) fn session(&mut self, account: &str, key: &str) -> Result<Option<SessionRow>> {
        let sql = "SELECT key, account, begun, answered, ended, declaration \
                   FROM ledger_session WHERE key = $1 AND account = $2";
        self.first(&named(sql, account, key), session)
    }

    /// At most `most` sessions that began after an entry, in order.
    pub(crate) fn sessions(&mut self, after: i64, most: u64) -> Result<Vec<SessionRow>> {
        let sql = "SELECT key, account, begun, answered, ended, declaration \
                   FROM ledger_session WHERE begun > $1 ORDER BY begun LIMIT $2";
        self.list(sql, &[after.into(), whole(most)?], session)
    }

    /// At most `most` sessions of an analyst in an account that began after an entry, in order.
    pub(crate) fn sessions_of(
        &mut self,
        account: &str,
        analyst: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<SessionRow>> {
        let sql = "SELECT s.key, s.account, s.begun, s.answered, s.ended, s.declaration \
                   FROM ledger_session s \
                   JOIN ledger_release r ON r.key = s.key AND r.account = s.account \
                   WHERE s.account = $1 AND r.analyst = $2 AND s.begun > $3 \
                   ORDER BY s.begun LIMIT $4";
        self.list(sql, &[account.into(), analyst.into(), whole(after)?, whole(most)?], session)
    }

    pub(crate) fn add_session(&mut self, session: &SessionRow, state: &[u8]) -> Result<()> {
        let [key, account] = [&session.key, &session.account].map(|name| Cell::from(name.as_str()));
        let sql = "INSERT INTO ledger_session (key, account, begun, answered, declaration) \
                   VALUES ($1, $2, $3, 0, $4)";
        let declaration = session.declaration.as_slice().into();
        self.write_one(sql, [key.clone(), account.clone(), whole(session.begun)?, declaration])?;
        let sql = "INSERT INTO ledger_state (key, account, state) VALUES ($1, $2, $3)";
        self.write_one(sql, [key, account, state.into()])
    }

    /// The digest of a session's private state.
    pub(crate) fn state_digest(&mut self, account: &str, key: &str) -> Result<Option<Hash>> {
        let sql = if self.has_digests()? {
            "SELECT state FROM ledger_state_digest WHERE key = $1 AND account = $2"
        } else {
            "SELECT state FROM ledger_state WHERE key = $1 AND account = $2"
        };
        let is_digest = self.has_digests()? || self.lacks_secrets()?;
        self.first(&named(sql, account, key), |row| match is_digest {
            true => RowReader(row).hash(0),
            false => Ok(Hash::of(&RowReader(row).bytes(0)?)),
        })
    }

    /// The number of private states.
    pub(crate) fn states(&mut self) -> Result<usize> {
        let table = if self.has_digests()? { "ledger_state_digest" } else { "ledger_state" };
        Ok(self.counts([table])?[0])
    }

    /// The private state of a session that has not ended.
    pub(crate) fn state(&mut self, account: &str, key: &str) -> Result<Option<Vec<u8>>> {
        if self.lacks_secrets()? {
            return Err(damaged("the file is a copy for auditors, without private states"));
        }
        let sql = "SELECT state FROM ledger_state WHERE key = $1 AND account = $2";
        self.first(&named(sql, account, key), |row| RowReader(row).bytes(0))
    }

    /// Adds an answer, if the session has not ended and has exactly the answers before this one.
    pub(crate) fn add_answer(&mut self, answer: &AnswerRow) -> Result<()> {
        let sql = "UPDATE ledger_session SET answered = answered + 1 \
                   WHERE key = $1 AND account = $2 AND answered = $3 AND ended IS NULL";
        let [key, account] = [&answer.key, &answer.account].map(|name| Cell::from(name.as_str()));
        let before = whole(answer.number.saturating_sub(1))?;
        self.write_one(sql, [key.clone(), account.clone(), before])?;
        let sql = "INSERT INTO ledger_answer (key, account, number, ask, question, entry, \
                   response) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let (number, entry) = (whole(answer.number)?, whole(answer.entry)?);
        let (ask, response) = (answer.ask.as_str().into(), answer.response.as_slice().into());
        self.write_one(sql, [key, account, number, ask, answer.question.into(), entry, response])
    }

    /// Replaces a session's private state.
    pub(crate) fn set_state(&mut self, account: &str, key: &str, state: &[u8]) -> Result<()> {
        let sql = "UPDATE ledger_state SET state = $1 WHERE key = $2 AND account = $3";
        self.write_one(sql, [state.into(), key.into(), account.into()])
    }

    /// Ends a session and deletes its state.
    pub(crate) fn end(&mut self, account: &str, key: &str, entry: u64) -> Result<()> {
        let sql = "UPDATE ledger_session SET ended = $1 \
                   WHERE key = $2 AND account = $3 AND ended IS NULL";
        self.write_one(sql, [whole(entry)?, key.into(), account.into()])?;
        let sql = "DELETE FROM ledger_state WHERE key = $1 AND account = $2";
        self.write_one(sql, [key.into(), account.into()])
    }

    /// The answer of a session to the question of this name.
    pub(crate) fn answer(
        &mut self,
        account: &str,
        key: &str,
        ask: &str,
    ) -> Result<Option<AnswerRow>> {
        let sql = "SELECT key, account, number, ask, question, entry, response \
                   FROM ledger_answer WHERE key = $1 AND account = $2 AND ask = $3";
        let parameters = vec![key.into(), account.into(), ask.into()];
        self.first(&Statement { sql, parameters }, answer)
    }

    /// The names of the questions that a session has answered, in order.
    pub(crate) fn asks(&mut self, account: &str, key: &str) -> Result<Vec<String>> {
        let sql = "SELECT ask FROM ledger_answer WHERE key = $1 AND account = $2 ORDER BY number";
        self.list(sql, &[key.into(), account.into()], |row| RowReader(row).text(0))
    }

    /// At most `most` answers of a session after a number, in order.
    pub(crate) fn answers_after(
        &mut self,
        account: &str,
        key: &str,
        after: u64,
        most: u64,
    ) -> Result<Vec<AnswerRow>> {
        let sql = "SELECT key, account, number, ask, question, entry, response FROM ledger_answer \
                   WHERE key = $1 AND account = $2 AND number > $3 ORDER BY number LIMIT $4";
        self.list(sql, &[key.into(), account.into(), whole(after)?, whole(most)?], answer)
    }

    /// At most `most` answers that were stored after an entry, in order, with digests and lengths in the place of
    /// responses.
    pub(crate) fn answers(&mut self, after: i64, most: u64) -> Result<Vec<DigestRow<AnswerRow>>> {
        let cells = [after.into(), whole(most)?];
        if self.has_digests()? {
            let sql = "SELECT key, account, number, ask, question, entry, response, length \
                       FROM ledger_answer_digest WHERE entry > $1 ORDER BY entry LIMIT $2";
            return self.list(sql, &cells, |row| {
                let digest = (RowReader(row).hash(6)?, RowReader(row).count(7)?);
                Ok((AnswerRow { response: Vec::new(), ..answer(row)? }, Some(digest)))
            });
        }
        let sql = "SELECT key, account, number, ask, question, entry, response \
                   FROM ledger_answer WHERE entry > $1 ORDER BY entry LIMIT $2";
        self.list(sql, &cells, |row| {
            let mut answer = answer(row)?;
            let response = std::mem::take(&mut answer.response);
            Ok((answer, Some((Hash::of(&response), response.len() as u64))))
        })
    }
}

/// A statement with a session's key and account as its parameters.
fn named(sql: &'static str, account: &str, key: &str) -> Statement {
    Statement { sql, parameters: vec![key.into(), account.into()] }
}

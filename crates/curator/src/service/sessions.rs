//! Sessions about the curator's tables: of built-in mechanisms, and of mechanisms that the owner registered.

use super::accounts::check_may_use;
use super::curator::{Curator, RegisteredTable};
use super::request::{
    CuratorError, CustomSubmission, NewCustomSession, NewSession, SessionInfo, SessionSubmission,
};
use crate::answer::{AnswerError, StageTimes};
use crate::charge::{StoredBytes, StoredReply};
use crate::engine::Location;
use crate::session::table::{self, SessionId, SessionMechanism, SessionQuestion, SessionRecord};
use crate::session::{RegisteredMechanism, SessionReceipt};
use crate::state::Bearer;
use counterpoint_ledger::{Ledger, LedgerError, SessionSummary};
use counterpoint_questions::QuestionError;
use std::time::Instant;

impl Curator {
    /// Opens a session and debits all of it. If it was opened before with the same declaration, returns it as it is
    /// now.
    ///
    /// # Errors
    /// [`CuratorError`]. Reads no data.
    pub fn open_session(
        &self,
        asker: &Bearer,
        new: &NewSession,
    ) -> Result<SessionReceipt, CuratorError> {
        check_may_use(asker, &new.account)?;
        let registered = self.registered_table(&new.table)?;
        self.check_pays(&new.account, registered)?;
        let id = session_id(asker, &new.account, &new.key);
        let slot = new.slot.as_deref();
        Ok(table::open(&self.pool, &registered.table, &id, slot, &new.spec)?)
    }

    /// Asks a session. Returns the stored answer, or else counts, draws and stores one. Opening the session has paid
    /// for it.
    ///
    /// # Errors
    /// [`CuratorError`]. Its content never depends on the data.
    pub fn ask_session(
        &self,
        asker: &Bearer,
        submission: &SessionSubmission,
    ) -> Result<StoredReply, CuratorError> {
        self.ask_session_timed(asker, submission, &StageTimes::default())
    }

    /// Asks a session, and measures each stage.
    ///
    /// # Errors
    /// As for [`Curator::ask_session`].
    pub fn ask_session_timed(
        &self,
        asker: &Bearer,
        submission: &SessionSubmission,
        stages: &StageTimes,
    ) -> Result<StoredReply, CuratorError> {
        let (registered, question) = self.resolve_session_question(asker, submission)?;
        let id = session_id(asker, &submission.account, &submission.key);
        let (table, name) = (&registered.table, &submission.name);
        let deadline = Instant::now() + self.timing.limit;
        Ok(table::ask(&self.pool, table, &id, (name, &question), deadline, stages)?)
    }

    /// The location of the session's table, and the stored answer to a question, if there is one.
    ///
    /// # Errors
    /// As for [`Curator::ask_session`].
    pub fn find_session_answer(
        &self,
        asker: &Bearer,
        submission: &SessionSubmission,
    ) -> Result<(Location, Option<StoredReply>), CuratorError> {
        let (registered, question) = self.resolve_session_question(asker, submission)?;
        let id = session_id(asker, &submission.account, &submission.key);
        let name = &submission.name;
        let shown = table::find_answer(&self.pool, &registered.table, &id, name, &question)?;
        Ok((registered.location.clone(), shown))
    }

    /// Opens a session of a registered mechanism and debits its guarantee.
    ///
    /// # Errors
    /// [`CuratorError`]. Reads no data.
    pub fn open_custom_session(
        &self,
        asker: &Bearer,
        new: &NewCustomSession,
    ) -> Result<SessionReceipt, CuratorError> {
        check_may_use(asker, &new.account)?;
        let (mechanism, registered) = self.registered_mechanism(&new.mechanism)?;
        if !registered.table.public.name().eq_ignore_ascii_case(&new.table) {
            let place = format!("table {:?}", new.table);
            let legal = format!("{:?}", mechanism.table);
            return Err(
                QuestionError::new(place, "is not the table of the mechanism", legal).into()
            );
        }
        self.check_pays(&new.account, registered)?;
        let (id, slot) = (session_id(asker, &new.account, &new.key), new.slot.as_deref());
        Ok(table::open_registered(&self.pool, &registered.table, &id, slot, mechanism)?)
    }

    /// Asks a session of a registered mechanism.
    ///
    /// # Errors
    /// [`CuratorError`]. Its content never depends on the data, except that it reports a failure of the mechanism,
    /// which ends the session.
    pub fn ask_custom_session(
        &self,
        asker: &Bearer,
        submission: &CustomSubmission,
    ) -> Result<StoredBytes, CuratorError> {
        let (mechanism, _) = self.charged_mechanism(asker, submission)?;
        let id = session_id(asker, &submission.account, &submission.key);
        let question = (submission.name.as_str(), submission.question.as_str());
        let limit = self.timing.limit;
        Ok(table::ask_registered(&self.pool, &id, question, mechanism, limit)?)
    }

    /// The location of the session's table, and the stored answer to a question, if there is one.
    ///
    /// # Errors
    /// As for [`Curator::ask_custom_session`].
    pub fn find_custom_session_answer(
        &self,
        asker: &Bearer,
        submission: &CustomSubmission,
    ) -> Result<(Location, Option<StoredBytes>), CuratorError> {
        let (_, registered) = self.charged_mechanism(asker, submission)?;
        let id = session_id(asker, &submission.account, &submission.key);
        let question = (submission.name.as_str(), submission.question.as_str());
        let stored = table::find_registered_answer(&self.pool, &id, question)?;
        Ok((registered.location.clone(), stored))
    }

    /// The registered mechanism that a session runs. An error if its guarantee or table has changed since the charge.
    fn charged_mechanism(
        &self,
        asker: &Bearer,
        submission: &CustomSubmission,
    ) -> Result<(&RegisteredMechanism, &RegisteredTable), CuratorError> {
        let SessionInfo { mechanism: charged, table, .. } =
            self.session(asker, &submission.account, &submission.key)?;
        let SessionMechanism::Custom(custom) = charged else {
            let legal = "sql or question, as the session runs a built-in mechanism";
            return Err(QuestionError::new("own", "is given", legal).into());
        };
        let (mechanism, registered) = self.registered_mechanism(&custom.name)?;
        if mechanism.mechanism != custom || mechanism.table != table {
            let place = format!("mechanism {:?}", custom.name);
            let legal = "the guarantee and table that the session was charged for";
            return Err(
                QuestionError::new(place, "has another guarantee or table now", legal).into()
            );
        }
        self.check_pays(&submission.account, registered)?;
        Ok((mechanism, registered))
    }

    fn registered_mechanism(
        &self,
        name: &str,
    ) -> Result<(&RegisteredMechanism, &RegisteredTable), CuratorError> {
        let mechanism =
            self.mechanisms.get(name).ok_or_else(|| CuratorError::not_yours("mechanism", name))?;
        Ok((mechanism, self.registered_table(&mechanism.table)?))
    }

    /// The table that a session's question is about, and the question in the algebra.
    fn resolve_session_question(
        &self,
        asker: &Bearer,
        submission: &SessionSubmission,
    ) -> Result<(&RegisteredTable, SessionQuestion), CuratorError> {
        let SessionSubmission { account, key, question, guess, spend, .. } = submission;
        // An unknown session is reported before an illegal question.
        self.session(asker, account, key)?.mechanism.built_in()?;
        let question = self.read(question)?;
        let registered = self.registered_table(&question.table)?;
        self.check_pays(account, registered)?;
        Ok((registered, SessionQuestion { question, guess: *guess, spend: *spend }))
    }

    /// Ends a session for good. Nothing is refunded.
    ///
    /// # Errors
    /// [`CuratorError::NotYours`] if the asker has no such session.
    pub fn close_session(
        &self,
        asker: &Bearer,
        account: &str,
        key: &str,
    ) -> Result<SessionInfo, CuratorError> {
        let session_info = self.session(asker, account, key)?;
        table::close(&self.pool, &session_id(asker, account, key))?;
        Ok(SessionInfo { is_over: true, ..session_info })
    }

    /// Finds a session of the asker.
    ///
    /// # Errors
    /// [`CuratorError::NotYours`] if the asker has no such session.
    pub fn session(
        &self,
        asker: &Bearer,
        account: &str,
        key: &str,
    ) -> Result<SessionInfo, CuratorError> {
        check_may_use(asker, account)?;
        let ledger_key = session_id(asker, account, key).ledger_key()?;
        let found = self.pool.with(|ledger| match ledger.session(account, &ledger_key) {
            Err(LedgerError::Unknown { .. }) => Ok(None),
            other => other,
        })?;
        let found = found.ok_or_else(|| CuratorError::not_yours("session", key))?;
        let (begun, is_over) = (found.begun, found.ended.is_some());
        Ok(session_info(account, &found.declaration, begun, found.answered, is_over)?)
    }

    /// Lists at most `most` of the asker's sessions in all accounts that began after an entry of the ledger, in that
    /// order.
    ///
    /// # Errors
    /// [`CuratorError`] if the ledger cannot be read.
    pub fn sessions(
        &self,
        asker: &Bearer,
        after: u64,
        most: u64,
    ) -> Result<Vec<SessionInfo>, CuratorError> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut list: Vec<SessionInfo> = Vec::new();
        for account in &asker.accounts {
            for session in self.sessions_in(account, asker, after, most)? {
                let SessionSummary { declaration, begun, answered, ended, .. } = session;
                list.push(session_info(account, &declaration, begun, answered, ended.is_some())?);
            }
            list.sort_by_key(|session_info| session_info.begun);
            list.truncate(most);
        }
        Ok(list)
    }

    /// Lists the asker's sessions in one account that began after an entry, in order: at least `most`, or all. Skips
    /// sessions that other programs opened in the asker's name.
    fn sessions_in(
        &self,
        account: &str,
        asker: &Bearer,
        mut after: u64,
        most: usize,
    ) -> Result<Vec<SessionSummary>, LedgerError> {
        let (prefix, name) = (SessionId::prefix(&asker.name), &asker.name);
        let mut list = Vec::new();
        while list.len() < most {
            let page = |ledger: &mut Ledger| ledger.sessions_of(account, name, after, most as u64);
            let found = self.pool.with(page)?;
            let Some(last) = found.last() else { break };
            after = last.begun;
            list.extend(found.into_iter().filter(|session| session.key.starts_with(&prefix)));
        }
        Ok(list)
    }
}

fn session_id<'a>(asker: &'a Bearer, account: &'a str, key: &'a str) -> SessionId<'a> {
    SessionId { account, analyst: &asker.name, key }
}

fn session_info(
    account: &str,
    declaration: &[u8],
    begun: u64,
    answered: u64,
    is_over: bool,
) -> Result<SessionInfo, AnswerError> {
    let SessionRecord { key, table, mechanism, .. } = SessionRecord::read(declaration)?;
    Ok(SessionInfo { account: account.to_owned(), key, table, mechanism, begun, answered, is_over })
}

//! Sessions of a curator: about its tables, and of the mechanisms that its owner registered.

use super::accounts::may_use;
use super::curator::{Curator, Kept};
use super::request::{Asking, Denied, Opening, OwnAsking, OwnOpening, Standing};
use crate::answer::{Stages, Unanswered};
use crate::charge::{Shown, Stored};
use crate::engine::Location;
use crate::session::table::{self, Asked, Declaration, Owner, Runs};
use crate::session::{Opened, Registered};
use crate::state::Bearer;
use counterpoint_ledger::{Ledger, LedgerError, OpenedSession};
use counterpoint_questions::Illegal;
use std::time::Instant;

impl Curator {
    /// Opens a session, and debits all of it; or the one that was opened before by the same declaration.
    ///
    /// # Errors
    /// [`Denied`]; no data are looked at.
    pub fn open_session(&self, asker: &Bearer, opening: &Opening) -> Result<Opened, Denied> {
        may_use(asker, &opening.account)?;
        let kept = self.kept(&opening.table)?;
        self.pays(&opening.account, kept)?;
        let owner = owner(asker, &opening.account, &opening.key);
        let slot = opening.slot.as_deref();
        Ok(table::open(&self.pool, &kept.held, &owner, slot, &opening.declared)?)
    }

    /// Asks a session: run, drawn and stored, or stored before. It was paid for when it was opened.
    ///
    /// # Errors
    /// [`Denied`]; what it says never depends on the data.
    pub fn ask_session(&self, asker: &Bearer, asking: &Asking) -> Result<Shown, Denied> {
        self.timed_session(asker, asking, &Stages::default())
    }

    /// The same, and how long each stage of it takes.
    ///
    /// # Errors
    /// [`Denied`], as [`Curator::ask_session`].
    pub fn timed_session(
        &self,
        asker: &Bearer,
        asking: &Asking,
        stages: &Stages,
    ) -> Result<Shown, Denied> {
        let (kept, asked) = self.put(asker, asking)?;
        let owner = owner(asker, &asking.account, &asking.key);
        let (held, name) = (&kept.held, &asking.name);
        let deadline = Instant::now() + self.timing.limit;
        Ok(table::ask(&self.pool, held, &owner, (name, &asked), deadline, stages)?)
    }

    /// The engine that a session's question is put to, and its answer if that is stored.
    ///
    /// # Errors
    /// [`Denied`], as when it is asked.
    pub fn remembered_in_session(
        &self,
        asker: &Bearer,
        asking: &Asking,
    ) -> Result<(Location, Option<Shown>), Denied> {
        let (kept, asked) = self.put(asker, asking)?;
        let owner = owner(asker, &asking.account, &asking.key);
        let name = &asking.name;
        let shown = table::remembered(&self.pool, &kept.held, &owner, name, &asked)?;
        Ok((kept.location.clone(), shown))
    }

    /// Opens a session of a mechanism that the owner registered, and debits all of it.
    ///
    /// # Errors
    /// [`Denied`]; no data are looked at.
    pub fn open_own_session(&self, asker: &Bearer, opening: &OwnOpening) -> Result<Opened, Denied> {
        may_use(asker, &opening.account)?;
        let (registered, kept) = self.registered(&opening.mechanism)?;
        if !kept.held.public.name().eq_ignore_ascii_case(&opening.table) {
            let place = format!("table {:?}", opening.table);
            let legal = format!("{:?}, which the mechanism is about", registered.table);
            return Err(Illegal::new(place, "is another", legal).into());
        }
        self.pays(&opening.account, kept)?;
        let (owner, slot) = (owner(asker, &opening.account, &opening.key), opening.slot.as_deref());
        Ok(table::open_registered(&self.pool, &kept.held, &owner, slot, registered)?)
    }

    /// Asks a session of a mechanism that the owner registered.
    ///
    /// # Errors
    /// [`Denied`]; what it says never depends on the data, but for that the mechanism failed, after which the session is over.
    pub fn ask_own_session(&self, asker: &Bearer, asking: &OwnAsking) -> Result<Stored, Denied> {
        let (registered, _) = self.put_own(asker, asking)?;
        let owner = owner(asker, &asking.account, &asking.key);
        let asked = (asking.name.as_str(), asking.question.as_str());
        let limit = self.timing.limit;
        Ok(table::ask_registered(&self.pool, &owner, asked, registered, limit)?)
    }

    /// Where the table of such a session is, and the answer if it is stored.
    ///
    /// # Errors
    /// [`Denied`], as when it is asked.
    pub fn remembered_in_own_session(
        &self,
        asker: &Bearer,
        asking: &OwnAsking,
    ) -> Result<(Location, Option<Stored>), Denied> {
        let (_, kept) = self.put_own(asker, asking)?;
        let owner = owner(asker, &asking.account, &asking.key);
        let asked = (asking.name.as_str(), asking.question.as_str());
        let stored = table::remembered_registered(&self.pool, &owner, asked)?;
        Ok((kept.location.clone(), stored))
    }

    /// The mechanism that a session was opened of, as it is registered now: with the guarantee that was charged.
    fn put_own(&self, asker: &Bearer, asking: &OwnAsking) -> Result<(&Registered, &Kept), Denied> {
        let Standing { declared, table, .. } = self.session(asker, &asking.account, &asking.key)?;
        let Runs::Own(own) = declared else {
            let legal = "sql or question: the session is of a mechanism of ours";
            return Err(Illegal::new("own", "is there", legal).into());
        };
        let (registered, kept) = self.registered(&own.own)?;
        if registered.own != own || registered.table != table {
            let place = format!("mechanism {:?}", own.own);
            let legal = "those that the session was charged for";
            return Err(Illegal::new(place, "has another guarantee or table now", legal).into());
        }
        self.pays(&asking.account, kept)?;
        Ok((registered, kept))
    }

    fn registered(&self, name: &str) -> Result<(&Registered, &Kept), Denied> {
        let registered =
            self.mechanisms.get(name).ok_or_else(|| Denied::not_yours("mechanism", name))?;
        Ok((registered, self.kept(&registered.table)?))
    }

    /// The table that a session's question is about, and the question.
    fn put(&self, asker: &Bearer, asking: &Asking) -> Result<(&Kept, Asked), Denied> {
        let Asking { account, key, written, guess, spend, .. } = asking;
        // Whether it is there comes before what is asked of it.
        self.session(asker, account, key)?.declared.ours()?;
        let question = self.read(written)?;
        let kept = self.kept(&question.table)?;
        self.pays(account, kept)?;
        Ok((kept, Asked { question, guess: *guess, spend: *spend }))
    }

    /// Ends a session for good. It is not refunded.
    ///
    /// # Errors
    /// [`Denied::NotYours`] if the asker has no such session.
    pub fn close_session(
        &self,
        asker: &Bearer,
        account: &str,
        key: &str,
    ) -> Result<Standing, Denied> {
        let standing = self.session(asker, account, key)?;
        table::close(&self.pool, &owner(asker, account, key))?;
        Ok(Standing { is_over: true, ..standing })
    }

    /// A session of the asker's.
    ///
    /// # Errors
    /// [`Denied::NotYours`] if there is none.
    pub fn session(&self, asker: &Bearer, account: &str, key: &str) -> Result<Standing, Denied> {
        may_use(asker, account)?;
        let ledger_key = owner(asker, account, key).ledger_key()?;
        let found = self.pool.with(|ledger| match ledger.session(account, &ledger_key) {
            Err(LedgerError::Unknown { .. }) => Ok(None),
            other => other,
        })?;
        let found = found.ok_or_else(|| Denied::not_yours("session", key))?;
        let (begun, is_over) = (found.begun, found.ended.is_some());
        Ok(standing(account, &found.declaration, begun, found.answered, is_over)?)
    }

    /// At most so many of the asker's sessions, in all accounts together, that began after an entry of the ledger, in that
    /// order.
    ///
    /// # Errors
    /// [`Denied`] if the ledger cannot be read.
    pub fn sessions(&self, asker: &Bearer, after: u64, most: u64) -> Result<Vec<Standing>, Denied> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut list: Vec<Standing> = Vec::new();
        for account in &asker.accounts {
            for session in self.sessions_in(account, asker, after, most)? {
                let OpenedSession { declaration, begun, answered, ended, .. } = session;
                list.push(standing(account, &declaration, begun, answered, ended.is_some())?);
            }
            list.sort_by_key(|standing| standing.begun);
            list.truncate(most);
        }
        Ok(list)
    }

    /// At least so many of the asker's sessions in one account, or all, begun after an entry, in order. What other programs
    /// opened in the asker's name is passed over.
    fn sessions_in(
        &self,
        account: &str,
        asker: &Bearer,
        mut after: u64,
        most: usize,
    ) -> Result<Vec<OpenedSession>, LedgerError> {
        let (prefix, name) = (Owner::prefix(&asker.name), &asker.name);
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

fn owner<'a>(asker: &'a Bearer, account: &'a str, key: &'a str) -> Owner<'a> {
    Owner { account, analyst: &asker.name, key }
}

fn standing(
    account: &str,
    declaration: &[u8],
    begun: u64,
    answered: u64,
    is_over: bool,
) -> Result<Standing, Unanswered> {
    let Declaration { key, table, declared, .. } = Declaration::read(declaration)?;
    Ok(Standing { account: account.to_owned(), key, table, declared, begun, answered, is_over })
}

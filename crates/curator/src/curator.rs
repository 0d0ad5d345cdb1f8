//! A curator: tables, a ledger and tokens, and what may be asked of them.

use crate::asked::{
    Answer, Ask, Asking, Denied, Left, Opening, OwnAsking, OwnOpening, Pay, Priced, Standing,
    Written,
};
use crate::config::{Config, ConfigError, Location, QueueSizes, Timing};
use crate::dummy::Dummy;
use crate::engine::Failed;
use crate::examine::unlike;
use crate::own::Registered;
use crate::session::Opened;
use crate::shown::{Shown, Stored};
use crate::spend::{least, spend_in, times};
use crate::stages::Stages;
use crate::table::{self, Due, Held, Number, Payer, Ready, Told, Unanswered};
use crate::table_session::{self, Asked, Declaration, Owner, Runs};
use crate::texts::Texts;
use crate::tokens::{Bearer, TokenError, Tokens};
use counterpoint_ledger::{Hash, Ledger, LedgerError, OpenOptions, OpenedSession, Pool};
use counterpoint_questions::Illegal;
use counterpoint_questions::Spend;
use counterpoint_questions::question::{Question, sql};
use counterpoint_wire::ledger::Cost;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So many handles of the ledger are open at most.
const HANDLES: usize = 16;
/// So long the rows of a file may be checked when the curator starts.
const CHECK: Duration = Duration::from_secs(3600);

/// Why a curator cannot start.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The ledger.
    #[error("the ledger: {0}")]
    Ledger(#[from] LedgerError),
    /// The tokens.
    #[error("the tokens: {0}")]
    Tokens(#[from] TokenError),
    /// A table's source. Nobody but the operator sees this.
    #[error("table {table:?}: {why}")]
    Source {
        /// The table.
        table: String,
        /// What is wrong.
        why: String,
    },
}

/// A table, with the data set that is charged.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The table.
    pub held: Held,
    /// The data set.
    pub dataset: String,
    /// Where it is: tables of one place share an engine.
    pub location: Location,
}

/// Questions that were read and checked. Nothing is charged yet, and no data were looked at.
#[derive(Clone, Debug)]
pub struct Prepared {
    asks: Vec<Ask>,
    /// The table and the question, for each that is legal.
    ready: Vec<Result<(String, Ready), Denied>>,
}

/// A data set, and the part of it, if not all.
type About = (String, Option<String>);

/// A curator at work.
pub struct Curator {
    pool: Pool,
    tokens: Tokens,
    texts: Texts,
    tables: BTreeMap<String, Kept>,
    mechanisms: BTreeMap<String, Registered>,
    /// The data sets of accounts, and the parts that they are about, which never change.
    about: Mutex<BTreeMap<String, About>>,
    /// Made up when they are first asked.
    dummies: Mutex<BTreeMap<String, Arc<Dummy>>>,
    timing: Timing,
    queue: QueueSizes,
}

impl std::fmt::Debug for Curator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Curator").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Curator {
    /// Opens everything that a configuration names. The ledger has to be there, with each table's data set.
    ///
    /// # Errors
    /// [`SetupError`], naming what is wrong.
    pub fn open(config: &Config) -> Result<Self, SetupError> {
        let pool = Pool::new(&config.ledger, &OpenOptions::default(), HANDLES)?;
        let tokens = Tokens::open(&config.state)?;
        let (secret, texts) = (tokens.secret()?, Texts::open(&config.state)?);
        let mut tables = BTreeMap::new();
        for source in &config.tables {
            let name = source.public.name().to_owned();
            let wrong = |why: String| SetupError::Source { table: name.clone(), why };
            let relation = pool.with(|ledger| ledger.relation(&source.dataset))?;
            if relation != source.public.relation() {
                return Err(wrong(unlike(&source.dataset, &relation, &source.public.relation())));
            }
            let told = |error: Failed| wrong(error.why);
            let held = Held::open(source, secret).map_err(told)?;
            held.check(Instant::now() + CHECK).map_err(told)?;
            let (dataset, location) = (source.dataset.clone(), source.location.clone());
            tables.insert(name.to_ascii_lowercase(), Kept { held, dataset, location });
        }
        Ok(Self {
            pool,
            tokens,
            texts,
            tables,
            mechanisms: config
                .mechanisms
                .iter()
                .map(|one| (one.own.own.clone(), one.clone()))
                .collect(),
            about: Mutex::default(),
            dummies: Mutex::default(),
            timing: config.timing,
            queue: config.queue,
        })
    }

    /// When answers leave.
    #[must_use]
    pub fn timing(&self) -> Timing {
        self.timing
    }

    /// How many questions an engine runs, and how many wait for it.
    #[must_use]
    pub fn queue(&self) -> QueueSizes {
        self.queue
    }

    /// The ledger.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Who may ask.
    #[must_use]
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// At most so many of the questions that were answered, as their keys in the ledger with their texts: those after a key,
    /// in the order of the keys.
    ///
    /// # Errors
    /// [`TokenError`] if they cannot be read.
    pub fn questions(&self, after: &str, most: u64) -> Result<Vec<(String, String)>, TokenError> {
        self.texts.page(after, most)
    }

    /// The tables, in order of their names.
    pub fn tables(&self) -> impl Iterator<Item = &Kept> {
        self.tables.values()
    }

    /// A table by its name. Case does not matter.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Kept> {
        self.tables.get(&name.to_ascii_lowercase())
    }

    /// What a question is in the algebra.
    ///
    /// # Errors
    /// [`Illegal`] if it is not understood.
    pub fn read(&self, written: &Written) -> Result<Question, Illegal> {
        match written {
            Written::Sql(text) => {
                sql::read(text, |name| self.table(name).map(|kept| &kept.held.public))
            }
            Written::Question(question) => Ok((**question).clone()),
        }
    }

    /// What a question would cost, and whether it would be paid for. Nothing is written, and no data are looked at.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn price(&self, asker: &Bearer, ask: &Ask) -> Result<Priced, Denied> {
        let (kept, ready) = self.ready(asker, ask)?;
        let payer = payer(asker, ask);
        let price = table::price_of(&self.pool, &kept.held, &ready, &payer)?;
        let answered =
            self.pool.with(|ledger| match ledger.response(&ask.account, ready.key()) {
                Err(LedgerError::Unknown { .. }) => Ok(None),
                other => other,
            })?;
        let half_widths = ready.half_widths(ask.confidence)?;
        let (charge, refusal, spend) = (price.charge, price.refusal, ready.spend());
        Ok(Priced { charge, refusal, spend, is_free: answered.is_some(), half_widths })
    }

    /// Reads and checks questions. Nothing is charged, and no data are looked at.
    #[must_use]
    pub fn prepare(&self, asker: &Bearer, asks: Vec<Ask>) -> Prepared {
        let ready = asks.iter().map(|ask| {
            let (kept, ready) = self.checked(asker, ask)?;
            Ok((kept.held.public.name().to_owned(), ready))
        });
        Prepared { ready: ready.collect(), asks }
    }

    /// The engines that prepared questions are put to, unless they are stored.
    #[must_use]
    pub fn engines(&self, prepared: &Prepared) -> BTreeSet<Location> {
        let tables = prepared.ready.iter().filter_map(|ready| ready.as_ref().ok());
        let kept = tables.filter_map(|(table, _)| self.table(table));
        kept.map(|kept| kept.location.clone()).collect()
    }

    /// The answers to prepared questions, if no engine is needed for any of them: what is not refused is stored.
    #[must_use]
    pub fn remembered(
        &self,
        asker: &Bearer,
        prepared: &Prepared,
    ) -> Option<Vec<Result<Answer, Denied>>> {
        let due = self.due(asker, prepared);
        let told = due.iter().map(|due| table::remembered(&self.pool, due).transpose());
        let told = told.collect::<Option<Vec<_>>>()?;
        Some(outcomes(prepared, told))
    }

    /// Answers prepared questions, each as if it were asked alone and in this order: debited, run, drawn and stored, or stored
    /// before. Those about one table are run together.
    ///
    /// What becomes of each never depends on the data, but for the numbers of an answer.
    #[must_use]
    pub fn answer(
        &self,
        asker: &Bearer,
        prepared: &Prepared,
        stages: &Stages,
    ) -> Vec<Result<Answer, Denied>> {
        let due = self.due(asker, prepared);
        let told = table::tell_all(&self.pool, &due, self.timing.limit, stages);
        let asks = prepared.asks.iter().zip(&prepared.ready).filter(|(_, ready)| ready.is_ok());
        for (((ask, _), due), told) in asks.zip(&due).zip(&told) {
            if told.as_ref().is_ok_and(|told| !told.is_repeated) {
                self.texts.note(due.ready.key(), &ask.written);
            }
        }
        outcomes(prepared, told)
    }

    /// Answers a question: prepared and answered.
    ///
    /// # Errors
    /// [`Denied`]; what it says never depends on the data.
    pub fn ask(&self, asker: &Bearer, ask: &Ask) -> Result<Answer, Denied> {
        let prepared = self.prepare(asker, vec![ask.clone()]);
        let answered = self.answer(asker, &prepared, &Stages::default());
        answered.into_iter().next().unwrap_or_else(|| Err(not_yours("account", &ask.account)))
    }

    /// Those that are legal.
    fn due<'a>(&'a self, asker: &'a Bearer, prepared: &'a Prepared) -> Vec<Due<'a>> {
        let both = prepared.asks.iter().zip(&prepared.ready);
        let legal = both.filter_map(|(ask, ready)| {
            let (table, ready) = ready.as_ref().ok()?;
            Some(Due { held: &self.table(table)?.held, ready, payer: payer(asker, ask) })
        });
        legal.collect()
    }

    /// Answers a question from rows that are made up from what is public. Nothing is charged or stored, and no data are
    /// looked at; noise is drawn as it would be.
    ///
    /// # Errors
    /// [`Denied`], for what would be no question about the table either.
    pub fn rehearse(&self, asker: &Bearer, ask: &Ask) -> Result<Vec<Number>, Denied> {
        let (kept, question, spend) = self.costed(asker, ask)?;
        let failed = |error| Denied::from(Unanswered::Dummy(error));
        let dummy = self.dummy(&kept.held).map_err(failed)?;
        let ready = self.ready_for(ask, (&dummy.held, &question, spend))?;
        let deadline = Instant::now() + self.timing.limit;
        let drawn = table::rehearsed(&dummy.held, &ready, deadline).map_err(failed)?;
        let measured = (ready.checked(), ready.measured());
        Ok(table::numbers(&drawn, measured, ask.confidence)?)
    }

    fn dummy(&self, held: &Held) -> Result<Arc<Dummy>, Failed> {
        let mut dummies = self.dummies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = dummies.get(held.public.name()) {
            return Ok(Arc::clone(made));
        }
        let made = Arc::new(Dummy::of(&held.public)?);
        dummies.insert(held.public.name().to_owned(), Arc::clone(&made));
        Ok(made)
    }

    /// What is left of an account, and for how many questions of such a cost.
    ///
    /// # Errors
    /// [`Denied::NotYours`] if the asker has no business with it.
    pub fn left(&self, asker: &Bearer, account: &str, like: Option<&Cost>) -> Result<Left, Denied> {
        may_use(asker, account)?;
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let mut accounts = status.accounts.into_iter();
        let mut status = accounts.next().ok_or_else(|| not_yours("account", account))?;
        let own = |quota: &counterpoint_wire::ledger::QuotaStatus| quota.analyst == asker.name;
        status.quotas.retain(own);
        let more = like.map(|cost| {
            let balances = [(&status.capacity, &status.spent)];
            let quotas = status.quotas.iter().map(|quota| (&quota.capacity, &quota.spent));
            let all = balances.into_iter().chain(quotas);
            all.map(|(capacity, spent)| times(capacity, spent, cost)).min().unwrap_or_default()
        });
        Ok(Left { status, more })
    }

    /// The same, checked in everything that could fail after a debit.
    fn checked(&self, asker: &Bearer, ask: &Ask) -> Result<(&Kept, Ready), Denied> {
        let (kept, ready) = self.ready(asker, ask)?;
        ready.half_widths(ask.confidence)?;
        Ok((kept, ready))
    }

    /// The table of a question, and the question ready to be asked of it.
    fn ready(&self, asker: &Bearer, ask: &Ask) -> Result<(&Kept, Ready), Denied> {
        let (kept, question, spend) = self.costed(asker, ask)?;
        let ready = self.ready_for(ask, (&kept.held, &question, spend))?;
        Ok((kept, ready))
    }

    /// A question ready to be asked, with the count of another slot if its own slot says so.
    fn ready_for(
        &self,
        ask: &Ask,
        (held, question, spend): (&Held, &Question, Spend),
    ) -> Result<Ready, Denied> {
        let (Pay::Slot(slot), Spend::Style(_)) = (&ask.pay, spend) else {
            return Ok(Ready::new(held, question, spend, slot(&ask.pay))?.at(ask.confidence)?);
        };
        let declared = |slot: &str| self.pool.with(|ledger| ledger.declared(&ask.account, slot));
        let shared = match declared(slot)?.shared_count() {
            Some(count) => Some((declared(&count)?, count)),
            None => None,
        };
        let shared = shared.as_ref().map(|(declared, count)| (count.as_str(), declared));
        Ok(Ready::in_slot(held, (question.check(&held.public)?, spend), slot, shared)?)
    }

    /// The table of a question, the question, and what it may spend.
    fn costed(&self, asker: &Bearer, ask: &Ask) -> Result<(&Kept, Question, Spend), Denied> {
        may_use(asker, &ask.account)?;
        let question = self.read(&ask.written)?;
        let kept = self.kept(&question.table)?;
        self.pays(&ask.account, kept)?;
        let spend = match &ask.pay {
            Pay::Epsilon(epsilon) => Spend::Epsilon(*epsilon),
            Pay::Rho(rho) => Spend::Rho(*rho),
            Pay::Slot(slot) => {
                let declared = self.pool.with(|ledger| ledger.declared(&ask.account, slot))?;
                spend_in(slot, &declared, &question.check(&kept.held.public)?)?
            }
            Pay::Error(error) => {
                let concentrated = self.goes_by_rho(&ask.account)?;
                least(&kept.held, &question, (*error, ask.confidence), concentrated)?
            }
        };
        Ok((kept, question, spend))
    }

    fn kept(&self, table: &str) -> Result<&Kept, Illegal> {
        self.table(table).ok_or_else(|| {
            let place = format!("table {table:?}");
            Illegal::new(place, "is not here", "a table that the service lists")
        })
    }

    /// An error unless an account pays for questions about all of a table.
    fn pays(&self, account: &str, kept: &Kept) -> Result<(), Denied> {
        let (dataset, part) = self.about(account)?;
        if dataset == kept.dataset && part.is_none() {
            return Ok(());
        }
        let table = kept.held.public.name();
        let problem = format!("does not pay for questions about all of table {table:?}");
        let legal = format!("an account under data set {:?}", kept.dataset);
        Err(Illegal::new(format!("account {account:?}"), problem, legal).into())
    }

    fn about(&self, account: &str) -> Result<About, LedgerError> {
        let known = || self.about.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(about) = known().get(account) {
            return Ok(about.clone());
        }
        let about = self.pool.with(|ledger| ledger.dataset_of(account))?;
        known().insert(account.to_owned(), about.clone());
        Ok(about)
    }

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
        Ok(table_session::open(&self.pool, &kept.held, &owner, slot, &opening.declared)?)
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
        Ok(table_session::timed(&self.pool, held, &owner, (name, &asked), deadline, stages)?)
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
        let shown = table_session::remembered(&self.pool, &kept.held, &owner, name, &asked)?;
        Ok((kept.location.clone(), shown))
    }

    /// The owner's own mechanisms, in order of their names.
    pub fn mechanisms(&self) -> impl Iterator<Item = &Registered> {
        self.mechanisms.values()
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
        Ok(table_session::open_registered(&self.pool, &kept.held, &owner, slot, registered)?)
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
        Ok(table_session::ask_registered(&self.pool, &owner, asked, registered, limit)?)
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
        let stored = table_session::remembered_registered(&self.pool, &owner, asked)?;
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
        let registered = self.mechanisms.get(name).ok_or_else(|| not_yours("mechanism", name))?;
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
        table_session::close(&self.pool, &owner(asker, account, key))?;
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
        let found = found.ok_or_else(|| not_yours("session", key))?;
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

    /// Whether Gaussian noise is what an account's currency is made for.
    fn goes_by_rho(&self, account: &str) -> Result<bool, LedgerError> {
        let status = self.pool.with(|ledger| ledger.status(Some(account)))?;
        let kind = status.accounts.first().map(|account| account.kind.clone());
        Ok(kind.is_some_and(|kind| kind != "sums" && kind != "plan"))
    }
}

/// What became of each question, in their order. There is one told for each that is legal.
fn outcomes(
    prepared: &Prepared,
    told: Vec<Result<Told, Unanswered>>,
) -> Vec<Result<Answer, Denied>> {
    let mut told = told.into_iter();
    let one = |(ask, ready): (&Ask, &Result<(String, Ready), Denied>)| {
        let (_, ready) = ready.as_ref().map_err(Denied::clone)?;
        answer(&told.next().ok_or_else(|| not_yours("table", &ask.account))??, ready, ask)
    };
    prepared.asks.iter().zip(&prepared.ready).map(one).collect()
}

fn answer(told: &Told, ready: &Ready, ask: &Ask) -> Result<Answer, Denied> {
    let numbers = told.numbers(ready, ask.confidence)?;
    let (charge, entry) = (told.charge.clone(), told.entry);
    Ok(Answer { numbers, charge, entry, is_repeated: told.is_repeated, ran: told.ran })
}

fn slot(pay: &Pay) -> Option<&str> {
    match pay {
        Pay::Slot(slot) => Some(slot),
        _ => None,
    }
}

fn payer<'a>(asker: &'a Bearer, ask: &'a Ask) -> Payer<'a> {
    let alias = ask.key.as_ref().map(|key| Hash::of(key.as_bytes()));
    Payer { account: &ask.account, analyst: Some(&asker.name), alias }
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

fn not_yours(what: &'static str, name: &str) -> Denied {
    Denied::NotYours { what, name: name.chars().take(100).collect() }
}

pub(crate) fn may_use(asker: &Bearer, account: &str) -> Result<(), Denied> {
    let own = asker.accounts.iter().any(|own| own == account);
    if own { Ok(()) } else { Err(not_yours("account", account)) }
}

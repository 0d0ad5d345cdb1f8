//! Questions to a curator: priced, prepared, answered, rehearsed.

use super::accounts::may_use;
use super::curator::{Curator, Kept};
use super::request::{Answer, Ask, Denied, Pay, Priced};
use crate::answer::{self, Due, Number, Payer, Ready, Stages, Told, Unanswered, least, spend_in};
use crate::engine::{Dummy, Failed, Held, Location};
use crate::state::Bearer;
use counterpoint_ledger::Hash;
use counterpoint_questions::Spend;
use counterpoint_questions::question::Question;
use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// Questions that were read and checked. Nothing is charged yet, and no data were looked at.
#[derive(Clone, Debug)]
pub struct Prepared {
    asks: Vec<Ask>,
    /// The table and the question, for each that is legal.
    ready: Vec<Result<(String, Ready), Denied>>,
}

impl Curator {
    /// What a question would cost, and whether it would be paid for. Nothing is written, and no data are looked at.
    ///
    /// # Errors
    /// [`Denied`].
    pub fn price(&self, asker: &Bearer, ask: &Ask) -> Result<Priced, Denied> {
        let (kept, ready) = self.ready(asker, ask)?;
        let payer = payer(asker, ask);
        let price = answer::price_of(&self.pool, &kept.held, &ready, &payer)?;
        let answered = answer::response(&self.pool, &ask.account, ready.key())?;
        let half_widths = ready.half_widths(ask.confidence)?;
        let (charge, refusal, spend) = (price.charge, price.refusal, ready.spend());
        Ok(Priced { charge, refusal, spend, is_free: answered.is_some(), half_widths })
    }

    /// Reads and checks questions. Nothing is charged, and no data are looked at.
    #[must_use]
    pub fn prepare(&self, asker: &Bearer, asks: Vec<Ask>) -> Prepared {
        let ready = asks.iter().map(|ask| {
            let (kept, ready) = self.ready(asker, ask)?;
            // Whatever could fail after a debit fails before it.
            ready.half_widths(ask.confidence)?;
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
        let told = due.iter().map(|due| answer::remembered(&self.pool, due).transpose());
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
        let told = answer::tell_all(&self.pool, &due, self.timing.limit, stages);
        let asks = prepared.asks.iter().zip(&prepared.ready).filter(|(_, ready)| ready.is_ok());
        for (((ask, _), due), told) in asks.zip(&due).zip(&told) {
            if told.as_ref().is_ok_and(|told| !told.is_repeated) {
                self.texts.note(due.ready.key(), &ask.written.text());
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
        answered
            .into_iter()
            .next()
            .unwrap_or_else(|| Err(Denied::not_yours("account", &ask.account)))
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
        let drawn = answer::rehearsed(&dummy.held, &ready, deadline).map_err(failed)?;
        let measured = (ready.checked(), ready.measured());
        Ok(answer::numbers(&drawn, measured, ask.confidence)?)
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
}

/// What became of each question, in their order. There is one told for each that is legal.
fn outcomes(
    prepared: &Prepared,
    told: Vec<Result<Told, Unanswered>>,
) -> Vec<Result<Answer, Denied>> {
    let mut told = told.into_iter();
    let one = |(ask, ready): (&Ask, &Result<(String, Ready), Denied>)| {
        let (_, ready) = ready.as_ref().map_err(Denied::clone)?;
        shown(&told.next().ok_or_else(|| Denied::not_yours("table", &ask.account))??, ready, ask)
    };
    prepared.asks.iter().zip(&prepared.ready).map(one).collect()
}

fn shown(told: &Told, ready: &Ready, ask: &Ask) -> Result<Answer, Denied> {
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

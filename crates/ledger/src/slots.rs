//! What declared slots cost together and what they may be used for: the seam to the core's
//! declared plans. The same functions decide now and when the history is verified.

use counterpoint::quantity::{Count, Delta, Epsilon};
use counterpoint::{Options, Relation};
use counterpoint_budget::{
    Amount, Filter, FilterError, GRID_PLACES, OpenError, PlanAccount, Query, Terms, covers,
};
use counterpoint_wire::Question;
use counterpoint_wire::ledger::{self as wire, Described, PlanRecord, Rule};

use crate::database::VERSION;
use crate::error::{LedgerError, Refusal};
use crate::query::{opening, query, times};
use crate::rows::{Account, Balance, Slot};

/// The last format in which plans did not say how their slots are read.
const BEFORE: u64 = 3;

/// What all slots cost together: optimal composition, certified, at the delta or epsilon
/// asked for, which is rounded to the safe side.
pub(crate) fn certify(
    question: &(Question, Amount),
    slots: Vec<wire::Slot>,
    relation: Relation,
) -> Result<PlanRecord, LedgerError> {
    let format = VERSION.unsigned_abs();
    let plan = composed(&slots, relation, format)?;
    let (format, (question, given)) = (Some(format), question);
    let out_of_range =
        |error: counterpoint::OutOfRange| LedgerError::from(FilterError::from(error));
    let found = match question {
        Question::EpsilonAt(_) => {
            plan.epsilon(Delta::new(given.lower()).map_err(out_of_range)?, &Options::default())
        }
        Question::DeltaAt(_) => {
            plan.delta(Epsilon::new(given.lower()).map_err(out_of_range)?, &Options::default())
        }
    };
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    let upper = Amount::from_f64(found.bracket.upper)
        .ok_or_else(|| LedgerError::Uncertified("the cost is not finite".to_owned()))?;
    Ok(match question {
        // Deltas may be far below the grid: they are kept as they are.
        Question::DeltaAt(_) => PlanRecord { epsilon: given.clone(), delta: upper, slots, format },
        Question::EpsilonAt(_) => {
            PlanRecord { epsilon: upper.ceil(GRID_PLACES), delta: given.clone(), slots, format }
        }
    })
}

/// Whether a plan's slots are read as a ledger of this format reads them.
pub(crate) fn is_of(plan: &PlanRecord, format: u64) -> bool {
    plan.format.unwrap_or(BEFORE) == format.max(BEFORE)
}

/// The format whose reading the slots of an account have.
pub(crate) fn format_of(rule: &Rule) -> u64 {
    match rule {
        Rule::Plan(plan) => plan.format.unwrap_or(BEFORE),
        _ => BEFORE,
    }
}

/// Whether the slots are known to cost more than a stored plan says.
pub(crate) fn understated(plan: &PlanRecord, relation: Relation) -> Result<bool, LedgerError> {
    let composed = composed(&plan.slots, relation, plan.format.unwrap_or(BEFORE))?;
    let out_of_range =
        |error: counterpoint::OutOfRange| LedgerError::from(FilterError::from(error));
    let epsilon = Epsilon::new(plan.epsilon.upper()).map_err(out_of_range)?;
    let found = composed.delta(epsilon, &Options::default());
    let found = found.map_err(|error| LedgerError::Uncertified(error.to_string()))?;
    Ok(Amount::from_f64(found.bracket.lower).is_none_or(|lower| lower > plan.delta))
}

/// Slots that a data set with this relation may declare together.
fn composed(
    slots: &[wire::Slot],
    relation: Relation,
    format: u64,
) -> Result<PlanAccount, LedgerError> {
    plan(relation, all_openings(slots, relation, format)?)
}

/// The queries of all openings of slots.
fn all_openings(
    slots: &[wire::Slot],
    relation: Relation,
    format: u64,
) -> Result<Vec<Query>, LedgerError> {
    let mut queries = Vec::with_capacity(slots.len());
    for slot in slots {
        let count = Count::new(slot.release.count()?).map_err(FilterError::from)?;
        queries.extend(times(opening(relation, &slot.release, format)?, count)?);
    }
    Ok(queries)
}

/// Whether a slot, opened so many times, dominates what is run in it each time. Releases that
/// are run together take one opening.
pub(crate) fn runs(
    account: &Account,
    slot: &Slot,
    count: u64,
    run: &[Described],
    format: u64,
) -> Result<(), LedgerError> {
    let declared = slot.release.opening_in(format_of(&account.rule))?;
    let query = |one: &Described| query(account.relation, one, format);
    let queries: Vec<Query> = run.iter().map(query).collect::<Result<_, _>>()?;
    // More openings than there can be are refused later, by the slot's balance.
    let count = Count::new(count.min(slot.total)).unwrap_or(Count::ONE);
    let queries = match queries.as_slice() {
        _ if count == Count::ONE => queries,
        [one] if one.count() == Count::ONE => vec![one.clone().times(count)],
        _ => {
            let problem = format!("would run several releases in each of {} openings", count.get());
            let legal = "one release each time, or several in one opening";
            return Err(account.unfit(&problem, legal));
        }
    };
    let terms = Terms::new(account.relation.adjacency());
    let covered = covers(&times(declared, count)?, &queries, terms);
    covered.map(drop).map_err(|error| uncovered(account, error.into()))
}

/// Whether one opening of a slot dominates all that an open account promises.
pub(crate) fn holds(account: &Account, slot: &Slot, filter: &Filter) -> Result<(), LedgerError> {
    let opening = slot.release.opening_in(format_of(&account.rule))?;
    if opening.len() > 1 {
        return Err(account.unfit("has several releases in the slot", "a slot of one release"));
    }
    let mut plan = plan(account.relation, opening)?;
    plan.open_filter(0, filter).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// Whether so many openings of slots dominate new slots, all together.
pub(crate) fn dominate(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<(), LedgerError> {
    let format = format_of(&account.rule);
    // The queries of one opening of each slot, and how often each is given up.
    let (mut declared, mut openings) = (Vec::new(), Vec::new());
    for (slot, count) in unused {
        let total = Count::new(slot.total).map_err(FilterError::from)?;
        let opening = slot.release.opening_in(format)?;
        for (one, all) in opening.iter().zip(times(opening.clone(), total)?) {
            let given = one.count().get().saturating_mul(*count);
            openings.push((declared.len(), given));
            declared.push(all);
        }
    }
    let wanted = all_openings(into, account.relation, format)?;
    let mut plan = plan(account.relation, declared)?;
    plan.recut(&openings, wanted).map_err(|error| uncovered(account, error))?;
    Ok(())
}

/// How often a slot is used once it is opened so many times more.
pub(crate) fn opened(account: &Account, slot: &Slot, count: u64) -> Result<u64, LedgerError> {
    let left = slot.total.saturating_sub(slot.used);
    if count <= left {
        return Ok(slot.used + count);
    }
    let place = format!("slot {:?} of account {:?}", slot.name, account.name);
    let (asked, left, capacity) = (count.into(), left.into(), slot.total.into());
    Err(Refusal::new(place, "uses".to_owned(), [asked, left, capacity]).into())
}

/// What a recut leaves: how often each slot is used then, and the account's balance.
pub(crate) fn recut(
    account: &Account,
    unused: &[(Slot, u64)],
    into: &[wire::Slot],
) -> Result<(Vec<u64>, Balance), LedgerError> {
    let used: Result<Vec<u64>, LedgerError> =
        unused.iter().map(|(slot, count)| opened(account, slot, *count)).collect();
    let sum = |start: &Amount, counts: &mut dyn Iterator<Item = u64>| {
        counts.fold(start.clone(), |sum, count| &sum + &Amount::from(count))
    };
    let mut balance = account.balance.clone();
    balance.spent.main = sum(&balance.spent.main, &mut unused.iter().map(|(_, count)| *count));
    balance.capacity.main = sum(&balance.capacity.main, &mut into.iter().map(|slot| slot.count));
    Ok((used?, balance))
}

/// Slots are opened by hand, not shared out: an account with quotas is left as it is.
pub(crate) fn unshared(account: &Account) -> Result<(), LedgerError> {
    match account.rule {
        Rule::Plan(_) if account.quotas == 0 => Ok(()),
        Rule::Plan(_) => Err(account.unfit("has quotas", "a plan account without")),
        _ => Err(account.unfit("is an open account", "a plan account")),
    }
}

fn plan(relation: Relation, declared: Vec<Query>) -> Result<PlanAccount, LedgerError> {
    PlanAccount::new(declared, Terms::new(relation.adjacency()))
        .map_err(|error| LedgerError::Uncertified(error.to_string()))
}

fn uncovered(account: &Account, error: OpenError) -> LedgerError {
    LedgerError::Uncovered { account: account.name.clone(), error: Box::new(error) }
}

//! Data sets, accounts and quotas.

use anyhow::{Context, Result, bail};
use counterpoint::{Delta, Epsilon, Relation};
use counterpoint_budget::Amount;
use counterpoint_ledger::{FilterKind, Head, Ledger, NewAccount, NewFilter, NewQuota, Transfer};
use counterpoint_wire::Question;
use counterpoint_wire::ledger::PromiseRecord;

use super::args::{DatasetArgs, MoveArgs, OpenArgs, QuotaArgs, RecutArgs};
use crate::input;

pub(super) fn dataset(ledger: &mut Ledger, args: &DatasetArgs) -> Result<Head> {
    let (epsilon, delta) = (args.budget.epsilon.clone(), args.budget.delta.clone());
    let budget = NewFilter::new(args.filter, epsilon, delta);
    let relation = Relation::new(args.adjacency, args.records)?;
    Ok(ledger.add_dataset(&args.name, relation, &budget)?)
}

/// Opens an account; returns the head and the plan's warnings.
pub(super) fn open(ledger: &mut Ledger, args: &OpenArgs) -> Result<(Head, Vec<String>)> {
    let mut warnings = Vec::new();
    let new = match (&args.plan, args.filter) {
        (Some(path), _) => {
            let plan = input::exact_plan(path).with_context(|| input::input_name(path))?;
            warnings.clone_from(&plan.warnings);
            NewAccount::Plan(plan, question(args)?)
        }
        (None, Some(kind)) => NewAccount::Filter(filter(kind, args)?),
        (None, None) => bail!("neither --plan nor --filter is given; legal: exactly one of them"),
    };
    let head = match (&args.dataset, &args.within, &args.slot, &new) {
        (Some(dataset), ..) => ledger.open_account(&args.account, dataset, &new)?,
        (_, Some(within), Some(slot), NewAccount::Filter(filter)) => {
            ledger.open_in_slot(&args.account, within, slot, filter)?
        }
        _ => bail!(
            "neither --dataset nor --within is given; legal: --dataset, or --within and --slot"
        ),
    };
    Ok((head, warnings))
}

/// The filter of an open account.
fn filter(kind: FilterKind, args: &OpenArgs) -> Result<NewFilter> {
    let mut filter = NewFilter::with_promise(kind, promise(args)?);
    (filter.order, filter.leaks) = (args.order, args.leaks.clone());
    if args.no_leaks {
        filter = filter.without_leaks();
    }
    if let Some(path) = &args.expect {
        filter.expected =
            input::exact_plan(path).with_context(|| input::input_name(path))?.releases;
    }
    Ok(filter)
}

/// The promise of an open account.
fn promise(args: &OpenArgs) -> Result<PromiseRecord> {
    let OpenArgs { epsilon, delta, rho, mu, order, tau, .. } = args;
    Ok(match (epsilon.clone(), delta.clone(), rho.clone(), mu.clone(), tau.clone()) {
        (Some(epsilon), Some(delta), None, None, None) => {
            PromiseRecord::ApproxDp { epsilon, delta }
        }
        (None, delta, Some(rho), None, None) => {
            PromiseRecord::Zcdp { rho, delta: delta.unwrap_or_default() }
        }
        (None, None, None, Some(mu), None) => PromiseRecord::Gdp { mu },
        (None, None, None, None, Some(tau)) => {
            let order = order.and_then(|order| Amount::from_f64(order.get()));
            PromiseRecord::Renyi {
                order: order.context("--order is missing; legal: --tau with --order")?,
                tau,
            }
        }
        _ => bail!(
            "the promise of the open account is missing or ambiguous; legal: --epsilon and --delta, --rho (and --delta), \
             --mu, or --order and --tau"
        ),
    })
}

pub(super) fn recut(ledger: &mut Ledger, args: &RecutArgs) -> Result<(Head, Vec<String>)> {
    let into = input::exact_plan(&args.into).with_context(|| input::input_name(&args.into))?;
    Ok((ledger.recut(&args.account, &args.unused, &into)?, into.warnings))
}

/// The question on the command line, which replaces the plan's.
fn question(args: &OpenArgs) -> Result<Option<(Question, Amount)>> {
    Ok(match (&args.delta, &args.epsilon) {
        (Some(_), Some(_)) => {
            bail!("--delta and --epsilon are both given with a plan; legal: one of them")
        }
        (Some(delta), None) => {
            Some((Question::EpsilonAt(Delta::new(delta.lower())?), delta.clone()))
        }
        (None, Some(epsilon)) => {
            Some((Question::DeltaAt(Epsilon::new(epsilon.lower())?), epsilon.clone()))
        }
        (None, None) => None,
    })
}

pub(super) fn quota(ledger: &mut Ledger, args: &QuotaArgs) -> Result<Head> {
    let quota = match (&args.share, args.releases, &args.epsilon, &args.delta) {
        (Some(share), ..) => NewQuota::Share(share.clone()),
        (None, Some(count), ..) => NewQuota::Releases(count),
        (None, None, Some(epsilon), Some(delta)) => {
            NewQuota::Cost { epsilon: epsilon.clone(), delta: delta.clone() }
        }
        _ => bail!("the quota is missing; legal: --share, --epsilon and --delta, or --releases"),
    };
    let (account, analyst) = (&args.account, &args.analyst);
    Ok(match args.change {
        true => ledger.change_quota(account, analyst, &quota)?,
        false => ledger.add_quota(account, analyst, &quota)?,
    })
}

pub(super) fn transfer(ledger: &mut Ledger, args: &MoveArgs) -> Result<Head> {
    let new = Transfer::new(&args.from, &args.to, &args.key, args.amount.clone());
    Ok(ledger.move_budget(&new.with_delta(args.delta.clone().unwrap_or_default()))?)
}

//! Transfers of unspent budget from one account to another.

use counterpoint_wire::ledger::{Cost, Event};

use crate::rules::chain::Head;
use crate::rules::error::{LedgerError, Result};
use crate::rules::name;
use crate::rules::transfer::{Transfer, cannot_move, transfer};
use crate::store::find;
use crate::store::ledger::{Ledger, append, now};
use crate::store::tables::Tables;

impl Ledger {
    /// Moves unspent budget from an account to another of the same data set. The data set's promise does not change. A
    /// transfer with the same key happens once.
    ///
    /// # Errors
    /// [`LedgerError::Refused`] if the account has less left, [`LedgerError::Unfit`] if no theorem allows a transfer
    /// between the two accounts.
    pub fn move_budget(&mut self, new: &Transfer) -> Result<Head> {
        name::check_name("key", &new.key)?;
        self.write(|tables, head| {
            let from = find::account_not_dataset(tables, &new.from)?;
            let to = find::account_not_dataset(tables, &new.to)?;
            let amount = Cost { main: new.amount.clone(), delta: new.delta.clone(), pure: None };
            if let Some(known) = earlier_transfer(tables, &new.from, &new.key)? {
                if known != (new.to.clone(), amount) {
                    return Err(LedgerError::KeyInUse { key: new.key.clone() });
                }
                return tables.touch(head);
            }
            let parent = tables.account(from.parent.as_deref().unwrap_or_default())?;
            let dataset = parent.filter(|parent| parent.parent.is_none());
            let dataset = dataset.ok_or_else(|| cannot_move(&from, "is within a slot"))?;
            let (less, more) = transfer(&dataset, &from, &to, &amount)?;
            let event = Event::Move {
                at: now(),
                account: new.from.clone(),
                to: new.to.clone(),
                key: new.key.clone(),
                amount,
            };
            let head = append(tables, head, &event)?;
            tables.change_capacity(&from, &less)?;
            tables.change_capacity(&to, &more)?;
            Ok(head)
        })
    }
}

/// The receiving account and the amount of an earlier transfer with this key, if there was one.
fn earlier_transfer(
    tables: &mut Tables<'_>,
    account: &str,
    key: &str,
) -> Result<Option<(String, Cost)>> {
    for body in tables.moves_of(account)? {
        if let Event::Move { key: other, to, amount, .. } = Event::read(&body)?
            && other == key
        {
            return Ok(Some((to, amount)));
        }
    }
    Ok(None)
}

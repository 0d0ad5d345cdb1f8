// Charges and balances, in words.

import { amount } from './dom.js';

/**
 * @typedef {import('./curator.js').Charge} Charge
 * @typedef {import('./curator.js').Left} Left
 */

/**
 * An amount of an account's currency.
 * @param {Charge} charge
 */
export function priced(charge) {
  const delta = charge.delta > 0 ? ` and delta ${amount(charge.delta, 3)}` : '';
  return `${amount(charge.amount)} ${charge.unit}${delta}`;
}

/** @param {Left} left */
export function remaining(left) {
  return `${amount(left.amount, 4, 'floor')} of ${amount(left.of, 6, 'floor')} ${left.unit} left`;
}

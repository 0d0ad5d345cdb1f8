// Texts for charges and balances.

import { formatNumber } from './dom.js';

/**
 * @typedef {import('./curator_client.js').Charge} Charge
 * @typedef {import('./curator_client.js').Balance} Balance
 */

/**
 * A charge with its unit.
 * @param {Charge} charge
 */
export function priced(charge) {
  const delta = charge.delta > 0 ? ` and delta ${formatNumber(charge.delta, 3)}` : '';
  return `${formatNumber(charge.amount)} ${charge.unit}${delta}`;
}

/** @param {Balance} left */
export function remaining(left) {
  return `${formatNumber(left.amount, 4, 'floor')} of ${formatNumber(left.of, 6, 'floor')} ${left.unit} left`;
}

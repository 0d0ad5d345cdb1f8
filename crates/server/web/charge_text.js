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
export function chargeText(charge) {
  const delta = charge.delta > 0 ? ` and delta ${formatNumber(charge.delta, 3)}` : '';
  const unit = charge.unit === 'releases' && charge.amount === 1 ? 'release' : charge.unit;
  return `${formatNumber(charge.amount)} ${unit}${delta}`;
}

/**
 * The remaining budget with its unit.
 * @param {Balance} left
 */
export function balanceText(left) {
  return `${formatNumber(left.amount, 4, 'floor')} of ${formatNumber(left.of, 6, 'floor')} ${left.unit} left`;
}

// The questions that were asked of an account, kept for this tab.

import { priced } from './amounts.js';
import { store, stored } from './curator.js';
import { at, h } from './dom.js';

/**
 * @typedef {import('./curator.js').Answer} Answer
 * @typedef {import('./curator.js').Question} Question
 * @typedef {{question: Question, cost: string}} Asked
 */

/** So many questions are kept. */
const MOST_KEPT = 100;

/**
 * Where the questions of an account are kept.
 * @param {string | undefined} who
 * @param {string} account
 */
function place(who, account) {
  return `asked.${who}.${account}`;
}

/**
 * Keeps a question with what it cost.
 * @param {string | undefined} who
 * @param {Question} question
 * @param {Answer} answer
 */
export function remember(who, question, answer) {
  const where = place(who, question.account);
  /** @type {Asked[]} */
  const list = stored(where) ?? [];
  const same = list.find((each) => JSON.stringify(each.question) === JSON.stringify(question));
  const cost = answer.repeated ? same?.cost ?? 'nothing, as it was answered before' : priced(answer.cost);
  store(where, [{ question, cost }, ...list.filter((each) => each !== same)].slice(0, MOST_KEPT));
}

/**
 * Shows the questions that were asked of an account.
 * @param {string | undefined} who
 * @param {string} account
 * @param {(question: Question) => void} again asks one of them again
 */
export function showAsked(who, account, again) {
  /** @type {Asked[]} */
  const list = stored(place(who, account)) ?? [];
  at('asked').hidden = list.length === 0;
  at('asked-list').replaceChildren(...list.map(({ question, cost }) => h('li', {},
    h('code', {}, question.sql),
    h('span', { class: 'line between' },
      h('span', { class: 'hint' }, `${payment(question)}; it cost ${cost}`),
      h('button', { type: 'button', onclick: () => again(question) }, 'Ask again for nothing',
        h('span', { class: 'hidden' }, `: ${question.sql}`))))));
}

/** @param {Question} question */
function payment({ epsilon, rho, error, slot }) {
  if (epsilon !== undefined) return `epsilon ${epsilon}`;
  if (rho !== undefined) return `rho ${rho}`;
  return error !== undefined ? `error ${error}` : `slot ${slot}`;
}

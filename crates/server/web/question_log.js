// The questions that this tab asked of an account.

import { chargeText } from './charge_text.js';
import { loadStored, store } from './curator_client.js';
import { byId, h } from './dom.js';

/**
 * @typedef {import('./curator_client.js').Answer} Answer
 * @typedef {import('./curator_client.js').Question} Question
 * @typedef {{question: Question, cost: string}} LogEntry
 */

/** The most questions that are stored. */
const MAX_ENTRIES = 100;

/**
 * The name under which the questions of an account are stored.
 * @param {string | undefined} who
 * @param {string} account
 */
function storageName(who, account) {
  return `asked.${who}.${account}`;
}

/**
 * Stores a question and its cost.
 * @param {string | undefined} who
 * @param {Question} question
 * @param {Answer} answer
 */
export function remember(who, question, answer) {
  const name = storageName(who, question.account);
  /** @type {LogEntry[]} */
  const list = loadStored(name) ?? [];
  const same = list.find((each) => JSON.stringify(each.question) === JSON.stringify(question));
  const cost = answer.repeated ? same?.cost ?? 'nothing, because the question was answered before' : chargeText(answer.cost);
  store(name, [{ question, cost }, ...list.filter((each) => each !== same)].slice(0, MAX_ENTRIES));
}

/**
 * Shows the questions that this tab asked of an account.
 * @param {string | undefined} who
 * @param {string} account
 * @param {(question: Question) => void} again asks a question again
 */
export function showQuestionLog(who, account, again) {
  /** @type {LogEntry[]} */
  const list = loadStored(storageName(who, account)) ?? [];
  byId('asked').hidden = list.length === 0;
  byId('asked-list').replaceChildren(...list.map(({ question, cost }) => h('li', {},
    h('code', {}, question.sql),
    h('span', { class: 'line between' },
      h('span', { class: 'hint' }, `Asked with ${payment(question)}; the answer cost ${cost}.`),
      h('button', { type: 'button', onclick: () => again(question) }, 'Ask again for free',
        h('span', { class: 'hidden' }, `: ${question.sql}`))))));
}

/** @param {Question} question */
function payment({ epsilon, rho, error, slot }) {
  if (epsilon !== undefined) return `epsilon ${epsilon}`;
  if (rho !== undefined) return `rho ${rho}`;
  return error !== undefined ? `errors of at most ${error}` : `slot ${slot}`;
}

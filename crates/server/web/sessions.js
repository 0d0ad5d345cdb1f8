// Sessions: mechanisms that are paid for when they are opened, and then asked one question after another.

import { call, pages, words } from './curator.js';
import { at, blame, h, say } from './dom.js';
import { isAboutToken, shut } from './door.js';

/**
 * @typedef {{account: string, key: string, table: string, declared: Record<string, any>, answered: number, over: boolean}} Session
 * @typedef {{sql: string, reply: unknown}} Reply
 */

/** All that is shown: the sessions, and what was answered in this tab. */
const state = {
  /** @type {Session[]} */
  list: [],
  /** @type {Map<string, Reply[]>} */
  replies: new Map(),
};
/** @type {() => Promise<void>} */
let spent = async () => {};

const value = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (at(id)).value.trim();
const place = (/** @type {Session} */ { account, key }) => `sessions/${encodeURIComponent(account)}/${encodeURIComponent(key)}`;

/** @param {unknown} error */
function failed(error) {
  if (isAboutToken(error)) shut(error);
  else blame([], at('session-wrong'), words(error));
}

/** A number, or the text that is none, so that the server says what is wrong. @param {string} id */
function number(id) {
  const text = value(id);
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/**
 * What is to be opened, as the form has it.
 * @param {string} account
 */
function asked(account) {
  const own = { account, key: value('session-key'), table: value('session-table') };
  const [epsilon, answers, threshold] = ['session-epsilon', 'session-answers', 'session-threshold'].map(number);
  if (value('session-kind') === 'sparse_vector') return { ...own, sparse_vector: { epsilon, answers, threshold } };
  if (value('session-kind') === 'guess_and_check')
    return { ...own, guess_and_check: { epsilon, corrections: answers, tolerance: threshold } };
  return { ...own, sequence: Array.from({ length: Math.min(1000, Number(answers) || 0) }, () => ({ of: 'count', epsilon })) };
}

/**
 * Shows the sessions, and the form that opens one.
 * @param {string[]} tables
 * @param {() => string} account the one that pays
 * @param {() => Promise<void>} onSpent
 */
export async function sessions(tables, account, onSpent) {
  spent = onSpent;
  at('session-table').replaceChildren(...tables.map((name) => h('option', { value: name }, name)));
  const kind = () => {
    const { value } = /** @type {HTMLSelectElement} */ (at('session-kind'));
    say(at('session-answers-label'), { sparse_vector: 'Answers above', guess_and_check: 'Corrections', sequence: 'Counts' }[value] ?? '');
    say(at('session-threshold-label'), value === 'guess_and_check' ? 'Off by' : 'Threshold');
    at('session-threshold-line').hidden = value === 'sequence';
  };
  kind();
  at('session-kind').addEventListener('change', kind);
  at('session-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    blame([], at('session-wrong'), '');
    try {
      const opened = await call('sessions', asked(account()));
      say(at('session-said'), `Session ${opened.key} is open. ${opened.left.words} left.`);
      await load();
      await spent();
    } catch (error) {
      failed(error);
    }
  });
  await load();
}

async function load() {
  state.list = (await pages('sessions')).flatMap((page) => page.sessions);
  show();
}

function show() {
  at('session-list').replaceChildren(...state.list.map(item));
}

/**
 * @param {Session} session
 * @param {number} index
 */
function item(session, index) {
  const { account, key, table, declared, answered, over } = session;
  const [kind = ''] = Object.keys(declared);
  const [checks, isSequence, isOwn] = ['guess-and-check', 'sequence', 'own'].map((name) => name in declared);
  const sql = h('input', {
    id: `session-sql-${index}`,
    class: 'long',
    value: `SELECT COUNT(*) FROM ${table}`,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const guess = h('input', { size: 7, inputmode: 'decimal', autocomplete: 'off', 'aria-label': `Guess for ${key}`, placeholder: 'guess' });
  const epsilon = h('input', {
    size: 7,
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-label': `Epsilon for ${key}`,
    placeholder: 'epsilon',
  });
  const form = h(
    'form',
    {
      class: 'line',
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const more = { ...(checks ? { guess: Number(guess.value) } : {}), ...(isSequence ? { epsilon: Number(epsilon.value) } : {}) };
        ask(session, sql.value.trim(), more);
      },
    },
    h('label', { for: `session-sql-${index}` }, `Ask ${key}`),
    sql,
    checks && guess,
    isSequence && epsilon,
    h('button', { type: 'submit' }, 'Ask'),
  );
  const replies = state.replies.get(place(session)) ?? [];
  return h(
    'li',
    {},
    h(
      'span',
      { class: 'line between' },
      h(
        'span',
        {},
        h('b', {}, key),
        h('small', {}, ` ${kind.replaceAll('-', ' ')} on ${table}, paid by ${account}; ${answered} answered${over ? ', over' : ''}`),
      ),
      !over && h('button', { type: 'button', onclick: () => close(session) }, 'End', h('span', { class: 'hidden' }, ` session ${key}`)),
    ),
    !over && !isOwn && form,
    replies.length > 0 &&
      h(
        'ol',
        { class: 'replies', 'aria-label': `Answers of ${key}` },
        ...replies.map((one) => h('li', {}, h('code', {}, one.sql), ' ', h('b', {}, said(one.reply)))),
      ),
  );
}

/**
 * An answer in words.
 * @param {any} reply
 */
function said(reply) {
  if (typeof reply === 'string') return reply;
  const [[name, what] = ['', null]] = Object.entries(reply ?? {});
  return `${name}${what === null ? '' : ` ${typeof what === 'object' ? JSON.stringify(what) : what}`}`;
}

/**
 * @param {Session} session
 * @param {string} sql
 * @param {{guess?: number, epsilon?: number}} more
 */
async function ask(session, sql, more) {
  blame([], at('session-wrong'), '');
  try {
    const answer = await call(`${place(session)}/questions`, { name: crypto.randomUUID(), sql, ...more });
    const list = state.replies.get(place(session)) ?? [];
    state.replies.set(place(session), [{ sql, reply: answer.reply }, ...list]);
    say(at('session-said'), `${session.key} answered: ${said(answer.reply)}`);
    await load();
  } catch (error) {
    failed(error);
  }
}

/** @param {Session} session */
async function close(session) {
  blame([], at('session-wrong'), '');
  try {
    await call(place(session), undefined, undefined, 'DELETE');
    say(at('session-said'), `${session.key} is over. Nothing is refunded.`);
    await load();
  } catch (error) {
    failed(error);
  }
}

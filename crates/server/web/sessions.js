// Sessions: mechanisms that are charged when they are opened and then answer several questions, one by one.

import { balanceText } from './charge_text.js';
import { call, errorText, fetchPages, readable } from './curator_client.js';
import { byId, h, setProblem, setText } from './dom.js';
import { isAboutToken, logOut } from './login.js';

/**
 * @typedef {{account: string, key: string, table: string, declared: Record<string, any>, answered: number, over: boolean}} Session
 * @typedef {{sql: string, reply: unknown}} Reply
 */

/** The kinds of sessions, by their names in a declaration. @type {Record<string, string>} */
const KINDS = { 'sparse-vector': 'sparse vector', 'guess-and-check': 'guess and check', sequence: 'sequence', own: 'mechanism of the owner' };

/** The sessions, and the answers that this tab received. */
const state = {
  /** @type {Session[]} */
  list: [],
  /** @type {Map<string, Reply[]>} */
  replies: new Map(),
  /** @type {() => Promise<void>} called after a charge */
  onSpent: async () => {},
};

const value = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (byId(id)).value.trim();
const path = (/** @type {Session} */ { account, key }) => `sessions/${encodeURIComponent(account)}/${encodeURIComponent(key)}`;

/** @param {unknown} error */
function failed(error) {
  if (isAboutToken(error)) logOut(error);
  else setProblem([], byId('session-wrong'), errorText(error));
}

/** The number in a field; any other text as it is, so that the server reports it. @param {string} id */
function number(id) {
  const text = value(id);
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

/**
 * The session that the form describes.
 * @param {string} account
 */
function sessionRequest(account) {
  const own = { account, key: value('session-key'), table: value('session-table') };
  const [epsilon, answers, threshold] = ['session-epsilon', 'session-answers', 'session-threshold'].map(number);
  if (value('session-kind') === 'sparse_vector') return { ...own, sparse_vector: { epsilon, answers, threshold } };
  if (value('session-kind') === 'guess_and_check')
    return { ...own, guess_and_check: { epsilon, corrections: answers, tolerance: threshold } };
  return { ...own, sequence: Array.from({ length: Math.min(1000, Number(answers) || 0) }, () => ({ of: 'count', epsilon })) };
}

/**
 * Shows the sessions and the form that opens one.
 * @param {string[]} tables
 * @param {() => string} account the account that pays
 * @param {() => Promise<void>} onSpent
 */
export async function startSessions(tables, account, onSpent) {
  state.onSpent = onSpent;
  byId('session-table').replaceChildren(...tables.map((name) => h('option', { value: name }, name)));
  const kind = () => {
    const { value } = /** @type {HTMLSelectElement} */ (byId('session-kind'));
    setText(byId('session-answers-label'), { sparse_vector: 'Number of answers above the threshold', guess_and_check: 'Number of corrections', sequence: 'Number of counts' }[value] ?? '');
    setText(byId('session-threshold-label'), value === 'guess_and_check' ? 'Tolerance' : 'Threshold');
    byId('session-threshold-line').hidden = value === 'sequence';
  };
  kind();
  byId('session-kind').addEventListener('change', kind);
  byId('session-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const fields = ['session-epsilon', 'session-answers', 'session-threshold'].map((id) => /** @type {HTMLInputElement} */ (byId(id)));
    setProblem(fields, byId('session-wrong'), '');
    const wrong = fields.find((field) => field.checkVisibility() && typeof number(field.id) === 'string');
    if (wrong) {
      const label = wrong.labels?.[0]?.textContent ?? '';
      return setProblem([wrong], byId('session-wrong'), readable(`${label} is ${JSON.stringify(wrong.value)}; legal: a number`));
    }
    try {
      const opened = await call('sessions', sessionRequest(account()));
      setText(byId('session-said'), `Session ${opened.key} is open. The account has ${balanceText(opened.left)}.`);
      await load();
      await state.onSpent();
    } catch (error) {
      failed(error);
    }
  });
  await load();
}

async function load() {
  state.list = (await fetchPages('sessions')).flatMap((page) => page.sessions);
  show();
}

function show() {
  byId('session-list').replaceChildren(...state.list.map(item));
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
  const replies = state.replies.get(path(session)) ?? [];
  const count = `${answered} ${answered === 1 ? 'question' : 'questions'} answered`;
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
        h('small', {}, ` ${KINDS[kind] ?? kind} about table ${table}, paid by account ${account}; ${count}${over ? '; ended' : ''}`),
      ),
      !over && h('button', { type: 'button', onclick: () => close(session) }, 'End', h('span', { class: 'hidden' }, ` session ${key}`)),
    ),
    !over && !isOwn && form,
    !over && isOwn && h('p', { class: 'hint' }, 'Questions to this session go through the HTTP interface, not through this page.'),
    replies.length > 0 &&
      h(
        'ol',
        { class: 'replies', 'aria-label': `Answers of ${key}` },
        ...replies.map((one) => h('li', {}, h('code', {}, one.sql), ' ', h('b', {}, replyText(one.reply)))),
      ),
  );
}

/**
 * The text of an answer.
 * @param {any} reply
 */
function replyText(reply) {
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
  setProblem([], byId('session-wrong'), '');
  try {
    const answer = await call(`${path(session)}/questions`, { name: crypto.randomUUID(), sql, ...more });
    const list = state.replies.get(path(session)) ?? [];
    state.replies.set(path(session), [{ sql, reply: answer.reply }, ...list]);
    setText(byId('session-said'), `Session ${session.key} answered: ${replyText(answer.reply)}`);
    await load();
  } catch (error) {
    failed(error);
  }
}

/** @param {Session} session */
async function close(session) {
  setProblem([], byId('session-wrong'), '');
  try {
    await call(path(session), undefined, undefined, 'DELETE');
    setText(byId('session-said'), `Session ${session.key} has ended. Its cost is not refunded.`);
    await load();
  } catch (error) {
    failed(error);
  }
}

// The analyst's console: a question is written, priced as it is written, asked, and its answer shown.

import { priced, remaining } from './amounts.js';
import { showAnswer } from './answered.js';
import { remember, showAsked } from './asked.js';
import { builder, edges } from './builder.js';
import { meter } from './charts.js';
import { complete } from './completion.js';
import { askUnder, call, readable, Refused, store, stored, words } from './curator.js';
import { amount, at, blame, h, say } from './dom.js';
import { door, isAboutToken, shut } from './door.js';
import { recutting } from './recut.js';
import { sessions } from './sessions.js';
import { listed, name } from './tables.js';

/**
 * @typedef {import('./curator.js').Account} Account
 * @typedef {import('./curator.js').Me} Me
 * @typedef {import('./curator.js').Question} Question
 * @typedef {import('./curator.js').Quote} Quote
 * @typedef {import('./curator.js').Table} Table
 */

/** How long typing may pause. */
const PAUSE = 250;

const sql = /** @type {HTMLTextAreaElement} */ (at('sql'));
const account = /** @type {HTMLSelectElement} */ (at('account'));
const pay = /** @type {HTMLSelectElement} */ (at('pay'));
const much = /** @type {HTMLInputElement} */ (at('amount'));
const slot = /** @type {HTMLSelectElement} */ (at('slot'));
const confidence = /** @type {HTMLSelectElement} */ (at('confidence'));
const completes = complete(sql, at('fits'));

/** @type {Me | null} */
let me = null;
/** @type {Account[]} */
let accounts = [];
/** @type {{question: Question, quote: Quote} | null} the price of what the editor holds, once it is known */
let quoted = null;
let isAsking = false;
/** @type {AbortController | null} */
let open = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

door(['analyst'], 'The console is for analysts; the owner’s page is for owners and auditors.', async (found) => {
  const [tables, mine] = await Promise.all([call('tables'), call('accounts')]);
  me = found;
  at('tables').replaceChildren(...listed(tables.tables, insert));
  at('examples').replaceChildren(...examples(tables.tables));
  completes(tables.tables);
  builder(tables.tables, (text, epsilon) => {
    sql.value = text;
    pay.value = 'epsilon';
    much.value = epsilon;
    slot.hidden = true;
    much.hidden = false;
    changed();
  });
  standing(mine.accounts);
  choices();
  await sessions(tables.tables.map((/** @type {Table} */ table) => table.name), () => account.value, async () => {
    await refresh();
    changed();
  });
  const begun = stored('open');
  if (begun && accounts.some((each) => each.name === begun.question?.account)) {
    write(begun.question);
    trouble('This question was sent before, and no answer came. Asked again, it is not charged twice.');
  }
  past();
  changed();
});

/** @param {string} text */
function trouble(text) {
  blame([], at('trouble'), text);
}

/**
 * Says what went wrong, or lets somebody in again.
 * @param {unknown} error
 */
function failed(error) {
  if (isAboutToken(error)) shut(error);
  else trouble(words(error));
}

/**
 * How the accounts stand.
 * @param {Account[]} list
 */
function standing(list) {
  accounts = list;
  at('accounts').replaceChildren(...list.map((each) => {
    const open = each.slots.filter((one) => one.used < one.count).length;
    const slots = each.slots.length ? `, ${open} of ${each.slots.length} slots open` : '';
    return h('li', {},
      h('span', { class: 'line between' }, h('b', {}, each.name), h('span', {}, each.closed ? 'closed' : remaining(each.left) + slots)),
      meter(1 - each.left.amount / (each.left.of || 1)));
  }));
  const names = list.map((each) => each.name);
  if (names.join('\n') !== [...account.options].map((option) => option.value).join('\n')) {
    account.replaceChildren(...names.map((each) => h('option', { value: each }, each)));
  }
}

async function refresh() {
  standing((await call('accounts')).accounts);
}

/** What the chosen account can be paid with. */
function choices() {
  const chosen = accounts.find((each) => each.name === account.value);
  const slots = chosen?.slots ?? [];
  const before = slot.value;
  slot.replaceChildren(...slots.map((each) => {
    const label = `${each.name} (${each.used} of ${each.count} used)`;
    return h('option', { value: each.name, disabled: each.used >= each.count }, label);
  }));
  if (slots.some((each) => each.name === before)) slot.value = before;
  for (const option of pay.options) {
    if (option.value === 'slot') option.hidden = option.disabled = slots.length === 0;
  }
  if (slots.length && pay.value === 'epsilon') pay.value = 'slot';
  if (!slots.length && pay.value === 'slot') pay.value = 'epsilon';
  slot.hidden = pay.value !== 'slot';
  much.hidden = !slot.hidden;
  recutting(chosen, (account) => {
    standing(accounts.map((each) => (each.name === account.name ? account : each)));
    choices();
    changed();
  });
}

/**
 * Questions about the first table, by the columns that it has.
 * @param {Table[]} tables
 * @returns {HTMLElement[]}
 */
function examples([table]) {
  if (!table) return [];
  const from = name(table.name);
  const number = table.columns.find((column) => column.bounds);
  const key = table.columns.find((column) => column.categories);
  const list = [['Count', `SELECT COUNT(*) FROM ${from}`]];
  if (key) list.push(['By group', `SELECT ${name(key.name)}, COUNT(*) AS n\nFROM ${from}\nGROUP BY ${name(key.name)}`]);
  if (number?.bounds) {
    const of = name(number.name);
    list.push(['Mean', `SELECT AVG(${of})\nFROM ${from}`]);
    list.push(['Median', `SELECT MEDIAN(${of})\nFROM ${from}`]);
    list.push(['Histogram', `SELECT HISTOGRAM(${of}, ${edges(number.bounds)})\nFROM ${from}`]);
  }
  return list.map(([label = '', text = '']) => h('button', {
    type: 'button',
    onclick: () => {
      // Put there as if typed, so that the browser can undo it.
      sql.focus();
      sql.select();
      insert(text);
    },
  }, label));
}

/**
 * Puts a text where the caret is, with a space before it where words would meet.
 * @param {string} text
 */
function insert(text) {
  sql.focus();
  const before = sql.value.slice(0, sql.selectionStart);
  const apart = /[\w"']$/.test(before) ? ' ' : '';
  if (!document.execCommand('insertText', false, apart + text)) sql.setRangeText(apart + text, sql.selectionStart, sql.selectionEnd, 'end');
  changed();
}

/**
 * Puts a question into the editor.
 * @param {Question} question
 */
function write(question) {
  sql.value = question.sql;
  account.value = question.account;
  choices();
  const by = /** @type {const} */ (['epsilon', 'rho', 'error', 'slot']).find((each) => question[each] !== undefined) ?? 'epsilon';
  pay.value = by;
  slot.hidden = by !== 'slot';
  much.hidden = !slot.hidden;
  if (by === 'slot') slot.value = question.slot ?? '';
  else much.value = String(question[by]);
  confidence.value = String(question.confidence);
}

/**
 * What the editor holds, or nothing if it is no question yet. What is wrong with the amount is said beside it.
 * @returns {Question | null}
 */
function written() {
  const size = Number(much.value.trim());
  const isFine = pay.value === 'slot' || (much.value.trim() !== '' && Number.isFinite(size) && size > 0);
  const label = pay.value === 'error' ? 'The error' : pay.value;
  blame([much], at('amount-wrong'), isFine ? '' : readable(`${label} is ${JSON.stringify(much.value)}; legal: a positive number`));
  if (!isFine || sql.value.trim() === '' || account.value === '') return null;
  const paid = pay.value === 'slot' ? { slot: slot.value } : { [pay.value]: size };
  return { account: account.value, sql: sql.value.trim(), confidence: Number(confidence.value), ...paid };
}

/** The editor holds something else: its price is not known until it is asked for. */
function changed() {
  quoted = null;
  clearTimeout(timer);
  open?.abort();
  open = null;
  const question = written();
  if (!question) {
    blame([sql], at('sql-wrong'), '');
    return price();
  }
  at('stale-able').classList.add('stale');
  button();
  timer = setTimeout(() => quote(question), PAUSE);
}

/**
 * Asks for a price; an older question is given up.
 * @param {Question} question
 * @returns {Promise<Quote | null>}
 */
async function quote(question) {
  open?.abort();
  const mine = new AbortController();
  open = mine;
  try {
    const quote = await call('prices', question, mine.signal);
    if (open !== mine) return null;
    quoted = { question, quote };
    blame([sql], at('sql-wrong'), '');
    return quote;
  } catch (error) {
    if (open !== mine) return null;
    const isAboutText = error instanceof Refused && error.status >= 400 && error.status < 500 && !isAboutToken(error);
    if (isAboutText) blame([sql], at('sql-wrong'), words(error));
    else failed(error);
    return null;
  } finally {
    if (open === mine) price();
  }
}

/** Shows the price, if it is known. */
function price() {
  const quote = quoted?.quote ?? null;
  at('stale-able').classList.remove('stale');
  say(at('cost'), !quote ? '–' : quote.free ? '0' : amount(quote.cost.amount));
  say(at('unit'), !quote ? '' : priced(quote.cost).replace(/^\S+( × \S+)? /, ''));
  const more = quote && quote.left.more !== null && quote.affordable ? `; ${quote.left.words}` : '';
  const left = quote ? remaining(quote.left) + more : '';
  say(at('left'), quote?.free ? `It was answered before, and is free. ${left}` : left);
  at('expected').replaceChildren(...(quote?.expected ?? []).map(({ name, half_width }) => h('li', {},
    h('span', {}, name), half_width === null ? ' depends on how many rows there are' : ` ± ${amount(half_width)}`)));
  at('ranks').hidden = !quote || !/\b(median|quantile)/i.test(sql.value);
  blame([], at('price-wrong'), quote && !quote.affordable ? readable(quote.refusal ?? 'no budget allows it') : '');
  button();
}

function button() {
  const quote = quoted?.quote;
  const label = !quote ? 'Ask' : quote.free ? 'Ask again for nothing' : `Ask for ${priced(quote.cost)}`;
  say(at('ask'), isAsking ? 'Asking …' : label);
  at('ask').setAttribute('aria-disabled', String(isAsking || !quote || !quote.affordable));
  at('rehearse').setAttribute('aria-disabled', String(isAsking || !quote));
}

/** Shows how an answer would look, from rows that are made up. */
async function rehearse() {
  if (isAsking || !quoted) return;
  const { question } = quoted;
  isAsking = true;
  button();
  trouble('');
  try {
    const answer = await call('rehearsals', question);
    showAnswer(question, answer);
    say(at('live'), `${answer.answers.length} numbers from made-up rows`);
  } catch (error) {
    failed(error);
  } finally {
    isAsking = false;
    button();
  }
}

/** Asks what was priced, and nothing else. */
async function ask() {
  if (isAsking || !quoted || !quoted.quote.affordable) return;
  const { question } = quoted;
  isAsking = true;
  button();
  trouble('');
  const begun = stored('open');
  const isSame = begun && JSON.stringify(begun.question) === JSON.stringify(question);
  const key = isSame ? begun.key : crypto.randomUUID();
  store('open', { question, key });
  try {
    const answer = await askUnder(question, key);
    store('open', null);
    remember(me?.name, question, answer);
    past();
    showAnswer(question, answer);
    say(at('live'), `Answered: ${answer.answers.length} numbers, for ${answer.repeated ? 'nothing' : priced(answer.cost)}`);
    await refresh();
  } catch (error) {
    // What was refused was not charged; of anything else that is not known.
    if (error instanceof Refused && error.status >= 400 && error.status < 500) store('open', null);
    failed(error);
  } finally {
    isAsking = false;
    button();
    choices();
    const now = written();
    if (now) await quote(now);
  }
}

/**
 * Asks once more if that costs nothing; else the price is shown first.
 * @param {Question} question
 */
async function again(question) {
  trouble('');
  write(question);
  clearTimeout(timer);
  quoted = null;
  const found = await quote(question);
  if (found?.free) await ask();
  else if (found) trouble(`It is not free any more: it would cost ${priced(found.cost)}.`);
}

/** Shows the questions that were asked of the chosen account. */
function past() {
  showAsked(me?.name, account.value, again);
}

sql.addEventListener('input', changed);
sql.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  ask();
});
much.addEventListener('input', changed);
for (const field of [slot, confidence]) field.addEventListener('change', changed);
pay.addEventListener('change', () => {
  slot.hidden = pay.value !== 'slot';
  much.hidden = !slot.hidden;
  changed();
});
account.addEventListener('change', () => {
  choices();
  past();
  changed();
});
at('ask').addEventListener('click', ask);
at('rehearse').addEventListener('click', rehearse);
// Another tab may have spent something meanwhile.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && me && !at('inside').hidden) refresh().then(changed, failed);
});

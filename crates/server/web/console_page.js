// The analyst's console: the analyst writes a question, sees its price while typing, asks it and sees the answer.

import { showAnswer } from './answer_view.js';
import { meter } from './charts.js';
import { balanceText, chargeText } from './charge_text.js';
import { complete } from './completion.js';
import { askWithKey, call, errorText, loadStored, readable, ServiceError, store } from './curator_client.js';
import { byId, formatNumber, h, setProblem, setText } from './dom.js';
import { isAboutToken, login, logOut } from './login.js';
import { edges, startQuestionForm } from './question_form.js';
import { remember, showQuestionLog } from './question_log.js';
import { showSlots } from './recut.js';
import { startSessions } from './sessions.js';
import { sqlName, tableList } from './table_list.js';

/**
 * @typedef {import('./curator_client.js').Account} Account
 * @typedef {import('./curator_client.js').Me} Me
 * @typedef {import('./curator_client.js').Price} Price
 * @typedef {import('./curator_client.js').Question} Question
 * @typedef {import('./curator_client.js').Table} Table
 */

/** The pause in typing, in milliseconds, after which the price is requested. */
const TYPING_PAUSE = 250;

const editor = /** @type {HTMLTextAreaElement} */ (byId('sql'));
const account = /** @type {HTMLSelectElement} */ (byId('account'));
const payment = /** @type {HTMLSelectElement} */ (byId('pay'));
const paymentAmount = /** @type {HTMLInputElement} */ (byId('amount'));
const slot = /** @type {HTMLSelectElement} */ (byId('slot'));
const confidence = /** @type {HTMLSelectElement} */ (byId('confidence'));
const setCompletions = complete(editor, byId('fits'));

/** The state of the page. */
const state = {
  /** @type {Me | null} */
  me: null,
  /** @type {Account[]} */
  accounts: [],
  /** @type {{question: Question, price: Price} | null} the question in the editor and its price, once it is known */
  priced: null,
  isAsking: false,
  /** @type {AbortController | null} the running request for a price */
  request: null,
  /** @type {ReturnType<typeof setTimeout> | undefined} ends the pause in typing */
  timer: undefined,
};

login(['analyst'], 'The console is for analysts. Owners and auditors use the Owner page.', async (me) => {
  const [tables, mine] = await Promise.all([call('tables'), call('accounts')]);
  state.me = me;
  byId('tables').replaceChildren(...tableList(tables.tables, insert));
  byId('examples').replaceChildren(...examples(tables.tables));
  setCompletions(tables.tables);
  startQuestionForm(tables.tables, (text, epsilon) => {
    editor.value = text;
    payment.value = 'epsilon';
    paymentAmount.value = epsilon;
    showPaymentField();
    editorChanged();
  });
  showAccounts(mine.accounts);
  showPayments();
  await startSessions(tables.tables.map((/** @type {Table} */ table) => table.name), () => account.value, async () => {
    await refreshAccounts();
    editorChanged();
  });
  const unanswered = loadStored('open');
  if (unanswered && state.accounts.some((each) => each.name === unanswered.question?.account)) {
    fillEditor(unanswered.question);
    showProblem('This tab sent the question before, but no answer arrived. If you ask it again, it is not charged twice.');
  }
  if (state.accounts.length === 0) showProblem('This token allows no account, so it cannot ask questions. Ask the owner of the data for a token with an account.');
  showLog();
  editorChanged();
});

/** @param {string} text */
function showProblem(text) {
  setProblem([], byId('trouble'), text);
}

/**
 * Shows an error; an error about the token shows the login form.
 * @param {unknown} error
 */
function showError(error) {
  if (isAboutToken(error)) logOut(error);
  else showProblem(errorText(error));
}

/**
 * Shows the accounts and what is left of each.
 * @param {Account[]} list
 */
function showAccounts(list) {
  state.accounts = list;
  byId('accounts').replaceChildren(...list.map((each) => {
    const open = each.slots.filter((one) => one.used < one.count).length;
    const slots = each.slots.length ? `, ${open} of ${each.slots.length} ${each.slots.length === 1 ? 'slot' : 'slots'} not used up` : '';
    return h('li', {},
      h('span', { class: 'line between' }, h('b', {}, each.name), h('span', {}, each.closed ? 'closed' : balanceText(each.left) + slots)),
      meter(1 - each.left.amount / (each.left.of || 1)));
  }));
  const names = list.map((each) => each.name);
  if (names.join('\n') !== [...account.options].map((option) => option.value).join('\n')) {
    account.replaceChildren(...names.map((each) => h('option', { value: each }, each)));
  }
}

async function refreshAccounts() {
  showAccounts((await call('accounts')).accounts);
}

/** Shows the field for the chosen payment: an amount or a slot. */
function showPaymentField() {
  slot.hidden = payment.value !== 'slot';
  paymentAmount.hidden = !slot.hidden;
}

/** Shows the payments that the chosen account allows, and its slots. */
function showPayments() {
  const chosen = state.accounts.find((each) => each.name === account.value);
  const slots = chosen?.slots ?? [];
  const before = slot.value;
  slot.replaceChildren(...slots.map((each) => {
    const label = `${each.name} (${each.used} of ${each.count} used)`;
    return h('option', { value: each.name, disabled: each.used >= each.count }, label);
  }));
  if (slots.some((each) => each.name === before)) slot.value = before;
  for (const option of payment.options) {
    if (option.value === 'slot') option.hidden = option.disabled = slots.length === 0;
  }
  if (slots.length && payment.value === 'epsilon') payment.value = 'slot';
  if (!slots.length && payment.value === 'slot') payment.value = 'epsilon';
  showPaymentField();
  showSlots(chosen, (changed) => {
    showAccounts(state.accounts.map((each) => (each.name === changed.name ? changed : each)));
    showPayments();
    editorChanged();
  });
}

/**
 * Buttons with example questions about the first table.
 * @param {Table[]} tables
 * @returns {HTMLElement[]}
 */
function examples([table]) {
  if (!table) return [];
  const from = sqlName(table.name);
  const number = table.columns.find((column) => column.bounds);
  const key = table.columns.find((column) => column.categories);
  const list = [['Count', `SELECT COUNT(*) FROM ${from}`]];
  if (key) list.push(['By group', `SELECT ${sqlName(key.name)}, COUNT(*) AS n\nFROM ${from}\nGROUP BY ${sqlName(key.name)}`]);
  if (number?.bounds) {
    const column = sqlName(number.name);
    list.push(['Mean', `SELECT AVG(${column})\nFROM ${from}`]);
    list.push(['Median', `SELECT MEDIAN(${column})\nFROM ${from}`]);
    list.push(['Histogram', `SELECT HISTOGRAM(${column}, ${edges(number.bounds)})\nFROM ${from}`]);
  }
  return list.map(([label = '', text = '']) => h('button', {
    type: 'button',
    onclick: () => {
      // Inserted as if typed, so that the browser can undo it.
      editor.focus();
      editor.select();
      insert(text);
    },
  }, label));
}

/**
 * Inserts a text at the caret, with a space before it where two words would meet.
 * @param {string} text
 */
function insert(text) {
  editor.focus();
  const before = editor.value.slice(0, editor.selectionStart);
  const space = /[\w"']$/.test(before) ? ' ' : '';
  if (!document.execCommand('insertText', false, space + text)) {
    editor.setRangeText(space + text, editor.selectionStart, editor.selectionEnd, 'end');
  }
  editorChanged();
}

/**
 * Puts a question and its payment into the editor.
 * @param {Question} question
 */
function fillEditor(question) {
  editor.value = question.sql;
  account.value = question.account;
  showPayments();
  const by = /** @type {const} */ (['epsilon', 'rho', 'error', 'slot']).find((each) => question[each] !== undefined) ?? 'epsilon';
  payment.value = by;
  showPaymentField();
  if (by === 'slot') slot.value = question.slot ?? '';
  else paymentAmount.value = String(question[by]);
  confidence.value = String(question.confidence);
}

/**
 * The question in the editor, or null if it is incomplete. An illegal amount is marked.
 * @returns {Question | null}
 */
function readEditor() {
  const size = Number(paymentAmount.value.trim());
  const isLegal = payment.value === 'slot' || (paymentAmount.value.trim() !== '' && Number.isFinite(size) && size > 0);
  const label = payment.value === 'error' ? 'the error' : payment.value;
  const problem = `${label} is ${JSON.stringify(paymentAmount.value)}; legal: a positive number`;
  setProblem([paymentAmount], byId('amount-wrong'), isLegal ? '' : readable(problem));
  if (!isLegal || editor.value.trim() === '' || account.value === '') return null;
  const paid = payment.value === 'slot' ? { slot: slot.value } : { [payment.value]: size };
  return { account: account.value, sql: editor.value.trim(), confidence: Number(confidence.value), ...paid };
}

/** Forgets the old price and requests the new one when typing pauses. */
function editorChanged() {
  state.priced = null;
  clearTimeout(state.timer);
  state.request?.abort();
  state.request = null;
  const question = readEditor();
  if (!question) {
    setProblem([editor], byId('sql-wrong'), '');
    return showPrice();
  }
  byId('stale-able').classList.add('stale');
  showButtons();
  state.timer = setTimeout(() => fetchPrice(question), TYPING_PAUSE);
}

/**
 * Requests and shows a price; aborts an older request.
 * @param {Question} question
 * @returns {Promise<Price | null>}
 */
async function fetchPrice(question) {
  state.request?.abort();
  const request = new AbortController();
  state.request = request;
  try {
    const price = await call('prices', question, request.signal);
    if (state.request !== request) return null;
    state.priced = { question, price };
    setProblem([editor], byId('sql-wrong'), '');
    return price;
  } catch (error) {
    if (state.request !== request) return null;
    const isAboutSql = error instanceof ServiceError && error.status >= 400 && error.status < 500 && !isAboutToken(error);
    if (isAboutSql) setProblem([editor], byId('sql-wrong'), errorText(error));
    else showError(error);
    return null;
  } finally {
    if (state.request === request) showPrice();
  }
}

/** Shows the price, if it is known. */
function showPrice() {
  const price = state.priced?.price ?? null;
  byId('stale-able').classList.remove('stale');
  setText(byId('cost'), !price ? '–' : price.free ? '0' : formatNumber(price.cost.amount));
  setText(byId('unit'), !price ? '' : chargeText(price.cost).replace(/^\S+( × \S+)? /, ''));
  const more = price && price.left.more !== null && price.affordable ? `; ${price.left.words}` : '';
  const left = price ? balanceText(price.left) + more : '';
  setText(byId('left'), price?.free ? `This question was answered before, so asking it again is free. The account has ${left}.` : price ? `The account has ${left}.` : '');
  byId('expected').replaceChildren(...(price?.expected ?? []).map(({ name, half_width }) => h('li', {},
    h('span', {}, name), half_width === null ? ': the error depends on the number of rows' : ` ± ${formatNumber(half_width)}`)));
  byId('ranks').hidden = !price || !/\b(median|quantile)/i.test(editor.value);
  setProblem([], byId('price-wrong'), price && !price.affordable ? readable(price.refusal ?? 'the budget of the account does not suffice') : '');
  showButtons();
}

function showButtons() {
  const price = state.priced?.price;
  const label = !price ? 'Ask' : price.free ? 'Ask again for free' : `Ask for ${chargeText(price.cost)}`;
  setText(byId('ask'), state.isAsking ? 'Asking …' : label);
  byId('ask').setAttribute('aria-disabled', String(state.isAsking || !price || !price.affordable));
  byId('rehearse').setAttribute('aria-disabled', String(state.isAsking || !price));
}

/** @param {import('./curator_client.js').Answer} answer */
function numberCount({ answers }) {
  return `${answers.length} ${answers.length === 1 ? 'number' : 'numbers'}`;
}

/** Shows an answer computed from made-up rows. */
async function rehearse() {
  if (state.isAsking || !state.priced) return;
  const { question } = state.priced;
  state.isAsking = true;
  showButtons();
  showProblem('');
  try {
    const answer = await call('rehearsals', question);
    showAnswer(question, answer);
    setText(byId('live'), `Tried: ${numberCount(answer)} from made-up rows`);
  } catch (error) {
    showError(error);
  } finally {
    state.isAsking = false;
    showButtons();
  }
}

/** Asks the question whose price is shown. */
async function ask() {
  if (state.isAsking || !state.priced || !state.priced.price.affordable) return;
  const { question } = state.priced;
  state.isAsking = true;
  showButtons();
  showProblem('');
  const unanswered = loadStored('open');
  const isSame = unanswered && JSON.stringify(unanswered.question) === JSON.stringify(question);
  const key = isSame ? unanswered.key : crypto.randomUUID();
  store('open', { question, key });
  try {
    const answer = await askWithKey(question, key);
    store('open', null);
    remember(state.me?.name, question, answer);
    showLog();
    showAnswer(question, answer);
    setText(byId('live'), `Answered: ${numberCount(answer)}, ${answer.repeated ? 'for free' : `for ${chargeText(answer.cost)}`}`);
    await refreshAccounts();
  } catch (error) {
    // A refused question was not charged. After any other error the question may have been charged.
    if (error instanceof ServiceError && error.status >= 400 && error.status < 500) store('open', null);
    showError(error);
  } finally {
    state.isAsking = false;
    showButtons();
    showPayments();
    const question = readEditor();
    if (question) await fetchPrice(question);
  }
}

/**
 * Asks a question again if that is free; otherwise shows its price.
 * @param {Question} question
 */
async function askAgain(question) {
  showProblem('');
  fillEditor(question);
  clearTimeout(state.timer);
  state.priced = null;
  const price = await fetchPrice(question);
  if (price?.free) await ask();
  else if (price) showProblem(`This question is no longer free. It now costs ${chargeText(price.cost)}.`);
}

/** Shows the questions that this tab asked of the chosen account. */
function showLog() {
  showQuestionLog(state.me?.name, account.value, askAgain);
}

editor.addEventListener('input', editorChanged);
editor.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  ask();
});
paymentAmount.addEventListener('input', editorChanged);
for (const field of [slot, confidence]) field.addEventListener('change', editorChanged);
payment.addEventListener('change', () => {
  showPaymentField();
  editorChanged();
});
account.addEventListener('change', () => {
  showPayments();
  showLog();
  editorChanged();
});
byId('ask').addEventListener('click', ask);
byId('rehearse').addEventListener('click', rehearse);
// Another tab may have spent some of the budget meanwhile.
document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'visible' && state.me && !byId('inside').hidden) refreshAccounts().then(editorChanged, showError);
});

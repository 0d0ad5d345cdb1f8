// The ledger’s history on the owner’s page: unanswered charges, spending over time, and every entry.

import { stairs } from './charts.js';
import { byId, formatNumber, h, setText } from './dom.js';

/**
 * @typedef {import('./curator_client.js').Account} Account
 * @typedef {import('./curator_client.js').Entry} Entry
 */

/** The texts of the other events. @type {Record<string, string>} */
const EVENTS = {
  init: 'ledger created', upgrade: 'ledger upgraded', dataset: 'data set created', recut: 'slots exchanged', quota: 'quota set', move: 'budget moved',
  alias: 'analyst’s own key stored', begin: 'session begun', end: 'session ended', close: 'account closed',
};
/** Entries on a page of the history. */
const PAGE_SIZE = 50;
/** The most accounts whose spending is drawn. */
const MAX_CHARTS = 24;

const accountFilter = /** @type {HTMLSelectElement} */ (byId('of'));
const eventFilter = /** @type {HTMLSelectElement} */ (byId('events'));

/** The history that is shown. */
const state = {
  /** @type {Account[]} */
  accounts: [],
  /** @type {Entry[]} */
  entries: [],
  /** @type {Record<string, string>} the texts of questions, by their keys */
  texts: {},
  page: 0,
};

/**
 * Shows a history.
 * @param {Account[]} list
 * @param {Entry[]} history
 * @param {Record<string, string>} questions the texts of questions, by their keys
 */
export function showHistory(list, history, questions) {
  Object.assign(state, { accounts: list, entries: history, texts: questions });
  const names = list.map((account) => account.name);
  const before = accountFilter.value;
  accountFilter.replaceChildren(h('option', { value: '' }, 'all'), ...names.map((name) => h('option', { value: name }, name)));
  accountFilter.value = names.includes(before) ? before : '';
  showPending();
  showSpending();
  showEntries();
}

/** @param {string} account @param {string} key */
function id(account, key) {
  return JSON.stringify([account, key]);
}

/** The charges of questions without an answer, and of sessions that have not begun. */
function unanswered() {
  /** @type {Map<string, Entry>} */
  const open = new Map();
  for (const entry of state.entries) {
    const name = id(entry.account ?? '', entry.key ?? '');
    if (entry.event === 'reserve') open.set(name, entry);
    if (['commit', 'begin', 'end'].includes(entry.event)) open.delete(name);
  }
  return open;
}

function showPending() {
  const list = [...unanswered().values()].reverse();
  byId('none-pending').hidden = list.length > 0;
  byId('pending').hidden = list.length === 0;
  byId('pending').replaceChildren(...list.map((entry) => h('li', {},
    h('span', { class: 'line between' }, h('b', {}, entry.account ?? ''), h('span', {}, charged(entry))),
    h('span', { class: 'hint' }, time(entry.at), `, ${entry.analyst ? `analyst ${entry.analyst}` : 'no analyst named'}, key `, h('code', {}, entry.key ?? '')))));
}

/** @param {number} at in seconds */
function time(at) {
  const date = new Date(1000 * at);
  return h('time', { datetime: date.toISOString() }, moment(date));
}

/** @param {Date} date */
function moment(date) {
  return new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' }).format(date);
}

/** @param {Entry} entry */
function payer(entry) {
  return entry.event === 'open' ? entry.parent : entry.account;
}

/** @param {Entry} entry */
function charged(entry) {
  if (!entry.charge) return '';
  const unit = state.accounts.find((account) => account.name === payer(entry))?.left.unit ?? '';
  const delta = Number(entry.charge.delta);
  return `${formatNumber(Number(entry.charge.main))} ${unit}${delta > 0 ? `, delta ${formatNumber(delta, 3)}` : ''}`.trim();
}

/** Draws the spending of each account, step by step. */
function showSpending() {
  const axis = document.querySelector('input[name=axis]:checked');
  const by = axis instanceof HTMLInputElement && axis.value === 'sequence' ? 'sequence' : 'at';
  const [first, last] = [state.entries[0], state.entries.at(-1)];
  if (!first || !last) return;
  /** @type {Map<string, import('./charts.js').Step[]>} */
  const steps = new Map();
  for (const entry of state.entries) {
    const account = payer(entry);
    if (!entry.charge || account === undefined || !(Number(entry.charge.main) > 0)) continue;
    const list = steps.get(account) ?? [];
    list.push({ x: entry[by], y: (list.at(-1)?.y ?? 0) + Number(entry.charge.main) });
    steps.set(account, list);
  }
  const spent = state.accounts.filter((account) => steps.has(account.name));
  const name = (/** @type {Entry} */ entry) => by === 'at' ? moment(new Date(1000 * entry.at)).replace(/:\d\d(?=\D*$)/, '') : `entry ${entry.sequence}`;
  // The axis goes beyond the last step, so that it is visible as a step.
  const end = by === 'at' ? Math.max(last.at, Date.now() / 1000) : last.sequence + Math.max(1, 0.03 * state.entries.length);
  const names = /** @type {[string, string]} */ ([name(first), by === 'at' ? 'now' : name(last)]);
  byId('spending').replaceChildren(...spent.slice(0, MAX_CHARTS).map((account) => {
    const list = steps.get(account.name) ?? [];
    const total = formatNumber(list.at(-1)?.y ?? 0);
    const caption = `${account.name}: ${total} of ${formatNumber(account.left.of, 6, 'floor')} ${account.left.unit} in ${list.length} ${list.length === 1 ? 'charge' : 'charges'}`;
    return h('figure', {}, h('figcaption', {}, caption), stairs(`Spending of ${caption}, from ${names[0]} to ${names[1]}`,
      list, [first[by], end], names, account.left.of, 320));
  }));
  byId('no-spending').hidden = spent.length > 0 && spent.length <= MAX_CHARTS;
  if (spent.length > MAX_CHARTS) setText(byId('no-spending'), `The spending of ${spent.length - MAX_CHARTS} more accounts is not shown.`);
}

/** Shows a page of the history, newest first. */
function showEntries() {
  const open = unanswered();
  const chosen = state.entries.filter((entry) => (eventFilter.value === 'all' || entry.charge)
    && (accountFilter.value === '' || [entry.account, entry.parent, entry.name].includes(accountFilter.value))).reverse();
  const pages = Math.max(1, Math.ceil(chosen.length / PAGE_SIZE));
  const page = Math.min(state.page, pages - 1);
  state.page = page;
  const rows = chosen.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE);
  byId('history').replaceChildren(
    h('thead', {}, h('tr', {}, ...['Entry', 'Time', 'Event', 'Account', 'Analyst', 'Key', 'Charge'].map((name) => {
      return h('th', { scope: 'col', class: name === 'Entry' || name === 'Charge' ? 'right' : null }, name);
    }))),
    h('tbody', {}, ...rows.map((entry) => {
      const isOpen = entry.event === 'reserve' && open.has(id(entry.account ?? '', entry.key ?? ''));
      const key = entry.key ?? '';
      return h('tr', {},
        h('td', { class: 'right' }, String(entry.sequence)),
        h('td', { class: 'whole' }, time(entry.at)),
        h('td', {}, eventText(entry) + (isOpen ? ', not answered yet' : ''),
          entry.event === 'reserve' && state.texts[key] ? h('code', { class: 'text' }, state.texts[key]) : null),
        h('td', {}, entry.account ?? entry.name ?? ''),
        h('td', {}, entry.analyst ?? ''),
        h('td', {}, h('code', { title: key }, key.length > 16 ? `${key.slice(0, 14)}…` : key)),
        h('td', { class: 'right' }, charged(entry)));
    })));
  const [from, to] = [page * PAGE_SIZE + 1, Math.min(chosen.length, (page + 1) * PAGE_SIZE)];
  setText(byId('place'), chosen.length ? `${from} to ${to} of ${chosen.length}` : 'none');
  byId('newer').setAttribute('aria-disabled', String(page === 0));
  byId('older').setAttribute('aria-disabled', String(page === pages - 1));
}

/** @param {Entry} entry */
function eventText(entry) {
  switch (entry.event) {
    case 'reserve': return entry.session ? 'session charged' : 'question charged';
    case 'open': return `account opened under ${entry.parent}`;
    case 'commit': case 'answer': return 'answer stored';
    default: return EVENTS[entry.event] ?? entry.event;
  }
}

/** @param {number} by */
function turn(by) {
  return (/** @type {Event} */ event) => {
    if (event.currentTarget instanceof HTMLElement && event.currentTarget.getAttribute('aria-disabled') === 'true') return;
    state.page += by;
    showEntries();
  };
}

byId('newer').addEventListener('click', turn(-1));
byId('older').addEventListener('click', turn(1));
for (const select of [accountFilter, eventFilter]) {
  select.addEventListener('change', () => {
    state.page = 0;
    showEntries();
  });
}
for (const radio of document.querySelectorAll('input[name=axis]')) radio.addEventListener('change', showSpending);

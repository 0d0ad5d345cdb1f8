// The ledger's history on the owner's page: what has no answer yet, what was spent, and every entry.

import { stairs } from './charts.js';
import { amount, at, h, say } from './dom.js';

/**
 * @typedef {import('./curator.js').Account} Account
 * @typedef {import('./curator.js').Entry} Entry
 */

const PAGE = 50;
/** So many accounts are drawn. */
const MOST_DRAWN = 24;

const of = /** @type {HTMLSelectElement} */ (at('of'));
const events = /** @type {HTMLSelectElement} */ (at('events'));

/** @type {Account[]} */
let accounts = [];
/** @type {Entry[]} */
let entries = [];
/** @type {Record<string, string>} the texts of questions, by their keys */
let texts = {};
let page = 0;

/**
 * Shows a history.
 * @param {Account[]} list
 * @param {Entry[]} history
 * @param {Record<string, string>} questions their texts, by their keys
 */
export function showHistory(list, history, questions) {
  [accounts, entries, texts] = [list, history, questions];
  const names = accounts.map((account) => account.name);
  const before = of.value;
  of.replaceChildren(h('option', { value: '' }, 'all'), ...names.map((name) => h('option', { value: name }, name)));
  of.value = names.includes(before) ? before : '';
  pending();
  spending();
  ledger();
}

/** @param {string} account @param {string} key */
function id(account, key) {
  return JSON.stringify([account, key]);
}

/** The charges that have no answer yet. */
function unanswered() {
  /** @type {Map<string, Entry>} */
  const open = new Map();
  for (const entry of entries) {
    const name = id(entry.account ?? '', entry.key ?? '');
    if (entry.event === 'reserve') open.set(name, entry);
    if (entry.event === 'commit' || entry.event === 'end') open.delete(name);
  }
  return open;
}

function pending() {
  const list = [...unanswered().values()].reverse();
  at('none-pending').hidden = list.length > 0;
  at('pending').hidden = list.length === 0;
  at('pending').replaceChildren(...list.map((entry) => h('li', {},
    h('span', { class: 'line between' }, h('b', {}, entry.account ?? ''), h('span', {}, charged(entry))),
    h('span', { class: 'hint' }, time(entry.at), `, ${entry.analyst ?? 'nobody named'}, key `, h('code', {}, entry.key ?? '')))));
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
  const unit = accounts.find((account) => account.name === payer(entry))?.left.unit ?? '';
  const delta = Number(entry.charge.delta);
  return `${amount(Number(entry.charge.main))} ${unit}${delta > 0 ? `, delta ${amount(delta, 3)}` : ''}`.trim();
}

/** What every account has spent, step by step. */
function spending() {
  const axis = document.querySelector('input[name=axis]:checked');
  const by = axis instanceof HTMLInputElement && axis.value === 'sequence' ? 'sequence' : 'at';
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) return;
  /** @type {Map<string, import('./charts.js').Step[]>} */
  const steps = new Map();
  for (const entry of entries) {
    const account = payer(entry);
    if (!entry.charge || account === undefined || !(Number(entry.charge.main) > 0)) continue;
    const list = steps.get(account) ?? [];
    list.push({ x: entry[by], y: (list.at(-1)?.y ?? 0) + Number(entry.charge.main) });
    steps.set(account, list);
  }
  const spent = accounts.filter((account) => steps.has(account.name));
  const name = (/** @type {Entry} */ entry) => by === 'at' ? moment(new Date(1000 * entry.at)).replace(/:\d\d(?=\D*$)/, '') : `entry ${entry.sequence}`;
  // The last step is seen as one only if something follows it.
  const end = by === 'at' ? Math.max(last.at, Date.now() / 1000) : last.sequence + Math.max(1, 0.03 * entries.length);
  const names = /** @type {[string, string]} */ ([name(first), by === 'at' ? 'now' : name(last)]);
  at('spending').replaceChildren(...spent.slice(0, MOST_DRAWN).map((account) => {
    const list = steps.get(account.name) ?? [];
    const total = amount(list.at(-1)?.y ?? 0);
    const said = `${account.name}: ${total} of ${amount(account.left.of, 6, 'floor')} ${account.left.unit} in ${list.length} charges`;
    return h('figure', {}, h('figcaption', {}, said), stairs(`Spending of ${said}, from ${names[0]} to ${names[1]}`,
      list, [first[by], end], names, account.left.of, 320));
  }));
  at('no-spending').hidden = spent.length > 0 && spent.length <= MOST_DRAWN;
  if (spent.length > MOST_DRAWN) say(at('no-spending'), `${spent.length - MOST_DRAWN} more accounts are not drawn.`);
}

/** A page of the history, newest first. */
function ledger() {
  const open = unanswered();
  const chosen = entries.filter((entry) => (events.value === 'all' || entry.charge)
    && (of.value === '' || [entry.account, entry.parent, entry.name].includes(of.value))).reverse();
  const pages = Math.max(1, Math.ceil(chosen.length / PAGE));
  page = Math.min(page, pages - 1);
  const rows = chosen.slice(page * PAGE, (page + 1) * PAGE);
  at('history').replaceChildren(
    h('thead', {}, h('tr', {}, ...['Entry', 'Time', 'What', 'Account', 'Analyst', 'Key', 'Charge'].map((name) => {
      return h('th', { scope: 'col', class: name === 'Entry' || name === 'Charge' ? 'right' : null }, name);
    }))),
    h('tbody', {}, ...rows.map((entry) => {
      const isOpen = entry.event === 'reserve' && open.has(id(entry.account ?? '', entry.key ?? ''));
      const key = entry.key ?? '';
      return h('tr', {},
        h('td', { class: 'right' }, String(entry.sequence)),
        h('td', { class: 'whole' }, time(entry.at)),
        h('td', {}, what(entry) + (isOpen ? ', not answered yet' : ''),
          entry.event === 'reserve' && texts[key] ? h('code', { class: 'text' }, texts[key]) : null),
        h('td', {}, entry.account ?? entry.name ?? ''),
        h('td', {}, entry.analyst ?? ''),
        h('td', {}, h('code', { title: key }, key.length > 16 ? `${key.slice(0, 14)}…` : key)),
        h('td', { class: 'right' }, charged(entry)));
    })));
  const [from, to] = [page * PAGE + 1, Math.min(chosen.length, (page + 1) * PAGE)];
  say(at('place'), chosen.length ? `${from} to ${to} of ${chosen.length}` : 'none');
  at('newer').setAttribute('aria-disabled', String(page === 0));
  at('older').setAttribute('aria-disabled', String(page === pages - 1));
}

/** @param {Entry} entry */
function what(entry) {
  switch (entry.event) {
    case 'reserve': return 'question';
    case 'open': return `opened under ${entry.parent}`;
    case 'commit': case 'answer': return 'answer stored';
    case 'dataset': return 'data set';
    case 'init': return 'ledger made';
    default: return entry.event;
  }
}

/** @param {number} by */
function turn(by) {
  return (/** @type {Event} */ event) => {
    if (event.currentTarget instanceof HTMLElement && event.currentTarget.getAttribute('aria-disabled') === 'true') return;
    page += by;
    ledger();
  };
}

at('newer').addEventListener('click', turn(-1));
at('older').addEventListener('click', turn(1));
for (const select of [of, events]) {
  select.addEventListener('change', () => {
    page = 0;
    ledger();
  });
}
for (const radio of document.querySelectorAll('input[name=axis]')) radio.addEventListener('change', spending);

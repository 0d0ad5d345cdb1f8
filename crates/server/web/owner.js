// The owner's page: how accounts stand, the ledger's history, and whether it is whole.

import { meter } from './charts.js';
import { call, pages, words } from './curator.js';
import { amount, at, blame, h, say } from './dom.js';
import { door, isAboutToken, shut } from './door.js';
import { showHistory } from './entries.js';
import { listed } from './tables.js';
import { choices, openOwner } from './tokens.js';

/** @typedef {import('./curator.js').Account} Account */

/** @type {Account[]} */
let accounts = [];
let isOwner = false;

door(['owner', 'auditor'], 'This page is for owners and auditors; analysts ask in the console.', async (me) => {
  isOwner = me.role === 'owner';
  const tables = await call('tables');
  at('tables').replaceChildren(...listed(tables.tables, null));
  await load();
  if (isOwner) await openOwner(load);
});

async function load() {
  // The head of the last page is that of all its entries.
  const [status, history, asked] = await Promise.all([pages('status'), pages('history'), pages('questions')]);
  accounts = status.flatMap((page) => page.accounts);
  head(history.at(-1).head);
  at('tree').replaceChildren(...branches(null));
  if (isOwner) choices(accounts);
  showHistory(accounts, history.flatMap((page) => page.entries), Object.assign({}, ...asked.map((page) => page.questions)));
}

/** @param {unknown} error */
function failed(error) {
  if (isAboutToken(error)) shut(error);
  else blame([], at('trouble'), words(error));
}

/** @param {string} text */
function head(text) {
  const [sequence = '', hash = ''] = text.split(':');
  at('head').replaceChildren(`${sequence} entries; the last is `, h('code', { title: hash }, `${hash.slice(0, 12)}…`));
}

/**
 * The accounts under a data set or an account, and those under them.
 * @param {string | null} parent
 * @returns {HTMLElement[]}
 */
function branches(parent) {
  const known = new Set(accounts.map((account) => account.name));
  const here = accounts.filter((account) => parent === null
    ? account.parent === null || !known.has(account.parent) : account.parent === parent);
  return here.map((account) => {
    const { left } = account;
    const spent = left.of - left.amount;
    const below = branches(account.name);
    const verb = account.parent === null ? 'given away' : 'spent';
    const kind = account.parent === null ? 'data set' : 'account';
    return h('li', {},
      h('span', { class: 'line between' },
        h('span', {}, h('b', {}, account.name), ' ', h('small', {}, `${kind}, ${account.kind}${account.closed ? ', closed' : ''}`)),
        h('span', {}, `${amount(spent)} of ${amount(left.of, 6, 'floor')} ${left.unit} ${verb}`)),
      meter(spent / (left.of || 1)),
      h('span', { class: 'hint' }, `${amount(left.amount, 4, 'floor')} left; ${account.charges} ${account.charges === 1 ? 'charge' : 'charges'}`),
      account.slots.length > 0 && h('ul', { class: 'slots', 'aria-label': `Slots of ${account.name}` },
        ...account.slots.map((slot) => h('li', {}, `${slot.name}: ${slot.used} of ${slot.count} used`))),
      below.length > 0 && h('ul', { 'aria-label': `Under ${account.name}` }, ...below));
  });
}

async function verify() {
  say(at('verified'), 'Verifying …');
  blame([], at('verify-wrong'), '');
  try {
    const found = await call('verify');
    head(found.head);
    say(at('verified'), found.verified ? `Whole: every balance agrees with the ${found.head.split(':')[0]} entries of the history.` : '');
    if (!found.verified) blame([], at('verify-wrong'), `Not whole: ${found.problem}`);
  } catch (error) {
    say(at('verified'), '');
    if (isAboutToken(error)) shut(error);
    else blame([], at('verify-wrong'), words(error));
  }
}

async function refresh() {
  blame([], at('trouble'), '');
  try {
    await load();
    say(at('live'), 'Refreshed');
  } catch (error) {
    failed(error);
  }
}

at('verify').addEventListener('click', verify);
at('refresh').addEventListener('click', refresh);

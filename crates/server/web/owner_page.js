// The owner’s page: the budgets of the accounts, the ledger’s history and its verification.

import { meter } from './charts.js';
import { call, errorText, fetchPages } from './curator_client.js';
import { byId, formatNumber, h, setProblem, setText } from './dom.js';
import { showHistory } from './ledger_view.js';
import { isAboutToken, login, logOut } from './login.js';
import { tableList } from './table_list.js';
import { showChoices, startTokens } from './tokens.js';

/** @typedef {import('./curator_client.js').Account} Account */

/** The state of the page. */
const state = {
  /** @type {Account[]} */
  accounts: [],
  isOwner: false,
};

login(['owner', 'auditor'], 'This page is for owners and auditors. Analysts use the Console page.', async (me) => {
  state.isOwner = me.role === 'owner';
  const tables = await call('tables');
  byId('tables').replaceChildren(...tableList(tables.tables, null));
  await load();
  if (state.isOwner) await startTokens(load);
});

async function load() {
  // The last page has the head of the whole history.
  const [status, history, asked] = await Promise.all([fetchPages('status'), fetchPages('history'), fetchPages('questions')]);
  state.accounts = status.flatMap((page) => page.accounts);
  showHead(history.at(-1).head);
  byId('tree').replaceChildren(...branches(null));
  if (state.isOwner) showChoices(state.accounts);
  showHistory(state.accounts, history.flatMap((page) => page.entries), Object.assign({}, ...asked.map((page) => page.questions)));
}

/** @param {unknown} error */
function failed(error) {
  if (isAboutToken(error)) logOut(error);
  else setProblem([], byId('trouble'), errorText(error));
}

/** @param {string} text */
function showHead(text) {
  const [sequence = '', hash = ''] = text.split(':');
  byId('head').replaceChildren(`${sequence} entries. The hash of the newest entry is `, h('code', { title: hash }, `${hash.slice(0, 12)}…`));
}

/**
 * Lists the accounts under a data set or an account, with the accounts under each of them.
 * @param {string | null} parent
 * @returns {HTMLElement[]}
 */
function branches(parent) {
  const known = new Set(state.accounts.map((account) => account.name));
  const here = state.accounts.filter((account) => parent === null
    ? account.parent === null || !known.has(account.parent) : account.parent === parent);
  return here.map((account) => {
    const { left } = account;
    const spent = left.of - left.amount;
    const below = branches(account.name);
    const verb = account.parent === null ? 'given to accounts' : account.kind === 'plan' ? 'used' : 'spent';
    const kind = account.parent === null ? 'data set' : 'account';
    const rule = account.kind === 'plan' ? 'plan' : `filter ${account.kind}`;
    return h('li', {},
      h('span', { class: 'line between' },
        h('span', {}, h('b', {}, account.name), ' ', h('small', {}, `${kind}, ${rule}${account.closed ? ', closed' : ''}`)),
        h('span', {}, `${formatNumber(spent)} of ${formatNumber(left.of, 6, 'floor')} ${left.unit} ${verb}`)),
      meter(spent / (left.of || 1)),
      h('span', { class: 'hint' }, `${formatNumber(left.amount, 4, 'floor')} left; ${account.charges} ${account.charges === 1 ? 'charge' : 'charges'}`),
      account.slots.length > 0 && h('ul', { class: 'slots', 'aria-label': `Slots of ${account.name}` },
        ...account.slots.map((slot) => h('li', {}, `slot ${slot.name}: ${slot.used} of ${slot.count} openings used`))),
      below.length > 0 && h('ul', { 'aria-label': `Under ${account.name}` }, ...below));
  });
}

async function verify() {
  setText(byId('verified'), 'Verifying …');
  setProblem([], byId('verify-wrong'), '');
  try {
    const found = await call('verify');
    showHead(found.head);
    setText(byId('verified'), found.verified ? `Verified: every balance agrees with the ${found.head.split(':')[0]} entries of the history.` : '');
    if (!found.verified) setProblem([], byId('verify-wrong'), `Verification failed: ${found.problem}`);
  } catch (error) {
    setText(byId('verified'), '');
    if (isAboutToken(error)) logOut(error);
    else setProblem([], byId('verify-wrong'), errorText(error));
  }
}

async function refresh() {
  setProblem([], byId('trouble'), '');
  try {
    await load();
    setText(byId('live'), 'Refreshed');
  } catch (error) {
    failed(error);
  }
}

byId('verify').addEventListener('click', verify);
byId('refresh').addEventListener('click', refresh);

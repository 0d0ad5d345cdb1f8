// The owner’s forms: opens accounts under a data set, creates tokens and revokes them.

import { call, errorText, fetchPages } from './curator_client.js';
import { byId, h, setOptions, setProblem, setText } from './dom.js';
import { isAboutToken, logOut } from './login.js';

/**
 * @typedef {import('./curator_client.js').Account} Account
 * @typedef {{id: number, name: string, role: string, accounts: string[], created: number, revoked: number | null}} Token
 */

const field = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (byId(id));

/**
 * Shows an error beside a form; an error about the token shows the login form.
 * @param {string} id
 * @param {unknown} error
 */
function failed(id, error) {
  if (isAboutToken(error)) logOut(error);
  else setProblem([], byId(id), errorText(error));
}

/**
 * Shows the part of the page that only owners see.
 * @param {() => Promise<void>} reload fetches and shows the accounts
 */
export async function startTokens(reload) {
  byId('owners').hidden = false;
  byId('new-account').addEventListener('submit', async (event) => {
    event.preventDefault();
    setProblem([], byId('account-wrong'), '');
    try {
      const file = field('account-plan').files?.[0];
      const paid = file
        ? { plan: await file.text() }
        : { epsilon: field('account-epsilon').value.trim(), delta: field('account-delta').value.trim() || '0' };
      const name = field('account-name').value.trim();
      await call('accounts', { name, dataset: field('account-dataset').value, ...paid });
      /** @type {HTMLFormElement} */ (byId('new-account')).reset();
      await reload();
      setText(byId('live'), `Account ${name} is open`);
    } catch (error) {
      failed('account-wrong', error);
    }
  });
  byId('new-token').addEventListener('submit', async (event) => {
    event.preventDefault();
    setProblem([], byId('token-trouble'), '');
    byId('made').hidden = true;
    try {
      const role = field('token-role').value;
      const accounts = role === 'analyst' ? [...selected()] : [];
      const made = await call('tokens', { name: field('token-name').value.trim(), role, accounts });
      setText(byId('made-for'), `${made.role} ${made.name}`);
      setText(byId('made-token'), made.token);
      byId('made').hidden = false;
      /** @type {HTMLFormElement} */ (byId('new-token')).reset();
      showAccountChoices();
      await tokens();
      byId('made-title').focus();
    } catch (error) {
      failed('token-trouble', error);
    }
  });
  const showAccountChoices = () => {
    byId('token-accounts').hidden = field('token-role').value !== 'analyst';
  };
  byId('token-role').addEventListener('change', showAccountChoices);
  byId('made-gone').addEventListener('click', () => {
    setText(byId('made-token'), '');
    byId('made').hidden = true;
    byId('token-name').focus();
  });
  await tokens();
}

/** The accounts whose boxes are checked. */
function selected() {
  return [...document.querySelectorAll('#token-accounts input:checked')].map((box) => /** @type {HTMLInputElement} */ (box).value);
}

/**
 * Fills the choices of data sets and accounts.
 * @param {Account[]} accounts
 */
export function showChoices(accounts) {
  setOptions(
    /** @type {HTMLSelectElement} */ (byId('account-dataset')),
    accounts.filter((one) => one.parent === null).map((one) => one.name),
  );
  const open = accounts.filter((one) => one.parent !== null && !one.closed).map((one) => one.name);
  const before = new Set(selected());
  byId('token-choices').replaceChildren(
    ...open.map((name) => h('label', {}, h('input', { type: 'checkbox', value: name, checked: before.has(name) }), ' ', name)),
  );
}

async function tokens() {
  show((await fetchPages('tokens')).flatMap((page) => page.tokens));
}

/** @param {Token[]} list */
function show(list) {
  const date = (/** @type {number} */ at) => new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(new Date(1000 * at));
  byId('token-list').replaceChildren(
    h(
      'thead',
      {},
      h('tr', {}, ...['Name', 'Role', 'Accounts', 'Created', ''].map((name) => (name ? h('th', { scope: 'col' }, name) : h('td', {})))),
    ),
    h(
      'tbody',
      {},
      ...list.map((token) =>
        h(
          'tr',
          {},
          h('th', { scope: 'row' }, token.name),
          h('td', {}, token.role),
          h('td', {}, token.accounts.join(', ')),
          h('td', { class: 'whole' }, date(token.created)),
          h(
            'td',
            {},
            token.revoked !== null
              ? 'revoked'
              : token.role === 'owner'
                ? ''
                : h(
                    'button',
                    { type: 'button', onclick: () => revoke(token) },
                    'Revoke',
                    h('span', { class: 'hidden' }, ` the token of ${token.name}`),
                  ),
          ),
        ),
      ),
    ),
  );
}

/** @param {Token} token */
async function revoke({ id, name }) {
  setProblem([], byId('token-trouble'), '');
  try {
    await call(`tokens/${id}`, undefined, undefined, 'DELETE');
    await tokens();
    setText(byId('live'), `The token of ${name} is revoked`);
    byId('tokens-title').focus();
  } catch (error) {
    failed('token-trouble', error);
  }
}

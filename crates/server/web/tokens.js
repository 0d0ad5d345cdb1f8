// What an owner makes: accounts under a data set, and tokens, whose text is shown once.

import { call, pages, words } from './curator.js';
import { at, blame, h, options, say } from './dom.js';
import { isAboutToken, shut } from './door.js';

/**
 * @typedef {import('./curator.js').Account} Account
 * @typedef {{id: number, name: string, role: string, accounts: string[], created: number, revoked: number | null}} Token
 */

const field = (/** @type {string} */ id) => /** @type {HTMLInputElement} */ (at(id));

/**
 * Says what went wrong beside a form, or shuts the page.
 * @param {string} id
 * @param {unknown} error
 */
function failed(id, error) {
  if (isAboutToken(error)) shut(error);
  else blame([], at(id), words(error));
}

/**
 * Opens the part of the page that owners have.
 * @param {() => Promise<void>} reload shows how accounts stand now
 */
export async function openOwner(reload) {
  at('owners').hidden = false;
  at('new-account').addEventListener('submit', async (event) => {
    event.preventDefault();
    blame([], at('account-wrong'), '');
    try {
      const file = field('account-plan').files?.[0];
      const paid = file
        ? { plan: await file.text() }
        : { epsilon: field('account-epsilon').value.trim(), delta: field('account-delta').value.trim() || '0' };
      const name = field('account-name').value.trim();
      await call('accounts', { name, dataset: field('account-dataset').value, ...paid });
      /** @type {HTMLFormElement} */ (at('new-account')).reset();
      await reload();
      say(at('live'), `Account ${name} is open`);
    } catch (error) {
      failed('account-wrong', error);
    }
  });
  at('new-token').addEventListener('submit', async (event) => {
    event.preventDefault();
    blame([], at('token-trouble'), '');
    at('made').hidden = true;
    try {
      const role = field('token-role').value;
      const accounts = role === 'analyst' ? [...selected()] : [];
      const made = await call('tokens', { name: field('token-name').value.trim(), role, accounts });
      say(at('made-for'), `${made.role} ${made.name}`);
      say(at('made-token'), made.token);
      at('made').hidden = false;
      /** @type {HTMLFormElement} */ (at('new-token')).reset();
      of();
      await tokens();
      at('made-title').focus();
    } catch (error) {
      failed('token-trouble', error);
    }
  });
  const of = () => {
    at('token-accounts').hidden = field('token-role').value !== 'analyst';
  };
  at('token-role').addEventListener('change', of);
  at('made-gone').addEventListener('click', () => {
    say(at('made-token'), '');
    at('made').hidden = true;
    at('token-name').focus();
  });
  await tokens();
}

/** The accounts that are ticked. */
function selected() {
  return [...document.querySelectorAll('#token-accounts input:checked')].map((box) => /** @type {HTMLInputElement} */ (box).value);
}

/**
 * The choices that depend on which accounts there are.
 * @param {Account[]} accounts
 */
export function choices(accounts) {
  options(
    /** @type {HTMLSelectElement} */ (at('account-dataset')),
    accounts.filter((one) => one.parent === null).map((one) => one.name),
  );
  const open = accounts.filter((one) => one.parent !== null && !one.closed).map((one) => one.name);
  const before = new Set(selected());
  at('token-choices').replaceChildren(
    ...open.map((name) => h('label', {}, h('input', { type: 'checkbox', value: name, checked: before.has(name) }), ' ', name)),
  );
}

async function tokens() {
  show((await pages('tokens')).flatMap((page) => page.tokens));
}

/** @param {Token[]} list */
function show(list) {
  const date = (/** @type {number} */ at) => new Intl.DateTimeFormat('en', { dateStyle: 'medium' }).format(new Date(1000 * at));
  at('token-list').replaceChildren(
    h(
      'thead',
      {},
      h('tr', {}, ...['Name', 'Role', 'Accounts', 'Made', ''].map((name) => (name ? h('th', { scope: 'col' }, name) : h('td', {})))),
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
  blame([], at('token-trouble'), '');
  try {
    await call(`tokens/${id}`, undefined, undefined, 'DELETE');
    await tokens();
    say(at('live'), `The token of ${name} is revoked`);
    at('tokens-title').focus();
  } catch (error) {
    failed('token-trouble', error);
  }
}

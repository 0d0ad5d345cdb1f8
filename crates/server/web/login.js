// The login form: takes a token, finds its holder, and logs out again.

import { byId, setProblem, setText } from './dom.js';
import { errorText, forgetToken, hasToken, ServiceError, tryToken, whoAmI } from './curator_client.js';

/** @typedef {import('./curator_client.js').Me} Me */

/**
 * Shows the page to holders of a token with one of these roles; shows the login form to everybody else.
 * @param {string[]} roles
 * @param {string} elsewhere a sentence for holders of other roles
 * @param {(me: Me) => Promise<void>} open fills the page
 */
export function login(roles, elsewhere, open) {
  const form = /** @type {HTMLFormElement} */ (byId('login'));
  const field = /** @type {HTMLInputElement} */ (byId('token'));
  const admit = async (/** @type {() => Promise<Me>} */ holder) => {
    setProblem([field], byId('token-wrong'), '');
    form.setAttribute('aria-busy', 'true');
    try {
      const me = await holder();
      if (!roles.includes(me.role)) throw new Error(`${me.name}’s token is ${withArticle(me.role)}’s. ${elsewhere}`);
      await open(me);
      setText(byId('who'), `${me.name}, ${me.role}`);
      field.value = '';
      form.hidden = true;
      byId('inside').hidden = false;
      byId('inside-title').focus();
    } catch (error) {
      logOut(error);
    }
    form.removeAttribute('aria-busy');
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    admit(() => tryToken(field.value.trim()));
  });
  byId('forget').addEventListener('click', () => {
    forgetToken();
    location.reload();
  });
  if (hasToken()) admit(whoAmI);
  else form.hidden = false;
}

/**
 * Shows the login form with an error.
 * @param {unknown} error
 */
export function logOut(error) {
  byId('login').hidden = false;
  byId('inside').hidden = true;
  setProblem([byId('token')], byId('token-wrong'), errorText(error));
}

/**
 * True for an error about the token itself.
 * @param {unknown} error
 */
export function isAboutToken(error) {
  return error instanceof ServiceError && error.status === 401;
}

/** @param {string} role */
function withArticle(role) {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;
}

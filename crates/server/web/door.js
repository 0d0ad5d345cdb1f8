// The way in: a token, whose it is, and the way out.

import { at, blame, say } from './dom.js';
import { enter, forget, hasToken, Refused, whoami, words } from './curator.js';

/** @typedef {import('./curator.js').Me} Me */

/**
 * Lets in whoever has a token of one of these roles.
 * @param {string[]} roles
 * @param {string} elsewhere what others are told
 * @param {(me: Me) => Promise<void>} open
 */
export function door(roles, elsewhere, open) {
  const form = /** @type {HTMLFormElement} */ (at('door'));
  const field = /** @type {HTMLInputElement} */ (at('token'));
  const admit = async (/** @type {() => Promise<Me>} */ ask) => {
    blame([field], at('token-wrong'), '');
    form.setAttribute('aria-busy', 'true');
    try {
      const me = await ask();
      if (!roles.includes(me.role)) throw new Error(`${me.name}’s token is ${article(me.role)}’s. ${elsewhere}`);
      await open(me);
      say(at('who'), `${me.name}, ${me.role}`);
      field.value = '';
      form.hidden = true;
      at('inside').hidden = false;
      at('inside-title').focus();
    } catch (error) {
      shut(error);
    }
    form.removeAttribute('aria-busy');
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    admit(() => enter(field.value.trim()));
  });
  at('forget').addEventListener('click', () => {
    forget();
    location.reload();
  });
  if (hasToken()) admit(whoami);
  else form.hidden = false;
}

/**
 * Shuts the page again, and says why.
 * @param {unknown} error
 */
export function shut(error) {
  at('door').hidden = false;
  at('inside').hidden = true;
  blame([at('token')], at('token-wrong'), words(error));
}

/**
 * Whether an error is about the token itself.
 * @param {unknown} error
 */
export function isAboutToken(error) {
  return error instanceof Refused && error.status === 401;
}

/** @param {string} role */
function article(role) {
  return `${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role}`;
}

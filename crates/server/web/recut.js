// Shows the slots of an account and exchanges unused ones for new slots.

import { call, errorText } from './curator_client.js';
import { byId, h, setProblem, setText } from './dom.js';
import { isAboutToken, logOut } from './login.js';

/**
 * @typedef {import('./curator_client.js').Account} Account
 * @typedef {import('./curator_client.js').Slot} Slot
 * @typedef {{name: string, mechanism: string, one: string, other: string, count: string}} NewSlot
 */

/** The mechanisms that a new slot may declare, with their two parameters. @type {Record<string, {label: string, fields: [string, string], start: [string, string]}>} */
const MECHANISMS = {
  'approx-dp': { label: 'any mechanism', fields: ['epsilon', 'delta'], start: ['', '0'] },
  laplace: { label: 'Laplace noise', fields: ['scale', 'sensitivity'], start: ['', '1'] },
  gaussian: { label: 'Gaussian noise', fields: ['sigma', 'sensitivity'], start: ['', '1'] },
};

/** The state of the form. */
const state = {
  /** @type {Account | null} */
  account: null,
  /** @type {Map<string, string>} the number of openings to give up of each slot */
  given: new Map(),
  /** @type {NewSlot[]} */
  made: [],
  /** @type {(account: Account) => void} called after an exchange */
  onChange: () => {},
};

/** @returns {NewSlot} */
function newSlot() {
  return { name: '', mechanism: 'approx-dp', one: '', other: '0', count: '1' };
}

/**
 * The release that a slot declares, as a text.
 * @param {Slot} slot
 */
function declarationText({ declares }) {
  if (!declares) return '';
  const { mechanism, name, count, recipe, also, ...numbers } = declares;
  return [mechanism, ...Object.entries(numbers).map(([field, value]) => `${field} ${value}`)].join(', ');
}

/**
 * Shows the slots of an account, and the form if any are unused.
 * @param {Account | undefined} account
 * @param {(account: Account) => void} onChange
 */
export function showSlots(account, onChange) {
  state.onChange = onChange;
  const slots = account?.slots ?? [];
  byId('slots').hidden = slots.length === 0;
  if (!account || slots.length === 0) return;
  if (state.account?.name !== account.name) Object.assign(state, { given: new Map(), made: [newSlot()] });
  state.account = account;
  byId('slot-list').replaceChildren(
    ...slots.map((slot) =>
      h('li', {}, h('b', {}, slot.name), ` ${slot.count - slot.used} of ${slot.count} openings left`, h('small', {}, ` ${declarationText(slot)}`)),
    ),
  );
  byId('recut').hidden = account.closed || slots.every((slot) => slot.used >= slot.count);
  form(slots.filter((slot) => slot.used < slot.count));
}

/** @param {Slot[]} slots the slots with unused openings */
function form(slots) {
  byId('recut-given').replaceChildren(
    ...slots.map((slot, index) =>
      h(
        'div',
        { class: 'line' },
        h('label', { for: `give-${index}` }, slot.name),
        h('input', {
          id: `give-${index}`,
          type: 'number',
          min: 0,
          max: slot.count - slot.used,
          value: state.given.get(slot.name) ?? '0',
          oninput: (/** @type {Event} */ event) => {
            state.given.set(slot.name, /** @type {HTMLInputElement} */ (event.target).value);
            clearResult();
          },
        }),
        h('span', { class: 'hint' }, `of ${slot.count - slot.used} openings`),
      ),
    ),
  );
  byId('recut-made').replaceChildren(...state.made.map(line));
}

/**
 * @param {NewSlot} made
 * @param {number} index
 */
function line(made, index) {
  const { fields } = MECHANISMS[made.mechanism] ?? { fields: ['epsilon', 'delta'] };
  const input = (/** @type {'name' | 'one' | 'other' | 'count'} */ name, /** @type {string} */ label, /** @type {number} */ size) =>
    h('input', {
      value: made[name],
      size,
      autocomplete: 'off',
      spellcheck: 'false',
      'aria-label': `New slot ${index + 1}: ${label}`,
      placeholder: label,
      'data-made': `${index}-${name}`,
      oninput: (/** @type {Event} */ event) => {
        made[name] = /** @type {HTMLInputElement} */ (event.target).value;
        clearResult();
      },
    });
  const kind = h(
    'select',
    {
      'aria-label': `New slot ${index + 1}: mechanism`,
      onchange: () => {
        const [one, other] = MECHANISMS[kind.value]?.start ?? ['', ''];
        Object.assign(made, { mechanism: kind.value, one, other });
        clearResult();
        byId('recut-made').replaceChildren(...state.made.map(line));
      },
    },
    ...Object.entries(MECHANISMS).map(([value, { label }]) => h('option', { value, selected: value === made.mechanism }, label)),
  );
  return h(
    'div',
    { class: 'line new-slot' },
    input('name', 'name', 10),
    input('count', 'openings', 3),
    h('span', {}, '×'),
    kind,
    ...fields.flatMap((field, place) => [
      h('span', { class: 'hint', 'aria-hidden': 'true' }, field),
      input(place === 0 ? 'one' : 'other', field, 7),
    ]),
    h(
      'button',
      {
        type: 'button',
        class: 'tool',
        'aria-label': `Remove new slot ${index + 1}`,
        onclick: () => {
          state.made.splice(index, 1);
          clearResult();
          byId('recut-made').replaceChildren(...state.made.map(line));
          byId('recut-add').focus();
        },
      },
      '×',
    ),
  );
}

/** Clears the result of the last check, which is about an older form. */
function clearResult() {
  setProblem([], byId('recut-wrong'), '');
  setText(byId('recut-said'), '');
}

/** The request that the form describes. */
function recutRequest() {
  const unused = [...state.given].map(([slot, count]) => ({ slot, count: Number(count) })).filter(({ count }) => count !== 0);
  const number = (/** @type {string} */ text) => (Number.isFinite(Number(text)) && text.trim() !== '' ? Number(text) : text);
  const release = state.made.map(({ name, mechanism, one, other, count }) => {
    const [first = '', second = ''] = MECHANISMS[mechanism]?.fields ?? [];
    return {
      ...(name.trim() ? { name: name.trim() } : {}),
      mechanism,
      [first]: number(one),
      [second]: number(other),
      count: number(count),
    };
  });
  return { unused, into: JSON.stringify({ release }) };
}

/** @param {boolean} isTry checks the exchange without making it */
async function send(isTry) {
  if (!state.account) return;
  clearResult();
  try {
    const path = `accounts/${encodeURIComponent(state.account.name)}/recut${isTry ? '/rehearsal' : ''}`;
    const account = await call(path, recutRequest());
    setText(byId('recut-said'), isTry ? 'This exchange is allowed. Nothing has changed yet.' : 'The slots were exchanged.');
    if (isTry) return;
    Object.assign(state, { given: new Map(), made: [newSlot()] });
    state.onChange(account);
  } catch (error) {
    if (isAboutToken(error)) logOut(error);
    else setProblem([], byId('recut-wrong'), errorText(error));
  }
}

byId('recut-add').addEventListener('click', () => {
  state.made.push(newSlot());
  byId('recut-made').replaceChildren(...state.made.map(line));
  const last = document.querySelector(`[data-made="${state.made.length - 1}-name"]`);
  if (last instanceof HTMLElement) last.focus();
});
byId('recut-try').addEventListener('click', () => send(true));
byId('recut-now').addEventListener('click', () => send(false));

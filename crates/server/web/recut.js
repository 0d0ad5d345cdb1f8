// Slots that are not used yet, cut otherwise: what is given up, what is made of it, and whether the ledger allows it.

import { call, words } from './curator.js';
import { at, blame, h, say } from './dom.js';
import { isAboutToken, shut } from './door.js';

/**
 * @typedef {import('./curator.js').Account} Account
 * @typedef {import('./curator.js').Slot} Slot
 * @typedef {{name: string, mechanism: string, one: string, other: string, count: string}} Made
 */

/** What a new slot may declare, and its two numbers. @type {Record<string, {label: string, fields: [string, string], start: [string, string]}>} */
const MECHANISMS = {
  'approx-dp': { label: 'up to', fields: ['epsilon', 'delta'], start: ['', '0'] },
  laplace: { label: 'Laplace noise', fields: ['scale', 'sensitivity'], start: ['', '1'] },
  gaussian: { label: 'Gaussian noise', fields: ['sigma', 'sensitivity'], start: ['', '1'] },
};

/** All that the form shows. */
const state = {
  /** @type {Account | null} */
  account: null,
  /** @type {Map<string, string>} how many openings of each slot are given up */
  given: new Map(),
  /** @type {Made[]} */
  made: [],
};
/** @type {(account: Account) => void} */
let changed = () => {};

/** @returns {Made} */
function fresh() {
  return { name: '', mechanism: 'approx-dp', one: '', other: '0', count: '1' };
}

/**
 * What a slot declares, in words.
 * @param {Slot} slot
 */
export function declares({ declares }) {
  if (!declares) return '';
  const { mechanism, name, count, recipe, also, ...numbers } = declares;
  return [mechanism, ...Object.entries(numbers).map(([field, value]) => `${field} ${value}`)].join(', ');
}

/**
 * Shows the slots of an account, and the form if something is left of them.
 * @param {Account | undefined} account
 * @param {(account: Account) => void} onChange
 */
export function recutting(account, onChange) {
  changed = onChange;
  const slots = account?.slots ?? [];
  at('slots').hidden = slots.length === 0;
  if (!account || slots.length === 0) return;
  if (state.account?.name !== account.name) Object.assign(state, { given: new Map(), made: [fresh()] });
  state.account = account;
  at('slot-list').replaceChildren(
    ...slots.map((slot) =>
      h('li', {}, h('b', {}, slot.name), ` ${slot.count - slot.used} of ${slot.count} left`, h('small', {}, ` ${declares(slot)}`)),
    ),
  );
  at('recut').hidden = account.closed || slots.every((slot) => slot.used >= slot.count);
  form(slots.filter((slot) => slot.used < slot.count));
}

/** @param {Slot[]} slots those that are left */
function form(slots) {
  at('recut-given').replaceChildren(
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
            forget();
          },
        }),
        h('span', { class: 'hint' }, `of ${slot.count - slot.used} left`),
      ),
    ),
  );
  at('recut-made').replaceChildren(...state.made.map(line));
}

/**
 * @param {Made} made
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
        forget();
      },
    });
  const kind = h(
    'select',
    {
      'aria-label': `New slot ${index + 1}: what runs in it`,
      onchange: () => {
        const [one, other] = MECHANISMS[kind.value]?.start ?? ['', ''];
        Object.assign(made, { mechanism: kind.value, one, other });
        forget();
        at('recut-made').replaceChildren(...state.made.map(line));
      },
    },
    ...Object.entries(MECHANISMS).map(([value, { label }]) => h('option', { value, selected: value === made.mechanism }, label)),
  );
  return h(
    'div',
    { class: 'line new-slot' },
    input('name', 'name', 10),
    input('count', 'times', 3),
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
          forget();
          at('recut-made').replaceChildren(...state.made.map(line));
          at('recut-add').focus();
        },
      },
      '×',
    ),
  );
}

/** What was said of the last try is not about what stands there now. */
function forget() {
  blame([], at('recut-wrong'), '');
  say(at('recut-said'), '');
}

/** What the form stands for. */
function asked() {
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

/** @param {boolean} isTry */
async function send(isTry) {
  if (!state.account) return;
  forget();
  try {
    const path = `accounts/${encodeURIComponent(state.account.name)}/recut${isTry ? '/rehearsal' : ''}`;
    const account = await call(path, asked());
    say(at('recut-said'), isTry ? 'It can be cut so. Nothing was changed.' : 'The slots are cut.');
    if (isTry) return;
    Object.assign(state, { given: new Map(), made: [fresh()] });
    changed(account);
  } catch (error) {
    if (isAboutToken(error)) shut(error);
    else blame([], at('recut-wrong'), words(error));
  }
}

at('recut-add').addEventListener('click', () => {
  state.made.push(fresh());
  at('recut-made').replaceChildren(...state.made.map(line));
  const last = document.querySelector(`[data-made="${state.made.length - 1}-name"]`);
  if (last instanceof HTMLElement) last.focus();
});
at('recut-try').addEventListener('click', () => send(true));
at('recut-now').addEventListener('click', () => send(false));

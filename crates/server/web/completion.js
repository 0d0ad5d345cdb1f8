// Names that fit what is being typed, in a list below the editor.

import { at, h, say } from './dom.js';
import { literal, name } from './tables.js';

/** @typedef {import('./curator.js').Table} Table */

const MOST = 8;
const WORDS = [
  'SELECT',
  'FROM',
  'WHERE',
  'GROUP BY',
  'BETWEEN',
  'AND',
  'COUNT(*)',
  'AVG(',
  'SUM(',
  'MEDIAN(',
  'QUANTILE(',
  'VARIANCE(',
  'STDDEV(',
  'HISTOGRAM(',
  'CDF(',
  'PROPORTION(',
  'CORR(',
  'COVAR_POP(',
  'REGRESSION(',
];

/**
 * Completes names in an editor: the arrows choose, Enter takes, Escape puts the list away.
 * @param {HTMLTextAreaElement} editor
 * @param {HTMLElement} list
 */
export function complete(editor, list) {
  /** @type {string[]} */
  let names = [];
  /** @type {string[]} what fits now */
  let found = [];
  let chosen = -1;
  let from = 0;

  const close = () => {
    found = [];
    chosen = -1;
    list.hidden = true;
    editor.removeAttribute('aria-activedescendant');
  };
  const show = () => {
    list.hidden = found.length === 0;
    list.replaceChildren(
      ...found.map((text, index) =>
        h(
          'li',
          {
            id: `fits-${index}`,
            role: 'option',
            'aria-selected': String(index === chosen),
            // The editor keeps the focus.
            onmousedown: (/** @type {Event} */ event) => {
              event.preventDefault();
              take(index);
            },
          },
          text,
        ),
      ),
    );
    if (chosen < 0) editor.removeAttribute('aria-activedescendant');
    else editor.setAttribute('aria-activedescendant', `fits-${chosen}`);
  };
  const look = () => {
    const before = editor.value.slice(0, editor.selectionStart);
    const typed = /(?:'[^'\n]*|"[^"\n]*|[A-Za-z_][A-Za-z0-9_]*)$/.exec(before)?.[0] ?? '';
    const isOpen = (before.match(/'/g) ?? []).length % 2 === 1;
    close();
    if (typed === '' || editor.selectionStart !== editor.selectionEnd || (typed.startsWith("'") && !isOpen)) return;
    const start = typed.toLowerCase();
    from = editor.selectionStart - typed.length;
    found = [...new Set([...names, ...WORDS])].filter((text) => text.toLowerCase().startsWith(start)).slice(0, MOST);
    if (found.some((text) => text.toLowerCase() === start)) found = [];
    show();
    if (found.length) say(at('live'), `${found.length} names fit; arrow down chooses`);
  };
  const take = (/** @type {number} */ index) => {
    const text = found[index];
    if (text === undefined) return;
    editor.setSelectionRange(from, editor.selectionStart);
    if (!document.execCommand('insertText', false, text)) {
      editor.setRangeText(text, from, editor.selectionEnd, 'end');
      editor.dispatchEvent(new Event('input'));
    }
    close();
  };

  editor.addEventListener('input', look);
  editor.addEventListener('blur', close);
  editor.addEventListener('keydown', (event) => {
    if (found.length === 0 || event.ctrlKey || event.metaKey) return;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      chosen = (chosen + (event.key === 'ArrowDown' ? 1 : found.length) + (chosen < 0 && event.key === 'ArrowUp' ? 1 : 0)) % found.length;
      show();
    } else if (event.key === 'Enter' && chosen >= 0) take(chosen);
    else if (event.key === 'Escape') close();
    else return;
    event.preventDefault();
  });
  return (/** @type {Table[]} */ tables) => {
    names = tables.flatMap((table) => [
      name(table.name),
      ...table.columns.flatMap((column) => [name(column.name), ...(column.categories ?? []).map(literal)]),
    ]);
  };
}

// Suggests names for the text that is being typed, in a list below the editor.

import { byId, h, setText } from './dom.js';
import { sqlLiteral, sqlName } from './table_list.js';

/** @typedef {import('./curator_client.js').Table} Table */

/** The most suggestions that are shown. */
const MAX_SUGGESTIONS = 8;
const SQL_WORDS = [
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
 * Completes names in an editor: arrow keys choose, Enter inserts, Escape closes the list. Returns a function that sets the names.
 * @param {HTMLTextAreaElement} editor
 * @param {HTMLElement} list
 */
export function complete(editor, list) {
  /** @type {string[]} */
  let names = [];
  /** @type {string[]} the suggestions that are shown */
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
    found = [...new Set([...names, ...SQL_WORDS])].filter((text) => text.toLowerCase().startsWith(start)).slice(0, MAX_SUGGESTIONS);
    if (found.some((text) => text.toLowerCase() === start)) found = [];
    show();
    if (found.length) setText(byId('live'), `${found.length} ${found.length === 1 ? 'suggestion' : 'suggestions'}; the down arrow chooses`);
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
      sqlName(table.name),
      ...table.columns.flatMap((column) => [sqlName(column.name), ...(column.categories ?? []).map(sqlLiteral)]),
    ]);
  };
}

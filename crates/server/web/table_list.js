// The public descriptions of tables, and names and values as SQL writes them.

import { formatNumber, h } from './dom.js';

/**
 * @typedef {import('./curator_client.js').Table} Table
 * @typedef {import('./curator_client.js').Column} Column
 */

/** Reserved words of SQL. */
const RESERVED = new Set(('all and as between by case cast count distinct else end exists false from group having in is join like limit '
  + 'not null on or order select sum table then true union user values when where with').split(' '));
/** The number of categories that are shown at first. */
const MAX_SHOWN = 30;

/**
 * A name as SQL writes it.
 * @param {string} text
 */
export function sqlName(text) {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(text) && !RESERVED.has(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/**
 * A category as SQL writes it.
 * @param {string | number} key
 */
export function sqlLiteral(key) {
  return typeof key === 'number' ? String(key) : `'${key.replaceAll("'", "''")}'`;
}

/**
 * Lists tables and their columns. With `insert`, each name is a button that inserts it.
 * @param {Table[]} tables
 * @param {((sql: string) => void) | null} insert
 * @returns {HTMLElement[]}
 */
export function tableList(tables, insert) {
  const word = (/** @type {string} */ text, /** @type {string} */ sql) => insert
    ? h('button', { type: 'button', class: 'word', title: `Insert ${sql}`, onclick: () => insert(sql) }, text)
    : h('code', {}, text);
  return [
    h('h3', {}, tables.length === 1 ? 'Table' : 'Tables', insert ? h('small', {}, 'Click a name to insert it.') : null),
    ...tables.map((table) => h('div', { class: 'table' },
      h('p', {}, word(table.name, sqlName(table.name))),
      h('p', { class: 'hint' }, about(table)),
      h('dl', {}, ...table.columns.flatMap((column) => [
        h('dt', {}, word(column.name, sqlName(column.name))),
        h('dd', {}, ...values(column, word)),
      ])))),
  ];
}

/** @param {Table} table */
function about(table) {
  const rows = table.rows === 1 ? '1 row' : `${table.rows} rows`;
  const groups = table.person !== null && table.groups < table.rows ? `, in at most ${table.groups} groups` : '';
  const person = table.person === null ? 'Each row is one person.' : `Column ${table.person} identifies the person of a row; at most ${rows} of each person are used${groups}.`;
  const people = table.people === null ? '' : ` The table has about ${formatNumber(table.people, 15, 'halfExpand')} people.`;
  const hidden = table.adjacency === 'add-remove' ? 'whether a person is in the table' : 'what a person’s rows say';
  return `${person}${people} Answers hide ${hidden}.`;
}

/**
 * @param {Column} column
 * @param {(text: string, sql: string) => HTMLElement} word
 * @returns {(HTMLElement | string)[]}
 */
function values(column, word) {
  const exact = (/** @type {number} */ value) => formatNumber(value, 15, 'halfExpand');
  if (column.bounds) return [`${exact(column.bounds[0])} to ${exact(column.bounds[1])}`];
  const keys = (column.categories ?? []).map((key) => word(String(key), sqlLiteral(key)));
  if (keys.length <= MAX_SHOWN) return spaced(keys);
  const rest = keys.slice(MAX_SHOWN);
  return [...spaced(keys.slice(0, MAX_SHOWN)), h('details', {}, h('summary', {}, `${rest.length} more`), ...spaced(rest))];
}

/**
 * @param {HTMLElement[]} list
 * @returns {(HTMLElement | string)[]}
 */
function spaced(list) {
  return list.flatMap((element, index) => (index ? [' ', element] : [element]));
}

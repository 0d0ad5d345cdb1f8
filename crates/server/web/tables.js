// What is public about tables.

import { amount, h } from './dom.js';

/**
 * @typedef {import('./curator.js').Table} Table
 * @typedef {import('./curator.js').Column} Column
 */

/** Words that mean something else where they stand alone. */
const TAKEN = new Set(('all and as between by case cast count distinct else end exists false from group having in is join like limit '
  + 'not null on or order select sum table then true union user values when where with').split(' '));
/** So many categories are shown at first. */
const MOST = 30;

/**
 * A name as it is written in SQL.
 * @param {string} text
 */
export function name(text) {
  const isPlain = /^[a-z_][a-z0-9_]*$/.test(text) && !TAKEN.has(text);
  return isPlain ? text : `"${text.replaceAll('"', '""')}"`;
}

/**
 * A category as it is written in SQL.
 * @param {string | number} key
 */
export function literal(key) {
  return typeof key === 'number' ? String(key) : `'${key.replaceAll("'", "''")}'`;
}

/**
 * Tables with their columns; names are buttons if something can be done with them.
 * @param {Table[]} tables
 * @param {((sql: string) => void) | null} insert
 * @returns {HTMLElement[]}
 */
export function listed(tables, insert) {
  const word = (/** @type {string} */ text, /** @type {string} */ sql) => insert
    ? h('button', { type: 'button', class: 'word', title: `Insert ${sql}`, onclick: () => insert(sql) }, text)
    : h('code', {}, text);
  return [
    h('h3', {}, tables.length === 1 ? 'Table' : 'Tables', insert ? h('small', {}, 'Click a name to insert it.') : null),
    ...tables.map((table) => h('div', { class: 'table' },
      h('p', {}, word(table.name, name(table.name))),
      h('p', { class: 'hint' }, about(table)),
      h('dl', {}, ...table.columns.flatMap((column) => [
        h('dt', {}, word(column.name, name(column.name))),
        h('dd', {}, ...values(column, word)),
      ])))),
  ];
}

/** @param {Table} table */
function about(table) {
  const person = table.person === null ? 'A row is a person' : `A person (${table.person}) has at most ${table.rows} rows in use`;
  const groups = table.person !== null && table.groups < table.rows ? `, in at most ${table.groups} groups` : '';
  const people = table.people === null ? '' : `; about ${amount(table.people, 15, 'halfExpand')} people`;
  const hidden = table.adjacency === 'add-remove' ? 'That a person is there at all is protected.' : 'What a person’s data say is protected.';
  return `${person}${groups}${people}. ${hidden}`;
}

/**
 * @param {Column} column
 * @param {(text: string, sql: string) => HTMLElement} word
 * @returns {(HTMLElement | string)[]}
 */
function values(column, word) {
  const exact = (/** @type {number} */ value) => amount(value, 15, 'halfExpand');
  if (column.bounds) return [`${exact(column.bounds[0])} to ${exact(column.bounds[1])}`];
  const keys = (column.categories ?? []).map((key) => word(String(key), literal(key)));
  if (keys.length <= MOST) return spaced(keys);
  const rest = keys.slice(MOST);
  return [...spaced(keys.slice(0, MOST)), h('details', {}, h('summary', {}, `${rest.length} more`), ...spaced(rest))];
}

/**
 * @param {HTMLElement[]} list
 * @returns {(HTMLElement | string)[]}
 */
function spaced(list) {
  return list.flatMap((element, index) => (index ? [' ', element] : [element]));
}

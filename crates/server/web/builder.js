// A form that writes the SQL: what is chosen is one object, and the question is a function of it.

import { at, h, options } from './dom.js';
import { literal, name } from './tables.js';

/**
 * @typedef {import('./curator.js').Table} Table
 * @typedef {import('./curator.js').Column} Column
 * @typedef {{table: string, of: string, column: string, edges: string, category: string, where: string, low: string, high: string, is: string,
 *   by: string, also: string}} Chosen
 */

/** The aggregates: their names here, their columns, and their SQL. @type {Record<string, {label: string, holds: '' | 'numbers' | 'groups'}>} */
const AGGREGATES = {
  COUNT: { label: 'how many rows', holds: '' },
  AVG: { label: 'the mean', holds: 'numbers' },
  SUM: { label: 'the sum', holds: 'numbers' },
  MEDIAN: { label: 'the median', holds: 'numbers' },
  VARIANCE: { label: 'the variance', holds: 'numbers' },
  STDDEV: { label: 'the standard deviation', holds: 'numbers' },
  HISTOGRAM: { label: 'a histogram', holds: 'numbers' },
  PROPORTION: { label: 'the share', holds: 'groups' },
};

const FIELDS = /** @type {const} */ (['table', 'of', 'column', 'edges', 'category', 'where', 'low', 'high', 'is', 'by', 'also']);

/** @param {keyof Chosen} field */
function input(field) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (at(`b-${field}`));
}

/** @param {Column} column @param {'' | 'numbers' | 'groups'} holds */
function fits(column, holds) {
  return holds === 'numbers' ? !!column.bounds : holds === 'groups' ? !!column.categories : false;
}

/**
 * Fills the form, and writes the question at every change.
 * @param {Table[]} tables
 * @param {(sql: string, epsilon: string) => void} write
 */
export function builder(tables, write) {
  /** @type {Chosen} */
  const chosen = {
    table: tables[0]?.name ?? '',
    of: 'COUNT',
    column: '',
    edges: '',
    category: '',
    where: '',
    low: '',
    high: '',
    is: '',
    by: '',
    also: '',
  };
  const select = (/** @type {keyof Chosen} */ field, /** @type {string[]} */ values, /** @type {string} */ empty) => {
    const element = /** @type {HTMLSelectElement} */ (input(field));
    const all = empty ? ['', ...values] : values;
    options(element, all);
    if (empty && element.options[0]) element.options[0].textContent = empty;
    if (!all.includes(chosen[field])) chosen[field] = all[0] ?? '';
    element.value = chosen[field];
  };
  const show = () => {
    const table = tables.find((one) => one.name === chosen.table);
    const columns = table?.columns ?? [];
    const { holds } = AGGREGATES[chosen.of] ?? { holds: '' };
    select(
      'table',
      tables.map((one) => one.name),
      '',
    );
    select(
      'column',
      columns.filter((column) => fits(column, holds)).map((column) => column.name),
      '',
    );
    const of = columns.find((column) => column.name === chosen.column);
    select('category', (of?.categories ?? []).map(String), '');
    select(
      'where',
      columns.map((column) => column.name),
      'all rows',
    );
    const where = columns.find((column) => column.name === chosen.where);
    select('is', (where?.categories ?? []).map(String), '');
    const groups = columns.filter((column) => column.categories).map((column) => column.name);
    select('by', groups, 'all together');
    select(
      'also',
      groups.filter((group) => group !== chosen.by),
      'no other',
    );
    at('b-column-line').hidden = holds === '';
    at('b-edges-line').hidden = chosen.of !== 'HISTOGRAM';
    at('b-category-line').hidden = chosen.of !== 'PROPORTION';
    at('b-between').hidden = !where?.bounds;
    at('b-is').hidden = !where?.categories;
    at('b-also-line').hidden = chosen.by === '';
    const [low, high] = where?.bounds ?? [];
    /** @type {HTMLInputElement} */ (input('low')).placeholder = String(low ?? '');
    /** @type {HTMLInputElement} */ (input('high')).placeholder = String(high ?? '');
    /** @type {HTMLInputElement} */ (input('edges')).placeholder = of?.bounds ? edges(of.bounds) : '';
    return table;
  };
  const changed = () => {
    for (const field of FIELDS) chosen[field] = input(field).value;
    const table = show();
    if (table) write(sql(table, chosen), /** @type {HTMLInputElement} */ (at('b-epsilon')).value);
  };
  const kinds = Object.entries(AGGREGATES).map(([value, { label }]) => h('option', { value }, label));
  input('of').replaceChildren(...kinds);
  show();
  for (const field of FIELDS) input(field).addEventListener(input(field) instanceof HTMLSelectElement ? 'change' : 'input', changed);
  at('b-epsilon').addEventListener('input', changed);
  at('b-write').addEventListener('click', changed);
}

/**
 * Six edges from one bound to the other.
 * @param {[number, number]} bounds
 */
export function edges([low, high]) {
  return [0, 1, 2, 3, 4, 5].map((part) => Number((low + ((high - low) * part) / 5).toPrecision(6))).join(', ');
}

/**
 * @param {Table} table
 * @param {Chosen} chosen
 */
function sql(table, chosen) {
  const column = table.columns.find((one) => one.name === chosen.column);
  const groups = chosen.by ? [chosen.by, chosen.also].filter(Boolean).map(name) : [];
  const lines = [`SELECT ${[...groups, aggregate(chosen, column)].join(', ')}`, `FROM ${name(table.name)}`];
  const where = table.columns.find((one) => one.name === chosen.where);
  const key = where?.categories?.find((one) => String(one) === chosen.is);
  if (where?.bounds) lines.push(`WHERE ${name(where.name)} BETWEEN ${chosen.low || where.bounds[0]} AND ${chosen.high || where.bounds[1]}`);
  if (where && key !== undefined) lines.push(`WHERE ${name(where.name)} = ${literal(key)}`);
  if (groups.length) lines.push(`GROUP BY ${groups.join(', ')}`);
  return lines.join('\n');
}

/**
 * @param {Chosen} chosen
 * @param {Column | undefined} column
 */
function aggregate({ of, edges: typed, category }, column) {
  if (of === 'COUNT' || !column) return 'COUNT(*)';
  const key = column.categories?.find((one) => String(one) === category) ?? '';
  const more = of === 'HISTOGRAM' ? `, ${typed.trim() || edges(column.bounds ?? [0, 1])}` : of === 'PROPORTION' ? `, ${literal(key)}` : '';
  return `${of}(${name(column.name)}${more})`;
}

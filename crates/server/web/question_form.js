// A form that writes the SQL. The choices are one object; the SQL is a function of it.

import { byId, h, setOptions } from './dom.js';
import { sqlLiteral, sqlName } from './table_list.js';

/**
 * @typedef {import('./curator_client.js').Table} Table
 * @typedef {import('./curator_client.js').Column} Column
 * @typedef {{table: string, of: string, column: string, edges: string, category: string, where: string, low: string, high: string, is: string,
 *   by: string, also: string}} Choices
 */

/** The aggregates by their SQL names, with their labels and the columns they apply to. @type {Record<string, {label: string, holds: '' | 'numbers' | 'groups'}>} */
const AGGREGATES = {
  COUNT: { label: 'the number of rows', holds: '' },
  AVG: { label: 'the mean', holds: 'numbers' },
  SUM: { label: 'the sum', holds: 'numbers' },
  MEDIAN: { label: 'the median', holds: 'numbers' },
  VARIANCE: { label: 'the variance', holds: 'numbers' },
  STDDEV: { label: 'the standard deviation', holds: 'numbers' },
  HISTOGRAM: { label: 'a histogram', holds: 'numbers' },
  PROPORTION: { label: 'the share of rows', holds: 'groups' },
};

const FIELDS = /** @type {const} */ (['table', 'of', 'column', 'edges', 'category', 'where', 'low', 'high', 'is', 'by', 'also']);

/** @param {keyof Choices} field */
function input(field) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (byId(`b-${field}`));
}

/** @param {Column} column @param {'' | 'numbers' | 'groups'} holds */
function fits(column, holds) {
  return holds === 'numbers' ? !!column.bounds : holds === 'groups' ? !!column.categories : false;
}

/**
 * Fills the form. Calls `write` with the SQL after every change.
 * @param {Table[]} tables
 * @param {(sql: string, epsilon: string) => void} write
 */
export function startQuestionForm(tables, write) {
  /** @type {Choices} */
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
  const select = (/** @type {keyof Choices} */ field, /** @type {string[]} */ values, /** @type {string} */ empty) => {
    const element = /** @type {HTMLSelectElement} */ (input(field));
    const all = empty ? ['', ...values] : values;
    setOptions(element, all);
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
    byId('b-column-line').hidden = holds === '';
    byId('b-edges-line').hidden = chosen.of !== 'HISTOGRAM';
    byId('b-category-line').hidden = chosen.of !== 'PROPORTION';
    byId('b-between').hidden = !where?.bounds;
    byId('b-is').hidden = !where?.categories;
    byId('b-also-line').hidden = chosen.by === '';
    const [low, high] = where?.bounds ?? [];
    /** @type {HTMLInputElement} */ (input('low')).placeholder = String(low ?? '');
    /** @type {HTMLInputElement} */ (input('high')).placeholder = String(high ?? '');
    /** @type {HTMLInputElement} */ (input('edges')).placeholder = of?.bounds ? edges(of.bounds) : '';
    return table;
  };
  const changed = () => {
    for (const field of FIELDS) chosen[field] = input(field).value;
    const table = show();
    if (table) write(sql(table, chosen), /** @type {HTMLInputElement} */ (byId('b-epsilon')).value);
  };
  const kinds = Object.entries(AGGREGATES).map(([value, { label }]) => h('option', { value }, label));
  input('of').replaceChildren(...kinds);
  show();
  for (const field of FIELDS) input(field).addEventListener(input(field) instanceof HTMLSelectElement ? 'change' : 'input', changed);
  byId('b-epsilon').addEventListener('input', changed);
  byId('b-write').addEventListener('click', changed);
}

/**
 * Six evenly spaced edges between the bounds.
 * @param {[number, number]} bounds
 */
export function edges([low, high]) {
  return [0, 1, 2, 3, 4, 5].map((part) => Number((low + ((high - low) * part) / 5).toPrecision(6))).join(', ');
}

/**
 * @param {Table} table
 * @param {Choices} chosen
 */
function sql(table, chosen) {
  const column = table.columns.find((one) => one.name === chosen.column);
  const groups = chosen.by ? [chosen.by, chosen.also].filter(Boolean).map(sqlName) : [];
  const lines = [`SELECT ${[...groups, aggregate(chosen, column)].join(', ')}`, `FROM ${sqlName(table.name)}`];
  const where = table.columns.find((one) => one.name === chosen.where);
  const key = where?.categories?.find((one) => String(one) === chosen.is);
  if (where?.bounds) lines.push(`WHERE ${sqlName(where.name)} BETWEEN ${chosen.low || where.bounds[0]} AND ${chosen.high || where.bounds[1]}`);
  if (where && key !== undefined) lines.push(`WHERE ${sqlName(where.name)} = ${sqlLiteral(key)}`);
  if (groups.length) lines.push(`GROUP BY ${groups.join(', ')}`);
  return lines.join('\n');
}

/**
 * @param {Choices} chosen
 * @param {Column | undefined} column
 */
function aggregate({ of, edges: typed, category }, column) {
  if (of === 'COUNT' || !column) return 'COUNT(*)';
  const key = column.categories?.find((one) => String(one) === category) ?? '';
  const more = of === 'HISTOGRAM' ? `, ${typed.trim() || edges(column.bounds ?? [0, 1])}` : of === 'PROPORTION' ? `, ${sqlLiteral(key)}` : '';
  return `${of}(${sqlName(column.name)}${more})`;
}

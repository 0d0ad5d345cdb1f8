// An answer as a table of one row for each group, as charts, and as CSV.

import { dots, histogram, MOST_POINTS } from './charts.js';
import { amount, digits, h } from './dom.js';

/** @typedef {import('./curator.js').One} One */

/** So many charts are drawn. */
const MOST_CHARTS = 12;

/** @param {One} one */
function group(one) {
  return one.group.join(', ');
}

/**
 * Which of an aggregate's numbers it is: a bin, a share, an edge or a coefficient.
 * @param {One} one
 */
function part(one) {
  const plain = (/** @type {number} */ value) => amount(value, 6, 'halfExpand');
  if (one.bin) return `${plain(one.bin[0])} to ${plain(one.bin[1])}`;
  if (one.share !== undefined) return `share ${plain(one.share)}`;
  return one.edge !== undefined ? `below ${plain(one.edge)}` : (one.coefficient ?? '');
}

/**
 * The numbers that stand in one row.
 * @typedef {{group: (string | number)[], part: string, cells: Map<string, One>}} Row
 * @typedef {{names: string[], groups: string[], hasParts: boolean, rows: Row[]}} Wide
 */

/**
 * A row for each group and part, and a column for each aggregate.
 * @param {One[]} answers
 * @param {string} sql where the names of the groups are
 * @returns {Wide}
 */
function wide(answers, sql) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const one of answers) {
    const key = JSON.stringify([one.group, part(one)]);
    const row = rows.get(key) ?? { group: one.group, part: part(one), cells: new Map() };
    row.cells.set(one.name, one);
    rows.set(key, row);
  }
  const names = [...new Set(answers.map((one) => one.name))];
  return {
    names,
    groups: groupNames(sql, answers[0]?.group.length ?? 0),
    hasParts: answers.some((one) => part(one) !== ''),
    rows: [...rows.values()],
  };
}

/**
 * What the groups are called, as the question has it.
 * @param {string} sql
 * @param {number} count
 */
function groupNames(sql, count) {
  const names = (/\bgroup\s+by\s+([^;]+)/i.exec(sql)?.[1] ?? '').split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  if (names.length === count && names.every((name) => name !== '')) return names;
  return Array.from({ length: count }, (_, index) => (count === 1 ? 'Group' : `Group ${index + 1}`));
}

/**
 * The head and the body of a table.
 * @param {One[]} answers
 * @param {string} sql
 */
export function numbers(answers, sql) {
  const { names, groups, hasParts, rows } = wide(answers, sql);
  const head = [...groups, ...(hasParts ? ['Of'] : [])].map((name) => h('th', { scope: 'col' }, name));
  return [
    h('thead', {}, h('tr', {}, ...head, ...names.map((name) => h('th', { scope: 'col', class: 'right' }, name)))),
    h(
      'tbody',
      {},
      ...rows.map((row) =>
        h(
          'tr',
          {},
          ...row.group.map((key) => h('th', { scope: 'row' }, String(key))),
          hasParts && h('th', { scope: 'row' }, row.part),
          ...names.map((name) => cell(row.cells.get(name))),
        ),
      ),
    ),
  ];
}

/** @param {One | undefined} one */
function cell(one) {
  if (!one) return h('td', {});
  const size = digits(one.value, one.half_width);
  const interval = one.interval && `${amount(one.interval[0], size, 'floor')} to ${amount(one.interval[1], size)}`;
  return h(
    'td',
    { class: 'right' },
    h('span', { class: 'value' }, amount(one.value, size, 'halfExpand')),
    one.half_width !== null && h('span', { class: 'half' }, ` ± ${amount(one.half_width, 3)}`),
    h('small', { class: 'interval' }, interval || 'no interval'),
  );
}

/**
 * The same as CSV: all digits, and the ends of the intervals in columns of their own.
 * @param {One[]} answers
 * @param {string} sql
 */
export function csv(answers, sql) {
  const { names, groups, hasParts, rows } = wide(answers, sql);
  const heads = [
    ...groups,
    ...(hasParts ? ['of'] : []),
    ...names.flatMap((name) => [name, `${name} lower`, `${name} upper`]),
    'confidence',
  ];
  const lines = rows.map((row) => {
    const of = names.map((name) => row.cells.get(name));
    const confidence = of.find((one) => one)?.confidence ?? '';
    return [
      ...row.group,
      ...(hasParts ? [row.part] : []),
      ...of.flatMap((one) => [one?.value ?? '', one?.interval?.[0] ?? '', one?.interval?.[1] ?? '']),
      confidence,
    ];
  });
  return [heads, ...lines].map((line) => `${line.map(field).join(',')}\n`).join('');
}

/** @param {string | number} value */
function field(value) {
  // A text that a spreadsheet would run is one that begins so.
  const text = typeof value === 'string' && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * A chart for each name; of histograms one for each group.
 * @param {One[]} answers
 * @param {number} width
 */
export function charts(answers, width) {
  /** @type {Map<string, One[]>} */
  const series = new Map();
  for (const one of answers) {
    const key = JSON.stringify([one.name, one.bin ? one.group : null, one.share ?? null]);
    series.set(key, [...(series.get(key) ?? []), one]);
  }
  const drawn = [...series.values()].slice(0, MOST_CHARTS).map((list) => h('figure', {}, caption(list), chart(list, width)));
  const left = series.size - drawn.length;
  return [...drawn, ...(left > 0 ? [h('p', { class: 'hint' }, `${left} more are in the table only.`)] : [])];
}

/** @param {One[]} list */
function title([one]) {
  if (!one) return '';
  const share = one.share === undefined ? '' : `, ${part(one)}`;
  return one.name + share + (one.bin && one.group.length ? `, ${group(one)}` : '');
}

/** @param {One[]} list */
function caption(list) {
  const more = list.length > MOST_POINTS && !list[0]?.bin ? ` (the first ${MOST_POINTS} of ${list.length})` : '';
  return h('figcaption', {}, title(list) + more);
}

/**
 * @param {One[]} list
 * @param {number} width
 */
function chart(list, width) {
  const ends = (/** @type {One} */ one) => ({
    value: one.value,
    low: one.interval?.[0] ?? one.value,
    high: one.interval?.[1] ?? one.value,
  });
  if (list[0]?.bin) {
    return histogram(
      title(list),
      list.map((one) => ({ from: one.bin?.[0] ?? 0, to: one.bin?.[1] ?? 0, ...ends(one) })),
      width,
    );
  }
  const label = (/** @type {One} */ one) => [group(one), one.share === undefined ? part(one) : ''].filter(Boolean).join(', ');
  return dots(
    title(list),
    list.map((one) => ({ label: label(one), ...ends(one) })),
    width,
  );
}

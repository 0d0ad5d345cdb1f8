// An answer as a table with one row for each group, as charts and as CSV.

import { dots, histogram, MAX_POINTS } from './charts.js';
import { formatNumber, h, significantDigits } from './dom.js';

/** @typedef {import('./curator_client.js').AnswerNumber} AnswerNumber */

/** The most charts that are drawn. */
const MAX_CHARTS = 12;

/** @param {AnswerNumber} one */
function group(one) {
  return one.group.join(', ');
}

/**
 * The label of one number of an aggregate: its bin, share, edge or coefficient.
 * @param {AnswerNumber} one
 */
function part(one) {
  const plain = (/** @type {number} */ value) => formatNumber(value, 6, 'halfExpand');
  if (one.bin) return `${plain(one.bin[0])} to ${plain(one.bin[1])}`;
  if (one.share !== undefined) return `share ${plain(one.share)}`;
  return one.edge !== undefined ? `below ${plain(one.edge)}` : (one.coefficient ?? '');
}

/**
 * The numbers of one row.
 * @typedef {{group: (string | number)[], part: string, cells: Map<string, AnswerNumber>}} Row
 * @typedef {{names: string[], groups: string[], hasParts: boolean, rows: Row[]}} AnswerTable
 */

/**
 * A row for each group and part, and a column for each aggregate.
 * @param {AnswerNumber[]} answers
 * @param {string} sql names the groups
 * @returns {AnswerTable}
 */
function toTable(answers, sql) {
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
 * The names of the groups, from the question.
 * @param {string} sql
 * @param {number} count
 */
function groupNames(sql, count) {
  const names = (/\bgroup\s+by\s+([^;]+)/i.exec(sql)?.[1] ?? '').split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  if (names.length === count && names.every((name) => name !== '')) return names;
  return Array.from({ length: count }, (_, index) => (count === 1 ? 'Group' : `Group ${index + 1}`));
}

/**
 * The header and body of a table of answers.
 * @param {AnswerNumber[]} answers
 * @param {string} sql
 */
export function numbers(answers, sql) {
  const { names, groups, hasParts, rows } = toTable(answers, sql);
  const head = [...groups, ...(hasParts ? ['Part'] : [])].map((name) => h('th', { scope: 'col' }, name));
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

/** @param {AnswerNumber | undefined} one */
function cell(one) {
  if (!one) return h('td', {});
  const size = significantDigits(one.value, one.half_width);
  const interval = one.interval && `${formatNumber(one.interval[0], size, 'floor')} to ${formatNumber(one.interval[1], size)}`;
  return h(
    'td',
    { class: 'right' },
    h('span', { class: 'value' }, formatNumber(one.value, size, 'halfExpand')),
    one.half_width !== null && h('span', { class: 'half' }, ` ± ${formatNumber(one.half_width, 3)}`),
    h('small', { class: 'interval' }, interval || 'no interval'),
  );
}

/**
 * The answers as CSV, with all digits and separate columns for the ends of the intervals.
 * @param {AnswerNumber[]} answers
 * @param {string} sql
 */
export function csv(answers, sql) {
  const { names, groups, hasParts, rows } = toTable(answers, sql);
  const heads = [
    ...groups,
    ...(hasParts ? ['part'] : []),
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
  // A spreadsheet would execute a text that begins with one of these characters.
  const text = typeof value === 'string' && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * One chart for each aggregate, and for each group of a histogram.
 * @param {AnswerNumber[]} answers
 * @param {number} width
 */
export function charts(answers, width) {
  /** @type {Map<string, AnswerNumber[]>} */
  const series = new Map();
  for (const one of answers) {
    const key = JSON.stringify([one.name, one.bin ? one.group : null, one.share ?? null]);
    series.set(key, [...(series.get(key) ?? []), one]);
  }
  const drawn = [...series.values()].slice(0, MAX_CHARTS).map((list) => h('figure', {}, caption(list), chart(list, width)));
  const left = series.size - drawn.length;
  return [...drawn, ...(left > 0 ? [h('p', { class: 'hint' }, `There is no chart for ${left} more ${left === 1 ? 'aggregate or group' : 'aggregates or groups'}; the table has their numbers.`)] : [])];
}

/** @param {AnswerNumber[]} list */
function title([one]) {
  if (!one) return '';
  const share = one.share === undefined ? '' : `, ${part(one)}`;
  return one.name + share + (one.bin && one.group.length ? `, ${group(one)}` : '');
}

/** @param {AnswerNumber[]} list */
function caption(list) {
  const more = list.length > MAX_POINTS && !list[0]?.bin ? ` (the first ${MAX_POINTS} of ${list.length})` : '';
  return h('figcaption', {}, title(list) + more);
}

/**
 * @param {AnswerNumber[]} list
 * @param {number} width
 */
function chart(list, width) {
  const ends = (/** @type {AnswerNumber} */ one) => ({
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
  const label = (/** @type {AnswerNumber} */ one) => [group(one), one.share === undefined ? part(one) : ''].filter(Boolean).join(', ');
  return dots(
    title(list),
    list.map((one) => ({ label: label(one), ...ends(one) })),
    width,
  );
}

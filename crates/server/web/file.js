// Study files, and the studies on the page that stand for them.

import { fieldsOf, KINDS } from './kinds.js';
import { columnOf, hasColumns, hasError, suggested, wish } from './study.js';
import { nameIn, names, number, numbers, pairs, text } from './texts.js';

/**
 * @typedef {import('./study.js').Column} Column
 * @typedef {import('./study.js').Mode} Mode
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./study.js').Study} Study
 */

/**
 * @param {Statistic} statistic
 * @param {string} name
 */
function pair(statistic, name) {
  const ends = [0, 1].map((end) => number(statistic.fields[`${name}.${end}`]));
  if (ends[0] === undefined && ends[1] === undefined) return undefined;
  return ends.map((end) => end ?? '');
}

/**
 * A statistic as a study file has it.
 * @param {Study} study
 * @param {Statistic} statistic
 */
function statisticOut(study, statistic) {
  const { fields, kind, name } = statistic;
  /** @type {Record<string, unknown>} */
  const out = name.trim() === '' ? { kind } : { name: name.trim(), kind };
  for (const field of fieldsOf(kind, hasColumns(study))) {
    const text = fields[field.name];
    const { holds } = columnOf(study, fields.column) ?? {};
    if (field.of && holds && holds !== field.of) continue;
    // A list of values stands in place of evenly spaced ones, groups in place of edges.
    if (field.name === 'bins' && out.categories) continue;
    if (field.shape === 'pair') out[field.name] = pair(statistic, field.name);
    else if (field.shape === 'numbers') out[field.name] = numbers(text);
    else if (field.shape === 'pairs') out[field.name] = pairs(text);
    else if (field.shape === 'names') out[field.name] = names(text).length ? names(text) : undefined;
    else if (field.shape === 'column' || field.shape === 'text') out[field.name] = text?.trim() || undefined;
    else out[field.name] = number(text);
  }
  if ((['cdf', 'histogram'].includes(kind) && out.bins) || out.candidates) delete out.bounds, delete out.points;
  // Without a column the server would take it for a statistic that says its own bounds.
  if (fieldsOf(kind, hasColumns(study)).some((field) => field.name === 'column')) out.column ??= '';
  if (kind !== 'held-back') {
    out.confidence = number(fields.confidence);
    out.noise = fields.noise || undefined;
  }
  const wanted = wish(study, statistic);
  const text = wanted === 'error' ? fields.error?.trim() || suggested(study, statistic) : fields[wanted];
  out[wanted] = number(text);
  if (kind !== 'held-back' && (statistic.pin || !hasError(kind))) out.pin = true;
  return Object.fromEntries(Object.entries(out).filter(([, value]) => value !== undefined));
}

/**
 * A column as a study file has it.
 * @param {Column} column
 */
function columnOut({ name, from, holds, low, high, categories, rest }) {
  /** @type {Record<string, unknown>} */
  const out = { name: name.trim(), ...(from ? { from } : {}), ...rest };
  if (holds === 'groups') out.categories = names(categories);
  else out.bounds = [number(low) ?? '', number(high) ?? ''];
  return out;
}

/**
 * The study file that the page stands for.
 * @param {Study} study
 */
export function toFile(study) {
  const { data, mode } = study;
  /** @type {Record<string, unknown>} */
  const out = { version: 1, delta: number(study.delta) };
  if (mode !== 'errors') out.epsilon = number(study.epsilon) ?? '';
  if (mode === 'share' && study.goal) out.goal = study.goal;
  const about = { ...data.rest, adjacency: data.adjacency, people: number(data.people), rows: number(data.rows) };
  const column = data.columns.filter((each) => each.holds !== '').map(columnOut);
  const person = data.person.trim() || undefined;
  out.data = { ...about, sample_of: number(data.sample_of), ...(column.length ? { person, column } : {}) };
  out.statistic = study.statistics.map((statistic) => statisticOut(study, statistic));
  return out;
}

/** @param {unknown} value @returns {Record<string, unknown>} */
function table(value) {
  return value !== null && typeof value === 'object' && !Array.isArray(value)
    ? /** @type {Record<string, unknown>} */ (value)
    : {};
}

/**
 * A study file on the page.
 * @param {unknown} file
 * @returns {Study}
 */
export function fromFile(file) {
  const from = table(file);
  const data = table(from.data);
  const { adjacency, people, rows: most, sample_of, person, column, ...rest } = data;
  const columns = (Array.isArray(column) ? column.map(table) : []).map(columnIn);
  const rows = Array.isArray(from.statistic) ? from.statistic.map(table) : [];
  const statistics = rows.filter((row) => text(row.kind) in KINDS)
    .map((row, index) => statisticIn(row, index, columns.length > 0));
  const wants = rows.some((row) => 'error' in row && row.pin !== true);
  return {
    mode: from.epsilon === undefined ? 'errors' : wants ? 'fit' : 'share',
    epsilon: text(from.epsilon) || '1',
    delta: text(from.delta),
    goal: text(from.goal),
    data: {
      adjacency: text(adjacency),
      people: text(people),
      rows: text(most),
      sample_of: text(sample_of),
      person: text(person),
      columns,
      rest,
    },
    statistics,
  };
}

/**
 * @param {Record<string, unknown>} row
 * @returns {Column}
 */
function columnIn({ name, from, bounds, categories, ...rest }) {
  const ends = Array.isArray(bounds) ? bounds : [];
  return {
    name: text(name), from: text(from), holds: Array.isArray(categories) ? 'groups' : 'numbers', low: text(ends[0]), high: text(ends[1]),
    categories: Array.isArray(categories) ? categories.map(nameIn).join(', ') : '', rest,
  };
}

/**
 * @param {Record<string, unknown>} row
 * @param {number} index
 * @param {boolean} isAbout whether it is about columns
 * @returns {Statistic}
 */
function statisticIn(row, index, isAbout) {
  const kind = text(row.kind);
  /** @type {Record<string, string>} */
  const fields = {};
  for (const field of fieldsOf(kind, isAbout)) {
    const value = row[field.name];
    if (value === undefined) continue;
    if (field.shape === 'pair') {
      if (Array.isArray(value)) value.slice(0, 2).forEach((end, which) => (fields[`${field.name}.${which}`] = text(end)));
    } else if (field.shape === 'pairs') {
      const items = Array.isArray(value) ? value : [];
      fields[field.name] = items.map((item) => (Array.isArray(item) ? item.map(text).join(' to ') : text(item))).join('; ');
    } else {
      const item = field.shape === 'names' ? nameIn : text;
      fields[field.name] = Array.isArray(value) ? value.map(item).join(', ') : item(value);
    }
  }
  for (const name of ['error', 'weight', 'epsilon', 'confidence', 'noise']) {
    if (row[name] !== undefined) fields[name] = text(row[name]);
  }
  return { id: index + 1, kind, name: text(row.name), pin: row.pin === true, fields };
}

/**
 * A study that was stored, or nothing if it is none.
 * @param {unknown} stored
 * @returns {Study | null}
 */
export function restored(stored) {
  const from = table(stored);
  const data = table(from.data);
  const mode = /** @type {Mode} */ (text(from.mode));
  if (!Array.isArray(from.statistics) || !['errors', 'fit', 'share'].includes(mode)) return null;
  const statistics = from.statistics.map(table).filter((row) => text(row.kind) in KINDS);
  return {
    mode,
    epsilon: text(from.epsilon),
    delta: text(from.delta),
    goal: text(from.goal),
    data: {
      adjacency: text(data.adjacency), people: text(data.people), rows: text(data.rows), sample_of: text(data.sample_of),
      person: text(data.person), columns: (Array.isArray(data.columns) ? data.columns : []).map(table).map(columnAgain), rest: table(data.rest),
    },
    statistics: statistics.map((row, index) => ({
      id: index + 1,
      kind: text(row.kind),
      name: text(row.name),
      pin: row.pin === true,
      fields: Object.fromEntries(Object.entries(table(row.fields)).map(([name, value]) => [name, text(value)])),
    })),
  };
}

/**
 * A column that was stored.
 * @param {Record<string, unknown>} from
 * @returns {Column}
 */
function columnAgain(from) {
  const holds = from.holds === 'numbers' || from.holds === 'groups' ? from.holds : '';
  return {
    name: text(from.name), from: text(from.from), holds, low: text(from.low), high: text(from.high),
    categories: text(from.categories), rest: table(from.rest),
  };
}

/** The example of the repository, examples/study.toml. */
export const EXAMPLE = {
  delta: 1e-6,
  epsilon: 1,
  data: { adjacency: 'replace', people: 5000 },
  statistic: [
    { name: 'mean income', kind: 'mean', bounds: [0, 200000], error: 500 },
    { name: 'employed', kind: 'proportion', bounds: [1, 1.5], error: 0.005 },
    { name: 'by region', kind: 'histogram', categories: ['north', 'east', 'south', 'west'], error: 40 },
    { name: 'age quartiles', kind: 'quantiles', shares: [0.25, 0.5, 0.75], bounds: [0, 100], error: 200 },
    { name: 'later', kind: 'held-back', epsilon: 0.1 },
  ],
};

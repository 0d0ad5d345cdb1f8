// Converts between study files and the studies on the planner page.

import { fieldsOf, KINDS } from './statistic_kinds.js';
import { accuracyField, columnOf, hasColumns, hasError, suggestedError } from './study.js';
import { nameText, parseNames, parseNumber, parseNumbers, parsePairs, valueText } from './typed_values.js';

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
  const ends = [0, 1].map((end) => parseNumber(statistic.fields[`${name}.${end}`]));
  if (ends[0] === undefined && ends[1] === undefined) return undefined;
  return ends.map((end) => end ?? '');
}

/**
 * Converts a statistic to the form of a study file.
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
    // A list of values replaces evenly spaced values; groups replace edges.
    if (field.name === 'bins' && out.categories) continue;
    if (field.shape === 'pair') out[field.name] = pair(statistic, field.name);
    else if (field.shape === 'numbers') out[field.name] = parseNumbers(text);
    else if (field.shape === 'pairs') out[field.name] = parsePairs(text);
    else if (field.shape === 'names') out[field.name] = parseNames(text).length ? parseNames(text) : undefined;
    else if (field.shape === 'column' || field.shape === 'text') out[field.name] = text?.trim() || undefined;
    else out[field.name] = parseNumber(text);
  }
  if ((['cdf', 'histogram'].includes(kind) && out.bins) || out.candidates) delete out.bounds, delete out.points;
  // Without a column, the server would expect bounds in the statistic.
  if (fieldsOf(kind, hasColumns(study)).some((field) => field.name === 'column')) out.column ??= '';
  if (kind !== 'held-back') {
    out.confidence = parseNumber(fields.confidence);
    out.noise = fields.noise || undefined;
  }
  const wanted = accuracyField(study, statistic);
  const text = wanted === 'error' ? fields.error?.trim() || suggestedError(study, statistic) : fields[wanted];
  out[wanted] = parseNumber(text);
  if (kind !== 'held-back' && (statistic.pin || !hasError(kind))) out.pin = true;
  return Object.fromEntries(Object.entries(out).filter(([, value]) => value !== undefined));
}

/**
 * Converts a column to the form of a study file.
 * @param {Column} column
 */
function columnOut({ name, from, holds, low, high, categories, rest }) {
  /** @type {Record<string, unknown>} */
  const out = { name: name.trim(), ...(from ? { from } : {}), ...rest };
  if (holds === 'groups') out.categories = parseNames(categories);
  else out.bounds = [parseNumber(low) ?? '', parseNumber(high) ?? ''];
  return out;
}

/**
 * Converts a study to a study file.
 * @param {Study} study
 */
export function toFile(study) {
  const { data, mode } = study;
  /** @type {Record<string, unknown>} */
  const out = { version: 1, delta: parseNumber(study.delta) };
  if (mode !== 'errors') out.epsilon = parseNumber(study.epsilon) ?? '';
  if (mode === 'share' && study.goal) out.goal = study.goal;
  const about = { ...data.rest, adjacency: data.adjacency, people: parseNumber(data.people), rows: parseNumber(data.rows) };
  const column = data.columns.filter((each) => each.holds !== '').map(columnOut);
  const person = data.person.trim() || undefined;
  out.data = { ...about, sample_of: parseNumber(data.sample_of), ...(column.length ? { person, column } : {}) };
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
 * Converts a study file to a study.
 * @param {unknown} file
 * @returns {Study}
 */
export function fromFile(file) {
  const from = table(file);
  const data = table(from.data);
  const { adjacency, people, rows: most, sample_of, person, column, ...rest } = data;
  const columns = (Array.isArray(column) ? column.map(table) : []).map(columnIn);
  const rows = Array.isArray(from.statistic) ? from.statistic.map(table) : [];
  const statistics = rows.filter((row) => valueText(row.kind) in KINDS)
    .map((row, index) => statisticIn(row, index, columns.length > 0));
  const wants = rows.some((row) => 'error' in row && row.pin !== true);
  return {
    mode: from.epsilon === undefined ? 'errors' : wants ? 'fit' : 'share',
    epsilon: valueText(from.epsilon) || '1',
    delta: valueText(from.delta),
    goal: valueText(from.goal),
    data: {
      adjacency: valueText(adjacency),
      people: valueText(people),
      rows: valueText(most),
      sample_of: valueText(sample_of),
      person: valueText(person),
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
    name: valueText(name), from: valueText(from), holds: Array.isArray(categories) ? 'groups' : 'numbers', low: valueText(ends[0]), high: valueText(ends[1]),
    categories: Array.isArray(categories) ? categories.map(nameText).join(', ') : '', rest,
  };
}

/**
 * @param {Record<string, unknown>} row
 * @param {number} index
 * @param {boolean} isAbout true if it is about columns
 * @returns {Statistic}
 */
function statisticIn(row, index, isAbout) {
  const kind = valueText(row.kind);
  /** @type {Record<string, string>} */
  const fields = {};
  for (const field of fieldsOf(kind, isAbout)) {
    const value = row[field.name];
    if (value === undefined) continue;
    if (field.shape === 'pair') {
      if (Array.isArray(value)) value.slice(0, 2).forEach((end, which) => (fields[`${field.name}.${which}`] = valueText(end)));
    } else if (field.shape === 'pairs') {
      const items = Array.isArray(value) ? value : [];
      fields[field.name] = items.map((item) => (Array.isArray(item) ? item.map(valueText).join(' to ') : valueText(item))).join('; ');
    } else {
      const item = field.shape === 'names' ? nameText : valueText;
      fields[field.name] = Array.isArray(value) ? value.map(item).join(', ') : item(value);
    }
  }
  for (const name of ['error', 'weight', 'epsilon', 'confidence', 'noise']) {
    if (row[name] !== undefined) fields[name] = valueText(row[name]);
  }
  return { id: index + 1, kind, name: valueText(row.name), pin: row.pin === true, fields };
}

/**
 * Checks a stored study; returns null if it is not a study.
 * @param {unknown} stored
 * @returns {Study | null}
 */
export function restored(stored) {
  const from = table(stored);
  const data = table(from.data);
  const mode = /** @type {Mode} */ (valueText(from.mode));
  if (!Array.isArray(from.statistics) || !['errors', 'fit', 'share'].includes(mode)) return null;
  const statistics = from.statistics.map(table).filter((row) => valueText(row.kind) in KINDS);
  return {
    mode,
    epsilon: valueText(from.epsilon),
    delta: valueText(from.delta),
    goal: valueText(from.goal),
    data: {
      adjacency: valueText(data.adjacency), people: valueText(data.people), rows: valueText(data.rows), sample_of: valueText(data.sample_of),
      person: valueText(data.person), columns: (Array.isArray(data.columns) ? data.columns : []).map(table).map(columnAgain), rest: table(data.rest),
    },
    statistics: statistics.map((row, index) => ({
      id: index + 1,
      kind: valueText(row.kind),
      name: valueText(row.name),
      pin: row.pin === true,
      fields: Object.fromEntries(Object.entries(table(row.fields)).map(([name, value]) => [name, valueText(value)])),
    })),
  };
}

/**
 * Restores a stored column.
 * @param {Record<string, unknown>} from
 * @returns {Column}
 */
function columnAgain(from) {
  const holds = from.holds === 'numbers' || from.holds === 'groups' ? from.holds : '';
  return {
    name: valueText(from.name), from: valueText(from.from), holds, low: valueText(from.low), high: valueText(from.high),
    categories: valueText(from.categories), rest: table(from.rest),
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

// The study on the page: texts as they were typed, and the study file they stand for.

import { written } from './dom.js';
import { plainName } from './header.js';
import { fieldsOf, KINDS, kindOf } from './kinds.js';

/**
 * What is fixed: the errors; the budget, and errors in proportion; the budget, and weights.
 * @typedef {'errors' | 'fit' | 'share'} Mode
 * @typedef {{id: number, kind: string, name: string, pin: boolean, fields: Record<string, string>}} Statistic
 * @typedef {{name: string, from: string, holds: '' | 'numbers' | 'groups', low: string, high: string, categories: string,
 *   rest: Record<string, unknown>}} Column what it holds is empty if it is not used; the rest is as the file has it
 * @typedef {{adjacency: string, people: string, rows: string, sample_of: string, person: string, columns: Column[],
 *   rest: Record<string, unknown>}} Data
 * @typedef {{mode: Mode, epsilon: string, delta: string, goal: string, data: Data, statistics: Statistic[]}} Study
 */

/** @returns {Study} */
export function blank() {
  const data = { adjacency: '', people: '', rows: '', sample_of: '', person: '', columns: [], rest: {} };
  return { mode: 'errors', epsilon: '1', delta: '1e-6', goal: '', data, statistics: [] };
}

/**
 * A new statistic of a kind.
 * @param {Study} study
 * @param {string} kind
 * @returns {Statistic}
 */
export function fresh(study, kind) {
  const id = 1 + Math.max(0, ...study.statistics.map((statistic) => statistic.id));
  return { id, kind, name: '', pin: false, fields: start(study, kind) };
}

/** @param {Study} study whether its statistics are about columns */
export function hasColumns(study) {
  return study.data.columns.length > 0;
}

/**
 * What the fields of a new statistic hold.
 * @param {Study} study
 * @param {string} kind
 * @returns {Record<string, string>}
 */
export function start(study, kind) {
  if (!hasColumns(study)) return { ...kindOf(kind).start };
  const { epsilon, shares } = kindOf(kind).start;
  /** @type {Record<string, string>} */
  const fields = { ...(epsilon ? { epsilon } : {}), ...(shares ? { shares } : {}) };
  let left = study.data.columns.filter((column) => column.holds !== '');
  for (const field of fieldsOf(kind, true)) {
    const found = field.shape === 'column' ? left.find((column) => !field.holds || column.holds === field.holds) : undefined;
    if (found) fields[field.name] = found.name;
    left = left.filter((column) => column !== found);
  }
  return fields;
}

/**
 * The columns of a data file's header, those that are known already as they were declared.
 * @param {Study} study
 * @param {string[]} names
 */
export function takeColumns(study, names) {
  const before = study.data.columns;
  const taken = new Set(before.map((column) => column.name));
  study.data.columns = names.map((from) => {
    const known = before.find((column) => (column.from || column.name) === from);
    if (known) return known;
    const name = plainName(from, taken);
    return { name, from: name === from ? '' : from, holds: '', low: '', high: '', categories: '', rest: {} };
  });
}

/**
 * @param {Study} study
 * @param {string | undefined} name
 */
export function columnOf(study, name) {
  return study.data.columns.find((column) => column.name === name?.trim());
}

/** @param {string} text */
function isNumber(text) {
  return text !== '' && Number.isFinite(Number(text));
}

/**
 * A text as the number it is; as text if it is none, so that the server says what is wrong with it.
 * @param {string | undefined} text
 * @returns {number | string | undefined}
 */
export function number(text) {
  let trimmed = (text ?? '').trim().replace('−', '-');
  if (trimmed === '') return undefined;
  if (/^-?\d{1,3}([,  ' ]\d{3})+(\.\d*)?$/.test(trimmed)) trimmed = trimmed.replace(/[,  ' ]/g, '');
  return isNumber(trimmed) ? Number(trimmed) : trimmed;
}

/** @param {string | undefined} text */
function list(text) {
  return (text ?? '').split(/[,;\n]/).map((item) => item.trim()).filter((item) => item !== '');
}

/**
 * Names with commas between; one with a comma in it, or a text that is a number, stands in quotes.
 * @param {string | undefined} text
 */
export function names(text) {
  const found = [...(text ?? '').matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\n]+))/g)];
  const name = (/** @type {string | undefined} */ quoted, plain = '') => (quoted === undefined ? key(plain.trim()) : quoted.replaceAll('""', '"'));
  return found.map(([, quoted, plain]) => name(quoted, plain)).filter((one) => one !== '');
}

/** @param {unknown} name */
function nameIn(name) {
  const told = text(name);
  return typeof name === 'string' && (/[,;\n"]/.test(told) || typeof key(told) === 'number') ? `"${told.replaceAll('"', '""')}"` : told;
}

/** @param {string | undefined} text */
function numbers(text) {
  const items = list(text).map(number);
  return items.length ? items : undefined;
}

/** @param {string | undefined} text */
function pairs(text) {
  const items = (text ?? '').split(/[;\n]/).map((item) => item.trim()).filter((item) => item !== '');
  const pair = (/** @type {string} */ item) => item.split(/\s*(?:\bto\b|\.\.|,)\s*/).map(number);
  return items.length ? items.map(pair) : undefined;
}

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
 * How wide a statistic's values are, and how many people there are to be counted; 1 where nothing is said.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {{low: number, high: number, people: number | null}}
 */
export function range(study, statistic) {
  const column = columnOf(study, statistic.fields.column);
  const declared = [number(column?.low), number(column?.high)];
  const end = (/** @type {number} */ which) => Number(number(statistic.fields[`bounds.${which}`]) ?? declared[which] ?? which);
  const people = Number(number(study.data.people));
  const [low, high] = [end(0), end(1)];
  const sound = Number.isFinite(low) && Number.isFinite(high) && low < high;
  return { low: sound ? low : 0, high: sound ? high : 1, people: people > 0 ? people : null };
}

/**
 * The axis on which a statistic's answers lie; none where that is not known.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {[number, number] | null}
 */
export function axis(study, statistic) {
  const { low, high, people } = range(study, statistic);
  const width = high - low;
  switch (kindOf(statistic.kind).error) {
    case 'people':
    case 'ranks':
      return people === null ? null : [0, people];
    case 'share':
      return [0, 1];
    case 'total':
      return people === null ? null : [people * Math.min(low, 0), people * Math.max(high, 0)];
    case 'value':
      return [low, high];
    case 'squared':
      return [0, (width * width) / 4];
    case 'spread':
      return [0, width / 2];
    default:
      return null;
  }
}

/**
 * The error that is wanted where none is typed: a hundredth of the axis.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {string}
 */
export function suggested(study, statistic) {
  const ends = axis(study, statistic);
  if (ends) return written((ends[1] - ends[0]) / 100, 2);
  const { low, high } = range(study, statistic);
  if (statistic.kind === 'sum') return written(50 * Math.max(Math.abs(low), Math.abs(high)), 2);
  return statistic.kind === 'covariance' ? written((high - low) ** 2 / 100, 2) : '50';
}

/** @param {string} kind */
export function hasError(kind) {
  return !['held-back', 'regression', 'correlation'].includes(kind);
}

/**
 * Which field says how much is wanted of a statistic.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {'error' | 'weight' | 'epsilon'}
 */
export function wish(study, statistic) {
  if (!hasError(statistic.kind) || (statistic.pin && statistic.fields.epsilon)) return 'epsilon';
  return study.mode === 'share' && !statistic.pin ? 'weight' : 'error';
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
 * A category: a whole number or a text.
 * @param {string} text
 */
function key(text) {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
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

/** @param {unknown} value */
function text(value) {
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
  return typeof value === 'string' ? value : '';
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

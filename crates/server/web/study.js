// The study on the page: texts as they were typed, and what they say of each other.

import { written } from './dom.js';
import { plainName } from './header.js';
import { fieldsOf, kindOf } from './kinds.js';
import { number } from './texts.js';

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

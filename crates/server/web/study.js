// The study on the planner page. Fields hold the text as typed; functions derive values from it.

import { fieldText } from './dom.js';
import { plainName } from './csv_header.js';
import { fieldsOf, kindOf } from './statistic_kinds.js';
import { parseNumber } from './typed_values.js';

/**
 * The fixed part of a study: the errors; the budget, with proportional errors; or the budget, with weights.
 * @typedef {'errors' | 'fit' | 'share'} Mode
 * @typedef {{id: number, kind: string, name: string, pin: boolean, fields: Record<string, string>}} Statistic
 * @typedef {{name: string, from: string, holds: '' | 'numbers' | 'groups', low: string, high: string, categories: string,
 *   rest: Record<string, unknown>}} Column `holds` is empty for an unused column; `rest` keeps the other fields of the file
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
export function newStatistic(study, kind) {
  const id = 1 + Math.max(0, ...study.statistics.map((statistic) => statistic.id));
  return { id, kind, name: '', pin: false, fields: startFields(study, kind) };
}

/** @param {Study} study true if its statistics are about columns */
export function hasColumns(study) {
  return study.data.columns.length > 0;
}

/**
 * The fields of a new statistic.
 * @param {Study} study
 * @param {string} kind
 * @returns {Record<string, string>}
 */
export function startFields(study, kind) {
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
 * Sets the columns to those of a data file's header; columns that are declared already stay as they are.
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
 * The bounds of a statistic's values (0 and 1 by default) and the number of people, if known.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {{low: number, high: number, people: number | null}}
 */
export function range(study, statistic) {
  const column = columnOf(study, statistic.fields.column);
  const declared = [parseNumber(column?.low), parseNumber(column?.high)];
  const end = (/** @type {number} */ which) => Number(parseNumber(statistic.fields[`bounds.${which}`]) ?? declared[which] ?? which);
  const people = Number(parseNumber(study.data.people));
  const [low, high] = [end(0), end(1)];
  const sound = Number.isFinite(low) && Number.isFinite(high) && low < high;
  return { low: sound ? low : 0, high: sound ? high : 1, people: people > 0 ? people : null };
}

/**
 * The range of a statistic's answers; null if it is not known.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {[number, number] | null}
 */
export function answerRange(study, statistic) {
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
 * The requested error if none is typed: a hundredth of the range of answers.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {string}
 */
export function suggestedError(study, statistic) {
  const ends = answerRange(study, statistic);
  if (ends) return fieldText((ends[1] - ends[0]) / 100, 2);
  const { low, high } = range(study, statistic);
  if (statistic.kind === 'sum') return fieldText(50 * Math.max(Math.abs(low), Math.abs(high)), 2);
  return statistic.kind === 'covariance' ? fieldText((high - low) ** 2 / 100, 2) : '50';
}

/** @param {string} kind */
export function hasError(kind) {
  return !['held-back', 'regression', 'correlation'].includes(kind);
}

/**
 * The field that states the requested accuracy of a statistic.
 * @param {Study} study
 * @param {Statistic} statistic
 * @returns {'error' | 'weight' | 'epsilon'}
 */
export function accuracyField(study, statistic) {
  if (!hasError(statistic.kind) || (statistic.pin && statistic.fields.epsilon)) return 'epsilon';
  return study.mode === 'share' && !statistic.pin ? 'weight' : 'error';
}

// Texts that describe a statistic, its error and its problems.

import { capitalized, fieldText, formatNumber } from './dom.js';
import { kindOf } from './statistic_kinds.js';
import { answerRange, columnOf } from './study.js';
import { parseNames, parseNumber } from './typed_values.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner_client.js').Line} Line
 */

/** The names of the fields of a study in messages. @type {Record<string, string>} */
const FIELD_NAMES = {
  adjacency: 'The adjacency', people: 'The number of people', rows: 'The number of rows per person', sample_of: 'The size of the population',
  epsilon: 'Epsilon', delta: 'Delta', name: 'The name', kind: 'The kind', pin: 'The pin', noise: 'The noise', confidence: 'The confidence',
  error: 'The error', weight: 'The weight', column: 'The column', second: 'The second column', where: 'The condition', by: 'The grouping',
  expected: 'The expected number of rows', bounds: 'The bounds', with: 'The second bounds', shares: 'The shares', bins: 'The edges',
  categories: 'The groups', candidates: 'The candidates', points: 'The number of points', predictors: 'The predictors',
};
/** The fields whose names are plural. */
const PLURAL = new Set(['bounds', 'with', 'shares', 'bins', 'categories', 'candidates', 'predictors']);

/**
 * A problem as sentences. The server states a problem of a field without the field's name: "is -1; legal: a positive number".
 * @param {string | null} field
 * @param {string} problem
 */
export function sentence(field, problem) {
  const [what = '', ...legal] = problem.split('; legal: ');
  const possible = legal.join('; legal: ')
    .replace('[low, high], two finite numbers', 'two finite numbers')
    .replace(/from people, which is (\d+), to/, 'from $1, the number of people, to')
    .replace(/people in \[?data\]?$/, 'the number of people in step 1');
  const remedy = possible && !(field === 'people' && possible.startsWith('the number of people')) ? ` Possible: ${shortened(possible)}.` : '';
  return `${statement(field, what)}.${remedy}`;
}

/**
 * The first sentence of a problem.
 * @param {string | null} field
 * @param {string} what
 */
function statement(field, what) {
  const name = FIELD_NAMES[field ?? ''] ?? field ?? '';
  const column = /^data: table "data", column (".*"): it (.*)$/.exec(what);
  if (column) return `Column ${column[1]} ${column[2]}`;
  if (name === '' || !/^(is|are|has|have|can|cannot|must|gets|entry)\b/.test(what)) return shortened(capitalized(what));
  const entry = /^entry (\d+) (.*)$/.exec(what);
  if (entry) {
    const bound = entry[1] === '1' ? 'The lower bound' : 'The upper bound';
    const which = field === 'bounds' || field === 'with' ? bound : `Entry ${entry[1]} of ${name.toLowerCase()}`;
    return `${which} ${withoutQuotes(entry[2] ?? '')}`;
  }
  const [, reason] = /^is not legal: (.*)$/s.exec(what) ?? [];
  if (reason) return reason.startsWith('the ') ? capitalized(reason) : `${name}: ${reason}`;
  const verb = PLURAL.has(field ?? '') ? what.replace(/^is\b/, 'are').replace(/^has\b/, 'have') : what;
  return `${name} ${withoutQuotes(verb)}`;
}

/** @param {string} text */
function withoutQuotes(text) {
  return text.replace(/ ""$/, ' empty');
}

/**
 * Rounds long numbers up to six digits.
 * @param {string} text
 */
function shortened(text) {
  return text.replace(/\d+\.\d{7,}/g, (digits) => fieldText(Number(digits), 6));
}

/**
 * The unit of an error.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number | null} error
 */
export function unitOf(study, statistic, error) {
  const people = Number(parseNumber(study.data.rows) ?? 1) === 1 ? ' people' : ' rows';
  switch (kindOf(statistic.kind).error) {
    case 'people': return people;
    case 'ranks': return ' ranks';
    case 'share': return error === null ? '' : ` (${formatNumber(100 * error, 3)} %)`;
    default: return '';
  }
}

/** The whole that an error is compared with. @type {Record<string, string>} */
const WHOLE = {
  people: 'of all people', ranks: 'of all people', total: 'of the largest sum', value: 'of the range', squared: 'of the largest variance',
  spread: 'of the largest standard deviation',
};
/** An error of at least this part of the range is marked as rough. */
const ROUGH_SHARE = 1 / 3;

/**
 * The error as a percentage of the range of answers.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number} error
 */
export function relativeError(study, statistic, error) {
  const words = WHOLE[kindOf(statistic.kind).error];
  const ends = words ? answerRange(study, statistic) : null;
  return ends ? `${formatNumber((100 * error) / (ends[1] - ends[0]), 2)} % ${words}` : '';
}

/**
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number | null} error
 */
export function isRough(study, statistic, error) {
  const ends = answerRange(study, statistic);
  return error !== null && ends !== null && error >= ROUGH_SHARE * (ends[1] - ends[0]);
}

/**
 * A short description of a statistic.
 * @param {Statistic} statistic
 */
export function shortDescription({ kind, fields }) {
  const { column, by, where, with: other } = fields;
  const of = [column, kind === 'regression' ? '' : other].filter(Boolean).join(' and ');
  const groups = by?.trim() && `for each ${by.trim()}`;
  const words = [kindOf(kind).label.toLowerCase(), of && `of ${of}`, groups, where?.trim() && `where ${where.trim()}`];
  return words.filter(Boolean).join(' ');
}

/** @param {number} confidence */
export function confidenceText(confidence) {
  return `${Number((100 * confidence).toPrecision(6))} % confidence`;
}

/**
 * @param {number} from
 * @param {number} to
 */
export function changeText(from, to) {
  const percent = 100 * (to / from - 1);
  const size = formatNumber(Math.abs(percent), 2, 'halfExpand');
  return `${percent < 0 ? '−' : '+'}${size} %`;
}

/**
 * True if each number of the answer has a single noise with a known distribution.
 * @param {Statistic} statistic
 */
export function hasSimpleNoise(statistic) {
  return ['count', 'proportion', 'sum', 'mean', 'histogram'].includes(statistic.kind);
}

/**
 * @param {Line | null} line
 * @returns {'laplace' | 'gaussian' | null}
 */
export function noiseLaw(line) {
  const mechanism = Array.isArray(line?.mechanism) ? line.mechanism[0]?.mechanism : line?.mechanism.mechanism;
  if (mechanism === 'laplace' || mechanism === 'geometric') return 'laplace';
  return mechanism === 'gaussian' || mechanism === 'discrete-gaussian' ? 'gaussian' : null;
}

/**
 * The confidence of one number, if all numbers together hold with the line's confidence.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {Line | null} line
 */
export function confidenceOfEach(study, statistic, line) {
  const { column, categories, bins, by } = statistic.fields;
  const groups = (/** @type {string | undefined} */ name) => parseNames(columnOf(study, name)?.categories).length;
  const bars = parseNames(categories).length || groups(column) || parseNames(bins).length - 1;
  const cells = parseNames(by).reduce((/** @type {number} */ product, name) => product * Math.max(1, groups(String(name))), 1);
  const many = (statistic.kind === 'histogram' ? Math.max(1, bars) : 1) * cells;
  return (line?.confidence ?? 0.95) ** (1 / many);
}

/**
 * The effect of dropping a statistic on the others.
 * @param {import('./planner_client.js').Line | null} line
 */
export function dropEffect(line) {
  const { factor, epsilon } = line?.if_dropped ?? {};
  if (factor) return `Without this statistic, the other errors would be about ${formatNumber(factor, 3)} times those that you entered.`;
  return epsilon ? `Without this statistic, the total would be about ε ${formatNumber(epsilon, 3)}.` : '';
}

// Texts that describe a statistic, its error and its problems.

import { formatNumber } from './dom.js';
import { kindOf } from './statistic_kinds.js';
import { answerRange, columnOf } from './study.js';
import { parseNames, parseNumber } from './typed_values.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner_client.js').Line} Line
 */

/**
 * A problem as a sentence.
 * @param {string} about
 * @param {string} problem
 */
export function sentence(about, problem) {
  const [what = '', legal] = problem.split('; legal: ');
  const first = `${about} ${what}`.trim();
  return first + (legal ? `. Possible: ${legal}.` : '.');
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
  people: 'of all people', ranks: 'of all people', total: 'of the largest sum', value: 'of the range', squared: 'of the largest possible value',
  spread: 'of the largest possible value',
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
  if (factor) return `without this statistic, the other errors are about ${formatNumber(factor, 3)} times what you entered`;
  return epsilon ? `without this statistic, the total is about ε ${formatNumber(epsilon, 3)}` : '';
}

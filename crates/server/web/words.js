// What is said of a statistic, its error and its problems, in words.

import { amount } from './dom.js';
import { kindOf } from './kinds.js';
import { axis, columnOf } from './study.js';
import { names, number } from './texts.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner.js').Line} Line
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
 * What an error counts.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number | null} error
 */
export function unitOf(study, statistic, error) {
  const people = Number(number(study.data.rows) ?? 1) === 1 ? ' people' : ' rows';
  switch (kindOf(statistic.kind).error) {
    case 'people': return people;
    case 'ranks': return ' places';
    case 'share': return error === null ? '' : ` (${amount(100 * error, 3)} %)`;
    default: return '';
  }
}

/** What an error is a part of, in words. @type {Record<string, string>} */
const WHOLE = {
  people: 'of everybody', ranks: 'of everybody', total: 'of the largest sum', value: 'of its range', squared: 'of the largest possible',
  spread: 'of the largest possible',
};
/** An error of so much of what it is a part of says little. */
const ROUGH = 1 / 3;

/**
 * How large an error is beside what answers can be.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number} error
 */
export function typical(study, statistic, error) {
  const words = WHOLE[kindOf(statistic.kind).error];
  const ends = words ? axis(study, statistic) : null;
  return ends ? `${amount((100 * error) / (ends[1] - ends[0]), 2)} % ${words}` : '';
}

/**
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {number | null} error
 */
export function isRough(study, statistic, error) {
  const ends = axis(study, statistic);
  return error !== null && ends !== null && error >= ROUGH * (ends[1] - ends[0]);
}

/**
 * What a statistic is, in a few words.
 * @param {Statistic} statistic
 */
export function described({ kind, fields }) {
  const { column, by, where, with: other } = fields;
  const of = [column, kind === 'regression' ? '' : other].filter(Boolean).join(' and ');
  const groups = by?.trim() && `for each ${by.trim()}`;
  const words = [kindOf(kind).label.toLowerCase(), of && `of ${of}`, groups, where?.trim() && `where ${where.trim()}`];
  return words.filter(Boolean).join(' ');
}

/** @param {number} confidence */
export function often(confidence) {
  return `${Number((100 * confidence).toPrecision(6))} % of the time`;
}

/**
 * @param {number} from
 * @param {number} to
 */
export function change(from, to) {
  const percent = 100 * (to / from - 1);
  const size = amount(Math.abs(percent), 2, 'halfExpand');
  return `${percent < 0 ? '−' : '+'}${size} %`;
}

/**
 * Whether each number of the answer has one noise of a known law.
 * @param {Statistic} statistic
 */
export function simple(statistic) {
  return ['count', 'proportion', 'sum', 'mean', 'histogram'].includes(statistic.kind);
}

/**
 * @param {Line | null} line
 * @returns {'laplace' | 'gaussian' | null}
 */
export function law(line) {
  const mechanism = Array.isArray(line?.mechanism) ? line.mechanism[0]?.mechanism : line?.mechanism.mechanism;
  if (mechanism === 'laplace' || mechanism === 'geometric') return 'laplace';
  return mechanism === 'gaussian' || mechanism === 'discrete-gaussian' ? 'gaussian' : null;
}

/**
 * How often one number keeps to an error that all of them together keep to.
 * @param {Study} study
 * @param {Statistic} statistic
 * @param {Line | null} line
 */
export function each(study, statistic, line) {
  const { column, categories, bins, by } = statistic.fields;
  const groups = (/** @type {string | undefined} */ name) => names(columnOf(study, name)?.categories).length;
  const bars = names(categories).length || groups(column) || names(bins).length - 1;
  const cells = names(by).reduce((/** @type {number} */ product, name) => product * Math.max(1, groups(String(name))), 1);
  const many = (statistic.kind === 'histogram' ? Math.max(1, bars) : 1) * cells;
  return (line?.confidence ?? 0.95) ** (1 / many);
}

/**
 * What dropping a statistic would do for the others, in a few words.
 * @param {import('./planner.js').Line | null} line
 */
export function spare(line) {
  const { factor, epsilon } = line?.if_dropped ?? {};
  if (factor) return `without it the others are about ${amount(factor, 3)} times what was typed`;
  return epsilon ? `without it all costs about ε ${amount(epsilon, 3)}` : '';
}

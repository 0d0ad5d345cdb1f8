// Charts of the planner: likely answers of a statistic, and bars of costs.

import { formatNumber, s } from './dom.js';

const WIDTH = 248;
const SIDE = 6;
const MIDDLE = WIDTH / 2;
/** The half-width of the chart, in multiples of the error. */
const ERRORS_SHOWN = 1.7;
const DOTS = 20;
const RADIUS = 3.1;
const GROUND = 36;
const LINE = 68;

/**
 * @typedef {object} LikelyAnswers
 * @property {number} error
 * @property {number | null} before the error in the plan that is kept
 * @property {[number, number] | null} axis
 * @property {'laplace' | 'gaussian' | null} law the noise of one number, if its distribution is known
 * @property {number} each the confidence of one number
 */

/**
 * Draws likely answers around the number without noise, and below them the range of answers.
 * @param {LikelyAnswers} likely
 * @returns {SVGElement}
 */
export function likelyChart(likely) {
  const scale = (MIDDLE - SIDE) / (ERRORS_SHOWN * Math.max(likely.error, likely.before ?? 0));
  const half = likely.error * scale;
  const [left, right] = [MIDDLE - half, MIDDLE + half];
  const parts = [];
  parts.push(s('rect', { class: 'within', x: left, y: GROUND - 27, width: 2 * half, height: 27, rx: 2 }));
  parts.push(s('line', { class: 'rule', x1: SIDE, x2: WIDTH - SIDE, y1: GROUND, y2: GROUND }));
  if (likely.law) parts.push(...dots(likely, scale));
  else parts.push(s('line', { class: 'span', x1: left, x2: right, y1: GROUND - 13, y2: GROUND - 13 }));
  parts.push(s('line', { class: 'truth', x1: MIDDLE, x2: MIDDLE, y1: GROUND - 29, y2: GROUND + 3 }));
  if (likely.before !== null) {
    const before = likely.before * scale;
    const side = (/** @type {number} */ x) => `M${x} ${GROUND - 29}V${GROUND + 3}`;
    parts.push(s('path', { class: 'was', d: side(MIDDLE - before) + side(MIDDLE + before) }));
  }
  const end = (/** @type {number} */ x, /** @type {string} */ sign, /** @type {string} */ anchor) =>
    s('text', { x, y: GROUND + 13, 'text-anchor': anchor }, sign + formatNumber(likely.error, 3));
  parts.push(end(left - 2, '−', 'end'), end(right + 2, '+', 'start'));
  if (likely.axis) parts.unshift(...whole(likely.error, likely.axis, half));
  const height = likely.axis ? LINE + 18 : GROUND + 18;
  return s('svg', { class: 'likely', viewBox: `0 0 ${WIDTH} ${height}`, role: 'img', 'aria-label': label(likely) }, ...parts);
}

/**
 * Draws the range of answers, and the part of it that the error takes.
 * @param {number} error
 * @param {[number, number]} axis
 * @param {number} half the error in pixels of the chart above
 */
function whole(error, [low, high], half) {
  const width = WIDTH - 2 * SIDE;
  const share = Math.min(1, (2 * error) / (high - low));
  const part = Math.max(2.5, share * width);
  const [left, right] = [MIDDLE - part / 2, MIDDLE + part / 2];
  const lens = `M${left} ${LINE - 3}L${MIDDLE - half} ${GROUND}H${MIDDLE + half}L${right} ${LINE - 3}Z`;
  const end = (/** @type {number} */ value) => formatNumber(value, 4, 'halfExpand');
  return [
    s('path', { class: 'lens', d: lens }),
    s('line', { class: 'axis', x1: SIDE, x2: WIDTH - SIDE, y1: LINE, y2: LINE }),
    s('rect', { class: 'part', x: left, y: LINE - 3, width: part, height: 6, rx: 1 }),
    s('text', { x: SIDE, y: LINE + 15 }, end(low)),
    s('text', { x: WIDTH - SIDE, y: LINE + 15, 'text-anchor': 'end' }, end(high)),
  ];
}

/**
 * Draws twenty equally likely answers; equal ones are stacked.
 * @param {LikelyAnswers} likely
 * @param {number} scale
 */
function dots(likely, scale) {
  const tail = 1 - likely.each;
  const spread = likely.law === 'laplace' ? likely.error / Math.log(1 / tail) : likely.error / normal(1 - tail / 2);
  /** @type {Map<number, number>} */
  const piles = new Map();
  return Array.from({ length: DOTS }, (_, index) => {
    const chance = (index + 0.5) / DOTS;
    const value = spread * (likely.law === 'laplace' ? laplace(chance) : normal(chance));
    const pile = Math.round((value * scale) / (2 * RADIUS + 0.4));
    const height = piles.get(pile) ?? 0;
    piles.set(pile, height + 1);
    const x = MIDDLE + pile * (2 * RADIUS + 0.4);
    return s('circle', { class: 'dot', cx: x, cy: GROUND - 1 - RADIUS - height * (2 * RADIUS + 0.2), r: RADIUS });
  });
}

/** @param {number} chance */
function laplace(chance) {
  return chance < 0.5 ? Math.log(2 * chance) : -Math.log(2 * (1 - chance));
}

/**
 * An approximate normal quantile, by bisection.
 * @param {number} chance
 */
function normal(chance) {
  let [low, high] = [-9, 9];
  for (let step = 0; step < 50; step += 1) {
    const middle = (low + high) / 2;
    if (normalCdf(middle) < chance) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/**
 * The probability that a normal variable is below x (Abramowitz and Stegun 26.2.17, to 7.5e-8).
 * @param {number} x
 */
function normalCdf(x) {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * series;
  return x < 0 ? tail : 1 - tail;
}

/** @param {LikelyAnswers} likely */
function label(likely) {
  const axis = likely.axis ? `, on an axis from ${formatNumber(likely.axis[0], 4, 'halfExpand')} to ${formatNumber(likely.axis[1], 4, 'halfExpand')}` : '';
  const before = likely.before === null ? '' : `; in the kept plan, within ${formatNumber(likely.before)}`;
  return `Likely answers are within ${formatNumber(likely.error)} of the number without noise${axis}${before}`;
}

/**
 * One bar of labelled parts, side by side.
 * @param {{name: string, size: number}[]} parts
 */
export function stackedBar(parts) {
  const whole = parts.reduce((sum, { size }) => sum + size, 0);
  let from = 0;
  const drawn = parts.map(({ name, size }, index) => {
    const width = (1000 * size) / whole;
    const title = s('title', {}, `${name}: alone ε ${formatNumber(size, 3)}`);
    const part = s('rect', { class: `share share-${index % 3}`, x: from, y: 0, width, height: 24 }, title);
    from += width;
    return part;
  });
  return s('svg', { class: 'stack', viewBox: '0 0 1000 24', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, ...drawn);
}

/**
 * A bar whose length is a share of the longest.
 * @param {number} share
 * @param {string} kind
 */
export function bar(share, kind) {
  const rect = s('rect', { class: kind, x: 0, y: 0, width: Math.max(0.6, 100 * share), height: 10, rx: 1 });
  return s('svg', { class: 'bar', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' }, rect);
}

// SVG charts of answers and of spending; each has a text alternative.

import { formatNumber, s } from './dom.js';

/**
 * @typedef {{label: string, value: number, low: number, high: number}} Point
 * @typedef {{from: number, to: number, value: number, low: number, high: number}} Block
 * @typedef {{x: number, y: number}} Step
 */

/** The height of a row, the height of the axis labels and the width of a letter, in pixels. */
const LINE = 24;
const FOOT = 24;
const LETTER = 6.6;
/** The most points that are drawn, and the most in the text alternative. */
export const MAX_POINTS = 60;
const MAX_IN_TEXT = 20;

/** @param {number} value */
function plain(value) {
  return formatNumber(value, 6, 'halfExpand');
}

/**
 * Round numbers within an interval.
 * @param {number} low
 * @param {number} high
 * @param {number} most
 */
export function ticks(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const list = [];
  for (let index = Math.ceil(low / step); index * step <= high * (1 + 1e-12) && list.length < 20; index += 1) {
    list.push(Number((index * step).toPrecision(12)));
  }
  return list;
}

/**
 * A non-empty interval that contains the numbers.
 * @param {number[]} numbers
 */
function span(numbers) {
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const pad = high > low ? (high - low) * 0.06 : Math.max(1, Math.abs(high) * 0.1);
  return [low - pad, high + pad];
}

/**
 * @param {string} text
 * @param {number} room
 */
function cut(text, room) {
  const letters = Math.max(4, Math.floor(room / LETTER));
  return text.length > letters ? `${text.slice(0, letters - 1)}…` : text;
}

/**
 * @param {string} title
 * @param {string[]} parts
 */
function textAlternative(title, parts) {
  const more = parts.length > MAX_IN_TEXT ? `; and ${parts.length - MAX_IN_TEXT} more, in the table` : '';
  return `${title}: ${parts.slice(0, MAX_IN_TEXT).join('; ')}${more}`;
}

/**
 * Draws a dot and an interval for each point.
 * @param {string} title
 * @param {Point[]} points
 * @param {number} width
 */
export function dots(title, points, width) {
  const drawn = points.slice(0, MAX_POINTS);
  const longest = Math.max(...drawn.map((point) => point.label.length));
  const left = longest === 0 ? 14 : Math.min(width * 0.38, longest * LETTER + 18);
  const [low = 0, high = 1] = span(drawn.flatMap((point) => [point.low, point.high]));
  const x = (/** @type {number} */ value) => left + ((value - low) / (high - low)) * (width - left - 14);
  const ground = drawn.length * LINE + 6;
  const marks = ticks(low, high, width < 420 ? 3 : 6).map((tick) => [
    s('line', { class: 'grid', x1: x(tick), x2: x(tick), y1: 2, y2: ground }),
    s('text', { x: x(tick), y: ground + 16, 'text-anchor': 'middle' }, plain(tick)),
  ]);
  const lines = drawn.map((point, index) => {
    const y = index * LINE + LINE / 2 + 2;
    const whole = s('title', {}, `${point.label} ${plain(point.value)}`.trim());
    return s('g', {}, whole,
      s('text', { class: 'label', x: left - 10, y: y + 4, 'text-anchor': 'end' }, cut(point.label, left - 10)),
      s('line', { class: 'span', x1: x(point.low), x2: x(point.high), y1: y, y2: y }),
      s('circle', { class: 'dot', cx: x(point.value), cy: y, r: 4 }));
  });
  const description = textAlternative(title, points.map((point) => {
    const range = point.high > point.low ? `, from ${plain(point.low)} to ${plain(point.high)}` : '';
    return `${point.label} ${plain(point.value)}${range}`.trim();
  }));
  return picture(description, width, ground + FOOT, [...marks.flat(), ...lines]);
}

/**
 * Draws a bar and an interval for each bin.
 * @param {string} title
 * @param {Block[]} blocks
 * @param {number} width
 */
export function histogram(title, blocks, width) {
  const height = 190;
  const top = 8;
  const floor = Math.min(0, ...blocks.map((block) => block.low));
  const roof = Math.max(1, ...blocks.map((block) => block.high));
  const marks = ticks(floor, roof, 4);
  const left = 16 + LETTER * Math.max(...marks.map((tick) => plain(tick).length));
  const [from, to] = [Math.min(...blocks.map((block) => block.from)), Math.max(...blocks.map((block) => block.to))];
  const x = (/** @type {number} */ value) => left + ((value - from) / (to - from || 1)) * (width - left - 14);
  const y = (/** @type {number} */ value) => top + ((roof - value) / (roof - floor)) * (height - top);
  const parts = marks.flatMap((tick) => [
    s('line', { class: 'grid', x1: left, x2: width - 14, y1: y(tick), y2: y(tick) }),
    s('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, plain(tick)),
  ]);
  for (const block of blocks) {
    const [one, other] = [x(block.from), x(block.to)];
    const [head, foot] = [y(Math.max(0, block.value)), y(Math.min(0, block.value))];
    const middle = (one + other) / 2;
    parts.push(s('rect', { class: 'block', x: one + 0.5, y: head, width: Math.max(0.5, other - one - 1), height: foot - head }));
    parts.push(s('line', { class: 'whisker', x1: middle, x2: middle, y1: y(block.low), y2: y(block.high) }));
  }
  parts.push(s('line', { class: 'ground', x1: left, x2: width - 14, y1: y(0), y2: y(0) }));
  // Labels as many edges as fit.
  const edges = [...new Set(blocks.flatMap((block) => [block.from, block.to]))];
  let free = -Infinity;
  for (const edge of edges) {
    const half = (plain(edge).length * LETTER) / 2;
    if (x(edge) - half < free) continue;
    free = x(edge) + half + 8;
    parts.push(s('text', { x: Math.min(x(edge), width - half), y: height + 17, 'text-anchor': 'middle' }, plain(edge)));
  }
  const description = textAlternative(title, blocks.map((block) => {
    return `${plain(block.from)} to ${plain(block.to)}: ${plain(block.value)}, from ${plain(block.low)} to ${plain(block.high)}`;
  }));
  return picture(description, width, height + FOOT, parts);
}

/**
 * Draws the spending as a step function below the budget.
 * @param {string} description
 * @param {Step[]} steps in order
 * @param {[number, number]} ends of the axis
 * @param {[string, string]} names of the ends
 * @param {number} whole the budget
 * @param {number} width
 */
export function stairs(description, steps, [from, to], [first, last], whole, width) {
  const height = 110;
  const top = 10;
  const roof = Math.max(whole, ...steps.map((step) => step.y)) || 1;
  const marks = ticks(0, roof, 3);
  const left = 16 + LETTER * Math.max(...marks.map((tick) => plain(tick).length));
  const right = width - 10;
  const x = (/** @type {number} */ value) => left + ((value - from) / (to - from || 1)) * (right - left);
  const y = (/** @type {number} */ value) => top + ((roof - value) / roof) * (height - top);
  const path = steps.map((step) => `H${round(x(step.x))}V${round(y(step.y))}`).join('');
  const line = `M${round(left)} ${round(y(0))}${path}H${round(right)}`;
  return picture(description, width, height + FOOT, [
    ...marks.flatMap((tick) => [
      s('line', { class: 'grid', x1: left, x2: right, y1: y(tick), y2: y(tick) }),
      s('text', { x: left - 6, y: y(tick) + 4, 'text-anchor': 'end' }, plain(tick)),
    ]),
    s('path', { class: 'filled', d: `${line}V${round(y(0))}Z` }),
    s('path', { class: 'stairs', d: line }),
    s('line', { class: 'limit', x1: left, x2: right, y1: y(whole), y2: y(whole) }),
    s('text', { x: left, y: height + 17 }, first),
    s('text', { x: right, y: height + 17, 'text-anchor': 'end' }, last),
  ]);
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 100) / 100;
}

/**
 * @param {string} description
 * @param {number} width
 * @param {number} height
 * @param {SVGElement[]} parts
 */
function picture(description, width, height, parts) {
  return s('svg', { class: 'chart', viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': description }, ...parts);
}

/**
 * A bar that shows the spent share of a budget.
 * @param {number} spent from 0 to 1
 */
export function meter(spent) {
  const part = Math.max(0, Math.min(1, spent));
  return s('svg', { class: 'bar meter', viewBox: '0 0 100 10', preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    s('rect', { class: 'rest', x: 0, y: 0, width: 100, height: 10, rx: 1 }),
    s('rect', { class: part > 0.9 ? 'ours nearly' : 'ours', x: 0, y: 0, width: 100 * part, height: 10, rx: 1 }));
}

// The cost of the plan: the total, the budget, and the cost by other theorems.

import { changeText, sentence } from './descriptions.js';
import { byId, fieldText, formatNumber, h, setField, setProblem, setText } from './dom.js';
import { bar, stackedBar } from './planner_charts.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./planner_client.js').Planned} Planned
 * @typedef {import('./planner_client.js').Problem} Problem
 */

/** @type {Record<string, string>} */
const THEOREMS = {
  basic: 'Sum of epsilons',
  advanced: 'Advanced composition',
  'kov-closed-form': 'Closed formula (KOV)',
};

/**
 * Shows the total cost and explains it.
 * @param {Study} study
 * @param {Planned | null} planned
 * @param {Planned | null} before
 */
export function showTotal(study, planned, before) {
  setText(byId('total'), planned ? formatNumber(planned.epsilon.upper) : '–');
  setText(byId('strip-total'), planned ? `ε ${formatNumber(planned.epsilon.upper)}` : 'ε –');
  setText(byId('total-delta'), planned ? `at δ = ${formatNumber(planned.delta.upper)}` : '');
  setText(byId('odds'), planned ? odds(planned) : '');
  setText(byId('factor'), planned ? factor(study, planned) : '');
  const certified = planned
    ? `Certified: the exact privacy cost of this plan is between ε ${formatNumber(planned.epsilon.lower, 6, 'floor')} and ε ${formatNumber(planned.epsilon.upper, 6)}.`
    : '';
  setText(byId('certified'), certified);
  setText(byId('proved'), planned ? provedText(planned) : '');
  setText(byId('theorem'), planned ? `${planned.theorem}.` : '');
  byId('total-was').hidden = !before;
  if (before) {
    const now = planned ? `, now ${formatNumber(planned.epsilon.upper)} (${changeText(before.epsilon.upper, planned.epsilon.upper)})` : '';
    setText(byId('total-was'), `was ${formatNumber(before.epsilon.upper)}${now}`);
  }
}

/**
 * The proved lower bound, as a sentence.
 * @param {Planned} planned
 */
function provedText({ factor, sum, least }) {
  if (factor) return `Proved: within this budget and with these kinds of noise, no plan has errors below ${formatNumber(factor.lower, 4, 'floor')} times those that you entered.`;
  if (!sum || !least) return '';
  if (least.sum === null) return `No lower bound on the weighted sum is proved: ${least.reason}.`;
  const plans = least.noise === 'any' ? 'any plan' : 'any plan with these kinds of noise';
  const more = formatNumber(100 * Math.max(sum / least.sum - 1, 0), 2);
  return `Proved: the weighted sum of errors is at most ${more} % above the smallest sum that ${plans} reaches within the budget.`;
}

/** @param {Planned} planned */
function odds(planned) {
  const times = formatNumber(Math.exp(planned.epsilon.upper), 3);
  const apart = planned.delta.upper > 0 ? 'Apart from a probability of δ, the' : 'The';
  return `${apart} published numbers change the odds of any statement about one person by a factor of at most ${times}.`;
}

/**
 * @param {Study} study
 * @param {Planned} planned
 */
function factor(study, planned) {
  if (study.mode === 'errors') return 'This is the smallest epsilon that the planner finds for the errors you entered.';
  if (study.mode === 'share') return 'The statistics share the budget so that the weighted sum of their errors is as small as possible.';
  const upper = planned.factor?.upper;
  if (!upper) return '';
  const size = formatNumber(upper, 3);
  return upper > 1
    ? `The budget is too small for the errors you entered: each becomes ${size} times as large.`
    : `The budget allows smaller errors than you entered: each becomes ${size} times as large.`;
}

/**
 * Shows the budget's number and slider.
 * @param {Study} study
 * @param {Planned | null} planned
 * @param {Problem | null} problem
 */
export function showBudget(study, planned, problem) {
  const field = /** @type {HTMLInputElement} */ (byId('epsilon'));
  const slider = /** @type {HTMLInputElement} */ (byId('slider'));
  const cost = planned ? fieldText(planned.epsilon.upper, 4) : '';
  const text = study.mode === 'errors' ? cost : study.epsilon;
  setField(field, text);
  const value = Number(text);
  if (value > 0) {
    setField(slider, String(Math.log10(value)));
    slider.setAttribute('aria-valuetext', `epsilon ${formatNumber(value)}`);
  }
  setText(byId('epsilon-label'), study.mode === 'errors' ? 'Cost ε' : 'Budget ε');
  setText(byId('slider-hint'), study.mode === 'errors' ? 'Drag the slider to fix a budget instead of the errors.' : 'Drag the slider to change the budget. The errors change with it.');
  const wrong = (/** @type {string} */ name) => (problem && problem.statistic === null && problem.field === name ? problem.problem : '');
  setProblem([field], byId('epsilon-wrong'), wrong('epsilon') && sentence('epsilon', wrong('epsilon')));
  const delta = /** @type {HTMLInputElement} */ (byId('delta'));
  setField(delta, study.delta);
  setProblem([delta], byId('delta-wrong'), wrong('delta') && sentence('delta', wrong('delta')));
  const goal = /** @type {HTMLSelectElement} */ (byId('goal'));
  setField(goal, study.goal);
  byId('goal-line').hidden = study.mode !== 'share';
  for (const radio of document.querySelectorAll('input[name=mode]')) {
    if (radio instanceof HTMLInputElement) radio.checked = radio.value === study.mode;
  }
}

/**
 * Shows the cost of each statistic alone as parts of one bar.
 * @param {Planned | null} planned
 */
export function showShares(planned) {
  const parts = (planned?.statistics ?? []).map((line) => ({ name: line.name, size: line.epsilon ?? 0 })).filter(({ size }) => size > 0);
  byId('shares').hidden = parts.length < 2;
  if (!planned || parts.length < 2) return;
  byId('shares-bar').replaceChildren(stackedBar(parts));
  const largest = [...parts].sort((one, other) => other.size - one.size).slice(0, 3);
  const sum = parts.reduce((total, { size }) => total + size, 0);
  // With few releases or a delta of 0, the total is the sum.
  const saved = planned.epsilon.upper < 0.995 * sum ? `, less than the sum of these costs, ε ${formatNumber(sum, 3)}` : '';
  setText(byId('shares-text'), `Each part of the bar shows what one statistic would cost alone. The most expensive statistics are ${largest
    .map(({ name, size }) => `${name} (ε ${formatNumber(size, 3)})`).join(', ')}. All statistics together cost ε ${formatNumber(planned.epsilon.upper)}${saved}.`);
}

/**
 * Shows a bar for each theorem: its cost for the same errors, or its errors for the same budget.
 * @param {Planned | null} planned
 */
export function showComparison(planned) {
  byId('others').hidden = !planned || planned.others.length === 0;
  if (!planned) return;
  const byFactor = planned.factor !== null && planned.others.some((other) => other.factor !== null);
  const of = (/** @type {import('./planner_client.js').TheoremCost} */ other) => (byFactor ? other.factor : other.epsilon);
  const ours = byFactor ? planned.factor?.upper ?? 0 : planned.epsilon.upper;
  const list = planned.others.map((other) => ({ name: THEOREMS[other.theorem] ?? other.theorem, value: of(other), kind: 'theirs' }));
  const all = [...list, { name: 'Counterpoint', value: ours, kind: 'ours' }];
  const most = Math.max(...all.map(({ value }) => value ?? 0));
  setText(byId('others-title'), byFactor ? 'Errors for the same budget' : 'Cost of the same errors');
  setText(byId('others-unit'), byFactor ? 'as a multiple of the errors you entered' : 'epsilon');
  const shown = (/** @type {number} */ value) => (byFactor ? `${formatNumber(value, 3)} ×` : formatNumber(value));
  byId('bars').replaceChildren(...all.map(({ name, value, kind }) => h('tr', { class: kind },
    h('th', { scope: 'row' }, name),
    h('td', { class: 'value' }, value === null ? 'no bound' : shown(value)),
    h('td', { class: 'drawn', 'aria-hidden': 'true' }, value === null ? '' : bar(value / most, kind)))));
  const least = Math.min(...list.map(({ value }) => value ?? Infinity));
  const saved = 100 * (1 - ours / least);
  const [what, whose] = byFactor ? ['errors are', 'the errors'] : ['epsilon is', 'the epsilon'];
  const text = `Counterpoint’s ${what} ${formatNumber(saved, 2, 'halfExpand')} % smaller than ${whose} by the best other theorem. (The other theorems are applied to Laplace noise.)`;
  setText(byId('saving'), saved > 0.05 && Number.isFinite(saved) ? text : '');
}

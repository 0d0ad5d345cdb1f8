// What all of it costs: the total, the budget, and what other theorems would charge.

import { amount, at, blame, h, put, say, written } from './dom.js';
import { bar, stacked } from './pictures.js';
import { change, sentence } from './words.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./planner.js').Planned} Planned
 * @typedef {import('./planner.js').Problem} Problem
 */

/** @type {Record<string, string>} */
const THEOREMS = {
  basic: 'Adding up',
  advanced: 'Advanced composition',
  'kov-closed-form': 'Closed formula (KOV)',
};

/**
 * The total, and what is said about it.
 * @param {Study} study
 * @param {Planned | null} planned
 * @param {Planned | null} before
 */
export function total(study, planned, before) {
  say(at('total'), planned ? amount(planned.epsilon.upper) : '–');
  say(at('strip-total'), planned ? `ε ${amount(planned.epsilon.upper)}` : 'ε –');
  say(at('total-delta'), planned ? `at δ = ${amount(planned.delta.upper)}` : '');
  say(at('odds'), planned ? odds(planned) : '');
  say(at('factor'), planned ? factor(study, planned) : '');
  const certified = planned
    ? `Certified: the exact cost of this noise is between ${amount(planned.epsilon.lower, 6, 'halfExpand')} and ${amount(planned.epsilon.upper, 6)}.`
    : '';
  say(at('certified'), certified);
  say(at('proved'), planned ? proved(planned) : '');
  say(at('theorem'), planned ? `${planned.theorem}.` : '');
  at('total-was').hidden = !before;
  if (before) {
    const now = planned ? `, now ${amount(planned.epsilon.upper)} (${change(before.epsilon.upper, planned.epsilon.upper)})` : '';
    say(at('total-was'), `was ${amount(before.epsilon.upper)}${now}`);
  }
}

/**
 * What no noise could do.
 * @param {Planned} planned
 */
function proved({ factor, sum, least }) {
  if (factor) return `Proved: with noise of these kinds no factor below ${amount(factor.lower, 4, 'halfExpand')} keeps the budget.`;
  if (!sum || !least) return '';
  if (least.sum === null) return `How small the weighted sum can be is not proved: ${least.reason}.`;
  const noise = least.noise === 'any' ? 'any noise' : 'noise of these kinds';
  const more = amount(100 * Math.max(sum / least.sum - 1, 0), 2);
  return `Proved: the weighted sum of errors is at most ${more} % above the smallest that ${noise} could have within the budget.`;
}

/** @param {Planned} planned */
function odds(planned) {
  const times = amount(Math.exp(planned.epsilon.upper), 3);
  return `Whatever somebody believes about one person, the published numbers change its odds at most ${times} times.`;
}

/**
 * @param {Study} study
 * @param {Planned} planned
 */
function factor(study, planned) {
  if (study.mode === 'errors') return 'This is the least epsilon that pays for the errors you typed.';
  if (study.mode === 'share') return 'The budget is shared out so that the errors, by their weights, are as small as it allows.';
  const upper = planned.factor?.upper;
  if (!upper) return '';
  const size = amount(upper, 3);
  return upper > 1
    ? `The budget is too small for the errors you typed: each is ${size} times as large.`
    : `The budget allows more than you asked for: each error is ${size} times what you typed.`;
}

/**
 * The budget's slider and number.
 * @param {Study} study
 * @param {Planned | null} planned
 * @param {Problem | null} problem
 */
export function budget(study, planned, problem) {
  const field = /** @type {HTMLInputElement} */ (at('epsilon'));
  const slider = /** @type {HTMLInputElement} */ (at('slider'));
  const cost = planned ? written(planned.epsilon.upper, 4) : '';
  const text = study.mode === 'errors' ? cost : study.epsilon;
  put(field, text);
  const value = Number(text);
  if (value > 0) {
    put(slider, String(Math.log10(value)));
    slider.setAttribute('aria-valuetext', `epsilon ${amount(value)}`);
  }
  say(at('epsilon-label'), study.mode === 'errors' ? 'Cost ε' : 'Budget ε');
  say(at('slider-hint'), study.mode === 'errors' ? 'Drag to fix a budget instead: the errors follow.' : 'Drag it, and the errors follow.');
  const wrong = (/** @type {string} */ name) => (problem && problem.statistic === null && problem.field === name ? problem.problem : '');
  blame([field], at('epsilon-wrong'), wrong('epsilon') && sentence('Epsilon', wrong('epsilon')));
  const delta = /** @type {HTMLInputElement} */ (at('delta'));
  put(delta, study.delta);
  blame([delta], at('delta-wrong'), wrong('delta') && sentence('Delta', wrong('delta')));
  const goal = /** @type {HTMLSelectElement} */ (at('goal'));
  put(goal, study.goal);
  at('goal-line').hidden = study.mode !== 'share';
  for (const radio of document.querySelectorAll('input[name=mode]')) {
    if (radio instanceof HTMLInputElement) radio.checked = radio.value === study.mode;
  }
}

/**
 * One bar of what each statistic would cost alone, side by side.
 * @param {Planned | null} planned
 */
export function shares(planned) {
  const parts = (planned?.statistics ?? []).map((line) => ({ name: line.name, size: line.epsilon ?? 0 })).filter(({ size }) => size > 0);
  at('shares').hidden = parts.length < 2;
  if (!planned || parts.length < 2) return;
  at('shares-bar').replaceChildren(stacked(parts));
  const dearest = [...parts].sort((one, other) => other.size - one.size).slice(0, 3);
  say(at('shares-text'), `Who uses the budget: each as wide as what it would cost alone. The dearest are ${dearest
    .map(({ name, size }) => `${name} (ε ${amount(size, 3)})`).join(', ')}. Together they cost less than their sum: ε ${amount(planned.epsilon.upper)}.`);
}

/**
 * Bars: what each theorem would charge for the same errors, or make of the same budget.
 * @param {Planned | null} planned
 */
export function bars(planned) {
  at('others').hidden = !planned || planned.others.length === 0;
  if (!planned) return;
  const byFactor = planned.factor !== null && planned.others.some((other) => other.factor !== null);
  const of = (/** @type {import('./planner.js').Other} */ other) => (byFactor ? other.factor : other.epsilon);
  const ours = byFactor ? planned.factor?.upper ?? 0 : planned.epsilon.upper;
  const list = planned.others.map((other) => ({ name: THEOREMS[other.theorem] ?? other.theorem, value: of(other), kind: 'theirs' }));
  const all = [...list, { name: 'Counterpoint', value: ours, kind: 'ours' }];
  const most = Math.max(...all.map(({ value }) => value ?? 0));
  say(at('others-title'), byFactor ? 'Errors for the same budget' : 'Charge for the same errors');
  say(at('others-unit'), byFactor ? 'times the errors you typed' : 'epsilon');
  const shown = (/** @type {number} */ value) => (byFactor ? `${amount(value, 3)} ×` : amount(value));
  at('bars').replaceChildren(...all.map(({ name, value, kind }) => h('tr', { class: kind },
    h('th', { scope: 'row' }, name),
    h('td', { class: 'value' }, value === null ? 'no bound' : shown(value)),
    h('td', { class: 'drawn', 'aria-hidden': 'true' }, value === null ? '' : bar(value / most, kind)))));
  const least = Math.min(...list.map(({ value }) => value ?? Infinity));
  const saved = 100 * (1 - ours / least);
  const what = byFactor ? 'smaller errors than' : 'less than';
  say(at('saving'), saved > 0.05 && Number.isFinite(saved) ? `${amount(saved, 2, 'halfExpand')} % ${what} the best of them.` : '');
}

// Exports the study and its plan as a study file, a plan file, Python or ledger commands.

import { fieldText } from './dom.js';
import { toFile } from './study_file.js';
import { parseNumber } from './typed_values.js';

/**
 * @typedef {import('./planner_client.js').Answer} Answer
 * @typedef {import('./planner_client.js').Release} Release
 * @typedef {import('./study.js').Study} Study
 */

/** The Python classes of the planner's mechanisms, and their fields. */
const CLASSES = {
  'approx-dp': { name: 'ApproxDP', fields: ['epsilon', 'delta'] },
  laplace: { name: 'Laplace', fields: ['scale', 'sensitivity'] },
  geometric: { name: 'Geometric', fields: ['scale', 'sensitivity'] },
  gaussian: { name: 'Gaussian', fields: ['sigma', 'sensitivity'] },
  'discrete-gaussian': { name: 'DiscreteGaussian', fields: ['sigma', 'sensitivity'] },
  exponential: { name: 'Exponential', fields: ['epsilon'] },
};

/**
 * A text to copy, with the name of its file and a hint.
 * @param {string} format `study`, `plan`, `python` or `ledger`
 * @param {Study} study
 * @param {Answer | null} answer
 */
export function exported(format, study, answer) {
  if (format === 'study') {
    const text = `${JSON.stringify(toFile(study), null, 2)}\n`;
    return { text, name: 'study.json', hint: 'The study as you entered it. “Open…” loads it into this page again, and counterpoint plan study.json plans it without the page.' };
  }
  if (!answer) return { text: '', name: '', hint: '' };
  if (format === 'python') return { text: python(answer), name: 'plan.py', hint: 'Python code that computes the cost of the same releases.' };
  if (format === 'ledger') {
    return { text: ledger(answer, share(study)), name: 'ledger.sh', hint: 'Commands that create a ledger with an account for exactly these releases.' };
  }
  return { text: answer.plan, name: 'plan.json', hint: 'The mechanisms and their noise. The command counterpoint compose plan.json computes their cost again.' };
}

/**
 * The share of the population that is in the data.
 * @param {Study} study
 */
function share({ data: { people, sample_of } }) {
  const part = Number(parseNumber(people)) / Number(parseNumber(sample_of));
  return sample_of.trim() !== '' && part < 1 ? part : null;
}

/**
 * Python code that composes the plan.
 * @param {Answer} answer
 */
function python({ planned }) {
  const { plan } = planned;
  const lines = plan.release.map((release) => {
    const known = CLASSES[/** @type {keyof typeof CLASSES} */ (release.mechanism)];
    if (!known) return `    # ${release.mechanism}: this page cannot write it in Python`;
    const fields = known.fields.filter((field) => release[field] !== undefined);
    const given = [...fields.map((field) => `${field}=${release[field]}`), `name=${quoted(release.name)}`];
    return `    cp.${known.name}(${given.join(', ')})${release.count > 1 ? ` * ${release.count}` : ''},`;
  });
  return [
    'import counterpoint as cp',
    '',
    'plan = cp.compose([',
    ...lines,
    `], adjacency="${plan.adjacency}")`,
    `epsilon = plan.epsilon(${plan.delta})`,
    'print(epsilon.lower, epsilon.upper)',
    '',
  ].join('\n');
}

/**
 * A string literal that Python and JSON read alike.
 * @param {string} text
 */
function quoted(text) {
  return JSON.stringify(text);
}

/**
 * Commands that open a ledger account which allows exactly the plan.
 * @param {Answer} answer
 * @param {number | null} share of a population that the data are a secret sample of
 */
function ledger({ planned }, share) {
  const { plan } = planned;
  // A ledger does not count the effect of a secret sample. So its epsilon is the cost of the releases without this effect.
  const epsilon = share === null ? planned.epsilon.upper : Math.log1p(Math.expm1(planned.epsilon.upper) / share);
  const budget = fieldText(epsilon * (1 + 1e-9), 6);
  const command = 'counterpoint ledger --url sqlite:budget.db';
  const first = plan.release[0];
  return [
    '# plan.json is the plan, saved from this page.',
    ...(share === null ? [] : ['# The budget is the cost of the releases without the effect of the secret sample, because a ledger does not count this effect.']),
    `${command} init`,
    `${command} dataset people --adjacency ${plan.adjacency} --epsilon ${budget} --delta ${plan.delta}`,
    `${command} open study --dataset people --plan plan.json`,
    '',
    '# For each release: reserve it before you draw its noise, and commit the answer before you show it.',
    first ? `${command} reserve study ${shell(first.name)} --key 1` : '',
    `${command} commit 1 --response answer.json`,
    '',
  ].join('\n');
}

/**
 * Quotes a word for a shell.
 * @param {string} text
 */
function shell(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

// Step 4 of the planner: releases the study from the server's data source, or rehearses it with made-up rows.

import { dots, histogram, MAX_POINTS } from './charts.js';
import { loadStored, store } from './curator_client.js';
import { byId, download, formatNumber, h, setProblem, setText, significantDigits } from './dom.js';
import { fetchProgress, post } from './planner_client.js';
import { sentence } from './descriptions.js';

/**
 * @typedef {{group: string[], part: string, value: number, lower: number | null, upper: number | null, confidence: number}} PublishedNumber
 * @typedef {{name: string, kind: string, by: string[], numbers: PublishedNumber[]}} PublishedStatistic
 * @typedef {{made_up: boolean, privacy: {epsilon: number, delta: number, budget: {epsilon: number, epsilon_spent: number}},
 *   statistics: PublishedStatistic[]}} Publication
 * @typedef {{made_up: boolean, report: string | null, files: Record<string, string>}} Published
 * @typedef {{name: string, columns: string[], folder: string}} Source
 * @typedef {{study: unknown, epsilon: string | null, hasColumns: boolean}} Planned the study file, and its cost if it has a plan
 */

const KEY = 'release-key';
/** The most charts that are drawn. */
const MAX_CHARTS = 30;
/** The interval between requests for the progress, in milliseconds. */
const PROGRESS_INTERVAL = 300;

/** The state of this step. */
const state = {
  /** @type {Source | null} */
  source: null,
  /** @type {Planned} */
  planned: { study: null, epsilon: null, hasColumns: false },
  /** @type {'/release' | '/rehearsal' | null} the path of the running request */
  running: null,
  /** @type {number | null} the progress of planning */
  progress: null,
  problem: '',
  /** @type {{published: Published, publication: Publication, study: string} | null} */
  result: null,
};

/** Stores the key that `counterpoint serve` put into the address, and removes it from there. */
function takeKey() {
  if (!location.hash.startsWith('#key=')) return;
  store(KEY, location.hash.slice(5));
  history.replaceState(null, '', location.pathname);
}

/** @returns {Record<string, string>} */
function key() {
  return { 'Release-Key': String(loadStored(KEY) ?? '') };
}

/**
 * Requests the description of the data source, if this tab has a key.
 * @param {(source: Source) => void} found
 */
export async function openRelease(found) {
  takeKey();
  if (!loadStored(KEY)) return;
  const response = await fetch('/release', { headers: key() }).catch(() => null);
  if (response?.status === 401) store(KEY, null);
  if (!response?.ok) return;
  state.source = await response.json();
  if (state.source) found(state.source);
  show();
}

/**
 * Sets the current study.
 * @param {Planned} planned
 */
export function updateRelease(planned) {
  state.planned = planned;
  show();
}

/** @param {'/release' | '/rehearsal'} path */
async function run(path) {
  const { study, epsilon } = state.planned;
  if (state.running || epsilon === null) return;
  Object.assign(state, { running: path, progress: null, problem: '' });
  show();
  const name = crypto.randomUUID();
  const progressTimer = setInterval(async () => {
    const progress = await fetchProgress(name);
    if (progress !== null && state.running) state.progress = progress;
    show();
  }, PROGRESS_INTERVAL);
  try {
    const { text, problem } = await post(path, study, undefined, { 'Plan-Name': name, ...key() });
    if (problem) state.problem = sentence(problem.field, problem.problem);
    else {
      /** @type {Published} */
      const published = JSON.parse(text);
      state.result = { published, publication: JSON.parse(published.files['release.json'] ?? ''), study: JSON.stringify(study) };
      setText(byId('live'), published.made_up ? 'The trial with made-up rows is done' : 'The study is released');
    }
  } catch {
    state.problem = 'The server does not answer. If it has already charged this study, releasing the study again costs nothing more.';
  } finally {
    clearInterval(progressTimer);
    state.running = null;
    show();
    draw();
  }
  byId(state.problem ? 'release-wrong' : 'released-title').scrollIntoView({ block: 'nearest' });
}

/** Shows the state of the step, except for the published numbers. */
function show() {
  const { source, planned, running, progress, problem, result } = state;
  byId('release').hidden = source === null;
  if (!source) return;
  setText(byId('release-source'), source.name);
  setText(byId('release-folder'), source.folder);
  const isReady = planned.epsilon !== null && planned.hasColumns && running === null;
  setText(byId('release-now'), planned.epsilon === null ? 'Release' : `Release, and charge ε ${planned.epsilon}`);
  for (const id of ['release-now', 'rehearse-now']) byId(id).setAttribute('aria-disabled', String(!isReady));
  setText(
    byId('release-hint'),
    planned.hasColumns
      ? 'Noise is drawn only once. Releasing the same study again gives the same numbers and costs nothing.'
      : 'First declare the columns of your data in step 1, because the statistics are computed from them.',
  );
  byId('releasing').hidden = running === null;
  const bar = byId('release-bar');
  if (progress === null || progress >= 1) bar.removeAttribute('value');
  else bar.setAttribute('value', String(progress));
  const rows = running === '/release' ? `Charging the cost, computing from ${source.name} and drawing noise` : 'Computing from made-up rows';
  setText(byId('release-stage'), progress !== null && progress < 1 ? 'Planning …' : `${rows} …`);
  setProblem([], byId('release-wrong'), problem);
  byId('released').hidden = result === null;
  if (!result) return;
  const { publication, published } = result;
  setText(byId('released-title'), published.made_up ? 'Made-up numbers' : 'Published numbers');
  byId('released').classList.toggle('made-up', published.made_up);
  const { epsilon, delta, budget } = publication.privacy;
  const rest =
    budget.epsilon > 0 ? ` Of the data set’s budget of ε ${formatNumber(budget.epsilon, 6, 'floor')}, ε ${formatNumber(budget.epsilon_spent)} is spent.` : '';
  setText(
    byId('released-cost'),
    published.made_up
      ? 'These numbers are computed from made-up rows and say nothing about anybody. Nothing was charged or written.'
      : `The guarantee of these numbers is ε ${formatNumber(epsilon)} at δ = ${formatNumber(delta)}.${rest} The files are in ${source.folder}.`,
  );
  byId('released-old').hidden = result.study === JSON.stringify(planned.study);
}

/** Shows the published numbers as a table and as charts. */
function draw() {
  if (!state.result) return;
  const { publication, published } = state.result;
  const files = Object.entries(published.files);
  byId('released-files').replaceChildren(
    ...(published.report
      ? [h('a', { href: published.report, target: '_blank', rel: 'noopener' }, published.made_up ? 'Made-up report' : 'Report')]
      : []),
    ...(published.made_up ? [] : files.map(([name, text]) => h('button', { type: 'button', onclick: () => download(name, text) }, name))),
  );
  byId('released-numbers').replaceChildren(
    head(),
    h('tbody', {}, ...publication.statistics.flatMap((statistic) => statistic.numbers.map((one, index) => line(statistic, one, index)))),
  );
  charts(publication.statistics);
}

function head() {
  const right = new Set(['Value', 'Interval', 'Confidence']);
  return h(
    'thead',
    {},
    h(
      'tr',
      {},
      ...['Statistic', 'Group', 'Part', 'Value', 'Interval', 'Confidence'].map((name) =>
        h('th', { scope: 'col', class: right.has(name) ? 'right' : null }, name),
      ),
    ),
  );
}

/** @param {PublishedNumber} one */
function half({ lower, upper }) {
  return lower === null || upper === null ? null : (upper - lower) / 2;
}

/**
 * @param {PublishedStatistic} statistic
 * @param {PublishedNumber} one
 * @param {number} index
 */
function line(statistic, one, index) {
  const size = significantDigits(one.value, half(one));
  const interval = one.lower === null || one.upper === null ? '–' : `${formatNumber(one.lower, size, 'floor')} to ${formatNumber(one.upper, size)}`;
  const often = one.lower === null ? '' : `${formatNumber(100 * one.confidence, 4, 'halfExpand')} %`;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, index === 0 ? statistic.name : h('span', { class: 'hidden' }, statistic.name)),
    h('td', {}, one.group.join(', ')),
    h('td', {}, one.part),
    h('td', { class: 'right' }, formatNumber(one.value, size, 'halfExpand')),
    h('td', { class: 'right' }, interval),
    h('td', { class: 'right' }, often),
  );
}

/**
 * Draws a chart for each statistic with several numbers, and for each group of a histogram.
 * @param {PublishedStatistic[]} statistics
 */
function charts(statistics) {
  const width = Math.max(260, Math.min(480, byId('released').clientWidth));
  /** @type {{title: string, list: PublishedNumber[]}[]} */
  const series = statistics
    .flatMap(({ name, numbers }) => {
      if (!numbers.every((one) => bin(one))) return [{ title: name, list: numbers }];
      const groups = [...new Set(numbers.map((one) => one.group.join(', ')))];
      return groups.map((group) => ({
        title: group ? `${name}: ${group}` : name,
        list: numbers.filter((one) => one.group.join(', ') === group),
      }));
    })
    .filter(({ list }) => list.length > 1);
  const drawn = series
    .slice(0, MAX_CHARTS)
    .map(({ title, list }) => h('figure', {}, h('figcaption', {}, title), chart(title, list, width)));
  const left = series.length - drawn.length;
  byId('released-charts').replaceChildren(...drawn, ...(left > 0 ? [h('p', { class: 'hint' }, `There is no chart for ${left} more ${left === 1 ? 'statistic or group' : 'statistics or groups'}; the table has their numbers.`)] : []));
}

/**
 * The ends of a bin; null for a part that is not a bin.
 * @param {PublishedNumber} one
 */
function bin({ part }) {
  const ends = part.split(' to ').map(Number);
  return ends.length === 2 && ends.every(Number.isFinite) ? ends : null;
}

/**
 * @param {string} title
 * @param {PublishedNumber[]} list
 * @param {number} width
 */
function chart(title, list, width) {
  const ends = (/** @type {PublishedNumber} */ one) => ({ value: one.value, low: one.lower ?? one.value, high: one.upper ?? one.value });
  if (list.every((one) => bin(one))) {
    return histogram(
      title,
      list.map((one) => ({ from: bin(one)?.[0] ?? 0, to: bin(one)?.[1] ?? 0, ...ends(one) })),
      width,
    );
  }
  const label = (/** @type {PublishedNumber} */ one) => [...one.group, one.part].filter(Boolean).join(', ');
  return dots(
    title,
    list.slice(0, MAX_POINTS).map((one) => ({ label: label(one), ...ends(one) })),
    width,
  );
}

/** @param {'/release' | '/rehearsal'} path */
function button(path) {
  return (/** @type {Event} */ event) => {
    if (event.currentTarget instanceof HTMLElement && event.currentTarget.getAttribute('aria-disabled') === 'true') return;
    run(path);
  };
}

byId('release-now').addEventListener('click', button('/release'));
byId('rehearse-now').addEventListener('click', button('/rehearsal'));

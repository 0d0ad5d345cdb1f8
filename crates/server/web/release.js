// Step 4: the study released of the server's source, or rehearsed with made-up rows, and what comes of it.

import { dots, histogram, MOST_POINTS } from './charts.js';
import { store, stored } from './curator.js';
import { amount, at, blame, digits, download, h, say } from './dom.js';
import { glance, post } from './planner.js';
import { sentence } from './words.js';

/**
 * @typedef {{group: string[], part: string, value: number, lower: number | null, upper: number | null, confidence: number}} PublishedNumber
 * @typedef {{name: string, kind: string, by: string[], numbers: PublishedNumber[]}} PublishedStatistic
 * @typedef {{made_up: boolean, privacy: {epsilon: number, delta: number, budget: {epsilon: number, epsilon_spent: number}},
 *   statistics: PublishedStatistic[]}} Publication
 * @typedef {{made_up: boolean, report: string | null, files: Record<string, string>}} Published
 * @typedef {{name: string, columns: string[], folder: string}} Source
 * @typedef {{study: unknown, epsilon: string | null, hasColumns: boolean}} Planned the study file, and its cost if it is planned
 */

const KEY = 'release-key';
/** So many statistics are drawn. */
const MOST_CHARTS = 30;
/** How often it is asked how far it has come. */
const GLANCE = 300;

/** All that this step shows. */
const state = {
  /** @type {Source | null} */
  source: null,
  /** @type {Planned} */
  planned: { study: null, epsilon: null, hasColumns: false },
  /** @type {'/release' | '/rehearsal' | null} what is being done */
  doing: null,
  /** @type {number | null} how far planning has come */
  done: null,
  wrong: '',
  /** @type {{published: Published, publication: Publication, study: string} | null} */
  result: null,
};

/** Takes the key out of the address, where `counterpoint serve` put it. */
function takeKey() {
  if (!location.hash.startsWith('#key=')) return;
  store(KEY, location.hash.slice(5));
  history.replaceState(null, '', location.pathname);
}

/** @returns {Record<string, string>} */
function key() {
  return { 'Release-Key': String(stored(KEY) ?? '') };
}

/**
 * Asks which source can be released, if this tab has a key.
 * @param {(source: Source) => void} found
 */
export async function openRelease(found) {
  takeKey();
  if (!stored(KEY)) return;
  const response = await fetch('/release', { headers: key() }).catch(() => null);
  if (response?.status === 401) store(KEY, null);
  if (!response?.ok) return;
  state.source = await response.json();
  if (state.source) found(state.source);
  show();
}

/**
 * The study as it stands now.
 * @param {Planned} planned
 */
export function updateRelease(planned) {
  state.planned = planned;
  show();
}

/** @param {'/release' | '/rehearsal'} path */
async function run(path) {
  const { study, epsilon } = state.planned;
  if (state.doing || epsilon === null) return;
  Object.assign(state, { doing: path, done: null, wrong: '' });
  show();
  const name = crypto.randomUUID();
  const glances = setInterval(async () => {
    const done = await glance(name);
    if (done !== null && state.doing) state.done = done;
    show();
  }, GLANCE);
  try {
    const { text, problem } = await post(path, study, undefined, { 'Plan-Name': name, ...key() });
    if (problem) state.wrong = sentence(problem.field ?? '', problem.problem);
    else {
      /** @type {Published} */
      const published = JSON.parse(text);
      state.result = { published, publication: JSON.parse(published.files['release.json'] ?? ''), study: JSON.stringify(study) };
      say(at('live'), published.made_up ? 'Tried with made-up rows' : 'Released');
    }
  } catch {
    state.wrong = 'The server does not answer. What was charged is kept: released again, it costs nothing more.';
  } finally {
    clearInterval(glances);
    state.doing = null;
    show();
    draw();
  }
  at(state.wrong ? 'release-wrong' : 'released-title').scrollIntoView({ block: 'nearest' });
}

/** Everything but the numbers. */
function show() {
  const { source, planned, doing, done, wrong, result } = state;
  at('release').hidden = source === null;
  if (!source) return;
  say(at('release-source'), source.name);
  say(at('release-folder'), source.folder);
  const isReady = planned.epsilon !== null && planned.hasColumns && doing === null;
  say(at('release-now'), planned.epsilon === null ? 'Release' : `Release, and charge ε ${planned.epsilon}`);
  for (const id of ['release-now', 'rehearse-now']) at(id).setAttribute('aria-disabled', String(!isReady));
  say(
    at('release-hint'),
    planned.hasColumns
      ? 'Noise is drawn once. Released again, the same study has the same numbers and costs nothing.'
      : 'Say in step 1 which columns the data have; statistics are then computed from those.',
  );
  at('releasing').hidden = doing === null;
  const bar = at('release-bar');
  if (done === null || done >= 1) bar.removeAttribute('value');
  else bar.setAttribute('value', String(done));
  const rows = doing === '/release' ? `Counting ${source.name}, charging and drawing` : 'Drawing from made-up rows';
  say(at('release-stage'), done !== null && done < 1 ? 'Planning …' : `${rows} …`);
  blame([], at('release-wrong'), wrong);
  at('released').hidden = result === null;
  if (!result) return;
  const { publication, published } = result;
  say(at('released-title'), published.made_up ? 'Made-up numbers' : 'Published');
  at('released').classList.toggle('made-up', published.made_up);
  const { epsilon, delta, budget } = publication.privacy;
  const rest =
    budget.epsilon > 0 ? ` The data set has spent ε ${amount(budget.epsilon_spent)} of ${amount(budget.epsilon, 6, 'floor')}.` : '';
  say(
    at('released-cost'),
    published.made_up
      ? 'From rows that were made up: they say nothing about anybody, nothing was charged, and nothing was written.'
      : `What people are promised: ε ${amount(epsilon)} at δ = ${amount(delta)}.${rest} The files are in ${source.folder}.`,
  );
  at('released-old').hidden = result.study === JSON.stringify(planned.study);
}

/** The numbers, as a table and as charts. */
function draw() {
  if (!state.result) return;
  const { publication, published } = state.result;
  const files = Object.entries(published.files);
  at('released-files').replaceChildren(
    ...(published.report
      ? [h('a', { href: published.report, target: '_blank', rel: 'noopener' }, published.made_up ? 'Made-up report' : 'Report')]
      : []),
    ...(published.made_up ? [] : files.map(([name, text]) => h('button', { type: 'button', onclick: () => download(name, text) }, name))),
  );
  at('released-numbers').replaceChildren(
    head(),
    h('tbody', {}, ...publication.statistics.flatMap((statistic) => statistic.numbers.map((one, index) => line(statistic, one, index)))),
  );
  charts(publication.statistics);
}

function head() {
  const right = new Set(['Value', 'Interval', 'holds']);
  return h(
    'thead',
    {},
    h(
      'tr',
      {},
      ...['Statistic', 'Group', 'Of', 'Value', 'Interval', 'holds'].map((name) =>
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
  const size = digits(one.value, half(one));
  const interval = one.lower === null || one.upper === null ? '–' : `${amount(one.lower, size, 'floor')} to ${amount(one.upper, size)}`;
  const often = one.lower === null ? '' : `${amount(100 * one.confidence, 4, 'halfExpand')} %`;
  return h(
    'tr',
    {},
    h('th', { scope: 'row' }, index === 0 ? statistic.name : h('span', { class: 'hidden' }, statistic.name)),
    h('td', {}, one.group.join(', ')),
    h('td', {}, one.part),
    h('td', { class: 'right' }, amount(one.value, size, 'halfExpand')),
    h('td', { class: 'right' }, interval),
    h('td', { class: 'right' }, often),
  );
}

/**
 * A chart for each statistic of several numbers; of bins one for each group.
 * @param {PublishedStatistic[]} statistics
 */
function charts(statistics) {
  const width = Math.max(260, Math.min(480, at('released').clientWidth));
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
    .slice(0, MOST_CHARTS)
    .map(({ title, list }) => h('figure', {}, h('figcaption', {}, title), chart(title, list, width)));
  const left = series.length - drawn.length;
  at('released-charts').replaceChildren(...drawn, ...(left > 0 ? [h('p', { class: 'hint' }, `${left} more are in the table only.`)] : []));
}

/**
 * The ends of a bin, if it is one.
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
    list.slice(0, MOST_POINTS).map((one) => ({ label: label(one), ...ends(one) })),
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

at('release-now').addEventListener('click', button('/release'));
at('rehearse-now').addEventListener('click', button('/rehearsal'));

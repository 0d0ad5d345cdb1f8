// The planner page: a study is edited here, planned by the server, and shown.

import { copied } from './copies.js';
import { Columns, persons } from './columns.js';
import { bars, budget, shares, total } from './cost.js';
import { amount, at, blame, download, h, put, say } from './dom.js';
import { EXAMPLE, fromFile, toFile } from './file.js';
import { headerOf } from './header.js';
import { fromLink, History, keep, kept, link } from './history.js';
import { KINDS, kindOf } from './kinds.js';
import { Planner, readFile } from './planner.js';
import { openRelease, updateRelease } from './release.js';
import { form, refocus, Row } from './row.js';
import { blank, fresh, hasColumns, takeColumns } from './study.js';
import { sentence } from './words.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner.js').Answer} Answer
 * @typedef {import('./planner.js').Line} Line
 * @typedef {import('./planner.js').Problem} Problem
 */

const DATA = /** @type {const} */ (['people', 'rows', 'sample_of']);
const STEP = 200;
/** Up to so many statistics are shown whole unless it is chosen otherwise. */
const MOST_WHOLE = 8;

const steps = new History(kept());
/** @type {Map<number, Row>} */
const rows = new Map();
/** @type {Answer | null} */
let answer = null;
/** @type {number[]} the statistics that the answer is about */
let answered = [];
/** @type {Problem | null} */
let problem = null;
/** @type {{study: Study, answer: Answer, lines: Map<number, Line>} | null} */
let whatIs = null;
let shown = STEP;
/**
 * Whether rows are one line each: as chosen, or else where there are many; and which are shown whole all the same.
 * @type {{compact: boolean | null, open: Set<number>}}
 */
const view = { compact: null, open: new Set() };
let edited = 0;
const columns = new Columns(at('columns'), change);

const planner = new Planner(busy, (news) => {
  answer = news;
  answered = steps.now.statistics.map((statistic) => statistic.id);
  problem = null;
  render();
  announce(`Planned: epsilon ${amount(news.planned.epsilon.upper)}`);
  measure();
}, (news) => {
  problem = news;
  render();
  measure();
}, (least) => {
  if (answer && least) answer.planned.least = least;
  render();
});

/** From an edit to what it comes to, as browsers measure it. */
function measure() {
  if (edited) performance.measure('edit-to-answer', { start: edited });
  edited = 0;
}

/** @param {string} text */
function announce(text) {
  say(at('live'), text);
}

/**
 * @param {(study: Study) => void} edit
 * @param {string} [tag]
 */
function change(edit, tag) {
  steps.change(edit, tag);
  changed(false);
}

/** @param {boolean} now whether to ask at once */
function changed(now) {
  edited = performance.now();
  keep(steps.now);
  const ready = steps.now.data.adjacency !== '' && steps.now.statistics.length > 0;
  if (ready) planner.ask(toFile(steps.now), now);
  else {
    planner.stop();
    answer = null;
    problem = null;
  }
  render();
}

/** @type {ReturnType<typeof setInterval> | undefined} */
let clock;

/**
 * @param {boolean} working
 * @param {number} [done]
 */
function busy(working, done) {
  const bar = at('bar');
  if (done !== undefined) {
    bar.setAttribute('value', String(done));
    return;
  }
  bar.removeAttribute('value');
  at('stale-able').classList.toggle('stale', working);
  at('cost').setAttribute('aria-busy', String(working));
  clearInterval(clock);
  if (!working) {
    at('working').hidden = true;
    return;
  }
  const began = Date.now();
  clock = setInterval(() => {
    at('working').hidden = false;
    const seconds = Math.floor((Date.now() - began) / 1000);
    say(at('elapsed'), seconds ? `Planning ${steps.now.statistics.length} statistics, ${seconds} s` : 'Planning …');
  }, 400);
}

const actions = {
  /** @type {import('./row.js').Actions['edit']} */
  edit(id, edit, tag) {
    change((study) => {
      const statistic = study.statistics.find((candidate) => candidate.id === id);
      if (statistic) edit(statistic);
    }, tag);
  },
  /** @param {number} id @param {number} by */
  move(id, by) {
    const from = steps.now.statistics.findIndex((statistic) => statistic.id === id);
    change((study) => {
      const [statistic] = study.statistics.splice(from, 1);
      if (statistic) study.statistics.splice(from + by, 0, statistic);
    });
    const moved = at(`s${id}-row`).querySelector(`[data-key="${by < 0 ? 'up' : 'down'}"]`);
    const other = at(`s${id}-row`).querySelector(`[data-key="${by < 0 ? 'down' : 'up'}"]`);
    const button = moved instanceof HTMLButtonElement && !moved.disabled ? moved : other;
    if (button instanceof HTMLElement) button.focus();
    announce(`Moved to place ${from + by + 1}`);
  },
  /** @param {number} id */
  toggle(id) {
    if (!view.open.delete(id)) view.open.add(id);
    render();
  },
  /** @param {number} id */
  remove(id) {
    const from = steps.now.statistics.findIndex((statistic) => statistic.id === id);
    change((study) => void study.statistics.splice(from, 1));
    const next = steps.now.statistics[Math.min(from, steps.now.statistics.length - 1)];
    if (next) refocus(next.id, 'remove');
    else at('add').querySelector('button')?.focus();
    announce('Removed. Undo brings it back.');
  },
};

function render() {
  const study = steps.now;
  document.body.classList.toggle('begun', study.data.adjacency !== '');
  document.body.classList.toggle('has-plan', answer !== null);
  document.body.classList.toggle('is-empty', study.statistics.length === 0);
  at('start').hidden = study.data.adjacency !== '';
  at('heads').hidden = study.statistics.length === 0;
  /** @type {HTMLButtonElement} */ (at('undo')).disabled = steps.past.length === 0;
  /** @type {HTMLButtonElement} */ (at('redo')).disabled = steps.future.length === 0;
  about(study);
  statistics(study);
  const planned = answer?.planned ?? null;
  at('old').hidden = problem === null || answer === null;
  total(study, planned, whatIs?.answer.planned ?? null);
  budget(study, planned, problem);
  bars(planned);
  shares(planned);
  const general = problem && problem.statistic === null && !problem.column && !isPlaced(problem.field);
  blame([], at('trouble'), general && problem ? sentence(problem.field ?? '', problem.problem) : '');
  at('compare').hidden = whatIs !== null || answer === null;
  at('go-back').hidden = at('forget').hidden = whatIs === null;
  say(at('compare-hint'), whatIs
    ? 'The numbers marked “was” are those of the plan you kept.'
    : 'Keep this plan, then change anything: the old numbers stay beside the new ones.');
  copies();
  const isPlanned = planned && !problem && at('cost').getAttribute('aria-busy') !== 'true';
  updateRelease({
    study: toFile(study), hasColumns: study.data.columns.some((column) => column.holds !== ''),
    epsilon: isPlanned ? amount(planned.epsilon.upper) : null,
  });
}

/** @param {string | null} field */
function isPlaced(field) {
  return field !== null && ['epsilon', 'delta', 'adjacency', ...DATA].includes(field);
}

/** @param {Study} study */
function about(study) {
  for (const radio of document.querySelectorAll('input[name=adjacency]')) {
    if (radio instanceof HTMLInputElement) radio.checked = radio.value === study.data.adjacency;
  }
  for (const name of DATA) {
    const field = /** @type {HTMLInputElement} */ (at(name));
    put(field, study.data[name]);
    const about = problem?.field === name ? problem : null;
    const label = { people: 'How many people', rows: 'Rows a person has', sample_of: 'The sample' }[name];
    blame([field], at(`${name}-wrong`), about ? sentence(label, about.problem) : '');
  }
  columns.update(study, problem);
  persons(/** @type {HTMLSelectElement} */ (at('person')), study);
  at('declared').hidden = !hasColumns(study);
  const used = study.data.columns.filter((column) => column.holds !== '').length;
  say(at('declared-title'), `${study.data.columns.length} columns, ${used} in use`);
  blame([], at('adjacency-wrong'), problem?.field === 'adjacency' ? sentence('Who is protected', problem.problem) : '');
}

/** @param {Study} study */
function statistics(study) {
  const list = at('rows-list');
  const active = document.activeElement;
  const focus = active instanceof HTMLElement && list.contains(active) ? active : null;
  const lost = focus ? { row: focus.closest('.row')?.id, key: focus.dataset.key } : null;
  const present = study.statistics.slice(0, shown);
  list.classList.toggle('many', present.length > 50);
  const ids = new Set(present.map((statistic) => statistic.id));
  for (const [id, row] of rows) {
    if (!ids.has(id)) {
      row.element.remove();
      rows.delete(id);
    }
  }
  const compact = view.compact ?? study.statistics.length > MOST_WHOLE;
  at('statistics-list').classList.toggle('compact', compact);
  const layout = at('layout');
  layout.hidden = study.statistics.length < 2;
  layout.setAttribute('aria-pressed', String(compact));
  const most = Math.max(...(answer?.planned.statistics ?? []).map((line) => line.epsilon ?? 0), 1e-300);
  const lines = new Map(answer ? answered.map((id, index) => [id, answer?.planned.statistics[index]]) : []);
  present.forEach((statistic, index) => {
    let row = rows.get(statistic.id);
    if (!row || row.form !== form(statistic, study)) {
      const made = new Row(statistic, study, actions);
      const open = row?.element.querySelector('details')?.open;
      const details = made.element.querySelector('details');
      if (open && details) details.open = true;
      if (row) row.element.replaceWith(made.element);
      rows.set(statistic.id, made);
      row = made;
    }
    if (list.children[index] !== row.element) list.insertBefore(row.element, list.children[index] ?? null);
    const isAbout = problem?.statistic === index + 1 && !DATA.some((name) => name === problem?.field);
    row.update({
      study, statistic, index, compact, isOpen: view.open.has(statistic.id),
      share: (lines.get(statistic.id)?.epsilon ?? 0) / most,
      line: lines.get(statistic.id) ?? null,
      before: whatIs?.lines.get(statistic.id) ?? null,
      compared: whatIs !== null,
      problem: isAbout ? problem : null,
    });
  });
  if (lost?.row && document.activeElement !== focus) {
    const id = Number(lost.row.slice(1, -4));
    if (ids.has(id)) refocus(id, lost.key);
  }
  const left = study.statistics.length - present.length;
  at('rest').hidden = left <= 0;
  say(at('show-more'), `Show more (${left} are not shown)`);
}

/** What is to be copied. */
function toCopy() {
  const choice = document.querySelector('input[name=copy]:checked');
  return copied(choice instanceof HTMLInputElement ? choice.value : 'plan', steps.now, answer);
}

function copies() {
  const { text, hint } = toCopy();
  say(at('copy-text'), text.length > 50000 ? `${text.slice(0, 50000)}\n…` : text);
  say(at('copy-hint'), hint);
}

/**
 * @param {string} text
 * @param {HTMLElement} button
 */
async function copy(text, button) {
  const label = button.textContent ?? '';
  try {
    await navigator.clipboard.writeText(text);
    announce('Copied');
    say(button, 'Copied');
  } catch {
    announce('The browser does not allow copying; select the text instead');
    say(button, 'Not allowed');
  }
  setTimeout(() => say(button, label), 1500);
}

function save() {
  const { text, name } = toCopy();
  download(name, text);
}

/** @param {Study} study */
function replace(study) {
  view.open.clear();
  steps.change((now) => Object.assign(now, study));
  answer = null;
  problem = null;
  changed(true);
}

/** @param {File} file */
async function load(file) {
  try {
    replace(fromFile(await readFile(await file.text())));
    announce(`Opened ${file.name}`);
  } catch (error) {
    blame([], at('trouble'), `${file.name} is no study: ${error instanceof Error ? error.message : ''}`);
  }
}

/**
 * Takes the names of columns, and shows them.
 * @param {string[]} names
 */
function declare(names) {
  change((study) => takeColumns(study, names));
  const details = at('declared').querySelector('details');
  if (details) details.open = true;
  announce(`${names.length} columns`);
}

/** @param {File} file */
async function readHeader(file) {
  blame([], at('header-wrong'), '');
  try {
    const { names, separator } = await headerOf(file);
    declare(names);
    const other = separator !== null && separator !== ',' && names.length > 1;
    say(at('header-note'), other ? 'Its columns are not separated by commas: save it with commas before it is released.' : '');
  } catch (error) {
    blame([], at('header-wrong'), `${file.name}: ${error instanceof Error ? error.message : ''}.`);
  }
}

/** Everything that can be done, once. */
function wire() {
  const on = (/** @type {string} */ id, /** @type {string} */ event, /** @type {(field: any) => void} */ act) => {
    const element = at(id);
    element.addEventListener(event, () => act(element));
  };
  for (const name of DATA) {
    on(name, 'input', (field) => change((study) => { study.data[name] = field.value; }, name));
  }
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.name === 'adjacency') change((study) => { study.data.adjacency = target.value; });
    if (target.name === 'mode') {
      const cost = answer ? String(Number(answer.planned.epsilon.upper.toPrecision(3))) : '';
      change((study) => {
        if (study.mode === 'errors' && cost) study.epsilon = cost;
        study.mode = /** @type {import('./study.js').Mode} */ (target.value);
      });
    }
    if (target.name === 'copy') copies();
  });
  on('delta', 'input', (field) => change((study) => { study.delta = field.value; }, 'delta'));
  on('goal', 'change', (field) => change((study) => { study.goal = field.value; }));
  const fix = (/** @type {string} */ epsilon) => change((study) => {
    if (study.mode === 'errors') study.mode = 'fit';
    study.epsilon = epsilon;
  }, 'epsilon');
  on('epsilon', 'input', (field) => fix(field.value));
  on('slider', 'input', (field) => fix(String(Number((10 ** Number(field.value)).toPrecision(3)))));
  on('undo', 'click', () => steps.undo() && changed(true));
  on('redo', 'click', () => steps.redo() && changed(true));
  on('new', 'click', () => { whatIs = null; replace(blank()); });
  on('example', 'click', () => replace(fromFile(EXAMPLE)));
  on('open', 'click', () => at('file').click());
  on('file', 'change', (field) => {
    if (field.files[0]) load(field.files[0]);
    field.value = '';
  });
  on('take-header', 'click', () => at('header-file').click());
  on('header-file', 'change', (field) => {
    if (field.files[0]) readHeader(field.files[0]);
    field.value = '';
  });
  on('person', 'change', (field) => change((study) => { study.data.person = field.value; }));
  on('layout', 'click', () => {
    view.compact = !(view.compact ?? steps.now.statistics.length > MOST_WHOLE);
    view.open.clear();
    render();
  });
  on('show-more', 'click', () => { shown += STEP; render(); });
  on('copy', 'click', (button) => copy(toCopy().text, button));
  on('copy-link', 'click', (button) => copy(link(steps.now), button));
  on('save', 'click', save);
  on('compare', 'click', () => {
    if (!answer) return;
    const planned = answer.planned.statistics;
    const lines = new Map(answered.flatMap((id, index) => { const line = planned[index]; return line ? [[id, line]] : []; }));
    whatIs = { study: steps.now, answer, lines: /** @type {Map<number, Line>} */ (lines) };
    render();
    at('go-back').focus();
    announce('Kept. Changes are now shown beside it.');
  });
  on('go-back', 'click', () => { if (whatIs) replace(whatIs.study); });
  on('forget', 'click', () => { whatIs = null; render(); at('compare').focus(); });
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    const act = key === 'z' && !event.shiftKey ? 'undo' : key === 'y' || (key === 'z' && event.shiftKey) ? 'redo' : null;
    if (!act) return;
    event.preventDefault();
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
    if (steps[act]()) changed(true);
  });
  window.addEventListener('hashchange', () => {
    const linked = fromLink(location.hash);
    if (!linked) return;
    history.replaceState(null, '', location.pathname);
    replace(linked);
  });
  at('add').append(...Object.entries(KINDS).map(([kind, { label, says }]) => h('button', {
    type: 'button', title: says, 'data-kind': kind,
    onclick: () => {
      const statistic = fresh(steps.now, kindOf(kind) && kind);
      shown = Math.max(shown, steps.now.statistics.length + 1);
      view.open = new Set([statistic.id]);
      change((study) => void study.statistics.push(statistic));
      at(`s${statistic.id}-name`).focus();
    },
  }, h('b', {}, label), h('small', {}, says))));
}

wire();
changed(true);
openRelease((source) => {
  at('take-source').hidden = false;
  say(at('take-source'), `Take the columns of ${source.name}`);
  at('take-source').addEventListener('click', () => declare(source.columns));
});

// The planner page: edits a study, requests its plan from the server and shows the plan.

import { headerOf } from './csv_header.js';
import { Columns, fillPersonColumns } from './data_columns.js';
import { sentence } from './descriptions.js';
import { byId, download, formatNumber, h, setField, setProblem, setText } from './dom.js';
import { showBudget, showComparison, showShares, showTotal } from './plan_cost.js';
import { Planner, readFile } from './planner_client.js';
import { openRelease, updateRelease } from './release.js';
import { KINDS, kindOf } from './statistic_kinds.js';
import { refocus, Row, rowForm } from './statistic_row.js';
import { blank, hasColumns, newStatistic, takeColumns } from './study.js';
import { exported } from './study_export.js';
import { EXAMPLE, fromFile, toFile } from './study_file.js';
import { fromLink, History, initialStudy, link, storeStudy } from './study_history.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner_client.js').Answer} Answer
 * @typedef {import('./planner_client.js').Line} Line
 * @typedef {import('./planner_client.js').Problem} Problem
 */

const DATA_FIELDS = /** @type {const} */ (['people', 'rows', 'sample_of']);
/** The number of statistics that "Show more" adds. */
const ROWS_STEP = 200;
/** With more statistics than this, rows are compact by default. */
const MAX_FULL_ROWS = 8;

/** The state of the page, besides the study, which is `steps.now`. */
const state = {
  /** @type {Answer | null} */
  answer: null,
  /** @type {number[]} the statistics of the answer, by their ids */
  answeredIds: [],
  /** @type {Problem | null} */
  problem: null,
  /** @type {{study: Study, answer: Answer, lines: Map<number, Line>} | null} the plan that is kept for comparison */
  kept: null,
  /** The most statistics that are shown. */
  maxRows: ROWS_STEP,
  /** @type {boolean | null} true if each row is one line; null if the user has not chosen */
  isCompact: null,
  /** @type {Set<number>} the rows that are open although rows are compact */
  openRows: new Set(),
  /** The time of the last edit, until its answer arrives. */
  editTime: 0,
  /** @type {ReturnType<typeof setInterval> | undefined} updates the elapsed time while planning */
  clock: undefined,
};
const steps = new History(initialStudy());
/** @type {Map<number, Row>} */
const rows = new Map();
const columns = new Columns(byId('columns'), change);

const planner = new Planner(showBusy, (answer) => {
  state.answer = answer;
  state.answeredIds = steps.now.statistics.map((statistic) => statistic.id);
  state.problem = null;
  render();
  announce(`Planned: epsilon ${formatNumber(answer.planned.epsilon.upper)}`);
  measure();
}, (problem) => {
  state.problem = problem;
  render();
  measure();
}, (least) => {
  if (state.answer && least) state.answer.planned.least = least;
  render();
});

/** Measures the time from an edit to its answer. */
function measure() {
  if (state.editTime) performance.measure('edit-to-answer', { start: state.editTime });
  state.editTime = 0;
}

/** @param {string} text */
function announce(text) {
  setText(byId('live'), text);
}

/**
 * @param {(study: Study) => void} edit
 * @param {string} [tag]
 */
function change(edit, tag) {
  steps.change(edit, tag);
  changed(false);
}

/** @param {boolean} now requests the plan without waiting for a pause in typing */
function changed(now) {
  state.editTime = performance.now();
  storeStudy(steps.now);
  const ready = steps.now.data.adjacency !== '' && steps.now.statistics.length > 0;
  if (ready) planner.ask(toFile(steps.now), now);
  else {
    planner.stop();
    state.answer = null;
    state.problem = null;
  }
  render();
}

/**
 * Shows that the server is planning.
 * @param {boolean} working
 * @param {number} [done]
 */
function showBusy(working, done) {
  const bar = byId('bar');
  if (done !== undefined) {
    bar.setAttribute('value', String(done));
    return;
  }
  bar.removeAttribute('value');
  byId('stale-able').classList.toggle('stale', working);
  byId('cost').setAttribute('aria-busy', String(working));
  clearInterval(state.clock);
  if (!working) {
    byId('working').hidden = true;
    return;
  }
  const began = Date.now();
  state.clock = setInterval(() => {
    byId('working').hidden = false;
    const seconds = Math.floor((Date.now() - began) / 1000);
    setText(byId('elapsed'), seconds ? `Planning ${steps.now.statistics.length} statistics, ${seconds} s` : 'Planning …');
  }, 400);
}

const actions = {
  /** @type {import('./statistic_row.js').Actions['edit']} */
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
    const moved = byId(`s${id}-row`).querySelector(`[data-key="${by < 0 ? 'up' : 'down'}"]`);
    const other = byId(`s${id}-row`).querySelector(`[data-key="${by < 0 ? 'down' : 'up'}"]`);
    const button = moved instanceof HTMLButtonElement && !moved.disabled ? moved : other;
    if (button instanceof HTMLElement) button.focus();
    announce(`Moved to position ${from + by + 1}`);
  },
  /** @param {number} id */
  toggle(id) {
    if (!state.openRows.delete(id)) state.openRows.add(id);
    render();
  },
  /** @param {number} id */
  remove(id) {
    const from = steps.now.statistics.findIndex((statistic) => statistic.id === id);
    change((study) => void study.statistics.splice(from, 1));
    const next = steps.now.statistics[Math.min(from, steps.now.statistics.length - 1)];
    if (next) refocus(next.id, 'remove');
    else byId('add').querySelector('button')?.focus();
    announce('Removed. Undo brings it back.');
  },
};

function render() {
  const study = steps.now;
  const { answer, kept, problem } = state;
  document.body.classList.toggle('begun', study.data.adjacency !== '');
  document.body.classList.toggle('has-plan', answer !== null);
  document.body.classList.toggle('is-empty', study.statistics.length === 0);
  byId('start').hidden = study.data.adjacency !== '';
  byId('heads').hidden = study.statistics.length === 0;
  /** @type {HTMLButtonElement} */ (byId('undo')).disabled = steps.past.length === 0;
  /** @type {HTMLButtonElement} */ (byId('redo')).disabled = steps.future.length === 0;
  showData(study);
  showStatistics(study);
  const planned = answer?.planned ?? null;
  byId('old').hidden = problem === null || answer === null;
  showTotal(study, planned, kept?.answer.planned ?? null);
  showBudget(study, planned, problem);
  showComparison(planned);
  showShares(planned);
  const general = problem && problem.statistic === null && !problem.column && !hasPlace(problem.field);
  setProblem([], byId('trouble'), general && problem ? sentence(problem.field, problem.problem) : '');
  byId('compare').hidden = kept !== null || answer === null;
  byId('go-back').hidden = byId('forget').hidden = kept === null;
  setText(byId('compare-hint'), kept
    ? 'The numbers after “was” belong to the plan that you kept.'
    : 'Keep this plan for comparison. After each change, the page shows its numbers beside those of the new plan.');
  showExport();
  const isPlanned = planned && !problem && byId('cost').getAttribute('aria-busy') !== 'true';
  updateRelease({
    study: toFile(study), hasColumns: study.data.columns.some((column) => column.holds !== ''),
    epsilon: isPlanned ? formatNumber(planned.epsilon.upper) : null,
  });
}

/** @param {string | null} field true if the page shows its problems beside the field */
function hasPlace(field) {
  return field !== null && ['epsilon', 'delta', 'adjacency', ...DATA_FIELDS].includes(field);
}

/**
 * Shows the facts about the data.
 * @param {Study} study
 */
function showData(study) {
  const { problem } = state;
  for (const radio of document.querySelectorAll('input[name=adjacency]')) {
    if (radio instanceof HTMLInputElement) radio.checked = radio.value === study.data.adjacency;
  }
  for (const name of DATA_FIELDS) {
    const field = /** @type {HTMLInputElement} */ (byId(name));
    setField(field, study.data[name]);
    const about = problem?.field === name ? problem : null;
    setProblem([field], byId(`${name}-wrong`), about ? sentence(name, about.problem) : '');
  }
  columns.update(study, problem);
  fillPersonColumns(/** @type {HTMLSelectElement} */ (byId('person')), study);
  byId('declared').hidden = !hasColumns(study);
  const used = study.data.columns.filter((column) => column.holds !== '').length;
  setText(byId('declared-title'), `${study.data.columns.length} columns, ${used} in use`);
  setProblem([], byId('adjacency-wrong'), problem?.field === 'adjacency' ? sentence('adjacency', problem.problem) : '');
}

/**
 * Shows the statistics, one row each.
 * @param {Study} study
 */
function showStatistics(study) {
  const { answer, kept, problem } = state;
  const list = byId('rows-list');
  const active = document.activeElement;
  const focus = active instanceof HTMLElement && list.contains(active) ? active : null;
  const lost = focus ? { row: focus.closest('.row')?.id, key: focus.dataset.key } : null;
  const present = study.statistics.slice(0, state.maxRows);
  list.classList.toggle('many', present.length > 50);
  const ids = new Set(present.map((statistic) => statistic.id));
  for (const [id, row] of rows) {
    if (!ids.has(id)) {
      row.element.remove();
      rows.delete(id);
    }
  }
  const compact = state.isCompact ?? study.statistics.length > MAX_FULL_ROWS;
  byId('statistics-list').classList.toggle('compact', compact);
  const layout = byId('layout');
  layout.hidden = study.statistics.length < 2;
  layout.setAttribute('aria-pressed', String(compact));
  const most = Math.max(...(answer?.planned.statistics ?? []).map((line) => line.epsilon ?? 0), 1e-300);
  const lines = new Map(answer ? state.answeredIds.map((id, index) => [id, answer.planned.statistics[index]]) : []);
  present.forEach((statistic, index) => {
    let row = rows.get(statistic.id);
    if (!row || row.form !== rowForm(statistic, study)) {
      const made = new Row(statistic, study, actions);
      const open = row?.element.querySelector('details')?.open;
      const details = made.element.querySelector('details');
      if (open && details) details.open = true;
      if (row) row.element.replaceWith(made.element);
      rows.set(statistic.id, made);
      row = made;
    }
    if (list.children[index] !== row.element) list.insertBefore(row.element, list.children[index] ?? null);
    const isAbout = problem?.statistic === index + 1 && !DATA_FIELDS.some((name) => name === problem?.field);
    row.update({
      study, statistic, index, compact, isOpen: state.openRows.has(statistic.id),
      share: (lines.get(statistic.id)?.epsilon ?? 0) / most,
      line: lines.get(statistic.id) ?? null,
      before: kept?.lines.get(statistic.id) ?? null,
      isCompared: kept !== null,
      problem: isAbout ? problem : null,
    });
  });
  if (lost?.row && document.activeElement !== focus) {
    const id = Number(lost.row.slice(1, -4));
    if (ids.has(id)) refocus(id, lost.key);
  }
  const left = study.statistics.length - present.length;
  byId('rest').hidden = left <= 0;
  setText(byId('show-more'), `Show more (${left} hidden)`);
}

/** The text in the chosen export format. */
function exportText() {
  const choice = document.querySelector('input[name=copy]:checked');
  return exported(choice instanceof HTMLInputElement ? choice.value : 'plan', steps.now, state.answer);
}

function showExport() {
  const { text, hint } = exportText();
  setText(byId('copy-text'), text.length > 50000 ? `${text.slice(0, 50000)}\n…` : text);
  setText(byId('copy-hint'), hint);
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
    setText(button, 'Copied');
  } catch {
    announce('The browser does not allow the page to copy. Select the text and copy it yourself.');
    setText(button, 'Not allowed');
  }
  setTimeout(() => setText(button, label), 1500);
}

function save() {
  const { text, name } = exportText();
  download(name, text);
}

/** @param {Study} study */
function replace(study) {
  state.openRows.clear();
  steps.change((now) => Object.assign(now, study));
  state.answer = null;
  state.problem = null;
  changed(true);
}

/** @param {File} file */
async function load(file) {
  try {
    replace(fromFile(await readFile(await file.text())));
    announce(`Opened ${file.name}`);
  } catch (error) {
    setProblem([], byId('trouble'), `${file.name} cannot be opened as a study file. ${error instanceof Error ? error.message : ''}`);
  }
}

/**
 * Puts the names of columns into the study and shows them.
 * @param {string[]} names
 */
function declareColumns(names) {
  change((study) => takeColumns(study, names));
  const details = byId('declared').querySelector('details');
  if (details) details.open = true;
  announce(`The study has ${names.length} columns`);
}

/** @param {File} file */
async function readHeader(file) {
  setProblem([], byId('header-wrong'), '');
  try {
    const { names, separator } = await headerOf(file);
    declareColumns(names);
    const other = separator !== null && separator !== ',' && names.length > 1;
    setText(byId('header-note'), other ? 'The columns of this file are not separated by commas. Save the file with commas between the columns before you release the study.' : '');
  } catch (error) {
    setProblem([], byId('header-wrong'), `${file.name}: ${error instanceof Error ? error.message : ''}.`);
  }
}

/** Adds the listeners of all controls. */
function addListeners() {
  const on = (/** @type {string} */ id, /** @type {string} */ event, /** @type {(field: any) => void} */ act) => {
    const element = byId(id);
    element.addEventListener(event, () => act(element));
  };
  for (const name of DATA_FIELDS) {
    on(name, 'input', (field) => change((study) => { study.data[name] = field.value; }, name));
  }
  document.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement)) return;
    if (target.name === 'adjacency') change((study) => { study.data.adjacency = target.value; });
    if (target.name === 'mode') {
      const cost = state.answer ? String(Number(state.answer.planned.epsilon.upper.toPrecision(3))) : '';
      change((study) => {
        if (study.mode === 'errors' && cost) study.epsilon = cost;
        study.mode = /** @type {import('./study.js').Mode} */ (target.value);
      });
    }
    if (target.name === 'copy') showExport();
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
  on('new', 'click', () => { state.kept = null; replace(blank()); });
  on('example', 'click', () => replace(fromFile(EXAMPLE)));
  on('open', 'click', () => byId('file').click());
  on('file', 'change', (field) => {
    if (field.files[0]) load(field.files[0]);
    field.value = '';
  });
  on('take-header', 'click', () => byId('header-file').click());
  on('header-file', 'change', (field) => {
    if (field.files[0]) readHeader(field.files[0]);
    field.value = '';
  });
  on('person', 'change', (field) => change((study) => { study.data.person = field.value; }));
  on('layout', 'click', () => {
    state.isCompact = !(state.isCompact ?? steps.now.statistics.length > MAX_FULL_ROWS);
    state.openRows.clear();
    render();
  });
  on('show-more', 'click', () => { state.maxRows += ROWS_STEP; render(); });
  on('copy', 'click', (button) => copy(exportText().text, button));
  on('copy-link', 'click', (button) => copy(link(steps.now), button));
  on('save', 'click', save);
  on('compare', 'click', () => {
    const { answer } = state;
    if (!answer) return;
    const planned = answer.planned.statistics;
    const lines = new Map(state.answeredIds.flatMap((id, index) => { const line = planned[index]; return line ? [[id, line]] : []; }));
    state.kept = { study: steps.now, answer, lines: /** @type {Map<number, Line>} */ (lines) };
    render();
    byId('go-back').focus();
    announce('The plan is kept. After each change, the page shows its numbers beside those of the new plan.');
  });
  on('go-back', 'click', () => { if (state.kept) replace(state.kept.study); });
  on('forget', 'click', () => { state.kept = null; render(); byId('compare').focus(); });
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
  byId('add').append(...Object.entries(KINDS).map(([kind, { label, summary }]) => h('button', {
    type: 'button', title: summary, 'data-kind': kind,
    onclick: () => {
      const statistic = newStatistic(steps.now, kindOf(kind) && kind);
      state.maxRows = Math.max(state.maxRows, steps.now.statistics.length + 1);
      state.openRows = new Set([statistic.id]);
      change((study) => void study.statistics.push(statistic));
      byId(`s${statistic.id}-name`).focus();
    },
  }, h('b', {}, label), h('small', {}, summary))));
}

addListeners();
changed(true);
openRelease((source) => {
  byId('take-source').hidden = false;
  setText(byId('take-source'), `Use the columns of ${source.name}`);
  byId('take-source').addEventListener('click', () => declareColumns(source.columns));
});

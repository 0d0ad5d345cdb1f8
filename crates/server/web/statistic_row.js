// The row of one statistic: its fields, its error as a number and a chart, and its earlier values.

import {
  changeText, confidenceOfEach, confidenceText, dropEffect, hasSimpleNoise, isRough, noiseLaw, relativeError, sentence, shortDescription, unitOf,
} from './descriptions.js';
import { byId, fieldText, formatNumber, h, s, setField, setOptions, setProblem, setText } from './dom.js';
import { bar, likelyChart } from './planner_charts.js';
import { fieldsOf, KINDS, kindOf } from './statistic_kinds.js';
import { accuracyField, answerRange, columnOf, hasColumns, hasError, startFields, suggestedError } from './study.js';

/**
 * @typedef {import('./study.js').Study} Study
 * @typedef {import('./study.js').Statistic} Statistic
 * @typedef {import('./planner_client.js').Line} Line
 * @typedef {import('./planner_client.js').Problem} Problem
 *
 * @typedef {object} Actions
 * @property {(id: number, edit: (statistic: Statistic) => void, tag?: string) => void} edit
 * @property {(id: number, by: number) => void} move
 * @property {(id: number) => void} remove
 * @property {(id: number) => void} toggle opens or closes a compact row
 *
 * @typedef {object} RowContent the content of a row
 * @property {Study} study
 * @property {Statistic} statistic
 * @property {number} index
 * @property {Line | null} line
 * @property {Line | null} before
 * @property {boolean} isCompared true if there is a plan to compare with
 * @property {Problem | null} problem
 * @property {boolean} compact true if rows are one line each
 * @property {boolean} isOpen true if this row is open although rows are compact
 * @property {number} share its cost alone, relative to the most expensive statistic
 */

/** The kinds of noise, by their names in a study file. @type {Record<string, string>} */
const NOISES = { '': 'chosen by the planner', laplace: 'Laplace', gaussian: 'Gaussian', exponential: 'exponential mechanism' };

const PIN = 'M9.5 1.5l5 5-1.2 1.2-.9-.2-3 3 .1 2.6-1 1-3-3L2 14.6l-.6-.6 3.5-3.5-3-3 1-1 2.6.1 3-3-.2-.9z';

export class Row {
  /**
   * @param {Statistic} statistic
   * @param {Study} study
   * @param {Actions} actions
   */
  constructor(statistic, study, actions) {
    this.id = statistic.id;
    this.form = rowForm(statistic, study);
    this.actions = actions;
    /** @type {Map<string, (HTMLInputElement | HTMLSelectElement)[]>} */
    this.fields = new Map();
    /** @type {Map<string, HTMLElement>} */
    this.notes = new Map();
    /** @type {{field: import('./statistic_kinds.js').Field, whole: HTMLElement}[]} */
    this.choices = [];
    /** @type {{select: HTMLSelectElement, holds: string | undefined}[]} */
    this.columns = [];
    this.about = fieldsOf(statistic.kind, hasColumns(study));
    this.drawn = '';
    this.accuracy = accuracyField(study, statistic);
    this.number = h('span', { class: 'index', 'aria-hidden': 'true' });
    this.result = h('output', { class: 'result' });
    this.detail = h('p', { class: 'detail' });
    this.cost = h('p', { class: 'detail' });
    this.was = h('p', { class: 'was-text', hidden: true });
    this.picture = h('figure', { class: 'picture' });
    this.pin = this.pinButton();
    this.general = h('p', { class: 'wrong', id: this.key('wrong'), hidden: true });
    this.line1 = h('b', {});
    this.line2 = h('small', {});
    this.briefError = h('span', { class: 'right' });
    this.relative = h('span', { class: 'right soft' });
    this.uses = h('span', { class: 'uses' });
    this.brief = h('button', {
      type: 'button', class: 'brief', 'data-key': 'brief', 'aria-controls': this.key('full'), onclick: () => actions.toggle(this.id),
    }, h('span', { class: 'called' }, this.line1, ' ', this.line2), this.briefError, this.relative, this.uses);
    this.full = h('div', { class: 'full', id: this.key('full') },
      h('div', { class: 'what' }, this.heading(study), this.details(this.about.filter((field) => !field.more)), this.more(statistic), this.general),
      h('div', { class: 'wish' }, this.accuracyField(statistic), h('p', { class: 'outcome' }, this.result), this.detail, this.cost, this.was),
      this.picture,
      this.tools());
    this.element = h('li', { class: 'row', id: this.key('row') }, this.brief, this.full);
  }

  /** @param {string} name */
  key(name) {
    return `s${this.id}-${name.replace('.', '-')}`;
  }

  /**
   * A text field; its problem is shown below it.
   * @param {string} name
   * @param {string} label
   * @param {Record<string, any>} [more]
   */
  input(name, label, more = {}) {
    const owner = name.split('.')[0] ?? name;
    const described = [this.notes.has(`${owner}?`) && this.key(`${owner}-hint`), this.key(`${owner}-wrong`)];
    const field = h('input', {
      id: this.key(name), 'data-key': name, 'aria-label': label, autocomplete: 'off', spellcheck: 'false',
      'aria-describedby': described.filter(Boolean).join(' '), ...more,
      oninput: () => this.actions.edit(this.id, (statistic) => {
        if (name === 'name') statistic.name = field.value;
        else statistic.fields[name] = field.value;
      }, `${this.id}.${name}`),
    });
    this.fields.set(owner, [...(this.fields.get(owner) ?? []), field]);
    return field;
  }

  /** @param {string} name */
  note(name) {
    const note = h('p', { class: 'wrong', id: this.key(`${name}-wrong`), hidden: true });
    this.notes.set(name, note);
    return note;
  }

  /** @param {Study} study */
  heading(study) {
    const kinds = Object.entries(KINDS).map(([value, kind]) => h('option', { value }, kind.label));
    const select = h('select', {
      'data-key': 'kind', 'aria-label': 'Kind of statistic',
      onchange: () => this.actions.edit(this.id, (statistic) => {
        statistic.kind = select.value;
        statistic.pin = false;
        const defaults = startFields(study, select.value);
        statistic.fields = { ...defaults, ...keptFields(statistic.fields, defaults) };
      }),
    }, ...kinds);
    this.fields.set('kind', [select]);
    const name = this.input('name', 'Name', { class: 'name', placeholder: 'Name', type: 'text' });
    return h('div', { class: 'heading' }, this.number, name, select, this.note('name'), this.note('kind'));
  }

  /** @param {import('./statistic_kinds.js').Field[]} fields */
  details(fields) {
    return h('div', { class: 'details' }, ...fields.map((field) => {
      const hint = field.hint ? h('p', { class: 'hint', id: this.key(`${field.name}-hint`) }, field.hint) : null;
      if (hint) this.notes.set(`${field.name}?`, hint);
      const label = h('label', { for: this.key(field.shape === 'pair' ? `${field.name}.0` : field.name) }, field.label);
      const inputs = field.shape === 'pair'
        ? [h('span', { class: 'pair' }, this.input(`${field.name}.0`, `${field.label} (lowest)`, { inputmode: 'decimal' }), 'to',
          this.input(`${field.name}.1`, `${field.label} (highest)`, { inputmode: 'decimal' }))]
        : [field.shape === 'column' ? this.choice(field)
          : this.input(field.name, field.label, field.shape === 'number' ? { inputmode: 'decimal', size: 9 } : { class: 'long' })];
      const whole = h('div', { class: 'field' }, h('div', { class: 'line' }, label, ...inputs), hint, this.note(field.name));
      if (field.unless || field.of) this.choices.push({ field, whole });
      return whole;
    }));
  }

  /**
   * The choice of a column.
   * @param {import('./statistic_kinds.js').Field} field
   */
  choice({ name, holds }) {
    const select = h('select', {
      id: this.key(name), 'data-key': name, 'aria-describedby': this.key(`${name}-wrong`),
      onchange: () => this.actions.edit(this.id, (statistic) => { statistic.fields[name] = select.value; }),
    });
    this.columns.push({ select, holds });
    this.fields.set(name, [select]);
    return select;
  }

  /** @param {Statistic} statistic */
  more(statistic) {
    const kind = kindOf(statistic.kind);
    /** @type {HTMLElement[]} */
    const parts = [h('p', {}, kind.explanation), h('p', { class: 'theorem' }, kind.theorem)];
    if (hasError(statistic.kind)) {
      const noises = statistic.kind === 'quantiles' ? ['', 'exponential'] : ['', 'laplace', 'gaussian'];
      const noise = h('select', {
        id: this.key('noise'), 'data-key': 'noise', 'aria-describedby': this.key('noise-wrong'),
        onchange: () => this.actions.edit(this.id, (edited) => { edited.fields.noise = noise.value; }),
      }, ...noises.map((value) => h('option', { value }, NOISES[value])));
      this.fields.set('noise', [noise]);
      parts.push(h('div', { class: 'field' },
        h('div', { class: 'line' },
          h('label', { for: this.key('confidence') }, 'Confidence of the error'),
          this.input('confidence', 'Confidence of the error', { inputmode: 'decimal', size: 6, placeholder: '0.95' })),
        this.note('confidence')));
      parts.push(h('div', { class: 'field' },
        h('div', { class: 'line' }, h('label', { for: this.key('noise') }, 'Noise'), noise), this.note('noise')));
    }
    const rest = this.about.filter((field) => field.more);
    if (rest.length) parts.push(this.details(rest));
    return h('details', { class: 'more' }, h('summary', { 'data-key': 'more' }, 'Explanation and more settings'), ...parts);
  }

  /** @param {Statistic} statistic */
  accuracyField(statistic) {
    const [label, mark] = { error: [statistic.pin ? 'Pinned error' : 'Requested error', '±'], weight: ['Weight', '×'], epsilon: ['Epsilon', 'ε'] }[this.accuracy] ?? ['', ''];
    const field = this.input(this.accuracy, label ?? '', { inputmode: 'decimal', size: 9 });
    const notes = ['error', 'weight', 'epsilon'].filter((name) => name === this.accuracy).concat('pin').map((name) => this.note(name));
    return h('div', { class: 'field' },
      h('label', { for: this.key(this.accuracy) }, label),
      h('div', { class: 'affix' }, h('span', { 'aria-hidden': 'true' }, mark), field, hasError(statistic.kind) && this.pin), ...notes);
  }

  pinButton() {
    const icon = s('svg', { viewBox: '0 0 16 16', 'aria-hidden': 'true' }, s('path', { d: PIN }));
    return h('button', { type: 'button', class: 'pin', 'data-key': 'pin', onclick: () => this.togglePin() }, icon, h('span', {}, 'Pin'));
  }

  togglePin() {
    const error = this.line?.error;
    this.actions.edit(this.id, (statistic) => {
      statistic.pin = !statistic.pin;
      if (statistic.pin && error) statistic.fields.error = fieldText(error, 4);
      if (!statistic.pin) delete statistic.fields.epsilon;
    });
  }

  tools() {
    const tool = (/** @type {string} */ key, /** @type {string} */ sign, /** @type {() => void} */ onclick) =>
      h('button', { type: 'button', class: 'tool', 'data-key': key, onclick }, h('span', { 'aria-hidden': 'true' }, sign));
    this.up = tool('up', '↑', () => this.actions.move(this.id, -1));
    this.down = tool('down', '↓', () => this.actions.move(this.id, 1));
    this.gone = tool('remove', '×', () => this.actions.remove(this.id));
    return h('div', { class: 'tools' }, this.up, this.down, this.gone);
  }

  /** @param {RowContent} shown */
  update(shown) {
    const { statistic, study, index, line, problem } = shown;
    const title = statistic.name.trim() || line?.name || `${kindOf(statistic.kind).label.toLowerCase()} ${index + 1}`;
    this.line = line;
    this.element.setAttribute('aria-label', title);
    setText(this.number, String(index + 1));
    const isWhole = !shown.compact || shown.isOpen || problem !== null;
    this.brief.hidden = !shown.compact;
    this.brief.setAttribute('aria-expanded', String(isWhole));
    this.full.hidden = !isWhole;
    setText(this.line1, title);
    setText(this.line2, shortDescription(statistic));
    for (const { select, holds } of this.columns) {
      const fits = study.data.columns.filter((column) => column.holds && (!holds || column.holds === holds)).map(({ name }) => name);
      const now = statistic.fields[select.dataset.key ?? ''] ?? '';
      setOptions(select, fits.includes(now) ? fits : [now, ...fits]);
    }
    for (const [name, fields] of this.fields) {
      fields.forEach((field) => setField(field, this.textOf(name, field, statistic)));
      const note = this.notes.get(name);
      const wrong = problem?.field === name ? sentence(this.hasSecondColumn(name) ? 'second' : name, problem.problem) : '';
      if (note) setProblem(fields, note, wrong);
    }
    for (const { field: { name, unless, of }, whole } of this.choices) {
      const isFilled = !!unless && !!statistic.fields[unless]?.trim() && !statistic.fields[name]?.trim();
      const holds = columnOf(study, statistic.fields.column)?.holds;
      whole.hidden = (isFilled || (!!of && !!holds && holds !== of)) && !whole.contains(document.activeElement);
    }
    const elsewhere = problem && !(problem.field && this.notes.has(problem.field) && this.fields.has(problem.field));
    const pin = this.notes.get('pin');
    if (pin) setProblem([this.pin], pin, problem?.field === 'pin' ? sentence('pin', problem.problem) : '');
    setText(this.general, elsewhere && problem.field !== 'pin' ? sentence(problem.field, problem.problem) : '');
    this.general.hidden = this.general.textContent === '';
    const typed = this.fields.get(this.accuracy)?.[0];
    if (typed instanceof HTMLInputElement) {
      typed.placeholder = this.accuracy === 'error' ? suggestedError(study, statistic) : this.accuracy === 'weight' ? '1' : '';
    }
    this.pin.setAttribute('aria-pressed', String(statistic.pin));
    this.pin.setAttribute('aria-label', statistic.pin ? `Unpin the error of ${title}` : `Pin the error of ${title}`);
    this.pin.title = statistic.pin ? 'This error stays when the other errors change' : 'Keep this error when the other errors change';
    this.up?.setAttribute('aria-label', `Move ${title} up`);
    this.down?.setAttribute('aria-label', `Move ${title} down`);
    this.gone?.setAttribute('aria-label', `Remove ${title}`);
    if (this.up) this.up.disabled = index === 0;
    if (this.down) this.down.disabled = index === study.statistics.length - 1;
    this.answer(shown);
  }

  /**
   * @param {string} name
   * @param {HTMLInputElement | HTMLSelectElement} field
   * @param {Statistic} statistic
   */
  textOf(name, field, statistic) {
    if (name === 'name') return statistic.name;
    if (name === 'kind') return statistic.kind;
    return statistic.fields[field.dataset.key ?? name] ?? '';
  }

  /**
   * True for the field of the second of two columns.
   * @param {string} name
   */
  hasSecondColumn(name) {
    return name === 'with' && this.about.some((field) => field.name === 'with' && field.shape === 'column');
  }

  /** @param {RowContent} shown */
  answer({ study, statistic, line, before, isCompared, share }) {
    const error = line?.error ?? null;
    const unit = unitOf(study, statistic, error);
    if (!line) {
      setText(this.result, '');
      setText(this.detail, '');
    } else if (error === null) {
      setText(this.result, statistic.kind === 'held-back' ? 'Held back' : 'Depends on the data');
      setText(this.detail, '');
    } else {
      setText(this.result, `± ${formatNumber(error)}${unit}`);
      setText(this.detail, [confidenceText(line.confidence ?? 0.95), relativeError(study, statistic, error)].filter(Boolean).join('; '));
    }
    setText(this.briefError, this.result.textContent ?? '');
    setText(this.relative, error === null ? '' : relativeError(study, statistic, error));
    this.relative.classList.toggle('rough', isRough(study, statistic, error));
    const uses = line?.epsilon ? `alone ε ${formatNumber(line.epsilon, 3)}` : '';
    if (this.uses.dataset.said !== uses + share) {
      this.uses.dataset.said = uses + share;
      this.uses.replaceChildren(...(uses ? [bar(share, 'ours'), h('span', { class: 'soft' }, uses)] : []));
    }
    if (this.full.hidden) return;
    const alone = line?.epsilon ? `Alone, this statistic costs ε ${formatNumber(line.epsilon, 3)}.` : '';
    setText(this.cost, [alone, dropEffect(line)].filter(Boolean).join(' '));
    const old = before?.error ?? null;
    const differs = old !== null && error !== null && Math.abs(old - error) > 1e-9 * old;
    this.was.hidden = !isCompared;
    if (isCompared) setText(this.was, !before ? 'new' : old === null ? '' : differs ? `was ± ${formatNumber(old)} (${changeText(old, error ?? old)})` : 'unchanged');
    const draw = error === null ? '' : JSON.stringify([error, differs ? old : null, answerRange(study, statistic), noiseLaw(line), confidenceOfEach(study, statistic, line)]);
    if (draw === this.drawn) return;
    this.drawn = draw;
    this.picture.replaceChildren(...(error === null ? [] : [likelyChart({
      error, before: differs ? old : null, axis: answerRange(study, statistic), law: hasSimpleNoise(statistic) ? noiseLaw(line) : null, each: confidenceOfEach(study, statistic, line),
    })]));
  }
}

/**
 * The properties that determine a row's elements; a row is built anew when they change.
 * @param {Statistic} statistic
 * @param {Study} study
 */
export function rowForm(statistic, study) {
  return [statistic.kind, accuracyField(study, statistic), statistic.pin, hasColumns(study)].join(' ');
}

/**
 * The fields that a statistic keeps when its kind changes.
 * @param {Record<string, string>} fields
 * @param {Record<string, string>} start
 */
function keptFields(fields, start) {
  const keeps = (/** @type {string} */ name) => name in start || ['confidence', 'weight'].includes(name);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => keeps(name)));
}

/**
 * Restores the focus to an element of a rebuilt row.
 * @param {number} id
 * @param {string | undefined} key
 */
export function refocus(id, key) {
  const row = byId(`s${id}-row`);
  const field = key ? row.querySelector(`[data-key="${key}"]`) : null;
  if (field instanceof HTMLElement) field.focus();
}

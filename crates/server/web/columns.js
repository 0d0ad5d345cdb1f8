// The columns of the data: which are used, and what is public about them.

import { blame, h, options, put, say } from './dom.js';
import { sentence } from './words.js';

/**
 * @typedef {import('./study.js').Column} Column
 * @typedef {import('./study.js').Study} Study
 * @typedef {(edit: (study: Study) => void, tag?: string) => void} Change
 */

/** What a column may hold. */
const HOLDS = [
  ['', 'not used'],
  ['numbers', 'numbers'],
  ['groups', 'groups'],
];

export class Columns {
  /**
   * @param {HTMLElement} list
   * @param {Change} change
   */
  constructor(list, change) {
    this.list = list;
    this.change = change;
    /** @type {Line[]} */
    this.lines = [];
    this.names = '';
  }

  /**
   * @param {Study} study
   * @param {import('./planner.js').Problem | null} problem
   */
  update(study, problem) {
    const { columns } = study.data;
    const names = columns.map((column) => column.name).join('\n');
    if (names !== this.names) {
      this.names = names;
      this.lines = columns.map((column, index) => new Line(column, index, this.change));
      this.list.replaceChildren(...this.lines.map((line) => line.element));
    }
    const used = columns.filter((column) => column.holds !== '');
    const wrong = problem?.column ? used[problem.column - 1] : undefined;
    this.lines.forEach((line, index) => {
      const column = columns[index];
      if (column) line.update(column, column === wrong && problem ? sentence(problem.field ?? '', problem.problem) : '');
    });
  }
}

/** A column. */
class Line {
  /**
   * @param {Column} column
   * @param {number} index
   * @param {Change} change
   */
  constructor(column, index, change) {
    const id = `column-${index}`;
    const edit = (/** @type {(column: Column) => void} */ act, /** @type {string} */ tag) =>
      change((study) => {
        const found = study.data.columns[index];
        if (found) act(found);
      }, `${id}.${tag}`);
    const input = (/** @type {'low' | 'high' | 'categories'} */ name, /** @type {string} */ label, /** @type {boolean} */ isLong) => {
      const field = h('input', {
        autocomplete: 'off',
        spellcheck: 'false',
        'aria-label': `${column.name}: ${label}`,
        class: isLong ? 'long' : null,
        size: isLong ? null : 8,
        inputmode: isLong ? null : 'decimal',
        'aria-describedby': `${id}-wrong`,
        oninput: () =>
          edit((found) => {
            found[name] = field.value;
          }, name),
      });
      return field;
    };
    this.holds = h(
      'select',
      {
        id,
        onchange: () =>
          edit((found) => {
            found.holds = /** @type {Column['holds']} */ (this.holds.value);
          }, 'holds'),
      },
      ...HOLDS.map(([value = '', text = '']) => h('option', { value }, text)),
    );
    this.low = input('low', 'lowest', false);
    this.high = input('high', 'highest', false);
    this.categories = input('categories', 'groups, commas between', true);
    this.pair = h('span', { class: 'pair' }, 'from', this.low, 'to', this.high);
    this.wrong = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
    const title = column.from ? `in the file: ${column.from}` : null;
    this.element = h('li', {}, h('label', { for: id, title }, column.name), this.holds, this.pair, this.categories, this.wrong);
  }

  /**
   * @param {Column} column
   * @param {string} wrong
   */
  update(column, wrong) {
    put(this.holds, column.holds);
    put(this.low, column.low);
    put(this.high, column.high);
    put(this.categories, column.categories);
    this.pair.hidden = column.holds !== 'numbers';
    this.categories.hidden = column.holds !== 'groups';
    this.categories.placeholder = 'north, east, south, west';
    blame(column.holds === 'groups' ? [this.categories] : [this.low, this.high], this.wrong, wrong);
  }
}

/**
 * The choice of the column that says whose a row is.
 * @param {HTMLSelectElement} select
 * @param {Study} study
 */
export function persons(select, study) {
  const names = study.data.columns.map((column) => column.from || column.name);
  const now = study.data.person;
  options(select, ['', ...names, ...(now && !names.includes(now) ? [now] : [])]);
  if (select.options[0]) say(select.options[0], 'every row is another person');
  put(select, now);
}

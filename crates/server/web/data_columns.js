// The list of the data's columns: their use and their public bounds or groups.

import { h, setField, setOptions, setProblem, setText } from './dom.js';
import { sentence } from './descriptions.js';

/**
 * @typedef {import('./study.js').Column} Column
 * @typedef {import('./study.js').Study} Study
 * @typedef {(edit: (study: Study) => void, tag?: string) => void} Change
 */

/** The kinds of values of a column. */
const CONTENTS = [
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
    /** @type {ColumnLine[]} */
    this.lines = [];
    this.names = '';
  }

  /**
   * @param {Study} study
   * @param {import('./planner_client.js').Problem | null} problem
   */
  update(study, problem) {
    const { columns } = study.data;
    const names = columns.map((column) => column.name).join('\n');
    if (names !== this.names) {
      this.names = names;
      this.lines = columns.map((column, index) => new ColumnLine(column, index, this.change));
      this.list.replaceChildren(...this.lines.map((line) => line.element));
    }
    const used = columns.filter((column) => column.holds !== '');
    const wrong = problem?.column ? used[problem.column - 1] : undefined;
    this.lines.forEach((line, index) => {
      const column = columns[index];
      if (column) line.update(column, column === wrong && problem ? sentence(problem.field, problem.problem) : '');
    });
  }
}

/** The line of one column. */
class ColumnLine {
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
      ...CONTENTS.map(([value = '', text = '']) => h('option', { value }, text)),
    );
    this.low = input('low', 'lowest', false);
    this.high = input('high', 'highest', false);
    this.categories = input('categories', 'groups, separated by commas', true);
    this.pair = h('span', { class: 'pair' }, 'from', this.low, 'to', this.high);
    this.wrong = h('p', { class: 'wrong', id: `${id}-wrong`, hidden: true });
    const title = column.from ? `the file calls it ${column.from}` : null;
    this.element = h('li', {}, h('label', { for: id, title }, column.name), this.holds, this.pair, this.categories, this.wrong);
  }

  /**
   * @param {Column} column
   * @param {string} wrong
   */
  update(column, wrong) {
    setField(this.holds, column.holds);
    setField(this.low, column.low);
    setField(this.high, column.high);
    setField(this.categories, column.categories);
    this.pair.hidden = column.holds !== 'numbers';
    this.categories.hidden = column.holds !== 'groups';
    this.categories.placeholder = 'north, east, south, west';
    setProblem(column.holds === 'groups' ? [this.categories] : [this.low, this.high], this.wrong, wrong);
  }
}

/**
 * Fills the choice of the column that identifies the person of a row.
 * @param {HTMLSelectElement} select
 * @param {Study} study
 */
export function fillPersonColumns(select, study) {
  const names = study.data.columns.map((column) => column.from || column.name);
  const now = study.data.person;
  setOptions(select, ['', ...names, ...(now && !names.includes(now) ? [now] : [])]);
  if (select.options[0]) setText(select.options[0], 'none: each row is a different person');
  setField(select, now);
}

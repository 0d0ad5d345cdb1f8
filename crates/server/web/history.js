// Undo and redo, and what is kept between visits.

import { fromFile, restored, toFile } from './file.js';
import { blank } from './study.js';

/** @typedef {import('./study.js').Study} Study */

const MOST = 200;
const KEY = 'counterpoint.study';

export class History {
  /** @param {Study} study */
  constructor(study) {
    this.now = study;
    /** @type {Study[]} */
    this.past = [];
    /** @type {Study[]} */
    this.future = [];
    this.tag = '';
  }

  /**
   * A change. Those with one tag, one after another, are one step: a word typed, a slider dragged.
   * @param {(study: Study) => void} edit
   * @param {string} [tag]
   */
  change(edit, tag = '') {
    const next = structuredClone(this.now);
    edit(next);
    if (tag === '' || tag !== this.tag) {
      this.past.push(this.now);
      if (this.past.length > MOST) this.past.shift();
    }
    this.tag = tag;
    this.now = next;
    this.future = [];
  }

  undo() {
    const before = this.past.pop();
    if (!before) return false;
    this.future.push(this.now);
    this.now = before;
    this.tag = '';
    return true;
  }

  redo() {
    const after = this.future.pop();
    if (!after) return false;
    this.past.push(this.now);
    this.now = after;
    this.tag = '';
    return true;
  }
}

/**
 * Keeps a study for the next visit, if the browser lets us.
 * @param {Study} study
 */
export function keep(study) {
  try {
    localStorage.setItem(KEY, JSON.stringify(study));
  } catch {
    // A private window, or a study of more than some millions of letters: it is kept nowhere.
  }
}

/**
 * The study of the link, or else of the last visit, or else an empty one.
 * @returns {Study}
 */
export function kept() {
  const linked = fromLink(location.hash);
  if (linked) {
    // Else going back to the page would undo what was done on it.
    history.replaceState(null, '', location.pathname);
    return linked;
  }
  try {
    return restored(JSON.parse(localStorage.getItem(KEY) ?? 'null')) ?? blank();
  } catch {
    return blank();
  }
}

/**
 * A link that holds the study. What follows # is never sent to a server.
 * @param {Study} study
 */
export function link(study) {
  const bytes = new TextEncoder().encode(JSON.stringify(toFile(study)));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const text = btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
  return `${location.origin}/#study=${text}`;
}

/**
 * @param {string} hash
 * @returns {Study | null}
 */
export function fromLink(hash) {
  if (!hash.startsWith('#study=')) return null;
  try {
    const letters = atob(hash.slice(7).replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    return fromFile(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return null;
  }
}

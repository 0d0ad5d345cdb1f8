// Undo and redo, storage between visits, and links that hold a study.

import { fromFile, restored, toFile } from './study_file.js';
import { blank } from './study.js';

/** @typedef {import('./study.js').Study} Study */

/** The most steps that can be undone. */
const MAX_STEPS = 200;
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
   * Makes a change. Consecutive changes with the same tag are one step, such as typing a word or dragging a slider.
   * @param {(study: Study) => void} edit
   * @param {string} [tag]
   */
  change(edit, tag = '') {
    const next = structuredClone(this.now);
    edit(next);
    if (tag === '' || tag !== this.tag) {
      this.past.push(this.now);
      if (this.past.length > MAX_STEPS) this.past.shift();
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
 * Stores a study for the next visit, if the browser allows it.
 * @param {Study} study
 */
export function storeStudy(study) {
  try {
    localStorage.setItem(KEY, JSON.stringify(study));
  } catch {
    // In a private window, or if the study is too long, nothing is stored.
  }
}

/**
 * The study of the link; without a link, the study of the last visit or an empty study.
 * @returns {Study}
 */
export function initialStudy() {
  const linked = fromLink(location.hash);
  if (linked) {
    // With the link in the address, returning to the page would undo later edits.
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
 * A link that holds the study. Browsers do not send the part after # to a server.
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

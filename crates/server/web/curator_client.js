// The client of the curator’s HTTP interface. It stores the token for this tab only.

import { capitalized } from './dom.js';

/**
 * @typedef {{amount: number, unit: string, delta: number}} Charge
 * @typedef {{amount: number, of: number, unit: string, delta: number, more: number | null, words: string}} Balance
 * @typedef {{name: string, count: number, used: number, declares?: Record<string, any>}} Slot
 * @typedef {{name: string, kind: string, parent: string | null, left: Balance, charges: number, closed: boolean,
 *   slots: Slot[]}} Account
 * @typedef {{name: string, bounds?: [number, number], categories?: (string | number)[]}} Column
 * @typedef {{name: string, person: string | null, rows: number, groups: number, adjacency: string,
 *   people: number | null, columns: Column[]}} Table
 * @typedef {{name: string, role: string, accounts: string[]}} Me
 * @typedef {{account: string, sql: string, confidence: number, epsilon?: number, rho?: number, error?: number,
 *   slot?: string}} Question
 * @typedef {{name: string, half_width: number | null}} HalfWidth
 * @typedef {{cost: Charge, left: Balance, affordable: boolean, refusal: string | null, free: boolean,
 *   expected: HalfWidth[]}} Price
 * @typedef {{group: (string | number)[], name: string, bin?: [number, number], share?: number, edge?: number,
 *   coefficient?: string, value: number,
 *   half_width: number | null, interval: [number, number] | null, confidence: number}} AnswerNumber
 * @typedef {{answers: AnswerNumber[], cost: Charge, left: Balance, entry: number | null, repeated: boolean,
 *   dummy: boolean}} Answer
 * @typedef {{sequence: number, event: string, at: number, account?: string, name?: string, parent?: string, key?: string,
 *   analyst?: string | null, session?: boolean, charge?: {main: string, delta: string}}} Entry
 */

const PREFIX = 'counterpoint.';
const TOKEN = `${PREFIX}token`;

/** The delay, in milliseconds, before a question is sent again after a network error. */
const RETRY_DELAY = 400;

/** An error of the service as a sentence, with its code and HTTP status. */
export class ServiceError extends Error {
  /**
   * @param {string} code
   * @param {number} status 0 if there was no response
   * @param {string} detail
   */
  constructor(code, status, detail) {
    super(readable(detail));
    this.code = code;
    this.status = status;
  }
}

/**
 * The value that this tab stored under a name; null if there is none.
 * @param {string} name
 * @returns {any}
 */
export function loadStored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(PREFIX + name) ?? 'null');
  } catch {
    return null;
  }
}

/**
 * Stores a value for this tab, if the browser allows it; null removes the value.
 * @param {string} name
 * @param {unknown} value
 */
export function store(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(PREFIX + name);
    else sessionStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage, the value is lost.
  }
}

/** The token in use. */
const state = { token: '' };

/** Reads the token of this tab; true if there is one. */
export function hasToken() {
  try {
    state.token = sessionStorage.getItem(TOKEN) ?? '';
  } catch {
    state.token = '';
  }
  return state.token !== '';
}

/**
 * The header that authenticates with the token, if this tab has one.
 * @returns {Record<string, string>}
 */
export function authorization() {
  return hasToken() ? { Authorization: `Bearer ${state.token}` } : {};
}

/**
 * Uses a token and stores it if it is valid.
 * @param {string} text
 * @returns {Promise<Me>}
 */
export async function tryToken(text) {
  // An HTTP header cannot contain other characters.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('This is not a token. A token begins with cpt_.');
  state.token = text;
  const me = await call('me');
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // The next page asks for the token again.
  }
  return me;
}

/** @returns {Promise<Me>} the holder of the stored token */
export function whoAmI() {
  return call('me');
}

/** Removes the token and everything else that this tab stored for the curator. */
export function forgetToken() {
  state.token = '';
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    // Nothing was stored.
  }
}

/**
 * Sends a request and returns the JSON response. A request with a body is a POST.
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [method]
 * @returns {Promise<any>}
 */
export async function call(path, body, signal, method = 'GET') {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${state.token}` };
  /** @type {RequestInit} */
  const request = { method, headers, ...(signal ? { signal } : {}) };
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
    Object.assign(request, { method: 'POST', body: JSON.stringify(body) });
  }
  let status;
  let text;
  try {
    const response = await fetch(`/v1/${path}`, request);
    text = await response.text();
    status = response.status;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ServiceError('unreachable', 0, 'The server does not answer. Is counterpoint serve still running?');
  }
  if (status === 200) return JSON.parse(text);
  throw problem(status, text);
}

/** The entries of a page: the most that the service returns. */
const PAGE_SIZE = 10_000;

/**
 * Fetches all pages of a list, in order.
 * @param {string} path
 * @returns {Promise<any[]>}
 */
export async function fetchPages(path) {
  const list = [];
  let after = '';
  do {
    const page = await call(`${path}?limit=${PAGE_SIZE}${after}`);
    list.push(page);
    after = page.next ? `&after=${page.next}` : '';
  } while (after);
  return list;
}

/**
 * @param {number} status
 * @param {string} text
 */
function problem(status, text) {
  try {
    const { code, title, detail } = JSON.parse(text);
    if (code === 'unauthorized') return new ServiceError(code, status, 'The token is unknown or revoked. Ask the owner of the data for another one.');
    return new ServiceError(String(code), status, String(detail || title));
  } catch {
    const noCurator = 'This server has no curator, so nobody can log in. Start the server with counterpoint serve --demo or counterpoint serve --config FILE.';
    return new ServiceError('unreadable', status, status === 404 ? noCurator : text.trim() || `The server answered with status ${status}`);
  }
}

/**
 * Asks a question under a key, so that sending it twice charges once. Sends it again after a network error.
 * @param {Question} question
 * @param {string} key
 * @returns {Promise<Answer>}
 */
export async function askWithKey(question, key) {
  const body = { ...question, key };
  try {
    return await call('questions', body);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 0) throw error;
    await new Promise((done) => setTimeout(done, RETRY_DELAY));
    return call('questions', body);
  }
}

/**
 * Turns a problem of the service into a sentence and shortens its numbers.
 * @param {string} detail
 */
export function readable(detail) {
  const [what = '', ...legal] = shortened(detail).split(/; legal(?= |:)/);
  const possible = legal.map((text) => `. Possible${text.replace(/[.\s]+$/, '')}`).join('');
  const text = capitalized(what).replace(/ is ""$/, ' is empty') + possible;
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/**
 * Rounds long numbers to six digits, unless two different numbers would then look alike.
 * @param {string} text
 */
function shortened(text) {
  const long = /\d+\.\d{6,}/g;
  const short = (/** @type {string} */ digits) => String(Number(Number(digits).toPrecision(6)));
  const [wrong = ''] = text.split('; legal');
  const numbers = wrong.match(/\d+(\.\d+)?/g) ?? [];
  const before = new Set(numbers).size;
  const after = new Set(numbers.map((digits) => (/\.\d{6,}$/.test(digits) ? short(digits) : digits))).size;
  return before === after ? text.replace(long, short) : text;
}

/**
 * The message of an error.
 * @param {unknown} error
 */
export function errorText(error) {
  return error instanceof Error ? error.message : String(error);
}

// Asking the curator, with a token that this tab alone keeps.

/**
 * @typedef {{amount: number, unit: string, delta: number}} Charge
 * @typedef {{amount: number, of: number, unit: string, delta: number, more: number | null, words: string}} Left
 * @typedef {{name: string, count: number, used: number, declares?: Record<string, any>}} Slot
 * @typedef {{name: string, kind: string, parent: string | null, left: Left, charges: number, closed: boolean,
 *   slots: Slot[]}} Account
 * @typedef {{name: string, bounds?: [number, number], categories?: (string | number)[]}} Column
 * @typedef {{name: string, person: string | null, rows: number, groups: number, adjacency: string,
 *   people: number | null, columns: Column[]}} Table
 * @typedef {{name: string, role: string, accounts: string[]}} Me
 * @typedef {{account: string, sql: string, confidence: number, epsilon?: number, rho?: number, error?: number,
 *   slot?: string}} Question
 * @typedef {{name: string, half_width: number | null}} Expected
 * @typedef {{cost: Charge, left: Left, affordable: boolean, refusal: string | null, free: boolean,
 *   expected: Expected[]}} Quote
 * @typedef {{group: (string | number)[], name: string, bin?: [number, number], share?: number, edge?: number,
 *   coefficient?: string, value: number,
 *   half_width: number | null, interval: [number, number] | null, confidence: number}} One
 * @typedef {{answers: One[], cost: Charge, left: Left, entry: number | null, repeated: boolean,
 *   dummy: boolean}} Answer
 * @typedef {{sequence: number, event: string, at: number, account?: string, name?: string, parent?: string, key?: string,
 *   analyst?: string | null, charge?: {main: string, delta: string}}} Entry
 */

const PLACE = 'counterpoint.';
const TOKEN = `${PLACE}token`;

/** How long it takes until a question is sent once more. */
const AGAIN = 400;

/** Why there is no answer, as one sentence. */
export class Refused extends Error {
  /**
   * @param {string} code
   * @param {number} status 0 if nobody answered
   * @param {string} detail
   */
  constructor(code, status, detail) {
    super(readable(detail));
    this.code = code;
    this.status = status;
  }
}

/**
 * What was stored under a name for this tab.
 * @param {string} name
 * @returns {any}
 */
export function stored(name) {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE + name) ?? 'null');
  } catch {
    return null;
  }
}

/**
 * Stores something for this tab, if the browser lets us; null is nothing.
 * @param {string} name
 * @param {unknown} value
 */
export function store(name, value) {
  try {
    if (value === null) sessionStorage.removeItem(PLACE + name);
    else sessionStorage.setItem(PLACE + name, JSON.stringify(value));
  } catch {
    // It is kept nowhere, and asked for again.
  }
}

let token = '';

/** Whether there is a token to try. */
export function hasToken() {
  try {
    token = sessionStorage.getItem(TOKEN) ?? '';
  } catch {
    token = '';
  }
  return token !== '';
}

/**
 * The head that shows the tab's token, if it has one.
 * @returns {Record<string, string>}
 */
export function authorization() {
  return hasToken() ? { Authorization: `Bearer ${token}` } : {};
}

/**
 * Tries a token, and keeps it if it is somebody's.
 * @param {string} text
 * @returns {Promise<Me>}
 */
export async function enter(text) {
  // Only such letters fit into a head.
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('That is no token. Possible: the text that begins with cpt_.');
  token = text;
  const me = await call('me');
  try {
    sessionStorage.setItem(TOKEN, text);
  } catch {
    // It is asked for again on the next page.
  }
  return me;
}

/** @returns {Promise<Me>} whose the kept token is */
export function whoami() {
  return call('me');
}

/** Forgets the token and everything else that this tab keeps of the curator. */
export function forget() {
  token = '';
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PLACE)) sessionStorage.removeItem(name);
  } catch {
    // Nothing was kept.
  }
}

/**
 * Asks for something: with a body by POST.
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @param {string} [method]
 * @returns {Promise<any>}
 */
export async function call(path, body, signal, method = 'GET') {
  /** @type {Record<string, string>} */
  const headers = { Authorization: `Bearer ${token}` };
  /** @type {RequestInit} */
  const request = { method, headers, ...(signal ? { signal } : {}) };
  if (body !== undefined) {
    headers['Content-Type'] = 'application/json';
    Object.assign(request, { method: 'POST', body: JSON.stringify(body) });
  }
  let status = 0;
  let text = '';
  try {
    const response = await fetch(`/v1/${path}`, request);
    text = await response.text();
    status = response.status;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused('unreachable', 0, 'the server does not answer; is counterpoint serve still running?');
  }
  if (status === 200) return JSON.parse(text);
  throw problem(status, text);
}

/** So much of a list is asked for at once: the most that the service gives. */
const PAGE = 10_000;

/**
 * The pages of a list, from the first to the last.
 * @param {string} path
 * @returns {Promise<any[]>}
 */
export async function pages(path) {
  const list = [];
  let after = '';
  do {
    const page = await call(`${path}?limit=${PAGE}${after}`);
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
    if (code === 'unauthorized') return new Refused(code, status, 'the token is not known here, or it is revoked; legal: another one');
    return new Refused(String(code), status, String(detail || title));
  } catch {
    const nobody = 'this server has no curator; legal: counterpoint serve with --demo or --config';
    return new Refused('unreadable', status, status === 404 ? nobody : text.trim() || `status ${status}`);
  }
}

/**
 * Asks a question under a key, so that it is asked once however often it is sent: once more if the network fails.
 * @param {Question} question
 * @param {string} key
 * @returns {Promise<Answer>}
 */
export async function askUnder(question, key) {
  const body = { ...question, key };
  try {
    return await call('questions', body);
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 0) throw error;
    await new Promise((done) => setTimeout(done, AGAIN));
    return call('questions', body);
  }
}

/**
 * A problem as a sentence, with numbers that can be read.
 * @param {string} detail
 */
export function readable(detail) {
  const [what = '', ...legal] = shortened(detail).split(/; legal(?= |:)/);
  const possible = legal.map((text) => `. Possible${text.replace(/[.\s]+$/, '')}`).join('');
  const text = what.charAt(0).toUpperCase() + what.slice(1) + possible;
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

/**
 * Long numbers to six digits, unless two of them would look alike in what is wrong.
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
 * What went wrong, in words.
 * @param {unknown} error
 */
export function words(error) {
  return error instanceof Error ? error.message : String(error);
}

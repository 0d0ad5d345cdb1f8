// Asking the server: one question at a time, the newest. Beyond the server's own machine it wants a token, which the console takes.

import { authorization } from './curator.js';

/**
 * @typedef {{lower: number, upper: number}} Ends
 * @typedef {{factor?: number, epsilon?: number}} Outlook
 * @typedef {{name: string, mechanism: Release | Release[], if_dropped?: Outlook, if_pinned?: Outlook,
 *   error: number | null, wanted: number | null,
 *   confidence: number | null, pinned: boolean, epsilon: number | null}} Line
 * @typedef {Record<string, any> & {mechanism: string, count: number}} Release
 * @typedef {{theorem: string, epsilon: number | null, factor: number | null}} Other
 * @typedef {{sum: number | null, noise?: 'any' | 'these', reason?: string}} Least
 * @typedef {object} Planned
 * @property {Ends} epsilon
 * @property {Ends} delta
 * @property {boolean} [wide]
 * @property {Ends | null} factor
 * @property {number} [sum]
 * @property {Least} [least]
 * @property {string} theorem
 * @property {{parameters: string, concurrent: boolean}} setting
 * @property {Line[]} statistics
 * @property {Other[]} others
 * @property {{delta: number, adjacency: string, release: (Release & {name: string})[]}} plan
 *
 * @typedef {{statistic: number | null, column?: number, field: string | null, problem: string}} Problem
 * @typedef {{planned: Planned, plan: string}} Answer the object, and the plan in the very digits of the server
 */

/**
 * Asks for something as JSON.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @param {Record<string, string>} [more] heads
 * @returns {Promise<{text: string, problem: Problem | null}>}
 */
export async function post(path, body, signal, more = {}) {
  const headers = { 'Content-Type': 'application/json', ...authorization(), ...more };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  const text = await response.text();
  if (response.ok) return { text, problem: null };
  if (response.status === 422) return { text, problem: JSON.parse(text) };
  const missing = 'The server plans for those who have a token: enter one in the console first.';
  const words = response.status === 401 && !more['Release-Key'] ? missing : text.trim() || `status ${response.status}`;
  return { text, problem: { statistic: null, field: null, problem: words } };
}

/** How long typing may pause. */
const PAUSE = 80;

/** How often it is asked how far a plan has come. */
const GLANCE = 300;

export class Planner {
  /**
   * @param {(busy: boolean, done?: number) => void} onBusy with the fraction that is done, where it is known
   * @param {(answer: Answer) => void} onAnswer
   * @param {(problem: Problem) => void} onProblem
   * @param {(least: Least | undefined) => void} onLeast
   */
  constructor(onBusy, onAnswer, onProblem, onLeast) {
    this.onBusy = onBusy;
    this.onAnswer = onAnswer;
    this.onProblem = onProblem;
    this.onLeast = onLeast;
    /** @type {AbortController | null} */
    this.open = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** Forgets what was asked. */
  stop() {
    clearTimeout(this.timer);
    this.open?.abort();
    this.open = null;
    this.onBusy(false);
  }

  /**
   * Asks for a plan once edits pause; an older question is given up.
   * @param {unknown} file
   * @param {boolean} [now]
   */
  ask(file, now = false) {
    clearTimeout(this.timer);
    this.open?.abort();
    const open = new AbortController();
    this.open = open;
    this.onBusy(true);
    this.timer = setTimeout(() => this.send(file, open), now ? 0 : PAUSE);
  }

  /**
   * @param {unknown} file
   * @param {AbortController} open
   */
  async send(file, open) {
    const name = crypto.randomUUID();
    const glances = setInterval(() => this.glance(name, open), GLANCE);
    try {
      const { text, problem } = await post('/plan', file, open.signal, { 'Plan-Name': name });
      if (this.open !== open) return;
      this.onBusy(false);
      if (problem) return this.onProblem(problem);
      const planned = JSON.parse(text);
      this.onAnswer({ planned, plan: planIn(text) });
      if (planned.sum !== undefined) await this.bound(file, open);
    } catch (error) {
      if (this.open !== open) return;
      this.onBusy(false);
      const gone = 'The server does not answer. Is counterpoint serve still running?';
      this.onProblem({ statistic: null, field: null, problem: gone });
    } finally {
      clearInterval(glances);
    }
  }

  /**
   * Looks how far a plan has come.
   * @param {string} name
   * @param {AbortController} open
   */
  async glance(name, open) {
    const done = await glance(name, open.signal);
    if (this.open === open && done !== null) this.onBusy(true, done);
  }

  /**
   * Asks how small the sum can be at all, which takes longer.
   * @param {unknown} file
   * @param {AbortController} open
   */
  async bound(file, open) {
    const { text, problem } = await post('/least', file, open.signal);
    if (this.open === open && !problem) this.onLeast(JSON.parse(text).least);
  }
}

/**
 * How far the plan of this name has come, if that is known.
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<number | null>}
 */
export async function glance(name, signal) {
  try {
    const response = await fetch('/progress', { headers: { 'Plan-Name': name, ...authorization() }, ...(signal ? { signal } : {}) });
    return response.ok ? (await response.json()).done : null;
  } catch {
    // The plan itself will say what is wrong.
    return null;
  }
}

/**
 * The plan within an answer, digit by digit: it is the last field, and no name can hold an unescaped quote.
 * @param {string} text
 */
function planIn(text) {
  const plan = text.slice(text.lastIndexOf(',"plan":{') + 8, -1);
  return plan
    .replace('{"version"', '{\n  "version"')
    .replace(',"release":[{', ',\n  "release": [\n    {')
    .replaceAll('},{"name":', '},\n    {"name":')
    .replace(/\}\]\}$/, '}\n  ]\n}\n');
}

/**
 * Reads the text of a study file, TOML or JSON.
 * @param {string} text
 * @returns {Promise<unknown>}
 */
export async function readFile(text) {
  const { text: answer, problem } = await post('/study', { text });
  if (!problem) return JSON.parse(answer);
  const place = [problem.statistic ? `statistic ${problem.statistic}: ` : '', problem.field ? `${problem.field} ` : ''];
  throw new Error(place.join('') + problem.problem);
}

// The client of the planner: one request at a time, the newest. A server for other machines requires the token of the console.

import { authorization } from './curator_client.js';
import { sentence } from './descriptions.js';

/**
 * @typedef {{lower: number, upper: number}} Bracket
 * @typedef {{factor?: number, epsilon?: number}} Effect
 * @typedef {{name: string, mechanism: Release | Release[], if_dropped?: Effect, if_pinned?: Effect,
 *   error: number | null, wanted: number | null,
 *   confidence: number | null, pinned: boolean, epsilon: number | null}} Line
 * @typedef {Record<string, any> & {mechanism: string, count: number}} Release
 * @typedef {{theorem: string, epsilon: number | null, factor: number | null}} TheoremCost
 * @typedef {{sum: number | null, noise?: 'any' | 'these', reason?: string}} Least
 * @typedef {object} Planned
 * @property {Bracket} epsilon
 * @property {Bracket} delta
 * @property {boolean} [wide]
 * @property {Bracket | null} factor
 * @property {number} [sum]
 * @property {Least} [least]
 * @property {string} theorem
 * @property {{parameters: string, concurrent: boolean}} setting
 * @property {Line[]} statistics
 * @property {TheoremCost[]} others
 * @property {{delta: number, adjacency: string, release: (Release & {name: string})[]}} plan
 *
 * @typedef {{statistic: number | null, column?: number, field: string | null, problem: string}} Problem
 * @typedef {{planned: Planned, plan: string}} Answer the planned study, and the plan with the digits of the server
 */

/**
 * Sends a JSON request.
 * @param {string} path
 * @param {unknown} body
 * @param {AbortSignal} [signal]
 * @param {Record<string, string>} [more] further headers
 * @returns {Promise<{text: string, problem: Problem | null}>}
 */
export async function post(path, body, signal, more = {}) {
  const headers = { 'Content-Type': 'application/json', ...authorization(), ...more };
  const response = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) });
  const text = await response.text();
  if (response.ok) return { text, problem: null };
  if (response.status === 422) return { text, problem: JSON.parse(text) };
  const missing = 'This server requires a token. Log in on the Console or the Owner page first.';
  const words = response.status === 401 && !more['Release-Key'] ? missing : text.trim() || `The server answered with status ${response.status}`;
  return { text, problem: { statistic: null, field: null, problem: words } };
}

/** The pause in typing, in milliseconds, after which the plan is requested. */
const TYPING_PAUSE = 80;

/** The interval between requests for the progress, in milliseconds. */
const PROGRESS_INTERVAL = 300;

export class Planner {
  /**
   * @param {(busy: boolean, done?: number) => void} onBusy with the fraction that is done, if it is known
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

  /** Aborts the request. */
  stop() {
    clearTimeout(this.timer);
    this.open?.abort();
    this.open = null;
    this.onBusy(false);
  }

  /**
   * Requests a plan when typing pauses; aborts an older request.
   * @param {unknown} file
   * @param {boolean} [now]
   */
  ask(file, now = false) {
    clearTimeout(this.timer);
    this.open?.abort();
    const open = new AbortController();
    this.open = open;
    this.onBusy(true);
    this.timer = setTimeout(() => this.send(file, open), now ? 0 : TYPING_PAUSE);
  }

  /**
   * @param {unknown} file
   * @param {AbortController} open
   */
  async send(file, open) {
    const name = crypto.randomUUID();
    const progressTimer = setInterval(() => this.showProgress(name, open), PROGRESS_INTERVAL);
    try {
      const { text, problem } = await post('/plan', file, open.signal, { 'Plan-Name': name });
      if (this.open !== open) return;
      this.onBusy(false);
      if (problem) return this.onProblem(problem);
      const planned = JSON.parse(text);
      this.onAnswer({ planned, plan: planIn(text) });
      if (planned.sum !== undefined) await this.bound(file, open);
    } catch {
      if (this.open !== open) return;
      this.onBusy(false);
      const unreachable = 'The server does not answer. Is counterpoint serve still running?';
      this.onProblem({ statistic: null, field: null, problem: unreachable });
    } finally {
      clearInterval(progressTimer);
    }
  }

  /**
   * Requests and shows the progress of a plan.
   * @param {string} name
   * @param {AbortController} open
   */
  async showProgress(name, open) {
    const done = await fetchProgress(name, open.signal);
    if (this.open === open && done !== null) this.onBusy(true, done);
  }

  /**
   * Requests the lower bound of the weighted sum, which takes longer.
   * @param {unknown} file
   * @param {AbortController} open
   */
  async bound(file, open) {
    const { text, problem } = await post('/least', file, open.signal);
    if (this.open === open && !problem) this.onLeast(JSON.parse(text).least);
  }
}

/**
 * The progress of the plan with this name; null if it is not known.
 * @param {string} name
 * @param {AbortSignal} [signal]
 * @returns {Promise<number | null>}
 */
export async function fetchProgress(name, signal) {
  try {
    const response = await fetch('/progress', { headers: { 'Plan-Name': name, ...authorization() }, ...(signal ? { signal } : {}) });
    return response.ok ? (await response.json()).done : null;
  } catch {
    // The request for the plan reports the error.
    return null;
  }
}

/**
 * Cuts the plan from the text of an answer, which keeps its digits. It is the last field, and names hold no unescaped quotes.
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
  throw new Error((problem.statistic ? `Statistic ${problem.statistic}: ` : '') + sentence(problem.field, problem.problem));
}

// The answer that the console shows: its numbers, its charts, and both as a file.

import { priced, remaining } from './amounts.js';
import { amount, at, download, say } from './dom.js';
import { charts, csv, numbers } from './results.js';

/**
 * @typedef {import('./curator.js').Answer} Answer
 * @typedef {import('./curator.js').Question} Question
 */

/** @type {{question: Question, answer: Answer} | null} */
let shown = null;

/**
 * Shows the answer to a question, as a table and as charts.
 * @param {Question} question
 * @param {Answer} answer
 */
export function showAnswer(question, answer) {
  shown = { question, answer };
  at('answer').hidden = false;
  say(at('asked-sql'), question.sql);
  at('answer').classList.toggle('dummy', answer.dummy);
  say(at('paid'), answer.dummy ? 'Of made-up rows: it cost nothing, and says nothing about the table.' : `${answer.repeated ? 'It cost nothing, as it was answered before' : `It cost ${priced(answer.cost)}`}; ${remaining(answer.left)}.`);
  at('numbers').replaceChildren(...numbers(answer.answers, question.sql));
  drawCharts();
  const share = amount(100 * question.confidence, 6, 'halfExpand');
  const interval = `The number without noise lies within its interval ${share} % of the time, each on its own.`;
  const none = answer.answers.some((one) => one.interval === null) ? ' Where there is none, nothing is known.' : '';
  say(at('meaning'), answer.answers.some((one) => one.interval) ? interval + none : none.trim());
  at('answer').scrollIntoView({ block: 'nearest' });
}

function drawCharts() {
  if (!shown) return;
  const width = Math.max(260, Math.min(680, at('answer').clientWidth));
  at('charts').replaceChildren(...charts(shown.answer.answers, width));
}

at('save-csv').addEventListener('click', () => {
  if (shown) download(shown.answer.dummy ? 'made-up.csv' : 'answer.csv', csv(shown.answer.answers, shown.question.sql));
});
let wide = window.innerWidth;
window.addEventListener('resize', () => {
  if (window.innerWidth !== wide) drawCharts();
  wide = window.innerWidth;
});

// Shows an answer in the console: its numbers, its charts and a CSV file.

import { balanceText, chargeText } from './charge_text.js';
import { byId, download, formatNumber, setText } from './dom.js';
import { charts, csv, numbers } from './answer_table.js';

/**
 * @typedef {import('./curator_client.js').Answer} Answer
 * @typedef {import('./curator_client.js').Question} Question
 */

/** The answer that is shown, and the width of the window that its charts were drawn for. */
const state = {
  /** @type {{question: Question, answer: Answer} | null} */
  shown: null,
  windowWidth: window.innerWidth,
};

/**
 * Shows the answer to a question, as a table and as charts.
 * @param {Question} question
 * @param {Answer} answer
 */
export function showAnswer(question, answer) {
  state.shown = { question, answer };
  byId('answer').hidden = false;
  setText(byId('asked-sql'), question.sql);
  byId('answer').classList.toggle('dummy', answer.dummy);
  const cost = answer.repeated ? 'This answer was free, because the question was answered before' : `This answer cost ${chargeText(answer.cost)}`;
  const dummy = 'This answer was free. It was computed from made-up rows and says nothing about the table.';
  setText(byId('paid'), answer.dummy ? dummy : `${cost}. The account has ${balanceText(answer.left)}.`);
  byId('numbers').replaceChildren(...numbers(answer.answers, question.sql));
  drawCharts();
  const share = formatNumber(100 * question.confidence, 6, 'halfExpand');
  const interval = `The lines in the charts are intervals. Each interval contains the number without noise with a probability of ${share} %.`;
  const none = answer.answers.some((one) => one.interval === null) ? ' The accuracy of a number without an interval is not known.' : '';
  setText(byId('meaning'), answer.answers.some((one) => one.interval) ? interval + none : none.trim());
  byId('answer').scrollIntoView({ block: 'nearest' });
}

function drawCharts() {
  if (!state.shown) return;
  const width = Math.max(260, Math.min(680, byId('answer').clientWidth));
  byId('charts').replaceChildren(...charts(state.shown.answer.answers, width));
}

byId('save-csv').addEventListener('click', () => {
  const { shown } = state;
  if (shown) download(shown.answer.dummy ? 'made-up.csv' : 'answer.csv', csv(shown.answer.answers, shown.question.sql));
});
window.addEventListener('resize', () => {
  if (window.innerWidth !== state.windowWidth) drawCharts();
  state.windowWidth = window.innerWidth;
});

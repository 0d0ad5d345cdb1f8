// The kinds of statistics: their labels, fields and explanations.

/**
 * @typedef {'pair' | 'number' | 'numbers' | 'names' | 'pairs' | 'column' | 'text'} Shape
 * @typedef {{name: string, shape: Shape, label: string, hint?: string, optional?: boolean, more?: boolean,
 *   unless?: string, holds?: 'numbers' | 'groups', of?: 'numbers' | 'groups'}} Field `unless` names a field that replaces it; `holds` is the content of
 *   a column to choose; a field with `of` is shown only for columns with that content
 * @typedef {object} Kind
 * @property {string} label
 * @property {string} summary
 * @property {Field[]} fields the fields of a statistic with its own bounds
 * @property {Field[] | null} columnFields the fields of a statistic about columns, besides ROWS
 * @property {Record<string, string>} start the fields of a new statistic
 * @property {string} error the unit of its error
 * @property {string} explanation
 * @property {string} theorem
 */

/** @type {Field} */
const BETWEEN = { name: 'bounds', shape: 'pair', label: 'Values from' };
/** @type {Field} */
const POINTS = { name: 'points', shape: 'number', label: 'Points', optional: true, more: true };

/** @type {Field} */
const NUMBERS = { name: 'column', shape: 'column', holds: 'numbers', label: 'Column' };
/** @type {Field} */
const ANY = { name: 'column', shape: 'column', label: 'Column' };
/** @type {Field} */
const NARROWER = {
  name: 'bounds', shape: 'pair', label: 'Narrower bounds', optional: true, more: true, hint: 'values outside count as the nearer bound',
};
/** @type {Field} */
const WITH = { name: 'with', shape: 'column', holds: 'numbers', label: 'and' };
/** @type {Field} */
const SHARES = { name: 'shares', shape: 'numbers', label: 'Shares', hint: '0.5 is the median' };
/** @type {Field} */
const CANDIDATES = {
  name: 'candidates', shape: 'numbers', label: 'or candidates', hint: 'the values that the answer may have', optional: true, more: true,
};
/** The fields of all statistics about columns. @type {Field[]} */
const ROWS = [
  { name: 'by', shape: 'names', label: 'For each', optional: true, hint: 'columns with groups, separated by commas; all rows together if empty' },
  { name: 'where', shape: 'text', label: 'Only rows where', optional: true, hint: 'for instance age BETWEEN 18 AND 64; all rows if empty' },
  { name: 'expected', shape: 'number', label: 'Expected rows', optional: true, more: true, hint: 'in each group, for planning the error' },
];

/** @type {Record<string, Kind>} */
export const KINDS = {
  count: {
    label: 'Count',
    summary: 'The number of people',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Only values from', optional: true, hint: 'both ends included; all people if empty' }],
    columnFields: [],
    start: {},
    error: 'people',
    explanation: 'One person changes a count by at most one. The noise, a whole number, hides this change.',
    theorem: 'The noise has a geometric or a discrete Gaussian distribution. The error is computed from this distribution, so it is exact.',
  },
  proportion: {
    label: 'Proportion',
    summary: 'The share of people with a property',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Share of values from', hint: 'both ends included' }],
    columnFields: [
      ANY,
      { name: 'categories', shape: 'names', label: 'is one of', hint: 'groups, separated by commas', of: 'groups' },
      { name: 'bounds', shape: 'pair', label: 'is between', hint: 'both ends included', of: 'numbers' },
    ],
    start: { 'bounds.0': '1', 'bounds.1': '1.5' },
    error: 'share',
    explanation: 'A count divided by the number of people. With more people, the proportion needs less noise.',
    theorem: 'If the number of people is public, only the count has noise. Otherwise both have noise, and the error is that of their quotient.',
  },
  sum: {
    label: 'Sum',
    summary: 'The total over all people',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'total',
    explanation: 'The bounds limit how far one person can change the sum, so narrow bounds cost less. Values outside the bounds count as the nearer bound.',
    theorem: 'Values are clamped to the bounds and rounded to whole multiples of a step, so that the largest change by one person is known exactly.',
  },
  mean: {
    label: 'Mean',
    summary: 'The average value',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'value',
    explanation: 'The sum divided by the number of people. Values outside the bounds count as the nearer bound. With more people, the mean needs less noise.',
    theorem: 'If the number of people is public, only the sum has noise. Otherwise both have noise, and the error is that of their quotient.',
  },
  variance: {
    label: 'Variance',
    summary: 'The mean squared distance from the mean',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'squared',
    explanation: 'The variance is computed from two noisy sums: of the values and of their squares. Its error is in squared units of the values.',
    theorem: 'The error covers the noise of both sums and holds for the worst data within the bounds.',
  },
  'standard-deviation': {
    label: 'Standard deviation',
    summary: 'The spread of values around the mean',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'spread',
    explanation: 'The square root of the variance, in the units of the values.',
    theorem: 'It is computed from the same noisy sums as the variance. The error holds for the worst data within the bounds.',
  },
  histogram: {
    label: 'Histogram',
    summary: 'The number of people in each group',
    fields: [
      { name: 'categories', shape: 'names', label: 'Groups', hint: 'names, separated by commas', optional: true, unless: 'bins' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'increasing numbers, if groups are intervals', optional: true, unless: 'categories' },
    ],
    columnFields: [
      ANY,
      { name: 'bins', shape: 'numbers', label: 'Edges', hint: 'increasing numbers; 20 equal steps if empty', optional: true, of: 'numbers' },
    ],
    start: { categories: 'north, east, south, west' },
    error: 'people',
    explanation: 'Each person is in one group, so all counts together cost little more than one count. The error holds for all groups at once.',
    theorem: 'Replacing a person’s data changes two counts by one each. Adding or removing a person changes one count by one.',
  },
  quantiles: {
    label: 'Quantiles',
    summary: 'The median, the quartiles, …',
    fields: [
      BETWEEN,
      SHARES,
      { ...POINTS, hint: 'the number of candidate values; 101 if empty' },
      CANDIDATES,
    ],
    columnFields: [NUMBERS, SHARES, { ...POINTS, hint: 'the number of candidate values; 101 if empty' }, CANDIDATES],
    start: { 'bounds.0': '0', 'bounds.1': '100', shares: '0.25, 0.5, 0.75' },
    error: 'ranks',
    explanation: 'The answer is one of the candidate values, chosen at random so that values near the quantile are more likely. The error is a number of rows (ranks): with an error of 50, at most 50 rows lie between the answer and the quantile.',
    theorem: 'The exponential mechanism. Its cost is computed from its bounded range; its epsilon alone would give a higher cost.',
  },
  cdf: {
    label: 'Cumulative counts',
    summary: 'The number of people below each value',
    fields: [
      BETWEEN,
      { ...POINTS, more: false, hint: 'the number of values; 20 if empty' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'increasing numbers', optional: true, more: true },
    ],
    columnFields: [
      NUMBERS,
      { ...POINTS, more: false, hint: 'the number of values; 20 if empty' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'increasing numbers', optional: true, more: true },
    ],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'people',
    explanation: 'For each of many values, the number of people below it. The numbers are computed from a tree of counts; each person changes only a few of these counts.',
    theorem: 'A binary tree of counts. For 10⁶ edges, the charge is for at most 20 counts under add-remove, and for exactly 39 under replace.',
  },
  covariance: {
    label: 'Covariance',
    summary: 'How two values vary together',
    fields: [
      BETWEEN,
      { name: 'with', shape: 'pair', label: 'and from' },
    ],
    columnFields: [NUMBERS, WITH],
    start: { 'bounds.0': '0', 'bounds.1': '100', 'with.0': '0', 'with.1': '100' },
    error: 'product',
    explanation: 'The covariance is computed from noisy sums of both values and of their product.',
    theorem: 'The error holds for the worst data within the bounds.',
  },
  correlation: {
    label: 'Correlation',
    summary: 'The strength of the relation between two values',
    fields: [
      BETWEEN,
      { name: 'with', shape: 'pair', label: 'and from' },
    ],
    columnFields: [NUMBERS, WITH],
    start: { 'bounds.0': '0', 'bounds.1': '100', 'with.0': '0', 'with.1': '100', epsilon: '0.2' },
    error: 'none',
    explanation: 'A number from −1 to 1. Its error depends on the data, so the planner cannot promise an error. You fix the epsilon of the correlation instead.',
    theorem: 'It is computed from noisy moments of both columns. Computing with noisy numbers costs no privacy (post-processing).',
  },
  regression: {
    label: 'Regression',
    summary: 'How to predict one value from others',
    fields: [
      { ...BETWEEN, label: 'Outcome from' },
      { name: 'predictors', shape: 'pairs', label: 'Predictors', hint: 'ranges such as 0 to 100; 0 to 1' },
    ],
    columnFields: [NUMBERS, { name: 'predictors', shape: 'names', label: 'from', hint: 'columns of numbers, separated by commas' }],
    start: { 'bounds.0': '0', 'bounds.1': '100', predictors: '0 to 100; 0 to 1', epsilon: '0.2' },
    error: 'none',
    explanation: 'The errors of the coefficients depend on the data, so the planner cannot promise errors. You fix the epsilon of the regression instead.',
    theorem: 'The coefficients are computed from noisy moments of all columns. Computing with noisy numbers costs no privacy (post-processing).',
  },
  'held-back': {
    label: 'Held back',
    summary: 'A reserve for later questions',
    fields: [{ name: 'delta', shape: 'number', label: 'Delta', optional: true, more: true, hint: '0 if empty' }],
    columnFields: null,
    start: { epsilon: '0.1' },
    error: 'none',
    explanation: 'A part of the budget that is kept for later questions of any kind.',
    theorem: 'It is charged as randomized response, the mechanism that reveals most with this guarantee.',
  },
};

/**
 * The fields of a kind, for a statistic about columns or one with its own bounds.
 * @param {string} kind
 * @param {boolean} isAbout
 */
export function fieldsOf(kind, isAbout) {
  const { fields, columnFields } = kindOf(kind);
  return isAbout && columnFields ? [...columnFields, ...ROWS] : fields;
}

/**
 * @param {string} kind
 * @returns {Kind}
 */
export function kindOf(kind) {
  const known = KINDS[kind];
  if (!known) throw new Error(`there is no kind of statistic named ${kind}`);
  return known;
}

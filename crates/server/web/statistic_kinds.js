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
  name: 'candidates', shape: 'numbers', label: 'or values', hint: 'the values that may be chosen', optional: true, more: true,
};
/** The fields of all statistics about columns. @type {Field[]} */
const ROWS = [
  { name: 'by', shape: 'names', label: 'For each', optional: true, hint: 'columns with groups, separated by commas; empty: all rows together' },
  { name: 'where', shape: 'text', label: 'Only rows where', optional: true, hint: 'for instance age BETWEEN 18 AND 64; empty: all rows' },
  { name: 'expected', shape: 'number', label: 'Expected rows', optional: true, more: true, hint: 'of each group, for planning the error' },
];

/** @type {Record<string, Kind>} */
export const KINDS = {
  count: {
    label: 'Count',
    summary: 'The number of people',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Only values from', optional: true, hint: 'both ends included; empty: all' }],
    columnFields: [],
    start: {},
    error: 'people',
    explanation: 'Any one person changes a count by at most one. Whole-number noise hides this change.',
    theorem: 'Geometric or discrete Gaussian noise on a whole number; its error is exact, because it is computed from the noise’s own distribution.',
  },
  proportion: {
    label: 'Proportion',
    summary: 'The share of people with a property',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Counts values from', hint: 'both ends included' }],
    columnFields: [
      ANY,
      { name: 'categories', shape: 'names', label: 'is one of', hint: 'groups, separated by commas', of: 'groups' },
      { name: 'bounds', shape: 'pair', label: 'is between', hint: 'both ends included', of: 'numbers' },
    ],
    start: { 'bounds.0': '1', 'bounds.1': '1.5' },
    error: 'share',
    explanation: 'A count divided by the number of people, which must be public.',
    theorem: 'Noise on the count, divided by the public number of people.',
  },
  sum: {
    label: 'Sum',
    summary: 'The total over all people',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'total',
    explanation: 'Bounds limit the contribution of one person. Narrow bounds cost less. Values outside count as the nearer bound.',
    theorem: 'Values are clamped and put on a grid of whole numbers, so that the largest change by one person is known exactly.',
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
    summary: 'The spread of values, squared',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'squared',
    explanation: 'Computed from two noisy sums: of the values and of their squares. The error is in squared units.',
    theorem: 'The error covers both noises and holds for the worst data within the bounds.',
  },
  'standard-deviation': {
    label: 'Standard deviation',
    summary: 'The spread of values',
    fields: [BETWEEN],
    columnFields: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'spread',
    explanation: 'The root of the variance, in the units of the values.',
    theorem: 'Computed from the same noisy sums as a variance; the error holds for the worst data within the bounds.',
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
      { name: 'bins', shape: 'numbers', label: 'Edges', hint: 'increasing numbers; empty: 20 equal steps', optional: true, of: 'numbers' },
    ],
    start: { categories: 'north, east, south, west' },
    error: 'people',
    explanation: 'Each person is in one group, so all counts together cost little more than one count. The error holds for all groups at once.',
    theorem: 'Replacing a person’s data changes two counts by one each. Adding or removing a person changes one count by one.',
  },
  quantiles: {
    label: 'Quantiles',
    summary: 'The median, quartiles, …',
    fields: [
      BETWEEN,
      SHARES,
      { ...POINTS, hint: 'the number of candidate values; empty: 101' },
      CANDIDATES,
    ],
    columnFields: [NUMBERS, SHARES, { ...POINTS, hint: 'the number of candidate values; empty: 101' }, CANDIDATES],
    start: { 'bounds.0': '0', 'bounds.1': '100', shares: '0.25, 0.5, 0.75' },
    error: 'ranks',
    explanation: 'A candidate value is chosen at random; values closer to the requested rank are more likely. The error is in ranks: 50 means off by at most 50 people.',
    theorem: 'The exponential mechanism, composed by its bounded range rather than by its epsilon alone.',
  },
  cdf: {
    label: 'Cumulative counts',
    summary: 'The number of people below each value',
    fields: [
      BETWEEN,
      { ...POINTS, more: false, hint: 'empty: 20' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'increasing numbers', optional: true, more: true },
    ],
    columnFields: [
      NUMBERS,
      { ...POINTS, more: false, hint: 'empty: 20' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'increasing numbers', optional: true, more: true },
    ],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'people',
    explanation: 'Counts of the people below many values. They are computed from a tree of counts, of which each person changes only a few.',
    theorem: 'A binary tree of counts. For 10⁶ edges, at most 20 releases are charged under add-remove and 39 under replace; the latter number is exact.',
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
    explanation: 'Computed from noisy sums of both values and of their product.',
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
    explanation: 'From −1 to 1. Its error depends on the data, so no error can be promised. You fix its epsilon instead.',
    theorem: 'Computed from noisy moments of both columns. Computing with noisy numbers costs no privacy (post-processing).',
  },
  regression: {
    label: 'Regression',
    summary: 'Predicts one value from others',
    fields: [
      { ...BETWEEN, label: 'Outcome from' },
      { name: 'predictors', shape: 'pairs', label: 'Predictors', hint: 'ranges such as 0 to 100; 0 to 1' },
    ],
    columnFields: [NUMBERS, { name: 'predictors', shape: 'names', label: 'from', hint: 'columns of numbers, separated by commas' }],
    start: { 'bounds.0': '0', 'bounds.1': '100', predictors: '0 to 100; 0 to 1', epsilon: '0.2' },
    error: 'none',
    explanation: 'The errors of the coefficients depend on the data, so no errors can be promised. You fix the epsilon of the regression instead.',
    theorem: 'The coefficients are computed from noisy moments of all columns. Computing with noisy numbers costs no privacy (post-processing).',
  },
  'held-back': {
    label: 'Held back',
    summary: 'A reserve for later questions',
    fields: [{ name: 'delta', shape: 'number', label: 'Its delta', optional: true, more: true, hint: 'empty: 0' }],
    columnFields: null,
    start: { epsilon: '0.1' },
    error: 'none',
    explanation: 'A part of epsilon that is reserved for later questions of any kind.',
    theorem: 'Composed as the worst mechanism with this guarantee, randomized response.',
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

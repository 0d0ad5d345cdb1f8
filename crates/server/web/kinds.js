// The statistics there are: what they are called, which fields they have, and what they mean.

/**
 * @typedef {'pair' | 'number' | 'numbers' | 'names' | 'pairs' | 'column' | 'text'} Shape
 * @typedef {{name: string, shape: Shape, label: string, hint?: string, optional?: boolean, more?: boolean,
 *   unless?: string, holds?: 'numbers' | 'groups', of?: 'numbers' | 'groups'}} Field a field that stands in place of another is shown
 *   unless that is filled in; a column is one that holds numbers or groups, and other fields may be of such columns only
 * @typedef {object} Kind
 * @property {string} label
 * @property {string} says
 * @property {Field[]} fields of a statistic that says its own bounds
 * @property {Field[] | null} about of one that is about columns, besides those that all of these have
 * @property {Record<string, string>} start
 * @property {string} error what its error is about
 * @property {string} words
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
  name: 'bounds', shape: 'pair', label: 'Narrower', optional: true, more: true, hint: 'values outside count as the nearer end',
};
/** @type {Field} */
const WITH = { name: 'with', shape: 'column', holds: 'numbers', label: 'and' };
/** @type {Field} */
const SHARES = { name: 'shares', shape: 'numbers', label: 'Shares', hint: '0.5 is the median' };
/** @type {Field} */
const CANDIDATES = {
  name: 'candidates', shape: 'numbers', label: 'or values', hint: 'the values that may be chosen', optional: true, more: true,
};
/** What all statistics about columns have. @type {Field[]} */
const ROWS = [
  { name: 'by', shape: 'names', label: 'For each', optional: true, hint: 'columns of groups, commas between; empty: all together' },
  { name: 'where', shape: 'text', label: 'Only where', optional: true, hint: 'such as age BETWEEN 18 AND 64; empty: all rows' },
  { name: 'expected', shape: 'number', label: 'Rows expected', optional: true, more: true, hint: 'in each group, to plan the error with' },
];

/** @type {Record<string, Kind>} */
export const KINDS = {
  count: {
    label: 'Count',
    says: 'How many there are',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Only from', optional: true, hint: 'both included; empty: all' }],
    about: [],
    start: {},
    error: 'people',
    words: 'One more or one fewer person changes a count by one, whoever they are. Whole-number noise hides that one.',
    theorem: 'Geometric or discrete Gaussian noise on a whole number; its error is exact, from the noise’s own law.',
  },
  proportion: {
    label: 'Proportion',
    says: 'Which share has something',
    fields: [{ name: 'bounds', shape: 'pair', label: 'Has it if in', hint: 'both ends included' }],
    about: [
      ANY,
      { name: 'categories', shape: 'names', label: 'is one of', hint: 'groups, commas between', of: 'groups' },
      { name: 'bounds', shape: 'pair', label: 'is from', hint: 'both ends included', of: 'numbers' },
    ],
    start: { 'bounds.0': '1', 'bounds.1': '1.5' },
    error: 'share',
    words: 'A count divided by how many people there are, which has to be public.',
    theorem: 'Noise on the count, divided by the public number of people.',
  },
  sum: {
    label: 'Sum',
    says: 'A total over everybody',
    fields: [BETWEEN],
    about: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'total',
    words: 'Bounds limit what one person can add. Narrow bounds cost less; values outside are moved to the nearer end.',
    theorem: 'Values are clamped and put on a grid of whole numbers, so that what one person can change is exact.',
  },
  mean: {
    label: 'Mean',
    says: 'An average',
    fields: [BETWEEN],
    about: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'value',
    words: 'The sum divided by the number of people; values outside the range count as its nearer end. The more people there are, the less noise one person needs.',
    theorem: 'Where the number of people is public the sum alone has noise; else both have, and the error is that of their quotient.',
  },
  variance: {
    label: 'Variance',
    says: 'How much values differ',
    fields: [BETWEEN],
    about: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'squared',
    words: 'Two noisy sums, of values and of their squares. The error is in squared units.',
    theorem: 'The error holds for the worst data within the bounds, of both noises together.',
  },
  'standard-deviation': {
    label: 'Standard deviation',
    says: 'How far values typically lie apart',
    fields: [BETWEEN],
    about: [NUMBERS, NARROWER],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'spread',
    words: 'The root of the variance, in the units of the values.',
    theorem: 'Computed from the same noisy sums as a variance; the error holds for the worst data within the bounds.',
  },
  histogram: {
    label: 'Histogram',
    says: 'How many in each group',
    fields: [
      { name: 'categories', shape: 'names', label: 'Groups', hint: 'names, commas between', optional: true, unless: 'bins' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'rising numbers, if groups are intervals', optional: true, unless: 'categories' },
    ],
    about: [
      ANY,
      { name: 'bins', shape: 'numbers', label: 'Edges', hint: 'rising numbers; empty: 20 equal steps', optional: true, of: 'numbers' },
    ],
    start: { categories: 'north, east, south, west' },
    error: 'people',
    words: 'Each person is in one group, so all counts together cost hardly more than one. The error holds for all groups at once.',
    theorem: 'A person moves from one group to another (replace), or into one (add-remove): two counts change by one, or one.',
  },
  quantiles: {
    label: 'Quantiles',
    says: 'The median, quartiles, …',
    fields: [
      BETWEEN,
      SHARES,
      { ...POINTS, hint: 'how many values are tried, 101 if empty' },
      CANDIDATES,
    ],
    about: [NUMBERS, SHARES, { ...POINTS, hint: 'how many values are tried, 101 if empty' }, CANDIDATES],
    start: { 'bounds.0': '0', 'bounds.1': '100', shares: '0.25, 0.5, 0.75' },
    error: 'ranks',
    words: 'A value is chosen by how near it is to the wanted place in line. The error is in places: 50 means at most 50 people off.',
    theorem: 'The exponential mechanism, composed by its range rather than by its epsilon alone.',
  },
  cdf: {
    label: 'Cumulative counts',
    says: 'How many are below each',
    fields: [
      BETWEEN,
      { ...POINTS, more: false, hint: '20 if empty' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'rising numbers', optional: true, more: true },
    ],
    about: [
      NUMBERS,
      { ...POINTS, more: false, hint: '20 if empty' },
      { name: 'bins', shape: 'numbers', label: 'or edges', hint: 'rising numbers', optional: true, more: true },
    ],
    start: { 'bounds.0': '0', 'bounds.1': '100' },
    error: 'people',
    words: 'Counts below many values at once, kept in a tree so that a person touches few of them.',
    theorem: 'A binary tree of counts: at most 20 releases for 10⁶ edges under add-remove, 39 under replace, which is exact.',
  },
  covariance: {
    label: 'Covariance',
    says: 'Do two values rise together',
    fields: [
      BETWEEN,
      { name: 'with', shape: 'pair', label: 'and from' },
    ],
    about: [NUMBERS, WITH],
    start: { 'bounds.0': '0', 'bounds.1': '100', 'with.0': '0', 'with.1': '100' },
    error: 'product',
    words: 'Noisy sums of both values and of their product.',
    theorem: 'The error holds for the worst data within the bounds.',
  },
  correlation: {
    label: 'Correlation',
    says: 'How closely two values go together',
    fields: [
      BETWEEN,
      { name: 'with', shape: 'pair', label: 'and from' },
    ],
    about: [NUMBERS, WITH],
    start: { 'bounds.0': '0', 'bounds.1': '100', 'with.0': '0', 'with.1': '100', epsilon: '0.2' },
    error: 'none',
    words: 'From −1 to 1. How far it is off depends on the data, so no error is promised. Its share of epsilon is fixed instead.',
    theorem: 'Computed from noisy moments of both columns: what is computed from noisy numbers costs nothing.',
  },
  regression: {
    label: 'Regression',
    says: 'One value from others',
    fields: [
      { ...BETWEEN, label: 'Outcome from' },
      { name: 'predictors', shape: 'pairs', label: 'Predictors', hint: 'low to high; one after another' },
    ],
    about: [NUMBERS, { name: 'predictors', shape: 'names', label: 'from', hint: 'columns of numbers, commas between' }],
    start: { 'bounds.0': '0', 'bounds.1': '100', predictors: '0 to 100; 0 to 1', epsilon: '0.2' },
    error: 'none',
    words: 'How far coefficients are off depends on the data, so no error is promised. Its share of epsilon is fixed instead.',
    theorem: 'Noisy moments of all columns, from which coefficients are computed: what is computed from noisy numbers costs nothing.',
  },
  'held-back': {
    label: 'Held back',
    says: 'For later questions',
    fields: [{ name: 'delta', shape: 'number', label: 'Its delta', optional: true, more: true, hint: '0 if empty' }],
    about: null,
    start: { epsilon: '0.1' },
    error: 'none',
    words: 'A share of epsilon set aside. Later questions may use it up to this much, of any kind.',
    theorem: 'Composed as any mechanism with this guarantee: the worst one, randomized response.',
  },
};

/**
 * The fields of a kind, for a statistic about columns or for one that says its own bounds.
 * @param {string} kind
 * @param {boolean} isAbout
 */
export function fieldsOf(kind, isAbout) {
  const { fields, about } = kindOf(kind);
  return isAbout && about ? [...about, ...ROWS] : fields;
}

/**
 * @param {string} kind
 * @returns {Kind}
 */
export function kindOf(kind) {
  const known = KINDS[kind];
  if (!known) throw new Error(`there is no ${kind}`);
  return known;
}

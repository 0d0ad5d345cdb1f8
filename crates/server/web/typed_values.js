// Parses typed texts into values, and writes values as texts.

/** @param {string} text */
function isNumber(text) {
  return text !== '' && Number.isFinite(Number(text));
}

/**
 * Parses a number; returns any other text unchanged, so that the server reports it.
 * @param {string | undefined} text
 * @returns {number | string | undefined}
 */
export function parseNumber(text) {
  let trimmed = (text ?? '').trim().replace('−', '-');
  if (trimmed === '') return undefined;
  if (/^-?\d{1,3}([,  ' ]\d{3})+(\.\d*)?$/.test(trimmed)) trimmed = trimmed.replace(/[,  ' ]/g, '');
  return isNumber(trimmed) ? Number(trimmed) : trimmed;
}

/** @param {string | undefined} text */
function list(text) {
  return (text ?? '').split(/[,;\n]/).map((item) => item.trim()).filter((item) => item !== '');
}

/**
 * Parses names that are separated by commas. A name with a comma, or a text that looks like a number, is quoted.
 * @param {string | undefined} text
 */
export function parseNames(text) {
  const found = [...(text ?? '').matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\n]+))/g)];
  const name = (/** @type {string | undefined} */ quoted, plain = '') => (quoted === undefined ? parseKey(plain.trim()) : quoted.replaceAll('""', '"'));
  return found.map(([, quoted, plain]) => name(quoted, plain)).filter((one) => one !== '');
}

/** @param {unknown} name */
export function nameText(name) {
  const plain = valueText(name);
  return typeof name === 'string' && (/[,;\n"]/.test(plain) || typeof parseKey(plain) === 'number') ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** @param {string | undefined} text */
export function parseNumbers(text) {
  const items = list(text).map(parseNumber);
  return items.length ? items : undefined;
}

/** @param {string | undefined} text */
export function parsePairs(text) {
  const items = (text ?? '').split(/[;\n]/).map((item) => item.trim()).filter((item) => item !== '');
  const pair = (/** @type {string} */ item) => item.split(/\s*(?:\bto\b|\.\.|,)\s*/).map(parseNumber);
  return items.length ? items.map(pair) : undefined;
}

/**
 * Parses a category: a whole number or a text.
 * @param {string} text
 */
function parseKey(text) {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** @param {unknown} value */
export function valueText(value) {
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
  return typeof value === 'string' ? value : '';
}

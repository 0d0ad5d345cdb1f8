// Texts as they are typed, and the values that they stand for.

/** @param {string} text */
function isNumber(text) {
  return text !== '' && Number.isFinite(Number(text));
}

/**
 * A text as the number it is; as text if it is none, so that the server says what is wrong with it.
 * @param {string | undefined} text
 * @returns {number | string | undefined}
 */
export function number(text) {
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
 * Names with commas between; one with a comma in it, or a text that is a number, stands in quotes.
 * @param {string | undefined} text
 */
export function names(text) {
  const found = [...(text ?? '').matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,;\n]+))/g)];
  const name = (/** @type {string | undefined} */ quoted, plain = '') => (quoted === undefined ? key(plain.trim()) : quoted.replaceAll('""', '"'));
  return found.map(([, quoted, plain]) => name(quoted, plain)).filter((one) => one !== '');
}

/** @param {unknown} name */
export function nameIn(name) {
  const told = text(name);
  return typeof name === 'string' && (/[,;\n"]/.test(told) || typeof key(told) === 'number') ? `"${told.replaceAll('"', '""')}"` : told;
}

/** @param {string | undefined} text */
export function numbers(text) {
  const items = list(text).map(number);
  return items.length ? items : undefined;
}

/** @param {string | undefined} text */
export function pairs(text) {
  const items = (text ?? '').split(/[;\n]/).map((item) => item.trim()).filter((item) => item !== '');
  const pair = (/** @type {string} */ item) => item.split(/\s*(?:\bto\b|\.\.|,)\s*/).map(number);
  return items.length ? items.map(pair) : undefined;
}

/**
 * A category: a whole number or a text.
 * @param {string} text
 */
function key(text) {
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
}

/** @param {unknown} value */
export function text(value) {
  if (typeof value === 'number') return value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential() : String(value);
  return typeof value === 'string' ? value : '';
}

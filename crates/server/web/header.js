// The names of a data file's columns, from its first line: nothing behind it is looked at, and nothing is sent anywhere.

/** The longest first line, and how much is read at a time. */
const MOST = 1 << 20;
const PIECE = 1 << 14;
const SEPARATORS = [',', ';', '\t', '|'];

/**
 * What the first line says.
 * @typedef {{names: string[], separator: string | null}} Header of JSON lines there is no separator
 */

/**
 * @param {File} file
 * @returns {Promise<Header>}
 */
export async function headerOf(file) {
  const extension = file.name.split('.').pop()?.toLowerCase();
  if (extension === 'parquet')
    throw new Error('The header of a Parquet file is at its end. Use counterpoint study new, and Open… what it writes');
  const line = await firstLine(file);
  if (line.trim() === '') throw new Error('The first line is empty. Possible: the name of every column');
  const header = extension === 'jsonl' || line.trimStart().startsWith('{') ? keys(line) : names(line);
  check(header.names);
  return header;
}

/**
 * Reads a file up to the end of its first line.
 * @param {File} file
 */
async function firstLine(file) {
  let bytes = new Uint8Array(0);
  for (let at = 0; at < Math.min(file.size, MOST); at += PIECE) {
    const piece = new Uint8Array(await file.slice(at, at + PIECE).arrayBuffer());
    const end = piece.findIndex((byte) => byte === 10 || byte === 13);
    const whole = new Uint8Array(bytes.length + (end < 0 ? piece.length : end));
    whole.set(bytes);
    whole.set(end < 0 ? piece : piece.subarray(0, end), bytes.length);
    bytes = whole;
    if (end >= 0) return decoded(bytes);
  }
  if (file.size > MOST) throw new Error('The first line has more than a million letters');
  return decoded(bytes);
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
function decoded(bytes) {
  try {
    // A byte-order mark is left out.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('The first line is no UTF-8. Possible: saving the file as UTF-8');
  }
}

/**
 * The keys of an object.
 * @param {string} line
 * @returns {Header}
 */
function keys(line) {
  /** @type {unknown} */
  let first = null;
  try {
    first = JSON.parse(line);
  } catch {
    // Said below.
  }
  if (first === null || typeof first !== 'object' || Array.isArray(first)) throw new Error('The first line is no JSON object');
  return { names: Object.keys(first), separator: null };
}

/**
 * The names of a line of CSV, by the separator that it has most of outside of quotes.
 * @param {string} line
 * @returns {Header}
 */
function names(line) {
  const bare = line.replace(/"(?:[^"]|"")*"/g, '');
  const times = (/** @type {string} */ separator) => bare.split(separator).length;
  const separator = SEPARATORS.reduce((best, one) => (times(one) > times(best) ? one : best));
  const list = [];
  let rest = line;
  for (;;) {
    const quoted = /^"((?:[^"]|"")*)"/.exec(rest);
    const end = rest.indexOf(separator);
    const text = quoted ? quoted[0] : end < 0 ? rest : rest.slice(0, end);
    if (!quoted && text.startsWith('"')) throw new Error(`A quote is not closed in the name of column ${list.length + 1}`);
    list.push(quoted ? (quoted[1] ?? '').replaceAll('""', '"') : text);
    rest = rest.slice(text.length);
    if (rest === '') return { names: list, separator };
    if (!rest.startsWith(separator)) throw new Error(`Text stands behind a closing quote in the name of column ${list.length}`);
    rest = rest.slice(1);
  }
}

/**
 * Refuses names that cannot be told apart, and a first line that seems to hold data. Data are not shown.
 * @param {string[]} names
 */
function check(names) {
  names.forEach((name, index) => {
    const place = index + 1;
    if (name.trim() === '') throw new Error(`Column ${place} has no name`);
    if (Number.isFinite(Number(name)))
      throw new Error(`The name of column ${place} is a number: the first line seems to hold data, not names`);
    const first = names.indexOf(name);
    if (first < index) throw new Error(`Columns ${first + 1} and ${place} have the same name`);
  });
}

/**
 * A name that statistics can use: letters, digits and underscores, and no other column's.
 * @param {string} original
 * @param {Set<string>} taken
 */
export function plainName(original, taken) {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(original);
  let base = original
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '')
    .slice(0, 50);
  if (base === '' || /^[0-9]/.test(base)) base = `column_${base}`;
  let name = isPlain ? original : base;
  for (let number = 2; taken.has(name); number += 1) name = `${base}_${number}`;
  taken.add(name);
  return name;
}

// Reads the names of a data file's columns from its first line. Nothing else is read, and nothing is sent.

/** The longest first line, and the size of one read, in bytes. */
const MAX_BYTES = 1 << 20;
const CHUNK = 1 << 14;
const SEPARATORS = [',', ';', '\t', '|'];

/**
 * The names of the columns, and the separator of a CSV file.
 * @typedef {{names: string[], separator: string | null}} Header
 */

/**
 * @param {File} file
 * @returns {Promise<Header>}
 */
export async function headerOf(file) {
  const extension = file.name.split('.').pop()?.toLowerCase();
  if (extension === 'parquet')
    throw new Error('The page cannot read the columns of a Parquet file. Run counterpoint study new, save the study file that it prints, and open it here');
  const line = await firstLine(file);
  if (line.trim() === '') throw new Error('The first line is empty. Possible: a line with the name of every column');
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
  for (let at = 0; at < Math.min(file.size, MAX_BYTES); at += CHUNK) {
    const piece = new Uint8Array(await file.slice(at, at + CHUNK).arrayBuffer());
    const end = piece.findIndex((byte) => byte === 10 || byte === 13);
    const whole = new Uint8Array(bytes.length + (end < 0 ? piece.length : end));
    whole.set(bytes);
    whole.set(end < 0 ? piece : piece.subarray(0, end), bytes.length);
    bytes = whole;
    if (end >= 0) return decoded(bytes);
  }
  if (file.size > MAX_BYTES) throw new Error('The first line is longer than 1 MiB');
  return decoded(bytes);
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
function decoded(bytes) {
  try {
    // The decoder removes a byte-order mark.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new Error('The first line is not UTF-8. Save the file as UTF-8');
  }
}

/**
 * The keys of a JSON object.
 * @param {string} line
 * @returns {Header}
 */
function keys(line) {
  /** @type {unknown} */
  let first = null;
  try {
    first = JSON.parse(line);
  } catch {
    // Reported below.
  }
  if (first === null || typeof first !== 'object' || Array.isArray(first)) throw new Error('The first line is not a JSON object');
  return { names: Object.keys(first), separator: null };
}

/**
 * Parses the names of a CSV line. The separator is the one that occurs most often outside quotes.
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
    if (!quoted && text.startsWith('"')) throw new Error(`The name of column ${list.length + 1} has no closing quote`);
    list.push(quoted ? (quoted[1] ?? '').replaceAll('""', '"') : text);
    rest = rest.slice(text.length);
    if (rest === '') return { names: list, separator };
    if (!rest.startsWith(separator)) throw new Error(`The name of column ${list.length} has text after its closing quote`);
    rest = rest.slice(1);
  }
}

/**
 * Refuses repeated names, and a first line that seems to hold data. The error does not show the data.
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
 * A unique name of letters, digits and underscores, which statistics can use.
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

// Creates and changes elements, and formats texts and numbers.

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */

/**
 * Creates an HTML element with attributes, listeners (`on...`) and children. Strings are inserted as text, never as HTML.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/**
 * Creates an SVG element in the same way.
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function s(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(element, attributes, children);
  return element;
}

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) {
      element.setAttribute(name, String(value));
    }
  }
  for (const child of children) if (child) element.append(child);
}

/**
 * The element with this id.
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no #${id}`);
  return /** @type {T} */ (element);
}

/**
 * Sets the text of an element if it differs.
 * @param {Element} element
 * @param {string} text
 */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Sets the value of a field, unless the user is typing there.
 * @param {HTMLInputElement | HTMLSelectElement} field
 * @param {string} text
 */
export function setField(field, text) {
  if (field.value !== text && (document.activeElement !== field || field.type === 'range')) field.value = text;
}

/**
 * Shows a problem beside fields, even if they are folded away, and marks them as invalid; an empty text removes it.
 * @param {HTMLElement[]} fields
 * @param {HTMLElement} note
 * @param {string} text
 */
export function setProblem(fields, note, text) {
  const folded = note.closest('details');
  if (folded && text !== '' && note.textContent !== text) folded.open = true;
  setText(note, text);
  note.hidden = text === '';
  for (const field of fields) {
    if (text === '') field.removeAttribute('aria-invalid');
    else field.setAttribute('aria-invalid', 'true');
  }
}

/**
 * Sets the options of a choice if they differ.
 * @param {HTMLSelectElement} select
 * @param {string[]} names
 */
export function setOptions(select, names) {
  if (names.join('\n') === [...select.options].map((option) => option.value).join('\n')) return;
  select.replaceChildren(...names.map((value) => h('option', { value }, value || 'choose …')));
}

/**
 * Saves a text as a file.
 * @param {string} name
 * @param {string} text
 */
export function download(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/**
 * Begins a text with a capital letter, unless the text begins with a name such as people.csv.
 * @param {string} text
 */
export function capitalized(text) {
  return /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/**
 * Formats a number with a few digits; rounds up by default, as for bounds.
 * @param {number} value
 * @param {number} [digits]
 * @param {'ceil' | 'floor' | 'halfExpand'} [rounding]
 * @returns {string}
 */
export function formatNumber(value, digits = 4, rounding = 'ceil') {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return powers(value, digits, rounding);
  const format = { maximumSignificantDigits: digits, roundingMode: rounding };
  return new Intl.NumberFormat('en', /** @type {any} */ (format)).format(value).replace('-', '−');
}

/**
 * Formats a number as a multiple of a power of ten.
 * @param {number} value
 * @param {number} digits
 * @param {'ceil' | 'floor' | 'halfExpand'} rounding
 */
function powers(value, digits, rounding) {
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-12);
  const factor = formatNumber(Number((value / 10 ** power).toPrecision(12)), digits, rounding);
  const raised = [...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[Number(digit)]).join('');
  const ten = `10${power < 0 ? '⁻' : ''}${raised}`;
  return factor === '1' ? ten : `${factor} × ${ten}`;
}

/**
 * The number of significant digits of a number with this half-width.
 * @param {number} value
 * @param {number | null} half
 */
export function significantDigits(value, half) {
  if (half === null) return 6;
  const last = Math.floor(Math.log10(half || 1)) - 2;
  const largest = Math.max(Math.abs(value), half, 1e-300);
  return Math.min(15, Math.max(4, Math.floor(Math.log10(largest)) - last + 1));
}

/**
 * Formats a number for a field, rounded up.
 * @param {number} value
 * @param {number} digits
 */
export function fieldText(value, digits) {
  const near = Number(value.toPrecision(digits));
  if (near >= value) return String(near);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  return String(Number((near + step).toPrecision(digits)));
}

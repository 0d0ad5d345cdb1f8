// Making elements, and naming numbers.

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes
 */

/**
 * An element with attributes, listeners (`on...`) and children. Text is always text.
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
 * The same for pictures.
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
export function at(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`there is no #${id}`);
  return /** @type {T} */ (element);
}

/**
 * Sets the text of an element if it is another one.
 * @param {Element} element
 * @param {string} text
 */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/**
 * Sets a field's text, unless somebody is typing there.
 * @param {HTMLInputElement | HTMLSelectElement} field
 * @param {string} text
 */
export function put(field, text) {
  if (field.value !== text && (document.activeElement !== field || field.type === 'range')) field.value = text;
}

/**
 * Puts another text beside what is wrong with a field, or takes it away.
 * @param {HTMLElement[]} fields
 * @param {HTMLElement} note
 * @param {string} text
 */
export function blame(fields, note, text) {
  say(note, text);
  note.hidden = text === '';
  for (const field of fields) {
    if (text === '') field.removeAttribute('aria-invalid');
    else field.setAttribute('aria-invalid', 'true');
  }
}

/**
 * Gives a choice these options, if it has others.
 * @param {HTMLSelectElement} select
 * @param {string[]} names
 */
export function options(select, names) {
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

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/**
 * A number for people: four digits or so, rounded up where it is a bound.
 * @param {number} value
 * @param {number} [digits]
 * @param {'ceil' | 'floor' | 'halfExpand'} [rounding]
 * @returns {string}
 */
export function amount(value, digits = 4, rounding = 'ceil') {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return powers(value, digits, rounding);
  const format = { maximumSignificantDigits: digits, roundingMode: rounding };
  return new Intl.NumberFormat('en', /** @type {any} */ (format)).format(value).replace('-', '−');
}

/**
 * A number as a multiple of a power of ten.
 * @param {number} value
 * @param {number} digits
 * @param {'ceil' | 'floor' | 'halfExpand'} rounding
 */
function powers(value, digits, rounding) {
  let power = Math.floor(Math.log10(Math.abs(value)) + 1e-12);
  const factor = amount(Number((value / 10 ** power).toPrecision(12)), digits, rounding);
  const raised = [...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[Number(digit)]).join('');
  const ten = `10${power < 0 ? '⁻' : ''}${raised}`;
  return factor === '1' ? ten : `${factor} × ${ten}`;
}

/**
 * As many digits of a number as its half-width leaves meaning.
 * @param {number} value
 * @param {number | null} half
 */
export function digits(value, half) {
  if (half === null) return 6;
  const last = Math.floor(Math.log10(half || 1)) - 2;
  const largest = Math.max(Math.abs(value), half, 1e-300);
  return Math.min(15, Math.max(4, Math.floor(Math.log10(largest)) - last + 1));
}

/**
 * A number as a field's text: as many digits as it takes, rounded up.
 * @param {number} value
 * @param {number} digits
 */
export function written(value, digits) {
  const near = Number(value.toPrecision(digits));
  if (near >= value) return String(near);
  const step = 10 ** (Math.floor(Math.log10(Math.abs(value))) - digits + 1);
  return String(Number((near + step).toPrecision(digits)));
}

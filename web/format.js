/** Numbers as a person reads them, with their unit. */

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/**
 * Four significant digits; powers of ten outside 0.001 ... 100 000.
 * @param {number | null | undefined} value
 * @param {string} [unit]
 */
export function quantity(value, unit = "") {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const tail = unit ? ` ${unit}` : "";
  if (!Number.isFinite(value)) return `${value > 0 ? "∞" : "−∞"}${tail}`;
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e5) return `${minus(String(value))}${tail}`;
  if (size < 1e-3 || size >= 1e5) return `${power(value, 2)}${tail}`;
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return `${minus(value.toFixed(Math.min(4, digits)))}${tail}`;
}

/** Numbers below are what rounding leaves of zero, in any unit. */
const ROUNDING = 1e-12;

/** Without what rounding leaves of zero. @param {number} value */
export function plain(value) {
  return Math.abs(value) < ROUNDING ? 0 : value;
}

/** With a power of ten, which stands alone where the mantissa is 1 without digits. @param {number} value @param {number} digits behind the point */
function power(value, digits) {
  const [mantissa, exponent] = value.toExponential(digits).split("e");
  return raised(mantissa, exponent);
}

/** @param {string} mantissa @param {string} exponent as JSON has them */
function raised(mantissa, exponent) {
  const above = String(Number(exponent)).replace("-", "⁻").replace(/\d/g, (digit) => SUPERSCRIPT[Number(digit)]);
  return `${mantissa === "1" ? "" : `${minus(mantissa)}·`}10${above}`;
}

/** Three significant digits and no unit, for tight places. @param {number} value */
export function brief(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return quantity(value);
  return minus(String(+value.toPrecision(3)));
}

/** So many things, in words. @param {number} n @param {string} one @param {string} [many] */
export function count(n, one, many = `${one}s`) {
  return `${n} ${n === 1 ? one : many}`;
}

/** A length in the unit in which it is read. @param {number} metres */
export function length(metres) {
  const [unit, size] = metres < 1e-5 ? ["µm", 1e-6] : metres < 1e-2 ? ["mm", 1e-3] : ["m", 1];
  return `${brief(metres / size)}\u00a0${unit}`;
}

/** Behind the point of a tick. */
const MOST_DIGITS = 4;

/** Ticks in words, with the digits that tell neighbours apart. @param {(number | null)[]} ticks null: no label */
export function tickLabels(ticks) {
  const at = (/** @type {number} */ digits) => ticks.map((tick) => (tick === null ? "" : short(tick, digits)));
  for (let digits = 0; ; digits += 1) {
    const words = at(digits);
    const shown = words.filter((word) => word);
    if (new Set(shown).size === shown.length || digits === MOST_DIGITS) return words;
  }
}

/** @param {number} tick @param {number} digits behind the point of an exponential */
function short(tick, digits) {
  const size = Math.abs(tick);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return power(tick, digits);
  return minus(String(+tick.toPrecision(4)));
}

/** A vector that is shorter is rounding [any unit]. */
const NO_LENGTH = 1e-9;

/**
 * One power of ten for all of it where its largest number is from 100 000 on, or has one digit or none behind the point.
 * @param {ArrayLike<number>} values @param {string} [unit] @param {number} [digits] behind the point
 */
export function vector(values, unit = "", digits = 3) {
  const largest = Math.max(...Array.from(values, Math.abs));
  const far = largest >= 1e5 || (largest > NO_LENGTH && largest < 10 ** (1 - digits));
  const exponent = far && Number.isFinite(largest) ? Math.floor(Math.log10(largest)) : 0;
  const text = Array.from(values, (value) => minus((+(value / 10 ** exponent).toFixed(digits) || 0).toFixed(digits))).join("  ");
  return [text, ...(exponent ? [`·${raised("1", String(exponent))}`] : []), ...(unit ? [unit] : [])].join(" ");
}

/**
 * A number that came in single precision, with the fewest digits that are the same in it; null: it is none, as of an absent body.
 * @param {number} value @returns {number | null}
 */
export function single(value) {
  if (!Number.isFinite(value)) return null;
  for (let digits = 6; digits < 9; digits += 1) {
    const short = +value.toPrecision(digits);
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return +value.toPrecision(9);
}

/** Digits behind the point of a time: three, or as many as tell its steps apart. */
const TIME_DIGITS = { least: 3, most: 9 };

/** @param {number} seconds @param {number} [step] of the run [s] */
export function seconds(seconds, step = 1e-3) {
  const telling = Math.ceil(-Math.log10(step) - 1e-9);
  return `${seconds.toFixed(Math.min(TIME_DIGITS.most, Math.max(TIME_DIGITS.least, telling)))} s`;
}

/** @param {number | null} factor speed as it stands in the select: 1/4, 0.3, 1, 2, max */
export function speed(factor) {
  if (factor === null) return "max";
  const parts = Math.round(1 / factor);
  return parts > 1 && Math.abs(parts * factor - 1) < 1e-9 ? `1/${parts}×` : `${brief(factor)}×`;
}

/** Signs as they are printed: ≤, ≥, ±, ≠ for their ASCII forms. @param {string} text */
export function signs(text) {
  return text.replaceAll("<=", "≤").replaceAll(">=", "≥").replaceAll("!=", "≠").replace(/\+\/?-(?=[\s\d.])/g, "±");
}

/** The same, and powers of ten for 1e-05. @param {string} text */
export function printed(text) {
  return signs(text).replace(/(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b/g, (_, mantissa, exponent) => raised(mantissa, exponent));
}

/** @param {string} text */
function minus(text) {
  return text.replace("-", "−");
}

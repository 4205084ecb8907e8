/** Numbers as a person reads them, with their unit. */

const SUPERSCRIPT = ["⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"];

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
  if (size < 1e-3 || size >= 1e5) {
    const [mantissa, exponent] = value.toExponential(2).split("e");
    const power = [...String(Math.abs(Number(exponent)))].map((digit) => SUPERSCRIPT[Number(digit)]).join("");
    return `${minus(mantissa)}·10${Number(exponent) < 0 ? "⁻" : ""}${power}${tail}`;
  }
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return `${minus(value.toFixed(Math.min(4, digits)))}${tail}`;
}

/** Three significant digits and no unit, for tight places. @param {number} value */
export function brief(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e5)) return quantity(value);
  return minus(String(+value.toPrecision(3)));
}

/** @param {ArrayLike<number>} values @param {string} [unit] @param {number} [digits] */
export function vector(values, unit = "", digits = 3) {
  const text = Array.from(values, (value) => minus((+value.toFixed(digits) || 0).toFixed(digits))).join("  ");
  return unit ? `${text} ${unit}` : text;
}

/** @param {number} seconds */
export function seconds(seconds) {
  return `${seconds.toFixed(3)} s`;
}

/** @param {number | null} factor speed as it stands in the select: 1/4, 1, 2, max */
export function speed(factor) {
  if (factor === null) return "max";
  return factor < 1 ? `1/${Math.round(1 / factor)}×` : `${factor}×`;
}

/** Signs as they are printed: ≤, ≥, ±, ≠ for their ASCII forms. @param {string} text */
export function signs(text) {
  return text.replaceAll("<=", "≤").replaceAll(">=", "≥").replaceAll("!=", "≠").replace(/\+\/?-(?=[\s\d.])/g, "±");
}

/** @param {string} text */
function minus(text) {
  return text.replace("-", "−");
}

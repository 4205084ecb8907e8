/**
 * How far the rows of a constraint problem miss their laws. A row holds lo <= lam <= hi with w complementary to it; its residual is
 * the velocity by which w misses that.
 */

/** An impulse this close to its bound is at it, relative. */
const SLACK = 1e-6;

/** @typedef {{name: string, kind: string, body_a: string, body_b: string, lam: number, w: number, lo: number | null, hi: number | null, mu: number, normal: number | null}} ProblemRow */

/**
 * Of every row [m/s or rad/s]. Rows of one friction are judged together: what slides does so against the impulse, which is as large as it may be.
 * @param {ProblemRow[]} rows @param {boolean} round whether friction is bounded by a circle; else every row by itself
 * @returns {number[]}
 */
export function residualsOf(rows, round) {
  /** @type {Map<string, number[]>} rows of one friction */
  const frictions = new Map();
  rows.forEach(({ kind, normal }, i) => {
    if (round && normal !== null) frictions.set(`${normal} ${kind}`, [...frictions.get(`${normal} ${kind}`) ?? [], i]);
  });
  const residuals = rows.map(residualOf);
  for (const members of frictions.values()) {
    const size = Math.hypot(...members.map((i) => rows[i].lam));
    const { mu, normal } = rows[members[0]];
    const limit = mu * rows[/** @type {number} */ (normal)].lam;
    if (size < (1 - SLACK) * limit) {
      for (const i of members) residuals[i] = Math.abs(rows[i].w);
      continue;
    }
    // w = -s lam / |lam| with s >= 0; without any impulse every w is allowed
    const along = size > 0 ? members.reduce((sum, i) => sum + (rows[i].w * rows[i].lam) / size, 0) : 0;
    for (const i of members) residuals[i] = size > 0 ? Math.abs(rows[i].w - (Math.min(0, along) * rows[i].lam) / size) : 0;
  }
  return residuals;
}

/** @param {ProblemRow} row @returns {number} m/s or rad/s */
function residualOf({ lam, w, lo, hi }) {
  const room = SLACK * Math.abs(lam);
  const [low, high] = [lo !== null && lam <= lo + room, hi !== null && lam >= hi - room];
  if (low && high) return 0;
  return low ? Math.max(0, -w) : high ? Math.max(0, w) : Math.abs(w);
}

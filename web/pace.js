/** When the page draws: with every frame of the screen while something moves, and seldom at rest. */

/** ms after the last movement, or sign of the user, until the page rests */
const AWAKE_MS = 1000;
/** and after how long it then looks whether something moves: the screen asks sixty times a second */
const DOZE_MS = 100;
const SIGNS = ["pointerdown", "pointermove", "wheel", "keydown", "input", "click", "resize"];

export class Pace {
  /** @param {(now: number) => void} draw is called with the time of the frame [ms], from `start` on */
  constructor(draw) {
    this.draw = draw;
    /** ms, when something last moved */
    this.moved = 0;
    /** the timer at rest; 0: the next frame of the screen is asked for */
    this.timer = 0;
    for (const sign of SIGNS) window.addEventListener(sign, () => this.wake(), { capture: true, passive: true });
  }

  /** Something moves. */
  wake() {
    this.moved = performance.now();
    if (!this.timer) return;
    window.clearTimeout(this.timer);
    this.start();
  }

  start() {
    this.timer = 0;
    requestAnimationFrame((now) => this.draw(now));
  }

  /** @param {number} now ms */
  isAwake(now) {
    return now - this.moved < AWAKE_MS;
  }

  /** @param {boolean} awake */
  next(awake) {
    if (awake) this.start();
    else this.timer = window.setTimeout(() => this.start(), DOZE_MS);
  }
}

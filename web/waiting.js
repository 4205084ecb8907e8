/**
 * What a person sees while the service cannot start anything yet, or a run has not ended: what it does, how far that is,
 * and the scene that comes, as it starts. Shown only when an answer takes long; a service that is ready is not asked.
 */
import { ProblemError, getReadiness, getSimulation, isUnreachable } from "./api.js";
import { byId, setText } from "./dom.js";

/** ms without an answer before the service is asked how far it is, and between two such questions */
const PATIENT_MS = 800;
const AGAIN_MS = 1000;

/** What an answer of the API has as its code while the service gets ready. */
const NOT_READY = ["warming_up", "engine_not_ready", "not_ready"];

/** @param {unknown} error @returns {boolean} whether the same will succeed a little later */
export function isNotReady(error) {
  return error instanceof ProblemError && NOT_READY.includes(error.problem.code ?? "");
}

export class Waiting {
  constructor() {
    this.box = byId("waiting", HTMLElement);
    this.words = byId("waiting-words", HTMLElement);
    this.bar = byId("waiting-bar", HTMLProgressElement);
  }

  /**
   * @template T
   * @param {Promise<T>} answer what is waited for; shown beside it is how far the service is
   * @param {string} what comes then, in words
   * @param {() => unknown} [onLate] once, when it takes long because the service is not ready
   * @returns {Promise<T>}
   */
  async through(answer, what, onLate = () => {}) {
    let over = false;
    const ended = answer.then(() => { over = true; }, () => { over = true; });
    let told = false;
    await Promise.race([ended, pause(PATIENT_MS)]);
    while (!over) {
      const ready = await getReadiness().catch(() => null);
      if (over || (ready && ready.status === "ready")) break;
      if (ready) {
        if (!told) onLate();
        told = true;
        this.tell(ready, what);
      }
      await Promise.race([ended, pause(AGAIN_MS)]);
    }
    return answer.finally(() => { this.box.hidden = true; });
  }

  /** Until the service is ready. @param {string} what comes then, in words */
  async untilReady(what) {
    for (;;) {
      const ready = await getReadiness().catch(() => null);
      if (ready?.status === "ready") return;
      if (ready) this.tell(ready, what);
      await pause(AGAIN_MS);
    }
  }

  /**
   * A simulation, as soon as it has ended.
   * @param {string} id @param {() => boolean} stale nobody waits for it any more @param {() => unknown} onLate once, if it has not
   */
  async untilEnded(id, stale, onLate) {
    let info = await getSimulation(id);
    if (info.finished_at === null) onLate();
    try {
      while (info.finished_at === null && !stale()) {
        const { status, progress } = info;
        const doing = status === "queued" ? "The run waits for its turn." : `The run is being simulated: ${Math.round(100 * progress)} %.`;
        this.show(`${doing} It opens by itself when it has ended.`, progress);
        await pause(AGAIN_MS);
        // a service that is started again goes on with the run
        info = await getSimulation(id).catch((error) => {
          if (!isUnreachable(error)) throw error;
          return info;
        });
      }
      return info;
    } finally {
      this.box.hidden = true;
    }
  }

  /** @param {import("./types.js").Readiness} ready @param {string} what */
  tell({ checks, kernels }, what) {
    const compiling = checks?.kernels === false;
    const share = compiling && kernels?.total ? kernels.done / kernels.total : 0;
    const far = share ? `${kernels?.done} of ${kernels?.total} compiled` : "";
    const doing = compiling ? `The engine is being compiled for this machine, once${far && `: ${far}`}.` : checks?.storage === false ? "The disk of the service has hardly any space left." : "The engine is being loaded.";
    this.show(`${doing} ${what} by itself as soon as it is ready.`, share);
  }

  /** @param {string} words @param {number} share of it that is done; 0: not known */
  show(words, share) {
    setText(this.words, words);
    if (share) this.bar.value = share;
    else this.bar.removeAttribute("value");
    this.box.hidden = false;
  }
}

/** @param {number} ms @returns {Promise<void>} */
function pause(ms) {
  return new Promise((resolve) => { window.setTimeout(resolve, ms); });
}

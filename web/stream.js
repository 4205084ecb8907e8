/**
 * The socket of one session: subprotocol `cardan.v1`, commands with answers, acknowledgements after
 * rendering, and reconnection that resumes where it stopped.
 *
 * @import {Frame, Problem} from "./types.js"
 */
import { getSession, isUnreachable, ProblemError, streamUrl } from "./api.js";
import { decodeFrame, FrameError } from "./decode.js";

const PROTOCOL = "cardan.v1";
const ANSWER_TIMEOUT_MS = 8000;
/** Of what a large scene may compute for: the service itself gives up a moment of the past after a minute. */
const COMPUTED_TIMEOUT_MS = 65_000;
const COMPUTED = new Set(["seek", "step"]);
/** Events that are told from new ones: the service keeps as many for those who come back. */
const MAX_HEARD = 1024;
const RETRY_FIRST_MS = 250;
const RETRY_LAST_MS = 5000;
/** What whoever may not look, or no longer, is answered with. */
const REFUSED = new Set([401, 403, 404]);
/** Attempts in vain until a person is told: about two seconds. */
const WORTH_SAYING = 4;
/**
 * Closed for good: another protocol, no such session, one that has ended. 4408, a hello that came too late, is none of them:
 * the first picture can hold up a slow machine for longer than the server waits.
 */
const FINAL = new Set([4400, 4404, 4410]);
/** Of a connection that ended without a word. */
const NO_CLOSE = 1006;
/** What a command to a session that has ended is answered with: said already, when it ended. @type {Problem} */
const OVER = { title: "The session is over", code: "session_over" };

/** What is subscribed while somebody looks, what only while something shows it (friction brings the contacts along), and what while nobody looks. */
const VISIBLE = { poses: { hz: 60 }, energy: { hz: 30 }, solver: { hz: 30 }, events: { hz: 30 } };
const ON_DEMAND = { contacts: { hz: 30 }, friction: { hz: 30 }, joints: { hz: 30 }, momentum: { hz: 30 }, velocities: { hz: 60 }, reactions: { hz: 30 } };
const HIDDEN = { energy: { hz: 2 }, solver: { hz: 2 }, events: { hz: 2 } };

/**
 * @typedef {object} StreamHandlers
 * @property {(welcome: Record<string, any>) => void} onWelcome
 * @property {(frame: Frame) => void} onFrame
 * @property {(event: Record<string, any>) => void} onEvent
 * @property {(status: "connecting" | "open" | "lost" | "closed", detail: string) => void} onStatus
 * @property {(problem: Problem) => void} onProblem  errors nobody waits for
 */

/** @template {object} T @param {T} of @returns {(keyof T)[]} */
function names(of) {
  return /** @type {(keyof T)[]} */ (Object.keys(of));
}

export class CommandError extends Error {
  /** @param {Problem} problem */
  constructor(problem) {
    super(problem.detail || problem.title);
    this.problem = problem;
  }
}

export class Stream {
  /** @param {string} sessionId @param {StreamHandlers} handlers */
  constructor(sessionId, handlers) {
    this.sessionId = sessionId;
    this.handlers = handlers;
    this.clientId = crypto.randomUUID?.() ?? `page-${Math.random().toString(36).slice(2)}`;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {Map<string, {resolve: (answer: any) => void, reject: (error: Error) => void, timer: number}>} */
    this.waiting = new Map();
    this.nextId = 1;
    this.attempts = 0;
    /** whether the service is there and refuses the connection, and that is said */
    this.refused = false;
    /** whether an answer is awaited that tells why */
    this.asking = false;
    this.retryTimer = 0;
    this.stopped = false;
    /** whether the session has ended: nothing comes any more */
    this.over = false;
    /** @type {{epoch: number, sequence: number} | null} newest live frame received: where to resume */
    this.position = null;
    this.unacknowledged = -1;
    /** @type {Set<string>} events; those of the newest moment come again with every new connection */
    this.heard = new Set();
    this.bytes = 0;
    /** messages received */
    this.received = 0;
    /** @type {import("./session.js").Needs} */
    this.needs = { contacts: false, friction: false, joints: false, momentum: false, velocities: false, reactions: false };
    this.onVisibility = () => {
      // what was not drawn will not be
      if (document.hidden) this.acknowledge();
      this.subscribe();
    };
    document.addEventListener("visibilitychange", this.onVisibility);
    this.connect();
  }

  connect() {
    this.handlers.onStatus("connecting", "");
    const socket = new WebSocket(streamUrl(this.sessionId), PROTOCOL);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => this.sendJson({ op: "hello", client_id: this.clientId, ...(this.position ? { resume: this.position } : {}) });
    socket.onmessage = (message) => this.receive(message.data);
    socket.onclose = (close) => this.lost(close);
  }

  /** @param {string | ArrayBuffer} data */
  receive(data) {
    this.received += 1;
    if (typeof data === "string") {
      this.receiveJson(JSON.parse(data));
      return;
    }
    this.bytes += data.byteLength;
    let frame;
    try {
      frame = decodeFrame(data);
    } catch (error) {
      if (!(error instanceof FrameError)) throw error;
      this.handlers.onProblem({ title: "A frame could not be read", code: "bad_frame", detail: error.message });
      return;
    }
    if (!frame.key) this.position = { epoch: frame.epoch, sequence: frame.sequence };
    this.unacknowledged = frame.sequence;
    this.handlers.onFrame(frame);
    // a hidden page draws nothing, so nothing would acknowledge
    if (document.hidden) this.acknowledge();
  }

  /** @param {Record<string, any>} message */
  receiveJson(message) {
    if (message.op === "welcome") {
      this.attempts = 0;
      this.refused = false;
      this.subscribe();
      this.handlers.onStatus("open", "");
      this.handlers.onWelcome(message);
    } else if (message.op === "event") {
      if (this.isNews(message)) this.handlers.onEvent(message);
    } else if (message.op === "result" || message.op === "error") {
      const waiter = this.waiting.get(message.id);
      if (waiter) {
        this.waiting.delete(message.id);
        clearTimeout(waiter.timer);
        if (message.op === "result") waiter.resolve(message);
        else waiter.reject(new CommandError(message.problem));
      } else if (message.op === "error") {
        this.handlers.onProblem(message.problem);
      }
    }
  }

  /** @param {Record<string, any>} event a service that was started again counts anew @returns {boolean} */
  isNews({ sequence_event: number, epoch, sequence, step, type }) {
    const key = [number, epoch, sequence, step, type].join(" ");
    if (this.heard.has(key)) return false;
    this.heard.add(key);
    if (this.heard.size > MAX_HEARD) this.heard.delete(/** @type {string} */ (this.heard.values().next().value));
    return true;
  }

  subscribe() {
    const { needs } = this;
    const wanted = names(ON_DEMAND).filter((name) => needs[name] && !(name === "contacts" && needs.friction));
    const needed = Object.fromEntries(wanted.map((name) => [name, ON_DEMAND[name]]));
    this.sendJson({ op: "subscribe", channels: document.hidden ? HIDDEN : { ...VISIBLE, ...needed } });
  }

  /** @param {import("./session.js").Needs} needs what is shown now @returns {boolean} whether that is news */
  setNeeds(needs) {
    if (names(ON_DEMAND).every((name) => needs[name] === this.needs[name])) return false;
    this.needs = needs;
    this.subscribe();
    return true;
  }

  /** Call after rendering: tells the server that there is room for newer frames. */
  acknowledge() {
    if (this.unacknowledged < 0) return;
    this.sendJson({ op: "ack", sequence: this.unacknowledged });
    this.unacknowledged = -1;
  }

  /**
   * @param {string} op
   * @param {Record<string, unknown>} [fields]
   * @returns {Promise<{applied_step: number}>}
   */
  command(op, fields = {}) {
    const id = `c${this.nextId++}`;
    const patience = COMPUTED.has(op) ? COMPUTED_TIMEOUT_MS : ANSWER_TIMEOUT_MS;
    return new Promise((resolve, reject) => {
      if (!this.sendJson({ op, id, ...fields })) {
        reject(new CommandError(this.over ? OVER : { title: "Not connected", code: "not_connected", detail: `“${op.replaceAll("_", " ")}” was not sent: the connection to the session is down. The page tries to get it back by itself.` }));
        return;
      }
      const timer = window.setTimeout(() => {
        this.waiting.delete(id);
        reject(new CommandError({ title: "No answer", code: "timeout", detail: `The session did not answer "${op}" within ${patience / 1000} s.` }));
      }, patience);
      this.waiting.set(id, { resolve, reject, timer });
    });
  }

  /**
   * A command whose answer nobody needs (the next one replaces it).
   * @param {string} op @param {Record<string, unknown>} fields
   */
  notify(op, fields) {
    this.sendJson({ op, ...fields });
  }

  /** @param {Record<string, unknown>} message @returns {boolean} whether it was sent */
  sendJson(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  /**
   * What the service says of the session beside the socket. A line that is cut closes no socket for minutes, in which a run would seem
   * to stand still: where neither of them answers, there is a new one.
   * @returns {Promise<import("./types.js").SessionInfo | null>}
   */
  async info() {
    const { received } = this;
    try {
      return await getSession(this.sessionId, AbortSignal.timeout(ANSWER_TIMEOUT_MS));
    } catch (error) {
      if (isUnreachable(error) && this.received === received) this.renew();
      return null;
    }
  }

  renew() {
    const { socket } = this;
    if (this.stopped || socket?.readyState !== WebSocket.OPEN) return;
    socket.onmessage = socket.onclose = null;
    socket.close();
    this.lost({ code: NO_CLOSE, reason: "" });
  }

  /** @param {{code: number, reason: string}} close */
  lost(close) {
    this.over = FINAL.has(close.code);
    for (const waiter of this.waiting.values()) {
      clearTimeout(waiter.timer);
      // whoever left a session does not wait for it
      waiter.reject(new CommandError(this.over || this.stopped ? OVER : { title: "Connection lost", code: "connection_lost", detail: "The connection closed before the answer came." }));
    }
    this.waiting.clear();
    if (this.stopped) return;
    if (this.over) {
      this.handlers.onStatus("closed", close.reason || `closed with code ${close.code}`);
      return;
    }
    this.attempts += 1;
    const delay = Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * 2 ** (this.attempts - 1)) * (0.75 + 0.5 * Math.random());
    if (this.attempts >= WORTH_SAYING && !this.refused && !this.asking) this.tellWhy(this.attempts);
    this.handlers.onStatus("lost", `trying again in ${(delay / 1000).toFixed(1)} s`);
    this.retryTimer = window.setTimeout(() => this.connect(), delay);
  }

  /**
   * A socket closes alike whether the service is away or refuses, as when a link for viewing has expired: an answer tells. One that was
   * away may refuse when it is back, as with another key.
   * @param {number} attempt
   */
  async tellWhy(attempt) {
    this.asking = true;
    const refusal = await getSession(this.sessionId).then(() => null, (error) => (error instanceof ProblemError && REFUSED.has(error.problem.status ?? 0) ? error.problem : null));
    this.asking = false;
    if (this.stopped || this.attempts < WORTH_SAYING) return; // it is back
    this.refused ||= refusal !== null;
    if (!refusal && attempt > WORTH_SAYING) return; // that is said
    const why = refusal ? `The service refuses it: ${refusal.detail ?? refusal.title}` : "The page tries to get the connection back by itself.";
    this.handlers.onProblem({ title: "The connection is lost", code: "connection_lost", detail: `What is in the view stays. ${why}` });
  }

  close() {
    this.stopped = true;
    clearTimeout(this.retryTimer);
    document.removeEventListener("visibilitychange", this.onVisibility);
    this.socket?.close(1000);
  }
}

"""The page's side of a session's stream: what comes in which order, and what comes twice."""

import base64
from typing import Any

import numpy as np

from cardan.schemas.frame import BlockTag, FrameHeader, encode_frame, poses_table
from tests.web.modules import run_module

# a socket and timers that do what a test says, and a session on it
SETTING = """
const sockets = [], delays = [], problems = [], told = [];
const intervals = new Set();
class FakeSocket {
  static OPEN = 1;
  constructor() { this.readyState = 1; this.sent = []; sockets.push(this); }
  send(text) { this.sent.push(JSON.parse(text)); }
  close() { this.readyState = 3; }
  say(message) { this.onmessage({ data: JSON.stringify(message) }); }
  show(text) { this.onmessage({ data: Uint8Array.from(Buffer.from(text, "base64")).buffer }); }
  drop(code) { this.readyState = 3; this.onclose({ code, reason: "" }); }
  ops() { return this.sent.map(({ op }) => op); }
}
globalThis.WebSocket = FakeSocket;
globalThis.location = { protocol: "http:", host: "here", origin: "http://here" };
globalThis.document = { hidden: false, addEventListener() {}, removeEventListener() {} };
globalThis.window = {
  setTimeout: (_, delay) => { delays.push(delay); return 0; },
  setInterval: () => {
    const id = 1 + Math.max(0, ...intervals);
    intervals.add(id);
    return id;
  },
};
globalThis.clearInterval = (id) => intervals.delete(id);
const info = { id: "ses_1", state: "paused", speed: 1, epoch: 0, step: 0, time: 0 };
const session = new Session(info, { bodies: [] });
for (const name of ["epoch", "returned", "mode"]) {
  session.on(name, (value) => told.push(value ? `${name} ${value}` : name));
}
session.on("event", ({ type }) => told.push(`event ${type}`));
session.on("problem", ({ code }) => problems.push(code));
const welcome = (more = {}) => {
  const history = { from_step: 0, to_step: 100 };
  const now = { op: "welcome", epoch: 0, step: 100, time: 0.1, state: "paused", failure: null };
  sockets.at(-1).onopen();
  sockets.at(-1).say({ ...now, history, control: null, role: "control", speed: 1, ...more });
};
const event = (number, type, more = {}) =>
  ({ op: "event", sequence_event: number, type, epoch: 0, sequence: 7, step: 100, ...more });
welcome();
const [socket] = sockets;
"""


def on_a_session(node: str, body: str, value: Any = None) -> Any:
    return run_module(node, "session.js", "Session", SETTING + body, value)


def frame(epoch: int, step: int) -> str:
    poses = poses_table(np.zeros((1, 7)))
    data = encode_frame(FrameHeader(step, 0.001 * step, epoch), {BlockTag.POSES: poses})
    return base64.b64encode(data).decode()


def test_who_leaves_a_session_is_told_of_no_lost_connection(node: str) -> None:
    body = """
      const answer = session.command("pause");
      session.close();
      socket.drop(1005);
      return [await answer, problems];
    """
    assert on_a_session(node, body) == [False, []]


def test_a_command_is_told_to_be_lost_with_its_connection(node: str) -> None:
    body = """
      const answer = session.command("pause");
      socket.drop(1006);
      return [await answer, problems];
    """
    assert on_a_session(node, body) == [False, ["connection_lost"]]


def test_a_session_that_was_left_is_asked_for_no_longer(node: str) -> None:
    body = """
      session.setState("running");
      // back one step: it pauses first
      const stepped = session.step(-1);
      session.close();
      socket.drop(1005);
      await stepped;
      return intervals.size;
    """
    assert on_a_session(node, body) == 0


def test_events_that_come_again_with_a_connection_are_told_once(node: str) -> None:
    body = """
      socket.say(event(1, "worker_lost"));
      socket.say(event(2, "worker_resumed"));
      socket.drop(1006);
      session.stream.connect();
      welcome();
      for (const one of [event(1, "worker_lost"), event(2, "worker_resumed")]) sockets[1].say(one);
      sockets[1].say(event(3, "worker_lost"));
      // a service that was started again counts anew
      sockets[1].say(event(1, "worker_resumed", { sequence: 0 }));
      return told;
    """
    assert on_a_session(node, body) == [
        "event worker_lost",
        "event worker_resumed",
        "returned",
        "event worker_lost",
        "event worker_resumed",
    ]


def test_who_looks_at_the_history_hears_that_time_has_started_again(node: str) -> None:
    """No frame says so: the server shows a moment of the past until it is told otherwise."""
    body = """
      session.seek(50);
      socket.say(event(5, "reset", { epoch: 1, step: 0 }));
      return [told, session.mode, session.epoch, socket.ops().slice(-2)];
    """
    assert on_a_session(node, body) == [
        ["mode history", "mode live", "epoch", "event reset"],
        "live",
        1,
        ["seek", "live"],
    ]


def test_a_reset_that_crosses_a_seek_leaves_nobody_in_the_past(node: str) -> None:
    """The page says that it is live: then the server must show it what is."""
    body = """
      session.seek(50);
      socket.show(input);
      return [session.mode, session.epoch, socket.ops().slice(-2)];
    """
    assert on_a_session(node, body, frame(1, 3)) == ["live", 1, ["seek", "live"]]


def test_a_frame_of_the_epoch_before_is_none(node: str) -> None:
    body = """
      socket.show(input[0]);
      socket.show(input[1]);
      return [told, session.epoch, session.edge.step];
    """
    assert on_a_session(node, body, [frame(1, 3), frame(0, 99)]) == [["epoch"], 1, 3]


def test_the_speed_is_that_of_the_welcome(node: str) -> None:
    body = """
      const speeds = [];
      for (const speed of [4, null]) {
        socket.drop(1006);
        session.stream.connect();
        welcome({ speed });
        speeds.push(session.speed);
      }
      return speeds;
    """
    assert on_a_session(node, body) == [4, None]


def test_who_may_only_watch_is_offered_no_control_once_nobody_has_it(node: str) -> None:
    """While another steers, the welcome of both kinds of viewers is the same."""
    body = """
      socket.drop(1006);
      session.stream.connect();
      welcome({ role: "view", control: "another" });
      sockets[1].say(event(1, "control", { client_id: null }));
      const answer = session.command("take_control");
      const problem = { title: "Forbidden", status: 403, code: "scope_missing" };
      sockets[1].say({ op: "error", id: sockets[1].sent.at(-1).id, problem });
      return [await answer, session.watches, problems];
    """
    assert on_a_session(node, body) == [False, True, ["scope_missing"]]


def test_whom_the_service_refuses_is_told_why(node: str) -> None:
    """A socket closes alike whether the service is away or a link has expired meanwhile."""
    body = """
      const problem = { title: "Unauthorized", status: 401, code: "unauthorized", detail: input };
      const refused = { ok: false, status: 401, text: async () => JSON.stringify(problem) };
      const answers = [() => refused, () => { throw new TypeError("away"); }];
      const details = [];
      session.on("problem", ({ detail }) => details.push(detail));
      for (const answer of answers) {
        globalThis.fetch = async () => answer();
        for (let attempt = 0; attempt < 6; attempt += 1) {
          sockets.at(-1).drop(1006);
          session.stream.connect();
        }
        await new Promise((resolve) => setTimeout(resolve));
        welcome();
      }
      return [problems, details];
    """
    why = "An API key is needed."
    problems, details = on_a_session(node, body, why)
    assert problems == ["connection_lost"] * 2
    assert why in details[0]
    assert why not in details[1]


def test_what_is_computed_may_take_longer_than_what_is_said(node: str) -> None:
    """The service computes a moment of the past for a minute before it gives up."""
    body = """
      for (const op of ["pause", "step", "seek"]) session.command(op);
      return delays;
    """
    assert on_a_session(node, body) == [8000, 65_000, 65_000]


def test_a_page_that_is_hidden_leaves_no_frame_unacknowledged(node: str) -> None:
    """It draws nothing from then on, and a server whose window is full would send nothing."""
    body = """
      for (const text of input) socket.show(text);
      document.hidden = true;
      session.stream.onVisibility();
      return socket.sent.slice(-2);
    """
    frames = [frame(0, step) for step in (101, 102, 103, 104)]
    ack, subscribe = on_a_session(node, body, frames)
    assert ack == {"op": "ack", "sequence": 0}
    assert subscribe["op"] == "subscribe"
    assert "poses" not in subscribe["channels"]


def test_a_line_that_is_cut_is_noticed_though_the_socket_stays_open(node: str) -> None:
    """Neither an answer nor a frame: a new connection is tried, and the page says so."""
    body = """
      const states = [];
      session.on("connection", ({ status }) => states.push(status));
      const away = async () => { throw new TypeError("away"); };
      // frames still come: only the answer is late
      globalThis.fetch = () => { socket.show(input); return away(); };
      await session.poll();
      const [before, open] = [states.length, socket.readyState];
      globalThis.fetch = away;
      const answer = session.command("pause");
      await session.poll();
      // what the old socket still says concerns nobody
      const closed = socket.readyState;
      await answer;
      session.stream.connect();
      welcome();
      return [before, open, closed, states, problems, sockets.length];
    """
    before, still_open, closed, states, problems, sockets = on_a_session(node, body, frame(0, 101))
    assert (before, still_open, closed) == (0, 1, 3)
    assert states == ["lost", "connecting", "open"]
    assert problems == ["connection_lost"]
    assert sockets == 2
